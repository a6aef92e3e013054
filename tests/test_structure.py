"""Which way the imports of the package go, and what importing it costs."""

import ast
import graphlib
import importlib
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

import ir_outcomes as iro
from ir_outcomes.results import SHOWN_BY

SOURCES = Path(iro.__file__).parent
# A package imports only what is above it, also inside functions and for type checkers; packages of
# one line know nothing of each other, the first line excepted.
LAYERS = [
    {"arguments", "choices", "errors", "formatting", "files", "notes", "table_columns", "results"},
    {"samples", "reading"},
    {"values"},
    {"evaluation"},
    {"measures", "statistics"},
    {"pairs"},
    {"comparison"},
    {"conditions", "decisions", "leaderboards", "tail"},
    {"showing"},
    {"pyterrier"},
    {"cli"},
]
LEVEL = {package: level for level, packages in enumerate(LAYERS) for package in packages}
EXPENSIVE = (
    "numpy scipy pandas matplotlib rich cyclopts jinja2 pyterrier pyarrow joblib statsmodels"
)


@cache
def modules() -> dict[str, ast.Module]:
    trees = {}
    for path in SOURCES.rglob("*.py"):
        name = ".".join(path.relative_to(SOURCES.parent).with_suffix("").parts)
        trees[name.removesuffix(".__init__")] = ast.parse(path.read_text("utf-8"))
    return trees


def imports_of(tree: ast.AST) -> Iterator[str]:
    """Yield our modules that are imported, also inside functions and for type checkers."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, "a relative import"
            for alias in node.names:
                module = f"{node.module}.{alias.name}"
                yield module if module in modules() else node.module or ""


@cache
def imports() -> list[tuple[str, str]]:
    """Return importer and imported of our own modules."""
    return [
        (name, module)
        for name, tree in modules().items()
        for module in imports_of(tree)
        if module in modules()
    ]


def test_every_module_has_a_layer() -> None:
    assert {name.split(".")[1] for name in modules() if "." in name} - {"__main__"} <= set(LEVEL)


def test_imports_go_one_way() -> None:
    upwards = []
    for importer, imported in imports():
        here, there = ((*name.split("."), "")[1] for name in (importer, imported))
        if here in ("", "__main__", there) or not there:
            continue
        if LEVEL[there] >= max(LEVEL[here], 1):
            upwards.append(f"{importer} imports {imported}")
    assert upwards == []


def test_no_module_imports_itself_through_others() -> None:
    """Also inside functions and for type checkers."""
    graph: dict[str, set[str]] = {}
    for importer, imported in imports():
        if not imported.startswith(f"{importer}."):  # a package opens its own modules
            graph.setdefault(importer, set()).add(imported)
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_no_two_classes_share_a_name() -> None:
    names = [
        node.name
        for tree in modules().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
    ]
    assert [name for name, number in Counter(names).items() if number > 1] == []


def test_scripts_import_what_exists() -> None:
    root = SOURCES.parents[1]
    for script in (*root.glob("benchmarks/*.py"), *root.glob("tools/*.py")):
        for node in ast.walk(ast.parse(script.read_text("utf-8"))):
            if isinstance(node, ast.ImportFrom) and str(node.module).startswith("ir_outcomes"):
                names = dir(importlib.import_module(str(node.module)))
                assert {alias.name for alias in node.names} <= {*names}, script


def test_the_registry_names_functions() -> None:
    """The only edge upwards; nothing else writes modules as text."""
    assert SHOWN_BY
    for entry in SHOWN_BY.values():
        module, _, name = entry.partition(":")
        assert callable(getattr(importlib.import_module(module), name)), entry
    naming = {
        path.name
        for path in SOURCES.rglob("*.py")
        if re.search(r"[\"']ir_outcomes\.[\w.]+:\w+", path.read_text("utf-8"))
    }
    assert naming == {"__init__.py"}


def test_the_public_names_exist() -> None:
    assert len({*iro.__all__}) == len(iro.__all__)
    for name in iro.__all__:
        assert getattr(iro, name) is not None
        assert name in dir(iro)
    unknown = "nothing"
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        getattr(iro, unknown)


def run(code: str, **environment: str) -> str:
    """Return what a program writes that starts with nothing imported, and with no number of threads."""
    rest = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=rest | environment
    )
    return done.stdout.strip()


def test_importing_and_the_version_are_cheap() -> None:
    code = (
        "import sys, ir_outcomes; from ir_outcomes.__main__ import main\n"
        "sys.argv = ['ir-outcomes', '--version']; main()\n"
        f"print(*sys.modules.keys() & {set(EXPENSIVE.split())})"
    )
    assert run(code) == f"ir-outcomes {iro.__version__}"


@pytest.mark.parametrize("chosen", [{}, {"OPENBLAS_NUM_THREADS": "2"}])
def test_the_command_takes_one_thread_unless_the_user_says_otherwise(
    chosen: dict[str, str],
) -> None:
    code = (
        "import os, sys; sys.argv = ['ir-outcomes', 'compare']\n"
        "from ir_outcomes.__main__ import main\n"
        "try: main()\n"
        "finally: print(os.environ['OPENBLAS_NUM_THREADS'])"
    )
    assert run(code, **chosen) == chosen.get("OPENBLAS_NUM_THREADS", "1")
