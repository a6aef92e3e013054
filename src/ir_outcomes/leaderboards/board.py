"""A leaderboard."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np

from ir_outcomes.choices import Correction, Direction, Ints
from ir_outcomes.comparison.columns import row_columns
from ir_outcomes.errors import some
from ir_outcomes.evaluation.evaluation import position_of
from ir_outcomes.pairs.rows import Row, RowsOfPairs
from ir_outcomes.pairs.rules import Settings
from ir_outcomes.pairs.verdict import LABELS, MIRRORED, direction_of
from ir_outcomes.results import HasFigures, HasPage, Immutable, Result
from ir_outcomes.statistics.estimate import Interval
from ir_outcomes.table_columns import NUMBER, Column, Form, attributes, rows_of


class RunScore(NamedTuple):
    """The score of one run of a system that has several."""

    run: str  #: its name
    score: float | None  #: mean of the measure of the board; None where it is undefined


class RankRange(NamedTuple):
    """The ranks that a run can have."""

    best: int  #: 1 + the number of runs that are found better
    worst: int  #: the number of runs - the number that are found worse


@dataclass(frozen=True)
class Standing:
    """A system on a leaderboard."""

    rank: int  #: by the mean, from 1; equal runs share the smaller rank
    run: str  #: its name, or that of the system
    score: float | None  #: mean of the measure, over the runs, too; None where it is undefined
    #: of the score by itself, at level 1 - alpha; see `ir_outcomes.statistics.bounded`
    interval: Interval | None
    #: share of the answerable queries answered (or of their relevant documents found), in percent,
    #: higher is better; None where only the values of a measure were given
    coverage: float | None
    #: The ranks that are possible. With probability 1 - alpha all true ranks lie inside at once,
    #: where pairs are corrected by Holm or Bonferroni.
    ranks: RankRange
    better_than: tuple[str, ...]  #: runs that are found worse, corrected over all pairs
    runs: tuple[RunScore, ...] = ()  #: of a system that has several; else empty

    @property
    def range(self) -> Interval | None:
        """The smallest and the largest score of several runs, if all are defined."""
        scores = [run.score for run in self.runs if run.score is not None]
        if not scores or len(scores) < len(self.runs):
            return None
        return Interval(min(scores), max(scores))


@dataclass(frozen=True)
class MeasureOfRuns:
    """A further column of a leaderboard, which decides nothing: a measure of all runs."""

    measure: str  #: its name
    higher_is_better: bool  #: its direction
    values: tuple[float | None, ...]  #: its mean for each run, in the order of the standings
    #: for each run those that are found worse by this measure, corrected over all pairs
    better_than: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class CollectionOfBoard(Immutable):
    """A collection of a board over several."""

    collection: str  #: its name
    group: str | None  #: collections of one group count as one in the mean
    n_queries: int  #: queries with a relevant document
    values: tuple[float | None, ...]  #: means of the deciding row, in the order of the standings
    #: for each system those that are found worse here, corrected over the pairs of the collection
    better_than: tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class BoardPair(Immutable):
    """Two runs of a board: their rows and label, corrected over all pairs."""

    baseline: str  #: its name; every difference is contender minus baseline
    contender: str  #: its name
    #: coverage, ranking, all queries, and the measures of the board, by name; all queries alone,
    #: which is the mean, where only values of a measure were given
    rows: Mapping[str, Row]
    label: str  #: one of `ir_outcomes.pairs.verdict.LABELS`

    @property
    def direction(self) -> Direction:
        """Direction of the label for the contender."""
        return direction_of(self.label)

    def turned(self) -> Self:
        """Return the pair with the systems swapped."""
        return replace(
            self,
            baseline=self.contender,
            contender=self.baseline,
            rows={name: row.turned() for name, row in self.rows.items()},
            label=MIRRORED[self.label],
        )


class BoardPairs(Sequence[BoardPair]):
    """All pairs of a board, in the order of `itertools.combinations` of the standings.

    They are in arrays; a `BoardPair` is made when it is asked for. Equal to a tuple of the same.
    """

    def __init__(self, names: Sequence[str], rows: RowsOfPairs, labels: Ints, level: float) -> None:
        """Take rows, labels as places in `LABELS`, and the level of the smallest p."""
        self.names = tuple(names)
        self.rows = rows
        self.labels = labels
        self._level = level

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return tuple(self[number] for number in range(len(self))[key])
        baseline, contender = (self.names[system] for system in self.rows.systems[:, key].tolist())
        rows = {name: row.row(key, self._level) for name, row in self.rows.rows.items()}
        return BoardPair(baseline, contender, rows, LABELS[self.labels[key]])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (BoardPairs, tuple)):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))


RUNS_COLUMNS = (
    Column("runs", lambda standing: len(standing.runs) or 1, form=NUMBER),
    Column("range", heading="range of runs", form=Form(places=3, of_interval=True)),
)


@dataclass(frozen=True)
class Leaderboard(HasFigures, HasPage, Result):
    """Runs by one row, which decides order, ranks and who is better.

    The figures are "standings" and "verdicts".

    Attributes
    ----------
    measure : str
        What decides: "all queries", "coverage", "ranking", or a measure.
    higher_is_better : bool
        Its direction.
    alpha : float
        Level of intervals (1 - alpha), ranks and labels.
    correction : {"holm", "bonferroni", "fdr_bh", "none"}
        Of p-values over all pairs, separately for each row and measure.
    standings : tuple of Standing
        By the mean, best first.
    pairs : sequence of BoardPair
        The rows and labels of all pairs, in the order of `itertools.combinations` of the
        standings, see `verdict`.
    measures : tuple of MeasureOfRuns
        The measures that were asked for beside the first.
    n_queries, n_unanswerable : int
        Queries with a relevant document, and without one, which are left out.
    settings : Settings or None
        How runs were compared; None where only the values of a measure were given.
    collections : tuple of CollectionOfBoard
        Of a board over collections, whose scores and rows are unweighted means over them; else
        empty.
    notes : tuple of Note
        Caveats.
    """

    measure: str
    higher_is_better: bool
    alpha: float
    correction: Correction
    standings: tuple[Standing, ...]
    pairs: Sequence[BoardPair]
    measures: tuple[MeasureOfRuns, ...]
    n_queries: int
    n_unanswerable: int
    settings: Settings | None
    collections: tuple[CollectionOfBoard, ...] = ()

    @property
    def first(self) -> tuple[str, ...]:
        """The runs that can be first, which no run is found better than."""
        return tuple(standing.run for standing in self.standings if standing.ranks.best == 1)

    def verdict(self, baseline: str, contender: str) -> BoardPair:
        """Return the rows and the label of two runs, or raise KeyError."""
        names = [standing.run for standing in self.standings]
        if baseline == contender or not {baseline, contender} <= {*names}:
            raise KeyError(f"{contender} against {baseline}; the runs are {some(names, 10)}")
        upper, lower = sorted(map(names.index, (baseline, contender)))
        number = upper * len(names) - upper * (upper + 1) // 2 + lower - upper - 1
        pair: BoardPair = self.pairs[number]
        return pair if pair.baseline == baseline else pair.turned()

    def better_in(self, run: str) -> dict[str, int]:
        """Return the collections where a system is found better, with the number of pairs."""
        position = position_of(run, tuple(standing.run for standing in self.standings))
        pairs = {part.collection: len(part.better_than[position]) for part in self.collections}
        return {collection: number for collection, number in pairs.items() if number}

    def worse_in(self, run: str) -> dict[str, int]:
        """Return the collections where a system is found worse, with the number of pairs."""
        position_of(run, tuple(standing.run for standing in self.standings))
        pairs = {
            part.collection: sum(run in beaten for beaten in part.better_than)
            for part in self.collections
        }
        return {collection: number for collection, number in pairs.items() if number}

    def labels(self) -> list[str]:
        """Return the labels of all pairs, in their order."""
        if isinstance(self.pairs, BoardPairs):
            return [LABELS[label] for label in self.pairs.labels.tolist()]
        return [pair.label for pair in self.pairs]

    def against_above(self) -> list[BoardPair]:
        """Return each run but the first against the run above it."""
        n = len(self.standings)
        steps = np.arange(n - 1, 1, -1)
        return [self.pairs[number] for number in np.cumsum([0, *steps]).tolist()]

    def against_first(self) -> list[BoardPair]:
        """Return each run but the first against the first."""
        return list(self.pairs[: len(self.standings) - 1])

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run, with its pairs against the run above and the first."""
        columns = (
            *attributes("rank", "rank_best=ranks.best", "rank_worst=ranks.worst", "run"),
            Column("measure", lambda _: self.measure),
            *attributes("score", "low=interval.low", "high=interval.high", "coverage"),
            Column("better_than", lambda standing: ", ".join(standing.better_than)),
        )
        if any(standing.runs for standing in self.standings):
            columns = (*columns, *RUNS_COLUMNS)
        if self.collections:
            columns = (
                *columns,
                Column("pairs_better", lambda standing: sum(self.better_in(standing.run).values())),
                Column("pairs_worse", lambda standing: sum(self.worse_in(standing.run).values())),
            )
        rows = rows_of(columns, self.standings)
        further: list[tuple[str, str, MeasureOfRuns | CollectionOfBoard]]
        further = [(part.measure, part.measure, part) for part in self.measures]
        further += [(f"{part.collection} mean", part.collection, part) for part in self.collections]
        for heading, name, part in further:
            for row, value, beaten in zip(rows, part.values, part.better_than, strict=True):
                row[heading] = value
                row[f"{name} better than"] = ", ".join(beaten)
        of_pair = pair_columns(self.pairs[0])
        for prefix, pairs in (("above_", self.against_above()), ("first_", self.against_first())):
            of_pairs = [dict.fromkeys(column.name for column in of_pair), *rows_of(of_pair, pairs)]
            for row, values in zip(rows, of_pairs, strict=True):
                row |= {f"{prefix}{name}": value for name, value in values.items()}
        return rows


def pair_columns(pair: BoardPair) -> tuple[Column, ...]:
    """Return the columns of a pair, with the names and units of its rows."""
    columns = [Column("run", "baseline")]
    for name, row in pair.rows.items():
        prefix = name.replace(" ", "_")
        shown = (f"{prefix}_difference", f"{prefix}_p", f"{prefix}_p_corrected")
        part = _row_called(name)
        columns += [column for column in row_columns(prefix, row, part) if column.name in shown]
    return (*columns, Column("verdict", "label"))


def _row_called(name: str) -> Any:
    return lambda pair: pair.rows[name]
