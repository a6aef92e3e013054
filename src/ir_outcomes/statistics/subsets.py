"""The tests of `paired` on many subsets of the same queries at once, from histograms instead of sorts.

A subset changes how often each value occurs, not the order of the values: values are put in classes once, and every subset is
a row of counts. Sums over such rows give the same statistics, and the same p-values, as the tests on the subset's values.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.statistics.distributions import signed_rank_pvalue
from ir_outcomes.statistics.paired import MOST_EXACT_WILCOXON

__all__ = ["Classes", "Tests", "binomial_tests", "classes", "count", "medians", "rank_sum_tests", "signed_tests"]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


class Classes(NamedTuple):
    """Values as classes: ``distinct[code]`` are the values, `distinct` ascending."""

    code: Ints
    distinct: Floats


class Tests(NamedTuple):
    """A test on every subset.

    Attributes
    ----------
    pvalue : (n_subsets,) float array
        Two-sided.
    direction : (n_subsets,) int array
        -1, 0 or 1, as in `paired.Test`.
    """

    pvalue: Floats
    direction: Ints


def classes(values: npt.ArrayLike) -> Classes:
    """Put values in classes; zero is always one, and comes first where no value is negative."""
    distinct, code = np.unique(np.append(np.asarray(values, dtype=np.float64), 0.0), return_inverse=True)
    return Classes(code[:-1].astype(np.int64), distinct)


def count(code: Ints, n_classes: int, subsets: Ints) -> Ints:
    """Count the classes in each subset.

    Parameters
    ----------
    code : (n,) int array
        Class of each query; -1 for a query that does not count.
    n_classes : int
        Number of classes.
    subsets : (n_subsets, m) int array
        The queries of each subset.

    Returns
    -------
    (n_subsets, n_classes) int array
    """
    first = np.arange(len(subsets), dtype=np.int64)[:, None] * (n_classes + 1)
    places = (code + 1)[subsets] + first
    counts = np.bincount(places.ravel(), minlength=len(subsets) * (n_classes + 1))
    return counts.reshape(len(subsets), n_classes + 1)[:, 1:]


def signed_tests(sizes: Floats, positive: Ints, negative: Ints) -> dict[str, Tests]:
    """Run the paired t, Wilcoxon signed rank and sign tests.

    Parameters
    ----------
    sizes : (n_classes,) float array
        Sizes of the differences, ascending; the first is 0.
    positive, negative : (n_subsets, n_classes) int arrays
        How many differences of each size are positive (or zero) and negative.

    Returns
    -------
    dict of str to Tests
        "t", "wilcoxon" and "sign", as `paired` defines them: p is 1 for fewer than two differences or none but zeros, and that
        of the sign-flip test where t is undefined because all differences are equal.

    Examples
    --------
    >>> d = np.array([3, 0, 5, -1, 2, 4])
    >>> code, sizes = classes(abs(d))
    >>> everything = np.arange(6)[None]
    >>> plus = count(np.where(d >= 0, code, -1), len(sizes), everything)
    >>> minus = count(np.where(d < 0, code, -1), len(sizes), everything)
    >>> {name: round(float(test.pvalue[0]), 4) for name, test in signed_tests(sizes, plus, minus).items()}
    {'t': 0.0706, 'wilcoxon': 0.0796, 'sign': 0.375}
    """
    both, change = positive + negative, positive - negative
    n, zeros = both.sum(axis=1), both[:, 0]
    testable = (n >= 2) & (zeros < n)
    return {
        "t": _t(sizes, both, change, n, testable),
        "wilcoxon": _wilcoxon(positive[:, 1:], negative[:, 1:], zeros, testable),
        "sign": _sign(positive[:, 1:].sum(axis=1), negative[:, 1:].sum(axis=1), testable),
    }


def rank_sum_tests(x: Ints, y: Ints) -> Tests:
    """Run Wilcoxon's rank sum test of two unpaired samples; the direction is positive where `y` is the larger.

    Parameters
    ----------
    x, y : (n_subsets, n_classes) int arrays
        Counts of the values in each sample, classes ascending.
    """
    from scipy.special import ndtr

    both = x + y
    n_x, n_y = x.sum(axis=1), y.sum(axis=1)
    n = n_x + n_y
    below = np.cumsum(x, axis=1) - x / 2
    u = (y * below).sum(axis=1)
    spread = n_x * n_y / 12 * ((n + 1) - _cubes(both) / np.maximum(n * (n - 1.0), 1.0))
    center = n_x * n_y / 2
    testable = (n_x > 0) & (n_y > 0) & (both.max(axis=1, initial=0) < n)
    z = np.divide(-np.abs(u - center), np.sqrt(spread), out=np.zeros(len(u)), where=testable)
    return Tests(
        np.where(testable, np.minimum(1.0, 2 * ndtr(z)), 1.0), np.where(testable, np.sign(u - center), 0).astype(np.int64)
    )


def medians(distinct: Floats, counts: Ints) -> Floats:
    """Find the median of each subset; NaN for an empty one."""
    upto = np.cumsum(counts, axis=1)
    n = upto[:, -1]
    ends = [distinct[np.minimum((upto <= place[:, None]).sum(axis=1), len(distinct) - 1)] for place in ((n - 1) // 2, n // 2)]
    return np.where(n > 0, (ends[0] + ends[1]) / 2, np.nan)


def _t(sizes: Floats, both: Ints, change: Ints, n: Ints, testable: npt.NDArray[np.bool_]) -> Tests:
    from scipy.special import stdtr

    total, squares = change @ sizes, both @ sizes**2
    freedom = np.maximum(n - 1, 1)
    mean = total / np.maximum(n, 1)
    variance = np.maximum(squares - mean * total, 0.0) / freedom
    equal = testable & (np.abs(change).max(axis=1, initial=0) == n)  # all in one class, and of one sign
    defined = testable & ~equal & (variance > 0)
    t = np.divide(mean, np.sqrt(variance / np.maximum(n, 1)), out=np.zeros(len(n)), where=defined)
    pvalue = np.where(defined, 2 * stdtr(freedom, -np.abs(t)), 1.0)
    pvalue[equal] = 2.0 ** (1 - n[equal])
    return Tests(pvalue, np.where(testable, np.sign(total), 0).astype(np.int64))


def _wilcoxon(positive: Ints, negative: Ints, zeros: Ints, testable: npt.NDArray[np.bool_]) -> Tests:
    from scipy.special import ndtr

    both = positive + negative
    n = both.sum(axis=1)
    ranks = np.cumsum(both, axis=1) - (both - 1) / 2
    plus = (positive * ranks).sum(axis=1)
    total = n * (n + 1) / 2
    smaller = np.minimum(plus, total - plus)
    spread = (n * (n + 1.0) * (2 * n + 1) - _cubes(both) / 2) / 24
    z = np.divide(smaller - total / 2, np.sqrt(spread), out=np.zeros(len(n)), where=testable)
    pvalue = np.where(testable, np.minimum(1.0, 2 * ndtr(-np.abs(z))), 1.0)
    exact = testable & (n <= MOST_EXACT_WILCOXON) & (zeros == 0) & (both.max(axis=1, initial=0) <= 1)
    for each in np.flatnonzero(exact):
        pvalue[each] = signed_rank_pvalue(int(smaller[each]), int(n[each]))
    return Tests(pvalue, np.where(testable, np.sign(plus - total / 2), 0).astype(np.int64))


def _sign(positive: Ints, negative: Ints, testable: npt.NDArray[np.bool_]) -> Tests:
    return Tests(
        np.where(testable, binomial_tests(positive, negative), 1.0),
        np.where(testable, np.sign(positive - negative), 0).astype(np.int64),
    )


def binomial_tests(won: Ints, lost: Ints) -> Floats:
    """Exact two-sided binomial p-values of won against lost, element by element; 1 where there is neither."""
    from scipy.special import betainc

    pvalues: Floats = np.minimum(1.0, 2 * betainc(np.maximum(np.maximum(won, lost), 1), np.minimum(won, lost) + 1, 0.5))
    return pvalues


def _cubes(counts: Ints) -> Floats:
    """Sum t^3 - t over the ties of each subset."""
    ties = counts.astype(np.float64)
    sums: Floats = (ties**3 - ties).sum(axis=1)
    return sums
