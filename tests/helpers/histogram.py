"""The histogram of changes, which the page computes in the browser, in Python."""

import math
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from statistics import median
from typing import NamedTuple

from ir_outcomes.comparison.result import Comparison
from ir_outcomes.showing.charts import gain_sign

_SHARE_EDGES = (1, 2, 5, 10, 20, 50)  # points
_AT_LEAST = "\N{GREATER-THAN OR EQUAL TO}"


class Changes(NamedTuple):
    """Bins of a histogram from lost to won, their styles, the bin of each query (-1 where neither answered), what changes."""

    names: tuple[str, ...]
    tones: tuple[str, ...]
    bins: tuple[int, ...]
    what: str
    by_share: bool

    def counts(self) -> list[int]:
        """Return the number of queries in each bin."""
        found = Counter(self.bins)
        return [found[place] for place in range(len(self.names))]


def gains_of(comparison: Comparison) -> list[float | None]:
    """Return the gain of each query on what both found; None where there is nothing in common."""
    sign = gain_sign(comparison.ranking)
    return [
        None if query.difference is None else sign * query.difference
        for query in comparison.per_query()
    ]


def changes_of(comparison: Comparison) -> Changes:
    """Sort the queries into bins from lost to won: by ranks, or by the share found, where that changes for most of them."""
    queries = comparison.per_query()
    shares = [round(100 * (query.found_contender - query.found_baseline), 6) for query in queries]
    by_share = 2 * sum(map(bool, shares)) > len(shares) and any(share % 100 for share in shares)
    if by_share:
        what = "share of the relevant documents found, points"
        place = bisect_left(_SHARE_EDGES, median(abs(share) for share in shares if share))
        # The edges lie about the usual change.
        edges: Sequence[float] = _SHARE_EDGES[max(place - 1, 0) : place + 2]
        names = [
            f"<{edges[0]}",
            *(f"{low}\N{EN DASH}{high}" for low, high in pairwise(edges)),
            f"{_AT_LEAST}{edges[-1]}",
        ]
        down = ["more above", *(f"{name} fewer" for name in names)]
        up = [
            "fewer above",
            *(f"{name} more" for name in names),
        ]
    else:
        what, names, edges = _bins_of_ranking(comparison)
        down = [*(f"{name} down" for name in names), "lost"]
        up = [
            *(f"{name} up" for name in names),
            "won",
        ]

    def step(share: float, gain: float | None) -> float:
        """Return the number of bins to the one of no change, negative for a loss."""
        if share and not by_share:
            return math.copysign(len(up), share)
        if share:
            return math.copysign(1 + bisect_right([0, *edges], abs(share)), share)
        if not gain:
            return 0
        limits = [] if by_share else edges
        return math.copysign(1 + bisect_right(limits, abs(gain)), gain)

    steps = [
        int(step(share, gain)) for share, gain in zip(shares, gains_of(comparison), strict=True)
    ]
    bins = [
        -1 if query.outcome == "neither" else len(down) + step
        for query, step in zip(queries, steps, strict=True)
    ]
    tones = (*["worse"] * len(down), "same", *["better"] * len(up))
    return Changes((*reversed(down), "same", *up), tones, tuple(bins), what, by_share)


def _bins_of_ranking(comparison: Comparison) -> tuple[str, list[str], list[float]]:
    """Return what changes, the names of the bins on one side, and the edges between these."""
    if not comparison.in_lengths:
        return comparison.ranking.measured_in, ["<0.1", "0.1\N{EN DASH}0.3", ">0.3"], [0.1, 0.3]
    # No bin is beyond the cutoff.
    last = comparison.restricted.horizon if comparison.restricted else 11
    edges = [edge for edge in (1, 2, 10, 100, 1000) if edge < last] or [1]
    names = [
        f"{low}" if high == low + 1 else f"{low}\N{EN DASH}{high - 1}"
        for low, high in pairwise(edges)
    ]
    if names and any((gain or 0) % 1 for gain in gains_of(comparison)):
        names[0] = "<2"  # search lengths of several documents are averages
    return (
        f"search length, {comparison.ranking.measured_in}",
        [*names, f"{_AT_LEAST}{edges[-1]}"],
        [float(edge) for edge in edges[1:]],
    )
