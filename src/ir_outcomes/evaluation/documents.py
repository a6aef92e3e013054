"""Ranked lists themselves: the first documents of each query, for whoever has to show or count single documents."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ir_outcomes._checks import check_one_order
from ir_outcomes._types import Floats, Ints, Ties
from ir_outcomes.evaluation.ranking import judged_part, locate, places_of, ranked_rows
from ir_outcomes.reading.keys import Ids
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run

__all__ = ["UNJUDGED", "RankedDocuments", "ranked_documents"]

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
    """List the first documents of each query.

    Parameters
    ----------
    qrels : Qrels
        Their queries are listed, in their order.
    run : Run
        The run.
    depth : int
        How many documents of each query.
    ties : {"trec", "msmarco", "input"}
        Order among equal scores; see `ir_outcomes.search_lengths`.
    judged_only : bool
        Remove unjudged documents before ranks are counted.

    Raises
    ------
    ParameterError
        If the tie rule gives no single order.
    """
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
