"""How much do two conditions agree about the order of the same runs: Kendall's tau."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes._formatting import plural
from ir_outcomes._types import Ints
from ir_outcomes.errors import MismatchError, ParameterError, some
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.leaderboards.history import SotaHistory
from ir_outcomes.leaderboards.stability import RankDistribution
from ir_outcomes.results import Result, versions
from ir_outcomes.statistics.orders import kendall_taus, shared_ranks

__all__ = ["RankCorrelation", "RanksOfRun", "rank_correlation"]


@dataclass(frozen=True)
class RanksOfRun:
    """The rank of a run under two conditions, among the runs that both have.

    Attributes
    ----------
    run : str
        Its name.
    first, second : int
        Its ranks, from 1; runs with the same score share the smaller rank.
    """

    run: str
    first: int
    second: int


@dataclass(frozen=True)
class RankCorrelation(Result):
    """Kendall's tau between the orders of the same runs under two conditions.

    Attributes
    ----------
    first, second : str
        The conditions.
    tau : float or None
        Kendall's tau-b, between -1 and 1, higher is more alike; None where all runs are tied in one condition.
    swapped : int
        Number of pairs of runs that stand in opposite order.
    runs : tuple of RanksOfRun
        The runs that both conditions have, in the order of the first.
    notes : tuple of str
        Caveats.
    versions : mapping of str to str
        Of ir_outcomes, NumPy, SciPy, ir_measures and Python.
    """

    first: str
    second: str
    tau: float | None
    swapped: int
    runs: tuple[RanksOfRun, ...]
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run."""
        return [
            {"run": run.run, "first": self.first, "rank_first": run.first, "second": self.second, "rank_second": run.second}
            for run in self.runs
        ]

    def _summary(self) -> str:
        tau = "undefined" if self.tau is None else f"{self.tau:.3f}"
        return f"Kendall's tau {tau} between {self.first} and {self.second}, {plural('run', len(self.runs))}"


def rank_correlation(first: Any, second: Any, *, names: tuple[str, str] | None = None) -> RankCorrelation:
    """Compute Kendall's tau between the orders of the same runs under two conditions.

    Conditions are two sets of queries, two qrels, two measures, or two columns of scores of a published leaderboard.

    Parameters
    ----------
    first, second : RankDistribution, Leaderboard, SotaHistory, Scores, or mapping of str to float
        The scores of the runs. The numbers of a mapping are better when higher. Runs that only one of the two has are left out
        and named in a note.
    names : tuple of str, optional
        Names of the two conditions; by default that of the rank distribution, or the measure.

    Returns
    -------
    RankCorrelation

    Raises
    ------
    MismatchError
        If the two have fewer than two runs in common.
    ParameterError
        If one is of another type.

    References
    ----------
    Kendall 1945 (tau-b); as in Craswell et al. 2021, section 4.2, for orders on public and private queries.

    Examples
    --------
    >>> dev, test = {"a": 0.5, "b": 0.4, "c": 0.3}, {"a": 0.5, "b": 0.3, "c": 0.4}
    >>> result = rank_correlation(dev, test, names=("dev", "test"))
    >>> round(result.tau, 3), result.swapped
    (0.333, 1)
    """
    gains = _gains(first), _gains(second)
    common = [run for run in gains[0] if run in gains[1]]
    if len(common) < 2:
        raise MismatchError(
            f"the two conditions have {plural('run', len(common))} in common; the first has {some(list(gains[0]))}, the second "
            f"{some(list(gains[1]))}"
        )
    ranks = shared_ranks([[of_condition[run] for run in common] for of_condition in gains])
    (tau,) = kendall_taus(-ranks[0], -ranks[1:])
    called = names or (_name(first, "first"), _name(second, "second"))
    order = np.lexsort((np.array(common), ranks[1], ranks[0])).tolist()
    return RankCorrelation(
        first=called[0],
        second=called[1],
        tau=None if np.isnan(tau) else float(tau),
        swapped=_swapped(ranks[0], ranks[1]),
        runs=tuple(RanksOfRun(common[run], int(ranks[0, run]), int(ranks[1, run])) for run in order),
        notes=tuple(_notes(gains, common, called)),
        versions=versions(),
    )


def _gains(condition: Any) -> dict[str, float]:
    """Return the score of each run, such that higher is better; -inf, which ranks last, where it is undefined."""
    if isinstance(condition, Mapping):
        return {str(run): float(score) for run, score in condition.items()}
    if isinstance(condition, Scores):
        return _signed(zip(condition.runs, condition.means().tolist(), strict=True), condition.higher_is_better)
    if isinstance(condition, RankDistribution):
        return _signed(((run.run, run.score) for run in condition.runs), condition.higher_is_better)
    if isinstance(condition, Leaderboard):
        return _signed(((run.run, run.score) for run in condition.standings), condition.higher_is_better)
    if isinstance(condition, SotaHistory):
        return _signed(((entry.run, entry.score) for entry in condition.entries), condition.higher_is_better)
    raise ParameterError(
        f"a {type(condition).__name__} has no order of runs; give a RankDistribution, Leaderboard, SotaHistory, Scores, or a "
        "mapping from runs to scores"
    )


def _swapped(first: Ints, second: Ints) -> int:
    """Count the pairs of runs in opposite order."""
    opposite = np.sign(np.subtract.outer(first, first)) * np.sign(np.subtract.outer(second, second)) < 0
    return int(opposite.sum()) // 2


def _signed(scores: Iterable[tuple[str, float | None]], higher_is_better: bool) -> dict[str, float]:
    sign = 1 if higher_is_better else -1
    return {run: -np.inf if score is None or np.isnan(score) else sign * score for run, score in scores}


def _name(condition: Any, position: str) -> str:
    if isinstance(condition, SotaHistory):
        return condition.score
    if isinstance(condition, RankDistribution) and condition.condition:
        return condition.condition
    return getattr(condition, "measure", position)


def _notes(gains: tuple[dict[str, float], dict[str, float]], common: list[str], names: tuple[str, str]) -> list[str]:
    notes = []
    for of_condition, name in zip(gains, names, strict=True):
        alone = [run for run in of_condition if run not in common]
        if alone:
            verb = "is" if len(alone) == 1 else "are"
            notes.append(f"{some(alone)} {verb} only in {name}, and left out.")
    return notes
