"""A comparison as one flat row with exact values: for CSV, data frames and JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ir_outcomes.comparison.outcomes import OUTCOMES
from ir_outcomes.results import columns_of

if TYPE_CHECKING:
    from ir_outcomes.comparison.result import Comparison

__all__ = ["paper_row", "row_of"]

_OF_FACET = (
    "n", "n_nonzero", "baseline", "contender", "difference", "low=interval.low", "high=interval.high", "effect=effect_size",
    "test", "p=pvalue", "p_corrected=pvalue_corrected", "detectable",
)  # fmt: skip
_OF_RESTRICTED = (
    "restricted_difference=difference", "restricted_low=interval.low", "restricted_high=interval.high",
    "restricted_p=test.pvalue", "restricted_both=both", "restricted_won=won", "restricted_lost=lost",
    "won_and_lost_p=won_and_lost_test.pvalue", "queries_better=better", "queries_worse=worse", "queries_equal=equal",
)  # fmt: skip


def row_of(comparison: Comparison) -> dict[str, Any]:
    """Return a column for each value, None where there is none; units are those of `Comparison`."""
    row = columns_of(
        comparison, "baseline", "contender", "n_queries", "n_unanswerable", "cutoff", "rel", "unit", "ties"
    )  # fmt: skip
    shares = (f"{outcome}_share=shares.{outcome}" for outcome in OUTCOMES)
    row |= columns_of(comparison.outcomes, *OUTCOMES, *shares, "lost_at", "won_at")
    for name in ("coverage", "ranking", "reciprocal"):
        if (facet := getattr(comparison, name)) is not None:
            row |= columns_of(facet, *_OF_FACET, prefix=f"{name}_")
    row |= columns_of(comparison.ranking, "ratio", prefix="ranking_")
    if comparison.restricted is not None:
        row |= columns_of(comparison.restricted, *_OF_RESTRICTED)
    row |= columns_of(comparison.naive, "baseline", "contender", "difference", prefix="naive_")
    row |= {f"naive_p_{name}": pvalue for name, pvalue in comparison.naive.pvalues.items()}
    row |= columns_of(comparison.settings, "alpha", "correction", "family")
    row |= columns_of(
        comparison.verdict, "verdict=label", "strict", "do_no_harm", "guard", "non_inferior", "equivalent"
    )  # fmt: skip
    return row | {f"verdict_at_{at.cutoff}": at.label for at in comparison.cutoffs}


def paper_row(comparison: Comparison) -> dict[str, Any]:
    """Return the columns of Table 1 and then of Table 2 of Lin et al. 2021; p-values are raw, as in the paper.

    The difference is that of the naive means (MRR). The coverage test stands beside the outcomes, where the paper leaves it
    to the reader.
    """
    naive = comparison.naive.pvalues
    row = columns_of(comparison, "A=baseline", "B=contender", "delta=naive.difference")
    row |= {"naive_wrs_p": naive["ranksum"], "naive_wsr_p": naive["wilcoxon"], "naive_t_p": naive["t"]}
    row |= columns_of(
        comparison, "neither=outcomes.shares.neither", "a_wins=outcomes.shares.lost", "b_wins=outcomes.shares.won",
        "coverage_p=coverage.pvalue", "both=outcomes.shares.both",
    )  # fmt: skip
    for name, facet in (("esl", comparison.ranking), ("rr", comparison.reciprocal)):
        if facet is not None:
            row |= {
                f"a_{name}": facet.baseline,
                f"b_{name}": facet.contender,
                f"{name}_wsr_p": facet.pvalues["wilcoxon"],
                f"{name}_t_p": facet.pvalues["t"],
            }
    return row | {"verdict": comparison.verdict.label}
