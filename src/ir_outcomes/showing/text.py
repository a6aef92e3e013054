"""Results as text for a terminal: folded lines, and tables."""

import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, takewhile, zip_longest
from typing import NamedTuple

from rich.cells import cell_len, chop_cells

from ir_outcomes.errors import escaped
from ir_outcomes.formatting import plural
from ir_outcomes.showing.view import Table, View, column_groups
from ir_outcomes.table_columns import Column

USUAL_WIDTH = 80  # for which the numbers of lines are meant
FIRST_ROWS = 20  # of each table on the first screen
LEAST_WIDTH = 12  # of a column that is folded
LONGEST_PART = 24  # of a name that is not divided elsewhere
# A p-value stays on one line, and so do a percentage and an interval.
_WORDS = re.compile(r"\s*(?:\[[-+]?\d\S*, \S+|\S*\bp [=<] \d\S*|\S*\d %\S*|\S+)")
# Names are divided behind - _ and . and measures before their cutoff: "RR(rel=2)@10" above "0"
# would be read as another measure. A sign stays beside the word before it.
_PARTS = re.compile(r"\s*(?:[^\s._-]*[._-]+|[^\s._-]+?(?=@\d)|[^\s._-]+(?: [%*‡](?!\S))?)")


def as_text(
    view: View, *, details: bool = False, rows: int | None = FIRST_ROWS, in_python: bool = True
) -> str:
    """Write a view.

    `rows` bounds the tables, None for all. How to see more is said in the words of Python or of a shell.
    """
    width = max(shutil.get_terminal_size((USUAL_WIDTH, 24)).columns, 40)
    blocks = [
        _wrapped(view.headline, width),
        "\n".join(_wrapped(sentence, width) for sentence in view.sentences),
    ]
    blocks += [_table(table, width, rows, in_python) for table in view.tables]
    blocks = [*filter(None, blocks)]
    closing = [_wrapped(note, width, first="! ", rest="  ") for note in view.first_notes]
    if not details:
        fitting = _fitting(closing, blocks, view.most_lines if width >= USUAL_WIDTH else None)
        left_out = len(closing) - len(fitting)
        subjects = (plural("note", left_out) if left_out else "", view.more)
        closing = fitting
        if view.more or view.other_notes:
            ask = "to_text(details=True)" if in_python else "--details"
            words = ", ".join(filter(None, subjects)) or "notes"
            closing.append(_wrapped(f"More ({words}): {ask}", width))
    blocks.append("\n".join(closing))
    if details:
        blocks += [_table(table, width, None, in_python) for table in view.details()]
        notes = (_wrapped(note, width, first="- ", rest="  ") for note in view.other_notes)
        blocks.append("\n".join(notes))
    return "\n\n".join(filter(None, blocks))


def _fitting(notes: list[str], blocks: Sequence[str], most_lines: int | None) -> list[str]:
    """Return the first notes that fit on the screen, at least one."""
    lines = sum(block.count("\n") + 2 for block in blocks) + 1
    number = len(notes)
    while (
        most_lines and number > 1 and lines + "\n".join(notes[:number]).count("\n") + 1 > most_lines
    ):
        number -= 1
    return notes[:number]


def _table(table: Table, width: int, limit: int | None, in_python: bool) -> str:
    lines = [_wrapped(table.title, width)] if table.title else []
    if table.columns:
        lines += _aligned(table, len(table.rows[:limit]), width)
    if left_out := len(table.rows) - len(table.rows[:limit]):
        ask = "to_text(rows=None)" if in_python else f"--rows {len(table.rows)}"
        lines.append(_wrapped(f"and {plural('more row', left_out)}: {ask}", width))
    return "\n".join([*lines, *(_wrapped(caption, width) for caption in table.captions)])


class _Laid(NamedTuple):
    """A column of a table with what it shows, the heading first."""

    column: Column
    cells: Sequence[str]

    @property
    def widest(self) -> int:
        return max(map(cell_len, self.cells))

    @property
    def least(self) -> int:
        """The least width, with headings and names folded."""
        folded = self.cells[:1] if self.column.numeric else self.cells
        parts = (part.strip() for cell in folded for part in _parts(cell))
        longest = min(max(map(cell_len, parts), default=0), LONGEST_PART)
        if self.column.numeric:
            return min(self.widest, max([longest, *map(cell_len, self.cells[1:])]))
        return min(self.widest, max(longest, LEAST_WIDTH))

    def lines(self, row: int, width: int) -> list[str]:
        """Fold the cell of a row, and align its lines."""
        cell = self.cells[row]
        indent = " " * (len(cell) - len(cell.lstrip()))
        folded = [cell]
        if cell_len(cell) > width:
            folded = _folded(_parts(cell), width, indent, indent)
        return [_placed(line, self.column.align, width) for line in folded]


def _parts(cell: str) -> Iterator[str]:
    """Yield what stays on one line: names, and parts of names that are long."""
    for word in _WORDS.findall(cell):
        yield from [word] if cell_len(word.strip()) <= LONGEST_PART else _PARTS.findall(word)


def _aligned(table: Table, n_rows: int, width: int) -> Iterator[str]:
    """Write the lines of a table.

    Columns that do not fit beside the others follow below, with the names of the rows again.
    """
    laid = [
        _Laid(
            column,
            [escaped(column.title), *(escaped(row[position]) for row in table.rows[:n_rows])],
        )
        for position, column in enumerate(table.columns)
    ]
    names = laid[: _n_naming(laid)]
    block = list(names)
    for _, together in groupby(
        enumerate(laid[len(names) :]), lambda item: item[1].column.group or item[0]
    ):
        part = [part for _, part in together]
        if len(block) > len(names) and _width(_least([*block, *part])) > width:
            yield from _side_by_side(block, width)
            yield ""
            block = list(names)
        block += part
    yield from _side_by_side(block, width)


def _n_naming(laid: Sequence[_Laid]) -> int:
    """Return how many columns of text, from the first one on, tell the rows apart."""
    texts = [part.cells for part in takewhile(lambda part: not part.column.numeric, laid)]
    for number in range(1 if laid[0].cells[0].strip() else 2, len(texts)):
        rows = list(zip(*texts[:number], strict=True))
        if len(set(rows)) == len(rows):
            return number
    return max(len(texts), 1)


def _side_by_side(laid: Sequence[_Laid], width: int) -> Iterator[str]:
    """Write the lines of columns, the widest of which are folded until all fit."""
    least = _least(laid)
    sizes = _with_groups(laid, [part.widest for part in laid])
    while _width(sizes) > width and sizes != least:
        foldable = [size if size > low else 0 for size, low in zip(sizes, least, strict=True)]
        sizes[foldable.index(max(foldable))] -= 1
    if groups := column_groups([part.column for part in laid]):
        heads = (
            _placed(escaped(group), "center", _width(sizes[position])) for group, position in groups
        )
        yield " ".join(heads).rstrip()
    for row in range(len(laid[0].cells)):
        folded = [part.lines(row, size) for part, size in zip(laid, sizes, strict=True)]
        for parts in zip_longest(*folded, fillvalue=""):
            cells = (part or " " * size for part, size in zip(parts, sizes, strict=True))
            if line := " ".join(cells).rstrip():  # not the headings of a block without any
                yield line


def _least(laid: Sequence[_Laid]) -> list[int]:
    return _with_groups(laid, [part.least for part in laid])


def _with_groups(laid: Sequence[_Laid], widths: list[int]) -> list[int]:
    """Widen the first column of each group until its heading fits."""
    for group, position in column_groups([part.column for part in laid]):
        widths[position.start] += max(0, cell_len(escaped(group)) - _width(widths[position]))
    return widths


def _placed(cell: str, align: str, width: int) -> str:
    """Return a cell with spaces around it, where characters can be two columns wide."""
    space = max(width - cell_len(cell), 0)
    left = {"left": 0, "center": space // 2, "right": space}[align]
    return " " * left + cell + " " * (space - left)


def _width(widths: Sequence[int]) -> int:
    """Return the width of columns that stand side by side."""
    return sum(widths) + len(widths) - 1


def _wrapped(text: str, width: int, *, first: str = "", rest: str = "") -> str:
    return "\n".join(_folded(_WORDS.findall(escaped(text)), width, first, rest))


def _folded(words: Iterable[str], width: int, first: str = "", rest: str = "") -> list[str]:
    """Put words into lines of so many columns, and divide one that is longer."""
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
        *lines_between, end = chop_cells(word, width - cell_len(line))
        for part in lines_between:
            lines.append(line + part)
            line = rest
        line = line + end
        is_empty = False
    return [*lines, line]
