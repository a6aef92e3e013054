"""Standard output and error: errors instead of tracebacks, whatever the two streams are connected to.

A stream may be closed, full, a pipe whose reader has gone, or a console that cannot show every character. Text on a terminal
holds no control character that came from an input.
"""

from __future__ import annotations

import errno
import json
import os
import shlex
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, TextIO

from ir_outcomes.errors import IrOutcomesError, IrOutcomesWarning, ParameterError, escaped

__all__ = [
    "error_line", "given_command", "json_characters", "messages", "note", "print_json", "print_lines", "progress_is_shown",
    "quiet", "standard_output",
]  # fmt: skip

_quiet = False


@contextmanager
def messages() -> Iterator[None]:
    """Turn errors into a message and an exit status, and our warnings into lines on stderr."""
    for stream in (sys.stdout, sys.stderr):
        _show_every_character(stream)
    _check_options(sys.argv[1:])
    with warnings.catch_warnings():
        warnings.simplefilter("always", IrOutcomesWarning)
        warnings.showwarning = partial(_show_warning, warnings.showwarning)
        try:
            try:
                yield
            finally:
                if sys.stdout is not None and not sys.stdout.closed:
                    sys.stdout.flush()  # a full disk is noticed here, and not at the end of Python, where it cannot be said
        except IrOutcomesError as error:
            error_line(f"error: {error}")
            _exit(1)
        except OSError as error:
            if error.errno != errno.EPIPE:  # a reader that has seen enough, such as head, is no error
                error_line(f"error: standard output cannot be written ({escaped(str(error.strerror or error))})")
            _exit(1)
        finally:
            quiet(False)


def _show_warning(otherwise: Any, message: Warning | str, category: type[Warning], *details: Any, **more: Any) -> None:
    if issubclass(category, IrOutcomesWarning):
        error_line(f"warning: {message}")
    else:
        otherwise(message, category, *details, **more)


def standard_output() -> TextIO:
    """Return stdout.

    Raises
    ------
    ParameterError
        If it is closed.
    """
    stream: TextIO | None = sys.stdout  # None where the program was started with a closed stdout
    if stream is None or stream.closed:
        raise ParameterError("standard output is closed; redirect it, or use --output FILE where the command has it")
    return stream


def print_lines(lines: str, stream: TextIO | None = None) -> None:
    """Print lines, by default on stdout; on a terminal, control characters are shown escaped."""
    stream = standard_output() if stream is None else stream
    stream.write(f"{escaped(lines, keep=chr(10) + chr(9)) if stream.isatty() else lines}\n")


def print_json(text: str, stream: TextIO | None = None) -> None:
    """Print JSON, by default on stdout, in the characters that the encoding has."""
    stream = standard_output() if stream is None else stream
    print_lines(json_characters(text, getattr(stream, "encoding", None) or "utf-8"), stream)


def json_characters(text: str, encoding: str) -> str:
    r"""Replace characters that an encoding does not have in JSON, by JSON's own escapes; a name that is not UTF-8 stays JSON.

    Examples
    --------
    >>> print(json_characters('{"run": "caf\udce9 é"}', "utf-8"), json_characters('["é"]', "ascii"))
    {"run": "caf\udce9 é"} ["\u00e9"]
    """
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return "".join(_json_character(character, encoding) for character in text)
    return text


def _json_character(character: str, encoding: str) -> str:
    try:
        character.encode(encoding)
    except UnicodeEncodeError:
        return json.dumps(character)[1:-1]
    return character


def given_command() -> str:
    """Return the command that is running, as a shell takes it."""
    return shlex.join(["ir-outcomes", *sys.argv[1:]])


def note(text: str) -> None:
    """Print a note on stderr, unless --quiet is given."""
    if not _quiet:
        error_line(f"note: {text}")


def error_line(text: str) -> None:
    """Print a line on stderr, as far as there is one."""
    with suppress(OSError, ValueError, AttributeError):  # full, closed, or never there: nobody can be told
        sys.stderr.write(f"{escaped(text, keep=chr(10))}\n")
        sys.stderr.flush()


def quiet(value: bool) -> None:
    """Leave out warnings, notes and progress bars, or show them again."""
    global _quiet
    _quiet = value
    if value:
        warnings.simplefilter("ignore", IrOutcomesWarning)


def progress_is_shown() -> bool:
    """Return whether progress bars are shown: on a terminal, unless --quiet is given."""
    return not _quiet and sys.stderr is not None and sys.stderr.isatty()


def _show_every_character(stream: Any) -> None:
    """Write characters that the encoding of a console lacks as escapes, instead of failing."""
    if hasattr(stream, "reconfigure"):
        stream.reconfigure(errors="backslashreplace")


def _check_options(words: list[str]) -> None:
    """Refuse names of options with control characters, which the message about an unknown option would print."""
    for word in words:
        name = word.partition("=")[0]
        if word == "--":
            return
        if name.startswith("--") and escaped(name) != name:
            error_line(f"Error: No such option: {name}")
            sys.exit(2)


def _exit(status: int) -> None:
    """End the program; what a stream still holds cannot be written, and would be an error once more."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            with suppress(OSError, ValueError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(status)
