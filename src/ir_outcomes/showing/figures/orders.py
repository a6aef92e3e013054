"""The same runs in several orders, joined by lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ir_outcomes.showing.figures._frame import Frame, place_rows, rank_axis, tilt_labels
from ir_outcomes.showing.figures._labels import labels_of
from ir_outcomes.showing.figures._palette import GREY, series_style
from ir_outcomes.types import Ints

__all__ = ["draw_orders"]

ALL_COLORED = 16  # of more runs, only those that move most have a colour
COLORED_LINES = 12


def draw_orders(ranks: Ints, runs: Sequence[str], conditions: Sequence[str], title: str, ax: Any) -> Any:
    """Draw the rank of each run under each condition, from one to the next.

    Parameters
    ----------
    ranks : (n_conditions, n_runs) int array
        From 1, the best; runs may share a rank.
    runs, conditions : sequence of str
        Their names.
    title : str
        What stands above.
    ax : matplotlib Axes, Figure or None
        Where to draw.
    """
    n_runs, last = len(runs), len(conditions) - 1
    rows = place_rows(n_runs)
    frame = Frame(ax, max(3.2, 1.25 * last), rows.height)
    ax = frame.ax
    all_colored = n_runs <= ALL_COLORED
    moves = np.abs(np.diff(ranks, axis=0)).max(axis=0, initial=0)
    movers = range(n_runs) if all_colored else np.argsort(-moves, kind="stable")[:COLORED_LINES].tolist()
    styles = {run: series_style(number) for number, run in enumerate(movers)}
    for run in range(n_runs):
        if run in styles:
            ax.plot(range(last + 1), ranks[:, run], linewidth=1.3, markersize=4.5, zorder=3, **styles[run])
        else:
            ax.plot(range(last + 1), ranks[:, run], linewidth=0.6, markersize=2.5, zorder=2, color=GREY, marker=".")
    names = labels_of(runs)
    order = sorted(range(n_runs), key=lambda run: (ranks[-1, run], runs[run]))
    for place, run in enumerate(order, 1):  # the labels of equal ranks stand under each other
        if (place - 1) % rows.step == 0:
            ax.annotate(
                f"{ranks[-1, run]}  {names[run]}",
                (last, place),
                xytext=(8, 0),
                textcoords="offset points",
                va="center",
                fontsize=rows.fontsize,
                fontweight="bold" if run in styles and not all_colored else "normal",
            )
    ax.set_xticks(range(last + 1), labels_of(conditions, 44))
    tilt_labels(ax, 30)
    ax.margins(x=0.03)
    ax.set_ylabel("rank (1 is the best)")
    rank_axis(ax, n_runs, margin=0.6)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    note = "" if all_colored else f"\ncoloured and bold: the {COLORED_LINES} runs that move most"
    return frame.finish(title + note)
