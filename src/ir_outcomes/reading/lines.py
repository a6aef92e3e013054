"""Lines of run and qrels files to columns.

Two readers with one meaning. The plain one (`_plain`) defines what a file says and explains what is wrong with it.
The fast one (`ir_outcomes.reading.tokens`) takes whole blocks, and declines every block on which the two could differ. What it
declines, the plain reader reads.

Fields are separated by any run of ASCII white space; blank lines are passed over; there are no comments or quotes.
"""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import FormatError
from ir_outcomes.reading.files import Block, blocks
from ir_outcomes.reading.keys import Codes, Ids
from ir_outcomes.reading.tables import LONGEST_ID, Columns, as_ids
from ir_outcomes.reading.tokens import fields_of, ids_of, numbers_of


class Layout(NamedTuple):
    """Which column of a line holds what."""

    columns: int
    query: int
    document: int
    value: int
    value_name: str
    whole: bool


TREC_RUN = Layout(6, query=0, document=2, value=4, value_name="score", whole=False)
TREC_RUN_BY_RANK = Layout(6, query=0, document=2, value=3, value_name="rank", whole=True)
MSMARCO_RUN = Layout(3, query=0, document=1, value=2, value_name="rank", whole=True)
TREC_QRELS = Layout(4, query=0, document=2, value=3, value_name="grade", whole=True)

_KINDS = {
    3: "an MS MARCO run has 3 columns (query, document, rank)",
    4: "a qrels file has 4 columns (query, iteration, document, grade)",
    6: "a TREC run has 6 columns (query, Q0, document, rank, score, tag)",
}


def read_columns(path: str | os.PathLike[str], layouts: tuple[Layout, ...]) -> tuple[Columns, Layout]:
    """Read a file in that one of the layouts whose number of columns its first line has.

    Raises
    ------
    FormatError
        Naming file, line and text, if a line does not fit the layout or the file has no line.
    UnreadableFile
        See `ir_outcomes.reading.files.blocks`.
    """
    source = os.fspath(path)
    layout: Layout | None = None
    codes, documents, values = _Growing(), _Growing(), _Growing()
    code_of: dict[bytes, int] = {}
    n_bytes = 0
    for block in blocks(path):
        n_bytes += len(block.data)
        if layout is None:
            layout = _layout_of(block, layouts, source)
            if layout is None:
                continue
        part = _fast(block, layout) or _plain(block, layout, source)
        codes.extend(_coded(part.queries, code_of))
        ids = as_ids(part.documents)
        _refuse_wide_table(documents.n_bytes(ids), n_bytes, ids, source)
        documents.extend(ids)
        values.extend(part.values)
    if layout is None:
        raise FormatError(source, "is empty; nothing can be evaluated from it")
    columns = Columns(source, [query.decode() for query in code_of], codes.array, documents.array, values.array)
    return columns, layout


def find_line(path: str | os.PathLike[str], layout: Layout, query: str, document: str, nth: int) -> int | None:
    """Find the number of the nth line (from 0) that names this query and document; None if it cannot be told."""
    if not os.path.isfile(path):  # a pipe can be read only once
        return None
    wanted = query.encode(), document.encode()
    for block in blocks(path):
        for number, fields in _fields(block):
            if (fields[layout.query], fields[layout.document]) == wanted:
                if nth == 0:
                    return number
                nth -= 1
    return None


def _refuse_wide_table(needed: int, n_bytes: int, ids: Ids, source: str) -> None:
    """Refuse ids so unequal in length that their table outgrows what was read, because each takes as much as the longest."""
    if needed > _LARGE_TABLE and needed > _WIDEST_TABLE * n_bytes:
        longest = max(ids.tolist(), key=len).decode("utf-8", "replace")
        problem = f"one id as long as this among many short ones would take {needed >> 20:,} MiB of memory; shorten it"
        raise FormatError(source, problem, text=longest)


class _Growing:
    """A column that grows in place, so that memory holds it once; ids widen when wider ones come."""

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
            self._bytes = bytearray(self.array.astype(values.dtype).tobytes())
            self._dtype = values.dtype
        self._bytes += np.ascontiguousarray(values, dtype=self._dtype).view(np.uint8).data

    @property
    def array(self) -> np.ndarray[Any, Any]:
        return np.frombuffer(self._bytes, dtype=self._dtype)


class _Part(NamedTuple):
    queries: Ids
    documents: Ids
    values: npt.NDArray[np.float64]


def _fields(block: Block) -> Iterator[tuple[int, list[bytes]]]:
    for number, line in enumerate(io.BytesIO(block.data), block.first_line):
        fields = line.split()
        if fields:
            yield number, fields


def _layout_of(block: Block, layouts: tuple[Layout, ...], source: str) -> Layout | None:
    number, fields = next(_fields(block), (0, []))
    if not fields:
        return None
    for layout in layouts:
        if len(fields) == layout.columns:
            return layout
    _check_bytes(block, source)
    expected = " or ".join(str(layout.columns) for layout in layouts)
    looks_like = f": {_KINDS[len(fields)]}; were the arguments swapped?" if len(fields) in _KINDS else _COLUMN_REMEDY
    raise FormatError(source, f"has {len(fields)} columns, expected {expected}{looks_like}", line=number, text=_text(fields))


_LARGE_TABLE = 1 << 30  # bytes of ids
_WIDEST_TABLE = 8  # times the bytes that were read
_COLUMN_REMEDY = "; ids and tags must not contain white space, and comment or header lines must be removed"


def _fast(block: Block, layout: Layout) -> _Part | None:
    fields = fields_of(block.data, layout.columns)
    if fields is None:
        return None
    queries = ids_of(fields, layout.query, LONGEST_ID)
    documents = ids_of(fields, layout.document, LONGEST_ID)
    values = numbers_of(fields, layout.value)
    if queries is None or documents is None or values is None:
        return None
    if layout.whole and not np.all(np.isfinite(values) & (values == np.floor(values))):
        return None
    return _Part(queries, documents, values)


def _plain(block: Block, layout: Layout, source: str) -> _Part:
    _check_bytes(block, source)
    queries, documents, values = [], [], []
    for number, fields in _fields(block):
        if len(fields) != layout.columns:
            raise FormatError(
                source,
                f"has {len(fields)} columns, expected {layout.columns}{_COLUMN_REMEDY}",
                line=number,
                text=_text(fields),
            )
        for name, column in (("query", layout.query), ("document", layout.document)):
            if len(fields[column]) > LONGEST_ID:
                problem = f"a {name} id is longer than {LONGEST_ID} bytes; is this a run or qrels?"
                raise FormatError(source, problem, line=number, text=_text([fields[column]]))
        queries.append(fields[layout.query])
        documents.append(fields[layout.document])
        values.append(_number(fields[layout.value], layout, source, number))
    return _Part(np.array(queries, dtype=np.bytes_), np.array(documents, dtype=np.bytes_), np.array(values))


def _number(field: bytes, layout: Layout, source: str, line: int) -> float:
    try:
        if b"_" in field:
            raise ValueError
        value = float(field)
    except ValueError:
        value = float("nan")
    if value != value or (layout.whole and not value.is_integer()):
        kind = "whole number" if layout.whole else "number"
        raise FormatError(
            source, f"the {layout.value_name} is not a {kind}; correct or remove the line", line=line, text=_text([field])
        )
    return value


def _check_bytes(block: Block, source: str) -> None:
    data = block.data
    if b"\0" in data:
        at = data.index(b"\0")
        remedy = "is this a text file? UTF-16 must be converted to UTF-8"
        raise FormatError(source, f"holds a NUL byte; {remedy}", line=_line_at(block, at), text=_around(data, at))
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise FormatError(
            source,
            "is not UTF-8; convert it (iconv -f latin1 -t utf-8), and the qrels with it, so that ids match",
            line=_line_at(block, error.start),
            text=_around(data, error.start),
        ) from None


def _line_at(block: Block, position: int) -> int:
    return block.first_line + block.data.count(b"\n", 0, position)


def _around(data: bytes, position: int) -> str:
    start = max(data.rfind(b"\n", 0, position) + 1, position - 40)
    return data[start : position + 20].split(b"\n")[0].decode("utf-8", "backslashreplace")


def _text(fields: list[bytes]) -> str:
    return b" ".join(fields[:12])[:200].decode("utf-8", "replace")


def _coded(queries: Ids, code_of: dict[bytes, int]) -> Codes:
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
