"""What two random halves of the queries say about pairs of runs, counted over many splits and pairs.

A split is counted by its first half; the second one has what all queries have less the first. Where
values or search lengths come back from pair to pair, the classes of their differences are looked up
in one table for all runs.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from math import ceil
from typing import NamedTuple, Self

import numpy as np

from ir_outcomes.comparison.outcomes import CoverageTest, coverage_test_for
from ir_outcomes.comparison.pair_tests import PairSamples, run_tests, samples_of
from ir_outcomes.comparison.verdict import LABELS, judge
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.work import in_parallel
from ir_outcomes.formatting import with_progress
from ir_outcomes.leaderboards.changes import BoardLengths, ChangeCounts
from ir_outcomes.statistics.counts import (
    SLACK,
    Differences,
    Members,
    classes,
    count,
    differences,
    medians,
    membership,
)
from ir_outcomes.statistics.halves import Halves
from ir_outcomes.statistics.kernels import rank_sum_tests
from ir_outcomes.statistics.tests import Samples
from ir_outcomes.types import Floats, Ints

# Values and the differences between them are looked up if there are at most so many differences,
# and so many counts of values in the first halves of all runs.
_MOST_CHANGES = 1 << 18
_MOST_COUNTS = 1 << 26
_MOST_NUMBERS = 1 << 19  # in the table of some pairs and their halves
_PAIRS_OF_A_BLOCK = 100


def first_halves(n_queries: int, splits: int, seed: int, clusters: Ints | None = None) -> Members:
    """(n_queries, splits): 1 where a query is in the first half of a split, else 0; clusters of queries stay together."""
    if clusters is None:
        unit = np.arange(n_queries)
    else:
        unit = np.unique(clusters, return_inverse=True)[1]
    n_units = int(unit.max(initial=-1)) + 1
    if n_units < 4:
        called = "queries" if clusters is None else "clusters of queries"
        raise ParameterError(
            f"{n_units} {called} cannot be split in halves that can be tested; at least four are"
            " needed"
        )
    order = np.argsort(np.random.default_rng(seed).random((splits, n_units)), axis=1)
    return membership(order[:, : n_units // 2], n_units)[unit]


@dataclass(frozen=True, eq=False)
class VerdictsOfHalves:
    """Counts the labels of both halves of the answerable queries, over all splits of some pairs of runs."""

    board: BoardLengths
    coverage_test: CoverageTest
    alpha: float
    first: Members  # (n_queries, n_splits)

    @classmethod
    def of(cls, evaluation: Evaluation, splits: int, seed: int, alpha: float) -> Self:
        """Take the search lengths of an evaluation."""
        board = BoardLengths.of(evaluation)
        first = first_halves(board.n_queries, splits, seed, board.clusters)
        # One test for all pairs and halves: a choice by what occurs in a half would change it from
        # half to half.
        return cls(board, coverage_test_for(evaluation), alpha, first)

    def __call__(self, pairs: Ints) -> Ints:
        """(n_labels, n_labels) numbers of splits and pairs, given as (n_pairs, 2) places of runs."""
        n_labels = len(LABELS)
        counts = np.zeros(n_labels**2, dtype=np.int64)
        for samples in self._samples(pairs):
            tests = run_tests(samples, "t", self.coverage_test)
            first, second = np.split(judge(tests, alpha=self.alpha).label, 2)
            counts += np.bincount(n_labels * first + second, minlength=n_labels**2)
        return counts.reshape(n_labels, n_labels)

    def _samples(self, pairs: Ints) -> Iterator[PairSamples]:
        """Yield the samples of some pairs at a time, of each the first halves and behind them the second ones."""
        levels = (self.alpha, self.alpha)
        changes = self.board.changes
        if changes is None:
            halves = np.concatenate([self.first, 1 - self.first], axis=1)
            for baseline, contender in pairs.tolist():
                pair = self.board.paired(baseline, slice(contender, contender + 1))
                yield samples_of(pair, levels, subsets=halves, labels_only=True)
            return
        size = max(1, _MOST_NUMBERS // (changes.n_codes * self.first.shape[1]))
        horizons = np.array(self.board.horizons)[pairs].max(axis=1)
        for horizon in np.unique(horizons).tolist():
            own = pairs[horizons == horizon]
            for start in range(0, len(own), size):
                codes = [changes.codes(*pair) for pair in own[start : start + size].tolist()]
                first = [count(code, changes.n_codes, self.first) for code in codes]
                every = [_totals(code, changes.n_codes) for code in codes]
                of_first, of_every = (
                    ChangeCounts.of(np.concatenate(tables, axis=1), changes.longest, horizon)
                    for tables in (first, every)
                )
                yield of_every.samples(levels, first=of_first, labels_only=True)


def _totals(code: Ints, n_classes: int) -> Floats:
    """Count each class of values in all queries, (n_classes, 1)."""
    return np.bincount(code, minlength=n_classes)[:, None].astype(np.float64)


def _both_halves(code: Ints, n_classes: int, first: Members) -> Floats:
    """Count each class of values in the first halves, and behind them in the second ones, (n_classes, 2 n_splits)."""
    counts = count(code, n_classes, first)
    return np.concatenate([counts, _totals(code, n_classes) - counts], axis=1)


TESTS = (
    *((test, "mean") for test in ("sign", "ranksum", "wilcoxon", "t")),
    *((test, "median") for test in ("sign", "ranksum", "wilcoxon")),
)
# What a test says of a half: which run is better by the aggregate (-1, 0 or 1), and whether that is
# significant.
STATES = tuple((sign, significant) for sign in (-1, 0, 1) for significant in (False, True))


class _Halves(NamedTuple):
    """What tests need to know of a pair of runs, of the first halves and behind them of the second ones."""

    changes: Halves  # the differences
    x: Floats  # (n_values, 2 n_splits) how often the baseline has each value
    y: Floats
    rises: Floats  # (2 n_splits,) median of the contender less that of the baseline


def _changes(sizes: Floats, code: Ints, first: Members) -> Halves:
    """Return the differences with these codes, the negative ones behind all others, in the halves."""
    n_classes = 2 * len(sizes)
    of_first = Differences.of_counts(sizes, count(code, n_classes, first))
    return Halves(of_first, Differences.of_counts(sizes, _totals(code, n_classes)))


class _Known(NamedTuple):
    """Values of all runs that are looked up for each pair: few distinct ones, and all of them defined."""

    code: Ints  # (n_runs, n_queries): which of the distinct values, in ascending order
    sizes: Floats  # of the differences between any two of them
    # (n_values, n_values) codes of these differences, the negative ones behind all others.
    change: Ints
    counts: Members  # (n_runs, n_values, 2 n_splits): how often each value is in a half
    medians: Floats  # (n_runs, 2 n_splits)

    @classmethod
    def of(cls, values: Floats, first: Members) -> Self | None:
        """Return what is looked up; None where values are undefined, or too many differ."""
        if np.isnan(values).any():
            return None
        distinct, code = np.unique(values, return_inverse=True)
        n_values = len(distinct)
        if n_values**2 > _MOST_CHANGES or len(values) * n_values * first.shape[1] > _MOST_COUNTS:
            return None
        code = code.reshape(values.shape)
        change = differences(np.repeat(distinct, n_values), np.tile(distinct, n_values))
        sizes = classes(np.abs(change))
        counts = np.empty((len(values), n_values, 2 * first.shape[1]), dtype=first.dtype)
        of_medians = np.empty((len(values), 2 * first.shape[1]))
        for run, own in enumerate(code):
            halves = _both_halves(own, n_values, first)
            counts[run] = halves
            of_medians[run] = medians(distinct, halves)
        codes = sizes.code + len(sizes.distinct) * (change < 0)
        return cls(
            code,
            sizes.distinct,
            codes.reshape(n_values, n_values),
            counts,
            of_medians,
        )

    def changes(self, baseline: int, contender: int) -> tuple[Floats, Ints]:
        """Return the sizes that occur between two runs, and the codes of the differences, the negative ones behind."""
        n_sizes = len(self.sizes)
        code = self.change[self.code[baseline], self.code[contender]]
        negative = code >= n_sizes
        size = code - n_sizes * negative
        occurs = np.bincount(size, minlength=n_sizes) > 0
        occurs[0] = True  # tests take the first class for that of zero
        sizes = self.sizes[occurs]
        own_code = (np.cumsum(occurs) - 1)[size]
        return sizes, own_code + len(sizes) * negative


@dataclass(frozen=True, eq=False)
class TestsOfHalves:
    """Counts what the tests of a measure say of both halves of the queries, over all splits of some pairs of runs."""

    __test__ = False  # pytest must not collect it

    values: Floats  # (n_runs, n_queries), higher is better, NaN where undefined
    largest: Floats  # (n_runs,) absolute values
    first: Members  # (n_queries, n_splits)
    alpha: float
    known: _Known | None

    @classmethod
    def of(cls, scores: Scores, splits: int, seed: int, alpha: float) -> Self:
        """Take the values of a measure."""
        values = scores.gains()
        first = first_halves(len(scores.query_ids), splits, seed, scores.clusters)
        largest = np.nanmax(np.abs(values), axis=1, initial=0.0)
        return cls(values, largest, first, alpha, _Known.of(values, first))

    def __call__(self, pairs: Ints) -> Ints:
        """(n_tests, n_states, n_states) numbers of splits and pairs, given as (n_pairs, 2) places of runs."""
        n_states = len(STATES)
        counts = np.zeros(len(TESTS) * n_states**2, dtype=np.int64)
        of_tests = n_states**2 * np.arange(len(TESTS))[:, None]
        for baseline, contender in pairs.tolist():
            if self.known is None:
                halves = self._by_classes(baseline, contender)
            else:
                halves = self._looked_up(self.known, baseline, contender)
            largest = max(self.largest[baseline], self.largest[contender])
            first, second = np.split(self._states(halves, largest), 2, axis=1)
            cells = of_tests + n_states * first + second
            counts += np.bincount(cells.ravel(), minlength=len(counts))
        return counts.reshape(len(TESTS), n_states, n_states)

    def _looked_up(self, known: _Known, baseline: int, contender: int) -> _Halves:
        """Count the differences between two runs whose values are known."""
        sizes, code = known.changes(baseline, contender)
        return _Halves(
            _changes(sizes, code, self.first),
            known.counts[baseline].astype(np.float64),
            known.counts[contender].astype(np.float64),
            known.medians[contender] - known.medians[baseline],
        )

    def _by_classes(self, baseline: int, contender: int) -> _Halves:
        """Do the same where classes have to be found for each pair, from the queries where both runs have a value."""
        x = self.values[baseline]
        y = self.values[contender]
        defined = ~(np.isnan(x) | np.isnan(y))
        x = x[defined]
        y = y[defined]
        first = self.first[defined]
        change = differences(x, y)
        sizes = classes(np.abs(change))
        n_sizes = len(sizes.distinct)
        both = classes(np.concatenate([x, y]))
        of_x, of_y = (
            _both_halves(code, len(both.distinct), first) for code in np.split(both.code, 2)
        )
        rises = medians(both.distinct, of_y) - medians(both.distinct, of_x)
        changes = _changes(sizes.distinct, sizes.code + n_sizes * (change < 0), first)
        return _Halves(changes, of_x, of_y, rises)

    def _states(self, halves: _Halves, largest: float) -> Ints:
        """(n_tests, 2 n_splits) states of the halves, as places in `STATES`."""
        changes = Samples(halves.changes)
        pvalues = {name: changes.many(name).pvalue for name in ("t", "wilcoxon", "sign")}
        pvalues["ranksum"] = rank_sum_tests(halves.x, halves.y)[0].pvalue
        # Equal means and medians are a third answer to which run is better. Rounding must not turn
        # them into one of the other two, so both have a slack, in proportion to the largest value.
        rise = np.where(np.abs(halves.rises) > SLACK * largest, halves.rises, 0.0)
        signs = {
            "mean": np.sign(changes.differences.totals).astype(np.int64),
            "median": np.sign(rise).astype(np.int64),
        }
        return np.stack(
            [
                2 * (signs[aggregate] + 1) + (pvalues[test] <= self.alpha)
                for test, aggregate in TESTS
            ]
        )


def added_up(work: Callable[[Ints], Ints], pairs: Ints, n_jobs: int | None, progress: bool) -> Ints:
    """Add up what `work` counts in blocks of pairs, in other processes through joblib if there is more than one job."""
    blocks = np.array_split(pairs, ceil(len(pairs) / _PAIRS_OF_A_BLOCK))
    calls = [partial(work, block) for block in blocks]
    sizes = iter([len(block) for block in blocks])
    counted = with_progress(
        in_parallel(calls, n_jobs), "pair", len(pairs), shown=progress, size=lambda _: next(sizes)
    )
    total: Ints = np.sum([*counted], axis=0)
    return total
