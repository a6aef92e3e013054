from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.sample import write_small_sample

N_QUERIES = 150
Command = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    write_small_sample(folder, N_QUERIES)
    return folder


@pytest.fixture
def command(
    sample: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    from ir_outcomes.cli import main

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.chdir(sample)
        monkeypatch.setattr(sys, "argv", ["ir-outcomes", *words])
        status = 0
        try:
            main()
        except SystemExit as end:
            status = int(end.code or 0)
        return status, *capsys.readouterr()

    return run


RUNS = ["bm25.run", "bm25-flat.run", "rrf-stem-lsa.run"]
COMMANDS: dict[str, list[str]] = {
    "leaderboard": ["leaderboard", "qrels.txt", *RUNS],
    "stability": ["stability", "qrels.txt", *RUNS, "--resamples", "50", "-m", "RR", "-m", "nDCG@10"],
    "agreement": ["agreement", "qrels.txt", *RUNS, "--splits", "4", "--measure", "RR"],
    "reordering": ["reordering", "qrels.txt", *RUNS],
    "tail": ["tail", "qrels.txt", *RUNS],
    "changes": ["tail", "qrels.txt", *RUNS[:2], "--show", "changes"],
    "rrie": ["tail", "qrels.txt", *RUNS[:2], "--show", "rrie"],
    "headroom": ["tail", "qrels.txt", *RUNS, "--show", "headroom"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_in_every_format(name: str, command: Any, tmp_path: Path) -> None:
    marks = {"text": "\n", "json": "{", "jsonl": "{", "csv": ",", "latex": r"\toprule", "html": "<table", "markdown": "**"}
    for form in marks if name == "leaderboard" else ("text", "json", "csv"):
        status, out, err = command(*COMMANDS[name], "--format", form, "--output", str(tmp_path / form))
        assert (status, out, err) == (0, "", "")
        assert marks[form] in (tmp_path / form).read_text()
    json.loads((tmp_path / "json").read_text())
    if name == "rrie":  # which has no figure
        return
    picture = tmp_path / "picture.png"
    status, out, _ = command(*COMMANDS[name], "--plot", str(picture))
    assert status == 0
    assert out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_history_from_a_table(command: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,date,score\na,2021-01-01,0.5\nb,2021-01-02,0.6\nc,2021-02-02,0.7\n")
    status, out, _ = command("history", str(tmp_path / "t.csv"), "--until", "2021-01-31")
    assert status == 0
    assert out.startswith("2 runs took first place by score")
    status, _, err = command("history", str(tmp_path / "t.csv"), "--score", "MRR")
    assert (status, "has no column 'MRR'" in err) == (1, True)


def test_conditions_on_the_command_line(command: Any, tmp_path: Path) -> None:
    few = tmp_path / "few.txt"
    command("stability", "qrels.txt", *RUNS, "--resamples", "5")  # changes into the sample's folder
    ids = [line.split()[0] for line in Path("qrels.txt").read_text().splitlines()[:50]]
    few.write_text("\n".join(ids))
    status, out, _ = command(
        "stability", "qrels.txt", *RUNS, "--resamples", "20", "--subset", f"few={few}", "--labels", "same=qrels.txt",
        "--plot", str(tmp_path / "p.svg"), "--format", "json",
    )  # fmt: skip
    assert status == 0
    assert [(found["condition"], found["n_queries"]) for found in json.loads(out)] == [
        ("", N_QUERIES), ("few", 50), ("same", N_QUERIES), ("same, few", 50),
    ]  # fmt: skip
    assert (tmp_path / "p.svg").exists()


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["leaderboard", "qrels.txt", "bm52.run", "bm25.run"], 1, "bm52.run: no such file; did you mean"),
        (["leaderboard", "qrels.txt", "bm25.run"], 1, "there is only one run"),
        (["leaderboard", "qrels.txt", *RUNS, "--measure", "nope"], 1, "nope"),
        (["leaderboard", "qrels.txt", *RUNS, "--unit", "page"], 2, 'Invalid value "page" for --unit'),
        (["stability", "qrels.txt", *RUNS, "--subset", "few"], 2, "write NAME=FILE"),
        (["agreement", "qrels.txt", *RUNS, "--splits", "0"], 2, "--splits"),
        (["tail", "qrels.txt", *RUNS, "--show", "changes"], 2, "is for two runs"),
        (["tail", "qrels.txt", *RUNS, "--show", "pie"], 2, "pie"),
        (
            ["leaderboard", "qrels.txt", *RUNS, "--plot", "x.png", "--plot-kind", "history"],
            1,
            "--plot-kind 'history' needs dates",
        ),
    ],
)
def test_wrong_input(words: list[str], status: int, message: str, command: Any) -> None:
    found, out, err = command(*words)
    assert (found, out) == (status, "")
    assert message in err
    assert "Traceback" not in err


def test_a_saved_evaluation_stands_for_the_runs(command: Any, tmp_path: Path) -> None:
    words, board = ["leaderboard", "qrels.txt", *RUNS], str(tmp_path / "board.npz")
    expected = command(*words)
    assert command("evaluate", "qrels.txt", *RUNS, "--jobs", "2", "--output", board) == (0, "", "")
    assert command("leaderboard", "qrels.txt", board) == expected
    names = [Path(run).stem for run in RUNS]
    status, out, err = command(
        "compare", "qrels.txt", names[0], board, "--format", "json"
    )  # a baseline by its name in the file
    assert (status, err) == (0, "")
    assert {item["baseline"] for item in json.loads(out)["items"]} == {names[0]}


def test_a_table_of_runs_by_queries_as_the_only_source(command: Any, tmp_path: Path) -> None:
    table = tmp_path / "scores.csv"
    rows = [f"run{run}," + ",".join(str((run + query) % 7 / 8) for query in range(30)) for run in range(4)]
    table.write_text("\n".join([",".join(["", *map(str, range(401, 431))]), *rows]) + "\n")
    for words in (["leaderboard"], ["stability", "--resamples", "20"], ["agreement", "--splits", "2"]):
        status, out, err = command(words[0], str(table), "--from-outputs", "--measure", "AP", *words[1:], "--format", "json")
        assert (status, err) == (0, "")
        assert "AP" in out
    status, out, err = command("leaderboard", str(table), "--from-outputs")
    assert (status, out) == (1, "")
    assert err == f"error: {table} has values without the name of their measure; name it with measure= (--measure)\n"


@pytest.mark.parametrize(
    ("words", "counted"),
    [
        (["leaderboard", "qrels.txt", *RUNS], "3/3 .*pair"),
        (["stability", "qrels.txt", *RUNS, "--resamples", "50"], "50/50 .*resample"),
        (["agreement", "qrels.txt", *RUNS, "--splits", "2"], "3/3 .*pair"),
        (["holes", "qrels.txt", *RUNS, "--cutoff", "10"], "2/2 .*pair"),
        (["compare", "qrels.txt", *RUNS], "2/2 .*pair"),
        (["compare-measure", "qrels.txt", "nDCG@10", *RUNS], "2/2 .*pair"),
        (["gate", "qrels.txt", *RUNS, "--margins", "50,50"], "2/2 .*pair"),
        (["report", "qrels.txt", *RUNS, "--output", "/dev/null"], "2/2 .*pair"),
    ],
    ids=lambda value: value[0] if isinstance(value, list) else "",
)
def test_a_bar_covers_what_takes_long(words: list[str], counted: str, command: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert command(*words)[2] == ""  # not a terminal
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert re.search(counted, command(*words)[2])
    assert command(*words, "--quiet")[2] == ""


def test_every_command_that_works_can_be_quiet(command: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    entries = tmp_path / "entries.csv"
    entries.write_text("id,date,score\na,2021-01-01,0.5\nb,2021-01-02,0.6\n")
    for name in ("a", "b"):
        (tmp_path / name).write_text(command("measure", "qrels.txt", RUNS[0], "RR", "-q")[1])
    verdict = ["verdict", "--n", "100", "--won", "9", "--lost", "2", "--difference", "-1", "--pvalue", "0.01"]
    for words in (
        ["compare-outputs", str(tmp_path / "a"), str(tmp_path / "b"), str(tmp_path / "b")],
        ["history", str(entries)],
        verdict,
    ):
        target = tmp_path / "result.txt"
        command(*words, "--output", str(target))
        assert "overwritten" in command(*words, "--output", str(target))[2]
        status, out, err = command(*words, "--output", str(target), "--quiet")
        assert (status, out, err) == (0, "", "")


def test_the_metadata_of_runs_is_in_json(command: Any, sample: Path, tmp_path: Path) -> None:
    header = "# ir_metadata.start\n# tag: flät\n# method:\n#   k1: 0.9\n# ir_metadata.end\n"
    for run in ("bm25.run", "bm25-flat.run"):
        text = (sample / run).read_text()
        (tmp_path / run).write_text(text if run == "bm25.run" else header + text)
    runs = [str(tmp_path / run) for run in ("bm25.run", "bm25-flat.run")]
    expected = {"bm25-flat": "tag: flät\nmethod:\n  k1: 0.9"}
    for more in ([], ["--jobs", "2"]):
        for name in ("compare", "leaderboard"):
            status, out, err = command(name, "qrels.txt", *runs, "--format", "json", *more)
            assert (status, err) == (0, "")
            assert json.loads(out)["run_metadata"] == expected
    one = json.loads(command("measure", "qrels.txt", runs[1], "RR", "ESL@2", "--format", "json")[1])
    assert (one["run"], one["metadata"], sorted(one["measures"])) == ("bm25-flat", expected["bm25-flat"], ["ESL@2", "RR"])
    assert set(one) == {"run", "metadata", "measures"}
    by_query = json.loads(command("measure", "qrels.txt", runs[0], "RR", "--format", "json", "-q", "--quiet")[1])
    assert (by_query["metadata"], len(by_query["queries"])) == ("", N_QUERIES)
