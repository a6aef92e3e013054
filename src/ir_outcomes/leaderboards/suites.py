"""Boards over collections."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ir_outcomes.choices import Floats, Ints, or_none
from ir_outcomes.errors import InputError, ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import Allow
from ir_outcomes.evaluation.suites import collections_of, notes_on_shared_ids
from ir_outcomes.formatting import listed
from ir_outcomes.leaderboards.board import CollectionOfBoard, RunScore
from ir_outcomes.leaderboards.standings import ScoredSystems, better_by, better_than
from ir_outcomes.notes import as_notes, merged, note
from ir_outcomes.pairs.means import means_over_conditions
from ir_outcomes.pairs.rows import RowsOfPairs
from ir_outcomes.pairs.rules import Rules, Settings
from ir_outcomes.statistics.estimate import Interval


@dataclass(frozen=True, eq=False)
class ScoredCollections:
    """Systems of several collections, whose scores are unweighted means over these."""

    parts: Mapping[str, ScoredSystems]  # by the name of the collection
    groups: Mapping[str, str]
    lacking: Mapping[str, list[str]]  # collections without a system, by its name

    @classmethod
    def of(
        cls,
        evaluations: Mapping[str, Evaluation],
        measures: Any,
        cutoff: int | None,
        allow: Allow,
        groups: Mapping[str, str],
    ) -> Self:
        """Take the scores of the systems that all collections have."""
        collections = collections_of(evaluations, cutoff, groups, several_runs=True)
        systems, lacking = _in_all(collections)
        parts = {}
        for name, evaluation in collections.items():
            try:
                parts[name] = ScoredSystems.of(evaluation[systems], measures, None, allow)
            except (InputError, ParameterError) as error:
                error.args = (f"collection {name}: {error}",)
                raise
        _check_sizes(parts)
        return cls(parts, groups, lacking)

    def in_order(self, order: Ints) -> Self:
        """Return the same with the systems in another order."""
        return replace(
            self, parts={name: part.in_order(order) for name, part in self.parts.items()}
        )

    @property
    def first(self) -> ScoredSystems:
        """The first collection, whose systems, measures and settings all have."""
        return next(iter(self.parts.values()))

    @property
    def _groups(self) -> list[Hashable]:
        """The group of each collection, which may be itself."""
        return [self.groups.get(name, (name,)) for name in self.parts]

    @property
    def weights(self) -> Floats:
        """(collections,) weights in the mean, where groups weigh the same."""
        sizes = Counter(self._groups)
        return np.array([1 / (len(sizes) * sizes[group]) for group in self._groups])

    @property
    def means(self) -> Floats:
        """(measures, systems) means over the collections."""
        of_parts = [part.means for part in self.parts.values()]
        means: Floats = np.tensordot(self.weights, of_parts, axes=1)
        return means

    @property
    def n_queries(self) -> int:
        """Queries with a relevant document."""
        return sum(part.n_queries for part in self.parts.values())

    @property
    def n_unanswerable(self) -> int:
        """Queries that are left out."""
        return sum(part.n_unanswerable for part in self.parts.values())

    def compared(
        self, rules: Rules, *, progress: bool
    ) -> tuple[RowsOfPairs, tuple[CollectionOfBoard, ...]]:
        """Compare all pairs of systems over the collections, and in each."""
        rows, collections = [], []
        for name, part in self.parts.items():
            of_part, _ = part.compared(rules, progress=progress)
            corrected = of_part.corrected(rules.correction, rules.alpha)
            collection = CollectionOfBoard(
                name,
                self.groups.get(name),
                part.n_queries,
                tuple(map(or_none, part.means[0])),
                better_than(part.names, better_by(corrected, part.row)),
            )
            rows.append(of_part)
            collections.append(collection)
        return means_over_conditions(rows, self._groups, rules.alpha), tuple(collections)

    def intervals(self, alpha: float) -> list[Interval | None]:
        """Return the intervals of means over collections (Zou and Donner 2008)."""
        intervals: list[Interval | None] = []
        means = np.stack([part.means[0] for part in self.parts.values()], axis=1)
        of_systems = zip(*(part.intervals(alpha) for part in self.parts.values()), strict=True)
        for values, of_collections in zip(means, of_systems, strict=True):
            if None in of_collections:
                intervals.append(None)
                continue
            distances = self.weights[:, None] * (np.array(of_collections) - values[:, None])
            low, high = np.sqrt((distances**2).sum(axis=0))
            mean = self.weights @ values
            intervals.append(Interval(float(mean - low), float(mean + high)))
        return intervals

    def scores_of_runs(self) -> list[tuple[RunScore, ...]]:
        """Return the mean of each run of systems with several, None where one is lacking."""
        by_system = []
        for of_collections in zip(
            *(part.scores_of_runs() for part in self.parts.values()), strict=True
        ):
            scores = [dict(runs) for runs in of_collections]
            runs = dict.fromkeys(run for of_collection in scores for run in of_collection)
            table = [[of_collection.get(run) for run in runs] for of_collection in scores]
            means = self.weights @ np.array(table, dtype=np.float64)
            by_system.append(tuple(map(RunScore, runs, map(or_none, means))))
        return by_system

    def settings(self, rules: Rules, family: int) -> Settings | None:
        """Return how runs were compared, None of values."""
        settings = self.first.settings(rules, family)
        clusters = [part.evaluation.n_clusters for part in self.parts.values()]
        total = None if None in clusters else sum(number or 0 for number in clusters)
        return settings and replace(settings, n_clusters=total, clusters=None, task=None)

    def notes(self) -> Iterator[str]:
        """Yield notes on the runs of each collection, and on those left out."""
        if self.lacking:
            missing = [
                f"{system}, which {some(names, 3)} lacks" for system, names in self.lacking.items()
            ]
            yield note("lacking", f"{'; '.join(missing)}.", [*self.lacking])
        yield from merged([(name, as_notes(part.notes())) for name, part in self.parts.items()])
        yield from notes_on_shared_ids({name: part.evaluation for name, part in self.parts.items()})


def _in_all(evaluations: Mapping[str, Evaluation]) -> tuple[list[str], dict[str, list[str]]]:
    """Return the systems of all collections, and which collections lack others."""
    members = {name: evaluation.systems for name, evaluation in evaluations.items()}
    lacking = {
        system: [name for name, present in members.items() if system not in present]
        for system in dict.fromkeys(name for present in members.values() for name in present)
    }
    systems = [system for system, collections in lacking.items() if not collections]
    lacking = {system: collections for system, collections in lacking.items() if collections}
    if len(systems) < 2:
        without = listed([f"{system} ({some(names, 3)})" for system, names in lacking.items()][:10])
        raise ParameterError(
            "a board needs at least two systems that all collections have; leave out collections"
            f" that lack some: {without or 'there is one system only'}"
        )
    return systems, lacking


def _check_sizes(parts: Mapping[str, ScoredSystems]) -> None:
    """Refuse collections in which no pair can be estimated."""
    for name, part in parts.items():
        scores = part.scores[0]
        units = scores.query_ids if scores.clusters is None else np.unique(scores.clusters)
        if len(units) < 2:
            raise ParameterError(
                f"collection {name} has fewer than two queries or clusters; leave it out"
            )
