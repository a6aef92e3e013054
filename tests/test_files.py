"""Files that are written completely or not at all."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from ir_outcomes.files import write_completely


@pytest.mark.parametrize("name", ["page.html", "é" * 120 + ".html"])
@pytest.mark.parametrize("mode", [None, 0o600, 0o664])
def test_what_stays_of_a_killed_writer_has_the_name_and_the_mode_of_its_target(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, mode: int | None
) -> None:
    """It was a hidden file without a name, which everybody could read."""
    target = tmp_path / name
    if mode is not None:
        target.write_text("before")
        target.chmod(mode)
    replaced, modes_at_creation = [], []
    replace, opened = os.replace, os.open

    def replace_seen(source: Path, *rest: Any) -> None:
        replaced.append((source.name, stat.S_IMODE(source.stat().st_mode)))
        replace(source, *rest)

    def open_seen(path: Any, flags: int, mode: int = 0o777) -> int:
        modes_at_creation.append(mode)
        return opened(path, flags, mode)

    monkeypatch.setattr(os, "replace", replace_seen)
    monkeypatch.setattr(os, "open", open_seen)
    write_completely(target, b"after")
    ((beside, mode_beside),) = replaced
    assert beside.startswith(f".{name[:60]}")
    assert "unfinished" in beside
    assert modes_at_creation == [mode or 0o666]
    assert mode_beside == stat.S_IMODE(target.stat().st_mode)
    if mode is not None:
        assert mode_beside == mode
    assert target.read_bytes() == b"after"
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_writing_leaves_the_old_file(tmp_path: Path, sent: signal.Signals) -> None:
    target = tmp_path / "result.txt"
    target.write_text("before")
    script = (
        "import pathlib, sys, time\n"
        "from ir_outcomes.files import write_completely\n"
        "write = pathlib.Path.write_bytes\n"
        "def slow(path, content):\n"
        "    write(path, content[:3])\n"
        "    print('writing', flush=True)\n"
        "    time.sleep(60)\n"
        "pathlib.Path.write_bytes = slow\n"
        "write_completely(sys.argv[1], b'after')\n"
    )
    words = [sys.executable, "-c", script, str(target)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"writing\n"
        writer.send_signal(sent)
    assert writer.returncode != 0
    assert target.read_text() == "before"
