"""Scores that an evaluation keeps, computes from search lengths, or reads the runs again for."""

from __future__ import annotations

import warnings

import pytest

import ir_outcomes as iro
from ir_outcomes.errors import IrOutcomesWarning
from tests.helpers.many import collection


def test_scores_that_are_read_again_are_of_the_queries_of_the_evaluation() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    part = iro.evaluate(qrels, runs).restrict(["q5", "q2"])
    with pytest.warns(IrOutcomesWarning, match=r"nDCG@10 was not kept, so all runs are read again") as caught:
        scores = part.scores_of("nDCG@10")
    assert caught[0].filename == __file__
    assert scores.query_ids == part.query_ids == ("q2", "q5")
    kept = iro.evaluate(qrels, runs, measures=["nDCG@10"]).restrict(["q2", "q5"]).scores_of("nDCG@10")
    assert (scores.values == kept.values).all()


@pytest.mark.parametrize("measure", ["ASL(ties='msmarco')@5", "ASL(ties='msmarco',missing='retrieved')@5"])
def test_measures_that_are_made_comparable_are_found_by_the_name_they_were_asked_for(measure: str) -> None:
    qrels, runs = collection(2, 10, relevant=2)
    ev = iro.evaluate(qrels, runs, measures=[measure])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the runs are not read again
        assert ev.scores_of(measure) is ev.scores[0]


def test_equation_3_that_was_kept_does_not_stand_for_comparable_lengths() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    ev = iro.evaluate(qrels, runs, measures=["ASL(missing='retrieved')@5"])
    assert ev.scores_of("ASL@5").measure == "ASL(missing='cutoff')@5"
    assert ev.scores_of("ASL(missing='retrieved')@5") is ev.scores[0]
