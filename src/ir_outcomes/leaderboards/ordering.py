"""What orders the runs of a leaderboard: the values of a measure or of a facet, and the order of their means."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import isnan
from typing import Any

import numpy as np

from ir_outcomes.comparison.outcomes import pair_queries
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import (
    notes_on_clusters,
    notes_on_copies,
    notes_on_documents,
    notes_on_grades,
    notes_on_listing,
    notes_on_ties,
)
from ir_outcomes.evaluation.scores import Scores, parse_measure, reciprocal_ranks
from ir_outcomes.evaluation.systems import Called, refuse_several_runs
from ir_outcomes.statistics.counts import linearized_sums, shared_ranks
from ir_outcomes.types import Floats, Ints, check_kind, check_one_order


def check_number_of_runs(source: Evaluation | Scores, *, several_runs: bool = False) -> None:
    """Refuse what is neither an evaluation nor scores, has fewer than two runs, or several of a system where one is taken."""
    check_kind(
        "source",
        source,
        (Evaluation, Scores),
        "what ir_outcomes.evaluate or ir_outcomes.scores_from_outputs returns",
    )
    if isinstance(source, Evaluation) and source.replicates and not several_runs:
        refuse_several_runs(source.replicates)
    if len(systems_of(source)) < 2:
        what = "run" if len(source.runs) == 1 else "system"
        raise ParameterError(f"there is only one {what}; at least two are needed")


def systems_of(source: Evaluation | Scores) -> list[Called]:
    """Return the systems with the names of their runs; of scores, each run is a system."""
    if isinstance(source, Evaluation):
        return [system.called for system in source.systems]
    return [Called(run, (run,)) for run in source.runs]


def evaluation_to_judge(
    source: Evaluation | Scores, cutoff: int | None, *, several_runs: bool = False
) -> Evaluation | None:
    """Return the evaluation at this cutoff; None for scores, which have no verdicts."""
    check_number_of_runs(source, several_runs=several_runs)
    if isinstance(source, Scores):
        if cutoff is not None:
            raise ParameterError(
                "cutoff is a setting of the verdicts, and scores have no verdicts; evaluate the"
                " runs instead"
            )
        return None
    check_one_order(source.ties)
    return source if cutoff is None else source.with_cutoff(cutoff)


FACETS: dict[str, Callable[[Any], Floats]] = {  # what there is beside the measures of ir_measures
    "coverage": lambda own: 100 * own.found_baseline,
    "ranking": lambda own: own.length_baseline,
    "all queries": lambda own: own.restricted.baseline,
}


def scores_of(source: Evaluation | Scores, measure: Any = None) -> Scores:
    """Return the values of a measure or facet; by default the reciprocal rank at the evaluation's cutoff, over all queries."""
    if isinstance(source, Scores):
        if measure is not None and str(measure) != source.measure:
            raise ParameterError(f"these scores are of {source.measure}", measure=str(measure))
        return source
    if isinstance(measure, str) and measure in FACETS:
        return _facet_scores(source, measure)
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


def board_horizon(source: Evaluation) -> int:
    """Return k of the restricted search length: one for all runs, or a short list would count little where it misses most."""
    deepest = max(run.depth for run in source.runs)
    return min(source.cutoff, deepest)


def _facet_scores(source: Evaluation, facet: str) -> Scores:
    """Return what each run has by itself in a facet."""
    horizon = board_horizon(source)
    values = []
    # One at a time, because what is known of the queries of a run takes half a MB.
    for run in source.runs:
        within = run.at(source.cutoff)
        own = pair_queries(within, within, source.unit, horizon)
        values.append(FACETS[facet](own))
    return Scores(
        facet, facet == "coverage", source.names, own.query_ids, np.stack(values), own.clusters
    )


def values_of(source: Evaluation | Scores, measures: Sequence[Any] | str | None) -> list[Scores]:
    """Return the values of each measure; of the default one where none is named."""
    named: list[Any] = (
        [measures] if measures is None or isinstance(measures, str) else list(measures)
    )
    if not named:
        raise ParameterError("there is no measure; name at least one, or leave measures out")
    values = [scores_of(source, name) for name in named]
    called = [scores.measure for scores in values]
    if repeated := [measure for measure in called if called.count(measure) > 1]:
        raise ParameterError(f"{repeated[0]} is named twice; name each measure once")
    return values


def means_of_systems(scores: Scores, systems: Sequence[Called]) -> Scores:
    """Return the values of each system, which are the means over its runs."""
    values = [
        _mean_of_runs(scores.values[[scores.runs.index(run) for run in system.runs]])
        for system in systems
    ]
    names = tuple(system.name for system in systems)
    return replace(scores, runs=names, values=np.stack(values))


def _mean_of_runs(values: Floats) -> Floats:
    """(n_queries,) mean of (n_runs, n_queries) values; where some are undefined, such that the mean is that of all values."""
    known = ~np.isnan(values)
    means: Floats = values.mean(axis=0)
    if known.all():
        return means
    sizes = known.sum(axis=0)
    any_known = sizes > 0
    means[~any_known] = np.nan
    if any_known.any():
        sums = np.where(known, values, 0.0).sum(axis=0)
        means[any_known] = linearized_sums(sums[any_known], sizes[any_known].astype(np.float64))
    return means


def order_of(scores: Scores) -> tuple[Ints, Ints]:
    """Return the rank of each run by its mean, from 1, and the places of the runs, best first; an undefined mean is last."""
    means = scores.means()
    if not scores.higher_is_better:
        means = -means
    ranks = shared_ranks(means[None])[0]
    return ranks, np.lexsort((np.array(scores.runs), ranks))


def defined(values: Floats) -> list[float | None]:
    """Return numbers as results hold them: None where there is none."""
    return [None if isnan(value) else value for value in values.tolist()]


def notes_on_source(source: Evaluation | Scores) -> tuple[str, ...]:
    """Say which runs lack queries or have others, how much ties decide, and whether queries may come in clusters."""
    if isinstance(source, Scores):
        return ()
    return (
        *notes_on_documents(source.runs),
        *notes_on_copies(source.runs),
        *notes_on_grades(source.qrels, source.rel),
        *notes_on_clusters(source.runs[0]),
        *notes_on_listing(source.runs),
        *notes_on_ties(source.runs),
    )
