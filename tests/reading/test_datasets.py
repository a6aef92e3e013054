import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import ir_datasets
import pytest
from ir_datasets.formats import TrecQrels
from ir_datasets.util import Cache, Download
from ir_datasets.util.download import LocalDownload

import ir_outcomes as iro
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.errors import DatasetUnavailable, ParameterError
from ir_outcomes.reading import datasets
from ir_outcomes.reading.datasets import known_tasks
from tests.helpers.command_line import Done
from tests.helpers.comparisons import compare_pair
from tests.helpers.datasets import register

# Cutoff, rel, unit, baseline, as the issue of the papers and tracks has them; one line for each
# family of ids.
FAMILIES = {
    "msmarco-document/dev": (100, 1, "query", True),
    "msmarco-document/trec-dl-2019": (100, 1, "document", True),
    "msmarco-document/trec-dl-hard": (100, 2, "document", False),
    "msmarco-document-v2/dev1": (100, 1, "query", True),
    "msmarco-document-v2/trec-dl-2023/judged": (100, 1, "document", True),
    "msmarco-passage/dev/small": (10, 1, "query", False),
    "msmarco-passage/trec-dl-2019": (1000, 2, "document", False),
    "msmarco-passage/trec-dl-hard": (1000, 2, "document", False),
    "msmarco-passage-v2/dev2": (10, 1, "query", True),
    "msmarco-passage-v2/trec-dl-2022": (100, 2, "document", True),
}


def test_every_known_id_has_settings_and_counts_without_any_download() -> None:
    names = known_tasks()
    assert len(names) == 50
    assert set(FAMILIES) <= set(names)
    for name in names:
        task = iro.load(name)
        assert all((task.official_measure, task.n_queries, task.n_judgments, task.has("qrels")))
        assert (task.unit == "document") == ("trec-dl" in name)
        if name in FAMILIES:
            assert (task.cutoff, task.rel, task.unit, task.baseline is not None) == FAMILIES[name]
    assert iro.load("irds:msmarco-passage/dev/small").dataset_id == "msmarco-passage/dev/small"


def test_other_ids_get_defaults_and_a_note() -> None:
    task = iro.load("vaswani")
    assert (task.cutoff, task.rel, task.unit, task.baseline) == (100, 1, "auto", None)
    assert "vaswani is not known here: cutoff 100 is a guess, rel 1 is a guess" in task.notes[0]
    assert not task.has("scoreddocs")


RUN = {"q": {"d": 1.0}}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    return register(tmp_path_factory.mktemp("tiny"))


@pytest.mark.parametrize(
    ("read", "message"),
    [
        (lambda: iro.compare("msmarco-documnt/dev", RUN, RUN), "did you mean msmarco-document/dev"),
        (
            lambda: iro.as_qrels("msmarco-document/eval"),
            r"has no qrels; these do: .*msmarco-document/dev",
        ),
        (
            lambda: iro.load("msmarco-passage/dev/small").baseline_run(),
            "candidates to rerank, not a run",
        ),
        (lambda: iro.as_run("irds:vaswani"), "has no ranking of its own"),
        (
            lambda: iro.as_run("irds:ir-outcomes-test/unordered"),
            r"ranking is 0\.0, so it has no order",
        ),
        (
            lambda: iro.as_run("irds:ir-outcomes-test/broken"),
            r"cannot be fetched or read .*or give a file instead of the id",
        ),
    ],
)
@pytest.mark.usefixtures("tiny")
def test_what_is_not_there_is_refused_with_what_is(read: Callable[[], Any], message: str) -> None:
    with pytest.raises(DatasetUnavailable, match=message):
        read()


def test_a_local_dataset_end_to_end(tiny: str) -> None:
    task = iro.load(tiny)
    assert task.queries == {"q1": "first query", "q2": "second query"}
    better = {"q1": {"a": 2.0}, "q2": {"b": 1.0}}
    found = compare_pair(tiny, "irds:", better, names=["official", "B"])
    assert found.settings.cutoff == 100
    assert [query.difference for query in found.per_query()] == [-1.0, 0.0]
    assert iro.compare(task, f"irds:{tiny}", better, names=["official", "B"]) == found
    texts = compare_pair(task, "irds:", better, queries=task.queries)
    assert [query.text for query in texts.per_query()] == ["first query", "second query"]
    with pytest.raises(ParameterError, match="is the ranking that comes with a task"):
        iro.compare({"q1": {"a": 1}}, "irds:", better)


def test_what_cannot_be_fetched_is_explained(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise ConnectionError("no network")

    dataset = SimpleNamespace(has_qrels=lambda: True, qrels_iter=refuse)
    with monkeypatch.context() as patch:
        patch.setattr(datasets, "dataset_of", lambda name: dataset)
        problem = r"big: its qrels cannot be fetched or read \(no network\); .* give a file"
        with pytest.raises(DatasetUnavailable, match=problem):
            datasets.load_part("big", "qrels")
    monkeypatch.setattr(ir_datasets, "load", refuse)  # an id that is made on demand
    for read in (iro.as_qrels, iro.load):
        with pytest.raises(
            DatasetUnavailable,
            match=r"clirmatrix/x: cannot be opened \(no network\); .*, or give files",
        ):
            read("clirmatrix/x")


def test_a_file_that_cannot_be_fetched_is_read_where_the_error_says_that_it_belongs(
    tmp_path: Path,
) -> None:
    absent = LocalDownload(tmp_path / "on another machine")
    for name, source in {
        "downloaded": Download([absent], tmp_path / "downloaded" / "qrels"),
        "extracted": Cache(Download([absent]), tmp_path / "extracted" / "qrels"),
    }.items():
        dataset = ir_datasets.Dataset(TrecQrels(source, {1: "relevant"}))
        ir_datasets.registry.register(f"ir-outcomes-test/{name}", dataset)
        with pytest.raises(DatasetUnavailable) as refused:
            iro.as_qrels(f"ir-outcomes-test/{name}")
        (file,) = re.findall(r"put its file at (\S+),", str(refused.value))
        Path(file).write_text("q 0 d 1\n")
        assert iro.as_qrels(f"ir-outcomes-test/{name}").to_dict() == {"q": {"d": 1}}


def test_texts_are_those_of_queries_that_are_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In the folder of the collection, or of one that it belongs to; nothing is fetched."""
    monkeypatch.setenv("IR_DATASETS_HOME", str(tmp_path))
    texts = {"q": "a text"}
    monkeypatch.setattr(iro.Task, "qrels", iro.as_qrels({"q": {"d": 1}}))
    monkeypatch.setattr(iro.Task, "queries", texts)
    name = "msmarco-document/trec-dl-2019/judged"
    assert datasets.open_collection(name).texts == {}
    file = tmp_path / "msmarco-document" / "trec-dl-2019" / "queries.tsv.gz"
    file.parent.mkdir(parents=True)
    file.touch()
    assert datasets.open_collection(name).texts == texts


def test_the_reason_of_a_failed_download_is_that_of_each_mirror() -> None:
    causes = [("https://one", OSError("timed out")), ("https://two", OSError("not found"))]
    failed = RuntimeError("all mirrors failed", causes)
    assert datasets.reason_of(failed) == "timed out; not found"
    assert datasets.reason_of(RuntimeError("damaged")) == "damaged"
    assert datasets.reason_of(EOFError()) == "EOFError"


@pytest.mark.usefixtures("tiny")
def test_one_candidate_for_each_query_needs_no_scores() -> None:
    run = iro.as_run("irds:ir-outcomes-test/single")
    assert run.to_dict() == {"q1": {"x": 0.0}, "q2": {"a": 0.0}}


@pytest.mark.realdata
def test_the_official_files_from_the_command_line(real_data: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    shutil.copytree(real_data / "ir_datasets_home", home, copy_function=shutil.copyfile)
    for folder, _, _ in os.walk(home):
        os.chmod(folder, 0o755)
    environment = os.environ | {
        "IR_DATASETS_HOME": str(home),
        "COLUMNS": "100",
        "IR_DATASETS_DL_TRIES": "1",
    }

    def call(*commands: tuple[str | Path, ...]) -> list[Done]:
        # ir_datasets reads its home when it is imported, so these commands run in a process of
        # their own.
        code = "import json, sys; from tests.helpers.command_line import call\n"
        code += "json.dump([call(*arguments) for arguments in json.load(sys.stdin)], sys.stdout)"
        command, asked, root = (
            [sys.executable, "-c", code],
            json.dumps(commands, default=str),
            Path(__file__).parents[2],
        )
        answers = subprocess.check_output(
            command, input=asked, text=True, env=environment, cwd=root
        )
        return [Done(*answer) for answer in json.loads(answers)]

    msmarco = real_data / "msmarco-doc-dev"
    pair = (
        "compare",
        "msmarco-document/dev",
        msmarco / "bm25.run.gz",
        msmarco / "wordnet_all.run.gz",
        "--format",
        "json",
    )
    by_id, listed, shown = call(pair, ("datasets",), ("datasets", "msmarco-passage/trec-dl-2019"))
    by_file = compare_pair(
        msmarco / "qrels.txt", msmarco / "bm25.run.gz", msmarco / "wordnet_all.run.gz", cutoff=100
    )
    found = Comparison.from_json(by_id.stdout)
    assert (found.outcomes, found.verdict, found.cutoff) == (by_file.outcomes, by_file.verdict, 100)
    for name in ("msmarco-document/dev ", "msmarco-passage/trec-dl-2020/judged "):
        assert any(line.startswith(name) for line in listed.stdout.splitlines())
    assert re.search(r"^msmarco-passage/trec-dl-2019 .* 1000 +2 +document", shown.stdout, re.M)
    qrels = home / "msmarco-document" / "dev" / "qrels.gz"
    qrels.chmod(0o644)
    qrels.write_bytes(qrels.read_bytes()[:20_000])
    (half,) = call(pair)
    assert half.returncode == 1
    assert "its qrels cannot be fetched or read" in half.stderr
