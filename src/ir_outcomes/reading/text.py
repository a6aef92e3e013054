"""Text files of white-space-separated fields: whole-array steps, and a plain reader for unusual files."""

import csv
import os
import sys
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import FormatError
from ir_outcomes.formatting import plural
from ir_outcomes.reading.columns import LONGEST_ID, Codes, Columns, Ids, as_ids, words_of
from ir_outcomes.reading.files import STDIN, Block, blocks, check_bytes, nonblank, problem_in
from ir_outcomes.reading.forms import Layout
from ir_outcomes.types import Bools, Floats, Ints

Words = npt.NDArray[np.uint64]

# Newlines on either side of a block: the word of 8 bytes that ends with a number can begin before
# the block, and the last word of an id can end behind it.
_PAD = 8
_ZEROS = np.uint64(0x3030303030303030)  # eight times the digit 0
_HIGH = np.uint64(0x8080808080808080)
# The first and the last n bytes of a word, in the order of memory.
# They are built for little-endian machines; `fields_of` declines on others.
_FIRST = np.array([(1 << 8 * n) - 1 for n in range(9)], dtype=np.uint64)
_LAST = ~_FIRST[::-1]
_MOST_DECIMALS = 7  # with 8 digits before the point less than 2**53, and so exact as a float


class Fields(NamedTuple):
    """Where the fields of a block's lines are."""

    data: bytes  # the padded block
    words: Words  # (n_bytes,), the 8 bytes that begin at each position; they overlap, and are not copied
    before: Ints  # (n_lines, n_columns), positions of the white space before each field
    after: Ints  # the same behind it


def fields_of(data: bytes, n_columns: int) -> Fields | None:
    """Find the fields; None where a line that is not blank has another number of them, or a byte is not one of a text."""
    if sys.byteorder != "little":
        return None
    if not data.isascii() and problem_in(data) is not None:
        return None
    end = b"" if data.endswith(b"\n") else b"\n"
    padded = b"".join((b"\n" * _PAD, data, end, b"\n" * _PAD))
    buffer = np.frombuffer(padded, dtype=np.uint8)
    is_space = buffer <= 32  # the space and all control characters; the latter are told apart below
    spaces = np.flatnonzero(is_space)
    kinds = buffer[spaces]
    # A NUL byte would disappear from the end of an id, and the plain reader takes other control
    # characters as part of an id. White space is 9 to 13 and 32; as unsigned bytes, what follows 13
    # begins at 0, and what is below 14 ends at 255.
    if kinds.min(initial=9) < 9 or (kinds - np.uint8(14)).min(initial=18) < 18:
        return None
    single = not np.any(is_space[_PAD:-_PAD] & is_space[_PAD - 1 : -_PAD - 1])
    # Where single separators stand between all fields, as in nearly every file, positions need no
    # further search.
    found = (_regular(spaces, kinds, n_columns) if single else None) or _irregular(
        spaces, kinds, n_columns
    )
    if found is None:
        return None
    # The data as numbers that begin at every byte, without copying.
    words: Words = np.ndarray((len(padded) - 7,), np.uint64, padded, strides=(1,))
    return Fields(padded, words, *found)


def _regular(
    spaces: Ints, kinds: npt.NDArray[np.uint8], n_columns: int
) -> tuple[Ints, Ints] | None:
    """Take the fields where single characters separate them and no line is blank; None elsewhere."""
    inner = spaces[_PAD - 1 : -_PAD]
    ends_line = kinds[_PAD:-_PAD] == 10
    n_lines = int(np.count_nonzero(ends_line))
    if n_lines * n_columns != len(ends_line) or not ends_line[n_columns - 1 :: n_columns].all():
        return None
    before = inner[:-1].reshape(-1, n_columns)
    after = inner[1:].reshape(-1, n_columns)
    return before, after


def _irregular(
    spaces: Ints, kinds: npt.NDArray[np.uint8], n_columns: int
) -> tuple[Ints, Ints] | None:
    """Take the fields between any white space, on lines that are blank or have this number of them; None elsewhere."""
    before = np.flatnonzero(spaces[1:] - spaces[:-1] > 1)
    if len(before) % n_columns:
        return None
    line = np.cumsum(kinds == 10)[before].reshape(-1, n_columns)
    # A line with too few fields and one with too many could add up: all of a row must be on one
    # line, the next on another.
    is_divided = np.any(line[:, :-1] != line[:, 1:])
    is_joined = np.any(line[1:, 0] == line[:-1, 0])
    if is_divided or is_joined:
        return None
    return spaces[before].reshape(-1, n_columns), spaces[before + 1].reshape(-1, n_columns)


def ids_of(fields: Fields, column: int, longest: int) -> Ids | None:
    """Copy a column of ids, padded with NUL bytes to a multiple of 8; None where one is longer than `longest`."""
    starts = fields.before[:, column] + 1
    lengths = fields.after[:, column] - starts
    width = int(lengths.max(initial=1))
    if width > longest:
        return None
    ids = np.empty((len(starts), -(-width // 8)), dtype=np.uint64)
    # For a short id near the end of the block, the words of the longest would begin behind it.
    last = len(fields.words) - 1
    for place in range(ids.shape[1]):
        behind = 8 * place
        words = fields.words[np.minimum(starts + behind, last)]
        # What follows the id in its last word, and in words behind it, becomes NUL.
        ids[:, place] = words & _FIRST[np.clip(lengths - behind, 0, 8)]
    text: Ids = ids.view(f"S{8 * ids.shape[1]}")[:, 0]
    return text


def numbers_of(fields: Fields, column: int) -> Floats | None:
    """Read a column of numbers as `float` does; None where a field is not a number, or NaN."""
    if not len(fields.before):
        return np.empty(0)
    starts = fields.before[:, column] + 1
    ends = np.ascontiguousarray(fields.after[:, column])
    # Mostly all numbers of a block have as many decimals as the first. What is written otherwise,
    # or with more than 15 digits, is left to NumPy, which takes longer.
    values, read = _decimals(fields, starts, ends)
    if not read.all():
        texts = ids_of(fields, column, LONGEST_ID)
        if texts is None or b"_" in (others := texts[~read]).tobytes():  # only Python allows it
            return None
        try:
            values[~read] = others.astype(np.float64)
        except ValueError:
            return None
        if np.isnan(values).any():
            return None
    return values


def _decimals(fields: Fields, starts: Ints, ends: Ints) -> tuple[Floats, Bools]:
    """Read numbers with as many decimals as the first, and tell which could be read: up to 8 digits before the point."""
    _, point, decimals = fields.data[starts[0] : ends[0]].partition(b".")
    n_decimals = len(decimals)
    if n_decimals > _MOST_DECIMALS:
        return np.empty(len(ends)), np.zeros(len(ends), dtype=bool)
    is_negative = _first_byte(fields, starts) == ord("-")
    number, read = _digits(fields, starts + is_negative, ends - n_decimals - len(point))
    if point:
        behind, are_digits = _digits(fields, ends - n_decimals, ends)
        number = number * np.uint64(10**n_decimals) + behind
        read &= are_digits & (_first_byte(fields, ends - n_decimals - 1) == ord("."))
    # Both are exact as floats, so that their quotient is rounded once, as `float` rounds.
    values = number / 10.0**n_decimals
    return np.where(is_negative, -values, values), read


def _first_byte(fields: Fields, places: Ints) -> Words:
    return fields.words[places] & np.uint64(0xFF)


def _digits(fields: Fields, starts: Ints, ends: Ints) -> tuple[Words, Bools]:
    """Read texts of one to eight digits as whole numbers, and tell which are such texts."""
    lengths = ends - starts
    value = (fields.words[ends - 8] ^ _ZEROS) & _LAST[np.clip(lengths, 0, 8)]
    # Adding 0x76 to a byte sets its high bit if it is more than 9; bytes of 0x80 and more have it
    # already, and could carry.
    are_digits = (((value + np.uint64(0x7676767676767676)) | value) & _HIGH) == 0
    # Neighbours are combined: digits to pairs, pairs to fours, fours to eight.
    value = value * np.uint64(10) + (value >> np.uint64(8))
    low = value & np.uint64(0x000000FF000000FF)
    high = (value >> np.uint64(16)) & np.uint64(0x000000FF000000FF)
    number = (
        low * np.uint64(0x000F424000000064) + high * np.uint64(0x0000271000000001)
    ) >> np.uint64(32)
    return number, are_digits & (lengths > 0) & (lengths <= 8)


COLUMN_REMEDY = (
    "; ids and tags must not contain white space, comment lines must be removed, and a header must"
    " name query_id, doc_id and a value"
)


_LARGE = 1 << 30  # bytes of ids
_WIDEST = 3  # times the bytes that were read


def read_lines(content: Iterable[Block], layout: Layout, source: str, first_line: int) -> Columns:
    """Read lines of one layout."""
    documents = [as_ids([])]
    values = [np.empty(0)]
    codes = [np.empty(0, dtype=np.int32)]
    code_of: dict[bytes, int] = {}
    n_rows = 0
    n_bytes = 0
    longest = b""
    for block in from_line(content, first_line):
        queries, found, numbers = _fast(block, layout) or _plain(block, layout, source)
        codes.append(_coded(queries, code_of))
        documents.append(found)
        values.append(numbers)
        n_rows += len(numbers)
        n_bytes += len(block.data)
        if found.itemsize > len(longest) + 7:  # ids of a block are padded to words
            longest = max((longest, *found.tolist()), key=len)
        # In the array each id takes as much space as the longest.
        if n_rows * len(longest) > max(_LARGE, _WIDEST * n_bytes):
            problem = (
                f"one id as long as this among {n_rows - 1:,} others would take too much memory;"
                " shorten it"
            )
            raise FormatError(source, problem, text=shown([longest]))
    columns = Columns(
        source,
        [query.decode() for query in code_of],
        _joined(codes),
        as_ids(_joined(documents)),
        _joined(values),
        layout.value_name,
        partial(_line_of, source, first_line),
    )
    # A comment can happen to have the right number of words.
    if layout.separator is None and b"#" in code_of:
        row = int(np.argmax(columns.codes == code_of[b"#"]))
        raise columns.error(row, "is a comment; remove comment lines")
    return columns


def _joined(parts: list[Any]) -> Any:
    """Join arrays; each is forgotten when it has been copied, so that memory does not hold all of them twice."""
    end = sum(map(len, parts))
    joined = np.empty(end, dtype=np.result_type(*parts))
    while parts:
        part = parts.pop()
        joined[end - len(part) : end] = part
        end -= len(part)
    return joined


def shown(fields: list[bytes]) -> str:
    """Return fields as a message shows them."""
    return b" ".join(fields[:12])[:200].decode("utf-8", "replace")


def number_in(field: bytes) -> float | None:
    """Return the number that a text states as `float` reads it, but without the underscores that only Python allows."""
    try:
        return None if b"_" in field else float(field)
    except ValueError:
        return None


def from_line(content: Iterable[Block], first_line: int) -> Iterator[Block]:
    """Leave out the lines before the first one that contains data."""
    for block in content:
        skipped = max(first_line - block.first_line, 0)
        lines = block.data.split(b"\n", skipped)
        if len(lines) > skipped and lines[-1]:
            yield Block(block.first_line + skipped, lines[-1])


def _line_of(source: str, first_line: int, row: int) -> int | None:
    """Find the line of a row by reading the file again; None for a pipe, which can be read only once."""
    if source == STDIN or not os.path.isfile(source):
        return None
    numbers = (
        number for block in blocks(source) for number, _ in nonblank(block) if number >= first_line
    )
    return next(islice(numbers, row, None), None)


_Part = tuple[Ids, Ids, Floats]  # the queries, documents and values of a block


def _fast(block: Block, layout: Layout) -> _Part | None:
    data = (
        block.data if layout.separator is None else _white_space_for(block.data, layout.separator)
    )
    fields = None if data is None else fields_of(data, layout.columns)
    if fields is None:
        return None
    queries = ids_of(fields, layout.query, LONGEST_ID)
    documents = ids_of(fields, layout.document, LONGEST_ID)
    values = numbers_of(fields, layout.value)
    if queries is None or documents is None or values is None:
        return None
    # White space separates the same columns only where every separator does; two in a row surround
    # an empty value.
    if layout.separator is not None and block.data.count(layout.separator) != len(values) * (
        layout.columns - 1
    ):
        return None
    return queries, documents, values


def _white_space_for(data: bytes, separator: bytes) -> bytes | None:
    """Make separators white space; None where quotes, or white space within values, would then be misread."""
    if (
        b'"' in data
        or b" " in data
        or b"\v" in data
        or b"\f" in data
        or data.count(b"\r") != data.count(b"\r\n")
    ):
        return None
    if separator == b"\t":
        return data
    return None if b"\t" in data else data.replace(separator, b"\t")


def _plain(block: Block, layout: Layout, source: str) -> _Part:
    check_bytes(block, source)
    queries = []
    documents = []
    values = []
    for number, line in nonblank(block):
        fields = (
            line.split()
            if layout.separator is None
            else _separated(line, layout.separator, source, number)
        )
        if len(fields) != layout.columns:
            problem = (
                f"has {plural('column', len(fields))}, expected {layout.columns}{COLUMN_REMEDY}"
            )
            raise FormatError(source, problem, line=number, text=shown(fields))
        for name, field in (("query", fields[layout.query]), ("document", fields[layout.document])):
            if not 0 < len(field) <= LONGEST_ID:
                problem = (
                    f"is longer than {LONGEST_ID} bytes; is this a run or qrels?"
                    if field
                    else "is empty; correct it"
                )
                raise FormatError(
                    source,
                    f"a {name} id {problem}",
                    line=number,
                    text=shown([field] if field else fields),
                )
        value = number_in(fields[layout.value])
        if value is None or value != value:
            problem = f"the {layout.value_name} is not a number; correct or remove the line"
            raise FormatError(source, problem, line=number, text=shown([fields[layout.value]]))
        queries.append(fields[layout.query])
        documents.append(fields[layout.document])
        values.append(value)
    return (
        np.array(queries, dtype=np.bytes_),
        np.array(documents, dtype=np.bytes_),
        np.array(values, dtype=np.float64),
    )


def _separated(line: bytes, separator: bytes, source: str, number: int) -> list[bytes]:
    try:
        (fields,) = csv.reader(
            [line.decode().rstrip("\r\n")], delimiter=separator.decode(), strict=True
        )
    # ValueError where a carriage return within the line makes two of it.
    except (csv.Error, ValueError) as error:
        problem = (
            f"cannot be separated into columns ({error}); check the quotes, and remove line breaks"
            " within values"
        )
        raise FormatError(source, problem, line=number, text=shown([line])) from None
    # Bytes are split, because white space is that of ASCII.
    return [field.encode().strip() for field in fields]


def _coded(queries: Ids, code_of: dict[bytes, int]) -> Codes:
    """Number the queries in order of first appearance; only where the query changes is the dict asked."""
    words = words_of(as_ids(queries))
    is_start = np.ones(len(words), dtype=bool)
    is_start[1:] = (words[1:] != words[:-1]).any(axis=1)
    starts = np.flatnonzero(is_start)
    codes = [code_of.setdefault(query, len(code_of)) for query in queries[starts].tolist()]
    return np.repeat(np.array(codes, dtype=np.int32), np.diff(starts, append=len(words)))
