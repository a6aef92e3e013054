"""What is shown of comparisons under several conditions, where several runs have a matrix of signs first; and of a gate."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Any

from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.across.conditions import Condition, Effect, Overall, by_contender, condition_columns, prevailing, written
from ir_outcomes.across.gate import EXIT_STATUS, GateDecision, GateFacet, GateResult
from ir_outcomes.across.judges import JudgesComparison, Judgment
from ir_outcomes.across.slices import CutoffsComparison, SlicesComparison
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.result import columns_of
from ir_outcomes.comparison.verdict import direction_of
from ir_outcomes.errors import some
from ir_outcomes.formatting import NOTHING, fixed, listed, percent, places_of, plural, pvalue
from ir_outcomes.results import Column, attributes, chosen, of_part
from ir_outcomes.showing import Table, View, settings_words, view_of
from ir_outcomes.showing.views.comparison import CORRECTIONS, MARK, corrected_words, queries_table, short_columns, unit_of

MOST_FLIPS = 10  # queries on which judges disagree that are listed
MOST_NAMED = 8  # conditions whose names are headings of a matrix; more, or longer names, have numbers
ALL_NAMES = 44  # characters of their names that fit beside each other
SIGNS = {"better": "+", "worse": "-", "trade-off": "~", "unconfirmed": "?", "none": "."}
SIGNS_EXPLAINED = "+ better, - worse, ~ trade-off, ? unconfirmed, . no significant difference"
RATIO_EXPLAINED = "ranking, B / A: mean search length on what both find, below 1 is better"
MEANS_EXPLAINED = (
    "these: the mean of these collections, each with the same weight; new: the mean of all collections like these by random "
    "effects, where precise ones weigh more; prediction: where the effect of a new one is expected; I2: % of the "
    "variance that is not due to sampling; ranking: mean search length, B / A, below 1 is better; all queries: ranks, lower is "
    "better, it confirms the label",
)


def sign_of(label: str | None) -> str:
    """Return the sign of a label in a matrix; blank where there is none."""
    if label is None:
        return ""
    return SIGNS.get(label) or SIGNS["unconfirmed" if "unconfirmed" in label else direction_of(label)]


def _matrix(kind: str, labels: Mapping[str, Mapping[str, str | None]], last: Mapping[str, str], settings: str) -> Table:
    """Show a sign for each run and condition, how often it is better and worse, and a last column for each run."""
    names = list(dict.fromkeys(name for own in labels.values() for name in own))
    few = len(names) <= MOST_NAMED and sum(map(len, names)) <= ALL_NAMES
    shown = names if few else [str(number) for number in range(1, 1 + len(names))]
    counts = [(side if few else SIGNS[side], "n") for side in ("better", "worse")]
    lines = []
    for run, own in labels.items():
        found = Counter(map(_direction, own.values()))
        lines.append((run, *(sign_of(own.get(name)) for name in names), found["better"], found["worse"], last.get(run)))
    numbered = "" if few else "; ".join(f"{number} {name}" for number, name in zip(shown, names, strict=True))
    headings = [(kind, ""), *((name, "") for name in shown), *counts, ("on average", "label")]
    return Table.of_texts(headings, lines, SIGNS_EXPLAINED, numbered, settings)


def _arranged(overviews: Sequence[Table], details: Sequence[Table], matrix: Table) -> tuple[list[Table], list[Table]]:
    """Return the tables of a view and of its details: several runs are shown by a matrix first, one by its overview."""
    return ([matrix], [*overviews, *details]) if len(overviews) > 1 else ([replace(overviews[0], title="")], list(details))


def _direction(label: str | None) -> str:
    return "none" if label is None else direction_of(label)


def _head(settings: Settings, rows: Iterable[Condition | Judgment], *left_out: str) -> str:
    return settings_words(settings, *left_out, of=[row.comparison for row in rows], no_cutoff="of each")


def _named(runs: Sequence[str]) -> str:
    return f"{runs[0]} (B)" if len(runs) == 1 else plural("run", len(runs))


_OVERVIEW = (("queries", "n"), ("coverage, points", "n"), ("ranking, B / A", "n"), ("verdict", "label"))


def _overview_line(row: Condition, queries: int | None = None) -> tuple[Any, ...]:
    name = row.condition if row.group is None else f"{row.condition} ({row.group})"
    label = row.label if row.survives else f"{row.label} {MARK}"
    return name, queries, _effect(row.coverage), _effect(row.ranking), "too few queries" if row.label is None else label


def _effect(effect: Effect | None) -> str:
    return NOTHING if effect is None else written(effect.name, effect.effect, effect.interval)


def _not_after(rows: Iterable[Condition], correction: str, what: str) -> list[str]:
    marked = any(row.label is not None and not row.survives for row in rows)
    return [f"{MARK}: not after {CORRECTIONS.get(correction, '')} over the {what}"] if marked else []


def _numbers(rows: Sequence[Condition], kind: str, title: str, measures: Sequence[str] = ()) -> Table:
    """Show counts, p-values and judged shares of the conditions of one contender."""
    declared = condition_columns(rows, measures)
    columns = (
        *chosen(declared, f"condition={kind}", "n_queries", "won", "lost"),
        *chosen(declared, "coverage_p", "coverage_p_corrected", group="coverage"),
        *chosen(declared, "ranking_difference=ranks", "ranking_p", "ranking_p_corrected", group="ranking"),
        *chosen(declared, *(f"{measure}_effect={measure}" for measure in measures)),
        *chosen(declared, "judged_baseline", "judged_contender"),
    )
    return Table.of(columns, rows, "p: corrected over all rows; judged: % of the documents within the cutoff", title=title)


@view_of.register
def _collections(result: CollectionsComparison) -> View:
    n = plural("collection", len(result.collections))
    ranked = sorted(result.overall, key=lambda overall: ("better", "none", "worse").index(_direction(overall.label)))
    overviews, details = [], []
    for overall in ranked:
        title = f"{overall.contender} (B) against {result.baseline} (A)"
        overviews.append(_collections_overview(result, overall, title))
        details += [_numbers(result.of(overall.contender), "collection", title, result.measures), _means(overall)]
    details[-1] = replace(details[-1], captions=MEANS_EXPLAINED)
    average = {overall.contender: overall.label or "no overall label" for overall in ranked}
    labels = {run: {row.condition: row.label for row in result.of(run)} for run in average}
    title, label, notes = f"{plural('system', len(ranked))} against {result.baseline} on {n}", "", result.notes
    if len(ranked) == 1:
        (overall,) = ranked
        directions = Counter(_direction(row.label) for row in result.conditions)
        decided = " and ".join(f"{directions[side]} {side}" for side in ("better", "worse") if directions[side])
        title, label = overviews[0].title, f"{overall.label} on average" if overall.label else "no overall label"
        label = f"{label}, {decided or 'none decided'} of {n}"
        if overall.hurt and _direction(overall.label) != "worse":  # what a good average hides
            notes = (f"Hurt or a trade-off: {listed(overall.hurt)}.", *notes)
    tables, details = _arranged(
        overviews, details, _matrix("system", labels, average, _head(result.settings, result.conditions))
    )
    return View(
        title,
        label,
        tables=tuple(tables),
        notes=notes,
        more=f"{'each collection, ' if len(ranked) > 1 else ''}counts, p, means, judged shares",
        details=tuple(details),
        background=tuple(overall.sentence for overall in result.overall),
    )


def _collections_overview(result: CollectionsComparison, overall: Overall, title: str) -> Table:
    rows = result.of(overall.contender)
    lines, pooled = [_overview_line(row) for row in rows], overall.pooled[:2]
    means = [_mean(effect.name, effect.these) for effect in pooled]
    lines.append(("these, mean", None, *means, overall.label or "no overall label"))
    explained = _not_after(rows, result.over_collections, "collections")
    if any(effect.new is not None for effect in pooled):
        lines.append(("a new one", None, *(_predicted(effect.name, effect.new) for effect in pooled), _outlook(overall)))
        explained.insert(0, "a new one: where its effect is expected")
    captions = (RATIO_EXPLAINED, "; ".join(explained), _head(result.settings, rows))
    return Table.of_texts((("collection", ""), *_OVERVIEW), lines, *captions, title=title)


def _mean(name: str, mean: Any, low: str = "low", high: str = "high") -> str:
    """Write a mean of effects with its interval, or another one."""
    return NOTHING if mean is None else written(name, mean.effect, (getattr(mean, low), getattr(mean, high)))


def _predicted(name: str, new: Any) -> str:
    return _mean(name, new, "predicted_low", "predicted_high")


def _outlook(overall: Overall) -> str:
    """Say which way a new collection is expected to go by coverage and ranking."""
    known = [(effect.new, effect.higher_is_better) for effect in overall.pooled[:2] if effect.new is not None]
    for side, wanted in (("better", True), ("worse", False)):
        if all((new.predicted_low >= 0) if higher is wanted else (new.predicted_high <= 0) for new, higher in known):
            return f"expected to be {side}"
    return "could go either way"


def _means(overall: Overall) -> Table:
    lines = []
    for effect in (*overall.pooled[:2], overall.all_queries, *overall.pooled[2:]):
        own, counts = effect.name, (effect.better, effect.worse)
        if (these := effect.these) is not None:
            lines.append(("these", own, *_mean(own, these).split(" ", 1), pvalue(these.pvalue), None, None, *counts))
        if (new := effect.new) is not None:
            prediction, share = _predicted(own, new).split(" ", 1)[1], fixed(100 * new.i_squared, 0)
            lines.append(("new", own, *_mean(own, new).split(" ", 1), pvalue(new.pvalue), prediction, share, *counts))
    numbers = ("mean", "interval", "p", "prediction", "I2", "better", "worse")
    headings = [("over all", ""), ("of", ""), *((heading, "n") for heading in numbers)]
    return Table.of_texts(headings, lines, title=f"{overall.contender}: means")


@view_of.register
def _slices(result: SlicesComparison) -> View:
    of_run, settings = by_contender(result.conditions), _head(result.settings, result.conditions)
    runs, name = list(of_run), result.by if len(result.by) < 12 else "slice"
    overviews, details = [], [_differences(result)] if result.differ else []
    for run, rows in of_run.items():
        captions = (RATIO_EXPLAINED, *_not_after(rows, result.over_slices, "slices"), settings)
        lines = [_overview_line(row, row.comparison.n_queries) for row in rows]
        overviews.append(Table.of_texts(((name, ""), *_OVERVIEW), lines, *captions, title=f"{run} (B)"))
        details.append(_numbers(rows, "slice", f"{run} (B)"))
    alpha = result.settings.alpha
    decided = [row for row in result.differ if row.pvalue_corrected is not None and row.pvalue_corrected <= alpha]
    found = [f"{row.contender} on {row.facet}" for row in decided]
    nothing = "no evidence that they differ" if result.differ else "whether they differ is not tested: queries come in clusters"
    labels = {run: {row.condition: row.label for row in rows} for run, rows in of_run.items()}
    tables, details = _arranged(overviews, details, _matrix("run", labels, {}, settings))
    return View(
        f"{_named(runs)} against {result.baseline} (A), {plural('slice', len(result.slices))} by {result.by}",
        f"they differ for {listed(found)}" if found else nothing,
        tables=tuple(tables),
        more=f"{'each slice, ' if len(runs) > 1 else ''}the test whether slices differ, counts, p",
        details=tuple(details),
        background=result.notes,
    )


def _differences(result: SlicesComparison) -> Table:
    columns = (
        *attributes("run=contender", "facet"),
        Column("slices", form="n"),
        Column("Q", "cochran_q", form=".2f"),
        Column("pvalue", heading="p", form="p"),
    )
    explained = f"Q: Cochran's Q; p: {plural('permutation', result.resamples)} of the labels, seed {result.seed}"
    if len({row.contender for row in result.differ}) > 1:
        columns = (*columns, Column("pvalue_corrected", heading="corrected", form="p"))
        explained += f"; corrected: {CORRECTIONS.get(result.settings.correction, 'not')} over the runs, for each facet"
    return Table.of(columns, result.differ, explained, title=f"Do slices by {result.by} differ?")


def _side_by_side(first: Column, rows: Sequence[Judgment], *captions: str, title: str = "") -> tuple[Table, Table]:
    """Show the comparisons of one contender under several cutoffs or judges: differences and labels; then the numbers."""
    comparisons = [row.comparison for row in rows]
    declared = columns_of(comparisons)
    rel = [Column("rel", form="n")] if first.name == "judge" else []
    short = (*rel, *short_columns(comparisons), *chosen(declared, "verdict"))
    numbers = [*chosen(declared, "n_queries=n", "won", "both", "neither", "lost")]
    for facet in ("coverage", "ranking"):
        numbers += chosen(declared, f"{facet}=interval", f"{facet}_p", group=facet)
    return (
        Table.of((first, *of_part("comparison", short)), rows, *captions, title=title),
        Table.of((first, *of_part("comparison", numbers)), rows, title=title),
    )


@view_of.register
def _cutoffs(result: CutoffsComparison) -> View:
    rows = [Judgment(str(comparison.cutoff), comparison) for comparison in result.comparisons]
    label, times, opposite = prevailing([row.comparison.verdict.label for row in rows])
    captions = (_head(rows[0].comparison.settings, rows, "cutoff"), "not corrected for the number of cutoffs")
    shown, details = _side_by_side(Column("cutoff", "judge", form="n"), rows, *captions)
    directions = "better at some and worse at others" if opposite else "never opposite"
    return View(
        f"{result.contender} (B) against {result.baseline} (A)",
        f"{label} at {times} of {plural('cutoff', len(rows))}, {directions}",
        tables=(shown,),
        more="intervals, outcomes",
        details=(details,),
        background=result.notes,
    )


@view_of.register
def _judges(result: JudgesComparison) -> View:
    comparisons = [judgment.comparison for judgment in result.judgments]
    of_run, settings = by_contender(result.judgments), _head(comparisons[0].settings, result.judgments, "rel")
    captions = ("rel: smallest relevant grade", settings, corrected_words(comparisons))
    runs = list(of_run)
    shown = [_side_by_side(Column("judge"), rows, *captions, title=f"{run} (B)") for run, rows in of_run.items()]
    labels = {run: {row.judge: row.comparison.verdict.label for row in rows} for run, rows in of_run.items()}
    overviews, numbers = zip(*shown, strict=True)
    tables, details = _arranged(overviews, numbers, _matrix("run", labels, {}, settings))
    audited = [_audits(result, run) for run in runs if result.audits]
    if audited and len(runs) > 1:
        tables.append(_answers(result))
    (details if len(runs) > 1 else tables).extend(audited)
    if result.flips:
        details.append(_flips(result))
    # What a table says as well is said in sentences on the first screen only where they are few.
    n_sentences = 0 if len(runs) > 1 else 1 if len(result.audits) > 3 else len(result.sentences)
    return View(
        f"{_named(runs)} against {result.baseline} (A) under {plural('judge', len(result.judges))}",
        sentences=result.sentences[:n_sentences],
        tables=tuple(tables),
        notes=result.notes,
        more="intervals, outcomes, queries on which judges disagree" if result.flips else "intervals, outcomes",
        details=tuple(details),
        background=result.sentences[n_sentences:],
    )


def _answers(result: JudgesComparison) -> Table:
    """Show for each run and judge whether its findings hold."""
    answers: dict[tuple[str, str], dict[str, str]] = {}
    for audit in result.audits:
        answers.setdefault((audit.contender, audit.judge), {})[audit.facet] = audit.answer
    facets = list(dict.fromkeys(audit.facet for audit in result.audits))
    lines = [(*of, *(own.get(facet) for facet in facets)) for of, own in answers.items()]
    headings = [("run", ""), ("judge", ""), *((facet, "label") for facet in facets)]
    explained = (
        f"finding: the judge's difference, significant or not; wrong: by {result.reference} it is significantly another on "
        f"the same queries; holds: corrected by {result.reference} it is significant with the same sign; not corrected for "
        "the number of findings"
    )
    return Table.of_texts(headings, lines, explained, title=f"Do the findings hold by {result.reference}?")


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


def _audits(result: JudgesComparison, run: str) -> Table:
    audits = [audit for audit in result.audits if audit.contender == run]
    worth = [f"{fixed(audit.worth, 2)} ({audit.judge}, {audit.facet})" for audit in audits if audit.n_labeled < audit.n_queries]
    more = " and more in the JSON" if worth[3:] else ""
    return Table.of(
        _AUDIT,
        audits,
        "of: coverage, percentage points; all queries, ranks, lower is better; or a measure. judge's: difference by the judge "
        f"over all queries; labels': by {result.reference} over the queries that it labeled; corrected: over all queries, from "
        "both, where a query without a relevant document counts as no difference; not corrected for the number of findings",
        f"as good as so many times the labeled queries: {', '.join(worth[:3])}{more}" if worth else "",
        title=f"Do the findings{f' on {run}' if len(audits) < len(result.audits) else ''} hold by {result.reference}?",
    )


def _flips(result: JudgesComparison) -> Table:
    columns = (
        *attributes("run=contender", "query=query_id"),
        Column("better for", lambda flip: ", ".join(flip.better)),
        Column("worse for", lambda flip: ", ".join(flip.worse)),
        Column("text"),
    )
    more = f"the first {MOST_FLIPS}; all are in the JSON" if len(result.flips) > MOST_FLIPS else ""
    title = f"Judges disagree about the direction on {plural('query', len(result.flips))}"
    return Table.of(columns, result.flips[:MOST_FLIPS], more, title=title)


MOST_WORST = 3  # queries that are named on the first screen


@view_of.register
def _gate(result: GateResult) -> View:
    ordered = sorted(result.decisions, key=lambda decision: -list(EXIT_STATUS).index(decision.status))
    worst, several = ordered[0], len(ordered) > 1
    against = f"against {result.baseline}{'' if result.reference is None else f' and {result.reference}'}"
    counts, what = Counter(decision.status for decision in ordered), f"{worst.name} {against}"
    if several:
        counted = "".join(f", {number} {status}" for status, number in counts.items())
        decisions = f"{plural('decision', len(ordered))} {against}"
        what = f"{decisions}{counted}" if len(counts) > 1 else f"all {decisions}"
    facets = _facets(result, ordered)
    reasons = [f"{decision.name}: {decision.reasons[0]}" for decision in ordered if decision.status != "pass"]
    if len(reasons) > MOST_WORST:
        reasons[MOST_WORST:] = [f"And {len(reasons) - MOST_WORST} more that do not pass."]
    queries = [decision for decision in ordered if decision.queries]
    return View(
        f"{result.status}: {what}",
        sentences=tuple(reasons if several else worst.reasons[:1]),
        tables=(facets,) if worst.facets and not several else (_decisions(result, ordered),),
        notes=tuple(_most_harm(worst)),
        more="queries, texts, how many would settle it",
        details=(
            *([facets] if several else []),
            *(queries_table(decision.queries, f"The queries with the largest harm: {decision.name}") for decision in queries),
        ),
        background=(*(f"{decision.name}: {' '.join(decision.reasons)}" for decision in ordered), *result.notes),
    )


def _most_harm(worst: GateDecision) -> Iterator[str]:
    named = [f"{query.query_id} ({_rank(query.baseline)} to {_rank(query.contender)})" for query in worst.queries[:MOST_WORST]]
    if named:
        yield f"{worst.name}, most harm: {', '.join(named)}."


def _rank(value: float | None) -> str:
    return "not found" if value is None else f"{round(value, 1):g}"


def _margin(facet: GateFacet) -> str:
    return f"{'-' if facet.higher_is_better else '+'}{facet.margin:.{places_of(facet.measured_in)}f}"


_FACET = (
    Column("facet", lambda facet: f"{facet.name}, {unit_of(facet)}"),
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
            margins.append(f"{name} {' to '.join(dict.fromkeys(map(_margin, (facets[0], facets[-1]))))} {unit_of(facets[0])}")
        columns += of_part(_facet(name), chosen(_FACET, f"interval={name}"))
    return Table.of(columns, decisions, f"margins: {', '.join(margins)}" if margins else "", *_captions(result, decisions))


def _facets(result: GateResult, decisions: Sequence[GateDecision]) -> Table:
    """Show each facet of each decision against its margin, and how many queries would settle it."""
    rows = [(decision, facet) for decision in decisions for facet in decision.facets]
    columns, several = of_part(itemgetter(1), _FACET), len(decisions) > 1
    if several:  # their intervals are in the table of decisions
        own = (column for column in columns if column.name != "interval")
        columns = (*of_part(itemgetter(0), attributes("run=name")), *own)
    units = "queries" if result.settings.n_clusters is None else "clusters of queries"
    explained = f"settled by: {units} like these that would exclude harm if the runs were equally good"
    settled = any(facet.needed is not None and facet.needed.queries is not None for _, facet in rows)
    captions = (explained if settled else "", *_captions(result, decisions))
    return Table.of(columns, rows, *captions, title="Margins" if several else "")


def _captions(result: GateResult, decisions: Sequence[GateDecision]) -> Iterator[str]:
    """Say which queries have no results, and the settings."""
    missing = [
        f"{percent(decision.n_missing[1] / decision.n_queries)} % of {decision.name}"
        for decision in decisions
        if decision.n_missing[1]
    ]
    without = f"queries without results: {some(missing, 3)}; " if missing else ""
    yield f"{without}at most {percent(result.max_missing)} % of the queries may be without results"
    yield f"{100 * result.settings.margin_level:.4g} % intervals, {settings_words(result.settings)}"
