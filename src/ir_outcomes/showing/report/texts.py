"""Texts of documents, as far as they are known: from JSON lines, a mapping, or a dataset that is on this machine."""

from __future__ import annotations

import json
import os
from collections.abc import Collection, Mapping
from typing import Any

from ir_outcomes.errors import FormatError
from ir_outcomes.reading.files import lines_of
from ir_outcomes.reading.formats import texts_in

__all__ = ["LENGTH", "texts_of_documents"]

LENGTH = 280  # characters of a document that are shown
_ID_FIELDS = ("doc_id", "docno", "docid", "_id", "id")

Documents = Mapping[str, str] | str | os.PathLike[str] | None


def texts_of_documents(documents: Documents, wanted: Collection[str], collection: str) -> dict[str, str]:
    """Return the first words of documents, by their ids; those that are not known are left out."""
    if documents is None:
        found = _of_dataset(collection, wanted)
    elif isinstance(documents, Mapping):
        found = {identifier: documents[identifier] for identifier in wanted if identifier in documents}
    else:
        found = _of_file(documents, wanted)
    return {identifier: _first_words(text) for identifier, text in found.items() if text}


def _of_file(path: str | os.PathLike[str], wanted: Collection[str]) -> dict[str, str]:
    if passages := texts_in(path).documents:  # of a run or qrels that has them
        return {identifier: passages[identifier] for identifier in wanted if identifier in passages}
    found = {}
    for number, line in lines_of(path):
        if not line.strip():
            continue
        try:
            document = json.loads(line)
            ids = [document[field] for field in _ID_FIELDS if type(document.get(field)) in (str, int)]
        except (ValueError, RecursionError, AttributeError):
            ids = []
        if not ids:
            problem = 'is not a document; each line must be JSON such as {"doc_id": "d1", "title": "...", "text": "..."}'
            raise FormatError(os.fsdecode(path), problem, line=number, text=line)
        if str(ids[0]) in wanted:
            parts = (document.get(field) for field in ("title", "text"))
            found[str(ids[0])] = ". ".join(part.strip() for part in parts if isinstance(part, str) and part.strip())
    return found


def _of_dataset(collection: str, wanted: Collection[str]) -> dict[str, str]:
    """Read documents of an ir_datasets id, if its documents and their index are on this machine."""
    import ir_datasets

    if collection not in ir_datasets.registry:
        return {}
    dataset = ir_datasets.load(collection)
    store: Any = dataset.docs_store() if dataset.has_docs() else None
    if not (hasattr(store, "built") and store.built()):
        return {}
    return {identifier: _text_of_entry(document) for identifier, document in store.get_many(list(wanted)).items()}


def _text_of_entry(document: Any) -> str:
    """Return what a document of ir_datasets says, whatever its fields are called."""
    if hasattr(document, "default_text"):
        return str(document.default_text())
    return " ".join(value for field, value in document._asdict().items() if field != "doc_id" and isinstance(value, str))


def _first_words(text: str) -> str:
    """Shorten a text to whole words."""
    words = " ".join(text[: 4 * LENGTH].split())
    return words if len(words) <= LENGTH else f"{words[: LENGTH - 2].rpartition(' ')[0] or words[: LENGTH - 2]} \u2026"
