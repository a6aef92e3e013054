"""Figures of results, with matplotlib: readable in print, in greyscale, and with any colour vision.

Each takes ``ax=`` (Axes, an empty Figure, or None for a new figure of pyplot) and returns the Axes. None changes the global
settings of matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.across.same_queries import CutoffsComparison
from ir_outcomes.across.slices import SlicesComparison
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError
from ir_outcomes.leaderboards.agreement import Agreement
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.leaderboards.history import SotaHistory
from ir_outcomes.leaderboards.stability import RankCorrelation, RankDistribution
from ir_outcomes.showing.figures import comparisons, leaderboards
from ir_outcomes.showing.figures.drawing import blank_figure, save, styled
from ir_outcomes.showing.figures.leaderboards import conditions_plot
from ir_outcomes.tail.lengths import LengthChanges, LengthDistributions
from ir_outcomes.tail.reordering import Reordering
from ir_outcomes.tail.rrie import RRIE, Headroom

__all__ = ["KINDS", "blank_figure", "conditions_plot", "draw", "kinds", "save"]

Drawing = Callable[[Any, Any], Any]


def _only_for_one(kind: str) -> Drawing:
    def refuse(result: object, ax: Any) -> Any:
        raise ParameterError(f"kind={kind!r} is for one comparison: name one contender, or choose one of the result")

    return refuse


_OF_COMPARISONS: Mapping[str, Drawing] = {
    "facets": comparisons.draw_facets,
    "outcomes": comparisons.draw_outcomes,
    "restricted": comparisons.draw_restricted,
}
_OF_QUERIES: Mapping[str, Drawing] = {
    "ranks": comparisons.draw_ranks,
    "differences": comparisons.draw_differences,
    "queries": comparisons.draw_queries,
}
_FOREST: Mapping[str, Drawing] = {"forest": comparisons.draw_forest_of}
_HEADROOM = ("top precision", "top length", "precision", "length")

KINDS: Mapping[type, Mapping[str, Drawing]] = {
    Comparison: {**_OF_COMPARISONS, **_OF_QUERIES},
    Comparisons: {**_OF_COMPARISONS, **_FOREST, **{kind: _only_for_one(kind) for kind in _OF_QUERIES}},
    CollectionsComparison: _FOREST,
    SlicesComparison: _FOREST,
    CutoffsComparison: {"curve": comparisons.draw_curve, **_FOREST},
    Leaderboard: {
        "tiers": comparisons.draw_tiers,
        "verdicts": leaderboards.draw_verdicts,
        "history": leaderboards.draw_history_of_board,
    },
    SotaHistory: {"history": leaderboards.draw_history},
    RankDistribution: {"ranks": leaderboards.draw_rank_distribution, "tau": leaderboards.draw_tau},
    RankCorrelation: {"orders": leaderboards.draw_correlation},
    Agreement: {"agreement": leaderboards.draw_agreement, "paper": leaderboards.draw_paper_agreement},
    LengthDistributions: {"lengths": leaderboards.draw_lengths},
    LengthChanges: {"changes": leaderboards.draw_changes},
    RRIE: {"rrie": leaderboards.draw_rrie},
    Headroom: {kind: partial(leaderboards.draw_headroom, number=number) for number, kind in enumerate(_HEADROOM)},
    Reordering: {"orders": leaderboards.draw_reordering, "changes": leaderboards.draw_steps},
}
"""The figures of each result by name, the default first. Each takes the result and where to draw, and returns the Axes."""


def kinds(result: object) -> Mapping[str, Drawing]:
    """Return the figures of a result by name, the default first."""
    if type(result) not in KINDS:
        raise ParameterError(f"a {type(result).__name__} has no figures")
    return KINDS[type(result)]


@styled
def draw(result: object, kind: str | None = None, ax: Any = None) -> Any:
    """Draw a figure of a result by its name, or its first one; see `Result.plot`."""
    drawings = kinds(result)
    name = next(iter(drawings)) if kind is None else kind
    if name not in drawings:
        raise ParameterError(f"kind={kind!r}: a {type(result).__name__} is drawn as {', '.join(drawings)}")
    return drawings[name](result, ax)
