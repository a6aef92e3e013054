"""What is shown of a comparison, and of the queries of one."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ir_outcomes.comparison.facets import AllQueries, Facet, Means, MeasureMeans, known_p
from ir_outcomes.comparison.result import Comparison, Queries
from ir_outcomes.comparison.verdict import meaning_of
from ir_outcomes.comparison.wording import change_over_all, coverage_words, label_words
from ir_outcomes.formatting import (
    NOTHING,
    fixed,
    interval,
    listed,
    percent,
    places_of,
    plural,
    pvalue,
    pvalue_in_words,
    short_unit,
    size,
    unit_behind,
)
from ir_outcomes.showing import (
    Table,
    View,
    direction,
    level_words,
    numbers,
    queries_words,
    texts,
    view_of,
)
from ir_outcomes.showing.views.parts import (
    disagree,
    measures_legend,
    queries_table,
    runs_tables,
    settings_caption,
    shown_p,
    systems_lines,
    tests_legend,
)
from ir_outcomes.statistics import Test
from ir_outcomes.table_columns import BY_UNIT, INTERVAL_BY_UNIT, NUMBER, SIGNED_BY_UNIT, Column
from ir_outcomes.types import DOCUMENTS_ABOVE, POINTS, RANKS


@view_of.register
def _comparison(comparison: Comparison) -> View:
    columns = (
        Column("name", _named, " "),
        *_means(comparison.alpha),
        Column("new_runs", heading="new runs", form=INTERVAL_BY_UNIT),
        Column("p", lambda part: shown_p(comparison, part), form=NUMBER),
        Column("found", lambda part: "" if part.found == "none" else part.found),
    )
    captions = (
        _outcomes_line(comparison),
        *systems_lines([comparison]),
        _above_legend(comparison),
        tests_legend([comparison]),
        _zero_legend(comparison),
        measures_legend(
            comparison.measures, comparison.settings, corrected=comparison.settings.family > 1
        ),
        f"{settings_caption(comparison)}{_direction_words(comparison)}",
    )
    table = Table.of(columns, comparison.parts, *captions)
    return View(
        title=_title(comparison),
        label=label_words(comparison),
        sentences=tuple(_answer(comparison)),
        tables=(table,),
        notes=comparison.notes,
        more="tests, effect sizes, power, unjudged documents",
        details=(_outcome_table(comparison), *runs_tables([comparison]), _tests_table(comparison)),
        background=(
            comparison.verdict.sentence,
            *_same_everywhere(comparison),
            *comparison.background,
        ),
        printed=(_printed(table, comparison),),
    )


def _printed(table: Table, comparison: Comparison) -> Table:
    """Return the table of a paper, which names the runs."""
    baseline = comparison.baseline
    contender = comparison.contender
    named = table.renamed({"A": baseline, "B": contender, "B - A": "difference"})
    return replace(named, title=f"{contender} against {baseline}: {comparison.verdict.label}")


def _named(facet: Facet | Means | AllQueries | MeasureMeans) -> str:
    if isinstance(facet, MeasureMeans):
        return facet.measure
    unit = {POINTS: ", %", "reciprocal": ""}.get(
        facet.measured_in, f", {short_unit(facet.measured_in)}"
    )
    return f"{facet.name}{unit}"


def _above_legend(comparison: Comparison) -> str:
    """Explain the unit of the rows of documents."""
    if comparison.ranking.measured_in != DOCUMENTS_ABOVE:
        return ""
    return f"above: {DOCUMENTS_ABOVE} a relevant one, plus 1; fewer are better"


def _direction_words(comparison: Comparison) -> str:
    """Say which direction is better, where no other line does."""
    ranking = comparison.ranking
    if ranking.measured_in == RANKS:
        return "; fewer ranks are better"
    if comparison.in_lengths:
        return ""
    return f"; {direction(ranking.higher_is_better)}"


def _zero_legend(comparison: Comparison) -> str:
    """Say what decides, where an interval and the p-value beside it, which are computed differently, disagree about zero."""
    if any(disagree(part.interval, part.pvalue, comparison.alpha) for part in comparison.parts):
        return "where an interval and p disagree about 0, p decides"
    return ""


def _means(alpha: float) -> tuple[Column, ...]:
    """Return the means of both runs, their difference and its interval."""
    return (
        Column("baseline", heading="A", form=BY_UNIT),
        Column("contender", heading="B", form=BY_UNIT),
        Column("difference", heading="B - A", form=SIGNED_BY_UNIT),
        Column("interval", heading=level_words(alpha), form=INTERVAL_BY_UNIT),
    )


def _title(result: Comparison | Queries) -> str:
    """Say who is compared."""
    n_runs = result.n_runs if isinstance(result, Comparison) else (1, 1)
    of_a, of_b = (f"{plural('run', n)}, " if n > 1 else "" for n in n_runs)
    return f"{result.contender} ({of_b}B) against {result.baseline} ({of_a}A)"


def _answer(comparison: Comparison) -> Iterator[str]:
    """Say the differences in plain words, and which of them are not significant."""
    facets = (comparison.coverage, comparison.ranking)
    meaning = meaning_of(comparison.verdict.label)
    if not any(facet.n_nonzero for facet in facets):
        yield "The two runs do not differ on any query."
    else:
        apart = all(facet.found == "none" for facet in facets)  # said once, below
        tests = {
            facet.name: "not significant"
            for facet in facets
            if facet.difference and facet.found == "none" and not apart
        }
        coverage = coverage_words(comparison, test=tests.get("coverage", ""))
        ranking = _ranking_words(comparison)
        if "ranking" in tests:
            ranking += f" ({tests['ranking']})"
        yield f"It {coverage}, and {ranking}."
        if meaning.by == "all queries":
            yield _over_all_words(comparison)
        elif apart and any(facet.difference for facet in facets):
            yield "Neither difference is significant."
    if comparison.settings.margins is not None:
        yield _margin_sentence(comparison)


def _over_all_words(comparison: Comparison) -> str:
    """Say what decided over all queries, and that no facet points against it."""
    whole: Any = comparison.all_queries  # known, because it decided
    moving = [facet.name for facet in (comparison.coverage, comparison.ranking) if facet.difference]
    pointing = {
        0: "neither facet moves",
        1: f"{''.join(moving)} points this way",
        2: "both facets point this way",
    }[len(moving)]
    change = change_over_all(comparison, whole)
    return f"Neither is significant by itself; over all queries {change}, and {pointing}."


def _ranking_words(comparison: Comparison) -> str:
    ranking = comparison.ranking
    if ranking.difference is None:
        return "nothing is found by both, so their rankings cannot be compared"
    change = ""
    if ranking.difference:
        change = size(ranking.difference, places_of(ranking.measured_in))
    is_more = ranking.difference > 0
    if ranking.measured_in == DOCUMENTS_ABOVE:
        way = "more" if is_more else "fewer"
        has = f"{change} {way}" if change else "on average as many"
        return f"what both find has {has} {DOCUMENTS_ABOVE} it"
    if ranking.measured_in == RANKS:
        way = "lower" if is_more else "higher"
        stands = "equally high on average"
        if change:
            stands = f"{change} ranks {way}"
        return f"where both answer, the first answer stands {stands}"
    way = "higher" if is_more else "lower"
    stands = "equally high on average"
    if change:
        stands = f"{change} {way}"
    return f"where both do, {ranking.measured_in} is {stands}"


def _margin_sentence(comparison: Comparison) -> str:
    margins = comparison.settings.margins or ()
    unit = comparison.ranking.measured_in
    units = ("points of coverage", unit, f"{unit}, over all queries")
    words = []
    for margin, of_margin in zip(margins, units, strict=False):
        if margin is not None:
            words.append(f"{margin:g} {unit_behind(margin, of_margin)}")
    named = listed(words)
    if comparison.verdict.equivalent:
        return (
            f"Equivalent within margins of {named}: larger differences are excluded in both"
            " directions."
        )
    if comparison.verdict.non_inferior:
        return f"Non-inferior at margins of {named}: larger harm is excluded."
    return f"Not shown to be non-inferior at margins of {named}: larger harm is not excluded."


def _outcomes_line(comparison: Comparison) -> str:
    names = ("won", "both", "neither", "lost")
    outcomes: Any = comparison.outcomes
    if comparison.of_several_runs and outcomes.shares is not None:
        shares = [f"{name} {percent(getattr(outcomes.shares, name), 1)} %" for name in names]
        return f"{queries_words(comparison)}: {', '.join(shares)}"
    counts = ", ".join(f"{name} {getattr(outcomes, name)}" for name in names)
    items = ": " if comparison.unit == "query" else "; documents "
    return f"{queries_words(comparison)}{items}{counts}"


def _outcome_table(comparison: Comparison) -> Table:
    by_query = comparison.unit == "query"
    outcomes = comparison.outcomes
    found = "found by"
    if comparison.cutoff:
        found = f"found within {comparison.cutoff} by"
    contender, baseline = (f"only {run}" for run in (comparison.contender, comparison.baseline))
    by = {"won": contender, "both": "both runs", "neither": "neither run", "lost": baseline}
    if comparison.of_several_runs:
        by |= {"both": "both", "neither": "neither"}
    ranks = {"won": outcomes.won_at, "lost": outcomes.lost_at}
    items = "queries" if by_query else "documents"
    share = "share" if by_query else "share within queries"
    counted = Column(items, lambda name: getattr(outcomes, name), form=NUMBER)
    columns = (
        Column("outcome", str),
        Column(found, by.get),
        *([] if comparison.of_several_runs else [counted]),
        Column(
            share,
            lambda name: percent(getattr(outcomes.shares, name, None), 2, unit=" %"),
            form=NUMBER,
        ),
        Column("median rank", ranks.get, form=NUMBER),
    )
    caption = (
        "share within queries: averaged within each query first, so that each query weighs the same"
    )
    if by_query:
        caption = ""
    return Table.of(columns, by, caption)


def _tests_table(comparison: Comparison) -> Table:
    """Show every measured quantity with its raw p-value, and sizes of the changes below."""
    restricted = comparison.restricted
    means = _means(comparison.alpha)

    def measured(facet: Facet | Means | AllQueries | MeasureMeans, test: Test) -> tuple[Any, ...]:
        numbers = (column.text(facet) for column in means)
        p = known_p(facet.difference, test.pvalue)
        return (
            _named(facet),
            facet.n,
            facet.n_nonzero,
            *numbers,
            pvalue(p, comparison.alpha),
            test.name,
        )

    facets = (comparison.coverage, comparison.ranking, comparison.reciprocal, comparison.naive)
    rows = [measured(facet, facet.decides) for facet in facets if facet is not None]
    captions = [
        "n: queries that the line is measured on; differ: those on which the runs differ; p: not"
        " corrected"
    ]
    if comparison.all_queries is not None:
        rows.append(measured(comparison.all_queries, comparison.all_queries.test))
    if restricted is not None:
        both = fixed(restricted.both, 2, signed=True)
        part = fixed(restricted.won_and_lost, 2, signed=True)
        nothing = [NOTHING] * 4
        test = restricted.won_and_lost_test
        p = pvalue(test.pvalue, comparison.alpha)
        rows += [
            ("  part of both", *nothing, both, NOTHING, NOTHING, ""),
            ("  part of won and lost", *nothing, part, NOTHING, p, test.name),
        ]
        missing = "the search length of what a run does not find counts as"
        if restricted.measured_in == RANKS:
            missing = "where a run finds nothing, its search length counts as"
        captions += [
            f"all queries: {missing} {restricted.horizon + 1}",
            (
                f"shorter on {plural('query', restricted.better)}, longer on {restricted.worse},"
                f" equal on {restricted.equal} (sign test,"
                f" {pvalue_in_words(restricted.sign_test.pvalue)})"
            ),
        ]
    rows += [measured(means, means.test) for means in comparison.measures]
    titles = [column.title for column in means]
    columns = (*texts(" "), *numbers("n", "differ", *titles, "p"), *texts("test"))
    return Table.of_texts(columns, rows, *captions, *_sizes(comparison))


def _sizes(comparison: Comparison) -> Iterator[str]:
    """Say how large the changes are: odds of won to lost, ratio of search lengths."""
    coverage = comparison.coverage
    ranking = comparison.ranking
    if coverage.effect_size is not None and coverage.won is not None:
        yield f"won : lost {fixed(coverage.effect_size, 2)}"
    if ranking.ratio is not None and ranking.ratio_interval is not None:
        yield (
            f"mean search length, B / A: {fixed(ranking.ratio, 2)}"
            f" {interval(ranking.ratio_interval, 2)}"
        )


def _same_everywhere(comparison: Comparison) -> Iterator[str]:
    labels = {str(at.cutoff): at.label for at in comparison.cutoffs}
    if len(set(labels.values())) > 1:
        yield f"Labels by cutoff: {'; '.join(map(': '.join, labels.items()))}."
    elif len(labels) > 1:
        yield f"The label is the same at the cutoffs {listed(list(labels))}."


@view_of.register
def _queries(queries: Queries) -> View:
    which = "" if queries.which is None else f", {queries.which}"
    return View(
        f"{plural('query', len(queries))}{which}: {_title(queries)}",
        tables=(queries_table(queries, queries.measured_in),),
    )
