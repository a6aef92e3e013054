"""What is shown of the decisions of a gate, and of a plan."""

from __future__ import annotations

from ir_outcomes.across.gate import GateDecision, GateFacet, GateResult
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.plan import Plan, PlannedFacet
from ir_outcomes.formatting import NOTHING, fixed, interval, percent, plural
from ir_outcomes.showing.view import Column, Field, Layout, Statement, Table, View, of_part, tabulated, view_of
from ir_outcomes.showing.views.comparison import queries_table
from ir_outcomes.showing.words import places_of

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
    of_condition: Field[GateDecision] = (Column("collection"), lambda decision: decision.condition or "")
    against: Field[GateDecision] = (Column("against"), lambda decision: decision.reference or result.baseline)
    several = any(decision.condition is not None for decision in result.decisions)
    fields: list[Field[GateDecision]] = [
        *([of_condition] if several else []),
        (Column("run"), lambda decision: decision.contender),
        *([against] if result.reference is not None else []),
        (Column("gate", "label"), lambda decision: decision.status),
        *_facet_fields("coverage", 0),
        *_facet_fields("ranking", 1),
        *_facet_fields("all queries", 2),
        of_part(
            lambda decision: _part(decision, 2),
            (Column("margin", "number", "all queries"), lambda facet: fixed(facet.margin, 2)),
        ),
        (Column("missing", "number"), _share_missing),
        (Column("verdict", "label"), lambda decision: decision.label or NOTHING),
    ]
    unit = next((decision.facets[1].measured_in for decision in result.decisions if decision.facets), "ranks")
    one = unit.removesuffix("s") if result.margins[1] == 1 else unit
    return Table(
        f"Gate: {result.status}, {plural('run', len({decision.contender for decision in result.decisions}))} against "
        f"{result.baseline}{'' if result.reference is None else f' and {result.reference}'}",
        f"margins {result.margins[0]:g} pp of coverage and {result.margins[1]:g} {one} of ranking, "
        f"at most {result.max_missing:.1%} of the queries missing{_head(result.settings)}",
        *tabulated(fields, result.decisions),
        f"coverage: percentage points, higher is better; ranking: {unit}"
        f"{', lower is better' if unit == 'ranks' else ''}; all queries: search length over all queries, ranks, lower is "
        f"better, {'' if len(result.margins) > 2 else 'its margin follows from the other two; '}"
        "missing: share of the answerable queries for which the run returned nothing.",
    )


def _facet_fields(name: str, place: int) -> list[Field[GateDecision]]:
    fields: list[Field[GateFacet]] = [
        (Column("change", "number", name), lambda facet: fixed(facet.difference, places_of(facet.measured_in), signed=True)),
        (
            Column("interval", "interval", name),
            lambda facet: interval(facet.interval, places_of(facet.measured_in), signed=True),
        ),
    ]
    return [of_part(lambda decision: _part(decision, place), field) for field in fields]


def _part(decision: GateDecision, place: int) -> GateFacet | None:
    return decision.facets[place] if place < len(decision.facets) else None


def _share_missing(decision: GateDecision) -> str:
    return percent(decision.n_missing[1] / decision.n_queries, unit=" %") if decision.n_queries else NOTHING


def _head(settings: Settings | None) -> str:
    if settings is None:
        return ""
    level = f"{100 * settings.margin_level:.4g} % intervals"
    cutoff = "" if settings.cutoff is None else f", cutoff {settings.cutoff}"
    return f"; {level}{cutoff}, rel {settings.rel}, unit {settings.unit}, ties {settings.ties}"


@view_of.register
def _plan(result: Plan, layout: Layout) -> View:
    fields: list[Field[PlannedFacet]] = [
        (Column("facet"), lambda facet: facet.name),
        (Column("effect", "number"), lambda facet: f"{facet.effect:g}"),
        (Column("unit"), lambda facet: facet.measured_in),
        (Column("n", "number"), lambda facet: str(facet.n)),
        (Column("differ", "number"), lambda facet: str(facet.n_nonzero)),
        (Column("queries", "number"), lambda facet: _number(facet.needed.queries)),
        (
            Column(f"{result.coverage.needed.confidence:.0%} upper bound", "number"),
            lambda facet: _number(facet.needed.upper),
        ),
    ]
    table = Table(
        f"Queries needed for {result.power:.0%} power",
        f"pilot: {plural('query', result.n_queries)}, {result.contender} against {result.baseline}, level "
        f"{result.coverage.needed.alpha:.3g}",
        *tabulated(fields, (result.coverage, result.ranking)),
        "n: queries of the pilot that the facet is measured on; differ: those on which the runs differ; queries: answerable "
        "queries like these.",
        sentences=result.notes,
    )
    return View((table,))


def _number(number: int | None) -> str:
    return NOTHING if number is None else str(number)
