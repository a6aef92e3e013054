from __future__ import annotations

import pytest

import ir_outcomes as iro
from ir_outcomes.tail.lengths import document_precisions
from tests.helpers.documents import documents_by_definition
from tests.helpers.many import collection


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
