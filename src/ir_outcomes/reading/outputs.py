"""What other tools computed: values of measures by query (ir_measures, pytrec_eval, trec_eval -q, PyTerrier), and leaderboards.

Every row is read or the source is refused: a file of which a part is ignored can turn a verdict
around.
"""

import csv
import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.errors import FormatError, ParameterError, some, warn
from ir_outcomes.reading.columns import as_list, column_names, is_frame, texts
from ir_outcomes.reading.files import (
    LONGEST_RECORD,
    WHITE_SPACE,
    Block,
    blocks,
    check_bytes,
    name_of,
    nonblank,
    parsed_json,
)
from ir_outcomes.reading.formats import QUERY_NAMES, is_measure_name
from ir_outcomes.reading.runs import distinct_names
from ir_outcomes.reading.text import number_in

# Measures that are higher for better runs and zero where nothing was found, as ir_measures,
# trec_eval and ranx name them.
_GAINS = (
    "nDCG",
    "AP",
    "MAP",
    "P",
    "R",
    "Rprec",
    "RPrec",
    "Success",
    "ERR",
    "RBP",
    "Bpref",
    "infAP",
    "BPM",
    "SDCG",
    "INST",
    "INSQ",
    "NERR8",
    "NERR9",
    "NERR10",
    "NERR11",
    "alpha_nDCG",
    "alpha_DCG",
    "NRBP",
    "nNRBP",
    "AP_IA",
    "P_IA",
    "StRecall",
    "SetP",
    "SetR",
    "SetF",
    "SetAP",
    "IPrec",
    "map",
    "map_cut",
    "ndcg",
    "ndcg_cut",
    "ndcg_rel",
    "Rndcg",
    "recall",
    "success",
    "bpref",
    "set_P",
    "set_recall",
    "set_F",
    "set_map",
    "iprec_at_recall",
    "G",
    "binG",
    "hits",
    "hit_rate",
    "precision",
    "f1",
    "r-precision",
    "dcg",
    "dcg_burges",
    "ndcg_burges",
    "rbp",
)
RECIPROCALS = ("RR", "MRR", "mrr", "recip_rank")
MOST_PLACES = 6
_KEYS = ("query_id", "measure", "value")  # of ir_measures' JSON lines and of its Metric
_LONG = ("qid", "measure", "value")  # columns of a table with a row for each value
_TITLES_OF_QUERIES = (*QUERY_NAMES, "query", "topic")
_TITLES_OF_RUNS = ("run", "name", "system")
_SUMMARY = (  # where a file has the mean over the queries; in dicts and frames it is a query like any other
    "all"
)
_PREFERRED = (*RECIPROCALS, "ESL")
_CAN_BE_UNDEFINED = ("ESL", "ASL")
_TEXTS_OF_TREC_EVAL = re.compile(r"runid|relstring(_\d+)?")  # their values are not numbers


@dataclass(frozen=True, eq=False)
class Output:
    """The values of one measure for one run; `places` are the decimals they were rounded to, None where they were not."""

    name: str
    measure: str
    values: dict[str, float]
    places: int | None


class _Row(NamedTuple):
    """A value as it was read."""

    number: int | None  # of its line, or of the row of an object; None where that is not known
    run: str | None
    query: Any
    measure: str | None
    value: Any  # None where there is none


class _Source(NamedTuple):
    """What is read, and what messages call it."""

    data: Any
    called: str
    is_file: bool

    def error(
        self, problem: str, number: int | None = None, text: str | None = None
    ) -> FormatError:
        """Make an error that names the line or row."""
        if not self.is_file and number is not None:
            problem = f"row {number}: {problem}"
            number = None
        return FormatError(self.called, problem, line=number, text=text)


def _source_of(data: Any, position: str) -> _Source:
    is_file = isinstance(data, (str, os.PathLike))
    return _Source(data, os.fsdecode(data) if is_file else f"the {position}", is_file)


def read_output_of_each_run(
    sources: Sequence[Any],
    positions: Sequence[str],
    *,
    measure: str | None = None,
    names: Sequence[str] | None = None,
) -> list[Output]:
    """Return one output for each source, with different names; see `read_outputs`."""
    if names is not None and len(names) != len(sources):
        raise ParameterError(
            f"there are {len(sources)} outputs and {len(names)} names; give one name for each"
        )
    given: Sequence[str | None] = [None] * len(sources) if names is None else names
    outputs = [
        read_output(source, measure=measure, name=name, position=position)
        for source, name, position in zip(sources, given, positions, strict=True)
    ]
    called = distinct_names([output.name for output in outputs], given, sources)
    return [replace(output, name=name) for output, name in zip(outputs, called, strict=True)]


def read_output(
    source: Any, *, measure: str | None = None, name: str | None = None, position: str = "output"
) -> Output:
    """Return the values of one run, `name` where the source has several; see `read_outputs`."""
    outputs = read_outputs(
        source, measure=measure, names=None if name is None else [name], position=position
    )
    if len(outputs) > 1:
        called = _source_of(source, position).called
        runs = some([output.name for output in outputs])
        raise ParameterError(f"{called} has the runs {runs}; choose one with `names`")
    return outputs[0]


def read_outputs(
    source: Any,
    *,
    measure: str | None = None,
    names: Sequence[str] | None = None,
    position: str = "output",
) -> list[Output]:
    """Return the values of one measure for each run of what another tool wrote or returned."""
    read = _source_of(source, position)
    by_run = _by_run(
        _rows_of_file(read, measure) if read.is_file else _rows_of_object(read, measure), read
    )
    if not by_run:
        raise read.error("has no per-query value; write them with -q, or perquery=True")
    if len(by_run) == 1 and (names is None or len(names) == 1):
        ((run, values),) = by_run.items()
        own = run or (name_of(source) if read.is_file else position)
        return [_output(values, read, measure, names[0] if names else own)]
    lacking = [name for name in names or () if name not in by_run]
    if lacking:
        runs = [run or "one without a name" for run in by_run]
        raise ParameterError(f"{read.called} has no run {some(lacking)}; it has {some(runs)}")
    return [_output(by_run[name], read, measure, str(name)) for name in names or by_run]


# For each measure and query the value, and the number of its row.
_OfRun = dict[str | None, dict[str, tuple[float, int | None]]]


def _by_run(rows: Iterable[_Row], source: _Source) -> dict[str | None, _OfRun]:
    """Check the values, of which there may be only one for each run, query and measure, and that no measure lacks queries."""
    found: dict[str | None, _OfRun] = {}
    for query, (number, run, _, measure, value) in _with_queries(rows, source):
        of_measure = found.setdefault(run, {}).setdefault(measure, {})
        if query in of_measure:
            raise source.error(f"has two values of {measure or 'a run'} for query {query}", number)
        read = None
        if value is None:
            read = math.nan
        elif source.is_file or not isinstance(value, str):
            read = strict_number(value)
        if read is None:
            raise source.error(
                f"the value of query {query} is not a number; correct or remove it",
                number,
                str(value),
            )
        of_measure[query] = read, number
    by_run: dict[str | None, _OfRun] = {}
    for run, of_run in found.items():
        for of_measure in of_run.values():
            if source.is_file:
                of_measure.pop(_SUMMARY, None)
        measured = {measure: of_measure for measure, of_measure in of_run.items() if of_measure}
        everywhere = {query: None for of_measure in measured.values() for query in of_measure}
        lacking = [
            query
            for query in everywhere
            if any(query not in of_measure for of_measure in measured.values())
        ]
        if lacking:  # the output was cut, or is of more than one kind
            measures = some(sorted(map(str, measured)))
            raise source.error(
                f"queries have values of some of the measures only ({some(lacking)}; the measures"
                f" are {measures}); is the name of a measure damaged, or was the output cut, or"
                " joined of two?"
            )
        if measured:
            by_run[run] = measured
    return by_run


def _with_queries(rows: Iterable[_Row], source: _Source) -> Iterator[tuple[str, _Row]]:
    """Yield the rows with their query ids as text; those of a file one by one, because it may be refused at any."""
    if source.is_file:
        for row in rows:
            line = row.number
            yield texts([row.query], source.called, "query id", lambda _, line=line: line)[0], row  # type: ignore[misc]
    else:
        listed = list(rows)
        yield from zip(
            texts([row.query for row in listed], source.called, "query id"), listed, strict=True
        )


def strict_number(value: Any) -> float | None:
    """Return a number, also one that a text states in the way of runs; None where it is neither."""
    if isinstance(value, str):
        return number_in(value.encode("utf-8", "replace"))
    if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
        return None
    try:
        return float(value)
    except OverflowError:
        return None


class _Lines:
    """The lines of a file that are not blank, with their numbers, as often as they are asked for.

    Blocks of bytes are kept, and read when they are asked for: an object for each of many short
    lines would take many times as much, and a file that is refused at its beginning is not read to
    its end.
    """

    def __init__(self, source: _Source) -> None:
        self._called = source.called
        self._rest = blocks(source.data, LONGEST_RECORD)
        self._read: list[Block] = []

    def __iter__(self) -> Iterator[tuple[int, str]]:
        place = 0
        while place < len(self._read) or self._reads_another():
            for number, line in nonblank(self._read[place]):
                text = line.decode()
                if text.strip():
                    yield number, text
            place += 1

    def _reads_another(self) -> bool:
        block = next(self._rest, None)
        if block is None:
            return False
        check_bytes(block, self._called)
        self._read.append(block)
        return True

    @property
    def first(self) -> str:
        """The first line; empty where there is none."""
        return next((line for _, line in self), "")

    @property
    def document(self) -> Any:
        """What the lines say together, as JSON."""
        return parsed_json("".join(line for _, line in self), self._called, 1)


def _rows_of_file(source: _Source, measure: str | None) -> Iterator[_Row]:
    """Read JSON, JSON lines, a table with a header, or three columns."""
    lines = _Lines(source)
    first = lines.first
    if first.lstrip().startswith("{"):
        return _rows_of_json(lines, source, measure)
    fields = _fields(first)
    # By tabs also where the value is not a number: a damaged line of trec_eval must not become the
    # header of a table.
    has_three = len(fields) == 3 and (
        first.count("\t") == 2 or strict_number(fields[2]) is not None
    )
    is_header = first.startswith("\t") or len({*fields} & {*_LONG}) > 1 or not has_three
    separator = next((sign for sign in "\t," if sign in first), None)
    if separator is not None and is_header:
        return _rows_of_table(*_table_in(lines, source, separator), source)
    return _rows_of_columns(lines, source, measure)


def _rows_of_json(lines: _Lines, source: _Source, measure: str | None) -> Iterator[_Row]:
    """Read the lines of ir_measures, or a document: what pytrec_eval returned, or the scores of a run of ranx."""
    first = lines.first
    # The line is an object by itself, and not the beginning of a document on several lines.
    if first.rstrip().endswith("}"):
        members = parsed_json(first, source.called, 1)
        if members.keys() & {*_KEYS}:
            return _rows_of_json_lines(lines, source)
    rows = _rows_of_mapping(lines.document, source, measure)
    return (row._replace(number=None) for row in rows)


def _rows_of_json_lines(lines: _Lines, source: _Source) -> Iterator[_Row]:
    for number, line in lines:
        record = parsed_json(line, source.called, number)
        if (
            not isinstance(record, dict)
            or not record.keys() >= {*_KEYS}
            or isinstance(record["value"], str)
        ):
            problem = "is not a line of ir_measures -q -o jsonl (query_id, measure, value)"
            raise source.error(problem, number, line.strip())
        yield _Row(number, None, record["query_id"], str(record["measure"]), record["value"])


def _rows_of_columns(lines: _Lines, source: _Source, measure: str | None) -> Iterator[_Row]:
    """Read three columns: trec_eval writes measure, query, value; ir_measures query, measure, value."""
    found: dict[tuple[str, str], None] = {}
    for number, line in lines:
        fields = _fields(line)
        if len(fields) != 3:
            problem = "is not a line of trec_eval -q or ir_measures -q, which have 3 columns"
            raise source.error(problem, number, " ".join(fields))
        names = fields[0], fields[1]
        if names in found and not any(map(_TEXTS_OF_TREC_EVAL.fullmatch, names)):
            break  # a second value, which is refused below: what follows need not be looked at
        found[names] = None
    if not found:
        return
    measures_first = _are_measures_first(found, measure, source)
    for number, line in lines:
        first, second, value = _fields(line)
        query, named = (second, first) if measures_first else (first, second)
        if not _TEXTS_OF_TREC_EVAL.fullmatch(named):
            yield _Row(number, None, query, named, value or None)


def _fields(line: str) -> list[str]:
    """Return the columns: separated by tabs where there are two, which leaves spaces inside of an id, else by white space."""
    fields = line.rstrip("\r\n").split("\t")
    if len(fields) == 3:
        return [field.strip(WHITE_SPACE) for field in fields]
    return [field for field in re.split(f"[{WHITE_SPACE}]+", line) if field]


def _are_measures_first(
    pairs: Iterable[tuple[str, str]], measure: str | None, source: _Source
) -> bool:
    """Return which column has the measures, by the file as a whole: the column order is the same in all lines."""
    columns = [dict.fromkeys(column) for column in zip(*pairs, strict=True)]
    if not columns[0].keys() & columns[1].keys():
        for evidence in (
            [measure in column for column in columns],
            [_SUMMARY in column for column in reversed(columns)],
            [all(map(is_measure_name, column)) for column in columns],
            [len(columns[0]) < len(columns[1]), len(columns[1]) < len(columns[0])],
        ):
            if evidence[0] != evidence[1]:
                return evidence[0]
    raise source.error(
        "has no per-query value, or it cannot be told which column has the measures and which the"
        " queries; write them with -q as JSON lines (ir_measures -q -o jsonl), or give a dict"
    )


_Body = Iterable[tuple[int, Sequence[Any]]]  # the cells of each row, with its number


def _table_in(lines: _Lines, source: _Source, separator: str) -> tuple[list[str], _Body]:
    """Return the titles of a table with a header, and its rows with the numbers of their last lines."""
    rows = _cells(lines, source, separator)
    number, header = next(rows)
    titles = [title or "" for title in header]
    _refuse_repeated(titles, source, number)
    return titles, rows


def _cells(
    lines: _Lines, source: _Source, separator: str
) -> Iterator[tuple[int, list[str | None]]]:
    number = 0

    def texts_of_lines() -> Iterator[str]:
        nonlocal number
        # The number of the last line of a row, which can have several.
        for number, line in lines:  # noqa: B007
            yield line

    n_columns = None
    try:
        for cells in csv.reader(texts_of_lines(), delimiter=separator, strict=True):
            n_columns = n_columns or len(cells)
            if len(cells) != n_columns:
                problem = f"has {len(cells)} columns, the header has {n_columns}"
                raise source.error(problem, number, separator.join(cells))
            yield number, [cell.strip(WHITE_SPACE) or None for cell in cells]
    except csv.Error as error:
        raise source.error(f"is not a line of a CSV file ({error})", number) from None


def _refuse_repeated(titles: Sequence[str], source: _Source, line: int | None = None) -> None:
    for title, times in Counter(titles).items():
        if title and times > 1:
            raise FormatError(
                source.called,
                f"has the column {title!r} {times} times; keep one of them",
                line=line,
            )


def _rows_of_table(titles: list[str], body: _Body, source: _Source) -> Iterator[_Row]:
    """Read a table with a row for each value, or with runs and queries, where a cell may be empty."""
    # Not qid: the index of a table of runs and queries may have this name.
    if "measure" in titles or "value" in titles:
        lacking = [title for title in _LONG if title not in titles]
        if lacking:
            raise source.error(
                f"is a table without {some(lacking)}; PyTerrier writes {some(_LONG)} with"
                " perquery=True"
            )
        query, measure, value = map(titles.index, _LONG)
        name = titles.index("name") if "name" in titles else None
        for number, cells in body:
            asked = "" if cells[query] is None else cells[query]
            yield _Row(
                number,
                None if name is None else cells[name] or "",
                asked,
                str(cells[measure]),
                cells[value],
            )
        return
    corner, *columns = titles
    rows: dict[str, tuple[int, Sequence[Any]]] = {}
    for number, (name, *cells) in body:
        first = "" if name is None else str(name)
        if first in rows:
            raise source.error(f"has two rows {first!r}; keep one of them", number)
        rows[first] = number, cells
    are_queries = _rows_are_queries(corner, list(rows), columns, source)
    for first, (number, values) in rows.items():
        if not first or (strict_number(first) is not None and not first.isdigit()):
            raise source.error(
                "has no name of a run in its first column; write the table with the names of its"
                " runs",
                number,
                first,
            )
        for title, cell in zip(columns, values, strict=True):
            if cell is not None and cell == cell:  # else it is NaN
                run, asked = (title, first) if are_queries else (first, title)
                yield _Row(number, run, asked, None, cell)


def _rows_are_queries(corner: str, rows: list[str], columns: list[str], source: _Source) -> bool:
    """Tell queries from runs by the title of the first column, else by which are numbers; say it where neither tells."""
    if corner.lower() in (*_TITLES_OF_QUERIES, *_TITLES_OF_RUNS):
        return corner.lower() in _TITLES_OF_QUERIES
    # Pandas names an index so where nothing is named.
    are_counted = list(rows) == [str(place) for place in range(len(rows))]
    rows_are_numbers = all(map(str.isdigit, rows)) and not are_counted
    columns_are_numbers = all(map(str.isdigit, columns))
    if rows_are_numbers != columns_are_numbers:
        return rows_are_numbers
    seen = f"has rows ({some(sorted(rows))}) and columns ({some(columns)})"
    if are_counted or len(rows) > len(columns):
        problem = (
            "and it cannot be told which are the queries; call the first column 'run' or 'query'"
        )
        raise source.error(f"{seen}, {problem}")
    warn(
        f"{source.called} {seen}; rows are taken as runs: call the first column 'run' or 'query' to"
        " say which they are"
    )
    return False


def _rows_of_object(source: _Source, measure: str | None) -> Iterator[_Row]:
    """Read a frame, a dict, or an iterable of Metric."""
    data = getattr(source.data, "per_query", source.data)
    if is_frame(data):
        yield from _rows_of_table(*_table_of_frame(data, source), source)
    elif isinstance(data, Mapping):
        yield from _rows_of_mapping(data, source, measure)
    elif isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        for number, metric in enumerate(data, 1):
            if not all(hasattr(metric, name) for name in _KEYS):
                raise source.error("is not an iterable of ir_measures.Metric", text=repr(metric))
            yield _Row(number, None, metric.query_id, str(metric.measure), metric.value)
    else:
        raise source.error(f"per-query values cannot be read from a {type(data).__name__}")


def _rows_of_mapping(
    data: Mapping[Any, Any], source: _Source, measure: str | None
) -> Iterator[_Row]:
    """Read {query: value}, {query: {measure: value}} of pytrec_eval, or {measure: {query: value}} of ranx."""
    if any(isinstance(value, Real) for value in data.values()):
        data = {
            query: {None: value} if value is None or isinstance(value, Real) else value
            for query, value in data.items()
        }
    wrong = next(
        ({key: given} for key, given in data.items() if not isinstance(given, Mapping)), None
    )
    if wrong is not None:
        raise source.error(
            "is not a dict of dict {query: {measure: value}} or {measure: {query: value}}",
            text=repr(wrong),
        )
    by_measure = _is_by_measure(data, measure)
    for number, (outer, given) in enumerate(data.items(), 1):
        for inner, value in given.items():
            query, named = (inner, outer) if by_measure else (outer, inner)
            if isinstance(value, str):
                raise source.error(
                    f"the value of query {query} is not a number; correct or remove it", text=value
                )
            yield _Row(number, None, query, str(named) if named else None, value)


def _is_by_measure(data: Mapping[Any, Mapping[Any, Any]], measure: str | None) -> bool:
    """Return whether the outer keys of a dict of dict are the measures, by their names."""
    outer = list(map(str, data))
    inner = list(dict.fromkeys(str(key) for given in data.values() for key in given))
    if (measure in outer) != (measure in inner):
        return measure in outer
    are_measures = [
        all(is_measure_name(name) or is_gain(name) for name in names) for names in (outer, inner)
    ]
    return are_measures == [True, False]


def _table_of_frame(frame: Any, source: _Source) -> tuple[list[str], _Body]:
    """Return a frame as a table: of one with a row for each value the columns that are needed, else the index and all."""
    titles = column_names(frame)
    if "measure" in titles or "value" in titles:
        titles = [title for title in titles if title in ("name", *_LONG)]
        _refuse_repeated(titles, source)
        return titles, enumerate(zip(*(as_list(frame[title]) for title in titles), strict=True), 1)
    if not hasattr(frame, "index"):
        raise source.error(
            f"has no columns {some(_LONG)}; a frame of runs by queries is one of pandas"
        )
    cells = zip(frame.index, frame.values.tolist(), strict=True)
    rows = ([first, *rest] for first, rest in cells)
    return [str(frame.index.name), *titles], enumerate(rows, 1)


def base_name(measure: str) -> str:
    """Return a measure's name without its parameters and cutoff."""
    return measure.split("@")[0].split("(")[0]


def is_gain(measure: str) -> bool:
    """Whether a measure, by its name, is known to be higher for better runs and zero where nothing was found."""
    base = base_name(measure)
    return base in _GAINS or base.rstrip("_0123456789.") in _GAINS or base in RECIPROCALS


def _output(of_run: _OfRun, source: _Source, measure: str | None, name: str) -> Output:
    """Return the values of the measure that is meant; values without a measure are of any."""
    named = [own for own in of_run if own is not None]
    if not named and measure is None:
        raise ParameterError(
            f"{source.called} has values without the name of their measure; name it with `measure`"
        )
    if measure is not None and named and measure not in named:
        raise ParameterError(f"{source.called} has no values of {measure}; it has {some(named)}")
    candidates = (
        [measure]
        if measure is not None
        else [own for own in named if base_name(own) in _PREFERRED] or named
    )
    if len(candidates) > 1:
        raise ParameterError(
            f"{source.called} has several measures ({some(candidates)}); choose one with `measure`"
        )
    (chosen,) = candidates
    values: dict[str, float] = {}
    for query, (value, number) in of_run[chosen if named else None].items():
        problem = _problem_of(value, chosen)
        if problem is not None:
            raise source.error(f"{chosen} of query {query} {problem}", number, str(value))
        values[query] = value
    return Output(name, chosen, values, _places(list(values.values()), chosen))


def _problem_of(value: float, measure: str) -> str | None:
    """Return why a measure cannot have this value; None where it can."""
    base = base_name(measure)
    at = measure.rpartition("@")[2]
    cutoff = int(at) if at.isdecimal() and at.isascii() and len(at) < 10 else None
    # The most by which rounding can have changed the value.
    rounding = 0.5 * 10.0 ** -len(repr(value).partition(".")[2])
    if math.isnan(value):
        if base in _CAN_BE_UNDEFINED:
            return None
        return "is undefined; remove the query from both runs, or write 0 for not found"
    if math.isinf(value):
        return "is infinite, so that it has no mean"
    if base in RECIPROCALS and not 0 <= value <= 1:
        return "is not between 0 and 1; are the values in percent?"
    if base == "ESL" and value < 1:
        return "is not a rank, which is 1 or more"
    if cutoff and base in RECIPROCALS and value and value + rounding < 1 / cutoff:
        return f"is below 1/{cutoff}, although ranks beyond {cutoff} do not count"
    if cutoff and base == "ESL" and value > cutoff + ("cutoff+1" in measure):
        return f"is a rank beyond the cutoff, {cutoff}"
    if value < 0 and is_gain(base):
        return "is negative"
    return None


def _places(values: Sequence[float], measure: str) -> int | None:
    """Find the number of decimal places that values were rounded to; None where nothing says that they were."""
    numbers = [number for number in values if math.isfinite(number) and number != int(number)]
    fits = next(
        (
            n
            for n in range(1, MOST_PLACES + 1)
            if all(round(number, n) == number for number in numbers)
        ),
        None,
    )
    if base_name(measure) in RECIPROCALS:
        if all((1 / number) == int(1 / number) for number in numbers):
            return None
        return fits
    return fits if fits is not None and fits >= 3 else None


ORGANIZER = "\N{CLASSICAL BUILDING}"  # how the MS MARCO leaderboards mark the organizers' baselines


@dataclass(frozen=True)
class Entry:
    """A submission to a leaderboard."""

    run: str  # its id; its description where it has none
    date: date
    group: str | None
    score: float | None
    is_baseline: bool  # of the organizers


class Entries(NamedTuple):
    """A leaderboard: its submissions in the order of the source, and the column of the score, or None."""

    entries: tuple[Entry, ...]
    score: str | None


def read_entries(source: Any, score: str | None = None) -> Entries:
    """Read a leaderboard: a CSV file with a header, a JSON file with a list of objects, or an iterable of mappings.

    Columns are ``id`` (or ``run``; entries without one are named after ``description`` or
    ``name``), ``date`` (year, month, day), and optionally ``group`` (or ``team``), the score (by
    default the column whose name contains "eval", or ``score``), and ``baseline``, which marks the
    organizers' baselines unless it is empty, 0, no or false. The symbol with which the MS MARCO
    leaderboards mark them, in a column without a name, does the same.
    """
    read = _source_of(source, "entries")
    rows = list(_records(read))
    if not rows:
        raise read.error("has no entry")
    columns = [
        title for title in dict.fromkeys(str(title) for _, row in rows for title in row) if title
    ]
    if "date" not in columns:
        raise read.error(f"has no column 'date'; its columns are {some(columns, 10)}")
    likely = [name for name in columns if "eval" in name.lower() or name.lower() == "score"]
    if score is not None and score not in columns:
        raise ParameterError(f"{read.called} has no column {score!r}; it has {some(columns, 10)}")
    if score is None and len(likely) > 1:
        raise ParameterError(
            f"{read.called} has several columns of scores ({some(likely)}); choose one with `score`"
        )
    column = score or (likely[0] if likely else None)
    entries: dict[str, Entry] = {}
    times: Counter[str] = Counter()
    for number, row in rows:
        entry = _entry(row, column, read, number)
        if entry.run in entries and _text(row, "id", "run"):
            raise read.error("the id is repeated; ids must differ", number, entry.run)
        name = entry.run
        while entry.run in entries:  # descriptions may be the same
            times[name] += 1
            entry = replace(entry, run=f"{name} #{times[name] + 1}")
        entries[entry.run] = entry
    return Entries(tuple(entries.values()), column)


def _records(source: _Source) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Yield the rows by the names of their columns, with their numbers, or those of their lines."""
    rows = source.data
    if source.is_file:
        lines = _Lines(source)
        if lines.first and not lines.first.lstrip().startswith(("[", "{")):
            titles, body = _table_in(lines, source, ",")
            yield from ((number, dict(zip(titles, cells, strict=True))) for number, cells in body)
            return
        rows = lines.document if lines.first else []
    if not isinstance(rows, Iterable) or isinstance(rows, (str, bytes, Mapping)):
        raise source.error(
            f"is a {type(rows).__name__}, not a list of objects such as {{'id': ..., 'date': ...}}"
        )
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise source.error(
                f"row {number} is not an object such as {{'id': ..., 'date': ...}}", text=repr(row)
            )
        yield number, row


def _entry(row: Mapping[str, Any], column: str | None, source: _Source, number: int) -> Entry:
    run = _text(row, "id", "run", "description", "name")
    group = _text(row, "group", "team")
    texts([run, group or "none"], source.called, "name", lambda place: number)
    score = None
    if column is not None and _text(row, column):
        score = strict_number(row[column])
        if score is None or not math.isfinite(score):
            raise source.error("a score is not a number", number, repr(row[column]))
    marked = _text(row, "baseline").lower() not in ("", "0", "no", "false") or ORGANIZER in _text(
        row, ""
    )
    try:  # a date, a time, or a text
        found = re.match(r"(\d{4})[-/](\d\d?)[-/](\d\d?)(?![^ T])", _text(row, "date"), re.ASCII)
        day = date(*map(int, found.groups() if found else ()))
    except (ValueError, TypeError):
        problem = "a date must be written as 2020-08-27 or 2020/08/27"
        raise source.error(problem, number, str(row.get("date"))) from None
    return Entry(run, day, group or None, score, marked)


def _text(row: Mapping[str, Any], *names: str) -> str:
    """Return the first of these fields that is not empty, as text."""
    return next(
        (
            text
            for name in names
            if (text := "" if row.get(name) is None else str(row[name]).strip())
        ),
        "",
    )
