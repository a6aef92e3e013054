"""The sign-flip test for all pairs of systems at once, from one draw of signs."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.checks import check_draws

__all__ = ["sign_flip_pairs"]

_BITS = 36  # of a whole number that stands for a value: sums over 2^16 queries stay exact in float64


def sign_flip_pairs(values: npt.ArrayLike, seed: int = 0, resamples: int = 99_999) -> npt.NDArray[np.float64]:
    """Test the difference of every two systems by random sign flips, the same flips for all pairs.

    A pair's flipped sum is the difference of two systems' flipped sums, so one product of signs and values serves all pairs;
    each pair's test is a valid sign-flip test by itself. Values are rounded to whole numbers, so the same seed gives the same
    p-values on every machine, and sums that tie but for rounding count as ties.

    Parameters
    ----------
    values : (n_systems, n_queries) array_like
        Finite.
    seed, resamples : int
        Of the flips.

    Returns
    -------
    (n_systems, n_systems) float array
        Two-sided p-values (1 + b) / (1 + B), symmetric; 1 where two systems do not differ.

    Raises
    ------
    ParameterError
        If the values are no finite table, the seed is negative, or `resamples` less than 1.

    References
    ----------
    Fisher 1935; Phipson and Smyth 2010 for (1 + b) / (1 + B).

    Examples
    --------
    >>> p = sign_flip_pairs([[1.0] * 12, [2.0] * 12, [1.0] * 12], resamples=999)
    >>> float(p[0, 2]), bool(p[0, 1] < 0.01)
    (1.0, True)
    """
    table = np.asarray(values, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise ParameterError(f"values of shape {table.shape}: must be a table of finite numbers, systems by queries")
    check_draws(seed, resamples)
    n_systems, n_queries = table.shape
    largest = float(np.abs(table).max(initial=0.0))
    if largest == 0:
        return np.ones((n_systems, n_systems))
    whole = np.rint(table * ((1 << _BITS) / largest))
    totals = whole.sum(axis=1)
    one, other = np.triu_indices(n_systems, 1)
    bound = np.abs(totals[one] - totals[other]) - 2 * n_queries  # rounding moves both sums by less than n each
    rng = np.random.default_rng(seed)
    reached = np.zeros(len(one), dtype=np.int64)
    batch = max(1, (1 << 22) // max(n_queries, len(one)))  # bounds the memory that the flips take
    for start in range(0, resamples, batch):
        rows = min(batch, resamples - start)
        drawn = np.frombuffer(rng.bytes(rows * -(-n_queries // 8)), dtype=np.uint8).reshape(rows, -1)
        kept = np.unpackbits(drawn, axis=1, count=n_queries).astype(np.float64)
        sums = 2 * (kept @ whole.T) - totals
        reached += (np.abs(sums[:, one] - sums[:, other]) >= bound).sum(axis=0)
    pvalues = np.ones((n_systems, n_systems))
    pvalues[one, other] = pvalues[other, one] = (1 + reached) / (1 + resamples)
    return pvalues
