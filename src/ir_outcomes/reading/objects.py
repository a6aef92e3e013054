"""How Python objects and JSON become columns."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, repeat
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes.choices import Floats
from ir_outcomes.errors import FormatError, some
from ir_outcomes.reading.columns import (
    LONGEST_ID,
    Codes,
    Columns,
    LineOf,
    Texts,
    Titles,
    as_ids,
    unknown_line,
)
from ir_outcomes.reading.forms import (
    DOCUMENT_TEXT_NAMES,
    QUERY_NAMES,
    QUERY_TEXT_NAMES,
    Kind,
    Shape,
    normal,
)

_SURROGATES = re.compile("[\ud800-\udfff]")
_NO_NUMBERS = (str, bytes, bool, np.bool_, np.complexfloating)
_FRAME_LIBRARIES = ("pandas", "polars", "pyarrow")  # their columns can be taken by name


def checked_columns(
    source: str,
    columns: Sequence[Any],
    value_name: str,
    *,
    codes: Codes | None = None,
    ranks: Any = (),
    line_of: LineOf = unknown_line,
) -> Columns:
    """Check queries, documents and values, with `codes` of queries that occur once."""
    queries, documents, values = columns
    query_ids = texts(queries, source, "query id", line_of)
    if codes is None:
        code_of = {query: code for code, query in enumerate(dict.fromkeys(query_ids))}
        codes = np.fromiter(map(code_of.__getitem__, query_ids), np.int32, len(query_ids))
        query_ids = list(code_of)
    names = texts(documents, source, "document id", line_of)
    ids = [name.encode() for name in names]
    checked = Columns(source, query_ids, codes, as_ids(ids), np.zeros(0), value_name, line_of)
    longest = max(ids, key=len, default=b"")
    if len(longest) > LONGEST_ID:
        row = ids.index(longest)
        problem = f"a document id is longer than {LONGEST_ID} bytes; is this a run or qrels?"
        raise checked.error(row, problem, names[row])
    beside = _as_floats(as_list(ranks))
    has_ranks = beside is not None and len(beside) == len(ids) > 0
    return replace(checked, values=_numbers(values, checked), ranks=beside if has_ranks else None)


def texts(ids: Any, source: str, kind: str, line_of: LineOf = unknown_line) -> list[str]:
    """Check ids and return them as text, whole numbers as decimals."""
    try:
        ids = as_list(ids)
    except UnicodeDecodeError as error:
        problem = f"an id is not UTF-8 ({error}); read the input again with its true encoding"
        raise FormatError(source, problem) from None
    kinds = set(map(type, ids))
    checked = ids if kinds == {str} and isinstance(ids, list) else list(map(str, ids))
    joined = "".join(checked)
    is_usual = kinds <= {str, int} and "" not in checked and "\0" not in joined
    if is_usual and (joined.isascii() or not _SURROGATES.search(joined)):
        return checked
    for row, identifier in enumerate(ids):
        if wrong := _problem_of(identifier):
            line = line_of(row)
            position = f"row {row + 1}: " if line is None else ""
            text = identifier if isinstance(identifier, str) else repr(identifier)
            raise FormatError(source, f"{position}a {kind} {wrong}", line=line, text=text)
    return checked


def _problem_of(identifier: Any) -> str | None:
    if isinstance(identifier, bool) or not isinstance(identifier, (str, int, np.integer)):
        kind = type(identifier).__name__
        return f"must be text or a whole number, not {kind}; convert it to str first"
    text = str(identifier)
    # Surrogates come from bytes that were decoded wrongly; no file or terminal can contain them.
    if not text or "\0" in text or _SURROGATES.search(text):
        return "is empty, has a NUL character, or cannot be encoded in UTF-8; correct or remove it"
    return None


def _numbers(values: Any, columns: Columns) -> Floats:
    """Check values and return them as float64."""
    if not isinstance(values, list):
        array = np.asarray(values)
        values = array if array.dtype.kind in "fiu" else as_list(values)
    result = _as_floats(values)
    if result is None:
        row = next(row for row, value in enumerate(values) if _as_floats([value]) is None)
        problem = f"{columns.described(row)}: a score or grade must be a number"
        raise columns.error(row, problem, repr(values[row]))
    if np.isnan(result).any():
        row = int(np.argmax(np.isnan(result)))
        problem = f"{columns.described(row)} has no score or grade (NaN); remove or correct it"
        raise columns.error(row, problem)
    return result


def _as_floats(values: list[Any] | npt.NDArray[Any]) -> Floats | None:
    """Return numbers as float64, or None where a value is not a real number."""
    # NumPy would parse text, take truth for 1, and drop the imaginary part of complex numbers.
    if isinstance(values, list) and any(
        issubclass(kind, _NO_NUMBERS) for kind in set(map(type, values))
    ):
        return None
    try:
        result = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return None
    return result if result.ndim == 1 else None


def columns_of(data: Any, source: str, kind: Kind) -> Columns:
    """Take the columns out of a Python object."""
    if isinstance(data, Mapping):
        return _from_mapping(data, source, kind)
    columns = _from_rows(data, source, kind)
    kind.refuse_swapped(columns)
    return columns


def _from_rows(data: Any, source: str, kind: Kind) -> Columns:
    """Read a frame, named tuples or dicts."""
    without_columns = _without_columns(data)
    if not without_columns and is_frame(data):
        return _from_table(column_names(data), data.__getitem__, source, kind)
    no_items = isinstance(data, (str, bytes)) or getattr(data, "ndim", 1) == 0
    if no_items or without_columns or not isinstance(data, Iterable):
        raise FormatError(
            source,
            f"cannot be read from a {type(data).__name__}; give a path, an ir_datasets id, a dict"
            " of dict (such as to_dict() of a Run of ranx returns), a data frame (collect() of a"
            " lazy one, pyarrow.table(...) of a stream or relation), or an iterable of named tuples"
            " or dicts",
        )
    rows = list(data)
    if not rows and isinstance(data, Iterator):
        problem = "is an iterator with nothing left, as after it was read; give a list instead"
        raise FormatError(source, problem)
    if not rows or isinstance(rows[0], dict):
        return columns_of_records(rows, source, kind)
    fields = getattr(rows[0], "_fields", ())
    odd = [row for row in rows if not fields or getattr(row, "_fields", None) != fields]
    if odd:
        problem = (
            "has a row that is not a named tuple such as ir_measures.ScoredDoc, with the fields of"
            " the first row"
        )
        raise FormatError(source, problem, text=repr(odd[0]))
    return _from_table(
        fields, dict(zip(fields, zip(*rows, strict=True), strict=True)).__getitem__, source, kind
    )


def _from_table(
    names: Sequence[str],
    column: Callable[[str], Any],
    source: str,
    kind: Kind,
    line_of: LineOf = unknown_line,
) -> Columns:
    titles = kind.titles(names, source, line_of(0))
    query, document, value, rank, value_name = titles
    columns = checked_columns(
        source,
        [column(query), column(document), column(str(value))],
        value_name,
        ranks=() if rank is None else column(rank),
        line_of=line_of,
    )
    return replace(columns, titles=titles)


# --- objects as JSON has them


def columns_of_records(
    records: Sequence[Any],
    source: str,
    kind: Kind,
    numbers: Sequence[int] | None = None,
    first: Any = None,
) -> Columns:
    """Read objects that hold a row each, or a query with its list, as the first does."""
    if not records:
        return checked_columns(source, ([], [], []), kind.value_name("score"))
    line_of: LineOf = unknown_line if numbers is None else numbers.__getitem__
    first = records[0] if first is None else first
    if isinstance(first, dict) and "metadata" in first:
        first = _with_metadata(first)
        records = list(map(_with_metadata, records))
    if isinstance(first, dict) and (shape := kind.shape_of(first)) is not None:
        return _from_lists(records, shape, source, kind, line_of)
    if not isinstance(first, dict) or not kind.is_flat(first):
        raise kind.unknown(first, source, line_of(0))

    def column(name: str) -> list[Any]:
        try:
            return [record[name] for record in records]
        except (KeyError, TypeError):
            lacks = (not isinstance(record, dict) or name not in record for record in records)
            row = [*lacks].index(True)
            problem = f"has no {name!r}, which the first has"
            raise _error(source, problem, records, row, line_of) from None

    return _from_table(list(first), column, source, kind, line_of)


def _error(
    source: str, problem: str, records: Sequence[Any], row: int, line_of: LineOf
) -> FormatError:
    """Make an error that names an object by its line, or by its number."""
    line = line_of(row)
    if line is None:
        problem = f"entry {row + 1} {problem}"
    return FormatError(source, problem, line=line, text=json.dumps(records[row]))


def _with_metadata(record: Any) -> Any:
    """Return an object with its metadata, where TREC RAG puts the query."""
    if isinstance(record, dict) and isinstance(record.get("metadata"), dict):
        return {**record["metadata"], **record}
    return record


def _from_lists(
    records: Sequence[Any], shape: Shape, source: str, kind: Kind, line_of: LineOf
) -> Columns:
    """Read objects with a query and a list: of ids, or of objects with one."""
    queries: list[Any] = []
    documents: list[Any] = []
    values: list[Any] = []
    ranks: list[Any] = []
    entries: list[int] = []
    texts = Texts({}, {})
    titles: Titles | None = None
    for entry, record in enumerate(records):
        try:
            query = record[shape.query]
            items = record[shape.items]
            if not kind.is_run:
                _refuse_excluded(record, source, line_of(entry))
            if items and isinstance(items[0], list):  # groups, of which each document is relevant
                items = list(chain.from_iterable(items))
            for position, item in enumerate(items, 1):
                if documents and isinstance(item, dict) != (titles is not None):
                    raise TypeError  # ids in one list, and objects with scores in another
                document = item
                value = position if kind.is_run else 1
                if isinstance(item, dict):
                    titles = titles or kind.titles_in(shape, item)
                    document = item[titles.document]
                    value = value if titles.value is None else item[titles.value]
                    if titles.rank is not None:
                        ranks.append(item.get(titles.rank))
                    if text := _text(item, DOCUMENT_TEXT_NAMES):
                        texts.documents[str(document)] = text
                queries.append(query)
                documents.append(document)
                values.append(value)
                entries.append(entry)
        except (KeyError, TypeError, IndexError) as error:
            missing = error if isinstance(error, KeyError) else f"list {shape.items!r}"
            problem = f"has no {missing}, as {kind.name} like this has it"
            raise _error(source, problem, records, entry, line_of) from None
        if text := _text(record, QUERY_TEXT_NAMES):
            texts.queries[str(query)] = text
    titles = titles or Titles(shape.query, shape.items, None, None, kind.value_name(None))
    columns = checked_columns(
        source,
        (queries, documents, values),
        titles.value_name,
        ranks=ranks,
        line_of=lambda row: line_of(entries[row]),
    )
    return replace(columns, titles=titles, texts=texts)


def _refuse_excluded(record: dict[str, Any], source: str, line: int | None) -> None:
    """Refuse documents that are to be left out of rankings, which no qrels can do."""
    excluded = record.get("excluded_ids")
    if excluded and excluded != ["N/A"]:  # as BRIGHT marks that there are none
        problem = (
            "has excluded_ids, documents that count neither as relevant nor as irrelevant; remove"
            " them from the runs, and then excluded_ids from here"
        )
        raise FormatError(source, problem, line=line, text=some(list(map(str, excluded))))


def _text(record: dict[str, Any], names: Iterable[str]) -> str | None:
    """Return the first of these texts that an object has."""
    return next((text for name in names if isinstance(text := record.get(name), str)), None)


def is_frame(data: Any) -> bool:
    """Return whether this is a table with columns that can be taken by name."""
    return hasattr(data, "columns") and hasattr(data, "__getitem__")


def column_names(frame: Any) -> list[str]:
    """Return the names of the columns of a frame or an Arrow table."""
    return [str(name) for name in getattr(frame, "column_names", frame.columns)]


def as_list(column: Any) -> list[Any]:
    """Return the values of a column."""
    if isinstance(column, list):
        return column
    if hasattr(column, "to_pylist"):
        return list(column.to_pylist())
    return list(column.tolist() if hasattr(column, "tolist") else column)


def is_ranking(value: Any) -> bool:
    """Return whether this is a ranking without scores, a list of document ids."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    return isinstance(value, (list, tuple)) and all(
        isinstance(item, (str, int, np.integer)) for item in value[:1]
    )


def _without_columns(data: Any) -> bool:
    """Return whether this is a lazy frame, a stream or a relation."""
    if hasattr(data, "collect") and not hasattr(data, "iter_rows"):
        return True
    libraries = {kind.__module__.partition(".")[0] for kind in type(data).__mro__}
    has_columns = is_frame(data) and not libraries.isdisjoint(_FRAME_LIBRARIES)
    return hasattr(data, "__arrow_c_stream__") and not has_columns


def is_nested(data: Mapping[Any, Any], kind: Kind) -> bool:
    """Return whether values are by query and document, or a run's lists by query."""
    rankings = list(data.values())
    are_columns = not {*QUERY_NAMES}.isdisjoint(map(normal, map(str, data)))
    if all(map(is_ranking, rankings)) and (kind.is_run or not are_columns):
        return True
    return all(issubclass(form, Mapping) for form in set(map(type, rankings))) and not any(
        isinstance(value, (Mapping, list)) for ranking in rankings[:3] for value in ranking.values()
    )


def _from_mapping(data: Mapping[Any, Any], source: str, kind: Kind) -> Columns:
    rankings = list(data.values())
    if not is_nested(data, kind):
        items = list(data.items())
        wrong = next((item for item in items if not isinstance(item[1], Mapping)), items[0])
        lists = " or {query id: [document id, ...]}"
        problem = f"is not a dict of dict {{query id: {{document id: value}}}}{lists}"
        raise FormatError(source, problem, text=repr(dict([wrong])))
    have_values = not rankings or isinstance(rankings[0], Mapping)
    lengths = list(map(len, rankings))
    within: Iterable[Iterable[Any]] = (ranking.values() for ranking in rankings)
    if not have_values:  # ranks, or 1 for each relevant document
        within = (range(1, n + 1) if kind.is_run else repeat(1, n) for n in lengths)
    columns = checked_columns(
        source,
        (list(data), list(chain.from_iterable(rankings)), list(chain.from_iterable(within))),
        kind.value_name("score" if have_values else None),
        codes=np.repeat(np.arange(len(rankings), dtype=np.int32), lengths),
    )
    if len(set(columns.query_ids)) < len(columns.query_ids):
        raise FormatError(
            source, "contains the same query id twice, once as text and once as a number; use text"
        )
    return columns
