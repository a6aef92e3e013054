"""The ir_measures provider: evaluates our measures inside ``calc``, ``calc_aggregate``, ``iter_calc`` and ``evaluator``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any

from ir_measures.providers import Evaluator, Provider
from ir_measures.util import Metric

from ir_outcomes._types import Floats
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.lengths import SearchLengths, search_lengths
from ir_outcomes.measures.baselines import baseline_lengths
from ir_outcomes.measures.definitions import MEASURES, SearchLengthMeasure
from ir_outcomes.reading.nested import as_ranking
from ir_outcomes.reading.qrels import as_qrels

__all__ = ["OutcomesProvider"]


class OutcomesEvaluator(Evaluator):
    """Evaluates runs against qrels that were read once."""

    def __init__(self, measures: Iterable[SearchLengthMeasure], qrels: Any) -> None:
        self._measures = list(measures)
        if hasattr(qrels, "__len__") and not len(qrels):  # PyTerrier's batch of topics without qrels: nothing to yield
            self._qrels = None
            super().__init__(self._measures, set())
            return
        self._qrels = as_qrels(qrels)
        super().__init__(self._measures, set(self._qrels.query_ids))
        for measure in self._measures:
            if measure.baseline is not None:  # an unknown baseline is an error before any run is evaluated
                baseline_lengths(measure.baseline, self._qrels, measure.settings)

    def iter_calc(self, run: Any) -> Iterator[Metric]:
        """Yield the values of every query of the qrels, so that nothing remains to be filled in with defaults."""
        for measure, query_ids, values in self._values(run):
            yield from map(Metric, query_ids, repeat(measure), values.tolist())

    def calc_aggregate(self, run: Any) -> dict[Any, float]:
        """Aggregate the values without making an object of each."""
        aggregators = {measure: measure.aggregator() for measure in self._measures}
        for measure, _, values in self._values(run):
            aggregators[measure].add_all(values)
        return {measure: aggregator.result() for measure, aggregator in aggregators.items()}

    def _values(self, run: Any) -> Iterator[tuple[SearchLengthMeasure, tuple[str, ...], Floats]]:
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
            yield measure, self._qrels.query_ids, values


class OutcomesProvider(Provider):
    """Provides ESL, ASL, Answered and the measures relative to a baseline."""

    NAME = "ir_outcomes"
    PRIORITY = 0.0  # read by the entry point loader of ir_measures' branch "entry-points": after the built-in providers
    SUPPORTED_MEASURES = list(MEASURES)

    def supports(self, measure: Any) -> bool:
        """Tell whether a measure is one of ours; its parameters are checked on the way."""
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
