"""The one estimate against a loop written from its definition (docs/verdict.md), and its promises."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest, ttest_rel

from ir_outcomes.choices import Floats
from ir_outcomes.statistics.estimate import (
    Sums,
    estimates,
    margin_intervals,
)
from tests.helpers.estimate import margin_interval, mean_of_units

values = st.one_of(
    st.integers(-9, 9).map(float), st.floats(-9, 9, width=16), st.sampled_from([0.0, 0.0, 1.0])
)


@st.composite
def samples(draw: st.DrawFn) -> list[tuple[float, float]]:
    """Units, often few that differ, of size 1 or of unequal sizes."""
    number = draw(st.integers(2, 30))
    sums = draw(st.lists(values, min_size=number, max_size=number))
    if draw(st.booleans()):
        kept = draw(st.integers(0, 6))
        sums = [*sums[:kept], *[0.0] * (number - kept)]
    sizes = [1.0] * number
    if draw(st.booleans()):
        sizes = [
            float(size)
            for size in draw(st.lists(st.integers(1, 20), min_size=number, max_size=number))
        ]
    return list(zip(sums, sizes, strict=True))


def sums_of(sample: list[tuple[float, float]]) -> Sums:
    total, size = np.array(sample, dtype=np.float64).reshape(-1, 2).T
    return Sums.of(total[None], size[None], exact=True)


@settings(max_examples=150)
@given(samples(), st.sampled_from([0.05, 0.125]), st.sampled_from([None, 9.0, 99.0]))
def test_as_defined(sample: list[tuple[float, float]], alpha: float, largest: float | None) -> None:
    expected = mean_of_units(sample, math.inf if largest is None else largest, alpha)
    found = estimates(sums_of(sample), alpha, largest)
    assert found.mean[0] == pytest.approx(expected.difference, abs=1e-12)
    assert found.pvalue[0] == pytest.approx(expected.pvalue(), rel=1e-6, abs=1e-300)
    interval = found.interval()
    if expected.interval(alpha) is None:
        assert interval is None
    else:
        assert interval == pytest.approx(expected.interval(alpha), rel=1e-6, abs=1e-9)


@given(samples(), st.sampled_from([0.05, 0.01, None]))
def test_p_is_the_inverse_of_the_interval(
    sample: list[tuple[float, float]], alpha: float | None
) -> None:
    """Also at the border, where alpha is p itself."""
    pvalue = float(estimates(sums_of(sample)).pvalue[0])
    alpha = alpha or min(max(pvalue, 1e-9), 0.5)
    found = estimates(sums_of(sample), alpha, 200.0)
    interval = found.interval()
    assert interval is not None
    assert (pvalue <= alpha) == (interval.low > 0 or interval.high < 0)
    assert 0 <= pvalue <= 1


@given(samples(), st.randoms(use_true_random=False))
def test_mirrored_and_in_any_order(sample: list[tuple[float, float]], random: object) -> None:
    found = estimates(sums_of(sample), 0.05, 50.0)
    mirrored = estimates(sums_of([(-s, n) for s, n in sample]), 0.05, 50.0)
    assert mirrored.pvalue[0] == found.pvalue[0]
    assert (mirrored.low[0], mirrored.high[0]) == (-found.high[0], -found.low[0])
    shuffled = list(sample)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    again = estimates(sums_of(shuffled), 0.05, 50.0)
    assert (again.pvalue[0], again.low[0]) == (found.pvalue[0], found.low[0])


@given(samples(), st.sampled_from([0.95, 0.975]), st.sampled_from([9.0, 99.0]))
def test_interval_for_margins_as_defined(
    sample: list[tuple[float, float]], level: float, largest: float
) -> None:
    low, high = margin_intervals(sums_of(sample), level, largest)
    expected = margin_interval(sample, largest, 1 - level)
    assert (low[0], high[0]) == pytest.approx(expected, rel=1e-6, abs=1e-9)


@given(samples(), st.integers(0, 2**30))
def test_halves_are_samples(sample: list[tuple[float, float]], bits: int) -> None:
    rng = np.random.default_rng(bits)
    total, size = np.array(sample, dtype=np.float64).T
    first = rng.random((len(sample), 5)) < 0.6
    found = estimates(Sums.of(total[None], size[None], first.astype(float)), 0.05, 20.0)
    for column, members in enumerate(np.concatenate([first, ~first], axis=1).T):
        if members.any():
            alone = sums_of([unit for unit, kept in zip(sample, members, strict=True) if kept])
            expected = estimates(alone, 0.05, 20.0)
            assert found.pvalue[column] == pytest.approx(expected.pvalue[0], rel=1e-6)


def plain(differences: list[float] | Floats) -> Sums:
    """Sums of differences of independent queries."""
    return sums_of([(float(difference), 1.0) for difference in differences])


def p_of(*counts: tuple[float, int]) -> float:
    change = [value for value, number in counts for _ in range(number)]
    return float(estimates(plain(change)).pvalue[0])


def test_the_numbers_of_the_definition() -> None:
    """6 of 900 by one rank .034 (paired t .014, exact .031); 8 won and 1 lost .035; 4 of 900 .125."""
    assert p_of((1.0, 6), (0.0, 894)) == pytest.approx(0.034, abs=5e-4)
    assert ttest_rel([1] * 6 + [0] * 894, [0] * 900).pvalue == pytest.approx(0.014, abs=5e-4)
    assert binomtest(6, 6).pvalue == pytest.approx(0.031, abs=5e-4)
    assert p_of((1.0, 8), (-1.0, 1), (0.0, 900)) == pytest.approx(0.035, abs=5e-4)
    assert p_of((1.0, 4), (0.0, 896)) == 0.125
    assert p_of((1.0, 5)) == 0.0625


def test_without_clusters_the_short_formula() -> None:
    """(sum d^2 (1 + 2 / m) - n mean^2) / (n (n - 1)), and n - 1 degrees of freedom."""
    change = np.array([3.0, -1.0, 0.0, 0.5, 2.0, 0.0, 7.0])
    n = len(change)
    m = np.count_nonzero(change)
    found = estimates(plain(change))
    variance = (sum(change**2) * (1 + 2 / m) - n * change.mean() ** 2) / (n * (n - 1))
    assert found.standard_error[0] == pytest.approx(math.sqrt(variance), rel=1e-12)
    assert found.df[0] == n - 1


def test_counts_are_differences_of_one_size() -> None:
    found = Sums.of_counts(20, 5, 2, 100.0)
    expected = plain([100.0] * 5 + [-100.0] * 2 + [0.0] * 13)
    assert [column.tolist() for column in found] == [column.tolist() for column in expected]


def test_nothing_to_tell() -> None:
    none = estimates(plain([]), 0.05, 9.0)
    assert none.pvalue[0] == 1
    assert none.interval() is None
    one = estimates(plain([5.0]), 0.05, 9.0)
    assert (one.pvalue[0], one.interval()) == (1, None)
    same = estimates(plain([0.0] * 20), 0.05, 9.0)
    assert same.pvalue[0] == 1
    low, high = same.interval() or (0.0, 0.0)
    assert -low == high == pytest.approx(9 * (1 - 0.025 ** (1 / 20)))
    identical = estimates(plain([0.0] * 20), 0.05, 9.0, True)
    assert identical.interval() == (0, 0)
