"""The two-facet verdict for all pairs of runs.

The numbers that decide are those of `ir_outcomes.compare`. What a comparison shows beside them is
left out, because n runs have n (n - 1) / 2 pairs: a pair keeps a few numbers, and nothing by query.

A pair by itself takes a hundred short calls of NumPy. Here the pairs of a baseline with several
contenders are samples of one table, whose numbers come from the same functions as those of a single
pair.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, groupby
from math import isnan, isqrt, prod
from typing import Any, NamedTuple, Self, overload

import numpy as np
import numpy.typing as npt

from ir_outcomes.comparison.facets import known_p
from ir_outcomes.comparison.outcomes import (
    CoverageTest,
    PairedQueries,
    coverage_test_for,
    pair_queries,
)
from ir_outcomes.comparison.pair_tests import PairSamples, PairTests, run_tests, samples_of
from ir_outcomes.comparison.verdict import LABELS, MIRRORED, direction_of, judge
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.formatting import with_progress
from ir_outcomes.leaderboards.changes import BoardLengths, ChangeCounts
from ir_outcomes.statistics.corrections import first_step_level
from ir_outcomes.statistics.kernels import Pvalues
from ir_outcomes.statistics.signflips import Levels
from ir_outcomes.table_columns import PVALUE, Column, decimals, signed
from ir_outcomes.types import Bools, Direction, Floats, Ints, divided

Numbers = npt.NDArray[np.void]  # of pairs, by name

# Both bound a table of numbers by pairs, whatever the number of runs.
_MOST_NUMBERS = 1 << 19
_MOST_SHARES = 1 << 16  # most numbers differ from pair to pair: larger tables would be mostly zeros


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The verdict on a contender against a baseline, with the numbers that led to it."""

    baseline: str  #: its name
    contender: str  #: its name; every difference is contender minus baseline
    coverage: float  #: change of coverage, percentage points, higher is better
    coverage_p: float  #: of the exact binomial test, or of the sign-flip test where shares of documents are compared
    coverage_p_corrected: float  #: over all pairs
    #: Mean search length on what both found, lower is better; None where that is nothing.
    baseline_length: float | None
    contender_length: float | None  #: that of the contender
    ranking_p: float  #: of the test of the mean that decides (t; with fewer than 30 differences that are not zero sign flips)
    ranking_p_corrected: float  #: over all pairs
    all_queries: float  #: change of the restricted search length over all queries, lower is better
    all_queries_p: float  #: of the test of its mean
    all_queries_p_corrected: float  #: over all pairs
    label: str  #: the verdict, one of `ir_outcomes.comparison.verdict.LABELS`, after the confirmation and the guard

    @property
    def direction(self) -> Direction:
        """The direction of the label for the contender."""
        return direction_of(self.label)

    @property
    def ranking(self) -> float | None:
        """Change of the mean search length on what both found, ranks, lower is better."""
        if self.baseline_length is None or self.contender_length is None:
            return None
        return self.contender_length - self.baseline_length

    def turned(self) -> Self:
        """Return the verdict on the baseline against the contender."""
        return replace(
            self,
            baseline=self.contender,
            contender=self.baseline,
            coverage=0.0 - self.coverage,  # 0 stays 0, and does not become -0.0
            baseline_length=self.contender_length,
            contender_length=self.baseline_length,
            all_queries=0.0 - self.all_queries,
            label=MIRRORED[self.label],
        )


RANKING_P = Column(
    "ranking_p", lambda pair: known_p(pair.ranking, pair.ranking_p_corrected), "p", PVALUE
)
PAIR_COLUMNS = (
    Column("run", "baseline"),
    Column("coverage", form=signed(1), unit="points", better="higher"),
    Column("coverage_p", "coverage_p_corrected", "p", PVALUE),
    Column("its_length", "baseline_length", "length A", decimals(2), better="lower"),
    Column("own_length", "contender_length", "length B", decimals(2), better="lower"),
    RANKING_P,
    Column("all_queries", heading="all queries", form=signed(2), better="lower"),
    Column("all_queries_p", "all_queries_p_corrected", "p", PVALUE),
    Column("verdict", "label"),
)


# What `PairVerdicts` keeps of each pair: the fields that are numbers.
_NUMBERS = [(own.name, np.float64) for own in fields(PairVerdict) if own.type is not str]


class PairVerdicts(Sequence[PairVerdict]):
    """The verdicts on all pairs of runs, in the order of `itertools.combinations`; equal to a tuple of the same verdicts.

    Numbers are kept in arrays, which take a quarter of the memory of as many objects. A
    `PairVerdict` is made when it is asked for.
    """

    __slots__ = ("_is_turned", "_labels", "_names", "_numbers", "_runs")

    def __init__(
        self,
        names: Sequence[str],
        numbers: Numbers,
        labels: npt.NDArray[Any],
        is_turned: Bools | None = None,
    ) -> None:
        """Take (n_pairs,) numbers and labels; where a pair is turned, those of its first run against its second."""
        self._names = tuple(names)
        self._numbers = numbers
        self._labels = labels.astype(np.int8)
        self._runs = np.stack(np.triu_indices(len(names), 1), axis=1).astype(np.int32)
        self._is_turned = np.zeros(len(labels), dtype=bool) if is_turned is None else is_turned

    def __len__(self) -> int:
        return len(self._labels)

    @overload
    def __getitem__(self, place: int) -> PairVerdict: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[PairVerdict, ...]: ...

    def __getitem__(self, place: int | slice) -> PairVerdict | tuple[PairVerdict, ...]:
        if isinstance(place, slice):
            return tuple(self[number] for number in range(len(self))[place])
        runs = [self._names[run] for run in self._runs[place].tolist()]
        if self._is_turned[place]:
            runs.reverse()
        numbers = [None if isnan(number) else number for number in self._numbers[place].tolist()]
        values: list[Any] = [*runs, *numbers, LABELS[self._labels[place]]]
        pair = PairVerdict(*values)
        return pair.turned() if self._is_turned[place] else pair

    def reordered(self, order: Ints) -> Self:
        """Return the verdicts on all pairs of the runs in another order: places in the present one, the first run's first."""
        upper, lower = np.triu_indices(len(order), 1)
        place_of = np.zeros((len(order), len(order)), dtype=np.int64)
        place_of[upper, lower] = np.arange(len(upper))
        place_of[lower, upper] = np.arange(len(upper))
        baseline = order[upper]
        contender = order[lower]
        places = place_of[baseline, contender]
        names = [self._names[run] for run in order.tolist()]
        is_turned = self._is_turned[places] ^ (baseline > contender)
        return type(self)(names, self._numbers[places], self._labels[places], is_turned)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (PairVerdicts, tuple)):
            return NotImplemented
        return tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"PairVerdicts({len(self)} pairs of {len(self._names)} runs)"


class JudgedPairs(NamedTuple):
    """The verdicts on all pairs of runs, and which runs are better by them."""

    verdicts: PairVerdicts
    #: (n_runs, n_runs) bool arrays, by "verdict" and by facet: whether row is better than column
    better: dict[str, Bools]

    @property
    def net_wins(self) -> Ints:
        """(n_runs,) number of runs that each is better than, less those that are better."""
        better = self.better["verdict"]
        won: Ints = better.sum(axis=1)
        lost: Ints = better.sum(axis=0)
        return won - lost

    def reordered(self, order: Ints) -> Self:
        """Do the same for the runs in another order, as `PairVerdicts.reordered` takes it."""
        better = {name: own[np.ix_(order, order)] for name, own in self.better.items()}
        return type(self)(self.verdicts.reordered(order), better)


def better_of(directions: Ints, n_runs: int) -> Bools:
    """(n_runs, n_runs) bool array, from the direction of each pair for its contender: whether row is better than column."""
    baseline, contender = np.triu_indices(n_runs, 1)
    better = np.zeros((n_runs, n_runs), dtype=bool)
    better[contender, baseline] = directions > 0
    better[baseline, contender] = directions < 0
    return better


_MEANS = ("coverage", "baseline_length", "contender_length", "all_queries")


class BlockOfPairs(NamedTuple):
    """Some neighbouring pairs, ready to be tested, with the means that their verdicts show, (4, n_pairs)."""

    samples: PairSamples
    means: Floats  # in the order of `_MEANS`


def all_pairs(
    evaluation: Evaluation, *, alpha: float, correction: str, looks: int = 1, progress: bool = False
) -> JudgedPairs:
    """Judge each run as a contender against every earlier one: the verdicts of ``compare(all_pairs=True)``.

    Corrected p-values are multiplied by `looks`: how often the same queries had been used.
    """
    names = evaluation.system_names
    n_pairs = len(names) * (len(names) - 1) // 2
    levels = first_step_level(alpha, n_pairs, correction) / looks, alpha
    blocks = with_progress(
        blocks_of_pairs(evaluation, levels),
        "pair",
        n_pairs,
        shown=progress,
        size=lambda block: block.means.shape[1],
    )
    numbers = np.empty(n_pairs, dtype=_NUMBERS)
    tests = _tested(blocks, numbers, coverage_test_for(evaluation))
    judged = judge(tests, alpha=alpha, correction=correction, looks=looks)
    # Tests of all queries are never None, because an evaluation has a cutoff.
    everywhere: Any = tests.everywhere
    raw: Any = tests.deciding
    corrected: Any = judged.corrected
    numbers["coverage_p"] = raw.coverage
    numbers["coverage_p_corrected"] = corrected.coverage
    numbers["ranking_p"] = raw.ranking
    numbers["ranking_p_corrected"] = corrected.ranking
    numbers["all_queries_p"] = raw.all_queries
    numbers["all_queries_p_corrected"] = corrected.all_queries
    directions = {
        "verdict": judged.direction,
        "coverage": tests.coverage.direction * (corrected.coverage <= alpha),
        "ranking": tests.ranking.direction * (corrected.ranking <= alpha),
        "all queries": everywhere.direction * (corrected.all_queries <= alpha),
    }
    better = {name: better_of(own, len(names)) for name, own in directions.items()}
    return JudgedPairs(PairVerdicts(names, numbers, judged.label), better)


def _tested(
    blocks: Iterable[BlockOfPairs], numbers: Numbers, coverage_test: CoverageTest
) -> PairTests:
    """Test blocks of pairs, and fill in their means."""
    of_all: Any = None
    start = 0
    for block in blocks:
        pairs = slice(start, start + block.means.shape[1])
        tests = run_tests(block.samples, "t", coverage_test)
        if of_all is None:
            of_all = _space_for(tests, len(numbers))
        _fill(of_all, tests, pairs)
        for name, means in zip(_MEANS, block.means, strict=True):
            numbers[name][pairs] = means
        start = pairs.stop
    tested: PairTests = of_all  # there are two runs or more
    return tested


def _space_for(tests: PairTests, n_pairs: int) -> PairTests:
    """Return arrays for the same tests of so many pairs; filled block by block, they need no second copy to be joined."""
    spaces: dict[str, Any] = {}
    for name, part in tests._asdict().items():
        if isinstance(part, Pvalues):
            direction: Any = np.empty(n_pairs, dtype=np.int8)
            spaces[name] = Pvalues(np.empty(n_pairs), direction)
    return tests._replace(**spaces)


def _fill(of_all: PairTests, tests: PairTests, pairs: slice) -> None:
    """Write the tests of a block into those of all pairs."""
    for space, part in zip(of_all, tests, strict=True):
        if isinstance(space, Pvalues) and isinstance(part, Pvalues):
            space.pvalue[pairs] = part.pvalue
            space.direction[pairs] = part.direction


def blocks_of_pairs(evaluation: Evaluation, levels: Levels) -> Iterator[BlockOfPairs]:
    """Yield all pairs in the order of `itertools.combinations`, those of a baseline with several contenders together."""
    if evaluation.replicates:
        return _blocks_of_systems(evaluation, levels)
    board = BoardLengths.of(evaluation)
    if board.changes is None:
        return _blocks_of_items(board, levels)
    return _blocks_of_changes(board, levels)


def _blocks_of_changes(board: BoardLengths, levels: Levels) -> Iterator[BlockOfPairs]:
    """Yield blocks where each query has one search length."""
    changes: Any = board.changes
    for baseline, contenders in _spans(
        board.horizons, _MOST_NUMBERS // max(board.n_queries, changes.n_codes)
    ):
        horizon = board.horizon(baseline, contenders.start)
        counts = ChangeCounts.of(changes.counts(baseline, contenders), changes.longest, horizon)
        means = counts.means(changes.totals[baseline], changes.totals[contenders])
        yield BlockOfPairs(counts.samples(levels, guard_only=True), means)


def _blocks_of_items(board: BoardLengths, levels: Levels) -> Iterator[BlockOfPairs]:
    """Yield blocks where every relevant document of a query counts, or where queries come in clusters.

    The queries of all pairs are put side by side, and a pair is a sample of its own ones.
    """
    for baseline, contenders in _spans(
        board.horizons, isqrt(_MOST_SHARES // max(board.n_queries, 1))
    ):
        pair = board.paired(baseline, contenders)
        n_pairs = contenders.stop - contenders.start
        own_queries = np.repeat(np.eye(n_pairs), board.n_queries, axis=0)
        samples = samples_of(pair, levels, subsets=own_queries, guard_only=True)
        yield BlockOfPairs(samples, _means_of(pair, own_queries))


def _blocks_of_systems(evaluation: Evaluation, levels: Levels) -> Iterator[BlockOfPairs]:
    """Yield pairs of systems, some of which have several runs, one by one."""
    systems = [system.at(evaluation.cutoff) for system in evaluation.systems]
    for baseline, contender in combinations(systems, 2):
        pair = pair_queries(baseline, contender, evaluation.unit)
        means = _means_of(pair, np.ones((len(pair.shared), 1)))
        yield BlockOfPairs(samples_of(pair, levels, guard_only=True), means)


def _means_of(pair: PairedQueries, counts: Floats) -> Floats:
    """(4, n_pairs) means of a block, as in `ChangeCounts.means`."""
    restricted: Any = pair.restricted  # never None, because an evaluation has a cutoff
    every = np.full(len(counts), float(prod(pair.n_runs)))
    return np.stack(
        [
            100 * _means(pair.found_contender - pair.found_baseline, counts, every),
            _means(pair.length_baseline, counts, pair.n_shared),
            _means(pair.length_contender, counts, pair.n_shared),
            _means(restricted.contender - restricted.baseline, counts, every),
        ]
    )


def _means(values: Floats, counts: Floats, rows: Floats) -> Floats:
    """(n_pairs,) means of what the queries have, sums over so many rows; NaN where there are none."""
    # Not ``values @ counts``: its threads wait for each other longer than the product takes, where
    # other processes run.
    totals = np.einsum("i,ij->j", np.where(rows > 0, values, 0.0), counts)
    numbers = np.einsum("i,ij->j", rows, counts)
    return divided(totals, numbers, numbers > 0)


def _spans(horizons: Sequence[int], most: int) -> Iterator[tuple[int, slice]]:
    """Yield a baseline, and at most so many neighbouring contenders that share a horizon with it."""
    size = max(most, 1)
    for baseline, own in enumerate(horizons):
        first = baseline + 1
        # The horizon of a pair is the larger one.
        for _, members in groupby(max(own, other) for other in horizons[first:]):
            end = first + len(list(members))
            for start in range(first, end, size):
                yield baseline, slice(start, min(start + size, end))
            first = end
