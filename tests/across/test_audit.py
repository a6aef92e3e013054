"""The audit of judges: against plain formulas, by drawing, and what it must not claim."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.across.judges import levels_of
from ir_outcomes.errors import MismatchError, ParameterError
from ir_outcomes.statistics import mean_test
from ir_outcomes.statistics.intervals import effective_df
from tests.helpers import literal
from tests.helpers.runs import qrels_of, run_of

N = 200


def judged(seed: int = 0, *, biased: bool = False, labeled: int = 40) -> dict[str, iro.Evaluation]:
    """Runs "a" and "b" by a judge on all queries, and by people on some of them; people find b better."""
    rng = np.random.default_rng(seed)
    baseline = {f"q{q}": int(rank) for q, rank in enumerate(rng.integers(2, 15, N))}
    contender = {query: max(1, rank - int(rng.integers(0, 4))) for query, rank in baseline.items()}
    runs = {"a": run_of(baseline, 20), "b": run_of(contender, 20)}
    people = qrels_of(baseline)
    # A biased judge finds relevant what a ranks first; the other one errs at random.
    top = {
        query: min(runs["a"][query], key=lambda document: -runs["a"][query][document])
        for query in people
    }
    model = {
        query: {top[query]: 1} if rng.random() < (0.8 if biased else 0.05) else judgments
        for query, judgments in people.items()
    }
    evaluated = {
        name: iro.evaluate(qrels, runs, cutoff=20)
        for name, qrels in (("model", model), ("people", people))
    }
    sample = iro.to_label(evaluated["model"], labeled, seed=seed)
    return {
        "model": evaluated["model"],
        "people": iro.evaluate({query: people[query] for query in sample}, runs, cutoff=20),
    }


def audit_of(result: iro.ConditionsComparison, facet: str) -> Any:
    (found,) = (audit for audit in result.audits if audit.facet == facet)
    return found


def test_numbers_are_those_of_plain_formulas() -> None:
    evaluations = judged()
    result = iro.compare_judges(evaluations, "a", reference="people")
    found = audit_of(result, "all queries")
    changes = {}
    for judge, evaluation in evaluations.items():
        a, b = (np.where(np.isnan(run.esl()), 21, run.esl()) for run in evaluation.at(20))
        changes[judge] = dict(zip(evaluation.query_ids, b - a, strict=True))
    people, model = changes["people"], changes["model"]
    y, f = np.array(list(people.values())), np.array([model[query] for query in people])
    every, rest = (
        np.array(list(model.values())),
        np.array([change for query, change in model.items() if query not in people]),
    )
    weight = np.cov(y, f)[0, 1] / ((1 + len(y) / len(rest)) * every.var(ddof=1))
    assert (found.n_labeled, found.n_queries, found.measured_in) == (40, N, "ranks")
    assert found.weight == pytest.approx(weight)
    # Two imaginary queries, one at the largest possible difference of the rectified labels in
    # either direction.
    imagined = np.append(y - weight * f, [20 * (1 + weight), -20 * (1 + weight)])
    center = imagined.mean() + weight * rest.mean()
    variance = imagined.var() / 42 + weight**2 * every.var(ddof=1) / len(rest)
    half = scipy.stats.t.ppf(0.975, 39) * np.sqrt(variance)
    assert found.corrected_interval == pytest.approx((center - half, center + half))
    imagined = np.append(y - f, [40, -40])
    half = scipy.stats.t.ppf(0.975, 39) * imagined.std() / np.sqrt(42)
    assert found.bias_interval == pytest.approx((imagined.mean() - half, imagined.mean() + half))
    assert found.corrected == pytest.approx((y - weight * f).mean() + weight * rest.mean())
    assert (found.judge_difference, found.reference_difference) == pytest.approx(
        (every.mean(), y.mean())
    )
    assert (found.bias, found.correlation) == pytest.approx(
        ((y - f).mean(), np.corrcoef(y, f)[0, 1])
    )
    # Among so many labeled queries the t test of these, and of two imaginary ones, has a power of
    # 0.8.
    assert found.needed.effect == abs(found.judge_difference)
    size = found.needed.queries
    own = 20 * (1 + weight) * np.sqrt(42 / (size + 2))
    deviation = np.append(y - weight * f, [own, -own]).std(ddof=1)
    shift, critical = (
        found.needed.effect / deviation * np.sqrt(size),
        scipy.stats.t.ppf(0.975, size - 1),
    )
    power = scipy.stats.nct.sf(critical, size - 1, shift) + scipy.stats.nct.cdf(
        -critical, size - 1, shift
    )
    assert power == pytest.approx(0.8, abs=0.02)
    assert type(result).from_json(result.to_json()) == result


def test_the_three_answers() -> None:
    result, biased = (
        iro.compare_judges(judged(biased=is_biased, labeled=100), "a", reference="people")
        for is_biased in (False, True)
    )
    good, bad, unsure = (
        audit_of(result, "all queries"),
        audit_of(biased, "all queries"),
        audit_of(result, "coverage"),
    )
    assert (good.answer, good.corrected_interval.high < 0) == ("holds", True)
    assert (bad.answer, bad.judge_difference > 0) == ("wrong", True)
    assert any("model is wrong about the difference" in sentence for sentence in biased.sentences)
    assert (unsure.answer, unsure.needed) == ("cannot be told", None)
    # Although all labeled differences are 0.
    assert unsure.corrected_interval.low < 0 < unsure.corrected_interval.high
    assert any(
        "cannot be told with 100 labeled queries" in sentence for sentence in result.sentences
    )


def test_the_interval_covers_and_the_judge_alone_does_not() -> None:
    """20 draws of 30 queries; a judge that is biased keeps the corrected interval at its level."""
    whole = judged(3, biased=True, labeled=N)
    of_all = iro.compare_judges(whole, "a", reference="people")
    truth = audit_of(of_all, "all queries").reference_difference
    assert abs(of_all.audits[1].judge_difference - truth) > 1
    covered = 0
    for seed in range(20):
        some = {
            "model": whole["model"],
            "people": whole["people"].restrict(iro.to_label(whole["model"], 30, seed=seed)),
        }
        low, high = audit_of(
            iro.compare_judges(some, "a", reference="people"), "all queries"
        ).corrected_interval
        covered += low <= truth <= high
    assert covered >= 18


def test_what_an_audit_needs() -> None:
    evaluations = judged(labeled=9)
    result = iro.compare_judges(evaluations, "a", reference="people")
    assert result.audits == iro.compare_judges(evaluations, "a").audits == ()
    assert "model: only 9 queries labeled by people, and an audit needs 10." in result.notes
    assert any("must be a random sample" in note for note in result.notes)
    with pytest.raises(
        ParameterError, match="`reference='nobody'`: this is no judge; they are model and people"
    ):
        iro.compare_judges(evaluations, "a", reference="nobody")
    qrels: literal.Qrels = {f"q{q}": {"x": 1} for q in range(20)}
    runs = {
        name: {query: {"x": 1.0, "y": score} for query in qrels}
        for name, score in (("a", 0.5), ("b", 2.0))
    }
    people = {query: {"x": 1, "z": 0} for query in [*qrels, "q99"]}
    evaluations = {
        name: iro.evaluate(judgments, runs, cutoff=5)
        for name, judgments in (("model", qrels), ("people", people))
    }
    notes = "\n".join(iro.compare_judges(evaluations, "a", reference="people").notes)
    assert "50 % of the documents that people labeled are not judged by it" in notes
    assert "model: 1 query of people not judged by it" in notes


def test_queries_to_label_are_drawn_by_seed() -> None:
    evaluation = judged()["model"]
    drawn = iro.to_label(evaluation, 30, seed=1)
    assert drawn == iro.to_label(evaluation, 30, seed=1) != iro.to_label(evaluation, 30, seed=2)
    assert list(drawn) == [query for query in evaluation.query_ids if query in set(drawn)]
    for n in (0, N + 1):
        with pytest.raises(ParameterError, match="n="):
            iro.to_label(evaluation, n)


@pytest.mark.realdata
def test_judges_of_rerankers(real_data: Path) -> None:
    """NIST against language models, where nothing is left to predict."""
    folder = real_data / "suite-rerankers" / "dl20"
    runs = {path.name.removesuffix(".run.gz"): path for path in sorted(folder.glob("*.run.gz"))}
    evaluations = {
        judge: iro.evaluate(
            folder / name, runs, rel=2, cutoff=10, unit="document", measures=["nDCG@10"]
        )
        for judge, name in (("nist", "qrels.txt.gz"), ("gpt-4o", "qrels.gpt-4o.txt.gz"))
    }
    audits = iro.compare_judges(
        evaluations, "monot5-base", reference="nist", measures=["nDCG@10"]
    ).audits
    assert [audit.facet for audit in audits[:3]] == ["coverage", "all queries", "nDCG@10"]
    assert all(audit.weight == 0 for audit in audits)
    # By document the imaginary queries weigh little: the interval is about that of t with the
    # effective degrees of freedom.
    for audit, largest in zip(audits[:3], (100, 10, 1), strict=True):
        a = float(np.mean(1 / evaluations["nist"].runs[0].relevant))
        names = "monot5-base", audit.contender
        y = (
            np.subtract(*np.nan_to_num(levels_of(evaluations["nist"], *names, audit.facet))[::-1])
            / largest
        )
        n = len(y)
        center = y.sum() / (n + 2 * a)
        variance = (
            ((y @ y + 2 * a**2) / (n + 2 * a) - center**2) * (1 + (1 - a) / (n - 1)) / (n + 2 * a)
        )
        df = a * (n - 1) + (1 - a) * effective_df(y)
        expected = scipy.stats.t.interval(0.95, df, largest * center, largest * np.sqrt(variance))
        assert audit.corrected_interval == pytest.approx(expected)


@pytest.mark.parametrize("labeled", [10, 30])
def test_rare_differences_are_covered_by_query(labeled: int) -> None:
    """Where most differences are 0, all labeled ones often are: it said +0.00 [+0.00, +0.00] where the truth was +2.70."""
    rng = np.random.default_rng(2)
    ranks: dict[str, int | None] = {
        f"q{q}": int(rank) for q, rank in enumerate(rng.integers(1, 8, 600))
    }
    lost = {f"q{q}" for q in rng.choice(600, 16, replace=False)}
    runs = {
        "a": run_of({q: None if q in lost else rank for q, rank in ranks.items()}),
        "b": run_of(ranks),
    }
    people = iro.evaluate(qrels_of(ranks), runs, cutoff=10)
    model = iro.evaluate(
        {q: {"gold" if rng.random() < 0.9 else "d1": 1} for q in ranks}, runs, cutoff=10
    )
    truth = 100 * len(lost) / 600
    for seed in range(10):
        some = people.restrict(iro.to_label(model, labeled, seed=seed))
        audit = audit_of(
            iro.compare_judges({"model": model, "people": some}, "a", reference="people"),
            "coverage",
        )
        assert audit.corrected_interval.low <= truth <= audit.corrected_interval.high
        assert audit.bias_interval.low < audit.bias_interval.high


def test_an_interval_that_disagrees_with_the_test_is_said() -> None:
    ranks: dict[str, int | None] = {f"q{q}": 2 for q in range(60)}
    moved = {q: 1 if int(q[1:]) < 25 else rank for q, rank in ranks.items()}
    runs = {"a": run_of(ranks), "b": run_of(moved)}
    people = iro.evaluate(qrels_of(ranks), runs, cutoff=100)
    model = iro.evaluate(
        {q: {"d1": 1} for q in ranks}, {"a": runs["a"], "b": runs["a"]}, cutoff=100
    )
    result = iro.compare_judges({"model": model, "people": people}, "a", reference="people")
    found = audit_of(result, "all queries")
    assert (found.answer, found.bias_p < 1e-6) == ("wrong", True)
    assert found.bias_interval.low < 0 < found.bias_interval.high
    assert any(
        "the interval includes zero, but the test, p = " in sentence
        for sentence in result.sentences
    )


def test_clusters_are_the_unit_of_an_audit() -> None:
    """Of 12 conversations all turns of which were labeled the audit is that of 12 values."""
    rng = np.random.default_rng(5)
    ranks: dict[str, int | None] = {
        f"c{c}_{turn}": int(rng.integers(4, 8)) for c in range(30) for turn in range(4)
    }
    shifts = rng.integers(-3, 4, 30)
    moved = {q: (rank or 0) + int(shifts[int(q[1:].split("_")[0])]) for q, rank in ranks.items()}
    runs = {"a": run_of(ranks), "b": run_of(moved)}
    judge = {q: {"gold" if rng.random() < 0.9 else "d1": 1} for q in ranks}
    some = [q for q in ranks if int(q[1:].split("_")[0]) < 12]
    audits = {}
    for clusters in (None, "by:_"):
        people, model = (
            iro.evaluate(qrels, runs, cutoff=12, clusters=clusters)
            for qrels in (qrels_of(ranks), judge)
        )
        result = iro.compare_judges(
            {"model": model, "people": people.restrict(some)}, "a", reference="people"
        )
        audits[clusters] = audit_of(result, "all queries")
        assert not any("independent" in note for note in result.notes if clusters)
    f = {
        q: b - a
        for q, a, b in zip(model.query_ids, *(run.at(12).esl() for run in model), strict=True)
    }
    bias = np.array(
        [(moved[q] or 0) - (ranks[q] or 0) - (0 if np.isnan(f[q]) else f[q]) for q in some]
    )
    means = bias.reshape(12, 4).mean(axis=1)  # clusters of equal size: their means are the values
    imagined = np.append(means, [24, -24])
    half = scipy.stats.t.ppf(0.975, 11) * imagined.std() / np.sqrt(14)
    found = audits["by:_"]
    assert found.bias_interval == pytest.approx((imagined.mean() - half, imagined.mean() + half))
    assert found.bias_p == pytest.approx(mean_test(means).pvalue)
    assert found.bias_p != audits[None].bias_p
    assert found.corrected == audits[None].corrected
    with pytest.raises(MismatchError, match="some judges have clusters"):
        iro.compare_judges(
            {"model": model, "people": iro.evaluate(qrels_of(ranks), runs, cutoff=12)}, "a"
        )
