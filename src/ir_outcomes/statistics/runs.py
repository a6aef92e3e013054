"""Systems of several runs: their differences, and an interval for new runs of them.

The runs of a system are a sample of those that it could have, as the queries are of those that
could be asked. Their variance is what the means of the runs vary by beyond what the units (queries,
or clusters of them) explain: a two-way analysis of variance of units and runs.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ir_outcomes.statistics.counts import special
from ir_outcomes.statistics.intervals import Interval
from ir_outcomes.types import Floats, Ints, divided

LEAST_RUNS = 5  # of each system that has several, from which on new ones can be spoken of


class Table(NamedTuple):
    """Sums and numbers of the differences of each run of a system and each query, (n_runs, n)."""

    sums: Floats
    sizes: Floats

    @property
    def means(self) -> Floats:
        """Mean difference of each run, (n_runs,), NaN where it has none."""
        sizes = self.sizes.sum(axis=1)
        return divided(self.sums.sum(axis=1), sizes, sizes > 0)


class Differences:
    """Differences of two systems, added up over the pairs of their runs, one pair at a time.

    Parameters
    ----------
    n_runs : pair of int
        Of the baseline and of the contender.
    n : int
        Queries.
    """

    def __init__(self, n_runs: tuple[int, int], n: int) -> None:
        self.tables = tuple(Table(*np.zeros((2, number, n))) for number in n_runs)
        self.sizes_of_terms = np.zeros(n)  # sums of the absolute values that are subtracted

    def add(self, runs: tuple[int, int], baseline: Floats, contender: Floats) -> None:
        """Add the (n,) values of a pair of runs, NaN where one of the two has none."""
        difference = contender - baseline
        counted = ~np.isnan(difference)
        for table, run in zip(self.tables, runs, strict=True):
            table.sums[run] += np.where(counted, difference, 0.0)
            table.sizes[run] += counted
        self.sizes_of_terms += np.where(counted, np.abs(baseline) + np.abs(contender), 0.0)

    def variances(self, clusters: Ints | None = None) -> list[tuple[int, float]]:
        """Return number and variance of the runs of each system that has several."""
        return [
            (len(table.sums), variance_of_runs(table, clusters))
            for table in self.tables
            if len(table.sums) > 1
        ]


def variance_of_runs(table: Table, clusters: Ints | None = None) -> float:
    """Return what runs add to the variance of the mean, beyond what the units explain; at least 0.

    A cell is the mean, and what its differences deviate from it by the mean number in a cell.
    """
    sums, sizes = table
    if clusters is not None:
        code = np.unique(clusters, return_inverse=True)[1]
        sums, sizes = (
            np.array([np.bincount(code, run) for run in part], dtype=np.float64) for part in table
        )
    counted = sizes.any(axis=0)
    if not counted.any():
        return 0.0
    deviations = sums - sizes * sums.sum() / sizes.sum()
    deviations = deviations[:, counted] / sizes[:, counted].mean()
    n_runs, n = deviations.shape
    of_runs = deviations.mean(axis=1, keepdims=True)
    residuals = deviations - of_runs - deviations.mean(axis=0)
    between = (of_runs**2).sum() / (n_runs * (n_runs - 1))
    explained = (residuals**2).sum() / (max(n - 1, 1) * (n_runs - 1) * n * n_runs)
    return max(float(between - explained), 0.0)


def interval_for_new_runs(
    these: Interval, variances: Sequence[tuple[int, float]], alpha: float
) -> Interval:
    """Widen the interval for these runs by what runs vary, each system by its own t quantile."""
    # With one quantile of few degrees of freedom for everything, the interval would be far too wide
    # where the runs hardly vary.
    squared = ((these.high - these.low) / 2) ** 2
    for n_runs, variance in variances:
        squared += float(special.stdtrit(n_runs - 1, alpha / 2)) ** 2 * variance
    middle = (these.low + these.high) / 2
    return Interval(middle - math.sqrt(squared), middle + math.sqrt(squared))
