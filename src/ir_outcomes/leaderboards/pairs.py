"""The two-facet verdict for all pairs of runs.

The numbers that decide are those of `ir_outcomes.compare`. What a comparison shows beside them is
left out, because n runs have n (n - 1) / 2 pairs: a pair keeps a few numbers, and nothing by query.

A pair by itself takes a hundred short calls of NumPy. Here the pairs of a baseline with several
contenders are samples of one table, whose numbers come from the same functions as those of a single
pair.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations, groupby
from math import isnan, isqrt
from typing import Any, NamedTuple, Self, overload

import numpy as np

from ir_outcomes.comparison.outcomes import (
    PairedQueries,
    coverage_test_for,
    from_items,
    horizon_of,
    pair_queries,
)
from ir_outcomes.comparison.pair_tests import PairSamples, PairTests, run_tests, samples_of
from ir_outcomes.comparison.verdict import LABELS, MIRRORED, direction_of, judge
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.formatting import with_progress
from ir_outcomes.leaderboards.changes import ChangeCounts, Changes
from ir_outcomes.results import PVALUE, Column, decimals, signed
from ir_outcomes.statistics.corrections import first_step_level
from ir_outcomes.statistics.kernels import Pvalues
from ir_outcomes.statistics.signflips import Levels
from ir_outcomes.types import Bools, Direction, Floats, Ints, divided

# Both bound a table of numbers by pairs, whatever the number of runs.
_MOST_NUMBERS = 1 << 20
_MOST_SHARES = 1 << 16  # most numbers differ from pair to pair: larger tables would be mostly zeros
_DEEPEST = 2000  # of longer lists most changes occur in no query


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


PAIR_COLUMNS = (
    Column("run", "baseline"),
    Column("coverage", form=signed(1), unit="points", better="higher"),
    Column("coverage_p", "coverage_p_corrected", "p", PVALUE),
    Column("its_length", "baseline_length", "length A", decimals(2), better="lower"),
    Column("own_length", "contender_length", "length B", decimals(2), better="lower"),
    Column("ranking_p", "ranking_p_corrected", "p", PVALUE),
    Column("all_queries", heading="all queries", form=signed(2), better="lower"),
    Column("all_queries_p", "all_queries_p_corrected", "p", PVALUE),
    Column("verdict", "label"),
)


def better_of(directions: Ints, n_runs: int) -> Bools:
    """(n_runs, n_runs) bool array, from the direction of each pair for its contender: whether row is better than column."""
    baseline, contender = np.triu_indices(n_runs, 1)
    better = np.zeros((n_runs, n_runs), dtype=bool)
    better[contender, baseline] = directions > 0
    better[baseline, contender] = directions < 0
    return better


def reordered_pairs(order: Ints) -> tuple[Ints, Bools]:
    """Return for each pair of the runs in another order its place in the present one, and whether its runs are swapped.

    `order` has the present place of each run.
    """
    n_runs = len(order)
    place_of = np.zeros((n_runs, n_runs), dtype=np.int64)
    upper, lower = np.triu_indices(n_runs, 1)
    place_of[upper, lower] = np.arange(len(upper))
    baseline = order[upper]
    contender = order[lower]
    first = np.minimum(baseline, contender)
    second = np.maximum(baseline, contender)
    is_turned: Bools = baseline > contender
    return place_of[first, second], is_turned


# Places among the numbers of a pair, as `PairVerdicts` keeps them.
_NUMBERS = [own.name for own in fields(PairVerdict)][2:-1]
_COVERAGE = _NUMBERS.index("coverage")
_ALL_QUERIES = _NUMBERS.index("all_queries")
_BASELINE_LENGTH = _NUMBERS.index("baseline_length")
_CONTENDER_LENGTH = _NUMBERS.index("contender_length")


class PairVerdicts(Sequence[PairVerdict]):
    """The verdicts on all pairs of runs, in the order of `itertools.combinations`; equal to a tuple of the same verdicts.

    Numbers are kept in arrays, which take a quarter of the memory of as many objects. A
    `PairVerdict` is made when it is asked for.
    """

    __slots__ = ("_labels", "_names", "_numbers", "_runs")

    def __init__(self, names: tuple[str, ...], numbers: Floats, labels: Ints) -> None:
        """Take (n_pairs, 10) numbers, the fields of `PairVerdict` from `coverage` to `all_queries_p_corrected`, and labels."""
        self._names = names
        self._numbers = numbers
        self._labels = labels.astype(np.int8)
        self._runs = np.stack(np.triu_indices(len(names), 1), axis=1).astype(np.int32)

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
        numbers = [None if isnan(number) else number for number in self._numbers[place].tolist()]
        values: list[Any] = [*runs, *numbers, LABELS[self._labels[place]]]
        return PairVerdict(*values)

    def reordered(self, order: Ints) -> Self:
        """Return the verdicts on all pairs of the runs in another order: places in the present one, the first run's first."""
        places, is_turned = reordered_pairs(order)
        numbers = self._numbers[places]
        labels = self._labels[places].astype(np.int64)
        # The same as `PairVerdict.turned` does for one.
        turned = numbers[is_turned]
        turned[:, [_COVERAGE, _ALL_QUERIES]] = 0.0 - turned[:, [_COVERAGE, _ALL_QUERIES]]
        turned[:, [_BASELINE_LENGTH, _CONTENDER_LENGTH]] = turned[
            :, [_CONTENDER_LENGTH, _BASELINE_LENGTH]
        ]
        numbers[is_turned] = turned
        mirrored = np.array([LABELS.index(MIRRORED[label]) for label in LABELS])
        labels[is_turned] = mirrored[labels[is_turned]]
        names = tuple(self._names[run] for run in order.tolist())
        return type(self)(names, numbers, labels)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (PairVerdicts, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(
            pair == same for pair, same in zip(self, other, strict=True)
        )

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"PairVerdicts({len(self)} pairs of {len(self._names)} runs)"


class BlockOfPairs(NamedTuple):
    """Some neighbouring pairs, ready to be tested, with the means that their verdicts show, (4, n_pairs)."""

    samples: PairSamples
    means: Floats  # change of coverage, percentage points; both mean search lengths; change over all queries
    of_several: bool = False  # whether a system has several runs: coverage is tested by sign flips


def all_pairs(
    evaluation: Evaluation, *, alpha: float, correction: str, looks: int = 1, progress: bool = False
) -> tuple[PairVerdicts, dict[str, Ints]]:
    """Judge each run as a contender against every earlier one: the verdicts of ``compare(all_pairs=True)``.

    Corrected p-values are multiplied by `looks`: how often the same queries had been used. Beside
    the verdicts the directions, by "verdict" and by facet: 1 for each pair where the contender is
    better, -1 where it is worse, else 0.
    """
    names = evaluation.system_names
    n_pairs = len(names) * (len(names) - 1) // 2
    coverage_test = coverage_test_for(evaluation)
    levels = first_step_level(alpha, n_pairs, correction) / looks, alpha
    numbers = np.empty((n_pairs, 10))
    coverage, coverage_p, coverage_corrected, *of_lengths = numbers.T
    (
        baseline,
        contender,
        ranking_p,
        ranking_corrected,
        all_queries,
        all_queries_p,
        all_queries_corrected,
    ) = of_lengths
    tests: list[PairTests] = []
    end = 0
    blocks = blocks_of_pairs(evaluation, levels)
    for block in with_progress(
        blocks, "pair", n_pairs, shown=progress, size=lambda block: block.means.shape[1]
    ):
        own_test = "signflip" if block.of_several else coverage_test
        block_tests = run_tests(block.samples, "t", own_test)
        tests = tests or [_space_for(block_tests, n_pairs)]
        start = end
        end += block.means.shape[1]
        coverage[start:end], baseline[start:end], contender[start:end], all_queries[start:end] = (
            block.means
        )
        _fill(tests[0], block_tests, slice(start, end))
    (found,) = tests
    judged = judge(found, alpha=alpha, correction=correction, looks=looks)
    raw: Any = found.deciding  # of all queries too, because an evaluation has a cutoff
    corrected: Any = judged.corrected
    coverage_p[:] = raw.coverage
    coverage_corrected[:] = corrected.coverage
    ranking_p[:] = raw.ranking
    ranking_corrected[:] = corrected.ranking
    all_queries_p[:] = raw.all_queries
    all_queries_corrected[:] = corrected.all_queries
    everywhere: Any = found.everywhere  # never None, because an evaluation has a cutoff
    return PairVerdicts(names, numbers, judged.label), {
        "verdict": judged.direction,
        "coverage": found.coverage.direction * (corrected.coverage <= alpha),
        "ranking": found.ranking.direction * (corrected.ranking <= alpha),
        "all queries": everywhere.direction * (corrected.all_queries <= alpha),
    }


def _space_for(tests: PairTests, n_pairs: int) -> PairTests:
    """Return arrays for the same tests of so many pairs; filled block by block, they need no second copy to be joined."""
    spaces: dict[str, Any] = {}
    for name, part in tests._asdict().items():
        if isinstance(part, Pvalues):
            direction: Any = np.empty(n_pairs, dtype=np.int8)
            spaces[name] = Pvalues(np.empty(n_pairs), direction)
    return tests._replace(**spaces)


def _fill(found: PairTests, tests: PairTests, pairs: slice) -> None:
    """Write the tests of a block into those of all pairs."""
    for space, part in zip(found, tests, strict=True):
        if isinstance(space, Pvalues) and isinstance(part, Pvalues):
            space.pvalue[pairs] = part.pvalue
            space.direction[pairs] = part.direction


def blocks_of_pairs(evaluation: Evaluation, levels: Levels) -> Iterator[BlockOfPairs]:
    """Yield all pairs in the order of `itertools.combinations`, those of a baseline with several contenders together."""
    if evaluation.replicates:
        return _blocks_of_systems(evaluation, levels)
    lengths, horizons = lengths_of(evaluation)
    if are_whole_changes(evaluation, horizons):
        return _blocks_of_changes(lengths, horizons, levels)
    return _blocks_of_items(evaluation, lengths, horizons, levels)


def lengths_of(evaluation: Evaluation) -> tuple[Floats, list[int]]:
    """(n_runs, n_items) search lengths of relevant documents or answerable queries, and the horizon of each run."""
    lengths = []
    horizons = []
    # Each is cut off by itself: a copy of all runs would take more memory than all that follows.
    for run in evaluation.runs:
        within = run.at(evaluation.cutoff)
        if evaluation.unit == "document":
            lengths.append(within.atoms())
        else:
            lengths.append(within.esl()[evaluation.answerable])
        horizons.append(horizon_of(within, within) or 0)
    return np.stack(lengths), horizons


def queries_of_items(evaluation: Evaluation) -> Ints:
    """(n_items,) place of the query of each item among the answerable queries."""
    places = np.cumsum(evaluation.answerable) - 1
    if evaluation.unit == "document":
        return places[evaluation.runs[0].query]
    return np.arange(places[-1] + 1)


def are_whole_changes(evaluation: Evaluation, horizons: Sequence[int]) -> bool:
    """Whether every query is independent and has one search length, and lists are short enough for a table of all changes."""
    several = evaluation.unit == "document" and evaluation.many_relevant
    return evaluation.clusters is None and not several and max(horizons) < _DEEPEST


def _blocks_of_changes(
    lengths: Floats, horizons: Sequence[int], levels: Levels
) -> Iterator[BlockOfPairs]:
    """Yield blocks where each query has one search length, (n_runs, n_queries)."""
    changes = Changes.of(lengths, max(horizons))
    most = _MOST_NUMBERS // max(lengths.shape[1], changes.n_codes)
    for baseline, contenders, horizon in _spans(horizons, most):
        counts = ChangeCounts.of(changes.counts(baseline, contenders), changes.longest, horizon)
        samples = counts.samples(levels, sides_only=True)
        yield BlockOfPairs(
            samples, counts.means(changes.totals[baseline], changes.totals[contenders])
        )


def _blocks_of_items(
    evaluation: Evaluation, lengths: Floats, horizons: Sequence[int], levels: Levels
) -> Iterator[BlockOfPairs]:
    """Yield blocks where every relevant document of a query counts, or where queries come in clusters.

    The queries of all pairs are put side by side, and a pair is a sample of its own ones. `lengths`
    are (n_runs, n_items).
    """
    answerable = evaluation.answerable
    n_queries = int(answerable.sum())
    query = queries_of_items(evaluation)
    clusters = None if evaluation.clusters is None else evaluation.clusters[answerable]
    for baseline, contenders, horizon in _spans(horizons, isqrt(_MOST_SHARES // max(n_queries, 1))):
        n_pairs = contenders.stop - contenders.start
        pairs = np.arange(n_pairs)[:, None]
        of_runs = np.tile(lengths[baseline], n_pairs), lengths[contenders].ravel()
        own = (query + n_queries * pairs).ravel()
        own_clusters = (
            None if clusters is None else (clusters + (clusters.max() + 1) * pairs).ravel()
        )
        pair = from_items(
            ("", ""), ("",) * (n_pairs * n_queries), own, of_runs, horizon, own_clusters
        )
        own_queries = np.repeat(np.eye(n_pairs), n_queries, axis=0)
        samples = samples_of(pair, levels, subsets=own_queries, sides_only=True)
        yield BlockOfPairs(samples, _means_of(pair, own_queries))


def _blocks_of_systems(evaluation: Evaluation, levels: Levels) -> Iterator[BlockOfPairs]:
    """Yield pairs of systems, some of which have several runs, one by one."""
    systems = [system.at(evaluation.cutoff) for system in evaluation.systems]
    for baseline, contender in combinations(systems, 2):
        pair = pair_queries(baseline, contender, evaluation.unit)
        means = _means_of(pair, np.ones((len(pair.shared), 1)))
        yield BlockOfPairs(samples_of(pair, levels, sides_only=True), means, pair.is_of_several)


def _means_of(pair: PairedQueries, counts: Floats) -> Floats:
    """(4, n_pairs) means of a block, as in `ChangeCounts.means`."""
    restricted: Any = pair.restricted  # never None, because an evaluation has a cutoff
    return np.stack(
        [
            100 * _means(pair.found_contender - pair.found_baseline, counts),
            _means(pair.length_baseline, counts, pair.shared),
            _means(pair.length_contender, counts, pair.shared),
            _means(restricted.contender - restricted.baseline, counts),
        ]
    )


def _spans(horizons: Sequence[int], most: int) -> Iterator[tuple[int, slice, int]]:
    """Yield a baseline, at most so many neighbouring contenders that share a horizon with it, and that horizon."""
    for baseline, own in enumerate(horizons):
        first = baseline + 1
        # The horizon of a pair is the larger one.
        for horizon, members in groupby(max(own, other) for other in horizons[first:]):
            end = first + len(list(members))
            for start in range(first, end, max(most, 1)):
                yield baseline, slice(start, min(start + max(most, 1), end)), horizon
            first = end


def _means(values: Floats, counts: Floats, counted: Bools | None = None) -> Floats:
    """(n_pairs,) means of the values of the queries that count; NaN where there are none."""
    if counted is None:
        counted = np.ones(len(values), dtype=bool)
    else:
        counted = counted
    # Not ``values @ counts``: its threads wait for each other longer than the product takes, where
    # other processes run.
    totals, numbers = (
        np.einsum("i,ij->j", of, counts)
        for of in (np.where(counted, values, 0.0), counted.astype(np.float64))
    )
    return divided(totals, numbers, numbers > 0)
