"""Files of columns, part by part: NumPy reads usual lines, a plain reader others."""

import csv
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
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
    Texts,
    as_ids,
    without_padding,
    words_of,
)
from ir_outcomes.reading.files import (
    STDIN,
    WHITE_SPACE,
    Block,
    check_bytes,
    lines_in,
    nonblank,
    pieces,
)
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

# The parts of a file by its content.
Parts = Callable[[Iterable[bytes]], Iterator[Columns]]


def joined(parts: Parts, content: Iterable[bytes], source: str) -> Columns:
    """Join the parts of a file, of which one is in memory at a time."""
    nothing = Columns(source, [], np.empty(0, dtype=np.int32), as_ids([]), np.empty(0), "")
    codes = _Growing(nothing.codes)
    docids = _Growing(nothing.docids)
    values = _Growing(nothing.values)
    ranks = _Growing(np.empty(0, dtype=np.float32))
    code_of: dict[str, int] = {}
    texts = Texts({}, {})
    first = nothing  # that has rows
    for part in parts(content):
        if not len(first.codes):
            first = part
        elif len(part.codes) and part.value_name != first.value_name:
            problem = f"has a {part.value_name}, and what stands before it a {first.value_name}"
            raise part.error(0, problem)
        codes_of_part = [code_of.setdefault(query, len(code_of)) for query in part.query_ids]
        codes.extend(np.array(codes_of_part, dtype=np.int32)[part.codes])
        docids.extend(part.docids)
        values.extend(part.values)
        if part.ranks is not None:
            ranks.extend(part.ranks)
        texts.queries.update(part.texts.queries)
        texts.documents.update(part.texts.documents)
    return replace(
        first,
        query_ids=list(code_of),
        codes=codes.array(),
        docids=docids.array(),
        values=values.array(),
        line_of=partial(_line_in_file, parts, source),
        ranks=ranks.array() if len(ranks) == len(values) else None,
        texts=texts,
    )


def _line_in_file(parts: Parts, source: str, row: int) -> int | None:
    """Find the line of a row by reading the file again, which a pipe does not allow."""
    if source == STDIN or not os.path.isfile(source):
        return None
    for part in parts(pieces(source)):
        if row < len(part.codes):
            return part.line_of(row)
        row -= len(part.codes)
    return None


class _Growing:
    """An array that grows in its place, so that memory holds its items once."""

    def __init__(self, start: Any) -> None:
        self._items = start
        self._length = 0

    def __len__(self) -> int:
        return self._length

    def extend(self, part: Any) -> None:
        dtype = np.promote_types(self._items.dtype, part.dtype)
        if dtype != self._items.dtype:
            self._items = self._items[: self._length].astype(dtype)
        end = self._length + len(part)
        if end > len(self._items):
            self._items.resize(end + end // 8, refcheck=False)
        self._items[self._length : end] = part
        self._length = end

    def array(self) -> Any:
        self._items.resize(self._length, refcheck=False)
        return self._items


def part_of(block: Block, layout: Layout, source: str) -> Columns:
    """Read a block of lines, or of rows of a table."""
    return _by_numpy(block, layout, source) or _plainly(block, layout, source)


def _by_numpy(block: Block, layout: Layout, source: str) -> Columns | None:
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
        if _may_be_cut(table[str(layout.query)]) or _may_be_cut(table[str(layout.value)]):
            table = _table(lines, layout, width, width)
    except ValueError:  # the plain reader says what is wrong, or reads it
        return None
    values = _numbers(table[str(layout.value)])
    queries, documents = (
        np.ascontiguousarray(table[str(column)]) for column in (layout.query, layout.document)
    )
    is_complete = words_of(queries)[:, 0].all() and words_of(documents)[:, 0].all()
    if values is None or not is_complete:
        return None
    if not is_ascii:
        _restore_blanks(queries)
        _restore_blanks(documents)
    query_ids, codes = _coded(without_padding(queries))
    return Columns(
        source,
        query_ids,
        codes,
        without_padding(documents),
        values,
        layout.value_name,
        partial(_line_in_block, block),
        None if layout.rank is None else table[str(layout.rank)].astype(np.float32),
    )


def _line_in_block(block: Block, row: int) -> int:
    number, _ = next(islice(nonblank(block), row, None))
    return number


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
    """Read columns as bytes, of which NumPy leaves out what is beyond their width."""
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
        return np.loadtxt(lines, record, comments=None, delimiter=layout.separator, ndmin=1)


def _may_be_cut(texts: Ids) -> bool:
    """Return whether a text is as long as the column is wide."""
    letters = np.ascontiguousarray(texts).view(np.uint8).reshape(len(texts), texts.itemsize)
    return bool(letters[:, -1].any())


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


def _plainly(block: Block, layout: Layout, source: str) -> Columns:
    """Read a block line by line, or row by row where cells can be in quotes."""
    check_bytes(block, source)
    lines: Iterable[tuple[int, list[bytes]]]
    if layout.separator is None:
        lines = ((number, fields_of(line, layout)) for number, line in nonblank(block))
    else:
        table = cells_of(lines_in([block], source), layout.separator, source, layout.columns)
        lines = ((number, list(map(str.encode, cells))) for number, cells in table)
    rows: list[tuple[bytes, bytes, float, float]] = []
    numbers: list[int] = []
    for number, fields in lines:
        row = _row(fields, layout)
        if not isinstance(row, tuple):
            raise FormatError(source, row, line=number, text=shown(fields))
        rows.append(row)
        numbers.append(number)
    queries, documents, values, ranks = zip(*rows, strict=True)
    query_ids, codes = _coded(as_ids(queries))
    return Columns(
        source,
        query_ids,
        codes,
        as_ids(documents),
        np.array(values),
        layout.value_name,
        numbers.__getitem__,
        None if layout.rank is None else np.array(ranks, dtype=np.float32),
    )


def cells_of(
    lines: Iterable[tuple[int, str]], separator: str, source: str, n_columns: int | None = None
) -> Iterator[tuple[int, list[str]]]:
    """Yield the cells of rows, with their last lines, as many as the first row has."""
    number = 0

    def texts() -> Iterator[str]:
        nonlocal number
        for line_number, line in lines:
            number = line_number
            yield line

    try:
        for cells in csv.reader(texts(), delimiter=separator, strict=True):
            n_columns = n_columns or len(cells)
            if len(cells) != n_columns:
                problem = f"has {plural('column', len(cells))}, the header has {n_columns}"
                raise FormatError(source, problem, line=number, text=separator.join(cells))
            yield number, [cell.strip(WHITE_SPACE) for cell in cells]
    except csv.Error as error:
        problem = f"is not a line of a CSV file ({error})"
        raise FormatError(source, problem, line=number) from None


def fields_of(line: bytes, layout: Layout) -> list[bytes]:
    """Return the fields of a line, which are between tabs where ids have blanks."""
    fields = line.split()
    if len(fields) != layout.columns and line.count(b"\t") == layout.columns - 1:
        fields = [field.strip() for field in line.split(b"\t")]
    return fields


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
        return _not_a_number(layout.value_name, text)
    rank = None if layout.rank is None else number_in(fields[layout.rank])
    return query, document, value, math.nan if rank is None else rank


def _not_a_number(value_name: str, text: bytes) -> str:
    """Say what is wrong with a value."""
    if b"," in text and number_in(text.replace(b",", b".")) is not None:
        return (
            f"the {value_name} has a decimal comma, as tables with semicolons have; write a point"
        )
    return f"the {value_name} is not a number; correct or remove the line"


def _coded(queries: Ids) -> tuple[list[str], Codes]:
    """Return queries in order of first appearance, and the index of each row."""
    starts = np.flatnonzero(np.append(True, queries[1:] != queries[:-1]))
    code_of: dict[bytes, int] = {}
    codes = [code_of.setdefault(query, len(code_of)) for query in queries[starts].tolist()]
    of_rows = np.repeat(np.array(codes, dtype=np.int32), np.diff(starts, append=len(queries)))
    return list(map(bytes.decode, code_of)), of_rows


def shown(fields: Sequence[bytes]) -> str:
    """Return fields as a message shows them."""
    return b" ".join(fields[:12])[:200].decode("utf-8", "replace")


def number_in(field: bytes) -> float | None:
    """Return the number that a text states, without Python's underscores."""
    try:
        return None if b"_" in field else float(field)
    except ValueError:
        return None
