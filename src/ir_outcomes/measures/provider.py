"""The ir_measures provider: evaluates our measures inside ``calc``, ``calc_aggregate``, ``iter_calc`` and ``evaluator``."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import repeat
from typing import Any

import ir_measures
import numpy as np
from ir_measures.measures import registry as measure_registry
from ir_measures.providers import Evaluator, Provider
from ir_measures.providers import registry as provider_registry
from ir_measures.util import Metric

from ir_outcomes.errors import ParameterError, warn
from ir_outcomes.evaluation.lengths import PER_ATOM, PER_QUERY, SearchLengths, search_lengths
from ir_outcomes.measures.definitions import MEASURES, SHARED, SearchLengthMeasure, baseline_lengths
from ir_outcomes.reading.datasets import as_qrels
from ir_outcomes.reading.runs import as_ranking


class OutcomesEvaluator(Evaluator):
    """Evaluates runs against qrels that were read once."""

    def __init__(self, measures: Iterable[SearchLengthMeasure], qrels: Any) -> None:
        self._measures = list(measures)
        is_empty = hasattr(qrels, "__len__") and not len(qrels)  # PyTerrier's batch of topics without qrels: nothing to yield
        self._qrels = None if is_empty else as_qrels(qrels)
        super().__init__(self._measures, set() if self._qrels is None else set(self._qrels.query_ids))
        for measure in self._measures:
            if measure.baseline is not None and self._qrels is not None:  # an unknown baseline is an error before any run
                baseline_lengths(measure.baseline, self._qrels, measure.settings)

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Yield the values of every query of the qrels, so that nothing remains to be filled in with defaults."""
        if self._qrels is None:
            return
        ranking = as_ranking(run)
        tables: dict[tuple[Any, ...], SearchLengths] = {}
        for measure in self._measures:
            settings = measure.settings
            key = tuple(settings.values())
            if key not in tables:
                tables[key] = search_lengths(self._qrels, ranking, **settings)
            if measure.baseline is None:
                values = measure.values(tables[key])
            else:
                values = measure.values_against(baseline_lengths(measure.baseline, self._qrels, settings), tables[key])
            yield from map(Metric, self._qrels.query_ids, repeat(measure), values.tolist())


class OutcomesProvider(Provider):
    """Provides ESL, ASL, Answered and the measures relative to a baseline."""

    NAME = "ir_outcomes"
    PRIORITY = 0.0  # read by the entry point loader of ir_measures' branch "entry-points": after the built-in providers
    SUPPORTED_MEASURES = list(MEASURES)

    def supports(self, measure: Any) -> bool:
        """Return whether a measure is one of ours; its parameters are checked on the way."""
        if not isinstance(measure, SearchLengthMeasure):
            return False
        measure.validate_params()
        return True

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> OutcomesEvaluator:
        measures = list(measures)
        foreign = [str(measure) for measure in measures if not self.supports(measure)]
        if foreign:
            raise ParameterError(f"ir_outcomes does not provide {', '.join(foreign)}; call ir_measures.calc_aggregate instead")
        return OutcomesEvaluator(measures, qrels)


class Recording(SearchLengthMeasure):
    """Keeps the search lengths of everything that is evaluated with it; the values number them."""

    NAME = __name__ = "SearchLengthsKept"
    HIGHER_IS_BETTER = True
    SUPPORTED_PARAMS = SHARED

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self._kept: list[SearchLengths] = []

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of `ir_outcomes.search_lengths`: the whole depth, so that every cutoff can be asked for later."""
        return {**super().settings, "cutoff": None, "count_unjudged_at": (self.cutoff,)}

    def values(self, lengths: SearchLengths) -> Any:
        """(n_queries,) array: the number of these search lengths among those that are kept."""
        self._kept.append(lengths)
        return np.full(len(lengths.query_ids), float(len(self._kept) - 1))

    def lengths(self, name: str, numbers: Mapping[str, float]) -> SearchLengths:
        """Return what was kept of one system, in the order of the queries whose values of the measure are given."""
        used = sorted({int(number) for number in numbers.values()})
        if len(used) == 1 and self._kept[used[0]].query_ids == tuple(numbers):
            return replace(self._kept[used[0]], name=name)
        parts = [self._kept[number] for number in used]  # one for each batch of topics
        rows = [(number, query) for number, part in zip(used, parts, strict=True) for query in part.query_ids]
        relevant = np.concatenate([part.relevant for part in parts])
        arrays: dict[str, Any] = {
            field: np.concatenate([getattr(part, field) for part in parts]) for field in (*PER_ATOM, *PER_QUERY)
        }
        joined = replace(
            parts[0],
            name=name,
            query_ids=tuple(query for _, query in rows),
            offsets=np.concatenate([[0], np.cumsum(relevant)]),
            ignored=tuple(sorted({query for part in parts for query in part.ignored} - set(numbers))),
            **arrays,
        )
        place = {row: index for index, row in enumerate(rows)}
        return joined.restrict(np.array([place[int(number), query] for query, number in numbers.items()]))


def register() -> None:
    """Add the measures to ir_measures' names and the provider to its default pipeline."""
    for measure in MEASURES:
        present = measure_registry.get(measure.NAME)
        if present is not None and type(present).__module__ != type(measure).__module__:
            warn(
                f"ir_measures already knows a measure {measure.NAME} (from {type(present).__module__}); that text keeps its "
                f"meaning, use the object ir_outcomes.{measure.NAME} for ours"
            )
        else:
            measure_registry[measure.NAME] = measure
    provider = OutcomesProvider()
    provider_registry[provider.NAME] = provider
    if not hasattr(ir_measures, "DefaultPipeline"):
        return  # it is being imported, loads this by the entry point, and makes its pipeline of the registry
    # ir_measures binds its functions to the pipeline object at import: the list inside it is the only way in.
    pipeline = ir_measures.DefaultPipeline.providers
    pipeline[:] = [present for present in pipeline if provider.NAME != present.NAME]
    pipeline.append(provider)
