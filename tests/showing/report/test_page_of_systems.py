"""The page of systems with several runs: means over the runs, a row's runs, and lists of each run."""

import json
import re
from typing import Any

import pytest

import ir_outcomes as iro
from tests.helpers.systems import drawn

RUNS = {"a": 1, "b": 5, "c": 2}


def evaluated(relevant: int) -> iro.Evaluation:
    qrels, runs = drawn(1, runs=RUNS, relevant=relevant, n_queries=60)
    unit: Any = ["query", "document"][relevant > 1]
    return iro.evaluate(qrels, runs, cutoff=6, unit=unit, documents=20, measures=["nDCG@6"])


def data_of(page: iro.ReportPage) -> dict[str, Any]:
    (found,) = re.findall(
        r'<script type="application/json" id="data">(.*?)</script>', page.html, re.DOTALL
    )
    data: dict[str, Any] = json.loads(found)
    return data


@pytest.mark.parametrize("relevant", [1, 3])
def test_numbers_are_those_of_the_comparison(relevant: int) -> None:
    ev = evaluated(relevant)
    compared = iro.compare(ev, "a", ["b", "c"], measures=["nDCG@6"])
    data = data_of(compared.to_report(evaluation=ev))
    (grid,), (own,) = data["grids"], data["sets"]
    assert own["columns"] is None
    assert own["runs"] == ["a", "b 1", "b 2", "b 3", "b 4", "b 5", "c 1", "c 2"]
    assert own["first"] == {"b": 1, "c": 6}
    assert grid["silent"] == "a system has several runs"
    assert all(len(own["rankings"][0]["lists"]) == 8 for own in data["sets"])
    for pair in grid["pairs"]:
        result = compared[pair["b"]]
        queries = result.per_query()
        assert pair["given"]["foundB"] == [query.found_contender for query in queries]
        assert pair["given"]["change"] == [query.change for query in queries]
        parts = (result.coverage, result.ranking, result.restricted, *result.measures)
        runs = [(run.coverage, run.ranking, run.all_queries, *run.measures) for run in result.runs]
        for row, part, changes in zip(pair["rows"], parts, zip(*runs, strict=True), strict=True):
            assert row["runs"] == pytest.approx(changes, abs=5e-5)
            assert row["difference"] == pytest.approx(part and part.difference, abs=5e-5)
            new = part and part.new_runs
            assert row["newRuns"] == (new and pytest.approx(new, abs=5e-5))
            assert (row["newRuns"] is None) == (pair["b"] == "c")


def test_report_takes_the_names_of_systems() -> None:
    ev = evaluated(1)
    page = iro.report(ev, "b", "a")
    (pair,) = data_of(page)["grids"][0]["pairs"]
    assert (pair["a"], pair["b"]) == ("b", "a")
    assert iro.report(ev[["a", "b"]]).html == iro.report(ev[["a", "b"]], "a", "b").html
    with pytest.raises(iro.ParameterError, match="no run is called 'd'; the runs are a, b"):
        iro.report(ev[["a", "b"]], "d")


def test_the_page_of_a_board_has_the_queries_of_the_best_system_against_the_others() -> None:
    ev = evaluated(1)
    board = iro.leaderboard(ev)
    page = board.to_report(evaluation=ev)
    assert "3 systems by RR@6" in page.html
    data = data_of(page)
    (grid,), (own,) = data["grids"], data["sets"]
    best, *others = [standing.run for standing in board.standings]
    assert [(pair["a"], pair["b"]) for pair in grid["pairs"]] == [(best, run) for run in others]
    for pair in grid["pairs"]:
        result = iro.compare(ev, pair["a"], pair["b"])
        assert pair["given"]["change"] == [query.change for query in result.per_query()]
        code = grid["codes"][grid["runs"].index(best)][grid["runs"].index(pair["b"])]
        assert data["labels"][ord(code) - ord("a")][0] == board.verdict(best, pair["b"]).label
        assert pair["sentence"] == ""
    assert len(own["rankings"][0]["lists"]) == 8
