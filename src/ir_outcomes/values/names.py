"""How values of a measure are read, and which are possible, by the measure's name."""

from typing import Literal

import numpy as np
from ir_measures.measures import registry

from ir_outcomes.choices import Floats
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


def impossible_value(values: Floats, measure: str, bounds: Range | None) -> tuple[int, str] | None:
    """Return the first row whose value the measure cannot have, and why."""
    base = base_name(measure)
    cutoff = cutoff_of(measure)
    lowest, highest = bounds or (0.0 if is_gain(measure) else -np.inf, np.inf)
    deepest = np.inf
    if base == "ESL":
        lowest = 1.0
        deepest = cutoff + ("cutoff+1" in measure) if cutoff else np.inf
    finite = f"; take {base}(missing='cutoff')@{cutoff or 100}" if base == "ASL" else ""
    reasons = (
        (np.isinf(values), f"is infinite, so that it has no mean{finite}"),
        (values > deepest, f"is a rank beyond the cutoff, {cutoff}"),
        (values < lowest - ROUNDING_OF_SUMS, _outside(lowest, highest)),
        (values > highest + ROUNDING_OF_SUMS, _outside(lowest, highest)),
    )
    for wrong, reason in reasons:
        if wrong.any():
            row = int(np.argmax(wrong))
            return row, reason + _hint(float(values[row]), measure, highest)
    if is_reciprocal(measure) and cutoff:
        for row in np.flatnonzero((values > 0) & (values < 1 / cutoff)).tolist():
            # The most by which rounding can have changed the value.
            rounding = 0.5 * 10.0 ** -len(repr(float(values[row])).partition(".")[2])
            if values[row] + rounding < 1 / cutoff:
                return row, f"is below 1/{cutoff}, although ranks beyond {cutoff} do not count"
    return None


def _outside(lowest: float, highest: float) -> str:
    if np.isfinite(highest):
        return f"is not between {lowest:g} and {highest:g}"
    return "is negative" if lowest == 0 else "is not a rank, which is 1 or more"


def _hint(value: float, measure: str, highest: float) -> str:
    """Say what a value beyond the largest may be."""
    if is_reciprocal(measure) and value > 1 and value.is_integer():
        return "; if the values are ranks, call them ESL"
    if 1 < value <= 100 and highest == 1:
        return "; if the values are percentages, divide them by 100"
    return ""
