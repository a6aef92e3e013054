"""What is shown of the decisions of a gate."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter, itemgetter

from ir_outcomes.across.gate import GateResult
from ir_outcomes.across.gate_decisions import (
    FIRST_NOTES,
    GateDecision,
    GateFacet,
    most_harm_in_words,
)
from ir_outcomes.errors import some
from ir_outcomes.formatting import fixed, listed, percent, places_of, plural, short_unit
from ir_outcomes.notes import FIRST, merged
from ir_outcomes.showing import Table, View, settings_words, view_of
from ir_outcomes.showing.views.parts import measures_tables, queries_table, systems_lines
from ir_outcomes.table_columns import (
    INTERVAL_BY_UNIT,
    NUMBER,
    SIGNED_BY_UNIT,
    Column,
    attributes,
    chosen,
    of_part,
)
from ir_outcomes.types import length_unit

MOST_WORST = 3  # queries that are named on the first screen


@view_of.register
def _gate(result: GateResult) -> View:
    ordered = result.worst_first
    worst = ordered[0]
    against = f"against {result.baseline}"
    if result.reference is not None:
        against += f" and {result.reference}"
    facets = _facets(result, ordered)
    title = f"{worst.name} {against}"
    sentences: Sequence[str] = worst.reasons[:1]
    table = facets if worst.facets else _decisions(result, ordered)
    details = []
    if len(ordered) > 1:
        title = f"{_contenders(ordered)} {against}: {_statuses(ordered)}"
        sentences = _reasons(ordered)
        table = _decisions(result, ordered)
        details.append(facets)
    unit = length_unit(result.settings.unit)
    for decision in ordered:
        if decision.queries:
            harmed = f"{decision.name}, {most_harm_in_words(decision)}"
            details.append(queries_table(decision.queries, unit, harmed))
    reasons = [f"{decision.name}: {' '.join(decision.reasons)}" for decision in ordered]
    return View(
        f"{result.status}: {title}",
        sentences=(*sentences, *_smallest_margins(result)),
        tables=(table, *measures_tables(ordered, attributes("run=name"), result.settings)),
        notes=(*_most_harm(worst), *_notes_on_decisions(ordered)),
        more="queries, texts, how many would settle it",
        details=tuple(details),
        background=(*reasons, *result.notes),
    )


def _contenders(decisions: Sequence[GateDecision]) -> str:
    """Count contenders and collections."""
    words = plural("contender", len({decision.contender for decision in decisions}))
    collections = {decision.condition for decision in decisions} - {None}
    if collections:
        words += f" on {plural('collection', len(collections))}"
    return words


def _statuses(decisions: Sequence[GateDecision]) -> str:
    counts = Counter(decision.status for decision in decisions)
    return ", ".join(f"{number} {status}" for status, number in counts.items())


def _reasons(decisions: Sequence[GateDecision]) -> list[str]:
    """Give the first reason of each decision that is remarkable, and count the rest."""
    reasons = []
    for decision in decisions:
        compared = [] if decision.comparison is None else [decision.comparison]
        if decision.status != "pass" or decision.identical or systems_lines(compared):
            reasons.append(f"{decision.name}: {decision.reasons[0]}")
    shown = reasons[:MOST_WORST]
    if len(reasons) > MOST_WORST:
        shown.append(
            f"And {len(reasons) - MOST_WORST} more that do not pass, are identical to the baseline,"
            " or have several runs."
        )
    return shown


def _all_are_identical(decisions: Sequence[GateDecision]) -> bool:
    """Return whether every run that was compared is a copy, so that there are no intervals."""
    return all(decision.identical for decision in decisions if decision.facets)


def _smallest_margins(result: GateResult) -> Iterator[str]:
    """Say which harm so many queries could exclude at best: that of runs which do not differ."""
    facets = next((decision.facets for decision in result.decisions if decision.facets), ())
    if _all_are_identical(result.decisions):
        return
    known = []
    for facet, margin in zip(facets, result.smallest_margins, strict=False):
        if margin is not None:
            unit = "points" if facet.name == "coverage" else facet.measured_in
            if facet.name == "all queries":
                unit += " over all queries"
            known.append(f"{margin:.3g} {unit}")
    if known:
        yield (
            f"If the runs did not differ on any query, harm beyond {listed(known)} would be"
            " excluded."
        )


def _notes_on_decisions(decisions: Sequence[GateDecision]) -> Iterator[str]:
    """Give what changes how decisions are read; a kind of note once, those that can make a decision wrong first."""
    if len(decisions) == 1:
        yield from decisions[0].notes
        return
    for kind in dict.fromkeys((*FIRST_NOTES, *FIRST)):
        of_kind = [
            (decision.name, [known for known in decision.notes if known.kind == kind])
            for decision in decisions
        ]
        yield from merged(of_kind)


def _most_harm(worst: GateDecision) -> Iterator[str]:
    """Name the queries with the most harm of the worst decision, and what was lost on them."""
    named = [
        f"{query.query_id} ({harm})" for query, harm in zip(worst.queries, worst.harms, strict=True)
    ][:MOST_WORST]
    if named:
        yield f"{worst.name}, {most_harm_in_words(worst)}: {'; '.join(named)}."


def _margin(facet: GateFacet) -> str:
    """Write a margin as the difference that it is: a loss of coverage is below zero."""
    difference = -facet.margin if facet.higher_is_better else facet.margin
    return fixed(difference, places_of(facet.measured_in), signed=True)


_FACET = (
    Column("facet", lambda facet: f"{facet.name}, {short_unit(facet.measured_in)}"),
    Column("difference", heading="B - A", form=SIGNED_BY_UNIT),
    Column("interval", form=INTERVAL_BY_UNIT),
    Column("margin", _margin, form=NUMBER),
    Column("status", heading="finding"),
    Column("needed", "needed.queries", "settled by", NUMBER),
)


def _facet(name: str) -> Callable[[GateDecision], GateFacet | None]:
    return lambda decision: next((facet for facet in decision.facets if facet.name == name), None)


def _decisions(result: GateResult, decisions: Sequence[GateDecision]) -> Table:
    """Show the status of each decision, and its intervals."""
    columns = [Column("run", "name"), Column("gate", "status")]
    margins = []
    for name in ("coverage", "ranking", "all queries"):
        facets = sorted(filter(None, map(_facet(name), decisions)), key=attrgetter("margin"))
        if facets:
            ends = dict.fromkeys([_margin(facets[0]), _margin(facets[-1])])  # once if the same
            margins.append(f"{name} {' to '.join(ends)} {facets[0].measured_in}")
        columns += of_part(_facet(name), chosen(_FACET, f"interval={name}"))
    return Table.of(
        columns,
        decisions,
        f"margins: {', '.join(margins)}" if margins else "",
        *_captions(result, decisions),
    )


def _facets(result: GateResult, decisions: Sequence[GateDecision]) -> Table:
    """Show each facet of each decision against its margin, and how many queries would settle it."""
    rows = [(decision, facet) for decision in decisions for facet in decision.facets]
    columns = of_part(itemgetter(1), _FACET)
    several = len(decisions) > 1
    if several:  # their intervals are in the table of decisions
        own = (column for column in columns if column.name != "interval")
        columns = (*of_part(itemgetter(0), attributes("run=name")), *own)
    units = "queries"
    if result.settings.n_clusters is not None:
        units = "clusters of queries"
    explained = (
        f"settled by: {units} like these that would exclude harm if the runs were equally good"
    )
    settled = any(
        facet.needed is not None and facet.needed.queries is not None for _, facet in rows
    )
    captions = (explained if settled else "", *_captions(result, decisions))
    return Table.of(columns, rows, *captions, title="Margins" if several else "")


def _captions(result: GateResult, decisions: Sequence[GateDecision]) -> Iterator[str]:
    """Say which queries have no results, and the settings."""
    missing = [
        f"{percent(decision.n_missing[1] / decision.n_queries)} % of {decision.name}"
        for decision in decisions
        if decision.n_missing[1]
    ]
    without = ""
    if missing:
        without = f"queries without results: {some(missing, 3)}; "
    yield f"{without}at most {percent(result.max_missing)} % of the queries may be without results"
    yield from systems_lines([own.comparison for own in decisions if own.comparison])
    n_clusters = result.settings.n_clusters
    by_cluster = "" if n_clusters is None else f" by cluster ({n_clusters})"
    if not _all_are_identical(decisions):
        yield (
            f"{100 * result.settings.margin_level:.4g} % intervals for margins{by_cluster}, which"
            " allow for rare large losses, so that they can be wider than those of compare"
        )
    yield settings_words(result.settings)
