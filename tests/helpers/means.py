"""The one estimate and means of it, written down once more with plain loops."""

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import t

from tests.helpers import literal
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


def differences(
    qrels: literal.Qrels, a: literal.Run, b: literal.Run, unit: str, k: int
) -> dict[str, list[tuple[str, float]]]:
    """The differences of the three rows by their definitions, query by query."""
    rows: dict[str, list[tuple[str, float]]] = {"coverage": [], "ranking": [], "all queries": []}
    for query, judged in qrels.items():
        golds = [*judged]
        orders = [literal.ranked(run[query], "trec")[:k] for run in (a, b)]
        lengths: list[float] = []
        if unit == "document":
            found = [{*order} & {*golds} for order in orders]
            both = found[0] & found[1]
            shares = [100 * len(documents) / len(golds) for documents in found]
            if both:
                lengths = [
                    float(np.mean([literal.atom(order, golds, d) for d in both]))
                    for order in orders
                ]
            whole = [literal.asl(order, golds, "cutoff", k, None) for order in orders]
        else:
            first = [literal.esl(order, golds) for order in orders]
            shares = [0.0 if math.isnan(rank) else 100.0 for rank in first]
            if all(shares):
                lengths = first
            whole = [k + 1.0 if math.isnan(rank) else rank for rank in first]
        rows["coverage"].append((query, shares[1] - shares[0]))
        rows["all queries"].append((query, whole[1] - whole[0]))
        if lengths:
            rows["ranking"].append((query, lengths[1] - lengths[0]))
    return rows


def units_of(
    values: Sequence[tuple[str, float]], clusters: Mapping[str, str] | None
) -> list[tuple[float, float]]:
    """Return sums and numbers of queries, or of their clusters."""
    sums: dict[str, list[float]] = {}
    for query, value in values:
        sums.setdefault(query if clusters is None else clusters[query], []).append(value)
    exact = ((math.fsum(of_unit), float(len(of_unit))) for of_unit in sums.values())
    return [(0.0 if abs(total) < 1e-9 else total, n) for total, n in exact]
