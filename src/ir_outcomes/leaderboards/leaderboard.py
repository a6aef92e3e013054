"""`leaderboard`: runs by tier and measure, with the verdicts on all pairs."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import compress
from typing import Any, Unpack, get_args

import numpy as np

from ir_outcomes.arguments import check_choice
from ir_outcomes.choices import Bools, Ints
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.verdict import RuleOptions, Rules
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import Allow, note_on_depth, notes_on_systems
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.systems import Called
from ir_outcomes.formatting import plural
from ir_outcomes.leaderboards.board import Leaderboard, MeasureOfRuns, Order, RunScore, Standing
from ir_outcomes.leaderboards.differences import Board, ValueDifferences
from ir_outcomes.leaderboards.ordering import (
    FACETS,
    board_horizon,
    defined,
    evaluation_to_judge,
    means_of_systems,
    notes_on_source,
    order_of,
    scores_of,
    systems_of,
    values_of,
)
from ir_outcomes.leaderboards.pairs import AllPairs, better_of, pairs_of
from ir_outcomes.notes import as_notes
from ir_outcomes.reading.measure_names import bounds_of
from ir_outcomes.statistics.bounded import mean_interval
from ir_outcomes.statistics.estimate import Interval, estimates
from ir_outcomes.statistics.families import adjust


def leaderboard(
    source: Evaluation,
    *,
    measures: Sequence[Any] | str | None = None,
    order: Order = "tier",
    cutoff: int | None = None,
    allow: Allow = (),
    progress: bool = False,
    **rules: Unpack[RuleOptions],
) -> Leaderboard:
    """Order runs by tier and measure, with the verdicts on all pairs.

    Parameters
    ----------
    source : Evaluation
        At least two runs, or systems: of several runs the score is the mean, and verdicts and
        intervals are about these runs, as those of `ir_outcomes.compare`. Values of
        another tool have intervals, but no verdicts and no tiers, and their own measure.
    measures : sequence of Measure or str, optional
        What to show for each run: measures of ir_measures (see `Evaluation.scores_of`), and
        "coverage", "ranking" (mean search length where the run found something) and "all queries"
        (restricted search length; k is the cutoff, or the depth of the deepest run where that is
        less), at the cutoff. The first orders the runs of a tier, and the runs that each is
        significantly better than are by the first; by default the reciprocal rank at the cutoff is
        the only one.
    order : {"tier", "measure"}
        What orders the runs: their tier, then the first measure; or the measure alone.
    cutoff : int, optional
        Cutoff of the verdicts; by default the evaluation's.
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
    Lin et al. 2021, sections 4 and 5; Craswell et al. 2021, section 4.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(20)}
    >>> good = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> poor = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> board = leaderboard(evaluate(qrels, {"poor": poor, "good": good}))
    >>> [(standing.rank, standing.run, standing.score, standing.tier) for standing in board.standings]
    [(1, 'good', 1.0, 1), (2, 'poor', 0.5, 2)]
    >>> board.verdict("good", "poor").label
    'worse on ranking'
    """
    checked = Rules(**rules)
    if checked.margins is not None:
        raise ParameterError("a board has no margins; compare two runs", margins=checked.margins)
    check_choice("order", order, get_args(Order))
    evaluation = evaluation_to_judge(source, cutoff, allow, several_runs=True)
    systems = systems_of(source)
    of_runs = values_of(evaluation or source, measures)
    ranks, by_measure = order_of(means_of_systems(of_runs[0], systems))
    systems = [systems[system] for system in by_measure]
    runs = [of_runs[0].runs.index(run) for system in systems for run in system.runs]
    of_runs = [scores.take(runs) for scores in of_runs]
    of_systems = [means_of_systems(scores, systems) for scores in of_runs]
    first = of_systems[0]
    notes = list(dict.fromkeys(note for scores in of_runs for note in scores.notes()))
    ranks = ranks[by_measure]
    columns: dict[str, Sequence[Any]] = dict.fromkeys(_OF_VERDICTS, [None] * len(ranks))
    pairs: AllPairs | None = None
    cycles: list[tuple[str, ...]] = []
    if evaluation is None:
        notes.append(
            f"Only values of {first.measure} were given: there are no verdicts and no tiers, which"
            " need the runs."
        )
        notes += notes_on_source(source)
    else:
        evaluation = evaluation[list(first.runs)]
        pairs = pairs_of(evaluation, checked, progress=progress)
        better = pairs.better()
        tier, of_cycles = tiers(better)
        cycles = [tuple(first.runs[system] for system in cycle) for cycle in of_cycles]
        notes += _notes(evaluation, first, cycles)
        coverage = means_of_systems(scores_of(evaluation, "coverage"), systems)
        columns = {
            "coverage": defined(coverage.means()),
            "tier": tier.tolist(),
            "won": better.sum(axis=1).tolist(),
            "lost": better.sum(axis=0).tolist(),
        }
        if order == "tier":
            ranks = ranks + len(ranks) * tier
    standings = []
    intervals = _intervals(first, _bounds(first, evaluation), checked.alpha)
    means = defined(first.means())
    standing_order = np.argsort(ranks, kind="stable").tolist()
    for system in standing_order:
        standing = Standing(
            rank=int(np.sum(ranks < ranks[system])) + 1,
            run=systems[system].name,
            score=means[system],
            interval=intervals[system],
            runs=_scores_of_runs(of_runs[0], systems[system]),
            **{name: column[system] for name, column in columns.items()},
        )
        standings.append(standing)
    asked: list[MeasureOfRuns] = []
    if measures is not None:
        if pairs is not None and first.measure in FACETS:
            better = pairs.better(first.measure)
        else:
            better = _better(of_runs[0], systems, checked)
        better = better[np.ix_(standing_order, standing_order)]
        asked = [_column(scores.take(standing_order)) for scores in of_systems]
        asked[0] = replace(asked[0], better_than=_better_than(first.take(standing_order), better))
    n_queries = len(first.query_ids)
    n_unanswerable = 0
    settings = None
    if evaluation is not None and pairs is not None:
        n_queries = int(evaluation.answerable.sum())
        n_unanswerable = len(evaluation.query_ids) - n_queries
        settings = Settings.of(evaluation, checked, family=len(pairs))
    return Leaderboard(
        measure=first.measure,
        order=order,
        higher_is_better=first.higher_is_better,
        alpha=checked.alpha,
        correction=checked.correction,
        standings=tuple(standings),
        pairs=() if pairs is None else pairs,
        measures=tuple(asked),
        cycles=tuple(cycles),
        n_queries=n_queries,
        n_unanswerable=n_unanswerable,
        settings=settings,
        notes=as_notes(notes),
    )


_OF_VERDICTS = ("coverage", "tier", "won", "lost")


def tiers(better: Bools) -> tuple[Ints, list[list[int]]]:
    """Return tiers, from 1, and cycles, from which run, row, is better than which."""
    # "Better" need not be transitive, because each pair of runs has its own queries that both
    # answered: runs that are better than each other in a cycle (a strongly connected component)
    # count as one.
    from scipy.sparse.csgraph import connected_components

    n_components, component = connected_components(better, directed=True, connection="strong")
    winners, losers = np.nonzero(better)
    beaten_by = np.zeros((n_components, n_components), dtype=bool)
    beaten_by[component[losers], component[winners]] = True
    np.fill_diagonal(beaten_by, False)
    previous = np.zeros(n_components, dtype=np.int64)
    tier = np.ones(n_components, dtype=np.int64)
    while (tier != previous).any():  # which ends, because there are no cycles between components
        previous = tier
        tier = 1 + np.where(beaten_by, tier, 0).max(axis=1)
    cycles = np.flatnonzero(np.bincount(component) > 1)
    return tier[component], [np.flatnonzero(component == cycle).tolist() for cycle in cycles]


def _scores_of_runs(scores: Scores, system: Called) -> tuple[RunScore, ...]:
    """Return the score of each run of a system that has several."""
    if len(system.runs) == 1:
        return ()
    runs = scores.take([scores.runs.index(run) for run in system.runs])
    return tuple(map(RunScore, system.runs, defined(runs.means())))


def _column(scores: Scores) -> MeasureOfRuns:
    """Return a measure of the runs."""
    return MeasureOfRuns(scores.measure, scores.higher_is_better, tuple(defined(scores.means())))


def _better_than(scores: Scores, better: Bools) -> tuple[tuple[str, ...], ...]:
    """Return the names of the runs that each is better than."""
    return tuple(tuple(compress(scores.runs, row)) for row in better.tolist())


def _better(scores: Scores, systems: list[Called], rules: Rules) -> Bools:
    """Return which system, row, has a significantly better mean than which."""
    n_runs = [len(system.runs) for system in systems]
    board = Board(ValueDifferences(scores.gains()), n_runs, scores.clusters)
    pvalues, signs = np.empty((2, board.n_pairs))
    for pairs in board.sums():
        found = estimates(pairs.sums["measure"], rules.alpha)
        pvalues[pairs.numbers] = found.pvalue
        signs[pairs.numbers] = np.sign(np.nan_to_num(found.mean))
    significant = adjust(pvalues, rules.correction) <= rules.alpha
    return better_of(np.where(significant, signs, 0), len(systems))


def _bounds(scores: Scores, evaluation: Evaluation | None) -> tuple[float, float]:
    """Return the smallest and the largest value of a measure, by default 0 and 1."""
    if evaluation is None or scores.measure not in FACETS:
        return bounds_of(scores.measure) or (0.0, 1.0)
    k = board_horizon(evaluation)
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


def _notes(
    evaluation: Evaluation, scores: Scores, cycles: Iterable[Sequence[str]]
) -> Iterator[str]:
    yield (
        "Every pair of runs has its own queries that both answered, so that better need not be"
        " transitive."
    )
    unanswerable = ~evaluation.answerable
    number = int(unanswerable.sum())
    if (
        number
        and len(scores.query_ids) == len(unanswerable)
        and not np.isnan(scores.values[:, unanswerable]).any()
    ):
        verb = "counts" if number == 1 else "count"
        yield (
            f"{scores.measure} is averaged as ir_measures does: {plural('query', number)} without a"
            f" relevant document {verb}."
        )
    yield from notes_on_source(evaluation)
    if not evaluation.replicates:
        yield from notes_on_systems(evaluation.names)
    for cycle in cycles:
        yield f"Better than each other in a cycle, and therefore in one tier: {', '.join(cycle)}."
    if evaluation.judged_only:  # every list ends where its judged documents end
        return
    cutoff = evaluation.cutoff
    measure = scores.measure
    depths = {run.name: min(run.depth, cutoff) for run in evaluation}
    deepest = max(depths.values())
    if deepest < cutoff:
        renamed = ""
        if f"@{cutoff}" in measure:
            renamed = f", and {measure} is {measure.replace(f'@{cutoff}', f'@{deepest}')}"
        yield note_on_depth(deepest, cutoff, renamed)
    if shallow := [name for name, depth in depths.items() if depth < deepest]:
        yield (
            f"{some(shallow)}: no list reaches the cutoff of {cutoff}; coverage at unequal depth"
            f" favours the deeper runs. Use the common depth: `cutoff={min(depths.values())}`."
        )
