"""Planning: against the noncentral t, simulated samples, and the sample that the package brings."""

import numpy as np
import pytest
from scipy import stats

from ir_outcomes.choices import Floats
from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.power import (
    LIMIT,
    detectable,
    queries_for_margin,
    queries_for_mean,
    unit_values,
)

SKEWED = [0] * 60 + [1, -2, 5, -1, 3, -8, 2, 1, 1, -4] * 4


def literal(d: Floats, n: int, effect: float, alpha: float) -> int:
    """Count up to the first size that the estimate's variance allows, and the fewest that differ."""
    quantiles = stats.norm.ppf(1 - alpha / 2) + stats.norm.ppf(0.8)
    differ = np.count_nonzero(d)
    counted = 1
    while True:
        variance = d.var(ddof=1) + 2 * (d**2).sum() / differ / counted
        if counted >= (quantiles / effect) ** 2 * variance:
            break
        counted += 1
    # The quadratic has a fraction, to which what the t adds to the normal distribution is added.
    half = (quantiles / effect) ** 2 * d.var(ddof=1) / 2
    exact = half + np.sqrt(half**2 + (quantiles / effect) ** 2 * 2 * (d**2).sum() / differ)
    assert counted - 1 < exact <= counted
    size = int(np.ceil((exact + stats.norm.ppf(1 - alpha / 2) ** 2 / 2) * n / len(d)))
    least = 1
    while 2.0 ** (1 - least) > alpha:
        least += 1
    while stats.binom.sf(least - 1, size, differ / n) < 0.8:
        size += 1
    return size


@pytest.mark.parametrize("alpha", [0.05, 0.01])
@pytest.mark.parametrize("effect", [0.1, 0.5, 3.0])
@pytest.mark.parametrize("n", [125, 300])
def test_the_number_is_that_of_a_literal_loop(n: int, effect: float, alpha: float) -> None:
    d = np.array(SKEWED, dtype=np.float64)
    assert queries_for_mean(d, n, effect, alpha=alpha).queries == literal(d, n, effect, alpha)
    assert queries_for_mean(-d, n, -effect, alpha=alpha).queries == literal(d, n, effect, alpha)


def test_one_point_of_the_sample() -> None:
    """Won 32 and lost 5 of 1000."""
    d = np.array([100.0] * 32 + [-100.0] * 5 + [0.0] * 963)
    plan = queries_for_mean(d, 1000, -1.0, alpha=0.05)
    assert plan.queries == literal(d, 1000, 1.0, 0.05) == 2906
    assert plan.upper == 3345


@pytest.mark.parametrize(("alpha", "least"), [(0.05, 6), (0.01, 8)])
def test_so_many_differ_that_the_estimate_can_decide(alpha: float, least: int) -> None:
    """Twelve won of 30, for 80 points."""
    d = [100.0] * 12 + [0.0] * 18
    n = queries_for_mean(d, 30, 80.0, alpha=alpha).queries
    assert n is not None
    enough = [stats.binom.sf(least - 1, size, 0.4) >= 0.8 for size in (n - 1, n)]
    assert enough == [False, True]
    assert queries_for_mean(d, 30, 80.0, alpha=alpha, differ=6).queries > n  # type: ignore[operator]
    # Where 12 of 3 million differ, six take more than a million.
    assert queries_for_mean(d, 3_000_000, 80.0, alpha=alpha).queries is None


def test_an_upper_bound_is_that_of_a_chi_square_of_the_variance() -> None:
    """Of values that vary as a normal distribution's do, in a third of the queries."""
    d = stats.norm.ppf((np.arange(300) + 0.5) / 300)
    assert stats.kurtosis(d, bias=False) < 0
    quantiles = stats.norm.ppf(0.995) + stats.norm.ppf(0.8)
    for n in (300, 900):
        share = 300 / n
        df = 2 / (2 / 299 + (1 - share) / (share * n))
        half = (quantiles / 0.1) ** 2 * d.var(ddof=1) * df / stats.chi2.ppf(0.2, df) / 2
        size = half + np.sqrt(half**2 + (quantiles / 0.1) ** 2 * 2 * (d**2).mean())
        size += stats.norm.ppf(0.995) ** 2 / 2
        assert queries_for_mean(d, n, 0.1, alpha=0.01).upper == np.ceil(size / share)


@pytest.mark.parametrize("effect", [0.05, 0.3, 1.0])
def test_so_many_queries_have_the_power_of_the_noncentral_t(effect: float) -> None:
    d = np.random.default_rng(0).normal(0, 1, 100)
    n = queries_for_mean(d, 100, effect, alpha=0.05).queries
    assert n is not None

    def power(size: int) -> float:
        shift = effect / d.std(ddof=1) * np.sqrt(size)
        return float(stats.nct.sf(stats.t.ppf(0.975, size - 1), size - 1, shift))

    # The two imaginary queries take their part, about four queries of what does not change.
    assert power(n + 1) > 0.8 > power(n - 6)
    thinned = queries_for_mean(d, 200, effect, alpha=0.05).queries
    assert thinned == pytest.approx(2 * n, abs=1)


def samples(d: Floats, size: int, number: int) -> Floats:
    rng = np.random.default_rng(1)
    signs = rng.choice([-1.0, 1.0], (number, 1))
    return np.asarray(signs * rng.choice(d - d.mean(), (number, size)))


@pytest.mark.parametrize(("margin", "largest"), [(0.5, 99.0), (1.0, 9.0)])
def test_so_many_queries_exclude_harm_in_four_of_five_samples(
    margin: float, largest: float
) -> None:
    """By the interval for margins, written from its definition."""
    d = np.array(SKEWED, dtype=np.float64)
    n = queries_for_margin(d, len(d), margin, largest, alpha=0.05).queries
    assert n is not None
    real = samples(d, n, 4000)
    imaginary = np.tile([largest, largest, -largest, -largest], (len(real), 1))
    units = np.concatenate([real, imaginary], axis=1)
    error = units.std(axis=1, ddof=1) / np.sqrt(n + 4)
    highest = units.mean(axis=1) + stats.t.ppf(0.975, n + 3) * error
    assert (highest < margin).mean() == pytest.approx(0.8, abs=0.02)


def test_the_upper_bound_holds_in_four_of_five_pilots() -> None:
    population = np.array(SKEWED, dtype=np.float64)
    squared = (stats.norm.ppf(0.975) + stats.norm.ppf(0.8)) ** 2
    needed = squared * population.var() / 0.25 / 0.7
    rng = np.random.default_rng(2)
    held = []
    for _ in range(1000):
        pilot = rng.choice(population, rng.binomial(200, 0.7))
        held.append((queries_for_mean(pilot, 200, 0.5, alpha=0.05).upper or 0) >= needed)
    assert 0.78 <= np.mean(held) <= 0.88


def test_without_a_spread_there_is_no_number_for_an_effect_but_one_for_a_margin() -> None:
    for d in ([], [1.0], [2.0] * 9):
        assert queries_for_mean(d, 9, 1.0, alpha=0.05).queries is None
    unchanged = queries_for_margin([0.0] * 9, 9, 1.0, 99.0, alpha=0.05)
    assert unchanged.upper is None
    n = unchanged.queries
    assert n is not None
    halves = [
        stats.t.ppf(0.975, size + 3) * 2 * 99 / np.sqrt((size + 3) * (size + 4))
        for size in (n - 1, n)
    ]
    assert halves[0] >= 1 > halves[1]
    assert queries_for_margin([], 9, 1.0, 99.0, alpha=0.05).queries is None
    assert queries_for_mean(SKEWED, 100, 1e-5, alpha=0.05).queries is None
    assert queries_for_margin(SKEWED, 100, 1e-5, 99.0, alpha=0.05).queries is None
    assert LIMIT > 100


@pytest.mark.parametrize("df", [5, 20, 200])
def test_a_difference_that_is_detected_has_the_power_of_the_noncentral_t(df: int) -> None:
    difference = detectable(1.0, df, 0.05)
    assert difference is not None
    critical = stats.t.ppf(0.975, df)
    assert stats.nct.sf(critical, df, difference) == pytest.approx(0.8, abs=0.01)
    assert detectable(1.0, df, 0.05, largest=difference - 0.1) is None


def test_values_of_units_have_the_mean_and_the_variance_of_the_estimate() -> None:
    sums = np.array([5.0, -1.0, 2.0, 0.0])
    sizes = np.array([3.0, 1.0, 2.0, 2.0])
    values = unit_values(sums, sizes)
    assert values.mean() == pytest.approx(6 / 8)
    residuals = sums - sizes * 6 / 8
    assert values.var() / 4 == pytest.approx((residuals**2).sum() / 64)


def test_wrong_effects_and_pilots_are_refused() -> None:
    for d, n, effect in (([1, 2, 3], 2, 1.0), ([1, 2], 2, 0.0), ([1, 2], 2, float("nan"))):
        with pytest.raises(ParameterError):
            queries_for_mean(d, n, effect, alpha=0.05)
    with pytest.raises(ParameterError):
        queries_for_mean([1, 2], 2, 1.0, alpha=0.05, power=0.01)


def test_clusters_of_unequal_size_exclude_harm_in_four_of_five_samples() -> None:
    """Every second one has three queries; the imaginary ones have, too."""
    sizes = np.tile([1.0, 3.0], 50)
    population = np.array(SKEWED, dtype=np.float64)
    d = unit_values(samples(population, 100, 1)[0] * sizes, sizes)
    n = queries_for_margin(d, 100, 1.0, 20.0, alpha=0.05, weight=1.5).queries
    assert n is not None
    sizes = np.tile([1.0, 3.0], n // 2)
    sums = samples(population, len(sizes), 4000) * sizes
    sums *= d.std(ddof=1) / (sums / 2).std()
    rows = sizes.sum() + 12
    imaginary = np.tile([60.0, 60.0, -60.0, -60.0], (4000, 1))
    units = np.concatenate([sums, imaginary], axis=1)
    mean = sums.sum(axis=1) / rows
    residuals = units - mean[:, None] * np.append(sizes, [3.0] * 4)
    error = np.sqrt((n + 4) / (n + 3) * (residuals**2).sum(axis=1)) / rows
    highest = mean + stats.t.ppf(0.975, n + 3) * error
    assert (highest < 1.0).mean() == pytest.approx(0.8, abs=0.03)
