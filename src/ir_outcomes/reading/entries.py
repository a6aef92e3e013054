"""Leaderboards as tables: which run was submitted when, by whom, with which score."""

from __future__ import annotations

import csv
import json
import math
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any, NamedTuple

from ir_outcomes.errors import FormatError, ParameterError
from ir_outcomes.reading.files import blocks

__all__ = ["Entries", "Entry", "read_entries"]

_ID = ("id", "run")
ORGANIZER = "\N{CLASSICAL BUILDING}"  # how the MS MARCO leaderboards mark the organizers' baselines


@dataclass(frozen=True)
class Entry:
    """A submission to a leaderboard.

    Attributes
    ----------
    run : str
        Its id, or where there is none its description.
    date : date
        When it was submitted.
    group : str or None
        By whom.
    score : float or None
        Its score; None where the table has none.
    is_baseline : bool
        Whether the organizers supplied it.
    """

    run: str
    date: date
    group: str | None
    score: float | None
    is_baseline: bool


class Entries(NamedTuple):
    """A leaderboard: its submissions in the order of the table, and the column of the score, or None."""

    entries: tuple[Entry, ...]
    score: str | None


def read_entries(source: Any, score: str | None = None) -> Entries:
    """Read a leaderboard.

    Parameters
    ----------
    source : path, or iterable of mapping
        A CSV file with a header, a JSON file with a list of objects, or such rows. Columns: ``id`` (or ``run``), ``date``
        (year, month, day), and as far as there are: ``group`` (or ``team``), the score, ``baseline`` (anything but
        nothing, 0, no or false marks a baseline; so does the mark of the MS MARCO leaderboards).
    score : str, optional
        Column of the score; by default the one whose name holds "eval", or "score".

    Returns
    -------
    Entries

    Raises
    ------
    UnreadableFile, FormatError
        If the file cannot be read, a date or score is none, or an id is repeated.
    ParameterError
        If the column of the score is not there, or must be chosen.

    Examples
    --------
    >>> read_entries([{"id": "r1", "date": "2020/08/27", "score": "0.368"}]).entries[0].date.isoformat()
    '2020-08-27'
    """
    is_file = isinstance(source, (str, os.PathLike))
    where = os.fspath(source) if is_file else "the table of entries"
    rows = list(_file_rows(where) if is_file else enumerate(source, 1))
    if not rows:
        raise FormatError(where, "holds no entry")
    columns = dict.fromkeys(str(name) for _, row in rows for name in row)
    column = _score_column(list(columns), score, where)
    entries: dict[str, Entry] = {}
    for number, row in rows:
        entry = _entry(row, column, where, number)
        if entry.run in entries and _first(row, *_ID):
            raise FormatError(where, "an id stands twice; ids must differ", line=number, text=entry.run)
        times = sum(other.partition(" #")[0] == entry.run for other in entries)  # descriptions may be the same
        entry = replace(entry, run=f"{entry.run} #{times + 1}") if entry.run in entries else entry
        entries[entry.run] = entry
    return Entries(tuple(entries.values()), column)


def _file_rows(path: str) -> Iterable[tuple[int, Mapping[str, Any]]]:
    try:
        text = b"".join(block.data for block in blocks(path)).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise FormatError(path, f"is not text in UTF-8 ({error.reason} at byte {error.start})") from None
    if text.lstrip().startswith(("[", "{")):
        try:
            rows = json.loads(text)
        except json.JSONDecodeError as error:
            raise FormatError(path, f"is not JSON: {error.msg}", line=error.lineno) from None
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise FormatError(path, "is not a list of objects such as {'id': ..., 'date': ..., 'score': ...}")
        return enumerate(rows, 1)
    reader = csv.DictReader(text.splitlines())
    return [(reader.line_num, row) for row in reader]


def _score_column(columns: list[str], score: str | None, where: str) -> str | None:
    if score is not None:
        if score not in columns:
            raise ParameterError(f"{where} has no column {score!r}; it has {', '.join(filter(None, columns))}")
        return score
    likely = [name for name in columns if "eval" in name.lower() or name.lower() == "score"]
    if len(likely) > 1:
        raise ParameterError(f"{where} has several columns of scores ({', '.join(likely)}); choose one with score=")
    return likely[0] if likely else None


def _entry(row: Mapping[str, Any], column: str | None, where: str, number: int) -> Entry:
    run = _first(row, *_ID) or _first(row, "description", "name")
    if not run:
        raise FormatError(where, "an entry has no id", line=number, text=str(dict(row)))
    group = _first(row, "group", "team")
    marked = str(row.get("baseline") or "").strip().lower() not in ("", "0", "no", "false")
    return Entry(
        run,
        _date(row.get("date"), where, number),
        group or None,
        None if column is None else _score(row.get(column), where, number),
        marked or ORGANIZER in str(row.get("") or ""),
    )


def _first(row: Mapping[str, Any], *names: str) -> str:
    return next((str(row[name]).strip() for name in names if row.get(name)), "")


def _date(value: Any, where: str, number: int) -> date:
    if isinstance(value, date):
        return value
    try:
        year, month, day = (int(part) for part in str(value).strip().replace("/", "-").split("-"))
        return date(year, month, day)
    except ValueError:
        raise FormatError(where, "a date must be written as 2020-08-27 or 2020/08/27", line=number, text=str(value)) from None


def _score(value: Any, where: str, number: int) -> float | None:
    if value is None or str(value).strip() == "":
        return None
    try:
        score = float(value)
    except (TypeError, ValueError):
        score = math.nan
    if not math.isfinite(score):
        raise FormatError(where, "a score is not a number", line=number, text=str(value))
    return score
