from __future__ import annotations

from pathlib import Path

import ir_measures
import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.tail.lengths import ablation, document_precisions
from tests.helpers.documents import documents_by_definition
from tests.helpers.many import collection


def test_distributions_count_every_relevant_document() -> None:
    qrels, runs = collection(3, 25, relevant=3)
    result = iro.length_distributions(iro.evaluate(qrels, runs), bins=4)
    assert (result.n_documents, result.n_queries) == (75, 25)
    for found, row in zip(result.runs, result.rows(), strict=True):
        documents = [documents_by_definition(qrels, runs[found.run], query, 10) for query in qrels]
        lengths = [length for of_query in documents for precision, length in of_query if precision > 0]
        assert found.missing == 75 - len(lengths)
        assert found.counts == tuple(np.histogram(lengths, result.edges)[0].tolist())
        assert sum(found.counts) == len(lengths)
        assert found.asl == pytest.approx(np.mean([np.mean([length for _, length in of_query]) for of_query in documents]))
        assert (row["missing"], row["missing_share"]) == (found.missing, found.missing / 75)
    assert iro.LengthDistributions.from_json(result.to_json()) == result


@pytest.mark.realdata
def test_bm25_with_rm3_on_the_passages_of_2020(real_data: Path) -> None:
    folder = real_data / "dl20-passage"
    ev = iro.evaluate(folder / "qrels.txt", [folder / "BM25RM3.run.gz"], cutoff=1000)
    (found,) = iro.length_distributions(ev, missing="retrieved").runs
    assert found.asl == pytest.approx(270.2, abs=0.05)  # the paper: 264 for its best BM25 run, with MAP 0.400
    assert found.asl_top == pytest.approx(30.9, abs=0.05)
    assert ablation(ev.runs, "retrieved")[0].means()[0] == pytest.approx(0.4022, abs=5e-5)


def test_headroom_is_of_the_best_run() -> None:
    qrels, runs = collection(3, 25, relevant=3)
    result = iro.headroom(iro.evaluate(qrels, runs))
    for best, higher_is_better in zip(result.measures, (True, False, True, False), strict=True):
        measure = iro.parse_measure(best.measure)
        means = {name: ir_measures.calc_aggregate([measure], qrels, run)[measure] for name, run in runs.items()}
        assert best.run == (max if higher_is_better else min)(means, key=lambda name: means[name])
        assert best.mean == pytest.approx(means[best.run])
        assert sum(best.counts) == 25
    assert iro.Headroom.from_json(result.to_json()) == result


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
    assert sorted(document_precisions(evaluation[0]).tolist()) == pytest.approx(sorted(p for p, _ in documents))
    target = sum(w for _, w in documents) / sum(p * w for p, w in documents)
    documents.sort(key=lambda document: -document[0])
    tried = []
    for size in range(1, sum(p > 0 for p, _ in documents) + 1):
        part = documents[:size]
        weight = sum(w for _, w in part)
        tried.append((abs(sum(w / p for p, w in part) / weight - target), weight / sum(w for _, w in documents)))
    assert found.effective_share == pytest.approx(min(tried)[1])
