"""The page of a gate: status, reasons, margins as lines, and the queries with the most harm."""

import json
from itertools import zip_longest
from typing import Any

import pytest

import ir_outcomes as iro
from tests.helpers.comparisons import compare_pair
from tests.helpers.pages import Page
from tests.helpers.runs import in_blocks, qrels_of, run_of
from tests.showing.report.test_page import island

# Each block: number of queries, rank in A, rank in B.
BLOCKS = {
    "pass": ((40, 3, 1), (40, 2, 2)),
    "inconclusive": ((20, 3, 1), (20, 1, 6)),
    "fail": ((40, 1, 9), (10, 2, 1), (9, 1, None)),
}
MARGINS = (10.0, 1.0)


def gated(status: str, **options: Any) -> tuple[iro.Evaluation, iro.GateResult]:
    first, second = in_blocks(*BLOCKS[status])
    evaluation = iro.evaluate(
        qrels_of(first), {"a": run_of(first), "b": run_of(second)}, documents=5, cutoff=10
    )
    return evaluation, iro.gate(compare_pair(evaluation, "a", "b"), margins=MARGINS, **options)


def cells(page: iro.ReportPage) -> list[tuple[list[Any], float | None]]:
    """The estimates of the forest plot with their margins."""
    found: list[tuple[list[Any], float | None]] = []
    for row in island(page)["forest"]["rows"]:
        found += zip_longest(row["estimates"], row["margins"])
    return found


@pytest.mark.parametrize("status", BLOCKS)
def test_status_is_the_title_and_all_reasons_are_there(status: str) -> None:
    evaluation, result = gated(status)
    assert result.status == status
    html = result.to_report(evaluation=evaluation).html
    assert f"<span>{status.capitalize()}</span>: b against a</h1>" in html
    assert f"<title>b against a: {status}</title>" in html
    shown = " ".join(Page(html).texts)
    assert [reason for reason in result.worst.reasons if reason not in shown] == []


def test_margins_stand_beside_the_estimates() -> None:
    _, result = gated("fail")
    page = result.to_report()
    axes = [axis for _, axis in island(page)["forest"]["panels"]]
    facets = result.worst.facets
    for facet, (estimate, margin), (low, high, _) in zip(facets, cells(page), axes, strict=True):
        assert facet.difference is not None
        gain = facet.difference if facet.higher_is_better else -facet.difference
        assert (estimate[0], margin) == (gain, -facet.margin)
        assert low < min(gain, -facet.margin, 0.0) < 0.0 < high


def test_margins_of_a_comparison_stand_beside_its_rows() -> None:
    first, second = in_blocks(*BLOCKS["fail"])
    runs = {"a": run_of(first), "b": run_of(second)}
    with_margins = compare_pair(qrels_of(first), *runs.values(), cutoff=10, margins=MARGINS)
    without = compare_pair(qrels_of(first), *runs.values(), cutoff=10)
    # Margins of 1 are one rank and one point.
    one = compare_pair(qrels_of(first), *runs.values(), cutoff=10, margins=(1.0, 1.0))
    assert "at margins of 1 point of coverage and 1 rank:" in one.to_text()
    for item, expected in ((with_margins, [-10.0, -1.0]), (without, [None, None])):
        (pair,) = island(item.to_report())["grids"][0]["pairs"]
        assert [row["margin"] for row in pair["rows"]][:2] == expected


def test_margins_of_several_contenders_stand_in_the_forest() -> None:
    first, second = in_blocks(*BLOCKS["fail"])
    runs = {"a": run_of(first), "b": run_of(second), "c": run_of(first)}
    evaluation = iro.evaluate(qrels_of(first), runs, cutoff=10, documents=5)
    page = iro.compare(evaluation, "a", margins=MARGINS).to_report(evaluation=evaluation)
    assert [margin for _, margin in cells(page)] == [-10.0, -1.0] * 2
    rows = [pair["rows"] for pair in island(page)["grids"][0]["pairs"]]
    assert [[row["margin"] for row in own][:2] for own in rows] == [[-10.0, -1.0]] * 2


def test_queries_with_the_most_harm_are_links_to_their_lists() -> None:
    evaluation, result = gated("fail")
    page = result.to_report(evaluation=evaluation)
    heading = "<h2>Queries with the most harm on ranking and over all queries, in turn</h2>"
    assert heading in page.html
    decision = result.worst
    assert island(page)["causes"] == [
        [decision.name, query.query_id, query.text, harm, ["", "a", "b"]]
        for query, harm in zip(decision.queries, decision.harms, strict=True)
    ]
    assert len(decision.queries) == 10
    assert island(page)["grids"][0]["runs"] == ["a", "b"]
    assert "<h2>Queries with" not in gated("pass")[1].to_report().html


def test_several_decisions_and_one_without_a_comparison() -> None:
    evaluation, _ = gated("fail")
    compared = iro.compare(evaluation, "a", ["b"])
    result = iro.gate(compared, margins=MARGINS, contenders=["b", "absent"])
    page = result.to_report(evaluation=evaluation)
    assert "2 contenders against a: 2 fail" in page.html
    assert [margin is None for _, margin in cells(page)] == [False] * 3 + [True] * 3
    assert "absent is missing" in page.html
    stored = iro.GateResult.from_json(result.to_json())
    again = stored.to_report().html
    assert stored == result
    assert "<h2>Queries with the most harm on " in again
    whole = iro.GateResult.from_json(result.to_json(per_query=True))
    assert whole.to_report(evaluation=evaluation).html == page.html


def test_the_queries_of_runs_that_fail_on_other_facets_have_one_heading() -> None:
    first, later = in_blocks((60, 1, 4))
    lost = in_blocks((45, 1, 1), (15, 1, None))[1]
    runs = {"a": run_of(first), "later": run_of(later), "lost": run_of(lost)}
    compared = iro.compare(iro.evaluate(qrels_of(first), runs, cutoff=10), "a")
    html = iro.gate(compared, margins=(5.0, 1.0, 5.0)).to_report().html
    assert "<h2>Queries with the most harm on the facets of each run, in turn</h2>" in html


def test_queries_that_a_gate_names_have_their_lists_on_a_small_page() -> None:
    """Others change more: 60 queries gain 19 ranks, and 20 lose an answer at rank 28 of 30."""
    first, second = in_blocks((60, 20, 1), (20, 28, None))
    runs = {"a": run_of(first, depth=30), "b": run_of(second, depth=30)}
    evaluation = iro.evaluate(qrels_of(first), runs, documents=30, cutoff=30)
    result = iro.gate(compare_pair(evaluation, "a", "b"), margins=MARGINS)
    assert result.status == "fail"
    named = {query.query_id for query in result.worst.queries}
    full = result.to_report(evaluation=evaluation)
    (own,) = island(full)["sets"]
    of_one = len(json.dumps(own["rankings"][0], separators=(",", ":")))
    small = result.to_report(
        evaluation=evaluation, max_mb=(len(full.html) - 65 * of_one) / 1_000_000
    )
    (own,) = island(small)["sets"]
    pairs = zip(own["ids"], own["rankings"], strict=True)
    listed = {query for query, lists in pairs if lists is not None}
    assert named <= listed
    assert len(listed) < 20
