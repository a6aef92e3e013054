"""Cutoff and relevance of an experiment: from its arguments, from its measures, or from its dataset."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

from ir_outcomes.evaluation.evaluation import DEFAULT_CUTOFF
from ir_outcomes.measures.definitions import SearchLengthMeasure
from ir_outcomes.reading.tasks import Task

__all__ = ["ChosenSettings", "choose_settings"]


class ChosenSettings(NamedTuple):
    """The settings of the search lengths, and where they come from.

    Attributes
    ----------
    cutoff, rel : int
        The settings.
    notes : tuple of str
        Which measures they were taken from, or why they were not.
    """

    cutoff: int
    rel: int
    notes: tuple[str, ...]


def choose_settings(cutoff: int | None, rel: int | None, measures: Iterable[Any], task: Task | None) -> ChosenSettings:
    """Take cutoff and relevance from the arguments, else from the measures where they agree, else from the dataset.

    Our measures tell before others do, because "answered" stands beside them. A measure without a cutoff says nothing.
    """
    measures = list(measures)
    own = [measure for measure in measures if isinstance(measure, SearchLengthMeasure)]
    telling = own or measures
    notes: list[str] = []
    chosen = {}
    defaults = {"cutoff": task.cutoff if task else DEFAULT_CUTOFF, "rel": task.rel if task else 1}
    for name, given in (("cutoff", cutoff), ("rel", rel)):
        values = dict.fromkeys(value for measure in telling if (value := _parameter(measure, name)) is not None)
        if given is not None:
            chosen[name] = given
            if own and values and list(values) != [given]:
                notes.append(f"Outcomes and verdicts use {name} {given}, the argument; measures use {_enumerated(values)}.")
        elif len(values) == 1:
            chosen[name] = next(iter(values))
            notes.append(f"Outcomes and verdicts use {name} {chosen[name]}, that of the measures.")
        else:
            chosen[name] = defaults[name]
            if values:
                notes.append(
                    f"Outcomes and verdicts use {name} {chosen[name]}, because the measures differ ({_enumerated(values)}); "
                    f"choose another one with {name}=."
                )
    return ChosenSettings(chosen["cutoff"], chosen["rel"], tuple(notes))


def _parameter(measure: Any, name: str) -> int | None:
    if name not in getattr(measure, "SUPPORTED_PARAMS", {}):
        return None
    value = measure.params.get(name)
    if value is None and name == "rel" and isinstance(measure, SearchLengthMeasure):
        value = measure[name]  # the default of ours is 1; without a cutoff they say nothing
    return value if isinstance(value, int) else None


def _enumerated(values: Iterable[int]) -> str:
    return ", ".join(map(str, sorted(values)))
