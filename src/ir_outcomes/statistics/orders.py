"""Orders of systems: ranks in which equals share a place, and how much two orders agree."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["SLACK", "kendall_taus", "shared_ranks"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

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
    table = np.asarray(gains, dtype=np.float64)
    order = np.argsort(-table, axis=1, kind="stable")
    ordered = np.take_along_axis(table, order, axis=1)
    slack = SLACK * np.abs(np.where(np.isfinite(table), table, 0.0)).max(axis=1, keepdims=True, initial=0.0)
    with np.errstate(invalid="ignore"):  # -inf less -inf: equal, and not larger
        falls = ordered[:, :-1] - ordered[:, 1:] > slack
    places = np.broadcast_to(np.arange(2, table.shape[1] + 1), falls.shape)
    ranks = np.ones(table.shape, dtype=np.int64)
    ranks[:, 1:] = np.maximum.accumulate(np.where(falls, places, 1), axis=1)
    result = np.empty_like(ranks)
    np.put_along_axis(result, order, ranks, axis=1)
    return result


def kendall_taus(one: npt.ArrayLike, others: npt.ArrayLike) -> Floats:
    """Kendall's tau-b of an order with each of many.

    Parameters
    ----------
    one : (n_systems,) array_like
        Values that order the systems.
    others : (n_samples, n_systems) array_like
        Values that order them otherwise.

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
    x, table = np.asarray(one), np.asarray(others)
    concordant = np.zeros(len(table), dtype=np.int64)
    untied = np.zeros(len(table), dtype=np.int64)
    untied_in_one = 0
    for system in range(len(x) - 1):  # a system against all later ones
        signs = np.sign(x[system] - x[system + 1 :])
        others_signs = np.sign(table[:, system, None] - table[:, system + 1 :])
        concordant += (others_signs * signs).sum(axis=1).astype(np.int64)
        untied += np.abs(others_signs).sum(axis=1).astype(np.int64)
        untied_in_one += int(np.abs(signs).sum())
    spread = np.sqrt(untied.astype(np.float64) * untied_in_one)
    taus: Floats = np.divide(concordant, spread, out=np.full(len(table), np.nan), where=spread > 0)
    return taus
