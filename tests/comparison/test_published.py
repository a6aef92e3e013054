from __future__ import annotations

from pathlib import Path

import pytest

from ir_outcomes import verdict_from_summary
from ir_outcomes.comparison.verdict import SummaryVerdict
from ir_outcomes.errors import ParameterError

N = 5793
# Lin et al. 2021, Table 2: contender, % A wins, % B wins, A ESL, B ESL, WSR p, t p.
TABLE_2 = {
    "R2": (9, 16, 6.99, 9.14, 3.22e-12, 1.60e-07),
    "R3": (15, 14, 7.15, 5.99, 4.62e-06, 1.34e-05),
    "R4": (10, 15, 7.06, 8.13, 0.000249, 0.004918),
    "R5": (11, 15, 7.13, 7.27, 0.609428, 0.813828),
    "R6": (10, 15, 7.15, 7.19, 0.886547, 0.381946),
    "R7": (10, 15, 7.27, 6.98, 0.279188, 0.022938),
    "R8": (15, 15, 7.06, 5.71, 7.94e-08, 8.68e-08),
    "R9": (15, 14, 7.15, 5.15, 2.03e-16, 4.33e-17),
    "R10": (12, 15, 7.08, 5.88, 4.79e-06, 1.46e-06),
    "R10 against R9": (12, 17, 5.22, 5.79, 0.026583, 0.006238),
}
# Section 5 in words, and the answers that follow from its two rules: strict, do no harm, and the label. Nothing confirms a
# direction with one facet where only means were published.
BY_T = {
    "R2": ("undecided", "undecided", "trade-off"),
    "R3": ("undecided", "better", "ranking gain, unconfirmed"),
    "R4": ("undecided", "undecided", "trade-off"),
    "R5": ("undecided", "better", "coverage gain, unconfirmed"),
    "R6": ("undecided", "better", "coverage gain, unconfirmed"),
    "R7": ("better", "better", "better on both facets"),
    "R8": ("undecided", "better", "ranking gain, unconfirmed"),
    "R9": ("undecided", "better", "ranking gain, unconfirmed"),
    "R10": ("better", "better", "better on both facets"),
    "R10 against R9": ("undecided", "undecided", "trade-off"),
}


def answers(verdict: SummaryVerdict) -> tuple[str, str, str]:
    return verdict.strict, verdict.do_no_harm, verdict.label


@pytest.mark.parametrize("row", TABLE_2)
def test_table_2(row: str) -> None:
    lost, won, a, b, signed_rank, t = TABLE_2[row]
    by_t = verdict_from_summary(N, won / 100 * N, lost / 100 * N, b - a, t, rounding=0.5)
    assert answers(by_t) == BY_T[row]
    assert by_t.direction == ("better" if by_t.strict == "better" else "none")
    by_wilcoxon = verdict_from_summary(N, won / 100 * N, lost / 100 * N, b - a, signed_rank, rounding=0.5)
    assert answers(by_wilcoxon) == (BY_T["R6"] if row == "R7" else BY_T[row])
    assert by_t.label in by_t.labels
    assert by_t.coverage_pvalues[0] <= by_t.coverage_pvalue <= by_t.coverage_pvalues[1]


def test_the_table_in_the_docs_says_the_same() -> None:
    text = (Path(__file__).parents[2] / "docs" / "numbers" / "lin-table-2.md").read_text(encoding="utf-8")
    printed = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| R")]
    assert len(printed) == len(TABLE_2)
    for (_, _, lost, won, pvalue, a, b, t, strict, do_no_harm, label, survives), row in zip(printed, TABLE_2, strict=True):
        shares = float(lost.rstrip("% ")), float(won.rstrip("% "))
        assert (*shares, float(a), float(b)) == TABLE_2[row][:4]
        counts = shares[1] / 100 * N, shares[0] / 100 * N
        verdict = verdict_from_summary(N, *counts, float(b) - float(a), float(t), rounding=0.5)
        assert (*answers(verdict), f"{verdict.coverage_pvalue:.2g}") == (strict, do_no_harm, label, pvalue)
        assert verdict.survives_rounding == (survives == "yes")


def test_rounding_of_the_percentages_matters_where_they_are_close() -> None:
    lost, won, a, b, _, t = TABLE_2["R3"]
    close = verdict_from_summary(N, won / 100 * N, lost / 100 * N, b - a, t, rounding=0.5)
    assert close.coverage_pvalue == pytest.approx(0.164, abs=5e-4)
    assert close.coverage_pvalues[0] == pytest.approx(0.00582, abs=5e-5)
    assert close.coverage_pvalues[1] == pytest.approx(1.0, abs=0.03)
    assert set(close.labels) == {"ranking gain, unconfirmed", "trade-off"}
    assert not close.survives_rounding
    lost, won, a, b, _, t = TABLE_2["R2"]
    assert verdict_from_summary(N, won / 100 * N, lost / 100 * N, b - a, t, rounding=0.5).survives_rounding


def test_other_pvalues_count_for_harm_only() -> None:
    assert verdict_from_summary(1000, 60, 20, 0.5, 0.2).label == "coverage gain, unconfirmed"
    assert verdict_from_summary(1000, 60, 20, 0.5, 0.2, other_pvalues=(0.001,)).label == "trade-off"
    assert verdict_from_summary(1000, 20, 20, -0.5, 0.2, other_pvalues=(0.001,)).label == "no significant difference"
    assert verdict_from_summary(1000, 20, 60, 0.5, 0.001).strict == "worse"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 0, 0, 0.0, 1.0), "n=0"),
        ((10, 11, 0, 0.0, 1.0), "won=11: must be a number of queries between 0 and n=10"),
        ((10, 1, -1, 0.0, 1.0), "lost=-1"),
        ((10, 1, 1, 0.0, 1.5), "a p-value of 1.5"),
    ],
)
def test_impossible_numbers(arguments: tuple[int, float, float, float, float], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        verdict_from_summary(*arguments)
    with pytest.raises(ParameterError, match="rounding=-1"):
        verdict_from_summary(10, 1, 1, 0.0, 1.0, rounding=-1)
