"""The leaderboard: runs in the order of a measure, and what that order hides."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from ir_outcomes._checks import check_choice
from ir_outcomes._formatting import plural
from ir_outcomes._types import Ties, Unit
from ir_outcomes.comparison.settings import FamilyCorrection, Settings
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluate import evaluate, notes_on_listing, task_of, unit_of
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.scores import Scores, reciprocal_ranks, scores
from ir_outcomes.leaderboards.history import SotaHistory, entries_of, history_of, with_verdicts
from ir_outcomes.leaderboards.pairs import PairVerdict, all_pairs
from ir_outcomes.leaderboards.tiers import tiers
from ir_outcomes.reading.several import runs_and_names
from ir_outcomes.results import Result, versions
from ir_outcomes.statistics import Interval, mean_interval
from ir_outcomes.statistics.orders import shared_ranks

__all__ = ["Leaderboard", "Standing", "leaderboard"]


@dataclass(frozen=True)
class Standing:
    """A run's place on a leaderboard.

    Attributes
    ----------
    rank : int
        By the measure, from 1; runs with equal means share the smaller rank.
    run : str
        Its name.
    score : float or None
        Mean of the measure; None where it is undefined.
    interval : Interval or None
        Student t interval of that mean at level 1 - alpha.
    coverage : float
        Share of the answerable queries answered (or of their relevant documents found), in percent, higher is better.
    tier : int
        From 1, the best; nothing in a tier's own or a later tier is better than it, but for cycles.
    """

    rank: int
    run: str
    score: float | None
    interval: Interval | None
    coverage: float
    tier: int


@dataclass(frozen=True)
class Leaderboard(Result):
    """Runs in the order of a measure, and what that order hides; the pictures are "tiers", "verdicts" and "history".

    Attributes
    ----------
    measure : str
        What the runs are ordered by.
    higher_is_better : bool
        Its direction.
    standings : tuple of Standing
        Best first.
    pairs : tuple of PairVerdict
        Every lower run (the contender) against every higher one (the baseline); see `verdict`.
    cycles : tuple of tuple of str
        Runs that are better than each other in a circle; each stands within one tier.
    history : SotaHistory or None
        Where dates were given.
    n_queries, n_unanswerable : int
        Queries compared, and left out of the verdicts.
    settings : Settings
        How the verdicts were made.
    notes : tuple of str
        What a careful reader must know.
    versions : dict of str to str
        Of ir_outcomes, NumPy, SciPy, ir_measures and Python.
    """

    measure: str
    higher_is_better: bool
    standings: tuple[Standing, ...]
    pairs: tuple[PairVerdict, ...]
    cycles: tuple[tuple[str, ...], ...]
    history: SotaHistory | None
    n_queries: int
    n_unanswerable: int
    settings: Settings
    notes: tuple[str, ...]
    versions: dict[str, str]

    @property
    def tiers(self) -> tuple[tuple[str, ...], ...]:
        """The runs of each tier, the best tier first, in the order of the measure."""
        last = max(each.tier for each in self.standings)
        return tuple(tuple(each.run for each in self.standings if each.tier == tier) for tier in range(1, last + 1))

    def verdict(self, baseline: str, contender: str) -> PairVerdict:
        """Return the verdict on a contender against a baseline.

        Raises
        ------
        KeyError
            If there is no such pair.
        """
        for pair in self.pairs:
            if (pair.baseline, pair.contender) == (baseline, contender):
                return pair
            if (pair.baseline, pair.contender) == (contender, baseline):
                return pair.turned()
        raise KeyError(f"{contender} against {baseline}; the runs are {', '.join(each.run for each in self.standings)}")

    def _summary(self) -> str:
        counts = f"{plural('query', self.n_queries)}, {plural('tier', len(self.tiers))}"
        return f"{plural('run', len(self.standings))} by {self.measure}, {counts}"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run, with its verdict against the run above and against the best."""
        rows: list[dict[str, Any]] = []
        for place, each in enumerate(self.standings):
            row = {
                "rank": each.rank,
                "tier": each.tier,
                "run": each.run,
                "measure": self.measure,
                "score": each.score,
                "low": None if each.interval is None else each.interval.low,
                "high": None if each.interval is None else each.interval.high,
                "coverage": each.coverage,
            }
            for against, other in (("above", place - 1), ("best", 0)):
                pair = self.verdict(self.standings[other].run, each.run) if place else None
                row |= {
                    f"{against}_run": None if pair is None else pair.baseline,
                    f"{against}_coverage": None if pair is None else pair.coverage,
                    f"{against}_coverage_p": None if pair is None else pair.coverage_p_corrected,
                    f"{against}_its_length": None if pair is None else pair.baseline_length,
                    f"{against}_own_length": None if pair is None else pair.contender_length,
                    f"{against}_ranking_p": None if pair is None else pair.ranking_p_corrected,
                    f"{against}_verdict": None if pair is None else pair.label,
                }
            rows.append(row)
        return rows


def leaderboard(
    qrels: Any,
    runs: Any,
    *,
    measure: Any = None,
    cutoff: int | None = None,
    rel: int | None = None,
    unit: Literal["auto", "query", "document"] = "auto",
    ties: Ties = "trec",
    judged_only: bool = False,
    alpha: float = 0.05,
    correction: FamilyCorrection = "holm",
    entries: Any = None,
    names: Sequence[str] | None = None,
    higher_is_better: bool | None = None,
    seed: int = 0,
    resamples: int = 99_999,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Leaderboard:
    """Order runs by a measure, and say what that order hides: verdicts between all pairs, and tiers.

    Parameters
    ----------
    qrels : Qrels, path, Task or its dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels` and `ir_outcomes.load`.
    runs : list, or dict from names to runs
        See `ir_outcomes.as_run`; at least two. Search lengths serve where no `measure` is named.
    measure : Measure or str, optional
        What to order by, any measure of ir_measures, ours or another. By default the reciprocal rank of the first relevant
        document under the settings of the verdicts.
    cutoff, rel, unit, ties, judged_only, alpha
        Settings of the verdicts; see `ir_outcomes.compare`.
    correction : {"holm", "bonferroni", "fdr_bh", "none"}
        Over all pairs, separately per facet.
    entries : path, or iterable of mapping, optional
        Dates and groups of the runs, CSV or JSON with the columns ``id``, ``date`` and ``group``; adds the history of the
        state of the art.
    names : sequence of str, optional
        Names of the runs.
    higher_is_better : bool, optional
        Direction of a measure that is not known here.
    seed, resamples : int
        Of the sign-flip test where it cannot be exact.
    n_jobs : int or None
        Files evaluated at a time; see `ir_outcomes.evaluate`.
    cache : path, optional
        A folder that keeps what was found in run files; see `ir_outcomes.evaluate`.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    Leaderboard

    Raises
    ------
    ParameterError
        If a setting makes no sense or there are fewer than two runs.
    InputError
        If something cannot be read or does not belong together.

    References
    ----------
    Lin et al. 2021, sections 4 and 5, Figure 1; Craswell et al. 2021, section 4.

    Examples
    --------
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(20)}
    >>> good = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> poor = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> board = leaderboard(qrels, {"poor": poor, "good": good})
    >>> [(each.rank, each.run, each.score, each.tier) for each in board.standings]
    [(1, 'good', 1.0, 1), (2, 'poor', 0.5, 2)]
    >>> board.verdict("good", "poor").label
    'worse without gain'
    """
    task = task_of(qrels)
    check_choice("unit", unit, ("auto", *get_args(Unit)))
    check_choice("ties", ties, get_args(Ties))
    if correction == "tukey":
        raise ParameterError("correction='tukey' is for compare(all_pairs=True, unit='query'); use 'holm' here")
    check_choice("correction", correction, tuple(each for each in get_args(FamilyCorrection) if each != "tukey"))
    items, given = runs_and_names(runs, names)
    if len(items) < 2:
        raise ParameterError("there is one run only; a leaderboard needs at least two")
    settings = Settings(
        cutoff=cutoff if cutoff is not None else task.cutoff if task else 100,
        rel=rel if rel is not None else task.rel if task else 1,
        unit="query" if unit == "auto" else unit,
        ties=ties,
        judged_only=judged_only,
        alpha=alpha,
        test="t",
        coverage_test="exact",
        correction=correction,
        family=len(items) * (len(items) - 1) // 2,
        margins=None,
        seed=seed,
        resamples=resamples,
    )
    judgments = task.qrels if task else qrels
    tables = evaluate(
        judgments,
        items,
        names=given,
        cutoff=settings.cutoff,
        rel=settings.rel,
        ties=ties,
        judged_only=judged_only,
        n_jobs=n_jobs,
        cache=cache,
        progress=progress,
    )
    settings = replace(settings, unit=unit_of(unit, task, tables[0]))
    if measure is None:
        table = reciprocal_ranks(tables)
    else:
        called = [each.name for each in tables]
        (table,) = scores(
            judgments,
            items,
            [measure],
            names=called,
            higher_is_better=higher_is_better,
            n_jobs=n_jobs,
            progress=progress,
        )
    return _board(tables, table, settings, entries)


def _board(tables: list[SearchLengths], table: Scores, settings: Settings, entries: Any) -> Leaderboard:
    means = table.means()
    gains = np.where(np.isnan(means), -np.inf, means if table.higher_is_better else -means)
    ranks = shared_ranks(gains[None])[0]
    order = np.lexsort((np.array(table.runs), ranks)).tolist()
    tables, means, ranks = [tables[run] for run in order], means[order], ranks[order]
    pairs = all_pairs(
        tables,
        settings.unit,
        alpha=settings.alpha,
        correction=settings.correction,
    )
    names = [each.name for each in tables]
    better = np.zeros((len(names), len(names)), dtype=bool)
    place = {name: number for number, name in enumerate(names)}
    for pair in pairs:
        one, other = place[pair.baseline], place[pair.contender]
        better[other, one] = pair.label.startswith("better")
        better[one, other] = pair.label.startswith("worse")
    levels, cycles = tiers(better)
    tier_of = {run: tier for tier, members in enumerate(levels, 1) for run in members}
    answerable = tables[0].answerable
    standings = []
    for run, each in enumerate(tables):
        values = table.values[order[run]]
        standings.append(
            Standing(
                rank=int(ranks[run]),
                run=each.name,
                score=None if np.isnan(means[run]) else float(means[run]),
                interval=mean_interval(values[np.isfinite(values)], 1 - settings.alpha),
                coverage=100 * _coverage(each, settings.unit),
                tier=tier_of[run],
            )
        )
    circles = tuple(tuple(names[run] for run in cycle) for cycle in cycles)
    history = None if entries is None else _history(entries, standings, tables, table, settings)
    return Leaderboard(
        measure=table.measure,
        higher_is_better=table.higher_is_better,
        standings=tuple(standings),
        pairs=tuple(pairs),
        cycles=circles,
        history=history,
        n_queries=int(answerable.sum()),
        n_unanswerable=int((~answerable).sum()),
        settings=settings,
        notes=(*table.notes(), *_notes(tables, table, circles, settings)),
        versions=versions(),
    )


def _coverage(table: SearchLengths, unit: Unit) -> float:
    if unit == "query":
        return table.coverage() or 0.0
    chosen = table.answerable
    return float((table.relevant_retrieved[chosen] / table.relevant[chosen]).mean())


def _history(
    entries: Any, standings: list[Standing], tables: list[SearchLengths], table: Scores, settings: Settings
) -> SotaHistory:
    scored = {each.run: each.score for each in standings if each.score is not None}
    history = history_of(entries_of(entries, scored), higher_is_better=table.higher_is_better, score=table.measure)
    by_name = {each.name: each for each in tables}
    verdicts = {}
    for before, each in zip(history.runs[:-1], history.runs[1:], strict=True):
        (pair,) = all_pairs(
            [by_name[before.run], by_name[each.run]],
            settings.unit,
            alpha=settings.alpha,
            correction="none",
            looks=each.looks,
        )
        verdicts[before.run, each.run] = pair
    return with_verdicts(history, verdicts)


def _notes(tables: list[SearchLengths], table: Scores, cycles: tuple[tuple[str, ...], ...], settings: Settings) -> list[str]:
    notes = [
        "Every pair of runs has its own queries that both answered: a run's search length differs from row to row, and "
        '"better" need not be transitive.'
    ]
    unanswerable = int((~tables[0].answerable).sum())
    if unanswerable and len(table.query_ids) == len(tables[0].query_ids):
        notes.append(
            f"{table.measure} is averaged as ir_measures does: {unanswerable} queries without a relevant document count."
        )
    notes += notes_on_listing(tables)
    notes += [f"Better than each other in a circle, and so in one tier: {', '.join(cycle)}." for cycle in cycles]
    cutoff = settings.cutoff or 0
    shallow = [each.name for each in tables if 0 < each.retrieved.max() < cutoff]
    if shallow and len(shallow) < len(tables):
        notes.append(
            f"{some(shallow)}: no list reaches the cutoff of {cutoff}; coverage at unequal depth favours the deeper runs. "
            f"Use the common depth: cutoff={min(int(each.retrieved.max()) for each in tables)}."
        )
    return notes
