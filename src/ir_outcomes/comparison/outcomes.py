"""The outcome split: what two runs did with each query, and the per-query numbers of both facets and of all queries.

*Items* are what is answered or not: queries (``unit="query"``), or the atoms of `SearchLengths`
(``unit="document"``), averaged within their query, so that each query weighs the same. With one
relevant document per query the two give the same arrays.
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import (
    OUTCOMES,
    Items,
    SearchLengths,
    digest_of_clusters,
    match,
    means_by_query,
)
from ir_outcomes.evaluation.replicates import Called, System
from ir_outcomes.statistics.corrections import first_step_level
from ir_outcomes.statistics.counts import sums_by_cluster
from ir_outcomes.statistics.new_runs import LEAST_RUNS, Side
from ir_outcomes.types import (
    Bools,
    Correction,
    Floats,
    Ints,
    RankingTest,
    Ties,
    Unit,
    check_choice,
    check_level,
    check_one_order,
    check_positive,
)

CoverageTest = Literal["exact", "signflip"]
MOST_ROWS = 6_000_000  # of queries and pairs of runs, which take about 2 gigabytes


def coverage_test_for(evaluation: Evaluation) -> CoverageTest:
    """Return the test that decides on coverage."""
    shares = evaluation.unit == "document" and evaluation.many_relevant
    if shares or evaluation.clusters is not None:
        return "signflip"
    return "exact"


@dataclass(frozen=True)
class Settings:
    """How a comparison was made."""

    #: Ranks beyond it do not count; None where only the output of a tool was compared.
    cutoff: int | None
    rel: int  #: smallest grade of a relevant document
    unit: Unit  #: what is answered or not
    ties: Ties | Literal["unknown"]  #: "unknown" where only the output of a tool was compared
    judged_only: bool  #: whether unjudged documents were removed
    alpha: float = 0.05  #: level of tests, intervals and verdict
    test: str = "t"  #: which test of ranking was asked to decide; "name()" is a function
    coverage_test: CoverageTest = "exact"  #: which one decides on coverage
    correction: Correction = "holm"  #: of the deciding p-values, separately for each facet,
    family: int = 1  #: over so many comparisons
    #: percentage points of coverage, ranks, and where given ranks over all queries
    margins: tuple[float, ...] | None = None
    #: clusters of the answerable queries; None where queries are independent
    n_clusters: int | None = None
    clusters: str | None = None  #: digest of which queries are together

    @classmethod
    def of(cls, evaluation: Evaluation, *, own_test: bool = False, **rules: Any) -> Self:
        """Take the settings of an evaluation and the rules of a comparison, whose test is a function with `own_test`."""
        if not own_test:
            check_choice("test", rules.get("test", "t"), get_args(RankingTest))
        own = ("cutoff", "rel", "unit", "ties", "judged_only", "n_clusters")
        given = {name: getattr(evaluation, name) for name in own} | rules
        clusters = digest_of_clusters(evaluation.clusters)
        return cls(clusters=clusters, coverage_test=coverage_test_for(evaluation), **given)

    def __post_init__(self) -> None:
        check_positive("rel", self.rel)
        check_one_order(self.ties)
        check_level(self.alpha)
        check_choice("correction", self.correction, get_args(Correction))

    def of_pair(self, pair: "PairedQueries") -> Self:
        """Return the settings of one pair: coverage of several runs is tested by sign flips."""
        if pair.is_of_several:
            return replace(self, coverage_test="signflip")
        return self

    @property
    def first_step_level(self) -> float:
        """The level of the first step of Holm's method, which the smallest p-value of the family has to reach."""
        return first_step_level(self.alpha, self.family, self.correction)

    @property
    def levels(self) -> tuple[float, float]:
        """The smallest and the largest level that a p-value is compared with."""
        return self.first_step_level, self.alpha

    @property
    def margin_level(self) -> float:
        """Level of the two-sided intervals that decide about margins."""
        return 1 - self.first_step_level


def check_rules(alpha: Any, test: Any, correction: Any) -> None:
    """Refuse a level, a test or a correction that does not exist."""
    check_level(alpha)
    check_choice("test", test, get_args(RankingTest))
    check_choice("correction", correction, get_args(Correction))


def checked_margins(margins: Any) -> tuple[float, ...] | None:
    """Refuse margins that are not two or three positive, finite numbers."""
    if margins is None:
        return None
    try:
        checked = tuple(map(float, margins))
    except (TypeError, ValueError):
        checked = ()
    if len(checked) not in (2, 3) or not all(0 < margin < math.inf for margin in checked):
        raise ParameterError(
            "must be two or three positive numbers, percentage points of coverage, ranks, and ranks"
            " over all queries, such as (1.0, 0.5) or (1.0, 0.5, 1.0)",
            margins=margins,
        )
    if checked[0] >= 100:
        raise ParameterError(
            "no run can lose more than 100 percentage points of coverage; give a smaller margin",
            margins=margins,
        )
    return checked


class Shares(NamedTuple):
    """Shares of the four outcomes, averaged within each query first; they sum to 1."""

    neither: float
    lost: float
    won: float
    both: float


@dataclass(frozen=True)
class Outcomes:
    """How many queries, or relevant documents under ``unit="document"``, had each outcome (Lin et al. 2021, section 4)."""

    neither: int  #: found by neither run: (1) of Table 2
    lost: int  #: found by the baseline only: "A wins"
    won: int  #: found by the contender only: "B wins"
    both: int  #: (3) of Table 2
    shares: Shares | None  #: None where no query is answerable
    #: median search length at which the baseline found what was lost, in ranks; each relevant
    #: document weighs one over the number of its query's; None where nothing was lost, or no ranks
    #: are known
    lost_at: float | None = None
    won_at: float | None = None  #: the same of the contender and what was won


class Restricted(NamedTuple):
    """Search lengths over all n answerable queries, k + 1 where nothing is found, averaged over the query's items; arrays."""

    horizon: int  # k: the cutoff, or the depth of the deeper run where that is smaller
    baseline: Floats
    contender: Floats
    both: Floats  # parts of the difference (they sum to it): from items that both found,
    won: Floats  # from items that only the contender found, 0 or negative,
    lost: Floats  # and from items that only the baseline found, 0 or positive


@dataclass(frozen=True, eq=False)
class PairedQueries:
    """Per-query numbers of a pair of runs, over the n answerable queries; (n,) arrays."""

    baseline: str
    contender: str
    query_ids: tuple[str, ...]
    outcomes: Outcomes
    found_baseline: Floats  # share of the query's items found
    found_contender: Floats
    item_share: float  # mean over the queries of one over the number of items: 1 where every query is one item
    # Whether both runs found at least one same item: the queries of the ranking facet.
    shared: Bools
    # Mean search length on what both found, else on what the run found itself; NaN where it found
    # nothing.
    length_baseline: Floats
    length_contender: Floats
    reciprocal_baseline: Floats  # the same of reciprocals
    reciprocal_contender: Floats
    # None without a cutoff, and for other measures than search lengths.
    restricted: Restricted | None
    clusters: Ints | None = None  # cluster of each query; None where queries are independent
    measure: str | None = None  # another measure, whose values take the place of lengths
    higher_is_better: bool = False  # direction of the lengths, or of that measure
    # The most that a length, or a value of that measure, can change by; None where it is not known.
    largest: float | None = None
    identical: bool = False  # whether the runs have the same documents in the same order; not where that is not known
    # Numbers of runs of both systems. Arrays have a row for each pair of runs and query, the queries
    # of a pair together, and the rows of a query are in one cluster.
    n_runs: tuple[int, int] = (1, 1)

    @property
    def is_of_several(self) -> bool:
        """Whether a system has several runs."""
        return self.n_runs != (1, 1)

    @property
    def sides(self) -> tuple[Side, ...]:
        """The sides that have several runs."""
        n = len(self.query_ids)
        of_a, of_b = self.n_runs
        runs = np.repeat(np.arange(of_a), of_b * n), np.tile(np.repeat(np.arange(of_b), n), of_a)
        sides = map(Side, runs, self.n_runs)
        return tuple(side for side in sides if side.n_runs > 1)

    @property
    def sides_of_new_runs(self) -> tuple[Side, ...]:
        """The same where the runs say something about new ones; else none."""
        sides = self.sides
        if all(side.n_runs >= LEAST_RUNS for side in sides):
            return sides
        return ()

    def n_differing(self, change: Floats, counted: Bools | None = None) -> int:
        """Count the queries that have a difference which is not zero, among the counted rows."""
        if not self.is_of_several:
            return int(np.count_nonzero(change))
        if counted is None:
            differs = np.ones(len(self.shared), dtype=bool)
        else:
            differs = counted.copy()
        differs[differs] = change != 0
        return self.n_with(differs)

    def n_with(self, rows: Bools) -> int:
        """Count the queries that have one of some rows."""
        if len(rows):
            return int(rows.reshape(-1, len(self.query_ids)).any(axis=0).sum())
        return 0

    def totals(self, values: Floats) -> Floats:
        """Return the sums of values over the rows of each query."""
        if not self.is_of_several:
            return values
        pairs = self.n_runs[0] * self.n_runs[1]
        query = np.tile(np.arange(len(self.query_ids)), pairs)
        return sums_by_cluster(values, query)[0]

    def by_query(self) -> "PairedQueries":
        """Return the means over the pairs of runs, (n_queries,) arrays: what is said of single queries."""
        if not self.is_of_several:
            return self
        n = len(self.query_ids)

        def means(values: Floats, counted: Bools | None = None) -> Floats:
            table = values.reshape(-1, n)
            weights = np.ones_like(table)
            if counted is not None:
                weights = counted.reshape(-1, n).astype(np.float64)
            totals = np.where(weights > 0, table, 0.0).sum(axis=0)
            number = weights.sum(axis=0)
            found: Floats = np.divide(totals, number, out=np.full(n, np.nan), where=number > 0)
            return found

        restricted = self.restricted
        if restricted is not None:
            parts = (means(values) for values in restricted[1:])
            restricted = Restricted(restricted.horizon, *parts)
        any_shared: Bools = self.shared.reshape(-1, n).max(axis=0)
        rows = np.tile(any_shared, self.n_runs[0] * self.n_runs[1])

        def lengths(values: Floats) -> Floats:
            return means(values, np.where(rows, self.shared, ~np.isnan(values)))

        return replace(
            self,
            found_baseline=means(self.found_baseline),
            found_contender=means(self.found_contender),
            shared=any_shared,
            restricted=restricted,
            clusters=self._clusters_of_queries(),
            n_runs=(1, 1),
            length_baseline=lengths(self.length_baseline),
            length_contender=lengths(self.length_contender),
        )

    def _clusters_of_queries(self) -> Ints | None:
        """Return the cluster of each query; None where the rows of each are a cluster by themselves."""
        if self.clusters is None:
            return None
        of_queries = self.clusters[: len(self.query_ids)]
        if len(np.unique(of_queries)) < len(of_queries):
            return of_queries
        return None

    @property
    def shared_clusters(self) -> Ints | None:
        """Clusters of the queries of the ranking facet."""
        return None if self.clusters is None else self.clusters[self.shared]

    @property
    def all_queries(self) -> tuple[Floats, Floats] | None:
        """Values of both runs over all queries, which confirm a direction."""
        if self.restricted is not None:
            return self.restricted.baseline, self.restricted.contender
        if self.measure is not None and self.higher_is_better:
            return np.nan_to_num(self.length_baseline), np.nan_to_num(self.length_contender)
        return None


def pair_queries(
    baseline: SearchLengths, contender: SearchLengths, unit: Unit, horizon: int | None = None
) -> PairedQueries:
    """Split the answerable queries by outcome, and compute the numbers of each query; the items are queries or documents.

    The horizon is k of the restricted search length, by default that of this pair.
    """
    return pair_systems(System.of(baseline), System.of(contender), unit, horizon)


def pair_systems(
    baseline: System, contender: System, unit: Unit, horizon: int | None = None
) -> PairedQueries:
    """Do the same for every run of one system with every run of another."""
    pairs = list(product(baseline.runs, contender.runs))
    first = baseline.runs[0]
    place = np.cumsum(first.answerable) - 1
    clusters = None if first.clusters is None else first.clusters[first.answerable]
    if horizon is None:
        horizon = horizon_of(*baseline.runs, *contender.runs)
    matched = (match(*pair, unit) for pair in pairs)
    items = (Items(place[own.query], own.lengths) for own in matched)
    called = (baseline.called, contender.called)
    found = from_pairs(called, first.answerable_queries, items, horizon, clusters)
    return replace(found, identical=all(run.is_identical_to(other) for run, other in pairs))


def from_pairs(
    systems: tuple[Called, Called],
    query_ids: tuple[str, ...],
    pairs: Iterable[Items],
    horizon: int | None,
    clusters: Ints | None,
) -> PairedQueries:
    """Compute the numbers of each query and pair of runs, from the items of each pair, in the order of `itertools.product`."""
    n = len(query_ids)
    baseline, contender = systems
    n_pairs = len(baseline.runs) * len(contender.runs)
    if n_pairs > 1 and n * n_pairs > MOST_ROWS:
        raise ParameterError(
            f"{baseline.name} and {contender.name} have {n_pairs} pairs of runs, which are"
            f" {n * n_pairs:,} rows of queries; at most {MOST_ROWS:,} are compared: leave out runs"
        )
    if n_pairs > 1:
        clusters = np.tile(np.arange(n) if clusters is None else clusters, n_pairs)
    query = []
    of_a = []
    of_b = []
    for place, items in enumerate(pairs):
        query.append(items.query + place * n)
        of_a.append(items.lengths[0])
        of_b.append(items.lengths[1])
    found = from_items(
        (baseline.name, contender.name),
        query_ids * n_pairs,
        np.concatenate(query),
        (np.concatenate(of_a), np.concatenate(of_b)),
        horizon,
        clusters,
    )
    n_runs = len(baseline.runs), len(contender.runs)
    return replace(found, query_ids=query_ids, n_runs=n_runs)


def horizon_of(*runs: SearchLengths) -> int | None:
    """Return k of the restricted search length: the cutoff, or the depth of the deepest run where that is smaller."""
    if runs[0].cutoff is None:
        return None
    return min(runs[0].cutoff, max(run.depth for run in runs))


def from_items(
    names: tuple[str, str],
    query_ids: tuple[str, ...],
    query: Ints,
    lengths: tuple[Floats, Floats],
    horizon: int | None,
    clusters: Ints | None = None,
) -> PairedQueries:
    """Compute the numbers of each query from the search lengths of its items, NaN where an item was not found."""
    n_queries = len(query_ids)
    found = ~np.isnan(lengths[0]), ~np.isnan(lengths[1])
    both = found[0] & found[1]
    n_items = np.bincount(query, minlength=n_queries)
    single = len(query) == n_queries  # then the items are the queries, in their order

    def means(values: npt.NDArray[np.generic], counted: Bools) -> Floats:
        if single:
            return np.where(counted, values, np.nan).astype(np.float64)
        return means_by_query(query[counted], values[counted], n_queries)

    every = np.ones(len(query), dtype=bool)
    outcome = found[0] + 2 * found[1].astype(np.int64)
    neither, lost, won, in_both = np.bincount(outcome, minlength=4).tolist()
    weight = 1 / n_items[query] if n_queries else np.empty(0)
    shared = np.bincount(query[both], minlength=n_queries) > 0
    # Lengths over what both found, where there is such an item; else over what the run found
    # itself.
    counted = [both | (run_found & ~shared[query]) for run_found in found]
    return PairedQueries(
        baseline=names[0],
        contender=names[1],
        query_ids=query_ids,
        outcomes=Outcomes(
            neither,
            lost,
            won,
            in_both,
            shares=(
                Shares(*(np.bincount(outcome, weights=weight, minlength=4) / n_queries).tolist())
                if n_queries
                else None
            ),
            lost_at=_weighted_median(lengths[0][outcome == 1], weight[outcome == 1]),
            won_at=_weighted_median(lengths[1][outcome == 2], weight[outcome == 2]),
        ),
        found_baseline=means(found[0], every),
        found_contender=means(found[1], every),
        item_share=float(np.mean(1 / n_items)) if n_queries else 1.0,
        shared=shared,
        length_baseline=means(lengths[0], counted[0]),
        length_contender=means(lengths[1], counted[1]),
        reciprocal_baseline=means(1 / lengths[0], counted[0]),
        reciprocal_contender=means(1 / lengths[1], counted[1]),
        restricted=(
            None
            if horizon is None
            else _restricted(lengths, outcome, horizon, lambda values: means(values, every))
        ),
        clusters=clusters,
    )


def _restricted(
    lengths: tuple[Floats, Floats], outcome: Ints, horizon: int, means: Callable[[Floats], Floats]
) -> Restricted:
    baseline, contender = (np.where(np.isnan(values), horizon + 1.0, values) for values in lengths)
    change = contender - baseline
    parts = [
        np.where(outcome == OUTCOMES.index(name), change, 0.0) for name in ("both", "won", "lost")
    ]
    return Restricted(horizon, *(means(values) for values in (baseline, contender, *parts)))


def _weighted_median(values: Floats, weights: Floats) -> float | None:
    """Return the smallest value with half of the weight at or below it, or the middle of two where they share it evenly."""
    if not len(values):
        return None
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weights[order])
    half = upto[-1] / 2
    slack = 1e-12 * upto[-1]
    low = int(np.searchsorted(upto, half - slack))
    high = min(int(np.searchsorted(upto, half + slack)), len(values) - 1)
    return float(values[order[low]] + values[order[high]]) / 2
