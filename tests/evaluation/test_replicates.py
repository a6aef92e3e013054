"""Which runs are of one system: rules, mappings, files, lists, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.evaluation.systems import Systems, named_systems, system_by_run
from tests.helpers.systems import drawn

NAMES = ["bm25", "dense_1", "dense_20", "x_y_3", "x_y_4"]


def replicates_of(names: list[str], replicates: Any) -> Systems:
    return named_systems(names, system_by_run(names, replicates))[1]


FOUND = {"dense": ("dense_1", "dense_20"), "x_y": ("x_y_3", "x_y_4")}


def test_a_rule_takes_names_that_end_in_a_whole_number() -> None:
    assert replicates_of(NAMES, "by:_") == FOUND
    assert replicates_of(["a-1", "a-2", "a-b", "-3", "a-²"], "by:-") == {"a": ("a-1", "a-2")}


def test_a_mapping_can_be_in_a_file(tmp_path: Path) -> None:
    of_run = {run: system for system, runs in FOUND.items() for run in runs}
    assert replicates_of(NAMES, of_run) == FOUND
    path = tmp_path / "systems.tsv"
    path.write_text("".join(f"{run}\t{system}\n" for run, system in of_run.items()) + "\n")
    assert replicates_of(NAMES, path) == replicates_of(NAMES, str(path)) == FOUND


@pytest.mark.parametrize(
    ("replicates", "says"),
    [
        ("by:-", "no run has a name that ends in '-' and a whole number; the runs are bm25"),
        ("by:", "write the separator"),
        ({"dense": "d"}, "no run is called dense; the runs are bm25, dense_1"),
        ({"dense_1": "bm25"}, "bm25 would be the name of a system and of a run"),
        ({"dense_1": 3}, "the name 3 of a system is not text"),
        ({"dense_1": " "}, "is blank"),
        (3, 'must be "by:" and a separator'),
        (["dense_1"], 'must be "by:" and a separator'),
    ],
)
def test_what_names_no_systems_is_refused(replicates: Any, says: str) -> None:
    with pytest.raises(iro.ParameterError, match=says):
        replicates_of(NAMES, replicates)


def test_a_rule_that_names_a_system_of_one_run_is_refused() -> None:
    with pytest.raises(iro.ParameterError, match="dense_1 would be the only run of a system dense"):
        replicates_of(["a_1", "a_2", "dense_1"], "by:_")


def test_lists_are_systems_and_runs_keep_their_names(tmp_path: Path) -> None:
    qrels, runs = drawn(1, runs={"a": 1, "b": 3}, n_queries=10)
    paths = []
    for number, run in enumerate(runs["b"]):
        path = tmp_path / f"seed{number}.json"
        path.write_text(str(run).replace("'", '"'))
        paths.append(str(path))
    ev = iro.evaluate(qrels, {"b": paths})
    assert ev.replicates == {"b": ("seed0", "seed1", "seed2")}
    assert ev[["seed0", "seed2"]].replicates == {"b": ("seed0", "seed2")}
    ev = iro.evaluate(qrels, {"a": runs["a"][0], "b": {"x": runs["b"][0], "y": runs["b"][1]}})
    assert (ev.names, ev.replicates) == (("a", "x", "y"), {"b": ("x", "y")})
    assert [*ev.systems] == ["a", "b"]
    assert ev[["b"]].names == ("x", "y")
    assert (ev[["a", "x"]].replicates, ev[:2].replicates) == ({}, {})
    with pytest.raises(iro.ParameterError, match="no run is called 'b'; the runs are a, x, y"):
        ev["b"]


def test_the_only_run_of_a_system_is_called_like_it() -> None:
    run = {"q1": {"d1": 1.0}}
    of_runs = iro.evaluate({"q1": {"d1": 1}}, {"a": run, "b": run}, replicates={"a": "x"})
    values = {"a": {"q1": 0.5}, "b": {"q1": 0.25}}
    of_values = iro.outputs(values, measure="nDCG@10", replicates={"a": "x"})
    for evaluation in (of_runs, of_values):
        assert (evaluation.names, evaluation.replicates) == (("x", "b"), {})


def test_runs_that_do_not_belong_together_are_refused() -> None:
    qrels, runs = drawn(1, runs={"a": 1, "b": 2}, n_queries=10)
    first, second = runs["b"]
    with pytest.raises(iro.ParameterError, match="have the same documents in the same order"):
        iro.evaluate(qrels, {"b": [first, second, dict(first)]})
    with pytest.raises(iro.ParameterError, match="x is in two systems, b and c"):
        iro.evaluate(qrels, {"b": {"x": first, "y": second}}, replicates={"x": "c"})
    with pytest.raises(iro.ParameterError, match="the baseline is also one of the runs of b"):
        iro.compare(qrels, first, {"b": [first, second]})
    with pytest.raises(iro.ParameterError, match="b_1, a baseline, is one of several runs of b"):
        iro.compare(qrels, {"b_1": first}, {"b_2": second, "a": runs["a"][0]}, replicates="by:_")
    ev = iro.evaluate(qrels, runs)
    with pytest.raises(iro.ParameterError, match="replicates: an evaluation has its own"):
        iro.compare(ev, "a", "b", replicates="by:_")
    with pytest.raises(iro.ParameterError, match="no run is called 'b 1'; the runs are a, b"):
        iro.compare(ev, "a", "b 1")


def test_runs_can_be_the_same_where_only_judged_documents_are_left() -> None:
    """What is left of different runs says nothing about whether a file was given twice."""
    qrels = {"q1": {"d1": 1, "d2": 0}, "q2": {"d1": 1}}
    runs = [{q: {"d1": 9.0, f"other{n}": 8.0 + 2 * n} for q in qrels} for n in range(2)]
    ev = iro.evaluate(qrels, {"b": runs}, judged_only=True)
    assert ev.replicates == {"b": ("b 1", "b 2")}
    with pytest.raises(iro.ParameterError, match="give each run once"):
        iro.evaluate(qrels, {"b": [runs[0], dict(runs[0])]})
