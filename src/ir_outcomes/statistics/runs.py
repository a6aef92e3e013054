"""Intervals for new runs of systems.

The runs of a system are a sample of those that it could have, as the queries are of those that
could be asked. Their variance is what the means of the runs vary by beyond what the units (queries,
or clusters of them) explain: a two-way analysis of variance of units and runs.
"""

from collections.abc import Sequence

import numpy as np

from ir_outcomes.choices import Floats, Ints

LEAST_RUNS = 5  # of each system that has several, from which on new ones can be spoken of


def variance_of_runs(sums: Floats, sizes: Floats, clusters: Ints | None = None) -> float:
    """What runs add to the variance of the mean beyond the units, at least 0.

    Sums and numbers of the differences are (n_runs, n), of each run and query, over the runs of the
    other system. A cell of the table is the mean, and what its differences deviate from it by the
    mean number in a cell.
    """
    if clusters is not None:
        code = np.unique(clusters, return_inverse=True)[1]
        sums, sizes = (
            np.array([np.bincount(code, run) for run in part], dtype=np.float64)
            for part in (sums, sizes)
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


def added_by_runs(
    sides: Sequence[tuple[Floats, Floats]], clusters: Ints | None, alpha: float
) -> float:
    """What runs add to the squared half width of an interval."""
    # With one quantile of few degrees of freedom for everything, the interval would be far too wide
    # where the runs hardly vary.
    from scipy.special import stdtrit

    return sum(
        float(stdtrit(len(sums) - 1, alpha / 2)) ** 2 * variance_of_runs(sums, sizes, clusters)
        for sums, sizes in sides
    )
