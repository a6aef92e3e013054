"""The notebook of the docs: its stored outputs are those that it has today, and every figure is shown.

``python -m tests.test_notebook`` runs it and stores its outputs again.
"""

from __future__ import annotations

import re
import tempfile
from pathlib import Path
from typing import Any

import nbclient
import nbformat
import pytest

import ir_outcomes as iro

NOTEBOOK = Path(__file__).parents[1] / "docs" / "sample.ipynb"


def executed(folder: Path) -> Any:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(folder)}}).execute()
    return notebook


def code_cells(notebook: Any) -> list[Any]:
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def texts(cell: Any) -> list[str]:
    found = [output.get("data", {}) for output in cell.outputs]
    shown = [data[kind] for data in found for kind in ("text/plain", "text/html") if kind in data and "image/png" not in data]
    return shown + [output.text for output in cell.outputs if output.output_type == "stream"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning:zmq", "ignore::DeprecationWarning:jupyter_client")
def test_the_notebook_shows_what_is_stored_in_it(tmp_path: Path) -> None:
    stored, today = code_cells(nbformat.read(NOTEBOOK, as_version=4)), code_cells(executed(tmp_path))
    assert [texts(cell) for cell in today] == [texts(cell) for cell in stored]
    for cell in today:
        assert not [output for output in cell.outputs if output.output_type == "error" or output.get("name") == "stderr"]


def test_every_figure_is_stored() -> None:
    with_figure = [cell for cell in code_cells(nbformat.read(NOTEBOOK, as_version=4)) if ".plot(" in cell.source]
    assert len(with_figure) >= 2
    for cell in with_figure:
        assert any("image/png" in output.get("data", {}) for output in cell.outputs), cell.source


def test_the_notebook_uses_public_names() -> None:
    code = "\n".join(cell.source for cell in code_cells(nbformat.read(NOTEBOOK, as_version=4)))
    assert set(re.findall(r"\biro\.(\w+)", code)) <= set(iro.__all__)
    assert set(re.findall(r"from (ir_outcomes\.\S+) import", code)) <= {"ir_outcomes.samples"}


def store() -> None:
    with tempfile.TemporaryDirectory() as folder:
        notebook = executed(Path(folder))
    for number, cell in enumerate(code_cells(notebook), 1):
        cell.metadata.clear()  # times of execution
        cell.execution_count = number
    notebook.metadata = {
        "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
        "language_info": {"name": "python"},
    }
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    store()
