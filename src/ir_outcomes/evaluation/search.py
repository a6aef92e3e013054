"""From a run to search lengths, by looking at its rankings once."""

from typing import Any

import numpy as np

from ir_outcomes.choices import Bools, Ints, Positive, Ties
from ir_outcomes.evaluation.diagnosis import Diagnosis
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.ranking import (
    filtered,
    joined,
    levels,
    list_digests,
    positions_in,
    ranking,
    share_of_equal_scores,
)
from ir_outcomes.evaluation.repairs import about_unknown_ids
from ir_outcomes.reading.datasets import as_qrels, as_run

_BEHIND = np.iinfo(np.int64).max  # a rank that no document has
JUDGED_DEPTH = 10  # documents of each list that the qrels are likeliest to know


def search_lengths(
    qrels: Any,
    run: Any,
    *,
    cutoff: Positive | None = None,
    rel: Positive = 1,
    ties: Ties = "trec",
    judged_only: bool = False,
    drop_self: bool = False,
) -> SearchLengths:
    """Find where a run ranks each relevant document.

    Parameters
    ----------
    qrels, run
        See `ir_outcomes.as_qrels` and `ir_outcomes.as_run`.
    cutoff : int, optional
        Ranks beyond it do not count; by default all count.
    rel : int
        Least grade of a relevant document.
    ties : {"trec", "msmarco", "input", "expected"}
        Order among equal scores. "trec": document id descending, scores compared at the precision
        of the installed pytrec_eval; "msmarco": document id ascending (ir_measures' ``RR@k``);
        "input": as they come; "expected": the expectation over all orders (Cooper's weak ordering).
    judged_only : bool
        Remove unjudged documents before ranks are counted and before the cutoff.
    drop_self : bool
        Remove, before ranks are counted, documents whose id is that of the query, as in collections
        whose queries are documents too.

    Examples
    --------
    >>> lengths = search_lengths({"q1": {"d2": 1}}, {"q1": {"d1": 9.0, "d2": 8.0}}, cutoff=10)
    >>> lengths.esl().tolist()
    [2.0]
    """
    qrels = as_qrels(qrels)
    whole_run = as_run(run)
    ranked_run = filtered(qrels, whole_run, judged_only=judged_only, drop_self=drop_self)
    matches = joined(qrels, ranked_run)
    ranked = ranking(ranked_run, ties)
    first, size, listed = levels(qrels, ranked_run.offsets, matches, ties, ranked)
    within = _BEHIND if cutoff is None else cutoff
    n_queries = len(qrels.query_ids)
    # The last, at position -1, is that of queries the run lacks.
    depths = np.append(np.diff(ranked_run.offsets), 0)[matches.positions]
    retrieved = np.minimum(depths, within)
    depth = min(JUDGED_DEPTH, within)
    judged = np.bincount(qrels.codes[(first > 0) & (first <= depth)], minlength=n_queries)
    # Under ties="expected" a level that the depth splits can hold more judged documents than fit.
    unjudged = np.maximum(np.minimum(retrieved, depth) - judged, 0)
    relevant = qrels.grades >= rel
    query = qrels.codes[relevant].astype(np.int64)
    best = _best(query, first[relevant], n_queries)
    self_ranks = np.zeros(n_queries, dtype=np.int64)  # 0 without such a document
    hits = np.flatnonzero(matches.self_rows >= 0)
    start = ranked_run.offsets[matches.positions[hits]]
    self_ranks[hits] = positions_in(ranked.order, matches.self_rows[hits]) - start + 1
    lowest = np.zeros(n_queries, dtype=np.int64)
    np.maximum.at(lowest, query, first[relevant])
    diagnosis = Diagnosis(
        listed=matches.positions >= 0,
        reordered=best != _best(query, listed[relevant], n_queries),
        against_ranks=_of_queries(whole_run.against_ranks, matches.positions),
        rising=_of_queries(whole_run.rising, matches.positions),
        retrieves_itself=self_ranks > 0,
        # Where it is relevant itself, it is meant to be found.
        below_itself=(self_ranks > 0) & (lowest > self_ranks) & (best != self_ranks),
        unjudged=unjudged.astype(np.uint8),
        digests=list_digests(ranked_run, matches.positions, ranked.order),
        ignored=tuple(sorted(set(whole_run.query_ids) - set(qrels.query_ids))),
        unknown_ids=about_unknown_ids(qrels, whole_run, bool(first.any())),
        equal_scores=share_of_equal_scores(whole_run, ties),
        longest=int(depths.max(initial=0)),
    )
    return SearchLengths(
        name=whole_run.name,
        query_ids=qrels.query_ids,
        offsets=np.searchsorted(query, np.arange(n_queries + 1)),
        rank=np.where(first <= within, first, 0)[relevant].astype(np.int32),
        level_size=np.where((first > 0) & (first <= within), size, 1)[relevant].astype(np.int32),
        retrieved=retrieved.astype(np.int32),
        cutoff=cutoff,
        rel=rel,
        ties=ties,
        judged_only=judged_only,
        drop_self=drop_self,
        qrels_digest=qrels.digest,
        diagnosis=diagnosis,
    )


def _best(query: Ints, rank: Ints, n_queries: int) -> Ints:
    """Return the rank of the first relevant document, `_BEHIND` without one."""
    best = np.full(n_queries, _BEHIND)
    np.minimum.at(best, query[rank > 0], rank[rank > 0])
    return best


def _of_queries(flags: Bools | None, positions: Ints) -> Bools:
    """Return flags of a run in the order of the qrels, False for other queries."""
    if flags is None:
        return np.zeros(len(positions), dtype=bool)
    return (positions >= 0) & flags[positions]
