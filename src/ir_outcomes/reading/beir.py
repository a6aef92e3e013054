"""Folders of BEIR datasets, ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/{train,dev,test}.tsv``; and texts of queries."""

from __future__ import annotations

import json
import os

from ir_outcomes.errors import FormatError, UnreadableFile
from ir_outcomes.reading.files import blocks, read_texts
from ir_outcomes.reading.json_files import without_repeated_names
from ir_outcomes.reading.lines import check_bytes, nonblank, shown

__all__ = ["beir_qrels_path", "beir_texts", "has_beir_texts", "query_texts"]

_ID_NAMES = ("_id", "query_id", "qid")
_TEXT_NAMES = ("text", "query")


def beir_qrels_path(folder: str | os.PathLike[str]) -> str:
    """Find the qrels of a BEIR dataset: those of the test split, or the only ones.

    Parameters
    ----------
    folder : path
        The folder of the dataset, or its ``qrels`` folder.

    Raises
    ------
    UnreadableFile
        If it contains no qrels, or only those of several other splits.
    """
    path = os.fspath(folder)
    within = os.path.join(path, "qrels")
    place = within if os.path.isdir(within) else path
    found = sorted(name for name in os.listdir(place) if name.endswith(".tsv"))
    if "test.tsv" in found:
        return os.path.join(place, "test.tsv")
    if len(found) == 1:
        return os.path.join(place, found[0])
    if found:
        choices = ", ".join(os.path.join(place, name) for name in found)
        raise UnreadableFile(f"{path}: has no qrels/test.tsv, but several other splits; name the file itself: {choices}")
    raise UnreadableFile(f"{path}: a directory, not a file; as qrels, a directory must be a BEIR dataset with qrels/test.tsv")


def beir_texts(folder: str | os.PathLike[str]) -> dict[str, str]:
    """Read the texts of the queries of a BEIR dataset.

    Parameters
    ----------
    folder : path
        The folder of the dataset, which contains ``queries.jsonl`` (or a compressed ``queries.jsonl.gz``).

    Returns
    -------
    dict of str to str
        The text of each query, by its id.

    Raises
    ------
    UnreadableFile
        If there is no such file.
    FormatError
        If a line is not an object with ``_id`` and ``text``, or an id is repeated.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "queries.jsonl").write_text('{"_id": "q1", "text": "do lemons float"}')
    >>> beir_texts(folder)
    {'q1': 'do lemons float'}
    """
    return _texts_of_json_lines(_queries_file(folder))


def has_beir_texts(folder: str | os.PathLike[str]) -> bool:
    """Tell whether this is the folder of a BEIR dataset with the texts of its queries."""
    return os.path.exists(_queries_file(folder))


def query_texts(source: str | os.PathLike[str]) -> dict[str, str]:
    """Read the texts of queries: the folder of a BEIR dataset, JSON lines, or lines with an id, a tab and the text.

    JSON lines have ``_id``, ``query_id`` or ``qid``, and ``text`` or ``query``.

    Raises
    ------
    UnreadableFile
        If there is no such file.
    FormatError
        If a line is malformed, or an id is repeated.
    """
    if os.path.isdir(source):
        return beir_texts(source)
    first = next((block.data.lstrip() for block in blocks(source) if block.data.strip()), b"")
    return _texts_of_json_lines(os.fspath(source)) if first.startswith(b"{") else read_texts(source)


def _queries_file(folder: str | os.PathLike[str]) -> str:
    path = os.path.join(os.fspath(folder), "queries.jsonl")
    compressed = f"{path}.gz"
    return compressed if os.path.exists(compressed) and not os.path.exists(path) else path


def _texts_of_json_lines(path: str) -> dict[str, str]:
    texts: dict[str, str] = {}
    for block in blocks(path):
        check_bytes(block, path)
        for number, line in nonblank(block):
            try:
                record = json.loads(line, object_pairs_hook=without_repeated_names)
                identifier = next(record[name] for name in _ID_NAMES if name in record)
                text = next(record[name] for name in _TEXT_NAMES if name in record)
            except (ValueError, LookupError, TypeError, StopIteration, RecursionError):
                identifier = text = None
            if not isinstance(identifier, str) or not isinstance(text, str):
                problem = 'is not an object with text for "_id" and "text"; correct or remove the line'
                raise FormatError(path, problem, line=number, text=shown([line.strip()]))
            if identifier in texts:
                raise FormatError(path, "repeats a query id; remove one of the lines", line=number, text=identifier)
            texts[identifier] = text
    return texts
