"""Figures of results with matplotlib, readable in greyscale and by everybody.

A figure is a function of a result and of where to draw, and takes one of four forms: rows with
intervals, bars, shades, points over time. None changes the global settings of matplotlib.
"""

import functools
import io
import os.path
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.errors import ParameterError, not_installed
from ir_outcomes.files import write_completely

# As on the page: better blue, worse orange and hatched, what is neither grey; they differ in
# greyscale by the hatch.
BETTER, WORSE, GREY, LIGHT, MUTED, INK = (
    "#1556B0",
    "#B1540A",
    "#B4BAC2",
    "#E1E4E8",
    "#59616B",
    "#15181C",
)
STYLE: Any = {
    "text.usetex": False,
    "axes.formatter.useoffset": False,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "figure.titlesize": 9.5,
    "axes.labelsize": 9,
    "figure.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "axes.edgecolor": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": LIGHT,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
}
PRINT_SETTINGS: Any = {
    # TrueType: publishers refuse the Type 3 fonts that are matplotlib's default.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    "svg.fonttype": "none",  # text stays text, so it can be searched and edited
    "svg.hashsalt": "ir-outcomes",  # the same figure gives the same bytes
}
TALLEST = 14.0  # inches of all rows together
SMALLEST = 7.0  # points of a row that has a label
LONGEST = 40  # characters of a label


class Picture(NamedTuple):
    """What is drawn, and what is written above and below it."""

    axes: Sequence[Any]
    title: str
    settings: str
    marks: Mapping[str, Any] = {}  # of the legend, by what they mean
    below: str = ""  # what several panels share: whom the differences are between


Drawing = Callable[[Any, Any], Picture]

KINDS: dict[type, dict[str, Drawing]] = {}
"""Functions of result and target, of each class by name, the default first."""


def kinds(result: object) -> Mapping[str, Drawing]:
    """Return the figures of a result by name, the default first."""
    # They register their figures.
    from ir_outcomes.showing.figures import changes, comparisons, leaderboards  # noqa: F401

    if type(result) not in KINDS:
        raise ParameterError(f"a {type(result).__name__} has no figures")
    return KINDS[type(result)]


def draws(kind: str, *classes: type) -> Callable[[Drawing], Drawing]:
    """Let a function draw results of these classes under this name."""

    def register(function: Drawing) -> Drawing:
        for cls in classes:
            KINDS.setdefault(cls, {})[kind] = function
        return function

    return register


def draw(result: object, kind: str | None = None, ax: Any = None) -> Any:
    """Draw a figure of a result by its name, or its first one, and return its Axes."""
    drawings = kinds(result)
    name = next(iter(drawings)) if kind is None else kind
    if name not in drawings:
        raise ParameterError(
            f"a {type(result).__name__} is drawn as {', '.join(drawings)}", kind=kind
        )
    matplotlib = _matplotlib()
    if ax is None:
        import matplotlib.pyplot as plt

        # Before the style is set: in a notebook the first figure changes settings for good.
        ax = plt.figure(FigureClass=_figure_class())
    with matplotlib.rc_context(STYLE):
        picture = drawings[name](result, ax)
        _write(picture, ax)
    return picture.axes[0]


def _matplotlib() -> Any:
    try:
        import matplotlib.figure
    except ImportError:
        raise not_installed("figures need matplotlib", "plot") from None
    return matplotlib


@functools.cache
def _figure_class() -> Any:
    """Return the class of figures whose PDF embeds TrueType fonts."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    class PrintableFigure(Figure):
        def savefig(self, fname: Any, **options: Any) -> None:
            with rc_context(PRINT_SETTINGS):
                super().savefig(fname, **options)

    return PrintableFigure


def blank_figure() -> Any:
    """Return an empty figure that needs neither a display nor closing."""
    _matplotlib()
    return _figure_class()()


def save(picture: Any, path: str | Path) -> None:
    """Write a figure of ours to a file."""
    content = io.BytesIO()
    try:
        picture.figure.savefig(content, dpi=150, format=Path(path).suffix[1:] or "png")
    except ValueError as error:  # a format that matplotlib does not know
        raise ParameterError(f"{path}: cannot be written ({error})") from error
    write_completely(path, content.getvalue())


def panels(target: Any, width: float, height: float, rows: int = 1, columns: int = 1) -> list[Any]:
    """Return Axes of an empty figure, which gets this size."""
    if hasattr(target, "subplots"):
        if hasattr(target, "set_size_inches"):  # a part of somebody's figure keeps its size
            target.set_size_inches(width, height)
            target.set_layout_engine("constrained")
        return list(target.subplots(rows, columns, squeeze=False).flat)
    if hasattr(target, "get_xlim") and rows * columns == 1:
        return [target]
    raise ParameterError(
        f"`ax` is of type {type(target).__name__}; it must be an empty Figure or SubFigure, or Axes"
        " where the figure has one panel"
    )


def row_panels(
    target: Any, names: Sequence[str], width: float, columns: int = 1, others: float = 1.5
) -> list[Any]:
    """Return Axes beside each other that share a row for each name."""
    height = min(max(0.27 * len(names), 0.54), max(TALLEST / 2, 0.1 * len(names)), TALLEST)
    axes = panels(target, width, height + others, columns=columns)
    points = 72 * (axes[0].figure.bbox.height / axes[0].figure.dpi - others) / len(names)
    step = int(np.ceil(SMALLEST / max(points, 1.0) - 1e-9))
    fontsize = max(5.5, min(8.5, points * step / 1.3))
    for ax in axes:
        ax.set_yticks(range(0, len(names), step), labels_of(names)[::step], fontsize=fontsize)
        ax.set_ylim(len(names) - 0.4, -0.6)
        ax.tick_params(axis="y", length=0, labelleft=ax is axes[0])
        ax.spines["left"].set_visible(False)
    return axes


def write_beside(axes: Sequence[Any], texts: Sequence[str]) -> None:
    """Write a text on the right of each row that has a label."""
    rightmost = axes[-1]
    for tick, label in zip(axes[0].get_yticks(), axes[0].get_yticklabels(), strict=True):
        side = {"va": "center", "fontsize": label.get_fontsize(), "color": INK}
        rightmost.text(
            1.03, tick, texts[int(tick)], transform=rightmost.get_yaxis_transform(), **side
        )


def _write(picture: Picture, target: Any) -> None:
    """Write title and legend around all panels, or at the Axes that were given."""
    figure = picture.axes[0].figure
    on_axes = hasattr(target, "get_xlim")
    box = target.bbox if on_axes else figure.bbox
    letters = int(72 * box.width / figure.dpi / (0.56 * STYLE["axes.titlesize"]))

    def folded(*lines: str) -> str:
        return "\n".join(textwrap.fill(literal(line), max(letters, 24)) for line in lines if line)

    title = folded(picture.title, picture.settings)
    if on_axes:
        target.set_title(title)
        legend: Any = {"loc": "upper left", "bbox_to_anchor": (0, -0.25)}
    else:
        figure.suptitle(title, x=0.01, ha="left")
        head = {"title_fontsize": STYLE["axes.labelsize"], "alignment": "left"}
        legend = {"loc": "outside lower left", "title": folded(picture.below), **head}
    if picture.marks:
        columns = letters // (max(map(len, picture.marks)) + 8)
        (target if on_axes else figure).legend(
            list(picture.marks.values()),
            list(map(literal, picture.marks)),
            ncols=min(max(columns, 1), 4),
            **legend,
        )


def toward(higher_is_better: bool) -> str:
    """Say which way of a horizontal axis is better, and whether it is reversed."""
    return "right is better" if higher_is_better else "right is better: lower, axis reversed"


def count_on(axis: Any) -> None:
    """Let the ticks of an axis be whole numbers."""
    axis.get_major_locator().set_params(integer=True)


def literal(text: str) -> str:
    """Write a text for matplotlib with escapes, and no part of it as a formula."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    ).replace("$", r"\$")


def labels_of(names: Iterable[str], limit: int = LONGEST) -> list[str]:
    """Return names as labels of at most so many letters, distinct as the names."""
    texts = [literal(name) for name in names]
    cut = 0
    if len(set(texts)) > 1 and max(map(len, texts)) > limit:
        # What all names begin with says nothing; it ends before the last separator they share.
        shared = os.path.commonprefix(texts)  # noqa: RUF071, of letters
        cut = max(shared.rfind(separator) for separator in ".-_/ ") + 1
    half = limit // 2
    labels: dict[str, str] = {}
    for number, name in enumerate(dict.fromkeys(texts), start=1):
        label = f"…{name[cut:]}" if cut > 2 else name
        if len(label) > limit:
            label = f"{label[:half]}…{label[half + 1 - limit :]}"
        if label in labels.values():
            ending = f"…{number}"
            label = label[: limit - len(ending)] + ending
        labels[name] = label
    return [labels[name] for name in texts]
