"""Tests of many samples at once, on counts: the paired tests by name, and the binomial and the rank sum test.

A paired test takes samples as columns of counts (`Differences`) and returns arrays. A new one is an
entry of `PAIRED`; see `function_test`.

All tests are two-sided, mirrored exactly when the signs of the differences change, and independent
of the order of the queries. A p-value is never NaN or 0: where there is nothing to test it is 1. The
direction is the sign of the effect also for a single difference, which cannot be significant.

The tests are written out here because the functions of SciPy that define them take 3 to 140 times
as long for one sample.
"""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.formatting import plural
from ir_outcomes.statistics.counts import SMALLEST_PVALUE, Differences, added, below, special
from ir_outcomes.statistics.signflips import Levels, sign_flip_pvalues, subset_sums
from ir_outcomes.types import Bools, Floats, Ints, divided

MOST_EXACT_WILCOXON = 50
UNDEFINED_T = "paired t, undefined"


class Pvalues(NamedTuple):
    """P-values (two-sided) and directions of a test on many samples, (n_samples,) arrays."""

    pvalue: Floats
    direction: Ints


class Computed(NamedTuple):
    """What a test computed, with the statistic (NaN where undefined) and, in words, what was done for a sample."""

    tests: Pvalues
    statistic: Floats
    method: Callable[[int], str]


# The arguments are the samples, the levels that p-values are compared with, and whether nothing but
# labels is wanted, so that sign flips that are far from the levels may be approximations.
Kernel = Callable[[Differences, Levels | None, bool], Computed]


def _t(samples: Differences, levels: Levels | None, labels_only: bool) -> Computed:
    n = samples.n
    testable = _testable(samples, n)
    if samples.moments is None:
        mean, error, equal = _errors_of_queries(samples, n, testable)
    else:
        mean, error, equal = _errors_of_clusters(samples, n, testable)
    defined = testable & ~equal
    t = divided(mean, error, defined & (error > 0), otherwise=0.0)
    one_sided = special.stdtr(np.maximum(n - 1, 1), -np.abs(t))
    pvalue = np.where(defined, _proper(2 * one_sided), 1.0)
    pvalue[equal] = _proper(2.0 ** (1 - n[equal]))
    return Computed(
        Pvalues(pvalue, _signs(samples.totals)),
        np.where(equal, np.nan, t),
        lambda sample: UNDEFINED_T if equal[sample] else "paired t",
    )


def _errors_of_queries(
    samples: Differences, n: Floats, testable: Bools
) -> tuple[Floats, Floats, Bools]:
    """Return means, their standard errors, and whether all differences are equal and not zero, (n_samples,) arrays."""
    sizes = samples.sizes
    total = samples.totals
    mean = total / np.maximum(n, 1)
    deviations = np.maximum(samples.squares - mean * total, 0.0)
    equal = np.zeros(len(n), dtype=bool)
    # Where the mean is large against the deviations, most digits of that difference are lost, so it
    # is computed again from the deviations themselves. Few samples are like that, and the short way
    # takes a third of the time.
    close = np.flatnonzero(testable & (deviations < 0.01 * samples.squares))
    if len(close):
        own = samples.at(close)
        above = (sizes[:, None] - mean[close]) ** 2
        below = (-sizes[:, None] - mean[close]) ** 2
        deviations[close] = (above * own.positive + below * own.negative).sum(axis=0)
        # Deviations of equal differences are 0 except for the rounding of their mean, so equality
        # is decided by the counts.
        equal[close] = np.maximum(own.positive, own.negative).max(axis=0) == n[close]
    freedom = np.maximum(n - 1, 1)
    error = np.sqrt(deviations / (freedom * np.maximum(n, 1)))
    return mean, error, equal


def _errors_of_clusters(
    samples: Differences, n: Floats, testable: Bools
) -> tuple[Floats, Floats, Bools]:
    """Return the same of samples that are n sums by cluster."""
    moments: Any = samples.moments
    queries = np.maximum(moments.queries, 1)
    mean = samples.totals / queries
    # Of the residuals S - n mean: their sum over clusters is 0, and that of their squares is the
    # variance of the mean.
    deviations = samples.squares - 2 * mean * moments.products + mean**2 * moments.squares
    error = np.sqrt(np.maximum(deviations, 0.0) * n / np.maximum(n - 1, 1)) / queries
    return mean, error, testable & (deviations <= 1e-12 * samples.squares)


def _wilcoxon(samples: Differences, levels: Levels | None, labels_only: bool) -> Computed:
    n = samples.n_nonzero
    testable = _testable(samples, samples.n)
    # A rank is the number of smaller differences, half that of equal ones, and one half.
    plus = samples.smaller + samples.n_positive / 2
    minus = n * (n + 1) / 2 - plus
    smaller = np.minimum(plus, minus)
    middle = n * (n + 1) / 4
    spread = (n * (n + 1.0) * (2 * n + 1) - _cubes(samples.both[1:]) / 2) / 24
    z = divided(smaller - middle, np.sqrt(spread), testable, otherwise=0.0)
    pvalue = np.where(testable, _proper(2 * special.ndtr(-np.abs(z))), 1.0)
    exact = testable & (n <= MOST_EXACT_WILCOXON)
    places = np.flatnonzero(exact)
    own = samples.at(places).both[1:].T if len(places) else ()
    for sample, ties in zip(places.tolist(), own, strict=True):
        shares = _rank_sum_shares(tuple(ties[ties > 0].astype(np.int64).tolist()))
        pvalue[sample] = min(1.0, 2 * shares[int(2 * smaller[sample])])

    def method(sample: int) -> str:
        if not testable[sample]:
            return "Wilcoxon signed rank"
        name = "Wilcoxon signed rank, asymptotic"
        if exact[sample]:
            name = "Wilcoxon signed rank, exact"
        zeros = int(samples.n[sample] - n[sample])
        if zeros == 0:
            return name
        return f"{name}, {plural('zero', zeros)} dropped"

    return Computed(Pvalues(pvalue, _signs(plus - minus)), smaller, method)


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


def _sign(samples: Differences, levels: Levels | None, labels_only: bool) -> Computed:
    positive = samples.n_positive
    negative = samples.n_nonzero - positive
    return Computed(binomial_tests(positive, negative), positive, lambda _: "sign test")


def _sign_flip(samples: Differences, levels: Levels | None, labels_only: bool) -> Computed:
    pvalue = np.ones(len(samples.n))
    closeness = np.full(len(samples.n), "", dtype=object)
    testable = np.flatnonzero(_testable(samples, samples.n))
    pvalue[testable], closeness[testable] = sign_flip_pvalues(
        samples.at(testable), levels, labels_only
    )
    totals = samples.totals
    return Computed(
        Pvalues(pvalue, _signs(totals)),
        totals,
        lambda sample: f"sign-flip{closeness[sample]}",
    )


PAIRED: Mapping[str, Kernel] = {
    "t": _t,
    "wilcoxon": _wilcoxon,
    "sign": _sign,
    "signflip": _sign_flip,
}


def name_of(function: Callable[[Floats], Any]) -> str:
    """Return the name under which a function is reported as a test."""
    name = getattr(function, "__name__", type(function).__name__)
    return f"{name}()"


def function_test(function: Callable[[Floats], Any]) -> Kernel:
    """Make a test of a function of one sample's differences, which returns a p-value or SciPy's result."""
    name = name_of(function)

    def kernel(samples: Differences, levels: Levels | None, labels_only: bool) -> Computed:
        statistics = np.full(len(samples.n), np.nan)
        pvalues = np.ones(len(samples.n))
        directions = samples.totals
        for sample in np.flatnonzero(_testable(samples, samples.n)).tolist():
            values = samples.values(sample)
            result = function(values)
            pvalues[sample] = _pvalue_of(result, name)
            statistic = getattr(result, "statistic", np.nan)
            statistics[sample] = statistic
            # A statistic says the direction if its sign changes with the differences; the smaller
            # rank sum is 0 both ways.
            mirrored = getattr(function(-values), "statistic", np.nan)
            if statistic and np.isclose(statistic, -mirrored, rtol=1e-9):
                directions[sample] = statistic
        return Computed(Pvalues(_proper(pvalues), _signs(directions)), statistics, lambda _: name)

    return kernel


def _pvalue_of(result: Any, name: str) -> float:
    """Return the p-value of what a function returned; 1 where it is NaN."""
    pvalue = getattr(result, "pvalue", result)
    if not isinstance(pvalue, (int, float, np.floating)) or pvalue < 0 or pvalue > 1:
        raise ParameterError(
            f"returned {pvalue!r}; must return a p-value, or a result that has one", test=name
        )
    return 1.0 if np.isnan(pvalue) else float(pvalue)


def binomial_tests(won: npt.ArrayLike, lost: npt.ArrayLike) -> Pvalues:
    """Exact two-sided binomial test of each pair of counts; p is 1 where both are 0."""
    won = np.asarray(won, dtype=np.int64)
    lost = np.asarray(lost, dtype=np.int64)
    fewer = np.minimum(won, lost)
    return Pvalues(_proper(2 * binomial_cdf(fewer, won + lost, 0.5)), np.sign(won - lost))


def binomial_cdf(k: Ints, n: Ints, share: float) -> Floats:
    """Compute the chance of at most k successes in n trials; k may be -1."""
    successes = np.maximum(k, 0)
    # Some versions of SciPy have NaN for a parameter of 0.
    chances = special.betainc(np.maximum(n - k, 1), successes + 1, 1 - share)
    # `betainc` loses some chances below 1e-250, which `bdtr` has, with fewer digits.
    lost = chances == 0
    if lost.any():
        chances = np.where(lost, special.bdtr(successes.astype(np.float64), n, share), chances)
    return np.where(k < 0, 0.0, np.where(k >= n, 1.0, chances))


def rank_sum_tests(x: Floats, y: Floats) -> tuple[Pvalues, Floats]:
    """Rank sum tests, and U (NaN: nothing to test), of samples counted by ascending classes, (n_classes, n_samples)."""
    both = x + y
    n_x = added(x)
    n_y = added(y)
    n = n_x + n_y
    u = np.einsum("ij,ij->j", y, below(x))
    of_ties = _cubes(both) / np.maximum(n * (n - 1.0), 1.0)
    spread = n_x * n_y / 12 * (n + 1 - of_ties)
    center = n_x * n_y / 2
    testable = (n_x > 0) & (n_y > 0) & (both.max(axis=0, initial=0) < n)
    z = divided(-np.abs(u - center), np.sqrt(spread), testable, otherwise=0.0)
    pvalue = np.where(testable, _proper(2 * special.ndtr(z)), 1.0)
    return Pvalues(pvalue, _signs(u - center)), np.where(testable, u, np.nan)


def _testable(samples: Differences, n: Floats) -> Bools:
    """Whether samples of n differences have two or more, not all of them zero."""
    testable: Bools = (n >= 2) & (samples.n_nonzero > 0)
    return testable


def _proper(pvalues: Floats) -> Floats:
    """Bring p-values into the range from 2.2e-308 to 1: sums of two tails can exceed 1, and tiny ones underflow to 0."""
    # `np.clip` takes three times as long for a few values.
    bounded: Floats = np.minimum(np.maximum(pvalues, SMALLEST_PVALUE), 1.0)
    return bounded


def _signs(values: Floats) -> Ints:
    return np.sign(values).astype(np.int64)


def _cubes(ties: Floats) -> Floats:
    """Sum t^3 - t over the ties of each sample."""
    sums: Floats = np.einsum("ij,ij,ij->j", ties, ties, ties) - added(ties)
    return sums
