"""How values of a measure are read, and which are possible, by the measure's name."""

from typing import Literal

import numpy as np
from ir_measures.measures import registry

from ir_outcomes.choices import Bools, Floats
from ir_outcomes.errors import ParameterError
from ir_outcomes.reading.measure_names import (
    ROUNDING_OF_SUMS,
    are_truth_values,
    base_name,
    bounds_of,
    cutoff_of,
    is_gain,
    is_reciprocal,
)

# Reciprocals of ranks; ranks; values that are 0 where nothing was found; 0 and 1 only; all others.
Kind = Literal["reciprocal", "rank", "gain", "truth", "value"]
Range = tuple[float, float]


def kind_of(measure: str, values: Floats, higher_is_better: bool) -> Kind:
    """Return how values of a measure are read."""
    if base_name(measure) == "ESL":
        return "rank"
    if is_reciprocal(measure):
        return "reciprocal"
    if higher_is_better and len(values) and are_truth_values(values[~np.isnan(values)]):
        return "truth"
    return "gain" if is_gain(measure) and higher_is_better else "value"


def is_undefined_unanswered(measure: str) -> bool:
    """Whether a measure has no value for a query that is not answered."""
    return getattr(registry.get(base_name(measure)), "CAN_BE_UNDEFINED", False)


def checked_range(measure: str, said: object) -> Range | None:
    """Return the smallest and largest value of a measure, said or known by its name."""
    if said is None:
        return bounds_of(measure)
    try:
        lowest, highest = (float(end) for end in said)  # type: ignore[attr-defined]
    except (TypeError, ValueError):
        raise ParameterError("must be two numbers, such as `range=(1, 5)`", range=said) from None
    if not lowest < highest or np.isinf(highest - lowest):
        raise ParameterError("must be two numbers, the smaller one first", range=said)
    return lowest, highest


def impossible(values: Floats, measure: str, bounds: Range | None) -> Bools:
    """Return which values cannot be of the measure, or hardly."""
    lowest, highest = bounds or (0.0 if is_gain(measure) else -np.inf, np.inf)
    if base_name(measure) == "ESL":
        lowest = 1.0
    wrong: Bools = np.isinf(values)
    wrong |= (values < lowest - ROUNDING_OF_SUMS) | (values > highest + ROUNDING_OF_SUMS)
    cutoff = cutoff_of(measure)
    if is_reciprocal(measure) and cutoff:
        wrong |= (values > 0) & (values < 1 / cutoff)
    if base_name(measure) == "ESL" and cutoff:
        wrong |= values > cutoff
    return wrong
