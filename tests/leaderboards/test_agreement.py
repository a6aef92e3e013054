from itertools import combinations, compress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.leaderboards import agreement as of_agreement
from ir_outcomes.pairs.verdict import direction_of
from ir_outcomes.statistics.resampling import first_halves
from tests.helpers.comparisons import compare_pair
from tests.helpers.many import collection
from tests.helpers.values import as_values


def significant(x: np.ndarray, y: np.ndarray, test: str) -> bool:
    d = np.where(np.abs(y - x) > 1e-12, y - x, 0.0)
    won, lost = int(np.sum(d > 0)), int(np.sum(d < 0))
    if test == "ranksum":
        return (
            len({*x, *y}) > 1
            and scipy.stats.mannwhitneyu(x, y, method="asymptotic", use_continuity=False).pvalue
            <= 0.05
        )
    if not won + lost or len(d) < 2:
        return False
    if test == "t":
        return (
            2.0 ** (1 - len(d)) if np.all(d == d[0]) else scipy.stats.ttest_1samp(d, 0).pvalue
        ) <= 0.05
    if test == "sign":
        return bool(scipy.stats.binomtest(won, won + lost).pvalue <= 0.05)
    ranks = scipy.stats.wilcoxon(np.round(d, 12), method="asymptotic", correction=False)
    return bool(ranks.pvalue <= 0.05)


def said(x: np.ndarray, y: np.ndarray, test: str, aggregate: str) -> tuple[int, bool]:
    """What a half says: which run has the better aggregate, and whether that is significant."""
    defined = ~np.isnan(x) & ~np.isnan(y)
    x, y = x[defined], y[defined]
    change = (
        float(np.sum(y - x))
        if aggregate == "mean"
        else float(np.median(y) - np.median(x))
        if len(x)
        else 0.0
    )
    return int(change > 1e-9) - int(change < -1e-9), significant(x, y, test)


def craswell(pairs: list[tuple[tuple[int, bool], tuple[int, bool]]]) -> dict[str, float]:
    """Table 4 of Craswell et al. 2021, as its text defines it."""
    kinds = []
    for (sign, is_significant), (other, other_significant) in pairs:
        either = is_significant or other_significant
        partly = is_significant != other_significant if sign == other else not either
        kinds.append("partial" if partly else "agree" if sign == other else "disagree")
    either_way = float(np.mean([first[1] or second[1] for first, second in pairs]))
    return {kind: kinds.count(kind) / len(kinds) for kind in ("agree", "partial", "disagree")} | {
        "significant": either_way
    }


def rates_by_loop(pairs: list[tuple[int, int]]) -> dict[str, float | None]:
    """Rates from the directions of both halves, as `HalfAgreement` defines them."""
    decided = [direction for pair in pairs for direction in pair if direction]
    replicated = [first for first, second in pairs for _ in (0, 1) if first and first == second]
    return {
        "same": float(np.mean([first == second for first, second in pairs])),
        "one_sided": float(np.mean([(first == 0) != (second == 0) for first, second in pairs])),
        "opposite": float(np.mean([first * second < 0 for first, second in pairs])),
        "decided": float(np.mean([pair != (0, 0) for pair in pairs])),
        "replicates": len(replicated) / len(decided) if decided else None,
    }


@pytest.mark.parametrize("measure", ["RR", "ESL@10", "nDCG@5"])
def test_against_a_loop_over_splits_and_pairs(measure: str) -> None:
    qrels, runs = collection(3, 24, relevant=2, seed=1)
    scores = iro.evaluate(qrels, runs, measures=[measure]).scores_of(measure)
    halves = first_halves(scores.query_ids, 12, seed=5).astype(bool).T
    found = iro.agreement(as_values(scores), splits=12, seed=5).tests
    assert len(found) == 7
    for row in found:
        pairs: Any = [
            tuple(said(x[half], y[half], row.test, str(row.aggregate)) for half in (first, ~first))
            for x, y in combinations(scores.gains(), 2)
            for first in halves
        ]
        directions: Any = [
            tuple(sign if is_significant else 0 for sign, is_significant in pair) for pair in pairs
        ]
        for name, value in (craswell(pairs) | rates_by_loop(directions)).items():
            assert getattr(row, name) == pytest.approx(value), (row, name)


def test_what_is_refused() -> None:
    qrels, runs = collection(2, 12)
    evaluation = iro.evaluate(qrels, runs)
    with pytest.raises(ParameterError, match="3 queries cannot be split"):
        iro.agreement(iro.evaluate({query: qrels[query] for query in list(qrels)[:3]}, runs))
    for name, value in (
        ("splits", 0),
        ("seed", -1),
        ("alpha", 0.0),
        ("cutoff", 0),
    ):
        with pytest.raises(ParameterError, match=name):
            iro.agreement(evaluation, **{name: value})  # type: ignore[arg-type]


def test_large_boards_take_a_random_sample_of_pairs_and_say_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    evaluation = iro.evaluate(*collection(5, 20))
    every = iro.agreement(evaluation, measures="RR", splits=4)
    monkeypatch.setattr(of_agreement, "MOST_PAIRS", 6)
    sample = iro.agreement(evaluation, measures="RR", splits=4)
    assert {row.n_pairs for row in every.tests} == {10}
    assert {row.test: row.n_pairs for row in sample.tests} == {
        **dict.fromkeys(("sign", "ranksum", "wilcoxon"), 6),
        "t": 10,
    }
    assert (sample.verdict, sample.labels) == (every.verdict, every.labels)
    assert sum(sum(row.values()) for row in sample.labels.values()) == 10 * 4
    assert "a random sample of 6 pairs" in " ".join(sample.to_text(details=True).split())
    assert sample == iro.agreement(evaluation, measures="RR", splits=4)


@pytest.mark.parametrize("clusters", [None, lambda query: int(query[1:]) // 2])
@pytest.mark.parametrize(
    ("unit", "relevant"), [("query", 1), ("query", 2), ("document", 3), ("document", 1)]
)
def test_verdicts_of_halves_are_those_of_compare(unit: Any, relevant: int, clusters: Any) -> None:
    qrels, runs = collection(3, 30, relevant, seed=4)
    evaluation = iro.evaluate(qrels, runs, unit=unit, cutoff=10, clusters=clusters)
    result = iro.agreement(evaluation, measures=["RR"], splits=3, seed=2)
    settings: Any = {"unit": unit, "cutoff": 10, "clusters": clusters}
    assert result.verdict is not None
    labels = []
    halves = first_halves(evaluation.query_ids, 3, seed=2, clusters=evaluation.clusters)
    for first in halves.astype(bool).T:
        parts = [
            {query: qrels[query] for query in compress(qrels, half)} for half in (first, ~first)
        ]
        for pair in combinations(runs.values(), 2):
            labels.append(
                tuple(compare_pair(part, *pair, **settings).verdict.label for part in parts)
            )
    counted = {
        (first, second): number
        for first, row in result.labels.items()
        for second, number in row.items()
        if number
    }
    assert counted == {pair: labels.count(pair) for pair in set(labels)}
    sign = {"better": 1, "worse": -1, "none": 0}
    for name, value in rates_by_loop(
        [(sign[direction_of(a)], sign[direction_of(b)]) for a, b in labels]
    ).items():
        assert getattr(result.verdict, name) == pytest.approx(value), name


@pytest.mark.parametrize("unit", ["query", "document"])
def test_identical_runs_agree_that_there_is_no_difference(unit: Any) -> None:
    qrels, runs = collection(1, 20, relevant=2)
    evaluation = iro.evaluate(qrels, {"one": runs["run0"], "other": runs["run0"]}, unit=unit)
    result = iro.agreement(evaluation, splits=5)
    assert result.verdict is not None
    assert {(row.same, row.decided) for row in (*result.tests, result.verdict)} == {(1.0, 0.0)}


def test_rows_of_runs_and_of_scores() -> None:
    qrels, runs = collection(3, 20)
    evaluation = iro.evaluate(qrels, runs)
    result = iro.agreement(evaluation, measures=["RR", "ESL@100"], splits=5, seed=1)
    assert result == iro.agreement(evaluation, measures=["RR", "ESL@100"], splits=5, seed=1)
    rows = result.rows()
    assert len(rows) == 15
    assert all(list(row) == list(rows[0]) for row in rows)  # tests and verdict alike
    assert rows[-1]["agree"] is None
    assert any("undefined for some run" in note for note in result.notes)
    of_scores = iro.agreement(as_values(evaluation.scores_of(None)), splits=5)
    assert (of_scores.verdict, of_scores.labels, of_scores.unit, len(of_scores.rows())) == (
        None,
        {},
        None,
        7,
    )


def test_clusters_are_split_whole() -> None:
    few = iro.evaluate(*collection(2, 120), clusters=lambda query: str(int(query[1:]) % 3))
    with pytest.raises(ParameterError, match="3 clusters of queries cannot be split"):
        iro.agreement(few)


@pytest.mark.realdata
def test_table_4_on_a_real_board(real_data: Path) -> None:
    runs = sorted((real_data / "known-item").glob("*.run.gz"))
    evaluation = iro.evaluate(real_data / "known-item" / "qrels.txt", runs)
    result = iro.agreement(evaluation)
    agree = {
        (row.test, row.aggregate): round(100 * row.agree, 1) for row in result.tests if row.agree
    }
    assert agree == {
        ("sign", "mean"): 96.4,
        ("ranksum", "mean"): 90.9,
        ("wilcoxon", "mean"): 98.8,
        ("t", "mean"): 98.8,
        ("sign", "median"): 97.6,
        ("ranksum", "median"): 92.1,
        ("wilcoxon", "median"): 99.9,
    }
    assert result.verdict is not None
    assert result.verdict.opposite == 0
