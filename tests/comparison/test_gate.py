from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.across.gate import WithoutResults, decide_gate
from ir_outcomes.errors import EmptyInput, ParameterError
from tests.helpers.runs import qrels_of, run_of

QUERIES = [f"q{number}" for number in range(200)]


def compared(baseline: list[int | None], contender: list[int | None], **settings: Any) -> iro.Comparison:
    ranks = [dict(zip(QUERIES, run, strict=False)) for run in (baseline, contender)]
    names = ["A", "B"]
    result = iro.compare(qrels_of(ranks[0]), *(run_of(run, depth=60) for run in ranks), names=names, **settings)
    assert isinstance(result, iro.Comparison)
    return result


def test_what_is_equal_or_better_passes() -> None:
    ranks: list[int | None] = [1 + number % 7 for number in range(200)]
    same = iro.gate(compared(ranks, ranks), margins=(2.0, 0.5))
    assert (same.status, same.exit_status) == ("pass", 0)
    assert same.decisions[0].equivalent
    assert "equivalent within the margins" in same.decisions[0].reasons[0]
    assert same.decisions[0].queries == ()
    later: list[int | None] = [2 + number % 7 for number in range(200)]
    better = iro.gate(compared(later, ranks), margins=(2.0, 0.5))
    assert better.status == "pass"
    assert not better.decisions[0].equivalent
    assert better.decisions[0].reasons == ("Harm beyond 2 percentage points of coverage and 0.5 ranks of ranking is excluded.",)


def test_harm_that_is_shown_fails_and_names_its_queries() -> None:
    ranks: list[int | None] = [1 + number % 7 for number in range(200)]
    worse: list[int | None] = [rank + number % 5 for number, rank in enumerate(ranks) if rank]
    worse[17] = 50
    result = iro.gate(compared(ranks, worse, queries={"q17": "a text"}), margins=(2.0, 0.5))
    assert (result.status, result.exit_status) == ("fail", 3)
    decision = result.decisions[0]
    assert [facet.status for facet in decision.facets] == ["harm excluded", "harm shown"]
    assert len(decision.queries) == 10
    assert (decision.queries[0].query_id, decision.queries[0].text) == ("q17", "a text")
    assert "a text" in result.to_markdown()
    lost = iro.gate(compared(ranks, [*ranks[:150], *[None] * 50]), margins=(2.0, 0.5))
    assert lost.status == "fail"
    assert {query.outcome for query in lost.decisions[0].queries} == {"lost"}


def test_not_significant_is_not_a_pass() -> None:
    baseline: list[int | None] = [5 + number % 3 for number in range(20)]
    contender: list[int | None] = [5 + (number * 7) % 4 for number in range(20)]
    comparison = compared(baseline, contender, margins=(1.0, 0.1))
    assert comparison.verdict.label == "no significant difference"
    result = iro.gate(comparison)
    assert (result.status, result.exit_status) == ("inconclusive", 4)
    facet = result.decisions[0].facets[1]
    assert facet.needed is not None
    assert facet.needed.queries is not None
    assert facet.needed.queries > 20
    assert f"about {facet.needed.queries} queries" in " ".join(result.decisions[0].reasons)


def test_search_lengths_over_all_queries_that_are_longer_do_not_pass() -> None:
    # The answers at rank 1 that are lost, and won at rank 50, leave both facets within wide margins.
    baseline: list[int | None] = [*[1] * 20, *[None] * 20, *[3] * 160]
    contender: list[int | None] = [*[None] * 20, *[50] * 20, *[3] * 160]
    result = iro.gate(compared(baseline, contender, cutoff=60), margins=(20.0, 5.0))
    assert result.status == "inconclusive"
    assert "Over all queries the search is significantly longer" in result.decisions[0].reasons[0]
    assert {query.outcome for query in result.decisions[0].queries} == {"lost"}


def test_without_a_cutoff_nothing_passes() -> None:
    a = {f"q{number}": {"recip_rank": 1 / (1 + number % 4)} for number in range(100)}
    result = iro.gate(iro.compare_outputs(a, a), margins=(5.0, 1.0))
    assert result.status == "inconclusive"
    assert "not known without a cutoff" in result.decisions[0].reasons[0]


def test_a_run_that_lacks_queries_fails() -> None:
    ranks = dict.fromkeys(QUERIES[:100], 1)
    contender = run_of(dict.fromkeys(QUERIES[:90], 1))
    comparison = iro.compare(qrels_of(ranks), run_of(ranks), contender, names=["A", "B"])
    assert comparison.n_missing == (0, 10)  # type: ignore[union-attr]
    result = iro.gate(comparison, margins=(50.0, 5.0))
    assert result.status == "fail"
    expected = "B has no results for 10 of the 100 answerable queries (10.0%); at most 5.0% may be missing."
    assert result.decisions[0].reasons[0] == expected
    allowed = iro.gate(comparison, margins=(50.0, 5.0), max_missing=0.1)
    assert allowed.status == "inconclusive"  # what was lost makes the search over all queries longer
    reversed_roles = iro.compare(qrels_of(ranks), contender, run_of(ranks), names=["A", "B"])
    assert "A has no results for 10" in iro.gate(reversed_roles, margins=(50.0, 5.0)).decisions[0].reasons[0]


def test_a_run_without_results_has_an_error_of_its_own(tmp_path: Path) -> None:
    empty = tmp_path / "empty.run"
    empty.touch()
    for run in (empty, {}, {"other": {"d": 1.0}}):
        with pytest.raises(EmptyInput):
            iro.evaluate(qrels_of(QUERIES), [run])
    decision = decide_gate(WithoutResults("B", "B is empty."), (1.0, 0.5), 0.05)
    assert (decision.status, decision.reasons, decision.name) == ("fail", ("B is empty.",), "B")


def test_the_worst_decision_is_that_of_the_whole() -> None:
    ranks: list[int | None] = [1 + number % 7 for number in range(200)]
    worse = [rank + 3 + number % 2 for number, rank in enumerate(ranks) if rank]
    runs = {name: run_of(dict(zip(QUERIES, run, strict=True)), depth=60) for name, run in (("B", ranks), ("C", worse))}
    evaluation = iro.evaluate(qrels_of(QUERIES), {"A": runs["B"], **runs})
    several = iro.gate(iro.compare(evaluation, "A"), margins=(2.0, 0.5))
    assert [decision.status for decision in several.decisions] == ["pass", "fail"]
    assert (several.status, several.worst.name) == ("fail", "C")
    suite = iro.gate(iro.compare_collections({"first": evaluation, "second": evaluation}, "A"), margins=(2.0, 0.5))
    assert [decision.name for decision in suite.decisions] == ["B on first", "B on second", "C on first", "C on second"]
    assert (suite.status, suite.worst.name) == ("fail", "C on first")
    assert "The worst decision is that on C on first." in str(suite)
    assert iro.GateResult.from_json(suite.to_json()) == suite


def test_inputs_are_hashed(tmp_path: Path) -> None:
    path = tmp_path / "qrels"
    path.write_bytes(b"content")
    comparison = compared([1] * 50, [1] * 50)
    expected = hashlib.sha256(b"content").hexdigest()
    assert iro.gate(comparison, margins=(2.0, 0.5), inputs=[path]).inputs == {str(path): expected}
    result = iro.gate(comparison, margins=(2.0, 0.5), inputs={"qrels": path})
    assert result.to_dict()["inputs"] == {"qrels": expected}
    assert result.to_dict()["settings"]["margins"] == [2.0, 0.5]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({}, "a gate needs margins"),
        ({"margins": (1.0, 0.0)}, "must be two positive numbers"),
        ({"margins": (1.0, 1.0), "max_missing": 1.0}, "must be a share of the queries"),
        ({"margins": (1.0, 1.0), "max_missing": True}, "must be a share of the queries"),
    ],
)
def test_rules_are_checked(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        iro.gate(compared([1] * 5, [1] * 5), **settings)


@pytest.mark.realdata
def test_a_naive_test_passes_where_the_gate_does_not(real_data: Path) -> None:
    folder = real_data / "msmarco-doc-dev"
    result = iro.compare(folder / "qrels.txt", folder / "bm25.run.gz", folder / "wordnet_all.run.gz")
    assert isinstance(result, iro.Comparison)
    assert result.naive.pvalues["t"] > 0.05
    low, high = result.ranking.interval or (0, 0)
    assert iro.gate(result, margins=(1.0, 0.01)).status == "fail"
    assert low < 0.05 < high
    assert iro.gate(result, margins=(1.0, 0.05)).status == "inconclusive"


@pytest.mark.realdata
def test_a_reranker_that_finds_the_same_fails_on_ranking(real_data: Path) -> None:
    folder = real_data / "known-item"
    result = iro.compare(folder / "qrels.txt", folder / "bm25-stem.run.gz", folder / "stem-rerank-chargram.run.gz")
    decision = iro.gate(result, margins=(1.0, 0.5)).decisions[0]
    assert [facet.status for facet in decision.facets] == ["harm excluded", "harm shown"]
    assert decision.status == "fail"
