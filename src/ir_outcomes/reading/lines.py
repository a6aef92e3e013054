"""Text files of columns: NumPy reads usual blocks, and a plain reader others."""

import csv
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Any

import numpy as np

from ir_outcomes.errors import FormatError
from ir_outcomes.formatting import plural
from ir_outcomes.reading.columns import LONGEST_ID, Codes, Columns, Ids, as_ids, words_of
from ir_outcomes.reading.files import STDIN, Block, blocks, check_bytes, nonblank
from ir_outcomes.reading.forms import Layout
from ir_outcomes.types import Floats

COLUMN_REMEDY = (
    "; ids and tags must not contain white space, comment lines must be removed, and a header must"
    " name query_id, doc_id and a value"
)
# NumPy takes some of them for white space, which they are not here, and drops the first.
_NOT_FOR_NUMPY = tuple(b"\0\x1c\x1d\x1e\x1f")
_QUOTES_OR_BLANKS = tuple(b'" \v\f')  # in columns with a separator
_LONGEST_LINE = 512  # bytes; NumPy gives every id the space of the longest line
_USUAL = 24  # bytes of most query ids and numbers
_LARGE = 4 << 30  # bytes of ids
_WIDEST = 3  # times the bytes that were read


class _Growing:
    """An array that grows in its place, so that memory holds its items once."""

    def __init__(self, start: Any) -> None:
        self._items = start
        self._length = 0

    def extend(self, part: Any) -> None:
        if part.itemsize > self._items.itemsize:
            self._items = self._items[: self._length].astype(part.dtype)
        end = self._length + len(part)
        if end > len(self._items):
            self._items.resize(end + end // 8, refcheck=False)
        self._items[self._length : end] = part
        self._length = end

    def array(self) -> Any:
        self._items.resize(self._length, refcheck=False)
        return self._items


_Part = tuple[Ids, Ids, Floats]  # the queries, documents and values of a block


def read_lines(content: Iterable[Block], layout: Layout, source: str, first_line: int) -> Columns:
    """Read lines of one layout."""
    documents = _Growing(as_ids([]))
    values = _Growing(np.empty(0))
    codes = _Growing(np.empty(0, dtype=np.int32))
    code_of: dict[bytes, int] = {}
    n_rows = 0
    n_bytes = 0
    longest = b""
    for block in from_line(content, first_line):
        if block.data.isspace():
            continue
        queries, found, numbers = _by_numpy(block.data, layout) or _by_line(block, layout, source)
        codes.extend(_coded(queries, code_of))
        documents.extend(found)
        values.extend(numbers)
        n_rows += len(numbers)
        n_bytes += len(block.data)
        if found.itemsize > len(longest) + 7:  # ids of a block are padded to words
            longest = max((longest, *found.tolist()), key=len)
        # In the array each id takes as much space as the longest.
        if n_rows * len(longest) > max(_LARGE, _WIDEST * n_bytes):
            problem = (
                f"one id as long as this among {n_rows - 1:,} others would take too much memory;"
                " shorten it"
            )
            raise FormatError(source, problem, text=shown([longest]))
    columns = Columns(
        source,
        [query.decode() for query in code_of],
        codes.array(),
        documents.array(),
        values.array(),
        layout.value_name,
        partial(_line_of, source, first_line),
    )
    # A comment can happen to have the right number of words.
    if layout.separator is None and b"#" in code_of:
        row = int(np.argmax(columns.codes == code_of[b"#"]))
        raise columns.error(row, "is a comment; remove comment lines")
    return columns


def _by_numpy(data: bytes, layout: Layout) -> _Part | None:
    """Read a block of lines, or return None where NumPy must not."""
    unusual = _NOT_FOR_NUMPY if layout.separator is None else _NOT_FOR_NUMPY + _QUOTES_OR_BLANKS
    if not data.strip() or not data.isascii() or any(sign in data for sign in unusual):
        return None
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    lines = data.decode().split("\n")
    longest = max(map(len, lines))
    if longest > _LONGEST_LINE:
        return None
    # Widths that are no multiple of 8 are copied slowly.
    width = -(-longest // 8) * 8
    try:
        table = _table(lines, layout, min(width, _USUAL), width)
        if table is None:
            table = _table(lines, layout, width, width)
    except ValueError:  # the plain reader says what is wrong, or reads it
        return None
    if table is None:
        return None
    values = _numbers(table[str(layout.value)])
    queries, documents = (_narrow(table[str(at)]) for at in (layout.query, layout.document))
    has_empty = any(not words_of(ids)[:, 0].all() for ids in (queries, documents))
    return None if values is None or has_empty else (queries, documents, values)


def _table(lines: list[str], layout: Layout, usual: int, width: int) -> Any:
    """Read columns as bytes, or return None if a query or value is wider than `usual`."""
    # What is in no column that is wanted is written to the first 8 bytes, because a line must have
    # all columns and no more.
    formats = ["S8"] * layout.columns
    offsets = [0] * layout.columns
    widths = {layout.query: usual, layout.value: usual, layout.document: width}
    end = 8
    for column, size in widths.items():
        formats[column] = f"S{size}"
        offsets[column] = end
        end += size
    names = [str(column) for column in range(layout.columns)]
    record = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": end})
    separator = None if layout.separator is None else layout.separator.decode()
    table = np.loadtxt(lines, dtype=record, comments=None, delimiter=separator, ndmin=1)
    last_bytes = table.view(np.uint8).reshape(len(table), end)[:, [7 + usual, 7 + 2 * usual]]
    return None if usual < width and last_bytes.any() else table


def _numbers(texts: Ids) -> Floats | None:
    """Read numbers as `float` does, or return None where one is none, or NaN."""
    import msgspec

    fields = texts.tolist()
    numbers: list[float] = []
    # Five times as fast as NumPy, whatever the number of digits; JSON has no inf, .5, 5. or 007.
    with suppress(msgspec.DecodeError):
        numbers = msgspec.json.decode(b"[%b]" % b",".join(fields), type=list[float])
    if len(numbers) == len(fields):
        return np.array(numbers)
    values = list(map(number_in, fields))
    if any(value is None or value != value for value in values):
        return None
    return np.array(values, dtype=np.float64)


def _narrow(ids: Ids) -> Ids:
    """Leave out the words that no id needs."""
    words = words_of(np.ascontiguousarray(ids))
    n_words = int(np.flatnonzero(words.any(axis=0)).max(initial=0)) + 1
    narrow: Ids = np.ascontiguousarray(words[:, :n_words]).view(f"S{8 * n_words}")[:, 0]
    return narrow


def _by_line(block: Block, layout: Layout, source: str) -> _Part:
    check_bytes(block, source)
    queries = []
    documents = []
    values = []
    for number, line in nonblank(block):
        fields = _fields(line, layout, source, number)
        if len(fields) != layout.columns:
            problem = (
                f"has {plural('column', len(fields))}, expected {layout.columns}{COLUMN_REMEDY}"
            )
            raise FormatError(source, problem, line=number, text=shown(fields))
        for name, field in (("query", fields[layout.query]), ("document", fields[layout.document])):
            if not field:
                problem = f"a {name} id is empty; correct it"
                raise FormatError(source, problem, line=number, text=shown(fields))
            if len(field) > LONGEST_ID:
                problem = f"a {name} id is longer than {LONGEST_ID} bytes; is this a run or qrels?"
                raise FormatError(source, problem, line=number, text=shown([field]))
        text = fields[layout.value]
        value = number_in(text)
        if value is None or value != value:
            problem = f"the {layout.value_name} is not a number; correct or remove the line"
            if b"," in text and number_in(text.replace(b",", b".")) is not None:
                between = ", between semicolons" if layout.separator == b";" else ""
                problem = f"the {layout.value_name} has a decimal comma{between}; write a point"
            raise FormatError(source, problem, line=number, text=shown([text]))
        queries.append(fields[layout.query])
        documents.append(fields[layout.document])
        values.append(value)
    return as_ids(queries), as_ids(documents), np.array(values, dtype=np.float64)


def _fields(line: bytes, layout: Layout, source: str, number: int) -> list[bytes]:
    if layout.separator is None:
        fields = line.split()
        if len(fields) != layout.columns and line.count(b"\t") == layout.columns - 1:
            fields = line.split(b"\t")  # an id has a blank
    else:
        separator = layout.separator.decode()
        try:
            (texts,) = csv.reader([line.decode().rstrip("\r\n")], delimiter=separator, strict=True)
        # ValueError where a carriage return within the line makes two of it.
        except (csv.Error, ValueError) as error:
            problem = (
                f"cannot be separated into columns ({error}); check the quotes, and remove line"
                " breaks within values"
            )
            raise FormatError(source, problem, line=number, text=shown([line])) from None
        fields = [text.encode() for text in texts]
    # Bytes are stripped, because white space is that of ASCII.
    return [field.strip() for field in fields]


def _coded(queries: Ids, code_of: dict[bytes, int]) -> Codes:
    """Number the queries in order of first appearance."""
    words = words_of(queries)
    starts = np.flatnonzero(np.append(True, (words[1:] != words[:-1]).any(axis=1)))
    codes = [code_of.setdefault(query, len(code_of)) for query in queries[starts].tolist()]
    return np.repeat(np.array(codes, dtype=np.int32), np.diff(starts, append=len(words)))


def shown(fields: list[bytes]) -> str:
    """Return fields as a message shows them."""
    return b" ".join(fields[:12])[:200].decode("utf-8", "replace")


def number_in(field: bytes) -> float | None:
    """Return the number that a text states, without Python's underscores."""
    try:
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def from_line(content: Iterable[Block], first_line: int) -> Iterator[Block]:
    """Leave out the lines before the first one that contains data."""
    for block in content:
        skipped = max(first_line - block.first_line, 0)
        lines = block.data.split(b"\n", skipped)
        if len(lines) > skipped and lines[-1]:
            yield Block(block.first_line + skipped, lines[-1])


def _line_of(source: str, first_line: int, row: int) -> int | None:
    """Find the line of a row by reading the file again, which a pipe does not allow."""
    if source == STDIN or not os.path.isfile(source):
        return None
    numbers = (
        number for block in blocks(source) for number, _ in nonblank(block) if number >= first_line
    )
    return next(islice(numbers, row, None), None)
