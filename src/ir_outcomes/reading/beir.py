"""Folders of BEIR datasets: ``corpus.jsonl``, ``queries.jsonl`` and ``qrels/{train,dev,test}.tsv``."""

from __future__ import annotations

import json
import os

from ir_outcomes.errors import FormatError, UnreadableFile
from ir_outcomes.reading.files import blocks
from ir_outcomes.reading.lines import check_bytes, nonblank, shown

__all__ = ["beir_qrels_path", "beir_texts"]


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
    path = os.path.join(os.fspath(folder), "queries.jsonl")
    if not os.path.exists(path) and os.path.exists(f"{path}.gz"):
        path += ".gz"
    texts: dict[str, str] = {}
    for block in blocks(path):
        check_bytes(block, path)
        for number, line in nonblank(block):
            try:
                record = json.loads(line)
                identifier, text = record["_id"], record["text"]
            except (ValueError, LookupError, TypeError, RecursionError):
                identifier = text = None
            if not isinstance(identifier, str) or not isinstance(text, str):
                problem = 'is not an object with text for "_id" and "text"; correct or remove the line'
                raise FormatError(path, problem, line=number, text=shown([line.strip()]))
            if identifier in texts:
                raise FormatError(path, "repeats a query id; remove one of the lines", line=number, text=identifier)
            texts[identifier] = text
    return texts
