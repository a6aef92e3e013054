"""Corrections of p-values for the number of comparisons."""

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.formatting import percent
from ir_outcomes.statistics.counts import SMALLEST_PVALUE
from ir_outcomes.types import Floats, check_choice, check_draws

CORRECTIONS = ("holm", "bonferroni", "fdr_bh", "none")
LEAST_OVERLAP = 0.5  # of the queries that two systems share, by the most that any two do


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
    """Level that the smallest p-value of a family must reach; for Tukey, which has none, that of Holm, a little lower."""
    return alpha if correction == "none" else alpha / family


def smallest_pvalue(n_nonzero: int) -> float:
    """Smallest p-value of an exact two-sided test on so many differences that are not zero: all in one direction."""
    return max(2.0 ** (1 - max(n_nonzero, 1)), SMALLEST_PVALUE)


def randomized_tukey_hsd(values: npt.ArrayLike, *, seed: int = 0, resamples: int = 99_999) -> Floats:
    """Randomized Tukey HSD: p-values of all pairs of systems, corrected for their number.

    The systems' values are permuted within each query; the p-value of a pair is how often the largest difference of any pair
    reaches its own. Where systems lack values (NaN) the permutations keep the gaps where they are, and a pair's difference is
    over the queries that both have. Differences over few queries vary more, and the largest of all pairs is the yardstick of
    each: a pair that shares half of the queries that others share makes their p-values seven times as large.

    Parameters
    ----------
    values : (n_queries, n_systems) array_like
        Per-query values; NaN where a system has none.
    seed, resamples : int
        Of the permutations.

    Returns
    -------
    (n_systems, n_systems) float array
        Symmetric, 1 on the diagonal; at least 1 / (1 + resamples).

    Raises
    ------
    ParameterError
        If the values are not a two-dimensional array or are infinite, or two systems share less than half as many queries as
        the two that share most.

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
    scores = np.asarray(values, dtype=np.float64)
    if scores.ndim != 2 or np.isinf(scores).any():
        raise ParameterError(
            f"values of shape {scores.shape}: must be a two-dimensional array, queries by systems, finite or NaN for no value"
        )
    check_draws(seed, resamples)
    defined = ~np.isnan(scores)
    weights = defined.astype(np.float64)
    shared = weights.T @ weights
    _check_overlap(shared)
    shared = np.maximum(shared, 1.0)
    # A query on which all systems have the same value adds 0 to every difference, however they are permuted.
    lowest = np.where(defined, scores, np.inf).min(axis=1, initial=np.inf)
    varies = np.where(defined, scores, -np.inf).max(axis=1, initial=-np.inf) > lowest
    scores, defined, weights = scores[varies], defined[varies], weights[varies]

    def differences(filled: Floats) -> Floats:
        sums: Floats = np.swapaxes(filled, -1, -2) @ weights
        return np.abs(sums - np.swapaxes(sums, -1, -2)) / shared

    observed = differences(np.where(defined, scores, 0.0))
    slack = 1e-12 * max(float(observed.max(initial=0.0)), 1e-300)  # differences that are equal except for rounding reach it
    # Queries with equally many values are permuted together: which queries, where their values stand, and the values.
    n_values = defined.sum(axis=1)
    groups = []
    for number in np.unique(n_values).tolist():
        queries = np.flatnonzero(n_values == number)[:, None]
        places = np.nonzero(defined[n_values == number])[1].reshape(-1, number)
        groups.append((queries, places, scores[queries, places]))
    rng = np.random.default_rng(seed)
    reached = np.zeros(observed.shape, dtype=np.int64)
    batch = max(1, (1 << 18) // max(scores.size, shared.size, 1))  # what stays in the processor's cache
    for start in range(0, resamples, batch):
        filled = np.zeros((min(batch, resamples - start), *scores.shape))
        for queries, places, own in groups:
            filled[:, queries, places] = rng.permuted(np.broadcast_to(own, (len(filled), *own.shape)), axis=2)
        largest = differences(filled).max(axis=(1, 2))
        reached += (largest[:, None, None] >= observed - slack).sum(axis=0)
    return (1 + reached) / (1 + resamples)


def _check_overlap(shared: Floats) -> None:
    """Raise ParameterError where the queries that two systems share are too few beside those that others share."""
    if len(shared) < 3:  # a single pair has only itself to be measured by
        return
    pairs = shared[np.triu_indices(len(shared), 1)]
    if pairs.min() < LEAST_OVERLAP * pairs.max():
        first, second = np.argwhere(np.triu(shared == pairs.min(), 1))[0].tolist()
        raise ParameterError(
            f"systems {first} and {second} (columns, from 0) share {pairs.min():.0f} queries, others up to {pairs.max():.0f}: "
            f"the randomized Tukey HSD would lose its power for all pairs (less than {percent(LEAST_OVERLAP, 0)} %); "
            "leave such systems out or use correction='holm'"
        )
