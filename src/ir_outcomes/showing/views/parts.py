"""What views of comparisons share: p-values and what stands below their tables, tables of measures, of runs and of queries."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ir_outcomes.comparison.columns import measure_columns, query_columns
from ir_outcomes.comparison.facets import AllQueries, Facet, MeasureMeans, known_p
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.comparison.runs_of_systems import SystemRun
from ir_outcomes.errors import some
from ir_outcomes.formatting import fixed, places_of, plural, pvalue, short_unit
from ir_outcomes.leaderboards.board import RunScore
from ir_outcomes.notes import as_notes
from ir_outcomes.showing import Table, numbers, settings_words, texts
from ir_outcomes.statistics import Interval
from ir_outcomes.table_columns import Column, chosen, of_part
from ir_outcomes.types import DOCUMENTS_ABOVE, level_unit

MARK = "*"  # significant before the correction, and not after it
# Behind a p-value: another test than the one that decides elsewhere in its row.
OTHER_TESTS = {"wilcoxon": " W", "t": " t"}
CORRECTIONS = {"holm": "Holm", "bonferroni": "Bonferroni", "fdr_bh": "Benjamini and Hochberg"}


def shown_p(
    comparison: Comparison, part: Facet | AllQueries | MeasureMeans, digits: int = 2
) -> str:
    """Write the p-value that the label hangs on: marked where only the raw one is significant, or with the test it is of."""
    alpha = comparison.alpha
    own, test = comparison.shown_test(part)
    mark = ""
    if test == "corrected" and part.pvalue <= alpha < own:
        mark = MARK
    elif test != part.decides.name:
        mark = OTHER_TESTS.get(test, "")
    return f"{pvalue(known_p(part.difference, own), alpha, digits)}{mark}"


def disagree(interval: Interval | None, p: float, alpha: float) -> bool:
    """Return whether an interval and the p-value beside it, which are computed differently, disagree about zero."""
    return interval is not None and (interval.low <= 0 <= interval.high) == (p <= alpha)


def tests_legend(comparisons: Sequence[Comparison]) -> str:
    """Explain the letters behind p-values."""
    shown = [shown_p(item, part) for item in comparisons for part in item.parts]
    meanings = {" W": "W: by Wilcoxon only", " t": "t: by t only"}
    return "; ".join(
        meaning
        for letter, meaning in meanings.items()
        if any(text.endswith(letter) for text in shown)
    )


def comparison_words(comparisons: Sequence[Comparison]) -> str:
    """Say how runs were compared; the values of a measure have no cutoff but the one in its name."""
    first = comparisons[0]
    left_out = []
    if first.settings.cutoff is None and not first.in_lengths:
        left_out.append("cutoff")
    return settings_words(first.settings, *left_out, of=comparisons)


def settings_caption(comparison: Comparison) -> str:
    """Say how two runs were compared, one pair of several perhaps."""
    return "; ".join(filter(None, (comparison_words([comparison]), corrected_words([comparison]))))


def corrected_words(comparisons: Sequence[Comparison], what: str = "run") -> str:
    """Say how p-values are corrected and what the mark means, where there are several comparisons."""
    settings = comparisons[0].settings
    if settings.family == 1 or settings.correction == "none":
        return ""
    rule = CORRECTIONS[settings.correction]
    family = plural(what, settings.family)
    shown = [shown_p(item, part) for item in comparisons for part in item.parts]
    explained = ""
    if any(p.endswith(MARK) for p in shown):
        explained = f"; {MARK}: at most {settings.alpha:g} without {rule}"
    raw = ""
    if any(
        item.all_queries and item.shown_test(item.all_queries)[1] != "corrected"
        for item in comparisons
    ):
        raw = "; p of all queries not corrected where it only confirms a label"
    return f"intervals of each by itself, p and labels by {rule} over {family}{raw}{explained}"


def mean_words(comparison: Comparison) -> str:
    """Head the means of search lengths; by document these are not the documents above, but one more."""
    if comparison.ranking.measured_in == DOCUMENTS_ABOVE:
        return "mean length"
    return "mean"


def levels_words(comparison: Comparison) -> str:
    """Name the unit of levels where it is not that of their differences."""
    unit = comparison.ranking.measured_in
    return f"{level_unit(unit)}, " if unit == DOCUMENTS_ABOVE else ""


def systems_lines(comparisons: Sequence[Comparison]) -> list[str]:
    """Say which runs the systems have, and over which range the runs differ from the other system."""
    shown: dict[str, str] = {}
    for comparison in comparisons:
        for name, n_runs in comparison.systems:
            if comparison.of_several_runs:
                shown.setdefault(name, _system_words(comparison, name, n_runs))
    return list(shown.values())


def _system_words(comparison: Comparison, name: str, n_runs: int) -> str:
    """List the runs of a system, and the range of their differences in both facets."""
    if n_runs == 1:
        return f"{name}: one run, taken as fixed"
    runs = [run for run in comparison.runs if run.system == name]
    of_coverage = _range_words([run.coverage for run in runs], 2)
    of_ranking = _range_words(
        [run.ranking for run in runs], places_of(comparison.ranking.measured_in)
    )
    return f"{name}: {runs_words(runs)}; B - A: coverage {of_coverage}, ranking {of_ranking}"


def runs_words(runs: Sequence[SystemRun | RunScore]) -> str:
    """Count the runs of a system, and name some."""
    return f"{plural('run', len(runs))} ({some([run.run for run in runs], 3)})"


def _range_words(changes: Sequence[float | None], places: int) -> str:
    """Write the smallest and the largest change of runs."""
    known = [change for change in changes if change is not None]
    if not known:
        return "none"
    ends = (fixed(end, places, signed=True) for end in (min(known), max(known)))
    return " to ".join(ends)


def runs_tables(comparisons: Sequence[Comparison]) -> tuple[Table, ...]:
    """Lay out a row for each run of a system that has several; nothing where none has."""
    lines = []
    for item in comparisons:
        places = places_of(item.ranking.measured_in)
        for run in item.runs:
            other = item.baseline if run.system == item.contender else item.contender
            changes = [(run.coverage, 2), (run.ranking, places), (run.all_queries, places)]
            changes += [(change, 4) for change in run.measures]
            shown = [fixed(change, digits, signed=True) for change, digits in changes]
            lines.append((run.run, run.system, other, *shown))
    if not lines:
        return ()
    first = comparisons[0]
    ranking = f"ranking, {short_unit(first.ranking.measured_in)}"
    measures = [means.measure for means in first.measures]
    columns = (
        *texts("run", "of", "against"),
        *numbers("coverage, points", ranking, "all queries", *measures),
    )
    caption = "differences, B minus A, of one run against all runs of the other system"
    return (Table.of_texts(columns, lines, caption, title="Each run"),)


def measures_legend(measures: Sequence[MeasureMeans], settings: Any, *, corrected: bool) -> str:
    """Say how the measures that were asked for are tested, and that they decide nothing; others are corrected or not."""
    if not measures:
        return ""
    named = []
    for means in measures:
        lower = "" if means.higher_is_better else " (lower is better)"
        named.append(f"{means.measure}{lower}")
    given = ", on the runs as given" if settings.judged_only else ""
    raw = ", not corrected" if corrected else ""
    decide = "it decides" if len(named) == 1 else "they decide"
    return f"{', '.join(named)}: by t{raw}{given}; {decide} nothing"


def _itself(item: Any) -> Any:
    return item


def measures_tables(
    items: Sequence[Any],
    names: Sequence[Column],
    settings: Any,
    of: Callable[[Any], Any] = _itself,
    title: str = "",
    means: Sequence[str] = ("baseline=A", "contender=B"),
) -> tuple[Table, ...]:
    """Lay out the measures that were asked for, of items with columns that name them; nothing where there are none."""
    measured = [item for item in items if of(item).measures]
    if not measured:
        return ()
    asked = of(measured[0]).measures
    declared = of_part(of, measure_columns(asked))
    columns = [*names]
    significant = {}
    for place, of_measure in enumerate(asked):
        name = of_measure.measure
        of_runs = [of(item).measures[place] for item in measured]
        columns += chosen(
            declared,
            *(f"{name}_{mean}" for mean in means),
            f"{name}_difference",
            f"{name}_p",
            group=name,
        )
        significant[f"{name}_difference"] = [own.found != "none" for own in of_runs]
    table = Table.of(
        columns,
        measured,
        measures_legend(asked, settings, corrected=True),
        title=title,
        alpha=settings.alpha,
    )
    # What is best is not said: rows can be of different queries, or of different baselines.
    return (table.marked(significant=significant),)


def depth_lines(notes: Iterable[str]) -> list[str]:
    """Return what notes say on where all lists end, which stands beside the cutoff where a view has no other word on it."""
    return [own for own in as_notes(notes) if own.kind == "shallow"]


def queries_table(queries: Iterable[Any], measured_in: str, title: str = "") -> Table:
    """Lay out queries with their outcome, what each run found of them, and the search lengths."""
    columns = (
        column
        for column in query_columns(measured_in)
        if column.name not in ("restricted", "cluster")
    )
    return Table.of(tuple(columns), queries, title=title)
