"""The settings that figures are drawn and written with."""

from __future__ import annotations

import functools
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from ir_outcomes.errors import MissingDependency, ParameterError
from ir_outcomes.showing.figures._fonts import without_glyph_warnings
from ir_outcomes.writing import write_completely

__all__ = ["blank_figure", "save", "styled"]

SETTINGS: Any = {"text.usetex": False, "axes.formatter.useoffset": False, "axes.labelsize": 9, "hatch.linewidth": 0.6}
F = TypeVar("F", bound=Callable[..., Any])


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
            with without_glyph_warnings():
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


def save(picture: Any, path: str | Path) -> None:
    """Write a figure to a file: fonts of PDF and PS are embedded as TrueType, SVG keeps its text.

    Parameters
    ----------
    picture : matplotlib Axes or Figure
        What to write.
    path : str or Path
        The file; its suffix says the format.

    Raises
    ------
    ParameterError
        If the file cannot be written, or matplotlib does not know its format.
    """
    import matplotlib as mpl

    from ir_outcomes.showing.figures._printable import PRINT_SETTINGS

    figure = getattr(picture, "figure", picture).figure
    content = io.BytesIO()
    try:
        with mpl.rc_context(PRINT_SETTINGS):
            figure.savefig(content, dpi=150, format=Path(path).suffix.removeprefix(".") or "png")
    except ValueError as error:  # a format that matplotlib does not know
        raise ParameterError(f"{path}: cannot be written ({error})") from error
    write_completely(path, content.getvalue())


def _check_matplotlib() -> None:
    try:
        import matplotlib.figure  # noqa: F401
    except ImportError:
        raise MissingDependency("figures need matplotlib: pip install 'ir-outcomes[plot]'") from None
