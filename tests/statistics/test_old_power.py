import math

import numpy as np
import pytest
import scipy.stats
import statsmodels.stats.power
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.statistics import (
    Interval,
    coverage_interval,
    detectable_mean,
    detectable_proportion,
    margin_interval,
    queries_for_coverage,
    queries_for_margin,
    queries_for_mean,
)
from ir_outcomes.statistics.intervals import effective_df
from ir_outcomes.statistics.old_power import _critical, _power, power_of_proportion


@given(shift=st.floats(0, 8), df=st.integers(1, 3000), alpha=st.sampled_from([0.1, 0.05, 0.0025]))
def test_power_of_mean_equals_the_noncentral_t(shift: float, df: int, alpha: float) -> None:
    critical = scipy.stats.t.isf(alpha / 2, df)
    expected = scipy.stats.nct.sf(critical, df, shift) + np.nan_to_num(
        scipy.stats.nct.cdf(-critical, df, shift)
    )
    assert _power(shift, df, _critical(df, alpha)) == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize(
    ("n", "won", "lost", "effect"), [(5193, 59, 79, 0.004), (200, 6, 4, 0.02), (54, 3, 2, 0.05)]
)
def test_queries_for_coverage_are_what_detectable_proportion_says(
    n: int, won: int, lost: int, effect: float
) -> None:
    plan = queries_for_coverage(n, won, lost, -effect, alpha=0.05)
    assert plan.queries is not None
    assert plan.upper is not None
    share = (won + lost) / n
    assert power_of_proportion(plan.queries, share, effect, 0.05) >= 0.8
    assert power_of_proportion(plan.queries - 1, share, effect, 0.05) < 0.8
    assert detectable_proportion(plan.queries, share, 0.05, 0.8) == pytest.approx(effect, rel=0.01)
    assert plan.upper > plan.queries
    family = queries_for_coverage(n, won, lost, effect, alpha=0.05 / 20)
    assert (family.queries or 0) > 1.5 * plan.queries


def test_queries_for_mean_are_what_detectable_mean_says() -> None:
    d = np.random.default_rng(0).normal(0, 3, 100)
    plan = queries_for_mean(d, 100, 0.4, alpha=0.01)
    assert plan.queries is not None
    assert detectable_mean(plan.queries, d.std(ddof=1), 0.01) == pytest.approx(0.4, rel=0.005)
    assert (detectable_mean(plan.queries - 1, d.std(ddof=1), 0.01) or 0) > 0.4
    thinned = queries_for_mean(d, 200, 0.4, alpha=0.01)
    assert thinned.queries == pytest.approx(2 * plan.queries, rel=0.02)
    assert (thinned.upper or 0) > (thinned.queries or 0)


@pytest.mark.parametrize("n", [60, 90, 400])
def test_the_upper_number_of_queries_is_that_of_the_largest_likely_deviation(n: int) -> None:
    """The upper 80 % limit of a variance that is uncertain, and of the share of queries that differ, which is too."""
    d = np.random.default_rng(2).normal(0, 3, 60)
    plan = queries_for_mean(d, n, 0.7, alpha=0.05)
    share = 60 / n
    df = 2 / (2 / effective_df(d) + share * (1 - share) / n / share**2)
    limit = math.sqrt(df / scipy.stats.chi2.ppf(0.2, df))
    assert plan.upper == queries_for_mean(limit * d, n, 0.7, alpha=0.05).queries


@pytest.mark.parametrize(
    ("margin", "largest", "whole"), [(0.5, 99.0, False), (1.0, 9.0, False), (0.1, 1.0, True)]
)
def test_so_many_queries_pass_a_gate_in_four_of_five_samples(
    margin: float, largest: float, whole: bool
) -> None:
    """Samples of equally good runs, by the interval that decides; some queries have no difference."""
    random = np.random.default_rng(3)
    pilot = random.choice(
        [-1.0, 0.0, 0.0, 0.0, 1.0] if whole else [-8.0, -1.0, 0.0, 0.0, 0.0, 1.0, 8.0], 200
    )
    n = len(pilot) if whole else 250
    needed = queries_for_margin(pilot, n, margin, largest, alpha=0.05, whole=whole)
    assert needed.queries is not None
    passed = 0
    for _ in range(1000):
        size = needed.queries if whole else random.binomial(needed.queries, len(pilot) / n)
        sample = random.choice(
            pilot - pilot.mean() if not whole else pilot * random.choice([-1, 1]), size
        )
        interval = (
            coverage_interval(sample, 1.0, 0.95)
            if whole
            else margin_interval(sample, largest, 0.95)
        )
        passed += interval is not None and interval.high < margin
    assert passed / 1000 == pytest.approx(0.8, abs=0.06)
    assert (needed.upper or 0) >= needed.queries


def test_runs_that_never_differed_pass_where_the_smallest_margin_does() -> None:
    needed = queries_for_margin(np.zeros(50), 50, 0.5, 99.0, alpha=0.05)
    assert (needed.queries, needed.upper) == (778, None)
    for size, is_enough in ((777, False), (778, True)):
        assert (
            (margin_interval(np.zeros(size), 99.0, 0.95) or Interval(0, 1)).high < 0.5
        ) == is_enough
    assert queries_for_margin([], 10, 0.5, 99.0, alpha=0.05).queries is None
    assert queries_for_margin([1.0, 2.0], 2, 1e-6, 99.0, alpha=0.05).queries is None


@pytest.mark.parametrize(("n", "alpha"), [(3, 0.001), (54, 0.05), (5193, 0.0025)])
def test_detectable_mean_equals_statsmodels(n: int, alpha: float) -> None:
    found = detectable_mean(n, 2.5, alpha)
    assert found is not None
    if n > 3:  # for fewer, statsmodels has no value
        assert statsmodels.stats.power.TTestPower().power(found / 2.5, n, alpha) == pytest.approx(
            0.8, abs=1e-4
        )


def test_what_cannot_be_detected_or_planned() -> None:
    assert detectable_mean(1, 2.5, 0.05) is detectable_mean(9, 0.0, 0.05) is None
    assert (detectable_mean(3, 40.0, 0.05) or 0) > 100
    assert detectable_mean(3, 40.0, 0.05, largest=100.0) is None
    # The noncentral t of SciPy 1.11 to 1.14 does not return with one degree of freedom and a small
    # level.
    assert (detectable_mean(2, 1.0, 1e-12) or 0) > 1e11
    assert detectable_proportion(0, 0.0, 0.05) is detectable_proportion(4, 0.5, 0.05) is None
    assert detectable_proportion(6000, 0.03, 0.05) == pytest.approx(
        2.8 * math.sqrt(0.03 / 6000), rel=0.03
    )
    for d in ([], [3.0], [2.0, 2.0, 2.0]):
        plan = queries_for_mean(d, 10, 0.5, alpha=0.05)
        assert plan.queries is plan.upper is None
    assert queries_for_mean([1000, -1000, 0], 3, 1e-3, alpha=0.05).queries is None
    assert queries_for_coverage(20, 5, 5, 1e-5, alpha=0.05).queries is None
    # A pilot in which one run answers everything, and the other nothing.
    assert (queries_for_coverage(20, 20, 0, 1.0, alpha=0.05).queries or 99) < 20
    # A pilot without discordant queries.
    without = queries_for_coverage(200, 0, 0, 0.001, alpha=0.05)
    assert (without.upper or 0) > 2 * (without.queries or math.inf)


@pytest.mark.parametrize(("n", "share"), [(20, 0.1), (40, 0.3)])
def test_detectable_proportion_has_that_power(n: int, share: float) -> None:
    """Brute force over all outcomes of the unconditional model."""
    found = detectable_proportion(n, share, 0.05, 0.8)
    assert found is not None
    psi = max(share, found)

    def power(difference: float) -> float:
        total = 0.0
        for m in range(n + 1):
            chance = scipy.stats.binom.pmf(m, n, psi)
            if chance < 1e-12:
                continue
            won = np.arange(m + 1)
            rejected = (
                np.array([scipy.stats.binomtest(int(w), m).pvalue <= 0.05 for w in won])
                if m
                else np.array([False])
            )
            total += (
                chance
                * scipy.stats.binom.pmf(won, m, (psi + difference) / (2 * psi))[rejected].sum()
            )
        return total

    assert power(found) == pytest.approx(0.8, abs=1e-3)


@pytest.mark.parametrize("imaginary", [10.0, 30.0])
def test_two_imaginary_queries_weigh_by_the_number_that_is_needed(imaginary: float) -> None:
    """They add 2 imaginary^2 / N to the variance of a query, so that N, which is in proportion to it, is a fixed point."""
    d = np.tile([1.0, -1.0, 2.0, -2.0, 0.0], 20)
    without = queries_for_mean(d, 100, 0.2, alpha=0.05).queries
    found = queries_for_mean(d, 100, 0.2, alpha=0.05, imaginary=imaginary).queries
    assert without is not None
    expected = float(without)
    for _ in range(200):
        expected = without * (1 + 2 * imaginary**2 / expected / d.var())
    assert found == pytest.approx(expected, rel=0.03)
