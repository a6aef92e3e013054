"""What is shown of comparisons under several conditions: the overview first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.across.conditions import Condition, Overall, PooledEffect, bare
from ir_outcomes.across.same_queries import CutoffsComparison, JudgesComparison
from ir_outcomes.across.slices import SlicesComparison
from ir_outcomes.columns import Column, attributes, chosen, of_part
from ir_outcomes.comparison.result import Comparison, columns_of
from ir_outcomes.comparison.verdict import direction_of
from ir_outcomes.formatting import NOTHING, fixed, interval, listed, plural, pvalue
from ir_outcomes.showing.view import Table, View, table_of, view_of
from ir_outcomes.showing.views.comparison import CORRECTIONS, MARK, corrected_words, short_columns
from ir_outcomes.showing.words import places_of, settings_words

MOST_FLIPS = 10  # queries on which judges disagree that are listed
SIGNS = {"better": "+", "worse": "-", "trade-off": "~", "unconfirmed": "?", "none": "."}
SIGNS_EXPLAINED = "+ better, - worse, ~ trade-off, ? unconfirmed, . no significant difference"


def sign_of(label: str | None) -> str:
    """Return the sign of a label in a matrix; blank where there is none."""
    if label is None:
        return ""
    kind = "trade-off" if label == "trade-off" else "unconfirmed" if "unconfirmed" in label else direction_of(label)
    return SIGNS[kind]


class Row(NamedTuple):
    """One line of a table of conditions: a condition, or what holds over all of them."""

    name: str
    coverage: str
    ranking: str
    label: str


@view_of.register
def _collections(result: CollectionsComparison) -> View:
    n = len(result.collections)
    details = [_conditions_table(result, overall) for overall in result.overall]
    details += [_means_table(overall) for overall in result.overall]
    if len(result.overall) > 1:
        return View(
            f"{plural('system', len(result.overall))} against {result.baseline} on {plural('collection', n)}",
            tables=(_matrix(result),),
            notes=result.notes,
            more="each collection, means, intervals, judged shares",
            details=tuple(details),
            background=tuple(overall.sentence for overall in result.overall),
        )
    (overall,) = result.overall
    label = f"{overall.label} on average" if overall.label else "no overall label"
    directions = Counter(direction_of(row.label) for row in result.of(overall.contender) if row.label is not None)
    counts = [f"{directions[side]} {side}" for side in ("better", "worse") if directions[side]]
    return View(
        f"{overall.contender} (B) against {result.baseline} (A)",
        f"{label}, {' and '.join(counts) or 'none decided'} of {plural('collection', n)}",
        tables=(_overview(result, overall),),
        notes=(*_hurt(overall), *result.notes),
        more="counts, p, heterogeneity, judged shares",
        details=tuple(details),
        background=(overall.sentence,),
    )


def _hurt(overall: Overall) -> tuple[str, ...]:
    """Name the conditions that a good average hides."""
    if not overall.hurt or direction_of(overall.label or "") == "worse":
        return ()
    return (f"Hurt or a trade-off: {listed(overall.hurt)}.",)


def _overview(result: CollectionsComparison, overall: Overall) -> Table:
    rows = [
        Row(
            row.condition if row.group is None else f"{row.condition} ({row.group})",
            _interval("coverage", row.coverage),
            _interval("ranking", row.ranking),
            _marked(row),
        )
        for row in result.of(overall.contender)
    ]
    coverage, ranking = overall.pooled[:2]
    rows.append(Row("these, mean", _these(coverage), _these(ranking), overall.label or "no overall label"))
    is_predicted = coverage.new is not None or ranking.new is not None
    if is_predicted:
        rows.append(Row("a new one", _predicted(coverage), _predicted(ranking), _outlook((coverage, ranking))))
    columns = (
        Column("name", heading="collection"),
        Column("coverage", heading="coverage, points", form="n"),
        Column("ranking", heading="ranking, B / A", form="n"),
        Column("label", heading="verdict", form="label"),
    )
    explained = ["ranking, B / A: mean search length on what both find, below 1 is better"]
    lost = [f"{MARK}: not after {CORRECTIONS.get(result.over_collections, '')} over the collections"]
    other = [
        *(["a new one: where its effect is expected"] if is_predicted else []),
        *(lost if any(row.label.endswith(MARK) for row in rows) else []),
    ]
    return table_of(columns, rows, *explained, "; ".join(other), _head(result.settings))


def _interval(name: str, effect: Any) -> str:
    if effect is None:
        return NOTHING
    if effect.interval is None:
        return bare(name, effect.effect)
    return f"{bare(name, effect.effect)} [{bare(name, effect.interval[0])}, {bare(name, effect.interval[1])}]"


def _these(effect: PooledEffect) -> str:
    mean, name = effect.these, effect.name
    return NOTHING if mean is None else f"{bare(name, mean.effect)} [{bare(name, mean.low)}, {bare(name, mean.high)}]"


def _predicted(effect: PooledEffect) -> str:
    new, name = effect.new, effect.name
    if new is None:
        return NOTHING
    return f"{bare(name, new.effect)} [{bare(name, new.predicted_low)}, {bare(name, new.predicted_high)}]"


def _outlook(effects: Sequence[PooledEffect]) -> str:
    known = [(effect.higher_is_better, effect.new) for effect in effects if effect.new is not None]
    sides = {
        0 if new.predicted_low < 0 < new.predicted_high else (1 if (new.predicted_low >= 0) == higher else -1)
        for higher, new in known
    }
    return (
        {1: "expected to be better", -1: "expected to be worse"}.get(next(iter(sides)), "could go either way")
        if len(sides) == 1
        else "could go either way"
    )


def _marked(row: Condition) -> str:
    if row.label is None:
        return "too few queries"
    return row.label if row.survives else f"{row.label} {MARK}"


def _matrix(result: CollectionsComparison) -> Table:
    """Show a sign for each system and collection, and what holds on average."""
    collections = result.collections

    def labels(overall: Overall) -> dict[str, str | None]:
        return {row.condition: row.label for row in result.of(overall.contender)}

    def sign_in(collection: str) -> Callable[[Overall], str]:
        return lambda overall: sign_of(labels(overall).get(collection))

    def count(side: str) -> Column:
        return Column(
            side, lambda overall: sum(direction_of(label or "") == side for label in labels(overall).values()), form="n"
        )

    columns = (
        Column("contender", heading="system"),
        *(Column(name, sign_in(name), short) for name, short in _short(collections)),
        count("better"),
        count("worse"),
        Column("label", lambda overall: overall.label or "no overall label", "on average", "label"),
    )
    order = {"better": 0, "none": 1, "worse": 2}
    ranked = sorted(result.overall, key=lambda overall: order[direction_of(overall.label or "")])
    return table_of(columns, ranked, SIGNS_EXPLAINED, _head(result.settings))


def _short(names: Sequence[str]) -> list[tuple[str, str]]:
    """Shorten names of columns, so that many fit; longer ones the fewer there are."""
    most = max(3, 40 // max(len(names), 1) - 1)
    return [(name, name if len(name) <= most else name[:most]) for name in names]


@view_of.register
def _slices(result: SlicesComparison) -> View:
    contenders = dict.fromkeys(row.comparison.contender for row in result.conditions)
    tables = []
    for contender in contenders:
        rows = [row for row in result.conditions if row.comparison.contender == contender]
        columns = (
            Column("condition", heading=result.by if len(result.by) < 12 else "slice"),
            Column("queries", "comparison.n_queries", form="n"),
            Column("coverage", lambda row: _interval("coverage", row.coverage), "coverage, points", "n"),
            Column("ranking", lambda row: _interval("ranking", row.ranking), "ranking, B / A", "n"),
            Column("label", _marked, "verdict", "label"),
        )
        captions = ["ranking, B / A: mean search length on what both find, below 1 is better"]
        if any(row.label is not None and not row.survives for row in rows):
            captions.append(f"{MARK}: not after {CORRECTIONS.get(result.over_slices, '')} over the slices")
        title = f"{contender} (B)" if len(contenders) > 1 else ""
        tables.append(table_of(columns, rows, *captions, _head(result.settings), title=title))
    differences = (
        *attributes("run=contender", "facet"),
        Column("slices", form="n"),
        Column("Q", "cochran_q", form=".2f"),
        Column("pvalue", heading="p", form="p"),
    )
    tested = table_of(
        differences,
        result.differ,
        f"Q: Cochran's Q; p: {plural('permutation', result.resamples)} of the labels, seed {result.seed}",
        title=f"Do slices by {result.by} differ?",
    )
    found = [
        f"{row.contender} on {row.facet}"
        for row in result.differ
        if row.pvalue is not None and row.pvalue <= result.settings.alpha
    ]
    nothing = "no evidence that they differ" if result.differ else "whether they differ is not tested: queries come in clusters"
    answer = f"they differ for {listed(found)}" if found else nothing
    named = f"{next(iter(contenders))} (B)" if len(contenders) == 1 else plural("run", len(contenders))
    return View(
        f"{named} against {result.baseline} (A), {plural('slice', len(result.slices))} by {result.by}",
        answer,
        tables=tuple(tables),
        more="the test whether slices differ, counts, p",
        details=(*([tested] if result.differ else []), _conditions_details(result.conditions, "slice")),
        background=result.notes,
    )


@view_of.register
def _cutoffs(result: CutoffsComparison) -> View:
    comparisons = result.comparisons
    columns = (Column("cutoff", form="n"), *short_columns(comparisons), *chosen(columns_of(comparisons), "verdict"))
    directions = {comparison.verdict.direction for comparison in comparisons}
    (label, most), *_ = Counter(comparison.verdict.label for comparison in comparisons).most_common()
    opposite = ", never opposite" if not {"better", "worse"} <= directions else ", better at some and worse at others"
    return View(
        f"{result.contender} (B) against {result.baseline} (A)",
        f"{label} at {most} of {plural('cutoff', len(comparisons))}{opposite}",
        tables=(
            table_of(columns, comparisons, _head(comparisons[0].settings, "cutoff"), "not corrected for the number of cutoffs"),
        ),
        more="intervals, outcomes",
        details=(_comparisons_details(comparisons, Column("cutoff", form="n")),),
        background=result.notes,
    )


def _comparisons_details(comparisons: Sequence[Comparison], first: Column) -> Table:
    declared = columns_of(comparisons)
    columns = (
        first,
        *chosen(declared, "n_queries", "lost", "won", "both", "neither", "coverage=coverage, interval", "coverage_p=raw p"),
        *chosen(declared, "ranking=ranking, interval", "ranking_p=raw p"),
    )
    return table_of(columns, comparisons)


@view_of.register
def _judges(result: JudgesComparison) -> View:
    contenders = list(dict.fromkeys(judgment.comparison.contender for judgment in result.judgments))
    comparisons = [judgment.comparison for judgment in result.judgments]
    columns = (
        *(attributes("run=comparison.contender") if len(contenders) > 1 else ()),
        Column("judge"),
        Column("rel", "comparison.rel", form="n"),
        *of_part("comparison", (*short_columns(comparisons), *chosen(columns_of(comparisons), "verdict"))),
    )
    audits = (_audits_table(result),) if result.audits else ()
    named = f"{contenders[0]} (B)" if len(contenders) == 1 else plural("run", len(contenders))
    captions = [_head(comparisons[0].settings, "rel"), "; ".join(corrected_words(comparisons))]
    details = [_conditions_details(result.judgments, "judge")]
    # The sentences about audits say what their table says: they stand on the first screen where they are few.
    few = len(result.audits) <= 3
    answers, in_words = (
        (result.sentences, ()) if few else (result.sentences[: len(contenders)], result.sentences[len(contenders) :])
    )
    if result.flips:
        details.append(_flips_table(result))
    return View(
        f"{named} against {result.baseline} (A) under {plural('judge', len(result.judges))}",
        sentences=answers,
        tables=(table_of(columns, result.judgments, "rel: smallest relevant grade", *captions), *audits),
        notes=result.notes,
        more="intervals, outcomes, queries on which judges disagree" if result.flips else "intervals, outcomes",
        details=tuple(details),
        background=in_words,
    )


def _audits_table(result: JudgesComparison) -> Table:
    def change(name: str) -> Column:
        return Column(name, lambda audit: fixed(getattr(audit, name), places_of(audit.measured_in), signed=True), form="n")

    columns = (
        *(attributes("run=contender") if len({audit.contender for audit in result.audits}) > 1 else ()),
        *attributes("judge", "of=facet"),
        replace(change("judge_difference"), heading="judge's"),
        replace(change("reference_difference"), heading="labels'"),
        Column("bias_p", heading="bias p", form="p"),
        change("corrected"),
        Column(
            "interval", lambda audit: interval(audit.corrected_interval, places_of(audit.measured_in), signed=True), form="n"
        ),
        Column("answer", heading="finding", form="label"),
    )
    sampled = [audit for audit in result.audits if audit.n_labeled < audit.n_queries]
    worth = [f"{fixed(audit.worth, 2)} ({audit.judge}, {audit.facet})" for audit in sampled]
    return table_of(
        columns,
        result.audits,
        "of: coverage, percentage points; all queries, ranks, lower is better; or a measure. judge's: difference by the judge "
        f"over all queries; labels': by {result.reference} over the queries that it labeled; corrected: over all queries, from "
        "both, where a query without a relevant document counts as no difference; not corrected for the number of findings",
        f"as good as so many times the labeled queries: {', '.join(worth[:3])}{' and more in the JSON' if worth[3:] else ''}"
        if worth
        else "",
        title=f"Do the findings hold by {result.reference}?",
    )


def _flips_table(result: JudgesComparison) -> Table:
    columns = (
        *attributes("run=contender", "query=query_id"),
        Column("better for", lambda flip: ", ".join(flip.better)),
        Column("worse for", lambda flip: ", ".join(flip.worse)),
        Column("text"),
    )
    more = len(result.flips) > MOST_FLIPS
    return table_of(
        columns,
        result.flips[:MOST_FLIPS],
        f"the first {MOST_FLIPS}; all are in the JSON" if more else "",
        title=f"Judges disagree about the direction on {plural('query', len(result.flips))}",
    )


def _head(settings: Any, *left_out: str) -> str:
    return ", ".join(settings_words(settings, *left_out, no_cutoff="of each"))


def _conditions_table(result: CollectionsComparison, overall: Overall) -> Table:
    title = f"{overall.contender} (B) against {result.baseline} (A)"
    return _conditions_details(result.of(overall.contender), "collection", title, result.measures)


def _conditions_details(rows: Sequence[Any], kind: str, title: str = "", measures: Sequence[str] = ()) -> Table:
    """Show counts, judged shares and p-values of conditions or judgments."""
    declared = columns_of([row.comparison for row in rows])
    numbers = chosen(declared, "n_queries=queries", "lost", "won", "coverage_p=coverage raw p")
    ranking = chosen(declared, "ranking_difference=ranking", "ranking_p=raw p")
    is_condition = kind != "judge"

    def effect_of(place: int) -> Callable[[Condition], float | None]:
        return lambda row: None if (effect := row.measures[place]) is None else effect.effect

    columns = (
        Column("condition" if is_condition else "judge", heading=kind),
        *(() if len({row.comparison.contender for row in rows}) == 1 else attributes("run=comparison.contender")),
        *of_part("comparison", numbers),
        *((Column("coverage_p", heading="corrected p", form="p"),) if is_condition else ()),
        *of_part("comparison", ranking),
        *((Column("ranking_p", heading="corrected p", form="p"),) if is_condition else ()),
        *(
            Column(name, effect_of(place), form="+.4f") for place, name in enumerate(measures)
        ),
        *((
            Column("judged_a", lambda row: row.judged and row.judged[0], "judged A", "%"),
            Column("judged_b", lambda row: row.judged and row.judged[1], "judged B", "%"),
        ) if is_condition else ()),
    )  # fmt: skip
    corrected = "corrected p: over all rows; " if is_condition else ""
    caption = f"{corrected}judged: % of the documents within the cutoff" if is_condition else ""
    return table_of(columns, rows, caption, title=title)


def _means_table(overall: Overall) -> Table:
    columns = (
        Column("over all", lambda row: row[0]),
        Column("of", lambda row: row[1].name),
        Column("mean", lambda row: bare(row[1].name, row[2].effect), form="n"),
        Column("interval", lambda row: f"[{bare(row[1].name, row[2].low)}, {bare(row[1].name, row[2].high)}]", form="n"),
        Column("p", lambda row: pvalue(row[2].pvalue), form="n"),
        Column("prediction", lambda row: _predicted(row[1]).partition(" ")[2] if row[2] is row[1].new else None, form="n"),
        Column("I2", lambda row: fixed(100 * row[2].i_squared, 0) if row[2] is row[1].new else None, form="n"),
        Column("better", lambda row: row[1].better, form="n"),
        Column("worse", lambda row: row[1].worse, form="n"),
    )
    rows = [
        (name, effect, mean)
        for effect in (*overall.pooled[:2], overall.all_queries, *overall.pooled[2:])
        for name, mean in (("these", effect.these), ("a new one", effect.new))
        if mean is not None
    ]
    return table_of(
        columns,
        rows,
        "these: the mean of these collections, each with the same weight; a new one: the mean of all collections like these by "
        "random effects, where precise ones weigh more; prediction: where the effect of a new one is expected; I2: % of the "
        "variance that is not due to sampling; ranking: mean search length, B / A, below 1 is better; all queries: ranks, "
        "lower is better, it confirms the label",
        title=f"{overall.contender}: means",
    )
