from __future__ import annotations

from pathlib import Path

import ir_measures
import numpy as np
import pytest
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.errors import IrOutcomesWarning, MismatchError, ParameterError
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.leaderboards.stability import distribution_of
from tests.helpers.many import collection


def table(values: list[list[float]], higher_is_better: bool = True) -> Scores:
    array = np.array(values, dtype=np.float64)
    names = tuple(f"r{number}" for number in range(len(array)))
    return Scores("m", higher_is_better, names, tuple(map(str, range(array.shape[1]))), array)


def test_search_lengths_are_ordered_by_their_reciprocal_ranks() -> None:
    qrels, runs = collection(3, 25, seed=3)
    for cutoff, ties, name in ((None, "trec", "RR"), (10, "msmarco", "RR@10"), (5, "trec", "RR@5, ties trec")):
        tables = iro.evaluate(qrels, list(runs.values()), names=list(runs), cutoff=cutoff, rel=1, ties=ties)  # type: ignore[arg-type]
        found = iro.rank_distribution(qrels, tables, resamples=20)
        assert found.measure == name
        if cutoff != 5:
            assert found == iro.rank_distribution(qrels, runs, measure=name, resamples=20)


def test_a_run_for_other_topics_is_refused() -> None:
    qrels, runs = collection(2, 12)
    with pytest.raises(MismatchError, match="none of the queries of stray is in the qrels"):
        iro.rank_distribution(qrels, {**runs, "stray": {"z1": {"d": 1.0}}})


@pytest.mark.parametrize("higher_is_better", [True, False])
def test_against_a_loop_over_resamples(higher_is_better: bool) -> None:
    values = np.random.default_rng(4).integers(0, 4, (5, 23)) / 3
    values[1, :4] = np.nan
    scores = table(values.tolist(), higher_is_better)
    result = distribution_of(scores, resamples=60, seed=9, top_k=2)
    drawn = np.random.default_rng(9).integers(0, 23, (60, 23))
    ranks = []
    for queries in drawn:
        means = [np.nanmean(row[queries]) for row in values]
        better = np.array(means) if higher_is_better else -np.array(means)
        ranks.append([1 + sum(other > own + 1e-12 for other in better) for own in better])
    table_of_ranks = np.array(ranks)
    for name, own in zip(scores.runs, table_of_ranks.T, strict=True):
        found = result[name]
        assert found.counts == tuple(np.bincount(own, minlength=6)[1:].tolist())
        assert found.expected_rank == pytest.approx(own.mean())
        assert (found.low, found.high) == tuple(np.quantile(own, [0.025, 0.975], method="inverted_cdf"))
        assert found.first == np.mean(own == 1)
        assert found.top == np.mean(own <= 2)
        for other, share in zip(result.runs, found.above, strict=True):
            column = table_of_ranks[:, scores.runs.index(other.run)]
            assert share == pytest.approx(np.mean(own < column))
    order = [scores.runs.index(each.run) for each in result.runs]
    full = [-each.rank for each in result.runs]
    taus = [scipy.stats.kendalltau(full, -row[order]).statistic for row in table_of_ranks]
    assert result.taus == pytest.approx(taus)
    assert result.median_tau == pytest.approx(np.median(taus))


def test_shares_add_up_and_ties_share_a_rank() -> None:
    result = distribution_of(table([[1, 0, 1, 0], [1, 0, 1, 0], [0, 1, 0, 0]]), resamples=200)
    for each in result.runs:
        assert sum(each.counts) == 200
    assert (result["r0"].counts, result["r0"].above) == (result["r1"].counts, result["r1"].above)
    assert result["r0"].rank == result["r1"].rank == 1
    assert result["r2"].rank == 3
    assert not result["r0"].counts[2]  # never behind its twin
    assert not result["r2"].counts[1]  # behind both or before both


def test_the_same_seed_gives_the_same_bits_in_any_order_of_runs() -> None:
    qrels, runs = collection(4, 30, relevant=2)
    first = iro.rank_distribution(qrels, runs, measure="nDCG@5", seed=3, resamples=100)
    again = iro.rank_distribution(qrels, dict(reversed(list(runs.items()))), measure="nDCG@5", seed=3, resamples=100)
    assert first == again
    assert first != iro.rank_distribution(qrels, runs, measure="nDCG@5", seed=4, resamples=100)
    assert iro.RankDistribution.from_json(first.to_json()) == first


def test_means_are_those_of_ir_measures() -> None:
    qrels, runs = collection(3, 30)
    for measure in ("RR", "ESL@10", "ASL(missing='cutoff')@10", "nDCG@5"):
        result = iro.rank_distribution(qrels, runs, measure=measure, resamples=10)
        for each in result.runs:
            (mean,) = ir_measures.calc_aggregate([iro.parse_measure(measure)], qrels, runs[each.run]).values()
            assert each.score == pytest.approx(mean)
        assert [each.rank for each in result.runs] == sorted(each.rank for each in result.runs)
        assert result.higher_is_better == (measure in ("RR", "nDCG@5"))
    assert "undefined for some run" in iro.rank_distribution(qrels, runs, measure="ESL@10", resamples=10).notes[0]
    assert iro.rank_distribution(qrels, runs, measure="ASL@10", resamples=5).measure == "ASL(missing='cutoff')@10"


def test_a_run_without_any_defined_value_is_last() -> None:
    result = distribution_of(table([[np.nan] * 3, [5, 5, 6], [7, 8, 9]], higher_is_better=False), resamples=50)
    assert [each.run for each in result.runs] == ["r1", "r2", "r0"]
    assert result["r0"].score is None
    assert result["r0"].counts == (0, 0, 50)


def test_infinite_values_are_refused() -> None:
    qrels, runs = collection(2, 20)
    runs["gap"] = {query: ranking for query, ranking in runs["run0"].items() if query != "q3"}
    with (
        pytest.warns(IrOutcomesWarning, match="1 queries have no results"),
        pytest.raises(ParameterError, match=r"of gap is infinite for 1 queries.*missing='cutoff'"),
    ):
        iro.rank_distribution(qrels, runs, measure="ASL(missing='retrieved')@10")
    assert iro.rank_distribution(qrels, runs, measure="ASL@10", resamples=5).runs[0].score is not None


def test_conditions(tmp_path: Path) -> None:
    qrels, runs = collection(3, 30)
    chosen = ["q1", "q5", "q7", "q9"]
    few = iro.rank_distribution(qrels, runs, queries=chosen, condition="few")
    assert (few.n_queries, few.condition) == (4, "few")
    (tmp_path / "few.txt").write_text("q1 some text\nq5\n\nq7\nq9\n")
    assert iro.rank_distribution(qrels, runs, queries=tmp_path / "few.txt", condition="few") == few
    part = {query: qrels[query] for query in chosen}
    assert [each.counts for each in iro.rank_distribution(part, runs).runs] == [each.counts for each in few.runs]
    with pytest.raises(MismatchError, match="the qrels have no query q99"):
        iro.rank_distribution(qrels, runs, queries=["q1", "q99"])
    with pytest.raises(MismatchError, match="the list of queries is empty"):
        iro.rank_distribution(qrels, runs, queries=[])


def test_what_is_refused() -> None:
    qrels, runs = collection(2, 20)
    with pytest.raises(ParameterError, match="there is one run only"):
        iro.rank_distribution(qrels, {"a": runs["run0"]})
    for wrong in ({"resamples": 0}, {"top_k": 0}, {"level": 1.0}, {"seed": -1}, {"seed": 1.5}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            iro.rank_distribution(qrels, runs, **wrong)
    renamed = iro.rank_distribution(qrels, list(runs.values()), names=["a", "a"], resamples=5)
    assert {each.run for each in renamed.runs} == {"a 0", "a 1"}
    with pytest.raises(ParameterError, match="whether NumRet is better when higher is not known here"):
        iro.rank_distribution(qrels, runs, measure="NumRet")
    assert iro.rank_distribution(qrels, runs, measure="NumRet", higher_is_better=False, resamples=5).median_tau is None


@pytest.mark.realdata
def test_the_first_run_of_5193_queries_keeps_its_place(real_data: Path) -> None:
    folder = real_data / "msmarco-doc-dev"
    result = iro.rank_distribution(folder / "qrels.txt", sorted(folder.glob("*.gz")))
    assert result.runs[0].run == "bm25+rm3_10"
    assert result.runs[0].first > 0.9
    assert result["bm25+rm3"].counts[-1] == 1000


@pytest.mark.realdata
def test_a_task_brings_its_grade(real_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runs = sorted((real_data / "dl20-passage").glob("BM25*.gz"))[:3]
    task = iro.load("msmarco-passage/trec-dl-2020")
    monkeypatch.setattr(type(task), "qrels", iro.read_qrels(real_data / "dl20-passage" / "qrels.txt"))
    assert iro.rank_distribution(task, runs, resamples=5).measure == "RR(rel=2)"
    result = iro.agreement(task, runs, splits=3)
    assert {each.measure for each in result.tests} == {"RR(rel=2)", "nDCG@10"}
    assert iro.headroom(task, runs).rel == 2
