"""Search lengths recorded while another program evaluates runs with ir_measures.

PyTerrier evaluates each system as soon as it has run, and returns one number for each query and measure. That is enough for a
mean, but not for the search length of every relevant document. Therefore a further measure is evaluated, which keeps the
`SearchLengths` that it is evaluated on. Its values state for each query which of these belong to which system, in whatever
order and batches the systems are run.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextvars import ContextVar
from dataclasses import replace
from typing import Any

import numpy as np

from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.storage import PER_ATOM, PER_QUERY
from ir_outcomes.measures.definitions import _SHARED, SearchLengthMeasure

__all__ = ["Recording"]

_open: ContextVar[list[SearchLengths]] = ContextVar("search lengths that are kept")


class _Recorded(SearchLengthMeasure):
    """The number of the search lengths kept for a query; for internal use."""

    __name__ = "SearchLengthsKept"
    NAME = __name__
    HIGHER_IS_BETTER = True
    SUPPORTED_PARAMS = _SHARED

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of `ir_outcomes.search_lengths`: the whole depth, so that every cutoff can be asked for later."""
        return {**super().settings, "cutoff": None, "count_unjudged_at": (self.cutoff,)}

    def _without_results(self) -> float:
        return math.nan

    def values(self, lengths: SearchLengths) -> Any:
        kept = _open.get()
        kept.append(lengths)
        return np.full(len(lengths.query_ids), float(len(kept) - 1))


class Recording:
    """A context manager that keeps the search lengths of everything that is evaluated with `measure` inside it.

    Parameters
    ----------
    settings : object
        Arguments of `ir_outcomes.search_lengths`.

    Attributes
    ----------
    measure : ir_measures.Measure
        To be evaluated along with others.
    """

    def __init__(self, **settings: Any) -> None:
        self.measure = _Recorded(**settings)
        self._kept: list[SearchLengths] = []

    def __enter__(self) -> Recording:
        self._token = _open.set(self._kept)
        return self

    def __exit__(self, *error: object) -> None:
        _open.reset(self._token)

    def lengths(self, name: str, numbers: Mapping[str, float]) -> SearchLengths:
        """Join what was kept of one system.

        Parameters
        ----------
        name : str
            The system.
        numbers : mapping of str to float
            The measure's value of each query; the order of the queries becomes that of the result.
        """
        used = sorted({int(number) for number in numbers.values()})
        if len(used) == 1 and self._kept[used[0]].query_ids == tuple(numbers):
            return replace(self._kept[used[0]], name=name)
        parts = [self._kept[number] for number in used]
        starts = np.cumsum([0, *(len(part.query_ids) for part in parts)])
        row_of = {
            (number, query): int(start) + row
            for number, part, start in zip(used, parts, starts, strict=False)
            for row, query in enumerate(part.query_ids)
        }
        rows = np.array([row_of[int(number), query] for query, number in numbers.items()], dtype=np.int64)
        counts = np.concatenate([part.relevant for part in parts])
        ends = np.cumsum(counts)
        relevant = counts[rows]
        offsets = np.concatenate([[0], np.cumsum(relevant)])
        atoms = np.repeat((ends - counts)[rows] - offsets[:-1], relevant) + np.arange(offsets[-1])
        arrays: dict[str, Any] = {
            field: np.concatenate([getattr(part, field) for part in parts])[atoms if field in PER_ATOM else rows]
            for field in (*PER_ATOM, *PER_QUERY)
        }
        return replace(
            parts[0],
            name=name,
            query_ids=tuple(numbers),
            offsets=offsets,
            ignored=tuple(sorted({query for part in parts for query in part.ignored} - set(numbers))),
            qrels_digest="",
            **arrays,
        )
