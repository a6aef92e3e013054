from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
import xml.dom.minidom
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from matplotlib.figure import Figure

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from ir_outcomes.results import Result
from ir_outcomes.samples import write_sample
from ir_outcomes.showing.pictures import PICTURES, conditions_plot
from tests.helpers.many import collection

Command = Callable[..., tuple[int, str, str]]
NASTY = ["<b>&_%", "a" * 60, "$x^2$ \\ {y}", "плохо"]


@pytest.fixture(scope="module")
def results() -> list[Result]:
    qrels, runs = collection(4, 30, relevant=2)
    named = dict(zip(NASTY, runs.values(), strict=True))
    entries = [{"id": name, "date": f"2021-02-0{day}", "group": name} for day, name in enumerate(NASTY, 1)]
    two = list(named.values())[:2]
    return [
        iro.leaderboard(qrels, named, cutoff=10, entries=entries),
        iro.sota_history([{**entry, "score": day} for day, entry in enumerate(entries)]),
        iro.rank_distribution(qrels, named, resamples=50),
        iro.agreement(qrels, named, splits=5),
        iro.reordering(qrels, named),
        iro.length_distributions(qrels, named),
        iro.length_changes(qrels, *two, names=NASTY[:2]),
        iro.rrie(qrels, *two, names=NASTY[:2]),
        iro.headroom(qrels, named),
    ]


def test_every_result_is_shown_in_every_form(results: list[Result]) -> None:
    for result in results:
        text = str(result)
        assert "nan" not in text.lower()
        rows = list(csv.DictReader(io.StringIO(result.to_csv())))
        assert len(rows) == len(result.rows()) == len(result.to_frame())
        assert type(result).from_json(result.to_json()) == result
        json.loads(result.to_json(), parse_constant=lambda name: pytest.fail(f"{name} in JSON"))
        latex, page = result.to_latex(), result.to_html()
        table = "\n".join(line for line in latex.splitlines() if not line.startswith("%"))
        assert table.count(r"\begin{tabular}") == table.count(r"\end{tabular}") > 0
        assert "<b>&_%" not in page
        xml.dom.minidom.parseString(f"<div>{page}</div>")
        if any(NASTY[0] in row for view in result.view().tables for row in view.rows):
            assert r"\textless{}b\textgreater{}\&\_\%" in table
            assert "&lt;b&gt;&amp;_%" in page


def test_every_picture(results: list[Result], tmp_path: Path) -> None:
    drawn = 0
    for result in results:
        for kind in PICTURES[type(result)]:
            ax = Figure().subplots()
            assert result.plot(kind, ax=ax) is ax
            axes = result.plot(kind)
            axes.figure.savefig(tmp_path / f"{drawn}.png")
            drawn += 1
            assert axes.has_data()
        assert result.plot().has_data()
        with pytest.raises(ParameterError, match=r"kind='pie': a .* is drawn as"):
            result.plot("pie")
    assert drawn == 16


def test_conditions_side_by_side() -> None:
    qrels, runs = collection(3, 30)
    conditions = {name: iro.rank_distribution(qrels, runs, measure=name, resamples=20) for name in ("RR", "nDCG@5")}
    assert conditions_plot(conditions).has_data()
    assert conditions_plot(conditions, ["run1"], ax=Figure().subplots()).get_legend() is not None
    with pytest.raises(ParameterError, match="nobody is not among the runs of RR"):
        conditions_plot(conditions, ["nobody"])
    with pytest.raises(ParameterError, match="there is no condition"):
        conditions_plot({})
    with pytest.raises(ParameterError, match="needs dates"):
        iro.leaderboard(qrels, runs).plot("history")


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("many")
    write_sample(folder)
    return folder


@pytest.fixture
def command(
    sample: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., tuple[int, str, str]]:
    from ir_outcomes.cli import main

    def run(*words: str) -> tuple[int, str, str]:
        monkeypatch.chdir(sample)
        monkeypatch.setattr(sys, "argv", ["ir-outcomes", *words])
        with pytest.raises(SystemExit) as exit_:
            main()
        out, err = capsys.readouterr()
        return int(exit_.value.code or 0), out, err

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
    marks = {"text": "\n", "json": "{", "jsonl": "{", "csv": ",", "latex": r"\toprule", "html": "<table"}
    for form in marks if name == "leaderboard" else ("text", "json", "csv"):
        status, out, err = command(*COMMANDS[name], "--format", form, "--output", str(tmp_path / form))
        assert (status, out, err) == (0, "", "")
        assert marks[form] in (tmp_path / form).read_text()
    json.loads((tmp_path / "json").read_text())
    picture = tmp_path / "picture.png"
    status, out, _ = command(*COMMANDS[name], "--plot", str(picture))
    assert status == 0
    assert out
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_history_from_a_table(command: Any, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("id,date,score\na,2021-01-01,0.5\nb,2021-01-02,0.6\nc,2021-02-02,0.7\n")
    status, out, _ = command("history", str(tmp_path / "t.csv"), "--until", "2021-01-31")
    assert status == 0
    assert out.startswith("2 runs took the top by score")
    status, _, err = command("history", str(tmp_path / "t.csv"), "--score", "MRR")
    assert (status, "has no column 'MRR'" in err) == (1, True)


def test_conditions_on_the_command_line(command: Any, tmp_path: Path) -> None:
    few = tmp_path / "few.txt"
    command("stability", "qrels.txt", *RUNS, "--resamples", "5")  # changes into the sample's folder
    ids = [line.split()[0] for line in Path("qrels.txt").read_text().splitlines()[:50]]
    few.write_text("\n".join(ids))
    status, out, _ = command(
        "stability", "qrels.txt", *RUNS, "--resamples", "20", "--queries", f"few={few}", "--labels", "same=qrels.txt",
        "--plot", str(tmp_path / "p.svg"), "--format", "json",
    )  # fmt: skip
    assert status == 0
    assert [(each["condition"], each["n_queries"]) for each in json.loads(out)] == [
        ("", 1000), ("few", 50), ("same", 1000), ("same, few", 50),
    ]  # fmt: skip
    assert (tmp_path / "p.svg").exists()


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["leaderboard", "qrels.txt", "bm52.run", "bm25.run"], 1, "bm52.run: no such file; did you mean"),
        (["leaderboard", "qrels.txt", "bm25.run"], 1, "there is one run only"),
        (["leaderboard", "qrels.txt", *RUNS, "--measure", "nope"], 1, "nope"),
        (["leaderboard", "qrels.txt", *RUNS, "--unit", "page"], 1, "unit='page'"),
        (["stability", "qrels.txt", *RUNS, "--queries", "few"], 1, "write NAME=FILE"),
        (["agreement", "qrels.txt", *RUNS, "--splits", "0"], 1, "splits=0"),
        (["reordering", "qrels.txt", *RUNS, "--measure", "RR"], 1, "name at least two"),
        (["tail", "qrels.txt", *RUNS, "--show", "changes"], 1, "is for two runs"),
        (["tail", "qrels.txt", *RUNS, "--show", "pie"], 2, "pie"),
        (["leaderboard", "qrels.txt", *RUNS, "--plot", "/nowhere/p.png"], 1, "cannot be written"),
    ],
)
def test_wrong_input(words: list[str], status: int, message: str, command: Any) -> None:
    found, out, err = command(*words)
    assert (found, out) == (status, "")
    assert message in err
    assert "Traceback" not in err


def test_a_leaderboard_with_jobs_and_a_cache(sample: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-m", "ir_outcomes", "leaderboard", "qrels.txt", *RUNS]
    plain = subprocess.run(words, capture_output=True, text=True, cwd=sample, check=True)
    cached = [*words, "--jobs", "2", "--cache", str(tmp_path)]
    for _ in range(2):
        assert subprocess.run(cached, capture_output=True, text=True, cwd=sample, check=True).stdout == plain.stdout
    assert len(list(tmp_path.iterdir())) >= 3
