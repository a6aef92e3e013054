"""Recognize the form of a file by its content, or of a Python object by its type, and return its columns."""

from __future__ import annotations

import io
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np

from ir_outcomes.errors import EmptyInput, FormatError, MissingDependency, UnreadableFile
from ir_outcomes.formatting import plural
from ir_outcomes.reading.columns import (
    DOCUMENT_NAMES,
    LONGEST_ID,
    QUERY_NAMES,
    RUN,
    Codes,
    Columns,
    FileContent,
    Ids,
    Kind,
    Layout,
    Named,
    coded,
    encoded,
    grouped,
    is_header,
    named_columns,
    numbers,
    texts,
)
from ir_outcomes.reading.files import BOM, LARGEST_RATIO, LONGEST_LINE, UNSUSPICIOUS, Block, blocks_of, pieces
from ir_outcomes.reading.measure_names import is_measure_name
from ir_outcomes.reading.text import COLUMN_REMEDY, check_bytes, from_line, nonblank, read_lines, shown

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
    text = _arrow_text(column, source)
    if text is None:
        return coded(as_list(column), source)
    dictionary = text.dictionary_encode()
    return texts(dictionary.dictionary.to_pylist(), source, "query id"), dictionary.indices.to_numpy()


def _encoded_column(column: Any, source: str) -> Ids:
    text = _arrow_text(column, source)
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


def _arrow_text(column: Any, source: str) -> Any | None:
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
    text = chunks.cast(pyarrow.large_string()).combine_chunks()
    try:
        text.validate(full=True)  # Arrow itself does not check that text is UTF-8
    except pyarrow.ArrowInvalid:
        _refuse_bytes(text.cast(pyarrow.large_binary()).to_pylist(), source)
    return text


def _refuse_bytes(column: list[bytes], source: str) -> None:
    for row, value in enumerate(column, 1):
        try:
            value.decode()
        except UnicodeDecodeError as error:
            problem = f"row {row}: an id is not UTF-8 ({error.reason}); read the input again with its true encoding"
            raise FormatError(source, problem, text=value.decode("utf-8", "backslashreplace")) from None


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


_LIST_NAMES = ("doc_ids", "docids", "docnos", "ranking")
_MTEB = "mteb_model_meta"
_MOST_VALUES = 12_000_000  # in one document; a Python object for each of them takes about 100 bytes


def path_and_selection(path: str) -> tuple[str, str | None]:
    """Separate ``path#subset/split`` into the path of a file and the selection, None where there is none.

    Examples
    --------
    >>> path_and_selection("bm25.run")
    ('bm25.run', None)
    """
    file, sign, selection = path.rpartition("#")
    if sign and not os.path.exists(path) and os.path.isfile(file):
        return file, selection
    return path, None


def is_json_lines(first_line: bytes) -> bool:
    """Tell whether the first line of a file is an object with a query id, which makes the file JSON lines."""
    try:
        record = json.loads(first_line)
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and any(isinstance(record.get(name), (str, int)) for name in QUERY_NAMES)


def read_json_lines(blocks: Iterable[Block], kind: Kind, source: str) -> Columns:
    """Read a file with a JSON object on each line.

    Parameters
    ----------
    blocks : iterable of Block
        The lines.
    kind : Kind
        What is read.
    source : str
        The path of the file.

    Raises
    ------
    FormatError
        If a line is not such an object; the error has its number and text.
    """
    return _from_records(_lines(blocks, source), kind, source)


def read_json(data: bytes, kind: Kind, source: str, selection: str | None = None) -> FileContent:
    """Read a JSON document.

    Parameters
    ----------
    data : bytes
        The content of the file.
    kind : Kind
        What is read.
    source : str
        The path of the file.
    selection : str, optional
        Which ranking of MTEB predictions: ``"subset/split"``, or the subset or split where that is enough.

    Raises
    ------
    FormatError
        If it is not JSON, or not one of the forms above; if MTEB predictions contain several rankings and none is selected.
    """
    check_bytes(Block(1, data.removeprefix(BOM)), source)
    n_values = sum(data.count(sign) for sign in (b",", b"[", b"{"))
    if n_values > _MOST_VALUES:
        problem = (
            f"is a JSON document of {n_values:,} values, which would take too much memory; write it as JSON lines, as Parquet "
            "or in TREC's six columns"
        )
        raise FormatError(source, problem)
    document = _parsed(data.decode("utf-8-sig"), source, 1)
    if isinstance(document, list):
        return FileContent(_from_records(((None, record) for record in document), kind, source))
    line_of = partial(_line_of, data)  # searched only where something is wrong
    if _MTEB in document:
        return _from_mteb(document, kind, source, selection, line_of)
    return FileContent(columns_of(document, source, kind, line_of))


def _line_of(data: bytes, query: str, document: str) -> int | None:
    """Find the line of a query's document; None where the query occurs in several objects, or is written in an unusual way."""
    starts = list(re.finditer(_written(query) + rb"\s*:\s*[{\[]", data))
    if len(starts) != 1:
        return None
    found = re.compile(_written(document)).search(data, starts[0].end())
    return None if found is None else data.count(b"\n", 0, found.start()) + 1


def _written(text: str) -> bytes:
    """Return a pattern of how JSON can contain a text: as it is, or with all that is not ASCII escaped."""
    return b"(?:%s|%s)" % tuple(re.escape(json.dumps(text, ensure_ascii=ascii).encode()) for ascii in (False, True))


def _parsed(text: str, source: str, line: int) -> Any:
    try:
        return json.loads(text, object_pairs_hook=without_repeated_names)
    except json.JSONDecodeError as error:
        at = line + error.lineno - 1
        shown = text.split("\n")[error.lineno - 1][max(error.colno - 41, 0) : error.colno + 20]
        raise FormatError(source, f"is not JSON ({error.msg}); correct it or write it again", line=at, text=shown) from None
    except _RepeatedName as error:
        problem = "an object has the same name twice; a query or document must occur only once"
        raise FormatError(source, problem, line=line if "\n" not in text.strip() else None, text=error.name) from None
    except RecursionError:
        raise FormatError(source, "is nested too deeply to be a run or qrels", line=line) from None
    except ValueError as error:  # a number with more digits than Python converts
        raise FormatError(source, f"is not JSON that can be read ({error})", line=line) from None


class _RepeatedName(ValueError):
    """An object with a repeated name, of which `json` would silently keep only the last."""

    def __init__(self, name: str) -> None:
        super().__init__(f"an object has the name {name!r} twice")
        self.name = name


def without_repeated_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make the dict of an object; for ``object_pairs_hook`` of `json.loads`."""
    members = dict(pairs)
    if len(members) < len(pairs):
        names = sorted(name for name, _ in pairs)
        raise _RepeatedName(next(name for name, following in pairwise(names) if name == following))
    return members


def _lines(blocks: Iterable[Block], source: str) -> Iterator[tuple[int, Any]]:
    for block in blocks:
        check_bytes(block, source)
        for number, line in nonblank(block):
            yield number, _parsed(line.decode(), source, number)


def _from_records(records: Iterable[tuple[int | None, Any]], kind: Kind, source: str) -> Columns:
    """Take objects with their lines, None in a list; all must have the names of the first."""
    queries: list[Any] = []
    documents: list[Any] = []
    values: list[Any] = []
    lines: list[int | None] = []
    found: Named | None = None
    for position, (line, record) in enumerate(records, 1):
        if not isinstance(record, dict):
            problem = f"entry {position} is not an object such as {{'query_id': ..., 'doc_id': ..., 'score': ...}}"
            raise FormatError(source, problem, line=line, text=json.dumps(record))
        found = found or _names_in(record, kind, source, line)
        lacking = [name for name in found[:3] if name not in record]
        if lacking:
            problem = f"entry {position} has no {lacking[0]!r}, unlike the first; its names are {', '.join(record)}"
            raise FormatError(source, problem, line=line, text=json.dumps(record))
        ranked, value = record[found.document], record[found.value]
        if found.document == found.value:  # a list of documents
            _check_list(ranked, source, line, position)
            queries.extend([record[found.query]] * len(ranked))
            documents.extend(ranked)
            values.extend(range(1, len(ranked) + 1))
            lines.extend([line] * len(ranked))
            continue
        for identifier in (record[found.query], ranked):
            if not _is_id(identifier):
                problem = f"entry {position}: an id must be text or a whole number, and not empty"
                raise FormatError(source, problem, line=line, text=json.dumps(record))
        if not isinstance(value, (int, float)) or isinstance(value, bool) or value != value:
            problem = f"entry {position}: the {found.value} is not a number; correct or remove it"
            raise FormatError(source, problem, line=line, text=json.dumps(record))
        queries.append(record[found.query])
        documents.append(ranked)
        values.append(value)
        lines.append(line)
    line_of = lines.__getitem__
    query_ids, codes = coded(queries, source, line_of)
    value_name = found.value_name if found else kind.value_names[0]
    columns = Columns(source, query_ids, codes, encoded(documents, source, line_of), np.zeros(0), value_name, line_of)
    return replace(columns, values=numbers(values, source, columns.named, line_of))


def _is_id(value: Any) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool) and value != ""


def _names_in(record: Mapping[str, Any], kind: Kind, source: str, line: int | None) -> Named:
    query = next((name for name in QUERY_NAMES if name in record), None)
    listed = next((name for name in _LIST_NAMES if isinstance(record.get(name), list)), None)
    if kind.what == "run" and query and listed and not any(name in record for name in DOCUMENT_NAMES):
        return Named(query, listed, listed, "rank")
    return named_columns(list(record), kind, source, line)


def _check_list(ranked: Any, source: str, line: int | None, position: int) -> None:
    if not isinstance(ranked, list):
        problem = f"entry {position}: the ranking must be a list of document ids"
        raise FormatError(source, problem, line=line, text=json.dumps(ranked))
    for identifier in ranked:
        if not _is_id(identifier):
            problem = f"entry {position}: a document id in the list must be text or a whole number, and not empty"
            raise FormatError(source, problem, line=line, text=json.dumps(identifier))


def _from_mteb(
    document: dict[str, Any], kind: Kind, source: str, selection: str | None, line_of: Callable[[str, str], int | None]
) -> FileContent:
    if kind.what != "run":
        raise FormatError(source, "contains predictions of MTEB, which are a run: were the arguments swapped?")
    rankings = {
        (subset, split): ranking
        for subset, splits in document.items()
        if subset != _MTEB and isinstance(splits, dict)
        for split, ranking in splits.items()
        if isinstance(ranking, dict)
    }
    (subset, split), ranking = _selected(rankings, selection, source)
    where = f"{source}#{subset}/{split}" if len(rankings) > 1 else source
    columns = columns_of(ranking, where, kind, line_of)
    queries = np.array([query.encode() for query in columns.query_ids] or [b""], dtype=np.bytes_)
    own = columns.docids == queries[columns.codes] if len(columns.codes) else np.zeros(0, dtype=bool)
    warnings: tuple[str, ...] = ()
    if own.any():
        columns = columns.select(~own)
        n_own = int(own.sum())
        warnings = (
            f"{where}: {plural('document', n_own)} with the id of {'their' if n_own > 1 else 'its'} own query "
            f"{'are' if n_own > 1 else 'is'} left out, because MTEB stores predictions before it removes a query from its own "
            "ranking. If queries and documents are numbered independently, pass the dict of this subset and split instead.",
        )
    meta = document[_MTEB]
    name = meta.get("model_name") if isinstance(meta, dict) else None
    return FileContent(columns, name if isinstance(name, str) and name else "mteb", warnings=warnings)


def _selected(rankings: dict[tuple[str, str], Any], selection: str | None, source: str) -> tuple[tuple[str, str], Any]:
    """Choose the ranking of a subset and split; all names that fit a selection must mean the same one."""
    if not rankings:
        raise FormatError(source, "contains no rankings; predictions of other tasks than retrieval cannot be evaluated")
    fitting = [names for names in rankings if selection is None or selection in ("/".join(names), *names)]
    if len(fitting) == 1:
        return fitting[0], rankings[fitting[0]]
    choices = ", ".join(f"{source}#{subset}/{split}" for subset, split in rankings)
    if not fitting:
        raise FormatError(source, f"has no predictions for {selection!r}; choose one of {choices}")
    raise FormatError(source, f"has predictions for several subsets or splits of the task; choose one: {choices}")


_MAGIC = b"PAR1"
_LEAST_ROW = 16  # bytes that a row takes as text, at least


def is_parquet(head: bytes) -> bool:
    """Tell whether content is a Parquet file; a text whose first word begins alike goes on with text."""
    return head.startswith(_MAGIC) and len(head) > 4 and not head[4:5].isspace() and not 0x20 <= head[4] < 0x7F


def read_parquet(data: bytes, kind: Kind, source: str) -> Columns:
    """Read the columns of query, document and value.

    Raises
    ------
    FormatError
        If a column is missing, or a value is not one of a run or of qrels.
    UnreadableFile
        If the file is damaged.
    MissingDependency
        If neither pyarrow nor pandas can read it.
    """
    return columns_of(_frame(data, kind, source), source, kind)


def _frame(data: bytes, kind: Kind, source: str) -> Any:
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        return _frame_of_pandas(data, source)
    try:
        file = ParquetFile(io.BytesIO(data))
        found = named_columns(file.schema_arrow.names, kind, source)
        if file.metadata.num_rows * _LEAST_ROW > max(UNSUSPICIOUS, LARGEST_RATIO * len(data)):
            raise UnreadableFile(f"{source}: expands to more than {LARGEST_RATIO} times its size: a decompression bomb?")
        return file.read(list(found[:3]))
    except (ArrowException, OSError) as error:
        if isinstance(error, (FormatError, UnreadableFile)):
            raise
        raise UnreadableFile(f"{source}: is not a valid Parquet file ({error}); fetch or write it again") from None


def _frame_of_pandas(data: bytes, source: str) -> Any:
    missing = f"{source}: reading a Parquet file needs the package pyarrow: pip install pyarrow"
    try:
        import pandas
    except ImportError:
        raise MissingDependency(missing) from None
    try:
        return pandas.read_parquet(io.BytesIO(data))
    except ImportError:  # pandas itself needs a package for that
        raise MissingDependency(missing) from None
    except Exception as error:  # fastparquet raises whatever a damaged file happens to cause
        raise UnreadableFile(f"{source}: is not a valid Parquet file ({error}); fetch or write it again") from None


_JSON = re.compile(rb"\s*(\{\s*(\"|\}|$)|\[)")
_METADATA_START, _METADATA_END = b"# ir_metadata.start", b"# ir_metadata.end"
_SEPARATORS = (b"\t", b",", b";")
_LINES_LOOKED_AT = 50


def read_any_file(path: str | os.PathLike[str], kind: Kind) -> FileContent:
    """Read a file of a run or of qrels.

    Parameters
    ----------
    path : path
        The file; ``-`` is standard input. For predictions of MTEB with several subsets or splits, ``path#subset/split``.
    kind : Kind
        Whether a run or qrels are expected, and which value of a run orders its documents.

    Raises
    ------
    FormatError
        If the content is malformed; the error has file, line and text as far as they exist.
    UnreadableFile
        If the file is missing, truncated or cannot be decompressed.
    MissingDependency
        If it is a Parquet file and there is no package that can read it.
    """
    source, selection = path_and_selection(os.fspath(path))
    with closing(pieces(source)) as opened:
        head, content = _with_head(opened)
        if is_parquet(head):
            found = FileContent(read_parquet(b"".join(content), kind, source))
        elif _is_json(head, kind):
            if is_json_lines(_first_lines(head)[0]):
                found = FileContent(read_json_lines(blocks_of(content, source), kind, source))
            else:
                found = read_json(b"".join(content), kind, source, selection)
        else:
            found = _read_lines(content, kind, source)
    if selection is not None and found.name is None:
        raise FormatError(source, f"is not a file of MTEB predictions; remove #{selection} from its path")
    if not len(found.columns.codes):
        raise EmptyInput(source, "is empty; nothing can be evaluated from it")
    return found


def seems_to_be_a_run(path: str) -> bool:
    """Tell by its first lines whether a file could be a run.

    Raises
    ------
    UnreadableFile, MissingDependency
        If it cannot be read or decompressed.
    """
    with closing(pieces(path)) as opened:
        head, _ = _with_head(opened)
    if is_parquet(head) or _is_json(head, RUN):
        return True
    lines = _first_lines(head)
    if not lines:
        return False
    if lines[0].startswith(_METADATA_START):
        return True
    _, names = _names_of(lines[0])
    if is_header(names):
        return bool(set(names) & set(RUN.value_names))
    # The output of trec_eval has as many columns as an MS MARCO run, and begins with counts: more lines tell them apart. In the
    # other layouts one good line is enough, so that a file with bad lines is read, and its error raised.
    return any((all if layout.columns == 3 else any)(_fits(line, layout) for line in lines) for layout in RUN.layouts) and not (
        len(lines[0].split()) == 3 and any(is_measure_name(field.decode("utf-8", "replace")) for field in lines[0].split()[:2])
    )


def _with_head(opened: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Read until the first line that is not blank has ended; return what was read, and the whole content."""
    head = b""
    for piece in opened:
        head += piece
        if len(head) > LONGEST_LINE or b"\n" in head.removeprefix(BOM).lstrip():
            break
    return head, chain([head], opened)


def _first_lines(head: bytes) -> list[bytes]:
    lines = [line for line in head.removeprefix(BOM).split(b"\n") if line.strip()]
    # The last line may be cut off where the head ends.
    return lines[: min(_LINES_LOOKED_AT, len(lines) if len(lines) <= 1 or head.endswith(b"\n") else len(lines) - 1)]


def _is_json(head: bytes, kind: Kind) -> bool:
    if not _JSON.match(head.removeprefix(BOM)):
        return False
    lines = _first_lines(head)
    return not any(_fits(lines[0], layout) for layout in kind.layouts)  # such as a query id that begins with a bracket


def _fits(line: bytes, layout: Layout) -> bool:
    fields = line.split()
    return len(fields) == layout.columns and _is_number(fields[layout.value], layout.whole)


def _is_number(field: bytes, whole: bool) -> bool:
    try:
        value = float(field)
    except ValueError:
        return False
    return not whole or value.is_integer()


def _read_lines(content: Iterable[bytes], kind: Kind, source: str) -> FileContent:
    blocks = blocks_of(content, source)
    metadata, blocks = _without_metadata(blocks, kind, source)
    first, blocks = _first_block(blocks)
    if first is None:
        raise EmptyInput(source, "is empty; nothing can be evaluated from it")
    number, line = next(nonblank(first))
    separator, names = _names_of(line)
    layout = next((layout for layout in kind.layouts if layout.columns == len(line.split())), None)
    is_row = layout is not None and _fits(line, layout)
    if is_header(names) and not is_row:
        check_bytes(Block(number, line), source)
        return FileContent(_read_with_header(blocks, kind, source, number, separator, names), metadata=metadata)
    if line.startswith(b"#") and not is_row:
        raise FormatError(source, "is a comment; remove comment lines", line=number, text=shown(line.split()))
    if layout is None:
        check_bytes(first, source)
        raise FormatError(source, _wrong_columns(line.split(), kind), line=number, text=shown(line.split()))
    columns = read_lines(blocks, layout, source, number)
    return FileContent(_ranks_or_scores(columns) if kind.decides and layout.columns == 3 else columns, metadata=metadata)


def _ranks_or_scores(columns: Columns) -> Columns:
    """Decide once for all lines whether the third of three columns holds ranks, as MS MARCO writes them, or scores."""
    offsets, _, values = grouped(columns)
    if np.any(values < 0) or np.any(values != np.floor(values)):
        return columns
    starts = np.repeat(offsets[:-1], np.diff(offsets))
    counted = np.arange(1, len(values) + 1) - starts  # 1 to n in each query
    if np.array_equal(values, counted) and counted.max() > 1:
        return replace(columns, value_name="rank")
    descends = (values[1:] <= values[:-1]) | (starts[1:] != starts[:-1])
    ordered = values[np.lexsort((values, starts))]
    if descends.all() and not np.logical_and.reduceat(ordered == counted, offsets[:-1]).any():
        return columns
    raise FormatError(
        columns.source,
        "has three columns, and it cannot be told whether the third has ranks or scores; "
        "say it with by='rank' or by='score' (--run-by rank, --run-by score)",
    )


def _first_block(blocks: Iterator[Block]) -> tuple[Block | None, Iterator[Block]]:
    """Find the first block with a line that is not blank; return it, and the blocks from it on."""
    for block in blocks:
        if block.data and not block.data.isspace():
            return block, chain([block], blocks)
    return None, blocks


def _names_of(line: bytes) -> tuple[bytes | None, list[str]]:
    """Take a line as a header: return the separator, None for white space, and the names."""
    separator = next((sign for sign in _SEPARATORS if sign in line), None)
    return separator, [name.strip().strip(b"\"'").decode("utf-8", "replace").lower() for name in line.split(separator)]


def _read_with_header(
    blocks: Iterator[Block], kind: Kind, source: str, number: int, separator: bytes | None, names: list[str]
) -> Columns:
    found = named_columns(names, kind, source, number)
    query, document, value = (names.index(name) for name in found[:3])
    layout = Layout(len(names), query, document, value, found.value_name, separator)
    columns = read_lines(blocks, layout, source, number + 1)
    if (found.document, found.value, kind.what) == ("corpus-id", "score", "run") and _are_grades(columns):
        raise FormatError(source, "has the columns of qrels as BEIR writes them, and grades: were the arguments swapped?")
    return columns


def _are_grades(columns: Columns) -> bool:
    """Tell whether scores look like the grades of qrels: a few small whole numbers."""
    values = columns.values
    return len(values) > 0 and bool(((values >= 0) & (values <= 10) & (values == values.round())).all())


def _wrong_columns(fields: list[bytes], kind: Kind) -> str:
    """Say what is wrong with the number of columns; only what looks like the other kind is said to be swapped."""
    expected = " or ".join(str(layout.columns) for layout in kind.layouts)
    problem = f"has {plural('column', len(fields))}, expected {expected}"
    if len(fields) == 4 and kind.what == "run" and _is_number(fields[3], whole=True):
        return f"{problem}: a qrels file has 4 columns (query, iteration, document, grade); were the arguments swapped?"
    if len(fields) == 6 and kind.what == "qrels" and _is_number(fields[3], whole=True) and _is_number(fields[4], whole=False):
        return f"{problem}: a TREC run has 6 columns (query, Q0, document, rank, score, tag); were the arguments swapped?"
    if len(fields) == 3 and kind.what == "qrels" and _is_number(fields[2], whole=True):
        return (
            f"{problem} (query, iteration, document, grade): qrels of 3 columns need a header that names them, such as "
            "query-id, corpus-id, score; an MS MARCO run (query, document, rank) has 3 columns too"
        )
    return problem + COLUMN_REMEDY


def _without_metadata(blocks: Iterator[Block], kind: Kind, source: str) -> tuple[str, Iterator[Block]]:
    """Take the header that the ir_metadata specification defines off the beginning of a run.

    Source: Breuer, Keller, Schaer, "ir_metadata: An Extensible Metadata Schema for IR Experiments", SIGIR 2022.
    """
    first, blocks = _first_block(blocks)
    if first is None or kind.what != "run" or not first.data.lstrip().startswith(_METADATA_START):
        return "", blocks
    lines: list[str] = []
    size = 0
    for block in blocks:
        check_bytes(block, source)
        for number, line in nonblank(block):
            size += len(line)
            if line.strip() == _METADATA_END:
                return "\n".join(lines[1:]), from_line(chain([block], blocks), number + 1)
            if not line.startswith(b"#") or size > LONGEST_LINE:
                problem = "belongs to the ir_metadata header, which must be comment lines and end with '# ir_metadata.end'"
                raise FormatError(source, problem, line=number, text=shown([line.strip()]))
            lines.append(line.decode().rstrip()[1:].removeprefix(" "))
    raise FormatError(source, "begins with an ir_metadata header that does not end; add the line '# ir_metadata.end'")
