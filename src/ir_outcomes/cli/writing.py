"""How any command writes its results: formats, files, figures, messages; what is impossible is said before the work."""

from __future__ import annotations

import io
import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

import typer

from ir_outcomes.cli.options import QUIET, choice, usage_error
from ir_outcomes.cli.streams import note, print_json, print_lines, standard_output
from ir_outcomes.errors import InputError, IrOutcomesError, IrOutcomesWarning, ParameterError
from ir_outcomes.types import Columns, Mark, unreachable
from ir_outcomes.writing import write_completely

if TYPE_CHECKING:
    from ir_outcomes.results import Result
    from ir_outcomes.showing.view import View

__all__ = ["ComparisonWriteOptions", "WriteOptions", "check_target", "save_figure"]

Format = Literal["text", "markdown", "json", "jsonl", "csv", "latex", "html"]
COLUMNS_SHOWN_IN = tuple(form for form in get_args(Format) if form not in ("json", "jsonl"))


@dataclass(frozen=True)
class WriteOptions:
    """How a result is written."""

    form: Annotated[Format, choice(Format, "--format", help="The format of the result.")] = "text"
    output: Annotated[Path | None, typer.Option(help="Write the result to this file instead of stdout.")] = None
    plot: Annotated[Path | None, typer.Option(help="Also draw a figure and write it to this file: .png, .pdf or .svg.")] = None
    spreadsheet: Annotated[
        bool, typer.Option("--spreadsheet", help="With csv: protect names that a spreadsheet would take for formulas.")
    ] = False
    full: Annotated[bool, typer.Option("--full", help="With html: write a whole page instead of a part of a page.")] = False
    caption: Annotated[
        str | None,
        typer.Option(help="With latex: put each table into a float with this caption; '' keeps the table's own caption."),
    ] = None
    label: Annotated[str | None, typer.Option(help="With latex: put each table into a float with this label.")] = None
    wide: Annotated[bool, typer.Option("--wide", help="With latex: put each table into a float across two columns.")] = False
    mark: Annotated[
        list[str] | None,
        choice(Mark, help="With latex: print the best values in bold, or mark significant differences with a dagger."),
    ] = None
    details: Annotated[bool, typer.Option("--details", help="Show everything, not only the first screen.")] = False
    quiet: QUIET = False

    def __post_init__(self) -> None:
        """Refuse what cannot be written, before any file is read.

        Raises
        ------
        BadParameter
            If an option is for another format.
        ParameterError
            If a file cannot be written there.
        MissingDependency
            If a figure is asked for and matplotlib is not installed.
        """
        for option, is_given, formats in self._needed_formats():
            if is_given and self.form not in formats:
                raise usage_error(f"{option} needs --format {' or '.join(formats)}.")
        if self.output is not None:
            check_target("--output", self.output)
        if self.plot is not None:
            from ir_outcomes.showing.figures import blank_figure

            known = blank_figure().canvas.get_supported_filetypes()
            if self.plot.suffix.removeprefix(".").lower() not in known:
                raise ParameterError(
                    f"--plot {self.plot}: cannot be written as a figure; let its name end in .png, .pdf or .svg"
                )
            check_target("--plot", self.plot)

    def write(self, *results: Result, plot_kind: str | None = None) -> None:
        """Draw the figure of the first result where one is asked for, and write all results."""
        if self.plot is not None:
            from ir_outcomes.showing.figures import blank_figure

            save_figure(results[0].plot(plot_kind, ax=blank_figure()), self.plot)
        if self.form == "json":
            shown: Any = results[0].to_dict() if len(results) == 1 else [result.to_dict() for result in results]
            self._write([json.dumps(shown, ensure_ascii=False, allow_nan=False, indent=2)])
        elif self.form in ("csv", "jsonl"):
            self.write_views([], [row for result in results for row in self._rows(result)])
        else:
            self.write_views([self._view(result) for result in results], [])

    def write_views(self, views: Sequence[Any], rows: Sequence[Mapping[str, Any]]) -> None:
        """Write what is shown as text, and as rows for programs."""
        from ir_outcomes.showing import latex
        from ir_outcomes.showing.formats import as_csv, as_html, as_json_lines, as_markdown

        if self.form == "text":
            self._write(views)
        elif self.form == "json":
            self._write([json.dumps(list(rows), ensure_ascii=False, allow_nan=False)])
        elif self.form == "jsonl":
            self._write([as_json_lines(rows)])
        elif self.form == "csv":
            self._write([as_csv(rows, spreadsheet=self.spreadsheet)])
        elif self.form == "markdown":
            self._write(map(as_markdown, views))
        elif self.form == "html":
            self._write(as_html(view, full=self.full) for view in views)
        elif self.form == "latex":
            caption: Any = False if self.caption is None else self.caption or True
            marks: Any = tuple(self.mark or ())
            self._write(latex.write(view, caption=caption, label=self.label, wide=self.wide, mark=marks) for view in views)
        else:
            unreachable(self.form)

    def write_text(self, text: str) -> None:
        """Write lines that have a format of their own."""
        self._write([text.rstrip("\n")])

    def _needed_formats(self) -> Iterable[tuple[str, bool, tuple[str, ...]]]:
        yield "--spreadsheet", self.spreadsheet, ("csv",)
        yield "--full", self.full, ("html",)
        for option, value in (
            ("--caption", self.caption),
            ("--label", self.label),
            ("--wide", self.wide),
            ("--mark", self.mark),
        ):
            yield option, value not in (None, False), ("latex",)

    def _rows(self, result: Result) -> list[dict[str, Any]]:
        return result.rows()

    def _view(self, result: Result) -> View:
        return result.view()

    def _write(self, parts: Iterable[Any]) -> None:
        """Write text, and views as text, to the file or to stdout."""
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

    def _write_to(self, stream: Any, parts: Iterable[Any]) -> None:
        from ir_outcomes.showing.text import print_text, write

        for part in parts:
            if not isinstance(part, str):
                print_text(write(part, details=self.details, ask="--details"), stream)
            elif self.form in ("json", "jsonl"):
                print_json(part, stream)
            else:
                print_lines(part, stream)


@dataclass(frozen=True)
class ComparisonWriteOptions(WriteOptions):
    """How comparisons are written."""

    columns: Annotated[
        Columns, choice(Columns, help="The columns of the table; paper shows those of Tables 1 and 2 of Lin et al. 2021.")
    ] = "default"

    def _needed_formats(self) -> Iterable[tuple[str, bool, tuple[str, ...]]]:
        yield from super()._needed_formats()
        yield "--columns", self.columns != "default", COLUMNS_SHOWN_IN

    def _rows(self, result: Result) -> list[dict[str, Any]]:
        return result.paper_rows() if self.columns == "paper" else result.rows()

    def _view(self, result: Result) -> View:
        return result.view(columns=self.columns)


def save_figure(axes: Any, path: Path) -> None:
    """Write the figure that was drawn on these Axes."""
    from ir_outcomes.showing.figures import save

    if path.exists():
        note(f"{path} exists and is overwritten")
    try:
        save(axes, path)
    except ParameterError as error:
        raise ParameterError(f"--plot {error}") from error


OUTPUTS = ("output", "plot", "report", "summary")


def refuse_inputs(values: Mapping[str, Any]) -> None:
    """Refuse a file to write that is also given as an input, before anything is read."""
    from ir_outcomes.reading.suites import read_suite

    outputs = [(name, path) for name in OUTPUTS if isinstance(path := values.get(name), Path) and path.is_file()]
    if not outputs:
        return
    given = [value for name, value in values.items() if name not in OUTPUTS]
    words = [str(word) for value in given for word in (value if isinstance(value, list) else [value]) if word is not None]
    # NAME=FILE, and FILE@GRADE after it
    named = [
        part for word in words if "=" in word for part in (word.partition("=")[2], word.partition("=")[2].rpartition("@")[0])
    ]
    inputs = [file for word in (*words, *named) for file in _files_of(word)]
    with suppress(InputError):  # which is reported when the suite is read
        inputs += read_suite(values["suite"]).files if isinstance(values.get("suite"), str) else []
    for name, path in outputs:
        if any(os.path.samefile(file, path) for file in inputs if os.path.isfile(file)):
            raise ParameterError(f"--{name} {path}: is an input of this command and would be overwritten; choose another file")


def _files_of(word: str) -> list[str]:
    """List the files that an argument stands for: itself, or the runs of a directory or of a pattern."""
    from ir_outcomes.reading.runs import is_path, run_paths

    with warnings.catch_warnings(), suppress(IrOutcomesError):
        warnings.simplefilter("ignore", IrOutcomesWarning)
        return run_paths(word) if is_path(word) else []
    return []


def check_target(option: str, path: Path) -> None:
    """Refuse a path at which no file can be written."""
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
