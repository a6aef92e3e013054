"""How Python objects become columns: dicts, frames, Arrow streams, named tuples, and runs and qrels of ranx."""

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import FormatError, MissingDependency
from ir_outcomes.reading.columns import (
    LONGEST_ID,
    Codes,
    Columns,
    Ids,
    LineOf,
    Texts,
    as_ids,
    unknown_line,
)
from ir_outcomes.reading.forms import (
    DOCUMENT_TEXT_NAMES,
    QUERY_TEXT_NAMES,
    Kind,
    Shape,
)
from ir_outcomes.types import Floats

_SURROGATES = re.compile("[\ud800-\udfff]")
_NO_NUMBERS = (str, bytes, bool, np.bool_, np.complexfloating)
_FRAME_LIBRARIES = ("pandas", "polars", "pyarrow")  # their columns can be taken by name


def checked_columns(
    source: str,
    columns: Sequence[Any],
    value_name: str,
    *,
    codes: Codes | None = None,
    line_of: LineOf = unknown_line,
) -> Columns:
    """Check queries, documents and values, columns of any library; with `codes`, each query is there once."""
    queries, documents, values = columns
    if codes is None:
        query_ids, codes = _coded(queries, source, line_of)
    else:
        query_ids = texts(queries, source, "query id", line_of)
    checked = Columns(
        source,
        query_ids,
        codes,
        encoded(documents, source, line_of),
        np.zeros(0),
        value_name,
        line_of,
    )
    return replace(checked, values=_numbers(values, checked))


def texts(ids: Any, source: str, what: str, line_of: LineOf = unknown_line) -> list[str]:
    """Check ids and return them as text: whole numbers become decimals, all other types are refused."""

    def refuse(row: int, problem: str) -> None:
        line = line_of(row)
        found = ids[row]
        where = f"row {row + 1}: " if line is None else ""
        text = found if isinstance(found, str) else repr(found)
        raise FormatError(source, f"{where}a {what} {problem}", line=line, text=text)

    ids = as_list(ids)
    kinds = set(map(type, ids)) - {str}
    if not all(map(_is_of_ids, kinds)):
        row = next(row for row, identifier in enumerate(ids) if not _is_of_ids(type(identifier)))
        refuse(
            row,
            f"must be text or a whole number, not {type(ids[row]).__name__}; convert it to str"
            " first",
        )
    checked: list[str] = list(map(str, ids)) if kinds else ids
    joined = "".join(checked)
    if "" in checked or "\0" in joined or (not joined.isascii() and _SURROGATES.search(joined)):
        row = next(
            row
            for row, text in enumerate(checked)
            if not text or "\0" in text or _SURROGATES.search(text)
        )
        # Surrogates come from bytes that were decoded wrongly; no file or terminal can contain
        # them.
        refuse(
            row,
            "is empty, has a NUL character, or cannot be encoded in UTF-8; correct or remove it",
        )
    return checked


def _is_of_ids(kind: type) -> bool:
    return issubclass(kind, (str, int, np.integer)) and not issubclass(kind, bool)


def _coded(queries: Any, source: str, line_of: LineOf) -> tuple[list[str], Codes]:
    """Number the queries in order of first appearance."""
    arrow = _arrow_text(queries, source)
    if arrow is not None:
        dictionary = arrow.dictionary_encode()
        return texts(dictionary.dictionary, source, "query id"), dictionary.indices.to_numpy()
    ids = texts(queries, source, "query id", line_of)
    code_of = {query: code for code, query in enumerate(dict.fromkeys(ids))}
    return list(code_of), np.fromiter(map(code_of.__getitem__, ids), np.int32, len(ids))


def encoded(documents: Any, source: str, line_of: LineOf) -> Ids:
    """Check document ids and return them as `Columns` has them."""
    arrow = _arrow_text(documents, source)
    padded = None if arrow is None else _padded(arrow)
    if padded is not None:
        return padded
    ids = texts(documents, source, "document id", line_of)
    array: Any
    try:
        array = np.array(ids, dtype=np.bytes_) if ids else []  # fails for text that is not ASCII
    except UnicodeEncodeError:
        array = [identifier.encode() for identifier in ids]
    result = as_ids(array)
    # Longer than any document id: the input is something else.
    if result.dtype.itemsize > LONGEST_ID:
        longest = int(np.argmax(np.char.str_len(result)))
        problem = f"a document id is longer than {LONGEST_ID} bytes; is this a run or qrels?"
        raise FormatError(
            source, problem, line=line_of(longest), text=result[longest].decode("utf-8", "replace")
        )
    return result


def _arrow_text(column: Any, source: str) -> Any | None:
    """Take a column that is all text as Arrow has it, without a Python object for each value; None for other columns."""
    if not hasattr(column, "__arrow_c_stream__") or not len(column):
        return None
    try:
        import pyarrow

        chunks = pyarrow.chunked_array(column)
    except (ImportError, TypeError, ValueError, OverflowError, NotImplementedError):
        return None  # such as values of mixed types, or complex numbers
    # Before version 16, pyarrow takes the letters of a polars column for its values.
    if len(chunks) != len(column):
        return None
    if chunks.null_count or str(chunks.type) not in ("string", "large_string", "string_view"):
        return None
    text = chunks.cast(pyarrow.large_string()).combine_chunks()
    try:
        text.validate(full=True)  # Arrow itself does not check that text is UTF-8
    except pyarrow.ArrowInvalid as error:
        problem = f"an id is not UTF-8 ({error}); read the input again with its true encoding"
        raise FormatError(source, problem) from None
    return text


def _padded(text: Any) -> Ids | None:
    """Return document ids in Arrow as `Columns` has them; None where one is empty, too long or ends with NUL."""
    import pyarrow.compute

    sizes = pyarrow.compute.binary_length(text)
    shortest, longest = pyarrow.compute.min_max(sizes).as_py().values()
    width = -(-longest // 8) * 8
    if not 0 < shortest <= longest <= LONGEST_ID:
        return None
    padded = pyarrow.compute.ascii_rpad(text, width, "\0")
    ids = np.frombuffer(padded.buffers()[2], f"S{width}")[
        padded.offset : padded.offset + len(padded)
    ]
    # NumPy drops NUL bytes at the end of an id, so ids with one are left to the checks of `texts`.
    return (
        ids if np.count_nonzero(ids.view(np.uint8)) == pyarrow.compute.sum(sizes).as_py() else None
    )


def _numbers(values: Any, columns: Columns) -> Floats:
    """Check values and return them as float64."""
    if not isinstance(values, list):
        array = np.asarray(values)
        values = array if array.dtype.kind in "fiu" else as_list(values)
    result = _as_floats(values)
    if result is None:
        row = next(row for row, value in enumerate(values) if _as_floats([value]) is None)
        raise columns.error(
            row, f"{columns.described(row)}: a score or grade must be a number", repr(values[row])
        )
    missing = np.isnan(result)
    if missing.any():
        row = int(np.argmax(missing))
        raise columns.error(
            row, f"{columns.described(row)} has no score or grade (NaN); remove or correct it"
        )
    return result


def _as_floats(values: list[Any] | npt.NDArray[Any]) -> Floats | None:
    """Return a list, or an array of numbers, as float64; None where a value is not a real number."""
    # NumPy would parse text, take truth for 1, and drop the imaginary part of its own complex
    # numbers.
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
    if _is_of_ranx(data):
        data = data.to_dict()
    if isinstance(data, Mapping):
        return _from_mapping(data, source, kind)
    if hasattr(data, "collect") and not hasattr(data, "iter_rows"):  # a lazy frame of polars
        data = data.collect()
    if hasattr(data, "__arrow_c_stream__") and not (
        is_frame(data) and _library_of(data) in _FRAME_LIBRARIES
    ):
        data = _arrow_table(data)
    if is_frame(data):
        return _from_table(column_names(data), data.__getitem__, source, kind)
    if not isinstance(data, Iterable) or isinstance(data, (str, bytes)):
        raise FormatError(
            source,
            f"cannot be read from a {type(data).__name__}; give a path, an ir_datasets id, a dict"
            " of dict, a data frame, an Arrow stream, an iterable of named tuples or dicts, or a"
            " Run or Qrels of ranx",
        )
    rows = list(data)
    if not rows:
        return checked_columns(source, ([], [], []), kind.value_name("score"))
    if isinstance(rows[0], dict):
        return columns_of_records(((None, row) for row in rows), source, kind)
    fields = getattr(rows[0], "_fields", None)
    for number, row in enumerate(rows, 1):
        if not fields or getattr(row, "_fields", None) != fields:
            problem = (
                f"row {number} is not a named tuple such as ir_measures.ScoredDoc, with the fields"
                " of the first row"
            )
            raise FormatError(source, problem, text=repr(row))
    return _from_table(fields, lambda name: [getattr(row, name) for row in rows], source, kind)


def _from_table(
    names: Sequence[str],
    column: Callable[[str], Any],
    source: str,
    kind: Kind,
    line_of: LineOf = unknown_line,
) -> Columns:
    *wanted, value_name = kind.named(names, source, line_of(0))
    columns = checked_columns(
        source, [column(name) for name in wanted], value_name, line_of=line_of
    )
    kind.refuse_swapped(columns, wanted)
    return columns


# --- objects as JSON has them

_Record = tuple[int | None, Any]  # with its line, where that is known


def columns_of_records(records: Iterable[_Record], source: str, kind: Kind) -> Columns:
    """Read objects that hold a row each, or a query with its list; the first says which."""
    found = ((line, _with_metadata(record)) for line, record in records)
    line, first = next(found)
    if isinstance(first, dict) and (shape := kind.shape_of(first)) is not None:
        return _from_lists(chain([(line, first)], found), shape, source, kind)
    if not isinstance(first, dict) or not kind.is_flat(first):
        raise kind.unknown(first, source, line)
    rows = [(line, first), *found]

    def column(name: str) -> list[Any]:
        lacking = (
            (number, line, row)
            for number, (line, row) in enumerate(rows, 1)
            if not isinstance(row, dict) or name not in row
        )
        for number, line, row in lacking:
            problem = f"entry {number} has no {name!r}, which the first has"
            raise FormatError(source, problem, line=line, text=json.dumps(row))
        return [row[name] for _, row in rows]

    return _from_table(list(first), column, source, kind, lambda row: rows[row][0])


def _with_metadata(record: Any) -> Any:
    """Return an object with what it has under "metadata", where TREC RAG puts the query."""
    if isinstance(record, dict) and isinstance(record.get("metadata"), dict):
        return {**record["metadata"], **record}
    return record


def _from_lists(records: Iterable[_Record], shape: Shape, source: str, kind: Kind) -> Columns:
    """Read objects with a query and a list: of ids, or of objects with one."""
    queries: list[Any] = []
    documents: list[Any] = []
    values: list[Any] = []
    lines: list[int | None] = []
    texts = Texts({}, {})
    names: tuple[str, str | None] | None = None
    for number, (line, record) in enumerate(records, 1):
        try:
            query = record[shape.query]
            items = record[shape.items]
            if items and isinstance(items[0], list):  # groups, of which each document is relevant
                items = list(chain.from_iterable(items))
            for position, item in enumerate(items, 1):
                document = item
                value = position if kind.is_run else 1
                if isinstance(item, dict):
                    names = names or kind.names_in(item)
                    document = item[names[0]]
                    value = value if names[1] is None else item[names[1]]
                    if text := _text(item, DOCUMENT_TEXT_NAMES):
                        texts.documents[str(document)] = text
                queries.append(query)
                documents.append(document)
                values.append(value)
                lines.append(line)
        except (KeyError, TypeError, IndexError) as error:
            what = error if isinstance(error, KeyError) else f"list {shape.items!r}"
            problem = f"entry {number} has no {what}, as {kind.name} like this has it"
            raise FormatError(source, problem, line=line, text=json.dumps(record)) from None
        if text := _text(record, QUERY_TEXT_NAMES):
            texts.queries[str(query)] = text
    value_name = kind.value_name(None if names is None else names[1])
    columns = checked_columns(
        source, (queries, documents, values), value_name, line_of=lines.__getitem__
    )
    return replace(columns, texts=texts)


def _text(record: dict[str, Any], names: Iterable[str]) -> str | None:
    """Return the first of these texts that an object has."""
    return next((text for name in names if isinstance(text := record.get(name), str)), None)


def name_within(data: Any) -> str | None:
    """Return the name that a run of ranx has."""
    return data.name if _is_of_ranx(data) and isinstance(data.name, str) else None


def is_frame(data: Any) -> bool:
    """Return whether this is a table with columns that can be taken by name."""
    return hasattr(data, "columns") and hasattr(data, "__getitem__")


def column_names(frame: Any) -> list[str]:
    """Return the names of a frame's columns; an Arrow table has them elsewhere, because its columns are the data."""
    return [str(name) for name in getattr(frame, "column_names", frame.columns)]


def as_list(column: Any) -> list[Any]:
    """Return the values of a column."""
    if isinstance(column, list):
        return column
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def is_ranking(value: Any) -> bool:
    """Return whether this is the ranking of a query without scores: a list of document ids."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "iuUO"
    return isinstance(value, (list, tuple)) and (
        not value or isinstance(value[0], (str, int, np.integer))
    )


def _library_of(data: Any) -> str:
    return type(data).__module__.split(".")[0]


def _is_of_ranx(data: Any) -> bool:
    return _library_of(data) == "ranx" and hasattr(data, "to_dict")


def _arrow_table(data: Any) -> Any:
    """Take the stream whatever else the object offers: the columns of a DuckDB relation, for instance, are relations."""
    try:
        import pyarrow

        return pyarrow.table(data)
    except ImportError:
        if not is_frame(data):
            raise MissingDependency(
                "reading an Arrow stream needs the package pyarrow: pip install pyarrow"
            ) from None
    except (TypeError, ValueError, NotImplementedError):
        pass  # a frame with columns of mixed types, for instance
    return data


def is_nested(data: Mapping[Any, Any], kind: Kind) -> bool:
    """Return whether values are by query and document, or, in a run, lists of documents by query."""
    rankings = list(data.values())
    if kind.is_run and all(map(is_ranking, rankings)):
        return True
    return all(issubclass(form, Mapping) for form in set(map(type, rankings))) and not any(
        isinstance(value, (Mapping, list)) for ranking in rankings[:3] for value in ranking.values()
    )


def _from_mapping(data: Mapping[Any, Any], source: str, kind: Kind) -> Columns:
    rankings = list(data.values())
    if not is_nested(data, kind):
        pairs = list(data.items())
        wrong = next((pair for pair in pairs if not isinstance(pair[1], Mapping)), pairs[0])
        lists = " or {query id: [document id, ...]}" if kind.is_run else ""
        raise FormatError(
            source,
            f"is not a dict of dict {{query id: {{document id: value}}}}{lists}",
            text=repr(dict([wrong])),
        )
    have_values = not rankings or isinstance(rankings[0], Mapping)
    within = (
        ranking.values() if have_values else range(1, len(ranking) + 1) for ranking in rankings
    )
    columns = checked_columns(
        source,
        (list(data), list(chain.from_iterable(rankings)), list(chain.from_iterable(within))),
        kind.value_name("score" if have_values else None),
        codes=np.repeat(np.arange(len(rankings), dtype=np.int32), list(map(len, rankings))),
    )
    if len(set(columns.query_ids)) < len(columns.query_ids):
        raise FormatError(
            source, "contains the same query id twice, once as text and once as a number; use text"
        )
    kind.refuse_swapped(columns, ("", "", ""))
    return columns
