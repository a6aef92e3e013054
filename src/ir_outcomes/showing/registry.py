"""What shows a result, by its class.

The view of a result of `ir_outcomes.X` is in `ir_outcomes.showing.views.X`, with the sections of
its page and its figure. That module is imported when the first result of X is shown.
"""

from collections.abc import Callable, Mapping
from functools import singledispatch
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple, Self

from ir_outcomes.comparison.result import Comparison
from ir_outcomes.errors import ParameterError
from ir_outcomes.pairs.rows import Row
from ir_outcomes.showing.view import View

VIEWS = "ir_outcomes.showing.views"


class Section(NamedTuple):
    """What was found of a contender: a line of tables and figures, a part of a page."""

    contender: str
    condition: str  # empty where there is one
    label: str
    rows: Mapping[str, Row]  # by their names
    comparison: Comparison | None = None  # None of means over conditions

    @property
    def baseline(self) -> str:
        """The run that the contender is compared with."""
        return "" if self.comparison is None else self.comparison.baseline

    @classmethod
    def of(cls, comparison: Comparison, condition: str = "") -> Self:
        """Take a comparison under a condition."""
        rows = {row.name: row for row in comparison.parts}
        return cls(comparison.contender, condition, comparison.verdict.label, rows, comparison)


@singledispatch
def view_of(result: Any) -> View:
    """All that is shown of a result."""
    view: View = _imported(view_of, result, "view")
    return view


@singledispatch
def sections_of(result: Any) -> list[Section]:
    """What the page and the figure of a result are about, in their order."""
    sections: list[Section] = _imported(sections_of, result, "sections for a page")
    return sections


def _imported(function: Any, result: Any, made: str) -> Any:
    """Import what shows results of a package, and call what is registered."""
    package = type(result).__module__.removeprefix("ir_outcomes.").partition(".")[0]
    if find_spec(f"{VIEWS}.{package}"):
        import_module(f"{VIEWS}.{package}")
    registered: Callable[[Any], Any] = function.dispatch(type(result))
    if registered is function.dispatch(object):
        raise ParameterError(f"a {type(result).__name__} has no {made}")
    return registered(result)
