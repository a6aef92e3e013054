"""What a careful reader must know about the runs themselves: queries that are missing, ignored or unanswerable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ir_outcomes._formatting import plural
from ir_outcomes.errors import some
from ir_outcomes.evaluation.lengths import SearchLengths

__all__ = ["UNEVEN_JUDGING", "n_missing", "notes_on_listing", "notes_on_queries", "unjudged_share"]

UNEVEN_JUDGING = 0.05  # shares of unjudged documents that differ by more can bias a comparison


def notes_on_queries(runs: Sequence[SearchLengths]) -> Iterator[str]:
    """Say which queries are left out, count as unanswered, or are ignored."""
    unanswerable = int(np.sum(~runs[0].answerable))
    if unanswerable:
        verb = "has" if unanswerable == 1 else "have"
        left_out = "is" if unanswerable == 1 else "are"
        yield f"{plural('query', unanswerable)} {verb} no relevant document at rel {runs[0].rel} and {left_out} left out."
    yield from notes_on_listing(runs)


def notes_on_listing(runs: Sequence[SearchLengths]) -> Iterator[str]:
    """Say which queries runs lack, or have beyond the qrels; runs with the same queries share a note."""
    lacking: dict[str, list[str]] = {}
    ignoring: dict[str, list[str]] = {}
    for run in runs:
        absent = np.flatnonzero(run.answerable & ~run.listed)
        if len(absent):
            missing = [run.query_ids[query] for query in absent]
            lacking.setdefault(f"{plural('query', len(missing))} of the qrels ({some(missing)})", []).append(run.name)
        if run.ignored:
            ignored = f"{plural('query', len(run.ignored))} that the qrels lack ({some(run.ignored)})"
            ignoring.setdefault(ignored, []).append(run.name)
    for queries, names in lacking.items():
        yield f"{some(names)} {'lacks' if len(names) == 1 else 'lack'} {queries}, which count as unanswered."
    for queries, names in ignoring.items():
        yield f"{some(names)} {'has' if len(names) == 1 else 'have'} {queries}, which are ignored."


def n_missing(run: SearchLengths) -> int:
    """Count the answerable queries for which the run returned nothing."""
    # Under judged_only an empty list can mean that all its documents were removed, so only absent queries count.
    absent = ~run.listed if run.judged_only else run.retrieved == 0
    return int(np.sum(run.answerable & absent))


def unjudged_share(run: SearchLengths, depth: int) -> float | None:
    """Share of unjudged documents among the first documents of all lists; None where this depth was not kept."""
    unjudged = run.unjudged_within(depth)
    if unjudged is None:
        return None
    return float(unjudged.sum() / max(np.minimum(run.retrieved, depth).sum(), 1))
