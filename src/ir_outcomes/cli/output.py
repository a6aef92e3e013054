"""Standard output and error, files, figures and pages: what any command writes, and how it ends.

Data goes to stdout, everything else to stderr; errors are messages, never tracebacks. A stream may
be closed, full, a pipe whose reader has gone, or a console that cannot show every character. What
is impossible is said before the work.
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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Literal, TextIO, get_args

from cyclopts import Group, Parameter
from cyclopts.validators import Number

from ir_outcomes.errors import IrOutcomesError, IrOutcomesWarning, escaped, not_installed
from ir_outcomes.formatting import write_completely
from ir_outcomes.reading.collections import read_suite
from ir_outcomes.reading.runs import run_paths
from ir_outcomes.results import Result
from ir_outcomes.showing import View
from ir_outcomes.types import Mark, unreachable

MAIN = Group("Options", sort_key=1)
OUTPUT = Group("Output", sort_key=3)
# The parameters of commands that are files to write.
TARGETS = (
    "output",
    "path",
    "plot",
    "report",
    "summary",
)
DOCUMENTS = 20  # of each ranked list, on a report page
DataFormat = Literal["json", "jsonl", "csv"]  # of exact values
ViewFormat = Literal["text", "markdown", "latex", "html"]  # of what is shown
Format = Literal[ViewFormat, DataFormat]
FORMAT_OF_ENDING: Mapping[str, Format] = {
    ".json": "json",
    ".jsonl": "jsonl",
    ".csv": "csv",
    ".md": "markdown",
    ".tex": "latex",
    ".html": "html",
    ".txt": "text",
    "": "text",
}


@dataclass
class Call:
    """The command that was called: its words, the names of its options by their arguments in Python, and --quiet."""

    words: Sequence[str] = ()
    options: Mapping[str, Sequence[str]] = field(default_factory=dict)
    quiet: bool = False


CALL = Call()  # one in a process
SHELL = frozenset("<>|&;$#*?")  # a shell reads these itself where they are not quoted


def as_options(text: str) -> str:
    """Write the arguments that stand in backticks as options of the command that was called, if it has them."""
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
    """Turn errors into a message and an exit status, and our warnings into lines on stderr."""
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
            sys.stdout.flush()  # a full disk is noticed here, and not at the end of Python, where it cannot be said
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
    """Print a note on stderr, once for all collections or judges, unless --quiet is given."""
    if not CALL.quiet:
        error_line(f"note: {text}")


def note_of_old_file(path: Path) -> None:
    """Say that a file is overwritten, if it is."""
    if path.is_file():
        note(f"{path} exists and is overwritten")


def print_lines(lines: str, stream: TextIO | None = None) -> None:
    """Print lines, by default on stdout; on a terminal, control characters are shown escaped."""
    target = stream or sys.stdout
    if target.isatty():
        lines = escaped(lines, keep="\n\t")
    target.write(f"{lines}\n")


def _check_target(kind: Any, path: Path | None) -> None:
    """Refuse a file that cannot be written, before anything is read."""
    if path is None:
        return
    if path.is_dir():
        raise ValueError("It is a directory; name a file.")
    if not path.parent.is_dir():
        raise ValueError(f"It cannot be written: there is no directory {path.parent}.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise ValueError("It cannot be written: permission denied.")


def files_of(values: Iterable[Any]) -> Iterator[str]:
    """Yield the files that values stand for: themselves, runs of a directory or pattern, files of a suite."""
    for value in values:
        if isinstance(value, (list, tuple)):
            yield from files_of(value)
        elif isinstance(value, (str, Path)):
            word = str(value)
            # An argument can be NAME=FILE@GRADE or FILE#LAYOUT.
            for part in (
                word,
                re.sub("^[^=]*=|[@#][^@#]*$", "", word),
            ):
                with warnings.catch_warnings(action="ignore"), suppress(IrOutcomesError):
                    yield from run_paths(part)
                with suppress(IrOutcomesError):
                    yield from read_suite(part).files if os.path.isdir(part) else ()


def _check_figure(kind: Any, path: Path | None) -> None:
    """Refuse a figure that matplotlib cannot write."""
    if path is not None:
        from ir_outcomes.showing.figures import blank_figure

        if (
            path.suffix.removeprefix(".").lower()
            not in blank_figure().canvas.get_supported_filetypes()
        ):
            raise ValueError("It cannot be written as a figure; let it end in .png, .pdf or .svg.")


def _check_page(kind: Any, path: Path | None) -> None:
    """Refuse a page that cannot be rendered."""
    if path is not None and find_spec("jinja2") is None:
        raise not_installed("the report needs Jinja2", "report")


TARGET = Parameter(group=OUTPUT, validator=_check_target)
PAGE = Parameter(group=OUTPUT, validator=[_check_target, _check_page])
PLOT_KIND = Parameter(name="--plot-kind", group=OUTPUT)
QUIET = Annotated[bool, Parameter(group=OUTPUT, help="Print no warnings and no progress bars.")]
QUERIES = Annotated[
    str | None,
    Parameter(
        group=MAIN,
        help=(
            "The texts of the queries: a file with an id, a tab and a text on each line; JSON"
            " lines; or a BEIR folder."
        ),
    ),
]


def _check_output(kind: Any, out: Any) -> None:
    """Refuse an ending that names no format, and what only LaTeX has in other formats, before anything is read."""
    if out.form is None and out.ending not in FORMAT_OF_ENDING:
        raise ValueError(
            f"No format belongs to the ending {out.ending} of --output; use one of"
            f" {', '.join(filter(None, FORMAT_OF_ENDING))}, or choose one with --format."
        )
    if out.format != "latex" and (out.caption is not None or out.label is not None):
        raise ValueError("--caption and --label are for --format latex.")


@Parameter(name="*", group=OUTPUT, validator=_check_output)
@dataclass(frozen=True)
class Output:
    """How a result is written."""

    form: Annotated[Format | None, Parameter(name="--format")] = None
    """The format of the result; by default that of the ending of --output (.json, .jsonl, .csv, .md, .tex, .html, .txt),
    or text."""
    output: Annotated[Path | None, Parameter(alias="-o"), TARGET] = None
    """Write the result to this file instead of stdout, with all rows."""
    details: bool = False
    """Show everything, not only the first screen."""
    rows: Annotated[int | None, Parameter(validator=Number(gte=1))] = None
    """Show at most this many rows of a table; on stdout 20 by default."""
    caption: str | None = None
    """The caption of the table in LaTeX, taken as LaTeX; with --label alone the result's own."""
    label: str | None = None
    """The label of the table in LaTeX, such as tab:runs."""
    quiet: QUIET = False

    @property
    def format(self) -> Format:
        """The format that is asked for, or that of the file."""
        return self.form or FORMAT_OF_ENDING[self.ending]

    @property
    def ending(self) -> str:
        """The ending of the file, in small letters; empty for standard output."""
        return self.output.suffix.lower() if self.output else ""

    @property
    def _latex_caption(self) -> bool | str:
        """The caption as `Result.to_latex` takes it."""
        if self.caption is None:
            return self.label is not None
        return self.caption

    def write(self, *results: Result, as_rows: bool = False) -> None:
        """Write results, in JSON whole or as their rows, which say the run where there are several."""
        from ir_outcomes.showing.text import print_text

        form = self.format
        if form == "json" or form == "jsonl" or form == "csv":
            self.write_text(self._data(form, results, as_rows))
        else:
            texts = [self._shown(form, in_options(result)) for result in results]
            self.write_text(*texts, write=print_text if form == "text" else print_lines)

    def _data(self, form: DataFormat, results: Sequence[Result], as_rows: bool) -> str:
        """Return the values of results, exact."""
        from ir_outcomes.showing.formats import as_csv, as_json_lines

        as_json = partial(json.dumps, ensure_ascii=False, allow_nan=False)
        if form == "json" and not as_rows:
            contents = [result.to_dict() for result in results]
            return as_json(contents if len(contents) > 1 else contents[0], indent=2)
        rows = []
        for result in results:
            run = {}
            if as_rows and len(results) > 1:
                run = {"run": vars(result)["contender"]}
            rows += [run | row for row in result.rows()]
        match form:
            case "csv":
                return as_csv(rows)
            case "json":
                return as_json(rows)
            case "jsonl":
                return as_json_lines(rows)
        unreachable(form)

    def _shown(self, form: ViewFormat, view: View) -> str:
        """Return what is shown of a result."""
        from ir_outcomes.showing.formats import as_html, as_markdown
        from ir_outcomes.showing.latex import as_latex
        from ir_outcomes.showing.text import FIRST_ROWS, as_text

        match form:
            case "markdown":
                return as_markdown(view, details=self.details, rows=self.rows)
            case "html":
                return as_html(view)
            case "latex":
                marks = get_args(Mark)
                return as_latex(view, caption=self._latex_caption, label=self.label, mark=marks)
            case "text":
                most = self.rows
                if self.output is None and self.rows is None:
                    most = FIRST_ROWS
                return as_text(view, details=self.details, rows=most, in_python=False)
        unreachable(form)

    def write_text(self, *texts: str, write: Callable[[str, TextIO], None] = print_lines) -> None:
        """Write texts with an end of the line behind each."""
        written = io.StringIO(newline="")
        for text in texts:
            write(text, sys.stdout if self.output is None else written)
        if self.output is not None:
            note_of_old_file(self.output)
            write_completely(self.output, written.getvalue().encode("utf-8", "json"))


@dataclass(frozen=True)
class PlotOutput(Output):
    """The same for results that have a figure."""

    plot: Annotated[Path | None, Parameter(validator=[_check_target, _check_figure])] = None
    """Also draw a figure and write it to this file: .png, .pdf or .svg."""
    plot_title: bool = False
    """Write the title and the settings above the figure, which papers have in the caption."""

    def show(self, result: Result, kind: str | None = None) -> None:
        """Draw the figure, if one is asked for, and write the result."""
        self.draw(partial(result.plot, kind))
        self.write(result)

    def draw(self, plot: Callable[..., Any]) -> None:
        """Draw the figure, if one is asked for, by a function that takes `ax`."""
        if self.plot is not None:
            from ir_outcomes.showing.figures import blank_figure, save

            axes = plot(ax=blank_figure())
            if not self.plot_title:
                for panel in axes.figure.figure.axes:
                    panel.set_title("", loc="left")
            note_of_old_file(self.plot)
            save(axes, self.plot)


@dataclass(frozen=True)
class ComparisonOutput(PlotOutput):
    """The same for comparisons, which have figures of several kinds."""

    kind: Annotated[Literal["facets", "outcomes", "ranks", "queries"], PLOT_KIND] = "facets"
    """The figure of --plot; the last two are for a single contender."""


def in_options(result: Result) -> View:
    """Return what is shown of a result, with the options of the command that was called in its notes."""
    view = result.view()
    return replace(
        view,
        notes=tuple(map(as_options, view.notes)),
        background=tuple(map(as_options, view.background)),
    )


@Parameter(name="*", group=OUTPUT)
@dataclass(frozen=True)
class PageOptions:
    """What a report page shows besides the result."""

    queries: QUERIES = None
    docs: Path | None = None
    """The texts of the documents, for the report page: JSON lines with doc_id, and text or title. By default those of the
    dataset, if they are on this machine."""
    max_mb: Annotated[float | None, Parameter(validator=Number(gt=0, lt=1000))] = None
    """The size in megabytes that the report page may reach by including ranked lists and texts. By default 0.5, or up to 4
    for the hundred queries that change most."""

    @property
    def documents(self) -> int:
        """How many documents of each list the evaluation has to keep."""
        return DOCUMENTS

    def kept(self) -> dict[str, Any]:
        """Return the arguments of `ir_outcomes.evaluate` that keep what the page shows."""
        return {"queries": self.queries, "documents": self.documents}

    def save(
        self,
        path: Path,
        result: Result,
        evaluation: Any,
        inputs: Iterable[str] = (),
        slices: Path | None = None,
    ) -> None:
        """Write the page of a result."""
        from ir_outcomes.showing.report import report_of

        note_of_old_file(path)
        report_of(
            result,
            path,
            evaluation=evaluation,
            queries=self.queries,
            docs=self.docs,
            slices=slices,
            max_mb=self.max_mb,
            command=shlex.join(["ir-outcomes", *CALL.words]),
            inputs=tuple(filter(os.path.isfile, inputs)),
            advice=as_options,
        )


@dataclass(frozen=True)
class ReportOptions(PageOptions):
    """The same for commands that also write a page."""

    report: Annotated[Path | None, PAGE] = None
    """Also write one HTML page with every query behind the numbers to this file."""

    @property
    def documents(self) -> int:
        """How many documents of each list the evaluation has to keep."""
        return 0 if self.report is None else DOCUMENTS

    def write(self, result: Result, evaluation: Any, *inputs: str) -> None:
        """Write the page, if one is asked for."""
        if self.report is not None:
            self.save(self.report, result, evaluation, inputs)
