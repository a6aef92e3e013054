"""Runs and qrels with one relevant document per query, by its rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tests.helpers import literal


def run_of(ranks: Mapping[str, int | None], depth: int = 12) -> literal.Run:
    """A run that ranks "gold" at the given rank of each query, or not at all."""
    return {
        query: {("gold" if place == rank else f"d{place}"): 100.0 - place for place in range(1, depth + 1)}
        for query, rank in ranks.items()
    }


def qrels_of(queries: Any) -> literal.Qrels:
    return {query: {"gold": 1} for query in queries}
