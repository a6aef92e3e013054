"""The systems of a board, with scores, rows of pairs, and standings."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from typing import Any, Self

import numpy as np

from ir_outcomes.choices import Bools, Floats, Ints
from ir_outcomes.errors import some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import Allow, note_on_depth, notes_on_systems
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.systems import System
from ir_outcomes.formatting import plural
from ir_outcomes.leaderboards.board import (
    BoardPairs,
    MeasureOfRuns,
    RankRange,
    RunScore,
    Standing,
)
from ir_outcomes.leaderboards.ordering import (
    blocks_of_pairs,
    defined,
    evaluation_to_judge,
    means_of_systems,
    notes_on_source,
    values_of,
)
from ir_outcomes.pairs.differences import Measurements
from ir_outcomes.pairs.measurements import measurements_of, measurements_of_means
from ir_outcomes.pairs.rows import RowsOfPairs
from ir_outcomes.pairs.rules import Rules
from ir_outcomes.pairs.verdict import DECIDING
from ir_outcomes.statistics.bounded import mean_interval
from ir_outcomes.statistics.estimate import Interval
from ir_outcomes.statistics.families import level_in_family


@dataclass(frozen=True, eq=False)
class Scored:
    """Systems with their scores by the measures of a board, the deciding one first."""

    evaluation: Evaluation | None  # None of values of another tool
    of_runs: list[Scores]
    systems: list[System]

    @classmethod
    def of(cls, source: Evaluation, measures: Any, cutoff: int | None, allow: Allow) -> Self:
        """Take the scores of an evaluation, over its answerable queries."""
        evaluation = evaluation_to_judge(source, cutoff, allow, several_runs=True)
        if evaluation is None:
            return cls(None, values_of(source, measures), source.systems)
        measures = ["all queries"] if measures is None else measures
        answerable = evaluation.answerable_queries
        of_runs = [scores.on(answerable) for scores in values_of(evaluation, measures)]
        return cls(evaluation, of_runs, source.systems)

    def in_order(self, order: Ints) -> Self:
        """Return the same with the systems in another order."""
        return replace(self, systems=[self.systems[system] for system in order])

    @property
    def names(self) -> list[str]:
        """Names of the systems."""
        return [system.name for system in self.systems]

    @property
    def of_systems(self) -> list[Scores]:
        """Scores of the systems, which are means over their runs."""
        return [means_of_systems(scores, self.systems) for scores in self.of_runs]

    @property
    def means(self) -> Floats:
        """(measures, systems) means over the queries."""
        return np.stack([scores.means() for scores in self.of_systems])

    @property
    def deciding(self) -> tuple[str, ...]:
        """The rows that decide on labels."""
        return ("all queries",) if self.evaluation is None else DECIDING

    @property
    def row(self) -> str:
        """The row that decides."""
        return "all queries" if self.evaluation is None else self.of_runs[0].measure

    def measurements(self) -> tuple[Measurements, tuple[str, ...]]:
        """Return what pairs are compared by, and the names of the rows."""
        if self.evaluation is None:
            measurements = measurements_of_means(self.of_runs[0], self.systems)
            return measurements, measurements.deciding
        asked = [scores for scores in self.of_runs if scores.measure not in DECIDING]
        measurements = measurements_of(self.evaluation, measures=asked)
        order = [measurements.names.index(name) for name in self.names]
        return measurements.taken(order), (*DECIDING, *(scores.measure for scores in asked))

    def rows_of_pairs(self, alpha: float, *, progress: bool = False) -> RowsOfPairs:
        """Compare all pairs of systems, each by itself."""
        measurements, names = self.measurements()
        blocks = blocks_of_pairs(measurements, names, shown=progress)
        return RowsOfPairs.of_board(measurements, blocks, alpha)

    def intervals(self, alpha: float) -> list[Interval | None]:
        """Return the interval of the mean of each system by the deciding measure."""
        scores = self.of_systems[0]
        intervals = []
        for values in scores.values:
            finite = np.isfinite(values)
            clusters = None if scores.clusters is None else scores.clusters[finite]
            intervals.append(mean_interval(values[finite], alpha, self._bounds, clusters))
        return intervals

    @property
    def _bounds(self) -> tuple[float, float] | None:
        """The smallest and the largest value of the deciding measure, None where unknown."""
        measure = self.of_runs[0].measure
        if self.evaluation is None or measure not in DECIDING:
            return self.of_runs[0].range
        k = self.evaluation.cutoff
        bounds = {"coverage": (0.0, 100.0), "ranking": (1.0, k), "all queries": (1.0, k + 1.0)}
        return bounds[measure]

    def scores_of_runs(self) -> list[tuple[RunScore, ...]]:
        """Return the score of each run of the systems that have several."""
        scores = self.of_runs[0]
        found: list[tuple[RunScore, ...]] = []
        for system in self.systems:
            runs = system.runs if len(system.runs) > 1 else ()
            means = scores.take([scores.runs.index(run) for run in runs]).means()
            found.append(tuple(map(RunScore, runs, defined(means))))
        return found


def pairs_of_board(
    names: Sequence[str], rows: RowsOfPairs, deciding: Sequence[str], rules: Rules
) -> BoardPairs:
    """Correct rows over all pairs, and label these."""
    rows = rows.corrected(rules.correction, rules.alpha)
    labels = rows.labels(deciding)
    level = level_in_family(rules.alpha, len(labels), rules.correction)
    return BoardPairs(names, rows, labels, level)


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
        *(ranks.tolist(), pairs.names, defined(means), intervals, coverage[: len(better)]),
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
            tuple(defined(values)),
            better_than(pairs.names, better_by(pairs.rows, of_measure.measure)),
        )
        for of_measure, values in zip(scores, means, strict=True)
    )


def notes_on_board(evaluation: Evaluation, scores: Scores) -> Iterator[str]:
    """Say what a reader of a board of these runs should know."""
    measure = scores.measure
    if measure == "ranking":
        yield (
            "Each pair is compared on what both runs found, and the mean of a run is over all that"
            " it found, so that a run with a better mean can be found worse."
        )
    n_unanswerable = len(evaluation.query_ids) - len(scores.query_ids)
    if n_unanswerable and measure not in DECIDING:
        yield (
            f"{measure} is averaged over the queries that have a relevant document; ir_measures"
            f" also counts the {plural('other', n_unanswerable)}."
        )
    yield from notes_on_source(evaluation)
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
