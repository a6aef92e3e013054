"""Differences of pairs: which queries count, and what rounding alone leaves is none."""

import numpy as np
import pytest

from ir_outcomes.choices import Floats
from ir_outcomes.pairs.differences import Clusters, Measurements, Quantity
from ir_outcomes.pairs.rows import RowOfPairs, RowsOfPairs


def row_of(levels: Floats, clusters: Clusters | None = None) -> RowOfPairs:
    """The row of two runs, by their values on each query."""
    measured = Measurements(
        names=("a", "b"),
        n_runs=(1, 1),
        query_ids=tuple(f"q{number}" for number in range(levels.shape[1])),
        quantities={"score": Quantity("score", "score", True, 9.0)},
        levels={"score": levels},
        items={},
        deciding=("score",),
        clusters=clusters,
    )
    return RowsOfPairs.of_family(measured, ["score"], 0.05).rows["score"]


def test_a_query_counts_where_both_values_are_defined() -> None:
    none = np.nan
    row = row_of(np.array([[1.0, none, 2.0, none, 4.0], [3.0, 1.0, none, none, 4.0]]))
    assert (row.n[0], row.differ[0], row.better[0]) == (2, 1, 1)
    assert (row.baseline[0], row.contender[0], row.estimates.mean[0]) == (2.5, 3.5, 1.0)


@pytest.mark.parametrize(("last", "differ"), [(0.0, 0), (1e-6, 1)])
def test_what_rounding_leaves_is_no_difference(last: float, differ: int) -> None:
    """In a cluster 0.3 - 0.1 and 0 - 0.2 are not 0 in floats."""
    levels = np.array([[0.1, 0.2, 0.5, 0.7], [0.3, 0.0, 0.5, 0.7 + last]])
    row = row_of(levels, Clusters(np.array([0, 0, 1, 2])))
    assert row.differ[0] == differ
