"""Published numbers: Table 2 of the paper, and shares against all runs that could be behind them."""

from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal
from typing import Any

import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import ir_outcomes as iro
from ir_outcomes.comparison.published import Counts
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
    assert iro.SummaryVerdict.from_json(found.to_json()) == found


def test_without_n_or_ranking_there_is_no_label() -> None:
    for found in (
        iro.verdict_from_summary(8, 1),
        iro.verdict_from_summary(8, 1, None, -0.5, 0.01),
        iro.verdict_from_summary(8, 1, 100),
    ):
        assert found.exact.pvalue == pytest.approx(scipy.stats.binomtest(8, 9).pvalue)
        assert found.verdict is None
        assert (found.coverage is None) == (found.n is None)


def printed_as(share: str, n: int) -> set[int]:
    """The numbers of n queries whose share is printed like this, with halves rounded up or down."""
    places = Decimal(1).scaleb(-len(share.partition(".")[2]))
    return {
        count
        for count in range(n + 1)
        for rule in (ROUND_HALF_UP, ROUND_HALF_DOWN)
        if (Decimal(count) / n).quantize(places, rule) == Decimal(share)
    }


@given(
    n=st.integers(1, 40),
    a=st.integers(0, 40),
    b=st.integers(0, 40),
    places=st.integers(1, 4),
    alpha=st.sampled_from([0.05, 0.01]),
)
def test_all_runs_that_can_be_behind_two_shares(
    n: int, a: int, b: int, places: int, alpha: float
) -> None:
    shares = [f"{count / n:.{places}f}" for count in (min(a, n), min(b, n))]
    found = iro.verdict_from_means(n, *shares, measure="coverage", alpha=alpha)
    possible = [printed_as(share, n) for share in shares]
    assert (found.answered_baseline, found.answered_contender) == tuple(
        (min(counts), max(counts)) for counts in possible
    )
    significant: dict[int, dict[int, bool]] = {}  # by net number, then by queries that differ
    for of_a in possible[0]:
        for of_b in possible[1]:
            for both in range(max(0, of_a + of_b - n), min(of_a, of_b) + 1):
                won, lost = of_b - both, of_a - both
                coverage = iro.verdict_from_summary(won, lost, n, alpha=alpha).coverage
                assert coverage is not None
                answers = significant.setdefault(won - lost, {})
                answers[won + lost] = coverage.pvalue <= alpha
    assert found.net == (min(significant), max(significant))
    assert found.most_differing == max(max(answers) for answers in significant.values())
    every = {answer for answers in significant.values() for answer in answers.values()}
    several = any(len(counts) > 1 for counts in possible)
    expected = {"never": {False}, "always": {True}}.get(found.significant, {True, False})
    assert every == expected or (found.significant == "depends" and several)
    assert found.threshold is not None
    sizes = list(map(abs, significant))
    for net, answers in significant.items():
        for differing, answer in answers.items():
            if abs(net) == min(sizes):
                assert answer == (0 < differing <= found.threshold.low)
            if abs(net) == max(sizes):
                assert answer == (0 < differing <= found.threshold.high)


def test_shares_that_no_number_of_queries_has() -> None:
    for share in ("0.15", "15 %", "15.0%", ".15"):
        found = iro.verdict_from_means(10, share, ".5", measure="P@1")
        assert found.significant == "impossible"
        assert (found.answered_baseline, found.net, found.threshold) == (None, None, None)
    everything = iro.verdict_from_means(10, "0 %", "100 %", measure="Success@5")
    assert everything.threshold == Counts(10, 10)  # not more than there are


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((5193, 0.4439, ".44", "coverage"), "baseline"),
        ((5193, ".", ".44", "coverage"), "must be a share as text with all printed decimals"),
        ((5193, "90.3", ".44", "coverage"), 'such as "90.3 %"'),
        ((5193, ".44", "x", "coverage"), "contender='x'"),
        ((0, ".44", ".45", "coverage"), "n=0"),
        ((5193, ".44", ".45", None), "name the measure"),
        ((5193, ".44", ".45", "MRR@10"), "no share of queries"),
        ((5193, ".44", ".45", "nDCG@10"), "no share of queries"),
    ],
)
def test_means_that_are_refused(arguments: Any, message: str) -> None:
    *numbers, measure = arguments
    with pytest.raises(ParameterError, match=message):
        iro.verdict_from_means(*numbers, measure=measure)


@pytest.mark.parametrize(
    "numbers",
    [
        (-1, 2),
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
