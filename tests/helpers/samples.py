"""Samples of differences as the tests take them."""

import numpy as np
import numpy.typing as npt

from ir_outcomes.statistics.counts import Differences, tally_subsets


def tally_rows(changes: npt.ArrayLike) -> Differences:
    """Count differences, a sample in each row."""
    rows = np.asarray(changes, dtype=np.float64)
    return tally_subsets(
        rows.ravel(),
        np.ones(rows.size, dtype=bool),
        np.repeat(np.eye(len(rows)), rows.shape[1], axis=0),
    )
