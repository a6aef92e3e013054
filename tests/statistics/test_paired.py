from __future__ import annotations

import itertools
import math
from fractions import Fraction
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
    interval_of_mean,
    midp_test,
    paired_tests,
    randomized_tukey_hsd,
    rank_sum,
    sign_flip,
    sign_test,
    t_test,
    wilcoxon,
)
from ir_outcomes.statistics.paired import Floats

whole = st.lists(st.integers(-6, 6), max_size=9).map(lambda values: np.array(values, dtype=np.float64))
long_whole = st.lists(st.integers(-100, 100), min_size=51, max_size=90).map(lambda values: np.array(values, dtype=np.float64))


def enumerated(d: Floats) -> float:
    """The sign-flip p-value from its definition, in exact arithmetic."""
    numbers = [Fraction(value).limit_denominator(10_000) for value in d.tolist()]
    observed = abs(sum(numbers, Fraction(0)))
    signs = itertools.product((-1, 1), repeat=len(d))
    sums = [abs(sum((s * x for s, x in zip(each, numbers, strict=True)), Fraction(0))) for each in signs]
    return sum(each >= observed for each in sums) / len(sums)


def convolved(d: list[int]) -> Fraction:
    """The same by convolution of Python integers, for longer inputs."""
    ways = {0: 1}
    for value in d:
        after: dict[int, int] = {}
        for total, number in ways.items():
            for each in (total + value, total - value):
                after[each] = after.get(each, 0) + number
        ways = after
    return Fraction(sum(n for total, n in ways.items() if abs(total) >= abs(sum(d))), 2 ** len(d))


@given(d=whole)
def test_exact_sign_flip_equals_enumeration(d: Floats) -> None:
    test = sign_flip(d)
    assert test.pvalue == pytest.approx(enumerated(d[d != 0]), rel=1e-12)


@given(d=st.lists(st.integers(-6, 9), min_size=30, max_size=60))
def test_exact_sign_flip_equals_convolution(d: list[int]) -> None:
    assert sign_flip(np.array(d, dtype=float)).pvalue == pytest.approx(float(convolved(d)), rel=1e-10)


@pytest.mark.parametrize("d", [[3] * 200 + [-3] * 2 + [1] * 20, [*list(range(1, 150)), -7, -1], [5, 3, 1] * 120])
def test_exact_sign_flip_of_tiny_tails(d: list[int]) -> None:
    expected = float(convolved(d))
    assert expected < 1e-40
    assert sign_flip(np.array(d, dtype=float)).pvalue == pytest.approx(expected, rel=1e-9)


def test_exact_sign_flip_with_every_difference_distinct() -> None:
    d = [size if size % 3 else -size for size in range(1, 130)]
    test = sign_flip(d)
    assert test.method == "sign-flip, exact"
    assert test.pvalue == pytest.approx(float(convolved(d)), rel=1e-12)


def test_sign_flip_does_not_take_tiny_differences_for_whole_numbers() -> None:
    tiny = np.array([1.0, 2.0, -1.0, 5.0, 3.0, -2.0, 4.0]) * 1e-30
    assert sign_flip(tiny).pvalue == pytest.approx(sign_flip(tiny * 1e30).pvalue, rel=1e-12)


def test_sampled_sign_flip_keeps_ties() -> None:
    """1/2 = 1/3 + 1/6: sums that equal the observed one must count, though no float holds the thirds exactly."""
    sizes = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)] * 6 + [Fraction(1, p) for p in (991, 997, 983)]
    d = [-size if place % 4 == 0 else size for place, size in enumerate(sizes)]
    ways = {Fraction(0): 1}
    for value in d:
        after: dict[Fraction, int] = {}
        for total, number in ways.items():
            for each in (total + value, total - value):
                after[each] = after.get(each, 0) + number
        ways = after
    observed = abs(sum(d, Fraction(0)))
    exact = sum(number for total, number in ways.items() if abs(total) >= observed) / 2 ** len(d)
    test = sign_flip([float(value) for value in d])
    assert "random flips" in test.method
    assert test.pvalue == pytest.approx(exact, abs=5 * math.sqrt(exact / 99_999))


def test_sign_flip_of_fractions_is_exact_on_their_common_scale() -> None:
    d = differences([1 / 2, 1 / 3, 1 / 6, 2 / 3, 0.25], [1, 2 / 3, 0, 1 / 3, 0.75])
    test = sign_flip(d)
    assert test.method == "sign-flip, exact"
    assert test.pvalue == pytest.approx(enumerated(d), rel=1e-12)


def test_sampled_sign_flip_is_near_the_exact_one_and_repeatable() -> None:
    rng = np.random.default_rng(1)
    d = rng.normal(0.35, 1.0, 40)
    first, again, other = (sign_flip(d, seed=seed) for seed in (0, 0, 1))
    assert first == again
    assert first.pvalue != other.pvalue
    assert "99,999 random flips, seed 0" in first.method
    exact = sign_flip(np.rint(d * 1000)).pvalue
    assert first.pvalue == pytest.approx(exact, abs=5 * math.sqrt(exact / 99_999))
    assert sign_flip(np.abs(d), resamples=999).pvalue == 1 / 1000  # never 0 (Phipson and Smyth 2010)
    assert sign_flip(-d).pvalue == first.pvalue


def test_few_fractions_without_a_common_scale_are_enumerated() -> None:
    d = np.sqrt(np.arange(1, 12.0)) * [1, -1, 1, 1, 1, -1, 1, 1, 1, -1, 1]
    test = sign_flip(d)
    assert test.method == "sign-flip, exact by enumeration"
    sums = [abs(sum(s * x for s, x in zip(signs, d, strict=True))) for signs in itertools.product((-1, 1), repeat=11)]
    assert test.pvalue == np.mean(np.array(sums) >= abs(d.sum()) - 1e-9)


@given(d=whole)
def test_wilcoxon_equals_scipy(d: Floats) -> None:
    nonzero = d[d != 0]
    test = wilcoxon(d)
    if len(d) < 2 or not len(nonzero):
        assert test.pvalue == 1.0
        assert test.note
        return
    exact = len(nonzero) == len(d) and len(set(np.abs(d))) == len(d)
    expected = scipy.stats.wilcoxon(d, zero_method="wilcox", correction=False, method="exact" if exact else "asymptotic")
    assert test.pvalue == pytest.approx(expected.pvalue, rel=1e-12)
    assert test.statistic == expected.statistic
    assert test.method.startswith(f"Wilcoxon signed rank, {'exact' if exact else 'asymptotic'}")
    assert ("zeros dropped" in test.method) == (len(nonzero) < len(d))


@given(d=long_whole)
def test_wilcoxon_is_asymptotic_beyond_50(d: Floats) -> None:
    assume(d.any())
    expected = scipy.stats.wilcoxon(d, zero_method="wilcox", correction=False, method="asymptotic")
    assert wilcoxon(d).pvalue == pytest.approx(expected.pvalue, rel=1e-12)


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
        expected_u = scipy.stats.mannwhitneyu(contender, baseline, method="asymptotic", use_continuity=False)
        assert rank_sum(baseline, contender).pvalue == pytest.approx(expected_u.pvalue, rel=1e-12)


@given(d=st.one_of(whole, long_whole))
def test_turning_the_sign_mirrors_every_test(d: Floats) -> None:
    there, back = paired_tests(d), paired_tests(-d)
    for name, test in there.items():
        assert test.pvalue == back[name].pvalue
        assert test.direction == -back[name].direction
        assert 0 < test.pvalue <= 1


@given(x=st.lists(st.integers(0, 5), max_size=9), y=st.lists(st.floats(0, 5), max_size=9))
def test_swapping_the_samples_mirrors_the_rank_sum_test(x: list[int], y: list[float]) -> None:
    there, back = rank_sum(x, y), rank_sum(y, x)
    assert there.pvalue == back.pvalue
    assert there.direction == -back.direction
    assert 0 < there.pvalue <= 1


@given(d=st.lists(st.floats(-9, 9, allow_subnormal=False), min_size=19, max_size=24))
def test_turning_the_sign_mirrors_every_test_on_any_numbers(d: list[float]) -> None:
    change = differences(np.zeros(len(d)), d)
    there, back = paired_tests(change, resamples=99), paired_tests(-change, resamples=99)
    for name, test in there.items():
        assert test.pvalue == back[name].pvalue
        assert test.direction == -back[name].direction
        assert 0 < test.pvalue <= 1


@given(x=st.lists(st.integers(1, 9), min_size=1, max_size=12), y=st.lists(st.integers(1, 9), min_size=12, max_size=12))
def test_differences_of_reciprocals_tie_where_the_fractions_do(x: list[int], y: list[int]) -> None:
    exact = [Fraction(1, b) - Fraction(1, a) for a, b in zip(x, y[: len(x)], strict=True)]
    found = differences([1 / a for a in x], [1 / b for b in y[: len(x)]])
    for i, j in itertools.combinations(range(len(x)), 2):
        assert (exact[i] == exact[j]) == (found[i] == found[j])
        assert (abs(exact[i]) == abs(exact[j])) == (abs(found[i]) == abs(found[j]))
    assert [value == 0 for value in exact] == [value == 0 for value in found]


def test_whole_differences_are_untouched() -> None:
    x, y = np.array([1, 5, 100, 3]), np.array([2, 5, 1, 9])
    assert differences(x, y).tolist() == [1.0, 0.0, -99.0, 6.0]


@pytest.mark.parametrize(
    ("d", "pvalues"),
    [
        ([], {"t": 1, "wilcoxon": 1, "sign": 1, "signflip": 1}),
        ([0.0, 0.0, 0.0], {"t": 1, "wilcoxon": 1, "sign": 1, "signflip": 1}),
        ([2.0], {"t": 1, "wilcoxon": 1, "sign": 1, "signflip": 1}),
        ([2.0] * 6, {"t": 2**-5, "sign": 2**-5, "signflip": 2**-5}),
        ([-2.0] * 6, {"t": 2**-5, "sign": 2**-5, "signflip": 2**-5}),
    ],
)
def test_degenerate_differences(d: list[float], pvalues: dict[str, float]) -> None:
    tests = paired_tests(np.array(d))
    for name, pvalue in pvalues.items():
        assert tests[name].pvalue == pvalue
    assert tests["t"].note
    if len(d) < 2 or not any(d):
        assert all(test.note for test in tests.values())


@pytest.mark.parametrize(
    "test", [t_test, wilcoxon, sign_test, sign_flip, lambda d: rank_sum(d, [1.0]), lambda d: rank_sum([1.0], d)]
)
@pytest.mark.parametrize("d", [[1.0, math.nan], [math.inf, 1.0], [[1.0, 2.0], [3.0, 4.0]], 3.0])
def test_tests_refuse_what_is_not_a_list_of_finite_numbers(test: Any, d: Any) -> None:
    with pytest.raises(ParameterError, match=r"must be (a list of numbers|finite numbers)"):
        test(d)


def test_bad_arguments_are_refused() -> None:
    with pytest.raises(ParameterError, match="baseline has 2 values and contender 1: must be paired"):
        differences([1, 2], [1])
    with pytest.raises(ParameterError, match="contender holds NaN or an infinity"):
        differences([1, 2], [1, math.nan])
    with pytest.raises(ParameterError, match="resamples=0: must be a whole number, 1 or more"):
        sign_flip([1, 2], resamples=0)
    with pytest.raises(ParameterError, match="seed=-1: must be a whole number, 0 or more"):
        sign_flip([1, 2], seed=-1)
    for counts in (binomial_test, midp_test):
        with pytest.raises(ParameterError, match="won=-1, lost=3: must be counts, 0 or more"):
            counts(-1, 3)


def test_binomial_and_midp() -> None:
    for won, lost in itertools.product(range(12), repeat=2):
        exact, midp = binomial_test(won, lost), midp_test(won, lost)
        assert exact.direction == midp.direction == np.sign(won - lost)
        if not won + lost:
            assert exact.pvalue == midp.pvalue == 1.0
            assert exact.note
            continue
        weights = [math.comb(won + lost, k) for k in range(won + lost + 1)]
        less_likely = sum(w for k, w in enumerate(weights) if abs(2 * k - won - lost) >= abs(won - lost))
        assert exact.pvalue == pytest.approx(less_likely / sum(weights), rel=1e-12)
        own = weights[won] / sum(weights) / (2 if won == lost else 1)  # half of all outcomes just as far from even
        assert midp.pvalue == pytest.approx(min(1.0, less_likely / sum(weights) - own), rel=1e-12)
        assert (exact.pvalue, midp.pvalue) == (binomial_test(lost, won).pvalue, midp_test(lost, won).pvalue)


def test_published_mcnemar_tests() -> None:
    """Cavo et al. 2012 as in Fagerland, Lydersen and Laake 2017, chapter 8; their R package contingencytables, test-ch8.R."""
    assert binomial_test(6, 16).pvalue == pytest.approx(0.052479, abs=5e-7)
    assert midp_test(6, 16).pvalue == pytest.approx(0.034690, abs=5e-7)
    assert midp_test(1, 1).pvalue == pytest.approx(0.75)  # 1 - 0.5 P(1), their rule for equal counts


def test_t_test_needs_no_scipy_warning_filter() -> None:
    assert t_test(np.array([1.0, 1.0, 1.0])).statistic is None


# Sakai, "Information Access Evaluation Methodology" (in Japanese), Table 5.1: 20 topics, three systems; results as given there
# and as checked by the tests of the Rust library elinor.
SAKAI_A = np.array([7, 3, 2, 6, 4, 4, 0, 7, 1, 3, 5, 4, 0, 6, 5, 3, 1, 5, 2, 1]) / 10
SAKAI_B = np.array([5, 1, 0, 2, 4, 3, 0, 5, 3, 3, 4, 4, 1, 4, 2, 1, 1, 6, 3, 2]) / 10
SAKAI_C = np.array([0, 0, 2, 1, 3, 3, 1, 2, 4, 4, 4, 3, 3, 2, 2, 2, 1, 5, 4, 3]) / 10


def test_sakai_table_5_1() -> None:
    d = differences(SAKAI_B, SAKAI_A)
    test = t_test(d)
    assert d.mean() == pytest.approx(0.0750, abs=5e-5)
    assert d.var(ddof=1) == pytest.approx(0.0251, abs=5e-5)
    assert d.mean() / d.std(ddof=1) == pytest.approx(0.473, abs=5e-4)
    assert test.statistic == pytest.approx(2.116, abs=5e-4)
    assert test.pvalue == pytest.approx(0.048, abs=5e-4)
    interval = interval_of_mean(float(d.mean()), float(d.std(ddof=1)), 20, 0.95)
    assert interval == pytest.approx((0.0750 - 0.0742, 0.0750 + 0.0742), abs=1e-4)


def test_sakai_table_5_1_with_two_systems_tukey_is_the_sign_flip_test() -> None:
    two = randomized_tukey_hsd(np.stack([SAKAI_A, SAKAI_B], axis=1), resamples=19_999)
    assert two[0, 1] == pytest.approx(sign_flip(differences(SAKAI_A, SAKAI_B)).pvalue, abs=0.006)
    three = randomized_tukey_hsd(np.stack([SAKAI_A, SAKAI_B, SAKAI_C], axis=1), resamples=9_999)
    assert three[0, 1] > two[0, 1]  # one looks at three pairs
    assert three[0, 2] < three[0, 1] < three[1, 2]  # in the order of the differences of the means
