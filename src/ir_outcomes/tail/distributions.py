"""Search lengths document by document: how far down a run puts them, and which of them another run moved."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes._checks import check_positive
from ir_outcomes._formatting import plural
from ir_outcomes._types import Missing, Ties
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.results import Result, versions
from ir_outcomes.tail.depth import at_depth, pair_at_depth
from ir_outcomes.tail.weighting import effective_share

__all__ = ["LengthChanges", "LengthDistribution", "LengthDistributions", "length_changes", "length_distributions"]

TOP = 10  # ASL@g1-10
SIZES = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000)


@dataclass(frozen=True)
class LengthDistribution:
    """Where a run puts the relevant documents.

    Attributes
    ----------
    run : str
        Its name.
    asl, asl_top : float
        ASL, and ASL@g1-10 of the ten best-placed relevant documents, ranks, lower is better.
    counts : tuple of int
        Relevant documents found, by search length, in the buckets of the result.
    missing : int
        Relevant documents not found: the spike of Figure 5, apart.
    effective_share : float
        Share of the relevant documents that AP in effect averages; see `effective_share`.
    """

    run: str
    asl: float
    asl_top: float
    counts: tuple[int, ...]
    missing: int
    effective_share: float


@dataclass(frozen=True)
class LengthDistributions(Result):
    """Distribution of search lengths over the relevant documents; the picture is "lengths", Figure 5.

    Attributes
    ----------
    runs : tuple of LengthDistribution
        One for each run.
    edges : tuple of int
        Bucket i holds the search lengths from ``edges[i]`` up to, not including, ``edges[i + 1]``; ranks.
    n_documents, n_queries : int
        Relevant documents, and queries that have any.
    cutoff : int or None
        Depth of the runs.
    rel : int
        Least grade of a relevant document.
    missing : str
        Search length of a missing document in the means; see `SearchLengths.asl`.
    notes : tuple of str
        What a careful reader must know.
    versions : dict of str to str
        Of ir_outcomes, NumPy, SciPy, ir_measures and Python.
    """

    runs: tuple[LengthDistribution, ...]
    edges: tuple[int, ...]
    n_documents: int
    n_queries: int
    cutoff: int | None
    rel: int
    missing: str
    notes: tuple[str, ...]
    versions: dict[str, str]

    def _summary(self) -> str:
        counts = f"{plural('relevant document', self.n_documents)} of {plural('query', self.n_queries)}"
        return f"{plural('run', len(self.runs))}, {counts}"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run, with a column for each bucket."""
        buckets = [f"{low}_to_{high - 1}" for low, high in zip(self.edges[:-1], self.edges[1:], strict=True)]
        return [
            {
                "run": each.run,
                "asl": each.asl,
                "asl_g1_10": each.asl_top,
                "effective_share": each.effective_share,
                **dict(zip(buckets, each.counts, strict=True)),
                "missing": each.missing,
            }
            for each in self.runs
        ]


@dataclass(frozen=True)
class LengthChanges(Result):
    """What a contender did to each relevant document; the picture is "changes", Figure 6.

    Attributes
    ----------
    baseline, contender : str
        Names; changes are contender minus baseline, ranks, lower is better.
    edges : tuple of int
        Sizes of the changes: bucket i holds those from ``edges[i]`` up to, not including, ``edges[i + 1]``; the last is open.
    wins, losses : tuple of int
        Relevant documents that the contender puts further up, and further down, by size.
    unchanged : int
        Relevant documents found, with the same search length in both.
    found_only_by_contender, found_only_by_baseline : int
        How many of the wins and losses are documents that one run lacks: their size is a lower bound.
    found_by_neither : int
        Relevant documents that both lack; they are no win or loss.
    mean : float
        Mean change of all relevant documents, queries weighing the same: the difference of ASL.
    cutoff, rel, missing, notes, versions
        As in `LengthDistributions`.
    """

    baseline: str
    contender: str
    edges: tuple[int, ...]
    wins: tuple[int, ...]
    losses: tuple[int, ...]
    unchanged: int
    found_only_by_contender: int
    found_only_by_baseline: int
    found_by_neither: int
    mean: float
    cutoff: int | None
    rel: int
    missing: str
    notes: tuple[str, ...]
    versions: dict[str, str]

    def _summary(self) -> str:
        return f"{self.contender} against {self.baseline}, mean change {self.mean:+.1f} ranks"

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each direction and size of change; together they hold every relevant document once."""
        highs = [*(high - 1 for high in self.edges[1:]), None]
        rows: list[dict[str, Any]] = [
            {"change": change, "from": low, "to": high, "documents": number}
            for change, numbers in (("further up", self.wins), ("further down", self.losses))
            for low, high, number in zip(self.edges, highs, numbers, strict=True)
        ]
        rows.append({"change": "unchanged", "from": 0, "to": 0, "documents": self.unchanged})
        return [*rows, {"change": "found by neither", "from": None, "to": None, "documents": self.found_by_neither}]


def length_distributions(
    qrels: Any,
    runs: Any,
    *,
    cutoff: int | None = None,
    rel: int | None = None,
    ties: Ties = "trec",
    missing: Missing = "cutoff",
    bins: int = 10,
    names: Sequence[str] | None = None,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> LengthDistributions:
    """Count the relevant documents by search length, the missing ones apart.

    Parameters
    ----------
    qrels : Qrels, path, Task or its dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels`.
    runs : list, or dict from names to runs
        See `ir_outcomes.as_run`.
    cutoff : int, optional
        Depth that all runs share; by default the one they reach.
    rel : int, optional
        Least grade of a relevant document; by default the task's, or 1.
    ties, missing
        See `ir_outcomes.search_lengths` and `SearchLengths.asl`.
    bins : int
        Number of buckets, of equal width.
    names : sequence of str, optional
        Names of the runs.
    n_jobs, cache, progress
        See `ir_outcomes.evaluate`.

    Returns
    -------
    LengthDistributions

    Raises
    ------
    MismatchError
        If the runs differ in depth and no cutoff is given.
    InputError
        If something cannot be read.

    References
    ----------
    Alex et al. 2022, section 4.5, Figure 5.

    Examples
    --------
    >>> run = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    >>> result = length_distributions({"q": {"a": 1, "b": 1, "c": 1}}, {"run": run}, bins=3)
    >>> result.edges, result.runs[0].counts, result.runs[0].missing
    ((1, 2, 3, 4), (1, 1, 0), 1)
    """
    check_positive("bins", bins)
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
    depth = found.cutoff or max(int(table.retrieved.max(initial=1)) for table in found.tables)
    edges = np.unique(np.linspace(1, depth + 1, bins + 1).round().astype(np.int64))
    first = found.tables[0]
    return LengthDistributions(
        runs=tuple(_distribution(table, missing, edges) for table in found.tables),
        edges=tuple(edges.tolist()),
        n_documents=len(first.rank),
        n_queries=int(first.answerable.sum()),
        cutoff=found.cutoff,
        rel=found.rel,
        missing=missing,
        notes=found.notes,
        versions=versions(),
    )


def length_changes(
    qrels: Any,
    baseline: Any,
    contender: Any,
    *,
    cutoff: int | None = None,
    rel: int | None = None,
    ties: Ties = "trec",
    missing: Missing = "cutoff",
    names: Sequence[str] | None = None,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
) -> LengthChanges:
    """Count the relevant documents that a contender puts further up or down, by how far.

    Parameters
    ----------
    qrels, cutoff, rel, ties, missing, n_jobs, cache, progress
        See `length_distributions`.
    baseline, contender : run
        See `ir_outcomes.as_run`.
    names : sequence of str, optional
        Of the baseline and the contender.

    Returns
    -------
    LengthChanges

    Raises
    ------
    MismatchError
        If the runs differ in depth and no cutoff is given.
    InputError
        If something cannot be read.

    References
    ----------
    Alex et al. 2022, section 4.5, Figure 6.

    Examples
    --------
    >>> a, b = {"q": {"x": 3.0, "a": 2.0}}, {"q": {"a": 3.0, "x": 2.0}}
    >>> result = length_changes({"q": {"a": 1}}, a, b, names=["A", "B"])
    >>> result.wins, result.mean
    ((1,), -1.0)
    """
    found = pair_at_depth(
        qrels,
        baseline,
        contender,
        cutoff=cutoff,
        rel=rel,
        ties=ties,
        missing=missing,
        names=names,
        n_jobs=n_jobs,
        cache=cache,
        progress=progress,
    )
    one, other = found.tables
    lengths = [table.document_lengths(missing) for table in found.tables]
    anywhere = (one.rank > 0) | (other.rank > 0)
    change = (lengths[1] - lengths[0])[anywhere]
    largest = float(np.abs(change).max(initial=1.0))
    edges = tuple(size for size in SIZES if size <= largest)
    return LengthChanges(
        baseline=one.name,
        contender=other.name,
        edges=edges,
        wins=_by_size(-change, edges),
        losses=_by_size(change, edges),
        unchanged=int(np.sum(change == 0)),
        found_only_by_contender=int(np.sum((one.rank == 0) & (other.rank > 0))),
        found_only_by_baseline=int(np.sum((one.rank > 0) & (other.rank == 0))),
        found_by_neither=int(np.sum(~anywhere)),
        mean=float(np.nanmean(other.asl(missing=missing)) - np.nanmean(one.asl(missing=missing))),
        cutoff=found.cutoff,
        rel=found.rel,
        missing=missing,
        notes=found.notes,
        versions=versions(),
    )


def _distribution(table: SearchLengths, missing: Missing, edges: npt.NDArray[np.int64]) -> LengthDistribution:
    there = table.rank > 0
    counts, _ = np.histogram(table.document_lengths(missing)[there], edges)
    return LengthDistribution(
        run=table.name,
        asl=float(np.nanmean(table.asl(missing=missing))),
        asl_top=float(np.nanmean(table.asl(first=TOP, missing=missing))),
        counts=tuple(counts.tolist()),
        missing=int(np.sum(~there)),
        effective_share=effective_share(table),
    )


def _by_size(change: npt.NDArray[np.float64], edges: tuple[int, ...]) -> tuple[int, ...]:
    counts, _ = np.histogram(change[change > 0], [*edges, np.inf])
    return tuple(counts.tolist())
