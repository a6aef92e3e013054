"""Suites in folders of several layouts, and in TOML and JSON files."""

import gzip
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import ir_outcomes as iro
from ir_outcomes.errors import FormatError, InputError, IrOutcomesWarning, MismatchError, ParameterError, UnreadableFile
from ir_outcomes.reading.suites import read_suite
from tests.helpers.command_line import call

QRELS = "".join(f"q{n} 0 d 1\n" for n in range(12))
SYSTEMS = {
    "bm25": "".join(f"q{n} Q0 x 1 2 t\nq{n} Q0 d 2 1 t\n" for n in range(12)),
    "new": "".join(f"q{n} Q0 d 1 2 t\nq{n} Q0 x 2 1 t\n" for n in range(12)),
}
COLLECTIONS = ("first", "second")


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(text.encode()) if path.suffix == ".gz" else text.encode())


def lay_out(folder: Path, runs: str, qrels: str | None, collections: Iterable[str] = COLLECTIONS) -> Path:
    for collection in collections:
        for system, content in SYSTEMS.items():
            write(folder / runs.format(collection=collection, system=system), content)
        if qrels is not None:
            write(folder / qrels.format(collection=collection), QRELS)
    return folder


@pytest.mark.parametrize(
    ("runs", "qrels"),
    [
        ("runs/{system}/{collection}.run.gz", "qrels/{collection}.txt.gz"),
        ("runs/{system}/{collection}.res", "qrels/{collection}.qrels"),
        ("runs/{system}/{collection}.run", "{collection}/qrels.txt"),
        ("{collection}/{system}.res.gz", "{collection}/qrels.txt.gz"),
        ("{collection}/{system}.run", "{collection}/qrels"),
        ("{collection}/{system}.trec.gz", "qrels/{collection}.tsv"),
    ],
)
def test_layouts(tmp_path: Path, runs: str, qrels: str) -> None:
    lay_out(tmp_path, runs, qrels)
    write(tmp_path / "README.md", "text")
    write(tmp_path / "first" / "qrels.other-judge.txt", QRELS)
    suite = read_suite(tmp_path)
    assert [collection.name for collection in suite.collections] == list(COLLECTIONS)
    assert suite.systems == ("bm25", "new")
    evaluations = iro.evaluate_suite(tmp_path, n_jobs=1)
    assert {name: evaluation.names for name, evaluation in evaluations.items()} == dict.fromkeys(COLLECTIONS, ("bm25", "new"))


def test_dataset_ids(tmp_path: Path) -> None:
    names = ("beir/nfcorpus/test", "msmarco-passage/trec-dl-2019/judged")
    lay_out(tmp_path / "a", "{collection}/{system}.run", None, names)
    assert [collection.qrels for collection in read_suite(tmp_path / "a").collections] == list(names)
    flat = [name.replace("/", "_") for name in names]
    lay_out(tmp_path / "b", "runs/{system}/{collection}.run", None, flat)
    assert [collection.qrels for collection in read_suite(tmp_path / "b").collections] == list(names)


def test_folders_that_do_not_fit(tmp_path: Path) -> None:
    beside = lay_out(tmp_path / "beside", "{system}.run", "qrels.txt", ["one"])
    without = lay_out(tmp_path / "without", "{collection}/{system}.run", None)
    twice = lay_out(tmp_path / "twice", "{collection}/{system}.run", None)
    write(twice / "first" / "bm25.res", SYSTEMS["bm25"])
    (tmp_path / "empty").mkdir()
    for folder, error, message in (
        (beside, FormatError, r"runs beside each other, without collections; a suite is laid out(.|\n)*<collection>"),
        (tmp_path / "empty", FormatError, "has no runs in folders"),
        (without, MismatchError, r"no qrels of first, second; add qrels/first.txt or first/qrels.txt"),
        (tmp_path / "nowhere", UnreadableFile, "no such folder or file; a suite is laid out"),
        (twice, FormatError, "two runs of bm25 for first"),
    ):
        with pytest.raises(error, match=message):
            read_suite(folder)


def test_empty_and_missing_runs_are_named_and_left_out(tmp_path: Path) -> None:
    lay_out(tmp_path, "{collection}/{system}.run", "{collection}/qrels.txt", ("a", "b", "c"))
    (tmp_path / "b" / "new.run").write_text("")
    (tmp_path / "c" / "new.run").unlink()
    with pytest.warns(IrOutcomesWarning, match="left out.*new"):
        evaluations = iro.evaluate_suite(tmp_path)
    assert [len(evaluation) for evaluation in evaluations.values()] == [2, 1, 1]
    found = iro.compare_collections(evaluations, "bm25")
    assert [row.condition for row in found.conditions] == ["a"]
    assert sum("lacks new" in note for note in found.notes) == 2
    with pytest.raises(InputError, match="collection b: "):
        iro.evaluate_suite(tmp_path, on_error="raise")


def test_json_and_toml(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lay_out(tmp_path, "runs/{collection}/{system}.run", "{collection}.txt")
    content = {
        "baseline": "new",
        "collections": {
            "first": {"qrels": "first.txt", "runs": "runs/first/*.run", "cutoff": 5, "rel": 1, "group": "small"},
            "second": {"qrels": "second.txt", "runs": {"new": "runs/second/new.run", "bm25": "runs/second/bm25.run"}},
        },
    }
    path = tmp_path / "suite.json"
    path.write_text(json.dumps(content))
    suite = read_suite(path)
    assert (suite.baseline, suite.groups) == ("new", {"first": "small"})
    assert suite.collections[1].runs == {name: str(tmp_path / f"runs/second/{name}.run") for name in ("new", "bm25")}
    evaluations = iro.evaluate_suite(path)
    assert [evaluation.cutoff for evaluation in evaluations.values()] == [5, 100]
    assert {evaluation.cutoff for evaluation in iro.evaluate_suite(path, cutoff=3).values()} == {3}
    with pytest.raises(ParameterError, match="collection first: cutoff=0: must be a whole number"):
        iro.evaluate_suite(path, cutoff=0)
    refused = call("suite", path)
    assert (refused.returncode, "differ in cutoff" in refused.stderr) == (1, True)
    done = call("suite", path, "--allow", "cutoff", "--format", "csv", "-m", "nDCG@10")
    assert (done.returncode, done.stdout.split(",")[0]) == (0, "condition")
    toml = tmp_path / "suite.toml"
    toml.write_text('[collections.first]\nqrels = "first.txt"\nruns = ["runs/first/bm25.run", "runs/first/new.run"]\n')
    assert read_suite(toml).systems == ("bm25", "new")
    monkeypatch.chdir(tmp_path.parent)
    within = Path(tmp_path.name)
    assert read_suite(within / "suite.toml").collections[0].runs["new"] == str(within / "runs/first/new.run")
    toml.write_text("[collections")
    with pytest.raises(FormatError, match="is not a TOML or JSON file of a suite"):
        read_suite(toml)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ([], "not a TOML or JSON file of a suite .*Expected `object`, got `array`"),
        ({"collections": {}}, "lists no collection"),
        ({"collections": {"a": 1}}, "Expected `object`, got `int`"),
        ({"collections": {"a": {"qrels": "x", "dataset": "y", "runs": "x"}}}, "needs either qrels"),
        ({"collections": {"a": {"qrels": "x"}}}, "missing required field `runs`"),
        ({"collections": {"a": {"qrels": "x", "runs": "y", "cutof": 3}}}, "unknown field `cutof`"),
        ({"collections": {"a": {"qrels": 3, "runs": "y"}}}, "Expected `str | null`, got `int`"),
        ({"collections": {"a": {"dataset": "no/such", "runs": "y"}}}, "is not an ir_datasets id"),
        ({"collections": {"a": {"qrels": "x", "runs": ["a/b.run", "c/b.run"]}}}, "two runs have the same name"),
        ({"collections": {"a": {"qrels": "x", "runs": "y"}}, "baseline": "z"}, "no collection has a run called 'z'"),
        ({"collection": {}, "collections": {}}, "unknown field `collection`"),
        ('{"collections": {"a": {"runs": {}}, "a": {"runs": {}}}}', "an object has the same name twice"),
    ],
)
def test_invalid_files(tmp_path: Path, content: Any, message: str) -> None:
    path = tmp_path / "suite.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    with pytest.raises(FormatError, match=message):
        read_suite(path)
