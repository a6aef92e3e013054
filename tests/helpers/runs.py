"""Runs and qrels with one relevant document per query, by its rank."""

from collections.abc import Mapping
from typing import Any

from tests.helpers import literal

Ranks = Mapping[str, int | None]


def in_blocks(
    *blocks: tuple[int, int | None, int | None],
) -> tuple[dict[str, int | None], dict[str, int | None]]:
    """Ranks in two runs: how many queries have which rank in A and in B."""
    pairs = [(a, b) for number, a, b in blocks for _ in range(number)]
    return {f"q{n}": a for n, (a, _) in enumerate(pairs)}, {
        f"q{n}": b for n, (_, b) in enumerate(pairs)
    }


def run_of(ranks: Ranks, depth: int = 12) -> literal.Run:
    """A run that ranks "gold" at the given rank of each query, or not at all."""
    return {
        query: {
            ("gold" if place == rank else f"d{place}"): 100.0 - place
            for place in range(1, depth + 1)
        }
        for query, rank in ranks.items()
    }


def trec(run: literal.Run) -> str:
    """A run as the lines of a file."""
    return "".join(
        f"{q} Q0 {document} 0 {score} t\n"
        for q, ranked in run.items()
        for document, score in ranked.items()
    )


def qrels_of(queries: Any) -> literal.Qrels:
    return {query: {"gold": 1} for query in queries}
