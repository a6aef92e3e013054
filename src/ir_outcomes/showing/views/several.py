"""What is shown of several comparisons, and of one as in the tables of Lin et al. 2021."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from ir_outcomes.comparison.result import (
    Comparison,
    Comparisons,
    columns_of,
    measure_columns,
    names_of,
    paper_columns,
)
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.evaluation.lengths import OUTCOMES
from ir_outcomes.formatting import (
    NOTHING,
    listed,
    plural,
    short_unit,
)
from ir_outcomes.notes import merged
from ir_outcomes.results import NUMBER, Column, chosen, decimals, of_part
from ir_outcomes.showing import (
    Table,
    View,
    items_words,
    level_words,
    queries_words,
    tops,
    view_of,
)
from ir_outcomes.showing.views.parts import (
    comparison_words,
    corrected_words,
    levels_words,
    mean_words,
    measures_tables,
    runs_tables,
    settings_caption,
    shown_p,
    systems_lines,
    tests_legend,
)


@view_of.register
def _comparisons(comparisons: Comparisons) -> View:
    if not comparisons.items:
        return View("There is no comparison", notes=comparisons.notes)
    ranked = sorted(comparisons, key=worst_last)
    first = ranked[0]
    declared = columns_of(ranked)
    pairs = len({item.baseline for item in ranked}) > 1
    noun = "system" if any(item.of_several_runs for item in ranked) else "run"
    called = ("contender=B", "baseline=A") if pairs else (f"contender={noun}",)
    names = chosen(declared, *called)
    table = Table.of(
        (*names, *chosen(declared, "verdict"), NEW_RUNS, *short_columns(ranked)),
        ranked,
        f"{queries_words(first)}, {comparison_words(ranked)}",
        corrected_words(ranked, "pair" if pairs else noun),
        *systems_lines(ranked),
        NEW_RUNS_LEGEND if any(item.verdict.new_runs is not None for item in ranked) else "",
        tests_legend(ranked),
        alpha=first.alpha,
    )
    significant = {
        "coverage_difference": [item.coverage.found != "none" for item in ranked],
        "ranking_difference": [item.ranking.found != "none" for item in ranked],
        "restricted_difference": [
            item.restricted is not None and item.restricted.found != "none" for item in ranked
        ],
    }
    restricted = [
        None if item.restricted is None else item.restricted.difference for item in ranked
    ]
    best = {
        "coverage_difference": tops([item.coverage.difference for item in ranked], True),
        "restricted_difference": tops(restricted, False),
    }
    table = table.marked(best={} if pairs else best, significant=significant)
    outcomes = chosen(
        declared, "won", "both", "neither", "lost", "won_at=won at rank", "lost_at=lost at rank"
    )
    mean = mean_words(first)
    means = (f"ranking_baseline={mean} A", f"ranking_contender={mean} B")
    measures = [asked.measure for asked in first.measures]
    wide = {f"{name}_new_runs" for name in ("coverage", "ranking", "restricted", *measures)}
    new_runs = [column.name for column in declared if column.name in wide]
    intervals = chosen(
        declared, "coverage", "coverage_p", *means, "ranking", "ranking_p", *measures, *new_runs
    )
    title = "Outcomes, and median ranks of what was won and lost"
    if any(item.of_several_runs for item in ranked):
        items = "queries" if first.unit == "query" else "relevant documents"
        title = f"Outcomes, % of {items}, averaged over queries and runs"
        outcomes = chosen(declared, *(f"{outcome}_share" for outcome in OUTCOMES))
    details = (
        Table.of((*names, *outcomes), ranked, title=title),
        Table.of(
            (*names, *intervals),
            ranked,
            f"{mean}: {levels_words(first)}on what both find; A differs from row to row, because"
            " each row has its own queries that both answer",
            title=f"{level_words(first.alpha)}s, and p before the correction",
            alpha=first.alpha,
        ),
        *runs_tables(ranked),
    )
    asked_for = measures_tables(ranked, names, first.settings)
    labels = ", ".join(
        f"{number} {label}"
        for label, number in Counter(item.verdict.label for item in ranked).items()
    )
    compared = plural("pair" if pairs else noun, len(ranked))
    against = f"{compared} against {first.baseline}"
    return View(
        compared if pairs else f"{against} (A)",
        labels,
        (),
        (table, *asked_for),
        (*comparisons.notes, *merged_notes(ranked, pairs)),
        "intervals, outcomes, tests, power",
        details,
        tuple(merged_notes(ranked, pairs, background=True)),
        printed=(
            ()
            if pairs
            else (
                replace(_with_baseline(table, ranked), title=f"{against}: {labels}"),
                *_measures_with_baseline(ranked, names, against),
            )
        ),
    )


def _for_new_runs(comparison: Comparison) -> str:
    return {True: "yes", False: "no", None: NOTHING}[comparison.verdict.new_runs]


NEW_RUNS = Column("for_new_runs", _for_new_runs, "new runs")


NEW_RUNS_LEGEND = "new runs: whether the label holds for new runs of the systems, too"


# What a run has by itself, to the left of its difference from the baseline.
_LEVELS = {
    "coverage_difference": Column("coverage_level", "coverage", "%", decimals(1), group="coverage"),
    "restricted_difference": Column(
        "restricted_level", "all_queries", "mean", decimals(2), group="all queries"
    ),
}


def _with_baseline(table: Table, comparisons: Sequence[Comparison]) -> Table:
    """Return the table of a paper: the baseline above the others, and what each run has by itself."""
    baseline = {"contender": comparisons[0].baseline, "verdict": "baseline"}
    mean = mean_words(comparisons[0])
    for name, declared in _LEVELS.items():
        level = declared
        if declared.heading == "mean":
            level = replace(declared, heading=mean)
        places = [place for place, column in enumerate(table.columns) if column.name == name]
        own = [
            of_part(level.value, (replace(level, value=side),))[0]
            for side in ("baseline", "contender")
        ]
        texts = [[column.text(item) for item in comparisons] for column in own]
        if not places or NOTHING in texts[1]:
            continue
        table = table.inserted(places[0], level, texts[1])
        # Runs of unequal depth have other horizons, and so has the baseline beside them.
        if len(set(texts[0])) == 1:
            baseline[level.name] = texts[0][0]
    return table.below(baseline)


def _measures_with_baseline(
    comparisons: Sequence[Comparison], names: Sequence[Column], against: str
) -> Iterator[Table]:
    """Yield the measures that were asked for as the table of a paper, if there are any."""
    first = comparisons[0]
    asked = first.measures
    if not asked:
        return
    (table,) = measures_tables(comparisons, names, first.settings, means=("contender=mean",))
    row = {"contender": first.baseline}
    best: dict[str, Sequence[bool]] = {}
    for place, means in enumerate(asked):
        (own,) = chosen(measure_columns(asked), f"{means.measure}_baseline")
        row[f"{means.measure}_contender"] = own.text(first)
        of_runs = [means.baseline, *(item.measures[place].contender for item in comparisons)]
        best[f"{means.measure}_contender"] = tops(of_runs, means.higher_is_better)
    below = table.below(row)
    marked = below.marked(best=best)
    yield replace(
        marked.renamed({"B - A": "difference"}),
        significant=below.significant,
        title=f"{listed([means.measure for means in asked])} of {against}",
    )


def short_columns(comparisons: Sequence[Comparison]) -> tuple[Column, ...]:
    """Return differences with the p-values that the label hangs on: coverage, ranking, all queries."""
    declared = columns_of(comparisons)
    parts = {"coverage": "coverage", "ranking": "ranking"}
    if all(item.restricted for item in comparisons):
        parts["restricted"] = "all queries"
    columns: list[Column] = []
    for part, group in parts.items():
        (difference,) = chosen(declared, f"{part}_difference", group=group)
        p = Column(f"{part} p", partial(_shown_p_of, part=part), "p", NUMBER, group=group)
        columns += [
            replace(difference, heading=short_unit(difference.unit or difference.heading)),
            p,
        ]
    return tuple(columns)


def _shown_p_of(comparison: Comparison, part: str) -> str:
    # There are three of them in a row.
    return shown_p(comparison, getattr(comparison, part), digits=1)


def worst_last(comparison: Comparison) -> tuple[int, float]:
    """Order comparisons by their label, best first, and within it by the search length over all queries."""
    whole = comparison.restricted
    return LABELS.index(comparison.verdict.label), (
        -comparison.ranking.gain if whole is None else whole.difference
    )


def merged_notes(
    comparisons: Sequence[Comparison], pairs: bool = False, *, background: bool = False
) -> Sequence[str]:
    """Say each kind of note once, with the names of the runs that it is about."""
    by_name = []
    for item in comparisons:
        if pairs:
            name = f"{item.contender} : {item.baseline}"
        else:
            name = item.contender
        by_name.append((name, item.background if background else item.notes))
    return merged(by_name, most_named=2 if pairs else 3)


def paper_view(result: Any) -> View:
    """Show the columns of Tables 1 and 2 of Lin et al. 2021, and the coverage test and verdict that they leave out."""
    if not result.paper_rows():  # which is an error where there are no such columns
        return view_of(result)
    if isinstance(result, Comparison):
        comparisons = [result]
    else:
        comparisons = list(result)
    first = comparisons[0]
    length, reciprocal = names_of(first)
    directions = ""
    if reciprocal:
        directions = f"Lower is better for {length}, higher for MRR and {reciprocal}. "
    captions = (
        (
            f"Outcomes in % of the {items_words(first.unit)}; differences are B minus A; WRS:"
            " Wilcoxon rank sum, WSR: Wilcoxon signed rank, t: paired t test; p-values are raw,"
            f" the verdict uses corrected ones. {directions}A differs from row to row under (3),"
            " because each row has its own queries that both answer."
        ),
        f"{queries_words(first)}, {settings_caption(first)}",
    )
    table = Table.of(paper_columns(first), comparisons, *captions, alpha=first.alpha)
    return View(
        "The columns of Tables 1 and 2 of Lin et al. 2021", tables=(table,), notes=result.notes
    )
