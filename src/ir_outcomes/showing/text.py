"""Text: aligned, folded at the width of the terminal, with colours on a terminal and without them elsewhere."""

import re
import shutil
import textwrap
from collections.abc import Iterator, Sequence
from typing import TextIO

from rich.cells import cell_len

from ir_outcomes.columns import Column
from ir_outcomes.errors import escaped
from ir_outcomes.formatting import plural
from ir_outcomes.showing.view import Table, View, column_groups

ROWS = 20  # of each table on the first screen
LEAST_WIDTH = 12  # of a column of text that is folded
_PVALUE = re.compile(r"\bp ([=<]) (?=\d)")  # stays on one line
_NO_BREAK = "\0"  # cannot be in text whose control characters are escaped
_COLOURS = {
    "bold blue": r"\bbetter (on both facets|without harm)|\bpass\b",
    "bold dark_orange": r"\bworse (on both facets|without gain)|\bfail\b",
    "bold": r"\btrade-off\b|\b(coverage|ranking) (gain|loss), unconfirmed\b|\binconclusive\b",
}


def write(view: View, *, details: bool = False, rows: int | None = ROWS, in_python: bool = True) -> str:
    """Write a view; `rows` bounds the tables, None for all. How to see more is said in the words of Python or of a shell."""
    width = max(shutil.get_terminal_size((80, 24)).columns, 40)
    blocks = [_wrapped(view.headline, width), "\n".join(_wrapped(sentence, width) for sentence in view.sentences)]
    blocks += [_table(table, width, rows, in_python) for table in view.tables]
    closing = [_wrapped(note, width, first="! ", rest="  ") for note in view.first_notes]
    if not details and (view.details or view.other_notes):
        ask = "to_text(details=True)" if in_python else "--details"
        closing.append(_wrapped(f"More ({view.more or 'notes'}): {ask}", width))
    blocks.append("\n".join(closing))
    if details:
        blocks += [_table(table, width, None, in_python) for table in view.details]
        blocks.append("\n".join(_wrapped(note, width, first="- ", rest="  ") for note in view.other_notes))
    return "\n\n".join(filter(None, blocks))


def print_text(text: str, stream: TextIO) -> None:
    """Print text, with verdicts in colour on a terminal."""
    if not stream.isatty():
        stream.write(f"{text}\n")
        return
    from rich.console import Console
    from rich.text import Text

    coloured = Text(text)
    for style, pattern in _COLOURS.items():
        coloured.highlight_regex(pattern, style)
    Console(file=stream, highlight=False, emoji=False, markup=False, soft_wrap=True).print(coloured)


def _table(table: Table, width: int, most: int | None, in_python: bool) -> str:
    lines = [_wrapped(table.title, width)] if table.title else []
    shown = table.rows if most is None else table.rows[:most]
    if table.columns:
        lines += _aligned(table.columns, _with_letters(table, len(shown)), width)
    if len(shown) < len(table.rows):
        ask = "to_text(rows=None)" if in_python else f"--rows {len(table.rows)}"
        lines.append(_wrapped(f"and {plural('more row', len(table.rows) - len(shown))}: {ask}", width))
    return "\n".join([*lines, *(_wrapped(caption, width) for caption in table.captions)])


def _with_letters(table: Table, n_rows: int) -> Sequence[Sequence[str]]:
    """Return the first rows with their superscripts behind the values, which stay aligned."""
    widths = {place: max(len(letters) for (_, at), letters in table.raised.items() if at == place) for _, place in table.raised}

    def cell(row: int, place: int, text: str) -> str:
        return f"{text} {table.raised.get((row, place), ''):<{widths[place]}}" if place in widths else text

    return [[cell(row, place, text) for place, text in enumerate(table.rows[row])] for row in range(n_rows)]


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Write the lines of a table, each column as wide as its widest cell; columns of text are folded where it is too wide."""
    heads = [[escaped(column.title) for column in columns]]
    cells = [[escaped(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*heads, *cells, strict=True)]
    groups, first = column_groups(columns), 0
    for group, size in groups:
        widths[first] += max(0, cell_len(escaped(group)) - sum(widths[first : first + size]) - size + 1)
        first += size
    while sum(widths) + len(widths) - 1 > width:
        wide = [place for place, column in enumerate(columns) if not column.numeric and widths[place] > LEAST_WIDTH]
        if not wide:
            break
        widths[max(wide, key=lambda place: widths[place])] -= 1
    if groups:
        yield _group_line(groups, widths)
    for row in (*heads, *cells):
        folded = [
            textwrap.wrap(cell, size, break_on_hyphens=True) or [""] if cell_len(cell) > size else [cell]
            for cell, size in zip(row, widths, strict=True)
        ]
        for line in range(max(map(len, folded))):
            parts = [_padded(part[line] if line < len(part) else "", size, column.numeric)
                     for part, size, column in zip(folded, widths, columns, strict=True)]  # fmt: skip
            yield " ".join(parts).rstrip()


def _padded(cell: str, width: int, numeric: bool) -> str:
    padding = " " * (width - cell_len(cell))  # a character can be two columns wide, or none
    return f"{padding}{cell}" if numeric else f"{cell}{padding}"


def _group_line(groups: Sequence[tuple[str, int]], widths: Sequence[int]) -> str:
    """Write each group in the middle of its columns."""
    parts, first = [], 0
    for group, size in groups:
        parts.append(escaped(group).center(sum(widths[first : first + size]) + size - 1))
        first += size
    return " ".join(parts).rstrip()


def _wrapped(text: str, width: int, *, first: str = "", rest: str = "") -> str:
    lines = textwrap.fill(
        _PVALUE.sub(rf"p{_NO_BREAK}\1{_NO_BREAK}", escaped(text)),
        width,
        initial_indent=first,
        subsequent_indent=rest,
        break_long_words=False,
        break_on_hyphens=False,
    )
    return lines.replace(_NO_BREAK, " ")
