"""The data of the page: the queries of each comparison with ranked lists and texts, as many as the size allows."""

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np

from ir_outcomes.comparison.result import Comparison
from ir_outcomes.errors import FormatError, escaped, warn
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.ranking import UNJUDGED, RankedDocuments, ranked_documents
from ir_outcomes.reading.files import lines_of
from ir_outcomes.reading.formats import texts_in
from ir_outcomes.reading.runs import as_run
from ir_outcomes.showing import tone
from ir_outcomes.showing.charts import changes_of
from ir_outcomes.showing.report.sections import Section

DEPTH = 20  # documents of each list that are shown
LENGTH = 280  # characters of a document that are shown
SHARE_OF_COLUMNS = 0.6  # of the space, which further comparisons leave for ranked lists
_ID_FIELDS = ("doc_id", "docno", "docid", "_id", "id")

Documents = Mapping[str, str] | str | os.PathLike[str] | None
Data = dict[str, Any]  # what becomes JSON


@dataclass(eq=False)
class QuerySet:
    """Queries that one or several comparisons share: their data without ranked lists, and these."""

    evaluation: Evaluation | None
    data: Data
    changes: list[float]  # of each query, the largest of any comparison
    lists: list[Data] | None = None
    documents: Mapping[str, str] = field(default_factory=dict)


@dataclass
class Embedded:
    """What the page holds: data of comparisons and of their queries; how many lists of how many are among it."""

    comparisons: list[Data]
    sets: list[Data]
    n: int = 0
    total: int = 0


def query_sets(
    sections: Sequence[Section], texts: Mapping[str, str], labels: Mapping[str, str], docs: Documents
) -> tuple[list[QuerySet], list[int | None]]:
    """Find the comparisons that share their queries; return the sets, and the number of each comparison's."""
    sets: dict[Any, QuerySet] = {}
    keys: list[Any] = []
    for comparison, evaluation in ((section.comparison, section.evaluation) for section in sections):
        if comparison.queries is None:
            keys.append(None)
            continue
        ids = tuple(query.query_id for query in comparison.queries)
        keys.append((id(evaluation), ids))
        sizes = [abs(change or 0.0) for change in _changes(comparison)]
        if keys[-1] not in sets:
            known = {**(evaluation.texts if evaluation else {}), **texts}
            words = [query.text or known.get(query.query_id) for query in comparison.queries]
            sets[keys[-1]] = QuerySet(evaluation, _data_of_queries(ids, words, evaluation, labels), sizes)
        own = sets[keys[-1]]
        own.changes = [*map(max, own.changes, sizes)]
        own.data["runs"] += [run for run in (comparison.baseline, comparison.contender) if run not in own.data["runs"]]
    for own in sets.values():
        if own.evaluation is not None:
            own.lists = lists_of(own.evaluation, own.data["runs"], own.data["ids"])
            wanted = {identifier for entry in own.lists or () for identifier in entry["ids"]}
            own.documents = texts_of_documents(docs, wanted, own.evaluation.collection) if wanted else {}
    places = {key: place for place, key in enumerate(sets)}
    return list(sets.values()), [places.get(key) for key in keys]


def _data_of_queries(
    ids: Sequence[str], texts: Sequence[str | None], evaluation: Evaluation | None, labels: Mapping[str, str]
) -> Data:
    relevant = dict(zip(evaluation.query_ids, evaluation.runs[0].relevant.tolist(), strict=True)) if evaluation else {}
    return {
        "ids": list(ids),
        "texts": list(texts) if any(texts) else None,
        "slices": [labels.get(query) for query in ids] if labels else None,
        "relevant": [relevant[query] for query in ids] if relevant else None,
        "runs": [],
    }


def embed(sections: Sequence[Section], sets: Sequence[QuerySet], set_of: Sequence[int | None], budget: int) -> Embedded:
    """Choose what the page holds: the first comparison, further ones, then ranked lists of the queries that change most."""
    shown = Embedded([], [{**own.data, "rankings": own.lists and [None] * len(own.lists), "documents": {}} for own in sets])
    space = budget - sum(map(_size, shown.sets))
    for section, number in zip(sections, set_of, strict=True):
        if number is not None:
            entry = _data_of(section, number)
            space -= _size(entry)
            if shown.comparisons and space < (1 - SHARE_OF_COLUMNS) * budget:
                break
            shown.comparisons.append(entry)
    order = [
        (-change, number, place, entry)
        for number, own in enumerate(sets)
        for place, (change, entry) in enumerate(zip(own.changes, own.lists or (), strict=own.lists is not None))
    ]
    shown.total = len(order)
    for _, number, place, entry in sorted(order, key=itemgetter(0, 1, 2)):
        known, taken = sets[number].documents, shown.sets[number]["documents"]
        new = {name: known[name] for name in entry["ids"] if name in known and name not in taken}
        space -= _size(entry) + _size(new)
        if space < 0:
            break
        shown.sets[number]["rankings"][place] = entry
        taken |= new
        shown.n += 1
    return shown


def _data_of(section: Section, number: int) -> Data:
    """Return what the script shows of a comparison, its queries by column."""
    comparison, changes = section.comparison, changes_of(section.comparison)
    queries = comparison.per_query()
    found = [[_short(query.found_baseline), _short(query.found_contender)] for query in queries]
    return {
        "title": section.title,
        "set": number,
        "baseline": comparison.baseline,
        "contender": comparison.contender,
        "label": section.label,
        "tone": tone(section.label),
        "unit": comparison.unit,
        "cutoff": comparison.cutoff,
        "horizon": comparison.restricted and comparison.restricted.horizon,
        "rel": comparison.rel,
        "measure": comparison.ranking.measured_in,
        "bins": list(zip(changes.names, changes.tones, strict=True)),
        "bin": changes.bins,
        "by_share": changes.by_share,
        "a": [_short(query.baseline) for query in queries],
        "b": [_short(query.contender) for query in queries],
        "change": [_short(change) for change in _changes(comparison)],
        "found": None if comparison.unit == "query" else found,
    }


def _changes(comparison: Comparison) -> list[float | None]:
    """Return the change of each query, of the restricted search length where there is one."""
    return [query.difference if query.restricted is None else query.restricted for query in comparison.per_query()]


def _short(value: float | None) -> float | None:
    """Round to more digits than are shown; whole numbers need no fraction."""
    return value if value is None else int(value) if value == int(value) else round(value, 4)


def _visible(value: Any) -> Any:
    """Escape control characters in all text of plain data."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, dict):
        return {escaped(key): _visible(item) for key, item in value.items()}
    return [_visible(item) for item in value] if isinstance(value, (list, tuple)) else value


def json_for_html(value: Any) -> str:
    """Write JSON that can stand inside of a script element of HTML, whatever its text says."""
    text = json.dumps(_visible(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _size(value: Any) -> int:
    return len(json_for_html(value).encode())


def lists_of(evaluation: Evaluation, runs: Sequence[str], queries: Sequence[str]) -> list[Data] | None:
    """Describe the ranked lists of each query, the relevant documents further down too; None where they are not known."""
    # ids: the documents of all lists and the relevant ones, each once; grades: judged grades by index into them; lists: for
    # each run the indices in its order; beyond: for each run index and rank of the relevant documents further down.
    documents, qrels = _documents_of(evaluation, runs), evaluation.qrels
    if documents is None:
        return None
    place_of = {query: place for place, query in enumerate(evaluation.query_ids)}
    row_of = {query: row for row, query in enumerate(qrels.query_ids if qrels else ())}
    lengths = [evaluation[run] for run in runs]

    def of_query(query: str) -> Data:
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
        if qrels is not None:
            start, end = qrels.offsets[row_of[query] : row_of[query] + 2]
            for judgment in (np.flatnonzero(qrels.grades[start:end] >= evaluation.rel) + start).tolist():
                relevant.append(index.setdefault(qrels.docids[judgment].decode(), len(index)))
                grades[str(relevant[-1])] = int(qrels.grades[judgment])
        beyond = []
        for run, ranked in zip(lengths, documents, strict=True):
            ranks = run.rank[slice(*run.offsets[place : place + 2])].tolist() if relevant else []
            further = [[document, rank] for document, rank in zip(relevant, ranks, strict=True) if rank > ranked.depth]
            beyond.append(sorted(further, key=itemgetter(1)))
        return {"ids": list(index), "grades": grades, "lists": lists, "beyond": beyond}

    return [of_query(query) for query in queries]


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


def texts_of_documents(documents: Documents, wanted: Collection[str], collection: str) -> dict[str, str]:
    """Return the first words of documents, by their ids; those that are not known are left out."""
    found: Mapping[str, str]
    if documents is None:
        found = _of_dataset(collection, wanted)
    elif isinstance(documents, Mapping):
        found = documents
    else:
        found = texts_in(documents).documents or _of_file(documents, wanted)  # of a run or qrels that has them
    return {identifier: _first_words(found[identifier]) for identifier in wanted if found.get(identifier)}


def _of_file(path: str | os.PathLike[str], wanted: Collection[str]) -> dict[str, str]:
    """Read titles and texts of documents from JSON lines."""
    found = {}
    for number, line in lines_of(path):
        if not line.strip():
            continue
        try:
            document = json.loads(line)
            identifier = next(str(document[name]) for name in _ID_FIELDS if type(document.get(name)) in (str, int))
        except (ValueError, RecursionError, AttributeError, StopIteration):
            problem = 'is not a document; each line must be JSON such as {"doc_id": "d1", "title": "...", "text": "..."}'
            raise FormatError(os.fsdecode(path), problem, line=number, text=line) from None
        if identifier in wanted:
            parts = (document.get(name) for name in ("title", "text"))
            found[identifier] = ". ".join(part.strip() for part in parts if isinstance(part, str) and part.strip())
    return found


def _of_dataset(collection: str, wanted: Collection[str]) -> dict[str, str]:
    """Read documents of an ir_datasets id, if its documents and their index are on this machine."""
    import ir_datasets

    dataset: Any = ir_datasets.load(collection) if collection in ir_datasets.registry else None
    store: Any = dataset.docs_store() if dataset is not None and dataset.has_docs() else None
    if not (hasattr(store, "built") and store.built()):
        return {}
    return {identifier: _text_of_entry(document) for identifier, document in store.get_many(list(wanted)).items()}


def _text_of_entry(document: Any) -> str:
    """Return what a document of ir_datasets says, whatever its fields are called."""
    if hasattr(document, "default_text"):
        return str(document.default_text())
    return " ".join(value for name, value in document._asdict().items() if name != "doc_id" and isinstance(value, str))


def _first_words(text: str) -> str:
    """Shorten a text to whole words."""
    words = " ".join(text[: 4 * LENGTH].split())
    return words if len(words) <= LENGTH else f"{words[: LENGTH - 2].rpartition(' ')[0] or words[: LENGTH - 2]} \u2026"
