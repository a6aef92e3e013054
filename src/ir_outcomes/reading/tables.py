"""The one form that everything read takes: columns of query codes, document ids and values.

`Columns` come from files (`ir_outcomes.reading.lines`) or, here, from Python objects: a dict of dict, a data
frame, an iterable of named tuples. Ids become UTF-8 bytes; integer ids become their decimal text, because a run
with integer ids and qrels with text ids would otherwise never match.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import FormatError, MissingDependency
from ir_outcomes.reading.keys import Codes, Ids

LONGEST_ID = 1000


@dataclass(frozen=True, eq=False)
class Columns:
    """Rows of a run or of qrels, checked one by one but not yet against each other.

    Attributes
    ----------
    source : str
        Where they come from, for messages.
    query_ids : list of str
        The queries in order of first appearance.
    codes : (n,) int32 array
        Index into `query_ids` for each row.
    docids : (n,) bytes array
        UTF-8, NUL-padded to a multiple of 8 bytes.
    values : (n,) float64 array
        Scores, ranks or grades; never NaN.
    """

    source: str
    query_ids: list[str]
    codes: Codes
    docids: Ids
    values: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Grouped:
    """`Columns` with the rows of each query together, in the input's order within a query.

    Attributes
    ----------
    offsets : (n_queries + 1,) int64 array
        The rows of query i are ``offsets[i]:offsets[i + 1]``.
    """

    query_ids: tuple[str, ...]
    offsets: npt.NDArray[np.int64]
    docids: Ids
    values: npt.NDArray[np.float64]


def grouped(columns: Columns) -> Grouped:
    """Bring the rows of each query together, stably."""
    counts = np.bincount(columns.codes, minlength=len(columns.query_ids))
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    docids, values = columns.docids, columns.values
    if np.any(columns.codes[1:] < columns.codes[:-1]):
        order = np.argsort(columns.codes, kind="stable")
        docids, values = docids[order], values[order]
    return Grouped(tuple(columns.query_ids), offsets, docids, values)


def as_ids(encoded: Sequence[bytes] | Ids) -> Ids:
    """Make an id array whose width is a multiple of 8, so that ids can be read as 64-bit words."""
    ids = np.asarray(encoded, dtype=np.bytes_)
    width = -(-max(ids.dtype.itemsize, 1) // 8) * 8
    return np.ascontiguousarray(ids, dtype=f"S{width}")


def columns_of(data: Any, source: str, value_names: Sequence[str]) -> Columns:
    """Take a dict of dict, a frame or an iterable of named tuples apart into columns.

    Parameters
    ----------
    data : object
        ``{query: {document: value}}``; or a frame (pandas, polars, Arrow) in ir_measures' or PyTerrier's column names; or an
        iterable of named tuples with the fields ``query_id``, ``doc_id`` and a value; or ranx' `Run` or `Qrels`.
    source : str
        What to call it in messages.
    value_names : sequence of str
        Accepted names of the value, best first.

    Raises
    ------
    FormatError
        If the shape, an id or a value is not what a run or qrels can hold.
    """
    if _is_of_ranx(data):
        data = data.to_dict()
    if isinstance(data, Mapping):
        return _from_mapping(data, source)
    if hasattr(data, "collect") and not hasattr(data, "iter_rows"):  # a lazy frame of polars
        data = data.collect()
    if not hasattr(data, "columns") and hasattr(data, "__arrow_c_stream__"):
        data = _arrow_table(data)
    if hasattr(data, "columns") and hasattr(data, "__getitem__"):
        return _from_frame(data, source, value_names)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        return _from_tuples(data, source, value_names)
    raise FormatError(
        source,
        f"cannot be read from a {type(data).__name__}; give a path, an ir_datasets id, a dict of dict, a data frame "
        "an iterable of named tuples, or a Run or Qrels of ranx",
    )


def name_within(data: Any) -> str | None:
    """Return the name that a run brings along, if it does."""
    return data.name if _is_of_ranx(data) and isinstance(data.name, str) else None


def _is_of_ranx(data: Any) -> bool:
    return type(data).__module__.split(".")[0] == "ranx" and hasattr(data, "to_dict")


def _arrow_table(data: Any) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise MissingDependency("reading an Arrow stream needs the package pyarrow: pip install pyarrow") from None
    return pyarrow.table(data)


def _from_mapping(data: Mapping[Any, Any], source: str) -> Columns:
    query_ids = texts(list(data), source, "query id")
    if len(set(query_ids)) < len(query_ids):
        raise FormatError(source, "holds the same query id twice, once as text and once as a number; use text")
    rankings = list(data.values())
    if not all(issubclass(kind, Mapping) for kind in set(map(type, rankings))):
        wrong = next(each for each in rankings if not isinstance(each, Mapping))
        raise FormatError(source, "is not a dict of dict {query id: {document id: value}}", text=repr(wrong))
    codes = np.repeat(np.arange(len(query_ids), dtype=np.int32), list(map(len, rankings)))
    documents = list(chain.from_iterable(rankings))
    values = list(chain.from_iterable(ranking.values() for ranking in rankings))
    return Columns(source, query_ids, codes, _encoded(documents, source), numbers(values, source))


def _from_frame(frame: Any, source: str, value_names: Sequence[str]) -> Columns:
    # Arrow's tables have the names elsewhere: their columns are the data.
    names = [str(name) for name in getattr(frame, "column_names", frame.columns)]
    found = [_first_of(choices, names, source) for choices in (("query_id", "qid"), ("doc_id", "docno"), value_names)]
    queries, documents, values = (frame[name] for name in found)
    query_ids, codes = _coded_column(queries, source)
    array = np.asarray(values)
    scores = numbers(array if array.dtype.kind in "fiu" else _as_list(values), source)
    return Columns(source, query_ids, codes, _encoded_column(documents, source), scores)


def _coded_column(column: Any, source: str) -> tuple[list[str], Codes]:
    text = _arrow_text(column)
    if text is None:
        return _coded(_as_list(column), source)
    encoded = text.dictionary_encode()
    return texts(encoded.dictionary.to_pylist(), source, "query id"), encoded.indices.to_numpy()


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
            if np.count_nonzero(ids.view(np.uint8)) == pyarrow.compute.sum(sizes).as_py():  # no NUL but the padding
                return ids
    return _encoded(_as_list(column), source)


def _arrow_text(column: Any) -> Any | None:
    """Take a column as Arrow's, without an object for each value, if it is all text; else None."""
    if not hasattr(column, "__arrow_c_stream__") or not len(column):
        return None
    try:
        import pyarrow

        chunks = pyarrow.chunked_array(column)
    except (ImportError, TypeError, ValueError):  # TypeError and ValueError if the column is mixed
        return None
    if chunks.null_count or str(chunks.type) not in ("string", "large_string", "string_view"):
        return None
    return chunks.cast(pyarrow.large_string()).combine_chunks()


def _as_list(column: Any) -> list[Any]:
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def _from_tuples(rows: Iterable[Any], source: str, value_names: Sequence[str]) -> Columns:
    rows = list(rows)
    if not rows:
        return _from_lists([], [], [], source)
    fields = getattr(rows[0], "_fields", None)
    if fields is None:
        raise FormatError(source, "is not an iterable of named tuples such as ir_measures.ScoredDoc", text=repr(rows[0]))
    value_name = _first_of(value_names, fields, source)
    _first_of(("query_id",), fields, source), _first_of(("doc_id",), fields, source)
    return _from_lists(
        [row.query_id for row in rows], [row.doc_id for row in rows], [getattr(row, value_name) for row in rows], source
    )


def _from_lists(queries: list[Any], documents: list[Any], values: list[Any], source: str) -> Columns:
    query_ids, codes = _coded(queries, source)
    return Columns(source, query_ids, codes, _encoded(documents, source), numbers(values, source))


def _coded(queries: list[Any], source: str) -> tuple[list[str], Codes]:
    ids = texts(queries, source, "query id")
    code_of = {query: code for code, query in enumerate(dict.fromkeys(ids))}
    return list(code_of), np.fromiter(map(code_of.__getitem__, ids), np.int32, len(ids))


def _first_of(choices: Sequence[str], names: Sequence[str], source: str) -> str:
    for choice in choices:
        if choice in names:
            return choice
    raise FormatError(source, f"has no column {' or '.join(map(repr, choices))}; its columns are {', '.join(names)}")


def texts(ids: list[Any], source: str, what: str) -> list[str]:
    """Check ids and return them as text: text stays, whole numbers become decimals, all else is refused."""
    kinds = set(map(type, ids))
    if kinds - {str}:
        for position, each in enumerate(ids):
            if not isinstance(each, (str, int, np.integer)) or isinstance(each, (bool, np.bool_)):
                raise FormatError(
                    source,
                    f"row {position + 1}: a {what} must be text or a whole number, not {type(each).__name__}; "
                    "convert it to str first",
                    text=repr(each),
                )
        ids = [str(each) for each in ids]
    if "" in ids or "\0" in "".join(ids):
        raise FormatError(source, f"holds a {what} that is empty or has a NUL character; leave such rows out")
    return ids


def _encoded(documents: list[Any], source: str) -> Ids:
    ids = texts(documents, source, "document id")
    encoded: Any
    try:
        encoded = np.array(ids, dtype=np.bytes_) if ids else []
    except UnicodeEncodeError:
        try:
            encoded = [each.encode() for each in ids]
        except UnicodeEncodeError as error:
            raise FormatError(source, f"a document id is no text in UTF-8 ({error.reason})", text=repr(error.object)) from None
    result = as_ids(encoded)
    check_width(result, source)
    return result


def check_width(ids: Ids, source: str) -> None:
    """Refuse ids so long that they cannot be ids."""
    if ids.dtype.itemsize > LONGEST_ID:
        longest = max(ids.tolist(), key=len).decode("utf-8", "replace")
        raise FormatError(source, f"a document id is longer than {LONGEST_ID} bytes; is this a run or qrels?", text=longest)


def numbers(values: list[Any] | npt.NDArray[Any], source: str) -> npt.NDArray[np.float64]:
    """Check values and return them as float64; NaN and what is no number is refused."""
    try:
        result = np.asarray(values, dtype=np.float64)
        if result.ndim != 1 or (not isinstance(values, np.ndarray) and {str, bytes} & set(map(type, values))):
            raise TypeError
    except (TypeError, ValueError, OverflowError):
        wrong = next((v for v in values if not _is_number(v)), values)
        raise FormatError(source, "a score or grade must be a number", text=repr(wrong)) from None
    if np.isnan(result).any():
        raise FormatError(
            source, f"row {int(np.argmax(np.isnan(result))) + 1} has no score or grade (NaN); remove the row or mend it"
        )
    return result


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return not isinstance(value, (str, bytes))
