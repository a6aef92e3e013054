"""Figures of results with matplotlib, readable in greyscale and by everybody.

This module holds what they share: their names, where they are drawn, their style, rows, bars, and
names as labels. Each takes ``ax=`` (Axes, an empty Figure, or None for a new figure of pyplot) and
returns the Axes. None changes the global settings of matplotlib.
"""

import functools
import io
import os.path
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

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
TONES = {
    "better": (BETTER, ""),
    "worse": (WORSE, "////"),
    "same": (GREY, ""),
    "mixed": (GREY, "xx"),
}
# The palette of Okabe and Ito (2008), which people with any colour vision can tell apart.
COLORS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#888888")
MARKERS = ("o", "s", "D", "^", "v", "P", "*", "X", "<", ">", "p", "h", "d")
STYLE: Any = {
    "text.usetex": False,
    "axes.formatter.useoffset": False,
    "axes.titlesize": 9.5,
    "axes.labelsize": 9,
    "xtick.labelsize": 8,
    "ytick.labelsize": 8,
    "legend.fontsize": 8,
    "legend.frameon": False,
    "hatch.linewidth": 0.6,
    "axes.edgecolor": MUTED,
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
LARGEST = 14.0  # inches of all rows together
LONGEST = 30  # characters of a label
Drawing = Callable[..., Any]

KINDS: dict[type | str, dict[str, Drawing]] = {}
"""Functions of result and Axes, of each class or analysis by name, the default first."""


def kinds(result: object) -> Mapping[str, Drawing]:
    """Return the figures of a result by name, the default first."""
    # They register their figures.
    from ir_outcomes.showing.figures import comparisons, leaderboards, lengths  # noqa: F401

    key = getattr(result, "analysis", type(result))
    if key not in KINDS:
        raise ParameterError(f"a {type(result).__name__} has no figures")
    return KINDS[key]


def draw(result: object, kind: str | None = None, ax: Any = None) -> Any:
    """Draw a figure of a result by its name, or its first one."""
    drawings = kinds(result)
    name = next(iter(drawings)) if kind is None else kind
    if name not in drawings:
        raise ParameterError(
            f"a {type(result).__name__} is drawn as {', '.join(drawings)}", kind=kind
        )
    with styled():
        return drawings[name](result, ax)


def series_style(number: int) -> dict[str, str]:
    """Return colour and marker of a series, which differ for the first 104."""
    return {"color": COLORS[number % len(COLORS)], "marker": MARKERS[number % len(MARKERS)]}


def draws(kind: str, *classes: type | str) -> Callable[[Drawing], Drawing]:
    """Let a function draw results of these classes under this name."""

    def register(function: Drawing) -> Drawing:
        for cls in classes:
            KINDS.setdefault(cls, {})[kind] = function
        return function

    return register


@contextmanager
def styled() -> Iterator[None]:
    """Draw with the style of the figures, and leave the global settings as they are."""
    _check_matplotlib()
    import matplotlib as mpl

    # Not rc_context, which restores all settings: the first figure in a notebook activates the
    # inline backend, and with its settings undone, no later figure would be shown.
    previous = {name: mpl.rcParams[name] for name in STYLE}
    mpl.rcParams.update(STYLE)
    try:
        yield
    finally:
        mpl.rcParams.update(previous)


def _check_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise not_installed("figures need matplotlib", "plot") from None


@functools.cache
def _figure_class() -> Any:
    """Return the class of figures whose PDF embeds TrueType fonts."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    class PrintableFigure(Figure):
        def savefig(self, fname: Any, **options: Any) -> None:
            with mpl.rc_context(PRINT_SETTINGS):
                super().savefig(fname, **options)

    return PrintableFigure


def blank_figure() -> Any:
    """Return an empty figure that needs neither a display nor closing."""
    _check_matplotlib()
    return _figure_class()()


def save(picture: Any, path: str | Path) -> None:
    """Write a figure of ours to a file."""
    content = io.BytesIO()
    try:
        picture.figure.figure.savefig(
            content, dpi=150, format=Path(path).suffix.removeprefix(".") or "png"
        )
    except ValueError as error:  # a format that matplotlib does not know
        raise ParameterError(f"{path}: cannot be written ({error})") from error
    write_completely(path, content.getvalue())


def panels(target: Any, width: float, height: float, rows: int = 1, columns: int = 1) -> list[Any]:
    """Return Axes of a new figure of pyplot, of an empty figure, or within Axes."""
    if not hasattr(target, "get_xlim"):
        if target is not None and not hasattr(target, "set_size_inches"):
            raise ParameterError(
                f"`ax` is of type {type(target).__name__}; it must be Axes or an empty Figure"
            )
        import matplotlib.pyplot as plt

        figure = target
        if target is None:
            figure = plt.figure(FigureClass=_figure_class())
        figure.set_size_inches(width, height)
        figure.set_layout_engine("constrained")
        found = figure.subplots(rows, columns, squeeze=False).flat
    elif rows * columns == 1:
        found = [target]
    else:
        target.set_axis_off()
        left, bottom, right, top = target.get_position().extents
        spec = (
            target.get_subplotspec()
            or target.figure.add_gridspec(1, 1, left=left, bottom=bottom, right=right, top=top)[0]
        )
        found = spec.subgridspec(rows, columns).subplots(squeeze=False).flat
    for ax in (chosen := list(found)):
        ax.spines[["top", "right"]].set_visible(False)
    return chosen


def panel(target: Any, width: float, height: float) -> Any:
    """Return the Axes of a figure with one panel."""
    return panels(target, width, height)[0]


def row_panel(
    target: Any, names: Sequence[str], width: float, pitch: float = 0.26, *, extra: float = 0.0
) -> Any:
    """Return Axes with a row for each name, and `more` inches for what stands below."""
    ax = panel(target, width, height_of(len(names), pitch) + extra)
    name_rows(ax, names)
    return ax


def finished(
    ax: Any,
    *lines: str,
    x: str = "",
    y: str = "",
    legend: bool = False,
    marks: Mapping[str, Any] | None = None,
) -> Any:
    """Name the axes, write a title and a legend, and return the Axes.

    The title is broken where there is no more space. The legend below explains `marks`, by default
    what has a label.
    """
    ax.set_xlabel(x or ax.get_xlabel())
    ax.set_ylabel(y or ax.get_ylabel())
    figure = ax.figure.figure
    if legend or marks:
        _legend_under(ax, marks)
    figure.draw_without_rendering()  # lays the figure out
    # The title begins over the labels of the rows: over several Axes that is where it fits.
    left = ax.get_tightbbox(for_layout_only=True).x0
    letters = int((figure.bbox.x1 - left) / figure.dpi * 72 / (0.58 * STYLE["axes.titlesize"]))
    ax.set_title(
        "\n".join(textwrap.fill(literal(line), max(letters, 24)) for line in lines if line),
        loc="left",
        x=(left - ax.bbox.x0) / ax.bbox.width,
    )
    return ax


def _legend_under(ax: Any, marks: Mapping[str, Any] | None) -> None:
    """Explain marks under the figure, in Axes of somebody else's figure under these."""
    figure = ax.figure.figure
    if marks is None:
        handles, labels = ax.get_legend_handles_labels()
        marks = dict(zip(labels, handles, strict=True))
    letters = figure.bbox.width / figure.dpi * 72 / (0.55 * STYLE["legend.fontsize"])
    columns = int(letters / (max(map(len, marks)) + 8))
    options: Any = {"handles": marks.values(), "labels": marks, "ncols": min(max(columns, 1), 4)}
    if isinstance(figure, _figure_class()):
        figure.legend(loc="outside lower left", **options)
    else:
        ax.legend(loc="upper left", bbox_to_anchor=(0, -0.2), **options)


def height_of(n: int, pitch: float = 0.26) -> float:
    """Return the height of a figure with so many rows, in inches."""
    return 1.1 + min(max(n, 2) * max(min(pitch, 12.0 / max(n, 1)), 0.1), LARGEST)


def name_rows(ax: Any, names: Iterable[str], margin: float = 0.6, limit: int = LONGEST) -> float:
    """Write as many labels of rows as can be read, and return their font size."""
    labels = labels_of(names, limit)
    height = 72 * float(ax.figure.figure.get_size_inches()[1] - 1.1)  # points
    step = max(1, int(np.ceil(7.0 * len(labels) / height - 1e-9)))
    fontsize = max(5.5, min(8.5, height / max(len(labels), 1) * step / 1.3))
    shown = range(0, len(labels), step)
    ax.set_yticks(list(shown), [labels[position] for position in shown], fontsize=fontsize)
    ax.set_ylim(len(labels) - 1 + margin, -margin)
    ax.tick_params(axis="y", length=0)
    return fontsize


def counted(axis: Any) -> None:
    """Let the ticks of an axis be whole numbers."""
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator("auto", integer=True, steps=[1, 2, 2.5, 5, 10]))


def shaded(ax: Any, shares: Any, label: str, **options: Any) -> None:
    """Draw a matrix of percentages by shade, with the scale beside it."""
    from matplotlib.colors import PowerNorm

    norm = PowerNorm(0.5, 0, max(10.0, float(np.nanmax(shares))))
    image = ax.imshow(
        shares, cmap="Blues", norm=norm, aspect="auto", interpolation="nearest", **options
    )
    ax.figure.colorbar(image, ax=ax, label=label, aspect=30, shrink=0.6)


def tilted(ax: Any, angle: int = 45) -> None:
    """Turn the labels of the x axis so that each ends under its tick."""
    for label in ax.get_xticklabels():
        label.set(rotation=angle, ha="right", va="top", rotation_mode="anchor")


def literal(text: str) -> str:
    """Write a text for matplotlib with escapes, and no part of it as a formula."""
    return "".join(
        char if char.isprintable() else char.encode("unicode_escape").decode() for char in text
    ).replace("$", r"\$")


def labels_of(names: Iterable[str], limit: int = LONGEST) -> list[str]:
    """Return names as labels of at most so many letters, distinct as the names."""
    shown = [literal(name) for name in names]
    distinct = list(dict.fromkeys(shown))
    if all(len(name) <= limit for name in distinct):
        return shown
    # what all names begin with says nothing; it ends before the last separator that they share
    shared = os.path.commonprefix(distinct) if len(distinct) > 1 else ""  # noqa: RUF071, of letters
    cut = max(shared.rfind(separator) for separator in ".-_/ ") + 1
    half = limit // 2
    short: dict[str, str] = {}
    for number, name in enumerate(distinct):
        label = f"…{name[cut:]}" if cut > 2 else name
        if len(label) > limit:
            label = f"{label[:half]}…{label[half + 1 - limit :]}"
        if label in short.values():
            ending = f"…{number + 1}"
            label = label[: limit - len(ending)] + ending
        short[name] = label
    return [short[name] for name in shown]
