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


def _check_level(level: float) -> None:
    if not 0 < level < 1:
        raise ParameterError(f"level={level!r}: must be between 0 and 1, such as 0.95")
