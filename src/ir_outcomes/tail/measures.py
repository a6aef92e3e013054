"""The measures that the tail is looked at with, from the search lengths of every relevant document."""

from __future__ import annotations

from collections.abc import Callable
from itertools import compress

import numpy as np
import numpy.typing as npt
from ir_measures import AP, P

from ir_outcomes._types import Missing
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.measures.definitions import ASL
from ir_outcomes.tail.depth import AtDepth

__all__ = ["average_precision", "document_precisions", "precision_at", "top_and_all"]

Floats = npt.NDArray[np.float64]

TOP = 20


def top_and_all(runs: AtDepth, missing: Missing) -> list[Scores]:
    """Compute P@20, ASL@g1-10, AP and ASL of the answerable queries; where the runs are less deep than 20, precision there.

    References
    ----------
    Alex et al. 2022, Table 1.
    """
    first, cutoff = runs.tables[0], runs.cutoff
    settings = {"rel": runs.rel, "ties": first.ties}
    given = {name: value for name, value in settings.items() if value != ASL.SUPPORTED_PARAMS[name].default}
    grade = {"rel": runs.rel} if "rel" in given else {}
    depth = {} if cutoff is None else {"cutoff": cutoff}
    top = TOP if cutoff is None else min(TOP, cutoff)
    measures: list[tuple[object, bool, Callable[[SearchLengths], Floats]]] = [
        (P(**grade) @ top, True, lambda table: precision_at(table, top)),
        (ASL(first=10, missing=missing, **given, **depth), False, lambda table: table.asl(first=10, missing=missing)),
        (AP(**grade, **depth), True, average_precision),
        (ASL(missing=missing, **given, **depth), False, lambda table: table.asl(missing=missing)),
    ]
    names = tuple(table.name for table in runs.tables)
    chosen = first.answerable
    ids = tuple(compress(first.query_ids, chosen.tolist()))
    return [
        Scores(str(measure), rising, names, ids, np.stack([values(table)[chosen] for table in runs.tables]))
        for measure, rising, values in measures
    ]


def precision_at(lengths: SearchLengths, cutoff: int) -> Floats:
    """Share of relevant documents among the first `cutoff`.

    Returns
    -------
    (n_queries,) float array
        Between 0 and 1, higher is better.
    """
    found = lengths.query[(lengths.rank > 0) & (lengths.rank <= cutoff)]
    shares: Floats = np.bincount(found, minlength=len(lengths.query_ids)) / cutoff
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
        Between 0 and 1, higher is better.

    References
    ----------
    Alex et al. 2022, equation 6.
    """
    found = lengths.rank > 0
    relevant_upto = lengths.rank - lengths.irrelevant_above
    precisions: Floats = np.divide(relevant_upto, lengths.rank, out=np.zeros(len(found)), where=found)
    return precisions
