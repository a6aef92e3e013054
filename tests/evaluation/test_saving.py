"""Evaluations in files: what is loaded is what was saved, and nothing else is read."""

import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, MismatchError, ParameterError, UnreadableFile
from ir_outcomes.evaluation.saved import digest_of_arrays
from ir_outcomes.reading import files
from tests.helpers import literal, strategies
from tests.helpers.searchlengths import differing

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2, "d1": 1}, "q3": {"d4": 0}}
RUNS = {"a": {"q1": {"d2": 3.0, "d1": 2.0}, "q9": {"d": 1.0}}, "b": {"q2": {"d3": 5.0, "d1": 4.0}}}
EVALUATION = iro.evaluate(
    QRELS, RUNS, cutoff=10, measures=["nDCG@10", "ESL@5"], clusters=dict.fromkeys(QRELS, "c")
)
LAYOUT = "evaluation 15"
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


def test_without_qrels_nothing_is_saved(tmp_path: Path) -> None:
    lengths = EVALUATION[0]
    other = iro.as_qrels({"q1": {"d1": 1}})
    for qrels in (None, other):
        evaluation = iro.Evaluation((lengths,), "x", cutoff=1, unit="query", qrels=qrels)
        with pytest.raises(ParameterError, match="is saved with its qrels"):
            evaluation.save(tmp_path / "board.npz")


def altered(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> Path:
    """Change what a file says of itself, or its arrays, and give it the SHA-256 of that."""
    with np.load(path) as file:
        arrays = dict(file)
    del arrays["SHA-256"]
    about = json.loads(arrays[LAYOUT].tobytes())
    change(about, arrays)
    if LAYOUT in arrays:
        arrays[LAYOUT] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    arrays["SHA-256"] = np.array(digest_of_arrays(arrays))
    np.savez(path, **arrays)
    return path


def at(about: dict[str, Any], place: str) -> tuple[Any, Any]:
    """Find a value: what holds it, and its key there."""
    *steps, last = [int(step) if step.isdecimal() else step for step in place.split(".")]
    for step in steps:
        about = about[step]  # type: ignore[index]  # a list, too
    return about, last


OF_OTHER_KINDS: dict[str, Any] = {
    "cutoff": "10",
    "unit": "pair",
    "runs": [],
    "runs.1.name": "a",
    "runs.1.ties": "random",
    "runs.1.judged_only": 1,
    "qrels": None,
    "qrels.query_ids": ["q1", "q2"],
    "scores.0.measure": None,
}


@pytest.mark.parametrize(("place", "value"), OF_OTHER_KINDS.items())
def test_facts_of_another_kind_are_refused(saved: Path, place: str, value: Any) -> None:
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
        arrays["changed"] = change(arrays[holder[key]].copy())
        holder[key] = "changed"

    return altered(path, of_array)


@pytest.mark.parametrize(
    ("grade", "refused"), [(10**9, False), (10**9 + 1, True), (-(2**63), True)]
)
def test_grades_are_as_large_as_in_qrels(saved: Path, grade: int, refused: bool) -> None:
    def change(grades: np.ndarray[Any, Any]) -> Any:
        grades[grades == 2] = grade
        return grades

    changed(saved, "qrels.grades", change)
    if not refused:
        qrels = iro.load_evaluation(saved).qrels
        assert qrels is not None
        assert qrels.to_dict()["q2"] == {"d3": grade, "d1": 1}
        return
    with pytest.raises(FormatError, match=DAMAGED):
        iro.load_evaluation(saved)


def test_damage_is_found(saved: Path) -> None:
    """Of bytes that are changed one by one, all are found, or change nothing."""
    whole = saved.read_bytes()
    for n in range(0, len(whole), 97):
        saved.write_bytes(whole[:n])
        with pytest.raises(FormatError, match=DAMAGED):
            iro.load_evaluation(saved)
    n_found = 0
    places = range(0, len(whole), 53)
    for place in places:
        saved.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        try:
            loaded = iro.load_evaluation(saved)
        except (FormatError, UnreadableFile):
            n_found += 1
        else:  # a date, for example
            assert iro.compare(loaded, "a", "b") == iro.compare(EVALUATION, "a", "b")
            assert loaded.qrels is not None
            assert loaded.qrels.to_dict() == QRELS
    assert n_found > 0.5 * len(places)


def test_other_contents_without_their_digest_are_refused(saved: Path) -> None:
    with np.load(saved) as file:
        arrays = dict(file)
    (name,) = [name for name, array in arrays.items() if array.dtype == np.float64]
    arrays[name] = arrays[name] / 2
    np.savez(saved, **arrays)
    with pytest.raises(FormatError, match=DAMAGED):
        iro.load_evaluation(saved)


ARRAYS = [f"runs.1.{name}" for name in ("offsets", "rank", "level_size", "retrieved", "clusters")]
ARRAYS += [f"runs.1.diagnosis.{name}" for name in ("listed", "below_itself", "unjudged", "digests")]


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
