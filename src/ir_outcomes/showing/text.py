"""Text: aligned, with colour and in the terminal's width on a terminal, without both elsewhere.

Text that is not for a terminal is read by programs, too: its tables are as wide as they need, so that no name or path is
broken. Sentences and notes are wrapped at 80 columns, between words only.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from typing import TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from ir_outcomes.errors import escaped
from ir_outcomes.showing.view import Column, Statement, Table, View
from ir_outcomes.showing.words import tone

__all__ = ["print_view", "write"]

WIDTH = 80
_PVALUE = re.compile(r"\bp ([=<]) (?=\d)")  # stays on one line
_NO_BREAK = "\0"  # cannot be in text whose control characters are escaped
_STYLES = {"better": "bold green", "worse": "bold red", "mixed": "bold yellow", "same": ""}


def write(view: View) -> str:
    """Render a view as text without colour."""
    lines: list[str] = []
    for part in _parts(view, WIDTH):
        lines += _aligned(part) if isinstance(part, Table) else [part.plain]
    return "\n".join(lines)


def print_view(view: View, stream: TextIO) -> None:
    """Print a view to a terminal in its width, or to any other stream as `write` does."""
    if not stream.isatty():
        stream.write(f"{write(view)}\n")
        return
    console = Console(file=stream, highlight=False, emoji=False, markup=False)
    for part in _parts(view, console.width):
        console.print(_folded(part) if isinstance(part, Table) else part, crop=False)


def _parts(view: View, width: int) -> Iterator[Text | Table]:
    for number, table in enumerate(view.tables):
        if number:
            yield Text()
        yield from _table_parts(table, width)
    if view.tables and (view.statements or view.notes):
        yield Text()
    for statement in view.statements:
        yield from _statement_parts(statement, width)
    if view.notes:
        if view.statements:
            yield Text()
        yield Text("Notes", style="bold")
        for note in view.notes:
            yield _wrapped(note, width, first=" - ", rest="   ")


def _table_parts(table: Table, width: int) -> Iterator[Text | Table]:
    if table.title:
        yield _wrapped(table.title, width, style="bold")
    if table.head:
        yield _wrapped(table.head, width, style="dim")
    if table.columns:
        if table.title or table.head:
            yield Text()
        yield table
    if table.caption:
        yield _wrapped(table.caption, width, style="dim")
    for sentence in table.sentences:
        yield _wrapped(sentence, width)


def _statement_parts(statement: Statement, width: int) -> Iterator[Text]:
    yield Text.assemble(f"{escaped(statement.title)}: ", _label(statement.label))
    for sentence in statement.sentences:
        yield _wrapped(sentence, width, first="  ", rest="  ")


def _aligned(table: Table) -> Iterator[str]:
    """Write the lines of a table, each column as wide as its widest cell."""
    headings = zip(*(heading.split("\n") for heading in _headings(table.columns)), strict=True)
    rows = [*headings, *(tuple(map(escaped, row)) for row in table.rows)]
    lengths = [[cell_len(cell) for cell in row] for row in rows]  # a character can be two columns wide, or none
    widths = [max(column) for column in zip(*lengths, strict=True)]
    for row, sizes in zip(rows, lengths, strict=True):
        cells = []
        for cell, size, width, column in zip(row, sizes, widths, table.columns, strict=True):
            padding = " " * (width - size)
            cells.append(f"{padding}{cell}" if column.numeric else f"{cell}{padding}")
        yield " ".join(cells).rstrip()


def _folded(table: Table) -> RichTable:
    """Lay out a table for a terminal: long text is folded, so that the columns beside it stay visible."""
    grid = RichTable(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for heading, column in zip(_headings(table.columns), table.columns, strict=True):
        grid.add_column(Text(heading), justify="right" if column.numeric else "left", no_wrap=column.numeric)
    for row in table.rows:
        grid.add_row(*map(_cell, row, table.columns))
    return grid


def _headings(columns: tuple[Column, ...]) -> Iterator[str]:
    has_groups = any(column.group for column in columns)
    previous = ""
    for column in columns:
        group = "" if column.group == previous else escaped(column.group)
        previous = column.group
        heading = escaped(column.heading)
        yield f"{group}\n{heading}" if has_groups else heading


def _cell(text: str, column: Column) -> Text:
    return _label(text) if column.kind == "label" else Text(escaped(text), overflow="fold")


def _label(label: str) -> Text:
    """Colour a verdict: green for better, red for worse."""
    return Text(escaped(label), style=_STYLES[tone(label)])


def _wrapped(text: str, width: int, *, first: str = "", rest: str = "", style: str = "") -> Text:
    lines = textwrap.fill(
        _PVALUE.sub(rf"p{_NO_BREAK}\1{_NO_BREAK}", escaped(text)),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return Text(lines.replace(_NO_BREAK, " "), style=style, no_wrap=True, overflow="ignore")
