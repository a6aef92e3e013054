"""What several runs of a system add to an interval, so that it holds for new runs of it, too.

The runs of a system are a sample of those that it could have, as the queries are of those that
could be asked. Their variance is what the means of the runs vary by beyond what the queries explain.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.statistics.counts import linearized_sums, special
from ir_outcomes.types import Floats, Ints

LEAST_RUNS = 5  # of a system, from which on something honest can be said about a new one
MOST_TIMES = 1000  # as many runs, or queries, are planned for


class Side(NamedTuple):
    """One side of a comparison that has several runs."""

    run: Ints  # (n,) of each difference, from 0
    n_runs: int


class Components(NamedTuple):
    """Variances of a mean over runs: of their means, and the part of it that queries explain."""

    means: float
    residual: float

    @property
    def between(self) -> float:
        """Variance that the runs add to that of the queries."""
        return max(self.means - self.residual, 0.0)


def cells_of(d: Floats, clusters: npt.ArrayLike, side: Side) -> Floats:
    """Return one value for each cluster and run, (n_clusters, n_runs), with the mean of the differences; see `linearized`."""
    code = np.unique(clusters, return_inverse=True)[1]
    n_clusters = int(code.max()) + 1
    n_cells = n_clusters * side.n_runs
    cell = code * side.n_runs + side.run
    sums = np.bincount(cell, weights=d, minlength=n_cells).astype(np.float64)
    sizes = np.bincount(cell, minlength=n_cells).astype(np.float64)
    return linearized_sums(sums, sizes).reshape(n_clusters, side.n_runs)


def components(cells: Floats) -> Components:
    """Divide the variance of a table of clusters and runs, as a two-way analysis of variance without replication does."""
    n, n_runs = cells.shape
    mean = cells.mean()
    of_runs = cells.mean(axis=0)
    of_clusters = cells.mean(axis=1, keepdims=True)
    means = ((of_runs - mean) ** 2).sum() / (n_runs * (n_runs - 1))
    residuals = cells - of_runs - of_clusters + mean
    freedom = max(n - 1, 1) * (n_runs - 1)
    residual = (residuals**2).sum() / (freedom * n * n_runs)
    return Components(float(means), float(residual))


def added_by_runs(d: Floats, clusters: npt.ArrayLike, sides: Sequence[Side], level: float) -> float:
    """Return what the runs add to the square of half the width of an interval, each side by its own t."""
    # With one t quantile of few degrees of freedom for everything, the interval would be far too
    # wide where the runs hardly vary (benchmarks/replicates.py).
    added = 0.0
    for side in sides:
        quantile = float(special.stdtrit(side.n_runs - 1, (1 - level) / 2))
        added += quantile**2 * components(cells_of(d, clusters, side)).between
    return added


class Halved(NamedTuple):
    """What makes an interval for new runs half as wide: more runs, or more queries."""

    half: float  #: half of its width now
    #: of each system that has several, with the queries as they are; None where no number does
    runs: int | None
    queries: int | None  #: or clusters, with the runs as they are; None where no number does


def halved(half: float, n_queries: int, runs: Sequence[tuple[int, float]], level: float) -> Halved:
    """Find what halves the interval for new runs, from half of that for these runs, and each side's runs and standard error."""
    n_runs = np.array([number for number, _ in runs])
    between = np.array([error for _, error in runs]) ** 2
    of_queries = half**2
    of_runs = float(_squared_quantile(n_runs, level) @ between)
    wanted = (of_queries + of_runs) / 4
    queries = None
    if wanted - of_runs > of_queries / MOST_TIMES:
        # Without the rounding, four times as many could become one more.
        queries = math.ceil(round(n_queries * of_queries / (wanted - of_runs), 6))
    numbers = np.arange(2, MOST_TIMES * int(n_runs.max()) + 1)
    of_numbers = _squared_quantile(numbers, level) * float(n_runs @ between) / numbers
    enough = numbers[of_queries + of_numbers <= wanted]
    return Halved(math.sqrt(of_queries + of_runs), int(enough[0]) if len(enough) else None, queries)


def _squared_quantile(n_runs: Ints, level: float) -> Floats:
    """Return the square of the t quantile for each number of runs."""
    quantile: Floats = special.stdtrit(n_runs - 1, (1 - level) / 2)
    return quantile**2


def half_with_runs(
    half: float,
    d: Floats,
    clusters: npt.ArrayLike | None,
    sides: Sequence[Side],
    level: float,
) -> float:
    """Return half the width of the interval for new runs, from that for these runs."""
    if clusters is None or not sides:
        return half
    return math.hypot(half, math.sqrt(added_by_runs(d, clusters, sides, level)))
