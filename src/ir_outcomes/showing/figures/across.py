"""Figures of comparisons under several conditions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.across.conditions import Condition
from ir_outcomes.across.cutoffs import CutoffsComparison
from ir_outcomes.across.effects import Effect
from ir_outcomes.across.pooled import Overall, PooledEffect
from ir_outcomes.across.slices import SlicesComparison
from ir_outcomes.errors import ParameterError
from ir_outcomes.showing.figures.curve import curve
from ir_outcomes.showing.figures.dispatch import Drawing, kinds
from ir_outcomes.showing.figures.forest import ForestPanel, ForestRow, forest

__all__: list[str] = []

_XLABELS = {"coverage": "coverage, percentage points", "ranking": "reads ... times as far"}


@kinds.register
def _(result: CollectionsComparison) -> Mapping[str, Drawing]:
    return {"forest": _collections_forest}


@kinds.register
def _(result: SlicesComparison) -> Mapping[str, Drawing]:
    return {"forest": _slices_forest}


@kinds.register
def _(result: CutoffsComparison) -> Mapping[str, Drawing]:
    return {"curve": _cutoffs_curve}


def _collections_forest(result: CollectionsComparison, ax: Any) -> Any:
    if len(result.overall) > 1:
        raise ParameterError("a forest plot shows one contender; call compare_collections with one")
    (overall,) = result.overall
    rows = result.of(overall.contender)
    panels = [_panel(place, effect.name, rows, overall) for place, effect in enumerate(overall.pooled)]
    level = f"{100 * (1 - result.settings.alpha):g} % intervals"
    return forest(panels, ax, title=f"{overall.contender} against {result.baseline}, {level}")


def _slices_forest(result: SlicesComparison, ax: Any) -> Any:
    contenders = list(dict.fromkeys(row.comparison.contender for row in result.conditions))
    if len(contenders) > 1:
        raise ParameterError("a forest plot shows one contender; call compare_slices with one")
    panels = [_panel(place, name, result.conditions, None) for place, name in enumerate(("coverage", "ranking"))]
    level = f"{100 * (1 - result.settings.alpha):g} % intervals"
    return forest(panels, ax, title=f"{contenders[0]} against {result.baseline} by {result.by}, {level}")


def _cutoffs_curve(result: CutoffsComparison, ax: Any) -> Any:
    if result.curve is None:
        raise ParameterError("there is no curve of fewer than two queries")
    found = result.curve
    return curve(
        found.ranks, found.baseline, found.contender, found.low, found.high, ax,
        baseline=result.baseline, contender=result.contender, unit=result.comparisons[0].unit, level=found.level, n=found.n,
    )  # fmt: skip


def _panel(place: int, name: str, rows: Sequence[Condition], overall: Overall | None) -> ForestPanel:
    effects = [(row.condition, (row.coverage, row.ranking, *row.measures)[place]) for row in rows]
    scale = math.exp if name == "ranking" else float
    pooled = None if overall is None else overall.pooled[place]
    generalised = overall is not None and any(effect.new is not None for effect in overall.pooled)
    return ForestPanel(
        title=name,
        xlabel=_XLABELS.get(name, f"difference of {name}"),
        rows=(*(_row(label, effect, scale) for label, effect in effects), *_summaries(pooled, scale, generalised)),
        better="left" if name == "ranking" or (pooled is not None and not pooled.higher_is_better) else "right",
        null=1.0 if name == "ranking" else 0.0,
        log=name == "ranking",
        digits=2 if name in _XLABELS else 3,
    )


def _row(label: str, effect: Effect | None, scale: Any) -> ForestRow:
    if effect is None or effect.interval is None:
        return ForestRow(label, None, None, None)
    low, high = effect.interval
    return ForestRow(label, scale(effect.effect), scale(low), scale(high), 1 / effect.variance)


def _summaries(pooled: PooledEffect | None, scale: Any, generalised: bool) -> list[ForestRow]:
    """Return the rows of the means; every panel has the same rows, so what one facet lacks is an empty row."""
    if pooled is None:
        return []
    mean, new = pooled.these, pooled.new
    rows = [
        ForestRow("these", None, None, None, kind="these")
        if mean is None
        else ForestRow("these", scale(mean.effect), scale(mean.low), scale(mean.high), kind="these")
    ]
    if generalised and new is None:
        rows.append(ForestRow("a new one", None, None, None, kind="new"))
    elif new is not None:
        predicted = scale(new.predicted_low), scale(new.predicted_high)
        rows.append(
            ForestRow("a new one", scale(new.effect), scale(new.low), scale(new.high), kind="new", prediction=predicted)
        )
    return rows
