"""What is shown of the decisions of a gate."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import itemgetter

from ir_outcomes.choices import length_unit
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.decisions.gate import GateDecision, GateResult
from ir_outcomes.errors import some
from ir_outcomes.formatting import NOTHING, listed, margin_text, percent, plural
from ir_outcomes.notes import merged
from ir_outcomes.pairs.outcomes import QueryOutcome
from ir_outcomes.pairs.rows import Row
from ir_outcomes.showing.registry import Section, sections_of, view_of
from ir_outcomes.showing.view import Table, View, with_marks
from ir_outcomes.showing.views.parts import (
    interval_for_margin,
    queries_table,
    row_called,
    row_fields,
    row_name,
    settings_words,
    signed_margin,
    systems_lines,
)
from ir_outcomes.showing.words import direction
from ir_outcomes.table_columns import NUMBER, Column, chosen, of_part

HARM_MARKS = {"harm shown": "x", "not excluded": "?"}
HARM_MEANINGS = {
    "harm shown": "harm beyond the margin is shown",
    "not excluded": "harm beyond the margin is not excluded",
}
MOST_WORST = 3  # queries, and decisions, that are named on the first screen
MOST_DECISIONS = 6  # from which on those that pass are in the details only


@sections_of.register
def _sections(result: GateResult) -> list[Section]:
    return [
        Section.of(decision.comparison, decision.condition or "")
        for decision in result.worst_first
        if decision.comparison is not None
    ]


@view_of.register
def _gate(result: GateResult) -> View:
    ordered = result.worst_first
    worst = ordered[0]
    contenders = sorted({decision.contender for decision in ordered})
    named = {_name(decision, contenders): decision for decision in ordered}
    first_reason, *sentences = worst.reasons
    title = f"{result.status}: {first_reason}"
    background: list[str] = []
    if len(named) > 1:
        background = [_reasons(name, decision) for name, decision in named.items()]
        n_alike = sum(decision.status == result.status for decision in ordered)
        further = background[1 : min(n_alike, MOST_WORST)]
        if result.status == "pass":
            title = f"pass: {listed(contenders)}"
            further = []
        sentences = [_counts(result), *sentences, *further]
    open_ones = {name: item for name, item in named.items() if item.status != "pass"}
    is_long = len(named) > MOST_DECISIONS and 0 < len(open_ones) < len(named)
    subjects = ["all decisions"] if is_long else []
    subjects.append("margins")
    if len(named) > 1 and any(map(_measures, ordered)):
        subjects.append("measures")
    if any(decision.queries for decision in ordered):
        subjects.append("queries")
    if any(decision.needed for decision in ordered):
        subjects.append("how many would settle it")
    compared = [
        (name, decision.comparison.notes)
        for name, decision in named.items()
        if decision.comparison is not None
    ]
    return View(
        title,
        sentences=tuple(sentences),
        tables=(_decisions_table(result, open_ones if is_long else named),),
        notes=(*_most_harm(worst), *merged(compared)),
        more=", ".join(subjects),
        details=lambda: _details(result, named, is_long),
        background=(*background, *result.notes),
    )


def _details(result: GateResult, named: Mapping[str, GateDecision], is_long: bool) -> list[Table]:
    every = [replace(_decisions_table(result, named), title="All decisions")] if is_long else []
    return [*every, _margins_table(result, named), *_queries_tables(result, named)]


def _name(decision: GateDecision, contenders: Sequence[str]) -> str:
    """Name a decision, by its collection where all are on the same contender."""
    if len(contenders) > 1 or decision.condition is None:
        return decision.name
    against = f" against {decision.reference}" if decision.reference else ""
    return f"{decision.condition}{against}"


def _reasons(name: str, decision: GateDecision) -> str:
    """Say why, without the contender again."""
    reasons = (reason.removeprefix(f"{decision.contender}: ") for reason in decision.reasons)
    return " ".join((f"{name}:", *reasons))


def _counts(result: GateResult) -> str:
    """Count the decisions by status: "1 fail, 2 pass"."""
    decisions = result.worst_first
    counts = Counter(decision.status for decision in decisions)
    statuses = ", ".join(f"{number} {status}" for status, number in counts.items())
    words = plural("contender", len({decision.contender for decision in decisions}))
    if conditions := {decision.condition for decision in decisions} - {None}:
        words += f" on {plural(_kind_of_condition(decisions), len(conditions))}"
    against = listed([result.baseline, *filter(None, (result.reference,))])
    return f"{statuses}: {words} against {against}"


def _kind_of_condition(decisions: Iterable[GateDecision]) -> str:
    """Say what the conditions of decisions are."""
    measures = {item.comparison and item.comparison.naive.measured_in for item in decisions}
    return "measure" if {item.condition for item in decisions} == measures else "collection"


def _decisions_table(result: GateResult, named: Mapping[str, GateDecision]) -> Table:
    """Show the rows of each decision against their margins."""
    decisions = list(named.values())
    rows = max((decision.rows for decision in decisions), key=len)
    captions = _captions(result, decisions)
    fields = ("baseline", "contender", "difference", "margin_interval", "margin")
    columns = chosen(row_fields(result.settings.alpha), *fields)
    if len(decisions) == 1 and len(rows) > 1:
        finding = Column("found", lambda row: row.margin and row.margin.found, "finding")
        with_measures = [*rows, *_measures(decisions[0])]
        return Table.of((Column("row", row_name), *columns, finding), with_measures, *captions)
    several = len({decision.contender for decision in decisions}) > 1
    is_by_run = several or decisions[0].condition is None
    heading = "run" if is_by_run else _kind_of_condition(decisions)
    if len(rows) > 1:
        return _facets_table(named, heading, rows, captions)
    head = (
        Column("name", itemgetter(0), heading),
        Column("status", lambda line: line[1].status, "gate"),
    )
    lines = [(name, item, next(iter(item.rows), None)) for name, item in named.items()]
    meanings = {
        row.measured_in: direction(row.higher_is_better) for *_, row in lines if row is not None
    }
    meaning = "; ".join(map(": ".join, meanings.items()))
    return Table.of((*head, *of_part(itemgetter(2), columns)), lines, meaning, *captions)


def _measures(decision: GateDecision) -> Sequence[Row]:
    """The measures that were asked for, which decide nothing."""
    return () if decision.comparison is None else decision.comparison.measures


def _facets_table(
    named: Mapping[str, GateDecision], heading: str, rows: Sequence[Row], captions: Iterable[str]
) -> Table:
    """Show a line for each decision, below the margins."""
    columns: list[Sequence[str]] = [["margin", *named]]
    columns.append(["", *(decision.status for decision in named.values())])
    printed = set()
    for row in rows:
        against = [row_called(decision.rows, row.name) for decision in named.values()]
        findings = [item.margin.found if item and item.margin else "" for item in against]
        intervals = [interval_for_margin(item) or NOTHING for item in against]
        cells = [_margins_of(row.name, named.values()), *intervals]
        columns.append(with_marks(cells, ["", *(HARM_MARKS.get(harm, "") for harm in findings)]))
        printed.update(findings)
    meanings = [
        f"{mark}: {HARM_MEANINGS[harm]}" for harm, mark in HARM_MARKS.items() if harm in printed
    ]
    of_rows = (Column(row_name(row), form=NUMBER) for row in rows)
    headings = (Column(heading), Column("gate"), *of_rows)
    lines = zip(*columns, strict=True)
    return Table.of_texts(headings, lines, "; ".join(meanings), *captions)


def _margins_of(name: str, decisions: Iterable[GateDecision]) -> str:
    """Write the margin of a row, or its range where it depends on the run."""
    rows = [row for decision in decisions for row in decision.rows if row.name == name]
    ends = [pick(rows, key=signed_margin) for pick in (min, max)]
    return " to ".join(
        dict.fromkeys(margin_text(signed_margin(row), (), row.measured_in) for row in ends)
    )


def _captions(result: GateResult, decisions: Sequence[GateDecision]) -> Iterator[str]:
    """Say how many queries are missing, and the settings."""
    comparisons = [decision.comparison for decision in decisions if decision.comparison is not None]
    missing = [
        f"{percent(item.n_missing[1] / item.n_queries)} % of {decision.name}"
        for decision in decisions
        if (item := decision.comparison) is not None and item.n_missing[1]
    ]
    if missing:
        limit = percent(result.max_missing)
        counted = ""
        if all(map(_counts_worst, comparisons)):
            counted = "; what is missing counts as the worst value"
        yield f"queries missing: {some(missing, 3)}; at most {limit} % may be{counted}"
    several = [item for item in comparisons if item.of_several_runs]
    if several:
        yield "about these runs only"
        yield from systems_lines(several)
    level = 100 * (1 - result.settings.first_level)
    n_clusters = result.settings.n_clusters
    by_cluster = "" if n_clusters is None else f" by cluster ({n_clusters})"
    n_queries = {item.n_queries for item in comparisons}
    each = " each" if len({decision.condition for decision in decisions}) > 1 else ""
    queries = f"{plural('query', n_queries.pop())}{each}, " if len(n_queries) == 1 else ""
    intervals = f"{level:.4g} % intervals for margins{by_cluster}"
    if len(result.settings.margins or ()) == 2:
        yield f"margin of all queries: follows from the other two; {intervals}"
        yield f"{queries}{settings_words(result.settings)}"
    else:
        yield f"{queries}{intervals}, {settings_words(result.settings)}"


def _counts_worst(comparison: Comparison) -> bool:
    """Return whether values are compared, and the worst one is known."""
    row = comparison.all_queries or comparison.naive
    settings = comparison.settings
    is_known = row.largest is not None and settings.n_clusters is None
    return settings.ties == "unknown" and is_known


def _harm_title(decision: GateDecision) -> str:
    """Say on which rows the queries of a decision have the most harm."""
    names = [row.on for row in decision.rows if row.name in decision.harmed]
    return f"most harm {listed(names)}" + (", in turn" if len(names) > 1 else "")


def _most_harm(decision: GateDecision) -> Iterator[str]:
    """Name the queries with the most harm, and what was lost on them."""
    if decision.queries:
        is_ranking = decision.harmed == ["ranking"]
        worst = decision.queries[:MOST_WORST]
        named = [f"{query.query_id} ({_loss(query, is_ranking)})" for query in worst]
        yield f"{decision.name}, {_harm_title(decision)}: {', '.join(named)}."


def _loss(query: QueryOutcome, is_ranking: bool) -> str:
    """Say what a query lost: "3 to 71", "found, now lost"."""
    if query.outcome == "lost" and not is_ranking:
        if query.found_contender:
            return (
                f"{100 * query.found_baseline:.3g} % found, now {100 * query.found_contender:.3g} %"
            )
        return "found, now lost" if query.baseline is None else f"{query.baseline:.3g} to lost"
    if query.baseline is not None and query.contender is not None:
        return f"{query.baseline:.4g} to {query.contender:.4g}"
    return f"{query.all_queries or 0:+.3g}"


def _margins_table(result: GateResult, named: Mapping[str, GateDecision]) -> Table:
    """Show what equal runs could pass, and what would settle it."""
    lines = [
        (name, row, decision.needed.get(row.name))
        for name, decision in named.items()
        for row in (*decision.rows, *(_measures(decision) if len(named) > 1 else ()))
    ]
    columns = [
        Column("row", lambda line: row_name(line[1])),
        Column("passable", lambda line: _passable(line[1]), "equal runs pass", NUMBER),
        Column("needed", lambda line: line[2] and line[2].queries, "settled by", NUMBER),
    ]
    if len(named) > 1:  # of one the first table has the means
        fields = chosen(row_fields(result.settings.alpha), "baseline", "contender", "difference")
        columns[1:1] = of_part(itemgetter(1), fields)
        columns.insert(0, Column("run", itemgetter(0)))
    units = "queries" if result.settings.n_clusters is None else "clusters of queries"
    captions = ["equal runs pass: the smallest margin that runs could pass that differ on no query"]
    if any(needed for *_, needed in lines):
        captions.append(
            f"settled by: {units} like these that would exclude harm if the runs were equally good"
        )
    return Table.of(columns, lines, *captions, title="Margins")


def _passable(row: Row) -> str | None:
    if row.margin is None or row.margin.passable is None:
        return None
    return margin_text(row.margin.passable, (row.margin.size,), row.measured_in).lstrip("+")


def _queries_tables(result: GateResult, named: Mapping[str, GateDecision]) -> Iterator[Table]:
    """Yield the queries with the most harm for each decision."""
    unit = length_unit(result.settings.unit)
    for name, decision in named.items():
        if decision.queries:
            yield queries_table(decision.queries, unit, f"{name}, {_harm_title(decision)}")
