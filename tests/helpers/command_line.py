"""The command line, called in this process."""

from __future__ import annotations

import contextlib
import io
import os
import sys
from pathlib import Path
from typing import NamedTuple

from ir_outcomes.cli import main

__all__ = ["Done", "call"]


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def call(*arguments: str | Path, folder: Path | None = None) -> Done:
    """Run the command line in this process, as the installed program would."""
    out, err, status = io.StringIO(), io.StringIO(), 0
    before, argv = Path.cwd(), sys.argv
    try:
        os.chdir(folder or before)
        sys.argv = ["ir-outcomes", *map(str, arguments)]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        os.chdir(before)
        sys.argv = argv
    return Done(status, out.getvalue(), err.getvalue())
