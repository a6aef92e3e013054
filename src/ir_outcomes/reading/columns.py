"""Columns of codes, document ids and values: what files and objects become."""

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ir_outcomes.choices import Floats, Ints
from ir_outcomes.errors import FormatError

Ids = np.ndarray[Any, np.dtype[np.bytes_]]  # or of objects, see `as_ids`
Codes = npt.NDArray[np.int32]
Rows = npt.NDArray[np.intp]

LONGEST_ID = 1000  # bytes
_WIDEST = 96  # bytes of an id in an array without objects
LARGEST_WHOLE = 1_000_000_000
_FACTOR = np.uint64(0x9E3779B97F4A7C15)  # odd, so that products of 64 bits differ
_STRETCH = 1 << 15  # rows at a time, so that not all ids are objects of Python at once

LineOf = Callable[[int], int | None]


def unknown_line(row: int) -> int | None:
    """Tell no line, where rows have none."""
    return None


class Texts(NamedTuple):
    """The texts that come along in a file, by id."""

    queries: dict[str, str]
    documents: dict[str, str]


class Titles(NamedTuple):
    """The titles of the columns, or keys of objects, that hold what is read."""

    query: str
    document: str
    value: str | None  # None where the position in a list is the value
    rank: str | None  # beside a score
    value_name: str  # "score", "rank" or "grade"


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows of a run or of qrels, in the order of the input."""

    source: str  # what messages call the input
    query_ids: list[str]  # in order of first appearance
    codes: Codes  # (n,), index into the queries
    docids: Ids  # (n,), UTF-8
    values: Floats  # (n,), never NaN
    value_name: str  # "score", "rank" or "grade"
    line_of: LineOf = unknown_line
    ranks: Floats | None = None  # (n,), beside scores; NaN where a row has none
    titles: Titles | None = None  # None where the input has none
    form: str = ""  # of the file
    texts: Texts = field(default_factory=lambda: Texts({}, {}))

    def names(self, row: int) -> tuple[str, str]:
        """Return the query and the document of a row."""
        return self.query_ids[self.codes[row]], self.docids[row].decode()

    def described(self, row: int) -> str:
        """Name the query and the document of a row, for messages."""
        query, document = self.names(row)
        return f"document {document} of query {query}"

    def error(self, row: int, problem: str, text: str | None = None) -> FormatError:
        """Make the error that states what is wrong with a row, with its line."""
        return FormatError(self.source, problem, line=self.line_of(row), text=text)

    def refuse_fractions(self) -> None:
        """Refuse ranks and grades that are not whole numbers."""
        is_whole = (self.values == np.floor(self.values)) & (np.abs(self.values) <= LARGEST_WHOLE)
        if not is_whole.all():
            row = int(np.argmin(is_whole))
            problem = (
                f"{self.described(row)}: a {self.value_name} must be a whole number of at most"
                f" {LARGEST_WHOLE:,}; are these the scores of a run?"
            )
            raise self.error(row, problem, str(self.values[row]))

    def select(self, rows: Rows) -> Self:
        """Return these rows only, in this order, and all queries."""
        return replace(
            self,
            codes=self.codes[rows],
            docids=self.docids[rows],
            values=self.values[rows],
            ranks=None if self.ranks is None else self.ranks[rows],
            line_of=lambda row: self.line_of(int(rows[row])),
        )

    def grouped(self) -> Self:
        """Bring the rows of each query together, in the input's order within a query."""
        if np.all(self.codes[1:] >= self.codes[:-1]):
            return self
        return self.select(np.argsort(self.codes, kind="stable"))

    def by_rank(self) -> Self | None:
        """Bring the rows of each query into the order of their ranks, None without any."""
        grouped = self.grouped()
        if grouped.ranks is None or np.isnan(grouped.ranks).any():
            return None
        follows = grouped.ranks[1:] > grouped.ranks[:-1]
        if np.all(follows | (grouped.codes[1:] != grouped.codes[:-1])):
            return grouped
        return grouped.select(np.lexsort((-grouped.values, grouped.ranks, grouped.codes)))

    def changes(self, compare: np.ufunc) -> Ints:
        """Count in each query the rows whose value compares so with the previous one."""
        changed = compare(self.values[1:], self.values[:-1]) & (self.codes[1:] == self.codes[:-1])
        return np.bincount(self.codes[1:][changed], minlength=len(self.query_ids))

    @property
    def offsets(self) -> Ints:
        """Where the rows of each query begin and end, once they are grouped."""
        counts = np.bincount(self.codes, minlength=len(self.query_ids))
        return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)


def lists(offsets: Ints, items: npt.NDArray[Any], order: Ints | None = None) -> Iterator[list[Any]]:
    """Yield the items of each query, in an order of the rows."""
    for begin, end in _stretches(offsets):
        rows = slice(offsets[begin], offsets[end])
        listed = (items[rows] if order is None else items[order[rows]]).tolist()
        for start, stop in pairwise((offsets[begin : end + 1] - offsets[begin]).tolist()):
            yield listed[start:stop]


def _stretches(offsets: Ints) -> Iterator[tuple[int, int]]:
    """Yield the first and the last query of stretches of rows."""
    steps = np.searchsorted(offsets, np.arange(0, offsets[-1], _STRETCH), side="right")
    return pairwise([0, *np.unique(steps).tolist(), len(offsets) - 1])


def repeated(offsets: Ints, items: npt.NDArray[Any]) -> Rows:
    """Find the rows whose item stands earlier in the rows of the same query."""
    again: list[int] = []
    for begin, end in _stretches(offsets):
        parts = offsets[begin : end + 1]
        listed = items[parts[0] : parts[-1]]
        if items.dtype.kind == "S" and _all_differ(parts, listed):
            continue
        start = int(parts[0])
        for of_query in lists(parts - start, listed):
            present: dict[Any, int] = {}
            rows = enumerate(of_query, start)
            again += [row for row, item in rows if present.setdefault(item, row) != row]
            start += len(of_query)
    return np.array(again, dtype=np.intp)


def _all_differ(offsets: Ints, ids: Ids) -> bool:
    """Return whether all hashes of queries and ids differ."""
    hashes = np.repeat(np.arange(len(offsets) - 1, dtype=np.uint64), np.diff(offsets))
    for words in words_of(np.ascontiguousarray(ids)).T:
        hashes = (hashes ^ words) * _FACTOR
        hashes ^= hashes >> np.uint64(32)
    hashes.sort()
    return not np.any(hashes[1:] == hashes[:-1])


def nested_dict(
    query_ids: Iterable[str], offsets: Ints, docids: Ids, values: npt.NDArray[Any]
) -> dict[str, dict[str, Any]]:
    """Return ``{query id: {document id: value}}`` of grouped rows."""
    rankings = zip(query_ids, lists(offsets, docids), lists(offsets, values), strict=True)
    return {
        query: dict(zip(map(bytes.decode, documents), numbers, strict=True))
        for query, documents, numbers in rankings
    }


def digest_of(query_ids: Iterable[str], *arrays: npt.NDArray[Any]) -> str:
    """Hash queries and arrays, so that equal content has equal digests."""
    content = hashlib.sha256("\n".join(query_ids).encode())
    for array in arrays:
        is_numeric = array.dtype.kind in "if"
        content.update(array.tobytes() if is_numeric else b"\0".join(array.tolist()))
    return content.hexdigest()[:32]


def as_ids(ids: Sequence[bytes]) -> Ids:
    """Make an array of ids, padded with NUL to a multiple of 8 bytes.

    Each takes as much space as the longest, so that they are objects where one is long.
    """
    width = -(-max(map(len, ids), default=1) // 8) * 8
    return np.array(ids, dtype=f"S{width}" if width <= _WIDEST else object)


def without_padding(ids: Ids) -> Ids:
    """Leave out the words that no id needs, and make long ids objects."""
    words = words_of(np.ascontiguousarray(ids))
    width = 8 * (int(np.flatnonzero(words.any(axis=0)).max(initial=0)) + 1)
    narrow: Ids = np.ascontiguousarray(words[:, : width // 8]).view(f"S{width}")[:, 0]
    return narrow if width <= _WIDEST else narrow.astype(object)


def words_of(docids: Ids) -> npt.NDArray[np.uint64]:
    """View ids as (n, n_words) 64-bit words."""
    return docids.view(np.uint64).reshape(len(docids), docids.dtype.itemsize // 8)
