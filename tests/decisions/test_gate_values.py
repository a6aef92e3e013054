"""A gate on values that another tool computed decides on the mean over all queries."""

from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from tests.helpers.estimate import margins_of_queries

QUERIES = [f"q{number}" for number in range(400)]


def values(shift: float, seed: int = 1) -> dict[str, float]:
    draws = np.random.default_rng(seed).normal(0.5 + shift, 0.03, len(QUERIES))
    return dict(zip(QUERIES, draws.clip(0, 1).tolist(), strict=True))


def decided(*outputs: Any, margin: float = 0.02, measure: str = "nDCG@10", **more: Any) -> Any:
    evaluation = iro.outputs(*outputs, measure=measure, allow=["missing-values"])
    return iro.gate(evaluation, evaluation.names[0], margins=(margin,), **more)


def interval(old: dict[str, float], new: dict[str, float], alpha: float) -> tuple[float, float]:
    return margins_of_queries([new[query] - old[query] for query in old], 1.0, alpha)


@pytest.mark.parametrize("measure", ["nDCG@10", "RR", "recall_100"])
def test_the_interval_for_margins_of_the_mean_decides(measure: str) -> None:
    old = values(0)
    for shift, status in ((0.02, "pass"), (-0.08, "fail"), (-0.02, "inconclusive")):
        new = values(shift, 2)
        result = decided(old, new, measure=measure)
        assert (result.status, result.max_missing) == (status, 0)
        (decision,) = result.decisions
        (row,) = decision.rows
        assert tuple(row.margin.interval) == pytest.approx(interval(old, new, 0.05))
        assert row.difference == pytest.approx(np.mean([new[q] - old[q] for q in QUERIES]))
    several = decided(old, values(0.02, 2), values(-0.02, 3), measure=measure)
    assert [len(decision.rows) for decision in several.decisions] == [1, 1]
    assert tuple(several.decisions[0].rows[0].margin.interval) == pytest.approx(
        interval(old, values(0.02, 2), 0.025)
    )


def test_values_that_must_not_pass() -> None:
    old = values(0)
    zeros = dict.fromkeys(QUERIES, 0.0)
    (decision,) = decided(old, zeros, margin=0.99).decisions
    assert decision.status == "fail"
    assert any("0 for every query" in reason for reason in decision.reasons)
    (decision,) = decided(old, {query: old[query] for query in QUERIES[1:]}).decisions
    assert decision.status == "fail"
    assert any("has no value of nDCG@10 for 1 query (q0)" in why for why in decision.reasons)
    both = decided(old, old, zeros, margin=0.5)
    assert [decision.status for decision in both.decisions] == ["pass", "fail"]
    assert identical(both) == [True, False]
    lacking = {query: old[query] for query in QUERIES[1:]}
    assert identical(decided(old, lacking, max_missing=0.1)) == [False]
    assert identical(decided(lacking, old, max_missing=0.1)) == [False]
    assert identical(decided(old, old, lacking, max_missing=0.1)) == [True, False]
    other = {**old, "q0": 0.0}  # differs only where another contender has no value
    assert identical(decided(old, other, lacking, max_missing=0.1)) == [False, False]


def identical(result: Any) -> list[bool]:
    return [decision.comparison.identical for decision in result.decisions]


def test_what_the_contender_lacks_counts_as_the_worst_value() -> None:
    old = values(0)
    lacking = {query: old[query] for query in QUERIES[2:]}
    worst = {**lacking, "q0": 0.0, "q1": 0.0}
    for tolerated, status in ((0.1, "pass"), (0.004, "fail")):
        (decision,) = decided(old, lacking, max_missing=tolerated).decisions
        assert decision.status == status
        (row,) = decision.rows
        assert tuple(row.margin.interval) == pytest.approx(interval(old, worst, 0.05))
    clusters = {query: str(number // 4) for number, query in enumerate(QUERIES)}
    evaluation = iro.outputs(
        old, lacking, measure="nDCG@10", clusters=clusters, allow=["missing-values"]
    )
    result = iro.gate(evaluation, "output 1", margins=(0.02,), max_missing=0.1)
    assert result.status == "inconclusive"
    (decision,) = decided(lacking, old, max_missing=0.1).decisions  # the baseline alone lacks them
    shared = {query: old[query] for query in lacking}
    assert tuple(decision.rows[0].margin.interval) == pytest.approx(interval(lacking, shared, 0.05))


@pytest.mark.parametrize(("measure", "sign"), [("nDCG@10", 1), ("latency", -1)])
def test_the_most_harmed_queries_come_first(measure: str, sign: int) -> None:
    old = dict.fromkeys(QUERIES, 0.5)
    new = {query: 0.5 - sign * (number - 20) / 1000 for number, query in enumerate(QUERIES)}
    evaluation = iro.outputs(old, new, measure=measure, higher_is_better=sign > 0, range=(0, 1))
    (decision,) = iro.gate(evaluation, evaluation.names[0], margins=(0.01,)).decisions
    assert decision.status == "fail"
    assert [query.query_id for query in decision.queries] == QUERIES[:-11:-1]


def test_a_reference_must_be_passed_too() -> None:
    result = decided(values(0.03), values(0.05), values(0.02, 2), reference="output 2", margin=0.03)
    assert {decision.reference for decision in result.decisions} == {None, "output 2"}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"margin": 1.0}, "no loss of nDCG@10 can exceed this margin: its range is 1"),
        ({"cutoff": 10}, "have no other cutoff"),
        ({"measures": ["AP"]}, "have no other measure"),
    ],
)
def test_what_is_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(iro.ParameterError, match=message):
        decided(values(0), values(0, 2), **settings)
    scores = iro.outputs(values(0), values(0, 2), measure="mine", higher_is_better=True)
    with pytest.raises(iro.ParameterError, match="the range of mine is not known"):
        iro.gate(scores, "output 1", margins=(0.1,))
    with pytest.raises(iro.ParameterError, match="must be one number, of the mean of mine"):
        iro.gate(scores, "output 1", margins=(1.0, 0.1))
