"""The order of the documents of a run, under each rule for equal scores.

A run that is already in order is not sorted, and document ids are compared only among documents
with equal scores.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from itertools import count
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ir_outcomes.choices import Bools, Floats, Ints, Ties
from ir_outcomes.reading.columns import Ids, lists
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run

Bytes = npt.NDArray[np.uint8]


def expectations(
    start: int, relevant: int, others: int, needed: int, cutoff: int | None
) -> tuple[float, float, float]:
    """Return chance, rank and reciprocal rank of an answer within a tie level."""
    # `needed` relevant documents of the level are still to be met; the rank is expected given that
    # they are, within the cutoff.
    positions = np.arange(needed, needed + others + 1)
    chances = _chances_of_place(needed, relevant, others)
    chance = 1.0
    rank = start + needed + (others * needed) / (relevant + 1)
    if cutoff is not None and start + positions[-1] > cutoff:
        within = max(0, cutoff - start - needed + 1)
        positions = positions[:within]
        chances = chances[:within]
        chance = float(chances.sum())
        rank = start + float(chances @ positions) / chance if chance else math.nan
    return chance, rank, float(np.sum(chances / (start + positions)))


def _chances_of_place(wanted: int, relevant: int, others: int) -> Floats:
    """Return the chances of a relevant document's ranks in its tie level."""
    positions = np.arange(wanted, wanted + others)
    size = relevant + others
    ratios = (
        positions
        * (size - positions - relevant + wanted)
        / ((positions - wanted + 1) * (size - positions))
    )
    logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum())


_FEW = 8  # judgments of a query that are looked up one by one
DIGEST = 16  # bytes of the SHA-256 of a list that are kept


class Joined(NamedTuple):
    """Where a run has the queries and documents of qrels."""

    positions: Ints  # (n_queries,) position of each query of the qrels in the run, or -1
    rows: Ints  # (n_judgments,) row of the run that holds each judged pair, or -1
    self_rows: Ints  # (n_queries,) row of the document whose id is the query's own, or -1


def joined(qrels: Qrels, run: Run) -> Joined:
    """Find queries and judged documents, and documents with a query's own id."""
    position_of = {query: position for position, query in enumerate(run.query_ids)}
    positions = np.array([position_of.get(query, -1) for query in qrels.query_ids], dtype=np.int64)
    codes = np.full(len(run.query_ids), -1)
    codes[positions[positions >= 0]] = np.flatnonzero(positions >= 0)
    judged = qrels.docids.tolist()
    offsets = qrels.offsets.tolist()
    rows = [-1] * len(judged)
    self_rows = [-1] * len(positions)
    starts = run.offsets.tolist()
    for code, start, docids in zip(
        codes.tolist(), starts, lists(run.offsets, run.docids), strict=False
    ):
        if code < 0:
            continue
        judgments = range(offsets[code], offsets[code + 1])
        row_of: Mapping[bytes, int] = {}
        if len(judgments) > _FEW:
            row_of = dict(zip(docids, count(start)))
        for judgment in judgments:
            docid = judged[judgment]
            if row_of:
                rows[judgment] = row_of.get(docid, -1)
            elif docid in docids:
                rows[judgment] = start + docids.index(docid)
        query = qrels.query_ids[code].encode()
        if query in docids:
            self_rows[code] = start + docids.index(query)
    return Joined(positions, np.array(rows, dtype=np.int64), np.array(self_rows, dtype=np.int64))


def filtered(qrels: Qrels, run: Run, *, judged_only: bool = False, drop_self: bool = False) -> Run:
    """Remove unjudged documents, or those with the query's own id."""
    if not (judged_only or drop_self):
        return run
    found = joined(qrels, run)
    stays = np.full(len(run), not judged_only)
    if judged_only:
        stays[found.rows[(found.rows >= 0) & (qrels.grades >= 0)]] = True
    if drop_self:
        stays[found.self_rows[found.self_rows >= 0]] = False
    return run.take(np.flatnonzero(stays))


class Ranking(NamedTuple):
    """The rows of a run in the order of their ranks, query by query."""

    scores: npt.NDArray[Any]  # sorted, at the precision at which they are compared
    by_score: Ints | None  # rows, tied ones as in the input; None where they stand so
    tied: Bools  # (n - 1,) whether a score equals the one before it
    order: Ints | None  # rows, tied ones by the rule; None where they stand so


def ranking(run: Run, ties: Ties) -> Ranking:
    """Rank the rows of each query by a rule for ties."""
    scores = _comparable(run, ties)
    falls = scores[1:] <= scores[:-1]
    falls[_first_rows(run.offsets) - 1] = True
    by_score = None
    if not falls.all():
        queries = np.repeat(np.arange(len(run.query_ids)), np.diff(run.offsets))
        by_score = np.lexsort((-scores, queries))
        scores = scores[by_score]
    is_tied = _tied_with_previous(scores, run.offsets)
    if ties == "input" or not is_tied.any():
        return Ranking(scores, by_score, is_tied, by_score)
    rows = np.arange(len(scores)) if by_score is None else by_score.copy()
    tied = np.append(False, is_tied) | np.append(is_tied, False)
    level = np.cumsum(np.append(True, ~is_tied))[tied]
    members = rows[tied]
    ids = run.docids[members]
    if ties == "msmarco":
        rows[tied] = members[np.lexsort((ids, level))]
    else:
        rows[tied] = members[np.lexsort((ids, -level))[::-1]]
    return Ranking(scores, by_score, is_tied, rows)


def levels(
    qrels: Qrels, offsets: Ints, found: Joined, ties: Ties, ranked: Ranking
) -> tuple[Ints, Ints, Ints]:
    """Return first rank and size of tie levels, and ranks in input order."""
    # Where the rule breaks ties the first two are the rank and 1. Rank 0 marks documents that the
    # run lacks.
    first, listed = np.zeros((2, len(qrels)), dtype=np.int64)
    size = np.ones(len(qrels), dtype=np.int64)
    hits = np.flatnonzero((found.rows >= 0) & (qrels.grades >= 0))
    # One more than what is subtracted from positions in the run to have ranks in the query.
    start = offsets[found.positions[qrels.codes[hits]]] - 1
    position = positions_in(ranked.by_score, found.rows[hits])
    listed[hits] = position - start
    if ties == "expected":
        begins = np.flatnonzero(np.append(True, ~ranked.tied))
        level = np.searchsorted(begins, position, side="right") - 1
        first[hits] = begins[level] - start
        size[hits] = np.diff(begins, append=len(ranked.scores))[level]
    else:
        first[hits] = positions_in(ranked.order, found.rows[hits]) - start
    return first, size, listed


def positions_in(order: Ints | None, rows: Ints) -> Ints:
    """Find rows in an order of all rows, None for that of the rows."""
    if order is None:
        return rows
    positions = np.empty_like(order)
    positions[order] = np.arange(len(order))
    return positions[rows]


def list_digests(run: Run, positions: Ints, order: Ints | None) -> Bytes:
    """(n_queries, 16) uint8 array: first bytes of SHA-256 of ranked ids."""
    nothing = bytes(DIGEST)  # of an empty list, or none
    digests = [
        sha256(b"\0".join(docids)).digest()[:DIGEST] if docids else nothing  # ids have no NUL byte
        for docids in lists(run.offsets, run.docids, order)
    ]
    content = np.frombuffer(b"".join([*digests, nothing]), dtype=np.uint8)
    found: Bytes = content.reshape(-1, DIGEST)[positions]
    return found


def _tied_with_previous(ranked: npt.NDArray[Any], offsets: Ints) -> Bools:
    """(n - 1,) bool array: whether a score equals the one before it."""
    is_tied: Bools = ranked[1:] == ranked[:-1]
    is_tied[_first_rows(offsets) - 1] = False
    return is_tied


def share_of_equal_scores(run: Run, ties: Ties) -> float:
    """Return the share of queries with several documents and one score."""
    several = np.diff(run.offsets) > 1
    if not several.any():
        return 0.0
    ranked = _comparable(run, ties)
    n_tied = np.append(0, np.cumsum(_tied_with_previous(ranked, run.offsets)))
    first = run.offsets[:-1][several]
    last = run.offsets[1:][several] - 1
    are_tied = n_tied[last] - n_tied[first] == last - first
    return float(are_tied.mean())


def _first_rows(offsets: Ints) -> Ints:
    """Return the first row of each query but the first."""
    first: Ints = offsets[1:-1]
    within: Ints = first[(first > 0) & (first < offsets[-1])]
    return within


def spans(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Return the numbers of several spans, and the offsets of the spans."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1]), offsets


def _comparable(run: Run, ties: Ties) -> npt.NDArray[Any]:
    """Bring scores to the precision at which the rule compares them."""
    if score_bits(ties) == 32 and not run.by_rank:
        with np.errstate(over="ignore"):
            return run.scores.astype(np.float32)
    return run.scores


@lru_cache
def score_bits(ties: Ties) -> int:
    """Probe whether pytrec_eval compares scores in 32 bits or in 64."""
    if ties != "trec":
        return 64
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"})
    answer = evaluator.evaluate({"q": {"a": 1.0 + 1e-9, "b": 1.0}})
    return 32 if answer["q"]["recip_rank"] < 1.0 else 64


UNJUDGED = -1


@dataclass(frozen=True, eq=False)
class RankedDocuments:
    """Documents of a run with their ranks, query by query, as in the qrels."""

    offsets: Ints  # (n_queries + 1,); the rows of query i are offsets[i]:offsets[i + 1], in the order of their ranks
    rank: Ints  # (n,), from 1
    docids: Ids  # (n,), UTF-8
    grades: Ints  # (n,), UNJUDGED without one
    depth: int  # the first so many documents of each list were considered

    def first(self, depth: int) -> Self:
        """Return only the documents up to a smaller depth."""
        return replace(self._rows(np.flatnonzero(self.rank <= depth)), depth=min(depth, self.depth))

    def unjudged(self) -> Self:
        """Return only the documents that are not judged."""
        return self._rows(np.flatnonzero(self.grades == UNJUDGED))

    def restrict(self, queries: Ints) -> Self:
        """Return the documents of some of the queries, given by their indices, ascending."""
        rows, offsets = spans(self.offsets[queries], np.diff(self.offsets)[queries])
        return replace(self._rows(rows), offsets=offsets)

    def _rows(self, rows: Ints) -> Self:
        offsets = np.searchsorted(rows, self.offsets).astype(np.int64)
        return replace(
            self,
            offsets=offsets,
            rank=self.rank[rows],
            docids=self.docids[rows],
            grades=self.grades[rows],
        )


def ranked_documents(
    qrels: Qrels, run: Run, depth: int, *, ties: Ties, judged_only: bool
) -> RankedDocuments:
    """List the first documents of each query."""
    run = filtered(qrels, run, judged_only=judged_only)
    found = joined(qrels, run)
    order = ranking(run, ties).order
    grades = np.full(len(run), UNJUDGED, dtype=np.int64)
    is_found = found.rows >= 0
    # A negative grade means that the document was in the pool but not judged.
    grades[found.rows[is_found]] = np.maximum(qrels.grades[is_found], UNJUDGED)
    # The last, at position -1, is that of queries that the run lacks.
    lengths = np.append(np.diff(run.offsets), 0)[found.positions]
    starts = np.append(run.offsets[:-1], 0)[found.positions]
    listed, offsets = spans(starts, np.minimum(lengths, depth))
    chosen = listed if order is None else order[listed]
    return RankedDocuments(
        offsets,
        listed - np.repeat(starts, np.diff(offsets)) + 1,
        run.docids[chosen],
        grades[chosen],
        depth,
    )
