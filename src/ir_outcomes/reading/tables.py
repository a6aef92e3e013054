"""Sources of values and entries, and the entries of leaderboards."""

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.errors import FormatError, ParameterError, some
from ir_outcomes.reading.files import LONGEST_RECORD, blocks, lines_of, parsed_json, text_in
from ir_outcomes.reading.lines import cells_of, number_in
from ir_outcomes.reading.objects import texts


class Source(NamedTuple):
    """What is read, and what messages call it."""

    data: Any
    name: str
    is_file: bool

    @classmethod
    def of(cls, data: Any, position: str) -> "Source":
        """Return a source for a path, or for an object by its position."""
        if isinstance(data, Source):
            return data
        is_file = isinstance(data, (str, os.PathLike))
        return cls(data, os.fsdecode(data) if is_file else f"the {position}", is_file)

    def error(
        self, problem: str, number: int | None = None, text: str | None = None
    ) -> FormatError:
        """Make an error that names the line or row."""
        if not self.is_file and number is not None:
            problem = f"row {number}: {problem}"
            number = None
        return FormatError(self.name, problem, line=number, text=text)

    def refuse_repeated(self, titles: Sequence[str], number: int | None = None) -> None:
        """Refuse columns with the same title."""
        for title, times in Counter(filter(None, titles)).items():
            if times > 1:
                problem = f"has the column {title!r} {times} times; keep one of them"
                raise self.error(problem, number)


def strict_number(value: Any) -> float | None:
    """Return a number, or one that a text states as runs do, or None."""
    if isinstance(value, str):
        return number_in(value.encode("utf-8", "replace"))
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


# --- leaderboards

ORGANIZER = "\N{CLASSICAL BUILDING}"  # how the MS MARCO leaderboards mark the organizers' baselines


@dataclass(frozen=True)
class Entry:
    """A submission to a leaderboard."""

    run: str  # its id; its description where it has none
    date: date
    group: str | None
    score: float | None
    is_baseline: bool  # of the organizers


class Entries(NamedTuple):
    """The submissions to a leaderboard, and the column of the score."""

    entries: tuple[Entry, ...]
    score: str | None


def read_entries(source: Any, score: str | None = None) -> Entries:
    """Read a leaderboard: a CSV file, a JSON list of objects, or mappings.

    Columns are ``id`` (or ``run``; entries without one are named after ``description`` or
    ``name``), ``date`` (year, month, day), and optionally ``group`` (or ``team``), the score (by
    default the column whose name contains "eval", or ``score``), and ``baseline``, which marks the
    organizers' baselines unless it is empty, 0, no or false. The symbol with which the MS MARCO
    leaderboards mark them, in a column without a name, does the same.
    """
    read = Source.of(source, "entries")
    rows = list(_records(read))
    if not rows:
        raise read.error("has no entry")
    columns = [
        title for title in dict.fromkeys(str(title) for _, row in rows for title in row) if title
    ]
    if "date" not in columns:
        raise read.error(f"has no column 'date'; its columns are {some(columns, 10)}")
    likely = [name for name in columns if "eval" in name.lower() or name.lower() == "score"]
    if score is not None and score not in columns:
        raise ParameterError(f"{read.name} has no column {score!r}; it has {some(columns, 10)}")
    if score is None and len(likely) > 1:
        raise ParameterError(
            f"{read.name} has several columns of scores ({some(likely)}); choose one with `score`"
        )
    column = score or (likely[0] if likely else None)
    entries: dict[str, Entry] = {}
    times: Counter[str] = Counter()
    for number, row in rows:
        entry = _entry(row, column, read, number)
        name = entry.run
        if name in entries and _text(row, "id", "run"):
            raise read.error("the id is repeated; ids must differ", number, name)
        while entry.run in entries:  # descriptions may be the same
            times[name] += 1
            entry = replace(entry, run=f"{name} #{times[name] + 1}")
        entries[entry.run] = entry
    return Entries(tuple(entries.values()), column)


def _records(source: Source) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield rows by the names of their columns, with their numbers or lines."""
    rows = source.data
    if source.is_file:
        text = text_in(blocks(source.data, LONGEST_RECORD), source.name)
        if text.strip() and not text.lstrip().startswith(("[", "{")):
            (first_line, titles), *body = cells_of(lines_of(source.data), ",", source.name)
            source.refuse_repeated(titles, first_line)
            yield from ((line, dict(zip(titles, cells, strict=True))) for line, cells in body)
            return
        rows = parsed_json(text, source.name, 1) if text.strip() else []
    form = "such as {'id': ..., 'date': ...}"
    if not isinstance(rows, Iterable) or isinstance(rows, (str, bytes, Mapping)):
        raise source.error(f"is a {type(rows).__name__}, not a list of objects {form}")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise source.error(f"row {number} is not an object {form}", text=repr(row))
        yield number, row


def _entry(row: Mapping[str, Any], column: str | None, source: Source, number: int) -> Entry:
    run = _text(row, "id", "run", "description", "name")
    group = _text(row, "group", "team")
    texts([run, group or "none"], source.name, "name", lambda _: number)
    score = None
    if column is not None and _text(row, column):
        score = strict_number(row[column])
        if score is None or not math.isfinite(score):
            raise source.error("a score is not a number", number, repr(row[column]))
    is_baseline = _text(row, "baseline").lower() not in ("", "0", "no", "false")
    # A date, a time, or a text.
    found = re.match(r"(\d{4})[-/](\d\d?)[-/](\d\d?)(?![^ T])", _text(row, "date"), re.ASCII)
    try:
        day = date(*map(int, found.groups() if found else ()))
    except (ValueError, TypeError):
        problem = "a date must be written as 2020-08-27 or 2020/08/27"
        raise source.error(problem, number, str(row.get("date"))) from None
    return Entry(run, day, group or None, score, is_baseline or ORGANIZER in _text(row, ""))


def _text(row: Mapping[str, Any], *names: str) -> str:
    """Return the first of these fields that is not empty, as text."""
    cells = (row.get(name) for name in names)
    found = (str(cell).strip() for cell in cells if cell is not None)
    return next(filter(None, found), "")
