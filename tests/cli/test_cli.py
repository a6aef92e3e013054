from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.samples import SUITE_COLLECTIONS, SYSTEMS, write_sample
from tests.helpers.command_line import call, call_ir_measures

RUNS = ("bm25.run", "bm25-stem.run", "bm25-flat.run")
PROGRAM = Path(sys.executable).with_name("ir-outcomes")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sample")
    write_sample(folder)
    return folder


def test_the_sample_suite_can_be_compared(tmp_path: Path) -> None:
    written = call("sample", "--suite", "suite", folder=tmp_path).stdout.splitlines()
    assert "suite/numpy/qrels.txt" in {line.replace("\\", "/") for line in written}
    done = call("suite", "suite", "--baseline", "bm25", "--cutoff", "50", "--format", "json", folder=tmp_path)
    assert done.returncode == 0
    rows = json.loads(done.stdout)["conditions"]
    assert {row["condition"] for row in rows} == set(SUITE_COLLECTIONS)


def test_the_main_job(sample: Path) -> None:
    done = call("compare", "qrels.txt", "bm25.run", "bm25-stem.run", folder=sample)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("bm25-stem (B) against bm25 (A): better on both facets\n")
    assert not any(line.endswith(" ") for line in done.stdout.splitlines())
    assert "\x1b" not in done.stdout


def test_several_runs_as_json(sample: Path, tmp_path: Path) -> None:
    runs = [f"{system}.run" for system in SYSTEMS]
    target = tmp_path / "result.json"
    done = call("compare", "qrels.txt", *runs, "--format", "json", "--output", target, "--cutoff", "90", folder=sample)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    found = Comparisons.from_json(target.read_text())
    assert [comparison.contender for comparison in found] == list(SYSTEMS[1:])
    assert found[0].cutoff == 90
    assert {comparison.verdict.label for comparison in found} >= {"better without harm", "trade-off"}


def test_settings_reach_the_comparison(sample: Path) -> None:
    options = "--rel 1 --unit document --ties msmarco --alpha 0.01 --test wilcoxon --correction none"
    more = ["--judged-only", "--margins", "1pp,0.5"]
    done = call("compare", "qrels.txt", "bm25.run", "bm25-stem.run", *options.split(), *more, "--format", "json", folder=sample)
    settings = Comparison.from_json(done.stdout).settings
    assert (settings.unit, settings.ties, settings.alpha, settings.test) == ("document", "msmarco", 0.01, "wilcoxon")
    assert (settings.correction, settings.judged_only) == ("none", True)
    assert settings.margins == (1.0, 0.5)


def test_the_judge_without_relevant_documents_is_named(sample: Path) -> None:
    judges = ("--judge", "people=qrels.txt", "--judge", "model=qrels.txt@9")
    done = call("compare-judges", "bm25.run", "bm25-stem.run", *judges, folder=sample)
    assert done.returncode == 1
    assert "judge model (qrels.txt): no query of the qrels has a relevant document" in " ".join(done.stderr.split())


def test_lists_of_queries(sample: Path) -> None:
    done = call("compare", "qrels.txt", "bm25.run", "bm25-stem.run", "--per-query", "lost", "--rows", "3", folder=sample)
    assert len(done.stdout.splitlines()) == 8  # title, headings, 3 queries, and a legend of two lines
    as_json = call(
        "compare", "qrels.txt", "bm25.run", "bm25-stem.run", "--per-query", "lost", "--format", "json", folder=sample
    )
    queries = json.loads(as_json.stdout)
    assert {query["outcome"] for query in queries} == {"lost"}
    assert all(query["contender"] is None for query in queries)


@pytest.mark.parametrize(
    "arguments",
    [
        ["nDCG@10"],
        ["nDCG@10 RR", "AP", "P@5"],
        ["RR@10", "nDCG@10", "-p", "2"],
        ["RR", "-p", "-1"],
        ["RR", "--places", "6", "-q"],
        ["Success@10", "-q", "-n"],
        ["RR", "-o", "jsonl"],
        ["AP", "-q", "-o", "jsonl"],
        ["RR@10", "-q", "--provider", "msmarco"],
    ],
)
def test_measure_prints_what_ir_measures_prints(sample: Path, arguments: list[str]) -> None:
    ours = call("measure", "qrels.txt", "bm25.run", *arguments, folder=sample)
    theirs = call_ir_measures("qrels.txt", "bm25.run", *arguments, folder=sample)
    assert theirs.returncode == ours.returncode == 0
    assert theirs.stdout
    assert ours.stdout == theirs.stdout


def test_measure_without_a_measure(sample: Path) -> None:
    done = call("measure", "qrels.txt", "bm25.run", " ", folder=sample)
    assert done.returncode == 2
    assert "There is no measure; name at least one" in done.stderr


def test_measure_with_our_measures(sample: Path) -> None:
    done = call("measure", "qrels.txt", "bm25.run", "ESL@100", "Answered@100 RR", folder=sample)
    assert done.stdout == "ESL@100\t5.1462\nAnswered@100\t0.9030\nRR\t0.6623\n"
    assert done.stderr == "ESL@100: the mean is over 903 of 1000 queries\n"
    lines = call("measure", "qrels.txt", "bm25.run", "ESL@100", "-q", "-o", "jsonl", folder=sample).stdout.splitlines()
    values = [json.loads(line, parse_constant=pytest.fail)["value"] for line in lines]
    assert len(values) == 1001
    assert values.count(None) == 97


@pytest.mark.parametrize(
    ("arguments", "status", "message"),
    [
        (["compare", "qrels.txt", "bm52.run", "bm25-stem.run"], 1, "error: bm52.run: no such file; did you mean bm25.run"),
        (["compare", "bm25.run", "qrels.txt", "bm25-stem.run"], 1, "bm25.run, line 1: has 6 columns, expected 4"),
        (["compare", "qrels.txt", "broken.run", "bm25.run"], 1, "broken.run, line 2: the score is not a number"),
        (["compare", "qrels.txt", "bm25.run", "bm25.run", "--alpha", "5"], 2, 'Invalid value "5.0" for --alpha. Must be < 1.'),
        (["compare", "qrels.txt", "bm25.run", "bm25.run", "--margins", "1"], 2, "'1': write two numbers"),
        (
            ["compare", "msmarco-documnt/dev", "bm25.run", "bm25.run"],
            1,
            "msmarco-documnt/dev: neither a file nor an ir_datasets id; did you mean msmarco-document/dev",
        ),
        (["compare", "qrels.txt", "bm25.run"], 2, "parameter RUNS requires an argument"),
        (["compare", "qrels.txt", "bm25.run", "bm25.run", "--format", "pdf"], 2, "--format"),
        (["measure", "qrels.txt", "bm25.run", "ELS@10"], 1, "unknown measure ELS; did you mean ESL?"),
        (["measure", "qrels.txt", "bm25.run", "RR", "-o", "xml"], 2, 'Invalid value "xml"'),
        (["measure", "qrels.txt", "bm25.run", "RR", "--provider", "me"], 2, "must be one of"),
        (["sample", "qrels.txt"], 1, "the sample cannot be written there"),
        (["compair"], 2, "Unknown command"),
        (["compare", "qrels.txt", *RUNS, "--correction", "tukey"], 1, "--correction tukey is for all pairs"),
        (
            ["compare", "qrels.txt", *RUNS, "--plot", "x.png", "--plot-kind", "ranks"],
            1,
            "--plot-kind 'ranks' is for one comparison",
        ),
        (["compare-measure", "qrels.txt", "RR", "best", *RUNS], 1, "no run is called 'best'"),
        (["compare-judges", "bm25.run", "--judge", "a=qrels.txt"], 1, "at least two judges"),
        (["reordering", "qrels.txt", *RUNS, "--measure", "RR"], 1, "name at least two"),
    ],
)
def test_what_goes_wrong_is_said_with_its_status(sample: Path, arguments: list[str], status: int, message: str) -> None:
    (sample / "broken.run").write_text("q1 Q0 d1 1 2.0 t\nq1 Q0 d2 2 high t\n")
    done = call(*arguments, folder=sample)
    assert done.returncode == status
    assert message in " ".join(done.stderr.replace("│", " ").split())
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_the_sample_is_written_once_and_never_over_other_files(tmp_path: Path) -> None:
    done = call("sample", tmp_path / "new" / "folder")
    assert done.returncode == 0
    assert len(done.stdout.splitlines()) == 7
    assert call("sample", tmp_path / "new" / "folder").returncode == 0
    (tmp_path / "new" / "folder" / "qrels.txt").write_text("mine")
    again = call("sample", tmp_path / "new" / "folder")
    assert again.returncode == 1
    assert "exists with other content" in again.stderr


def test_the_program_and_the_module_are_the_same(sample: Path) -> None:
    done = subprocess.run([PROGRAM, "--help"], capture_output=True, text=True, check=True)
    module = subprocess.run([sys.executable, "-m", "ir_outcomes", "--help"], capture_output=True, text=True, check=True)
    assert module.stdout == done.stdout
    assert done.stdout.startswith("Usage: ir-outcomes ")
    for command in ("compare", "measure", "sample"):
        assert command in done.stdout


def test_a_reader_that_leaves_early_is_no_error(sample: Path) -> None:
    command = f"{sys.executable} -m ir_outcomes measure {sample}/qrels.txt {sample}/bm25.run RR -q | head -1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=False)
    assert len(done.stdout.splitlines()) == 1
    assert "Traceback" not in done.stderr


def test_every_format(sample: Path, tmp_path: Path) -> None:
    runs = ["qrels.txt", "bm25.run", "bm25-flat.run", "bm25-stem.run"]
    starts = {
        "csv": "baseline,contender,",
        "latex": r"\begin{tabular}",
        "html": "<p><b>2 runs against bm25",
        "jsonl": '{"baseline": "bm25", "contender": "bm25-flat",',
        "markdown": "**2 runs against bm25 (A): ",
    }
    for form, start in starts.items():
        done = call("compare", *runs, "--format", form, folder=sample)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith(start)
    lists = call("compare", *runs[:3], "--per-query", "won", "--format", "csv", folder=sample)
    assert lists.stdout.startswith("query_id,outcome,")
    as_html = call("compare", *runs[:3], "--per-query", "won", "--rows", "2", "--format", "html", folder=sample)
    assert as_html.stdout.count("<tr>") == 3
    picture = tmp_path / "facets.png"
    assert call("compare", *runs, "--plot", picture, folder=sample).returncode == 0
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_measure_instead_of_ranks(sample: Path) -> None:
    done = call("compare-measure", "qrels.txt", "nDCG@10", "bm25.run", "bm25-stem.run", "--format", "json", folder=sample)
    assert (done.returncode, done.stderr) == (0, "")
    found = Comparison.from_json(done.stdout)
    assert (found.contender, round(found.coverage.difference or 0, 1)) == ("bm25-stem", 3.4)
    wrong = call("compare-measure", "qrels.txt", "nDCG@10", "bm25.run", "bm25-stem.run", "-k", "5", folder=sample)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "Unknown option" in wrong.stderr
