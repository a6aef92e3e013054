import csv
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError


@pytest.mark.realdata
def test_the_ten_runs_of_figure_1(real_data: Path) -> None:
    history = iro.sota_history(
        real_data / "leaderboard" / "msmarco-document.csv", until="2021-02-15"
    )
    assert [run.number for run in history.runs] == list(range(1, 11))
    assert (history.runs[0].run, history.runs[9].run) == ("20200827-bcai-bertb", "20210210-xyz")
    # One submission more came after it.
    assert (history.runs[-1].looks, sum(history.submissions.values())) == (
        63,
        64,
    )


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "score", "trophies"), [("document", "MRR@100 (Eval)", 17), ("passage", "eval", 20)]
)
def test_who_took_first_place_is_who_has_a_trophy(
    real_data: Path, name: str, score: str, trophies: int
) -> None:
    path = real_data / "leaderboard" / f"msmarco-{name}.csv"
    with path.open(encoding="utf-8") as file:
        awarded = [row for row in csv.DictReader(file) if row[""] == "\N{TROPHY}"]
    expected = sorted((row["date"].replace("/", "-"), float(row[score])) for row in awarded)
    history = iro.sota_history(path, score=score)
    assert [(run.date.isoformat(), run.score) for run in history.runs] == expected
    assert len(history.runs) == trophies


def test_scores_that_are_equal_but_for_rounding_take_no_first_place() -> None:
    scores = {"a": 0.3, "b": 0.1 + 0.2, "c": 0.30001}
    entries = [
        {"id": run, "date": f"2020-01-0{day}", "score": score}
        for day, (run, score) in enumerate(scores.items(), 1)
    ]
    assert [run.run for run in iro.sota_history(entries).runs] == ["a", "c"]


submissions = st.lists(
    st.tuples(st.integers(1, 28), st.integers(0, 9), st.booleans()), min_size=1, max_size=12
)


@given(rows=submissions, rising=st.booleans())
def test_history_by_brute_force(rows: Sequence[tuple[int, int, bool]], rising: bool) -> None:
    table: list[dict[str, Any]] = [
        {"id": f"r{number:02d}", "date": f"2021-01-{day:02d}", "score": score, "baseline": base}
        for number, (day, score, base) in enumerate(rows)
    ]
    history = iro.sota_history(table, higher_is_better=rising)
    sign = 1 if rising else -1
    best = -100
    expected = []
    for day in sorted({row["date"] for row in table}):
        best = max(
            [
                best,
                *(sign * row["score"] for row in table if row["baseline"] and row["date"] == day),
            ]
        )
        today = [row for row in table if row["date"] == day and not row["baseline"]]
        top = max((sign * row["score"] for row in today), default=-100)
        if top > best:
            best = top
            expected.append(min(row["id"] for row in today if sign * row["score"] == top))
    assert [run.run for run in history.runs] == expected
    for run in history.runs:
        assert run.looks == sum(
            row["date"] <= run.date.isoformat() and not row["baseline"] for row in table
        )


def test_entries_without_a_score_and_days_are_named() -> None:
    table = [
        {"id": "a", "date": "2021-01-01", "score": 1, "group": "g"},
        {"id": "b", "date": "2021-01-02"},
    ]
    history = iro.sota_history(table)
    assert history.notes == (
        (
            "1 entry has no score: it counts as a use of the test queries, but cannot take first"
            " place: b."
        ),
    )
    assert (history.rows()[0]["group"], history.rows()[0]["date"]) == ("g", "2021-01-01")
    assert iro.sota_history(table, until=datetime(2021, 1, 1, 12)).notes == ()
    with pytest.raises(ParameterError, match="no entry up to 2020-01-01 has a score"):
        iro.sota_history(table, until="2020-01-01")
    for until in ("soon", 5, "", "2020-13-01", [1]):
        with pytest.raises(ParameterError, match="until"):
            iro.sota_history(table, until=until)  # type: ignore[arg-type]
    with pytest.raises(iro.IrOutcomesError, match="choose one with `score`"):
        iro.sota_history([{"id": "a", "date": "2021-01-01", "dev_eval": 0.5, "test_eval": 0.4}])
