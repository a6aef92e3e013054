"""How many queries a test needs, and how small a difference it detects.

A pilot gives the differences of its units: of queries, or of the clusters and systems that the
estimate takes, as `unit_values`. Where a row is measured on part of the queries, as ranking is, the
same share of the new queries counts.
"""

import math
from bisect import bisect_left
from dataclasses import dataclass
from itertools import count
from statistics import NormalDist
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.arguments import check_argument, numbers
from ir_outcomes.choices import Bounds, Floats
from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.estimate import IMAGINARY_UNITS, smallest_pvalue

POWER = 0.8
CONFIDENCE = 0.8  # of the upper bounds
LIMIT = 1_000_000  # of queries

_normal_quantile = NormalDist().inv_cdf


@dataclass(frozen=True)
class QueriesNeeded:
    """How many queries like those of a pilot are needed."""

    #: number that reaches the power, if the pilot's spread is the true one; None: over a million
    queries: int | None
    upper: int | None  #: one-sided 80 % upper bound; None: over a million, or unknown


class Spread(NamedTuple):
    """What a pilot knows about the standard deviation of differences."""

    deviation: float
    largest: float | None  # one-sided 80 % upper bound, the share of queries that count included
    share: float  # of the pilot's queries

    @classmethod
    def of(cls, d: npt.ArrayLike, n: int) -> "Spread":
        """Take the differences of the queries that count, out of n queries of the pilot."""
        from scipy.special import gammaincinv

        d = numbers("d", d)
        m = len(d)
        if m > n:
            raise ParameterError(f"d has {m} differences of n={n} queries: must be at most n")
        if m < 2 or np.ptp(d) == 0:
            return cls(0.0, None, m / max(n, 1))
        # A variance of m values with excess kurtosis g has the relative variance g / m + 2 / (m -
        # 1). With m - 1 degrees of freedom the bound would hold in 51 to 61 % of the pilots of real
        # differences, which are mostly 0 with a long tail, instead of 80; so it does in 81 to 86.
        share = m / n
        relative = max(0.0, _excess_kurtosis(d)) / m + 2 / (m - 1) + (1 - share) / (share * n)
        df = 2 / relative
        deviation = float(d.std(ddof=1))
        bound = deviation * math.sqrt(df / 2 / float(gammaincinv(df / 2, 1 - CONFIDENCE)))
        return cls(deviation, bound, share)


def queries_for_mean(
    d: npt.ArrayLike,
    n: int,
    effect: float,
    *,
    alpha: float,
    power: float = POWER,
    differ: int | None = None,
) -> QueriesNeeded:
    """Compute how many queries the test of a mean difference needs.

    The estimate counts imaginary queries that change as those that differ do, which widens it
    where few differ; and it finds nothing where fewer differ than could all have the same sign by
    chance.

    Parameters
    ----------
    d : (m,) array_like
        The pilot's differences, on the queries that count.
    n : int
        All queries of the pilot.
    effect : float
        Mean difference to detect, in the unit of the differences; its direction does not matter.
    alpha, power : float
        Level of the test, and the chance to detect the difference.
    differ : int, optional
        Queries of the pilot that differ; by default those of `d` that are not 0.

    References
    ----------
    Guenther 1981, "Sample size formulas for normal theory t tests"; the upper bound takes a
    chi-square that varies as much as the variance does (O'Neill 2014).

    Examples
    --------
    >>> d = [0] * 60 + [1, -2, 5, -1, 3, -8, 2, 1, 1, -4] * 4
    >>> queries_for_mean(d, 125, 0.5, alpha=0.05)
    QueriesNeeded(queries=208, upper=268)
    """
    _check(effect, alpha, power)
    spread = Spread.of(d, n)
    d = numbers("d", d)
    differ = int(np.count_nonzero(d)) if differ is None else differ
    imaginary = IMAGINARY_UNITS * float(d @ d) / max(differ, 1)
    z = -_normal_quantile(alpha / 2)
    squared = ((z + _normal_quantile(power)) / effect) ** 2
    fewest = _fewest(differ / n, alpha, power)

    def needed(deviation: float | None) -> int | None:
        if not deviation or fewest is None:
            return None
        # The n that is squared * (deviation ** 2 + imaginary / n), as the estimate's variance is.
        half = squared * deviation**2 / 2
        size = half + math.sqrt(half**2 + squared * imaginary) + z**2 / 2
        size = max(math.ceil(size / spread.share), fewest)
        return size if size <= LIMIT else None

    return QueriesNeeded(needed(spread.deviation), needed(spread.largest))


def _fewest(share: float, alpha: float, power: float) -> int | None:
    """Of how many queries enough differ for a p-value of alpha with so much power."""
    from scipy.special import bdtrc

    differ = next(number for number in count(1) if smallest_pvalue(number) <= alpha)
    sizes = range(differ, LIMIT + 1)
    position = bisect_left(sizes, True, key=lambda size: bdtrc(differ - 1, size, share) >= power)
    return sizes[position] if position < len(sizes) else None


def queries_for_margin(
    d: npt.ArrayLike,
    n: int,
    margin: float,
    largest: float,
    *,
    alpha: float,
    power: float = POWER,
    weight: float = 1.0,
) -> QueriesNeeded:
    """Compute how many queries exclude harm beyond a margin of equal runs.

    Parameters
    ----------
    d, n, alpha, power
        See `queries_for_mean`; alpha is that of the two-sided interval for margins.
    margin : float
        Largest tolerable harm, in the unit of the differences.
    largest : float
        Most that one query can change by.
    weight : float
        Size of the largest cluster, as a multiple of the mean one.

    Examples
    --------
    >>> d = [0] * 60 + [1, -2, 5, -1, 3, -8, 2, 1, 1, -4] * 4
    >>> queries_for_margin(d, 125, 0.5, 99.0, alpha=0.05)
    QueriesNeeded(queries=1170, upper=1213)
    """
    from scipy.special import stdtrit

    _check(margin, alpha, power)
    spread = Spread.of(d, n)
    quantile = _normal_quantile(power)

    def passes(size: int, deviation: float) -> bool:
        # With four imaginary units; half of the interval, and what the mean varies by.
        squares = size * deviation**2 + 4 * (largest * weight) ** 2
        half = -float(stdtrit(size + 3, alpha / 2)) * math.sqrt((size + 4) / (size + 3) * squares)
        return half + quantile * math.sqrt(size) * deviation < margin * (size + 4 * weight)

    def needed(deviation: float | None) -> int | None:
        if deviation is None or not spread.share:
            return None
        # The interval becomes narrower with each query, so that half of the sizes can be left out.
        size = 1 + bisect_left(range(1, LIMIT), True, key=lambda m: passes(m, deviation))
        queries = math.ceil(size / spread.share)
        return queries if queries < LIMIT else None

    return QueriesNeeded(needed(spread.deviation), needed(spread.largest))


def detectable(
    standard_error: float, df: float, alpha: float, largest: float | None = None
) -> float | None:
    """Compute the smallest difference that is found with power 0.8.

    Parameters
    ----------
    standard_error, df : float
        Of the estimate, and its degrees of freedom.
    alpha : float
        Level of the test.
    largest : float, optional
        Most that a difference can be; None is returned where it takes more.

    Examples
    --------
    >>> round(detectable(0.5, 99, 0.05), 3)
    1.415
    """
    from scipy.special import stdtrit

    difference = -standard_error * float(stdtrit(df, alpha / 2) + stdtrit(df, 1 - POWER))
    return None if largest is not None and difference > largest else difference


def unit_values(sums: Floats, sizes: Floats) -> Floats:
    """A value for each unit, with the mean of all and its variance."""
    mean = sums.sum() / sizes.sum()
    return np.asarray(mean + (sums - sizes * mean) * len(sums) / sizes.sum())


def _excess_kurtosis(d: Floats) -> float:
    """Estimate the excess kurtosis without bias (`scipy.stats.kurtosis`)."""
    m = len(d)
    if m < 4:
        return 0.0
    scaled = (d - d.mean()) / np.abs(d).max()  # fourth powers of large numbers would overflow
    moment = float((scaled**4).mean() / (scaled**2).mean() ** 2) - 3
    return (m - 1) / ((m - 2) * (m - 3)) * ((m + 1) * moment + 6)


def _check(effect: float, alpha: float, power: float) -> None:
    check_argument("power", power, Annotated[float, Bounds(alpha, 1.0)])
    if not (math.isfinite(effect) and effect):
        raise ParameterError("must be a number other than 0", effect=effect)
