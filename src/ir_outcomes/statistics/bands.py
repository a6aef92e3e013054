"""Simultaneous bands of the difference of two curves, such as the shares of queries answered by every rank."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.statistics.counts import linearized
from ir_outcomes.statistics.intervals import adjusted_wald
from ir_outcomes.types import Floats, check_draws


class Band(NamedTuple):
    """A mean curve of differences at ranks 1, 2, ..., (depth,), with a simultaneous band ``difference -+ critical * error``."""

    difference: Floats
    standard_error: Floats
    low: Floats
    high: Floats
    critical: float


def band_of_events(
    query: npt.ArrayLike,
    rank: npt.ArrayLike,
    step: npt.ArrayLike,
    n: int,
    depth: int,
    level: float,
    *,
    smallest_step: float | None = None,
    clusters: npt.ArrayLike | None = None,
    seed: int = 0,
    resamples: int = 9_999,
) -> Band:
    """Simultaneous band of the difference of two curves; at (m,) ranks the difference of a query (0 to n - 1) takes a step."""
    # With centred differences e_i(k) = d_i(k) - D(k), the factor c is the `level` quantile, over
    # random signs s_i of queries or clusters, of the largest |sum_i s_i e_i(k)| / n / SE(k) over k:
    # Wu 1986; Montiel Olea and Plagborg-Moller 2019.
    #
    # Drawn from real pairs of runs (benchmarks/pooling_bands_planning.py), 95 % bands hold at all
    # ranks at once in 34 to 51, 77 to 80 and 88 to 89 % of the samples of 50, 200 and 1000 queries,
    # because at some ranks no query or very few differ. With `smallest_step`, as
    # `coverage_interval` has it, all widths are positive, and they hold in 92 to 96 %.
    queries = np.asarray(query)
    ranks = np.asarray(rank)
    steps = np.asarray(step, dtype=np.float64)
    check_draws(seed, resamples)
    within = ranks <= depth
    queries = queries[within]
    ranks = ranks[within]
    steps = steps[within]
    changes, at = np.unique(ranks, return_inverse=True)  # between these ranks all curves are flat
    differing, row = np.unique(queries, return_inverse=True)
    curves = np.zeros((len(differing), len(changes)))
    np.add.at(curves, (row, at), steps)
    curves = np.cumsum(curves, axis=1)
    curves[np.abs(curves) < 1e-12] = 0.0  # what both runs found by then, except for rounding
    units = n
    if clusters is not None and len(changes):
        of_queries = np.zeros((n, len(changes)))
        of_queries[differing] = curves
        curves = np.stack([linearized(column, clusters) for column in of_queries.T], axis=1)
        units = len(curves)
        smallest_step = None
    # Steps that cancel each other out then do not change the draws.
    curves = curves[curves.any(axis=1)]
    total = curves.sum(axis=0)
    squares = (curves**2).sum(axis=0)
    mean = total / units
    error = np.zeros_like(mean)
    if units > 1:
        error = np.sqrt(np.maximum(0.0, squares - units * mean**2) / (units - 1) / units)
    error[error <= 1e-12 * np.sqrt(squares / units)] = 0.0  # all queries differ by the same amount
    critical = _critical(curves, mean, error, units, level, seed, resamples)
    before = 0.0
    if smallest_step is not None and critical > 0:
        error = np.sqrt(adjusted_wald(total, squares, n, smallest_step)[1])
        before = float(np.sqrt(adjusted_wald(0.0, 0.0, n, smallest_step)[1]))
    # At rank k the curves are those of the last change at or before k, and 0 before the first.
    last = np.searchsorted(changes, np.arange(1, depth + 1), side="right")
    difference = np.concatenate([[0.0], mean])[last]
    standard_error = np.concatenate([[before], error])[last]
    width = critical * standard_error
    return Band(difference, standard_error, difference - width, difference + width, critical)


def _critical(
    curves: Floats, mean: Floats, error: Floats, n: int, level: float, seed: int, resamples: int
) -> float:
    """Level quantile, over random signs, of the largest standardised sum over ranks; 0 where nothing varies."""
    varying = error > 0
    if not varying.any():
        return 0.0
    rng = np.random.default_rng(seed)
    scaled = curves[:, varying] / (n * error[varying])
    center = mean[varying] / (n * error[varying])
    # Only the queries that differ somewhere need signs of their own: the sum of the signs of all
    # others is one binomial number.
    same = n - len(curves)
    largest = np.empty(resamples)
    batch = max(1, (1 << 21) // max(1, len(curves)))  # bounds the memory that the signs take
    bytes_per_draw = -(-len(curves) // 8)
    for start in range(0, resamples, batch):
        draws = min(batch, resamples - start)
        drawn = np.frombuffer(rng.bytes(draws * bytes_per_draw), dtype=np.uint8).reshape(
            draws, bytes_per_draw
        )
        positive = np.unpackbits(drawn, axis=1, count=len(curves)).astype(np.float64)
        total = 2 * (positive.sum(axis=1) + rng.binomial(same, 0.5, draws)) - n
        sums = 2 * (positive @ scaled) - scaled.sum(axis=0) - total[:, np.newaxis] * center
        largest[start : start + draws] = np.abs(sums).max(axis=1)
    # The smallest draw that at least this share of the draws, the observed signs counted as one
    # more, do not exceed.
    place = min(resamples, int(np.ceil(level * (resamples + 1))))
    return float(np.partition(largest, place - 1)[place - 1])
