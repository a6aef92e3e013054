"""Columns of codes, document ids and values: the form that all files and objects are brought to."""

from __future__ import annotations

import hashlib
import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import FormatError
from ir_outcomes.types import Bools, Floats, Ints

Ids = np.ndarray[Any, np.dtype[np.bytes_]]
Codes = npt.NDArray[np.int32]
Keys = npt.NDArray[np.uint64]
Rows = npt.NDArray[np.intp]

_STRETCH = 1 << 15  # rows
_MOST_SLOTS = 22  # bits: what finds rows without sorting stays small whatever the number of rows
# Chosen at random by every process, so that nobody can prepare ids whose keys collide, which would cost quadratic time. No
# result depends on it: equal keys only select the pairs that are then compared themselves.
_SALT = secrets.randbits(64)


def pair_keys(codes: Codes, docids: Ids, attempt: int = 0) -> Keys:
    """Hash each (query code, document id) pair: a sum over the id's 8-byte words, modulo 2**64."""
    # Words of NUL bytes add nothing, so that ids in arrays of different widths, as those of runs and qrels, get the same keys.
    words = words_of(docids)
    random = np.random.default_rng((_SALT, attempt))
    multipliers = random.integers(0, 2**64, size=2 * words.shape[1] + 1, dtype=np.uint64) | np.uint64(1)
    keys: Keys = codes.astype(np.uint64) * multipliers[0]
    for column, first, second in zip(words.T, multipliers[1::2], multipliers[2::2], strict=True):
        mixed = column * first
        # A product carries upwards only. Without this step, words that differ in their last bytes (the high bits of a
        # little-endian word), as document ids often do, would give keys that differ in few bits.
        mixed ^= mixed >> np.uint64(32)
        keys += mixed * second
    return keys


def repeated(codes: Codes, docids: Ids) -> tuple[Rows, Rows]:
    """Find the rows whose (query, document) pair is that of an earlier row."""
    rows, firsts = [np.empty(0, dtype=np.intp)], [np.empty(0, dtype=np.intp)]
    for start, end in _stretches(codes):
        keys = pair_keys(codes[start:end], docids[start:end])
        suspect = _sharing_a_slot(keys)
        ordered = np.sort(keys[suspect])
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(twice):
            if 2 * len(twice) < len(suspect):  # otherwise most rows repeat others, and selecting them would only take memory
                suspect = suspect[np.isin(keys[suspect], twice)]
            del keys, ordered, twice
            found, originals = _equal_pairs(codes, docids, suspect + start)
            rows.append(found)
            firsts.append(originals)
    return np.concatenate(rows), np.concatenate(firsts)


def _equal_pairs(codes: Codes, docids: Ids, rows: Rows) -> tuple[Rows, Rows]:
    """Compare the pairs of these rows themselves: equal keys can be those of unequal pairs."""
    words = words_of(docids[rows])
    order = np.lexsort((*words.T, codes[rows]))  # stable, so that the first of equal pairs is the first row
    ordered, words = rows[order], words[order]
    same = codes[ordered[1:]] == codes[ordered[:-1]]
    for word in words.T:
        same &= word[1:] == word[:-1]
    is_new = np.concatenate([[True], ~same])
    first = ordered[np.maximum.accumulate(np.where(is_new, np.arange(len(ordered)), 0))]
    again = np.flatnonzero(~is_new)
    again = again[np.argsort(ordered[again])]
    return ordered[again], first[again]


def words_of(docids: Ids) -> Keys:
    """View ids as (n, n_words) 64-bit words."""
    return docids.view(np.uint64).reshape(len(docids), docids.dtype.itemsize // 8)


def _sharing_a_slot(keys: Keys) -> Rows:
    """Find the rows whose key has the same first bits as another one: all equal keys and few others, without sorting."""
    bits = min(len(keys).bit_length() + 4, _MOST_SLOTS)
    slots = (keys >> np.uint64(64 - bits)).view(np.int64)
    rows = np.arange(len(keys), dtype=np.int32)
    last = np.empty(1 << bits, dtype=np.int32)  # uninitialized: only slots that were written to are read
    last[slots] = rows
    overwritten = last[slots] != rows
    last[slots[overwritten]] = -1
    return np.flatnonzero(overwritten | (last[slots] < 0))


def _stretches(codes: Codes) -> Iterator[tuple[int, int]]:
    """Divide the rows at the ends of queries, if the rows of each query are contiguous: the working set then stays small."""
    if np.any(codes[1:] < codes[:-1]):
        yield 0, len(codes)
        return
    start = 0
    while start < len(codes):
        last = codes[min(start + _STRETCH, len(codes)) - 1]
        end = int(np.searchsorted(codes, last, side="right"))
        yield start, end
        start = end


class Layout(NamedTuple):
    """Which column of a line contains what."""

    columns: int
    query: int
    document: int
    value: int
    value_name: str  # "score", "rank" or "grade"; ranks and grades are whole numbers
    separator: bytes | None = None  # None is any white space


LONGEST_ID = 1000  # bytes
_LARGEST_WHOLE = 1_000_000_000
_SURROGATES = re.compile("[\ud800-\udfff]")
_NO_NUMBERS = (str, bytes, bool, np.bool_, np.complexfloating)


LineOf = Callable[[int], int | None]


def _unknown_line(row: int) -> int | None:
    return None


def _by_number(row: int) -> str:
    return f"row {row + 1}"


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows of a run or of qrels, in the order of the input."""

    source: str  # what messages call the input
    query_ids: list[str]  # in order of first appearance
    codes: Codes  # (n,), index into the queries
    docids: Ids  # (n,), UTF-8, padded with NUL to a multiple of 8 bytes
    values: Floats  # (n,), never NaN
    value_name: str  # "score", "rank" or "grade"
    line_of: LineOf = _unknown_line

    def named(self, row: int) -> str:
        """Name the query and the document of a row, for messages."""
        return f"document {self.docids[row].decode()} of query {self.query_ids[self.codes[row]]}"

    def error(self, row: int, problem: str, text: str | None = None) -> FormatError:
        """Make the error that states what is wrong with a row, with its line."""
        return FormatError(self.source, problem, line=self.line_of(row), text=text)

    def refuse_fractions(self) -> None:
        """Refuse ranks and grades that are not whole numbers."""
        wrong = np.flatnonzero(~((self.values == np.floor(self.values)) & (np.abs(self.values) <= _LARGEST_WHOLE)))
        if len(wrong):
            row = int(wrong[0])
            problem = f"{self.named(row)}: a {self.value_name} must be a whole number of at most {_LARGEST_WHOLE:,}"
            raise self.error(row, f"{problem}; are these the scores of a run?", str(self.values[row]))

    def select(self, rows: Bools) -> Columns:
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
    docids, values = columns.docids, columns.values
    if np.any(columns.codes[1:] < columns.codes[:-1]):
        order = np.argsort(columns.codes, kind="stable")
        docids, values = docids[order], values[order]
    return offsets, docids, values


def nested_dict(query_ids: Iterable[str], offsets: Ints, docids: Ids, values: npt.NDArray[Any]) -> dict[str, dict[str, Any]]:
    """Return ``{query id: {document id: value}}`` of rows as `grouped` returns them."""
    documents, numbers = [identifier.decode() for identifier in docids.tolist()], values.tolist()
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


def texts(ids: list[Any], source: str, what: str, line_of: LineOf = _unknown_line) -> list[str]:
    """Check ids and return them as text: whole numbers become decimals, all other types are refused."""

    def refuse(row: int, problem: str) -> None:
        line, found = line_of(row), ids[row]
        where = _by_number(row) + ": " if line is None else ""
        text = found if isinstance(found, str) else repr(found)
        raise FormatError(source, f"{where}a {what} {problem}", line=line, text=text)

    kinds = set(map(type, ids)) - {str}
    if not all(map(_is_of_ids, kinds)):
        row = next(row for row, identifier in enumerate(ids) if not _is_of_ids(type(identifier)))
        refuse(row, f"must be text or a whole number, not {type(ids[row]).__name__}; convert it to str first")
    ids = list(map(str, ids)) if kinds else ids
    joined = "".join(ids)
    if "" in ids or "\0" in joined or (not joined.isascii() and _SURROGATES.search(joined)):
        row = next(row for row, text in enumerate(ids) if not text or "\0" in text or _SURROGATES.search(text))
        # Surrogates come from bytes that were decoded wrongly; no file or terminal can contain them.
        refuse(row, "is empty, has a NUL character, or cannot be encoded in UTF-8; correct or remove it")
    return ids


def _is_of_ids(kind: type) -> bool:
    return issubclass(kind, (str, int, np.integer)) and not issubclass(kind, bool)


def checked_columns(source: str, rows: Sequence[list[Any]], value_name: str, line_of: LineOf = _unknown_line) -> Columns:
    """Check queries, documents and values, and return them as columns."""
    queries, documents, values = rows
    query_ids, codes = coded(queries, source, line_of)
    columns = Columns(source, query_ids, codes, encoded(documents, source, line_of), np.zeros(0), value_name, line_of)
    return replace(columns, values=numbers(values, source, columns.named, line_of))


def coded(queries: list[Any], source: str, line_of: LineOf = _unknown_line) -> tuple[list[str], Codes]:
    """Number the queries in order of first appearance."""
    ids = texts(queries, source, "query id", line_of)
    code_of = {query: code for code, query in enumerate(dict.fromkeys(ids))}
    return list(code_of), np.fromiter(map(code_of.__getitem__, ids), np.int32, len(ids))


def encoded(documents: list[Any], source: str, line_of: LineOf = _unknown_line) -> Ids:
    """Check document ids and return them as `Columns` has them."""
    ids = texts(documents, source, "document id", line_of)
    array: Any
    try:
        array = np.array(ids, dtype=np.bytes_) if ids else []  # fails for text that is not ASCII
    except UnicodeEncodeError:
        array = [identifier.encode() for identifier in ids]
    result = as_ids(array)
    if result.dtype.itemsize > LONGEST_ID:  # longer than any document id: the input is something else
        longest = int(np.argmax(np.char.str_len(result)))
        problem = f"a document id is longer than {LONGEST_ID} bytes; is this a run or qrels?"
        raise FormatError(source, problem, line=line_of(longest), text=result[longest].decode("utf-8", "replace"))
    return result


def numbers(
    values: list[Any] | npt.NDArray[Any],
    source: str,
    named: Callable[[int], str] = _by_number,
    line_of: LineOf = _unknown_line,
) -> Floats:
    """Check values and return them as float64."""
    result = _as_floats(values)
    if result is None:
        row = next(row for row, value in enumerate(values) if _as_floats([value]) is None)
        problem = f"{named(row)}: a score or grade must be a number"
        raise FormatError(source, problem, line=line_of(row), text=repr(values[row]))
    missing = np.isnan(result)
    if missing.any():
        row = int(np.argmax(missing))
        problem = f"{named(row)} has no score or grade (NaN); remove or correct it"
        raise FormatError(source, problem, line=line_of(row))
    return result


def _as_floats(values: list[Any] | npt.NDArray[Any]) -> Floats | None:
    """Return a list, or an array of numbers, as float64; None where a value is not a real number."""
    # NumPy would parse text, take truth for 1, and drop the imaginary part of its own complex numbers.
    if isinstance(values, list) and any(issubclass(kind, _NO_NUMBERS) for kind in set(map(type, values))):
        return None
    try:
        result = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return result if result.ndim == 1 else None
