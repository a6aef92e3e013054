"""The outcome split: what two runs did with each query, and the per-query numbers of both facets and of all queries.

*Items* are what is answered or not: queries (``unit="query"``), or the atoms of `SearchLengths` (``unit="document"``), averaged
within their query, so that each query weighs the same. With one relevant document per query the two give the same arrays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import compress
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes._types import Bools, Floats, Ints, Unit
from ir_outcomes.evaluation.items import OUTCOMES, match
from ir_outcomes.evaluation.lengths import SearchLengths

__all__ = ["OUTCOMES", "Outcomes", "PairedQueries", "Restricted", "Shares", "from_items", "horizon_of", "pair_queries"]


class Shares(NamedTuple):
    """Shares of the four outcomes, averaged within each query first; they sum to 1."""

    neither: float
    lost: float
    won: float
    both: float


@dataclass(frozen=True)
class Outcomes:
    """How many queries (or relevant documents) had each outcome.

    Attributes
    ----------
    neither, lost, won, both : int
        Found by neither run; by the baseline only; by the contender only; by both. Counts of queries, or of relevant
        documents under ``unit="document"``.
    shares : Shares or None
        Share of each outcome, averaged within each query first; None where no query is answerable.
    lost_at, won_at : float or None
        Median search length at which the baseline found what was lost, and the contender what was won, in ranks; each relevant
        document weighs one over the number of its query's. None where nothing was lost or won, or no ranks are known.

    References
    ----------
    Lin et al. 2021, section 4: neither is (1), lost is "A wins", won is "B wins", both is (3) of Table 2.
    """

    neither: int
    lost: int
    won: int
    both: int
    shares: Shares | None
    lost_at: float | None = None
    won_at: float | None = None


class Restricted(NamedTuple):
    """Search lengths over all answerable queries: k + 1 where nothing is found.

    Attributes
    ----------
    horizon : int
        k: the cutoff, or the depth of the deeper run where that is smaller.
    baseline, contender : (n,) float arrays
        Restricted search length, averaged over the query's items; ranks, lower is better.
    both, won, lost : (n,) float arrays
        Parts of the difference (contender minus baseline) that come from items that both found, from items that only the
        contender found (0 or negative) and from items that only the baseline found (0 or positive). They sum to the difference.
    """

    horizon: int
    baseline: Floats
    contender: Floats
    both: Floats
    won: Floats
    lost: Floats


@dataclass(frozen=True, eq=False)
class PairedQueries:
    """Per-query numbers of a pair of runs, over the answerable queries.

    Attributes
    ----------
    baseline, contender : str
        Names of the runs.
    query_ids : tuple of str
        The answerable queries, in the order of the qrels.
    outcomes : Outcomes
        Counts and shares.
    found_baseline, found_contender : (n,) float arrays
        Share of the query's items found, between 0 and 1, higher is better.
    item_share : float
        Mean over the queries of one over the number of items: 1 where every query is one item.
    shared : (n,) bool array
        Whether both runs found at least one same item: the queries of the ranking facet.
    length_baseline, length_contender : (n,) float arrays
        Mean search length over the items that both found, or where there is no such item over those that the run found itself;
        ranks, lower is better; NaN where the run found nothing.
    reciprocal_baseline, reciprocal_contender : (n,) float arrays
        The same of reciprocal search lengths, higher is better.
    restricted : Restricted or None
        Search lengths over all queries; None without a cutoff, and for other measures than search lengths.
    measure : str or None
        None for search lengths; the name of another measure whose values take the place of lengths.
    higher_is_better : bool
        Direction of the lengths, or of that measure.
    """

    baseline: str
    contender: str
    query_ids: tuple[str, ...]
    outcomes: Outcomes
    found_baseline: Floats
    found_contender: Floats
    item_share: float
    shared: Bools
    length_baseline: Floats
    length_contender: Floats
    reciprocal_baseline: Floats
    reciprocal_contender: Floats
    restricted: Restricted | None
    measure: str | None = None
    higher_is_better: bool = False


def pair_queries(baseline: SearchLengths, contender: SearchLengths, unit: Unit) -> PairedQueries:
    """Split the answerable queries by outcome, and compute the numbers of each query.

    Parameters
    ----------
    baseline, contender : SearchLengths
        Computed with the same qrels and settings.
    unit : {"query", "document"}
        Whether a query's first relevant document or each of its relevant documents is an item.

    Raises
    ------
    MismatchError
        If the two were computed with different qrels or settings.

    References
    ----------
    Lin et al. 2021, section 4; for documents joined with Alex et al. 2022, equations 1 and 2.
    """
    items = match(baseline, contender, unit)
    answerable = baseline.answerable
    query_ids = tuple(compress(baseline.query_ids, answerable.tolist()))
    query = (np.cumsum(answerable) - 1)[items.query]
    return from_items((baseline.name, contender.name), query_ids, query, items.lengths, horizon=horizon_of(baseline, contender))


def horizon_of(baseline: SearchLengths, contender: SearchLengths) -> int | None:
    """Return k of the restricted search length: the cutoff, or the depth of the deeper run where that is smaller."""
    return None if baseline.cutoff is None else min(baseline.cutoff, max(baseline.depth, contender.depth))


def from_items(
    names: tuple[str, str],
    query_ids: tuple[str, ...],
    query: Ints,
    lengths: tuple[Floats, Floats],
    horizon: int | None,
) -> PairedQueries:
    """Compute the numbers of each query from its items.

    Parameters
    ----------
    names : pair of str
        Baseline and contender.
    query_ids : tuple of str
        The answerable queries.
    query : (n_items,) int64 array
        The query of each item, as an index into `query_ids`.
    lengths : pair of (n_items,) float arrays
        Search lengths; NaN where the item was not found.
    horizon : int or None
        k of the restricted search length.
    """
    n_queries = len(query_ids)
    found = ~np.isnan(lengths[0]), ~np.isnan(lengths[1])
    both = found[0] & found[1]
    n_items = np.bincount(query, minlength=n_queries)
    single = len(query) == n_queries  # then the items are the queries, in their order

    def means(values: npt.NDArray[np.generic], counted: Bools) -> Floats:
        if single:
            return np.where(counted, values, np.nan).astype(np.float64)
        totals = np.bincount(query[counted], weights=values[counted], minlength=n_queries)
        numbers = np.bincount(query[counted], minlength=n_queries)
        averages: Floats = np.divide(totals, numbers, out=np.full(n_queries, np.nan), where=numbers > 0)
        return averages

    every = np.ones(len(query), dtype=bool)
    outcome = found[0] + 2 * found[1].astype(np.int64)
    neither, lost, won, in_both = np.bincount(outcome, minlength=4).tolist()
    weight = 1 / n_items[query] if n_queries else np.empty(0)
    shared = np.bincount(query[both], minlength=n_queries) > 0
    # Lengths over what both found, where there is such an item; else over what the run found itself.
    counted = [both | (run_found & ~shared[query]) for run_found in found]
    return PairedQueries(
        baseline=names[0],
        contender=names[1],
        query_ids=query_ids,
        outcomes=Outcomes(
            neither,
            lost,
            won,
            in_both,
            shares=Shares(*(np.bincount(outcome, weights=weight, minlength=4) / n_queries).tolist()) if n_queries else None,
            lost_at=_weighted_median(lengths[0][outcome == 1], weight[outcome == 1]),
            won_at=_weighted_median(lengths[1][outcome == 2], weight[outcome == 2]),
        ),
        found_baseline=means(found[0], every),
        found_contender=means(found[1], every),
        item_share=float(np.mean(1 / n_items)) if n_queries else 1.0,
        shared=shared,
        length_baseline=means(lengths[0], counted[0]),
        length_contender=means(lengths[1], counted[1]),
        reciprocal_baseline=means(1 / lengths[0], counted[0]),
        reciprocal_contender=means(1 / lengths[1], counted[1]),
        restricted=None if horizon is None else _restricted(lengths, outcome, horizon, lambda values: means(values, every)),
    )


def _restricted(lengths: tuple[Floats, Floats], outcome: Ints, horizon: int, means: Callable[[Floats], Floats]) -> Restricted:
    baseline, contender = (np.where(np.isnan(values), horizon + 1.0, values) for values in lengths)
    change = contender - baseline
    parts = [np.where(outcome == OUTCOMES.index(name), change, 0.0) for name in ("both", "won", "lost")]
    return Restricted(horizon, *(means(values) for values in (baseline, contender, *parts)))


def _weighted_median(values: Floats, weights: Floats) -> float | None:
    """Return the smallest value with half of the weight at or below it, or the middle of two where they share it evenly."""
    if not len(values):
        return None
    order = np.argsort(values, kind="stable")
    upto = np.cumsum(weights[order])
    half = upto[-1] / 2
    slack = 1e-12 * upto[-1]
    low = int(np.searchsorted(upto, half - slack))
    high = min(int(np.searchsorted(upto, half + slack)), len(values) - 1)
    return float(values[order[low]] + values[order[high]]) / 2
