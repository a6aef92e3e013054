"""What stands first: the numbers of a comparison with their intervals, and for several the forest plot and the matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.across.conditions import Effect, PooledEffect
from ir_outcomes.across.same_queries import CutoffsComparison, JudgesComparison
from ir_outcomes.across.slices import SlicesComparison
from ir_outcomes.comparison.facets import Facet, RestrictedLength
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import NO_DIFFERENCE
from ir_outcomes.formatting import fixed, interval, pvalue
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.results import Result
from ir_outcomes.showing.report.charts import Strip, strips
from ir_outcomes.showing.report.sections import MOST_RUNS
from ir_outcomes.showing.words import places_of, tone
from ir_outcomes.statistics import Test

__all__ = ["Forest", "Matrix", "Measurement", "forest_of", "matrix_of", "measurements"]

_SIGNS = {
    "better on both facets": "++",
    "better without harm": "+",
    "coverage gain, unconfirmed": "(+)",
    "ranking gain, unconfirmed": "(+)",
    NO_DIFFERENCE: "\u00b7",
    "trade-off": "\u00b1",
    "ranking loss, unconfirmed": "(\u2212)",
    "coverage loss, unconfirmed": "(\u2212)",
    "worse without gain": "\u2212",
    "worse on both facets": "\u2212\u2212",
}


class Measurement(NamedTuple):
    """One number with its interval."""

    title: str
    explanation: str
    unit: str
    higher_is_better: bool
    baseline: str
    contender: str
    difference: str
    interval: str
    pvalue: str
    test: str
    tone: str
    strip: Strip


def measurements(comparison: Comparison) -> list[Measurement]:
    """Return both facets, and the search length over all queries where it is known."""
    coverage, ranking, restricted = comparison.coverage, comparison.ranking, comparison.restricted
    found = "queries answered" if comparison.unit == "query" else "relevant documents found"
    mean = "mean search length on what both found" if ranking.measured_in == "ranks" else "mean over what both found"
    measured = [
        _measurement("Coverage", found, coverage.measured_in, coverage, coverage.decides, comparison.alpha),
        _measurement("Ranking", mean, ranking.measured_in, ranking, ranking.decides, comparison.alpha),
    ]
    if restricted is not None:
        length = f"search length, {restricted.horizon + 1} where nothing is found"
        measured.append(_measurement("All queries", length, "ranks", restricted, restricted.test, comparison.alpha))
    return measured


def _measurement(
    title: str, explanation: str, unit: str, measured: Facet | RestrictedLength, test: Test, alpha: float
) -> Measurement:
    places = places_of(unit)
    percent = " %" if unit == "percentage points" and measured.difference is not None else ""
    higher_is_better = isinstance(measured, Facet) and measured.higher_is_better
    gain = (measured.difference or 0.0) * (1 if higher_is_better else -1)
    (strip,) = strips([(measured.difference, measured.interval)])
    return Measurement(
        title,
        explanation,
        unit,
        higher_is_better,
        fixed(measured.baseline, places) + percent,
        fixed(measured.contender, places) + percent,
        fixed(measured.difference, places, signed=True),
        interval(measured.interval, places, signed=True),
        pvalue(test.pvalue),
        test.name,
        "same" if test.pvalue > alpha or gain == 0 else "better" if gain > 0 else "worse",
        strip,
    )


class Cell(NamedTuple):
    """An estimate of the forest plot, in words and as a picture."""

    text: str
    interval: str
    strip: Strip


class Row(NamedTuple):
    """A row of the forest plot; `section` is the number of its section, None for means."""

    name: str
    label: str
    tone: str
    section: int | None
    cells: tuple[Cell, ...]


class Forest(NamedTuple):
    """Estimates with intervals, a row for each comparison."""

    what: str
    panels: tuple[tuple[str, bool], ...]  # heading, whether the right side is better
    rows: tuple[Row, ...]


_Value = tuple[float | None, tuple[float, float] | None]


class _Line(NamedTuple):
    name: str
    label: str
    section: int | None
    values: tuple[_Value, _Value]


@singledispatch
def forest_of(result: Result) -> Forest | None:
    """Return the forest plot of several comparisons; None for other results."""
    return None


@forest_of.register
def _comparisons(result: Comparisons) -> Forest | None:
    several = len({item.baseline for item in result}) > 1
    named = [f"{item.contender} against {item.baseline}" if several else item.contender for item in result]
    return _of_comparisons("run", named, list(result))


@forest_of.register
def _cutoffs(result: CutoffsComparison) -> Forest | None:
    return _of_comparisons("cutoff", [str(item.cutoff) for item in result.comparisons], list(result.comparisons))


@forest_of.register
def _judges(result: JudgesComparison) -> Forest | None:
    named = [f"{item.judge}: {item.comparison.contender}" for item in result.judgments]
    return _of_comparisons("judge and run", named, [item.comparison for item in result.judgments])


@forest_of.register(CollectionsComparison)
@forest_of.register(SlicesComparison)
def _conditions(result: CollectionsComparison | SlicesComparison) -> Forest | None:
    contenders = list(dict.fromkeys(row.comparison.contender for row in result.conditions))
    lines = []
    for contender in contenders:
        prefix = f"{contender}, " if len(contenders) > 1 else ""
        for number, row in enumerate(result.conditions):
            if row.comparison.contender == contender:
                values = _value_of(row.coverage), _value_of(row.ranking)
                lines.append(_Line(prefix + row.condition, row.label or "no label", number, values))
        overall = next((own for own in getattr(result, "overall", ()) if own.contender == contender), None)
        if overall is not None:
            these, new = zip(*map(_means, overall.pooled[:2]), strict=True)
            lines.append(_Line(f"{prefix}mean of these", overall.label or "no label", None, these))
            if any(estimate is not None for estimate, _ in new):
                lines.append(_Line(f"{prefix}expected in a new one", "", None, new))
    return _forest(result.kind, lines, ("coverage, percentage points", "ranking, times as far"), ratio=True)


def _value_of(effect: Effect | None) -> _Value:
    return (None, None) if effect is None else (effect.effect, effect.interval)


def _means(pooled: PooledEffect) -> tuple[_Value, _Value]:
    """Return the mean of these conditions with its interval, and that of a new one with its prediction."""
    these, new = pooled.these, pooled.new
    return (
        (None, None) if these is None else (these.effect, (these.low, these.high)),
        (None, None) if new is None else (new.effect, (new.predicted_low, new.predicted_high)),
    )


def _of_comparisons(what: str, names: Sequence[str], comparisons: Sequence[Comparison]) -> Forest | None:
    lines = [
        _Line(
            name,
            item.verdict.label,
            number,
            ((item.coverage.difference, item.coverage.interval), (item.ranking.difference, item.ranking.interval)),
        )
        for number, (name, item) in enumerate(zip(names, comparisons, strict=True))
    ]
    if not lines:
        return None
    ranking = comparisons[0].ranking
    panels = "coverage, percentage points", f"ranking, {ranking.measured_in}"
    return _forest(what, lines, panels, ratio=False, ranking_right=ranking.higher_is_better)


def _forest(what: str, lines: Sequence[_Line], panels: tuple[str, str], *, ratio: bool, ranking_right: bool = False) -> Forest:
    columns = []
    for panel in (0, 1):
        values = [line.values[panel] for line in lines]
        as_ratio = ratio and panel == 1
        columns.append([_cell(*value, strip, as_ratio) for value, strip in zip(values, strips(values), strict=True)])
    rows = tuple(
        Row(line.name, line.label, tone(line.label), line.section, cells)
        for line, cells in zip(lines, zip(*columns, strict=True), strict=True)
    )
    return Forest(what, ((panels[0], True), (panels[1], ranking_right)), rows)


def _cell(estimate: float | None, bounds: tuple[float, float] | None, strip: Strip, as_ratio: bool) -> Cell:
    """Write an estimate and its interval; those of a ratio are logarithms."""
    if as_ratio:
        estimate = None if estimate is None else math.exp(estimate)
        bounds = None if bounds is None else (math.exp(bounds[0]), math.exp(bounds[1]))
    return Cell(fixed(estimate, 2, signed=not as_ratio), interval(bounds, 2, signed=not as_ratio), strip)


class Matrix(NamedTuple):
    """Verdicts of all pairs: the run of the row against the run of the column."""

    runs: tuple[str, ...]
    tiers: tuple[int | None, ...]
    rows: tuple[tuple[Any, ...], ...]  # sign, label and tone; None on the diagonal
    signs: tuple[tuple[str, str], ...]


def matrix_of(result: Result) -> Matrix | None:
    """Return the matrix of verdicts of a leaderboard; None for other results, or too many runs."""
    if not isinstance(result, Leaderboard) or not result.pairs or len(result.standings) > MOST_RUNS:
        return None
    runs = tuple(standing.run for standing in result.standings)

    def cell(contender: str, baseline: str) -> tuple[str, str, str] | None:
        if contender == baseline:
            return None
        label = result.verdict(baseline, contender).label
        return _SIGNS[label], label, tone(label)

    return Matrix(
        runs,
        tuple(standing.tier for standing in result.standings),
        tuple(tuple(cell(contender, baseline) for baseline in runs) for contender in runs),
        tuple((sign, label) for label, sign in _SIGNS.items()),
    )
