import math
from typing import Any

import ir_measures
import numpy as np
import pytest
from ir_measures import AP

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.tail.lengths import bucket_columns
from ir_outcomes.tail.measures import ablation, document_precisions
from tests.helpers.documents import documents_by_definition
from tests.helpers.many import collection

PUBLISHED = [  # Alex et al. 2022, Table 1: documents, then passages
    ("P@20", 0.456, 0.594, 25), ("ASL@g1-10", 14, 5, 69), ("MAP", 0.401, 0.543, 24), ("ASL", 39, 27, 32),
    ("P@20", 0.517, 0.706, 39), ("ASL@g1-10", 51, 6, 90), ("MAP", 0.400, 0.572, 29), ("ASL", 264, 215, 19),
]  # fmt: skip


@pytest.mark.parametrize("documents", [PUBLISHED[:4], PUBLISHED[4:]], ids=["documents", "passages"])
def test_rrie_from_published_means_is_table_1(
    documents: list[tuple[str, float, float, int]],
) -> None:
    result = iro.rrie(
        None,
        {measure: mean for measure, mean, _, _ in documents},
        {measure: mean for measure, _, mean, _ in documents},
    )
    assert result.settings is None
    for row, (measure, baseline, contender, percent) in zip(result.rows(), documents, strict=True):
        assert (row["measure"], row["baseline"], row["contender"]) == (measure, baseline, contender)
        assert 100 * row["rrie"] == pytest.approx(percent, abs=1.0)
    assert iro.rrie(None, {"P@20": 1.0}, {"P@20": 0.9}).table[0]["rrie"] is None


@pytest.mark.parametrize(
    ("baseline", "contender", "message"),
    [
        ({"ASL": 3.0, "AP": 0.4}, {"ASL": 2.0}, "there is only one mean of AP"),
        ({}, {}, "are published means: mappings"),
        ("BM25", {"ASL": 2.0}, "are published means: mappings"),
        ({"ASL": 12.0}, {"ASL": math.nan}, "ASL: nan: write"),
        ({"ASL": 12.0}, {"ASL": math.inf}, "ASL: inf: write"),
        ({"ASL": 0.5}, {"ASL": 3}, r"ASL: 0\.5: .* search lengths \(ASL, ESL\) as numbers from 1"),
        # A gain from 40.1 to 54.3 % would be a reduction of -36 %.
        ({"MAP": 40.1}, {"MAP": 54.3}, r"MAP: 40\.1: write precisions as shares, such as 0\.401"),
        ({"MAP": 0.1}, {"MAP": -0.3}, r"MAP: -0\.3: write"),
    ],
)
def test_impossible_means_are_refused(baseline: Any, contender: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        iro.rrie(None, baseline, contender)


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
        for row in iro.rrie(ev, "a", "b", cutoff=cutoff).rows():
            assert [row["baseline"], row["contender"]] == means(iro.parse_measure(row["measure"]))
            assert row["rrie"] == pytest.approx(
                (row["baseline"] - row["contender"]) / (row["baseline"] - 1)
            )
    assert ablation(ev.at(12), "cutoff")[0].means().tolist() == means(rule @ 12)


def test_precisions_under_another_tie_rule_have_other_names() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    for ties in ("msmarco", "input"):
        ev = iro.evaluate(qrels, runs, ties=ties)
        assert [row["measure"] for row in iro.rrie(ev, "run0", "run1").rows()] == [
            f"P@10, ties {ties}",
            f"ASL(ties='{ties}',first=10,missing='cutoff')@10",
            f"AP@10, ties {ties}",
            f"ASL(ties='{ties}',missing='cutoff')@10",
        ]


def test_what_has_no_order_is_refused() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    with pytest.raises(ParameterError, match="`ties='expected'` gives no single order"):
        iro.reordering(iro.evaluate(qrels, runs, ties="expected"))


def test_distributions_count_every_relevant_document() -> None:
    qrels, runs = collection(3, 25, relevant=3)
    result = iro.length_distributions(iro.evaluate(qrels, runs), bins=4)
    assert (result.n_documents, result.n_queries) == (75, 25)
    for row in result.rows():
        documents = [documents_by_definition(qrels, runs[row["run"]], query, 10) for query in qrels]
        lengths = [
            length for of_query in documents for precision, length in of_query if precision > 0
        ]
        counts = [row[name] for name in bucket_columns(result.edges)]
        assert counts == np.histogram(lengths, result.edges)[0].tolist()
        assert sum(counts) == len(lengths)
        assert row["asl"] == pytest.approx(
            np.mean([np.mean([length for _, length in of_query]) for of_query in documents])
        )
        n_missing = 75 - len(lengths)
        assert (row["missing"], row["missing_share"]) == (n_missing, n_missing / 75)


def test_headroom_is_of_the_best_run() -> None:
    qrels, runs = collection(3, 25, relevant=3)
    result = iro.headroom(iro.evaluate(qrels, runs))
    names = dict.fromkeys(row["measure"] for row in result.rows())
    for name, higher_is_better in zip(names, (True, False, True, False), strict=True):
        measure = iro.parse_measure(name)
        means = {
            run: ir_measures.calc_aggregate([measure], qrels, ranking)[measure]
            for run, ranking in runs.items()
        }
        best = (max if higher_is_better else min)(means, key=lambda run: means[run])
        values = [metric.value for metric in ir_measures.iter_calc([measure], qrels, runs[best])]
        rows = [row for row in result.rows() if row["measure"] == name]
        for row in rows:
            high = math.inf if row["to"] is None else row["to"]
            assert row["run"] == best
            assert row["mean"] == pytest.approx(means[best])
            assert row["queries"] == sum(row["from"] <= value < high for value in values)
        assert sum(row["queries"] for row in rows) == 25


@pytest.mark.parametrize("seed", range(5))
def test_the_effective_share_by_trying_every_part(seed: int) -> None:
    qrels, runs = collection(1, 12, relevant=3, seed=seed)
    evaluation = iro.evaluate(qrels, runs)
    (row,) = iro.length_distributions(evaluation).rows()
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
    assert row["effective_share"] == pytest.approx(min(tried)[1])
