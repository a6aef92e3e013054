"""Registration of the measures and of their provider with ir_measures, once and safely."""

from __future__ import annotations

import warnings

import ir_measures
from ir_measures.measures import registry as measure_registry
from ir_measures.providers import registry as provider_registry

from ir_outcomes.errors import IrOutcomesWarning, user_stacklevel
from ir_outcomes.measures.definitions import MEASURES
from ir_outcomes.measures.provider import OutcomesProvider

__all__ = ["register"]


def register() -> None:
    """Add the measures to ir_measures' names and the provider to its default pipeline.

    Doing it again, as on a reload, replaces what was registered before; a measure of another package that already has one
    of the names is left alone, with a warning.
    """
    for measure in MEASURES:
        present = measure_registry.get(measure.NAME)
        if present is not None and type(present).__module__ != type(measure).__module__:
            warnings.warn(
                f"ir_measures already knows a measure {measure.NAME} (from {type(present).__module__}); that text keeps its "
                f"meaning, use the object ir_outcomes.{measure.NAME} for ours",
                IrOutcomesWarning,
                stacklevel=user_stacklevel(),
            )
        else:
            measure_registry[measure.NAME] = measure
    provider = OutcomesProvider()
    provider_registry[provider.NAME] = provider
    # ir_measures binds its functions to the pipeline object at import: the list inside it is the only way in.
    pipeline = ir_measures.DefaultPipeline.providers
    pipeline[:] = [present for present in pipeline if provider.NAME != present.NAME]
    pipeline.append(provider)
