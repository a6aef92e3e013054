"""Evaluations in files: what is loaded is what was saved, and nothing else is read."""

import json
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, MismatchError, ParameterError, UnreadableFile
from ir_outcomes.evaluation.lengths import PER_ATOM, PER_QUERY
from ir_outcomes.reading import files
from tests.helpers import literal, strategies
from tests.helpers.searchlengths import differing

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2, "d1": 1}, "q3": {"d4": 0}}
LAYOUT = "evaluation 10"
RUNS = {"a": {"q1": {"d2": 3.0, "d1": 2.0}, "q9": {"d": 1.0}}, "b": {"q2": {"d3": 5.0}}}


EVALUATION = iro.evaluate(
    QRELS, RUNS, cutoff=10, measures=["nDCG@10", "ESL@5"], clusters=dict.fromkeys(QRELS, "c")
)


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
    path = tmp_path_factory.getbasetemp() / "board.npz"
    lengths = iro.search_lengths(qrels, run, **settings)
    iro.Evaluation((lengths,), "made up", cutoff=1, unit="query", many_relevant=False).save(path)
    assert differing(lengths, iro.load_evaluation(path, qrels)[0]) == []


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


def test_a_file_stands_for_its_runs(saved: Path) -> None:
    grown = iro.evaluate(QRELS, [saved, {"q1": {"d1": 1.0}}], cutoff=10)
    assert (grown.names, grown.n_clusters) == (("a", "b", "run"), 1)
    assert iro.evaluate(QRELS, str(saved), cutoff=10, names=["x", None]).names == ("x", "b")
    compared = iro.compare(QRELS, {"q1": {"d1": 1.0}}, [saved])
    assert [item.contender for item in compared] == ["a", "b"]
    assert (
        iro.compare(saved, "a", "b").verdict
        == iro.compare(iro.load_evaluation(saved), "a", "b").verdict
    )


def test_a_file_is_sliced_at_another_cutoff(saved: Path) -> None:
    slices = {"q1": "first", "q2": "second"}
    sources: Any = (saved, iro.load_evaluation(saved))
    found = [iro.compare_slices(source, "a", by=slices, cutoff=1) for source in sources]
    assert found[0] == found[1]
    assert found[0].settings.cutoff == 1


def test_measures_that_were_kept_are_those_of_the_file(saved: Path, tmp_path: Path) -> None:
    grown = iro.evaluate(QRELS, (saved, RUNS["a"]), cutoff=10, measures=["nDCG@10"])
    kept = EVALUATION.scores_of("nDCG@10").values
    np.testing.assert_array_equal(grown.scores_of("nDCG@10").values, [*kept, kept[0]])
    compared = iro.compare(QRELS, RUNS["a"], [saved], measures=["nDCG@10"])
    means = [item.measures[0].contender for item in compared]
    answerable = EVALUATION[0].answerable
    np.testing.assert_allclose(means, kept[:, answerable].mean(axis=1))
    with pytest.raises(
        ParameterError, match="search lengths of a, of a saved evaluation, do not hold AP"
    ):
        iro.evaluate(QRELS, saved, measures=["nDCG@10", "AP"])


def test_a_file_of_one_run_is_a_baseline(saved: Path, tmp_path: Path) -> None:
    one = tmp_path / "one.npz"
    EVALUATION[["a"]].save(one)
    compared = iro.compare(QRELS, one, RUNS["b"])
    assert (compared.baseline, compared.cutoff) == ("a", 10)
    with pytest.raises(ParameterError, match=r"board.npz holds 2 runs \(a, b\), and the baseline"):
        iro.compare(QRELS, saved, RUNS["b"])


def test_the_settings_of_a_file_hold_unless_others_are_given(saved: Path, tmp_path: Path) -> None:
    """What was evaluated at 10 was decided at 100, and the unit was chosen again."""
    iro.evaluate(QRELS, RUNS, cutoff=10, unit="document").save(saved)
    assert (iro.evaluate(QRELS, saved).cutoff, iro.evaluate(QRELS, [saved]).unit) == (
        10,
        "document",
    )
    assert (
        iro.evaluate(QRELS, saved, cutoff=5).cutoff,
        iro.evaluate(QRELS, saved, unit="query").unit,
    ) == (5, "query")
    for compared in (
        iro.compare(QRELS, RUNS["a"], [saved])[0],
        iro.compare(QRELS, RUNS["a"], [saved, RUNS["b"]])[2],
    ):
        assert (compared.cutoff, compared.unit) == (10, "document")
    other = tmp_path / "other.npz"
    iro.evaluate(QRELS, {"c": RUNS["a"]}, cutoff=20, unit="query").save(other)
    for call in (
        lambda: iro.evaluate(QRELS, [saved, other]),
        lambda: iro.compare(QRELS, RUNS["a"], [saved, other]),
    ):
        with pytest.raises(
            MismatchError,
            match=r"have different cutoffs \(.*board.npz: 10, .*other.npz: 20\); say which",
        ):
            call()
    with pytest.raises(MismatchError, match="have different units"):
        iro.evaluate(QRELS, [saved, other], cutoff=10)
    assert iro.evaluate(QRELS, [saved, other], cutoff=10, unit="query").names == ("a", "b", "c")


@pytest.mark.parametrize(
    ("qrels", "settings", "message"),
    [
        ({"q1": {"d1": 1}}, {}, "a was evaluated with other qrels than the other runs"),
        (QRELS, {"rel": 2}, "a was evaluated with `rel=1`, here it is `rel=2`"),
        (
            QRELS,
            {"measures": ["AP"]},
            "the search lengths of a, of a saved evaluation, do not hold AP; give the file",
        ),
        (
            QRELS,
            {"documents": 3},
            "the search lengths of a, of a saved evaluation, do not hold documents; give the file",
        ),
    ],
)
def test_what_a_file_cannot_stand_for_is_refused(
    saved: Path, qrels: Any, settings: dict[str, Any], message: str
) -> None:
    with pytest.raises((MismatchError, ParameterError), match=message):
        iro.evaluate(qrels, saved, **settings)


def altered(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Path:
    """Change what a file says of itself, or its arrays."""
    with np.load(path) as file:
        arrays = dict(file)
    about = json.loads(arrays[LAYOUT].tobytes())
    change(about, arrays)
    if LAYOUT in arrays:
        arrays[LAYOUT] = np.frombuffer(json.dumps(about).encode(), dtype=np.uint8)
    np.savez(path, **arrays)
    return path


def resized(about: dict[str, Any], arrays: dict[str, Any], name: str) -> None:
    """Make an array of all runs longer, which would be read as that of other queries or documents."""
    for run in about["runs"]:
        array = EVALUATION.runs[0].__dict__[name]
        arrays[run[name]] = np.zeros((len(array) + 1, *array.shape[1:]), array.dtype)


@pytest.mark.parametrize(
    "change",
    [
        lambda about, arrays: arrays.pop(LAYOUT),
        lambda about, arrays: about.pop("unit"),
        lambda about, arrays: about.update(cutoff="10"),
        lambda about, arrays: about["runs"][1].update(ties="random"),
        lambda about, arrays: arrays.pop("array 1"),
        lambda about, arrays: arrays.update({"array 1": np.array([object()])}),
        *(partial(resized, name=name) for name in (*PER_ATOM, *PER_QUERY, "offsets", "clusters")),
        lambda about, arrays: arrays.update({about["runs"][0]["rank"]: np.zeros(3)}),
        lambda about, arrays: arrays.update({about["runs"][0]["offsets"]: np.array([0, 3, 1, 3])}),
        lambda about, arrays: arrays.update({about["scores"][0]["values"]: np.zeros((2, 4))}),
    ],
)
def test_parts_that_are_missing_or_invalid_are_refused(saved: Path, change: Any) -> None:
    with pytest.raises(
        FormatError, match=r"board\.npz: is not a saved evaluation of this version, or is damaged"
    ):
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
        iro.evaluate(QRELS, tmp_path / "absent.npz")
    assert iro.load_evaluation(saved, QRELS).qrels is not None
    with pytest.raises(MismatchError, match="evaluated with other qrels than those given"):
        iro.load_evaluation(saved, {"q1": {"d1": 1}})
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
