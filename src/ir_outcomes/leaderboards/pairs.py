"""Rows and labels of all pairs of systems, those of `ir_outcomes.compare`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import isnan
from typing import Any, NamedTuple, Self

import numpy as np

from ir_outcomes.choices import Bools, Direction, Floats, Ints
from ir_outcomes.comparison.verdict import (
    DIRECTIONS,
    LABELS,
    MIRRORED,
    NAMES,
    RowEstimates,
    Rules,
    direction_of,
    judge,
)
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.files import with_progress
from ir_outcomes.leaderboards.differences import LengthDifferences, SummedPairs, board_of
from ir_outcomes.statistics.estimate import Estimates, Interval, estimates
from ir_outcomes.table_columns import PVALUE, Better, Column, signed

ROWS = ("coverage", "ranking", "all queries")
OPPOSITE: dict[Direction, Direction] = {"better": "worse", "worse": "better", "none": "none"}


@dataclass(frozen=True, slots=True)
class PairRow:
    """One row of a pair of systems, as `ir_outcomes.comparison.rows.Row`."""

    n: int  #: queries that the row is measured on
    differ: int  #: queries, or clusters, on which the two systems differ
    better: int  #: those of them on which the contender is better
    difference: float | None  #: contender minus baseline; None where nothing can be compared
    interval: Interval | None  #: at level 1 - alpha; None where there is none
    pvalue: float  #: of this pair by itself
    pvalue_corrected: float  #: over all pairs
    found: Direction  #: whether the corrected p-value shows a difference, and which

    def turned(self) -> Self:
        """Return the row with the systems swapped."""
        interval = self.interval
        if interval is not None:
            interval = Interval(0.0 - interval.high, 0.0 - interval.low)
        return replace(
            self,
            better=self.differ - self.better,
            difference=None if self.difference is None else 0.0 - self.difference,
            interval=interval,
            found=OPPOSITE[self.found],
        )


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The verdict on a contender against a baseline, with the rows that led to it."""

    baseline: str  #: its name
    contender: str  #: its name; every difference is contender minus baseline
    coverage: PairRow  #: in percentage points, higher is better
    ranking: PairRow  #: search lengths on what both found, lower is better
    all_queries: PairRow  #: restricted search lengths, lower is better
    label: str  #: one of `ir_outcomes.comparison.verdict.LABELS`

    @property
    def direction(self) -> Direction:
        """The direction of the label for the contender."""
        return direction_of(self.label)

    def turned(self) -> Self:
        """Return the verdict on the baseline against the contender."""
        return replace(
            self,
            baseline=self.contender,
            contender=self.baseline,
            coverage=self.coverage.turned(),
            ranking=self.ranking.turned(),
            all_queries=self.all_queries.turned(),
            label=MIRRORED[self.label],
        )


def _row_columns(name: str, better: Better, unit: str = "") -> tuple[Column, ...]:
    """Return the columns of a row, without a p-value where nothing was compared."""

    def pvalue(field: str) -> Any:
        def of(pair: PairVerdict) -> float | None:
            row = getattr(pair, name)
            return None if row.difference is None else getattr(row, field)

        return of

    heading = name.replace("_", " ")
    return (
        Column(name, f"{name}.difference", heading, signed(2), unit, better),
        Column(f"{name}_p", pvalue("pvalue"), "p", PVALUE),
        Column(f"{name}_p_corrected", pvalue("pvalue_corrected"), "p", PVALUE),
    )


PAIR_COLUMNS = (
    Column("run", "baseline"),
    *_row_columns("coverage", "higher", "points"),
    *_row_columns("ranking", "lower"),
    *_row_columns("all_queries", "lower"),
    Column("verdict", "label"),
)


class RowOfPairs(NamedTuple):
    """One row of all pairs, in the order of `itertools.combinations`.

    Arrays, (n_pairs,), as `PairRow`, with NaN where there is no difference or no interval.
    """

    n: Ints
    differ: Ints
    better: Ints
    difference: Floats
    low: Floats
    high: Floats
    pvalue: Floats
    corrected: Floats
    found: Ints  # 1 where the contender is better by the corrected p-value, -1 where worse

    def of_pair(self, number: int) -> PairRow:
        """Return the row of one pair."""
        numbers: list[Any] = [column[number].item() for column in self]
        n, differ, better, difference, low, high, pvalue, corrected, found = numbers
        return PairRow(
            n,
            differ,
            better,
            None if isnan(difference) else difference,
            None if isnan(low) else Interval(low, high),
            pvalue,
            corrected,
            NAMES[found],
        )


class AllPairs(Sequence[PairVerdict]):
    """The verdicts on all pairs of systems, in the order of `itertools.combinations`.

    They are in arrays; a `PairVerdict` is made when it is asked for. Equal to a tuple of the same.
    """

    __slots__ = ("_systems", "labels", "names", "rows")

    def __init__(self, names: Sequence[str], labels: Ints, rows: Mapping[str, RowOfPairs]) -> None:
        """Take the systems, labels as places in `LABELS`, and the rows by `ROWS`."""
        self.names = tuple(names)
        self.labels = labels
        self.rows = rows
        self._systems = np.stack(np.triu_indices(len(names), 1), axis=1).astype(np.int32)

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return tuple(self[number] for number in range(len(self))[key])
        baseline, contender = (self.names[system] for system in self._systems[key].tolist())
        coverage, ranking, all_queries = (self.rows[name].of_pair(key) for name in ROWS)
        label = LABELS[self.labels[key]]
        return PairVerdict(baseline, contender, coverage, ranking, all_queries, label)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (AllPairs, tuple)):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"AllPairs({len(self)} pairs of {len(self.names)} systems)"

    def better(self, row: str = "") -> Bools:
        """Return which system, row, is better than which, by label or by a row."""
        signs = self.rows[row].found if row else DIRECTIONS[self.labels]
        return better_of(signs, len(self.names))


def better_of(signs: Ints | Floats, n: int) -> Bools:
    """Return whether row is better than column, from the direction of each pair."""
    baseline, contender = np.triu_indices(n, 1)
    better = np.zeros((n, n), dtype=bool)
    better[contender, baseline] = signs > 0
    better[baseline, contender] = signs < 0
    return better


def pairs_of(evaluation: Evaluation, rules: Rules, *, progress: bool = False) -> AllPairs:
    """Judge each system as a contender against every earlier one."""
    lengths, board = board_of(evaluation)
    n_pairs = board.n_pairs
    counts = np.empty((len(ROWS), 3, n_pairs), dtype=np.int32)
    numbers = np.empty((len(ROWS), 4, n_pairs))
    for pairs in with_progress(
        board.sums(), "pair", n_pairs, shown=progress, size=lambda pairs: len(pairs.numbers)
    ):
        for row, (name, found) in enumerate(estimates_of(lengths, pairs, rules.alpha).items()):
            sums = pairs.sums[name]
            better = sums.better if name == "coverage" else sums.differ - sums.better
            counts[row][:, pairs.numbers] = pairs.queries[name], sums.differ, better
            numbers[row][:, pairs.numbers] = found.mean, found.low, found.high, found.pvalue
    signs = np.sign(np.nan_to_num(numbers[:, 0])).astype(np.int64) * [[1], [-1], [-1]]
    rows = {
        name: RowEstimates(sign, of_row[3])
        for name, sign, of_row in zip(ROWS, signs, numbers, strict=True)
    }
    _, differ, better = counts[-1].astype(np.float64)
    labels = judge(rows, rules, RowEstimates.of_sign_test(better, differ - better))
    of_rows = {}
    for name, (n, differ, better), (mean, low, high, pvalue) in zip(
        ROWS, counts, numbers, strict=True
    ):
        over_all = labels.corrected[name], labels.found[name]
        of_rows[name] = RowOfPairs(n, differ, better, mean, low, high, pvalue, *over_all)
    return AllPairs(evaluation.system_names, labels.label.astype(np.int8), of_rows)


def estimates_of(
    lengths: LengthDifferences, pairs: SummedPairs, alpha: float
) -> dict[str, Estimates]:
    """Estimate the rows of pairs, or of the halves of each."""
    halves = len(pairs.sums["coverage"].units) // len(pairs.numbers)
    horizon = np.repeat(lengths.horizons[pairs.systems].max(axis=0), halves)
    baseline, contender = lengths.rankings[pairs.systems]
    identical = np.repeat(baseline == contender, halves)
    for sums in pairs.sums.values():
        identical &= sums.differ == 0
    largest: dict[str, Any] = {
        "coverage": 100.0,
        "ranking": horizon - 1.0,
        "all queries": horizon,
    }
    return {
        name: estimates(sums, alpha, largest[name], identical) for name, sums in pairs.sums.items()
    }
