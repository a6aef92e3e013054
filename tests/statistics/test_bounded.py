"""Intervals of means of values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.proportion import proportion_confint

from ir_outcomes.statistics.bounded import mean_interval


def test_shares_have_an_interval_by_wilson_with_one_more_value_that_varies() -> None:
    values = np.array([1.0] * 30 + [0.0] * 10)
    effective = 0.75 * 0.25 / (0.75 * 0.25 / 40 + 0.75 * 0.25 / 1600)
    alpha = 2 * stats.norm.sf(stats.t.ppf(0.975, 39))
    expected = proportion_confint(0.75 * effective, effective, alpha, method="wilson")
    assert mean_interval(values, 0.05) == pytest.approx(expected)


@given(st.lists(st.integers(0, 8).map(lambda eighths: eighths / 8), min_size=1, max_size=30))
def test_intervals_hold_the_mean_stay_inside_and_move_with_the_unit(values: list[float]) -> None:
    interval = mean_interval(values, 0.05)
    assert interval is not None
    assert 0 <= interval.low <= np.mean(values) + 1e-12
    assert np.mean(values) - 1e-12 <= interval.high <= 1
    assert interval.low < interval.high
    scaled = mean_interval(1 + 99 * np.array(values), 0.05, (1.0, 100.0))
    assert scaled == pytest.approx([1 + 99 * interval.low, 1 + 99 * interval.high], abs=1e-6)
    mirrored = mean_interval(1 - np.array(values), 0.05)
    assert mirrored == pytest.approx([1 - interval.high, 1 - interval.low], abs=1e-9)


@pytest.mark.parametrize("bounds", [None, (0.0, 2.0)])
def test_without_bounds_that_hold_it_is_the_t_interval(bounds: tuple[float, float] | None) -> None:
    values = [0.3, 2.5, -1.0, 4.0]
    error = stats.sem(values)
    expected = stats.t.interval(0.9, 3, np.mean(values), error)
    assert mean_interval(values, 0.1, bounds) == pytest.approx(expected)
    assert mean_interval([3.0], 0.1, None) is None
    assert mean_interval([], 0.1) is None


def test_clusters_of_copies_are_as_good_as_their_values() -> None:
    values = np.array([0.2, 0.5, 1.0, 0.0, 0.4])
    clusters = np.repeat(np.arange(5), 3)
    for bounds in ((0.0, 1.0), None):
        copies = mean_interval(np.repeat(values, 3), 0.05, bounds, clusters)
        assert copies == pytest.approx(mean_interval(values, 0.05, bounds))


def test_unequal_clusters_have_the_error_of_ordinary_least_squares() -> None:
    sm = pytest.importorskip("statsmodels.api")
    values = np.array([0.1, 0.4, 0.9, 0.3, 0.3, 0.8, 0.2])
    clusters = np.array([0, 0, 0, 1, 1, 2, 3])
    fit = sm.OLS(values, np.ones(7)).fit(cov_type="cluster", cov_kwds={"groups": clusters})
    small_sample = np.sqrt((7 - 1) / 7 * 7 / (7 - 1))
    half = stats.t.ppf(0.975, 3) * fit.bse[0] * small_sample
    interval = mean_interval(values, 0.05, None, clusters)
    assert interval is not None
    assert interval == pytest.approx([values.mean() - half, values.mean() + half])
