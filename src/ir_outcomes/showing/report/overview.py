"""What stands first: the numbers of a comparison with their intervals, and for several the forest plot and the matrix."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

from ir_outcomes._formatting import fixed, interval, pvalue
from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.across.cutoffs import CutoffsComparison
from ir_outcomes.across.effects import Effect
from ir_outcomes.across.judges import JudgesComparison
from ir_outcomes.across.slices import SlicesComparison
from ir_outcomes.comparison.facets import Facet
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.results import Result
from ir_outcomes.showing.report.charts import Strip, strips
from ir_outcomes.showing.report.sections import MOST_RUNS

__all__ = ["Forest", "Matrix", "Measurement", "forest_of", "matrix_of", "measurements", "tone"]

_SIGNS = {
    "better on both facets": "++",
    "better without harm": "+",
    "worse on both facets": "\u2212\u2212",
    "worse without gain": "\u2212",
    "trade-off": "\u00b1",
    "no significant difference": "\u00b7",
}


def tone(label: str | None) -> str:
    """Return the style of a label: "better", "worse", "mixed" or "same"."""
    word = (label or "").split()[:1]
    return word[0] if word and word[0] in ("better", "worse") else "mixed" if word == ["trade-off"] else "same"


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
    by_query = comparison.unit == "query"
    coverage, ranking, restricted = comparison.coverage, comparison.ranking, comparison.restricted
    found = [
        _of_facet(coverage, "Coverage", "queries answered" if by_query else "relevant documents found", "percentage points"),
        _of_facet(
            ranking,
            "Ranking",
            "mean search length on what both found" if ranking.measured_in == "ranks" else "mean over what both found",
            ranking.measured_in,
        ),
    ]
    if restricted is not None:
        (strip,) = strips([(restricted.difference, restricted.interval)])
        found.append(
            Measurement(
                "All queries",
                f"search length, {restricted.horizon + 1} where nothing is found",
                "ranks",
                False,
                fixed(restricted.baseline, 2),
                fixed(restricted.contender, 2),
                fixed(restricted.difference, 2, signed=True),
                interval(restricted.interval, 2, signed=True),
                pvalue(restricted.test.pvalue),
                restricted.test.name,
                _tone_of(-restricted.difference, restricted.test.pvalue, comparison.alpha),
                strip,
            )
        )
    return found


def _of_facet(facet: Facet, title: str, explanation: str, unit: str) -> Measurement:
    places = 2 if facet.measured_in in ("percentage points", "ranks") else 4
    percent = " %" if facet.measured_in == "percentage points" else ""
    (strip,) = strips([(facet.difference, facet.interval)])
    return Measurement(
        title,
        explanation,
        unit,
        facet.higher_is_better,
        fixed(facet.baseline, places) + (percent if facet.baseline is not None else ""),
        fixed(facet.contender, places) + (percent if facet.contender is not None else ""),
        fixed(facet.difference, places, signed=True),
        interval(facet.interval, places, signed=True),
        pvalue(facet.pvalue),
        facet.test,
        _tone_of(facet.gain, facet.pvalue, facet.alpha),
        strip,
    )


def _tone_of(gain: float, p: float, alpha: float) -> str:
    if p > alpha or gain == 0:
        return "same"
    return "better" if gain > 0 else "worse"


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
            coverage, ranking = overall.pooled[:2]
            these: list[_Value] = [
                (None, None) if effect.these is None else (effect.these.effect, (effect.these.low, effect.these.high))
                for effect in (coverage, ranking)
            ]
            new: list[_Value] = [
                (None, None)
                if effect.new is None
                else (effect.new.effect, (effect.new.predicted_low, effect.new.predicted_high))
                for effect in (coverage, ranking)
            ]
            lines.append(_Line(f"{prefix}mean of these", overall.label or "no label", None, (these[0], these[1])))
            if any(estimate is not None for estimate, _ in new):
                lines.append(_Line(f"{prefix}expected in a new one", "", None, (new[0], new[1])))
    return _forest(result.kind, lines, ("coverage, percentage points", "ranking, times as far"), ratio=True)


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
        columns.append(
            [
                Cell(_text(estimate, as_ratio), _interval_text(bounds, as_ratio), strip)
                for (estimate, bounds), strip in zip(values, strips(values), strict=True)
            ]
        )
    rows = tuple(
        Row(line.name, line.label, tone(line.label), line.section, cells)
        for line, cells in zip(lines, zip(*columns, strict=True), strict=True)
    )
    return Forest(what, ((panels[0], True), (panels[1], ranking_right)), rows)


def _value_of(effect: Effect | None) -> _Value:
    return (None, None) if effect is None else (effect.effect, effect.interval)


def _text(estimate: float | None, ratio: bool) -> str:
    if ratio and estimate is not None:
        return fixed(math.exp(estimate), 2)
    return fixed(estimate, 2, signed=True)


def _interval_text(bounds: tuple[float, float] | None, ratio: bool) -> str:
    if ratio and bounds is not None:
        return interval((math.exp(bounds[0]), math.exp(bounds[1])), 2)
    return interval(bounds, 2, signed=True)


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
