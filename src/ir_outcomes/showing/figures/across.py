"""Figures of comparisons under several conditions: forest plots, and the curve over all cutoffs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.across.conditions import Condition, Effect, Overall
from ir_outcomes.across.same_queries import CutoffsComparison
from ir_outcomes.across.slices import SlicesComparison
from ir_outcomes.errors import ParameterError
from ir_outcomes.showing.figures._frame import Frame, legend_beside
from ir_outcomes.showing.figures._labels import labels_of
from ir_outcomes.showing.figures._palette import BLACK, BLUE, LIGHT, ORANGE
from ir_outcomes.showing.figures.forest import ForestPanel, ForestRow, draw_forest
from ir_outcomes.showing.words import RANK_TICKS, count, level_words

__all__ = ["draw_collections", "draw_curve", "draw_slices"]

_XLABELS = {"coverage": "coverage, percentage points", "ranking": "reads ... times as far"}


def draw_collections(result: CollectionsComparison, ax: Any) -> Any:
    """Draw the effects in all collections, and their means."""
    if len(result.overall) > 1:
        raise ParameterError("a forest plot shows one contender; call compare_collections with one")
    (overall,) = result.overall
    rows = result.of(overall.contender)
    panels = [_panel(place, effect.name, rows, overall) for place, effect in enumerate(overall.pooled)]
    return draw_forest(panels, f"{overall.contender} against {result.baseline}, {level_words(result.settings.alpha)}s", ax)


def draw_slices(result: SlicesComparison, ax: Any) -> Any:
    """Draw the effects in all slices of the queries."""
    contenders = list(dict.fromkeys(row.comparison.contender for row in result.conditions))
    if len(contenders) > 1:
        raise ParameterError("a forest plot shows one contender; call compare_slices with one")
    panels = [_panel(place, name, result.conditions, None) for place, name in enumerate(_XLABELS)]
    level = f"{level_words(result.settings.alpha)}s"
    return draw_forest(panels, f"{contenders[0]} against {result.baseline} by {result.by}, {level}", ax)


def _panel(place: int, name: str, conditions: Sequence[Condition], overall: Overall | None) -> ForestPanel:
    scale = math.exp if name == "ranking" else float
    higher_is_better = name != "ranking" and (overall is None or overall.pooled[place].higher_is_better)
    rows = [_row(row.condition, (row.coverage, row.ranking, *row.measures)[place], scale) for row in conditions]
    return ForestPanel(
        title=name,
        xlabel=_XLABELS.get(name, f"difference of {name}"),
        rows=(*rows, *([] if overall is None else _summaries(overall, place, scale))),
        better="right" if higher_is_better else "left",
        null=scale(0.0),
        log=name == "ranking",
        digits=2 if name in _XLABELS else 3,
    )


def _row(label: str, effect: Effect | None, scale: Callable[[float], float]) -> ForestRow:
    if effect is None or effect.interval is None:
        return ForestRow(label, None)
    low, high = effect.interval
    return ForestRow(label, (scale(effect.effect), scale(low), scale(high)), 1 / effect.variance)


def _summaries(overall: Overall, place: int, scale: Callable[[float], float]) -> list[ForestRow]:
    """Return the rows of the means; every panel has the same rows, so what one facet lacks is an empty row."""
    mean, new = overall.pooled[place].these, overall.pooled[place].new
    these = None if mean is None else (scale(mean.effect), scale(mean.low), scale(mean.high))
    rows = [ForestRow("these", these, kind="these")]
    if new is not None:
        predicted = scale(new.predicted_low), scale(new.predicted_high)
        estimate = scale(new.effect), scale(new.low), scale(new.high)
        rows.append(ForestRow("a new one", estimate, kind="new", prediction=predicted))
    elif any(effect.new is not None for effect in overall.pooled):
        rows.append(ForestRow("a new one", None, kind="new"))
    return rows


def draw_curve(result: CutoffsComparison, ax: Any) -> Any:
    """Draw the share of queries answered by each rank for both runs, and below it their difference with its band."""
    if result.curve is None:
        raise ParameterError("there is no curve of fewer than two queries")
    curve = result.curve
    last = curve.ranks[-1]
    ranks = [*curve.ranks, 1.08 * last]  # the last step gets a width too
    first, second, low, high = (
        100 * np.append(shares, shares[-1]) for shares in (curve.baseline, curve.contender, curve.low, curve.high)
    )
    baseline, contender = labels_of([result.baseline, result.contender])
    frame = Frame(ax, 5.2, 2.7, 1.5, sharex=True)
    above, below = frame.panels
    above.step(ranks, first, where="post", color=ORANGE, linestyle="--", linewidth=1.6, label=baseline)
    above.step(ranks, second, where="post", color=BLUE, linewidth=1.6, label=contender)
    what = "queries\nanswered" if result.comparisons[0].unit == "query" else "relevant documents\nfound"
    above.set_ylabel(f"% of {what} by rank k")
    band: Any = {"facecolor": LIGHT, "edgecolor": "#777777", "linewidth": 0.6}
    below.fill_between(ranks, low, high, step="post", label=f"{100 * curve.level:g} % band, for all k at once", **band)
    below.step(ranks, second - first, where="post", color=BLACK, linewidth=1.4, label="contender minus baseline")
    below.axhline(0, color=BLACK, linewidth=0.6, linestyle=":")
    below.set_ylabel("difference,\npercentage points")
    below.set_xlabel("rank k (log scale)")
    for panel in frame.panels:
        legend_beside(panel)
        panel.set_xscale("log")
        panel.set_xlim(ranks[0], ranks[-1])
        shown = [tick for tick in RANK_TICKS if tick <= last]
        panel.set_xticks(shown, [f"{tick:,}" for tick in shown])
        panel.minorticks_off()
    above.tick_params(axis="x", labelbottom=False)
    return frame.finish(f"{contender} against {baseline}: found by rank k (higher is better), {count(curve.n, 'query')}")
