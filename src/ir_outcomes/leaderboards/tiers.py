"""From "is better than", which is not transitive, to tiers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

__all__ = ["tiers"]


def tiers(better: npt.NDArray[np.bool_]) -> tuple[list[list[int]], list[list[int]]]:
    """Condense cycles, then peel off, again and again, what nothing that remains is better than.

    "Better" need not be transitive, because each pair of runs has its own queries that both answered; runs that are better
    than each other in a circle stand in the same tier.

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
    members = [np.flatnonzero(component == each).tolist() for each in range(n_components)]
    beaten_by = np.zeros((n_components, n_components), dtype=bool)
    winners, losers = np.nonzero(better)
    beaten_by[component[losers], component[winners]] = True
    np.fill_diagonal(beaten_by, False)
    remaining = np.ones(n_components, dtype=bool)
    peeled = []
    while remaining.any():
        unbeaten = remaining & ~beaten_by[:, remaining].any(axis=1)
        peeled.append(sorted(run for each in np.flatnonzero(unbeaten) for run in members[each]))
        remaining &= ~unbeaten
    return peeled, [each for each in members if len(each) > 1]
