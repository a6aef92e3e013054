"""Significance tests on both halves of many random splits of the queries, for all pairs of runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.statistics import Differences, rank_sum_tests, sign_tests, t_tests, wilcoxon_tests
from ir_outcomes.statistics.counts import Members, count, medians, membership
from ir_outcomes.statistics.pairs import Pair, counted_pairs

__all__ = ["TestAgreement", "agreement_of", "first_halves", "in_halves", "signs"]

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

TESTS = (
    *((test, "mean") for test in ("sign", "ranksum", "wilcoxon", "t")),
    *((test, "median") for test in ("sign", "ranksum", "wilcoxon")),
)


@dataclass(frozen=True)
class TestAgreement:
    """How often two halves of the queries lead to the same conclusion by one test.

    Attributes
    ----------
    measure : str
        What is tested.
    test : str
        "sign", "ranksum", "wilcoxon" or "t".
    aggregate : str
        "mean" or "median": what says which of two runs is better.
    agree, partial, disagree : float
        Shares of all splits and pairs; they sum to 1.
    significant : float
        Share of splits and pairs that are significant in at least one half.
    """

    __test__ = False  # no class of tests, pytest

    measure: str
    test: str
    aggregate: str
    agree: float
    partial: float
    disagree: float
    significant: float


def first_halves(n_queries: int, splits: int, seed: int) -> Ints:
    """Draw the first halves: (splits, n // 2) int array of queries; what is left is the second half."""
    if n_queries < 4:
        raise ParameterError(f"{n_queries} queries cannot be split in halves that can be tested; at least four are needed")
    order = np.argsort(np.random.default_rng(seed).random((splits, n_queries)), axis=1)
    return order[:, : n_queries // 2]


def agreement_of(
    table: Scores, splits: int = 100, seed: int = 0, alpha: float = 0.05, progress: bool = False
) -> list[TestAgreement]:
    """Count agreement for each test and aggregate, of scores that are already computed; see `agreement`."""
    n_queries = len(table.query_ids)
    first = membership(first_halves(n_queries, splits, seed), n_queries)
    tallies = {key: np.zeros(4, dtype=np.int64) for key in TESTS}
    total = 0
    for halves in _tested_pairs(table, first, progress):
        for (test, aggregate), tally in tallies.items():
            tally += _tally(*((half[aggregate], half[test].pvalue <= alpha) for half in halves))
        total += splits
    return [
        TestAgreement(table.measure, test, aggregate, *(float(number / total) for number in tally))
        for (test, aggregate), tally in tallies.items()
    ]


def _tally(one: tuple[Any, Any], other: tuple[Any, Any]) -> Ints:
    (sign, significant), (other_sign, other_significant) = one, other
    same = sign == other_sign
    both, either = significant & other_significant, significant | other_significant
    agree = same & (both | ~either)
    disagree = ~same & either
    return np.array([agree.sum(), (~agree & ~disagree).sum(), disagree.sum(), either.sum()])


def _tested_pairs(table: Scores, first: Members, progress: bool) -> Iterator[tuple[dict[str, Any], ...]]:
    """Yield, for each pair of runs and each half: tests by name, and by "mean" and "median" the sign of what is better."""
    from tqdm import tqdm

    gains = table.gains()
    total = len(gains) * (len(gains) - 1) // 2
    pairs = counted_pairs(gains, partial(_Halves, first=first))
    for pair in tqdm(pairs, f"halves by {table.measure}", total, disable=not progress):
        yield tuple(_tests_on(pair, half) for half in (0, 1))


class _Halves:
    """Counts of classes in the first and in the second halves; a run's are used in all of its pairs."""

    def __init__(self, code: Ints, n_classes: int, first: Members) -> None:
        self.counts = in_halves(code, n_classes, first)
        self._medians: tuple[Floats, ...] | None = None

    def medians(self, distinct: Floats) -> tuple[Floats, ...]:
        """(n_splits,) arrays, for each half; `distinct` are the values of the classes."""
        if self._medians is None:
            self._medians = tuple(medians(distinct, counts) for counts in self.counts)
        return self._medians


def in_halves(code: Ints, n_classes: int, first: Members) -> tuple[Floats, Floats]:
    """Count the classes in the first half of each split; what is left is in the second."""
    counts = count(code, n_classes, first)
    return counts, np.bincount(code[code >= 0], minlength=n_classes)[:, None] - counts


def _tests_on(pair: Pair[_Halves], half: int) -> dict[str, Any]:
    changes = Differences(pair.sizes, *np.split(pair.changes.counts[half], 2))
    lower, upper = (row.medians(pair.distinct)[half] for row in (pair.x, pair.y))
    return {
        "t": t_tests(changes),
        "wilcoxon": wilcoxon_tests(changes),
        "sign": sign_tests(changes),
        "ranksum": rank_sum_tests(pair.x.counts[half], pair.y.counts[half]),
        "mean": signs(
            pair.sizes @ (changes.positive - changes.negative), slack=2e-12 * float(pair.sizes[-1]) * len(pair.sizes)
        ),
        "median": signs(upper - lower, slack=1e-12 * float(np.abs(pair.distinct).max())),
    }


def signs(values: Floats, slack: float) -> Ints:
    """Signs of the values; 0 within the slack, which is what rounding can make of equals."""
    return (values > slack).astype(np.int64) - (values < -slack)
