"""Whether harm beyond margins is excluded or shown: non-inferiority and equivalence."""

from collections.abc import Sequence
from typing import NamedTuple

from ir_outcomes.comparison.facets import CoverageFacet, Facet, RankingFacet, RestrictedLength
from ir_outcomes.comparison.outcomes import Outcomes
from ir_outcomes.statistics import intervals


class Against(NamedTuple):
    """One facet, or all queries, against its margin, and whether differences beyond it are excluded in both directions."""

    facet: Facet | RestrictedLength
    margin: float
    status: intervals.HarmStatus
    equivalent: bool


def against_margins(
    coverage: CoverageFacet,
    ranking: RankingFacet,
    restricted: RestrictedLength | None,
    outcomes: Outcomes,
    margins: Sequence[float],
    identical: bool,
) -> list[Against]:
    """Compare the intervals of coverage, ranking and all queries (where they are known) with their margins."""
    facets: list[Facet | RestrictedLength] = [coverage, ranking]
    if restricted is not None and outcomes.shares is not None:
        # What the other two margins tolerate, over all queries: of a share `both` of what is found the ranking margin, and each
        # answer that is lost costs at most k ranks.
        implied = margins[1] * outcomes.shares.both + margins[0] / 100 * restricted.horizon
        margins = (*margins, implied)[:3]
        facets.append(restricted)
    found = []
    for facet, margin in zip(facets, margins, strict=False):
        interval, n = facet.margin_interval, facet.n
        status = intervals.harm(interval, margin, n, higher_is_better=facet.higher_is_better)
        is_equivalent = identical or intervals.equivalent(interval, margin, n)
        found.append(Against(facet, margin, "harm excluded" if identical else status, is_equivalent))
    return found


def within_margins(found: Sequence[Against], identical: bool) -> tuple[bool, bool]:
    """Return whether a contender is non-inferior, and whether it is equivalent; never without the search over all queries."""
    known = len(found) == 3 or identical
    return (
        known and all(against.status == "harm excluded" for against in found),
        known and all(against.equivalent for against in found),
    )
