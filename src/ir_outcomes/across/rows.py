"""Conditions and means as flat rows with exact values: for CSV, data frames and JSON lines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ir_outcomes.across.conditions import Condition
from ir_outcomes.across.pooled import Overall, PooledEffect
from ir_outcomes.comparison.outcomes import OUTCOMES
from ir_outcomes.results import cells_of

__all__ = ["condition_row", "pooled_row"]


def condition_row(row: Condition, measures: Sequence[str] = ()) -> dict[str, Any]:
    """Return a column for each value; None where there is none."""
    judged = row.judged or (None, None)
    values = cells_of(row, "condition", "group")
    values |= cells_of(row.comparison, "baseline", "contender", "n_queries", "cutoff", "rel", "unit")
    values |= cells_of(row, "verdict=label", "survives") | cells_of(row.comparison.outcomes, *OUTCOMES)
    values |= {"judged_baseline": judged[0], "judged_contender": judged[1]}
    values |= cells_of(
        row, "coverage_p=comparison.coverage.pvalue", "coverage_p_corrected=coverage_p",
        "ranking_difference=comparison.ranking.difference", "ranking_p=comparison.ranking.pvalue",
        "ranking_p_corrected=ranking_p",
    )  # fmt: skip
    names, effects = ("coverage", "ranking_log_ratio", *measures), (row.coverage, row.ranking, *row.measures)
    for name, effect in zip(names, effects, strict=False):
        values |= cells_of(effect, "effect", "low=interval.low", "high=interval.high", "n", prefix=f"{name}_")
    return values


def pooled_row(overall: Overall, effect: PooledEffect) -> dict[str, Any]:
    """Return a column for each value of a mean; None where there is none."""
    return {
        "condition": "all",
        **cells_of(overall, "contender", "verdict=label"),
        **cells_of(effect, "facet=name", "higher_is_better", "better", "worse"),
        **cells_of(
            effect.these, "mean=effect", "mean_low=low", "mean_high=high", "mean_p=pvalue", "mean_p_corrected=pvalue_corrected",
            "conditions_in_mean=k",
        ),
        **cells_of(
            effect.new, "new_mean=effect", "new_low=low", "new_high=high", "new_p=pvalue", "predicted_low", "predicted_high",
            "tau_squared", "i_squared",
        ),
    }  # fmt: skip
