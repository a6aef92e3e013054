"""Search lengths of all relevant documents: distributions and changes."""

from itertools import pairwise, repeat
from operator import itemgetter
from typing import Any

import numpy as np

from ir_outcomes.choices import Missing, Positive
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.tail.measures import ASL_FIRST, effective_share, runs_at_depth
from ir_outcomes.tail.result import LengthChanges, LengthDistributions

SIZES = (1, 3, 10, 30, 100, 300, 1000, 3000, 10000)  # of changes


def length_distributions(
    evaluation: Evaluation,
    *,
    cutoff: Positive | None = None,
    missing: Missing = "cutoff",
    bins: Positive = 10,
) -> LengthDistributions:
    """Count the relevant documents by search length, the missing ones separately.

    Parameters
    ----------
    evaluation, cutoff, missing
        See `ir_outcomes.rrie`, for all runs of the evaluation.
    bins : int
        Number of buckets, of equal width.

    Returns
    -------
    LengthDistributions
        A row for each run, the best mean ASL first: ASL, ASL@g1-10 of the ten best-ranked relevant
        documents, the relevant documents by search length, those that are missing (the spike of
        Figure 5), and the share of the relevant documents that AP in effect averages: the
        best-ranked ones whose unweighted mean of 1/P comes closest to 1/MAP (Appendix A.1).

    References
    ----------
    Alex et al. 2022, section 4.5, Figure 5.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> run = {"q": {"a": 3.0, "x": 2.0, "b": 1.0}}
    >>> result = length_distributions(evaluate({"q": {"a": 1, "b": 1, "c": 1}}, {"run": run}), bins=3)
    >>> [result.table[0][name] for name in ("1_to_1", "2_to_2", "3_to_3", "missing")]
    [1, 1, 0, 1]
    """
    runs, settings, notes = runs_at_depth(evaluation, cutoff, missing)
    ends = np.linspace(1, settings.cutoff + 1, bins + 1)
    edges = tuple(np.unique(ends.round().astype(np.int64)).tolist())
    rows = [_distribution(run, missing, edges) for run in runs]
    rows.sort(key=itemgetter("asl"))
    return LengthDistributions(
        tuple(row["run"] for row in rows),
        tuple(rows),
        settings,
        edges,
        len(runs[0].rank),
        int(runs[0].answerable.sum()),
        notes=notes,
    )


def _distribution(run: SearchLengths, missing: Missing, edges: tuple[int, ...]) -> dict[str, Any]:
    found = run.rank > 0
    counts, _ = np.histogram(run.document_lengths(missing)[found], edges)
    return {
        "run": run.name,
        "asl": np.nanmean(run.asl(missing=missing)),
        "asl_g1_10": np.nanmean(run.asl(ASL_FIRST, missing)),
        "effective_share": effective_share(run),
        **dict(zip(bucket_columns(edges), counts.tolist(), strict=True)),
        "missing": np.sum(~found),
        "missing_share": np.mean(~found),
    }


def bucket_columns(edges: tuple[int, ...]) -> list[str]:
    """The names of the columns that count the search lengths in the buckets."""
    return [f"{low}_to_{high - 1}" for low, high in pairwise(edges)]


def length_changes(
    evaluation: Evaluation,
    baseline: str,
    contender: str,
    *,
    cutoff: Positive | None = None,
    missing: Missing = "cutoff",
    bins: Positive | None = None,
) -> LengthChanges:
    """Count the relevant documents by how their search length changed.

    Parameters
    ----------
    evaluation, baseline, contender, cutoff, missing
        See `ir_outcomes.rrie`; `missing` is for the mean change only.
    bins : int, optional
        Number of buckets of equal width in each direction, up to the depth, as in Figure 6. By
        default the buckets grow: 1 to 2, 3 to 9, 10 to 29 and so on.

    Returns
    -------
    LengthChanges
        Each relevant document is counted in one row: further up or down in the contender, where
        both runs found it, by the size of the change (the last bucket is open), unchanged, won
        (only the contender found it), lost, or neither.

    References
    ----------
    Alex et al. 2022, section 4.5, Figure 6.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> runs = {"A": {"q": {"x": 3.0, "a": 2.0}}, "B": {"q": {"a": 3.0, "x": 2.0}}}
    >>> result = length_changes(evaluate({"q": {"a": 1}}, runs), "A", "B")
    >>> result.table[0]["documents"], result.mean_change
    (1, -1.0)
    """
    names = [baseline, contender]
    (first, second), settings, notes = runs_at_depth(evaluation, cutoff, missing, names)
    by_first = first.rank > 0
    by_second = second.rank > 0
    changes = second.document_lengths(missing) - first.document_lengths(missing)
    changes = changes[by_first & by_second]
    largest = np.abs(changes).max(initial=1.0)
    edges = tuple(size for size in SIZES if size <= largest)
    if bins is not None:
        # A whole number of ranks, so that together they reach the depth.
        width = -(-settings.cutoff // bins)
        edges = tuple(range(1, 1 + width * bins, width))
    n_documents = len(by_first)

    def row(change: str, low: int | None, high: int | None, number: Any) -> dict[str, Any]:
        share = number / n_documents
        return {"change": change, "from": low, "to": high, "documents": number, "share": share}

    rows: list[dict[str, Any]] = []
    highs = [*(edge - 1 for edge in edges[1:]), None]
    for change, gains in (("further up", -changes), ("further down", changes)):
        counts, _ = np.histogram(gains, [*edges, np.inf])
        rows += map(row, repeat(change), edges, highs, counts)
    rows += [
        row("unchanged", 0, 0, np.sum(changes == 0)),
        row("won", None, None, np.sum(by_second & ~by_first)),
        row("lost", None, None, np.sum(by_first & ~by_second)),
        row("neither", None, None, np.sum(~by_first & ~by_second)),
    ]
    asl = [np.nanmean(run.asl(missing=missing)) for run in (first, second)]
    return LengthChanges(
        (first.name, second.name),
        tuple(rows),
        settings,
        edges,
        n_documents,
        int(first.answerable.sum()),
        float(asl[1] - asl[0]),
        notes=notes,
    )
