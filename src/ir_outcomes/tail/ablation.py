"""The steps from average precision to atomized search length, one change of the definition at a time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ir_outcomes._types import Floats, Missing
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.tail.measures import answerable_scores, average_precision

__all__ = ["STEPS", "ablation"]

STEPS = ("atomize P", "harmonic within queries", "harmonic across queries")


def ablation(runs: Sequence[SearchLengths], missing: Missing) -> list[Scores]:
    """Compute the measures on the way from AP to ASL.

    Returns
    -------
    list of Scores
        "AP"; "atomized P", the mean within a query of 1 / ASL of each document; "harmonic P", 1 / ASL of each query, which is
        the harmonic instead of the arithmetic mean within it; "ASL", of which 1 / mean is the harmonic mean across queries.

    Raises
    ------
    ParameterError
        Under ``ties="expected"``.

    References
    ----------
    Alex et al. 2022, section 4.4: "Atomize P", "Aggregate docs within query", "Aggregate rates across queries".
    """
    if runs[0].ties == "expected":
        raise ParameterError(
            "ties='expected': the steps from AP to ASL average 1 / ASL, and the reciprocal of an expected search length is not "
            "the expected reciprocal; evaluate with ties='trec', or name measures="
        )
    lengths = [run.document_lengths(missing) for run in runs]
    values = {
        "AP": [average_precision(run) for run in runs],
        "atomized P": [_means(run, 1 / of_run) for run, of_run in zip(runs, lengths, strict=True)],
        "harmonic P": [1 / _means(run, of_run) for run, of_run in zip(runs, lengths, strict=True)],
        "ASL": [_means(run, of_run) for run, of_run in zip(runs, lengths, strict=True)],
    }
    return [answerable_scores(measure, measure != "ASL", runs, of_runs) for measure, of_runs in values.items()]


def _means(run: SearchLengths, values: Floats) -> Floats:
    """Average values of documents within each query; NaN for an unanswerable query."""
    totals = np.bincount(run.query, weights=values, minlength=len(run.query_ids))
    means: Floats = np.divide(totals, run.relevant, out=np.full(len(totals), np.nan), where=run.answerable)
    return means
