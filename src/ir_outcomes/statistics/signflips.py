"""P-values of the sign-flip (randomization) test, without random numbers: of any size, the same whatever the order of the queries.

Under the null hypothesis each of n differences that are not zero is as likely positive as negative, and the p-value is the share of
the 2^n assignments of signs whose sum is at least as far from 0 as the one observed. With T the sum of all sizes and k the
smaller of the sums of the positive and of the negative ones, that is twice the share of the subsets of the sizes with a sum of at
most k. Such subsets are counted

- exactly, where the sizes are multiples of a common unit, through all sums up to k in that unit;
- exactly, for up to 30 sizes, by enumeration in two halves;
- else on a grid of k / 2^15 or so, to which the sizes are rounded: to within 1 %, and never too small for up to 64 sizes.

Which way is taken depends on the sample alone. `scipy.stats.permutation_test` with ``permutation_type="samples"`` enumerates or
samples, and is the oracle of the tests for few differences; sampled p-values have a smallest value, 1 / (1 + resamples), which a
correction for thousands of comparisons turns into "not significant".
"""

from __future__ import annotations

import heapq
import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from ir_outcomes._types import Floats, Ints
from ir_outcomes.statistics.distributions import SMALLEST_PVALUE, binomial_chances, root, subset_sums

__all__ = ["EXACT", "WITHIN", "sign_flip_pvalue"]

EXACT = "exact"
WITHIN = "to within 1 %"

MOST_ENUMERATED = 30  # 0.8 ms; each difference more takes 1.4 times as long, and a leaderboard has thousands of pairs
LARGEST_DENOMINATOR = 1000
LARGEST_SCALE = 1 << 30  # of numerators with a common factor the total can be small all the same
LARGEST_TOTAL = 1 << 20  # in common units: above that the sizes are rounded
LARGEST_QUICK_TOTAL = 1 << 13  # for so few differences that enumeration is quicker beyond it
MOST_STEPS = 1 << 24  # additions that counting may take before the Fourier transform is quicker
FEW_ROUNDED = 64  # for so many sizes the grid is fine enough to allow for the largest possible rounding error
COARSEST, FINEST = 1 << 15, 1 << 17  # steps of the grid up to k
TIES_SHARE = 0.004  # what allowing for rounding errors may add to a p-value of more sizes


def sign_flip_pvalue(sizes: Floats, positive: Floats, negative: Floats) -> tuple[float, str]:
    """Two-sided p-value of the sum of some differences.

    Parameters
    ----------
    sizes : (n_classes,) float array
        Absolute values of the differences, ascending, all above 0.
    positive, negative : (n_classes,) float arrays
        How many differences of each size are positive and negative; at least one of each size.

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
    if n <= MOST_ENUMERATED:
        units = _in_units(sizes, counts, LARGEST_QUICK_TOTAL)
        if units is None:
            return _proper(_enumerated(np.repeat(sizes, counts.astype(np.int64)), flipped) / 2.0**n), EXACT
    else:
        units = _in_units(sizes, counts, LARGEST_TOTAL)
    if units is not None:
        limit = min(round(float(units @ positive)), round(float(units @ negative)))
        return _proper(_share(units, counts, limit)), EXACT
    return _proper(_rounded(sizes, counts, total, flipped)), WITHIN


def _proper(share: float) -> float:
    return min(1.0, max(2 * share, SMALLEST_PVALUE))


def _in_units(sizes: Floats, counts: Floats, largest_total: int) -> Ints | None:
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
    return units if float(units @ counts) <= largest_total else None


@lru_cache(maxsize=1 << 16)
def _denominator(size: float) -> int | None:
    """Denominator, up to 1000, of the fraction that a size is but for rounding; None if it is no such fraction.

    Sizes come back thousands of times over the pairs of a leaderboard, so they are looked up.
    """
    fraction = Fraction(size).limit_denominator(LARGEST_DENOMINATOR)
    return fraction.denominator if abs(float(fraction) - size) <= min(1e-9 * size, 1e-7 / fraction.denominator) else None


def _enumerated(sizes: Floats, limit: float) -> float:
    """Number of subsets with a sum of at most the limit: each sum over one half needs a small enough one over the other half."""
    limit += 1e-12 * float(sizes.sum())  # sums that are equal but for rounding reach it
    halves = []
    for half in (sizes[::2], sizes[1::2]):
        sums = np.zeros(1)
        for size in half:
            sums = np.concatenate([sums, sums + size])
        halves.append(np.sort(sums[sums <= limit]))
    first, second = halves
    return float(np.searchsorted(second, limit - first, side="right").sum())


def _rounded(sizes: Floats, counts: Floats, total: float, limit: float) -> float:
    """Share of the subsets with a sum of at most the limit, with the sizes rounded to a grid.

    Rounding moves the sum of a subset by at most `worst` steps upwards. For up to 64 sizes all subsets are counted whose sum
    on the grid is no farther above the limit than that, so that none is missed: subsets that tie with the observed one (1/2 = 1/3 + 1/6)
    count, as they must, and what is counted too much is below 1 % (measured against enumeration in the tests: 0.6 %). For more sizes that
    would cost too much. There the average rounding error of the subsets near the limit is taken into account instead, plus as
    large an allowance for ties as adds 0.4 % at most; single ties matter less and less.
    """
    n = int(counts.sum())
    steps = COARSEST if n <= FEW_ROUNDED else FINEST
    step = limit / steps
    if n * steps > MOST_STEPS:  # the Fourier transform follows all sums up to the total
        step = max(step, total / LARGEST_TOTAL)
    scaled = sizes / step
    units = np.rint(scaled)
    errors = units - scaled
    worst = float(np.maximum(errors, 0.0) @ counts)
    reach = limit / step
    if n <= FEW_ROUNDED:
        reach += worst
    else:
        tilt = _tilt(sizes / total, counts, (total - 2 * limit) / total) / total
        with np.errstate(over="ignore"):
            flips = 1 / (1 + np.exp(2 * tilt * sizes))  # how often a size is flipped among the subsets near the limit
        # The share of subsets grows by a factor of exp(2 tilt step) with each step of the grid.
        reach += float((errors * flips) @ counts) + min(worst, TIES_SHARE / (2 * tilt * step))
    return _share(units.astype(np.int64), counts, int(reach + 1e-6))


def _share(units: Ints, counts: Floats, limit: int) -> float:
    """Share of the subsets of some whole numbers with a sum of at most the limit."""
    units, counts = units[units > 0], counts[units > 0]  # those rounded to 0 are in half of the subsets, whatever the limit
    limit = min(limit, int(units @ counts) // 2)  # an allowance for rounding may lead beyond the middle
    n = int(counts.sum())
    if n * limit > MOST_STEPS and float(units @ counts) <= 2 * LARGEST_TOTAL:
        return _share_by_transform(units, counts.astype(np.int64), limit)
    ways, exponent = subset_sums(np.repeat(units, counts.astype(np.int64)).tolist(), limit)
    return _scaled(float(ways.sum()), exponent - n)


def _scaled(number: float, exponent: int) -> float:
    """Number * 2^exponent, where the power alone may be too small for a float."""
    mantissa, own = math.frexp(number)
    return math.ldexp(mantissa, own + exponent)


def _share_by_transform(sizes: Ints, counts: Ints, limit: int) -> float:
    """Share of the subsets with a sum of at most the limit, by convolution with the fast Fourier transform.

    Its absolute error of about 1e-16 would be useless for small tails. Tilting the distribution exponentially until the
    observed sum is its mean (Esscher 1932) makes the relative error small: P(S >= s) = M(l) E_l[exp(-l S); S >= s].
    """
    total = int((sizes * counts).sum())
    observed = total - 2 * limit
    tilt = _tilt(sizes.astype(np.float64), counts.astype(np.float64), observed)
    density = _flipped_total(sizes, counts, tilt)
    flipped = np.arange(limit + 1)  # S = total - 2 K, with K the sum of the flipped sizes
    log_moment = float((counts * (np.logaddexp(tilt * sizes, -tilt * sizes) - math.log(2))).sum())
    tail = float((np.maximum(density[flipped], 0.0) * np.exp(-2 * tilt * (limit - flipped))).sum())
    return tail * math.exp(log_moment - tilt * observed)


def _flipped_total(sizes: Ints, counts: Ints, tilt: float) -> Floats:
    """Chances of 0, 1, 2, ... as the sum of the flipped sizes, under the tilted distribution."""
    from scipy.special import expit

    parts: list[tuple[int, int, Floats]] = []
    for size, number in zip(sizes.tolist(), counts.tolist(), strict=True):
        chances = np.zeros(size * number + 1)
        chances[::size] = binomial_chances(number, float(expit(-2 * tilt * size)))
        parts.append((len(chances), len(parts), chances))
    heapq.heapify(parts)
    while len(parts) > 1:  # shortest first: the work grows with the total, not with the number of distinct sizes
        merged = _convolved(heapq.heappop(parts)[2], heapq.heappop(parts)[2])
        heapq.heappush(parts, (len(merged), -len(parts), merged))
    return parts[0][2]


def _convolved(x: Floats, y: Floats) -> Floats:
    if min(len(x), len(y)) <= 64:
        return np.convolve(x, y)
    length = len(x) + len(y) - 1
    padded = 1 << (length - 1).bit_length()
    return np.fft.irfft(np.fft.rfft(x, padded) * np.fft.rfft(y, padded), padded)[:length]


def _tilt(sizes: Floats, counts: Floats, observed: float) -> float:
    """Exponential tilt under which the mean of the random-sign sum is the observed one; positive."""

    def excess(tilt: float) -> float:
        return float((counts * sizes * np.tanh(tilt * sizes)).sum()) - observed

    low, high = 0.0, 1.0 / float(sizes.max())
    while excess(high) < 0 and high * float(sizes.min()) < 64:  # by then tanh is 1 for all sizes
        low, high = high, 2 * high
    return root(excess, low, high, tolerance=1e-9 * high) if excess(high) > 0 else high
