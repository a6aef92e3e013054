from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.scores import Scores, scores
from ir_outcomes.leaderboards.halves import agreement_of, first_halves
from ir_outcomes.statistics import differences, pairs, wilcoxon
from tests.helpers.many import collection


def plain_tests(x: np.ndarray, y: np.ndarray) -> dict[str, bool]:
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


def plain_agreement(values: np.ndarray, splits: np.ndarray, test: str, aggregate: str) -> tuple[float, float, float, float]:
    """Table 4 of Craswell et al. 2021, as its text defines it."""
    answers = []
    for x, y in combinations(values, 2):
        for first in splits:
            halves_of = []
            for half in (first, np.setdiff1d(np.arange(values.shape[1]), first)):
                half = half[~np.isnan(x[half]) & ~np.isnan(y[half])]
                mean = float(np.sum(differences(x[half], y[half])))
                middle = float(np.median(y[half]) - np.median(x[half])) if len(half) else 0.0
                which = {"mean": mean, "median": middle}[aggregate]
                halves_of.append((int(which > 1e-9) - int(which < -1e-9), plain_tests(x[half], y[half])[test]))
            (sign, significant), (other_sign, other_significant) = halves_of
            either = significant or other_significant
            if sign == other_sign:
                answers.append(("agree" if significant == other_significant else "partial", either))
            else:
                answers.append(("disagree" if either else "partial", either))
    shares = [np.mean([kind == name for kind, _ in answers]) for name in ("agree", "partial", "disagree")]
    return (*map(float, shares), float(np.mean([either for _, either in answers])))  # type: ignore[return-value]


@pytest.mark.parametrize("measure", ["RR", "ESL@10", "nDCG@5", "ASL(missing='cutoff')@10"])
def test_against_a_loop_over_splits_and_pairs(measure: str, monkeypatch: pytest.MonkeyPatch) -> None:
    qrels, runs = collection(3, 24, relevant=2, seed=1)
    (table,) = scores(qrels, runs, [measure])
    splits = first_halves(24, 12, seed=5)
    found = agreement_of(table, splits=12, seed=5)
    assert len(found) == 7
    for each in found:
        expected = plain_agreement(table.values, splits, each.test, each.aggregate)
        assert (each.agree, each.partial, each.disagree, each.significant) == pytest.approx(expected), each
        assert each.agree + each.partial + each.disagree == pytest.approx(1)
    monkeypatch.setattr(pairs, "MOST_SHARED_CLASSES", 0)
    assert agreement_of(table, splits=12, seed=5) == found


def test_what_cannot_be_split_is_refused() -> None:
    qrels, runs = collection(2, 12)
    with pytest.raises(ParameterError, match="ties='expected' gives no single order"):
        iro.agreement(qrels, runs, ties="expected")
    with pytest.raises(ParameterError, match="RR is named twice"):
        iro.agreement(qrels, runs, measures=["RR", "MRR"])
    with pytest.raises(ParameterError, match="there is no measure"):
        iro.agreement(qrels, runs, measures=[])
    assert {each.measure for each in iro.agreement(qrels, runs, measures="RR", splits=2).tests} == {"RR"}
    del runs["run0"]["q3"]
    assert "run0 lacks 1 queries of the qrels (q3); they count as unanswered." in iro.agreement(qrels, runs, splits=2).notes


def test_lower_is_better_changes_nothing() -> None:
    values = np.random.default_rng(1).random((3, 30))
    names, queries = ("a", "b", "c"), tuple(map(str, range(30)))
    rising, falling = (Scores("m", higher, names, queries, values) for higher in (True, False))
    assert agreement_of(rising, 20) == agreement_of(falling, 20)


@pytest.mark.parametrize(("unit", "relevant"), [("query", 1), ("query", 2), ("document", 3)])
def test_verdicts_of_halves_are_those_of_compare(unit: Any, relevant: int) -> None:
    qrels, runs = collection(3, 30, relevant, seed=4)
    result = iro.agreement(qrels, runs, measures=["RR"], unit=unit, cutoff=10, splits=6, seed=2)
    verdict = result.verdict
    assert verdict is not None
    ids = list(qrels)
    labels = []
    for first in first_halves(30, 6, seed=2):
        chosen = {ids[place] for place in first}
        for one, other in combinations(runs.values(), 2):
            pair = []
            for half in (chosen, set(ids) - chosen):
                part = {query: qrels[query] for query in ids if query in half}
                compared = iro.compare(part, one, other, unit=unit, cutoff=10)
                assert isinstance(compared, iro.Comparison)
                pair.append(compared.verdict.label)
            labels.append((pair[0], pair[1]))
    counted = {(one, other): number for one, row in verdict.labels.items() for other, number in row.items() if number}
    expected = {pair: labels.count(pair) for pair in set(labels)}
    if unit == "query":
        assert counted == expected
    else:  # sampled sign flips may decide otherwise near alpha
        differ = [abs(counted.get(both, 0) - expected.get(both, 0)) for both in {*counted, *expected}]
        assert sum(differ) <= 2
    assert verdict.same == pytest.approx(sum(number for (one, other), number in counted.items() if one == other) / len(labels))


def test_seed_json_and_rows() -> None:
    qrels, runs = collection(3, 20)
    result = iro.agreement(qrels, runs, measures=["RR", "ESL@100"], splits=5, seed=1)
    assert iro.Agreement.from_json(result.to_json()) == result
    assert result == iro.agreement(qrels, runs, measures=["RR", "ESL@100"], splits=5, seed=1)
    assert result.n_pairs == 3
    assert len(result.rows()) == 15
    assert any("undefined for some run" in note for note in result.notes)


def test_what_is_refused() -> None:
    qrels, runs = collection(2, 20)
    for wrong in ({"splits": 0}, {"seed": -1}, {"alpha": 0.0}, {"unit": "page"}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            iro.agreement(qrels, runs, **wrong)
    with pytest.raises(ParameterError, match="there is one run only"):
        iro.agreement(qrels, [runs["run0"]])
    few = {query: qrels[query] for query in list(qrels)[:3]}
    with pytest.raises(ParameterError, match="3 queries cannot be split"):
        iro.agreement(few, runs)
