"""Help: phrases, examples that run, and wrong usage before any file is opened."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ir_outcomes.cli import command
from tests.helpers.command_line import call
from tests.helpers.sample import write_small_sample

COMMANDS: dict[str, Any] = dict(command().commands)


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, with what the examples name besides it; 60 queries are enough."""
    folder = tmp_path_factory.mktemp("examples")
    write_small_sample(folder, 60)
    shutil.copy(folder / "qrels.txt", folder / "model.txt")
    (folder / "model.txt").write_text((folder / "qrels.txt").read_text().replace(" 1\n", " 2\n"))
    (folder / "leaderboard.csv").write_text("id,date,score\na,2021-01-01,0.5\nb,2021-01-02,0.6\n")
    for name in ("first", "second"):
        (folder / "suite" / name).mkdir(parents=True)
        for file in ("qrels.txt", "bm25.run", "bm25-stem.run"):
            shutil.copy(folder / file, folder / "suite" / name / file)
    lines = [
        f'[collections.{name}]\nqrels = "suite/{name}/qrels.txt"\nruns = "suite/{name}/*.run"\n' for name in ("first", "second")
    ]
    (folder / "suite.toml").write_text("\n".join(lines))
    return folder


def examples() -> list[Any]:
    return [
        pytest.param(name, number, id=f"{name}-{number}")
        for name, command in COMMANDS.items()
        for number, _ in enumerate(examples_of(command))
    ]


def examples_of(command: Any) -> list[str]:
    return [line.strip() for line in command.epilog.splitlines() if line.strip().startswith("ir-outcomes ")]


@pytest.mark.parametrize(("name", "number"), examples())
def test_examples_run(name: str, number: int, sample: Path) -> None:
    lines = examples_of(COMMANDS[name])
    # An example may need the files that the ones before it write.
    for line in lines if name == "compare-outputs" and number == len(lines) - 1 else [lines[number]]:
        words, _, target = line.partition(" || ")[0].partition(" > ")
        arguments = [
            part
            for word in shlex.split(words)[1:]
            for part in (sorted(p.name for p in sample.glob(word)) if "*" in word else [word])
        ]
        done = call(*arguments, folder=sample)
        assert done.returncode in ((0, 3, 4) if name == "gate" else (0,)), done.stderr
        assert done.stdout or name == "report"  # which writes a file
        if target:
            (sample / target).write_text(done.stdout)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_texts_are_phrases(name: str) -> None:
    command = COMMANDS[name]
    for parameter in command.params:
        if parameter.name == "help":
            continue
        text = parameter.help
        assert text, parameter.name
        assert text[0].isupper(), text
        assert text.endswith("."), text
    done = call(name, "--help")
    assert done.stdout.startswith(f"Usage: ir-outcomes {name} ")
    assert "Example" in done.stdout
    assert "each" not in re.findall(r"--(\w+)", done.stdout)
    listed = call("--help").stdout
    assert re.search(rf"^  {name} .*\.$", listed, re.MULTILINE), "the first sentence does not fit into the list of commands"
    assert "..." not in next(line for line in listed.splitlines() if line.startswith(f"  {name} "))


@pytest.mark.parametrize("name", COMMANDS)
def test_help_explains_values_that_are_names(name: str) -> None:
    for parameter in COMMANDS[name].params:
        if parameter.name in ("ties", "missing"):
            assert all(f"({value}" in parameter.help for value in parameter.metavar.split("|")), parameter.help


def test_version_and_completion() -> None:
    from importlib.metadata import version

    assert call("--version").stdout == f"ir-outcomes {version('ir-outcomes')}\n"
    environment = {**os.environ, "_IR_OUTCOMES_COMPLETE": "complete_bash", "COMP_CWORD": "3"}
    environment["COMP_WORDS"] = "ir-outcomes compare --ties m"
    done = subprocess.run([sys.executable, "-m", "ir_outcomes"], capture_output=True, text=True, env=environment, check=False)
    assert done.stdout.split() == ["msmarco"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("compare no no no --ties expected", "'expected' is not one of trec, msmarco, input"),
        ("compare no no no --unit page", "'page' is not one of"),
        ("compare no no no --test f", "'f' is not one of"),
        ("compare no no no --correction tukey", "needs --all-pairs"),
        ("compare no no no --top 3", "--top needs --per-query"),
        ("compare no no no --margins 1,inf", "positive and finite"),
        ("compare no no no --margins 1", "write two numbers"),
        ("compare no no no --alpha nan", "between 0 and 1"),
        ("compare no no no -k 0", "-k"),
        ("compare no no no --jobs 0", "1 or more"),
        ("compare no no no no --plot-kind ranks", "for a single contender"),
        ("compare no no no --plot-kind pie", "'pie' is not one of facets"),
        ("compare no no no --spreadsheet", "--spreadsheet needs --format csv"),
        ("compare no no no --label tab:x", "--label needs --format latex"),
        ("compare no no no --columns paper --format json", "--columns needs --format"),
        ("compare-measure no RR best no", "name a run instead"),
        ("compare-judges no --judge a=no", "at least twice"),
        ("compare-judges no --judge a=no --judge a=no", "a is given twice"),
        ("compare-judges no --judge a --judge b", "write NAME=FILE"),
        ("leaderboard no", "Missing argument"),
        ("leaderboard no no --from-outputs -k 3", "need runs"),
        ("leaderboard no no --plot x.png --plot-kind history", "--plot-kind history needs --entries"),
        ("leaderboard no --from-outputs --plot x.png --plot-kind verdicts", "--plot-kind verdicts needs the runs"),
        ("stability no no -m RR@10 -k 3", "write them into --measure"),
        ("tail no no no no --show rrie", "is for two runs"),
        ("tail no no --bins 3 --show headroom", "--bins is for"),
        ("reordering no no --measure RR", "at least twice"),
        ("verdict --n 3", "Missing option"),
        ("agreement no no --splits 0", "--splits"),
    ],
)
def test_wrong_usage_is_2_before_any_file_is_opened(words: str, message: str, tmp_path: Path) -> None:
    done = call(*words.split(), folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--plot .", "--plot .: "),
        ("--plot nowhere/p.png", "there is no directory nowhere"),
        ("--plot p.xyz", "cannot be written as"),
        ("--output .", "is a directory; name a file"),
        ("--output nowhere/x", "there is no directory nowhere"),
    ],
)
def test_impossible_outputs_are_said_before_the_work(words: str, message: str, tmp_path: Path) -> None:
    done = call("compare", "no", "no", "no", *words.split(), folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert message in done.stderr


@pytest.mark.parametrize("option", ["--summary", "--report"])
def test_impossible_outputs_of_gate_are_said_before_the_work(option: str, tmp_path: Path) -> None:
    done = call("gate", "no", "no", "no", "--margins", "1,1", option, "nowhere/x", folder=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    assert f"{option} nowhere/x: cannot be written: there is no directory nowhere" in done.stderr


def test_missing_packages_are_said_before_the_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = call("compare", "no", "no", "no", "--plot", "p.png", folder=tmp_path)
    assert (done.returncode, "pip install 'ir-outcomes[plot]'" in done.stderr) == (1, True)
