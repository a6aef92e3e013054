"""What is shown of the decisions of a gate."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from operator import itemgetter

from ir_outcomes.choices import length_unit
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.decisions.gate import GateDecision, GateResult
from ir_outcomes.errors import some
from ir_outcomes.formatting import listed, margin_text, percent, plural
from ir_outcomes.notes import merged
from ir_outcomes.pairs.outcomes import QueryOutcome
from ir_outcomes.pairs.rows import HarmFound, Row
from ir_outcomes.showing import Table, View, direction, numbers, texts, view_of
from ir_outcomes.showing.views.parts import (
    against_margin,
    interval_for_margin,
    margin_words,
    queries_table,
    row_called,
    row_fields,
    row_name,
    settings_words,
    signed_margin,
    systems_lines,
)
from ir_outcomes.table_columns import INTERVAL_OF_ROW, NUMBER, Column, chosen, of_part

HARM_MARKS: Mapping[HarmFound | None, str] = {"harm shown": "x", "not excluded": "?"}
MOST_WORST = 3  # queries, and decisions, that are named on the first screen


@view_of.register
def _gate(result: GateResult) -> View:
    ordered = result.worst_first
    worst = ordered[0]
    contenders = {decision.contender for decision in ordered}
    several = len(ordered) > 1
    names = [
        _short_name(decision) if len(contenders) == 1 else decision.name for decision in ordered
    ]
    reasons = [
        " ".join(
            (
                f"{name}:",
                *(reason.removeprefix(f"{decision.contender}: ") for reason in decision.reasons),
            )
        )
        for name, decision in zip(names, ordered, strict=True)
    ]
    first_reason, *rest = worst.reasons
    first = sum(decision.status == result.status for decision in ordered)
    against = listed([result.baseline, *filter(None, (result.reference,))])
    counts = [f"{_counts(ordered)} against {against}"] if several else []
    queries = [query for decision in ordered for query in decision.queries]
    more = [
        words
        for words, is_there in (
            ("margins", True),
            ("queries", queries),
            ("texts", any(query.text for query in queries)),
            ("how many would settle it", any(decision.needed for decision in ordered)),
        )
        if is_there
    ]
    title = f"{result.status}: {first_reason}"
    if several and result.status == "pass":
        title = f"pass: {listed(sorted(contenders))}"
        first = 0
    return View(
        title,
        sentences=(*counts, *rest, *reasons[1 : min(first, MOST_WORST)]),
        tables=(_decisions_table(result, ordered, names), *_measures_table(ordered)),
        notes=(
            *_most_harm(worst),
            *merged(
                [
                    (name, decision.comparison.notes)
                    for name, decision in zip(names, ordered, strict=True)
                    if decision.comparison is not None
                ]
            ),
        ),
        more=", ".join(more),
        details=(
            _margins_table(result, ordered, names),
            *(
                queries_table(
                    decision.queries,
                    length_unit(result.settings.unit),
                    f"{name}, {_harm_title(decision)}",
                )
                for name, decision in zip(names, ordered, strict=True)
                if decision.queries
            ),
        ),
        background=(*(reasons if several else ()), *result.notes),
    )


def _short_name(decision: GateDecision) -> str:
    """Name the collection, where all decisions are on the same contender."""
    if decision.condition is None:
        return decision.name
    against = f" against {decision.reference}" if decision.reference else ""
    return f"{decision.condition}{against}"


def _counts(decisions: Sequence[GateDecision]) -> str:
    """Count the decisions by status: "1 fail, 2 pass"."""
    counts = Counter(decision.status for decision in decisions)
    statuses = ", ".join(f"{number} {status}" for status, number in counts.items())
    runs = plural("contender", len({decision.contender for decision in decisions}))
    collections = {decision.condition for decision in decisions} - {None}
    kind = "measure" if all(map(_is_of_measure, decisions)) else "collection"
    collections_words = f" on {plural(kind, len(collections))}" if collections else ""
    return f"{statuses}: {runs}{collections_words}"


def _kind_of_name(decisions: Sequence[GateDecision]) -> str:
    """Say what the names of decisions are."""
    if len({decision.contender for decision in decisions}) > 1 or decisions[0].condition is None:
        return "run"
    return "measure" if all(map(_is_of_measure, decisions)) else "collection"


def _is_of_measure(decision: GateDecision) -> bool:
    """Return whether the condition of a decision is a measure."""
    comparison = decision.comparison
    return comparison is not None and decision.condition == comparison.naive.measured_in


def _decisions_table(
    result: GateResult, decisions: Sequence[GateDecision], names: Sequence[str]
) -> Table:
    """Show the rows of each decision against their margins."""
    rows = max((decision.rows for decision in decisions), key=len)
    captions = tuple(_captions(result, decisions))
    if len(rows) == 1:
        return _means_table(decisions, names, captions)
    if len(decisions) > 1:
        return _facets_table(decisions, names, rows, captions)
    columns = (
        Column("row", row_name),
        Column("difference", against_margin, form=NUMBER),
        Column("margin", margin_words, form=NUMBER),
        Column("found", lambda row: row.margin and row.margin.found, "finding"),
    )
    return Table.of(columns, rows, *captions)


def _means_table(
    decisions: Sequence[GateDecision], names: Sequence[str], captions: Sequence[str]
) -> Table:
    """Show the mean of each decision on values of another tool against its margin."""
    fields = ("baseline", "contender", "difference", "margin_interval", "margin")
    columns = (
        Column("name", itemgetter(0), _kind_of_name(decisions)),
        Column("status", lambda line: line[1].status, "gate"),
        *of_part(itemgetter(2), chosen(row_fields(0.05), *fields)),
    )
    lines = [
        (name, decision, next(iter(decision.rows), None))
        for name, decision in zip(names, decisions, strict=True)
    ]
    measures = {row.measured_in: row for *_, row in lines if row is not None}
    meaning = "; ".join(
        f"{measure}: {direction(row.higher_is_better)}" for measure, row in measures.items()
    )
    return Table.of(columns, lines, meaning, *captions)


def _facets_table(
    decisions: Sequence[GateDecision],
    names: Sequence[str],
    rows: Sequence[Row],
    captions: Sequence[str],
) -> Table:
    """Show a line for each decision, below the margins."""
    lines: list[list[str | None]] = [
        ["margin", "", *(_margins_of(row.name, decisions) for row in rows)]
    ]
    found: list[list[HarmFound | None]] = [[None for _ in rows]]
    for name, decision in zip(names, decisions, strict=True):
        against = [row_called(decision.rows, row.name) for row in rows]
        lines.append([name, decision.status, *map(interval_for_margin, against)])
        found.append([row.margin.found if row and row.margin else None for row in against])
    headings = [row_name(row) for row in rows]
    marks = [[HARM_MARKS.get(harm, "") for harm in column] for column in zip(*found, strict=True)]
    meanings = [
        f"{mark}: {meaning}"
        for mark, meaning in (
            ("x", "harm beyond the margin is shown"),
            ("?", "harm beyond the margin is not excluded"),
        )
        if any(mark in column for column in marks)
    ]
    columns = (*texts(_kind_of_name(decisions), "gate"), *numbers(*headings))
    table = Table.of_texts(columns, lines, "; ".join(meanings), *captions)
    return table.marked(raised=dict(zip(headings, marks, strict=True)))


def _margins_of(name: str, decisions: Sequence[GateDecision]) -> str:
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


def _measures_table(decisions: Sequence[GateDecision]) -> Iterator[Table]:
    """Yield the measures that were asked for, which decide nothing."""
    lines = [
        (decision, row)
        for decision in decisions
        if decision.comparison is not None
        for row in decision.comparison.measures
    ]
    if lines:
        fields = (
            Column("name", heading="measure"),
            *chosen(row_fields(0.05), "baseline", "difference"),
            Column("interval", form=INTERVAL_OF_ROW),
        )
        columns = (
            Column("run", lambda line: line[0].name),
            *of_part(itemgetter(1), fields),
        )
        yield Table.of(columns, lines, "measures decide nothing")


def _harm_title(decision: GateDecision) -> str:
    """Say on which rows the queries of a decision have the most harm."""
    names = [f"{'over' if name == 'all queries' else 'on'} {name}" for name in decision.harmed]
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


def _margins_table(
    result: GateResult, decisions: Sequence[GateDecision], names: Sequence[str]
) -> Table:
    """Show each row against its margin, and what would settle it."""
    lines = [
        (name, row, decision.needed.get(row.name))
        for name, decision in zip(names, decisions, strict=True)
        for row in decision.rows
    ]
    columns = (
        *(Column("run", itemgetter(0)) for _ in decisions[1:2]),
        Column("row", lambda line: row_name(line[1])),
        *of_part(itemgetter(1), chosen(row_fields(0.05), "baseline", "contender", "difference")),
        Column("passable", lambda line: _passable(line[1]), "equal runs pass", NUMBER),
        Column("needed", lambda line: line[2] and line[2].queries, "settled by", NUMBER),
    )
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
