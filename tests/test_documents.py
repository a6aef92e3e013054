"""Everything shown in the README and the docs is run: Python and console blocks with their output, and commands.

``python -m tests.test_documents [FILE ...]`` writes the outputs of console and Python blocks, and
the gallery, again.
"""

import contextlib
import glob
import io
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from unittest import mock

import pytest
from matplotlib.figure import Figure

import ir_outcomes
from ir_outcomes import samples
from ir_outcomes.cli import COMMANDS
from ir_outcomes.cli.signatures import names_of
from ir_outcomes.reading import runs
from ir_outcomes.samples import write_sample, write_suite
from tests.conftest import REAL_DATA
from tests.helpers.command_line import call, made

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
API_PAGES = sorted((ROOT / "docs" / "api").glob("*.md"))
WITH_LINKS = [*DOCUMENTS, *API_PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
# A console block, or a Python block with what it prints where a text block follows.
BLOCK = re.compile(
    r"^```(python|console)\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL
)
# A command in a text or in a block for a shell, which may be behind others.
COMMAND = re.compile(r"(?:^|`|&& )(ir-outcomes (?:[^`#\n&]|\n(?=[^`\n]+`))+)", re.MULTILINE)
OPTIONS_OF_OTHERS = {"--check", "--cov", "--help", "--output", "--version"}
PLACEHOLDERS = {"QRELS": "qrels.txt", "BASELINE": "bm25.run", "RUNS": "bm25-stem.run"}
REAL = r"^\$ .*\b(msmarco-doc-dev|dl20-passage|dl-hard-doc|known-item|suite-colberter|suite-rerankers|mt-rag)[/ ]"


def prepare(folder: Path) -> None:
    write_sample(folder / "sample")
    write_suite(folder / "suite")
    (folder / "gallery").mkdir()
    for name in ("qrels.txt", "bm25.run", "bm25-stem.run"):
        (folder / name).symlink_to(folder / "sample" / name)
    for collection in REAL_DATA.iterdir() if REAL_DATA.is_dir() else ():
        (folder / collection.name).symlink_to(collection)


def output_of(line: str, folder: Path) -> str:
    """Run a line of a console block; our command runs in this process, which takes a third of the time."""
    ours, _, pipeline = line.partition(" | ")
    words = [
        path
        for word in shlex.split(ours)[1:]
        for path in sorted(glob.glob(word, root_dir=folder)) or [word]
    ]
    with warnings.catch_warnings(), mock.patch.dict(os.environ, COLUMNS="80"):
        warnings.simplefilter("default")
        answer = call(*words, folder=folder)
    printed = answer.stdout + (answer.stderr if answer.returncode else "")
    if pipeline:
        printed = subprocess.run(
            pipeline, input=printed, capture_output=True, text=True, shell=True, check=True
        ).stdout
    return printed.rstrip()


def printed_by(code: str, document: Path, names: dict[str, object]) -> str:
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        exec(compile(code, document.name, "exec"), names)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def run_again(document: Path, folder: Path, which: str) -> str:
    """Return the document with what its blocks print now: "python", "console", or those on "real" runs."""
    names: dict[str, object] = {}

    def printed_now(block: re.Match[str]) -> str:
        language, body, shown = block.groups()
        command = body.partition("\n")[0]
        if which != ("real" if language == "console" and re.match(REAL, command) else language):
            return block[0]
        if language == "console":
            return "\n".join(
                [
                    "```console",
                    command,
                    *filter(None, [output_of(command.removeprefix("$ "), folder)]),
                    "```",
                ]
            )
        printed = printed_by(body, document, names)
        return block[0] if shown is None else f"```python\n{body}```\n\n```text\n{printed}\n```"

    with contextlib.chdir(folder):
        return BLOCK.sub(printed_now, document.read_text("utf-8"))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The samples, whose runs are read once; reading takes half of the time."""
    folder = tmp_path_factory.mktemp("documents")
    prepare(folder)
    with mock.patch.object(runs, "read_run", cache(runs.read_run)):
        yield folder


@pytest.fixture
def shell(folder: Path) -> Path:
    """What commands without an output beside them are about."""
    for seed, name in enumerate(("", "mteb/SciFact", "mteb/NFCorpus"), 2):
        (folder / name).mkdir(parents=True, exist_ok=True)
        for system in ("old", "new", "bm25", "e5"):
            lines = [f"{name}{n},{n * (seed + len(system)) % 7 / 10}" for n in range(40)]
            (folder / name / f"{system}.csv").write_text("\n".join(["query_id,nDCG@10", *lines]))
    queries = ",".join(f"q{n}" for n in range(40))
    values = "a" + ",0.5,0.2" * 20 + "\nb" + ",0.4,0.6" * 20
    (folder / "scores.csv").write_text(f"run,{queries}\n{values}")
    return folder


def documents_with(pattern: str) -> pytest.MarkDecorator:
    found = [
        document
        for document in DOCUMENTS
        if re.search(pattern, document.read_text("utf-8"), re.MULTILINE)
    ]
    return pytest.mark.parametrize("document", found, ids=lambda document: document.name)


def test_the_gallery_holds_the_pictures_that_a_page_shows() -> None:
    shown = {
        name
        for document in DOCUMENTS
        for name in re.findall(r"\]\((?:docs/)?gallery/(\S+\.png)\)", document.read_text("utf-8"))
    }
    assert shown == {picture.name for picture in (ROOT / "docs" / "gallery").iterdir()}


@documents_with("^```python$")
def test_python_blocks_run_and_print_what_they_show(
    document: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tests of the figures render them.
    monkeypatch.setattr(Figure, "savefig", lambda *_, **__: None)
    assert run_again(document, folder, "python") == document.read_text("utf-8")


@documents_with("^```console$")
def test_console_blocks_print_what_they_show(document: Path, folder: Path) -> None:
    assert run_again(document, folder, "console") == document.read_text("utf-8")


def commands_in(text: str) -> list[str]:
    """List the commands outside of console blocks that name what they read."""
    text = re.sub(
        r"^```(?:python|console|text)\n.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL
    )
    commands = [" ".join(command.split()) for command in COMMAND.findall(text)]
    return [
        command
        for command in dict.fromkeys(commands)
        if len(command.split()) > 3 and not re.search(r"\.\.\.|COMMAND", command)
    ]


@documents_with(r"ir-outcomes [a-z-]+ \S+ \S+")
def test_commands_run(document: Path, shell: Path) -> None:
    for command in commands_in(document.read_text("utf-8")):
        words = [PLACEHOLDERS.get(word, word) for word in command.split()]
        assert "error" not in output_of(" ".join(words), shell), command


def test_the_workflow_names_inputs_of_the_action() -> None:
    workflow = (ROOT / "docs" / "pipeline.md").read_text("utf-8")
    used = workflow.partition("uses: ir-outcomes/ir-outcomes")[2].partition("      - ")[0]
    inputs = (ROOT / "action.yml").read_text("utf-8").partition("outputs:")[0]
    named = set(re.findall(r"^          ([a-z-]+):", used, re.MULTILINE))
    assert named
    assert named <= set(re.findall(r"^  ([a-z-]+):$", inputs, re.MULTILINE))


@pytest.mark.realdata
@documents_with(REAL)
def test_console_blocks_on_real_runs(document: Path, folder: Path, real_data: Path) -> None:
    assert run_again(document, folder, "real") == document.read_text("utf-8")


def test_ci_runs_the_test_command_of_the_readme() -> None:
    """It takes the command from there, and runs it in a clone that is called like the repository."""
    script = (ROOT / ".ci" / "run").read_text("utf-8")
    pattern = re.search("grep -m 1 '(.+)' README.md", script)
    assert pattern is not None
    (command,) = re.findall(pattern[1], (ROOT / "README.md").read_text("utf-8"), re.MULTILINE)
    left_out = '-m "not browser and not action"'
    assert command.endswith(f'pip install -e ".[test]" && .venv/bin/python -m pytest {left_out}')
    assert 'git clone -q . "$stranger/ir-outcomes"' in script


def test_every_public_name_is_once_in_the_api_pages() -> None:
    pages = "\n".join(page.read_text("utf-8") for page in API_PAGES)
    described = Counter(
        re.findall(r"^\.\. (?:auto(?!module)\w+|py:data):: ([\w.]+)$", pages, re.MULTILINE)
    )
    modules = (ir_outcomes, ir_outcomes.pyterrier, samples)
    public = {f"{module.__name__}.{name}" for module in modules for name in module.__all__}
    assert public - described.keys() == {"ir_outcomes.__version__", "ir_outcomes.pyterrier"}
    assert {name: count for name, count in described.items() if count > 1} == {}


@pytest.mark.parametrize("document", WITH_LINKS, ids=lambda d: d.name)
def test_commands_and_links_within_the_repository_exist(document: Path) -> None:
    text = document.read_text("utf-8")
    named = re.findall(r"(?:^|`|\$ )ir-outcomes ([a-z][a-z-]+)", text, re.MULTILINE)
    assert set(named) <= {name.split()[0] for name in COMMANDS}
    options = set(re.findall(r"(?<=[ `(])--[a-z][a-z-]*", text)) - OPTIONS_OF_OTHERS
    assert options <= {
        word for name in COMMANDS for option in made(name).options for word in names_of(option)
    }
    assert document in API_PAGES or "[](" not in text  # which GitHub does not show
    prose = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", prose):
        assert (document.parent / target).exists(), target


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "Agg"
    with tempfile.TemporaryDirectory() as temporary:
        here = Path(temporary)
        prepare(here)
        given = [Path(name).resolve() for name in sys.argv[1:]] or DOCUMENTS
        kinds = ["console", "python", *(["real"] if REAL_DATA.is_dir() else [])]
        for document in given:
            for which in kinds:
                document.write_text(run_again(document, here, which), "utf-8")
        shutil.copytree(here / "gallery", ROOT / "docs" / "gallery", dirs_exist_ok=True)
