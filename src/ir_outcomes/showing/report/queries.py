"""The data of the page: the queries of each comparison and their ranked lists, as many as the size allows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from ir_outcomes.comparison.result import Comparison
from ir_outcomes.errors import escaped
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.showing.charts import changes_of
from ir_outcomes.showing.report.rankings import lists_of
from ir_outcomes.showing.report.sections import Section
from ir_outcomes.showing.report.texts import Documents, texts_of_documents
from ir_outcomes.showing.words import tone

SHARE_OF_COLUMNS = 0.6  # of the space, which further comparisons leave for ranked lists

Lists = list[dict[str, Any]]  # ranked lists of each query


@dataclass(eq=False)
class QuerySet:
    """Queries that one or several comparisons share, with the ranked lists and texts that are known."""

    ids: tuple[str, ...]
    texts: tuple[str | None, ...]
    evaluation: Evaluation | None
    runs: list[str] = field(default_factory=list)
    changes: list[float] = field(default_factory=list)
    lists: Lists | None = None
    documents: Mapping[str, str] = field(default_factory=dict)

    def add(self, comparison: Comparison) -> None:
        """Take another comparison of the same queries."""
        self.runs += [run for run in (comparison.baseline, comparison.contender) if run not in self.runs]
        sizes = [abs(change or 0.0) for change in _changes(comparison)]
        self.changes = [max(pair) for pair in zip(self.changes, sizes, strict=True)] if self.changes else sizes

    def find_lists(self, docs: Documents) -> None:
        """Take the ranked lists of each query, and the texts of their documents, as far as they are known."""
        self.lists = None if self.evaluation is None else lists_of(self.evaluation, self.runs, self.ids)
        if self.evaluation is not None and self.lists is not None:
            wanted = {identifier for entry in self.lists for identifier in entry["ids"]}
            self.documents = texts_of_documents(docs, wanted, self.evaluation.collection)

    def relevant(self) -> list[int] | None:
        """Return the number of relevant documents of each query, where it is known."""
        if self.evaluation is None:
            return None
        number = dict(zip(self.evaluation.query_ids, self.evaluation.runs[0].relevant.tolist(), strict=True))
        return [number[query] for query in self.ids]


@dataclass
class Embedded:
    """What the page holds: data of comparisons and of their queries; how many lists of how many are among it."""

    comparisons: list[dict[str, Any]]
    sets: list[dict[str, Any]]
    n: int = 0
    total: int = 0


def query_sets(
    sections: Sequence[Section], evaluations: Sequence[Evaluation | None], texts: Mapping[str, str]
) -> tuple[list[QuerySet], list[int | None]]:
    """Find the comparisons that share their queries; return the sets, and the number of each comparison's."""
    place: dict[Any, int] = {}
    sets: list[QuerySet] = []
    set_of: list[int | None] = []
    for section, evaluation in zip(sections, evaluations, strict=True):
        queries = section.comparison.queries
        if queries is None:
            set_of.append(None)
            continue
        ids = tuple(query.query_id for query in queries)
        key = id(evaluation), ids
        if key not in place:
            place[key] = len(sets)
            known = {**(evaluation.texts if evaluation else {}), **texts}
            own = tuple(query.text or known.get(query.query_id) for query in queries)
            sets.append(QuerySet(ids, own, evaluation))
        sets[place[key]].add(section.comparison)
        set_of.append(place[key])
    return sets, set_of


def embed(
    sections: Sequence[Section],
    sets: Sequence[QuerySet],
    set_of: Sequence[int | None],
    labels: Mapping[str, str],
    budget: int,
) -> Embedded:
    """Choose what the page holds: the first comparison, further ones, then ranked lists of the queries that change most."""
    shown = Embedded([], [_without_lists(own, labels) for own in sets])
    size = sum(map(_size, shown.sets))
    for section, number in zip(sections, set_of, strict=True):
        if number is not None:
            entry = _data_of(section, number)
            size += _size(entry)
            if shown.comparisons and size > budget * SHARE_OF_COLUMNS:
                break
            shown.comparisons.append(entry)
    _add_lists(shown, sets, budget - size)
    return shown


def _add_lists(shown: Embedded, sets: Sequence[QuerySet], space: int) -> None:
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
            return
        shown.sets[number]["rankings"][place] = entry
        taken |= new
        shown.n += 1


def _without_lists(own: QuerySet, labels: Mapping[str, str]) -> dict[str, Any]:
    return {
        "ids": list(own.ids),
        "texts": list(own.texts) if any(own.texts) else None,
        "slices": [labels.get(query) for query in own.ids] if labels else None,
        "relevant": own.relevant(),
        "runs": own.runs,
        "rankings": None if own.lists is None else [None] * len(own.ids),
        "documents": {},
    }


def _data_of(section: Section, number: int) -> dict[str, Any]:
    """Return what the script shows of a comparison, its queries by column."""
    comparison = section.comparison
    changes = changes_of(comparison)
    queries = comparison.per_query()
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
        "bins": [list(bin_) for bin_ in zip(changes.names, changes.tones, strict=True)],
        "bin": list(changes.bins),
        "a": [_short(query.baseline) for query in queries],
        "b": [_short(query.contender) for query in queries],
        "change": [_short(change) for change in _changes(comparison)],
        "found": None
        if comparison.unit == "query"
        else [[_short(query.found_baseline), _short(query.found_contender)] for query in queries],
    }


def _changes(comparison: Comparison) -> list[float | None]:
    """Return the change of each query, of the restricted search length where there is one."""
    return [query.difference if query.restricted is None else query.restricted for query in comparison.per_query()]


def _short(value: float | None) -> float | None:
    """Round to more digits than are shown; whole numbers need no fraction."""
    return value if value is None else int(value) if value == int(value) else round(value, 4)


def visible(value: Any) -> Any:
    """Escape control characters in all text of plain data."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, dict):
        return {escaped(key): visible(item) for key, item in value.items()}
    return [visible(item) for item in value] if isinstance(value, list) else value


def json_for_html(value: Any) -> str:
    """Write JSON that can stand inside of a script element of HTML, whatever its text says."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _size(value: Any) -> int:
    return len(json_for_html(visible(value)).encode())
