"""Columns of codes, document ids and values, which is what files and objects become."""

import hashlib
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import FormatError
from ir_outcomes.types import Bools, Floats, Ints

Ids = np.ndarray[Any, np.dtype[np.bytes_]]
Codes = npt.NDArray[np.int32]
Keys = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.intp]

# Chosen at random by every process, so that nobody can prepare ids whose keys collide, which would
# cost quadratic time. No result depends on it: equal keys only select the pairs that are then
# compared themselves.
SALT = secrets.randbits(64)


def pair_keys(codes: Codes, docids: Ids, seed: int = SALT) -> Keys:
    """Hash each (query code, document id) pair: a sum over the id's 8-byte words, modulo 2**64."""
    # Words of NUL bytes add nothing, so that ids in arrays of different widths, as those of runs
    # and qrels, get the same keys.
    words = words_of(docids)
    multipliers = np.random.PCG64(seed).random_raw(2 * words.shape[1] + 1) | np.uint64(1)
    keys: Keys = codes.astype(np.uint64) * multipliers[0]
    for column, first, second in zip(words.T, multipliers[1::2], multipliers[2::2], strict=True):
        mixed = column * first
        # A product carries upwards only. Without this step, words that differ in their last bytes
        # (the high bits of a little-endian word), as document ids often do, would give keys that
        # differ in few bits.
        mixed ^= mixed >> np.uint64(32)
        keys += mixed * second
    return keys


def repeated(codes: Codes, docids: Ids) -> tuple[Rows, Rows]:
    """Find the rows whose (query, document) pair is that of an earlier row, and these earlier rows."""
    keys = pair_keys(codes, docids)
    ordered = np.sort(keys)
    twice = ordered[1:][ordered[1:] == ordered[:-1]]
    rows: list[int] = []
    firsts: list[int] = []
    first_of: dict[tuple[int, bytes], int] = {}
    # Equal keys can be those of unequal pairs.
    for row in np.flatnonzero(np.isin(keys, twice)).tolist() if len(twice) else ():
        first = first_of.setdefault((codes[row], docids[row]), row)
        if first != row:
            rows.append(row)
            firsts.append(first)
    return np.array(rows, dtype=np.intp), np.array(firsts, dtype=np.intp)


def words_of(docids: Ids) -> Keys:
    """View ids as (n, n_words) 64-bit words."""
    return docids.view(np.uint64).reshape(len(docids), docids.dtype.itemsize // 8)


LONGEST_ID = 1000  # bytes
_LARGEST_WHOLE = 1_000_000_000

LineOf = Callable[[int], int | None]


def unknown_line(row: int) -> int | None:
    """Tell no line, where rows have none."""
    return None


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows of a run or of qrels, in the order of the input."""

    source: str  # what messages call the input
    query_ids: list[str]  # in order of first appearance
    codes: Codes  # (n,), index into the queries
    docids: Ids  # (n,), UTF-8, padded with NUL to a multiple of 8 bytes
    values: Floats  # (n,), never NaN
    value_name: str  # "score", "rank" or "grade"
    line_of: LineOf = unknown_line

    def named(self, row: int) -> str:
        """Name the query and the document of a row, for messages."""
        return f"document {self.docids[row].decode()} of query {self.query_ids[self.codes[row]]}"

    def error(self, row: int, problem: str, text: str | None = None) -> FormatError:
        """Make the error that states what is wrong with a row, with its line."""
        return FormatError(self.source, problem, line=self.line_of(row), text=text)

    def refuse_fractions(self) -> None:
        """Refuse ranks and grades that are not whole numbers."""
        wrong = np.flatnonzero(
            ~((self.values == np.floor(self.values)) & (np.abs(self.values) <= _LARGEST_WHOLE))
        )
        if len(wrong):
            row = int(wrong[0])
            problem = (
                f"{self.named(row)}: a {self.value_name} must be a whole number of at most"
                f" {_LARGEST_WHOLE:,}"
            )
            raise self.error(
                row, f"{problem}; are these the scores of a run?", str(self.values[row])
            )

    def select(self, rows: Bools) -> Self:
        """Return only the rows that are marked; the queries stay."""
        places = np.flatnonzero(rows)
        return replace(
            self,
            codes=self.codes[rows],
            docids=self.docids[rows],
            values=self.values[rows],
            line_of=lambda row: self.line_of(int(places[row])),
        )


def grouped(columns: Columns) -> tuple[Ints, Ids, Floats]:
    """Bring the rows of each query together, in the input's order within a query."""
    counts = np.bincount(columns.codes, minlength=len(columns.query_ids))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    docids = columns.docids
    values = columns.values
    if np.any(columns.codes[1:] < columns.codes[:-1]):
        order = np.argsort(columns.codes, kind="stable")
        docids = docids[order]
        values = values[order]
    return offsets, docids, values


def nested_dict(
    query_ids: Iterable[str], offsets: Ints, docids: Ids, values: npt.NDArray[Any]
) -> dict[str, dict[str, Any]]:
    """Return ``{query id: {document id: value}}`` of rows as `grouped` returns them."""
    documents = [identifier.decode() for identifier in docids.tolist()]
    numbers = values.tolist()
    spans = pairwise(offsets.tolist())
    return {
        query: dict(zip(documents[start:end], numbers[start:end], strict=True))
        for query, (start, end) in zip(query_ids, spans, strict=True)
    }


def digest_of(query_ids: Iterable[str], *arrays: npt.NDArray[Any]) -> str:
    """Hash queries and arrays; equal where their content is the same."""
    content = hashlib.sha256("\n".join(query_ids).encode())
    for array in arrays:
        content.update(array.tobytes())
    return content.hexdigest()[:32]


def as_ids(ids: Sequence[bytes] | Ids) -> Ids:
    """Make an id array whose width is a multiple of 8, so that ids can be read as 64-bit words."""
    array = np.asarray(ids, dtype=np.bytes_)
    width = -(-max(array.dtype.itemsize, 1) // 8) * 8
    return np.ascontiguousarray(array, dtype=f"S{width}")
