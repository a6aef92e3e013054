"""Where judged documents stand in a run, under each rule for equal scores.

Only scores are compared, for all judged documents at once, and without sorting a run that is already in order; document ids
are looked at only in tie levels that hold a judged document. So the run may be in arrays or in a dict of dict.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes._types import Ties
from ir_outcomes.reading.keys import Codes, Ids, Keys, pair_keys
from ir_outcomes.reading.nested import NestedRun
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run

_STRETCH = 1 << 15  # rows, so that what is worked on stays in the processor's cache

_Ints = npt.NDArray[np.int64]
_Floats = npt.NDArray[np.float64]


def places_of(qrels: Qrels, run: Run | NestedRun) -> _Ints:
    """Find the place of each query of the qrels in the run, or -1."""
    place_of = {query: place for place, query in enumerate(run.query_ids)}
    return np.array([place_of.get(query, -1) for query in qrels.query_ids], dtype=np.int64)


def locate(qrels: Qrels, run: Run, places: _Ints) -> _Ints:
    """Find the row of the run that holds each judged pair, or -1; exact, hashes only narrow the search."""
    run_codes = np.full(len(run.query_ids), -1, dtype=np.int32)
    run_codes[places[places >= 0]] = np.flatnonzero(places >= 0)
    codes = np.repeat(run_codes, np.diff(run.offsets))
    salt = 0
    while True:
        wanted = pair_keys(qrels.codes, qrels.docids, salt)
        order = np.argsort(wanted)
        wanted = wanted[order]
        if not np.any(wanted[1:] == wanted[:-1]):
            break
        salt += 1
    candidates, keys = _candidates(codes, run.docids, wanted, salt)
    place = np.minimum(np.searchsorted(wanted, keys), len(wanted) - 1)
    hit = wanted[place] == keys
    candidates, judgments = candidates[hit], order[place[hit]]
    same = (codes[candidates] == qrels.codes[judgments]) & (run.docids[candidates] == qrels.docids[judgments])
    rows = np.full(len(qrels), -1, dtype=np.int64)
    rows[judgments[same]] = candidates[same]
    return rows


def _candidates(codes: Codes, docids: Ids, wanted: Keys, salt: int) -> tuple[npt.NDArray[np.intp], Keys]:
    """Find the rows whose key begins like a wanted one, and the keys."""
    bits = max(16, len(wanted).bit_length() + 6)
    shift = np.uint64(64 - bits)
    likely = np.zeros(1 << bits, dtype=bool)
    likely[wanted >> shift] = True
    rows, keys = [], []
    for start in range(0, max(1, len(codes)), _STRETCH):
        part = pair_keys(codes[start : start + _STRETCH], docids[start : start + _STRETCH], salt)
        there = np.flatnonzero(likely[part >> shift])
        rows.append(there + start)
        keys.append(part[there])
    return np.concatenate(rows), np.concatenate(keys)


def scores_of(qrels: Qrels, run: Run | NestedRun, places: _Ints) -> _Floats:
    """Find the score of each judged document; NaN where the run lacks it."""
    if isinstance(run, NestedRun):
        return run.scores_of(qrels, places)
    rows = locate(qrels, run, places)
    scores = np.full(len(rows), np.nan)
    scores[rows >= 0] = run.scores[rows[rows >= 0]]
    return scores


def judged_part(qrels: Qrels, run: Run, places: _Ints) -> Run:
    """Leave out of the run what is not judged."""
    rows = locate(qrels, run, places)
    return run.take(np.sort(rows[(rows >= 0) & (qrels.grades >= 0)]))


def levels(qrels: Qrels, run: Run | NestedRun, places: _Ints, scores: _Floats, ties: Ties) -> tuple[_Ints, _Ints]:
    """Return for each judged document the first rank of its tie level, and the level's size.

    Where the rule breaks ties these are its rank and 1. Rank 0 marks documents without a score, which the run lacks.
    """
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
        first[there[tied]] += _before(run, order, begin[tied], end[tied], qrels.docids[there[tied]], ties)
    return first, size


def ranked_rows(run: Run, ties: Ties) -> _Ints:
    """Put the rows of each query in the order of the rule; for whoever needs the lists themselves."""
    queries = np.repeat(np.arange(len(run.query_ids)), np.diff(run.offsets))
    scores = _comparable(run.scores, run, ties)
    if ties == "trec":
        return np.lexsort((run.docids, scores, -queries))[::-1]
    if ties == "msmarco":
        return np.lexsort((run.docids, -scores, queries))
    return np.lexsort((-scores, queries))


def _ranked(run: Run | NestedRun, ties: Ties) -> tuple[npt.NDArray[Any], _Ints | None]:
    """Put the scores of each query in descending order, stably; the order is None where they stand so already."""
    scores = _comparable(run.scores, run, ties)
    falls = scores[1:] <= scores[:-1]
    falls[run.offsets[1:-1][(run.offsets[1:-1] > 0) & (run.offsets[1:-1] < len(scores))] - 1] = True
    if falls.all():
        return scores, None
    queries = np.repeat(np.arange(len(run.query_ids)), np.diff(run.offsets))
    order = np.lexsort((-scores, queries))
    return scores[order], order


def _partition(scores: npt.NDArray[Any], low: _Ints, high: _Ints, wanted: npt.NDArray[Any], above: np.ufunc) -> _Ints:
    """Find by bisection, in each span of falling scores, the first place whose score is not `above` the wanted one."""
    low, high = low.copy(), high.copy()
    while len(unknown := np.flatnonzero(low < high)):
        middle = (low[unknown] + high[unknown]) // 2
        further = above(scores[middle], wanted[unknown])
        low[unknown[further]] = middle[further] + 1
        high[unknown[~further]] = middle[~further]
    return low


def _before(run: Run | NestedRun, order: _Ints | None, begin: _Ints, end: _Ints, docids: Ids, ties: Ties) -> _Ints:
    """Count, for each of these documents, those of its tie level that the rule puts before it."""
    before = np.zeros(len(docids), dtype=np.int64)
    sizes = end - begin
    width = max(docids.dtype.itemsize, run.docids.dtype.itemsize if isinstance(run, Run) else 0)
    budget = (1 << 26) // width  # bounds the memory that the expanded levels take
    for chunk in np.split(np.arange(len(docids)), np.flatnonzero(np.diff(np.cumsum(sizes) // budget)) + 1):
        if not len(chunk):
            continue
        starts = np.cumsum(sizes[chunk]) - sizes[chunk]
        within = np.arange(sizes[chunk].sum()) - np.repeat(starts, sizes[chunk])
        members = np.repeat(begin[chunk], sizes[chunk]) + within
        rows = members if order is None else order[members]
        others = run.docids[rows] if isinstance(run, Run) else run.docids_at(rows)
        own = np.repeat(docids[chunk], sizes[chunk])
        if ties == "input":
            before[chunk] = within[others == own]
        else:
            earlier = others > own if ties == "trec" else others < own
            before[chunk] = np.add.reduceat(earlier.astype(np.int64), starts)
    return before


def _comparable(scores: _Floats, run: Run | NestedRun, ties: Ties) -> npt.NDArray[Any]:
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
