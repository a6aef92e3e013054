"""What is shown of several comparisons, and of one as in the tables of Lin et al. 2021."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, Literal

from ir_outcomes.comparison.columns import columns_of, names_of, paper_columns
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.evaluation.lengths import OUTCOMES
from ir_outcomes.formatting import NOTHING, fixed, listed, plural, short_unit
from ir_outcomes.notes import Note, in_full, merged
from ir_outcomes.showing import Table, View, items_words, level_words, queries_words, tops, view_of
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
from ir_outcomes.table_columns import NUMBER, Column, chosen, decimals


@view_of.register
def _comparisons(comparisons: Comparisons) -> View:
    if not comparisons.items:
        return View("There is no comparison", notes=comparisons.notes)
    ranked = sorted(comparisons, key=_worst_last)
    first = ranked[0]
    declared = columns_of(ranked)
    pairs = len({item.baseline for item in ranked}) > 1
    noun = "system" if any(item.of_several_runs for item in ranked) else "run"
    if pairs:
        noun = "pair"
    called = ("contender=B", "baseline=A") if pairs else (f"contender={noun}",)
    names = chosen(declared, *called)
    columns = (*names, *chosen(declared, "verdict"), _NEW_RUNS, *_short_columns(ranked))
    captions = (
        f"{queries_words(first)}, {comparison_words(ranked)}",
        corrected_words(ranked, noun),
        *systems_lines(ranked),
        _NEW_RUNS_LEGEND if any(item.verdict.new_runs is not None for item in ranked) else "",
        tests_legend(ranked),
    )
    marks = {"significant": _significant(ranked)}
    if not pairs:
        marks["best"] = _best(ranked)
    table = Table.of(columns, ranked, *captions, alpha=first.alpha).marked(**marks)
    counts = Counter(item.verdict.label for item in ranked)
    labels = ", ".join(f"{number} {label}" for label, number in counts.items())
    compared = plural(noun, len(ranked))
    against = f"{compared} against {first.baseline}"
    notes, background = _notes_of(ranked, pairs)
    title = compared
    printed: list[Table] = []
    if not pairs:
        title = f"{against} (A)"
        shown, baseline = _with_levels(columns, ranked)
        paper = Table.of(shown, ranked, *captions, title=f"{against}: {labels}", alpha=first.alpha)
        printed.append(paper.marked(**marks).below(baseline))
        printed += _measures_with_baseline(ranked, names, against)
    return View(
        title,
        labels,
        tables=(table, *measures_tables(ranked, names, first.settings)),
        notes=(*comparisons.notes, *notes),
        more="intervals, outcomes, tests, power",
        details=(
            _outcomes_table(ranked, names, declared),
            _intervals_table(ranked, names, declared),
            *runs_tables(ranked),
        ),
        background=tuple(background),
        printed=tuple(printed),
    )


def _significant(comparisons: Sequence[Comparison]) -> dict[str, list[bool]]:
    """Return which differences are significant, by their columns."""
    return {
        "coverage_difference": [item.coverage.found != "none" for item in comparisons],
        "ranking_difference": [item.ranking.found != "none" for item in comparisons],
        "restricted_difference": [
            item.restricted is not None and item.restricted.found != "none" for item in comparisons
        ],
    }


def _best(comparisons: Sequence[Comparison]) -> dict[str, list[bool]]:
    """Return which differences are the best of their columns; those in ranking are each on queries of their own."""
    restricted = [
        None if item.restricted is None else item.restricted.difference for item in comparisons
    ]
    return {
        "coverage_difference": tops([item.coverage.difference for item in comparisons], True),
        "restricted_difference": tops(restricted, False),
    }


def _outcomes_table(
    comparisons: Sequence[Comparison], names: Sequence[Column], declared: Sequence[Column]
) -> Table:
    title = "Outcomes, and median ranks of what was won and lost"
    outcomes = chosen(
        declared, "won", "both", "neither", "lost", "won_at=won at rank", "lost_at=lost at rank"
    )
    if any(item.of_several_runs for item in comparisons):
        items = "queries" if comparisons[0].unit == "query" else "relevant documents"
        title = f"Outcomes, % of {items}, averaged over queries and runs"
        outcomes = chosen(declared, *(f"{outcome}_share" for outcome in OUTCOMES))
    return Table.of((*names, *outcomes), comparisons, title=title)


def _intervals_table(
    comparisons: Sequence[Comparison], names: Sequence[Column], declared: Sequence[Column]
) -> Table:
    first = comparisons[0]
    mean = mean_words(first)
    means = (f"ranking_baseline={mean} A", f"ranking_contender={mean} B")
    measures = [asked.measure for asked in first.measures]
    wide = {f"{name}_new_runs" for name in ("coverage", "ranking", "restricted", *measures)}
    new_runs = [column.name for column in declared if column.name in wide]
    intervals = chosen(
        declared, "coverage", "coverage_p", *means, "ranking", "ranking_p", *measures, *new_runs
    )
    return Table.of(
        (*names, *intervals),
        comparisons,
        f"{mean}: {levels_words(first)}on what both find; A differs from row to row, because"
        " each row has its own queries that both answer",
        title=f"{level_words(first.alpha)}s, and p before the correction",
        alpha=first.alpha,
    )


def _for_new_runs(comparison: Comparison) -> str:
    return {True: "yes", False: "no", None: NOTHING}[comparison.verdict.new_runs]


_NEW_RUNS = Column("for_new_runs", _for_new_runs, "new runs")
_NEW_RUNS_LEGEND = "new runs: whether the label holds for new runs of the systems, too"


def _levels(run: Literal["baseline", "contender"], mean: str) -> tuple[Column, ...]:
    """Return the columns of what a run has by itself."""
    return (
        Column("coverage_level", f"coverage.{run}", "%", decimals(1), group="coverage"),
        Column("all_level", f"all_queries.{run}", mean, decimals(2), group="all queries"),
    )


def _with_levels(
    columns: Iterable[Column], comparisons: Sequence[Comparison]
) -> tuple[list[Column], dict[str, str]]:
    """Return the columns of a paper, with what each run has by itself, and the row of the baseline."""
    first = comparisons[0]
    mean = mean_words(first)
    shown = list(columns)
    row = {"contender": first.baseline, "verdict": "baseline"}
    of_baseline = _levels("baseline", mean)
    for level, its_level in zip(_levels("contender", mean), of_baseline, strict=True):
        groups = [column.group for column in shown]
        if level.group in groups and all(level.of(item) is not None for item in comparisons):
            shown.insert(groups.index(level.group), level)
            # Runs of unequal depth have other horizons, and so has the baseline beside them.
            texts = {its_level.text(item) for item in comparisons}
            if len(texts) == 1:
                row[level.name] = texts.pop()
    return shown, row


def _measures_with_baseline(
    comparisons: Sequence[Comparison], names: Sequence[Column], against: str
) -> Iterator[Table]:
    """Yield the measures that were asked for as the table of a paper, if there are any."""
    first = comparisons[0]
    row = {"contender": first.baseline}
    best: dict[str, Sequence[bool]] = {}
    for place, means in enumerate(first.measures):
        column = f"{means.measure}_contender"
        row[column] = fixed(means.baseline, 4)
        of_runs = [means.baseline, *(item.measures[place].contender for item in comparisons)]
        best[column] = tops(of_runs, means.higher_is_better)
    for table in measures_tables(comparisons, names, first.settings, means=("contender=mean",)):
        below = table.below(row)
        yield replace(
            below.marked(best=best).renamed({"B - A": "difference"}),
            significant=below.significant,
            title=f"{listed([means.measure for means in first.measures])} of {against}",
        )


def _short_columns(comparisons: Sequence[Comparison]) -> tuple[Column, ...]:
    """Return differences with the p-values that the label hangs on: coverage, ranking, all queries."""
    declared = columns_of(comparisons)
    parts = {"coverage": "coverage", "ranking": "ranking"}
    if all(item.restricted for item in comparisons):
        parts["restricted"] = "all queries"
    columns: list[Column] = []
    for part, group in parts.items():
        (difference,) = chosen(declared, f"{part}_difference", group=group)
        unit = short_unit(difference.unit or difference.heading)
        p = Column(f"{part} p", partial(_shown_p_of, part=part), "p", NUMBER, group=group)
        columns += [replace(difference, heading=unit), p]
    return tuple(columns)


def _shown_p_of(comparison: Comparison, part: str) -> str:
    # There are three of them in a row.
    return shown_p(comparison, getattr(comparison, part), digits=1)


def _worst_last(comparison: Comparison) -> tuple[int, float]:
    """Order comparisons by their label, best first, and within it by the search length over all queries."""
    whole = comparison.restricted
    change = -comparison.ranking.gain if whole is None else whole.difference
    return LABELS.index(comparison.verdict.label), change


def _notes_of(comparisons: Sequence[Comparison], pairs: bool) -> tuple[list[Note], list[Note]]:
    """Return what changes how labels are read, each kind once, and in full what that leaves out, with the background."""
    first = []
    every = []
    for item in comparisons:
        name = f"{item.contender} : {item.baseline}" if pairs else item.contender
        first.append((name, item.notes))
        every.append((name, (*item.notes, *item.background)))
    shown = merged(first, 2 if pairs else 3)
    return shown, [own for own in in_full(every) if own not in shown]


def paper_view(result: Any) -> View:
    """Show the columns of Tables 1 and 2 of Lin et al. 2021, and the coverage test and verdict that they leave out."""
    if not result.paper_rows():  # which is an error where there are no such columns
        return view_of(result)
    comparisons = [result] if isinstance(result, Comparison) else list(result)
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
