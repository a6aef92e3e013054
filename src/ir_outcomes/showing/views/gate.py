"""What is shown of the decisions of a gate, of a plan, and of the holes in the judgments."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ir_outcomes.across.gate import GateDecision, GateFacet, GateResult
from ir_outcomes.columns import Column, chosen
from ir_outcomes.comparison.holes import COLUMNS, MOST_TIPPING, Holes, PairHoles, Tipping
from ir_outcomes.comparison.plan import BY_DEFAULT, Plan
from ir_outcomes.formatting import fixed, interval, percent, plural
from ir_outcomes.showing.view import Table, View, table_of, view_of
from ir_outcomes.showing.views.comparison import queries_table
from ir_outcomes.showing.words import places_of, settings_words

MOST_WORST = 3  # queries that are named on the first screen


@view_of.register
def _gate(result: GateResult) -> View:
    by_name = {decision.name: decision for decision in result.decisions}
    return View(
        _gate_title(result),
        sentences=tuple(
            f"{decision.name}: {decision.reasons[0]}" if len(by_name) > 1 else decision.reasons[0]
            for decision in _worst_first(result)
            if decision.status != "pass" and decision.reasons
        )[:MOST_WORST],
        tables=(_decisions_table(result),),
        notes=tuple(_most_harm(result)),
        more="queries, texts, how many would settle it",
        details=tuple(
            queries_table(decision.queries, f"The queries with the largest harm: {name}")
            for name, decision in by_name.items()
            if decision.queries
        ),
        background=(
            *(f"{name}: {' '.join(decision.reasons)}" for name, decision in by_name.items() if decision.reasons),
            *result.notes,
        ),
    )


def _gate_title(result: GateResult) -> str:
    worst = result.worst
    against = f"against {result.baseline}{'' if result.reference is None else f' and {result.reference}'}"
    if len(result.decisions) == 1:
        return f"{worst.status}: {worst.name} {against}"
    counts = {
        status: sum(decision.status == status for decision in result.decisions) for status in ("fail", "inconclusive", "pass")
    }
    counted = ", ".join(f"{number} {status}" for status, number in counts.items() if number)
    return f"{result.status}: {plural('decision', len(result.decisions))} {against}, {counted}"


def _worst_first(result: GateResult) -> list[GateDecision]:
    order = ("fail", "inconclusive", "pass")
    return sorted(result.decisions, key=lambda decision: order.index(decision.status))


def _most_harm(result: GateResult) -> Iterator[str]:
    for decision in _worst_first(result)[:1]:
        named = [
            f"{query.query_id} ({_rank(query.baseline)} to {_rank(query.contender)})" for query in decision.queries[:MOST_WORST]
        ]
        if named and decision.status != "pass":
            yield f"{decision.name}, most harm: {', '.join(named)}."


def _rank(value: float | None) -> str:
    return "not found" if value is None else f"{value:g}"


def _decisions_table(result: GateResult) -> Table:
    ordered = _worst_first(result)
    first = next((decision.facets for decision in ordered if decision.facets), ())
    columns = (
        Column("condition", heading="collection"),
        Column("contender", heading="run"),
        *((Column("against", lambda decision: decision.reference or result.baseline),) if result.reference is not None else ()),
        Column("status", heading="gate", form="label"),
        *(
            Column(facet.name, _facet_at(place), _heading(facet), "n")
            for place, facet in enumerate(first)
        ),
        Column("missing", _missing, form="n"),
    )  # fmt: skip
    of_facets = zip(*(decision.facets for decision in ordered if decision.facets), strict=True)
    margins = [f"{facets[0].name} {' to '.join(sorted(set(map(_margin, facets))))}" for facets in of_facets]
    settings = result.settings
    head = "" if settings is None else f"{100 * settings.margin_level:.4g} % intervals, {', '.join(settings_words(settings))}"
    return table_of(
        columns,
        ordered,
        f"margins: {', '.join(margins)}; at most {result.max_missing:.1%} of the queries missing" if margins else "",
        head,
    )


def _heading(facet: GateFacet) -> str:
    unit = "points" if facet.measured_in == "percentage points" else facet.measured_in
    return f"{facet.name}, {unit}"


def _margin(facet: GateFacet) -> str:
    return f"{'-' if facet.higher_is_better else '+'}{facet.margin:.{places_of(facet.measured_in)}f}"


def _facet_at(place: int) -> Callable[[GateDecision], str | None]:
    def shown(decision: GateDecision) -> str | None:
        if place >= len(decision.facets):
            return None
        facet = decision.facets[place]
        places = places_of(facet.measured_in)
        return f"{fixed(facet.difference, places, signed=True)} {interval(facet.interval, places, signed=True)}"

    return shown


def _missing(decision: GateDecision) -> str | None:
    if not decision.n_queries or not decision.n_missing[1]:
        return None
    return percent(decision.n_missing[1] / decision.n_queries, unit=" %")


@view_of.register
def _plan(result: Plan) -> View:
    columns = (
        Column("facet", lambda facet: f"{facet.name}, {facet.effect:g} {_unit(facet.measured_in, facet.effect)}", " "),
        Column("queries", "needed.queries", form="n"),
        Column("upper", "needed.upper", "to be safe", "n"),
    )
    table = table_of(
        columns,
        (result.coverage, result.ranking),
        f"to be safe: an upper bound of {result.coverage.needed.confidence:.0%}; all numbers are of answerable queries like "
        f"these; level {result.coverage.needed.alpha:.3g}",
    )
    pilot = f"by a pilot of {result.n_queries} ({result.contender} against {result.baseline})"
    first = tuple(note for note in result.notes if note.startswith(BY_DEFAULT))
    background = tuple(note for note in result.notes if note not in first)
    title = f"Queries needed for {percent(result.power, 0)} % power, {pilot}"
    return View(title, tables=(table,), notes=first, background=background)


def _unit(measured_in: str, effect: float) -> str:
    unit = "points" if measured_in == "percentage points" else measured_in
    return unit.removesuffix("s") if effect == 1 and unit in ("points", "ranks") else unit


@view_of.register
def _holes(result: Holes) -> View:
    settings = ", ".join(settings_words(result.settings))
    tipping = tuple(_tipping_table(pair, pair.tipping) for pair in result.pairs if pair.tipping is not None)
    if len(result.pairs) == 1:
        (pair,) = result.pairs
        return View(
            f"{pair.contender} (B) against {result.baseline} (A) at cutoff {result.settings.cutoff}",
            f"{pair.label}; {_how_firmly(pair)}",
            tuple(_sentences(pair, result)),
            more="judged shares, which documents",
            details=(_holes_table(result, settings), *tipping),
            background=result.notes,
        )
    return View(
        f"{plural('run', len(result.pairs))} against {result.baseline} (A): what depends on unjudged documents",
        tables=(_holes_table(result, settings),),
        more="which documents",
        details=tipping,
        background=(*(f"{pair.contender}: {' '.join(_sentences(pair, result))}" for pair in result.pairs), *result.notes),
    )


def _holes_table(result: Holes, settings: str) -> Table:
    shares = (f"judged{at}_{run}" for at in ("_at_10", "") for run in ("baseline", "contender"))
    return table_of(
        chosen(COLUMNS, "contender", "verdict", "bound", "tipping_n", "n_unjudged", *shares),
        result.pairs,
        "bound: what three families of assignments do to the verdict; tipping: at most so many unjudged documents change it if "
        "they are relevant; unjudged: documents within the cutoff of A or B",
        settings,
    )


def _how_firmly(pair: PairHoles) -> str:
    """Say what few documents can do before what the extreme assignments of the bound can."""
    word = pair.bound.word
    if pair.tipping is not None:
        few = f"{plural('document', pair.tipping.n)} would make it {pair.tipping.label}"
    elif word == "stands":
        return word
    else:
        few = f"stands against any {MOST_TIPPING} documents"
    return few if word == "stands" else f"{few}; the extreme bound {word} it"


def _sentences(pair: PairHoles, result: Holes) -> Iterator[str]:
    bound, tipping = pair.bound, pair.tipping
    share = 1 - sum(pair.judged) / 2
    documents = plural("unjudged document", pair.n_unjudged)
    yield (
        f"{documents} {'is' if pair.n_unjudged == 1 else 'are'} in the top {result.settings.cutoff} of A or B ({share:.0%} of "
        "both lists)."
    )
    if tipping is not None:
        yield f"{tipping.n} of them, if relevant, would make it: {tipping.label}."
    else:
        yield "No set of at most five of them was found that changes its direction."
    if bound.word != "stands":
        yield (
            f"All that favour A relevant: {bound.baseline}; all that favour B: {bound.contender}; all that both return: "
            f"{bound.both}."
        )


def _tipping_table(pair: PairHoles, tipping: Tipping) -> Table:
    columns = (
        Column("query_id", heading="query"),
        Column("docid", heading="document"),
        Column("baseline", heading="rank A", form="n"),
        Column("contender", heading="rank B", form="n"),
    )
    return table_of(columns, tipping.documents, title=f"{pair.contender}: documents that make it {tipping.label} if relevant")
