"""Figures of comparisons: both facets, outcomes, and where the restricted search length comes from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes.comparison.outcomes import OUTCOMES
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.errors import ParameterError
from ir_outcomes.showing.figures._labels import Names, label_points
from ir_outcomes.showing.figures._style import (
    BLACK,
    BLUE,
    GREEN,
    LIGHT,
    ORANGE,
    SKY,
    VERMILLION,
    YELLOW,
    Frame,
    count,
    legend_beside,
    name_rows,
    place_rows,
    series_style,
    styled,
)
from ir_outcomes.showing.figures.dispatch import Drawing, kinds
from ir_outcomes.showing.figures.queries import difference_histogram, query_chart, rank_scatter

__all__ = ["RestrictedParts", "facet_plot", "outcome_bar", "restricted_bar"]

DIRECT_LABELS = 5  # up to this many contenders have their names beside their points
NUMBERED = 30  # up to this many have numbers, which a legend explains; more are shown by their verdict
OUTCOME_STYLES = {"neither": (LIGHT, ""), "lost": (ORANGE, "///"), "won": (GREEN, "..."), "both": (BLUE, "")}
VERDICT_STYLES = dict(
    zip(
        LABELS,
        (
            {"color": BLUE, "marker": "o"},
            {"color": SKY, "marker": "^"},
            {"color": VERMILLION, "marker": "X"},
            {"color": ORANGE, "marker": "v"},
            {"color": YELLOW, "marker": "D"},
            {"color": LIGHT, "marker": "s"},
        ),
        strict=True,
    )
)


@dataclass(frozen=True)
class RestrictedParts:
    """Where a difference of restricted search length comes from; all in ranks, lower is better.

    Attributes
    ----------
    contender : str
        The run; every number is contender minus baseline.
    both, won, lost : float
        Part of what both runs found, of what only the contender found (at most 0), and of what only the baseline found (at
        least 0).
    interval : (float, float) or None
        Confidence interval of their sum.
    """

    contender: str
    both: float
    won: float
    lost: float
    interval: tuple[float, float] | None = None

    @property
    def difference(self) -> float:
        """Sum of the parts: the difference of the restricted search length."""
        return self.both + self.won + self.lost


@styled
def facet_plot(comparisons: Comparison | Sequence[Comparison], ax: Any = None) -> Any:
    """Draw the change of coverage against the change of ranking, with both intervals; up and to the right is better.

    Points are filled where the verdict finds a difference. Up to 5 contenders are named beside their points, up to 30 by
    numbers; more are drawn by their verdict, without intervals, and only the outermost are named.

    Parameters
    ----------
    comparisons : Comparison or sequence of Comparison
        What to draw.
    ax : matplotlib Axes or Figure, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        If no comparison has both facets.
    MissingDependency
        If matplotlib is not installed.
    """
    given = _sequence(comparisons)
    items = [item for item in given if item.coverage.difference is not None and item.ranking.difference is not None]
    if not items:
        raise ParameterError("kind='facets': no query is found by both runs, so there is no ranking facet to draw")
    frame = Frame(ax, 5.2, max(4.2, 0.155 * (len(items) + 2) if len(items) <= NUMBERED else 0.0))  # the legend's height
    ax = frame.ax
    better = 1 if items[0].ranking.higher_is_better else -1
    points = [(item.coverage.difference or 0.0, better * (item.ranking.difference or 0.0)) for item in items]
    contenders, baseline = _versus_names(items)
    ax.axhline(0, color=BLACK, linewidth=0.8, zorder=1)
    ax.axvline(0, color=BLACK, linewidth=0.8, zorder=1)
    if len(items) > NUMBERED:
        _points_by_verdict(ax, items, points)
    else:
        for number, (item, point) in enumerate(zip(items, points, strict=True)):
            label = contenders[number] if len(items) <= DIRECT_LABELS else f"{number + 1}  {contenders[number]}"
            _point_with_intervals(ax, item, point, better, label, series_style(number))
    ax.margins(0.08)
    _explain(ax, len(items))
    ax.set_xlabel(f"coverage: change in {_found(items[0])}, percentage points\n(right is better)")
    unit = items[0].ranking.measured_in
    ax.set_ylabel(
        "ranking: ranks fewer to read (up is better)" if unit == "ranks" else f"ranking: {unit} gained (up is better)"
    )
    level = f"{100 * (1 - items[0].settings.alpha):g} % intervals, " if len(items) <= NUMBERED else ""
    missing = len(given) - len(items)
    frame.finish(
        f"{count(len(items), 'contender')} against {baseline}\n{level}{_conditions(items[0])}, "
        f"{count(items[0].n_queries, 'query', 'queries')}"
        + (f"; {count(missing, 'contender')} without a ranking facet not shown" if missing else "")
    )
    names: list[str] = [str(number + 1) for number in range(len(items))]
    if len(items) <= DIRECT_LABELS:
        names = list(contenders)
    elif len(items) > NUMBERED:
        outermost = _outermost(np.array(points))
        names = [contenders[number] if number in outermost else "" for number in range(len(items))]
    lines = (
        []
        if len(items) > NUMBERED
        else [line for item, point in zip(items, points, strict=True) for line in _lines(item, point, better)]
    )
    label_points(ax, points, names, fontsize=8 if len(items) <= DIRECT_LABELS else 7, lines=lines)
    return ax


@styled
def outcome_bar(comparisons: Comparison | Sequence[Comparison], ax: Any = None) -> Any:
    """Draw one bar for each comparison: shares of neither, lost, won and both.

    Parameters
    ----------
    comparisons : Comparison or sequence of Comparison
        From top to bottom.
    ax : matplotlib Axes or Figure, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    MissingDependency
        If matplotlib is not installed.
    """
    items = _sequence(comparisons)
    rows = place_rows(len(items), pitch=0.34, least=0.55)
    frame = Frame(ax, 5.4, rows.height)
    ax = frame.ax
    left = np.zeros(len(items))
    for outcome in OUTCOMES:
        shares = np.array([100 * getattr(item.outcomes.shares, outcome, 0.0) for item in items])
        color, hatch = OUTCOME_STYLES[outcome]
        ax.barh(range(len(items)), shares, left=left, color=color, hatch=hatch, edgecolor="white", linewidth=0.4, label=outcome)
        left += shares
    contenders, baseline = _versus_names(items)
    name_rows(ax, contenders, rows)
    what = "queries" if items[0].settings.unit == "query" else "relevant documents, averaged within queries"
    ax.set_xlabel(f"% of {what}")
    ax.set_xlim(0, 100)
    legend_beside(ax)
    frame.finish(
        f"Found by neither, only by {baseline} (lost), only by the contender (won), by both\n"
        f"{_conditions(items[0])}, {count(items[0].n_queries, 'query', 'queries')}"
    )
    return ax


@styled
def restricted_bar(
    baseline: str,
    parts: Sequence[RestrictedParts],
    ax: Any = None,
    *,
    cutoff: int | None = None,
    n: int | None = None,
    unit: str = "query",
) -> Any:
    """Draw where differences of the restricted search length come from: both, won and lost, and their sum.

    Parameters
    ----------
    baseline : str
        Name of the baseline.
    parts : sequence of RestrictedParts
        One for each contender, from top to bottom.
    ax : matplotlib Axes or Figure, optional
        Where to draw; by default on a new figure.
    cutoff : int, optional
        Rank to which search lengths are restricted.
    n : int, optional
        Number of answerable queries.
    unit : {"query", "document"}
        What is found or not.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        If there is nothing to draw.
    MissingDependency
        If matplotlib is not installed.
    """
    if not parts:
        raise ParameterError("there is no restricted search length to draw: it needs a cutoff")
    rows = place_rows(len(parts), pitch=0.4, least=0.6)
    frame = Frame(ax, 5.4, rows.height)
    ax = frame.ax
    places = np.arange(len(parts))
    edges = {"left": np.zeros(len(parts)), "right": np.zeros(len(parts))}
    for name, style in (("both", OUTCOME_STYLES["both"]), ("won", OUTCOME_STYLES["won"]), ("lost", OUTCOME_STYLES["lost"])):
        values = np.array([getattr(part, name) for part in parts])
        starts = np.where(values < 0, edges["left"], edges["right"])
        ax.barh(places, values, 0.62, left=starts, color=style[0], hatch=style[1], edgecolor="white", linewidth=0.4, label=name)
        edges["left"] += np.minimum(values, 0)
        edges["right"] += np.maximum(values, 0)
    for place, part in enumerate(parts):
        low, high = part.interval or (part.difference, part.difference)
        ax.plot([low, high], [place, place], color=BLACK, linewidth=1.2)
    sums = [part.difference for part in parts]
    size = max(2.5, min(7.0, 0.5 * 72 * rows.height / len(parts)))
    label = "sum, with its interval" if any(part.interval for part in parts) else "sum"
    ax.plot(sums, places, "D", color="white", markeredgecolor=BLACK, markersize=size, label=label)
    ax.axvline(0, color=BLACK, linewidth=0.8)
    names = Names([baseline, *(part.contender for part in parts)])
    name_rows(ax, [names[part.contender] for part in parts], rows)
    ax.margins(x=0.06)
    what = "query" if unit == "query" else "relevant document, averaged within queries"
    ax.set_xlabel(f"ranks more to read per {what} (left is better)")
    legend_beside(ax)
    where = "" if cutoff is None else f"; what is not found counts as rank {cutoff + 1:,}"
    size_note = "" if n is None else f"\n{count(n, 'answerable query', 'answerable queries')}{where}"
    frame.finish(f"Restricted search length against {names[baseline]}: parts of both, won and lost{size_note}")
    return ax


def _point_with_intervals(
    ax: Any, item: Comparison, point: tuple[float, float], better: int, label: str, style: Mapping[str, str]
) -> None:
    vertical = item.ranking.interval
    turned = None if vertical is None else sorted(better * bound for bound in vertical)
    significant = item.verdict.label != LABELS[-1]
    ax.errorbar(
        *point,
        xerr=_error(item.coverage.interval, point[0]),
        yerr=_error(turned, point[1]),
        capsize=2,
        linestyle="",
        linewidth=1,
        markersize=6,
        ecolor=style["color"],
        markerfacecolor=style["color"] if significant else "white",
        markeredgecolor=BLACK if significant else style["color"],
        markeredgewidth=0.8,
        marker=style["marker"],
        label=label,
        zorder=3,
    )


def _lines(item: Comparison, point: tuple[float, float], better: int) -> list[tuple[tuple[float, float], tuple[float, float]]]:
    """Return the two intervals of a point as lines."""
    (x, y), across, along = point, item.coverage.interval, item.ranking.interval
    lines = [] if across is None else [((across[0], y), (across[1], y))]
    return lines if along is None else [*lines, ((x, better * along[0]), (x, better * along[1]))]


def _points_by_verdict(ax: Any, items: Sequence[Comparison], points: Sequence[tuple[float, float]]) -> None:
    numbers = Counter(item.verdict.label for item in items)
    for label, style in VERDICT_STYLES.items():
        chosen = [point for item, point in zip(items, points, strict=True) if item.verdict.label == label]
        if chosen:
            ax.scatter(
                *zip(*chosen, strict=True),
                s=26,
                edgecolors=BLACK,
                linewidths=0.6,
                label=f"{label} ({numbers[label]})",
                zorder=3,
                **style,
            )


def _outermost(points: np.ndarray[Any, Any], most: int = 8) -> set[int]:
    """Choose the points that lie furthest out in a few directions, after both axes are brought to one scale."""
    scaled = points / np.where(np.abs(points).max(axis=0) > 0, np.abs(points).max(axis=0), 1.0)
    angles = np.arange(most) * 2 * np.pi / most + np.pi / most
    return {int(np.argmax(scaled @ np.array([np.cos(angle), np.sin(angle)]))) for angle in angles}


def _explain(ax: Any, n_items: int) -> None:
    """Explain the markers on the right; up to `DIRECT_LABELS` names stand beside the points."""
    from matplotlib.lines import Line2D

    filled = Line2D(
        [], [], linestyle="", marker="o", color="#666666", markeredgecolor=BLACK, label="the verdict finds a difference"
    )
    hollow = Line2D(
        [], [], linestyle="", marker="o", color="#666666", markerfacecolor="white", label="no significant difference"
    )
    shown = ax.get_legend_handles_labels()[0] if n_items > DIRECT_LABELS else []
    legend_beside(ax, shown if n_items > NUMBERED else [*shown, filled, hollow])


def _versus_names(items: Sequence[Comparison]) -> tuple[list[str], str]:
    """Return the labels of the contenders, and the baseline's; contenders name theirs where there are several baselines."""
    baselines = list(dict.fromkeys(item.baseline for item in items))
    names = Names([*baselines, *(item.contender for item in items)])
    if len(baselines) == 1:
        return [names[item.contender] for item in items], names[baselines[0]]
    return [f"{names[item.contender]} / {names[item.baseline]}" for item in items], f"{len(baselines)} baselines"


def _conditions(item: Comparison) -> str:
    settings = item.settings
    depth = "no cutoff" if settings.cutoff is None else f"cutoff {settings.cutoff:,}"
    return f"{depth}, grade {settings.rel} or more"


def _found(item: Comparison) -> str:
    return "queries answered" if item.settings.unit == "query" else "relevant documents found"


def _error(interval: Sequence[float] | None, value: float) -> list[list[float]] | None:
    return None if interval is None else [[max(value - interval[0], 0.0)], [max(interval[1] - value, 0.0)]]


def _sequence(comparisons: Comparison | Sequence[Comparison]) -> list[Comparison]:
    return list(comparisons) if isinstance(comparisons, Iterable) else [comparisons]


def _restricted(comparisons: Comparison | Sequence[Comparison], ax: Any = None) -> Any:
    """Draw `restricted_bar` of comparisons."""
    items = _sequence(comparisons)
    parts, horizons = [], set()
    for item in items:
        if (found := item.restricted) is not None:
            parts.append(RestrictedParts(item.contender, found.both, found.won, found.lost, found.interval))
            horizons.add(found.horizon)
    cutoff = horizons.pop() if len(horizons) == 1 else None
    return restricted_bar(items[0].baseline, parts, ax, cutoff=cutoff, n=items[0].n_queries, unit=items[0].settings.unit)


def _only_single(kind: str) -> Callable[..., Any]:
    def refuse(result: object, ax: Any = None) -> Any:
        raise ParameterError(f"kind={kind!r} is for one comparison; choose it, such as result[0].plot({kind!r})")

    return refuse


_SINGLE: dict[str, Drawing] = {"ranks": rank_scatter, "differences": difference_histogram, "queries": query_chart}
_ALL: dict[str, Drawing] = {"facets": facet_plot, "outcomes": outcome_bar, "restricted": _restricted}


@kinds.register
def _(result: Comparison) -> Mapping[str, Drawing]:
    return {**_ALL, **_SINGLE}


@kinds.register
def _(result: Comparisons) -> Mapping[str, Drawing]:
    return {**_ALL, **{kind: _only_single(kind) for kind in _SINGLE}}
