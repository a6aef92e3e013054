"""A figure that is written ready for print.

This module imports matplotlib; it is itself imported only when a figure is made.
"""

from __future__ import annotations

from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from ir_outcomes.showing.figures._fonts import without_glyph_warnings

__all__ = ["PRINT_SETTINGS", "PrintableFigure"]

PRINT_SETTINGS: Any = {
    "pdf.fonttype": 42,  # TrueType: publishers refuse the Type 3 fonts that are matplotlib's default
    "ps.fonttype": 42,
    "svg.fonttype": "none",  # text stays text, so it can be searched and edited
    "svg.hashsalt": "ir-outcomes",  # the same figure gives the same bytes
}


class PrintableFigure(Figure):
    """A matplotlib Figure whose PDF embeds TrueType fonts and whose SVG keeps its text."""

    def draw(self, renderer: Any) -> None:
        """Draw the figure without a warning for each character that no font has."""
        with without_glyph_warnings():
            super().draw(renderer)

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure as `matplotlib.figure.Figure.savefig` does, without changing the global settings."""
        with mpl.rc_context(PRINT_SETTINGS), without_glyph_warnings():
            super().savefig(fname, **options)
