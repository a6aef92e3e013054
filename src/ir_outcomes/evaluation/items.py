"""Two runs item by item: what each found. The outcome split and the measures that need a baseline are reductions of it.

An *item* is an answerable query, or under ``unit="document"`` an atom of `SearchLengths`.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from ir_outcomes._types import Bools, Floats, Ints, Unit
from ir_outcomes.evaluation.lengths import SearchLengths, check_comparable

__all__ = ["OUTCOMES", "Items", "match"]

OUTCOMES = ("neither", "lost", "won", "both")


class Items:
    """The items of a pair of runs.

    Attributes
    ----------
    query : (n,) int64 array
        The query of each item, as an index into all queries of the qrels.
    lengths : pair of (n,) float arrays
        Search lengths in the baseline and in the contender; NaN where the item was not found.
    """

    def __init__(self, query: Ints, lengths: tuple[Floats, Floats]) -> None:
        self.query = query
        self.lengths = lengths

    @cached_property
    def found(self) -> tuple[Bools, Bools]:
        """Pair of (n,) bool arrays: whether baseline and contender found it."""
        return ~np.isnan(self.lengths[0]), ~np.isnan(self.lengths[1])

    @property
    def outcome(self) -> Ints:
        """(n,) int64 array: the outcome, as an index into `OUTCOMES`."""
        return self.found[0] + 2 * self.found[1].astype(np.int64)


def match(baseline: SearchLengths, contender: SearchLengths, unit: Unit, need: int = 1) -> Items:
    """Set two runs side by side.

    Parameters
    ----------
    baseline, contender : SearchLengths
        Made with the same qrels and settings.
    unit : {"query", "document"}
        Whether a query, by its `need`-th relevant document, or each of its relevant documents is an item.
    need : int
        How many relevant documents make an answer; for queries.

    Raises
    ------
    MismatchError
        If the two were not made alike.

    References
    ----------
    Lin et al. 2021, section 4; for documents joined with Alex et al. 2022, equations 1 and 2.
    """
    check_comparable(baseline, contender)
    if unit == "document":
        return Items(baseline.query, (baseline.atoms(), contender.atoms()))
    answerable = np.flatnonzero(baseline.answerable)
    return Items(answerable, (baseline.esl(need)[answerable], contender.esl(need)[answerable]))
