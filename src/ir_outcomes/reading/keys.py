"""64-bit keys of (query, document) pairs: how documents are matched without a Python object for each line."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

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
    """Hash each (query code, document id) pair: a sum over the id's 8-byte words, modulo 2**64.

    An id array gives the same keys as a wider one, padded with NUL bytes, so runs and qrels need no common width.

    Parameters
    ----------
    codes : (n,) int32 array
        Query of each row.
    docids : (n,) bytes array
        Document of each row; contiguous, the width a multiple of 8 (see `ir_outcomes.reading.columns.as_ids`).
    attempt : int
        Chooses the multipliers: unequal pairs with equal keys get different ones in another attempt.
    """
    words = _words(docids)
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
    """Find the rows whose (query, document) pair is that of an earlier row.

    Returns
    -------
    rows, firsts : (m,) int arrays
        The rows, ascending; and for each the first row with the same pair.
    """
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
    words = _words(docids[rows])
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


def _words(docids: Ids) -> Keys:
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
