"""Corrections of p-values for the number of comparisons."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ir_outcomes._checks import check_choice, check_positive
from ir_outcomes._types import Floats
from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.checks import check_draws, check_share
from ir_outcomes.statistics.distributions import SMALLEST_PVALUE

__all__ = ["CORRECTIONS", "adjust", "first_step_level", "randomized_tukey_hsd", "smallest_pvalue"]

CORRECTIONS = ("holm", "bonferroni", "fdr_bh", "none")


def adjust(pvalues: npt.ArrayLike, method: str) -> Floats:
    """Correct the p-values of a family of tests.

    Parameters
    ----------
    pvalues : (n,) array_like
        The family.
    method : {"holm", "bonferroni", "fdr_bh", "none"}
        Holm 1979 and Bonferroni control the chance of any false discovery, Benjamini and Hochberg 1995 their expected share.
        `statsmodels.stats.multitest.multipletests` has them under the same names.

    Returns
    -------
    (n,) float array
        In the order given, at most 1.

    Raises
    ------
    ParameterError
        If the method is unknown or a p-value is not between 0 and 1.

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03], "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    check_choice("correction", method, CORRECTIONS)
    p = np.asarray(pvalues, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ParameterError(f"p-values must lie between 0 and 1, got {p.tolist()}")
    n, order = len(p), np.argsort(p, kind="stable")
    adjusted = p.copy()
    if method == "bonferroni":
        adjusted = p * n
    elif method == "holm":
        adjusted[order] = np.maximum.accumulate(p[order] * np.arange(n, 0, -1))
    elif method == "fdr_bh":
        adjusted[order] = np.minimum.accumulate((p[order] * n / np.arange(1, n + 1))[::-1])[::-1]
    return np.minimum(adjusted, 1.0)


def first_step_level(alpha: float, family: int, correction: str) -> float:
    """Level that the smallest p-value of a family must reach to be significant after correction.

    Parameters
    ----------
    alpha : float
        Level of the family.
    family : int
        Number of tests.
    correction : {"holm", "bonferroni", "fdr_bh", "tukey", "none"}
        For the randomized Tukey HSD, which has no such level, that of Holm, which is a little lower.

    Raises
    ------
    ParameterError
        If the correction is unknown, alpha is not between 0 and 1, or there is no test.

    Examples
    --------
    >>> first_step_level(0.05, 10, "holm"), first_step_level(0.05, 10, "none")
    (0.005, 0.05)
    """
    check_choice("correction", correction, (*CORRECTIONS, "tukey"))
    check_share("alpha", alpha)
    check_positive("family", family)
    return alpha if correction == "none" else alpha / family


def smallest_pvalue(n_nonzero: int) -> float:
    """Smallest p-value of an exact two-sided test on so many differences that are not zero: all in one direction.

    Parameters
    ----------
    n_nonzero : int
        Number of differences that are not zero; with less than two of them every p-value is 1.

    Examples
    --------
    >>> smallest_pvalue(5), smallest_pvalue(6)
    (0.0625, 0.03125)
    """
    return max(2.0 ** (1 - max(n_nonzero, 1)), SMALLEST_PVALUE)


def randomized_tukey_hsd(values: npt.ArrayLike, *, seed: int = 0, resamples: int = 99_999) -> npt.NDArray[np.float64]:
    """Randomized Tukey HSD: p-values of all pairs of systems, corrected for looking at all of them.

    The systems' values are permuted within each query; the p-value of a pair is how often the largest difference of any pair
    reaches its own. Without gaps that is the largest mean less the smallest. Where systems lack values (NaN) the
    permutations keep the gaps where they are, and a pair's difference is over the queries that both have.

    Parameters
    ----------
    values : (n_queries, n_systems) array_like
        Per-query values; NaN for none.
    seed, resamples : int
        Of the permutations.

    Returns
    -------
    (n_systems, n_systems) float array
        Symmetric, 1 on the diagonal; at least 1 / (1 + resamples).

    Raises
    ------
    ParameterError
        If the values are no table or infinite, the seed is negative, or `resamples` less than 1.

    References
    ----------
    Carterette 2012, "Multiple testing in statistical analysis of systems-based information retrieval experiments", section 4;
    Sakai 2018, "Laboratory Experiments in Information Retrieval", section 4.3.

    Examples
    --------
    >>> scores = np.array([[0.1, 0.5, 0.6], [0.2, 0.4, 0.7], [0.1, 0.6, 0.5], [0.3, 0.5, 0.8], [0.2, 0.5, 0.9]])
    >>> p = randomized_tukey_hsd(scores, resamples=999)
    >>> bool(p[0, 2] < 0.05), bool(p[1, 2] > 0.05)
    (True, True)
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or np.isinf(table).any():
        raise ParameterError(f"values of shape {table.shape}: must be a table, queries by systems, finite or NaN for none")
    check_draws(seed, resamples)
    there = ~np.isnan(table)
    present = there.astype(np.float64)
    shared = np.maximum(present.T @ present, 1.0)
    # Each query's values moved to the left, so that shuffling needs no look at the gaps; and the way back.
    home = np.argsort(~there, axis=1, kind="stable")
    packed = np.take_along_axis(np.where(there, table, 0.0), home, axis=1)
    gaps = ~np.take_along_axis(there, home, axis=1)

    def differences(filled: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        sums = np.swapaxes(filled, -1, -2) @ present
        return np.abs(sums - np.swapaxes(sums, -1, -2)) / shared

    observed = differences(np.where(there, table, 0.0))
    slack = 1e-12 * max(float(observed.max(initial=0.0)), 1e-300)
    rng = np.random.default_rng(seed)
    reached = np.zeros(observed.shape, dtype=np.int64)
    batch = max(1, (1 << 18) // max(table.size, 1))  # so many permutations at a time as stay in the processor's cache
    for start in range(0, resamples, batch):
        keys = rng.random((min(batch, resamples - start), *table.shape))
        keys[:, gaps] = 2.0
        shuffled = np.take_along_axis(np.broadcast_to(packed, keys.shape), np.argsort(keys, axis=2), axis=2)
        filled = np.empty_like(shuffled)
        np.put_along_axis(filled, np.broadcast_to(home, keys.shape), shuffled, axis=2)
        largest = differences(filled).max(axis=(1, 2))
        reached += (largest[:, None, None] >= observed - slack).sum(axis=0)
    return (1 + reached) / (1 + resamples)
