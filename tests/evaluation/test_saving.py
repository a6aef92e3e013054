"""Evaluations in files: what is loaded is what was saved, and nothing else is read."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import assume, given

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, MismatchError, ParameterError, UnreadableFile
from ir_outcomes.evaluation.lengths import PER_ATOM, PER_QUERY
from ir_outcomes.reading import files
from tests.helpers import literal, strategies
from tests.helpers.searchlengths import differing

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2, "d1": 1}, "q3": {"d4": 0}}
RUNS = {"a": {"q1": {"d2": 3.0, "d1": 2.0}, "q9": {"d": 1.0}}, "b": {"q2": {"d3": 5.0, "d1": 4.0}}}
EVALUATION = iro.evaluate(
    QRELS, RUNS, cutoff=10, measures=["nDCG@10", "ESL@5"], clusters=dict.fromkeys(QRELS, "c")
)
TIED = iro.evaluate(QRELS, {"a": {"q2": {"d3": 1.0, "d1": 1.0, "x": 1.0}}}, ties="expected")
LAYOUT = "evaluation 13"
DAMAGED = r"board\.npz: is not a saved evaluation of this version, or is damaged"


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    EVALUATION.save(tmp_path / "board.npz")
    return tmp_path / "board.npz"


@given(qrels=strategies.qrels, run=strategies.runs, settings=strategies.settings)
def test_what_is_loaded_is_what_was_saved(
    tmp_path_factory: pytest.TempPathFactory,
    qrels: literal.Qrels,
    run: literal.Run,
    settings: dict[str, Any],
) -> None:
    assume(any(literal.relevant(judged, settings["rel"]) for judged in qrels.values()))
    path = tmp_path_factory.getbasetemp() / "board.npz"
    judged = iro.as_qrels(qrels)
    lengths = iro.search_lengths(judged, run, **settings)
    iro.Evaluation((lengths,), "made up", cutoff=1, unit="query", qrels=judged).save(path)
    loaded = iro.load_evaluation(path)
    assert differing(lengths, loaded[0]) == []
    assert loaded.qrels is not None
    assert loaded.qrels.to_dict() == judged.to_dict()


def test_everything_of_an_evaluation_but_texts_is_kept(saved: Path) -> None:
    loaded = iro.load_evaluation(saved)
    for name in ("names", "collection", "cutoff", "unit", "n_clusters"):
        assert getattr(loaded, name) == getattr(EVALUATION, name)
    for measure in ("nDCG@10", "ESL@5"):
        np.testing.assert_array_equal(
            loaded.scores_of(measure).values, EVALUATION.scores_of(measure).values
        )
    EVALUATION.restrict(["q1", "q2"]).save(saved)
    assert iro.load_evaluation(saved).query_ids == ("q1", "q2")
    with pytest.raises(ParameterError, match="AP was not kept"):
        loaded.scores_of("AP")


def test_systems_of_several_runs_are_kept(tmp_path: Path) -> None:
    seeds = [{"q1": {"d1": 2.0}}, {"q1": {"d2": 2.0, "d1": 1.0}}]
    evaluation = iro.evaluate(QRELS, {"x": RUNS["a"], "seeds": seeds})
    evaluation[["seeds"]].save(tmp_path / "seeds.npz")
    assert iro.load_evaluation(tmp_path / "seeds.npz").replicates == evaluation.replicates


def test_a_file_stands_for_qrels_and_runs_alone(saved: Path) -> None:
    compared = iro.compare(saved, "a", "b")
    assert compared == iro.compare(EVALUATION, "a", "b")
    assert compared.notes == iro.compare(EVALUATION, "a", "b").notes
    for call in (
        lambda: iro.evaluate(saved, RUNS),
        lambda: iro.evaluate(QRELS, saved),
        lambda: iro.evaluate(QRELS, [str(saved), RUNS["a"]]),
        lambda: iro.compare(QRELS, saved, RUNS["a"]),
        lambda: iro.compare(QRELS, RUNS["a"], [saved]),
    ):
        with pytest.raises(MismatchError, match=r"board\.npz is a saved evaluation, which stands"):
            call()


def test_a_file_is_sliced_at_another_cutoff(saved: Path) -> None:
    slices = {"q1": "first", "q2": "second"}
    sources: Any = (saved, iro.load_evaluation(saved))
    found = [iro.compare_slices(source, "a", by=slices, cutoff=1) for source in sources]
    assert found[0] == found[1]
    assert found[0].settings.cutoff == 1


def test_without_qrels_nothing_is_saved(tmp_path: Path) -> None:
    lengths = EVALUATION[0]
    other = iro.as_qrels({"q1": {"d1": 1}})
    for qrels in (None, other):
        evaluation = iro.Evaluation((lengths,), "x", cutoff=1, unit="query", qrels=qrels)
        with pytest.raises(ParameterError, match="is saved with its qrels"):
            evaluation.save(tmp_path / "board.npz")


def altered(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> Path:
    """Change what a file says of itself, or its arrays."""
    with np.load(path) as file:
        arrays = dict(file)
    about = json.loads(arrays[LAYOUT].tobytes())
    change(about, arrays)
    if LAYOUT in arrays:
        arrays[LAYOUT] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    np.savez(path, **arrays)
    return path


def at(about: dict[str, Any], place: str) -> tuple[Any, Any]:
    """Find a value: what holds it, and its key there."""
    *steps, last = [int(step) if step.isdecimal() else step for step in place.split(".")]
    for step in steps:
        about = about[step]  # type: ignore[index]  # a list, too
    return about, last


IMPOSSIBLE: dict[str, list[Any]] = {
    "cutoff": [0, "10", 2**31],
    "unit": ["pair", None],
    "texts": [{"q1": "text"}],
    "sources": [["a.run"]],
    "replicates": [{"x": ["a"]}, {"x": ["a", "c"]}, {"a": ["a", "b"], "c": ["a", "b"]}],
    "runs": [[]],
    "runs.1.name": ["a", " ", None],
    "runs.1.cutoff": [0, 5, 10],
    "runs.1.rel": [0, 2],
    "runs.1.ties": ["random", "input"],
    "runs.1.judged_only": [1, True],
    "runs.1.drop_self": ["no", True],
    "runs.1.clusters": [None],
    "runs.0.ignored": [["q1"], ["q9", "q8"], ["q9", "q9"]],
    "runs.1.unknown_ids": ["no document", 3],
    "runs.0.equal_scores": [0],
    "qrels": [None],
    "qrels.query_ids": [["q1", "q2"], ["q1", "q1", "q3"], ["q1", "q2", 3]],
    "scores.0.measure": [None, 3],
    "scores.0.runs": [["a"], ["a", "c"]],
}


@pytest.mark.parametrize(("place", "value"), [(p, v) for p, vs in IMPOSSIBLE.items() for v in vs])
def test_impossible_facts_are_refused(saved: Path, place: str, value: Any) -> None:
    def change(about: dict[str, Any], _: Any) -> None:
        holder, key = at(about, place)
        holder[key] = value

    with pytest.raises(FormatError, match=DAMAGED):
        iro.load_evaluation(altered(saved, change))


Change = Callable[[np.ndarray[Any, Any]], Any]


def changed(path: Path, place: str, change: Change) -> Path:
    """Change an array of a file."""

    def of_array(about: dict[str, Any], arrays: dict[str, Any]) -> None:
        holder, key = at(about, place)
        holder[key] = "changed"
        arrays["changed"] = change(np.array(arrays[at(json.loads(before), place)[0][key]]))

    with np.load(path) as file:
        before = file[LAYOUT].tobytes()
    return altered(path, of_array)


def cell(value: Any, *place: Any) -> Change:
    def change(array: np.ndarray[Any, Any]) -> Any:
        array[place] = value
        return array

    return change


# Run a returns d2, d1 for q1; run b d3, d1 for q2; the atoms are (q1, d1), (q2, d3), (q2, d1).
CELLS = [
    ("runs.0.rank", cell(-1, 0)),
    ("runs.0.rank", cell(3, 0)),  # of two documents
    ("runs.0.rank", cell(1, 1)),  # of a query that was not retrieved
    ("runs.1.rank", cell(1, 2)),  # where d3 is
    ("runs.0.level_size", cell(2, 0)),
    ("runs.0.retrieved", cell(1, 0)),
    ("runs.0.retrieved", cell(-1, 0)),
    ("runs.0.retrieved", cell(1, 1)),
    ("runs.0.unjudged", cell(2, 0)),
    ("runs.0.unjudged", cell(1, 1)),
    ("runs.0.listed", cell(False, 0)),
    ("runs.0.digests", cell(0, 0)),
    ("runs.0.digests", cell(1, 1)),
    ("runs.0.reordered", cell(True, 2)),
    ("runs.0.against_ranks", cell(True, 1)),
    ("runs.0.rising", cell(True, 0)),
    ("runs.0.retrieves_itself", cell(True, 1)),
    ("runs.0.below_itself", cell(True, 0)),
    ("runs.0.clusters", cell(5, 0)),
    ("qrels.offsets", cell(1, 0)),
    ("qrels.offsets", cell(5, 1)),
    ("qrels.offsets", cell(4, 3)),
    ("qrels.docids", cell(b"d1", 1)),
    ("qrels.docids", cell(b"", 0)),
    ("qrels.docids", cell(b"\xff", 0)),
    ("qrels.grades", cell(0, 0)),  # then run a has an atom too many
    ("scores.0.values", cell(1.5, 0, 0)),
    ("scores.0.values", cell(-0.5, 0, 0)),
    ("scores.0.values", cell(np.inf, 0, 0)),
]


@pytest.mark.parametrize(("place", "change"), CELLS)
def test_impossible_values_are_refused(saved: Path, place: str, change: Change) -> None:
    with pytest.raises(FormatError, match=DAMAGED):
        iro.load_evaluation(changed(saved, place, change))


@pytest.mark.parametrize(
    ("place", "change"),
    [
        ("level_size", cell(0, 1)),
        ("level_size", cell(2, 1)),  # of one level, in which the other document's size is 3
        ("level_size", cell(1, slice(1, 3))),
        ("level_size", cell(4, slice(1, 3))),
        ("level_size", cell(2, 0)),  # of what is not found
        ("rank", cell(2, 1)),  # two levels at the same ranks
    ],
)
def test_impossible_tie_levels_are_refused(tmp_path: Path, place: str, change: Change) -> None:
    path = tmp_path / "board.npz"
    TIED.save(path)
    assert differing(iro.load_evaluation(path)[0], TIED[0]) == []
    with pytest.raises(FormatError, match=DAMAGED):
        iro.load_evaluation(changed(path, f"runs.0.{place}", change))


ARRAYS = [f"runs.1.{name}" for name in (*PER_ATOM, *PER_QUERY, "clusters") if name != "level_size"]


@pytest.mark.parametrize(
    "place", [*ARRAYS, "qrels.offsets", "qrels.docids", "qrels.grades", "scores.0.values"]
)
def test_arrays_of_another_shape_or_kind_are_refused(saved: Path, place: str) -> None:
    content = saved.read_bytes()
    for change in (
        lambda array: array[:-1],
        lambda array: np.concatenate([array, array]),
        lambda array: array[None],
        lambda array: array.astype("U8" if array.dtype.kind == "S" else np.float32),
        lambda array: np.array([object()]),
    ):
        saved.write_bytes(content)
        with pytest.raises(FormatError, match=DAMAGED):
            iro.load_evaluation(changed(saved, place, change))


def test_parts_that_are_missing_are_refused(saved: Path) -> None:
    content = saved.read_bytes()
    for change in (
        lambda about, arrays: arrays.pop(LAYOUT),
        lambda about, arrays: arrays.pop("score bits"),
        lambda about, arrays: arrays.pop("array 1"),
        lambda about, arrays: about.pop("unit"),
        lambda about, arrays: about["runs"][0].pop("rank"),
    ):
        saved.write_bytes(content)
        with pytest.raises(FormatError, match=DAMAGED):
            iro.load_evaluation(altered(saved, change))


def test_a_file_that_expands_to_much_more_is_refused(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An array of 3e8 zeros, 2.3 MB in the file, took 2.3 GiB."""
    monkeypatch.setattr(files, "UNSUSPICIOUS", 1 << 20)
    zeros = np.zeros(1 << 20, np.int64)
    with np.load(saved) as archive:
        np.savez_compressed(saved, **{**archive, "array 1": zeros}, allow_pickle=False)
    tracemalloc.start()
    try:
        with pytest.raises(
            UnreadableFile,
            match=r"board\.npz: expands to more than 200 times its size: a decompression bomb",
        ):
            iro.load_evaluation(saved)
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()


def test_files_of_others_are_refused(tmp_path: Path, saved: Path) -> None:
    for content in (b"", b"q1 Q0 d1 1 1 t\n", saved.read_bytes()[:-200]):
        (tmp_path / "other.npz").write_bytes(content)
        with pytest.raises(FormatError, match="is not a saved evaluation"):
            iro.load_evaluation(tmp_path / "other.npz")
    with pytest.raises(UnreadableFile, match=r"absent\.npz: cannot be read: No such file"):
        iro.load_evaluation(tmp_path / "absent.npz")
    with pytest.raises(MismatchError, match="compares scores in 16 bits"):
        iro.load_evaluation(
            altered(saved, lambda _, arrays: arrays.update({"score bits": np.array(16)}))
        )


def test_what_cannot_be_written_leaves_what_was_there(
    tmp_path: Path, saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = saved.read_bytes()
    monkeypatch.setattr(
        Path, "write_bytes", mock.Mock(side_effect=OSError(28, "No space left on device"))
    )
    with pytest.raises(ParameterError, match=r"board\.npz: cannot be written \(No space left"):
        EVALUATION.save(saved)
    assert (saved.read_bytes(), list(tmp_path.iterdir())) == (before, [saved])
    with pytest.raises(ParameterError, match=r"the name of a saved evaluation ends in \.npz"):
        EVALUATION.save(tmp_path / "board")
