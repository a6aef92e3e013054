"""Sphinx configuration."""

import tempfile
from pathlib import Path
from typing import Any

import ir_outcomes as iro

project = "ir_outcomes"
author = "The ir_outcomes developers"
copyright = "2026, the ir_outcomes developers"
version = release = iro.__version__

extensions = ["myst_nb", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
nb_execution_mode = "off"  # the notebook is stored with its outputs, and a test runs it
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
default_role = "py:obj"  # a name in single backquotes is a link
exclude_patterns = ["_build", "numbers/*.md"]  # the numbers are included in pages
html_theme = "furo"
html_title = "ir_outcomes"


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
    """Register what happens at the end of a build."""
    app.connect("build-finished", write_sample_report)
