"""Margins of harm: what the intervals of both facets exclude, and what they show."""

from __future__ import annotations

from typing import NamedTuple

from ir_outcomes.comparison.facets import Facet
from ir_outcomes.statistics import equivalent, harm_excluded, harm_shown

__all__ = ["Within", "excludes_harm", "identical", "shows_harm", "within_margins"]


class Within(NamedTuple):
    """Whether both facets stay within their margins.

    Attributes
    ----------
    non_inferior : bool
        Harm beyond the margins is excluded.
    equivalent : bool
        Differences beyond the margins in either direction are excluded.
    """

    non_inferior: bool
    equivalent: bool


def within_margins(coverage: Facet, ranking: Facet, margins: tuple[float, float]) -> Within:
    """Compare the intervals of both facets with their margins (two one-sided tests on each).

    Two runs that do not differ on any query are within any margin, even where so few queries have no interval.
    """
    facets = list(zip((coverage, ranking), margins, strict=True))
    if identical(coverage, ranking):
        return Within(True, True)
    return Within(
        all(excludes_harm(facet, margin) for facet, margin in facets),
        all(equivalent(facet.margin_interval, margin, facet.n) for facet, margin in facets),
    )


def identical(coverage: Facet, ranking: Facet) -> bool:
    """Tell whether two runs do not differ on any query."""
    return coverage.n_nonzero == 0 and ranking.n_nonzero == 0


def excludes_harm(facet: Facet, margin: float) -> bool:
    """Tell whether harm beyond the margin is excluded."""
    return harm_excluded(facet.margin_interval, margin, facet.n, higher_is_better=facet.higher_is_better)


def shows_harm(facet: Facet, margin: float) -> bool:
    """Tell whether harm beyond the margin is shown: even the favourable end of the interval is beyond it."""
    return harm_shown(facet.margin_interval, margin, facet.n, higher_is_better=facet.higher_is_better)
