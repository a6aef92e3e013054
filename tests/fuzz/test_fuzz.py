"""A short run of the fuzzers; ``python -m tests.fuzz`` runs them for longer."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS


@pytest.mark.parametrize("name", TARGETS)
def test_a_few_inputs(name: str, tmp_path: Path) -> None:
    for seed in range(10 if name == "command_lines" else 60):
        TARGETS[name](random.Random(f"{name} {seed}"), tmp_path)
