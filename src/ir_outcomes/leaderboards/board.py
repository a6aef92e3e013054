"""The leaderboard: runs in the order of a measure, and what that order hides."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Literal, get_args

import numpy as np

from ir_outcomes.comparison.outcomes import Settings, check_alpha
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation, notes_on_listing
from ir_outcomes.evaluation.lengths import SearchLengths, metadata_of
from ir_outcomes.evaluation.scores import Scores, reciprocal_ranks
from ir_outcomes.formatting import plural
from ir_outcomes.leaderboards.history import SotaHistory, entries_of, history_of
from ir_outcomes.leaderboards.pairs import PairVerdict, PairVerdicts, all_pairs
from ir_outcomes.reading.measure_names import parse_measure
from ir_outcomes.results import Result, cells_of, versions
from ir_outcomes.statistics import Interval, mean_interval
from ir_outcomes.statistics.intervals import median_interval
from ir_outcomes.statistics.resampling import shared_ranks
from ir_outcomes.types import Bools, Correction, Floats, Unit, check_choice, check_one_order, unreachable


def check_number_of_runs(source: Evaluation | Scores) -> None:
    """Refuse what is neither an evaluation nor scores, or has fewer than two runs."""
    if not isinstance(source, (Evaluation, Scores)):
        raise ParameterError(
            f"the runs are a {type(source).__name__}; pass what ir_outcomes.evaluate or ir_outcomes.scores_from_outputs returns"
        )
    if len(source.runs) < 2:
        raise ParameterError("there is only one run; at least two are needed")


def scores_of(source: Evaluation | Scores, measure: Any = None) -> Scores:
    """Return the values of a measure; by default the reciprocal rank at the evaluation's cutoff, over all queries.

    Raises
    ------
    ParameterError
        If scores are of another measure, or an evaluation cannot provide the measure.
    """
    if isinstance(source, Scores):
        if measure is not None and str(measure) != source.measure:
            raise ParameterError(f"measure={str(measure)!r}: these scores are of {source.measure}")
        return source
    if measure is None:
        return reciprocal_ranks_of_all_queries(source, source.cutoff)
    parsed = parse_measure(measure)
    if parsed.NAME == "RR":  # search lengths have it already, if the order among equal scores is the one that it uses
        reciprocal = reciprocal_ranks_of_all_queries(source, parsed.params.get("cutoff"))
        if reciprocal.measure == str(parsed):
            return reciprocal
    return source.scores_of(parsed)


def reciprocal_ranks_of_all_queries(evaluation: Evaluation, cutoff: int | None = None) -> Scores:
    """Return the reciprocal rank as ir_measures averages it: over all queries, 0 without a relevant document.

    Parameters
    ----------
    evaluation : Evaluation
        The runs.
    cutoff : int, optional
        By default the whole lists; of runs that were given as search lengths, the smallest cutoff that they were computed at.
    """
    cutoffs = [limit for limit in (cutoff, *(run.cutoff for run in evaluation.runs)) if limit is not None]
    named = reciprocal_ranks(evaluation.runs, min(cutoffs, default=None))
    values = np.zeros((len(evaluation), len(evaluation.query_ids)))
    values[:, evaluation.answerable] = named.values
    return replace(named, query_ids=evaluation.query_ids, values=values)


def notes_on_source(source: Evaluation | Scores) -> tuple[str, ...]:
    """Say which runs lack queries of the qrels, or have others."""
    return tuple(notes_on_listing(source.runs)) if isinstance(source, Evaluation) else ()


def tiers(better: Bools) -> tuple[list[list[int]], list[list[int]]]:
    """Divide runs into tiers such that no run is better than a run of the same or an earlier tier, except in cycles.

    "Better" need not be transitive, because each pair of runs has its own queries that both answered. Runs that are better than
    each other in a cycle are therefore treated as one. The first tier has the runs that no run is better than, the second those
    that only runs of the first tier are better than, and so on.

    Parameters
    ----------
    better : (n, n) bool array
        ``better[i, j]``: run i is better than run j.

    Returns
    -------
    tiers : list of list of int
        Every run once, the best tier first; ascending within a tier.
    cycles : list of list of int
        The strongly connected components of more than one run.

    Examples
    --------
    >>> beats = np.zeros((4, 4), dtype=bool)
    >>> beats[0, 1] = beats[1, 2] = beats[2, 0] = beats[2, 3] = True
    >>> tiers(beats)
    ([[0, 1, 2], [3]], [[0, 1, 2]])
    """
    from scipy.sparse.csgraph import connected_components

    n_components, component = connected_components(better, directed=True, connection="strong")
    members = [np.flatnonzero(component == number).tolist() for number in range(n_components)]
    beaten_by = np.zeros((n_components, n_components), dtype=bool)
    winners, losers = np.nonzero(better)
    beaten_by[component[losers], component[winners]] = True
    np.fill_diagonal(beaten_by, False)
    remaining = np.ones(n_components, dtype=bool)
    result = []
    while remaining.any():  # without cycles between components there always is one that no other beats
        unbeaten = remaining & ~beaten_by[:, remaining].any(axis=1)
        result.append(sorted(run for number in np.flatnonzero(unbeaten).tolist() for run in members[number]))
        remaining &= ~unbeaten
    return result, [runs for runs in members if len(runs) > 1]


Aggregate = Literal["mean", "median"]


@dataclass(frozen=True)
class Standing:
    """A run's place on a leaderboard.

    Attributes
    ----------
    rank : int
        By the score, from 1; runs with equal scores share the smaller rank.
    run : str
        Its name.
    score : float or None
        Mean or median of the measure; None where it is undefined.
    interval : Interval or None
        Confidence interval of the score at level 1 - alpha: by Student's t of a mean, by order statistics of a median.
    coverage : float or None
        Share of the answerable queries answered (or of their relevant documents found), in percent, higher is better; None
        where only the values of a measure were given.
    tier : int or None
        From 1, the best: no run is better than a run of tier 1, and only runs of earlier tiers are better than a run of a
        later one, except in cycles. None where only the values of a measure were given.
    """

    rank: int
    run: str
    score: float | None
    interval: Interval | None
    coverage: float | None
    tier: int | None


@dataclass(frozen=True)
class Leaderboard(Result):
    """Runs in the order of a measure, and what that order hides; the figures are "tiers", "verdicts" and "history".

    Attributes
    ----------
    measure : str
        What the runs are ordered by.
    higher_is_better : bool
        Its direction.
    aggregate : {"mean", "median"}
        What of the measure is the score.
    alpha : float
        Level of the intervals (1 - alpha) and of the verdicts.
    standings : tuple of Standing
        Best first.
    pairs : sequence of PairVerdict
        Each lower run (the contender) against each higher one (the baseline), see `verdict`; empty where only the values of a
        measure were given.
    cycles : tuple of tuple of str
        Runs that are better than each other in a cycle; all of them are in the same tier.
    history : SotaHistory or None
        Where dates were given.
    n_queries, n_unanswerable : int
        Queries with a relevant document, and without one, which are left out of the verdicts.
    settings : Settings or None
        How the verdicts were reached; None where there are none.
    notes : tuple of str
        Caveats.
    versions : mapping of str to str
        Of ir_outcomes, NumPy, SciPy, ir_measures and Python.
    run_metadata : mapping of str to str
        The ir_metadata headers of the runs that have one, by name, without comment signs: YAML.
    """

    measure: str
    higher_is_better: bool
    aggregate: Aggregate
    alpha: float
    standings: tuple[Standing, ...]
    pairs: Sequence[PairVerdict]
    cycles: tuple[tuple[str, ...], ...]
    history: SotaHistory | None
    n_queries: int
    n_unanswerable: int
    settings: Settings | None
    notes: tuple[str, ...]
    versions: Mapping[str, str]
    run_metadata: Mapping[str, str] = field(default_factory=dict)

    @property
    def tiers(self) -> tuple[tuple[str, ...], ...]:
        """The runs of each tier, the best tier first, in the order of the score; empty where there are no verdicts."""
        last = max(standing.tier or 0 for standing in self.standings)
        return tuple(tuple(standing.run for standing in self.standings if standing.tier == tier) for tier in range(1, last + 1))

    @cached_property
    def _place(self) -> dict[str, int]:
        return {standing.run: place for place, standing in enumerate(self.standings)}

    def verdict(self, baseline: str, contender: str) -> PairVerdict:
        """Return the verdict on a contender against a baseline.

        Raises
        ------
        KeyError
            If there is no such pair.
        """
        places = self._place.get(baseline), self._place.get(contender)
        if None in places or baseline == contender or not self.pairs:
            why = f"the runs are {some(list(self._place), 10)}" if self.pairs else "there are no verdicts on scores"
            raise KeyError(f"{contender} against {baseline}; {why}")
        upper, lower = sorted(place for place in places if place is not None)
        n = len(self.standings)
        pair = self.pairs[upper * n - upper * (upper + 1) // 2 + lower - upper - 1]  # the order of itertools.combinations
        return pair if pair.baseline == baseline else pair.turned()

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run, with its verdict against the run above and against the best."""
        rows: list[dict[str, Any]] = []
        for place, standing in enumerate(self.standings):
            row = cells_of(standing, "rank", "tier", "run") | {"measure": self.measure}
            row |= cells_of(standing, "score", "low=interval.low", "high=interval.high", "coverage")
            for against, other_place in (("above", place - 1), ("best", 0)):
                pair = self.verdict(self.standings[other_place].run, standing.run) if place and self.pairs else None
                row |= cells_of(
                    pair, "run=baseline", "coverage", "coverage_p=coverage_p_corrected", "its_length=baseline_length",
                    "own_length=contender_length", "ranking_p=ranking_p_corrected", "verdict=label", prefix=f"{against}_",
                )  # fmt: skip
            rows.append(row)
        return rows

    def _summary(self) -> str:
        return f"{plural('run', len(self.standings))} by {self.aggregate} {self.measure}, {plural('query', self.n_queries)}"


def leaderboard(
    source: Evaluation | Scores,
    *,
    measure: Any = None,
    aggregate: Aggregate = "mean",
    cutoff: int | None = None,
    alpha: float = 0.05,
    correction: Correction = "holm",
    entries: Any = None,
    progress: bool = False,
) -> Leaderboard:
    """Order runs by a measure, and say what that order hides: verdicts between all pairs, and tiers.

    Parameters
    ----------
    source : Evaluation or Scores
        At least two runs; from `ir_outcomes.evaluate`, or from `ir_outcomes.scores_from_outputs`. Scores have an order and
        intervals, but no verdicts and no tiers.
    measure : Measure or str, optional
        What to order by: a measure of ir_measures, ours or another, see `Evaluation.scores_of`. By default the reciprocal rank
        of the first relevant document at the cutoff, over all queries as ir_measures averages it. Scores have their own.
    aggregate : {"mean", "median"}
        What of the measure to order by.
    cutoff : int, optional
        Cutoff of the verdicts; by default the evaluation's.
    alpha : float
        Level of the verdicts and of the intervals.
    correction : {"holm", "bonferroni", "fdr_bh", "none"}
        Of the verdicts, over all pairs, separately for each facet.
    entries : path, or iterable of mapping, optional
        Dates and groups of the runs, CSV or JSON with the columns ``id``, ``date`` and ``group``; adds the history of the
        state of the art.
    progress : bool
        Show a progress bar over the pairs on stderr.

    Returns
    -------
    Leaderboard

    Raises
    ------
    ParameterError
        If a setting is invalid, there are fewer than two runs, or the measure is not available.
    InputError
        If the entries cannot be read, or lack a run.

    References
    ----------
    Lin et al. 2021, sections 4 and 5, Figure 1; Craswell et al. 2021, section 4. Medians as in Craswell et al. 2021,
    section 4.3.

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
    'worse without gain'
    """
    check_choice("aggregate", aggregate, get_args(Aggregate))
    check_choice("correction", correction, get_args(Correction))
    check_alpha(alpha)
    check_number_of_runs(source)
    if isinstance(source, Scores):
        if cutoff is not None:
            raise ParameterError("cutoff is a setting of the verdicts, and scores have no verdicts; evaluate the runs instead")
        board = _board_of_scores(scores_of(source, measure), aggregate, alpha, entries)
        note = f"Only values of {board.measure} were given: there are no verdicts and no tiers, which need the runs."
        return replace(board, notes=(*board.notes, note))
    evaluation = source if cutoff is None else source.with_cutoff(cutoff)
    check_one_order(evaluation.ties)
    n_pairs = len(evaluation) * (len(evaluation) - 1) // 2
    settings = Settings.of(evaluation, alpha=alpha, correction=correction, family=n_pairs)
    scores = scores_of(evaluation, measure)
    board = _board_of_scores(scores, aggregate, alpha, entries)
    evaluation = evaluation[[standing.run for standing in board.standings]]
    pairs = all_pairs(evaluation, alpha=alpha, correction=correction, progress=progress)
    tier_of, cycles = _tiers(pairs)
    n_answerable = int(evaluation.answerable.sum())
    return replace(
        board,
        standings=tuple(
            replace(standing, coverage=100 * _coverage(run, evaluation.unit), tier=tier_of[run.name])
            for standing, run in zip(board.standings, evaluation.at(), strict=True)
        ),
        pairs=pairs,
        cycles=cycles,
        history=None if board.history is None else _with_verdicts(board.history, evaluation, alpha),
        n_queries=n_answerable,
        n_unanswerable=len(evaluation.query_ids) - n_answerable,
        settings=settings,
        notes=(*board.notes, *_notes(evaluation, scores, cycles)),
        run_metadata=metadata_of(evaluation.runs),
    )


def _board_of_scores(scores: Scores, aggregate: Aggregate, alpha: float, entries: Any) -> Leaderboard:
    """Order runs by their scores, without verdicts."""
    values = _aggregated(scores, aggregate)
    gains = np.where(np.isnan(values), -np.inf, values if scores.higher_is_better else -values)
    ranks = shared_ranks(gains[None])[0]
    order = np.lexsort((np.array(scores.runs), ranks)).tolist()
    defined = {scores.runs[place]: float(values[place]) for place in order if not np.isnan(values[place])}
    history = None
    if entries is not None:
        history = history_of(
            entries_of(entries, defined),
            higher_is_better=scores.higher_is_better,
            score=scores.measure if aggregate == "mean" else f"{aggregate} {scores.measure}",
        )
    return Leaderboard(
        measure=scores.measure,
        higher_is_better=scores.higher_is_better,
        aggregate=aggregate,
        alpha=alpha,
        standings=tuple(
            Standing(
                rank=int(ranks[place]),
                run=scores.runs[place],
                score=defined.get(scores.runs[place]),
                interval=_interval(scores.values[place], aggregate, 1 - alpha),
                coverage=None,
                tier=None,
            )
            for place in order
        ),
        pairs=(),
        cycles=(),
        history=history,
        n_queries=len(scores.query_ids),
        n_unanswerable=0,
        settings=None,
        notes=scores.notes(),
        versions=versions(),
    )


def _aggregated(scores: Scores, aggregate: Aggregate) -> Floats:
    """(n_runs,) means or medians over the queries where the measure is defined; NaN where there are none."""
    if aggregate == "mean":
        return scores.means()
    if aggregate == "median":
        defined = [values[~np.isnan(values)] for values in scores.values]
        return np.array([np.median(values) if len(values) else np.nan for values in defined])
    unreachable(aggregate)


def _interval(values: Floats, aggregate: Aggregate, level: float) -> Interval | None:
    values = values[np.isfinite(values)]
    if aggregate == "mean":
        return mean_interval(values, level, 0.0)
    if aggregate == "median":
        return median_interval(values, level)
    unreachable(aggregate)


def _tiers(pairs: PairVerdicts) -> tuple[dict[str, int], tuple[tuple[str, ...], ...]]:
    """Return the tier of each run, and the cycles."""
    levels, cycles = tiers(pairs.better())
    tier_of = {pairs.names[run]: tier for tier, members in enumerate(levels, 1) for run in members}
    return tier_of, tuple(tuple(pairs.names[run] for run in cycle) for cycle in cycles)


def _coverage(run: SearchLengths, unit: Unit) -> float:
    if unit == "query":
        return run.coverage() or 0.0
    if unit == "document":
        chosen = run.answerable
        return float((run.relevant_retrieved[chosen] / run.relevant[chosen]).mean())
    unreachable(unit)


def _with_verdicts(history: SotaHistory, evaluation: Evaluation, alpha: float) -> SotaHistory:
    """Judge each run that took first place against the one before; the more submissions, the stricter."""
    runs = list(history.runs[:1])
    for previous, run in pairwise(history.runs):
        couple = evaluation[[previous.run, run.run]]
        (verdict,) = all_pairs(couple, alpha=alpha, correction="none", looks=run.looks)
        runs.append(replace(run, verdict=verdict))
    return replace(history, runs=tuple(runs))


def _notes(evaluation: Evaluation, scores: Scores, cycles: tuple[tuple[str, ...], ...]) -> list[str]:
    notes = [
        "Every pair of runs has its own queries that both answered: a run's search length differs from row to row, and "
        '"better" need not be transitive.'
    ]
    n_unanswerable = int((~evaluation.answerable).sum())
    if n_unanswerable and len(scores.query_ids) == len(evaluation.query_ids):
        verb = "counts" if n_unanswerable == 1 else "count"
        notes.append(
            f"{scores.measure} is averaged as ir_measures does: {plural('query', n_unanswerable)} without a relevant document "
            f"{verb}."
        )
    notes += notes_on_listing(evaluation.runs)
    notes += [f"Better than each other in a cycle, and therefore in one tier: {', '.join(cycle)}." for cycle in cycles]
    notes += _notes_on_depth(evaluation, scores.measure)
    return notes


def _notes_on_depth(evaluation: Evaluation, measure: str) -> list[str]:
    """Say where no list, or no list of some runs, is as long as the cutoff."""
    if evaluation.judged_only:  # every list ends where its judged documents end
        return []
    cutoff = evaluation.cutoff
    depths = {run.name: min(run.depth, cutoff) for run in evaluation}
    deepest = max(depths.values())
    notes = []
    if deepest < cutoff:
        renamed = f", and {measure} is {measure.replace(f'@{cutoff}', f'@{deepest}')}" if f"@{cutoff}" in measure else ""
        notes.append(f"No run is deeper than {deepest}: the cutoff {cutoff} is in effect {deepest}{renamed}.")
    shallow = [name for name, depth in depths.items() if depth < min(cutoff, deepest)]
    if shallow:
        notes.append(
            f"{some(shallow)}: no list reaches the cutoff of {cutoff}; coverage at unequal depth favours the deeper runs. Use "
            f"the common depth: cutoff={min(depths.values())}."
        )
    return notes
