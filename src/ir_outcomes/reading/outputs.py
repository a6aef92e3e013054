"""Per-query values that other tools computed: ir_measures, pytrec_eval, trec_eval -q, PyTerrier.

Every row is read or the source is refused: a file of which a part is ignored can turn a verdict around.
"""

from __future__ import annotations

import csv
import json
import math
import os
import re
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from functools import partial
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.errors import FormatError, ParameterError, some
from ir_outcomes.reading.columns import texts
from ir_outcomes.reading.files import WHITE_SPACE, lines_of, name_of
from ir_outcomes.reading.formats import QUERY_NAMES, as_list, column_names, is_frame, without_repeated_names
from ir_outcomes.reading.measure_names import RECIPROCALS, base_name, is_gain, is_measure_name
from ir_outcomes.reading.runs import distinct_names

MOST_PLACES = 6
MOST_ROWS = 2_000_000  # what is kept of a row takes about 250 bytes
_UNNAMED = ""  # the measure of values whose source does not say what they are
_OF_LONG_TABLES = ("qid", "measure", "value")
_TITLES_OF_QUERIES = (*QUERY_NAMES, "query", "topic")
_TITLES_OF_RUNS = ("run", "name", "system")
_SUMMARY = "all"  # where a file has the mean over the queries; in dicts and frames it is a query like any other
_PREFERRED = (*RECIPROCALS, "ESL")
_CAN_BE_UNDEFINED = ("ESL", "ASL", "SharedRR")
_TEXTS_OF_TREC_EVAL = re.compile(r"runid|relstring(_\d+)?")  # their values are not numbers


class UnclearTable(FormatError):
    """A table of runs and queries that does not say which of its names are the queries."""


@dataclass(frozen=True, eq=False)
class Output:
    """The values of one measure for one run.

    Attributes
    ----------
    name : str
        The run.
    measure : str
        The measure's name, as its tool writes it.
    values : dict of str to float
        Value of each query; NaN for undefined.
    places : int or None
        Decimal places that all values were rounded to; None where they are written in full.
    """

    name: str
    measure: str
    values: dict[str, float]
    places: int | None


def read_output(
    source: Any,
    *,
    measure: str | None = None,
    name: str | None = None,
    position: str = "output",
    queries: Collection[str] = (),
) -> Output:
    """Read the values of one measure and one run from what another tool wrote or returned.

    Parameters
    ----------
    source, measure, position, queries
        See `read_outputs`.
    name : str, optional
        Which of the runs, where the source has several; and the name of the result.

    Returns
    -------
    Output

    Raises
    ------
    UnreadableFile, FormatError, ParameterError
        See `read_outputs`; also if the source has several runs and none is chosen.
    """
    names = None if name is None else [name]
    outputs = read_outputs(source, measure=measure, names=names, position=position, queries=queries)
    if len(outputs) > 1:
        runs = some([output.name for output in outputs])
        raise ParameterError(f"{_called(source, position)} has the runs {runs}; choose one with names=(baseline, contender)")
    return outputs[0]


def read_output_of_each_run(
    sources: Sequence[Any],
    positions: Sequence[str],
    *,
    measure: str | None = None,
    names: Sequence[str] | None = None,
    queries: Collection[str] = (),
) -> list[Output]:
    """Read one output for each run, and call them by different names.

    Parameters
    ----------
    sources, positions, measure, queries
        See `read_outputs`.
    names : sequence of str, optional
        See `read_output`. Without it, outputs that call themselves alike get their paths, or numbers.

    Raises
    ------
    UnreadableFile, FormatError, ParameterError
        See `read_output`; also if names are repeated, or there are not as many as sources.
    """
    if names is not None and len(names) != len(sources):
        raise ParameterError(f"there are {len(sources)} outputs and {len(names)} names; give one name for each")
    given: Sequence[str | None] = [None] * len(sources) if names is None else names
    reading = [
        partial(read_output, source, measure=measure, name=name, position=position)
        for source, name, position in zip(sources, given, positions, strict=True)
    ]
    known = set(queries)
    outputs: dict[int, Output] = {}
    unclear = []
    for place, read in enumerate(reading):
        try:
            outputs[place] = read(queries=known)
            known |= outputs[place].values.keys()
        except UnclearTable:  # the others may have its queries
            unclear.append(place)
    outputs |= {place: reading[place](queries=known) for place in unclear}
    ordered = [outputs[place] for place in range(len(sources))]
    called = distinct_names([output.name for output in ordered], given, sources)
    return [replace(output, name=name) for output, name in zip(ordered, called, strict=True)]


def read_outputs(
    source: Any,
    *,
    measure: str | None = None,
    names: Sequence[str] | None = None,
    position: str = "output",
    queries: Collection[str] = (),
) -> list[Output]:
    """Read the values of one measure for each run of what another tool wrote or returned.

    Parameters
    ----------
    source : path, CalcResults, iterable of Metric, dict or frame
        The text of ``trec_eval -q``, of ``ir_measures -q`` (tsv or jsonl) or PyTerrier's ``perquery.csv``; ir_measures'
        `CalcResults` or `Metric` values; pytrec_eval's ``{query: {measure: value}}``, or ``{query: value}``; PyTerrier's frame
        with the columns ``name, qid, measure, value``; a table with a row for each run and a column for each query: a frame
        with the names of the runs as its index, or a file as its ``to_csv`` writes it, separated by commas or tabs.
    measure : str, optional
        Which of the measures; by default a reciprocal rank or ESL, or the only one there is. Required where the source does
        not name it.
    names : sequence of str, optional
        Which of the runs, by default all; where the source has one run or does not name it, the name of the result.
    position : str
        How messages call a source without a name.
    queries : collection of str
        Query ids that are known from elsewhere; they say which way a table of runs and queries stands.

    Returns
    -------
    list of Output

    Raises
    ------
    UnreadableFile
        If the file cannot be read.
    FormatError
        If the source has none of these forms; or a row is malformed or repeated; or a value is not a number, or not one that
        the measure can have.
    ParameterError
        If the source lacks the measure or a run, or has several measures to choose from, or does not name it.
    """
    where = _called(source, position)
    rows = _Rows(where, queries=queries, runs=names or ())
    if _is_path(source):
        _read_file(source, rows, measure)
    else:
        _read_object(source, rows)
    if not rows.values:
        raise FormatError(where, "has no per-query value; write them with -q, or perquery=True")
    by_run = rows.by_run()
    for of_run in by_run.values():
        _refuse_gaps(of_run)
    if len(by_run) == 1 and (names is None or len(names) == 1):
        ((run, rows),) = by_run.items()
        own = run or (name_of(source) if _is_path(source) else position)
        return [_output(rows, measure, names[0] if names else own)]
    lacking = [name for name in names or () if name not in by_run]
    if lacking:
        runs = [run or "one without a name" for run in by_run]
        raise ParameterError(f"{where} has no run {some(lacking)}; it has {some(runs)}")
    return [_output(by_run[name], measure, str(name)) for name in names or by_run]


def _is_path(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))


def _called(source: Any, position: str) -> str:
    return os.fsdecode(source) if _is_path(source) else f"the {position}"


def _output(rows: _Rows, measure: str | None, name: str) -> Output:
    """Take the values of one measure out of the rows of one run."""
    chosen = _chosen(list(dict.fromkeys(found for _, _, found in rows.values)), measure, rows.where)
    rows = rows.of_measure(chosen)
    _check_values(rows, chosen)
    values = {query: value for (_, query, _), value in rows.values.items() if isinstance(value, float)}
    return Output(name, chosen, values, _places(list(values.values()), chosen, rows.decimals))


class _Rows:
    """Values by run (or None), query and measure, with the number of the row or line of each.

    Texts are kept where a value is not a number, for `_check_values` to report if the measure is the chosen one.
    """

    def __init__(
        self, where: str, *, in_lines: bool = False, queries: Collection[str] = (), runs: Collection[str] = ()
    ) -> None:
        self.where = where
        self.queries, self.runs = queries, runs  # what is known of their names
        self.in_lines = in_lines  # numbers are those of lines, not of rows
        self.values: dict[tuple[str | None, str, str], float | str] = {}
        self.numbers = array("q")
        self.decimals: int | None = None  # the number of decimals with which every value is written, if that is the same

    def add(self, run: str | None, query: str, measure: str, value: float | str, number: int) -> None:
        key = (run, query, measure)
        if key in self.values:
            raise self.error(f"has two values of {measure} for query {query}", number)
        self._keep(key, value, number)
        if len(self.values) > MOST_ROWS:
            raise self.error(f"has more than {MOST_ROWS:,} values; write only the measure that is to be compared", number)

    def numbered(self) -> Iterator[tuple[tuple[str | None, str, str], float | str, int]]:
        """Yield run, query and measure; the value; and the number of its row or line."""
        return zip(self.values, self.values.values(), self.numbers, strict=True)

    def by_run(self) -> dict[str | None, _Rows]:
        """Return the rows of each run."""
        found: dict[str | None, _Rows] = {}
        for key, value, number in self.numbered():
            found.setdefault(key[0], self._empty())._keep(key, value, number)
        return found

    def of_measure(self, measure: str) -> _Rows:
        """Return the rows of one measure; values without a measure are of any."""
        chosen = self._empty()
        for key, value, number in self.numbered():
            if key[2] in (measure, _UNNAMED):
                chosen._keep(key, value, number)
        return chosen

    def _empty(self) -> _Rows:
        rows = _Rows(self.where, in_lines=self.in_lines)
        rows.decimals = self.decimals
        return rows

    def _keep(self, key: tuple[str | None, str, str], value: float | str, number: int) -> None:
        self.values[key] = value
        self.numbers.append(number)

    def error(self, problem: str, number: int, text: str | None = None) -> FormatError:
        if self.in_lines:
            return FormatError(self.where, problem, line=number, text=text)
        return FormatError(self.where, f"row {number}: {problem}" if text is not None else problem, text=text)


def _read_file(path: str | os.PathLike[str], rows: _Rows, measure: str | None) -> None:
    rows.in_lines = True
    lines: Iterator[tuple[int, str]] = ((number, line) for number, line in lines_of(path) if line.strip())
    first = next(lines, None)
    if first is None:
        return
    lines = chain([first], lines)
    if first[1].lstrip().startswith("{"):
        _read_json_lines(lines, rows)
    elif (separator := _separator(first[1])) is not None:
        _read_separated(lines, rows, separator)
    else:
        _read_columns(lines, rows, measure)


def _read_json_lines(lines: Iterator[tuple[int, str]], rows: _Rows) -> None:
    last: dict[str, tuple[float, int]] = {}  # of each measure, the last value of "all": the summary, or a query of this name
    for number, line in lines:
        try:
            fields = json.loads(line, object_pairs_hook=without_repeated_names)
            query, measure, value = fields["query_id"], fields["measure"], fields["value"]
            if not isinstance(measure, str):
                raise TypeError
        except (ValueError, KeyError, TypeError, RecursionError):
            problem = "is not a line of ir_measures -q -o jsonl (query_id, measure, value)"
            raise rows.error(problem, number, line.strip()) from None
        (query,) = texts([query], rows.where, "query id", {0: number}.get)
        if measure in last:  # the summary has no line after it
            rows.add(None, _SUMMARY, measure, *last.pop(measure))
        if query == _SUMMARY:
            last[measure] = (_number(value, rows, number), number)
        else:
            rows.add(None, query, measure, _number(value, rows, number), number)
    for measure, (found, number) in last.items():
        if not _is_summary(rows, measure, found):
            rows.add(None, _SUMMARY, measure, found, number)


def _is_summary(rows: _Rows, measure: str, value: float) -> bool:
    """Return whether this is what ir_measures writes below the values of the queries: their mean, or sum."""
    values = [found for (_, _, named), found in rows.values.items() if named == measure and isinstance(found, float)]
    defined = [found for found in values if not math.isnan(found)]
    mean = sum(defined) / len(defined) if defined else math.nan
    return bool(np.isclose([mean, sum(defined)], value, equal_nan=True).any())


def _separator(line: str) -> str | None:
    r"""Return what separates the columns of a table with a header; None for the three columns without one.

    Examples
    --------
    >>> _separator(",401,402"), _separator("run\t401\t402\t403"), _separator("map\t401\t0.25")
    (',', '\t', None)
    """
    fields = _fields(line)
    has_three = len(fields) == 3 and bool(fields[0]) and len({*fields} & {*_OF_LONG_TABLES}) < 2
    # By tabs also where the value is not a number: a damaged line of trec_eval must not become the header of a table.
    by_tabs = line.count("\t") == 2
    if (
        has_three
        and not line.startswith("\t")
        and (by_tabs or strict_number(fields[2]) is not None or _TEXTS_OF_TREC_EVAL.fullmatch(fields[0]))
    ):
        return None
    return next((sign for sign in "\t," if sign in line), None)


def _read_separated(lines: Iterator[tuple[int, str]], rows: _Rows, separator: str) -> None:
    """Read a table with a header: PyTerrier's with a row for each value, or one with a row for each run."""
    numbered = _separated(lines, rows, separator)
    number, header = next(numbered)
    titles = [title.strip() for title in header]
    if len(set(titles)) < len(titles):
        raise rows.error("names a column twice", number, separator.join(titles))
    if any("\n" in title for title in titles):
        raise rows.error("has a quotation mark that joins the header and another line", number, titles[0])
    if _is_wide(titles, rows, number):
        _read_wide(titles[0], titles[1:], [(number, fields[0], fields[1:]) for number, fields in numbered], rows)
    else:
        _read_long(titles, numbered, rows)


def _separated(lines: Iterator[tuple[int, str]], rows: _Rows, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each row, all as many as in the header, and the number of its last line."""
    numbers = array("q")
    header: list[str] = []

    def text() -> Iterator[str]:
        for number, line in lines:
            numbers.append(number)
            yield line

    try:
        for fields in csv.reader(text(), delimiter=separator, strict=True):
            header = header or fields
            if len(fields) != len(header):
                problem = f"has {len(fields)} columns, the header has {len(header)}"
                raise rows.error(problem, numbers[-1], separator.join(fields))
            yield numbers[-1], fields
    except csv.Error as error:
        raise rows.error(f"is not a line of a CSV file ({error})", numbers[-1] if numbers else 1) from None


def _is_wide(titles: Sequence[str], rows: _Rows, number: int | None = None) -> bool:
    """Tell whether a table has a row for each run and a column for each query, and not a row for each value."""
    lacking = [title for title in _OF_LONG_TABLES if title not in titles]
    if 0 < len(lacking) < len(_OF_LONG_TABLES):
        problem = f"is a table without {some(lacking)}; PyTerrier writes {some(_OF_LONG_TABLES)} with perquery=True"
        raise FormatError(rows.where, problem, line=number)
    return bool(lacking)


def _read_long(titles: Sequence[str], body: Iterable[tuple[int, list[str]]], rows: _Rows) -> None:
    column = {title: place for place, title in enumerate(titles)}
    for number, fields in body:
        run = fields[column["name"]] if "name" in column else None
        query, measure, value = (fields[column[title]] for title in _OF_LONG_TABLES)
        if not query or not measure:
            raise rows.error("has no query or no measure", number, ",".join(fields))
        found = strict_number(value)
        if found is None:
            raise rows.error("the value is not a number; correct or remove the line", number, value)
        rows.add(run, query, measure, found, number)


def _read_wide(corner: str, titles: Sequence[Any], body: list[tuple[int, Any, Sequence[Any]]], rows: _Rows) -> None:
    """Read a table of runs and queries; a cell that is empty or NaN is a query of which the run has no value."""
    columns = texts(list(titles), rows.where, "query id")
    names: set[str] = set()
    for number, first, _ in body:
        name = str(first)
        if not name:
            raise rows.error("has no name of the run, which belongs into the first column", number, "")
        if name in names:
            raise rows.error("has the name of an earlier row; runs must have different names", number, name)
        if isinstance(first, str) and strict_number(name) is not None and not name.isdigit():
            problem = "has a number in the first column, where the name of the run belongs; write the table with its names"
            raise rows.error(problem, number, name)
        names.add(name)
    has_queries_in_rows = _has_queries_in_rows(corner.lower(), names, columns, rows)
    for number, first, cells in body:
        for title, cell in zip(columns, cells, strict=True):
            run, query = (title, str(first)) if has_queries_in_rows else (str(first), title)
            value = _cell(cell, query, rows, number)
            if not math.isnan(value):
                rows.add(run, query, _UNNAMED, value, number)


def _has_queries_in_rows(corner: str, names: Collection[str], columns: Collection[str], rows: _Rows) -> bool:
    """Return whether a table has a row for each query, by what is known of its names; refuse to guess."""
    for in_rows, in_columns in (
        (any(name in rows.queries for name in names), any(name in rows.queries for name in columns)),
        (any(name in rows.runs for name in columns), any(name in rows.runs for name in names)),
        (corner in _TITLES_OF_QUERIES, corner in _TITLES_OF_RUNS),
    ):
        if in_rows != in_columns:
            return in_rows
    numbered, also_numbered = (all(name.isdigit() for name in some_names) for some_names in (names, columns))
    if (numbered and not also_numbered) or (numbered == also_numbered and len(names) > len(columns)):
        problem = (
            f"has rows ({some(sorted(names))}) and columns ({some(list(columns))}), and it cannot be told which are the "
            "queries; call the first column 'run' or 'query'"
        )
        raise UnclearTable(rows.where, problem)
    return False


def _cell(cell: Any, query: str, rows: _Rows, number: int) -> float:
    if not isinstance(cell, str):
        return _number(cell, rows, number)
    value = math.nan if not cell.strip() else strict_number(cell)
    if value is None:
        raise rows.error(f"the value of query {query} is not a number; correct it, or leave the cell empty", number, cell)
    return value


def _read_columns(lines: Iterator[tuple[int, str]], rows: _Rows, measure: str | None) -> None:
    """Read three columns: trec_eval writes measure, query, value; ir_measures query, measure, value."""
    pairs = _Rows(rows.where, in_lines=True)
    same: dict[str, str] = {}  # each id and measure is kept once
    decimals: set[int] = set()
    for number, line in lines:
        fields = _fields(line)
        if len(fields) != 3:
            problem = "is not a line of trec_eval -q or ir_measures -q, which have 3 columns"
            raise rows.error(problem, number, line.strip())
        first, second, value = same.setdefault(fields[0], fields[0]), same.setdefault(fields[1], fields[1]), fields[2]
        found = strict_number(value)
        decimals.add(len(value.partition(".")[2]) if found is not None and "e" not in value.lower() else -1)
        if (None, first, second) in pairs.values:
            raise rows.error("repeats the first two columns of an earlier line", number, line.strip())
        pairs.add(None, first, second, value if found is None else found, number)
    measures_first = _are_measures_first(pairs, measure)
    for (_, first, second), read, number in pairs.numbered():
        query, named = (second, first) if measures_first else (first, second)
        if isinstance(read, str):
            if _TEXTS_OF_TREC_EVAL.fullmatch(named):
                continue
            raise rows.error("the value is not a number; correct or remove the line", number, read)
        if query != _SUMMARY:
            rows.add(None, query, named, read, number)
    rows.decimals = decimals.pop() if len(decimals) == 1 and decimals != {-1} else None


def _fields(line: str) -> list[str]:
    """Separate the columns: by tabs where there are two, which leaves spaces inside of an id, else by white space."""
    fields = line.rstrip("\r\n").split("\t")
    if len(fields) == 3:
        return [field.strip(WHITE_SPACE) for field in fields]
    return [field for field in re.split(f"[{WHITE_SPACE}]+", line) if field]


def _are_measures_first(pairs: _Rows, measure: str | None) -> bool:
    """Decide by the file as a whole which column has the measures; the column order is the same in all lines.

    Never by single lines: whether an id looks like a measure differs from line to line, so lines would be lost.
    """
    columns = [dict.fromkeys(first for _, first, _ in pairs.values), dict.fromkeys(second for _, _, second in pairs.values)]
    both = [text for text in columns[0] if text in columns[1]]
    if not both:
        for evidence in (
            [measure in column for column in columns],
            [_SUMMARY in column for column in reversed(columns)],
            [all(map(is_measure_name, column)) for column in columns],
            [len(columns[0]) < len(columns[1]), len(columns[1]) < len(columns[0])],
        ):
            if evidence[0] != evidence[1]:
                return evidence[0]
        problem = "it cannot be told which column has the measures and which the queries"
    else:
        problem = f"{some(both)} is in the column of the measures and in that of the queries"
    raise FormatError(pairs.where, f"{problem}; write JSON lines (ir_measures -q -o jsonl), or give a dict")


def _refuse_gaps(rows: _Rows) -> None:
    """Refuse a file where one measure lacks queries that another one has: it was cut, or is of more than one kind."""
    queries = Counter(query for _, query, _ in rows.values)
    measures = {found for _, _, found in rows.values}
    lacking = [query for query, times in queries.items() if times < len(measures)]
    if lacking:
        problem = (
            f"queries have values of some of the measures only ({some(lacking)}; the measures are {some(sorted(measures))}); "
            "is the name of a measure damaged, or was the output cut, or joined of two?"
        )
        raise FormatError(rows.where, problem)


def _read_object(source: Any, rows: _Rows) -> None:
    if hasattr(source, "per_query"):
        source = source.per_query
    if is_frame(source):
        _read_frame(source, rows)
    elif isinstance(source, Mapping):
        queries = texts(list(source), rows.where, "query id")
        are_values = all(isinstance(value, Real) for value in source.values())
        for query, found in zip(queries, source.values(), strict=True):
            values = {_UNNAMED: found} if are_values else found
            if not isinstance(values, Mapping):
                raise FormatError(rows.where, "is not a dict of dict {query: {measure: value}}", text=repr(values))
            for measure, value in values.items():
                number = len(rows.values) + 1
                rows.add(None, query, str(measure), _number(value, rows, number), number)
    elif isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        for number, metric in enumerate(source, 1):
            if not all(hasattr(metric, field) for field in ("query_id", "measure", "value")):
                raise FormatError(rows.where, "is not an iterable of ir_measures.Metric", text=repr(metric))
            (query,) = texts([metric.query_id], rows.where, "query id")
            rows.add(None, query, str(metric.measure), _number(metric.value, rows, number), number)
    else:
        raise FormatError(rows.where, f"per-query values cannot be read from a {type(source).__name__}")


def _read_frame(frame: Any, rows: _Rows) -> None:
    titles = column_names(frame)
    if _is_wide(titles, rows):
        if not hasattr(frame, "index"):
            problem = f"has none of the columns {', '.join(_OF_LONG_TABLES)}; a frame of runs by queries is one of pandas"
            raise FormatError(rows.where, problem)
        body = list(zip(range(1, len(frame.index) + 1), frame.index, frame.values.tolist(), strict=True))
        _read_wide(str(frame.index.name), titles, body, rows)
        return
    wanted = [title for title in ("name", *_OF_LONG_TABLES) if title in titles]
    repeated = [title for title in wanted if titles.count(title) > 1]
    if repeated:
        raise FormatError(rows.where, f"has the column {repeated[0]} {titles.count(repeated[0])} times; keep one of them")
    columns = {title: as_list(frame[title]) for title in wanted}
    queries = texts(columns["qid"], rows.where, "query id")
    runs = texts(columns["name"], rows.where, "run name") if "name" in columns else [None] * len(queries)
    for number, (run, query, measure, value) in enumerate(
        zip(runs, queries, columns["measure"], columns["value"], strict=True), 1
    ):
        rows.add(run, query, str(measure), _number(value, rows, number), number)


def _chosen(there: list[str], measure: str | None, where: str) -> str:
    if there == [_UNNAMED]:
        if measure is None:
            raise ParameterError(f"{where} has values without the name of their measure; name it with measure= (--measure)")
        return measure
    if measure is not None:
        if measure not in there:
            raise ParameterError(f"{where} has no values of {measure}; it has {some(there)}")
        return measure
    preferred = [name for name in there if base_name(name) in _PREFERRED]
    candidates = preferred or there
    if len(candidates) > 1:
        raise ParameterError(f"{where} has several measures ({some(candidates)}); choose one with measure=")
    return candidates[0]


def strict_number(text: str) -> float | None:
    """Read a number as in runs; None where it is not one. Other than there NaN is read, which stands for undefined.

    Examples
    --------
    >>> strict_number("0.5"), strict_number("0_5"), strict_number("0,5")
    (0.5, None, None)
    """
    try:
        return None if "_" in text else float(text.encode("ascii"))
    except ValueError:  # UnicodeEncodeError included: float() would read the digits of any script
        return None


def _number(value: Any, rows: _Rows, number: int) -> float:
    if value is None:
        return math.nan
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        raise rows.error("a value is not a number", number, repr(value))
    try:
        return float(value)
    except OverflowError:
        raise rows.error("a value is too large for a number", number, "") from None


def _check_values(rows: _Rows, measure: str) -> None:
    """Refuse values that the measure cannot have."""
    for (_, query, _), value, number in rows.numbered():
        problem = _problem_of(value, measure) if isinstance(value, float) else "is not a number"
        if problem is not None:
            raise rows.error(f"{measure} of query {query} {problem}", number, str(value))


def _problem_of(value: float, measure: str) -> str | None:
    base, at = base_name(measure), measure.rpartition("@")[2]
    cutoff = int(at) if at.isdecimal() and at.isascii() and len(at) < 10 else None
    if math.isnan(value):
        return None if base in _CAN_BE_UNDEFINED else "is undefined; remove the query from both runs, or write 0 for not found"
    if math.isinf(value):
        return "is infinite, so that it has no mean"
    if base in RECIPROCALS and not 0 <= value <= 1:
        return "is not between 0 and 1; are the values in percent?"
    if base == "ESL" and value < 1:
        return "is not a rank, which is 1 or more"
    if cutoff and base in RECIPROCALS and value and value + _half_a_unit(value) < 1 / cutoff:
        return f"is below 1/{cutoff}, although ranks beyond {cutoff} do not count"
    if cutoff and base == "ESL" and value > cutoff + ("cutoff+1" in measure):
        return f"is a rank beyond the cutoff, {cutoff}"
    if value < 0 and is_gain(base):
        return "is negative"
    return None


def _half_a_unit(value: float) -> float:
    """Return the most by which rounding to its decimals can have changed a value."""
    return 0.5 * 10.0 ** -len(repr(value).partition(".")[2]) if "e" not in repr(value) else 0.0


def _places(values: Sequence[float], measure: str, decimals: int | None) -> int | None:
    """Find the number of decimal places that values were rounded to; None where nothing says that they were.

    A text where all values have the same number of decimals says so. Of numbers it is only a guess, made where none has more
    than `MOST_PLACES` decimals: reciprocal ranks must then be other than 1/1, 1/2, 1/4, 1/5 and so on, which have few; values
    of other measures must have three decimals or more, because P@10 or R are often exact with fewer.
    """
    numbers = [number for number in values if math.isfinite(number) and number != int(number)]
    if not numbers:
        return None
    if decimals is not None:
        return decimals if decimals <= MOST_PLACES else None
    fits = next((n for n in range(1, MOST_PLACES + 1) if all(round(number, n) == number for number in numbers)), None)
    if base_name(measure) in RECIPROCALS:
        return None if all((1 / number) == int(1 / number) for number in numbers if number) else fits
    return fits if fits is not None and fits >= 3 else None


_ID = ("id", "run")
_LARGEST = 16 << 20  # characters; a leaderboard has some thousands of entries
ORGANIZER = "\N{CLASSICAL BUILDING}"  # how the MS MARCO leaderboards mark the organizers' baselines


@dataclass(frozen=True)
class Entry:
    """A submission to a leaderboard.

    Attributes
    ----------
    run : str
        Its id; its description where it has no id.
    date : date
        When it was submitted.
    group : str or None
        By whom.
    score : float or None
        Its score; None where it has none.
    is_baseline : bool
        Whether the organizers supplied it.
    """

    run: str
    date: date
    group: str | None
    score: float | None
    is_baseline: bool


class Entries(NamedTuple):
    """A leaderboard: its submissions in the order of the source, and the column of the score, or None."""

    entries: tuple[Entry, ...]
    score: str | None


def read_entries(source: Any, score: str | None = None) -> Entries:
    """Read a leaderboard.

    Parameters
    ----------
    source : path, or iterable of mapping
        A CSV file with a header, a JSON file with a list of objects, or such rows. Columns: ``id`` (or ``run``; entries
        without one are named after ``description`` or ``name``), ``date`` (year, month, day), and optionally ``group`` (or
        ``team``), the score, and ``baseline``, which marks the organizers' baselines unless it is empty, 0, no or false. The
        symbol with which the MS MARCO leaderboards mark them, in a column without a name, does the same.
    score : str, optional
        Column of the score; by default the one whose name contains "eval", or "score".

    Returns
    -------
    Entries

    Raises
    ------
    UnreadableFile, FormatError
        If the file cannot be read; a column name or an id is repeated; a row has another number of columns than the header; or
        a date or score is invalid.
    ParameterError
        If the column of the score is missing, or must be chosen.

    Examples
    --------
    >>> read_entries([{"id": "r1", "date": "2020/08/27", "score": "0.368"}]).entries[0].date.isoformat()
    '2020-08-27'
    """
    is_file = isinstance(source, (str, os.PathLike))
    where = os.fsdecode(source) if is_file else "the entries"
    rows = list(_file_rows(where) if is_file else _object_rows(source, where))
    if not rows:
        raise FormatError(where, "has no entry")
    columns = dict.fromkeys(str(title) for _, row in rows for title in row)
    column = _score_column(list(columns), score, where)
    if "date" not in columns:
        raise FormatError(where, f"has no column 'date'; its columns are {some(list(filter(None, columns)), 10)}")
    entries: dict[str, Entry] = {}
    times: Counter[str] = Counter()
    for number, row in rows:
        entry = _entry(row, column, where, number)
        if entry.run in entries and _first(row, *_ID):
            raise FormatError(where, "the id is repeated; ids must differ", line=number, text=entry.run)
        name = entry.run
        while entry.run in entries:  # descriptions may be the same
            times[name] += 1
            entry = replace(entry, run=f"{name} #{times[name] + 1}")
        entries[entry.run] = entry
    return Entries(tuple(entries.values()), column)


_NumberedRow = tuple[int, Mapping[str, Any]]  # with the number of its line, or of the row


def _object_rows(source: Any, where: str) -> Iterator[_NumberedRow]:
    if not isinstance(source, Iterable) or isinstance(source, (bytes, Mapping)):
        raise FormatError(where, f"cannot be read from a {type(source).__name__}; give a path or a list of dicts")
    for number, row in enumerate(source, 1):
        if not isinstance(row, Mapping):
            raise FormatError(where, f"row {number} is not a dict such as {{'id': ..., 'date': ...}}", text=repr(row))
        yield number, row


def _file_rows(path: str) -> Iterator[_NumberedRow]:
    lines: list[tuple[int, str]] = []
    size = 0
    for number, line in lines_of(path):
        size += len(line)
        if size > _LARGEST:
            raise FormatError(path, f"is larger than {_LARGEST >> 20} MiB; is this a leaderboard?", line=number)
        lines.append((number, line))
    filled = [(number, line) for number, line in lines if line.strip()]
    if filled and filled[0][1].lstrip().startswith(("[", "{")):
        return _json_rows("".join(line for _, line in lines), path)
    return _csv_rows(filled, path)


def _json_rows(text: str, path: str) -> Iterator[_NumberedRow]:
    try:
        rows = json.loads(text, object_pairs_hook=_object)
    except json.JSONDecodeError as error:
        raise FormatError(path, f"is not JSON: {error.msg}", line=error.lineno) from None
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"is not JSON that can be read: {error}") from None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FormatError(path, "is not a list of objects such as {'id': ..., 'date': ..., 'score': ...}")
    return enumerate(rows, 1)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"an object has the name {max(names, key=names.count)!r} twice")
    return fields


def _csv_rows(lines: list[tuple[int, str]], path: str) -> Iterator[_NumberedRow]:
    reader = csv.reader((line for _, line in lines), strict=True)
    try:
        header = [title.strip() for title in next(reader, [])]
        for title in header:
            if title and header.count(title) > 1:
                problem = f"has the column {title!r} {header.count(title)} times; keep one of them"
                raise FormatError(path, problem, line=lines[0][0])
        start = reader.line_num
        for fields in reader:
            number = lines[start][0]
            start = reader.line_num
            if len(fields) != len(header):
                problem = f"has {len(fields)} columns, the header has {len(header)}"
                raise FormatError(path, problem, line=number, text=",".join(fields))
            yield number, dict(zip(header, fields, strict=True))
    except csv.Error as error:
        raise FormatError(path, f"is not CSV: {error}", line=lines[min(reader.line_num, len(lines)) - 1][0]) from None


def _score_column(columns: list[str], score: str | None, where: str) -> str | None:
    if score is not None:
        if score not in columns:
            raise ParameterError(f"{where} has no column {score!r}; it has {some(list(filter(None, columns)), 10)}")
        return score
    likely = [name for name in columns if "eval" in name.lower() or name.lower() == "score"]
    if len(likely) > 1:
        raise ParameterError(f"{where} has several columns of scores ({some(likely)}); choose one with score=")
    return likely[0] if likely else None


def _entry(row: Mapping[str, Any], column: str | None, where: str, number: int) -> Entry:
    run = _first(row, *_ID) or _first(row, "description", "name")
    if not run:
        raise FormatError(where, "an entry has no id", line=number, text=repr(dict(row)))
    group = _first(row, "group", "team")
    for text in (run, group):
        try:
            text.encode()
        except UnicodeEncodeError:
            raise FormatError(where, "a name is not text in UTF-8", line=number, text=text) from None
    marked = str(row.get("baseline") or "").strip().lower() not in ("", "0", "no", "false")
    return Entry(
        run,
        _date(row.get("date"), where, number),
        group or None,
        None if column is None else _score(row.get(column), where, number),
        marked or ORGANIZER in str(row.get("") or ""),
    )


def _first(row: Mapping[str, Any], *names: str) -> str:
    """Return the first of these fields that is not empty, as text."""
    return next((text for name in names if (text := "" if row.get(name) is None else str(row[name]).strip())), "")


def _date(value: Any, where: str, number: int) -> date:
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    try:
        parts = str(value).strip().replace("/", "-").split("-")
        year, month, day = (int(part) if part.isascii() and part.isdigit() else -1 for part in parts)
        return date(year, month, day)
    except (ValueError, OverflowError):
        raise FormatError(where, "a date must be written as 2020-08-27 or 2020/08/27", line=number, text=str(value)) from None


def _score(value: Any, where: str, number: int) -> float | None:
    """Read a score as strictly as those of runs; None where it is empty."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    score = strict_number(value.strip()) if isinstance(value, str) else None
    if isinstance(value, (int, float, Real)) and not isinstance(value, bool):
        try:
            score = float(value)
        except OverflowError:
            score = math.inf
    if score is None or not math.isfinite(score):
        raise FormatError(where, "a score is not a number", line=number, text=repr(value))
    return score
