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
