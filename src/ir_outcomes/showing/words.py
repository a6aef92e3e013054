"""Words that views and figures share."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from ir_outcomes.formatting import plural


def sentence(text: str) -> str:
    """Write a caption as a sentence."""
    return text if text.endswith((".", "?", "!")) else f"{text}."


def direction(higher_is_better: bool) -> str:
    """Say which direction is better."""
    return "higher is better" if higher_is_better else "lower is better"


def count(number: int, noun: str) -> str:
    """Write a number with its noun, and with a comma for thousands."""
    return f"{number:,} {plural(noun, number).partition(' ')[2]}"


def bucket_names(edges: Sequence[int], *, is_open: bool = False) -> list[str]:
    """Name ranges of ranks, each without its upper end, or the last one without any."""
    names = [
        str(low) if low == high - 1 else f"{low} to {high - 1}" for low, high in pairwise(edges)
    ]
    return [*names, f"{edges[-1]} or more"] if is_open else names


def level_words(alpha: float) -> str:
    """Write the level of the intervals that belong to this level of the tests."""
    return f"{100 * (1 - alpha):g} % interval"


def queries_words(result: Any) -> str:
    """Say how many queries were evaluated, and in how many clusters."""
    left_out = ""
    if result.n_unanswerable:
        left_out = f" ({result.n_unanswerable} unanswerable left out)"
    clusters = result.settings and result.settings.n_clusters
    within = f" in {plural('cluster', clusters)}" if clusters else ""
    return f"{plural('query', result.n_queries)}{within}{left_out}"
