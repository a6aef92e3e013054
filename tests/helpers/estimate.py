"""The one estimate by its definition (docs/verdict.md), with loops."""

import math

from scipy.stats import t

from ir_outcomes.statistics.estimate import Interval


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
        error = math.sqrt(variance) / rows
        df = max(rows**2 / sum(n**2 for _, n in units) - 1, 1)
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
