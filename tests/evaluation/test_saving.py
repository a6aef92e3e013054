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
    iro.Evaluation(
        (lengths,), "made up", cutoff=1, unit="query", many_relevant=True, qrels=judged
    ).save(path)
    loaded = iro.load_evaluation(path)
    assert differing(lengths, loaded[0]) == []
    assert loaded.qrels is not None
    assert loaded.qrels.to_dict() == judged.to_dict()


def test_everything_of_an_evaluation_but_texts_is_kept(saved: Path) -> None:
    loaded = iro.load_evaluation(saved)
    for name in ("names", "collection", "cutoff", "unit", "many_relevant", "n_clusters"):
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
        with pytest.raises(ParameterError, match=r"board\.npz is a saved evaluation, which stands"):
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
        evaluation = iro.Evaluation(
            (lengths,), "x", cutoff=1, unit="query", many_relevant=True, qrels=qrels
        )
        with pytest.raises(ParameterError, match="is saved with its qrels"):
            evaluation.save(tmp_path / "board.npz")


def altered(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], object]) -> Path:
    """Change what a file says of itself, or its arrays."""
    with np.load(path) as file:
        arrays = dict(file)
    facts = json.loads(arrays["facts"].tobytes())
    change(facts, arrays)
    if "facts" in arrays:
        arrays["facts"] = np.frombuffer(json.dumps(facts).encode(), dtype=np.uint8)
    np.savez(path, **arrays)
    return path


IMPOSSIBLE: dict[str, list[Any]] = {
    "layout": [10],
    "cutoff": [0, "10", 2**31],
    "depth": [0, 5],
    "unit": ["pair", None],
    "many_relevant": [False],
    "query_ids": [["q1", "q2"], ["q1", "q1", "q3"], ["q1", "q2", 3]],
    "names": [["a"], ["a", "a"], ["a", " "]],
    "replicates": [{"x": ["a"]}, {"x": ["a", "c"]}, {"a": ["a", "b"], "c": ["a", "b"]}],
    "measures": [{}, {"nDCG@10": "higher"}, {"nDCG@10": True, "AP": True}],
    "rel": [0, 3],
    "ties": ["random"],
    "judged_only": [1],
    "drop_self": ["no"],
    "ignored": [[["q1"], []], [["q9", "q8"], []], [[]]],
    "unknown_ids": [["", "no document"], [""]],
    "equal_scores": [[False], [0, 0]],
}


@pytest.mark.parametrize(("fact", "value"), [(f, v) for f, vs in IMPOSSIBLE.items() for v in vs])
def test_impossible_facts_are_refused(saved: Path, fact: str, value: Any) -> None:
    changed = altered(saved, lambda facts, _: facts.update({fact: value}))
    with pytest.raises(FormatError, match=DAMAGED):
        iro.load_evaluation(changed)


def cell(name: str, *place_and_value: Any) -> Callable[[dict[str, Any]], None]:
    *place, value = place_and_value

    def change(arrays: dict[str, Any]) -> None:
        arrays[name] = arrays[name].copy()
        arrays[name][tuple(place)] = value

    return change


# Run a returns d2, d1 for q1; run b d3, d1 for q2; the atoms are (q1, d1), (q2, d3), (q2, d1).
CELLS = [
    cell("rank", 0, 0, -1),
    cell("rank", 0, 0, 3),  # of two documents
    cell("rank", 0, 1, 1),  # of a query that was not retrieved
    cell("rank", 1, 2, 1),  # where d3 is
    cell("retrieved", 0, 0, 1),
    cell("retrieved", 0, 0, -1),
    cell("retrieved", 0, 1, 1),
    cell("unjudged", 0, 0, 2),
    cell("unjudged", 0, 1, 1),
    cell("listed", 0, 0, False),
    cell("digests", 0, 0, 0),
    cell("digests", 0, 1, 1),
    cell("reordered", 0, 2, True),
    cell("against_ranks", 0, 1, True),
    cell("rising", 0, 0, True),
    cell("retrieves_itself", 0, 1, True),
    cell("below_itself", 0, 0, True),
    cell("clusters", 0, 5),
    cell("judgments", 0, 3),
    cell("judgments", 0, -1),
    cell("docids", 1, b"d1"),
    cell("docids", 0, b""),
    cell("docids", 0, b"\xff"),
    cell("grades", 0, 0),  # then run a has an atom too many
    cell("values 0", 0, 0, 1.5),
    cell("values 0", 0, 0, -0.5),
    cell("values 0", 0, 0, np.inf),
]


@pytest.mark.parametrize("change", CELLS)
def test_impossible_values_are_refused(saved: Path, change: Any) -> None:
    with pytest.raises(FormatError, match=DAMAGED):
        iro.load_evaluation(altered(saved, lambda _, arrays: change(arrays)))


@pytest.mark.parametrize(
    "change",
    [
        cell("level_size", 0, 1, 0),
        cell("level_size", 0, 1, 2),  # of one level, in which the other document's size is 3
        cell("level_size", 0, slice(1, 3), 1),
        cell("level_size", 0, slice(1, 3), 4),
        cell("level_size", 0, 0, 2),  # of what is not found
        cell("rank", 0, 1, 2),  # two levels at the same ranks
    ],
)
def test_impossible_tie_levels_are_refused(tmp_path: Path, change: Any) -> None:
    TIED.save(tmp_path / "board.npz")
    assert differing(iro.load_evaluation(tmp_path / "board.npz")[0], TIED[0]) == []
    with pytest.raises(FormatError, match=DAMAGED):
        iro.load_evaluation(altered(tmp_path / "board.npz", lambda _, arrays: change(arrays)))


STORED = ("judgments", "docids", "grades", "clusters", "values 0", *PER_ATOM, *PER_QUERY)


@pytest.mark.parametrize("name", [name for name in STORED if name != "level_size"])
def test_arrays_of_another_shape_or_kind_are_refused(saved: Path, name: str) -> None:
    content = saved.read_bytes()
    for change in (
        lambda array: array[:-1],
        lambda array: np.concatenate([array, array]),
        lambda array: array[None],
        lambda array: array.astype("U8" if array.dtype.kind == "S" else np.float32),
        lambda array: None,
    ):

        def changed(_: Any, arrays: dict[str, Any], change: Any = change) -> None:
            array = change(arrays.pop(name))
            if array is not None:
                arrays[name] = array

        if name == "clusters" and change(np.zeros(1)) is None:
            continue  # then queries are independent
        saved.write_bytes(content)
        with pytest.raises(FormatError, match=DAMAGED):
            iro.load_evaluation(altered(saved, changed))


def test_arrays_that_nobody_knows_are_refused(saved: Path) -> None:
    more = altered(saved, lambda _, arrays: arrays.update(more=np.zeros(3)))
    with pytest.raises(FormatError, match=DAMAGED):
        iro.load_evaluation(more)


def test_a_file_that_expands_to_much_more_is_refused(
    saved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An array of 3e8 zeros, 2.3 MB in the file, took 2.3 GiB."""
    monkeypatch.setattr(files, "UNSUSPICIOUS", 1 << 20)
    zeros = np.zeros(1 << 20, np.int64)
    with np.load(saved) as archive:
        np.savez_compressed(saved, **{**archive, "grades": zeros}, allow_pickle=False)
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
        iro.load_evaluation(altered(saved, lambda facts, _: facts.update(score_bits=16)))


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
