"""Help: phrases, examples that run, and wrong usage before any file is opened."""

import json
import shlex
import sys
from pathlib import Path

import pytest
from cyclopts.argument import Argument

import ir_outcomes as iro
from ir_outcomes.cli import COMMANDS
from ir_outcomes.cli.build import app
from ir_outcomes.samples import write_suite
from tests.helpers.command_line import call, made
from tests.helpers.sample import write_small_sample


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, with what the examples name besides it; 60 queries are enough."""
    folder = tmp_path_factory.mktemp("examples")
    write_small_sample(folder, 60)
    (folder / "llm.txt").write_text((folder / "qrels.txt").read_text().replace(" 1\n", " 2\n"))
    (folder / "leaderboard.csv").write_text("id,date,score\na,2021-01-01,0.5\nb,2021-01-02,0.6\n")
    write_suite(folder / "suite")
    for name, more in (("old", 0), ("new", 0.01)):
        rows = [f"q{n},{n % 7 / 10 + more}" for n in range(60)]
        (folder / f"{name}.csv").write_text("\n".join(["query_id,nDCG@10", *rows]))
    for run in ("bm25", "bm25-stem"):
        values = call("measure", "qrels.txt", f"{run}.run", "RR", "-q", folder=folder).stdout
        (folder / f"{run}.tsv").write_text(values)
    (folder / "kinds.tsv").write_text("".join(f"q{n}\tkind {n % 2}\n" for n in range(60)))
    return folder


@pytest.mark.parametrize(
    ("name", "example"),
    [(name, example) for name, command in COMMANDS.items() for example in command.examples],
)
def test_examples_run_and_their_json_is_read_again(name: str, example: str, sample: Path) -> None:
    words: list[str] = []
    for word in shlex.split(example):
        words += sorted(path.name for path in sample.glob(word)) if "*" in word else [word]
    is_json = COMMANDS[name].result and "--to-judge" not in words
    done = call(*words, *(["--format", "json", "--quiet"] if is_json else []), folder=sample)
    assert done.returncode in ((0, 3, 4) if name == "gate" else (0,)), done.stderr
    assert done.stdout or name in ("evaluate", "report")  # which write a file
    if is_json:
        written = json.loads(done.stdout)
        for result in written if isinstance(written, list) else [written]:
            assert getattr(iro, result["kind"]).from_dict(result).to_dict() == result


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_short_and_complete(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    lines = call(*name.split(), "--help").stdout.splitlines()
    assert lines[0].startswith(f"Usage: ir-outcomes {name} ")
    assert len(lines) <= 70
    assert max(map(len, lines)) <= 80
    assert {line for line in lines if line.endswith(":") and line[0] != " "} <= {
        "Arguments:", "Reading:", "Verdict:", "Options:", "Output:", "Examples:"
    }  # fmt: skip
    texts = [str(option.parameter.help) for option in parameters_of(name)]
    assert all(text and "`" not in text for text in texts)
    options = [option.text for option in made(name).options.values()]
    assert len({*options}) == len(options)
    examples = [f"  ir-outcomes {example}" for example in COMMANDS[name].examples]
    assert lines[-len(examples) :] == examples


@pytest.mark.parametrize("name", ["compare", "holes", "report"])
def test_a_baseline_is_required_where_there_are_no_values(name: str) -> None:
    usage = call(name, "--help").stdout.splitlines()[0]
    assert usage.split("[OPTIONS] ")[1].startswith("QRELS BASELINE ") == (name != "report")


def parameters_of(name: str) -> list[Argument]:
    program = app(name)
    for word in name.split():
        program = program[word]
    parameters = program.assemble_argument_collection(default_parameter=app().default_parameter)
    return [parameter for parameter in parameters if parameter.show]


def test_missing_packages_are_said_before_the_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert call("compare", "no", "no", "no", "--report", "p.html", folder=tmp_path).returncode == 1
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = call("compare", "no", "no", "no", "--plot", "p.png", folder=tmp_path)
    assert (done.returncode, 'pip install "ir-outcomes[plot]"' in done.stderr) == (1, True)
