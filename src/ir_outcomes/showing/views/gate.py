"""What is shown of the decisions of a gate, of a plan, and of the holes in the judgments."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import get_args

from ir_outcomes.across.gate import GateDecision, GateFacet, GateResult, Status
from ir_outcomes.columns import Column, chosen
from ir_outcomes.comparison.holes import COLUMNS, MOST_TIPPING, BoundWord, Holes, PairHoles, Tipping
from ir_outcomes.comparison.plan import BY_DEFAULT, Plan, PlannedFacet
from ir_outcomes.errors import some
from ir_outcomes.formatting import fixed, interval, percent, plural
from ir_outcomes.showing.view import Table, View, table_of, table_of_texts, view_of
from ir_outcomes.showing.views.comparison import queries_table
from ir_outcomes.showing.words import places_of, settings_words

MOST_WORST = 3  # queries that are named on the first screen


@view_of.register
def _gate(result: GateResult) -> View:
    order: list[Status] = ["fail", "inconclusive", "pass"]
    ordered = sorted(result.decisions, key=lambda decision: order.index(decision.status))
    worst, several = ordered[0], len(ordered) > 1
    counts = Counter(decision.status for decision in ordered)
    counted = ", ".join(f"{counts[status]} {status}" for status in order if counts[status])
    against = f"against {result.baseline}{'' if result.reference is None else f' and {result.reference}'}"
    counted = (
        f"{plural('decision', len(ordered))} {against}, {counted}"
        if len(counts) > 1
        else f"all {plural('decision', len(ordered))} {against}"
    )
    what = counted if several else f"{worst.name} {against}"
    facets = _facets(result, ordered)
    reasons = [f"{decision.name}: {decision.reasons[0]}" for decision in ordered if decision.status != "pass"]
    if len(reasons) > MOST_WORST:
        reasons[MOST_WORST:] = [f"And {len(reasons) - MOST_WORST} more that do not pass."]
    queries = [decision for decision in ordered if decision.queries]
    return View(
        f"{result.status}: {what}",
        sentences=tuple(reasons if several else worst.reasons[:1]),
        tables=(facets,) if worst.facets and not several else (_decisions(result, ordered),),
        notes=tuple(_most_harm(worst)),
        more="queries, texts, how many would settle it",
        details=(
            *([facets] if several else []),
            *(queries_table(decision.queries, f"The queries with the largest harm: {decision.name}") for decision in queries),
        ),
        background=(*(f"{decision.name}: {' '.join(decision.reasons)}" for decision in ordered), *result.notes),
    )


def _most_harm(worst: GateDecision) -> Iterator[str]:
    named = [f"{query.query_id} ({_rank(query.baseline)} to {_rank(query.contender)})" for query in worst.queries[:MOST_WORST]]
    if named:
        yield f"{worst.name}, most harm: {', '.join(named)}."


def _rank(value: float | None) -> str:
    return "not found" if value is None else f"{round(value, 1):g}"


def _decisions(result: GateResult, decisions: Sequence[GateDecision]) -> Table:
    """Show the status of each decision, and its intervals."""
    names = ("coverage", "ranking", "all queries")
    facets = [facet for decision in decisions for facet in decision.facets]
    margins = []
    for name in names:
        own = sorted((facet.margin, _margin(facet), _unit(facet)) for facet in facets if facet.name == name)
        if own:
            margins.append(f"{name} {' to '.join(dict.fromkeys((own[0][1], own[-1][1])))} {own[0][2]}")
    lines = []
    for decision in decisions:
        intervals = {facet.name: _interval(facet) for facet in decision.facets}
        lines.append((decision.name, decision.status, *map(intervals.get, names)))
    headings = [("run", ""), ("gate", "label"), *((name, "n") for name in names)]
    return table_of_texts(headings, lines, f"margins: {', '.join(margins)}" if margins else "", *_captions(result, decisions))


def _facets(result: GateResult, decisions: Sequence[GateDecision]) -> Table:
    """Show each facet of each decision against its margin, and how many queries would settle it."""
    several, settings = len(decisions) > 1, result.settings
    lines = [
        (
            decision.name if several else None,
            f"{facet.name}, {_unit(facet)}",
            fixed(facet.difference, places_of(facet.measured_in), signed=True),
            None if several else _interval(facet),
            _margin(facet),
            facet.status,
            facet.needed and facet.needed.queries,
        )
        for decision in decisions
        for facet in decision.facets
    ]
    units = "queries" if settings is None or settings.n_clusters is None else "clusters of queries"
    explained = f"settled by: {units} like these that would exclude harm if the runs were equally good"
    numbers = [(heading, "n") for heading in ("B - A", "interval", "margin")]
    return table_of_texts(
        [("run", ""), ("facet", ""), *numbers, ("finding", "label"), ("settled by", "n")],
        lines,
        explained if any(line[-1] for line in lines) else "",
        *_captions(result, decisions),
        title="Margins" if several else "",
    )


def _captions(result: GateResult, decisions: Sequence[GateDecision]) -> Iterator[str]:
    """Say which queries have no results, and the settings."""
    if result.settings is not None:
        missing = [
            f"{percent(decision.n_missing[1] / decision.n_queries)} % of {decision.name}"
            for decision in decisions
            if decision.n_missing[1]
        ]
        without = f"queries without results: {some(missing, 3)}; " if missing else ""
        yield f"{without}at most {percent(result.max_missing)} % of the queries may be without results"
        yield f"{100 * result.settings.margin_level:.4g} % intervals, {', '.join(settings_words(result.settings))}"


def _interval(facet: GateFacet) -> str:
    return interval(facet.interval, places_of(facet.measured_in), signed=True)


def _margin(facet: GateFacet) -> str:
    return f"{'-' if facet.higher_is_better else '+'}{facet.margin:.{places_of(facet.measured_in)}f}"


def _unit(facet: GateFacet | PlannedFacet) -> str:
    return "points" if facet.measured_in == "percentage points" else facet.measured_in


@view_of.register
def _plan(result: Plan) -> View:
    coverage, ranking = result.coverage, result.ranking
    rows = [(_planned(facet), facet.needed.queries, facet.needed.upper) for facet in (coverage, ranking)]
    table = table_of_texts(
        [(" ", ""), ("queries", "n"), ("to be safe", "n")],
        rows,
        f"to be safe: an upper bound of {percent(coverage.needed.confidence, 0)} %; all numbers are of answerable queries "
        f"like these; level {coverage.needed.alpha:.3g}",
    )
    pilot = f"by a pilot of {result.n_queries} ({result.contender} against {result.baseline})"
    first = tuple(note for note in result.notes if note.startswith(BY_DEFAULT))
    background = tuple(note for note in result.notes if note not in first)
    title = f"Queries needed for {percent(result.power, 0)} % power, {pilot}"
    return View(title, tables=(table,), notes=first, background=background)


def _planned(facet: PlannedFacet) -> str:
    unit = _unit(facet)
    is_one = facet.effect == 1 and unit in ("points", "ranks")
    return f"{facet.name}, {facet.effect:g} {unit.removesuffix('s') if is_one else unit}"


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
    bounds = Counter(pair.bound.word for pair in result.pairs)
    words = {word: "stand" if word == "stands" and bounds[word] > 1 else word for word in get_args(BoundWord)}
    counted = ", ".join(f"{bounds[word]} {shown}" for word, shown in words.items() if bounds[word])
    return View(
        f"{plural('run', len(result.pairs))} against {result.baseline} (A), if unjudged documents were relevant",
        counted,
        tables=(_holes_table(result, settings),),
        more="which documents",
        details=tipping,
        background=(*(f"{pair.contender}: {' '.join(_sentences(pair, result))}" for pair in result.pairs), *result.notes),
    )


def _holes_table(result: Holes, settings: str) -> Table:
    depths = ("_at_10", "") if (result.settings.cutoff or 0) > 10 else ("",)
    shares = (f"judged{at}_{run}" for at in depths for run in ("baseline", "contender"))
    explained = [
        "bound: if all unjudged documents that favour A, or B, or that both return were relevant, the direction stands, or "
        "could be lost (weaken), turned (reverse) or found (decide)",
        "tipping: so few of them could be enough" if any(pair.tipping for pair in result.pairs) else "",
        "unjudged: documents within the cutoff of A or B; judged: % of the documents of A and of B",
    ]
    return table_of(
        chosen(COLUMNS, "contender", "verdict", "bound", "tipping_n", "n_unjudged", *shares),
        result.pairs,
        "; ".join(filter(None, explained)),
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
        f"{documents} {'is' if pair.n_unjudged == 1 else 'are'} in the top {result.settings.cutoff} of A or B "
        f"({percent(share, 0)} % of both lists)."
    )
    if tipping is not None:
        yield f"{tipping.n} of them, if relevant, would make it: {tipping.label}."
    else:
        yield "No set of at most five of them was found that changes its direction."
    if bound.word != "stands":
        yield (
            f"If all that favour A were relevant: {bound.baseline}; all that favour B: {bound.contender}; all that both "
            f"return: {bound.both}."
        )


def _tipping_table(pair: PairHoles, tipping: Tipping) -> Table:
    columns = (
        Column("query_id", heading="query"),
        Column("docid", heading="document"),
        Column("baseline", heading="rank A", form="n"),
        Column("contender", heading="rank B", form="n"),
    )
    return table_of(columns, tipping.documents, title=f"{pair.contender}: documents that make it {tipping.label} if relevant")
