from __future__ import annotations

from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.errors import MismatchError, ParameterError
from tests.helpers.many import collection

OF_ALL_RUNS: list[Any] = [iro.length_distributions, iro.reordering, iro.headroom]
OF_TWO_RUNS: list[Any] = [iro.rrie, iro.length_changes]


def test_runs_of_unequal_depth_are_refused() -> None:
    qrels, runs = collection(2, 25, relevant=3)
    runs["short"] = {query: dict(list(ranking.items())[:4]) for query, ranking in runs["run0"].items()}
    ev = iro.evaluate(qrels, runs)
    message = r"the runs differ in depth \(4: short; 10: run0, run1\).*cutoff=4, or missing='retrieved'"
    for analysis in OF_ALL_RUNS:
        with pytest.raises(MismatchError, match=message):
            analysis(ev)
        assert analysis(ev, cutoff=4).settings.cutoff == 4
        assert "short lists look good" in analysis(ev, missing="retrieved").notes[0]
        assert analysis(ev, missing="retrieved").settings.cutoff == 10
    for of_two in OF_TWO_RUNS:
        with pytest.raises(MismatchError, match="the runs differ in depth"):
            of_two(ev, "short", "run1")
        assert of_two(ev, "run0", "run1").settings.cutoff == 10
    assert "short: no list reaches the cutoff 8" in iro.length_distributions(ev, cutoff=8).notes[0]


def test_the_default_depth_is_the_cutoff_of_the_evaluation() -> None:
    qrels, runs = collection(2, 25, relevant=2)
    runs["long"] = {query: {**ranking, "tail": -1.0} for query, ranking in runs["run0"].items()}
    ev, deeper = iro.evaluate(qrels, runs, cutoff=3), iro.evaluate(qrels, runs, cutoff=7)
    for analysis in OF_ALL_RUNS:
        assert analysis(ev).settings.cutoff == 3  # which lists of 10 and 11 documents share
        assert analysis(ev) == analysis(deeper, cutoff=3)
        assert analysis(ev, cutoff=5) == analysis(deeper, cutoff=5)
    for of_two in OF_TWO_RUNS:
        assert of_two(ev, "run0", "run1") == of_two(deeper, "run0", "run1", cutoff=3)


def test_an_infinite_asl_is_refused_everywhere() -> None:
    qrels, runs = collection(2, 10, relevant=2)
    del runs["run1"]["q3"]
    ev = iro.evaluate(qrels, runs)
    for analysis in OF_ALL_RUNS:
        with pytest.raises(ParameterError, match=r"run1: no irrelevant documents for 1 query \(q3\)"):
            analysis(ev, missing="retrieved")
        assert analysis(ev).to_json()
    for of_two in OF_TWO_RUNS:
        with pytest.raises(ParameterError, match="run1: no irrelevant documents for 1 query"):
            of_two(ev, "run0", "run1", missing="retrieved")
        assert of_two(ev, "run0", "run1").to_json()


def test_notes_say_what_is_left_out() -> None:
    qrels, runs = collection(2, 12, relevant=2)
    judged = {**qrels, "none": {"d": 0}}
    runs = {name: {**{q: r for q, r in run.items() if q != "q4"}, "zz": {"d": 1.0}} for name, run in runs.items()}
    for analysis in OF_ALL_RUNS:
        assert analysis(iro.evaluate(judged, runs)).notes[:3] == (
            "1 query without a relevant document at rel 1: left out of search lengths, 0 in other measures, as in ir_measures.",
            "Missing queries: run0, run1 lack 1 query of the qrels (q4), counted as unanswered.",
            "run0, run1 have 1 query that the qrels lack (zz), ignored here.",
        )
    with_it, without = (iro.headroom(iro.evaluate(judgments, runs)).measures for judgments in (judged, qrels))
    assert [best.counts for best in with_it] == [best.counts for best in without]
    assert [best.mean for best in with_it] == pytest.approx(
        [best.mean * (12 / 13 if "ASL" not in best.measure else 1) for best in without]
    )


def test_unjudged_documents_are_compared_at_equal_depth() -> None:
    qrels = {f"q{n}": {"a": 1, **{f"j{i}": 0 for i in range(30)}} for n in range(3)}

    def ranked(judged: int, depth: int) -> dict[str, dict[str, float]]:
        documents = ["a", *(f"j{i}" for i in range(judged)), *(f"u{i}" for i in range(depth - judged - 1))]
        return {query: {document: -float(rank) for rank, document in enumerate(documents)} for query in qrels}

    # Both lists have 9 judged documents among the first 20; the longer one has only unjudged documents below.
    alike = iro.evaluate(qrels, {"short": ranked(8, 20), "long": ranked(8, 50)})
    assert not [note for note in iro.length_distributions(alike, cutoff=20).notes if "unjudged" in note]
    assert not [note for note in iro.length_distributions(alike, cutoff=50).notes if "unjudged" in note]
    uneven = iro.evaluate(qrels, {"short": ranked(12, 20), "long": ranked(8, 50)})
    (note,) = [note for note in iro.length_distributions(uneven, cutoff=50).notes if "unjudged" in note]
    assert note.startswith("Of the first 20 documents, 35 % are unjudged in short and 55 % in long.")
    judged_only = iro.evaluate(qrels, {"short": ranked(12, 20), "long": ranked(8, 50)}, judged_only=True)
    with pytest.raises(MismatchError, match=r"after unjudged documents are removed \(9: long; 13: short\)"):
        iro.length_distributions(judged_only)
    result = iro.length_distributions(judged_only, cutoff=9)
    assert result.settings.judged_only
    assert not [note for note in result.notes if "unjudged" in note]


def test_analyses_take_an_evaluation() -> None:
    qrels, runs = collection(2, 3)
    for analysis in OF_ALL_RUNS:
        with pytest.raises(ParameterError, match=r"take an Evaluation, not a dict; make one with ir_outcomes.evaluate"):
            analysis(qrels)
    for of_two in OF_TWO_RUNS:
        with pytest.raises(ParameterError, match="take an Evaluation, not a dict"):
            of_two(qrels, runs["run0"], runs["run1"])
        with pytest.raises(ParameterError, match="no run is called 'nobody'; the runs are run0, run1"):
            of_two(iro.evaluate(qrels, runs), "run0", "nobody")
