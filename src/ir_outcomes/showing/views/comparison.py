"""What is shown of comparisons, also as in the paper, and of queries."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial

from ir_outcomes.choices import DOCUMENTS_ABOVE, Direction
from ir_outcomes.comparison.columns import names_of
from ir_outcomes.comparison.notes import sides_of
from ir_outcomes.comparison.result import Comparison, Comparisons, PaperTable, Queries
from ir_outcomes.comparison.wording import margins_named
from ir_outcomes.evaluation.remarks import MANY_MISSING
from ir_outcomes.formatting import (
    NOTHING,
    listed,
    plural,
)
from ir_outcomes.notes import in_full, merged
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.verdict import LABELS, meaning_of
from ir_outcomes.showing.registry import Section, sections_of, view_of
from ir_outcomes.showing.view import Table, View, tops
from ir_outcomes.showing.views.parts import (
    CORRECTIONS,
    columns_of_rows,
    correction_words,
    details_of,
    direction_words,
    directions,
    measures_legend,
    missing_words,
    paper_words,
    queries_table,
    row_fields,
    row_name,
    rows_by_name,
    settings_words,
    systems_lines,
    within_words,
)
from ir_outcomes.showing.words import level_words, queries_words
from ir_outcomes.statistics.estimate import IMAGINARY_UNITS
from ir_outcomes.table_columns import Column, chosen, of_part

MOST_LINES = 20  # of the first screen of a comparison, four more with several runs or margins
ROW_FIELDS = ("baseline", "contender", "difference", "interval", "p")


@sections_of.register
def _section(comparison: Comparison) -> list[Section]:
    return [Section.of(comparison)]


@sections_of.register
def _sections(comparisons: Comparisons) -> list[Section]:
    return [Section.of(comparison) for comparison in sorted(comparisons, key=_worst_last)]


@view_of.register
def _comparison(comparison: Comparison) -> View:
    alpha = comparison.alpha
    name = Column("name", partial(_name_of, comparison), " ")
    fields = chosen(row_fields(alpha), *ROW_FIELDS)
    finding = Column("found", lambda row: "" if row.found == "none" else row.found, " ")
    documents_line = ""
    missing = missing_words(comparison)
    if comparison.ranking.measured_in == DOCUMENTS_ABOVE:
        documents_line = f"above: {DOCUMENTS_ABOVE}, plus 1; lower is better{missing}"
        missing = ""
    captions = (
        *systems_lines([comparison]),
        _new_runs_line(comparison),
        _counts_line(comparison),
        documents_line,
        measures_legend(comparison.measures, comparison.settings),
        f"{correction_words([comparison])}; {direction_words([comparison])}",
        paper_words(comparison.verdict),
        settings_words(comparison.settings) + missing,
    )
    runs = f"baseline={comparison.baseline}", f"contender={comparison.contender}"
    named = chosen(row_fields(alpha), *runs, "difference=difference", "interval", "p")
    printed = Table.of(
        (name, *named),
        comparison.parts,
        *_paper_captions([comparison]),
        title=f"{comparison.contender} against {comparison.baseline}: {comparison.verdict.label}",
    )
    printed_fields = {
        (row.name, field) for row in comparison.parts for field in (*ROW_FIELDS, "new_runs")
    }
    is_long = comparison.of_several_runs or comparison.settings.margins is not None
    return View(
        title=_title(comparison),
        label=label_words(comparison),
        sentences=(comparison.verdict.sentence,),
        tables=(Table.of((name, *fields, finding), comparison.parts, *captions),),
        notes=comparison.notes,
        more=_more(comparison),
        details=lambda: details_of([("", comparison)], "", printed_fields),
        background=(*_other_cutoffs([comparison]), *comparison.background),
        printed=(printed,),
        most_lines=MOST_LINES + (4 if is_long else 0),
    )


def _new_runs_line(comparison: Comparison) -> str:
    """Say where the differences of new runs are expected."""
    (column,) = chosen(row_fields(comparison.alpha), "new_runs")
    intervals = [
        f"{row.name} {column.text(row, comparison.alpha)}"
        for row in comparison.parts
        if row.new_runs is not None
    ]
    return f"new runs: {', '.join(intervals)}" if intervals else ""


def _name_of(comparison: Comparison, row: Row) -> str:
    """Name a row, the mean of a measure that is compared alone by the measure."""
    is_alone = row.name == "all queries" and not comparison.coverage.n
    return row.measured_in if is_alone else row_name(row, "%")


def _more(comparison: Comparison) -> str:
    """Say what the details are about."""
    tests = any(row.tests for row in comparison.parts)
    words = {"the papers' tests": tests, "power": True, "other cutoffs": comparison.cutoffs[1:]}
    return ", ".join(word for word, is_there in words.items() if is_there)


def _paper_captions(comparisons: Sequence[Comparison]) -> Iterator[str]:
    """Say test, level, correction and directions in sentences that can be printed."""
    first = comparisons[0]
    settings = first.settings
    intervals = "" if comparisons[1:] else f"{level_words(settings.alpha)}s and "
    yield (
        f"Differences with {intervals}two-sided p-values: Student's t of the mean paired difference,"
        f" its variance enlarged by {IMAGINARY_UNITS} imaginary queries (after Agresti and Caffo"
        " 2000), over"
        f" {plural('query', first.n_queries)}"
    )
    if settings.n_clusters is not None:
        yield f"Clusters are the unit ({settings.n_clusters})"
    if settings.family > 1 and settings.correction != "none":
        rule = CORRECTIONS[settings.correction]
        yield (
            f"Verdicts are corrected over {settings.family} comparisons ({rule}); p-values are not"
        )
    if settings.margins is not None:
        yield _within_legend(comparisons)
        if not comparisons[1:]:
            yield f"Within margins: {within_words(first)}"
    yield from directions(first.parts).split("; ")
    yield direction_words(comparisons).capitalize()
    yield f"Settings: {settings_words(settings)}"


def label_words(comparison: Comparison) -> str:
    """Return the label, whether it holds for new runs, and queries without results."""
    label = comparison.verdict.label
    if comparison.verdict.new_runs is not None:
        runs = "also for new runs" if comparison.verdict.new_runs else "of these runs only"
        label = f"{label}, {runs}"
    n = comparison.n_queries
    counts = [
        f"{name} returned results for {n - missing} of {plural('query', n)}"
        for name, missing in zip("AB", comparison.n_missing, strict=True)
        if missing > MANY_MISSING * n and comparison.settings.ties != "unknown"
    ]
    return "; ".join([label, *counts])


def _title(result: Comparison | Queries) -> str:
    """Say who is compared."""
    n_runs = result.n_runs if isinstance(result, Comparison) else (1, 1)
    of_a, of_b = (f"{plural('run', n)}, " if n > 1 else "" for n in n_runs)
    return f"{result.contender} ({of_b}B) against {result.baseline} ({of_a}A)"


def _counts_line(comparison: Comparison) -> str:
    """Count the queries by row, shorter and longer searches, and what was found."""
    words = queries_words(comparison)
    counts = []
    if comparison.coverage.n and not comparison.of_several_runs:
        outcomes = comparison.outcomes
        if comparison.unit == "query":
            counts.append(f"both {outcomes.both}, neither {outcomes.neither}")
        else:
            words += f", ranking on {comparison.ranking.n}"
    all_queries = comparison.all_queries
    if all_queries is not None:
        (gain, better), (loss, worse) = sides_of(all_queries)
        on = str(better)
        if comparison.settings.n_clusters is not None:
            on = plural("cluster", better)
        counts.append(f"over all, {gain} on {on}, {loss} on {worse}")
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
    sections = [Section.of(item) for item in ranked]
    first = ranked[0]
    noun = "system" if any(item.of_several_runs for item in ranked) else "run"
    rows = rows_by_name(sections)
    direction_first = sorted(rows.items(), key=lambda item: item[0] != "all queries")
    columns = (
        Column("contender", heading=noun),
        Column("verdict", lambda section: meaning_of(section.label).short),
        *of_part("comparison", (_NEW_RUNS, _WITHIN)),
        *columns_of_rows(dict(direction_first), first.alpha),
    )
    meanings = directions(of_name[0] for of_name in rows.values())
    settings = f"{queries_words(first)}, {settings_words(first.settings)}"
    if first.unit == "document":
        meanings += missing_words(first)
    else:
        settings += missing_words(first)
    captions = (
        *systems_lines(ranked),
        _NEW_RUNS_LEGEND if any(item.verdict.new_runs is not None for item in ranked) else "",
        _within_legend(ranked),
        meanings,
        measures_legend(first.measures, first.settings),
        settings,
        f"{correction_words(ranked)}; {direction_words(ranked)}",
    )
    against = f"{plural(noun, len(ranked))} against {first.baseline}"
    notes = merged([(item.contender, item.notes) for item in ranked])
    every = in_full([(item.contender, (*item.notes, *item.background)) for item in ranked])
    printed_fields = {(name, field) for name in rows for field in ("difference", "p")}
    return View(
        f"{against} (A)",
        _label_counts(ranked),
        tables=(Table.of(columns, sections, *captions),),
        notes=(*comparisons.notes, *notes),
        more="intervals, outcomes, tests, power",
        details=lambda: details_of(
            [(item.contender, item) for item in ranked], noun, printed_fields
        ),
        background=(*_other_cutoffs(ranked), *(note for note in every if note not in notes)),
        printed=(_printed(ranked, sections, against),),
    )


def _label_counts(comparisons: Sequence[Comparison]) -> str:
    counts = Counter(item.verdict.direction for item in comparisons)
    named: dict[Direction, str] = {"better": "better", "worse": "worse", "none": "undecided"}
    return ", ".join(f"{counts[side]} {words}" for side, words in named.items() if counts[side])


def _worst_last(comparison: Comparison) -> tuple[int, float]:
    """Order comparisons by label, best first, and by all queries."""
    whole = comparison.all_queries or comparison.ranking
    return LABELS.index(comparison.verdict.label), -whole.gain


def _printed(comparisons: Sequence[Comparison], sections: Sequence[Section], title: str) -> Table:
    """Return the table of a paper: means, differences and verdicts below the baseline."""
    first = comparisons[0]
    by_name = rows_by_name(sections)
    of_baseline = {
        name: replace(rows[0], contender=rows[0].baseline, difference=None, found="none")
        for name, rows in by_name.items()
    }
    lines = [Section(first.baseline, "", "baseline", of_baseline), *sections]
    columns = [Column("contender", heading="run")]
    best: dict[str, list[bool]] = {}
    significant: dict[str, list[bool]] = {}
    for name, rows in by_name.items():
        mean, difference, p = columns_of_rows({name: rows}, first.alpha, means=True)
        of_lines = [line.rows.get(name) for line in lines]
        # Means in ranking are each on queries of their own.
        baselines = {None if row is None else row.baseline for row in of_lines}
        if name != "ranking" and len(baselines) == 1:
            columns.append(mean)
            values = [None if row is None else row.contender for row in of_lines]
            best[mean.name] = tops(values, rows[0].higher_is_better)
        columns += [difference, p]
        significant[difference.name] = [row is not None and row.found != "none" for row in of_lines]
    columns += [*of_part("comparison", (_WITHIN,)), Column("verdict", "label")]
    table = Table.of(columns, lines, *_paper_captions(comparisons), title=title)
    return replace(table, best=best, significant=significant)


_WITHIN = Column("within", within_words, "within margins")


def _within_legend(comparisons: Sequence[Comparison]) -> str:
    """Say what margins there are, and at which level harm beyond them is excluded."""
    settings = comparisons[0].settings
    if settings.margins is None:
        return ""
    level = 100 * (1 - settings.first_level)
    return (
        f"within margins: harm of more than {margins_named(comparisons)} is excluded ({level:.4g} %"
        " intervals for margins)"
    )


_HOLDS = {True: "yes", False: "no", None: NOTHING}
_NEW_RUNS = Column("for_new_runs", lambda item: _HOLDS[item.verdict.new_runs], "new runs")
_NEW_RUNS_LEGEND = "new runs: whether the label holds for new runs of the systems, too"


@view_of.register
def _queries(queries: Queries) -> View:
    kind = "" if queries.which is None else f", {queries.which}"
    return View(
        f"{plural('query', len(queries))}{kind}: {_title(queries)}",
        tables=(queries_table(queries, queries.measured_in),),
    )


@view_of.register
def _paper_table(result: PaperTable) -> View:
    if not result.comparisons:
        return View("There is no comparison")
    first = result.comparisons[0]
    length, reciprocal = names_of(first)
    better = ""
    if reciprocal:
        better = f"Lower is better for {length}, higher for MRR and {reciprocal}. "
    items = "queries" if first.unit == "query" else "relevant documents, averaged by query"
    captions = (
        f"Outcomes in % of the {items}; differences are B minus A; WRS: Wilcoxon"
        " rank sum, WSR: Wilcoxon signed rank, t: paired t test; p-values are not corrected."
        f" {better}A differs from row to row under (3), because each row has its own queries that"
        " both answer.",
        f"{queries_words(first)}, {settings_words(first.settings)}",
    )
    table = Table.of(result.columns, result.comparisons, *captions, alpha=first.alpha)
    return View("The columns of Tables 1 and 2 of Lin et al. 2021", tables=(table,))
