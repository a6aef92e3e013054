"""Rows and labels of all pairs of a board, against `compare` pair by pair."""

from dataclasses import fields, replace
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.leaderboards.board import BoardPair
from ir_outcomes.pairs import differences
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.verdict import FACETS, label_of
from ir_outcomes.statistics.families import adjust
from tests.helpers.many import collection
from tests.helpers.systems import drawn

SIGNS = {"better": 1, "worse": -1, "none": 0}


def assert_same_row(found: Row, expected: Row) -> None:
    # A board has neither the tests of the papers nor intervals for new runs.
    expected = replace(expected, tests={}, new_runs=None)
    for field in fields(Row):
        value, other = getattr(found, field.name), getattr(expected, field.name)
        if isinstance(other, (float, tuple)):
            assert value == pytest.approx(other, rel=1e-9, abs=1e-12), field.name
        else:
            assert value == other, field.name


def assert_same(evaluation: iro.Evaluation, *measures: str, alpha: float = 0.05) -> None:
    """Each pair by itself is that of `compare`; then all pairs are corrected, row by row."""
    names = ["all queries", *measures]
    alone = iro.leaderboard(evaluation, measures=names, alpha=alpha, correction="none")
    order = [standing.run for standing in alone.standings]
    for place, baseline in enumerate(order[:-1]):
        for expected in iro.compare(
            evaluation,
            baseline,
            order[place + 1 :],
            measures=list(measures),
            alpha=alpha,
            correction="none",
        ):
            found = alone.verdict(baseline, expected.contender)
            assert (found.baseline, found.label) == (baseline, expected.verdict.label)
            rows = (*expected.parts, *expected.measures)
            for row in rows:
                assert_same_row(found.rows[row.name], row)
    corrected = iro.leaderboard(evaluation, measures=names, alpha=alpha)
    for name in alone.pairs[0].rows:
        rows = tuple(pair.rows[name] for pair in corrected.pairs)
        assert [row.pvalue_corrected for row in rows] == pytest.approx(
            adjust([row.pvalue for row in rows], "holm")
        )
        for row in rows:
            is_found = row.pvalue_corrected <= alpha
            assert row.found == (direction_of_mean(row) if is_found else "none")
    for pair in corrected.pairs:
        assert pair.label == label_by_rows(pair, alpha)


def direction_of_mean(row: Row) -> str:
    gain = row.gain
    return "none" if gain == 0 else "better" if gain > 0 else "worse"


def label_by_rows(pair: BoardPair, alpha: float) -> str:
    shown = []
    for name in FACETS:
        row = pair.rows[name]
        raw = SIGNS[direction_of_mean(row)] * (row.pvalue <= alpha)
        shown.append(SIGNS[row.found] + raw)
    return label_of(SIGNS[pair.rows["all queries"].found], *shown)


def by_threes(query: str) -> int:
    return int(query[1:]) // 3


@pytest.mark.parametrize("clusters", [None, by_threes])
@pytest.mark.parametrize(("unit", "relevant"), [("query", 1), ("query", 3), ("document", 3)])
def test_pairs_are_those_of_compare(
    unit: Any, relevant: int, clusters: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, runs = collection(3, 60, relevant)
    qrels["q3"] = {"nowhere": 1}
    qrels["q4"] = {"g0": 0}
    runs["copy"] = runs["run1"]
    runs["short"] = {query: dict(list(run.items())[:4]) for query, run in runs["run2"].items()}
    evaluation = iro.evaluate(
        qrels, runs, unit=unit, cutoff=8, clusters=clusters, measures=["nDCG@8"]
    )
    assert_same(evaluation, "nDCG@8")
    monkeypatch.setattr(differences, "BLOCK", 1000)
    assert_same(evaluation, "nDCG@8", alpha=0.2)


@pytest.mark.parametrize("clusters", [None, by_threes])
@pytest.mark.parametrize("relevant", [1, 3])
def test_pairs_of_systems_with_several_runs(relevant: int, clusters: Any) -> None:
    qrels, runs = drawn(1, runs={"a": 1, "b": 5, "c": 2, "d": 1}, relevant=relevant, n_queries=60)
    unit: Any = ["query", "document"][relevant > 1]
    evaluation = iro.evaluate(
        qrels, runs, cutoff=6, unit=unit, clusters=clusters, measures=["AP@6"]
    )
    assert_same(evaluation, "AP@6")


def test_pairs_are_a_sequence_and_turn() -> None:
    board = iro.leaderboard(iro.evaluate(*collection(4, 40)))
    listed = tuple(board.pairs)
    with pytest.raises(IndexError):
        board.pairs[6]
    assert board.pairs == listed
    assert hash(board.pairs) == hash(listed)
    assert board.pairs != listed[:5]
    assert board.pairs[1:3] == listed[1:3]
    restored = iro.Leaderboard.from_json(board.to_json())
    assert restored == board
    assert restored.rows() == board.rows()
    assert isinstance(restored.pairs, tuple)
    for pair in listed:
        assert pair.turned().turned() == pair
        for either in (board, restored):
            assert either.verdict(pair.baseline, pair.contender) == pair
            assert either.verdict(pair.contender, pair.baseline) == pair.turned()


def test_a_turned_pair_is_the_pair_of_the_turned_systems() -> None:
    evaluation = iro.evaluate(*collection(3, 40))
    for pair in iro.leaderboard(evaluation, correction="none").pairs:
        turned = iro.compare(evaluation, pair.contender, pair.baseline)
        assert pair.turned().label == turned.verdict.label
        for row in turned.parts:
            assert_same_row(pair.turned().rows[row.name], row)
