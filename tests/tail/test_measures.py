import math
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any

import ir_measures
import numpy as np
import pytest
from ir_measures import AP

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.tail.measures import (
    ablation,
    average_precision,
    document_lengths,
    document_precisions,
    precision_at,
)
from tests.helpers.documents import documents_by_definition, documents_of_list
from tests.helpers.many import collection

PUBLISHED = [  # Alex et al. 2022, Table 1: documents, then passages
    ("P@20", 0.456, 0.594, 25), ("ASL@g1-10", 14, 5, 69), ("MAP", 0.401, 0.543, 24), ("ASL", 39, 27, 32),
    ("P@20", 0.517, 0.706, 39), ("ASL@g1-10", 51, 6, 90), ("MAP", 0.400, 0.572, 29), ("ASL", 264, 215, 19),
]  # fmt: skip


@pytest.mark.parametrize("documents", [PUBLISHED[:4], PUBLISHED[4:]], ids=["documents", "passages"])
def test_rrie_from_published_means_is_table_1(
    documents: list[tuple[str, float, float, int]],
) -> None:
    result = iro.rrie_from_means(
        {measure: mean for measure, mean, _, _ in documents},
        {measure: mean for measure, _, mean, _ in documents},
        names=("BM25", "neural"),
    )
    assert (result.baseline, result.contender, result.settings) == ("BM25", "neural", None)
    for found, (measure, baseline, contender, percent) in zip(
        result.reductions, documents, strict=True
    ):
        assert (found.measure, found.baseline, found.contender) == (measure, baseline, contender)
        assert found.rrie is not None
        assert 100 * found.rrie == pytest.approx(percent, abs=1.0)
    assert iro.RRIE.from_json(result.to_json()) == result
    (perfect,) = iro.rrie_from_means({"P@20": 1.0}, {"P@20": 0.9}).reductions
    assert perfect.rrie is None


@pytest.mark.parametrize(
    ("baseline", "contender", "message"),
    [
        ({"ASL": 3.0, "AP": 0.4}, {"ASL": 2.0}, "there is only one mean of AP"),
        ({}, {}, "there is no measure"),
        ({"ASL": 12.0}, {"ASL": math.nan}, r"ASL: 12\.0 and nan: must be finite numbers"),
        ({"AP": "0.4"}, {"AP": 0.5}, r"AP: '0\.4' and 0\.5: must be finite numbers"),
        ({"ASL": 0.5}, {"ASL": 3}, r"ASL: 0\.5 and 3: a search length is at least 1"),
        # A gain from 40.1 to 54.3 % would be a reduction of -36 %.
        (
            {"MAP": 40.1},
            {"MAP": 54.3},
            r"MAP: .* are not between 0 and 1: write precisions as shares, such as 0.401",
        ),
        ({"MAP": -0.1}, {"MAP": 0.3}, r"MAP: .* are not between 0 and 1"),
    ],
)
def test_impossible_means_are_refused(baseline: Any, contender: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        iro.rrie_from_means(baseline, contender)


@pytest.mark.parametrize(
    ("settings", "rule"), [({}, AP), ({"rel": 2, "judged_only": True}, AP(rel=2, judged_only=True))]
)
def test_precisions_with_a_name_of_ir_measures_have_its_values(
    settings: dict[str, Any], rule: Any
) -> None:
    rng = np.random.default_rng(5)
    qrels = {
        f"q{n}": {f"d{i}": int(rng.integers(0, 3)) for i in range(12)} | {"d3": 2}
        for n in range(20)
    }
    # Without a relevant document, and without one at rel 2.
    qrels |= {
        "q7": {"d0": 0, "d1": 0},
        "q8": {"d0": 1, "d1": 1},
    }
    runs = {  # scores with many ties, documents d12 to d17 unjudged
        name: {q: {f"d{i}": float(rng.integers(0, 6)) for i in range(18)} for q in qrels}
        for name in ("a", "b")
    }

    def means(measure: Any) -> Any:
        return pytest.approx(
            [ir_measures.calc_aggregate([measure], qrels, run)[measure] for run in runs.values()]
        )

    ev = iro.evaluate(qrels, runs, **settings)
    for cutoff in (9, 12):
        for found in iro.rrie(ev, "a", "b", cutoff=cutoff).reductions:
            assert [found.baseline, found.contender] == means(iro.parse_measure(found.measure))
            assert found.rrie == pytest.approx(
                (found.baseline - found.contender) / (found.baseline - 1)
            )
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
    orders = [
        order
        for order in permutations(scores)
        if all(scores[s] >= scores[t] for s, t in pairwise(order))
    ]
    # Order, document, (P, length).
    of_orders = np.array([documents_of_list(grades, list(order), 6) for order in orders])
    assert document_lengths(lengths, "cutoff").tolist() == pytest.approx(
        of_orders[:, :, 1].mean(axis=0).tolist()
    )
    assert lengths.asl(missing="cutoff")[0] == pytest.approx(of_orders[:, :, 1].mean())
    assert average_precision(lengths)[0] == pytest.approx(of_orders[:, :, 0].mean())
    for depth in (1, 2, 4, 6):
        shares = [
            sum(grades.get(document, 0) for document in order[:depth]) / depth for order in orders
        ]
        assert precision_at(lengths, depth)[0] == pytest.approx(np.mean(shares))


def test_what_has_no_expectation_says_so() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    tied = {
        name: {q: dict.fromkeys(ranking, 1.0) for q, ranking in run.items()}
        for name, run in runs.items()
    }
    ev = iro.evaluate(qrels, tied, ties="expected")
    with pytest.raises(
        ParameterError, match="`ties='expected'`: the steps from AP to ASL average 1 / ASL"
    ):
        iro.reordering(ev)


def test_distributions_count_every_relevant_document() -> None:
    qrels, runs = collection(3, 25, relevant=3)
    result = iro.length_distributions(iro.evaluate(qrels, runs), bins=4)
    assert (result.n_documents, result.n_queries) == (75, 25)
    for found, row in zip(result.runs, result.rows(), strict=True):
        documents = [documents_by_definition(qrels, runs[found.run], query, 10) for query in qrels]
        lengths = [
            length for of_query in documents for precision, length in of_query if precision > 0
        ]
        assert found.missing == 75 - len(lengths)
        assert found.counts == tuple(np.histogram(lengths, result.edges)[0].tolist())
        assert sum(found.counts) == len(lengths)
        assert found.asl == pytest.approx(
            np.mean([np.mean([length for _, length in of_query]) for of_query in documents])
        )
        assert (row["missing"], row["missing_share"]) == (found.missing, found.missing / 75)


@pytest.mark.realdata
def test_bm25_with_rm3_on_the_passages_of_2020(real_data: Path) -> None:
    folder = real_data / "dl20-passage"
    ev = iro.evaluate(folder / "qrels.txt", [folder / "BM25RM3.run.gz"], cutoff=1000)
    (found,) = iro.length_distributions(ev, missing="retrieved").runs
    # The paper: 264 for its best BM25 run, with MAP 0.400.
    assert found.asl == pytest.approx(270.2, abs=0.05)
    assert found.asl_top == pytest.approx(30.9, abs=0.05)
    assert ablation(ev.runs, "retrieved")[0].means()[0] == pytest.approx(0.4022, abs=5e-5)


def test_headroom_is_of_the_best_run() -> None:
    qrels, runs = collection(3, 25, relevant=3)
    result = iro.headroom(iro.evaluate(qrels, runs))
    for best, higher_is_better in zip(result.measures, (True, False, True, False), strict=True):
        measure = iro.parse_measure(best.measure)
        means = {
            name: ir_measures.calc_aggregate([measure], qrels, run)[measure]
            for name, run in runs.items()
        }
        assert best.run == (max if higher_is_better else min)(means, key=lambda name: means[name])
        assert best.mean == pytest.approx(means[best.run])
        assert sum(best.counts) == 25


@pytest.mark.parametrize("seed", range(5))
def test_the_effective_share_by_trying_every_part(seed: int) -> None:
    qrels, runs = collection(1, 12, relevant=3, seed=seed)
    evaluation = iro.evaluate(qrels, runs)
    (found,) = iro.length_distributions(evaluation).runs
    documents = [
        (precision, 1 / len(qrels[query]))
        for query in qrels
        for precision, _ in documents_by_definition(qrels, runs["run0"], query, 99)
    ]
    assert sorted(document_precisions(evaluation[0]).tolist()) == pytest.approx(
        sorted(p for p, _ in documents)
    )
    target = sum(w for _, w in documents) / sum(p * w for p, w in documents)
    documents.sort(key=lambda document: -document[0])
    tried = []
    for size in range(1, sum(p > 0 for p, _ in documents) + 1):
        part = documents[:size]
        weight = sum(w for _, w in part)
        tried.append(
            (
                abs(sum(w / p for p, w in part) / weight - target),
                weight / sum(w for _, w in documents),
            )
        )
    assert found.effective_share == pytest.approx(min(tried)[1])
