"""The variance between runs: against a two-way analysis of variance, and by hand."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from ir_outcomes.statistics.intervals import margin_interval, mean_interval
from ir_outcomes.statistics.new_runs import Changes, Side, added_by_runs, halved, variance_of_runs
from ir_outcomes.types import Floats


def test_components_are_those_of_a_two_way_analysis_of_variance() -> None:
    anova = pytest.importorskip("statsmodels.stats.anova")
    formula = pytest.importorskip("statsmodels.formula.api")
    rng = np.random.default_rng(3)
    cells = rng.normal(size=(30, 6)) + rng.normal(size=(30, 1)) + 0.4 * rng.normal(size=6)
    query, run = np.indices(cells.shape)
    frame = pd.DataFrame({"d": cells.ravel(), "query": query.ravel(), "run": run.ravel()})
    table = anova.anova_lm(formula.ols("d ~ C(query) + C(run)", frame).fit())
    squares = table["sum_sq"] / table["df"]
    expected = (squares["C(run)"] - squares["Residual"]) / cells.size
    assert variance_of_runs(cells.T) == pytest.approx(expected)


def test_by_hand() -> None:
    """Two queries and two runs: run means 1 and 3, query means 1 and 3, no residual."""
    assert variance_of_runs(np.array([[0.0, 2.0], [2.0, 4.0]])) == 1.0
    side = Side.of(np.array([[0.0, 2.0], [2.0, 4.0]]), np.ones((2, 2)), np.array([0, 1]))
    assert side == (2, 1.0)
    quantile = stats.t.ppf(0.975, 1)
    assert added_by_runs([side], 0.95) == pytest.approx(quantile**2)


def test_runs_that_vary_as_chance_does_add_nothing() -> None:
    cells = np.array([[1.0, -1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, 1.0]])
    assert variance_of_runs(cells.T) == 0.0


def test_cells_without_a_row_are_the_mean() -> None:
    """Mean 2, half a row in a cell."""
    sums = np.array([[4.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    sizes = np.array([[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    cells = np.array([[6.0, 2.0, 0.0], [0.0, 2.0, 2.0]])
    side = Side.of(sums, sizes, np.array([5, 7]))
    assert side.n_runs == 3
    assert side.between == pytest.approx(variance_of_runs(cells.T))


def added(table: Floats, n_runs: tuple[int, int]) -> Changes:
    """Add up the differences of (n_pairs, n) rows."""
    changes = Changes(n_runs, table.shape[1])
    for place, d in zip(np.ndindex(n_runs), table, strict=True):
        every = np.ones(len(d), dtype=bool)
        changes.add((place[0], place[1]), np.stack([np.zeros(len(d)), d]), every)
    return changes


@pytest.mark.parametrize("n_runs", [(1, 5), (6, 1), (5, 7)])
def test_both_sides_of_complete_tables_are_two_way_analyses(n_runs: tuple[int, int]) -> None:
    """Numbers of runs may differ: each side is averaged over the runs of the other, as in a mixed model of each."""
    anova = pytest.importorskip("statsmodels.stats.anova")
    formula = pytest.importorskip("statsmodels.formula.api")
    rng = np.random.default_rng(8)
    table = rng.normal(size=(*n_runs, 20)) + rng.normal(size=20)
    table += rng.normal(size=(n_runs[0], 1, 1)) + rng.normal(size=(n_runs[1], 1))
    changes = added(table.reshape(-1, 20), n_runs)
    found = list(changes.sides(None))
    for axis, number in enumerate(n_runs):
        if number == 1:
            continue
        cells = table.mean(axis=1 - axis)
        run, query = np.indices(cells.shape)
        frame = pd.DataFrame({"d": cells.ravel(), "query": query.ravel(), "run": run.ravel()})
        fitted = anova.anova_lm(formula.ols("d ~ C(query) + C(run)", frame).fit())
        squares = fitted["sum_sq"] / fitted["df"]
        between = max((squares["C(run)"] - squares["Residual"]) / cells.size, 0.0)
        side = found.pop(0)
        assert side.n_runs == number
        assert side.between == pytest.approx(between)
    assert not found
    means = [table.mean(axis=(1, 2)), table.mean(axis=(0, 2))]
    expected = [mean for mean in means if len(mean) > 1]
    for own, mean in zip(changes.means_of_runs(), expected, strict=True):
        assert own == pytest.approx(mean)
    assert changes.deviation() == pytest.approx(table.std(ddof=1))


def test_intervals_are_wider_by_what_runs_vary() -> None:
    rng = np.random.default_rng(1)
    table = rng.normal(size=(5, 20)) + np.arange(5)[:, None]
    d = table.ravel()
    clusters = np.tile(np.arange(20), 5)
    changes = added(table, (1, 5))
    rows = changes.rows(None)
    sides = changes.sides(None)
    extra = added_by_runs(sides, 0.9)
    assert extra > 0
    for these, summed, new in (
        (
            mean_interval(d, 0.9, None, clusters),
            mean_interval(changes.values[1], 0.9, None, rows),
            mean_interval(changes.values[1], 0.9, None, rows, sides),
        ),
        (
            margin_interval(d, 50, 0.9, clusters),
            margin_interval(changes.values[1], 50, 0.9, rows),
            margin_interval(changes.values[1], 50, 0.9, rows, sides),
        ),
    ):
        assert these is not None
        assert summed == pytest.approx(these)
        assert new is not None
        half = (these.high - these.low) / 2
        assert (new.high - new.low) / 2 == pytest.approx(np.sqrt(half**2 + extra))
        assert new.high + new.low == pytest.approx(these.high + these.low)


def test_equal_rows_do_not_deviate() -> None:
    changes = added(np.full((5, 7), 1 / 3), (5, 1))
    assert changes.deviation() == 0.0
    assert Changes((1, 5), 3).deviation() is None
    assert Changes((1, 5), 3).sides(None) == ()


def test_runs_can_vary_where_queries_do_not() -> None:
    changes = added(np.repeat([1.0, 3.0], 4).reshape(2, 4), (1, 2))
    rows = changes.rows(None)
    assert mean_interval(changes.values[1], 0.95, clusters=rows) == (2.0, 2.0)
    side = Side.of(np.array([[1.0] * 4, [3.0] * 4]), np.ones((2, 4)), np.arange(4))
    wide = mean_interval(changes.values[1], 0.95, clusters=rows, sides=[side])
    quantile = stats.t.ppf(0.975, 1)
    assert wide == pytest.approx((2 - quantile, 2 + quantile))


def test_the_numbers_that_halve_an_interval_are_the_first_ones_that_do() -> None:
    """Where queries or runs alone leave more than half of the width, however many there are, there is no number."""

    def width(half: float, error: float, times: float, n_runs: float) -> float:
        quantile = stats.t.ppf(0.975, n_runs - 1)
        return float(np.sqrt(half**2 / times + quantile**2 * 5 * error**2 / n_runs))

    wide = halved(0.2, 400, [Side(5, 0.02**2)], 0.95)
    assert wide.half == pytest.approx(width(0.2, 0.02, 1, 5))
    assert wide.runs is None
    assert wide.queries is not None
    fewer, enough = (width(0.2, 0.02, (wide.queries - less) / 400, 5) for less in (1, 0))
    assert enough <= wide.half / 2 < fewer
    uncertain = halved(0.02, 400, [Side(5, 0.05**2)], 0.95)
    assert uncertain.queries is None
    assert uncertain.runs is not None
    fewer, enough = (width(0.02, 0.05, 1, uncertain.runs - less) for less in (1, 0))
    assert enough <= uncertain.half / 2 < fewer
