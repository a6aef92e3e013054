"""Records of values: columns of cells by their titles."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice, repeat
from numbers import Real
from typing import Any, NamedTuple
from zipfile import is_zipfile

import numpy as np

from ir_outcomes.errors import FormatError, some
from ir_outcomes.reading.files import (
    LONGEST_RECORD,
    WHITE_SPACE,
    Block,
    blocks,
    json_lines,
    lines_in,
    parsed_json,
    text_in,
)
from ir_outcomes.reading.forms import normal
from ir_outcomes.reading.lines import cells_of
from ir_outcomes.reading.measure_names import is_measure_name
from ir_outcomes.reading.objects import as_list, column_names, is_frame
from ir_outcomes.reading.tables import Source, strict_number

# In order of preference, in lower case and with underscores.
QUERY_TITLES = (
    *("query_id", "qid", "q_id", "topic_id", "question_id", "case_id", "task_id", "example_id"),
    *("sample_id", "id", "_id", "uuid", "topic", "query", "user_input", "question", "query_text"),
    "doc_id",
)
RUN_TITLES = (
    *("run", "runid", "run_id", "run_name", "model", "model_name", "system", "system_name"),
    "experiment",
)
MEASURE_TITLES = ("measure", "metric")
VALUE_TITLES = ("value", "score")
KEY = "(key)"  # the title of keys outside of records
INDEX_TITLES = ("", "Unnamed: 0")  # of a column that pandas wrote or read
MEANS = "the means alone do not do: give values of each query, as tools write them with -q or perquery=True"
_FORMS = '{"q1": {"nDCG@10": 0.5}} or [{"query_id": "q1", "nDCG@10": 0.5}]'
_NESTED = frozenset((dict, list))
_MOST_TITLES = 10_000  # keys of an object that has more are ids
_TEXTS_OF_TREC_EVAL = re.compile(r"runid|relstring(_\d+)?")  # their values are not numbers
_SAVE_AS = (  # endings of files that another program must convert, and how
    (".xlsx", "is a workbook; save its sheet as CSV"),
    (".xls", "is a workbook; save its sheet as CSV"),
    (
        ".eval",
        "is a log of inspect; write its samples as CSV: inspect_ai.analysis.samples_df(FILE).to_csv"
        "('samples.csv'), or the whole log as JSON: inspect log dump FILE > log.json",
    ),
)


class Records(NamedTuple):
    """Rows of a source, by columns."""

    source: Source
    columns: dict[str, list[Any]]  # by title, all of one length
    numbers: Sequence[int] | None  # of the lines or rows; None where they are not known

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(next(iter(self.columns.values()), ()))

    @property
    def titles(self) -> list[str]:
        """The titles that the source has."""
        return [title for title in self.columns if title != KEY]

    def number(self, row: int) -> int | None:
        """Return the number of the line of a row."""
        return None if self.numbers is None else self.numbers[row]

    def error(self, row: int, problem: str, text: str | None = None) -> FormatError:
        """Make an error that names a row by its line."""
        return self.source.error(problem, self.number(row), text)

    def take(self, rows: Sequence[int]) -> "Records":
        """Return some of the rows."""
        columns = {title: [cells[row] for row in rows] for title, cells in self.columns.items()}
        numbers = None if self.numbers is None else [self.numbers[row] for row in rows]
        return Records(self.source, columns, numbers)

    def titled(self, *names: str) -> list[str]:
        """Return the columns of these names, in the order of the names.

        A dotted title counts by its last part where no title is the whole name.
        """
        by_name = {normal(title): title for title in reversed(self.columns)}
        parts = {normal(title.rpartition(".")[2]): title for title in reversed(self.columns)}
        by_name = {**parts, **by_name}
        return [by_name[name] for name in names if name in by_name]


def records_of(source: Source, measure: str | None) -> Records:
    """Return the rows of a file or object of values."""
    if not source.is_file:
        data = getattr(source.data, "per_query", source.data)
        columns = _columns_of_object(data, measure, source)
        records = Records(source, columns, None)
        return records if KEY in columns else records._replace(numbers=range(1, records.size + 1))
    for ending, problem in _SAVE_AS:
        if source.name.lower().endswith(ending) and is_zipfile(source.data):
            raise source.error(f"{problem}, and give that")
    content = list(blocks(source.data, LONGEST_RECORD))
    _, first = next(lines_in(content, source.name), (1, ""))
    if first.lstrip()[:1] in ("{", "["):
        return _records_of_json(content, measure, source)
    text = text_in(content, source.name)
    lines = text.rstrip("\n").split("\n")
    separator = next((sign for sign in "\t,;" if sign in first), None)
    if separator is not None and _is_header(first):
        return _records_of_table(text, lines, separator, source)
    return _records_of_lines(text, lines, measure, source)


# --- lines of text


def _is_header(line: str) -> bool:
    """Tell a header from lines without one, of which the first may be damaged."""
    fields = _fields(line)
    if line.startswith("\t") or len(fields) not in (3, 4) or "," in line or ";" in line:
        return True
    names = {*QUERY_TITLES, *RUN_TITLES, *MEASURE_TITLES} & set(map(normal, fields))
    return bool(names) and strict_number(fields[-1]) is None and fields[1] != "all"


def _fields(line: str) -> list[str]:
    """Return columns, by tabs where there are any."""
    fields = line.strip("\r\n").split("\t")
    if len(fields) in (3, 4):
        return [field.strip(WHITE_SPACE) for field in fields]
    return [field for field in re.split(f"[{WHITE_SPACE}]+", line) if field]


_Cells = tuple[list[list[str]], Sequence[int]]  # by column, and the numbers of the lines


def _cells_of_lines(text: str, lines: list[str], separator: str) -> _Cells | None:
    """Return cells that are not in quotes, None where lines differ in length."""
    numbers: Sequence[int] = range(1, len(lines) + 1)
    if "" in lines or any(map(str.isspace, lines)):
        numbers = [number for number, line in enumerate(lines, 1) if line and not line.isspace()]
        lines = [lines[number - 1] for number in numbers]
    if len(set(map(str.count, lines, repeat(separator)))) != 1:
        return None
    cells = separator.join(lines).split(separator)  # a list for each line would take much longer
    if _is_padded(text, separator):
        cells = [cell.strip(WHITE_SPACE) for cell in cells]
    n_columns = len(cells) // len(lines)
    return [cells[column::n_columns] for column in range(n_columns)], numbers


def _is_padded(text: str, separator: str) -> bool:
    """Return whether there is white space at the ends of cells."""
    text = f"\n{text}\n"
    return any(
        f"{edge}{sign}" in text or f"{sign}{edge}" in text
        for sign in WHITE_SPACE
        if sign in text and sign not in ("\n", separator)
        for edge in ("\n", separator)
    )


def _records_of_table(text: str, lines: list[str], separator: str, source: Source) -> Records:
    table = None if '"' in text else _cells_of_lines(text, lines, separator)
    if table is None:
        numbered = ((number, f"{line}\n") for number, line in enumerate(lines, 1) if line.strip())
        rows = [row for row in cells_of(numbered, separator, source.name) if any(row[1])]
        cells_by_column = zip(*(cells for _, cells in rows), strict=True)
        table = list(map(list, cells_by_column)), [number for number, _ in rows]
    by_column, numbers = table
    titles = [cells[0] for cells in by_column]
    source.refuse_repeated(titles, numbers[0])
    columns: dict[str, list[Any]] = {}
    for title, (_, *cells) in zip(titles, by_column, strict=True):
        columns[title] = [cell or None for cell in cells] if "" in cells else cells
    return Records(source, columns, numbers[1:])


def _records_of_lines(text: str, lines: list[str], measure: str | None, source: Source) -> Records:
    """Read lines of trec_eval and ir_measures."""
    table = _cells_of_lines(text, lines, "\t" if "\t" in text else " ")
    if table is None or len(table[0]) not in (3, 4) or any("" in cells for cells in table[0]):
        table = _checked_columns(lines, source)
    (*names, first, second, values), numbers = table
    if names and strict_number(values[0]) is None:
        problem = "is not a line of 4 columns: run, measure, query (or query, measure), value"
        raise source.error(problem, numbers[0], " ".join(cells[0] for cells in table[0]))
    queries, measures = first, second
    if _are_measures_first(first, second, measure, source):
        queries, measures = second, first
    columns = {"query_id": queries, "measure": measures, "value": values}
    if names:
        columns = {"run": names[0], **columns}
    records = Records(source, columns, numbers)
    texts = {name for name in set(measures) if _TEXTS_OF_TREC_EVAL.fullmatch(name)}
    if texts:
        records = records.take([row for row, name in enumerate(measures) if name not in texts])
    return records


def _checked_columns(lines: list[str], source: Source) -> _Cells:
    """Return cells by column of lines that are separated in different ways."""
    numbers = [number for number, line in enumerate(lines, 1) if line and not line.isspace()]
    if not numbers:
        raise source.error(f"has no values by query; {MEANS}")
    rows = [_fields(lines[number - 1]) for number in numbers]
    n_columns = 4 if len(rows[0]) == 4 and rows[0][1] != "Q0" else 3
    for number, fields in zip(numbers, rows, strict=True):
        if len(fields) != n_columns:
            problem = f"is not a line of {n_columns} columns with values by query; {MEANS}"
            if len(fields) in (4, 6) or "Q0" in fields:
                problem = "has no values by query; runs and qrels are for compare"
            raise source.error(problem, number, " ".join(fields))
    return list(map(list, zip(*rows, strict=True))), numbers


def _are_measures_first(
    first: list[str], second: list[str], measure: str | None, source: Source
) -> bool:
    """Return which column has the measures, told by names alone."""
    in_first, in_second = set(first), set(second)
    if in_first.isdisjoint(in_second):
        for is_first, is_second in (
            (measure in in_first, measure in in_second),
            ("all" in in_second, "all" in in_first),
            (all(map(is_measure_name, in_first)), all(map(is_measure_name, in_second))),
            (len(in_first) < len(in_second), len(in_second) < len(in_first)),
        ):
            if is_first != is_second:
                return bool(is_first)
    raise source.error(
        "has no values by query, or it cannot be told which column has the measures and which the"
        " queries; write them with -q as JSON lines (ir_measures -q -o jsonl), or give a dict"
    )


# --- JSON


def _records_of_json(content: Sequence[Block], measure: str | None, source: Source) -> Records:
    """Read JSON lines, or a document."""
    first, *others = (line.strip() for _, line in islice(lines_in(content, source.name), 2))
    if others and first[0] == "{" and first[-1] == "}":
        return _records_of_json_lines(content, source)
    document = parsed_json(text_in(content, source.name), source.name, 1)
    records = Records(source, _columns_of_object(document, measure, source), None)
    return records._replace(numbers=[1]) if records.size == 1 and not others else records


def _records_of_json_lines(content: Iterable[Block], source: Source) -> Records:
    columns: dict[str, list[Any]] = {}
    numbers: list[int] = []
    for block in content:
        rows, of_rows = json_lines(block, source.name)
        of_block = _columns_of_rows(rows, source, of_rows)
        for title in {**columns, **of_block}:
            cells = of_block.get(title, [None] * len(rows))
            columns.setdefault(title, [None] * len(numbers)).extend(cells)
        numbers += of_rows
    return Records(source, columns, numbers)


# --- objects


def _columns_of_object(data: Any, measure: str | None, source: Source) -> dict[str, list[Any]]:
    """Read a frame, a series, arrays, a mapping, or an iterable of records."""
    if is_frame(data):
        return _columns_of_frame(data, source)
    if hasattr(data, "index") and callable(getattr(data, "items", None)):
        data = dict(data.items())  # a series of pandas
    if isinstance(data, Mapping):
        return _columns_of_mapping(data, measure, source)
    if _is_pair_of_arrays(data):
        ids, values = map(as_list, data)
        return {"query_id": ids, "value": values}
    if not isinstance(data, Iterable) or isinstance(data, (str, bytes)):
        raise source.error(f"values by query cannot be read from a {type(data).__name__}")
    rows = [row._asdict() if hasattr(row, "_asdict") else row for row in data]
    return _columns_of_rows(rows, source)


def _is_pair_of_arrays(data: Any) -> bool:
    """Return whether these are ids and their values, two of one length."""
    if not isinstance(data, tuple) or len(data) != 2 or hasattr(data, "_fields"):
        return False
    sized = all(hasattr(part, "__len__") and not isinstance(part, (str, Mapping)) for part in data)
    return sized and len(data[0]) == len(data[1])


def _columns_of_frame(frame: Any, source: Source) -> dict[str, list[Any]]:
    """Return the columns of a frame, with the index of pandas in front."""
    if hasattr(frame, "reset_index"):  # of pandas, which marks empty cells in several ways
        names = [name or INDEX_TITLES[1] for name in frame.index.names]
        frame = frame.reset_index(names=names, allow_duplicates=True).astype(object)
        frame = frame.where(frame.notna(), None)
    source.refuse_repeated(column_names(frame))
    return {name: as_list(frame[name]) for name in column_names(frame)}


def _columns_of_rows(
    rows: Sequence[Any], source: Source, numbers: Sequence[int] | None = None
) -> dict[str, list[Any]]:
    """Return the cells of mappings by title, nested keys joined by dots."""
    for row, record in enumerate(() if _are_mappings(rows) else rows):
        if not isinstance(record, Mapping):
            number = row + 1 if numbers is None else numbers[row]
            problem = f"is no record, such as those of {_FORMS}"
            raise source.error(problem, number, repr(record))
    columns = {title: [record.get(title) for record in rows] for title in _titles_of(rows)}
    if any(
        issubclass(kind, Mapping) for cells in columns.values() for kind in set(map(type, cells))
    ):
        flat = [dict(_flat(record)) for record in rows]
        columns = {title: [record.get(title) for record in flat] for title in _titles_of(flat)}
    return {str(title): cells for title, cells in columns.items()}


def _are_mappings(items: Iterable[Any]) -> bool:
    return all(issubclass(kind, Mapping) for kind in set(map(type, items)))


def _titles_of(rows: Iterable[Mapping[Any, Any]]) -> list[Any]:
    """Return the keys of all mappings, of which most have the same."""
    return list(dict.fromkeys(chain.from_iterable(dict.fromkeys(map(tuple, rows)))))


def _flat(record: Mapping[Any, Any], outer: str = "") -> Iterator[tuple[str, Any]]:
    for key, cell in record.items():
        if isinstance(cell, Mapping):
            yield from _flat(cell, f"{outer}{key}.")
        else:
            yield f"{outer}{key}", cell


def _columns_of_mapping(
    data: Mapping[Any, Any], measure: str | None, source: Source
) -> dict[str, list[Any]]:
    """Read a mapping: a record, columns, or values by query and measure."""
    keys = list(map(str, data))
    cells = list(data.values())
    names = set(map(normal, keys[:_MOST_TITLES]))
    are_titles = len(keys) <= _MOST_TITLES and not names.isdisjoint((*QUERY_TITLES, *RUN_TITLES))
    kinds = set(map(type, cells))
    are_lists = all(issubclass(kind, (list, tuple, np.ndarray)) for kind in kinds)
    if cells and are_titles and are_lists and len(set(map(len, cells))) == 1:
        return {key: list(column) for key, column in zip(keys, cells, strict=True)}
    if _are_mappings(cells):
        return _columns_of_nested(data, measure, source, are_titles=are_titles)
    if all(issubclass(kind, (Real, np.bool_, str, type(None))) for kind in kinds):
        if are_titles and len(keys) > 1:
            return {key: [cell] for key, cell in zip(keys, cells, strict=True)}
        looked_at = keys[:_MOST_TITLES]
        if 2 * sum(map(is_measure_name, looked_at)) > len(looked_at):
            raise source.error(f"has no values by query; {MEANS}", text=some(keys))
        return {KEY: keys, "value": cells}
    return _columns_of_object(_list_within(data, source), measure, source)


def _columns_of_nested(
    data: Mapping[Any, Any], measure: str | None, source: Source, *, are_titles: bool
) -> dict[str, list[Any]]:
    """Read a mapping of mappings."""
    keys = list(map(str, data))
    inner = list(map(str, _titles_of(data.values())))
    kinds = {type(cell) for record in data.values() for cell in record.values()}
    lists = {} if _NESTED.isdisjoint(kinds) else dict(_lists_in(data))
    if len(lists) == 1 and len(data) > 1:
        return _columns_of_object(next(iter(lists.values())), measure, source)
    if not are_titles:
        named = [bool(names) and all(map(is_measure_name, names)) for names in (keys, inner)]
        if all(named):
            raise source.error(f"has no values by query; {MEANS}", text=some(inner))
        if (measure in inner) if (measure in keys) != (measure in inner) else not named[0]:
            return {KEY: list(data), **_columns_of_rows(list(data.values()), source)}
    rows = _titles_of(data.values())  # columns by row, as pandas writes them, or by query
    columns = {
        key: [column.get(row) for row in rows]
        for key, column in zip(keys, data.values(), strict=True)
    }
    return columns if are_titles else {KEY: rows, **columns}


def _list_within(data: Mapping[Any, Any], source: Source) -> Any:
    """Return the one list or mapping of objects in an object, at whatever depth."""
    lists = dict(_lists_in(data))
    if len(lists) > 1:  # a log has others, too, of objects without ids
        lists = {
            path: rows
            for path, rows in lists.items()
            if not set(QUERY_TITLES).isdisjoint(normal(str(key)) for key in rows[0])
        }
    if len(lists) == 1:
        return next(iter(lists.values()))
    tables = [
        cell
        for cell in data.values()
        if isinstance(cell, Mapping)
        and len(cell) > 1
        and all(isinstance(item, Mapping) for item in cell.values())
    ]
    if len(tables) == 1:
        return tables[0]
    names = list(dict(_flat(data)))
    problem = f"is in no form of values by query that is read, such as {_FORMS}; its keys are"
    raise source.error(f"{problem} {some(names, 12)}")


def _lists_in(data: Mapping[Any, Any], outer: str = "") -> Iterator[tuple[str, list[Any]]]:
    """Yield the lists of objects in objects, by their dotted names."""
    for key, cell in data.items():
        if isinstance(cell, Mapping):
            yield from _lists_in(cell, f"{outer}{key}.")
        elif isinstance(cell, list) and cell and all(isinstance(row, Mapping) for row in cell):
            yield f"{outer}{key}", cell
