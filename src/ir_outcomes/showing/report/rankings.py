"""The ranked lists that the page shows for a query: the first documents of each run, and each relevant one further down."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from ir_outcomes.errors import warn
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.ranking import UNJUDGED, RankedDocuments, ranked_documents
from ir_outcomes.reading.runs import as_run

DEPTH = 20  # documents of each list that are shown


def lists_of(evaluation: Evaluation, runs: Sequence[str], queries: Sequence[str]) -> list[dict[str, Any]] | None:
    """Describe the ranked lists of each query as plain data; None where they are not known."""
    # ids: the documents of all lists and the relevant ones, each once; grades: judged grades by index into them; lists: for
    # each run the indices in its order; beyond: for each run index and rank of the relevant documents further down.
    documents = _documents_of(evaluation, runs)
    if documents is None:
        return None
    place_of = {query: place for place, query in enumerate(evaluation.query_ids)}
    row_of = {query: row for row, query in enumerate(evaluation.qrels.query_ids if evaluation.qrels else ())}
    lengths = [evaluation[run] for run in runs]

    def of_query(query: str) -> dict[str, Any]:
        place = place_of[query]
        index: dict[str, int] = {}
        grades: dict[str, int] = {}
        lists: list[list[int]] = []
        for ranked in documents:
            start, end = ranked.offsets[place : place + 2]
            lists.append([index.setdefault(name.decode(), len(index)) for name in ranked.docids[start:end].tolist()])
            judged = zip(lists[-1], ranked.grades[start:end].tolist(), strict=True)
            grades |= {str(document): grade for document, grade in judged if grade != UNJUDGED}
        relevant = []
        for name, grade in _relevant(evaluation, row_of[query]) if row_of else ():
            relevant.append(index.setdefault(name, len(index)))
            grades[str(relevant[-1])] = grade
        beyond = []
        for run, ranked in zip(lengths, documents, strict=True):
            ranks = run.rank[slice(*run.offsets[place : place + 2])].tolist() if relevant else []
            further = [[document, rank] for document, rank in zip(relevant, ranks, strict=True) if rank > ranked.depth]
            beyond.append(sorted(further, key=itemgetter(1)))
        return {"ids": list(index), "grades": grades, "lists": lists, "beyond": beyond}

    return [of_query(query) for query in queries]


def _relevant(evaluation: Evaluation, row: int) -> list[tuple[str, int]]:
    """List the relevant documents of a row of the qrels with their grades."""
    qrels = evaluation.qrels
    if qrels is None:
        return []
    start, end = qrels.offsets[row : row + 2]
    chosen = np.flatnonzero(qrels.grades[start:end] >= evaluation.rel) + start
    return [(qrels.docids[judgment].decode(), int(qrels.grades[judgment])) for judgment in chosen.tolist()]


def _documents_of(evaluation: Evaluation, runs: Sequence[str]) -> list[RankedDocuments] | None:
    """Take the ranked lists that an evaluation kept, or read the runs again; None where that is not possible."""
    places = [evaluation.position(name) for name in runs]
    if evaluation.documents:
        return [evaluation.documents[place].first(DEPTH) for place in places]
    qrels, ties, judged_only = evaluation.qrels, evaluation.ties, evaluation.judged_only
    sources = [evaluation.sources[place] if evaluation.sources else None for place in places]
    if qrels is None or evaluation.query_ids != qrels.query_ids or any(source is None for source in sources):
        return None
    warn(f"the ranked lists were not kept, so the runs are read again; pass documents={DEPTH} to evaluate")
    return [
        ranked_documents(qrels, as_run(source, name), DEPTH, ties=ties, judged_only=judged_only)
        for source, name in zip(sources, runs, strict=True)
    ]
