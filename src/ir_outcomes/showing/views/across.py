"""What is shown of comparisons under several conditions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ir_outcomes.across.audit import Audit
from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.across.conditions import Condition, Effect, Mean, NewCondition, Overall, bare
from ir_outcomes.across.same_queries import CutoffsComparison, Flip, JudgesComparison, Judgment
from ir_outcomes.across.slices import SliceDifferences, SlicesComparison
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.formatting import NOTHING, fixed, interval, percent, plural, pvalue
from ir_outcomes.showing.view import Column, Field, Layout, Statement, Table, View, of_part, tabulated, view_of
from ir_outcomes.showing.views.comparison import share_of
from ir_outcomes.showing.words import places_of, settings_words

__all__ = ["MOST_FLIPS"]

MOST_FLIPS = 10  # queries on which judges disagree that are listed
_MARK = "*"

_COVERAGE: list[Field[Comparison]] = [
    (Column("lost", "number"), lambda item: percent(share_of(item, "lost"))),
    (Column("won", "number"), lambda item: percent(share_of(item, "won"))),
    (Column("coverage", "number"), lambda item: fixed(item.coverage.difference, 2, signed=True)),
    (Column("interval", "interval"), lambda item: interval(item.coverage.interval, 2, signed=True)),
]
_RANKING: Field[Comparison] = (
    Column("ranking", "number"),
    lambda item: fixed(item.ranking.difference, 2, signed=True),
)
_COMPARISON: list[Field[Comparison]] = [
    *_COVERAGE,
    (Column("p", "pvalue"), lambda item: pvalue(item.coverage.pvalue_corrected)),
    _RANKING,
    (Column("interval", "interval"), lambda item: interval(item.ranking.interval, 2, signed=True)),
    (Column("p", "pvalue"), lambda item: pvalue(item.ranking.pvalue_corrected)),
    (Column("verdict", "label"), lambda item: item.verdict.label),
]
_COMPARISON_CAPTION = (
    "lost, won: in % of the items; coverage: percentage points, higher is better; ranking: ranks, lower is better; "
    "p: corrected over the contenders."
)


def _of_its_comparison(field: Field[Comparison]) -> Field[Condition | Judgment]:
    """Show a field of the comparison that was made under a condition or a judge."""
    return of_part(lambda row: row.comparison, field)


@view_of.register
def _collections(result: CollectionsComparison, layout: Layout) -> View:
    tables = []
    for overall in result.overall:
        rows = result.of(overall.contender)
        title = f"{overall.contender} (B) against {result.baseline} (A) on {plural('collection', len(rows))}"
        tables.append(_conditions_table(title, result, rows, result.over_collections, "collection", result.measures))
        tables.append(_means_table(overall))
    statements = tuple(
        Statement(overall.contender, overall.label or "no label", (overall.sentence,)) for overall in result.overall
    )
    return View(tuple(tables), statements, result.notes)


@view_of.register
def _slices(result: SlicesComparison, layout: Layout) -> View:
    tables = [_slice_differences_table(result)]
    for contender in dict.fromkeys(row.comparison.contender for row in result.conditions):
        rows = [row for row in result.conditions if row.comparison.contender == contender]
        title = f"{contender} (B) against {result.baseline} (A) on {plural('slice', len(rows))} by {result.by}"
        tables.append(_conditions_table(title, result, rows, result.over_slices, "slice"))
    return View(tuple(tables), notes=result.notes)


def _slice_differences_table(result: SlicesComparison) -> Table:
    def answer(found: SliceDifferences) -> str:
        if found.pvalue is None:
            return "nothing to compare"
        return "they differ" if found.pvalue <= result.settings.alpha else "no evidence"

    fields: list[Field[SliceDifferences]] = [
        (Column("run"), lambda found: found.contender),
        (Column("facet"), lambda found: found.facet),
        (Column("slices", "number"), lambda found: str(found.slices)),
        (Column("Q", "number"), lambda found: fixed(found.cochran_q, 2)),
        (Column("p", "pvalue"), lambda found: pvalue(found.pvalue)),
        (Column("answer"), answer),
    ]
    return Table(
        f"Do slices by {result.by} differ?",
        f"{plural('permutation', result.resamples)} of the labels, seed {result.seed}",
        *tabulated(fields, result.differ),
        "Q: Cochran's Q; p: of the permutation test.",
    )


@view_of.register
def _cutoffs(result: CutoffsComparison, layout: Layout) -> View:
    cutoff: Field[Comparison] = Column("cutoff", "number"), lambda item: str(item.cutoff)
    table = Table(
        f"{result.contender} (B) against {result.baseline} (A) at {plural('cutoff', len(result.comparisons))}",
        _head(result.comparisons[0].settings, "cutoff"),
        *tabulated([cutoff, *_COMPARISON], result.comparisons),
        f"{_COMPARISON_CAPTION} Labels are not corrected for the number of cutoffs.",
    )
    return View((table,), notes=result.notes)


@view_of.register
def _judges(result: JudgesComparison, layout: Layout) -> View:
    fields: list[Field[Judgment]] = [
        (Column("judge"), lambda judgment: judgment.judge),
        (Column("rel", "number"), lambda judgment: str(judgment.comparison.rel)),
        (Column("queries", "number"), lambda judgment: str(judgment.comparison.n_queries)),
        *map(_of_its_comparison, _COMPARISON),
    ]
    tables = []
    for contender in dict.fromkeys(judgment.comparison.contender for judgment in result.judgments):
        own = [judgment for judgment in result.judgments if judgment.comparison.contender == contender]
        tables.append(
            Table(
                f"{contender} (B) against {result.baseline} (A) under {plural('judge', len(own))}",
                _head(own[0].comparison.settings, "rel"),
                *tabulated(fields, own),
                f"{_COMPARISON_CAPTION} rel: smallest relevant grade.",
            )
        )
    tables[-1] = replace(tables[-1], sentences=result.sentences)
    if result.audits:
        tables.append(_audits_table(result))
    if result.flips:
        tables.append(_flips_table(result))
    return View(tuple(tables), notes=result.notes)


def _audits_table(result: JudgesComparison) -> Table:
    def change(audit: Audit, value: float) -> str:
        return fixed(value, places_of(audit.measured_in), signed=True)

    fields: list[Field[Audit]] = [
        (Column("run"), lambda audit: audit.contender),
        (Column("judge"), lambda audit: audit.judge),
        (Column("of"), lambda audit: audit.facet),
        (Column("judge's", "number"), lambda audit: change(audit, audit.judge_difference)),
        (Column("labels'", "number"), lambda audit: change(audit, audit.reference_difference)),
        (Column("bias p", "pvalue"), lambda audit: pvalue(audit.bias_p)),
        (Column("corrected", "number"), lambda audit: change(audit, audit.corrected)),
        (
            Column("interval", "interval"),
            lambda audit: interval(audit.corrected_interval, places_of(audit.measured_in), signed=True),
        ),
        (Column("worth", "number"), lambda audit: fixed(audit.worth, 2)),
        (Column("r", "number"), lambda audit: fixed(audit.correlation, 2)),
        (Column("levels", "number"), lambda audit: fixed(audit.correlation_of_levels, 2)),
        (Column("finding", "label"), lambda audit: audit.answer),
    ]
    return Table(
        f"Do the findings hold by {result.reference}?",
        "",
        *tabulated(fields, result.audits),
        "of: coverage, percentage points; all queries, ranks, lower is better; or a measure. judge's: difference by the judge "
        f"over all queries; labels': by {result.reference} over the queries that it labeled; corrected: over all queries, from "
        "both; worth: as good as so many times the labeled queries; r, levels: correlation of the differences, and of the "
        "values of both runs, between judge and labels.",
    )


def _flips_table(result: JudgesComparison) -> Table:
    fields: list[Field[Flip]] = [
        (Column("run"), lambda flip: flip.contender),
        (Column("query"), lambda flip: flip.query_id),
        (Column("better for"), lambda flip: ", ".join(flip.better)),
        (Column("worse for"), lambda flip: ", ".join(flip.worse)),
        (Column("text"), lambda flip: flip.text or ""),
    ]
    more = len(result.flips) > MOST_FLIPS
    return Table(
        f"Judges disagree about the direction on {plural('query', len(result.flips))}",
        f"the first {MOST_FLIPS}; all are in the JSON" if more else "",
        *tabulated(fields, result.flips[:MOST_FLIPS]),
    )


def _head(settings: Settings, *left_out: str) -> str:
    parts = settings_words(settings, *left_out, no_cutoff="of each")
    if settings.family > 1:
        parts.append(f"labels corrected by {settings.correction} over {plural('contender', settings.family)}")
    return ", ".join(parts)


def _conditions_table(
    title: str,
    result: CollectionsComparison | SlicesComparison,
    rows: Sequence[Condition],
    correction: str,
    kind: str,
    measures: Sequence[str] = (),
) -> Table:
    ratio: list[Field[Condition]] = [of_part(lambda row: row.ranking, field) for field in _RATIO]
    fields: list[Field[Condition]] = [
        (Column(kind), lambda row: row.condition if row.group is None else f"{row.condition} ({row.group})"),
        (Column("queries", "number"), lambda row: str(row.comparison.n_queries)),
        *map(_of_its_comparison, _COVERAGE),
        (Column("p", "pvalue"), lambda row: pvalue(row.coverage_p)),
        _of_its_comparison(_RANKING),
        *ratio,
        (Column("p", "pvalue"), lambda row: pvalue(row.ranking_p)),
        *(_measure_field(measure, place) for place, measure in enumerate(measures)),
    ]
    caption = (
        "lost, won: in % of the items; coverage: percentage points, higher is better; ranking: ranks, and B reads so many "
        "times as far as A on what both find, lower is better; "
        f"p: corrected by {correction} over all rows; {_MARK}: the label does not survive that correction."
    )
    if any(row.judged is not None for row in rows):
        fields += [
            (Column("judged A", "number"), lambda row: percent(row.judged and row.judged[0])),
            (Column("judged B", "number"), lambda row: percent(row.judged and row.judged[1])),
        ]
        caption += " judged: % of the documents within the cutoff."
    fields.append((Column("verdict", "label"), _label))
    return Table(title, _head(result.settings), *tabulated(fields, rows), caption)


def _measure_field(measure: str, place: int) -> Field[Condition]:
    difference: Field[Effect] = (Column(measure, "number"), lambda effect: fixed(effect.effect, 4, signed=True))
    return of_part(lambda row: row.measures[place], difference)


def _label(row: Condition) -> str:
    if row.label is None:
        return "too few queries"
    return row.label if row.survives else f"{row.label} {_MARK}"


_RATIO: list[Field[Effect]] = [
    (Column("times", "number"), lambda effect: NOTHING if effect.interval is None else bare("ranking", effect.effect)),
    (
        Column("interval", "interval"),
        lambda effect: NOTHING if effect.interval is None else _interval_of("ranking", effect.interval),
    ),
]


def _interval_of(name: str, bounds: tuple[float, float]) -> str:
    return f"[{bare(name, bounds[0])}, {bare(name, bounds[1])}]"


def _means_table(overall: Overall) -> Table:
    rows = []
    for effect in (*overall.pooled[:2], overall.all_queries, *overall.pooled[2:]):
        if (mean := effect.these) is not None:
            counts = str(effect.better), str(effect.worse)
            rows.append(("these", *_mean_cells(effect.name, mean), pvalue(mean.pvalue_corrected), "", "", *counts))
        if (new := effect.new) is not None:
            prediction = _interval_of(effect.name, (new.predicted_low, new.predicted_high))
            variation = fixed(100 * new.i_squared, 0)
            rows.append(("a new one", *_mean_cells(effect.name, new), pvalue(new.pvalue), prediction, variation, "", ""))
    return Table(
        "",
        "",
        (
            Column("over all"),
            Column("of"),
            Column("mean", "number"),
            Column("interval", "interval"),
            Column("p", "pvalue"),
            Column("prediction", "interval"),
            *(Column(name, "number") for name in ("I2", "better", "worse")),
        ),
        tuple(rows),
        "these: the mean of these collections, each with the same weight; a new one: the mean of all collections like these by "
        "random effects, where precise ones weigh more, with the interval in which the effect of a new one is expected; I2: % "
        "of the variance that is not due to sampling; ranking: times as far, lower is better; all queries: ranks, lower is "
        "better; it confirms the label.",
    )


def _mean_cells(name: str, mean: Mean | NewCondition) -> tuple[str, str, str]:
    return name, bare(name, mean.effect), _interval_of(name, (mean.low, mean.high))
