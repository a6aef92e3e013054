"""Samples of paired differences as counts of classes, the form in which every test takes them.

A test needs to know how often each difference occurs, not on which query. Values are put in classes once; a sample, such as a
random half of the queries, is then a column of counts, and one pass over the columns tests thousands of samples.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes._types import Bools, Floats, Ints
from ir_outcomes.statistics.checks import numbers, paired, rows_of_numbers

__all__ = [
    "Classes",
    "Differences",
    "Members",
    "classes",
    "count",
    "differences",
    "medians",
    "membership",
    "tally",
    "tally_rows",
    "times_drawn",
    "with_signs",
]

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
