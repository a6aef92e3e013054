"""Standard output and error of the program: full, closed, narrow; names that no console should see."""

import json
import os
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.command_line import Done, call

ESCAPE = "\x1b[31m"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Qrels and three runs, one of them with a name that is not UTF-8 and holds an escape sequence."""
    folder = tmp_path_factory.mktemp("streams")
    (folder / "qrels.txt").write_text("".join(f"q{n} 0 d 1\n" for n in range(40)))
    first = "".join(f"q{n} Q0 x 1 2 t\nq{n} Q0 d 2 1 t\n" for n in range(40))
    (folder / "a.run").write_text(first)
    (folder / "Ω.run").write_text(first.replace("x 1 2", "d 1 2").replace("d 2 1", "x 2 1"))
    (folder / os.fsdecode(b"b\xe9\x1b[31m.run")).write_text(first)
    return folder


PYTHON = shlex.quote(sys.executable)
PROGRAM = f"{PYTHON} -m ir_outcomes"


def shell(command: str, folder: Path, **environment: str) -> Done:
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, cwd=folder, env=os.environ | environment
    )
    out, err = (text.decode(errors="replace") for text in (done.stdout, done.stderr))
    return Done(done.returncode, out, err)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(
            "verdict --won 20 --lost 9 > /dev/full", "standard output cannot be written (No space left on device)",
            marks=pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full"),
        ),
        ("verdict --won 20 --lost 9 >&-", "standard output cannot be written (not writable)"),
        ("compare - a.run Ω.run <&-", "standard input is closed; give the path of a file"),
        ("compare qrels.txt a.run nowhere.run 2>&-", ""),
    ],
)  # fmt: skip
def test_full_and_closed_streams_are_said(words: str, said: str, folder: Path) -> None:
    done = shell(f"{PROGRAM} {words}", folder)
    assert (done.returncode, done.stdout, said in done.stderr) == (1, "", True)
    assert "Traceback" not in done.stderr


def test_a_reader_that_leaves_early(folder: Path) -> None:
    done = shell(f"{PROGRAM} measure qrels.txt a.run RR ESL@2 -q | head -1", folder)
    assert (len(done.stdout.splitlines()), done.stderr) == (1, "")


def fed(file: Path, words: list[str]) -> Done:
    """Call a command with a file as its standard input."""
    before = os.dup(0)
    try:
        with file.open("rb") as stream:
            os.dup2(stream.fileno(), 0)
        return call(*words, folder=file.parent)
    finally:
        os.dup2(before, 0)
        os.close(before)


@pytest.mark.parametrize(
    ("file", "command"),
    [
        ("qrels.txt", "compare - a.run Ω.run"), ("a.run", "compare qrels.txt - Ω.run"),
        ("a.run", "gate qrels.txt Ω.run - --margins 50,.5"), ("a.run", "measure qrels.txt - RR"),
        ("qrels.txt", "measure - a.run RR"), ("a.run", "leaderboard qrels.txt - Ω.run"), ("a.run", "check qrels.txt - Ω.run"),
        ("qrels.txt", "compare-judges a.run Ω.run --judge one=- --judge two=qrels.txt"),
        ("a.run", "tail headroom qrels.txt -"),
    ],
)  # fmt: skip
def test_standard_input_is_a_file(folder: Path, file: str, command: str) -> None:
    done = fed(folder / file, command.split())
    assert (done.returncode in (0, 3, 4), bool(done.stdout), done.stderr) == (True, True, "")
    again = fed(folder / file, [*command.split(), "-"])
    assert (again.returncode, "give - once" in again.stderr) == (2, "--judge" not in command)


def test_narrow_encodings_and_names_that_are_not_utf8(folder: Path) -> None:
    command = f"{PROGRAM} compare qrels.txt b*.run Ω.run --format json"
    found = json.loads(shell(command, folder, PYTHONIOENCODING="ascii").stdout)
    assert (found["baseline"], found["contender"]) == ("b\\xe9\x1b[31m", "Ω")  # as they are read


def test_escapes_of_what_an_encoding_lacks_are_json() -> None:
    found = {"run": "é\udce9\U0001f600"}
    text = json.dumps(found, ensure_ascii=False)
    for encoding in ("ascii", "latin-1", "utf-8"):
        assert json.loads(text.encode(encoding, "json").decode(encoding)) == found


@pytest.mark.parametrize(
    "command",
    [
        [f"compare{ESCAPE}"], ["compare", "qrels.txt", "a.run", "Ω.run", "--ties", ESCAPE],
        ["compare-collections", f"{ESCAPE}\udce9"],
    ],
)  # fmt: skip
def test_messages_hold_no_control_characters(folder: Path, command: list[str]) -> None:
    done = call(*command, folder=folder)
    assert done.returncode in (1, 2)
    assert "\\x1b" in done.stderr
    assert "\x1b" not in done.stderr
    assert "Traceback" not in done.stderr


def test_nothing_reaches_a_terminal(folder: Path) -> None:
    terminal = f"{PYTHON} -c 'import pty, sys; pty.spawn(sys.argv[1:])'"
    done = shell(
        f"{terminal} {PROGRAM} compare qrels.txt b*.run Ω.run --format csv < /dev/null", folder
    )
    assert "baseline" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize("form", ["text", "markdown", "json", "jsonl", "csv", "latex", "html"])
def test_a_name_that_is_not_utf8_is_the_same_text_in_every_format(folder: Path, form: str) -> None:
    (folder / "caf\udce9.run").write_text((folder / "a.run").read_text())
    shown = dict.fromkeys(("json", "jsonl", "markdown"), r"caf\\xe9")
    shown["latex"] = r"caf\textbackslash{}xe9"
    words = ("leaderboard", "qrels.txt", "Ω.run", "caf\udce9.run", "--format", form)
    done = call(*words, folder=folder)
    assert (done.returncode, shown.get(form, r"caf\xe9") in done.stdout) == (0, True)
