"""The one estimate: p-value and interval of a mean of paired differences.

A unit is a query, a cluster of queries, or, with several runs of a system, all rows of such a query
or cluster. Of unit g, S_g is the sum of its differences and n_g their number. Everything here works
on arrays of many samples at once, and needs nothing but sums over the units of each.
"""

import math
from typing import NamedTuple, Self

import numpy as np

from ir_outcomes.choices import Bools, Floats, Ints

ROUNDING = 1e-9  # a sum this small beside the values it was made of is 0


class Interval(NamedTuple):
    """An interval of a mean."""

    low: float
    high: float


class Units(NamedTuple):
    """Sums of differences over the G units of a sample that have any, (G,) arrays."""

    total: Floats  #: sum of the differences
    size: Floats  #: number of differences, above 0

    @classmethod
    def of(
        cls,
        baseline: Floats,
        contender: Floats,
        cluster: Ints | None = None,
        size: Floats | None = None,
    ) -> Self:
        """Add up contender minus baseline, (n,) arrays, over clusters.

        With `size`, (n,), the values are sums over that many rows, such as the pairs of runs of two
        systems, and those of size 0 are left out.
        """
        total = contender - baseline
        magnitude = np.abs(baseline) + np.abs(contender)
        if size is None:
            size = np.ones(len(total))
        if cluster is not None:
            total, magnitude, size = (
                np.bincount(cluster, weights=values).astype(np.float64)
                for values in (total, magnitude, size)
            )
        total = np.where(np.abs(total) <= ROUNDING * magnitude, 0.0, total)
        return cls(total[size > 0], size[size > 0])

    @property
    def differ(self) -> int:
        """m: units whose differences do not add up to 0."""
        return int(np.count_nonzero(self.total))


class Sums(NamedTuple):
    """Sums over the units of each of many samples, (samples,) arrays."""

    units: Floats  #: G, units that have any difference to look at
    rows: Floats  #: N, sum of n
    squared_sizes: Floats  #: sum of n^2
    largest_size: Floats  #: the largest n
    total: Floats  #: sum of S
    squares: Floats  #: sum of S^2
    products: Floats  #: sum of n S
    #: the last two and the sum of n^2, each unit weighted by (N / (N - n))^2
    weighted_squares: Floats
    weighted_products: Floats
    weighted_sizes: Floats
    differ: Floats  #: m, units whose S is not 0
    better: Floats  #: units whose S is above 0

    @classmethod
    def of(cls, units: Units, members: Bools | None = None) -> Self:
        """Add up a sample, or each of its subsets: (G, subsets) numbers of times that it has a unit."""
        total, size = units
        signs = (total != 0, total > 0)
        added = _exact_sum
        largest = np.array([size.max(initial=0.0)])
        if members is not None:
            weights = members.astype(np.float64)

            def added(values: Floats) -> Floats:
                sums: Floats = values @ weights
                return sums

            largest = np.max(size[:, None] * (members > 0), axis=0, initial=0.0)
        rows = added(size)
        squares = total**2
        products = size * total
        weighted = np.zeros((3, len(rows)))
        for value in np.unique(size):
            alike = size == value
            inside = np.divide(rows, rows - value, out=np.zeros(len(rows)), where=rows > value)
            for place, values in enumerate((squares, products, size**2)):
                weighted[place] += inside**2 * added(np.where(alike, values, 0.0))
        differ, better = (added(sign.astype(np.float64)) for sign in signs)
        return cls(
            units=added(np.ones(len(total))),
            rows=rows,
            squared_sizes=added(size**2),
            largest_size=largest,
            total=added(total),
            squares=added(squares),
            products=added(products),
            weighted_squares=weighted[0],
            weighted_products=weighted[1],
            weighted_sizes=weighted[2],
            differ=differ,
            better=better,
        )

    @classmethod
    def of_queries(
        cls, n: Floats, total: Floats, squares: Floats, differ: Floats, better: Floats
    ) -> Self:
        """Take the sums of samples in which every query is a unit."""
        inside = np.divide(n, n - 1, out=np.zeros(np.shape(n)), where=n > 1) ** 2
        ones = (n > 0).astype(np.float64)
        weighted = (inside * squares, inside * total, inside * n)
        return cls(n, n, n, ones, total, squares, total, *weighted, differ, better)


def _exact_sum(values: Floats) -> Floats:
    """Add up without rounding before the end, so that no order matters, (1,) array."""
    if np.array_equal(values, np.rint(values)):
        return np.array([values.sum()])
    return np.array([math.fsum(values.tolist())])


class Estimates(NamedTuple):
    """Means of many samples, how sure they are, and their intervals."""

    mean: Floats  #: NaN where there is no unit
    standard_error: Floats  #: NaN for fewer than two units
    df: Floats  #: degrees of freedom of Student's t
    pvalue: Floats  #: two-sided, of a mean of 0; 1 where nothing can be told
    low: Floats  #: ends of the interval at 1 - alpha; NaN where there is none
    high: Floats

    def interval(self, sample: int = 0) -> Interval | None:
        """Return the interval of one sample, None where there is none."""
        if math.isnan(self.low[sample]):
            return None
        return Interval(float(self.low[sample]), float(self.high[sample]))


def standard_errors(sums: Sums) -> tuple[Floats, Floats]:
    """Return standard errors, and degrees of freedom, NaN below two units.

    The cluster jackknife (CR3) with the effective number of clusters (Carter, Schnepel and
    Steigerwald 2017), enlarged by two imaginary units, one that gains and one that loses what a
    unit that differs typically does (the idea of Agresti and Caffo 2000; Bonett and Price 2012).
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums.total / sums.rows
        spread = (
            sums.weighted_squares
            - 2 * mean * sums.weighted_products
            + mean**2 * sums.weighted_sizes
        )
        typical = np.where(sums.differ > 0, sums.squares / np.maximum(sums.differ, 1), 0.0)
        # Without spread rounding can leave less than 0; the second term is never small beside it.
        variance = (sums.units - 1) / sums.units * np.maximum(spread, 0.0)
        variance += sums.units / (sums.units - 1) * 2 * typical
        error = np.sqrt(variance) / sums.rows
        df = np.maximum(sums.rows**2 / sums.squared_sizes - 1, 1.0)
    several = sums.units >= 2
    return np.where(several, error, np.nan), np.where(several, df, np.nan)


def estimates(
    sums: Sums,
    alpha: float = 0.05,
    largest: Floats | float | None = None,
    identical: Bools | bool = False,
) -> Estimates:
    """Estimate means: p is at most `alpha` exactly where the interval excludes 0.

    Parameters
    ----------
    sums : Sums
        Of each sample.
    alpha : float
        The intervals are at level 1 - alpha.
    largest : float or (samples,) array, optional
        K, the most that one row can change by; unknown by default.
    identical : bool or (samples,) array
        Whether the rankings are the same, so that nothing can differ: the interval is [0, 0].
    """
    from scipy.special import stdtr, stdtrit

    error, df = standard_errors(sums)
    several = sums.units >= 2
    mean = np.divide(
        sums.total, sums.rows, out=np.full(len(sums.rows), np.nan), where=sums.rows > 0
    )
    smallest = smallest_pvalue(sums.differ)
    with np.errstate(divide="ignore", invalid="ignore"):
        pvalue = np.maximum(2 * stdtr(df, -np.abs(mean) / error), smallest)
        distinct, place = np.unique(df, return_inverse=True)
        half = stdtrit(distinct, 1 - alpha / 2)[place] * error
    pvalue = np.where(several & (sums.differ > 0), pvalue, 1.0)
    low = mean - half
    high = mean + half
    few = several & (smallest > alpha)
    if largest is None:
        low = np.where(few, np.nan, low)
        high = np.where(few, np.nan, high)
    else:
        bound = np.broadcast_to(np.asarray(largest, dtype=np.float64), mean.shape)
        unseen = largest_unseen(sums, alpha, bound)
        low = np.where(few, np.minimum(low, -unseen), low)
        high = np.where(few, np.maximum(high, unseen), high)
        low = np.maximum(low, -bound)
        high = np.minimum(high, bound)
    # At the border the quantile and the p-value can round to different sides.
    significant = pvalue <= alpha
    above = mean > 0
    tiny = np.nextafter(0.0, 1.0)
    low = np.where(above, np.where(significant, np.maximum(low, tiny), np.minimum(low, 0.0)), low)
    high = np.where(
        ~above, np.where(significant, np.minimum(high, -tiny), np.maximum(high, 0.0)), high
    )
    same = np.asarray(identical) & (sums.units > 0)
    low = np.where(same, 0.0, low)
    high = np.where(same, 0.0, high)
    return Estimates(mean, error, df, pvalue, low, high)


def smallest_pvalue(differ: Floats | float) -> Floats:
    """Return the p-value that so many differences of the same kind give at least."""
    smallest: Floats = 2.0 ** (1 - np.maximum(differ, 1.0))
    return smallest


def largest_unseen(sums: Sums, alpha: float, largest: Floats) -> Floats:
    """Return the mean that rare differences could still have, where too few were seen.

    Of G units none differs with probability alpha / 2 where a share 1 - (alpha / 2)^(1 / G) of all
    units does; each can change by K, and by as much more as the largest unit is above the mean one.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 1 - (alpha / 2) ** (1 / sums.units)
        weight = sums.largest_size * sums.units / sums.rows
    unseen: Floats = np.minimum(largest * share * weight, largest)
    return unseen


def margin_intervals(sums: Sums, level: float, largest: Floats | float) -> tuple[Floats, Floats]:
    """Return the ends of intervals that decide about margins.

    Four imaginary units as large as the largest, two that gain and two that lose K, stand for harm
    that is rare and was not drawn. NaN without a unit.
    """
    from scipy.special import stdtrit

    units = sums.units + 4
    rows = sums.rows + 4 * sums.largest_size
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums.total / rows
        squares = sums.squares + 4 * (np.asarray(largest) * sums.largest_size) ** 2
        sizes = sums.squared_sizes + 4 * sums.largest_size**2
        spread = np.maximum(squares - 2 * mean * sums.products + mean**2 * sizes, 0.0)
        error = np.sqrt(units / (units - 1) * spread) / rows
    half = stdtrit(units - 1, (1 + level) / 2) * error
    return np.maximum(mean - half, -largest), np.minimum(mean + half, largest)


def sign_pvalues(better: Floats, worse: Floats) -> Floats:
    """Return p-values of the exact, two-sided sign test without ties."""
    from scipy.special import bdtr

    fewer = np.minimum(better, worse)
    differ = better + worse
    tail = bdtr(fewer, np.maximum(differ, 1).astype(np.int64), 0.5)
    return np.where(differ > 0, np.minimum(2 * tail, 1.0), 1.0)
