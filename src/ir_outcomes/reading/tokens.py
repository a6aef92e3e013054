"""Blocks of lines to columns in whole-array steps: no Python object per line.

A block's white space is found at once; what stands between are the fields. Ids are copied eight bytes at a time, and a number
of at most 15 digits is the quotient of two whole numbers that float64 holds exactly, so that it is rounded as `float` rounds it
(Clinger 1990, "How to read floating point numbers accurately"); other numbers are left to `float` itself.

Nothing is explained here: a block on which anything is wrong is declined, and the plain reader says what it is.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.reading.keys import Ids

__all__ = ["Fields", "fields_of", "ids_of", "numbers_of"]

Ints = npt.NDArray[np.int64]
Words = npt.NDArray[np.uint64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]

_PAD = 24  # bytes on either side of a block, so that words can be taken around every field
_SPACES = b" \n\t\r\v\f"
_ONES = np.uint64(0x0101010101010101)
_ZEROS = np.uint64(0x3030303030303030)  # eight times the digit 0
_HIGH = np.uint64(0x8080808080808080)
# The first and the last n bytes of a word, in the order of memory.
_FIRST = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)
_LAST = ~_FIRST[::-1]
_TENS = 10.0 ** np.arange(16)
_MOST_DIGITS = 15


class Fields(NamedTuple):
    """Where the fields of a block's lines are.

    Attributes
    ----------
    words : (n_bytes,) uint64 array
        The eight bytes from each place of the padded block on.
    starts, ends : (n_lines, n_columns) int64 arrays
        Places in `words`; a field ends before `ends`.
    """

    words: Words
    starts: Ints
    ends: Ints


def fields_of(data: bytes, n_columns: int) -> Fields | None:
    """Find the fields; None where a line that is not blank has another number of them, or a byte belongs into no text."""
    if sys.byteorder != "little":
        return None
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return None
    end = b"" if data.endswith(b"\n") else b"\n"
    padded = b"".join((b"\n" * _PAD, data, end, b"\n" * _PAD))
    buffer = np.frombuffer(padded, dtype=np.uint8)
    spaces = np.flatnonzero(buffer <= 32)
    kinds = buffer[spaces]
    if sum(np.count_nonzero(kinds == each) for each in _SPACES) < len(kinds):  # a control byte
        return None
    found = _regular(spaces, kinds, n_columns) or _irregular(spaces, kinds, n_columns)
    if found is None:
        return None
    words = np.ndarray((len(padded) - 7,), dtype="<u8", buffer=padded, strides=(1,))
    return Fields(words, *found)


def _regular(spaces: Ints, kinds: npt.NDArray[np.uint8], n_columns: int) -> tuple[Ints, Ints] | None:
    """Take the fields where single separators part them and every line ends with a newline, as in nearly every file."""
    inner = spaces[_PAD - 1 : -_PAD]
    ends_line = kinds[_PAD:-_PAD] == 10
    if len(ends_line) % n_columns or np.any(inner[1:] - inner[:-1] < 2):
        return None
    if not ends_line[n_columns - 1 :: n_columns].all() or np.count_nonzero(ends_line) * n_columns != len(ends_line):
        return None
    return (inner[:-1] + 1).reshape(-1, n_columns), inner[1:].reshape(-1, n_columns)


def _irregular(spaces: Ints, kinds: npt.NDArray[np.uint8], n_columns: int) -> tuple[Ints, Ints] | None:
    """Take the fields between any white space, on lines that are blank or have this number of them."""
    before = np.flatnonzero(spaces[1:] - spaces[:-1] > 1)
    if len(before) % n_columns:
        return None
    line = np.cumsum(kinds == 10)[before].reshape(-1, n_columns)
    if np.any(line[:, :-1] != line[:, 1:]) or np.any(line[1:, 0] == line[:-1, 0]):
        return None
    return (spaces[before] + 1).reshape(-1, n_columns), spaces[before + 1].reshape(-1, n_columns)


def ids_of(fields: Fields, column: int, longest: int) -> Ids | None:
    """Copy a column of ids, padded with NUL bytes to a multiple of 8; None where one is longer than `longest`."""
    starts = np.ascontiguousarray(fields.starts[:, column])
    lengths = fields.ends[:, column] - starts
    width = int(lengths.max(initial=1))
    if width > longest:
        return None
    n_words = -(-width // 8)
    ids = np.empty((len(starts), n_words), dtype=np.uint64)
    ids[:, 0] = fields.words[starts] & _FIRST[np.minimum(lengths, 8)]
    for place in range(8, 8 * n_words, 8):
        at = np.minimum(starts + place, len(fields.words) - 1)
        ids[:, place // 8] = fields.words[at] & _FIRST[np.clip(lengths - place, 0, 8)]
    text: Ids = ids.view(f"S{8 * n_words}")[:, 0]
    return text


def numbers_of(fields: Fields, column: int) -> Floats | None:
    """Read a column of numbers as `float` does; None where one is none, or NaN."""
    starts, ends = (np.ascontiguousarray(each[:, column]) for each in (fields.starts, fields.ends))
    is_short = len(starts) > 0 and int((ends - starts).max()) <= 8
    values, read = (_short_numbers if is_short else _long_numbers)(fields.words, starts, ends)
    others = np.flatnonzero(~read)
    if len(others):
        exact = _by_float(fields, column, others)
        if exact is None:
            return None
        values[others] = exact
    return values


def _short_numbers(words: Words, starts: Ints, ends: Ints) -> tuple[Floats, Bools]:
    """Read numbers of up to eight bytes, each from one word, and tell which could be read."""
    lengths = ends - starts
    word = words[ends - 8] & _LAST[lengths]
    first = (word >> (64 - 8 * lengths).astype(np.uint64)) & np.uint64(0xFF)
    is_signed = (first == ord("-")) | (first == ord("+"))
    if is_signed.any():
        lengths = lengths - is_signed
        word &= _LAST[lengths]
    place = _place_of_point(word)
    has_point = place < 8
    n_fraction = np.where(has_point, 7 - place, 0)
    n_digits = lengths - has_point
    # The digits before the point move up to those behind it.
    whole = np.where(has_point, (word & ~_LAST[n_fraction + has_point]) << np.uint64(8), word & ~_LAST[n_fraction])
    digits, read = _eight_digits(whole | (word & _LAST[n_fraction]) | (_ZEROS & ~_LAST[n_digits]))
    values = digits / _TENS[n_fraction]
    return np.where(first == ord("-"), -values, values), read & (n_digits > 0)


def _long_numbers(words: Words, starts: Ints, ends: Ints) -> tuple[Floats, Bools]:
    """Read numbers of up to 15 digits, up to eight of them before the point, and tell which could be read."""
    first = words[starts] & np.uint64(0xFF)
    is_signed = (first == ord("-")) | (first == ord("+"))
    digits = starts + is_signed
    point = _find_point(words, digits, ends)
    n_whole, n_fraction = point - digits, ends - point - (point < ends)
    read = (n_whole <= 8) & (n_whole + n_fraction <= _MOST_DIGITS) & (n_whole + n_fraction > 0)
    n_whole, n_fraction = n_whole * read, n_fraction * read
    values = np.zeros(len(starts))
    power = _TENS[n_fraction]
    for end, length, scale in (
        (point, n_whole, power),
        (ends - 8, np.maximum(n_fraction - 8, 0), 1e8),
        (ends, np.minimum(n_fraction, 8), 1.0),
    ):
        part, fine = _eight_digits(((words[end - 8] ^ _ZEROS) & _LAST[length]) ^ _ZEROS)  # what stands before is 0
        values += part * scale
        read &= fine
    values /= power
    return np.where(first == ord("-"), -values, values), read


def _find_point(words: Words, starts: Ints, ends: Ints) -> Ints:
    """Place of the decimal point among the first nine bytes of each number, or its end."""
    place = _place_of_point(words[starts])
    point = np.where(place < 8, starts + place, ends)
    ninth = np.flatnonzero((place == 8) & (ends - starts > 8))
    after = starts[ninth] + 8
    point[ninth] = np.where((words[after] & np.uint64(0xFF)) == ord("."), after, ends[ninth])
    return np.minimum(point, ends)


def _place_of_point(word: Words) -> Ints:
    """Place, from 0, of the first point among the bytes of each word; 8 where there is none."""
    other = word ^ (_ONES * np.uint64(ord(".")))
    marks = (other - _ONES) & ~other & _HIGH  # the high bit of each byte that is a point; the lowest is exact
    lowest = marks & (~marks + np.uint64(1))
    # A power of two has its exponent as a float.
    place = ((lowest.astype(np.float64).view(np.int64) >> 52) - 1023) >> 3
    return np.where(marks != 0, place, 8)


def _eight_digits(word: Words) -> tuple[Floats, Bools]:
    """Read words of eight digits, and tell whether they are digits."""
    fine = (((word + np.uint64(0x4646464646464646)) | (word - _ZEROS)) & _HIGH) == 0
    # Neighbours are joined: digits to pairs, pairs to fours, fours to eight.
    value = word - _ZEROS
    value = value * np.uint64(10) + (value >> np.uint64(8))
    low, high = value & np.uint64(0x000000FF000000FF), (value >> np.uint64(16)) & np.uint64(0x000000FF000000FF)
    value = (low * np.uint64(0x000F424000000064) + high * np.uint64(0x0000271000000001)) >> np.uint64(32)
    return (value & np.uint64(0xFFFFFFFF)).astype(np.float64), fine


def _by_float(fields: Fields, column: int, rows: npt.NDArray[np.intp]) -> Any:
    """Read some of the numbers one by one."""
    chosen = Fields(fields.words, fields.starts[rows, column][:, None], fields.ends[rows, column][:, None])
    texts = ids_of(chosen, 0, longest=400)
    if texts is None:
        return None
    tokens = texts.tolist()
    if any(b"_" in token for token in tokens):
        return None
    try:
        values = np.array(list(map(float, tokens)))
    except ValueError:
        return None
    return None if np.isnan(values).any() else values
