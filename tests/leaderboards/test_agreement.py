from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.comparison.verdict import direction_of
from ir_outcomes.errors import ParameterError
from ir_outcomes.leaderboards.agreement import agreement_of_tests, first_halves
from ir_outcomes.statistics import differences, wilcoxon
from tests.helpers.many import collection


def positions_of_halves(n_queries: int, splits: int, seed: int) -> list[np.ndarray]:
    """The queries of the first half of each split."""
    return [np.flatnonzero(split) for split in first_halves(n_queries, splits, seed).T]


def significant_tests(x: np.ndarray, y: np.ndarray) -> dict[str, bool]:
    d = differences(x, y)
    won, lost = int(np.sum(d > 0)), int(np.sum(d < 0))
    if not won + lost or len(d) < 2:
        nothing = dict.fromkeys(("t", "sign", "wilcoxon"), 1.0)
    else:
        t = 2.0 ** (1 - len(d)) if np.all(d == d[0]) else scipy.stats.ttest_1samp(d, 0).pvalue
        nothing = {"t": t, "sign": scipy.stats.binomtest(won, won + lost).pvalue, "wilcoxon": wilcoxon(d).pvalue}
    same = len({*x.tolist(), *y.tolist()}) < 2
    sums = 1.0 if same else scipy.stats.mannwhitneyu(x, y, method="asymptotic", use_continuity=False).pvalue
    return {name: p <= 0.05 for name, p in {**nothing, "ranksum": sums}.items()}


def halves_by_loop(values: np.ndarray, splits: list[np.ndarray]) -> list[list[dict[str, Any]]]:
    """For each pair of rows and each split: the tests, the difference of the means and of the medians, of both halves."""
    result = []
    for x, y in combinations(values, 2):
        for first in splits:
            halves = []
            for half in (first, np.setdiff1d(np.arange(values.shape[1]), first)):
                half = half[~np.isnan(x[half]) & ~np.isnan(y[half])]
                mean = float(np.sum(differences(x[half], y[half])))
                middle = float(np.median(y[half]) - np.median(x[half])) if len(half) else 0.0
                halves.append({**significant_tests(x[half], y[half]), "mean": mean, "median": middle})
            result.append(halves)
    return result


def agreement_by_loop(halves: list[list[dict[str, Any]]], test: str, aggregate: str) -> tuple[Any, ...]:
    """Table 4 of Craswell et al. 2021, as its text defines it, and the labels of both halves."""
    answers, labels = [], []
    for halves_of_pair in halves:
        signs = [int(half[aggregate] > 1e-9) - int(half[aggregate] < -1e-9) for half in halves_of_pair]
        significant = [half[test] for half in halves_of_pair]
        either = any(significant)
        if signs[0] == signs[1]:
            answers.append(("agree" if significant[0] == significant[1] else "partial", either))
        else:
            answers.append(("disagree" if either else "partial", either))
        labels.append(tuple(sign if found else 0 for sign, found in zip(signs, significant, strict=True)))
    shares = [float(np.mean([kind == name for kind, _ in answers])) for name in ("agree", "partial", "disagree")]
    return (*shares, float(np.mean([either for _, either in answers])), labels)


def rates_by_loop(pairs: list[tuple[int, int]]) -> dict[str, float | None]:
    """Rates from the directions of both halves, as `HalfAgreement` defines them."""
    total = len(pairs)
    decided = [direction for pair in pairs for direction in pair if direction]
    replicated = [first for first, second in pairs for _ in (0, 1) if first and first == second]
    return {
        "same": sum(first == second for first, second in pairs) / total,
        "one_sided": sum((first == 0) != (second == 0) for first, second in pairs) / total,
        "opposite": sum(first * second < 0 for first, second in pairs) / total,
        "decided": sum(pair != (0, 0) for pair in pairs) / total,
        "replicates": len(replicated) / len(decided) if decided else None,
    }


@pytest.mark.parametrize("measure", ["RR", "ESL@10", "nDCG@5", "ASL(missing='cutoff')@10"])
def test_against_a_loop_over_splits_and_pairs(measure: str) -> None:
    qrels, runs = collection(3, 24, relevant=2, seed=1)
    scores = iro.evaluate(qrels, runs, measures=[measure]).scores_of(measure)
    splits = positions_of_halves(24, 12, seed=5)
    found = agreement_of_tests(scores, splits=12, seed=5)
    assert len(found) == 7
    halves = halves_by_loop(scores.gains(), splits)
    for row in found:
        *expected, labels = agreement_by_loop(halves, row.test, str(row.aggregate))
        assert (row.agree, row.partial, row.disagree, row.significant) == pytest.approx(tuple(expected)), row
        for name, value in rates_by_loop(labels).items():
            assert getattr(row, name) == pytest.approx(value), (row, name)


def test_what_is_refused() -> None:
    qrels, runs = collection(2, 12)
    evaluation = iro.evaluate(qrels, runs)
    wrong: list[tuple[Any, dict[str, Any], str]] = [
        (iro.evaluate(qrels, runs, ties="expected"), {}, "ties='expected' gives no single order"),
        (evaluation, {"measures": ["RR", "MRR"]}, "RR is named twice"),
        (evaluation, {"measures": []}, "there is no measure"),
        (evaluation.scores_of(None), {"measures": ["RR"]}, "these scores are of RR@100"),
        (evaluation[["run0"]], {}, "there is only one run"),
        (iro.evaluate({query: qrels[query] for query in list(qrels)[:3]}, runs), {}, "3 queries cannot be split"),
        *((evaluation, {name: value}, name) for name, value in (("splits", 0), ("seed", -1), ("alpha", 0.0), ("cutoff", 0))),
    ]
    for source, settings, message in wrong:
        with pytest.raises(ParameterError, match=message):
            iro.agreement(source, **settings)


@pytest.mark.parametrize(("unit", "relevant"), [("query", 1), ("query", 2), ("document", 3), ("document", 1)])
def test_verdicts_of_halves_are_those_of_compare(unit: Any, relevant: int) -> None:
    qrels, runs = collection(3, 30, relevant, seed=4)
    evaluation = iro.evaluate(qrels, runs, unit=unit, cutoff=10)
    result = iro.agreement(evaluation, measures=["RR"], splits=3, seed=2)
    assert result.verdict is not None
    ids = list(qrels)
    labels = []
    for first in positions_of_halves(30, 3, seed=2):
        chosen = {ids[place] for place in first}
        for baseline, contender in combinations(runs.values(), 2):
            pair = []
            for half in (chosen, set(ids) - chosen):
                part = {query: qrels[query] for query in ids if query in half}
                compared = iro.compare(part, baseline, contender, unit=unit, cutoff=10)
                assert isinstance(compared, iro.Comparison)
                pair.append(compared.verdict.label)
            labels.append((pair[0], pair[1]))
    counted = {(first, second): number for first, row in result.labels.items() for second, number in row.items() if number}
    assert counted == {pair: labels.count(pair) for pair in set(labels)}
    sign = {"better": 1, "worse": -1, "none": 0}
    of_labels = [(sign[direction_of(first)], sign[direction_of(second)]) for first, second in labels]
    for name, value in rates_by_loop(of_labels).items():
        assert getattr(result.verdict, name) == pytest.approx(value), name


def test_a_third_run_changes_nothing_for_the_first_two() -> None:
    """The test of coverage follows from the judgments, not from what these runs happen to find."""
    qrels = collection(1, 24, relevant=2)[0]
    both = {query: {"g0": 2.0, "g1": 1.0} for query in qrels}
    runs = {
        "all": {**both, "q1": {"x": 1.0}},
        "some": {**both, "q2": {"x": 1.0}, "q5": {"x": 1.0}},
        "none": {query: {"x": 1.0} for query in qrels},
        "half": {query: {"g0": 1.0} for query in qrels},
    }
    evaluation = iro.evaluate(qrels, runs, unit="document")
    without_half = iro.evaluate(qrels, {name: runs[name] for name in ("all", "some", "none")}, unit="document")
    for names in (["all", "some"], ["all", "none"], ["all", "some", "none"]):
        assert iro.agreement(without_half[names], splits=20).labels == iro.agreement(evaluation[names], splits=20).labels


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
    of_scores = iro.agreement(evaluation.scores_of(None), splits=5)
    assert (of_scores.verdict, of_scores.labels, of_scores.unit, len(of_scores.rows())) == (None, {}, None, 7)
    assert iro.Agreement.from_json(of_scores.to_json()) == of_scores
