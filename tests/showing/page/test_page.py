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
from ir_outcomes.reading.texts import document_texts
from tests.helpers.comparisons import compare_pair, compare_several
from tests.helpers.many import collection
from tests.helpers.pages import Page
from tests.helpers.results import KINDS, result_of
from tests.helpers.runs import qrels_of, run_of

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


@pytest.mark.parametrize("unit", ["query", "document"])
def test_rows_are_those_of_the_comparisons(unit: Unit) -> None:
    evaluation = evaluated(unit)
    result = compare_several(evaluation, "a", margins=(5.0, 2.0), measures=["nDCG@5"])
    data = data_on(result.to_report(evaluation=evaluation))
    (grid,) = data["grids"]
    for place, contender in enumerate(grid["second"]):
        comparison = result[grid["runs"][contender]]
        assert grid["runs"][grid["first"][place]] == "a"
        assert data["labels"][grid["label"][place]][0] == comparison.verdict.label
        for row, part in zip(grid["rows"], comparison.parts, strict=True):
            expected = {
                "difference": part.difference,
                "low": part.interval and part.interval.low,
                "high": part.interval and part.interval.high,
                "found": FINDINGS[part.found],
            }
            found = {name: row[name][place] for name in expected}
            assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)
            assert row["gains"] == (1 if part.higher_is_better else -1)


@pytest.mark.parametrize("unit", ["query", "document"])
def test_search_lengths_give_the_changes_of_the_queries(unit: Unit) -> None:
    evaluation = evaluated(unit)
    comparison = compare_pair(evaluation, "a", "b")
    (grid,) = data_on(comparison.to_report(evaluation=evaluation))["grids"]
    found, values = (np.reshape(grid[name], (2, -1)) for name in ("found", "values"))
    sizes = np.array(grid["sizes"])
    queries = comparison.per_query()
    assert values[1] - values[0] == pytest.approx([own.change for own in queries], abs=1e-5)
    assert found[1] / sizes == pytest.approx([own.found_contender for own in queries])


def test_systems_have_the_means_of_their_runs() -> None:
    qrels, runs = collection(3, 20)
    evaluation = iro.evaluate(
        qrels, runs, documents=5, replicates=dict.fromkeys(("run1", "run2"), "several")
    )
    comparison = compare_pair(evaluation, "run0", "several")
    (grid,) = data_on(comparison.to_report(evaluation=evaluation))["grids"]
    found = np.reshape(grid["found"], (2, -1))
    assert found[1] == pytest.approx([own.found_contender for own in comparison.per_query()])


def test_all_pairs_of_a_board_have_their_labels() -> None:
    board = iro.leaderboard(evaluated())
    data = data_on(board.to_report(evaluation=evaluated()))
    (grid,) = data["grids"]
    codes = (grid[name] for name in ("first", "second", "label"))
    for a, b, label in zip(*codes, strict=True):
        runs = [grid["runs"][run] for run in (a, b)]
        assert board.verdict(*runs).label == data["labels"][label][0]
        mirrored = data["labels"][data["labels"][label][2]][0]
        assert board.verdict(*runs[::-1]).label == mirrored
    assert len(grid["label"]) == len(board.pairs)


@pytest.mark.parametrize("unit", ["query", "document"])
def test_pages_without_an_evaluation(unit: Unit) -> None:
    board = data_on(iro.leaderboard(evaluated(unit)).to_report())
    assert board["sets"][0]["ids"] == []
    comparison = compare_pair(evaluated(unit), "a", "b")
    data = data_on(comparison.to_report())
    assert data["queries"] == 0
    queries = [query.query_id for query in comparison.per_query()]
    assert data["sets"][0]["ids"] == (queries if unit == "query" else [])


def test_values_of_another_tool_without_an_evaluation() -> None:
    values = [
        {f"q{n}": value / 10 for n, value in enumerate(own)} for own in ((0, 5, 9), (3, 5, 0))
    ]
    result = iro.compare_outputs(*values, measure="nDCG@10")
    (grid,) = data_on(result.to_report())["grids"]
    assert grid["gains"] == 1
    assert grid["values"] == pytest.approx([0, 0.5, 0.9, 0.3, 0.5, 0])


def test_lists_are_those_of_the_runs() -> None:
    run = {"q": {"x": 3.0, "gold": 2.0, "other": 1.0}}
    qrels = {"q": {"gold": 2, "x": 0}}
    evaluation = iro.evaluate(qrels, {"a": run, "b": {"q": {"gold": 1.0}}}, documents=2)
    data = data_on(iro.report(evaluation, docs={"gold": " the  text "}))
    (own,) = data["sets"]
    assert own["lists"]["0"] == {
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
    by_default = iro.report(evaluation)
    small = iro.report(evaluation, max_mb=0.1)
    data = data_on(small)
    assert len(small.html.encode()) <= 100_000
    assert 0 < data["listed"] < data["queries"] == data_on(by_default)["listed"] == 300
    listed = {int(place) for place in data["sets"][0]["lists"]}
    left = set(range(300)) - listed
    assert min(place % 50 for place in listed) >= max(place % 50 for place in left)


@pytest.mark.parametrize("max_mb", [0, -1, 5000, float("nan"), "2"])
def test_invalid_size_is_refused(max_mb: Any) -> None:
    with pytest.raises(iro.ParameterError, match="max_mb"):
        iro.report(evaluated(), "a", max_mb=max_mb)


def test_texts_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "docs.jsonl"
    lines = [{"doc_id": 1, "title": " T ", "text": "words " * 200}, {"_id": "2", "text": ""}]
    path.write_text("\n\n".join(map(json.dumps, lines)))
    first, second, third = document_texts(path, {"1", "2"}, "")(["1", "2", "3"])
    assert first is not None
    assert first.startswith("T. words")
    assert (len(first) <= 600, first[-1]) == (True, "…")
    assert (second, third) == (None, None)
    for bad in ("[]", '{"text": "x"}', "{", "[" * 100_000):
        path.write_text(f'{{"doc_id": "1"}}\n\n{bad}\n')
        with pytest.raises(iro.FormatError, match=r"docs.jsonl, line 3: "):
            document_texts(path, set(), "")


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
    (own,) = data_on(page)["sets"]
    assert {"__proto__", "constructor"} <= set(own["lists"]["0"]["ids"])


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
    page = result.to_report()
    assert Page(page.html).suspicious == []
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", page.html)
    assert data_on(page)["listed"] == 0


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
