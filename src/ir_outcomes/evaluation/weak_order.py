"""Expectations over the orders that a group of tied documents may take: Cooper's weak ordering (1968)."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ir_outcomes._types import Floats


class TieLevel(NamedTuple):
    """The tie level in which the last relevant document that is needed will be met.

    Attributes
    ----------
    before : int
        Documents ranked above the level.
    relevant, others : int
        What the level holds.
    needed : int
        Relevant documents of the level that are needed, at most `relevant`.
    """

    before: int
    relevant: int
    others: int
    needed: int

    def expectations(self, cutoff: int | None) -> tuple[float, float, float]:
        """Return the chance of meeting it within the cutoff, the expected rank if so, and the expected reciprocal rank.

        Examples
        --------
        >>> TieLevel(before=8, relevant=2, others=3, needed=1).expectations(None)[:2]  # van Rijsbergen 1979, chapter 7
        (1.0, 10.0)
        """
        places = np.arange(self.needed, self.needed + self.others + 1)
        chances = _chances_of_place(self.needed, self.relevant, self.others)
        if cutoff is not None and self.before + places[-1] > cutoff:
            within = max(0, cutoff - self.before - self.needed + 1)
            places, chances = places[:within], chances[:within]
            chance = float(chances.sum())
            rank = self.before + float(chances @ places) / chance if chance else math.nan
        else:
            chance = 1.0
            rank = self.before + self.needed + (self.others * self.needed) / (self.relevant + 1)
        return chance, rank, float(np.sum(chances / (self.before + places)))


def _chances_of_place(wanted: int, relevant: int, others: int) -> Floats:
    """Give the chance that the `wanted`-th relevant document of a tie level stands in each place from `wanted` on.

    Negative hypergeometric, from the ratio of neighbouring terms, in logarithms so that large levels do not underflow.
    """
    places = np.arange(wanted, wanted + others)
    size = relevant + others
    ratios = places * (size - places - relevant + wanted) / ((places - wanted + 1) * (size - places))
    logs = np.concatenate([[0.0], np.cumsum(np.log(ratios))])
    chances = np.exp(logs - logs.max())
    return np.asarray(chances / chances.sum())
