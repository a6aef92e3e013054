"""The facets of a comparison: two means, their difference, how sure, how large, and what could have been missed."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NamedTuple, Self

import numpy as np

from ir_outcomes.comparison.outcomes import CoverageTest, PairedQueries, Settings
from ir_outcomes.evaluation.scores import Scores, range_of
from ir_outcomes.results import Immutable
from ir_outcomes.statistics import (
    Interval,
    Test,
    differences,
    intervals,
    linearized,
    paired_tests,
    power,
    rank_sum,
)
from ir_outcomes.statistics.counts import Members, tally, tally_subsets
from ir_outcomes.statistics.kernels import Kernel, Pvalues, binomial_tests
from ir_outcomes.statistics.new_runs import Side, cells_of, components
from ir_outcomes.statistics.signflips import Levels
from ir_outcomes.statistics.tests import Samples, binomial_test
from ir_outcomes.types import LENGTHS, POINTS, Bools, Direction, Floats, Ints, length_unit

POWER = 0.8


class Tested(Immutable):
    """What was tested, by several tests."""

    tests: Mapping[str, Test]

    @property
    def pvalues(self) -> dict[str, float]:
        """Uncorrected p-values by the name of the test."""
        return {name: test.pvalue for name, test in self.tests.items()}


@dataclass(frozen=True)
class Facet(Tested):
    """One way in which a contender can be better."""

    name: str  #: "coverage" or "ranking"
    measured_in: str  #: unit of the means and of their difference
    higher_is_better: bool  #: their direction
    n: int  #: queries that the facet is measured on
    n_nonzero: int  #: those of them on which the two runs differ
    baseline: float | None  #: mean over the queries
    contender: float | None
    difference: float | None  #: contender minus baseline
    deviation: float | None  #: standard deviation of the differences
    #: two-sided, of the difference, at level 1 - alpha; None where it is not defined.
    interval: Interval | None
    #: with two imaginary queries, at 1 - alpha / (number of contenders), which non-inferiority and
    #: equivalence look at; None where nothing can be compared or the largest possible difference is
    #: not known
    margin_interval: Interval | None
    #: the margin that so many queries would pass if none differed: half the width of
    #: `margin_interval` there
    smallest_margin: float | None
    effect_size: float | None  #: None where it is not finite
    effect: str  #: "odds ratio won : lost" or "mean / standard deviation of the differences"
    test: str  #: the deciding test
    tests: Mapping[str, Test]  #: all tests by name
    pvalue_corrected: float  #: of the deciding test, for the contenders of one call
    found: Direction  #: whether it is better or worse by the p-value that is shown; in a trade-off also by a raw one
    #: smallest true difference that the deciding kind of test would find with power 0.8; None where
    #: there is none
    detectable: float | None
    alpha: float  #: level of `interval`
    detectable_level: float  #: level of `detectable`: that of the first step of the correction
    #: like `interval`, for new runs of the systems, too; None where none has several, or one of
    #: several has fewer than five
    new_runs: Interval | None = field(default=None, kw_only=True)
    #: standard error that the runs add to that of the queries, of each side with several, where
    #: `new_runs` is known
    errors_of_runs: tuple[float, ...] = field(default=(), kw_only=True)

    @property
    def decides(self) -> Test:
        """The deciding test."""
        return self.tests[self.test]

    @property
    def pvalue(self) -> float:
        """Uncorrected p-value of the deciding test."""
        return self.decides.pvalue

    @property
    def harm_tests(self) -> tuple[Test, ...]:
        """The tests that find harm at the raw level: the deciding one, and others of ranking."""
        return (self.decides,)

    @property
    def gain(self) -> float:
        """The difference, negated where lower is better; 0 where there is none."""
        return (self.difference or 0.0) * (1 if self.higher_is_better else -1)

    @property
    def worst_case(self) -> float | None:
        """The end of `interval` on the harmful side: how bad the difference may be; None without an interval."""
        if self.interval is None:
            return None
        if self.higher_is_better:
            return self.interval.low
        return self.interval.high


@dataclass(frozen=True)
class CoverageFacet(Facet):
    """How many queries are answered, or relevant documents found, in percentage points; higher is better."""

    #: queries that only the contender answered; None where shares of documents are compared
    won: int | None = None
    lost: int | None = None  #: those that only the baseline answered


@dataclass(frozen=True)
class RankingFacet(Facet):
    """Mean search length on what both runs found, lower is better; or another measure."""

    #: the test of the mean, which finds harm whichever test decides: sign flips with few
    #: differences
    mean_test: Literal["t", "signflip"] = "t"
    #: mean search length, contender / baseline, lower is better; None for anything else
    ratio: float | None = None
    ratio_interval: Interval | None = None  #: at level 1 - alpha

    @property
    def harm_tests(self) -> tuple[Test, ...]:
        """The tests that find harm at the raw level, whichever decides: also of the mean and of the signed ranks."""
        return (self.decides, self.tests[self.mean_test], self.tests["wilcoxon"])


@dataclass(frozen=True)
class AllQueries(Tested):
    """Means over all answerable queries, which confirm a direction of one facet and can decide where neither facet does.

    See `Facet` for what is not explained here.
    """

    measured_in: str
    higher_is_better: bool
    n: int
    n_nonzero: int
    baseline: float
    contender: float
    difference: float
    interval: Interval | None
    test: Test  #: t, or sign-flip with few differences
    tests: Mapping[str, Test]  #: the same, Wilcoxon, and the sign test of better against worse
    pvalue_corrected: float  #: of `test`, for the contenders of one call
    found: Direction
    new_runs: Interval | None = field(default=None, kw_only=True)
    #: standard error that the runs add to that of the queries, of each side with several, where
    #: `new_runs` is known
    errors_of_runs: tuple[float, ...] = field(default=(), kw_only=True)

    name: ClassVar[str] = "all queries"

    @property
    def decides(self) -> Test:
        """The test of the mean."""
        return self.test

    @property
    def pvalue(self) -> float:
        """Uncorrected p-value of the test of the mean."""
        return self.test.pvalue


@dataclass(frozen=True)
class RestrictedLength(AllQueries):
    """Mean search length over all answerable queries, k + 1 where nothing is found: what the ranking facet leaves out.

    It is the restricted mean of survival analysis (Royston and Parmar 2013), with queries for
    patients and ranks for time.
    """

    horizon: int  #: k: the cutoff, or the depth of the deeper run where that is smaller
    margin_interval: Interval | None
    smallest_margin: float | None
    both: float  #: part of the difference from what both runs found
    won: float  #: from what only the contender found, 0 or less
    lost: float  #: from what only the baseline found, 0 or more
    better: int  #: queries on which the contender's restricted search length is shorter
    worse: int
    equal: int
    won_and_lost_test: Test  #: like `test`, of the part of won and lost by itself

    @property
    def sign_test(self) -> Test:
        """The sign test of better against worse."""
        return self.tests["sign"]

    @property
    def won_and_lost(self) -> float:
        """Part of the difference from what only one run found."""
        return self.won + self.lost


@dataclass(frozen=True)
class Means(Tested):
    """Means of a measure over some queries, which decide nothing."""

    name: str  #: "naive MRR", "naive mean", "reciprocal rank" or "reciprocal search length"
    measured_in: str  #: "reciprocal", or the measure
    higher_is_better: bool
    n: int  #: queries that have a value
    baseline: float | None
    contender: float | None
    difference: float | None
    #: "wilcoxon", "t" and of the naive means "ranksum": WSR, t-test and WRS of Lin et al. 2021.
    tests: Mapping[str, Test]

    interval: ClassVar[None] = None

    @property
    def n_nonzero(self) -> int:
        """Queries on which the two runs differ."""
        return self.tests["t"].n_nonzero

    @property
    def decides(self) -> Test:
        """The t test, which is shown."""
        return self.tests["t"]


@dataclass(frozen=True)
class MeasureMeans(Immutable):
    """Means of a measure that was asked for, such as nDCG@10, over all answerable queries; they decide nothing."""

    measure: str  #: its name
    higher_is_better: bool  #: its direction
    n: int  #: answerable queries
    n_nonzero: int  #: those of them on which the two runs differ
    baseline: float  #: mean
    contender: float
    difference: float  #: contender minus baseline
    #: two-sided, of the difference, at level 1 - alpha; None where it is not defined.
    interval: Interval | None
    test: Test  #: t, not corrected
    found: Direction  #: whether it is better or worse by this test
    new_runs: Interval | None = (
        None  #: like `interval`, for new runs of the systems, too; see `Facet`
    )

    @property
    def name(self) -> str:
        """The measure."""
        return self.measure

    @property
    def measured_in(self) -> str:
        """The unit of the means: the measure."""
        return self.measure

    @property
    def tests(self) -> Mapping[str, Test]:
        """The one test, by its name."""
        return {"t": self.test}

    @property
    def decides(self) -> Test:
        """The t test, which is shown."""
        return self.test

    @property
    def pvalue(self) -> float:
        """Its p-value."""
        return self.test.pvalue


class PairTests(NamedTuple):
    """P-values and directions of the tests that decide, veto, confirm and guard; arrays over samples or pairs."""

    coverage: Pvalues  # the deciding tests of both facets
    ranking: Pvalues
    ranking_mean: Pvalues  # tests of ranking that find harm whichever test decides
    ranking_wilcoxon: Pvalues
    # Of the mean over all queries, which confirms, guards and can decide; None where it is not
    # known.
    everywhere: Pvalues | None
    everywhere_wilcoxon: Pvalues | None  # confirms, too
    # Guards, too; None where no search lengths over all queries are known.
    won_and_lost: Pvalues | None
    higher_is_better: bool  # direction of ranking and of the tests over all queries


class PairSamples(NamedTuple):
    """The differences of a pair, or of subsets of its queries, each ready to be tested."""

    coverage: Samples
    ranking: Samples
    everywhere: Samples | None  # over all queries; None where nothing can confirm
    # The part of what only one run found; None where no search lengths are known.
    won_and_lost: Samples | None
    higher_is_better: bool


def samples_of(
    pair: PairedQueries,
    levels: Levels | None = None,
    *,
    subsets: Members | None = None,
    labels_only: bool = False,
    sides_only: bool = False,
) -> PairSamples:
    """Take the differences of a pair as one sample, or one for each of (n_queries, n_subsets) subsets, unions of clusters.

    For `labels_only` see `Samples`; with `sides_only` it holds for what confirms and guards.
    """
    every = np.ones(len(pair.shared), dtype=bool)

    def sample(baseline: Floats, contender: Floats, counted: Bools, *, only_label: bool) -> Samples:
        change = differences(baseline[counted], contender[counted])
        if subsets is not None:
            tallied = tally_subsets(change, counted, subsets, pair.clusters)
        elif pair.clusters is not None:
            tallied = tally(change, pair.clusters[counted])
        else:
            tallied = tally(change)
        return Samples(tallied, levels, labels_only=only_label)

    everywhere = None
    won_and_lost = None
    on_sides = labels_only or sides_only
    if pair.all_queries is not None:
        everywhere = sample(*pair.all_queries, every, only_label=on_sides)
    if pair.restricted is not None:
        won_and_lost = sample(
            -pair.restricted.won, pair.restricted.lost, every, only_label=on_sides
        )
    return PairSamples(
        coverage=sample(pair.found_baseline, pair.found_contender, every, only_label=labels_only),
        ranking=sample(
            pair.length_baseline, pair.length_contender, pair.shared, only_label=labels_only
        ),
        everywhere=everywhere,
        won_and_lost=won_and_lost,
        higher_is_better=pair.higher_is_better,
    )


def run_tests(
    samples: PairSamples,
    ranking_test: str,
    coverage_test: CoverageTest,
    own_test: Kernel | None = None,
) -> PairTests:
    """Run the tests on the samples of a pair; `own_test` is the function behind the name of a ranking test that is not ours."""
    coverage = samples.coverage.differences
    if coverage_test == "exact":
        won = coverage.positive[1:].sum(axis=0)
        lost = coverage.negative[1:].sum(axis=0)
        of_coverage = binomial_tests(won, lost)
    else:
        of_coverage = samples.coverage.many("signflip")
    means = samples.ranking.of_means()
    everywhere = samples.everywhere
    won_and_lost = samples.won_and_lost
    return PairTests(
        coverage=of_coverage,
        ranking=means if ranking_test == "t" else samples.ranking.many(ranking_test, own_test),
        ranking_mean=means,
        ranking_wilcoxon=samples.ranking.many("wilcoxon"),
        everywhere=None if everywhere is None else everywhere.of_means(),
        everywhere_wilcoxon=None if everywhere is None else everywhere.many("wilcoxon"),
        won_and_lost=None if won_and_lost is None else won_and_lost.of_means(),
        higher_is_better=samples.higher_is_better,
    )


class Facets(NamedTuple):
    """What was tested of a pair, before any correction, and the tests that decide on its label."""

    coverage: CoverageFacet
    ranking: RankingFacet
    reciprocal: Means | None
    restricted: RestrictedLength | None
    mean: AllQueries | None  # of another measure
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
        return cls(
            coverage=coverage_facet(pair, samples.coverage, settings),
            ranking=ranking_facet(pair, samples.ranking, settings, own_test),
            reciprocal=reciprocal_means(pair, settings),
            restricted=restricted_length(pair, samples, settings),
            mean=mean_of_measure(pair, samples, settings),
            naive=naive_means(pair, reciprocal_ranks),
            tests=run_tests(samples, settings.test, settings.coverage_test, own_test),
        )


def coverage_facet(pair: PairedQueries, tests: Samples, settings: Settings) -> CoverageFacet:
    """Compare how many queries are answered (or relevant documents found), in percentage points."""
    change = differences(pair.found_baseline, pair.found_contender)
    level_shown = 1 - settings.alpha
    won = int(np.sum(change > 0))
    lost = int(np.sum(change < 0))
    whole = settings.coverage_test == "exact"
    level = settings.first_step_level
    if whole:
        test = binomial_test(won, lost)
        detectable = power.detectable_proportion(
            len(change), (won + lost) / max(len(change), 1), level, POWER
        )
    else:
        test = tests["signflip"]
        detectable = _detectable_mean(linearized(change, pair.clusters), level, most=1.0)
    margin_interval, smallest = _against_margins(change, 1.0, settings, pair, whole=whole)
    new_runs = None
    if pair.sides_of_new_runs:
        new_runs = intervals.coverage_interval(
            change, pair.item_share, level_shown, pair.clusters, pair.sides_of_new_runs
        )
    return CoverageFacet(
        name="coverage",
        measured_in=POINTS,
        higher_is_better=True,
        n=len(pair.query_ids),
        n_nonzero=pair.n_differing(change),
        baseline=_percent(_mean(pair.found_baseline)),
        contender=_percent(_mean(pair.found_contender)),
        difference=_percent(_mean_difference(change)),
        deviation=_percent(_deviation(change)),
        interval=_points(
            intervals.coverage_interval(change, pair.item_share, level_shown, pair.clusters)
        ),
        new_runs=_points(new_runs),
        errors_of_runs=_errors_of_runs(100 * change, pair),
        margin_interval=_points(margin_interval),
        smallest_margin=_percent(smallest),
        effect_size=intervals.odds_ratio(won, lost) if whole else _standardized(change),
        effect="odds ratio won : lost" if whole else "mean / standard deviation of the differences",
        test=test.name,
        tests={test.name: test},
        pvalue_corrected=test.pvalue,
        found="none",
        detectable=_percent(detectable),
        alpha=settings.alpha,
        detectable_level=level,
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
    change = differences(baseline, contender)
    clusters = pair.shared_clusters
    level = settings.first_step_level
    test = offered.of_mean if settings.test == "t" else settings.test
    tests = dict(offered)
    tests[test] = offered.one(test, own_test)
    # The most that a query can change by, where it is known.
    possible = None
    if pair.measure is not None:
        possible = range_of(pair.measure, baseline, contender)
    elif pair.restricted is not None:
        possible = pair.restricted.horizon - 1.0
    largest = 0.0 if pair.identical else possible
    margin_interval, smallest = _against_margins(
        change, possible, settings, pair, counted=pair.shared
    )
    facet = RankingFacet(
        name="ranking",
        measured_in=measured_in,
        higher_is_better=pair.higher_is_better,
        n=pair.n_with(pair.shared),
        n_nonzero=pair.n_differing(change, pair.shared),
        baseline=_mean(baseline),
        contender=_mean(contender),
        difference=_mean_difference(change),
        deviation=_deviation(change),
        interval=intervals.mean_interval(change, 1 - settings.alpha, largest, clusters),
        new_runs=_for_new_runs(change, largest, settings, pair, pair.shared),
        errors_of_runs=_errors_of_runs(change, pair, pair.shared),
        margin_interval=margin_interval,
        smallest_margin=smallest,
        effect_size=_standardized(change),
        effect="mean / standard deviation of the differences",
        test=test,
        tests=tests,
        pvalue_corrected=tests[test].pvalue,
        found="none",
        detectable=_detectable_mean(linearized(change, clusters), level),
        alpha=settings.alpha,
        detectable_level=level,
        mean_test=offered.of_mean,
    )
    if measured_in not in LENGTHS:  # it is not known to have a ratio scale
        return facet
    if pair.restricted is None:
        longest = math.inf
    else:
        longest = float(pair.restricted.horizon)
    ratio_interval = intervals.ratio_interval(
        baseline, contender, 1 - settings.alpha, clusters, longest
    )
    return replace(
        facet, ratio=intervals.ratio_of_means(baseline, contender), ratio_interval=ratio_interval
    )


def reciprocal_means(pair: PairedQueries, settings: Settings) -> Means | None:
    """Compare mean reciprocals of the search lengths on what both runs found, as Table 2 of Lin et al. 2021 does."""
    if pair.measure is not None:
        return None
    values = pair.reciprocal_baseline[pair.shared], pair.reciprocal_contender[pair.shared]
    paired = paired_tests(differences(*values), clusters=pair.shared_clusters)
    name = "reciprocal search length"
    if settings.unit == "query":
        name = "reciprocal rank"
    tests = {"wilcoxon": paired["wilcoxon"], "t": paired["t"]}
    return replace(_means(name, "reciprocal", values, True, tests), n=pair.n_with(pair.shared))


def naive_means(pair: PairedQueries, values: tuple[Floats, Floats]) -> Means:
    """Compare the means that the framework replaces, over all answerable queries: Table 1 of Lin et al. 2021."""
    paired = paired_tests(differences(*values))
    tests = {"ranksum": rank_sum(*values), "wilcoxon": paired["wilcoxon"], "t": paired["t"]}
    if pair.measure is None:
        return _means("naive MRR", "reciprocal", values, True, tests)
    return _means("naive mean", pair.measure, values, pair.higher_is_better, tests)


def _means(
    name: str,
    measured_in: str,
    values: tuple[Floats, Floats],
    higher_is_better: bool,
    tests: Mapping[str, Test],
) -> Means:
    """Return the means of two arrays of values, and their difference."""
    baseline, contender = values
    change = _mean_difference(differences(baseline, contender))
    return Means(
        name,
        measured_in,
        higher_is_better,
        len(baseline),
        _mean(baseline),
        _mean(contender),
        change,
        tests,
    )


def restricted_length(
    pair: PairedQueries, samples: PairSamples, settings: Settings
) -> RestrictedLength | None:
    """Compare restricted search lengths over all answerable queries; None where there are none."""
    restricted = pair.restricted
    offered = samples.everywhere
    won_and_lost = samples.won_and_lost
    if restricted is None or offered is None or won_and_lost is None or not pair.query_ids:
        return None
    largest = 0.0 if pair.identical else float(restricted.horizon)
    change = differences(restricted.baseline, restricted.contender)
    margin_interval, smallest = _against_margins(change, float(restricted.horizon), settings, pair)
    of_queries = pair.totals(change)
    return RestrictedLength(
        **_over_all(pair, offered, restricted.baseline, restricted.contender),
        new_runs=_for_new_runs(change, largest, settings, pair),
        errors_of_runs=_errors_of_runs(change, pair),
        measured_in=length_unit(settings.unit),
        higher_is_better=False,
        interval=intervals.mean_interval(change, 1 - settings.alpha, largest, pair.clusters),
        horizon=restricted.horizon,
        margin_interval=margin_interval,
        smallest_margin=smallest,
        both=float(restricted.both.mean()),
        won=float(restricted.won.mean()),
        lost=float(restricted.lost.mean()),
        better=int(np.sum(of_queries < 0)),
        worse=int(np.sum(of_queries > 0)),
        equal=int(np.sum(of_queries == 0)),
        won_and_lost_test=won_and_lost[won_and_lost.of_mean],
    )


def mean_of_measure(
    pair: PairedQueries, samples: PairSamples, settings: Settings
) -> AllQueries | None:
    """Compare the means of another measure over all answerable queries; None where nothing can confirm."""
    offered = samples.everywhere
    if pair.measure is None or pair.all_queries is None or offered is None or not pair.query_ids:
        return None
    baseline, contender = pair.all_queries
    change = differences(baseline, contender)
    return AllQueries(
        **_over_all(pair, offered, baseline, contender),
        new_runs=_for_new_runs(change, None, settings, pair),
        errors_of_runs=_errors_of_runs(change, pair),
        measured_in=pair.measure,
        higher_is_better=pair.higher_is_better,
        interval=intervals.mean_interval(change, 1 - settings.alpha, None, pair.clusters),
    )


def means_of_measure(scores: Scores, pair: PairedQueries, settings: Settings) -> MeasureMeans:
    """Compare two runs, the baseline first, by the means of a measure over all queries."""
    baseline, contender = scores.values
    change = differences(baseline, contender)
    largest = range_of(scores.measure, baseline, contender)
    test = paired_tests(change, clusters=scores.clusters)["t"]
    gain = test.direction * (1 if scores.higher_is_better else -1)
    found: Direction = "none"
    if gain and test.pvalue <= settings.alpha:
        found = "better" if gain > 0 else "worse"
    return MeasureMeans(
        measure=scores.measure,
        higher_is_better=scores.higher_is_better,
        n=len(pair.query_ids),
        n_nonzero=pair.n_differing(change),
        baseline=float(baseline.mean()),
        contender=float(contender.mean()),
        difference=_mean_difference(change) or 0.0,
        interval=intervals.mean_interval(change, 1 - settings.alpha, largest, scores.clusters),
        new_runs=_for_new_runs(change, largest, settings, pair),
        test=test,
        found=found,
    )


def _for_new_runs(
    change: Floats,
    largest: float | None,
    settings: Settings,
    pair: PairedQueries,
    counted: Bools | None = None,
) -> Interval | None:
    """Return the interval for new runs, of the differences of the counted rows; None where they say nothing about such."""
    clusters, sides = _drawn(pair, counted)
    if not sides or clusters is None:
        return None
    return intervals.mean_interval(change, 1 - settings.alpha, largest, clusters, sides)


def _errors_of_runs(
    change: Floats, pair: PairedQueries, counted: Bools | None = None
) -> tuple[float, ...]:
    """Return what the runs of each side that has several add to the standard error."""
    clusters, sides = _drawn(pair, counted)
    if clusters is None or not len(change):
        return ()
    tables = [cells_of(change, clusters, side) for side in sides]
    return tuple(math.sqrt(components(table).between) for table in tables)


def _drawn(pair: PairedQueries, counted: Bools | None) -> tuple[Ints | None, tuple[Side, ...]]:
    """Return the clusters of the counted rows, None where queries are drawn one by one, and the sides of several runs."""
    clusters = pair.clusters
    sides = pair.sides_of_new_runs
    if counted is None:
        return clusters, sides
    if clusters is not None:
        clusters = clusters[counted]
    return clusters, tuple(Side(side.run[counted], side.n_runs) for side in sides)


def _over_all(
    pair: PairedQueries, offered: Samples, baseline: Floats, contender: Floats
) -> dict[str, Any]:
    """Return what is the same for all means over all queries: their difference and its tests."""
    change = differences(baseline, contender)
    test = offered[offered.of_mean]
    return {
        "n": len(pair.query_ids),
        "n_nonzero": pair.n_differing(change),
        "baseline": float(baseline.mean()),
        "contender": float(contender.mean()),
        "difference": _mean_difference(change) or 0.0,
        "test": test,
        "tests": {name: offered[name] for name in ("t", "wilcoxon", "sign", offered.of_mean)},
        "pvalue_corrected": test.pvalue,
        "found": "none",
    }


def _against_margins(
    change: Floats,
    largest: float | None,
    settings: Settings,
    pair: PairedQueries,
    *,
    whole: bool = False,
    counted: Bools | None = None,
) -> tuple[Interval | None, float | None]:
    """Return the interval for margins, and the smallest margin that it excludes where no query differs."""
    if largest is None:
        return None, None
    clusters, sides = _drawn(pair, counted)

    def interval_of(d: Floats) -> Interval | None:
        if whole:  # the adjusted Wald interval has its own imaginary queries
            return intervals.coverage_interval(d, 1.0, settings.margin_level)
        return intervals.margin_interval(d, largest, settings.margin_level, clusters, sides)

    of_equal_runs = interval_of(np.zeros(len(change)))
    return interval_of(change), None if of_equal_runs is None else of_equal_runs.high


def _detectable_mean(change: Floats, level: float, most: float = np.inf) -> float | None:
    deviation = _deviation(change)
    if deviation:
        return power.detectable_mean(len(change), deviation, level, POWER, most)
    return None


def _standardized(change: Floats) -> float | None:
    mean = _mean_difference(change)
    deviation = _deviation(change)
    return mean / deviation if mean is not None and deviation else None


def _mean(values: Floats) -> float | None:
    return float(values.mean()) if len(values) else None


def _mean_difference(change: Floats) -> float | None:
    """Mean of the differences; exactly 0 where it is 0 except for rounding, as in the tests."""
    if not len(change):
        return None
    total = float(change.sum())
    absolute = float(np.abs(change).sum())
    return total / len(change) if abs(total) > 1e-12 * absolute else 0.0


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
