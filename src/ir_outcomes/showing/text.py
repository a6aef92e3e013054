"""Results as text for a terminal: lines that are folded at its width, and tables whose columns are aligned."""

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import zip_longest
from typing import Literal, TextIO

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from ir_outcomes.errors import escaped
from ir_outcomes.formatting import plural
from ir_outcomes.showing import Table, View, column_groups
from ir_outcomes.table_columns import Column

FIRST_ROWS = 20  # of each table on the first screen
LEAST_WIDTH = 8  # of a column that is folded
WIDEST_WORD = 12  # that is not divided
# A p-value stays on one line, and so does a percentage.
_WORDS = re.compile(r"\s*(?:\S*\bp [=<] \d\S*|\S*\d %\S*|\S+)")
# Names of runs may be divided behind hyphens and underscores, measures before their cutoff:
# "RR(rel=2)@10" above "0" would be read as another measure.
_PARTS = re.compile(r"\s*(?:[^\s_-]*[_-]+|[^\s_-]+?(?=@\d)|[^\s_-]+)")
_COLOURS = {
    "bold blue": r"\bbetter (on (both facets|coverage|ranking)|over all queries)|\bpass\b",
    "bold dark_orange": r"\bworse (on (both facets|coverage|ranking)|over all queries)|\bfail\b",
    "bold": r"\btrade-off\b|\b(coverage|ranking) (gain|loss), unconfirmed\b|\binconclusive\b",
}


def as_text(
    view: View, *, details: bool = False, rows: int | None = FIRST_ROWS, in_python: bool = True
) -> str:
    """Write a view; `rows` bounds the tables, None for all. How to see more is said in the words of Python or of a shell."""
    width = max(shutil.get_terminal_size((80, 24)).columns, 40)
    blocks = [
        _wrapped(view.headline, width),
        "\n".join(_wrapped(sentence, width) for sentence in view.sentences),
    ]
    blocks += [_table(table, width, rows, in_python) for table in view.tables]
    closing = [_wrapped(note, width, first="! ", rest="  ") for note in view.first_notes]
    if not details and (view.details or view.other_notes):
        ask = "to_text(details=True)" if in_python else "--details"
        closing.append(_wrapped(f"More ({view.more or 'notes'}): {ask}", width))
    blocks.append("\n".join(closing))
    if details:
        blocks += [_table(table, width, None, in_python) for table in view.details]
        blocks.append(
            "\n".join(_wrapped(note, width, first="- ", rest="  ") for note in view.other_notes)
        )
    return "\n\n".join(filter(None, blocks))


def print_text(text: str, stream: TextIO) -> None:
    """Print text, with verdicts in colour on a terminal."""
    if not stream.isatty():
        stream.write(f"{text}\n")
        return
    coloured = Text(text)
    for style, pattern in _COLOURS.items():
        coloured.highlight_regex(pattern, style)
    Console(file=stream, highlight=False, emoji=False, markup=False, soft_wrap=True).print(coloured)


def _table(table: Table, width: int, most: int | None, in_python: bool) -> str:
    lines = [_wrapped(table.title, width)] if table.title else []
    shown = table.rows[:most]
    if table.columns:
        lines += _aligned(table.columns, _with_letters(table, len(shown)), width)
    if left_out := len(table.rows) - len(shown):
        ask = "to_text(rows=None)" if in_python else f"--rows {len(table.rows)}"
        lines.append(_wrapped(f"and {plural('more row', left_out)}: {ask}", width))
    return "\n".join([*lines, *(_wrapped(caption, width) for caption in table.captions)])


def _with_letters(table: Table, n_rows: int) -> Sequence[Sequence[str]]:
    """Return the first rows with their superscripts behind the values, which stay aligned."""
    widths = {
        place: max(len(letters) for (_, at), letters in table.raised.items() if at == place)
        for _, place in table.raised
    }

    def cell(row: int, place: int, text: str) -> str:
        if place in widths:
            return f"{text} {table.raised.get((row, place), ''):<{widths[place]}}"
        return text

    return [
        [cell(row, place, text) for place, text in enumerate(table.rows[row])]
        for row in range(n_rows)
    ]


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Write the lines of a table, each column as wide as its widest cell; columns of text are folded where it is too wide."""
    heads = [[escaped(column.title) for column in columns]]
    cells = [[escaped(cell) for cell in row] for row in rows]
    widths = [max(map(cell_len, column)) for column in zip(*heads, *cells, strict=True)]
    groups = [(escaped(group), place) for group, place in column_groups(columns)]
    for group, place in groups:
        widths[place.start] += max(0, cell_len(group) - _width(widths[place]))
    whole, divided = (
        [
            min(size, _least_width(column, head, [row[place] for row in cells], divided))
            for place, (column, head, size) in enumerate(
                zip(columns, heads[0], widths, strict=True)
            )
        ]
        for divided in (False, True)
    )
    steps = [whole]
    if _width(divided) <= width:
        steps.append(divided)  # words are divided only where the table then fits
    for least in steps:
        while _width(widths) > width and widths != least:
            foldable = [
                size if size > lowest else 0 for size, lowest in zip(widths, least, strict=True)
            ]
            widths[foldable.index(max(foldable))] -= 1
    if groups:
        heads_of_groups = [
            _placed(group, "center", _width(widths[place])) for group, place in groups
        ]
        yield " ".join(heads_of_groups).rstrip()
    for row in (*heads, *cells):
        folded = [_folded_cell(cell, size) for cell, size in zip(row, widths, strict=True)]
        for parts in zip_longest(*folded, fillvalue=""):
            line = [
                _placed(part, column.align, size)
                for part, size, column in zip(parts, widths, columns, strict=True)
            ]
            yield " ".join(line).rstrip()


def _least_width(column: Column, head: str, cells: Sequence[str], divided: bool) -> int:
    """Return how far a column may be folded: numbers stay on one line, and words whole unless they are divided."""
    if column.numeric:
        return max(LEAST_WIDTH, _longest_word([head]), *map(cell_len, cells))
    return LEAST_WIDTH if divided else max(LEAST_WIDTH, _longest_word([head, *cells]))


def _longest_word(texts: Iterable[str]) -> int:
    """Return the width of the longest word that is not too long to stay whole."""
    parts = [part.strip() for text in texts for part in _PARTS.findall(text)]
    return min(max(map(cell_len, parts), default=0), WIDEST_WORD)


def _placed(cell: str, align: Literal["left", "right", "center"], width: int) -> str:
    """Return a cell with spaces around it; characters can be two columns wide, or none."""
    text = Text(cell, overflow="ignore")
    text.align(align, width)
    return text.plain


def _width(widths: Sequence[int]) -> int:
    """Return the width of columns that stand side by side."""
    return sum(widths) + len(widths) - 1


def _wrapped(text: str, width: int, *, first: str = "", rest: str = "") -> str:
    return "\n".join(_folded(_WORDS.findall(escaped(text)), width, first, rest))


def _folded_cell(cell: str, width: int) -> list[str]:
    if cell_len(cell) > width:
        return _folded(_PARTS.findall(cell), width)
    return [cell]


def _folded(words: Iterable[str], width: int, first: str = "", rest: str = "") -> list[str]:
    """Put words, with the white space before them, into lines of so many columns; a word that is longer is divided."""
    lines: list[str] = []
    line = first
    is_empty = True
    for spaced in words:
        word = spaced.lstrip()
        gap = " " if len(word) < len(spaced) and not is_empty else ""
        if cell_len(line + gap + word) <= width:
            line = line + gap + word
            is_empty = False
            continue
        if not is_empty:
            lines.append(line)
            line = rest
        *whole, last = chop_cells(word, width - cell_len(line))
        for part in whole:
            lines.append(line + part)
            line = rest
        line = line + last
        is_empty = False
    return [*lines, line]
