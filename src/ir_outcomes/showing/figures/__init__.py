"""Figures of results, with matplotlib: readable in print, in greyscale, and with any colour vision.

Each takes ``ax=`` (Axes, an empty Figure, or None for a new figure of pyplot) and returns the Axes. None changes the global
settings of matplotlib.
"""

from ir_outcomes.showing.figures._kinds import draw, kinds
from ir_outcomes.showing.figures._style import blank_figure, save
from ir_outcomes.showing.figures.leaderboards import conditions_plot

__all__ = ["blank_figure", "conditions_plot", "draw", "kinds", "save"]
