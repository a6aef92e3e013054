"""What the script of a page reads: numbers, queries and ranked lists."""

import json
from collections.abc import Callable, Iterable, Mapping
from operator import itemgetter
from typing import Any

import numpy as np

from ir_outcomes.choices import POINTS
from ir_outcomes.errors import escaped
from ir_outcomes.evaluation.ranking import UNJUDGED
from ir_outcomes.formatting import places_of
from ir_outcomes.pairs.verdict import LABELS, MIRRORED
from ir_outcomes.reading.texts import Source, document_texts
from ir_outcomes.showing import tone
from ir_outcomes.showing.page.content import Grid
from ir_outcomes.showing.sections import TOO_FEW
from ir_outcomes.table_columns import attributes

DEPTH = 20  # documents of each list
ALL_LABELS = (*LABELS, TOO_FEW)
FINDINGS = {"none": 0, "better": 1, "worse": -1}
NUMBERS = attributes("difference", "low=interval.low", "high=interval.high")  # of a row
MB = 1_000_000
FIRST_QUERIES = 100
FIRST_MB = 4.0  # that a page may have by default with the lists of the first queries
SMALL_MB = 0.5  # and with those of any others

Data = dict[str, Any]


def data_of(
    grids: list[Grid],
    texts: Mapping[str, str],
    docs: Source,
    max_mb: float | None,
    used: int,
) -> str:
    """Return the JSON of the script, on a page that has so many bytes without it."""
    sets: dict[Any, Data] = {}
    drawn = []
    order: list[Any] = []
    for grid in grids:
        key = (grid.queries, grid.evaluation and id(grid.evaluation.qrels))
        drawn.append(_grid_data(grid))
        if key not in sets:
            sets[key] = _set_data(grid, texts)
            if entry_of := _entries_of(grid, docs):
                for position, change in enumerate(_spread(grid)):
                    order.append((-change, len(sets), position, sets[key]["lists"], entry_of))
        drawn[-1]["set"] = list(sets).index(key)
    data: Data = {
        "labels": [_label_data(label) for label in ALL_LABELS],
        "grids": drawn,
        "sets": list(sets.values()),
        "queries": len(order),
        "listed": 0,
    }
    used += len(as_json(data).encode())
    for *_, position, lists, entry_of in sorted(order, key=itemgetter(0, 1, 2)):
        entry = entry_of(position)
        used += len(as_json(entry).encode()) + len('"1234":,')
        limit = FIRST_MB if data["listed"] < FIRST_QUERIES else SMALL_MB
        if used > (max_mb or limit) * MB:
            break
        lists[str(position)] = entry
        data["listed"] += 1
    return as_json(data)


def _entries_of(grid: Grid, docs: Source) -> Callable[[int], Data] | None:
    """Return what describes the lists of a query, None where there are none."""
    evaluation = grid.evaluation
    if evaluation is None or not evaluation.documents:
        return None
    runs = [evaluation.replicates.get(run, (run,))[0] for run in grid.runs]
    ranked = [evaluation.documents[evaluation.position(run)].first(DEPTH) for run in runs]
    wanted = {name.decode() for documents in ranked for name in documents.docids.tolist()}
    first_words = document_texts(docs, wanted, evaluation.collection)

    def entry_of(position: int) -> Data:
        numbers: dict[str, int] = {}
        grades: dict[int, int] = {}
        lists = []
        for documents in ranked:
            span = slice(*documents.offsets[position : position + 2])
            ids = [name.decode() for name in documents.docids[span].tolist()]
            lists.append([numbers.setdefault(name, len(numbers)) for name in ids])
            grades |= zip(lists[-1], documents.grades[span].tolist(), strict=True)
        judged = [None if grade == UNJUDGED else grade for _, grade in sorted(grades.items())]
        ids = list(numbers)
        return {"ids": ids, "grades": judged, "lists": lists, "texts": first_words(ids)}

    return entry_of


def _spread(grid: Grid) -> list[float]:
    """Return how much the search lengths of each query differ between the runs."""
    spread: list[float] = np.ptp(grid.lengths().values, axis=0).tolist()
    return spread


def _grid_data(grid: Grid) -> Data:
    numbers = {run: number for number, run in enumerate(grid.runs)}
    unit, higher = grid.measured
    data: Data = {
        "name": grid.condition,
        "runs": grid.runs,
        "details": grid.details,
        "cutoff": grid.settings.cutoff,
        "rel": grid.settings.rel,
        "first": [numbers[pair.baseline] for pair in grid.pairs],
        "second": [numbers[pair.contender] for pair in grid.pairs],
        "label": [ALL_LABELS.index(pair.label) for pair in grid.pairs],
        "rows": _rows_data(grid),
        "unit": unit,
        "gains": 1 if higher else -1,
        "places": places_of(unit),
    }
    if grid.queries:
        items, found, values = grid.lengths()
        # The bars are steps of a rank, or of a hundredth of the range of values.
        largest = 100 if grid.in_lengths else 10 ** np.ceil(np.log10(np.ptp(values) or 1))
        data["step"] = float(largest / 100)
        for name, column in (("sizes", items), ("found", found), ("values", values)):
            data[name] = _plain(column.ravel().tolist())
    return data


def _rows_data(grid: Grid) -> list[Data]:
    """Return the differences of all pairs in each row, with intervals and findings."""
    data = []
    for name, (unit, higher) in grid.units.items():
        rows = [pair.rows.get(name) for pair in grid.pairs]
        row: Data = {
            "name": name,
            "unit": {POINTS: "points", name: ""}.get(unit, unit),
            "gains": 1 if higher else -1,
            "places": places_of(unit),
            "found": [0 if row is None else FINDINGS[row.found] for row in rows],
        }
        numbers = {column.name: _plain(map(column.of, rows)) for column in NUMBERS}
        data.append(row | numbers)
    return data


def _set_data(grid: Grid, texts: Mapping[str, str]) -> Data:
    names = {**(grid.evaluation.texts if grid.evaluation else {}), **texts}
    words = [names.get(query) for query in grid.queries]
    return {"ids": grid.queries, "texts": words, "runs": grid.runs, "lists": {}}


def _label_data(label: str) -> tuple[str, str, int]:
    """Return a label with its tone and the number of its mirror image."""
    return label, tone(label), ALL_LABELS.index(MIRRORED.get(label, label))


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
