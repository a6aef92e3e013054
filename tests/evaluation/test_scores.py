"""Scores that an evaluation keeps, computes from search lengths, or reads the runs again for."""

import warnings
from pathlib import Path

import pytest

import ir_outcomes as iro
from ir_outcomes.errors import IrOutcomesWarning
from ir_outcomes.evaluation.evaluation import notes_on_ties
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


def test_measures_that_are_made_comparable_are_found_by_the_name_they_were_asked_for() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # the runs are not read again
        for measure in ("ASL(ties='msmarco')@5", "ASL(ties='msmarco',missing='retrieved')@5"):
            ev = iro.evaluate(qrels, runs, measures=[measure])
            assert ev.scores_of(measure) is ev.scores[0]
    ev = iro.evaluate(qrels, runs, measures=["ASL(missing='retrieved')@5"])
    assert ev.scores_of("ASL@5").measure == "ASL(missing='cutoff')@5"
    assert ev.scores_of("ASL(missing='retrieved')@5").measure == "ASL@5"  # as ir_measures writes its default
    assert repr(ev.scores_of("ESL@10")) == "<Scores: ESL@10, 2 runs, 10 queries>"


def test_ties_that_decide_where_first_relevant_documents_stand_are_noted() -> None:
    """The tie rule put the first relevant document of every query elsewhere than its file, and nothing said so."""
    qrels = {f"q{number}": {"a": 1} for number in range(10)}
    tied = {query: {"a": 1.0, "b": 1.0, "c": 1.0} for query in qrels}
    clear = {query: {"a": 3.0, "b": 1.0, "c": 1.0} for query in qrels}
    ev = iro.evaluate(qrels, {"tied": tied, "clear": clear})
    (note,) = notes_on_ties(ev.runs)
    assert note in iro.leaderboard(ev).notes
    assert note.startswith("Tied scores: in 100 % of the queries that tied answers, the rule 'trec' gives the first relevant")
    for ties in ("input", "expected", "msmarco"):  # the last has the documents in the order of their ids, as they are listed
        assert not list(notes_on_ties(iro.evaluate(qrels, {"tied": tied}, ties=ties).runs))


@pytest.mark.realdata
def test_usual_runs_are_not_said_to_be_tied(real_data: Path) -> None:
    folder = real_data / "known-item"
    ev = iro.evaluate(next(folder.glob("qrels.txt*")), str(folder / "*.run.gz"))
    noted = [run.name for run in ev if list(notes_on_ties([run]))]
    assert noted == ["bm25-coarse"]  # whose scores were rounded to whole numbers
