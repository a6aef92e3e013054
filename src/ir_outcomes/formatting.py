"""Numbers and lists in words."""

import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

from ir_outcomes.choices import DOCUMENTS_ABOVE, LENGTHS, POINTS

NOTHING = "-"  # a cell without a value
MOST_PLACES = 15  # of decimals that floating point has
SMALLEST = 1e-300  # below it floating point loses digits, and below 5e-324 everything


def fixed(value: float | None, places: int, *, signed: bool = False) -> str:
    """Write a number with so many decimal places, or a dash where there is none."""
    if value is None:
        return NOTHING
    # Adding zero turns -0.0, which is what small negative numbers round to, into 0.0.
    rounded = round(value, places) + 0.0
    return f"{rounded:{'+' if signed else ''}.{places}f}"


def percent(share: float | None, places: int = 1, *, unit: str = "") -> str:
    """Write a share in percent."""
    if share is None:
        return NOTHING
    return f"{fixed(100 * share, places)}{unit}"


def bound(value: float, places: int, *, signed: bool = False) -> str:
    """Write an end of an interval with decimals that show its side of 0."""
    return fixed(value, places_apart(value, (0.0,), places), signed=signed)


def interval(bounds: tuple[float, float] | None, places: int, *, signed: bool = False) -> str:
    """Write an interval."""
    if bounds is None:
        return NOTHING
    low, high = bounds
    return f"[{bound(low, places, signed=signed)}, {bound(high, places, signed=signed)}]"


def places_of(measured_in: str) -> int:
    """Return how many decimals a value of this unit has."""
    return 2 if measured_in in (POINTS, *LENGTHS) else 4


def places_apart(value: float, others: Iterable[float], places: int) -> int:
    """Return how many decimals, at least `places`, keep a number apart from others."""
    distinct = [other for other in others if not math.isclose(value, other, abs_tol=1e-12)]
    while places < MOST_PLACES and round(value, places) in {round(o, places) for o in distinct}:
        places += 1
    return places


def places_of_difference(row: Any) -> int:
    """Return how many decimals keep a difference apart from the ends of its interval."""
    places = places_of(row.measured_in)
    return places_apart(row.difference or 0.0, row.interval or (), places)


def places_of_means(row: Any) -> int:
    """Return how many decimals the means of a row have."""
    places = places_of_difference(row)
    contender = contender_beside(row, places)
    is_contradicted = contender is not None and fixed(contender, places) != fixed(
        row.contender, places
    )
    return places + is_contradicted


def contender_beside(row: Any, places: int) -> float | None:
    """Return the mean of B, so that it is A plus the difference as printed."""
    mean: float | None = row.contender
    if row.difference is not None and row.baseline is not None:
        mean = round(row.baseline, places) + round(row.difference, places)
    return mean


def margin_text(margin: float, bounds: Sequence[float], measured_in: str) -> str:
    """Write a margin to a hundredth of it, apart from the ends of its interval."""
    places = places_apart(margin, bounds, places_of(measured_in))
    while places < MOST_PLACES and abs(round(margin, places) - margin) > abs(margin) / 100:
        places += 1
    return fixed(margin, places, signed=True)


def short_unit(measured_in: str) -> str:
    """Return a unit as the heading of a narrow column."""
    return {POINTS: "points", DOCUMENTS_ABOVE: "above"}.get(measured_in, measured_in)


def unit_behind(number: float, unit: str) -> str:
    """Return a unit as it is written behind a number: in the singular behind 1."""
    if number != 1:
        return unit
    return re.sub(r"\b(point|rank|document)s\b", r"\1", unit)


def size(difference: float, places: int) -> str:
    """Write the size of a difference that is not 0, so that it does not read like 0."""
    if abs(difference) >= 0.5 * 10.0**-places:
        return f"{abs(difference):.{places}f}"
    return f"{abs(difference):.1g}"


def pvalue(p: float | None, alpha: float = 0.05, digits: int = 2) -> str:
    """Write a p-value with as many digits as show on which side of the level it is."""
    if p is None:
        return NOTHING
    if p < SMALLEST:
        return f"< {SMALLEST:.0e}"
    text = ""
    for extra in range(15):
        if p < 0.001:
            text = f"{p:.{digits - 1 + extra}e}".replace(".0e", "e")
        else:
            text = f"{p:.{3 + extra}f}"
        # Rounded to the level, it would not show on which side it is.
        if p == alpha or float(text) != alpha:
            break
    return text


def pvalue_in_words(p: float, alpha: float = 0.05) -> str:
    """Write a p-value for a sentence."""
    text = pvalue(p, alpha)
    return f"p {text}" if text.startswith("<") else f"p = {text}"


def plural(noun: str, number: int) -> str:
    """Write a number with its noun."""
    if number == 1:
        return f"1 {noun}"
    if noun.endswith("y") and noun[-2] not in "aeiou":
        return f"{number} {noun[:-1]}ies"
    return f"{number} {noun}{'es' if noun.endswith(('s', 'x', 'ch', 'sh')) else 's'}"


def listed(items: Sequence[str]) -> str:
    """Write items as an enumeration."""
    if len(items) > 1:
        return f"{', '.join(items[:-1])} and {items[-1]}"
    return "".join(items)
