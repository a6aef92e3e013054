"""What is shown of comparisons under several conditions, where several runs have a matrix of signs first."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter
from typing import Any

from ir_outcomes.across.conditions import harms_of, written
from ir_outcomes.across.result import (
    Condition,
    ConditionsComparison,
    Overall,
    PooledEffect,
    What,
    condition_columns,
)
from ir_outcomes.across.slices import FEWEST_QUERIES_OF_A_SLICE
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.comparison.verdict import direction_of, is_unconfirmed
from ir_outcomes.comparison.wording import words_of_test
from ir_outcomes.formatting import NOTHING, fixed, listed, plural, pvalue, pvalue_in_words
from ir_outcomes.notes import ranked
from ir_outcomes.showing import Table, View, numbers, settings_words, texts, view_of
from ir_outcomes.showing.views.judges import answers_table, audits_table, flips_table
from ir_outcomes.showing.views.parts import (
    CORRECTIONS,
    MARK,
    disagree,
    measures_tables,
    shown_p,
    tests_legend,
)
from ir_outcomes.table_columns import (
    NUMBER,
    PVALUE,
    SIGN,
    Column,
    attributes,
    chosen,
    decimals,
)

# Conditions whose names are headings of a matrix; more, or longer names, have numbers.
MOST_NAMED = 8
ALL_NAMES = 44  # characters of their names that fit beside each other
SIGNS = {"better": "+", "worse": "-", "trade-off": "~", "unconfirmed": "?", "none": "."}
SIGNS_EXPLAINED = "+ better, - worse, ~ trade-off, ? unconfirmed, . no significant difference"
COLUMNS_EXPLAINED = {
    "ranking, B / A": "mean search length on what both find, below 1 is better",
    "p, all": "over all queries",
}
THESE_EXPLAINED = (
    "these: the mean of these collections, each with the same weight; ranking: mean search length,"
    " B / A, below 1 is better; all queries: the restricted search length, lower is better; it"
    " confirms the label, and decides where neither facet does; p: not corrected"
)
NEW_EXPLAINED = (
    "new: the mean of all collections like these by random effects, where precise ones weigh more;"
    " prediction: where the effect of a new one could lie; I2: % of the variance that is not due to"
    " sampling"
)


def sign_of(label: str | None) -> str:
    """Return the sign of a label in a matrix; blank where there is none."""
    if label is None:
        return ""
    if label == "trade-off":
        return SIGNS[label]
    return SIGNS["unconfirmed" if is_unconfirmed(label) else direction_of(label)]


def _direction(label: str | None) -> str:
    return "none" if label is None else direction_of(label)


def _head(result: ConditionsComparison) -> str:
    own = ("rel",) if result.what == "judge" else ()
    return settings_words(
        result.settings, *own, of=[row.comparison for row in result.conditions], no_cutoff="of each"
    )


@view_of.register
def _conditions(result: ConditionsComparison) -> View:
    if not result.conditions:  # a gate can fail for that
        lacking = listed([f"{name} lacks {run}" for run, name in result.missing])
        title = f"nothing can be compared with {result.baseline} (A)"
        return View(title, sentences=(f"{lacking}.",))
    overall = {own.contender: own for own in result.overall}
    runs = _best_first(result, overall)
    is_one = len(runs) == 1
    overviews = []
    measures: list[Table] = []
    details = [_differences(result)] if result.differ else []
    for run in runs:
        rows = result.of(run)
        title = f"{run} (B) against {result.baseline} (A)"
        overviews.append(_overview(result, rows, overall.get(run), title))
        measures += measures_tables(
            rows,
            attributes(f"{result.what}=condition"),
            result.settings,
            attrgetter("comparison"),
            "" if is_one else title,
        )
        details.append(_numbers(result, rows, title))
    if overall:
        details.append(_means([overall[run] for run in runs]))
    audits = [audits_table(result, run) for run in runs if result.audits]
    first: Sequence[str] = result.notes
    background: Sequence[str] = ()
    if result.what in ("slice", "cutoff"):
        first, background = ranked(result.notes)
    hurt = [*_hurt(result)]
    answer = _answer(result)
    more = _MORE.get(result.what, "counts, p, judged shares")
    flips = [flips_table(result)] if result.flips else []
    by = f" by {result.by}" if result.by else ""
    compared = f"{plural(result.what, len(result.names))}{by}"
    if is_one:
        # What a table says as well is said in sentences on the first screen only where they are few.
        n_shown = len(result.sentences) if len(result.audits) <= 3 else 1
        return View(
            f"{overviews[0].title}, {compared}",
            answer,
            sentences=result.sentences[:n_shown],
            tables=(replace(overviews[0], title=""), *measures, *audits),
            notes=(*hurt, *first),
            more=more,
            details=(*details, *flips),
            background=(*result.sentences[n_shown:], *background),
        )
    tables = [_matrix(result, runs, overall)]
    if result.audits:
        tables.append(answers_table(result))
    return View(
        f"{plural('run', len(runs))} against {result.baseline} (A), {compared}",
        answer,
        tables=tuple(tables),
        notes=tuple(first),
        more=f"each {result.what}, {more}",
        details=(*overviews, *measures, *details, *audits, *flips),
        background=(*hurt, *result.sentences, *background),
    )


_MORE = {
    "collection": "counts, p, means, judged shares",
    "slice": "the test whether slices differ, counts, p",
    "judge": "counts, p, queries on which judges disagree",
}


def _answer(result: ConditionsComparison) -> str:
    """Say in a few words whether slices differ, or what holds on average of collections for a single run."""
    if result.what == "slice":
        if not result.differ:
            return "whether they differ is not tested: queries come in clusters"
        if all(row.pvalue is None for row in result.differ):
            if any(row.labelled for row in result.conditions):
                return "whether they differ cannot be tested"
            n_queries = sum(row.comparison.n_queries for row in result.of(result.contenders[0]))
            return (
                "nothing is tested, because every slice has fewer than"
                f" {FEWEST_QUERIES_OF_A_SLICE} queries ({plural('label', len(result.names))} for"
                f" {plural('query', n_queries)})"
            )
        alpha = result.settings.alpha
        decided = [
            row
            for row in result.differ
            if row.pvalue_corrected is not None and row.pvalue_corrected <= alpha
        ]
        found = [f"{row.contender} on {row.facet}" for row in decided]
        if found:
            return f"they differ for {listed(found)}"
        return "no evidence that they differ"
    if len(result.overall) != 1:
        return ""
    counted = []
    for side in ("better", "worse"):
        number, kept = _numbers_of(side, result.conditions)
        if number:
            after = ""
            if kept < number:
                after = f" ({kept} after {CORRECTIONS[result.over_conditions]})"
            counted.append(f"{side} in {number}{after}")
    label = result.overall[0].label
    on_average = f"{label} on average" if label else "no overall label"
    return f"{on_average}, {' and '.join(counted) or 'none decided'}"


def _numbers_of(side: str, rows: Sequence[Condition]) -> tuple[int, int]:
    """Count the labels with a direction, and those of them that the correction over the conditions keeps."""
    labelled = [row for row in rows if _direction(row.label) == side]
    return len(labelled), sum(row.survives for row in labelled)


def _label(overall: Overall | None) -> str | None:
    if overall is None:
        return None
    return overall.label or "no overall label"


def _best_first(result: ConditionsComparison, overall: Mapping[str, Overall]) -> list[str]:
    """Return the contenders by their label on average, then by conditions in which they are better less those where worse."""

    def place(run: str) -> tuple[int, int, float]:
        counts = Counter(map(_direction, result.labels(run).values()))
        changes = [row.comparison.coverage.difference or 0.0 for row in result.of(run)]
        of_average = ("better", "none", "worse").index(_direction(_label(overall.get(run))))
        return of_average, counts["worse"] - counts["better"], -sum(changes)

    return sorted(result.contenders, key=place)


def _hurt(result: ConditionsComparison) -> Iterator[str]:
    """Say what a good average hides, and by which p-values."""
    for overall in result.overall:
        if not overall.hurt or _direction(overall.label) == "worse":
            continue
        whose = "Hurt"
        if len(result.overall) != 1:
            whose = f"{overall.contender}: hurt"
        where = [
            f"{row.condition} ({_harm_words(row.comparison)})"
            for row in result.of(overall.contender)
            if row.condition in overall.hurt
        ]
        raw = f"raw p at most {result.settings.alpha:g}"
        yield f"{whose} ({raw}) or a trade-off: {listed(where)}."


def _harm_words(comparison: Comparison) -> str:
    """Name the facets that are hurt, with p-values; the label where no facet is."""
    told = []
    for facet, test in harms_of(comparison):
        p = pvalue_in_words(test.pvalue) if test == facet.decides else words_of_test(test)
        told.append(f"{facet.name}, {p}")
    return "; ".join(told) or comparison.verdict.label


def _matrix(
    result: ConditionsComparison, runs: Sequence[str], overall: Mapping[str, Overall]
) -> Table:
    """Show a sign for each run and condition, how often it is better and worse, and the label on average."""
    names = result.names
    shown: Sequence[str] = names
    sides = ("better", "worse")
    numbered = ""
    if len(names) > MOST_NAMED or sum(map(len, names)) > ALL_NAMES:
        shown = [str(number) for number, _ in enumerate(names, start=1)]
        sides = (SIGNS["better"], SIGNS["worse"])
        numbered = "; ".join(map(" ".join, zip(shown, names, strict=True)))
    lines = []
    brackets = ""
    for run in runs:
        rows = result.of(run)
        signs = {row.condition: sign_of(row.label) + _mark_of(row) for row in rows}
        counts = []
        for side in ("better", "worse"):
            number, kept = _numbers_of(side, rows)
            counts.append(f"{number}")
            if kept < number:
                counts[-1] += f" ({kept})"
                brackets = "; in brackets: how many it keeps"
        of_conditions = (signs.get(name, "") for name in names)
        lines.append((run, *of_conditions, *counts, _label(overall.get(run))))
    marked = ""
    if any(map(_mark_of, result.conditions)):
        rule = CORRECTIONS[result.over_conditions]
        marked = f"{MARK}: a verdict that {rule} over the {result.what}s does not keep{brackets}"
    headed = (Column(name, form=SIGN) for name in shown)
    columns = (*texts("run"), *headed, *numbers(*sides), *texts("on average"))
    return Table.of_texts(columns, lines, SIGNS_EXPLAINED, marked, numbered, _head(result))


def _mark_of(row: Condition) -> str:
    """Return the mark of a label that the correction over the conditions does not keep."""
    return "" if row.label is None or row.survives else MARK


def _overview(
    result: ConditionsComparison, rows: Sequence[Condition], overall: Overall | None, title: str
) -> Table:
    """Show the effects and the label in each condition, and over all of them."""
    lines = [_overview_line(row, result.what) for row in rows]
    explained = []
    if overall is not None:
        coverage, ranking, *_ = overall.pooled
        means = [_effect(effect.name, effect.these) for effect in (coverage, ranking)]
        whole = overall.all_queries.these
        p = NOTHING
        if whole is not None:
            p = pvalue(whole.pvalue_corrected, result.settings.alpha, digits=1)
        lines.append(("these, mean", None, *means, p, _label(overall)))
        if coverage.new is not None or ranking.new is not None:
            ranges = (_predicted(coverage), _predicted(ranking))
            lines.append(("a new one", None, *ranges, None, overall.outlook))
            explained.append("a new one: where its effect could lie")
    if any(map(_mark_of, rows)):
        explained.append(
            f"{MARK}: a verdict that {CORRECTIONS[result.over_conditions]} over the {result.what}s"
            " does not keep"
        )
    if result.what == "cutoff":
        explained.append("not corrected for the number of cutoffs: decide on one before looking")
    name = result.by if result.by and len(result.by) < 12 else result.what
    explained += _tests_explained(
        [row.comparison for row in rows if row.label is not None],
        is_marked=any((line[4] or "").endswith(MARK) for line in lines),
    )
    if any(row.label is not None and _interval_disagrees(row) for row in rows):
        explained.append(
            "where an interval and a test disagree about 0 (ranking: about 1), the test decides"
        )
    effects = numbers("queries", "coverage, points", "ranking, B / A", "p, all")
    columns = (*texts(name), *effects, *texts("verdict"))
    table = Table.of_texts(columns, lines, title=title)
    meanings = (
        f"{column.name}: {COLUMNS_EXPLAINED[column.name]}"
        for column in table.columns
        if column.name in COLUMNS_EXPLAINED
    )
    captions = ("; ".join(meanings), "; ".join(explained), _head(result))
    return replace(table, captions=tuple(filter(None, captions)))


def _tests_explained(comparisons: Sequence[Comparison], is_marked: bool) -> Iterator[str]:
    """Say over what labels are corrected, and what marks and letters behind p-values mean."""
    if not comparisons:
        return
    settings = comparisons[0].settings
    rule = CORRECTIONS.get(settings.correction)
    if rule is not None and settings.family > 1:
        yield f"intervals of each by itself, labels by {rule} over {plural('run', settings.family)}"
        if is_marked:
            yield f"p{MARK}: at most {settings.alpha:g} without {rule}"
    yield from filter(None, [tests_legend(comparisons)])


def _interval_disagrees(row: Condition) -> bool:
    """Return whether the interval of a facet and its test, which are computed differently, disagree about no effect."""
    comparison = row.comparison
    of_facets = ((row.coverage, comparison.coverage), (row.ranking, comparison.ranking))
    return any(
        effect is not None and disagree(effect.interval, facet.pvalue, comparison.alpha)
        for effect, facet in of_facets
    )


def _overview_line(row: Condition, what: What) -> tuple[Any, ...]:
    more = f"rel {row.comparison.rel}" if what == "judge" else row.group
    name = f"{row.condition} ({more})" if more else row.condition
    queries = row.comparison.n_queries if what == "slice" else None
    effects = (_effect("coverage", row.coverage), _effect("ranking", row.ranking))
    if row.label is None:
        return (name, queries, *effects, None, "too few queries")
    whole = row.comparison.all_queries
    p = whole and shown_p(row.comparison, whole, digits=1)
    return (name, queries, *effects, p, f"{row.label} {_mark_of(row)}".rstrip())


def _effect(name: str, effect: Any) -> str:
    """Write an effect, or a mean of effects, with its interval."""
    if effect is None:
        return NOTHING
    return written(name, effect.effect, effect.interval)


def _predicted(effect: PooledEffect) -> str:
    """Write where the effect of a new condition could lie."""
    if effect.new is None:
        return NOTHING
    return written(effect.name, effect.new.effect, effect.new.prediction)


def _numbers(result: ConditionsComparison, rows: Sequence[Condition], title: str) -> Table:
    """Show counts, p-values and judged shares of the conditions of one contender."""
    declared = condition_columns(rows, result.measures)
    columns = (
        *chosen(declared, f"condition={result.what}", "n_queries", "won", "lost"),
        *chosen(declared, "coverage_p", "coverage_p_corrected", group="coverage"),
        *chosen(
            declared,
            "ranking_difference=B - A",
            "ranking_p",
            "ranking_p_corrected",
            group="ranking",
        ),
        *chosen(
            declared,
            "restricted_difference=B - A",
            "restricted_p",
            "all_queries_p_corrected",
            group="all queries",
        ),
        *chosen(declared, *(f"{measure}_effect={measure}" for measure in result.measures)),
        *chosen(declared, "judged_baseline", "judged_contender"),
    )
    return Table.of(
        columns,
        rows,
        *_numbers_captions(result, rows),
        title=title,
    )


def _numbers_captions(result: ConditionsComparison, rows: Sequence[Condition]) -> Iterator[str]:
    """Say over what p-values are corrected, and what is judged, where that is known."""
    rules = []
    of_runs = CORRECTIONS.get(result.settings.correction)
    if of_runs is not None and result.settings.family > 1:
        rules.append(f"{of_runs} over {plural('run', result.settings.family)}")
    of_conditions = CORRECTIONS.get(result.over_conditions)
    if of_conditions is not None:
        rules.append(f"{of_conditions} over {plural('comparison', len(result.conditions))}")
    larger = ", the larger of both" if len(rules) > 1 else ""
    yield f"p: by {listed(rules)}{larger}" if rules else "p: not corrected"
    if any(row.judged is not None for row in rows):
        yield "judged: % of the documents within the cutoff"


def _means(several: Sequence[Overall]) -> Table:
    """Show the means over these conditions, and what they say of all like these."""
    lines: list[tuple[Any, ...]] = []
    for overall in several:
        lines += _mean_lines(overall, overall.contender if len(several) > 1 else None)
    columns = texts("run", "over all", "of") + numbers(
        "mean", "interval", "p", "prediction", "I2", "better", "worse"
    )
    about_new = NEW_EXPLAINED if any(over_all == "new" for _, over_all, *_ in lines) else ""
    return Table.of_texts(columns, lines, THESE_EXPLAINED, about_new, title="Means")


def _mean_lines(overall: Overall, run: str | None) -> Iterator[tuple[Any, ...]]:
    coverage, ranking, *measures = overall.pooled
    for effect in (coverage, ranking, overall.all_queries, *measures):
        name = effect.name
        these = effect.these
        new = effect.new
        counts = (effect.better, effect.worse)
        if these is not None:
            mean = _effect(name, these).split(" ", 1)
            yield (run, "these", name, *mean, pvalue(these.pvalue), None, None, *counts)
        if new is not None:
            mean = _effect(name, new).split(" ", 1)
            _, prediction = _predicted(effect).split(" ", 1)
            share = fixed(100 * new.i_squared, 0)
            yield (run, "new", name, *mean, pvalue(new.pvalue), prediction, share, *counts)


def _differences(result: ConditionsComparison) -> Table:
    columns = (
        *attributes("run=contender", "facet"),
        Column("slices", form=NUMBER),
        Column("Q", "cochran_q", form=decimals(2)),
        Column("pvalue", heading="p", form=PVALUE),
    )
    explained = (
        f"Q: Cochran's Q; p: {plural('permutation', result.resamples or 0)} of the labels, seed"
        f" {result.seed}"
    )
    if all(row.pvalue is None for row in result.differ):
        explained = "no test: fewer than two slices of two queries, or the same change on all"
    elif len(result.contenders) > 1:
        columns = (*columns, Column("pvalue_corrected", heading="corrected", form=PVALUE))
        explained += (
            f"; corrected: {CORRECTIONS.get(result.settings.correction, 'not')} over the runs, for"
            " each facet"
        )
    return Table.of(columns, result.differ, explained, title=f"Do slices by {result.by} differ?")
