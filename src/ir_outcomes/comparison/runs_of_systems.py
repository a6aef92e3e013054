"""Several runs of one system in a comparison: what each run shows, and whether a label holds for new runs, too."""

import math
from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

import numpy as np

from ir_outcomes.comparison.facets import AllQueries, Facet
from ir_outcomes.comparison.outcomes import PairedQueries
from ir_outcomes.comparison.verdict import meaning_of
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.systems import Called
from ir_outcomes.statistics import Interval
from ir_outcomes.statistics.new_runs import Changes


class SystemRun(NamedTuple):
    """What one run of a system that has several shows by itself, against all runs of the other system."""

    system: str
    run: str
    coverage: float | None  #: contender minus baseline, in percentage points
    ranking: float | None  #: contender minus baseline, on what both found
    all_queries: float | None  #: contender minus baseline, None where it is not known
    measures: tuple[float, ...]  #: contender minus baseline, of the measures that were asked for


class AskedMeasure(NamedTuple):
    """Values of a measure, of the runs of a baseline and of a contender."""

    measure: str
    higher_is_better: bool
    changes: Changes


def measure_of_runs(scores: Scores, baseline: Called, contender: Called) -> AskedMeasure:
    """Add up the values of a measure over the pairs of runs of two systems, where both have one."""
    of_a, of_b = ([scores.runs.index(run) for run in own.runs] for own in (baseline, contender))
    changes = Changes((len(of_a), len(of_b)), scores.values.shape[1])
    for (place, a), (other, b) in product(enumerate(of_a), enumerate(of_b)):
        values = scores.values[[a, b]]
        changes.add((place, other), values, ~np.any(np.isnan(values), axis=0))
    return AskedMeasure(scores.measure, scores.higher_is_better, changes)


def runs_of_systems(pair: PairedQueries, asked: Sequence[AskedMeasure]) -> tuple[SystemRun, ...]:
    """Return what each run of a system that has several shows."""
    if pair.pairs is None:
        return ()
    facets = (pair.pairs.coverage, pair.pairs.ranking, pair.pairs.everywhere)
    changes = (*facets, *(own.changes for own in asked))
    of_sides = zip(*(own.means_of_runs() for own in changes), strict=True)
    several = [system for system in pair.pairs.systems if len(system.runs) > 1]
    found = []
    for system, means in zip(several, of_sides, strict=True):
        for run, of_run in zip(system.runs, np.stack(means, axis=1).tolist(), strict=True):
            coverage, ranking, all_queries = (
                None if math.isnan(mean) else mean for mean in of_run[:3]
            )
            if coverage is not None:
                coverage *= 100
            if pair.all_queries is None:
                all_queries = None
            measures = tuple(of_run[3:])
            found.append(SystemRun(system.name, run, coverage, ranking, all_queries, measures))
    return tuple(found)


def holds_for_new_runs(label: str, parts: Sequence[Facet | AllQueries | None]) -> bool | None:
    """Return whether the intervals for new runs of what carries a label (facets, all queries) exclude 0 on its side."""
    meaning = meaning_of(label)
    if meaning.direction == "none":
        return None
    coverage, ranking, all_queries = parts
    carrying = {
        "both": (coverage, ranking),
        "coverage": (coverage, all_queries),
        "ranking": (ranking, all_queries),
        "all queries": (all_queries,),
    }
    held = []
    for part in carrying[meaning.by]:
        if part is None or part.new_runs is None:
            return None
        is_better = meaning.direction == "better"
        held.append(_excludes(part.new_runs, above=is_better == part.higher_is_better))
    return all(held)


def _excludes(interval: Interval, *, above: bool) -> bool:
    """Return whether an interval lies above 0, or below it."""
    return interval.low > 0 if above else interval.high < 0
