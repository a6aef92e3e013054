"""`leaderboard`: runs in the order of a measure, and what that order hides."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import combinations, compress, pairwise
from typing import Any, NamedTuple, get_args

import numpy as np

from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.runs_of_systems import measure_of_runs
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import note_on_depth, notes_on_systems
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.systems import Called
from ir_outcomes.formatting import plural, with_progress
from ir_outcomes.leaderboards.board import Leaderboard, MeasureOfRuns, Order, RunScore, Standing
from ir_outcomes.leaderboards.history import SotaHistory, history_of
from ir_outcomes.leaderboards.ordering import (
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
from ir_outcomes.leaderboards.pairs import JudgedPairs, PairVerdict, all_pairs, better_of
from ir_outcomes.notes import as_notes
from ir_outcomes.reading.measure_names import bounds_of
from ir_outcomes.reading.tables import read_entries
from ir_outcomes.statistics import (
    Interval,
    adjust,
    bounded_mean_interval,
    differences,
    mean_interval,
)
from ir_outcomes.statistics.corrections import first_step_level
from ir_outcomes.statistics.counts import shared_ranks, tally
from ir_outcomes.statistics.tests import Samples
from ir_outcomes.types import Bools, Correction, Ints, check_choice, check_level


def leaderboard(
    source: Evaluation | Scores,
    *,
    measures: Sequence[Any] | str | None = None,
    order: Order | None = None,
    cutoff: int | None = None,
    alpha: float = 0.05,
    correction: Correction = "holm",
    entries: Any = None,
    progress: bool = False,
) -> Leaderboard:
    """Order runs by a measure, and say what that order hides: verdicts between all pairs, tiers, and significant differences.

    Parameters
    ----------
    source : Evaluation or Scores
        At least two runs, or systems: of several runs the score is the mean, and verdicts and
        intervals are about these runs, as those of `ir_outcomes.compare`. Scores have an order and
        intervals, but no verdicts and no tiers, and their own measure.
    measures : sequence of Measure or str, optional
        What to show for each run, with the runs that it is significantly better than: measures of
        ir_measures (see `Evaluation.scores_of`), and "coverage", "ranking" (mean search length
        where the run found something) and "all queries" (restricted search length; k is the cutoff,
        or the depth of the deepest run where that is less), at the cutoff. The first orders the
        runs; by default the reciprocal rank at the cutoff is the only one.
    order : {"measure", "wins"}, optional
        What orders the runs: the first measure, or pairs won less pairs lost by the verdicts, then
        the first measure. By default "wins" where the unit is documents and no measure was asked
        for, because the reciprocal rank is of one document.
    cutoff : int, optional
        Cutoff of the verdicts; by default the evaluation's.
    alpha : float
        Level of the verdicts, the tests and the intervals.
    correction : {"holm", "bonferroni", "fdr_bh", "none"}
        Of the p-values, over all pairs, separately for each facet and measure.
    entries : path, or iterable of mapping, optional
        Dates and groups of the runs, CSV or JSON with the columns ``id``, ``date`` and ``group``;
        adds the history.
    progress : bool
        On stderr.

    Raises
    ------
    ParameterError
        If a setting is invalid, there are fewer than two runs, or a measure is not available or
        named twice.
    InputError
        If the entries cannot be read, or lack a run.

    References
    ----------
    Lin et al. 2021, sections 4 and 5, Figure 1; Craswell et al. 2021, section 4.

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
    check_choice("correction", correction, get_args(Correction))
    check_level(alpha)
    evaluation = evaluation_to_judge(source, cutoff, several_runs=True)
    order = _checked_order(order, evaluation, measures)
    of_runs = values_of(evaluation or source, measures)
    board = _ordered(
        systems_of(source),
        of_runs,
        evaluation,
        order,
        alpha=alpha,
        correction=correction,
        progress=progress,
    )
    first = board.scores[0]
    standings = _standings(board, of_runs[0], _bounds(first, evaluation), 1 - alpha)
    notes = list(dict.fromkeys(note for scores in board.scores for note in scores.notes()))
    pairs: Sequence[PairVerdict] = ()
    cycles: list[tuple[str, ...]] = []
    settings = None
    metadata: dict[str, str] = {}
    n_queries = len(first.query_ids)
    n_unanswerable = 0
    if evaluation is None or board.judged is None:
        notes.append(
            f"Only values of {first.measure} were given: there are no verdicts and no tiers, which"
            " need the runs."
        )
    else:
        evaluation = evaluation[list(first.runs)]
        pairs = board.judged.verdicts
        tier_of, of_cycles = tiers(board.judged.better["verdict"])
        cycles = [tuple(first.runs[run] for run in cycle) for cycle in of_cycles]
        coverage = means_of_systems(scores_of(evaluation, "coverage"), board.systems).means()
        of_verdicts = np.stack([coverage, tier_of, board.judged.net_wins], axis=1)
        standings = [
            replace(standing, coverage=share, tier=int(tier), net_wins=int(wins))
            for standing, (share, tier, wins) in zip(standings, of_verdicts.tolist(), strict=True)
        ]
        settings = Settings.of(evaluation, alpha=alpha, correction=correction, family=len(pairs))
        n_queries = int(evaluation.answerable.sum())
        n_unanswerable = len(evaluation.query_ids) - n_queries
        notes += _notes(evaluation, first, cycles)
    columns: list[MeasureOfRuns] = []
    if measures is not None:
        columns = _columns(board, of_runs, alpha, correction, progress)
    return Leaderboard(
        measure=first.measure,
        order=order,
        higher_is_better=first.higher_is_better,
        alpha=alpha,
        correction=correction,
        standings=tuple(standings),
        pairs=pairs,
        measures=tuple(columns),
        cycles=tuple(cycles),
        history=None if entries is None else _history(entries, first, evaluation, alpha),
        n_queries=n_queries,
        n_unanswerable=n_unanswerable,
        settings=settings,
        notes=as_notes(notes),
        run_metadata=metadata,
    )


class _Ordered(NamedTuple):
    """Systems, the best first, and what is known of them in this order."""

    systems: list[Called]
    ranks: Ints
    scores: list[
        Scores
    ]  # by each measure; the first one orders the systems, or decides between equal wins
    judged: JudgedPairs | None  # None where only scores were given


def _ordered(
    systems: Sequence[Called],
    of_runs: Sequence[Scores],
    evaluation: Evaluation | None,
    order: Order,
    *,
    alpha: float,
    correction: str,
    progress: bool,
) -> _Ordered:
    """Judge all pairs of systems, and order the systems by their first measure or by the pairs they win."""
    of_systems = [means_of_systems(scores, systems) for scores in of_runs]
    ranks, places = order_of(of_systems[0])
    ranks = ranks[places]
    judged: JudgedPairs | None = None
    if evaluation is not None:
        in_order = evaluation[[systems[place].name for place in places]]
        judged = all_pairs(in_order, alpha=alpha, correction=correction, progress=progress)
    if judged is not None and order == "wins":
        # Of equally many wins the measure decides.
        ranks = shared_ranks((judged.net_wins * (len(ranks) + 1) - ranks)[None])[0]
        by_wins = np.argsort(ranks, kind="stable")
        ranks = ranks[by_wins]
        places = places[by_wins]
        judged = judged.reordered(by_wins)
    return _Ordered(
        systems=[systems[place] for place in places],
        ranks=ranks,
        scores=[scores.take(places.tolist()) for scores in of_systems],
        judged=judged,
    )


def _standings(
    board: _Ordered, of_runs: Scores, bounds: tuple[float, float], level: float
) -> list[Standing]:
    """Return the place of each system by its scores alone."""
    first = board.scores[0]
    means = defined(first.means())
    places = enumerate(zip(board.ranks.tolist(), board.systems, means, strict=True))
    return [
        Standing(
            rank=rank,
            run=system.name,
            score=mean,
            interval=_interval(first, place, level, bounds),
            coverage=None,
            tier=None,
            net_wins=None,
            runs=_scores_of_runs(of_runs, system),
        )
        for place, (rank, system, mean) in places
    ]


def _columns(
    board: _Ordered, of_runs: Sequence[Scores], alpha: float, correction: str, progress: bool
) -> list[MeasureOfRuns]:
    """Return the mean of each system by each measure, with the systems that it is significantly better than."""
    of_facets = {} if board.judged is None else board.judged.better
    columns = []
    for scores, own in zip(board.scores, of_runs, strict=True):
        is_better = of_facets.get(scores.measure)
        if is_better is None:
            is_better = _better_by_t(own, board.systems, alpha, correction, progress)
        columns.append(
            MeasureOfRuns(
                scores.measure,
                scores.higher_is_better,
                tuple(defined(scores.means())),
                tuple(tuple(compress(scores.runs, row)) for row in is_better.tolist()),
            )
        )
    return columns


def tiers(better: Bools) -> tuple[Ints, list[list[int]]]:
    """Return the tier of each run, from 1, and the cycles, from the (n, n) matrix of "row is better than column"."""
    # "Better" need not be transitive, because each pair of runs has its own queries that both
    # answered: runs that are better than each other in a cycle (a strongly connected component)
    # count as one.
    from scipy.sparse.csgraph import connected_components

    n_components, component = connected_components(better, directed=True, connection="strong")
    winners, losers = np.nonzero(better)
    beaten_by = np.zeros((n_components, n_components), dtype=bool)
    beaten_by[component[losers], component[winners]] = True
    np.fill_diagonal(beaten_by, False)
    before = np.zeros(n_components, dtype=np.int64)
    tier = np.ones(n_components, dtype=np.int64)
    while (tier != before).any():  # which ends, because there are no cycles between components
        before = tier
        tier = 1 + np.where(beaten_by, tier, 0).max(axis=1)
    cycles = np.flatnonzero(np.bincount(component) > 1)
    return tier[component], [np.flatnonzero(component == cycle).tolist() for cycle in cycles]


def _checked_order(order: Order | None, evaluation: Evaluation | None, measures: Any) -> Order:
    """Return what orders the runs; refuse the order by verdicts where there are none."""
    if order is None:
        is_by_wins = evaluation is not None and evaluation.unit == "document" and measures is None
        return "wins" if is_by_wins else "measure"
    check_choice("order", order, get_args(Order))
    if order == "wins" and evaluation is None:
        raise ParameterError(
            "scores have no verdicts, so no run wins; evaluate the runs, or leave `order` out",
            order=order,
        )
    return order


def _scores_of_runs(scores: Scores, system: Called) -> tuple[RunScore, ...]:
    """Return the score of each run of a system; nothing where it has one."""
    if len(system.runs) == 1:
        return ()
    own = scores.take([scores.runs.index(run) for run in system.runs])
    return tuple(map(RunScore, system.runs, defined(own.means())))


def _better_by_t(
    scores: Scores, systems: Sequence[Called], alpha: float, correction: str, progress: bool
) -> Bools:
    """(n_systems, n_systems) bool array, by the t test: whether row has a better mean than column."""
    n_pairs = len(systems) * (len(systems) - 1) // 2
    levels = first_step_level(alpha, n_pairs, correction), alpha
    gains = replace(scores, values=scores.gains())
    pvalues = []
    directions = []
    for pair in with_progress(combinations(systems, 2), "pair", n_pairs, shown=progress):
        changes = measure_of_runs(gains, *pair).changes
        change = differences(*changes.values[:, changes.counted])
        sample = tally(change, changes.rows(scores.clusters))
        test = Samples(sample, levels, labels_only=True).of_means()
        pvalues.append(test.pvalue[0])
        directions.append(test.direction[0])
    significant = adjust(pvalues, correction) <= alpha
    return better_of(np.where(significant, directions, 0), len(systems))


def _bounds(scores: Scores, evaluation: Evaluation | None) -> tuple[float, float]:
    """Return the smallest and the largest possible value of a measure, 0 and 1 where nothing else is known."""
    if scores.measure == "coverage":
        return 0.0, 100.0
    if evaluation is not None and scores.measure == "ranking":
        return 1.0, float(board_horizon(evaluation))
    if evaluation is not None and scores.measure == "all queries":
        return 1.0, board_horizon(evaluation) + 1.0
    return bounds_of(scores.measure) or (0.0, 1.0)


def _interval(
    scores: Scores, place: int, level: float, bounds: tuple[float, float]
) -> Interval | None:
    """Return the interval of a mean, inside the bounds of the measure where its values are inside them."""
    values = scores.values[place]
    is_known = np.isfinite(values)
    values = values[is_known]
    clusters = None if scores.clusters is None else scores.clusters[is_known]
    smallest, largest = bounds
    if smallest < largest and len(values) and smallest <= values.min() and values.max() <= largest:
        return bounded_mean_interval(values, level, bounds, clusters)
    return mean_interval(values, level, clusters=clusters)


def _history(
    entries: Any, scores: Scores, evaluation: Evaluation | None, alpha: float
) -> SotaHistory:
    """Find who took first place, and judge each against the one before; the more submissions, the stricter."""
    means = dict(zip(scores.runs, defined(scores.means()), strict=True))
    read = read_entries(entries).entries
    names = [entry.run for entry in read]
    if missing := [run for run in means if run not in names]:
        raise MismatchError(
            f"the entries have no row for {some(missing)}; their ids are {some(names)}"
        )
    scored = [replace(entry, score=means.get(entry.run)) for entry in read]
    history = history_of(scored, higher_is_better=scores.higher_is_better, score=scores.measure)
    if evaluation is None:
        return history
    runs = list(history.runs[:1])
    for previous, run in pairwise(history.runs):
        pair = evaluation[[previous.run, run.run]]
        (verdict,) = all_pairs(pair, alpha=alpha, correction="none", looks=run.looks).verdicts
        runs.append(replace(run, verdict=verdict))
    return replace(history, runs=tuple(runs))


def _notes(
    evaluation: Evaluation, scores: Scores, cycles: Iterable[Sequence[str]]
) -> Iterator[str]:
    yield (
        "Every pair of runs has its own queries that both answered: a run's search length differs"
        ' from row to row, and "better" need not be transitive.'
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
