"""Figures of comparisons: both facets, outcomes, and where the restricted search length comes from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ir_outcomes.comparison.result import Comparison
from ir_outcomes.comparison.verdict import NO_DIFFERENCE
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.lengths import OUTCOMES
from ir_outcomes.showing.figures._frame import Frame, legend_beside, row_frame, stacked_bars
from ir_outcomes.showing.figures._labels import label_points, labels_of, literal
from ir_outcomes.showing.figures._palette import BLACK, BLUE, GREEN, LIGHT, ORANGE, SKY, VERMILLION, YELLOW, series_style
from ir_outcomes.showing.words import conditions_words, count, items_words, level_words

__all__ = ["draw_facets", "draw_outcomes", "draw_restricted"]

DIRECT_LABELS = 5  # up to this many contenders have their names beside their points
NUMBERED = 30  # up to this many have numbers, which a legend explains; more are shown by their verdict
OUTCOME_STYLES = {"neither": (LIGHT, ""), "lost": (ORANGE, "///"), "won": (GREEN, "..."), "both": (BLUE, "")}
Items = Sequence[Comparison]
Points = Sequence[tuple[float, float]]
Line = tuple[tuple[float, float], tuple[float, float]]
VERDICT_STYLES = {
    "better on both facets": (BLUE, "o"),
    "better without harm": (SKY, "^"),
    "coverage gain, unconfirmed": (LIGHT, "^"),
    "ranking gain, unconfirmed": (LIGHT, "o"),
    NO_DIFFERENCE: (LIGHT, "s"),
    "trade-off": (YELLOW, "D"),
    "ranking loss, unconfirmed": (LIGHT, "X"),
    "coverage loss, unconfirmed": (LIGHT, "v"),
    "worse without gain": (ORANGE, "v"),
    "worse on both facets": (VERMILLION, "X"),
}


def draw_facets(comparisons: Comparison | Items, ax: Any) -> Any:
    """Draw the change of coverage against the change of ranking, with both intervals; up and to the right is better.

    Points are filled where the verdict finds a difference. Up to 5 contenders are named beside their points, up to 30 by
    numbers; more are drawn by their verdict, without intervals, and only the outermost are named.
    """
    given = _sequence(comparisons)
    items = [item for item in given if item.coverage.difference is not None and item.ranking.difference is not None]
    if not items:
        raise ParameterError("kind='facets': no query is found by both runs, so there is no ranking facet to draw")
    many = len(items) > NUMBERED
    frame = Frame(ax, 5.2, 4.2 if many else max(4.2, 0.155 * (len(items) + 2)))  # at least the legend's height
    ax = frame.ax
    ax.axhline(0, color=BLACK, linewidth=0.8, zorder=1)
    ax.axvline(0, color=BLACK, linewidth=0.8, zorder=1)
    better = 1 if items[0].ranking.higher_is_better else -1
    points = [(item.coverage.difference or 0.0, better * (item.ranking.difference or 0.0)) for item in items]
    contenders, baseline = _versus_names(items)
    names, lines = (_points_by_verdict if many else _points_with_intervals)(ax, items, points, contenders)
    ax.margins(0.08)
    found = "queries answered" if items[0].settings.unit == "query" else "relevant documents found"
    ax.set_xlabel(f"coverage: change in {found}, percentage points\n(right is better)")
    unit = items[0].ranking.measured_in
    ax.set_ylabel(f"ranking: {'ranks fewer to read' if unit == 'ranks' else f'{literal(unit)} gained'} (up is better)")
    level = "" if many else f"{level_words(items[0].settings.alpha)}s, "
    missing = len(given) - len(items)
    frame.finish(
        f"{count(len(items), 'contender')} against {baseline}\n{level}{_head(items[0])}"
        + (f"; {count(missing, 'contender')} without a ranking facet not shown" if missing else ""),
        later=names,
    )
    fontsize = 8 if len(items) <= DIRECT_LABELS else 7
    label_points(ax, points, names, fontsize=fontsize, family=frame.family, lines=lines)
    return ax


def _points_with_intervals(ax: Any, items: Items, points: Points, contenders: Sequence[str]) -> tuple[list[str], list[Line]]:
    """Draw a point for each contender; return the names to write beside them, and their intervals as lines."""
    from matplotlib.lines import Line2D

    direct = len(items) <= DIRECT_LABELS
    better = 1 if items[0].ranking.higher_is_better else -1
    lines: list[Line] = []
    for number, (item, (x, y)) in enumerate(zip(items, points, strict=True)):
        across = item.coverage.interval
        along = None if item.ranking.interval is None else sorted(better * bound for bound in item.ranking.interval)
        style = series_style(number)
        significant = item.verdict.label != NO_DIFFERENCE
        ax.errorbar(
            x,
            y,
            xerr=_error(across, x),
            yerr=_error(along, y),
            capsize=2,
            linestyle="",
            linewidth=1,
            markersize=6,
            ecolor=style["color"],
            markerfacecolor=style["color"] if significant else "white",
            markeredgecolor=BLACK if significant else style["color"],
            markeredgewidth=0.8,
            marker=style["marker"],
            label=f"{number + 1}  {contenders[number]}",
            zorder=3,
        )
        lines += [] if across is None else [((across[0], y), (across[1], y))]
        lines += [] if along is None else [((x, along[0]), (x, along[1]))]
    grey: Any = {"linestyle": "", "marker": "o", "color": "#666666"}
    filled = Line2D([], [], markeredgecolor=BLACK, label="the verdict finds a difference", **grey)
    hollow = Line2D([], [], markerfacecolor="white", label="no significant difference", **grey)
    numbered = [] if direct else ax.get_legend_handles_labels()[0]
    legend_beside(ax, [*numbered, filled, hollow])
    return list(contenders) if direct else [str(number) for number in range(1, len(items) + 1)], lines


def _points_by_verdict(ax: Any, items: Items, points: Points, contenders: Sequence[str]) -> tuple[list[str], list[Line]]:
    """Draw a point for each contender without its intervals; return the names of the outermost ones, and no lines."""
    for label, (color, marker) in VERDICT_STYLES.items():
        chosen = [point for item, point in zip(items, points, strict=True) if item.verdict.label == label]
        if chosen:
            style: Any = {"color": color, "marker": marker, "edgecolors": BLACK, "linewidths": 0.6}
            ax.scatter(*zip(*chosen, strict=True), s=26, label=f"{label} ({len(chosen)})", zorder=3, **style)
    legend_beside(ax)
    outermost = _outermost(np.array(points))
    return [name if number in outermost else "" for number, name in enumerate(contenders)], []


def _outermost(points: np.ndarray[Any, Any], most: int = 8) -> set[int]:
    """Choose the points that lie furthest out in a few directions, after both axes are brought to one scale."""
    scaled = points / np.where(np.abs(points).max(axis=0) > 0, np.abs(points).max(axis=0), 1.0)
    angles = np.arange(most) * 2 * np.pi / most + np.pi / most
    return {int(np.argmax(scaled @ np.array([np.cos(angle), np.sin(angle)]))) for angle in angles}


def _error(interval: Sequence[float] | None, value: float) -> list[list[float]] | None:
    return None if interval is None else [[max(value - interval[0], 0.0)], [max(interval[1] - value, 0.0)]]


def draw_outcomes(comparisons: Comparison | Items, ax: Any) -> Any:
    """Draw one bar for each comparison, from top to bottom: shares of neither, lost, won and both."""
    items = _sequence(comparisons)
    contenders, baseline = _versus_names(items)
    frame, _ = row_frame(ax, 5.4, contenders, pitch=0.34, least=0.55)
    stacked_bars(
        frame.ax,
        (
            (outcome, *OUTCOME_STYLES[outcome], [100 * getattr(item.outcomes.shares, outcome, 0.0) for item in items])
            for outcome in OUTCOMES
        ),
    )
    frame.ax.set_xlabel(f"% of {items_words(items[0].settings.unit)}")
    frame.ax.set_xlim(0, 100)
    legend_beside(frame.ax)
    return frame.finish(f"Found by neither, only by {baseline} (lost), only by the contender (won), by both\n{_head(items[0])}")


def draw_restricted(comparisons: Comparison | Items, ax: Any) -> Any:
    """Draw where differences of the restricted search length come from: both, won and lost, and their sum."""
    items = [item for item in _sequence(comparisons) if item.restricted is not None]
    if not items:
        raise ParameterError("there is no restricted search length to draw: it needs a cutoff")
    contenders, baseline = _versus_names(items)
    lengths = [item.restricted for item in items if item.restricted is not None]
    frame, rows = row_frame(ax, 5.4, contenders, pitch=0.4, least=0.6)
    ax = frame.ax
    stacked_bars(
        ax,
        ((part, *OUTCOME_STYLES[part], [getattr(length, part) for length in lengths]) for part in ("both", "won", "lost")),
        thickness=0.62,
    )
    for place, length in enumerate(lengths):
        ax.plot(length.interval or [length.difference] * 2, [place, place], color=BLACK, linewidth=1.2)
    size = max(2.5, min(7.0, 0.5 * 72 * rows.height / len(items)))
    label = "sum, with its interval" if any(length.interval for length in lengths) else "sum"
    sums = [length.difference for length in lengths]
    ax.plot(sums, range(len(sums)), "D", color="white", markeredgecolor=BLACK, markersize=size, label=label)
    ax.axvline(0, color=BLACK, linewidth=0.8)
    ax.margins(x=0.06)
    what = "query" if items[0].settings.unit == "query" else "relevant document, averaged within queries"
    ax.set_xlabel(f"ranks more to read per {what} (left is better)")
    legend_beside(ax)
    horizons = {length.horizon for length in lengths}
    where = f"; what is not found counts as rank {horizons.pop() + 1:,}" if len(horizons) == 1 else ""
    return frame.finish(
        f"Restricted search length against {baseline}: parts of both, won and lost\n"
        f"{count(items[0].n_queries, 'answerable query')}{where}"
    )


def _versus_names(items: Items) -> tuple[list[str], str]:
    """Return the labels of the contenders, and the baseline's; contenders name theirs where there are several baselines."""
    labels = labels_of([name for item in items for name in (item.baseline, item.contender)])
    baselines, contenders = labels[::2], labels[1::2]
    n_baselines = len({item.baseline for item in items})
    if n_baselines == 1:
        return contenders, baselines[0]
    return [f"{own} / {base}" for own, base in zip(contenders, baselines, strict=True)], f"{n_baselines} baselines"


def _head(item: Comparison) -> str:
    return f"{conditions_words(item.settings)}, {count(item.n_queries, 'query')}"


def _sequence(comparisons: Comparison | Items) -> list[Comparison]:
    return list(comparisons) if isinstance(comparisons, Iterable) else [comparisons]
