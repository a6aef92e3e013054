"""What the script of a page reads: rows and search lengths as packed numbers, queries, and ranked lists."""

import base64
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.across.gate import GateResult
from ir_outcomes.comparison.verdict import LABELS, MIRRORED
from ir_outcomes.errors import escaped
from ir_outcomes.formatting import places_of
from ir_outcomes.results import Result
from ir_outcomes.showing import tone
from ir_outcomes.showing.page.content import TOO_FEW, Grid
from ir_outcomes.showing.page.lists import DEPTH, Texts, document_texts, entries_of
from ir_outcomes.types import POINTS, Floats

ALL_LABELS = (*LABELS, TOO_FEW)
# Numbers of a row by the names that the script has for them.
NUMBERS = {
    "n": "n",
    "differ": "differ",
    "better": "better",
    "a": "baseline",
    "b": "contender",
    "difference": "difference",
    "low": "interval.low",
    "high": "interval.high",
    "newLow": "new_runs.low",
    "newHigh": "new_runs.high",
    "margin": "margin.size",
    "marginLow": "margin.interval.low",
    "marginHigh": "margin.interval.high",
    "p": "pvalue",
    "corrected": "pvalue_corrected",
    "found": "found",
}
FINDINGS = {"none": 0, "better": 1, "worse": 2}
SMALLEST = 1e-308  # of the p-values whose logarithms are packed
MB = 1_000_000
FIRST_QUERIES = 100
FIRST_MB = 4.0  # that a page may have by default with the lists of the first queries
SMALL_MB = 0.5  # and with those of any others

Data = dict[str, Any]
Listed = tuple[int, int, Data]  # numbers of a set and of a query in it, and its ranked lists


class Lengths(NamedTuple):
    """What runs found for each query, of systems of several runs the means over them."""

    sizes: Floats  # (n_queries,) that can be found
    found: Floats  # (n_runs, n_queries)
    total: Floats  # (n_runs, n_queries), sums of the search lengths, or values, of what was found
    depths: list[int]  # of the longest list of each run

    @property
    def spread(self) -> list[float]:
        """How much the search lengths of a query differ between the runs."""
        missing = (self.sizes - self.found) * (max(self.depths) + 1)
        spread: list[float] = np.ptp((self.total + missing) / self.sizes, axis=0).tolist()
        return spread


def data_of(
    result: Result,
    grids: Sequence[Grid],
    texts: Mapping[str, str],
    docs: Texts,
    max_mb: float | None,
    used: int,
) -> str:
    """Return the JSON that the script reads, on a page that has so many bytes without it."""
    groups: dict[Any, list[Grid]] = {}
    for grid in grids:
        groups.setdefault((id(grid.evaluation), grid.queries), []).append(grid)
    keys = list(groups)
    lengths = [_lengths_of(grid) for grid in grids]
    numbers = [keys.index((id(grid.evaluation), grid.queries)) for grid in grids]
    data = {
        "labels": [_label_data(label) for label in ALL_LABELS],
        "depth": DEPTH,
        "causes": _causes_of(result),
        "grids": [
            _grid_data(grid, own) | {"set": number}
            for grid, own, number in zip(grids, lengths, numbers, strict=True)
        ],
        "sets": [_set_data(members, texts) for members in groups.values()],
    }
    named = {query for _, _, query, _ in data["causes"]}
    order = []
    readers = []
    for number, (grid, *_) in enumerate(groups.values()):
        own = lengths[numbers.index(number)]
        reader = grid.evaluation and entries_of(grid.evaluation, data["sets"][number]["runs"])
        readers.append(reader)
        spread = own.spread if own else [0.0] * len(grid.queries)
        for place, query in enumerate(grid.queries if reader else ()):
            order.append((query not in named, -spread[place], number, place))
    order.sort()
    entries = (
        (number, place, readers[number](keys[number][1][place])) for *_, number, place in order
    )
    used += len(as_json(data).encode())
    listed = list(_fitting(entries, used, max_mb))
    collections = [grid.evaluation and grid.evaluation.collection for grid, *_ in groups.values()]
    _add_texts(listed, collections, docs)
    n_listed = 0
    for number, place, entry in _fitting(listed, used, max_mb):
        data["sets"][number]["lists"][str(place)] = entry
        n_listed += 1
    data |= {"listed": n_listed, "queries": len(order)}
    return as_json(data)


def _fitting(entries: Iterable[Listed], used: int, max_mb: float | None) -> Iterator[Listed]:
    """Take ranked lists until the page is full; by default the first ones may make it larger."""
    for n, own in enumerate(entries):
        used += len(as_json(own[2]).encode()) + len('"1234":,')
        limit = max_mb
        if limit is None:
            limit = FIRST_MB if n < FIRST_QUERIES else SMALL_MB
        if used > limit * MB:
            break
        yield own


def _add_texts(listed: Sequence[Listed], collections: Sequence[str], docs: Texts) -> None:
    wanted: dict[str, set[str]] = {}
    for number, _, entry in listed:
        wanted.setdefault(collections[number], set()).update(entry["ids"])
    if docs is not None:
        found = document_texts(docs, set().union(*wanted.values()), "")
        known = dict.fromkeys(wanted, found)
    else:
        known = {name: document_texts(None, ids, name) for name, ids in wanted.items()}
    for number, _, entry in listed:
        texts = known[collections[number]]
        if texts:
            entry["texts"] = [texts.get(name) for name in entry["ids"]]


def _lengths_of(grid: Grid) -> Lengths | None:
    """Return the search lengths of all runs; None where queries are not known."""
    if not grid.queries:
        return None
    if grid.evaluation is None or not grid.in_lengths:
        return _lengths_in(grid)
    evaluation = grid.evaluation.restrict(grid.queries)
    found = []
    total = []
    depths = []
    by_query = grid.settings.unit == "query"
    for system in grid.runs:
        names = evaluation.replicates.get(system, (system,))
        runs = [evaluation[name].at(grid.settings.cutoff) for name in names]
        depths.append(max(run.depth for run in runs))
        if by_query:
            found.append(np.mean([run.answered() for run in runs], axis=0))
            sums = [np.nan_to_num(run.esl()) for run in runs]
        else:
            found.append(np.mean([run.relevant_retrieved for run in runs], axis=0))
            sums = [
                np.bincount(run.query, np.nan_to_num(run.atoms()), len(grid.queries))
                for run in runs
            ]
        total.append(np.mean(sums, axis=0))
    sizes = np.ones(len(grid.queries)) if by_query else evaluation[0].relevant.astype(float)
    return Lengths(sizes, np.array(found), np.array(total), depths)


def _lengths_in(grid: Grid) -> Lengths:
    """Return search lengths, or values, that have the changes of the queries of the comparisons."""
    depth = grid.settings.cutoff or 0 if grid.in_lengths else -1
    columns: dict[str, tuple[Floats, Floats]] = {}
    for comparison in grid.comparisons:
        queries = comparison.queries or ()
        values = [
            (own.found_baseline, own.found_contender, own.baseline, own.contender, own.change)
            for own in queries
        ]
        found_a, found_b, a, b, change = np.array(values, dtype=float).T
        a = np.nan_to_num(a * found_a if grid.in_lengths else a)
        first = columns.setdefault(comparison.baseline, (found_a, a))[1]
        change = np.where(np.isnan(change), np.nan_to_num(b) - a, change)
        total = first + change + (found_b - found_a) * (depth + 1)
        columns[comparison.contender] = found_b, total
    found, totals = (np.array([columns[run][side] for run in grid.runs]) for side in (0, 1))
    return Lengths(np.ones(found.shape[1]), found, totals, [depth] * len(grid.runs))


def _grid_data(grid: Grid, lengths: Lengths | None) -> Data:
    numbers = {run: number for number, run in enumerate(grid.runs)}
    rows = _rows_data(grid)
    data: Data = {
        "name": grid.condition,
        "runs": grid.runs,
        "order": [numbers[run] for run in grid.order],
        "opening": [numbers[run] for run in grid.opening],
        "details": grid.details,
        "alpha": grid.settings.alpha,
        "cutoff": grid.settings.cutoff,
        "rel": grid.settings.rel,
        "first": _packed([numbers[pair.baseline] for pair in grid.pairs]),
        "second": _packed([numbers[pair.contender] for pair in grid.pairs]),
        "label": _packed([ALL_LABELS.index(pair.label) for pair in grid.pairs]),
        "sentences": [pair.sentence for pair in grid.pairs if pair.sentence],
        "rows": rows,
    }
    if lengths is None:
        return data
    step = 1.0
    if not grid.in_lengths:
        step = 10.0 ** (np.ceil(np.log10(np.ptp(lengths.total) or 1)) - 2)
    is_found = np.array_equal(lengths.found, lengths.total > 0)
    return data | {
        "step": step,
        "sizes": None if grid.settings.unit == "query" else _packed(lengths.sizes),
        "found": None if is_found else _packed(lengths.found),
        "total": _packed(lengths.total),
        "depths": lengths.depths,
        **{name: rows[1][name] for name in ("unit", "places", "gains")},
    }


def _rows_data(grid: Grid) -> list[Data]:
    """Return each row of all pairs, one packed column for each of its numbers."""
    rows = [{row.name: row for row in pair.rows} for pair in grid.pairs]
    first = {row.name: row for of_pair in reversed(rows) for row in of_pair.values()}
    order = dict.fromkeys(name for of_pair in rows for name in of_pair)
    data = []
    for name in order:
        unit = first[name].measured_in
        own: Data = {
            "name": name,
            "unit": {POINTS: "points", name: ""}.get(unit, unit),
            "gains": 1 if first[name].higher_is_better else -1,
            "places": places_of(unit),
        }
        for short, path in NUMBERS.items():
            values = [_value(of_pair.get(name), path) for of_pair in rows]
            if any(value is not None for value in values):
                own[short] = _packed(values)
        data.append(own)
    return data


def _value(row: Any, path: str) -> float | None:
    """Return a number of a row: of a finding its number, of a p-value its negative logarithm."""
    value = row
    for part in path.split("."):
        value = getattr(value, part, None)
    if path == "found":
        return FINDINGS.get(value)
    if value is not None and path.startswith("pvalue"):
        return float(-np.log10(max(value, SMALLEST)))
    return value


def _set_data(grids: Sequence[Grid], texts: Mapping[str, str]) -> Data:
    evaluation = grids[0].evaluation
    runs = list(dict.fromkeys(run for grid in grids for run in grid.runs))
    known = dict(texts)
    for comparison in grids[0].comparisons[:1]:
        known |= {query.query_id: query.text for query in comparison.queries or () if query.text}
    if evaluation is not None:
        known = {**evaluation.texts, **known}
        runs = [evaluation.replicates.get(run, (run,))[0] for run in runs]
    words = [known.get(query) for query in grids[0].queries]
    return {
        "ids": grids[0].queries,
        "texts": words if any(words) else None,
        "runs": runs,
        "systems": list(dict.fromkeys(run for grid in grids for run in grid.runs)),
        "lists": {},
    }


def _label_data(label: str) -> tuple[str, str, str, int]:
    """Return a label with its tone and sign, and the number of the one with the runs swapped."""
    tones = {"better": "+", "worse": "\N{MINUS SIGN}", "mixed": "~", "same": "."}
    sign = "?" if "unconfirmed" in label else tones[tone(label)]
    return label, tone(label), sign, ALL_LABELS.index(MIRRORED.get(label, label))


def _causes_of(result: Result) -> list[tuple[str, str, str, str]]:
    """List the queries that a gate names, each with the condition, the contender and the harm."""
    if not isinstance(result, GateResult):
        return []
    return [
        (decision.condition or "", decision.contender, query.query_id, harm)
        for decision in result.worst_first
        for query, harm in zip(decision.queries, decision.harms, strict=True)
    ]


def _packed(values: Any) -> list[str]:
    """Return the type of an array, the smallest that holds its numbers, and its bytes in base64."""
    array = np.asarray(values, dtype=float)
    kind: Any = "<f4"
    if array.size and not np.isnan(array).any() and (array % 1 == 0).all() and array.min() >= 0:
        kind = np.min_scalar_type(int(array.max())).newbyteorder("<")
    packed = array.astype(kind)
    return [packed.dtype.str[1:], base64.b64encode(packed.tobytes()).decode()]


def as_json(value: Any) -> str:
    """Write JSON that can stand inside of a script element of HTML, whatever its text says."""
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
    if isinstance(value, (list, tuple)):
        return [_visible(item) for item in value]
    return value
