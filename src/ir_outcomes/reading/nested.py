"""Runs that stay in the dict of dict in which they are given.

Search lengths need the scores of all documents, but the ids of few: of the judged ones, and of those tied with them. Looking
these up in the dict takes a fraction of the time that it takes to copy all ids into arrays.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import repeat
from typing import Any

import numpy as np

from ir_outcomes._types import Floats, Ints
from ir_outcomes.errors import FormatError
from ir_outcomes.reading.columns import encoded, texts
from ir_outcomes.reading.keys import Codes, Ids
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run, as_run

__all__ = ["NestedRun", "as_ranking"]

_SOURCE = "the run"


@dataclass(frozen=True, eq=False)
class NestedRun:
    """A run in a dict of dict. Queries and scores are checked, document ids only where they matter; otherwise like `Run`.

    Attributes
    ----------
    data : mapping of str to dict
        ``{query: {document: score}}``, as given.
    query_ids : tuple of str
        Its queries, in their order.
    offsets : (n_queries + 1,) int64 array
        The scores of query i are ``offsets[i]:offsets[i + 1]``.
    scores : (n,) float64 array
        Higher is ranked first.
    """

    data: Mapping[Any, dict[str, float]]
    query_ids: tuple[str, ...]
    offsets: Ints
    scores: Floats
    name: str = "run"
    by_rank: bool = False
    metadata: str = ""

    @cached_property
    def in_arrays(self) -> Run:
        """The same run as a `Run`."""
        return as_run(self.data)

    def scores_of(self, qrels: Qrels, places: Ints) -> Floats:
        """Look up the score of each judged document; NaN where the run lacks it.

        Parameters
        ----------
        qrels : Qrels
            The judgments.
        places : (n_queries,) int64 array
            For each of their queries its place in the run, or -1.

        Raises
        ------
        FormatError
            If a document id that could be that of a judged document is not valid.
        """
        every = [*self.data.values(), {}]  # place -1 is that of queries the run lacks
        rankings = [every[place] for place in places.tolist()]
        documents = [docid.decode() for docid in qrels.docids.tolist()]
        scores = _looked_up(rankings, qrels.codes, documents)
        # An id that is not text, such as a number, hides the document: only rankings that seem to lack one are checked.
        lacking = np.unique(qrels.codes[np.isnan(scores)]).tolist()
        checked = {code: _with_texts(rankings[code]) for code in lacking if not _is_text(rankings[code])}
        if checked:
            rankings = [checked.get(code, ranking) for code, ranking in enumerate(rankings)]
            scores = _looked_up(rankings, qrels.codes, documents)
        return scores

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
    try:  # unlike NumPy, struct takes no text for a number, and is the quickest way into an array
        pack = {size: struct.Struct(f"{size}d").pack for size in set(map(len, rankings))}
        packed = b"".join([pack[len(ranking)](*ranking.values()) for ranking in rankings])
    except struct.error:
        return None
    scores = np.frombuffer(packed)
    if np.isnan(scores).any():
        return None
    return NestedRun(data, tuple(query_ids), np.cumsum([0, *map(len, rankings)], dtype=np.int64), scores)


def _looked_up(rankings: list[dict[str, float]], codes: Codes, documents: list[str]) -> Floats:
    scores = map(dict.get, map(rankings.__getitem__, codes.tolist()), documents, repeat(np.nan))
    return np.fromiter(scores, np.float64, len(documents))


def _is_text(ids: Iterable[Any]) -> bool:
    try:
        "".join(ids)
    except TypeError:
        return False
    return True


def _with_texts(ranking: dict[Any, float]) -> dict[str, float]:
    """Convert document ids that are numbers to text, and refuse what cannot be an id."""
    checked = dict(zip(texts(list(ranking), _SOURCE, "document id"), ranking.values(), strict=True))
    if len(checked) < len(ranking):
        raise FormatError(_SOURCE, "holds the same document id twice, once as text and once as a number; use text")
    return checked
