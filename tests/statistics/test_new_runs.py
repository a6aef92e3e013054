"""The variance between runs: against a two-way analysis of variance, and by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ir_outcomes.statistics.intervals import margin_interval, mean_interval
from ir_outcomes.statistics.new_runs import Side, added_by_runs, cells_of, components, halved


def test_components_are_those_of_a_two_way_analysis_of_variance() -> None:
    anova = pytest.importorskip("statsmodels.stats.anova")
    formula = pytest.importorskip("statsmodels.formula.api")
    rng = np.random.default_rng(3)
    cells = rng.normal(size=(30, 6)) + rng.normal(size=(30, 1)) + 0.4 * rng.normal(size=6)
    query, run = np.indices(cells.shape)
    frame = pd.DataFrame({"d": cells.ravel(), "query": query.ravel(), "run": run.ravel()})
    table = anova.anova_lm(formula.ols("d ~ C(query) + C(run)", frame).fit())
    squares = table["sum_sq"] / table["df"]
    found = components(cells)
    assert found.means == pytest.approx(squares["C(run)"] / cells.size)
    assert found.residual == pytest.approx(squares["Residual"] / cells.size)
    assert found.between == pytest.approx(found.means - found.residual)


def test_by_hand() -> None:
    """Two queries and two runs: run means 1 and 3, query means 1 and 3, no residual."""
    found = components(np.array([[0.0, 2.0], [2.0, 4.0]]))
    assert found == (1.0, 0.0)
    d = np.array([0.0, 2.0, 2.0, 4.0])
    side = Side(np.array([0, 0, 1, 1]), 2)
    quantile = stats.t.ppf(0.975, 1)
    assert added_by_runs(d, np.array([0, 1, 0, 1]), [side], 0.95) == pytest.approx(quantile**2)


def test_runs_that_vary_as_chance_does_add_nothing() -> None:
    cells = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])
    assert components(cells).between == 0.0


def test_cells_without_a_row_are_the_mean() -> None:
    side = Side(np.array([0, 0, 1]), 3)
    cells = cells_of(np.array([4.0, 1.0, 1.0]), np.array([0, 1, 0]), side)
    # Mean 2, half a row in a cell.
    assert cells.tolist() == [[6.0, 0.0, 2.0], [0.0, 2.0, 2.0]]
    assert cells.mean() == 2.0


def test_intervals_are_wider_by_what_runs_vary() -> None:
    rng = np.random.default_rng(1)
    clusters = np.tile(np.arange(20), 5)
    side = Side(np.repeat(np.arange(5), 20), 5)
    d = rng.normal(size=100) + side.run
    added = added_by_runs(d, clusters, [side], 0.9)
    for these, new in (
        (mean_interval(d, 0.9, None, clusters), mean_interval(d, 0.9, None, clusters, [side])),
        (margin_interval(d, 50, 0.9, clusters), margin_interval(d, 50, 0.9, clusters, [side])),
    ):
        assert these is not None
        assert new is not None
        half = (these.high - these.low) / 2
        assert (new.high - new.low) / 2 == pytest.approx(np.sqrt(half**2 + added))
        assert new.high + new.low == pytest.approx(these.high + these.low)


def test_runs_can_vary_where_queries_do_not() -> None:
    clusters = np.tile(np.arange(4), 2)
    side = Side(np.repeat(np.arange(2), 4), 2)
    d = np.repeat([1.0, 3.0], 4)
    assert mean_interval(d, 0.95, clusters=clusters) == (2.0, 2.0)
    wide = mean_interval(d, 0.95, clusters=clusters, sides=[side])
    quantile = stats.t.ppf(0.975, 1)
    assert wide == pytest.approx((2 - quantile, 2 + quantile))


def test_the_numbers_that_halve_an_interval_are_the_first_ones_that_do() -> None:
    """Where queries or runs alone leave more than half of the width, however many there are, there is no number."""

    def width(half: float, error: float, times: float, n_runs: float) -> float:
        quantile = stats.t.ppf(0.975, n_runs - 1)
        return float(np.sqrt(half**2 / times + quantile**2 * 5 * error**2 / n_runs))

    wide = halved(0.2, 400, [(5, 0.02)], 0.95)
    assert wide.half == pytest.approx(width(0.2, 0.02, 1, 5))
    assert wide.runs is None
    assert wide.queries is not None
    fewer, enough = (width(0.2, 0.02, (wide.queries - less) / 400, 5) for less in (1, 0))
    assert enough <= wide.half / 2 < fewer
    uncertain = halved(0.02, 400, [(5, 0.05)], 0.95)
    assert uncertain.queries is None
    assert uncertain.runs is not None
    fewer, enough = (width(0.02, 0.05, 1, uncertain.runs - less) for less in (1, 0))
    assert enough <= uncertain.half / 2 < fewer
