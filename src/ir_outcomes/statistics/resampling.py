"""Simultaneous bands, and the order of systems in resamples."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.statistics.counts import linearized
from ir_outcomes.statistics.distributions import check_draws
from ir_outcomes.statistics.intervals import adjusted_wald
from ir_outcomes.types import Floats, Ints


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
) -> Band | None:
    """Simultaneous band of the difference of two step curves, such as the shares of queries answered by rank k; None for n < 2.

    At a rank the difference of a query (0 to n - 1), contender minus baseline, changes by a step; (m,) each. With
    `smallest_step`, as `coverage_interval` has it, the widths are positive at every rank. Signs are those of clusters, if any.

    With centred differences e_i(k) = d_i(k) - D(k), the factor c is the `level` quantile, over random signs s_i, of the largest
    ``|sum_i s_i e_i(k)| / n / SE(k)`` over k (Wu 1986; Montiel Olea and Plagborg-Moller 2019).

    Drawn from real pairs of runs (``benchmarks/pooling_bands_planning.py``), 95 % bands hold at all ranks at once in 34 to 51,
    77 to 80 and 88 to 89 % of the samples of 50, 200 and 1000 queries, because at some ranks no query or very few differ in the
    sample (94 to 99 % at the ranks where at least five do); with `smallest_step` they hold in 92 to 96 %.
    """
    queries, ranks = np.asarray(query, dtype=np.int64), np.asarray(rank, dtype=np.int64)
    steps = np.asarray(step, dtype=np.float64)
    check_draws(seed, resamples)
    if n < 2:
        return None
    within = ranks <= depth
    queries, ranks, steps = queries[within], ranks[within], steps[within]
    changes, at = np.unique(ranks, return_inverse=True)  # between these ranks all curves are flat
    differing, row = np.unique(queries, return_inverse=True)
    curves = np.zeros((len(differing), len(changes)))
    np.add.at(curves, (row, at), steps)
    curves = np.cumsum(curves, axis=1)
    curves[np.abs(curves) < 1e-12] = 0.0  # what both runs found by then, but for rounding
    units = n
    if clusters is not None and len(changes):
        of_queries = np.zeros((n, len(changes)))
        of_queries[differing] = curves
        curves = np.stack([linearized(column, clusters) for column in of_queries.T], axis=1)
        units, smallest_step = len(curves), None
    curves = curves[curves.any(axis=1)]  # so that steps that cancel each other out do not change the draws
    total, squares = curves.sum(axis=0), (curves**2).sum(axis=0)
    mean = total / units
    error = np.sqrt(np.maximum(0.0, squares - units * mean**2) / (units - 1) / units) if units > 1 else np.zeros_like(mean)
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


def _critical(curves: Floats, mean: Floats, error: Floats, n: int, level: float, seed: int, resamples: int) -> float:
    """Level quantile, over random signs, of the largest standardised sum over ranks; 0 where nothing varies."""
    varying = error > 0
    if not varying.any():
        return 0.0
    rng = np.random.default_rng(seed)
    scaled = curves[:, varying] / (n * error[varying])
    center = mean[varying] / (n * error[varying])
    # Only the queries that differ somewhere need signs of their own: the sum of the signs of all others is one binomial number.
    same = n - len(curves)
    largest = np.empty(resamples)
    batch = max(1, (1 << 21) // max(1, len(curves)))  # bounds the memory that the signs take
    bytes_per_draw = -(-len(curves) // 8)
    for start in range(0, resamples, batch):
        draws = min(batch, resamples - start)
        drawn = np.frombuffer(rng.bytes(draws * bytes_per_draw), dtype=np.uint8).reshape(draws, bytes_per_draw)
        positive = np.unpackbits(drawn, axis=1, count=len(curves)).astype(np.float64)
        total = 2 * (positive.sum(axis=1) + rng.binomial(same, 0.5, draws)) - n
        sums = 2 * (positive @ scaled) - scaled.sum(axis=0) - total[:, np.newaxis] * center
        largest[start : start + draws] = np.abs(sums).max(axis=1)
    # The smallest draw that at least this share of the draws, the observed signs counted as one more, do not exceed.
    place = min(resamples, int(np.ceil(level * (resamples + 1))))
    return float(np.partition(largest, place - 1)[place - 1])


SLACK = 1e-12  # means of the same values, added in another order, differ by no more than this share of the largest


def shared_ranks(gains: npt.ArrayLike) -> Ints:
    """Ranks from 1 of (n_samples, n_systems) means, where higher is better; those equal except for rounding share the smaller.

    An undefined mean is -inf, and comes last.
    """
    means = np.asarray(gains, dtype=np.float64)
    order = np.argsort(-means, axis=1, kind="stable")
    ordered = np.take_along_axis(means, order, axis=1)
    slack = SLACK * np.abs(np.where(np.isfinite(means), means, 0.0)).max(axis=1, keepdims=True, initial=0.0)
    with np.errstate(invalid="ignore"):  # -inf less -inf: equal, and not larger
        falls = ordered[:, :-1] - ordered[:, 1:] > slack
    places = np.broadcast_to(np.arange(2, means.shape[1] + 1), falls.shape)
    ranks = np.ones(means.shape, dtype=np.int64)
    ranks[:, 1:] = np.maximum.accumulate(np.where(falls, places, 1), axis=1)
    result = np.empty_like(ranks)
    np.put_along_axis(result, order, ranks, axis=1)
    return result


def kendall_taus(values: npt.ArrayLike, samples: npt.ArrayLike) -> Floats:
    """Kendall's tau-b of (n_systems,) values with each of (n_samples, n_systems) samples; NaN where all systems tie.

    Kendall 1945, "The treatment of ties in ranking problems"; `scipy.stats.kendalltau` takes one pair of orders per call.
    """
    x, y = np.asarray(values), np.asarray(samples)
    concordant = np.zeros(len(y), dtype=np.int64)
    untied = np.zeros(len(y), dtype=np.int64)
    untied_in_values = 0
    for system in range(len(x) - 1):  # a system against all later ones
        signs = np.sign(x[system] - x[system + 1 :])
        sample_signs = np.sign(y[:, system, None] - y[:, system + 1 :])
        concordant += (sample_signs * signs).sum(axis=1).astype(np.int64)
        untied += np.abs(sample_signs).sum(axis=1).astype(np.int64)
        untied_in_values += int(np.abs(signs).sum())
    spread = np.sqrt(untied.astype(np.float64) * untied_in_values)
    taus: Floats = np.divide(concordant, spread, out=np.full(len(y), np.nan), where=spread > 0)
    return taus
