"""The ranked lists that the page shows for a query: the first documents of each run, and each relevant one further down."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ir_outcomes.errors import IrOutcomesWarning, user_stacklevel
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.ranking import UNJUDGED, RankedDocuments, ranked_documents
from ir_outcomes.reading.runs import as_run

__all__ = ["DEPTH", "Rankings", "rankings_of"]

DEPTH = 20  # documents of each list that are shown


@dataclass(frozen=True, eq=False)
class Rankings:
    """Ranked lists of some runs of an evaluation.

    Attributes
    ----------
    evaluation : Evaluation
        What they belong to.
    runs : tuple of str
        Names of the runs.
    documents : tuple of RankedDocuments
        The first documents of each run.
    """

    evaluation: Evaluation
    runs: tuple[str, ...]
    documents: tuple[RankedDocuments, ...]

    def of_query(self, query: str) -> dict[str, Any]:
        """Describe the lists of a query as plain data.

        Returns
        -------
        dict
            ``ids``: the documents of all lists and the relevant ones, each once; ``grades``: their judged grades by index into
            ``ids``, unjudged ones left out; ``lists``: for each run the indices in the order of the ranking; ``beyond``: for
            each run the index and the rank of each relevant document further down. Relevant documents in neither were not
            returned.
        """
        place = self._place_of_query[query]
        index: dict[str, int] = {}
        grades: dict[str, int] = {}
        lists: list[list[int]] = []
        for ranked in self.documents:
            start, end = ranked.offsets[place : place + 2]
            ids = [identifier.decode() for identifier in ranked.docids[start:end].tolist()]
            lists.append([index.setdefault(identifier, len(index)) for identifier in ids])
            judged = zip(lists[-1], ranked.grades[start:end].tolist(), strict=True)
            grades |= {str(document): grade for document, grade in judged if grade != UNJUDGED}
        relevant = []
        for identifier, grade in self._relevant(query):
            relevant.append(index.setdefault(identifier, len(index)))
            grades[str(relevant[-1])] = grade
        beyond = [
            self._further_down(run, place, relevant, ranked.depth)
            for run, ranked in zip(self.runs, self.documents, strict=True)
        ]
        return {"ids": list(index), "grades": grades, "lists": lists, "beyond": beyond}

    def _further_down(self, run: str, place: int, relevant: list[int], depth: int) -> list[list[int]]:
        """List index and rank of the relevant documents after a depth, in the order of their ranks."""
        if not relevant:
            return []
        lengths = self.evaluation[run]
        ranks = lengths.rank[slice(*lengths.offsets[place : place + 2])].tolist()
        found = [[document, rank] for document, rank in zip(relevant, ranks, strict=True) if rank > depth]
        return sorted(found, key=lambda entry: entry[1])

    def _relevant(self, query: str) -> list[tuple[str, int]]:
        """List the relevant documents of a query with their grades, in the order of the qrels."""
        qrels = self.evaluation.qrels
        if qrels is None:
            return []
        row = self._row_of_query[query]
        start, end = qrels.offsets[row : row + 2]
        chosen = np.flatnonzero(qrels.grades[start:end] >= self.evaluation.rel) + start
        return [(qrels.docids[judgment].decode(), int(qrels.grades[judgment])) for judgment in chosen.tolist()]

    @cached_property
    def _place_of_query(self) -> dict[str, int]:
        return {query: place for place, query in enumerate(self.evaluation.query_ids)}

    @cached_property
    def _row_of_query(self) -> dict[str, int]:
        ids = () if self.evaluation.qrels is None else self.evaluation.qrels.query_ids
        return {query: row for row, query in enumerate(ids)}


def rankings_of(evaluation: Evaluation, runs: Sequence[str]) -> Rankings | None:
    """Take the ranked lists that an evaluation kept, or read the runs again; None where that is not possible.

    Warns
    -----
    IrOutcomesWarning
        If runs are read again.
    """
    names = tuple(runs)
    if evaluation.documents is not None:
        kept = tuple(evaluation.documents[evaluation.position(name)].first(DEPTH) for name in names)
        return Rankings(evaluation, names, kept)
    sources = [evaluation.sources[evaluation.position(name)] if evaluation.sources else None for name in names]
    if (
        evaluation.qrels is None
        or evaluation.query_ids != evaluation.qrels.query_ids
        or any(source is None for source in sources)
    ):
        return None
    warnings.warn(
        f"the ranked lists were not kept, so the runs are read again; pass documents={DEPTH} to evaluate",
        IrOutcomesWarning,
        stacklevel=user_stacklevel(),
    )
    qrels, ties, judged_only = evaluation.qrels, evaluation.ties, evaluation.judged_only
    read = [
        ranked_documents(qrels, as_run(source, name), DEPTH, ties=ties, judged_only=judged_only)
        for source, name in zip(sources, names, strict=True)
    ]
    return Rankings(evaluation, names, tuple(read))
