"""The tests of `paired` on many subsets of the same queries at once, from histograms instead of sorts.

A subset changes how often each value occurs, not the order of the values: values are put in classes once, and every subset is
a column of counts. Sums over such columns give the same statistics, and the same p-values, as the tests on the subset's values.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.statistics.distributions import signed_rank_pvalue
from ir_outcomes.statistics.paired import MOST_EXACT_WILCOXON

__all__ = [
    "Classes",
    "Tests",
    "binomial_tests",
    "classes",
    "count",
    "medians",
    "membership",
    "rank_sum_tests",
    "signed_tests",
    "times_drawn",
]

Ints = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Bools = npt.NDArray[np.bool_]
Members = npt.NDArray[Any]  # floats of 32 or 64 bits


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


def membership(subsets: Ints, n: int) -> Members:
    """Turn lists of queries into a table.

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
    """Draw n of n with replacement, again and again; return how often each was drawn, (resamples, n)."""
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

    there = np.flatnonzero(code >= 0)
    small = np.int16 if n_classes < 1 << 15 else np.int64  # NumPy sorts 16 bits by radix
    in_order = there[np.argsort(code[there].astype(small), kind="stable")]
    starts = np.concatenate([[0], np.cumsum(np.bincount(code[there], minlength=n_classes))])
    ones = np.ones(len(in_order), dtype=members.dtype)
    counts: Floats = (csr_matrix((ones, in_order, starts), shape=(n_classes, len(code))) @ members).astype(np.float64)
    return counts


def signed_tests(sizes: Floats, positive: Floats, negative: Floats) -> dict[str, Tests]:
    """Run the paired t, Wilcoxon signed rank and sign tests.

    Parameters
    ----------
    sizes : (n_classes,) float array
        Sizes of the differences, ascending; the first is 0.
    positive, negative : (n_classes, n_subsets) float arrays
        How many differences of each size are positive (or zero) and negative; from `count`.

    Returns
    -------
    dict of str to Tests
        "t", "wilcoxon" and "sign", as `paired` defines them: p is 1 for fewer than two differences or none but zeros, and that
        of the sign-flip test where t is undefined because all differences are equal.

    Examples
    --------
    >>> d = np.array([3, 0, 5, -1, 2, 4])
    >>> code, sizes = classes(abs(d))
    >>> everything = np.ones((6, 1))
    >>> plus = count(np.where(d >= 0, code, -1), len(sizes), everything)
    >>> minus = count(np.where(d < 0, code, -1), len(sizes), everything)
    >>> {name: round(float(test.pvalue[0]), 4) for name, test in signed_tests(sizes, plus, minus).items()}
    {'t': 0.0706, 'wilcoxon': 0.0796, 'sign': 0.375}
    """
    both, change = positive + negative, positive - negative
    n, zeros = both.sum(axis=0), both[0]
    testable = (n >= 2) & (zeros < n)
    return {
        "t": _t(sizes, both, change, n, testable),
        "wilcoxon": _wilcoxon(both[1:], change[1:], n - zeros, zeros, testable),
        "sign": _sign(positive[1:].sum(axis=0), negative[1:].sum(axis=0), testable),
    }


def rank_sum_tests(x: Floats, y: Floats) -> Tests:
    """Run Wilcoxon's rank sum test of two unpaired samples; the direction is positive where `y` is the larger.

    Parameters
    ----------
    x, y : (n_classes, n_subsets) float arrays
        Counts of the values in each sample, classes ascending; from `count`.
    """
    from scipy.special import ndtr

    both = x + y
    n_x, n_y = x.sum(axis=0), y.sum(axis=0)
    n = n_x + n_y
    below = np.cumsum(x, axis=0) - x / 2
    u = np.einsum("ij,ij->j", y, below)
    spread = n_x * n_y / 12 * ((n + 1) - _cubes(both) / np.maximum(n * (n - 1.0), 1.0))
    center = n_x * n_y / 2
    testable = (n_x > 0) & (n_y > 0) & (both.max(axis=0, initial=0) < n)
    z = np.divide(-np.abs(u - center), np.sqrt(spread), out=np.zeros(len(u)), where=testable)
    return Tests(np.where(testable, np.minimum(1.0, 2 * ndtr(z)), 1.0), _signs(u - center, testable))


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


def _t(sizes: Floats, both: Floats, change: Floats, n: Floats, testable: Bools) -> Tests:
    from scipy.special import stdtr

    total, squares = sizes @ change, sizes**2 @ both
    freedom = np.maximum(n - 1, 1)
    mean = total / np.maximum(n, 1)
    variance = np.maximum(squares - mean * total, 0.0) / freedom
    equal = testable & (variance <= 1e-9 * squares)  # few can be
    equal[equal] = np.abs(change[:, equal]).max(axis=0, initial=0) == n[equal]  # all in one class, and of one sign
    defined = testable & ~equal & (variance > 0)
    t = np.divide(mean, np.sqrt(variance / np.maximum(n, 1)), out=np.zeros(len(n)), where=defined)
    pvalue = np.where(defined, 2 * stdtr(freedom, -np.abs(t)), 1.0)
    pvalue[equal] = 2.0 ** (1 - n[equal])
    return Tests(pvalue, _signs(total, testable))


def _wilcoxon(both: Floats, change: Floats, n: Floats, zeros: Floats, testable: Bools) -> Tests:
    from scipy.special import ndtr

    # A rank is the number of smaller differences, half that of equal ones, and one half.
    difference = np.einsum("ij,ij->j", change, np.cumsum(both, axis=0))
    difference += (change.sum(axis=0) - np.einsum("ij,ij->j", change, both)) / 2
    total = n * (n + 1) / 2
    plus = (total + difference) / 2  # W+ and W- add up to the total
    smaller = np.minimum(plus, total - plus)
    spread = (n * (n + 1.0) * (2 * n + 1) - _cubes(both) / 2) / 24
    z = np.divide(smaller - total / 2, np.sqrt(spread), out=np.zeros(len(n)), where=testable)
    pvalue = np.where(testable, np.minimum(1.0, 2 * ndtr(-np.abs(z))), 1.0)
    exact = testable & (n <= MOST_EXACT_WILCOXON) & (zeros == 0)
    exact[exact] = both[:, exact].max(axis=0, initial=0) <= 1
    for each in np.flatnonzero(exact):
        pvalue[each] = signed_rank_pvalue(int(smaller[each]), int(n[each]))
    return Tests(pvalue, _signs(plus - total / 2, testable))


def _sign(positive: Floats, negative: Floats, testable: Bools) -> Tests:
    pvalue = np.where(testable, binomial_tests(positive, negative), 1.0)
    return Tests(pvalue, _signs(positive - negative, testable))


def _signs(values: Floats, testable: Bools) -> Ints:
    return np.where(testable, np.sign(values), 0).astype(np.int64)


def binomial_tests(won: npt.ArrayLike, lost: npt.ArrayLike) -> Floats:
    """Exact two-sided binomial p-values of won against lost, element by element; 1 where there is neither."""
    from scipy.special import betainc

    pvalues: Floats = np.minimum(1.0, 2 * betainc(np.maximum(np.maximum(won, lost), 1), np.minimum(won, lost) + 1, 0.5))
    return pvalues


def _cubes(ties: Floats) -> Floats:
    """Sum t^3 - t over the ties of each subset."""
    sums: Floats = np.einsum("ij,ij,ij->j", ties, ties, ties) - ties.sum(axis=0)
    return sums
