"""`leaderboard`: runs by one row, with the rows and labels of all pairs."""

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any, Unpack

import numpy as np

from ir_outcomes.choices import Bools, Ints, Positive
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import Allow, note_on_depth, notes_on_systems
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.systems import Called
from ir_outcomes.files import with_progress
from ir_outcomes.formatting import plural
from ir_outcomes.leaderboards.board import (
    BoardPairs,
    Leaderboard,
    MeasureOfRuns,
    RankRange,
    RunScore,
    Standing,
)
from ir_outcomes.leaderboards.ordering import (
    defined,
    evaluation_to_judge,
    means_of_systems,
    notes_on_source,
    order_of,
    systems_of,
    values_of,
)
from ir_outcomes.notes import as_notes
from ir_outcomes.pairs.measurements import measurements_of, measurements_of_means
from ir_outcomes.pairs.rows import RowsOfPairs
from ir_outcomes.pairs.rules import RuleOptions, Rules, Settings
from ir_outcomes.pairs.verdict import DECIDING
from ir_outcomes.reading.measure_names import bounds_of
from ir_outcomes.statistics.bounded import mean_interval
from ir_outcomes.statistics.estimate import Interval
from ir_outcomes.statistics.families import level_in_family


def leaderboard(
    source: Evaluation,
    *,
    measures: Sequence[Any] | str | None = None,
    cutoff: Positive | None = None,
    allow: Allow = (),
    progress: bool = False,
    **rules: Unpack[RuleOptions],
) -> Leaderboard:
    """Order runs by one row, with the ranks that are possible.

    Parameters
    ----------
    source : Evaluation
        At least two runs, or systems: of several runs the score is the mean, and ranks, labels and
        intervals are about these runs, as those of `ir_outcomes.compare`. Values of other tools
        (`ir_outcomes.outputs`) are decided by their own measure.
    measures : sequence of Measure or str, optional
        The first decides the order, the interval, the ranks and which runs are better; others are
        shown beside it. They are measures of ir_measures (see `Evaluation.scores_of`), and
        "coverage", "ranking" (mean search length where the run found something) and "all queries"
        (by query ESL(unanswered="cutoff+1"), by document ASL(missing="cutoff")), which is the
        default, at the cutoff. All are averaged over the answerable queries.
    cutoff : int, optional
        By default the evaluation's.
    allow : collection of {"unknown-ids", "rising-scores", "equal-scores"}
        What is meant, and must not stop the board.
    progress : bool
        On stderr.
    **rules
        alpha and correction, of the p-values over all pairs, separately for each row and measure;
        see `ir_outcomes.Rules`.

    Raises
    ------
    ParameterError
        If a setting is invalid, there are fewer than two runs, or a measure is not available or
        named twice.

    References
    ----------
    Ranks: Al Mohamad, Goeman and van Zwet 2022; Mogstad, Romano, Shaikh and Wilhelm 2024. Labels:
    Lin et al. 2021, sections 4 and 5.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(20)}
    >>> good = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> poor = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> board = leaderboard(evaluate(qrels, {"poor": poor, "good": good}))
    >>> [(standing.run, standing.score, standing.ranks) for standing in board.standings]
    [('good', 1.0, RankRange(best=1, worst=1)), ('poor', 2.0, RankRange(best=2, worst=2))]
    >>> board.verdict("good", "poor").label
    'worse on ranking'
    """
    checked = Rules(**rules)
    if checked.margins is not None:
        raise ParameterError("a board has no margins; compare two runs", margins=checked.margins)
    evaluation = evaluation_to_judge(source, cutoff, allow, several_runs=True)
    if evaluation is not None and measures is None:
        measures = ["all queries"]
    of_runs = values_of(evaluation or source, measures)
    if evaluation is not None:
        of_runs = [scores.on(evaluation.answerable_queries) for scores in of_runs]
    systems = systems_of(source)
    ranks, order = order_of(means_of_systems(of_runs[0], systems))
    systems = [systems[system] for system in order]
    of_systems = [means_of_systems(scores, systems) for scores in of_runs]
    first, *others = of_systems
    pairs = _pairs(evaluation, of_runs, systems, order, checked, progress=progress)
    row = "all queries" if evaluation is None else first.measure
    better = _better(pairs, row)
    coverage: Sequence[float | None] = [None] * len(systems)
    settings = None
    notes = list(dict.fromkeys(note for scores in of_runs for note in scores.notes()))
    if evaluation is not None:
        of_pairs = pairs.rows.rows["coverage"]  # of which the first are of the first system
        coverage = [*of_pairs.baseline[:1].tolist(), *of_pairs.contender.tolist()]
        coverage = coverage[: len(systems)]
        settings = Settings.of(evaluation, checked, family=len(pairs))
        notes += _notes(evaluation, first)
    standings = map(
        Standing,
        ranks[order].tolist(),
        first.runs,
        defined(first.means()),
        _intervals(first, _bounds(first, evaluation), checked.alpha),
        coverage,
        _rank_ranges(better),
        _better_than(first.runs, better),
        (_scores_of_runs(of_runs[0], system) for system in systems),
    )
    return Leaderboard(
        measure=first.measure,
        higher_is_better=first.higher_is_better,
        alpha=checked.alpha,
        correction=checked.correction,
        standings=tuple(standings),
        pairs=pairs,
        measures=tuple(
            MeasureOfRuns(
                scores.measure,
                scores.higher_is_better,
                tuple(defined(scores.means())),
                _better_than(scores.runs, _better(pairs, scores.measure)),
            )
            for scores in others
        ),
        n_queries=len(first.query_ids),
        n_unanswerable=len(source.query_ids) - len(first.query_ids),
        settings=settings,
        notes=as_notes(notes),
    )


def _pairs(
    evaluation: Evaluation | None,
    of_runs: Sequence[Scores],
    systems: Sequence[Called],
    order: Ints,
    rules: Rules,
    *,
    progress: bool,
) -> BoardPairs:
    """Return all pairs of systems, which have this order in the evaluation."""
    if evaluation is None:
        measurements = measurements_of_means(of_runs[0], systems)
        names: tuple[str, ...] = measurements.deciding
    else:
        asked = [scores for scores in of_runs if scores.measure not in DECIDING]
        measurements = measurements_of(evaluation, measures=asked).taken(order.tolist())
        names = (*DECIDING, *(scores.measure for scores in asked))
    blocks = with_progress(
        measurements.board(names),
        "pair",
        measurements.n_pairs,
        shown=progress,
        size=lambda block: block.systems.shape[1],
    )
    rows = RowsOfPairs.of_board(measurements, blocks, rules.alpha)
    rows = rows.corrected(rules.correction, rules.alpha)
    labels = rows.labels(measurements.deciding)
    level = level_in_family(rules.alpha, len(labels), rules.correction)
    return BoardPairs(measurements.names, rows, labels, level)


def _better(pairs: BoardPairs, row: str) -> Bools:
    """Return which system, row, is found better than which, column, by a row of their pairs."""
    found = pairs.rows.rows[row].found
    baseline, contender = pairs.rows.systems
    better = np.zeros((len(pairs.names), len(pairs.names)), dtype=bool)
    better[contender, baseline] = found > 0
    better[baseline, contender] = found < 0
    return better


def _rank_ranges(better: Bools) -> list[RankRange]:
    """Return the ranks that each system can have."""
    best = 1 + better.sum(axis=0)
    worst = len(better) - better.sum(axis=1)
    return list(map(RankRange, best.tolist(), worst.tolist()))


def _better_than(names: Sequence[str], better: Bools) -> tuple[tuple[str, ...], ...]:
    """Return the names of the systems that each is better than."""
    return tuple(tuple(compress(names, row)) for row in better.tolist())


def _scores_of_runs(scores: Scores, system: Called) -> tuple[RunScore, ...]:
    """Return the score of each run of a system that has several."""
    if len(system.runs) == 1:
        return ()
    runs = scores.take([scores.runs.index(run) for run in system.runs])
    return tuple(map(RunScore, system.runs, defined(runs.means())))


def _bounds(scores: Scores, evaluation: Evaluation | None) -> tuple[float, float]:
    """Return the smallest and the largest value of a measure, by default 0 and 1."""
    if evaluation is None or scores.measure not in DECIDING:
        return bounds_of(scores.measure) or (0.0, 1.0)
    k = evaluation.cutoff
    return {"coverage": (0.0, 100.0), "ranking": (1.0, k), "all queries": (1.0, k + 1.0)}[
        scores.measure
    ]


def _intervals(scores: Scores, bounds: tuple[float, float], alpha: float) -> list[Interval | None]:
    """Return the interval of the mean of each system."""
    intervals = []
    for values in scores.values:
        finite = np.isfinite(values)
        clusters = None if scores.clusters is None else scores.clusters[finite]
        intervals.append(mean_interval(values[finite], alpha, bounds, clusters))
    return intervals


def _notes(evaluation: Evaluation, scores: Scores) -> Iterator[str]:
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
