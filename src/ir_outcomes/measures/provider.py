"""The provider that evaluates the measures of this package inside ir_measures."""

from collections.abc import Iterable, Iterator
from itertools import repeat
from typing import Any

import ir_measures
from ir_measures.providers import Evaluator, Provider

# The module itself is not complete yet where an entry point loads this.
from ir_measures.providers import registry as provider_registry

from ir_outcomes.errors import ParameterError, warn
from ir_outcomes.measures.answered import Answered
from ir_outcomes.measures.asl import ASL
from ir_outcomes.measures.base import SearchLengthMeasure
from ir_outcomes.measures.esl import ESL
from ir_outcomes.measures.outcome import Outcome

MEASURES: tuple[SearchLengthMeasure, ...] = (ESL, ASL, Answered, Outcome)


class OutcomesEvaluator(Evaluator):
    """Evaluates runs against qrels that were read once."""

    measures: list[SearchLengthMeasure]

    def __init__(self, measures: list[SearchLengthMeasure], qrels: Any) -> None:
        from ir_outcomes.measures.baselines import baseline_lengths
        from ir_outcomes.reading.datasets import as_qrels

        # A batch of topics without qrels, as PyTerrier makes it, yields nothing.
        is_empty = hasattr(qrels, "__len__") and not len(qrels)
        self._qrels = None if is_empty else as_qrels(qrels)
        super().__init__(measures, set() if self._qrels is None else set(self._qrels.query_ids))
        for measure in measures:
            # An unknown baseline is an error before any run.
            if measure.baseline is not None and self._qrels is not None:
                baseline_lengths(measure.baseline, self._qrels, measure.settings)

    def iter_calc(self, run: Any) -> Iterator[ir_measures.Metric]:
        """Yield the values of every query of the qrels, so that no default is filled in."""
        from ir_outcomes.evaluation.search import search_lengths
        from ir_outcomes.measures.baselines import baseline_lengths
        from ir_outcomes.reading.datasets import as_run

        if self._qrels is None:
            return
        ranking = as_run(run)
        tables: dict[tuple[Any, ...], Any] = {}
        for measure in self.measures:
            settings = measure.settings
            key = tuple(settings.values())
            if key not in tables:
                tables[key] = search_lengths(self._qrels, ranking, **settings)
            if measure.baseline is None:
                values = measure.values(tables[key])
            else:
                baseline = baseline_lengths(measure.baseline, self._qrels, settings)
                values = measure.values_against(baseline, tables[key])
            queries = self._qrels.query_ids
            yield from map(ir_measures.Metric, queries, repeat(measure), values.tolist())


class OutcomesProvider(Provider):
    """Provides ESL, ASL, Answered and the measures relative to a baseline."""

    NAME = "ir_outcomes"
    PRIORITY = 0.0  # for the loader of ir_measures' branch "entry-points": behind its own providers
    SUPPORTED_MEASURES = list(MEASURES)

    def supports(self, measure: Any) -> bool:
        """Whether a measure is one of ours, with parameters that make sense."""
        if not isinstance(measure, SearchLengthMeasure):
            return False
        measure.validate_params()
        return True

    def _evaluator(self, measures: Iterable[Any], qrels: Any) -> OutcomesEvaluator:
        measures = list(measures)
        foreign = [str(measure) for measure in measures if not self.supports(measure)]
        if foreign:
            raise ParameterError(
                f"ir_outcomes does not provide {', '.join(foreign)}; call"
                " ir_measures.calc_aggregate instead"
            )
        return OutcomesEvaluator(measures, qrels)


def register() -> None:
    """Add the measures to ir_measures' names and the provider to its default pipeline."""
    for measure in MEASURES:
        present = ir_measures.measures.registry.setdefault(measure.NAME, measure)
        if type(present).__module__ != type(measure).__module__:
            warn(
                f"ir_measures already knows a measure {measure.NAME} (from"
                f" {type(present).__module__}); that text keeps its meaning, use the object"
                f" ir_outcomes.{measure.NAME} for ours"
            )
    provider = OutcomesProvider()
    provider_registry[provider.NAME] = provider
    if not hasattr(ir_measures, "DefaultPipeline"):
        return  # it is being imported, loads this by the entry point, and makes its pipeline of the registry
    # ir_measures binds its functions to the pipeline object at import: the list inside it is the
    # only way in.
    pipeline = ir_measures.DefaultPipeline.providers
    pipeline[:] = [*(present for present in pipeline if present.NAME != provider.NAME), provider]
