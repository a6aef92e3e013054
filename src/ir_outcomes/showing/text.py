"""Text: aligned, with colour and in the terminal's width on a terminal, without both elsewhere.

Text that is not for a terminal is read by programs, too: its tables are as wide as they need, so that no name or path is
broken. Sentences and notes are wrapped at 80 columns, between words only.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from io import StringIO
from typing import TextIO

from rich.console import Console, RenderableType
from rich.table import Table as RichTable
from rich.text import Text

from ir_outcomes.errors import escaped
from ir_outcomes.showing.view import Column, Statement, Table, View

__all__ = ["print_view", "write"]

WIDTH = 80
_UNLIMITED = 1_000_000
_STYLES = {"better": "bold green", "worse": "bold red", "trade-off": "bold yellow"}


def write(view: View) -> str:
    """Render a view as text without colour."""
    stream = StringIO()
    print_view(view, stream)
    return stream.getvalue().rstrip("\n")


def print_view(view: View, stream: TextIO) -> None:
    """Print a view to a terminal in its width, or to any other stream as `write` does."""
    if stream.isatty():
        console = Console(file=stream, highlight=False, emoji=False, markup=False)
        for part in _parts(view, console.width, fold=True):
            console.print(part, crop=False)
        return
    buffer = StringIO()
    console = Console(file=buffer, width=_UNLIMITED, color_system=None, force_terminal=False, highlight=False, emoji=False)
    for part in _parts(view, WIDTH, fold=False):
        console.print(part)
    for line in buffer.getvalue().splitlines():
        stream.write(f"{line.rstrip()}\n")


def _parts(view: View, width: int, *, fold: bool) -> Iterator[RenderableType]:
    for number, table in enumerate(view.tables):
        if number:
            yield ""
        yield from _table_parts(table, width, fold=fold)
    if view.tables and (view.statements or view.notes):
        yield ""
    for statement in view.statements:
        yield from _statement_parts(statement, width)
    if view.notes:
        yield Text("Notes", style="bold")
        for note in view.notes:
            yield _wrapped(note, width, first=" - ", rest="   ")


def _table_parts(table: Table, width: int, *, fold: bool) -> Iterator[RenderableType]:
    if table.title:
        yield _wrapped(table.title, width, style="bold")
    if table.head:
        yield _wrapped(table.head, width, style="dim")
    if table.columns:
        if table.title or table.head:
            yield ""
        yield _grid(table, fold=fold)
    if table.caption:
        yield _wrapped(table.caption, width, style="dim")
    for sentence in table.sentences:
        yield _wrapped(sentence, width)


def _statement_parts(statement: Statement, width: int) -> Iterator[RenderableType]:
    yield Text.assemble(f"{escaped(statement.title)}: ", _label(statement.label))
    for sentence in statement.sentences:
        yield _wrapped(sentence, width, first="  ", rest="  ")


def _grid(table: Table, *, fold: bool) -> RichTable:
    """Lay out the cells; in a terminal long text is folded, so that the columns beside it stay visible."""
    grid = RichTable(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for heading, column in zip(_headings(table.columns), table.columns, strict=True):
        grid.add_column(Text(heading), justify="right" if column.numeric else "left", no_wrap=column.numeric or not fold)
    for row in table.rows:
        grid.add_row(*map(_cell, row, table.columns))
    return grid


def _headings(columns: tuple[Column, ...]) -> Iterator[str]:
    has_groups = any(column.group for column in columns)
    previous = ""
    for column in columns:
        group = "" if column.group == previous else column.group
        previous = column.group
        yield f"{group}\n{column.heading}" if has_groups else column.heading


def _cell(text: str, column: Column) -> Text:
    return _label(text) if column.kind == "label" else Text(escaped(text), overflow="fold")


def _label(label: str) -> Text:
    """Colour a verdict: green for better, red for worse."""
    return Text(escaped(label), style=_STYLES.get(label.partition(" ")[0], ""))


def _wrapped(text: str, width: int, *, first: str = "", rest: str = "", style: str = "") -> Text:
    lines = textwrap.fill(
        escaped(text),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return Text(lines, style=style, no_wrap=True, overflow="ignore")
