"""Combine the effects of several independent samples, such as collections: for these samples, and for a new one.

Arrays of effects and of their variances go in; nothing here knows what the effects are.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.distributions import check_draws, check_share, numbers, root
from ir_outcomes.statistics.intervals import Interval, log_ratio_influence, on_ratio_scale
from ir_outcomes.types import Floats, Ints

FEWEST_SAMPLES_TO_GENERALISE = 5
FEWEST_PAIRS_OF_A_RATIO = 10


@dataclass(frozen=True)
class FixedMean:
    """The unweighted mean of the effects of k samples, with Welch-Satterthwaite degrees of freedom; p-value of a mean of 0."""

    effect: float
    standard_error: float
    df: float
    interval: Interval
    pvalue: float
    k: int


@dataclass(frozen=True)
class RandomEffects:
    """The mean of the effects of all samples like these, and the effect of a new one.

    Attributes
    ----------
    effect, standard_error, interval, pvalue
        Weighted mean, in the unit of the effects, with the modification of Hartung, Knapp, Sidik and Jonkman; t with k - 1
        degrees of freedom.
    prediction : Interval
        Of the effect of a new sample, t with k - 2 degrees of freedom.
    tau_squared : float
        Variance of the effects between samples, at least 0.
    q : float
        Weighted variance of the effects relative to the one expected; the standard error uses max(1, q).
    cochran_q, cochran_pvalue : float
        Cochran's Q and its chi-square p-value, of all effects being equal.
    i_squared : float
        Share of the variance of the effects that is not due to sampling, max(0, (Q - (k - 1)) / Q).
    weights : tuple of float
        Of the samples in the mean; they sum to 1.
    k : int
        Number of samples.
    """

    effect: float
    standard_error: float
    interval: Interval
    pvalue: float
    prediction: Interval
    tau_squared: float
    q: float
    cochran_q: float
    cochran_pvalue: float
    i_squared: float
    weights: tuple[float, ...]
    k: int


@dataclass(frozen=True)
class Heterogeneity:
    """Whether groups of queries differ in their mean effect: Cochran's Q, its p-value by permutation and as chi-square."""

    cochran_q: float
    pvalue: float
    chi_square_pvalue: float
    groups: int


def fixed_mean(effects: npt.ArrayLike, variances: npt.ArrayLike, sizes: npt.ArrayLike, level: float) -> FixedMean:
    """Average the effects of independent samples, each with the same weight.

    Parameters
    ----------
    effects : (k,) array_like
        Estimated effects.
    variances : (k,) array_like
        Their sampling variances (squared standard errors), each estimated from a sample of its size.
    sizes : (k,) array_like of int
        Sizes of the samples; the variance of a sample of n has n - 1 degrees of freedom.
    level : float
        Confidence level, two-sided, such as 0.95.

    Raises
    ------
    ParameterError
        If the arrays differ in length or are empty, a value is NaN, a variance is not positive, a size is below 2, or the
        level is not between 0 and 1.

    References
    ----------
    Welch 1947; Satterthwaite 1946: ``sum(v)^2 / sum(v^2 / (n - 1))`` degrees of freedom.

    Examples
    --------
    >>> mean = fixed_mean([1.0, 3.0], [0.5, 0.5], [21, 21], 0.95)
    >>> mean.effect, mean.standard_error, mean.df
    (2.0, 0.5, 40.0)
    """
    y, v = _effects(effects, variances, 1)
    n = numbers("sizes", sizes)
    if len(n) != len(y) or (n < 2).any():
        raise ParameterError("sizes must be one number of at least 2 for each effect")
    check_share("level", level)
    k = len(y)
    error = math.sqrt(float(v.sum())) / k
    shares = v / v.sum()
    df = 1 / float((shares**2 / (n - 1)).sum())
    effect = float(y.mean())
    return FixedMean(effect, error, df, _t_interval(effect, error, df, level), _t_pvalue(effect / error, df), k)


def random_effects(effects: npt.ArrayLike, variances: npt.ArrayLike, level: float) -> RandomEffects:
    """Estimate the mean effect of all samples like these, and predict the effect of a new one.

    The variance between samples is Paule and Mandel's, truncated at 0; the interval is that of Hartung, Knapp, Sidik and
    Jonkman with q replaced by max(1, q).

    Parameters
    ----------
    effects : (k,) array_like
        Estimated effects of at least three independent samples. Five are needed to generalise
        (`FEWEST_SAMPLES_TO_GENERALISE`); it is up to the caller not to show fewer.
    variances : (k,) array_like
        Their sampling variances (squared standard errors).
    level : float
        Confidence level, two-sided, such as 0.95.

    Raises
    ------
    ParameterError
        If the arrays differ in length, there are fewer than three effects, a value is NaN, a variance is not positive, or the
        level is not between 0 and 1.

    References
    ----------
    Paule and Mandel 1982; Hartung and Knapp 2001; Sidik and Jonkman 2002; IntHout, Ioannidis and Borm 2014; Roever, Knapp and
    Friede 2015 for max(1, q); Higgins, Thompson and Spiegelhalter 2009 for the prediction interval; Higgins and Thompson 2002
    for I^2.

    Examples
    --------
    >>> pooled = random_effects([0.1, 0.3, 0.2, 0.6, 0.4], [0.01, 0.02, 0.01, 0.03, 0.02], 0.95)
    >>> round(pooled.effect, 3), [round(bound, 3) for bound in pooled.prediction]
    (0.287, [-0.204, 0.777])
    """
    y, v = _effects(effects, variances, 3)
    check_share("level", level)
    tau_squared = paule_mandel(y, v)
    k = len(y)
    w = 1 / (v + tau_squared)
    effect = float(w @ y / w.sum())
    q = float(w @ (y - effect) ** 2) / (k - 1)
    error = math.sqrt(max(1.0, q) / float(w.sum()))
    cochran_q = _cochran_q(y, v, 0.0)
    return RandomEffects(
        effect=effect,
        standard_error=error,
        interval=_t_interval(effect, error, k - 1, level),
        pvalue=_t_pvalue(effect / error, k - 1),
        prediction=_t_interval(effect, math.sqrt(tau_squared + error**2), k - 2, level),
        tau_squared=tau_squared,
        q=q,
        cochran_q=cochran_q,
        cochran_pvalue=_chi_square_pvalue(cochran_q, k - 1),
        i_squared=max(0.0, 1 - (k - 1) / cochran_q) if cochran_q > 0 else 0.0,
        weights=tuple((w / w.sum()).tolist()),
        k=k,
    )


@dataclass(frozen=True)
class PoweredMean:
    """A mean over all queries, from labels of some of them and predictions of all.

    Attributes
    ----------
    mean : float
        In the unit of the labels.
    interval : Interval
        Two-sided, at the level asked for.
    weight : float
        Of the predictions, from 0 (the labels alone) to 1.
    worth : float
        Variance of the mean of the labels alone as a multiple of this one's.
    """

    mean: float
    interval: Interval
    weight: float
    worth: float


def prediction_powered_mean(
    labels: npt.ArrayLike, predictions: npt.ArrayLike, others: npt.ArrayLike, level: float
) -> PoweredMean:
    """Estimate a mean from a labeled random sample and from predictions, which may be biased, of all.

    Parameters
    ----------
    labels, predictions : (n,) array_like
        Of the labeled queries, n >= 2.
    others : (m,) array_like
        Predictions of the queries without a label.
    level : float
        Confidence level, two-sided, such as 0.95.

    Raises
    ------
    ParameterError
        If there are fewer than two labels, labels and predictions differ in length, a value is NaN, or the level is not
        between 0 and 1.

    References
    ----------
    Angelopoulos, Duchi and Zrnic 2023, "PPI++: efficient prediction-powered inference"; for retrieval Oosterhuis et al., KDD
    2024. The interval is t with n - 1 degrees of freedom.

    Examples
    --------
    >>> found = prediction_powered_mean([1, 2, 3, 4], [2, 2, 4, 4], [1, 5, 3, 3, 2, 4], 0.95)
    >>> round(found.mean, 3), round(found.weight, 3)
    (2.5, 0.514)
    """
    y, f, rest = numbers("labels", labels), numbers("predictions", predictions), numbers("others", others)
    check_share("level", level)
    n, m = len(y), len(rest)
    if n < 2 or len(f) != n:
        raise ParameterError(
            f"labels has {n} values and predictions {len(f)}: there must be two or more, a prediction for each"
        )
    spread = float(np.concatenate([f, rest]).var(ddof=1))
    weight = 0.0
    if m and spread:
        # The weight that makes the variance smallest. An estimate outside of 0 to 1 is noise of few labels.
        weight = min(1.0, max(0.0, float(np.cov(y, f)[0, 1]) / ((1 + n / m) * spread)))
    rectified = y - weight * f
    variance = float(rectified.var(ddof=1)) / n + (weight**2 * spread / m if m else 0.0)
    mean = float(rectified.mean()) + (weight * float(rest.mean()) if m else 0.0)
    worth = float(y.var(ddof=1)) / n / variance if variance else 1.0
    return PoweredMean(mean, _t_interval(mean, math.sqrt(variance), n - 1, level), weight, worth)


def paule_mandel(effects: npt.ArrayLike, variances: npt.ArrayLike) -> float:
    """Variance between samples at which Cochran's generalised Q is its expectation, k - 1; at least 0.

    Paule and Mandel 1982; DerSimonian and Kacker 2007, section 2.4.
    """
    y, v = _effects(effects, variances, 2)
    expected = len(y) - 1
    if _cochran_q(y, v, 0.0) <= expected:
        return 0.0
    # With a variance between samples of sum((y - mean)^2) all weights are smaller than its inverse, so that Q is below 1.
    high = float(((y - y.mean()) ** 2).sum())
    return root(lambda tau_squared: _cochran_q(y, v, tau_squared) - expected, 0.0, high)


def log_ratio_of_means(baseline: npt.ArrayLike, contender: npt.ArrayLike) -> tuple[float, float] | None:
    """Compute the logarithm of the ratio of two paired means and its sampling variance by the jackknife.

    Parameters
    ----------
    baseline, contender : (n,) array_like
        Paired positive values, such as search lengths on the queries that both runs answer.

    Returns
    -------
    (float, float) or None
        Logarithm of (mean of the contender / mean of the baseline) and its variance; None for fewer than 10 pairs, where all
        pairs have the same ratio, in particular where all are equal, or where a run has a single value above 0: no variance
        can then be estimated.

    Raises
    ------
    ParameterError
        If the two differ in length, or a value is NaN, infinite or negative.

    References
    ----------
    Efron and Stein 1981 for the jackknife; Hedges, Gurevitch and Curtis 1999 for the log ratio as an effect. To first order the
    variance is that of the delta method, which is too small for skewed lengths: the interval of a mean of six collections
    of 30, 50, 100 queries covers 92, 93, 95 % with it and 95, 95, 96 % with the jackknife (53 real pairs of runs).

    Examples
    --------
    >>> log_ratio_of_means([1, 2, 3], [1, 2, 4]) is None
    True
    >>> effect, variance = log_ratio_of_means([1, 2, 3, 4] * 5, [1, 3, 3, 4] * 5)
    >>> round(effect, 4), round(variance, 5)
    (0.0953, 0.00158)
    """
    x, y = on_ratio_scale(baseline, contender)
    if len(x) < FEWEST_PAIRS_OF_A_RATIO or not (x.any() and y.any()):
        return None
    if not log_ratio_influence(x, y).any() or (x == x.sum()).any() or (y == y.sum()).any():
        return None
    without_one = np.log((y.sum() - y) / (x.sum() - x))
    return math.log(float(y.mean() / x.mean())), (len(x) - 1) * float(without_one.var())


def heterogeneity_test(
    effects: npt.ArrayLike, labels: Sequence[Hashable], *, seed: int = 0, resamples: int = 9_999
) -> Heterogeneity | None:
    """Test by permutation of the labels whether groups of queries differ in their mean effect.

    Parameters
    ----------
    effects : (n,) array_like
        Effect of each query, such as the difference of two runs.
    labels : sequence of n hashable values
        Group of each query.
    seed, resamples : int
        Of the random permutations.

    Returns
    -------
    Heterogeneity or None
        None where fewer than two groups have two queries or more, or where all effects are equal: there is nothing to compare.
        Groups of a single query have no variance and are left out.

    Raises
    ------
    ParameterError
        If the two differ in length, an effect is NaN, the seed is negative, or `resamples` is less than 1.

    References
    ----------
    Cochran 1954 for Q; Phipson and Smyth 2010 for (1 + b) / (1 + B).

    Notes
    -----
    The variance of a group's mean is estimated from its own queries. A group without variance takes the variance of all
    queries, in the data as in the permutations: it would otherwise have infinite weight.

    Examples
    --------
    >>> test = heterogeneity_test([0, 1, 0, 1, 5, 6, 5, 6], list("aaaabbbb"))
    >>> test.groups, round(test.cochran_q, 1), test.pvalue < 0.05
    (2, 150.0, True)
    """
    d = numbers("effects", effects)
    check_draws(seed, resamples)
    if len(labels) != len(d):
        raise ParameterError(f"effects has {len(d)} values and labels {len(labels)}: each query needs one label")
    codes: dict[Hashable, int] = {}
    group = np.array([codes.setdefault(label, len(codes)) for label in labels], dtype=np.int64)
    sizes = np.bincount(group, minlength=len(codes))
    kept = sizes[group] >= 2
    d, group, sizes = d[kept], group[kept], sizes[sizes >= 2]
    if len(sizes) < 2 or np.all(d == d[0]):
        return None
    order = np.argsort(group, kind="stable")
    d = d[order]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    # Scaled, so that equal sums of squares differ only by rounding and one tolerance fits.
    scaled = (d - d.mean()) / d.std()
    observed = float(_group_q(scaled[np.newaxis], starts, sizes)[0])
    rng = np.random.default_rng(seed)
    reached, done = 0, 0
    batch = max(1, (1 << 20) // len(d))  # bounds the memory that the permutations take
    while done < resamples:
        draws = min(batch, resamples - done)
        shuffled = rng.permuted(np.broadcast_to(scaled, (draws, len(d))), axis=1)
        reached += int(np.sum(_group_q(shuffled, starts, sizes) >= observed * (1 - 1e-9)))
        done += draws
    chi_square = _chi_square_pvalue(observed, len(sizes) - 1)
    return Heterogeneity(observed, (1 + reached) / (1 + resamples), chi_square, len(sizes))


def _group_q(values: Floats, starts: Ints, sizes: Ints) -> Floats:
    """Compute Cochran's Q of the group means, for each row of values with mean 0 and variance 1."""
    means = np.add.reduceat(values, starts, axis=1) / sizes
    squares = np.add.reduceat(values * values, starts, axis=1)
    spread = (squares - sizes * means**2) / (sizes - 1)
    spread[spread <= 1e-12 * squares] = 1.0  # no variance but for rounding
    w = sizes / spread
    pooled = (w * means).sum(axis=1, keepdims=True) / w.sum(axis=1, keepdims=True)
    return np.asarray((w * (means - pooled) ** 2).sum(axis=1))


def _effects(effects: npt.ArrayLike, variances: npt.ArrayLike, fewest: int) -> tuple[Floats, Floats]:
    y, v = numbers("effects", effects), numbers("variances", variances)
    if len(y) != len(v):
        raise ParameterError(f"effects has {len(y)} values and variances {len(v)}: each effect needs its variance")
    if len(y) < fewest:
        raise ParameterError(f"effects has {len(y)} values: at least {fewest} are needed")
    if (v <= 0).any():
        raise ParameterError("variances has a value that is not positive: leave out an effect without a variance")
    return y, v


def _cochran_q(y: Floats, v: Floats, tau_squared: float) -> float:
    w = 1 / (v + tau_squared)
    return float(w @ (y - w @ y / w.sum()) ** 2)


def _t_interval(effect: float, error: float, df: float, level: float) -> Interval:
    from scipy.special import stdtrit

    half = -float(stdtrit(df, (1 - level) / 2)) * error
    return Interval(effect - half, effect + half)


def _t_pvalue(statistic: float, df: float) -> float:
    from scipy.special import stdtr

    return 2 * float(stdtr(df, -abs(statistic)))


def _chi_square_pvalue(statistic: float, df: int) -> float:
    from scipy.special import chdtrc

    return float(chdtrc(df, statistic))
