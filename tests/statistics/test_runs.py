"""The variance between runs: against a two-way analysis of variance, loops, and by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ir_outcomes.choices import Floats, Ints
from ir_outcomes.statistics.runs import added_by_runs, variance_of_runs


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
    assert variance_of_runs(cells, np.ones((2, 2))) == 1.0
    chance = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]]).T
    assert variance_of_runs(chance, np.ones((2, 4))) == 0.0
    assert variance_of_runs(np.zeros((2, 3)), np.zeros((2, 3))) == 0.0
    of_three = np.array([[0.0, 2.0], [1.0, 3.0], [2.0, 4.0]])  # run means 1, 2 and 3
    sides = [(cells, np.ones((2, 2))), (of_three, np.ones((3, 2)))]
    squared = stats.t.ppf(0.95, 1) ** 2 + stats.t.ppf(0.95, 2) ** 2 / 3
    assert added_by_runs(sides, None, 0.1) == pytest.approx(squared)


@pytest.mark.parametrize("n_runs", [(1, 5), (6, 1), (5, 7)])
def test_both_sides_of_complete_tables_are_two_way_analyses(n_runs: tuple[int, int]) -> None:
    """Each side is averaged over the runs of the other."""
    rng = np.random.default_rng(8)
    d = rng.normal(size=(*n_runs, 20)) + rng.normal(size=20)
    d += rng.normal(size=(n_runs[0], 1, 1)) + rng.normal(size=(n_runs[1], 1))
    for side in (0, 1):
        if n_runs[side] > 1:
            sums = d.sum(axis=1 - side)
            sizes = np.full(sums.shape, float(n_runs[1 - side]))
            expected = of_analysis(d.mean(axis=1 - side))
            assert variance_of_runs(sums, sizes) == pytest.approx(expected)


@pytest.mark.parametrize("clusters", [None, np.arange(30) // 4])
def test_tables_with_empty_cells_are_what_a_loop_has(clusters: Ints | None) -> None:
    rng = np.random.default_rng(4)
    d = rng.normal(size=(3, 4, 30)) + np.arange(4)[:, None]
    d[rng.random(d.shape) < 0.6] = np.nan
    d[:, :, 7] = np.nan  # no row of this query
    rows = [(runs, d[runs]) for runs in np.ndindex(d.shape) if not np.isnan(d[runs])]
    unit = np.arange(30) if clusters is None else clusters
    units = sorted({int(unit[query]) for (_, _, query), _ in rows})
    mean = np.mean([difference for _, difference in rows])
    for side in (0, 1):
        n_runs = d.shape[side]
        cells = np.full((n_runs, len(units)), mean)
        for runs, difference in rows:
            place = units.index(int(unit[runs[2]]))
            cells[runs[side], place] += (difference - mean) * n_runs * len(units) / len(rows)
        sums = np.nansum(d, axis=1 - side)
        sizes = (~np.isnan(d)).sum(axis=1 - side).astype(np.float64)
        expected = of_analysis(cells)
        assert variance_of_runs(sums, sizes, clusters) == pytest.approx(expected)
