"""Clusters of queries on leaderboards: pairs, resamples and halves take the cluster as their unit; the tail refuses them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.leaderboards.agreement import first_halves
from ir_outcomes.leaderboards.board import scores_of
from tests.helpers.comparisons import compare_several
from tests.helpers.many import collection

N_QUERIES = 120
CLUSTERS = {f"q{number}": f"c{number // 4 if number < 80 else number % 20}" for number in range(N_QUERIES)}


def evaluated(clusters: Any = CLUSTERS, **settings: Any) -> iro.Evaluation:
    qrels, runs = collection(4, N_QUERIES, relevant=2, seed=3)
    return iro.evaluate(qrels, runs, cutoff=8, clusters=clusters, **settings)


@pytest.mark.parametrize("unit", ["query", "document"])
def test_the_verdicts_are_those_of_compare(unit: Any) -> None:
    evaluation = evaluated(unit=unit)
    board = iro.leaderboard(evaluation, measures=["Answered@8", "coverage"])
    for comparison in compare_several(evaluation, "run0", all_pairs=True):
        pair = board.verdict(comparison.baseline, comparison.contender)
        assert pair.label == comparison.verdict.label
        assert (pair.coverage_p, pair.ranking_p) == pytest.approx((comparison.coverage.pvalue, comparison.ranking.pvalue))
        assert pair.coverage == pytest.approx(comparison.coverage.difference)
    plain = iro.leaderboard(evaluated(None, unit=unit), measures=["Answered@8"])
    for of_queries, of_clusters in zip(plain.standings, board.standings, strict=True):
        assert of_queries.score == of_clusters.score
        assert of_queries.interval != of_clusters.interval
    assert f"{N_QUERIES} queries in 20 clusters, cutoff 8" in board.to_text()


def test_clusters_stay_together_in_halves() -> None:
    codes = np.array([int(CLUSTERS[f"q{number}"][1:]) for number in range(N_QUERIES)])
    halves = first_halves(N_QUERIES, 30, 0, codes)
    for cluster in range(20):
        assert (halves[codes == cluster] == halves[codes == cluster][0]).all()
    assert {int(halves[:, split][np.unique(codes, return_index=True)[1]].sum()) for split in range(30)} == {10}
    assert "Halves are of clusters" in iro.agreement(evaluated(), splits=5).notes[1]
    with pytest.raises(ParameterError, match="3 clusters of queries cannot be split"):
        iro.agreement(evaluated({query: f"c{number % 3}" for number, query in enumerate(CLUSTERS)}))


def test_resamples_draw_clusters() -> None:
    evaluation = evaluated()
    result = iro.rank_distribution(evaluation, resamples=40, seed=7)
    scores = scores_of(evaluation)
    assert evaluation.clusters is not None
    codes = np.unique(evaluation.clusters, return_inverse=True)[1]
    drawn = np.random.default_rng(7).integers(0, 20, (40, 20))
    ranks = []
    for clusters in drawn:
        queries = np.concatenate([np.flatnonzero(codes == cluster) for cluster in clusters])
        means = scores.values[:, queries].mean(axis=1)
        ranks.append([1 + sum(mean > own + 1e-12 for mean in means) for own in means])
    for name, own in zip(scores.runs, np.array(ranks).T, strict=True):
        assert result[name].counts == tuple(np.bincount(own, minlength=5)[1:].tolist())
    assert "Resamples are of 20 clusters of queries." in result.notes


def test_the_tail_refuses_clusters() -> None:
    with pytest.raises(ParameterError, match="the analyses of the tail take queries as independent; evaluate without clusters"):
        iro.headroom(evaluated())
