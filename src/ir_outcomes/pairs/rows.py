"""Rows: two means, their difference, and how sure it is."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple, Self

import numpy as np

from ir_outcomes.choices import Correction, Direction, Floats, Ints, or_none
from ir_outcomes.pairs.differences import BlockOfPairs, Measurements, Quantity, RowSums
from ir_outcomes.pairs.outcomes import Outcomes
from ir_outcomes.pairs.verdict import DIRECTIONS, SIGNS, labels_of
from ir_outcomes.results import Immutable
from ir_outcomes.statistics.estimate import (
    Estimates,
    Interval,
    Sums,
    estimates,
    margin_intervals,
)
from ir_outcomes.statistics.families import adjust
from ir_outcomes.statistics.papers import Test
from ir_outcomes.statistics.power import detectable
from ir_outcomes.statistics.runs import LEAST_RUNS, added_by_runs

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
    standard_error: float | None  #: of the difference, with imaginary units
    df: float | None  #: degrees of freedom of Student's t
    pvalue: float  #: two-sided, of this pair by itself; 1 where nothing can be compared
    pvalue_corrected: float  #: over the contenders of one call, or the pairs of a board
    found: Direction  #: whether the corrected p-value shows a difference, and which
    largest: float | None  #: the most that one query can change by; None where it is not known
    #: how much differences so rare that none was drawn could change the mean; None where `largest` is
    unseen: float | None = None
    #: smallest true difference found with power 0.8 at the first level of the correction
    detectable: float | None = None
    margin: Margin | None = None  #: where margins are asked for
    #: like `interval`, for new runs of the systems, too; None where no system has several runs, or
    #: one of several has fewer than five
    new_runs: Interval | None = None
    tests: Mapping[str, Test] = field(default_factory=dict)  #: the papers' own tests, by name

    @classmethod
    def absent(cls, quantity: Quantity) -> Self:
        """A row on which nothing is compared."""
        return cls(
            *quantity[:3],
            n=0,
            differ=0,
            better=0,
            baseline=None,
            contender=None,
            difference=None,
            interval=None,
            standard_error=None,
            df=None,
            pvalue=1.0,
            pvalue_corrected=1.0,
            found="none",
            largest=quantity.largest,
        )

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

    def turned(self) -> Self:
        """The row with the systems swapped."""
        interval = self.interval
        if interval is not None:
            interval = Interval(0.0 - interval.high, 0.0 - interval.low)
        return replace(
            self,
            better=self.differ - self.better,
            baseline=self.contender,
            contender=self.baseline,
            difference=None if self.difference is None else 0.0 - self.difference,
            interval=interval,
            found=DIRECTIONS[-SIGNS[self.found]],
        )


class RowOfPairs(NamedTuple):
    """One row of many pairs, as (pairs,) arrays."""

    quantity: Quantity
    n: Ints
    differ: Ints
    better: Ints
    baseline: Floats
    contender: Floats
    estimates: Estimates
    corrected: Floats  # p-values over the family
    found: Ints  # 1 where the contender is better by the corrected p-value, -1 where worse, else 0
    alone: Ints  # the same by the p-value of the pair by itself

    @classmethod
    def of(cls, quantity: Quantity, row: RowSums, alpha: float, identical: Any = False) -> Self:
        """Estimate one row of some pairs, each by itself."""
        estimate = estimates(row.sums, alpha, quantity.largest, identical)
        counts = row.n, row.sums.differ.astype(np.int64), row.sums.above.astype(np.int64)
        return cls.estimated(quantity, counts, (row.baseline, row.contender), estimate, alpha)

    @classmethod
    def estimated(
        cls,
        quantity: Quantity,
        counts: tuple[Ints, Ints, Ints],
        means: tuple[Floats, Floats],
        estimate: Estimates,
        alpha: float,
    ) -> Self:
        """Take estimates, and the numbers of units compared, differing and above 0."""
        n, differ, above = counts
        sign = np.sign(np.nan_to_num(estimate.mean)).astype(np.int8)
        sign *= 1 if quantity.higher_is_better else -1
        alone = np.where(estimate.pvalue <= alpha, sign, 0)
        better = above if quantity.higher_is_better else differ - above
        return cls(quantity, n, differ, better, *means, estimate, estimate.pvalue, alone, alone)

    def over(self, corrected: Floats, alpha: float) -> Self:
        """The row with p-values that are corrected over a family."""
        return self._replace(corrected=corrected, found=np.where(corrected <= alpha, self.alone, 0))

    def row(self, pair: int, level: float) -> Row:
        """The row of one pair, at the level that the smallest p has to reach."""
        quantity, estimate = self.quantity, self.estimates
        error = or_none(estimate.standard_error[pair])
        smallest = None
        if error:
            smallest = detectable(error, float(estimate.df[pair]), level, quantity.largest)
        return Row(
            *quantity[:3],
            n=int(self.n[pair]),
            differ=int(self.differ[pair]),
            better=int(self.better[pair]),
            baseline=or_none(self.baseline[pair]),
            contender=or_none(self.contender[pair]),
            difference=or_none(estimate.mean[pair]),
            interval=estimate.interval(pair),
            standard_error=error,
            df=or_none(estimate.df[pair]),
            pvalue=float(estimate.pvalue[pair]),
            pvalue_corrected=float(self.corrected[pair]),
            found=DIRECTIONS[int(self.found[pair])],
            largest=quantity.largest,
            unseen=or_none(estimate.unseen[pair]),
            detectable=smallest,
        )


def margin_of(row: Row, sums: Sums, size: float, level: float, *, identical: bool) -> Margin:
    """Compare the interval for margins of a row with its margin."""
    if identical:
        return Margin(size, Interval(0.0, 0.0), "harm excluded", equivalent=True, passable=None)
    if row.largest is None or not sums.units[0]:
        return Margin(size, None, "not excluded", equivalent=False, passable=None)
    nothing = np.zeros(1)
    equal_runs = sums._replace(total=nothing, squares=nothing, products=nothing)
    (low,), (high,) = margin_intervals(sums, level, row.largest)
    _, (passable,) = margin_intervals(equal_runs, level, row.largest)
    best, worst = (high, -low) if row.higher_is_better else (-low, high)
    harm: HarmFound = "not excluded"
    if worst < size:
        harm = "harm excluded"
    elif best < -size:
        harm = "harm shown"
    return Margin(
        size,
        Interval(float(low), float(high)),
        harm,
        equivalent=bool(worst < size and best < size),
        passable=float(passable),
    )


def over_all_queries(
    coverage: float, ranking: float, of_both: Row, whole: Row, outcomes: Outcomes, n_pairs: int
) -> float:
    """What changes of coverage and of ranking are together over all queries.

    Of ranking that is its change on the share of queries with something that both found. An item
    that is not found any more costs at most k ranks by query; by document k plus the number of
    relevant documents less those that the baseline finds. No mean changes by more than k.

    Parameters
    ----------
    coverage, ranking : float
        In percentage points, and in the unit of search lengths.
    of_both, whole : Row
        Ranking and all queries, of the same unit.
    outcomes : Outcomes
        Of all pairs of runs of the systems,
    n_pairs : int
        so many.
    """
    largest = whole.largest or 0.0
    cost = largest
    queries = max(whole.n, 1) * n_pairs
    unfound = outcomes.neither + outcomes.won
    if unfound + outcomes.lost + outcomes.both > queries:  # a query can have several items
        cost += unfound / queries
    return min(ranking * of_both.n / max(whole.n, 1) + coverage / 100 * cost, largest)


def interval_of_new_runs(
    row: Row, sides: Sequence[tuple[Floats, Floats]], clusters: Ints | None, alpha: float
) -> Interval | None:
    """The interval for new runs, at least as wide as that of these runs.

    Of each side that has several runs there are the differences and their numbers, (n_runs,
    queries); None where there is no such side, or one has fewer than five.
    """
    from scipy.special import stdtrit

    if not sides or row.interval is None or row.standard_error is None or row.df is None:
        return None
    if min(len(sums) for sums, _ in sides) < LEAST_RUNS:
        return None
    of_queries = float(stdtrit(row.df, 1 - alpha / 2)) * row.standard_error
    half = math.sqrt(of_queries**2 + added_by_runs(sides, clusters, alpha))
    mean = row.difference or 0.0
    limit = math.inf if row.largest is None else row.largest
    # With few differences the interval for these runs is wider than its standard error says.
    return Interval(
        min(row.interval.low, max(mean - half, -limit)),
        max(row.interval.high, min(mean + half, limit)),
    )


class RowsOfPairs(NamedTuple):
    """The rows of many pairs, each pair by itself or corrected over all of them."""

    systems: Ints  # (2, pairs) baseline and contender
    identical: Any  # (pairs,) bool: all rankings are the same, and no row differs
    rows: dict[str, RowOfPairs]  # by name
    sums: dict[str, Sums]  # of a family; empty of a board, which is too large to hold them

    @classmethod
    def of_block(cls, measurements: Measurements, block: BlockOfPairs, alpha: float) -> Self:
        """Estimate the rows of some pairs, or of both halves of each."""
        halves = len(next(iter(block.rows.values())).sums.units) // block.systems.shape[1]
        identical = np.repeat(measurements.is_identical(block.systems), halves)
        for row in block.rows.values():
            identical &= row.sums.differ == 0
        rows = {
            name: RowOfPairs.of(measurements.quantities[name], row, alpha, identical)
            for name, row in block.rows.items()
        }
        sums = {name: row.sums for name, row in block.rows.items()}
        return cls(block.systems, identical, rows, sums)

    @classmethod
    def of_family(cls, measurements: Measurements, names: Sequence[str], alpha: float) -> Self:
        """Estimate the rows of the first system with each other one."""
        blocks = measurements.family(tuple(names))
        family: Self = joined([cls.of_block(measurements, block, alpha) for block in blocks])
        return family

    @classmethod
    def of_board(
        cls, measurements: Measurements, blocks: Iterable[BlockOfPairs], alpha: float
    ) -> Self:
        """Estimate the rows of all pairs, in the order of `itertools.combinations`."""
        parts = (cls.of_block(measurements, block, alpha) for block in blocks)
        board: Self = joined([part._replace(sums={}) for part in parts])
        return board

    def corrected(
        self,
        correction: Correction,
        alpha: float,
        names: Iterable[str] | None = None,
        *,
        family: int | None = None,
    ) -> Self:
        """Correct the p-values of rows over all pairs, or a larger family."""
        corrected = {
            name: row.over(adjust(row.estimates.pvalue, correction, family), alpha)
            for name, row in self.rows.items()
            if names is None or name in names
        }
        return self._replace(rows=self.rows | corrected)

    def labels(self, deciding: Sequence[str]) -> Ints:
        """(pairs,) labels by the rows that decide, as indices into `LABELS`."""
        rows = {name: self.rows[name] for name in deciding}
        corrected = {name: row.found for name, row in rows.items()}
        return labels_of(corrected, {name: row.alone for name, row in rows.items()})


def joined(parts: Sequence[Any]) -> Any:
    """What blocks of pairs have, one after the other."""
    first = parts[0]
    if isinstance(first, Quantity):
        return first
    if isinstance(first, np.ndarray):
        return np.concatenate(parts, axis=-1)
    if isinstance(first, dict):
        return {name: joined([part[name] for part in parts]) for name in first}
    return type(first)(*map(joined, zip(*parts, strict=True)))
