"""Search lengths of systems that PyTerrier runs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ir_outcomes.evaluation.lengths import PER_ATOM, PER_QUERY, SearchLengths
from ir_outcomes.measures.base import CUTOFF_PARAMS, SearchLengthMeasure


class Recording(SearchLengthMeasure):
    """Keeps the search lengths of everything that is evaluated with it; the values number them."""

    NAME = __name__ = "SearchLengthsKept"
    HIGHER_IS_BETTER = True
    SUPPORTED_PARAMS = CUTOFF_PARAMS

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._kept: list[SearchLengths] = []

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of `ir_outcomes.search_lengths`: the whole depth, so that every cutoff can be asked for later."""
        return {**super().settings, "cutoff": None}

    def values(self, lengths: SearchLengths) -> Any:
        """(n_queries,) array: the number of these search lengths among those that are kept."""
        self._kept.append(lengths)
        return np.full(len(lengths.query_ids), float(len(self._kept) - 1))

    def lengths(self, name: str, numbers: Mapping[str, float]) -> SearchLengths:
        """Return what was kept of one system, in the order of the queries whose values of the measure are given."""
        used = sorted({int(number) for number in numbers.values()})
        parts = [self._kept[number] for number in used]  # one for each batch of topics
        rows = [
            (number, query)
            for number, part in zip(used, parts, strict=True)
            for query in part.query_ids
        ]
        relevant = np.concatenate([part.relevant for part in parts])
        arrays: Any = {
            field: np.concatenate([getattr(part, field) for part in parts])
            for field in (*PER_ATOM, *PER_QUERY)
        }
        joined = replace(
            parts[0],
            name=name,
            query_ids=tuple(query for _, query in rows),
            offsets=np.concatenate([[0], np.cumsum(relevant)]),
            ignored=tuple(
                sorted({query for part in parts for query in part.ignored} - set(numbers))
            ),
            **arrays,
        )
        place = {row: index for index, row in enumerate(rows)}
        return joined.restrict(
            np.array([place[int(number), query] for query, number in numbers.items()])
        )
