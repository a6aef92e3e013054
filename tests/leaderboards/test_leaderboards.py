from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, MismatchError, ParameterError
from ir_outcomes.leaderboards.tiers import tiers
from ir_outcomes.reading.entries import read_entries
from tests.helpers.many import collection


@pytest.mark.parametrize(("unit", "relevant"), [("query", 1), ("query", 3), ("document", 3)])
def test_the_verdicts_are_those_of_compare(unit: Any, relevant: int) -> None:
    qrels, runs = collection(5, 60, relevant, seed=relevant)
    board = iro.leaderboard(qrels, runs, cutoff=8, unit=unit)
    compared = iro.compare(
        qrels, runs["run0"], {name: run for name, run in runs.items() if name != "run0"},
        cutoff=8, unit=unit, all_pairs=True, names=list(runs),
    )  # fmt: skip
    assert isinstance(compared, iro.Comparisons)
    assert len(board.pairs) == len(compared) == 10
    for each in compared:
        pair = board.verdict(each.baseline, each.contender)
        assert pair.label == each.verdict.label
        assert pair.outcomes.won == each.outcomes.won
        assert pair.coverage == pytest.approx(each.coverage.difference)
        assert (pair.coverage_p, pair.coverage_p_corrected) == pytest.approx(
            (each.coverage.pvalue, each.coverage.pvalue_corrected)
        )
        assert (pair.ranking_p, pair.ranking_p_corrected) == pytest.approx((each.ranking.pvalue, each.ranking.pvalue_corrected))
        assert pair.n_both == each.ranking.n
        assert pair.baseline_length == pytest.approx(each.ranking.baseline)
        assert pair.ranking == pytest.approx(each.ranking.difference)
        assert pair.turned().turned() == pair
        coverage = {standing.run: standing.coverage for standing in board.standings}
        assert coverage[each.baseline] == pytest.approx(each.coverage.baseline)
        assert coverage[each.contender] == pytest.approx(each.coverage.contender)


def test_order_means_and_coverage() -> None:
    qrels, runs = collection(4, 50)
    board = iro.leaderboard(qrels, runs, cutoff=10)
    tables = {name: iro.search_lengths(qrels, run, cutoff=10) for name, run in runs.items()}
    expected = sorted(runs, key=lambda name: -tables[name].reciprocal_rank().mean())
    assert [each.run for each in board.standings] == expected
    for each in board.standings:
        assert each.score == pytest.approx(tables[each.run].reciprocal_rank().mean())
        assert each.coverage == pytest.approx(100 * float(tables[each.run].answered().mean()))
        assert each.interval is not None
        assert each.interval.low < (each.score or 0) < each.interval.high
    by_depth = iro.leaderboard(qrels, runs, measure="ESL(unanswered='cutoff+1')@10", cutoff=10)
    assert not by_depth.higher_is_better
    scores = [each.score for each in by_depth.standings]
    assert scores == sorted(scores, key=lambda score: score or 0.0)


def test_nothing_depends_on_the_order_of_runs_and_queries() -> None:
    qrels, runs = collection(4, 40, relevant=2)
    board = iro.leaderboard(qrels, runs, cutoff=10)
    shuffled = dict(reversed(list(qrels.items())))
    again = iro.leaderboard(shuffled, dict(reversed(list(runs.items()))), cutoff=10)
    assert [(each.run, each.rank, each.tier) for each in again.standings] == [
        (each.run, each.rank, each.tier) for each in board.standings
    ]
    assert [(pair.baseline, pair.contender, pair.label) for pair in again.pairs] == [
        (pair.baseline, pair.contender, pair.label) for pair in board.pairs
    ]


def test_equal_runs_share_a_rank_and_a_tier() -> None:
    qrels, runs = collection(2, 30)
    board = iro.leaderboard(qrels, {**runs, "twin": runs["run1"]})
    assert [each.rank for each in board.standings if each.run in ("twin", "run1")] == [1, 1]
    assert len({each.tier for each in board.standings if each.run in ("twin", "run1")}) == 1


def test_json_and_search_lengths(tmp_path: Path) -> None:
    qrels, runs = collection(3, 30)
    tables = [iro.search_lengths(qrels, run, cutoff=10) for run in runs.values()]
    board = iro.leaderboard(qrels, tables, cutoff=10, names=list(runs))
    assert board == iro.leaderboard(qrels, runs, cutoff=10)
    assert iro.Leaderboard.from_json(board.to_json()) == board
    assert json.loads(board.to_json())["settings"]["cutoff"] == 10
    with pytest.raises(ParameterError, match="nDCG@10 cannot be computed from the search lengths of run"):
        iro.leaderboard(qrels, tables, cutoff=10, measure="nDCG@10")


def test_what_is_refused() -> None:
    qrels, runs = collection(2, 30)
    with pytest.raises(ParameterError, match="there is one run only"):
        iro.leaderboard(qrels, {"a": runs["run0"]})
    with pytest.raises(ParameterError, match="use 'holm' here"):
        iro.leaderboard(qrels, runs, correction="tukey")
    with pytest.raises(ParameterError, match="write ASL"):
        iro.leaderboard(qrels, runs, measure="ASL")
    with pytest.raises(KeyError, match="the runs are"):
        iro.leaderboard(qrels, runs).verdict("run0", "none")


def test_unequal_depth_is_noted() -> None:
    qrels, runs = collection(2, 30)
    short = {query: dict(list(ranking.items())[:3]) for query, ranking in runs["run1"].items()}
    board = iro.leaderboard(qrels, {"long": runs["run0"], "short": short}, cutoff=10)
    assert any(note.startswith("short: no list reaches the cutoff of 10") for note in board.notes)


def reaches(better: np.ndarray) -> np.ndarray:
    closure = better | np.eye(len(better), dtype=bool)
    for middle in range(len(better)):
        closure |= closure[:, [middle]] & closure[[middle], :]
    return closure


@given(st.integers(1, 6).flatmap(lambda n: st.lists(st.booleans(), min_size=n * n, max_size=n * n)))
def test_tiers_by_brute_force(bits: list[bool]) -> None:
    n = round(len(bits) ** 0.5)
    better = np.array(bits).reshape(n, n) & ~np.eye(n, dtype=bool)
    levels, cycles = tiers(better)
    assert sorted(run for level in levels for run in level) == list(range(n))
    tier = {run: number for number, level in enumerate(levels) for run in level}
    closure = reaches(better)
    together = closure & closure.T
    circles = {tuple(np.flatnonzero(row).tolist()) for row in together if row.sum() > 1}
    assert {tuple(cycle) for cycle in cycles} == circles
    for run in range(n):
        same = np.flatnonzero(together[run])
        beaten_by = [other for other in range(n) if better[other, same].any() and not together[other, run]]
        assert tier[run] == (1 + max(tier[other] for other in beaten_by) if beaten_by else 0)


def test_a_leaderboard_with_dates() -> None:
    qrels, runs = collection(3, 80, seed=2)
    entries = [{"id": name, "date": f"2021-01-0{number}", "group": "ab"[number % 2]} for number, name in enumerate(runs, 1)]
    board = iro.leaderboard(qrels, runs, cutoff=10, entries=entries)
    history = board.history
    assert history is not None
    assert history.submissions == {"b": 2, "a": 1}
    assert len(history.runs) > 1
    for before, each in pairwise(history.runs):
        assert each.verdict is not None
        assert (each.verdict.baseline, each.verdict.contender) == (before.run, each.run)
        assert each.verdict.ranking_p_corrected == pytest.approx(min(1.0, each.looks * each.verdict.ranking_p))
        assert each.verdict.coverage_p_corrected == pytest.approx(min(1.0, each.looks * each.verdict.coverage_p))
    assert iro.Leaderboard.from_json(board.to_json()) == board
    others = [{"id": f"other{number}", "date": "2021-01-01"} for number in range(50)]
    crowded = iro.leaderboard(qrels, runs, cutoff=10, entries=[*entries, *others]).history
    assert crowded is not None
    assert [each.looks for each in crowded.runs] == [each.looks + 50 for each in history.runs]
    assert crowded.notes[0].startswith("50 entries have no score: they count as looks")
    with pytest.raises(MismatchError, match="no row for run0"):
        iro.leaderboard(qrels, runs, entries=entries[1:])


