"""What other tools computed: values of measures by query (ir_measures, pytrec_eval, trec_eval -q, PyTerrier), and leaderboards.

Every row is read or the source is refused: a file of which a part is ignored can turn a verdict around.
"""

from __future__ import annotations

import csv
import math
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from functools import partial
from itertools import chain
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.errors import FormatError, ParameterError, some
from ir_outcomes.reading.columns import texts
from ir_outcomes.reading.files import WHITE_SPACE, lines_of, name_of
from ir_outcomes.reading.formats import QUERY_NAMES, as_list, column_names, is_frame, parsed_json
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
    """The values of one measure for one run; `places` are the decimals they were rounded to, None where they were not."""

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
    """Return the values of one run, `name` where the source has several; see `read_outputs`."""
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
    """Return one output for each source, with different names; see `read_outputs`."""
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
    """Return the values of one measure for each run of what another tool wrote or returned."""
    rows = _Rows(_called(source, position), in_lines=_is_path(source))
    if _is_path(source):
        _read_file(source, rows, measure, queries, names or ())
    else:
        _read_object(source, rows, queries, names or ())
    by_run: dict[str | None, _OfRun] = {}
    for (run, query, named), found in rows.values.items():
        by_run.setdefault(run, {})[query, named] = found
    if not by_run:
        raise FormatError(rows.where, "has no per-query value; write them with -q, or perquery=True")
    for of_run in by_run.values():
        _refuse_gaps(of_run, rows.where)
    if len(by_run) == 1 and (names is None or len(names) == 1):
        ((run, of_run),) = by_run.items()
        own = run or (name_of(source) if _is_path(source) else position)
        return [_output(of_run, rows, measure, names[0] if names else own)]
    lacking = [name for name in names or () if name not in by_run]
    if lacking:
        runs = [run or "one without a name" for run in by_run]
        raise ParameterError(f"{rows.where} has no run {some(lacking)}; it has {some(runs)}")
    return [_output(by_run[name], rows, measure, str(name)) for name in names or by_run]


def _is_path(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))


def _called(source: Any, position: str) -> str:
    return os.fsdecode(source) if _is_path(source) else f"the {position}"


_Found = tuple[float | str, int]  # a value, text where it is no number; and the number of its row or line
_OfRun = dict[tuple[str, str], _Found]  # by query and measure


@dataclass
class _Rows:
    """Values by run (or None), query and measure; numbers are those of lines, or of rows."""

    where: str
    in_lines: bool
    values: dict[tuple[str | None, str, str], _Found] = field(default_factory=dict)
    checked: set[str] = field(default_factory=set)  # query ids
    decimals: int | None = None  # the number of decimals with which every value is written, if that is the same

    def add(self, run: str | None, query: Any, measure: str, value: float | str, number: int) -> None:
        """Keep a value; there may be only one for each run, query and measure."""
        if not isinstance(query, str) or query not in self.checked:
            (query,) = texts([query], self.where, "query id", {0: number if self.in_lines else None}.get)
            self.checked.add(query)
        if (run, query, measure) in self.values:
            raise self.error(f"has two values of {measure} for query {query}", number)
        self.values[run, query, measure] = value, number
        if len(self.values) > MOST_ROWS:
            raise self.error(f"has more than {MOST_ROWS:,} values; write only the measure that is to be compared", number)

    def error(self, problem: str, number: int, text: str | None = None) -> FormatError:
        """Return an error that names the line or row."""
        if self.in_lines:
            return FormatError(self.where, problem, line=number, text=text)
        return FormatError(self.where, f"row {number}: {problem}" if text is not None else problem, text=text)

    def number(self, value: Any, number: int) -> float:
        """Return a number as a float, None as NaN."""
        if value is None:
            return math.nan
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
            raise self.error("a value is not a number", number, repr(value))
        try:
            return float(value)
        except OverflowError:
            raise self.error("a value is too large for a number", number, "") from None

    def cell(self, value: Any, number: int, what: str = "the value") -> float:
        """Return what a cell of a table has: of a file a text, which may be empty."""
        if not (self.in_lines and isinstance(value, str)):
            return self.number(value, number)
        found = strict_number(value) if value.strip() else math.nan
        if found is None:
            raise self.error(f"{what} is not a number; correct it, or remove it with its line", number, value)
        return found


def _read_file(
    path: str | os.PathLike[str], rows: _Rows, measure: str | None, queries: Collection[str], runs: Collection[str]
) -> None:
    """Read JSON lines, a table with a header, or three columns."""
    lines: Iterator[tuple[int, str]] = ((number, line) for number, line in lines_of(path) if line.strip())
    first = next(lines, None)
    if first is None:
        return
    lines = chain([first], lines)
    if first[1].lstrip().startswith("{"):
        _read_json_lines(lines, rows)
    elif (separator := _separator(first[1])) is not None:
        (number, titles), *body = _separated(lines, rows.where, separator)
        if any("\n" in title for title in titles):
            raise rows.error("has a quotation mark that joins the header and another line", number, titles[0])
        titles = [title.strip() for title in titles]
        if len(set(titles)) < len(titles):
            raise rows.error("names a column twice", number, separator.join(titles))
        if _is_wide(titles, rows.where, number):
            wide: list[tuple[int, Any, Sequence[Any]]] = [(number, fields[0], fields[1:]) for number, fields in body]
            _read_wide(titles[0], titles[1:], wide, rows, queries, runs)
        else:
            _read_long(titles, body, rows)
    else:
        _read_columns(lines, rows, measure)


def _read_json_lines(lines: Iterator[tuple[int, str]], rows: _Rows) -> None:
    last: dict[str, _Found] = {}  # of each measure, the last value of "all": the summary, or a query of this name
    for number, line in lines:
        try:
            record = parsed_json(line, rows.where, number)
            query, measure, value = record["query_id"], record["measure"], record["value"]
            if not isinstance(measure, str):
                raise TypeError
        except (FormatError, KeyError, TypeError):
            problem = "is not a line of ir_measures -q -o jsonl (query_id, measure, value)"
            raise rows.error(problem, number, line.strip()) from None
        if measure in last:  # the summary has no line after it
            rows.add(None, _SUMMARY, measure, *last.pop(measure))
        if query == _SUMMARY:
            last[measure] = (rows.number(value, number), number)
        else:
            rows.add(None, query, measure, rows.number(value, number), number)
    for measure, found in last.items():
        if not _is_summary(rows, measure, found[0]):
            rows.add(None, _SUMMARY, measure, *found)


def _is_summary(rows: _Rows, measure: str, value: float | str) -> bool:
    """Return whether this is what ir_measures writes below the values of the queries: their mean, or sum."""
    values = [found for (_, _, named), (found, _) in rows.values.items() if named == measure and isinstance(found, float)]
    defined = [found for found in values if not math.isnan(found)]
    mean = sum(defined) / len(defined) if defined else math.nan
    return bool(np.isclose([mean, sum(defined)], value, equal_nan=True).any())


def _separator(line: str) -> str | None:
    """Return what separates the columns of a table with a header; None for the three columns without one."""
    fields = _fields(line)
    has_three = len(fields) == 3 and bool(fields[0]) and len({*fields} & {*_OF_LONG_TABLES}) < 2 and not line.startswith("\t")
    # By tabs also where the value is not a number: a damaged line of trec_eval must not become the header of a table.
    by_tabs = line.count("\t") == 2
    if has_three and (by_tabs or strict_number(fields[2]) is not None or _TEXTS_OF_TREC_EVAL.fullmatch(fields[0])):
        return None
    return next((sign for sign in "\t," if sign in line), None)


def _separated(lines: Iterable[tuple[int, str]], where: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each row, the header first, all as many, with the number of the row's last line."""
    number = 1
    n_columns = None

    def text() -> Iterator[str]:
        nonlocal number
        for at, line in lines:
            number = at
            yield line

    try:
        for fields in csv.reader(text(), delimiter=separator, strict=True):
            n_columns = n_columns or len(fields)
            if len(fields) != n_columns:
                problem = f"has {len(fields)} columns, the header has {n_columns}"
                raise FormatError(where, problem, line=number, text=separator.join(fields))
            yield number, fields
    except csv.Error as error:
        raise FormatError(where, f"is not a line of a CSV file ({error})", line=number) from None


def _is_wide(titles: Sequence[str], where: str, number: int | None = None) -> bool:
    """Return whether a table has a row for each run and a column for each query, and not a row for each value."""
    lacking = [title for title in _OF_LONG_TABLES if title not in titles]
    if 0 < len(lacking) < len(_OF_LONG_TABLES):
        problem = f"is a table without {some(lacking)}; PyTerrier writes {some(_OF_LONG_TABLES)} with perquery=True"
        raise FormatError(where, problem, line=number)
    return bool(lacking)


def _read_long(titles: Sequence[str], body: Iterable[tuple[int, Sequence[Any]]], rows: _Rows) -> None:
    """Read a table with a row for each value."""
    place = {title: place for place, title in enumerate(titles)}
    for number, cells in body:
        run = cells[place["name"]] if "name" in place else None
        query, measure, value = (cells[place[title]] for title in _OF_LONG_TABLES)
        if query == "" or measure == "":
            raise rows.error("has no query or no measure", number, ",".join(map(str, cells)))
        rows.add(run, query, str(measure), rows.cell(value, number), number)


def _read_wide(
    corner: str,
    titles: Sequence[Any],
    body: list[tuple[int, Any, Sequence[Any]]],
    rows: _Rows,
    queries: Collection[str],
    runs: Collection[str],
) -> None:
    """Read a table of runs and queries; a cell that is empty or NaN is a query of which the run has no value."""
    columns = texts(list(titles), rows.where, "query id")
    names: set[str] = set()
    for number, first, _ in body:
        name = str(first)
        problem = None
        if not name:
            problem = "has no name of the run, which belongs into the first column"
        elif name in names:
            problem = "has the name of an earlier row; runs must have different names"
        elif isinstance(first, str) and strict_number(name) is not None and not name.isdigit():
            problem = "has a number in the first column, where the name of the run belongs; write the table with its names"
        if problem is not None:
            raise rows.error(problem, number, name)
        names.add(name)
    has_queries_in_rows = _has_queries_in_rows(corner.lower(), names, columns, rows.where, queries, runs)
    for number, first, cells in body:
        for title, cell in zip(columns, cells, strict=True):
            run, query = (title, str(first)) if has_queries_in_rows else (str(first), title)
            value = rows.cell(cell, number, f"the value of query {query}")
            if not math.isnan(value):
                rows.add(run, query, _UNNAMED, value, number)


def _has_queries_in_rows(
    corner: str, names: Collection[str], columns: list[str], where: str, queries: Collection[str], runs: Collection[str]
) -> bool:
    """Return whether a table has a row for each query, by what is known of its names; refuse to guess."""
    for in_rows, in_columns in (
        (any(name in queries for name in names), any(name in queries for name in columns)),
        (any(name in runs for name in columns), any(name in runs for name in names)),
        (corner in _TITLES_OF_QUERIES, corner in _TITLES_OF_RUNS),
    ):
        if in_rows != in_columns:
            return in_rows
    numbered, also_numbered = (all(name.isdigit() for name in some_names) for some_names in (names, columns))
    if (numbered and not also_numbered) or (numbered == also_numbered and len(names) > len(columns)):
        problem = (
            f"has rows ({some(sorted(names))}) and columns ({some(columns)}), and it cannot be told which are the queries; "
            "call the first column 'run' or 'query'"
        )
        raise UnclearTable(where, problem)
    return False


def _read_columns(lines: Iterator[tuple[int, str]], rows: _Rows, measure: str | None) -> None:
    """Read three columns: trec_eval writes measure, query, value; ir_measures query, measure, value."""
    pairs = _Rows(rows.where, in_lines=True)
    same: dict[str, str] = {}  # each id and measure is kept once
    decimals: set[int] = set()
    for number, line in lines:
        fields = _fields(line)
        if len(fields) != 3:
            raise rows.error("is not a line of trec_eval -q or ir_measures -q, which have 3 columns", number, line.strip())
        first, second, value = same.setdefault(fields[0], fields[0]), same.setdefault(fields[1], fields[1]), fields[2]
        found = strict_number(value)
        decimals.add(len(value.partition(".")[2]) if found is not None and "e" not in value.lower() else -1)
        if (None, first, second) in pairs.values:
            raise rows.error("repeats the first two columns of an earlier line", number, line.strip())
        pairs.add(None, first, second, value if found is None else found, number)
    measures_first = _are_measures_first(pairs, measure)
    for (_, first, second), (read, number) in pairs.values.items():
        query, named = (second, first) if measures_first else (first, second)
        if isinstance(read, str):
            if _TEXTS_OF_TREC_EVAL.fullmatch(named):
                continue
            raise rows.error("the value is not a number; correct or remove the line", number, read)
        if query != _SUMMARY:
            rows.add(None, query, named, read, number)
    rows.decimals = decimals.pop() if len(decimals) == 1 and decimals != {-1} else None


def _fields(line: str) -> list[str]:
    """Return the columns: separated by tabs where there are two, which leaves spaces inside of an id, else by white space."""
    fields = line.rstrip("\r\n").split("\t")
    if len(fields) == 3:
        return [field.strip(WHITE_SPACE) for field in fields]
    return [field for field in re.split(f"[{WHITE_SPACE}]+", line) if field]


def _are_measures_first(pairs: _Rows, measure: str | None) -> bool:
    """Return which column has the measures, by the file as a whole: the column order is the same in all lines."""
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


def _refuse_gaps(of_run: _OfRun, where: str) -> None:
    """Refuse a run of which one measure lacks queries that another one has: it was cut, or is of more than one kind."""
    queries = Counter(query for query, _ in of_run)
    measures = {named for _, named in of_run}
    lacking = [query for query, times in queries.items() if times < len(measures)]
    if lacking:
        problem = (
            f"queries have values of some of the measures only ({some(lacking)}; the measures are {some(sorted(measures))}); "
            "is the name of a measure damaged, or was the output cut, or joined of two?"
        )
        raise FormatError(where, problem)


def _read_object(source: Any, rows: _Rows, queries: Collection[str], runs: Collection[str]) -> None:
    """Read a frame, a dict, or an iterable of Metric."""
    source = getattr(source, "per_query", source)
    if is_frame(source):
        titles = column_names(source)
        if not _is_wide(titles, rows.where):
            wanted = [title for title in ("name", *_OF_LONG_TABLES) if title in titles]
            repeated = [title for title in wanted if titles.count(title) > 1]
            if repeated:
                problem = f"has the column {repeated[0]} {titles.count(repeated[0])} times; keep one of them"
                raise FormatError(rows.where, problem)
            _read_long(wanted, enumerate(zip(*(as_list(source[title]) for title in wanted), strict=True), 1), rows)
        elif hasattr(source, "index"):
            body = list(zip(range(1, len(source.index) + 1), source.index, source.values.tolist(), strict=True))
            _read_wide(str(source.index.name), titles, body, rows, queries, runs)
        else:
            problem = f"has none of the columns {', '.join(_OF_LONG_TABLES)}; a frame of runs by queries is one of pandas"
            raise FormatError(rows.where, problem)
    elif isinstance(source, Mapping):
        are_values = all(isinstance(value, Real) for value in source.values())
        for query, found in source.items():
            values = {_UNNAMED: found} if are_values else found
            if not isinstance(values, Mapping):
                raise FormatError(rows.where, "is not a dict of dict {query: {measure: value}}", text=repr(values))
            for measure, value in values.items():
                number = len(rows.values) + 1
                rows.add(None, query, str(measure), rows.number(value, number), number)
    elif isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        for number, metric in enumerate(source, 1):
            if not all(hasattr(metric, name) for name in ("query_id", "measure", "value")):
                raise FormatError(rows.where, "is not an iterable of ir_measures.Metric", text=repr(metric))
            rows.add(None, metric.query_id, str(metric.measure), rows.number(metric.value, number), number)
    else:
        raise FormatError(rows.where, f"per-query values cannot be read from a {type(source).__name__}")


def _output(of_run: _OfRun, rows: _Rows, measure: str | None, name: str) -> Output:
    """Return the values of one measure; values without a measure are of any."""
    chosen = _chosen(list(dict.fromkeys(named for _, named in of_run)), measure, rows.where)
    values: dict[str, float] = {}
    for (query, named), (value, number) in of_run.items():
        if named in (chosen, _UNNAMED):
            problem = _problem_of(value, chosen) if isinstance(value, float) else "is not a number"
            if problem is not None:
                raise rows.error(f"{chosen} of query {query} {problem}", number, str(value))
            values[query] = float(value)
    return Output(name, chosen, values, _places(list(values.values()), chosen, rows.decimals))


def _chosen(there: list[str], measure: str | None, where: str) -> str:
    """Return which of the measures is meant."""
    if there == [_UNNAMED]:
        if measure is None:
            raise ParameterError(f"{where} has values without the name of their measure; name it with measure= (--measure)")
        return measure
    if measure is not None:
        if measure not in there:
            raise ParameterError(f"{where} has no values of {measure}; it has {some(there)}")
        return measure
    candidates = [name for name in there if base_name(name) in _PREFERRED] or there
    if len(candidates) > 1:
        raise ParameterError(f"{where} has several measures ({some(candidates)}); choose one with measure=")
    return candidates[0]


def strict_number(text: str) -> float | None:
    """Return a number as in runs, or NaN, which stands for undefined; None where it is neither."""
    try:
        return None if "_" in text else float(text.encode("ascii"))
    except ValueError:  # UnicodeEncodeError included: float() would read the digits of any script
        return None


def _problem_of(value: float, measure: str) -> str | None:
    """Return why a measure cannot have this value; None where it can."""
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
    """Find the number of decimal places that values were rounded to; None where nothing says that they were."""
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
        rows = parsed_json("".join(line for _, line in lines), path, 1)
        if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
            raise FormatError(path, "is not a list of objects such as {'id': ..., 'date': ..., 'score': ...}")
        yield from enumerate(rows, 1)
    elif filled:
        (first, header), *body = _separated(filled, path, ",")
        titles = [title.strip() for title in header]
        repeated = [title for title in titles if title and titles.count(title) > 1]
        if repeated:
            problem = f"has the column {repeated[0]!r} {len(repeated)} times; keep one of them"
            raise FormatError(path, problem, line=first)
        yield from ((number, dict(zip(titles, fields, strict=True))) for number, fields in body)


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
