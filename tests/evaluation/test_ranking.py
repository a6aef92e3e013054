"""Costs that stay small whatever the ids are, and the order of tied documents."""

import time
from typing import Any, get_args

import numpy as np
import pytest
import pytrec_eval
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.choices import OneOrder
from ir_outcomes.evaluation import ranking
from ir_outcomes.evaluation.remarks import notes_on_ties
from tests.helpers import literal, strategies


def tied(n_documents: int, n_judged: int, seed: int = 0) -> tuple[dict[str, Any], dict[str, Any]]:
    random = np.random.default_rng(seed)
    documents = [f"document-{number}" for number in random.permutation(n_documents)]
    judged = random.choice(documents, n_judged, replace=False).tolist()
    return {"q": dict.fromkeys(judged, 1)}, {"q": dict.fromkeys(documents, 1.0)}


def test_a_query_of_tied_judged_documents_takes_no_quadratic_time() -> None:
    """40,000 of them took two minutes."""
    qrels, run = tied(40_000, 40_000)
    start = time.process_time()
    lengths = iro.search_lengths(qrels, run)
    assert time.process_time() - start < 5
    assert sorted(lengths.rank.tolist()) == list(range(1, 40_001))


def test_where_the_rule_for_ties_moves_the_first_relevant_document() -> None:
    qrels = {query: {"gold": 1} for query in ("moved", "kept", "alone", "missing")}
    run = {
        "moved": {"a": 3.0, "gold": 2.0, "zz": 2.0},  # by the rule the last id comes first
        "kept": {"a": 3.0, "gold": 2.0, "aa": 2.0},
        "alone": {"a": 3.0, "gold": 2.0},
        "missing": {"a": 3.0, "b": 3.0},
    }
    lengths = iro.search_lengths(qrels, run)
    assert lengths.esl().tolist()[:3] == [3.0, 2.0, 2.0]
    assert lengths.diagnosis.reordered.tolist() == [True, False, False, False]


def test_ties_are_noted_where_they_decide_for_a_fifth_of_the_queries_that_a_run_answers() -> None:
    qrels = {f"q{number}": {"gold": 1} for number in range(10)}
    for n_moved, n_queries, is_noted in ((1, 10, False), (2, 10, True), (1, 5, True)):
        ids = ["zz"] * n_moved + ["aa"] * (n_queries - n_moved)
        run = {f"q{place}": {"gold": 2.0, other: 2.0} for place, other in enumerate(ids)}
        assert bool([*notes_on_ties(iro.evaluate(qrels, {"run": run}).runs)]) is is_noted


@pytest.mark.parametrize("difference", [1e-9, 1e-5])
def test_scores_are_as_equal_as_they_are_for_trec_eval(difference: float) -> None:
    """Which holds them as float32, up to version 9: then the rule for ties decides between near scores."""
    qrels = {"q": {"a": 1}}
    run = {"q": {"a": 1.0 + difference, "b": 1.0}}
    evaluator = pytrec_eval.RelevanceEvaluator(qrels, {"recip_rank"})
    assert 1 / iro.search_lengths(qrels, run).esl()[0] == evaluator.evaluate(run)["q"]["recip_rank"]
    assert iro.search_lengths(qrels, run, ties="msmarco").esl()[0] == 1


@pytest.mark.parametrize("ties", get_args(OneOrder))
def test_equal_scores_of_two_queries_are_no_tie(ties: OneOrder) -> None:
    """The last document of a query and the first of the next stay where they are, whatever they are called."""
    qrels = {query: {"m": 1} for query in ("q1", "q2", "q3")}
    run = {"q1": {"b": 2.0, "m": 1.0}, "q2": {"a": 1.0, "m": 0.5, "z": 0.5}, "q3": {"m": 0.5}}
    lengths = iro.search_lengths(qrels, run, ties=ties)
    expected = [literal.ranked(run[query], ties).index("m") + 1 for query in run]
    assert lengths.esl().tolist() == expected
    moved = [place != first for place, first in zip(expected, (2, 2, 1), strict=True)]
    assert lengths.diagnosis.reordered.tolist() == moved


@given(
    qrels=strategies.qrels,
    run=strategies.runs.filter(bool),
    ties=st.sampled_from(get_args(OneOrder)),
    judged_only=st.booleans(),
    depth=st.integers(1, 6),
)
def test_ranked_documents_are_the_first_of_each_list(
    qrels: literal.Qrels, run: literal.Run, ties: OneOrder, judged_only: bool, depth: int
) -> None:
    found = ranking.ranked_documents(
        iro.as_qrels(qrels), iro.as_run(run), depth, ties=ties, judged_only=judged_only
    )
    rows = zip(found.rank.tolist(), found.docids.tolist(), found.grades.tolist(), strict=True)
    expected = []
    sizes = []
    for query, judged in qrels.items():
        order = literal.top(literal.ranked(run.get(query, {}), ties), judged, depth, judged_only)
        sizes.append(len(order))
        expected += [
            (rank, document.encode(), judged.get(document, -1))
            for rank, document in enumerate(order, 1)
        ]
    assert list(rows) == expected
    assert np.diff(found.offsets).tolist() == sizes
    fewer = found.first(2)
    assert fewer.docids.tolist() == [document for rank, document, _ in expected if rank <= 2]
    assert fewer.depth == min(depth, 2)
