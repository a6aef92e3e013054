"""What orders the runs of a board: values of a measure or row, and their means."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ir_outcomes.arguments import check_one_order
from ir_outcomes.choices import Floats, Ints
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation, evaluation_of
from ir_outcomes.evaluation.named_measures import parse_measure
from ir_outcomes.evaluation.remarks import (
    Allow,
    notes_on_runs,
    refuse_stops,
)
from ir_outcomes.evaluation.scores import Scores, reciprocal_ranks
from ir_outcomes.evaluation.systems import Systems
from ir_outcomes.files import with_progress
from ir_outcomes.pairs.differences import BlockOfPairs, Measurements
from ir_outcomes.pairs.measurements import measurements_of
from ir_outcomes.pairs.verdict import DECIDING
from ir_outcomes.statistics.resampling import shared_ranks


def with_several_systems(
    source: Evaluation, cutoff: int | None = None, *, several_runs: bool = False
) -> Evaluation:
    """Return an evaluation of two or more systems at this cutoff."""
    evaluation = evaluation_of(source, cutoff=cutoff, several_runs=several_runs, values=True)
    if len(evaluation.systems) < 2:
        noun = "run" if len(evaluation.names) == 1 else "system"
        raise ParameterError(f"there is only one {noun}; at least two are needed")
    return evaluation


def evaluation_to_judge(
    source: Evaluation, cutoff: int | None, allow: Allow, *, several_runs: bool = False
) -> Evaluation:
    """Return an evaluation at this cutoff, if nothing stops it."""
    evaluation = with_several_systems(source, cutoff, several_runs=several_runs)
    check_one_order(evaluation.ties)
    refuse_stops(evaluation.runs, allow)
    return evaluation


def scores_of(source: Evaluation, measure: Any = None) -> Scores:
    """Return the values of a measure or row, by default the reciprocal rank."""
    if source.values is not None:
        return source.scores_of(measure)
    if isinstance(measure, str) and measure in DECIDING:
        return _scores_of_row(source, measure)
    parsed = None if measure is None else parse_measure(measure)
    if parsed is not None and parsed.NAME != "RR":
        return source.scores_of(parsed)
    # Runs that were given as search lengths may have a smaller cutoff.
    cutoffs = [
        source.cutoff if parsed is None else parsed.params.get("cutoff"),
        *(run.cutoff for run in source.runs),
    ]
    named = reciprocal_ranks(
        source.runs, min((cutoff for cutoff in cutoffs if cutoff is not None), default=None)
    )
    if parsed is not None and named.measure != str(parsed):  # another order among equal scores
        return source.scores_of(parsed)
    # As ir_measures averages it: over all queries, 0 without a relevant document.
    values = np.zeros((len(source), len(source.query_ids)))
    values[:, source.answerable] = named.values
    return replace(named, query_ids=source.query_ids, values=values, clusters=source.clusters)


def _scores_of_row(source: Evaluation, row: str) -> Scores:
    """Return what each run has by itself in a row."""
    measurements = measurements_of(source)
    quantity = measurements.quantities[row]
    values = measurements.levels.get(row)
    if values is None:
        values = measurements.items[row].means()
    clusters = measurements.clusters
    return Scores(
        row,
        quantity.higher_is_better,
        tuple(run for runs in source.systems.values() for run in runs),
        measurements.query_ids,
        values,
        None if clusters is None else clusters.codes,
    )


def values_of(source: Evaluation, measures: Sequence[Any] | str | None) -> list[Scores]:
    """Return the values of each measure, or of the default one."""
    named: list[Any] = (
        [measures] if measures is None or isinstance(measures, str) else list(measures)
    )
    if not named:
        raise ParameterError("there is no measure; name at least one, or leave measures out")
    values = [scores_of(source, name) for name in named]
    names = [scores.measure for scores in values]
    if repeated := [measure for measure in names if names.count(measure) > 1]:
        raise ParameterError(f"{repeated[0]} is named twice; name each measure once")
    return values


def means_of_systems(scores: Scores, systems: Systems) -> Scores:
    """Return the values of each system, the means over its runs."""
    values = [
        _mean_of_runs(scores.values[[scores.runs.index(run) for run in runs]])
        for runs in systems.values()
    ]
    return replace(scores, runs=tuple(systems), values=np.stack(values))


def _mean_of_runs(values: Floats) -> Floats:
    """Return values by query whose mean is that of all defined values of the runs."""
    sizes = (~np.isnan(values)).sum(axis=0)
    means: Floats = values[0]
    if len(values) == 1 or not sizes.any():
        return means
    sums = np.nan_to_num(values).sum(axis=0)
    mean = sums.sum() / sizes.sum()
    size = sizes.sum() / np.count_nonzero(sizes)
    return np.where(sizes > 0, mean + (sums - sizes * mean) / size, np.nan)


def blocks_of_pairs(
    measurements: Measurements,
    names: tuple[str, ...],
    halves: Floats | None = None,
    *,
    shown: bool,
) -> Iterator[BlockOfPairs]:
    """Yield all pairs of systems, with a progress bar where it is to be shown."""
    blocks = measurements.board(names, halves)
    n_pairs = measurements.n_pairs
    return with_progress(
        blocks, "pair", n_pairs, shown=shown, size=lambda block: block.systems.shape[1]
    )


def order_of(means: Floats, higher_is_better: bool) -> tuple[Ints, Ints]:
    """Return ranks by the mean, and the runs in this order."""
    ranks = shared_ranks((means if higher_is_better else -means)[None])[0]
    return ranks, np.argsort(ranks, kind="stable")


def notes_on_source(source: Evaluation) -> tuple[str, ...]:
    """Return what a reader of any analysis of these runs should know."""
    if source.values is not None:
        return tuple(source.values.notes_on_output())
    return tuple(notes_on_runs(source.runs, source.qrels))
