"""Which figures each result has, by their names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import singledispatch
from typing import Any

from ir_outcomes.errors import ParameterError

__all__ = ["Drawing", "draw", "kinds"]

Drawing = Callable[[Any, Any], Any]


@singledispatch
def kinds(result: object) -> Mapping[str, Drawing]:
    """Return the figures of a result by name, the default first.

    Each takes the result and where to draw (Axes, an empty Figure, or None for a new figure of pyplot), and returns Axes.
    A module of this package registers those of its results with ``kinds.register``.

    Raises
    ------
    ParameterError
        If this kind of result has no figures.
    """
    raise ParameterError(f"a {type(result).__name__} has no figures")


def draw(result: object, kind: str | None = None, ax: Any = None) -> Any:
    """Draw a figure of a result by its name, or its first one.

    Parameters
    ----------
    result : object
        What to draw.
    kind : str, optional
        The name of the figure, one of ``kinds(result)``.
    ax : matplotlib Axes or Figure, optional
        Where to draw. By default on a new figure of pyplot, which a notebook shows under the cell and ``plt.show()`` shows in
        a script; a script that draws many closes each with ``plt.close(axes.figure)``. On a Figure, which must be empty, it
        is resized to what the drawing needs; a ``Figure()`` made without pyplot needs no display and no closing.

    Returns
    -------
    matplotlib Axes
        The figure is its ``.figure``.

    Raises
    ------
    ParameterError
        If there is no such figure.
    MissingDependency
        If matplotlib is not installed.
    """
    drawings = kinds(result)
    name = next(iter(drawings)) if kind is None else kind
    if name not in drawings:
        raise ParameterError(f"kind={kind!r}: a {type(result).__name__} is drawn as {', '.join(drawings)}")
    return drawings[name](result, ax)
