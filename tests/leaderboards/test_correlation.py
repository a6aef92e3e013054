from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.errors import MismatchError, ParameterError
from ir_outcomes.leaderboards.board import scores_of
from tests.helpers.many import collection


def test_against_scipy() -> None:
    rng = np.random.default_rng(3)
    for _ in range(20):
        values = rng.integers(0, 6, (2, 9)) / 7
        first, second = ({f"r{run}": float(value) for run, value in enumerate(row)} for row in values)
        result = iro.rank_correlation(first, second)
        assert result.tau == pytest.approx(scipy.stats.kendalltau(*values).statistic)
        opposite = [(values[0, i] - values[0, j]) * (values[1, i] - values[1, j]) < 0 for i in range(9) for j in range(i)]
        assert result.swapped == sum(opposite)


def test_two_sets_of_queries() -> None:
    qrels, runs = collection(5, 40)
    evaluation = iro.evaluate(qrels, runs)
    parts = {"public": list(qrels)[:20], "private": list(qrels)[20:]}
    public, private = (iro.rank_distribution(evaluation, queries=own, condition=name) for name, own in parts.items())
    result = iro.rank_correlation(public, private)
    assert (result.first, result.second) == ("public", "private")
    assert [run.run for run in result.runs] == [run.run for run in public.runs]
    means = [scores_of(evaluation, "RR").on(part).means() for part in parts.values()]
    assert result.tau == pytest.approx(scipy.stats.kendalltau(*means).statistic)
    scores = scores_of(evaluation, "RR")
    assert iro.rank_correlation(scores, iro.leaderboard(evaluation)).tau == 1
    assert (iro.rank_correlation(evaluation.scores_of("ESL(unanswered='cutoff+1')@10"), scores).tau or 0) > 0


def test_runs_of_one_condition_only_are_named() -> None:
    result = iro.rank_correlation({"a": 1.0, "b": 2.0, "c": 3.0}, {"b": 1.0, "c": 2.0, "d": 0.0}, names=("dev", "test"))
    assert result.tau == 1
    assert result.notes == ("Only in dev, and left out: a.", "Only in test, and left out: d.")
    with pytest.raises(MismatchError, match="have 1 run in common"):
        iro.rank_correlation({"a": 1.0, "b": 2.0}, {"b": 1.0})
    with pytest.raises(ParameterError, match="a list has no order of runs"):
        iro.rank_correlation([1, 2], {"a": 1.0, "b": 2.0})
    assert iro.rank_correlation({"a": 1.0, "b": 1.0}, {"a": 1.0, "b": 2.0}).tau is None


@pytest.mark.realdata
@pytest.mark.parametrize(
    ("name", "columns", "tau"),
    [("document", ("MRR@100 (Dev)", "MRR@100 (Eval)"), 0.886), ("passage", ("dev", "eval"), 0.929)],
)
def test_dev_against_eval_on_the_leaderboards(real_data: Path, name: str, columns: tuple[str, str], tau: float) -> None:
    path = real_data / "leaderboard" / f"msmarco-{name}.csv"
    dev, test = (iro.sota_history(path, score=column) for column in columns)
    result = iro.rank_correlation(dev, test)
    assert result.tau == pytest.approx(tau, abs=5e-4)
    assert (result.first, result.second) == columns
