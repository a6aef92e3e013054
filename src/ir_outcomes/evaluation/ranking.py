"""Ranks of judged documents in a run, under each rule for equal scores.

Scores are compared for all judged documents at once, without sorting a run that is already in
order. Document ids are compared only in tie levels that contain a judged document, which is why the
run can be in arrays or in a dict of dict.
"""

import hashlib
import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import chain, pairwise, repeat
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ir_outcomes.reading.columns import Codes, Ids, Keys, encoded, pair_keys, texts
from ir_outcomes.reading.datasets import as_run
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run
from ir_outcomes.types import Bools, Floats, Ints, OneOrder, Ties, check_one_order, unreachable


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


_SOURCE = "the run"


@dataclass(frozen=True, eq=False)
class NestedRun:
    """A run that stays in the dict of dict in which it is given; otherwise like `Run`."""

    data: Mapping[Any, dict[str, float]]
    query_ids: tuple[str, ...]
    offsets: Ints
    scores: Floats
    name: str = "run"
    by_rank: bool = False
    metadata: str = ""

    def scores_of(self, places: Ints, codes: Codes, docids: Ids) -> Floats:
        """(n,) array: the score of each document, NaN where the run lacks it; queries are given by their places, or -1."""
        every = [*self.data.values(), {}]  # place -1 is that of queries the run lacks
        rankings = [every[place] for place in places.tolist()]
        documents = [docid.decode() for docid in docids.tolist()]
        scores = map(dict.get, map(rankings.__getitem__, codes.tolist()), documents, repeat(np.nan))
        return np.fromiter(scores, np.float64, len(documents))

    def docids_at(self, rows: Ints) -> Ids:
        """Return the document ids that belong to these places of `scores`."""
        queries = np.searchsorted(self.offsets, rows, side="right") - 1
        rankings = list(self.data.values())
        documents = {query: list(rankings[query]) for query in set(queries.tolist())}
        places = zip(queries.tolist(), (rows - self.offsets[queries]).tolist(), strict=True)
        return encoded([documents[query][place] for query, place in places], _SOURCE)


def as_ranking(run: Any) -> Run | NestedRun:
    """Take a run in any form, as `as_run` does, but leave a dict of dict as it is."""
    if isinstance(run, NestedRun):
        return run
    nested = _nested(run) if isinstance(run, Mapping) else None
    return as_run(run) if nested is None else nested


def _nested(data: Mapping[Any, Any]) -> NestedRun | None:
    """Check a dict of dict as a whole; None where something is unusual, which `as_run` then converts or explains."""
    rankings = list(data.values())
    if not all(issubclass(kind, dict) for kind in set(map(type, rankings))):
        return None
    query_ids = texts(list(data), _SOURCE, "query id")
    if len(set(query_ids)) < len(query_ids):
        return None
    try:
        "".join(chain.from_iterable(rankings))  # fails for ids that are numbers
        # Unlike NumPy, struct takes no text for a number, and is the quickest way into an array.
        pack = {size: struct.Struct(f"{size}d").pack for size in set(map(len, rankings))}
        packed = b"".join([pack[len(ranking)](*ranking.values()) for ranking in rankings])
    except (struct.error, TypeError):
        return None
    kinds = set(map(type, chain.from_iterable(ranking.values() for ranking in rankings)))
    if {bool, np.bool_} & kinds:  # which struct takes for 1
        return None
    scores = np.frombuffer(packed)
    if np.isnan(scores).any():
        return None
    return NestedRun(
        data, tuple(query_ids), np.cumsum([0, *map(len, rankings)], dtype=np.int64), scores
    )


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
    candidates = candidates[hit]
    judgments = order[place[hit]]
    same = (codes[candidates] == qrels.codes[judgments]) & (
        run.docids[candidates] == qrels.docids[judgments]
    )
    rows = np.full(len(qrels), -1, dtype=np.int64)
    rows[judgments[same]] = candidates[same]
    return rows


def _candidates(
    codes: Codes, docids: Ids, wanted: Keys, attempt: int
) -> tuple[npt.NDArray[np.intp], Keys]:
    """Find the rows whose key has the same first bits as a wanted one, and these rows' keys."""
    bits = max(16, len(wanted).bit_length() + 6)
    shift = np.uint64(64 - bits)
    likely = np.zeros(1 << bits, dtype=bool)
    likely[wanted >> shift] = True
    rows = []
    keys = []
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


def judged_part(qrels: Qrels, run: Run | NestedRun, places: Ints) -> Run:
    """Leave out of the run what is not judged."""
    run = as_run(run.data) if isinstance(run, NestedRun) else run
    rows = locate(qrels, run, places)
    return run.take(np.sort(rows[(rows >= 0) & (qrels.grades >= 0)]))


def levels(
    qrels: Qrels, run: Run | NestedRun, places: Ints, scores: Floats, ties: Ties
) -> tuple[Ints, Ints, Ints]:
    """Return for each judged document the first rank of its tie level, the level's size, and the rank with ties as listed."""
    # Where the rule breaks ties the first two are its rank and 1. Rank 0 marks documents without a
    # score, which the run lacks.
    first = np.zeros(len(scores), dtype=np.int64)
    size = np.ones(len(scores), dtype=np.int64)
    there = np.flatnonzero(~np.isnan(scores))
    place = places[qrels.codes[there]]
    ranked, order = ranked_scores(run, ties)
    wanted = _comparable(scores[there], run, ties)
    start = run.offsets[place]
    stop = run.offsets[place + 1]
    begin = _partition(ranked, start, stop, wanted, np.greater)
    end = _partition(ranked, begin, stop, wanted, np.greater_equal)
    first[there] = begin - start + 1
    listed = first.copy()
    if ties == "expected":
        size[there] = end - begin
    else:
        tied = np.flatnonzero(end - begin > 1)
        by_rule, as_listed = _before(run, order, begin[tied], end[tied], qrels, there[tied], ties)
        first[there[tied]] += by_rule
        listed[there[tied]] += as_listed
    return first, size, listed


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


_ENDS_AN_ID = 0xFF  # a byte that UTF-8 does not have


def list_digests(run: Run | NestedRun, places: Ints, ties: Ties) -> Ints:
    """(n_queries,) int64 array: a digest of the whole list of each query, given by its place in the run or -1."""
    rows = _rows_in_order(run, ties)
    if isinstance(run, NestedRun):
        lists = _lists_of_nested(run, rows)
    else:
        lists = _lists_of_ids(run, rows)
    digests = [hashlib.blake2b(ids, digest_size=8).digest() for ids in lists]
    of_no_documents = hashlib.blake2b(
        b"", digest_size=8
    ).digest()  # the last, at place -1, is that of queries the run lacks
    return np.frombuffer(b"".join([*digests, of_no_documents]), dtype="<i8").astype(np.int64)[
        places
    ]


def _rows_in_order(run: Run | NestedRun, ties: Ties) -> Ints | None:
    """Put the rows of each query in the order of the rule (ties="expected": in that of "trec"); None where they stand so."""
    ranked, order = ranked_scores(run, ties)
    same = tied_with_previous(ranked, run.offsets)
    if ties == "input" or not same.any():
        return order
    rows = np.arange(len(ranked)) if order is None else order
    tied = np.zeros(len(ranked), dtype=bool)
    tied[1:] |= same
    tied[:-1] |= same
    members = rows[tied]
    level = np.cumsum(~np.append(False, same))[tied]
    if isinstance(run, Run):
        ids = run.docids[members]
    else:
        ids = run.docids_at(members)
    by_id = np.lexsort((ids, level if ties == "msmarco" else -level))
    rows[tied] = members[by_id if ties == "msmarco" else by_id[::-1]]
    return rows


def _lists_of_ids(run: Run, rows: Ints | None) -> Iterator[bytes]:
    """Yield the ids of each query as bytes, each id with an end, without the NUL bytes that fill its place in the array."""
    width = run.docids.dtype.itemsize
    query = 0
    n_queries = len(run.query_ids)
    while query < n_queries:
        start = int(run.offsets[query])
        end = int(np.searchsorted(run.offsets, start + _STRETCH, side="right")) - 1
        following = max(query + 1, end)
        stop = int(run.offsets[following])
        if rows is None:
            docids = run.docids[start:stop]
        else:
            docids = run.docids[rows[start:stop]]
        padded = np.full((stop - start, width + 1), _ENDS_AN_ID, dtype=np.uint8)
        padded[:, :width] = docids.view(np.uint8).reshape(stop - start, width)
        for begin, end in pairwise((run.offsets[query : following + 1] - start).tolist()):
            yield padded[begin:end].tobytes().translate(None, b"\0")
        query = following


def _lists_of_nested(run: NestedRun, rows: Ints | None) -> Iterator[bytes]:
    """Yield the same of a run in a dict of dict."""
    end = bytes([_ENDS_AN_ID])
    for query, ranking in enumerate(run.data.values()):
        ids = list(ranking)
        if rows is not None:
            start, stop = run.offsets[query : query + 2]
            ids = [ids[row] for row in (rows[start:stop] - start).tolist()]
        yield b"".join([docid.encode() + end for docid in ids])


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


def ranked_scores(run: Run | NestedRun, ties: Ties) -> tuple[npt.NDArray[Any], Ints | None]:
    """Put the scores of each query in descending order, stably; the order is None where they stand so already."""
    scores = _comparable(run.scores, run, ties)
    falls = scores[1:] <= scores[:-1]
    falls[_first_rows(run.offsets) - 1] = True
    if falls.all():
        return scores, None
    queries = np.repeat(np.arange(len(run.query_ids)), np.diff(run.offsets))
    order = np.lexsort((-scores, queries))
    return scores[order], order


def _partition(
    scores: npt.NDArray[Any], low: Ints, high: Ints, wanted: npt.NDArray[Any], above: np.ufunc
) -> Ints:
    """Find by bisection, in each span of falling scores, the first place whose score is not `above` the wanted one."""
    low = low.copy()
    high = high.copy()
    while len(unknown := np.flatnonzero(low < high)):
        middle = (low[unknown] + high[unknown]) // 2
        further = above(scores[middle], wanted[unknown])
        low[unknown[further]] = middle[further] + 1
        high[unknown[~further]] = middle[~further]
    return low


def _before(
    run: Run | NestedRun,
    order: Ints | None,
    begin: Ints,
    end: Ints,
    qrels: Qrels,
    judgments: Ints,
    ties: OneOrder,
) -> tuple[Ints, Ints]:
    """Count, for each of (m,) judged documents, those of its tie level before it, by the rule and in the order of the input."""
    # The level is given by places in the order of scores, which `order` turns into rows of the run
    # (None: they stand so).
    starts, first, level = np.unique(begin, return_index=True, return_inverse=True)
    sizes = (end - begin)[first]
    members, offsets = spans(starts, sizes)
    rows = members if order is None else order[members]
    if isinstance(run, Run):
        member_ids = run.docids[rows]
    else:
        member_ids = run.docids_at(rows)
    # Ids become numbers in the order of their bytes. Each level is sorted once, and not once for
    # each document that is looked for in it, so that a query whose documents are all tied and
    # judged takes n log n and not n squared steps.
    ids, number = np.unique(
        np.concatenate([member_ids, qrels.docids[judgments]]), return_inverse=True
    )
    keys = np.repeat(np.arange(len(starts)), sizes) * len(ids) + number[: len(members)]
    by_id = np.argsort(keys)
    place = np.searchsorted(keys, level * len(ids) + number[len(members) :], sorter=by_id)
    smaller = place - offsets[level]
    listed = by_id[place] - offsets[level]
    if ties == "trec":
        return sizes[level] - 1 - smaller, listed
    if ties == "msmarco":
        return smaller, listed
    if ties == "input":
        return listed, listed
    unreachable(ties)


def spans(starts: Ints, sizes: Ints) -> tuple[Ints, Ints]:
    """Return the numbers of several spans one after the other, and (n_spans + 1,) offsets of the spans among them."""
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return np.repeat(starts - offsets[:-1], sizes) + np.arange(offsets[-1]), offsets


def _comparable(scores: Floats, run: Run | NestedRun, ties: Ties) -> npt.NDArray[Any]:
    """Bring scores to the precision at which the rule compares them."""
    if score_bits(ties) == 32 and not run.by_rank:
        with np.errstate(over="ignore"):
            return scores.astype(np.float32)
    return scores


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
    qrels: Qrels, run: Run, depth: int, *, ties: Ties = "trec", judged_only: bool = False
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
    chosen = ranked_rows(run, ties)[listed]
    return RankedDocuments(
        offsets,
        listed - np.repeat(starts, np.diff(offsets)) + 1,
        run.docids[chosen],
        grades[chosen],
        depth,
    )
