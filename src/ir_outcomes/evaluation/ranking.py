"""Ranks of judged documents in a run, under each rule for equal scores.

Scores are compared for all judged documents at once, without sorting a run that is already in order. Document ids are compared
only in tie levels that contain a judged document, which is why the run can be in arrays or in a dict of dict.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ir_outcomes.reading.columns import Codes, Ids, Keys, pair_keys
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import NestedRun, Run
from ir_outcomes.types import Floats, Ints, OneOrder, Ties, check_one_order, unreachable


class TieLevel(NamedTuple):
    """The tie level in which the last relevant document that is needed will be met."""

    before: int
    relevant: int
    others: int
    needed: int

    def expectations(self, cutoff: int | None) -> tuple[float, float, float]:
        """Return the chance of meeting it within the cutoff, the expected rank if so, and the expected reciprocal rank."""
        places = np.arange(self.needed, self.needed + self.others + 1)
        chances = _chances_of_place(self.needed, self.relevant, self.others)
        if cutoff is not None and self.before + places[-1] > cutoff:
            within = max(0, cutoff - self.before - self.needed + 1)
            places, chances = places[:within], chances[:within]
            chance = float(chances.sum())
            rank = self.before + float(chances @ places) / chance if chance else math.nan
        else:
            chance = 1.0
            rank = self.before + self.needed + (self.others * self.needed) / (self.relevant + 1)
        return chance, rank, float(np.sum(chances / (self.before + places)))


def _chances_of_place(wanted: int, relevant: int, others: int) -> Floats:
    """Give the chance that the `wanted`-th relevant document of a tie level stands in each place from `wanted` on."""
    places = np.arange(wanted, wanted + others)
    size = relevant + others
    ratios = places * (size - places - relevant + wanted) / ((places - wanted + 1) * (size - places))
    logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum())


_STRETCH = 1 << 15  # rows, so that what is worked on stays in the processor's cache


def places_of(qrels: Qrels, run: Run | NestedRun) -> Ints:
    """Find the place of each query of the qrels in the run, or -1."""
    place_of = {query: place for place, query in enumerate(run.query_ids)}
    return np.array([place_of.get(query, -1) for query in qrels.query_ids], dtype=np.int64)


def locate(qrels: Qrels, run: Run, places: Ints) -> Ints:
    """Find the row of the run that holds each judged pair, or -1; exact, hashes only narrow the search."""
    run_codes = np.full(len(run.query_ids), -1, dtype=np.int32)
    run_codes[places[places >= 0]] = np.flatnonzero(places >= 0)
    codes = np.repeat(run_codes, np.diff(run.offsets))
    attempt = 0
    while True:
        wanted = pair_keys(qrels.codes, qrels.docids, attempt)
        order = np.argsort(wanted)
        wanted = wanted[order]
        if not np.any(wanted[1:] == wanted[:-1]):
            break
        attempt += 1  # two judgments share a key by chance
    candidates, keys = _candidates(codes, run.docids, wanted, attempt)
    place = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
    hit = wanted[place] == keys
    candidates, judgments = candidates[hit], order[place[hit]]
    same = (codes[candidates] == qrels.codes[judgments]) & (run.docids[candidates] == qrels.docids[judgments])
    rows = np.full(len(qrels), -1, dtype=np.int64)
    rows[judgments[same]] = candidates[same]
    return rows


def _candidates(codes: Codes, docids: Ids, wanted: Keys, attempt: int) -> tuple[npt.NDArray[np.intp], Keys]:
    """Find the rows whose key has the same first bits as a wanted one, and these rows' keys."""
    bits = max(16, len(wanted).bit_length() + 6)
    shift = np.uint64(64 - bits)
    likely = np.zeros(1 << bits, dtype=bool)
    likely[wanted >> shift] = True
    rows, keys = [], []
    for start in range(0, max(1, len(codes)), _STRETCH):
        part = pair_keys(codes[start : start + _STRETCH], docids[start : start + _STRETCH], attempt)
        there = np.flatnonzero(likely[part >> shift])
        rows.append(there + start)
        keys.append(part[there])
    return np.concatenate(rows), np.concatenate(keys)


def scores_of(qrels: Qrels, run: Run | NestedRun, places: Ints) -> Floats:
    """Find the score of each judged document; NaN where the run lacks it."""
    if isinstance(run, NestedRun):
        return run.scores_of(places, qrels.codes, qrels.docids)
    rows = locate(qrels, run, places)
    scores = np.full(len(rows), np.nan)
    scores[rows >= 0] = run.scores[rows[rows >= 0]]
    return scores


def judged_part(qrels: Qrels, run: Run, places: Ints) -> Run:
    """Leave out of the run what is not judged."""
    rows = locate(qrels, run, places)
    return run.take(np.sort(rows[(rows >= 0) & (qrels.grades >= 0)]))


def levels(qrels: Qrels, run: Run | NestedRun, places: Ints, scores: Floats, ties: Ties) -> tuple[Ints, Ints]:
    """Return for each judged document the first rank of its tie level, and the level's size."""
    # Where the rule breaks ties these are its rank and 1. Rank 0 marks documents without a score, which the run lacks.
    first, size = np.zeros(len(scores), dtype=np.int64), np.ones(len(scores), dtype=np.int64)
    there = np.flatnonzero(~np.isnan(scores))
    place = places[qrels.codes[there]]
    ranked, order = _ranked(run, ties)
    wanted = _comparable(scores[there], run, ties)
    start, stop = run.offsets[place], run.offsets[place + 1]
    begin = _partition(ranked, start, stop, wanted, np.greater)
    end = _partition(ranked, begin, stop, wanted, np.greater_equal)
    first[there] = begin - start + 1
    if ties == "expected":
        size[there] = end - begin
    else:
        tied = np.flatnonzero(end - begin > 1)
        first[there[tied]] += _before(run, order, begin[tied], end[tied], qrels, there[tied], ties)
    return first, size


def ranked_rows(run: Run, ties: Ties) -> Ints:
    """Put the rows of each query in the order of the rule; for whoever needs the lists themselves."""
    check_one_order(ties)
    queries = np.repeat(np.arange(len(run.query_ids)), np.diff(run.offsets))
    scores = _comparable(run.scores, run, ties)
    if ties == "trec":
        return np.lexsort((run.docids, scores, -queries))[::-1]
    if ties == "msmarco":
        return np.lexsort((run.docids, -scores, queries))
    if ties == "input" or ties == "expected":  # the latter is refused above
        return np.lexsort((-scores, queries))
    unreachable(ties)


def _ranked(run: Run | NestedRun, ties: Ties) -> tuple[npt.NDArray[Any], Ints | None]:
    """Put the scores of each query in descending order, stably; the order is None where they stand so already."""
    scores = _comparable(run.scores, run, ties)
    falls = scores[1:] <= scores[:-1]
    falls[run.offsets[1:-1][(run.offsets[1:-1] > 0) & (run.offsets[1:-1] < len(scores))] - 1] = True
    if falls.all():
        return scores, None
    queries = np.repeat(np.arange(len(run.query_ids)), np.diff(run.offsets))
    order = np.lexsort((-scores, queries))
    return scores[order], order


def _partition(scores: npt.NDArray[Any], low: Ints, high: Ints, wanted: npt.NDArray[Any], above: np.ufunc) -> Ints:
    """Find by bisection, in each span of falling scores, the first place whose score is not `above` the wanted one."""
    low, high = low.copy(), high.copy()
    while len(unknown := np.flatnonzero(low < high)):
        middle = (low[unknown] + high[unknown]) // 2
        further = above(scores[middle], wanted[unknown])
        low[unknown[further]] = middle[further] + 1
        high[unknown[~further]] = middle[~further]
    return low


def _before(
    run: Run | NestedRun, order: Ints | None, begin: Ints, end: Ints, qrels: Qrels, judgments: Ints, ties: OneOrder
) -> Ints:
    """Count, for each of (m,) judged documents, the documents of its tie level that the rule ranks before it."""
    # The level is given by places in the order of scores, which `order` turns into rows of the run (None: they stand so).
    docids = qrels.docids[judgments]
    before = np.zeros(len(docids), dtype=np.int64)
    starts, level = np.unique(begin, return_inverse=True)
    sizes = np.zeros(len(starts), dtype=np.int64)
    sizes[level] = end - begin
    # Each level is sorted once, together with the documents that are looked for in it, so that a query whose documents are all
    # tied and judged takes n log n and not n squared steps.
    by_level = np.argsort(level, kind="stable")  # the documents of each level together
    firsts = np.searchsorted(level[by_level], np.arange(len(starts) + 1))
    width = max(docids.dtype.itemsize, run.docids.dtype.itemsize if isinstance(run, Run) else 0)
    budget = max(1, (1 << 25) // width)  # bounds the memory that the members of the levels take
    for levels_of_chunk in np.split(np.arange(len(starts)), np.flatnonzero(np.diff(np.cumsum(sizes) // budget)) + 1):
        if not len(levels_of_chunk):
            continue
        low, high = levels_of_chunk[0], levels_of_chunk[-1] + 1
        documents = by_level[firsts[low] : firsts[high]]
        n_members = sizes[low:high]
        offsets = np.concatenate([[0], np.cumsum(n_members)])
        within = np.arange(offsets[-1]) - np.repeat(offsets[:-1], n_members)
        members = np.repeat(starts[low:high], n_members) + within
        rows = members if order is None else order[members]
        member_ids = run.docids[rows] if isinstance(run, Run) else run.docids_at(rows)
        place = level[documents] - low
        smaller, same = _place_by_id(member_ids, np.repeat(np.arange(high - low), n_members), docids[documents], place, offsets)
        if ties == "trec":
            before[documents] = n_members[place] - 1 - smaller
        elif ties == "msmarco":
            before[documents] = smaller
        elif ties == "input":
            before[documents] = within[same]
        else:
            unreachable(ties)
    return before


def _place_by_id(member_ids: Ids, member_level: Ints, ids: Ids, level: Ints, offsets: Ints) -> tuple[Ints, Ints]:
    """Return how many members of each document's level have a smaller id, by bytes, and which member it is itself."""
    n_words = max(member_ids.dtype.itemsize, ids.dtype.itemsize) // 8
    # As big-endian numbers, words have the order of the bytes; lexsort of numbers is much faster than that of bytes.
    words = [
        np.concatenate([_word(member_ids, n), _word(ids, n)]).byteswap() if sys.byteorder == "little" else
        np.concatenate([_word(member_ids, n), _word(ids, n)])
        for n in range(n_words)
    ]  # fmt: skip
    is_member = np.repeat([True, False], [len(member_ids), len(ids)])
    # By level, then id; a document that is looked for comes just before the member that it is.
    order = np.lexsort((is_member, *reversed(words), np.concatenate([member_level, level])))
    n_members_before = np.cumsum(is_member[order])
    looked_for = np.flatnonzero(~is_member[order])
    position = order[looked_for] - len(member_ids)
    smaller, same = np.empty(len(ids), dtype=np.int64), np.empty(len(ids), dtype=np.int64)
    smaller[position] = n_members_before[looked_for] - offsets[level[position]]
    sorted_members = order[is_member[order]]
    same[position] = sorted_members[n_members_before[looked_for]]
    return smaller, same


def _word(ids: Ids, n: int) -> Keys:
    """(n_ids,) uint64 array: the nth 8 bytes of each id; 0 where the ids are narrower."""
    n_words = ids.dtype.itemsize // 8
    return ids.view(np.uint64).reshape(len(ids), n_words)[:, n] if n < n_words else np.zeros(len(ids), dtype=np.uint64)


def _comparable(scores: Floats, run: Run | NestedRun, ties: Ties) -> npt.NDArray[Any]:
    """Bring scores to the precision at which the rule compares them."""
    if ties == "trec" and not run.by_rank and pytrec_eval_compares_as_float32():
        with np.errstate(over="ignore"):
            return scores.astype(np.float32)
    return scores


@lru_cache(maxsize=1)
def pytrec_eval_compares_as_float32() -> bool:
    """Probe: trec_eval up to 9 holds scores as float32, from 10 as float64."""
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"})
    answer = evaluator.evaluate({"q": {"a": 1.0 + 1e-9, "b": 1.0}})
    return bool(answer["q"]["recip_rank"] < 1.0)


UNJUDGED = -1


@dataclass(frozen=True, eq=False)
class RankedDocuments:
    """Documents of a run with their ranks, query by query, in the order of the qrels' queries.

    Attributes
    ----------
    name : str
        The run.
    query_ids : tuple of str
        All queries of the qrels, in their order.
    offsets : (n_queries + 1,) int64 array
        The rows of query i are ``offsets[i]:offsets[i + 1]``, in the order of their ranks.
    rank : (n,) int64 array
        Rank of each document, from 1.
    docids : (n,) bytes array
        Document ids in UTF-8.
    scores : (n,) float64 array
        Scores of the run.
    grades : (n,) int64 array
        Judged grades; -1 where there is none.
    depth : int
        The first so many documents of each list were considered.
    """

    name: str
    query_ids: tuple[str, ...]
    offsets: Ints
    rank: Ints
    docids: Ids
    scores: Floats
    grades: Ints
    depth: int

    def __repr__(self) -> str:
        return f"RankedDocuments({self.name!r}, {len(self.docids)} documents of {len(self.query_ids)} queries)"

    def first(self, depth: int) -> RankedDocuments:
        """Return only the documents up to a smaller depth."""
        return replace(self._rows(np.flatnonzero(self.rank <= depth)), depth=min(depth, self.depth))

    def unjudged(self) -> RankedDocuments:
        """Return only the documents that are not judged."""
        return self._rows(np.flatnonzero(self.grades == UNJUDGED))

    def restrict(self, queries: Ints) -> RankedDocuments:
        """Return the documents of some of the queries, given by their indices, ascending."""
        lengths = np.diff(self.offsets)[queries]
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        rows = np.repeat(self.offsets[:-1][queries] - offsets[:-1], lengths) + np.arange(offsets[-1])
        return replace(
            self._rows(rows),
            query_ids=tuple(self.query_ids[query] for query in queries.tolist()),
            offsets=offsets,
        )

    def _rows(self, rows: Ints) -> RankedDocuments:
        return replace(
            self,
            offsets=np.searchsorted(rows, self.offsets).astype(np.int64),
            rank=self.rank[rows],
            docids=self.docids[rows],
            scores=self.scores[rows],
            grades=self.grades[rows],
        )


def ranked_documents(qrels: Qrels, run: Run, depth: int, *, ties: Ties = "trec", judged_only: bool = False) -> RankedDocuments:
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

    order = ranked_rows(run, ties)
    lengths = np.append(np.diff(run.offsets), 0)[places]  # the last, at place -1, is that of queries that the run lacks
    starts = np.append(run.offsets[:-1], 0)[places]
    kept = np.minimum(lengths, depth)
    offsets = np.concatenate([[0], np.cumsum(kept)])
    rank = np.arange(offsets[-1]) - np.repeat(offsets[:-1], kept) + 1
    chosen = order[np.repeat(starts, kept) + rank - 1]
    return RankedDocuments(
        run.name, qrels.query_ids, offsets, rank, run.docids[chosen], run.scores[chosen], grades[chosen], depth
    )


DEFAULT_CUTOFF = 100
