"""What the package exports, which way its imports go, and what importing it costs."""

from __future__ import annotations

import ast
import graphlib
import os
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import ir_outcomes as iro

SOURCES = Path(iro.__file__).parent

# What each package may import besides itself and the foundations; imports inside functions count too.
FOUNDATIONS = {"errors", "types", "formatting", "results"}
MAY_IMPORT = {
    **{foundation: set[str]() for foundation in FOUNDATIONS},
    "results": {"showing"},  # only when something is shown
    "samples": set(),
    "statistics": set(),  # knows nothing of retrieval
    "reading": set(),
    "evaluation": {"reading"},
    "measures": {"reading", "evaluation"},
    "comparison": {"reading", "evaluation", "measures", "statistics"},
}
MAY_IMPORT["across"] = MAY_IMPORT["leaderboards"] = MAY_IMPORT["tail"] = {"comparison", *MAY_IMPORT["comparison"]}
MAY_IMPORT["showing"] = {"across", "leaderboards", "tail", *MAY_IMPORT["tail"]}
MAY_IMPORT["pyterrier"] = MAY_IMPORT["showing"]
MAY_IMPORT["cli"] = {"samples", "showing", "pyterrier", *MAY_IMPORT["showing"]}
LAZY_ONLY = {("results", "showing")}

EXPENSIVE = ("scipy", "pandas", "matplotlib", "rich", "cyclopts", "jinja2", "pyterrier", "pyarrow", "joblib", "statsmodels")


class Import(NamedTuple):
    importer: str
    imported: str
    at_import: bool  # not inside a function, and not for type checkers only


@cache
def modules() -> dict[str, ast.Module]:
    found = {}
    for path in sorted(SOURCES.rglob("*.py")):
        parts = path.relative_to(SOURCES).with_suffix("").parts
        name = ".".join(("ir_outcomes", *(part for part in parts if part != "__init__")))
        found[name] = ast.parse(path.read_text("utf-8"))
    return found


def imports_of(importer: str, node: ast.AST, at_import: bool = True) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.Import):
            yield from (Import(importer, alias.name, at_import) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"{importer} has a relative import"
            for alias in child.names:
                module = f"{child.module}.{alias.name}"
                yield Import(importer, module if module in modules() else child.module or "", at_import)
        is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        is_for_types = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        yield from imports_of(importer, child, at_import and not is_function and not is_for_types)


@cache
def imports() -> list[Import]:
    """Return the imports between our own modules."""
    return [found for name, tree in modules().items() for found in imports_of(name, tree) if found.imported in modules()]


def package_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def test_every_module_has_a_layer() -> None:
    names = {path.name.removesuffix(".py") for path in SOURCES.iterdir() if path.suffix in ("", ".py")}
    assert names - {"__init__", "__main__", "__pycache__"} == set(MAY_IMPORT)


def test_imports_go_one_way() -> None:
    upwards = []
    for importer, imported, at_import in imports():
        here, there = package_of(importer), package_of(imported)
        if here in ("", "__main__") or there in (here, "") or (there in FOUNDATIONS and here not in FOUNDATIONS):
            continue
        allowed = there in MAY_IMPORT[here] or (here in FOUNDATIONS and there in FOUNDATIONS)
        if not allowed or ((here, there) in LAZY_ONLY and at_import):
            upwards.append(f"{importer} imports {imported}")
    assert upwards == []


def test_no_module_imports_itself_through_others() -> None:
    graph: dict[str, set[str]] = {}
    for importer, imported, at_import in imports():
        if at_import:
            graph.setdefault(importer, set()).add(imported)
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_importing_is_cheap() -> None:
    code = f"import sys, ir_outcomes; print(*(name for name in {EXPENSIVE} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=dict(os.environ))
    assert done.stdout.strip() == ""
