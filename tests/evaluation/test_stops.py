"""What stops an analysis: ids that are unknown, scores that rise with the rank, equal scores beside ranks."""

from pathlib import Path
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.errors import EmptyInput, IrOutcomesWarning, MismatchError, ParameterError
from ir_outcomes.evaluation.remarks import notes_on_documents, refuse_stops, stops_of

QUERIES = [f"q{number}" for number in range(20)]
QRELS = {query: {"d3": 1, "d0": 0} for query in QUERIES}


def trec(path: Path, scores: Any, documents: str = "d{}", queries: str = "{}") -> Path:
    """Write a run of five documents for each query, with ranks and the scores of a function of query and rank."""
    path.write_text(
        "".join(
            f"{queries.format(query)} Q0 {documents.format(rank)} {rank} {scores(number, rank)} t\n"
            for number, query in enumerate(QUERIES)
            for rank in range(1, 6)
        )
    )
    return path


def falling(number: int, rank: int) -> float:
    return 10 - rank


@pytest.mark.parametrize(
    ("scores", "form", "kinds"),
    [
        (falling, {}, []),
        (falling, {"documents": "d{}.0"}, ["unknown-ids"]),
        (lambda number, rank: rank, {}, ["rising-scores"]),
        (lambda number, rank: rank if number < 11 else -rank, {}, ["rising-scores"]),
        (lambda number, rank: rank if number < 10 else -rank, {}, []),  # not more than half
        (lambda number, rank: [3, 1, 5, 2, 4][rank - 1], {}, []),  # a contradiction, but no rise
        (lambda number, rank: 1, {}, ["equal-scores"]),
        (lambda number, rank: 1 if number < 11 else -rank, {}, ["equal-scores"]),
        (lambda number, rank: 1 if number < 10 else -rank, {}, []),  # not more than half
        (lambda number, rank: rank, {"documents": "D{}"}, ["unknown-ids", "rising-scores"]),
    ],
)
def test_what_stops(tmp_path: Path, scores: Any, form: dict[str, str], kinds: list[str]) -> None:
    path = trec(tmp_path / "new.run", scores, **form)
    healthy = iro.search_lengths(QRELS, trec(tmp_path / "old.run", falling))
    lengths = iro.search_lengths(QRELS, path)
    assert [stop.kind for stop in stops_of([healthy, lengths])] == kinds
    assert [stop.runs for stop in stops_of([healthy, lengths])] == [("new",)] * len(kinds)
    refuse_stops([healthy, lengths], allow=kinds)  # type: ignore[arg-type]
    told = [note.kind for note in notes_on_documents([healthy, lengths])]
    assert told[: len(kinds)] == kinds
    for kind in kinds:
        others: Any = [other for other in kinds if other != kind]
        with pytest.raises(MismatchError, match=rf"new.* pass `allow=\['{kind}'\]`"):
            refuse_stops([healthy, lengths], allow=others)


def test_equal_scores_stop_in_any_form() -> None:
    run = {query: dict.fromkeys(("d1", "d2", "d3"), 1.0) for query in QUERIES}
    (stop,) = stops_of([iro.search_lengths(QRELS, run)])
    assert stop.kind == "equal-scores"
    single = {query: {"d0": 1.0} for query in QUERIES}
    assert stops_of([iro.search_lengths(QRELS, single)]) == []


@pytest.mark.parametrize(
    ("n_equal", "kinds"), [(0, []), (1, ["equal-scores"]), (10, ["equal-scores"])]
)
def test_equal_scores_of_few_queries_are_a_first_note(n_equal: int, kinds: list[str]) -> None:
    assert len(QUERIES) == 20
    run = {
        query: {"d3": 1.0 if number < n_equal else 2.0, "d1": 1.0}
        for number, query in enumerate(QUERIES)
    }
    lengths = iro.search_lengths(QRELS, run)
    assert lengths.diagnosis.equal_scores == n_equal / 20
    assert stops_of([lengths]) == []
    assert [note.kind for note in notes_on_documents([lengths])] == kinds


def test_runs_without_any_known_query_are_evaluated_only_if_that_is_allowed(tmp_path: Path) -> None:
    path = trec(tmp_path / "new.run", falling, queries="x{}")
    with pytest.raises(EmptyInput, match='the prefix "x" in the run 20 more would match'):
        iro.evaluate(QRELS, [path])
    evaluation = iro.evaluate(QRELS, [path], allow=["unknown-ids"])
    assert [stop.kind for stop in stops_of(evaluation)] == ["unknown-ids"]
    assert not evaluation[0].answered().any()
    evaluation.save(tmp_path / "board.npz")
    assert stops_of(iro.load_evaluation(tmp_path / "board.npz")) == stops_of(evaluation)


@pytest.mark.parametrize("allow", ["unknown-ids", ["unknown"], 3, None])
def test_what_cannot_be_allowed(allow: Any) -> None:
    with pytest.raises(ParameterError, match="allow"):
        iro.evaluate(QRELS, [{"q1": {"d3": 1.0}}], allow=allow)


def test_many_runs_of_one_kind_share_a_stop() -> None:
    runs = [iro.as_run({"q1": {f"x{number}": 1.0}}, f"r{number}") for number in range(5)]
    (stop,) = stops_of([iro.search_lengths(QRELS, run) for run in runs])
    assert stop.runs == tuple(f"r{number}" for number in range(5))
    assert stop.endswith("The same holds for 2 other runs.")


# --- documents with the query's own id


def test_documents_with_the_id_of_their_query() -> None:
    qrels = {"a": {"x": 1}, "b": {"x": 1}, "c": {"c": 1, "x": 1}, "d": {"x": 1}}
    run = {
        "a": {"a": 3.0, "y": 2.0, "x": 1.0},  # above what is relevant
        "b": {"x": 3.0, "b": 2.0},  # below it
        "c": {"c": 3.0, "x": 2.0},  # relevant itself, so that it is meant
        "d": {"x": 3.0, "a": 2.0},
    }
    found = iro.search_lengths(qrels, run)
    assert found.diagnosis.retrieves_itself.tolist() == [True, True, True, False]
    assert found.diagnosis.below_itself.tolist() == [True, False, False, False]
    assert found.esl().tolist() == [3, 1, 1, 1]
    (note,) = notes_on_documents([found])
    assert (note.kind, "in 1 query of run" in note) == ("queries as documents", True)
    without = iro.search_lengths(qrels, run, drop_self=True)
    assert without.esl().tolist() == [2, 1, 1, 1]
    assert (without.retrieved.tolist(), without.rank.tolist()) == ([2, 1, 1, 2], [2, 1, 0, 1, 1])
    assert not without.diagnosis.retrieves_itself.any()
    assert not list(notes_on_documents([without]))
    evaluation = iro.evaluate(qrels, {"run": run}, drop_self=True, measures=["P@1"], documents=2)
    assert evaluation.scores_of("P@1").values.tolist() == [[0, 1, 1, 1]]
    with pytest.warns(IrOutcomesWarning, match="all runs are read again"):
        assert evaluation.scores_of("RR").values.tolist() == [[0.5, 1, 1, 1]]
    assert evaluation.documents[0].docids.tolist()[:2] == [b"y", b"x"]
    (problem,) = iro.check(qrels, {"run": run}).problems
    assert problem.kind == "queries as documents"
    clean = {"run": {query: {"x": 1.0, "z": 0.5} for query in qrels}}
    assert iro.check(qrels, clean).problems == ()


def test_both_filters_act_before_ranks_are_counted() -> None:
    qrels = {"a": {"x": 1, "y": 0, "a": 0}}
    run = {"a": {"a": 5.0, "u": 4.0, "y": 3.0, "v": 2.0, "x": 1.0}}
    ranks = {
        (judged_only, drop_self): iro.search_lengths(
            qrels, run, judged_only=judged_only, drop_self=drop_self
        ).rank.tolist()
        for judged_only in (False, True)
        for drop_self in (False, True)
    }
    assert ranks == {
        (False, False): [5],
        (False, True): [4],
        (True, False): [3],
        (True, True): [2],
    }
