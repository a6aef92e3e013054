"""Values of one measure as an array of runs by queries."""

import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, Literal, NamedTuple

import numpy as np

from ir_outcomes.choices import Bools, Floats, Ints
from ir_outcomes.errors import FormatError, MismatchError, ParameterError, some
from ir_outcomes.formatting import plural
from ir_outcomes.notes import Note, note
from ir_outcomes.reading.files import name_of
from ir_outcomes.reading.forms import normal
from ir_outcomes.reading.measure_names import (
    base_name,
    is_measure_name,
    is_reciprocal,
    is_same_measure,
    problem_of,
)
from ir_outcomes.reading.objects import texts
from ir_outcomes.reading.runs import check_one_for_each, distinct_names
from ir_outcomes.reading.tables import Source, strict_number
from ir_outcomes.values.names import (
    Range,
    checked_range,
    impossible,
    is_undefined_unanswered,
)
from ir_outcomes.values.records import (
    INDEX_TITLES,
    KEY,
    MEANS,
    MEASURE_TITLES,
    QUERY_TITLES,
    RUN_TITLES,
    VALUE_TITLES,
    Records,
    records_of,
)

Trials = Literal["mean"]
MOST_DECIMALS = 6
MOST_PARTS = 10  # values of a column that tells rows of one query apart
_EVALUATORS = ("name", "metric_name", "evaluator", "scorer", "score_name", "evaluation_name")
_TRIALS = ("trial", "epoch", "repetition_number", "run", "seed", "sample", "attempt", "k")
_TEXTS = ("query", "question", "user_input", "input")  # of queries, whose ids must not mix them up
_ERRORS = ("error", "exception", "failed")
_NO_ERROR = ("", "none", "null", "nan", "false", "0", "0.0")
_FAILED = ("error", "failed", "timeout")  # as a status
_TRUTH_VALUES = {
    **dict.fromkeys(("C", "Y", "true", "yes", "pass", "[pass]", "passed", "correct"), 1.0),
    **dict.fromkeys(("I", "N", "false", "no", "fail", "[fail]", "failed", "incorrect"), 0.0),
}
_EMPTY = ("", "nan", "null", "none")
_PLAIN = frozenset("0123456789.+-eE")  # characters of numbers
_MEANS = ("mean", "amean", "macro", "micro", "avg", "average", "overall", "weighted")
_STATISTICS = (*_MEANS, "gmean", "total", "std", "min", "max", "median", "count")
_SUMMARY = re.compile(rf"all|(?:(?:{'|'.join(_STATISTICS)})[^\w]*_*[^\w]*)+", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class ValuesTable:
    """Values of a measure for runs and queries.

    Attributes
    ----------
    measure : str
        Its name, as the caller or the source has it.
    runs, query_ids : tuple of str
        Queries are all that a source names, in the order of their ids.
    called : tuple of str
        What the source of each run is called.
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
    called: tuple[str, ...]
    query_ids: tuple[str, ...]
    values: Floats
    absent: Bools
    missing: Bools
    failed: tuple[int, ...]
    range: Range | None
    decimals: int | None
    n_queries: int
    notes: tuple[Note, ...]


class _Parts(NamedTuple):
    """The columns of a source that hold runs and values of a measure."""

    records: Records
    run: str | None
    value: str
    measure: str
    n_queries: int = 0


class _Cells(NamedTuple):
    """The values of one run of a source, in the order of its rows."""

    run: str | None
    ids: list[str]
    values: Floats
    failed: int
    decimals: int | None


def read_table(
    sources: Sequence[Any],
    *,
    positions: Sequence[str],
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
    read = list(map(Source.of, sources, positions))
    conditions = _conditions(where)
    parts = [_parts(_chosen(records_of(source, measure), conditions), measure) for source in read]
    measures = list(dict.fromkeys(part.measure for part in parts))
    if len(measures) > 1:
        raise MismatchError(
            f"the outputs are of different measures ({some(measures)}); choose one with `measure`"
        )
    bounds = checked_range(measures[0], range)
    ids = _ids(parts, id, trials)
    notes = list(_differing_texts(parts, ids, is_explicit=id is not None))
    of_sources: list[list[_Cells]] = []
    for part, title in zip(parts, ids, strict=True):
        of_source, summaries = _cells(part, title, bounds, trials)
        of_sources.append(of_source)
        if summaries:
            text = f"{plural('row', len(summaries))} of {part.records.source.called}"
            verb = "is a summary" if len(summaries) == 1 else "are summaries"
            notes.append(note("summaries", f"{text} ({some(summaries)}) {verb}, and no query."))
    cells, runs = _named(of_sources, read, positions, names)
    query_ids, values, absent = _aligned(cells)
    missing = absent
    if not is_undefined_unanswered(measures[0]):
        missing = np.isnan(values)
    decimals = [of_run.decimals for of_run in cells if of_run.decimals is not None]
    return ValuesTable(
        measures[0],
        runs,
        tuple(source.called for source in (read if len(read) > 1 else read * len(runs))),
        tuple(query_ids),
        values,
        absent,
        missing,
        tuple(of_run.failed for of_run in cells),
        bounds,
        min(decimals, default=None),
        max(part.n_queries for part in parts),
        tuple(dict.fromkeys(notes)),
    )


def _aligned(cells: Sequence[_Cells]) -> tuple[list[str], Floats, Bools]:
    """Return the queries of all runs in order, values, and what is absent."""
    first = cells[0].ids
    if all(of_run.ids == first for of_run in cells[1:]):  # as a tool writes several runs
        order = sorted(range(len(first)), key=first.__getitem__)
        values = np.stack([of_run.values for of_run in cells])[:, order]
        return [first[row] for row in order], values, np.zeros(values.shape, dtype=bool)
    query_ids = sorted(set[str]().union(*(of_run.ids for of_run in cells)))
    place = {query: column for column, query in enumerate(query_ids)}
    values = np.full((len(cells), len(query_ids)), np.nan)
    absent = np.ones(values.shape, dtype=bool)
    for row, of_run in enumerate(cells):
        columns = np.fromiter(map(place.__getitem__, of_run.ids), np.int64, len(of_run.ids))
        values[row, columns] = of_run.values
        absent[row, columns] = False
    return query_ids, values, absent


# --- which rows


def _conditions(where: Any) -> dict[str, str]:
    """Return columns with the values that choose rows."""
    if where is None:
        return {}
    if isinstance(where, Mapping):
        return {str(column): str(value) for column, value in where.items()}
    pairs = [where] if isinstance(where, str) else list(where)
    conditions = {}
    for pair in pairs:
        column, sign, value = str(pair).partition("=")
        if not sign or not column:
            raise ParameterError("must be COLUMN=VALUE, such as filter=strict", where=pair)
        conditions[column] = value
    return conditions


def _chosen(records: Records, conditions: Mapping[str, str]) -> Records:
    """Return the rows that have all of these values."""
    for column, value in conditions.items():
        title = _title(records, column, "where")
        cells = records.columns[title]
        rows = [row for row, cell in enumerate(cells) if _as_text(cell) == _as_text(value)]
        if not rows:
            values = sorted(set(map(str, cells)))
            raise records.source.error(
                f"has no row with {column}={value}; the column has {some(values)}"
            )
        records = records.take(rows)
    return records


def _as_text(cell: Any) -> str:
    text = str(cell)
    return text.casefold() if text.casefold() in ("true", "false") else text


def _title(records: Records, name: str, argument: str) -> str:
    """Return the title of a column that a caller names."""
    if name in records.columns:
        return name
    titles = records.titled(normal(name))
    if not titles:
        raise records.source.error(
            f"has no column {name!r} (`{argument}`); its columns are {some(_titles(records), 12)}"
        )
    return titles[0]


def _titles(records: Records) -> list[str]:
    return [title for title in records.columns if title != KEY]


# --- which columns


def _parts(records: Records, measure: str | None) -> _Parts:
    """Find the columns of runs and values, in tables of every layout."""
    source = records.source
    if not records.size:
        raise source.error(f"has no values by query; {MEANS}")
    queries = [*records.titled(*QUERY_TITLES), *(key for key in (KEY,) if key in records.columns)]
    run = next(iter(records.titled(*RUN_TITLES)), None)
    column = None if measure is None else _column_of(records, measure)
    if column is not None and measure is not None:
        if run is None and not queries:
            run = next(iter(records.titled("name")), None)
        return _Parts(records, run, column, measure)
    kind = _kind_column(records, measure)
    value = next(iter(records.titled(*VALUE_TITLES)), None)
    if kind is not None and value is not None:
        if run is None and kind not in records.titled("name"):
            run = next(iter(records.titled("name")), None)
        named = list(map(_text, dict.fromkeys(records.columns[kind])))
        found = _measure_among(named, measure, source)
        return _long(records, run, kind, value, found, measure)
    if kind is not None:
        raise source.error(
            "has no column of values; call it value, or choose one of its columns"
            f" ({some(_titles(records))}) with `measure`"
        )
    columns = {
        _inner(title, depth): title
        for depth in (2, 1, 0)
        for title in records.columns
        if is_measure_name(_inner(title, depth)) and title not in (*queries, run)
    }
    if columns:
        found = _measure_among(list(columns), measure, source)
        if run is None and not queries:
            run = next(iter(records.titled("name")), None)
        return _Parts(records, run, columns[found], measure or found)
    return _crossed(records, queries, run, measure)


def _column_of(records: Records, measure: str) -> str | None:
    """Return the column of a measure, in any spelling or below other keys."""
    if measure in records.columns:
        return measure
    for same in (str.__eq__, is_same_measure):
        for depth in range(3):
            found = [title for title in records.columns if same(_inner(title, depth), measure)]
            if len(found) > 1:
                raise ParameterError(
                    f"{records.source.called} has several columns of {measure} ({some(found)});"
                    " choose one with `measure`"
                )
            if found:
                return found[0]
    return None


def _inner(title: str, depth: int) -> str:
    """Return a title or a part of it, so that scores.match.value is match."""
    outer, _, last = title.rpartition(".")
    if depth == 2 and last in VALUE_TITLES:
        last = outer.rpartition(".")[2]
    return last if depth else title


def _kind_column(records: Records, measure: str | None) -> str | None:
    """Return the column with the names of measures."""
    titles = records.titled(*MEASURE_TITLES)
    if titles or measure is None:
        return titles[0] if titles else None
    for title in records.titled(*_EVALUATORS):
        if measure in records.columns[title]:
            return title
    return None


def _measure_among(named: Sequence[str], measure: str | None, source: Source) -> str:
    """Choose the measure that is meant among those of a source."""
    if measure is not None:
        if measure in named:
            return measure
        found = [title for title in named if is_same_measure(title, measure)]
    else:
        found = [title for title in named if is_reciprocal(title) or base_name(title) == "ESL"]
        found = found or list(named)
    if len(found) == 1:
        return found[0]
    problem = f"several measures ({some(found)}); choose one with `measure`"
    if not found:
        problem = f"no values of {measure}; it has {some(list(named))}"
    raise ParameterError(f"{source.called} has {problem}")


def _long(
    records: Records, run: str | None, kind: str, value: str, found: str, measure: str | None
) -> _Parts:
    """Keep the rows of a measure, and the queries of others."""
    kinds = records.columns[kind]
    if set(kinds) == {found}:
        return _Parts(records, run, value, measure or found)
    n_queries = 0
    query = next(iter(records.titled(*QUERY_TITLES)), None)
    if query is not None and "num_q" in kinds:
        counts = [
            records.columns[value][row]
            for row, named in enumerate(kinds)
            if named == "num_q" and records.columns[query][row] == "all"
        ]
        n_queries = max((int(strict_number(count) or 0) for count in counts), default=0)
    rows = [row for row, named in enumerate(kinds) if str(named or "") == found]
    chosen = records.take(rows)
    if query is not None:
        runs: Sequence[Any] = records.columns[run] if run else [None] * records.size
        have = set(zip(*(chosen.columns[title] for title in (run, query) if title), strict=True))
        lacking = dict.fromkeys(
            row
            for row in zip(runs, records.columns[query], strict=True)
            if (row if run else row[1:]) not in have
        )
        for of_run, of_query in lacking:  # which has values of other measures
            for title, cells in chosen.columns.items():
                cells.append({run: of_run, query: of_query}.get(title))
        if chosen.numbers is not None and lacking:
            chosen = chosen._replace(numbers=[*chosen.numbers, *[0] * len(lacking)])
    return _Parts(chosen, run, value, measure or found, n_queries)


def _crossed(
    records: Records, queries: Sequence[str], run: str | None, measure: str | None
) -> _Parts:
    """Read a single column of values, or a table of runs and queries."""
    source = records.source
    query = queries[0] if queries else None
    index = _index(records)
    columns = [title for title in records.columns if title not in (*queries, run, index)]
    is_single = len(columns) == 1 and (query is not None or index is not None)
    if measure is None and is_single and normal(columns[0]) not in VALUE_TITLES:
        measure = columns[0]
    if measure is None and (query or run or index is not None):
        remedy = "name it with `measure`"
        if columns[1:]:
            remedy = f"choose one of its columns ({some(columns, 12)}) with `measure`"
        raise ParameterError(
            f"{source.called} has values without the name of their measure; {remedy}"
        )
    if measure is not None and is_single:
        return _Parts(records, run, columns[0], measure)
    numeric = [title for title in columns if _are_numbers(records.columns[title])]
    if measure is None or (query and run) or 2 * len(numeric) <= len(columns):
        raise source.error(
            "has no column of values; call it value, or choose one of its columns"
            f" ({some(columns, 12)}) with `measure`: there is no {measure}"
            if query is not None
            else "has no column of query ids; name it with `id`, and that of the values with"
            f" `measure`, or call it query_id or query: its columns are {some(_titles(records), 12)}."
            f" Of values, {MEANS}"
        )
    label = query or run or index
    if not (query or run) and index is None:
        label, *columns = columns
    label = label or ""
    rows = [_text(cell) for cell in records.columns[label]]
    are_queries = query is not None
    if query is None and run is None:
        # Pandas numbers rows so where nothing is named.
        is_counted = rows == [str(number) for number, _ in enumerate(rows)]
        are_numbers = [all(map(str.isdigit, names)) for names in (rows, columns)]
        if is_counted or are_numbers[0] == are_numbers[1]:
            raise source.error(
                f"has rows ({some(sorted(rows))}) and columns ({some(columns)}), and it cannot be"
                f" told which are the queries; call the first column, {label!r}, query_id or run"
            )
        are_queries = are_numbers[0]
    titles = [title for title in columns for _ in rows]
    row_names = rows * len(columns)
    for row, name in enumerate(titles if are_queries else rows):
        if not name.isdigit() and strict_number(name or "0") is not None:
            problem = "has no name of a run here; write the table with a header and their names"
            raise source.error(problem, records.number(row % len(rows)), name)
    of_query, of_run = (row_names, titles) if are_queries else (titles, row_names)
    numbers = None if records.numbers is None else list(records.numbers) * len(columns)
    cells = [cell for title in columns for cell in records.columns[title]]
    long = {"query_id": of_query, "run": of_run, "value": cells}
    return _Parts(Records(source, long, numbers), "run", "value", measure)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _are_numbers(cells: Sequence[Any]) -> bool:
    """Return whether a column has numbers or nothing, at least in its first rows."""
    looked_at = [cell for cell in cells[:20] if cell is not None]
    return all(
        not isinstance(cell, (list, tuple, dict))
        and (not isinstance(cell, str) or any(map(str.isdigit, cell)) or cell.casefold() in _EMPTY)
        for cell in looked_at
    )


# --- which ids


def _ids(parts: Sequence[_Parts], explicit: str | None, trials: Trials | None) -> list[str]:
    """Return the column of ids of each source."""
    if explicit is not None:
        return [_title(part.records, explicit, "id") for part in parts]
    names = [
        [normal(title) for title in _candidates(part)] for part in parts
    ]  # by which sources are joined
    first = [_first_id(part) for part in parts]
    shared = [name for name in names[0] if all(name in others for others in names[1:])]
    shared = shared or [""]
    titles = [_titles_called(parts, name) if name else first for name in shared]
    if len(titles) > 1 and _is_doubtful(parts, titles[0]):
        better = (of_name for of_name in titles[1:] if _are_ids(parts, of_name, trials))
        return next(better, titles[0])
    return titles[0]


def _candidates(part: _Parts) -> list[str]:
    titles = part.records.titled(*QUERY_TITLES)
    return [title for title in titles if title not in (part.value, part.run)]


def _titles_called(parts: Sequence[_Parts], name: str) -> list[str]:
    return [
        next(
            title
            for title in _candidates(part)
            if normal(title.rpartition(".")[2]) == normal(name.rpartition(".")[2])
        )
        for part in parts
    ]


def _first_id(part: _Parts) -> str:
    """Return the first known column of ids, keys outside of records, or an index."""
    titles = [
        *_candidates(part),
        *(title for title in (KEY, *INDEX_TITLES) if title in part.records.columns),
    ]
    if titles and not (titles[0] in INDEX_TITLES and _is_counted(part.records.columns[titles[0]])):
        return titles[0]
    raise part.records.source.error(
        "has no column of query ids; name it with `id`, or call it query_id or query: its columns are"
        f" {some(_titles(part.records), 12)}. Of values, {MEANS}"
    )


def _index(records: Records) -> str | None:
    """Return the first column where it is an index that pandas wrote."""
    first = next(iter(records.columns), None)
    return first if first in INDEX_TITLES else None


def _is_counted(cells: Sequence[Any]) -> bool:
    """Return whether ids are the numbers of rows, from 0 or 1 on."""
    first = str(cells[0])
    if first not in ("0", "1"):
        return False
    return all(str(cell) == str(number) for number, cell in enumerate(cells, int(first)))


def _is_doubtful(parts: Sequence[_Parts], titles: Sequence[str]) -> bool:
    """Return whether ids are row numbers, or are other ones in each source."""
    cells = [part.records.columns[title] for part, title in zip(parts, titles, strict=True)]
    if any(map(_is_counted, cells)):
        return True
    first = set(map(str, cells[0]))
    return any(first.isdisjoint(map(str, others)) for others in cells[1:])


def _are_ids(parts: Sequence[_Parts], titles: Sequence[str], trials: Trials | None) -> bool:
    """Return whether values are the same in all sources, and distinct but for trials."""
    sets = []
    for part, title in zip(parts, titles, strict=True):
        cells = part.records.columns[title]
        runs = part.records.columns[part.run] if part.run else [None] * len(cells)
        rows = list(zip(runs, cells, strict=True))
        if trials is None and len(set(rows)) < len(rows):
            return False
        sets.append(set(map(str, cells)))
    return all(others == sets[0] for others in sets[1:])


def _differing_texts(
    parts: Sequence[_Parts], ids: Sequence[str], *, is_explicit: bool
) -> Iterator[Note]:
    """Refuse, or note, ids that stand for different texts in two sources."""
    seen: dict[str, dict[str, str]] = defaultdict(dict)
    for part, id_title in zip(parts[: None if len(parts) > 1 else 0], ids, strict=False):
        for title in part.records.titled(*_TEXTS):
            if title in (id_title, part.value):
                continue
            known = seen[normal(title)]
            differing = []
            ids_of_rows = part.records.columns[id_title]
            for query, cell in zip(ids_of_rows, part.records.columns[title], strict=True):
                if isinstance(cell, str):
                    text = " ".join(cell.split())
                    if known.setdefault(str(query), text) != text:
                        differing.append(str(query))
            if not differing:
                continue
            called = part.records.source.called
            problem = (
                f"{id_title} {differing[0]} has another {title} in {called} than in the first"
                f" output, as {plural('id', len(differing))} {'has' if len(differing) == 1 else 'have'}"
            )
            if not is_explicit:
                raise MismatchError(
                    f"{problem}; name the column of ids with `id`, such as `id={title!r}`, or with"
                    f" `id={id_title!r}` if the same queries are meant"
                )
            yield note("other texts", f"{problem}.")


# --- values


def _cells(
    part: _Parts, id_title: str, bounds: Range | None, trials: Trials | None
) -> tuple[list[_Cells], list[str]]:
    """Return the values of each run of a source, and the rows that are summaries."""
    records, measure = part.records, part.measure
    raw = records.columns[part.value]
    ids = _checked_ids(records, id_title)
    values = _numbers(records, part.value, ids, measure)
    _check_possible(records, raw, values, ids, measure, bounds)
    failed = _failed(records)
    values[failed] = np.nan
    of_sources = []
    summaries: list[str] = []
    not_queries: set[str] = set()
    if not all(map(str.isdigit, set(map(itemgetter(-1), ids)))):  # no summary ends in a digit
        not_queries = set(filter(_SUMMARY.fullmatch, ids))
    for name, rows in _rows_of_runs(part, len(ids)).items():
        no_queries = _summaries(not_queries, ids, raw, values, rows) if not_queries else []
        if no_queries:
            summaries += [ids[row] for row in no_queries]
            rows = np.setdiff1d(rows, no_queries)
        if len(rows):
            of_sources.append(_of_run(part, id_title, name, ids, values, rows, failed, trials))
    if not of_sources:
        raise records.source.error(f"has no values by query; {MEANS}")
    return of_sources, list(dict.fromkeys(summaries))


def _rows_of_runs(part: _Parts, n_rows: int) -> Mapping[str | None, Ints]:
    """Return the rows of each run of a source."""
    if part.run is None:
        return {None: np.arange(n_rows)}
    names = list(map(_text, part.records.columns[part.run]))
    codes: dict[str | None, int] = {name: code for code, name in enumerate(dict.fromkeys(names))}
    run_codes = np.fromiter(map(codes.__getitem__, names), np.int64, len(names))
    ends = np.cumsum(np.bincount(run_codes, minlength=len(codes)))
    rows = np.split(np.argsort(run_codes, kind="stable"), ends[:-1])
    return dict(zip(codes, rows, strict=True))


def _checked_ids(records: Records, title: str) -> list[str]:
    cells = records.columns[title]
    if None in cells:
        problem = f"has no query id ({title}); give it one, or remove it"
        raise records.source.error(problem, records.number(cells.index(None)))
    try:
        return texts(cells, records.source.called, "query id", records.number)
    except FormatError as error:
        if error.line is None:
            raise
        raise records.source.error(error.problem, error.line, error.text) from None


def _of_run(
    part: _Parts,
    id_title: str,
    name: str | None,
    ids: list[str],
    values: Floats,
    rows: Ints,
    failed: Bools,
    trials: Trials | None,
) -> _Cells:
    """Return the values of a run, the mean of trials where that is asked for."""
    of_run = ids if len(rows) == len(ids) else [ids[row] for row in rows.tolist()]
    distinct = dict.fromkeys(of_run)
    chosen = values[rows]
    n_failed = int(failed[rows].sum())
    if len(distinct) == len(of_run):
        return _Cells(name, of_run, chosen, n_failed, _decimals(chosen, part.measure))
    if trials is None:
        raise _repeated(part, id_title, of_run, rows)
    place = {query: column for column, query in enumerate(distinct)}
    columns = np.fromiter(map(place.__getitem__, of_run), np.int64, len(of_run))
    if is_undefined_unanswered(part.measure) and np.isnan(chosen).any():
        row = int(np.argmax(np.isnan(chosen)))
        raise part.records.source.error(
            f"{part.measure} of query {of_run[row]} is undefined in a trial; take a measure that is"
            " 0 there, such as RR",
            part.records.number(int(rows[row])),
        )
    sums = np.bincount(columns, chosen, len(place))
    means: Floats = sums / np.bincount(columns, minlength=len(place))
    return _Cells(name, list(place), means, n_failed, _decimals(means, part.measure))


def _repeated(part: _Parts, id_title: str, ids: list[str], rows: Ints) -> Exception:
    """Make the error about a query that stands there several times."""
    first: dict[str, int] = {}
    for place, query in enumerate(ids):
        if first.setdefault(query, place) != place:
            break
    records = part.records
    number = records.number(int(rows[place]))
    called = "" if id_title == KEY else f" ({id_title})"
    begin = f"query {query}{called} has several values of {part.measure}"
    for title, cells in records.columns.items():
        if (
            title in (id_title, part.value, part.run, KEY, *INDEX_TITLES)
            or normal(title) in _TRIALS
        ):
            continue
        of_rows = [cells[row] for row in rows.tolist()]
        if any(isinstance(cell, (list, dict)) for cell in of_rows[:20]):
            continue
        kinds = sorted(set(map(str, of_rows)))
        pairs = set(zip(ids, map(str, of_rows), strict=True))
        if 1 < len(kinds) <= MOST_PARTS and len(pairs) == len(ids) and not _vary_like(kinds, ids):
            return records.source.error(
                f"{begin}, which the column {title!r} tells apart ({some(kinds, MOST_PARTS)});"
                f" choose one, such as `where=['{title}={kinds[0]}']`",
                number,
            )
    return records.source.error(
        f"{begin}; if they are trials, pass `trials='mean'`; if they are of several systems, call"
        " the column of their names 'run'",
        number,
    )


def _vary_like(kinds: Sequence[str], ids: Sequence[str]) -> bool:
    """Return whether a column has as many values as there are rows."""
    return len(kinds) == len(ids)


def _failed(records: Records) -> Bools:
    """(n_rows,) bool array: whether the tool marks the row as failed."""
    failed = np.zeros(records.size, dtype=bool)
    for title in records.titled(*_ERRORS):
        failed |= [
            _text(cell).strip().casefold() not in _NO_ERROR for cell in records.columns[title]
        ]
    for title in records.titled("status"):
        failed |= [_text(cell).strip().casefold() in _FAILED for cell in records.columns[title]]
    return failed


def _numbers(records: Records, title: str, ids: Sequence[str], measure: str) -> Floats:
    """Return cells as numbers: 1 and 0 for yes and no, NaN where there is nothing."""
    cells = records.columns[title]
    kinds = set(map(type, cells))
    if kinds <= {float, int, type(None)} and not (int in kinds and _are_huge(cells)):
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
        raise records.source.error(problem, records.number(row), str(cell))
    return np.array(numbers, dtype=np.float64)


def _are_huge(cells: Sequence[Any]) -> bool:
    return any(isinstance(cell, int) and abs(cell) > 2**1000 for cell in cells)


def _number(cell: Any) -> float | None:
    """Return the number that a cell is, or None."""
    if cell is None:
        return math.nan
    if isinstance(cell, (bool, np.bool_)):
        return float(cell)
    if isinstance(cell, str):
        folded = cell.strip().casefold()
        if folded in _EMPTY:
            return math.nan
        truth = _TRUTH_VALUES.get(folded, _TRUTH_VALUES.get(cell.strip().upper()))
        if truth is not None:
            return truth
    return strict_number(cell)


def _check_possible(
    records: Records,
    raw: Sequence[Any],
    values: Floats,
    ids: Sequence[str],
    measure: str,
    bounds: Range | None,
) -> None:
    """Refuse values that the measure cannot have."""
    for row in np.flatnonzero(impossible(values, measure, bounds)).tolist():
        problem = problem_of(float(values[row]), measure, bounds)
        if problem is not None and not _SUMMARY.fullmatch(ids[row]):
            problem = f"{measure} of query {ids[row]} {problem}"
            raise records.source.error(problem, records.number(row), _text(raw[row]))
    marks = values == -1
    if bounds is None and marks.any():
        others = values[~marks & ~np.isnan(values)]
        if len(others) and ((others >= 0) & (others <= 1)).all():
            raise records.source.error(
                f"{measure} is exactly -1 in {plural('row', int(marks.sum()))}, and from 0 to 1 in"
                " all others; if it marks a failed case, leave it empty, else pass `range=(-1, 1)`"
            )


# --- summaries


def _summaries(
    names: set[str], ids: Sequence[str], raw: Sequence[Any], values: Floats, rows: Ints
) -> list[int]:
    """Return the rows that are summaries of the others."""
    named = [row for row in rows.tolist() if ids[row] in names]
    found = [row for row in named if ids[row].casefold() == "all"]
    others = values[np.setdiff1d(rows, named)]
    others = others[~np.isnan(others)]
    for row in named:
        if row in found or not len(others):
            continue
        slack = 0.5001 * 10.0 ** -_places(raw[row])
        if any(abs(values[row] - value) <= slack for value in _statistics(ids[row], others)):
            found.append(row)
    return found


def _places(cell: Any) -> int:
    """Return the decimals that are written of a number."""
    text = str(cell).partition(".")[2]
    return 12 if "e" in str(cell) else len(text)


def _statistics(name: str, values: Floats) -> Iterator[float]:
    """Yield what a row of this name can say of the values of the others."""
    words = set(re.findall("[a-z]+", name.casefold()))
    if words & {*_MEANS, "total"}:
        yield float(values.mean())
    if words & {"total", "overall"}:
        yield float(values.sum())
    if "gmean" in words:
        yield float(np.exp(np.log(np.maximum(values, 1e-5)).mean()))
    if "std" in words:
        yield float(values.std())
        yield float(values.std(ddof=1)) if len(values) > 1 else 0.0
    if "median" in words:
        yield float(np.median(values))
    yield from (float(values.min()) for _ in words & {"min"})
    yield from (float(values.max()) for _ in words & {"max"})
    yield from (float(len(values)) for _ in words & {"count"})


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
    cells: Sequence[Sequence[_Cells]],
    read: Sequence[Source],
    positions: Sequence[str],
    names: Sequence[str] | None,
) -> tuple[list[_Cells], tuple[str, ...]]:
    """Return one run of each source, or all of a single one, with their names."""
    if len(cells) == 1:
        return _runs_of_one(cells[0], read[0], positions[0], names)
    if names is not None:
        check_one_for_each(names, len(cells), "output")
    asked: Sequence[str | None] = [None] * len(cells) if names is None else names
    chosen = [_only(*each) for each in zip(cells, read, asked, strict=True)]
    usual = [
        of_run.run or _usual_name(source, position)
        for of_run, source, position in zip(chosen, read, positions, strict=True)
    ]
    return chosen, tuple(distinct_names(usual, asked, [source.data for source in read]))


def _runs_of_one(
    cells: Sequence[_Cells], source: Source, position: str, names: Sequence[str] | None
) -> tuple[list[_Cells], tuple[str, ...]]:
    if len(cells) == 1 and (names is None or len(names) == 1):
        return list(cells), (names[0] if names else cells[0].run or _usual_name(source, position),)
    by_name = {_text(of_run.run): of_run for of_run in cells}
    if absent := [name for name in names or () if name not in by_name]:
        raise ParameterError(
            f"{source.called} has no run {some(absent)}; it has {some(list(by_name))}"
        )
    runs = tuple(map(str, names or by_name))
    return [by_name[run] for run in runs], runs


def _only(cells: Sequence[_Cells], source: Source, name: str | None) -> _Cells:
    """Return the run of a source beside others, of several by name."""
    asked = [of_run for of_run in cells if len(cells) == 1 or of_run.run == name]
    if asked:
        return asked[0]
    runs = [_text(of_run.run) for of_run in cells]
    raise MismatchError(
        f"{source.called} has the runs {some(runs)}; name one for each output, such as"
        f" `names={runs[:2]}`"
    )


def _usual_name(source: Source, position: str) -> str:
    return name_of(source.data) if source.is_file else position
