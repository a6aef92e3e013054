"""Values of one measure as an array of runs by queries."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.choices import Bools, Floats, Trials
from ir_outcomes.errors import FormatError, MismatchError, ParameterError, some
from ir_outcomes.formatting import plural
from ir_outcomes.notes import Note, note
from ir_outcomes.reading.files import name_of
from ir_outcomes.reading.forms import normal
from ir_outcomes.reading.measure_names import is_reciprocal
from ir_outcomes.reading.objects import texts
from ir_outcomes.reading.runs import check_one_for_each, distinct_names
from ir_outcomes.reading.tables import Source, strict_number
from ir_outcomes.values.columns import (
    EMPTY,
    TableLayout,
    columns_of_ids,
    conditions_of,
    differing_texts,
    layout_of,
    rows_with,
    text_of,
)
from ir_outcomes.values.names import (
    Range,
    checked_range,
    impossible_value,
    is_undefined_unanswered,
)
from ir_outcomes.values.records import INDEX_TITLES, KEY, MEANS, Records, records_of

MOST_DECIMALS = 6
MOST_PARTS = 10  # values of a column that tells rows of one query apart
_TRIALS = ("trial", "epoch", "repetition_number", "run", "seed", "sample", "attempt", "k")
_ERRORS = ("error", "exception", "failed")
_NO_ERROR = ("", "none", "null", "nan", "false", "0", "0.0")
_FAILED = ("error", "failed", "timeout")  # as a status
_WORDS = {
    **dict.fromkeys(EMPTY, math.nan),
    **dict.fromkeys(("c", "y", "true", "yes", "pass", "[pass]", "passed", "correct"), 1.0),
    **dict.fromkeys(("i", "n", "false", "no", "fail", "[fail]", "failed", "incorrect"), 0.0),
}
_PLAIN = frozenset("0123456789.+-eE")  # characters of numbers
# What rows of these names say of the values of the others.
_STATISTICS: Sequence[tuple[tuple[str, ...], Callable[[Floats], Any]]] = (
    (
        ("mean", "amean", "macro", "micro", "avg", "average", "overall", "weighted", "total"),
        np.mean,
    ),
    (("total", "overall"), np.sum),
    (("gmean",), lambda values: np.exp(np.log(np.maximum(values, 1e-5)).mean())),
    (("std",), np.std),
    (("std",), lambda values: values.std(ddof=1) if len(values) > 1 else 0.0),
    (("median",), np.median),
    (("min",), np.min),
    (("max",), np.max),
    (("count",), len),
)
_NAMES = "|".join(name for names, _ in _STATISTICS for name in names)
_SUMMARY = re.compile(rf"all|(?:(?:{_NAMES})[^\w]*_*[^\w]*)+", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class ValuesTable:
    """Values of a measure for runs and queries.

    Attributes
    ----------
    measure : str
        Its name, as the caller or the source has it.
    runs, query_ids : tuple of str
        Queries are all that a source names, in the order of their ids.
    sources : tuple of str
        The name of the source of each run.
    values : (n_runs, n_queries) float array
        NaN where there is no value.
    absent : (n_runs, n_queries) bool array
        Where the source does not name the query.
    missing : (n_runs, n_queries) bool array
        Where there is no value although the measure has one for every query.
    failed : tuple of int
        Rows of each run that its tool marks as failed; their values are missing.
    range : pair of float, or None
        The smallest and largest value of the measure, said or known by its name.
    decimals : int or None
        Decimals that values were rounded to; None where they were not.
    n_queries : int
        Queries that the tool evaluated, as it says; those without lines count, too.
    notes : tuple of Note
        Which rows are no queries, and which texts differ.
    """

    measure: str
    runs: tuple[str, ...]
    sources: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Floats
    absent: Bools
    missing: Bools
    failed: tuple[int, ...]
    range: Range | None
    decimals: int | None
    n_queries: int
    notes: tuple[Note, ...]


class _Rows(NamedTuple):
    """The rows of a source: ids and values, and which its tool marks as failed."""

    layout: TableLayout
    id_column: str
    ids: list[str]
    values: Floats
    failed: Bools


class _Run(NamedTuple):
    """The values of one run of a source, in the order of its rows."""

    name: str | None
    ids: list[str]
    values: Floats
    failed: int
    decimals: int | None


def read_table(
    sources: Sequence[Source],
    *,
    measure: str | None = None,
    names: Sequence[str] | None = None,
    id: str | None = None,
    where: Any = None,
    trials: Trials | None = None,
    range: Any = None,
) -> ValuesTable:
    """Return the values of one measure, of a run of each source or of all runs of one."""
    if isinstance(names, str):
        raise ParameterError("must be a list of names, such as `names=['a', 'b']`", names=names)
    conditions = conditions_of(where)
    layouts = [
        layout_of(rows_with(records_of(source, measure), conditions), measure) for source in sources
    ]
    measures = list(dict.fromkeys(layout.measure for layout in layouts))
    if len(measures) > 1:
        raise MismatchError(
            f"the outputs are of different measures ({some(measures)}); choose one with `measure`"
        )
    bounds = checked_range(measures[0], range)
    ids = columns_of_ids(layouts, id, trials)
    notes = list(differing_texts(layouts, ids, is_explicit=id is not None))
    of_sources: list[list[_Run]] = []
    for layout, id_column in zip(layouts, ids, strict=True):
        of_source, summaries = _runs(_rows(layout, id_column, bounds), trials)
        of_sources.append(of_source)
        if summaries:
            text = f"{plural('row', len(summaries))} of {layout.records.source.name}"
            verb = "is a summary" if len(summaries) == 1 else "are summaries"
            notes.append(note("summaries", f"{text} ({some(summaries)}) {verb}, and no query."))
    runs, run_names = _named(of_sources, sources, names)
    query_ids, values, absent = _aligned(runs)
    decimals = [run.decimals for run in runs if run.decimals is not None]
    return ValuesTable(
        measure=measures[0],
        runs=run_names,
        sources=tuple(
            source.name for source in (sources if sources[1:] else [*sources] * len(runs))
        ),
        query_ids=tuple(query_ids),
        values=values,
        absent=absent,
        missing=absent if is_undefined_unanswered(measures[0]) else np.isnan(values),
        failed=tuple(run.failed for run in runs),
        range=bounds,
        decimals=min(decimals, default=None),
        n_queries=max(layout.n_queries for layout in layouts),
        notes=tuple(dict.fromkeys(notes)),
    )


def _aligned(runs: Sequence[_Run]) -> tuple[list[str], Floats, Bools]:
    """Return the queries of all runs in order, values, and what is absent."""
    first = runs[0].ids
    if all(run.ids == first for run in runs):  # as usual, and three times as fast
        order = sorted(range(len(first)), key=first.__getitem__)
        values = np.stack([run.values[order] for run in runs])
        return [first[row] for row in order], values, np.zeros(values.shape, dtype=bool)
    query_ids = sorted(set[str]().union(*(run.ids for run in runs)))
    index = {query: column for column, query in enumerate(query_ids)}
    values = np.full((len(runs), len(query_ids)), np.nan)
    absent = np.ones(values.shape, dtype=bool)
    for row, run in enumerate(runs):
        columns = np.fromiter(map(index.__getitem__, run.ids), np.int64, len(run.ids))
        values[row, columns] = run.values
        absent[row, columns] = False
    return query_ids, values, absent


# --- values


def _rows(layout: TableLayout, id_column: str, bounds: Range | None) -> _Rows:
    """Read the ids and values of a source."""
    records = layout.records
    ids = _checked_ids(records, id_column)
    values = _numbers(records, layout.value, ids, layout.measure)
    rows = _Rows(layout, id_column, ids, values, _failed(records))
    _check_possible(rows, bounds)
    values[rows.failed] = np.nan
    return rows


def _checked_ids(records: Records, title: str) -> list[str]:
    cells = records.columns[title]
    if None in cells:
        problem = f"has no query id ({title}); give it one, or remove it"
        raise records.error(cells.index(None), problem)
    try:
        return texts(cells, records.source.name, "query id", records.number)
    except FormatError as error:
        if error.line is None:
            raise
        raise records.source.error(error.problem, error.line, error.text) from None


def _failed(records: Records) -> Bools:
    """(n_rows,) bool array: whether the tool marks the row as failed."""
    failed = np.zeros(records.size, dtype=bool)
    for title in records.titled(*_ERRORS, "status"):
        words = [text_of(cell).strip().casefold() for cell in records.columns[title]]
        if normal(title.rpartition(".")[2]) == "status":
            failed |= [word in _FAILED for word in words]
        else:
            failed |= [word not in _NO_ERROR for word in words]
    return failed


def _numbers(records: Records, title: str, ids: Sequence[str], measure: str) -> Floats:
    """Return cells as numbers: 1 and 0 for yes and no, NaN where there is nothing."""
    cells = records.columns[title]
    kinds = set(map(type, cells))
    if kinds <= {float, int, type(None)}:
        with suppress(OverflowError):
            return np.array(cells, dtype=np.float64)
    if kinds == {str} and _PLAIN.issuperset("".join(cells)):
        with suppress(ValueError):
            return np.array(list(map(float, cells)))
    numbers = list(map(_number, cells))
    if None in numbers:
        row = numbers.index(None)
        cell = cells[row]
        problem = "is not a number; correct it, or write 1 and 0 for yes and no"
        if isinstance(cell, (list, tuple, dict)):
            problem = "is no value, but a list or an object; choose another column with `measure`"
        elif "," in str(cell) and strict_number(str(cell).replace(",", ".")) is not None:
            problem = "has a decimal comma; write a point"
        problem = f"the value of {measure} of query {ids[row]} {problem}"
        raise records.error(row, problem, str(cell))
    return np.array(numbers, dtype=np.float64)


def _number(cell: Any) -> float | None:
    """Return the number that a cell is, or None."""
    if cell is None:
        return math.nan
    if isinstance(cell, (bool, np.bool_)):
        return float(cell)
    if isinstance(cell, str) and (word := cell.strip().casefold()) in _WORDS:
        return _WORDS[word]
    return strict_number(cell)


def _check_possible(rows: _Rows, bounds: Range | None) -> None:
    """Refuse values that the measure cannot have."""
    values = rows.values.copy()
    measure = rows.layout.measure
    while impossible := impossible_value(values, measure, bounds):
        row, problem = impossible
        if not _SUMMARY.fullmatch(rows.ids[row]):
            text = text_of(rows.layout.records.columns[rows.layout.value][row])
            raise rows.layout.records.error(
                row, f"{measure} of query {rows.ids[row]} {problem}", text
            )
        values[row] = np.nan
    marks = values == -1
    if bounds is None and marks.any():
        others = values[~marks & ~np.isnan(values)]
        if len(others) and ((others >= 0) & (others <= 1)).all():
            raise rows.layout.records.source.error(
                f"{measure} is exactly -1 in {plural('row', int(marks.sum()))}, and from 0 to 1 in"
                " all others; if it marks a failed case, leave it empty, else pass `range=(-1, 1)`"
            )


def _runs(rows: _Rows, trials: Trials | None) -> tuple[list[_Run], list[str]]:
    """Return the values of each run of a source, and the rows that are summaries."""
    runs = []
    summaries: list[str] = []
    names: set[str] = set()
    if not all(map(str.isdigit, set(map(itemgetter(-1), rows.ids)))):  # no summary ends in a digit
        names = set(filter(_SUMMARY.fullmatch, rows.ids))
    for run, of_run in _rows_of_runs(rows.layout, len(rows.ids)).items():
        no_queries = _summaries(names, rows, of_run) if names else []
        summaries += [rows.ids[row] for row in no_queries]
        if no_queries:
            of_run = [row for row in of_run if row not in no_queries]
        if of_run:
            runs.append(_run(rows, run, of_run, trials))
    if not runs:
        raise rows.layout.records.source.error(f"has no values by query; {MEANS}")
    return runs, list(dict.fromkeys(summaries))


def _rows_of_runs(layout: TableLayout, n_rows: int) -> Mapping[str | None, list[int]]:
    """Return the rows of each run of a source."""
    if layout.run is None:
        return {None: list(range(n_rows))}
    rows: dict[str | None, list[int]] = defaultdict(list)
    for row, cell in enumerate(layout.records.columns[layout.run]):
        rows[text_of(cell)].append(row)
    return rows


def _run(rows: _Rows, name: str | None, of_run: list[int], trials: Trials | None) -> _Run:
    """Return the values of a run, the mean of trials where that is asked for."""
    is_only = len(of_run) == len(rows.ids)
    ids = rows.ids if is_only else [rows.ids[row] for row in of_run]
    values, measure = rows.values[of_run], rows.layout.measure
    if len(set(ids)) < len(ids):
        index = {query: column for column, query in enumerate(dict.fromkeys(ids))}
        if trials is None:
            raise _repeated(rows, ids, of_run)
        if is_undefined_unanswered(measure) and np.isnan(values).any():
            row = int(np.argmax(np.isnan(values)))
            raise rows.layout.records.error(
                of_run[row],
                f"{measure} of query {ids[row]} is undefined in a trial; take a measure that is 0"
                " there, such as RR",
            )
        columns = np.fromiter(map(index.__getitem__, ids), np.int64, len(ids))
        sums = np.bincount(columns, values, len(index))
        values = sums / np.bincount(columns, minlength=len(index))
        ids = list(index)
    return _Run(name, ids, values, int(rows.failed[of_run].sum()), _decimals(values, measure))


def _repeated(rows: _Rows, ids: list[str], of_run: list[int]) -> FormatError:
    """Make the error about a query that stands there several times."""
    first: dict[str, int] = {}
    for row, query in enumerate(ids):
        if first.setdefault(query, row) != row:
            break
    layout, id_column = rows.layout, rows.id_column
    column = "" if id_column == KEY else f" ({id_column})"
    begin = f"query {query}{column} has several values of {layout.measure}"
    remedy = (
        "; if they are trials, pass `trials='mean'`; if they are of several systems, call the column"
        " of their names 'run'"
    )
    for title, cells in layout.records.columns.items():
        is_needed = title in (id_column, layout.value, layout.run, KEY, *INDEX_TITLES)
        of_rows = [cells[row] for row in of_run]
        if (
            is_needed
            or normal(title) in _TRIALS
            or any(isinstance(cell, (list, dict)) for cell in of_rows[:20])
        ):
            continue
        parts = sorted(set(map(str, of_rows)))
        tells_apart = len(set(zip(ids, map(str, of_rows), strict=True))) == len(ids)
        if tells_apart and 1 < len(parts) <= MOST_PARTS and len(parts) < len(ids):
            remedy = (
                f", which the column {title!r} tells apart ({some(parts, MOST_PARTS)}); choose one,"
                f" such as `where=['{title}={parts[0]}']`"
            )
            break
    return rows.layout.records.error(of_run[row], f"{begin}{remedy}")


# --- summaries


def _summaries(names: set[str], rows: _Rows, of_run: list[int]) -> list[int]:
    """Return the rows that are summaries of the others."""
    named = [row for row in of_run if rows.ids[row] in names]
    summaries = [row for row in named if rows.ids[row].casefold() == "all"]
    others = np.delete(rows.values[of_run], [of_run.index(row) for row in named])
    others = others[~np.isnan(others)]
    raw = rows.layout.records.columns[rows.layout.value]
    for row in named:
        if row in summaries or not len(others):
            continue
        words = set(re.findall("[a-z]+", rows.ids[row].casefold()))
        statistics = [float(of(others)) for names_of, of in _STATISTICS if words & {*names_of}]
        slack = 0.5001 * 10.0 ** -_places(raw[row])
        if any(abs(rows.values[row] - value) <= slack for value in statistics):
            summaries.append(row)
    return summaries


def _places(cell: Any) -> int:
    """Return the decimals that are written of a number."""
    text = str(cell).partition(".")[2]
    return 12 if "e" in str(cell) else len(text)


def _decimals(values: Floats, measure: str) -> int | None:
    """Find the decimals that values were rounded to, None where they were not."""
    numbers = values[np.isfinite(values)]
    numbers = numbers[numbers != np.rint(numbers)]
    if not len(numbers) or (is_reciprocal(measure) and np.all(1 / np.rint(1 / numbers) == numbers)):
        return None
    for decimals in (1, 2, 3, 4, 5, MOST_DECIMALS):
        if np.all(np.round(numbers, decimals) == numbers):
            return decimals if decimals >= 3 or is_reciprocal(measure) else None
    return None


# --- runs


def _named(
    of_sources: Sequence[Sequence[_Run]], sources: Sequence[Source], names: Sequence[str] | None
) -> tuple[list[_Run], tuple[str, ...]]:
    """Return one run of each source, or all of a single one, with their names."""
    if len(sources) == 1 and (len(of_sources[0]) > 1 or (names is not None and len(names) > 1)):
        return _runs_of_one(of_sources[0], sources[0], names)
    if names is not None:
        check_one_for_each(names, len(sources), "output")
    asked: Sequence[str | None] = [None] * len(sources) if names is None else names
    runs = list(map(_only, of_sources, sources, asked))
    usual = [run.name or _usual_name(source) for run, source in zip(runs, sources, strict=True)]
    return runs, tuple(distinct_names(usual, asked, [source.data for source in sources]))


def _runs_of_one(
    runs: Sequence[_Run], source: Source, names: Sequence[str] | None
) -> tuple[list[_Run], tuple[str, ...]]:
    by_name = {text_of(run.name): run for run in runs}
    if absent := [name for name in names or () if name not in by_name]:
        raise ParameterError(
            f"{source.name} has no run {some(absent)}; it has {some(list(by_name))}"
        )
    chosen = tuple(map(str, names or by_name))
    return [by_name[name] for name in chosen], chosen


def _only(runs: Sequence[_Run], source: Source, name: str | None) -> _Run:
    """Return the run of a source beside others, of several by name."""
    for run in runs:
        if len(runs) == 1 or run.name == name:
            return run
    names = [text_of(run.name) for run in runs]
    raise MismatchError(
        f"{source.name} has the runs {some(names)}; name one for each output, such as"
        f" `names={names[:2]}`"
    )


def _usual_name(source: Source) -> str:
    return name_of(source.data) if source.is_file else source.name.removeprefix("the ")
