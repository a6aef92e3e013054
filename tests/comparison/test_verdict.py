"""The decision table of the verdict, over every combination of findings; and the verdict of published numbers."""

import itertools
import math
from pathlib import Path

import numpy as np
import pytest

from ir_outcomes import SummaryVerdict, verdict_from_summary
from ir_outcomes.comparison.verdict import LABELS, Findings, confirmed_by, decide, direction_of
from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics import tests as paired

every = [Findings(*flags) for flags in itertools.product((False, True), repeat=4)]  # type: ignore[arg-type]
# A facet that is significant after correction is significant before it, and does not improve and worsen by one test.
possible = [f for f in every if f.up <= f.gain and f.down <= f.hurt and not (f.up and f.down)]
pairs = list(itertools.product(possible, repeat=2))


def columns(side: int) -> Findings:
    return Findings(*(np.array([getattr(pair[side], name) for pair in pairs], dtype=bool) for name in Findings._fields))


@pytest.mark.parametrize("confirmed", [None, -1, 0, 1])
def test_every_combination(confirmed: int | None) -> None:
    verdicts = decide(columns(0), columns(1), None if confirmed is None else np.full(len(pairs), confirmed))
    found = zip(verdicts.labels(), verdicts.direction, verdicts.strict, verdicts.do_no_harm, strict=True)
    for (coverage, ranking), (label, direction, strict, do_no_harm) in zip(pairs, found, strict=True):
        ups, hurts, downs, gains = (int(a) + int(b) for a, b in zip(coverage, ranking, strict=True))
        assert (strict == 1, strict == -1) == (ups == 2 and hurts == 0, downs == 2 and gains == 0)
        assert (do_no_harm == 1, do_no_harm == -1) == (ups >= 1 and hurts == 0, downs >= 1 and gains == 0)
        expected = (
            "better on both facets" if ups == 2 and hurts == 0
            else "better without harm" if ups and not hurts and confirmed == 1
            else f"{'coverage' if coverage.up else 'ranking'} gain, unconfirmed" if ups and not hurts
            else "worse on both facets" if downs == 2 and gains == 0
            else "worse without gain" if downs and not gains and confirmed == -1
            else f"{'coverage' if coverage.down else 'ranking'} loss, unconfirmed" if downs and not gains
            else "trade-off" if (ups and hurts) or (downs and gains)
            else "no significant difference"
        )  # fmt: skip
        assert label == expected
        assert direction == {"better": 1, "worse": -1}.get(label.split()[0], 0)
    assert not verdicts.guard.any()


@pytest.mark.parametrize("confirmed", [-1, 0, 1])
@pytest.mark.parametrize("direction", [1, -1])
def test_the_guard_contradicts_gains_and_losses_confirmed_or_not(confirmed: int, direction: int) -> None:
    everywhere, directions = np.full(len(pairs), confirmed), np.full(len(pairs), direction)
    plain, guarded, insignificant = (
        decide(columns(0), columns(1), everywhere, [paired.Tests(np.full(len(pairs), p), directions)]) for p in (1, 0.01, 0.06)
    )
    assert (guarded.guard == (plain.do_no_harm == direction)).all()
    expected = ["trade-off" if acted else label for label, acted in zip(plain.labels(), guarded.guard, strict=True)]
    assert guarded.labels() == expected
    assert (guarded.do_no_harm == plain.do_no_harm).all()
    assert not insignificant.guard.any()


def test_all_queries_confirm_by_either_test_in_the_direction_of_their_mean() -> None:
    # mean: p and direction; Wilcoxon: p and direction; what they confirm where lower is better
    table = np.array([
        (0.01, -1, 0.5, 0, 1),
        (0.2, -1, 0.01, -1, 1),
        (0.2, -1, 0.01, 1, 0),  # Wilcoxon the other way
        (0.2, 0, 0.01, -1, 0),  # a mean without direction
        (0.2, -1, 0.2, -1, 0),
        (0.01, 1, 0.01, -1, -1),
    ])  # fmt: skip
    tests = [paired.Tests(table[:, p], table[:, p + 1].astype(int)) for p in (0, 2)]
    for higher_is_better, sign in ((False, 1), (True, -1)):
        assert (confirmed_by(tests, 0.05, higher_is_better=higher_is_better) == sign * table[:, 4]).all()


def test_labels_stand_from_best_to_worst() -> None:
    assert [direction_of(label) for label in LABELS] == ["better"] * 2 + ["none"] * 6 + ["worse"] * 2


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
        ((10, 11, 0, 0.0, 1.0), 0.0, "`won=11`: must be a number of queries between 0 and 10"),
        ((10, 6, 5, 0.0, 1.0), 0.0, "`won=6`, `lost=5`, `n=10`: must be at most n together"),
        ((10, 1, 0.5, 0.0, 1.0), 0.0, "`lost=0.5`: must be a whole number of queries, or a published percentage"),
        ((5193, 59, 79, 0.1, 1.0), 0.5, "`won=59`: is 1.14 % of n=5193, which is no percentage that was rounded by 0.5"),
        ((10, 1, 1, math.nan, 1.0), 0.0, "ranking_difference=nan"),
        ((10, 1, 1, 0.0, 1.5), 0.0, "`pvalue=1.5`: must be between 0 and 1"),
        ((10, 1, 1, 0.0, 1.0), -1.0, "rounding=-1"),
    ],
)
def test_impossible_numbers(arguments: tuple[int, float, float, float, float], rounding: float, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        verdict_from_summary(*arguments, rounding=rounding)
