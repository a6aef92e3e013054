"""Orders of systems: ranks in which equal systems share a place, and how much two orders agree.

`scipy.stats.rankdata` and `scipy.stats.kendalltau` are the oracles of the tests; the latter takes one pair of orders per call.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ir_outcomes._types import Floats, Ints

__all__ = ["SLACK", "kendall_taus", "shared_ranks"]

SLACK = 1e-12  # means of the same values, added in another order, differ by no more than this share of the largest


def shared_ranks(gains: npt.ArrayLike) -> Ints:
    """Rank systems by means of which higher is better; those equal but for rounding share the smaller rank.

    Parameters
    ----------
    gains : (n_samples, n_systems) array_like
        Means; -inf for an undefined one, which comes last.

    Returns
    -------
    (n_samples, n_systems) int array
        Ranks from 1.

    Examples
    --------
    >>> shared_ranks([[0.5, 0.1 + 0.2, 0.3, 0.1]]).tolist()
    [[1, 2, 2, 4]]
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
    """Kendall's tau-b of an order of systems with each of many orders.

    Parameters
    ----------
    values : (n_systems,) array_like
        Values that order the systems.
    samples : (n_samples, n_systems) array_like
        Values of the same systems, in each sample.

    Returns
    -------
    (n_samples,) float array
        Between -1 and 1; NaN where all systems tie.

    References
    ----------
    Kendall 1945, "The treatment of ties in ranking problems"; equals `scipy.stats.kendalltau`.

    Examples
    --------
    >>> kendall_taus([1, 2, 3], [[1, 2, 3], [3, 2, 1], [1, 3, 2]]).round(3).tolist()
    [1.0, -1.0, 0.333]
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
