"""Sphinx configuration, the page of the notebook, and the report of the sample that the documentation links to."""

import json
import tempfile
from pathlib import Path
from typing import Any

from myst_parser.parsers.sphinx_ import MystParser

import ir_outcomes as iro

project = "ir_outcomes"
author = "The ir_outcomes developers"
copyright = "2026, the ir_outcomes developers"
version = release = iro.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
default_role = "py:obj"  # a name in single backquotes is a link
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "ir_outcomes"


class NotebookParser(MystParser):
    """Show a notebook with its stored outputs: cells as blocks of code, outputs as HTML or text."""

    supported = ("notebook",)

    def parse(self, inputstring: str, document: Any) -> None:
        super().parse("\n\n".join(map(_cell, json.loads(inputstring)["cells"])), document)


def _cell(cell: dict[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    return "\n\n".join([f"```python\n{source}\n```", *map(_output, cell["outputs"])])


def _output(output: dict[str, Any]) -> str:
    data = {kind: "".join(text) for kind, text in output.get("data", {"text/plain": output.get("text", "")}).items()}
    if "image/png" in data:
        return f'````{{raw}} html\n<img alt="figure" src="data:image/png;base64,{data["image/png"].strip()}">\n````'
    if "text/html" in data:
        return f"````{{raw}} html\n{data['text/html']}\n````"
    return f"```text\n{data['text/plain']}\n```"


def write_sample_report(app: Any, error: Exception | None) -> None:
    """Write the report page of the sample beside the pages of the documentation, which link to it."""
    from ir_outcomes.samples import write_sample

    if error is not None or app.builder.format != "html":
        return
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        write_sample(folder)
        runs = [folder / "bm25.run", folder / "bm25-stem.run"]
        evaluation = iro.evaluate(folder / "qrels.txt", runs, documents=20, queries=folder / "queries.tsv")
        command = "ir-outcomes report qrels.txt bm25.run bm25-stem.run --queries queries.tsv -o report.html"
        iro.report(evaluation, path=Path(app.outdir, "sample-report.html"), command=command, inputs=[folder / "qrels.txt"])


def setup(app: Any) -> None:
    """Add the parser of notebooks, and what happens at the end of a build."""
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
    app.connect("build-finished", write_sample_report)
