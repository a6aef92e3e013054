"""Search lengths of all relevant documents: distributions and changes far down the ranking."""

from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np

from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.results import Result
from ir_outcomes.table_columns import NUMBER, PERCENT, Column, decimals, rows_of
from ir_outcomes.tail.measures import (
    ASL_FIRST,
    TailSettings,
    document_lengths,
    effective_share,
    runs_at_depth,
)
from ir_outcomes.types import Floats, Ints, Missing, check_positive


@dataclass(frozen=True)
class LengthDistribution:
    """Where a run ranks the relevant documents."""

    run: str
    asl: float  #: ASL, irrelevant documents above a relevant one, plus 1; lower is better
    asl_top: float  #: ASL@g1-10 of the ten best-ranked relevant documents
    #: Relevant documents found, by search length, in the buckets of the result.
    counts: tuple[int, ...]
    missing: int  #: relevant documents not found: the spike of Figure 5, counted separately
    #: Share of the relevant documents that AP in effect averages: the best-ranked ones whose
    #: unweighted mean of 1/P comes closest to 1/MAP (Alex et al. 2022, Appendix A.1). None under
    #: ``ties="expected"``, where a document has no single precision.
    effective_share: float | None


@dataclass(frozen=True)
class LengthDistributions(Result):
    """Distribution of search lengths over the relevant documents; the figure is "lengths", Figure 5.

    Attributes
    ----------
    runs : tuple of LengthDistribution
        Best first: by the mean ASL.
    edges : tuple of int
        Bucket i holds the search lengths from ``edges[i]`` up to, not including, ``edges[i + 1]``.
    n_documents, n_queries : int
        Relevant documents, and queries that have any.
    settings
        `TailSettings`; see `ir_outcomes.Comparison`.
    """

    runs: tuple[LengthDistribution, ...]
    edges: tuple[int, ...]
    n_documents: int
    n_queries: int
    settings: TailSettings

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each run, with a column for each bucket, and the number and share of missing documents."""
        return rows_of(distribution_columns(self), self.runs)


def distribution_columns(result: LengthDistributions) -> tuple[Column, ...]:
    """Return the columns of its rows."""

    def bucket(place: int, low: int, high: int) -> Column:
        return Column(f"{low}_to_{high - 1}", lambda run: run.counts[place], form=NUMBER)

    return (
        Column("run"),
        Column("asl", heading="ASL", form=decimals(1)),
        Column("asl_g1_10", "asl_top", "ASL@g1-10", decimals(1)),
        Column("effective_share", heading="averaged", form=PERCENT),
        *map(bucket, count(), result.edges, result.edges[1:]),
        Column("missing", form=NUMBER),
        Column("missing_share", lambda run: run.missing / result.n_documents, "missing", PERCENT),
    )


def length_distributions(
    evaluation: Evaluation,
    *,
    cutoff: int | None = None,
    missing: Missing = "cutoff",
    bins: int = 10,
) -> LengthDistributions:
    """Count the relevant documents by search length, the missing ones separately.

    Parameters
    ----------
    evaluation, cutoff, missing
        See `ir_outcomes.rrie`, for all runs of the evaluation.
    bins : int
        Number of buckets, of equal width.

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
    runs, settings, notes = runs_at_depth(evaluation, cutoff, missing)
    ends = np.linspace(1, settings.cutoff + 1, bins + 1)
    edges = np.unique(ends.round().astype(np.int64))
    distributions = [_distribution(run, missing, edges) for run in runs]
    return LengthDistributions(
        runs=tuple(sorted(distributions, key=lambda run: run.asl)),
        edges=tuple(edges.tolist()),
        n_documents=len(runs[0].rank),
        n_queries=int(runs[0].answerable.sum()),
        settings=settings,
        notes=notes,
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


SIZES = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000)


@dataclass(frozen=True)
class LengthChanges(Result):
    """What a contender does to each relevant document; the figure is "changes", Figure 6.

    Each relevant document is counted once: in `further_up`, `further_down`, `unchanged`, `won`,
    `lost` or `neither`.

    Attributes
    ----------
    baseline, contender : str
        Names; changes are contender minus baseline, in irrelevant documents above a relevant one,
        lower is better.
    edges : tuple of int
        Sizes of the changes: bucket i holds those from ``edges[i]`` up to, not including, ``edges[i
        + 1]``; the last is open. A size that is not a whole number, which ``ties="expected"``
        gives, is rounded up.
    further_up, further_down : tuple of int
        Relevant documents that both runs found and that have a smaller, and a larger, search length
        in the contender, by size.
    unchanged : int
        Relevant documents that both found, with the same search length.
    won, lost, neither : int
        Relevant documents that only the contender found, only the baseline found, and neither
        found.
    mean : float
        Mean change over all relevant documents, queries weighing the same: the difference of ASL,
        in irrelevant documents above a relevant one.
    settings
        `TailSettings`; see `ir_outcomes.Comparison`.
    """

    baseline: str
    contender: str
    edges: tuple[int, ...]
    further_up: tuple[int, ...]
    further_down: tuple[int, ...]
    unchanged: int
    won: int
    lost: int
    neither: int
    mean: float
    settings: TailSettings

    @property
    def n_documents(self) -> int:
        """Number of relevant documents."""
        found_by_both = sum(self.further_up) + sum(self.further_down) + self.unchanged
        return found_by_both + self.won + self.lost + self.neither

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each kind and size of change, with the number and share of all relevant documents."""
        highs = [*(high - 1 for high in self.edges[1:]), None]
        n_sizes = len(self.edges)
        counted = [
            *zip(["further up"] * n_sizes, self.edges, highs, self.further_up, strict=True),
            *zip(["further down"] * n_sizes, self.edges, highs, self.further_down, strict=True),
            ("unchanged", 0, 0, self.unchanged),
            ("won", None, None, self.won),
            ("lost", None, None, self.lost),
            ("neither", None, None, self.neither),
        ]
        return [
            {
                "change": change,
                "from": low,
                "to": high,
                "documents": number,
                "share": number / self.n_documents,
            }
            for change, low, high, number in counted
        ]


def length_changes(
    evaluation: Evaluation,
    baseline: str,
    contender: str,
    *,
    cutoff: int | None = None,
    missing: Missing = "cutoff",
    bins: int | None = None,
) -> LengthChanges:
    """Count the relevant documents by how their search length changed, and those that only one run found.

    Parameters
    ----------
    evaluation, baseline, contender, cutoff, missing
        See `ir_outcomes.rrie`; `missing` is for the mean change only.
    bins : int, optional
        Number of buckets of equal width in each direction, up to the depth, as in Figure 6. By
        default the buckets grow: 1 to 2, 3 to 9, 10 to 29 and so on.

    References
    ----------
    Alex et al. 2022, section 4.5, Figure 6.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> runs = {"A": {"q": {"x": 3.0, "a": 2.0}}, "B": {"q": {"a": 3.0, "x": 2.0}}}
    >>> result = length_changes(evaluate({"q": {"a": 1}}, runs), "A", "B")
    >>> result.further_up, result.mean
    ((1,), -1.0)
    """
    check_positive("bins", bins, none_allowed=True)
    names = [baseline, contender]
    (first, second), settings, notes = runs_at_depth(evaluation, cutoff, missing, names)
    by_first = first.rank > 0
    by_second = second.rank > 0
    by_both = by_first & by_second
    changes = document_lengths(second, missing) - document_lengths(first, missing)
    largest = float(np.abs(changes[by_both]).max(initial=1.0))
    edges = tuple(size for size in SIZES if size <= largest)
    if bins is not None:
        # A whole number of ranks, so that together they reach the depth.
        width = -(-settings.cutoff // bins)
        edges = tuple(range(1, 1 + width * bins, width))
    return LengthChanges(
        baseline=first.name,
        contender=second.name,
        edges=edges,
        further_up=_by_size(-changes[by_both], edges),
        further_down=_by_size(changes[by_both], edges),
        unchanged=int(np.sum(changes[by_both] == 0)),
        won=int(np.sum(by_second & ~by_first)),
        lost=int(np.sum(by_first & ~by_second)),
        neither=int(np.sum(~by_first & ~by_second)),
        mean=float(
            np.nanmean(second.asl(missing=missing)) - np.nanmean(first.asl(missing=missing))
        ),
        settings=settings,
        notes=notes,
    )


def _by_size(changes: Floats, edges: tuple[int, ...]) -> tuple[int, ...]:
    """Count the positive changes by their size."""
    counts, _ = np.histogram(np.ceil(changes[changes > 0]), [*edges, np.inf])
    return tuple(counts.tolist())
