"""The facets of a comparison: two means, their difference, how sure, how large, and what could have been missed."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal

from ir_outcomes.results import Immutable
from ir_outcomes.statistics import Interval, Test
from ir_outcomes.types import Direction

POWER = 0.8


def known_p(difference: float | None, pvalue: float) -> float | None:
    """Return the p-value of a difference for a row or a table, None where there is no difference.

    Tests of nothing have the p-value 1, so that decisions and corrections need no special case. Beside
    an empty cell 1 would look like a result.
    """
    return None if difference is None else pvalue


class Tested(Immutable):
    """What was tested, by several tests; where `difference` is None there was nothing to test, and p-values are 1."""

    difference: float | None
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
    #: like `interval`, for new runs of the systems, too; see `Facet`
    new_runs: Interval | None = None

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
