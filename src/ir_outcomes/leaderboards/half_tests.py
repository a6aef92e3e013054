"""Significance tests on halves of the queries, for all pairs of runs and many random splits: Craswell et al. 2021, Table 4."""

from __future__ import annotations

from dataclasses import asdict
from functools import partial
from typing import NamedTuple

import numpy as np

from ir_outcomes._types import Bools, Floats, Ints
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.leaderboards.halves import HalfAgreement, first_halves, rates
from ir_outcomes.statistics import Differences, Tests, rank_sum_tests, sign_tests, t_tests, wilcoxon_tests
from ir_outcomes.statistics.counts import Members, count, medians, membership
from ir_outcomes.statistics.orders import SLACK
from ir_outcomes.statistics.pairs import Pair, counted_pairs

__all__ = ["agreement_of_tests"]

_TESTS = (
    *((test, "mean") for test in ("sign", "ranksum", "wilcoxon", "t")),
    *((test, "median") for test in ("sign", "ranksum", "wilcoxon")),
)

# What a test says of a half is one of six states: which run is better by the aggregate, and whether that is significant.
_SIGNS = np.repeat([-1, 0, 1], 2)
_SIGNIFICANT = np.tile([False, True], 3)
_LABELS = np.where(_SIGNIFICANT, _SIGNS, 0) + 1  # 0 worse, 1 no difference, 2 better
_SAME_RUN = np.equal.outer(_SIGNS, _SIGNS)
_BOTH, _EITHER = np.logical_and.outer(_SIGNIFICANT, _SIGNIFICANT), np.logical_or.outer(_SIGNIFICANT, _SIGNIFICANT)
_AGREE, _DISAGREE = _SAME_RUN & (_BOTH | ~_EITHER), ~_SAME_RUN & _EITHER


def agreement_of_tests(
    scores: Scores, splits: int = 100, seed: int = 0, alpha: float = 0.05, progress: bool = False
) -> list[HalfAgreement]:
    """Count how far halves agree, for each test and aggregate; see `ir_outcomes.agreement`."""
    from tqdm import tqdm

    n_queries = len(scores.query_ids)
    first = membership(first_halves(n_queries, splits, seed), n_queries)
    states = {key: np.zeros((6, 6), dtype=np.int64) for key in _TESTS}
    gains = scores.gains()
    n_pairs = len(gains) * (len(gains) - 1) // 2
    pairs = counted_pairs(gains, partial(_HalfCounts, first=first))
    for pair in tqdm(pairs, f"halves by {scores.measure}", n_pairs, disable=not progress):
        halves = _tests_on(pair, 0), _tests_on(pair, 1)
        for (test, aggregate), counts in states.items():
            first_half, second_half = (_states(half.signs[aggregate], half.tests[test].pvalue <= alpha) for half in halves)
            counts += np.bincount(6 * first_half + second_half, minlength=36).reshape(6, 6)
    return [_agreement(scores.measure, test, aggregate, counts) for (test, aggregate), counts in states.items()]


def _states(sign: Ints, significant: Bools) -> Ints:
    return 2 * (sign + 1) + significant


def _agreement(measure: str, test: str, aggregate: str, states: Ints) -> HalfAgreement:
    total = int(states.sum())
    labels = np.zeros((3, 3), dtype=np.int64)
    np.add.at(labels, (_LABELS[:, None], _LABELS[None, :]), states)
    agree, disagree = int(states[_AGREE].sum()), int(states[_DISAGREE].sum())
    return HalfAgreement(
        **asdict(rates(labels, np.array([-1, 0, 1]), undecided=1)),
        measure=measure,
        test=test,
        aggregate=aggregate,
        agree=agree / total,
        partial=(total - agree - disagree) / total,
        disagree=disagree / total,
        significant=int(states[_EITHER].sum()) / total,
    )


class _HalfTests(NamedTuple):
    """What is known of a pair of runs in one half of each split.

    Attributes
    ----------
    tests : dict of str to Tests
        By name; arrays over the splits.
    signs : dict of str to (n_splits,) int arrays
        By "mean" and "median": 1 where the second run of the pair is better, -1 where the first is, 0 where they are equal.
    """

    tests: dict[str, Tests]
    signs: dict[str, Ints]


class _HalfCounts:
    """How often each class of values occurs in the first and in the second half of each split.

    The counts of a run serve all of its pairs. The medians are computed when the first pair asks for them and then kept,
    because they take longer than the tests.
    """

    def __init__(self, code: Ints, n_classes: int, first: Members) -> None:
        counts = count(code, n_classes, first)
        # The second half has what the first half lacks, so that only one of them has to be counted.
        self.counts = counts, np.bincount(code[code >= 0], minlength=n_classes)[:, None] - counts
        self._medians: tuple[Floats, ...] | None = None

    def medians(self, distinct: Floats) -> tuple[Floats, ...]:
        """(n_splits,) arrays, for each half; `distinct` are the values of the classes."""
        if self._medians is None:
            self._medians = tuple(medians(distinct, counts) for counts in self.counts)
        return self._medians


def _tests_on(pair: Pair[_HalfCounts], half: int) -> _HalfTests:
    changes = Differences(pair.sizes, *np.split(pair.changes.counts[half], 2))
    lower, upper = (row.medians(pair.distinct)[half] for row in (pair.x, pair.y))
    return _HalfTests(
        tests={
            "t": t_tests(changes),
            "wilcoxon": wilcoxon_tests(changes),
            "sign": sign_tests(changes),
            "ranksum": rank_sum_tests(pair.x.counts[half], pair.y.counts[half]),
        },
        signs={
            # Equal means and medians are a third answer to which run is better. Rounding must not turn them into one of the
            # other two, so both have a slack, in proportion to the largest value.
            "mean": np.sign(changes.totals).astype(np.int64),
            "median": _signs(upper - lower, SLACK * float(np.abs(pair.distinct).max())),
        },
    )


def _signs(values: Floats, slack: float) -> Ints:
    return (values > slack).astype(np.int64) - (values < -slack)
