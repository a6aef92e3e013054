from __future__ import annotations

import math
from pathlib import Path

import pytest

from ir_outcomes import verdict_from_summary
from ir_outcomes.comparison.verdict import SummaryVerdict
from ir_outcomes.errors import ParameterError

N = 5793
# Lin et al. 2021, Table 2: contender, % A wins, % B wins, A ESL, B ESL, WSR p, t p. And section 5 in words: the answers that
# follow from its two rules, strict and do no harm, and the label. Nothing confirms a direction with one facet where only means
# were published.
TABLE_2 = {
    "R2": ((9, 16, 6.99, 9.14, 3.22e-12, 1.60e-07), ("undecided", "undecided", "trade-off")),
    "R3": ((15, 14, 7.15, 5.99, 4.62e-06, 1.34e-05), ("undecided", "better", "ranking gain, unconfirmed")),
    "R4": ((10, 15, 7.06, 8.13, 0.000249, 0.004918), ("undecided", "undecided", "trade-off")),
    "R5": ((11, 15, 7.13, 7.27, 0.609428, 0.813828), ("undecided", "better", "coverage gain, unconfirmed")),
    "R6": ((10, 15, 7.15, 7.19, 0.886547, 0.381946), ("undecided", "better", "coverage gain, unconfirmed")),
    "R7": ((10, 15, 7.27, 6.98, 0.279188, 0.022938), ("better", "better", "better on both facets")),
    "R8": ((15, 15, 7.06, 5.71, 7.94e-08, 8.68e-08), ("undecided", "better", "ranking gain, unconfirmed")),
    "R9": ((15, 14, 7.15, 5.15, 2.03e-16, 4.33e-17), ("undecided", "better", "ranking gain, unconfirmed")),
    "R10": ((12, 15, 7.08, 5.88, 4.79e-06, 1.46e-06), ("better", "better", "better on both facets")),
    "R10 against R9": ((12, 17, 5.22, 5.79, 0.026583, 0.006238), ("undecided", "undecided", "trade-off")),
}


def answers(verdict: SummaryVerdict) -> tuple[str, str, str]:
    return verdict.strict, verdict.do_no_harm, verdict.label


def from_table(row: str, pvalue: float | None = None) -> SummaryVerdict:
    lost, won, a, b, _, t = TABLE_2[row][0]
    return verdict_from_summary(N, won / 100 * N, lost / 100 * N, b - a, t if pvalue is None else pvalue, rounding=0.5)


def test_table_2_and_the_table_in_the_docs() -> None:
    text = (Path(__file__).parents[2] / "docs" / "numbers" / "lin-table-2.md").read_text(encoding="utf-8")
    printed = [[cell.strip() for cell in line.strip("|").split("|")] for line in text.splitlines() if line.startswith("| R")]
    for cells, (row, (numbers, expected)) in zip(printed, TABLE_2.items(), strict=True):
        by_t = from_table(row)
        assert answers(by_t) == expected
        assert by_t.direction == ("better" if by_t.strict == "better" else "none")
        assert answers(from_table(row, numbers[4])) == (TABLE_2["R6"][1] if row == "R7" else expected)  # by Wilcoxon
        assert by_t.coverage_pvalues[0] <= by_t.coverage_pvalue <= by_t.coverage_pvalues[1]
        (_, _, lost, won, pvalue, a, b, t, *labels, survives) = cells
        assert (float(lost.rstrip("% ")), float(won.rstrip("% ")), float(a), float(b)) == numbers[:4]
        assert ([*answers(from_table(row, float(t)))], f"{by_t.coverage_pvalue:.2g}") == (labels, pvalue)
        assert by_t.survives_rounding == (survives == "yes")


def test_rounding_of_the_percentages_matters_where_they_are_close() -> None:
    close = from_table("R3")
    assert close.coverage_pvalue == pytest.approx(0.164, abs=5e-4)
    assert close.coverage_pvalues == pytest.approx((0.00582, 1.0), abs=0.03)
    assert set(close.labels) == {"ranking gain, unconfirmed", "trade-off"}


def test_other_pvalues_count_for_harm_only() -> None:
    assert verdict_from_summary(1000, 60, 20, 0.5, 0.2).label == "coverage gain, unconfirmed"
    assert verdict_from_summary(1000, 60, 20, 0.5, 0.2, other_pvalues=(0.001,)).label == "trade-off"
    assert verdict_from_summary(1000, 20, 20, -0.5, 0.2, other_pvalues=(0.001,)).label == "no significant difference"
    assert verdict_from_summary(1000, 20, 60, 0.5, 0.001).strict == "worse"


@pytest.mark.parametrize(
    ("arguments", "rounding", "message"),
    [
        ((0, 0, 0, 0.0, 1.0), 0.0, "n=0"),
        ((10, 11, 0, 0.0, 1.0), 0.0, "won=11: must be a number of queries between 0 and n=10"),
        ((10, 6, 5, 0.0, 1.0), 0.0, "won=6 and lost=5 are more than the n=10 queries"),
        ((10, 1, 0.5, 0.0, 1.0), 0.0, "lost=0.5: must be a whole number of queries, or a published percentage"),
        ((1000, 15.2, 9, 0.0, 1.0), 0.5, "won=15.2: must be a whole number of queries, or a published percentage"),
        ((10, 1, 1, math.nan, 1.0), 0.0, "ranking_difference=nan"),
        ((10, 1, 1, 0.0, 1.5), 0.0, "a p-value of 1.5"),
        ((10, 1, 1, 0.0, 1.0), -1.0, "rounding=-1"),
    ],
)
def test_impossible_numbers(arguments: tuple[int, float, float, float, float], rounding: float, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        verdict_from_summary(*arguments, rounding=rounding)
