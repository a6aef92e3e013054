"""A comparison of two runs computed by hand: from the definitions in `literal`, scipy, and plain sums."""

import math
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, wraps
from typing import Any, TypeVar

import numpy as np
import scipy.stats

from tests.helpers import literal
from tests.helpers.literal import Qrels, Run

FEW = 30
CLOSE = 1e-9
Rows = Mapping[str, tuple[Fraction, Fraction]]
T = TypeVar("T")


def once(method: "Callable[[Pair, Rows], T]") -> "Callable[[Pair, Rows], T]":
    """Compute what a method says of the same rows once."""

    @wraps(method)
    def remembered(pair: "Pair", rows: Rows) -> T:
        key = (method.__name__, id(rows))
        if key not in pair.known:
            pair.known[key] = (
                rows,
                method(pair, rows),
            )  # while they are kept, no other has their id
        found: T = pair.known[key][1]
        return found

    return remembered


@dataclass
class Pair:
    """Two runs on the same judgments; a difference is B minus A."""

    qrels: Qrels
    a: Run
    b: Run
    cutoff: int
    unit: str
    judged_only: bool = False
    clusters: Mapping[str, str] | None = None
    test: str = "t"
    # The whole rankings by run and query, which pairs at other cutoffs share.
    orders: dict[tuple[int, str], list[str]] = field(default_factory=dict, repr=False)
    known: dict[tuple[str, int], Any] = field(init=False, default_factory=dict, repr=False)
    queries: list[str] = field(init=False)

    def __post_init__(self) -> None:
        self.queries = [query for query, judged in self.qrels.items() if max(judged.values()) > 0]

    def golds(self, query: str) -> list[str]:
        return literal.relevant(self.qrels[query], 1)

    def order(self, run: Run, query: str, cutoff: int | None = None) -> list[str]:
        key = (id(run), query)
        if key not in self.orders:
            self.orders[key] = literal.ranked(run.get(query, {}), "trec")
        ranked = self.orders[key]
        at = self.cutoff if cutoff is None else cutoff
        return literal.top(ranked, self.qrels[query], at, self.judged_only)

    @cached_property
    def depths(self) -> tuple[int, int]:
        a, b = (
            max(len(self.order(run, query)) for query in self.qrels) for run in (self.a, self.b)
        )
        return a, b

    @cached_property
    def horizon(self) -> int:
        return min(self.cutoff, max(self.depths))

    def lengths(self, run: Run, query: str) -> list[float | None]:
        """Return the search length of each item, of the query or its relevant documents; None where it is not found."""
        order = self.order(run, query)
        golds = self.golds(query)
        if self.unit == "query":
            rank = literal.esl(order, golds)
            return [None if math.isnan(rank) else rank]
        return [literal.atom(order, golds, gold) if gold in order else None for gold in golds]

    @cached_property
    def items(self) -> dict[str, list[tuple[float | None, float | None]]]:
        return {
            query: list(zip(self.lengths(self.a, query), self.lengths(self.b, query), strict=True))
            for query in self.queries
        }

    @cached_property
    def found(self) -> dict[str, tuple[Fraction, Fraction]]:
        """Return the share of its items that each run found, by query."""
        return {
            query: (
                Fraction(sum(a is not None for a, _ in items), len(items)),
                Fraction(sum(b is not None for _, b in items), len(items)),
            )
            for query, items in self.items.items()
        }

    @cached_property
    def shared(self) -> dict[str, tuple[Fraction, Fraction]]:
        """Return the mean search lengths on what both found, by query."""
        means = {}
        for query, items in self.items.items():
            both = [(a, b) for a, b in items if a is not None and b is not None]
            if both:
                of_a, of_b = (Fraction(sum(side)) for side in zip(*both, strict=True))
                means[query] = (of_a / len(both), of_b / len(both))
        return means

    @cached_property
    def restricted(self) -> dict[str, tuple[Fraction, Fraction]]:
        """Return the search lengths over all queries, what is not found counting the horizon and 1."""
        means = {}
        for query, items in self.items.items():
            of_a, of_b = (
                [self.horizon + 1 if length is None else length for length in side]
                for side in zip(*items, strict=True)
            )
            means[query] = (Fraction(sum(of_a)) / len(items), Fraction(sum(of_b)) / len(items))
        return means

    @cached_property
    def of_won_and_lost(self) -> dict[str, tuple[Fraction, Fraction]]:
        """Return the same where one run alone found the item, and 0 for all others."""
        parts = {}
        for query, items in self.items.items():
            change = Fraction(0)
            for a, b in items:
                if (a is None) != (b is None):
                    change += Fraction(self.horizon + 1 if b is None else b)
                    change -= Fraction(self.horizon + 1 if a is None else a)
            parts[query] = (Fraction(0), change / len(items))
        return parts

    @cached_property
    def reciprocal(self) -> dict[str, tuple[Fraction, Fraction]]:
        """Return the reciprocal rank of the first relevant document, by query."""
        values = {}
        for query in self.queries:
            ranks = [
                literal.esl(self.order(run, query), self.golds(query)) for run in (self.a, self.b)
            ]
            of_a, of_b = (0 if math.isnan(rank) else 1 / Fraction(rank) for rank in ranks)
            values[query] = (Fraction(of_a), Fraction(of_b))
        return values

    @once
    def sums(self, rows: Rows) -> list[Fraction]:
        """Return the sum of the differences in each cluster, or the differences themselves without clusters."""
        totals: dict[str, Fraction] = {}
        for query, (a, b) in rows.items():
            cluster = query if self.clusters is None else self.clusters[query]
            totals[cluster] = totals.get(cluster, Fraction(0)) + b - a
        return list(totals.values())

    @once
    def n_differing(self, rows: Rows) -> int:
        return sum(change != 0 for change in self.sums(rows))

    @once
    def t(self, rows: Rows) -> float:
        """Return the p-value of the paired t test, by cluster where there are clusters."""
        changes = np.array([float(b - a) for a, b in rows.values()])
        if len(set(changes.tolist())) < 2:
            return self.signflip(rows)
        if self.clusters is None:
            return float(scipy.stats.ttest_1samp(changes, 0).pvalue)
        owners = np.array([self.clusters[query] for query in rows])
        n_clusters = len(set(owners))
        if n_clusters < 2:
            return 1.0
        residuals = [(changes - changes.mean())[owners == owner].sum() for owner in set(owners)]
        variance = n_clusters / (n_clusters - 1) * float(np.square(residuals).sum())
        if variance < 1e-20:
            return self.signflip(rows)
        t = changes.sum() / math.sqrt(variance)
        return float(2 * scipy.stats.t.sf(abs(t), n_clusters - 1))

    @once
    def signflip(self, rows: Rows) -> float:
        """Return the exact p-value of the sign-flip test on the sum, by counting all signs."""
        return flipped(tuple(change for change in self.sums(rows) if change))

    @once
    def wilcoxon(self, rows: Rows) -> tuple[float, int]:
        """Return the p-value and the direction of the signed ranks."""
        changes = [change for change in self.sums(rows) if change]
        if len(changes) < 2:
            return 1.0, int(sum(np.sign([float(change) for change in changes])))
        sizes = Counter(map(abs, changes))
        place: dict[Fraction, Fraction] = {}
        smaller = 0
        for size in sorted(sizes):
            place[size] = smaller + Fraction(sizes[size] + 1, 2)
            smaller += sizes[size]
        signed = [place[abs(change)] * (1 if change > 0 else -1) for change in changes]
        total = sum(signed)
        direction = int(total > 0) - int(total < 0)
        if len(changes) <= 50:
            return flipped(tuple(signed)), direction
        with np.errstate(all="ignore"):
            p = scipy.stats.wilcoxon(
                [float(change) for change in changes], correction=False, method="asymptotic"
            ).pvalue
        return float(p), direction

    def coverage_pvalue(self) -> float:
        return self._coverage_pvalue

    @cached_property
    def _coverage_pvalue(self) -> float:
        if self.clusters is not None or self.unit == "document":
            return self.signflip(self.found)
        won = sum(b > a for a, b in self.found.values())
        lost = sum(b < a for a, b in self.found.values())
        return float(scipy.stats.binomtest(won, won + lost).pvalue) if won + lost else 1.0

    @once
    def mean_pvalue(self, rows: Rows) -> float:
        """Return the p-value of t, or of sign flips where few differ."""
        differing = self.n_differing(rows)
        if differing < 2:
            return 1.0
        return self.t(rows) if differing >= FEW else self.signflip(rows)

    def ranking_pvalue(self) -> float:
        if self.test == "wilcoxon":
            return self.wilcoxon(self.shared)[0]
        if self.test == "signflip":
            return self.signflip(self.shared)
        return self.mean_pvalue(self.shared)


def mean_of(rows: Rows, side: int) -> Fraction:
    scale = math.lcm(*(row[side].denominator for row in rows.values()))
    total = sum(row[side].numerator * (scale // row[side].denominator) for row in rows.values())
    return Fraction(total, scale * max(len(rows), 1))


def change_of(rows: Rows) -> Fraction:
    return mean_of(rows, 1) - mean_of(rows, 0)


@cache
def flipped(changes: tuple[Fraction, ...]) -> float:
    """Return the share of all assignments of signs whose sum is at least as far from 0."""
    if len(changes) < 2:
        return 1.0
    scale = math.lcm(*(change.denominator for change in changes))
    steps = [int(abs(change) * scale) for change in changes]
    chances = np.ones(1)
    for step in steps:
        wider = np.zeros(len(chances) + 2 * step)
        wider[: len(chances)] += chances / 2
        wider[2 * step :] += chances / 2
        chances = wider
    center = sum(steps)
    observed = abs(int(sum(changes) * scale))
    if observed == 0:
        return 1.0
    return float(chances[: center - observed + 1].sum() + chances[center + observed :].sum())


def holm(pvalues: list[float]) -> list[float]:
    """Return p-values corrected by Holm's method."""
    adjusted = [0.0] * len(pvalues)
    largest = 0.0
    for step, place in enumerate(sorted(range(len(pvalues)), key=pvalues.__getitem__)):
        largest = max(largest, min(1.0, (len(pvalues) - step) * pvalues[place]))
        adjusted[place] = largest
    return adjusted
