"""Help: phrases, examples that run, and wrong usage before any file is opened."""

from __future__ import annotations

import io
import re
import shlex
import sys
from importlib.metadata import version
from pathlib import Path

import pytest
from rich.console import Console

from ir_outcomes.cli import COMMANDS, app, examples_of
from ir_outcomes.samples import write_suite
from tests.helpers.command_line import call
from tests.helpers.sample import write_small_sample


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, with what the examples name besides it; 60 queries are enough."""
    folder = tmp_path_factory.mktemp("examples")
    write_small_sample(folder, 60)
    (folder / "model.txt").write_text((folder / "qrels.txt").read_text().replace(" 1\n", " 2\n"))
    (folder / "leaderboard.csv").write_text("id,date,score\na,2021-01-01,0.5\nb,2021-01-02,0.6\n")
    write_suite(folder / "suite")
    return folder


@pytest.mark.parametrize("example", [example for command in COMMANDS.values() for example in examples_of(command)])
def test_examples_run(example: str, sample: Path) -> None:
    _, name, *words = shlex.split(example.partition(" || ")[0])
    arguments = [name]
    for word in words:
        arguments += sorted(path.name for path in sample.glob(word)) if "*" in word else [word]
    if name == "compare-outputs":
        for run in ("bm25", "bm25-stem"):
            (sample / f"{run}.tsv").write_text(call("measure", "qrels.txt", f"{run}.run", "RR", "-q", folder=sample).stdout)
    done = call(*arguments, folder=sample)
    assert done.returncode in ((0, 3, 4) if name == "gate" else (0,)), done.stderr
    assert done.stdout or name in ("evaluate", "report")  # which write a file


def options_of(name: str) -> dict[str, dict[str, str]]:
    """The options of a command and their help, by panel."""
    printed = io.StringIO()
    app([name, "--help"], console=Console(file=printed, width=600))
    panels: dict[str, dict[str, str]] = {}
    for line in printed.getvalue().splitlines():
        if found := re.match(r"╭─ (\w+) ─", line):
            panels[found[1]] = {}
        elif found := re.match(r"│ \*? *(--\S+)(?: -\w)?(?: [A-Z]+(?:\.\.\.)?)?  +(\S.*?) *│$", line):
            panels[list(panels)[-1]][found[1]] = found[2]
    panels.pop("Arguments", None)
    return panels


@pytest.mark.parametrize("name", COMMANDS)
def test_commands_have_few_options_in_panels(name: str) -> None:
    panels = options_of(name)
    assert set(panels) <= {"Options", "Statistics", "Output"}
    assert panels or name == "datasets"
    counts = {panel: len(options) for panel, options in panels.items()}
    assert sum(counts.values()) <= 26, counts
    assert counts.get("Options", 0) <= 8, counts
    for option, text in (found for options in panels.values() for found in options.items()):
        assert re.search(r"\.( \[(choices|default|required).*)?$", text), (option, text)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_shows_usage_and_examples(name: str) -> None:
    done = call(name, "--help")
    assert done.stdout.startswith(f"Usage: ir-outcomes {name} ")
    assert "Example" in done.stdout
    assert "<" not in done.stdout
    listed = next(line for line in call("--help").stdout.splitlines() if f" {name} " in line)
    assert listed.rstrip(" │").endswith(".")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_explains_values_that_are_names(name: str) -> None:
    for options in options_of(name).values():
        for option in {"--ties", "--missing"} & set(options):
            text, _, choices = options[option].partition("[choices: ")
            assert all(f"({value}" in text for value in choices.partition("]")[0].split(", "))


def test_version() -> None:
    assert call("--version").stdout == f"ir-outcomes {version('ir-outcomes')}\n"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("compare no no no --ties expected", 'Invalid value "expected" for --ties. Choose from: "trec", "msmarco", "input"'),
        ("compare no no no -k 0", "-k"),
        ("compare no no no --jobs 0", "1 or more"),
        ("compare-judges no --judge a=no --judge a=no", "a is given twice"),
        ("compare-judges no --judge a --judge b", "write NAME=FILE"),
        ("leaderboard no", "Missing argument RUN"),
        ("leaderboard no no --from-outputs -k 3", "leave out options on how runs are evaluated"),
        ("compare no no.npz no", "the name of one of its runs as BASELINE"),
        ("leaderboard no.npz no", "a saved evaluation stands in the place of runs"),
        ("tail no no no no --show rrie", "is for two runs"),
        ("verdict --n 3", "--won requires an argument"),
    ],
)
def test_wrong_usage_is_2_before_any_file_is_opened(words: str, message: str, tmp_path: Path) -> None:
    done = call(*words.split(), folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("compare no no no --plot nowhere/p.png", "there is no directory nowhere"),
        ("compare no no no --plot p.xyz", "cannot be written as a figure"),
        ("compare no no no --output .", "is a directory; name a file"),
        ("gate no no no --margins 1,1 --summary nowhere/x", "there is no directory nowhere"),
        ("report no no no -o nowhere/x", "there is no directory nowhere"),
    ],
)
def test_impossible_outputs_are_said_before_the_work(words: str, message: str, tmp_path: Path) -> None:
    done = call(*words.split(), folder=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_missing_packages_are_said_before_the_work(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert call("compare", "no", "no", "no", "--report", "p.html", folder=tmp_path).returncode == 1
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = call("compare", "no", "no", "no", "--plot", "p.png", folder=tmp_path)
    assert (done.returncode, 'pip install ".[plot]"' in done.stderr) == (1, True)
