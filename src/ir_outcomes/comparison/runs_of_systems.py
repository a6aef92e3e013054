"""Several runs of one system in a comparison: what each run shows, and whether a label holds for new runs, too."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ir_outcomes.comparison.facets import AllQueries, Facet
from ir_outcomes.comparison.outcomes import PairedQueries
from ir_outcomes.comparison.verdict import meaning_of
from ir_outcomes.evaluation.replicates import Called
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.statistics import Interval
from ir_outcomes.statistics.new_runs import Side
from ir_outcomes.types import Bools, Floats, divided


class SystemRun(NamedTuple):
    """What one run of a system that has several shows by itself, against all runs of the other system."""

    system: str
    run: str
    coverage: float | None  #: contender minus baseline, in percentage points
    ranking: float | None  #: contender minus baseline, on what both found
    all_queries: float | None  #: contender minus baseline, None where it is not known
    measures: tuple[float, ...]  #: contender minus baseline, of the measures that were asked for


def runs_of_systems(
    systems: Sequence[Called], pair: PairedQueries, asked: Sequence[Scores]
) -> tuple[SystemRun, ...]:
    """Return what each run of a system that has several shows; scores are by row, as `rows_of_measure` returns them."""
    every = np.ones(len(pair.shared), dtype=bool)
    everywhere = np.full(len(every), np.nan)
    if pair.all_queries is not None:
        everywhere = pair.all_queries[1] - pair.all_queries[0]
    changes = [
        (100 * (pair.found_contender - pair.found_baseline), every),
        (pair.length_contender - pair.length_baseline, pair.shared),
        (everywhere, every),
        *((scores.values[1] - scores.values[0], every) for scores in asked),
    ]
    found = []
    several = [system for system in systems if len(system.runs) > 1]
    for system, side in zip(several, pair.sides, strict=True):
        means = np.stack([_means(values, side, counted) for values, counted in changes], axis=1)
        for run, of_run in zip(system.runs, means.tolist(), strict=True):
            parts = (None if math.isnan(mean) else mean for mean in of_run[:3])
            coverage, ranking, all_queries = parts
            measures = tuple(of_run[3:])
            found.append(SystemRun(system.name, run, coverage, ranking, all_queries, measures))
    return tuple(found)


def _means(values: Floats, side: Side, counted: Bools) -> Floats:
    """Return the mean of some values for each run; NaN where it has none."""
    run = side.run[counted]
    sums = np.bincount(run, weights=values[counted], minlength=side.n_runs)
    sizes = np.bincount(run, minlength=side.n_runs)
    return divided(sums, sizes, sizes > 0)


def rows_of_measure(scores: Scores, baseline: Called, contender: Called) -> Scores:
    """Set the values of every run of one system beside those of every run of another, (2, n_rows), as `PairedQueries` does."""
    of_a, of_b = ([scores.runs.index(run) for run in own.runs] for own in (baseline, contender))
    n_pairs = len(of_a) * len(of_b)
    clusters = scores.clusters
    if n_pairs > 1:
        n = scores.values.shape[1]
        clusters = np.tile(np.arange(n) if clusters is None else clusters, n_pairs)
    rows = (
        np.repeat(scores.values[of_a], len(of_b), axis=0),
        np.tile(scores.values[of_b], (len(of_a), 1)),
    )
    return replace(
        scores,
        runs=(baseline.name, contender.name),
        values=np.stack([values.ravel() for values in rows]),
        clusters=clusters,
    )


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
