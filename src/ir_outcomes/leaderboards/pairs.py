"""The two-facet verdict for all pairs of runs.

The numbers that decide are those of `ir_outcomes.compare`. What a comparison shows beside them is left out, because n runs have
n (n - 1) / 2 pairs: a pair keeps a few numbers in a row of a table, and nothing by query.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import isnan, isqrt
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from ir_outcomes.comparison.outcomes import from_items, horizon_of
from ir_outcomes.comparison.verdict import (
    DIRECTIONS,
    LABELS,
    MIRRORED,
    Direction,
    PairSamples,
    PairTests,
    coverage_test_for,
    direction_of,
    judge,
    run_tests,
    samples_of,
    stacked,
)
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.formatting import with_progress
from ir_outcomes.types import Bools, Floats, Ints

# Both bound a table of numbers by pairs, whatever the number of runs.
_MOST_RANKS = 1 << 22  # 32 MB; a larger table has fewer calls
_MOST_SHARES = 1 << 16  # most numbers differ from pair to pair: larger tables would be mostly zeros


class Summary(NamedTuple):
    """What is kept of pairs of runs beside their tests: (n_pairs,) columns, see `PairVerdict`."""

    neither: Ints
    lost: Ints
    won: Ints
    both: Ints
    coverage: Floats
    n_both: Ints
    baseline_length: Floats  # NaN where there is none
    contender_length: Floats


class PairBlock(NamedTuple):
    """Some pairs of runs: their summary, and a sample of differences for each."""

    summary: Summary
    samples: PairSamples


def blocks_of_ranks(runs: Sequence[SearchLengths], cutoff: int) -> Iterator[PairBlock]:
    """Yield all pairs in the order of `itertools.combinations`; the first relevant document of a query counts.

    Parameters
    ----------
    runs : sequence of SearchLengths
        Computed with the same qrels and settings.
    cutoff : int
        Ranks beyond it do not count.
    """
    answerable = runs[0].answerable
    lengths, horizons = _lengths(runs, cutoff, lambda run: run.esl()[answerable])
    ranks = np.unique(lengths)  # NaN, which is not found, is the last of the ranks
    # 32 bits are half of the memory to pass through, which is what takes the time.
    codes = np.searchsorted(ranks, lengths).astype(np.int32 if len(ranks) ** 2 < 1 << 31 else np.int64)
    most = max(isqrt(_MOST_RANKS // max(lengths.shape[1], 1)), _MOST_RANKS // len(ranks) ** 2)
    for baseline, first, end, horizon in _blocks(horizons, most):
        yield _block_of_cells(ranks, codes[baseline] * len(ranks) + codes[first:end], horizon)


def blocks_of_shares(runs: Sequence[SearchLengths], cutoff: int) -> Iterator[PairBlock]:
    """Yield all pairs in the order of `itertools.combinations`; every relevant document of a query counts."""
    lengths, horizons = _lengths(runs, cutoff, SearchLengths.atoms)
    answerable = runs[0].answerable
    query = (np.cumsum(answerable) - 1)[runs[0].query]  # of each document
    n_queries = int(answerable.sum())
    most = isqrt(_MOST_SHARES // max(n_queries, 1))
    for baseline, first, end, horizon in _blocks(horizons, most):
        yield _block_of_documents(query, n_queries, lengths[baseline], lengths[first:end], horizon)


def _lengths(runs: Sequence[SearchLengths], cutoff: int, of_run: Callable[[SearchLengths], Floats]) -> tuple[Floats, list[int]]:
    """Return the (n_runs, n_items) search lengths of all runs, and the horizon of each run.

    Each run is cut off by itself: a copy of all runs would take more memory than all that is made of them.
    """
    lengths, horizons = [], []
    for run in runs:
        within = run.at(cutoff)
        lengths.append(of_run(within))
        horizons.append(horizon_of(within, within) or 0)
    return np.stack(lengths), horizons


def _blocks(horizons: Sequence[int], most: int) -> Iterator[tuple[int, int, int, int]]:
    """Yield a baseline, the first contender and the end of contenders that share a horizon with it, and that horizon.

    Parameters
    ----------
    horizons : sequence of int
        Of each run; that of a pair is the larger one.
    most : int
        Number of contenders.
    """
    for baseline in range(len(horizons) - 1):
        of_pair = [max(horizons[baseline], horizon) for horizon in horizons]
        first = baseline + 1
        while first < len(horizons):
            end = first + 1
            while end < min(len(horizons), first + most) and of_pair[end] == of_pair[first]:
                end += 1
            yield baseline, first, end, of_pair[first]
            first = end


def _block_of_cells(ranks: Floats, cells: npt.NDArray[np.integer[Any]], horizon: int) -> PairBlock:
    """Make samples of (n_contenders, n_queries) cells."""
    occurring, counts = _counted(cells, len(ranks) ** 2)
    lengths = ranks[occurring // len(ranks)], ranks[occurring % len(ranks)]
    pair = from_items(
        ("", ""),
        ("",) * len(occurring),  # cells have no ids
        np.arange(len(occurring)),
        lengths,
        horizon=horizon,
    )
    found = ~np.isnan(lengths[0]), ~np.isnan(lengths[1])
    shared = found[0] & found[1]
    neither, lost, won, both = (_sums(outcome, counts).astype(np.int64) for outcome in _outcomes(*found))
    totals = (_sums(np.where(shared, of_run, 0.0), counts) for of_run in lengths)
    means = (np.divide(total, both, out=np.full(len(both), np.nan), where=both > 0) for total in totals)
    coverage = 100 * (won - lost) / cells.shape[1]
    return PairBlock(Summary(neither, lost, won, both, coverage, both, *means), samples_of(pair, counts))


def _counted(cells: npt.NDArray[np.integer[Any]], n_cells: int) -> tuple[Ints, Floats]:
    """Count the queries of each pair in each cell.

    Returns
    -------
    occurring : (n_occurring,) int array
        The cells that occur in any pair: at a cutoff of 1000 there are a million, and few of them occur.
    counts : (n_occurring, n_pairs) float array
        Numbers of queries.
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


def _block_of_documents(query: Ints, n_queries: int, of_baseline: Floats, of_contenders: Floats, horizon: int) -> PairBlock:
    """Make samples of the search lengths of (n_documents,) and (n_contenders, n_documents) documents."""
    n_pairs, n_documents = of_contenders.shape
    lengths = np.tile(of_baseline, n_pairs), of_contenders.ravel()
    pair = from_items(
        ("", ""),
        ("",) * (n_pairs * n_queries),  # a query of several pairs has no id of its own
        (query + n_queries * np.arange(n_pairs)[:, None]).ravel(),
        lengths,
        horizon=horizon,
    )
    found = (~np.isnan(of_run).reshape(n_pairs, n_documents) for of_run in lengths)
    neither, lost, won, both = (outcome.sum(axis=1) for outcome in _outcomes(*found))
    shared = pair.shared.reshape(n_pairs, n_queries)
    gains = (pair.found_contender - pair.found_baseline).reshape(n_pairs, n_queries).mean(axis=1)
    means = (
        np.array([row[counted].mean() if counted.any() else np.nan for row, counted in zip(of_run, shared, strict=True)])
        for of_run in (values.reshape(n_pairs, n_queries) for values in (pair.length_baseline, pair.length_contender))
    )
    summary = Summary(neither, lost, won, both, 100 * gains, shared.sum(axis=1), *means)
    own_queries = np.repeat(np.eye(n_pairs), n_queries, axis=0)
    return PairBlock(summary, samples_of(pair, own_queries))


def _sums(values: Bools | Floats, counts: Floats) -> Floats:
    """(n_pairs,) sums of the values of the cells, by their counts.

    Not ``values @ counts``: its threads wait for each other longer than the product takes, where other processes run.
    """
    sums: Floats = np.einsum("i,ij->j", values.astype(np.float64), counts)
    return sums


def _outcomes(baseline: Bools, contender: Bools) -> tuple[Bools, Bools, Bools, Bools]:
    """Return where neither, only the baseline, only the contender, and both found something."""
    return ~(baseline | contender), baseline & ~contender, contender & ~baseline, baseline & contender


# The fields of `PairVerdict`, as they are kept.
_COLUMNS: dict[str, type] = {
    "baseline": np.int32,  # runs by their places among the names
    "contender": np.int32,
    "neither": np.int64,
    "lost": np.int64,
    "won": np.int64,
    "both": np.int64,
    "coverage": np.float64,
    "coverage_p": np.float64,
    "coverage_p_corrected": np.float64,
    "n_both": np.int64,
    "baseline_length": np.float64,  # NaN where there is none
    "contender_length": np.float64,
    "ranking_p": np.float64,
    "ranking_p_corrected": np.float64,
    "wilcoxon_p": np.float64,
    "label": np.int8,  # index into LABELS
    "guard": np.bool_,
}


@dataclass(frozen=True, slots=True)
class PairVerdict:
    """The verdict on a contender against a baseline, with the numbers that led to it.

    Attributes
    ----------
    baseline, contender : str
        Names; every difference is contender minus baseline.
    neither, lost, won, both : int
        Queries (or relevant documents) found by neither run, by the baseline only, by the contender only, by both.
    coverage : float
        Change of coverage, percentage points, higher is better.
    coverage_p, coverage_p_corrected : float
        Of the exact binomial test, or of the sign-flip test where shares of documents are compared.
    n_both : int
        Queries on which both found at least one same document: the queries of the ranking facet.
    baseline_length, contender_length : float or None
        Mean search length there, ranks, lower is better; that of the same baseline differs from pair to pair.
    ranking_p, ranking_p_corrected, wilcoxon_p : float
        Of the test of the mean that decides (t; with fewer than 30 differences that are not zero the sign-flip test), and of
        the Wilcoxon test, which can veto.
    label : str
        The verdict, one of `ir_outcomes.comparison.verdict.LABELS`, after the guard.
    guard : bool
        Whether the restricted search length over all queries contradicts the two facets, so that the label is "trade-off".
    """

    baseline: str
    contender: str
    neither: int
    lost: int
    won: int
    both: int
    coverage: float
    coverage_p: float
    coverage_p_corrected: float
    n_both: int
    baseline_length: float | None
    contender_length: float | None
    ranking_p: float
    ranking_p_corrected: float
    wilcoxon_p: float
    label: str
    guard: bool

    @property
    def direction(self) -> Direction:
        """Direction of the label for the contender."""
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
            lost=self.won,
            won=self.lost,
            coverage=0.0 - self.coverage,  # 0 stays 0, and does not become -0.0
            baseline_length=self.contender_length,
            contender_length=self.baseline_length,
            label=MIRRORED[self.label],
        )


class PairVerdicts(Sequence[PairVerdict]):
    """The verdicts on all pairs of runs, in the order of `itertools.combinations`; equal to a tuple of the same verdicts.

    They are rows of a table, a quarter of the memory of as many objects; a `PairVerdict` is made where it is asked for.

    Parameters
    ----------
    names : tuple of str
        The runs.
    table : (n_pairs,) structured array
        A column for each field of `PairVerdict`.
    """

    __slots__ = ("_names", "_table")

    def __init__(self, names: tuple[str, ...], table: npt.NDArray[np.void]) -> None:
        table.setflags(write=False)
        self._names = names
        self._table = table

    def __len__(self) -> int:
        return len(self._table)

    @overload
    def __getitem__(self, place: int) -> PairVerdict: ...

    @overload
    def __getitem__(self, place: slice) -> PairVerdicts: ...

    def __getitem__(self, place: int | slice) -> PairVerdict | PairVerdicts:
        if isinstance(place, slice):
            return PairVerdicts(self._names, self._table[place])
        values: dict[str, Any] = dict(zip(_COLUMNS, self._table[place].tolist(), strict=True))
        for run in ("baseline", "contender"):
            values[run] = self._names[values[run]]
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
        return f"PairVerdicts({len(self)} pairs of {len(self._names)} runs)"

    @property
    def names(self) -> tuple[str, ...]:
        """The runs, in their order."""
        return self._names

    def better(self) -> Bools:
        """(n_runs, n_runs) bool array: whether the run of the row is better than the run of the column."""
        baseline, contender = self._table["baseline"], self._table["contender"]
        direction = DIRECTIONS[self._table["label"]]
        better = np.zeros((len(self._names), len(self._names)), dtype=bool)
        better[contender, baseline] = direction > 0
        better[baseline, contender] = direction < 0
        return better


def all_pairs(evaluation: Evaluation, *, alpha: float, correction: str, looks: int = 1, progress: bool = False) -> PairVerdicts:
    """Judge each run as a contender against every earlier one.

    Parameters
    ----------
    evaluation : Evaluation
        The runs; its cutoff and unit are those of the verdicts.
    alpha, correction
        See `ir_outcomes.compare`; the family is all pairs.
    looks : int
        Corrected p-values are multiplied by it: how often the same queries had been used.
    progress : bool
        Show a progress bar on stderr.

    Returns
    -------
    PairVerdicts
        The verdicts are those of ``compare(all_pairs=True)``.
    """
    runs = evaluation.runs
    coverage_test = coverage_test_for(evaluation.unit, evaluation.many_relevant)
    blocks_of = blocks_of_shares if evaluation.unit == "document" and evaluation.many_relevant else blocks_of_ranks
    table = np.empty(len(runs) * (len(runs) - 1) // 2, dtype=list(_COLUMNS.items()))
    table["baseline"], table["contender"] = np.triu_indices(len(runs), 1)
    blocks = with_progress(
        blocks_of(runs, evaluation.cutoff), "pair", len(table), shown=progress, size=lambda block: len(block.summary.both)
    )
    tests: list[PairTests] = []
    end = 0
    # Joined from time to time: arrays of few numbers take more memory than all else together.
    while batch := [(block.summary, run_tests(block.samples, "t", coverage_test)) for block in islice(blocks, 256)]:
        for summary, _ in batch:
            start, end = end, end + len(summary.both)
            for name, column in summary._asdict().items():
                table[name][start:end] = column
        tests.append(stacked([of_block for _, of_block in batch]))
    joined = stacked(tests)
    judged = judge(joined, alpha=alpha, correction=correction, looks=looks)
    table["coverage_p"], table["coverage_p_corrected"] = joined.coverage.pvalue, judged.coverage
    table["ranking_p"], table["ranking_p_corrected"] = joined.ranking.pvalue, judged.ranking
    table["wilcoxon_p"] = joined.wilcoxon.pvalue
    table["label"], table["guard"] = judged.verdicts.label, judged.verdicts.guard
    return PairVerdicts(evaluation.names, table)
