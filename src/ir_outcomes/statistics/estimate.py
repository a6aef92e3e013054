"""The one estimate: p-value and interval of a mean of paired differences.

A unit is a query, a cluster of queries, or, with several runs of a system, all rows of such a query
or cluster. Of unit g, S_g is the sum of its differences and n_g their number. Everything here works
on arrays of many samples at once, and needs nothing but sums over the units of each.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ir_outcomes.choices import Bools, Floats, divided

ROUNDING = 1e-9  # a sum this small beside the values it was made of is 0
IMAGINARY_UNITS = 2  # of the standard error: one gains and one loses what a differing unit does
IMAGINARY_UNITS_OF_MARGINS = 4  # of intervals for margins: two gain and two lose K


class Interval(NamedTuple):
    """An interval of a mean."""

    low: float
    high: float


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
    above: Floats  #: units whose S is above 0

    @classmethod
    def of(
        cls, total: Floats, size: Floats, halves: Floats | None = None, *, exact: bool = False
    ) -> Self:
        """Add up the units of samples, or of both halves of each.

        Parameters
        ----------
        total, size : (samples, units) arrays
            S and n of each unit. Of sizes that are the same in all samples there can be one row. A
            unit of size 0 does not count, and its S is 0.
        halves : (units, splits) array of 0 and 1, optional
            Which units are in the first half. The sums are then of splits first and splits second
            halves of the first sample, and so on.
        exact : bool
            Whether sums are rounded only at their end, so that no order matters.
        """
        splits = 0 if halves is None else halves.shape[1]
        shape = len(total), 2 * splits or 1
        squares = total**2
        counted = size > 0
        units, sum_of_totals, sum_of_squares, differ, above = _added(
            [counted, total, squares, total != 0, total > 0], halves, exact
        )
        sizes = np.unique(size[counted])
        if len(sizes) <= 1:  # without clusters and several runs
            value = sizes.max(initial=1.0)
            rows, squared_sizes, products = value * units, value**2 * units, value * sum_of_totals
            inside = _inside(rows, value)
            weighted = [inside * sums for sums in (sum_of_squares, products, squared_sizes)]
            largest = value * (units > 0)
        else:
            parts = [squares, size * total, size**2]
            rows, products, squared_sizes = _added([size, *parts[1:]], halves, exact)
            weighted = [np.zeros(shape) for _ in parts]
            largest = np.zeros(shape)
            for value in sizes:
                alike = size == value
                added = _added([np.where(alike, part, 0.0) for part in parts], halves, exact)
                for sums, part in zip(weighted, added, strict=True):
                    sums += _inside(rows, value) * part
                (number,) = _added([alike], halves, exact)
                largest[np.broadcast_to(number > 0, shape)] = value
        columns = (
            *(units, rows, squared_sizes, largest, sum_of_totals, sum_of_squares, products),
            *weighted,
            *(differ, above),
        )
        return cls(*(np.broadcast_to(column, shape).ravel() for column in columns))

    @classmethod
    def of_counts(cls, n: int, won: int, lost: int, size: float) -> Self:
        """Take the sums of one sample of n queries, of which some differ by the same size."""
        total = np.zeros((1, n))
        total[0, :won] = size
        total[0, won : won + lost] = -size
        return cls.of(total, np.ones((1, n)))


def _added(arrays: Sequence[npt.NDArray[Any]], halves: Floats | None, exact: bool) -> list[Floats]:
    """Add up (samples, units) arrays, to (samples, 1) or (samples, halves)."""
    if halves is None:
        return [sums_over_units(values, exact=exact)[:, None] for values in arrays]
    # One product, because threads wait for each other at the end of every product.
    joined = np.concatenate(arrays, dtype=np.float64)
    first = joined @ halves
    second = joined.sum(axis=1)[:, None] - first
    ends = np.cumsum([len(values) for values in arrays])[:-1]
    return np.split(np.concatenate([first, second], axis=1), ends)


def sums_over_units(values: npt.NDArray[Any], *, exact: bool = False) -> Floats:
    """Add up (..., units) arrays, exactly where that is asked for."""
    sums: Floats = values.sum(axis=-1, dtype=np.float64)
    if not exact or values.dtype == np.bool_ or np.array_equal(values, np.rint(values)):
        return sums
    samples = values.reshape(-1, values.shape[-1]).tolist()
    return np.array([math.fsum(sample) for sample in samples]).reshape(sums.shape)


def _inside(rows: Floats, size: float) -> Floats:
    """Return (N / (N - n))^2, 0 where a unit is the only one."""
    return divided(rows, rows - size, rows > size, 0.0) ** 2


class Estimates(NamedTuple):
    """Means of many samples, how sure they are, and their intervals."""

    mean: Floats  #: NaN where there is no unit
    standard_error: Floats  #: NaN for fewer than two units
    df: Floats  #: degrees of freedom of Student's t
    pvalue: Floats  #: two-sided, of a mean of 0; 1 where nothing can be told
    low: Floats  #: ends of the interval at 1 - alpha; NaN where there is none
    high: Floats
    unseen: Floats  #: see `largest_unseen`; NaN where K is unknown

    def interval(self, sample: int = 0) -> Interval | None:
        """The interval of one sample, None where there is none."""
        if math.isnan(self.low[sample]):
            return None
        return Interval(float(self.low[sample]), float(self.high[sample]))


def standard_errors(sums: Sums) -> tuple[Floats, Floats]:
    """Standard errors, and degrees of freedom, NaN below two units.

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
        variance += sums.units / (sums.units - 1) * IMAGINARY_UNITS * typical
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
    error, df = standard_errors(sums)
    mean = divided(sums.total, sums.rows, sums.rows > 0)
    bound = np.full(mean.shape, np.nan) if largest is None else np.broadcast_to(largest, mean.shape)
    unseen = largest_unseen(sums, alpha, bound)
    return estimates_of_means(
        mean,
        error,
        df,
        differ=sums.differ,
        alpha=alpha,
        largest=bound,
        unseen=unseen,
        identical=np.asarray(identical) & (sums.units > 0),
    )


def estimates_of_means(
    mean: Floats,
    error: Floats,
    df: Floats,
    *,
    differ: Floats,
    alpha: float,
    largest: Floats,
    unseen: Floats,
    identical: Bools | bool = False,
) -> Estimates:
    """Estimate means from their standard errors.

    Parameters
    ----------
    mean, error, df : (samples,) arrays
        Means, standard errors, and degrees of freedom; NaN where there are none.
    differ : (samples,) array
        m, units that differ: p is at least 2^(1 - m).
    alpha : float
        The intervals are at level 1 - alpha.
    largest, unseen : (samples,) arrays
        K, at which intervals are cut, and what rare differences could add where m is too small to
        decide, see `largest_unseen`; NaN where K is unknown.
    identical : bool or (samples,) array
        Where the interval is [0, 0].
    """
    from scipy.special import stdtr, stdtrit

    several = ~np.isnan(error)
    smallest = smallest_pvalue(differ)
    with np.errstate(divide="ignore", invalid="ignore"):
        pvalue = np.maximum(2 * stdtr(df, -np.abs(mean) / error), smallest)
        distinct, position = np.unique(df, return_inverse=True)
        half = stdtrit(distinct, 1 - alpha / 2)[position] * error
    pvalue = np.where(several & (differ > 0), pvalue, 1.0)
    few = several & (smallest > alpha)
    low = np.where(few, np.minimum(mean - half, -unseen), mean - half)
    high = np.where(few, np.maximum(mean + half, unseen), mean + half)
    low = np.fmax(low, np.where(np.isnan(low), np.nan, -largest))
    high = np.fmin(high, np.where(np.isnan(high), np.nan, largest))
    # At the border the quantile and the p-value can round to different sides.
    significant = pvalue <= alpha
    above = mean > 0
    tiny = np.nextafter(0.0, 1.0)
    low = np.where(above, np.where(significant, np.maximum(low, tiny), np.minimum(low, 0.0)), low)
    high = np.where(
        ~above, np.where(significant, np.minimum(high, -tiny), np.maximum(high, 0.0)), high
    )
    low = np.where(identical, 0.0, low)
    high = np.where(identical, 0.0, high)
    return Estimates(mean, error, df, pvalue, low, high, unseen)


def smallest_pvalue(differ: Floats | float) -> Floats:
    """The p-value that so many differences of the same kind give at least."""
    smallest: Floats = 2.0 ** (1 - np.maximum(differ, 1.0))
    return smallest


def largest_unseen(sums: Sums, alpha: float, largest: Floats) -> Floats:
    """The mean that rare differences could still have, where too few were seen.

    Of G units none differs with probability alpha / 2 where a share 1 - (alpha / 2)^(1 / G) of all
    units does; each can change by K, and by as much more as the largest unit is above the mean one.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 1 - (alpha / 2) ** (1 / sums.units)
        weight = sums.largest_size * sums.units / sums.rows
    unseen: Floats = np.minimum(largest * share * weight, largest)
    return unseen


def margin_intervals(sums: Sums, level: float, largest: Floats | float) -> tuple[Floats, Floats]:
    """The ends of intervals that decide about margins.

    Four imaginary units as large as the largest, two that gain and two that lose K, stand for harm
    that is rare and was not drawn. NaN without a unit.
    """
    from scipy.special import stdtrit

    added = IMAGINARY_UNITS_OF_MARGINS
    units = sums.units + added
    rows = sums.rows + added * sums.largest_size
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = sums.total / rows
        squares = sums.squares + added * (np.asarray(largest) * sums.largest_size) ** 2
        sizes = sums.squared_sizes + added * sums.largest_size**2
        spread = np.maximum(squares - 2 * mean * sums.products + mean**2 * sizes, 0.0)
        error = np.sqrt(units / (units - 1) * spread) / rows
    half = stdtrit(units - 1, (1 + level) / 2) * error
    return np.maximum(mean - half, -largest), np.minimum(mean + half, largest)
