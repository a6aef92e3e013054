"""The command line, called in this process."""

import contextlib
import io
import os
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import NamedTuple

import ir_measures.__main__

from ir_outcomes.cli import main
from ir_outcomes.cli.build import Made

made = cache(Made)  # what a command is made of, by its name


class Done(NamedTuple):
    returncode: int
    stdout: str
    stderr: str


def call(*arguments: str | Path, folder: Path | None = None) -> Done:
    """Run the command line in this process, as the installed program would."""
    return _call(main, "ir-outcomes", *arguments, folder=folder)


def call_ir_measures(*arguments: str | Path, folder: Path) -> Done:
    """Run the command of ir_measures in this process."""
    return _call(ir_measures.__main__.main_cli, "ir_measures", *arguments, folder=folder)


def _call(
    program: Callable[[], None], name: str, *arguments: str | Path, folder: Path | None
) -> Done:
    out, err, status = io.StringIO(), io.StringIO(), 0
    before, argv = Path.cwd(), sys.argv
    try:
        os.chdir(folder or before)
        sys.argv = [name, *map(str, arguments)]
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            program()
    except SystemExit as end:
        status = int(end.code or 0)
    finally:
        os.chdir(before)
        sys.argv = argv
    return Done(status, out.getvalue(), err.getvalue())
