"""How much is left to gain in a collection: the best run's values by query, at the top and over all documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes._formatting import plural
from ir_outcomes._types import Missing
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.results import Result, versions
from ir_outcomes.tail.depth import TailSettings, runs_at_depth
from ir_outcomes.tail.measures import top_and_all

__all__ = ["Headroom", "MeasureHeadroom", "headroom"]

PRECISIONS = tuple(tenth / 10 for tenth in range(10))
LENGTHS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)


@dataclass(frozen=True)
class MeasureHeadroom:
    """Values of a measure in the run that is best by it.

    Attributes
    ----------
    measure : str
        Its name.
    run : str
        The best run.
    mean : float
        Its mean.
    edges : tuple of float
        Bucket i holds the values from ``edges[i]`` up to, not including, ``edges[i + 1]``; the last is open.
    counts : tuple of int
        Queries in each bucket.
    """

    measure: str
    run: str
    mean: float
    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True)
class Headroom(Result):
    """What is left to gain; the figures are "top precision", "top length", "precision" and "length", Figures 1 to 4.

    The paper counts collections, each by its best system; within one collection this counts queries.

    Attributes
    ----------
    measures : tuple of MeasureHeadroom
        P@20, ASL@g1-10, AP and ASL.
    n_runs : int
        Number of runs that the best is chosen from.
    settings, notes, versions
        As in `LengthDistributions`.
    """

    measures: tuple[MeasureHeadroom, ...]
    n_runs: int
    settings: TailSettings
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each measure and bucket."""
        return [
            {"measure": best.measure, "run": best.run, "mean": best.mean, "from": low, "to": high, "queries": number}
            for best in self.measures
            for low, high, number in zip(best.edges, (*best.edges[1:], None), best.counts, strict=True)
        ]

    def _summary(self) -> str:
        means = (f"{best.measure} {best.mean:.4g} ({best.run})" for best in self.measures)
        return f"best of {plural('run', self.n_runs)}: {', '.join(means)}"


def headroom(ev: Evaluation, *, cutoff: int | None = None, missing: Missing = "cutoff") -> Headroom:
    """Count queries by what the best run leaves to gain.

    Parameters
    ----------
    ev : Evaluation
        The runs; see `ir_outcomes.evaluate`.
    cutoff, missing
        See `ir_outcomes.rrie`, for all runs of the evaluation.

    Returns
    -------
    Headroom
        The measures are those of `rrie`.

    Raises
    ------
    MismatchError, ParameterError
        As `ir_outcomes.rrie`.

    References
    ----------
    Alex et al. 2022, section 4.2, Figures 1 to 4.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> result = headroom(evaluate({"q": {"a": 1}}, {"run": {"q": {"x": 2.0, "a": 1.0}}}))
    >>> [(of_measure.measure, of_measure.mean) for of_measure in result.measures][:2]
    [('P@2', 0.5), ("ASL(first=10,missing='cutoff')@2", 2.0)]
    """
    found = runs_at_depth(ev, cutoff, missing)
    return Headroom(
        measures=tuple(map(_of_best_run, top_and_all(found))),
        n_runs=len(found.runs),
        settings=found.settings,
        notes=found.notes,
        versions=versions(),
    )


def _of_best_run(scores: Scores) -> MeasureHeadroom:
    means = scores.means()
    best = int(np.nanargmax(means if scores.higher_is_better else -means))
    edges = PRECISIONS if scores.higher_is_better else LENGTHS
    counts, _ = np.histogram(scores.values[best], [*edges, np.inf])
    return MeasureHeadroom(scores.measure, scores.runs[best], float(means[best]), edges, tuple(counts.tolist()))
