"""The one estimate by its definition (docs/verdict.md), with loops, and rows against it."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pytest
from scipy.stats import t

from ir_outcomes.pairs.rows import Row
from ir_outcomes.statistics.runs import added_by_runs
from tests.helpers import literal

Units = Sequence[tuple[float, float]]


class Mean(NamedTuple):
    """A mean of differences, and what its p-value and interval need."""

    difference: float
    error: float  # NaN for fewer than two units
    df: float
    differ: int  # m
    unseen: float  # K (1 - (alpha / 2)^(1 / G)), for clusters times the largest over the mean size
    largest: float  # K, infinite where it is not known

    def pvalue(self) -> float:
        if not self.differ or math.isnan(self.error):
            return 1.0
        p = float(2 * t.sf(abs(self.difference) / self.error, self.df))
        return max(p, 2.0 ** (1 - self.differ))

    def interval(self, alpha: float = 0.05) -> tuple[float, float] | None:
        """With few differences wide enough for those that were not seen."""
        half = float(t.ppf(1 - alpha / 2, self.df)) * self.error
        low, high = self.difference - half, self.difference + half
        if 2.0 ** (1 - max(self.differ, 1)) > alpha:
            low, high = min(low, -self.unseen), max(high, self.unseen)
        if math.isnan(self.error) or math.isinf(low):
            return None
        return max(low, -self.largest), min(high, self.largest)


def mean_of_units(units: Units, largest: float = math.inf, alpha: float = 0.05) -> Mean:
    """One sample: units are (S_g, n_g)."""
    groups = len(units)
    rows = sum(n for _, n in units)
    mean = math.fsum(s for s, _ in units) / rows
    differ = [s for s, _ in units if s != 0]
    if groups < 2:
        return Mean(mean, math.nan, math.nan, len(differ), math.nan, largest)
    spread = sum(((s - n * mean) * rows / (rows - n)) ** 2 for s, n in units)
    typical = sum(s**2 for s in differ) / max(len(differ), 1)
    variance = (groups - 1) / groups * spread + groups / (groups - 1) * 2 * typical
    df = max(rows**2 / sum(n**2 for _, n in units) - 1, 1.0)
    ratio = max(n for _, n in units) / (rows / groups)
    unseen = min(largest * ratio * (1 - (alpha / 2) ** (1 / groups)), largest)
    return Mean(mean, math.sqrt(variance) / rows, df, len(differ), unseen, largest)


def mean_of_queries(differences: Sequence[float], largest: float = math.inf) -> Mean:
    return mean_of_units([(difference, 1.0) for difference in differences], largest)


def mean_of_means(means: Sequence[Mean]) -> Mean:
    """The unweighted mean of independent means, by Welch and Satterthwaite."""
    k = len(means)
    errors = [mean.error if mean.differ else 0.0 for mean in means]
    total = sum(error**2 for error in errors)
    below = sum(error**4 / mean.df for error, mean in zip(errors, means, strict=True))
    return Mean(
        difference=sum(mean.difference for mean in means) / k,
        error=math.sqrt(total) / k,
        df=total**2 / below if below else 1.0,
        differ=sum(mean.differ for mean in means),
        unseen=sum(mean.unseen for mean in means) / k,
        largest=sum(mean.largest for mean in means) / k,
    )


def margin_interval(units: Units, largest: float, alpha: float = 0.05) -> tuple[float, float]:
    """The interval for margins: four imaginary units as large as the largest."""
    biggest = max(n for _, n in units)
    every = [*units, *((side * largest * biggest, biggest) for side in (1, 1, -1, -1))]
    rows = sum(n for _, n in every)
    mean = sum(s for s, _ in units) / rows
    squares = sum((s - n * mean) ** 2 for s, n in every)
    g = len(every)
    half = float(t.ppf(1 - alpha / 2, g - 1)) * math.sqrt(g / (g - 1) * squares) / rows
    return max(mean - half, -largest), min(mean + half, largest)


def margins_of_queries(
    differences: Sequence[float], largest: float, alpha: float = 0.05
) -> tuple[float, float]:
    return margin_interval([(difference, 1.0) for difference in differences], largest, alpha)


def check_row(
    row: Row,
    pairs: list[literal.Pair],
    largest: float | None,
    *,
    clusters: dict[str, str] | None = None,
    identical: bool = False,
) -> None:
    """Compare a row with its values of each query and pair of runs."""
    sign = 1 if row.higher_is_better else -1
    if not pairs:
        assert (row.n, row.difference, row.interval, row.pvalue) == (0, None, None, 1.0)
        return
    sums = literal.units(pairs, clusters)
    expected = mean_of_units(sums, math.inf if largest is None else largest)
    assert row.n == len({pair.query for pair in pairs})
    assert row.differ == sum(total != 0 for total, _ in sums)
    assert row.better == sum(sign * total > 0 for total, _ in sums)
    assert row.baseline == pytest.approx(np.mean([pair.a for pair in pairs]))
    assert row.contender == pytest.approx(np.mean([pair.b for pair in pairs]))
    assert row.difference == pytest.approx(expected.difference, abs=1e-12)
    assert row.pvalue == pytest.approx(expected.pvalue(), rel=1e-6)
    assert row.largest == largest
    if identical:
        assert (row.differ, row.interval) == (0, (0.0, 0.0))
    elif expected.interval() is None:
        assert row.interval is None
    else:
        assert row.interval == pytest.approx(expected.interval(), rel=1e-6, abs=1e-9)


def half_of_new(
    pairs: list[literal.Pair], n_runs: tuple[int, int], clusters: dict[str, str] | None = None
) -> float:
    """Return half the width of the interval for new runs; tests/statistics has what runs add."""
    these = mean_of_units(literal.units(pairs, clusters)).interval()
    assert these is not None
    queries = sorted({pair.query for pair in pairs})
    sides = []
    for side, number in enumerate(n_runs):
        table = np.zeros((2, number, len(queries)))  # sums and numbers
        for pair in pairs:
            place = (pair.run_a, pair.run_b)[side], queries.index(pair.query)
            table[:, *place] += pair.b - pair.a, 1
        if number > 1:
            sides.append((table[0], table[1]))
    codes = None if clusters is None else np.array([clusters[query] for query in queries])
    half = (these[1] - these[0]) / 2
    return math.sqrt(half**2 + added_by_runs(sides, codes, 0.05))
