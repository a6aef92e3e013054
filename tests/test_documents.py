"""Everything shown in the README and the docs is run: Python blocks, and console blocks with their output.

``python tests/test_documents.py`` writes the outputs of the console blocks anew.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from ir_outcomes.samples import write_sample
from tests.helpers.command_line import call

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|console)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def prepare(folder: Path, real_data: Path) -> None:
    write_sample(folder / "sample")
    for collection in ("msmarco-doc-dev", "dl20-passage", "dl-hard-doc", "known-item"):
        if (real_data / collection).is_dir():
            (folder / collection).symlink_to(real_data / collection)


def output_of(command: str, folder: Path) -> str:
    # Without a process of its own a command takes a third of the time; a shell's work and the program's name need one.
    if "--help" not in command and not set(command) & set("|*[]?<>$;'\""):
        with warnings.catch_warnings():
            warnings.simplefilter("default")
            answer = call(*command.split()[1:], folder=folder)
        return answer.stdout + (answer.stderr if answer.returncode else "")
    words = command.replace("ir-outcomes", f"{sys.executable} -m ir_outcomes", 1)
    done = subprocess.run(
        ["bash", "-c", words],
        capture_output=True,
        text=True,
        cwd=folder,
        env={**os.environ, "COLUMNS": "80", "LC_ALL": "C.UTF-8"},
        check=False,
    )
    return done.stdout + (done.stderr if done.returncode else "")


def blocks(document: Path, kind: str) -> list[str]:
    return [body for language, body in BLOCK.findall(document.read_text(encoding="utf-8")) if language == kind]


def console_blocks(*, real: bool) -> list[object]:
    names = ("msmarco-doc-dev", "dl20-passage", "dl-hard-doc", "known-item")
    return [
        pytest.param(document, body, id=f"{document.name}-{number}")
        for document in DOCUMENTS
        for number, body in enumerate(blocks(document, "console"))
        if real == any(f"{name}/" in body.split("\n")[0] for name in names)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory, real_data: Path) -> Path:
    folder = tmp_path_factory.mktemp("documents")
    prepare(folder, real_data)
    return folder


WITH_PYTHON = [
    document
    for document in DOCUMENTS
    if blocks(document, "python")
    and document.name != "pyterrier.md"  # its blocks are run, with what they print, in test_pyterrier
]


@pytest.mark.parametrize("document", WITH_PYTHON, ids=lambda d: d.name)
def test_python_blocks_run(document: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    names: dict[str, object] = {}
    for body in blocks(document, "python"):
        exec(compile(body, document.name, "exec"), names)


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


def rewrite(folder: Path) -> None:
    for document in DOCUMENTS:
        text = document.read_text(encoding="utf-8")

        def renewed(block: re.Match[str]) -> str:
            command = block[2].partition("\n")[0]
            if block[1] != "console":
                return block[0]
            return f"```console\n{command}\n{output_of(command.removeprefix('$ '), folder).rstrip()}\n```"

        document.write_text(BLOCK.sub(renewed, text), encoding="utf-8")


if __name__ == "__main__":
    import tempfile

    from tests.conftest import REAL_DATA

    with tempfile.TemporaryDirectory() as temporary, contextlib.suppress(FileExistsError):
        prepare(Path(temporary), REAL_DATA)
        rewrite(Path(temporary))
