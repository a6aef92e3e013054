"""Sphinx configuration."""

from importlib.metadata import version as installed

project = "ir_outcomes"
author = "The ir_outcomes developers"
copyright = "2026, the ir_outcomes developers"
version = release = installed("ir-outcomes")

extensions = ["myst_parser", "numpydoc", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.viewcode"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
exclude_patterns = ["_build"]
html_theme = "furo"
html_title = "ir_outcomes"
