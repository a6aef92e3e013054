"""The outcome split: what two runs did with each query, and the per-query numbers of both facets and of all queries.

*Items* are what is answered or not: queries (``unit="query"``), or the atoms of `SearchLengths`
(``unit="document"``), averaged within their query, so that each query weighs the same. With one
relevant document per query the two give the same arrays.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import OUTCOMES, Items, SearchLengths, match, means_by_query
from ir_outcomes.evaluation.systems import Called, System, digest_of_clusters
from ir_outcomes.statistics.corrections import first_step_level
from ir_outcomes.statistics.counts import Rows
from ir_outcomes.statistics.new_runs import Changes
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
    divided,
)

CoverageTest = Literal["exact", "signflip"]


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
    #: Smallest grade of a relevant document; None where only values were compared that do not say it.
    rel: int | None
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
        return cls(
            cutoff=evaluation.cutoff,
            rel=evaluation.rel,
            unit=evaluation.unit,
            ties=evaluation.ties,
            judged_only=evaluation.judged_only,
            coverage_test=coverage_test_for(evaluation),
            n_clusters=evaluation.n_clusters,
            clusters=digest_of_clusters(evaluation.clusters),
            **rules,
        )

    def __post_init__(self) -> None:
        check_positive("rel", self.rel, none_allowed=True)
        check_one_order(self.ties)
        check_level(self.alpha)
        check_choice("correction", self.correction, get_args(Correction))

    def of_pair(self, pair: "PairedQueries") -> Self:
        """Return the settings of one pair: coverage of several runs is tested by sign flips."""
        if pair.pairs is not None:
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
    """Refuse a level, a test or a correction that does not exist; a test can be a function."""
    check_level(alpha)
    if not callable(test):
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
    identical: bool = False  # whether the runs have the same documents in the same order; not where that is not known
    # Where a system has several runs, in place of each value its sum over pairs of runs: lengths and
    # their reciprocals over those that share something, where any do.
    pairs: "PairsOfRuns | None" = None

    @property
    def n_runs(self) -> tuple[int, int]:
        """Numbers of runs of both systems."""
        return (1, 1) if self.pairs is None else self.pairs.coverage.n_runs

    @property
    def n_shared(self) -> Floats:
        """Of each query, pairs of runs that found at least one same item."""
        return self.shared.astype(np.float64) if self.pairs is None else self.pairs.ranking.number

    def rows(self, *, shared: bool = False) -> Ints | Rows | None:
        """Clusters of the queries, or of those of the ranking facet, and of several runs what the sums are over."""
        if self.pairs is not None:
            changes = self.pairs.ranking if shared else self.pairs.coverage
            return changes.rows(self.clusters)
        if shared and self.clusters is not None:
            return self.clusters[self.shared]
        return self.clusters

    @property
    def all_queries(self) -> tuple[Floats, Floats] | None:
        """Values of both runs over all queries, which confirm a direction."""
        if self.restricted is not None:
            return self.restricted.baseline, self.restricted.contender
        if self.measure is not None and self.higher_is_better:
            if self.pairs is not None:
                return self.pairs.everywhere.values[0], self.pairs.everywhere.values[1]
            return np.nan_to_num(self.length_baseline), np.nan_to_num(self.length_contender)
        return None


def pair_queries(
    baseline: SearchLengths | System,
    contender: SearchLengths | System,
    unit: Unit,
    horizon: int | None = None,
) -> PairedQueries:
    """Split the answerable queries by outcome, and compute the numbers of each query; the items are queries or documents.

    Of systems every run of one is paired with every run of the other. The horizon is k of the
    restricted search length, by default that of this pair.
    """
    a = System.of(baseline)
    b = System.of(contender)
    pairs = list(product(a.runs, b.runs))
    first = a.runs[0]
    place = np.cumsum(first.answerable) - 1
    clusters = None if first.clusters is None else first.clusters[first.answerable]
    if horizon is None:
        horizon = horizon_of(*a.runs, *b.runs)
    matched = (match(*pair, unit) for pair in pairs)
    items = (Items(place[own.query], own.lengths) for own in matched)
    found = from_pairs(a.called, b.called, first.answerable_queries, items, horizon, clusters)
    return replace(found, identical=all(run.is_identical_to(other) for run, other in pairs))


def from_pairs(
    baseline: Called,
    contender: Called,
    query_ids: tuple[str, ...],
    pairs: Iterable[Items],
    horizon: int | None,
    clusters: Ints | None,
) -> PairedQueries:
    """Add up the numbers of each query over pairs of runs, from the items of each, in the order of `itertools.product`."""
    names = baseline.name, contender.name
    sums = PairsOfRuns((baseline, contender), len(query_ids))
    for places, items in zip(sums.places, pairs, strict=True):
        pair = from_items(names, query_ids, *items, horizon, clusters)
        if len(sums.places) == 1:
            return pair
        sums.add(places, pair, items)
    return sums.paired(pair)


class PairsOfRuns:
    """What the pairs of runs of two systems have in each query, added up; the pairs come one by one."""

    def __init__(self, systems: tuple[Called, Called], n: int) -> None:
        self.systems = systems
        n_runs = len(systems[0].runs), len(systems[1].runs)
        # Of the pairs, in their order.
        self.places = list(product(range(n_runs[0]), range(n_runs[1])))
        self.coverage = Changes(n_runs, n)
        self.ranking = Changes(n_runs, n)
        self.everywhere = Changes(n_runs, n)  # restricted lengths; else values, 0 for nothing found
        self._reciprocals = np.zeros((2, n))
        self._parts = np.zeros((3, n))  # of the difference of restricted lengths
        # Lengths on what a run found, and how many runs found something.
        self._own = np.zeros((2, n))
        self._n_own = np.zeros((2, n))
        self._outcomes = np.zeros(4, dtype=np.int64)
        self._weights = np.zeros(4)
        # Lengths at which something was lost, and won, each once, with their weights.
        self._alone = [(np.empty(0), np.empty(0))] * 2

    def add(self, places: tuple[int, int], pair: PairedQueries, items: Items) -> None:
        """Add a pair of runs, by their places."""
        every = np.ones(len(pair.shared), dtype=bool)
        lengths = np.stack([pair.length_baseline, pair.length_contender])
        everywhere = np.nan_to_num(lengths)
        self._own += everywhere
        self._n_own += ~np.isnan(lengths)
        reciprocals = np.stack([pair.reciprocal_baseline, pair.reciprocal_contender])
        self._reciprocals += np.where(pair.shared, reciprocals, 0.0)
        if pair.restricted is not None:
            everywhere, parts = np.split(np.stack(pair.restricted[1:]), [2])
            self._parts += parts
        self.coverage.add(places, np.stack([pair.found_baseline, pair.found_contender]), every)
        self.ranking.add(places, lengths, pair.shared)
        self.everywhere.add(places, everywhere, every)
        weight = 1 / np.bincount(items.query)[items.query]
        self._outcomes += np.bincount(items.outcome, minlength=4)
        self._weights += np.bincount(items.outcome, weights=weight, minlength=4)
        for side, (values, weights) in enumerate(self._alone):
            alone = items.outcome == side + 1
            values = np.append(values, items.lengths[side][alone])
            distinct, code = np.unique(values, return_inverse=True)
            total = np.bincount(code, np.append(weights, weight[alone])).astype(np.float64)
            self._alone[side] = distinct, total

    def paired(self, pair: PairedQueries) -> PairedQueries:
        """Return the sums, with what each pair has in common."""
        shared = self.ranking.counted
        own = divided(self._own, self._n_own, self._n_own > 0)
        lengths = np.where(shared, self.ranking.values, own)
        shares = None
        if pair.outcomes.shares is not None:
            shares = Shares(*(self._weights / self.coverage.number.sum()).tolist())
        neither, lost, won, both = self._outcomes.tolist()
        lost_at, won_at = (_weighted_median(*alone) for alone in self._alone)
        restricted = pair.restricted
        if restricted is not None:
            restricted = Restricted(restricted.horizon, *self.everywhere.values, *self._parts)
        return replace(
            pair,
            outcomes=Outcomes(neither, lost, won, both, shares, lost_at, won_at),
            found_baseline=self.coverage.values[0],
            found_contender=self.coverage.values[1],
            shared=shared,
            length_baseline=lengths[0],
            length_contender=lengths[1],
            reciprocal_baseline=self._reciprocals[0],
            reciprocal_contender=self._reciprocals[1],
            restricted=restricted,
            pairs=self,
        )


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
    items = Items(query, lengths)
    outcome = items.outcome
    found_baseline, found_contender = items.found
    both = found_baseline & found_contender
    n_items = np.bincount(query, minlength=n_queries)
    single = len(query) == n_queries  # then the items are the queries, in their order

    def means(values: npt.NDArray[np.generic], counted: Bools) -> Floats:
        if single:
            return np.where(counted, values, np.nan).astype(np.float64)
        return means_by_query(query[counted], values[counted], n_queries)

    def means_of_all(values: npt.NDArray[np.generic]) -> Floats:
        if single:
            return values.astype(np.float64)
        totals = np.bincount(query, weights=values, minlength=n_queries)
        return divided(totals, n_items, n_items > 0)

    neither, lost, won, in_both = np.bincount(outcome, minlength=4).tolist()
    shares = None
    item_share = 1.0
    weight = np.empty(0)
    if n_queries:
        weight = 1 / n_items[query]
        weights = np.bincount(outcome, weights=weight, minlength=4)
        shares = Shares(*(weights / n_queries).tolist())
        item_share = float(np.mean(1 / n_items))
    shared = np.bincount(query[both], minlength=n_queries) > 0
    # Lengths over what both found, where there is such an item; else over what the run found
    # itself.
    of_baseline = both | (found_baseline & ~shared[query])
    of_contender = both | (found_contender & ~shared[query])
    restricted = None
    if horizon is not None:
        a, b = (np.where(np.isnan(values), horizon + 1.0, values) for values in lengths)
        parts = [
            means_of_all(np.where(outcome == OUTCOMES.index(name), b - a, 0.0))
            for name in ("both", "won", "lost")
        ]
        restricted = Restricted(horizon, means_of_all(a), means_of_all(b), *parts)
    return PairedQueries(
        baseline=names[0],
        contender=names[1],
        query_ids=query_ids,
        outcomes=Outcomes(
            neither,
            lost,
            won,
            in_both,
            shares=shares,
            lost_at=_weighted_median(lengths[0][outcome == 1], weight[outcome == 1]),
            won_at=_weighted_median(lengths[1][outcome == 2], weight[outcome == 2]),
        ),
        found_baseline=means_of_all(found_baseline),
        found_contender=means_of_all(found_contender),
        item_share=item_share,
        shared=shared,
        length_baseline=means(lengths[0], of_baseline),
        length_contender=means(lengths[1], of_contender),
        reciprocal_baseline=means(1 / lengths[0], of_baseline),
        reciprocal_contender=means(1 / lengths[1], of_contender),
        restricted=restricted,
        clusters=clusters,
    )


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
