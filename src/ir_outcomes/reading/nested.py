"""Runs left in the dict of dict that they came in.

Search lengths need the scores of all documents but the ids of few: of the judged ones, and of those tied with them. A dict
finds these by itself, in a fraction of the time that bringing all ids into arrays takes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import chain, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes.reading.keys import Ids
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run, as_run
from ir_outcomes.reading.tables import as_ids, texts

__all__ = ["NestedRun", "as_ranking"]

_NO_RANKING: dict[str, float] = {}


@dataclass(frozen=True, eq=False)
class NestedRun:
    """A checked run in a dict of dict with text for document ids; otherwise like `Run`.

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
    offsets: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    name: str = "run"
    by_rank: bool = False

    @cached_property
    def in_arrays(self) -> Run:
        """The same run as a `Run`."""
        return as_run(self.data)

    def scores_of(self, qrels: Qrels) -> npt.NDArray[np.float64]:
        """Look up the score of each judged document; NaN where the run lacks it."""
        rankings = dict(zip(self.query_ids, self.data.values(), strict=True))
        documents, offsets = [each.decode() for each in qrels.docids.tolist()], qrels.offsets.tolist()
        found = (
            map(rankings.get(query, _NO_RANKING).get, documents[start:end], repeat(np.nan))
            for query, start, end in zip(qrels.query_ids, offsets[:-1], offsets[1:], strict=True)
        )
        return np.fromiter(chain.from_iterable(found), np.float64, len(documents))

    def docids_at(self, rows: npt.NDArray[np.int64]) -> Ids:
        """Return the document ids that belong to these places of `scores`."""
        queries = np.searchsorted(self.offsets, rows, side="right") - 1
        wanted = set(queries.tolist())
        documents = {query: list(ranking) for query, ranking in enumerate(self.data.values()) if query in wanted}
        places = zip(queries.tolist(), (rows - self.offsets[queries]).tolist(), strict=True)
        return as_ids([documents[query][place].encode() for query, place in places])


def as_ranking(run: Any) -> Run | NestedRun:
    """Take a run in any form, as `as_run` does, but leave a plain dict of dict as it is."""
    if isinstance(run, NestedRun):
        return run
    nested = _nested(run) if isinstance(run, Mapping) else None
    return as_run(run) if nested is None else nested


def _nested(data: Mapping[Any, Any]) -> NestedRun | None:
    """Check a dict of dict as a whole; None where something is odd, which `as_run` then mends or names."""
    rankings = list(data.values())
    if not all(issubclass(kind, dict) for kind in set(map(type, rankings))):
        return None
    query_ids = texts(list(data), "the run", "query id")
    if len(set(query_ids)) < len(query_ids):
        return None
    total = 0.0
    try:
        for ranking in rankings:
            if "\0" in "".join(ranking) or "" in ranking:  # joining refuses what is not text
                return None
            total += sum(ranking.values())  # adding refuses what is no number, and NaN stays NaN
        scores = np.fromiter(chain.from_iterable(ranking.values() for ranking in rankings), np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    if np.isnan(total) and np.isnan(scores).any():
        return None
    offsets = np.cumsum([0, *map(len, rankings)], dtype=np.int64)
    return NestedRun(data, tuple(query_ids), offsets, scores)
