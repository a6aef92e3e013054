"""Sphinx configuration."""

import json

from myst_parser.parsers.sphinx_ import MystParser

from ir_outcomes import __version__

project = "ir_outcomes"
author = "The ir_outcomes developers"
copyright = "2026, the ir_outcomes developers"
version = release = __version__

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
    """Show a notebook with its stored outputs: cells as code blocks, outputs as HTML or text."""

    supported = ("notebook",)

    def parse(self, inputstring, document):
        super().parse("\n\n".join(map(_cell, json.loads(inputstring)["cells"])), document)


def _cell(cell):
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return source
    return "\n\n".join([f"```python\n{source}\n```", *map(_output, cell["outputs"])])


def _output(output):
    data = {kind: "".join(text) for kind, text in output.get("data", {"text/plain": output.get("text", "")}).items()}
    if "image/png" in data:
        return f'````{{raw}} html\n<img alt="figure" src="data:image/png;base64,{data["image/png"].strip()}">\n````'
    if "text/html" in data:
        return f"````{{raw}} html\n{data['text/html']}\n````"
    return f"```text\n{data['text/plain']}\n```"


def setup(app):
    app.add_source_suffix(".ipynb", "notebook")
    app.add_source_parser(NotebookParser)
