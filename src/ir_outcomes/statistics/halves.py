"""Halves of samples: what the second ones have is what all have less what the first ones have."""

from functools import cached_property

import numpy as np

from ir_outcomes.statistics.counts import Differences, Sums, below
from ir_outcomes.types import Floats


class Halves(Differences):
    """The first halves of samples, and behind them the second ones.

    Each of m samples is split n times, so the first halves are m times n samples. What tests need
    of the second ones follows from sums; their counts are found only where a test asks for them.
    """

    first: Differences
    whole: Differences
    splits: int

    def __init__(self, first: Differences, whole: Differences) -> None:
        """Take the first halves, and the samples, with the same classes."""
        splits = first.positive.shape[1] // whole.positive.shape[1]
        # The base class is frozen, and its counts are computed here.
        vars(self).update(sizes=whole.sizes, moments=None, first=first, whole=whole, splits=splits)

    def second(self, of_first: Floats, of_whole: Floats) -> Floats:
        """Return what the second halves have, from what the first ones and what the samples have."""
        remaining: Floats = np.repeat(of_whole, self.splits, axis=-1) - of_first
        return remaining

    def of_both(self, of_first: Floats, of_whole: Floats) -> Floats:
        """Return what all halves have."""
        return np.concatenate([of_first, self.second(of_first, of_whole)], axis=-1)

    @cached_property
    def positive(self) -> Floats:
        """The counts of `Differences`."""
        return self.of_both(self.first.positive, self.whole.positive)

    @cached_property
    def negative(self) -> Floats:
        """The counts of `Differences`."""
        return self.of_both(self.first.negative, self.whole.negative)

    @cached_property
    def both(self) -> Floats:
        """The counts of `Differences`."""
        return self.of_both(self.first.both, self.whole.both)

    @cached_property
    def sums(self) -> Sums:
        """Those of `Differences`."""
        return Sums(*self.of_both(np.stack(self.first.sums), np.stack(self.whole.sums)))

    @property
    def scale(self) -> Floats:
        """That of the samples: where little is left of a sum, it has the rounding of the whole."""
        return np.tile(np.repeat(self.whole.scale, self.splits), 2)

    @cached_property
    def smaller(self) -> Floats:
        """That of `Differences`."""
        first = self.first
        whole = self.whole
        lower = below(whole.both[1:])
        higher = whole.n_positive - below(whole.positive[1:])
        # Of the pairs of a sample, those are left of which neither is in the first half.
        positive = self._products(lower, first.positive[1:])
        other = self._products(higher, first.both[1:])
        second = self.second(positive + other - first.smaller, whole.smaller)
        return np.append(first.smaller, second)

    def _products(self, of_whole: Floats, of_first: Floats) -> Floats:
        """Add up over the classes what the samples and their first halves have, multiplied."""
        by_split = of_first.reshape(*of_whole.shape, self.splits)
        products: Floats = np.einsum("ij,ijk->jk", of_whole, by_split)
        return products.ravel()
