"""Texts by id: of queries and documents, and the labels of queries and runs."""

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from ir_outcomes.arguments import check_argument
from ir_outcomes.errors import FormatError, InputError
from ir_outcomes.reading.columns import Texts
from ir_outcomes.reading.files import WHITE_SPACE, lines_of, parsed_json
from ir_outcomes.reading.formats import path_and_order, read_any_file
from ir_outcomes.reading.forms import QRELS, RUN


class TextKind(NamedTuple):
    """What a file says of each id, and the fields of JSON lines that hold it."""

    item: str
    ids: tuple[str, ...]  # the first that a line has
    fields: tuple[str, ...]  # the first that a line has, or all of them
    takes_all: bool = False


_QUERY_IDS = ("_id", "query_id", "qid")
QUERIES = TextKind("text", _QUERY_IDS, ("text", "query"))
LABELS = TextKind("label", _QUERY_IDS, ("label",))
CLUSTERS = TextKind("cluster", _QUERY_IDS, ("cluster",))
SYSTEMS = TextKind("system", ("run",), ("system",))
DOCUMENTS = TextKind(
    "text", ("doc_id", "docno", "docid", "_id", "id"), ("title", "text"), takes_all=True
)
LONGEST = 600  # characters of the first words of a document

Source = Mapping[str, str] | str | os.PathLike[str] | None
# The first words of documents by their ids, None where they are not known.
FirstWords = Callable[[Sequence[str]], list[str | None]]


def read_texts(
    path: str | os.PathLike[str], kind: TextKind, wanted: Collection[str] | None = None
) -> dict[str, str]:
    """Read texts from JSON lines, or from lines of an id, a tab and a text."""
    source = os.fsdecode(path)
    texts: dict[str, str] = {}
    is_json: bool | None = None  # which the first line decides
    for number, line in lines_of(path):
        if is_json is None:
            is_json = line.lstrip().startswith("{")
        if is_json:
            identifier, text = _in_record(parsed_json(line.strip(), source, number), kind)
        else:
            identifier, text = _in_line(line)
        if identifier is None or text is None or identifier in texts:
            problem = (
                f"has no id or no {kind.item}, or repeats an id; a line is an id, a tab and the"
                f' {kind.item}, or an object with "{kind.ids[0]}" and "{kind.fields[-1]}"'
            )
            raise FormatError(source, problem, line=number, text=line.strip())
        if wanted is None or identifier in wanted:
            texts[identifier] = text
    return texts


def _in_line(line: str) -> tuple[str | None, str | None]:
    """Return id and text of a line, which white space divides where no tab does."""
    stripped = line.strip(WHITE_SPACE)
    identifier, _, text = stripped.partition("\t" if "\t" in stripped else " ")
    return identifier.strip(WHITE_SPACE) or None, text.strip(WHITE_SPACE) or None


def _in_record(record: Any, kind: TextKind) -> tuple[str | None, str | None]:
    """Return id and text of a JSON object, None for what is not there."""
    if not isinstance(record, dict):
        return None, None
    ids = [str(record[name]) for name in kind.ids if type(record.get(name)) in (str, int)]
    texts = [record[name] for name in kind.fields if isinstance(record.get(name), str)]
    if kind.takes_all:
        texts = [". ".join(filter(None, map(str.strip, texts)))]
    return next(iter(ids), None), next(iter(texts), None)


def query_texts(source: str | os.PathLike[str]) -> Mapping[str, str]:
    """Read the texts of queries, which may stand in a run, qrels or a BEIR folder."""
    check_argument("queries", source, str | os.PathLike[str])
    if os.path.isdir(source):
        return read_texts(queries_file(source), QUERIES)
    return texts_in(source).queries or read_texts(source, QUERIES)


def queries_file(folder: str | os.PathLike[str]) -> str:
    """Return the file of the queries of a BEIR dataset, which may be absent."""
    path = os.path.join(os.fspath(folder), "queries.jsonl")
    return path if os.path.exists(path) or not os.path.exists(f"{path}.gz") else f"{path}.gz"


def texts_in(path: str | os.PathLike[str]) -> Texts:
    """Return the texts that come along in a file of a run or of qrels."""
    for kind in (RUN, QRELS):
        with suppress(InputError):
            return read_any_file(path_and_order(path)[0], kind).texts
    return Texts({}, {})


def document_texts(source: Source, wanted: Collection[str], collection: str) -> FirstWords:
    """Return what gives the first words of documents, by default the dataset's."""
    if source is None:
        return _of_dataset(collection)
    if isinstance(source, Mapping):
        texts = source
    else:
        texts = texts_in(source).documents or read_texts(source, DOCUMENTS, wanted)
    return lambda names: [_first_words(texts.get(name)) for name in names]


def _of_dataset(collection: str) -> FirstWords:
    """Read documents of an ir_datasets id, where they and their index are here."""
    import ir_datasets

    dataset: Any = ir_datasets.load(collection) if collection in ir_datasets.registry else None
    store: Any = dataset.docs_store() if dataset is not None and dataset.has_docs() else None
    if not (hasattr(store, "built") and store.built()):
        return lambda names: []

    def first_words(names: Sequence[str]) -> list[str | None]:
        found = store.get_many(list(names))
        return [
            _first_words(found[name].default_text()) if name in found else None for name in names
        ]

    return first_words


def _first_words(text: str | None) -> str | None:
    words = " ".join((text or "")[: 4 * LONGEST].split())
    if len(words) > LONGEST:
        start = words[: LONGEST - 2]
        words = f"{start.rpartition(' ')[0] or start} \N{HORIZONTAL ELLIPSIS}"
    return words or None
