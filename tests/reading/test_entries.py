"""Leaderboards: entries with dates, read completely or refused with the place of the problem."""

import time
from datetime import date, datetime
from typing import Any

import pytest

from ir_outcomes.errors import FormatError, ParameterError
from ir_outcomes.reading.tables import read_entries


def in_file(write: Any, content: Any) -> Any:
    """Write text into a file and return its path; return anything else as it is."""
    return write(content, "entries.csv") if isinstance(content, str) else content


HEADER = "id,date,score\n"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        (
            "id,date,score,score\na,2020-01-01,1,2\n",
            r"line 1: has the column 'score' 2 times; keep one",
        ),
        (HEADER + "a,2020-01-01\n", "line 2: has 2 columns, the header has 3"),
        (HEADER + '"a,2020-01-01,1\n', "is not a line of a CSV file"),
        (HEADER + "a,2020-01-01,1\na,2020-01-02,2\n", "line 3: the id is repeated"),
        (HEADER + "a,2020-01-01,1_0\n", "line 2: a score is not a number"),
        (HEADER + "a,2_20-01-01,1\n", "line 2: a date must be written as"),
        (HEADER + ",2020-01-01,1\n", "line 2: a name is empty"),
        (HEADER, "has no entry"),
        ("[1]", "row 1 is not an object"),
        ('[{"id": "a"},\n oops]', "line 2: "),
        ('{"id": 1}', "is a dict, not a list of objects"),
        (
            '[{"id": "\\ud800", "date": "2020-01-01"}]',
            "line 1: a name .* cannot be encoded in UTF-8",
        ),
        (None, "is a NoneType, not a list"),
    ],
)
def test_leaderboards_that_are_refused(write: Any, source: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        read_entries(in_file(write, source))


def test_leaderboards_that_can_be_read(write: Any) -> None:
    text = (
        '\ufeffid,date,,team,score\n"a,'
        ' b",2020/1/2,\N{CLASSICAL BUILDING},"x\ny",0.5\n0,2020-01-03,,,\n'
    )
    first, second = read_entries(in_file(write, text)).entries
    assert (first.run, first.date, first.is_baseline, first.group, first.score) == (
        "a, b",
        date(2020, 1, 2),
        True,
        "x\ny",
        0.5,
    )
    assert (second.run, second.group, second.score) == ("0", None, None)
    (entry,) = read_entries([{"run": 5, "date": datetime(2020, 1, 2, 3), "score": 1}]).entries
    assert (entry.run, entry.date, entry.score) == ("5", date(2020, 1, 2), 1.0)
    with pytest.raises(ParameterError, match="has no column 'x'"):
        read_entries([{"id": "a", "date": "2020-01-01"}], score="x")


def test_entries_without_ids_take_no_quadratic_time() -> None:
    """16,000 of them took two minutes."""
    start = time.process_time()
    rows = [
        {"description": "bm25" if number % 2 else "bm25 #2", "date": "2020-01-01"}
        for number in range(16_000)
    ]
    found = read_entries(rows).entries
    assert time.process_time() - start < 5
    assert len({entry.run for entry in found}) == 16_000
    assert [entry.run for entry in found[:4]] == ["bm25 #2", "bm25", "bm25 #2 #2", "bm25 #3"]
