"""Standard output and error: data goes to stdout, everything else to stderr.

Errors are messages, never tracebacks. A stream may be closed, full, a pipe whose reader has gone,
or a console that cannot show every character.
"""

import codecs
import errno
import io
import json
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, TextIO

from ir_outcomes.cli.commands import COMMANDS
from ir_outcomes.errors import IrOutcomesError, IrOutcomesWarning, ParameterError, escaped


class UsageError(Exception):
    """Wrong usage, which ends the program with status 2."""


@dataclass
class CommandLine:
    """The command that was called."""

    command: str = ""
    words: Sequence[str] = ()
    options: dict[str, Sequence[str]] = field(default_factory=dict)
    quiet: bool = False


CALL = CommandLine()  # one in a process
SHELL = frozenset("<>|&;$#*?")  # a shell reads these itself where they are not quoted


def missing(name: str) -> UsageError:
    """Return the error for an argument that was not given, with an example."""
    return UsageError(f"{name} is missing. For example:\n  ir-outcomes {example_of_call()}")


def example_of_call() -> str:
    """Return an example of the command, with --outputs or --suite if they were typed."""
    sources = {"--outputs", "--suite"}
    examples = COMMANDS[CALL.command].examples
    fitting = (one for one in examples if sources & {*CALL.words} == sources & {*one.split()})
    return next(fitting, examples[0])


def as_options(text: str) -> str:
    """Write arguments in backticks as options of the command that was called."""
    return re.sub("`(\\w+)=?([^`]*)`", _option, text)


def _option(found: re.Match[str]) -> str:
    argument, value = found.groups()
    names = CALL.options.get(argument, ())
    if value == "False":
        names = names[1:]  # the option that says no, if there is one
    if not names:
        return found[0]
    if value in ("", "True", "False"):
        return names[0]
    value = re.sub(",\\)|[][()'\"]", "", value)  # a text, list or tuple of Python
    values = [value]
    if argument == "names":  # which is given once for each
        values = value.split(", ")
    if argument == "range":  # two words behind one option
        return " ".join([names[0], *value.split(", ")])
    if argument == "margins":  # without blanks
        values = [value.replace(", ", ",")]
    quoted = [shlex.quote(word) if set(word) & SHELL else word for word in values]
    return " ".join(f"{names[0]} {word}" for word in quoted)


def _json_escapes(error: UnicodeError) -> tuple[str, int]:
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return json.dumps(error.object[error.start : error.end])[1:-1], error.end


# Characters that an encoding lacks are written as JSON escapes them, so that JSON stays JSON.
codecs.register_error("json", _json_escapes)


@contextmanager
def messages() -> Iterator[None]:
    """Turn errors into messages and exit statuses, and our warnings into lines."""
    # A stream that was closed when the program started is None: writing to stdout is then an error,
    # and to stderr nothing.
    sys.stdout = sys.stdout or open(os.devnull)  # noqa: SIM115  # open to the end
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115  # open to the end
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="json")
    note.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("always", IrOutcomesWarning)
        warnings.showwarning = _show_warning
        try:
            yield
            sys.stdout.flush()  # a full disk is noticed here, and not at the end of Python
        except (UsageError, ParameterError) as error:
            command = " ".join(filter(None, ("ir-outcomes", CALL.command)))
            error_line(f"error: {as_options(str(error))}\nSee {command} --help.")
            # A file that could not be written is no wrong usage.
            sys.exit(1 if isinstance(error.__cause__, OSError) else 2)
        except IrOutcomesError as error:
            error_line(f"error: {as_options(str(error))}")
            sys.exit(1)
        except OSError as error:
            # A reader that has seen enough, such as head, is no error.
            if error.errno != errno.EPIPE:
                error_line(
                    f"error: {error.filename or 'standard output'} cannot be written"
                    f" ({error.strerror or error})"
                )
            # What stdout still holds would raise a second error when Python ends.
            with suppress(OSError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(1)


def _show_warning(message: Warning | str, *details: Any, **more: Any) -> None:
    if not CALL.quiet:
        error_line(f"warning: {as_options(str(message))}")


def progress_is_shown() -> bool:
    """Return whether progress bars are shown: on a terminal, unless --quiet is given."""
    return not CALL.quiet and sys.stderr.isatty()


def error_line(text: str) -> None:
    """Print a line on stderr, as far as it can be."""
    with suppress(OSError):
        sys.stderr.write(f"{escaped(text, keep=chr(10))}\n")
        sys.stderr.flush()


@cache
def note(text: str) -> None:
    """Print a note on stderr, once in a call, unless --quiet is given."""
    if not CALL.quiet:
        error_line(f"note: {text}")


def note_of_old_file(path: Path) -> None:
    """Say that a file is overwritten, if it is."""
    if path.is_file():
        note(f"{path} exists and is overwritten")


def print_lines(lines: str, stream: TextIO | None = None) -> None:
    """Print lines, by default on stdout, with control characters escaped on terminals."""
    target = stream or sys.stdout
    if target.isatty():
        lines = escaped(lines, keep="\n\t")
    target.write(f"{lines}\n")
