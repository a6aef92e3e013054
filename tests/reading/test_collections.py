"""Lists of runs: directories with other files too, patterns, links, dicts, names; and suites."""

import gzip
import os
import re
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import ir_measures
import pytest

import ir_outcomes as iro
from ir_outcomes.errors import (
    FormatError,
    InputError,
    IrOutcomesWarning,
    ParameterError,
    UnreadableFile,
)
from ir_outcomes.reading.collections import read_suite
from ir_outcomes.reading.runs import run_list, run_paths

RUN = "q1 Q0 d1 1 3.0 t\nq1 Q0 d2 2 2.0 t\n"
RUNS = {
    "a.run": RUN,
    "b.run.gz": RUN,
    "c.tsv": "q1\td1\t1\nq1\td2\t2\n",
    "d.json": '{"q1": {"d1": 1.0}}',
    "e.csv": "qid,docno,score\nq1,d1,1.0\n",
}


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in RUNS.items():
        write(tmp_path / "runs" / name, text)
    return tmp_path / "runs"


def test_a_directory_of_runs_with_other_files(folder: Path) -> None:
    others = {
        "qrels.txt": "q1 0 d1 1\n",
        "labels.csv": "qid,docno,label\nq1,d1,1\n",
        "a.run.eval": "num_ret\tq1\t1000\nmap\tq1\t0.25\n",
        "README": "one two three four five six\n",
        "notes.md": RUN,
        ".hidden": RUN,
    }
    for name, text in others.items():
        write(folder / name, text)
    (folder / "within").mkdir()
    with pytest.warns(IrOutcomesWarning) as caught:
        assert run_paths(folder) == [str(folder / name) for name in RUNS]
    message = (
        "README, a.run.eval, labels.csv, notes.md, qrels.txt, within are not runs and are left"
        " out; name a file itself"
    )
    assert [(message in str(each.message), each.filename) for each in caught] == [(True, __file__)]
    with pytest.warns(IrOutcomesWarning, match=r"qrels\.txt is not a run and is left out"):
        assert run_paths(f"{folder}/[aq]*[nt]") == [str(folder / "a.run")]
    with pytest.warns(IrOutcomesWarning, match="are not runs"):
        listed = run_list([folder, folder / "qrels.txt"])  # a file that is named is not left out
    assert listed == [*(str(folder / name) for name in RUNS), folder / "qrels.txt"]


def test_broken_runs_are_not_left_out(folder: Path) -> None:
    (folder / "empty.run").write_text("")
    (folder / "late.run").write_text(RUN + "q1 Q0\n")
    (folder / "early.run").write_text("query document\n" + RUN)
    (folder / "torn.run.gz").write_bytes(gzip.compress(os.urandom(5000))[:100])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(run_paths(folder)) == len(RUNS) + 4


def test_a_directory_without_runs(tmp_path: Path) -> None:
    for place, message in (
        (tmp_path, "the directory contains no file"),
        (tmp_path, r"contains no run, but qrels\.txt; name a file itself"),
        (tmp_path / "*.run", "no file matches this pattern"),
    ):
        with pytest.raises(UnreadableFile, match=message):
            run_paths(place)
        (tmp_path / "qrels.txt").write_text("q1 0 d1 1\n")


def test_circular_links_count_each_file_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for path in (".hidden/d.run", "a.run", "deep/b.run", "deep/er/c.run"):
        write(tmp_path / path, RUN)
    for number in range(3):  # two circular links are enough to make glob.glob endless
        os.symlink(tmp_path, tmp_path / "deep" / f"up{number}")
        os.symlink(tmp_path / "deep", tmp_path / "deep" / "er" / f"back{number}")
    monkeypatch.chdir(tmp_path)
    expected = ["a.run", "deep/b.run", "deep/er/c.run"]
    assert run_paths("**/*.run") == run_paths("**") == run_paths("**/**/*.run") == expected
    assert run_paths("**/er/*.run") == ["deep/er/c.run"]
    assert run_paths(f"{tmp_path}/d*/**/*.run") == [f"{tmp_path}/{path}" for path in expected[1:]]
    with pytest.raises(UnreadableFile, match=r"no file matches|cannot be searched"):
        run_paths("a**b/*.run")


def test_a_dict_of_runs_and_a_run_in_a_dict() -> None:
    single: Any
    run: dict[str, Any] = {"q1": {"d1": 1.0}}
    for single in (
        run,
        {"q0": {}, **run},
        {"q1": ["d1"]},
        {"q0": [], "q1": ["d1"]},
        {"q1": {}},
        {"q1": []},
        {1: [2]},
    ):
        assert run_list(single) is None
    scored = [ir_measures.ScoredDoc("q1", "d1", 1.0)]
    for several in ({"a": {}, "b": run}, {"a": {"q1": ["d1"]}}, {"a": "a.run"}, {"a": scored}):
        assert run_list(several) == several
    with pytest.raises(ParameterError, match="there is no run"):
        run_list({})
    assert run_list(scored) is None


def test_names_are_text() -> None:
    run = {"q1": {"d1": 1.0}}
    with pytest.raises(
        ParameterError, match="the name 1 of a run is not text; convert names with str"
    ):
        iro.evaluate({"q1": {"d1": 1}}, {1: run})
    for wrong in ("ab", ["a"]):
        with pytest.raises(ParameterError, match=r"names.*(must be one name for|is of type str)"):
            iro.evaluate({"q1": {"d1": 1}}, [run, run], names=wrong)


QRELS = "".join(f"q{n} 0 d 1\n" for n in range(12))
SYSTEMS = {
    "bm25": "".join(f"q{n} Q0 x 1 2 t\nq{n} Q0 d 2 1 t\n" for n in range(12)),
    "new": "".join(f"q{n} Q0 d 1 2 t\nq{n} Q0 x 2 1 t\n" for n in range(12)),
}
COLLECTIONS = ("first", "second")


def lay_out(
    folder: Path, runs: str, qrels: str | None, collections: Iterable[str] = COLLECTIONS
) -> Path:
    for collection in collections:
        for system, content in SYSTEMS.items():
            write(folder / runs.format(collection=collection, system=system), content)
        if qrels is not None:
            write(folder / qrels.format(collection=collection), QRELS)
    return folder


@pytest.mark.parametrize("runs", ["{system}.run", "{system}.trec.gz", "{system}.res"])
@pytest.mark.parametrize("qrels", ["qrels", "qrels.txt.gz", "qrels.tsv"])
def test_the_layout(tmp_path: Path, runs: str, qrels: str) -> None:
    lay_out(tmp_path, f"{{collection}}/{runs}", f"{{collection}}/{qrels}")
    write(tmp_path / "README.md", "text")
    write(tmp_path / ".hidden" / "qrels.txt", QRELS)
    write(tmp_path / "first" / "qrels.other-judge.txt", QRELS)
    suite = read_suite(tmp_path)
    assert [collection.name for collection in suite.collections] == list(COLLECTIONS)
    assert suite.systems == ("bm25", "new")
    first = suite.collections[0]
    assert (first.qrels, first.runs["new"]) == (
        str(tmp_path / "first" / qrels),
        str(tmp_path / "first" / runs.format(system="new")),
    )


def test_folders_of_collections_and_dataset_ids(tmp_path: Path) -> None:
    names = ["beir/nfcorpus/test", "mine/first"]
    lay_out(tmp_path, "{collection}/{system}.run", None, names)
    write(tmp_path / "mine" / "first" / "qrels.txt", QRELS)
    found = {one.name: one.qrels for one in read_suite(tmp_path).collections}
    assert list(found) == names
    assert found["beir/nfcorpus/test"] == "beir/nfcorpus/test"


def test_folders_that_do_not_fit(tmp_path: Path) -> None:
    beside = lay_out(tmp_path / "beside", "{system}.run", "qrels.txt", ["one"])
    without = lay_out(tmp_path / "without", "{collection}/{system}.run", None)
    twice = lay_out(tmp_path / "twice", "{collection}/{system}.run", None)
    write(twice / "first" / "bm25.res", SYSTEMS["bm25"])
    (tmp_path / "empty").mkdir()
    for folder, error, message in (
        (
            beside,
            FormatError,
            r"runs beside each other, without collections; a suite is a folder with COLLECTION/",
        ),
        (tmp_path / "empty", FormatError, "has no runs in folders"),
        (
            without,
            FormatError,
            r"nothing can be compared in first \(no qrels\), second \(no qrels\); add what is",
        ),
        (tmp_path / "nowhere", UnreadableFile, "no such folder; a suite is a folder with"),
        (twice, FormatError, "two runs of bm25 for first"),
    ):
        with pytest.raises(error, match=message):
            read_suite(folder)


def empty(folder: Path) -> str:
    folder.mkdir()
    return "empty"


def with_dangling_links(folder: Path) -> str:
    folder.mkdir()
    (folder / "new.run").symlink_to(folder / "nowhere")
    return "a link to nothing"


def dangling(folder: Path) -> str:
    folder.symlink_to(folder.parent / "nowhere")
    return "a link to nothing"


def looping(folder: Path) -> str:
    folder.symlink_to(folder)
    return "a link to nothing"


def linked_to_above(folder: Path) -> str:
    folder.symlink_to(folder.parent)
    return "a link to a folder above it"


def linked_to_far_above(folder: Path) -> str:
    folder.symlink_to(folder.parent.parent)
    return "a link to a folder above it"


def without_qrels(folder: Path) -> str:
    write(folder / "new.run", SYSTEMS["new"])
    return "no qrels"


def without_runs(folder: Path) -> str:
    write(folder / "qrels.txt", QRELS)
    return "no runs"


def of_other_names(folder: Path) -> str:
    write(folder / "new.ranking", SYSTEMS["new"])
    write(folder / "judgments.txt", QRELS)
    return "neither runs nor qrels"


@pytest.mark.parametrize("inside", ["", "first/", "deep/er/"])
@pytest.mark.parametrize(
    "make",
    [
        empty,
        with_dangling_links,
        dangling,
        looping,
        linked_to_above,
        linked_to_far_above,
        without_qrels,
        without_runs,
        of_other_names,
    ],
)
def test_a_folder_without_a_collection_is_named_and_stops(
    tmp_path: Path, make: Callable[[Path], str], inside: str
) -> None:
    folder = lay_out(tmp_path / "suite", "{collection}/{system}.run", "{collection}/qrels.txt")
    (folder / inside).mkdir(parents=True, exist_ok=True)
    problem = make(folder / inside / "third")
    name = f"{inside}third"
    if make is with_dangling_links:
        name += "/new.run"
    with pytest.raises(FormatError, match=re.escape(f"compared in {name} ({problem}); add what")):
        iro.evaluate(folder)
    (folder / inside / "third").rename(folder / inside / ".third")
    if inside == "deep/er/":
        with pytest.raises(FormatError, match=r"compared in deep/er \(empty\)"):
            iro.evaluate(folder)
        (folder / "deep").rename(folder / ".deep")
    assert list(iro.evaluate(folder)) == list(COLLECTIONS)


def test_links_to_collections_and_to_folders_of_them_are_followed(tmp_path: Path) -> None:
    """A collection in which the new run finds less cannot hide behind a link."""
    suite = lay_out(tmp_path / "suite", "{collection}/{system}.run", "{collection}/qrels.txt")
    others = lay_out(tmp_path / "others", "{collection}/{system}.run", "{collection}/qrels.txt")
    write(others / "second" / "new.run", "".join(f"q{n} Q0 x 1 2 t\n" for n in range(12)))
    (suite / "linked").symlink_to(others / "second")
    (suite / "all").symlink_to(others)
    (suite / "first" / "bm25.run").unlink()
    (suite / "first" / "bm25.run").symlink_to(others / "first" / "bm25.run")
    evaluations = iro.evaluate(suite)
    assert list(evaluations) == ["all/first", "all/second", "first", "linked", "second"]
    decided = iro.gate(evaluations, "bm25", "new", margins=(2.0, 0.5))
    by_collection = {decision.condition: decision.status for decision in decided.decisions}
    assert by_collection["linked"] == by_collection["all/second"] == "fail"
    assert decided.exit_status == 3


def test_empty_and_missing_runs_are_named_and_left_out(tmp_path: Path) -> None:
    lay_out(tmp_path, "{collection}/{system}.run", "{collection}/qrels.txt", ("a", "b", "c"))
    (tmp_path / "b" / "new.run").write_text("")
    (tmp_path / "c" / "new.run").unlink()
    with pytest.warns(IrOutcomesWarning, match="left out.*new"):
        evaluations = iro.evaluate(tmp_path)
    assert [len(evaluation) for evaluation in evaluations.values()] == [2, 1, 1]
    found = iro.compare_collections(evaluations, "bm25")
    assert [row.condition for row in found.conditions] == ["a"]
    assert sum("lacks new" in note for note in found.notes) == 2
    with pytest.raises(InputError, match="collection b: "):
        iro.evaluate(tmp_path, on_error="raise")
