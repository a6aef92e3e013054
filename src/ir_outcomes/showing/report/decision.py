"""The page of a gate: its status as the title, the margins in the strips, and the queries with the most harm."""

from collections.abc import Mapping
from typing import Any

from ir_outcomes.across.gate import GateResult
from ir_outcomes.across.gate_decisions import GateFacet, most_harm_in_words
from ir_outcomes.comparison.margins import against_margins
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.formatting import places_of, short_unit
from ir_outcomes.notes import as_notes
from ir_outcomes.results import Result
from ir_outcomes.showing import MOST_NOTES, View
from ir_outcomes.showing.charts import (
    Estimate,
    Forest,
    Row,
    axis_of,
    estimate_of,
    facets_of,
    gain_sign,
)

STATUS_TONES: Mapping[str, str] = {"pass": "better", "inconclusive": "same", "fail": "worse"}
_NOTHING = Estimate(None, None, None, "", "")


def rows_of_facets(comparison: Comparison) -> list[dict[str, Any]]:
    """Return what the page shows of the facets, each with its margin as a gain where it has one."""
    rows = [{**row, "margin": None} for row in facets_of(comparison)]
    margins = comparison.settings.margins
    if margins is None:
        return rows
    found = against_margins(comparison, margins)
    for row, against in zip(rows, found, strict=False):  # measures have none
        row["margin"] = -against.margin
    return rows


def with_margins(forest: Forest | None, result: Result) -> Forest | None:
    """Add the margins that comparisons of several contenders were made with to their forest plot."""
    if forest is None or not isinstance(result, Comparisons) or result[0].settings.margins is None:
        return forest
    signs = (1, gain_sign(result[0].ranking))
    # Each row of several contenders is one of their comparisons.
    numbers = [row.section for row in forest.rows if row.section is not None]
    rows = []
    for row, number in zip(forest.rows, numbers, strict=True):
        facets = rows_of_facets(result[number])[: len(signs)]
        rows.append(row._replace(margins=[facet["margin"] for facet in facets]))
    panels = []
    for place, (title, _) in enumerate(forest.panels):
        estimates = [row.estimates[place] for row in rows]
        estimates += [_at(row.margins[place]) for row in rows]
        panels.append((title, axis_of(estimates, signs[place])))
    return Forest(forest.what, panels, rows)


def _at(gain: float) -> Estimate:
    """Return a place that an axis has to hold."""
    return _NOTHING._replace(gain=gain)


def forest_of_gate(result: GateResult) -> Forest | None:
    """Return the intervals for margins of each decision, the worst first, and the margins; None where nothing was compared."""
    most = max((decision.facets for decision in result.decisions), key=len)
    if not most:
        return None
    panels = [f"{facet.name}, {short_unit(facet.measured_in)}" for facet in most]
    rows = []
    number = 0
    for decision in result.worst_first:
        estimates = [_gain(facet) for facet in decision.facets]
        estimates += [_NOTHING] * (len(most) - len(estimates))
        margins = [-facet.margin for facet in decision.facets]
        own = None
        if decision.comparison is not None:
            own = number
            number += 1
        rows.append(Row(decision.name, decision.status, estimates, own, margins=margins))
    axes = []
    for place, facet in enumerate(most):
        estimates = [row.estimates[place] for row in rows]
        estimates += [_at(row.margins[place]) for row in rows if row.margins]
        axes.append(axis_of(estimates, gain_sign(facet)))
    return Forest("run", list(zip(panels, axes, strict=True)), rows)


def _gain(facet: GateFacet) -> Estimate:
    """Return a difference with its interval for margins; blue is an interval of gains only, orange harm that is shown."""
    gain = estimate_of(
        facet.difference, facet.interval, gain_sign(facet), places_of(facet.measured_in)
    )
    if facet.status == "harm shown":
        return gain._replace(tone="worse")
    return gain._replace(tone="better" if (gain.low or 0) > 0 else "same")


def causes_of(result: Result) -> list[Any]:
    """List the queries that the decisions of a gate name, those of the worst first.

    Of each the decision, id and text, the harm, and condition, baseline and contender, None without a comparison.
    """
    if not isinstance(result, GateResult):
        return []
    causes = []
    for decision in result.worst_first:
        pair = None
        if decision.comparison is not None:
            own = decision.comparison
            pair = (decision.condition or "", own.baseline, own.contender)
        for query, harm in zip(decision.queries, decision.harms, strict=True):
            causes.append((decision.name, query.query_id, query.text, harm, pair))
    return causes


def described(result: GateResult, view: View) -> dict[str, Any]:
    """Return what the page of a gate says first: the status as its title, and all reasons of a single decision."""
    title = view.title.partition(": ")[2]
    reasons = result.worst.reasons
    several = len(result.decisions) > 1
    harms = {most_harm_in_words(decision) for decision in result.decisions if decision.queries}
    most_harm = "most harm on the facets of each run, in turn"
    if len(harms) == 1:
        most_harm = harms.pop()
    return {
        "is_gate": True,
        "level": result.settings.margin_level,
        "title": title,
        "heading": result.status.capitalize(),
        "label": result.status,
        "tone": STATUS_TONES[result.status],
        "strongest": title,
        "sentences": view.sentences if several else (*reasons, *view.sentences[1:]),
        # The queries with the most harm are a table here.
        "first_notes": [note for note in as_notes(view.notes) if note.headline][:MOST_NOTES],
        "caused": f"Queries with the {most_harm}",
    }
