"""Files that the command line writes: pages, and never an input, completely or not at all."""

import re
import resource
import shutil
import sys
from pathlib import Path

import pytest

from tests.helpers.command_line import call
from tests.helpers.sample import write_small_sample

PAIR = ("qrels.txt", "bm25.run", "bm25-stem.run")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_small_sample(tmp_path, 20)
    (tmp_path / "suite" / "one").mkdir(parents=True)
    for name in PAIR:
        shutil.copy(tmp_path / name, tmp_path / "suite" / "one" / name)
    return tmp_path


def test_default_name_and_several_runs(folder: Path) -> None:
    (folder / "report.html").touch()
    done = call("report", *PAIR, "bm25-flat.run", folder=folder)
    assert (done.returncode, done.stderr) == (
        0,
        "note: report.html exists and is overwritten\n"
        "note: the page is report.html; open it in a browser, or choose its name with --output\n",
    )
    page = (folder / "report.html").read_text()
    assert all(name in page for name in ("ir-outcomes report ", *PAIR, "bm25-flat"))


@pytest.mark.parametrize(
    "command", ["compare", "compare-slices --by length", "leaderboard", "compare-collections"]
)
def test_pages_beside_the_result_have_texts(command: str, folder: Path) -> None:
    files = ("suite",) if command == "compare-collections" else PAIR
    documents = {line.split()[2] for line in (folder / "bm25.run").read_text().splitlines()}
    texts = (f'{{"doc_id": "{name}", "text": "its text"}}\n' for name in documents)
    (folder / "docs.jsonl").write_text("".join(texts))
    words = f"{command} {' '.join(files)} --queries queries.tsv --report page.html"
    done = call(*words.split(), "--docs", "docs.jsonl", "--max-mb", "3", folder=folder)
    assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr
    query = (folder / "queries.tsv").read_text().splitlines()[0].split("\t")[1]
    html = (folder / "page.html").read_text()
    assert (query in html, "its text" in html) == (True, True)


@pytest.mark.parametrize(
    "words",
    [
        "compare PAIR --format text --output bm25-stem.run",
        "compare PAIR --queries=queries.tsv --format text --output=./queries.tsv",
        "compare PAIR --report r.html --docs ./docs.jsonl --output docs.jsonl",
        "leaderboard qrels.txt . --format text --output bm25.run",
        "leaderboard qrels.txt *.run#trec --format text --output bm25.run",
        "compare-judges bm25.run bm25-stem.run --judge a=qrels.txt@1 --judge b=qrels.txt --format text --output qrels.txt",
        "compare-collections suite --format text --output suite/one/bm25.run",
        "gate --suite suite --baseline bm25 --margins 1pp,1 --report suite/one/bm25.run",
    ],
)  # fmt: skip
def test_an_input_is_never_overwritten(words: str, folder: Path) -> None:
    (folder / "docs.jsonl").write_text('{"id": "d1", "text": "one"}\n')
    target = folder / re.split("[ =]", words)[-1]
    before = target.read_bytes()
    done = call(*words.replace("PAIR", " ".join(PAIR)).split(), folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is an input or another output of this command and would be overwritten" in done.stderr
    assert target.read_bytes() == before


@pytest.mark.parametrize(
    "targets", ["--output x.html --report ./x.html", "--output x.svg --plot x.svg"]
)
def test_no_output_overwrites_another(targets: str, folder: Path) -> None:
    before = {*folder.iterdir()}
    done = call("compare", *PAIR, *targets.split(), folder=folder)
    assert (done.returncode, done.stdout, {*folder.iterdir()}) == (2, "", before)


@pytest.mark.parametrize(
    ("command", "option", "allowed", "refused"),
    [
        ("compare", "--report", ["x.html"], ["x.py", "x.txt", "x", "x.run"]),
        ("report", "-o", ["x.html"], ["x.json", "x"]),
        ("compare", "--plot", ["x.png", "x.svg", "x.pdf"], ["x.html", "x.py", "x"]),
        ("compare", "-o", ["x.json", "x.md", "x.txt"], ["x.py", "README", "x.run", "x.npz"]),
        ("compare --format json", "-o", ["x.json", "x.txt"], ["x.py", "README", "x.run"]),
        ("evaluate", "-o", ["x.npz"], ["x.json", "x", "x.run"]),
        ("gate --margins 2pp,1", "--summary", ["x.md", "x"], ["x.py", "x.html", "x.run"]),
    ],
)
def test_a_file_is_replaced_only_if_its_ending_is_of_what_is_written(
    command: str, option: str, allowed: list[str], refused: list[str], folder: Path
) -> None:
    for target in refused:
        (folder / target).write_text("mine")
        done = call(*command.split(), *PAIR, option, target, folder=folder)
        assert (done.returncode, done.stdout) == (2, ""), target
        assert f"{target} has another ending" in done.stderr
        assert (folder / target).read_text() == "mine"
    for target in allowed:
        (folder / target).write_text("old")
        done = call(*command.split(), *PAIR, option, target, folder=folder)
        assert done.returncode in (0, 3, 4), done.stderr
        assert (folder / target).stat().st_size > 3
        if option != "--summary":  # which is appended to
            assert f"note: {target} exists and is overwritten" in done.stderr


@pytest.mark.parametrize("option", ["-o", "--summary"])
@pytest.mark.parametrize("content", ["bm25.run", "qrels.txt"])
def test_runs_and_qrels_are_never_overwritten_under_any_name(
    option: str, content: str, folder: Path
) -> None:
    """Although they are no inputs of the command."""
    target = folder / ("other.txt" if option == "-o" else "other")
    before = (folder / content).read_bytes()
    target.write_bytes(before)
    done = call("gate", *PAIR, "--margins", "2pp,1", option, target.name, folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert target.read_bytes() == before


@pytest.mark.parametrize("ending", ["json", "jsonl", "csv", "md", "tex", "html", "txt"])
def test_results_are_not_taken_for_runs_or_qrels(ending: str, folder: Path) -> None:
    for shown in ((), ("--per-query", "won"), ()):
        words = ("compare", *PAIR, *shown, "-m", "nDCG@10", "-o", f"x.{ending}")
        assert call(*words, folder=folder).returncode == 0


def test_a_name_is_no_option(folder: Path) -> None:
    words = ("compare", *PAIR, "--names=--quiet", "--names=b", "--report", "page.html")
    (folder / "page.html").touch()
    assert call(*words, folder=folder).stderr == "note: page.html exists and is overwritten\n"


@pytest.mark.parametrize(
    "words",
    ["compare --output result.txt", "compare --plot result.svg", "report --output result.html"],
)
def test_what_cannot_be_written_completely_leaves_the_file_as_it_was(
    words: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Otherwise modules that are imported under the limit leave broken files for the next test.
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    command, *options = words.split()
    target = folder / options[-1]
    target.write_text("good")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    files = set(folder.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))  # as on a disk that is nearly full
    try:
        done = call(command, *PAIR, *options, folder=folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert (done.returncode, "cannot be written" in done.stderr) == (1, True)
    assert target.read_text() == "good"
    assert set(folder.iterdir()) == files
