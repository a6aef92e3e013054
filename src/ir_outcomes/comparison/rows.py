"""A comparison as one flat row with exact values: for CSV, data frames and JSON lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ir_outcomes.comparison.facets import Facet
from ir_outcomes.comparison.outcomes import OUTCOMES

if TYPE_CHECKING:
    from ir_outcomes.comparison.result import Comparison

__all__ = ["paper_row", "row_of"]


def row_of(comparison: Comparison) -> dict[str, Any]:
    """Return a column for each value, None where there is none; units are those of `Comparison`."""
    outcomes, restricted = comparison.outcomes, comparison.restricted
    row: dict[str, Any] = {
        "baseline": comparison.baseline,
        "contender": comparison.contender,
        "n_queries": comparison.n_queries,
        "n_unanswerable": comparison.n_unanswerable,
        "cutoff": comparison.cutoff,
        "rel": comparison.rel,
        "unit": comparison.unit,
        "ties": comparison.ties,
        **{outcome: getattr(outcomes, outcome) for outcome in OUTCOMES},
        **{f"{name}_share": None if outcomes.shares is None else getattr(outcomes.shares, name) for name in OUTCOMES},
        "lost_at": outcomes.lost_at,
        "won_at": outcomes.won_at,
    }
    facets: dict[str, Facet | None] = {
        "coverage": comparison.coverage,
        "ranking": comparison.ranking,
        "reciprocal": comparison.reciprocal,
    }
    for name, facet in facets.items():
        if facet is None:
            continue
        low, high = facet.interval or (None, None)
        row |= {
            f"{name}_n": facet.n,
            f"{name}_n_nonzero": facet.n_nonzero,
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
    row["ranking_ratio"] = comparison.ranking.ratio
    if restricted is not None:
        low, high = restricted.interval or (None, None)
        row |= {
            "restricted_difference": restricted.difference,
            "restricted_low": low,
            "restricted_high": high,
            "restricted_p": restricted.test.pvalue,
            "restricted_both": restricted.both,
            "restricted_won": restricted.won,
            "restricted_lost": restricted.lost,
            "won_and_lost_p": restricted.won_and_lost_test.pvalue,
            "queries_better": restricted.better,
            "queries_worse": restricted.worse,
            "queries_equal": restricted.equal,
        }
    return row | {
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
        "guard": comparison.verdict.guard,
        "non_inferior": comparison.verdict.non_inferior,
        "equivalent": comparison.verdict.equivalent,
        **{f"verdict_at_{at.cutoff}": at.label for at in comparison.cutoffs},
    }


def paper_row(comparison: Comparison) -> dict[str, Any]:
    """Return the columns of Table 1 and then of Table 2 of Lin et al. 2021; p-values are raw, as in the paper.

    The difference is that of the naive means (MRR). The coverage test stands beside the outcomes, where the paper leaves it
    to the reader.
    """

    def share(outcome: str) -> float | None:
        return None if comparison.outcomes.shares is None else float(getattr(comparison.outcomes.shares, outcome))

    row: dict[str, Any] = {
        "A": comparison.baseline,
        "B": comparison.contender,
        "delta": comparison.naive.difference,
        "naive_wrs_p": comparison.naive.pvalues["ranksum"],
        "naive_wsr_p": comparison.naive.pvalues["wilcoxon"],
        "naive_t_p": comparison.naive.pvalues["t"],
        "neither": share("neither"),
        "a_wins": share("lost"),
        "b_wins": share("won"),
        "coverage_p": comparison.coverage.pvalue,
        "both": share("both"),
    }
    for name, facet in (("esl", comparison.ranking), ("rr", comparison.reciprocal)):
        if facet is not None:
            row |= {
                f"a_{name}": facet.baseline,
                f"b_{name}": facet.contender,
                f"{name}_wsr_p": facet.pvalues["wilcoxon"],
                f"{name}_t_p": facet.pvalues["t"],
            }
    return row | {"verdict": comparison.verdict.label}
