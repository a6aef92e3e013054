"""Tests and intervals of queries that come in clusters."""

import math

import numpy as np
import pytest
import scipy.stats
import statsmodels.api
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.statistics import (
    coverage_interval,
    design_effect,
    linearized,
    mean_interval,
    mean_test,
    paired_tests,
    sign_flip,
    sign_test,
    t_test,
    wilcoxon,
)
from ir_outcomes.statistics.corrections import band_of_events
from ir_outcomes.statistics.counts import Moments, membership, tally, tally_subsets
from ir_outcomes.statistics.tests import Samples
from ir_outcomes.types import Floats, Ints

clustered = st.lists(st.tuples(st.integers(-9, 9), st.integers(0, 5)), min_size=2, max_size=40)


def drawn(seed: int, n_clusters: int, shift: float = 0.0) -> tuple[Floats, Ints]:
    """Correlated differences of queries in clusters of very unequal size."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_clusters), rng.geometric(0.2, n_clusters))
    return rng.normal(0, 1, n_clusters)[codes] + rng.normal(shift, 1, len(codes)), codes


@pytest.mark.parametrize("n_clusters", [2, 10, 82])
def test_t_and_interval_are_those_of_statsmodels_with_clustered_errors(n_clusters: int) -> None:
    d, codes = drawn(1, n_clusters, 0.3)
    model = statsmodels.api.OLS(d, np.ones(len(d)))
    expected = model.fit(cov_type="cluster", cov_kwds={"groups": codes}, use_t=True)
    found = t_test(d, clusters=codes)
    assert found.statistic == pytest.approx(expected.tvalues[0], rel=1e-9)
    assert found.pvalue == pytest.approx(expected.pvalues[0], rel=1e-9)
    assert (found.n, found.n_nonzero, found.method) == (
        n_clusters,
        n_clusters,
        "paired t, by cluster",
    )
    values = linearized(d, codes)
    assert (values.mean(), scipy.stats.sem(values)) == pytest.approx(
        (d.mean(), expected.bse[0]), rel=1e-9
    )
    by_t = scipy.stats.t.interval(0.95, n_clusters - 1, values.mean(), scipy.stats.sem(values))
    np.testing.assert_allclose(by_t, expected.conf_int()[0], rtol=1e-9)
    interval = mean_interval(d, 0.95, clusters=codes)
    assert interval is not None
    assert interval.low <= by_t[0] + 1e-9  # fewer degrees of freedom where tails are heavy
    assert by_t[1] - 1e-9 <= interval.high


def test_known_clusters() -> None:
    """Three conversations of 2, 3 and 1 turns with sums 3, -3 and 5: six turns, mean 5 / 6."""
    d, codes = [1, 2, -1, -1, -1, 5], [7, 7, 3, 3, 3, 9]
    mean = 5 / 6
    residuals = np.array([-3 - 3 * mean, 3 - 2 * mean, 5 - mean])  # in the order of the codes
    error = math.sqrt(3 / 2 * (residuals**2).sum()) / 6
    assert linearized(d, codes) == pytest.approx(mean + residuals * 3 / 6)
    assert t_test(d, codes).statistic == pytest.approx(mean / error)
    assert t_test(d, codes).pvalue == pytest.approx(2 * scipy.stats.t.sf(mean / error, 2))
    # |sum| >= 5: 11, 5, 5 of the four with a positive last sign.
    assert sign_flip(d, clusters=codes).pvalue == 6 / 8
    assert sign_test(d, codes).pvalue == 1.0
    # W- = 1.5: 0, 1.5 and 1.5 of eight sums of ranks 1.5, 1.5 and 3.
    assert wilcoxon(d, codes).pvalue == 6 / 8
    assert sign_flip(d, clusters=codes).method == "sign-flip, exact, by cluster"
    assert design_effect(d, codes) == pytest.approx(error**2 / (np.var(d, ddof=1) / 6))


@given(pairs=clustered, seed=st.integers(0, 99))
def test_every_subset_of_clusters_gets_the_tests_of_its_queries(
    pairs: list[tuple[int, int]], seed: int
) -> None:
    d, codes = np.array(pairs, dtype=float).T[0] / 6, np.array([code for _, code in pairs])
    rng = np.random.default_rng(seed)
    counted = rng.random(len(d)) < 0.8
    subsets = membership(np.stack([rng.permutation(6)[:4] for _ in range(3)]), 6)[codes]
    samples = tally_subsets(d[counted], counted, subsets, codes)
    for place in range(3):
        chosen = counted & (subsets[:, place] > 0)
        expected = paired_tests(d[chosen], clusters=codes[chosen])
        for name in expected:
            found = Samples(samples).many(name)
            assert found.pvalue[place] == pytest.approx(expected[name].pvalue, rel=1e-7)
            assert found.direction[place] == expected[name].direction
        assert Samples(samples).of_means().pvalue[place] == pytest.approx(
            mean_test(d[chosen], clusters=codes[chosen]).pvalue, rel=1e-7
        )


def test_edges_of_clusters() -> None:
    one = [0, 0, 0]
    assert t_test([1, 2, 3], one).pvalue == 1.0
    assert mean_interval([1, 2, 3], 0.95, clusters=one) is None
    assert design_effect([1, 2, 3], one) is None
    equal = t_test([2, 2, 2, 2, 2], [0, 0, 1, 2, 2])
    assert (equal.pvalue, equal.statistic) == (0.25, None)
    assert mean_interval([0.1] * 5, 0.95, clusters=[0, 0, 1, 2, 2]) == (0.1, 0.1)
    assert mean_interval([0] * 6, 0.95, 9, clusters=[0, 0, 1, 1, 2, 2]) == mean_interval(
        [0] * 3, 0.95, 9
    )
    assert (
        wilcoxon([1, -1, 2, -2], [0, 0, 1, 1]).note
        == "the differences of each query or cluster add up to zero, so there is nothing to test"
    )
    sizes = tally([1 / 2, 1 / 3, 1 / 6, 1 / 6, 1 / 3, 1 / 2], [0, 0, 0, 1, 1, 1]).sizes
    assert sizes == pytest.approx([0, 1])  # both sums are 1, but for rounding
    few = mean_test(
        np.repeat([1.0, 2.0, 1.0, 3.0, 0.0, 0.0], 20), clusters=np.repeat(np.arange(6), 20)
    )
    # Though 80 queries differ.
    assert (few.name, few.pvalue, few.n_nonzero) == (
        "signflip",
        2 / 16,
        4,
    )


def test_coverage_and_band_of_clusters() -> None:
    rng = np.random.default_rng(4)
    codes = np.repeat(np.arange(40), 5)
    found = np.repeat(rng.choice([-1, 0, 1], 40, p=[0.1, 0.6, 0.3]), 5)
    interval, naive = (
        coverage_interval(found, 1.0, 0.95, codes),
        coverage_interval(found, 1.0, 0.95),
    )
    assert interval is not None
    assert naive is not None
    assert interval == pytest.approx(mean_interval(found, 0.95, 1, codes))
    # sqrt(5), of five equal turns.
    assert 1.8 < (interval.high - interval.low) / (naive.high - naive.low) < 2.6
    events = np.flatnonzero(found)
    band = band_of_events(events, np.ones(len(events)), found[events], 200, 3, 0.95, clusters=codes)
    of_queries = band_of_events(events, np.ones(len(events)), found[events], 200, 3, 0.95)
    assert band.difference == pytest.approx(of_queries.difference)
    assert band.standard_error == pytest.approx(
        np.repeat(scipy.stats.sem(linearized(found, codes)), 3)
    )
    assert 1.8 < (band.high - band.low)[0] / (of_queries.high - of_queries.low)[0] < 2.6


@given(
    clusters=st.lists(
        st.tuples(st.integers(-2, 2), st.integers(1, 9), st.booleans()), min_size=1, max_size=12
    )
)
def test_clusters_are_as_many_as_so_many_of_one_size_would_vary(
    clusters: list[tuple[int, int, bool]],
) -> None:
    """Kish's effective number, of those that differ in a subset."""
    sums, sizes, members = (np.array(column, dtype=float) for column in zip(*clusters, strict=True))
    found = Moments.of(sums, sizes, np.stack([members, np.ones(len(members))], axis=1))
    every = [(own, size) for own, size, _ in clusters]
    inside = [(own, size) for own, size, is_member in clusters if is_member]
    for place, subset in enumerate((inside, every)):
        assert found.queries[place] == sum(size for _, size in subset)
        assert found.products[place] == sum(own * size for own, size in subset)
        assert found.squares[place] == sum(size**2 for _, size in subset)
        squares = [size**2 for own, size in subset if own]
        expected = sum(squares) ** 2 / sum(size**2 for size in squares) if squares else 0.0
        assert found.effective[place] == pytest.approx(expected)
