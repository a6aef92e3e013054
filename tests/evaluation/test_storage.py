from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import threading
import zipfile
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
from ir_outcomes.evaluation import evaluate as cache
from ir_outcomes.evaluation import storage
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
    with pytest.raises(MismatchError, match="cutoff=10, which says nothing about cutoff=20"):
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
    with pytest.raises(FormatError, match=r"layout 99, this one has 4\); evaluate the run again"):
        SearchLengths.load(altered(saved, lambda about, _: about.update(layout=99)))


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
    with pytest.raises(FormatError, match="evaluate the run again"):
        SearchLengths.load(altered(saved, change))


def added(field: str, values: Any) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    return lambda about, arrays: arrays.update({field: arrays[field] + np.array(values)})


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (added("rank", [9, 0, 0]), "ranks are negative, or beyond the cutoff or the list"),
        (added("rank", [-3, 0, 0]), "ranks are negative"),
        (added("rank", [0, 1, 0]), "ranks are negative, or beyond"),  # the run does not have this query
        (added("irrelevant_above", [1, 0, 0]), "numbers of irrelevant documents"),
        (added("irrelevant_above", [0, -1, 0]), "numbers of irrelevant documents"),
        (added("level_relevant", [0, 1, 0]), "sizes of tie levels"),
        (added("level_irrelevant", [1, 0, 0]), "sizes of tie levels"),
        (added("retrieved", [9, 0, 0]), "numbers of retrieved documents"),
        (added("retrieved", [0, 1, 0]), "numbers of retrieved documents"),
        (added("unjudged", 3), "numbers of unjudged documents"),
        (lambda about, arrays: arrays.update(rank=arrays["rank"].astype(np.uint8)), "rank has the wrong type"),
        (lambda about, arrays: arrays.update(listed=arrays["listed"].astype(int)), "listed has the wrong type"),
        (lambda about, arrays: arrays.update(rank=arrays["rank"].astype(np.int32)), "an array has another type"),
        (lambda about, arrays: arrays.update(rank=arrays["rank"].astype(complex)), "an array has another type"),
        (lambda about, arrays: arrays.update(further=arrays["rank"]), "it has other members"),
        (lambda about, arrays: about.update(cutoff=-1), "its cutoff or rel"),
        (lambda about, arrays: about.update(cutoff="10"), "its cutoff or rel"),
        (lambda about, arrays: about.update(rel=True), "its cutoff or rel"),
        (lambda about, arrays: about.update(ties="random"), "its tie rule"),
        (lambda about, arrays: about.update(ties=["trec"]), "its tie rule"),
        (lambda about, arrays: about.update(judged_only=1), "its tie rule or judged_only"),
        (lambda about, arrays: about.update(name=5), "its name or metadata is not text"),
        (lambda about, arrays: about.update(query_ids=["q1", "q2", "q2"]), "its query_ids are repeated"),
        (lambda about, arrays: about.update(query_ids=["q1", "q2", 3]), "its query_ids are not texts"),
        (lambda about, arrays: about.update(query_ids="q1"), "its query_ids are not texts"),
        (lambda about, arrays: about.update(ignored=None), "its ignored are not texts"),
        (lambda about, arrays: about.update(unjudged_depths=[[10]]), "its depths"),
        (lambda about, arrays: about.update(key=5), "its key"),
    ],
)
def test_values_that_search_lengths_cannot_have_are_refused(saved: Path, change: Any, message: str) -> None:
    with pytest.raises(FormatError, match=message):
        SearchLengths.load(altered(saved, change))


def test_an_entry_under_the_name_of_another_one_is_noticed(evaluations: Evaluations) -> None:
    """The cache returned the search lengths of another run."""
    evaluations.evaluate()
    (first,) = evaluations.cache.iterdir()
    content = first.read_bytes()
    evaluations.evaluate(rel=2)
    (second,) = set(evaluations.cache.iterdir()) - {first}
    second.write_bytes(content)
    with pytest.warns(IrOutcomesWarning, match="is the entry of another run or of other settings"):
        evaluations.evaluate(rel=2)
    evaluations.evaluate(rel=2)
    assert evaluations.number == 3


def test_a_cache_that_cannot_be_written_to_costs_a_warning(evaluations: Evaluations, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: Any) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr(os, "replace", full)
    with pytest.warns(IrOutcomesWarning, match="the cache cannot be written to, results are not kept: .*Read-only"):
        evaluations.evaluate()


@pytest.mark.parametrize("path", ["/dev/full", "/dev/null", ".", "a\0b"])
def test_only_regular_files_are_written(saved: Path, path: str) -> None:
    """As root, saving replaced the device by a file."""
    before = os.stat("/dev/full").st_mode
    with pytest.raises(ParameterError, match="cannot be written"):
        SearchLengths.load(saved).save(path)
    assert os.stat("/dev/full").st_mode == before


def test_a_pipe_is_not_written_and_a_link_stays_a_link(saved: Path, tmp_path: Path) -> None:
    lengths = SearchLengths.load(saved)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ParameterError, match="not a regular file"):
        lengths.save(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(saved)
    lengths.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    for path in ("/dev/zero", "/dev/null", tmp_path, "a\0b"):
        with pytest.raises(UnreadableFile):
            SearchLengths.load(path)


def bomb(path: Path, stated: int | None = None) -> Path:
    """An archive of 0.1 MB that expands to 128 MB, or states that it does not."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("rank.npy", "w", force_zip64=False) as file:
        np.lib.format.write_array_header_1_0(
            file,
            {"descr": "<i8", "fortran_order": False, "shape": (1 << 24,)},
        )
        for _ in range(128):
            file.write(bytes(1 << 20))
    if stated is not None:
        content = bytearray(path.read_bytes())
        for place in (22, content.rindex(b"PK\x01\x02") + 24):
            content[place : place + 4] = stated.to_bytes(4, "little")
        path.write_bytes(content)
    return path


MEMORY = """
import sys
import ir_outcomes as iro
try:
    iro.SearchLengths.load(sys.argv[1])
except iro.FormatError as error:
    print(str(error).splitlines()[0])
with open("/proc/self/status") as status:
    print(next(int(line.split()[1]) >> 10 for line in status if line.startswith("VmHWM")))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is measured by Linux")
@pytest.mark.parametrize("stated", [None, 1 << 20])
def test_a_bomb_is_refused_before_it_is_decompressed(tmp_path: Path, stated: int | None) -> None:
    path = bomb(tmp_path / "bomb.npz", stated)
    done = subprocess.run([sys.executable, "-c", MEMORY, path], capture_output=True, text=True, check=True)
    message, mebibytes = done.stdout.splitlines()
    assert "or is damaged" in message
    assert int(mebibytes) < 150


@pytest.mark.filterwarnings("ignore")  # numpy's own
def test_a_header_that_numpy_would_mend_is_refused(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "mended.npz"
    with zipfile.ZipFile(saved) as archive, zipfile.ZipFile(path, "w") as copy:
        for name in archive.namelist():
            content = archive.read(name)
            copy.writestr(name, content.replace(b",), }", b"L,),}") if name == "rank.npy" else content)
    with pytest.raises(FormatError, match="does not have search lengths, or is damaged"):
        SearchLengths.load(path)


def test_files_of_others_are_refused(tmp_path: Path) -> None:
    contents = {"text": b"q1 Q0 d1 1 1.0 t\n", "empty": b"", "zip": b"PK\x03\x04 and so on"}
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    np.savez(tmp_path / "arrays.npz", x=np.arange(3))
    np.savez(tmp_path / "pickle.npz", about=np.array([{}], dtype=object))
    np.save(tmp_path / "array.npy", np.arange(3))
    with zipfile.ZipFile(tmp_path / "lzma.npz", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("about.npy", b"{}" * 9)
    for name in (*contents, "lzma.npz", "arrays.npz", "pickle.npz", "array.npy"):
        with pytest.raises(FormatError, match=f"{name}: does not have search lengths"):
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
        monkeypatch.setattr(cache, "search_lengths", self.counted)

    def counted(self, *arguments: Any, **settings: Any) -> SearchLengths:
        self.number += 1
        return self.original(*arguments, **settings)

    def evaluate(self, qrels: Any = QRELS, run: Any = None, **settings: Any) -> SearchLengths:
        settings = {**SETTINGS, **settings}
        (found,) = evaluate(qrels, [run or self.run], cache=self.cache, **settings)
        cutoff = settings.pop("cutoff")
        assert differing(found, self.original(qrels, run or self.run, count_unjudged_at=(cutoff,), **settings)) == []
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
    for settings in ({"cutoff": 1}, {"cutoff": 2000}, {"rel": 2}, {"ties": "input"}, {"judged_only": True}):
        evaluations.evaluate(**settings)
    monkeypatch.setattr(storage, "pytrec_eval_compares_as_float32", lambda: False)
    evaluations.evaluate()
    monkeypatch.setattr("importlib.metadata.version", lambda _: "next")
    evaluations.evaluate()
    assert evaluations.number == 10
    assert len(list(evaluations.cache.iterdir())) == 10


def test_a_damaged_entry_is_computed_again_with_a_warning(evaluations: Evaluations) -> None:
    evaluations.evaluate()
    (entry,) = evaluations.cache.iterdir()
    entry.write_bytes(entry.read_bytes()[:-40])
    with pytest.warns(IrOutcomesWarning, match=r"a cache entry is unusable, .*run\.txt is evaluated again: .*damaged"):
        evaluations.evaluate()
    evaluations.evaluate()
    assert evaluations.number == 2


def test_a_file_that_changes_while_it_is_read_is_not_kept(evaluations: Evaluations, monkeypatch: pytest.MonkeyPatch) -> None:
    def meanwhile(*arguments: Any, **settings: Any) -> SearchLengths:
        evaluations.run.write_text(RUN.replace("d1 2 2.0", "d1 2 4.0"))
        return evaluations.original(*arguments, **settings)

    monkeypatch.setattr(cache, "search_lengths", meanwhile)
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
    with pytest.raises(ParameterError, match=r"cache .*run\.txt: the folder cannot be created"):
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
