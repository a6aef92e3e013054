"""Halves of samples: what the second ones have is what all have less what the first ones have."""

from functools import cached_property

import numpy as np

from ir_outcomes.statistics.counts import Differences, Sums, below, cubes
from ir_outcomes.types import Bools, Floats, Ints


class Halves(Differences):
    """The first halves of samples, and behind them the second ones, in which is what all have less the first.

    Each of the m samples is split n times: the first halves are m times n samples. Tests need sums,
    and those of the second halves are computed without their counts.
    """

    first: Differences
    whole: Differences
    splits: int  # n

    def __init__(self, first: Differences, whole: Differences) -> None:
        """Take samples of the same classes."""
        splits = first.positive.shape[1] // whole.positive.shape[1]
        vars(self).update(sizes=whole.sizes, moments=None, first=first, whole=whole, splits=splits)

    def repeated(self, of_whole: Floats) -> Floats:
        """Repeat what the samples have for each of their splits."""
        return np.repeat(of_whole, self.splits, axis=-1)

    @cached_property
    def sums(self) -> Sums:
        """Do the same as `Differences`."""
        first = np.stack(self.first.sums)
        second = self.repeated(np.stack(self.whole.sums)) - first
        return Sums(*np.concatenate([first, second], axis=1))

    @property
    def scale(self) -> Floats:
        """That of all: where little is left of a sum, it has the rounding of the whole."""
        return np.tile(self.repeated(self.whole.scale), 2)

    @cached_property
    def smaller(self) -> Floats:
        """Do the same as `Differences`."""
        first = self.first
        whole = self.whole
        # Of the pairs of all, those are left of which neither is in the first half.
        first_above = self._products(below(whole.both[1:]), first.positive[1:])
        not_above = self._products(below(whole.positive[1:]), first.both[1:])
        first_below = self.repeated(whole.n_positive) * first.n_nonzero - not_above
        second = self.repeated(whole.smaller) - first_above - first_below + first.smaller
        return np.append(first.smaller, second)

    @cached_property
    def cubes(self) -> Floats:
        """Do the same as `Differences`."""
        second = self.repeated(self.whole.both[1:]) - self.first.both[1:]
        return np.append(self.first.cubes, cubes(second))

    def at(self, samples: Ints | Bools) -> Differences:
        """Take some of the samples."""
        n_first = len(self.first.n)
        places = np.arange(2 * n_first)[samples]
        half = places % n_first

        def counts(of_first: Floats, of_whole: Floats) -> Floats:
            first = of_first[:, half]
            return np.where(places < n_first, first, of_whole[:, half // self.splits] - first)

        positive = counts(self.first.positive, self.whole.positive)
        return Differences(self.sizes, positive, counts(self.first.negative, self.whole.negative))

    def _products(self, of_whole: Floats, of_first: Floats) -> Floats:
        """Add up the products of what the samples and their first halves have of each class."""
        by_split = of_first.reshape(*of_whole.shape, self.splits)
        products: Floats = np.einsum("ij,ijk->jk", of_whole, by_split)
        return products.ravel()
