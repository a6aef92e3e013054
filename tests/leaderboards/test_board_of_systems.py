"""Leaderboards of systems with several runs, against `compare` and plain means."""

from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.leaderboards.board import Leaderboard
from tests.helpers.systems import drawn

CUTOFF = 6
RUNS = {"a": 1, "b": 5, "c": 2}


def evaluated(relevant: int = 1, clusters: Any = None) -> iro.Evaluation:
    qrels, runs = drawn(1, runs=RUNS, relevant=relevant, n_queries=60)
    unit: Any = ["query", "document"][relevant > 1]
    return iro.evaluate(
        qrels,
        runs,
        cutoff=CUTOFF,
        unit=unit,
        clusters=clusters,
        measures=["nDCG@6", "RR@6", "ESL@6"],
    )


def test_a_system_scores_the_mean_of_its_runs() -> None:
    ev = evaluated()
    board = iro.leaderboard(ev, measures=["RR@6", "ranking"])
    rr = dict(zip(ev.names, ev.scores_of("RR@6").means().tolist(), strict=True))
    lengths = {run.name: run.esl() for run in ev.with_cutoff(CUTOFF)}
    for standing, ranking in zip(board.standings, board.measures[0].values, strict=True):
        runs = [name for name in ev.names if name[0] == standing.run]
        assert standing.score == pytest.approx(np.mean([rr[run] for run in runs]))
        found = np.concatenate([lengths[run][lengths[run] <= CUTOFF] for run in runs])
        assert ranking == pytest.approx(found.mean())
        if len(runs) == 1:
            assert (standing.runs, standing.range) == ((), None)
            continue
        assert [run.run for run in standing.runs] == runs
        assert [run.score for run in standing.runs] == pytest.approx([rr[run] for run in runs])
        assert standing.range == (min(rr[run] for run in runs), max(rr[run] for run in runs))
    assert Leaderboard.from_json(board.to_json()) == board
    assert board.to_frame()["runs"].tolist() == [max(len(own.runs), 1) for own in board.standings]


def test_one_system_is_no_board() -> None:
    qrels, runs = drawn(1, runs={"b": 3})
    with pytest.raises(iro.ParameterError, match="only one system"):
        iro.leaderboard(iro.evaluate(qrels, runs))


def test_measures_follow_the_runs_of_systems_that_do_not_stand_together() -> None:
    qrels, runs = drawn(3, runs={"a": 1, "b": 2, "c": 1}, n_queries=30)
    named = {"b_1": runs["b"][0], "c": runs["c"][0], "b_2": runs["b"][1], "a": runs["a"][0]}
    measure = "nDCG@10"
    ev = iro.evaluate(qrels, named, replicates="by:_", measures=[measure])
    means = dict(zip(ev.names, ev.scores_of(measure).means().tolist(), strict=True))
    expected = {"a": means["a"], "b": (means["b_1"] + means["b_2"]) / 2, "c": means["c"]}
    board = iro.leaderboard(ev, measures=["all queries", measure])
    for pair in board.pairs:
        row = pair.rows[measure]
        assert (row.baseline, row.contender) == pytest.approx(
            (expected[pair.baseline], expected[pair.contender])
        )
