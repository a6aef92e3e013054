"""Confidence intervals and effect sizes of paired comparisons."""

import math
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.counts import (
    ROUNDING,
    Rows,
    check_discordant,
    linearized,
    linearized_sums,
    numbers,
    paired,
    special,
    sums_by_cluster,
)
from ir_outcomes.statistics.new_runs import Side, half_with_runs
from ir_outcomes.types import Floats, check_number


class Interval(NamedTuple):
    """A two-sided confidence interval."""

    low: float
    high: float

    def within(self, smallest: float, largest: float) -> "Interval":
        """Cut the interval at the smallest and the largest possible value."""
        return Interval(max(smallest, self.low), min(largest, self.high))


HarmStatus = Literal["harm excluded", "inconclusive", "harm shown"]


def mean_interval(
    d: npt.ArrayLike,
    level: float,
    largest: float | None = None,
    clusters: npt.ArrayLike | None = None,
    sides: Sequence[Side] = (),
) -> Interval | None:
    """Compute the t interval of the mean of paired differences, with degrees of freedom corrected for heavy tails.

    Where none of n queries differs it is ``-+ largest (1 - (alpha / 2)^(1 / n))``, alpha = 1 -
    level: were a larger share of all queries to differ, one of n would with a chance above 1 -
    alpha / 2.

    Parameters
    ----------
    d : (n,) array_like
        Differences, from `differences`; the interval is in their unit.
    level : float
        Confidence level, two-sided, such as 0.95.
    largest : float, optional
        Largest possible size of a difference, at which the interval is cut: k - 1 for ranks up to
        k, and 0 for a run against itself.
    clusters : (n,) array_like of int, optional
        Cluster of each: the variance is then that of `linearized` values, and n the number of
        clusters.
    sides : sequence of Side
        The sides of the comparison that have several runs, where the interval is to hold for new
        runs, too: it is wider by what the runs vary.

    Returns
    -------
    Interval or None
        ``[d, d]`` where all differences are equal and not 0; None for fewer than two, and where all
        are 0 and `largest` is not known.

    References
    ----------
    Student 1908, with the relative variance of a variance as O'Neill 2014 has it, matched as by
    Satterthwaite 1946; Clopper and Pearson 1934 for no difference in n queries.

    Examples
    --------
    >>> [round(bound, 3) for bound in mean_interval([3, 0, 5, -1, 2, 4], 0.95)]
    [-0.264, 4.598]
    """
    # Differences of search lengths are mostly 0 with a long tail, and the standard deviation of few
    # of them is often far too small. Drawn from real pairs of runs (benchmarks/simulate_errors.py),
    # 95 % intervals cover the mean in 91.0, 92.2 and 95.3 % of the samples of 20, 50 and 200
    # queries; the plain t interval covers 87.8, 90.4 and 94.0 %, BCa 82, 87 and 93 %.
    check_number("level", level)
    changes = numbers("d", d)
    values = linearized(changes, clusters)
    n = len(values)
    if not changes.any():
        if not n or largest is None:
            return None
        bound = largest * -math.expm1(math.log((1 - level) / 2) / n)
        return Interval(0.0 - bound, bound)
    if n < 2:
        return None
    # Rounding would leave equal values a mean and a variance that are slightly off.
    mean = float(values[0])
    half = 0.0
    if np.any(values != values[0]):
        mean = float(values.mean())
        half = t_half(float(values.std(ddof=1)) / math.sqrt(n), effective_df(values), level)
    half = half_with_runs(half, sides, level)
    interval = Interval(mean - half, mean + half)
    return interval if largest is None else interval.within(-largest, largest)


def t_half(error: float, df: float, level: float) -> float:
    """Half the width of the interval by t of a mean with this standard error."""
    # The lower quantile: 1 - tail would lose the digits of a small tail.
    return -float(special.stdtrit(df, (1 - level) / 2)) * error


def t_interval(mean: float, error: float, df: float, level: float) -> Interval:
    """Interval by t of a mean with this standard error."""
    half = t_half(error, df, level)
    return Interval(mean - half, mean + half)


def effective_df(d: npt.ArrayLike) -> float:
    """Degrees of freedom of a chi-square that varies, relative to its mean, as much as the variance of the differences does."""
    # The variance of n values has relative variance g / n + 2 / (n - 1), g their excess kurtosis,
    # bias-corrected, at least 0.
    d = numbers("d", d)
    n = len(d)
    if n < 4 or np.all(d == d[0]):
        return float(max(n - 1, 0))
    return df_of_kurtosis(excess_kurtosis(d), n)


def excess_kurtosis(d: Floats) -> float:
    """Excess kurtosis of values that are not all equal, from their moments."""
    scaled = d / np.abs(d).max()  # fourth powers of large differences would overflow
    squares = (scaled - scaled.mean()) ** 2
    return float((squares**2).mean() / squares.mean() ** 2) - 3


def df_of_kurtosis(kurtosis: float, n: float) -> float:
    """Return the effective degrees of freedom of four values or more."""
    factor = (n - 1) / ((n - 2) * (n - 3))
    corrected = factor * ((n + 1) * kurtosis + 6)
    return (n - 1) / (1 + max(0.0, corrected) * (n - 1) / (2 * n))


def bounded_mean_interval(
    values: npt.ArrayLike,
    level: float,
    bounds: tuple[float, float] = (0.0, 1.0),
    clusters: npt.ArrayLike | None = None,
) -> Interval | None:
    """Compute the interval of the mean of values that cannot leave some bounds; it stays inside them.

    Wilson's interval of a share, with t for the normal quantile, and with the number of values
    replaced by the effective number ``n b / (variance + b / n)``. Here b = mean (1 - mean) is the
    largest variance that values in these bounds can have; it counts like one more value, because a
    few values near a bound often vary less than all do. It has a width even where all values are
    equal; None for no values.

    Parameters
    ----------
    values : (n,) array_like
        Such as the reciprocal ranks of a run.
    level, clusters
        See `mean_interval`.
    bounds : pair of float
        Smallest and largest possible value; a value outside is a `ParameterError`.

    References
    ----------
    Wilson 1927; Korn and Graubard 1998 for the effective number.

    Examples
    --------
    >>> [round(bound, 3) for bound in bounded_mean_interval([1, 1, 1, 0.5, 1, 1, 1, 1, 1, 1], 0.95)]
    [0.702, 0.994]
    """
    # Drawn from the scores of 32 runs (benchmarks/simulate_errors.py), 95 % intervals cover 99, 99
    # and 97 % at 20, 50 and 200 queries where the mean is within 0.1 of a bound (the t interval 89,
    # 94 and 95 %), and 96.6, 95.8 and 95.2 % elsewhere.
    check_number("level", level)
    smallest, largest = bounds
    if not smallest < largest:
        raise ParameterError("must be the smallest and the largest possible value", bounds=bounds)
    shares = (numbers("values", values) - smallest) / (largest - smallest)
    if (shares < 0).any() or (shares > 1).any():
        raise ParameterError(
            f"values has one outside {smallest:g} to {largest:g}, its smallest and largest possible"
            " value"
        )
    if not len(shares):
        return None
    mean = float(shares.mean())
    values = linearized(shares, clusters)
    n = len(values)
    most = mean * (1 - mean)
    effective = n * most / (float(values.var()) + most / n) if most > 0 else n
    squared = float(special.stdtrit(max(n - 1, 1), (1 - level) / 2)) ** 2 / effective
    center = mean + squared / 2
    half = math.sqrt(squared * (most + squared / 4))
    # The ends are inside the bounds by construction, and may leave them by a rounding error.
    low = max(0.0, (center - half) / (1 + squared))
    high = min(1.0, (center + half) / (1 + squared))
    return Interval(smallest + low * (largest - smallest), smallest + high * (largest - smallest))


def coverage_interval(
    d: npt.ArrayLike,
    step: float,
    level: float,
    clusters: npt.ArrayLike | None = None,
) -> Interval | None:
    """Compute the adjusted Wald interval of a mean difference of shares found; with clusters, `mean_interval`.

    Parameters
    ----------
    d : (n,) array_like
        Per query, the difference of the shares of its relevant items that two runs found, between
        -1 and 1.
    step : float
        Mean over the queries of the smallest possible difference, 1 / (relevant items of the
        query); 1 where each query has one. It depends on what is possible, not on the values seen,
        so the interval does not jump when one item moves.
    level, clusters
        See `mean_interval`.

    Returns
    -------
    Interval or None
        Within -1 and 1; it has a width even where no query differs. None for no queries.

    References
    ----------
    Bonett and Price 2012, "Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data", which this equals at ``step=1``. For other steps: with W = n
    + 2 step the centre is sum(d) / W and the variance ``((sum(d^2) + 2 step^2) / W - centre^2) (1 +
    (1 - step) / (n - 1)) / W``; t with ``(n - 1) / (1 - step)`` degrees of freedom.

    Examples
    --------
    >>> [round(bound, 4) for bound in coverage_interval([1] * 28 + [-1] * 5 + [0] * 967, 1.0, 0.95)]
    [0.0115, 0.0344]
    """
    # On resampled real pairs (benchmarks/simulate_errors.py) 95 % intervals cover 95.2, 94.6 and
    # 94.6 % at 20, 50 and 200 queries in the document unit. In the query unit they cover 99.7, 99.1
    # and 97.4 %, because few queries are discordant.
    d = numbers("d", d)
    check_number("level", level)
    if not isinstance(clusters, Rows) and (np.abs(d) > 1).any():
        raise ParameterError("d has differences beyond -1 and 1: must be differences of shares")
    if not 0 < step <= 1:
        raise ParameterError("must be above 0 and at most 1", step=step)
    n = len(d)
    if clusters is not None:
        return mean_interval(d, level, 1.0, clusters)
    if n == 0 or (n == 1 and step < 1):
        return None
    center, variance = adjusted_wald(d.sum(), d @ d, n, step)
    tail = (1 - level) / 2
    quantile = special.ndtri(tail)
    if step < 1:
        quantile = special.stdtrit((n - 1) / (1 - step), tail)
    half = -float(quantile) * math.sqrt(variance)
    return Interval(float(center) - half, float(center) + half).within(-1.0, 1.0)


def odds_ratio(won: int, lost: int) -> float | None:
    """Odds of won to lost; None where nothing was lost."""
    check_discordant(won, lost)
    return won / lost if lost else None


def ratio_of_means(baseline: npt.ArrayLike, contender: npt.ArrayLike) -> float | None:
    """Mean of the contender as a multiple of that of the baseline; None where there is none, or that of the baseline is 0."""
    x, y = on_ratio_scale(baseline, contender)
    return float(y.mean() / x.mean()) if x.any() else None


def ratio_interval(
    baseline: npt.ArrayLike,
    contender: npt.ArrayLike,
    level: float,
    clusters: npt.ArrayLike | None = None,
    largest: float = math.inf,
) -> Interval | None:
    """Compute the interval of the ratio of two paired means, contender as a multiple of the baseline, on a ratio scale.

    The t interval of the logarithm of the ratio, with the jackknife's variance and the degrees of
    freedom that `mean_interval` has, of the jackknife's values. Swapping the two gives the
    reciprocal interval. None for fewer than two pairs, and where the mean of all pairs or of all
    but one is 0; without width where all pairs have the same ratio.

    Parameters
    ----------
    baseline, contender : (n,) array_like
        Paired values, 0 or more, such as search lengths.
    level, clusters
        See `mean_interval`.
    largest : float
        Largest possible ratio, and the inverse of the smallest, at which the interval is cut: k for
        ranks up to k.

    References
    ----------
    Efron and Stein 1981 for the jackknife; Hedges, Gurevitch and Curtis 1999 for the logarithm of
    the ratio.

    Examples
    --------
    >>> [round(bound, 3) for bound in ratio_interval([2, 4, 6, 1, 1], [1, 2, 6, 1, 1], 0.95)]
    [0.324, 1.907]
    """
    check_number("level", level)
    x, y = on_ratio_scale(baseline, contender)
    # The ratio of the means is that of the sums, cluster by cluster.
    if clusters is not None and len(x):
        x, _ = sums_by_cluster(x, clusters)
        y, _ = sums_by_cluster(y, clusters)
    values = log_ratio_values(x, y)
    if values is None:
        return None
    log = math.log(float(y.sum() / x.sum()))
    if not values.any():
        return Interval(math.exp(log), math.exp(log))
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    possible = math.log(largest)
    low, high = t_interval(log, error, effective_df(values), level).within(-possible, possible)
    # exp and log do not cancel out exactly.
    return Interval(math.exp(low), math.exp(high)).within(1 / largest, largest)


def log_ratio_values(baseline: Floats, contender: Floats) -> Floats | None:
    """Return how far the logarithm of the ratio of means moves without each pair, times the number of the others, (n,).

    The variance of the logarithm is that of the mean of these values, which are centered
    pseudo-values of the jackknife; 0 where all pairs have one ratio. None where it is not defined
    without some pair.
    """
    # Skewed search lengths make the delta method's variance too small
    # (benchmarks/simulate_errors.py).
    n = len(baseline)
    left_x = baseline.sum() - baseline
    left_y = contender.sum() - contender
    if n < 2 or not (left_x > 0).all() or not (left_y > 0).all():
        return None
    x = baseline / baseline.mean()
    y = contender / contender.mean()
    if not (np.abs(y - x) > ROUNDING * np.maximum(x, y)).any():
        return np.zeros(n)
    without = np.log(left_y / left_x)
    return np.asarray((n - 1) * (without.mean() - without))


def on_ratio_scale(baseline: npt.ArrayLike, contender: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Paired values as arrays; raise ParameterError where one is negative."""
    x, y = paired(baseline, contender)
    if (x < 0).any() or (y < 0).any():
        raise ParameterError(
            "baseline or contender has negative values: a ratio of means needs a scale that starts"
            " at 0"
        )
    return x, y


def adjusted_wald(total: Any, squares: Any, n: int, step: float) -> tuple[Any, Any]:
    """Centre and variance of `coverage_interval`, from the sum of n differences and the sum of their squares; arrays or not."""
    weight = n + 2 * step
    center = total / weight
    variance = np.maximum((squares + 2 * step**2) / weight - center**2, 0.0) / weight
    if step != 1:
        variance = variance * (1 + (1 - step) / (n - 1))
    return center, variance


def margin_interval(
    d: npt.ArrayLike,
    largest: float,
    level: float,
    clusters: npt.ArrayLike | None = None,
    sides: Sequence[Side] = (),
) -> Interval | None:
    """Compute the interval of a mean difference that excludes harm, also where the worst queries were not drawn.

    The t interval, with degrees of freedom corrected for heavy tails, of the differences and of two
    imaginary queries: one that gains the most that is possible and one that loses it.

    Parameters
    ----------
    d : (n,) array_like
        Differences, from `differences`.
    largest : float
        Largest possible size of a difference: k - 1 for ranks up to k, 1 for shares.
    level, clusters, sides
        See `mean_interval`. With clusters two clusters of mean size are imagined, all of whose
        queries change by `largest`.

    Returns
    -------
    Interval or None
        Within -largest and largest; it has a width even where no query differs. None for no
        differences.

    References
    ----------
    The idea is that of the adjusted Wald interval (Agresti and Caffo 2000; Bonett and Price 2012):
    to add what could have been seen. `benchmarks/gate.py` measures how often it excludes harm that
    is as large as the margin.

    Examples
    --------
    >>> [round(bound, 2) for bound in margin_interval([0] * 43, 100, 0.95)]
    [-9.07, 9.07]
    >>> [round(bound, 2) for bound in margin_interval([0] * 1000, 100, 0.95)]
    [-0.39, 0.39]
    """
    # Plain t intervals of few queries exclude harm as large as the margin in up to 53 % of the
    # samples of real pairs, and in 76 % where a rare query loses all ranks, which most samples do
    # not hold. A smaller imaginary change does not help there.
    check_number("level", level)
    changes = numbers("d", d)
    if not len(changes):
        return None
    values = with_imaginary(changes, largest, clusters)
    n = len(values)
    if not values.any():
        return Interval(0.0, 0.0)  # nothing can change
    mean = float(values.mean())
    half = t_half(float(values.std(ddof=1)) / math.sqrt(n), effective_df(values), level)
    half = half_with_runs(half, sides, level)
    return Interval(mean - half, mean + half).within(-largest, largest)


def with_imaginary(d: Floats, largest: float, clusters: npt.ArrayLike | None = None) -> Floats:
    """Append two imaginary queries, or clusters of mean size, to (n,) differences, linearized: the values of the interval."""
    imaginary = np.array([largest, -largest])
    if clusters is None:
        return np.concatenate([d, imaginary])
    sums, sizes = sums_by_cluster(d, clusters)
    mean_size = float(sizes.mean())
    sums = np.concatenate([sums, mean_size * imaginary])
    sizes = np.concatenate([sizes, [mean_size, mean_size]])
    return linearized_sums(sums, sizes)


def harm(interval: Interval | None, margin: float, *, higher_is_better: bool) -> HarmStatus:
    """Where the harmful side of an interval of differences is, inside or beyond a positive margin (Schuirmann 1987)."""
    if interval is None:
        return "inconclusive"
    least, most = interval
    if higher_is_better:
        least = -interval.high
        most = -interval.low
    if most < margin:
        return "harm excluded"
    return "harm shown" if least > margin else "inconclusive"


def equivalent(interval: Interval | None, margin: float) -> bool:
    """Whether both sides of an interval stay inside a margin (two one-sided tests)."""
    return interval is not None and -margin < interval.low and interval.high < margin


def root(
    function: Callable[[float], float], low: float, high: float, tolerance: float = 0.0
) -> float:
    """Find where a function changes sign from low to high, by bisection, to within the tolerance or the last bit."""
    sign = function(low) > 0
    while high - low > tolerance and low < (middle := (low + high) / 2) < high:
        if (function(middle) > 0) == sign:
            low = middle
        else:
            high = middle
    return (low + high) / 2
