"""Ranked lists with judgments, and texts of documents, as the page shows them for each query."""

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from operator import itemgetter
from typing import Any

import numpy as np

from ir_outcomes.errors import FormatError, warn
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.ranking import UNJUDGED, RankedDocuments, ranked_documents
from ir_outcomes.reading.datasets import as_run
from ir_outcomes.reading.files import lines_of
from ir_outcomes.reading.formats import texts_in

DEPTH = 20  # documents of each list that are shown
LENGTH = 600  # characters of a document that are shown
ID_FIELDS = ("doc_id", "docno", "docid", "_id", "id")
EXAMPLE = '{"doc_id": "d1", "title": "...", "text": "..."}'

Texts = Mapping[str, str] | str | os.PathLike[str] | None
Entry = dict[str, Any]


def entries_of(evaluation: Evaluation, runs: Sequence[str]) -> Callable[[str], Entry] | None:
    """Return what describes the ranked lists of a query, None where they are not known."""
    ranked = _documents_of(evaluation, runs)
    qrels = evaluation.qrels
    if not ranked or qrels is None:
        return None
    rows = {query: row for row, query in enumerate(evaluation.query_ids)}
    judged = {query: row for row, query in enumerate(qrels.query_ids)}

    def entry_of(query: str) -> Entry:
        row = rows[query]
        index: dict[str, int] = {}
        grades: dict[int, int] = {}
        lists = []
        for documents in ranked:
            rows_of_list = slice(*documents.offsets[row : row + 2])
            names = [name.decode() for name in documents.docids[rows_of_list].tolist()]
            lists.append([index.setdefault(name, len(index)) for name in names])
            found = zip(lists[-1], documents.grades[rows_of_list].tolist(), strict=True)
            grades |= {number: grade for number, grade in found if grade != UNJUDGED}
        judgments = slice(*qrels.offsets[judged[query] : judged[query] + 2])
        relevant = []
        for name, grade in zip(
            qrels.docids[judgments].tolist(), qrels.grades[judgments].tolist(), strict=True
        ):
            if grade >= evaluation.rel:
                relevant.append(index.setdefault(name.decode(), len(index)))
                grades[relevant[-1]] = grade
        further = []
        for run, documents in zip(runs, ranked, strict=True):
            lengths = evaluation[run]
            ranks = lengths.rank[slice(*lengths.offsets[row : row + 2])].tolist()
            pairs = [pair for pair in zip(relevant, ranks, strict=True) if pair[1] > documents.depth]
            further.append(sorted(pairs, key=itemgetter(1)))
        judgments_of_ids = [grades.get(number) for number in range(len(index))]
        return {"ids": list(index), "grades": judgments_of_ids, "lists": lists, "further": further}

    return entry_of


def _documents_of(evaluation: Evaluation, runs: Sequence[str]) -> list[RankedDocuments]:
    """Take the ranked lists that an evaluation kept, or read the runs again."""
    positions = [evaluation.position(name) for name in runs]
    if evaluation.documents:
        return [evaluation.documents[position].first(DEPTH) for position in positions]
    qrels = evaluation.qrels
    sources = [evaluation.sources[position] for position in positions if evaluation.sources]
    if qrels is None or evaluation.query_ids != qrels.query_ids or None in sources or not sources:
        return []
    warn(
        f"the ranked lists were not kept, so the runs are read again; pass `documents={DEPTH}` to"
        " evaluate"
    )
    rules: Any = {"ties": evaluation.ties, "judged_only": evaluation.judged_only}
    return [
        ranked_documents(qrels, as_run(source, name), DEPTH, **rules)
        for source, name in zip(sources, runs, strict=True)
    ]


def document_texts(docs: Texts, wanted: Collection[str], collection: str) -> dict[str, str]:
    """Return the first words of documents by id, those of the dataset by default."""
    texts: Mapping[str, str]
    if docs is None:
        texts = _of_dataset(collection, wanted)
    elif isinstance(docs, Mapping):
        texts = docs
    else:
        # A run or qrels may hold texts, too.
        texts = texts_in(docs).documents or _of_file(docs, wanted)
    return {name: _first_words(texts[name]) for name in wanted if texts.get(name)}


def _of_file(path: str | os.PathLike[str], wanted: Collection[str]) -> dict[str, str]:
    texts = {}
    for number, line in lines_of(path):
        if not line.strip():
            continue
        try:
            document = json.loads(line)
            values = (document.get(field) for field in ID_FIELDS)
            name = next(str(value) for value in values if type(value) in (str, int))
        except (ValueError, RecursionError, AttributeError, StopIteration):
            problem = f"is not a document; each line must be JSON such as {EXAMPLE}"
            raise FormatError(os.fsdecode(path), problem, line=number, text=line) from None
        if name in wanted:
            parts = [document.get(field) for field in ("title", "text")]
            texts[name] = ". ".join(part.strip() for part in parts if isinstance(part, str))
    return texts


def _of_dataset(collection: str, wanted: Collection[str]) -> dict[str, str]:
    """Read documents of an ir_datasets id, if they and their index are on this machine."""
    import ir_datasets

    dataset: Any = ir_datasets.load(collection) if collection in ir_datasets.registry else None
    store: Any = dataset.docs_store() if dataset is not None and dataset.has_docs() else None
    if not (hasattr(store, "built") and store.built()):
        return {}
    return {
        name: " ".join(map(str, document[1:])) for name, document in store.get_many(wanted).items()
    }


def _first_words(text: str) -> str:
    words = " ".join(text[: 4 * LENGTH].split())
    if len(words) <= LENGTH:
        return words
    return f"{words[: LENGTH - 2].rpartition(' ')[0] or words[: LENGTH - 2]} \N{HORIZONTAL ELLIPSIS}"
