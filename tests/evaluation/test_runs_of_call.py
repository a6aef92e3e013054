"""Which runs a call has, in which order, and what they are called."""

from pathlib import Path
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError, UnreadableFile
from ir_outcomes.evaluation.runs_of_call import runs_of_call

A, B, C = ({"q1": {f"d{number}": 1.0}} for number in range(3))


def named(runs: Any, *arguments: Any, **settings: Any) -> list[tuple[Any, str]]:
    return [(run.run, run.name) for run in runs_of_call(runs, *arguments, **settings).runs]


@pytest.fixture
def paths(tmp_path: Path) -> list[str]:
    for name in ("a", "b", "c_1", "c_2"):
        (tmp_path / f"{name}.run").write_text(f"q1 Q0 {name} 1 1 t\n")
    return [str(tmp_path / f"{name}.run") for name in ("a", "b", "c_1", "c_2")]


def test_baselines_stand_first() -> None:
    assert named([B, C], baselines=[A]) == [(A, "run 0"), (B, "run 1"), (C, "run 2")]
    assert named({"b": B, "c": C}, baselines=[{"a": A}]) == [(A, "a"), (B, "b"), (C, "c")]
    assert named([B, C], ["x", None, "z"], baselines=[A]) == [(A, "x"), (B, "run"), (C, "z")]
    assert named([C], baselines=[A, B]) == [(A, "run 0"), (B, "run 1"), (C, "run 2")]
    assert named(B, baselines=[A]) == [(A, "run 0"), (B, "run 1")]
    assert runs_of_call({"a": A, "b": B}, baselines=["b", C, "a"]).baselines == [0, 1, 2]


def test_a_baseline_is_a_name_of_one_of_the_runs(paths: list[str]) -> None:
    a, b, first, second = paths
    assert [run for run, _ in named(paths, baselines=["b"])] == [b, a, first, second]
    assert named({"a": A, "b": B}, baselines=["b"]) == [(B, "b"), (A, "a")]
    assert named([A, B], ["x", "y"], baselines=["y"]) == [(B, "y"), (A, "x")]
    of_system = named(paths, baselines=["c"], replicates="by:_")
    assert [run for run, _ in of_system] == [first, second, a, b]
    with pytest.raises(UnreadableFile, match=r"c_3: neither a file nor .*; did you mean c_2, c_1"):
        named(paths, baselines=["c_3"])


def test_a_baseline_among_the_runs_is_left_out_of_them(paths: list[str]) -> None:
    a, b, *_ = paths
    call = runs_of_call([a, b], baselines=[a])
    assert ([run.run for run in call.runs], call.left_out) == ([a, b], True)
    call = runs_of_call([a], baselines=[a])  # then it is compared with itself
    assert ([run.run for run in call.runs], call.left_out) == ([a, a], False)
    assert [run.name for run in call.runs] == [a, f"{a} 1"]


@pytest.mark.parametrize(
    ("runs", "settings", "message"),
    [
        (None, {}, "there is no contender"),
        ([A], {"baselines": [{"a": A, "b": B}]}, r"a dict of 2 runs \(a, b\)"),
        ([A, B], {"names": ["a"]}, "must be one name for each of the 2 runs"),
        ([A], {"baselines": [B], "names": ["a"]}, "must be one name for each of the 2 runs"),
        ({"a": A}, {"baselines": [{"a": B}]}, "several runs are called a"),
        ({"a": A, "a ": B}, {}, "several runs are called a"),
        ([A, B], {"names": ["a b", " a\t b"]}, "several runs are called a b"),
        ([[A, B]], {}, "needs a name"),
    ],
)
def test_what_is_refused(runs: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        runs_of_call(runs, **settings)


def test_records_are_one_run_and_missing_files_are_missing() -> None:
    qrels = {"q1": {"d1": 1}, "q2": {"d4": 1}}
    records = [
        {"query_id": query, "doc_id": document, "score": 1.0}
        for query, document in (("q1", "d1"), ("q2", "d4"))
    ]
    assert iro.evaluate(qrels, records)[0].esl().tolist() == [1.0, 1.0]
    lists = [{"query_id": "q1", "doc_ids": ["x", "d1"]}, {"query_id": "q2", "doc_ids": ["d4"]}]
    assert iro.evaluate(qrels, lists)[0].esl().tolist() == [2.0, 1.0]
    assert len(iro.evaluate(qrels, {"a": records, "b": records})) == 2
    with pytest.raises(iro.IrOutcomesError, match=r"seed_1\.run: no such file"):
        iro.compare(qrels, {"q1": {"d1": 1.0}}, {"dense": ["seed_1.run", "seed_2.run"]})
