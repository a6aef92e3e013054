"""The order of the documents of a run, under each rule for equal scores.

A run that is already in order is not sorted, and document ids are compared only among documents
with equal scores.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from hashlib import sha256
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from ir_outcomes.reading.columns import Ids
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run
from ir_outcomes.types import Bools, Floats, Ints, Ties, check_one_order, unreachable

Bytes = npt.NDArray[np.uint8]


def expectations(
    before: int, relevant: int, others: int, needed: int, cutoff: int | None
) -> tuple[float, float, float]:
    """Return what a tie level with the last relevant document needed promises: chance of an answer, rank, reciprocal rank."""
    # `needed` relevant documents of the level are still to be met; the rank is expected given that
    # they are, within the cutoff.
    places = np.arange(needed, needed + others + 1)
    chances = _chances_of_place(needed, relevant, others)
    if cutoff is not None and before + places[-1] > cutoff:
        within = max(0, cutoff - before - needed + 1)
        places = places[:within]
        chances = chances[:within]
        chance = float(chances.sum())
        rank = math.nan
        if chance:
            rank = before + float(chances @ places) / chance
    else:
        chance = 1.0
        rank = before + needed + (others * needed) / (relevant + 1)
    return chance, rank, float(np.sum(chances / (before + places)))


def _chances_of_place(wanted: int, relevant: int, others: int) -> Floats:
    """Give the chance that the `wanted`-th relevant document of a tie level stands in each place from `wanted` on."""
    places = np.arange(wanted, wanted + others)
    size = relevant + others
    ratios = (
        places * (size - places - relevant + wanted) / ((places - wanted + 1) * (size - places))
    )
    logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum())


_STRETCH = 1 << 15  # rows at a time, so that not all ids are objects of Python at once
DIGEST = 16  # bytes of the SHA-256 of a list that are kept


class Joined(NamedTuple):
    """A run beside qrels, without what is removed before ranks are counted."""

    run: Run
    places: Ints  # (n_queries,) place of each query of the qrels in the run, or -1
    rows: Ints  # (n_judgments,) row of the run that holds each judged pair, or -1
    self_rows: Ints  # (n_queries,) row of the document whose id is the query's own, or -1


def joined(qrels: Qrels, run: Run, *, judged_only: bool, drop_self: bool) -> Joined:
    """Find queries and judged documents in a run, and remove unjudged documents or the queries' own."""
    place_of = {query: place for place, query in enumerate(run.query_ids)}
    places = np.array([place_of.get(query, -1) for query in qrels.query_ids], dtype=np.int64)
    rows, self_rows = _locate(qrels, run, places)
    if not (judged_only or drop_self):
        return Joined(run, places, rows, self_rows)
    stays = np.full(len(run), not judged_only)
    if judged_only:
        stays[rows[(rows >= 0) & (qrels.grades >= 0)]] = True
    if drop_self:
        stays[self_rows[self_rows >= 0]] = False
    new_rows = np.append(np.where(stays, np.cumsum(stays) - 1, -1), -1)  # the last is that of -1
    return Joined(run.take(np.flatnonzero(stays)), places, new_rows[rows], new_rows[self_rows])


def _locate(qrels: Qrels, run: Run, places: Ints) -> tuple[Ints, Ints]:
    """Find the row of each judged pair, and of the document that is called like each query."""
    query_names = [query.encode() for query in qrels.query_ids]
    judgment_of = {
        pair: judgment
        for judgment, pair in enumerate(
            zip(qrels.codes.tolist(), qrels.docids.tolist(), strict=True)
        )
    }
    wanted = {*qrels.docids.tolist(), *query_names}
    likely = np.fromiter(
        (
            row
            for start in range(0, len(run), _STRETCH)
            for row, docid in enumerate(run.docids[start : start + _STRETCH].tolist(), start)
            if docid in wanted
        ),
        dtype=np.int64,
    )
    codes = np.full(len(run.query_ids), -1)
    codes[places[places >= 0]] = np.flatnonzero(places >= 0)
    code_of_row = codes[np.searchsorted(run.offsets, likely, side="right") - 1]
    rows = np.full(len(qrels), -1)
    self_rows = np.full(len(query_names), -1)
    pairs = zip(code_of_row.tolist(), run.docids[likely].tolist(), strict=True)
    for row, pair in zip(likely.tolist(), pairs, strict=True):
        judgment = judgment_of.get(pair)
        if judgment is not None:
            rows[judgment] = row
        code, docid = pair
        if code >= 0 and docid == query_names[code]:
            self_rows[code] = row
    return rows, self_rows


def levels(qrels: Qrels, found: Joined, ties: Ties, order: Ints | None) -> tuple[Ints, Ints, Ints]:
    """Return for each judged document the first rank of its tie level, the level's size, and the rank with ties as listed."""
    # `order` is that of `ranked_rows`. Where the rule breaks ties the first two are its rank and 1.
    # Rank 0 marks documents that the run lacks.
    run = found.run
    first = np.zeros(len(qrels), dtype=np.int64)
    size = np.ones(len(qrels), dtype=np.int64)
    listed = np.zeros(len(qrels), dtype=np.int64)
    there = np.flatnonzero((found.rows >= 0) & (qrels.grades >= 0))
    # One more than what is subtracted from places in the run to have ranks in the query.
    before = run.offsets[found.places[qrels.codes[there]]] - 1
    ranked, as_listed = ranked_scores(run, ties)
    place = places_in(as_listed, found.rows[there])
    listed[there] = place - before
    if ties == "expected":
        begins = np.flatnonzero(np.append(True, ~tied_with_previous(ranked, run.offsets)))
        level = np.searchsorted(begins, place, side="right") - 1
        first[there] = begins[level] - before
        size[there] = np.diff(begins, append=len(ranked))[level]
    else:
        first[there] = places_in(order, found.rows[there]) - before
    return first, size, listed


def places_in(order: Ints | None, rows: Ints) -> Ints:
    """Find the places of rows in an order of all rows; None is that of the rows themselves."""
    if order is None:
        return rows
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return places[rows]


def ranked_rows(run: Run, ties: Ties) -> Ints | None:
    """Put the rows of each query in the order of the rule ("expected" as "trec"); None where they stand so already."""
    ranked, order = ranked_scores(run, ties)
    same = tied_with_previous(ranked, run.offsets)
    if ties == "input" or not same.any():
        return order
    rows = np.arange(len(ranked)) if order is None else order
    tied = np.append(False, same) | np.append(same, False)
    level = np.cumsum(np.append(True, ~same))[tied]
    members = rows[tied]
    ids = run.docids[members]
    if ties == "trec" or ties == "expected":
        rows[tied] = members[np.lexsort((ids, -level))[::-1]]
    elif ties == "msmarco":
        rows[tied] = members[np.lexsort((ids, level))]
    else:
        unreachable(ties)
    return rows


def list_digests(run: Run, places: Ints, order: Ints | None) -> Bytes:
    """(n_queries, 16) uint8 array: first bytes of SHA-256 of each list's ids in their order; 0 if empty."""
    digests = bytearray(DIGEST * len(places))
    for query in np.flatnonzero(np.append(np.diff(run.offsets), 0)[places]).tolist():
        rows = slice(*run.offsets[places[query] : places[query] + 2])
        docids = run.docids[rows] if order is None else run.docids[order[rows]]
        content = b"\0".join(docids.tolist())  # no id has this byte
        digests[DIGEST * query : DIGEST * (query + 1)] = sha256(content).digest()[:DIGEST]
    return np.frombuffer(digests, dtype=np.uint8).reshape(-1, DIGEST)


def tied_with_previous(ranked: npt.NDArray[Any], offsets: Ints) -> Bools:
    """(n - 1,) bool array: whether a score, as `ranked_scores` returns them, equals the one before it in its query."""
    same: Bools = ranked[1:] == ranked[:-1]
    same[_first_rows(offsets) - 1] = False
    return same


def all_are_tied(run: Run, ties: Ties) -> bool:
    """Return whether all documents of each query have equal scores, in lists of more than one."""
    ranked, _ = ranked_scores(run, ties)
    n_others = len(run) - np.count_nonzero(np.diff(run.offsets))
    return bool(0 < n_others == tied_with_previous(ranked, run.offsets).sum())


def _first_rows(offsets: Ints) -> Ints:
    """Return the first row of each query but the first; empty lists at either end have none."""
    first: Ints = offsets[1:-1]
    within: Ints = first[(first > 0) & (first < offsets[-1])]
    return within


def ranked_scores(run: Run, ties: Ties) -> tuple[npt.NDArray[Any], Ints | None]:
    """Put the scores of each query in descending order, stably; the order is None where they stand so already."""
    scores = _comparable(run, ties)
    falls = scores[1:] <= scores[:-1]
    falls[_first_rows(run.offsets) - 1] = True
    if falls.all():
        return scores, None
    queries = np.repeat(np.arange(len(run.query_ids)), np.diff(run.offsets))
    order = np.lexsort((-scores, queries))
    return scores[order], order


def spans(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Return the numbers of several spans one after the other, and (n_spans + 1,) offsets of the spans among them."""
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
    """Probe at which precision scores are compared: trec_eval up to 9 holds them as float32, from 10 as float64."""
    if ties != "trec":
        return 64
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"})
    answer = evaluator.evaluate({"q": {"a": 1.0 + 1e-9, "b": 1.0}})
    return 32 if answer["q"]["recip_rank"] < 1.0 else 64


UNJUDGED = -1


@dataclass(frozen=True, eq=False)
class RankedDocuments:
    """Documents of a run with their ranks, query by query, in the order of the qrels' queries."""

    offsets: Ints  # (n_queries + 1,); the rows of query i are offsets[i]:offsets[i + 1], in the order of their ranks
    rank: Ints  # (n,), from 1
    docids: Ids  # (n,), UTF-8
    grades: Ints  # (n,), UNJUDGED where there is none
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
    qrels: Qrels,
    run: Run,
    depth: int,
    *,
    ties: Ties,
    judged_only: bool = False,
    drop_self: bool = False,
) -> RankedDocuments:
    """List the first documents of each query."""
    check_one_order(ties)
    found = joined(qrels, run, judged_only=judged_only, drop_self=drop_self)
    run = found.run
    order = ranked_rows(run, ties)
    grades = np.full(len(run), UNJUDGED, dtype=np.int64)
    is_found = found.rows >= 0
    # A negative grade means that the document was in the pool but not judged.
    grades[found.rows[is_found]] = np.maximum(qrels.grades[is_found], UNJUDGED)
    # The last, at place -1, is that of queries that the run lacks.
    lengths = np.append(np.diff(run.offsets), 0)[found.places]
    starts = np.append(run.offsets[:-1], 0)[found.places]
    listed, offsets = spans(starts, np.minimum(lengths, depth))
    chosen = listed if order is None else order[listed]
    return RankedDocuments(
        offsets,
        listed - np.repeat(starts, np.diff(offsets)) + 1,
        run.docids[chosen],
        grades[chosen],
        depth,
    )
