"""The tests that the papers use, of one sample or of many subsets of it at once.

They are SciPy's, two-sided, for independent queries: the t test of paired differences, Wilcoxon's
signed rank and rank sum tests, the sign test, and the exact binomial test. They decide nothing but
`strict` and `do_no_harm` of a verdict. With nothing to test, or a single difference, p is 1. Values
that differ by rounding only are equal.
"""

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.arguments import numbers
from ir_outcomes.choices import Bools, Floats, Ints, divided, or_none

ROUNDING = 1e-12  # of the largest value
Members = npt.NDArray[Any]  # (n, n_subsets) of zeros and ones


@dataclass(frozen=True)
class Test:
    """The result of a test."""

    __test__: ClassVar[bool] = False  # pytest must not collect it

    name: str  #: "t", "wilcoxon", "sign", "ranksum" or "exact"
    pvalue: float  #: two-sided
    #: t, the rank sum of the positive differences (W+), their number, Mann and Whitney's U of the
    #: second sample, or the number won; None where there is nothing to test
    statistic: float | None
    n: int  #: differences that the test takes (all for t, else those that are not 0), or values
    direction: int  #: 1 where the contender has the higher values by the test's statistic, -1 or 0


class Subsets(NamedTuple):
    """Results of a test on subsets of a sample, (n_subsets,) arrays as in `Test`."""

    pvalue: Floats
    statistic: Floats  # NaN where there is nothing to test
    n: Ints
    direction: Ints

    def first(self, name: str) -> Test:
        """The result of the first subset."""
        pvalue, statistic, n, direction = (column[0].item() for column in self)
        return Test(name, pvalue, or_none(statistic), n, direction)


# Differences up to which SciPy's signed rank test is exact, without zeros and ties and with them.
EXACT = 50
EXACT_WITH_TIES = 13


def binomial_test(won: int, lost: int) -> Test:
    """Test exactly whether won and lost are equally likely (`scipy.stats.binomtest`).

    Parameters
    ----------
    won, lost : int
        Numbers of queries.

    References
    ----------
    Lin et al. 2021, section 5; McNemar 1947.

    Examples
    --------
    >>> binomial_test(8, 1).pvalue
    0.0390625
    """
    return binomials(np.array([won]), np.array([lost])).first("exact")


def rank_sum(x: npt.ArrayLike, y: npt.ArrayLike) -> Test:
    """Wilcoxon's rank sum test of two samples (`scipy.stats.mannwhitneyu`).

    The normal approximation without a correction for continuity (``method="asymptotic",
    use_continuity=False``), as `scipy.stats.ranksums` has it, but corrected for ties.

    Parameters
    ----------
    x, y : array_like
        Values of the baseline and of the contender, of the same queries or not.

    Examples
    --------
    >>> test = rank_sum([1, 2, 2, 3, 9], [4, 5, 6, 7, 7])
    >>> test.direction, round(test.pvalue, 4)
    (1, 0.115)
    """
    return rank_sums(x, y).first("ranksum")


def t_tests(d: npt.ArrayLike, members: Members | None = None) -> Subsets:
    """Run `scipy.stats.ttest_1samp` on differences or subsets of them.

    Where all n differences are equal t is undefined, and p is 2^(1 - n).
    """
    d, members = _sample(d, members)
    n = members.sum(axis=0)
    total = d @ members
    center = d.sum() / max(len(d), 1)  # without it digits of the variance are lost
    rest = (d - center) ** 2 @ members - n * (total / np.maximum(n, 1) - center) ** 2
    return t_of_sums(n, total, d**2 @ members, rest)


def t_of_sums(n: Floats, total: Floats, squares: Floats, rest: Floats) -> Subsets:
    """Run the t test on sums of differences and of squares."""
    from scipy.special import stdtr

    varies = rest > ROUNDING * squares
    df = np.maximum(n - 1, 1)
    mean = total / np.maximum(n, 1)
    t = divided(mean, np.sqrt(np.maximum(rest, 0) / df / np.maximum(n, 1)), varies, 0.0)
    pvalue = np.where(varies, 2 * stdtr(df, -np.abs(t)), 2.0 ** (1 - n))
    return _subsets(pvalue, t, (n > 1) & (squares > 0), n, mean)


def signed_ranks(d: npt.ArrayLike, members: Members | None = None) -> Subsets:
    """Run `scipy.stats.wilcoxon` on differences or subsets of them.

    With ``zero_method="wilcox"`` (differences of 0 are left out), ``correction=False`` and
    ``method="auto"``: exact for up to 50 differences without zeros and ties, and for up to 13 with
    them; else, and on subsets, the normal approximation, its variance corrected for ties.

    Examples
    --------
    >>> round(signed_ranks([3, 0, 5, -1, 2, 4]).first("wilcoxon").pvalue, 3)
    0.125
    """
    is_whole = members is None
    d, members = _sample(d, members)
    code, size = _classes(np.abs(d[d != 0]))
    positive = _counts(code[d[d != 0] > 0], size, members[d > 0])
    both = _counts(code, size, members[d != 0])
    n = both.sum(axis=0)
    plus = _sum_of_ranks(positive, both)
    distance = plus - n * (n + 1) / 4
    variance = (n * (n + 1) * (2 * n + 1) - (both * both * both - both).sum(axis=0) / 2) / 24
    testable = (members.sum(axis=0) > 1) & (n > 0)
    pvalue = _normal(distance, variance, testable)
    limit = EXACT if len(d) == size else EXACT_WITH_TIES
    if is_whole and len(d) <= limit:
        pvalue[:] = _exact_signed_ranks(code, plus.item())
    return _subsets(pvalue, plus, testable, n, distance)


def _exact_signed_ranks(code: Ints, plus: float) -> float:
    """Return the p-value of a sum of positive ranks over all signs."""
    times = np.bincount(code)
    # Twice the mean ranks of ties are whole numbers.
    doubled = (2 * np.cumsum(times) - times + 1)[code]
    ways = np.zeros(doubled.sum() + 1)
    ways[0] = 1.0
    for rank in doubled.tolist():
        ways[rank:] += ways[:-rank]
    at = round(2 * plus)
    tail = min(ways[: at + 1].sum(), ways[at:].sum())
    return float(min(1.0, 2 * tail / ways.sum()))


def signs(d: npt.ArrayLike, members: Members | None = None) -> Subsets:
    """Run `scipy.stats.binomtest` on the signs of differences, without those of 0."""
    d, members = _sample(d, members)
    return binomials(*(np.stack([d > 0, d < 0]) @ members))


def rank_sums(
    x: npt.ArrayLike, y: npt.ArrayLike, of_x: Members | None = None, of_y: Members | None = None
) -> Subsets:
    """Run `rank_sum` on subsets of two samples."""
    x, of_x = _sample(x, of_x)
    y, of_y = _sample(y, of_y)
    code, size = _classes(np.concatenate([x, y]))
    counts = _counts(code[len(x) :], size, of_y)
    both = counts + _counts(code[: len(x)], size, of_x)
    n, n_y = (part.sum(axis=0) for part in (both, counts))
    u = _sum_of_ranks(counts, both) - n_y * (n_y + 1) / 2
    distance = u - n_y * (n - n_y) / 2
    ties = (both * both * both - both).sum(axis=0)
    variance = n_y * (n - n_y) / 12 * (n + 1 - ties / np.maximum(n * (n - 1), 1))
    testable = variance > 0
    return _subsets(_normal(distance, variance, testable), u, testable, n, distance)


def binomials(won: npt.ArrayLike, lost: npt.ArrayLike) -> Subsets:
    """Run `binomial_test` on many pairs of counts."""
    from scipy.special import bdtr

    won = np.asarray(won, dtype=np.float64)
    n = won + np.asarray(lost)
    pvalue = np.minimum(2 * bdtr(np.minimum(won, n - won), n.astype(np.int64), 0.5), 1)
    return _subsets(pvalue, won, n > 0, n, 2 * won - n)


def _classes(values: Floats) -> tuple[Ints, int]:
    """Number values by size, equal ones alike, and count the numbers."""
    order = np.argsort(values)
    slack = ROUNDING * np.abs(values).max(initial=0.0)
    code = np.empty(len(values), dtype=np.int64)
    code[order] = np.cumsum(np.diff(values[order], prepend=-np.inf) > slack) - 1
    return code, int(code.max(initial=-1)) + 1


def _counts(code: Ints, size: int, members: Members) -> Floats:
    """Count each class in each subset, (size, n_subsets)."""
    return np.stack([np.bincount(code, column, size) for column in members.T], axis=1)


def _sum_of_ranks(counts: Floats, both: Floats) -> Floats:
    """Add up the ranks of a part of the values, equal values with their mean rank."""
    sums: Floats = ((np.cumsum(both, axis=0) - (both - 1) / 2) * counts).sum(axis=0)
    return sums


def _normal(distance: Floats, variance: Floats, testable: Bools) -> Floats:
    from scipy.special import ndtr

    z: Floats = divided(np.abs(distance), np.sqrt(variance), testable, 0.0)
    return np.asarray(2 * ndtr(-z))


def _subsets(
    pvalue: Floats, statistic: Floats, testable: Bools, n: Floats, distance: Floats
) -> Subsets:
    return Subsets(
        np.where(testable, pvalue, 1.0),
        np.where(testable, statistic, np.nan),
        n.astype(np.int64),
        np.sign(distance).astype(np.int64),
    )


def _sample(d: npt.ArrayLike, members: Members | None) -> tuple[Floats, Members]:
    """Set differences to 0 that are rounding errors, of one subset by default."""
    d = numbers("d", d)
    slack = ROUNDING * np.abs(d).max(initial=0.0)
    every: Members = np.ones((len(d), 1)) if members is None else members
    return np.where(np.abs(d) > slack, d, 0.0), every
