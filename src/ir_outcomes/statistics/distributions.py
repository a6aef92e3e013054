"""Distributions and roots as far as this room needs them.

They are those of SciPy to the last few bits; `scipy.stats` and `scipy.optimize` have them too, but take longer to import than a
whole comparison takes to run.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def binomial_pvalue(won: int, lost: int) -> float:
    """Two-sided exact p-value of won and lost being equally likely; there is at least one of either."""
    from scipy.special import betainc

    more = max(won, lost)
    return min(1.0, 2 * float(betainc(more, min(won, lost) + 1, 0.5)))


def binomial_cdf(k: npt.NDArray[np.int64], n: npt.NDArray[np.int64], share: float) -> Floats:
    """Compute the chance of at most k successes in n trials; k may be -1."""
    from scipy.special import betainc

    chances = betainc(np.maximum(n - k, 1), np.maximum(k, 0) + 1, 1 - share)  # some versions have NaN for a parameter of 0
    return np.where(k < 0, 0.0, np.where(k >= n, 1.0, chances))


def binomial_chances(n: int, share: float) -> Floats:
    """Compute the chances of 0, 1, ..., n successes in n trials, from the most likely number on by their ratios.

    Relative errors stay below about n times the machine precision, where those of the gamma function grow with its logarithm.
    """
    with np.errstate(divide="ignore", under="ignore"):
        k = np.arange(n)
        ratios = (n - k) / (k + 1) * np.divide(share, 1 - share)
        mode = min(n, int((n + 1) * share))
        upwards, downwards = np.cumprod(ratios[mode:]), np.cumprod(1 / ratios[:mode][::-1])
        chances = np.concatenate([downwards[::-1], [1.0], upwards])
        return np.asarray(chances / chances.sum())


def average_ranks(values: Floats) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Rank values from 1, equal ones by their average rank; and count each group of equal ones."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts - 1) / 2)[place], counts


def signed_rank_pvalue(statistic: int, n: int) -> float:
    """Two-sided exact p-value of the smaller sum of signed ranks 1 to n, n at most 50: among 2^n equally likely signs."""
    return min(1.0, 2 * float(_rank_sums_up_to(n)[statistic]))


@lru_cache(maxsize=50)
def _rank_sums_up_to(n: int) -> Floats:
    """Chances that the ranks with positive signs add up to at most 0, 1, 2, ..."""
    ways = np.zeros(n * (n + 1) // 2 + 1)
    ways[0] = 1
    for rank in range(1, n + 1):
        ways[rank:] += ways[:-rank]
    chances: Floats = np.cumsum(ways) / 2.0**n
    return chances


def root(function: Callable[[float], float], low: float, high: float, tolerance: float = 0.0) -> float:
    """Find where a function changes sign from low to high, by bisection, to within the tolerance or the last bit."""
    sign = function(low) > 0
    while high - low > tolerance and low < (middle := (low + high) / 2) < high:
        if (function(middle) > 0) == sign:
            low = middle
        else:
            high = middle
    return (low + high) / 2
