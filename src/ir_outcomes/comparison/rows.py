"""The rows of a comparison: two means, their difference, and how sure it is."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from ir_outcomes.choices import POINTS, Direction, Floats, Ints, length_unit
from ir_outcomes.comparison.outcomes import Outcomes, PairedQueries, Sample, Settings
from ir_outcomes.comparison.verdict import Labels, RowEstimates, Rules, judge
from ir_outcomes.reading.measure_names import range_of
from ir_outcomes.results import Immutable
from ir_outcomes.statistics.estimate import Estimates, Interval, Sums, estimates, margin_intervals
from ir_outcomes.statistics.papers import Test, binomial_test, paired_tests, rank_sum
from ir_outcomes.statistics.power import detectable
from ir_outcomes.statistics.runs import LEAST_RUNS, Side, added_by_runs, variance_of_runs

HarmFound = Literal["harm excluded", "harm shown", "not excluded"]


@dataclass(frozen=True)
class Margin(Immutable):
    """A row against its margin of harm."""

    size: float  #: the largest harm that is tolerated, in the unit of the row
    interval: Interval | None  #: the interval for margins; None where the range is not known
    found: HarmFound
    equivalent: bool  #: whether differences beyond the margin are excluded in both directions
    passable: float | None  #: the smallest margin that equal runs could pass on so many queries


@dataclass(frozen=True)
class Row(Immutable):
    """One mean of a contender beside that of a baseline, over paired queries.

    P-value and interval come from one estimate, so that p is at most alpha exactly where the
    interval excludes 0.
    """

    name: str  #: "coverage", "ranking", "all queries", or the measure
    measured_in: str  #: unit of the means and of their difference
    higher_is_better: bool  #: their direction
    n: int  #: queries that the row is measured on
    differ: int  #: queries, or clusters, on which the two systems differ
    better: int  #: those of them on which the contender is better
    baseline: float | None  #: mean; None where nothing can be compared
    contender: float | None
    difference: float | None  #: contender minus baseline
    interval: Interval | None  #: of the difference, at level 1 - alpha; None where there is none
    standard_error: float | None  #: of the difference, with two imaginary units
    df: float | None  #: degrees of freedom of Student's t
    pvalue: float  #: two-sided, of this pair by itself; 1 where nothing can be compared
    pvalue_corrected: float  #: over the contenders of one call
    found: Direction  #: whether the corrected p-value shows a difference, and which
    largest: float | None  #: the most that one query can change by; None where it is not known
    #: smallest true difference found with power 0.8 at the first level of the correction
    detectable: float | None = None
    margin: Margin | None = None  #: where margins are asked for
    #: like `interval`, for new runs of the systems, too; None where no system has several runs, or
    #: one of several has fewer than five
    new_runs: Interval | None = None
    tests: Mapping[str, Test] = field(default_factory=dict)  #: the papers' own tests, by name

    @property
    def worse(self) -> int:
        """Queries, or clusters, on which the contender is worse."""
        return self.differ - self.better

    @property
    def on(self) -> str:
        """Where it is, in a sentence: "on ranking", "over all queries"."""
        return f"over {self.name}" if self.name == "all queries" else f"on {self.name}"

    @property
    def gain(self) -> float:
        """The difference, negated where lower is better, 0 where there is none."""
        return (self.difference or 0.0) * (1 if self.higher_is_better else -1)


class Quantity(NamedTuple):
    """What a row measures."""

    name: str
    measured_in: str
    higher_is_better: bool
    largest: float | None  # the most that one query can change by; None where it is not known


class RowsOfPair(NamedTuple):
    """The rows of a pair of systems, not yet corrected over a family."""

    deciding: dict[str, Row]  # by name: coverage, ranking, and all queries where they are known
    naive: Row  # reciprocal ranks over all queries, or the values of another measure
    reciprocal: Row | None  # reciprocals on what both found


def deciding_samples(pair: PairedQueries, settings: Settings) -> dict[str, tuple[Quantity, Sample]]:
    """Return what the rows measure that decide on a label, by name."""
    unit = pair.measure or length_unit(settings.unit)
    ranking: float | None = None
    everywhere: float | None = None
    if pair.measure is not None:
        values = pair.ranking if pair.all_queries is None else pair.all_queries
        ranking = everywhere = range_of(pair.measure, *values.each())
        if pair.bounds is not None:
            ranking = everywhere = pair.bounds[1] - pair.bounds[0]
    elif pair.horizon is not None:
        ranking = pair.horizon - 1.0
        everywhere = float(pair.horizon)
    direction = pair.higher_is_better
    samples = {
        "coverage": (Quantity("coverage", POINTS, True, 100.0), pair.coverage),
        "ranking": (Quantity("ranking", unit, direction, ranking), pair.ranking),
    }
    if pair.all_queries is not None:
        quantity = Quantity("all queries", unit, direction, everywhere)
        samples["all queries"] = (quantity, pair.all_queries)
    return samples


def rows_of_pair(pair: PairedQueries, naive: Sample, settings: Settings) -> RowsOfPair:
    """Estimate the rows of a pair, whose `naive` values decide nothing."""
    rows = Rows(pair, settings)
    deciding = {
        name: rows.row(quantity, sample)
        for name, (quantity, sample) in deciding_samples(pair, settings).items()
    }
    deciding["coverage"] = replace(deciding["coverage"], tests=rows.coverage_tests())
    if pair.measure is not None:
        quantity = Quantity(pair.measure, pair.measure, pair.higher_is_better, None)
        return RowsOfPair(deciding, rows.row(quantity, naive, by_ranks=True), None)
    name = "MRR on both" if settings.unit == "query" else "1 / length on both"
    return RowsOfPair(
        deciding,
        rows.row(Quantity("MRR", "reciprocal", True, 1.0), naive, by_ranks=True),
        rows.row(Quantity(name, "reciprocal", True, 1.0), pair.reciprocal, by_ranks=True),
    )


class Rows:
    """Makes the rows of a pair."""

    def __init__(self, pair: PairedQueries, settings: Settings) -> None:
        """Take the pair, whose clusters and runs are those of all rows."""
        self._pair = pair
        self._settings = settings
        self._testable = pair.clusters is None and not pair.by_runs

    def row(self, quantity: Quantity, sample: Sample, *, by_ranks: bool = False) -> Row:
        """Estimate a row, with the paper's paired tests and, by ranks, the rank sum test."""
        pair = self._pair
        row = estimated_row(
            quantity, sample, pair.clusters, self._settings, identical=pair.identical
        )
        tests: dict[str, Test] = {}
        if self._testable:
            baseline, contender = sample.each()
            paired = paired_tests(contender - baseline)
            tests = {name: paired[name] for name in ("t", "wilcoxon")}
            if by_ranks:
                tests["ranksum"] = rank_sum(baseline, contender)
        return replace(row, new_runs=self._new_runs(sample, row), tests=tests)

    def coverage_tests(self) -> dict[str, Test]:
        """Return the exact test where queries are won or lost, else t of shares."""
        if not self._testable:
            return {}
        change = self._pair.coverage.contender - self._pair.coverage.baseline
        if self._pair.single:
            return {"exact": binomial_test(int(np.sum(change > 0)), int(np.sum(change < 0)))}
        return {"t": paired_tests(change)["t"]}

    def _new_runs(self, sample: Sample, row: Row) -> Interval | None:
        """Return the interval for new runs, at least as wide as that of these runs."""
        from scipy.special import stdtrit

        interval = row.interval
        if not sample.sides or interval is None or row.standard_error is None or row.df is None:
            return None
        if min(len(sums) for sums, _ in sample.sides) < LEAST_RUNS:
            return None
        alpha = self._settings.alpha
        sides = [
            Side(len(sums), variance_of_runs(sums, sizes, self._pair.clusters))
            for sums, sizes in sample.sides
        ]
        of_queries = float(stdtrit(row.df, 1 - alpha / 2)) * row.standard_error
        half = math.sqrt(of_queries**2 + added_by_runs(sides, alpha))
        mean = row.difference or 0.0
        limit = math.inf if row.largest is None else row.largest
        # With few differences the interval for these runs is wider than its standard error says.
        return Interval(
            min(interval.low, max(mean - half, -limit)), max(interval.high, min(mean + half, limit))
        )


def estimates_of(pair: PairedQueries, settings: Settings) -> dict[str, tuple[Sums, Estimates]]:
    """Estimate the rows that decide on a label, and nothing else."""
    found = {}
    for name, (quantity, sample) in deciding_samples(pair, settings).items():
        sums = Sums.of(sample.units(pair.clusters))
        found[name] = sums, estimates(sums, settings.alpha, quantity.largest, pair.identical)
    return found


def labels_of_rows(
    rows: Mapping[str, Sequence[Row]],
    rules: Rules,
    *,
    with_sign_test: bool = True,
    adjusted: Mapping[str, Floats] | None = None,
) -> Labels:
    """Label the pairs of a family from their rows, which `rows` has by name."""
    whole = rows.get("all queries")
    sign_test = None
    if with_sign_test and whole is not None:
        counts = np.array([(row.better, row.worse) for row in whole], dtype=np.float64)
        sign_test = RowEstimates.of_sign_test(*counts.T)
    family = {name: estimates_of_rows(of_name) for name, of_name in rows.items()}
    return judge(family, rules, sign_test, adjusted)


def estimates_of_rows(rows: Sequence[Row]) -> RowEstimates:
    """Return the signs and p-values of one row of each pair of a family."""
    return RowEstimates(
        np.sign([row.gain for row in rows]).astype(np.int64),
        np.array([row.pvalue for row in rows]),
    )


def found_alone(row: Row, alpha: float) -> Row:
    """Return a row that belongs to no family, with what it shows by itself."""
    if row.pvalue > alpha:
        return row
    return replace(row, found="better" if row.gain > 0 else "worse")


def estimated_row(
    quantity: Quantity,
    sample: Sample,
    clusters: Ints | None,
    settings: Settings,
    *,
    identical: bool = False,
) -> Row:
    """Estimate a row, not yet corrected over a family."""
    return row_of_sums(
        quantity,
        Sums.of(sample.units(clusters)),
        n=int(np.count_nonzero(sample.size)),
        means=sample.means(),
        alpha=settings.alpha,
        level=settings.first_level,
        identical=identical,
    )


def row_of_sums(
    quantity: Quantity,
    sums: Sums,
    *,
    n: int,
    means: tuple[float | None, float | None],
    alpha: float,
    level: float,
    identical: bool = False,
) -> Row:
    """Estimate a row from the sums of its units, at the first level of the family."""
    name, measured_in, higher_is_better, largest = quantity
    found = estimates(sums, alpha, largest, identical)
    baseline, contender = means
    differ = int(sums.differ[0])
    above = int(sums.better[0])
    pvalue = float(found.pvalue[0])
    return Row(
        name=name,
        measured_in=measured_in,
        higher_is_better=higher_is_better,
        n=n,
        differ=differ,
        better=above if higher_is_better else differ - above,
        baseline=baseline,
        contender=contender,
        difference=_number(found.mean),
        interval=found.interval(),
        standard_error=_number(found.standard_error),
        df=_number(found.df),
        pvalue=pvalue,
        pvalue_corrected=pvalue,
        found="none",
        largest=largest,
        detectable=_detectable(found, level, largest),
    )


def _number(values: Floats) -> float | None:
    """Return the one value of an array, None where it is not defined."""
    value = float(values[0])
    return None if math.isnan(value) else value


def _detectable(found: Estimates, level: float, largest: float | None) -> float | None:
    """Return the smallest true difference that would be found."""
    error = _number(found.standard_error)
    if not error:
        return None
    return detectable(error, float(found.df[0]), level, largest)


def margins_of(
    margins: Sequence[float], outcomes: Outcomes, all_queries: Row | None
) -> tuple[float, ...]:
    """Return the margins, that of all queries by default what the others tolerate.

    Of a share of queries that both answer the ranking margin, and each answer that is lost costs at
    most k ranks.
    """
    if len(margins) == 3 or all_queries is None or all_queries.largest is None:
        return tuple(margins)
    both = 0.0 if outcomes.shares is None else outcomes.shares.both
    return (*margins, margins[1] * both + margins[0] / 100 * all_queries.largest)


def against_margin(
    row: Row, sample: Sample, clusters: Ints | None, size: float, level: float, identical: bool
) -> Margin:
    """Compare the interval for margins of a row with its margin."""
    if identical:
        return Margin(size, Interval(0.0, 0.0), "harm excluded", equivalent=True, passable=None)
    units = sample.units(clusters)
    if row.largest is None or not len(units.size):
        return Margin(size, None, "not excluded", equivalent=False, passable=None)
    sums = Sums.of(units)
    low, high = (float(end[0]) for end in margin_intervals(sums, level, row.largest))
    none_differs = Sums.of(units._replace(total=np.zeros(len(units.total))))
    _, passable = margin_intervals(none_differs, level, row.largest)
    best, worst = (high, -low) if row.higher_is_better else (-low, high)
    found: HarmFound = "not excluded"
    if worst < size:
        found = "harm excluded"
    elif best < -size:
        found = "harm shown"
    return Margin(
        size,
        Interval(low, high),
        found,
        equivalent=worst < size and best < size,
        passable=float(passable[0]),
    )
