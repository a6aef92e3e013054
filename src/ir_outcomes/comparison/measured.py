"""A pair of runs, measured and tested on both facets and over all queries, before any correction."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from ir_outcomes.comparison.facets import (
    POWER,
    AllQueries,
    CoverageFacet,
    Means,
    MeasureMeans,
    RankingFacet,
    RestrictedLength,
)
from ir_outcomes.comparison.outcomes import PairedQueries, Settings
from ir_outcomes.comparison.pair_tests import PairTests, run_tests, samples_of
from ir_outcomes.comparison.runs_of_systems import AskedMeasure
from ir_outcomes.comparison.verdict import NAMES
from ir_outcomes.reading.measure_names import range_of
from ir_outcomes.statistics import (
    Interval,
    Test,
    differences,
    intervals,
    linearized,
    paired_tests,
    rank_sum,
)
from ir_outcomes.statistics import old_power as power
from ir_outcomes.statistics.counts import Rows, number_of_rows
from ir_outcomes.statistics.kernels import Kernel
from ir_outcomes.statistics.new_runs import Changes, Side
from ir_outcomes.statistics.tests import Samples, binomial_test
from ir_outcomes.types import LENGTHS, POINTS, Direction, Floats, Ints, length_unit

OF_MEAN = "mean / standard deviation of the differences"


class Facets(NamedTuple):
    """What was tested of a pair, before any correction, and the tests that decide on its label."""

    coverage: CoverageFacet
    ranking: RankingFacet
    reciprocal: Means | None
    all_queries: AllQueries | None
    naive: Means
    tests: PairTests

    @classmethod
    def of(
        cls,
        pair: PairedQueries,
        reciprocal_ranks: tuple[Floats, Floats],
        settings: Settings,
        own_test: Kernel | None = None,
    ) -> Self:
        """Test a pair; the naive tests are of reciprocal ranks of all queries, or of the values of another measure."""
        samples = samples_of(pair, settings.levels)
        all_queries = None
        if samples.everywhere is not None and pair.query_ids:
            all_queries = over_all_queries(pair, samples.everywhere, samples.won_and_lost, settings)
        return cls(
            coverage=coverage_facet(pair, samples.coverage, settings),
            ranking=ranking_facet(pair, samples.ranking, settings, own_test),
            reciprocal=reciprocal_means(pair, settings),
            all_queries=all_queries,
            naive=naive_means(pair, reciprocal_ranks),
            tests=run_tests(samples, settings.test, settings.coverage_test, own_test),
        )


@dataclass(frozen=True, eq=False)
class _Sample:
    """The differences of a pair, as a sample of queries and of runs, and the intervals of their mean."""

    change: Floats
    rows: Ints | Rows | None  # clusters; of several runs what the differences are sums over
    changes: Changes | None  # of several runs
    settings: Settings
    sides: tuple[
        Side, ...
    ] = ()  # that have several runs; none where nothing is said about new ones

    @classmethod
    def of(
        cls,
        values: tuple[Floats, Floats],
        pair: PairedQueries,
        changes: Changes | None,
        settings: Settings,
        *,
        shared: bool = False,
    ) -> Self:
        """Take the values of both runs on all queries, or on those on which both found something."""
        sides = () if changes is None else changes.sides(pair.clusters)
        return cls(differences(*values), pair.rows(shared=shared), changes, settings, sides)

    @property
    def n_nonzero(self) -> int:
        """Number of queries that have a difference, with some pair of runs."""
        differs = self.change != 0 if self.changes is None else self.changes.differs
        return int(np.sum(differs))

    def mean(self, values: Floats) -> float | None:
        """Return the mean of some values over all rows."""
        return _mean(values, self.rows)

    @property
    def difference(self) -> float | None:
        """Mean of the differences over all rows."""
        return _mean_difference(self.change, self.rows)

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the differences of all rows."""
        return _deviation(self.change) if self.changes is None else self.changes.deviation()

    @property
    def standardized(self) -> float | None:
        """Mean divided by standard deviation."""
        mean = self.difference
        deviation = self.deviation
        return mean / deviation if mean is not None and deviation else None

    def interval(self, largest: float | None, sides: Sequence[Side] = ()) -> Interval | None:
        """Return the interval for these runs, or with sides for new ones, too."""
        level = 1 - self.settings.alpha
        return intervals.mean_interval(self.change, level, largest, self.rows, sides)

    def for_new_runs(self, largest: float | None) -> Interval | None:
        """Return the interval for new runs, too; None where these say nothing about such."""
        return self.interval(largest, self.sides) if self.sides else None

    def errors_of_runs(self, unit: float = 1.0) -> tuple[float, ...]:
        """Return what the runs of each side that has several add to the standard error."""
        return tuple(unit * math.sqrt(side.between) for side in self.sides)

    def against_margins(
        self, largest: float | None, *, whole: bool = False
    ) -> tuple[Interval | None, float | None]:
        """Return the interval for margins, and the smallest margin that it excludes where no query differs."""
        if largest is None:
            return None, None
        level = self.settings.margin_level

        def interval_of(change: Floats, sides: Sequence[Side] = ()) -> Interval | None:
            if whole:  # the adjusted Wald interval has its own imaginary queries
                return intervals.coverage_interval(change, 1.0, level)
            return intervals.margin_interval(change, largest, level, self.rows, sides)

        of_equal_runs = interval_of(np.zeros(len(self.change)))
        smallest = None if of_equal_runs is None else of_equal_runs.high
        return interval_of(self.change, self.sides), smallest

    def detectable(self, most: float = math.inf) -> float | None:
        """Return the smallest true mean that would be found; None where the differences are all the same."""
        change = linearized(self.change, self.rows)
        deviation = _deviation(change)
        if not deviation:
            return None
        level = self.settings.first_step_level
        return power.detectable_mean(len(change), deviation, level, POWER, most)


def coverage_facet(pair: PairedQueries, tests: Samples, settings: Settings) -> CoverageFacet:
    """Compare how many queries are answered (or relevant documents found), in percentage points."""
    of_runs = pair.found_baseline, pair.found_contender
    changes = None if pair.pairs is None else pair.pairs.coverage
    sample = _Sample.of(of_runs, pair, changes, settings)
    change = sample.change
    won = int(np.sum(change > 0))
    lost = int(np.sum(change < 0))
    whole = settings.coverage_test == "exact"
    if whole:
        test = binomial_test(won, lost)
        share = (won + lost) / max(len(change), 1)
        level = settings.first_step_level
        detectable = power.detectable_proportion(len(change), share, level, POWER)
    else:
        test = tests["signflip"]
        detectable = sample.detectable(most=1.0)
    margin_interval, smallest = sample.against_margins(1.0, whole=whole)
    interval = intervals.coverage_interval(change, pair.item_share, 1 - settings.alpha, sample.rows)
    return CoverageFacet(
        name="coverage",
        measured_in=POINTS,
        higher_is_better=True,
        n=len(pair.query_ids),
        n_nonzero=sample.n_nonzero,
        baseline=_percent(sample.mean(pair.found_baseline)),
        contender=_percent(sample.mean(pair.found_contender)),
        difference=_percent(sample.difference),
        deviation=_percent(sample.deviation),
        interval=_points(interval),
        new_runs=_points(sample.for_new_runs(1.0)),
        errors_of_runs=sample.errors_of_runs(100.0),
        margin_interval=_points(margin_interval),
        smallest_margin=_percent(smallest),
        effect_size=intervals.odds_ratio(won, lost) if whole else sample.standardized,
        effect="odds ratio won : lost" if whole else OF_MEAN,
        test=test.name,
        tests={test.name: test},
        pvalue_corrected=test.pvalue,
        found="none",
        detectable=_percent(detectable),
        alpha=settings.alpha,
        detectable_level=settings.first_step_level,
        won=won if whole else None,
        lost=lost if whole else None,
    )


def ranking_facet(
    pair: PairedQueries, offered: Samples, settings: Settings, own_test: Kernel | None = None
) -> RankingFacet:
    """Compare mean search lengths (or the values of another measure) on what both runs found."""
    measured_in = pair.measure or length_unit(settings.unit)
    baseline = pair.length_baseline[pair.shared]
    contender = pair.length_contender[pair.shared]
    changes = None if pair.pairs is None else pair.pairs.ranking
    sample = _Sample.of((baseline, contender), pair, changes, settings, shared=True)
    test = offered.of_mean if settings.test == "t" else settings.test
    tests = dict(offered)
    tests[test] = offered.one(test, own_test)
    # The most that a query can change by, where it is known.
    possible = None
    if pair.measure is not None:
        values = (baseline, contender) if changes is None else (changes.bounds,)
        possible = range_of(pair.measure, *values)
    elif pair.restricted is not None:
        possible = pair.restricted.horizon - 1.0
    largest = 0.0 if pair.identical else possible
    margin_interval, smallest = sample.against_margins(possible)
    ratio = None
    ratio_interval = None
    if measured_in in LENGTHS:  # another measure is not known to have a ratio scale
        longest = math.inf
        if pair.restricted is not None:
            longest = float(pair.restricted.horizon)
        ratio = intervals.ratio_of_means(baseline, contender)
        ratio_interval = intervals.ratio_interval(
            baseline, contender, 1 - settings.alpha, sample.rows, longest
        )
    return RankingFacet(
        name="ranking",
        measured_in=measured_in,
        higher_is_better=pair.higher_is_better,
        n=int(pair.shared.sum()),
        n_nonzero=sample.n_nonzero,
        baseline=sample.mean(baseline),
        contender=sample.mean(contender),
        difference=sample.difference,
        deviation=sample.deviation,
        interval=sample.interval(largest),
        new_runs=sample.for_new_runs(largest),
        errors_of_runs=sample.errors_of_runs(),
        margin_interval=margin_interval,
        smallest_margin=smallest,
        effect_size=sample.standardized,
        effect=OF_MEAN,
        test=test,
        tests=tests,
        pvalue_corrected=tests[test].pvalue,
        found="none",
        detectable=sample.detectable(),
        alpha=settings.alpha,
        detectable_level=settings.first_step_level,
        mean_test=offered.of_mean,
        ratio=ratio,
        ratio_interval=ratio_interval,
    )


def reciprocal_means(pair: PairedQueries, settings: Settings) -> Means | None:
    """Compare mean reciprocals of the search lengths on what both runs found, as Table 2 of Lin et al. 2021 does."""
    if pair.measure is not None:
        return None
    rows = pair.rows(shared=True)
    values = pair.reciprocal_baseline[pair.shared], pair.reciprocal_contender[pair.shared]
    paired = paired_tests(differences(*values), clusters=rows)
    name = "reciprocal search length"
    if settings.unit == "query":
        name = "reciprocal rank"
    tests = {"wilcoxon": paired["wilcoxon"], "t": paired["t"]}
    return _means(name, "reciprocal", values, rows, tests)


def naive_means(pair: PairedQueries, values: tuple[Floats, Floats]) -> Means:
    """Compare the means that the framework replaces, over all answerable queries: Table 1 of Lin et al. 2021."""
    paired = paired_tests(differences(*values))
    tests = {"ranksum": rank_sum(*values), "wilcoxon": paired["wilcoxon"], "t": paired["t"]}
    if pair.measure is None:
        return _means("naive MRR", "reciprocal", values, None, tests)
    return _means("naive mean", pair.measure, values, None, tests, pair.higher_is_better)


def _means(
    name: str,
    measured_in: str,
    values: tuple[Floats, Floats],
    rows: Ints | Rows | None,
    tests: Mapping[str, Test],
    higher_is_better: bool = True,
) -> Means:
    """Return the means of the values of both runs, and their difference."""
    baseline, contender = values
    return Means(
        name=name,
        measured_in=measured_in,
        higher_is_better=higher_is_better,
        n=len(baseline),
        baseline=_mean(baseline, rows),
        contender=_mean(contender, rows),
        difference=_mean_difference(differences(baseline, contender), rows),
        tests=tests,
    )


def over_all_queries(
    pair: PairedQueries,
    offered: Samples,
    won_and_lost: Samples | None,
    settings: Settings,
) -> AllQueries | None:
    """Compare restricted search lengths, or the means of another measure, over all answerable queries."""
    if pair.all_queries is None:
        return None
    baseline, contender = pair.all_queries
    changes = None if pair.pairs is None else pair.pairs.everywhere
    sample = _Sample.of(pair.all_queries, pair, changes, settings)
    largest = None
    if pair.restricted is not None:
        largest = 0.0 if pair.identical else float(pair.restricted.horizon)
    test = offered[offered.of_mean]
    means: dict[str, Any] = {
        "measured_in": pair.measure or length_unit(settings.unit),
        "higher_is_better": pair.higher_is_better,
        "n": len(pair.query_ids),
        "n_nonzero": sample.n_nonzero,
        "baseline": sample.mean(baseline),
        "contender": sample.mean(contender),
        "difference": sample.difference or 0.0,
        "interval": sample.interval(largest),
        "new_runs": sample.for_new_runs(largest),
        "errors_of_runs": sample.errors_of_runs(),
        "test": test,
        "tests": {name: offered[name] for name in ("t", "wilcoxon", "sign", offered.of_mean)},
        "pvalue_corrected": test.pvalue,
        "found": "none",
    }
    restricted = pair.restricted
    if restricted is None or won_and_lost is None:
        return AllQueries(**means)
    margin_interval, smallest = sample.against_margins(float(restricted.horizon))
    return RestrictedLength(
        **means,
        horizon=restricted.horizon,
        margin_interval=margin_interval,
        smallest_margin=smallest,
        both=sample.mean(restricted.both) or 0.0,
        won=sample.mean(restricted.won) or 0.0,
        lost=sample.mean(restricted.lost) or 0.0,
        better=int(np.sum(sample.change < 0)),
        worse=int(np.sum(sample.change > 0)),
        equal=int(np.sum(sample.change == 0)),
        won_and_lost_test=won_and_lost[won_and_lost.of_mean],
    )


def means_of_measure(asked: AskedMeasure, pair: PairedQueries, settings: Settings) -> MeasureMeans:
    """Compare two systems, the baseline first, by the means of a measure over all queries."""
    baseline, contender = asked.changes.values
    sample = _Sample.of((baseline, contender), pair, asked.changes, settings)
    largest = range_of(asked.measure, asked.changes.bounds)
    test = paired_tests(sample.change, clusters=sample.rows)["t"]
    found: Direction = "none"
    if test.pvalue <= settings.alpha:
        found = NAMES[test.direction * (1 if asked.higher_is_better else -1)]
    return MeasureMeans(
        measure=asked.measure,
        higher_is_better=asked.higher_is_better,
        n=len(pair.query_ids),
        n_nonzero=sample.n_nonzero,
        baseline=sample.mean(baseline) or 0.0,
        contender=sample.mean(contender) or 0.0,
        difference=sample.difference or 0.0,
        interval=sample.interval(largest),
        new_runs=sample.for_new_runs(largest),
        test=test,
        found=found,
    )


def _mean(values: Floats, rows: Ints | Rows | None) -> float | None:
    """Return the mean over rows of their sums."""
    return float(values.sum() / number_of_rows(values, rows)) if len(values) else None


def _mean_difference(change: Floats, rows: Ints | Rows | None) -> float | None:
    """Mean of the differences; exactly 0 where it is 0 except for rounding, as in the tests."""
    if len(change) and abs(change.sum()) <= 1e-12 * np.abs(change).sum():
        return 0.0
    return _mean(change, rows)


def _deviation(values: Floats) -> float | None:
    if len(values) < 2:
        return None
    return 0.0 if np.all(values == values[0]) else float(values.std(ddof=1))


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def _points(interval: Interval | None) -> Interval | None:
    if interval is None:
        return None
    return Interval(100 * interval.low, 100 * interval.high)
