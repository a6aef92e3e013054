import json
import re
import shutil
from pathlib import Path

import pytest

import ir_outcomes as iro
from ir_outcomes.samples import write_suite
from tests.helpers.command_line import call

RUNS = ["bm25.run", "bm25-flat.run", "rrf-stem-lsa.run"]


@pytest.mark.parametrize(
    "command", ["leaderboard", "agreement --splits 4", "reordering", "tail headroom"]
)
def test_a_file_counts_once_and_a_copy_is_pointed_out(
    command: str, small: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.run"
    shutil.copy(small / "bm25.run", copy)
    runs = ("qrels.txt", "bm25.run", "rrf-stem-lsa.run", "./bm25.run")
    done = call(*command.split(), *runs, copy, "--details", folder=small)
    again = "note: ./bm25.run is given again; it counts once\n"
    assert (done.returncode, done.stderr) == (0, again)
    said = "Identical runs: bm25, copy have the same documents in the same order for every query;"
    assert said in " ".join(done.stdout.split())


def test_systems_are_named_by_a_rule_or_in_a_file(small: Path, tmp_path: Path) -> None:
    for name, run in (("bm25", "bm25"), ("new_1", "bm25-stem"), ("new_2", "bm25-flat")):
        shutil.copy(small / f"{run}.run", tmp_path / f"{name}.run")
    (tmp_path / "systems.tsv").write_text("new_1\tnew\nnew_2\tnew\n")
    runs = (small / "qrels.txt", "bm25.run", "new_1.run", "new_2.run", "--format", "json")
    by_rule, of_file = (
        json.loads(call("compare", *runs, "--replicates", rule, folder=tmp_path).stdout)
        for rule in ("by:_", "systems.tsv")
    )
    assert by_rule == of_file
    assert (by_rule["contender"], "new_2" in str(by_rule["runs"])) == ("new", True)


def test_a_saved_evaluation_stands_for_qrels_and_runs(small: Path, tmp_path: Path) -> None:
    board = tmp_path / "board.npz"
    saved = call("evaluate", "qrels.txt", *RUNS, "-m", "nDCG@10", "-o", board, folder=small)
    assert saved == (0, "", "")
    asked = ("-m", "nDCG@10", "--format", "csv")
    expected = call("leaderboard", "qrels.txt", *RUNS, *asked, folder=small)
    assert call("leaderboard", board, *asked, folder=small) == expected
    assert "nDCG@10" in expected.stdout
    for runs in ((), ("bm25-flat", "rrf-stem-lsa")):
        done = call("compare", board, "bm25", *runs, "--format", "json", folder=small)
        items = json.loads(done.stdout)["items"]
        assert [item["contender"] for item in items] == ["bm25-flat", "rrf-stem-lsa"]
    done = call("compare", board, "bm25", "bm25-flat", "--cutoff", "50", "--format", "json")
    assert json.loads(done.stdout)["settings"]["cutoff"] == 50
    assert call("compare", board, "bm25", "--rel", "2").returncode == 2
    assert call("compare", small / "qrels.txt", board, small / RUNS[0]).returncode == 1


@pytest.mark.parametrize(
    ("command", "counted"),
    [
        ("rank-distribution --resamples 50", "50/50 .*resample"),
        ("leaderboard", "3/3 .*run"),
    ],
)
def test_a_bar_covers_what_takes_long(
    command: str, counted: str, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ir_outcomes.cli.build.progress_is_shown", lambda: True)
    name, *options = command.split()
    assert re.search(counted, call(name, "qrels.txt", *RUNS, *options, folder=small).stderr)


def test_quiet_leaves_notes_out(tmp_path: Path) -> None:
    words = ("sota-history", tmp_path / "t.csv", "--output", tmp_path / "result.txt")
    (tmp_path / "t.csv").write_text("id,date,score\na,2021-01-01,0.5\n")
    assert call(*words).stderr == ""
    assert "overwritten" in call(*words).stderr
    assert call(*words, "--quiet") == (0, "", "")


def test_a_board_over_a_suite(tmp_path: Path) -> None:
    write_suite(tmp_path / "suite")
    words = "leaderboard --suite suite -m nDCG@10 -m coverage -k 20 --format json"
    done = call(*words.split(), folder=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    evaluations = iro.evaluate(tmp_path / "suite", cutoff=20, measures=["nDCG@10"])
    board = iro.leaderboard(evaluations, measures=["nDCG@10", "coverage"])
    assert iro.Leaderboard.from_json(done.stdout) == board


def test_a_gate_of_values_decides_in_each_collection_and_inputs_stay(tmp_path: Path) -> None:
    for collection, loss in (("c1", 0.0), ("c2", 0.4)):
        (tmp_path / "values" / collection).mkdir(parents=True)
        for run, of_run in (("old", 0.0), ("new", loss)):
            rows = [f"{collection}-{n},{0.5 + n % 7 / 14 - of_run}\n" for n in range(80)]
            file = tmp_path / "values" / collection / f"{run}.csv"
            file.write_text("".join(["query_id,nDCG@10\n", *rows]))
    before = file.read_bytes()
    gate = [
        "gate",
        "--suite",
        "values",
        "--baseline",
        "old",
        "--margins",
        "0.2",
        "--outputs",
        "-m",
        "nDCG@10",
    ]
    done = call(*gate, "--format", "json", folder=tmp_path)
    decisions = iro.GateResult.from_json(done.stdout).decisions
    assert [(item.condition, item.status) for item in decisions] == [("c1", "pass"), ("c2", "fail")]
    board = ["leaderboard", "--suite", "values", "--outputs", "-m", "nDCG@10"]
    collections = [
        "compare-collections",
        "values",
        "--outputs",
        "-m",
        "nDCG@10",
        "--baseline",
        "old",
    ]
    for command in (gate, board, collections):
        assert call(*command, "-o", "values/c2/new.csv", folder=tmp_path).returncode == 2
    assert file.read_bytes() == before


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        ("", 2, "--suite"),
        ("qrels.txt bm25.run --suite suite", 2, "--suite"),
        ("--suite nothing", 1, "nothing"),
        ("--suite . --outputs -m RR", 1, "COLLECTION/SYSTEM"),
        ("--suite values --outputs -m RR", 1, "in c2"),
        ("--suite . --where a=b", 2, "--outputs"),
    ],
)
def test_suites_of_boards_that_cannot_be_read(
    words: str, status: int, said: str, tmp_path: Path
) -> None:
    (tmp_path / "values" / "c1").mkdir(parents=True)
    (tmp_path / "values" / "c1" / "a.csv").write_text("query_id,RR\nq1,1\n")
    (tmp_path / "values" / "c2").symlink_to("nothing")
    done = call("leaderboard", *words.split(), folder=tmp_path)
    assert (done.returncode, said in done.stderr) == (status, True), done.stderr
