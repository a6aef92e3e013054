from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.errors import MismatchError, ParameterError
from tests.helpers.many import collection

ANALYSES: dict[str, Any] = {
    "lengths": iro.length_distributions,
    "reordering": iro.reordering,
    "headroom": iro.headroom,
    "rrie": lambda ev, **settings: iro.rrie(ev, "run0", ev.names[-1], **settings),
    "changes": lambda ev, **settings: iro.length_changes(ev, "run0", ev.names[-1], **settings),
}


@pytest.fixture(params=ANALYSES)
def analysis(request: pytest.FixtureRequest) -> Any:
    return ANALYSES[request.param]


def test_runs_of_unequal_depth_are_refused(analysis: Any) -> None:
    qrels, runs = collection(2, 25, relevant=3)
    runs["short"] = {
        query: dict(list(ranking.items())[:4]) for query, ranking in runs["run0"].items()
    }
    ev = iro.evaluate(qrels, runs)
    with pytest.raises(
        MismatchError,
        match=(
            r"the runs differ in depth \(4: short; 10: run0.*`cutoff=4`, or `missing='retrieved'`"
        ),
    ):
        analysis(ev)
    at_4, as_printed = analysis(ev, cutoff=4), analysis(ev, missing="retrieved")
    assert (at_4.settings.cutoff, as_printed.settings.cutoff) == (4, 10)
    assert "short lists look good" in as_printed.notes[0]
    assert "short: no list reaches the cutoff 8" in analysis(ev, cutoff=8).notes[0]


def test_the_default_depth_is_the_cutoff_of_the_evaluation(analysis: Any) -> None:
    qrels, runs = collection(2, 25, relevant=2)
    runs["long"] = {query: {**ranking, "tail": -1.0} for query, ranking in runs["run0"].items()}
    ev, deeper = iro.evaluate(qrels, runs, cutoff=3), iro.evaluate(qrels, runs, cutoff=7)
    assert analysis(ev).settings.cutoff == 3  # which lists of 10 and 11 documents share
    assert analysis(ev) == analysis(deeper, cutoff=3)
    assert analysis(ev, cutoff=5) == analysis(deeper, cutoff=5)


def test_an_infinite_asl_is_refused(analysis: Any) -> None:
    qrels, runs = collection(2, 10, relevant=2)
    del runs["run1"]["q3"]
    ev = iro.evaluate(qrels, runs)
    with pytest.raises(ParameterError, match=r"run1: no irrelevant documents for 1 query \(q3\)"):
        analysis(ev, missing="retrieved")
    assert analysis(ev).to_json()
    with pytest.raises(
        ParameterError,
        match=r"`evaluation` is of type dict; it must be what ir_outcomes.evaluate returns",
    ):
        iro.headroom(qrels)  # type: ignore[arg-type]


def test_queries_without_a_relevant_document_are_left_out_of_search_lengths() -> None:
    qrels, runs = collection(2, 12, relevant=2)
    with_it, without = (
        iro.headroom(iro.evaluate(judged, runs)).rows()
        for judged in ({**qrels, "none": {"d": 0}}, qrels)
    )
    assert [row["queries"] for row in with_it] == [row["queries"] for row in without]
    means = [row["mean"] * (12 / 13 if "ASL" not in row["measure"] else 1) for row in without]
    assert [row["mean"] for row in with_it] == pytest.approx(means)
