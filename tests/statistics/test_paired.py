import itertools
import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import assume, given
from hypothesis import strategies as st

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics import (
    binomial_test,
    differences,
    mean_test,
    paired_tests,
    rank_sum,
    sign_flip,
    t_test,
    wilcoxon,
)
from ir_outcomes.statistics.corrections import smallest_pvalue
from ir_outcomes.statistics.counts import tally
from ir_outcomes.statistics.intervals import t_interval
from ir_outcomes.statistics.kernels import binomial_tests, function_test
from ir_outcomes.statistics.tests import Samples
from ir_outcomes.types import Floats
from tests.helpers.samples import tally_rows

whole = st.lists(st.integers(-6, 6), max_size=9).map(
    lambda values: np.array(values, dtype=np.float64)
)
long_whole = st.lists(st.integers(-100, 100), min_size=51, max_size=90).map(
    lambda values: np.array(values, dtype=np.float64)
)


def literal_wilcoxon(d: Floats) -> float:
    """The exact p-value from its definition: all signs of the average ranks."""
    ranks = scipy.stats.rankdata(np.abs(d[d != 0]))
    observed = min(ranks[d[d != 0] > 0].sum(), ranks[d[d != 0] < 0].sum())
    sums = np.array(list(itertools.product((0, 1), repeat=len(ranks)))) @ ranks
    return min(1.0, 2 * float(np.mean(sums <= observed)))


@given(d=whole)
def test_wilcoxon_is_exact_with_ties_and_zeros(d: Floats) -> None:
    test, zeros = wilcoxon(d), int(np.sum(d == 0))
    if len(d) < 2 or not d.any():
        assert test.pvalue == 1.0
        assert test.note
        return
    assert test.pvalue == pytest.approx(literal_wilcoxon(d), rel=1e-12)
    assert (
        test.statistic
        == scipy.stats.wilcoxon(
            d, zero_method="wilcox", correction=False, method="asymptotic"
        ).statistic
    )
    dropped = "" if not zeros else ", 1 zero dropped" if zeros == 1 else f", {zeros} zeros dropped"
    assert test.method == f"Wilcoxon signed rank, exact{dropped}"
    assert (test.n, test.n_nonzero) == (len(d) - zeros, len(d) - zeros)


@given(d=long_whole)
def test_wilcoxon_is_asymptotic_beyond_50(d: Floats) -> None:
    assume(np.sum(d != 0) > 50)
    expected = scipy.stats.wilcoxon(d, zero_method="wilcox", correction=False, method="asymptotic")
    assert wilcoxon(d).pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    assert "asymptotic" in wilcoxon(d).method
    assert "exact" in wilcoxon(np.append(d[d != 0][:50], np.zeros(9))).method


@given(x=st.lists(st.integers(1, 100), min_size=2, max_size=40), seed=st.integers(0, 99))
def test_t_sign_and_rank_sum_equal_scipy(x: list[int], seed: int) -> None:
    baseline = np.array(x)
    contender = np.random.default_rng(seed).integers(1, 100, len(x))
    d = differences(baseline, contender)
    tests = paired_tests(d)
    if d.any() and len(set(d)) > 1:
        expected = scipy.stats.ttest_rel(contender, baseline)
        assert tests["t"].statistic == pytest.approx(expected.statistic, rel=1e-12)
        assert tests["t"].pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    if d.any():
        binomial = scipy.stats.binomtest(int((d > 0).sum()), int((d != 0).sum())).pvalue
        assert tests["sign"].pvalue == pytest.approx(binomial, rel=1e-12)
    if len({*baseline, *contender}) > 1:
        expected_u = scipy.stats.mannwhitneyu(
            contender, baseline, method="asymptotic", use_continuity=False
        )
        assert rank_sum(baseline, contender).pvalue == pytest.approx(expected_u.pvalue, rel=1e-12)


floats = st.lists(st.floats(-9, 9, allow_subnormal=False), min_size=19, max_size=24).map(
    lambda d: differences([0] * len(d), d)
)


@given(d=st.one_of(whole, long_whole, floats), seed=st.integers(0, 9))
def test_turning_the_sign_mirrors_every_test_and_the_order_changes_no_bit(
    d: Floats, seed: int
) -> None:
    there, back = paired_tests(d), paired_tests(-np.random.default_rng(seed).permutation(d))
    for name, test in there.items():
        assert (test.pvalue, test.direction) == (back[name].pvalue, -back[name].direction)
        assert 0 < test.pvalue <= 1


@given(
    x=st.lists(st.integers(1, 9), min_size=1, max_size=12),
    y=st.lists(st.integers(1, 9), min_size=12, max_size=12),
)
def test_differences_of_reciprocals_tie_where_the_fractions_do(x: list[int], y: list[int]) -> None:
    exact = [Fraction(1, b) - Fraction(1, a) for a, b in zip(x, y[: len(x)], strict=True)]
    found = differences([1 / a for a in x], [1 / b for b in y[: len(x)]])
    for i, j in itertools.combinations(range(len(x)), 2):
        assert (exact[i] == exact[j]) == (found[i] == found[j])
        assert (abs(exact[i]) == abs(exact[j])) == (abs(found[i]) == abs(found[j]))
    assert [value == 0 for value in exact] == [value == 0 for value in found]


@pytest.mark.parametrize(
    ("d", "pvalue"), [([], 1), ([0.0] * 3, 1), ([2.0], 1), ([2.0] * 6, 2**-5), ([-2.0] * 6, 2**-5)]
)
def test_degenerate_differences(d: list[float], pvalue: float) -> None:
    tests, direction = paired_tests(d), int(np.sign(sum(d)))
    for name, test in tests.items():
        assert (test.pvalue, test.direction) == (pvalue, direction)
        assert test.note or (pvalue < 1 and name != "t")
    assert Samples(tally(d)).of_means().direction.tolist() == [direction]
    assert (binomial_test(0, 0).pvalue, binomial_test(1, 3).direction) == (1.0, -1)
    assert binomial_test(0, 0).note
    rounded = paired_tests([0.1, 0.2, -0.3])  # the sum is 5.6e-17
    assert (rounded["t"].direction, rounded["signflip"].direction) == (0, 0)


@pytest.mark.parametrize(
    "test", [t_test, lambda d: rank_sum(d, [1.0]), lambda d: rank_sum([1.0], d)]
)
@pytest.mark.parametrize("d", [[1.0, math.nan], [[1.0, 2.0], [3.0, 4.0]], 3.0])
def test_tests_refuse_what_is_not_a_list_of_finite_numbers(test: Any, d: Any) -> None:
    with pytest.raises(ParameterError, match=r"must be (a list of numbers|finite numbers)"):
        test(d)


def test_no_pvalue_is_zero_and_sign_flips_stand_in_for_t_on_few_differences() -> None:
    for test in (binomial_test(0, 5000), *paired_tests([1.0] * 5000).values()):
        assert 0 < test.pvalue < 1e-300
    assert 0 < t_test(np.linspace(1, 1.001, 200)).pvalue < 1e-300
    few, many = [1.0] * 29 + [0.0] * 9, [1.0] * 28 + [-1.0] * 2 + [0.0] * 8
    assert (mean_test(few), mean_test(many)) == (sign_flip(few), t_test(many))
    assert Samples(tally_rows([few, many])).of_means().pvalue.tolist() == [
        mean_test(few).pvalue,
        mean_test(many).pvalue,
    ]
    assert smallest_pvalue(6) == 2**-5
    assert smallest_pvalue(0) == smallest_pvalue(1) == 1.0
    assert 0 < smallest_pvalue(5000) < 1e-300


@pytest.mark.parametrize("d", [[3.0, 0, 5, -1, 2, 4, 4], [-3.0, 1, 0, 0, 0, 0, 1]])
def test_a_function_of_scipy_can_take_the_place_of_a_test(d: list[float]) -> None:
    def by_scipy(values: Floats) -> Any:
        return scipy.stats.ttest_1samp(values, 0)

    def only_pvalues(values: Floats) -> Any:
        return by_scipy(values).pvalue

    found = paired_tests(d).one("by_scipy()", function_test(by_scipy))
    expected = t_test(d)
    only_pvalue = paired_tests(d).one("only_pvalues()", function_test(only_pvalues))
    with pytest.raises(ParameterError, match="must return a p-value"):
        paired_tests(d).one("len()", function_test(len))
    assert (found.method, found.direction, found.note) == (
        "by_scipy()",
        expected.direction,
        expected.note,
    )
    assert (found.pvalue, found.statistic) == pytest.approx(
        (expected.pvalue, expected.statistic), rel=1e-9
    )
    assert (only_pvalue.pvalue, only_pvalue.direction, only_pvalue.statistic) == (
        found.pvalue,
        found.direction,
        None,
    )


def test_the_direction_is_that_of_a_statistic_that_turns_with_the_differences() -> None:
    """Else that of the sum: of signs the larger number counts, and a count of either sign has none."""
    d = [9.0, 2.0, -1.0, -1.0, -1.0, -2.0]

    def of_signs(values: Floats) -> Any:
        return SimpleNamespace(pvalue=0.2, statistic=np.sign(values).sum())

    def of_positive(values: Floats) -> Any:
        return SimpleNamespace(pvalue=0.2, statistic=np.sum(values > 0) - 6)

    def of_sizes(values: Floats) -> Any:
        return SimpleNamespace(pvalue=0.2, statistic=-np.abs(values).sum())

    found = [
        paired_tests(d).one("own", function_test(function)).direction
        for function in (of_signs, of_positive, of_sizes)
    ]
    assert found == [-1, 1, 1]
    assert paired_tests(np.negative(d)).one("own", function_test(of_signs)).direction == 1


# Sakai, "Information Access Evaluation Methodology" (in Japanese), Table 5.1: 20 topics, two of the
# systems; results as given there and as checked by the tests of the Rust library elinor.
SAKAI_A = np.array([7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]) / 10
SAKAI_B = np.array([5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]) / 10


def test_sakai_table_5_1() -> None:
    d = differences(SAKAI_B, SAKAI_A)
    test = t_test(d)
    assert d.mean() == pytest.approx(0.0750, abs=5e-5)
    assert d.var(ddof=1) == pytest.approx(0.0251, abs=5e-5)
    assert d.mean() / d.std(ddof=1) == pytest.approx(0.473, abs=5e-4)
    assert test.statistic == pytest.approx(2.116, abs=5e-4)
    assert test.pvalue == pytest.approx(0.048, abs=5e-4)
    interval = t_interval(d.mean(), d.std(ddof=1) / math.sqrt(20), 20 - 1, 0.95)
    assert interval == pytest.approx((0.0750 - 0.0742, 0.0750 + 0.0742), abs=1e-4)


def test_a_single_value_is_a_sample_for_the_rank_sum() -> None:
    others = [2.0, 3.0, 3.0, 5.0, 7.0, 8.0]
    for single in (1.0, 3.0, 9.0):
        for samples in (([single], others), (others, [single])):
            found = rank_sum(*samples)
            expected = scipy.stats.mannwhitneyu(*samples, use_continuity=False, method="asymptotic")
            assert found.pvalue == pytest.approx(expected.pvalue)
    assert rank_sum([], others).pvalue == 1


def test_the_rank_sum_says_which_sample_is_larger() -> None:
    low, high = [1, 2, 3, 3], [3, 4, 5]
    assert [rank_sum(*pair).direction for pair in ((low, high), (high, low))] == [1, -1]
    assert rank_sum(low, low).direction == 0


def test_binomial_tests_in_tails_that_the_incomplete_beta_function_of_scipy_loses() -> None:
    won, lost = 37, 1038
    n = won + lost
    less, own = (
        Fraction(sum(math.comb(n, k) for k in range(won)), 2**n),
        Fraction(math.comb(n, won), 2**n),
    )
    assert binomial_test(won, lost).pvalue == pytest.approx(float(2 * (less + own)), rel=1e-9)
    # Also beside others.
    beside = binomial_tests([5, won], [3, lost]).pvalue.tolist()
    assert beside == [binomial_test(5, 3).pvalue, binomial_test(won, lost).pvalue]


def test_equal_differences_are_tied_by_the_larger_of_the_two_sides() -> None:
    for x, y in (([0.0, 0.0], [0.1 + 0.2, 0.3]), ([0.1 + 0.2, 0.3], [0.0, 0.0])):
        first, second = differences(x, y)
        assert first == second
