"""Pictures of a comparison, with matplotlib: readable in print, and by the colour-blind.

Each takes ``ax=`` and returns the Axes it drew on. Colours are Okabe and Ito's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ir_outcomes.comparison.outcomes import OUTCOMES
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.errors import MissingDependency, ParameterError

ORANGE, BLUE, GREEN, GREY, BLACK = "#E69F00", "#0072B2", "#009E73", "#BBBBBB", "#000000"
MOST_LABELS = 6
_OUTCOME_STYLES = {"neither": (GREY, ""), "lost": (ORANGE, "///"), "won": (GREEN, "..."), "both": (BLUE, "")}


def outcome_bar(comparisons: Comparison | Sequence[Comparison], ax: Any = None) -> Any:
    """Draw one bar for each comparison: shares of neither, lost, won and both.

    Parameters
    ----------
    comparisons : Comparison or sequence of Comparison
        From top to bottom.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    MissingDependency
        If matplotlib is not installed.
    """
    items = [comparisons] if isinstance(comparisons, Comparison) else list(comparisons)
    ax = axes_or_new(ax, height=1.4 + 0.45 * len(items))
    left = np.zeros(len(items))
    for outcome in OUTCOMES:
        shares = np.array([100 * each.outcomes.fractions.get(outcome, 0.0) for each in items])
        color, hatch = _OUTCOME_STYLES[outcome]
        ax.barh(range(len(items)), shares, left=left, color=color, hatch=hatch, edgecolor="white", label=outcome)
        left += shares
    ax.set_yticks(range(len(items)), [_versus(each) for each in items])
    ax.invert_yaxis()
    what = "queries" if items[0].unit == "query" else "relevant documents, averaged within queries"
    ax.set_xlabel(f"% of {what}")
    ax.set_xlim(0, 100)
    ax.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    return ax


def rank_scatter(comparison: Comparison, ax: Any = None) -> Any:
    """Draw search length against search length, on log axes, for the queries of the ranking facet.

    Points below the diagonal are better in the contender; larger points are several queries.
    """
    ax = axes_or_new(ax, width=4.6, height=4.6)
    pairs = [(q.baseline, q.contender) for q in comparison.per_query() if q.difference is not None]
    points, counts = np.unique(np.array(pairs, dtype=np.float64).reshape(-1, 2), axis=0, return_counts=True)
    ax.scatter(points[:, 0], points[:, 1], s=10 * np.sqrt(counts), color=BLUE, alpha=0.6, linewidths=0)
    largest = float(points.max(initial=10.0)) * 1.3
    ax.plot([0.8, largest], [0.8, largest], color=BLACK, linewidth=0.8, linestyle="--")
    ax.set(xscale="log", yscale="log", xlim=(0.8, largest), ylim=(0.8, largest), aspect="equal")
    ax.set_xlabel(f"search length in {label_of(comparison.baseline)} (ranks)")
    ax.set_ylabel(f"search length in {label_of(comparison.contender)} (ranks)")
    ax.text(0.97, 0.04, f"{label_of(comparison.contender)} better", transform=ax.transAxes, ha="right")
    ax.text(0.03, 0.93, f"{label_of(comparison.baseline)} better", transform=ax.transAxes)
    return ax


def difference_histogram(comparison: Comparison, ax: Any = None) -> Any:
    """Draw the histogram of per-query differences of search length, in bins that grow with the size of the difference."""
    ax = axes_or_new(ax, width=6.0, height=3.2)
    change = np.array([q.difference for q in comparison.per_query() if q.difference is not None])
    edges = np.array([0.5, 1.5, 3.5, 7.5, 15.5, 31.5, 63.5, np.inf])
    labels = ["1", "2 to 3", "4 to 7", "8 to 15", "16 to 31", "32 to 63", "64 or more"]
    counts = np.histogram(np.abs(change[change < 0]), edges)[0], np.histogram(change[change > 0], edges)[0]
    places = np.arange(1, len(labels) + 1)
    unchanged = len(change) - int(counts[0].sum() + counts[1].sum())
    ax.bar(-places, counts[0], color=GREEN, hatch="...", edgecolor="white", label=f"{label_of(comparison.contender)} better")
    ax.bar([0], [unchanged], color=GREY, edgecolor="white", label="equal, within half a rank")
    ax.bar(places, counts[1], color=ORANGE, hatch="///", edgecolor="white", label=f"{label_of(comparison.contender)} worse")
    ax.set_xticks([*-places, 0, *places], [*labels, "0", *labels])
    ax.tick_params(axis="x", labelrotation=60)
    ax.set_xlabel(f"ranks fewer (left) or more to read in {label_of(comparison.contender)}")
    ax.set_ylabel("queries")
    ax.set_yscale("symlog", linthresh=10)
    ax.set_ylim(0, 1.3 * max(unchanged, *counts[0], *counts[1], 1))
    ax.legend(frameon=False, fontsize="small")
    return ax


def facet_plot(comparisons: Comparison | Sequence[Comparison], ax: Any = None) -> Any:
    """Draw the change of coverage against the change of ranking, with both intervals; up and to the right is better."""
    items = [comparisons] if isinstance(comparisons, Comparison) else list(comparisons)
    items = [each for each in items if each.coverage.difference is not None and each.ranking.difference is not None]
    ax = axes_or_new(ax, width=6.0 if len(items) <= MOST_LABELS else 7.6, height=4.6)
    better = 1 if items and items[0].ranking.higher_is_better else -1
    styles = [(marker, color) for color in (BLUE, ORANGE, GREEN, GREY) for marker in "osD^vP*X"]
    for each, (marker, color) in zip(items, styles * len(items), strict=False):
        x, y = each.coverage.difference or 0.0, better * (each.ranking.difference or 0.0)
        xerr = _error(each.coverage.interval, x)
        yerr = _error(None if each.ranking.interval is None else sorted(better * bound for bound in each.ranking.interval), y)
        ax.errorbar(
            x, y, xerr=xerr, yerr=yerr, marker=marker, color=color, markeredgecolor=BLACK, capsize=2, linestyle="", linewidth=1,
            label=label_of(each.contender),
        )  # fmt: skip
        if len(items) <= MOST_LABELS:
            ax.annotate(label_of(each.contender), (x, y), xytext=(5, 5), textcoords="offset points", fontsize="small")
    if len(items) > MOST_LABELS:
        ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")
    ax.axhline(0, color=BLACK, linewidth=0.8)
    ax.axvline(0, color=BLACK, linewidth=0.8)
    _symmetric(ax)
    corners = {(0.98, 0.97): "better", (0.02, 0.97): "trade-off", (0.98, 0.03): "trade-off", (0.02, 0.03): "worse"}
    for (x, y), label in corners.items():
        place = {"ha": "right" if x > 0.5 else "left", "va": "top" if y > 0.5 else "bottom"}
        ax.text(x, y, label, transform=ax.transAxes, color="#555555", style="italic", **place)
    ax.set_xlabel("coverage: percentage points more (right) or fewer found")
    unit = items[0].ranking.measured_in if items else "ranks"
    ax.set_ylabel("ranking: ranks fewer (up) or more to read" if unit == "ranks" else f"ranking: {unit} gained (up) or lost")
    return ax


PLOTS: dict[str, Callable[..., Any]] = {
    "outcomes": outcome_bar,
    "ranks": rank_scatter,
    "differences": difference_histogram,
    "facets": facet_plot,
}


def plot(result: Any, kind: str, ax: Any = None) -> Any:
    """Draw one of `PLOTS` by its name.

    Raises
    ------
    ParameterError
        If there is no such picture, or it is for a single comparison.
    """
    if kind not in PLOTS:
        raise ParameterError(f"kind={kind!r}: must be one of {', '.join(PLOTS)}")
    if kind in ("ranks", "differences") and not isinstance(result, Comparison):
        raise ParameterError(f"kind={kind!r} is for one comparison; choose it, such as result[0].plot({kind!r})")
    return PLOTS[kind](result, ax=ax)


def label_of(name: str, most: int = 28) -> str:
    """Make a label of a name: short, and taken as it is instead of as mathematics."""
    short = name if len(name) <= most else f"{name[: most - 3]}..."
    return short.replace("$", r"\$")


def axes_or_new(ax: Any, width: float = 6.4, height: float = 3.0) -> Any:
    """Return the given Axes, or those of a new figure of this size in inches."""
    if ax is not None:
        return ax
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency("pictures need matplotlib: pip install 'ir-outcomes[plot]'") from None
    return Figure(figsize=(width, height), layout="constrained", dpi=150).subplots()


def _versus(comparison: Comparison) -> str:
    return f"{label_of(comparison.contender)}\nagainst {label_of(comparison.baseline)}"


def _error(interval: Sequence[float] | None, value: float) -> list[list[float]] | None:
    return None if interval is None else [[max(value - interval[0], 0.0)], [max(interval[1] - value, 0.0)]]


def _symmetric(ax: Any) -> None:
    for limits, set_limits in ((ax.get_xlim(), ax.set_xlim), (ax.get_ylim(), ax.set_ylim)):
        most = 1.15 * max(map(abs, limits))
        set_limits(-most, most)
