"""The audit of judges: against plain formulas, by drawing, and what it must not claim."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
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
    top = {query: min(runs["a"][query], key=lambda document: -runs["a"][query][document]) for query in people}
    model = {
        query: {top[query]: 1} if rng.random() < (0.8 if biased else 0.05) else judgments for query, judgments in people.items()
    }
    evaluated = {name: iro.evaluate(qrels, runs, cutoff=20) for name, qrels in (("model", model), ("people", people))}
    sample = iro.to_label(evaluated["model"], labeled, seed=seed)
    return {"model": evaluated["model"], "people": iro.evaluate({query: people[query] for query in sample}, runs, cutoff=20)}


def audit_of(result: iro.JudgesComparison, facet: str) -> Any:
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
    every, rest = np.array(list(model.values())), np.array([change for query, change in model.items() if query not in people])
    weight = np.cov(y, f)[0, 1] / ((1 + len(y) / len(rest)) * every.var(ddof=1))
    variance = (y - weight * f).var(ddof=1) / 40 + weight**2 * every.var(ddof=1) / len(rest)
    assert (found.n_labeled, found.n_queries, found.measured_in) == (40, N, "ranks")
    assert (found.weight, found.worth) == pytest.approx((weight, y.var(ddof=1) / 40 / variance))
    assert found.corrected == pytest.approx((y - weight * f).mean() + weight * rest.mean())
    assert (found.judge_difference, found.reference_difference) == pytest.approx((every.mean(), y.mean()))
    assert (found.bias, found.correlation) == pytest.approx(((y - f).mean(), np.corrcoef(y, f)[0, 1]))
    assert (found.needed.effect, found.needed.queries) == (abs(found.judge_difference), 3)
    assert type(result).from_json(result.to_json()) == result


def test_the_three_answers() -> None:
    result, biased = (iro.compare_judges(judged(biased=is_biased), "a", reference="people") for is_biased in (False, True))
    good, bad, unsure = audit_of(result, "all queries"), audit_of(biased, "all queries"), audit_of(result, "coverage")
    assert (good.answer, good.corrected_interval.high < 0) == ("holds", True)
    assert (bad.answer, bad.judge_difference > 0) == ("wrong", True)
    assert any("model is wrong about the difference" in sentence for sentence in biased.sentences)
    assert (unsure.answer, unsure.needed) == ("cannot be told", None)
    assert any("cannot be told with 40 labeled queries" in sentence for sentence in result.sentences)


def test_the_interval_covers_and_the_judge_alone_does_not() -> None:
    """40 draws of 30 queries; a judge that is biased keeps the corrected interval at its level."""
    whole = judged(3, biased=True, labeled=N)
    of_all = iro.compare_judges(whole, "a", reference="people")
    truth = audit_of(of_all, "all queries").reference_difference
    assert abs(of_all.audits[1].judge_difference - truth) > 1
    covered = 0
    for seed in range(40):
        some = {"model": whole["model"], "people": whole["people"].restrict(iro.to_label(whole["model"], 30, seed=seed))}
        low, high = audit_of(iro.compare_judges(some, "a", reference="people"), "all queries").corrected_interval
        covered += low <= truth <= high
    assert covered >= 36


def test_what_an_audit_needs() -> None:
    evaluations = judged(labeled=9)
    result = iro.compare_judges(evaluations, "a", reference="people")
    assert result.audits == iro.compare_judges(evaluations, "a").audits == ()
    assert "model: only 9 queries labeled by people, and an audit needs 10." in result.notes
    assert any("must be a random sample" in note for note in result.notes)
    with pytest.raises(ParameterError, match="`reference='nobody'`: this is no judge; they are model and people"):
        iro.compare_judges(evaluations, "a", reference="nobody")
    qrels: literal.Qrels = {f"q{q}": {"x": 1} for q in range(20)}
    runs = {name: {query: {"x": 1.0, "y": score} for query in qrels} for name, score in (("a", 0.5), ("b", 2.0))}
    people = {query: {"x": 1, "z": 0} for query in [*qrels, "q99"]}
    evaluations = {name: iro.evaluate(judgments, runs, cutoff=5) for name, judgments in (("model", qrels), ("people", people))}
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
    """NIST against language models: differences correlate less than levels do."""
    folder = real_data / "suite-rerankers" / "dl20"
    runs = {path.name.removesuffix(".run.gz"): path for path in sorted(folder.glob("*.run.gz"))}
    evaluations = {
        judge: iro.evaluate(folder / name, runs, rel=2, cutoff=10, unit="document", measures=["nDCG@10"])
        for judge, name in (("nist", "qrels.txt.gz"), ("gpt-4o", "qrels.gpt-4o.txt.gz"))
    }
    audits = iro.compare_judges(evaluations, "monot5-base", reference="nist", measures=["nDCG@10"]).audits
    assert [audit.facet for audit in audits[:3]] == ["coverage", "all queries", "nDCG@10"]
    assert all(audit.weight == 0 and audit.worth == 1 for audit in audits)  # nothing is left to predict
    for audit in audits[:2]:
        assert audit.correlation < audit.correlation_of_levels  # type: ignore[operator]
