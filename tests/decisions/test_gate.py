"""The gate: every status, what fails at once, and margins by their formula."""

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.decisions.gate import GateDecision
from ir_outcomes.errors import ParameterError
from tests.helpers import systems
from tests.helpers.runs import Ranks, qrels_of, run_of

QUERIES = [f"q{number}" for number in range(200)]
STEADY: dict[str, int | None] = {query: 1 + n % 7 for n, query in enumerate(QUERIES)}
CUTOFF = 50


def compared_in(decision: GateDecision) -> iro.Comparison:
    assert decision.comparison is not None
    return decision.comparison


def evaluated(**ranks: Ranks) -> iro.Evaluation:
    runs = {name: run_of(run, CUTOFF) for name, run in ranks.items()}
    return iro.evaluate(qrels_of(next(iter(ranks.values()))), runs, cutoff=CUTOFF)


def gated(a: Ranks, b: Ranks, margins: Any = (2.0, 0.5), **settings: Any) -> iro.GateResult:
    return iro.gate(evaluated(A=a, B=b), "A", margins=margins, **settings)


def moved(by: int) -> dict[str, int | None]:
    return {query: rank + by for query, rank in STEADY.items() if rank}


def drawn(seed: int, n: int = 150) -> tuple[Ranks, Ranks]:
    rng = np.random.default_rng(seed)
    runs = []
    for _ in range(2):
        ranks = rng.geometric(0.06, n)
        runs.append(
            {f"q{q}": int(rank) if rank <= CUTOFF else None for q, rank in enumerate(ranks)}
        )
    return runs[0], runs[1]


@pytest.mark.parametrize("seed", range(3))
def test_margins_are_those_of_compare_and_decide(seed: int) -> None:
    a, b = drawn(seed)
    ev = evaluated(A=a, B=b)
    for margins in ((2.0, 0.5), (12.0, 4.0), (30.0, 20.0)):
        (decision,) = iro.gate(ev, "A", margins=margins).decisions
        compared: Any = iro.compare(ev, "A", "B", margins=margins)
        of_rows = [row.margin for row in compared.deciding]
        assert [row.margin for row in decision.rows] == of_rows
        found = [margin.found for margin in of_rows]
        expected = "fail" if "harm shown" in found else "inconclusive"
        assert decision.status == ("pass" if set(found) == {"harm excluded"} else expected)


def test_the_level_is_divided_among_contenders() -> None:
    a, b = drawn(5)
    (alone,) = iro.gate(evaluated(A=a, B=b), "A", margins=(5.0, 5.0)).decisions
    shared = iro.gate(evaluated(A=a, B=b, C=STEADY_PART), "A", margins=(5.0, 5.0)).decisions[0]
    free = iro.gate(
        evaluated(A=a, B=b, C=STEADY_PART), "A", margins=(5.0, 5.0), correction="none"
    ).decisions[0]
    for row, wider, same in zip(alone.rows, shared.rows, free.rows, strict=True):
        low, high = row.margin.interval  # type: ignore[union-attr, misc]
        assert wider.margin.interval[0] < low < high < wider.margin.interval[1]  # type: ignore[union-attr, index]
        assert same.margin.interval == row.margin.interval  # type: ignore[union-attr]


STEADY_PART = {query: STEADY[query] for query in QUERIES[:150]}


@pytest.mark.parametrize(
    ("contender", "status", "exit_status"),
    [
        (moved(0), "pass", 0),
        (moved(-1), "pass", 0),
        (moved(3), "fail", 3),
        (moved(1), "inconclusive", 4),
    ],
)
def test_every_status(contender: dict[str, Any], status: str, exit_status: int) -> None:
    better = {query: max(rank, 1) for query, rank in contender.items()}
    margins = (2.0, 1.0) if status == "inconclusive" else (2.0, 0.5)
    result = gated(STEADY, better, margins)
    assert (result.status, result.exit_status) == (status, exit_status)
    (decision,) = result.decisions
    if status != "fail":
        assert bool(decision.needed) == (status == "inconclusive")
    assert bool(decision.queries) == (status != "pass")
    if status == "fail":
        assert decision.harmed == ["ranking", "all queries"]


def test_not_significant_is_not_a_pass_and_the_number_that_would_settle_it_is_that_of_a_plan() -> (
    None
):
    a = {query: STEADY[query] for query in QUERIES[:20]}
    ev = evaluated(A=a, B={query: 1 + (n * 3) % 7 for n, query in enumerate(a)})
    comparison: Any = iro.compare(ev, "A", "B")
    (decision,) = iro.gate(ev, "A", margins=(1.0, 0.1, 1.0)).decisions
    assert (compared_in(decision).verdict.label, decision.status) == (
        "no significant difference",
        "inconclusive",
    )
    planned = iro.plan(comparison, ranking=0.1)
    (ranking,) = [row for row in planned.parts if row.name == "ranking"]
    assert decision.needed["ranking"] == ranking.to_pass


def test_harm_names_its_queries() -> None:
    worse = moved(1)
    worse |= {"q17": CUTOFF, "q3": None}
    (decision,) = gated(STEADY, worse, (20.0, 0.1)).decisions
    assert decision.status == "fail"
    assert len(decision.queries) == 10
    assert decision.queries[0].query_id == "q17"
    lost = {query: rank if n < 150 else None for n, (query, rank) in enumerate(STEADY.items())}
    (decision,) = gated(STEADY, lost, (2.0, 40.0, 45.0)).decisions
    assert decision.harmed == ["coverage"]
    assert {query.outcome for query in decision.queries} == {"lost"}


def test_a_row_without_a_query_excludes_no_harm() -> None:
    first = {query: rank if n < 100 else None for n, (query, rank) in enumerate(STEADY.items())}
    second = {query: None if n < 100 else rank for n, (query, rank) in enumerate(STEADY.items())}
    (decision,) = gated(first, second, (40.0, 0.5, 40.0)).decisions
    assert [(row.name, row.n) for row in decision.rows][1] == ("ranking", 0)
    assert not compared_in(decision).verdict.non_inferior
    assert decision.status == "inconclusive"
    assert decision.harmed == ["ranking"]


def test_what_is_identical_passes_unless_that_is_a_mistake() -> None:
    for identical in ("pass", "fail"):
        result = gated(STEADY, STEADY, identical=identical)
        (decision,) = result.decisions
        assert (result.status, compared_in(decision).identical) == (identical, True)
        assert "identical" in decision.reasons[0]
        assert [row.margin.interval for row in decision.rows] == [(0.0, 0.0)] * 3  # type: ignore[union-attr]


def test_equal_lists_whose_measures_differ_are_not_identical() -> None:
    evaluation = evaluated(A=STEADY, B=STEADY)
    n = len(evaluation.query_ids)
    values = np.array([np.full(n, 0.5), np.full(n, 0.4)])
    scores = iro.Scores("nDCG@10", True, evaluation.names, evaluation.query_ids, values)
    evaluation = replace(evaluation, scores=(scores,))
    result = iro.gate(evaluation, "A", margins=(2.0, 0.5), measures=["nDCG@10"])
    (decision,) = result.decisions
    assert not compared_in(decision).identical
    interval = compared_in(decision).measures[0].interval
    assert interval is not None
    assert interval.high < 0


def test_a_gate_says_nothing_about_new_runs() -> None:
    qrels, runs = systems.drawn(3, runs={"a": 1, "b": 5})
    evaluation = iro.evaluate(qrels, runs, cutoff=12)
    compared = iro.compare(evaluation, "a", "b")
    assert compared.ranking.new_runs is not None
    (decision,) = iro.gate(evaluation, "a", "b", margins=(20.0, 9.0)).decisions
    assert decision.comparison is not None
    assert all(row.new_runs is None for row in (*decision.rows, *decision.comparison.parts))


def test_equal_search_lengths_are_not_identical_runs() -> None:
    a = run_of(STEADY, CUTOFF)
    b = {
        query: {f"x{d}" if d != "gold" else d: score for d, score in ranked.items()}
        for query, ranked in a.items()
    }
    ev = iro.evaluate(qrels_of(QUERIES), {"A": a, "B": b}, cutoff=CUTOFF)
    (decision,) = iro.gate(ev, "A", margins=(0.5, 0.1)).decisions
    assert [row.differ for row in decision.rows] == [0, 0, 0]
    assert (decision.status, compared_in(decision).identical) == ("inconclusive", False)


def test_runs_that_lack_results_or_find_nothing_fail() -> None:
    a = run_of(STEADY, CUTOFF)
    part = {query: a[query] for query in QUERIES[:180]}
    ev = iro.evaluate(qrels_of(QUERIES), {"A": a, "B": part}, cutoff=CUTOFF)
    lenient: dict[str, Any] = {"margins": (30.0, 5.0)}
    assert iro.gate(ev, "A", max_missing=0.1, **lenient).status == "pass"
    (decision,) = iro.gate(ev, "A", max_missing=0.09, **lenient).decisions
    assert (decision.status, compared_in(decision).n_missing) == ("fail", (0, 20))
    assert "20 of 200" in decision.reasons[0]
    nothing = {query: {"d1": 1.0} for query in QUERIES}
    judged = {query: {"gold": 1, "d1": 0} for query in QUERIES}
    for runs in ({"A": a, "B": nothing}, {"A": nothing, "B": nothing}):
        ev = iro.evaluate(judged, runs, cutoff=CUTOFF, on_error="keep")
        assert iro.gate(ev, "A", margins=(99.0, 48.0)).status == "fail"


def test_what_compare_stops_fails_unless_it_is_allowed() -> None:
    a = run_of(STEADY, CUTOFF)
    other = {
        query: {f"{document}.0": score for document, score in own.items()}
        for query, own in a.items()
    }
    judged = {query: {"gold": 1, **{f"d{n}": 0 for n in range(1, 9)}} for query in QUERIES}
    ev = iro.evaluate(judged, {"A": a, "B": other}, cutoff=CUTOFF, on_error="keep")
    (decision,) = iro.gate(ev, "A", margins=(2.0, 0.5)).decisions
    assert decision.status == "fail"
    assert "If that is meant, allow 'unknown-ids'." in decision.reasons[0]
    (decision,) = iro.gate(ev, "A", margins=(2.0, 0.5), allow=["unknown-ids"]).decisions
    assert not any("unknown-ids" in reason for reason in decision.reasons)
    with pytest.raises(ParameterError, match="'unknown' is neither one of unknown-ids"):
        iro.gate(ev, "A", margins=(2.0, 0.5), allow=["unknown"])


def test_a_collection_that_lacks_a_contender_decides_at_the_level_of_the_call() -> None:
    runs = {"A": STEADY, "B": STEADY, "C": moved(3)}
    whole = iro.gate({"second": evaluated(**runs)}, "A", margins=(2.0, 0.5))
    lacking = evaluated(A=STEADY, C=moved(3))
    suite = {"first": evaluated(**runs), "second": lacking}
    part = iro.gate(suite, "A", margins=(2.0, 0.5), allow=["B@second"])
    (of_whole,) = (decision for decision in whole.decisions if decision.contender == "C")
    (of_part,) = (decision for decision in part.decisions if decision.name == "C on second")
    assert of_part.rows == of_whole.rows
    assert iro.gate(lacking, "A", margins=(2.0, 0.5)).decisions[0].rows != of_whole.rows


def test_a_suite_is_a_gate_in_each_collection_and_missing_runs_fail() -> None:
    suite = {
        "first": evaluated(A=STEADY, B=STEADY, C=moved(3)),
        "second": evaluated(A=STEADY, C=STEADY),
        "third": evaluated(C=STEADY),
    }
    result = iro.gate(suite, "A", margins=(2.0, 0.5))
    statuses = {decision.name: decision.status for decision in result.decisions}
    assert statuses == {
        "B on first": "pass",
        "B on second": "fail",
        "B on third": "fail",
        "C on first": "fail",
        "C on second": "pass",
        "C on third": "fail",
    }
    reasons = {decision.name: decision.reasons[0] for decision in result.decisions}
    assert reasons["B on third"].startswith("A and B are missing on third")
    allowed = ["B@second", "A@third", "B@third"]
    rest = iro.gate(suite, "A", margins=(2.0, 0.5), allow=allowed)
    assert {decision.name for decision in rest.decisions} == {
        "B on first",
        "C on first",
        "C on second",
    }
    with pytest.raises(ParameterError, match="'B@secnod' is neither one of"):
        iro.gate(suite, "A", margins=(2.0, 0.5), allow=["B@secnod"])
    apart = {"one": evaluated(A=STEADY), "third": suite["third"]}
    with pytest.raises(ParameterError, match="leaves nothing to decide on"):
        iro.gate(apart, "A", "C", margins=(2.0, 0.5), allow=["C@one", "A@third"])


def test_a_reference_keeps_small_losses_from_adding_up() -> None:
    """Every night loses a rank, which is inside the margin; the release four nights ago is not."""
    ev = evaluated(**{f"night{n}": moved(n) for n in range(5)})
    assert iro.gate(ev, "night3", "night4", margins=(4.0, 2.0)).status == "pass"
    result = iro.gate(ev, "night3", "night4", reference="night0", margins=(4.0, 2.0))
    assert (result.status, result.baseline, result.reference) == ("fail", "night3", "night0")
    statuses = [(decision.name, decision.status) for decision in result.decisions]
    assert statuses == [("night4", "pass"), ("night4 against night0", "fail")]
    assert [row["baseline"] for row in result.rows()] == ["night3", "night0"]


@pytest.mark.parametrize(
    ("margins", "most"),
    [
        ((5.0, 49.0), "49 ranks of ranking"),
        ((5.0, 0.5, 50.0), "50 ranks over all queries"),
        ((60.0, 30.0), "50 ranks over all queries"),
        ((100.0, 0.5), "100 percentage points"),
    ],
)
def test_margins_that_no_harm_can_exceed_are_refused(margins: Any, most: str) -> None:
    with pytest.raises(ParameterError, match=f"no run can lose more than {most}"):
        gated(STEADY, moved(1), margins)


def test_rules_are_checked_and_inputs_hashed(tmp_path: Path) -> None:
    ev = evaluated(A=STEADY, B=moved(1))
    calls: list[tuple[dict[str, Any], str]] = [
        ({}, "a gate needs margins"),
        ({"margins": (1.0, 0.0)}, "must be positive numbers"),
        ({"margins": (1.0, 1.0), "max_missing": 1.0}, "must be a share of the queries"),
        ({"margins": (1.0, 1.0), "identical": "maybe"}, "must be one of pass, fail"),
        ({"margins": (1.0, 1.0), "contenders": "A"}, "name a run other than the baseline"),
    ]
    for settings, message in calls:
        with pytest.raises(ParameterError, match=message):
            iro.gate(ev, "A", **settings)
    path = tmp_path / "qrels"
    path.write_bytes(b"content")
    result = iro.gate(ev, "A", margins=(5.0, 1.5), inputs=[path])
    assert result.inputs == {str(path): hashlib.sha256(b"content").hexdigest()}
    assert result.settings.margins is not None
