"""Intervals of means of values, such as the scores of a run."""

import math

import numpy as np
import numpy.typing as npt

from ir_outcomes.arguments import numbers
from ir_outcomes.statistics.estimate import Interval


def mean_interval(
    values: npt.ArrayLike,
    alpha: float,
    bounds: tuple[float, float] | None = (0.0, 1.0),
    clusters: npt.ArrayLike | None = None,
) -> Interval | None:
    """Compute the interval of the mean of values, inside their bounds.

    Wilson's interval of a share, with t for the normal quantile and the effective number of values
    for their number: b / (E^2 + b / n^2), E the standard error and b = mean (1 - mean) the largest
    variance that values in these bounds can have, which counts like one more value, because a few
    values near a bound often vary less than all do. It has a width even where all values are equal.

    Parameters
    ----------
    values : (n,) array_like
        Such as the reciprocal ranks of a run.
    alpha : float
        The level of the interval is 1 - alpha.
    bounds : pair of float, optional
        Smallest and largest possible value. With None, and where a value is outside, it is the t
        interval.
    clusters : (n,) array_like of int, optional
        Cluster of each value: n is then their number, and E robust (Liang and Zeger 1986).

    Returns
    -------
    Interval or None
        None for no values, and without bounds for fewer than two values (clusters).

    References
    ----------
    Wilson 1927; Korn and Graubard 1998 for the effective number.

    Examples
    --------
    >>> interval = mean_interval([1, 1, 1, 0.5, 1, 1, 1, 1, 1, 1], 0.05)
    >>> [round(bound, 3) for bound in interval]
    [0.702, 0.994]
    """
    # Drawn from the scores of 32 runs, 95 % intervals cover 99, 99 and 97 % at 20, 50 and 200
    # queries where the mean is within 0.1 of a bound (the t interval 89, 94 and 95 %), and 96.6,
    # 95.8 and 95.2 % elsewhere.
    from scipy.special import stdtrit

    values = numbers("values", values)
    if not len(values):
        return None
    low, high = bounds or (math.inf, -math.inf)
    sums = values - values.mean()
    if clusters is not None:
        sums = np.bincount(np.unique(np.asarray(clusters), return_inverse=True)[1], sums)
    n = len(sums)
    squared_error = float(sums @ sums) / len(values) ** 2
    squared_quantile = float(stdtrit(max(n - 1, 1), alpha / 2)) ** 2
    mean = float(values.mean())
    if values.min() < low or values.max() > high:
        if n < 2:
            return None
        half = math.sqrt(squared_quantile * squared_error * n / (n - 1))
        return Interval(mean - half, mean + half)
    largest = (mean - low) * (high - mean)
    effective = largest / (squared_error + largest / n**2) if largest > 0 else n
    weight = squared_quantile / effective
    middle = (mean + weight * (low + high) / 2) / (1 + weight)
    half = math.sqrt(weight * (largest + weight * (high - low) ** 2 / 4)) / (1 + weight)
    # The ends are inside the bounds by construction, and may leave them by a rounding error.
    return Interval(max(low, middle - half), min(high, middle + half))
