from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.tail.lengths import ablation
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
