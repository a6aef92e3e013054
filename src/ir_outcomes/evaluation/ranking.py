"""The order of the documents of a run, under each rule for equal scores.

A run that is already in order is not sorted, and document ids are compared only among documents
with equal scores.
"""

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ir_outcomes.reading.columns import SALT, Codes, Ids, Keys, pair_keys
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run
from ir_outcomes.types import Bools, Floats, Ints, Ties, check_one_order, unreachable


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


_STRETCH = 1 << 15  # rows, so that what is worked on stays in the processor's cache


def places_of(qrels: Qrels, run: Run) -> Ints:
    """Find the place of each query of the qrels in the run, or -1."""
    place_of = {query: place for place, query in enumerate(run.query_ids)}
    return np.array([place_of.get(query, -1) for query in qrels.query_ids], dtype=np.int64)


def locate(qrels: Qrels, run: Run, places: Ints) -> Ints:
    """Find the row of the run that holds each judged pair, or -1; exact, hashes only narrow the search."""
    run_codes = np.full(len(run.query_ids), -1, dtype=np.int32)
    run_codes[places[places >= 0]] = np.flatnonzero(places >= 0)
    codes = np.repeat(run_codes, np.diff(run.offsets))
    seed = SALT
    while True:
        wanted = pair_keys(qrels.codes, qrels.docids, seed)
        order = np.argsort(wanted)
        wanted = wanted[order]
        if not np.any(wanted[1:] == wanted[:-1]):
            break
        seed += 1  # two judgments share a key by chance
    candidates, keys = _candidates(codes, run.docids, wanted, seed)
    place = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
    hit = wanted[place] == keys
    candidates = candidates[hit]
    judgments = order[place[hit]]
    same = (codes[candidates] == qrels.codes[judgments]) & (
        run.docids[candidates] == qrels.docids[judgments]
    )
    rows = np.full(len(qrels), -1, dtype=np.int64)
    rows[judgments[same]] = candidates[same]
    return rows


def _candidates(
    codes: Codes, docids: Ids, wanted: Keys, seed: int
) -> tuple[npt.NDArray[np.intp], Keys]:
    """Find the rows whose key has the same first bits as a wanted one, and these rows' keys."""
    bits = max(16, len(wanted).bit_length() + 6)
    shift = np.uint64(64 - bits)
    likely = np.zeros(1 << bits, dtype=bool)
    likely[wanted >> shift] = True
    rows = []
    keys = []
    for start in range(0, max(1, len(codes)), _STRETCH):
        part = pair_keys(codes[start : start + _STRETCH], docids[start : start + _STRETCH], seed)
        there = np.flatnonzero(likely[part >> shift])
        rows.append(there + start)
        keys.append(part[there])
    return np.concatenate(rows), np.concatenate(keys)


def judged_part(qrels: Qrels, run: Run, places: Ints) -> Run:
    """Leave out of the run what is not judged."""
    rows = locate(qrels, run, places)
    return run.take(np.sort(rows[(rows >= 0) & (qrels.grades >= 0)]))


def levels(
    qrels: Qrels, run: Run, places: Ints, ties: Ties, order: Ints | None
) -> tuple[Ints, Ints, Ints]:
    """Return for each judged document the first rank of its tie level, the level's size, and the rank with ties as listed."""
    # `order` is that of `ranked_rows`. Where the rule breaks ties the first two are its rank and 1.
    # Rank 0 marks documents that the run lacks.
    first = np.zeros(len(qrels), dtype=np.int64)
    size = np.ones(len(qrels), dtype=np.int64)
    listed = np.zeros(len(qrels), dtype=np.int64)
    rows = locate(qrels, run, places)
    there = np.flatnonzero((rows >= 0) & (qrels.grades >= 0))
    # One more than what is subtracted from places in the run to have ranks in the query.
    before = run.offsets[places[qrels.codes[there]]] - 1
    ranked, as_listed = ranked_scores(run, ties)
    place = _places_in(as_listed, rows[there])
    listed[there] = place - before
    if ties == "expected":
        begins = np.flatnonzero(np.append(True, ~tied_with_previous(ranked, run.offsets)))
        level = np.searchsorted(begins, place, side="right") - 1
        first[there] = begins[level] - before
        size[there] = np.diff(begins, append=len(ranked))[level]
    else:
        first[there] = _places_in(order, rows[there]) - before
    return first, size, listed


def _places_in(order: Ints | None, rows: Ints) -> Ints:
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


def list_digests(run: Run, places: Ints, order: Ints | None) -> Ints:
    """(n_queries,) int64 array: a digest of the whole list of each query, given by its place in the run or -1."""
    sizes = np.diff(run.offsets)
    docids = run.docids if order is None else run.docids[order]
    # A sum in which each place has a factor of its own, so that it depends on the order.
    factors = np.random.PCG64(0).random_raw(int(sizes.max(initial=0)))
    first_rows = np.repeat(run.offsets[:-1], sizes)
    totals = np.zeros(len(run) + 1, dtype=np.uint64)
    of_rows = totals[1:]
    for start in range(0, len(run), _STRETCH):
        rows = slice(start, start + _STRETCH)
        place = np.arange(start, start + len(first_rows[rows])) - first_rows[rows]
        codes = np.zeros(len(place), dtype=np.int32)
        of_rows[rows] = pair_keys(codes, docids[rows], seed=0) * factors[place]
    np.cumsum(totals, out=totals)
    # The last, at place -1, is that of queries the run lacks.
    digests = np.append(np.diff(totals[run.offsets]), np.uint64(0))
    return digests.view(np.int64)[places]


def tied_with_previous(ranked: npt.NDArray[Any], offsets: Ints) -> Bools:
    """(n - 1,) bool array: whether a score, as `ranked_scores` returns them, equals the one before it in its query."""
    same: Bools = ranked[1:] == ranked[:-1]
    same[_first_rows(offsets) - 1] = False
    return same


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
    qrels: Qrels, run: Run, depth: int, *, ties: Ties, judged_only: bool
) -> RankedDocuments:
    """List the first documents of each query."""
    check_one_order(ties)
    places = places_of(qrels, run)
    if judged_only:
        run = judged_part(qrels, run, places)
    rows = locate(qrels, run, places)
    grades = np.full(len(run), UNJUDGED, dtype=np.int64)
    found = rows >= 0
    # A negative grade means that the document was in the pool but not judged.
    grades[rows[found]] = np.maximum(qrels.grades[found], UNJUDGED)
    # The last, at place -1, is that of queries that the run lacks.
    lengths = np.append(np.diff(run.offsets), 0)[places]
    starts = np.append(run.offsets[:-1], 0)[places]
    listed, offsets = spans(starts, np.minimum(lengths, depth))
    order = ranked_rows(run, ties)
    chosen = listed if order is None else order[listed]
    return RankedDocuments(
        offsets,
        listed - np.repeat(starts, np.diff(offsets)) + 1,
        run.docids[chosen],
        grades[chosen],
        depth,
    )
