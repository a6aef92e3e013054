"""The data of the page: its comparisons, and their queries with ranked lists and texts, as many as the size allows."""

import json
from collections.abc import Sequence
from typing import Any

from ir_outcomes.comparison.result import QueryOutcome
from ir_outcomes.errors import escaped
from ir_outcomes.pages.content import PageContent, QuerySet, Section
from ir_outcomes.pages.lists import DEPTH
from ir_outcomes.showing import tone
from ir_outcomes.showing.charts import changes_of

SHARE_OF_COLUMNS = 0.6  # of the space, which further comparisons leave for ranked lists

Data = dict[str, Any]  # what becomes JSON


def embed(content: PageContent, space: int) -> tuple[Data, int]:
    """Choose what the page holds: the first comparison, further ones, then ranked lists of the queries that change most.

    Return what the template takes, and the space left for ranked lists, which is negative where
    even the rest is too large.
    """
    sets = content.sets
    parts = [json_for_html(_set_data(own)) for own in sets]
    rankings = [["null"] * len(own.lists) for own in sets]
    documents: list[dict[str, str]] = [{} for _ in sets]
    # This is for names, null, and punctuation.
    left = space - sum(map(_size, parts)) - sum(5 * len(own) + 40 for own in rankings) - 60
    comparisons: list[str] = []
    for section in with_queries(content):
        text = json_for_html(_data_of(section))
        if comparisons and left - _size(text) < (1 - SHARE_OF_COLUMNS) * space:
            break
        comparisons.append(text)
        left -= _size(text) + 1
    order = [
        (-change, number, place)
        for number, own in enumerate(sets)
        for place, change in enumerate(own.changes)
        if own.lists
    ]
    n = 0
    after = left
    for _, number, place in sorted(order):
        entry = sets[number].lists[place]
        known = sets[number].documents
        new = {
            name: known[name]
            for name in entry.ids
            if name in known and name not in documents[number]
        }
        text = json_for_html(entry._asdict())
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
    titles = [section.title for section in with_queries(content)[: len(comparisons)]]
    return {"titles": titles, "n": n, "total": len(order), "data": data}, left


def with_queries(content: PageContent) -> list[Section]:
    """List the comparisons whose queries are known."""
    return [section for section in content.sections if section.queries is not None]


def _set_data(own: QuerySet) -> Data:
    return {
        "ids": own.ids,
        "texts": own.texts,
        "slices": own.slices,
        "relevant": own.relevant,
        "runs": own.runs,
    }


def _data_of(section: Section) -> Data:
    """Return what the script shows of a comparison, its queries by column."""
    comparison = section.comparison
    changes = changes_of(section.comparison)
    queries = comparison.per_query()
    found = [[_short(query.found_baseline), _short(query.found_contender)] for query in queries]
    return {
        "title": section.title,
        "set": section.queries,
        "baseline": comparison.baseline,
        "contender": comparison.contender,
        "label": section.label,
        "tone": tone(section.label),
        "unit": comparison.unit,
        "cutoff": comparison.cutoff,
        "horizon": comparison.restricted and comparison.restricted.horizon,
        "rel": comparison.rel,
        "measure": None if comparison.in_lengths else comparison.ranking.measured_in,
        "bins": list(zip(changes.names, changes.tones, strict=True)),
        "bin": changes.bins,
        "by_share": changes.by_share,
        "a": [_short(query.baseline) for query in queries],
        "b": [_short(query.contender) for query in queries],
        "change": [_short(query.change) for query in queries],
        "apart": _apart(queries),
        "found": None if comparison.unit == "query" else found,
    }


def _apart(queries: Sequence[QueryOutcome]) -> list[int]:
    """List the places of queries on which both runs found something, but nothing in common."""
    return [
        place
        for place, query in enumerate(queries)
        if query.found_baseline and query.found_contender and query.difference is None
    ]


def _short(value: float | None) -> float | None:
    """Round to more digits than are shown; whole numbers need no fraction."""
    if value is None:
        return None
    return int(value) if value == int(value) else round(value, 4)


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
