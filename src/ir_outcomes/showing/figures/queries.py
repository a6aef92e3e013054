"""Figures of single queries: two runs side by side, and their differences."""

from __future__ import annotations

from typing import Any

import numpy as np

from ir_outcomes.comparison.result import Comparison
from ir_outcomes.showing.figures._frame import Frame, count_axis, legend_beside, tilt_labels
from ir_outcomes.showing.figures._labels import labels_of, literal
from ir_outcomes.showing.figures._palette import BLACK, BLUE, GREEN, LIGHT, ORANGE, SKY, VERMILLION
from ir_outcomes.showing.words import count

__all__ = ["draw_differences", "draw_queries", "draw_ranks"]

NAMED_QUERIES = 60  # up to this many queries have their id under their bar
QUERY_STYLES = {
    "won": (GREEN, "..."),
    "better": (SKY, ""),
    "equal": (LIGHT, ""),
    "worse": (ORANGE, "///"),
    "lost": (VERMILLION, "xx"),
}
_SIZES = ("up to 1", "2 to 3", "4 to 7", "8 to 15", "16 to 31", "32 to 63", "64 or more")
_EDGES = np.array([0, 1.5, 3.5, 7.5, 15.5, 31.5, 63.5, np.inf])


def draw_ranks(comparison: Comparison, ax: Any) -> Any:
    """Draw search length against search length, on log axes, for the queries of the ranking facet.

    Points below the diagonal are better in the contender; larger points are several queries.
    """
    pairs = np.array(
        [(query.baseline, query.contender) for query in comparison.per_query() if query.difference is not None],
        dtype=np.float64,
    ).reshape(-1, 2)
    baseline, contender = labels_of([comparison.baseline, comparison.contender])
    frame = Frame(ax, 4.2, 4.2)
    ax = frame.ax
    points, counts = np.unique(pairs, axis=0, return_counts=True)
    ax.scatter(points[:, 0], points[:, 1], s=10 * np.sqrt(counts), color=BLUE, alpha=0.6, linewidths=0)
    unit = comparison.ranking.measured_in
    if unit == "ranks":
        low, high = 0.6, float(points.max(initial=10.0)) * 1.3  # rank 1 lies above the label
        ax.set(xscale="log", yscale="log")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_major_formatter("{x:,.0f}")
    else:
        low, high = float(points.min(initial=0.0)), float(points.max(initial=1.0)) * 1.05
    ax.plot([low, high], [low, high], color=BLACK, linewidth=0.8, linestyle="--")
    ax.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    what, scale = ("search length", "ranks, log scale") if unit == "ranks" else ("value", literal(unit))
    ax.set_xlabel(f"{what} in {baseline} ({scale})")
    ax.set_ylabel(f"{what} in {contender} ({scale})")
    below, above = (contender, baseline) if not comparison.ranking.higher_is_better else (baseline, contender)
    halo = {"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1.5}
    ax.text(0.98, 0.02, f"{below} better", transform=ax.transAxes, ha="right", va="bottom", fontsize=8, bbox=halo)
    ax.text(0.02, 0.98, f"{above} better", transform=ax.transAxes, va="top", fontsize=8, bbox=halo)
    return frame.finish(f"{count(len(pairs), 'query')} on which both found something; larger: several queries")


def draw_differences(comparison: Comparison, ax: Any) -> Any:
    """Draw the histogram of per-query differences of search length, in bins that grow with the size of the difference."""
    change = np.array([query.difference for query in comparison.per_query() if query.difference is not None], dtype=np.float64)
    baseline, contender = labels_of([comparison.baseline, comparison.contender])
    unit = comparison.ranking.measured_in
    frame = Frame(ax, 6.0, 3.0)
    count_axis(frame.ax, "queries")
    if unit != "ranks":
        frame.ax.hist(change, bins=31, color=BLUE, edgecolor="white")
        frame.ax.axvline(0, color=BLACK, linewidth=0.8)
        frame.ax.set_xlabel(f"difference, {literal(unit)}")
        return frame.finish(f"{contender} minus {baseline}, {count(len(change), 'query')}")
    _bars_of_changes(frame.ax, change)
    legend_beside(frame.ax)
    return frame.finish(
        f"{contender} against {baseline}: change of search length\n{count(len(change), 'query')} on which both found something"
    )


def _bars_of_changes(ax: Any, change: Any) -> None:
    better, worse = np.histogram(-change[change < 0], _EDGES)[0], np.histogram(change[change > 0], _EDGES)[0]
    equal = len(change) - int(better.sum() + worse.sum())
    places = np.arange(1, len(_SIZES) + 1)
    ax.bar(-places, better, color=GREEN, hatch="...", edgecolor="white", label=f"better ({better.sum():,})")
    ax.bar([0], [equal], color=LIGHT, edgecolor="#666666", label=f"equal ({equal:,})")
    ax.bar(places, worse, color=ORANGE, hatch="///", edgecolor="white", label=f"worse ({worse.sum():,})")
    ax.set_xticks([*-places[::-1], 0, *places], [*_SIZES[::-1], "0", *_SIZES])
    tilt_labels(ax)
    ax.set_xlabel("ranks fewer to read (left, better) or more (right, worse)")
    highest = max(equal, *better, *worse, 1)
    if highest > 100:  # few queries change by much, and their bars must be seen beside thousands that do not
        ax.set_yscale("symlog", linthresh=10)
        ax.yaxis.set_major_formatter("{x:,.0f}")
        ax.set_ylabel("queries (log scale above 10)")
    ax.set_ylim(0, 1.1 * highest if highest <= 100 else 1.3 * highest)


def draw_queries(comparison: Comparison, ax: Any) -> Any:
    """Draw the difference of every query as a bar, from the largest gain to the largest loss.

    A query that only one run answers counts with the least difference that is possible: the other run's search length is
    taken to be one rank more than the cutoff.
    """
    from matplotlib.collections import PolyCollection
    from matplotlib.patches import Patch

    baseline, contender = labels_of([comparison.baseline, comparison.contender])
    unit = comparison.ranking.measured_in
    absent = _value_of_nothing(comparison)
    bars = _gains(comparison, absent)
    frame = Frame(ax, 6.4 if len(bars) <= 40 else 9.0, 3.4)
    ax = frame.ax
    crowded = len(bars) > 4 * NAMED_QUERIES
    handles = []
    for name, (color, hatch) in QUERY_STYLES.items():
        chosen = [(place, gain) for place, (gain, change, _) in enumerate(bars) if change == name]
        # a collection draws thousands of bars at once, and without the pale seams between them
        outlines = [[(x - 0.5, 0), (x - 0.5, gain), (x + 0.5, gain), (x + 0.5, 0)] for x, gain in chosen]
        style: dict[str, Any] = {"facecolor": color, "hatch": "" if crowded else hatch}
        edge = "none" if crowded else "white"
        ax.add_collection(PolyCollection(outlines, edgecolor=edge, linewidth=0.4, antialiased=not crowded, **style))
        handles.append(Patch(edgecolor="white", label=f"{name} ({len(chosen):,})", **style))
    ax.autoscale_view()
    ax.axhline(0, color=BLACK, linewidth=0.8)
    ax.set_xlim(-0.8, len(bars) - 0.2)
    if len(bars) <= NAMED_QUERIES:
        ax.set_xticks(range(len(bars)), labels_of([query for *_, query in bars], most=16), rotation=90, fontsize=7)
        ax.set_xlabel("query")
    else:
        ax.set_xlabel("queries, from the largest gain to the largest loss")
    missing = ""
    if unit == "ranks":
        ax.set_yscale("symlog", linthresh=1)
        ax.yaxis.set_major_formatter("{x:,.0f}")
        missing = f"; won and lost: what is not found counts as rank {absent:,.0f}"
    gained = "ranks fewer to read, log scale" if unit == "ranks" else f"{literal(unit)} gained"
    ax.set_ylabel(f"{gained}\n(up is better)")
    legend_beside(ax, handles)
    neither = len(comparison.per_query()) - len(bars)
    return frame.finish(
        f"{contender} against {baseline}, query by query\n"
        f"{count(len(bars), 'query')}, {neither:,} more answered by neither{missing}"
    )


def _gains(comparison: Comparison, absent: float) -> list[tuple[float, str, str]]:
    """List gain, kind of change and id of each query that a run answered, the largest gain first."""
    sign = 1 if comparison.ranking.higher_is_better else -1
    gains: list[tuple[float, str, str]] = []
    for query in comparison.per_query():
        if query.difference is not None:
            gain = sign * query.difference
            gains.append((gain, "better" if gain > 0 else "worse" if gain < 0 else "equal", query.query_id))
        elif query.outcome != "neither":
            own, base = (absent if value is None else value for value in (query.contender, query.baseline))
            gains.append((sign * (own - base), query.outcome, query.query_id))
    return sorted(gains, key=lambda bar: -bar[0])


def _value_of_nothing(comparison: Comparison) -> float:
    """Return what counts for a run that found nothing: the rank behind the cutoff, or 0 of another measure."""
    if comparison.ranking.measured_in != "ranks":
        return 0.0
    if comparison.restricted is not None:
        return comparison.restricted.horizon + 1.0
    found = [value for query in comparison.per_query() for value in (query.baseline, query.contender) if value is not None]
    return float(np.floor(max(found, default=0.0))) + 1.0
