"""What other tools computed: values of measures by query (ir_measures, pytrec_eval, trec_eval -q, PyTerrier), and leaderboards.

Every row is read or the source is refused: a file of which a part is ignored can turn a verdict around.
"""

import csv
import math
import os
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime
from itertools import chain
from numbers import Real
from sys import intern
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.errors import FormatError, ParameterError, some
from ir_outcomes.reading.columns import QUERY_NAMES, as_list, column_names, is_frame, texts
from ir_outcomes.reading.files import WHITE_SPACE, lines_of, name_of, parsed_json
from ir_outcomes.reading.formats import is_measure_name
from ir_outcomes.reading.runs import distinct_names
from ir_outcomes.reading.text import number_in

# Measures that are higher for better runs and zero where nothing was found, as ir_measures and trec_eval name them.
_GAINS = (
    "nDCG", "AP", "MAP", "P", "R", "Rprec", "RPrec", "Success", "ERR", "RBP", "Bpref", "infAP", "BPM", "SDCG", "INST", "INSQ",
    "NERR8", "NERR9", "NERR10", "NERR11", "alpha_nDCG", "alpha_DCG", "NRBP", "nNRBP", "AP_IA", "P_IA", "StRecall",
    "SetP", "SetR", "SetF", "SetAP", "IPrec",
    "map", "map_cut", "ndcg", "ndcg_cut", "ndcg_rel", "Rndcg", "recall", "success", "bpref", "set_P", "set_recall", "set_F",
    "set_map", "iprec_at_recall", "G", "binG",
)  # fmt: skip
RECIPROCALS = ("RR", "MRR", "recip_rank")
MOST_PLACES = 6
MOST_LINES = 2_000_000  # what is kept of a line takes about 250 bytes
_OF_LONG_TABLES = ("qid", "measure", "value")
_TITLES_OF_QUERIES = (*QUERY_NAMES, "query", "topic")
_TITLES_OF_RUNS = ("run", "name", "system")
_SUMMARY = "all"  # where a file has the mean over the queries; in dicts and frames it is a query like any other
_PREFERRED = (*RECIPROCALS, "ESL")
_CAN_BE_UNDEFINED = ("ESL", "ASL", "SharedRR")
_TEXTS_OF_TREC_EVAL = re.compile(r"runid|relstring(_\d+)?")  # their values are not numbers

_Lines = Iterator[tuple[int, str]]  # with their numbers


class _Table(NamedTuple):
    """A table: its titles, the line that has them, and the cells of each row with its number."""

    titles: list[str]
    line: int | None
    body: Iterable[tuple[int, Sequence[Any]]]


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
    known = set(queries)

    def read(place: int) -> Output:
        output = read_output(sources[place], measure=measure, name=given[place], position=positions[place], queries=known)
        known.update(output.values)
        return output

    outputs: dict[int, Output] = {}
    unclear = []
    for place in range(len(sources)):
        try:
            outputs[place] = read(place)
        except UnclearTable:  # the others may have its queries
            unclear.append(place)
    outputs |= {place: read(place) for place in unclear}
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
    found = _Values(_called(source, position), in_lines=_is_path(source), queries=queries, runs=names or ())
    if _is_path(source):
        _read_file(source, found, measure)
    else:
        _read_object(source, found)
    by_run = found.by_run
    if not by_run:
        raise FormatError(found.where, "has no per-query value; write them with -q, or perquery=True")
    for of_run in by_run.values():
        _refuse_gaps(of_run, found.where)
    if len(by_run) == 1 and (names is None or len(names) == 1):
        ((run, of_run),) = by_run.items()
        own = run or (name_of(source) if _is_path(source) else position)
        return [_output(of_run, found, measure, names[0] if names else own)]
    lacking = [name for name in names or () if name not in by_run]
    if lacking:
        runs = [run or "one without a name" for run in by_run]
        raise ParameterError(f"{found.where} has no run {some(lacking)}; it has {some(runs)}")
    return [_output(by_run[name], found, measure, str(name)) for name in names or by_run]


def _is_path(source: Any) -> bool:
    return isinstance(source, (str, os.PathLike))


def _called(source: Any, position: str) -> str:
    return os.fsdecode(source) if _is_path(source) else f"the {position}"


_OfRun = dict[tuple[str, str | None], tuple[float, int]]  # by query and measure: a value, and the number of its row or line


@dataclass
class _Values:
    """The values that a source has, by run; where their measure has no name it is None."""

    where: str
    in_lines: bool  # so that the numbers of rows are those of lines, and cells are texts
    queries: Collection[str]  # those that are known
    runs: Collection[str]
    by_run: dict[str | None, _OfRun] = field(default_factory=dict)
    checked: set[str] = field(default_factory=set)  # query ids
    decimals: int | None = None  # the number of decimals with which every value is written, if that is the same

    def add(self, run: str | None, query: Any, measure: str | None, value: Any, number: int) -> None:
        """Keep a value; there may be only one for each run, query and measure."""
        if not isinstance(query, str) or query not in self.checked:
            (query,) = texts([query], self.where, "query id", {0: number if self.in_lines else None}.get)
            self.checked.add(query)
        if measure == "":
            raise self.error(f"the value of query {query} has no measure", number)
        of_run = self.by_run.setdefault(run, {})
        if (query, measure) in of_run:
            raise self.error(f"has two values of {measure or 'a run'} for query {query}", number)
        of_run[query, measure] = self.number(value, query, number), number

    def number(self, value: Any, query: str, number: int) -> float:
        """Return a value as a number; NaN where there is none."""
        if value is None or (self.in_lines and isinstance(value, str) and not value.strip()):
            return math.nan
        found = strict_number(value) if self.in_lines or not isinstance(value, str) else None
        if found is None:
            raise self.error(f"the value of query {query} is not a number; correct or remove it", number, str(value))
        return found

    def error(self, problem: str, number: int, text: str | None = None) -> FormatError:
        """Return an error that names the line or row."""
        if self.in_lines:
            return FormatError(self.where, problem, line=number, text=text)
        return FormatError(self.where, f"row {number}: {problem}", text=text)


def strict_number(value: Any) -> float | None:
    """Return a number, also one that a text states in the way of runs; None where it is neither."""
    if isinstance(value, str):
        return number_in(value.encode("utf-8", "replace"))
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, (int, float, np.integer, np.floating)):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


def _lines_in(path: str | os.PathLike[str]) -> _Lines:
    for place, (number, line) in enumerate(lines_of(path), 1):
        if place > MOST_LINES:
            problem = f"has more than {MOST_LINES:,} lines; leave out what is not needed, such as other measures"
            raise FormatError(os.fsdecode(path), problem, line=number)
        yield number, line


def _read_file(path: str | os.PathLike[str], found: _Values, measure: str | None) -> None:
    """Read JSON lines, a table with a header, or three columns."""
    lines: _Lines = ((number, line) for number, line in _lines_in(path) if line.strip())
    first = next(lines, None)
    if first is None:
        return
    lines = chain([first], lines)
    if first[1].lstrip().startswith("{"):
        _read_json_lines(lines, found)
    elif (separator := _separator(first[1])) is not None:
        _read_table(_csv_table(lines, found.where, separator), found)
    else:
        _read_columns(lines, found, measure)


def _read_json_lines(lines: _Lines, found: _Values) -> None:
    last: dict[str, tuple[Any, int]] = {}  # of each measure, the last value of "all": the summary, or a query of this name
    for number, line in lines:
        try:
            record = parsed_json(line, found.where, number)
            query, measure, value = record["query_id"], record["measure"], record["value"]
            if not isinstance(measure, str) or isinstance(value, str):
                raise TypeError
        except (FormatError, KeyError, TypeError):
            problem = "is not a line of ir_measures -q -o jsonl (query_id, measure, value)"
            raise found.error(problem, number, line.strip()) from None
        if measure in last:  # the summary has no line after it
            found.add(None, _SUMMARY, measure, *last.pop(measure))
        if query == _SUMMARY:
            last[measure] = value, number
        else:
            found.add(None, query, measure, value, number)
    for measure, (value, number) in last.items():
        if not _is_summary(found, measure, found.number(value, _SUMMARY, number)):
            found.add(None, _SUMMARY, measure, value, number)


def _is_summary(found: _Values, measure: str, value: float) -> bool:
    """Return whether this is what ir_measures writes below the values of the queries: their mean, or sum."""
    values = [other for (_, named), (other, _) in found.by_run.get(None, {}).items() if named == measure]
    defined = [other for other in values if not math.isnan(other)]
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


def _csv_table(lines: _Lines, where: str, separator: str) -> _Table:
    """Return a table with a header, whose rows have the numbers of their last lines."""
    rows = _separated(lines, where, separator)
    number, header = next(rows)
    if any("\n" in title for title in header):
        raise FormatError(where, "has a quotation mark that joins the header and another line", line=number, text=header[0])
    titles = [title.strip() for title in header]
    _refuse_repeated(titles, where, number)
    return _Table(titles, number, rows)


def _separated(lines: _Lines, where: str, separator: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the fields of each row, the header first, all as many, with the number of the row's last line."""
    number = 1
    n_columns = None

    def text() -> Iterator[str]:
        nonlocal number
        for number, line in lines:  # noqa: B007
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


def _refuse_repeated(titles: Sequence[str], where: str, line: int | None = None) -> None:
    for title, times in Counter(titles).items():
        if title and times > 1:
            raise FormatError(where, f"has the column {title!r} {times} times; keep one of them", line=line)


def _read_table(table: _Table, found: _Values) -> None:
    """Read a table with a row for each value, or with runs and queries."""
    titles = table.titles
    if not _is_long(titles):
        _read_wide(table, found)
        return
    lacking = [title for title in _OF_LONG_TABLES if title not in titles]
    if lacking:
        problem = f"is a table without {some(lacking)}; PyTerrier writes {some(_OF_LONG_TABLES)} with perquery=True"
        raise FormatError(found.where, problem, line=table.line)
    query, measure, value = map(titles.index, _OF_LONG_TABLES)
    name = titles.index("name") if "name" in titles else None
    for number, cells in table.body:
        found.add(None if name is None else cells[name], cells[query], str(cells[measure]), cells[value], number)


def _is_long(titles: Collection[str]) -> bool:
    """Return whether a table has a row for each value; the index of a wide one may be called qid."""
    return "measure" in titles or "value" in titles


def _read_wide(table: _Table, found: _Values) -> None:
    """Read a table of runs and queries; a cell that is empty or NaN is a query of which the run has no value."""
    (corner, *columns), body = table.titles, list(table.body)
    texts(columns, found.where, "query id", lambda row: table.line)
    names: set[str] = set()
    for number, (first, *_) in body:
        name = str(first)
        problem = None
        if not name:
            problem = "has no name of the run, which belongs into the first column"
        elif name in names:
            problem = "has the name of an earlier row; runs must have different names"
        elif isinstance(first, str) and strict_number(name) is not None and not name.isdigit():
            problem = "has a number in the first column, where the name of the run belongs; write the table with its names"
        if problem is not None:
            raise found.error(problem, number, name)
        names.add(name)
    has_queries_in_rows = _has_queries_in_rows(corner.lower(), names, columns, found)
    for number, (first, *cells) in body:
        for title, cell in zip(columns, cells, strict=True):
            run, query = (title, str(first)) if has_queries_in_rows else (str(first), title)
            value = found.number(cell, query, number)
            if not math.isnan(value):
                found.add(run, query, None, value, number)


def _has_queries_in_rows(corner: str, names: Collection[str], columns: list[str], found: _Values) -> bool:
    """Return whether a table has a row for each query, by what is known of its names; refuse to guess."""
    for in_rows, in_columns in (
        (any(name in found.queries for name in names), any(name in found.queries for name in columns)),
        (any(name in found.runs for name in columns), any(name in found.runs for name in names)),
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
        raise UnclearTable(found.where, problem)
    return False


def _read_columns(lines: _Lines, found: _Values, measure: str | None) -> None:
    """Read three columns: trec_eval writes measure, query, value; ir_measures query, measure, value."""
    pairs: dict[tuple[str, str], tuple[str, int]] = {}
    decimals: set[int] = set()
    for number, line in lines:
        fields = _fields(line)
        if len(fields) != 3:
            raise found.error("is not a line of trec_eval -q or ir_measures -q, which have 3 columns", number, line.strip())
        first, second, value = map(intern, fields)
        if (first, second) in pairs:
            raise found.error("repeats the first two columns of an earlier line", number, line.strip())
        pairs[first, second] = value, number
        is_plain = strict_number(value) is not None and "e" not in value.lower()
        decimals.add(len(value.partition(".")[2]) if is_plain else -1)
    measures_first = _are_measures_first(pairs, measure, found.where)
    for (first, second), (value, number) in pairs.items():
        query, named = (second, first) if measures_first else (first, second)
        if query != _SUMMARY and not _TEXTS_OF_TREC_EVAL.fullmatch(named):
            found.add(None, query, named, value, number)
    found.decimals = decimals.pop() if len(decimals) == 1 and decimals != {-1} else None


def _fields(line: str) -> list[str]:
    """Return the columns: separated by tabs where there are two, which leaves spaces inside of an id, else by white space."""
    fields = line.rstrip("\r\n").split("\t")
    if len(fields) == 3:
        return [field.strip(WHITE_SPACE) for field in fields]
    return [field for field in re.split(f"[{WHITE_SPACE}]+", line) if field]


def _are_measures_first(pairs: Iterable[tuple[str, str]], measure: str | None, where: str) -> bool:
    """Return which column has the measures, by the file as a whole: the column order is the same in all lines."""
    columns = [dict.fromkeys(column) for column in zip(*pairs, strict=True)]
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
    raise FormatError(where, f"{problem}; write JSON lines (ir_measures -q -o jsonl), or give a dict")


def _read_object(source: Any, found: _Values) -> None:
    """Read a frame, a dict, or an iterable of Metric."""
    source = getattr(source, "per_query", source)
    if is_frame(source):
        _read_table(_table_of_frame(source, found.where), found)
    elif isinstance(source, Mapping):
        are_values = all(isinstance(value, Real) for value in source.values())
        rows = ((query, {None: values} if are_values else values) for query, values in source.items())
        for number, (query, values) in enumerate(rows, 1):
            if not isinstance(values, Mapping):
                raise FormatError(found.where, "is not a dict of dict {query: {measure: value}}", text=repr(values))
            for measure, value in values.items():
                found.add(None, query, measure and str(measure), value, number)
    elif isinstance(source, Iterable) and not isinstance(source, (str, bytes)):
        for number, metric in enumerate(source, 1):
            if not all(hasattr(metric, name) for name in ("query_id", "measure", "value")):
                raise FormatError(found.where, "is not an iterable of ir_measures.Metric", text=repr(metric))
            found.add(None, metric.query_id, str(metric.measure), metric.value, number)
    else:
        raise FormatError(found.where, f"per-query values cannot be read from a {type(source).__name__}")


def _table_of_frame(frame: Any, where: str) -> _Table:
    """Return a frame as a table: of one with a row for each value the columns that are needed, else the index and all."""
    titles = column_names(frame)
    if _is_long(titles):
        titles = [title for title in titles if title in ("name", *_OF_LONG_TABLES)]
        _refuse_repeated(titles, where)
        return _Table(titles, None, enumerate(zip(*(as_list(frame[title]) for title in titles), strict=True), 1))
    if not hasattr(frame, "index"):
        raise FormatError(where, f"has no columns {some(_OF_LONG_TABLES)}; a frame of runs by queries is one of pandas")
    cells = zip(frame.index, frame.values.tolist(), strict=True)
    return _Table([str(frame.index.name), *titles], None, enumerate(([first, *rest] for first, rest in cells), 1))


def _refuse_gaps(of_run: _OfRun, where: str) -> None:
    """Refuse a run of which one measure lacks queries that another one has: it was cut, or is of more than one kind."""
    queries = Counter(query for query, _ in of_run)
    measures = {str(named) for _, named in of_run}
    lacking = [query for query, times in queries.items() if times < len(measures)]
    if lacking:
        problem = (
            f"queries have values of some of the measures only ({some(lacking)}; the measures are {some(sorted(measures))}); "
            "is the name of a measure damaged, or was the output cut, or joined of two?"
        )
        raise FormatError(where, problem)


def base_name(measure: str) -> str:
    """Return a measure's name without its parameters and cutoff."""
    return measure.split("@")[0].split("(")[0]


def is_gain(measure: str) -> bool:
    """Whether a measure, by its name, is known to be higher for better runs and zero where nothing was found."""
    base = base_name(measure)
    return base in _GAINS or base.rstrip("_0123456789.") in _GAINS or base in RECIPROCALS


def _output(of_run: _OfRun, found: _Values, measure: str | None, name: str) -> Output:
    """Return the values of one measure; values without a measure are of any."""
    chosen = _chosen(list(dict.fromkeys(named for _, named in of_run)), measure, found.where)
    values: dict[str, float] = {}
    for (query, named), (value, number) in of_run.items():
        if named in (chosen, None):
            problem = _problem_of(value, chosen)
            if problem is not None:
                raise found.error(f"{chosen} of query {query} {problem}", number, str(value))
            values[query] = value
    return Output(name, chosen, values, _places(list(values.values()), chosen, found.decimals))


def _chosen(there: list[str | None], measure: str | None, where: str) -> str:
    """Return which of the measures is meant."""
    named = [name for name in there if name is not None]
    if not named and measure is None:
        raise ParameterError(f"{where} has values without the name of their measure; name it with measure=")
    if measure is not None:
        if named and measure not in named:
            raise ParameterError(f"{where} has no values of {measure}; it has {some(named)}")
        return measure
    candidates = [name for name in named if base_name(name) in _PREFERRED] or named
    if len(candidates) > 1:
        raise ParameterError(f"{where} has several measures ({some(candidates)}); choose one with measure=")
    return candidates[0]


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
    """Read a leaderboard: a CSV file with a header, a JSON file with a list of objects, or an iterable of mappings.

    Columns are ``id`` (or ``run``; entries without one are named after ``description`` or ``name``), ``date`` (year, month,
    day), and optionally ``group`` (or ``team``), the score (by default the column whose name contains "eval", or ``score``),
    and ``baseline``, which marks the organizers' baselines unless it is empty, 0, no or false. The symbol with which the MS
    MARCO leaderboards mark them, in a column without a name, does the same.
    """
    where = _called(source, "entries")
    rows = list(_records(source, where))
    if not rows:
        raise FormatError(where, "has no entry")
    columns = [title for title in dict.fromkeys(str(title) for _, row in rows for title in row) if title]
    if "date" not in columns:
        raise FormatError(where, f"has no column 'date'; its columns are {some(columns, 10)}")
    column = _score_column(columns, score, where)
    entries: dict[str, Entry] = {}
    times: Counter[str] = Counter()
    for number, row in rows:
        entry = _entry(row, column, where, number)
        if entry.run in entries and _text(row, "id", "run"):
            raise FormatError(where, "the id is repeated; ids must differ", line=number, text=entry.run)
        name = entry.run
        while entry.run in entries:  # descriptions may be the same
            times[name] += 1
            entry = replace(entry, run=f"{name} #{times[name] + 1}")
        entries[entry.run] = entry
    return Entries(tuple(entries.values()), column)


def _records(source: Any, where: str) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows by the names of their columns, with their numbers, or those of their lines."""
    rows = source
    if _is_path(source):
        lines = list(_lines_in(source))
        filled = [(number, line) for number, line in lines if line.strip()]
        if not filled or not filled[0][1].lstrip().startswith(("[", "{")):
            table = _csv_table(iter(filled), where, ",") if filled else _Table([], None, [])
            yield from ((number, dict(zip(table.titles, fields, strict=True))) for number, fields in table.body)
            return
        rows = parsed_json("".join(line for _, line in lines), where, 1)
    if not isinstance(rows, Iterable) or isinstance(rows, (str, bytes, Mapping)):
        raise FormatError(where, f"is a {type(rows).__name__}, not a list of objects such as {{'id': ..., 'date': ...}}")
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise FormatError(where, f"row {number} is not an object such as {{'id': ..., 'date': ...}}", text=repr(row))
        yield number, row


def _score_column(columns: list[str], score: str | None, where: str) -> str | None:
    if score is not None:
        if score not in columns:
            raise ParameterError(f"{where} has no column {score!r}; it has {some(columns, 10)}")
        return score
    likely = [name for name in columns if "eval" in name.lower() or name.lower() == "score"]
    if len(likely) > 1:
        raise ParameterError(f"{where} has several columns of scores ({some(likely)}); choose one with score=")
    return likely[0] if likely else None


def _entry(row: Mapping[str, Any], column: str | None, where: str, number: int) -> Entry:
    run, group = _text(row, "id", "run", "description", "name"), _text(row, "group", "team")
    if not run:
        raise FormatError(where, "an entry has no id", line=number, text=repr(dict(row)))
    try:
        f"{run}{group}".encode()
    except UnicodeEncodeError:
        raise FormatError(where, "a name is not text in UTF-8", line=number, text=run) from None
    score = None
    if column is not None and _text(row, column):
        score = strict_number(row[column])
        if score is None or not math.isfinite(score):
            raise FormatError(where, "a score is not a number", line=number, text=repr(row[column]))
    marked = _text(row, "baseline").lower() not in ("", "0", "no", "false") or ORGANIZER in _text(row, "")
    return Entry(run, _date(row.get("date"), where, number), group or None, score, marked)


def _text(row: Mapping[str, Any], *names: str) -> str:
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
