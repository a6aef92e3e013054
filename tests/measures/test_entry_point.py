"""The entry point that ir_measures' branch "entry-points" reads: its command then knows our measures without an import."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import ir_measures

import ir_outcomes as iro
from tests.helpers.entry_points import declare_entry_points

# What the branch does after its own providers are registered, and how its default pipeline takes the others.
LOADING = """
from importlib.metadata import entry_points
for _entry in entry_points(group="ir_measures.provider"):
    _provider = _entry.load()()
    registry[_provider.NAME] = _provider
"""
PIPELINE = """
DefaultPipeline.providers += sorted(
    (p for p in providers.registry.values() if getattr(p, "PRIORITY", None) is not None and p not in DefaultPipeline.providers),
    key=lambda provider: provider.PRIORITY,
)
"""


def test_the_command_of_ir_measures_knows_our_measures(tmp_path: Path) -> None:
    package = tmp_path / "ir_measures"
    shutil.copytree(Path(ir_measures.__file__).parent, package, ignore=shutil.ignore_patterns("__pycache__"))
    with (package / "providers" / "__init__.py").open("a") as providers:
        providers.write(LOADING)
    with (package / "__init__.py").open("a") as whole:
        whole.write(PIPELINE)
    declare_entry_points(tmp_path)
    (tmp_path / "qrels").write_text("q1 0 d1 1\n")
    (tmp_path / "run").write_text("q1 Q0 d2 1 2.0 t\nq1 Q0 d1 2 1.0 t\n")
    path = os.pathsep.join([str(tmp_path), str(Path(iro.__file__).parents[1])])
    environment = {**os.environ, "PYTHONPATH": path, "PYTHONWARNINGS": "ignore"}
    done = subprocess.run(
        [sys.executable, "-m", "ir_measures", "qrels", "run", "ESL@100 Answered@100 RR"],
        cwd=tmp_path, capture_output=True, text=True, env=environment,
    )  # fmt: skip
    assert done.stdout.split() == ["ESL@100", "2.0000", "Answered@100", "1.0000", "RR", "0.5000"], done.stderr
