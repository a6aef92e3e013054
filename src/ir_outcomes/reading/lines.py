"""Text files of columns: NumPy reads usual blocks, and a plain reader others."""

import math
import os
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import islice
from typing import Any

import numpy as np

from ir_outcomes.choices import Floats
from ir_outcomes.errors import FormatError
from ir_outcomes.formatting import plural
from ir_outcomes.reading.columns import (
    LONGEST_ID,
    Codes,
    Columns,
    Ids,
    LineOf,
    as_ids,
    ranks_of_all,
    words_of,
)
from ir_outcomes.reading.files import STDIN, WHITE_SPACE, Block, blocks, check_bytes, nonblank
from ir_outcomes.reading.forms import Layout

COLUMN_REMEDY = (
    "; ids and tags must not contain white space, comment lines must be removed, and a header must"
    " name query_id, doc_id and a value"
)
# NumPy takes some of them for white space, which they are not here, and drops the first.
_NOT_FOR_NUMPY = b"\0\x1c\x1d\x1e\x1f"
# White space of Latin-1, as which NumPy reads UTF-8, and bytes that UTF-8 does not have.
_BLANKS = b"\x85\xa0"
_STAND_INS = b"\xfe\xff"
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


# The queries, documents, values and ranks of a block; a rank is NaN where it is no number.
Part = tuple[Ids, Ids, Floats, Floats]
ReadBlock = Callable[[Block, Layout, str], Part]


def read_lines(
    content: Iterable[Block], layout: Layout, source: str, plainly: ReadBlock, line_of: LineOf
) -> Columns:
    """Read lines of one layout, those that are not for NumPy by `plainly`."""
    documents = _Growing(as_ids([]))
    values = _Growing(np.empty(0))
    ranks = _Growing(np.empty(0, dtype=np.float32))
    codes = _Growing(np.empty(0, dtype=np.int32))
    code_of: dict[bytes, int] = {}
    n_rows = 0
    n_bytes = 0
    longest = b""
    for block in content:
        if block.data.isspace():
            continue
        part = _by_numpy(block, layout, source) or plainly(block, layout, source)
        queries, found, numbers, beside = part
        codes.extend(_coded(queries, code_of))
        documents.extend(found)
        values.extend(numbers)
        ranks.extend(beside)
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
    return Columns(
        source,
        [query.decode() for query in code_of],
        codes.array(),
        documents.array(),
        values.array(),
        layout.value_name,
        line_of,
        ranks_of_all(ranks.array(), n_rows),
    )


def _by_numpy(block: Block, layout: Layout, source: str) -> Part | None:
    """Read a block of lines, or return None where NumPy must not."""
    data = block.data
    is_ascii = data.isascii()
    if not is_ascii:
        check_bytes(block, source)
        data = data.translate(bytes.maketrans(_BLANKS, _STAND_INS))
    if any(sign in data for sign in _not_for_numpy(layout.separator)):
        return None
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n")
    lines = data.decode("latin-1").split("\n")
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
    queries, documents, texts = (
        table[str(column)] for column in (layout.query, layout.document, layout.value)
    )
    values = _numbers(texts)
    if values is None:
        return None
    queries, documents = _narrow(queries), _narrow(documents)
    if not (words_of(queries)[:, 0].all() and words_of(documents)[:, 0].all()):  # an id is empty
        return None
    if not is_ascii:
        _restore_blanks(queries)
        _restore_blanks(documents)
    ranks = [] if layout.rank is None else table[str(layout.rank)]
    return queries, documents, values, np.asarray(ranks, dtype=np.float32)


def _not_for_numpy(separator: str | None) -> bytes:
    """Return the bytes that cells may contain, but NumPy must not see."""
    if separator is None:
        return _NOT_FOR_NUMPY
    return (
        _NOT_FOR_NUMPY
        + f'"{WHITE_SPACE}'.translate({ord(sign): None for sign in f"\n\r{separator}"}).encode()
    )


def _restore_blanks(ids: Ids) -> None:
    """Replace stand-ins by the bytes for which they stand."""
    letters = ids.view(np.uint8)
    for blank, stand_in in zip(_BLANKS, _STAND_INS, strict=True):
        letters[letters == stand_in] = blank


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
    if layout.rank is not None:
        formats[layout.rank] = "i4"
        offsets[layout.rank] = end
        end += 4
    names = [str(column) for column in range(layout.columns)]
    record = np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": end})
    # NumPy warns where it takes 1.5 for the whole number 1.
    with warnings.catch_warnings(action="error"):
        table = np.loadtxt(lines, record, comments=None, delimiter=layout.separator, ndmin=1)
    last_bytes = table.view(np.uint8).reshape(len(table), end)[:, [7 + usual, 7 + 2 * usual]]
    return None if usual < width and last_bytes.any() else table


def _numbers(texts: Ids) -> Floats | None:
    """Read numbers as `float` does, or return None where one is none, or NaN."""
    import msgspec

    fields = texts.tolist()
    # Five times as fast as NumPy, whatever the number of digits; JSON has no inf, .5, 5. or 007.
    with suppress(msgspec.DecodeError):
        numbers = msgspec.json.decode(b"[%b]" % b",".join(fields), type=list[float])
        if len(numbers) == len(fields):
            return np.array(numbers)
    values = np.array(list(map(number_in, fields)), dtype=np.float64)  # None becomes NaN
    return None if np.isnan(values).any() else values


def _narrow(ids: Ids) -> Ids:
    """Leave out the words that no id needs."""
    words = words_of(np.ascontiguousarray(ids))
    n_words = int(np.flatnonzero(words.any(axis=0)).max(initial=0)) + 1
    narrow: Ids = np.ascontiguousarray(words[:, :n_words]).view(f"S{8 * n_words}")[:, 0]
    return narrow


def by_line(block: Block, layout: Layout, source: str) -> Part:
    """Read a block line by line."""
    check_bytes(block, source)
    rows: list[tuple[bytes, bytes, float, float]] = []
    for number, line in nonblank(block):
        fields = line.split()
        if len(fields) != layout.columns and line.count(b"\t") == layout.columns - 1:
            fields = [field.strip() for field in line.split(b"\t")]  # an id has a blank
        row = _row(fields, layout)
        if not isinstance(row, tuple):
            raise FormatError(source, row, line=number, text=shown(fields))
        rows.append(row)
    queries, documents, values, ranks = zip(*rows, strict=True)
    return as_ids(queries), as_ids(documents), np.array(values), np.array(ranks, dtype=np.float32)


def _row(fields: list[bytes], layout: Layout) -> tuple[bytes, bytes, float, float] | str:
    """Return the query, document, value and rank of a line, or what is wrong with it."""
    if len(fields) != layout.columns:
        return f"has {plural('column', len(fields))}, expected {layout.columns}{COLUMN_REMEDY}"
    query, document, text = (fields[at] for at in (layout.query, layout.document, layout.value))
    for name, field in (("query", query), ("document", document)):
        if not field:
            return f"a {name} id is empty; correct it"
        if len(field) > LONGEST_ID:
            return f"a {name} id is longer than {LONGEST_ID} bytes; is this a run or qrels?"
    value = number_in(text)
    if value is None or value != value:
        return not_a_number(layout.value_name, text)
    rank = None if layout.rank is None else number_in(fields[layout.rank])
    return query, document, value, math.nan if rank is None else rank


def not_a_number(value_name: str, text: bytes) -> str:
    """Say what is wrong with a value."""
    if b"," in text and number_in(text.replace(b",", b".")) is not None:
        return (
            f"the {value_name} has a decimal comma, as tables with semicolons have; write a point"
        )
    return f"the {value_name} is not a number; correct or remove the line"


def _coded(queries: Ids, code_of: dict[bytes, int]) -> Codes:
    """Number the queries in order of first appearance."""
    starts = np.flatnonzero(np.append(True, queries[1:] != queries[:-1]))
    codes = [code_of.setdefault(query, len(code_of)) for query in queries[starts].tolist()]
    return np.repeat(np.array(codes, dtype=np.int32), np.diff(starts, append=len(queries)))


def shown(fields: list[bytes]) -> str:
    """Return fields as a message shows them."""
    return b" ".join(fields[:12])[:200].decode("utf-8", "replace")


def number_in(field: bytes) -> float | None:
    """Return the number that a text states, without Python's underscores."""
    try:
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def line_of_row(source: str, row: int) -> int | None:
    """Find the line of a row by reading the file again, which a pipe does not allow."""
    if source == STDIN or not os.path.isfile(source):
        return None
    numbers = (number for block in blocks(source) for number, _ in nonblank(block))
    return next(islice(numbers, row, None), None)
