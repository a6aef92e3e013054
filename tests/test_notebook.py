"""The notebook of the docs: executed, with the outputs that it is stored with, by public names only."""

import ast
from pathlib import Path
from typing import Any

import pytest

import ir_outcomes as iro
from tests.helpers.packages import needed

nbformat = needed("nbformat")

NOTEBOOKS = sorted((Path(__file__).parents[1] / "docs").glob("*.ipynb"))
pytestmark = [
    pytest.mark.notebook,
    pytest.mark.filterwarnings(
        "ignore::DeprecationWarning:zmq", "ignore::DeprecationWarning:jupyter_client"
    ),
]


def shown(notebook: Any) -> list[list[tuple[str, str]]]:
    """List, for each cell of code, the kinds of its outputs and their texts; a picture has none."""
    return [
        [
            (kind, "" if kind.startswith("image/") else str(text))
            for output in cell.outputs
            for kind, text in sorted(
                output.get("data", {output.get("name"): output.get("text")}).items()
            )
        ]
        for cell in notebook.cells
        if cell.cell_type == "code"
    ]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_are_stored_with_their_outputs(path: Path, tmp_path: Path) -> None:
    nbclient = needed("nbclient")
    stored = nbformat.read(path, as_version=4)
    executed = nbformat.read(path, as_version=4)
    nbclient.NotebookClient(
        executed, timeout=120, resources={"metadata": {"path": str(tmp_path)}}
    ).execute()
    assert shown(executed) == shown(stored)
    kinds = [kind for cell in shown(executed) for kind, _ in cell]
    assert kinds.count("image/png") >= 3  # every figure, not only the first
    assert "text/html" in kinds
    assert "stderr" not in kinds


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_notebooks_use_public_names_only(path: Path) -> None:
    cells = (
        cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"
    )
    code = "\n".join(cell for cell in cells if not cell.startswith("%"))
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("ir_outcomes"):
            assert node.module == "ir_outcomes"
            assert {alias.name for alias in node.names} <= set(iro.__all__)
        elif (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == "iro"
        ):
            assert node.attr in iro.__all__
