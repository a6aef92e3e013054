"""Distributions and roots that the tests need.

`scipy.stats` and `scipy.optimize` have most of them too and are the oracle of the tests (`scipy.stats.binomtest`,
`scipy.stats.binom`, `scipy.stats.wilcoxon`), but importing those takes longer than a whole comparison does.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.types import Floats, Ints


def numbers(name: str, values: npt.ArrayLike) -> Floats:
    """Convert to a one-dimensional array of finite numbers; raise ParameterError for anything else."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ParameterError(f"{name} has the shape {array.shape}: must be a list of numbers, one dimension")
    if not np.isfinite(array).all():
        raise ParameterError(f"{name} holds NaN or an infinity: must be finite numbers; leave out what has no value")
    return array


def paired(baseline: npt.ArrayLike, contender: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Convert to two arrays of finite numbers of the same length."""
    x, y = numbers("baseline", baseline), numbers("contender", contender)
    if len(x) != len(y):
        raise ParameterError(f"baseline has {len(x)} values and contender {len(y)}: must be paired, one for one")
    return x, y


def check_draws(seed: int, resamples: int) -> None:
    """Raise ParameterError for a seed or a number of random draws that cannot be used."""
    if not isinstance(seed, (int, np.integer)) or seed < 0:
        raise ParameterError(f"seed={seed!r}: must be a whole number, 0 or more")
    if not isinstance(resamples, (int, np.integer)) or resamples < 1:
        raise ParameterError(f"resamples={resamples!r}: must be a whole number, 1 or more")


def check_discordant(won: int, lost: int) -> None:
    """Raise ParameterError for counts that are negative."""
    if won < 0 or lost < 0:
        raise ParameterError(f"won={won!r}, lost={lost!r}: must be counts, 0 or more")


def check_share(name: str, value: float, *, above: float = 0.0) -> None:
    """Raise ParameterError for a value that is not strictly between `above` and 1."""
    if not above < value < 1:
        raise ParameterError(f"{name}={value!r}: must be between {above:g} and 1, such as {0.05 if name == 'alpha' else 0.95}")


SMALLEST_PVALUE = float(np.finfo(np.float64).tiny)  # 2.2e-308: smaller p-values are raised to it, so that none is 0


def proper(pvalues: npt.ArrayLike) -> Floats:
    """Bring p-values into the range from 2.2e-308 to 1: sums of two tails can exceed 1, and tiny ones underflow to 0."""
    bounded: Floats = np.minimum(np.maximum(pvalues, SMALLEST_PVALUE), 1.0)  # np.clip takes three times as long for a few
    return bounded


def binomial_pvalues(won: npt.ArrayLike, lost: npt.ArrayLike) -> Floats:
    """Two-sided exact p-values of won and lost being equally likely, element by element; 1 where both are 0."""
    won, lost = np.asarray(won, dtype=np.int64), np.asarray(lost, dtype=np.int64)
    return proper(2 * binomial_cdf(np.minimum(won, lost), won + lost, 0.5))


def binomial_cdf(k: Ints, n: Ints, share: float) -> Floats:
    """Compute the chance of at most k successes in n trials; k may be -1."""
    from scipy.special import bdtr, betainc

    chances = betainc(np.maximum(n - k, 1), np.maximum(k, 0) + 1, 1 - share)  # some versions have NaN for a parameter of 0
    if (zero := chances == 0).any():  # it loses some chances below 1e-250, which bdtr has, with fewer digits
        chances = np.where(zero, bdtr(np.maximum(k, 0).astype(np.float64), n, share), chances)
    return np.where(k < 0, 0.0, np.where(k >= n, 1.0, chances))


def binomial_chances(n: int, share: float) -> Floats:
    """Compute the chances of 0, 1, ..., n successes in n trials, from the most likely number outwards by their ratios.

    Relative errors stay below about n times the machine precision, where those of the gamma function grow with its logarithm.
    """
    with np.errstate(divide="ignore", under="ignore"):
        k = np.arange(n)
        ratios = (n - k) / (k + 1) * np.divide(share, 1 - share)
        mode = min(n, int((n + 1) * share))
        upwards, downwards = np.cumprod(ratios[mode:]), np.cumprod(1 / ratios[:mode][::-1])
        chances = np.concatenate([downwards[::-1], [1.0], upwards])
        return np.asarray(chances / chances.sum())


def subset_sums(sizes: Iterable[int], limit: int) -> tuple[Floats, int]:
    """Count the subsets of some positive whole numbers by their sum: ``array[k] * 2**exponent`` of them have the sum k.

    This is the distribution of a sum of random signs: flipping the signs of a subset lowers the sum of all sizes by twice the
    sum of the subset. Only sums up to the limit are followed, which are those of the tail that a p-value adds up. Every number
    is a sum of positive numbers, so there is no cancellation: the relative error of each is about the machine precision times
    the number of sizes, however small the tail. Up to 53 sizes it is exact, with exponent 0.
    """
    counts, spare = np.zeros((2, limit + 1))  # both stay 0 beyond the sums reached
    counts[0] = 1.0
    reach, exponent = 0, 0
    # In ascending order the first sums are small, so that most steps touch a part of the array only.
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


def root(function: Callable[[float], float], low: float, high: float, tolerance: float = 0.0) -> float:
    """Find where a function changes sign from low to high, by bisection, to within the tolerance or the last bit."""
    sign = function(low) > 0
    while high - low > tolerance and low < (middle := (low + high) / 2) < high:
        if (function(middle) > 0) == sign:
            low = middle
        else:
            high = middle
    return (low + high) / 2
