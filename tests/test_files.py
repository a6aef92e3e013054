"""Files that are written completely or not at all."""

import os
import stat
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
