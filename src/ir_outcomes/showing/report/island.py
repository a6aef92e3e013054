"""The data of the page: one JSON value that the page's script reads, with every number as in the JSON of the result."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

from ir_outcomes.comparison.result import Comparison
from ir_outcomes.errors import escaped
from ir_outcomes.evaluation.evaluation import Evaluation

__all__ = ["Embedded", "QuerySet", "columns_of", "embed", "json_for_html", "visible"]

_FIELDS = ("outcome", "found_baseline", "found_contender", "baseline", "contender", "difference", "restricted")

Lists = list[dict[str, Any]]  # ranked lists of each query


@dataclass(eq=False)
class QuerySet:
    """Queries that one or several comparisons share.

    Attributes
    ----------
    ids : tuple of str
        The queries, in the order of the comparisons.
    texts : tuple of str or None
        Their texts.
    evaluation : Evaluation or None
        What the comparisons were made from.
    runs : list of str
        Runs of these comparisons.
    comparisons : list of Comparison
        The comparisons.
    """

    ids: tuple[str, ...]
    texts: tuple[str | None, ...]
    evaluation: Evaluation | None
    runs: list[str] = field(default_factory=list)
    comparisons: list[Comparison] = field(default_factory=list)

    def add(self, comparison: Comparison) -> None:
        """Take another comparison of the same queries."""
        self.comparisons.append(comparison)
        self.runs += [run for run in (comparison.baseline, comparison.contender) if run not in self.runs]

    def changes(self) -> list[float]:
        """Return for each query by how much it changes at most, in any of the comparisons; a missing length is the largest."""
        largest = [0.0] * len(self.ids)
        for comparison in self.comparisons:
            known = [
                length
                for query in comparison.queries or ()
                for length in (query.baseline, query.contender)
                if length is not None
            ]
            missing = 1 + max(known, default=0)
            for place, query in enumerate(comparison.queries or ()):
                baseline, contender = (missing if length is None else length for length in (query.baseline, query.contender))
                change = max(abs(contender - baseline), missing * abs(query.found_contender - query.found_baseline) / 2)
                largest[place] = max(largest[place], change)
        return largest


@dataclass
class Embedded:
    """Rankings that found room on the page.

    Attributes
    ----------
    rankings : list of list
        For each set of queries, for each query its ranked lists, or None where they were left out; an empty list where no
        rankings are known.
    texts : list of dict
        For each set of queries, texts of documents by their ids.
    n, total : int
        Queries with rankings, and queries whose rankings are known.
    """

    rankings: list[list[dict[str, Any] | None]]
    texts: list[dict[str, str]]
    n: int
    total: int


def embed(sets: Sequence[QuerySet], lists: Sequence[Lists | None], texts: Sequence[Mapping[str, str]], budget: int) -> Embedded:
    """Choose the queries whose ranked lists are part of the page: those that change most, until it is full.

    Parameters
    ----------
    sets : sequence of QuerySet
        The queries.
    lists : sequence of Lists or None
        Of each set, the ranked lists of each query; None where they are not known.
    texts : sequence of mapping
        Of each set, texts of documents.
    budget : int
        Bytes.
    """
    chosen = Embedded([[] if known is None else [None] * len(known) for known in lists], [{} for _ in sets], 0, 0)
    order = []
    for number, (own, known) in enumerate(zip(sets, lists, strict=True)):
        if known is not None:
            order += [
                (-change, number, place, entry) for place, (change, entry) in enumerate(zip(own.changes(), known, strict=True))
            ]
    chosen.total = len(order)
    for _, number, place, entry in sorted(order, key=itemgetter(0, 1, 2)):
        known_texts, taken = texts[number], chosen.texts[number]
        new = {name: known_texts[name] for name in entry["ids"] if name in known_texts and name not in taken}
        budget -= _size(entry) + _size(new)
        if budget < 0:
            break
        chosen.rankings[number][place] = entry
        taken |= new
        chosen.n += 1
    return chosen


def columns_of(comparison: Comparison) -> dict[str, list[Any]] | None:
    """Return the values of each query by column; None where the result was stored without its queries."""
    if comparison.queries is None:
        return None
    return {name: [getattr(query, name) for query in comparison.queries] for name in _FIELDS}


def visible(value: Any) -> Any:
    """Escape control characters in all text of plain data."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, dict):
        return {escaped(key): visible(item) for key, item in value.items()}
    if isinstance(value, list):
        return [visible(item) for item in value]
    return value


def json_for_html(value: Any) -> str:
    r"""Write JSON that can stand inside of a script element of HTML, whatever its text says.

    Examples
    --------
    >>> json_for_html({"query": "</script><!--"})
    '{"query":"\\u003c/script\\u003e\\u003c!--"}'
    """
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _size(value: Any) -> int:
    return len(json_for_html(value).encode())
