"""Python objects to columns: a dict of dict, a dict of lists, a data frame, an Arrow stream, named tuples, ranx."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from ir_outcomes.errors import FormatError, MissingDependency
from ir_outcomes.reading.columns import LONGEST_ID, Columns, coded, encoded, numbers, texts
from ir_outcomes.reading.keys import Codes, Ids
from ir_outcomes.reading.layouts import Kind, Named, named_columns

__all__ = ["as_list", "column_names", "columns_of", "is_frame", "is_ranking", "name_within"]

_FRAME_LIBRARIES = ("pandas", "polars", "pyarrow")  # their columns can be taken by name


def _unknown_line(query: str, document: str) -> int | None:
    return None


def columns_of(data: Any, source: str, kind: Kind, line_of: Callable[[str, str], int | None] = _unknown_line) -> Columns:
    """Take the columns out of a Python object.

    Parameters
    ----------
    data : object
        ``{query: {document: value}}``; for a run also ``{query: [document, ...]}``, the best first; a frame (pandas, polars,
        Arrow) with the column names of ir_measures or PyTerrier; any object with an Arrow stream, such as a relation of
        DuckDB; an iterable of named tuples with such fields; or a `Run` or `Qrels` of ranx.
    source : str
        What to call it in messages.
    kind : Kind
        What is read.
    line_of : callable
        Line of a query and document, where a mapping was read from a file.

    Raises
    ------
    FormatError
        If the shape, an id or a value is not one of a run or of qrels.
    MissingDependency
        If it is an Arrow stream and pyarrow is not installed.
    """
    if _is_of_ranx(data):
        data = data.to_dict()
    if isinstance(data, Mapping):
        return _from_mapping(data, source, kind, line_of)
    if hasattr(data, "collect") and not hasattr(data, "iter_rows"):  # a lazy frame of polars
        data = data.collect()
    if hasattr(data, "__arrow_c_stream__") and not (is_frame(data) and _library_of(data) in _FRAME_LIBRARIES):
        data = _arrow_table(data)
    if is_frame(data):
        return _from_frame(data, source, kind)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        return _from_tuples(data, source, kind)
    raise FormatError(
        source,
        f"cannot be read from a {type(data).__name__}; give a path, an ir_datasets id, a dict of dict, a data frame, "
        "an Arrow stream, an iterable of named tuples, or a Run or Qrels of ranx",
    )


def name_within(data: Any) -> str | None:
    """Return the name that a run of ranx has."""
    return data.name if _is_of_ranx(data) and isinstance(data.name, str) else None


def is_frame(data: Any) -> bool:
    """Tell whether this is a table with columns that can be taken by name."""
    return hasattr(data, "columns") and hasattr(data, "__getitem__")


def column_names(frame: Any) -> list[str]:
    """Return the names of a frame's columns; an Arrow table has them elsewhere, because its columns are the data."""
    return [str(name) for name in getattr(frame, "column_names", frame.columns)]


def as_list(column: Any) -> list[Any]:
    """Return the values of a frame's column."""
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def is_ranking(value: Any) -> bool:
    """Tell whether this is the ranking of a query without scores: a list of document ids."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "iuUO"
    return isinstance(value, (list, tuple)) and (not value or isinstance(value[0], (str, int, np.integer)))


def _library_of(data: Any) -> str:
    return type(data).__module__.split(".")[0]


def _is_of_ranx(data: Any) -> bool:
    return _library_of(data) == "ranx" and hasattr(data, "to_dict")


def _arrow_table(data: Any) -> Any:
    """Take the stream whatever else the object offers: the columns of a DuckDB relation, for instance, are relations."""
    try:
        import pyarrow
    except ImportError:
        if is_frame(data):
            return data
        raise MissingDependency("reading an Arrow stream needs the package pyarrow: pip install pyarrow") from None
    try:
        return pyarrow.table(data)
    except (TypeError, ValueError, NotImplementedError):  # such as a frame with columns of mixed types
        return data


def _from_mapping(data: Mapping[Any, Any], source: str, kind: Kind, line_of: Callable[[str, str], int | None]) -> Columns:
    query_ids = texts(list(data), source, "query id")
    if len(set(query_ids)) < len(query_ids):
        raise FormatError(source, "contains the same query id twice, once as text and once as a number; use text")
    rankings = list(data.values())
    are_mappings = all(issubclass(form, Mapping) for form in set(map(type, rankings)))
    if not are_mappings and not (kind.what == "run" and all(map(is_ranking, rankings))):
        wrong = next({query: ranking} for query, ranking in data.items() if not isinstance(ranking, Mapping))
        lists = " or {query id: [document id, ...]}" if kind.what == "run" else ""
        raise FormatError(source, f"is not a dict of dict {{query id: {{document id: value}}}}{lists}", text=repr(wrong))
    codes = np.repeat(np.arange(len(query_ids), dtype=np.int32), list(map(len, rankings)))
    documents = encoded(list(chain.from_iterable(rankings)), source)

    def line(row: int) -> int | None:
        return line_of(query_ids[codes[row]], documents[row].decode())

    if not are_mappings:
        ranks = np.fromiter(chain.from_iterable(range(1, len(ranking) + 1) for ranking in rankings), np.float64, len(codes))
        return Columns(source, query_ids, codes, documents, ranks, "rank", line)
    value_name = "grade" if kind.what == "qrels" else "score"
    columns = Columns(source, query_ids, codes, documents, np.zeros(0), value_name, line)
    values = list(chain.from_iterable(ranking.values() for ranking in rankings))
    return replace(columns, values=numbers(values, source, columns.named, line))


def _from_frame(frame: Any, source: str, kind: Kind) -> Columns:
    found = named_columns(column_names(frame), kind, source)
    queries, documents, values = (frame[name] for name in found[:3])
    query_ids, codes = _coded_column(queries, source)
    array = np.asarray(values)
    checked = numbers(array if array.dtype.kind in "fiu" else as_list(values), source)
    return Columns(source, query_ids, codes, _encoded_column(documents, source), checked, found.value_name)


def _coded_column(column: Any, source: str) -> tuple[list[str], Codes]:
    text = _arrow_text(column)
    if text is None:
        return coded(as_list(column), source)
    dictionary = text.dictionary_encode()
    return texts(dictionary.dictionary.to_pylist(), source, "query id"), dictionary.indices.to_numpy()


def _encoded_column(column: Any, source: str) -> Ids:
    text = _arrow_text(column)
    if text is not None:
        import pyarrow.compute

        sizes = pyarrow.compute.binary_length(text)
        shortest, longest = pyarrow.compute.min_max(sizes).as_py().values()
        width = -(-longest // 8) * 8
        if 0 < shortest <= longest <= LONGEST_ID:
            padded = pyarrow.compute.ascii_rpad(text, width, "\0")
            ids = np.frombuffer(padded.buffers()[2], f"S{width}")[padded.offset : padded.offset + len(padded)]
            # NumPy drops NUL bytes at the end of an id, so an id that ends with one is left to the checks of `encoded`.
            if np.count_nonzero(ids.view(np.uint8)) == pyarrow.compute.sum(sizes).as_py():
                return ids
    return encoded(as_list(column), source)


def _arrow_text(column: Any) -> Any | None:
    """Take a column that is all text as Arrow has it, without a Python object for each value; None for other columns."""
    if not hasattr(column, "__arrow_c_stream__") or not len(column):
        return None
    try:
        import pyarrow

        chunks = pyarrow.chunked_array(column)
    except (ImportError, TypeError, ValueError, OverflowError, NotImplementedError):
        return None  # such as values of mixed types, or complex numbers
    if len(chunks) != len(column):  # before version 16, pyarrow takes the letters of a polars column for its values
        return None
    if chunks.null_count or str(chunks.type) not in ("string", "large_string", "string_view"):
        return None
    return chunks.cast(pyarrow.large_string()).combine_chunks()


def _from_tuples(rows: Iterable[Any], source: str, kind: Kind) -> Columns:
    rows = list(rows)
    fields = getattr(rows[0], "_fields", None) if rows else None
    if rows and fields is None:
        raise FormatError(source, "is not an iterable of named tuples such as ir_measures.ScoredDoc", text=repr(rows[0]))
    found = named_columns(fields, kind, source) if fields else Named("", "", "", "score" if kind.what == "run" else "grade")
    wrong = next((number for number, row in enumerate(rows, 1) if getattr(row, "_fields", None) != fields), None)
    if wrong is not None:
        raise FormatError(source, f"row {wrong} does not have the fields of the first row", text=repr(rows[wrong - 1]))
    queries, documents, values = ([getattr(row, name) for row in rows] for name in found[:3])
    query_ids, codes = coded(queries, source)
    return Columns(source, query_ids, codes, encoded(documents, source), numbers(values, source), found.value_name)
