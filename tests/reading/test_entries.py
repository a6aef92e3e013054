"""Leaderboards: everything is read, or refused with the place of the problem."""

from __future__ import annotations

import time
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from ir_outcomes.errors import FormatError, InputError, ParameterError
from ir_outcomes.reading import outputs
from ir_outcomes.reading.outputs import read_entries

HEADER = "id,date,score\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,date,score,score\na,2020-01-01,1,2\n", r"line 1: has the column 'score' 2 times; keep one"),
        ("id,date,score\na,2020-01-01\n", "line 2: has 2 columns, the header has 3"),
        ('id,date,score\n"a,2020-01-01,1\n', "is not a line of a CSV file"),
        ("id,score\na,1\n", "has no column 'date'; its columns are id, score"),
        (HEADER + "a,2020-01-01,1\na,2020-01-02,2\n", "line 3: the id is repeated"),
        (HEADER + "a,2020-01-01,1_0\n", "line 2: a score is not a number"),
        (HEADER + "a,2020-01-01,\u0661\n", "line 2: a score is not a number"),
        (HEADER + "a,2020-13-01,1\n", "line 2: a date must be written as"),
        (HEADER + ",2020-01-01,1\n", "line 2: an entry has no id"),
        (HEADER, "has no entry"),
        ("[", "is not JSON"),
        ("[1]", "row 1 is not an object"),
        ('{"id": 1}', "is a dict, not a list of objects"),
        ('[{"id": "a", "date": "2020-01-01", "score": true}]', "line 1: a score is not a number"),
        ('[{"id": "a", "date": "2020-01-01", "score": ' + "9" * 5000 + "}]", "is not JSON that can be read"),
        ('[{"id": "a", "id": "b", "date": "2020-01-01"}]', "an object has the same name twice"),
        ('[{"id": "\\ud800", "date": "2020-01-01"}]', "line 1: a name is not text in UTF-8"),
        ('[{"id": "a", "date": null}]', "line 1: a date must be written as"),
    ],
)
def test_files_that_are_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    path = tmp_path / "entries"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(FormatError, match=message):
        read_entries(path)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([{"id": "a", "date": "2020-01-01"}, None], "row 2 is not an object"),
        (None, "is a NoneType, not a list"),
        ({"id": "a", "date": "2020-01-01"}, "is a dict, not a list"),
        ([{"id": "a", "date": "2020-01-01", "score": 1 + 2j}], "a score is not a number"),
        ([{}], "has no column 'date'"),
    ],
)
def test_objects_that_are_refused(source: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_entries(source)


def test_what_can_be_read(tmp_path: Path) -> None:
    path = tmp_path / "entries.csv"
    path.write_text('\ufeffid,date,,team,score\n"a, b",2020/1/2,\N{CLASSICAL BUILDING},"x\ny",0.5\n0,2020-01-03,,,\n', "utf-8")
    first, second = read_entries(path).entries
    assert (first.run, first.date, first.is_baseline, first.group, first.score) == ("a, b", date(2020, 1, 2), True, "x\ny", 0.5)
    assert (second.run, second.group, second.score) == ("0", None, None)
    (entry,) = read_entries([{"run": 5, "date": datetime(2020, 1, 2, 3), "score": 1}]).entries
    assert (entry.run, entry.date, entry.score) == ("5", date(2020, 1, 2), 1.0)


def test_entries_without_ids_take_no_quadratic_time() -> None:
    """16,000 of them took two minutes."""
    start = time.process_time()
    rows = [{"description": "bm25" if number % 2 else "bm25 #2", "date": "2020-01-01"} for number in range(16_000)]
    found = read_entries(rows).entries
    assert time.process_time() - start < 5
    assert len({entry.run for entry in found}) == 16_000
    assert [entry.run for entry in found[:4]] == ["bm25 #2", "bm25", "bm25 #2 #2", "bm25 #3"]


def test_a_file_that_is_no_leaderboard(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"a,b,c\n" * 2_000)
    monkeypatch.setattr(outputs, "MOST_LINES", 1000)
    with pytest.raises(InputError, match="line 1001: has more than 1,000 lines"):
        read_entries(path)
    with pytest.raises(ParameterError, match="has no column 'x'"):
        read_entries([{"id": "a", "date": "2020-01-01"}], score="x")
