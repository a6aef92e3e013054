"""Where the texts of a figure are, by matplotlib's own extents."""

import itertools
from typing import Any

from matplotlib.axes import Axes
from matplotlib.text import Text

Boxes = list[tuple[Any, Any]]


def texts(figure: Any) -> Boxes:
    """Visible texts and their boxes in pixels, drawn as they would be saved."""
    figure.draw_without_rendering()
    shown = {id(text): text for text in figure.findobj(Text)}
    for axes in figure.findobj(Axes):
        for axis in (axes.xaxis, axes.yaxis):
            # Matplotlib keeps the labels of ticks that are not shown.
            for text in axis.findobj(Text):
                del shown[id(text)]
            low, high = sorted(axis.get_view_interval())
            slack = 1e-9 * (high - low)
            ticks = [
                tick
                for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks())
                if low - slack <= tick.get_loc() <= high + slack
            ]
            if axes.axison:
                shown |= {id(text): text for text in (axis.label, *(tick.label1 for tick in ticks))}
    return [
        (text, text.get_window_extent())
        for text in shown.values()
        if text.get_visible() and text.get_text().strip()
    ]


def overlapping(boxes: Boxes, tolerance: float = 1.0) -> list[tuple[str, str]]:
    """Pairs of texts that cover more than `tolerance` pixels of each other; the boxes of tilted texts say little."""
    pairs = []
    for (first, a), (second, b) in itertools.combinations(
        [(text, box) for text, box in boxes if not text.get_rotation() % 90 > 0], 2
    ):
        if (
            min(a.x1, b.x1) - max(a.x0, b.x0) > tolerance
            and min(a.y1, b.y1) - max(a.y0, b.y0) > tolerance
        ):
            pairs.append((first.get_text(), second.get_text()))
    return pairs


def outside(boxes: Boxes, figure: Any) -> list[str]:
    """Texts that leave the figure."""
    frame = figure.bbox
    return [
        text.get_text()
        for text, box in boxes
        if box.x0 < frame.x0 - 1
        or box.y0 < frame.y0 - 1
        or box.x1 > frame.x1 + 1
        or box.y1 > frame.y1 + 1
    ]
