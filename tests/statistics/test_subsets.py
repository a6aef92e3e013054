"""Tests on many subsets at once are the tests on each subset."""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics import differences, pairwise_tests, rank_sum, sign_test, t_test, wilcoxon
from ir_outcomes.statistics import pairs as statistics_of_pairs
from ir_outcomes.statistics.orders import kendall_taus, shared_ranks
from ir_outcomes.statistics.signflips import sign_flip_pairs
from ir_outcomes.statistics.subsets import (
    binomial_tests,
    classes,
    count,
    medians,
    membership,
    rank_sum_tests,
    signed_tests,
)

values = st.one_of(
    st.integers(1, 6).map(float),
    st.integers(1, 20).map(lambda rank: 1 / rank),
    st.floats(0, 1),
    st.just(0.0),
)
pairs = st.lists(st.tuples(values, values), min_size=1, max_size=70)


@given(pairs=pairs, seed=st.integers(0, 99))
def test_every_subset_gets_the_tests_of_its_values(pairs: list[tuple[float, float]], seed: int) -> None:
    x, y = np.array(pairs).T
    rng = np.random.default_rng(seed)
    subsets = np.array([rng.permutation(len(x))[: max(1, len(x) // 2)] for _ in range(3)])
    members = membership(subsets, len(x))
    d = differences(x, y)
    code, sizes = classes(np.abs(d))
    plus = count(np.where(d >= 0, code, -1), len(sizes), members)
    minus = count(np.where(d < 0, code, -1), len(sizes), members)
    found = signed_tests(sizes, plus, minus)
    both = classes(np.concatenate([x, y]))
    x_counts, y_counts = (count(half, len(both.distinct), members) for half in np.split(both.code, 2))
    sums, middles = rank_sum_tests(x_counts, y_counts), medians(both.distinct, x_counts)
    for place, subset in enumerate(subsets):
        for name, test in (("t", t_test), ("wilcoxon", wilcoxon), ("sign", sign_test)):
            expected = test(d[subset])
            assert found[name].pvalue[place] == pytest.approx(expected.pvalue, rel=1e-10, abs=1e-300)
            if len(subset) > 1 and abs(d[subset].sum()) > 1e-12:
                assert found[name].direction[place] == expected.direction
        other = rank_sum(x[subset], y[subset])
        assert sums.pvalue[place] == pytest.approx(other.pvalue, rel=1e-10)
        assert sums.direction[place] == other.direction
        assert middles[place] == np.median(x[subset])


@pytest.mark.parametrize("n", range(2, 50))
def test_the_same_order_has_a_tau_of_one(n: int) -> None:
    order = np.arange(n)
    assert kendall_taus(order, [order, order[::-1]]).tolist() == [1.0, -1.0]
    tied = np.concatenate([order, order[:1]])
    assert kendall_taus(tied, [tied]).tolist() == [1.0]


@given(
    rows=st.integers(0, 12).flatmap(
        lambda n: st.lists(st.lists(values | st.just(np.nan), min_size=n, max_size=n), min_size=1, max_size=4)
    )
)
@pytest.mark.parametrize("most_shared", [0, 512])
def test_every_pair_of_rows_gets_the_tests_of_its_values(rows: list[list[float]], most_shared: int) -> None:
    table = np.array(rows).reshape(len(rows), -1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(statistics_of_pairs, "MOST_SHARED_CLASSES", most_shared)
        found = pairwise_tests(table)
    for place, (x, y) in enumerate(combinations(table, 2)):
        defined = ~np.isnan(x) & ~np.isnan(y)
        d = differences(x[defined], y[defined])
        expected = {"t": t_test(d), "wilcoxon": wilcoxon(d), "sign": sign_test(d), "ranksum": rank_sum(x[defined], y[defined])}
        for name, test in expected.items():
            assert found[name].pvalue[place] == pytest.approx(test.pvalue, rel=1e-10, abs=1e-300), name
            if name != "t" or abs(d.sum()) > 1e-12:
                assert len(d) < 2 or found[name].direction[place] == test.direction, name
    assert {len(test.pvalue) for test in found.values()} == {len(rows) * (len(rows) - 1) // 2}


def test_they_equal_scipy_on_5000_queries() -> None:
    rng = np.random.default_rng(5)
    x, y = 1 / rng.integers(1, 40, 5000), 1 / rng.integers(1, 38, 5000)
    subset = rng.permutation(5000)[:2500]
    members = membership(subset[None], 5000)
    d = differences(x, y)
    code, sizes = classes(np.abs(d))
    plus = count(np.where(d >= 0, code, -1), len(sizes), members)
    minus = count(np.where(d < 0, code, -1), len(sizes), members)
    found = signed_tests(sizes, plus, minus)
    assert found["t"].pvalue[0] == pytest.approx(scipy.stats.ttest_rel(y[subset], x[subset]).pvalue, rel=1e-11)
    signed = scipy.stats.wilcoxon(d[subset], correction=False, method="asymptotic")
    assert found["wilcoxon"].pvalue[0] == pytest.approx(signed.pvalue, rel=1e-12)
    won, lost = int(np.sum(d[subset] > 0)), int(np.sum(d[subset] < 0))
    assert found["sign"].pvalue[0] == pytest.approx(scipy.stats.binomtest(won, won + lost).pvalue, rel=1e-12)
    both = classes(np.concatenate([x, y]))
    counts = [count(half, len(both.distinct), members) for half in np.split(both.code, 2)]
    sums = scipy.stats.mannwhitneyu(y[subset], x[subset], method="asymptotic", use_continuity=False)
    assert rank_sum_tests(*counts).pvalue[0] == pytest.approx(sums.pvalue, rel=1e-12)


def test_binomial_tests_equal_scipy() -> None:
    won, lost = np.array(list(product(range(15), range(15)))).T
    expected = [scipy.stats.binomtest(w, w + n).pvalue if w + n else 1.0 for w, n in zip(won, lost, strict=True)]
    np.testing.assert_allclose(binomial_tests(won, lost), expected, rtol=1e-12)


@given(st.lists(st.lists(st.integers(-3, 3).map(float), min_size=5, max_size=5), min_size=1, max_size=6))
def test_shared_ranks_and_kendall_equal_scipy(rows: list[list[float]]) -> None:
    table = np.array(rows)
    np.testing.assert_array_equal(shared_ranks(table), scipy.stats.rankdata(-table, method="min", axis=1))
    for tau, row in zip(kendall_taus(table[0], table), table, strict=True):
        expected = scipy.stats.kendalltau(table[0], row).statistic
        assert (np.isnan(tau) and np.isnan(expected)) or tau == pytest.approx(expected)


def test_an_undefined_mean_ranks_last_and_rounding_makes_no_order() -> None:
    assert shared_ranks([[0.1 + 0.2, -np.inf, 0.3, -np.inf]]).tolist() == [[1, 3, 1, 3]]


def test_sign_flips_of_all_pairs_are_near_the_exact_ones() -> None:
    table = np.random.default_rng(3).integers(0, 4, (4, 9)) / 3
    found = sign_flip_pairs(table, seed=7, resamples=40_000)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(found, sign_flip_pairs(table, seed=7, resamples=40_000))
    for one, other in product(range(4), range(4)):
        d = table[other] - table[one]
        sums = np.array(list(product((-1, 1), repeat=9))) @ d
        exact = np.mean(np.abs(sums) >= abs(d.sum()) - 1e-9)
        assert found[one, other] == pytest.approx(exact, abs=0.012)
        assert found[one, other] > 0


def test_sign_flips_refuse_what_is_no_table() -> None:
    for wrong in ([1.0, 2.0], [[np.nan, 1.0]]):
        with pytest.raises(ParameterError, match="must be a table of finite numbers"):
            sign_flip_pairs(wrong)
    assert sign_flip_pairs(np.zeros((2, 3))).tolist() == [[1.0, 1.0], [1.0, 1.0]]
