"""What is shown of the decisions of a gate."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from ir_outcomes.comparison.result import QueryOutcome
from ir_outcomes.comparison.rows import Row
from ir_outcomes.conditions.gate import GateDecision, GateResult
from ir_outcomes.errors import some
from ir_outcomes.formatting import (
    NOTHING,
    fixed,
    interval,
    listed,
    percent,
    places_of,
    plural,
    short_unit,
)
from ir_outcomes.notes import merged
from ir_outcomes.showing import Table, View, numbers, texts, view_of
from ir_outcomes.showing.views.parts import queries_table, settings_words, systems_lines
from ir_outcomes.table_columns import (
    INTERVAL_BY_UNIT,
    NUMBER,
    SIGNED_BY_UNIT,
    Column,
    of_part,
)
from ir_outcomes.types import POINTS, length_unit

MOST_WORST = 3  # queries, and decisions, that are named on the first screen


@view_of.register
def _gate(result: GateResult) -> View:
    ordered = result.worst_first
    worst = ordered[0]
    against = f"against {result.baseline}"
    if result.reference is not None:
        against += f" and {result.reference}"
    several = len(ordered) > 1
    reasons = [decision for decision in ordered if decision.status == result.status]
    label = f"{_counts(ordered)} {against}" if several else ""
    first_reason, *others = worst.reasons
    unit = length_unit(result.settings.unit)
    return View(
        f"{result.status}: {first_reason}",
        sentences=(
            *filter(None, (label,)),
            *others,
            *(_reason(own) for own in reasons[1:MOST_WORST]),
        ),
        tables=(_decisions_table(result, ordered), *_measures_table(ordered)),
        notes=(*_most_harm(worst), *merged([(own.name, own.notes) for own in ordered])),
        more="queries, texts, how many would settle it",
        details=(
            _margins_table(result, ordered),
            *(
                queries_table(own.queries, unit, f"{own.name}, {_harm_title(own)}")
                for own in ordered
                if own.queries
            ),
        ),
        background=(
            *(_reason(own) for own in ordered if several),
            *result.notes,
        ),
    )


def _reason(decision: GateDecision) -> str:
    """Say why, and where or against what, in case this is one of several."""
    where = decision.name.removeprefix(decision.contender).strip()
    return f"{where}: {' '.join(decision.reasons)}" if where else " ".join(decision.reasons)


def _counts(decisions: Sequence[GateDecision]) -> str:
    """Count the decisions by status: "1 fail, 2 pass"."""
    counts = Counter(decision.status for decision in decisions)
    statuses = ", ".join(f"{number} {status}" for status, number in counts.items())
    runs = plural("contender", len({decision.contender for decision in decisions}))
    collections = {decision.condition for decision in decisions} - {None}
    where = f" on {plural('collection', len(collections))}" if collections else ""
    return f"{statuses}: {runs}{where}"


def _row_called(decision: GateDecision, name: str) -> Row | None:
    return next((row for row in decision.rows if row.name == name), None)


def _names(decisions: Sequence[GateDecision]) -> dict[str, Row]:
    """Return the first row of each name."""
    found: dict[str, Row] = {}
    for decision in decisions:
        for row in decision.rows:
            found.setdefault(row.name, row)
    return found


def _margin_words(row: Row) -> str:
    """Write a margin as the difference that it is: a loss of coverage is below zero."""
    if row.margin is None:
        return NOTHING
    size = -row.margin.size if row.higher_is_better else row.margin.size
    return fixed(size, places_of(row.measured_in), signed=True)


def _cell(row: Row | None, in_brackets: bool) -> str:
    """Write a difference with its interval for margins, and the margin where it is not that of all."""
    if row is None or row.difference is None:
        return NOTHING
    places = places_of(row.measured_in)
    words = fixed(row.difference, places, signed=True)
    if row.margin is not None and row.margin.interval is not None:
        words += f" {interval(row.margin.interval, places, signed=True)}"
    return f"{words} ({_margin_words(row)})" if in_brackets else words


def _decisions_table(result: GateResult, decisions: Sequence[GateDecision]) -> Table:
    """Show the status of each decision, its rows with intervals, and the margins above them."""
    rows = _names(decisions)
    margins = {
        name: {_margin_words(row) for own in decisions for row in own.rows if row.name == name}
        for name in rows
    }
    shared = {name: len(found) == 1 for name, found in margins.items()}
    lines: list[tuple[str, ...]] = []
    if rows:
        above = (_margin_words(row) if shared[name] else "" for name, row in rows.items())
        lines.append(("margin", "", *above))
    for decision in decisions:
        cells = [_cell(_row_called(decision, name), not shared[name]) for name in rows]
        lines.append((decision.name, decision.status, *cells))
    columns = (*texts("run", "gate"), *numbers(*(_heading(row) for row in rows.values())))
    return Table.of_texts(columns, lines, *_captions(result, decisions, shared))


def _heading(row: Row) -> str:
    unit = "points" if row.measured_in == POINTS else short_unit(row.measured_in)
    return row.name if unit == row.name else f"{row.name}, {unit}"


def _captions(
    result: GateResult, decisions: Sequence[GateDecision], shared: dict[str, bool]
) -> Iterator[str]:
    """Say what the margins are, which queries have no results, and the settings."""
    if not all(shared.values()):
        others = len(result.settings.margins or ()) == 2
        yield (
            f"all queries: the margin in brackets {'follows from the other two' if others else ''}"
        ).rstrip()
    missing = [
        f"{percent(own.n_missing[1] / own.n_queries)} % of {own.name}"
        for own in decisions
        if own.n_missing[1]
    ]
    if missing:
        most = percent(result.max_missing)
        yield f"queries without results: {some(missing, 3)}; at most {most} % may be"
    comparisons = [own.comparison for own in decisions if own.comparison is not None]
    several = [item for item in comparisons if item.of_several_runs]
    if several:
        yield "about these runs only"
        yield from systems_lines(several)
    level = 100 * (1 - result.settings.first_level)
    n_clusters = result.settings.n_clusters
    by_cluster = "" if n_clusters is None else f" by cluster ({n_clusters})"
    n_queries = {own.n_queries for own in decisions if own.n_queries}
    queries = f"{plural('query', n_queries.pop())}, " if len(n_queries) == 1 else ""
    yield (
        f"{queries}{level:.4g} % intervals for margins{by_cluster},"
        f" {settings_words(result.settings, comparisons)}"
    )


def _measures_table(decisions: Sequence[GateDecision]) -> Iterator[Table]:
    """Yield the measures that were asked for, which decide nothing."""
    lines = [(own, row) for own in decisions for row in own.measures]
    if lines:
        columns = (
            Column("run", lambda line: line[0].name),
            *of_part(
                lambda line: line[1],
                (
                    Column("name", heading="measure"),
                    Column("baseline", heading="A", form=SIGNED_BY_UNIT),
                    Column("difference", heading="B - A", form=SIGNED_BY_UNIT),
                    Column("interval", form=INTERVAL_BY_UNIT),
                ),
            ),
        )
        yield Table.of(columns, lines, "measures decide nothing")


def _harm_title(decision: GateDecision) -> str:
    """Say on which rows the queries of a decision have the most harm."""
    names = [f"{'over' if name == 'all queries' else 'on'} {name}" for name in decision.harmed]
    return f"most harm {listed(names)}" + (", in turn" if len(names) > 1 else "")


def _most_harm(decision: GateDecision) -> Iterator[str]:
    """Name the queries with the most harm, and what was lost on them."""
    if decision.queries:
        named = [f"{query.query_id} ({_loss(query)})" for query in decision.queries[:MOST_WORST]]
        yield f"{decision.name}, {_harm_title(decision)}: {', '.join(named)}."


def _loss(query: QueryOutcome) -> str:
    """Say what a query lost: "3 to 71", "found, now lost"."""
    if query.outcome == "lost":
        if query.found_contender:
            return (
                f"{100 * query.found_baseline:.3g} % found, now {100 * query.found_contender:.3g} %"
            )
        return "found, now lost" if query.baseline is None else f"{query.baseline:.3g} to lost"
    if query.baseline is not None and query.contender is not None:
        return f"{query.baseline:.4g} to {query.contender:.4g}"
    return f"{query.restricted or 0:+.3g}"


def _margins_table(result: GateResult, decisions: Sequence[GateDecision]) -> Table:
    """Show each row against its margin, what equal runs could pass, and how many queries would settle it."""
    lines = [(own, row) for own in decisions for row in own.rows]

    def needed(line: Any) -> int | None:
        own, row = line
        return own.needed[row.name].queries if row.name in own.needed else None

    columns = (
        *(Column("run", lambda line: line[0].name) for _ in decisions[1:2]),
        Column("row", lambda line: _heading(line[1])),
        Column("margin", lambda line: _margin_words(line[1]), form=NUMBER),
        Column("found", lambda line: line[1].margin and line[1].margin.found, "finding"),
        Column("passable", lambda line: _passable(line[1]), "equal runs pass", NUMBER),
        Column("needed", needed, "settled by", NUMBER),
    )
    units = "queries" if result.settings.n_clusters is None else "clusters of queries"
    captions = (
        "equal runs pass: the smallest margin that runs could pass that differ on no query",
        f"settled by: {units} like these that would exclude harm if the runs were equally good",
    )
    return Table.of(columns, lines, *captions, title="Margins")


def _passable(row: Row) -> str | None:
    if row.margin is None or row.margin.passable is None:
        return None
    return fixed(row.margin.passable, places_of(row.measured_in))
