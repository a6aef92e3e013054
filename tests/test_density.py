"""How dense the code of the package is: limits at what was reached, so that it stays readable aloud."""

import ast
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import ir_outcomes as iro

PATHS = sorted(Path(iro.__file__).parent.rglob("*.py"))
SILENT = {tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
LOOPS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def lines_of(node: ast.AST) -> range:
    assert isinstance(node, ast.stmt)
    assert node.end_lineno is not None
    return range(node.lineno, node.end_lineno + 1)


def silent_lines(tree: ast.Module) -> Iterator[int]:
    """Yield the lines of imports and docstrings, which are not counted."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from lines_of(node)
        if not isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            continue
        if ast.get_docstring(node):
            yield from lines_of(node.body[0])


@cache
def trees() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text("utf-8")) for path in PATHS}


@cache
def nodes() -> list[ast.AST]:
    return [node for tree in trees().values() for node in ast.walk(tree)]


@cache
def tokens_by_line() -> dict[tuple[Path, int], int]:
    """Count the tokens of each line of code; an f-string is one, as before Python 3.12."""
    counts: dict[tuple[Path, int], int] = {}
    depth = 0
    for path, tree in trees().items():
        silent = set(silent_lines(tree))
        with tokenize.open(path) as file:
            for token in tokenize.generate_tokens(file.readline):
                kind = tokenize.tok_name[token.type]
                if kind == "FSTRING_END":
                    depth -= 1
                    continue
                line = token.start[0]
                is_counted = depth == 0 and token.type not in SILENT and line not in silent
                if is_counted and token.string:
                    counts[path, line] = counts.get((path, line), 0) + 1
                if kind == "FSTRING_START":
                    depth += 1
    return counts


def in_thousand_lines(count: int) -> float:
    return 1000 * count / len(tokens_by_line())


def is_parallel(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Tuple)
        and isinstance(node.value, ast.Tuple)
    )


def test_a_line_does_one_thing() -> None:
    counts = tokens_by_line().values()
    assert sum(counts) / len(counts) <= 8.6
    assert sum(count > 25 for count in counts) / len(counts) <= 0.027
    assert in_thousand_lines(sum(map(is_parallel, nodes()))) <= 1


def test_conditional_expressions_are_simple() -> None:
    conditional = [node for node in nodes() if isinstance(node, ast.IfExp)]
    nested = [
        ast.unparse(node)
        for node in conditional
        if any(isinstance(inner, ast.IfExp) for inner in ast.walk(node) if inner is not node)
    ]
    assert nested == []
    assert in_thousand_lines(len(conditional)) <= 35


def test_loops_are_written_out_where_they_do_much() -> None:
    assert in_thousand_lines(sum(isinstance(node, LOOPS) for node in nodes())) <= 60


def test_no_module_is_long() -> None:
    assert {
        path.name: n for path in PATHS if (n := len(path.read_text("utf-8").splitlines())) > 500
    } == {}
