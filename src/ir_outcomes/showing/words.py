"""Words and numbers that the tables, the figures and the report share."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

from ir_outcomes.comparison.verdict import LABELS, direction_of
from ir_outcomes.formatting import plural

RANK_TICKS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)  # of a logarithmic axis


def tone(label: str | None) -> str:
    """Return the style of a label: "better", "worse", "mixed" or "same"; a mark may follow the label."""
    label = (label or "").removesuffix(" *")
    if label == "trade-off":
        return "mixed"
    direction = direction_of(label) if label in LABELS else "none"
    return "same" if direction == "none" else direction


def better(higher_is_better: bool) -> Literal["higher", "lower"]:
    """Name the direction that is better."""
    return "higher" if higher_is_better else "lower"


def direction(higher_is_better: bool) -> str:
    """Say which direction is better."""
    return f"{better(higher_is_better)} is better"


def count(number: int, noun: str) -> str:
    """Write a number with its noun, with a comma for thousands, which `plural` does not write."""
    return f"{number:,} {plural(noun, number).partition(' ')[2]}"


def places_of(measured_in: str) -> int:
    """Return how many decimals a value of this unit has: percentage points and ranks fewer than scores between 0 and 1."""
    return 2 if measured_in in ("percentage points", "ranks") else 4


def bucket_names(edges: Sequence[int]) -> list[str]:
    """Name ranges of ranks, each without its upper end."""
    return [str(low) if low == high - 1 else f"{low} to {high - 1}" for low, high in pairwise(edges)]


def conditions_words(settings: Any) -> str:
    """Say in the title of a figure what counts as found."""
    cutoff = "no cutoff" if settings.cutoff is None else f"cutoff {settings.cutoff:,}"
    return f"{cutoff}, grade {settings.rel} or more"


def level_words(alpha: float) -> str:
    """Write the level of the intervals that belong to this level of the tests."""
    return f"{100 * (1 - alpha):g} % interval"


def queries_words(n_queries: int, n_unanswerable: int, n_clusters: int | None = None) -> str:
    """Say how many queries were evaluated, and in how many clusters: every head of a table states this."""
    left_out = f" ({n_unanswerable} unanswerable left out)" if n_unanswerable else ""
    within = f" in {plural('cluster', n_clusters)}" if n_clusters else ""
    return f"{plural('query', n_queries)}{within}{left_out}"


def items_words(unit: str) -> str:
    """Name what the shares of outcomes are shares of."""
    return "queries" if unit == "query" else "relevant documents, averaged within queries"


def settings_words(settings: Any, *left_out: str, no_cutoff: str = "unknown", depth: int | None = None) -> list[str]:
    """Say how runs were compared, and to which depth where that is less than the cutoff: every head of a table states this."""
    cutoff = settings.cutoff or no_cutoff
    if depth is not None and settings.cutoff is not None and depth < settings.cutoff:
        cutoff = f"{cutoff} (lists end at {depth})"
    values = {"cutoff": cutoff, "rel": settings.rel, "unit": settings.unit, "ties": settings.ties}
    parts = [f"{name} {value}" for name, value in values.items() if name not in left_out]
    return [*parts, *(["judged only"] if settings.judged_only else []), f"alpha {settings.alpha:g}"]
