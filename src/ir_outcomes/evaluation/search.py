"""From a run to search lengths, by looking at its rankings once."""

from collections.abc import Collection
from typing import Any, get_args

import numpy as np

from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.ranking import judged_part, levels, list_digests, places_of, ranked_rows
from ir_outcomes.reading.datasets import as_qrels, as_run
from ir_outcomes.types import Bools, Ints, Ties, check_choice, check_positive

_KEPT_DEPTHS = (10, 20, 50, 100, 1000)


def search_lengths(
    qrels: Any,
    run: Any,
    *,
    cutoff: int | None = None,
    rel: int = 1,
    ties: Ties = "trec",
    judged_only: bool = False,
    count_unjudged_at: Collection[int] = (),
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
    count_unjudged_at : collection of int
        Depths at which unjudged documents are counted, besides 10, 20, 50, 100, 1000 and the
        cutoff.

    Examples
    --------
    >>> lengths = search_lengths({"q1": {"d2": 1}}, {"q1": {"d1": 9.0, "d2": 8.0}}, cutoff=10)
    >>> lengths.esl().tolist()
    [2.0]
    """
    check_positive("cutoff", cutoff, none_allowed=True)
    check_positive("rel", rel)
    check_choice("ties", ties, get_args(Ties))
    qrels = as_qrels(qrels)
    run = as_run(run)
    whole_run = run
    places = places_of(qrels, run)
    if judged_only:
        run = judged_part(qrels, run, places)
    order = ranked_rows(run, ties)
    first, size, listed = levels(qrels, run, places, ties, order)

    within = np.iinfo(np.int64).max if cutoff is None else cutoff
    # The last, at place -1, is that of queries the run lacks.
    depths = np.append(np.diff(run.offsets), 0)
    retrieved = np.minimum(depths[places], within)
    n_queries = len(qrels.query_ids)
    codes = qrels.codes
    found = (first > 0) & (first <= within)
    smaller = sorted(
        depth for depth in {*_KEPT_DEPTHS, *count_unjudged_at} if cutoff is None or depth < cutoff
    )
    kept_depths = (*smaller, cutoff)
    unjudged = np.empty((n_queries, len(kept_depths)), dtype=np.int64)
    for column, depth in enumerate(kept_depths):
        bound = within if depth is None else depth
        judged_retrieved = np.bincount(codes[(first > 0) & (first <= bound)], minlength=n_queries)
        # Under ties="expected" a level that the depth splits can hold more judged documents than
        # fit.
        unjudged[:, column] = np.maximum(np.minimum(retrieved, bound) - judged_retrieved, 0)

    relevant = qrels.grades >= rel
    query = codes[relevant].astype(np.int64)
    rank = np.where(found, first, 0)[relevant]
    above, level_relevant = _relevant_above(query, rank)
    best, best_as_listed = np.full((2, n_queries), np.iinfo(np.int64).max)
    for smallest, ranks in ((best, first[relevant]), (best_as_listed, listed[relevant])):
        np.minimum.at(smallest, query[ranks > 0], ranks[ranks > 0])
    return SearchLengths(
        name=run.name,
        query_ids=qrels.query_ids,
        offsets=np.searchsorted(query, np.arange(n_queries + 1)),
        rank=rank,
        irrelevant_above=np.where(rank > 0, rank - 1 - above, 0),
        level_relevant=level_relevant,
        level_irrelevant=np.where(rank > 0, size[relevant] - level_relevant, 0),
        retrieved=retrieved,
        unjudged=unjudged,
        unjudged_depths=kept_depths,
        listed=places >= 0,
        reordered=best != best_as_listed,
        against_ranks=_of_queries(whole_run.against_ranks, places),
        digests=list_digests(run, places, order),
        ignored=tuple(sorted(set(run.query_ids) - set(qrels.query_ids))),
        # The latter takes longer, and is seldom needed.
        known=bool(first.any() or np.isin(qrels.docids, whole_run.docids).any()),
        cutoff=cutoff,
        rel=rel,
        ties=ties,
        judged_only=judged_only,
        qrels_digest=qrels.digest,
    )


def _of_queries(flags: Bools | None, places: Ints) -> Bools:
    """Return for each query of the qrels what is known of it in the run, at its place; False where that lacks it."""
    if flags is None:
        return np.zeros(len(places), dtype=bool)
    return (places >= 0) & flags[places]


def _relevant_above(query: Ints, rank: Ints) -> tuple[Ints, Ints]:
    """Count, for each found atom, the relevant documents of its query at smaller ranks and those at its own rank."""
    # One number for a query and rank turns counting into searching; what is not found has rank 0,
    # before all others.
    width = int(rank.max(initial=0)) + 1
    numbers = query * width + rank
    ordered = np.sort(numbers)
    begin = np.searchsorted(ordered, query * width + 1)
    first = np.searchsorted(ordered, numbers)
    behind = np.searchsorted(ordered, numbers, side="right")
    found = rank > 0
    above = np.where(found, first - begin, 0)
    same = np.where(found, behind - first, 1)
    return above, same
