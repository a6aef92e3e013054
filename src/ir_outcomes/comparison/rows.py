"""A comparison as one flat row with exact values: for CSV, data frames and JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ir_outcomes.comparison.facets import Facet
from ir_outcomes.comparison.outcomes import OUTCOMES

if TYPE_CHECKING:
    from ir_outcomes.comparison.result import Comparison

__all__ = ["paper_row", "row_of"]

_FACETS = ("coverage", "ranking", "reciprocal_rank")


def row_of(comparison: Comparison) -> dict[str, Any]:
    """Return a column for each value, None where there is none; units are those of `Comparison`."""
    row: dict[str, Any] = {
        "baseline": comparison.baseline,
        "contender": comparison.contender,
        "n_queries": comparison.n_queries,
        "n_unanswerable": comparison.n_unanswerable,
        "cutoff": comparison.cutoff,
        "rel": comparison.rel,
        "unit": comparison.unit,
        "ties": comparison.ties,
    }
    for outcome in OUTCOMES:
        row[outcome] = getattr(comparison.outcomes, outcome)
    for outcome in OUTCOMES:
        row[f"{outcome}_fraction"] = comparison.outcomes.fractions.get(outcome)
    for name in _FACETS:
        facet: Facet | None = getattr(comparison, name)
        if facet is None:
            continue
        low, high = facet.interval or (None, None)
        row |= {
            f"{name}_baseline": facet.baseline,
            f"{name}_contender": facet.contender,
            f"{name}_difference": facet.difference,
            f"{name}_low": low,
            f"{name}_high": high,
            f"{name}_effect": facet.effect_size,
            f"{name}_test": facet.test,
            f"{name}_p": facet.pvalue,
            f"{name}_p_corrected": facet.pvalue_corrected,
            f"{name}_detectable": facet.detectable,
        }
    return row | {
        "ranking_ratio": comparison.ranking.ratio,
        "naive_baseline": comparison.naive.baseline,
        "naive_contender": comparison.naive.contender,
        "naive_difference": comparison.naive.difference,
        **{f"naive_p_{name}": pvalue for name, pvalue in comparison.naive.pvalues.items()},
        "alpha": comparison.alpha,
        "correction": comparison.settings.correction,
        "family": comparison.settings.family,
        "verdict": comparison.verdict.label,
        "strict": comparison.verdict.strict,
        "do_no_harm": comparison.verdict.do_no_harm,
        "non_inferior": comparison.verdict.non_inferior,
    }


def paper_row(comparison: Comparison) -> dict[str, Any]:
    """Return the columns of Table 1 and then of Table 2 of Lin et al. 2021; p-values are raw, as in the paper.

    The difference is that of the naive means (MRR). The coverage test stands beside the outcomes, where the paper leaves it
    to the reader.
    """
    row: dict[str, Any] = {
        "A": comparison.baseline,
        "B": comparison.contender,
        "delta": comparison.naive.difference,
        "naive_wrs_p": comparison.naive.pvalues["ranksum"],
        "naive_wsr_p": comparison.naive.pvalues["wilcoxon"],
        "naive_t_p": comparison.naive.pvalues["t"],
        "neither": comparison.outcomes.fractions.get("neither"),
        "a_wins": comparison.outcomes.fractions.get("lost"),
        "b_wins": comparison.outcomes.fractions.get("won"),
        "coverage_p": comparison.coverage.pvalue,
        "both": comparison.outcomes.fractions.get("both"),
    }
    for name, facet in (("esl", comparison.ranking), ("rr", comparison.reciprocal_rank)):
        if facet is not None:
            row |= {
                f"a_{name}": facet.baseline,
                f"b_{name}": facet.contender,
                f"{name}_wsr_p": facet.pvalues["wilcoxon"],
                f"{name}_t_p": facet.pvalues["t"],
            }
    return row | {"verdict": comparison.verdict.label}
