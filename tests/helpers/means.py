"""The one estimate and means of it, written down once more with plain loops."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from scipy.stats import t

from tests.helpers.estimate import Literal


class Mean(NamedTuple):
    """A mean of differences, its standard error, and its degrees of freedom."""

    difference: float
    error: float
    df: float
    least_p: float = 0.0  # 2 to the 1 - m

    def pvalue(self) -> float:
        """Return the two-sided p-value; 1 where nothing differs."""
        if not self.error:
            return 1.0
        return max(float(2 * t.sf(abs(self.difference) / self.error, self.df)), self.least_p)

    def interval(self, alpha: float = 0.05) -> tuple[float, float]:
        """Return the interval, not cut."""
        half = float(t.ppf(1 - alpha / 2, self.df)) * self.error
        return self.difference - half, self.difference + half


def mean_of_queries(differences: Sequence[float]) -> Mean:
    """Return the estimate over independent queries."""
    m = sum(difference != 0 for difference in differences)
    one = Literal([(difference, 1.0) for difference in differences], 0.05, None)
    return Mean(one.mean, one.error, one.df, 2.0 ** (1 - m) if m else 0.0)


def mean_of_means(means: Sequence[Mean]) -> Mean:
    """Return the unweighted mean of independent means, by Welch and Satterthwaite."""
    k = len(means)
    total = sum(mean.error**2 for mean in means)
    below = sum(mean.error**4 / mean.df for mean in means)
    df = total**2 / below if below else 1.0
    return Mean(sum(mean.difference for mean in means) / k, math.sqrt(total) / k, df)


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
