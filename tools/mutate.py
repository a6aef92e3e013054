"""Which small changes of the code do its tests notice?

Makes seeded small changes, one at a time, in a copy of the project: `<` and `<=`, signs, `any` and
`all`, `min` and `max`, constants, a dropped `not`. Runs the tests that the changed package has of
its own, first those that call the changed function, and lists the changes that no test notices.

    python tools/mutate.py --number 40 --seed 1
    python tools/mutate.py --number 20 --packages comparison statistics --output survivors.json
    python tools/mutate.py --again survivors.json

Changes that make no difference are listed in tools/equivalent_mutants.toml with the reason, and are
not drawn. Needs nothing beyond the tests' own packages, and a system that can fork.
"""

import argparse
import ast
import importlib
import json
import os
import random
import re
import shutil
import signal
import sys
import tempfile
import time
import tomllib
import traceback
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
SOURCES = "src/ir_outcomes"
PACKAGES = ("comparison", "statistics", "evaluation", "reading")
EQUIVALENT = ROOT / "tools" / "equivalent_mutants.toml"
# Imported once, so that not every mutant waits for it.
PRELOADED = (
    "pytest",
    "numpy",
    "scipy.stats",
    "scipy.sparse",
    "pandas",
    "joblib",
    "ir_measures",
    "msgspec",
)

COMPARISONS = {
    ast.Lt: ("<", "<="),
    ast.LtE: ("<=", "<"),
    ast.Gt: (">", ">="),
    ast.GtE: (">=", ">"),
    ast.Eq: ("==", "!="),
    ast.NotEq: ("!=", "=="),
}
SIGNS = {ast.Add: ("+", "-"), ast.Sub: ("-", "+")}
SWAPPED = {
    "any": "all",
    "all": "any",
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
}
# Settings of Python and NumPy that change no result of a correct program.
NEUTRAL = (
    "strict",
    "frozen",
    "slots",
    "eq",
    "order",
    "kw_only",
    "stacklevel",
    "dtype",
    "copy",
    "maxsize",
)


@dataclass(frozen=True)
class Mutant:
    """One small change of one line."""

    package: str
    module: str  # path below SOURCES
    function: str  # qualified name; "" at the top of a module
    line: int
    text: str  # of the line, without what surrounds it
    start: int  # characters of the module that are replaced
    end: int
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.module}:{self.line} {self.before} -> {self.after}: {self.text}"

    @property
    def identity(self) -> tuple[str, str, str, str]:
        """What stays the same when other lines change."""
        return self.module, self.text, self.before, self.after


def mutants_of(package: str) -> Iterator[Mutant]:
    """Yield every change that can be made in a package."""
    folder = ROOT / SOURCES
    for path in sorted((folder / package).rglob("*.py")):
        yield from Finder(
            package, path.relative_to(folder).as_posix(), path.read_text("utf-8")
        ).found()


class Finder(ast.NodeVisitor):
    """Finds what can be changed in a module."""

    def __init__(self, package: str, module: str, source: str) -> None:
        self._package = package
        self._module = module
        self._source = source
        self._lines = source.splitlines()
        lengths = [len(line.encode()) + 1 for line in self._lines]
        self._starts = [sum(lengths[:number]) for number in range(len(lengths))]
        self._bytes = source.encode()
        self._function: list[str] = []
        self._mutants: list[Mutant] = []

    def found(self) -> list[Mutant]:
        """Return all changes."""
        self.visit(ast.parse(self._source))
        return self._mutants

    def _place(self, line: int, column: int) -> int:
        return len(self._bytes[: self._starts[line - 1] + column].decode())

    def _add(self, line: int, start: int, before: str, after: str) -> None:
        text = self._lines[line - 1].strip()
        function = ".".join(self._function)
        mutant = Mutant(
            self._package,
            self._module,
            function,
            line,
            text,
            start,
            start + len(before),
            before.strip(),
            after.strip(),
        )
        self._mutants.append(mutant)

    def _add_between(self, left: ast.expr, right: ast.expr, before: str, after: str) -> None:
        """Replace an operator, which has no place of its own."""
        start = self._place(left.end_lineno or 0, left.end_col_offset or 0)
        end = self._place(right.lineno, right.col_offset)
        found = re.search(re.escape(before) + "(?![=<>])", self._source[start:end])
        if found:
            line = self._source.count("\n", 0, start + found.start()) + 1
            self._add(line, start + found.start(), before, after)

    def _visit_named(self, node: ast.FunctionDef | ast.ClassDef) -> None:
        self._function.append(node.name)
        if isinstance(node, ast.FunctionDef):
            for default in (*node.args.defaults, *node.args.kw_defaults):
                if default is not None:
                    self.visit(default)
        for child in node.body:  # neither decorators nor annotations
            self.visit(child)
        self._function.pop()

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        """Leave out what is before the body."""
        self._visit_named(node)

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        """Leave out what is before the body."""
        self._visit_named(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        """Leave the annotation out."""
        if node.value is not None:
            self.visit(node.value)

    def visit_Raise(self, node: ast.Raise) -> None:
        """Leave out what is only a message."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        """Leave text out."""

    def visit_keyword(self, node: ast.keyword) -> None:
        """Leave settings out that change no result."""
        if node.arg not in NEUTRAL:
            self.visit(node.value)

    def visit_If(self, node: ast.If) -> None:
        """Leave out what is only for type checkers."""
        if ast.unparse(node.test) != "TYPE_CHECKING":
            self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> None:
        """Move the limit of a comparison."""
        left = node.left
        for operator, right in zip(node.ops, node.comparators, strict=True):
            if type(operator) in COMPARISONS:
                self._add_between(left, right, *COMPARISONS[type(operator)])
            left = right
        self.generic_visit(node)

    def visit_BinOp(self, node: ast.BinOp) -> None:
        """Change a sign."""
        if type(node.op) in SIGNS:
            self._add_between(node.left, node.right, *SIGNS[type(node.op)])
        self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        """Change a sign."""
        if type(node.op) in SIGNS:
            before, after = SIGNS[type(node.op)]
            self._add_between(node.target, node.value, f"{before}=", f"{after}=")
        self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> None:
        """Drop a sign, or a `not`."""
        before = {ast.USub: "-", ast.Not: "not ", ast.Invert: "~"}.get(type(node.op))
        if before:
            self._add(node.lineno, self._place(node.lineno, node.col_offset), before, "")
        self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        """Swap `any` and `all`, `min` and `max`."""
        if node.id in SWAPPED:
            self._add(
                node.lineno, self._place(node.lineno, node.col_offset), node.id, SWAPPED[node.id]
            )

    def visit_Attribute(self, node: ast.Attribute) -> None:
        """Swap the methods and functions of NumPy, too."""
        if node.attr in SWAPPED:
            end = self._place(node.end_lineno or 0, node.end_col_offset or 0)
            self._add(node.end_lineno or 0, end - len(node.attr), node.attr, SWAPPED[node.attr])
        self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        """Change a number, or a truth value."""
        if isinstance(node.value, bool):
            after = str(not node.value)
        elif isinstance(node.value, int):
            after = str(node.value + 1)
        elif isinstance(node.value, float):
            after = repr(node.value * 1.5 + 0.25 * (node.value == 0))
        else:
            return
        start = self._place(node.lineno, node.col_offset)
        end = self._place(node.end_lineno or 0, node.end_col_offset or 0)
        self._add(node.lineno, start, self._source[start:end], after)


class Recorder:
    """A plugin of pytest that records which functions each test calls, and how long it takes."""

    def __init__(self, sources: Path, output: Path) -> None:
        self._prefix = str(sources)
        self._output = output
        self._called: dict[str, set[str]] = defaultdict(set)
        self._seconds: dict[str, float] = {}
        self._now: set[str] = set()

    def _profile(self, frame: Any, event: str, _: Any) -> None:
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(self._prefix):
            module = code.co_filename[len(self._prefix) + 1 :]
            self._now.add(f"{module}:{code.co_qualname.replace('.<locals>', '')}")

    def pytest_runtest_logstart(self) -> None:
        """Begin a test."""
        self._now = set()
        self._began = time.perf_counter()
        sys.setprofile(self._profile)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """End a test."""
        sys.setprofile(None)
        self._called[nodeid] |= self._now
        self._seconds[nodeid] = time.perf_counter() - self._began

    def pytest_sessionfinish(self) -> None:
        """Write what was recorded."""
        found = {
            test: [self._seconds[test], sorted(called)] for test, called in self._called.items()
        }
        self._output.write_text(json.dumps(found))


class Project:
    """A copy of the project, whose tests are run in a forked process."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        for name in ("src", "tests", "tools", "docs", "benchmarks"):
            shutil.copytree(
                ROOT / name,
                folder / name,
                ignore=shutil.ignore_patterns("__pycache__", "*.svg", "*.png"),
            )
        for path in ROOT.glob("*.*"):
            if path.is_file():
                shutil.copy(path, folder)
        self._tests: dict[str, dict[str, tuple[float, set[str]]]] = {}

    def tests_of(self, package: str) -> dict[str, tuple[float, set[str]]]:
        """Return the tests of a package, with their seconds and the functions that they call."""
        if package not in self._tests:
            calls = self._folder / f"{package}.json"
            fails = self._run(self._paths(package), 3600, Recorder(self._folder / SOURCES, calls))
            if fails:
                output = (self._folder / "output.txt").read_text()
                raise SystemExit(
                    f"{output[-3000:]}\nthe tests of {package} fail without any change"
                )
            recorded = json.loads(calls.read_text())
            self._tests[package] = {
                test: (seconds, {*called}) for test, (seconds, called) in recorded.items()
            }
        return self._tests[package]

    def notices(self, mutant: Mutant) -> bool:
        """Whether a test of the package fails, or never ends, when this is changed."""
        tests = self.tests_of(mutant.package)
        name = f"{mutant.module}:{mutant.function}"
        calling = [
            test for test, (_, called) in tests.items() if not mutant.function or name in called
        ]
        calling.sort(key=lambda test: tests[test][0])
        path = self._folder / SOURCES / mutant.module
        original = path.read_text("utf-8")
        path.write_text(original[: mutant.start] + mutant.after + original[mutant.end :], "utf-8")
        try:
            seconds = sum(tests[test][0] for test in calling)
            if calling and self._run(calling, 60 + 10 * seconds):
                return True
            # What is called once, such as for a fixture, or stored, is known to one of the tests
            # only.
            others = [test for test in tests if test not in calling]
            seconds = sum(tests[test][0] for test in others)
            return bool(others) and self._run(others, 60 + 10 * seconds)
        finally:
            path.write_text(original, "utf-8")

    def _paths(self, package: str) -> list[str]:
        return [f"tests/{package}", f"{SOURCES}/{package}"]

    def _run(self, tests: Sequence[str], seconds: float, *plugins: Any) -> bool:
        """Run tests up to the first that fails; return whether one did, or they took too long."""
        process = os.fork()
        if process == 0:
            os.setsid()  # also what the tests start can be ended
            status = 1
            try:
                status = self._in_child(tests, plugins)
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(status)
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            finished, status = os.waitpid(process, os.WNOHANG)
            if finished:
                return status != 0
            time.sleep(0.05)
        with suppress(ProcessLookupError):
            os.killpg(process, signal.SIGKILL)
        os.waitpid(process, 0)
        return True

    def _in_child(self, tests: Sequence[str], plugins: Sequence[Any]) -> int:
        import pytest

        os.chdir(self._folder)
        os.environ["PYTHONPATH"] = str(self._folder / "src")
        sys.path[:0] = [str(self._folder), str(self._folder / "src")]
        output = os.open("output.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(output, 1)
        os.dup2(output, 2)
        options = [
            "-x",
            "-p",
            "no:cacheprovider",
            "-o",
            "addopts=",
            "--doctest-modules",
            "--tb=line",
        ]
        return int(pytest.main([*options, *tests], [*plugins]))


def equivalent() -> dict[tuple[str, str, str, str], str]:
    """Return the reasons why changes make no difference."""
    listed = tomllib.loads(EQUIVALENT.read_text("utf-8"))["mutant"] if EQUIVALENT.exists() else []
    for entry in listed:
        lines = (ROOT / SOURCES / entry["module"]).read_text("utf-8").splitlines()
        if entry["text"] not in map(str.strip, lines):
            sys.exit(f"{EQUIVALENT}: {entry['module']} has no line {entry['text']!r} any more")
    return {
        (entry["module"], entry["text"], entry["before"], entry["after"]): entry["reason"]
        for entry in listed
    }


def drawn(packages: Sequence[str], number: int, seed: int) -> list[Mutant]:
    """Draw mutants that are not known to be equivalent."""
    known = equivalent()
    possible = [
        mutant
        for package in packages
        for mutant in mutants_of(package)
        if mutant.identity not in known
    ]
    return random.Random(seed).sample(possible, min(number, len(possible)))


def again(path: Path) -> list[Mutant]:
    """Return those that survived before, where they are now."""
    wanted = {tuple(entry) for entry in json.loads(path.read_text())}
    known = equivalent()
    return [
        mutant
        for package in PACKAGES
        for mutant in mutants_of(package)
        if mutant.identity in wanted and mutant.identity not in known
    ]


def main() -> None:
    """Make the changes and report those that no test notices."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--packages", nargs="+", default=PACKAGES, choices=PACKAGES)
    parser.add_argument("--output", type=Path, help="write the survivors to this file")
    parser.add_argument("--again", type=Path, help="try the survivors in this file again")
    parser.add_argument("--list", action="store_true", help="list the changes only")
    arguments = parser.parse_args()
    mutants = (
        again(arguments.again)
        if arguments.again
        else drawn(arguments.packages, arguments.number, arguments.seed)
    )
    if arguments.list:
        print(*mutants, sep="\n")
        return
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy is imported
    for name in PRELOADED:
        with suppress(ImportError):
            importlib.import_module(name)
    survivors: list[Mutant] = []
    with tempfile.TemporaryDirectory() as folder:
        project = Project(Path(folder) / "project")
        for number, mutant in enumerate(mutants, 1):
            noticed = project.notices(mutant)
            if not noticed:
                survivors.append(mutant)
            print(f"{number:4} {'noticed ' if noticed else 'SURVIVES'} {mutant}", flush=True)
            if arguments.output:
                arguments.output.write_text(
                    json.dumps([survivor.identity for survivor in survivors], indent=1)
                )
    share = 1 - len(survivors) / max(len(mutants), 1)
    print(
        f"\n{len(mutants) - len(survivors)} of {len(mutants)} noticed ({share:.0%}); seed"
        f" {arguments.seed}"
    )


if __name__ == "__main__":
    main()
