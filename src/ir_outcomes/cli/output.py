"""Standard output and error, files and figures: what any command writes, and how it ends.

Data goes to stdout, everything else to stderr; errors are messages, never tracebacks. A stream may be closed, full, a pipe
whose reader has gone, or a console that cannot show every character. What is impossible is said before the work.
"""

from __future__ import annotations

import errno
import io
import json
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from ir_outcomes.errors import InputError, IrOutcomesError, IrOutcomesWarning, ParameterError, escaped
from ir_outcomes.formatting import write_completely
from ir_outcomes.results import Result
from ir_outcomes.showing.view import View
from ir_outcomes.types import unreachable

__all__ = [
    "OUTPUT",
    "Output",
    "PlotOutput",
    "ReportOutput",
    "check_targets",
    "error_line",
    "given_command",
    "json_characters",
    "messages",
    "note",
    "print_json",
    "print_lines",
    "progress_is_shown",
    "quiet",
    "save_figure",
    "standard_output",
]  # fmt: skip

OUTPUT = Group("Output", sort_key=3)
ROWS = 20  # of each table, on standard output
DOCUMENTS = 20  # of each ranked list, on the page of a report
Format = Literal["text", "markdown", "json", "jsonl", "csv", "latex", "html"]
# Options that name a file to write.
TARGETS = ("output", "plot", "report", "summary")

_quiet = False


@contextmanager
def messages() -> Iterator[None]:
    """Turn errors into a message and an exit status, and our warnings into lines on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # characters that the encoding of a console lacks are written as escapes
            stream.reconfigure(errors="backslashreplace")
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
            error_line(f"error: {as_options(str(error))}")
            _exit(1)
        except OSError as error:
            if error.errno != errno.EPIPE:  # a reader that has seen enough, such as head, is no error
                error_line(f"error: standard output cannot be written ({escaped(str(error.strerror or error))})")
            _exit(1)
        finally:
            quiet(False)


def _show_warning(otherwise: Any, message: Warning | str, category: type[Warning], *details: Any, **more: Any) -> None:
    if issubclass(category, IrOutcomesWarning):
        error_line(f"warning: {as_options(str(message))}")
    else:
        otherwise(message, category, *details, **more)


def as_options(text: str) -> str:
    """Write advice about arguments in the words of the command line."""
    text = re.sub(r"\b(judged_only|all_pairs)=True\b", lambda found: f"--{found[1].replace('_', '-')}", text)
    # Not in the parentheses of a measure, ESL(rel=2)@100, which is written the same everywhere.
    text = re.sub(r"(?<![(\w])(cutoff|rel|unit|ties|alpha|margins|correction)=(\"?)([\w.,]*\w)\2", r"--\1 \3", text)
    return re.sub(r"\bclusters='(\S+)'", r"--clusters '\1'", text)


def standard_output() -> TextIO:
    """Return stdout."""
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
    """Replace characters that an encoding does not have in JSON, by JSON's own escapes; a name that is not UTF-8 stays JSON."""
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
    """Whether progress bars are shown: on a terminal, unless --quiet is given."""
    return not _quiet and sys.stderr is not None and sys.stderr.isatty()


def _exit(status: int) -> None:
    """End the program; what a stream still holds cannot be written, and would be an error once more."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            with suppress(OSError, ValueError, AttributeError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    sys.exit(status)


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True)
class Output:
    """How a result is written."""

    form: Annotated[Format, Parameter(name="--format")] = "text"
    """The format of the result."""
    output: Annotated[Path | None, Parameter(alias="-o")] = None
    """Write the result to this file instead of stdout, with all rows."""
    details: bool = False
    """Show everything, not only the first screen."""
    rows: Annotated[int | None, Parameter(validator=Number(gte=1))] = None
    """Show at most this many rows of a table; on stdout 20 by default."""
    quiet: bool = False
    """Print no warnings and no progress bars."""

    def write(self, *results: Result) -> None:
        """Write results."""
        if self.form == "json":
            shown: Any = results[0].to_dict() if len(results) == 1 else [result.to_dict() for result in results]
            self._write([json.dumps(shown, ensure_ascii=False, allow_nan=False, indent=2)])
        else:
            self.write_views([result.view() for result in results], [row for result in results for row in result.rows()])

    def write_views(self, views: Sequence[View], rows: Sequence[Mapping[str, Any]]) -> None:
        """Write what is shown as text, and as rows for programs."""
        from ir_outcomes.showing import text
        from ir_outcomes.showing.formats import as_csv, as_html, as_json_lines, as_latex, as_markdown

        views = [_in_options(view) for view in views]
        if self.form == "text":
            most = ROWS if self.output is None and self.rows is None else self.rows
            self._write(text.write(view, details=self.details, rows=most, in_python=False) for view in views)
        elif self.form == "json":
            self._write([json.dumps(list(rows), ensure_ascii=False, allow_nan=False)])
        elif self.form == "jsonl":
            self._write([as_json_lines(rows)])
        elif self.form == "csv":
            self._write([as_csv(rows)])
        elif self.form == "markdown":
            self._write(as_markdown(view, details=self.details, rows=self.rows) for view in views)
        elif self.form == "html":
            self._write(map(as_html, views))
        elif self.form == "latex":
            self._write(map(as_latex, views))
        else:
            unreachable(self.form)

    def write_text(self, text: str) -> None:
        """Write lines that have a format of their own."""
        self._write([text.rstrip("\n")])

    def _write(self, parts: Iterable[str]) -> None:
        if self.output is None:
            self._write_to(standard_output(), parts)
            return
        if self.output.is_file():
            note(f"{self.output} exists and is overwritten")
        stream = io.StringIO(newline="")
        self._write_to(stream, parts)
        try:
            # Names that are not UTF-8 are written with the bytes that they had.
            write_completely(self.output, stream.getvalue().encode("utf-8", "surrogateescape"))
        except ParameterError as error:
            raise ParameterError(f"--output {error}") from error

    def _write_to(self, stream: Any, parts: Iterable[str]) -> None:
        from ir_outcomes.showing.text import print_text

        for part in parts:
            if self.form == "text":
                print_text(part, stream)
            elif self.form in ("json", "jsonl"):
                print_json(part, stream)
            else:
                print_lines(part, stream)


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True)
class PlotOutput(Output):
    """The same for results that have a figure."""

    plot: Path | None = None
    """Also draw a figure and write it to this file: .png, .pdf or .svg."""

    def draw(self, result: Result, kind: str | None = None) -> None:
        """Draw the figure, if one is asked for."""
        if self.plot is not None:
            from ir_outcomes.showing.figures import blank_figure

            save_figure(result.plot(kind, ax=blank_figure()), self.plot)


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True)
class ReportOutput(PlotOutput):
    """The same for results that have a report page."""

    report: Path | None = None
    """Also write one HTML page with every query behind the numbers to this file."""

    @property
    def documents(self) -> int:
        """How many documents of each list the evaluation has to keep."""
        return 0 if self.report is None else DOCUMENTS

    def write_report(self, result: Result, evaluation: Any, inputs: Iterable[str | None] = ()) -> None:
        """Write the report page, if one is asked for."""
        if self.report is not None:
            if self.report.is_file():
                note(f"{self.report} exists and is overwritten")
            files = tuple(path for path in inputs if path is not None and os.path.isfile(path))
            result.to_report(self.report, evaluation=evaluation, command=given_command(), inputs=files)


def _in_options(view: View) -> View:
    return replace(view, notes=tuple(map(as_options, view.notes)), background=tuple(map(as_options, view.background)))


def save_figure(axes: Any, path: Path) -> None:
    """Write the figure that was drawn on these Axes."""
    from ir_outcomes.showing.figures import save

    if path.exists():
        note(f"{path} exists and is overwritten")
    try:
        save(axes, path)
    except ParameterError as error:
        raise ParameterError(f"--plot {error}") from error


def check_targets(values: Mapping[str, Any]) -> None:
    """Refuse files that cannot be written, and files that are inputs, before anything is read."""
    targets = {name: value for name in TARGETS if isinstance(value := values.get(name), Path)}
    for name, path in targets.items():
        _check_target(f"--{name}", path)
    if "plot" in targets:
        from ir_outcomes.showing.figures import blank_figure

        known = blank_figure().canvas.get_supported_filetypes()
        if targets["plot"].suffix.removeprefix(".").lower() not in known:
            raise ParameterError(f"--plot {targets['plot']}: cannot be written as a figure; let it end in .png, .pdf or .svg")
    written = [(name, path) for name, path in targets.items() if path.is_file()]
    inputs = list(_input_files(values)) if written else []
    for name, path in written:
        if any(os.path.samefile(file, path) for file in inputs if os.path.isfile(file)):
            raise ParameterError(f"--{name} {path}: is an input of this command and would be overwritten; choose another file")


def _check_target(option: str, path: Path) -> None:
    folder = path.parent
    if path.is_dir():
        reason = "is a directory; name a file"
    elif not folder.is_dir():
        reason = f"cannot be written: there is no directory {folder}"
    elif not os.access(path if path.exists() else folder, os.W_OK):
        reason = "cannot be written: permission denied"
    else:
        return
    raise ParameterError(f"{option} {path}: {reason}")


def _input_files(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the files that the words of a command stand for: themselves, runs of a directory or pattern, files of a suite."""
    from ir_outcomes.reading.runs import is_path, run_paths
    from ir_outcomes.reading.suites import read_suite

    given = [value for name, value in values.items() if name not in TARGETS]
    words = [str(word) for value in given for word in (value if isinstance(value, (list, tuple)) else [value])]
    # NAME=FILE, and FILE@GRADE or FILE#FORM
    parts = [
        part
        for word in words
        for part in (word, word.partition("=")[2], re.split("[@#][^@#]*$", word.partition("=")[2] or word)[0])
    ]
    for part in filter(None, parts):
        with warnings.catch_warnings(), suppress(IrOutcomesError):
            warnings.simplefilter("ignore", IrOutcomesWarning)
            yield from run_paths(part) if is_path(part) else []
    with suppress(InputError):  # which is reported when the suite is read
        yield from read_suite(values["suite"]).files if isinstance(values.get("suite"), str) else []
