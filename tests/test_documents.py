"""Everything shown in the README and the docs is run: Python blocks, and console blocks with their output.

``python -m tests.test_documents [FILE ...]`` writes the outputs of console and Python blocks, and the gallery, again.
"""

from __future__ import annotations

import contextlib
import glob
import io
import os
import re
import runpy
import shlex
import shutil
import subprocess
import sys
import warnings
from collections import Counter
from pathlib import Path
from unittest import mock

import pytest

import ir_outcomes
from ir_outcomes import samples, statistics
from ir_outcomes.cli import COMMANDS
from ir_outcomes.measures import MEASURES
from ir_outcomes.samples import write_sample, write_suite
from tests.helpers.command_line import call

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
API_PAGES = sorted((ROOT / "docs" / "api").glob("*.md"))
WITH_LINKS = [*DOCUMENTS, *API_PAGES, ROOT / "CONTRIBUTING.md", ROOT / "CHANGELOG.md"]
GALLERY = ROOT / "docs" / "gallery.md"
# A Python block, and what it prints where a text block follows.
PRINTING = re.compile(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
REAL_COLLECTIONS = (
    "msmarco-doc-dev",
    "dl20-passage",
    "dl-hard-doc",
    "known-item",
    "suite-colberter",
    "suite-rerankers",
    "mt-rag",
)
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def prepare(folder: Path, real_data: Path) -> None:
    write_sample(folder / "sample")
    write_suite(folder / "suite")
    (folder / "gallery").mkdir()
    for collection in REAL_COLLECTIONS:
        if (real_data / collection).is_dir():
            (folder / collection).symlink_to(real_data / collection)


def output_of(line: str, folder: Path) -> str:
    """Run a line of a console block; our command runs in this process, which takes a third of the time."""
    ours, _, pipeline = line.partition(" | ")
    words = [path for word in shlex.split(ours)[1:] for path in (sorted(glob.glob(word, root_dir=folder)) or [word])]
    with warnings.catch_warnings(), mock.patch.dict(os.environ, COLUMNS="80"):
        warnings.simplefilter("default")
        answer = call(*words, folder=folder)
    printed = answer.stdout + (answer.stderr if answer.returncode else "")
    if not pipeline:
        return printed
    return subprocess.run(pipeline, input=printed, capture_output=True, text=True, shell=True, check=True).stdout


def blocks(document: Path, kind: str) -> list[str]:
    return [body for language, body in BLOCK.findall(document.read_text(encoding="utf-8")) if language == kind]


def printed_by(code: str, document: Path, names: dict[str, object]) -> str:
    stream = io.StringIO()
    with contextlib.redirect_stdout(stream):
        exec(compile(code, document.name, "exec"), names)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def console_blocks(*, real: bool) -> list[object]:
    return [
        pytest.param(document, body, id=f"{document.name}-{number}")
        for document in DOCUMENTS
        for number, body in enumerate(blocks(document, "console"))
        if real == any(f"{name}/" in body.split("\n")[0] for name in REAL_COLLECTIONS)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, real_data: Path) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    prepare(folder, real_data)
    return folder


WITH_PYTHON = [document for document in DOCUMENTS if blocks(document, "python")]


@pytest.mark.parametrize("document", WITH_PYTHON, ids=lambda d: d.name)
def test_python_blocks_run(document: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    for code, shown in PRINTING.findall(document.read_text(encoding="utf-8")):
        printed = printed_by(code, document, names)
        assert not shown or printed == shown.rstrip("\n")


def check(body: str, folder: Path) -> None:
    command, _, shown = body.partition("\n")
    assert output_of(command.removeprefix("$ "), folder).rstrip() == shown.rstrip()


@pytest.mark.parametrize(("document", "body"), console_blocks(real=False))
def test_console_blocks_print_what_they_show(document: Path, body: str, folder: Path) -> None:
    check(body, folder)


@pytest.mark.realdata
@pytest.mark.parametrize(("document", "body"), console_blocks(real=True))
def test_console_blocks_on_real_runs(document: Path, body: str, folder: Path) -> None:
    check(body, folder)


def test_ci_runs_the_test_command_of_the_readme() -> None:
    command = '.venv/bin/pip install -e ".[test]" && .venv/bin/python -m pytest'
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8")


def test_every_public_name_is_once_in_the_api_pages() -> None:
    pages = "\n".join(page.read_text(encoding="utf-8") for page in API_PAGES)
    described = Counter(re.findall(r"^\.\. (?:auto(?!module)\w+|py:data):: ([\w.]+)$", pages, re.MULTILINE))
    modules = (ir_outcomes, ir_outcomes.pyterrier, samples, statistics)
    public = {f"{module.__name__}.{name}" for module in modules for name in module.__all__}
    assert public - described.keys() == {"ir_outcomes.__version__", "ir_outcomes.pyterrier"}
    assert {name: count for name, count in described.items() if count > 1} == {}


def test_every_api_page_is_in_its_index() -> None:
    index = (ROOT / "docs" / "api" / "index.md").read_text(encoding="utf-8")
    listed = re.search(r"```{toctree}.*?\n\n(.*?)\n```", index, re.DOTALL)
    assert listed is not None
    assert sorted(listed[1].split()) == sorted(page.stem for page in API_PAGES if page.stem != "index")


def test_the_table_of_parameters_is_that_of_the_measures() -> None:
    text = (ROOT / "docs" / "measures.md").read_text(encoding="utf-8").partition("## Parameters")[2].partition("## ")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines() if line.startswith("| `")]
    every = {str(measure.NAME): measure.SUPPORTED_PARAMS for measure in MEASURES}
    assert {re.findall(r"`(\w+)`", row[0])[0] for row in rows} == {name for params in every.values() for name in params}
    for name, default, meaning, taken_by in rows:
        parameter = re.findall(r"`(\w+)`", name)[0]
        takers = {measure for measure, params in every.items() if parameter in params}
        named = set(every) if taken_by.startswith("all") else {measure for measure in every if str(measure) in taken_by}
        assert named == takers, parameter
        info = next(params[parameter] for params in every.values() if parameter in params)
        has_default = isinstance(info.default, (int, str))
        assert default == repr(info.default).replace("'", '"').join("``") if has_default else default in ("none", "required")
        for choice in info.choices if isinstance(info.choices, tuple) else ():
            assert not isinstance(choice, str) or f'"{choice}"' in f"{default} {meaning}", (parameter, choice)


def test_every_page_is_in_the_index() -> None:
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    pages = {page.stem for kind in ("*.md", "*.ipynb") for page in (ROOT / "docs").glob(kind)} - {"index"}
    assert pages == {line.rpartition("<")[2].rstrip(">") for line in index.splitlines()} & pages


def test_every_command_is_documented() -> None:
    text = runpy.run_path(str(ROOT / "docs" / "conf.py"))["help_of_commands"]()
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == list(COMMANDS)
    assert text.count("Usage: ir-outcomes ") == len(COMMANDS)


@pytest.mark.parametrize("document", WITH_LINKS, ids=lambda d: d.name)
def test_commands_exist(document: Path) -> None:
    named = re.findall(r"(?:^|`|\$ )ir-outcomes ([a-z][a-z-]+)", document.read_text(encoding="utf-8"), re.MULTILINE)
    assert set(named) <= set(COMMANDS)


@pytest.mark.parametrize("document", WITH_LINKS, ids=lambda d: d.name)
def test_links_within_the_repository(document: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", document.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
        assert (document.parent / target).exists(), target


def rewrite(documents: list[Path], folder: Path) -> None:
    for document in documents:
        text = document.read_text(encoding="utf-8")

        def run_again(block: re.Match[str]) -> str:
            command = block[2].partition("\n")[0]
            if block[1] != "console":
                return block[0]
            printed = output_of(command.removeprefix("$ "), folder).rstrip()
            return "\n".join(["```console", command, *([printed] if printed else []), "```"])

        document.write_text(BLOCK.sub(run_again, text), encoding="utf-8")


def print_again(document: Path, folder: Path) -> None:
    names: dict[str, object] = {}

    def run_again(block: re.Match[str]) -> str:
        printed = printed_by(block[1], document, names)
        return block[0] if block[2] is None else f"```python\n{block[1]}```\n\n```text\n{printed}\n```"

    os.chdir(folder)
    document.write_text(PRINTING.sub(run_again, document.read_text(encoding="utf-8")), encoding="utf-8")


def draw_gallery(folder: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    os.chdir(folder)
    exec("\n".join(blocks(GALLERY, "python")), {})
    shutil.copytree(folder / "gallery", ROOT / "docs" / "gallery", dirs_exist_ok=True)


if __name__ == "__main__":
    import tempfile

    from tests.conftest import REAL_DATA

    with tempfile.TemporaryDirectory() as temporary:
        prepare(Path(temporary), REAL_DATA)
        given = [Path(name).resolve() for name in sys.argv[1:]] or DOCUMENTS
        rewrite(given, Path(temporary))
        for document in given:
            if "\n```text\n" in document.read_text(encoding="utf-8"):
                print_again(document, Path(temporary))
        if GALLERY in given:
            draw_gallery(Path(temporary))
