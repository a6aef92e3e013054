"""The page: its numbers, what it leaves out, and that nothing on it is markup of an input."""

import base64
import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.choices import Unit
from ir_outcomes.results import HasPage, Result
from ir_outcomes.showing.page import content
from tests.helpers.comparisons import compare_pair, compare_several
from tests.helpers.many import collection
from tests.helpers.pages import Page
from tests.helpers.results import KINDS, result_of
from tests.helpers.runs import qrels_of, run_of
from tests.helpers.systems import drawn

BAD = "</script><!--<script>alert(1)</script>\u2028&\"'<img src=x onerror=alert(2)>"
FINDINGS = {"none": 0, "better": 1, "worse": -1}


@cache
def evaluated(unit: Unit = "document", **settings: Any) -> iro.Evaluation:
    qrels, runs = collection(3, 40, relevant=2)
    texts = {query: f"words of {query}" for query in qrels}
    given = {"documents": 20, "queries": texts, "cutoff": 8, "measures": ["nDCG@5"], **settings}
    evaluation = iro.evaluate(qrels, list(runs.values()), names=["a", "b", "c"], **given)
    return replace(evaluation, unit=unit)


def data_on(page: iro.ReportPage) -> Any:
    (found,) = re.findall('<script type="application/json" id="data">(.*?)</script>', page.html)
    return json.loads(found)


def grid_on(page: iro.ReportPage) -> Any:
    (grid,) = data_on(page)["grids"]
    return grid


def values_on(grid: Any, name: str = "values") -> Any:
    return np.reshape(grid[name], (len(grid["runs"]), -1))


def test_a_result_without_sections_has_no_empty_page() -> None:
    class Unlisted(HasPage, Result):
        pass

    with pytest.raises(iro.ParameterError, match="a Unlisted has no sections"):
        Unlisted().to_report()


@pytest.mark.parametrize("unit", ["query", "document"])
def test_rows_are_those_of_the_comparisons(unit: Unit) -> None:
    evaluation = evaluated(unit)
    result = compare_several(evaluation, "a", margins=(5.0, 2.0), measures=["nDCG@5"])
    grid = grid_on(result.to_report(evaluation=evaluation))
    for place, contender in enumerate(grid["second"]):
        comparison = result[grid["runs"][contender]]
        beyond = [
            row.name
            for row in comparison.deciding
            if row.margin and row.margin.found != "harm excluded"
        ]
        assert grid["within"][place].removeprefix("no: ").split(", ") == (beyond or ["yes"])
        for row, part in zip(grid["rows"], comparison.parts, strict=True):
            sign, of_means, of_ends, a, b, difference, low, high, *_ = row["pairs"][place]
            assert sign == FINDINGS[part.found]
            assert row["gains"] == (1 if part.higher_is_better else -1)
            means = part.baseline, part.contender, part.difference
            assert (a, b, difference) == pytest.approx(means, abs=1.01 * 10.0**-of_means)
            assert b - a == pytest.approx(difference)
            assert (low, high) == pytest.approx(part.interval, abs=10.0**-of_ends)


@pytest.mark.parametrize("unit", ["query", "document"])
def test_search_lengths_give_the_changes_of_the_queries(unit: Unit) -> None:
    evaluation = evaluated(unit)
    comparison = compare_pair(evaluation, "a", "b")
    grid = grid_on(comparison.to_report(evaluation=evaluation))
    queries = comparison.per_query()
    assert np.diff(values_on(grid), axis=0)[0] == pytest.approx([item.change for item in queries])
    shares = values_on(grid, "found")[1] / grid["sizes"]
    assert shares == pytest.approx([item.found_contender for item in queries])
    without = grid_on(comparison.to_report())
    assert without["lists"] == {}
    ids = [query.query_id for query in queries] if unit == "query" else []
    assert without["ids"] == ids


def test_systems_have_the_means_of_their_runs_and_intervals_for_new_ones() -> None:
    qrels, runs = drawn(1, runs={"a": 1, "b": 5})
    evaluation = iro.evaluate(qrels, runs, documents=5, cutoff=6)
    comparison = compare_pair(evaluation, "a", "b")
    grid = grid_on(comparison.to_report(evaluation=evaluation))
    queries = comparison.per_query()
    assert values_on(grid, "found")[1] == pytest.approx([item.found_contender for item in queries])
    for row, part in zip(grid["rows"], comparison.parts, strict=True):
        assert row["pairs"][0][8:10] == pytest.approx(part.new_runs, abs=0.0051)


def test_a_board_begins_with_the_row_that_decides_and_the_best_that_cannot_be_first() -> None:
    qrels, runs = collection(9, 60)
    evaluation = iro.evaluate(qrels, runs, documents=3, measures=["nDCG@10"])
    board = iro.leaderboard(evaluation, measures=["nDCG@10"])
    grid = grid_on(board.to_report(evaluation=evaluation))
    others = [item.run for item in board.standings if item.ranks.best > 1]
    assert len(others) < 8
    assert [grid["runs"][run] for run in grid["start"]] == [others[0], board.standings[0].run]
    assert grid["rows"][0]["name"] == "nDCG@10"
    assert values_on(grid).mean(axis=1) == pytest.approx([item.score for item in board.standings])


def test_large_boards_have_the_pairs_of_their_first_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "MOST_RUNS", 2)
    page = iro.leaderboard(evaluated()).to_report(evaluation=evaluated())
    assert len(grid_on(page)["label"]) == 1
    assert "Any two of the first 2 runs" in page.html


def test_values_of_another_tool() -> None:
    numbers = [0.0, 0.5, 0.9], [0.3, 0.5, 0.0]
    values = [dict(zip("xyz", of_run, strict=True)) for of_run in numbers]
    named: Any = {"measure": "nDCG@10", "names": ["a", "b"]}
    outputs = iro.outputs(*values, **named)
    board = iro.leaderboard(outputs).to_report(evaluation=outputs)
    for page in (iro.compare_outputs(*values, **named).to_report(), board):
        grid = grid_on(page)
        assert grid["gains"] == 1
        shown = dict(zip(grid["runs"], values_on(grid).tolist(), strict=True))
        assert shown == dict(zip(outputs.names, numbers, strict=True))


def test_lists_are_those_of_the_runs() -> None:
    run = {"q": {"x": 3.0, "gold": 2.0, "other": 1.0}}
    qrels = {"q": {"gold": 2, "x": 0}}
    evaluation = iro.evaluate(qrels, {"a": run, "b": {"q": {"gold": 1.0}}}, documents=2)
    queries = grid_on(iro.report(evaluation, docs={"gold": " the  text "}))
    assert queries["lists"]["0"] == {
        "ids": ["x", "gold"],
        "grades": [0, 2],
        "lists": [[0, 1], [1]],
        "texts": [None, "the text"],
    }


def test_what_does_not_fit_is_left_out_from_the_smallest_change_on() -> None:
    gold = qrels_of(f"q{number}" for number in range(300))
    ranks = {query: 1 + number % 50 for number, query in enumerate(gold)}
    runs = {"a": run_of(ranks, depth=60), "b": run_of(dict.fromkeys(gold, 1), depth=60)}
    evaluation = iro.evaluate(gold, runs, documents=20)
    assert data_on(iro.report(evaluation))["more"] == ""
    small = iro.report(evaluation, max_mb=0.1)
    assert len(small.html.encode()) <= 100_000
    data = data_on(small)
    listed = {int(place) for place in data["grids"][0]["lists"]}
    left = set(range(300)) - listed
    assert f"the {len(listed)} queries that change most" in data["more"]
    assert min(place % 50 for place in listed) >= max(place % 50 for place in left)


def hostile() -> iro.ReportPage:
    """A page whose names are markup, or those that objects of JavaScript have."""
    documents = [BAD, "constructor", "toString", "__proto__", "hasOwnProperty"]
    run = {
        query: {document: -float(rank) for rank, document in enumerate(documents)}
        for query in ("valueOf", "__proto__", BAD)
    }
    qrels = {query: {"constructor": 1} for query in run}
    evaluation = iro.evaluate(
        qrels, {"__proto__": run, BAD: run}, documents=20, queries={"valueOf": BAD}
    )
    return iro.report(evaluation, docs={"__proto__": BAD}, command=BAD)


def test_markup_of_inputs_is_text() -> None:
    page = hostile()
    shown = Page(page.html)
    assert (shown.suspicious, len(shown.scripts)) == ([], 2)
    assert "\u2028" not in page.html


@pytest.mark.parametrize(
    "kind",
    [
        kind
        for kind in KINDS
        if kind.startswith(("Comparison", "Conditions", "Gate", "Leaderboard"))
    ],
)
def test_results_with_queries_behind_them_have_a_page(kind: str) -> None:
    result: Any = result_of(kind)
    html = result.to_report().html
    assert Page(html).suspicious == []
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]|<th[^>]*>\s*</th>", html)


def test_policy_allows_only_what_is_on_the_page() -> None:
    html = iro.report(evaluated(), "a").html
    (policy,) = re.findall('http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy.startswith("default-src &#39;none&#39;;")
    for tag in ("style", "script"):
        text = re.findall(f"<{tag}[^>]*>(.*?)</{tag}>", html, re.DOTALL)[-1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"sha256-{digest}" in policy


def test_inputs_are_named_with_their_hashes_and_give_the_same_bytes(tmp_path: Path) -> None:
    path = tmp_path / "a.run"
    path.write_text("q Q0 d 1 1.0 a\n")

    def made() -> str:
        evaluation = iro.evaluate({"q": {"d": 1}}, {"a": path, "b": path}, documents=5)
        return iro.report(evaluation, inputs=[path]).html

    assert hashlib.sha256(path.read_bytes()).hexdigest() in made()
    assert made() == made()


@pytest.mark.parametrize(
    "call",
    [lambda page: page.save("/nowhere/page.html"), lambda _: iro.report(evaluated(), path="/no/p")],
)
def test_a_page_that_cannot_be_written(call: Callable[[Any], Any]) -> None:
    with pytest.raises(iro.ParameterError, match="cannot be written"):
        call(iro.report(evaluated(), "a"))


def test_size_of_eight_runs_on_msmarco(real_data: Path) -> None:
    folder = real_data / "msmarco-doc-dev"
    evaluation = iro.evaluate(folder / "qrels.txt", str(folder / "*.run.gz"), documents=20)
    assert len(iro.report(evaluation).html.encode()) <= 500_000
