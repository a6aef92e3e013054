"""Results as text, data, figures and pages."""

import io
import json
import os
import re
import shlex
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, get_args

from ir_outcomes.arguments import check_argument
from ir_outcomes.choices import Mark, Megabytes, Positive
from ir_outcomes.cli.streams import CALL, UsageError, as_options, note_of_old_file, print_lines
from ir_outcomes.errors import IrOutcomesError, not_installed
from ir_outcomes.files import write_completely
from ir_outcomes.results import Result

if TYPE_CHECKING:
    from ir_outcomes.showing.view import View

DOCUMENTS = 20  # of each ranked list, on a page
STDIN = "\0"  # stands for "-" while words are parsed, where a bare hyphen would be an option
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
}
# Of the files that options write, by their arguments.
ENDINGS: Mapping[str, Sequence[str]] = {
    "output": tuple(FORMAT_OF_ENDING),
    "report": (".html",),
    "path": (".npz",),
    "summary": (".md", ""),
}


@dataclass(frozen=True, kw_only=True)
class Output:
    """Where a result goes, and how it is written.

    Parameters
    ----------
    format
        Format of the result. By default that of the ending of --output, or text.
    output
        Write to this file instead of stdout, with all rows.
    details
        Show everything, not only the first screen.
    rows
        Show at most this many rows of a table, by default 20 on stdout.
    caption
        Caption of the LaTeX table, taken as LaTeX.
    label
        Label of the LaTeX table, such as tab:runs.
    plot
        Also draw a figure: .png, .pdf or .svg.
    plot_kind
        Figure of --plot.
    plot_title
        Keep the title and the settings above the figure.
    report
        Also write an HTML page with every query.
    docs
        Texts of the documents for the page: JSON lines.
    max_mb
        Megabytes of ranked lists and texts on the page.
    quiet
        Print no warnings and no progress bars.
    """

    format: Format | None = None
    output: Path | None = None
    details: bool = False
    rows: int | None = None
    caption: str | None = None
    label: str | None = None
    plot: Path | None = None
    plot_kind: str | None = None
    plot_title: bool = False
    report: Path | None = None
    docs: str | None = None
    max_mb: float | None = None
    quiet: bool = False

    def check(
        self, targets: Mapping[str, Path], inputs: Sequence[Any], *, of_queries: bool = False
    ) -> None:
        """Refuse what cannot be written, has no effect, or would overwrite something."""
        fields = {"output": self.output, "plot": self.plot, "report": self.report}
        paths = {**targets, **{name: path for name, path in fields.items() if path is not None}}
        for path in paths.values():
            check_target(path)
        if paths:
            files = [
                os.path.realpath(file)
                for file in (*_files_of([*inputs, self.docs]), *map(str, paths.values()))
            ]
            for path in paths.values():
                if files.count(os.path.realpath(path)) > 1:
                    raise UsageError(
                        f"{path} is an input or another output of this command and would be"
                        " overwritten; choose another file."
                    )
        for name, path in paths.items():
            check_ending(path, _endings_of(name))
            if is_run_or_qrels(path):
                raise UsageError(
                    f"{path} has the content of a run or of qrels and would be overwritten; choose"
                    " another file."
                )
        check_argument("rows", self.rows, Positive | None)
        check_argument("max_mb", self.max_mb, Megabytes | None)
        if self.details and self._form not in ("text", "markdown"):
            raise UsageError("--details is for --format text and markdown; all others show them.")
        if self.rows is not None and not of_queries and self._form not in ("text", "markdown"):
            raise UsageError("--rows is for --format text and markdown; all others have all rows.")
        if self._form != "latex" and (self.caption is not None or self.label is not None):
            raise UsageError("--caption and --label are for --format latex.")
        if self.report is not None and find_spec("jinja2") is None:
            raise not_installed("the report needs Jinja2", "report")

    @property
    def _form(self) -> Format:
        ending = self.output.suffix.lower() if self.output else ""
        return self.format or FORMAT_OF_ENDING.get(ending, "text")

    def write(self, *results: Any) -> None:
        """Write results whole, lists of queries as rows, or a text as it is."""
        if isinstance(results[0], str):
            self.write_text(*results)
            return
        form = self._form
        if form == "json" or form == "jsonl" or form == "csv":
            self.write_text(_data(form, results))
        else:
            texts = [self._shown(form, in_options(result)) for result in results]
            self.write_text(*texts)

    def _shown(self, form: ViewFormat, view: "View") -> str:
        """Return what is shown of a result."""
        from ir_outcomes.showing.formats import as_html, as_markdown
        from ir_outcomes.showing.latex import as_latex
        from ir_outcomes.showing.text import FIRST_ROWS, as_text

        if form == "markdown":
            return as_markdown(view, details=self.details, rows=self.rows)
        if form == "html":
            return as_html(view)
        if form == "latex":
            caption = self.caption or self.label is not None
            return as_latex(view, caption=caption, label=self.label, mark=get_args(Mark))
        n_rows = self.rows
        if self.output is None and n_rows is None:
            n_rows = FIRST_ROWS
        return as_text(view, details=self.details, rows=n_rows, in_python=False)

    def write_text(self, *texts: str) -> None:
        """Write texts with an end of the line behind each."""
        written = io.StringIO(newline="")
        for text in texts:
            print_lines(text, sys.stdout if self.output is None else written)
        if self.output is not None:
            note_of_old_file(self.output)
            write_completely(self.output, written.getvalue().encode("utf-8", "json"))

    def draw(self, results: Sequence[Any]) -> None:
        """Draw the figure, if one is asked for."""
        if self.plot is None:
            return
        from ir_outcomes.showing.figures import blank_figure, draw, save

        # Several are distributions of ranks under several conditions.
        result = results[0] if len(results) == 1 else list(results)
        axes = draw(result, self.plot_kind, blank_figure())
        if not self.plot_title:  # which papers have in the caption
            axes.figure.suptitle("")
        note_of_old_file(self.plot)
        save(axes, self.plot)

    def write_page(
        self, result: Any, evaluation: Any, inputs: Iterable[str], queries: str | None
    ) -> None:
        """Write the page, if one is asked for."""
        if self.report is not None:
            note_of_old_file(self.report)
            result.to_report(
                self.report,
                evaluation=evaluation,
                queries=queries,
                docs=self.docs,
                max_mb=self.max_mb,
                command=shlex.join(["ir-outcomes", *CALL.words]),
                inputs=tuple(filter(os.path.isfile, inputs)),
                advice=as_options,
            )


def _data(form: DataFormat, results: Sequence[Result]) -> str:
    """Return the values of results, exact."""
    from ir_outcomes.comparison.result import Queries
    from ir_outcomes.showing.formats import as_csv, as_json_lines

    as_json = partial(json.dumps, ensure_ascii=False, allow_nan=False)
    as_rows = isinstance(results[0], Queries)
    if form == "json" and not as_rows:
        contents = [result.to_dict() for result in results]
        return as_json(contents if len(contents) > 1 else contents[0], indent=2)
    rows = []
    for result in results:
        run = {}
        if as_rows and len(results) > 1:
            run = {"run": vars(result)["contender"]}
        rows += [run | row for row in result.rows()]
    if form == "csv":
        return as_csv(rows)
    return as_json(rows) if form == "json" else as_json_lines(rows)


def in_options(result: Result) -> "View":
    """Return what is shown of a result, in options instead of arguments."""
    view: View = result.view()
    return replace(
        view,
        sentences=tuple(map(as_options, view.sentences)),
        notes=tuple(map(as_options, view.notes)),
        background=tuple(map(as_options, view.background)),
    )


def check_target(path: Path) -> None:
    """Refuse a file that cannot be written."""
    if str(path) == STDIN:
        raise UsageError("A file to write cannot be -; without --output the result is on stdout.")
    if path.is_dir():
        raise UsageError(f"{path} is a directory; name a file.")
    if not path.parent.is_dir():
        raise UsageError(f"{path} cannot be written: there is no directory {path.parent}.")
    if not os.access(path if path.exists() else path.parent, os.W_OK):
        raise UsageError(f"{path} cannot be written: permission denied.")


def check_ending(path: Path, endings: Sequence[str]) -> None:
    """Refuse a file with another ending than what is written to it."""
    is_device = path.exists() and not path.is_file()
    if path.suffix.lower() not in endings and not is_device:
        named = ", ".join(ending or "no ending" for ending in endings)
        raise UsageError(f"{path} has another ending than what is written there: use {named}.")


def _endings_of(name: str) -> Sequence[str]:
    """Return the endings of the files that an option writes."""
    if name == "plot":
        from ir_outcomes.showing.figures import blank_figure

        return [f".{ending}" for ending in blank_figure().canvas.get_supported_filetypes()]
    return ENDINGS[name]


def is_run_or_qrels(path: Path) -> bool:
    """Return whether a file can be read as a run or as qrels."""
    from ir_outcomes.reading.formats import read_any_file
    from ir_outcomes.reading.forms import QRELS, RUN

    if not path.is_file():
        return False
    for kind in (RUN, QRELS):
        with suppress(IrOutcomesError):
            read_any_file(str(path), kind)
            return True
    return False


def _files_of(values: Iterable[Any]) -> Iterator[str]:
    """Yield the files that words stand for."""
    from ir_outcomes.reading.collections import read_folders, read_suite
    from ir_outcomes.reading.runs import run_paths

    for value in values:
        if isinstance(value, (list, tuple)):
            yield from _files_of(value)
        elif isinstance(value, (str, Path)):
            word = str(value)
            # An argument can be NAME=FILE@GRADE or FILE#FORM.
            for part in (word, re.sub("^[^=]*=|[@#][^@#]*$", "", word)):
                with warnings.catch_warnings(action="ignore"), suppress(IrOutcomesError):
                    yield from run_paths(part)
                if os.path.isdir(part):
                    with suppress(IrOutcomesError):
                        yield from read_suite(part).files
                    with suppress(IrOutcomesError):
                        for files in read_folders(part).values():
                            yield from files
