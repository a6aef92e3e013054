from __future__ import annotations

import time

import numpy as np
import pytest
import scipy.stats
import statsmodels.stats.power
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics import detectable_mean, detectable_proportion
from ir_outcomes.statistics.power import power_of_mean, power_of_proportion
from ir_outcomes.statistics.tests import midp_test


@given(shift=st.floats(0, 8), df=st.integers(1, 3000), alpha=st.sampled_from([0.1, 0.05, 0.0025]))
def test_power_of_mean_equals_the_noncentral_t(shift: float, df: int, alpha: float) -> None:
    critical = scipy.stats.t.isf(alpha / 2, df)
    expected = scipy.stats.nct.sf(critical, df, shift) + np.nan_to_num(scipy.stats.nct.cdf(-critical, df, shift))
    assert power_of_mean(shift, df, alpha) == pytest.approx(expected, abs=2e-6)


@pytest.mark.parametrize("n", [2, 3, 54, 5193])
@pytest.mark.parametrize("contenders", [1, 20])
def test_detectable_mean_follows_the_level(n: int, contenders: int) -> None:
    found = detectable_mean(n, 2.5, 0.05 / contenders, 0.8)
    assert found is not None
    if n > 3:
        power = statsmodels.stats.power.TTestPower().power(found / 2.5, n, 0.05 / contenders)
        assert power == pytest.approx(0.8, abs=1e-4)


def test_detectable_mean_returns_at_once_at_any_level() -> None:
    """The noncentral t of SciPy 1.11 to 1.14 does not return with one degree of freedom and a small level."""
    start = time.perf_counter()
    for alpha in (1e-6, 1e-12):
        assert (detectable_mean(2, 1.0, alpha) or 0) > 1 / alpha / 10
    assert time.perf_counter() - start < 2


def test_detectable_mean_is_never_more_than_what_is_possible() -> None:
    assert (detectable_mean(3, 40.0, 0.05) or 0) > 100
    assert detectable_mean(3, 40.0, 0.05, largest=100.0) is None
    assert (detectable_mean(30, 40.0, 0.05, largest=100.0) or 101) <= 100


@pytest.mark.parametrize(("n", "share"), [(20, 0.1), (60, 0.3), (300, 0.02)])
def test_detectable_proportion_by_midp_has_that_power(n: int, share: float) -> None:
    """Brute force over all outcomes of the unconditional model, with the p-values of the test itself."""
    found = detectable_proportion(n, share, 0.05, 0.8, "midp")
    assert found is not None
    discordant = max(share, found)
    total = 0.0
    for m in range(1, n + 1):
        chance = scipy.stats.binom.pmf(m, n, discordant)
        if chance < 1e-12:
            continue
        won = np.arange(m + 1)
        rejected = np.array([midp_test(int(w), m - int(w)).pvalue <= 0.05 for w in won])
        total += chance * scipy.stats.binom.pmf(won, m, (discordant + found) / (2 * discordant))[rejected].sum()
    assert total == pytest.approx(0.8, abs=1e-3)
    assert power_of_proportion(n, share, found, 0.05, "midp") == pytest.approx(total, abs=1e-9)
    exact = detectable_proportion(n, share, 0.05, 0.8)
    assert exact is not None
    assert exact >= found


def test_detectable_proportion_of_a_family_needs_more() -> None:
    one, twenty = detectable_proportion(1000, 0.03, 0.05), detectable_proportion(1000, 0.03, 0.05 / 20)
    assert one is not None
    assert twenty is not None
    assert twenty > 1.2 * one
    assert power_of_proportion(1000, 0.03, one, 0.05 / 20) < 0.5
    with pytest.raises(ParameterError, match="must be one of exact, midp"):
        detectable_proportion(1000, 0.03, 0.05, 0.8, "signflip")  # type: ignore[arg-type]
