"""The first words of documents, from a mapping, a file, or the dataset."""

import json
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from ir_outcomes.errors import FormatError
from ir_outcomes.reading.files import lines_of
from ir_outcomes.reading.formats import texts_in

LENGTH = 600  # characters
ID_FIELDS = ("doc_id", "docno", "docid", "_id", "id")
EXAMPLE = '{"doc_id": "d1", "title": "...", "text": "..."}'

Texts = Mapping[str, str] | str | os.PathLike[str] | None
FirstWords = Callable[
    [Sequence[str]], list[str | None]
]  # of documents by their ids, None where unknown


def document_texts(source: Texts, wanted: Collection[str], collection: str) -> FirstWords:
    """Return what gives the first words of documents, by default those of the dataset."""
    if source is None:
        return _of_dataset(collection)
    texts = source if isinstance(source, Mapping) else texts_in(source).documents
    if not isinstance(source, Mapping) and not texts:
        texts = _of_file(source, wanted)
    return lambda names: [_first_words(texts.get(name)) for name in names]


def _of_file(path: str | os.PathLike[str], wanted: Collection[str]) -> dict[str, str]:
    texts = {}
    for number, line in lines_of(path):
        try:
            document = json.loads(line)
            values = (document.get(field) for field in ID_FIELDS)
            name = next(str(value) for value in values if type(value) in (str, int))
        except (ValueError, RecursionError, AttributeError, StopIteration):
            problem = f"is not a document; each line must be JSON such as {EXAMPLE}"
            raise FormatError(os.fsdecode(path), problem, line=number, text=line) from None
        if name in wanted:
            parts = [document.get(field) for field in ("title", "text")]
            stripped = (part.strip() for part in parts if isinstance(part, str))
            texts[name] = ". ".join(filter(None, stripped))
    return texts


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
    words = " ".join((text or "")[: 4 * LENGTH].split())
    if len(words) > LENGTH:
        start = words[: LENGTH - 2]
        words = f"{start.rpartition(' ')[0] or start} \N{HORIZONTAL ELLIPSIS}"
    return words or None
