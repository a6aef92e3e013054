"""The data of the page: its comparisons, and their queries with ranked lists and texts, as many as the size allows."""

import json
import os
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from operator import itemgetter
from typing import Any

import numpy as np

from ir_outcomes.comparison.compare import build, measured_pair
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.errors import FormatError, ParameterError, escaped, some, warn
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.ranking import UNJUDGED, RankedDocuments, ranked_documents
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.reading.datasets import as_run
from ir_outcomes.reading.files import lines_of
from ir_outcomes.reading.formats import texts_in
from ir_outcomes.results import Result
from ir_outcomes.showing import tone
from ir_outcomes.showing.charts import Section, changes_of, sections_of

DEPTH = 20  # documents of each list that are shown
LENGTH = 280  # characters of a document that are shown
SHARE_OF_COLUMNS = 0.6  # of the space, which further comparisons leave for ranked lists
MOST_RUNS = 30  # of a leaderboard: all pairs are compared for the queries of some
TOP_RUNS = 10  # whose pairs show their queries
_ID_FIELDS = ("doc_id", "docno", "docid", "_id", "id")

Texts = Mapping[str, str] | str | os.PathLike[str] | None
Evaluations = Evaluation | Mapping[str, Evaluation] | None
Data = dict[str, Any]  # what becomes JSON


def with_evaluations(result: Result, evaluation: Evaluations) -> list[Section]:
    """List the comparisons of the page, each with what it was made from; those of a leaderboard are made now."""
    found = _pairs_of(result, evaluation) if isinstance(result, Leaderboard) else sections_of(result)
    return [section._replace(evaluation=_evaluation_of(section, evaluation)) for section in found]


def _pairs_of(result: Leaderboard, evaluation: Evaluations) -> list[Section]:
    """Compare the runs at the top with each other, corrected over all pairs as their labels are."""
    names = [standing.run for standing in result.standings]
    if not isinstance(evaluation, Evaluation) or result.settings is None or len(names) > MOST_RUNS:
        return []
    pairs = sorted(combinations(range(len(names)), 2), key=itemgetter(1))  # those of the first k runs come first
    runs = evaluation[names]
    measured = [measured_pair(evaluation, runs[high], runs[low], result.settings) for high, low in pairs]
    wanted = min(len(names), TOP_RUNS)
    return [Section(item) for item in build(measured, result.settings, wanted=wanted * (wanted - 1) // 2)]


def _evaluation_of(section: Section, evaluation: Evaluations) -> Evaluation | None:
    """Return the evaluation that a comparison was made from; None where it was not given."""
    if isinstance(evaluation, Mapping):
        if section.condition not in evaluation:
            raise ParameterError(
                f"evaluation lacks {section.condition!r}; give a mapping with the names of the result, of which it has "
                f"{some(list(evaluation), 10)}"
            )
        evaluation = evaluation[section.condition]
    if evaluation is not None:
        for run in (section.comparison.baseline, section.comparison.contender):
            evaluation.position(run)
        known = set(evaluation.query_ids)
        missing = [query.query_id for query in section.comparison.queries or () if query.query_id not in known]
        if missing:
            raise ParameterError(f"evaluation lacks the query {some(missing)}; give the one that the result was made from")
    return evaluation


@dataclass(eq=False)
class QuerySet:
    """Queries that one or several comparisons share: their data without ranked lists, and these."""

    evaluation: Evaluation | None
    data: Data
    changes: list[float]  # of each query, the largest of any comparison
    lists: Sequence[Data] = ()
    documents: Mapping[str, str] = field(default_factory=dict)


def query_sets(
    sections: Sequence[Section], texts: Mapping[str, str], labels: Mapping[str, str], docs: Texts
) -> tuple[list[QuerySet], list[tuple[Section, int]]]:
    """Return the queries that comparisons share, and each comparison that has queries with the number of its set."""
    sets: dict[Any, QuerySet] = {}
    numbered = []
    for section in sections:
        comparison, evaluation = section.comparison, section.evaluation
        if comparison.queries is None:
            continue
        key = id(evaluation), tuple(query.query_id for query in comparison.queries)
        if key not in sets:
            known = {**(evaluation.texts if evaluation else {}), **texts}
            words = [query.text or known.get(query.query_id) for query in comparison.queries]
            relevant = dict(zip(evaluation.query_ids, evaluation.runs[0].relevant.tolist(), strict=True)) if evaluation else {}
            data = {
                "ids": key[1],
                "texts": words if any(words) else None,
                "slices": [labels.get(query) for query in key[1]] if labels else None,
                "relevant": [relevant[query] for query in key[1]] if relevant else None,
                "runs": [],
            }
            sets[key] = QuerySet(evaluation, data, [0.0] * len(words))
        own = sets[key]
        own.changes = [max(size, abs(change or 0.0)) for size, change in zip(own.changes, _changes(comparison), strict=True)]
        own.data["runs"] += [run for run in (comparison.baseline, comparison.contender) if run not in own.data["runs"]]
        numbered.append((section, list(sets).index(key)))
    for own in sets.values():
        if own.evaluation is not None:
            own.lists = lists_of(own.evaluation, own.data["runs"], own.data["ids"])
            wanted = {identifier for entry in own.lists for identifier in entry["ids"]}
            own.documents = texts_of_documents(docs, wanted, own.evaluation.collection) if wanted else {}
    return list(sets.values()), numbered


def embed(sets: Sequence[QuerySet], numbered: Sequence[tuple[Section, int]], space: int) -> tuple[Data, int]:
    """Choose what the page holds: the first comparison, further ones, then ranked lists of the queries that change most.

    Return what the template takes, and the space left for ranked lists, which is negative where even the rest is too large.
    """
    parts = [json_for_html(own.data) for own in sets]
    rankings = [["null"] * len(own.lists) for own in sets]
    documents: list[dict[str, str]] = [{} for _ in sets]
    left = space - sum(map(_size, parts)) - sum(5 * len(own) + 40 for own in rankings) - 60  # names, null, and punctuation
    comparisons: list[str] = []
    for section, number in numbered:
        text = json_for_html(_data_of(section, number))
        if comparisons and left - _size(text) < (1 - SHARE_OF_COLUMNS) * space:
            break
        comparisons.append(text)
        left -= _size(text) + 1
    order = [
        (-change, number, place) for number, own in enumerate(sets) for place, change in enumerate(own.changes) if own.lists
    ]
    n, after = 0, left
    for _, number, place in sorted(order):
        entry, known = sets[number].lists[place], sets[number].documents
        new = {name: known[name] for name in entry["ids"] if name in known and name not in documents[number]}
        text = json_for_html(entry)
        after -= _size(text) - len("null") + _size(json_for_html(new))
        if after < 0:
            break
        rankings[number][place] = text
        documents[number] |= new
        n += 1
    shown = [
        f'{part[:-1]},"rankings":{_listed(lists) if lists else "null"},"documents":{json_for_html(texts)}}}'
        for part, lists, texts in zip(parts, rankings, documents, strict=True)
    ]
    data = f'{{"depth":{DEPTH},"comparisons":{_listed(comparisons)},"sets":{_listed(shown)}}}'
    titles = [section.title for section, _ in numbered[: len(comparisons)]]
    return {"titles": titles, "n": n, "total": len(order), "data": data}, left


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


def _listed(items: Sequence[str]) -> str:
    return f"[{','.join(items)}]"


def _size(text: str) -> int:
    return len(text.encode())


def lists_of(evaluation: Evaluation, runs: Sequence[str], queries: Sequence[str]) -> list[Data]:
    """Describe the ranked lists of each query, the relevant documents further down too; none where they are not known."""
    # ids: the documents of all lists and the relevant ones, each once; grades: judged grades by index into them; lists: for
    # each run the indices in its order; beyond: for each run index and rank of the relevant documents further down.
    documents, qrels = _documents_of(evaluation, runs), evaluation.qrels
    if not documents:
        return []
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


def _documents_of(evaluation: Evaluation, runs: Sequence[str]) -> list[RankedDocuments]:
    """Take the ranked lists that an evaluation kept, or read the runs again; none where that is not possible."""
    places = [evaluation.position(name) for name in runs]
    if evaluation.documents:
        return [evaluation.documents[place].first(DEPTH) for place in places]
    qrels, ties, judged_only = evaluation.qrels, evaluation.ties, evaluation.judged_only
    sources = [evaluation.sources[place] if evaluation.sources else None for place in places]
    if qrels is None or evaluation.query_ids != qrels.query_ids or any(source is None for source in sources):
        return []
    warn(f"the ranked lists were not kept, so the runs are read again; pass `documents={DEPTH}` to evaluate")
    return [
        ranked_documents(qrels, as_run(source, name), DEPTH, ties=ties, judged_only=judged_only)
        for source, name in zip(sources, runs, strict=True)
    ]


def texts_of_documents(documents: Texts, wanted: Collection[str], collection: str) -> dict[str, str]:
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
    return {
        identifier: document.default_text() if hasattr(document, "default_text") else " ".join(map(str, document[1:]))
        for identifier, document in store.get_many(list(wanted)).items()
    }


def _first_words(text: str) -> str:
    """Shorten a text to whole words."""
    words = " ".join(text[: 4 * LENGTH].split())
    return words if len(words) <= LENGTH else f"{words[: LENGTH - 2].rpartition(' ')[0] or words[: LENGTH - 2]} \u2026"
