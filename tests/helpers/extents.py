"""Where the texts of a figure are, by matplotlib's own extents."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from matplotlib.text import Text

__all__ = ["outside", "overlapping", "texts"]


def texts(figure: Any) -> list[tuple[str, Any]]:
    """Visible texts and their boxes in pixels, drawn as they would be saved."""
    figure.draw_without_rendering()
    found = []
    for text in figure.findobj(Text):
        box = text.get_window_extent()
        if text.get_text().strip() and text.get_visible() and box.width > 0 and _shown(text):
            found.append((text.get_text(), box))
    return found


def overlapping(figure: Any, tolerance: float = 1.0) -> list[tuple[str, str]]:
    """Pairs of texts that cover more than `tolerance` pixels of each other; texts turned by an angle are left out."""
    figure.draw_without_rendering()
    turned = {text.get_text() for text in figure.findobj(Text) if text.get_rotation() % 90}
    boxes = [(text, box) for text, box in texts(figure) if text not in turned]
    pairs = []
    for (first, a), (second, b) in itertools.combinations(boxes, 2):
        width, height = min(a.x1, b.x1) - max(a.x0, b.x0), min(a.y1, b.y1) - max(a.y0, b.y0)
        if min(width, height) > tolerance:
            pairs.append((first, second))
    return pairs


def outside(figure: Any) -> list[str]:
    """Texts that leave the figure."""
    frame = figure.bbox
    return [
        text
        for text, box in texts(figure)
        if box.x0 < frame.x0 - 1 or box.y0 < frame.y0 - 1 or box.x1 > frame.x1 + 1 or box.y1 > frame.y1 + 1
    ]


def _shown(text: Any) -> bool:
    """Whether a tick label belongs to a tick within the limits: matplotlib keeps those beyond them."""
    axes = text.axes
    if axes is None:
        return True
    for axis, place in ((axes.xaxis, 0), (axes.yaxis, 1)):
        if any(
            text is label for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()) for label in (tick.label1, tick.label2)
        ):
            low, high = sorted(axis.get_view_interval())
            where = text.get_position()[place]
            return bool(axes.axison and axis.get_visible() and low - 1e-9 <= where <= high + 1e-9 and np.isfinite(where))
    return True
