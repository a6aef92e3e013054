"""Numbers as they are printed agree with each other, and say on which side of a border they are."""

import re
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.choices import POINTS, RANKS
from ir_outcomes.formatting import (
    contender_beside,
    fixed,
    interval,
    margin_text,
    places_of_difference,
    places_of_means,
    pvalue,
)
from tests.helpers.many import collection

NUMBERS = re.compile(r"[-+]?\d+\.\d+")
MEANS = st.floats(-100, 100, allow_nan=False)


def row_of(baseline: float, contender: float, half: float = 1.0, unit: str = RANKS) -> Any:
    difference = contender - baseline
    return SimpleNamespace(
        measured_in=unit,
        baseline=baseline,
        contender=contender,
        difference=difference,
        interval=(difference - half, difference + half),
    )


@given(MEANS, MEANS)
def test_printed_means_and_their_difference_agree(baseline: float, contender: float) -> None:
    row = row_of(baseline, contender)
    places = places_of_means(row)
    a, b, difference = (
        float(fixed(value, places))
        for value in (row.baseline, contender_beside(row, places), row.difference)
    )
    assert round(b - a - difference, places) == 0
    assert abs(b - contender) <= 1.01 * 10**-places
    assert difference == float(fixed(contender - baseline, places))
    rounded = [round(value, 2) for value in (baseline, contender, contender - baseline)]
    agree = abs(rounded[1] - rounded[0] - rounded[2]) < 0.005
    assert places == (2 if agree else 3)


@given(MEANS, st.floats(1e-6, 1))
def test_a_mean_is_never_printed_as_an_end_of_its_interval(contender: float, half: float) -> None:
    row = row_of(0.0, contender, half)
    places = places_of_difference(row)
    low, high = map(float, NUMBERS.findall(interval(row.interval, places)))
    assert low < float(fixed(row.difference, places)) < high


def test_an_interval_that_is_one_number_is_its_mean() -> None:
    assert places_of_difference(row_of(1.0, 1.0, half=0.0)) == 2


@pytest.mark.parametrize("margin", [0.001, 0.015, 0.125, 0.5, 4.30362])
def test_margins_are_printed_as_they_were_given(margin: float) -> None:
    assert float(margin_text(margin, (), POINTS)) == pytest.approx(margin, rel=0.01)


@given(st.floats(0.01, 10), st.floats(1e-6, 1e-3))
def test_an_end_of_an_interval_is_printed_apart_from_the_margin(margin: float, by: float) -> None:
    text = margin_text(margin, (margin + by,), RANKS)
    assert float(text) < round(margin + by, len(text.partition(".")[2]))


@given(st.floats(1e-12, 1), st.sampled_from([0.05, 0.01, 0.1]))
def test_p_shows_on_which_side_of_the_level_it_is(p: float, alpha: float) -> None:
    assert (float(pvalue(p, alpha)) <= alpha) == (p <= alpha)


def test_rows_of_a_screen_agree() -> None:
    qrels, runs = collection(6, 90, seed=1)
    evaluation = iro.evaluate(qrels, runs)
    for baseline in evaluation.names[:-1]:
        for item in iro.compare(evaluation, baseline):
            (table,) = item.view().tables
            for cells in table.rows:
                a, b, difference = map(float, cells[1:4])
                assert b - a == pytest.approx(difference, abs=1e-9)
                low, high = map(float, NUMBERS.findall(cells[4]))
                assert low < difference < high


def numbers_in(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"\d+(?:\.\d+)?", text)]


def test_sentences_count_queries_where_clusters_cancel() -> None:
    """Each cluster has a query that gains what the other one loses."""
    qrels = {f"q{number}": {"r": 1} for number in range(12)}
    first = {"r": 9.0, "x": 1.0}
    second = {"x": 9.0, "r": 1.0}
    runs = [
        {query: first if (place + swap) % 2 else second for place, query in enumerate(qrels)}
        for swap in (0, 1)
    ]
    clusters = {query: str(place // 2) for place, query in enumerate(qrels)}
    compared: Any = iro.compare(qrels, {"a": runs[0]}, {"b": runs[1]}, clusters=clusters)
    for item in compared:
        assert not any(row.differ for row in item.deciding)
        assert numbers_in(item.verdict.sentence) == [12, 12]
        equal: Any = iro.compare(qrels, {"a": runs[0]}, {"c": runs[0]}, clusters=clusters)
        assert numbers_in(equal[0].verdict.sentence) == []


def test_counts_beside_averages_by_query_are_of_queries() -> None:
    qrels, runs = collection(2, 60, relevant=3, seed=5)
    evaluation = iro.evaluate(qrels, runs, unit="document")
    item: Any = iro.compare(evaluation, *evaluation.names)
    places = places_of_means(item.coverage)
    shown = [round(abs(item.coverage.difference), places)]
    counts = [item.coverage.better, item.coverage.worse]
    assert item.coverage.differ < item.outcomes.won + item.outcomes.lost
    assert numbers_in(item.verdict.sentence)[:3] == [*shown, *counts]


def test_a_measure_without_a_cutoff_over_lists_of_different_depth_has_a_first_note() -> None:
    qrels, runs = collection(2, 30, seed=1)
    short = {
        query: dict(sorted(scores.items(), key=lambda item: -item[1])[:5])
        for query, scores in runs["run1"].items()
    }
    lists = {"deep": runs["run0"], "same": runs["run1"], "short": short}
    evaluation = iro.evaluate(qrels, lists, cutoff=5, measures=["AP", "AP@5"])
    for measure, contender, is_noted in (
        ("AP", "short", True),
        ("AP", "same", False),
        ("AP@5", "short", False),
    ):
        item: Any = iro.compare(evaluation, "deep", contender, measures=[measure])
        assert ("measure depth" in {own.kind for own in item.notes}) == is_noted
