"""The one estimate and means of it, written down once more with plain loops."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from scipy.stats import t

from tests.helpers.estimate import Literal


class Mean(NamedTuple):
    """A mean of differences, and what its p-value and interval need."""

    difference: float
    error: float
    df: float
    differ: int  # m
    unseen: float  # K (1 - (alpha / 2)^(1 / G)), for clusters times the largest over the mean size
    largest: float  # K

    def pvalue(self) -> float:
        """Return the two-sided p-value; 1 where nothing differs."""
        if not self.differ:
            return 1.0
        p = float(2 * t.sf(abs(self.difference) / self.error, self.df))
        return max(p, 2.0 ** (1 - self.differ))

    def interval(self, alpha: float = 0.05) -> tuple[float, float]:
        """Return the interval, with few differences wide enough for those that were not seen."""
        half = float(t.ppf(1 - alpha / 2, self.df)) * self.error
        low, high = self.difference - half, self.difference + half
        if 2.0 ** (1 - max(self.differ, 1)) > alpha:
            low, high = min(low, -self.unseen), max(high, self.unseen)
        return max(low, -self.largest), min(high, self.largest)


def mean_of_units(
    units: Sequence[tuple[float, float]], largest: float, alpha: float = 0.05
) -> Mean:
    """Return the estimate over units with their sums and sizes."""
    one = Literal([*units], alpha, largest)
    sizes = [n for _, n in units]
    unseen = (
        largest * (1 - (alpha / 2) ** (1 / len(units))) * max(sizes) / (sum(sizes) / len(units))
    )
    differ = sum(total != 0 for total, _ in units)
    return Mean(one.mean, one.error, one.df, differ, min(unseen, largest), largest)


def mean_of_queries(
    differences: Sequence[float], largest: float = math.inf, alpha: float = 0.05
) -> Mean:
    """Return the estimate over independent queries."""
    return mean_of_units([(difference, 1.0) for difference in differences], largest, alpha)


def mean_of_means(means: Sequence[Mean]) -> Mean:
    """Return the unweighted mean of independent means, by Welch and Satterthwaite."""
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


def new_one(means: Sequence[Mean], alpha: float = 0.05) -> tuple[float, float]:
    """Return where the difference of a new collection lies: mean -+ t(k - 1) s sqrt(1 + 1 / k)."""
    k = len(means)
    mean = sum(own.difference for own in means) / k
    s = math.sqrt(sum((own.difference - mean) ** 2 for own in means) / (k - 1))
    half = float(t.ppf(1 - alpha / 2, k - 1)) * s * math.sqrt(1 + 1 / k)
    return mean - half, mean + half


def margin_interval(
    differences: Sequence[float], largest: float, alpha: float = 0.05
) -> tuple[float, float]:
    """Return the interval for margins of independent queries."""
    units = [(difference, 1.0) for difference in differences]
    return Literal.margins(units, 1 - alpha, largest)
