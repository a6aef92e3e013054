"""What other tools computed: values of measures by query (ir_measures, pytrec_eval, trec_eval -q, PyTerrier).

Every row is read or the source is refused: a file of which a part is ignored can turn a verdict
around.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

from ir_outcomes.errors import FormatError, ParameterError, some, warn
from ir_outcomes.reading.files import WHITE_SPACE, name_of, parsed_json
from ir_outcomes.reading.forms import QUERY_NAMES
from ir_outcomes.reading.measure_names import RECIPROCALS, base_name, is_gain, is_measure_name
from ir_outcomes.reading.objects import as_list, column_names, is_frame, texts
from ir_outcomes.reading.runs import check_one_for_each, distinct_names
from ir_outcomes.reading.tables import Body, Lines, Source, strict_number

MOST_PLACES = 6
_KEYS = ("query_id", "measure", "value")  # of ir_measures' JSON lines and of its Metric
_LONG = ("qid", "measure", "value")  # columns of a table with a row for each value
_TITLES_OF_QUERIES = (*QUERY_NAMES, "query", "topic")
_TITLES_OF_RUNS = ("run", "name", "system")
# Where a file has the mean over the queries; in dicts and frames it is a query like any other.
_SUMMARY = "all"
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


def read_output_of_each_run(
    sources: Sequence[Any],
    positions: Sequence[str],
    *,
    measure: str | None,
    names: Sequence[str] | None,
) -> list[Output]:
    """Return one output for each source, with different names; see `read_outputs`."""
    if names is not None:
        check_one_for_each(names, len(sources), "output")
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
        called = Source.of(source, position).called
        runs = [output.name for output in outputs]
        raise ParameterError(
            f"{called} has the runs {some(runs)}; name one for each output, such as"
            f" `names={runs[:2]}`"
        )
    return outputs[0]


def read_outputs(
    source: Any,
    *,
    measure: str | None = None,
    names: Sequence[str] | None = None,
    position: str = "output",
) -> list[Output]:
    """Return the values of one measure for each run of what another tool wrote or returned."""
    read = Source.of(source, position)
    if isinstance(names, str):
        raise ParameterError("must be a list of names, such as `names=['a', 'b']`", names=names)
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


def _by_run(rows: Iterable[_Row], source: Source) -> dict[str | None, _OfRun]:
    """Check the values, of which there may be only one for each run, query and measure."""
    found: dict[str | None, _OfRun] = {}
    for row in rows:
        query = _query_in(row, source)
        if source.is_file and query == _SUMMARY:
            continue
        of_measure = found.setdefault(row.run, {}).setdefault(row.measure, {})
        if query in of_measure:
            problem = f"has two values of {row.measure or 'a run'} for query {query}"
            raise source.error(problem, row.number)
        of_measure[query] = _number_in(row, query, source), row.number
    for measured in found.values():
        _check_complete(measured, source)
    return found


def _query_in(row: _Row, source: Source) -> str:
    try:
        (query,) = texts([row.query], source.called, "query id", lambda _: row.number or 0)
    except FormatError as error:
        raise source.error(error.problem, row.number, error.text) from None
    return query


def _number_in(row: _Row, query: str, source: Source) -> float:
    """Return the value of a row, NaN where there is none; text is a number only in files."""
    if row.value is None:
        return math.nan
    if source.is_file or not isinstance(row.value, str):
        number = strict_number(row.value)
        if number is not None:
            return number
    problem = f"the value of query {query} is not a number; correct or remove it"
    raise source.error(problem, row.number, str(row.value))


def _check_complete(measured: _OfRun, source: Source) -> None:
    """Refuse an output of which some measures lack queries: it was cut, or is of more than one kind."""
    everywhere = set[str]().union(*measured.values())
    lacking = {
        query for of_measure in measured.values() for query in everywhere - of_measure.keys()
    }
    if lacking:
        raise source.error(
            f"queries have values of some of the measures only ({some(sorted(lacking))}; the measures"
            f" are {some(sorted(map(str, measured)))}); is the name of a measure damaged, or was the"
            " output cut, or put together from two?"
        )


def _rows_of_file(source: Source, measure: str | None) -> Iterator[_Row]:
    """Read JSON, JSON lines, a table with a header, or three columns."""
    lines = Lines(source)
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
        return _rows_of_table(*source.table(lines, separator), source)
    return _rows_of_columns(lines, source, measure)


def _rows_of_json(lines: Lines, source: Source, measure: str | None) -> Iterator[_Row]:
    """Read the lines of ir_measures, or a document: what pytrec_eval returned, or the scores of a run of ranx."""
    first = lines.first
    # The line is an object by itself, and not the beginning of a document on several lines.
    if first.rstrip().endswith("}") and parsed_json(first, source.called, 1).keys() & {*_KEYS}:
        return _rows_of_json_lines(lines, source)
    rows = _rows_of_mapping(source.document(lines), source, measure)
    return (row._replace(number=None) for row in rows)


def _rows_of_json_lines(lines: Lines, source: Source) -> Iterator[_Row]:
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


def _rows_of_columns(lines: Lines, source: Source, measure: str | None) -> Iterator[_Row]:
    """Read three columns: trec_eval writes measure, query, value; ir_measures query, measure, value."""
    found: set[tuple[str, str]] = set()
    for number, line in lines:
        fields = _fields(line)
        if len(fields) != 3:
            problem = "is not a line of trec_eval -q or ir_measures -q, which have 3 columns"
            raise source.error(problem, number, " ".join(fields))
        first, second, _ = fields
        if (first, second) in found:
            # A second value is refused below, and a second text says which column has the measures.
            break
        found.add((first, second))
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
    pairs: Iterable[tuple[str, str]], measure: str | None, source: Source
) -> bool:
    """Return which column has the measures, by the file as a whole: the column order is the same in all lines."""
    first = {first for first, _ in pairs}
    second = {second for _, second in pairs}
    if first.isdisjoint(second):
        for is_first, is_second in (
            (measure in first, measure in second),
            (_SUMMARY in second, _SUMMARY in first),
            (all(map(is_measure_name, first)), all(map(is_measure_name, second))),
            (len(first) < len(second), len(second) < len(first)),
        ):
            if is_first != is_second:
                return is_first
    raise source.error(
        "has no per-query value, or it cannot be told which column has the measures and which the"
        " queries; write them with -q as JSON lines (ir_measures -q -o jsonl), or give a dict"
    )


def _rows_of_table(titles: list[str], body: Body, source: Source) -> Iterator[_Row]:
    """Read a table with a row for each value, or with runs and queries."""
    # Not qid: the index of a table of runs and queries may have this name.
    if "measure" in titles or "value" in titles:
        return _rows_of_values(titles, body, source)
    return _rows_of_runs_and_queries(titles, body, source)


def _rows_of_values(titles: list[str], body: Body, source: Source) -> Iterator[_Row]:
    """Read a table with a row for each value, as PyTerrier writes it."""
    lacking = [title for title in _LONG if title not in titles]
    if lacking:
        raise source.error(
            f"is a table without {some(lacking)}; PyTerrier writes {some(_LONG)} with perquery=True"
        )
    for number, row in body:
        cells = dict(zip(titles, row, strict=True))
        run = (cells["name"] or "") if "name" in cells else None
        query = "" if cells["qid"] is None else cells["qid"]
        yield _Row(number, run, query, str(cells["measure"]), cells["value"])


def _rows_of_runs_and_queries(titles: list[str], body: Body, source: Source) -> Iterator[_Row]:
    """Read a table with a row for each run and a column for each query, or the other way round; a cell may be empty."""
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


def _rows_are_queries(corner: str, rows: list[str], columns: list[str], source: Source) -> bool:
    """Tell queries from runs by the title of the first column, else by which are numbers; say it where neither tells."""
    if corner.lower() in (*_TITLES_OF_QUERIES, *_TITLES_OF_RUNS):
        return corner.lower() in _TITLES_OF_QUERIES
    # Pandas names an index so where nothing is named.
    are_counted = rows == [str(place) for place in range(len(rows))]
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


def _rows_of_object(source: Source, measure: str | None) -> Iterator[_Row]:
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
    data: Mapping[Any, Any], source: Source, measure: str | None
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


def _table_of_frame(frame: Any, source: Source) -> tuple[list[str], Body]:
    """Return a frame as a table: of one with a row for each value the columns that are needed, else the index and all."""
    titles = column_names(frame)
    if "measure" in titles or "value" in titles:
        titles = [title for title in titles if title in ("name", *_LONG)]
        source.refuse_repeated(titles)
        return titles, enumerate(zip(*(as_list(frame[title]) for title in titles), strict=True), 1)
    if not hasattr(frame, "index"):
        raise source.error(
            f"has no columns {some(_LONG)}; a frame of runs by queries is one of pandas"
        )
    cells = zip(frame.index, frame.values.tolist(), strict=True)
    rows = ([first, *rest] for first, rest in cells)
    return [str(frame.index.name), *titles], enumerate(rows, 1)


def _output(of_run: _OfRun, source: Source, measure: str | None, name: str) -> Output:
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
