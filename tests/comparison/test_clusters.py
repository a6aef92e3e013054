"""Queries that come in clusters: the cluster is the unit of every test and interval, means stay those over queries."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.statistics import paired_tests, sign_flip
from tests.helpers.comparisons import compare_pair
from tests.helpers.runs import qrels_of, run_of

N, CLUSTERS = 240, 40
CODES = np.sort(np.random.default_rng(5).integers(0, CLUSTERS, N))
IDS = [f"q{n}" for n in range(N)]
CLUSTER_OF = {query: f"c{code}" for query, code in zip(IDS, CODES.tolist(), strict=True)}


def made_up() -> tuple[Any, Any, Any]:
    """Ranks of two runs whose differences depend on the cluster; nothing is found beyond rank 12."""
    rng = np.random.default_rng(0)
    baseline = rng.integers(1, 12, N)
    contender = np.clip(
        baseline + rng.integers(-4, 4, CLUSTERS)[CODES] + rng.integers(-1, 2, N), 1, None
    )
    a, b = (run_of(dict(zip(IDS, ranks.tolist(), strict=True))) for ranks in (baseline, contender))
    return qrels_of(IDS), a, b


def compared(**settings: Any) -> iro.Comparison:
    return compare_pair(*made_up(), names=["A", "B"], cutoff=10, **settings)


@pytest.mark.parametrize(
    ("what", "change"), [("ranking", "difference"), ("restricted", "restricted")]
)
def test_tests_and_intervals_are_those_of_clusters(what: str, change: str) -> None:
    clustered, plain = compared(clusters=CLUSTER_OF), compared()
    facet, independent = getattr(clustered, what), getattr(plain, what)
    assert (facet.n, facet.n_nonzero, facet.difference) == (
        independent.n,
        independent.n_nonzero,
        independent.difference,
    )
    queries = [query for query in clustered.per_query() if getattr(query, change) is not None]
    d = np.array([getattr(query, change) for query in queries], dtype=float)
    codes = np.array([CODES[IDS.index(query.query_id)] for query in queries])
    expected = paired_tests(d, clusters=codes)
    assert facet.pvalues == pytest.approx({name: expected[name].pvalue for name in facet.pvalues})
    assert (
        facet.interval.high - facet.interval.low
        > independent.interval.high - independent.interval.low
    )
    gained = [query.found_contender - query.found_baseline for query in clustered.per_query()]
    assert (clustered.coverage.test, plain.coverage.test) == ("signflip", "exact")
    assert clustered.coverage.pvalue == pytest.approx(
        sign_flip(np.bincount(CODES, weights=gained)).pvalue
    )
    assert (clustered.coverage.difference, clustered.outcomes) == (
        plain.coverage.difference,
        plain.outcomes,
    )
    assert clustered.naive == plain.naive


@pytest.mark.parametrize(
    ("sizes", "changes", "differing", "says"),
    [
        # 200 queries of 20 clusters differ.
        (
            [10] * 20,
            [-1] * 15 + [1] * 5,
            20,
            "the runs differ on only 20 clusters, too few for the t test",
        ),
        # Four conversations of 40 turns and 36 of one turn are as good for t as about four, not as
        # 40.
        (
            [40] * 4 + [1] * 36,
            [2, 3, 3, 2] + [1, -1] * 18,
            40,
            "differ on 40 clusters of unequal size, too few for the t test",
        ),
    ],
)
def test_clusters_are_too_few_for_t(
    sizes: list[int], changes: list[int], differing: int, says: str
) -> None:
    codes, change = np.repeat(np.arange(len(sizes)), sizes), np.repeat(changes, sizes)
    ids = [f"q{n}" for n in range(len(codes))]
    a, b = dict.fromkeys(ids, 5), dict(zip(ids, (5 + change).tolist(), strict=True))
    clusters = dict(zip(ids, map(str, codes.tolist()), strict=True))
    found = compare_pair(qrels_of(a), run_of(a), run_of(b), clusters=clusters)
    assert found.restricted is not None
    assert found.ranking.test == found.ranking.mean_test == found.restricted.test.name == "signflip"
    assert (found.ranking.n_nonzero, found.ranking.decides.n_nonzero) == (len(ids), differing)
    assert any(says in note for note in (*found.notes, *found.background))
    if differing == 40:
        board = iro.leaderboard(
            iro.evaluate(qrels_of(a), {"A": run_of(a), "B": run_of(b)}, clusters=clusters)
        )
        assert board.pairs[0].label == found.verdict.label == "no significant difference"
        assert found.ranking.pvalues["t"] < 0.01 < 0.05 < found.ranking.pvalue


def test_heads_and_notes_count_clusters() -> None:
    found = compared(clusters=CLUSTER_OF)
    (note,) = [note for note in found.background if "in 40 clusters" in note]
    assert "design effect" in note
    assert "240 queries in 40 clusters" in str(found)


def test_holes_other_measures_and_outputs_take_clusters() -> None:
    qrels, a, b = made_up()
    evaluation = iro.evaluate(
        qrels, {"A": a, "B": b}, measures=["nDCG@10"], cutoff=10, clusters=CLUSTER_OF, unjudged=True
    )
    assert iro.holes(evaluation, "A")["B"].label == compared(clusters=CLUSTER_OF).verdict.label
    scores = evaluation.scores_of("nDCG@10")
    outputs = [dict(zip(scores.query_ids, row, strict=True)) for row in scores.values.tolist()]
    by_measure: Any = iro.compare_measure(evaluation, "A", "B", measure="nDCG@10")
    from_outputs: Any = iro.compare_outputs(*outputs, measure="nDCG@10", clusters=CLUSTER_OF)
    assert from_outputs.ranking.pvalues == by_measure.ranking.pvalues
    assert from_outputs.settings.n_clusters == by_measure.settings.n_clusters


@pytest.mark.realdata
def test_conversations(real_data: Path) -> None:
    paths = [
        real_data / "mt-rag" / name
        for name in ("qrels.txt.gz", "bm25.lastturn.run.gz", "elser.lastturn.run.gz")
    ]
    found, plain = (
        compare_pair(*paths, cutoff=10, clusters=clusters) for clusters in ("by:<::>", None)
    )
    assert (found.n_queries, found.settings.n_clusters) == (576, 82)
    assert found.ranking.difference == plain.ranking.difference
