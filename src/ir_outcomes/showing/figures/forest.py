"""Forest plot: the same comparison under several conditions, with their mean and what to expect of a new one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ir_outcomes.showing.figures._frame import Frame, name_rows, place_rows
from ir_outcomes.showing.figures._labels import labels_of, literal
from ir_outcomes.showing.figures._palette import BLACK, BLUE, LIGHT, VERMILLION

__all__ = ["ForestPanel", "ForestRow", "draw_forest"]


@dataclass(frozen=True)
class ForestRow:
    """One row of a forest plot.

    Attributes
    ----------
    label : str
        Name of the condition, or what the row summarises.
    estimate : (float, float, float) or None
        Estimate and the ends of its interval, on the scale of the panel; None where it could not be computed, which the row
        says.
    weight : float
        Weight of the condition in the mean, on any scale; the area of its square. A summary needs none.
    kind : {"condition", "these", "new"}
        A condition (square), the mean of these conditions (filled diamond), or the mean that a new condition is drawn around
        (open diamond).
    prediction : (float, float) or None
        Where a new condition is expected; a line on the row of kind "new".
    """

    label: str
    estimate: tuple[float, float, float] | None
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


def draw_forest(panels: Sequence[ForestPanel], title: str, ax: Any) -> Any:
    """Draw estimates with intervals, one panel for each facet and one row for each condition."""
    labels = [row.label for row in panels[0].rows]
    rows = place_rows(len(labels), pitch=0.27)
    frame = Frame(ax, 2.9, rows.height, columns=len(panels))
    for number, (panel, axes) in enumerate(zip(panels, frame.panels, strict=True)):
        _draw_panel(axes, panel, rows.fontsize)
        name_rows(axes, [""] * len(labels) if number else labels_of(labels, 34), rows)
        for tick, row in zip(axes.get_yticklabels(), panel.rows[:: rows.step], strict=False):
            tick.set_fontweight("normal" if row.kind == "condition" else "bold")
        axes.tick_params(axis="y", length=0)
        if number:
            axes.set_title(literal(panel.title), fontsize=9, loc="left")
    return frame.finish(literal(f"{title}\n{panels[0].title}"))


def _draw_panel(ax: Any, panel: ForestPanel, fontsize: float) -> None:
    largest = max((row.weight for row in panel.rows if row.kind == "condition" and row.estimate), default=1.0) or 1.0
    n_conditions = sum(row.kind == "condition" for row in panel.rows)
    if panel.log:
        ax.set_xscale("log")
    ax.axvline(panel.null, color=BLACK, linewidth=0.8, zorder=1)
    if 0 < n_conditions < len(panel.rows):
        ax.axhline(n_conditions - 0.5, color=LIGHT, linewidth=0.8, zorder=0)
    for place, row in enumerate(panel.rows):
        beside: Any = {"transform": ax.get_yaxis_transform(), "va": "center", "fontsize": fontsize * 0.88}
        weight = "normal" if row.kind == "condition" else "bold"
        ax.text(1.02, place, _estimate_text(row, panel), fontweight=weight, **beside)
        if row.estimate is not None and row.kind == "condition":
            size = (0.25 + 0.75 * np.sqrt(max(row.weight, 0.0) / largest)) * fontsize
            _draw_square(ax, place, row.estimate, size)
        elif row.estimate is not None:
            if row.prediction is not None:
                style: Any = {"color": VERMILLION, "linewidth": 1.6, "marker": "|", "markersize": fontsize * 0.8}
                ax.plot(row.prediction, [place, place], zorder=2, **style)
            _draw_diamond(ax, place, row.estimate, BLACK if row.kind == "these" else "white")
    _set_limits(ax, panel)
    ax.set_xlabel(f"{literal(panel.xlabel)}\n{panel.better} is better", fontsize=8)
    ax.tick_params(axis="x", labelsize=8)
    for side in ("top", "right", "left"):
        ax.spines[side].set_visible(False)


def _draw_square(ax: Any, place: int, estimate: tuple[float, float, float], size: float) -> None:
    value, low, high = estimate
    ax.plot([low, high], [place, place], color=BLACK, linewidth=1, zorder=2)
    ax.plot(value, place, "s", color=BLUE, markersize=size, markeredgecolor=BLACK, markeredgewidth=0.4, zorder=3)


def _draw_diamond(ax: Any, place: int, estimate: tuple[float, float, float], color: str) -> None:
    value, low, high = estimate
    ax.fill([low, value, high, value], [place, place - 0.3, place, place + 0.3], fc=color, ec=BLACK, linewidth=1, zorder=3)


def _set_limits(ax: Any, panel: ForestPanel) -> None:
    """Show every interval, a part of the other side of "no difference", and ticks that can be read on a log axis."""
    values = [panel.null]
    for row in panel.rows:
        values += [*(row.estimate or ()), *(row.prediction or ())]
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
    if row.estimate is None:
        return "not estimated"
    sign = "" if panel.log else "+"
    value, low, high = (f"{number:{sign}.{panel.digits}f}".replace("-", "\N{MINUS SIGN}") for number in row.estimate)
    return f"{value} [{low}, {high}]"
