"""The table of labels word by word as its definition gives it (docs/verdict.md)."""

from typing import NamedTuple

from ir_outcomes.pairs.verdict import MIRRORED, NO_DIFFERENCE, TRADE_OFF


class State(NamedTuple):
    """What one row shows: the sign of its mean, and the p-values by itself and corrected."""

    sign: int
    raw: bool  # significant by itself
    corrected: bool  # significant after the correction

    @property
    def flipped(self) -> "State":
        return self._replace(sign=-self.sign)


def label_of(c: State, r: State, a: State | None, sign_test: State) -> str:
    """Return the label word by word as the definition gives it."""

    def better_of(rows: dict[str, State], sign: State) -> str | None:
        up = {name for name, row in rows.items() if row.corrected and row.sign > 0}
        confirmed = False
        if a is not None:
            whole = rows["a"]
            confirmed = whole.sign > 0 and (whole.raw or (sign.raw and sign.sign > 0))
        if {"c", "r"} <= up:
            return "better on both facets"
        if "c" in up:
            return "better on coverage" if confirmed else "coverage gain, unconfirmed"
        if "r" in up:
            return "better on ranking" if confirmed else "ranking gain, unconfirmed"
        return "better over all queries" if "a" in up else None

    rows = {"c": c, "r": r} | ({} if a is None else {"a": a})
    swapped = {name: row.flipped for name, row in rows.items()}
    for side in (rows, swapped):
        improved = any(row.corrected and row.sign > 0 for row in side.values())
        hurt = any(row.raw and row.sign < 0 for row in side.values())
        if improved and hurt:
            return TRADE_OFF
    better = better_of(rows, sign_test)
    if better is not None:
        return better
    worse = better_of(swapped, sign_test.flipped)
    return NO_DIFFERENCE if worse is None else MIRRORED[worse]
