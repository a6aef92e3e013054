"""Standard output and error of the program: full, closed, narrow; names that no console should see."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import ir_outcomes.cli  # noqa: F401, which registers the escapes
from tests.helpers.command_line import Done, call

SMALL = 40  # queries
ESCAPE = "\x1b[31m"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Qrels and two runs, one of them with a name that is not UTF-8 and holds an escape sequence."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "qrels.txt").write_text("".join(f"q{n} 0 d 1\n" for n in range(SMALL)))
    first = "".join(f"q{n} Q0 x 1 2 t\nq{n} Q0 d 2 1 t\n" for n in range(SMALL))
    (folder / "a.run").write_text(first)
    (folder / "Ω.run").write_text(first.replace("x 1 2", "d 1 2").replace("d 2 1", "x 2 1"))
    with open(os.fsencode(folder) + b"/b\xe9\x1b[31m.run", "w") as stream:
        stream.write(first)
    return folder


def shell(command: str, folder: Path, **environment: str) -> Done:
    words = command.replace("ir-outcomes", f"{sys.executable} -m ir_outcomes")
    done = subprocess.run(
        ["bash", "-c", words], capture_output=True, cwd=folder, env={**os.environ, **environment}, check=False
    )
    return Done(done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace"))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize("command", ["compare qrels.txt a.run Ω.run", "measure qrels.txt a.run RR -q", "--help"])
def test_a_full_disk_is_said(folder: Path, command: str) -> None:
    done = shell(f"ir-outcomes {command} > /dev/full", folder)
    assert (done.returncode, done.stderr) == (1, "error: standard output cannot be written (No space left on device)\n")


def test_closed_streams(folder: Path, tmp_path: Path) -> None:
    closed = shell("ir-outcomes compare qrels.txt a.run Ω.run >&-", folder)
    assert (closed.returncode, closed.stderr) == (1, "error: standard output cannot be written (not writable)\n")
    to_file = shell(f"ir-outcomes compare qrels.txt a.run Ω.run --output {tmp_path}/result.txt >&-", folder)
    assert (to_file.returncode, to_file.stderr) == (0, "")
    assert (tmp_path / "result.txt").read_text().startswith("Ω (B) against a (A): ")
    without_errors = shell("ir-outcomes compare qrels.txt a.run nowhere.run 2>&-", folder)
    assert (without_errors.returncode, without_errors.stdout) == (1, "")


def test_a_reader_that_leaves_early(folder: Path) -> None:
    done = shell("ir-outcomes measure qrels.txt a.run RR ESL@2 -q | head -1", folder)
    assert (len(done.stdout.splitlines()), done.stderr) == (1, "")


@pytest.mark.parametrize("form", ["text", "json", "csv"])
def test_narrow_encodings_and_names_that_are_not_utf8(folder: Path, tmp_path: Path, form: str) -> None:
    target = tmp_path / form
    command = ["compare", "qrels.txt", os.fsdecode(b"b\xe9\x1b[31m.run"), "Ω.run", "--format", form]
    words = [sys.executable, "-m", "ir_outcomes", *command]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(words, capture_output=True, cwd=folder, env=environment, check=False, encoding="ascii")
    assert (done.returncode, done.stderr) == (0, "")
    assert call(*command, "--output", target, folder=folder).returncode == 0
    content = target.read_bytes()
    if form == "json":
        for text in (done.stdout, content.decode()):
            assert json.loads(text)["baseline"] == "b\\xe9\x1b[31m"  # as run names are read
    elif form == "csv":
        assert b"b\\xe9\x1b[31m" in content  # exact
    else:
        assert "\x1b" not in done.stdout
        assert b"\x1b" not in content
        assert "Ω" in content.decode()


@pytest.mark.parametrize(
    "command",
    [
        [f"compare{ESCAPE}"], [f"--x{ESCAPE}"], ["compare", f"--x{ESCAPE}=3"],
        ["compare", "qrels.txt", "a.run", "Ω.run", "--ties", ESCAPE], ["compare", "qrels.txt", f"{ESCAPE}\udce9", "a.run"],
        ["measure", "qrels.txt", "a.run", f"R{ESCAPE}R"], ["suite", ESCAPE],
        ["stability", "qrels.txt", "a.run", "Ω.run", "--subset", ESCAPE],
        ["compare", "qrels.txt", "a.run", "Ω.run", "--plot", ESCAPE],
    ],
)  # fmt: skip
def test_messages_hold_no_control_characters(folder: Path, command: list[str]) -> None:
    done = call(*command, folder=folder)
    assert done.returncode in (1, 2)
    assert "\x1b" not in done.stderr
    assert "\\x1b" in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_reaches_a_terminal(folder: Path) -> None:
    script = "import pty, sys; pty.spawn(sys.argv[1:])"
    command = [sys.executable, "-c", script, sys.executable, "-m", "ir_outcomes", "compare", "qrels.txt"]
    words = [*command, os.fsdecode(b"b\xe9\x1b[31m.run"), "Ω.run", "--format", "csv"]
    done = subprocess.run(words, capture_output=True, cwd=folder, stdin=subprocess.DEVNULL, check=False)
    assert b"baseline" in done.stdout
    assert b"\x1b" not in done.stdout


def test_json_characters_are_json() -> None:
    text = json.dumps({"run": "é\udce9\U0001f600"}, ensure_ascii=False)
    for encoding in ("ascii", "latin-1", "utf-8"):
        written = text.encode(encoding, "json").decode(encoding)
        assert json.loads(written) == {"run": "é\udce9\U0001f600"}


@pytest.mark.parametrize("form", ["text", "markdown", "json", "jsonl", "csv", "latex", "html"])
def test_a_name_that_is_not_utf8_is_the_same_text_in_every_format(folder: Path, form: str) -> None:
    with open(os.fsencode(folder) + b"/caf\xe9.run", "w") as stream:
        stream.write((folder / "a.run").read_text())
    shown = {"json": r"caf\\xe9", "jsonl": r"caf\\xe9", "markdown": r"caf\\xe9", "latex": r"caf\textbackslash{}xe9"}
    done = call("leaderboard", "qrels.txt", "Ω.run", "caf\udce9.run", "--format", form, folder=folder)
    assert (done.returncode, shown.get(form, r"caf\xe9") in done.stdout) == (0, True)
