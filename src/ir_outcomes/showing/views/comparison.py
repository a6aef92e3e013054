"""What is shown of one comparison, of several, as in the tables of the paper, and of queries."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from ir_outcomes.comparison.columns import names_of, paper_columns
from ir_outcomes.comparison.result import Comparison, Comparisons, Queries
from ir_outcomes.comparison.rows import Row
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.evaluation.remarks import MANY_MISSING
from ir_outcomes.formatting import NOTHING, fixed, listed, percent, places_of, plural, short_unit
from ir_outcomes.notes import in_full, merged
from ir_outcomes.showing import Table, View, items_words, level_words, queries_words, tops, view_of
from ir_outcomes.showing.views.parts import (
    above_legend,
    correction_words,
    directions,
    measures_legend,
    outcomes_table,
    paper_rules,
    queries_table,
    row_name,
    runs_tables,
    settings_words,
    shown_p,
    systems_lines,
    tests_table,
)
from ir_outcomes.table_columns import (
    BY_UNIT,
    INTERVAL_BY_UNIT,
    NUMBER,
    SIGNED_BY_UNIT,
    Column,
    decimals,
    signed,
    signed_interval,
)
from ir_outcomes.types import POINTS


@view_of.register
def _comparison(comparison: Comparison) -> View:
    alpha = comparison.alpha
    columns = (
        Column("name", row_name, " "),
        Column("baseline", heading="A", form=BY_UNIT),
        Column("contender", heading="B", form=BY_UNIT),
        Column("difference", heading="B - A", form=SIGNED_BY_UNIT),
        Column("interval", heading=level_words(alpha), form=INTERVAL_BY_UNIT),
        Column("new_runs", heading="new runs", form=INTERVAL_BY_UNIT),
        Column("p", lambda row: shown_p(row, alpha), form=NUMBER),
        Column("found", lambda row: "" if row.found == "none" else row.found, " "),
    )
    captions = (
        *systems_lines([comparison]),
        _counts_line(comparison),
        above_legend(comparison),
        measures_legend(comparison.measures, comparison.settings),
        f"{correction_words([comparison])}; {settings_words(comparison.settings, [comparison])}",
        paper_rules([comparison]),
    )
    table = Table.of(columns, comparison.parts, *captions, alpha=alpha)
    return View(
        title=_title(comparison),
        label=label_words(comparison),
        sentences=(comparison.verdict.sentence,),
        tables=(table,),
        notes=comparison.notes,
        more="the papers' tests, power, other cutoffs",
        details=(
            tests_table([comparison]),
            outcomes_table([comparison]),
            *runs_tables([comparison]),
        ),
        background=(*_other_cutoffs([comparison]), *comparison.background),
        printed=(_printed(table, comparison),),
    )


def _printed(table: Table, comparison: Comparison) -> Table:
    """Return the table of a paper, which names the runs and needs no column of findings."""
    names = {"A": comparison.baseline, "B": comparison.contender, "B - A": "difference"}
    kept = [index for index, column in enumerate(table.columns) if column.name != "found"]
    table = replace(
        table,
        columns=tuple(table.columns[index] for index in kept),
        rows=tuple(tuple(row[index] for index in kept) for row in table.rows),
        captions=(paper_caption([comparison]),),
    )
    title = f"{comparison.contender} against {comparison.baseline}: {comparison.verdict.label}."
    return replace(table.renamed(names), title=title)


def paper_caption(comparisons: Sequence[Comparison]) -> str:
    """Say level, test, correction and directions in sentences that can be printed."""
    first = comparisons[0]
    settings = first.settings
    level = percent(1 - settings.alpha, 0)
    words = [
        f"Differences with {level} % confidence intervals and two-sided p-values of the mean paired"
        f" difference (Student's t) over {plural('query', first.n_queries)}."
    ]
    if settings.n_clusters is not None:
        words.append(f"Clusters are the unit ({settings.n_clusters}).")
    if settings.family > 1 and settings.correction != "none":
        rule = {"holm": "Holm", "bonferroni": "Bonferroni"}.get(
            settings.correction, "Benjamini and Hochberg"
        )
        words.append(
            f"Verdicts are corrected over {settings.family} comparisons ({rule}); p-values are not."
        )
    for meaning in directions(first.parts).split("; "):
        words.append(f"{meaning[0].upper()}{meaning[1:]}.")
    words.append(f"{settings_words(settings)[0].upper()}{settings_words(settings)[1:]}.")
    return " ".join(words)


def label_words(comparison: Comparison) -> str:
    """Return the label, whether it holds for new runs, and which run returned nothing for many queries."""
    label = comparison.verdict.label
    if comparison.verdict.new_runs is not None:
        runs = "also for new runs" if comparison.verdict.new_runs else "of these runs only"
        label = f"{label}, {runs}"
    n = comparison.n_queries
    returned = "has values" if comparison.settings.ties == "unknown" else "returned results"
    counts = [
        f"{name} {returned} for {n - missing} of {plural('query', n)}"
        for name, missing in zip("AB", comparison.n_missing, strict=True)
        if missing > MANY_MISSING * n
    ]
    return "; ".join([label, *counts])


def _title(result: Comparison | Queries) -> str:
    """Say who is compared."""
    n_runs = result.n_runs if isinstance(result, Comparison) else (1, 1)
    of_a, of_b = (f"{plural('run', n)}, " if n > 1 else "" for n in n_runs)
    return f"{result.contender} ({of_b}B) against {result.baseline} ({of_a}A)"


def _counts_line(comparison: Comparison) -> str:
    """Count the queries: those on which the search is shorter or longer, and what both runs and neither found."""
    words = queries_words(comparison)
    counts = []
    whole = comparison.restricted
    if whole is not None and comparison.settings.n_clusters is None:
        counts.append(f"shorter on {whole.better}, longer on {whole.worse}")
    if comparison.coverage.n and not comparison.of_several_runs:
        outcomes = comparison.outcomes
        items = "answered" if comparison.unit == "query" else "documents found"
        counts.append(f"{items} by both {outcomes.both}, by neither {outcomes.neither}")
    return f"{words}: {'; '.join(counts)}" if counts else words


def _other_cutoffs(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Say the labels at other cutoffs."""
    for item in comparisons:
        labels = {str(at.cutoff): at.label for at in item.cutoffs}
        name = f"{item.contender}: " if len(comparisons) > 1 else ""
        if len(set(labels.values())) > 1:
            yield f"{name}labels by cutoff: {'; '.join(map(': '.join, labels.items()))}."
        elif len(labels) > 1:
            yield f"{name}the label is the same at the cutoffs {listed(list(labels))}."


@view_of.register
def _comparisons(comparisons: Comparisons) -> View:
    if not comparisons.items:
        return View("There is no comparison", notes=comparisons.notes)
    ranked = sorted(comparisons, key=_worst_last)
    first = ranked[0]
    alpha = first.alpha
    noun = "system" if any(item.of_several_runs for item in ranked) else "run"
    names = (Column("contender", heading=noun), Column("verdict", "verdict.label"))
    shown = _names_of_rows(ranked)
    columns = [*names, _NEW_RUNS]
    columns += [column for name in shown for column in _short_columns(first, name)]
    captions = (
        *systems_lines(ranked),
        _NEW_RUNS_LEGEND if any(item.verdict.new_runs is not None for item in ranked) else "",
        directions(first.parts),
        above_legend(first),
        measures_legend(first.measures, first.settings),
        f"{queries_words(first)}, {settings_words(first.settings, ranked)}",
        correction_words(ranked, noun),
        paper_rules(ranked),
    )
    marks = {"significant": _significant(ranked, shown), "best": _best(ranked, shown)}
    table = Table.of(columns, ranked, *captions, alpha=alpha).marked(**marks)
    against = f"{plural(noun, len(ranked))} against {first.baseline}"
    notes = merged([(item.contender, item.notes) for item in ranked])
    every = in_full([(item.contender, (*item.notes, *item.background)) for item in ranked])
    return View(
        f"{against} (A)",
        _label_counts(ranked),
        tables=(table,),
        notes=(*comparisons.notes, *notes),
        more="intervals, outcomes, tests, power",
        details=(
            _intervals_table(ranked, shown, noun),
            tests_table(ranked),
            outcomes_table(ranked),
            *runs_tables(ranked),
        ),
        background=(*_other_cutoffs(ranked), *(note for note in every if note not in notes)),
        printed=(_printed_family(ranked, shown, against),),
    )


def _label_counts(comparisons: Sequence[Comparison]) -> str:
    counts = Counter(item.verdict.label for item in comparisons)
    return ", ".join(f"{number} {label}" for label, number in counts.items())


def _worst_last(comparison: Comparison) -> tuple[int, float]:
    """Order comparisons by their label, best first, and within it by the search length over all queries."""
    whole = comparison.all_queries or comparison.ranking
    return LABELS.index(comparison.verdict.label), -whole.gain


def _names_of_rows(comparisons: Sequence[Comparison]) -> list[str]:
    """Return the names of the rows that a comparison has, in their order."""
    return list(dict.fromkeys(row.name for item in comparisons for row in item.parts))


def _row_of(name: str) -> Callable[[Comparison], Row | None]:
    """Return what takes the row of this name from a comparison."""
    return lambda item: next((row for row in item.parts if row.name == name), None)


def _of_row(name: str, value: Callable[[Row], Any]) -> Callable[[Comparison], Any]:
    """Return what takes a value of the row of this name."""
    row_of = _row_of(name)

    def found(item: Comparison) -> Any:
        row = row_of(item)
        return None if row is None else value(row)

    return found


def _short_columns(first: Comparison, name: str) -> tuple[Column, ...]:
    """Return the difference of a row, and its p-value."""
    row = _row_of(name)(first)
    unit = "" if row is None else row.measured_in
    heading = "points" if unit == POINTS else short_unit(unit)
    if heading == name:
        heading = "B - A"
    alpha = first.alpha
    places = places_of(unit)
    p = _of_row(name, lambda row: shown_p(row, alpha, digits=1))
    return (
        Column(
            f"{name} difference",
            _of_row(name, lambda row: row.difference),
            heading,
            signed(places),
            group=name,
        ),
        Column(f"{name} p", p, "p", NUMBER, group=name),
    )


def _significant(comparisons: Sequence[Comparison], names: Sequence[str]) -> dict[str, list[bool]]:
    """Return which differences are significant, by their columns."""
    found = {}
    for name in names:
        shows = _of_row(name, lambda row: row.found != "none")
        found[f"{name} difference"] = [bool(shows(item)) for item in comparisons]
    return found


def _best(comparisons: Sequence[Comparison], names: Sequence[str]) -> dict[str, list[bool]]:
    """Return which differences are the best of their columns; those in ranking are each on queries of their own."""
    best = {}
    for name in names:
        if name != "ranking":
            gains = [_of_row(name, lambda row: row.gain)(item) for item in comparisons]
            best[f"{name} difference"] = tops(gains, True)
    return best


def _intervals_table(comparisons: Sequence[Comparison], names: Sequence[str], noun: str) -> Table:
    """Lay out the means of both runs and the intervals of their differences."""
    first = comparisons[0]
    columns = [Column("contender", heading=noun)]
    for name in names:
        row: Any = _row_of(name)(first)
        places = 2 if row is None else places_of(row.measured_in)
        for field, heading, form in (
            ("baseline", "A", decimals(places)),
            ("contender", "B", decimals(places)),
            ("interval", level_words(first.alpha), signed_interval(places)),
            ("new_runs", "new runs", signed_interval(places)),
        ):
            value = _of_row(name, lambda row, field=field: getattr(row, field))  # type: ignore[misc]
            columns.append(Column(f"{name} {field}", value, heading, form, group=name))
    caption = (
        "ranking: on what both find, so that A differs from row to row, because each has its own"
        " queries"
    )
    return Table.of(columns, comparisons, caption, title="Means and intervals", alpha=first.alpha)


def _printed_family(comparisons: Sequence[Comparison], names: Sequence[str], against: str) -> Table:
    """Return the table of a paper: what each run has by itself, its difference, and the verdict."""
    first = comparisons[0]
    columns = [Column("contender", heading="run")]
    baseline = {"contender": first.baseline, "verdict": "baseline"}
    best: dict[str, list[bool]] = {}
    for name in names:
        difference, p = _short_columns(first, name)
        rows = [_row_of(name)(item) for item in comparisons]
        known = [row for row in rows if row is not None]
        if name != "ranking" and len(known) == len(rows):
            places = places_of(known[0].measured_in)
            level = Column(
                f"{name} mean",
                _of_row(name, lambda row: row.contender),
                "mean",
                decimals(places),
                group=name,
            )
            columns.append(level)
            means = {fixed(row.baseline, places) for row in known}
            values = [known[0].baseline, *(row.contender for row in known)]
            best[level.name] = tops(values, known[0].higher_is_better)
            if len(means) == 1:
                baseline[level.name] = means.pop()
        columns += [difference, p]
    columns += [Column("verdict", "verdict.label")]
    marks = _significant(comparisons, names)
    table = Table.of(
        columns, comparisons, paper_caption(comparisons), title=f"{against}.", alpha=first.alpha
    )
    below = table.marked(significant=marks).below(baseline)
    return replace(below.marked(best=best), significant=below.significant)


def _for_new_runs(comparison: Comparison) -> str:
    return {True: "yes", False: "no", None: NOTHING}[comparison.verdict.new_runs]


_NEW_RUNS = Column("for_new_runs", _for_new_runs, "new runs")
_NEW_RUNS_LEGEND = "new runs: whether the label holds for new runs of the systems, too"


@view_of.register
def _queries(queries: Queries) -> View:
    which = "" if queries.which is None else f", {queries.which}"
    return View(
        f"{plural('query', len(queries))}{which}: {_title(queries)}",
        tables=(queries_table(queries, queries.measured_in),),
    )


def paper_view(result: Any) -> View:
    """Show the columns of Tables 1 and 2 of Lin et al. 2021, and the verdict that they leave out."""
    if not result.paper_rows():  # which is an error where there are no such columns
        return view_of(result)
    comparisons = [result] if isinstance(result, Comparison) else list(result)
    first = comparisons[0]
    length, reciprocal = names_of(first)
    better = ""
    if reciprocal:
        better = f"Lower is better for {length}, higher for MRR and {reciprocal}. "
    captions = (
        f"Outcomes in % of the {items_words(first.unit)}; differences are B minus A; WRS: Wilcoxon"
        " rank sum, WSR: Wilcoxon signed rank, t: paired t test; p-values are not corrected."
        f" {better}A differs from row to row under (3), because each row has its own queries that"
        " both answer.",
        f"{queries_words(first)}, {settings_words(first.settings, comparisons)}",
    )
    table = Table.of(paper_columns(first), comparisons, *captions, alpha=first.alpha)
    return View(
        "The columns of Tables 1 and 2 of Lin et al. 2021", tables=(table,), notes=result.notes
    )
