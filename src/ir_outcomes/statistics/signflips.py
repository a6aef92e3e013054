"""P-values of the sign-flip (randomization) test, without random numbers: exact or within 1 %, however small.

Under the null hypothesis each of n differences that are not zero is as likely positive as negative,
and the p-value is the share of the 2^n assignments of signs whose sum is at least as far from 0 as
the one observed. With k the smaller of the sums of the positive and of the negative differences,
that is twice the share of the subsets of the sizes with a sum of at most k. Such subsets are

- counted, where the sizes are multiples of a common unit, through all sums up to k in that unit:
  exact;
- enumerated in two parts, for up to 42 differences: exact;
- else counted on a grid of steps of k / 2^15 or less, to which the sizes are rounded, refined until
  lower and upper bound agree to 1 %, and further where a level that matters lies between them. (For
  more than 100 differences the bounds are estimates.)

Which way is taken depends on the sample alone. Where nothing but labels is wanted, as for halves of
the queries, p-values far from the levels are saddlepoint approximations.

`scipy.stats.permutation_test` with ``permutation_type="samples"`` enumerates all signs of few
differences, and is the oracle of the tests there. For more it draws random signs, whose p-values
are at least 1 / (1 + resamples): a correction for thousands of comparisons turns all of them into
"not significant".
"""

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes.statistics.counts import SMALLEST_PVALUE, Differences, special
from ir_outcomes.types import Bools, Floats, Ints, divided

Levels = tuple[float, float]  # the smallest and the largest that a p-value is compared with

MOST_ENUMERATED = 42  # parts of a million sums, 0.04 s
LARGEST_DENOMINATOR = 1000
LARGEST_SCALE = 1 << 30  # of numerators with a common factor the total can be small all the same
LARGEST_TOTAL = 1 << 20  # in common units: above that the sizes are rounded
MOST_STEPS = 1 << 28  # additions, 0.2 s: above that the sizes are rounded
GRIDS = (1 << 15, 1 << 18, 1 << 21)  # steps up to k
MOST_BOUNDED = 100  # for more differences bounds that hold for certain would need too fine a grid
PRECISION = 0.01
DENSE = 128  # how many times longer it takes to follow a sum by itself than in an array of all
# What the allowance for rounding errors may add to a p-value of many differences.
TIES_SHARE = 0.004

# When the saddlepoint tells on which side of a level a p-value is.
LEAST_NONZERO = 12  # of fewer the p-values have large steps, and the exact ones take little time
LEAST_EFFECTIVE = 4.0
FACTOR = 2.0
LARGEST_TILT = 18.0  # times the largest size: beyond it the tanh of that is 1 except for rounding


def sign_flip_pvalues(
    samples: Differences, levels: Levels | None, labels_only: bool
) -> tuple[Floats, list[str]]:
    """Two-sided p-values of the sums of samples that have differences other than zero, and how close each is."""
    n = len(samples.n)
    pvalues = np.ones(n)
    closeness = [", approximate"] * n
    far = np.zeros(n, dtype=bool)
    if labels_only and levels is not None and n:
        pvalues = saddlepoint_pvalues(samples)
        far = _far_from(levels, samples, pvalues)
    for sample in np.flatnonzero(~far).tolist():
        positive = samples.positive[1:, sample]
        negative = samples.negative[1:, sample]
        # A sample has its own sizes only, so that its p-value depends on nothing else.
        present = np.flatnonzero(positive + negative)
        sizes = samples.sizes[1:][present]
        pvalues[sample], closeness[sample] = _pvalue(
            sizes, positive[present], negative[present], levels
        )
    return pvalues, closeness


def _pvalue(
    sizes: Floats, positive: Floats, negative: Floats, levels: Levels | None
) -> tuple[float, str]:
    """P-value of differences of these sizes, ascending and above 0, and how close it is."""
    counts = positive + negative
    n = int(counts.sum())
    up = float(sizes @ positive)
    down = float(sizes @ negative)
    total = up + down
    flipped = min(up, down)
    exact = ", exact"
    if flipped == 0.0:  # also avoids a grid of steps of size 0
        return max(math.ldexp(1.0, 1 - n), SMALLEST_PVALUE), exact
    if abs(up - down) <= 1e-12 * total:  # sums that are equal except for rounding
        return 1.0, exact
    units = _in_units(sizes, counts)
    if units is not None:
        limit = min(round(float(units @ positive)), round(float(units @ negative)))
        # The quicker of the two methods is taken.
        most = 64 << (n // 2) if n <= MOST_ENUMERATED else MOST_STEPS
        if n * limit <= most:
            return _two_sided(_counted(units, counts, limit, limit)[0]), exact
    if n <= MOST_ENUMERATED:
        repeated = np.repeat(sizes, counts.astype(np.int64))
        # Sums that are equal except for rounding reach the limit.
        return _two_sided(_enumerated(repeated, flipped + 1e-12 * total)), exact
    return _two_sided(_counted_on_grid(sizes, counts, flipped, levels)), ", to within 1 %"


def _two_sided(share: float) -> float:
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
    """Denominator, up to 1000, of the fraction that a size is, except for rounding; None if there is none."""
    # Sizes come back thousands of times over the pairs of a leaderboard, so they are looked up.
    fraction = Fraction(size).limit_denominator(LARGEST_DENOMINATOR)
    allowance = min(1e-9 * size, 1e-7 / fraction.denominator)
    if abs(float(fraction) - size) <= allowance:
        return fraction.denominator
    return None


def _counted(units: Ints, counts: Floats, limit: int, lower: int) -> tuple[float, float]:
    """Share of the subsets of some whole numbers with a sum of at most the limit, and of at most a lower limit."""
    # Those rounded to 0 are in half of the subsets, whatever the limit.
    sizes = np.repeat(units, np.where(units > 0, counts, 0.0).astype(np.int64))
    # An allowance for rounding may lead beyond the middle.
    limit = min(limit, int(sizes.sum()) // 2)
    gap = limit - min(max(lower, -1), limit)
    spaces, share, left = _searched(
        sizes, limit, gap, lambda n, _, rest: DENSE * n > min(rest, limit)
    )
    # From here on subsets are counted by the space that they leave, in the smallest type that holds
    # the numbers: less memory takes less time. Up to 53 sizes all numbers are exact.
    occurring, numbers = np.unique(spaces, return_counts=True)
    most = int(numbers.max(initial=0))
    ways = np.zeros(int(occurring.max(initial=-1)) + 1, dtype=_type_for(most))
    ways[occurring] = numbers
    exponent = -len(sizes)
    rest = int(sizes[:left].sum()) + gap
    for place in range(left - 1, -1, -1):
        most *= 2  # a step at most doubles them
        if most > 1 << 1000:
            ways *= 2.0**-900
            most >>= 900
            exponent += 900
        ways = ways.astype(_type_for(most), copy=False)
        size = int(sizes[place])
        _add_from(ways, size)
        rest -= size
        share += math.ldexp(float(ways[rest:].sum(dtype=np.float64)), exponent + place)
        ways = ways[:rest]
    return share + math.ldexp(float(ways.sum(dtype=np.float64)), exponent), share


def _type_for(number: int) -> npt.DTypeLike:
    """Return the smallest type for whole numbers up to this one; float64 for more than 32 bits."""
    return np.float64 if number >= 1 << 32 else np.min_scalar_type(number)


def _searched(
    sizes: Ints, limit: int, gap: int, is_enough: Callable[[int, int, int], bool]
) -> tuple[Ints, float, int]:
    """Follow the subsets with the largest of some whole numbers, ascending, one by one.

    Return, ascending, how much space to the limit they leave, for those where that depends on the
    other numbers; the share of the subsets whose sum is at most limit - gap whatever else is in
    them; and how many numbers are left. It is enough by the number of spaces, of numbers left, and
    their sum.
    """
    spaces = np.array([limit])
    share = 0.0
    left = len(sizes)
    rest = int(sizes.sum())
    while left and not is_enough(len(spaces), left, rest):
        left -= 1
        size = int(sizes[left])
        rest -= size
        too_small, fitting = np.searchsorted(spaces, [size, rest + gap])
        share += math.ldexp(len(spaces) - int(fitting), left - len(sizes))
        spaces = np.concatenate([spaces[:fitting], spaces[too_small:] - size])
        spaces.sort(kind="stable")  # merges the two, which are ascending
    return spaces, share, left


def _add_from(ways: npt.NDArray[Any], size: int) -> None:
    """Add to each number the one that is so many places behind it, in place."""
    end = max(len(ways) - size, 0)
    # NumPy copies what overlaps, which takes twice as long. Parts up to the size do not, and stay
    # in the cache.
    part = min(size, 1 << 15) if size >= 1 << 12 else max(end, 1)
    for start in range(0, end, part):
        stop = min(start + part, end)
        ways[start:stop] += ways[start + size : stop + size]


def subset_sums(sizes: Iterable[int], limit: int) -> tuple[Floats, int]:
    """Count the subsets of some positive whole numbers by their sum: ``array[k] * 2**exponent`` of them have the sum k."""
    # Only sums up to the limit are followed, which are those of the tail that a p-value adds up.
    # Every number is a sum of positive numbers, so there is no cancellation: the relative error of
    # each is about the machine precision times the number of sizes, however small the tail. Up to
    # 53 sizes it is exact, with exponent 0.
    counts, spare = np.zeros((2, limit + 1))  # both stay 0 beyond the sums reached
    counts[0] = 1.0
    reach = 0
    exponent = 0
    # In ascending order the first sums are small, so that most steps touch a part of the array
    # only.
    for place, size in enumerate(sorted(size for size in sizes if size <= limit)):
        end = min(reach + size, limit) + 1
        # Not in place: NumPy would copy the overlapping part first, which takes twice as long.
        np.add(counts[size:end], counts[: end - size], out=spare[size:end])
        spare[:size] = counts[:size]
        counts, spare = spare, counts
        reach = end - 1
        if place % 256 == 255:  # each step at most doubles the numbers, and 2^1024 would overflow
            raised = int(math.frexp(float(counts[: reach + 1].max()))[1]) - 500
            if raised > 0:
                counts[: reach + 1] = np.ldexp(counts[: reach + 1], -raised)
                exponent += raised
    return counts, exponent


def _enumerated(sizes: Floats, limit: float) -> float:
    """Share of the subsets with a sum of at most the limit: sums of the larger sizes need small enough ones of the others."""
    scale = 2.0**50 / float(sizes.sum())
    # Sums are even and spaces odd, so that the last bit, 1e-15 of a sum, says which is which.
    even = 2 * np.rint(sizes * scale).astype(np.int64)
    spaces, share, left = _searched(
        even, 2 * int(limit * scale) + 1, 0, lambda n, n_left, _: 2 * n >= 1 << n_left
    )
    # One array for all, because new memory takes as long as a step. What is behind sorts last.
    n_sums = 1 << left
    n_both = n_sums + len(spaces)
    merged = np.full((n_both // 1024 + 1, 1024), np.iinfo(np.int64).max - 1)
    both = merged.ravel()
    both[0] = 0
    for place, size in enumerate(even[:left].tolist()):
        n = 1 << place
        np.add(both[:n], size, out=both[n : 2 * n])
        both[: 2 * n].sort(kind="stable")  # merges the two, which are ascending
    both[n_sums:n_both] = spaces
    both[:n_both].sort(kind="stable")
    # The number of sums that fit into a space is its place, less the spaces before it.
    merged &= 1
    rows = int(merged.sum(axis=1) @ np.arange(len(merged)))
    places = 1024 * rows + int(merged.sum(axis=0) @ np.arange(1024))
    pairs = places - len(spaces) * (len(spaces) - 1) // 2
    return share + math.ldexp(pairs, -len(sizes))


def _counted_on_grid(sizes: Floats, counts: Floats, limit: float, levels: Levels | None) -> float:
    """Share of the subsets with a sum of at most the limit, with the sizes rounded to a grid; to within 1 %."""
    # Rounding moves the sum of a subset up by `up` steps at most and down by `down`. Subsets that
    # tie with the observed one (1/2 = 1/3 + 1/6) count, as they must, because all subsets count
    # whose sum on the grid is at most `up` above the limit. Where those between the two bounds are
    # too many even on the finest grid, the upper bound stands: then nearly all of them tie.
    #
    # For more than 100 differences such bounds would be too far apart. There the average rounding
    # error of the subsets near the limit is taken into account instead, plus as large an allowance
    # for ties as adds 0.4 % at most.
    n = float(counts.sum())
    share = 1.0
    for steps in GRIDS:
        if steps > GRIDS[0] and n * steps > MOST_STEPS:
            break
        scaled = sizes * (steps / limit)
        units = np.rint(scaled)
        errors = units - scaled
        up = float(np.maximum(errors, 0) @ counts)
        down = float(np.maximum(-errors, 0) @ counts)
        if n > MOST_BOUNDED:
            tilt = float(
                _tilts(scaled, counts[:, None], np.array([scaled @ counts - 2 * steps]))[0]
            )
            # How often a size is in the subsets near the limit, whose share grows by a factor of
            # exp(2 tilt) with each step.
            mean = float((errors * 0.5 * (1 - np.tanh(tilt * scaled))) @ counts)
            allowance = TIES_SHARE / (2 * tilt)
            up = mean + min(up, allowance)
            down = min(down, allowance) - mean
        surely = steps - down
        share, least = _counted(
            units.astype(np.int64), counts, int(steps + up + 1e-6), int(surely - 1e-6)
        )
        decided = levels is None or 2 * share < levels[0] or 2 * least > levels[1]
        if share <= (1 + PRECISION) * least and decided:
            break
    return share


def saddlepoint_pvalues(samples: Differences) -> Floats:
    """Approximate two-sided p-values of the sum of each sample; 1 where it is 0, NaN where there is no saddlepoint in reach."""
    # Lugannani and Rice 1980; for random signs Robinson 1982, "Saddlepoint approximations for
    # permutation tests".
    sizes = samples.sizes[1:, None]
    counts = samples.both[1:]
    total = np.abs(samples.totals)
    tilt = _tilts(samples.sizes[1:], counts, total)
    arguments = sizes * tilt
    # The largest possible sum has no saddlepoint, and near it, it is far out: there the formula
    # gives anything up to 1.
    is_reached = arguments.max(axis=0, where=counts > 0, initial=0.0) < LARGEST_TILT
    cumulant = (counts * (np.logaddexp(arguments, -arguments) - np.log(2))).sum(axis=0)
    curvature = (counts * sizes**2 * (1 - np.tanh(arguments) ** 2)).sum(axis=0)
    w = np.sqrt(np.maximum(2 * (tilt * total - cumulant), 0.0))
    u = tilt * np.sqrt(curvature)
    # Near a sum of 0 the correction is the difference of two large numbers, and the normal
    # approximation is good.
    usable = (w > 0.05) & (u > 1e-9)
    correction = divided(1.0, u, usable, otherwise=0.0) - divided(1.0, w, usable, otherwise=0.0)
    density = np.exp(-w * w / 2) / np.sqrt(2 * np.pi)
    tail = special.ndtr(-w) + density * correction
    variance = np.maximum((sizes**2 * counts).sum(axis=0), 1e-300)
    normal = special.ndtr(-total / np.sqrt(variance))
    doubled = 2 * np.where(usable, tail, normal)
    pvalues: Floats = np.where(is_reached, np.clip(doubled, 0.0, 1.0), np.nan)
    return pvalues


def _tilts(sizes: Floats, counts: Floats, totals: Floats) -> Floats:
    """Exponential tilt of each sample under which the mean of the random-sign sum is its total (its saddlepoint)."""
    sizes = sizes[:, None]
    largest = np.where(counts > 0, sizes, 0.0).max(axis=0, initial=0.0)
    low = np.zeros_like(totals)
    high = 40 / np.maximum(largest, 1e-300)
    for _ in range(30):
        middle = (low + high) / 2
        below = (counts * sizes * np.tanh(sizes * middle)).sum(axis=0) < totals
        low = np.where(below, middle, low)
        high = np.where(below, high, middle)
    tilts: Floats = (low + high) / 2
    return tilts


def _far_from(levels: Levels, samples: Differences, pvalues: Floats) -> Bools:
    """Whether approximate p-values are so far from some levels that the exact ones are on the same side of all."""
    # The approximation is good where many differences of similar size are added up, and poor where
    # one or two outweigh all others. Measured on 1308 halves of the queries of real pairs of runs,
    # with p up to 0.3: where the effective number of differences, (sum of squares)^2 / (sum of
    # fourth powers), is 4 or more, it is off by a factor of 1.5 at most. 2 is kept.
    fourths = samples.sizes**4 @ samples.both
    enough = (samples.n_nonzero >= LEAST_NONZERO) & (
        samples.squares**2 >= LEAST_EFFECTIVE * fourths
    )
    # This leaves out those that are NaN.
    return enough & ((pvalues * FACTOR <= levels[0]) | (pvalues >= levels[1] * FACTOR))
