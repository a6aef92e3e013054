"""Conditions and means as flat rows with exact values: for CSV, data frames and JSON lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ir_outcomes.across.conditions import Condition
from ir_outcomes.across.effects import Effect
from ir_outcomes.across.pooled import Overall, PooledEffect
from ir_outcomes.comparison.outcomes import OUTCOMES

__all__ = ["condition_row", "pooled_row"]


def condition_row(row: Condition, measures: Sequence[str] = ()) -> dict[str, Any]:
    """Return a column for each value; None where there is none."""
    comparison = row.comparison
    judged = row.judged or (None, None)
    values: dict[str, Any] = {
        "condition": row.condition,
        "group": row.group,
        "baseline": comparison.baseline,
        "contender": comparison.contender,
        "n_queries": comparison.n_queries,
        "cutoff": comparison.cutoff,
        "rel": comparison.rel,
        "unit": comparison.unit,
        "verdict": row.label,
        "survives": row.survives,
        **{outcome: getattr(comparison.outcomes, outcome) for outcome in OUTCOMES},
        "judged_baseline": judged[0],
        "judged_contender": judged[1],
        "coverage_p": comparison.coverage.pvalue,
        "coverage_p_corrected": row.coverage_p,
        "ranking_difference": comparison.ranking.difference,
        "ranking_p": comparison.ranking.pvalue,
        "ranking_p_corrected": row.ranking_p,
    }
    effects: list[tuple[str, Effect | None]] = [("coverage", row.coverage), ("ranking_log_ratio", row.ranking)]
    effects += zip(measures, row.measures, strict=False)
    for name, effect in effects:
        low, high = (effect.interval if effect is not None else None) or (None, None)
        values |= {
            f"{name}_effect": None if effect is None else effect.effect,
            f"{name}_low": low,
            f"{name}_high": high,
            f"{name}_n": None if effect is None else effect.n,
        }
    return values


def pooled_row(overall: Overall, effect: PooledEffect) -> dict[str, Any]:
    """Return a column for each value of a mean; None where there is none."""
    mean, new = effect.these, effect.new
    return {
        "condition": "all",
        "contender": overall.contender,
        "verdict": overall.label,
        "facet": effect.name,
        "higher_is_better": effect.higher_is_better,
        "better": effect.better,
        "worse": effect.worse,
        "mean": None if mean is None else mean.effect,
        "mean_low": None if mean is None else mean.low,
        "mean_high": None if mean is None else mean.high,
        "mean_p": None if mean is None else mean.pvalue,
        "mean_p_corrected": None if mean is None else mean.pvalue_corrected,
        "conditions_in_mean": None if mean is None else mean.k,
        "new_mean": None if new is None else new.effect,
        "new_low": None if new is None else new.low,
        "new_high": None if new is None else new.high,
        "new_p": None if new is None else new.pvalue,
        "predicted_low": None if new is None else new.predicted_low,
        "predicted_high": None if new is None else new.predicted_high,
        "tau_squared": None if new is None else new.tau_squared,
        "i_squared": None if new is None else new.i_squared,
    }
