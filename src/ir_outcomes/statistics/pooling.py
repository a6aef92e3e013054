"""Combine the effects of several independent samples, such as collections: for these samples, and for a new one."""

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.statistics.counts import linearized, special
from ir_outcomes.statistics.intervals import (
    Interval,
    adjusted_wald,
    effective_df,
    log_ratio_values,
    on_ratio_scale,
    root,
    t_interval,
)
from ir_outcomes.types import Floats, Ints, check_draws

FEWEST_SAMPLES_TO_GENERALISE = 5
FEWEST_PAIRS_OF_A_RATIO = 10


@dataclass(frozen=True)
class FixedMean:
    """The unweighted mean of the effects of these samples, each with the same weight."""

    effect: float  #: in the unit of the effects
    low: float  #: ends of its interval, t with Welch-Satterthwaite degrees of freedom
    high: float
    pvalue: float  #: of a mean of 0
    pvalue_corrected: float  #: the same, until it is corrected over several means
    k: int  #: samples, or groups of them

    @property
    def interval(self) -> Interval:
        """Its interval."""
        return Interval(self.low, self.high)

    def within(self, largest: float) -> "FixedMean":
        """Cut its interval at the largest possible size of an effect."""
        low, high = self.interval.within(-largest, largest)
        return replace(self, low=low, high=high)


@dataclass(frozen=True)
class RandomEffects:
    """The mean of the effects of all samples like these, and the effect of a new one."""

    effect: float  #: mean over all samples like these, by precision
    low: float  #: ends of its interval (Hartung, Knapp, Sidik and Jonkman, modified), t with k - 1 degrees of freedom
    high: float
    pvalue: float  #: of a mean of 0
    predicted_low: float  #: ends of the prediction interval of the effect of a new sample
    predicted_high: float
    tau_squared: float  #: variance of the effects between samples (Paule and Mandel)
    i_squared: float  #: share of their variance that is not due to sampling
    cochran_q: float  #: Cochran's Q of all effects being equal
    cochran_pvalue: float  #: its p-value as chi-square
    weights: tuple[float, ...]  #: of the samples in the mean
    k: int  #: samples, or groups of them

    @property
    def interval(self) -> Interval:
        """Interval of the mean."""
        return Interval(self.low, self.high)

    @property
    def prediction(self) -> Interval:
        """Prediction interval of the effect of a new sample."""
        return Interval(self.predicted_low, self.predicted_high)

    def within(self, largest: float) -> "RandomEffects":
        """Cut its intervals at the largest possible size of an effect."""
        low, high = self.interval.within(-largest, largest)
        predicted_low, predicted_high = self.prediction.within(-largest, largest)
        return replace(
            self, low=low, high=high, predicted_low=predicted_low, predicted_high=predicted_high
        )


class Heterogeneity(NamedTuple):
    """Whether groups of queries differ in their mean effect: Cochran's Q, and its p-value by permutation."""

    cochran_q: float
    pvalue: float
    groups: int


def fixed_mean(
    effects: npt.ArrayLike, variances: npt.ArrayLike, sizes: npt.ArrayLike, level: float
) -> FixedMean:
    """Average (k,) effects of independent samples, each with the same weight, given their sampling variances and sizes."""
    y = np.asarray(effects, dtype=np.float64)
    v = np.asarray(variances, dtype=np.float64)
    k = len(y)
    n = np.asarray(sizes, dtype=np.float64)
    error = math.sqrt(float(v.sum())) / k
    shares = v / v.sum()
    df = 1 / float((shares**2 / (n - 1)).sum())  # Welch 1947; Satterthwaite 1946
    effect = float(y.mean())
    pvalue = 2 * float(special.stdtr(df, -abs(effect / error)))
    return FixedMean(effect, *t_interval(effect, error, df, level), pvalue, pvalue, k)


def random_effects(effects: npt.ArrayLike, variances: npt.ArrayLike, level: float) -> RandomEffects:
    """Estimate the mean effect of all samples like these, three or more, and predict the effect of a new one."""
    # The variance between samples is Paule and Mandel's, truncated at 0; the interval is that of
    # Hartung and Knapp 2001, Sidik and Jonkman 2002, with q replaced by max(1, q) (IntHout,
    # Ioannidis and Borm 2014; Roever, Knapp and Friede 2015); I^2 of Higgins and Thompson 2002.
    y = np.asarray(effects, dtype=np.float64)
    v = np.asarray(variances, dtype=np.float64)
    tau_squared = paule_mandel(y, v)
    k = len(y)
    w = 1 / (v + tau_squared)
    effect = float(w @ y / w.sum())
    q = float(w @ (y - effect) ** 2) / (k - 1)
    error = math.sqrt(max(1.0, q) / float(w.sum()))
    cochran_q = _cochran_q(y, v, 0.0)
    return RandomEffects(
        effect,
        *t_interval(effect, error, k - 1, level),
        2 * float(special.stdtr(k - 1, -abs(effect / error))),
        *prediction_interval(y, v, level),
        tau_squared,
        i_squared=max(0.0, 1 - (k - 1) / cochran_q) if cochran_q > 0 else 0.0,
        cochran_q=cochran_q,
        cochran_pvalue=float(special.chdtrc(k - 1, cochran_q)),
        weights=tuple((w / w.sum()).tolist()),
        k=k,
    )


def prediction_interval(y: Floats, v: Floats, level: float) -> Interval:
    """Predict the effect of a new sample from (k,) effects and variances, over all plausible variances between samples.

    A new effect is ``mean + error t + tau z``, t with k - 1 degrees of freedom, z normal, mean and
    error those at tau^2. For tau^2 stands its confidence distribution: Cochran's generalised Q at
    the true tau^2 is chi-square with k - 1 degrees of freedom, so that each quantile of this gives
    a tau^2, 0 where it is above Q(0).

    References
    ----------
    Viechtbauer 2007 for the distribution of tau^2; Nagashima, Noma and Furukawa 2019, who draw from
    it, for the prediction.
    """
    # One estimate of tau^2 from few samples is often far too small: t with k - 2 degrees of freedom
    # around it (Higgins, Thompson and Spiegelhalter 2009) covers 84 to 94 % where tau is about as
    # large as the standard errors, this 93 to 96 % (benchmarks/pooling_bands_planning.py, 5 to 18
    # samples).
    df = len(y) - 1
    nodes, node_weights, z, z_weights = _nodes()
    tau_squared = _tau_squared_at(y, v, special.chdtri(df, nodes))
    w = 1 / (v[:, np.newaxis] + tau_squared)
    means = (w * y[:, np.newaxis]).sum(axis=0) / w.sum(axis=0)
    q = (w * (y[:, np.newaxis] - means) ** 2).sum(axis=0) / df
    errors = np.sqrt(q / w.sum(axis=0))[:, np.newaxis]
    if not errors.all():  # all effects are equal
        return Interval(float(y[0]), float(y[0]))
    centers = means[:, np.newaxis] + np.sqrt(tau_squared)[:, np.newaxis] * z
    shares = node_weights[:, np.newaxis] * z_weights

    def exceeded(value: float) -> float:
        """Return the chance that a new effect is below the value."""
        return float((shares * special.stdtr(df, (value - centers) / errors)).sum())

    tail = (1 - level) / 2
    reach = float(-special.stdtrit(df, tail / 2) * errors.max())
    low = float(centers.min()) - reach
    high = float(centers.max()) + reach
    tolerance = 1e-9 * (high - low)
    return Interval(
        root(lambda value: exceeded(value) - tail, low, high, tolerance),
        root(lambda value: exceeded(value) - (1 - tail), low, high, tolerance),
    )


@lru_cache
def _nodes() -> tuple[Floats, Floats, Floats, Floats]:
    """Return nodes and weights, which sum to 1, over the unit interval (Gauss, Legendre) and the normal (Gauss, Hermite)."""
    unit, unit_weights = np.polynomial.legendre.leggauss(48)
    normal, normal_weights = np.polynomial.hermite_e.hermegauss(20)
    return (unit + 1) / 2, unit_weights / 2, normal, normal_weights / normal_weights.sum()


def _tau_squared_at(y: Floats, v: Floats, targets: Floats) -> Floats:
    """Return the variances between samples at which Cochran's generalised Q has these values; 0 where it is smaller at 0."""
    low = np.zeros(len(targets))
    high = ((y - y.mean()) ** 2).sum() / targets  # there Q is smaller, see paule_mandel
    for _ in range(100):  # bisections, which end at the last bit
        middle = (low + high) / 2
        w = 1 / (v[:, np.newaxis] + middle)
        means = (w * y[:, np.newaxis]).sum(axis=0) / w.sum(axis=0)
        above = (w * (y[:, np.newaxis] - means) ** 2).sum(axis=0) > targets
        low = np.where(above, middle, low)
        high = np.where(above, high, middle)
    return np.where(_cochran_q(y, v, 0.0) <= targets, 0.0, low)


class Estimate(NamedTuple):
    """A mean with its sampling variance and the degrees of freedom of that."""

    mean: float
    variance: float
    df: float

    def interval(self, level: float) -> Interval:
        """Interval by t at this level."""
        return t_interval(self.mean, math.sqrt(self.variance), self.df, level)


def cautious_mean(
    values: npt.ArrayLike,
    largest: float | None,
    step: float = 1.0,
    clusters: npt.ArrayLike | None = None,
) -> Estimate:
    """Estimate a mean as if two more values, of weight `step`, had been drawn: one at +largest and one at -largest.

    Where most values are 0, all of a few often are, and their own variance of 0 says nothing about
    the values that were not drawn. The two are added to the values of the queries, or to those of
    the clusters. None as largest adds nothing.
    """
    drawn = linearized(values, clusters)
    n = len(drawn)
    df = effective_df(drawn)
    if largest is None:
        return Estimate(float(drawn.mean()), float(drawn.var(ddof=1)) / n, df)
    shares = drawn / largest
    center, variance = adjusted_wald(float(shares.sum()), float(shares @ shares), n, step)
    # At weight 1 the two already count for the tail that was not drawn; at a small weight the
    # kurtosis has to.
    df = step * (n - 1) + (1 - step) * df
    return Estimate(float(center) * largest, float(variance) * largest**2, df)


class PoweredMean(NamedTuple):
    """A mean over all queries, from labels of some of them and predictions of all."""

    mean: float
    interval: Interval
    weight: float  # of the predictions, from 0 (the labels alone) to 1


def prediction_powered_mean(
    labels: npt.ArrayLike,
    predictions: npt.ArrayLike,
    others: npt.ArrayLike,
    level: float,
    *,
    largest: float | None = None,
    step: float = 1.0,
    clusters: tuple[npt.ArrayLike, npt.ArrayLike] | None = None,
) -> PoweredMean:
    """Estimate a mean from the labels of a random sample, their predictions, which may be biased, and those of all others.

    `largest` is the largest possible size of a label and of a prediction, `step` the weight of the
    two imaginary queries (see `cautious_mean`), and `clusters` are those of the labeled queries and
    of all others.
    """
    # Angelopoulos, Duchi and Zrnic 2023, "PPI++: efficient prediction-powered inference";
    # Oosterhuis et al., KDD 2024.
    y, f, rest = (np.asarray(values, dtype=np.float64) for values in (labels, predictions, others))
    n = len(y)
    m = len(rest)
    spread = float(np.concatenate([f, rest]).var(ddof=1))
    weight = 0.0
    if m and spread:
        # The weight that makes the variance smallest. An estimate outside of 0 to 1 is noise of few
        # labels.
        covariance = float(np.cov(y, f)[0, 1])
        best = covariance / ((1 + n / m) * spread)
        weight = min(1.0, max(0.0, best))
    rectified = y - weight * f
    of_labeled, of_others = (None, None) if clusters is None else clusters
    most = None if largest is None else (1 + weight) * largest
    cautious = cautious_mean(rectified, most, step, of_labeled)
    mean = float(rectified.mean())
    center = cautious.mean
    variance = cautious.variance
    if weight:
        mean += weight * float(rest.mean())
        center += weight * float(rest.mean())
        variance += weight**2 * spread / m
    if weight and of_labeled is not None and of_others is not None:
        by_cluster = linearized(rest, of_others)
        variance += weight**2 * (float(by_cluster.var(ddof=1)) / len(by_cluster) - spread / m)
        variance += 2 * weight * _shared_covariance(rectified, rest, of_labeled, of_others)
    interval = Estimate(center, max(variance, 0.0), cautious.df).interval(level)
    if largest is not None:
        interval = interval.within(-largest, largest)
    return PoweredMean(mean, interval, weight)


def _shared_covariance(
    first: Floats, second: Floats, of_first: npt.ArrayLike, of_second: npt.ArrayLike
) -> float:
    """Return the covariance of the means of two samples some of whose clusters are the same."""
    codes = np.unique(np.concatenate([of_first, of_second]), return_inverse=True)[1]
    sums = [
        np.bincount(own, weights=(values - values.mean()) / len(values), minlength=len(codes))
        for values, own in ((first, codes[: len(first)]), (second, codes[len(first) :]))
    ]
    return float(sums[0] @ sums[1])


def paule_mandel(y: Floats, v: Floats) -> float:
    """Variance between samples at which Cochran's generalised Q is its expectation, k - 1; at least 0 (Paule, Mandel 1982)."""
    expected = len(y) - 1
    if _cochran_q(y, v, 0.0) <= expected:
        return 0.0
    # With a variance between samples of sum((y - mean)^2) all weights are smaller than its inverse,
    # so that Q is below 1.
    high = float(((y - y.mean()) ** 2).sum())
    return root(lambda tau_squared: _cochran_q(y, v, tau_squared) - expected, 0.0, high)


def log_ratio_of_means(baseline: npt.ArrayLike, contender: npt.ArrayLike) -> Estimate | None:
    """Logarithm of the ratio of the means of paired values, with its variance by the jackknife; None where there is none."""
    # Hedges, Gurevitch and Curtis 1999 for the log ratio as an effect. The variance of the delta
    # method is too small for skewed lengths: the interval of a mean of six collections of 30, 50,
    # 100 queries covers 92, 93, 95 % with it and 95, 95, 96 % with the jackknife (53 real pairs of
    # runs).
    x, y = on_ratio_scale(baseline, contender)
    n = len(x)
    values = log_ratio_values(x, y)
    if n < FEWEST_PAIRS_OF_A_RATIO or values is None or not values.any():
        return None
    log_ratio = math.log(float(y.sum() / x.sum()))
    variance = float(values.var(ddof=1)) / n
    return Estimate(log_ratio, variance, effective_df(values))


def heterogeneity_test(
    effects: npt.ArrayLike, labels: Sequence[Hashable], *, seed: int = 0, resamples: int = 9_999
) -> Heterogeneity | None:
    """Test by permutation of the labels whether groups of queries differ in their mean effect; None: nothing to compare."""
    # Groups of a single query have no variance and are left out. Cochran 1954 for Q; Phipson and
    # Smyth 2010 for (1 + b) / (1 + B).
    d = np.asarray(effects, dtype=np.float64)
    check_draws(seed, resamples)
    codes: dict[Hashable, int] = {}
    group = np.array([codes.setdefault(label, len(codes)) for label in labels], dtype=np.int64)
    sizes = np.bincount(group, minlength=len(codes))
    kept = sizes[group] >= 2
    d = d[kept]
    group = group[kept]
    sizes = sizes[sizes >= 2]
    if len(sizes) < 2 or np.all(d == d[0]):
        return None
    d = d[np.argsort(group, kind="stable")]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    # Scaled, so that equal sums of squares differ only by rounding and one tolerance fits.
    scaled = (d - d.mean()) / d.std()
    observed = float(_group_q(scaled[np.newaxis], starts, sizes)[0])
    rng = np.random.default_rng(seed)
    reached = 0
    batch = max(1, (1 << 20) // len(d))  # bounds the memory that the permutations take
    for start in range(0, resamples, batch):
        shuffled = rng.permuted(
            np.broadcast_to(scaled, (min(batch, resamples - start), len(d))), axis=1
        )
        reached += int(np.sum(_group_q(shuffled, starts, sizes) >= observed * (1 - 1e-9)))
    return Heterogeneity(observed, (1 + reached) / (1 + resamples), len(sizes))


def _group_q(values: Floats, starts: Ints, sizes: Ints) -> Floats:
    """Compute Cochran's Q of the group means, for each row of values with mean 0 and variance 1."""
    # A group without variance, which would have infinite weight, takes that of all queries, in the
    # data as in permutations.
    means = np.add.reduceat(values, starts, axis=1) / sizes
    squares = np.add.reduceat(values * values, starts, axis=1)
    spread = (squares - sizes * means**2) / (sizes - 1)
    spread[spread <= 1e-12 * squares] = 1.0  # no variance, except for rounding
    w = sizes / spread
    pooled = (w * means).sum(axis=1, keepdims=True) / w.sum(axis=1, keepdims=True)
    return np.asarray((w * (means - pooled) ** 2).sum(axis=1))


def _cochran_q(y: Floats, v: Floats, tau_squared: float) -> float:
    w = 1 / (v + tau_squared)
    return float(w @ (y - w @ y / w.sum()) ** 2)
