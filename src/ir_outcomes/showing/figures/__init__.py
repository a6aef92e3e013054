"""Figures of results, with matplotlib: readable in print, in greyscale, and with any colour vision.

Each takes ``ax=`` (Axes, an empty Figure, or None for a new figure of pyplot) and returns the Axes. None changes the global
settings of matplotlib.
"""

from collections.abc import Mapping
from typing import Any

from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError
from ir_outcomes.showing.figures import comparisons  # noqa: F401, registers its figures
from ir_outcomes.showing.figures.drawing import KINDS, Drawing, blank_figure, save, styled
from ir_outcomes.showing.figures.leaderboards import conditions_plot

__all__ = ["KINDS", "blank_figure", "conditions_plot", "draw", "kinds", "save"]


def kinds(result: object) -> Mapping[str, Drawing]:
    """Return the figures of a result by name, the default first."""
    if type(result) not in KINDS:
        raise ParameterError(f"a {type(result).__name__} has no figures")
    return KINDS[type(result)]


@styled
def draw(result: object, kind: str | None = None, ax: Any = None) -> Any:
    """Draw a figure of a result by its name, or its first one; see `Result.plot`."""
    drawings = kinds(result)
    name = next(iter(drawings)) if kind is None else kind
    if isinstance(result, Comparisons) and name in KINDS[Comparison].keys() - drawings:
        raise ParameterError(f"kind={name!r} is for one comparison: name one contender, or choose one of the result")
    if name not in drawings:
        raise ParameterError(f"kind={kind!r}: a {type(result).__name__} is drawn as {', '.join(drawings)}")
    return drawings[name](result, ax)
