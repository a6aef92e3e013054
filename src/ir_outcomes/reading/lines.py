"""Lines of run and qrels files to columns.

There are two readers with the same meaning. The plain reader (`_plain`) defines what a file says and explains what is wrong
with it. The fast reader (`ir_outcomes.reading.tokens`) takes whole blocks, and declines every block on which the two could
differ; the plain reader then reads that block. A test compares them on arbitrary bytes.

Without a separator, columns are separated by any ASCII white space, and there are no quotes. With a separator (the CSV and
TSV files that have a header), the rules are those of Python's csv module, and white space around a value is removed. Blank
lines are skipped.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes._formatting import plural
from ir_outcomes._types import Floats
from ir_outcomes.errors import FormatError
from ir_outcomes.reading.columns import LONGEST_ID, Columns, as_ids
from ir_outcomes.reading.files import BOM, STDIN, Block, blocks
from ir_outcomes.reading.keys import Codes, Ids
from ir_outcomes.reading.layouts import Layout
from ir_outcomes.reading.tokens import fields_of, ids_of, numbers_of

__all__ = ["COLUMN_REMEDY", "check_bytes", "decimal", "from_line", "nonblank", "read_lines", "shown"]

COLUMN_REMEDY = (
    "; ids and tags must not contain white space, comment lines must be removed, and a header must name query_id, doc_id "
    "and a value"
)
_LARGE = 1 << 30  # bytes of ids
_WIDEST = 3  # times the bytes that were read


def read_lines(content: Iterable[Block], layout: Layout, source: str, first_line: int) -> Columns:
    """Read lines of one layout.

    Parameters
    ----------
    content : iterable of Block
        The blocks of a file.
    layout : Layout
        What the columns contain.
    source : str
        The path of the file.
    first_line : int
        Number of the first line that contains data; the lines before it, such as a header, are skipped.

    Raises
    ------
    FormatError
        If a line does not fit the layout; the error has the line's number and text.
    """
    codes, documents, values = _Growing(), _Growing(), _Growing()
    code_of: dict[bytes, int] = {}
    n_bytes = 0
    for block in from_line(content, first_line):
        n_bytes += len(block.data)
        part = _fast(block, layout) or _plain(block, layout, source)
        codes.extend(_coded(part.queries, code_of))
        ids = as_ids(part.documents)
        _refuse_wide_array(documents.n_bytes(ids), n_bytes, ids, source)
        documents.extend(ids)
        values.extend(part.values)
    columns = Columns(
        source,
        [query.decode() for query in code_of],
        codes.array.astype(np.int32, copy=False),
        as_ids(documents.array),
        values.array.astype(np.float64, copy=False),
        layout.value_name,
        partial(_line_of, source, first_line),
    )
    if layout.separator is None and b"#" in code_of:  # a comment that happens to have the right number of words
        row = int(np.argmax(columns.codes == code_of[b"#"]))
        raise columns.error(row, "is a comment; remove comment lines")
    return columns


def nonblank(block: Block) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not blank, with their numbers."""
    for number, line in enumerate(io.BytesIO(block.data), block.first_line):
        if not line.isspace():
            yield number, line


def check_bytes(block: Block, source: str) -> None:
    """Refuse what no text file contains: NUL bytes, bytes that are not UTF-8, byte order marks within the text."""
    data = block.data
    if b"\0" in data:
        at = data.index(b"\0")
        problem = "contains a NUL byte; is this a text file? UTF-16 must be converted to UTF-8"
        raise FormatError(source, problem, line=_line_at(block, at), text=_around(data, at))
    try:
        data.decode()
    except UnicodeDecodeError as error:
        problem = "is not UTF-8; convert it (iconv -f latin1 -t utf-8), and the qrels with it, so that ids match"
        raise FormatError(source, problem, line=_line_at(block, error.start), text=_around(data, error.start)) from None
    if BOM in data:
        at = data.index(BOM)
        problem = (
            "contains a byte order mark (U+FEFF) after its beginning, as files do that were joined; remove it, because it "
            "would become part of an id"
        )
        raise FormatError(source, problem, line=_line_at(block, at), text=_around(data, at))


def shown(fields: list[bytes]) -> str:
    """Return fields as a message shows them."""
    return b" ".join(fields[:12])[:200].decode("utf-8", "replace")


def decimal(field: bytes, layout: Layout, source: str, line: int) -> float:
    """Read a score, rank or grade as `float` does, but without the underscores that only Python allows."""
    try:
        if b"_" in field:
            raise ValueError
        value = float(field)
    except ValueError:
        value = float("nan")
    if value != value or (layout.whole and not value.is_integer()):
        expected = "whole number" if layout.whole else "number"
        problem = f"the {layout.value_name} is not a {expected}; correct or remove the line"
        raise FormatError(source, problem, line=line, text=shown([field]))
    return value


def from_line(content: Iterable[Block], first_line: int) -> Iterator[Block]:
    """Leave out the lines before the first one that contains data."""
    for block in content:
        skipped = first_line - block.first_line
        if skipped <= 0:
            yield block
            continue
        position = 0
        while skipped and position < len(block.data):
            position = block.data.find(b"\n", position) + 1 or len(block.data)
            skipped -= 1
        if position < len(block.data):
            yield Block(first_line, block.data[position:])


def _line_of(source: str, first_line: int, row: int) -> int | None:
    """Find the line of a row by reading the file again; None for a pipe, which can be read only once."""
    if source == STDIN or not os.path.isfile(source):
        return None
    for block in from_line(blocks(source), first_line):
        for number, _ in nonblank(block):
            if row == 0:
                return number
            row -= 1
    return None


def _refuse_wide_array(needed: int, n_bytes: int, ids: Ids, source: str) -> None:
    """Refuse ids so unequal in length that their array outgrows the file: each id takes as much as the longest."""
    if needed > _LARGE and needed > _WIDEST * n_bytes:
        longest = max(ids.tolist(), key=len).decode("utf-8", "replace")
        problem = f"one id as long as this among many short ones would take {needed >> 20:,} MiB of memory; shorten it"
        raise FormatError(source, problem, text=longest)


class _Growing:
    """A column that grows in place, so that memory contains it once; ids are widened when wider ones follow."""

    def __init__(self) -> None:
        self._bytes = bytearray()
        self._dtype: np.dtype[Any] | None = None

    def n_bytes(self, more: np.ndarray[Any, Any]) -> int:
        """Size after an `extend` with these."""
        return (len(self.array) + len(more)) * max(int(more.dtype.itemsize), int(self.array.dtype.itemsize))

    def extend(self, values: np.ndarray[Any, Any]) -> None:
        if self._dtype is None:
            self._dtype = values.dtype
        elif values.dtype.itemsize > self._dtype.itemsize:
            wider = bytearray(len(self.array) * values.dtype.itemsize)  # one copy only: it can be most of the memory
            np.frombuffer(wider, dtype=values.dtype)[:] = self.array
            self._bytes, self._dtype = wider, values.dtype
        self._bytes += np.ascontiguousarray(values, dtype=self._dtype).view(np.uint8).data

    @property
    def array(self) -> np.ndarray[Any, Any]:
        return np.frombuffer(self._bytes, dtype=self._dtype)


class _Part(NamedTuple):
    """The columns of a block."""

    queries: Ids
    documents: Ids
    values: Floats


def _fast(block: Block, layout: Layout) -> _Part | None:
    data = block.data if layout.separator is None else _white_space_for(block.data, layout.separator)
    fields = None if data is None else fields_of(data, layout.columns)
    if fields is None:
        return None
    queries = ids_of(fields, layout.query, LONGEST_ID)
    documents = ids_of(fields, layout.document, LONGEST_ID)
    values = numbers_of(fields, layout.value)
    if queries is None or documents is None or values is None:
        return None
    if layout.whole and not np.all(np.isfinite(values) & (values == np.floor(values))):
        return None
    # White space separates the same columns only where every separator does; two in a row surround an empty value.
    if layout.separator is not None and block.data.count(layout.separator) != len(values) * (layout.columns - 1):
        return None
    return _Part(queries, documents, values)


def _white_space_for(data: bytes, separator: bytes) -> bytes | None:
    """Make separators white space; None where quotes, or white space within values, would then be misread."""
    if b'"' in data or b" " in data or b"\v" in data or b"\f" in data or data.count(b"\r") != data.count(b"\r\n"):
        return None
    if separator == b"\t":
        return data
    return None if b"\t" in data else data.replace(separator, b"\t")


def _plain(block: Block, layout: Layout, source: str) -> _Part:
    check_bytes(block, source)
    queries, documents, values = [], [], []
    for number, line in nonblank(block):
        fields = line.split() if layout.separator is None else _separated(line, layout.separator, source, number)
        if len(fields) != layout.columns:
            problem = f"has {plural('column', len(fields))}, expected {layout.columns}{COLUMN_REMEDY}"
            raise FormatError(source, problem, line=number, text=shown(fields))
        for name, column in (("query", layout.query), ("document", layout.document)):
            if not fields[column]:
                problem = f"the {name} id is empty; correct or remove the line"
                raise FormatError(source, problem, line=number, text=shown(fields))
            if len(fields[column]) > LONGEST_ID:
                problem = f"a {name} id is longer than {LONGEST_ID} bytes; is this a run or qrels?"
                raise FormatError(source, problem, line=number, text=shown([fields[column]]))
        queries.append(fields[layout.query])
        documents.append(fields[layout.document])
        values.append(decimal(fields[layout.value], layout, source, number))
    return _Part(np.array(queries, dtype=np.bytes_), np.array(documents, dtype=np.bytes_), np.array(values, dtype=np.float64))


def _separated(line: bytes, separator: bytes, source: str, number: int) -> list[bytes]:
    try:
        (fields,) = csv.reader([line.decode().rstrip("\r\n")], delimiter=separator.decode(), strict=True)
    except (csv.Error, ValueError) as error:  # ValueError where a carriage return within the line makes two of it
        problem = f"cannot be separated into columns ({error}); check the quotes, and remove line breaks within values"
        raise FormatError(source, problem, line=number, text=shown([line])) from None
    return [field.encode().strip() for field in fields]  # of bytes, because white space is that of ASCII


def _line_at(block: Block, position: int) -> int:
    return block.first_line + block.data.count(b"\n", 0, position)


def _around(data: bytes, position: int) -> str:
    start = max(data.rfind(b"\n", 0, position) + 1, position - 40)
    return data[start : position + 20].split(b"\n")[0].decode("utf-8", "backslashreplace")


def _coded(queries: Ids, code_of: dict[bytes, int]) -> Codes:
    """Number the queries in order of first appearance; only where the query changes is the dict asked."""
    if not len(queries):
        return np.empty(0, dtype=np.int32)
    words = as_ids(queries).view(np.uint64).reshape(len(queries), -1)
    changed = np.zeros(len(words) - 1, dtype=bool)
    for word in words.T:
        changed |= word[1:] != word[:-1]
    changes = np.flatnonzero(changed) + 1
    starts = [0, *changes.tolist(), len(queries)]
    codes = [code_of.setdefault(query, len(code_of)) for query in queries[starts[:-1]].tolist()]
    return np.repeat(np.array(codes, dtype=np.int32), [end - start for start, end in pairwise(starts)])
