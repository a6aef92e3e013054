"""Differences of all pairs of systems, a block at a time, and sums of them.

Differences of a block are one matrix by pair and query; sums over all queries, or over halves of
them, are one product with the queries that belong to each half.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.choices import Bools, Floats, Ints, divided
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.statistics.estimate import ROUNDING, Sums

BLOCK = 1 << 19  # differences in memory at once


class Changes(NamedTuple):
    """Differences, contender minus baseline, and how many each is a sum of.

    By baseline, contender and query; of sizes that are the same for all pairs there is one.
    """

    total: Floats
    size: Floats


class LengthDifferences:
    """What the runs of an evaluation found, and where."""

    def __init__(self, evaluation: Evaluation) -> None:
        """Take the answerable queries, at the cutoff of the evaluation."""
        systems = [system.at(evaluation.cutoff) for system in evaluation.systems]
        runs = [run for system in systems for run in system.runs]
        answerable = evaluation.answerable
        by_document = evaluation.unit == "document"
        lengths = np.stack([run.atoms() if by_document else run.esl()[answerable] for run in runs])
        self.n_queries = int(np.count_nonzero(answerable))
        self.items = np.ones(self.n_queries, dtype=np.int64)  # what there is to find in a query
        if by_document:
            self.items = runs[0].relevant[answerable]
        # (n_runs,) the system of each run; (n_systems,) k of the restricted search length
        self.systems = np.repeat(np.arange(len(systems)), [len(system.runs) for system in systems])
        self.horizons = np.array([max(run.depth for run in system.runs) for system in systems])
        self._missing = self.horizons[self.systems] + 1.0
        # (n_systems,) the same number where all rankings of two systems are the same
        seen: dict[bytes, int] = {}
        numbers = []
        for number, system in enumerate(systems):
            first, *others = {run.digests.tobytes() for run in system.runs}
            numbers.append(number if others else seen.setdefault(first, number))
        self.rankings = np.array(numbers)
        found = ~np.isnan(lengths)
        both = np.stack([found, np.where(found, lengths, 0.0)])
        # of each query what was found, and its search lengths, (2, n_runs, items); empty where
        # every query is one item
        self._documents: list[Floats] = []
        if self.items.max(initial=1) > 1:
            starts = np.cumsum(self.items) - self.items
            self._documents = np.split(both, starts[1:], axis=2)
            both = np.add.reduceat(both, starts, axis=2)
        elif (
            self.n_queries * max(100, *self.horizons) ** 2 < 1 << 24
        ):  # no sum of squares is rounded
            both = both.astype(np.float32)
        # (n_runs, n_queries) number found, and sum of their search lengths
        self.found, self.lengths = both

    def changes(self, baselines: slice, contenders: slice) -> dict[str, Changes]:
        """Return the differences between runs, by the name of the row."""
        a = np.s_[baselines, None]
        b = np.s_[None, contenders]
        gained = self.found[b] - self.found[a]
        longer = self.lengths[b] - self.lengths[a]
        if self._documents:
            ranking = self._ranking_of_documents(baselines, contenders)
        else:
            both = self.found[a] * self.found[b]
            ranking = Changes(both * longer, both)
        missing = np.maximum(self._missing[b], self._missing[a])[..., None]
        longer -= missing.astype(gained.dtype) * gained
        gained *= 100
        if self._documents:
            longer /= self.items
            gained /= self.items
        every = np.ones((1, 1, self.n_queries), gained.dtype)
        return {
            "coverage": Changes(gained, every),
            "ranking": ranking,
            "all queries": Changes(longer, every),
        }

    def _ranking_of_documents(self, baselines: slice, contenders: slice) -> Changes:
        """Return the mean difference over the documents that both found."""
        total = []
        size = []
        for found, lengths in self._documents:
            both = found[baselines] @ found[contenders].T
            moved = found[baselines] @ lengths[contenders].T
            moved -= lengths[baselines] @ found[contenders].T
            total.append(divided(moved, both, both > 0, 0.0))
            size.append(both > 0)
        return Changes(np.stack(total, axis=2), np.stack(size, axis=2).astype(np.float64))


class ValueDifferences:
    """Values of a measure, of which a query counts where both runs have one."""

    def __init__(self, values: Floats) -> None:
        """Take (n_runs, n_queries) values, NaN where undefined."""
        self.values = values
        self.n_queries = values.shape[1]

    def changes(self, baselines: slice, contenders: slice) -> dict[str, Changes]:
        """Return the differences between runs, as one row."""
        a = self.values[baselines, None]
        b = self.values[None, contenders]
        change = b - a
        change[np.abs(change) <= ROUNDING * (np.abs(a) + np.abs(b))] = 0.0
        counted = ~np.isnan(change)
        return {"measure": Changes(np.where(counted, change, 0.0), counted.astype(np.float64))}


class SummedPairs(NamedTuple):
    """Sums over the units of some pairs, or over halves of them, side by side."""

    systems: Ints  # (2, n_pairs) baseline and contender
    numbers: Ints  # (n_pairs,) in the order of `itertools.combinations`
    queries: dict[str, Ints]  # (n_pairs,) number of queries each row is measured on
    sums: dict[str, Sums]  # of each row; (n_pairs,) or (n_pairs * 2 * n_splits,)


def number_of_pair(baseline: Any, contender: Any, n: int) -> Any:
    """Return the number of pairs of n systems in `itertools.combinations`."""
    return baseline * n - baseline * (baseline + 1) // 2 + contender - baseline - 1


class Board:
    """Which runs are of one system, and which queries are of one cluster."""

    def __init__(
        self,
        source: LengthDifferences | ValueDifferences,
        n_runs: Sequence[int],
        clusters: Ints | None = None,
    ) -> None:
        """Take the number of runs of each system, and the cluster of each query."""
        self._source = source
        self._starts = np.cumsum([0, *n_runs])
        self.n_systems = len(n_runs)
        self.n_pairs = self.n_systems * (self.n_systems - 1) // 2
        self._clusters = None
        if clusters is not None:
            order = np.argsort(clusters, kind="stable")
            self._clusters = order, np.unique(clusters[order], return_index=True)[1]

    def sums(self, first: Floats | None = None) -> Iterator[SummedPairs]:
        """Yield the sums of all pairs, some pairs at a time.

        With first halves, (n_units, n_splits) of 0 and 1, those of the first and second halves.
        """
        n = self.n_systems
        of_pair = self._source.n_queries * int(np.diff(self._starts).max()) ** 2
        block = BLOCK
        if first is not None:
            of_pair = max(of_pair, 16 * first.shape[1])  # of each half there are many sums
            block *= 4
        height = min(block // (max(of_pair, 1) * n) or 1, n)
        width = block // (max(of_pair, 1) * height) or 1
        for top in range(0, n - 1, height):
            baselines = slice(top, min(top + height, n))
            for left in range(top + 1, n, width):
                yield self._block(baselines, slice(left, min(left + width, n)), first)

    def _block(self, baselines: slice, contenders: slice, first: Floats | None) -> SummedPairs:
        """Add up the pairs of some baselines with contenders behind them."""
        a, b = np.mgrid[baselines, contenders]
        chosen = b > a
        systems = np.stack([a[chosen], b[chosen]])
        starts = self._starts
        runs = [slice(starts[some.start], starts[some.stop]) for some in (baselines, contenders)]
        of_systems = [starts[some] - starts[some.start] for some in (baselines, contenders)]
        several = any(
            len(firsts) < run.stop - run.start for firsts, run in zip(of_systems, runs, strict=True)
        )

        def over_runs(values: Floats) -> Floats:
            for axis, firsts in enumerate(of_systems):
                values = np.add.reduceat(values, firsts, axis=axis)
            return values

        sums = {}
        queries = {}
        for name, changes in self._source.changes(*runs).items():
            if several:
                size = np.broadcast_to(changes.size, changes.total.shape)
                changes = _added(over_runs, Changes(changes.total, size))
            number = np.count_nonzero(changes.size, axis=2)
            queries[name] = np.broadcast_to(number, a.shape)[chosen]
            if self._clusters is not None:
                changes = _added(self._over_clusters, changes)
            total, size = (_chosen(values, chosen) for values in changes)
            sums[name] = sums_of(total, size, first)
        numbers = number_of_pair(systems[0], systems[1], self.n_systems)
        return SummedPairs(systems, numbers, queries, sums)

    def _over_clusters(self, values: Floats) -> Floats:
        order, starts = self._clusters or (np.arange(0), np.arange(0))
        return np.add.reduceat(values[..., order], starts, axis=2)


def board_of(evaluation: Evaluation) -> tuple[LengthDifferences, Board]:
    """Return the search lengths of an evaluation, and its systems and clusters."""
    lengths = LengthDifferences(evaluation)
    n_runs = [len(system.runs) for system in evaluation.systems]
    return lengths, Board(lengths, n_runs, clusters_of_answerable(evaluation))


def clusters_of_answerable(evaluation: Evaluation) -> Ints | None:
    """Return the clusters of the answerable queries, where there are clusters."""
    return None if evaluation.clusters is None else evaluation.clusters[evaluation.answerable]


def _added(added: Callable[[Floats], Floats], changes: Changes) -> Changes:
    """Add up differences, with 0 for sums that rounding alone keeps from 0."""
    total = added(changes.total)
    total[np.abs(total) <= ROUNDING * added(np.abs(changes.total))] = 0.0
    return Changes(total, added(changes.size))


def _chosen(values: Floats, chosen: Bools) -> Floats:
    """Return the values of the chosen pairs, or of one for all, by unit."""
    if chosen.all() or values.shape[:2] != chosen.shape:
        return values.reshape(-1, values.shape[2])
    return values[chosen]


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

    def added(values: Any, weights: Any = weights) -> Floats:
        sums: Floats = (values @ weights).astype(np.float64)
        if splits:  # the second halves have what is left
            sums = np.concatenate([sums[:, :-1], sums[:, -1:] - sums[:, :-1]], axis=1)
        return sums

    if size.max(initial=0.0) <= 1:
        # One product, because threads wait for each other at the end of every product.
        ends = np.cumsum([len(size), len(total), len(total), len(total)])
        values = [size, total, total**2, total != 0, total > 0]
        rows, *sums = np.split(added(np.concatenate(values, dtype=total.dtype)), ends)
        each = Sums.of_queries(np.broadcast_to(rows, shape), *sums)
        return Sums(*map(np.ravel, each))
    flat = weights.astype(np.float32)  # exact for counts below 2^24, and four times as fast

    def counted(flags: Bools) -> Floats:
        return added(flags.astype(np.float32), flat)

    differ, better = counted(total != 0), counted(total > 0)
    rows = np.broadcast_to(added(size), shape)
    squares = total**2
    products = size * total
    parts = squares, products, size**2
    weighted = np.zeros((3, *shape))
    largest = np.zeros(shape)
    for value in np.unique(size[size > 0]):
        alike = size == value
        inside = divided(rows, rows - value, rows > value, 0.0) ** 2
        weighted += [inside * added(np.where(alike, values, 0.0)) for values in parts]
        largest[np.broadcast_to(counted(alike) > 0, shape)] = value
    sums_of_units = Sums(
        counted(size > 0),
        rows,
        added(size**2),
        largest,
        added(total),
        added(squares),
        added(products),
        weighted[0],
        weighted[1],
        weighted[2],
        differ,
        better,
    )
    return Sums(*(np.broadcast_to(values, shape).ravel() for values in sums_of_units))
