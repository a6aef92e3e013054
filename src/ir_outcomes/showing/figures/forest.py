"""Forest plot: the same comparison under several conditions, with their mean and what to expect of a new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ir_outcomes.errors import ParameterError
from ir_outcomes.showing.figures._labels import Names, literal
from ir_outcomes.showing.figures._style import BLACK, BLUE, LIGHT, VERMILLION, Frame, name_rows, place_rows, styled

__all__ = ["ForestPanel", "ForestRow", "forest"]


@dataclass(frozen=True)
class ForestRow:
    """One row of a forest plot.

    Attributes
    ----------
    label : str
        Name of the condition, or what the row summarises.
    estimate, low, high : float or None
        Estimate and its interval, on the scale of the panel; None where it could not be computed, which the row says.
    weight : float
        Weight of the condition in the mean, on any scale; the area of its square. A summary needs none.
    kind : {"condition", "these", "new"}
        A condition (square), the mean of these conditions (filled diamond), or the mean that a new condition is drawn around
        (open diamond).
    prediction : (float, float) or None
        Where a new condition is expected; a line on the row of kind "new".
    """

    label: str
    estimate: float | None
    low: float | None
    high: float | None
    weight: float = 1.0
    kind: Literal["condition", "these", "new"] = "condition"
    prediction: tuple[float, float] | None = None


@dataclass(frozen=True)
class ForestPanel:
    """One panel of a forest plot: a facet, or another measure.

    Attributes
    ----------
    title : str
        What is compared.
    xlabel : str
        Unit of the estimates.
    rows : tuple of ForestRow
        From top to bottom; every panel has the same labels.
    better : {"left", "right"}
        Which side is better for the contender.
    null : float
        Value that means no difference: 0 of a difference, 1 of a ratio.
    log : bool
        Whether the axis is logarithmic, for ratios.
    digits : int
        Decimals of the printed estimates.
    """

    title: str
    xlabel: str
    rows: tuple[ForestRow, ...]
    better: Literal["left", "right"] = "right"
    null: float = 0.0
    log: bool = False
    digits: int = 2


@styled
def forest(panels: Sequence[ForestPanel], ax: Any = None, *, title: str = "") -> Any:
    r"""Draw estimates with intervals, one panel for each facet and one row for each condition.

    Parameters
    ----------
    panels : sequence of ForestPanel
        From left to right.
    ax : matplotlib Axes or Figure, optional
        Where to draw; by default on a new figure.
    title : str
        What stands above: the runs, the number of queries, the level.

    Returns
    -------
    matplotlib Axes
        The first panel.

    Raises
    ------
    ParameterError
        If there is no panel or row, or the panels have different rows.
    MissingDependency
        If matplotlib is not installed.

    Examples
    --------
    >>> rows = (ForestRow("nfcorpus", 0.4, -0.2, 1.0), ForestRow("mean of these", 0.4, -0.2, 1.0, kind="these"))
    >>> axes = forest([ForestPanel("coverage", "percentage points", rows)])
    >>> axes.get_xlabel()
    'percentage points\nright is better'
    """
    if not panels or not panels[0].rows:
        raise ParameterError("a forest plot needs at least one panel with at least one row")
    labels = [row.label for row in panels[0].rows]
    if any([row.label for row in panel.rows] != labels for panel in panels):
        raise ParameterError("the panels of a forest plot must have the same rows")
    rows = place_rows(len(labels), pitch=0.27)
    frame = Frame(ax, 2.9, rows.height, columns=len(panels))
    names = Names(labels, most=34)
    for number, (panel, axes) in enumerate(zip(panels, frame.panels, strict=True)):
        _draw_panel(axes, panel, rows.fontsize)
        name_rows(axes, [names[label] for label in labels] if number == 0 else [""] * len(labels), rows)
        for tick, row in zip(axes.get_yticklabels(), panel.rows[:: rows.step], strict=False):
            tick.set_fontweight("normal" if row.kind == "condition" else "bold")
        axes.tick_params(axis="y", length=0)
        if number:
            axes.set_title(literal(panel.title), fontsize=9, loc="left")
    return frame.finish(literal(f"{title}\n{panels[0].title}" if title else panels[0].title))


def _draw_panel(ax: Any, panel: ForestPanel, fontsize: float) -> None:
    weights = [row.weight for row in panel.rows if row.kind == "condition" and row.estimate is not None]
    largest = max(weights, default=1.0) or 1.0
    n_conditions = sum(row.kind == "condition" for row in panel.rows)
    if panel.log:
        ax.set_xscale("log")
    ax.axvline(panel.null, color=BLACK, linewidth=0.8, zorder=1)
    if 0 < n_conditions < len(panel.rows):
        ax.axhline(n_conditions - 0.5, color=LIGHT, linewidth=0.8, zorder=0)
    for place, row in enumerate(panel.rows):
        text = "not estimated" if row.estimate is None else _estimate_text(row, panel)
        ax.text(
            1.02,
            place,
            text,
            transform=ax.get_yaxis_transform(),
            va="center",
            fontsize=fontsize * 0.88,
            fontweight="normal" if row.kind == "condition" else "bold",
        )
        if row.estimate is None:
            continue
        low = row.estimate if row.low is None else row.low
        high = row.estimate if row.high is None else row.high
        if row.kind == "condition":
            ax.plot([low, high], [place, place], color=BLACK, linewidth=1, zorder=2)
            size = (0.25 + 0.75 * np.sqrt(max(row.weight, 0.0) / largest)) * fontsize
            ax.plot(row.estimate, place, "s", color=BLUE, markersize=size, markeredgecolor=BLACK, markeredgewidth=0.4, zorder=3)
            continue
        if row.prediction is not None:
            ax.plot(
                row.prediction, [place, place], color=VERMILLION, linewidth=1.6, zorder=2, marker="|", markersize=fontsize * 0.8
            )
        corners = [(low, place), (row.estimate, place - 0.3), (high, place), (row.estimate, place + 0.3)]
        ax.fill(
            *zip(*corners, strict=True),
            facecolor=BLACK if row.kind == "these" else "white",
            edgecolor=BLACK,
            linewidth=1,
            zorder=3,
        )
    _set_limits(ax, panel)
    ax.set_xlabel(f"{literal(panel.xlabel)}\n{panel.better} is better", fontsize=8)
    ax.tick_params(axis="x", labelsize=8)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def _set_limits(ax: Any, panel: ForestPanel) -> None:
    """Show every interval, a part of the other side of "no difference", and ticks that can be read on a log axis."""
    values = [panel.null]
    for row in panel.rows:
        values += [value for value in (row.estimate, row.low, row.high, *(row.prediction or ())) if value is not None]
    if not panel.log:
        margin = 0.06 * (max(values) - min(values) or 1.0)
        ax.set_xlim(min(values) - margin, max(values) + margin)
        ax.locator_params(axis="x", nbins=5)
        return
    from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator, StrMethodFormatter

    low, high = min(values), max(values)
    margin = (high / low) ** 0.06 if high > low else 1.1
    ax.set_xlim(low / margin, high * margin)
    ticks = [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.25, 1.5, 2, 3, 5, 10, 20, 50, 100]
    shown = [tick for tick in ticks if low / margin <= tick <= high * margin]
    while len(shown) > 6:
        near = panel.null if panel.null in shown else shown[0]
        shown = [tick for number, tick in enumerate(shown) if (number - shown.index(near)) % 2 == 0]
    ax.xaxis.set_major_locator(FixedLocator(shown))
    ax.xaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_minor_formatter(NullFormatter())


def _estimate_text(row: ForestRow, panel: ForestPanel) -> str:
    sign = "" if panel.log else "+"
    numbers = [
        f"{value:{sign}.{panel.digits}f}".replace("-", "\N{MINUS SIGN}")
        for value in (row.estimate, row.low, row.high)
        if value is not None
    ]
    return numbers[0] if len(numbers) < 3 else f"{numbers[0]} [{numbers[1]}, {numbers[2]}]"
