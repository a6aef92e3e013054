import math
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.statistics import coverage_interval
from ir_outcomes.statistics.corrections import Band, band_of_events

ranks = st.one_of(st.integers(1, 8), st.just(math.inf), st.just(math.nan))


def band_of_ranks(baseline: Any, contender: Any, depth: int, level: float, **settings: Any) -> Band:
    """The band of the difference of the shares of queries answered by rank k, from first ranks (infinite: not answered)."""
    x, y = np.asarray(baseline, dtype=float), np.asarray(contender, dtype=float)
    first, second = (np.flatnonzero((x != y) & np.isfinite(ranks)) for ranks in (x, y))
    query, rank = np.concatenate([second, first]), np.concatenate([y[second], x[first]]).astype(int)
    return band_of_events(
        query,
        rank,
        np.repeat([1.0, -1.0], [len(second), len(first)]),
        len(x),
        depth,
        level,
        **settings,
    )


def curves(baseline: np.ndarray, contender: np.ndarray, depth: int) -> np.ndarray:
    """Answered by rank k: contender minus baseline, one row for each query."""
    k = np.arange(1, depth + 1)
    return (contender[:, np.newaxis] <= k).astype(float) - (baseline[:, np.newaxis] <= k)


@given(pairs=st.lists(st.tuples(ranks, ranks), min_size=2, max_size=30), depth=st.integers(1, 10))
def test_band_by_plain_formulas(pairs: list[tuple[float, float]], depth: int) -> None:
    baseline, contender = np.array(pairs, dtype=float).T
    n, d = len(pairs), curves(baseline, contender, depth)
    found = band_of_ranks(baseline, contender, depth, 0.9, resamples=99)
    np.testing.assert_allclose(found.difference, d.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(
        found.standard_error, d.std(axis=0, ddof=1) / math.sqrt(n), atol=1e-9
    )
    np.testing.assert_allclose(
        found.high - found.difference, found.critical * found.standard_error, atol=1e-12
    )
    np.testing.assert_allclose(
        found.difference - found.low, found.critical * found.standard_error, atol=1e-12
    )
    assert not found.low[~d.any(axis=0)].any()


def test_critical_value_by_plain_random_signs() -> None:
    rng = np.random.default_rng(1)
    baseline, contender = (
        rng.geometric(0.2, 60).astype(float),
        rng.geometric(0.25, 60).astype(float),
    )
    contender[:25] = baseline[:25]
    d = curves(baseline, contender, 12)
    error = d.std(axis=0, ddof=1) / math.sqrt(60)
    centred = (d - d.mean(axis=0))[:, error > 0]
    signs = rng.choice([-1.0, 1.0], (20_000, 60))
    largest = np.abs(signs @ centred / 60 / error[error > 0]).max(axis=1)
    found = band_of_ranks(baseline, contender, 12, 0.95)
    assert found.critical == pytest.approx(np.quantile(largest, 0.95), rel=0.02)
    assert found.critical > 1.96


def test_of_few_random_signs_each_draw_is_the_critical_value_of_a_level() -> None:
    """With 19 draws the observed signs are one of 20: the smallest is exceeded at 5 %, and the largest is enough for 95 %."""
    rng = np.random.default_rng(1)
    baseline, contender = rng.geometric(0.2, (2, 60)).astype(float)
    draws = [
        band_of_ranks(baseline, contender, 12, (place - 0.5) / 20, resamples=19).critical
        for place in range(1, 20)
    ]
    assert draws == sorted(draws)
    assert len(set(draws)) > 10
    assert band_of_ranks(baseline, contender, 12, 0.99, resamples=19).critical == draws[-1]


def test_adjusted_widths_are_those_of_the_coverage_interval() -> None:
    rng = np.random.default_rng(7)
    baseline, contender = (
        rng.geometric(0.2, 90).astype(float),
        rng.geometric(0.25, 90).astype(float),
    )
    plain = band_of_ranks(baseline, contender, 40, 0.95)
    adjusted = band_of_ranks(baseline, contender, 40, 0.95, smallest_step=1.0)
    assert adjusted.critical == plain.critical
    for k in (1, 7, 40):
        interval = coverage_interval(curves(baseline, contender, 40)[:, k - 1], 1.0, 0.9)
        assert interval is not None
        error = (interval.high - interval.low) / 2 / scipy.stats.norm.ppf(0.95)
        assert adjusted.standard_error[k - 1] == pytest.approx(error, rel=1e-9)
    assert not band_of_ranks(baseline, baseline, 40, 0.95, smallest_step=1.0).high.any()
    # All queries differ at rank 1, by the same amount.
    everywhere = band_of_ranks([2, 2, 2], [1, 1, 1], 4, 0.95)
    assert everywhere.high.tolist() == everywhere.low.tolist() == [1, 0, 0, 0]


def test_the_band_of_a_single_query_says_nothing_about_others() -> None:
    found = band_of_events([0, 0], [2, 4], [1.0, -1.0], 1, 5, 0.95)
    assert found.difference.tolist() == [0, 1, 1, 0, 0]
    assert (found.standard_error.tolist(), found.critical) == ([0.0] * 5, 0.0)
