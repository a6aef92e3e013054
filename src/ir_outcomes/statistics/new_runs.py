"""What several runs of a system add to an interval, so that it holds for new runs of it, too.

The runs of a system are a sample of those that it could have, as the queries are of those that
could be asked. Their variance is what the means of the runs vary by beyond what the queries explain.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from ir_outcomes.statistics.counts import ROUNDING, Rows, differences, linearized_sums, special
from ir_outcomes.types import Bools, Floats, Ints, divided

LEAST_RUNS = 5  # of a system, from which on something honest can be said about a new one
MOST_TIMES = 1000  # as many runs, or queries, are planned for


def variance_of_runs(cells: Floats) -> float:
    """Return what runs add to the variance of the mean of (n_runs, n) cells, beyond what the queries, or clusters, explain.

    It is that of a two-way analysis of variance without replication, 0 where it would be negative.
    """
    n_runs, n = cells.shape
    mean = cells.mean()
    of_runs = cells.mean(axis=1, keepdims=True)
    means = ((of_runs - mean) ** 2).sum() / (n_runs * (n_runs - 1))
    residuals = cells - of_runs - cells.mean(axis=0) + mean
    degrees_of_freedom = max(n - 1, 1) * (n_runs - 1)
    explained = (residuals**2).sum() / (degrees_of_freedom * cells.size)
    return max(float(means - explained), 0.0)


class Side(NamedTuple):
    """One side of a comparison that has several runs."""

    n_runs: int
    between: float  # variance that the runs add to that of the queries

    @classmethod
    def of(cls, sums: Floats, sizes: Floats, clusters: Ints) -> Self:
        """Take sums and numbers of differences, (n_runs, n), and the cluster of each column."""
        code = np.unique(clusters, return_inverse=True)[1]
        of_clusters, n = (
            np.concatenate([np.bincount(code, own) for own in part], dtype=np.float64)
            for part in (sums, sizes)
        )
        cells = linearized_sums(of_clusters, n).reshape(len(sums), -1)
        return cls(len(sums), variance_of_runs(cells))


class Changes:
    """Values of a baseline and a contender, added up over the pairs of their runs, of which only one is held at a time."""

    def __init__(self, n_runs: tuple[int, int], n: int) -> None:
        self.n_runs = n_runs
        self.values = np.zeros((2, n))  # sums, of the baseline and of the contender
        self.bounds = np.array([math.inf, -math.inf])  # the smallest and the largest value
        self.number = np.zeros(n)  # of rows of each query: of pairs of runs that count
        self.differs = np.zeros(n, dtype=bool)  # whether one of them has a difference
        self._squares = 0.0
        # Differences, and how many there are, of each run and query: (2, n_runs, n) for each side.
        self._of_sides = [np.zeros((2, runs, n)) for runs in n_runs]

    def add(self, runs: tuple[int, int], values: Floats, counted: Bools) -> None:
        """Add the values of a pair of runs, (2, n), of which some count; the runs by their places."""
        own = values[:, counted]
        self.values[:, counted] += own
        self.bounds[0] = own.min(initial=self.bounds[0])
        self.bounds[1] = own.max(initial=self.bounds[1])
        self.number += counted
        change = np.zeros(len(counted))
        change[counted] = differences(*own)
        self.differs |= change != 0
        self._squares += float(change @ change)
        for run, of_side in zip(runs, self._of_sides, strict=True):
            of_side[0, run] += change
            of_side[1, run] += counted

    @property
    def counted(self) -> Bools:
        """Whether a query has a row."""
        return self.number > 0

    def rows(self, clusters: Ints | None) -> Ints | Rows | None:
        """Return what the sums of the queries that count are over; of one run on each side their clusters, if any."""
        counted = self.counted
        if self.n_runs == (1, 1):
            return None if clusters is None else clusters[counted]
        # The rows of a query are a cluster.
        own = np.arange(len(counted)) if clusters is None else clusters
        return Rows(own[counted], self.number[counted])

    def sides(self, clusters: Ints | None) -> tuple[Side, ...]:
        """Return the sides that have several runs; none where these say nothing about new ones."""
        rows = self.rows(clusters)
        if not isinstance(rows, Rows) or not len(rows.number):
            return ()
        sides = [
            Side.of(sums[:, self.counted], sizes[:, self.counted], rows.cluster)
            for sums, sizes in self._of_several()
        ]
        return tuple(sides) if min(side.n_runs for side in sides) >= LEAST_RUNS else ()

    def deviation(self) -> float | None:
        """Return the standard deviation of the differences of all rows; None for fewer than two."""
        n = self.number.sum()
        if n < 2:
            return None
        rest = self._squares - self._of_sides[0][0].sum() ** 2 / n
        if rest <= ROUNDING * self._squares:
            return 0.0
        return math.sqrt(rest / (n - 1))

    def means_of_runs(self) -> list[Floats]:
        """Return the mean difference of each run, (n_runs,) of each side that has several; NaN where it has no row."""
        found = []
        for sums, sizes in self._of_several():
            number = sizes.sum(axis=1)
            found.append(divided(sums.sum(axis=1), number, number > 0))
        return found

    def _of_several(self) -> list[Floats]:
        """Return what is known of each run and query, of the sides that have several runs."""
        return [own for own in self._of_sides if own.shape[1] > 1]


def added_by_runs(sides: Sequence[Side], level: float) -> float:
    """Return what the runs add to the square of half the width of an interval, each side by its own t."""
    # With one t quantile of few degrees of freedom for everything, the interval would be far too
    # wide where the runs hardly vary (benchmarks/replicates.py).
    return sum(float(_squared_quantile(side.n_runs, level)) * side.between for side in sides)


class Halved(NamedTuple):
    """What makes an interval for new runs half as wide: more runs, or more queries."""

    half: float  #: half of its width now
    #: of each system that has several, with the queries as they are; None where no number does
    runs: int | None
    queries: int | None  #: or clusters, with the runs as they are; None where no number does


def halved(half: float, n_queries: int, sides: Sequence[Side], level: float) -> Halved:
    """Find what halves the interval for new runs, from half of that for these runs."""
    of_queries = half**2
    of_runs = added_by_runs(sides, level)
    wanted = (of_queries + of_runs) / 4
    queries = None
    if wanted - of_runs > of_queries / MOST_TIMES:
        # Without the rounding, four times as many could become one more.
        queries = math.ceil(round(n_queries * of_queries / (wanted - of_runs), 6))
    numbers = np.arange(2, MOST_TIMES * max(side.n_runs for side in sides) + 1)
    times = sum(side.n_runs * side.between for side in sides) / numbers
    enough = numbers[of_queries + _squared_quantile(numbers, level) * times <= wanted]
    return Halved(math.sqrt(of_queries + of_runs), int(enough[0]) if len(enough) else None, queries)


def _squared_quantile(n_runs: int | Ints, level: float) -> Floats:
    """Return the square of the t quantile for each number of runs."""
    quantile: Floats = special.stdtrit(np.asarray(n_runs) - 1, (1 - level) / 2)
    return quantile**2


def half_with_runs(half: float, sides: Sequence[Side], level: float) -> float:
    """Return half the width of the interval for new runs, from that for these runs."""
    return math.hypot(half, math.sqrt(added_by_runs(sides, level)))
