"""The table of labels word by word as its definition gives it (docs/verdict.md)."""

from typing import NamedTuple

from ir_outcomes.pairs.verdict import MIRRORED


class State(NamedTuple):
    """What one row shows: the sign of its mean, and the p-values by itself and corrected."""

    sign: int
    raw: bool  # significant by itself
    corrected: bool  # significant after the correction

    @property
    def flipped(self) -> "State":
        return self._replace(sign=-self.sign)


def label_of(c: State, r: State, a: State | None) -> str:
    """Return the label: the first rule of docs/verdict.md that applies."""

    def better(row: State) -> bool:
        return row.corrected and row.sign > 0

    def worse(row: State) -> bool:
        return row.corrected and row.sign < 0

    def hurt(row: State) -> bool:
        return row.raw and row.sign < 0

    if a is not None and worse(a):
        return MIRRORED[label_of(c.flipped, r.flipped, a.flipped)]
    if a is not None and better(a):
        if better(c) and better(r):
            return "better on both facets"
        if (better(c) and hurt(r)) or (better(r) and hurt(c)):
            return "trade-off, better over all queries"
        if worse(c) and worse(r):
            return "better over all queries, worse on both facets"
        if worse(c) and not better(r):
            return "better over all queries, worse on coverage"
        if worse(r) and not better(c):
            return "better over all queries, worse on ranking"
        if better(c):
            return "better on coverage"
        return "better on ranking" if better(r) else "better over all queries"
    if a is None and better(c) and better(r):
        return "better on both facets"
    if a is None and worse(c) and worse(r):
        return "worse on both facets"
    for one, other in ((c, r), (r, c)):
        if (better(one) and hurt(other)) or (worse(one) and hurt(other.flipped)):
            return "trade-off"
    for change, found in (("gain", better), ("loss", worse)):
        if found(c) and found(r):
            return f"{change} on both facets, unconfirmed"
        if found(c):
            return f"coverage {change}, unconfirmed"
        if found(r):
            return f"ranking {change}, unconfirmed"
    return "no significant difference"
