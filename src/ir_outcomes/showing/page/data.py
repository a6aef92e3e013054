"""What the script of a page reads: numbers, queries and ranked lists."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from ir_outcomes.choices import LENGTHS, POINTS
from ir_outcomes.errors import escaped
from ir_outcomes.evaluation.ranking import UNJUDGED
from ir_outcomes.formatting import (
    bound,
    contender_beside,
    fixed,
    places_of,
    places_of_difference,
    places_of_means,
)
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.verdict import LABELS, MIRRORED, direction_of
from ir_outcomes.reading.texts import Source, document_texts
from ir_outcomes.showing.page.content import Changes, Grid
from ir_outcomes.showing.views.conditions import TOO_FEW
from ir_outcomes.showing.views.parts import margin_words
from ir_outcomes.showing.words import count

DEPTH = 20  # documents of each list
ALL_LABELS = (*LABELS, TOO_FEW)
FINDINGS = {"none": 0, "better": 1, "worse": -1}
MB = 1_000_000
FIRST_QUERIES = 100
FIRST_MB = 4.0  # that a page may have by default with the lists of the first queries
SMALL_MB = 0.5  # and with those of any others

Data = dict[str, Any]


def tone(label: str) -> str:
    """Return the style of a label: "better", "worse" or "same"."""
    direction = direction_of(label) if label in LABELS else "none"
    return "same" if direction == "none" else direction


def data_of(
    grids: list[Grid],
    texts: Mapping[str, str],
    docs: Source,
    max_mb: float | None,
    used: int,
    advice: Callable[[str], str],
) -> str:
    """Return the JSON of the script, on a page that has so many bytes without it."""
    drawn = [_grid_data(grid, texts) for grid in grids]
    # The lists of each query, from the largest change between two runs on.
    lists: list[tuple[float, Data, int, Callable[[int], Data]]] = []
    for grid, data in zip(grids, drawn, strict=True):
        entry_of = _entries_of(grid, docs)
        if entry_of is not None and grid.changes is not None:
            changes = np.ptp(grid.changes.values, axis=0).tolist()
            lists += [
                (change, data["lists"], position, entry_of)
                for position, change in enumerate(changes)
            ]
    lists.sort(key=lambda item: -item[0])
    longest = _left_out(len(lists), 2 * len(lists), advice)
    # Labels with their tones and the numbers of their mirror images.
    labels = [
        (label, tone(label), ALL_LABELS.index(MIRRORED.get(label, label))) for label in ALL_LABELS
    ]
    page: Data = {"labels": labels, "grids": drawn, "more": longest}
    used += len(as_json(page).encode())
    listed = 0
    for _, of_grid, position, entry_of in lists:
        entry = entry_of(position)
        used += len(as_json(entry).encode()) + len('"1234":,')
        limit = FIRST_MB if listed < FIRST_QUERIES else SMALL_MB
        if used > (max_mb or limit) * MB:
            break
        of_grid[str(position)] = entry
        listed += 1
    page["more"] = _left_out(listed, len(lists), advice)
    return as_json(page)


def _left_out(listed: int, number: int, advice: Callable[[str], str]) -> str:
    """Say which ranked lists are on the page, where some are not."""
    if listed == number:
        return ""
    return (
        f"Ranked lists of the {count(listed, 'query')} that change most are included, those of"
        f" {number - listed:,} others are left out. {advice('Raise `max_mb` for more.')}"
    )


def _entries_of(grid: Grid, docs: Source) -> Callable[[int], Data] | None:
    """Return what describes the lists of a query, None where there are none."""
    evaluation = grid.evaluation
    if evaluation is None or not evaluation.documents:
        return None
    positions = [evaluation.names.index(evaluation.systems[run][0]) for run in grid.runs]
    ranked = [evaluation.documents[position].first(DEPTH) for position in positions]
    docids = {name.decode() for documents in ranked for name in documents.docids.tolist()}
    first_words = document_texts(docs, docids, evaluation.collection)

    def entry_of(position: int) -> Data:
        numbers: dict[str, int] = {}
        grades: dict[int, int] = {}
        lists = []
        for documents in ranked:
            span = slice(*documents.offsets[position : position + 2])
            ids = [name.decode() for name in documents.docids[span].tolist()]
            lists.append([numbers.setdefault(name, len(numbers)) for name in ids])
            grades |= zip(lists[-1], documents.grades[span].tolist(), strict=True)
        judgments = [None if grade == UNJUDGED else grade for _, grade in sorted(grades.items())]
        ids = list(numbers)
        return {"ids": ids, "grades": judgments, "lists": lists, "texts": first_words(ids)}

    return entry_of


def _grid_data(grid: Grid, texts: Mapping[str, str]) -> Data:
    """Return runs, pairs and queries under a condition, still without ranked lists."""
    queries = () if grid.changes is None else grid.changes.queries
    texts_of_queries = {**(grid.evaluation.texts if grid.evaluation else {}), **texts}
    numbers = {run: number for number, run in enumerate(grid.runs)}
    data: Data = {
        "name": grid.condition,
        "runs": grid.runs,
        "details": grid.details,
        "start": [numbers[run] for run in grid.start],
        "first": [numbers[pair.baseline] for pair in grid.pairs],
        "second": [numbers[pair.contender] for pair in grid.pairs],
        "label": [ALL_LABELS.index(pair.label) for pair in grid.pairs],
        "within": grid.within,
        "rows": _rows_data(grid),
        "ids": queries,
        "texts": [*map(texts_of_queries.get, queries)],
        "lists": {},
    }
    if grid.settings is not None:
        data |= {"cutoff": grid.settings.cutoff, "rel": grid.settings.rel}
    if grid.changes is not None:
        data |= _changes_data(grid.changes)
    return data


def _changes_data(changes: Changes) -> Data:
    unit, higher = changes.quantity
    # The bars are steps of a rank, or of a hundredth of the range of values.
    largest = 100 if unit in LENGTHS else 10 ** np.ceil(np.log10(np.ptp(changes.values) or 1))
    data: Data = {
        "unit": unit,
        "gains": 1 if higher else -1,
        "places": places_of(unit),
        "step": float(largest / 100),
    }
    columns = {"sizes": changes.items, "found": changes.found, "values": changes.values}
    return data | {name: _plain(column.ravel().tolist()) for name, column in columns.items()}


def _rows_data(grid: Grid) -> list[Data]:
    """Return each row of all pairs, with numbers as tables print them."""
    longest = max((pair.rows for pair in grid.pairs), key=len)
    return [
        {
            "name": name,
            "unit": {POINTS: "points", name: ""}.get(row.measured_in, row.measured_in),
            "gains": 1 if row.higher_is_better else -1,
            "pairs": [_printed(pair.rows.get(name)) for pair in grid.pairs],
        }
        for name, row in sorted(longest.items(), key=lambda item: item[0] != grid.decider)
    ]


def _printed(row: Row | None) -> list[Any]:
    """Return what is shown of a row, numbers rounded as tables print them."""
    if row is None or row.difference is None:
        return []
    of_means, of_ends = places_of_means(row), places_of_difference(row)
    means = [row.baseline, contender_beside(row, of_means), row.difference]
    ends = [*(row.interval or (None, None)), *(row.new_runs or (None, None))]
    rounded = [number and float(fixed(number, of_means)) for number in means]
    rounded += [end and float(bound(end, of_ends)) for end in ends]
    margin = row.margin and f"{margin_words(row)}: {row.margin.found}"
    printed = [FINDINGS[row.found], of_means, of_ends, *_plain(rounded), margin]
    while printed[-1] is None:
        printed.pop()
    return printed


def _plain(values: Iterable[float | None]) -> list[float | None]:
    """Return numbers with eight digits, whole ones as such, None where there is none."""
    short = [None if value is None else float(f"{value:.8g}") for value in values]
    return [int(value) if value is not None and value.is_integer() else value for value in short]


def as_json(value: Any) -> str:
    """Write JSON that can stand inside of a script element of HTML."""
    text = json.dumps(_visible(value), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _visible(value: Any) -> Any:
    """Escape control characters in all text of plain data."""
    if isinstance(value, str):
        return escaped(value)
    if isinstance(value, dict):
        return {key: _visible(item) for key, item in value.items()}
    return [*map(_visible, value)] if isinstance(value, (list, tuple)) else value
