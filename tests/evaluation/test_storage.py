from __future__ import annotations

import io
import json
import os
import threading
from collections.abc import Callable
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes import SearchLengths
from ir_outcomes.errors import FormatError, IrOutcomesWarning, MismatchError, ParameterError, UnreadableFile
from ir_outcomes.evaluation import storage as keeping
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.lengths import search_lengths
from ir_outcomes.reading import as_qrels
from ir_outcomes.samples import write_sample
from tests.helpers import literal, strategies
from tests.helpers.command_line import call
from tests.helpers.searchlengths import differing

QRELS = {"q1": {"d1": 1, "d2": 0}, "q2": {"d3": 2, "d1": 1}, "q3": {"d4": 0}}
RUN = "q1 Q0 d2 1 3.0 t\nq1 Q0 d1 2 2.0 t\nq2 Q0 d3 1 5.0 t\nother Q0 d3 1 5.0 t\n"
SETTINGS: dict[str, Any] = {"cutoff": 10, "rel": 1, "ties": "trec"}


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "a.npz"
    iro.search_lengths(QRELS, {"q1": {"d2": 3.0, "d1": 2.0}, "q9": {"d": 1.0}}, cutoff=10).save(path)
    return path


@given(
    qrels=strategies.qrels,
    run=strategies.runs,
    cutoff=strategies.cutoffs,
    rel=st.integers(1, 3),
    ties=st.sampled_from(["trec", "msmarco", "input", "expected"]),
    judged_only=st.booleans(),
)
def test_what_is_loaded_is_what_was_saved(
    tmp_path_factory: pytest.TempPathFactory,
    qrels: literal.Qrels,
    run: literal.Run,
    cutoff: Any,
    rel: int,
    ties: Any,
    judged_only: bool,
) -> None:
    path = tmp_path_factory.getbasetemp() / "lengths"
    lengths = iro.search_lengths(qrels, run, cutoff=cutoff, rel=rel, ties=ties, judged_only=judged_only)
    lengths.save(path)
    assert differing(lengths, SearchLengths.load(path, qrels)) == []


def test_numbers_of_numpy_are_saved_as_numbers(tmp_path: Path) -> None:
    iro.search_lengths(QRELS, {"q1": {"d1": 1.0}}, cutoff=np.int64(7)).save(tmp_path / "a")  # type: ignore[arg-type]
    assert SearchLengths.load(tmp_path / "a").cutoff == 7


def test_a_leaderboard_grows_by_evaluating_the_new_run_only(tmp_path: Path, saved: Path) -> None:
    (tmp_path / "new.txt").write_text(RUN)
    old, new = evaluate(QRELS, [SearchLengths.load(saved, QRELS), tmp_path / "new.txt"], **SETTINGS)
    assert (old.name, new.name) == ("run", "new")
    with pytest.raises(MismatchError, match="cutoff=10, this comparison has cutoff=20"):
        evaluate(QRELS, [SearchLengths.load(saved)], cutoff=20, rel=1, ties="trec")


def test_other_qrels_are_refused(saved: Path) -> None:
    with pytest.raises(MismatchError, match="other qrels"):
        SearchLengths.load(saved, {"q1": {"d1": 1}})


def altered(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> Path:
    """Change what a file says of itself, or its arrays."""
    with np.load(path) as file:
        arrays = dict(file)
    about = json.loads(arrays.pop("about").tobytes())
    change(about, arrays)
    content = io.BytesIO()
    np.savez(content, about=np.frombuffer(json.dumps(about).encode(), dtype=np.uint8), **arrays)
    path.write_bytes(content.getvalue())
    return path


def test_another_layout_is_refused(saved: Path) -> None:
    with pytest.raises(FormatError, match=r"layout 2, this one has 1\); evaluate the run anew"):
        SearchLengths.load(altered(saved, lambda about, _: about.update(layout=2)))


def test_another_precision_of_scores_is_refused(saved: Path) -> None:
    with pytest.raises(MismatchError, match="compares scores in 16 bits"):
        SearchLengths.load(altered(saved, lambda about, _: about.update(score_bits=16)))


@pytest.mark.parametrize(
    "change",
    [
        lambda about, arrays: arrays.pop("rank"),
        lambda about, arrays: about.pop("ties"),
        lambda about, arrays: arrays.update(rank=arrays["rank"][1:]),
        lambda about, arrays: arrays.update(rank=arrays["rank"].astype(float)),
        lambda about, arrays: arrays.update(listed=arrays["listed"][1:]),
        lambda about, arrays: arrays.update(offsets=arrays["offsets"][::-1]),
        lambda about, arrays: arrays.update(offsets=arrays["offsets"] + 1),
        lambda about, arrays: about.update(query_ids=["q1"]),
    ],
)
def test_parts_that_are_missing_or_do_not_fit_are_refused(saved: Path, change: Any) -> None:
    with pytest.raises(FormatError, match="evaluate the run anew"):
        SearchLengths.load(altered(saved, change))


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    contents = {"text": b"q1 Q0 d1 1 1.0 t\n", "empty": b"", "zip": b"PK\x03\x04 and so on"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    np.savez(tmp_path / "arrays.npz", x=np.arange(3))
    np.savez(tmp_path / "pickle.npz", about=np.array([{}], dtype=object))
    np.save(tmp_path / "array.npy", np.arange(3))
    for name in (*contents, "arrays.npz", "pickle.npz", "array.npy"):
        with pytest.raises(FormatError, match=f"{name}: holds no search lengths"):
            SearchLengths.load(tmp_path / name)
    with pytest.raises(UnreadableFile, match="No such file"):
        SearchLengths.load(tmp_path / "missing")


def test_damage_is_noticed(saved: Path) -> None:
    """Every bit that is flipped, and every end that is missing, changes nothing or is refused."""
    sound, content = SearchLengths.load(saved), saved.read_bytes()
    rng, refused = np.random.default_rng(20211), 0
    places = rng.choice(len(content), 200, replace=False)
    damaged = [content[:place] + bytes([content[place] ^ 1 << rng.integers(8)]) + content[place + 1 :] for place in places]
    damaged += [content[:place] for place in places[:50]]
    for each in damaged:
        saved.write_bytes(each)
        try:
            assert differing(sound, SearchLengths.load(saved)) == []
        except (FormatError, MismatchError):
            refused += 1
    assert refused > 150


def test_what_cannot_be_written_leaves_nothing_behind(tmp_path: Path, saved: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lengths, before = SearchLengths.load(saved), saved.read_bytes()
    with pytest.raises(ParameterError, match="cannot be written"):
        lengths.save(tmp_path / "no" / "such" / "folder.npz")

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ParameterError, match="No space left"):
        lengths.save(saved)
    assert saved.read_bytes() == before
    assert os.listdir(tmp_path) == ["a.npz"]


class Evaluations:
    """A run file with a cache, and how often it was really evaluated."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.run, self.cache, self.number = folder / "run.txt", folder / "deep" / "cache", 0
        self.run.write_text(RUN)
        self.original = search_lengths
        monkeypatch.setattr(keeping, "search_lengths", self.counted)

    def counted(self, *arguments: Any, **settings: Any) -> SearchLengths:
        self.number += 1
        return self.original(*arguments, **settings)

    def evaluate(self, qrels: Any = QRELS, run: Any = None, **settings: Any) -> SearchLengths:
        (found,) = evaluate(qrels, [run or self.run], cache=self.cache, **{**SETTINGS, **settings})
        assert differing(found, self.original(qrels, run or self.run, **{**SETTINGS, **settings})) == []
        return found


@pytest.fixture
def evaluations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Evaluations:
    return Evaluations(tmp_path, monkeypatch)


def test_the_cache_spares_a_second_evaluation(evaluations: Evaluations, tmp_path: Path) -> None:
    evaluations.evaluate()
    evaluations.evaluate()
    (tmp_path / "copy.txt").write_text(RUN)
    assert evaluations.evaluate(run=tmp_path / "copy.txt").name == "copy"
    assert evaluations.number == 1


def test_the_cache_is_never_out_of_date(evaluations: Evaluations, monkeypatch: pytest.MonkeyPatch) -> None:
    evaluations.evaluate()
    stat = evaluations.run.stat()
    evaluations.run.write_text(RUN.replace("d1 2 2.0", "d1 2 4.0"))  # same size, and same time
    os.utime(evaluations.run, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    evaluations.evaluate()
    evaluations.evaluate(qrels={**QRELS, "q3": {"d4": 1}})
    for settings in ({"cutoff": 1}, {"cutoff": None}, {"rel": 2}, {"ties": "input"}, {"judged_only": True}):
        evaluations.evaluate(**settings)
    monkeypatch.setattr(keeping, "pytrec_eval_compares_as_float32", lambda: False)
    evaluations.evaluate()
    monkeypatch.setattr("importlib.metadata.version", lambda _: "next")
    evaluations.evaluate()
    assert evaluations.number == 10
    assert len(list(evaluations.cache.iterdir())) == 10


def test_a_damaged_entry_is_made_anew_with_a_warning(evaluations: Evaluations) -> None:
    evaluations.evaluate()
    (entry,) = evaluations.cache.iterdir()
    entry.write_bytes(entry.read_bytes()[:-40])
    with pytest.warns(IrOutcomesWarning, match=r"cache entry is of no use, .*run\.txt is evaluated anew: .*damaged"):
        evaluations.evaluate()
    evaluations.evaluate()
    assert evaluations.number == 2


def test_a_file_that_changes_while_it_is_read_is_not_kept(evaluations: Evaluations, monkeypatch: pytest.MonkeyPatch) -> None:
    def meanwhile(*arguments: Any, **settings: Any) -> SearchLengths:
        evaluations.run.write_text(RUN.replace("d1 2 2.0", "d1 2 4.0"))
        return evaluations.original(*arguments, **settings)

    monkeypatch.setattr(keeping, "search_lengths", meanwhile)
    evaluate(QRELS, [evaluations.run], cache=evaluations.cache, **SETTINGS)
    assert list(evaluations.cache.iterdir()) == []


def test_a_pipe_is_read_once_and_not_cached(evaluations: Evaluations, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    writer = threading.Thread(target=pipe.write_text, args=[RUN], daemon=True)
    writer.start()
    (found,) = evaluate(QRELS, [pipe], cache=evaluations.cache, **SETTINGS)
    writer.join(5)
    assert found.listed.tolist() == [True, True, False]
    assert list(evaluations.cache.iterdir()) == []


def test_a_cache_that_is_no_folder(evaluations: Evaluations) -> None:
    with pytest.raises(ParameterError, match=r"cache .*run\.txt: cannot be made a folder"):
        evaluate(QRELS, [evaluations.run], cache=evaluations.run, **SETTINGS)


def write_and_read(folder: Path, run: Path, rounds: int) -> list[str]:
    """Replace a cache entry again and again, and read it in between; what goes wrong is returned."""
    lengths, path = iro.search_lengths(as_qrels(QRELS), run, cutoff=10), folder / "entry.npz"
    wrong = []
    for _ in range(rounds):
        lengths.save(path)
        wrong += differing(lengths, SearchLengths.load(path, QRELS))
    return wrong


def test_two_processes_may_write_at_once(evaluations: Evaluations, tmp_path: Path) -> None:
    with get_context("spawn").Pool(2) as pool:
        assert pool.starmap(write_and_read, [(tmp_path, evaluations.run, 100)] * 2) == [[], []]
    assert sorted(os.listdir(tmp_path)) == ["entry.npz", "run.txt"]


def test_the_command_line_caches(tmp_path: Path) -> None:
    write_sample(tmp_path / "sample")
    (tmp_path / "runs").mkdir()
    for name in ("bm25-stem", "rrf-stem-lsa"):
        (tmp_path / "sample" / f"{name}.run").rename(tmp_path / "runs" / f"{name}.run")
    command = ("compare", "sample/qrels.txt", "sample/bm25.run", "runs", "--format", "json")
    plain = call(*command, folder=tmp_path)
    first = call(*command, "--jobs", "2", "--cache", "kept", folder=tmp_path)
    second = call(*command, "--cache", "kept", folder=tmp_path)
    assert len(list((tmp_path / "kept").iterdir())) == 3
    assert [each.returncode for each in (plain, first, second)] == [0, 0, 0]
    assert [each.stderr for each in (plain, first, second)] == ["", "", ""]
    assert plain.stdout == first.stdout == second.stdout
    assert [each["contender"] for each in json.loads(plain.stdout)["items"]] == ["bm25-stem", "rrf-stem-lsa"]
