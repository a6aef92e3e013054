"""Sphinx configuration."""

import io
import re
import sys
from pathlib import Path
from typing import Any

import numpydoc.xref

import ir_outcomes as iro

sys.path.insert(0, str(Path(__file__).parent))

import schemas  # the script beside this file

DIRECTIVE = re.compile(r"^\.\. (?:auto(?!module)\w+|py:data):: ([\w.]+)$", re.MULTILINE)
# What the API pages describe: full names by last part.
DESCRIBED = {
    full.rpartition(".")[2]: full
    for page in (Path(__file__).parent / "api").glob("*.md")
    for full in DIRECTIVE.findall(page.read_text("utf-8"))
}

project = "ir_outcomes"
author = "The ir_outcomes developers"
copyright = "2026, the ir_outcomes developers"
version = release = iro.__version__

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.viewcode"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
autodoc_typehints = "none"
autodoc_member_order = "bysource"
add_module_names = False
numpydoc_show_class_members = False
numpydoc_xref_param_type = True  # classes named in the types of parameters are links
numpydoc_xref_ignore = "all"  # other words of a type are not
numpydoc.xref.DEFAULT_LINKS.clear()  # nor are Python's own types: their pages are on another site
numpydoc_xref_aliases = {name: full for name, full in DESCRIBED.items() if name[0].isupper()}
default_role = "py:obj"  # a name in single backquotes is a link
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "ir_outcomes"
html_static_path = ["_static"]
html_css_files = ["tables.css"]


def help_of_commands() -> str:
    """The help of every command, as it is printed in 80 columns."""
    from rich.console import Console

    from ir_outcomes.cli import COMMANDS
    from ir_outcomes.cli.build import app

    sections = []
    for name in COMMANDS:
        printed = io.StringIO()
        app(name)([*name.split(), "--help"], console=Console(file=printed, width=80))
        sections.append(f"## {name}\n\n```text\n{printed.getvalue().strip()}\n```\n")
    return "\n".join(sections)


def add_help_of_commands(app: Any, docname: str, source: list[str]) -> None:
    """Complete the page of the command line."""
    if docname == "cli":
        source[0] = f"{source[0]}\n{help_of_commands()}"


def write_schemas(app: Any, error: Exception | None) -> None:
    """Write the JSON Schema of each kind of result beside the pages of the documentation, which link to it."""
    if error is None and app.builder.format == "html":
        schemas.write(Path(app.outdir, "schemas.json"))


def resolve_described(app: Any, env: Any, node: Any, content: Any) -> Any:
    """Link a name that a docstring mentions from another module than the one that exports it."""
    name, dot, rest = node.get("reftarget", "").partition(".")
    if node.get("refdomain") != "py" or name not in DESCRIBED:
        return None
    target = DESCRIBED[name] + dot + rest
    return env.domains["py"].resolve_xref(
        env, node["refdoc"], app.builder, node["reftype"], target, node, content
    )


def without_arguments(*event: Any) -> tuple[str, None] | None:
    """Leave out the arguments of a class: functions make its instances, and its attributes are listed below."""
    return ("", None) if event[1] == "class" else None


def setup(app: Any) -> None:
    """Register what happens during a build."""
    app.connect("source-read", add_help_of_commands)
    app.connect("missing-reference", resolve_described)
    app.connect("autodoc-process-signature", without_arguments)
    app.connect("build-finished", write_schemas)
