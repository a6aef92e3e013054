"""Figures of results, with matplotlib: readable in print, in greyscale, and with any colour vision.

Each function takes ``ax=`` (Axes, an empty Figure, or None for a new figure of pyplot) and returns the Axes. None changes the
global settings of matplotlib.
"""

import ir_outcomes.showing.figures.across
import ir_outcomes.showing.figures.tail  # noqa: F401  (both register their figures)
from ir_outcomes.showing.figures._style import blank_figure, save
from ir_outcomes.showing.figures.comparisons import RestrictedParts, facet_plot, outcome_bar, restricted_bar
from ir_outcomes.showing.figures.curve import curve
from ir_outcomes.showing.figures.dispatch import draw, kinds
from ir_outcomes.showing.figures.forest import ForestPanel, ForestRow, forest
from ir_outcomes.showing.figures.leaderboards import conditions_plot
from ir_outcomes.showing.figures.queries import difference_histogram, query_chart, rank_scatter

__all__ = [
    "ForestPanel",
    "ForestRow",
    "RestrictedParts",
    "blank_figure",
    "conditions_plot",
    "curve",
    "difference_histogram",
    "draw",
    "facet_plot",
    "forest",
    "kinds",
    "outcome_bar",
    "query_chart",
    "rank_scatter",
    "restricted_bar",
    "save",
]
