"""Names as labels: printable, short, distinct, and placed where they hide nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ir_outcomes.types import Floats

__all__ = ["label_points", "labels_of", "literal", "printable", "short_labels"]

LONGEST = 30
_ANGLES = (45, -45, 135, -135, 0, 180, 90, -90, 20, -20, 160, -160, 70, -70, 110, -110)
_RADII = (5, 9, 15, 23, 33, 46, 62, 80, 100, 125)
_LEADER_FROM = 12  # labels further away than this are joined to their point by a line


def printable(name: str) -> str:
    r"""Write control characters, and others that cannot be seen, as escapes.

    SVG and PDF cannot hold control characters, and characters that change the direction of text would hide what follows.

    Examples
    --------
    >>> printable("a\x00b\u202ec")
    'a\\x00b\\u202ec'
    """
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in name)


def literal(text: str) -> str:
    r"""Write a text for matplotlib as it is: printable, line by line, and no part of it as a formula.

    Examples
    --------
    >>> literal("cost $x$")
    'cost \\$x\\$'
    """
    return "\n".join(map(printable, text.split("\n"))).replace("$", r"\$")


def short_labels(names: Iterable[str], most: int = LONGEST) -> list[str]:
    """Shorten names in the middle, so that they differ where the names differ.

    Parameters
    ----------
    names : iterable of str
        All names that are shown together; equal names get equal labels.
    most : int
        Largest number of characters of a label, at least 12.

    Returns
    -------
    list of str
        Not longer than `most`, and as many distinct ones as there are distinct printable names.

    Examples
    --------
    >>> short_labels(["run.msmarco-v1-passage.bm25-default.dev", "run.msmarco-v1-passage.bm25-tuned.dev"], most=24)
    ['run…default.dev', 'run…tuned.dev']
    >>> short_labels(["unicoil-msmarco-passage-with-expansion", "bm25"], most=24)
    ['unicoil-msm…th-expansion', 'bm25']
    """
    shown = [printable(name) for name in names]
    distinct = list(dict.fromkeys(shown))
    if all(len(name) <= most for name in distinct):
        return shown
    labels = dict(zip(distinct, _distinct_labels(distinct, most), strict=True))
    return [labels[name] for name in shown]


def labels_of(names: Iterable[str], most: int = LONGEST) -> list[str]:
    """Return the labels of the names that one figure shows, ready for matplotlib."""
    return list(map(literal, short_labels(names, most)))


def label_points(
    ax: Any,
    points: Sequence[Any],
    labels: Sequence[str],
    *,
    fontsize: float = 8.0,
    family: Sequence[str] | None = None,
    lines: Sequence[tuple[Any, Any]] = (),
) -> list[int]:
    """Write labels near their points, inside the axes, over no other label and, where possible, over no point.

    Call it after `Frame.finish`, which settles the layout: what changes it afterwards moves the points.

    Parameters
    ----------
    ax : matplotlib Axes
        Where to write.
    points : sequence of (x, y)
        In data coordinates; all are kept free, also those whose label is empty.
    labels : sequence of str
        One for each point; an empty one is not written.
    fontsize : float
        Points.
    family : sequence of str, optional
        Fonts; by default those of matplotlib's settings.
    lines : sequence of ((x, y), (x, y))
        Horizontal or vertical lines that are kept free where possible.

    Returns
    -------
    list of int
        The labels for which there was no free place; they are not written.
    """
    dots = ax.figure.figure.dpi / 72
    places = _pixels(ax, points)
    markers = np.hstack([places - 3 * dots, places + 3 * dots])
    ends = _pixels(ax, [end for line in lines for end in line]).reshape(-1, 2, 2)
    markers = np.vstack([markers, np.hstack([ends.min(axis=1) - dots, ends.max(axis=1) + dots])])
    taken: list[Floats] = []
    frame = ax.bbox.extents + np.array([1, 1, -1, -1]) * dots
    left_out = []
    for number, label in enumerate(labels):
        if not label:
            continue
        style = {"fontsize": fontsize, "fontfamily": family, "ha": "left", "va": "bottom"}
        note = ax.annotate(label, points[number], xytext=(0, 0), textcoords="offset points", **style)
        size = note.get_window_extent()
        found = _free_place(places[number], size.width, size.height, dots, frame, taken, markers)
        if found is None:
            note.remove()
            left_out.append(number)
            continue
        box, radius = found
        note.set_position((box[:2] - places[number]) / dots)
        if radius > _LEADER_FROM:
            nearest = np.clip(places[number], box[:2], box[2:])
            ax.annotate(
                "",
                points[number],
                xytext=(nearest - places[number]) / dots,
                textcoords="offset points",
                arrowprops={"arrowstyle": "-", "linewidth": 0.5, "color": "#666666", "shrinkA": 0, "shrinkB": 2},
            )
        taken.append(box + np.array([-2, 0, 2, 0]) * dots)  # a gap, so that two short labels do not read as one word
    return left_out


def _free_place(
    place: Floats, width: float, height: float, dots: float, frame: Any, taken: Sequence[Any], markers: Any
) -> tuple[Floats, float] | None:
    boxes = np.array(taken).reshape(-1, 4)
    covering = None
    for radius in _RADII:
        for angle in _ANGLES:
            dx, dy = math.cos(math.radians(angle)), math.sin(math.radians(angle))
            x0 = place[0] + radius * dots * dx - width * _side(dx)
            y0 = place[1] + radius * dots * dy - height * _side(dy)
            box = np.array([x0, y0, x0 + width, y0 + height])
            if (box[:2] < frame[:2]).any() or (box[2:] > frame[2:]).any() or _meets(box, boxes):
                continue
            if not _meets(box, markers):
                return box, radius
            covering = covering or (box, radius)
    return covering


def _side(direction: float) -> float:
    """Say what share of a label lies before its anchor: none of it to the right, all to the left, half in the middle."""
    return 0.0 if direction > 0.3 else 1.0 if direction < -0.3 else 0.5


def _meets(box: Floats, boxes: Floats) -> bool:
    return bool(((boxes[:, :2] < box[2:]) & (boxes[:, 2:] > box[:2])).all(axis=1).any())


def _pixels(ax: Any, points: Sequence[Any]) -> Floats:
    """Convert points, whose coordinates may be dates, into places on the figure."""
    numbers = [(float(ax.convert_xunits(x)), float(ax.convert_yunits(y))) for x, y in points]
    places: Floats = ax.transData.transform(np.array(numbers, dtype=np.float64).reshape(-1, 2))
    return places


def _distinct_labels(names: list[str], most: int) -> list[str]:
    """Shorten what all names begin with, then what they end with, then the middle of each name that is still too long."""
    shorter = _without_common_start(names)
    if max(map(len, shorter)) > most:
        shorter = [name[::-1] for name in _without_common_start([name[::-1] for name in shorter])]
    kept = most - 1  # and the ellipsis
    for candidates in (shorter, names):
        for head in sorted(range(4, kept - 3), key=lambda head: abs(head - kept // 2)):
            labels = [_cut(name, head, most) for name in candidates]
            if len(set(labels)) == len(labels):
                return labels
    return _numbered(names, most)


def _cut(name: str, head: int, most: int) -> str:
    return name if len(name) <= most else f"{name[:head]}…{name[len(name) - (most - 1 - head) :]}"


def _without_common_start(names: list[str]) -> list[str]:
    """Replace the end of a long common start by an ellipsis; whole words of the names remain."""
    start = min(map(len, names))
    while start and (len({name[:start] for name in names}) > 1 or names[0][start - 1].isalnum()):
        start -= 1
    return names if start < 8 or len(names) < 2 else [f"{name[:3]}…{name[start:]}" for name in names]


def _numbered(names: list[str], most: int) -> list[str]:
    """Tell apart by numbers what cannot be told apart by a few characters."""
    taken: set[str] = {name for name in names if len(name) <= most}
    labels = []
    for number, name in enumerate(names, 1):
        label = name
        suffix = 0
        while len(label) > most or (label != name and label in taken):
            end = f" #{number}" if not suffix else f" #{number}.{suffix}"
            label = f"{_cut(name, (most - len(end)) // 2, most - len(end))}{end}"
            suffix += 1
        taken.add(label)
        labels.append(label)
    return labels
