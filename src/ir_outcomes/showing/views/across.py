"""What is shown of comparisons under several conditions, where several runs have a matrix of signs first; and of a gate."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Any

from ir_outcomes.across.conditions import written
from ir_outcomes.across.gate import FIRST_NOTES, GateDecision, GateFacet, GateResult
from ir_outcomes.across.result import (
    Condition,
    ConditionsComparison,
    Overall,
    PooledEffect,
    What,
    by_contender,
    condition_columns,
)
from ir_outcomes.comparison.verdict import direction_of, is_unconfirmed
from ir_outcomes.errors import some
from ir_outcomes.evaluation.check import FILE_COLUMNS, CheckResult
from ir_outcomes.formatting import (
    NOTHING,
    fixed,
    listed,
    percent,
    places_of,
    plural,
    pvalue,
    short_unit,
)
from ir_outcomes.notes import KINDS, merged, ranked
from ir_outcomes.results import Column, attributes, chosen, of_part
from ir_outcomes.showing import Table, View, settings_words, view_of
from ir_outcomes.showing.views.comparison import (
    CORRECTIONS,
    MARK,
    measures_tables,
    queries_table,
    shown_p,
    tests_legend,
)
from ir_outcomes.types import length_unit

MOST_FLIPS = 10  # queries on which judges disagree that are listed
# Conditions whose names are headings of a matrix; more, or longer names, have numbers.
MOST_NAMED = 8
ALL_NAMES = 44  # characters of their names that fit beside each other
SIGNS = {"better": "+", "worse": "-", "trade-off": "~", "unconfirmed": "?", "none": "."}
SIGNS_EXPLAINED = "+ better, - worse, ~ trade-off, ? unconfirmed, . no significant difference"
ALL_QUERIES_P = (  # queries: what confirms a label of one facet, and decides where neither does
    "p, all"
)
RATIO_EXPLAINED = (
    "ranking, B / A: mean search length on what both find, below 1 is better; p, all: over all"
    " queries"
)
MEANS_EXPLAINED = (
    (
        "these: the mean of these collections, each with the same weight; new: the mean of all"
        " collections like these by random effects, where precise ones weigh more; prediction:"
        " where the effect of a new one could lie; I2: % of the variance that is not due to"
        " sampling; ranking: mean search length, B / A, below 1 is better; all queries: the"
        " restricted search length, lower is better; it confirms the label, and decides where"
        " neither facet does"
    ),
)


def sign_of(label: str | None) -> str:
    """Return the sign of a label in a matrix; blank where there is none."""
    if label is None:
        return ""
    return (
        SIGNS.get(label) or SIGNS["unconfirmed" if is_unconfirmed(label) else direction_of(label)]
    )


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
        return View(
            f"nothing can be compared with {result.baseline} (A)", sentences=(f"{lacking}.",)
        )
    of_contender = by_contender(result.conditions)
    overall = {own.contender: own for own in result.overall}
    average = {own.contender: own.label or "no overall label" for own in result.overall}
    runs = _best_first(result, average)
    is_one = len(runs) == 1
    titles = {run: f"{run} (B) against {result.baseline} (A)" for run in runs}
    overviews = [
        _overview(result, of_contender[run], overall.get(run), titles[run]) for run in runs
    ]
    details = [_differences(result)] if result.differ else []
    details += [_numbers(result, of_contender[run], titles[run]) for run in runs]
    if overall:
        details.append(_means([overall[run] for run in runs]))
    measures: list[Table] = []
    for run in runs:
        title = "" if is_one else titles[run]
        by_name = attributes(f"{result.what}=condition")
        measures += measures_tables(
            of_contender[run], by_name, result.settings, attrgetter("comparison"), title
        )
    tables = [replace(overviews[0], title=""), *measures]
    if not is_one:
        tables = [_matrix(result, runs, average)]
        details = [*overviews, *measures, *details]
    if result.audits:
        audits = [_audits(result, run) for run in runs]
        tables += audits if is_one else [_answers(result)]
        details += [] if is_one else audits
    if result.flips:
        details.append(_flips(result))
    if is_one:
        who = titles[runs[0]]
    else:
        who = f"{plural('run', len(runs))} against {result.baseline} (A)"
    by = f" by {result.by}" if result.by else ""
    # What a table says as well is said in sentences on the first screen only where they are few.
    if len(result.audits) <= 3:
        sentences = result.sentences
    else:
        sentences = result.sentences[:1]
    hurt = tuple(_hurt(result.overall))
    first = (*hurt, *result.notes)
    background = result.sentences[len(sentences) :]
    if not is_one:
        sentences = ()
        first = result.notes
        background = (*hurt, *result.sentences)
    if result.what in ("slice", "cutoff"):
        first, others = ranked(result.notes)
        background = (*background, *others)
    return View(
        f"{who}, {plural(result.what, len(result.names))}{by}",
        _answer(result),
        sentences,
        tuple(tables),
        notes=first,
        more=f"{'' if is_one else f'each {result.what}, '}{_MORE[result.what]}",
        details=tuple(details),
        background=background,
    )


_MORE = {
    "collection": "counts, p, means, judged shares",
    "slice": "the test whether slices differ, counts, p",
    "cutoff": "counts, p, judged shares",
    "judge": "counts, p, queries on which judges disagree",
}


def _answer(result: ConditionsComparison) -> str:
    """Say in a few words whether slices differ, or what holds on average of collections for a single run."""
    if result.what == "slice":
        if not result.differ:
            return "whether they differ is not tested: queries come in clusters"
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
    directions = Counter(_direction(row.label) for row in result.conditions)
    counted = " and ".join(
        f"{side} in {directions[side]}" for side in ("better", "worse") if directions[side]
    )
    label = result.overall[0].label
    return f"{f'{label} on average' if label else 'no overall label'}, {counted or 'none decided'}"


def _best_first(result: ConditionsComparison, average: Mapping[str, str]) -> list[str]:
    """Return the contenders by their label on average, then by conditions in which they are better less those where worse."""

    def place(run: str) -> tuple[int, int, float]:
        counts = Counter(map(_direction, result.labels(run).values()))
        changes = [row.comparison.coverage.difference or 0.0 for row in result.of(run)]
        of_average = ("better", "none", "worse").index(_direction(average.get(run)))
        return of_average, counts["worse"] - counts["better"], -sum(changes)

    return sorted(result.contenders, key=place)


def _hurt(several: Sequence[Overall]) -> Iterator[str]:
    """Say what a good average hides."""
    for overall in several:
        if overall.hurt and _direction(overall.label) != "worse":
            whose = "Hurt or a trade-off"
            if len(several) != 1:
                whose = f"{overall.contender}: hurt or a trade-off"
            yield f"{whose}: {listed(overall.hurt)}."


def _matrix(result: ConditionsComparison, runs: Sequence[str], last: Mapping[str, str]) -> Table:
    """Show a sign for each run and condition, how often it is better and worse, and a last column for each run."""
    names = result.names
    few = len(names) <= MOST_NAMED and sum(map(len, names)) <= ALL_NAMES
    shown = list(names)
    if not few:
        shown = [str(number) for number in range(1, 1 + len(names))]
    lines = []
    for run in runs:
        labels = result.labels(run)
        counts = Counter(map(_direction, labels.values()))
        lines.append(
            (
                run,
                *(sign_of(labels.get(name)) for name in names),
                counts["better"],
                counts["worse"],
                last.get(run),
            )
        )
    numbered = ""
    if not few:
        numbered = "; ".join(f"{number} {name}" for number, name in zip(shown, names, strict=True))
    sides = [(side if few else SIGNS[side], "n") for side in ("better", "worse")]
    headings = [("run", ""), *((name, "") for name in shown), *sides, ("on average", "label")]
    return Table.of_texts(headings, lines, SIGNS_EXPLAINED, numbered, _head(result))


def _overview(
    result: ConditionsComparison, rows: Sequence[Condition], overall: Overall | None, title: str
) -> Table:
    """Show the effects and the label in each condition, and over all of them."""
    lines = [_overview_line(row, result.what) for row in rows]
    explained = []
    if overall is not None:
        pooled = overall.pooled[:2]
        means = [_effect(effect.name, effect.these) for effect in pooled]
        whole = overall.all_queries.these
        p = (
            None
            if whole is None
            else pvalue(whole.pvalue_corrected, result.settings.alpha, digits=1)
        )
        lines.append(("these, mean", None, *means, p, overall.label or "no overall label"))
        if any(effect.new is not None for effect in pooled):
            ranges = [_predicted(effect) for effect in pooled]
            lines.append(("a new one", None, *ranges, None, overall.outlook))
            explained.append("a new one: where its effect could lie")
    if any(row.label is not None and not row.survives for row in rows):
        explained.append(
            f"{MARK}: a verdict that {CORRECTIONS[result.over_conditions]} over the {result.what}s"
            " does not keep"
        )
    if result.what == "cutoff":
        explained.append("not corrected for the number of cutoffs: decide on one before looking")
    name = result.by if result.by and len(result.by) < 12 else result.what
    explained += filter(None, [tests_legend([row.comparison for row in rows])])
    effects = (("coverage, points", "n"), ("ranking, B / A", "n"), (ALL_QUERIES_P, "n"))
    headings = ((name, ""), ("queries", "n"), *effects, ("verdict", "label"))
    return Table.of_texts(
        headings, lines, RATIO_EXPLAINED, "; ".join(explained), _head(result), title=title
    )


def _overview_line(row: Condition, what: What) -> tuple[Any, ...]:
    more = f"rel {row.comparison.rel}" if what == "judge" else row.group
    name = f"{row.condition} ({more})" if more else row.condition
    queries = row.comparison.n_queries if what == "slice" else None
    label = "too few queries" if row.label is None else row.label
    marked = label
    if row.label is not None and not row.survives:
        marked = f"{label} {MARK}"
    whole = row.comparison.all_queries
    p = None if whole is None or row.label is None else shown_p(row.comparison, whole, digits=1)
    return (
        name,
        queries,
        _effect("coverage", row.coverage),
        _effect("ranking", row.ranking),
        p,
        marked,
    )


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
        run = overall.contender if len(several) > 1 else None
        for effect in (*overall.pooled[:2], overall.all_queries, *overall.pooled[2:]):
            name = effect.name
            these = effect.these
            new = effect.new
            counts = (effect.better, effect.worse)
            if these is not None:
                mean, interval = _effect(name, these).split(" ", 1)
                lines.append(
                    (run, "these", name, mean, interval, pvalue(these.pvalue), None, None, *counts)
                )
            if new is not None:
                mean, interval = _effect(name, new).split(" ", 1)
                prediction = _predicted(effect).split(" ", 1)[1]
                share = fixed(100 * new.i_squared, 0)
                lines.append(
                    (
                        run,
                        "new",
                        name,
                        mean,
                        interval,
                        pvalue(new.pvalue),
                        prediction,
                        share,
                        *counts,
                    )
                )
    numbers = ("mean", "interval", "p", "prediction", "I2", "better", "worse")
    headings = [("run", ""), ("over all", ""), ("of", ""), *((heading, "n") for heading in numbers)]
    return Table.of_texts(headings, lines, *MEANS_EXPLAINED, title="Means")


def _differences(result: ConditionsComparison) -> Table:
    columns = (
        *attributes("run=contender", "facet"),
        Column("slices", form="n"),
        Column("Q", "cochran_q", form=".2f"),
        Column("pvalue", heading="p", form="p"),
    )
    explained = (
        f"Q: Cochran's Q; p: {plural('permutation', result.resamples or 0)} of the labels, seed"
        f" {result.seed}"
    )
    if len(result.contenders) > 1:
        columns = (*columns, Column("pvalue_corrected", heading="corrected", form="p"))
        explained += (
            f"; corrected: {CORRECTIONS.get(result.settings.correction, 'not')} over the runs, for"
            " each facet"
        )
    return Table.of(columns, result.differ, explained, title=f"Do slices by {result.by} differ?")


def _answers(result: ConditionsComparison) -> Table:
    """Show for each run and judge whether its findings hold."""
    answers: dict[tuple[str, str], dict[str, str]] = {}
    for audit in result.audits:
        answers.setdefault((audit.contender, audit.judge), {})[audit.facet] = audit.answer
    facets = list(dict.fromkeys(audit.facet for audit in result.audits))
    lines = [(*of, *(own.get(facet) for facet in facets)) for of, own in answers.items()]
    headings = [("run", ""), ("judge", ""), *((facet, "label") for facet in facets)]
    explained = (
        f"finding: the judge's difference, significant or not; wrong: by {result.reference} it is"
        f" significantly another on the same queries; holds: corrected by {result.reference} it is"
        " significant with the same sign; not corrected for the number of findings"
    )
    return Table.of_texts(
        headings, lines, explained, title=f"Do the findings hold by {result.reference}?"
    )


_AUDIT = (
    Column("judge"),
    Column("facet", heading="of"),
    Column("judge_difference", heading="judge's", form="+m"),
    Column("reference_difference", heading="labels'", form="+m"),
    Column("bias_p", heading="bias p", form="p"),
    Column("corrected", form="+m"),
    Column("corrected_interval", heading="interval", form="[+m]"),
    Column("answer", heading="finding", form="label"),
)


def _audits(result: ConditionsComparison, run: str) -> Table:
    audits = [audit for audit in result.audits if audit.contender == run]
    return Table.of(
        _AUDIT,
        audits,
        "of: coverage, percentage points; all queries, lower is better; or a measure. judge's:"
        f" difference by the judge over all queries; labels': by {result.reference} over the"
        " queries that it labeled; corrected: over all queries, from both, where a query without a"
        " relevant document counts as no difference; not corrected for the number of findings",
        title=(
            f"Do the findings{f' on {run}' if len(audits) < len(result.audits) else ''} hold by"
            f" {result.reference}?"
        ),
    )


def _flips(result: ConditionsComparison) -> Table:
    columns = (
        *attributes("run=contender", "query=query_id"),
        Column("better for", lambda flip: ", ".join(flip.better)),
        Column("worse for", lambda flip: ", ".join(flip.worse)),
        Column("text"),
    )
    more = ""
    if len(result.flips) > MOST_FLIPS:
        more = f"the first {MOST_FLIPS}; all are in the JSON"
    title = f"Judges disagree about the direction on {plural('query', len(result.flips))}"
    return Table.of(columns, result.flips[:MOST_FLIPS], more, title=title)


MOST_WORST = 3  # queries that are named on the first screen


@view_of.register
def _gate(result: GateResult) -> View:
    ordered = result.worst_first
    worst = ordered[0]
    several = len(ordered) > 1
    against = (
        f"against {result.baseline}{'' if result.reference is None else f' and {result.reference}'}"
    )
    what = f"{worst.name} {against}"
    if several:
        contenders = {decision.contender for decision in ordered}
        collections = {decision.condition for decision in ordered if decision.condition is not None}
        where = ""
        if collections:
            where = f" on {plural('collection', len(collections))}"
        counts = Counter(decision.status for decision in ordered)
        counted = ", ".join(f"{number} {status}" for status, number in counts.items())
        what = f"{plural('contender', len(contenders))}{where} {against}: {counted}"
    facets = _facets(result, ordered)
    remarkable = [
        decision for decision in ordered if decision.status != "pass" or decision.identical
    ]
    reasons = [f"{decision.name}: {decision.reasons[0]}" for decision in remarkable]
    if len(reasons) > MOST_WORST:
        reasons[MOST_WORST:] = [
            f"And {len(reasons) - MOST_WORST} more that do not pass, or are identical to the"
            " baseline."
        ]
    queries = [decision for decision in ordered if decision.queries]
    measured_in = length_unit(result.settings.unit)
    return View(
        f"{result.status}: {what}",
        sentences=(*(reasons if several else worst.reasons[:1]), *_smallest_margins(result)),
        tables=(
            facets if worst.facets and not several else _decisions(result, ordered),
            *measures_tables(ordered, attributes("run=name"), result.settings),
        ),
        notes=(*_most_harm(worst), *_notes_on_decisions(ordered)),
        more="queries, texts, how many would settle it",
        details=(
            *([facets] if several else []),
            *(
                queries_table(
                    decision.queries,
                    measured_in,
                    f"The queries with the largest harm: {decision.name}",
                )
                for decision in queries
            ),
        ),
        background=(
            *(f"{decision.name}: {' '.join(decision.reasons)}" for decision in ordered),
            *result.notes,
        ),
    )


def _smallest_margins(result: GateResult) -> Iterator[str]:
    """Say what so many queries could exclude if none differed: the limit of runs that are not better."""
    facets = next((decision.facets for decision in result.decisions if decision.facets), ())
    known = []
    for facet, margin in zip(facets, result.smallest_margins, strict=False):
        if margin is not None:
            unit = "points"
            if facet.name != "coverage":
                unit = facet.measured_in
            known.append(
                f"{margin:.3g} {unit}{' over all queries' if facet.name == 'all queries' else ''}"
            )
    if known:
        yield f"If no query differed, so many queries would exclude harm beyond {listed(known)}."


def _notes_on_decisions(decisions: Sequence[GateDecision]) -> Iterator[str]:
    """Give what changes how decisions are read; a kind of note once, those that can make a decision wrong first."""
    if len(decisions) == 1:
        yield from decisions[0].notes
        return
    for kind in dict.fromkeys((*FIRST_NOTES, *KINDS)):
        of_kind = [
            (decision.name, [known for known in decision.notes if known.kind == kind])
            for decision in decisions
        ]
        yield from merged(of_kind)


def _most_harm(worst: GateDecision) -> Iterator[str]:
    """Name the queries with the largest harm of the worst decision, and what was lost on them."""
    named = [
        f"{query.query_id} ({harm})" for query, harm in zip(worst.queries, worst.harms, strict=True)
    ][:MOST_WORST]
    if named:
        yield f"{worst.name}, most harm: {'; '.join(named)}."


def _margin(facet: GateFacet) -> str:
    return (
        f"{'-' if facet.higher_is_better else '+'}{facet.margin:.{places_of(facet.measured_in)}f}"
    )


_FACET = (
    Column("facet", lambda facet: f"{facet.name}, {short_unit(facet.measured_in)}"),
    Column("difference", heading="B - A", form="+m"),
    Column("interval", form="[+m]"),
    Column("margin", _margin, form="n"),
    Column("status", heading="finding", form="label"),
    Column("needed", "needed.queries", "settled by", "n"),
)


def _facet(name: str) -> Callable[[GateDecision], GateFacet | None]:
    return lambda decision: next((facet for facet in decision.facets if facet.name == name), None)


def _decisions(result: GateResult, decisions: Sequence[GateDecision]) -> Table:
    """Show the status of each decision, and its intervals."""
    columns = [Column("run", "name"), Column("gate", "status", form="label")]
    margins = []
    for name in ("coverage", "ranking", "all queries"):
        facets = sorted(filter(None, map(_facet(name), decisions)), key=attrgetter("margin"))
        if facets:
            margins.append(
                f"{name} {' to '.join(dict.fromkeys(map(_margin, (facets[0], facets[-1]))))}"
                f" {facets[0].measured_in}"
            )
        columns += of_part(_facet(name), chosen(_FACET, f"interval={name}"))
    return Table.of(
        columns,
        decisions,
        f"margins: {', '.join(margins)}" if margins else "",
        *_captions(result, decisions),
    )


def _facets(result: GateResult, decisions: Sequence[GateDecision]) -> Table:
    """Show each facet of each decision against its margin, and how many queries would settle it."""
    rows = [(decision, facet) for decision in decisions for facet in decision.facets]
    columns = of_part(itemgetter(1), _FACET)
    several = len(decisions) > 1
    if several:  # their intervals are in the table of decisions
        own = (column for column in columns if column.name != "interval")
        columns = (*of_part(itemgetter(0), attributes("run=name")), *own)
    units = "clusters of queries"
    if result.settings.n_clusters is None:
        units = "queries"
    explained = (
        f"settled by: {units} like these that would exclude harm if the runs were equally good"
    )
    settled = any(
        facet.needed is not None and facet.needed.queries is not None for _, facet in rows
    )
    captions = (explained if settled else "", *_captions(result, decisions))
    return Table.of(columns, rows, *captions, title="Margins" if several else "")


def _captions(result: GateResult, decisions: Sequence[GateDecision]) -> Iterator[str]:
    """Say which queries have no results, and the settings."""
    missing = [
        f"{percent(decision.n_missing[1] / decision.n_queries)} % of {decision.name}"
        for decision in decisions
        if decision.n_missing[1]
    ]
    without = ""
    if missing:
        without = f"queries without results: {some(missing, 3)}; "
    yield f"{without}at most {percent(result.max_missing)} % of the queries may be without results"
    n_clusters = result.settings.n_clusters
    by_cluster = "" if n_clusters is None else f" by cluster ({n_clusters})"
    yield (
        f"{100 * result.settings.margin_level:.4g} % intervals{by_cluster},"
        f" {settings_words(result.settings)}"
    )


@view_of.register
def _check(result: CheckResult) -> View:
    grades = ", ".join(f"{number:,} of {grade}" for grade, number in result.grades.items())
    if all(int(grade) > 0 for grade in result.grades):
        grades += "; only what is relevant is listed, so shares judged say little"
    legend = (
        "known: queries that the qrels have; judged: of the first 10 documents of each list; ties:"
        " documents with the score of the one before"
    )
    return View(
        f"{plural('run', len(result.files) - 1)} and qrels read",
        plural("problem", len(result.problems)),
        tables=(Table.of(FILE_COLUMNS[:-1], result.files, legend, f"grades: {grades}"),),
        notes=tuple(problem.text for problem in result.problems),
        background=result.notes,
    )
