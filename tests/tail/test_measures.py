from __future__ import annotations

from itertools import pairwise, permutations
from typing import Any

import ir_measures
import numpy as np
import pytest
from ir_measures import AP

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.tail.lengths import average_precision, document_lengths, precision_at
from tests.helpers.documents import documents_of_list
from tests.helpers.many import collection


@pytest.mark.parametrize(("settings", "rule"), [({}, AP), ({"rel": 2, "judged_only": True}, AP(rel=2, judged_only=True))])
def test_precisions_with_a_name_of_ir_measures_have_its_values(settings: dict[str, Any], rule: Any) -> None:
    rng = np.random.default_rng(5)
    qrels = {f"q{n}": {f"d{i}": int(rng.integers(0, 3)) for i in range(12)} | {"d3": 2} for n in range(20)}
    qrels |= {"q7": {"d0": 0, "d1": 0}, "q8": {"d0": 1, "d1": 1}}  # without a relevant document, and without one at rel 2
    runs = {  # scores with many ties, documents d12 to d17 unjudged
        name: {q: {f"d{i}": float(rng.integers(0, 6)) for i in range(18)} for q in qrels} for name in ("a", "b")
    }

    def means(measure: Any) -> Any:
        return pytest.approx([ir_measures.calc_aggregate([measure], qrels, run)[measure] for run in runs.values()])

    ev = iro.evaluate(qrels, runs, **settings)
    for cutoff in (9, 12):
        for found in iro.rrie(ev, "a", "b", cutoff=cutoff).reductions:
            assert [found.baseline, found.contender] == means(iro.parse_measure(found.measure))
            assert found.rrie == pytest.approx((found.baseline - found.contender) / (found.baseline - 1))
    assert list(iro.reordering(ev, cutoff=12).values[0]) == means(rule @ 12)


def test_precisions_under_another_tie_rule_have_other_names() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    for ties in ("msmarco", "input", "expected"):
        ev = iro.evaluate(qrels, runs, ties=ties)
        assert [reduction.measure for reduction in iro.rrie(ev, "run0", "run1").reductions] == [
            f"P@10, ties {ties}",
            f"ASL(ties='{ties}',first=10,missing='cutoff')@10",
            f"AP@10, ties {ties}",
            f"ASL(ties='{ties}',missing='cutoff')@10",
        ]


@pytest.mark.parametrize("seed", range(4))
def test_expected_values_are_means_over_all_orders_of_tied_documents(seed: int) -> None:
    rng = np.random.default_rng(seed)
    grades = {"a": 1, "b": 1, "c": 1, "missing": 1, "x": 0}
    scores = {document: float(rng.integers(0, 3)) for document in ("a", "b", "c", "x", "y", "z")}
    ev = iro.evaluate({"q": grades}, {"run": {"q": scores}}, ties="expected")
    (lengths,) = ev.at(6)
    orders = [order for order in permutations(scores) if all(scores[s] >= scores[t] for s, t in pairwise(order))]
    of_orders = np.array([documents_of_list(grades, list(order), 6) for order in orders])  # order, document, (P, length)
    assert document_lengths(lengths, "cutoff").tolist() == pytest.approx(of_orders[:, :, 1].mean(axis=0).tolist())
    assert lengths.asl(missing="cutoff")[0] == pytest.approx(of_orders[:, :, 1].mean())
    assert average_precision(lengths)[0] == pytest.approx(of_orders[:, :, 0].mean())
    for depth in (1, 2, 4, 6):
        shares = [sum(grades.get(document, 0) for document in order[:depth]) / depth for order in orders]
        assert precision_at(lengths, depth)[0] == pytest.approx(np.mean(shares))


def test_what_has_no_expectation_says_so() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    tied = {name: {q: dict.fromkeys(ranking, 1.0) for q, ranking in run.items()} for name, run in runs.items()}
    ev = iro.evaluate(qrels, tied, ties="expected")
    with pytest.raises(ParameterError, match="ties='expected': the steps from AP to ASL average 1 / ASL"):
        iro.reordering(ev)
    with pytest.raises(ParameterError, match="the cutoff 4 splits a group of tied documents"):
        iro.headroom(ev, cutoff=4)
