"""How stable the order of runs is: ranks over resamples of the queries."""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes.choices import Count, Positive, Share, or_none
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.files import with_progress
from ir_outcomes.leaderboards.ordering import (
    notes_on_source,
    order_of,
    scores_of,
    with_several_systems,
)
from ir_outcomes.notes import as_notes
from ir_outcomes.results import HasFigures, Result
from ir_outcomes.statistics.resampling import (
    kendall_taus,
    resampled_means,
    shared_ranks,
    units_drawn,
)
from ir_outcomes.table_columns import NUMBER, Column, attributes, decimals, rows_of


@dataclass(frozen=True)
class RankedRun:
    """The rank of a run on all queries, and its ranks over the resamples."""

    run: str  #: its name
    score: float | None  #: mean of the measure over all queries; None where it is undefined
    rank: int  #: by that mean, from 1; runs with the same mean share the smaller rank
    counts: tuple[int, ...]  #: number of resamples in which it had rank 1, 2, ...
    expected_rank: float  #: mean rank over the resamples, lower is better
    low: float  #: interval of the rank at the level of the result: ranks that occur, at the quantiles over the resamples
    high: float  #: its upper end
    first: float  #: share of the resamples in which it was first, alone or shared
    top: float  #: share in which it was among the top k
    #: Share in which it was strictly above each run, in the order of the result.
    above: tuple[float, ...]


RANK_COLUMNS = (
    Column("rank", heading=" ", form=NUMBER),
    Column("run"),
    Column("score", heading="mean", form=decimals(4)),
    Column("expected_rank", heading="expected", form=decimals(2)),
)


@dataclass(frozen=True)
class RankDistribution(HasFigures, Result):
    """Ranks over bootstrap resamples, with the figure "ranks".

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
        Kendall's tau-b of the order in each resample with the order on all queries; None where all
        runs are tied.
    n_queries : int
        Size of each resample.
    resamples, seed : int
        Number of resamples, and the seed of the random numbers.
    top_k : int
        The k of `RankedRun.top`.
    level : float
        Of the intervals.
    notes : tuple of str
        Caveats.
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

    def __getitem__(self, name: str) -> RankedRun:
        """Return the ranks of a run."""
        for run in self.runs:
            if run.run == name:
                return run
        raise KeyError(name)

    @property
    def median_tau(self) -> float | None:
        """Median of `taus`, or None where all runs are tied in every resample."""
        taus = [tau for tau in self.taus if tau is not None]
        return float(np.median(taus)) if taus else None

    def place_shares(self, places: Positive = 5) -> dict[str, tuple[float, ...]]:
        """Return shares of the resamples with rank 1, 2, ... (Craswell et al. 2021)."""
        return {
            run.run: tuple(number / self.resamples for number in run.counts[:places])
            for run in self.runs
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run, with the number of resamples for each rank."""
        reached = [
            rank for rank in range(len(self.runs)) if any(run.counts[rank] for run in self.runs)
        ]
        columns = (
            Column("condition", lambda _: self.condition),
            Column("measure", lambda _: self.measure),
            *RANK_COLUMNS,
            *attributes("low", "high", "first", f"top_{self.top_k}=top"),
        )
        rows = rows_of(columns, self.runs)
        for row, run in zip(rows, self.runs, strict=True):
            row |= {f"rank_{rank + 1}": run.counts[rank] for rank in reached}
        return rows


def rank_distribution(
    source: Evaluation,
    *,
    measure: Any = None,
    queries: Iterable[str] | str | os.PathLike[str] | None = None,
    resamples: Positive = 1000,
    seed: Count = 0,
    top_k: Positive = 5,
    level: Share = 0.95,
    condition: str = "",
    progress: bool = False,
) -> RankDistribution:
    """Rank the runs on many samples of the queries, drawn with replacement.

    Parameters
    ----------
    source : Evaluation
        At least two runs.
    measure : Measure or str, optional
        As in `leaderboard`; values of another tool have their own.
    queries : iterable of str, or path, optional
        Use only these; a file has one id on each line.
    resamples, seed : int
        Number of resamples, and the seed of the random numbers.
    top_k : int
        Report the share of resamples in which a run is among the top k.
    level : float
        Of the intervals of ranks.
    condition : str
        Name of this condition.
    progress : bool
        On stderr.

    Raises
    ------
    ParameterError
        If a setting is invalid, there are fewer than two runs, or the measure is not available.
    MismatchError
        If a query is missing.

    References
    ----------
    Craswell et al. 2021, section 4.1, Tables 1 and 2, Figures 3 and 4, after Caruana et al. 2004;
    the interval, the share of first places and the tau of each resample as in challengeR
    (Wiesenfarth et al. 2021).

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(20)}
    >>> good = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> poor = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> result = rank_distribution(evaluate(qrels, {"good": good, "poor": poor}))
    >>> [(run.run, run.expected_rank, run.first) for run in result.runs]
    [('good', 1.0, 1.0), ('poor', 2.0, 0.0)]
    """
    evaluation = with_several_systems(source)
    scores = scores_of(evaluation, measure).on(queries)
    ranks_on_all, order = order_of(scores.means(), scores.higher_is_better)
    ranks_on_all = ranks_on_all[order]
    scores = scores.take(order.tolist())
    n_runs, n_queries = scores.values.shape
    notes = [*scores.notes(), *notes_on_source(evaluation)]
    units = units_drawn(scores.query_ids, scores.clusters)
    if scores.clusters is not None:
        notes = [f"Resamples are of {int(units.max()) + 1} clusters of queries.", *notes]
    blocks = with_progress(
        resampled_means(scores.gains(), units, resamples, seed),
        "resample",
        resamples,
        shown=progress,
        size=len,
    )
    ranks = np.concatenate([shared_ranks(means) for means in blocks])
    counts = np.stack(
        [np.bincount(ranks[:, run], minlength=n_runs + 1)[1:] for run in range(n_runs)]
    )
    above = np.empty((n_runs, n_runs))
    for run in range(n_runs):
        above[run] = (ranks[:, run, None] < ranks).mean(axis=0)
    ends = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(ranks, ends, axis=0, method="inverted_cdf")
    means = list(map(or_none, scores.means()))
    expected = ranks.mean(axis=0)
    runs = [
        RankedRun(
            run=name,
            score=means[run],
            rank=int(ranks_on_all[run]),
            counts=tuple(counts[run].tolist()),
            expected_rank=float(expected[run]),
            low=float(low[run]),
            high=float(high[run]),
            first=float(counts[run, 0] / resamples),
            top=float(counts[run, :top_k].sum() / resamples),
            above=tuple(above[run].tolist()),
        )
        for run, name in enumerate(scores.runs)
    ]
    return RankDistribution(
        measure=scores.measure,
        higher_is_better=scores.higher_is_better,
        condition=condition,
        runs=tuple(runs),
        taus=tuple(map(or_none, kendall_taus(-ranks_on_all, -ranks))),
        n_queries=n_queries,
        resamples=resamples,
        seed=seed,
        top_k=top_k,
        level=level,
        notes=as_notes(notes),
    )
