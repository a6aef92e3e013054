"""Help: phrases, examples that run, and wrong usage before any file is opened."""

import io
import json
import re
import shlex
import sys
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Literal, get_args, get_origin

import pytest
from cyclopts import CycloptsError
from cyclopts.argument import Argument
from rich.console import Console

from ir_outcomes.cli import COMMANDS, app, examples_of
from ir_outcomes.results import Result
from ir_outcomes.samples import write_suite
from tests.helpers.command_line import Done, call
from tests.helpers.packages import needed
from tests.helpers.sample import write_small_sample


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sample, with what the examples name besides it; 60 queries are enough."""
    folder = tmp_path_factory.mktemp("examples")
    write_small_sample(folder, 60)
    (folder / "llm.txt").write_text((folder / "qrels.txt").read_text().replace(" 1\n", " 2\n"))
    (folder / "leaderboard.csv").write_text("id,date,score\na,2021-01-01,0.5\nb,2021-01-02,0.6\n")
    write_suite(folder / "suite")
    return folder


def call_example(example: str, sample: Path, *more: str) -> tuple[str, Done]:
    _, name, *words = shlex.split(example.partition(" || ")[0])
    arguments = [name]
    for word in words:
        arguments += sorted(path.name for path in sample.glob(word)) if "*" in word else [word]
    if name == "compare-outputs":
        for run in ("bm25", "bm25-stem"):
            (sample / f"{run}.tsv").write_text(
                call("measure", "qrels.txt", f"{run}.run", "RR", "-q", folder=sample).stdout
            )
    return name, call(*arguments, *more, folder=sample)


@pytest.mark.parametrize(
    "example", [example for command in COMMANDS.values() for example in examples_of(command)]
)
def test_examples_run(example: str, sample: Path) -> None:
    name, done = call_example(example, sample)
    assert done.returncode in ((0, 3, 4) if name == "gate" else (0,)), done.stderr
    assert done.stdout or name in ("evaluate", "report")  # which write a file


def test_examples_are_printed_on_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    n_printed = 0
    for name, command in COMMANDS.items():
        lines = call(name, "--help").stdout.splitlines()
        printed = [line.removeprefix(" • ").rstrip() for line in lines if " • " in line[:3]]
        assert printed == examples_of(command)
        n_printed += len(printed)
    assert n_printed > len(COMMANDS)
    assert " • ir-outcomes compare qrels.txt bm25.run bm25-stem.run" in listing().splitlines()


WITHOUT_RESULT = {"report", "evaluate", "measure", "datasets", "sample"}


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in WITHOUT_RESULT])
def test_json_of_commands_follows_its_schema(name: str, sample: Path) -> None:
    jsonschema = needed("jsonschema")
    kinds = {kind.__name__: kind for kind in Result.__subclasses__()}
    _, done = call_example(
        examples_of(COMMANDS[name])[0].partition(" --to-judge")[0],
        sample,
        "--format",
        "json",
        "--quiet",
    )
    written = json.loads(done.stdout)
    for result in written if isinstance(written, list) else [written]:
        jsonschema.validate(result, kinds[result["kind"]].json_schema())


@cache
def listing() -> str:
    return call("--help").stdout


def help_of(name: str) -> str:
    """Return the help of a command, each option on one line."""
    printed = io.StringIO()
    app([name, "--help"], console=Console(file=printed, width=600))
    return printed.getvalue()


def options_in(printed: str) -> dict[str, dict[str, str]]:
    """List the options of a command and their help, by panel."""
    panels: dict[str, dict[str, str]] = {}
    for line in printed.splitlines():
        if found := re.match(r"╭─ (\w+) ─", line):
            panels[found[1]] = {}
        elif found := re.match(
            r"│ \*? *(--\S+)(?: -\w)?(?: [A-Z]+(?:\.\.\.)?)?  +(\S.*?) *│$", line
        ):
            panels[list(panels)[-1]][found[1]] = found[2]
    panels.pop("Arguments", None)
    return panels


@pytest.mark.parametrize("name", COMMANDS)
def test_help_is_short_and_complete(name: str) -> None:
    printed = help_of(name)
    assert printed.startswith(f"Usage: ir-outcomes {name} ")
    assert ("Example" in printed, "<" in printed) == (True, False)
    assert re.search(rf" {name} .*\. *│$", listing(), re.MULTILINE)
    panels = options_in(printed)
    assert set(panels) <= {"Options", "Statistics", "Output"}
    assert panels or name == "datasets"
    options = {option: text for panel in panels.values() for option, text in panel.items()}
    assert (len(options) <= 31, len(panels.get("Options", ())) <= 8) == (True, True)
    for option, text in options.items():
        assert re.search(r"\.( \[(choices|default|required).*)?$", text), option
    for option in {"--ties", "--missing"} & set(options):  # values that are names are explained
        text, _, choices = options[option].partition("[choices: ")
        assert all(f"({value}" in text for value in choices.partition("]")[0].split(", "))


def test_version() -> None:
    assert call("--version").stdout == f"ir-outcomes {version('ir-outcomes')}\n"


def test_missing_packages_are_said_before_the_work(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "jinja2", None)
    assert call("compare", "no", "no", "no", "--report", "p.html", folder=tmp_path).returncode == 1
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    done = call("compare", "no", "no", "no", "--plot", "p.png", folder=tmp_path)
    assert (done.returncode, 'pip install "ir-outcomes[plot]"' in done.stderr) == (1, True)


MORE_THAN_ONCE = {  # options that may be given several times
    "--measure", "--names", "--contender", "--allow-missing", "--other-pvalue", "--cutoffs", "--judge", "--subset", "--labels",
    "--allow",
}  # fmt: skip


def test_an_option_with_one_value_is_given_once() -> None:
    """Each declaration of an option is tried in the first command that has it."""
    declared: dict[str, tuple[str, Argument]] = {}
    for command in COMMANDS:
        parameters = app[command].assemble_argument_collection(
            default_parameter=app.default_parameter
        )
        for parameter in parameters:
            said = f"{parameter.name} {parameter.hint} {parameter.parameter}"
            if parameter.show and parameter.name.startswith("-"):
                declared.setdefault(said, (command, parameter))
    tried = [found for found in declared.values() if takes_one_value(found[1])]
    assert {parameter.name for _, parameter in tried} >= {"--cutoff", "--margins", "--format"}
    for command, parameter in tried:
        choices = get_args(parameter.hint) if get_origin(parameter.hint) is Literal else ()
        value = str(choices[0]) if choices else "2pp,1" if parameter.name == "--margins" else "1"
        words = (
            [parameter.name, value] * 2
            if parameter.token_count()[0] == 1
            else [parameter.name, value, value] * 2
        )
        # It is refused where it is converted.
        arguments = ["x", "y", "z"] if parameter.name == "--margins" else []
        if arguments and command == "compare-measure":
            arguments += ["--measure", "nDCG@10"]
        with pytest.raises((CycloptsError, ValueError)) as refused:
            app.parse_args([command, *words, *arguments], exit_on_error=False, print_error=False)
        assert re.search("more than once|multiple times", str(refused.value)), parameter.name


def takes_one_value(parameter: Argument) -> bool:
    return parameter.name not in MORE_THAN_ONCE and parameter.token_count()[0] > 0
