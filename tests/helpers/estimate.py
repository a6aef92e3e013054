"""The one estimate by its definition (docs/verdict.md), with loops, and rows against it."""

import math
from collections import defaultdict
from itertools import product

import numpy as np
import pytest
from scipy.stats import t

from ir_outcomes.pairs.rows import Row
from ir_outcomes.statistics.estimate import Interval
from tests.helpers import literal


class Literal:
    """One sample: units are (S_g, n_g)."""

    def __init__(
        self, units: list[tuple[float, float]], alpha: float, largest: float | None
    ) -> None:
        groups = len(units)
        rows = sum(n for _, n in units)
        self.mean = math.fsum(s for s, _ in units) / rows
        differ = [s for s, _ in units if s != 0]
        m = len(differ)
        self.p = 1.0
        self.interval: Interval | None = None
        if groups < 2:
            return
        spread = 0.0
        for s, n in units:
            e = s - n * self.mean
            spread += (e * rows / (rows - n)) ** 2
        typical = sum(s**2 for s in differ) / m if m else 0.0
        variance = (groups - 1) / groups * spread + groups / (groups - 1) * 2 * typical
        self.error = error = math.sqrt(variance) / rows
        self.df = df = max(rows**2 / sum(n**2 for _, n in units) - 1, 1)
        smallest = 2.0 ** (1 - max(m, 1))
        if m:
            self.p = max(2 * t.sf(abs(self.mean) / error, df), smallest)
        half = t.ppf(1 - alpha / 2, df) * error
        low = self.mean - half
        high = self.mean + half
        if smallest > alpha:
            if largest is None:
                return
            ratio = max(n for _, n in units) / (rows / groups)
            unseen = min(largest * ratio * (1 - (alpha / 2) ** (1 / groups)), largest)
            low = min(low, -unseen)
            high = max(high, unseen)
        if largest is not None:
            low = max(low, -largest)
            high = min(high, largest)
        self.interval = Interval(low, high)

    @staticmethod
    def margins(units: list[tuple[float, float]], level: float, largest: float) -> Interval:
        """Return the interval for margins: four imaginary units as large as the largest."""
        biggest = max(n for _, n in units)
        every = [*units, *((side * largest * biggest, biggest) for side in (1, 1, -1, -1))]
        rows = sum(n for _, n in every)
        mean = sum(s for s, _ in units) / rows
        squares = sum((s - n * mean) ** 2 for s, n in every)
        g = len(every)
        half = t.ppf((1 + level) / 2, g - 1) * math.sqrt(g / (g - 1) * squares) / rows
        return Interval(max(mean - half, -largest), min(mean + half, largest))


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
    expected = Literal(sums, 0.05, largest)
    assert row.n == len({pair.query for pair in pairs})
    assert row.differ == sum(total != 0 for total, _ in sums)
    assert row.better == sum(sign * total > 0 for total, _ in sums)
    assert row.baseline == pytest.approx(np.mean([pair.a for pair in pairs]))
    assert row.contender == pytest.approx(np.mean([pair.b for pair in pairs]))
    assert row.difference == pytest.approx(expected.mean, abs=1e-12)
    assert row.pvalue == pytest.approx(expected.p, rel=1e-6)
    assert row.largest == largest
    if identical:
        assert (row.differ, row.interval) == (0, (0.0, 0.0))
    elif expected.interval is None:
        assert row.interval is None
    else:
        assert row.interval == pytest.approx(expected.interval, rel=1e-6, abs=1e-9)


def half_of_new(
    pairs: list[literal.Pair], n_runs: tuple[int, int], clusters: dict[str, str] | None = None
) -> float:
    """Return half the width of the interval for new runs, cell by cell."""
    these = Literal(literal.units(pairs, clusters), 0.05, None)
    assert these.interval is not None
    mean = these.mean
    names = sorted({clusters[pair.query] if clusters else pair.query for pair in pairs})
    total = (these.interval.high - mean) ** 2
    for side, number in enumerate(n_runs):
        if number == 1:
            continue
        per_cell = len(pairs) / (len(names) * number)
        sums: dict[tuple[str, int], float] = defaultdict(float)
        for pair in pairs:
            name = clusters[pair.query] if clusters else pair.query
            sums[name, (pair.run_a, pair.run_b)[side]] += pair.b - pair.a - mean
        cell = {at: mean + sums.get(at, 0.0) / per_cell for at in product(names, range(number))}
        of_run = [np.mean([cell[name, run] for name in names]) for run in range(number)]
        of_unit = {name: np.mean([cell[name, run] for run in range(number)]) for name in names}
        v_s = sum((m - mean) ** 2 for m in of_run) / (number * (number - 1))
        residual = sum(
            (cell[name, run] - of_run[run] - of_unit[name] + mean) ** 2
            for name, run in product(names, range(number))
        )
        n = len(names)
        v_e = residual / ((n - 1) * (number - 1) * n * number)
        total += t.ppf(0.975, number - 1) ** 2 * max(v_s - v_e, 0)
    return math.sqrt(total)
