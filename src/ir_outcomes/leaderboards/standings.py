"""The systems of a board, with scores, rows of pairs, and standings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import compress
from typing import Any, Self

import numpy as np

from ir_outcomes.choices import Bools, Floats, Ints, or_none
from ir_outcomes.errors import some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import Allow, note_on_depth, notes_on_systems
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.systems import Systems
from ir_outcomes.formatting import plural
from ir_outcomes.leaderboards.board import (
    BoardPairs,
    CollectionOfBoard,
    MeasureOfRuns,
    RankRange,
    RunScore,
    Standing,
)
from ir_outcomes.leaderboards.ordering import (
    blocks_of_pairs,
    evaluation_to_judge,
    means_of_systems,
    notes_on_source,
    values_of,
)
from ir_outcomes.pairs.differences import Measurements
from ir_outcomes.pairs.measurements import measurements_of, measurements_of_means
from ir_outcomes.pairs.rows import RowsOfPairs
from ir_outcomes.pairs.rules import Rules, Settings
from ir_outcomes.pairs.verdict import DECIDING
from ir_outcomes.statistics.bounded import mean_interval
from ir_outcomes.statistics.estimate import Interval


@dataclass(frozen=True, eq=False)
class ScoredSystems:
    """Systems with their scores by the measures of a board, the deciding one first."""

    evaluation: Evaluation
    scores: list[Scores]  # of runs
    systems: Systems

    @classmethod
    def of(cls, source: Evaluation, measures: Any, cutoff: int | None, allow: Allow) -> Self:
        """Take the scores of an evaluation, over its answerable queries."""
        evaluation = evaluation_to_judge(source, cutoff, allow, several_runs=True)
        if evaluation.values is not None:
            return cls(evaluation, values_of(evaluation, measures), evaluation.systems)
        scores = values_of(evaluation, "all queries" if measures is None else measures)
        answerable = evaluation.answerable_queries
        return cls(
            evaluation, [of_measure.on(answerable) for of_measure in scores], evaluation.systems
        )

    def in_order(self, order: Ints) -> Self:
        """Return the same with the systems in another order."""
        systems = list(self.systems.items())
        return replace(self, systems=dict(systems[system] for system in order))

    @property
    def first(self) -> Self:
        """The systems themselves, as where there are several collections."""
        return self

    @property
    def names(self) -> list[str]:
        """Names of the systems."""
        return list(self.systems)

    @property
    def of_runs(self) -> bool:
        """Whether runs were evaluated, and no values of another tool."""
        return self.evaluation.values is None

    @cached_property
    def means(self) -> Floats:
        """(measures, systems) means over the queries."""
        return np.stack([means_of_systems(scores, self.systems).means() for scores in self.scores])

    @property
    def deciding(self) -> tuple[str, ...]:
        """The rows that decide on labels."""
        return DECIDING if self.of_runs else ("all queries",)

    @property
    def row(self) -> str:
        """The row that decides."""
        return self.scores[0].measure if self.of_runs else "all queries"

    @property
    def n_queries(self) -> int:
        """Queries with a relevant document."""
        return len(self.scores[0].query_ids)

    @property
    def n_unanswerable(self) -> int:
        """Queries that are left out."""
        return self.evaluation.n_unanswerable

    def _measurements(self) -> tuple[Measurements, tuple[str, ...]]:
        """Return what pairs are compared by, and the names of the rows."""
        if not self.of_runs:
            measurements = measurements_of_means(self.scores[0], self.systems)
            return measurements, measurements.deciding
        asked = [scores for scores in self.scores if scores.measure not in DECIDING]
        measurements = measurements_of(self.evaluation[self.names], measures=asked)
        return measurements, (*DECIDING, *(scores.measure for scores in asked))

    def compared(
        self, rules: Rules, *, progress: bool
    ) -> tuple[RowsOfPairs, tuple[CollectionOfBoard, ...]]:
        """Compare all pairs of systems, each by itself."""
        measurements, names = self._measurements()
        blocks = blocks_of_pairs(measurements, names, shown=progress)
        return RowsOfPairs.of_board(measurements, blocks, rules.alpha), ()

    def intervals(self, alpha: float) -> list[Interval | None]:
        """Return the interval of the mean of each system by the deciding measure."""
        scores = means_of_systems(self.scores[0], self.systems)
        intervals = []
        for values in scores.values:
            finite = np.isfinite(values)
            clusters = None if scores.clusters is None else scores.clusters[finite]
            intervals.append(mean_interval(values[finite], alpha, self._bounds, clusters))
        return intervals

    @property
    def _bounds(self) -> tuple[float, float] | None:
        """The smallest and the largest value of the deciding measure, None where unknown."""
        k = self.evaluation.cutoff
        bounds = {"coverage": (0.0, 100.0), "ranking": (1.0, k), "all queries": (1.0, k + 1.0)}
        return bounds.get(self.row, self.scores[0].range) if self.of_runs else self.scores[0].range

    def scores_of_runs(self) -> list[tuple[RunScore, ...]]:
        """Return the score of each run of the systems that have several."""
        scores = self.scores[0]
        by_system: list[tuple[RunScore, ...]] = []
        for runs in self.systems.values():
            several = runs if len(runs) > 1 else ()
            means = scores.take([scores.runs.index(run) for run in several]).means()
            by_system.append(tuple(map(RunScore, several, map(or_none, means))))
        return by_system

    def settings(self, rules: Rules, family: int) -> Settings | None:
        """Return how runs were compared, None of values."""
        return Settings.of(self.evaluation, rules, family) if self.of_runs else None

    def notes(self) -> Iterator[str]:
        """Yield what a reader of a board of these systems should know."""
        for scores in self.scores:
            yield from scores.notes()
        if self.of_runs:
            yield from self._notes_on_measure()
        yield from notes_on_source(self.evaluation)
        if self.of_runs:
            yield from self._notes_on_runs()

    def _notes_on_measure(self) -> Iterator[str]:
        if self.row == "ranking":
            yield (
                "Each pair is compared on what both runs found, and the mean of a run is over all"
                " that it found, so that a run with a better mean can be found worse."
            )
        if self.n_unanswerable and self.row not in DECIDING:
            yield (
                f"{self.row} is averaged over the queries that have a relevant document;"
                f" ir_measures also counts the {plural('other', self.n_unanswerable)}."
            )

    def _notes_on_runs(self) -> Iterator[str]:
        evaluation = self.evaluation
        if not evaluation.replicates:
            yield from notes_on_systems(evaluation.names)
        if evaluation.judged_only:  # every list ends where its judged documents end
            return
        cutoff = evaluation.cutoff
        depths = {run.name: min(run.depth, cutoff) for run in evaluation}
        deepest = max(depths.values())
        if deepest < cutoff:
            yield note_on_depth(deepest, cutoff)
        if shallow := [name for name, depth in depths.items() if depth < deepest]:
            yield (
                f"{some(shallow)}: no list reaches the cutoff of {cutoff}; coverage at unequal depth"
                f" favours the deeper runs. Use the common depth: `cutoff={min(depths.values())}`."
            )


def better_by(rows: RowsOfPairs, name: str) -> Bools:
    """Return (systems, systems), whether the first is found better."""
    found = rows.rows[name].found
    baseline, contender = rows.systems
    size = int(rows.systems.max()) + 1
    better = np.zeros((size, size), dtype=bool)
    better[contender, baseline] = found > 0
    better[baseline, contender] = found < 0
    return better


def better_than(names: Sequence[str], better: Bools) -> tuple[tuple[str, ...], ...]:
    """Return the names of the systems that each is better than."""
    return tuple(tuple(compress(names, row)) for row in better.tolist())


def standings_of(
    ranks: Ints,
    means: Floats,
    intervals: Sequence[Interval | None],
    pairs: BoardPairs,
    row: str,
    runs: Sequence[tuple[RunScore, ...]],
) -> tuple[Standing, ...]:
    """Return the standings by a row of all pairs, in the order of the board."""
    better = better_by(pairs.rows, row)
    coverage: list[float | None] = [None] * len(pairs.names)
    if "coverage" in pairs.rows.rows:
        of_pairs = pairs.rows.rows["coverage"]  # of which the first are of the first system
        coverage = [*of_pairs.baseline[:1].tolist(), *of_pairs.contender.tolist()]
    best = 1 + better.sum(axis=0)
    worst = len(better) - better.sum(axis=1)
    columns = (
        *(ranks.tolist(), pairs.names, map(or_none, means), intervals, coverage[: len(better)]),
        *(map(RankRange, best.tolist(), worst.tolist()), better_than(pairs.names, better), runs),
    )
    return tuple(Standing(*values) for values in zip(*columns, strict=True))


def further_measures(
    scores: Sequence[Scores], means: Floats, pairs: BoardPairs
) -> tuple[MeasureOfRuns, ...]:
    """Return the measures that decide nothing, with their means of systems."""
    return tuple(
        MeasureOfRuns(
            of_measure.measure,
            of_measure.higher_is_better,
            tuple(map(or_none, values)),
            better_than(pairs.names, better_by(pairs.rows, of_measure.measure)),
        )
        for of_measure, values in zip(scores, means, strict=True)
    )
