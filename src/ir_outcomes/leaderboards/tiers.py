"""Tiers of runs from "is better than", which is not transitive."""

from __future__ import annotations

import numpy as np

from ir_outcomes._types import Bools

__all__ = ["tiers"]


def tiers(better: Bools) -> tuple[list[list[int]], list[list[int]]]:
    """Divide runs into tiers such that no run is better than a run of the same or an earlier tier, except in cycles.

    "Better" need not be transitive, because each pair of runs has its own queries that both answered. Runs that are better than
    each other in a cycle are therefore treated as one. The first tier has the runs that no run is better than, the second those
    that only runs of the first tier are better than, and so on.

    Parameters
    ----------
    better : (n, n) bool array
        ``better[i, j]``: run i is better than run j.

    Returns
    -------
    tiers : list of list of int
        Every run once, the best tier first; ascending within a tier.
    cycles : list of list of int
        The strongly connected components of more than one run.

    Examples
    --------
    >>> beats = np.zeros((4, 4), dtype=bool)
    >>> beats[0, 1] = beats[1, 2] = beats[2, 0] = beats[2, 3] = True
    >>> tiers(beats)
    ([[0, 1, 2], [3]], [[0, 1, 2]])
    """
    from scipy.sparse.csgraph import connected_components

    n_components, component = connected_components(better, directed=True, connection="strong")
    members = [np.flatnonzero(component == number).tolist() for number in range(n_components)]
    beaten_by = np.zeros((n_components, n_components), dtype=bool)
    winners, losers = np.nonzero(better)
    beaten_by[component[losers], component[winners]] = True
    np.fill_diagonal(beaten_by, False)
    remaining = np.ones(n_components, dtype=bool)
    result = []
    while remaining.any():  # without cycles between components there always is one that no other beats
        unbeaten = remaining & ~beaten_by[:, remaining].any(axis=1)
        result.append(sorted(run for number in np.flatnonzero(unbeaten).tolist() for run in members[number]))
        remaining &= ~unbeaten
    return result, [runs for runs in members if len(runs) > 1]
