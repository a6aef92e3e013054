"""What the page holds of each run: its ranks of what is relevant, and ranked lists with judgments and texts of documents."""

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.errors import FormatError, warn
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.ranking import UNJUDGED, RankedDocuments, ranked_documents
from ir_outcomes.reading.datasets import as_run
from ir_outcomes.reading.files import lines_of
from ir_outcomes.reading.formats import texts_in
from ir_outcomes.types import Unit


class RankColumns(NamedTuple):
    """Where runs rank what is relevant to some queries."""

    sizes: list[int] | None  # relevant documents of each query; None where each query has one rank
    # For each run: by query of the first relevant document, by document of each; 0 where not found.
    ranks: list[list[int]]
    depths: list[int]  # the longest list of each run

    def changes(self) -> list[float]:
        """Return for each query how much its search lengths differ between the runs."""
        ranks = np.array(self.ranks)
        ranks[ranks == 0] = max(self.depths) + 1
        if self.sizes:
            starts = np.cumsum([0, *self.sizes[:-1]])
            ranks = np.add.reduceat(ranks, starts, axis=1) / np.array(self.sizes)
        spread: list[float] = np.ptp(ranks, axis=0).tolist()
        return spread


def rank_columns(
    evaluation: Evaluation, runs: list[str], unit: Unit, cutoff: int | None
) -> RankColumns:
    """Return the ranks within a cutoff for the answerable queries, in their order."""
    within = [evaluation[run].at(cutoff) for run in runs]
    answerable = evaluation.answerable
    depths = [run.depth for run in within]
    if unit == "query":
        first = [np.nan_to_num(run.esl()[answerable]) for run in within]
        return RankColumns(None, [column.astype(int).tolist() for column in first], depths)
    sizes = evaluation[0].relevant[answerable].tolist()
    return RankColumns(sizes, [run.rank.tolist() for run in within], depths)


DEPTH = 20  # documents of each list that are shown
LENGTH = 600  # characters of a document that are shown
_ID_FIELDS = ("doc_id", "docno", "docid", "_id", "id")

Texts = Mapping[str, str] | str | os.PathLike[str] | None


class RankedLists(NamedTuple):
    """What the runs returned for one query."""

    ids: list[str]  # of the documents in any list, and of the relevant ones, each once
    grades: dict[str, int]  # judged grades by index into the ids
    lists: list[list[int]]  # for each run the indices in its order
    # For each run index and rank of the relevant documents further down.
    beyond: list[list[tuple[int, int]]]


def lists_of(
    evaluation: Evaluation, runs: Sequence[str], queries: Sequence[str]
) -> Callable[[int], RankedLists] | None:
    """Return what describes the ranked lists of a query, by its place; None where they are not known.

    The relevant documents further down are in it, too.
    """
    documents = _documents_of(evaluation, runs)
    qrels = evaluation.qrels
    if not documents:
        return None
    place_of = {query: place for place, query in enumerate(evaluation.query_ids)}
    row_of = {query: row for row, query in enumerate(qrels.query_ids if qrels else ())}
    lengths = [evaluation[run] for run in runs]

    def of_query(number: int) -> RankedLists:
        query = queries[number]
        place = place_of[query]
        index: dict[str, int] = {}
        grades: dict[str, int] = {}
        lists: list[list[int]] = []
        for ranked in documents:
            start, end = ranked.offsets[place : place + 2]
            lists.append(
                [
                    index.setdefault(name.decode(), len(index))
                    for name in ranked.docids[start:end].tolist()
                ]
            )
            judged = zip(lists[-1], ranked.grades[start:end].tolist(), strict=True)
            grades |= {str(document): grade for document, grade in judged if grade != UNJUDGED}
        relevant = []
        if qrels is not None:
            start, end = qrels.offsets[row_of[query] : row_of[query] + 2]
            for judgment in (
                np.flatnonzero(qrels.grades[start:end] >= evaluation.rel) + start
            ).tolist():
                relevant.append(index.setdefault(qrels.docids[judgment].decode(), len(index)))
                grades[str(relevant[-1])] = int(qrels.grades[judgment])
        beyond = []
        for run, ranked in zip(lengths, documents, strict=True):
            ranks = []
            if relevant:
                ranks = run.rank[slice(*run.offsets[place : place + 2])].tolist()
            further = [
                (document, rank)
                for document, rank in zip(relevant, ranks, strict=True)
                if rank > ranked.depth
            ]
            beyond.append(sorted(further, key=itemgetter(1)))
        return RankedLists(list(index), grades, lists, beyond)

    return of_query


def _documents_of(evaluation: Evaluation, runs: Sequence[str]) -> list[RankedDocuments]:
    """Take the ranked lists that an evaluation kept, or read the runs again; none where that is not possible."""
    places = [evaluation.position(name) for name in runs]
    if evaluation.documents:
        return [evaluation.documents[place].first(DEPTH) for place in places]
    qrels = evaluation.qrels
    ties = evaluation.ties
    judged_only = evaluation.judged_only
    sources = [evaluation.sources[place] if evaluation.sources else None for place in places]
    if (
        qrels is None
        or evaluation.query_ids != qrels.query_ids
        or any(source is None for source in sources)
    ):
        return []
    warn(
        f"the ranked lists were not kept, so the runs are read again; pass `documents={DEPTH}` to"
        " evaluate"
    )
    return [
        ranked_documents(qrels, as_run(source, name), DEPTH, ties=ties, judged_only=judged_only)
        for source, name in zip(sources, runs, strict=True)
    ]


def texts_of_documents(
    documents: Texts, wanted: Collection[str], collection: str
) -> dict[str, str]:
    """Return the first words of documents, by their ids; those that are not known are left out."""
    found: Mapping[str, str]
    if documents is None:
        found = _of_dataset(collection, wanted)
    elif isinstance(documents, Mapping):
        found = documents
    else:
        # The source may be a run or qrels that holds texts.
        found = texts_in(documents).documents or _of_file(documents, wanted)
    return {
        identifier: _first_words(found[identifier])
        for identifier in wanted
        if found.get(identifier)
    }


def _of_file(path: str | os.PathLike[str], wanted: Collection[str]) -> dict[str, str]:
    """Read titles and texts of documents from JSON lines."""
    found = {}
    for number, line in lines_of(path):
        if not line.strip():
            continue
        try:
            document = json.loads(line)
            identifier = next(
                str(document[name]) for name in _ID_FIELDS if type(document.get(name)) in (str, int)
            )
        except (ValueError, RecursionError, AttributeError, StopIteration):
            problem = (
                'is not a document; each line must be JSON such as {"doc_id": "d1", "title": "...",'
                ' "text": "..."}'
            )
            raise FormatError(os.fsdecode(path), problem, line=number, text=line) from None
        if identifier in wanted:
            parts = (document.get(name) for name in ("title", "text"))
            found[identifier] = ". ".join(
                part.strip() for part in parts if isinstance(part, str) and part.strip()
            )
    return found


def _of_dataset(collection: str, wanted: Collection[str]) -> dict[str, str]:
    """Read documents of an ir_datasets id, if its documents and their index are on this machine."""
    import ir_datasets

    dataset: Any = ir_datasets.load(collection) if collection in ir_datasets.registry else None
    store: Any = dataset.docs_store() if dataset is not None and dataset.has_docs() else None
    if not (hasattr(store, "built") and store.built()):
        return {}
    return {
        identifier: (
            document.default_text()
            if hasattr(document, "default_text")
            else " ".join(map(str, document[1:]))
        )
        for identifier, document in store.get_many(list(wanted)).items()
    }


def _first_words(text: str) -> str:
    """Shorten a text to whole words."""
    words = " ".join(text[: 4 * LENGTH].split())
    if len(words) <= LENGTH:
        return words
    return f"{words[: LENGTH - 2].rpartition(' ')[0] or words[: LENGTH - 2]} \u2026"
