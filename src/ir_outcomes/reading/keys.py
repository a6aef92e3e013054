"""64-bit keys of (query, document) pairs: how documents are matched without a Python object per line."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Ids = np.ndarray[Any, np.dtype[np.bytes_]]
Codes = npt.NDArray[np.int32]
Keys = npt.NDArray[np.uint64]

_STRETCH = 1 << 15  # rows
_MOST_SLOTS = 22  # bits: what finds rows without sorting stays small whatever the number of rows


def pair_keys(codes: Codes, docids: Ids, salt: int = 0) -> Keys:
    """Hash each (query code, document id) pair: a sum over the id's 8-byte words, modulo 2**64.

    A shorter id array gives the same keys as one padded with NUL bytes, so runs and qrels need no common width.

    Parameters
    ----------
    codes : (n,) int32 array
        Query of each row.
    docids : (n,) bytes array
        Document of each row; contiguous, the width a multiple of 8 (see `ir_outcomes.reading.columns.as_ids`).
    salt : int
        Chooses the multipliers: equal keys for unequal pairs go away under another salt.
    """
    words = docids.view(np.uint64).reshape(len(docids), docids.dtype.itemsize // 8)
    multipliers = np.random.default_rng(salt).integers(0, 2**64, size=2 * words.shape[1] + 1, dtype=np.uint64) | np.uint64(1)
    keys: Keys = codes.astype(np.uint64) * multipliers[0]
    for column, first, second in zip(words.T, multipliers[1::2], multipliers[2::2], strict=True):
        mixed = column * first
        mixed ^= mixed >> np.uint64(32)  # else words that differ in their last bytes only would differ in few bits of the key
        keys += mixed * second
    return keys


def repeated(codes: Codes, docids: Ids) -> npt.NDArray[np.intp]:
    """Find the rows whose (query, document) pair stands in more than one row; in row order."""
    rows: dict[tuple[int, bytes], list[int]] = {}
    for start, end in _stretches(codes):
        keys = pair_keys(codes[start:end], docids[start:end])
        suspect = _sharing_a_slot(keys)
        ordered = np.sort(keys[suspect])
        twice = ordered[1:][ordered[1:] == ordered[:-1]]
        if len(twice):
            for row in (suspect[np.isin(keys[suspect], twice)] + start).tolist():
                rows.setdefault((int(codes[row]), bytes(docids[row])), []).append(row)
    return np.array(sorted(row for same in rows.values() if len(same) > 1 for row in same), dtype=np.intp)


def _sharing_a_slot(keys: Keys) -> npt.NDArray[np.intp]:
    """Find the rows whose key falls into the same slot of a table as another's: equal keys and few others, without sorting."""
    bits = min(len(keys).bit_length() + 4, _MOST_SLOTS)
    slots = (keys >> np.uint64(64 - bits)).view(np.int64)
    rows = np.arange(len(keys), dtype=np.int32)
    last = np.empty(1 << bits, dtype=np.int32)  # only slots that were written to are read
    last[slots] = rows
    others = last[slots] != rows
    last[slots[others]] = -1
    return np.flatnonzero(others | (last[slots] < 0))


def _stretches(codes: Codes) -> Iterator[tuple[int, int]]:
    """Cut the rows where a query ends, if each query's rows stand together: what is looked at then stays small."""
    if np.any(codes[1:] < codes[:-1]):
        yield 0, len(codes)
        return
    start = 0
    while start < len(codes):
        last = codes[min(start + _STRETCH, len(codes)) - 1]
        end = int(np.searchsorted(codes, last, side="right"))
        yield start, end
        start = end
