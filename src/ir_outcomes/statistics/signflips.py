"""P-values of the sign-flip (randomization) test, without random numbers: exact or within 1 %, however small.

Under the null hypothesis each of n differences that are not zero is as likely positive as negative, and the p-value is the
share of the 2^n assignments of signs whose sum is at least as far from 0 as the one observed. With k the smaller of the sums of
the positive and of the negative differences, that is twice the share of the subsets of the sizes with a sum of at most k. Such
subsets are counted

- exactly, where the sizes are multiples of a common unit, through all sums up to k in that unit;
- exactly, by enumeration in two halves, for up to 42 differences;
- else on a grid of steps of k / 2^15 or less, to which the sizes are rounded, refined until lower and upper bound agree to 1 %,
  and further where a level that matters lies between them. (For more than 100 differences the bounds are estimates.)

Which way is taken depends on the sample alone. `scipy.stats.permutation_test` with ``permutation_type="samples"`` enumerates
all signs of few differences, and is the oracle of the tests there. For more it draws random signs, whose p-values are at least
1 / (1 + resamples): a correction for thousands of comparisons turns all of them into "not significant".
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.statistics.distributions import SMALLEST_PVALUE, numbers, paired, root, rows_of_numbers, subset_sums
from ir_outcomes.types import Bools, Floats, Ints

Members = npt.NDArray[Any]  # floats of 32 or 64 bits


class Classes(NamedTuple):
    """Values as classes: ``distinct[code]`` are the values, `distinct` ascending."""

    code: Ints
    distinct: Floats


class Differences(NamedTuple):
    """Samples of paired differences, counted by class.

    Attributes
    ----------
    sizes : (n_classes,) float array
        Absolute values of the differences, ascending; the first is 0.
    positive, negative : (n_classes, n_samples) float arrays
        How many differences of each size are positive (or zero) and negative, in each sample. Whole numbers.
    """

    sizes: Floats
    positive: Floats
    negative: Floats

    @property
    def n(self) -> Floats:
        """Number of differences in each sample, (n_samples,)."""
        total: Floats = (self.positive + self.negative).sum(axis=0)
        return total

    @property
    def n_nonzero(self) -> Floats:
        """Number of differences that are not zero in each sample, (n_samples,)."""
        total: Floats = self.n - self.positive[0] - self.negative[0]
        return total

    @property
    def totals(self) -> Floats:
        """Sum of the differences of each sample, (n_samples,); exactly 0 where it is 0 but for rounding."""
        up, down = self.sizes @ self.positive, self.sizes @ self.negative
        return np.where(np.abs(up - down) > 1e-12 * (up + down), up - down, 0.0)


def differences(baseline: npt.ArrayLike, contender: npt.ArrayLike) -> Floats:
    """Subtract pairwise; differences that are equal but for rounding become equal.

    1/2 - 1/3 and 1/3 - 1/6 are tied, although floating point puts them 3e-17 apart; rank tests would take them for different.

    Parameters
    ----------
    baseline, contender : (n,) array_like
        Paired values.

    Returns
    -------
    (n,) float array
        Contender minus baseline.

    Raises
    ------
    ParameterError
        If the two differ in length, or a value is NaN or infinite.

    Examples
    --------
    >>> d = differences([1/3, 1/6, 0.1 + 0.2], [1/2, 1/3, 0.3])
    >>> bool(d[0] == d[1]), float(d[2])
    (True, 0.0)
    """
    x, y = paired(baseline, contender)
    change = y - x
    if not len(change):
        return change
    sizes = np.abs(change)
    slack = 64 * np.finfo(np.float64).eps * max(np.abs(x).max(), np.abs(y).max())
    order = np.argsort(sizes, kind="stable")
    ordered = np.concatenate([[0.0], sizes[order]])  # the class of zero exists even if no difference is exactly 0
    starts = np.diff(ordered, prepend=0.0) > slack
    starts[0] = True
    merged = np.empty_like(change)
    merged[order] = ordered[starts][np.cumsum(starts) - 1][1:]
    return np.copysign(merged, change) + 0.0


def tally(d: npt.ArrayLike) -> Differences:
    """Count one sample of differences.

    Parameters
    ----------
    d : (n,) array_like
        Differences, from `differences`.

    Raises
    ------
    ParameterError
        If a difference is NaN or infinite.

    Examples
    --------
    >>> counted = tally([3, 0, -1, 3])
    >>> counted.sizes.tolist(), counted.positive[:, 0].tolist(), counted.negative[:, 0].tolist()
    ([0.0, 1.0, 3.0], [1.0, 0.0, 2.0], [0.0, 1.0, 0.0])
    """
    values = numbers("d", d)
    # Sorted as whole numbers: the bits of a size have the order of the size, and one more bit holds the sign. That is several
    # times faster than to sort the places of the sizes, which np.unique does to count positive and negative ones apart.
    keys = np.sort((np.abs(values).view(np.uint64) << np.uint64(1)) | (values < 0))
    keys = np.concatenate([np.zeros(1, dtype=np.uint64), keys])  # the class of zero exists even if no difference is 0
    bits = keys >> np.uint64(1)
    starts = np.flatnonzero(np.concatenate([[True], bits[1:] != bits[:-1]]))
    negative = np.add.reduceat(keys & np.uint64(1), starts).astype(np.float64)
    positive = np.concatenate([starts[1:], [len(keys)]]) - starts - negative
    positive[0] -= 1
    return Differences(bits[starts].view(np.float64), positive[:, None], negative[:, None])


def tally_rows(changes: npt.ArrayLike) -> Differences:
    """Count many samples of differences, each a row.

    Parameters
    ----------
    changes : (n_samples, n) array_like
        Finite.

    Raises
    ------
    ParameterError
        If it has another shape, or a difference is NaN or infinite.

    Examples
    --------
    >>> tally_rows([[3, 0, -1], [1, 1, 0]]).n_nonzero.tolist()
    [2.0, 2.0]
    """
    rows = rows_of_numbers("changes", changes)
    sizes = classes(np.abs(rows).ravel())
    n_classes = len(sizes.distinct)
    # One histogram for all: class, then sign, then sample.
    code = with_signs(sizes, rows.ravel(), np.ones(rows.size, dtype=bool)).reshape(rows.shape)
    cells = code * len(rows) + np.arange(len(rows))[:, None]
    counts = np.bincount(cells.ravel(), minlength=2 * n_classes * len(rows)).astype(np.float64)
    positive, negative = counts.reshape(2, n_classes, len(rows))
    return Differences(sizes.distinct, positive, negative)


def classes(values: npt.ArrayLike) -> Classes:
    """Put values in classes; zero is always a class, and the first one where no value is negative."""
    distinct, code = np.unique(np.append(np.asarray(values, dtype=np.float64), 0.0), return_inverse=True)
    return Classes(code[:-1].astype(np.int64), distinct)


def with_signs(sizes: Classes, change: Floats, counts: Bools) -> Ints:
    """Class of each difference, negative ones after all others; -1 for a difference that does not count."""
    return np.where(counts, sizes.code + len(sizes.distinct) * (change < 0), -1)


def membership(subsets: Ints, n: int) -> Members:
    """Convert lists of queries to columns of zeros and ones.

    Parameters
    ----------
    subsets : (n_subsets, m) int array
        The queries of each subset, each once.
    n : int
        Number of all queries.

    Returns
    -------
    (n, n_subsets) float array
        1 where the query is in the subset, else 0.
    """
    # 32 bits count up to 2^24 exactly, in half of the time.
    members: Members = np.zeros((n, len(subsets)), dtype=np.float32 if n <= 1 << 24 else np.float64)
    members[subsets, np.arange(len(subsets))[:, None]] = 1.0
    return members


def times_drawn(rng: np.random.Generator, resamples: int, n: int) -> Floats:
    """Draw n of n with replacement, `resamples` times; return how often each was drawn, (resamples, n)."""
    drawn = rng.integers(0, n, (resamples, n)) + n * np.arange(resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=resamples * n).reshape(resamples, n).astype(np.float64)


def count(code: Ints, n_classes: int, members: Members) -> Floats:
    """Count the classes in each subset.

    Parameters
    ----------
    code : (n,) int array
        Class of each query; -1 for a query that does not count.
    n_classes : int
        Number of classes.
    members : (n, n_subsets) float array
        From `membership`.

    Returns
    -------
    (n_classes, n_subsets) float array
        Whole numbers.
    """
    from scipy.sparse import csr_matrix

    counted = np.flatnonzero(code >= 0)
    small = np.int16 if n_classes < 1 << 15 else np.int64  # NumPy sorts 16 bits by radix
    in_order = counted[np.argsort(code[counted].astype(small), kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(code[counted], minlength=n_classes))])
    ones = np.ones(len(in_order), dtype=members.dtype)
    counts: Floats = (csr_matrix((ones, in_order, starts), shape=(n_classes, len(code))) @ members).astype(np.float64)
    return counts


def medians(distinct: Floats, counts: Floats) -> Floats:
    """Find the median of each subset; NaN for an empty one.

    Parameters
    ----------
    distinct : (n_classes,) float array
        The values, ascending.
    counts : (n_classes, n_subsets) float array
        How often each occurs; from `count`.
    """
    upto = np.cumsum(counts, axis=0)
    n = upto[-1]
    ends = [(upto <= place).sum(axis=0) for place in ((n - 1) // 2, n // 2)]
    low, high = (distinct[np.minimum(end, len(distinct) - 1)] for end in ends)
    return np.where(n > 0, (low + high) / 2, np.nan)


LEAST_NONZERO = 12  # of fewer the p-values have large steps, and the exact ones take little time
LEAST_EFFECTIVE = 4.0
STEPS = 30  # of the search for the saddlepoint, each of which halves the interval at least
MARGIN = 2.0


def far_from(levels: tuple[float, float], samples: Differences, pvalues: Floats) -> Bools:
    """Tell which approximate p-values are so far from some levels that the exact ones are on the same side of all.

    The approximation is good where many differences of similar size are added up, and poor where one or two outweigh all
    others. Measured on 1308 halves of the queries of real pairs of runs, with p up to 0.3: where the effective number of
    differences, (sum of squares)^2 / (sum of fourth powers), is 4 or more, it is off by a factor of 1.5 at most. A margin of a
    factor of 2 is kept.
    """
    counts = samples.positive + samples.negative
    squares, fourths = samples.sizes**2 @ counts, samples.sizes**4 @ counts
    enough = (samples.n_nonzero >= LEAST_NONZERO) & (squares**2 >= LEAST_EFFECTIVE * fourths)
    return enough & ((pvalues * MARGIN <= levels[0]) | (pvalues >= levels[1] * MARGIN))


def approximate_sign_flips(samples: Differences) -> Floats:
    """Two-sided p-values of the sum of each sample, by the saddlepoint approximation.

    Parameters
    ----------
    samples : Differences
        From `ir_outcomes.statistics.tally` or `tally_rows`.

    Returns
    -------
    (n_samples,) float array
        Approximate p-values; 1 where the sum is 0, NaN where the sum is so near the largest possible one that there is no
        saddlepoint within reach.

    References
    ----------
    Lugannani and Rice 1980; for random signs Robinson 1982, "Saddlepoint approximations for permutation tests".
    """
    from scipy.special import ndtr

    sizes = samples.sizes[1:, None]
    counts = (samples.positive + samples.negative)[1:]
    total = np.abs(samples.totals)
    variance = (sizes[:, 0] ** 2) @ counts
    largest = np.where(counts > 0, sizes, 0.0).max(axis=0, initial=0.0)
    spread = np.sqrt(np.maximum(variance, 1e-300))
    normal = 2 * ndtr(-total / spread)
    # The largest possible sum has no saddlepoint, and near it, it is far out: there the formula gives anything up to 1.
    low, high = np.zeros_like(total), 40 / np.maximum(largest, 1e-300)
    within_reach = (counts * sizes * np.tanh(sizes * high)).sum(axis=0) > total * (1 + 1e-9)
    for _ in range(STEPS):
        middle = (low + high) / 2
        below = (counts * sizes * np.tanh(sizes * middle)).sum(axis=0) < total
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    tilt = (low + high) / 2
    arguments = sizes * tilt
    cumulant = (counts * (np.logaddexp(arguments, -arguments) - np.log(2))).sum(axis=0)
    curvature = (counts * sizes**2 * (1 - np.tanh(arguments) ** 2)).sum(axis=0)
    w = np.sqrt(np.maximum(2 * (tilt * total - cumulant), 0.0))
    u = tilt * np.sqrt(curvature)
    usable = (w > 0.05) & (u > 1e-9)
    correction = np.divide(1.0, u, out=np.zeros_like(u), where=usable) - np.divide(1.0, w, out=np.zeros_like(w), where=usable)
    tail = ndtr(-w) + np.exp(-w * w / 2) / np.sqrt(2 * np.pi) * correction
    pvalues: Floats = np.where(within_reach | (total == 0), np.clip(np.where(usable, 2 * tail, normal), 0.0, 1.0), np.nan)
    return pvalues


EXACT = "exact"
WITHIN = "to within 1 %"

MOST_ENUMERATED = 42  # halves of 2^21 sums, 0.1 s
LARGEST_DENOMINATOR = 1000
LARGEST_SCALE = 1 << 30  # of numerators with a common factor the total can be small all the same
LARGEST_TOTAL = 1 << 20  # in common units: above that the sizes are rounded
MOST_STEPS = 1 << 28  # additions, 0.2 s: above that the sizes are rounded
GRIDS = (1 << 15, 1 << 18, 1 << 21)  # steps up to k
MOST_BOUNDED = 100  # for more differences bounds that hold for certain would need too fine a grid
PRECISION = 0.01
TIES_SHARE = 0.004  # what the allowance for rounding errors may add to a p-value of many differences


def sign_flip_pvalue(
    sizes: Floats, positive: Floats, negative: Floats, levels: tuple[float, float] | None = None
) -> tuple[float, str]:
    """Two-sided p-value of the sum of some differences.

    Parameters
    ----------
    sizes : (n_classes,) float array
        Absolute values of the differences, ascending, all above 0.
    positive, negative : (n_classes,) float arrays
        How many differences of each size are positive and negative; at least one of each size.
    levels : pair of float, optional
        Smallest and largest level that the p-value is compared with: bounds that reach into this range are refined.

    Returns
    -------
    float and str
        The p-value, at least 2.2e-308, and how close it is: "exact" or "to within 1 %".
    """
    counts = positive + negative
    n = int(counts.sum())
    up, down = float(sizes @ positive), float(sizes @ negative)
    total, flipped = up + down, min(up, down)
    if flipped == 0.0:  # also avoids a grid of steps of size 0
        return max(math.ldexp(1.0, 1 - n), SMALLEST_PVALUE), EXACT
    if abs(up - down) <= 1e-12 * total:  # sums that are equal but for rounding
        return 1.0, EXACT
    units = _in_units(sizes, counts)
    if units is not None:
        limit = min(round(float(units @ positive)), round(float(units @ negative)))
        if n * limit <= (64 << (n // 2) if n <= MOST_ENUMERATED else MOST_STEPS):  # the quicker of the two
            return _proper(_shares(units, counts, limit, limit)[0]), EXACT
    if n <= MOST_ENUMERATED:
        return _proper(_enumerated(np.repeat(sizes, counts.astype(np.int64)), flipped + 1e-12 * total)), EXACT
    return _proper(_rounded(sizes, counts, flipped, levels)), WITHIN


def _proper(share: float) -> float:
    return min(1.0, max(2 * share, SMALLEST_PVALUE))


def _in_units(sizes: Floats, counts: Floats) -> Ints | None:
    """Express the sizes as whole numbers of their largest common unit; None if there is none or the total is too large."""
    scale = 1
    for size in sizes.tolist():
        denominator = _denominator(size)
        if denominator is None:
            return None
        scale = math.lcm(scale, denominator)
        if scale > LARGEST_SCALE:
            return None
    scaled = sizes * scale
    whole = np.rint(scaled)
    if scaled[-1] > 1 << 52 or np.any(np.abs(scaled - whole) > 1e-9 * scaled):
        return None
    units = whole.astype(np.int64)
    units //= np.gcd.reduce(units)
    return units if float(units @ counts) <= LARGEST_TOTAL else None


@lru_cache(maxsize=1 << 16)
def _denominator(size: float) -> int | None:
    """Denominator, up to 1000, of the fraction that a size is but for rounding; None if it is no such fraction.

    Sizes come back thousands of times over the pairs of a leaderboard, so they are looked up.
    """
    fraction = Fraction(size).limit_denominator(LARGEST_DENOMINATOR)
    return fraction.denominator if abs(float(fraction) - size) <= min(1e-9 * size, 1e-7 / fraction.denominator) else None


def _enumerated(sizes: Floats, limit: float) -> float:
    """Share of the subsets with a sum of at most the limit: each sum of one half needs a small enough one of the other."""
    first, second = _sums(sizes[::-2], limit), _sums(sizes[-2::-2], limit)
    # How many sums of the second half each of the first leaves space for is its place when both are merged. The order of
    # positive floats is that of their bits, which sort twice as fast; the last bit, 1e-16 of a sum, says whose sum it is.
    merged = np.concatenate([second.view(np.int64) & ~1, np.abs(limit - first[::-1]).view(np.int64) | 1])
    merged.sort(kind="stable")
    places = np.flatnonzero(merged & 1)
    return float(places.sum() - len(first) * (len(first) - 1) // 2) / 2.0 ** len(sizes)


def _sums(sizes: Floats, limit: float) -> Floats:
    """Sums of all subsets up to the limit, ascending; larger sizes first leave fewer of them."""
    sums = np.zeros(1)
    for size in sizes.tolist():
        sums = np.concatenate([sums, sums + size])
        sums.view(np.int64).sort(kind="stable")  # merges the two, which are ascending
        sums = sums[: np.searchsorted(sums, limit, side="right")]
    return sums


def _rounded(sizes: Floats, counts: Floats, limit: float, levels: tuple[float, float] | None) -> float:
    """Share of the subsets with a sum of at most the limit, with the sizes rounded to a grid; to within 1 %.

    Rounding moves the sum of a subset up by `up` steps at most and down by `down`. Subsets that tie with the observed one
    (1/2 = 1/3 + 1/6) count, as they must, because all subsets count whose sum on the grid is at most `up` above the limit.
    Where those between the two bounds are too many even on the finest grid, the upper bound stands: then nearly all of them
    tie.

    For more than 100 differences such bounds would be too far apart. There the average rounding error of the subsets near the
    limit is taken into account instead, plus as large an allowance for ties as adds 0.4 % at most; single ties matter less and
    less.
    """
    n, share = float(counts.sum()), 1.0
    for steps in GRIDS:
        if share < 1.0 and n * steps > MOST_STEPS:
            break
        scaled = sizes * (steps / limit)
        units = np.rint(scaled)
        errors = units - scaled
        up, down = float(np.maximum(errors, 0) @ counts), float(np.maximum(-errors, 0) @ counts)
        if n > MOST_BOUNDED:
            tilt = _tilt(scaled, counts, float(scaled @ counts) - 2 * steps)
            # How often a size is in the subsets near the limit, whose share grows by a factor of exp(2 tilt) with each step.
            mean = float((errors * 0.5 * (1 - np.tanh(tilt * scaled))) @ counts)
            allowance = TIES_SHARE / (2 * tilt)
            up, down = mean + min(up, allowance), min(down, allowance) - mean
        share, least = _shares(units.astype(np.int64), counts, int(steps + up + 1e-6), int(steps - down - 1e-6))
        decided = levels is None or 2 * share < levels[0] or 2 * least > levels[1]
        if share <= (1 + PRECISION) * least and decided:
            break
    return share


def _shares(units: Ints, counts: Floats, limit: int, lower: int) -> tuple[float, float]:
    """Share of the subsets of some whole numbers with a sum of at most the limit, and of at most a lower limit."""
    units, counts = units[units > 0], counts[units > 0]  # those rounded to 0 are in half of the subsets, whatever the limit
    limit = min(limit, int(units @ counts) // 2)  # an allowance for rounding may lead beyond the middle
    n = int(counts.sum())
    ways, exponent = subset_sums(np.repeat(units, counts.astype(np.int64)).tolist(), limit)
    return _scaled(float(ways.sum()), exponent - n), _scaled(float(ways[: lower + 1].sum()), exponent - n)


def _scaled(number: float, exponent: int) -> float:
    """Multiply by 2^exponent, where the power alone may be too small for a float."""
    mantissa, own = math.frexp(number)
    return math.ldexp(mantissa, own + exponent)


def _tilt(sizes: Floats, counts: Floats, observed: float) -> float:
    """Exponential tilt under which the mean of the random-sign sum is the observed one; positive."""

    def excess(tilt: float) -> float:
        return float((counts * sizes * np.tanh(tilt * sizes)).sum()) - observed

    low, high = 0.0, 1.0 / float(sizes.max())
    while excess(high) < 0 and high * float(sizes.min()) < 64:  # by then tanh is 1 for all sizes
        low, high = high, 2 * high
    return root(excess, low, high, tolerance=1e-9 * high) if excess(high) > 0 else high
