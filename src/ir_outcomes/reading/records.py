"""JSON of runs and qrels: lines or documents, taken apart by the keys of their form."""

import json
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import chain
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.errors import EmptyInput, FormatError
from ir_outcomes.formatting import plural
from ir_outcomes.reading.columns import Columns
from ir_outcomes.reading.files import (
    BOM,
    LONGEST_RECORD,
    Block,
    blocks_of,
    check_bytes,
    nonblank,
    parsed_json,
)
from ir_outcomes.reading.forms import Form, Kind, other
from ir_outcomes.reading.objects import checked_columns, columns_of

_MTEB = "mteb_model_meta"
_MISSING: Any = object()
# A record's line where that is known, its key in an object, and the record itself.
_Record = tuple[int | None, str, Any]


class Texts(NamedTuple):
    """The texts that come along in a file, by id."""

    queries: dict[str, str]
    documents: dict[str, str]


class FileContent(NamedTuple):
    """The rows of a file, and its form; the name that it gives to the run, its ir_metadata (YAML), texts, warnings."""

    columns: Columns
    form: str
    name: str | None = None
    metadata: str = ""
    texts: Texts = Texts({}, {})
    warnings: tuple[str, ...] = ()


def read_json(first_line: bytes, content: Iterable[bytes], kind: Kind, source: str) -> FileContent:
    """Return the content of JSON lines, of which the first line is an object by itself, or of a JSON document."""
    line = None
    is_object = False
    with suppress(FormatError):
        is_object = isinstance(parsed_json(first_line.decode("utf-8", "replace"), source, 1), dict)
    if is_object:
        lines = _lines(blocks_of(content, source, LONGEST_RECORD), source)
        first = next(lines)
        second = next(lines, None)
        if second is not None:
            return _from_list(chain([first, second], lines), kind, source)
        line, _, document = first  # a document on one line, or a single record
    else:
        data = b"".join(content)
        check_bytes(Block(1, data.removeprefix(BOM)), source)
        document = parsed_json(data.decode("utf-8-sig"), source, 1)
    if isinstance(document, list):
        return _from_list(((None, "", record) for record in document), kind, source)
    if _MTEB in document:
        return _from_mteb(document, kind, source)
    form = _json_form(document, kind.forms, kind, source, line)
    if form is None:
        columns = columns_of(document, source, kind)
        kind.refuse_swapped(columns, (None, None, None))
        return FileContent(columns, "JSON")
    found = _from_records(_members(document, form.records, line), form, kind, source)
    if form.name == "llamaindex":
        return found._replace(texts=Texts(_by_id(document, "queries"), _by_id(document, "corpus")))
    return found


def _by_id(document: Any, name: str) -> dict[str, str]:
    """Return the texts of an object from ids to texts."""
    texts = document.get(name)
    if not isinstance(texts, dict):
        return {}
    return {key: text for key, text in texts.items() if isinstance(text, str)}


def _lines(blocks: Iterable[Block], source: str) -> Iterator[_Record]:
    """Yield the records of JSON lines."""
    for block in blocks:
        check_bytes(block, source)
        for number, line in nonblank(block):
            yield number, "", parsed_json(line.decode(), source, number)


def _from_list(records: Iterator[_Record], kind: Kind, source: str) -> FileContent:
    """Return the content of records, which all have the form of the first."""
    first = next(records, None)
    if first is None:
        raise EmptyInput(source, "is empty; nothing can be evaluated from it")
    line, _, record = first
    forms = [form for form in kind.forms if form.query and not form.records]
    form = _json_form(record, forms, kind, source, line)
    if form is None and isinstance(record, dict):
        kind.named(list(record), source, line)  # says what it lacks
    return _from_records(chain([first], records), form or forms[0], kind, source)


def _json_form(
    record: Any, forms: Iterable[Form], kind: Kind, source: str, line: int | None
) -> Form | None:
    """Return the form whose keys a record or document has, None where none fits; refuse what has those of the other kind."""
    fitting = [form for form in forms if _has_keys(form, kind, record)]
    if fitting:
        return kind.only(fitting, source)
    foreign = other(kind)
    for form in foreign.forms:
        if _has_keys(form, foreign, record):
            problem = f"has the keys of {foreign.called} ({form.name}): were the arguments swapped?"
            raise FormatError(source, problem, line=line)
    return None


def _has_keys(form: Form, kind: Kind, document: Any) -> bool:
    """Return whether the first record of a document has the keys of a form."""
    first = next(_members(document, form.records, None), None)
    if first is None or not form.query:
        return False
    _, _, record = first
    if form.items and not any(isinstance(_at(record, name), list) for name in form.items):
        return False
    parts = [form.query]
    if not form.items:
        parts += [form.document, kind.values_of(form)]
    return all(
        part == ("*",) or any(_at(record, name) is not _MISSING for name in part) for part in parts
    )


def _members(document: Any, records: str, line: int | None) -> Iterator[_Record]:
    """Yield the records of a document, with their keys."""
    place, sign, _ = records.rpartition("*")
    found = _at(document, place if sign else records)
    if not records:
        yield line, "", document
    elif sign and isinstance(found, dict):
        yield from ((line, key, record) for key, record in found.items())
    elif not sign and isinstance(found, list):
        yield from ((line, "", record) for record in found)


def _at(place: Any, name: str) -> Any:
    """Return what an object has at a dotted path; the path of nothing is the object itself."""
    for key in filter(None, name.split(".")):
        if not isinstance(place, dict) or key not in place:
            return _MISSING
        place = place[key]
    return place


def _field(place: Any, names: tuple[str, ...], kinds: type = object) -> Any:
    """Return what a record has under one of these names."""
    for name in names:
        found = _at(place, name)
        if found is not _MISSING and isinstance(found, kinds):
            return found
    raise KeyError(names[0])


def _present(place: Any, names: tuple[str, ...]) -> str | None:
    return next((name for name in names if _at(place, name) is not _MISSING), None)


def _from_records(records: Iterator[_Record], form: Form, kind: Kind, source: str) -> FileContent:
    """Return the rows and texts of records of one form."""
    first = next(records)
    queries: list[Any] = []
    documents: list[Any] = []
    values: list[Any] = []
    lines: list[int | None] = []
    kept = Texts({}, {})
    of_value = kind.values_of(form)
    name = of_value[0] if of_value else None
    if not form.items:  # of a score and a rank, the one that the first record has
        name = _present(first[2], of_value)
    for position, (line, key, record) in enumerate(chain([first], records), 1):
        try:
            query = key if form.query == ("*",) else _field(record, form.query)
            items = _field(record, form.items, list) if form.items else [record]
            for place, item in enumerate(items, 1):
                document = _field(item, form.document) if form.document else item
                value = place if kind.what == "run" else 1
                queries.append(query)
                documents.append(document)
                values.append(_field(item, (name,)) if name else value)
                lines.append(line)
                if text := _text(item, form.text):
                    kept.documents[str(document)] = text
        except KeyError as error:
            problem = (
                f"entry {position} has no {error} as {kind.called} of the form {form.name} has it"
            )
            raise FormatError(source, problem, line=line, text=json.dumps(record)) from None
        if text := _text(record, form.query_text):
            kept.queries[str(query)] = text
    columns = checked_columns(
        source, (queries, documents, values), kind.value_name(name), line_of=lines.__getitem__
    )
    if not form.items:
        names = (_present(first[2], form.query), _present(first[2], form.document), name)
        kind.refuse_swapped(columns, names)
    return FileContent(columns, form.name, texts=kept)


def _text(place: Any, names: tuple[str, ...]) -> str | None:
    """Return the first of these texts that an object has."""
    return next((found for name in names if isinstance(found := _at(place, name), str)), None)


def _from_mteb(document: dict[str, Any], kind: Kind, source: str) -> FileContent:
    """Return one ranking of predictions of MTEB, which has one for each subset and split."""
    if kind.what != "run":
        raise FormatError(
            source, "contains predictions of MTEB, which are a run: were the arguments swapped?"
        )
    rankings = {
        f"{subset}/{split}": ranking
        for subset, splits in document.items()
        if subset != _MTEB and isinstance(splits, dict)
        for split, ranking in splits.items()
        if isinstance(ranking, dict)
    }
    fitting = [name for name in rankings if kind.selection in (None, name, *name.split("/"))]
    if len(fitting) != 1:
        choices = ", ".join(f"{source}#{name}" for name in rankings) or "none for retrieval"
        which = (
            "" if kind.selection is None else f", and not one ranking that #{kind.selection} names"
        )
        raise FormatError(
            source, f"contains predictions of MTEB{which}; choose one of these runs: {choices}"
        )
    where = f"{source}#{fitting[0]}" if len(rankings) > 1 else source
    columns = columns_of(rankings[fitting[0]], where, kind)
    queries = np.array([query.encode() for query in columns.query_ids] or [b""], dtype=np.bytes_)
    own = columns.docids == queries[columns.codes]
    warnings: tuple[str, ...] = ()
    if own.any():
        columns = columns.select(~own)
        its, verb = ("its", "is") if own.sum() == 1 else ("their", "are")
        warnings = (
            (
                f"{where}: {plural('document', int(own.sum()))} with the id of {its} own query"
                f" {verb} left out, because MTEB stores predictions before it removes a query from"
                " its own ranking. If queries and documents are numbered independently, pass the"
                " dict of this subset and split instead."
            ),
        )
    name = _at(document, f"{_MTEB}.model_name")
    return FileContent(
        columns, "MTEB", name if isinstance(name, str) and name else "mteb", warnings=warnings
    )
