"""Tests of paired differences, and of two unpaired samples: the results for one sample, in words.

`kernels` has the tests themselves, for many samples at a time. Where there is nothing to test a note
gives the reason.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import numpy.typing as npt

from ir_outcomes.statistics.counts import Differences, check_discordant, classes, numbers, tally
from ir_outcomes.statistics.kernels import (
    PAIRED,
    UNDEFINED_T,
    Computed,
    Kernel,
    Pvalues,
    binomial_tests,
    rank_sum_tests,
)
from ir_outcomes.statistics.signflips import Levels


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
) -> "Samples":
    """Every test of paired differences by name: t, wilcoxon, sign and signflip; each is run when it is first asked for.

    For the parameters see `sign_flip`.

    Examples
    --------
    >>> {name: round(test.pvalue, 3) for name, test in paired_tests([3, 0, 5, -1, 2, 4]).items()}
    {'t': 0.071, 'wilcoxon': 0.125, 'sign': 0.375, 'signflip': 0.125}
    """
    return Samples(tally(d, clusters), levels)


class Samples(Mapping[str, Test]):
    """Samples whose tests run when they are asked for, and once: sign flips can take a hundred times as long as all others.

    As a mapping it has the tests of a single sample; `many` and `of_means` have those of all
    samples. With `labels_only`, sign flips that are far from the levels are approximations.
    """

    def __init__(
        self, differences: Differences, levels: Levels | None = None, *, labels_only: bool = False
    ) -> None:
        self.differences = differences
        self._levels = levels
        self._labels_only = labels_only
        self._computed: dict[str, Computed] = {}

    @property
    def of_mean(self) -> Literal["t", "signflip"]:
        """The test that `mean_test` takes for a single sample."""
        return "signflip" if self.differences.few[0] else "t"

    def _compute(self, name: str, kernel: Kernel | None) -> Computed:
        if name not in self._computed:
            compute = kernel or PAIRED[name]
            self._computed[name] = compute(self.differences, self._levels, self._labels_only)
        return self._computed[name]

    def many(self, name: str, kernel: Kernel | None = None) -> Pvalues:
        """Run a test of `PAIRED`, or one that is given with its name, on each sample."""
        return self._compute(name, kernel).tests

    def of_means(self) -> Pvalues:
        """Test the mean difference of each sample, by sign flips where few differences are not zero."""
        few = self.differences.few
        if few.all():
            return self.many("signflip")
        by_t = self.many("t")
        if not few.any():
            return by_t
        flipped = Samples(self.differences.at(few), self._levels, labels_only=self._labels_only)
        pvalue = by_t.pvalue.copy()
        pvalue[few] = flipped.many("signflip").pvalue
        return Pvalues(pvalue, by_t.direction)

    def one(self, name: str, kernel: Kernel | None = None) -> Test:
        """Return the result of a test of a single sample."""
        computed = self._compute(name, kernel)
        (n,) = self.differences.n.astype(np.int64).tolist()
        (n_nonzero,) = self.differences.n_nonzero.astype(np.int64).tolist()
        method = computed.method(0)
        note = _note_on_sample(self.differences, n, n_nonzero, method)
        if self.differences.moments is not None:
            method += ", by cluster"
        counted = n if name == "t" else n_nonzero
        return _test(name, method, computed.tests, computed.statistic[0], counted, n_nonzero, note)

    def __getitem__(self, name: str) -> Test:
        return self.one(name)

    def __iter__(self) -> Iterator[str]:
        return iter(PAIRED)

    def __len__(self) -> int:
        return len(PAIRED)

    def __repr__(self) -> str:
        return repr(dict(self))


def _note_on_sample(sample: Differences, n: int, n_nonzero: int, method: str) -> str | None:
    """Say what a reader of a paired test must know, where its sample is degenerate."""
    by_cluster = sample.moments is not None
    if not n:
        return "there is nothing to test"
    if not n_nonzero:
        zero = "all differences are zero"
        if by_cluster:  # also queries, where systems have several runs
            zero = "the differences of each query or cluster add up to zero"
        return f"{zero}, so there is nothing to test"
    if n == 1:
        what = (
            "all differences are in one cluster" if by_cluster else "there is a single difference"
        )
        return f"{what}, too little to test"
    if method != UNDEFINED_T:
        return None
    what = f"all {n} differences are equal"
    if by_cluster:
        what = f"the mean difference is the same in all {n} clusters"
    return f"{what}, so t is undefined; its p-value is that of the sign-flip test"


def _test(
    name: str,
    method: str,
    tests: Pvalues,
    statistic: float,
    n: int,
    n_nonzero: int,
    note: str | None,
) -> Test:
    """Return the result of a single sample, without its statistic where that is NaN or the sample is degenerate."""
    is_undefined = note is not None or np.isnan(statistic)
    return Test(
        name,
        method,
        None if is_undefined else float(statistic),
        float(tests.pvalue[0]),
        int(tests.direction[0]),
        n,
        n_nonzero,
        note,
    )


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
    n = won + lost
    note = None if n else "no query is answered by one run only, so there is nothing to test"
    return _test("exact", "exact binomial", binomial_tests([won], [lost]), won, n, n, note)


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
    code, distinct = classes(np.concatenate([x, y]))
    of_x, of_y = (
        np.bincount(own, minlength=len(distinct)).astype(np.float64)[:, None]
        for own in np.split(code, [len(x)])
    )
    tests, (u,) = rank_sum_tests(of_x, of_y)
    note = "all values are equal, or there are none" if np.isnan(u) else None
    return _test("ranksum", "Wilcoxon rank sum, asymptotic", tests, u, n, n, note)
