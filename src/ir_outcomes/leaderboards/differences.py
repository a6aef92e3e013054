"""Differences of all pairs of systems of a board, a block at a time, and sums of them.

Differences of a block are one matrix by pair and query; sums over all queries, or over halves of
them, are one product with the queries that belong to each half.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, Self

import numpy as np

from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.systems import Called
from ir_outcomes.statistics.estimate import ROUNDING, Sums
from ir_outcomes.types import Bools, Floats, Ints, Unit, divided

BLOCK = 1 << 18  # differences in memory at once
AT_ONCE = 1 << 14  # sums that are estimated together


class Changes(NamedTuple):
    """Differences of some pairs, contender minus baseline, and how many they are sums of.

    By baseline, contender and query; of sizes that are the same for all pairs there is one.
    """

    total: Floats
    size: Floats


class Differences(Protocol):
    """Values of the runs of a board that can be set against each other."""

    n_queries: int

    def changes(self, baselines: slice, contenders: slice) -> dict[str, Changes]:
        """Return the differences between runs, by the name of the row."""


@dataclass(frozen=True, eq=False)
class LengthDifferences:
    """What the runs of a board found, and where: coverage, ranking and all queries."""

    n_queries: int
    items: Ints  # (n,) what there is to find in each query
    found: Floats  # (n_runs, n) number found
    lengths: Floats  # (n_runs, n) sum of their search lengths
    systems: Ints  # (n_runs,) the system of each run
    horizons: Ints  # (n_systems,) k of the restricted search length
    rankings: Ints  # (n_systems,) the same number where all rankings are the same
    #: of each query what was found, and its search lengths, (2, n_runs, items); empty where every
    #: query is one item
    documents: tuple[Floats, ...]

    @classmethod
    def of(cls, evaluation: Evaluation) -> Self:
        """Take the search lengths of the answerable queries at the cutoff of an evaluation."""
        systems = [system.at(evaluation.cutoff) for system in evaluation.systems]
        runs = [run for system in systems for run in system.runs]
        horizons = [max(run.depth for run in system.runs) for system in systems]
        members = np.repeat(np.arange(len(systems)), [len(system.runs) for system in systems])
        seen: dict[tuple[bytes, ...], int] = {}
        rankings = []
        for number, system in enumerate(systems):
            lists = {run.digests.tobytes() for run in system.runs}
            rankings.append(seen.setdefault(tuple(lists), number) if len(lists) == 1 else number)
        first = runs[0]
        lengths = np.stack([_lengths_of(run, evaluation.unit) for run in runs])
        items = np.ones(lengths.shape[1], dtype=np.int64)
        if evaluation.unit == "document":
            items = first.relevant[first.answerable]
        found = (~np.isnan(lengths)).astype(np.float64)
        lengths = np.nan_to_num(lengths)
        documents: tuple[Floats, ...] = ()
        starts = np.cumsum(items) - items
        if items.max(initial=1) > 1:
            both = np.stack([found, lengths])
            documents = tuple(np.split(both, starts[1:], axis=2))
            found, lengths = np.add.reduceat(both, starts, axis=2)
        elif len(items) * max(100, *horizons) ** 2 < 1 << 24:  # no sum of squares is rounded
            found = found.astype(np.float32)
            lengths = lengths.astype(np.float32)
        return cls(
            len(items),
            items,
            found,
            lengths,
            members,
            np.array(horizons),
            np.array(rankings),
            documents,
        )

    def changes(self, baselines: slice, contenders: slice) -> dict[str, Changes]:
        """Return the differences between runs, by the name of the row."""
        a = np.s_[baselines, None]
        b = np.s_[None, contenders]
        more = self.found[b] - self.found[a]
        longer = self.lengths[b] - self.lengths[a]
        horizons = self.horizons[self.systems]
        missing = (1 + np.maximum(horizons[b], horizons[a])[..., None]).astype(more.dtype)
        every = np.ones((1, 1, self.n_queries), more.dtype)
        if self.documents:
            ranking = self._ranking_of_documents(baselines, contenders)
        else:
            both = self.found[a] * self.found[b]
            ranking = Changes(both * longer, both)
        longer -= missing * more
        more *= 100.0
        if self.documents:
            longer /= self.items
            more /= self.items
        return {
            "coverage": Changes(more, every),
            "ranking": ranking,
            "all queries": Changes(longer, every),
        }

    def _ranking_of_documents(self, baselines: slice, contenders: slice) -> Changes:
        """Return the mean difference over the documents of each query that both found."""
        total = []
        size = []
        for found, lengths in self.documents:
            both = found[baselines] @ found[contenders].T
            moved = found[baselines] @ lengths[contenders].T
            moved -= lengths[baselines] @ found[contenders].T
            total.append(divided(moved, both, both > 0, 0.0))
            size.append(both > 0)
        return Changes(np.stack(total, axis=2), np.stack(size, axis=2).astype(np.float64))


def _lengths_of(run: SearchLengths, unit: Unit) -> Floats:
    return run.atoms() if unit == "document" else run.esl()[run.answerable]


@dataclass(frozen=True, eq=False)
class ValueDifferences:
    """Values of a measure; a query counts for a pair where both runs have one."""

    values: Floats  # (n_runs, n) NaN where undefined

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return self.values.shape[1]

    def changes(self, baselines: slice, contenders: slice) -> dict[str, Changes]:
        """Return the differences between runs, by the name of the row."""
        a = self.values[baselines, None]
        b = self.values[None, contenders]
        change = b - a
        change[np.abs(change) <= ROUNDING * (np.abs(a) + np.abs(b))] = 0.0
        counted = ~np.isnan(change)
        return {"measure": Changes(np.where(counted, change, 0.0), counted.astype(np.float64))}


def place_of_pair(baseline: Any, contender: Any, n: int) -> Any:
    """Return the place of pairs of n systems in the order of `itertools.combinations`."""
    return baseline * n - baseline * (baseline + 1) // 2 + contender - baseline - 1


class SummedPairs(NamedTuple):
    """Sums over the units of some pairs, or over the halves of each, which are neighbours."""

    systems: Ints  # (2, n_pairs) baseline and contender
    places: Ints  # (n_pairs,) in the order of `itertools.combinations`
    queries: dict[str, Ints]  # (n_pairs,) number of queries each row is measured on
    sums: dict[str, Sums]  # of each row; (n_pairs,) or (n_pairs * 2 * n_splits,)


@dataclass(frozen=True, eq=False)
class Board:
    """Which runs are of one system, and which queries are of one cluster."""

    source: Differences
    starts: Ints  # (n_systems + 1,) places of the first run of each system
    #: places of the queries by cluster, and where each cluster begins among them; None where
    #: queries are independent
    clusters: tuple[Ints, Ints] | None

    @classmethod
    def of(cls, source: Differences, systems: list[Called], clusters: Ints | None) -> Self:
        """Take the systems in the order of their runs, and the cluster of each query."""
        starts = np.cumsum([0, *(len(system.runs) for system in systems)])
        together = None
        if clusters is not None:
            order = np.argsort(clusters, kind="stable")
            together = order, np.unique(clusters[order], return_index=True)[1]
        return cls(source, starts, together)

    @property
    def n_systems(self) -> int:
        """Number of systems."""
        return len(self.starts) - 1

    def sums(self, first: Floats | None = None) -> Iterator[SummedPairs]:
        """Yield the sums of all pairs, some pairs at a time.

        With first halves, (n_units, n_splits) of 0 and 1, those of the first and second halves.
        """
        splits = 0 if first is None else first.shape[1]
        waiting: list[SummedPairs] = []
        for baselines, contenders in self._blocks(splits):
            waiting.append(self._block(baselines, contenders, first))
            if splits or sum(len(own.places) for own in waiting) >= AT_ONCE:
                yield _joined(waiting)
                waiting = []
        if waiting:
            yield _joined(waiting)

    def _blocks(self, splits: int) -> Iterator[tuple[slice, slice]]:
        """Yield baselines and contenders with about `BLOCK` differences, or sums of halves."""
        n = self.n_systems
        of_pair = max(1, self.source.n_queries * int(np.diff(self.starts).max()) ** 2)
        of_pair = max(of_pair, 16 * splits)  # of each half there are many sums
        height = min(max(1, BLOCK // (of_pair * n)), n)
        width = max(1, BLOCK // (of_pair * height))
        for first in range(0, n - 1, height):
            for start in range(first + 1, n, width):
                yield slice(first, min(first + height, n)), slice(start, min(start + width, n))

    def _block(self, baselines: slice, contenders: slice, first: Floats | None) -> SummedPairs:
        """Add up the pairs of some baselines with the contenders that stand behind them."""
        a = np.arange(baselines.start, baselines.stop)[:, None]
        b = np.arange(contenders.start, contenders.stop)
        chosen = (b > a).ravel()
        systems = np.stack([own.ravel()[chosen] for own in np.broadcast_arrays(a, b)])
        places = place_of_pair(*systems, self.n_systems)
        runs = (
            slice(self.starts[own.start], self.starts[own.stop]) for own in (baselines, contenders)
        )
        sums = {}
        queries = {}
        for name, changes in self.source.changes(*runs).items():
            of_systems = self._of_systems(changes, baselines, contenders)
            number = np.count_nonzero(of_systems.size, axis=2)
            queries[name] = np.broadcast_to(number, (len(a), len(b))).ravel()[chosen]
            units = self._of_clusters(of_systems)
            sums[name] = sums_of(*(_chosen(values, chosen) for values in units), first)
        return SummedPairs(systems, places, queries, sums)

    def _of_systems(self, changes: Changes, baselines: slice, contenders: slice) -> Changes:
        """Add up the differences over the runs of both systems."""
        starts = [self.starts[own] - self.starts[own.start] for own in (baselines, contenders)]
        if changes.total.shape[:2] == tuple(map(len, starts)):
            return changes
        size = np.broadcast_to(changes.size, changes.total.shape)

        def added(values: Floats) -> Floats:
            for axis, own in enumerate(starts):
                values = np.add.reduceat(values, own, axis=axis)
            return values

        return _added(added, changes._replace(size=size))

    def _of_clusters(self, changes: Changes) -> Changes:
        if self.clusters is None:
            return changes
        order, starts = self.clusters
        return _added(lambda values: np.add.reduceat(values[..., order], starts, axis=2), changes)


def _added(added: Callable[[Floats], Floats], changes: Changes) -> Changes:
    """Add up differences; a sum that is 0 but for rounding is 0."""
    total = added(changes.total)
    total[np.abs(total) <= ROUNDING * added(np.abs(changes.total))] = 0.0
    return Changes(total, added(changes.size))


def _chosen(values: Floats, chosen: Bools) -> Floats:
    """Return the values of the chosen pairs, (n_pairs, n_units), or (1, n_units) where they are all the same."""
    flat = values.reshape(-1, values.shape[2])
    return flat if len(flat) < len(chosen) or chosen.all() else flat[chosen]


def _joined(parts: Sequence[SummedPairs]) -> SummedPairs:
    """Put sums of pairs behind each other."""
    rows = parts[0].sums
    return SummedPairs(
        np.concatenate([part.systems for part in parts], axis=1),
        np.concatenate([part.places for part in parts]),
        {name: np.concatenate([part.queries[name] for part in parts]) for name in rows},
        {
            name: Sums(*map(np.concatenate, zip(*(part.sums[name] for part in parts), strict=True)))
            for name in rows
        },
    )


def sums_of(total: Floats, size: Floats, first: Floats | None = None) -> Sums:
    """Add up the units of each pair, or of the first and second halves of each pair.

    Differences and their sizes are (n_pairs, n_units), or one row of sizes for all pairs; the first
    halves (n_units, n_splits) of 0 and 1.
    """
    splits = 0 if first is None else first.shape[1]
    weights = np.ones((total.shape[1], splits + 1), total.dtype)
    if first is not None:
        weights[:, :splits] = first
    shape = len(total), 2 * splits or 1

    def added(values: Floats, weights: Floats = weights) -> Floats:
        sums: Floats = (values @ weights).astype(np.float64)
        if splits:  # the second halves have what is left
            sums = np.concatenate([sums[:, :-1], sums[:, -1:] - sums[:, :-1]], axis=1)
        return sums

    ones = weights.astype(np.float32)  # exact for counts below 2^24, and four times as fast

    def counted(flags: Bools) -> Floats:
        return added(flags.astype(np.float32), ones)

    differ, better = counted(total != 0), counted(total > 0)
    rows = np.broadcast_to(added(size), shape)
    squares = total**2
    if size.max(initial=0.0) <= 1:
        sums = Sums.of_queries(rows, added(total), added(squares), differ, better)
        return Sums(*(values.ravel() for values in sums))
    products = size * total
    weighted = np.zeros((3, *shape))
    largest = np.zeros(shape)
    for value in np.unique(size[size > 0]):
        alike = size == value
        inside = divided(rows, rows - value, rows > value, 0.0) ** 2
        for place, values in enumerate((squares, products, size**2)):
            weighted[place] += inside * added(np.where(alike, values, 0.0))
        largest = np.where(counted(alike) > 0, value, largest)
    sums = Sums(
        counted(size > 0),
        rows,
        added(size**2),
        largest,
        added(total),
        added(squares),
        added(products),
        *weighted,
        differ,
        better,
    )
    return Sums(*(np.broadcast_to(values, shape).ravel() for values in sums))
