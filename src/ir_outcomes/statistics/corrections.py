"""Corrections for looking more than once: p-values of several comparisons, and bands that hold at all ranks of a curve."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.counts import SMALLEST_PVALUE, linearized
from ir_outcomes.statistics.intervals import adjusted_wald
from ir_outcomes.types import Floats, check_choice, check_draws

CORRECTIONS = ("holm", "bonferroni", "fdr_bh", "none")


def adjust(pvalues: npt.ArrayLike, method: str) -> Floats:
    """Correct the p-values of a family of tests.

    Parameters
    ----------
    pvalues : (n,) array_like
        The family.
    method : {"holm", "bonferroni", "fdr_bh", "none"}
        Holm 1979 and Bonferroni control the chance of any false discovery, Benjamini and Hochberg
        1995 their expected share. `statsmodels.stats.multitest.multipletests` has them under the
        same names.

    Returns
    -------
    (n,) float array
        In the order given, at most 1.

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03], "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    check_choice("correction", method, CORRECTIONS)
    p = np.asarray(pvalues, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ParameterError(f"p-values must lie between 0 and 1, got {p.tolist()}")
    n = len(p)
    order = np.argsort(p, kind="stable")
    adjusted = p.copy()
    if method == "bonferroni":
        adjusted = p * n
    elif method == "holm":
        adjusted[order] = np.maximum.accumulate(p[order] * np.arange(n, 0, -1))
    elif method == "fdr_bh":
        scaled = p[order] * n / np.arange(1, n + 1)
        from_largest = np.minimum.accumulate(scaled[::-1])
        adjusted[order] = from_largest[::-1]
    return np.minimum(adjusted, 1.0)


def first_step_level(alpha: float, family: int, correction: str) -> float:
    """Level that the smallest p-value of a family must reach; that of the first step for methods with several."""
    return alpha if correction == "none" else alpha / family


def smallest_pvalue(n_nonzero: int) -> float:
    """Smallest p-value of an exact two-sided test on so many differences that are not zero: all in one direction."""
    return max(2.0 ** (1 - max(n_nonzero, 1)), SMALLEST_PVALUE)


# --- bands


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
    return float(np.sort(largest)[place - 1])
