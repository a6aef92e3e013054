"""The exceptions and the warning of ir_outcomes.

::

    IrOutcomesError
    ├── InputError (ValueError)            an input is invalid
    │   ├── UnreadableFile (OSError)       missing, not a file, truncated, cannot be decompressed
    │   ├── FormatError                    a line, row or value that the format does not allow
    │   ├── MismatchError                  inputs that are valid but do not belong together
    │   ├── EmptyInput                     nothing to evaluate; a FormatError and a MismatchError
    │   └── DatasetUnavailable             an ir_datasets id that is unknown, or has no qrels or run
    ├── ParameterError (ValueError)        an invalid argument or option
    └── MissingDependency (ImportError)    an optional package that this call needs is not installed

    IrOutcomesWarning (UserWarning)        a number that is correct but easy to misread

A message names the file, the line and the offending text where there is one, and ends with the
remedy. Control characters that an input contains are shown escaped, as git shows file names.
Advice, in notes too, names arguments in backticks, as Python spells them: "pass `documents=100` to
evaluate". The command line writes them as its options.
"""

import re
import sys
import warnings
from functools import partial
from typing import Any

# C0, DEL and C1 controls; bidirectional and other invisible controls; line and paragraph
# separators; byte order marks; surrogates, which no encoding can write; tags. Joiners (U+200C,
# U+200D) belong to ordinary text in several scripts.
_UNSAFE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)


def escaped(text: str, *, keep: str = "") -> str:
    r"""Replace control characters with visible escapes, as git does."""
    return _UNSAFE.sub(lambda found: found[0] if found[0] in keep else _escape(found[0]), text)


def _escape(character: str) -> str:
    if "\udc80" <= character <= "\udcff":  # a byte that was not UTF-8 (surrogateescape)
        character = chr(ord(character) - 0xDC00)
    return character.encode("unicode_escape").decode()


class IrOutcomesError(Exception):
    """Base of all errors raised by ir_outcomes."""

    def __str__(self) -> str:
        return escaped(super().__str__(), keep="\n")


class InputError(IrOutcomesError, ValueError):
    """An input is invalid."""


class UnreadableFile(InputError, OSError):
    """A file that is missing, is not a file, is truncated or cannot be decompressed."""


class FormatError(InputError):
    """A line, row or value that the format does not allow.

    Parameters
    ----------
    source : str
        The file, or a description of an input that is not a file ("the run given as a dict").
    problem : str
        What is wrong and how to fix it.
    line : int, optional
        Line number, starting at 1.
    text : str, optional
        The offending text; shown shortened to 80 characters.
    """

    def __init__(
        self, source: str, problem: str, *, line: int | None = None, text: str | None = None
    ) -> None:
        self.source = source
        self.problem = problem
        self.line = line
        self.text = text
        if line is None:
            start = escaped(source)
        else:
            start = f"{escaped(source)}, line {line}"
        shown = "" if text is None else f"\n  {shortened(text)!r}"
        super().__init__(f"{start}: {problem}{shown}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Support pickling, which calls a class with the message only."""
        return partial(type(self), line=self.line, text=self.text), (self.source, self.problem)


class MismatchError(InputError):
    """Inputs that are valid but do not belong together."""


class EmptyInput(FormatError, MismatchError):
    """A file without content, or a run without results for any query of the qrels."""


class DatasetUnavailable(InputError):
    """An ir_datasets id that is unknown, cannot be downloaded, or has no such part."""


class ParameterError(IrOutcomesError, ValueError):
    """An invalid argument or option.

    Parameters
    ----------
    problem : str
        What is wrong and how to fix it.
    **arguments : object
        The arguments that it is about and their values, which begin the message: "`cutoff=0`: must
        be 1 or more".
    """

    def __init__(self, problem: str, /, **arguments: object) -> None:
        self.arguments = arguments
        about = ", ".join(f"`{name}={shortened(repr(value))}`" for name, value in arguments.items())
        super().__init__(f"{about}: {problem}" if arguments else problem)


class MissingDependency(IrOutcomesError, ImportError):
    """An optional package that this call needs is not installed."""


class IrOutcomesWarning(UserWarning):
    """A number that is correct but easy to misread."""

    def __str__(self) -> str:
        return escaped(super().__str__(), keep="\n")


def some(items: list[str] | tuple[str, ...], limit: int = 5) -> str:
    """List the first few ids and the number of the remaining ones."""
    named = ", ".join(escaped(item) for item in items[:limit])
    if len(items) <= limit:
        return named
    return f"{named} and {len(items) - limit} more"


def warn(message: str) -> None:
    """Warn at the line outside of this package that led to the call."""
    frame = sys._getframe()
    level = 1
    while (
        frame.f_back is not None
        and frame.f_globals.get("__name__", "").partition(".")[0] == "ir_outcomes"
    ):
        frame = frame.f_back
        level += 1
    warnings.warn(message, IrOutcomesWarning, stacklevel=level)


def not_installed(need: str, extra: str) -> MissingDependency:
    """Return the error that says which extra brings what is needed."""
    return MissingDependency(f'{need}: pip install "ir-outcomes[{extra}]"')


def shortened(text: str, limit: int = 80) -> str:
    """Return the text, or its beginning and dots."""
    return text if len(text) <= limit else text[: limit - 3] + "..."
