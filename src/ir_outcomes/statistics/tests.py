"""Paired tests of one or many samples at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import combinations
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from ir_outcomes.statistics.distributions import binomial_pvalues, check_discordant, midp_pvalues, numbers, proper, subset_sums
from ir_outcomes.statistics.signflips import (
    Classes,
    Differences,
    approximate_sign_flips,
    classes,
    differences,
    far_from,
    sign_flip_pvalue,
    tally,
    with_signs,
)
from ir_outcomes.types import Bools, Floats, Ints

FEW = 30  # with fewer differences that are not zero, sign-flip stands in for t
MOST_EXACT_WILCOXON = 50

Levels = tuple[float, float]  # the smallest and the largest that a p-value is compared with


@dataclass(frozen=True)
class Test:
    """The result of a test.

    Attributes
    ----------
    name : str
        "t", "wilcoxon", "sign", "signflip", "ranksum", "exact" or "midp".
    method : str
        The test in words, with what was chosen for these data.
    statistic : float or None
        The test's statistic; None where it is undefined.
    pvalue : float
        Two-sided; at least 2.2e-308.
    direction : int
        -1, 0 or 1: sign of the effect in the test's own terms (mean for t and sign-flip, W+ minus W- for Wilcoxon, positive
        minus negative differences for sign and binomial tests, rank sums for the rank sum test). 0 also for means that are
        equal but for rounding.
    n : int
        Number of observations that the statistic is computed from: all differences for t, those that are not zero for the
        other paired tests, both samples together for the rank sum test.
    n_nonzero : int
        Number of differences that are not zero; for the rank sum test, which has none, the same as `n`.
    note : str or None
        What a reader must know.
    """

    __test__: ClassVar[bool] = False  # pytest must not collect it

    name: str
    method: str
    statistic: float | None
    pvalue: float
    direction: int
    n: int
    n_nonzero: int
    note: str | None = None


class Tests(NamedTuple):
    """The results of a test on many samples.

    Attributes
    ----------
    pvalue : (n_samples,) float array
        Two-sided.
    direction : (n_samples,) int array
        -1, 0 or 1, as in `Test`.
    """

    pvalue: Floats
    direction: Ints


def t_test(d: npt.ArrayLike) -> Test:
    """Student's t test of the mean difference (`scipy.stats.ttest_rel`).

    Where all differences are equal and not zero t is undefined, and the p-value is that of the sign-flip test, 2^(1-n).

    Parameters
    ----------
    d : (n,) array_like
        Differences, from `differences`.

    Raises
    ------
    ParameterError
        If a difference is NaN or infinite.

    References
    ----------
    Student 1908, "The probable error of a mean".

    Examples
    --------
    >>> round(t_test([3, 0, 5, -1, 2, 4]).pvalue, 4)
    0.0706
    >>> t_test([2, 2, 2, 2]).pvalue
    0.125
    """
    return _t_test(tally(d))


def t_tests(samples: Differences) -> Tests:
    """Student's t test of the mean difference on each sample; see `t_test`.

    Examples
    --------
    >>> from ir_outcomes.statistics import tally_rows
    >>> t_tests(tally_rows([[3, 0, 5, -1, 2, 4], [2, 2, 2, 2, 2, 2]])).pvalue.round(4).tolist()
    [0.0706, 0.0312]
    """
    return _t(samples)[0]


def wilcoxon(d: npt.ArrayLike) -> Test:
    """Wilcoxon's signed rank test, zeros dropped (`scipy.stats.wilcoxon`, ``zero_method="wilcox", correction=False``).

    Exact for up to 50 differences that are not zero: the share of the assignments of signs to the ranks, tied ones averaged,
    that are at least as extreme. Beyond that by the normal approximation with the variance corrected for ties. The statistic is
    the smaller of the two rank sums.

    Parameters
    ----------
    d : (n,) array_like
        Differences, from `differences`.

    Raises
    ------
    ParameterError
        If a difference is NaN or infinite.

    References
    ----------
    Wilcoxon 1945; Hollander, Wolfe and Chicken 2013, section 3.1, for ties comment 11.

    Examples
    --------
    >>> test = wilcoxon([3, 0, 5, -1, 2, 4])
    >>> test.method, test.pvalue
    ('Wilcoxon signed rank, exact, 1 zero dropped', 0.125)
    """
    return _wilcoxon_test(tally(d))


def wilcoxon_tests(samples: Differences) -> Tests:
    """Wilcoxon's signed rank test on each sample; see `wilcoxon`.

    Examples
    --------
    >>> from ir_outcomes.statistics import tally_rows
    >>> wilcoxon_tests(tally_rows([[3, 0, 5, -1, 2, 4], [1, 1, 1, 1, -1, 0]])).pvalue.tolist()
    [0.125, 0.375]
    """
    return _wilcoxon(samples)[0]


def sign_test(d: npt.ArrayLike) -> Test:
    """Sign test: exact binomial on positive against negative differences, zeros dropped (`scipy.stats.binomtest`).

    Parameters
    ----------
    d : (n,) array_like
        Differences, from `differences`.

    Raises
    ------
    ParameterError
        If a difference is NaN or infinite.

    References
    ----------
    Hollander, Wolfe and Chicken 2013, section 3.4.

    Examples
    --------
    >>> sign_test([3, 0, 5, -1, 2, 4]).pvalue
    0.375
    """
    return _sign_test(tally(d))


def sign_tests(samples: Differences) -> Tests:
    """Sign test on each sample; see `sign_test`.

    Examples
    --------
    >>> from ir_outcomes.statistics import tally_rows
    >>> sign_tests(tally_rows([[3, 0, 5, -1, 2, 4], [1, 1, 1, 1, 1, 0]])).pvalue.tolist()
    [0.375, 0.0625]
    """
    positive, negative = samples.positive[1:].sum(axis=0), samples.negative[1:].sum(axis=0)
    pvalue = np.where(_testable(samples), binomial_pvalues(positive, negative), 1.0)
    return Tests(pvalue, _signs(positive - negative))


def sign_flip(d: npt.ArrayLike, levels: Levels | None = None) -> Test:
    """Sign-flip (randomization) test of the sum of the differences.

    The share of all assignments of signs whose sum is at least as far from 0: exact where the differences are multiples of a
    common unit (with a total up to about a million) or where up to 42 are not zero, else to within 1 % of the p-value. Nothing
    is random, and no p-value is too small to be found.

    Parameters
    ----------
    d : (n,) array_like
        Differences, from `differences`.
    levels : pair of float, optional
        Smallest and largest level that the p-value is compared with, such as alpha / 20 and alpha for 20 contenders: a p-value
        that is not exact, and whose bounds reach into this range, is refined.

    Raises
    ------
    ParameterError
        If a difference is NaN or infinite.

    References
    ----------
    Fisher 1935, "The Design of Experiments", section 21.

    Examples
    --------
    >>> test = sign_flip([3, 0, 5, -1, 2, 4])
    >>> test.method, test.pvalue
    ('sign-flip, exact', 0.125)
    """
    return _sign_flip_test(tally(d), levels)


def sign_flip_tests(samples: Differences, levels: Levels | None = None, *, labels_only: bool = False) -> Tests:
    """Sign-flip test of the sum on each sample; see `sign_flip`.

    Parameters
    ----------
    samples : Differences
        From `tally`, `tally_rows`, or counted in subsets.
    levels : pair of float, optional
        See `sign_flip`.
    labels_only : bool
        Whether nothing but the side of the levels matters: p-values that are far from them are then saddlepoint
        approximations, which takes a fraction of the time.

    Examples
    --------
    >>> from ir_outcomes.statistics import tally_rows
    >>> sign_flip_tests(tally_rows([[3, 0, 5, -1, 2, 4], [1, 1, 1, 1, 1, 0]])).pvalue.tolist()
    [0.125, 0.0625]
    """
    pvalue = np.ones(samples.positive.shape[1])
    _set_sign_flip_pvalues(pvalue, samples, _testable(samples), levels, labels_only)
    return Tests(pvalue, _signs(samples.totals))


def mean_test(d: npt.ArrayLike) -> Test:
    """Test the mean difference: by t, or by sign flips with fewer than 30 differences that are not zero.

    On few differences t relies on a normal distribution that they do not have: four queries of 900 that move by one rank are p
    = 0.045 to t and 0.125 to the exact test.

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
    >>> mean_test([1] * 4 + [0] * 896).pvalue
    0.125
    """
    samples = tally(d)
    return _sign_flip_test(samples) if samples.n_nonzero[0] < FEW else _t_test(samples)


def mean_tests(samples: Differences, levels: Levels | None = None, *, labels_only: bool = False) -> Tests:
    """Test the mean difference of each sample, by sign flips where fewer than 30 differences are not zero; see `mean_test`.

    Parameters
    ----------
    samples, levels, labels_only
        See `sign_flip_tests`.

    Examples
    --------
    >>> from ir_outcomes.statistics import tally_rows
    >>> mean_tests(tally_rows([[1] * 4 + [0] * 896, [1] * 40 + [0] * 860])).pvalue.round(10).tolist()
    [0.125, 2e-10]
    """
    pvalue, direction = t_tests(samples)
    _set_sign_flip_pvalues(pvalue, samples, (samples.n_nonzero < FEW) & _testable(samples), levels, labels_only)
    return Tests(pvalue, direction)


def rank_sum(x: npt.ArrayLike, y: npt.ArrayLike) -> Test:
    """Wilcoxon's rank sum test of two unpaired samples (`scipy.stats.mannwhitneyu`, asymptotic, without continuity correction).

    The direction is positive where the values of `y` are larger.

    Parameters
    ----------
    x, y : (n,) and (m,) array_like
        The samples.

    Raises
    ------
    ParameterError
        If a value is NaN or infinite.

    References
    ----------
    Wilcoxon 1945; Mann and Whitney 1947.

    Examples
    --------
    >>> test = rank_sum([1, 2, 2, 3, 9], [4, 5, 6, 7, 7])
    >>> test.direction, round(test.pvalue, 4)
    (1, 0.115)
    """
    x, y = numbers("x", x), numbers("y", y)
    n = len(x) + len(y)
    both = classes(np.concatenate([x, y]))
    counts = [np.bincount(code, minlength=len(both.distinct))[:, None] for code in np.split(both.code, [len(x)])]
    (pvalue, direction), u, testable = _rank_sum(*(column.astype(np.float64) for column in counts))
    note = None if testable[0] else "all values are equal, or there are none"
    statistic = float(u[0]) if testable[0] else None
    return Test("ranksum", "Wilcoxon rank sum, asymptotic", statistic, float(pvalue[0]), int(direction[0]), n, n, note)


def rank_sum_tests(x: Floats, y: Floats) -> Tests:
    """Wilcoxon's rank sum test on each pair of samples; see `rank_sum`.

    Parameters
    ----------
    x, y : (n_classes, n_samples) float arrays
        Counts of the values in each sample, classes ascending; from `count`.
    """
    return _rank_sum(x, y)[0]


def paired_tests(d: npt.ArrayLike, levels: Levels | None = None) -> Mapping[str, Test]:
    """Every test of paired differences by name: t, wilcoxon, sign and signflip; each is run when it is first asked for.

    Parameters
    ----------
    d, levels
        See `sign_flip`.

    Raises
    ------
    ParameterError
        If a difference is NaN or infinite.

    Examples
    --------
    >>> {name: round(test.pvalue, 3) for name, test in paired_tests([3, 0, 5, -1, 2, 4]).items()}
    {'t': 0.071, 'wilcoxon': 0.125, 'sign': 0.375, 'signflip': 0.125}
    """
    samples = tally(d)
    tests = {"t": _t_test, "wilcoxon": _wilcoxon_test, "sign": _sign_test, "signflip": partial(_sign_flip_test, levels=levels)}
    return _WhenAsked({name: partial(test, samples) for name, test in tests.items()})


class _WhenAsked(Mapping[str, Test]):
    """Tests that run when they are asked for: sign flips can take a hundred times as long as the others together."""

    def __init__(self, tests: dict[str, Callable[[], Test]]) -> None:
        self._tests = tests
        self._done: dict[str, Test] = {}

    def __getitem__(self, name: str) -> Test:
        if name not in self._done:
            self._done[name] = self._tests[name]()
        return self._done[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tests)

    def __len__(self) -> int:
        return len(self._tests)

    def __repr__(self) -> str:
        return repr(dict(self))


# One sample: the one-column case, with its method and notes.


def _t_test(sample: Differences) -> Test:
    (pvalue, direction), t, equal = _t(sample)
    n, n_nonzero = _sample_size(sample)
    if (nothing := _nothing_to_test(n, n_nonzero)) is not None:
        return Test("t", "paired t", None, 1.0, int(direction[0]), n, n_nonzero, nothing)
    if equal[0]:
        note = f"all {n} differences are equal, so t is undefined; its p-value is that of the sign-flip test"
        return Test("t", "paired t, undefined", None, float(pvalue[0]), int(direction[0]), n, n_nonzero, note)
    return Test("t", "paired t", float(t[0]), float(pvalue[0]), int(direction[0]), n, n_nonzero)


def _wilcoxon_test(sample: Differences) -> Test:
    (pvalue, direction), smaller, exact = _wilcoxon(sample)
    n, n_nonzero = _sample_size(sample)
    if (nothing := _nothing_to_test(n, n_nonzero)) is not None:
        return Test("wilcoxon", "Wilcoxon signed rank", None, 1.0, int(direction[0]), n_nonzero, n_nonzero, nothing)
    method = f"Wilcoxon signed rank, {'exact' if exact[0] else 'asymptotic'}"
    if zeros := n - n_nonzero:
        method += f", {zeros} {'zero' if zeros == 1 else 'zeros'} dropped"
    return Test("wilcoxon", method, float(smaller[0]), float(pvalue[0]), int(direction[0]), n_nonzero, n_nonzero)


def _sign_test(sample: Differences) -> Test:
    pvalue, direction = sign_tests(sample)
    n, n_nonzero = _sample_size(sample)
    if (nothing := _nothing_to_test(n, n_nonzero)) is not None:
        return Test("sign", "sign test", None, 1.0, int(direction[0]), n_nonzero, n_nonzero, nothing)
    positive = float(sample.positive[1:].sum())
    return Test("sign", "sign test", positive, float(pvalue[0]), int(direction[0]), n_nonzero, n_nonzero)


def _sign_flip_test(sample: Differences, levels: Levels | None = None) -> Test:
    total = float(sample.totals[0])
    direction, (n, n_nonzero) = (total > 0) - (total < 0), _sample_size(sample)
    if (nothing := _nothing_to_test(n, n_nonzero)) is not None:
        return Test("signflip", "sign-flip", None, 1.0, direction, n_nonzero, n_nonzero, nothing)
    pvalue, precision = _sign_flip_pvalue(sample, 0, levels)
    return Test("signflip", f"sign-flip, {precision}", total, pvalue, direction, n_nonzero, n_nonzero)


def _sample_size(sample: Differences) -> tuple[int, int]:
    n = int(sample.n[0])
    return n, n - int(sample.positive[0, 0] + sample.negative[0, 0])


def _nothing_to_test(n: int, n_nonzero: int) -> str | None:
    if not n:
        return "there is nothing to test"
    if not n_nonzero:
        return "all differences are zero, so there is nothing to test"
    return "there is a single difference, too little to test" if n == 1 else None


# Many samples.


def _testable(samples: Differences) -> Bools:
    n = samples.n
    testable: Bools = (n >= 2) & (samples.positive[0] < n)  # the first class holds the zeros
    return testable


def _t(samples: Differences) -> tuple[Tests, Floats, Bools]:
    """Also t, and whether it is undefined because all differences are equal."""
    from scipy.special import stdtr

    sizes, positive, negative = samples
    both = positive + negative
    n, testable, total = both.sum(axis=0), _testable(samples), samples.totals
    freedom = np.maximum(n - 1, 1)
    mean = total / np.maximum(n, 1)
    squares = sizes**2 @ both
    deviations = np.maximum(squares - mean * total, 0.0)
    # Where the mean is large against the deviations, most digits of that difference are lost, so it is computed again from
    # the deviations themselves. Few samples are like that, and the short way takes a third of the time.
    close = np.flatnonzero(testable & (deviations < 0.01 * squares))
    equal = np.zeros(len(n), dtype=bool)
    if len(close):
        above, below = ((sign * sizes[:, None] - mean[close]) ** 2 for sign in (1.0, -1.0))
        deviations[close] = (above * positive[:, close] + below * negative[:, close]).sum(axis=0)
        # Deviations of equal differences are 0 but for the rounding of their mean, so equality is decided by the counts.
        equal[close] = np.maximum(positive[:, close], negative[:, close]).max(axis=0) == n[close]
    defined = testable & ~equal
    error = np.sqrt(np.divide(deviations, freedom * np.maximum(n, 1)))
    t = np.divide(mean, error, out=np.zeros(len(n)), where=defined & (error > 0))
    pvalue = np.where(defined, proper(2 * stdtr(freedom, -np.abs(t))), 1.0)
    pvalue[equal] = proper(2.0 ** (1 - n[equal]))
    return Tests(pvalue, _signs(total)), t, equal


def _wilcoxon(samples: Differences) -> tuple[Tests, Floats, Bools]:
    """Also the smaller rank sum, and whether the p-value is exact."""
    from scipy.special import ndtr

    positive, negative = samples.positive[1:], samples.negative[1:]
    both = positive + negative
    n, testable = both.sum(axis=0), _testable(samples)
    # A rank is the number of smaller differences, half that of equal ones, and one half: twice the rank is a whole number.
    twice = 2 * np.cumsum(both, axis=0) - both + 1
    plus, minus = np.einsum("ij,ij->j", positive, twice) / 2, np.einsum("ij,ij->j", negative, twice) / 2
    smaller, middle = np.minimum(plus, minus), n * (n + 1) / 4
    spread = (n * (n + 1.0) * (2 * n + 1) - _cubes(both) / 2) / 24
    z = np.divide(smaller - middle, np.sqrt(spread), out=np.zeros(len(n)), where=testable)
    pvalue = np.where(testable, proper(2 * ndtr(-np.abs(z))), 1.0)
    exact = testable & (n <= MOST_EXACT_WILCOXON)
    for sample in np.flatnonzero(exact).tolist():
        ties = both[:, sample]
        shares = _rank_sum_shares(tuple(ties[ties > 0].astype(np.int64).tolist()))
        pvalue[sample] = min(1.0, 2 * shares[int(2 * smaller[sample])])
    return Tests(pvalue, _signs(plus - minus)), smaller, exact


@lru_cache(maxsize=4096)
def _rank_sum_shares(ties: tuple[int, ...]) -> Floats:
    """Shares of the assignments of signs with twice the sum of the positive ranks at most 0, 1, 2, ... up to the middle.

    They depend only on how many differences of each size there are, from the smallest to the largest, and the halves of a set
    of queries have few such patterns where the ranks are small numbers.
    """
    ranks: list[int] = []
    below = 0
    for number in ties:
        ranks += [2 * below + number + 1] * number  # twice the average rank
        below += number
    counts = subset_sums(ranks, below * (below + 1) // 2)[0]
    shares: Floats = np.cumsum(counts) / 2.0**below
    return shares


def _set_sign_flip_pvalues(
    pvalue: Floats, samples: Differences, chosen: Bools, levels: Levels | None, labels_only: bool
) -> None:
    """Set the p-values of the chosen samples; where only labels matter, those near the levels are exact."""
    if labels_only and levels is not None and chosen.any():
        approximate = approximate_sign_flips(samples)
        far = chosen & far_from(levels, samples, approximate)
        pvalue[far] = approximate[far]
        chosen = chosen & ~far
    for sample in np.flatnonzero(chosen).tolist():
        pvalue[sample] = _sign_flip_pvalue(samples, sample, levels)[0]


def _sign_flip_pvalue(samples: Differences, sample: int, levels: Levels | None) -> tuple[float, str]:
    positive, negative = samples.positive[1:, sample], samples.negative[1:, sample]
    present = np.flatnonzero(positive + negative)  # only the sample's own sizes, so that its p-value depends on nothing else
    return sign_flip_pvalue(samples.sizes[1:][present], positive[present], negative[present], levels)


def _rank_sum(x: Floats, y: Floats) -> tuple[Tests, Floats, Bools]:
    """Also U, and whether there is something to test."""
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
    return Tests(np.where(testable, proper(2 * ndtr(z)), 1.0), _signs(u - center)), u, testable


def _signs(values: Floats) -> Ints:
    return np.sign(values).astype(np.int64)


def _cubes(ties: Floats) -> Floats:
    """Sum t^3 - t over the ties of each sample."""
    sums: Floats = np.einsum("ij,ij,ij->j", ties, ties, ties) - ties.sum(axis=0)
    return sums


_NO_DISCORDANT = "no query is answered by one run only, so there is nothing to test"


def binomial_test(won: int, lost: int) -> Test:
    """Exact two-sided binomial test that won and lost are equally likely (exact McNemar test).

    Parameters
    ----------
    won, lost : int
        Discordant pairs.

    Raises
    ------
    ParameterError
        If a count is negative.

    References
    ----------
    Lin et al. 2021, section 5; McNemar 1947.

    Examples
    --------
    >>> binomial_test(8, 1).pvalue
    0.0390625
    """
    return _single("exact", "exact binomial", won, lost)


def midp_test(won: int, lost: int) -> Test:
    """Mid-p binomial test: outcomes as far from even as the observed one count by half; less conservative than the exact test.

    That is the exact p-value less the probability of the observed outcome, or less half of it where won equals lost, because
    only then no second outcome is as far from even.

    Parameters
    ----------
    won, lost : int
        Discordant pairs.

    Raises
    ------
    ParameterError
        If a count is negative.

    References
    ----------
    Fagerland, Lydersen and Laake 2013, "The McNemar test for binary matched-pairs data"; the same authors 2017, "Statistical
    Analysis of Contingency Tables", chapter 8, for equal counts.

    Examples
    --------
    >>> round(midp_test(8, 1).pvalue, 6)
    0.021484
    """
    return _single("midp", "mid-p binomial", won, lost)


def binomial_tests(won: npt.ArrayLike, lost: npt.ArrayLike) -> Tests:
    """Exact two-sided binomial test of each pair of counts; see `binomial_test`. p is 1 where both counts are 0.

    Parameters
    ----------
    won, lost : (n_samples,) array_like
        Discordant pairs.

    Examples
    --------
    >>> binomial_tests([8, 0], [1, 0]).pvalue.tolist()
    [0.0390625, 1.0]
    """
    return Tests(binomial_pvalues(won, lost), _discordant(won, lost))


def midp_tests(won: npt.ArrayLike, lost: npt.ArrayLike) -> Tests:
    """Mid-p binomial test of each pair of counts; see `midp_test`. p is 1 where both counts are 0.

    Parameters
    ----------
    won, lost : (n_samples,) array_like
        Discordant pairs.

    Examples
    --------
    >>> midp_tests([8, 0], [1, 0]).pvalue.round(6).tolist()
    [0.021484, 1.0]
    """
    return Tests(midp_pvalues(won, lost), _discordant(won, lost))


def _single(name: str, method: str, won: int, lost: int) -> Test:
    check_discordant(won, lost)
    pvalue, direction = (binomial_tests if name == "exact" else midp_tests)([won], [lost])
    n = won + lost
    statistic, note = (float(won), None) if n else (None, _NO_DISCORDANT)
    return Test(name, method, statistic, float(pvalue[0]), int(direction[0]), n, n, note)


def _discordant(won: npt.ArrayLike, lost: npt.ArrayLike) -> Ints:
    return np.sign(np.asarray(won, dtype=np.float64) - np.asarray(lost, dtype=np.float64)).astype(np.int64)


Counts = TypeVar("Counts")

MOST_SHARED_CLASSES = 512  # with more distinct values than that, each pair of rows gets classes of its own


@dataclass(frozen=True)
class Pair(Generic[Counts]):
    """Two rows, counted by class.

    Attributes
    ----------
    sizes : (n_sizes,) float array
        The sizes of the differences, ascending; the first is 0.
    changes : counts of 2 n_sizes classes
        How often each difference occurs, second row minus first; negative ones after all others.
    distinct : (n_distinct,) float array
        The values, ascending.
    x, y : counts of n_distinct classes
        How often each row has each value.
    """

    sizes: Floats
    changes: Counts
    distinct: Floats
    x: Counts
    y: Counts


def pairwise_tests(rows: Floats) -> dict[str, Tests]:
    """Run the paired t, Wilcoxon signed rank and sign tests, and the rank sum test, on every pair of rows.

    Parameters
    ----------
    rows : (n_rows, n) float array
        Values that are paired by column, such as one measure of many runs on the same queries; NaN where undefined, which
        leaves the column out of the pairs of that row.

    Returns
    -------
    dict of str to Tests
        "t", "wilcoxon", "sign" and "ranksum", as `t_test`, `wilcoxon`, `sign_test` and `rank_sum` define them. Their arrays
        have a value for each pair, in the order of ``itertools.combinations``; the direction is positive where the second
        row's values are larger.

    Examples
    --------
    >>> tests = pairwise_tests(np.array([[1, 2, 3, 4, 5], [2, 2, 5, 7, 9], [2, 3, 4, 5, 6]]))
    >>> tests["t"].pvalue.round(3).tolist(), tests["t"].direction.tolist()
    ([0.047, 0.062, 0.23], [1, 1, -1])
    """
    results: dict[str, list[Tests]] = {"t": [], "wilcoxon": [], "sign": [], "ranksum": []}
    for pair in counted_pairs(np.asarray(rows, dtype=np.float64), _on_all_columns):
        changes = Differences(pair.sizes, *np.split(pair.changes, 2))
        results["t"].append(t_tests(changes))
        results["wilcoxon"].append(wilcoxon_tests(changes))
        results["sign"].append(sign_tests(changes))
        results["ranksum"].append(rank_sum_tests(pair.x, pair.y))
    nothing = Tests(np.empty(0), np.empty(0, dtype=np.int64))  # fewer than two rows have no pair
    return {name: Tests(*map(np.concatenate, zip(nothing, *tests, strict=True))) for name, tests in results.items()}


def counted_pairs(rows: Floats, counted: Callable[[Ints, int], Counts]) -> Iterator[Pair[Counts]]:
    """Put the values and the differences of every pair of rows in classes, and count them.

    Parameters
    ----------
    rows : (n_rows, n) float array
        NaN where undefined.
    counted : function of codes and number of classes
        Counts the classes in some subsets of the columns; the code of a column that does not count is -1.

    Yields
    ------
    Pair
        In the order of ``itertools.combinations``.
    """
    values = None if np.isnan(rows).any() else classes(rows.ravel())
    if values is None or len(values.distinct) > MOST_SHARED_CLASSES:
        return _with_own_classes(rows, counted)
    return _with_shared_classes(Classes(values.code.reshape(rows.shape), values.distinct), counted)


def _with_own_classes(rows: Floats, counted: Callable[[Ints, int], Counts]) -> Iterator[Pair[Counts]]:
    """Put the differences of each pair in classes by themselves."""
    for x, y in combinations(rows, 2):
        defined = ~np.isnan(x) & ~np.isnan(y)
        change = np.zeros(len(defined))
        change[defined] = differences(x[defined], y[defined])
        sizes = classes(np.abs(change))
        both = classes(np.concatenate([x[defined], y[defined]]))
        codes = np.full((2, len(defined)), -1)
        codes[:, defined] = both.code.reshape(2, -1)
        changes = counted(with_signs(sizes, change, defined), 2 * len(sizes.distinct))
        yield Pair(sizes.distinct, changes, both.distinct, *(counted(code, len(both.distinct)) for code in codes))


def _with_shared_classes(rows: Classes, counted: Callable[[Ints, int], Counts]) -> Iterator[Pair[Counts]]:
    """Compute the difference of every two values once, and look up the class of each pair's differences."""
    codes, distinct = rows
    n_values = len(distinct)
    change = differences(np.repeat(distinct, n_values), np.tile(distinct, n_values))
    sizes = classes(np.abs(change))
    n_sizes = len(sizes.distinct)
    counts = [counted(code, n_values) for code in codes]
    for x, y in combinations(range(len(codes)), 2):
        cells = codes[x] * n_values + codes[y]
        size = sizes.code[cells]
        # Only the sizes that occur in this pair: all of them together can be a thousand times as many.
        occurs = np.zeros(n_sizes, dtype=bool)
        occurs[0] = True
        occurs[size] = True
        own = np.cumsum(occurs) - 1
        n_own = int(own[-1]) + 1
        changes = counted(own[size] + n_own * (change[cells] < 0), 2 * n_own)
        yield Pair(sizes.distinct[occurs], changes, distinct, counts[x], counts[y])


def _on_all_columns(code: Ints, n_classes: int) -> Floats:
    return np.bincount(code[code >= 0], minlength=n_classes)[:, None].astype(np.float64)
