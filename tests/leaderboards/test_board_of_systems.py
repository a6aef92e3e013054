"""Leaderboards of systems with several runs, against `compare` and plain means."""

from itertools import chain
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


@pytest.mark.parametrize("clusters", [None, lambda query: int(query[1:]) // 3])
@pytest.mark.parametrize("relevant", [1, 3])
def test_verdicts_are_those_of_compare(relevant: int, clusters: Any) -> None:
    ev = evaluated(relevant, clusters)
    board = iro.leaderboard(ev)
    compared = iro.compare(ev, "a", all_pairs=True)
    for own in compared:
        found = board.verdict(own.baseline, own.contender)
        assert found.label == own.verdict.label
        assert found.coverage_p_corrected == own.coverage.pvalue_corrected
        assert found.ranking_p_corrected == pytest.approx(own.ranking.pvalue_corrected, rel=1e-12)
        assert own.restricted is not None
        stored = (found.coverage_p, found.ranking_p, found.all_queries_p)
        alone = (own.coverage.pvalue, own.ranking.pvalue, own.restricted.pvalue)
        assert stored == pytest.approx(alone, rel=1e-9)
        assert found.coverage == pytest.approx(own.coverage.difference)
        assert found.ranking == pytest.approx(own.ranking.difference)
        assert found.all_queries == pytest.approx(own.restricted.difference)
    assert len(compared) == len(board.pairs) == 3


def test_a_system_scores_the_mean_of_its_runs() -> None:
    ev = evaluated()
    board = iro.leaderboard(ev, measures=["RR@6", "ranking"])
    rr = dict(zip(ev.names, ev.scores_of("RR@6").means().tolist(), strict=True))
    lengths = {run.name: run.esl() for run in ev.with_cutoff(CUTOFF)}
    for standing, ranking in zip(board.standings, board.measures[1].values, strict=True):
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


def test_letters_are_by_the_rows_of_all_pairs_of_runs() -> None:
    """Also where a measure is undefined for some runs, whose queries may not enter at full weight."""
    ev = evaluated()
    board = iro.leaderboard(ev, measures=["nDCG@6", "ESL@6"], correction="none")
    for measure in board.measures:
        values = dict(zip(ev.names, ev.scores_of(measure.measure).values, strict=True))
        for standing, better_than in zip(board.standings, measure.better_than, strict=True):
            for other in board.standings:
                rows = [
                    (query, change)
                    for a in ev.names
                    for b in ev.names
                    if (a[0], b[0]) == (other.run, standing.run)
                    for query, change in enumerate(values[b] - values[a])
                    if not np.isnan(change)
                ]
                queries, changes = zip(*rows, strict=True)
                test = iro.statistics.paired_tests(changes, clusters=queries)["t"]
                sign = 1 if measure.higher_is_better else -1
                is_better = test.pvalue <= 0.05 and sign * sum(changes) > 0
                assert (other.run in better_than) == is_better


def test_the_screen_lists_the_runs() -> None:
    text = iro.leaderboard(evaluated()).to_text(details=True)
    assert text.startswith("3 systems by RR@6")
    assert "b: mean of 5 runs (b 1, b 2, b 3 and 2 more)" in text
    assert "range of runs" in text
    for run in chain(["b 5", "c 2"]):
        assert f"\n{run} " in text


def test_one_system_is_no_board() -> None:
    qrels, runs = drawn(1, runs={"b": 3})
    with pytest.raises(iro.ParameterError, match="only one system"):
        iro.leaderboard(iro.evaluate(qrels, runs))
