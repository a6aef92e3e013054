from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics import queries_for_coverage, queries_for_mean
from tests.helpers.comparisons import compare_pair
from tests.helpers.many import collection
from tests.helpers.runs import qrels_of, run_of


def pilot(relevant: int = 1) -> iro.Comparison:
    qrels, runs = collection(2, 60, relevant=relevant)
    return compare_pair(qrels, *runs.values(), names=["A", "B"])


def test_the_numbers_are_those_of_the_statistics() -> None:
    comparison = pilot()
    found = iro.plan(comparison, coverage=2.0, ranking=0.75, power=0.9)
    won, lost = comparison.coverage.won or 0, comparison.coverage.lost or 0
    assert found.coverage.needed == queries_for_coverage(60, won, lost, 0.02, alpha=0.05, power=0.9)
    changes = [query.difference for query in comparison.per_query() if query.difference is not None]
    assert found.ranking.needed == queries_for_mean(np.array(changes), 60, 0.75, alpha=0.05, power=0.9)
    assert (found.ranking.needed.upper or 0) > (found.ranking.needed.queries or 0)
    assert iro.Plan.from_json(found.to_json()) == found
    shares = pilot(relevant=3)
    assert shares.unit == "document"
    changes = [query.found_contender - query.found_baseline for query in shares.per_query()]
    assert iro.plan(shares).coverage.needed.queries == queries_for_mean(np.array(changes), 60, 0.01, alpha=0.05).queries


def test_the_smallest_possible_p_is_stated() -> None:
    queries = [f"q{number}" for number in range(40)]
    ranks = dict.fromkeys(queries, 2)
    changed = ranks | {query: 1 + 2 * (place % 2) for place, query in enumerate(queries[:8])}
    comparison = compare_pair(qrels_of(queries), run_of(ranks), run_of(changed), names=["A", "B"])
    assert iro.plan(comparison).notes[:3] == (
        "By default the differences to detect are 1 percentage point and 0.5 ranks; give your own.",
        "Coverage: with 0 queries that differ the smallest possible p is 1, which is above the level of 0.05.",
        "Ranking: with 8 queries that differ the smallest possible p is 0.0078.",
    )
    identical = iro.plan(compare_pair(qrels_of(queries), run_of(ranks), run_of(ranks)))
    assert "Ranking: no number of queries can be given, because fewer than two queries differ in it." in identical.notes
    found = iro.plan(comparison, coverage=1.0)
    assert "By default the difference to detect is 0.5 ranks" in " ".join(str(found).split())


def test_it_needs_the_queries_of_the_pilot() -> None:
    with pytest.raises(ParameterError, match="stored without its queries"):
        iro.plan(iro.Comparison.from_json(pilot().to_json()))
    with pytest.raises(ParameterError, match="effect=0"):
        iro.plan(pilot(), coverage=0.0)


@pytest.mark.realdata
def test_more_contenders_need_more_queries(real_data: Path) -> None:
    folder = real_data / "msmarco-doc-dev"
    evaluation = iro.evaluate(folder / "qrels.txt", [folder / f"{name}.run.gz" for name in ("bm25", "bm25+rm3", "wordnet_all")])
    alone = iro.plan(iro.compare(evaluation, "bm25", "wordnet_all"))  # type: ignore[arg-type]
    together = iro.plan(iro.compare(evaluation, "bm25")["wordnet_all"])  # type: ignore[index]
    assert (alone.coverage.needed.queries or 0) < (together.coverage.needed.queries or 0)
    assert any("first step of the correction over 2 comparisons" in note for note in together.notes)
