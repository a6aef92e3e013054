"""Is this run really better, and in which way: search lengths and verdicts.

Importing the package registers `ESL`, `ASL`, `Answered` and `Outcome` with ir_measures, so that
they can be named in its calls. Everything else is imported at first use, and functions check the
kinds of their arguments.
"""

import ast
import inspect
from importlib import import_module
from pkgutil import get_data
from typing import Any

from ir_outcomes.arguments import checked
from ir_outcomes.measures import register
from ir_outcomes.results import SHOWN_BY

__version__ = "0.1.0"

# The list of public names stands once, in the stub that type checkers read.
_MODULES = {
    alias.name: str(line.module)
    for line in ast.parse(get_data(__name__, "__init__.pyi") or b"").body
    if isinstance(line, ast.ImportFrom)
    for alias in line.names
}
__all__ = ["__version__", *_MODULES]


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    module = _MODULES[name]
    if module == __name__:  # a package below this one
        return import_module(f"{module}.{name}")
    found = getattr(import_module(module), name)
    if inspect.isfunction(found):
        found = checked(found)
        found.__module__ = __name__  # where pickle finds it
    return globals().setdefault(name, found)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


SHOWN_BY |= {
    "view": "ir_outcomes.showing.registry:view_of",
    "text": "ir_outcomes.showing.text:as_text",
    "markdown": "ir_outcomes.showing.formats:as_markdown",
    "html": "ir_outcomes.showing.formats:as_html",
    "csv": "ir_outcomes.showing.formats:as_csv",
    "frame": "ir_outcomes.showing.formats:as_frame",
    "latex": "ir_outcomes.showing.latex:as_latex",
    "figure": "ir_outcomes.showing.figures:draw",
    "report": "ir_outcomes.showing.page:report_of",
}
register()
