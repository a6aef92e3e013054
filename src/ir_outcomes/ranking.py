"""Where judged documents stand in a run, under each rule for equal scores.

Whole columns at a time, and without sorting a run that is already in order: only tie levels that hold a judged document
are ever compared by document id.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ir_outcomes.reading.keys import pair_keys
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run

Ties = Literal["trec", "msmarco", "input", "expected"]

_Ints = npt.NDArray[np.int64]


def locate(qrels: Qrels, run: Run) -> _Ints:
    """Find the row of the run that holds each judged pair, or -1; exact, hashes only narrow the search."""
    code_of = {query: code for code, query in enumerate(qrels.query_ids)}
    run_codes = np.array([code_of.get(query, -1) for query in run.query_ids], dtype=np.int32)
    codes = np.repeat(run_codes, np.diff(run.offsets))
    salt = 0
    while True:
        wanted = pair_keys(qrels.codes, qrels.docids, salt)
        order = np.argsort(wanted)
        wanted = wanted[order]
        if not np.any(wanted[1:] == wanted[:-1]):
            break
        salt += 1
    keys = pair_keys(codes, run.docids, salt)
    bits = max(16, len(wanted).bit_length() + 3)
    shift = np.uint64(64 - bits)
    likely = np.zeros(1 << bits, dtype=bool)
    likely[wanted >> shift] = True
    candidates = np.flatnonzero(likely[keys >> shift])
    place = np.minimum(np.searchsorted(wanted, keys[candidates]), len(wanted) - 1)
    hit = wanted[place] == keys[candidates]
    candidates, judgments = candidates[hit], order[place[hit]]
    same = (codes[candidates] == qrels.codes[judgments]) & (run.docids[candidates] == qrels.docids[judgments])
    rows = np.full(len(qrels), -1, dtype=np.int64)
    rows[judgments[same]] = candidates[same]
    return rows


def depths(qrels: Qrels, run: Run) -> tuple[_Ints, npt.NDArray[np.bool_]]:
    """Count the run's documents for each query of the qrels, and tell whether it holds the query."""
    depth_of = dict(zip(run.query_ids, np.diff(run.offsets).tolist(), strict=True))
    depths = np.array([depth_of.get(query, 0) for query in qrels.query_ids], dtype=np.int64)
    return depths, np.array([query in depth_of for query in qrels.query_ids])


def levels(qrels: Qrels, run: Run, rows: _Ints, ties: Ties) -> tuple[_Ints, _Ints]:
    """Return for each judged pair the first rank of its tie level, and the level's size.

    Where the rule breaks ties these are its rank and 1. Rank 0 marks pairs that the run lacks.
    """
    first, size = np.zeros(len(rows), dtype=np.int64), np.ones(len(rows), dtype=np.int64)
    there = np.flatnonzero(rows >= 0)
    if not len(there):
        return first, size
    scores = _comparable_scores(run, ties)
    starts_query = np.zeros(len(run), dtype=bool)
    starts_query[run.offsets[:-1][np.diff(run.offsets) > 0]] = True
    order: _Ints | None = None
    if not np.all((scores[1:] <= scores[:-1]) | starts_query[1:]):
        codes = np.repeat(np.arange(len(run.query_ids)), np.diff(run.offsets))
        order = np.lexsort((-scores, codes))
        scores = scores[order]
    positions = rows[there] if order is None else _inverse(order)[rows[there]]

    level_starts = np.flatnonzero(np.concatenate([[True], scores[1:] != scores[:-1]]) | starts_query)
    level = np.searchsorted(level_starts, positions, side="right") - 1
    begin = level_starts[level]
    end = np.append(level_starts, len(run))[level + 1]
    query_begin = run.offsets[np.searchsorted(run.offsets, positions, side="right") - 1]
    if ties == "expected":
        first[there], size[there] = begin - query_begin + 1, end - begin
    elif ties == "input":
        first[there] = positions - query_begin + 1
    else:
        before = _before_by_docid(run, order, positions, begin, end, descending=ties == "trec")
        first[there] = begin - query_begin + 1 + before
    return first, size


def _before_by_docid(run: Run, order: _Ints | None, positions: _Ints, begin: _Ints, end: _Ints, *, descending: bool) -> _Ints:
    """Count, for each position, the documents of its tie level that the order of document ids puts before it."""
    before = np.zeros(len(positions), dtype=np.int64)
    tied = np.flatnonzero(end - begin > 1)
    budget = 1 << 22  # bounds the memory that the expanded levels take
    chunks = np.split(tied, np.flatnonzero(np.diff(np.cumsum((end - begin)[tied]) // budget)) + 1)
    for chunk in chunks:
        if not len(chunk):
            continue
        sizes = (end - begin)[chunk]
        ends = np.cumsum(sizes)
        members = np.arange(ends[-1]) + np.repeat(begin[chunk] - (ends - sizes), sizes)
        own = np.repeat(positions[chunk], sizes)
        if order is not None:
            members, own = order[members], order[own]
        others, mine = run.docids[members], run.docids[own]
        earlier = others > mine if descending else others < mine
        before[chunk] = np.add.reduceat(earlier.astype(np.int64), ends - sizes)
    return before


def _comparable_scores(run: Run, ties: Ties) -> npt.NDArray[Any]:
    if ties == "trec" and not run.by_rank and pytrec_eval_compares_as_float32():
        with np.errstate(over="ignore"):
            return run.scores.astype(np.float32)
    return run.scores


@lru_cache(maxsize=1)
def pytrec_eval_compares_as_float32() -> bool:
    """Probe: trec_eval up to 9 holds scores as float32, from 10 as float64."""
    import pytrec_eval

    evaluator = pytrec_eval.RelevanceEvaluator({"q": {"a": 1}}, {"recip_rank"})
    answer = evaluator.evaluate({"q": {"a": 1.0 + 1e-9, "b": 1.0}})
    return bool(answer["q"]["recip_rank"] < 1.0)


def _inverse(order: _Ints) -> _Ints:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse
