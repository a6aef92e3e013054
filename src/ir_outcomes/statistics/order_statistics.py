"""The confidence interval of a median, from order statistics."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ir_outcomes.statistics.intervals import Interval

__all__ = ["median_interval"]


def median_interval(values: npt.ArrayLike, level: float) -> Interval | None:
    """Two-sided confidence interval of the median, of two of the values; valid for any distribution.

    Parameters
    ----------
    values : (n,) array_like
        Finite.
    level : float
        Coverage that the interval has at least, such as 0.95.

    Returns
    -------
    Interval or None
        None where n is so small that not even the smallest and the largest value reach the level: below 6 at 0.95.

    References
    ----------
    Conover 1999, Practical Nonparametric Statistics, section 3.2.

    Examples
    --------
    >>> median_interval([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 0.95)
    Interval(low=2.0, high=9.0)
    """
    from scipy.special import bdtr

    ordered = np.sort(np.asarray(values, dtype=np.float64))
    n = len(ordered)
    # Below the k-th smallest value lies the median with probability P(X < k), X binomial with n and 1/2.
    outside = bdtr(np.arange(n // 2 + 1), n, 0.5) if n else np.empty(0)
    k = int(np.sum(outside <= (1 - level) / 2))
    return Interval(float(ordered[k - 1]), float(ordered[n - k])) if k else None
