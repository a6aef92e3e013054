"""The frame that a figure is drawn in: its size, its rows and its legend, so that nothing overlaps or leaves it."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.showing.figures._fonts import choose_fonts

__all__ = [
    "Frame", "count_axis", "legend_beside", "name_rows", "place_rows", "rank_axis", "row_frame", "shade", "stacked_bars",
    "tilt_labels",
]  # fmt: skip

_INCHES_PER_LABEL = 0.098  # least distance of row labels, at the smallest font size that is readable in print


class Frame:
    """The Axes that a figure is drawn on, which it creates unless they are given.

    The size is that of the area between the axes. A figure made here gets the size at which this area has its own, so that long
    labels and legends never compress it.

    Parameters
    ----------
    target : matplotlib Axes, matplotlib Figure or None
        Where to draw: on these Axes, whose size is kept; on this empty Figure, which is resized; or on a new figure of
        pyplot, which notebooks and ``plt.show()`` display.
    width : float
        Of each panel, inches.
    *heights : float
        Of the panels from top to bottom, inches.
    columns : int
        Number of panels beside each other.
    **options : object
        Passed to ``Figure.subplots``.
    """

    def __init__(self, target: Any, width: float, *heights: float, columns: int = 1, **options: Any) -> None:
        self.width, self.heights, self.columns = width, heights, columns
        self.panels: list[Any]
        self.figure: Any = None
        self.family: list[str] = []
        if target is None or not hasattr(target, "get_xlim"):
            size = ((width + 4) * columns, sum(heights) + 4)  # more than enough; `finish` takes away what is not needed
            self.figure = _new_figure(size) if target is None else target
            self.figure.set_size_inches(size)
            self.figure.set_layout_engine("constrained")
            ratios = {"height_ratios": heights}
            grid = self.figure.subplots(len(heights), columns, squeeze=False, gridspec_kw=ratios, **options)
            self.panels = list(grid.flat)
        elif len(heights) * columns == 1:
            self.panels = [target]
        else:
            self.panels = _inset_panels(target, heights, columns)
        self.ax = self.panels[0]

    def finish(self, title: str, later: Iterable[str] = ()) -> Any:
        """Set the title above the first panel, choose fonts, give the panels their size, and return the first one.

        What is written `later` needs the final size; it takes the fonts of `family`.
        """
        from matplotlib.text import Text

        heading = self.ax.set_title(title, loc="left", fontsize=9)
        self.family = choose_fonts((heading, *(text for panel in self.panels for text in panel.findobj(Text))), later)
        self._fit()
        right = self.ax.bbox.x1 if self.figure is None else self.ax.figure.figure.bbox.x1 - 4
        broken = _break_lines(heading, max(right - self.ax.bbox.x0, 40.0), "width")
        for panel in self.panels:
            broken |= _break_lines(panel.xaxis.label, 1.1 * panel.bbox.width, "width")
            broken |= _break_lines(panel.yaxis.label, 1.1 * max(panel.bbox.height, 100.0), "height")
        if broken:
            self._fit()
        return self.ax

    def _fit(self) -> None:
        """Change the figure's size by what its panels lack or have too much."""
        if self.figure is None:
            self.ax.figure.figure.draw_without_rendering()
            return
        engine = self.figure.get_layout_engine()
        engine.execute(self.figure)
        for _ in range(3):  # the size of the labels hardly changes with that of the figure
            width, height = self.figure.get_size_inches()
            boxes = [panel.get_position(original=True) for panel in self.panels]
            wider = self.columns * (self.width - width * min(box.width for box in boxes))
            higher = sum(self.heights) - height * sum(box.height for box in boxes[:: self.columns])
            if max(abs(wider), abs(higher)) < 0.02:
                break
            self.figure.set_size_inches(width + wider, height + higher)
            engine.execute(self.figure)


class Rows(NamedTuple):
    """How the rows of a figure are laid out.

    Attributes
    ----------
    height : float
        Of all rows together, inches.
    fontsize : float
        Of their labels, points.
    step : int
        Every how manyth row has a label: 1 unless there are too many for the height.
    """

    height: float
    fontsize: float
    step: int


def place_rows(n: int, pitch: float = 0.26, least: float = 0.9) -> Rows:
    """Choose height, font size and labels of `n` rows so that the figure's size stays bounded and no labels overlap."""
    pitch = max(min(pitch, 12.0 / max(n, 1)), _INCHES_PER_LABEL)  # smaller rows before a larger figure
    height = min(max(n * pitch, least), 14.2)
    step = max(1, math.ceil(_INCHES_PER_LABEL * n / height - 1e-9))
    return Rows(height, max(5.5, min(9.0, 72 * height / max(n, 1) * step / 1.3)), step)


def name_rows(ax: Any, labels: Sequence[str], rows: Rows, margin: float = 0.6) -> None:
    """Write the labels of rows that run from top to bottom at 0, 1, 2, ..."""
    shown = range(0, len(labels), rows.step)
    ax.set_yticks(list(shown), [labels[number] for number in shown], fontsize=rows.fontsize)
    ax.set_ylim(len(labels) - 1 + margin, -margin)
    ax.tick_params(axis="y", length=3 if rows.fontsize > 7 else 1.5)


def row_frame(target: Any, width: float, labels: Sequence[str], pitch: float = 0.26, least: float = 0.9) -> tuple[Frame, Rows]:
    """Create the frame of a figure with a row for each of these labels."""
    rows = place_rows(len(labels), pitch, least)
    frame = Frame(target, width, rows.height)
    name_rows(frame.ax, labels, rows)
    return frame, rows


def rank_axis(ax: Any, last: int, margin: float) -> None:
    """Let ranks run downwards from 1, the best, with ticks as dense as there is room for."""
    ax.set_yticks([1, *range(5, last + 1, 5)] if last > 14 else range(1, last + 1))
    ax.set_ylim(last + margin, 1 - margin)


def count_axis(ax: Any, what: str) -> None:
    """Let the y axis count something: its ticks are whole numbers."""
    from matplotlib.ticker import MaxNLocator

    ax.set_ylabel(what)
    ax.yaxis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 2.5, 5, 10]))


def stacked_bars(ax: Any, parts: Iterable[tuple[str, str, str, Any]], thickness: float = 0.8) -> None:
    """Draw a bar in each row of parts with label, colour, hatch and values; negative ones are stacked to the left."""
    left: Any = 0.0
    right: Any = 0.0
    for label, color, hatch, values in parts:
        lengths = np.asarray(values, dtype=np.float64)
        starts = np.where(lengths < 0, left, right)
        style = {"color": color, "hatch": hatch, "edgecolor": "white", "linewidth": 0.4}
        ax.barh(range(len(lengths)), lengths, thickness, left=starts, label=label, **style)
        left, right = left + np.minimum(lengths, 0), right + np.maximum(lengths, 0)


def shade(ax: Any, shares: Any, scale_to: float, label: str, shrink: float, **options: Any) -> None:
    """Draw a matrix of percentages by shade, with the scale beside it; small shares differ more than large ones."""
    from matplotlib.colors import PowerNorm

    norm = PowerNorm(0.5, 0, scale_to)
    image = ax.imshow(shares, cmap="Blues", norm=norm, aspect="auto", interpolation="nearest", **options)
    ax.figure.colorbar(image, ax=ax, label=label, aspect=30, shrink=shrink)


def tilt_labels(ax: Any, angle: int = 45) -> None:
    """Turn the labels of the x axis so that each ends under its tick."""
    for label in ax.get_xticklabels():
        label.set(rotation=angle, ha="right", va="top", rotation_mode="anchor", fontsize=8)


def legend_beside(ax: Any, handles: Sequence[Any] | None = None, title: str = "") -> None:
    """Put the legend on the right of the axes, where it covers nothing."""
    chosen = {} if handles is None else {"handles": list(handles)}
    ax.legend(
        loc="upper left",
        bbox_to_anchor=(1.01, 1.0),
        frameon=False,
        fontsize=7.5,
        borderaxespad=0,
        title=title or None,
        title_fontsize=7.5,
        alignment="left",
        **chosen,
    )


def _break_lines(text: Any, available: float, extent: str) -> bool:
    """Break a text into lines no longer than this many pixels; say whether it was too long."""
    lines = text.get_text().splitlines()
    letters = longest = max(map(len, lines), default=0)
    while (length := getattr(text.get_window_extent(), extent)) > available and letters > 12:
        letters = min(letters - 1, max(12, int(letters * available / length)))
        text.set_text("\n".join(part for line in lines for part in textwrap.wrap(line, letters)))
    return letters < longest


def _new_figure(size: tuple[float, float]) -> Any:
    """Create a figure of pyplot, as pandas and seaborn do, because only those are shown by notebooks and ``plt.show()``."""
    import matplotlib.pyplot as plt

    from ir_outcomes.showing.figures._printable import PrintableFigure

    return plt.figure(figsize=size, FigureClass=PrintableFigure)


def _inset_panels(ax: Any, heights: Sequence[float], columns: int) -> list[Any]:
    """Divide given Axes into panels, from left to right and top to bottom."""
    ax.set_axis_off()
    gap_x, gap_y = 0.12, 0.14
    width = (1 - gap_x * (columns - 1)) / columns
    unit = (1 - gap_y * (len(heights) - 1)) / sum(heights)
    panels, top = [], 1.0
    for height in heights:
        top -= height * unit
        panels += [ax.inset_axes([column * (width + gap_x), top, width, height * unit]) for column in range(columns)]
        top -= gap_y
    return panels
