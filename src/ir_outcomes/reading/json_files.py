"""JSON documents and JSON lines to columns, and the predictions that MTEB writes.

==================  =========================================================================================
JSON document       ``{query: {document: value}}``, as ranx and pytrec_eval users store it;
                    for runs also ``{query: [document, ...]}``, the best first
MTEB predictions    ``{"mteb_model_meta": ..., subset: {split: {query: {document: score}}}}``
JSON lines          an object on each line, or a list of them: query, document, and score, rank or grade;
                    for runs also a query and the list of its documents, the best first
==================  =========================================================================================
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ir_outcomes._formatting import plural
from ir_outcomes.errors import FormatError
from ir_outcomes.reading.columns import Columns, FileContent, coded, encoded, numbers
from ir_outcomes.reading.files import BOM, Block
from ir_outcomes.reading.layouts import DOCUMENT_NAMES, QUERY_NAMES, Kind, Named, named_columns
from ir_outcomes.reading.lines import check_bytes, nonblank
from ir_outcomes.reading.python_objects import columns_of

__all__ = ["is_json_lines", "mteb_selection", "read_json", "read_json_lines", "without_repeated_names"]

_LIST_NAMES = ("doc_ids", "docids", "docnos", "ranking")
_MTEB = "mteb_model_meta"
_MOST_VALUES = 12_000_000  # in one document; a Python object for each of them takes about 100 bytes


def mteb_selection(path: str) -> tuple[str, str | None]:
    """Separate ``path#subset/split`` into the path of a file and the selection, None where there is none.

    Examples
    --------
    >>> mteb_selection("bm25.run")
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
