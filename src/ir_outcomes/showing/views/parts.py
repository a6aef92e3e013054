"""What views of comparisons share: rows, captions and details."""

from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from operator import itemgetter, methodcaller
from typing import Any, NamedTuple

from ir_outcomes.choices import DOCUMENTS_ABOVE, POINTS
from ir_outcomes.comparison.columns import NUMBERS_OF_ROWS, query_columns, test_p
from ir_outcomes.comparison.notes import counted_in
from ir_outcomes.comparison.result import Comparison, SystemRun
from ir_outcomes.comparison.wording import beyond_margins
from ir_outcomes.errors import some
from ir_outcomes.formatting import (
    NOTHING,
    contender_beside,
    fixed,
    interval,
    margin_text,
    places_apart,
    places_of,
    places_of_difference,
    places_of_means,
    plural,
    pvalue,
    short_unit,
)
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.verdict import Verdict
from ir_outcomes.showing.view import Table, legend
from ir_outcomes.showing.words import level_words
from ir_outcomes.statistics.estimate import smallest_pvalue
from ir_outcomes.table_columns import (
    INTERVAL_OF_ROW,
    NUMBER,
    OF_ROW,
    PVALUE,
    SIGNED_OF_ROW,
    Better,
    Column,
    decimals,
    of_part,
    signed,
)

# Not of reciprocal ranks:
BESIDE = ("difference", "interval", "new_runs", "p", *(column.name for column in NUMBERS_OF_ROWS))
MARK = "*"  # significant before the correction, and not after it
CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni", "fdr_bh": "Benjamini and Hochberg"}
TEST_NAMES = {
    "exact": "exact binomial",
    "t": "paired t",
    "wilcoxon": "signed rank",
    "ranksum": "rank sum",
}


def row_unit(row: Row, points: str = "points") -> str:
    """Return the short unit of a row, nothing where the name says it."""
    units = {POINTS: points, "reciprocal": "", row.name: ""}
    return units.get(row.measured_in, short_unit(row.measured_in))


def row_name(row: Row, points: str = "points") -> str:
    """Return the name of a row with its short unit."""
    return ", ".join(filter(None, (row.name, row_unit(row, points))))


def row_called(rows: Iterable[Row], name: str) -> Row | None:
    """Return the row of this name."""
    return next((row for row in rows if row.name == name), None)


def row_fields(alpha: float) -> tuple[Column, ...]:
    """Return the columns of a row, from which the tables of comparisons choose."""
    return (
        Column("n", form=NUMBER),
        Column("better", form=NUMBER),
        Column("worse", form=NUMBER),
        Column("baseline", heading="A", form=OF_ROW),
        Column("contender", lambda row: contender_beside(row, places_of_means(row)), "B", OF_ROW),
        Column("difference", heading="B - A", form=SIGNED_OF_ROW),
        Column("interval", heading=level_words(alpha), form=INTERVAL_OF_ROW),
        Column("new_runs", heading="new runs", form=INTERVAL_OF_ROW),
        Column("margin", margin_words, form=NUMBER),
        Column("margin_interval", interval_for_margin, "for margins", NUMBER),
        Column("p", partial(shown_p, alpha=alpha), "p", NUMBER),
        *(
            replace(column, value=partial(_in_its_unit, column), form=NUMBER)
            for column in NUMBERS_OF_ROWS
        ),
    )


def rows_by_name(items: Iterable[Any]) -> dict[str, list[Row]]:
    """The rows of the same name of items that have `rows` by name."""
    by_name: dict[str, list[Row]] = {}
    for item in items:
        for name, row in item.rows.items():
            by_name.setdefault(name, []).append(row)
    return by_name


def columns_of_rows(
    rows: Mapping[str, Sequence[Row]], alpha: float, *, means: bool = False
) -> list[Column]:
    """Mean, difference and p of each row, of items that have `rows` by name."""
    columns: list[Column] = []
    for name, of_name in rows.items():
        unit = row_unit(of_name[0])
        places = max(map(places_of_means if means else places_of_difference, of_name))
        mean = Column(
            "mean", partial(contender_beside, places=places), "mean", decimals(places), group=name
        )
        fields = (
            *([mean] if means else []),
            Column("difference", heading=unit or "B - A", form=signed(places), group=name),
            Column("p", partial(shown_p, alpha=alpha, digits=1), "p", NUMBER, group=name),
        )
        columns += of_part("rows", of_part(methodcaller("get", name), fields), f"{name} ")
    return columns


def margin_words(row: Row) -> str:
    """Write a margin as the difference that it is: a loss of coverage is below zero."""
    if row.margin is None:
        return NOTHING
    return margin_text(signed_margin(row), row.margin.interval or (), row.measured_in)


def signed_margin(row: Row) -> float:
    """Return the margin of a row that has one, below zero where higher is better."""
    size = 0.0 if row.margin is None else row.margin.size
    return -size if row.higher_is_better else size


def interval_for_margin(row: Row | None) -> str | None:
    """Write the interval for margins of a row, apart from its margin."""
    if row is None or row.margin is None or row.margin.interval is None:
        return None
    ends = row.margin.interval
    values = (row.difference or 0.0, signed_margin(row))
    places = max(places_apart(value, ends, places_of(row.measured_in)) for value in values)
    return interval(ends, places, signed=True)


def within_words(comparison: Comparison) -> str:
    """Say in a table whether a run is within the margins, and where not by name."""
    if comparison.settings.margins is None:
        return ""
    beyond = beyond_margins(comparison)
    if beyond:
        return f"no: {', '.join(beyond)}"
    return "yes, equivalent" if comparison.verdict.equivalent else "yes"


def _in_its_unit(column: Column, row: Row) -> str:
    """Write a number of a row with the decimals of its unit."""
    return fixed(column.of(row), places_of(row.measured_in))


def shown_p(row: Row, alpha: float, digits: int = 2) -> str:
    """Write the p-value of a row by itself, marked where a correction undoes it."""
    if row.difference is None:
        return NOTHING
    mark = MARK if row.pvalue <= alpha < row.pvalue_corrected else ""
    return f"{pvalue(row.pvalue, alpha, digits)}{mark}"


def difference_words(row: Row) -> str:
    """Write the difference of a row with its interval."""
    places = places_of_difference(row)
    words = fixed(row.difference, places, signed=True)
    return (
        words if row.interval is None else f"{words} {interval(row.interval, places, signed=True)}"
    )


def settings_words(settings: Any) -> str:
    """Say how runs were compared, and to which depth."""
    parts = []
    if settings.cutoff is not None:
        parts.append(f"cutoff {settings.cutoff}")
    if settings.rel is not None:
        parts.append(f"rel {settings.rel}")
    if settings.task:
        parts.append(f"as {settings.task} has it")
    parts.append(f"by {settings.unit}")
    if settings.unit == "document":
        parts.append("averaged by query")
    if settings.ties != "unknown":
        parts.append(f"ties {settings.ties}")
    if settings.judged_only:
        parts.append("judged only")
    if settings.alpha != 0.05:
        parts.append(f"alpha {settings.alpha:g}")
    return ", ".join(parts)


def widened_words(rows: Iterable[Row], alpha: float) -> str:
    """Say where few differences widen p-values and intervals."""
    for row in rows:
        smallest = smallest_pvalue(row.differ)
        if row.difference is not None and (smallest > alpha or smallest >= row.pvalue):
            return ", larger where few differ"
    return ""


def correction_of(settings: Any) -> str:
    """Say over how many contenders labels are corrected, nothing where there is one."""
    if settings.family == 1:
        return ""
    if settings.correction == "none":
        return f"labels not corrected over {settings.family}"
    return f"labels by {CORRECTIONS[settings.correction]} over {settings.family}"


def correction_words(comparisons: Sequence[Comparison]) -> str:
    """Say what p-values are, how labels are corrected, and what the mark means."""
    settings = comparisons[0].settings
    rows = [row for item in comparisons if not item.identical for row in item.parts]
    by_cluster = "" if settings.n_clusters is None else " by cluster"
    words = f"p: adjusted t{by_cluster}"
    widened = widened_words(rows, settings.alpha)
    if settings.family == 1:
        return words + (widened or ", as the interval")
    words += f"{widened}, each by itself; {correction_of(settings)}"
    if any(shown_p(row, settings.alpha).endswith(MARK) for row in rows):
        words += f"; {MARK}: does not hold under {CORRECTIONS[settings.correction]}"
    return words


def direction_words(comparisons: Sequence[Comparison]) -> str:
    """Say which row decides on the direction, of one comparison with its p-value."""
    first = comparisons[0]
    row = first.all_queries
    if row is None:
        return "direction: coverage and ranking together"
    name = row.name if first.in_lengths or first.coverage.n else row.measured_in
    if len(comparisons) > 1:
        return f"direction: {name}"
    return f"direction: {name}, p {pvalue(row.pvalue, first.alpha)}"


def paper_words(verdict: Verdict) -> str:
    """Say the paper's own verdict, where its tests can be made."""
    if verdict.strict is None or verdict.do_no_harm is None:
        return ""
    return f"Lin et al. 2021: {verdict.strict} by strict, {verdict.do_no_harm} by do no harm"


def missing_words(comparison: Comparison) -> str:
    """Say what counts over all queries where something is not found."""
    k = comparison.cutoff
    if k is None or not comparison.in_lengths or comparison.all_queries is None:
        return ""
    missing = "no answer" if comparison.unit == "query" else "not found"
    return f"; {missing}: rank {k + 1}"


def directions(rows: Iterable[Row]) -> str:
    """Say units and directions of rows: "coverage: points, higher is better"."""
    units = {POINTS: "points", DOCUMENTS_ABOVE: f"{DOCUMENTS_ABOVE}, plus 1"}
    columns = []
    for row in rows:
        better: Better = "higher" if row.higher_is_better else "lower"
        unit = units.get(row.measured_in, row.measured_in)
        columns.append(Column(row.name, heading=row.name, unit=unit, better=better))
    return legend(columns)


def measures_legend(measures: Sequence[Row], settings: Any) -> str:
    """Say that measures that were asked for decide on no label."""
    if not measures:
        return ""
    words = f"{', '.join(row.name for row in measures)}: not part of the label"
    whole = [row.name for row in measures if "@" not in row.name]
    if whole:
        words += f"; {', '.join(whole)}: whole lists, without the cutoff"
    return f"{words}; on the runs as given" if settings.judged_only else words


def systems_lines(comparisons: Sequence[Comparison]) -> list[str]:
    """Say which runs the systems have, and the range of their differences."""
    shown: dict[str, str] = {}
    for comparison in comparisons:
        if comparison.of_several_runs:
            for name, n_runs in comparison.systems:
                shown.setdefault(name, _system_words(comparison, name, n_runs))
    return list(shown.values())


def _system_words(comparison: Comparison, name: str, n_runs: int) -> str:
    """List the runs of a system, and the range of their differences."""
    if n_runs == 1:
        return f"{name}: one run, taken as fixed"
    runs = [run for run in comparison.runs if run.system == name]
    ranges = []
    for row in comparison.deciding:
        changes = [change for run in runs if (change := change_of(run, row)) is not None]
        if changes:
            ends = (
                fixed(end(changes), places_of(row.measured_in), signed=True) for end in (min, max)
            )
            ranges.append(f"{row.name} {' to '.join(ends)}")
    named = some([run.run for run in runs], 3)
    return f"{name}: {plural('run', len(runs))} ({named}); B - A: {', '.join(ranges)}"


def change_of(run: SystemRun, row: Row) -> float | None:
    """The difference of one run of a system in a row that decides."""
    changes = {"coverage": run.coverage, "ranking": run.ranking, "all queries": run.all_queries}
    return changes.get(row.name)


def details_of(
    comparisons: Sequence[tuple[str, Comparison]],
    heading: str,
    shown: Container[tuple[str, str]] = (),
    title: str = "Each row",
) -> tuple[Table, ...]:
    """Lay out all rows of comparisons by name, and single runs of their systems.

    `shown` are pairs of a row and a field that the first table has.
    """
    tables = (
        _rows_table(comparisons, heading, shown, title),
        _outcomes_table(comparisons, heading),
        _runs_table([item for _, item in comparisons]),
    )
    return tuple(table for table in tables if table.columns)


class _Line(NamedTuple):
    """A row of a comparison, with the name of the comparison at its first one."""

    name: str
    item: Comparison
    row: Row


def _rows_table(
    comparisons: Sequence[tuple[str, Comparison]],
    heading: str,
    shown: Container[tuple[str, str]],
    title: str,
) -> Table:
    lines = []
    for name, item in comparisons:
        papers = (item.naive, *filter(None, (item.reciprocal,)))
        lines += [
            _Line("" if position else name, item, row)
            for position, row in enumerate((*item.parts, *papers))
        ]

    def unseen(field: str, line: _Line) -> Row | None:
        """The row of a line, None where the first table has the field, or a paper has not."""
        of_papers = line.row.name not in {row.name for row in line.item.parts}
        is_hidden = (line.row.name, field) in shown or (of_papers and field in BESIDE)
        return None if is_hidden else line.row

    alpha = lines[0].item.alpha
    tests = dict.fromkeys(test for line in lines for test in line.row.tests)
    columns = [
        *(Column("name", heading=heading) for _ in comparisons[1:2]),
        Column("row", lambda line: row_name(line.row, "%")),
    ]
    for field in row_fields(alpha):
        columns += of_part(partial(unseen, field.name), (field,))
    columns += of_part(
        "row", (Column(test, test_p(test), TEST_NAMES[test], PVALUE) for test in tests)
    )
    units = plural(counted_in(lines[0].item), 2).removeprefix("2 ")
    meanings = (f"{column.title}: {words}" for column, words in NUMBERS_OF_ROWS.items())
    captions = [
        "; ".join(["n: queries of the row", f"better, worse: {units} in which B is", *meanings])
    ]
    if tests:
        names = ", ".join(TEST_NAMES[test] for test in tests)
        captions.append(f"{names}: p-values of the papers' own tests, by SciPy, not corrected")
    return Table.of(columns, lines, *captions, title=title, alpha=alpha)


def _outcomes_table(comparisons: Sequence[tuple[str, Comparison]], heading: str) -> Table:
    """Lay out the shares of outcomes, and where what was won and lost stood."""
    first = comparisons[0][1]
    items = "queries" if first.unit == "query" else "relevant documents"

    def share(name: str) -> Any:
        return lambda outcomes: outcomes.shares and 100 * getattr(outcomes.shares, name)

    outcomes = [
        Column(name, share(name), f"{name}, %", decimals(2))
        for name in ("won", "both", "neither", "lost")
    ]
    columns = (
        *(Column("name", lambda line: line[0], heading) for _ in comparisons[1:2]),
        *of_part(lambda line: line[1].outcomes, outcomes),
    )
    captions = []
    if first.of_several_runs:
        captions = ["shares are averages over queries and pairs of runs"]
    elif first.unit == "document":
        captions = [
            "shares are averaged by query",
            "over all, a missing document counts as just behind the cutoff",
        ]
    return Table.of(columns, comparisons, *captions, title=f"Outcomes, shares of the {items}")


def _runs_table(comparisons: Sequence[Comparison]) -> Table:
    """Lay out a row for each run of a system that has several."""
    lines = [(item, run) for item in comparisons for run in item.runs]
    columns = [
        *(Column("contender", lambda line: line[0].contender) for _ in comparisons[1:2]),
        Column("run", lambda line: line[1].run),
        Column("system", lambda line: line[1].system, "of"),
    ]
    for row in comparisons[0].deciding:
        form = signed(places_of(row.measured_in))
        change = partial(change_of, row=row)
        columns += of_part(itemgetter(1), [Column(row.name, change, row_name(row), form)])
    for position, row in enumerate(comparisons[0].measures):
        measure = Column(row.name, itemgetter(position), form=signed(4))
        columns += of_part(itemgetter(1), of_part("measures", [measure]))
    caption = "differences, B minus A, of one run against all runs of the other system"
    return Table.of(columns if lines else (), lines, caption, title="Each run")


def queries_table(queries: Iterable[Any], measured_in: str, title: str = "") -> Table:
    """Lay out queries with their outcomes and search lengths."""
    hidden = ("all_queries", "cluster")
    columns = (column for column in query_columns(measured_in) if column.name not in hidden)
    return Table.of(columns, queries, title=title)
