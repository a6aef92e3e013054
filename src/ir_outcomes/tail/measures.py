"""Measures of all relevant documents, computed from their search lengths."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np
from ir_measures import AP, P

from ir_outcomes._types import Floats, Missing
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.measures.definitions import ASL
from ir_outcomes.tail.depth import RunsAtDepth, TailSettings

__all__ = [
    "STEPS",
    "ablation",
    "average_precision",
    "document_lengths",
    "document_precisions",
    "precision_at",
    "top_and_all",
]

STEPS = ("atomize P", "harmonic within queries", "harmonic across queries")  # from AP to ASL, in `ablation`
PRECISION_DEPTH = 20
ASL_FIRST = 10


def top_and_all(found: RunsAtDepth) -> list[Scores]:
    """Compute P@20, ASL@g1-10, AP and ASL of the answerable queries; for runs less deep than 20, precision at their depth.

    References
    ----------
    Alex et al. 2022, Table 1.
    """
    runs, settings = found.runs, found.settings
    missing = settings.missing
    depth = PRECISION_DEPTH if settings.cutoff is None else min(PRECISION_DEPTH, settings.cutoff)
    return [
        _scores(_precision_name(P, depth, settings), True, runs, [precision_at(run, depth) for run in runs]),
        _scores(_asl_name(settings, first=ASL_FIRST), False, runs, [run.asl(ASL_FIRST, missing) for run in runs]),
        _scores(_precision_name(AP, settings.cutoff, settings), True, runs, [average_precision(run) for run in runs]),
        _scores(_asl_name(settings), False, runs, [run.asl(missing=missing) for run in runs]),
    ]


def _scores(measure: str, higher_is_better: bool, runs: Sequence[SearchLengths], values: Sequence[Floats]) -> Scores:
    """Make scores of the answerable queries from values of all queries, an (n_queries,) array for each run."""
    answerable = runs[0].answerable
    ids = tuple(compress(runs[0].query_ids, answerable.tolist()))
    return Scores(measure, higher_is_better, tuple(run.name for run in runs), ids, np.stack(values)[:, answerable])


def ablation(runs: Sequence[SearchLengths], missing: Missing) -> list[Scores]:
    """Compute the measures on the way from AP to ASL, one change of the definition at a time.

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
    lengths = [_means(run, run.document_lengths(missing)) for run in runs]
    values = {
        "AP": [average_precision(run) for run in runs],
        "atomized P": [_means(run, 1 / run.document_lengths(missing)) for run in runs],
        "harmonic P": [1 / of_run for of_run in lengths],
        "ASL": lengths,
    }
    return [_scores(measure, measure != "ASL", runs, of_runs) for measure, of_runs in values.items()]


def _precision_name(measure: Any, cutoff: int | None, settings: TailSettings) -> str:
    """Name a precision as ir_measures does where the values are those of ir_measures; name what differs elsewhere."""
    different = _different(measure, rel=settings.rel, judged_only=settings.judged_only)
    named = measure(**different) if different else measure
    named = named if cutoff is None else named @ cutoff
    return f"{named}" if settings.ties == "trec" else f"{named}, ties {settings.ties}"


def _asl_name(settings: TailSettings, **first: int) -> str:
    different = _different(ASL, rel=settings.rel, ties=settings.ties, judged_only=settings.judged_only)
    depth = {} if settings.cutoff is None else {"cutoff": settings.cutoff}
    return str(ASL(missing=settings.missing, **first, **different, **depth))


def _different(measure: Any, **settings: Any) -> dict[str, Any]:
    return {name: value for name, value in settings.items() if value != measure.SUPPORTED_PARAMS[name].default}


def _means(run: SearchLengths, values: Floats) -> Floats:
    """Average values of documents within each query; NaN for an unanswerable query."""
    totals = np.bincount(run.query, weights=values, minlength=len(run.query_ids))
    means: Floats = np.divide(totals, run.relevant, out=np.full(len(totals), np.nan), where=run.answerable)
    return means


def document_lengths(lengths: SearchLengths, missing: Missing) -> Floats:
    """Search length of each relevant document; in a tie level under ``ties="expected"``, its own expectation.

    `SearchLengths.document_lengths` gives the documents of a tie level the expectations of the first, the second and so on,
    whichever they are. Their mean is the same.

    Returns
    -------
    (n_atoms,) float array
        Ranks, lower is better.
    """
    by_place = lengths.document_lengths(missing)
    return by_place if lengths.ties != "expected" else np.where(lengths.rank > 0, lengths.atoms(), by_place)


def precision_at(lengths: SearchLengths, cutoff: int) -> Floats:
    """Share of relevant documents among the first `cutoff`.

    Returns
    -------
    (n_queries,) float array
        Between 0 and 1, higher is better. Under ``ties="expected"`` the expectation.
    """
    size = lengths.level_relevant + lengths.level_irrelevant
    chance_within = np.clip((cutoff - (lengths.rank - 1)) / size, 0.0, 1.0)  # of a document of a tie level of this size
    chances = np.where(lengths.rank > 0, chance_within, 0.0)
    shares: Floats = np.bincount(lengths.query, weights=chances, minlength=len(lengths.query_ids)) / cutoff
    return shares


def average_precision(lengths: SearchLengths) -> Floats:
    """Mean of `document_precisions` over a query's relevant documents.

    Returns
    -------
    (n_queries,) float array
        Between 0 and 1, higher is better; 0 for an unanswerable query.
    """
    totals = np.bincount(lengths.query, weights=document_precisions(lengths), minlength=len(lengths.query_ids))
    means: Floats = totals / np.maximum(lengths.relevant, 1)
    return means


def document_precisions(lengths: SearchLengths) -> Floats:
    """Precision at each relevant document, which AP averages; 0 where it is not found.

    Returns
    -------
    (n_atoms,) float array
        Between 0 and 1, higher is better. Under ``ties="expected"`` the expectation.

    References
    ----------
    Alex et al. 2022, equation 6. For tied documents: McSherry and Najork 2008, "Computing information retrieval performance
    measures efficiently in the presence of tied scores", section 2.4.
    """
    found = lengths.rank > 0
    before = lengths.rank[found] - 1  # documents above the tie level
    relevant_before = before - lengths.irrelevant_above[found]
    relevant = lengths.level_relevant[found]
    size = relevant + lengths.level_irrelevant[found]
    # A relevant document is at each place i = 1 .. size of its level with the same chance. Above it are, besides the relevant
    # documents before the level, (i - 1) (relevant - 1) / (size - 1) of the level in expectation.
    harmonic = np.concatenate([[0.0], np.cumsum(1 / np.arange(1, (before + size).max(initial=0) + 1))])
    reciprocals = harmonic[before + size] - harmonic[before]  # sum of 1 / (before + i)
    density = np.divide(relevant - 1, size - 1, out=np.zeros(len(size)), where=size > 1)
    expected = ((relevant_before + 1) * reciprocals + density * (size - (before + 1) * reciprocals)) / size
    precisions = np.zeros(len(found))
    # The difference of two sums would be off in the last digits where there is no tie.
    precisions[found] = np.where(size > 1, expected, (relevant_before + 1) / (before + 1))
    return precisions
