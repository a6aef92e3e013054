"""Entries of leaderboards: which run was submitted when, by whom, with which score."""

from __future__ import annotations

import csv
import json
import math
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date, datetime
from numbers import Real
from typing import Any, NamedTuple

from ir_outcomes.errors import FormatError, ParameterError, some
from ir_outcomes.reading.files import lines_of
from ir_outcomes.reading.outputs import strict_number

__all__ = ["Entries", "Entry", "read_entries"]

_ID = ("id", "run")
_LARGEST = 16 << 20  # characters; a leaderboard has some thousands of entries
ORGANIZER = "\N{CLASSICAL BUILDING}"  # how the MS MARCO leaderboards mark the organizers' baselines


@dataclass(frozen=True)
class Entry:
    """A submission to a leaderboard.

    Attributes
    ----------
    run : str
        Its id; its description where it has no id.
    date : date
        When it was submitted.
    group : str or None
        By whom.
    score : float or None
        Its score; None where it has none.
    is_baseline : bool
        Whether the organizers supplied it.
    """

    run: str
    date: date
    group: str | None
    score: float | None
    is_baseline: bool


class Entries(NamedTuple):
    """A leaderboard: its submissions in the order of the source, and the column of the score, or None."""

    entries: tuple[Entry, ...]
    score: str | None


def read_entries(source: Any, score: str | None = None) -> Entries:
    """Read a leaderboard.

    Parameters
    ----------
    source : path, or iterable of mapping
        A CSV file with a header, a JSON file with a list of objects, or such rows. Columns: ``id`` (or ``run``; entries
        without one are named after ``description`` or ``name``), ``date`` (year, month, day), and optionally ``group`` (or
        ``team``), the score, and ``baseline``, which marks the organizers' baselines unless it is empty, 0, no or false. The
        symbol with which the MS MARCO leaderboards mark them, in a column without a name, does the same.
    score : str, optional
        Column of the score; by default the one whose name contains "eval", or "score".

    Returns
    -------
    Entries

    Raises
    ------
    UnreadableFile, FormatError
        If the file cannot be read; a column name or an id is repeated; a row has another number of columns than the header; or
        a date or score is invalid.
    ParameterError
        If the column of the score is missing, or must be chosen.

    Examples
    --------
    >>> read_entries([{"id": "r1", "date": "2020/08/27", "score": "0.368"}]).entries[0].date.isoformat()
    '2020-08-27'
    """
    is_file = isinstance(source, (str, os.PathLike))
    where = os.fsdecode(source) if is_file else "the entries"
    rows = list(_file_rows(where) if is_file else _object_rows(source, where))
    if not rows:
        raise FormatError(where, "has no entry")
    columns = dict.fromkeys(str(title) for _, row in rows for title in row)
    column = _score_column(list(columns), score, where)
    if "date" not in columns:
        raise FormatError(where, f"has no column 'date'; its columns are {some(list(filter(None, columns)), 10)}")
    entries: dict[str, Entry] = {}
    times: Counter[str] = Counter()
    for number, row in rows:
        entry = _entry(row, column, where, number)
        if entry.run in entries and _first(row, *_ID):
            raise FormatError(where, "the id is repeated; ids must differ", line=number, text=entry.run)
        name = entry.run
        while entry.run in entries:  # descriptions may be the same
            times[name] += 1
            entry = replace(entry, run=f"{name} #{times[name] + 1}")
        entries[entry.run] = entry
    return Entries(tuple(entries.values()), column)


_NumberedRow = tuple[int, Mapping[str, Any]]  # with the number of its line, or of the row


def _object_rows(source: Any, where: str) -> Iterator[_NumberedRow]:
    if not isinstance(source, Iterable) or isinstance(source, (bytes, Mapping)):
        raise FormatError(where, f"cannot be read from a {type(source).__name__}; give a path or a list of dicts")
    for number, row in enumerate(source, 1):
        if not isinstance(row, Mapping):
            raise FormatError(where, f"row {number} is not a dict such as {{'id': ..., 'date': ...}}", text=repr(row))
        yield number, row


def _file_rows(path: str) -> Iterator[_NumberedRow]:
    lines: list[tuple[int, str]] = []
    size = 0
    for number, line in lines_of(path):
        size += len(line)
        if size > _LARGEST:
            raise FormatError(path, f"is larger than {_LARGEST >> 20} MiB; is this a leaderboard?", line=number)
        lines.append((number, line))
    filled = [(number, line) for number, line in lines if line.strip()]
    if filled and filled[0][1].lstrip().startswith(("[", "{")):
        return _json_rows("".join(line for _, line in lines), path)
    return _csv_rows(filled, path)


def _json_rows(text: str, path: str) -> Iterator[_NumberedRow]:
    try:
        rows = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise FormatError(path, f"is not JSON: {error.msg}", line=error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"is not JSON that can be read: {error}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FormatError(path, "is not a list of objects such as {'id': ..., 'date': ..., 'score': ...}")
    return enumerate(rows, 1)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"an object has the name {max(names, key=names.count)!r} twice")
    return fields


def _csv_rows(lines: list[tuple[int, str]], path: str) -> Iterator[_NumberedRow]:
    reader = csv.reader((line for _, line in lines), strict=True)
    try:
        header = [title.strip() for title in next(reader, [])]
        for title in header:
            if title and header.count(title) > 1:
                problem = f"has the column {title!r} {header.count(title)} times; keep one of them"
                raise FormatError(path, problem, line=lines[0][0])
        start = reader.line_num
        for fields in reader:
            number = lines[start][0]
            start = reader.line_num
            if len(fields) != len(header):
                problem = f"has {len(fields)} columns, the header has {len(header)}"
                raise FormatError(path, problem, line=number, text=",".join(fields))
            yield number, dict(zip(header, fields, strict=True))
    except csv.Error as error:
        raise FormatError(path, f"is not CSV: {error}", line=lines[min(reader.line_num, len(lines)) - 1][0]) from None


def _score_column(columns: list[str], score: str | None, where: str) -> str | None:
    if score is not None:
        if score not in columns:
            raise ParameterError(f"{where} has no column {score!r}; it has {some(list(filter(None, columns)), 10)}")
        return score
    likely = [name for name in columns if "eval" in name.lower() or name.lower() == "score"]
    if len(likely) > 1:
        raise ParameterError(f"{where} has several columns of scores ({some(likely)}); choose one with score=")
    return likely[0] if likely else None


def _entry(row: Mapping[str, Any], column: str | None, where: str, number: int) -> Entry:
    run = _first(row, *_ID) or _first(row, "description", "name")
    if not run:
        raise FormatError(where, "an entry has no id", line=number, text=repr(dict(row)))
    group = _first(row, "group", "team")
    for text in (run, group):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise FormatError(where, "a name is not text in UTF-8", line=number, text=text) from None
    marked = str(row.get("baseline") or "").strip().lower() not in ("", "0", "no", "false")
    return Entry(
        run,
        _date(row.get("date"), where, number),
        group or None,
        None if column is None else _score(row.get(column), where, number),
        marked or ORGANIZER in str(row.get("") or ""),
    )


def _first(row: Mapping[str, Any], *names: str) -> str:
    """Return the first of these fields that is not empty, as text."""
    return next((text for name in names if (text := "" if row.get(name) is None else str(row[name]).strip())), "")


def _date(value: Any, where: str, number: int) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        parts = str(value).strip().replace("/", "-").split("-")
        year, month, day = (int(part) if part.isascii() and part.isdigit() else -1 for part in parts)
        return date(year, month, day)
    except ValueError:
        raise FormatError(where, "a date must be written as 2020-08-27 or 2020/08/27", line=number, text=str(value)) from None


def _score(value: Any, where: str, number: int) -> float | None:
    """Read a score as strictly as those of runs; None where it is empty."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    score = strict_number(value.strip()) if isinstance(value, str) else None
    if isinstance(value, (int, float, Real)) and not isinstance(value, bool):
        try:
            score = float(value)
        except OverflowError:
            score = math.inf
    if score is None or not math.isfinite(score):
        raise FormatError(where, "a score is not a number", line=number, text=repr(value))
    return score
