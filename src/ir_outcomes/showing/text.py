"""Results as text for a terminal: lines that are folded at its width, and tables whose columns are aligned."""

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile, zip_longest
from typing import Literal, TextIO

from rich.cells import cell_len, chop_cells
from rich.console import Console
from rich.text import Text

from ir_outcomes.errors import escaped
from ir_outcomes.formatting import plural
from ir_outcomes.showing import Table, View, column_groups
from ir_outcomes.table_columns import PVALUE, Column

FIRST_ROWS = 20  # of each table on the first screen
LEAST_WIDTH = 8  # of a column that is folded
# A p-value stays on one line, and so does a percentage.
_WORDS = re.compile(r"\s*(?:\S*\bp [=<] \d\S*|\S*\d %\S*|\S+)")
# Names of runs may be divided behind hyphens and underscores, measures before their cutoff:
# "RR(rel=2)@10" above "0" would be read as another measure. A sign stays beside the word before it.
_PARTS = re.compile(r"\s*(?:[^\s_-]*[_-]+|[^\s_-]+?(?=@\d)|[^\s_-]+(?: [%*](?!\S))?)")
# Numbers may be divided only before and inside of an interval.
_BOUNDS = re.compile(r"(?<=,)(?= )|(?= \[)")
# How much of a table may be folded: cells of text between words, intervals too, and words.
_Fold = Literal["words", "intervals", "letters"]
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


@dataclass(frozen=True)
class _Laid:
    """A column of a table with what it shows."""

    column: Column
    head: str
    cells: Sequence[str]

    @property
    def width(self) -> int:
        """The width of its widest cell."""
        return max(map(cell_len, (self.head, *self.cells)))

    def folded(self, fold: _Fold = "words") -> int:
        """Return the least width that it can have."""
        parts = _PARTS.findall(self.head)
        for cell in self.cells:
            if not self.column.numeric:
                parts += _PARTS.findall(cell)
            elif fold == "words":
                parts.append(cell)
            else:
                parts += _BOUNDS.split(cell)
        if fold == "letters" and not self.column.numeric:
            parts = []
        longest = max((cell_len(part.strip()) for part in parts), default=0)
        return min(self.width, max(longest, LEAST_WIDTH))

    def lines(self, cell: str, width: int) -> list[str]:
        """Fold a cell, or the heading."""
        if cell_len(cell) <= width:
            return [cell]
        parts = _PARTS.findall(cell)
        if self.column.numeric and cell != self.head:
            parts = _BOUNDS.split(cell)
        indent = " " * (len(cell) - len(cell.lstrip()))
        return _folded(parts, width, indent, indent)


def _aligned(columns: Sequence[Column], rows: Sequence[Sequence[str]], width: int) -> Iterator[str]:
    """Write the lines of a table; columns that do not fit beside the others follow below, with the names of the rows again."""
    shown = [[escaped(cell) for cell in row] for row in rows]
    laid = [
        _Laid(column, escaped(column.title), [row[place] for row in shown])
        for place, column in enumerate(columns)
    ]
    if _folded_width(laid, "intervals") <= width:
        yield from _side_by_side(laid, width)
        return
    names = laid[: _n_naming(columns, shown)]
    block = list(names)
    for part in _parts(laid[len(names) :], width - _folded_width(names) - 1):
        if len(block) > len(names) and _folded_width([*block, *part]) > width:
            yield from _side_by_side(block, width)
            yield ""
            block = list(names)
        block += part
    yield from _side_by_side(block, width)


def _n_naming(columns: Sequence[Column], rows: Sequence[Sequence[str]]) -> int:
    """Return how many columns of text, from the first one on, tell the rows apart."""
    n_texts = sum(1 for _ in takewhile(lambda column: not column.numeric, columns))
    least = 1 if columns[0].title.strip() else 2  # letters say nothing without the name beside them
    for number in range(least, n_texts):
        if len({tuple(row[:number]) for row in rows}) == len(rows):
            return number
    return max(n_texts, 1)


def _parts(laid: Sequence[_Laid], width: int) -> Iterator[Sequence[_Laid]]:
    """Yield columns that stay together: those of a group, and p-values with what they are of, where they fit."""
    together: list[_Laid] = []
    for own in laid:
        is_next = together and (
            own.column.form == PVALUE or own.column.group == together[-1].column.group != ""
        )
        if together and not (is_next and _folded_width([*together, own]) <= width):
            yield together
            together = []
        together.append(own)
    yield together


def _side_by_side(laid: Sequence[_Laid], width: int) -> Iterator[str]:
    """Write the lines of columns, each as wide as its widest cell; those of text are folded where that is too wide."""
    natural = _with_groups(laid, [own.width for own in laid])
    widths = _shrunk(natural, laid, "words", width)
    widths = _shrunk(widths, laid, "intervals", width)
    if _width(widths) > width:
        widths = _shrunk(natural, laid, "letters", width)
    if groups := _groups(laid):
        heads_of_groups = [
            _placed(group, "center", _width(widths[place])) for group, place in groups
        ]
        yield " ".join(heads_of_groups).rstrip()
    heads = [own.head for own in laid]
    for row in (heads, *zip(*(own.cells for own in laid), strict=True)):
        folded = [own.lines(cell, size) for own, cell, size in zip(laid, row, widths, strict=True)]
        for parts in zip_longest(*folded, fillvalue=""):
            line = [
                _placed(part, own.column.align, size)
                for part, size, own in zip(parts, widths, laid, strict=True)
            ]
            yield " ".join(line).rstrip()


def _shrunk(widths: Sequence[int], laid: Sequence[_Laid], fold: _Fold, width: int) -> Sequence[int]:
    """Make the widest columns narrower until all fit, each at most as far as it may be folded."""
    shrunk = list(widths)
    least = _with_groups(laid, [own.folded(fold) for own in laid])
    while _width(shrunk) > width and shrunk != least:
        foldable = [
            size if size > lowest else 0 for size, lowest in zip(shrunk, least, strict=True)
        ]
        shrunk[foldable.index(max(foldable))] -= 1
    return shrunk


def _groups(laid: Sequence[_Laid]) -> list[tuple[str, slice]]:
    """Return the headings over several columns; see `column_groups`."""
    groups = column_groups([own.column for own in laid])
    return [(escaped(group), place) for group, place in groups]


def _with_groups(laid: Sequence[_Laid], widths: list[int]) -> list[int]:
    """Widen the first column of each group until there is enough space for its heading."""
    for group, place in _groups(laid):
        widths[place.start] += max(0, cell_len(group) - _width(widths[place]))
    return widths


def _folded_width(laid: Sequence[_Laid], fold: _Fold = "words") -> int:
    """Return the least width of columns that stand side by side."""
    return _width(_with_groups(laid, [own.folded(fold) for own in laid]))


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
