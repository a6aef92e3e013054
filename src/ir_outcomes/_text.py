"""Counts in words, for messages and notes."""

from __future__ import annotations

__all__ = ["count"]

_PLURALS = {"query": "queries"}


def count(number: int, noun: str) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> count(1, "query"), count(5193, "query"), count(2, "run")
    ('1 query', '5193 queries', '2 runs')
    """
    return f"{number} {noun if number == 1 else _PLURALS.get(noun, f'{noun}s')}"
