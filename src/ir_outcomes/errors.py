"""Everything that can go wrong, in one tree.

::

    IrOutcomesError
    ├── InputError (ValueError)            what was read is wrong
    │   ├── UnreadableFile (OSError)       missing, not a file, truncated, not decompressible
    │   ├── FormatError                    a line, row or value that the format does not allow
    │   ├── MismatchError                  sound inputs that do not belong together
    │   └── DatasetUnavailable             an ir_datasets id that cannot be had, or has no qrels or run
    ├── ParameterError (ValueError)        an argument or option that makes no sense
    └── MissingDependency (ImportError)    an optional package that this call needs

    IrOutcomesWarning (UserWarning)        a number that is right but easily misread

A message names the file, the line and the offending text where there is one, and ends with the remedy.
"""

from __future__ import annotations

import sys
from functools import partial
from typing import Any

__all__ = [
    "DatasetUnavailable",
    "FormatError",
    "InputError",
    "IrOutcomesError",
    "IrOutcomesWarning",
    "MismatchError",
    "MissingDependency",
    "ParameterError",
    "UnreadableFile",
    "some",
    "user_stacklevel",
]


class IrOutcomesError(Exception):
    """Base of all errors raised by ir_outcomes."""


class InputError(IrOutcomesError, ValueError):
    """What was read is wrong."""


class UnreadableFile(InputError, OSError):
    """A file that is missing, is not a file, is truncated or cannot be decompressed."""


class FormatError(InputError):
    """A line, row or value that the format does not allow.

    Parameters
    ----------
    source : str
        The file, or what stands for it ("the run given as a dict").
    problem : str
        What is wrong and what to do about it.
    line : int, optional
        Line number, starting at 1.
    text : str, optional
        The offending text; shown shortened to 80 characters.
    """

    def __init__(self, source: str, problem: str, *, line: int | None = None, text: str | None = None) -> None:
        self.source = source
        self.problem = problem
        self.line = line
        self.text = text
        where = source if line is None else f"{source}, line {line}"
        shown = "" if text is None else f"\n  {_shortened(text)!r}"
        super().__init__(f"{where}: {problem}{shown}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Travel between processes, which an exception cannot do by itself when it is not made from its message."""
        return partial(type(self), line=self.line, text=self.text), (self.source, self.problem)


class MismatchError(InputError):
    """Inputs that are sound by themselves but do not belong together."""


class DatasetUnavailable(InputError):
    """An ir_datasets id that is unknown, cannot be fetched, or lacks what is asked of it."""


class ParameterError(IrOutcomesError, ValueError):
    """An argument or option that makes no sense; the message lists what does."""


class MissingDependency(IrOutcomesError, ImportError):
    """An optional package that this call needs and that is not installed."""


class IrOutcomesWarning(UserWarning):
    """A number that is right but easily misread."""


def some(items: list[str] | tuple[str, ...], most: int = 5) -> str:
    """Name the first few of a list of ids, and say how many more there are.

    Examples
    --------
    >>> some(["q1", "q2", "q3"], most=2)
    'q1, q2 and 1 more'
    """
    named = ", ".join(items[:most])
    return named if len(items) <= most else f"{named} and {len(items) - most} more"


def user_stacklevel() -> int:
    """Return the ``stacklevel`` at which a warning points to the line outside of this package that led to it."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "ir_outcomes":
        frame, level = frame.f_back, level + 1
    return level


def _shortened(text: str, most: int = 80) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
