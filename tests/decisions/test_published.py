"""Published numbers: Table 2 of the paper, and counts against the runs behind them."""

from typing import Any

import pytest
import scipy.stats

import ir_outcomes as iro
from ir_outcomes.errors import ParameterError
from tests.helpers.comparisons import compare_ranks
from tests.helpers.runs import in_blocks

N = 5793
# Table 2 of Lin et al. 2021: % A wins, % B wins, ESL of A and B, p of t; and what section 5 says.
TABLE_2 = {
    "R2": (9, 16, 6.99, 9.14, 1.60e-07, "trade-off", "undecided"),
    "R3": (15, 14, 7.15, 5.99, 1.34e-05, "ranking gain, unconfirmed", "better"),
    "R4": (10, 15, 7.06, 8.13, 0.004918, "trade-off", "undecided"),
    "R5": (11, 15, 7.13, 7.27, 0.813828, "coverage gain, unconfirmed", "better"),
    "R6": (10, 15, 7.15, 7.19, 0.381946, "coverage gain, unconfirmed", "better"),
    "R7": (10, 15, 7.27, 6.98, 0.022938, "better on both facets", "better"),
    "R7 by Wilcoxon": (10, 15, 7.27, 6.98, 0.279188, "coverage gain, unconfirmed", "better"),
    "R8": (15, 15, 7.06, 5.71, 8.68e-08, "ranking gain, unconfirmed", "better"),
    "R9": (15, 14, 7.15, 5.15, 4.33e-17, "ranking gain, unconfirmed", "better"),
    "R10": (12, 15, 7.08, 5.88, 1.46e-06, "better on both facets", "better"),
    "R10 against R9": (12, 17, 5.22, 5.79, 0.006238, "trade-off", "undecided"),
}


@pytest.mark.parametrize("name", TABLE_2)
def test_table_2_of_lin(name: str) -> None:
    a_wins, b_wins, a, b, pvalue, label, do_no_harm = TABLE_2[name]
    won, lost = (round(percent * N / 100) for percent in (b_wins, a_wins))
    found = iro.verdict_from_summary(won, lost, N, b - a, pvalue)
    assert found.verdict is not None
    assert (found.verdict.label, found.verdict.do_no_harm) == (label, do_no_harm)
    strict = "better" if label == "better on both facets" else "undecided"
    assert found.verdict.strict == strict


@pytest.mark.parametrize(("won", "lost", "both"), [(8, 1, 30), (3, 0, 5), (0, 0, 4), (0, 1, 0)])
def test_coverage_is_that_of_runs_with_these_outcomes(won: int, lost: int, both: int) -> None:
    runs = compare_ranks(
        *in_blocks((won, None, 3), (lost, 2, None), (both, 4, 5)), allow=["unknown-ids"]
    )
    found = iro.verdict_from_summary(won, lost, won + lost + both)
    (row,) = found.rows()
    (of_runs,) = runs.rows()
    for name in ("difference", "interval_low", "interval_high", "p", "exact_p"):
        assert row[name] == of_runs[f"coverage_{name}"], name
    assert found.coverage is not None
    assert (found.coverage.found, found.coverage.tests) == (
        runs.coverage.found,
        runs.coverage.tests,
    )
    assert found.exact.pvalue == runs.coverage.tests["exact"].pvalue


def test_without_n_there_is_no_label() -> None:
    for found in (iro.verdict_from_summary(8, 1), iro.verdict_from_summary(8, 1, None, -0.5, 0.01)):
        assert found.exact.pvalue == pytest.approx(scipy.stats.binomtest(8, 9).pvalue)
        assert found.verdict is None
        assert found.coverage is None
    without_ranking = iro.verdict_from_summary(8, 1, 100).verdict
    assert without_ranking is not None
    assert without_ranking.label == "coverage gain, unconfirmed"
    assert (without_ranking.strict, without_ranking.do_no_harm) == (None, None)


@pytest.mark.parametrize(
    "numbers",
    [
        (-1, 2),
        (0.4439, 0.4400, 5193),
        (1.5, 2),
        (60, 50, 100),
        (1, 2, 0),
        (1, 2, 10, 0.5),
        (1, 2, 10, None, 0.5),
        (1, 2, 10, 0.5, 1.5),
        (1, 2, 10, float("nan"), 0.5),
    ],
)
def test_numbers_that_are_refused(numbers: Any) -> None:
    with pytest.raises(ParameterError):
        iro.verdict_from_summary(*numbers)
