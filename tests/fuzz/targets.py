"""Inputs made at random, and what has to hold for each: an error of ours, or the right result; never anything else.

A target takes a random generator and a folder, and raises if something is wrong. Everything it does follows from the generator,
so that a seed reproduces a failure.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.commands import command_lines
from tests.fuzz.files import forms, tables
from tests.fuzz.objects import frames, objects

__all__ = ["TARGETS"]

TARGETS: dict[str, Callable[[random.Random, Path], None]] = {
    target.__name__: target for target in (tables, forms, objects, frames, command_lines)
}
