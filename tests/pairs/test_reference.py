"""Rows against numbers of others: the papers' example, and what ir_measures prints on real runs.

Table 2 of Lin et al. is in tests/decisions/test_published.py.
"""

from pathlib import Path
from typing import Any

import ir_measures
import pytest

import ir_outcomes as iro
from ir_outcomes import ASL, ESL
from tests.helpers.comparisons import compare_pair

# Folder, rel, unit, and two runs.
REAL = [
    ("known-item", 1, "query", ("bm25", "rrf-stem-lsa")),
    ("dl20-passage", 2, "document", ("BM25", "splade")),
    ("dl-hard-doc", 1, "document", ("bm25", "bm25+rm3")),
]


@pytest.mark.realdata
@pytest.mark.parametrize(("folder", "rel", "unit", "names"), REAL)
def test_all_queries_is_what_ir_measures_prints(
    folder: str, rel: int, unit: Any, names: tuple[str, str], real_data: Path
) -> None:
    judged = iro.read_qrels(real_data / folder / "qrels.txt").to_dict()
    answerable = {query: grades for query, grades in judged.items() if max(grades.values()) >= rel}
    runs = {name: iro.read_run(real_data / folder / f"{name}.run.gz") for name in names}
    evaluation = iro.evaluate(judged, runs, rel=rel, unit=unit)
    measures = {
        cutoff: ESL(unanswered="cutoff+1", rel=rel) @ cutoff
        if unit == "query"
        else ASL(missing="cutoff", rel=rel) @ cutoff
        for cutoff in (10, 100)
    }
    expected = [
        ir_measures.calc_aggregate(measures.values(), answerable, run.to_dict())
        for run in runs.values()
    ]
    for cutoff, measure in measures.items():
        row = compare_pair(evaluation.with_cutoff(cutoff), *names).all_queries
        assert row is not None
        assert row.n == len(answerable)
        means = [of_run[measure] for of_run in expected]
        assert [row.baseline, row.contender] == pytest.approx(means, rel=1e-12)
