"""Distributions of search lengths: how far down a run ranks the relevant documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes._checks import check_positive
from ir_outcomes._formatting import plural
from ir_outcomes._types import Ints, Missing
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.results import Result, cells_of, versions
from ir_outcomes.tail.depth import TailSettings, runs_at_depth
from ir_outcomes.tail.measures import ASL_FIRST, document_lengths
from ir_outcomes.tail.weighting import effective_share

__all__ = ["LengthDistribution", "LengthDistributions", "length_distributions"]


@dataclass(frozen=True)
class LengthDistribution:
    """Where a run ranks the relevant documents.

    Attributes
    ----------
    run : str
        Its name.
    asl, asl_top : float
        ASL, and ASL@g1-10 of the ten best-ranked relevant documents, ranks, lower is better.
    counts : tuple of int
        Relevant documents found, by search length, in the buckets of the result.
    missing : int
        Relevant documents not found: the spike of Figure 5, counted separately.
    effective_share : float or None
        Share of the relevant documents that AP in effect averages; see `effective_share`. None under ``ties="expected"``.
    """

    run: str
    asl: float
    asl_top: float
    counts: tuple[int, ...]
    missing: int
    effective_share: float | None


@dataclass(frozen=True)
class LengthDistributions(Result):
    """Distribution of search lengths over the relevant documents; the figure is "lengths", Figure 5.

    Attributes
    ----------
    runs : tuple of LengthDistribution
        The runs.
    edges : tuple of int
        Bucket i holds the search lengths from ``edges[i]`` up to, not including, ``edges[i + 1]``; ranks.
    n_documents, n_queries : int
        Relevant documents, and queries that have any.
    settings : TailSettings
        Depth, relevance, tie rule and the search length of a missing document.
    notes, versions
        See `ir_outcomes.Comparison`.
    """

    runs: tuple[LengthDistribution, ...]
    edges: tuple[int, ...]
    n_documents: int
    n_queries: int
    settings: TailSettings
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run, with a column for each bucket, and the number and share of missing documents."""
        buckets = [f"{low}_to_{high - 1}" for low, high in zip(self.edges[:-1], self.edges[1:], strict=True)]
        return [
            {
                **cells_of(run, "run", "asl", "asl_g1_10=asl_top", "effective_share"),
                **dict(zip(buckets, run.counts, strict=True)),
                "missing": run.missing,
                "missing_share": run.missing / self.n_documents,
            }
            for run in self.runs
        ]

    def _summary(self) -> str:
        documents = plural("relevant document", self.n_documents)
        return f"{plural('run', len(self.runs))}, {documents} of {plural('query', self.n_queries)}"


def length_distributions(
    ev: Evaluation, *, cutoff: int | None = None, missing: Missing = "cutoff", bins: int = 10
) -> LengthDistributions:
    """Count the relevant documents by search length, the missing ones separately.

    Parameters
    ----------
    ev : Evaluation
        The runs; see `ir_outcomes.evaluate`.
    cutoff, missing
        See `ir_outcomes.rrie`, for all runs of the evaluation.
    bins : int
        Number of buckets, of equal width.

    Returns
    -------
    LengthDistributions

    Raises
    ------
    MismatchError, ParameterError
        As `ir_outcomes.rrie`.

    References
    ----------
    Alex et al. 2022, section 4.5, Figure 5.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> run = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    >>> result = length_distributions(evaluate({"q": {"a": 1, "b": 1, "c": 1}}, {"run": run}), bins=3)
    >>> result.edges, result.runs[0].counts, result.runs[0].missing
    ((1, 2, 3, 4), (1, 1, 0), 1)
    """
    check_positive("bins", bins)
    found = runs_at_depth(ev, cutoff, missing)
    edges = np.unique(np.linspace(1, found.depth + 1, bins + 1).round().astype(np.int64))
    first = found.runs[0]
    return LengthDistributions(
        runs=tuple(_distribution(run, missing, edges) for run in found.runs),
        edges=tuple(edges.tolist()),
        n_documents=len(first.rank),
        n_queries=int(first.answerable.sum()),
        settings=found.settings,
        notes=found.notes,
        versions=versions(),
    )


def _distribution(run: SearchLengths, missing: Missing, edges: Ints) -> LengthDistribution:
    found = run.rank > 0
    counts, _ = np.histogram(document_lengths(run, missing)[found], edges)
    return LengthDistribution(
        run=run.name,
        asl=float(np.nanmean(run.asl(missing=missing))),
        asl_top=float(np.nanmean(run.asl(ASL_FIRST, missing))),
        counts=tuple(counts.tolist()),
        missing=int(np.sum(~found)),
        effective_share=None if run.ties == "expected" else effective_share(run),
    )
