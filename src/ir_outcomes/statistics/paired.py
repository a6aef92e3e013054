"""Tests on paired differences, and the rank sum test.

All two-sided; all mirrored exactly when the sign of the differences is turned; never NaN: where a test has nothing to work on,
p is 1 and a note says why.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ir_outcomes.statistics.checks import check_draws, numbers, paired
from ir_outcomes.statistics.distributions import average_ranks, binomial_chances, binomial_pvalue, root, signed_rank_pvalue

Floats = npt.NDArray[np.float64]

LARGEST_EXACT_TOTAL = 1 << 20
LARGEST_DENOMINATOR = 1000
MOST_ENUMERATED = 18
MOST_EXACT_WILCOXON = 50


@dataclass(frozen=True)
class Test:
    """What a test found.

    Attributes
    ----------
    name : str
        "t", "wilcoxon", "sign", "signflip", "ranksum", "exact" or "midp".
    method : str
        The test in words, with what was chosen for these data.
    statistic : float or None
        The test's statistic; None where it is undefined.
    pvalue : float
        Two-sided.
    direction : int
        -1, 0 or 1: sign of the effect in the test's own terms (mean for t and sign-flip, W+ minus W- for Wilcoxon, positive
        minus negative differences for sign and binomial tests, rank sums for the rank sum test).
    n : int
        Number of observations used.
    note : str or None
        What a reader must know.
    """

    __test__: ClassVar[bool] = False  # no class of tests, pytest

    name: str
    method: str
    statistic: float | None
    pvalue: float
    direction: int
    n: int
    note: str | None = None


def differences(baseline: npt.ArrayLike, contender: npt.ArrayLike) -> Floats:
    """Subtract pairwise, making equal what is equal but for rounding.

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
    ordered = np.concatenate([[0.0], sizes[order]])  # the class of zero is there even if no difference is exactly 0
    classes = np.cumsum(np.diff(ordered, prepend=0.0) > slack)
    first = np.concatenate([[0], np.flatnonzero(np.diff(classes)) + 1])
    merged = np.empty_like(change)
    merged[order] = ordered[first][classes[1:]]
    return np.copysign(merged, change) + 0.0


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
    d = numbers("d", d)
    n, direction = len(d), _sign(d.mean()) if len(d) else 0
    if n < 2 or not d.any():
        return _nothing_to_test("t", "paired t", d)
    if np.all(d == d[0]):
        note = f"all {n} differences are equal, so t is undefined; its p-value is that of the sign-flip test"
        return Test("t", "paired t, undefined", None, 2.0 ** (1 - n), direction, n, note)
    from scipy.special import stdtr

    statistic = float(d.mean() / np.sqrt(d.var(ddof=1) / n))
    return Test("t", "paired t", statistic, 2 * float(stdtr(n - 1, -abs(statistic))), direction, n)


def wilcoxon(d: npt.ArrayLike) -> Test:
    """Wilcoxon's signed rank test, zeros dropped (`scipy.stats.wilcoxon`, ``zero_method="wilcox", correction=False``).

    Exact for up to 50 differences without ties and zeros, else by the normal approximation with the variance corrected for
    ties. The statistic is the smaller of the two rank sums.

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
    Wilcoxon 1945; Hollander, Wolfe and Chicken 2013, section 3.1.

    Examples
    --------
    >>> test = wilcoxon([3, 0, 5, -1, 2, 4])
    >>> test.method, round(test.pvalue, 4)
    ('Wilcoxon signed rank, asymptotic, 1 zeros dropped', 0.0796)
    """
    d = numbers("d", d)
    nonzero = d[d != 0]
    n, zeros = len(nonzero), len(d) - len(nonzero)
    if len(d) < 2 or not n:
        return _nothing_to_test("wilcoxon", "Wilcoxon signed rank", d)
    ranks, ties = average_ranks(np.abs(nonzero))
    plus, minus = float(ranks[nonzero > 0].sum()), float(ranks[nonzero < 0].sum())
    statistic = min(plus, minus)
    dropped = f", {zeros} zeros dropped" if zeros else ""
    if n <= MOST_EXACT_WILCOXON and not zeros and ties.max() == 1:
        pvalue = signed_rank_pvalue(int(statistic), n)
        method = "Wilcoxon signed rank, exact"
    else:
        from scipy.special import ndtr

        variance = (n * (n + 1) * (2 * n + 1) - (ties**3 - ties).sum() / 2) / 24
        z = (statistic - n * (n + 1) / 4) / math.sqrt(variance)
        pvalue = min(1.0, 2 * float(ndtr(-abs(z))))
        method = f"Wilcoxon signed rank, asymptotic{dropped}"
    return Test("wilcoxon", method, statistic, pvalue, _sign(plus - minus), n)


def sign_test(d: npt.ArrayLike) -> Test:
    """Sign test: exact binomial on positive against negative differences, zeros dropped.

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
    d = numbers("d", d)
    positive, negative = int(np.sum(d > 0)), int(np.sum(d < 0))
    if len(d) < 2 or not positive + negative:
        return _nothing_to_test("sign", "sign test", d)
    pvalue = binomial_pvalue(positive, negative)
    return Test("sign", "sign test", float(positive), pvalue, _sign(positive - negative), positive + negative)


def sign_flip(d: npt.ArrayLike, *, seed: int = 0, resamples: int = 99_999) -> Test:
    """Sign-flip (randomization) test of the sum of the differences.

    Exact where the differences are whole numbers on a common scale with a small total, or where few are not zero; else over
    `resamples` random assignments of signs, p = (1 + b) / (1 + B).

    Parameters
    ----------
    d : (n,) array_like
        Differences, from `differences`.
    seed, resamples : int
        Of the random assignments.

    Raises
    ------
    ParameterError
        If a difference is NaN or infinite, the seed negative, or `resamples` less than 1.

    References
    ----------
    Fisher 1935; Phipson and Smyth 2010 for (1 + b) / (1 + B).

    Examples
    --------
    >>> test = sign_flip([3, 0, 5, -1, 2, 4])
    >>> test.method, round(test.pvalue, 6)
    ('sign-flip, exact', 0.125)
    """
    d = numbers("d", d)
    check_draws(seed, resamples)
    nonzero = d[d != 0]
    if len(d) < 2 or not len(nonzero):
        return _nothing_to_test("signflip", "sign-flip", d)
    total = float(nonzero.sum())
    direction = _sign(total) if abs(total) > 1e-12 * np.abs(nonzero).sum() else 0
    scaled = _as_whole_numbers(nonzero)
    if direction == 0:
        pvalue, how = 1.0, "exact"
    elif scaled is not None:
        pvalue, how = _exact_sign_flip(scaled), "exact"
    elif len(nonzero) <= MOST_ENUMERATED:
        pvalue, how = _enumerated_sign_flip(nonzero), "exact by enumeration"
    else:
        pvalue, how = _sampled_sign_flip(nonzero, seed, resamples), f"{resamples:,} random flips, seed {seed}"
    return Test("signflip", f"sign-flip, {how}", total, pvalue, direction, len(nonzero))


def rank_sum(x: npt.ArrayLike, y: npt.ArrayLike) -> Test:
    """Wilcoxon's rank sum test of two unpaired samples (`scipy.stats.mannwhitneyu`, asymptotic, without continuity correction).

    The direction is positive where `y` is the larger.

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
    method = "Wilcoxon rank sum, asymptotic"
    both = np.concatenate([x, y])
    if not len(x) or not len(y) or np.all(both == both[0]):
        return Test("ranksum", method, None, 1.0, 0, len(both), "all values are equal, or there are none")
    from scipy.special import ndtr

    n, pairs = len(both), len(x) * len(y)
    ranks, ties = average_ranks(both)
    statistic = float(ranks[len(x) :].sum()) - len(y) * (len(y) + 1) / 2
    variance = pairs / 12 * (n + 1 - float((ties**3 - ties).sum()) / (n * (n - 1)))
    pvalue = min(1.0, 2 * float(ndtr(-abs(statistic - pairs / 2) / math.sqrt(variance))))
    return Test("ranksum", method, statistic, pvalue, _sign(statistic - pairs / 2), n)


def paired_tests(d: npt.ArrayLike, *, seed: int = 0, resamples: int = 99_999) -> Mapping[str, Test]:
    """Every test on paired differences by name, t, wilcoxon, sign and signflip; each is run when it is first asked for.

    Raises
    ------
    ParameterError
        As the tests do, when one is asked for.

    Examples
    --------
    >>> {name: round(test.pvalue, 3) for name, test in paired_tests([3, 0, 5, -1, 2, 4]).items()}
    {'t': 0.071, 'wilcoxon': 0.08, 'sign': 0.375, 'signflip': 0.125}
    """
    flips = partial(sign_flip, d, seed=seed, resamples=resamples)
    return _WhenAsked(
        {"t": partial(t_test, d), "wilcoxon": partial(wilcoxon, d), "sign": partial(sign_test, d), "signflip": flips}
    )


class _WhenAsked(Mapping[str, Test]):
    """Tests that run when they are asked for: random flips take a hundred times as long as the others together."""

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


def _nothing_to_test(name: str, method: str, d: Floats) -> Test:
    if not len(d):
        note = "there is nothing to test"
    elif not d.any():
        note = "no difference is other than zero, so there is nothing to test"
    else:
        note = "there is a single difference, too little to test"
    direction = _sign(float(d.sum())) if len(d) else 0
    return Test(name, method, None, 1.0, direction, len(d), note)


def _sign(value: Any) -> int:
    return int(value > 0) - int(value < 0)


def _as_whole_numbers(d: Floats) -> npt.NDArray[np.int64] | None:
    """Scale the differences to whole numbers with a total that an exact distribution can be computed for, or return None."""
    scale = 1
    for size in np.unique(np.abs(d)).tolist():
        scale = math.lcm(scale, Fraction(size).limit_denominator(LARGEST_DENOMINATOR).denominator)
        if scale > LARGEST_EXACT_TOTAL:
            return None
    scaled = d * scale
    whole = np.rint(scaled)
    off = np.abs(scaled - whole) > 1e-9 * np.abs(scaled)
    if np.abs(whole).sum() > LARGEST_EXACT_TOTAL or np.any(off):
        return None
    numbers = whole.astype(np.int64)
    smallest: npt.NDArray[np.int64] = numbers // np.gcd.reduce(numbers)
    return smallest


def _exact_sign_flip(d: npt.NDArray[np.int64]) -> float:
    """Sum the distribution of a random-sign sum over its tails.

    The distribution is that of a sum of binomial numbers, found by convolution with the fast Fourier transform. Its absolute
    error of about 1e-16 would be useless for small tails; tilting it exponentially until the observed sum is its mean (Esscher
    1932) makes the relative error small: P(S >= s) = M(l) E_l[exp(-l S); S >= s].
    """
    sizes, counts = np.unique(np.abs(d), return_counts=True)
    total, observed = int((sizes * counts).sum()), abs(int(d.sum()))
    if observed == total:
        return 2.0 ** (1 - len(d))
    tilt = _tilt(sizes, counts, observed)
    density = _flipped_total(sizes, counts, tilt)
    flipped = np.arange((total - observed) // 2 + 1)  # S = total - 2 K, with K the sum of the flipped sizes
    sums = total - 2 * flipped
    log_moment = float((counts * (np.logaddexp(tilt * sizes, -tilt * sizes) - math.log(2))).sum())
    tail = float((np.maximum(density[flipped], 0.0) * np.exp(-tilt * (sums - observed))).sum())
    return min(1.0, 2 * tail * math.exp(log_moment - tilt * observed))


def _flipped_total(sizes: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], tilt: float) -> Floats:
    """Chances of 0, 1, 2, ... as the sum of the flipped sizes, under the tilted distribution."""
    from scipy.special import expit

    parts: list[tuple[int, int, Floats]] = []
    for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
        chances = np.zeros(size * count + 1)
        chances[::size] = binomial_chances(count, float(expit(-2 * tilt * size)))
        parts.append((len(chances), len(parts), chances))
    heapq.heapify(parts)
    while len(parts) > 1:  # shortest first: the work grows with the total, not with the number of distinct sizes
        merged = _convolved(heapq.heappop(parts)[2], heapq.heappop(parts)[2])
        heapq.heappush(parts, (len(merged), -len(parts), merged))
    return parts[0][2]


def _convolved(x: Floats, y: Floats) -> Floats:
    if min(len(x), len(y)) <= 64:
        return np.convolve(x, y)
    length = len(x) + len(y) - 1
    padded = 1 << (length - 1).bit_length()
    return np.fft.irfft(np.fft.rfft(x, padded) * np.fft.rfft(y, padded), padded)[:length]


def _tilt(sizes: npt.NDArray[np.int64], counts: npt.NDArray[np.int64], observed: int) -> float:
    def excess(tilt: float) -> float:
        return float((counts * sizes * np.tanh(tilt * sizes)).sum()) - observed

    high = 1.0
    while excess(high) < 0 and high < 64:
        high *= 2
    return root(excess, 0.0, high) if excess(high) > 0 else high


def _enumerated_sign_flip(d: Floats) -> float:
    sums = np.zeros(1)
    for size in d:
        sums = np.concatenate([sums + size, sums - size])
    bound = abs(float(d.sum()))
    return float(np.mean(np.abs(sums) >= bound - 1e-12 * np.abs(d).sum()))


def _sampled_sign_flip(d: Floats, seed: int, resamples: int) -> float:
    """Flip signs at random, all sums exact, so that the same seed gives the same p-value on every machine.

    The differences are rounded to 22 bits of the largest, so that their sums are whole numbers. Sums that reach the observed
    one but for that rounding count as reaching it, so that ties are kept and no p-value comes out too small. A random byte
    decides on eight signs at once: what it makes of its eight differences is looked up in a table of all 256 sums.
    """
    rng = np.random.default_rng(seed)
    sizes = np.rint(np.abs(d) * ((1 << 22) - 1) / np.abs(d).max()).astype(np.int64)
    observed, total = abs(int(np.sum(np.sign(d).astype(np.int64) * sizes))), int(sizes.sum())
    bound = observed - len(d)  # rounding moves a sum, and the observed one, by less than n / 2 each
    eights = np.pad(sizes, (0, -len(d) % 8)).reshape(-1, 8)
    tables = eights @ np.unpackbits(np.arange(256, dtype=np.uint8)[:, np.newaxis], axis=1).T.astype(np.int64)
    extreme, done = 0, 0
    batch = max(1, (1 << 23) // len(d))  # bounds the memory that the flips take
    while done < resamples:
        draws = min(batch, resamples - done)
        kept = np.zeros(draws, dtype=np.int64)
        flips = np.frombuffer(rng.bytes(draws * len(tables)), dtype=np.uint8).reshape(draws, -1)
        for table, byte in zip(tables, np.ascontiguousarray(flips.T), strict=True):
            kept += table[byte]
        extreme += int(np.sum(np.abs(2 * kept - total) >= bound))
        done += draws
    return (1 + extreme) / (1 + resamples)
