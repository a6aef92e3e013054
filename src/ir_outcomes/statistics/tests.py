"""Tests of paired differences, and the rank sum test: each test once, on many samples at a time.

`many_tests` takes samples as columns of counts (`Differences`) and returns arrays; `t_test`,
`wilcoxon`, ... are the same for one sample and return a `Test`. A new test is an entry of `PAIRED`;
see `function_test`.

All tests are two-sided, mirrored exactly when the signs of the differences change, and independent
of the order of the queries. A p-value is never NaN or 0: where there is nothing to test it is 1,
and a note gives the reason. The direction is the sign of the effect also for a single difference,
which cannot be significant.

The tests are written out here because the functions of SciPy that define them take 3 to 140 times
as long for one sample.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.counts import (
    SMALLEST_PVALUE,
    Differences,
    check_discordant,
    classes,
    numbers,
    pairs_of,
    special,
    tally,
)
from ir_outcomes.statistics.signflips import Levels, sign_flip_pvalues, subset_sums
from ir_outcomes.types import Bools, Floats, Ints, divided

MOST_EXACT_WILCOXON = 50


@dataclass(frozen=True)
class Test:
    """The result of a test."""

    __test__: ClassVar[bool] = False  # pytest must not collect it

    name: str  #: "t", "wilcoxon", "sign", "signflip", "ranksum" or "exact"
    method: str  #: the test in words, with what was chosen for these data
    statistic: float | None  #: None where it is undefined
    pvalue: float  #: two-sided; at least 2.2e-308
    #: -1, 0 or 1: sign of the effect in the test's own terms (mean for t and sign-flip, W+ minus W-
    #: for Wilcoxon, number of positive minus negative differences for sign and binomial tests, rank
    #: sums for the rank sum test).
    direction: int
    #: Observations that the statistic is computed from: all differences (clusters) for t, those
    #: that are not zero for the other paired tests, both samples together for the rank sum test.
    n: int
    #: differences (clusters) that are not zero; for the rank sum test the same as `n`
    n_nonzero: int
    note: str | None = None  #: what a reader must know


class Tests(NamedTuple):
    """P-values (two-sided) and directions of a test on many samples, (n_samples,) arrays."""

    pvalue: Floats
    direction: Ints


class Found(NamedTuple):
    """What a test found, with the statistic (NaN where undefined) and, in words, what was done for a sample."""

    tests: Tests
    statistic: Floats
    method: Callable[[int], str]


def t_test(d: npt.ArrayLike, clusters: npt.ArrayLike | None = None) -> Test:
    """Student's t test of the mean difference (`scipy.stats.ttest_rel`).

    Where all differences are equal and not zero t is undefined, and the p-value is that of the
    sign-flip test, 2^(1-n).

    Parameters
    ----------
    d : (n,) array_like
        Differences, from `differences`.
    clusters : (n,) array_like of int, optional
        Cluster of each, where queries are not independent: t then has the cluster-robust standard
        error, and one degree of freedom less than there are clusters; see `linearized`. Other tests
        take the sums of the clusters.

    Examples
    --------
    >>> round(t_test([3, 0, 5, -1, 2, 4]).pvalue, 4)
    0.0706
    """
    return paired_tests(d, clusters=clusters)["t"]


def wilcoxon(d: npt.ArrayLike, clusters: npt.ArrayLike | None = None) -> Test:
    """Wilcoxon's signed rank test, zeros dropped (`scipy.stats.wilcoxon`, ``zero_method="wilcox", correction=False``).

    Exact for up to 50 differences that are not zero (`scipy.stats.PermutationMethod`), with tied
    ranks averaged; beyond that by the normal approximation with the variance corrected for ties.
    The statistic is the smaller of the two rank sums. For the parameters see `t_test`.

    References
    ----------
    Wilcoxon 1945; Hollander, Wolfe and Chicken 2013, section 3.1, for ties comment 11.

    Examples
    --------
    >>> test = wilcoxon([3, 0, 5, -1, 2, 4])
    >>> test.method, test.pvalue
    ('Wilcoxon signed rank, exact, 1 zero dropped', 0.125)
    """
    return paired_tests(d, clusters=clusters)["wilcoxon"]


def sign_test(d: npt.ArrayLike, clusters: npt.ArrayLike | None = None) -> Test:
    """Sign test: exact binomial on positive against negative differences, zeros dropped (`scipy.stats.binomtest`).

    For the parameters see `t_test`.

    Examples
    --------
    >>> sign_test([3, 0, 5, -1, 2, 4]).pvalue
    0.375
    """
    return paired_tests(d, clusters=clusters)["sign"]


def sign_flip(
    d: npt.ArrayLike, levels: Levels | None = None, clusters: npt.ArrayLike | None = None
) -> Test:
    """Sign-flip (randomization) test of the sum of the differences.

    The share of all assignments of signs whose sum is at least as far from 0: exact where the
    differences are multiples of a common unit (with a total up to about a million) or where up to
    42 are not zero, else to within 1 % of the p-value.

    Parameters
    ----------
    d, clusters
        See `t_test`.
    levels : pair of float, optional
        Smallest and largest level that the p-value is compared with, such as alpha / 20 and alpha
        for 20 contenders: a p-value that is not exact, and whose bounds reach into this range, is
        refined.

    References
    ----------
    Fisher 1935, "The Design of Experiments", section 21.

    Examples
    --------
    >>> test = sign_flip([3, 0, 5, -1, 2, 4])
    >>> test.method, test.pvalue
    ('sign-flip, exact', 0.125)
    """
    return paired_tests(d, levels, clusters)["signflip"]


def mean_test(
    d: npt.ArrayLike, levels: Levels | None = None, clusters: npt.ArrayLike | None = None
) -> Test:
    """Test the mean difference: by t, or by sign flips with fewer than 30 differences (clusters) that are not zero.

    On few differences t relies on a normal distribution that they do not have: four queries of 900
    that move by one rank are p = 0.045 to t and 0.125 to the exact test. Clusters of n queries
    count as (sum n^2)^2 / sum n^4, so that many of very unequal size are few (Carter, Schnepel and
    Steigerwald 2017, "Asymptotic behavior of a t-test robust to cluster heterogeneity"). For the
    parameters see `sign_flip`.

    Examples
    --------
    >>> mean_test([1] * 4 + [0] * 896).pvalue
    0.125
    """
    tests = paired_tests(d, levels, clusters)
    return tests[tests.of_mean]


def paired_tests(
    d: npt.ArrayLike, levels: Levels | None = None, clusters: npt.ArrayLike | None = None
) -> "PairedTests":
    """Every test of paired differences by name: t, wilcoxon, sign and signflip; each is run when it is first asked for.

    For the parameters see `sign_flip`.

    Examples
    --------
    >>> {name: round(test.pvalue, 3) for name, test in paired_tests([3, 0, 5, -1, 2, 4]).items()}
    {'t': 0.071, 'wilcoxon': 0.125, 'sign': 0.375, 'signflip': 0.125}
    """
    return PairedTests(tally(d, clusters), levels)


class PairedTests(Mapping[str, Test]):
    """Tests that run when they are asked for, and once: sign flips can take a hundred times as long as the others together.

    As a mapping it has the tests of a single sample; `many` and `of_means` have those of all
    samples.
    """

    def __init__(
        self, samples: Differences, levels: Levels | None = None, *, labels_only: bool = False
    ) -> None:
        self.samples = samples
        self._levels = levels
        self._labels_only = labels_only
        self._done: dict[str, Found] = {}

    @property
    def of_mean(self) -> Literal["t", "signflip"]:
        """The test that `mean_test` takes for a single sample."""
        return "signflip" if self.samples.few[0] else "t"

    def found(self, name: str, kernel: "Kernel | None" = None) -> Found:
        """Run a test of `PAIRED`, or one that is given with its name, on each sample."""
        if name not in self._done:
            run = PAIRED[name] if kernel is None else kernel
            self._done[name] = run(self.samples, self._levels, self._labels_only)
        return self._done[name]

    def many(self, name: str, kernel: "Kernel | None" = None) -> Tests:
        """P-values and directions of a test on each sample."""
        return self.found(name, kernel).tests

    def of_means(self) -> Tests:
        """Test the mean difference of each sample, by sign flips where few differences are not zero."""
        few = self.samples.few
        if few.all():
            return self.many("signflip")
        if not few.any():
            return self.many("t")
        return mean_tests(self.samples, self._levels, labels_only=self._labels_only)

    def one(self, name: str, kernel: "Kernel | None" = None) -> Test:
        """Return the result of a test of a single sample."""
        return _one(name, self.samples, self.found(name, kernel))

    def __getitem__(self, name: str) -> Test:
        return self.one(name)

    def __iter__(self) -> Iterator[str]:
        return iter(PAIRED)

    def __len__(self) -> int:
        return len(PAIRED)

    def __repr__(self) -> str:
        return repr(dict(self))


def _one(name: str, sample: Differences, found: Found) -> Test:
    """Return the result of a single sample."""
    n = int(sample.n[0])
    n_nonzero = int(sample.n_nonzero[0])
    method = found.method(0)
    by_cluster = sample.moments is not None
    note = None
    if not n:
        note = "there is nothing to test"
    elif not n_nonzero:
        noun = "sums of clusters" if by_cluster else "differences"
        note = f"all {noun} are zero, so there is nothing to test"
    elif n == 1:
        what = "there is a single difference"
        if by_cluster:
            what = "all differences are in one cluster"
        note = f"{what}, too little to test"
    elif method == UNDEFINED_T:
        what = f"all {n} differences are equal"
        if by_cluster:
            what = f"the mean difference is the same in all {n} clusters"
        note = f"{what}, so t is undefined; its p-value is that of the sign-flip test"
    if by_cluster:
        method += ", by cluster"
    statistic = None if note or np.isnan(found.statistic[0]) else float(found.statistic[0])
    pvalue = float(found.tests.pvalue[0])
    direction = int(found.tests.direction[0])
    return Test(
        name, method, statistic, pvalue, direction, n if name == "t" else n_nonzero, n_nonzero, note
    )


# Many samples.


def many_tests(
    name: str, samples: Differences, levels: Levels | None = None, *, labels_only: bool = False
) -> Tests:
    """Run a test of `PAIRED` on each sample; with `labels_only`, sign flips that are far from the levels are approximations."""
    return PAIRED[name](samples, levels, labels_only).tests


def mean_tests(
    samples: Differences, levels: Levels | None = None, *, labels_only: bool = False
) -> Tests:
    """Test the mean difference of each sample, by sign flips where few differences are not zero."""
    found = many_tests("t", samples)
    few = np.flatnonzero(samples.few)
    found.pvalue[few] = many_tests(
        "signflip", samples.at(few), levels, labels_only=labels_only
    ).pvalue
    return found


def name_of(function: Callable[[Floats], Any]) -> str:
    """Return the name under which a function is reported as a test."""
    name = getattr(function, "__name__", type(function).__name__)
    return f"{name}()"


def function_test(function: Callable[[Floats], Any]) -> "Kernel":
    """Make a test of a function of one sample's differences, which returns a p-value or SciPy's result."""
    name = name_of(function)

    def kernel(samples: Differences, levels: Levels | None, labels_only: bool) -> Found:
        statistics = np.full(len(samples.n), np.nan)
        pvalues = np.ones(len(samples.n))
        directions = samples.totals
        for sample in np.flatnonzero(_testable(samples)).tolist():
            values = samples.values(sample)
            found = function(values)
            pvalues[sample] = _pvalue_of(found, name)
            statistic = getattr(found, "statistic", np.nan)
            statistics[sample] = statistic
            # A statistic says the direction if its sign changes with the differences; the smaller
            # rank sum is 0 both ways.
            mirrored = getattr(function(-values), "statistic", np.nan)
            if statistic and np.isclose(statistic, -mirrored, rtol=1e-9):
                directions[sample] = statistic
        return Found(Tests(_proper(pvalues), _signs(directions)), statistics, lambda _: name)

    return kernel


def _pvalue_of(found: Any, name: str) -> float:
    """Return the p-value of what a function returned; 1 where it is NaN."""
    pvalue = getattr(found, "pvalue", found)
    if not isinstance(pvalue, (int, float, np.floating)) or pvalue < 0 or pvalue > 1:
        raise ParameterError(
            f"returned {pvalue!r}; must return a p-value, or a result that has one", test=name
        )
    return 1.0 if np.isnan(pvalue) else float(pvalue)


def _testable(samples: Differences) -> Bools:
    return _have_differences(samples, samples.n)


def _have_differences(samples: Differences, n: Floats) -> Bools:
    """Whether samples of n differences have two or more, not all of them zero."""
    testable: Bools = (n >= 2) & (samples.positive[0] < n)  # the first class holds the zeros
    return testable


UNDEFINED_T = "paired t, undefined"


def _t(samples: Differences, levels: Levels | None, labels_only: bool) -> Found:
    sizes, positive, negative, moments = samples
    both = positive + negative
    n = both.sum(axis=0)
    testable = _have_differences(samples, n)
    total = samples.totals
    freedom = np.maximum(n - 1, 1)
    squares = sizes**2 @ both
    equal = np.zeros(len(n), dtype=bool)
    if moments is None:
        mean = total / np.maximum(n, 1)
        deviations = np.maximum(squares - mean * total, 0.0)
        # Where the mean is large against the deviations, most digits of that difference are lost,
        # so it is computed again from the deviations themselves. Few samples are like that, and the
        # short way takes a third of the time.
        close = np.flatnonzero(testable & (deviations < 0.01 * squares))
        if len(close):
            above, below = ((sign * sizes[:, None] - mean[close]) ** 2 for sign in (1.0, -1.0))
            deviations[close] = (above * positive[:, close] + below * negative[:, close]).sum(
                axis=0
            )
            # Deviations of equal differences are 0 except for the rounding of their mean, so equality
            # is decided by the counts.
            equal[close] = (
                np.maximum(positive[:, close], negative[:, close]).max(axis=0) == n[close]
            )
        error = np.sqrt(deviations / (freedom * np.maximum(n, 1)))
    else:
        # Of the residuals S - n mean: their sum over clusters is 0, and that of their squares is
        # the variance of the mean.
        queries = np.maximum(moments.queries, 1)
        mean = total / queries
        deviations = squares - 2 * mean * moments.products + mean**2 * moments.squares
        equal = testable & (deviations <= 1e-12 * squares)
        error = np.sqrt(np.maximum(deviations, 0.0) * n / freedom) / queries
    defined = testable & ~equal
    t = divided(mean, error, defined & (error > 0), otherwise=0.0)
    pvalue = np.where(defined, _proper(2 * special.stdtr(freedom, -np.abs(t))), 1.0)
    pvalue[equal] = _proper(2.0 ** (1 - n[equal]))
    tests = Tests(pvalue, _signs(total))
    statistic = np.where(equal, np.nan, t)
    return Found(tests, statistic, lambda sample: UNDEFINED_T if equal[sample] else "paired t")


def _wilcoxon(samples: Differences, levels: Levels | None, labels_only: bool) -> Found:
    positive = samples.positive[1:]
    negative = samples.negative[1:]
    both = positive + negative
    n_positive = positive.sum(axis=0)
    n = n_positive + negative.sum(axis=0)
    testable = _have_differences(samples, n + samples.positive[0] + samples.negative[0])
    # A rank is the number of smaller differences, half that of equal ones, and one half: that of
    # all up to it, less half of the equal ones, and one half. All of these sums are exact, because
    # twice each is a whole number.
    up_to = np.cumsum(both, axis=0)
    plus = (
        np.einsum("ij,ij->j", positive, up_to)
        - (np.einsum("ij,ij->j", positive, both) - n_positive) / 2
    )
    minus = n * (n + 1) / 2 - plus
    smaller = np.minimum(plus, minus)
    middle = n * (n + 1) / 4
    spread = (n * (n + 1.0) * (2 * n + 1) - _cubes(both) / 2) / 24
    z = divided(smaller - middle, np.sqrt(spread), testable, otherwise=0.0)
    pvalue = np.where(testable, _proper(2 * special.ndtr(-np.abs(z))), 1.0)
    exact = testable & (n <= MOST_EXACT_WILCOXON)
    for sample in np.flatnonzero(exact).tolist():
        ties = both[:, sample]
        shares = _rank_sum_shares(tuple(ties[ties > 0].astype(np.int64).tolist()))
        pvalue[sample] = min(1.0, 2 * shares[int(2 * smaller[sample])])

    def method(sample: int) -> str:
        if not testable[sample]:
            return "Wilcoxon signed rank"
        zeros = int(samples.n[sample] - n[sample])
        name = f"Wilcoxon signed rank, {'exact' if exact[sample] else 'asymptotic'}"
        if zeros == 0:
            return name
        return f"{name}, {zeros} {'zero' if zeros == 1 else 'zeros'} dropped"

    return Found(Tests(pvalue, _signs(plus - minus)), smaller, method)


@lru_cache(maxsize=4096)
def _rank_sum_shares(ties: tuple[int, ...]) -> Floats:
    """Shares of the assignments of signs with twice the sum of the positive ranks at most 0, 1, 2, ... up to the middle."""
    # They depend only on how many differences of each size there are, from the smallest to the
    # largest, and the halves of a set of queries have few such patterns where the ranks are small
    # numbers.
    ranks: list[int] = []
    below = 0
    for number in ties:
        ranks += [2 * below + number + 1] * number  # twice the average rank
        below += number
    counts = subset_sums(ranks, below * (below + 1) // 2)[0]
    shares: Floats = np.cumsum(counts) / 2.0**below
    return shares


def _sign(samples: Differences, levels: Levels | None, labels_only: bool) -> Found:
    positive = samples.positive[1:].sum(axis=0)
    negative = samples.negative[1:].sum(axis=0)
    pvalue, direction = binomial_tests(positive, negative)
    testable = _have_differences(
        samples, positive + negative + samples.positive[0] + samples.negative[0]
    )
    return Found(Tests(np.where(testable, pvalue, 1.0), direction), positive, lambda _: "sign test")


def _sign_flip(samples: Differences, levels: Levels | None, labels_only: bool) -> Found:
    pvalue = np.ones(len(samples.n))
    exactness = np.full(len(samples.n), "", dtype=object)
    testable = np.flatnonzero(_testable(samples))
    pvalue[testable], exactness[testable] = sign_flip_pvalues(
        samples.at(testable), levels, labels_only
    )
    totals = samples.totals
    return Found(
        Tests(pvalue, _signs(totals)), totals, lambda sample: f"sign-flip{exactness[sample]}"
    )


Kernel = Callable[[Differences, Levels | None, bool], Found]
PAIRED: Mapping[str, Kernel] = {
    "t": _t,
    "wilcoxon": _wilcoxon,
    "sign": _sign,
    "signflip": _sign_flip,
}


def binomial_test(won: int, lost: int) -> Test:
    """Exact two-sided binomial test that won and lost are equally likely (exact McNemar test; `scipy.stats.binomtest`).

    It is the sign-flip test where every difference is -1, 0 or 1.

    References
    ----------
    Lin et al. 2021, section 5; McNemar 1947.

    Examples
    --------
    >>> binomial_test(8, 1).pvalue
    0.0390625
    """
    check_discordant(won, lost)
    pvalue, direction = binomial_tests([won], [lost])
    n = won + lost
    note = None if n else "no query is answered by one run only, so there is nothing to test"
    return Test(
        "exact",
        "exact binomial",
        float(won) if n else None,
        float(pvalue[0]),
        int(direction[0]),
        n,
        n,
        note,
    )


def binomial_tests(won: npt.ArrayLike, lost: npt.ArrayLike) -> Tests:
    """Exact two-sided binomial test of each pair of counts; p is 1 where both are 0."""
    won = np.asarray(won, dtype=np.int64)
    lost = np.asarray(lost, dtype=np.int64)
    return Tests(
        _proper(2 * binomial_cdf(np.minimum(won, lost), won + lost, 0.5)), np.sign(won - lost)
    )


def binomial_cdf(k: Ints, n: Ints, share: float) -> Floats:
    """Compute the chance of at most k successes in n trials; k may be -1."""
    # Some versions have NaN for a parameter of 0.
    chances = special.betainc(np.maximum(n - k, 1), np.maximum(k, 0) + 1, 1 - share)
    if (
        zero := chances == 0
    ).any():  # it loses some chances below 1e-250, which bdtr has, with fewer digits
        chances = np.where(
            zero, special.bdtr(np.maximum(k, 0).astype(np.float64), n, share), chances
        )
    return np.where(k < 0, 0.0, np.where(k >= n, 1.0, chances))


def rank_sum(x: npt.ArrayLike, y: npt.ArrayLike) -> Test:
    """Wilcoxon's rank sum test of two unpaired samples (`scipy.stats.mannwhitneyu`, asymptotic, without continuity correction).

    The direction is positive where `y` is larger.

    Examples
    --------
    >>> test = rank_sum([1, 2, 2, 3, 9], [4, 5, 6, 7, 7])
    >>> test.direction, round(test.pvalue, 4)
    (1, 0.115)
    """
    x = numbers("x", x)
    y = numbers("y", y)
    n = len(x) + len(y)
    both = classes(np.concatenate([x, y]))
    counts = [
        np.bincount(code, minlength=len(both.distinct))[:, None]
        for code in np.split(both.code, [len(x)])
    ]
    (pvalue,), (direction,), (u,) = rank_sum_tests(
        *(column.astype(np.float64) for column in counts)
    )
    statistic, note = (
        (None, "all values are equal, or there are none") if np.isnan(u) else (float(u), None)
    )
    return Test(
        "ranksum",
        "Wilcoxon rank sum, asymptotic",
        statistic,
        float(pvalue),
        int(direction),
        n,
        n,
        note,
    )


def rank_sum_tests(x: Floats, y: Floats) -> tuple[Floats, Ints, Floats]:
    """P-values, directions and U (NaN: nothing to test) of samples counted by ascending classes, (n_classes, n_samples)."""
    both = x + y
    n_x = x.sum(axis=0)
    n_y = y.sum(axis=0)
    n = n_x + n_y
    below = np.cumsum(x, axis=0) - x / 2
    u = np.einsum("ij,ij->j", y, below)
    of_ties = _cubes(both) / np.maximum(n * (n - 1.0), 1.0)
    spread = n_x * n_y / 12 * (n + 1 - of_ties)
    center = n_x * n_y / 2
    testable = (n_x > 0) & (n_y > 0) & (both.max(axis=0, initial=0) < n)
    z = divided(-np.abs(u - center), np.sqrt(spread), testable, otherwise=0.0)
    return (
        np.where(testable, _proper(2 * special.ndtr(z)), 1.0),
        _signs(u - center),
        np.where(testable, u, np.nan),
    )


def pairwise_tests(rows: Floats) -> dict[str, Tests]:
    """Run the paired t, Wilcoxon signed rank and sign tests, and the rank sum test, on every pair of rows.

    Parameters
    ----------
    rows : (n_rows, n) float array
        Values that are paired by column, such as one measure of many runs on the same queries; NaN
        where undefined, which leaves the column out of the pairs of that row.

    Returns
    -------
    dict of str to Tests
        "t", "wilcoxon", "sign" and "ranksum": a p-value and a direction, positive where the second
        row is larger, for each pair in the order of ``itertools.combinations``.

    Examples
    --------
    >>> tests = pairwise_tests(np.array([[1, 2, 3, 4, 5], [2, 2, 5, 7, 9], [2, 3, 4, 5, 6]]))
    >>> tests["t"].pvalue.round(3).tolist(), tests["t"].direction.tolist()
    ([0.047, 0.062, 0.23], [1, 1, -1])
    """

    def counted(code: Ints, n_classes: int) -> Floats:
        return np.bincount(code[code >= 0], minlength=n_classes)[:, None].astype(np.float64)

    nothing = Tests(np.empty(0), np.empty(0, dtype=np.int64))  # fewer than two rows have no pair
    results = {name: [nothing] for name in ("t", "wilcoxon", "sign", "ranksum")}
    for pair in pairs_of(np.asarray(rows, dtype=np.float64)):
        changes = Differences.of_counts(pair.sizes, counted(pair.change, 2 * len(pair.sizes)))
        for name in ("t", "wilcoxon", "sign"):
            results[name].append(many_tests(name, changes))
        x, y = (counted(code, len(pair.distinct)) for code in (pair.x, pair.y))
        results["ranksum"].append(Tests(*rank_sum_tests(x, y)[:2]))
    return {
        name: Tests(*map(np.concatenate, zip(*tests, strict=True)))
        for name, tests in results.items()
    }


def _proper(pvalues: Floats) -> Floats:
    """Bring p-values into the range from 2.2e-308 to 1: sums of two tails can exceed 1, and tiny ones underflow to 0."""
    # `np.clip` takes three times as long for a few values.
    bounded: Floats = np.minimum(np.maximum(pvalues, SMALLEST_PVALUE), 1.0)
    return bounded


def _signs(values: Floats) -> Ints:
    return np.sign(values).astype(np.int64)


def _cubes(ties: Floats) -> Floats:
    """Sum t^3 - t over the ties of each sample."""
    sums: Floats = np.einsum("ij,ij,ij->j", ties, ties, ties) - ties.sum(axis=0)
    return sums
