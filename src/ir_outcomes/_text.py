"""Counts, lists and p-values in words, for messages and notes."""

from __future__ import annotations

from collections.abc import Sequence

__all__ = ["count", "listed", "pvalue_text"]

_PLURALS = {"entry": "entries", "query": "queries"}
_SMALLEST = 1e-300  # what is smaller is only known to be smaller


def count(number: int, noun: str) -> str:
    """Write a number with its noun.

    Examples
    --------
    >>> count(1, "query"), count(5193, "query"), count(2, "run")
    ('1 query', '5193 queries', '2 runs')
    """
    return f"{number} {noun if number == 1 else _PLURALS.get(noun, f'{noun}s')}"


def listed(items: Sequence[str]) -> str:
    """Write items as an enumeration.

    Examples
    --------
    >>> listed(["10"]), listed(["10", "20", "50"])
    ('10', '10, 20 and 50')
    """
    return " and ".join([", ".join(items[:-1]), items[-1]] if len(items) > 1 else items)


def pvalue_text(pvalue: float) -> str:
    """Write a p-value for a sentence.

    Examples
    --------
    >>> pvalue_text(0.0312), pvalue_text(3e-9), pvalue_text(1e-310)
    ('p = 0.031', 'p = 3e-09', 'p < 1e-300')
    """
    if pvalue < _SMALLEST:
        return f"p < {_SMALLEST:g}"
    return f"p = {pvalue:.2g}" if pvalue < 0.001 else f"p = {pvalue:.3f}"
