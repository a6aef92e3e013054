"""Text files of tables and JSON, with the line that an error is about, as outputs of other tools and leaderboards are read."""

import csv
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import count
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.errors import FormatError
from ir_outcomes.reading.files import (
    LONGEST_RECORD,
    WHITE_SPACE,
    Block,
    blocks,
    check_bytes,
    nonblank,
    parsed_json,
)
from ir_outcomes.reading.text import number_in

Body = Iterable[tuple[int, Sequence[Any]]]  # the cells of each row, with its number


class Source(NamedTuple):
    """What is read, and what messages call it."""

    data: Any
    called: str
    is_file: bool

    @classmethod
    def of(cls, data: Any, position: str) -> "Source":
        """Tell a path from an object, which is called by its position."""
        is_file = isinstance(data, (str, os.PathLike))
        return cls(data, os.fsdecode(data) if is_file else f"the {position}", is_file)

    def error(
        self, problem: str, number: int | None = None, text: str | None = None
    ) -> FormatError:
        """Make an error that names the line or row."""
        if not self.is_file and number is not None:
            problem = f"row {number}: {problem}"
            number = None
        return FormatError(self.called, problem, line=number, text=text)

    def document(self, lines: "Lines") -> Any:
        """Return what the lines say together, as JSON."""
        return parsed_json("".join(line for _, line in lines), self.called, 1)

    def table(self, lines: "Lines", separator: str) -> tuple[list[str], Body]:
        """Return the titles of a table with a header, and its rows with the numbers of their last lines."""
        rows = self._cells(lines, separator)
        number, header = next(rows)
        titles = [title or "" for title in header]
        self.refuse_repeated(titles, number)
        return titles, rows

    def _cells(self, lines: "Lines", separator: str) -> Iterator[tuple[int, list[str | None]]]:
        numbers = [0]

        def texts_of_lines() -> Iterator[str]:
            for number, line in lines:
                numbers[0] = number
                yield line

        n_columns = None
        try:
            for cells in csv.reader(texts_of_lines(), delimiter=separator, strict=True):
                n_columns = n_columns or len(cells)
                if len(cells) != n_columns:
                    problem = f"has {len(cells)} columns, the header has {n_columns}"
                    raise self.error(problem, numbers[0], separator.join(cells))
                yield numbers[0], [cell.strip(WHITE_SPACE) or None for cell in cells]
        except csv.Error as error:
            raise self.error(f"is not a line of a CSV file ({error})", numbers[0]) from None

    def refuse_repeated(self, titles: Sequence[str], number: int | None = None) -> None:
        """Refuse columns with the same title."""
        for title, times in Counter(titles).items():
            if title and times > 1:
                raise self.error(
                    f"has the column {title!r} {times} times; keep one of them", number
                )


class Lines:
    """The lines of a file that are not blank, with their numbers, as often as they are asked for.

    Blocks of bytes are kept, and read when they are asked for: an object for each of many short
    lines would take many times as much, and a file that is refused at its beginning is not read to
    its end.
    """

    def __init__(self, source: Source) -> None:
        self._called = source.called
        self._rest = blocks(source.data, LONGEST_RECORD)
        self._read: list[Block] = []

    def __iter__(self) -> Iterator[tuple[int, str]]:
        for place in count():
            if place == len(self._read):
                block = next(self._rest, None)
                if block is None:
                    return
                check_bytes(block, self._called)
                self._read.append(block)
            for number, line in nonblank(self._read[place]):
                text = line.decode()
                if text.strip():
                    yield number, text

    @property
    def first(self) -> str:
        """The first line; empty where there is none."""
        return next((line for _, line in self), "")


def strict_number(value: Any) -> float | None:
    """Return a number, also one that a text states in the way of runs; None where it is neither."""
    if isinstance(value, str):
        return number_in(value.encode("utf-8", "replace"))
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return None
