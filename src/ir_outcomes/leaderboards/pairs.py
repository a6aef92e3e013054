"""The two-facet verdict for all pairs of runs.

The numbers that decide are those of `ir_outcomes.compare`. What a comparison shows beside them is left out, because n runs have
n (n - 1) / 2 pairs: a pair keeps a few numbers in a row of a table, and nothing by query.

A pair by itself takes a hundred short calls of NumPy. Here the pairs of a baseline with several contenders are samples of one
table, whose numbers come from the same functions as those of a single pair.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from math import isnan, isqrt
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from ir_outcomes.comparison.outcomes import PairedQueries, coverage_test_for, from_items, horizon_of
from ir_outcomes.comparison.verdict import (
    LABELS,
    MIRRORED,
    Direction,
    PairTests,
    direction_of,
    judge,
    run_tests,
    samples_of,
)
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.formatting import with_progress
from ir_outcomes.statistics import adjust
from ir_outcomes.statistics.corrections import first_step_level
from ir_outcomes.statistics.tests import Tests
from ir_outcomes.types import Bools, Floats, Ints

# Both bound a table of numbers by pairs, whatever the number of runs.
_MOST_RANKS = 1 << 21  # 16 MB; a larger table has fewer calls
_MOST_SHARES = 1 << 16  # most numbers differ from pair to pair: larger tables would be mostly zeros


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The verdict on a contender against a baseline, with the numbers that led to it.

    Attributes
    ----------
    baseline, contender : str
        Names; every difference is contender minus baseline.
    coverage : float
        Change of coverage, percentage points, higher is better.
    coverage_p, coverage_p_corrected : float
        Of the exact binomial test, or of the sign-flip test where shares of documents are compared.
    baseline_length, contender_length : float or None
        Mean search length on what both found, ranks, lower is better; that of the same baseline differs from pair to pair.
    ranking_p, ranking_p_corrected : float
        Of the test of the mean that decides (t; with fewer than 30 differences that are not zero the sign-flip test).
    all_queries : float
        Change of the restricted search length over all queries, ranks, lower is better.
    label : str
        The verdict, one of `ir_outcomes.comparison.verdict.LABELS`, after the confirmation and the guard.
    """

    baseline: str
    contender: str
    coverage: float
    coverage_p: float
    coverage_p_corrected: float
    baseline_length: float | None
    contender_length: float | None
    ranking_p: float
    ranking_p_corrected: float
    all_queries: float
    label: str

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

    def turned(self) -> PairVerdict:
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


# How the fields are kept: runs and labels by their places, None as NaN.
_KEPT_AS = {"str": np.int32, "float": np.float64, "float | None": np.float64}
_COLUMNS = [(field.name, _KEPT_AS[str(field.type)]) for field in fields(PairVerdict)]


class PairVerdicts(Sequence[PairVerdict]):
    """The verdicts on all pairs of runs, in the order of `itertools.combinations`; equal to a tuple of the same verdicts.

    They are rows of a table, a quarter of the memory of as many objects; a `PairVerdict` is made where it is asked for.
    `directions` has, by "verdict" and by facet, 1 for each pair where the contender is better, -1 where it is worse, else 0.
    """

    __slots__ = ("_table", "directions", "names")

    def __init__(self, names: tuple[str, ...], table: npt.NDArray[np.void], directions: Mapping[str, Ints]) -> None:
        table.setflags(write=False)
        self.names = names
        self.directions = directions
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    @overload
    def __getitem__(self, place: int) -> PairVerdict: ...

    @overload
    def __getitem__(self, place: slice) -> tuple[PairVerdict, ...]: ...

    def __getitem__(self, place: int | slice) -> PairVerdict | tuple[PairVerdict, ...]:
        if isinstance(place, slice):
            return tuple(self[number] for number in range(len(self))[place])
        values: dict[str, Any] = dict(zip(self._table.dtype.names or (), self._table[place].tolist(), strict=True))
        for run in ("baseline", "contender"):
            values[run] = self.names[values[run]]
            length = values[f"{run}_length"]
            values[f"{run}_length"] = None if isnan(length) else length
        return PairVerdict(**values | {"label": LABELS[values["label"]]})

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, (PairVerdicts, tuple)):
            return NotImplemented
        return len(self) == len(other) and all(mine == its for mine, its in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"PairVerdicts({len(self)} pairs of {len(self.names)} runs)"

    def better(self, facet: str = "verdict") -> Bools:
        """(n_runs, n_runs) bool array: whether the run of the row is better than that of the column."""
        return better_of(self.directions[facet], len(self.names))


def better_of(directions: Ints, n_runs: int) -> Bools:
    """(n_runs, n_runs) bool array, from the direction of each pair for its contender: whether row is better than column."""
    baseline, contender = np.triu_indices(n_runs, 1)
    better = np.zeros((n_runs, n_runs), dtype=bool)
    better[contender, baseline] = directions > 0
    better[baseline, contender] = directions < 0
    return better


def all_pairs(evaluation: Evaluation, *, alpha: float, correction: str, looks: int = 1, progress: bool = False) -> PairVerdicts:
    """Judge each run as a contender against every earlier one: the verdicts of ``compare(all_pairs=True)``.

    Corrected p-values are multiplied by `looks`: how often the same queries had been used.
    """
    n_runs = len(evaluation)
    table = np.empty(n_runs * (n_runs - 1) // 2, dtype=_COLUMNS)
    table["baseline"], table["contender"] = np.triu_indices(n_runs, 1)
    coverage_test = coverage_test_for(evaluation)
    levels = first_step_level(alpha, len(table), correction) / looks, alpha
    # Filled block by block: small arrays that stay between large ones that go would keep the memory of all.
    pvalues, directions = np.empty((6, len(table))), np.empty((6, len(table)), dtype=np.int8)
    end = 0
    for pair, counts in with_progress(
        pair_blocks(evaluation), "pair", len(table), shown=progress, size=lambda block: block[1].shape[1]
    ):
        start, end = end, end + counts.shape[1]
        rows = table[start:end]
        rows["coverage"] = 100 * _means(pair.found_contender - pair.found_baseline, counts)
        rows["baseline_length"] = _means(pair.length_baseline, counts, pair.shared)
        rows["contender_length"] = _means(pair.length_contender, counts, pair.shared)
        if pair.restricted is not None:
            rows["all_queries"] = _means(pair.restricted.contender - pair.restricted.baseline, counts)
        found = run_tests(samples_of(pair, counts), "t", coverage_test, levels)
        tests = found.coverage, found.ranking, found.wilcoxon, *found.confirming, found.guards[1]
        for test, of_test in enumerate(tests):
            pvalues[test, start:end], directions[test, start:end] = of_test
    coverage, ranking, wilcoxon, everywhere, signed_ranks, won_and_lost = (
        Tests(of_pairs, direction.astype(np.int64)) for of_pairs, direction in zip(pvalues, directions, strict=True)
    )
    joined = PairTests(coverage, ranking, ranking, wilcoxon, (everywhere, signed_ranks), (everywhere, won_and_lost), False)
    judged = judge(joined, alpha=alpha, correction=correction, looks=looks)
    table["coverage_p"], table["coverage_p_corrected"] = coverage.pvalue, judged.coverage
    table["ranking_p"], table["ranking_p_corrected"] = ranking.pvalue, judged.ranking
    table["label"] = judged.verdicts.label
    better = {
        "verdict": judged.verdicts.direction,
        "coverage": coverage.direction * (judged.coverage <= alpha),
        "ranking": -ranking.direction * (judged.ranking <= alpha),
        "all queries": -everywhere.direction * (adjust(everywhere.pvalue, correction) <= alpha),
    }
    return PairVerdicts(evaluation.names, table, {name: codes.astype(np.int8) for name, codes in better.items()})


class PairBlock(NamedTuple):
    """A baseline and several contenders as one table of queries, and how often each of these counts for each pair."""

    pair: PairedQueries
    counts: Floats  # (n_queries of the table, n_pairs)


def pair_blocks(evaluation: Evaluation) -> Iterator[PairBlock]:
    """Yield all pairs in the order of `itertools.combinations`, those of a baseline with several contenders together."""
    if evaluation.clusters is not None or (evaluation.unit == "document" and evaluation.many_relevant):
        return _blocks_of_items(evaluation)
    return _blocks_of_ranks(evaluation.runs, evaluation.cutoff)


def _blocks_of_ranks(runs: Sequence[SearchLengths], cutoff: int) -> Iterator[PairBlock]:
    """Yield blocks where each query has one search length.

    There are only so many cells (rank in the baseline, rank in the contender). A cell takes the place of a query, and a pair
    is a sample that counts how many of its queries are in each cell.
    """
    answerable = runs[0].answerable
    lengths, horizons = _lengths(runs, cutoff, lambda run: run.esl()[answerable])
    ranks = np.unique(lengths)  # NaN, which is not found, is the last of the ranks
    # 32 bits are half of the memory to pass through, which is what takes the time.
    codes = np.searchsorted(ranks, lengths).astype(np.int32 if len(ranks) ** 2 < 1 << 31 else np.int64)
    most = max(isqrt(_MOST_RANKS // max(lengths.shape[1], 1)), _MOST_RANKS // len(ranks) ** 2)
    for baseline, first, end, horizon in _spans(horizons, most):
        occurring, counts = _counted(codes[baseline] * len(ranks) + codes[first:end], len(ranks) ** 2)
        of_cells = ranks[occurring // len(ranks)], ranks[occurring % len(ranks)]
        cells = np.arange(len(occurring))
        yield PairBlock(from_items(("", ""), ("",) * len(cells), cells, of_cells, horizon), counts)


def _blocks_of_items(evaluation: Evaluation) -> Iterator[PairBlock]:
    """Yield blocks where every relevant document of a query counts, or where queries come in clusters.

    The queries of all pairs are put side by side, and a pair is a sample of its own ones.
    """
    runs, answerable, codes = evaluation.runs, evaluation.answerable, evaluation.clusters
    n_queries = int(answerable.sum())
    if evaluation.unit == "document":
        lengths, horizons = _lengths(runs, evaluation.cutoff, SearchLengths.atoms)
        query = (np.cumsum(answerable) - 1)[runs[0].query]  # of each document
    else:
        lengths, horizons = _lengths(runs, evaluation.cutoff, lambda run: run.esl()[answerable])
        query = np.arange(n_queries)
    for baseline, first, end, horizon in _spans(horizons, isqrt(_MOST_SHARES // max(n_queries, 1))):
        n_pairs = end - first
        of_runs = np.tile(lengths[baseline], n_pairs), lengths[first:end].ravel()
        own, clusters = _side_by_side(query, n_queries, n_pairs), None
        if codes is not None:
            clusters = _side_by_side(codes[answerable], int(codes.max()) + 1, n_pairs)
        pair = from_items(("", ""), ("",) * (n_pairs * n_queries), own, of_runs, horizon, clusters)
        yield PairBlock(pair, np.repeat(np.eye(n_pairs), n_queries, axis=0))


def _side_by_side(codes: Ints, n_codes: int, n_pairs: int) -> Ints:
    """Return codes that are different in each pair."""
    return (codes + n_codes * np.arange(n_pairs)[:, None]).ravel()


def _lengths(runs: Sequence[SearchLengths], cutoff: int, of_run: Callable[[SearchLengths], Floats]) -> tuple[Floats, list[int]]:
    """Return the (n_runs, n_items) search lengths of all runs, and the horizon of each run."""
    lengths, horizons = [], []
    for run in runs:  # each is cut off by itself: a copy of all runs would take more memory than all that is made of them
        within = run.at(cutoff)
        lengths.append(of_run(within))
        horizons.append(horizon_of(within, within) or 0)
    return np.stack(lengths), horizons


def _spans(horizons: Sequence[int], most: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield a baseline, the first contender and the end of at most so many that share a horizon with it, and that horizon."""
    for baseline in range(len(horizons) - 1):
        of_pair = [max(horizons[baseline], horizon) for horizon in horizons]  # the horizon of a pair is the larger one
        first = baseline + 1
        while first < len(horizons):
            end = first + 1
            while end < min(len(horizons), first + most) and of_pair[end] == of_pair[first]:
                end += 1
            yield baseline, first, end, of_pair[first]
            first = end


def _counted(cells: npt.NDArray[np.integer[Any]], n_cells: int) -> tuple[Ints, Floats]:
    """Return the cells that occur in any pair, and the (n_occurring, n_pairs) numbers of queries in them.

    At a cutoff of 1000 there are a million cells, and few of them occur.
    """
    n_pairs = len(cells)
    if n_cells <= _MOST_RANKS:
        occurs = np.zeros(n_cells, dtype=bool)
        occurs[cells] = True
        occurring = np.flatnonzero(occurs)
        place = (np.cumsum(occurs) - 1).astype(np.int32)[cells]
    else:  # slower, but there can be billions of cells
        occurring, place = np.unique(cells, return_inverse=True)
        place = place.reshape(cells.shape)
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
