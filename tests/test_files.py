"""Files that are written completely or not at all."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from ir_outcomes.files import write_completely


@pytest.mark.parametrize("mode", [0o600, 0o664])
def test_a_file_that_is_written_again_keeps_its_mode(tmp_path: Path, mode: int) -> None:
    target = tmp_path / f"{'é' * 120}.html"
    target.write_text("before")
    target.chmod(mode)
    write_completely(target, b"after")
    assert target.read_bytes() == b"after"
    assert stat.S_IMODE(target.stat().st_mode) == mode
    assert os.listdir(tmp_path) == [target.name]


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_during_writing_leaves_the_old_file(tmp_path: Path, sent: signal.Signals) -> None:
    target = tmp_path / "result.txt"
    target.write_text("before")
    script = (
        "import pathlib, signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # which a background job ignores
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


def test_a_pipe_that_has_no_path_is_written_to() -> None:
    reader, writer = os.pipe()
    write_completely(f"/dev/fd/{writer}", b"whole")
    os.close(writer)
    with open(reader, "rb") as pipe:
        assert pipe.read() == b"whole"
