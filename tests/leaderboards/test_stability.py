from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.errors import MismatchError, ParameterError
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.leaderboards.ordering import values_of
from tests.helpers.many import collection
from tests.helpers.values import as_values


def scores(values: Any, higher_is_better: bool = True, clusters: Any = None) -> Scores:
    array = np.array(values, dtype=np.float64)
    names = tuple(f"r{number}" for number in range(len(array)))
    return Scores(
        "m", higher_is_better, names, tuple(map(str, range(array.shape[1]))), array, clusters
    )


def test_by_default_all_rank_by_the_reciprocal_rank_at_the_cutoff_over_all_queries() -> None:
    qrels, runs = collection(3, 25, seed=3)
    qrels["unanswerable"] = {"d": 0}
    evaluation = iro.evaluate(qrels, runs, cutoff=5, ties="msmarco")
    found = iro.rank_distribution(evaluation, resamples=20)
    measure = ir_measures.parse_measure("RR@5")
    assert found.measure == iro.agreement(evaluation, splits=2).tests[0].measure == "RR@5"
    assert found.n_queries == 26
    for run in found.runs:
        assert run.score == pytest.approx(
            ir_measures.calc_aggregate([measure], qrels, runs[run.run])[measure]
        )
    other_order = iro.evaluate(qrels, runs, cutoff=5, measures=["RR@5"])
    assert [scores.measure for scores in values_of(other_order, ["RR", "RR@5"])] == ["RR", "RR@5"]
    lengths = [iro.search_lengths(qrels, run, cutoff=5) for run in runs.values()]
    given = iro.evaluate(qrels, lengths, names=list(runs), cutoff=5)
    assert iro.rank_distribution(given, resamples=20).measure == "RR@5, ties trec"


@pytest.mark.parametrize("higher_is_better", [True, False])
@pytest.mark.parametrize("n_clusters", [None, 8])
def test_against_a_loop_over_resamples(higher_is_better: bool, n_clusters: int | None) -> None:
    values = np.random.default_rng(4).integers(0, 4, (5, 23)) / 3
    values[1, :4] = np.nan
    values[4] = values[2]  # these two share every rank
    codes = np.arange(23) % (n_clusters or 23)
    given = scores(values, higher_is_better, None if n_clusters is None else codes)
    if n_clusters is None:  # queries are drawn in the order of their ids
        codes = np.argsort(np.argsort(given.query_ids))
    result = iro.rank_distribution(as_values(given), resamples=60, seed=9, top_k=2)
    assert (n_clusters is not None) == ("Resamples are of 8 clusters of queries." in result.notes)
    n = n_clusters or 23
    ranks = []
    for drawn in np.random.default_rng(9).integers(0, n, (60, n)):
        queries = np.concatenate([np.flatnonzero(codes == unit) for unit in drawn])
        better = np.nanmean(values[:, queries], axis=1) * (1 if higher_is_better else -1)
        ranks.append([1 + sum(mean > own + 1e-12 for mean in better) for own in better])
    all_ranks = np.array(ranks)
    for name, own in zip(given.runs, all_ranks.T, strict=True):
        found = result[name]
        assert found.counts == tuple(np.bincount(own, minlength=6)[1:].tolist())
        assert (found.low, found.high) == tuple(
            np.quantile(own, [0.025, 0.975], method="inverted_cdf")
        )
        assert (found.expected_rank, found.top) == pytest.approx((own.mean(), np.mean(own <= 2)))
        assert found.first == result.place_shares(2)[name][0] == np.mean(own == 1)
        above = [np.mean(own < all_ranks[:, given.runs.index(run.run)]) for run in result.runs]
        assert found.above == pytest.approx(above)
    order = [given.runs.index(run.run) for run in result.runs]
    taus = [
        scipy.stats.kendalltau([-run.rank for run in result.runs], -row[order]).statistic
        for row in all_ranks
    ]
    assert result.taus == pytest.approx(taus)
    assert result.median_tau == pytest.approx(np.median(taus))


def test_the_same_seed_gives_the_same_bits_in_any_order_of_runs() -> None:
    evaluation = iro.evaluate(*collection(4, 30, relevant=2))
    first, other = (iro.rank_distribution(evaluation, seed=seed, resamples=100) for seed in (3, 4))
    assert first != other
    assert first == iro.rank_distribution(
        evaluation[list(reversed(evaluation.names))], seed=3, resamples=100
    )


def test_a_run_without_any_defined_value_is_last() -> None:
    result = iro.rank_distribution(
        as_values(scores([[np.nan] * 3, [5, 5, 6], [7, 8, 9]], higher_is_better=False)),
        resamples=50,
    )
    assert [run.run for run in result.runs] == ["r1", "r2", "r0"]
    assert (result["r0"].score, result["r0"].counts) == (None, (0, 0, 50))


def test_conditions(tmp_path: Path) -> None:
    qrels, runs = collection(3, 30)
    evaluation, chosen = iro.evaluate(qrels, runs), ["q1", "q5", "q7", "q9"]
    few = iro.rank_distribution(evaluation, queries=chosen, condition="few")
    assert (few.n_queries, few.condition) == (4, "few")
    (tmp_path / "few.txt").write_text("q1 some text\nq5\n\nq7\nq9\n")
    assert iro.rank_distribution(evaluation, queries=tmp_path / "few.txt", condition="few") == few
    again = iro.rank_distribution(iro.evaluate({query: qrels[query] for query in chosen}, runs))
    assert [run.counts for run in again.runs] == [run.counts for run in few.runs]
    with pytest.raises(MismatchError, match="query q99"):
        iro.rank_distribution(evaluation, queries=["q1", "q99"])


@pytest.mark.parametrize(
    "wrong", [{"resamples": 0}, {"top_k": 0}, {"level": 1.0}, {"seed": -1}, {"seed": 1.5}]
)
def test_what_is_refused(wrong: Any) -> None:
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        iro.rank_distribution(iro.evaluate(*collection(2, 20)), **wrong)
