"""What all figures share: colours, markers, the frame that a figure is drawn in, and how it is written."""

from __future__ import annotations

import functools
import math
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from ir_outcomes.errors import MissingDependency, ParameterError

__all__ = [
    "BLACK",
    "BLUE",
    "COLORS",
    "GREEN",
    "GREY",
    "HATCHES",
    "LIGHT",
    "MARKERS",
    "ORANGE",
    "PURPLE",
    "SKY",
    "VERMILLION",
    "YELLOW",
    "Frame",
    "Rows",
    "blank_figure",
    "count",
    "legend_beside",
    "lightness",
    "name_rows",
    "place_rows",
    "save",
    "series_style",
    "styled",
    "tilt_labels",
]

# The palette of Okabe and Ito (2008), which people with any colour vision can tell apart.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILLION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
GREY, LIGHT = "#999999", "#DDDDDD"
COLORS = (BLUE, ORANGE, GREEN, VERMILLION, PURPLE, SKY, BLACK, "#888888")  # yellow lines are too weak on white
MARKERS = ("o", "s", "D", "^", "v", "P", "*", "X", "<", ">", "p", "h", "d")
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++", "oo", "--")

SETTINGS: Any = {"text.usetex": False, "axes.formatter.useoffset": False, "axes.labelsize": 9, "hatch.linewidth": 0.6}
_INCHES_PER_LABEL = 0.098  # least distance of row labels, at the smallest font size that is readable in print
F = TypeVar("F", bound=Callable[..., Any])


class Frame:
    """The Axes that a figure is drawn on, which it creates unless they are given.

    The size is that of the area between the axes. A figure made here gets the size at which this area has its own, so that long
    labels and legends never compress it.

    Parameters
    ----------
    target : matplotlib Axes, matplotlib Figure or None
        Where to draw: on these Axes, whose size is kept; on this empty Figure, which is resized; or on a new figure of
        pyplot, which notebooks and ``plt.show()`` display.
    width, height : float
        Size of the area of each panel, inches.
    rows, columns : int
        Number of panels.
    **options : object
        Passed to ``Figure.subplots``.
    """

    def __init__(
        self,
        target: Any,
        width: float,
        height: float,
        *,
        rows: int = 1,
        columns: int = 1,
        heights: Sequence[float] = (),
        **options: Any,
    ) -> None:
        self.heights = list(heights) or [height] * rows
        self.width, self.columns = width, columns
        self.panels: list[Any]
        self.figure: Any = None
        if target is None or not hasattr(target, "get_xlim"):
            size = ((width + 4) * columns, sum(self.heights) + 4)  # more than enough; `finish` takes away what is not needed
            self.figure = _new_figure(size) if target is None else target
            self.figure.set_size_inches(size)
            self.figure.set_layout_engine("constrained")
            grid = self.figure.subplots(
                len(self.heights), columns, squeeze=False, gridspec_kw={"height_ratios": self.heights}, **options
            )
            self.panels = list(grid.flat)
        elif rows * columns == 1:
            self.panels = [target]
        else:
            self.panels = _inset_panels(target, self.heights, columns)
        self.ax = self.panels[0]

    def finish(self, title: str) -> Any:
        """Set the title above the first panel, give the panels their size, and return the first one."""
        heading = self.ax.set_title(title, loc="left", fontsize=9)
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


def place_rows(n: int, pitch: float = 0.26, most: float = 14.2, least: float = 0.9) -> Rows:
    """Choose height, font size and labels of `n` rows so that the figure's size stays bounded and no labels overlap."""
    pitch = max(min(pitch, 12.0 / max(n, 1)), _INCHES_PER_LABEL)  # smaller rows before a larger figure
    height = min(max(n * pitch, least), most)
    step = max(1, math.ceil(_INCHES_PER_LABEL * n / height - 1e-9))
    return Rows(height, max(5.5, min(9.0, 72 * height / max(n, 1) * step / 1.3)), step)


def name_rows(ax: Any, labels: Sequence[str], rows: Rows) -> None:
    """Write the labels of rows that run from top to bottom at 0, 1, 2, ..."""
    shown = range(0, len(labels), rows.step)
    ax.set_yticks(list(shown), [labels[number] for number in shown], fontsize=rows.fontsize)
    ax.set_ylim(len(labels) - 0.4, -0.6)
    ax.tick_params(axis="y", length=3 if rows.fontsize > 7 else 1.5)


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


def series_style(number: int) -> dict[str, str]:
    """Return colour and marker of a series: distinct in both for the first eight, in their combination for 104."""
    return {"color": COLORS[number % len(COLORS)], "marker": MARKERS[number % len(MARKERS)]}


def count(number: int, noun: str, plural: str = "") -> str:
    """Write a number with its noun: "1 query", "2 queries"."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def lightness(color: str) -> float:
    """Return the lightness L* of a colour, 0 (black) to 100 (white): what is left of it in greyscale."""
    channels = (int(color[start : start + 2], 16) / 255 for start in (1, 3, 5))
    red, green, blue = ((value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4) for value in channels)
    luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue
    return 116 * luminance ** (1 / 3) - 16 if luminance > 0.008856 else 903.3 * luminance


def styled(function: F) -> F:
    """Draw with the settings that the figures rely on, and leave the global ones as they are."""

    @functools.wraps(function)
    def draw(*arguments: Any, **options: Any) -> Any:
        _check_matplotlib()
        import matplotlib as mpl

        # Not rc_context, which restores all settings: the first figure in a notebook activates the inline backend, and with
        # its settings undone, no later figure would be shown.
        previous = {name: mpl.rcParams[name] for name in SETTINGS}
        mpl.rcParams.update(SETTINGS)
        try:
            return function(*arguments, **options)
        finally:
            mpl.rcParams.update(previous)

    return draw  # type: ignore[return-value]


def blank_figure() -> Any:
    """Return an empty figure to draw on that pyplot does not know: it needs neither a display nor closing.

    Raises
    ------
    MissingDependency
        If matplotlib is not installed.
    """
    _check_matplotlib()
    from ir_outcomes.showing.figures._printable import PrintableFigure

    return PrintableFigure()


def save(picture: Any, path: str | Path, **options: Any) -> None:
    """Write a figure to a file: fonts of PDF and PS are embedded as TrueType, SVG keeps its text.

    Parameters
    ----------
    picture : matplotlib Axes or Figure
        What to write.
    path : str or Path
        The file; its suffix says the format.
    **options : object
        Passed to ``Figure.savefig``; dpi is 150 by default.

    Raises
    ------
    ParameterError
        If the file cannot be written, or matplotlib does not know its format.
    """
    import matplotlib as mpl

    from ir_outcomes.showing.figures._printable import PRINT_SETTINGS

    figure = getattr(picture, "figure", picture).figure
    try:
        with mpl.rc_context(PRINT_SETTINGS):
            figure.savefig(path, **{"dpi": 150, **options})
    except (OSError, ValueError) as error:
        raise ParameterError(f"{path}: cannot be written ({error})") from error


def _check_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingDependency("figures need matplotlib: pip install 'ir-outcomes[plot]'") from None


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
