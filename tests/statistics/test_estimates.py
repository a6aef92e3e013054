from __future__ import annotations

import math
from typing import Any
from unittest import mock

import numpy as np
import pytest
import scipy.stats
import statsmodels.stats.contingency_tables
import statsmodels.stats.multitest
import statsmodels.stats.power
import statsmodels.stats.proportion
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics import (
    Interval,
    adjust,
    binomial_test,
    coverage_interval,
    detectable_mean,
    detectable_proportion,
    mean_interval,
    odds_ratio_interval,
    randomized_tukey_hsd,
    ratio_interval,
    sign_flip,
)
from ir_outcomes.statistics.intervals import hodges_lehmann, interval_of_mean, odds_ratio, ratio_of_means

pvalues = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(p=pvalues, method=st.sampled_from(["holm", "bonferroni", "fdr_bh"]))
def test_corrections_equal_statsmodels(p: list[float], method: str) -> None:
    with mock.patch("gc.collect"):  # statsmodels calls it each time, half a second in a large process
        expected = statsmodels.stats.multitest.multipletests(p, method=method)[1]
    np.testing.assert_allclose(adjust(p, method), expected, rtol=1e-12)


def test_corrections_of_nothing_and_of_nonsense() -> None:
    assert adjust([], "holm").tolist() == []
    assert adjust([0.2, 0.7], "none").tolist() == [0.2, 0.7]
    with pytest.raises(ParameterError, match="must be one of holm, bonferroni, fdr_bh, none"):
        adjust([0.5], "sidak")
    with pytest.raises(ParameterError, match="between 0 and 1"):
        adjust([math.nan], "holm")


def test_binomial_is_the_exact_mcnemar_test_of_statsmodels() -> None:
    for won, lost in ((0, 3), (5, 5), (12, 4), (1, 30)):
        expected = statsmodels.stats.contingency_tables.mcnemar([[7, won], [lost, 9]], exact=True).pvalue
        assert binomial_test(won, lost).pvalue == pytest.approx(expected, rel=1e-12)


def test_mean_interval_equals_scipy() -> None:
    values = np.random.default_rng(0).normal(1.0, 3.0, 40)
    expected = scipy.stats.ttest_1samp(values, 0).confidence_interval(0.9)
    found = interval_of_mean(float(values.mean()), float(values.std(ddof=1)), 40, 0.9)
    np.testing.assert_allclose(np.array(found), expected, rtol=1e-12)
    for too_little in ([], [1.0]):
        assert mean_interval(too_little, 0.9) is None


def interval_of_counts(won: int, lost: int, n: int) -> Interval | None:
    return coverage_interval(np.repeat([1, -1, 0], [won, lost, n - won - lost]), 1.0, 0.95)


def test_interval_of_bonett_and_price() -> None:
    """The formula of Bonett and Price (2012): one is added to each discordant count, two to n."""
    low, high = interval_of_counts(10, 3, 40) or (0, 0)
    a, b = 11 / 42, 4 / 42
    half = scipy.stats.norm.ppf(0.975) * math.sqrt((a + b - (a - b) ** 2) / 42)
    assert (low, high) == pytest.approx((a - b - half, a - b + half), rel=1e-12)
    assert interval_of_counts(0, 0, 0) is None
    mirrored = interval_of_counts(3, 10, 40) or (0, 0)
    assert mirrored == pytest.approx((-high, -low), rel=1e-12)


def test_published_intervals_of_paired_counts() -> None:
    """Cavo et al. 2012 and Ezra et al. 2010, in Fagerland, Lydersen and Laake 2017, ch. 8 (contingencytables, test-ch8.R)."""
    assert interval_of_counts(6, 16, 161) == pytest.approx((-0.1195, -0.0032), abs=5e-5)
    assert odds_ratio(25, 2) == 12.5
    assert odds_ratio_interval(25, 2, 0.95) == pytest.approx((3.1169, 108.8892), abs=5e-5)


def test_estimates_refuse_bad_arguments() -> None:
    for wrong in (lambda: odds_ratio(-1, 2), lambda: odds_ratio_interval(2, -1, 0.95)):
        with pytest.raises(ParameterError, match="must be counts, 0 or more"):
            wrong()
    with pytest.raises(ParameterError, match="must be paired"):
        ratio_of_means([1, 2], [1])
    with pytest.raises(ParameterError, match="needs a scale that starts at 0"):
        ratio_interval([1, -2, 5], [1, 2, 9], 0.95)
    with pytest.raises(ParameterError, match="must be a two-dimensional array, queries by systems"):
        randomized_tukey_hsd([1, 2, 3])
    with pytest.raises(ParameterError, match="resamples=0"):
        randomized_tukey_hsd([[1, 2], [3, 4]], resamples=0)
    with pytest.raises(ParameterError, match="holds NaN"):
        hodges_lehmann([1, math.nan])
    for alpha, power, message in (
        (2.0, 0.8, "alpha=2.0: must be between 0 and 1"),
        (0.05, 0.03, "power=0.03: must be between 0.05"),
    ):
        with pytest.raises(ParameterError, match=message):
            detectable_mean(10, 1.0, alpha, power)
        with pytest.raises(ParameterError, match=message):
            detectable_proportion(10, 0.5, alpha, power)
    with pytest.raises(ParameterError, match=r"discordant_share=1\.5: must be from 0 to 1"):
        detectable_proportion(10, 1.5, 0.05)


@pytest.mark.parametrize(("share_won", "share_lost", "n"), [(0.02, 0.005, 200), (0.1, 0.1, 50), (0.01, 0.01, 1000)])
def test_interval_of_bonett_and_price_covers(share_won: float, share_lost: float, n: int) -> None:
    rng = np.random.default_rng(3)
    draws = rng.multinomial(n, [share_won, share_lost, 1 - share_won - share_lost], size=4000)
    intervals = np.array([interval_of_counts(int(won), int(lost), n) for won, lost, _ in draws])
    covered = np.mean((intervals[:, 0] <= share_won - share_lost) & (share_won - share_lost <= intervals[:, 1]))
    assert covered > 0.94


@given(won=st.integers(0, 30), lost=st.integers(0, 30))
def test_odds_ratio_interval_is_clopper_pearson(won: int, lost: int) -> None:
    found = odds_ratio_interval(won, lost, 0.95)
    if not won + lost:
        assert found is None
        return
    low, high = statsmodels.stats.proportion.proportion_confint(won, won + lost, method="beta")
    assert found is not None
    assert found.low == pytest.approx(low / (1 - low), rel=1e-9)
    assert found.high == (math.inf if not lost else pytest.approx(high / (1 - high), rel=1e-9))
    assert odds_ratio(won, lost) == (won / lost if lost else None)


@pytest.mark.parametrize("n", [2, 3, 10, 54, 5193])
@pytest.mark.parametrize("alpha", [0.05, 0.001])
def test_detectable_mean_equals_statsmodels(n: int, alpha: float) -> None:
    found = detectable_mean(n, 2.5, alpha, 0.8)
    assert found is not None
    rng = np.random.default_rng(0)
    shift = found / 2.5 * math.sqrt(n)
    t = (rng.normal(shift, 1, 200_000)) / np.sqrt(rng.chisquare(n - 1, 200_000) / (n - 1))
    critical = scipy.stats.t.ppf(1 - alpha / 2, n - 1)
    assert np.mean(np.abs(t) > critical) == pytest.approx(0.8, abs=0.005)
    if n > 3:  # for fewer, statsmodels has no value
        assert statsmodels.stats.power.TTestPower().power(found / 2.5, n, alpha) == pytest.approx(0.8, abs=1e-4)
    assert detectable_mean(1, 2.5, alpha, 0.8) is None
    assert detectable_mean(n, 0.0, alpha, 0.8) is None
    assert detectable_mean(n, 2.5, alpha) == found


@pytest.mark.parametrize(("n", "share"), [(20, 0.1), (60, 0.3), (300, 0.02)])
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
            rejected = np.array([scipy.stats.binomtest(int(w), m).pvalue <= 0.05 for w in won]) if m else np.array([False])
            total += chance * scipy.stats.binom.pmf(won, m, (psi + difference) / (2 * psi))[rejected].sum()
        return total

    assert power(found) == pytest.approx(0.8, abs=1e-3)


def test_detectable_proportion_may_not_exist() -> None:
    assert detectable_proportion(0, 0.0, 0.05, 0.8) is None
    assert detectable_proportion(4, 0.5, 0.05, 0.8) is None
    assert detectable_proportion(6000, 0.03, 0.05, 0.8) == pytest.approx(2.8 * math.sqrt(0.03 / 6000), rel=0.03)


@given(d=st.lists(st.integers(-9, 9), min_size=1, max_size=25))
def test_hodges_lehmann_is_the_median_of_the_walsh_averages(d: list[int]) -> None:
    walsh = [(d[i] + d[j]) / 2 for i in range(len(d)) for j in range(i, len(d))]
    assert hodges_lehmann(np.array(d, dtype=float)) == np.median(walsh)


@given(d=st.lists(st.one_of(st.floats(-1e300, 1e300), st.sampled_from([-0.1, 0.0, 0.1, 0.2])), min_size=1, max_size=25))
def test_hodges_lehmann_of_any_numbers(d: list[float]) -> None:
    walsh = [d[i] / 2 + d[j] / 2 for i in range(len(d)) for j in range(i, len(d))]
    assert hodges_lehmann(d) == pytest.approx(np.median(walsh), rel=1e-15)
    assert hodges_lehmann([-x for x in d]) == pytest.approx(-np.median(walsh), rel=1e-15)


def test_hodges_lehmann_of_many_distinct_numbers() -> None:
    d = np.random.default_rng(6).normal(0.3, 1.0, 501)
    first, second = np.triu_indices(501)
    assert hodges_lehmann(d) == np.median((d[first] + d[second]) / 2)


def tukey_literally(values: np.ndarray[Any, Any], resamples: int) -> np.ndarray[Any, Any]:
    """Carterette 2012, section 4, as printed there: permute within rows, compare with the range of the means."""
    rng = np.random.default_rng(8)
    means = values.mean(axis=0)
    observed = np.abs(means[:, None] - means)
    reached = np.zeros_like(observed)
    for _ in range(resamples):
        shuffled = np.array([rng.permutation(row) for row in values]).mean(axis=0)
        reached += shuffled.max() - shuffled.min() >= observed - 1e-12
    return np.asarray((1 + reached) / (1 + resamples))


def test_randomized_tukey_hsd() -> None:
    values = np.random.default_rng(3).normal([0.0, 0.1, 0.5, 0.9], 1.0, (30, 4))
    found = randomized_tukey_hsd(values, resamples=4999)
    np.testing.assert_allclose(found, tukey_literally(values, 2000), atol=0.03)
    assert np.array_equal(found, found.T)
    assert np.all(np.diag(found) == 1)
    assert np.array_equal(found, randomized_tukey_hsd(values, resamples=4999))
    parametric = scipy.stats.tukey_hsd(*values.T).pvalue
    assert np.corrcoef(found[np.triu_indices(4, 1)], parametric[np.triu_indices(4, 1)])[0, 1] > 0.95


def test_randomized_tukey_hsd_with_gaps_compares_what_both_have() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal(0.0, 1.0, (60, 3))
    values[:, 2] += 1.5
    values[rng.random((60, 3)) < 0.2] = np.nan
    found = randomized_tukey_hsd(values, resamples=1999)
    assert found[0, 2] < 0.01
    assert found[0, 1] > 0.05
    two = randomized_tukey_hsd(values[:, :2], resamples=9999)[0, 1]
    both = ~np.isnan(values[:, :2]).any(axis=1)
    assert two == pytest.approx(sign_flip(values[both, 1] - values[both, 0]).pvalue, abs=0.02)
