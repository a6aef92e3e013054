import math

import numpy as np
import pytest
import scipy.optimize
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.statistics.counts import linearized
from ir_outcomes.statistics.intervals import effective_df
from ir_outcomes.statistics.pooling import (
    cautious_mean,
    fixed_mean,
    heterogeneity_test,
    log_ratio_of_means,
    prediction_interval,
    prediction_powered_mean,
    random_effects,
)

# Trials of the BCG vaccine: cases and others, vaccinated and not. Colditz et al. 1994, as dat.bcg
# in the R package metafor.
BCG = np.array(
    [
        *(
            [4, 119, 11, 128],
            [6, 300, 29, 274],
            [3, 228, 11, 209],
            [62, 13536, 248, 12619],
            [33, 5036, 47, 5761],
        ),
        *(
            [180, 1361, 372, 1079],
            [8, 2537, 10, 619],
            [505, 87886, 499, 87892],
            [29, 7470, 45, 7232],
            [17, 1699, 65, 1600],
        ),
        *([186, 50448, 141, 27197], [5, 2493, 3, 2338], [27, 16886, 29, 17825]),
    ]
)

effects = st.lists(st.tuples(st.floats(-2, 2), st.floats(0.01, 1)), min_size=3, max_size=12)


def test_a_new_effect_varies_like_the_mean_where_effects_vary_less_than_their_errors() -> None:
    """No variance between samples is plausible then."""
    y, v = np.array([0.30, 0.301, 0.299, 0.3]), np.array([1.0, 2.0, 3.0, 4.0])
    mean = np.average(y, weights=1 / v)
    error = math.sqrt(np.sum((y - mean) ** 2 / v) / 3 / np.sum(1 / v))
    expected = scipy.stats.t.interval(0.9, 3, mean, error)
    assert prediction_interval(y, v, 0.9) == pytest.approx(expected, rel=1e-6)


@given(samples=effects)
def test_random_effects_by_their_formulas(samples: list[tuple[float, float]]) -> None:
    y, v = np.array(samples).T
    k, found = len(y), random_effects(y, v, 0.9)
    w = 1 / (v + found.tau_squared)
    effect = np.average(y, weights=w)
    q = np.sum(w * (y - effect) ** 2) / (k - 1)
    # What Paule and Mandel solve.
    assert q == pytest.approx(1, rel=1e-9) if found.tau_squared else q <= 1 + 1e-12
    error = math.sqrt(max(1, q) / w.sum())
    expected = scipy.stats.t.interval(0.9, k - 1, effect, error)
    np.testing.assert_allclose((found.low, found.high), expected, rtol=1e-9, atol=1e-12)
    of_one_mean = np.sum((y - np.average(y, weights=1 / v)) ** 2 / v)
    assert found.cochran_q == pytest.approx(of_one_mean, rel=1e-9, abs=1e-12)
    assert found.cochran_pvalue == pytest.approx(scipy.stats.chi2.sf(found.cochran_q, k - 1))
    beyond_chance = max(0.0, found.cochran_q - (k - 1))
    assert found.i_squared * found.cochran_q == pytest.approx(beyond_chance, abs=1e-9)
    assert found.prediction == prediction_interval(y, v, 0.9)
    assert found.pvalue == pytest.approx(2 * scipy.stats.t.sf(abs(effect / error), k - 1), rel=1e-9)
    assert sum(found.weights) == pytest.approx(1)


@pytest.mark.parametrize(("k", "tau"), [(5, 0.0), (5, 0.5), (9, 0.1), (18, 0.3)])
def test_prediction_by_the_confidence_distribution_of_tau_squared(k: int, tau: float) -> None:
    """Its ends are the quantiles of a mixture over 4000 quantiles of chi-square, each solved by itself, and 400 of z."""
    rng = np.random.default_rng(k)
    y, v = rng.normal(0.2, tau + 0.1, k), rng.uniform(0.01, 0.1, k)

    def q_at(tau_squared: float) -> float:
        w = 1 / (v + tau_squared)
        return float(w @ (y - np.average(y, weights=w)) ** 2)

    z = scipy.stats.norm.ppf((np.arange(400) + 0.5) / 400)
    low, high = prediction_interval(y, v, 0.95)
    below = []
    for quantile in scipy.stats.chi2.ppf((np.arange(1000) + 0.5) / 1000, k - 1):
        tau_squared = (
            0.0
            if q_at(0.0) <= quantile
            else scipy.optimize.brentq(lambda t, q=quantile: q_at(t) - q, 0, 1e4)
        )
        w = 1 / (v + tau_squared)
        mean, error = np.average(y, weights=w), math.sqrt(q_at(tau_squared) / (k - 1) / w.sum())
        at = (np.array([[low], [high]]) - mean - math.sqrt(tau_squared) * z) / error
        below.append(scipy.stats.t.cdf(at, k - 1).mean(axis=1))
    assert np.mean(below, axis=0) == pytest.approx([0.025, 0.975], abs=5e-4)
    mirrored = prediction_interval(-y, v, 0.95)
    assert (-mirrored.high, -mirrored.low) == pytest.approx((low, high), abs=1e-6)
    scaled = prediction_interval(1e3 * y, 1e6 * v, 0.95)
    assert scaled == pytest.approx((1e3 * low, 1e3 * high), abs=1e-3)
    assert prediction_interval(np.full(5, 0.5), np.full(5, 0.1), 0.95) == (0.5, 0.5)


def test_bcg_vaccine() -> None:
    """Published by metafor: Q(12) = 152.2330; Paule and Mandel's tau^2 is 0.3181, the mean log relative risk -0.7150."""
    cases, others, control_cases, control_others = BCG.T
    y = np.log(cases / (cases + others) * (control_cases + control_others) / control_cases)
    v = 1 / cases - 1 / (cases + others) + 1 / control_cases - 1 / (control_cases + control_others)
    found = random_effects(y, v, 0.95)
    within = found.within(0.5)
    assert found.low < -0.5 < found.high < 0.5 < found.predicted_high
    assert (within.interval, within.prediction) == ((-0.5, found.high), (-0.5, 0.5))
    assert found.cochran_q == pytest.approx(152.2330, abs=5e-5)
    assert found.tau_squared == pytest.approx(0.3181, abs=5e-5)
    assert found.effect == pytest.approx(-0.7150, abs=5e-5)
    assert found.i_squared == pytest.approx(0.9212, abs=5e-5)
    assert (found.low, found.high) == pytest.approx((-1.1091, -0.3208), abs=5e-5)


@given(
    samples=st.lists(
        st.tuples(st.floats(-2, 2), st.floats(0.01, 1), st.integers(2, 500)), min_size=1, max_size=9
    )
)
def test_fixed_mean_weighs_all_samples_alike(samples: list[tuple[float, float, int]]) -> None:
    y, v, n = np.array(samples).T
    found = fixed_mean(y, v, n, 0.95)
    error = math.sqrt(v.sum()) / len(y)
    df = v.sum() ** 2 / np.sum(v**2 / (n - 1))
    np.testing.assert_allclose(
        (found.low, found.high),
        scipy.stats.t.interval(0.95, df, y.mean(), error),
        rtol=1e-9,
        atol=1e-12,
    )
    assert found.pvalue == pytest.approx(2 * scipy.stats.t.sf(abs(y.mean() / error), df), rel=1e-9)


def test_log_ratio_of_means_by_the_jackknife() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.gamma(30, 1, 400), rng.gamma(30, 1.1, 400)
    found = log_ratio_of_means(x, y)
    assert found is not None
    assert found[0] == pytest.approx(math.log(y.mean() / x.mean()))
    left_out = [math.log(np.delete(y, i).mean() / np.delete(x, i).mean()) for i in range(400)]
    assert found[1] == pytest.approx(
        399 / 400 * np.sum((np.array(left_out) - np.mean(left_out)) ** 2)
    )
    assert found.df == pytest.approx(effective_df(left_out))
    assert log_ratio_of_means(y, x) == pytest.approx((-found.mean, found.variance, found.df))


@pytest.mark.parametrize(("n_pairs", "is_known"), [(9, False), (10, True)])
def test_a_ratio_needs_ten_pairs(n_pairs: int, is_known: bool) -> None:
    baseline, contender = [1, 2, 3, 4, 5] * 2, [2, 2, 4, 3, 9] * 2
    found = log_ratio_of_means(baseline[:n_pairs], contender[:n_pairs])
    assert (found is not None) == is_known


def heterogeneity_literally(d: np.ndarray, labels: list[str]) -> float:
    groups = [d[[label == group for label in labels]] for group in sorted(set(labels))]
    everything = d.var()
    v = np.array([(g.var(ddof=1) or everything) / len(g) for g in groups])
    means = np.array([g.mean() for g in groups])
    return float(np.sum((means - np.average(means, weights=1 / v)) ** 2 / v))


def test_heterogeneity_by_permuting_labels() -> None:
    rng = np.random.default_rng(4)
    labels = [*"aaaaaaaaaaaaaaabbbbbbbbbbcccccccccc"]
    d = rng.integers(-2, 3, 35) + np.array([label == "c" for label in labels]) * 1.5
    found = heterogeneity_test(d, labels, seed=1)
    assert found is not None
    q = heterogeneity_literally(d, labels)
    assert found.cochran_q == pytest.approx(q, rel=1e-9)
    shuffled = [
        heterogeneity_literally(rng.permutation(d), labels) >= q - 1e-9 for _ in range(1500)
    ]
    assert found.pvalue == pytest.approx(np.mean(shuffled), abs=0.02)


def test_permutations_are_those_of_a_seed_which_is_zero_by_default() -> None:
    d, labels = [1, 2, 4, 7, 3, 5, 9, 4, 1, 1, 8, 2], [*"aaaabbbbcccc"]
    by_default, again, other = (
        heterogeneity_test(d, labels, resamples=499, **seed)
        for seed in ({}, {"seed": 0}, {"seed": 1})
    )
    assert by_default == again
    assert other != again


def test_where_there_is_nothing_to_compare() -> None:
    for labels in ("aaa", "aab"):
        assert heterogeneity_test([1, 2, 3], [*labels]) is None
    assert heterogeneity_test([1, 1, 1, 1], [*"aabb"]) is None
    one_without_variance = heterogeneity_test(
        [0, 0, 0, 0, 1, -1, 2, -2], [*"aaaabbbb"], resamples=99
    )
    assert one_without_variance is not None
    assert one_without_variance.pvalue > 0.5
    assert log_ratio_of_means([1, 2, 3] * 4, [2, 2, 3] * 4) is not None
    for x, y in (
        ([1, 2, 3] * 3, [2, 2, 3] * 3),  # nine pairs
        ([1, 2, 3] * 4, [1, 2, 3] * 4),
        ([1] + [0] * 11, [1, 2, 3] * 4),  # without its one value the mean is 0
        ([0.1, 0.2, 0.3] * 4, [0.3, 0.6, 0.9] * 4),  # one ratio, but for rounding
    ):
        assert log_ratio_of_means(x, y) is None


@pytest.mark.parametrize("seed", range(6))
def test_a_mean_from_labels_and_predictions_by_its_formula(seed: int) -> None:
    """Angelopoulos, Duchi and Zrnic 2023: the labels, less weighted predictions for them, plus those for all others."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(0, 1, 40 + 200)
    # Also useless ones, and ones that are wrong.
    predicted = (seed - 1) * truth + rng.normal(0, 1, len(truth)) + 0.5
    y, f, rest = truth[:40], predicted[:40], predicted[40:]
    spread = predicted.var(ddof=1)
    weight = min(1.0, max(0.0, np.cov(y, f)[0, 1] / ((1 + 40 / 200) * spread)))
    rectified = y - weight * f
    found = prediction_powered_mean(y, f, rest, 0.95)
    assert found.weight == pytest.approx(weight)
    assert found.mean == pytest.approx(rectified.mean() + weight * rest.mean())
    assert (found.interval.low + found.interval.high) / 2 == pytest.approx(found.mean)
    variance = rectified.var(ddof=1) / 40 + weight**2 * spread / 200
    half = found.interval.high - found.mean
    df = [scipy.stats.t(df).ppf(0.975) * np.sqrt(variance) for df in (39, 3)]
    # Degrees of freedom are fewer where the values have heavy tails.
    assert df[0] * 0.999 <= half <= df[1]


def test_the_more_two_imaginary_values_weigh_the_less_does_a_heavy_tail() -> None:
    """At weight 1 they stand for the tail that was not drawn, and n values have n - 1."""
    values = np.random.default_rng(1).standard_t(3, 40)
    own = effective_df(values)
    assert own < 30
    for step in (0.0, 0.25, 1.0):
        found = cautious_mean(values, 20.0, step)
        assert found.df == pytest.approx(own + step * (39 - own))


def test_labels_and_predictions_of_the_same_clusters_vary_together() -> None:
    """The variance of their sum by the sums of each cluster, with the factor of Liang and Zeger for each of the two."""
    rng = np.random.default_rng(4)
    cluster = rng.integers(0, 20, 240)
    truth = rng.normal(0, 1, 240) + rng.normal(0, 2, 20)[cluster]
    predicted = truth + rng.normal(0, 1, 240)
    y, f, rest = truth[:40], predicted[:40], predicted[40:]
    own, others = cluster[:40], cluster[40:]
    found = prediction_powered_mean(y, f, rest, 0.95, clusters=(own, others))

    def sums(values: np.ndarray, of: np.ndarray) -> np.ndarray:
        centred = (values - values.mean()) / len(values)
        return np.array([centred[of == number].sum() for number in range(20)])

    rectified = y - found.weight * f
    of_labels = sums(rectified, own)
    of_rest = found.weight * sums(rest, others)
    variance = 2 * float(of_labels @ of_rest)
    for part, of in ((of_labels, own), (of_rest, others)):
        n = len(set(of.tolist()))
        variance += n / (n - 1) * float(part @ part)
    quantile = scipy.stats.t.ppf(0.975, effective_df(linearized(rectified, own)))
    half = (found.interval.high - found.interval.low) / 2
    assert found.weight > 0.3
    assert half == pytest.approx(quantile * np.sqrt(variance))


@pytest.mark.parametrize(
    ("predictions", "others"), [([2.0] * 12, [2.0] * 30), (list(range(12)), [])]
)
def test_predictions_that_say_nothing_have_no_weight(
    predictions: list[float], others: list[float]
) -> None:
    labels = np.random.default_rng(1).normal(0, 1, 12)
    for largest in (None, 5.0):
        found = prediction_powered_mean(labels, predictions, others, 0.95, largest=largest)
        assert found.weight == 0
        assert found.mean == pytest.approx(labels.mean())
        assert found.interval == pytest.approx(cautious_mean(labels, largest).interval(0.95))
