"""How stable is the order of the runs: the distribution of ranks over bootstrap resamples of the queries."""

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.formatting import plural, with_progress
from ir_outcomes.leaderboards.board import Leaderboard, Standing
from ir_outcomes.leaderboards.history import SotaHistory
from ir_outcomes.leaderboards.ordering import (
    check_number_of_runs,
    defined,
    notes_on_source,
    order_of,
    scores_of,
)
from ir_outcomes.notes import as_notes
from ir_outcomes.reading.runs import check_names
from ir_outcomes.reading.tables import Entry
from ir_outcomes.results import Result
from ir_outcomes.statistics.counts import kendall_taus, shared_ranks, times_drawn
from ir_outcomes.table_columns import NUMBER, Column, attributes, decimals, rows_of
from ir_outcomes.types import Floats, Ints, check_draws, check_kind, check_number, check_positive


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
class RankDistribution(Result):
    """Ranks over bootstrap resamples; the figure is "ranks".

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
        """Median of `taus`; None where all runs are tied in every resample."""
        taus = [tau for tau in self.taus if tau is not None]
        return float(np.median(taus)) if taus else None

    def place_shares(self, places: int = 5) -> dict[str, tuple[float, ...]]:
        """Return the share of the resamples in which each run had rank 1, 2, ...: Tables 1 and 2 of Craswell et al. 2021."""
        return {
            run.run: tuple(number / self.resamples for number in run.counts[:places])
            for run in self.runs
        }

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run, with the number of resamples for each rank that occurs."""
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
    source: Evaluation | Scores,
    *,
    measure: Any = None,
    queries: Iterable[str] | str | os.PathLike[str] | None = None,
    resamples: int = 1000,
    seed: int = 0,
    top_k: int = 5,
    level: float = 0.95,
    condition: str = "",
    progress: bool = False,
) -> RankDistribution:
    """Rank the runs on many samples of the queries (or of their clusters), drawn with replacement.

    Parameters
    ----------
    source : Evaluation or Scores
        At least two runs.
    measure : Measure or str, optional
        As in `leaderboard`; scores have their own.
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
    check_draws(seed, resamples)
    check_positive("top_k", top_k)
    check_number("level", level)
    check_number_of_runs(source)
    scores = scores_of(source, measure).on(queries)
    ranks_on_all, order = order_of(scores)
    ranks_on_all = ranks_on_all[order]
    scores = scores.take(order.tolist())
    n_runs, n_queries = scores.values.shape
    notes = [*scores.notes(), *notes_on_source(source)]
    units = np.arange(n_queries)
    if scores.clusters is not None:
        units = np.unique(scores.clusters, return_inverse=True)[1]
        notes = [f"Resamples are of {int(units.max()) + 1} clusters of queries.", *notes]
    ranks = _ranks_of_resamples(scores.gains(), units, resamples, seed, progress)
    counts = np.stack(
        [np.bincount(ranks[:, run], minlength=n_runs + 1)[1:] for run in range(n_runs)]
    )
    above = np.empty((n_runs, n_runs))
    for run in range(n_runs):
        above[run] = (ranks[:, run, None] < ranks).mean(axis=0)
    ends = [(1 - level) / 2, (1 + level) / 2]
    low, high = np.quantile(ranks, ends, axis=0, method="inverted_cdf")
    means = defined(scores.means())
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
        taus=tuple(defined(kendall_taus(-ranks_on_all, -ranks))),
        n_queries=n_queries,
        resamples=resamples,
        seed=seed,
        top_k=top_k,
        level=level,
        notes=as_notes(notes),
    )


def _ranks_of_resamples(
    gains: Floats, units: Ints, resamples: int, seed: int, progress: bool
) -> Ints:
    """(resamples, n_runs) ranks, from 1; what is drawn are the units that the queries belong to."""
    is_known = ~np.isnan(gains)
    filled = np.where(is_known, gains, 0.0).T
    rng = np.random.default_rng(seed)
    ranks = np.empty((resamples, len(gains)), dtype=np.int64)
    # Larger arrays would not stay in the processor's cache.
    batch = max(1, (1 << 16) // max(gains.shape))
    batches = [slice(start, min(start + batch, resamples)) for start in range(0, resamples, batch)]
    for rows in with_progress(
        batches, "resample", resamples, shown=progress, size=lambda rows: rows.stop - rows.start
    ):
        times = times_drawn(rng, rows.stop - rows.start, int(units.max()) + 1)[:, units]
        # Means over the queries where the measure is defined, each as often as it was drawn.
        if is_known.all():
            numbers = times.sum(axis=1, keepdims=True)
        else:
            numbers = times @ is_known.T.astype(np.float64)
        means = np.full((len(times), len(gains)), -np.inf)
        np.divide(times @ filled, numbers, out=means, where=numbers > 0)
        ranks[rows] = shared_ranks(means)
    return ranks


@dataclass(frozen=True)
class RanksOfRun:
    """The rank of a run under two conditions, among the runs that both have."""

    run: str  #: its name
    first: int  #: its rank under the first, from 1; runs with the same score share the smaller rank
    second: int  #: its rank under the second


@dataclass(frozen=True)
class RankCorrelation(Result):
    """Kendall's tau between the orders of the same runs under two conditions.

    Attributes
    ----------
    first, second : str
        The conditions.
    tau : float or None
        Kendall's tau-b, between -1 and 1, higher is more alike; None where all runs are tied in one
        condition.
    swapped : int
        Number of pairs of runs that stand in opposite order.
    runs : tuple of RanksOfRun
        The runs that both conditions have, in the order of the first.
    notes : tuple of str
        Caveats.
    """

    first: str
    second: str
    tau: float | None
    swapped: int
    runs: tuple[RanksOfRun, ...]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run."""
        return [
            {
                "run": run.run,
                "first": self.first,
                "rank_first": run.first,
                "second": self.second,
                "rank_second": run.second,
            }
            for run in self.runs
        ]


def rank_correlation(
    first: Any, second: Any, *, names: tuple[str, str] | None = None
) -> RankCorrelation:
    """Compute Kendall's tau between the orders of the same runs under two conditions.

    Parameters
    ----------
    first, second : RankDistribution, Leaderboard, SotaHistory, Scores, or mapping of str to float
        The scores of the runs. The numbers of a mapping are better when higher. Runs that only one
        of the two has are left out and named in a note.
    names : tuple of str, optional
        Names of the two conditions; by default that of the rank distribution, or the measure, or
        "first" and "second".

    Raises
    ------
    MismatchError
        If the two have fewer than two runs in common.
    ParameterError
        If one is of another type, or both get the same name.

    References
    ----------
    Kendall 1945 (tau-b); Craswell et al. 2021, section 4.2.

    Examples
    --------
    >>> dev, test = {"a": 0.5, "b": 0.4, "c": 0.3}, {"a": 0.5, "b": 0.3, "c": 0.4}
    >>> result = rank_correlation(dev, test, names=("dev", "test"))
    >>> round(result.tau, 3), result.swapped
    (0.333, 1)
    """
    conditions = [_scored(first, "first"), _scored(second, "second")]
    gains = [of_condition for _, of_condition in conditions]
    common = [run for run in gains[0] if run in gains[1]]
    if len(common) < 2:
        raise MismatchError(
            f"the two conditions have {plural('run', len(common))} in common; the first has"
            f" {some(list(gains[0]))}, the second {some(list(gains[1]))}"
        )
    ranks = shared_ranks([[of_condition[run] for run in common] for of_condition in gains])
    (tau,) = defined(kendall_taus(-ranks[0], -ranks[1:]))
    first_signs, second_signs = (np.sign(np.subtract.outer(own, own)) for own in ranks)
    called = names or tuple(name for name, _ in conditions)
    if names is None and called[0] == called[1]:
        called = ("first", "second")
    check_names(called, "condition")
    order = np.lexsort((np.array(common), ranks[1], ranks[0])).tolist()
    return RankCorrelation(
        first=called[0],
        second=called[1],
        tau=tau,
        swapped=int((first_signs * second_signs < 0).sum()) // 2,
        runs=tuple(RanksOfRun(common[run], *ranks[:, run].tolist()) for run in order),
        notes=as_notes(
            f"Only in {name}, and left out: {some(alone)}."
            for of_condition, name in zip(gains, called, strict=True)
            if (alone := [run for run in of_condition if run not in common])
        ),
    )


def _scored(condition: Any, position: str) -> tuple[str, dict[str, float]]:
    """Return the name of a condition, and the score of each run: higher is better, NaN where undefined."""
    if isinstance(condition, Mapping):
        for score in condition.values():
            check_kind(position, score, (int, float, np.number), "a mapping from runs to scores")
        return position, {str(run): float(score) for run, score in condition.items()}
    if isinstance(condition, Scores):
        means = condition.means()
        if not condition.higher_is_better:
            means = -means
        return condition.measure, dict(zip(condition.runs, means.tolist(), strict=True))
    if isinstance(condition, RankDistribution):
        name = condition.condition or condition.measure
        items: Sequence[RankedRun | Standing | Entry] = condition.runs
    elif isinstance(condition, Leaderboard):
        name = condition.measure
        items = condition.standings
    elif isinstance(condition, SotaHistory):
        name = condition.score
        items = condition.entries
    else:
        raise ParameterError(
            f"a {type(condition).__name__} has no order of runs; give a RankDistribution,"
            " Leaderboard, SotaHistory, Scores, or a mapping from runs to scores"
        )
    sign = 1 if condition.higher_is_better else -1
    return name, {item.run: np.nan if item.score is None else sign * item.score for item in items}
