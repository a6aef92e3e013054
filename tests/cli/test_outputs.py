"""Files that the command line writes: never an input, completely or not at all."""

from __future__ import annotations

import resource
import shutil
from pathlib import Path

import pytest

from tests.helpers.command_line import call
from tests.helpers.sample import write_small_sample


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_small_sample(tmp_path, 60)
    for name in ("qrels.txt", "bm25.run", "bm25-stem.run"):
        (tmp_path / "suite" / "one").mkdir(parents=True, exist_ok=True)
        shutil.copy(tmp_path / name, tmp_path / "suite" / "one" / name)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("compare qrels.txt bm25.run bm25-stem.run --output bm25-stem.run", "bm25-stem.run"),
        ("compare qrels.txt bm25.run bm25-stem.run --output ./qrels.txt", "qrels.txt"),
        ("compare qrels.txt bm25.run bm25-stem.run --queries queries.tsv --output queries.tsv", "queries.tsv"),
        ("compare qrels.txt bm25.run bm25-stem.run picture.svg --plot picture.svg", "picture.svg"),
        ("leaderboard qrels.txt . --output bm25.run", "bm25.run"),
        ("leaderboard qrels.txt *.run --output bm25.run", "bm25.run"),
        ("compare-judges bm25.run bm25-stem.run --judge a=qrels.txt@1 --judge b=qrels.txt --output qrels.txt", "qrels.txt"),
        ("suite suite --output suite/one/bm25.run", "suite/one/bm25.run"),
        ("gate --suite suite --baseline bm25 --margins 1pp,1 --report suite/one/bm25.run", "suite/one/bm25.run"),
        ("report qrels.txt bm25.run bm25-stem.run -o bm25.run", "bm25.run"),
    ],
)
def test_an_input_is_never_overwritten(words: str, target: str, folder: Path) -> None:
    if target == "picture.svg":
        shutil.copy(folder / "bm25.run", folder / target)
    before = (folder / target).read_bytes()
    done = call(*words.split(), folder=folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert "is an input of this command and would be overwritten" in done.stderr
    assert (folder / target).read_bytes() == before


@pytest.mark.parametrize(
    ("words", "target"),
    [
        ("compare qrels.txt bm25.run bm25-stem.run --output result", "result"),
        ("compare qrels.txt bm25.run bm25-stem.run --plot result.svg", "result.svg"),
        ("report qrels.txt bm25.run bm25-stem.run --output result", "result"),
    ],
)
def test_what_cannot_be_written_completely_leaves_the_file_as_it_was(words: str, target: str, folder: Path) -> None:
    (folder / target).write_text("good")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    files = set(folder.iterdir())
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, before[1]))  # as on a disk that is nearly full
    try:
        done = call(*words.split(), folder=folder)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert done.returncode == 1
    assert "cannot be written" in done.stderr
    assert (folder / target).read_text() == "good"
    assert set(folder.iterdir()) == files
