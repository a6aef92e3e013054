from __future__ import annotations

import numpy as np
import pytest
import scipy.stats

from ir_outcomes.statistics.intervals import median_interval


@pytest.mark.parametrize("level", [0.8, 0.95, 0.99])
def test_against_scipy(level: float) -> None:
    rng = np.random.default_rng(2)
    for n in (6, 7, 20, 55, 1000):
        values = rng.normal(size=n)
        found = median_interval(values, level)
        expected = scipy.stats.quantile_test(values, q=0, p=0.5).confidence_interval(level)
        if found is None:
            assert 2 * scipy.stats.binom.cdf(0, n, 0.5) > 1 - level
        else:
            assert found == (expected.low, expected.high)


def test_too_few_values_have_no_interval() -> None:
    assert median_interval([], 0.95) is None
    assert median_interval([1, 2, 3, 4, 5], 0.95) is None
    assert median_interval([1, 2, 3, 4, 5, 6], 0.95) == (1, 6)
