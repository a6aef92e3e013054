from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.tail.lengths import document_precisions
from tests.helpers.documents import documents_by_definition
from tests.helpers.many import collection


def test_appendix_a_1() -> None:
    lengths = [1, 1, 1, 2, 4, 5, 10, 10000, 10000]
    found = iro.equivalent_lengths(lengths)
    assert found.mean() == pytest.approx(9 / sum(1 / length for length in lengths))  # equation 15
    printed = [1, 1, 1, 2.1, 2.7, 2.9, 3, 3.2, 3.2]
    assert [abs(a - b) < 0.05 for a, b in zip(found, printed, strict=True)] == [True] * 5 + [False] + [True] * 3
    assert found[5] == pytest.approx(2.8, abs=0.03)  # with 2.9 the mean would differ
    for wrong in ([], [0.5], [np.inf], [[1.0]]):
        with pytest.raises(ParameterError, match="lengths: must be"):
            iro.equivalent_lengths(wrong)


@given(st.lists(st.floats(1, 1e6), min_size=1, max_size=30))
def test_equivalent_lengths_have_the_weighted_mean(lengths: list[float]) -> None:
    assert iro.equivalent_lengths(lengths).mean() == pytest.approx(len(lengths) / sum(1 / length for length in lengths))


@pytest.mark.parametrize("seed", range(5))
def test_the_effective_share_by_trying_every_part(seed: int) -> None:
    qrels, runs = collection(1, 12, relevant=3, seed=seed)
    lengths = iro.search_lengths(qrels, runs["run0"])
    documents = [
        (precision, 1 / len(qrels[query]))
        for query in qrels
        for precision, _ in documents_by_definition(qrels, runs["run0"], query, 99)
    ]
    assert sorted(document_precisions(lengths).tolist()) == pytest.approx(sorted(p for p, _ in documents))
    target = sum(w for _, w in documents) / sum(p * w for p, w in documents)
    documents.sort(key=lambda document: -document[0])
    tried = []
    for size in range(1, sum(p > 0 for p, _ in documents) + 1):
        part = documents[:size]
        weight = sum(w for _, w in part)
        tried.append((abs(sum(w / p for p, w in part) / weight - target), weight / sum(w for _, w in documents)))
    assert iro.effective_share(lengths) == pytest.approx(min(tried)[1])
