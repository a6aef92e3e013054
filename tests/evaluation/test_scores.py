"""Scores that an evaluation keeps, computes from search lengths, or reads the runs again for; and those of other tools."""

import math
import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import pytrec_eval

import ir_outcomes as iro
from ir_outcomes.errors import IrOutcomesWarning, ParameterError
from ir_outcomes.evaluation.remarks import notes_on_ties
from ir_outcomes.evaluation.scores import Scores, scores_from_lengths
from ir_outcomes.evaluation.search import search_lengths
from tests.helpers.many import collection


def test_scores_that_are_read_again_are_of_the_queries_of_the_evaluation() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    part = iro.evaluate(qrels, runs).restrict(["q5", "q2"])
    with pytest.warns(
        IrOutcomesWarning, match=r"nDCG@10 was not kept, so all runs are read again"
    ) as caught:
        scores = part.scores_of("nDCG@10")
    assert caught[0].filename == __file__
    assert scores.query_ids == part.query_ids == ("q2", "q5")
    kept = (
        iro.evaluate(qrels, runs, measures=["nDCG@10"]).restrict(["q2", "q5"]).scores_of("nDCG@10")
    )
    assert (scores.values == kept.values).all()


def test_measures_that_are_made_comparable_are_found_by_the_name_they_were_asked_for() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the runs are not read again
        for measure in ("ASL(ties='msmarco')@5", "ASL(ties='msmarco',missing='retrieved')@5"):
            ev = iro.evaluate(qrels, runs, measures=[measure])
            assert ev.scores_of(measure) is ev.scores[0]
    ev = iro.evaluate(qrels, runs, measures=["ASL(missing='retrieved')@5"])
    assert ev.scores_of("ASL@5").measure == "ASL(missing='cutoff')@5"
    # As ir_measures writes its default.
    assert ev.scores_of("ASL(missing='retrieved')@5").measure == "ASL@5"
    assert repr(ev.scores_of("ESL@10")) == "<Scores: ESL@10, 2 runs, 10 queries>"


def test_a_query_of_nothing_but_low_grades_does_not_end_python() -> None:
    """The grade -2, junk in TREC's Web tracks, as the highest of a query was a segmentation fault in pytrec_eval."""
    grades = {"q1": {f"d{place}": -2 - place % 2 for place in range(50)}, "q2": {"d1": 1, "d2": -2}}
    run = {query: {f"d{place}": 1.0 - place / 100 for place in range(50)} for query in grades}
    ev = iro.evaluate(grades, {"a": run}, measures=["nDCG@10"])
    assert ev.scores[0].values.tolist() == [[0.0, pytest.approx(1 / math.log2(3))]]


def test_negative_grades_mean_the_same_to_every_measure() -> None:
    random = np.random.default_rng(0)
    documents = [f"d{place}" for place in range(30)]
    grades = {
        f"q{query}": dict(zip(documents[:20], random.integers(-3, 3, 20).tolist(), strict=True))
        for query in range(40)
    }
    run = {query: dict(zip(documents, random.random(30).tolist(), strict=True)) for query in grades}
    capped = iro.as_qrels(grades).for_trec_eval().to_dict()
    assert min(grade for of_query in capped.values() for grade in of_query.values()) == -1
    as_given, as_capped = (
        pytrec_eval.RelevanceEvaluator(qrels, pytrec_eval.supported_measures).evaluate(run)
        for qrels in (grades, capped)
    )
    assert as_given == as_capped


def test_an_infinite_score_is_refused() -> None:
    ev = iro.evaluate({"q1": {"d": 1}, "q2": {"d": 1}}, {"a": {"q1": {"d": 1.0}}})
    with (
        pytest.warns(IrOutcomesWarning, match="there are no results, which scores inf"),
        pytest.raises(
            ParameterError,
            match="a is infinite for 1 query without results; compare runs with `missing='cutoff'`",
        ),
    ):
        ev.scores_of("ASL(missing='retrieved')@5")


@pytest.mark.realdata
def test_usual_runs_are_not_said_to_be_tied(real_data: Path) -> None:
    folder = real_data / "known-item"
    runs = [folder / f"{name}.run.gz" for name in ("bm25", "bm25-coarse", "chargram")]
    ev = iro.evaluate(next(folder.glob("qrels.txt*")), runs)
    noted = [run.name for run in ev if list(notes_on_ties([run]))]
    assert noted == ["bm25-coarse"]  # whose scores were rounded to whole numbers


def test_search_lengths_determine_a_measure_where_all_reach_its_cutoff() -> None:
    qrels, run = {"q": {"d": 1}}, {"q": {"x": 2.0, "d": 1.0}}
    whole, cut = (
        replace(search_lengths(qrels, run, cutoff=cutoff), name=str(cutoff)) for cutoff in (None, 5)
    )
    measure = iro.parse_measure("ESL@10")
    for runs in ([cut, whole], [whole, cut], [cut]):
        assert scores_from_lengths(measure, runs) is None
        assert scores_from_lengths(iro.parse_measure("ESL@5"), runs) is not None
    found = scores_from_lengths(measure, [whole])
    assert found is not None
    assert found.values.tolist() == [[2.0]]


def test_undefined_values_are_noted_and_only_these() -> None:
    ids = ("q1", "q2", "q3")
    complete = Scores("ESL@10", False, ("a", "b"), ids, np.array([[1.0, 2, 3], [2.0, 2, 2]]))
    assert complete.notes() == ()
    partial = Scores(
        "ESL@10", False, ("a", "b"), ids, np.array([[1.0, np.nan, 3], [2.0, np.nan, np.nan]])
    )
    (note,) = partial.notes()
    assert note.startswith("ESL@10 is undefined for some run on 2 of 3 queries")


def test_means_are_over_the_queries_where_a_measure_is_defined() -> None:
    values = np.array([[1.0, np.nan, 3.0], [2.0, np.nan, np.nan], [np.nan, np.nan, np.nan]])
    scores = Scores("ESL@10", False, ("a", "b", "c"), ("q1", "q2", "q3"), values)
    np.testing.assert_array_equal(scores.means(), [2.0, 2.0, np.nan])


def test_the_first_document_is_the_smallest_cutoff() -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
    run = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d2": 2.0, "d1": 1.0}}
    scores = iro.evaluate(qrels, {"a": run}, measures=["P(rel=1)@1"]).scores_of("P(rel=1)@1")
    assert scores.values.tolist() == [[1.0, 0.0]]
    for below in ("P@0", "P(rel=0)@1"):
        with pytest.raises(ParameterError, match="must be from 1 to"):
            iro.parse_measure(below)
