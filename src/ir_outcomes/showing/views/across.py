"""What is shown of comparisons under several conditions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from ir_outcomes._formatting import NOTHING, fixed, interval, percent, plural, pvalue
from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.across.conditions import Condition
from ir_outcomes.across.cutoffs import CutoffsComparison
from ir_outcomes.across.effects import Effect, bare
from ir_outcomes.across.judges import JudgesComparison
from ir_outcomes.across.pooled import Overall, PooledEffect
from ir_outcomes.across.slices import SlicesComparison
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.comparison.settings import Settings
from ir_outcomes.showing.view import Column, Layout, Statement, Table, View, view_of

__all__ = ["MOST_FLIPS"]

MOST_FLIPS = 10  # queries on which judges disagree that are listed
_MARK = "*"


@view_of.register
def _collections(result: CollectionsComparison, layout: Layout) -> View:
    tables = []
    for overall in result.overall:
        rows = result.of(overall.contender)
        title = f"{overall.contender} (B) against {result.baseline} (A) on {plural('collection', len(rows))}"
        tables += [
            _conditions_table(title, _head(result.settings), rows, result.over_collections, "collection", result.measures),
            _means_table(overall),
        ]
    statements = tuple(
        Statement(overall.contender, overall.label or "no label", (overall.sentence,)) for overall in result.overall
    )
    return View(tuple(tables), statements, result.notes)


@view_of.register
def _slices(result: SlicesComparison, layout: Layout) -> View:
    tables = [
        Table(
            f"Do slices by {result.by} differ?",
            f"{plural('permutation', result.resamples)} of the labels, seed {result.seed}",
            (
                Column("run"),
                Column("facet"),
                Column("slices", "number"),
                Column("Q", "number"),
                Column("p", "pvalue"),
                Column("answer"),
            ),
            tuple(
                (
                    found.contender,
                    found.facet,
                    str(found.slices),
                    fixed(found.cochran_q, 2),
                    pvalue(found.pvalue),
                    "nothing to compare"
                    if found.pvalue is None
                    else "they differ"
                    if found.pvalue <= result.settings.alpha
                    else "no evidence",
                )
                for found in result.differ
            ),
            "Q: Cochran's Q; p: of the permutation test.",
        )
    ]
    for contender in dict.fromkeys(row.comparison.contender for row in result.conditions):
        rows = [row for row in result.conditions if row.comparison.contender == contender]
        title = f"{contender} (B) against {result.baseline} (A) on {plural('slice', len(rows))} by {result.by}"
        tables.append(_conditions_table(title, _head(result.settings), rows, result.over_slices, "slice", ()))
    return View(tuple(tables), notes=result.notes)


@view_of.register
def _cutoffs(result: CutoffsComparison, layout: Layout) -> View:
    first = result.comparisons[0]
    table = Table(
        f"{result.contender} (B) against {result.baseline} (A) at {plural('cutoff', len(result.comparisons))}",
        _head(first.settings, cutoff=False),
        (Column("cutoff", "number"), *_COMPARISON_COLUMNS),
        tuple((str(item.cutoff), *_comparison_cells(item)) for item in result.comparisons),
        f"{_COMPARISON_CAPTION} Labels are not corrected for the number of cutoffs.",
    )
    return View((table,), notes=result.notes)


@view_of.register
def _judges(result: JudgesComparison, layout: Layout) -> View:
    tables = []
    for contender in dict.fromkeys(judgment.comparison.contender for judgment in result.judgments):
        own = [judgment for judgment in result.judgments if judgment.comparison.contender == contender]
        tables.append(
            Table(
                f"{contender} (B) against {result.baseline} (A) under {plural('judge', len(own))}",
                _head(own[0].comparison.settings, rel=False),
                (Column("judge"), Column("rel", "number"), Column("queries", "number"), *_COMPARISON_COLUMNS),
                tuple(
                    (
                        judgment.judge,
                        str(judgment.comparison.rel),
                        str(judgment.comparison.n_queries),
                        *_comparison_cells(judgment.comparison),
                    )
                    for judgment in own
                ),
                f"{_COMPARISON_CAPTION} rel: smallest relevant grade.",
            )
        )
    tables[-1] = replace(tables[-1], sentences=result.sentences)
    if result.flips:
        tables.append(_flips_table(result))
    return View(tuple(tables), notes=result.notes)


def _flips_table(result: JudgesComparison) -> Table:
    shown = result.flips[:MOST_FLIPS]
    more = len(result.flips) - len(shown)
    return Table(
        f"Judges disagree about the direction on {plural('query', len(result.flips))}",
        f"the first {len(shown)}; all are in the JSON" if more else "",
        (Column("run"), Column("query"), Column("better for"), Column("worse for"), Column("text")),
        tuple(
            (flip.contender, flip.query_id, ", ".join(flip.better), ", ".join(flip.worse), flip.text or "") for flip in shown
        ),
    )


def _head(settings: Settings, *, cutoff: bool = True, rel: bool = True) -> str:
    parts = [
        *([f"cutoff {settings.cutoff or 'of each'}"] if cutoff else []),
        *([f"rel {settings.rel}"] if rel else []),
        f"unit {settings.unit}",
        f"ties {settings.ties}",
        *(["judged only"] if settings.judged_only else []),
        f"alpha {settings.alpha:g}",
    ]
    if settings.family > 1:
        parts.append(f"labels corrected by {settings.correction} over {plural('contender', settings.family)}")
    return ", ".join(parts)


_COMPARISON_COLUMNS = (
    Column("lost", "number"),
    Column("won", "number"),
    Column("coverage", "number"),
    Column("interval", "interval"),
    Column("p", "pvalue"),
    Column("ranking", "number"),
    Column("interval", "interval"),
    Column("p", "pvalue"),
    Column("verdict", "label"),
)
_COMPARISON_CAPTION = (
    "lost, won: in % of the items; coverage: percentage points, higher is better; ranking: ranks, lower is better; "
    "p: corrected over the contenders."
)


def _comparison_cells(item: Comparison) -> tuple[str, ...]:
    shares = item.outcomes.shares
    return (
        *(NOTHING if shares is None else percent(share) for share in (shares and shares.lost, shares and shares.won)),
        fixed(item.coverage.difference, 2, signed=True),
        interval(item.coverage.interval, 2, signed=True),
        pvalue(item.coverage.pvalue_corrected),
        fixed(item.ranking.difference, 2, signed=True),
        interval(item.ranking.interval, 2, signed=True),
        pvalue(item.ranking.pvalue_corrected),
        item.verdict.label,
    )


def _conditions_table(
    title: str, head: str, rows: Sequence[Condition], correction: str, kind: str, measures: Sequence[str]
) -> Table:
    judged = any(row.judged is not None for row in rows)
    columns = (
        Column(kind),
        Column("queries", "number"),
        Column("lost", "number"),
        Column("won", "number"),
        Column("coverage", "number"),
        Column("interval", "interval"),
        Column("p", "pvalue"),
        Column("ranking", "number"),
        Column("times", "number"),
        Column("interval", "interval"),
        Column("p", "pvalue"),
        *(Column(measure, "number") for measure in measures),
        *([Column("judged A", "number"), Column("judged B", "number")] if judged else []),
        Column("verdict", "label"),
    )
    return Table(
        title,
        head,
        columns,
        tuple(tuple(_condition_cells(row, measures, judged)) for row in rows),
        "lost, won: in % of the items; coverage: percentage points, higher is better; ranking: ranks, and B reads so many "
        "times as far as A on what both find, lower is better; "
        f"p: corrected by {correction} over all rows; {_MARK}: the label does not survive that correction."
        + (" judged: % of the documents within the cutoff." if judged else ""),
    )


def _condition_cells(row: Condition, measures: Sequence[str], judged: bool) -> Iterable[str]:
    item, shares = row.comparison, row.comparison.outcomes.shares
    yield row.condition if row.group is None else f"{row.condition} ({row.group})"
    yield str(item.n_queries)
    for share in (shares and shares.lost, shares and shares.won):
        yield percent(share) if shares is not None else NOTHING
    yield fixed(item.coverage.difference, 2, signed=True)
    yield interval(item.coverage.interval, 2, signed=True)
    yield pvalue(row.coverage_p)
    yield fixed(item.ranking.difference, 2, signed=True)
    yield from _ratio_cells(row.ranking)
    yield pvalue(row.ranking_p)
    for effect in row.measures[: len(measures)]:
        yield NOTHING if effect is None else fixed(effect.effect, 4, signed=True)
    if judged:
        for share in row.judged or (None, None):
            yield percent(share)
    yield "too few queries" if row.label is None else f"{row.label}{'' if row.survives else f' {_MARK}'}"


def _ratio_cells(effect: Effect | None) -> tuple[str, str]:
    if effect is None or effect.interval is None:
        return NOTHING, NOTHING
    return bare("ranking", effect.effect), _interval_of("ranking", effect.interval)


def _interval_of(name: str, bounds: tuple[float, float]) -> str:
    return f"[{bare(name, bounds[0])}, {bare(name, bounds[1])}]"


def _means_table(overall: Overall) -> Table:
    rows = [row for effect in overall.pooled for row in _mean_rows(effect)]
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
            Column("I2", "number"),
            Column("better", "number"),
            Column("worse", "number"),
        ),
        tuple(rows),
        "these: the mean of these conditions, each with the same weight; a new one: random effects, with the interval in which "
        "the effect of a new condition is expected; I2: % of the variance that is not due to sampling; ranking: times as far, "
        "lower is better.",
    )


def _mean_rows(effect: PooledEffect) -> Iterable[tuple[str, ...]]:
    if effect.these is not None:
        mean = effect.these
        yield (
            "these",
            effect.name,
            bare(effect.name, mean.effect),
            _interval_of(effect.name, (mean.low, mean.high)),
            pvalue(mean.pvalue_corrected),
            "",
            "",
            str(effect.better),
            str(effect.worse),
        )
    if effect.new is not None:
        new = effect.new
        yield (
            "a new one",
            effect.name,
            bare(effect.name, new.effect),
            _interval_of(effect.name, (new.low, new.high)),
            pvalue(new.pvalue),
            _interval_of(effect.name, (new.predicted_low, new.predicted_high)),
            fixed(100 * new.i_squared, 0),
            "",
            "",
        )
