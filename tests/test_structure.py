"""Imports go one way, importing the package is cheap, and its public names are pinned."""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import ir_outcomes

SOURCE = Path(ir_outcomes.__file__).parent
FOUNDATION = {"_checks", "_formatting", "_types", "_version", "errors", "results"}
LEVELS = [
    {"reading"},
    {"samples", "statistics"},
    {"evaluation"},
    {"measures"},
    {"comparison"},
    {"across", "leaderboards", "tail"},
    {"showing"},
    {"pyterrier"},
    {"cli"},
]
# Imported inside functions, when something is shown or a measure is named.
LAZY = {("results", "showing")}
HEAVY = ("scipy", "pandas", "matplotlib", "rich", "typer", "jinja2", "pyterrier", "joblib")


def level(package: str) -> int:
    return next(place for place, packages in enumerate([FOUNDATION, *LEVELS]) if package in packages)


def imports(path: Path) -> Iterator[tuple[str, bool]]:
    """Yield the packages of ir_outcomes that a module imports, and whether it does so inside a function or for types only."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    at_top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("ir_outcomes"):
            inner = node.module.split(".")[1:2]
            names = inner or [alias.name for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name.split(".")[1] for alias in node.names if alias.name.startswith("ir_outcomes.")]
        for name in names:
            yield name, id(node) not in at_top


def test_imports_go_one_way() -> None:
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if package in ("__init__", "__main__"):
            continue
        for imported, lazy in imports(path):
            if level(imported) > level(package) and not (lazy and (package, imported) in LAZY):
                wrong.append(f"{path.relative_to(SOURCE)} imports {imported}")
    assert not wrong, wrong


def test_every_module_has_a_level() -> None:
    packages = {path.name.removesuffix(".py") for path in SOURCE.iterdir() if path.suffix in ("", ".py")}
    assert packages - {"__init__", "__main__", "__pycache__", "py"} <= FOUNDATION.union(*LEVELS)


def test_importing_the_package_is_cheap() -> None:
    code = f"import sys, ir_outcomes; print([name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
