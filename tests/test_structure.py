"""Which way the imports of the package go, and what importing it costs."""

import ast
import graphlib
import importlib
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import ir_outcomes as iro

SOURCES = Path(iro.__file__).parent
# A package imports only what is above it, also inside functions; packages of one line know nothing
# of each other, the first line excepted. Results load what shows them, when something is shown.
LAYERS = [
    {"errors", "types", "formatting", "notes", "table_columns", "results"},
    {"samples", "statistics", "reading"},
    {"evaluation"},
    {"measures"},
    {"comparison"},
    {"across", "leaderboards", "tail"},
    {"pages"},
    {"showing"},
    {"pyterrier"},
    {"cli"},
]
LEVEL = {package: level for level, packages in enumerate(LAYERS) for package in packages}
EXPENSIVE = (
    "scipy",
    "pandas",
    "matplotlib",
    "rich",
    "cyclopts",
    "jinja2",
    "pyterrier",
    "pyarrow",
    "joblib",
    "statsmodels",
)


@cache
def modules() -> dict[str, ast.Module]:
    paths = {
        path.relative_to(SOURCES.parent).with_suffix(""): path for path in SOURCES.rglob("*.py")
    }
    return {
        ".".join(name.parts).removesuffix(".__init__"): ast.parse(path.read_text("utf-8"))
        for name, path in paths.items()
    }


def imports_of(node: ast.AST, at_import: bool = True) -> Iterator[tuple[str, bool]]:
    """Yield our modules that are imported, and whether that is outside of functions and not for type checkers only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ImportFrom):
            assert child.level == 0, "a relative import"
            for alias in child.names:
                module = f"{child.module}.{alias.name}"
                yield module if module in modules() else child.module or "", at_import
        is_lazy = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        is_for_types = isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING"
        yield from imports_of(child, at_import and not is_lazy and not is_for_types)


@cache
def imports() -> list[tuple[str, str, bool]]:
    """Return importer and imported of our own modules, and whether that is when they are imported."""
    return [
        (name, module, at_import)
        for name, tree in modules().items()
        for module, at_import in imports_of(tree)
        if module in modules()
    ]


def test_every_module_has_a_layer() -> None:
    assert {name.split(".")[1] for name in modules() if "." in name} - {"__main__"} == set(LEVEL)


def test_imports_go_one_way() -> None:
    upwards = []
    for importer, imported, at_import in imports():
        here, there = ((*name.split("."), "")[1] for name in (importer, imported))
        if (
            here in ("", "__main__", there)
            or not there
            or (here, there, at_import) == ("results", "showing", False)
        ):
            continue
        if LEVEL[there] >= max(LEVEL[here], 1):
            upwards.append(f"{importer} imports {imported}")
    assert upwards == []


def test_what_is_shown_is_finished() -> None:
    """Nothing that draws evaluates, compares or reads: what it needs was collected before; and the tasks are data."""
    before = (
        "ir_outcomes.evaluation.evalua",
        "ir_outcomes.comparison.compare",
        "ir_outcomes.reading.",
    )
    drawing = {
        (name, module) for name, module, _ in imports() if name.startswith("ir_outcomes.showing")
    }
    reaching = {(name, module) for name, module in drawing if module.startswith(before)}
    assert reaching == {("ir_outcomes.showing.views", "ir_outcomes.reading.datasets")}


def test_no_module_imports_itself_through_others() -> None:
    graph: dict[str, set[str]] = {}
    for importer, imported, at_import in imports():
        if at_import:
            graph.setdefault(importer, set()).add(imported)
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_scripts_import_what_exists() -> None:
    for script in (
        path
        for folder in ("benchmarks", "tools")
        for path in SOURCES.parents[1].joinpath(folder).glob("*.py")
    ):
        for node in ast.walk(ast.parse(script.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("ir_outcomes"):
                names = dir(importlib.import_module(str(node.module)))
                assert {alias.name for alias in node.names} <= {*names}, script


def test_importing_is_cheap() -> None:
    code = f"import sys, ir_outcomes; print(*(name for name in {EXPENSIVE} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
