"""All notes of a comparison, those on the first screen and those in the details."""

from __future__ import annotations

from ir_outcomes.comparison.result import Comparison


def all_notes(comparison: Comparison) -> tuple[str, ...]:
    return (*comparison.notes, *comparison.background)
