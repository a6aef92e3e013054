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
_POINTS = np.uint64(0x2E2E2E2E2E2E2E2E)  # eight times the decimal point
_HIGH = np.uint64(0x8080808080808080)
# The first and the last n bytes of a word, in the order of memory.
_FIRST = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)
_LAST = ~_FIRST[::-1]
_TENS = np.array([float(10**n) for n in range(21)])
_MOST_DIGITS = 19  # they fit in 64 bits
_NO_POINT = 64
_EXACT = np.uint64(1 << 53)  # up to here float64 holds all whole numbers


class Fields(NamedTuple):
    """Where the fields of a block's lines are.

    Attributes
    ----------
    words, pairs : (n_bytes,) uint64 and complex128 arrays
        The eight, and the sixteen, bytes from each place of the padded block on.
    before, after : (n_lines, n_columns) int64 arrays
        Places of the white space next to each field.
    """

    words: Words
    pairs: npt.NDArray[np.complex128]
    before: Ints
    after: Ints

    def starts(self, column: int) -> Ints:
        """(n_lines,) array: where the fields of a column start."""
        return self.before[:, column] + 1

    def ends(self, column: int) -> Ints:
        """(n_lines,) array: the places behind them."""
        return np.ascontiguousarray(self.after[:, column])


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
    is_space = buffer <= 32
    spaces = np.flatnonzero(is_space)
    kinds = buffer[spaces]
    if not _all_are_white(kinds):
        return None
    single = not np.any(is_space[_PAD:-_PAD] & is_space[_PAD - 1 : -_PAD - 1])
    found = (_regular(spaces, kinds, n_columns) if single else None) or _irregular(spaces, kinds, n_columns)
    if found is None:
        return None
    return Fields(_windows(padded, np.uint64), _windows(padded, np.complex128), *found)


def _all_are_white(kinds: npt.NDArray[np.uint8]) -> bool:
    """Tell white space from control bytes; the kinds that are frequent come first."""
    left = len(kinds)
    for kind in _SPACES:
        left -= int(np.count_nonzero(kinds == kind))
        if not left:
            return True
    return False


def _windows(data: bytes, kind: Any) -> Any:
    """Read a number from each byte on, without copying."""
    return np.ndarray((len(data) - np.dtype(kind).itemsize + 1,), kind, data, strides=(1,))


def _regular(spaces: Ints, kinds: npt.NDArray[np.uint8], n_columns: int) -> tuple[Ints, Ints] | None:
    """Take the fields where single separators part them and every line ends with a newline, as in nearly every file."""
    inner = spaces[_PAD - 1 : -_PAD]
    ends_line = kinds[_PAD:-_PAD] == 10
    if len(ends_line) % n_columns:
        return None
    if not ends_line[n_columns - 1 :: n_columns].all() or np.count_nonzero(ends_line) * n_columns != len(ends_line):
        return None
    return inner[:-1].reshape(-1, n_columns), inner[1:].reshape(-1, n_columns)


def _irregular(spaces: Ints, kinds: npt.NDArray[np.uint8], n_columns: int) -> tuple[Ints, Ints] | None:
    """Take the fields between any white space, on lines that are blank or have this number of them."""
    before = np.flatnonzero(spaces[1:] - spaces[:-1] > 1)
    if len(before) % n_columns:
        return None
    line = np.cumsum(kinds == 10)[before].reshape(-1, n_columns)
    if np.any(line[:, :-1] != line[:, 1:]) or np.any(line[1:, 0] == line[:-1, 0]):
        return None
    return spaces[before].reshape(-1, n_columns), spaces[before + 1].reshape(-1, n_columns)


def ids_of(fields: Fields, column: int, longest: int) -> Ids | None:
    """Copy a column of ids, padded with NUL bytes to a multiple of 8; None where one is longer than `longest`."""
    starts = fields.starts(column)
    lengths = fields.after[:, column] - starts
    width = int(lengths.max(initial=1))
    if width > longest:
        return None
    n_words = -(-width // 8)
    ids = _words_at(fields, starts, n_words)
    for place in range(n_words):
        ids[:, place] &= _FIRST[np.clip(lengths - 8 * place, 0, 8)]
    text: Ids = ids.view(f"S{8 * n_words}")[:, 0]
    return text


def _words_at(fields: Fields, places: Ints, n_words: int) -> Words:
    """Copy 8 * n_words bytes from each place on; what lies behind the data is not to be looked at."""
    if n_words == 1:
        return fields.words[places][:, None]
    copied = np.empty((len(places), -(-n_words // 2)), dtype=np.complex128)  # the only numbers of 16 bytes
    last = len(fields.pairs) - 1
    for pair in range(copied.shape[1]):
        copied[:, pair] = fields.pairs[np.minimum(places + 16 * pair, last)]
    return np.ascontiguousarray(copied.view(np.uint64)[:, :n_words])


def numbers_of(fields: Fields, column: int) -> Floats | None:
    """Read a column of numbers as `float` does; None where one is none, or NaN."""
    starts, ends = fields.starts(column), fields.ends(column)
    # Mostly all numbers are like the first: with as many decimals, and no sign.
    values, read = _decimals(fields, starts, ends, _form_of(fields, starts[:1], ends[:1]))
    others = np.flatnonzero(~read)
    if len(others):
        rest = starts[others], ends[others]
        values[others], read[others] = _decimals(fields, *rest, _form_of(fields, *rest))
        others = np.flatnonzero(~read)
    if len(others):
        exact = _by_float(fields, column, others)
        if exact is None:
            return None
        values[others] = exact
    return values


class _Form(NamedTuple):
    """How numbers are written: one value for all of them, or one for each.

    Attributes
    ----------
    has_minus : (1,) or (n,) bool array
    n_decimals : (1,) or (n,) int64 array
        How many bytes stand behind the point; `_NO_POINT` where there is none.
    """

    has_minus: Bools
    n_decimals: Ints


def _form_of(fields: Fields, starts: Ints, ends: Ints) -> _Form:
    has_minus = (fields.words[starts] & np.uint64(0xFF)) == ord("-")
    n_decimals = np.full(len(starts), _NO_POINT)
    lengths = ends - starts
    for n_behind in range(0, _MOST_DIGITS + 1, 8):
        unknown = np.flatnonzero((n_decimals == _NO_POINT) & (lengths > n_behind))
        if not len(unknown):
            break
        word = fields.words[ends[unknown] - n_behind - 8] & _LAST[np.minimum(lengths[unknown] - n_behind, 8)]
        place = _place_of_point(word)
        n_decimals[unknown] = np.where(place < 8, n_behind + 7 - place, _NO_POINT)
    n_decimals[n_decimals > _MOST_DIGITS] = _NO_POINT
    return _Form(has_minus, n_decimals)


def _decimals(fields: Fields, starts: Ints, ends: Ints, form: _Form) -> tuple[Floats, Bools]:
    """Read numbers of a form with up to 19 digits and no exponent, and tell which could be read."""
    lengths = ends - starts
    if form.has_minus.any():
        has_minus = (fields.words[starts] & np.uint64(0xFF)) == ord("-")
        lengths -= has_minus
    has_point = form.n_decimals != _NO_POINT
    n_digits = lengths - has_point
    n_decimals = np.where(has_point, form.n_decimals, 0)
    read = (n_digits > 0) & (n_digits >= n_decimals) & (n_digits <= _MOST_DIGITS)
    n_words = -(-min(int(lengths.max(initial=1)), _MOST_DIGITS + 1) // 8)
    words = _words_at(fields, ends - 8 * n_words, n_words)
    number = np.zeros(len(ends), dtype=np.uint64)
    for place in range(n_words):
        n_behind = form.n_decimals - 8 * place
        word, is_point = _without_point(words[:, -1 - place], n_behind)
        if place + 1 < n_words:  # what stands last in the word before it moves in
            word |= np.where(n_behind < 8, words[:, -2 - place] >> np.uint64(56), np.uint64(0))
        digits, fine = _eight_digits(word, np.clip(n_digits - 8 * place, 0, 8))
        number += digits * np.uint64(10 ** (8 * place))
        read &= fine & is_point
    values, exact = _quotients(number, n_decimals)
    return (np.where(has_minus, -values, values) if form.has_minus.any() else values), read & exact


def _without_point(word: Words, n_behind: Ints) -> tuple[Words, Bools]:
    """Move up by one byte what stands before the point, and tell whether it is one.

    There is nothing to move, and to tell, where the point stands before the word; where behind it, all moves.
    """
    behind, from_point = _LAST[np.clip(n_behind, 0, 8)], _LAST[np.clip(n_behind + 1, 0, 8)]
    is_point = (word ^ _POINTS) & (from_point & ~behind) == 0
    return (word & behind) | ((word & ~from_point) << np.uint64(8)), is_point


def _place_of_point(word: Words) -> Ints:
    """Place, from 0, of the first point among the bytes of each word; 8 where there is none."""
    other = word ^ _POINTS
    marks = (other - _ONES) & ~other & _HIGH  # the high bit of each byte that is a point; the lowest is exact
    lowest = marks & (~marks + np.uint64(1))
    # A power of two has its exponent as a float.
    place = ((lowest.astype(np.float64).view(np.int64) >> 52) - 1023) >> 3
    return np.where(marks != 0, place, 8)


def _eight_digits(word: Words, n: Ints) -> tuple[Words, Bools]:
    """Read the last n bytes of each word as a whole number, and tell whether they are digits."""
    value = (word ^ _ZEROS) & _LAST[n]
    fine = (((value + np.uint64(0x7676767676767676)) | value) & _HIGH) == 0
    # Neighbours are joined: digits to pairs, pairs to fours, fours to eight.
    value = value * np.uint64(10) + (value >> np.uint64(8))
    low, high = value & np.uint64(0x000000FF000000FF), (value >> np.uint64(16)) & np.uint64(0x000000FF000000FF)
    return (low * np.uint64(0x000F424000000064) + high * np.uint64(0x0000271000000001)) >> np.uint64(32), fine


def _quotients(number: Words, n_decimals: Ints) -> tuple[Floats, Bools]:
    """Divide by powers of ten with correct rounding, and tell where it could not be made sure."""
    high, power = number.astype(np.float64), _TENS[n_decimals]
    values = high / power
    sure = np.ones(len(number), dtype=bool)
    large = np.flatnonzero(number > _EXACT)
    if len(large):
        low = (number[large] - high[large].astype(np.uint64)).view(np.int64).astype(np.float64)
        power = np.broadcast_to(power, len(number))[large]
        values[large], sure[large] = _corrected(values[large], high[large], low, power)
    return values, sure


def _corrected(quotient: Floats, high: Floats, low: Floats, power: Floats) -> tuple[Floats, Bools]:
    """Correct high / power to (high + low) / power; not sure where that is next to the middle of two floats."""
    product = quotient * power
    (a, b), (c, d) = _halves(quotient), _halves(power)
    remainder = (high - product) - (((a * c - product) + a * d + b * c) + b * d) + low
    correction = remainder / power
    values = quotient + correction
    left = correction - (values - quotient)
    is_power_of_two = np.frexp(values)[0] == 0.5  # the floats below are nearer than those above
    return values, (np.abs(left) < (0.5 - 1e-9) * np.spacing(values)) & ~is_power_of_two


def _halves(value: Floats) -> tuple[Floats, Floats]:
    """Split floats in two of half the digits, whose products are exact (Dekker 1971)."""
    scaled = value * (2.0**27 + 1)
    high = scaled - (scaled - value)
    return high, value - high


def _by_float(fields: Fields, column: int, rows: npt.NDArray[np.intp]) -> Any:
    """Read some of the numbers one by one."""
    chosen = fields._replace(before=fields.before[rows, column][:, None], after=fields.after[rows, column][:, None])
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
