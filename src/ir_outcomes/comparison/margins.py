"""Whether harm beyond margins is excluded or shown: non-inferiority and equivalence."""

from collections.abc import Sequence
from typing import NamedTuple

from ir_outcomes.comparison.facets import Facet, RestrictedLength
from ir_outcomes.comparison.outcomes import Outcomes
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.errors import ParameterError
from ir_outcomes.reading.measure_names import range_of
from ir_outcomes.statistics import intervals


class Against(NamedTuple):
    """One facet, or all queries, against its margin, and whether differences beyond it are excluded in both directions."""

    facet: Facet | RestrictedLength
    margin: float
    status: intervals.HarmStatus
    equivalent: bool


class Within(NamedTuple):
    """What follows for a contender from all facets; nothing does without the search over all queries."""

    non_inferior: bool
    equivalent: bool


def against_margins(comparison: Comparison, margins: Sequence[float]) -> list[Against]:
    """Compare the intervals of coverage, ranking and all queries (where they are known) with their margins."""
    facets: list[Facet | RestrictedLength] = [comparison.coverage, comparison.ranking]
    wanted = list(margins)
    if comparison.restricted is not None:
        facets.append(comparison.restricted)
        wanted.append(implied_margin(margins, comparison.restricted, comparison.outcomes))
    found = []
    for facet, margin in zip(facets, wanted, strict=False):
        status: intervals.HarmStatus = "harm excluded"
        is_equivalent = True
        if not comparison.identical:
            interval = facet.margin_interval
            status = intervals.harm(interval, margin, higher_is_better=facet.higher_is_better)
            is_equivalent = intervals.equivalent(interval, margin)
        found.append(Against(facet, margin, status, is_equivalent))
    return found


def within_margins(comparison: Comparison, found: Sequence[Against]) -> Within:
    """Return whether a contender is non-inferior, and whether it is equivalent."""
    if comparison.restricted is None and not comparison.identical:
        return Within(non_inferior=False, equivalent=False)
    return Within(
        non_inferior=all(against.status == "harm excluded" for against in found),
        equivalent=all(against.equivalent for against in found),
    )


def check_range(measure: str, largest: float | None) -> None:
    """Refuse margins where it is not known how much a query can change by."""
    if largest is None:
        raise ParameterError(
            f"`margins`: the largest possible value of {measure} is not known, so harm cannot be"
            " excluded; leave margins out, or compare by ranks or by a measure from 0 to 1, such"
            " as nDCG"
        )


def check_can_be_exceeded(
    comparison: Comparison, found: Sequence[Against], margins: Sequence[float]
) -> None:
    """Refuse margins that no harm can exceed: every contender would pass."""
    for against in found:
        facet = against.facet
        most = largest_change(facet, comparison.restricted)
        if most is None or not 0 < most <= against.margin:
            continue
        where = f"of {facet.name}"
        if facet.name == "all queries":
            where = "over all queries"
            if len(margins) == 2:
                where += f", and these imply a margin of {against.margin:.4g}"
        problem = (
            f"no run can lose more than {most:g} {facet.measured_in} {where}; give smaller margins"
        )
        raise ParameterError(problem, margins=tuple(margins))


def implied_margin(
    margins: Sequence[float], restricted: RestrictedLength, outcomes: Outcomes
) -> float:
    """Return what the margins of coverage and ranking tolerate over all queries, in ranks."""
    # Of a share `both` of what is found the ranking margin, and each answer that is lost costs at
    # most k ranks.
    both = 0.0 if outcomes.shares is None else outcomes.shares.both
    return margins[1] * both + margins[0] / 100 * restricted.horizon


def largest_change(
    facet: Facet | RestrictedLength, restricted: RestrictedLength | None
) -> float | None:
    """Return the most that a query can change by, in the unit of the facet; None where it is not known."""
    if facet.name == "coverage":
        return 100.0
    if restricted is None:
        return range_of(facet.measured_in)
    if facet.name == "ranking":
        return restricted.horizon - 1.0
    return float(restricted.horizon)
