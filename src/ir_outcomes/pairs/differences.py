"""Values of pairs of systems on every query, and sums of their differences.

Of a row such as coverage a run has one value for each query, whatever it is compared with. Ranking is
measured on what both runs of a pair found, so its values belong to the pair. Both become arrays by
baseline, contender and query, which are added up over the runs of systems, then over clusters, then
over units.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from threadpoolctl import threadpool_limits

from ir_outcomes.choices import LENGTHS, Bools, Floats, Ints, divided
from ir_outcomes.statistics.estimate import ROUNDING, Sums, sums_over_units

BLOCK = 1 << 19  # differences in memory at once


class Quantity(NamedTuple):
    """What a row measures."""

    name: str
    measured_in: str
    higher_is_better: bool
    largest: float | None  # K, the most that one query can change by; None where it is not known


@dataclass(frozen=True, eq=False)
class FoundItems:
    """Queries or relevant documents that runs found, and where."""

    number: Ints  # (queries,) items of each query, at least 1
    found: Floats  # (runs, items) 1 where a run found the item, else 0
    lengths: Floats  # (runs, items) search length, or value, of what was found, else 0

    @classmethod
    def of(cls, number: Ints, lengths: Floats) -> Self:
        """Take search lengths, (runs, items), with NaN for what was not found."""
        found = ~np.isnan(lengths)
        return cls(number, found.astype(np.float64), np.where(found, lengths, 0.0))

    def reciprocal(self) -> Self:
        """The same items with the reciprocals of their search lengths."""
        return replace(self, lengths=divided(1.0, self.lengths, self.lengths > 0, 0.0))

    def means(self) -> Floats:
        """(runs, queries) mean search length of what was found, else NaN."""
        found = self.over_queries(self.found)
        return divided(self.over_queries(self.lengths), found, found > 0)

    @cached_property
    def single(self) -> bool:
        """Whether every query is one item."""
        return bool(np.all(self.number == 1))

    @cached_property
    def query(self) -> Ints:
        """(items,) the query of each item."""
        return np.repeat(np.arange(len(self.number)), self.number)

    def shares(self) -> Floats:
        """(runs, queries) share of the items of each query that was found, in percent."""
        return 100.0 * self.over_queries(self.found) / self.number

    def over_queries(self, values: Floats) -> Floats:
        """Add up values of items, (..., items), over the items of each query."""
        if self.single:
            return values
        starts = np.cumsum(self.number) - self.number
        sums: Floats = np.add.reduceat(values, starts, axis=-1)
        return sums


class Clusters:
    """Which queries are of one cluster."""

    def __init__(self, codes: Ints) -> None:
        """Take the cluster of each query, numbered."""
        self.codes = codes
        self._order = np.argsort(codes, kind="stable")
        self._starts = np.unique(codes[self._order], return_index=True)[1]

    def __len__(self) -> int:
        return len(self._starts)

    def added(self, values: Floats) -> Floats:
        """Add up values of queries, (..., queries), over clusters."""
        sums: Floats = np.add.reduceat(values[..., self._order], self._starts, axis=-1)
        return sums


class PairedValues(NamedTuple):
    """Values of pairs, which broadcast to (baselines, contenders, queries).

    Each is a sum over `size` pairs of runs: 1 or 0 where both systems have one run.
    """

    baseline: Floats
    contender: Floats
    size: Floats
    magnitude: Floats | None = None  # sum of absolute values; None where all are whole numbers

    def over_runs(self, starts: tuple[Ints, Ints]) -> "PairedValues":
        """Add up the pairs of runs of systems, whose first runs are given."""
        shape = np.broadcast_shapes(self.baseline.shape, self.contender.shape)

        def added(values: Floats | None) -> Any:
            if values is None:
                return None
            values = np.broadcast_to(values, shape)
            for axis, firsts in enumerate(starts):
                values = np.add.reduceat(values, firsts, axis=axis)
            return values

        return PairedValues(*map(added, self))

    def units(self, clusters: Clusters | None) -> tuple[Floats, Floats]:
        """Sums of differences and their numbers, arrays by baseline, contender and unit.

        What rounding alone keeps from 0 is 0.
        """
        total = self.contender - self.baseline
        size, magnitude = self.size, self.magnitude
        if clusters is not None:
            total, size = clusters.added(total), clusters.added(size)
            magnitude = None if magnitude is None else clusters.added(magnitude)
        if magnitude is not None:
            total[np.abs(total) <= ROUNDING * magnitude] = 0.0
        return total, size


class RowSums(NamedTuple):
    """One row of some pairs: (pairs,) arrays, sums of halves (pairs * 2 * splits,)."""

    n: Ints  # queries that the row is measured on
    baseline: Floats  # means, NaN where nothing is compared
    contender: Floats
    sums: Sums


class BlockOfPairs(NamedTuple):
    """Some pairs of systems."""

    systems: Ints  # (2, pairs) baseline and contender
    rows: dict[str, RowSums]


@dataclass(frozen=True, eq=False)
class Measurements:
    """What the runs of some systems have on every query, for each row."""

    names: tuple[str, ...]  # of the systems
    n_runs: tuple[int, ...]  # of each system, whose runs stand one after the other
    query_ids: tuple[str, ...]
    quantities: Mapping[str, Quantity]  # of the rows, in the order of their table
    levels: Mapping[str, Floats]  # (runs, queries) values of each run; NaN where undefined
    items: Mapping[str, FoundItems]  # of rows that are measured on what both runs of a pair found
    deciding: tuple[str, ...]  # the rows that decide on a label
    clusters: Clusters | None = None  # of the queries; None where they are independent
    # (runs,) the same number where all rankings are the same; None where lists are not known
    rankings: Ints | None = None

    @cached_property
    def starts(self) -> Ints:
        """(systems + 1,) the first run of each system, and the end."""
        return np.cumsum([0, *self.n_runs])

    @property
    def in_lengths(self) -> bool:
        """Whether search lengths were measured, and no values of another measure."""
        return any(quantity.measured_in in LENGTHS for quantity in self.quantities.values())

    @property
    def n_pairs(self) -> int:
        """Number of pairs of systems."""
        return len(self.names) * (len(self.names) - 1) // 2

    @property
    def n_units(self) -> int:
        """Number of queries, or of clusters of them."""
        return len(self.query_ids) if self.clusters is None else len(self.clusters)

    def pairs_of_runs(self, name: str, baselines: slice, contenders: slice) -> PairedValues:
        """The values of a row of all pairs of the runs of some systems."""
        runs = (
            slice(self.starts[systems.start], self.starts[systems.stop])
            for systems in (baselines, contenders)
        )
        if name in self.levels:
            return _of_levels(self.levels[name], *runs)
        return _of_items(self.items[name], *runs)

    def paired(self, name: str, baselines: slice, contenders: slice) -> PairedValues:
        """The values of a row of all pairs of some systems."""
        values = self.pairs_of_runs(name, baselines, contenders)
        if max(self.n_runs) == 1:
            return values
        systems = baselines, contenders
        first, second = (self.starts[part] - self.starts[part.start] for part in systems)
        return values.over_runs((first, second))

    def is_identical(self, systems: Ints) -> Bools:
        """(pairs,) whether all runs of both systems have the same rankings."""
        if self.rankings is None:
            return np.zeros(systems.shape[1], dtype=bool)
        first = np.minimum.reduceat(self.rankings, self.starts[:-1])
        last = np.maximum.reduceat(self.rankings, self.starts[:-1])
        baseline, contender = systems
        alike = (first == last)[baseline] & (first == last)[contender]
        identical: Bools = alike & (first[baseline] == first[contender])
        return identical

    def family(self, names: tuple[str, ...]) -> Iterator[BlockOfPairs]:
        """Yield the pairs of the first system with each other one, added up exactly."""
        n_items = (len(items.query) for items in self.items.values())
        of_pair = max(self._differences_of_pair, *n_items, 1)
        width = max(BLOCK // of_pair, 1)
        for left in range(1, len(self.names), width):
            yield self._block(names, slice(0, 1), _upto(left, width, len(self.names)), exact=True)

    def board(self, names: tuple[str, ...], halves: Floats | None = None) -> Iterator[BlockOfPairs]:
        """Yield all pairs of systems in blocks, also of halves, (units, splits)."""
        n = len(self.names)
        block, of_pair = BLOCK, self._differences_of_pair
        if halves is not None:  # of which there are many sums
            block, of_pair = 4 * BLOCK, max(of_pair, 16 * halves.shape[1])
        height = min(max(block // (of_pair * n), 1), n)
        width = max(block // (of_pair * height), 1)
        for top in range(0, n - 1, height):
            for left in range(top + 1, n, width):
                yield self._block(names, _upto(top, height, n), _upto(left, width, n), halves)

    @property
    def _differences_of_pair(self) -> int:
        return max(len(self.query_ids), 1) * max(self.n_runs) ** 2

    def _block(
        self,
        names: tuple[str, ...],
        baselines: slice,
        contenders: slice,
        halves: Floats | None = None,
        *,
        exact: bool = False,
    ) -> BlockOfPairs:
        """Add up the pairs of some systems with some that come later."""
        a, b = np.mgrid[baselines, contenders]
        pairs = b > a
        rows = {}
        for name in names:
            values = self.paired(name, baselines, contenders)
            total, size = (
                _of_pairs(values_of_units, pairs) for values_of_units in values.units(self.clusters)
            )
            number = np.broadcast_to(np.count_nonzero(values.size, axis=2), pairs.shape)
            rows_of_pairs = values.size.sum(axis=2)
            baseline, contender = (
                divided(sums_over_units(level, exact=exact), rows_of_pairs, rows_of_pairs > 0)
                for level in (values.baseline, values.contender)
            )
            rows[name] = RowSums(
                number[pairs],
                np.broadcast_to(baseline, pairs.shape)[pairs],
                np.broadcast_to(contender, pairs.shape)[pairs],
                Sums.of(total, size, halves, exact=exact),
            )
        return BlockOfPairs(np.stack([a[pairs], b[pairs]]), rows)


def _upto(first: int, number: int, end: int) -> slice:
    return slice(first, min(first + number, end))


def _of_pairs(values: Floats, pairs: Bools) -> Floats:
    """The values of some pairs, or of one for all, by unit."""
    if pairs.all() or values.shape[:2] != pairs.shape:
        return values.reshape(-1, values.shape[2])
    return values[pairs]


def _of_levels(levels: Floats, baselines: slice, contenders: slice) -> PairedValues:
    """Set the values of runs side by side, where both are defined."""
    a = levels[baselines, None]
    b = levels[None, contenders]
    size = np.ones((1, 1, levels.shape[1]))
    if np.isnan(levels).any():
        defined = ~(np.isnan(a) | np.isnan(b))
        a, b, size = np.where(defined, a, 0.0), np.where(defined, b, 0.0), defined.astype(float)
    whole = np.array_equal(a, np.rint(a)) and np.array_equal(b, np.rint(b))
    return PairedValues(a, b, size, None if whole else np.abs(a) + np.abs(b))


def _of_items(items: FoundItems, baselines: slice, contenders: slice) -> PairedValues:
    """Mean search lengths over the items that both runs of a pair found."""
    found, lengths = items.found, items.lengths
    if items.single or baselines.stop - baselines.start == 1:
        a, b = found[baselines, None], found[None, contenders]
        both = items.over_queries(a * b)
        sums = (
            items.over_queries(a * b * values)
            for values in (lengths[baselines, None], lengths[None, contenders])
        )
        size = (both > 0).astype(float)
        a, b = (divided(total, both, both > 0, 0.0) for total in sums)
        whole = np.array_equal(a, np.rint(a)) and np.array_equal(b, np.rint(b))
        return PairedValues(a, b, size, None if whole else a + b)
    of_queries = []
    ends = np.cumsum(items.number)
    with threadpool_limits(1, "blas"):  # threads wait for each other
        for first, end in zip(ends - items.number, ends, strict=True):
            a, b = found[baselines, first:end], found[contenders, first:end].T
            both = a @ b
            of_a, of_b = lengths[baselines, first:end] @ b, a @ lengths[contenders, first:end].T
            means = (divided(total, both, both > 0, 0.0) for total in (of_a, of_b))
            of_queries.append([*means, both > 0])
    a, b, size = (np.stack(part, axis=2).astype(float) for part in zip(*of_queries, strict=True))
    return PairedValues(a, b, size, a + b)
