"""The differences of many pairs of runs at once, where each query has one search length: its rank in both runs says everything.

There are only so many cells (rank in the baseline, rank in the contender). The numbers of a cell are computed once, by the same
functions as those of a query, and a pair of runs is a column that counts how many queries are in each cell.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import isqrt
from typing import NamedTuple

import numpy as np

from ir_outcomes._types import Floats, Ints
from ir_outcomes.comparison.outcomes import PairedQueries, from_items, horizon_of
from ir_outcomes.comparison.pair_tests import PairSamples, samples_of
from ir_outcomes.evaluation.lengths import SearchLengths

__all__ = ["PairBlock", "Summary", "blocks_of_ranks"]

_LARGEST_TABLE = 1 << 22  # numbers in an array of cells by pairs: 32 MB, whatever the number of runs


class Summary(NamedTuple):
    """What is kept of a pair of runs beside its tests; see `PairVerdict`."""

    baseline: str
    contender: str
    neither: int
    lost: int
    won: int
    both: int
    coverage: float
    n_both: int
    baseline_length: float | None
    contender_length: float | None


class PairBlock(NamedTuple):
    """Some pairs of runs: a summary and a sample of differences for each."""

    summaries: list[Summary]
    samples: PairSamples


def blocks_of_ranks(runs: Sequence[SearchLengths]) -> Iterator[PairBlock]:
    """Yield all pairs in the order of `itertools.combinations`.

    Parameters
    ----------
    runs : sequence of SearchLengths
        Computed with the same qrels and settings. The first relevant document of a query counts.
    """
    answerable = runs[0].answerable
    lengths = np.stack([run.esl()[answerable] for run in runs])
    ranks, codes = np.unique(lengths, return_inverse=True)  # NaN, which is not found, is one of the ranks
    codes = codes.reshape(lengths.shape)
    for place, baseline in enumerate(runs[:-1]):
        first = place + 1
        for end in _ends_of_blocks(baseline, runs, first, n_cells=len(ranks) ** 2):
            cells = codes[place] * len(ranks) + codes[first:end]
            yield _block(baseline, runs[first:end], ranks, cells)
            first = end


def _ends_of_blocks(baseline: SearchLengths, runs: Sequence[SearchLengths], first: int, n_cells: int) -> Iterator[int]:
    """Divide the contenders into blocks that share the horizon of the restricted search length and fit in memory."""
    n_queries = int(baseline.answerable.sum())
    most = max(1, isqrt(_LARGEST_TABLE // max(n_queries, 1)), _LARGEST_TABLE // n_cells)
    while first < len(runs):
        horizon = horizon_of(baseline, runs[first])
        end = first + 1
        while end < len(runs) and end - first < most and horizon_of(baseline, runs[end]) == horizon:
            end += 1
        yield end
        first = end


def _block(baseline: SearchLengths, contenders: Sequence[SearchLengths], ranks: Floats, cells: Ints) -> PairBlock:
    occurring, counts = _counted(cells, len(ranks) ** 2)
    pair = from_items(
        ("", ""),
        ("",) * len(occurring),  # each cell takes the place of a query, and has no id
        np.arange(len(occurring)),
        (ranks[occurring // len(ranks)], ranks[occurring % len(ranks)]),
        horizon=horizon_of(baseline, contenders[0]),
    )
    return PairBlock(_summaries(baseline, contenders, pair, counts), samples_of(pair, counts))


def _counted(cells: Ints, n_cells: int) -> tuple[Ints, Floats]:
    """Count the queries of each pair in each cell.

    Returns
    -------
    occurring : (n_occurring,) int array
        The cells that occur in any pair; most of the others cannot be left out before, and would take memory.
    counts : (n_occurring, n_pairs) float array
        Numbers of queries.
    """
    occurs = np.zeros(n_cells, dtype=bool)
    occurs[cells] = True
    occurring = np.flatnonzero(occurs)
    place = np.cumsum(occurs) - 1
    n_pairs = len(cells)
    keys = place[cells] * n_pairs + np.arange(n_pairs)[:, None]
    counts = np.bincount(keys.ravel(), minlength=len(occurring) * n_pairs).reshape(len(occurring), n_pairs)
    return occurring, counts.astype(np.float64)


def _summaries(
    baseline: SearchLengths, contenders: Sequence[SearchLengths], pair: PairedQueries, counts: Floats
) -> list[Summary]:
    found = pair.found_baseline > 0, pair.found_contender > 0
    lost, won, both = found[0] & ~found[1], found[1] & ~found[0], found[0] & found[1]
    neither = ~(found[0] | found[1])
    numbers = [counts[outcome].sum(axis=0).astype(np.int64).tolist() for outcome in (neither, lost, won, both)]
    totals = [lengths[both] @ counts[both] for lengths in (pair.length_baseline, pair.length_contender)]
    n_queries = counts.sum(axis=0)
    return [
        Summary(
            baseline=baseline.name,
            contender=contender.name,
            neither=n_neither,
            lost=n_lost,
            won=n_won,
            both=n_both,
            coverage=100 * (n_won - n_lost) / float(n_queries[column]),
            n_both=n_both,
            baseline_length=float(totals[0][column]) / n_both if n_both else None,
            contender_length=float(totals[1][column]) / n_both if n_both else None,
        )
        for column, (contender, n_neither, n_lost, n_won, n_both) in enumerate(zip(contenders, *numbers, strict=True))
    ]
