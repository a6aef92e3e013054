"""How stable is the order of runs: the distribution of ranks over bootstrap resamples of the queries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes._checks import check_positive
from ir_outcomes._formatting import plural
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluate import evaluate, task_of
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.scores import Scores, default_measure, reciprocal_ranks, scores
from ir_outcomes.reading.several import runs_and_names
from ir_outcomes.results import Result, versions
from ir_outcomes.statistics.checks import check_draws
from ir_outcomes.statistics.counts import times_drawn
from ir_outcomes.statistics.orders import kendall_taus, shared_ranks

__all__ = ["RankDistribution", "RankedRun", "rank_distribution"]

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class RankedRun:
    """A run's place, and where it lands when the queries are drawn anew.

    Attributes
    ----------
    run : str
        Its name.
    score : float or None
        Mean of the measure over all queries; None where it is undefined.
    rank : int
        By that mean, from 1; runs with the same mean share the smaller rank.
    counts : tuple of int
        In how many resamples it had rank 1, 2, ...
    expected_rank : float
        Mean rank over the resamples, lower is better.
    low, high : float
        Interval of the rank at the level of the result: ranks reached, at the quantiles over the resamples.
    first : float
        Share of the resamples in which it was first, alone or shared.
    top : float
        Share in which it was among the top k.
    above : tuple of float
        Share in which it was strictly above each run, in the order of the result.
    """

    run: str
    score: float | None
    rank: int
    counts: tuple[int, ...]
    expected_rank: float
    low: float
    high: float
    first: float
    top: float
    above: tuple[float, ...]


@dataclass(frozen=True)
class RankDistribution(Result):
    """Ranks over bootstrap resamples; the pictures are "blobs" and "tau".

    Attributes
    ----------
    measure : str
        What the runs are ranked by.
    higher_is_better : bool
        Its direction.
    condition : str
        What distinguishes this distribution from others of the same runs: labels, queries.
    runs : tuple of RankedRun
        Best first.
    taus : tuple of float or None
        Kendall's tau-b of each resample's order with the order on all queries; None where all runs tie.
    n_queries : int
        Size of each resample.
    resamples, seed : int
        How many, and drawn from which seed.
    top_k : int
        The k of `RankedRun.top`.
    level : float
        Of the intervals.
    notes : tuple of str
        What a careful reader must know.
    versions : dict of str to str
        Of ir_outcomes, NumPy, SciPy, ir_measures and Python.
    """

    measure: str
    higher_is_better: bool
    condition: str
    runs: tuple[RankedRun, ...]
    taus: tuple[float | None, ...]
    n_queries: int
    resamples: int
    seed: int
    top_k: int
    level: float
    notes: tuple[str, ...]
    versions: dict[str, str]

    def __getitem__(self, run: str) -> RankedRun:
        for each in self.runs:
            if each.run == run:
                return each
        raise KeyError(f"{run}; the runs are {', '.join(each.run for each in self.runs)}")

    @property
    def median_tau(self) -> float | None:
        """Median of `taus`, between -1 and 1, higher is more stable; None where there is none."""
        defined = [tau for tau in self.taus if tau is not None]
        return float(np.median(defined)) if defined else None

    def _summary(self) -> str:
        counts = f"{plural('resample', self.resamples)} of {plural('query', self.n_queries)}"
        return f"{plural('run', len(self.runs))} by {self.measure}, {counts}"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run, with a column for each rank that any run reached."""
        reached = [rank for rank in range(len(self.runs)) if any(each.counts[rank] for each in self.runs)]
        return [
            {
                "condition": self.condition,
                "measure": self.measure,
                "rank": each.rank,
                "run": each.run,
                "score": each.score,
                "expected_rank": each.expected_rank,
                "low": each.low,
                "high": each.high,
                "first": each.first,
                f"top_{self.top_k}": each.top,
                **{f"rank_{rank + 1}": each.counts[rank] for rank in reached},
            }
            for each in self.runs
        ]


def rank_distribution(
    qrels: Any,
    runs: Any,
    *,
    measure: Any = None,
    queries: Iterable[str] | str | os.PathLike[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    top_k: int = 5,
    level: float = 0.95,
    names: Sequence[str] | None = None,
    higher_is_better: bool | None = None,
    condition: str = "",
    n_jobs: int | None = 1,
    progress: bool = False,
) -> RankDistribution:
    """Rank the runs again and again on queries drawn with replacement.

    Conditions such as public and private queries, or sparse and dense labels, are one call each; see also
    `ir_outcomes.leaderboards.stability.distribution_of` for scores that are already computed.

    Parameters
    ----------
    qrels : Qrels, path, Task or its dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels` and `ir_outcomes.load`.
    runs : list, or dict from names to runs
        See `ir_outcomes.as_run`; at least two. Search lengths are ordered by their reciprocal ranks, where no measure is named.
    measure : Measure or str, optional
        Any measure of ir_measures, ours or another; its own direction counts. By default the reciprocal rank, at the task's
        least grade of a relevant document where `qrels` is one.
    queries : iterable of str, or path, optional
        Use only these queries; a file has an id on each line.
    resamples, seed : int
        How many resamples, and the seed they are drawn from.
    top_k : int
        Report the share of resamples in which a run is among the top k.
    level : float
        Of the intervals of ranks.
    names : sequence of str, optional
        Names of the runs.
    higher_is_better : bool, optional
        Direction of a measure that is not known here.
    condition : str
        What to call this condition.
    n_jobs, progress
        See `ir_outcomes.evaluate`.

    Returns
    -------
    RankDistribution

    Raises
    ------
    ParameterError
        If a setting makes no sense or there are fewer than two runs.
    InputError
        If something cannot be read.

    References
    ----------
    Craswell et al. 2021, section 4.1, Tables 1 and 2, Figures 3 and 4, after Caruana et al. 2004; the interval, the share of
    first places and tau of each resample as in challengeR (Wiesenfarth et al. 2021).

    Examples
    --------
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(20)}
    >>> good = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> poor = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> result = rank_distribution(qrels, {"good": good, "poor": poor})
    >>> [(run.run, run.expected_rank, run.first) for run in result.runs]
    [('good', 1.0, 1.0), ('poor', 2.0, 0.0)]
    """
    items, given = runs_and_names(runs, names)
    if measure is None and all(isinstance(run, SearchLengths) for run in items):
        first = items[0]
        settings = {name: getattr(first, name) for name in ("cutoff", "rel", "ties", "judged_only")}
        task = task_of(qrels)
        table = reciprocal_ranks(evaluate(task.qrels if task else qrels, items, names=given, **settings))
        return distribution_of(table.on(queries), resamples=resamples, seed=seed, top_k=top_k, level=level, condition=condition)
    chosen = default_measure(qrels) if measure is None else measure
    (table,) = scores(qrels, runs, [chosen], names=names, higher_is_better=higher_is_better, n_jobs=n_jobs, progress=progress)
    return distribution_of(table.on(queries), resamples=resamples, seed=seed, top_k=top_k, level=level, condition=condition)


def distribution_of(
    table: Scores, *, resamples: int = 1000, seed: int = 0, top_k: int = 5, level: float = 0.95, condition: str = ""
) -> RankDistribution:
    """Do the same with scores that are already computed; see `rank_distribution`."""
    check_draws(seed, resamples)
    check_positive("top_k", top_k)
    if not 0 < level < 1:
        raise ParameterError(f"level={level!r}: must be between 0 and 1")
    n_runs, n_queries = table.values.shape
    if n_runs < 2:
        raise ParameterError("there is one run only; an order needs at least two")
    full = _means(table.gains(), np.ones((1, n_queries)))
    full_ranks = shared_ranks(full)[0]
    order = np.lexsort((np.array(table.runs), full_ranks))
    gains, full_ranks = table.gains()[order], full_ranks[order]

    rng = np.random.default_rng(seed)
    counts = np.zeros((n_runs, n_runs + 1), dtype=np.int64)
    above = np.zeros((n_runs, n_runs), dtype=np.int64)
    ranks = np.empty((resamples, n_runs), dtype=np.int64)
    batch = max(1, (1 << 16) // max(n_queries, n_runs))  # so many resamples at a time as stay in the processor's cache
    for start in range(0, resamples, batch):
        rows = min(batch, resamples - start)
        ranks[start : start + rows] = shared_ranks(_means(gains, times_drawn(rng, rows, n_queries)))
    for run in range(n_runs):
        counts[run] = np.bincount(ranks[:, run], minlength=n_runs + 1)
        above[run] = (ranks[:, run, None] < ranks).sum(axis=0)
    lows, highs = np.quantile(ranks, [(1 - level) / 2, (1 + level) / 2], axis=0, method="inverted_cdf")
    means = table.means()[order]
    taus = kendall_taus(-full_ranks, -ranks)
    return RankDistribution(
        measure=table.measure,
        higher_is_better=table.higher_is_better,
        condition=condition,
        runs=tuple(
            RankedRun(
                run=table.runs[order[place]],
                score=None if np.isnan(means[place]) else float(means[place]),
                rank=int(full_ranks[place]),
                counts=tuple(counts[place, 1:].tolist()),
                expected_rank=float(ranks[:, place].mean()),
                low=float(lows[place]),
                high=float(highs[place]),
                first=float(counts[place, 1] / resamples),
                top=float(counts[place, 1 : top_k + 1].sum() / resamples),
                above=tuple((above[place] / resamples).tolist()),
            )
            for place in range(n_runs)
        ),
        taus=tuple(None if np.isnan(tau) else float(tau) for tau in taus),
        n_queries=n_queries,
        resamples=resamples,
        seed=seed,
        top_k=top_k,
        level=level,
        notes=table.notes(),
        versions=versions(),
    )


def _means(gains: Floats, times: Floats) -> Floats:
    """Mean of each run in each resample, over the queries where it is defined; -inf, the last place, where there are none."""
    defined = ~np.isnan(gains)
    totals = times @ np.where(defined, gains, 0.0).T
    if defined.all():
        means: Floats = totals / times.sum(axis=1, keepdims=True)
        return means
    numbers = times @ defined.T.astype(np.float64)
    defined_means: Floats = np.divide(totals, numbers, out=np.full(totals.shape, -np.inf), where=numbers > 0)
    return defined_means
