"""Tests on many samples at once are the tests on each sample."""

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.statistics import (
    differences,
    paired_tests,
    rank_sum,
)
from ir_outcomes.statistics.counts import (
    Differences,
    classes,
    count,
    kendall_taus,
    medians,
    membership,
    shared_ranks,
)
from ir_outcomes.statistics.kernels import rank_sum_tests
from ir_outcomes.statistics.tests import Samples
from ir_outcomes.types import Floats

values = st.one_of(
    st.integers(1, 6).map(float),
    st.integers(1, 20).map(lambda rank: 1 / rank),
    st.floats(0, 1),
    st.just(0.0),
)
pairs = st.lists(st.tuples(values, values), min_size=1, max_size=70)


def counted(d: Floats, members: Floats) -> Differences:
    code, sizes = classes(np.abs(d))
    positive, negative = (
        count(np.where(side, code, -1), len(sizes), members) for side in (d >= 0, d < 0)
    )
    return Differences(sizes, positive, negative)


@given(pairs=pairs, seed=st.integers(0, 99))
def test_every_subset_gets_the_tests_of_its_values(
    pairs: list[tuple[float, float]], seed: int
) -> None:
    x, y = np.array(pairs).T
    rng = np.random.default_rng(seed)
    subsets = np.array([rng.permutation(len(x))[: max(1, len(x) // 2)] for _ in range(3)])
    members = membership(subsets, len(x))
    d = differences(x, y)
    changes = counted(d, members)
    both = classes(np.concatenate([x, y]))
    x_counts, y_counts = (
        count(half, len(both.distinct), members) for half in np.split(both.code, 2)
    )
    (pvalues, directions), _ = rank_sum_tests(x_counts, y_counts)
    middles = medians(both.distinct, x_counts)
    for place, subset in enumerate(subsets):
        for name, expected in paired_tests(d[subset]).items():
            assert Samples(changes).many(name).pvalue[place] == pytest.approx(
                expected.pvalue, rel=1e-12
            )
            assert Samples(changes).many(name).direction[place] == expected.direction
        other = rank_sum(x[subset], y[subset])
        assert pvalues[place] == pytest.approx(other.pvalue, rel=1e-10)
        assert directions[place] == other.direction
        assert middles[place] == np.median(x[subset])


@given(
    st.lists(
        st.lists(st.integers(-3, 3).map(float), min_size=5, max_size=5), min_size=1, max_size=6
    )
)
def test_shared_ranks_and_kendall_equal_scipy(rows: list[list[float]]) -> None:
    table = np.array(rows)
    np.testing.assert_array_equal(
        shared_ranks(table), scipy.stats.rankdata(-table, method="min", axis=1)
    )
    for tau, row in zip(kendall_taus(table[0], table), table, strict=True):
        expected = scipy.stats.kendalltau(table[0], row).statistic
        assert (np.isnan(tau) and np.isnan(expected)) or tau == pytest.approx(expected)
    assert shared_ranks([[0.1 + 0.2, -np.inf, 0.3, -np.inf]]).tolist() == [[1, 3, 1, 3]]


def test_means_share_a_rank_only_if_they_differ_by_rounding_however_small_they_are() -> None:
    means = np.array([[0.3, 0.1 + 0.2, 0.2], [3e-20, 2e-20, 2e-20], [-3e-20, -2e-20, 0.0]])
    assert shared_ranks(means).tolist() == [[1, 1, 3], [1, 2, 2], [3, 2, 1]]
