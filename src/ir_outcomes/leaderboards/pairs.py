"""The two-facet verdict for all pairs of runs.

The numbers that decide are those of `ir_outcomes.compare`. What a comparison shows beside them is left out, because n runs have
n (n - 1) / 2 pairs: a pair keeps a few numbers, and nothing by query.

A pair by itself takes a hundred short calls of NumPy. Here the pairs of a baseline with several contenders are samples of one
table, whose numbers come from the same functions as those of a single pair.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations, groupby
from math import isnan, isqrt
from typing import Any, Self

import numpy as np

from ir_outcomes.comparison.facets import run_tests, samples_of
from ir_outcomes.comparison.outcomes import PairedQueries, coverage_test_for, from_items, horizon_of
from ir_outcomes.comparison.verdict import MIRRORED, deciding_pvalues, direction_of, judge, stacked
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.formatting import with_progress
from ir_outcomes.results import Column
from ir_outcomes.statistics.corrections import first_step_level
from ir_outcomes.types import Bools, Direction, Floats, Ints

# Both bound a table of numbers by pairs, whatever the number of runs.
_MOST_RANKS = 1 << 21  # 16 MB; a larger table has fewer calls
_MOST_SHARES = 1 << 16  # most numbers differ from pair to pair: larger tables would be mostly zeros


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The verdict on a contender against a baseline, with the numbers that led to it."""

    baseline: str  #: its name
    contender: str  #: its name; every difference is contender minus baseline
    coverage: float  #: change of coverage, percentage points, higher is better
    coverage_p: float  #: of the exact binomial test, or of the sign-flip test where shares of documents are compared
    coverage_p_corrected: float  #: over all pairs
    baseline_length: float | None  #: mean search length on what both found, lower is better; None where that is nothing
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
    Column("coverage", form="+.1f", unit="points", better="higher"),
    Column("coverage_p", "coverage_p_corrected", "p", "p"),
    Column("its_length", "baseline_length", "length A", ".2f", better="lower"),
    Column("own_length", "contender_length", "length B", ".2f", better="lower"),
    Column("ranking_p", "ranking_p_corrected", "p", "p"),
    Column("all_queries", heading="all queries", form="+.2f", better="lower"),
    Column("all_queries_p", "all_queries_p_corrected", "p", "p"),
    Column("verdict", "label", form="label"),
)


def better_of(directions: Ints, n_runs: int) -> Bools:
    """(n_runs, n_runs) bool array, from the direction of each pair for its contender: whether row is better than column."""
    baseline, contender = np.triu_indices(n_runs, 1)
    better = np.zeros((n_runs, n_runs), dtype=bool)
    better[contender, baseline] = directions > 0
    better[baseline, contender] = directions < 0
    return better


def all_pairs(
    evaluation: Evaluation, *, alpha: float, correction: str, looks: int = 1, progress: bool = False
) -> tuple[tuple[PairVerdict, ...], dict[str, Ints]]:
    """Judge each run as a contender against every earlier one: the verdicts of ``compare(all_pairs=True)``.

    Corrected p-values are multiplied by `looks`: how often the same queries had been used. Beside the verdicts the directions,
    by "verdict" and by facet: 1 for each pair where the contender is better, -1 where it is worse, else 0.
    """
    baselines, contenders = zip(*combinations(evaluation.names, 2), strict=True)
    n_pairs = len(baselines)
    coverage_test = coverage_test_for(evaluation)
    levels = first_step_level(alpha, n_pairs, correction) / looks, alpha
    means, tests = [], []
    blocks = pair_blocks(evaluation)
    for pair, counts in with_progress(blocks, "pair", n_pairs, shown=progress, size=lambda block: block[1].shape[1]):
        restricted: Any = pair.restricted  # never None, because an evaluation has a cutoff
        columns = (
            100 * _means(pair.found_contender - pair.found_baseline, counts),
            _means(pair.length_baseline, counts, pair.shared),
            _means(pair.length_contender, counts, pair.shared),
            _means(restricted.contender - restricted.baseline, counts),
        )
        means.append(columns)
        samples = samples_of(pair, levels, subsets=counts, sides_only=True)
        tests.append(run_tests(samples, "t", coverage_test))
    found = stacked(tests)
    judged = judge(found, alpha=alpha, correction=correction, looks=looks)
    raw: Any = deciding_pvalues(found)  # of all queries too, because an evaluation has a cutoff
    corrected: Any = judged.corrected
    coverage, *lengths, all_queries = np.concatenate(means, axis=1).tolist()
    own, other = ([None if isnan(length) else length for length in of_runs] for of_runs in lengths)
    verdicts = map(
        PairVerdict, baselines, contenders, coverage, raw.coverage.tolist(), corrected.coverage.tolist(), own, other,
        raw.ranking.tolist(), corrected.ranking.tolist(), all_queries, raw.all_queries.tolist(), corrected.all_queries.tolist(),
        judged.labels(),
    )  # fmt: skip
    everywhere: Any = found.everywhere  # never None, because an evaluation has a cutoff
    return tuple(verdicts), {
        "verdict": judged.direction,
        "coverage": found.coverage.direction * (corrected.coverage <= alpha),
        "ranking": -found.ranking.direction * (corrected.ranking <= alpha),
        "all queries": -everywhere.direction * (corrected.all_queries <= alpha),
    }


def pair_blocks(evaluation: Evaluation) -> Iterator[tuple[PairedQueries, Floats]]:
    """Yield all pairs in the order of `itertools.combinations`, those of a baseline with several contenders together.

    A block is a baseline and several contenders as one table of queries, and how often each of these counts for each pair,
    (n_queries of the table, n_pairs).
    """
    answerable, by_document = evaluation.answerable, evaluation.unit == "document"
    lengths, horizons = [], []
    for run in evaluation.runs:  # each is cut off by itself: a copy of all runs would take more memory than all that follows
        within = run.at(evaluation.cutoff)
        lengths.append(within.atoms() if by_document else within.esl()[answerable])
        horizons.append(horizon_of(within, within) or 0)
    # Where lists are longer, there are too many cells, a rank in the baseline and a rank in the contender.
    if evaluation.clusters is None and not (by_document and evaluation.many_relevant) and max(horizons) < isqrt(_MOST_RANKS):
        return _blocks_of_ranks(np.stack(lengths), horizons)
    query = (np.cumsum(answerable) - 1)[evaluation.runs[0].query] if by_document else np.arange(answerable.sum())
    clusters = None if evaluation.clusters is None else evaluation.clusters[answerable]
    return _blocks_of_items(np.stack(lengths), horizons, query, int(answerable.sum()), clusters)


def _blocks_of_ranks(lengths: Floats, horizons: Sequence[int]) -> Iterator[tuple[PairedQueries, Floats]]:
    """Yield blocks where each query has one search length, (n_runs, n_queries).

    There are only so many cells (rank in the baseline, rank in the contender). A cell takes the place of a query, and a pair
    is a sample that counts how many of its queries are in each cell.
    """
    ranks = np.unique(lengths)  # NaN, which is not found, is the last of the ranks
    # 32 bits are half of the memory to pass through, which is what takes the time.
    codes: Any = np.searchsorted(ranks, lengths).astype(np.int32)
    most = max(isqrt(_MOST_RANKS // max(lengths.shape[1], 1)), _MOST_RANKS // len(ranks) ** 2)
    for baseline, contenders, horizon in _spans(horizons, most):
        occurring, counts = _counted(codes[baseline] * len(ranks) + codes[contenders], len(ranks) ** 2)
        of_cells = ranks[occurring // len(ranks)], ranks[occurring % len(ranks)]
        cells = np.arange(len(occurring))
        yield from_items(("", ""), ("",) * len(cells), cells, of_cells, horizon), counts


def _blocks_of_items(
    lengths: Floats, horizons: Sequence[int], query: Ints, n_queries: int, clusters: Ints | None
) -> Iterator[tuple[PairedQueries, Floats]]:
    """Yield blocks where every relevant document of a query counts, or where queries come in clusters.

    The queries of all pairs are put side by side, and a pair is a sample of its own ones. `lengths` are (n_runs, n_items).
    """
    for baseline, contenders, horizon in _spans(horizons, isqrt(_MOST_SHARES // max(n_queries, 1))):
        n_pairs = contenders.stop - contenders.start
        pairs = np.arange(n_pairs)[:, None]
        of_runs = np.tile(lengths[baseline], n_pairs), lengths[contenders].ravel()
        own = (query + n_queries * pairs).ravel()
        own_clusters = None if clusters is None else (clusters + (clusters.max() + 1) * pairs).ravel()
        pair = from_items(("", ""), ("",) * (n_pairs * n_queries), own, of_runs, horizon, own_clusters)
        yield pair, np.repeat(np.eye(n_pairs), n_queries, axis=0)


def _spans(horizons: Sequence[int], most: int) -> Iterator[tuple[int, slice, int]]:
    """Yield a baseline, at most so many neighbouring contenders that share a horizon with it, and that horizon."""
    for baseline, own in enumerate(horizons):
        first = baseline + 1
        for horizon, members in groupby(max(own, other) for other in horizons[first:]):  # that of a pair is the larger one
            end = first + len(list(members))
            for start in range(first, end, max(most, 1)):
                yield baseline, slice(start, min(start + max(most, 1), end)), horizon
            first = end


def _counted(cells: Ints, n_cells: int) -> tuple[Ints, Floats]:
    """Return the cells that occur in any pair, and the (n_occurring, n_pairs) numbers of queries in them."""
    # At a cutoff of 1000 there are a million cells, and few of them occur.
    occurs = np.zeros(n_cells, dtype=bool)
    occurs[cells] = True
    place = (np.cumsum(occurs) - 1).astype(np.int32)[cells]
    occurring, n_pairs = np.flatnonzero(occurs), len(cells)
    keys = place * n_pairs + np.arange(n_pairs, dtype=np.int32)[:, None]
    counts = np.bincount(keys.ravel(), minlength=len(occurring) * n_pairs).reshape(len(occurring), n_pairs)
    return occurring, counts.astype(np.float64)


def _means(values: Floats, counts: Floats, counted: Bools | None = None) -> Floats:
    """(n_pairs,) means of the values of the queries that count; NaN where there are none."""
    counted = np.ones(len(values), dtype=bool) if counted is None else counted
    # Not ``values @ counts``: its threads wait for each other longer than the product takes, where other processes run.
    totals, numbers = (np.einsum("i,ij->j", of, counts) for of in (np.where(counted, values, 0.0), counted.astype(np.float64)))
    means: Floats = np.divide(totals, numbers, out=np.full(len(totals), np.nan), where=numbers > 0)
    return means
