"""Values of measures by query that other tools computed: files, frames, dicts and records.

A row is read completely or the source is refused, because a file of which a part is ignored can turn
a verdict around; columns of measures that nobody asked for are not read.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, islice, zip_longest
from numbers import Real
from typing import Any, Literal, NamedTuple

import numpy as np

from ir_outcomes.errors import FormatError, ParameterError, some
from ir_outcomes.reading.files import WHITE_SPACE, name_of, parsed_json
from ir_outcomes.reading.measure_names import (
    base_name,
    is_measure_name,
    is_reciprocal,
    is_same_measure,
    problem_of,
)
from ir_outcomes.reading.objects import as_list, column_names, is_frame, texts
from ir_outcomes.reading.tables import Lines, Source, strict_number

Trials = Literal["mean"]
MOST_DECIMALS = 6
# In order of preference, in small letters and with underscores.
_QUERY_TITLES = (
    *("query_id", "qid", "q_id", "topic_id", "question_id", "case_id", "sample_id", "id"),
    *("topic", "query", "user_input"),
)
_RUN_TITLES = (
    *("run", "runid", "run_id", "run_name", "model", "model_name", "system", "system_name"),
)
_INDEX_TITLES = ("", "Unnamed: 0")  # of a column that pandas wrote or read
_METRIC = ("query_id", "measure", "value")  # attributes of ir_measures.Metric
_SUMMARY = re.compile(
    r"(all|[agh]?mean|avg|average|total|overall|(macro|micro|weighted)[ _-]?(avg|average|mean)?)\W*",
    re.IGNORECASE,
)
_TRUTH_VALUES = dict.fromkeys(("C", "true", "True", "TRUE"), True) | dict.fromkeys(
    ("I", "false", "False", "FALSE"), False
)
_TEXTS_OF_TREC_EVAL = re.compile(r"runid|relstring(_\d+)?")  # their values are not numbers
_MEANS = (
    "tools write them with -q or perquery=True, and means are for `verdict` (in Python"
    " verdict_from_means)"
)
_FORMS = '{"q1": {"nDCG@10": 0.5}} or [{"query_id": "q1", "nDCG@10": 0.5}]'


@dataclass(frozen=True, eq=False)
class RunValues:
    """The values of one measure for one run, by query.

    Attributes
    ----------
    name, measure : str
        Of the run and of the measure.
    values : dict of str to float
        NaN where the measure is undefined.
    decimals : int or None
        Decimals that the values were rounded to; None where they were not.
    """

    name: str
    measure: str
    values: dict[str, float]
    decimals: int | None


class _Row(NamedTuple):
    """A value as it was read."""

    number: int | None  # of its line, or of the row of an object; None where that is not known
    run: str | None
    query: Any
    measure: str | None
    value: Any  # None where there is none


Records = Iterable[tuple[int | None, Mapping[Any, Any]]]  # with the numbers of their lines or rows
# Of a run: for each measure and query the values, each with the number of its line or row.
_OfRun = dict[str | None, dict[str, list[tuple[Any, int | None]]]]


def read_values(
    source: Any,
    *,
    measure: str | None = None,
    names: Sequence[str] | None = None,
    trials: Trials | None = None,
    position: str = "output",
) -> list[RunValues]:
    """Return the values of one measure for each run of what another tool wrote or returned."""
    read = Source.of(source, position)
    if isinstance(names, str):
        raise ParameterError("must be a list of names, such as `names=['a', 'b']`", names=names)
    rows = _rows_of_file(read, measure) if read.is_file else _rows_of_object(read, measure)
    by_run = _by_run(rows, read, trials)
    if not by_run:
        raise read.error(f"has no values by query; {_MEANS}")
    if len(by_run) == 1 and (names is None or len(names) == 1):
        ((run, of_run),) = by_run.items()
        usual = run or (name_of(source) if read.is_file else position)
        return [_values(of_run, read, measure, names[0] if names else usual)]
    absent = [name for name in names or () if name not in by_run]
    if absent:
        runs = [run or "one without a name" for run in by_run]
        raise ParameterError(f"{read.called} has no run {some(absent)}; it has {some(runs)}")
    return [_values(by_run[name], read, measure, str(name)) for name in names or by_run]


def _by_run(
    rows: Iterable[_Row], source: Source, trials: Trials | None
) -> dict[str | None, _OfRun]:
    """Collect the rows; a run has one value of a measure for a query, or several trials."""
    by_run: dict[str | None, _OfRun] = {}
    queries: set[str] = set()
    for row in rows:
        query = row.query
        if not isinstance(query, str) or query not in queries:
            query = _query_in(row, source)
            if _SUMMARY.fullmatch(query):
                continue
            queries.add(query)
        of_measure = by_run.setdefault(row.run, {}).setdefault(row.measure, {})
        values = of_measure.setdefault(query, [])
        if values and trials is None:
            of_what = f" of {row.measure}" if row.measure else ""
            problem = (
                f"query {query} has several values{of_what}; if they are trials, pass"
                " `trials='mean'`; if they are of several systems, call the column of their names"
                " 'run'"
            )
            raise source.error(problem, row.number)
        values.append((row.value, row.number))
    for of_run in by_run.values():
        _check_complete(of_run, source)
    return by_run


def _query_in(row: _Row, source: Source) -> str:
    identifier = "" if row.query is None else row.query
    try:
        (query,) = texts([identifier], source.called, "query id", lambda _: row.number or 0)
    except FormatError as error:
        raise source.error(error.problem, row.number, error.text) from None
    return query


def _check_complete(of_run: _OfRun, source: Source) -> None:
    """Refuse measures that lack queries: the output was cut, or is of more than one kind."""
    everywhere = set[str]().union(*of_run.values())
    absent = {query for of_measure in of_run.values() for query in everywhere - of_measure.keys()}
    if absent:
        raise source.error(
            f"queries have values of some of the measures only ({some(sorted(absent))}; the measures"
            f" are {some(sorted(map(str, of_run)))}); is the name of a measure damaged, or was the"
            " output cut, or put together from two?"
        )


def _values(of_run: _OfRun, source: Source, measure: str | None, name: str) -> RunValues:
    """Return the values of the measure that is meant, checked."""
    chosen = _measure_in(of_run, source, measure)
    title = chosen if measure is None else measure
    values: dict[str, float] = {}
    for query, cells in of_run[None if None in of_run else chosen].items():
        numbers = []
        for value, row in cells:
            number = _number_in(value, query, title, source, row)
            problem = problem_of(number, title)
            if math.isnan(number) and len(cells) > 1:
                problem = "is undefined in a trial; take a measure that is 0 there, such as RR"
            if problem is not None:
                text = "" if value is None else str(value)
                raise source.error(f"{title} of query {query} {problem}", row, text)
            numbers.append(number)
        values[query] = math.fsum(numbers) / len(numbers)
    return RunValues(name, title, values, _decimals(list(values.values()), title))


def _measure_in(of_run: _OfRun, source: Source, measure: str | None) -> str:
    """Choose a measure; values without one are of the measure that is asked for."""
    named = [title for title in of_run if title is not None]
    if measure is not None:
        if not named or measure in named:
            return measure
        found = [title for title in named if is_same_measure(title, measure)]
    else:
        found = [title for title in named if is_reciprocal(title) or base_name(title) == "ESL"]
        found = found or named
    if len(found) == 1:
        return found[0]
    problem = f"several measures ({some(found)}); choose one with `measure`"
    if not named:
        problem = "values without the name of their measure; name it with `measure`"
    elif not found:
        problem = f"no values of {measure}; it has {some(named)}"
    raise ParameterError(f"{source.called} has {problem}")


def _number_in(value: Any, query: str, title: str, source: Source, row: int | None) -> float:
    """Return a number, a truth value as 1 or 0, NaN where there is nothing."""
    if value is None:
        return math.nan
    if isinstance(value, str):
        value = _TRUTH_VALUES.get(value, value)
    number = float(value) if isinstance(value, (bool, np.bool_)) else strict_number(value)
    if number is None:
        problem = "is not a number; correct it, or write 1 and 0 for yes and no"
        if "," in str(value) and strict_number(str(value).replace(",", ".")) is not None:
            problem = "has a decimal comma; write a point"
        raise source.error(f"the value of {title} of query {query} {problem}", row, str(value))
    return number


def _decimals(values: Sequence[float], measure: str) -> int | None:
    """Find the decimals that values were rounded to; None where nothing says that they were."""
    numbers = [number for number in values if math.isfinite(number) and number != int(number)]
    if is_reciprocal(measure) and all(1 / number == int(1 / number) for number in numbers):
        return None
    found = next(
        (
            decimals
            for decimals in range(1, MOST_DECIMALS + 1)
            if all(round(number, decimals) == number for number in numbers)
        ),
        None,
    )
    return found if found is None or found >= 3 or is_reciprocal(measure) else None


# --- tables: records with the same keys


def _rows_of_table(
    titles: Sequence[str], records: Records, measure: str | None, source: Source
) -> Iterator[_Row]:
    """Read a row for each value, columns of measures, or runs and queries."""
    if not titles:
        return iter(())
    by_folded = {_folded(title): title for title in reversed(titles)}
    query = next((by_folded[title] for title in _QUERY_TITLES if title in by_folded), None)
    kind = by_folded.get("measure", by_folded.get("metric"))
    # In other tables a name can be anything.
    run_titles = (*_RUN_TITLES, "name") if kind or query is None else _RUN_TITLES
    run = next((by_folded[title] for title in run_titles if title in by_folded), None)
    index = titles[0] if titles[0] in _INDEX_TITLES else None
    columns = [title for title in titles if title not in (query, run)]
    if index is not None and (query or run):
        columns.remove(index)
    values = [title for title in columns if _is_asked(title, measure)]
    if kind is not None:
        values = [by_folded[title] for title in ("value", "score") if title in by_folded][:1]
    elif not values and not (query and run):
        return _rows_of_runs_and_queries(columns, records, query, run, source)
    elif not values and len(columns) == 1:
        values = columns
    if not values:
        raise source.error(
            "has no column of values; call it value, or choose one of its columns"
            f" ({some(columns)}) with `measure`"
        )
    if query is None and run is None:
        query = index

    def rows() -> Iterator[_Row]:
        for number, record in records:
            identifier = record.get(query)
            # An index that counts the rows does not say which queries they are.
            if query is None or (query == index and str(identifier) == "0"):
                raise source.error(
                    "has no column of query ids; call it query_id or query: its columns are"
                    f" {some(list(titles))}. Values by query: {_MEANS}"
                )
            name = None if run is None else _text(record.get(run))
            for title in values:
                named = title if _is_asked(title, measure) else None
                if kind is not None:
                    named = _text(record.get(kind))
                yield _Row(number, name, identifier, named, record.get(title))

    return rows()


def _folded(title: str) -> str:
    return re.sub("[ -]", "_", title.strip().lower())


def _is_asked(title: str, measure: str | None) -> bool:
    return title == measure or is_measure_name(title)


def _text(cell: Any) -> str:
    return "" if cell is None else str(cell)


def _rows_of_runs_and_queries(
    columns: Sequence[str], records: Records, query: str | None, run: str | None, source: Source
) -> Iterator[_Row]:
    """Read a row for each run and a column for each query, or the reverse; a cell may be empty."""
    label = query or run
    if label is None:
        label, *columns = columns
        records = list(records)
        rows = [_text(record.get(label)) for _, record in records]
        # Pandas numbers rows so where nothing is named.
        is_counted = rows == [str(number) for number in range(len(rows))]
        are_numbers = [all(map(str.isdigit, names)) for names in (rows, columns)]
        if is_counted or are_numbers[0] == are_numbers[1]:
            raise source.error(
                f"has rows ({some(sorted(rows))}) and columns ({some(columns)}), and it cannot be"
                f" told which are the queries; call the first column, {label!r}, query_id or run"
            )
        query = label if are_numbers[0] else None
    n_keys = None
    for number, record in records:
        n_keys = n_keys or len(record)
        if len(record) > n_keys:
            raise source.error(
                "has more keys than the first row", number, some(list(map(str, record)), 10)
            )
        for title in columns:
            of_row = record.get(label)
            name, asked = (_text(of_row), title) if query is None else (title, of_row)
            if not name.isdigit() and strict_number(name or "0") is not None:
                problem = "has no name of a run here; write the table with a header and their names"
                raise source.error(problem, number, name)
            if record.get(title) is not None:
                yield _Row(number, name, asked, None, record[title])


def _rows_of_records(
    records: Iterable[tuple[int | None, Any]], measure: str | None, source: Source
) -> Iterator[_Row]:
    """Read mappings, of which the first one has all keys."""

    def checked() -> Records:
        for number, record in records:
            if not isinstance(record, Mapping):
                raise source.error(f"is no record, such as those of {_FORMS}", number, repr(record))
            yield number, record

    rest = iter(checked())
    first = list(islice(rest, 1))
    for _, record in first:
        return _rows_of_table(list(map(str, record)), chain(first, rest), measure, source)
    return iter(())


# --- files


def _rows_of_file(source: Source, measure: str | None) -> Iterator[_Row]:
    """Read JSON, JSON lines, a table with a header, or three columns."""
    lines = Lines(source)
    first = lines.first
    if first.lstrip()[:1] in ("{", "["):
        return _rows_of_json(lines, source, measure)
    separator = next((sign for sign in "\t,;" if sign in first), None)
    if separator is not None and _is_header(first):
        titles, body = source.table(lines, separator)
        records = ((number, dict(zip(titles, cells, strict=True))) for number, cells in body)
        return _rows_of_table(titles, records, measure, source)
    return _rows_of_lines(lines, source, measure)


def _is_header(line: str) -> bool:
    """Tell a header from the lines of trec_eval and ir_measures, of which one may be damaged."""
    fields = _fields(line)
    if line.startswith("\t") or len(fields) != 3:
        return True
    titles = {*_QUERY_TITLES, *_RUN_TITLES, "measure", "metric"} & set(map(_folded, fields))
    return bool(titles) and strict_number(fields[2]) is None and not _SUMMARY.fullmatch(fields[1])


def _fields(line: str) -> list[str]:
    """Return columns: by tabs where there are two, because an id can have spaces inside."""
    fields = line.rstrip("\r\n").split("\t")
    if len(fields) == 3:
        return [field.strip(WHITE_SPACE) for field in fields]
    return [field for field in re.split(f"[{WHITE_SPACE}]+", line) if field]


def _rows_of_lines(lines: Lines, source: Source, measure: str | None) -> Iterator[_Row]:
    """Read lines of trec_eval (measure, query, value) or ir_measures (query, measure, value)."""

    def triples() -> Iterator[tuple[int, list[str]]]:
        for number, line in lines:
            fields = _fields(line)
            if len(fields) != 3:
                problem = f"is not a line of 3 columns with values by query; {_MEANS}"
                if len(fields) in (4, 6) or "Q0" in fields:
                    problem = "has no values by query; runs and qrels are for `compare`"
                raise source.error(problem, number, " ".join(fields))
            yield number, fields

    pairs: set[tuple[str, str]] = set()
    for _, (first, second, _) in triples():
        if (first, second) in pairs:  # trials, or an error that is raised below
            break
        pairs.add((first, second))
    measures_first = bool(pairs) and _are_measures_first(pairs, measure, source)
    for number, (first, second, value) in triples():
        query, named = (second, first) if measures_first else (first, second)
        if not _TEXTS_OF_TREC_EVAL.fullmatch(named):
            yield _Row(number, None, query, named, value or None)


def _are_measures_first(
    pairs: Iterable[tuple[str, str]], measure: str | None, source: Source
) -> bool:
    """Return which column has the measures: the order is the same in all lines."""
    first = {first for first, _ in pairs}
    second = {second for _, second in pairs}
    if first.isdisjoint(second):
        for is_first, is_second in (
            (measure in first, measure in second),
            (any(map(_SUMMARY.fullmatch, second)), any(map(_SUMMARY.fullmatch, first))),
            (all(map(is_measure_name, first)), all(map(is_measure_name, second))),
            (len(first) < len(second), len(second) < len(first)),
        ):
            if is_first != is_second:
                return bool(is_first)
    raise source.error(
        "has no values by query, or it cannot be told which column has the measures and which the"
        " queries; write them with -q as JSON lines (ir_measures -q -o jsonl), or give a dict"
    )


def _rows_of_json(lines: Lines, source: Source, measure: str | None) -> Iterator[_Row]:
    """Read JSON lines, or a document: a list of records, or a dict."""
    first, *others = (line.strip() for _, line in islice(lines, 2))
    if others and first[0] == "{" and first[-1] == "}":
        records = ((number, parsed_json(line, source.called, number)) for number, line in lines)
        return _rows_of_records(records, measure, source)
    document = source.document(lines)
    if isinstance(document, list):
        return _rows_of_records(((None, record) for record in document), measure, source)
    return _rows_of_mapping(document, measure, source)


# --- objects


def _rows_of_object(source: Source, measure: str | None) -> Iterator[_Row]:
    """Read a frame, a dict, or an iterable of records or of ir_measures.Metric."""
    data = getattr(source.data, "per_query", source.data)
    if is_frame(data):
        return _rows_of_frame(data, measure, source)
    if isinstance(data, Mapping):
        return _rows_of_mapping(data, measure, source)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        return _rows_of_records(enumerate(map(_record_of, data), 1), measure, source)
    raise source.error(f"values by query cannot be read from a {type(data).__name__}")


def _record_of(item: Any) -> Any:
    """Return a Metric as a record; all else is one, or is refused later."""
    if not all(hasattr(item, name) for name in _METRIC):
        return item
    return {name: getattr(item, name) for name in _METRIC}


def _rows_of_frame(frame: Any, measure: str | None, source: Source) -> Iterator[_Row]:
    """Read a frame, with the index of pandas as columns in front."""
    if hasattr(frame, "reset_index"):
        names = [name or _INDEX_TITLES[1] for name in frame.index.names]
        frame = frame.reset_index(names=names, allow_duplicates=True)
        frame = frame.astype(object).where(frame.notna(), None)
    titles = column_names(frame)
    source.refuse_repeated(titles)
    rows = zip(*(as_list(frame[title]) for title in titles), strict=True)
    records = enumerate((dict(zip(titles, row, strict=True)) for row in rows), 1)
    return _rows_of_table(titles, records, measure, source)


def _rows_of_mapping(
    data: Mapping[Any, Any], measure: str | None, source: Source
) -> Iterator[_Row]:
    """Read {query: value}, {query: {measure: value}}, {measure: {query: value}}, or columns."""
    keys = list(map(str, data))
    folded = set(map(_folded, keys))
    if folded & {*_QUERY_TITLES} and (
        folded & {"measure", "metric"} or any(_is_asked(key, measure) for key in keys)
    ):
        records = [data]
        columns = list(data.values())  # as pandas writes them
        if all(isinstance(cells, (Mapping, list, tuple, np.ndarray)) for cells in columns):
            cells = (
                list(cells.values()) if isinstance(cells, Mapping) else cells for cells in columns
            )
            records = [dict(zip(keys, row, strict=True)) for row in zip_longest(*cells)]
        return _rows_of_records(enumerate(records, 1), measure, source)
    if all(value is None or isinstance(value, (Real, np.bool_)) for value in data.values()):
        if 2 * sum(map(is_measure_name, keys)) > len(keys):
            raise source.error(f"has no values by query; {_MEANS}", text=some(keys))
        return (_Row(None, None, query, None, value) for query, value in data.items())
    are_plain = [
        isinstance(values, Mapping)
        and not any(isinstance(cell, Mapping) for cell in values.values())
        for values in data.values()
    ]
    if not all(are_plain):
        problem = f"is in no form of values by query that is read, such as {_FORMS}; its keys are"
        raise source.error(f"{problem} {some(keys)}")
    inner = list(dict.fromkeys(str(key) for values in data.values() for key in values))
    are_measures = [bool(names) and all(map(is_measure_name, names)) for names in (keys, inner)]
    if all(are_measures):
        raise source.error(f"has no values by query; {_MEANS}", text=some(inner))
    by_measure = are_measures[0]
    if (measure in keys) != (measure in inner):
        by_measure = measure in keys
    pairs = ((outer, key, value) for outer, values in data.items() for key, value in values.items())
    if by_measure:
        return (_Row(None, None, query, str(named), value) for named, query, value in pairs)
    return (_Row(None, None, query, str(named), value) for query, named, value in pairs)
