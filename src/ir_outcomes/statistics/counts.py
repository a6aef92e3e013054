"""Samples of paired differences as counts of classes, the form in which every test takes them.

A test needs to know how often each difference occurs, not on which query. Values are put in classes
once; a sample, such as a random half of the queries, is then a column of counts, and one pass over
the columns tests thousands of samples.

Where queries come in clusters, such as the turns of a conversation, the sums of the clusters take
the place of the differences: flipping signs, ranking and counting clusters needs nothing else, and
t needs three more sums (`Moments`).

Here are also the checks that all arrays of numbers pass, and the orders of systems in resamples.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.types import Bools, Floats, Ints, divided

Members = npt.NDArray[Any]  # zeros and ones

FEW = 30
ROUNDING = 64 * float(np.finfo(np.float64).eps)
# 2.2e-308: smaller p-values are raised to it, so that none is 0.
SMALLEST_PVALUE = float(np.finfo(np.float64).tiny)
SLACK = 1e-12  # means of the same values, added in another order, differ by no more than this share of the largest


class _Special:
    """The functions of `scipy.special`, which is imported when the first of them is called: it takes as long as all else."""

    def __getattr__(self, name: str) -> Any:
        import scipy.special

        return getattr(scipy.special, name)


special = _Special()


def numbers(name: str, values: npt.ArrayLike) -> Floats:
    """Convert to a one-dimensional array of finite numbers; raise ParameterError for anything else."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 1:
        raise ParameterError(
            f"{name} has the shape {array.shape}: must be a list of numbers, one dimension"
        )
    if not np.isfinite(array).all():
        raise ParameterError(
            f"{name} holds NaN or an infinity: must be finite numbers; leave out what has no value"
        )
    return array


def paired(baseline: npt.ArrayLike, contender: npt.ArrayLike) -> tuple[Floats, Floats]:
    """Convert to two arrays of finite numbers of the same length."""
    x = numbers("baseline", baseline)
    y = numbers("contender", contender)
    if len(x) != len(y):
        raise ParameterError(
            f"baseline has {len(x)} values and contender {len(y)}: must be paired, one for one"
        )
    return x, y


def check_discordant(won: int, lost: int) -> None:
    """Refuse counts that are negative."""
    if won < 0 or lost < 0:
        raise ParameterError("must be counts, 0 or more", won=won, lost=lost)


class Rows(NamedTuple):
    """What values are sums over: given for clusters, where several rows of a cluster are added up already."""

    cluster: Ints  # of each value
    number: Floats  # of rows that it is the sum of


def number_of_rows(values: Floats, clusters: npt.ArrayLike | None) -> float:
    """Return how many rows some values are sums over."""
    return float(clusters.number.sum()) if isinstance(clusters, Rows) else len(values)


class Classes(NamedTuple):
    """Values as classes: ``distinct[code]`` are the values, `distinct` ascending."""

    code: Ints
    distinct: Floats


class Moments(NamedTuple):
    """What the mean over queries needs of clusters beside their sums S; n are their numbers of queries. (n_samples,) arrays."""

    queries: Floats  # sum of n
    products: Floats  # sum of S n
    squares: Floats  # sum of n^2
    effective: Floats  # (sum n^2)^2 / sum n^4 of clusters that differ

    @classmethod
    def of(cls, sums: Floats, sizes: Floats, subsets: Members) -> Self:
        """Add up clusters with these sums and sizes in each of some subsets, (n_clusters, n_subsets)."""
        differing = sizes**2 * (sums != 0)
        squares = differing @ subsets
        fourths = differing**2 @ subsets
        effective = divided(squares**2, fourths, fourths > 0, otherwise=0.0)
        return cls(sizes @ subsets, (sums * sizes) @ subsets, sizes**2 @ subsets, effective)


class Sums(NamedTuple):
    """What tests need to know of samples, apart from ranks; (n_samples,) arrays."""

    n: Floats  # number of differences
    n_zero: Floats
    n_positive: Floats
    up: Floats  # sum of the positive differences
    down: Floats  # sum of the sizes of the negative ones
    squares: Floats  # sum of the squares of all


@dataclass(frozen=True, eq=False)
class Differences:
    """Samples of paired differences, or of their sums by cluster, counted by class.

    `sizes` (n_classes,) are their absolute values, ascending from 0; `positive` (zeros included)
    and `negative` (n_classes, n_samples) say how often each size occurs with each sign; `moments`
    are those of clusters. What several tests need is added up once.
    """

    sizes: Floats
    positive: Floats
    negative: Floats
    moments: Moments | None = None

    @classmethod
    def of_counts(cls, sizes: Floats, counts: Floats, moments: Moments | None = None) -> Self:
        """Take counts in which the negative ones follow all others, (2 n_classes, n_samples)."""
        positive, negative = np.split(counts.astype(np.float64), 2)
        return cls(sizes, positive, negative, moments)

    @cached_property
    def both(self) -> Floats:
        """(n_classes, n_samples): how often each size occurs."""
        return self.positive + self.negative

    @cached_property
    def sums(self) -> Sums:
        """What tests need to know of each sample, apart from ranks."""
        return Sums(
            n=added(self.both),
            n_zero=self.both[0],
            n_positive=added(self.positive[1:]),
            up=self.sizes @ self.positive,
            down=self.sizes @ self.negative,
            squares=self.sizes**2 @ self.both,
        )

    @property
    def n(self) -> Floats:
        """Number of differences (clusters) in each sample."""
        return self.sums.n

    @property
    def n_positive(self) -> Floats:
        """Number of those above zero."""
        return self.sums.n_positive

    @property
    def squares(self) -> Floats:
        """Sum of the squares of the differences of each sample."""
        return self.sums.squares

    @cached_property
    def n_nonzero(self) -> Floats:
        """Number of differences (clusters) that are not zero in each sample."""
        return self.sums.n - self.sums.n_zero

    @property
    def few(self) -> Bools:
        """Whether so few differences are not zero that the sign-flip test takes the place of t; see `mean_test`."""
        return (self.n_nonzero if self.moments is None else self.moments.effective) < FEW

    @property
    def scale(self) -> Floats:
        """What the rounding of sums is in proportion to."""
        return self.sums.up + self.sums.down

    @cached_property
    def totals(self) -> Floats:
        """Sum of the differences of each sample; exactly 0 where it is 0 except for rounding."""
        total = self.sums.up - self.sums.down
        return np.where(np.abs(total) > 1e-12 * self.scale, total, 0.0)

    @cached_property
    def smaller(self) -> Floats:
        """Number of pairs of a positive difference and a smaller one of either sign that is not zero; equal ones count half."""
        pairs: Floats = np.einsum("ij,ij->j", self.positive[1:], below(self.both[1:]))
        return pairs

    def at(self, samples: Ints | Bools) -> "Differences":
        """Take some of the samples."""
        moments = (
            None if self.moments is None else Moments(*(sums[samples] for sums in self.moments))
        )
        return Differences(
            self.sizes, self.positive[:, samples], self.negative[:, samples], moments
        )

    def values(self, sample: int) -> Floats:
        """List the differences of a sample."""
        positive, negative = (
            counts[:, sample].astype(np.int64) for counts in (self.positive, self.negative)
        )
        return np.concatenate([np.repeat(self.sizes, positive), np.repeat(-self.sizes, negative)])


def differences(baseline: npt.ArrayLike, contender: npt.ArrayLike) -> Floats:
    """Subtract pairwise; differences that are equal except for rounding become equal.

    1/2 - 1/3 and 1/3 - 1/6 are tied, although floating point puts them 3e-17 apart; rank tests
    would take them for different.

    Returns
    -------
    (n,) float array
        Contender minus baseline.

    Raises
    ------
    ParameterError
        If the two differ in length, or a value is NaN or infinite, as in all functions of this
        package.

    Examples
    --------
    >>> d = differences([1/3, 1/6, 0.1 + 0.2], [1/2, 1/3, 0.3])
    >>> bool(d[0] == d[1]), float(d[2])
    (True, 0.0)
    """
    x, y = paired(baseline, contender)
    largest = max(np.abs(values).max(initial=0.0) for values in (x, y))
    return _tied(y - x, largest)


def _tied(values: Floats, scale: float) -> Floats:
    """Make values equal whose sizes differ by no more than the rounding of numbers of this scale."""
    sizes = np.abs(values)
    order = np.argsort(sizes, kind="stable")
    # The class of zero exists even if no value is exactly 0.
    ordered = np.concatenate([[0.0], sizes[order]])
    starts = np.diff(ordered, prepend=0.0) > ROUNDING * scale
    starts[0] = True
    merged = np.empty_like(values)
    merged[order] = ordered[starts][np.cumsum(starts) - 1][1:]
    return np.copysign(merged, values) + 0.0


def linearized(d: npt.ArrayLike, clusters: npt.ArrayLike | None) -> Floats:
    """Convert differences of queries to one value for each cluster, with the same mean; without clusters return them.

    The ordinary t test, t interval and standard deviation of these values are the cluster-robust
    ones of the mean over queries: ``d + (S_g - n_g d) G / N`` with d the mean, S_g the sum and n_g
    the number of the cluster's differences, G clusters and N queries. Clusters of equal size have
    their means.

    Parameters
    ----------
    d, clusters : (n,) array_like
        Differences, or other values, by query, and the cluster of each.

    References
    ----------
    Liang and Zeger 1986. The same as ordinary least squares on a constant with clustered errors
    (statsmodels ``cov_type="cluster"``, whose small-sample factor G / (G - 1) (N - 1) / (N - k) is
    G / (G - 1) for one coefficient).

    Examples
    --------
    >>> linearized([1, 3, 2, 0, 0], [0, 0, 1, 1, 1]).round(3).tolist()
    [1.84, 0.56]
    """
    values = numbers("d", d)
    if clusters is None or not len(values):
        return values
    return linearized_sums(*sums_by_cluster(values, clusters))


def linearized_sums(sums: Floats, sizes: Floats) -> Floats:
    """Do the same with the sum and the number of the differences of each cluster."""
    total = float(sizes.sum())
    mean = float(sums.sum()) / total
    residuals = sums - sizes * mean
    # Equal differences have no variance.
    residuals[np.abs(residuals) <= ROUNDING * np.abs(sums)] = 0.0
    return mean + residuals * len(sums) / total


def design_effect(d: npt.ArrayLike, clusters: npt.ArrayLike) -> float | None:
    """Compute how many times the variance of a mean is larger because queries come in clusters.

    n queries are as good as ``n / design_effect`` independent ones. None for fewer than two
    clusters and for equal differences. For the parameters see `linearized`.

    References
    ----------
    Kish 1965, "Survey Sampling".

    Examples
    --------
    >>> round(design_effect([1, 1, 2, 2, 5, 5], [0, 0, 1, 1, 2, 2]), 2)
    2.5
    """
    values = numbers("d", d)
    of_clusters = linearized(values, clusters)
    if len(of_clusters) < 2 or np.all(values == values[0]):
        return None
    squared_error = values.var(ddof=1) / len(values)
    squared_error_of_clusters = of_clusters.var(ddof=1) / len(of_clusters)
    return float(squared_error_of_clusters / squared_error)


def sums_by_cluster(
    values: Floats, clusters: npt.ArrayLike, counted: Bools | Floats | None = None
) -> tuple[Floats, Floats]:
    """Return the sum of each cluster, equal ones tied, and its number of (counted) queries."""
    if isinstance(clusters, Rows):
        clusters, counted = clusters
    clusters = np.asarray(clusters)
    if clusters.shape != values.shape:
        raise ParameterError(
            f"clusters has the shape {clusters.shape}: must have one for each of {len(values)}"
            " values"
        )
    code = np.unique(clusters, return_inverse=True)[1]
    sums, sizes = (
        np.bincount(code, weights=weights).astype(np.float64) for weights in (values, counted)
    )
    # Sums of fractions come in the order of the queries, and 1/2 + 1/3 + 1/6 is then not always 1.
    return _tied(sums, float(np.bincount(code, weights=np.abs(values)).max())), sizes


def tally(d: npt.ArrayLike, clusters: npt.ArrayLike | None = None) -> Differences:
    """Count one sample of differences, or its cluster sums."""
    values = numbers("d", d)
    moments = None
    if clusters is not None and len(values):
        values, n = sums_by_cluster(values, clusters)
        moments = Moments.of(values, n, np.ones((len(n), 1)))
    # Sorted as whole numbers: the bits of a size have the order of the size, and one more bit holds
    # the sign. That is several times faster than to sort the places of the sizes, which np.unique
    # does to count positive and negative ones apart.
    sizes = np.abs(values).view(np.uint64)
    keys = np.sort((sizes << np.uint64(1)) | (values < 0))
    # The class of zero exists even if no difference is 0.
    keys = np.concatenate([np.zeros(1, dtype=np.uint64), keys])
    bits = keys >> np.uint64(1)
    starts = np.flatnonzero(np.concatenate([[True], bits[1:] != bits[:-1]]))
    negative = np.add.reduceat(keys & np.uint64(1), starts).astype(np.float64)
    positive = np.concatenate([starts[1:], [len(keys)]]) - starts - negative
    positive[0] -= 1
    return Differences(bits[starts].view(np.float64), positive[:, None], negative[:, None], moments)


def tally_subsets(
    change: Floats, counted: Bools, subsets: Members, clusters: Ints | None = None
) -> Differences:
    """Count the differences of the counted queries in each of some subsets, (n_queries, n_subsets), or their cluster sums.

    The subsets are unions of clusters.
    """
    values = np.zeros(len(counted))
    moments = None
    values[counted] = change
    if clusters is not None:
        # All queries of a cluster are in the same subsets.
        subsets = subsets[np.unique(clusters, return_index=True)[1]]
        values, n = sums_by_cluster(values, clusters, counted)
        counted = n > 0
        moments = Moments.of(values, n, subsets.astype(np.float64))
    sizes = classes(np.abs(values))
    code = np.where(counted, sizes.code + len(sizes.distinct) * (values < 0), -1)
    return Differences.of_counts(
        sizes.distinct, count(code, 2 * len(sizes.distinct), subsets), moments
    )


def classes(values: npt.ArrayLike) -> Classes:
    """Put values in classes; zero is always a class, and the first one where no value is negative."""
    distinct, code = np.unique(
        np.append(np.asarray(values, dtype=np.float64), 0.0), return_inverse=True
    )
    return Classes(code[:-1].astype(np.int64), distinct)


def membership(subsets: Ints, n: int) -> Members:
    """Convert (n_subsets, m) lists of queries to (n, n_subsets) columns of zeros and ones."""
    # 16 bits take a third of the time of 64.
    dtype: type = np.int64
    if n < 1 << 15:
        dtype = np.int16
    members: Members = np.zeros((n, len(subsets)), dtype=dtype)
    members[subsets, np.arange(len(subsets))[:, None]] = 1
    return members


def times_drawn(rng: np.random.Generator, resamples: int, n: int) -> Floats:
    """Draw n of n with replacement, `resamples` times; return how often each was drawn, (resamples, n)."""
    drawn = rng.integers(0, n, (resamples, n)) + n * np.arange(resamples)[:, None]
    return (
        np.bincount(drawn.ravel(), minlength=resamples * n).reshape(resamples, n).astype(np.float64)
    )


def count(code: Ints, n_classes: int, members: Members) -> Members:
    """Count the classes (-1: none) of the queries of each subset, (n_classes, n_subsets); in the type of the members."""
    from scipy.sparse import csc_matrix

    is_counted = code >= 0
    ones = np.ones(int(is_counted.sum()), dtype=members.dtype)
    # A column for each query, which has a one at its class.
    ends = np.append(0, np.cumsum(is_counted))
    columns = csc_matrix((ones, code[is_counted], ends), shape=(n_classes, len(code)))
    counts: Members = columns @ members
    return counts


def added(counts: Floats) -> Floats:
    """(n_samples,) sums of the counts of all classes; a product takes half the time of `sum`."""
    total: Floats = np.ones(len(counts)) @ counts
    return total


def below(counts: Floats) -> Floats:
    """(n_classes, n_samples): how many are in lower classes, and half of those in the same one; exact."""
    # Whole numbers of 32 bits are added up in two thirds of the time.
    up_to = np.cumsum(counts.astype(np.int32), axis=0, dtype=np.int32)
    numbers: Floats = up_to - counts / 2
    return numbers


def medians(distinct: Floats, counts: Floats) -> Floats:
    """Median of each subset, given how often it has each of the values; NaN for an empty one."""
    upto = np.cumsum(counts, axis=0)
    n = upto[-1]
    middle = ((n - 1) // 2, n // 2)
    ends = [(upto <= place).sum(axis=0) for place in middle]
    low, high = (distinct[np.minimum(end, len(distinct) - 1)] for end in ends)
    return np.where(n > 0, (low + high) / 2, np.nan)


def shared_ranks(gains: npt.ArrayLike) -> Ints:
    """Ranks from 1 of (n_samples, n_systems) means, the highest first; those equal except for rounding share the smaller.

    Undefined means, NaN, are last.
    """
    means = np.asarray(gains, dtype=np.float64)
    means = np.where(np.isnan(means), -np.inf, means)
    order = np.argsort(-means, axis=1, kind="stable")
    ordered = np.take_along_axis(means, order, axis=1)
    slack = SLACK * np.abs(np.where(np.isfinite(means), means, 0.0)).max(
        axis=1, keepdims=True, initial=0.0
    )
    with np.errstate(invalid="ignore"):  # -inf less -inf: equal, and not larger
        falls = ordered[:, :-1] - ordered[:, 1:] > slack
    places = np.broadcast_to(np.arange(2, means.shape[1] + 1), falls.shape)
    ranks = np.ones(means.shape, dtype=np.int64)
    ranks[:, 1:] = np.maximum.accumulate(np.where(falls, places, 1), axis=1)
    result = np.empty_like(ranks)
    np.put_along_axis(result, order, ranks, axis=1)
    return result


def kendall_taus(values: npt.ArrayLike, samples: npt.ArrayLike) -> Floats:
    """Kendall's tau-b of (n_systems,) values with each of (n_samples, n_systems) samples; NaN where all systems tie."""
    # Kendall 1945, "The treatment of ties in ranking problems"; `scipy.stats.kendalltau` takes one
    # pair of orders per call.
    x = np.asarray(values, dtype=np.float64)
    y = np.asarray(samples, dtype=np.float64)
    concordant = np.zeros(len(y))
    untied = np.zeros(len(y))
    untied_in_values = 0.0
    for system in range(len(x) - 1):  # a system against all later ones
        signs = np.sign(x[system] - x[system + 1 :])
        sample_signs = np.sign(y[:, system, None] - y[:, system + 1 :])
        concordant += sample_signs @ signs
        untied += np.abs(sample_signs).sum(axis=1)
        untied_in_values += np.abs(signs).sum()
    spread = np.sqrt(untied * untied_in_values)
    return divided(concordant, spread, spread > 0)
