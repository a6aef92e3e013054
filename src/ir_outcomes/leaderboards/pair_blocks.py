"""The differences of many pairs of runs at once.

A pair by itself takes a hundred short calls of NumPy. Here the pairs of a baseline with several contenders are samples of one
table, whose numbers come from the same functions as those of a single pair:

- Where each query has one search length, there are only so many cells (rank in the baseline, rank in the contender). A cell
  takes the place of a query, and a pair is a sample that counts how many of its queries are in each cell.
- Where shares of several documents are compared, the queries of all pairs are put side by side, and a pair is a sample of its
  own ones.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from math import isqrt
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes._types import Bools, Floats, Ints
from ir_outcomes.comparison.outcomes import from_items, horizon_of
from ir_outcomes.comparison.pair_tests import PairSamples, samples_of
from ir_outcomes.evaluation.lengths import SearchLengths

__all__ = ["PairBlock", "Summary", "blocks_of_ranks", "blocks_of_shares"]

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
