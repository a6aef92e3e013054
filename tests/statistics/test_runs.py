"""The variance between runs: against a two-way analysis of variance, loops, and by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ir_outcomes.statistics.intervals import Interval
from ir_outcomes.statistics.runs import (
    Differences,
    Table,
    interval_for_new_runs,
    variance_of_runs,
)
from ir_outcomes.types import Floats, Ints


def of_analysis(cells: Floats) -> float:
    """Return what runs add by statsmodels, of (n_runs, n) cells."""
    anova = pytest.importorskip("statsmodels.stats.anova")
    formula = pytest.importorskip("statsmodels.formula.api")
    run, query = np.indices(cells.shape)
    frame = pd.DataFrame({"d": cells.ravel(), "query": query.ravel(), "run": run.ravel()})
    table = anova.anova_lm(formula.ols("d ~ C(query) + C(run)", frame).fit())
    squares = table["sum_sq"] / table["df"]
    return max(float((squares["C(run)"] - squares["Residual"]) / cells.size), 0.0)


def test_by_hand() -> None:
    """Two queries and two runs: run means 1 and 3, query means 1 and 3, no residual."""
    cells = np.array([[0.0, 2.0], [2.0, 4.0]])
    assert variance_of_runs(Table(cells, np.ones((2, 2)))) == 1.0
    chance = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]]).T
    assert variance_of_runs(Table(chance, np.ones((2, 4)))) == 0.0
    assert variance_of_runs(Table(np.zeros((2, 3)), np.zeros((2, 3)))) == 0.0


@pytest.mark.parametrize("n_runs", [(1, 5), (6, 1), (5, 7)])
def test_both_sides_of_complete_tables_are_two_way_analyses(n_runs: tuple[int, int]) -> None:
    """Each side is averaged over the runs of the other."""
    rng = np.random.default_rng(8)
    d = rng.normal(size=(*n_runs, 20)) + rng.normal(size=20)
    d += rng.normal(size=(n_runs[0], 1, 1)) + rng.normal(size=(n_runs[1], 1))
    differences = Differences(n_runs, 20)
    for a, b in np.ndindex(n_runs):
        differences.add((a, b), np.ones(20), 1 + d[a, b])
    several = [axis for axis in (0, 1) if n_runs[axis] > 1]
    found = differences.variances()
    assert [number for number, _ in found] == [n_runs[axis] for axis in several]
    assert [variance for _, variance in found] == pytest.approx(
        [of_analysis(d.mean(axis=1 - axis)) for axis in several]
    )
    for axis, table in enumerate(differences.tables):
        assert table.means == pytest.approx(d.mean(axis=(1 - axis, 2)))
        assert table.sums.sum(axis=0) == pytest.approx(d.sum(axis=(0, 1)))
    assert differences.sizes_of_terms == pytest.approx((1 + np.abs(1 + d)).sum(axis=(0, 1)))


@pytest.mark.parametrize("clusters", [None, np.arange(30) // 4])
def test_tables_with_empty_cells_are_what_a_loop_has(clusters: Ints | None) -> None:
    rng = np.random.default_rng(4)
    n_runs = (3, 4)
    values = [rng.integers(1, 20, (number, 30)).astype(np.float64) for number in n_runs]
    for own in values:
        own[rng.random(own.shape) < 0.4] = np.nan
        own[:, 7] = np.nan  # no row of this query
        own += np.arange(len(own))[:, None]
    differences = Differences(n_runs, 30)
    rows = []
    for a, b in np.ndindex(n_runs):
        differences.add((a, b), values[0][a], values[1][b])
        for query, d in enumerate(values[1][b] - values[0][a]):
            if not np.isnan(d):
                rows.append(((a, b), query if clusters is None else clusters[query], d))
    mean = np.mean([d for _, _, d in rows])
    units = sorted({unit for _, unit, _ in rows})
    expected = []
    for axis, number in enumerate(n_runs):
        mean_number = len(rows) / (number * len(units))
        cells = np.full((number, len(units)), mean)
        for pair, unit, d in rows:
            cells[pair[axis], units.index(unit)] += (d - mean) / mean_number
        expected.append(of_analysis(cells))
    found = differences.variances(clusters)
    assert [number for number, _ in found] == [3, 4]
    assert [variance for _, variance in found] == pytest.approx(expected)


def test_intervals_are_wider_by_what_runs_vary() -> None:
    variances = [(5, 0.04), (3, 0.01)]
    low, high = interval_for_new_runs(Interval(-1.0, 3.0), variances, 0.1)
    squared = 4 + stats.t.ppf(0.95, 4) ** 2 * 0.04 + stats.t.ppf(0.95, 2) ** 2 * 0.01
    assert (low + high) / 2 == pytest.approx(1.0)
    assert (high - low) / 2 == pytest.approx(np.sqrt(squared))
    assert interval_for_new_runs(Interval(-1.0, 3.0), [(5, 0.0)], 0.1) == (-1.0, 3.0)


def test_a_run_without_rows_has_no_mean() -> None:
    differences = Differences((1, 2), 3)
    differences.add((0, 0), np.ones(3), np.array([2.0, np.nan, 4.0]))
    differences.add((0, 1), np.ones(3), np.full(3, np.nan))
    assert differences.tables[1].means[0] == 2.0
    assert np.isnan(differences.tables[1].means[1])
    assert differences.tables[0].sizes.tolist() == [[1.0, 0.0, 1.0]]
