"""Confidence intervals and effect sizes of paired comparisons."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError

Floats = npt.NDArray[np.float64]


class Interval(NamedTuple):
    """A two-sided confidence interval."""

    low: float
    high: float


def interval_of_mean(mean: float, deviation: float, n: int, level: float) -> Interval | None:
    """Student t interval of a mean; None for fewer than two values or no variance.

    Examples
    --------
    >>> [round(bound, 3) for bound in interval_of_mean(0.5, 2.0, 25, 0.95)]
    [-0.326, 1.326]
    """
    _check_level(level)
    if n < 2 or deviation == 0:
        return None
    from scipy.special import stdtrit

    half = float(stdtrit(n - 1, (1 + level) / 2)) * deviation / math.sqrt(n)
    return Interval(mean - half, mean + half)


def paired_proportion_interval(won: int, lost: int, n: int, level: float) -> Interval | None:
    """Adjusted Wald interval of a difference of paired proportions, (won - lost) / n; None for n = 0.

    References
    ----------
    Bonett and Price 2012, "Adjusted Wald confidence interval for a difference of binomial proportions based on paired data".

    Examples
    --------
    >>> [round(bound, 4) for bound in paired_proportion_interval(28, 5, 1000, 0.95)]
    [0.0115, 0.0344]
    """
    _check_level(level)
    if n == 0:
        return None
    from scipy.special import ndtri

    p_won, p_lost = (won + 1) / (n + 2), (lost + 1) / (n + 2)
    center = p_won - p_lost
    half = float(ndtri((1 + level) / 2)) * math.sqrt((p_won + p_lost - center**2) / (n + 2))
    return Interval(max(-1.0, center - half), min(1.0, center + half))


def odds_ratio(won: int, lost: int) -> float | None:
    """Odds of won to lost; None where nothing was lost."""
    return won / lost if lost else None


def odds_ratio_interval(won: int, lost: int, level: float) -> Interval | None:
    """Exact interval of the odds of won to lost, from Clopper and Pearson's for won / (won + lost).

    None where there is neither; the high end is infinite where nothing was lost.
    """
    _check_level(level)
    n = won + lost
    if not n:
        return None
    from scipy.special import betaincinv

    tail = (1 - level) / 2
    low = float(betaincinv(won, lost + 1, tail)) if won else 0.0
    high = float(betaincinv(won + 1, lost, 1 - tail)) if lost else 1.0
    return Interval(low / (1 - low), high / (1 - high) if high < 1 else math.inf)


def ratio_of_means(baseline: Floats, contender: Floats) -> float | None:
    """Mean of the contender as a multiple of that of the baseline; None where there is none or it is 0."""
    return float(contender.mean() / baseline.mean()) if len(baseline) and baseline.any() else None


def ratio_of_means_interval(
    baseline: Floats, contender: Floats, level: float, *, seed: int = 0, resamples: int = 1_999
) -> Interval | None:
    """Paired percentile bootstrap interval of the ratio of means, for positive values on a ratio scale.

    The draws depend on the number of pairs and the seed alone, so swapping the two gives the reciprocal interval.

    References
    ----------
    Efron and Tibshirani 1993, "An Introduction to the Bootstrap", chapter 13.

    Examples
    --------
    >>> x = np.arange(1.0, 31.0)
    >>> ratio_of_means_interval(x, 2 * x, 0.95)
    Interval(low=2.0, high=2.0)
    """
    _check_level(level)
    n = len(baseline)
    if n < 2 or not (baseline.all() and contender.all()):
        return None
    rng = np.random.default_rng(seed)
    ratios = np.empty(resamples)
    batch = max(1, (1 << 22) // n)  # bounds the memory that the draws take
    for start in range(0, resamples, batch):
        drawn = rng.integers(0, n, (min(batch, resamples - start), n))
        ratios[start : start + len(drawn)] = contender[drawn].sum(axis=1) / baseline[drawn].sum(axis=1)
    low, high = np.exp(np.quantile(np.log(ratios), [(1 - level) / 2, (1 + level) / 2])).tolist()
    return Interval(low, high)


def hodges_lehmann(d: Floats) -> float | None:
    """Hodges-Lehmann shift: the median of the averages of all pairs of differences, each with itself too; None for none.

    The estimate that belongs to Wilcoxon's signed rank test.

    References
    ----------
    Hodges and Lehmann 1963; Hollander, Wolfe and Chicken 2013, section 3.2.

    Examples
    --------
    >>> hodges_lehmann(np.array([1.0, 2.0, 9.0]))
    3.5
    """
    if not len(d):
        return None
    values, counts = np.unique(d, return_counts=True)
    first, second = np.triu_indices(len(values))
    averages = (values[first] + values[second]) / 2
    weights = np.where(first == second, counts[first] * (counts[first] + 1) // 2, counts[first] * counts[second])
    order = np.argsort(averages, kind="stable")
    reached = np.cumsum(weights[order])
    total = int(reached[-1])
    middle = [int(np.searchsorted(reached, rank, side="left")) for rank in ((total + 1) // 2, total // 2 + 1)]
    return float(averages[order[middle]].mean())


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ParameterError(f"level={level!r}: must be between 0 and 1, such as 0.95")
