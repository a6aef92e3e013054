"""The outcome split: what two runs did with each query.

*Items* are what is answered or not: queries (``unit="query"``), or the atoms of `SearchLengths`
(``unit="document"``), averaged within their query, so that each query weighs the same. With one
relevant document per query the two give the same arrays.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Literal, NamedTuple, Self

import numpy as np

from ir_outcomes.arguments import check_one_order, check_positive
from ir_outcomes.choices import OUTCOMES, Bools, Correction, Floats, Ints, Ties, Unit, divided
from ir_outcomes.comparison.verdict import Rules
from ir_outcomes.evaluation.evaluation import DEFAULT_CUTOFF, Evaluation
from ir_outcomes.evaluation.lengths import Items, SearchLengths, match
from ir_outcomes.evaluation.systems import Called, System, digest_of_clusters
from ir_outcomes.reading.datasets import has_settings, load
from ir_outcomes.statistics.estimate import Units
from ir_outcomes.statistics.families import level_in_family


@dataclass(frozen=True)
class Settings:
    """How a comparison was made."""

    #: Ranks beyond it do not count; None where only values of a tool were compared.
    cutoff: int | None
    #: Smallest grade of a relevant document; None where values were compared that do not say it.
    rel: int | None
    unit: Unit  #: what is answered or not
    ties: Ties | Literal["unknown"]  #: "unknown" where only values of a tool were compared
    judged_only: bool  #: whether unjudged documents were removed
    alpha: float = 0.05  #: level of p-values, intervals and verdict
    correction: Correction = "holm"  #: of p-values, each row by itself,
    family: int = 1  #: over so many comparisons
    #: percentage points of coverage, ranks, and, where given, ranks over all queries
    margins: tuple[float, ...] | None = None
    #: clusters of the answerable queries; None where queries are independent
    n_clusters: int | None = None
    clusters: str | None = None  #: digest of which queries are together
    #: the dataset whose cutoff and rel these are, where they are not the usual ones
    task: str | None = None

    def __post_init__(self) -> None:
        check_positive("rel", self.rel, none_allowed=True)
        check_one_order(self.ties)

    @classmethod
    def of(cls, evaluation: Evaluation, rules: Rules, family: int = 1) -> Self:
        """Take the settings of an evaluation, and the rules of a family of comparisons."""
        values = evaluation.values
        return cls(
            cutoff=evaluation.cutoff if values is None else values.cutoff,
            rel=evaluation.rel if values is None else values.rel,
            unit=evaluation.unit,
            ties=evaluation.ties if values is None else "unknown",
            judged_only=evaluation.judged_only,
            alpha=rules.alpha,
            correction=rules.correction,
            family=family,
            margins=rules.margins,
            n_clusters=evaluation.n_clusters,
            clusters=digest_of_clusters(evaluation.clusters),
            task=_task_of(evaluation),
        )

    @property
    def rules(self) -> Rules:
        """The rules of the verdict."""
        return Rules(self.alpha, self.correction, self.margins)

    @property
    def first_level(self) -> float:
        """The level that the smallest p-value of the family has to reach."""
        return level_in_family(self.alpha, self.family, self.correction)


def _task_of(evaluation: Evaluation) -> str | None:
    """Return the dataset from which cutoff and rel come, None where they are the usual ones."""
    chosen = (evaluation.cutoff, evaluation.rel)
    if chosen == (DEFAULT_CUTOFF, 1) or not has_settings(evaluation.collection):
        return None
    task = load(evaluation.collection)
    return task.dataset_id if chosen == (task.cutoff, task.rel) else None


class Shares(NamedTuple):
    """Shares of the four outcomes, averaged within each query first, with a sum of 1."""

    neither: float
    lost: float
    won: float
    both: float


@dataclass(frozen=True)
class Outcomes:
    """How many queries, or relevant documents, had each outcome."""

    neither: int  #: found by neither run: (1) of Table 2
    lost: int  #: found by the baseline only: "A wins"
    won: int  #: found by the contender only: "B wins"
    both: int  #: (3) of Table 2
    shares: Shares | None  #: None where no query is answerable
    #: median search length at which the baseline found what was lost, in ranks; each relevant
    #: document weighs one over the number of its query's; None where nothing was lost, or no ranks
    #: are known, or a system has several runs
    lost_at: float | None = None
    won_at: float | None = None  #: the same of the contender and what was won


@dataclass(frozen=True, eq=False)
class Sample:
    """Values of two systems on n queries, summed over pairs of runs, (n,) arrays."""

    baseline: Floats
    contender: Floats
    size: Floats  #: pairs of runs that count: 1 or 0 where each system has one run
    #: of each side that has several runs, the differences and their numbers; (n_runs, n) arrays
    sides: tuple[tuple[Floats, Floats], ...] = ()

    @property
    def differs(self) -> bool:
        """Whether any value of any query differs."""
        return bool(np.any(self.baseline != self.contender))

    def units(self, clusters: Ints | None = None) -> Units:
        """Return the sums of differences over queries, or clusters of them."""
        return Units.of(self.baseline, self.contender, clusters, self.size)

    def means(self) -> tuple[float | None, float | None]:
        """Return the means of both systems, None where nothing counts."""
        rows = self.size.sum()
        if not rows:
            return None, None
        return float(self.baseline.sum() / rows), float(self.contender.sum() / rows)

    def each(self) -> tuple[Floats, Floats]:
        """Return the mean values of both systems on the queries that count."""
        counted = self.size > 0
        size = self.size[counted]
        return self.baseline[counted] / size, self.contender[counted] / size


@dataclass(frozen=True, eq=False)
class PairedQueries:
    """What two systems did with the n answerable queries."""

    baseline: str
    contender: str
    query_ids: tuple[str, ...]
    outcomes: Outcomes
    coverage: Sample  # shares of the query's items found, in percent
    ranking: Sample  # search lengths, or values of another measure, on what both found
    reciprocal: Sample  # reciprocals of the same
    # Restricted search lengths, or values with 0 where nothing was found; None where nothing is
    # known over all queries.
    all_queries: Sample | None
    # (2, n) search lengths on what both found, else on what the run found; NaN where it is nothing.
    lengths: Floats
    single: bool  # whether each query is one item
    horizon: int | None  # k: the cutoff, or the depth of the deeper run where that is smaller
    clusters: Ints | None = None  # (n,) cluster of each query; None where queries are independent
    measure: str | None = None  # another measure, whose values take the place of lengths
    bounds: tuple[float, float] | None = None  # its smallest and largest value, where said
    higher_is_better: bool = False  # direction of the lengths, or of that measure
    identical: bool = False  # whether the rankings are the same; not where that is not known
    n_runs: tuple[int, int] = (1, 1)

    @property
    def by_runs(self) -> bool:
        """Whether a system has several runs."""
        return self.n_runs != (1, 1)


def pair_queries(
    baseline: SearchLengths | System,
    contender: SearchLengths | System,
    unit: Unit,
    horizon: int | None = None,
) -> PairedQueries:
    """Split the answerable queries by outcome, and compute the values of each query.

    Of systems every run of one is paired with every run of the other. The horizon is k of the
    restricted search length, by default that of this pair.
    """
    a = System.of(baseline)
    b = System.of(contender)
    first = a.runs[0]
    column = np.cumsum(first.answerable) - 1
    clusters = None if first.clusters is None else first.clusters[first.answerable]
    if horizon is None:
        horizon = horizon_of(*a.runs, *b.runs)
    matched = (match(run, other, unit) for run, other in product(a.runs, b.runs))
    items = (Items(column[found.query], found.lengths) for found in matched)
    same = all(run.is_identical_to(other) for run, other in product(a.runs, b.runs))
    return from_items(
        (a.called, b.called),
        first.answerable_queries,
        items,
        horizon=horizon,
        clusters=clusters,
        same_rankings=same,
    )


def horizon_of(*runs: SearchLengths) -> int | None:
    """Return k: the cutoff, or the depth of the deepest run where that is less."""
    if runs[0].cutoff is None:
        return None
    return min(runs[0].cutoff, max(run.depth for run in runs))


def from_items(
    systems: tuple[Called, Called],
    query_ids: tuple[str, ...],
    pairs: Iterable[Items],
    *,
    horizon: int | None,
    clusters: Ints | None = None,
    measure: str | None = None,
    higher_is_better: bool = False,
    mean_alone: bool = False,
    bounds: tuple[float, float] | None = None,
    same_rankings: bool = False,
) -> PairedQueries:
    """Compute the values of each query from the items of each pair of runs.

    The pairs of runs come in the order of `itertools.product`. Items hold search lengths, or the
    values of another measure; NaN where an item was not found. With `mean_alone` the values of a
    measure do not say what was found, so that only their mean over all queries is compared.
    """
    n_runs = len(systems[0].runs), len(systems[1].runs)
    by_runs = n_runs != (1, 1)
    n = len(query_ids)
    with_values = measure is not None and (higher_is_better or mean_alone)
    samples = _Samples(n_runs, n, horizon, with_values)
    single = True
    for runs, items in zip(product(range(n_runs[0]), range(n_runs[1])), pairs, strict=True):
        samples.add(runs, items)
        single = single and len(items.query) == n
    outcomes = samples.outcomes()
    if not by_runs and measure is None:
        outcomes = _with_medians(outcomes, items)
    paired = PairedQueries(
        baseline=systems[0].name,
        contender=systems[1].name,
        query_ids=query_ids,
        outcomes=outcomes,
        coverage=samples.coverage.sample(),
        ranking=samples.ranking.sample(),
        reciprocal=samples.reciprocal.sample(),
        all_queries=None if samples.everywhere is None else samples.everywhere.sample(),
        lengths=samples.lengths(),
        single=single,
        horizon=horizon,
        clusters=clusters,
        measure=measure,
        bounds=bounds,
        higher_is_better=higher_is_better,
        n_runs=n_runs,
    )
    if mean_alone:
        nothing = Sample(*np.zeros((3, n)))
        paired = replace(paired, coverage=nothing, ranking=nothing, reciprocal=nothing)
    deciding = (paired.coverage, paired.ranking, paired.all_queries)
    differs = any(own.differs for own in deciding if own is not None)
    return replace(paired, identical=same_rankings and not differs)


class _Added:
    """Values of two systems, added up over pairs of runs."""

    def __init__(self, n_runs: tuple[int, int], n: int) -> None:
        self.values = np.zeros((2, n))
        self.size = np.zeros(n)
        self.sides = [np.zeros((2, runs, n)) for runs in n_runs if runs > 1]
        self._several = [side for side, runs in enumerate(n_runs) if runs > 1]

    def add(self, runs: tuple[int, int], values: Floats, counted: Bools) -> None:
        """Add the values of a pair of runs, (2, n), where they count."""
        values = np.where(counted, values, 0.0)
        self.values += values
        self.size += counted
        for of_side, side in zip(self.sides, self._several, strict=True):
            of_side[0, runs[side]] += values[1] - values[0]
            of_side[1, runs[side]] += counted

    def sample(self) -> Sample:
        """Return the sums."""
        sides = tuple((of_side[0], of_side[1]) for of_side in self.sides)
        return Sample(self.values[0], self.values[1], self.size, sides)


def sample_of_runs(
    n_runs: tuple[int, int], pairs: Sequence[tuple[tuple[int, int], Floats]], n: int
) -> Sample:
    """Return the sums of (2, n) values of a measure over pairs of runs."""
    added = _Added(n_runs, n)
    for runs, values in pairs:
        added.add(runs, values, np.all(~np.isnan(values), axis=0))
    return added.sample()


class _Samples:
    """What the pairs of runs of two systems have in each query, added up one by one."""

    def __init__(
        self, n_runs: tuple[int, int], n: int, horizon: int | None, with_values: bool
    ) -> None:
        self.n = n
        self.horizon = horizon
        self.coverage = _Added(n_runs, n)
        self.ranking = _Added(n_runs, n)
        self.reciprocal = _Added(n_runs, n)
        self.everywhere = None
        if horizon is not None or with_values:
            self.everywhere = _Added(n_runs, n)
        self._counts = np.zeros(4, dtype=np.int64)
        self._weights = np.zeros(4)
        self._found_alone = np.zeros((2, n))  # search lengths on what a run found itself
        self._n_found = np.zeros((2, n))

    def add(self, runs: tuple[int, int], items: Items) -> None:
        """Add a pair of runs."""
        query = items.query
        lengths = np.stack(items.lengths)
        found = ~np.isnan(lengths)
        n_items = np.bincount(query, minlength=self.n)
        every = n_items > 0

        def mean(values: Floats, number: Ints | Floats = n_items) -> Floats:
            totals = [np.bincount(query, weights=row, minlength=self.n) for row in values]
            return divided(totals, number, number > 0, 0.0)

        both = found.all(axis=0)
        n_both = np.bincount(query[both], minlength=self.n)
        shared = n_both > 0
        self.coverage.add(runs, mean(100.0 * found), every)
        filled = np.where(both, lengths, 0.0)
        self.ranking.add(runs, mean(filled, n_both), shared)
        # Values of measures can be 0.
        reciprocals = divided(1.0, lengths, both & (lengths > 0), 0.0)
        self.reciprocal.add(runs, mean(reciprocals, n_both), shared)
        if self.everywhere is not None:
            missing = 0.0 if self.horizon is None else self.horizon + 1.0
            self.everywhere.add(runs, mean(np.where(found, lengths, missing)), every)
        for side, row in enumerate(found):
            number = np.bincount(query[row], minlength=self.n)
            total = np.bincount(query[row], weights=lengths[side][row], minlength=self.n)
            self._found_alone[side] += divided(total, number, number > 0, 0.0)
            self._n_found[side] += number > 0
        outcome = items.outcome
        self._counts += np.bincount(outcome, minlength=4)
        self._weights += np.bincount(outcome, weights=1 / n_items[query], minlength=4)

    def outcomes(self) -> Outcomes:
        """Return the outcomes of all pairs."""
        shares = None
        if self._weights.any():
            shares = Shares(*(self._weights / self._weights.sum()).tolist())
        neither, lost, won, both = self._counts.tolist()
        return Outcomes(neither, lost, won, both, shares)

    def lengths(self) -> Floats:
        """Return search lengths on what both found, else on what a run found itself."""
        shared = self.ranking.size > 0
        of_both = divided(self.ranking.values, self.ranking.size, shared)
        alone = divided(self._found_alone, self._n_found, self._n_found > 0)
        return np.where(shared, of_both, alone)


def _with_medians(outcomes: Outcomes, items: Items) -> Outcomes:
    """Add the median search lengths of what only one run found."""
    weight = 1 / np.bincount(items.query)[items.query]
    medians = []
    for name, lengths in zip(("lost", "won"), items.lengths, strict=True):
        alone = items.outcome == OUTCOMES.index(name)
        medians.append(_weighted_median(lengths[alone], weight[alone]))
    lost_at, won_at = medians
    return replace(outcomes, lost_at=lost_at, won_at=won_at)


def _weighted_median(values: Floats, weights: Floats) -> float | None:
    """Return the weighted median, the middle of two where they share it evenly."""
    if not len(values):
        return None
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weights[order])
    half = upto[-1] / 2
    slack = 1e-12 * upto[-1]
    low = int(np.searchsorted(upto, half - slack))
    high = min(int(np.searchsorted(upto, half + slack)), len(values) - 1)
    return float(values[order[low]] + values[order[high]]) / 2
