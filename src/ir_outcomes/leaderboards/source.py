"""What the analyses of many runs start from: an evaluation, or the values that another tool computed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.notes import notes_on_listing
from ir_outcomes.evaluation.scores import Scores, reciprocal_ranks
from ir_outcomes.reading.measure_names import parse_measure

__all__ = ["check_number_of_runs", "notes_on_source", "reciprocal_ranks_of_all_queries", "scores_of"]


def check_number_of_runs(source: Evaluation | Scores) -> None:
    """Refuse what is neither an evaluation nor scores, or has fewer than two runs."""
    if not isinstance(source, (Evaluation, Scores)):
        raise ParameterError(
            f"the runs are a {type(source).__name__}; pass what ir_outcomes.evaluate or ir_outcomes.scores_from_outputs returns"
        )
    if len(source.runs) < 2:
        raise ParameterError("there is only one run; at least two are needed")


def scores_of(source: Evaluation | Scores, measure: Any = None) -> Scores:
    """Return the values of a measure; by default the reciprocal rank of the whole lists over all queries.

    Raises
    ------
    ParameterError
        If scores are of another measure, or an evaluation cannot provide the measure.
    """
    if isinstance(source, Scores):
        if measure is not None and str(measure) != source.measure:
            raise ParameterError(f"measure={str(measure)!r}: these scores are of {source.measure}")
        return source
    if measure is None:
        return reciprocal_ranks_of_all_queries(source)
    parsed = parse_measure(measure)
    if parsed.NAME == "RR":  # search lengths have it already, if the order among equal scores is the one that it uses
        reciprocal = reciprocal_ranks_of_all_queries(source, parsed.params.get("cutoff"))
        if reciprocal.measure == str(parsed):
            return reciprocal
    return source.scores_of(parsed)


def reciprocal_ranks_of_all_queries(evaluation: Evaluation, cutoff: int | None = None) -> Scores:
    """Return the reciprocal rank as ir_measures averages it: over all queries, 0 without a relevant document.

    Parameters
    ----------
    evaluation : Evaluation
        The runs.
    cutoff : int, optional
        By default the whole lists; of runs that were given as search lengths, the smallest cutoff that they were computed at.
    """
    cutoffs = [limit for limit in (cutoff, *(run.cutoff for run in evaluation.runs)) if limit is not None]
    named = reciprocal_ranks(evaluation.runs, min(cutoffs, default=None))
    values = np.zeros((len(evaluation), len(evaluation.query_ids)))
    values[:, evaluation.answerable] = named.values
    return replace(named, query_ids=evaluation.query_ids, values=values)


def notes_on_source(source: Evaluation | Scores) -> tuple[str, ...]:
    """Say which runs lack queries of the qrels, or have others."""
    return tuple(notes_on_listing(source.runs)) if isinstance(source, Evaluation) else ()
