"""Rows and labels of all pairs at once, against `compare` pair by pair."""

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ir_outcomes.leaderboards.pairs import PairRow, PairVerdict, pairs_of

import ir_outcomes as iro
from ir_outcomes.comparison.family import judged, measured_pairs
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.leaderboards import differences
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.rules import Rules, Settings
from tests.helpers.many import collection
from tests.helpers.systems import drawn


def compared(evaluation: iro.Evaluation, rules: Rules) -> tuple[Comparison, ...]:
    """Every pair by `compare`, corrected over all of them."""
    pairs = list(combinations(evaluation.systems, 2))
    settings = Settings.of(evaluation, rules, family=len(pairs))
    return judged(measured_pairs(evaluation, pairs, settings, (), [()] * len(pairs)), settings)


def assert_same_row(found: PairRow, row: Row) -> None:
    assert (found.n, found.differ, found.better, found.found) == (
        row.n,
        row.differ,
        row.better,
        row.found,
    )
    assert found.pvalue == pytest.approx(row.pvalue, rel=1e-9)
    assert found.pvalue_corrected == pytest.approx(row.pvalue_corrected, rel=1e-9)
    assert (found.difference is None) == (row.difference is None)
    if found.difference is not None:
        assert found.difference == pytest.approx(row.difference, rel=1e-12, abs=1e-12)
    assert (found.interval is None) == (row.interval is None)
    if found.interval is not None:
        assert found.interval == pytest.approx(row.interval, rel=1e-9, abs=1e-12)


def assert_same(evaluation: iro.Evaluation, rules: Rules | None = None) -> None:
    rules = rules or Rules()
    pairs = pairs_of(evaluation, rules)
    expected = compared(evaluation, rules)
    assert len(pairs) == len(expected)
    for found, own in zip(pairs, expected, strict=True):
        assert (found.baseline, found.contender) == (own.baseline, own.contender)
        assert own.restricted is not None
        assert_same_row(found.coverage, own.coverage)
        assert_same_row(found.ranking, own.ranking)
        assert_same_row(found.all_queries, own.restricted)
        assert found.label == own.verdict.label
        assert found.direction == own.verdict.direction


def by_threes(query: str) -> int:
    return int(query[1:]) // 3


@pytest.mark.parametrize("clusters", [None, by_threes])
@pytest.mark.parametrize(("unit", "relevant"), [("query", 1), ("query", 3), ("document", 3)])
def test_pairs_are_those_of_compare(
    unit: Any, relevant: int, clusters: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    qrels, runs = collection(5, 60, relevant)
    qrels["q3"] = {"nowhere": 1}
    qrels["q4"] = {"g0": 0}
    runs["copy"] = runs["run1"]
    runs["short"] = {query: dict(list(run.items())[:4]) for query, run in runs["run2"].items()}
    runs["nothing"] = {"q0": {"x": 1.0}}
    evaluation = iro.evaluate(qrels, runs, unit=unit, cutoff=8, clusters=clusters)
    assert_same(evaluation)
    assert_same(evaluation, Rules(alpha=0.2, correction="none"))
    monkeypatch.setattr(differences, "BLOCK", 1000)
    assert_same(evaluation, Rules(correction="fdr_bh"))


@pytest.mark.parametrize("clusters", [None, by_threes])
@pytest.mark.parametrize("relevant", [1, 3])
def test_pairs_of_systems_with_several_runs(relevant: int, clusters: Any) -> None:
    qrels, runs = drawn(1, runs={"a": 1, "b": 5, "c": 2, "d": 1}, relevant=relevant, n_queries=60)
    unit: Any = ["query", "document"][relevant > 1]
    assert_same(iro.evaluate(qrels, runs, cutoff=6, unit=unit, clusters=clusters))


@pytest.mark.realdata
@pytest.mark.parametrize("unit", ["query", "document"])
def test_pairs_of_a_real_board(real_data: Path, unit: Any) -> None:
    board = real_data / "trec-covid-r1"
    runs = sorted(board.glob("*.run.gz"))[:8]
    evaluation = iro.evaluate(board / "qrels.complete.txt.gz", runs, unit=unit)
    assert_same(evaluation)
    assert_same(evaluation.with_cutoff(10))


def test_turned_twice_is_the_same() -> None:
    evaluation = iro.evaluate(*collection(3, 40))
    for pair in pairs_of(evaluation, Rules()):
        assert pair.turned().turned() == pair
        swapped: PairVerdict = pairs_of(
            evaluation[[pair.contender, pair.baseline]], Rules(correction="none")
        )[0]
        alone = pairs_of(evaluation[[pair.baseline, pair.contender]], Rules(correction="none"))[0]
        assert swapped == alone.turned()


def test_better_by_label_and_by_row() -> None:
    pairs = pairs_of(iro.evaluate(*collection(4, 60)), Rules())
    for row in ("", "coverage", "ranking", "all queries"):
        better = np.zeros((4, 4), dtype=bool)
        for pair in pairs:
            a, b = pairs.names.index(pair.baseline), pairs.names.index(pair.contender)
            found = pair.direction if not row else getattr(pair, row.replace(" ", "_")).found
            better[a, b] = found == "worse"
            better[b, a] = found == "better"
        assert np.array_equal(pairs.better(row), better)
    assert pairs == tuple(pairs)
    assert pairs[1:3] == (pairs[1], pairs[2])
