"""`compare` with the type of its result, a single comparison or several; and all notes of one."""

from typing import Any

import ir_outcomes as iro
from ir_outcomes.notes import Note, as_notes
from tests.helpers.runs import Ranks, qrels_of, run_of


def compare_pair(*arguments: Any, **settings: Any) -> iro.Comparison:
    found = iro.compare(*arguments, **settings)
    assert isinstance(found, iro.Comparison)
    return found


def compare_several(*arguments: Any, **settings: Any) -> iro.Comparisons:
    found = iro.compare(*arguments, **settings)
    assert isinstance(found, iro.Comparisons)
    return found


def compare_ranks(a: Ranks, b: Ranks, depth: int = 100, **settings: Any) -> iro.Comparison:
    """Compare two runs by the rank at which each query has its relevant document; see `run_of`."""
    return compare_pair(
        qrels_of(a), run_of(a, depth), run_of(b, depth), names=["A", "B"], **settings
    )


def all_notes(comparison: iro.Comparison) -> tuple[Note, ...]:
    """Return the notes of the first screen and those of the details."""
    return as_notes((*comparison.notes, *comparison.background))
