"""What is shown of the decisions of a gate, and of a plan."""

from __future__ import annotations

from collections.abc import Iterator

from ir_outcomes._formatting import NOTHING, fixed, interval, percent, plural, pvalue
from ir_outcomes.comparison.gate import GateDecision, GateFacet, GateResult
from ir_outcomes.comparison.plan import Plan, PlannedFacet
from ir_outcomes.comparison.settings import Settings
from ir_outcomes.showing.view import Column, Layout, Statement, Table, View, view_of
from ir_outcomes.showing.views.comparison import queries_table

__all__: list[str] = []


@view_of.register
def _gate(result: GateResult, layout: Layout) -> View:
    statements = [
        Statement(decision.name, decision.status, decision.reasons if layout.sentences is not False else ())
        for decision in result.decisions
    ]
    if len(result.decisions) > 1:
        statements.insert(0, Statement("Gate", result.status, (f"The worst decision is that on {result.worst.name}.",)))
    behind = [
        queries_table(
            decision.queries, f"The queries with the largest harm: {decision.name}", result.baseline, decision.contender
        )
        for decision in result.decisions
        if decision.queries
    ]
    return View((_decisions_table(result), *behind), tuple(statements), result.notes)


def _decisions_table(result: GateResult) -> Table:
    several = any(decision.condition is not None for decision in result.decisions)
    columns = (
        *((Column("collection"),) if several else ()),
        Column("run"),
        Column("gate", "label"),
        Column("change", "number", "coverage"),
        Column("interval", "interval", "coverage"),
        Column("change", "number", "ranking"),
        Column("interval", "interval", "ranking"),
        Column("change", "number", "all queries"),
        Column("p", "pvalue", "all queries"),
        Column("missing", "number"),
        Column("verdict", "label"),
    )
    rows = tuple(
        (
            *((decision.condition or "",) if several else ()),
            decision.contender,
            decision.status,
            *_facet_cells(decision, 0),
            *_facet_cells(decision, 1),
            fixed(decision.all_queries, 2, signed=True),
            pvalue(decision.all_queries_p),
            percent(decision.n_missing[1] / decision.n_queries, unit=" %") if decision.n_queries else NOTHING,
            decision.label or NOTHING,
        )
        for decision in result.decisions
    )
    unit = next((decision.facets[1].measured_in for decision in result.decisions if decision.facets), "ranks")
    one = unit.removesuffix("s") if result.margins[1] == 1 else unit
    return Table(
        f"Gate: {result.status}, {plural('run', len({decision.contender for decision in result.decisions}))} against "
        f"{result.baseline}",
        f"margins {result.margins[0]:g} pp of coverage and {result.margins[1]:g} {one} of ranking, "
        f"at most {result.max_missing:.1%} of the queries missing{_head(result.settings)}",
        columns,
        rows,
        f"coverage: percentage points, higher is better; ranking: {unit}"
        f"{', lower is better' if unit == 'ranks' else ''}; all queries: change of the search length over all queries, ranks, "
        "lower is better, p not corrected; missing: share of the answerable queries for which the run returned nothing.",
    )


def _head(settings: Settings | None) -> str:
    if settings is None:
        return ""
    level = f"{100 * settings.margin_level:.4g} % intervals"
    cutoff = "" if settings.cutoff is None else f", cutoff {settings.cutoff}"
    return f"; {level}{cutoff}, rel {settings.rel}, unit {settings.unit}, ties {settings.ties}"


def _facet_cells(decision: GateDecision, place: int) -> tuple[str, str]:
    if not decision.facets:
        return NOTHING, NOTHING
    facet: GateFacet = decision.facets[place]
    places = 2 if facet.measured_in in ("percentage points", "ranks") else 4
    return fixed(facet.difference, places, signed=True), interval(facet.interval, places, signed=True)


@view_of.register
def _plan(result: Plan, layout: Layout) -> View:
    table = Table(
        f"Queries needed for {result.power:.0%} power",
        f"pilot: {plural('query', result.n_queries)}, {result.contender} against {result.baseline}, level "
        f"{result.coverage.needed.alpha:.3g}",
        (
            Column("facet"),
            Column("effect", "number"),
            Column("unit"),
            Column("n", "number"),
            Column("differ", "number"),
            Column("queries", "number"),
            Column(f"{result.coverage.needed.confidence:.0%} upper bound", "number"),
        ),
        tuple(_plan_cells(facet) for facet in (result.coverage, result.ranking)),
        "n: queries of the pilot that the facet is measured on; differ: those on which the runs differ; queries: answerable "
        "queries like these.",
        sentences=result.notes,
    )
    return View((table,))


def _plan_cells(facet: PlannedFacet) -> tuple[str, ...]:
    return (
        facet.name,
        f"{facet.effect:g}",
        facet.measured_in,
        str(facet.n),
        str(facet.n_nonzero),
        *_numbers(facet),
    )


def _numbers(facet: PlannedFacet) -> Iterator[str]:
    for number in (facet.needed.queries, facet.needed.upper):
        yield NOTHING if number is None else str(number)
