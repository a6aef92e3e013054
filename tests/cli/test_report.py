from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from ir_outcomes.samples import write_sample
from tests.helpers.command_line import call


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder)
    return folder


def test_report_of_two_runs(sample: Path, tmp_path: Path) -> None:
    docs = tmp_path / "docs.jsonl"
    docs.write_text(json.dumps({"doc_id": "termit", "title": "A terminal"}) + "\n")
    slices = tmp_path / "slices.tsv"
    slices.write_text("100000\tfirst\n")
    output = tmp_path / "page.html"
    runs = ["bm25.run", "bm25-stem.run"]
    options: list[str | Path] = ["--queries", "queries.tsv", "--docs", docs, "--slices", slices, "--max-mb", "1", "-o", output]
    done = call("report", "qrels.txt", *runs, *options, folder=sample)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    html = output.read_text()
    assert re.search("<title>[^<]*bm25-stem against bm25[^<]*</title>", html)
    assert "ir-outcomes report qrels.txt bm25.run bm25-stem.run --queries queries.tsv --docs" in html
    assert "better on both facets" in html
    hashed = re.findall(r"<td>([^<]*)</td><td>([^<]*)</td><td><code>", html)
    files = [*runs, "qrels.txt", "queries.tsv", "docs.jsonl", "slices.tsv"]
    assert {file for _, file in hashed} >= set(files)


def test_default_name_and_several_runs(sample: Path, tmp_path: Path) -> None:
    paths = [sample / name for name in ("qrels.txt", "bm25.run", "bm25-flat.run", "bm25-stem.run")]
    assert call("report", *paths, folder=tmp_path).returncode == 0
    again = call("report", *paths, folder=tmp_path)
    assert (again.returncode, again.stderr) == (0, "note: report.html exists and is overwritten\n")
    assert (tmp_path / "report.html").read_text().count('<details class="comparison"') == 2


@pytest.mark.parametrize(
    ("options", "status", "message"),
    [
        (["-o", "missing/page.html"], 2, "there is no directory missing"),
        (["--max-mb", "0"], 2, "Must be > 0"),
        (["--docs", "queries.tsv"], 1, "queries.tsv, line 1: is not a document"),
        (["--docs", "missing.jsonl"], 1, "missing.jsonl: no such file"),
    ],
)
def test_invalid_options(sample: Path, options: list[str], status: int, message: str) -> None:
    done = call("report", "qrels.txt", "bm25.run", "bm25-stem.run", *options, folder=sample)
    assert done.returncode == status
    assert message in done.stderr
    assert not (sample / "report.html").exists()
