"""Sphinx configuration."""

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
