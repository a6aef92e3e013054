"""Read and check qrels."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import FormatError, UnreadableFile, warn
from ir_outcomes.formatting import plural
from ir_outcomes.reading.columns import Codes, Columns, Ids, digest_of, grouped, nested_dict, repeated
from ir_outcomes.reading.datasets import is_dataset_id, load_part, nearest_ids
from ir_outcomes.reading.files import STDIN, blocks, check_bytes, name_of, nonblank, read_texts
from ir_outcomes.reading.formats import QRELS, columns_of, parsed_json, read_any_file, texts_in
from ir_outcomes.reading.text import shown
from ir_outcomes.types import Ints

_ID_NAMES = ("_id", "query_id", "qid")
_TEXT_NAMES = ("text", "query")


def beir_qrels_path(folder: str | os.PathLike[str]) -> str:
    """Find the qrels of a BEIR dataset: those of the test split, or the only ones."""
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


def query_texts(source: str | os.PathLike[str], names: tuple[str, ...] = _TEXT_NAMES) -> dict[str, str]:
    """Read the texts of queries: the folder of a BEIR dataset, JSON lines, or lines with an id, a tab and the text."""
    if os.path.isdir(source):
        return beir_texts(source)
    if names == _TEXT_NAMES and (found := texts_in(source).queries):  # of a run or qrels that has them
        return found
    first = next((block.data.lstrip() for block in blocks(source) if block.data.strip()), b"")
    return _texts_of_json_lines(os.fspath(source), names) if first.startswith(b"{") else read_texts(source, names[0])


def _queries_file(folder: str | os.PathLike[str]) -> str:
    path = os.path.join(os.fspath(folder), "queries.jsonl")
    compressed = f"{path}.gz"
    return compressed if os.path.exists(compressed) and not os.path.exists(path) else path


def _texts_of_json_lines(path: str, names: tuple[str, ...] = _TEXT_NAMES) -> dict[str, str]:
    texts: dict[str, str] = {}
    for block in blocks(path):
        check_bytes(block, path)
        for number, line in nonblank(block):
            try:
                record = parsed_json(line.decode(), path, number)
                identifier = next(record[name] for name in _ID_NAMES if name in record)
                text = next(record[name] for name in names if name in record)
            except (FormatError, LookupError, TypeError, StopIteration):
                identifier = text = None
            if not isinstance(identifier, str) or not isinstance(text, str):
                problem = f'is not an object with text for "_id" and "{names[0]}"; correct or remove the line'
                raise FormatError(path, problem, line=number, text=shown([line.strip()]))
            if identifier in texts:
                raise FormatError(path, "repeats a query id; remove one of the lines", line=number, text=identifier)
            texts[identifier] = text
    return texts


@dataclass(frozen=True, eq=False)
class Qrels:
    """Checked relevance judgments.

    Attributes
    ----------
    name : str
        What results call them.
    query_ids : tuple of str
        All queries, in order of first appearance; also those without a relevant document.
    offsets : (n_queries + 1,) int64 array
        The judgments of query i are ``offsets[i]:offsets[i + 1]``.
    docids : (n,) bytes array
        Judged documents, UTF-8.
    grades : (n,) int64 array
        Higher is more relevant; negative means in the pool but not judged, as in trec_eval.
    texts : mapping of str to str
        The texts of queries, where the file has them.
    """

    name: str
    query_ids: tuple[str, ...]
    offsets: Ints
    docids: Ids
    grades: Ints
    texts: Mapping[str, str] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.docids)

    def __repr__(self) -> str:
        return f"Qrels({self.name!r}, {plural('query', len(self.query_ids))}, {plural('judgment', len(self))})"

    @cached_property
    def codes(self) -> Codes:
        """(n,) int32 array: the query of each judgment."""
        return np.repeat(np.arange(len(self.query_ids), dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def digest(self) -> str:
        """A hash of the content; equal where results were made from the same judgments."""
        return digest_of(self.query_ids, self.offsets, self.docids, self.grades)

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return ``{query id: {document id: grade}}``, as pytrec_eval and ir_measures take it."""
        return nested_dict(self.query_ids, self.offsets, self.docids, self.grades)


def read_qrels(path: str | os.PathLike[str], *, name: str | None = None) -> Qrels:
    r"""Read qrels from a file or from the folder of a BEIR dataset.

    The content decides what the file is, not its name. It may be compressed (gzip, bzip2, xz, lz4, zstd) and be any of

    - TREC's four columns (query, iteration, document, grade), separated by any white space;
    - the qrels of BEIR and MTEB, with the header ``query-id, corpus-id, score``;
    - CSV or TSV with a header, or Parquet, with the columns ``query_id`` (or ``qid``, ``q_id``), ``doc_id`` (or ``docno``,
      ``docid``), and ``relevance`` (or ``label``, ``rel``, ``grade``);
    - JSON lines with such names, or a JSON document ``{query: {document: grade}}``.

    Parameters
    ----------
    path : path
        The file; ``-`` is standard input. For the folder of a BEIR dataset, ``qrels/test.tsv`` is read.
    name : str, optional
        What to call the qrels; by default the file name without the endings that say its format, or the name of the folder.

    Raises
    ------
    UnreadableFile
        If the file is missing, truncated or cannot be decompressed.
    FormatError
        If a line is malformed, a grade is not a whole number, or a document has two different grades for a query.
    MissingDependency
        If it is a Parquet file and neither pyarrow nor pandas can read it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "dev.qrels")
    >>> _ = path.write_text("q1 0 d1 1\nq2 0 d7 1\n")
    >>> read_qrels(path)
    Qrels('dev', 2 queries, 2 judgments)
    """
    is_folder = os.path.isdir(path)
    file = beir_qrels_path(path) if is_folder else path
    content = read_any_file(file, QRELS)
    default = os.path.basename(os.path.abspath(path)) if is_folder else "stdin" if path == STDIN else name_of(path)
    qrels = _checked(content.columns, name or os.fsencode(default).decode("utf-8", "backslashreplace"))
    texts = beir_texts(path) if is_folder and os.path.exists(_queries_file(path)) else content.texts.queries
    return replace(qrels, texts=texts)


def as_qrels(qrels: Any, name: str | None = None) -> Qrels:
    """Take qrels in any form that users have.

    Parameters
    ----------
    qrels : Qrels, path, str, dict, frame or iterable
        A `Qrels`; a path, see `read_qrels`, or where no such file exists an ir_datasets id; ``{query: {document: grade}}``; a
        data frame, or any object with an Arrow stream, with the columns of ir_measures (``query_id, doc_id, relevance``),
        PyTerrier (``qid, docno, label``) or BEIR (``query-id, corpus-id, score``); an iterable of `ir_measures.Qrel`.
    name : str, optional
        What to call them.

    Raises
    ------
    InputError
        If they cannot be read; see `read_qrels`.
    """
    if isinstance(qrels, Qrels):
        return qrels
    source, default = name or "the qrels", "qrels"
    if isinstance(qrels, str) and qrels != STDIN and not os.path.exists(qrels):
        is_path = os.path.isdir(os.path.dirname(qrels) or ".") and "/" in qrels
        if is_dataset_id(qrels) or (not is_path and nearest_ids(qrels)):
            source = default = qrels
            qrels = load_part(qrels, "qrels")
    if isinstance(qrels, (str, os.PathLike)):
        return read_qrels(qrels, name=name)
    return _checked(columns_of(qrels, source, QRELS), name or default)


_LARGEST_GRADE = 1_000_000_000


def _checked(columns: Columns, name: str) -> Qrels:
    if not columns.query_ids:
        raise FormatError(columns.source, "contains no judgments; nothing can be evaluated with them")
    wrong = np.flatnonzero(~((np.floor(columns.values) == columns.values) & (np.abs(columns.values) <= _LARGEST_GRADE)))
    if len(wrong):
        row = int(wrong[0])
        problem = (
            f"{columns.named(row)}: a grade must be a whole number of at most {_LARGEST_GRADE:,}; if these are the scores of a "
            "run, the arguments were swapped"
        )
        raise columns.error(row, problem, str(columns.values[row]))
    again, firsts = repeated(columns.codes, columns.docids)
    if len(again):
        columns = _without_repetitions(columns, again, firsts)
    offsets, docids, values = grouped(columns)
    return Qrels(name, tuple(columns.query_ids), offsets, docids, values.astype(np.int64))


def _without_repetitions(columns: Columns, again: npt.NDArray[np.intp], firsts: npt.NDArray[np.intp]) -> Columns:
    """Remove judgments that repeat earlier ones, with a warning; refuse those that contradict them."""
    wrong = np.flatnonzero(columns.values[again] != columns.values[firsts])
    if len(wrong):
        row, original = int(again[wrong[0]]), int(firsts[wrong[0]])
        query, document = columns.query_ids[columns.codes[row]], columns.docids[row].decode()
        grades = f"{columns.values[original]:.0f} and {columns.values[row]:.0f}"
        raise columns.error(row, f"document {document} has two grades for query {query}, {grades}; keep one")
    warn(f"{columns.source}: {plural('judgment', len(again))} repeated with the same grade and counted once")
    keep = np.ones(len(columns.codes), dtype=bool)
    keep[again] = False
    return columns.select(keep)
