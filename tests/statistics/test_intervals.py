import math
from collections.abc import Callable

import numpy as np
import pytest
import scipy.stats
import statsmodels.stats.proportion
import statsmodels.stats.weightstats
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics import (
    Interval,
    adjust,
    binomial_test,
    bounded_mean_interval,
    coverage_interval,
    detectable_proportion,
    differences,
    linearized,
    margin_interval,
    mean_interval,
    queries_for_coverage,
    queries_for_mean,
    ratio_interval,
    t_test,
)
from ir_outcomes.statistics.intervals import effective_df, equivalent, harm, odds_ratio, t_interval


@given(d=st.lists(st.integers(-20, 20), min_size=4, max_size=40))
def test_effective_df_follows_the_kurtosis_of_scipy(d: list[int]) -> None:
    n = len(d)
    if len(set(d)) == 1:
        assert effective_df(d) == n - 1
        return
    excess = max(0.0, float(scipy.stats.kurtosis(np.array(d, float), bias=False)))
    relative_variance = excess / n + 2 / (n - 1)
    assert effective_df(d) == pytest.approx(min(n - 1, 2 / relative_variance), rel=1e-9)
    assert effective_df([3e200 * x for x in d]) == pytest.approx(effective_df(d), rel=1e-9)


@given(
    d=st.lists(st.integers(-20, 20), min_size=2, max_size=40),
    level=st.sampled_from([0.8, 0.95, 0.9975]),
)
def test_mean_interval_is_t_with_the_effective_degrees_of_freedom_and_mirrors(
    d: list[int], level: float
) -> None:
    if not any(d):
        assert mean_interval(d, level, 0) == (0, 0)
        return
    found, possible = mean_interval(d, level), mean_interval(d, level, 20)
    assert found is not None
    assert possible is not None
    assert mean_interval([-x for x in d], level) == (-found.high, -found.low)
    if len(set(d)) == 1:
        assert list(found) == [d[0], d[0]]
        return
    expected = scipy.stats.t.interval(level, effective_df(d), np.mean(d), scipy.stats.sem(d))
    np.testing.assert_allclose(found, expected, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(possible, np.clip(expected, -20, 20), rtol=1e-8, atol=1e-12)


def test_mean_interval_of_equal_differences_and_of_none_by_its_definition() -> None:
    # The computed variance of three times 0.1 is not 0.
    assert mean_interval([0.1] * 3, 0.95) == (
        0.1,
        0.1,
    )
    for too_few in ([], [4.0], [0, 0, 0]):
        assert mean_interval(too_few, 0.95) is None
    assert mean_interval(np.zeros(5000), 0.95, 99) == pytest.approx(
        (-0.0730129, 0.0730129), rel=1e-6
    )
    assert mean_interval([0] * 50, 0.95, 10) == pytest.approx(
        (-10 * (1 - 0.025**0.02), 10 * (1 - 0.025**0.02))
    )
    assert mean_interval([0, 0, 0], 0.95, largest=0) == (0, 0)
    assert mean_interval([0, 0, 2], 0.95, 99) == mean_interval([0, 0, 2], 0.95)


scores = st.lists(st.sampled_from([0.0, 1 / 7, 0.1, 0.5, 0.9, 1.0]), min_size=1, max_size=60)


@given(values=scores, level=st.sampled_from([0.8, 0.95, 0.9975]))
def test_the_interval_of_a_bounded_mean_stays_inside_contains_it_and_mirrors(
    values: list[float], level: float
) -> None:
    found = bounded_mean_interval(values, level)
    assert found is not None
    assert 0 <= found.low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= found.high <= 1
    assert found.high - found.low > 0.01
    assert bounded_mean_interval([1 - x for x in values], level) == pytest.approx(
        (1 - found.high, 1 - found.low), abs=1e-9
    )
    scaled = bounded_mean_interval([2 + 3 * x for x in values], level, (2, 5))
    assert scaled == pytest.approx((2 + 3 * found.low, 2 + 3 * found.high), rel=1e-9)


def test_the_interval_of_a_bounded_mean_is_wilsons_of_shares() -> None:
    """Of zeros and ones, with t for z and one more value: nearly Wilson's interval."""
    values = [1] * 700 + [0] * 300
    expected = scipy.stats.binomtest(700, 1000).proportion_ci(0.95, method="wilson")
    assert bounded_mean_interval(values, 0.95) == pytest.approx(
        (expected.low, expected.high), abs=2e-4
    )
    assert bounded_mean_interval([1 / 6] + [1] * 29, 0.95) == pytest.approx(
        (0.8476, 0.9955), abs=1e-4
    )
    assert bounded_mean_interval([], 0.95) is None


def test_ratio_interval_by_the_jackknife() -> None:
    rng = np.random.default_rng(2)
    x, y = rng.gamma(20, 1, 50), rng.gamma(20, 1.2, 50)
    ratio = y.mean() / x.mean()
    pseudo = [
        50 * math.log(ratio) - 49 * math.log(np.delete(y, i).mean() / np.delete(x, i).mean())
        for i in range(50)
    ]
    half = scipy.stats.t.ppf(0.975, effective_df(pseudo)) * scipy.stats.sem(pseudo)
    expected = ratio * np.exp([-half, half])
    pairs = np.repeat(np.arange(25), 2)
    of_sums = ratio_interval(x.reshape(25, 2).sum(axis=1), y.reshape(25, 2).sum(axis=1), 0.95)
    assert ratio_interval(x, y, 0.95, pairs) == pytest.approx(of_sums)
    assert ratio_interval(x, y, 0.95) == pytest.approx(tuple(expected), rel=1e-10)
    assert ratio_interval(y, x, 0.95) == pytest.approx(tuple(1 / expected[::-1]), rel=1e-10)
    assert ratio_interval([1, 2, 7], [3, 6, 21], 0.95) == pytest.approx((3, 3), rel=1e-12)
    assert ratio_interval([1], [3], 0.95) is None
    assert ratio_interval([1, 2], [3, 5], 0.95) is not None
    # Nothing beyond the largest possible ratio, and its inverse, is in an interval.
    wide = [1, 1, 9], [9, 1, 1]
    low, high = ratio_interval(*wide, 0.95) or (1.0, 1.0)
    assert low < 1 / 9
    assert high > 9
    assert ratio_interval(*wide, 0.95, largest=9) == pytest.approx((1 / 9, 9))
    assert ratio_interval([0, 0], [1, 2], 0.95) is ratio_interval([0, 3], [1, 2], 0.95) is None


@given(
    relevant=st.lists(st.sampled_from([1, 1, 2, 5, 29]), min_size=2, max_size=60),
    seed=st.integers(0, 99),
)
def test_coverage_interval_by_its_formula(relevant: list[int], seed: int) -> None:
    n, counts = len(relevant), np.array(relevant)
    d = np.random.default_rng(seed).integers(-counts, counts + 1) / counts
    a = (1 / counts).mean()
    w = n + 2 * a
    center = d.sum() / w
    variance = ((np.sum(d**2) + 2 * a**2) / w - center**2) * (1 + (1 - a) / (n - 1)) / w
    quantile = scipy.stats.t.ppf(0.975, (n - 1) / (1 - a)) if a < 1 else scipy.stats.norm.ppf(0.975)
    half = quantile * math.sqrt(variance)
    found = coverage_interval(d, a, 0.95)
    assert found is not None
    assert found == pytest.approx(
        (max(-1, center - half), min(1, center + half)), rel=1e-10, abs=1e-12
    )
    assert coverage_interval(-d, a, 0.95) == (-found.high, -found.low)
    assert coverage_interval([], 1.0, 0.95) is coverage_interval([0.5], 0.5, 0.95) is None


def test_coverage_interval_does_not_jump_when_one_document_moves() -> None:
    """Both runs find the same documents of 54 queries, or all but one: -4.95 to 4.95 and -0.35 to 0.12 points before."""
    same, fewer = (
        coverage_interval([moved] + [0] * 53, 1 / 30, 0.95) or Interval(0, 0)
        for moved in (0, -1 / 30)
    )
    assert 0 < same.high == -same.low < 0.005
    assert fewer.low < same.low
    assert same.high - same.low < fewer.high - fewer.low < 2 * (same.high - same.low)


def test_harm_excluded_is_two_one_sided_tests() -> None:
    rng = np.random.default_rng(5)
    for margin in (0.05, 0.3, 0.6):
        d = rng.normal(0.1, 1, 40)
        interval = t_interval(d.mean(), d.std(ddof=1) / math.sqrt(40), 40 - 1, 0.95)
        p, (_, p_low, _), (_, p_high, _) = statsmodels.stats.weightstats.ttost_paired(
            d, np.zeros(40), -margin, margin
        )
        assert (harm(interval, margin, higher_is_better=True) == "harm excluded") == (p_low < 0.025)
        assert (harm(interval, margin, higher_is_better=False) == "harm excluded") == (
            p_high < 0.025
        )
        assert equivalent(interval, margin) == (p < 0.025)


def test_a_margin_that_is_exactly_the_end_is_neither_excluded_nor_shown() -> None:
    interval = Interval(-0.5, -0.1)
    of_gain = {0.6: "harm excluded", 0.5: "inconclusive", 0.1: "inconclusive", 0.05: "harm shown"}
    for margin, status in of_gain.items():
        assert harm(interval, margin, higher_is_better=True) == status
        assert harm(interval, margin, higher_is_better=False) == "harm excluded"
        assert equivalent(interval, margin) == (margin == 0.6)
    assert (harm(None, 0.5, higher_is_better=True), equivalent(None, 0.5)) == (
        "inconclusive",
        False,
    )


def test_margins_are_compared_with_the_interval_of_two_more_queries() -> None:
    """The t interval of n + 2 values by SciPy, with the degrees of freedom of their kurtosis; by cluster of G + 2."""
    d = np.random.default_rng(8).integers(-5, 6, 60).astype(float)
    values = np.append(d, [99, -99])
    df = effective_df(values)
    expected = scipy.stats.t.interval(0.95, df, values.mean(), scipy.stats.sem(values))
    assert margin_interval(d, 99, 0.95) == pytest.approx(expected)
    assert df < 10
    clusters = np.repeat(np.arange(20), 3)
    together = linearized(
        np.append(d, np.repeat([99, -99], 3)), np.append(clusters, [20] * 3 + [21] * 3)
    )
    expected = scipy.stats.t.interval(
        0.95, effective_df(together), together.mean(), scipy.stats.sem(together)
    )
    assert margin_interval(d, 99, 0.95, clusters) == pytest.approx(expected)
    one_each = margin_interval(d, 99, 0.95, np.arange(60))
    assert one_each == pytest.approx(margin_interval(d, 99, 0.95))


@pytest.mark.parametrize(("n", "half"), [(43, 9.1), (54, 7.2), (100, 3.9), (200, 2.0), (1000, 0.4)])
def test_the_smallest_margin_that_equal_runs_pass_at_cutoff_100(n: int, half: float) -> None:
    low, high = margin_interval(np.zeros(n), 100, 0.95) or Interval(0, 0)
    assert (-low, round(high, 1)) == (high, half)


def test_the_interval_for_margins_is_continuous_and_within_what_is_possible() -> None:
    """One rank on one of 400 queries changes it by little; before, 0.91 became 0.013."""
    none, one = (
        margin_interval([moved] + [0] * 399, 99, 0.95) or Interval(0, 0) for moved in (0, 1)
    )
    assert one == pytest.approx(none, abs=0.01)
    assert none.high == pytest.approx(0.97, abs=0.01)
    assert margin_interval([5.0], 9, 0.95) == Interval(-9, 9)
    assert margin_interval([], 9, 0.95) is None
    assert margin_interval([0, 0], 0, 0.95) == Interval(0, 0)


def test_published_intervals_of_paired_counts() -> None:
    """Cavo et al. 2012 and Ezra et al. 2010, in Fagerland, Lydersen and Laake 2017, ch. 8 (contingencytables, test-ch8.R)."""
    of_counts = coverage_interval(np.repeat([1, -1, 0], [6, 16, 139]), 1.0, 0.95)
    assert of_counts == pytest.approx((-0.1195, -0.0032), abs=5e-5)
    assert binomial_test(6, 16).pvalue == pytest.approx(0.052479, abs=5e-7)
    assert odds_ratio(25, 2) == 12.5
    assert odds_ratio(3, 0) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_interval([4.0], 95), "`level=95`: must be a number between 0 and 1"),
        (lambda: bounded_mean_interval([0.5, 1.1], 0.95), "outside 0 to 1"),
        (lambda: coverage_interval([50, -20], 1.0, 0.95), "must be differences of shares"),
        (lambda: coverage_interval([0.5, 0], 0, 0.95), "`step=0`: must be above 0 and at most 1"),
        (lambda: ratio_interval([1, -2, 5], [1, 2, 9], 0.95), "needs a scale that starts at 0"),
        (
            lambda: detectable_proportion(10, 0.5, 0.05, 0.03),
            r"`power=0\.03`: must be a number between 0\.05",
        ),
        (
            lambda: detectable_proportion(10, 1.5, 0.05),
            r"`discordant_share=1\.5`: must be from 0 to 1",
        ),
        (
            lambda: queries_for_coverage(3, 5, 5, 0.02, alpha=0.05),
            "`n=3`: a pilot has at least 1 query, and those won and lost",
        ),
        (
            lambda: queries_for_coverage(200, 3, 4, 0, alpha=0.05),
            "`effect=0`: must be a number other than 0",
        ),
        (
            lambda: queries_for_coverage(200, 3, 4, 2, alpha=0.05),
            "`effect=2`: must be a difference of shares",
        ),
        (lambda: queries_for_mean([1, 2, 3], 2, 1, alpha=0.05), "at most one for each query"),
        (lambda: differences([1, 2], [1]), "baseline has 2 values and contender 1: must be paired"),
        (lambda: differences([1, 2], [1, math.nan]), "contender holds NaN or an infinity"),
        (lambda: binomial_test(-1, 3), "`won=-1`, `lost=3`: must be counts, 0 or more"),
        (lambda: adjust([0.5], "sidak"), "must be one of holm, bonferroni, fdr_bh, none"),
        (lambda: adjust([math.nan], "holm"), "between 0 and 1"),
        (lambda: t_test([1, 2, 3], [0, 1]), "clusters has the shape"),
    ],
)
def test_what_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        call()
