"""What views of comparisons share: names and p-values of rows, what stands below their tables, and details."""

from collections.abc import Iterable, Sequence
from typing import Any

from ir_outcomes.comparison.columns import query_columns
from ir_outcomes.comparison.result import Comparison, SystemRun
from ir_outcomes.comparison.rows import Row
from ir_outcomes.errors import some
from ir_outcomes.formatting import NOTHING, fixed, listed, places_of, plural, pvalue, short_unit
from ir_outcomes.notes import as_notes
from ir_outcomes.showing import Table, numbers, texts
from ir_outcomes.table_columns import Column, decimals
from ir_outcomes.types import DOCUMENTS_ABOVE, POINTS

MARK = "*"  # significant before the correction, and not after it
CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni", "fdr_bh": "Benjamini and Hochberg"}


def row_name(row: Row) -> str:
    """Return the name of a row with its short unit."""
    unit = {POINTS: "%", "reciprocal": "", row.name: ""}.get(
        row.measured_in, short_unit(row.measured_in)
    )
    return f"{row.name}, {unit}" if unit else row.name


def shown_p(row: Row, alpha: float, digits: int = 2) -> str:
    """Write the p-value of a row by itself; marked where it does not hold after the correction."""
    if row.difference is None:
        return NOTHING
    mark = MARK if row.pvalue <= alpha < row.pvalue_corrected else ""
    return f"{pvalue(row.pvalue, alpha, digits)}{mark}"


def settings_words(settings: Any, comparisons: Sequence[Comparison] = ()) -> str:
    """Say how runs were compared, and to which depth where that is less than the cutoff."""
    cutoff = "no cutoff" if settings.cutoff is None else f"cutoff {settings.cutoff}"
    whole = [item.restricted for item in comparisons if item.restricted is not None]
    depths = sorted({int(row.largest) for row in whole if row.largest is not None})
    if depths and settings.cutoff is not None and depths[0] < settings.cutoff:
        ends = " to ".join(map(str, sorted({depths[0], depths[-1]})))
        cutoff = f"{cutoff} (lists end at {ends})"
    parts = [cutoff]
    if settings.rel is not None:
        parts.append(f"rel {settings.rel}")
    parts.append(f"by {settings.unit}")
    if settings.ties != "unknown":
        parts.append(f"ties {settings.ties}")
    if settings.judged_only:
        parts.append("judged only")
    if settings.alpha != 0.05:
        parts.append(f"alpha {settings.alpha:g}")
    return ", ".join(parts)


def correction_words(comparisons: Sequence[Comparison], noun: str = "run") -> str:
    """Say what p-values are, how labels are corrected, and what the mark means."""
    settings = comparisons[0].settings
    if settings.family == 1:
        return "p: t of the mean, as the interval"
    p = f"p: t of the mean, of each {noun} by itself"
    if settings.correction == "none":
        return f"{p}; labels not corrected over {settings.family}"
    rule = CORRECTIONS[settings.correction]
    words = f"{p}; labels by {rule} over {settings.family}"
    rows = (row for item in comparisons for row in item.deciding)
    if any(shown_p(row, settings.alpha).endswith(MARK) for row in rows):
        words += f"; {MARK}: does not hold under {rule}"
    return words


def paper_rules(comparisons: Sequence[Comparison]) -> str:
    """Say where the paper's rule *do no harm*, by the paper's own tests, has another direction than the label."""
    others: dict[str, list[str]] = {}
    for item in comparisons:
        says = item.verdict.do_no_harm
        direction = "none" if says == "undecided" else says
        if says is not None and direction != item.verdict.direction:
            others.setdefault(says, []).append(item.contender)
    if not others:
        return ""
    words = (
        f"{says}" if len(comparisons) == 1 else f"{says} for {some(names, 3)}"
        for says, names in others.items()
    )
    return f"by the paper's own tests the rule do no harm says {listed(list(words))}"


def above_legend(comparison: Comparison) -> str:
    """Explain the unit of rows of documents."""
    if comparison.ranking.measured_in == DOCUMENTS_ABOVE:
        return f"above: {DOCUMENTS_ABOVE}, plus 1, averaged by query; lower is better"
    return ""


def directions(rows: Iterable[Row]) -> str:
    """Say units and directions of rows in one line: "coverage: points, higher is better"."""
    meanings: dict[str, list[str]] = {}
    for row in rows:
        better = "higher is better" if row.higher_is_better else "lower is better"
        unit = "points" if row.measured_in == POINTS else row.measured_in
        meaning = better if unit == row.name else f"{unit}, {better}"
        meanings.setdefault(meaning, []).append(row.name)
    return "; ".join(f"{', '.join(names)}: {meaning}" for meaning, names in meanings.items())


def measures_legend(measures: Sequence[Row], settings: Any) -> str:
    """Say which measures that were asked for are better when lower, and that none decides."""
    if not measures:
        return ""
    lower = [row.name for row in measures if not row.higher_is_better]
    words = f"{', '.join(row.name for row in measures)}: not part of the label"
    if settings.family > 1:
        words += ", not corrected"
    if lower:
        words += f"; lower is better for {listed(lower)}"
    if settings.judged_only:
        words += "; on the runs as given"
    return words


def systems_lines(comparisons: Sequence[Comparison]) -> list[str]:
    """Say which runs the systems have, and over which range the runs differ from the other system."""
    shown: dict[str, str] = {}
    for comparison in comparisons:
        if not comparison.of_several_runs:
            continue
        for name, n_runs in comparison.systems:
            shown.setdefault(name, _system_words(comparison, name, n_runs))
    return list(shown.values())


def _system_words(comparison: Comparison, name: str, n_runs: int) -> str:
    """List the runs of a system, and the range of their differences on both facets."""
    if n_runs == 1:
        return f"{name}: one run, taken as fixed"
    runs = [run for run in comparison.runs if run.system == name]
    coverage = _range_words([run.coverage for run in runs], 2)
    places = places_of(comparison.ranking.measured_in)
    ranking = _range_words([run.ranking for run in runs], places)
    named = some([run.run for run in runs], 3)
    return (
        f"{name}: {plural('run', len(runs))} ({named}); B - A: coverage {coverage}, ranking"
        f" {ranking}"
    )


def _range_words(changes: Sequence[float | None], places: int) -> str:
    """Write the smallest and the largest change of runs."""
    known = [change for change in changes if change is not None]
    if not known:
        return "none"
    ends = (fixed(end, places, signed=True) for end in (min(known), max(known)))
    return " to ".join(ends)


def runs_tables(comparisons: Sequence[Comparison]) -> tuple[Table, ...]:
    """Lay out a row for each run of a system that has several; nothing where none has."""
    lines = [line for item in comparisons for line in _run_lines(item)]
    if not lines:
        return ()
    first = comparisons[0]
    ranking = f"ranking, {short_unit(first.ranking.measured_in)}"
    columns = (
        *texts("run", "of", "against"),
        *numbers("coverage, points", ranking, "all queries", *(row.name for row in first.measures)),
    )
    caption = "differences, B minus A, of one run against all runs of the other system"
    return (Table.of_texts(columns, lines, caption, title="Each run"),)


def _run_lines(item: Comparison) -> Iterable[tuple[str, ...]]:
    places = places_of(item.ranking.measured_in)

    def line(run: SystemRun) -> tuple[str, ...]:
        other = item.baseline if run.system == item.contender else item.contender
        changes = [(run.coverage, 2), (run.ranking, places), (run.all_queries, places)]
        changes += [(change, 4) for change in run.measures]
        shown = (fixed(change, digits, signed=True) for change, digits in changes)
        return run.run, run.system, other, *shown

    return map(line, item.runs)


def tests_table(comparisons: Sequence[Comparison]) -> Table:
    """Lay out what the first table leaves out of each row: counts, power, and the papers' own tests."""
    lines = [
        (item, row)
        for item in comparisons
        for row in (*item.parts, item.naive, *filter(None, (item.reciprocal,)))
    ]
    names = dict.fromkeys(test for _, row in lines for test in row.tests)
    shown = {row.name for item in comparisons for row in item.parts}
    several = len(comparisons) > 1

    def cells(item: Comparison, row: Row) -> tuple[str, ...]:
        tests = [row.tests.get(name) for name in names]
        places = places_of(row.measured_in)
        detectable = fixed(row.detectable, places) if row in item.deciding else NOTHING
        means = (row.baseline, row.contender)
        return (
            *((item.contender,) if several else ()),
            row_name(row),
            f"{row.n}",
            f"{row.better}",
            f"{row.worse}",
            detectable,
            *(NOTHING if row.name in shown else fixed(mean, places) for mean in means),
            *(NOTHING if test is None else pvalue(test.pvalue, item.alpha) for test in tests),
        )

    columns = (
        *texts(*(("run",) if several else ()), "row"),
        *numbers("n", "better", "worse", "detectable", "A", "B"),
        *numbers(*(TEST_NAMES[name] for name in names)),
    )
    captions = [
        "n: queries of the row; better, worse: those, or the clusters, in which B is; detectable: the"
        " smallest true difference found with 80 % power"
    ]
    if names:
        captions.append("p-values of the papers' own tests, by SciPy, not corrected")
    return Table.of_texts(
        columns, [cells(item, row) for item, row in lines], *captions, title="Each row"
    )


TEST_NAMES = {
    "exact": "exact binomial",
    "t": "paired t",
    "wilcoxon": "signed rank",
    "ranksum": "rank sum",
}


def outcomes_table(comparisons: Sequence[Comparison]) -> Table:
    """Lay out the outcomes with their shares, and the median ranks of what was won and lost."""
    names = ("won", "both", "neither", "lost")
    first = comparisons[0]
    items = "queries" if first.unit == "query" else "relevant documents"

    def share(name: str) -> Any:
        return lambda item: (
            None if item.outcomes.shares is None else 100 * getattr(item.outcomes.shares, name)
        )

    columns = [
        *(Column("contender", heading="run") for _ in comparisons[1:2]),
        *(Column(f"{name}_share", share(name), f"{name}, %", decimals(2)) for name in names),
        Column("won_at", "outcomes.won_at", "won at rank", decimals(1)),
        Column("lost_at", "outcomes.lost_at", "lost at rank", decimals(1)),
    ]
    captions = ["won at, lost at: median ranks of what only one run found"]
    if first.unit == "document":
        captions.insert(0, "shares are averaged within each query first")
    if first.of_several_runs:
        captions = ["shares are averages over queries and pairs of runs"]
    return Table.of(columns, comparisons, *captions, title=f"Outcomes, shares of the {items}")


def queries_table(queries: Iterable[Any], measured_in: str, title: str = "") -> Table:
    """Lay out queries with their outcome, what each run found of them, and the search lengths."""
    columns = (
        column
        for column in query_columns(measured_in)
        if column.name not in ("restricted", "cluster")
    )
    return Table.of(tuple(columns), queries, title=title)


def depth_lines(notes: Iterable[str]) -> list[str]:
    """Return what notes say on where all lists end, which stands beside the cutoff where a view has no other word on it."""
    return [own for own in as_notes(notes) if own.kind == "shallow"]
