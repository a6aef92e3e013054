"""How much is left to gain in a collection: the best run's values query by query, at the top and over all documents."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes._formatting import plural
from ir_outcomes._types import Ties
from ir_outcomes.evaluation.lengths import Missing
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.results import Result, versions
from ir_outcomes.tail.depth import at_depth
from ir_outcomes.tail.measures import top_and_all

__all__ = ["Headroom", "MeasureHeadroom", "headroom"]

PRECISIONS = tuple(tenth / 10 for tenth in range(11))
LENGTHS = (1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0)


@dataclass(frozen=True)
class MeasureHeadroom:
    """One measure of the run that is best by it.

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
    """What is left to gain; the pictures are "top precision", "top length", "precision" and "length", Figures 1 to 4.

    The paper counts collections, each by its best system; within one collection this counts queries.

    Attributes
    ----------
    measures : tuple of MeasureHeadroom
        P@20, ASL@g1-10, AP and ASL.
    n_runs : int
        How many runs there are to be the best of.
    cutoff, rel, missing, notes, versions
        As in `LengthDistributions`.
    """

    measures: tuple[MeasureHeadroom, ...]
    n_runs: int
    cutoff: int | None
    rel: int
    missing: str
    notes: tuple[str, ...]
    versions: dict[str, str]

    def _summary(self) -> str:
        return f"{plural('run', self.n_runs)}, {plural('measure', len(self.measures))}"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each measure and bucket."""
        return [
            {"measure": each.measure, "run": each.run, "mean": each.mean, "from": low, "to": high, "queries": number}
            for each in self.measures
            for low, high, number in zip(each.edges, (*each.edges[1:], None), each.counts, strict=True)
        ]


def headroom(
    qrels: Any,
    runs: Any,
    *,
    cutoff: int | None = None,
    rel: int | None = None,
    ties: Ties = "trec",
    missing: Missing = "cutoff",
    names: Sequence[str] | None = None,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> Headroom:
    """Count queries by what the best run leaves to gain.

    Parameters
    ----------
    qrels, runs, cutoff, rel, ties, missing, names, n_jobs, cache, progress
        See `ir_outcomes.length_distributions`.

    Returns
    -------
    Headroom

    Raises
    ------
    MismatchError
        If the runs differ in depth and no cutoff is given.
    ParameterError
        Under ``ties="expected"``.
    InputError
        If something cannot be read.

    References
    ----------
    Alex et al. 2022, section 4.2, Figures 1 to 4.

    Examples
    --------
    >>> result = headroom({"q": {"a": 1}}, {"run": {"q": {"x": 2.0, "a": 1.0}}})
    >>> [(each.measure, each.mean) for each in result.measures][:2]
    [('P@2', 0.5), ("ASL(first=10,missing='cutoff')@2", 2.0)]
    """
    found = at_depth(
        qrels,
        runs,
        cutoff=cutoff,
        rel=rel,
        ties=ties,
        missing=missing,
        names=names,
        n_jobs=n_jobs,
        cache=cache,
        progress=progress,
    )
    return Headroom(
        measures=tuple(map(_of_best, top_and_all(found, missing))),
        n_runs=len(found.tables),
        cutoff=found.cutoff,
        rel=found.rel,
        missing=missing,
        notes=found.notes,
        versions=versions(),
    )


def _of_best(table: Scores) -> MeasureHeadroom:
    means = table.means()
    best = int(np.nanargmax(means if table.higher_is_better else -means))
    values = table.values[best][~np.isnan(table.values[best])]
    edges = PRECISIONS[:-1] if table.higher_is_better else LENGTHS
    counts, _ = np.histogram(values, [*edges, np.inf])
    return MeasureHeadroom(table.measure, table.runs[best], float(means[best]), edges, tuple(counts.tolist()))
