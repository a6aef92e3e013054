"""Qrels: which documents are judged for which queries, and how relevant they are, in arrays."""

from __future__ import annotations

import hashlib
import os
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import FormatError, IrOutcomesWarning
from ir_outcomes.reading.datasets import is_dataset_id, load_part, nearest_ids
from ir_outcomes.reading.files import name_of
from ir_outcomes.reading.keys import Codes, Ids, repeated
from ir_outcomes.reading.lines import TREC_QRELS, find_line, read_columns
from ir_outcomes.reading.tables import Columns, columns_of, grouped

__all__ = ["Qrels", "as_qrels", "read_qrels"]


@dataclass(frozen=True, eq=False)
class Qrels:
    """Checked relevance judgments.

    Attributes
    ----------
    name : str
        How tables call them.
    query_ids : tuple of str
        All queries, in order of first appearance; also those without a relevant document.
    offsets : (n_queries + 1,) int64 array
        The judgments of query i are ``offsets[i]:offsets[i + 1]``.
    docids : (n,) bytes array
        Judged documents, UTF-8.
    grades : (n,) int64 array
        Higher is more relevant; negative means in the pool but not judged, as in trec_eval.
    """

    name: str
    query_ids: tuple[str, ...]
    offsets: npt.NDArray[np.int64]
    docids: Ids
    grades: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.docids)

    def __repr__(self) -> str:
        return f"Qrels({self.name!r}, {len(self.query_ids)} queries, {len(self)} judgments)"

    @cached_property
    def codes(self) -> Codes:
        """(n,) int32 array: the query of each judgment."""
        return np.repeat(np.arange(len(self.query_ids), dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def digest(self) -> str:
        """A hash of the content, by which tables made from the same judgments are told."""
        content = hashlib.sha256("\n".join(self.query_ids).encode())
        for array in (self.offsets, self.docids, self.grades):
            content.update(array.tobytes())
        return content.hexdigest()[:32]

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return ``{query id: {document id: grade}}``, as pytrec_eval and ir_measures take it."""
        documents, grades = [each.decode() for each in self.docids.tolist()], self.grades.tolist()
        offsets = self.offsets.tolist()
        return {
            query: dict(zip(documents[start:end], grades[start:end], strict=True))
            for query, start, end in zip(self.query_ids, offsets[:-1], offsets[1:], strict=True)
        }


def read_qrels(path: str | os.PathLike[str], *, name: str | None = None) -> Qrels:
    r"""Read a TREC qrels file: query, iteration, document, grade.

    Columns are separated by any white space; the file may be compressed, which its content tells.

    Parameters
    ----------
    path : path
        The file.
    name : str, optional
        What to call the qrels; by default the file name without the endings that say its format.

    Raises
    ------
    UnreadableFile
        If the file is missing, truncated or cannot be decompressed.
    FormatError
        If a line is malformed, a grade is not a whole number, or a document has two different grades for a query.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "dev.qrels")
    >>> _ = path.write_text("q1 0 d1 1\nq2 0 d7 1\n")
    >>> read_qrels(path)
    Qrels('dev', 2 queries, 2 judgments)
    """
    columns, _ = read_columns(path, (TREC_QRELS,))
    return _checked(columns, name or name_of(path), path)


def as_qrels(qrels: Any, name: str | None = None) -> Qrels:
    """Take qrels in any form users have them in.

    Parameters
    ----------
    qrels : Qrels, path, str, dict, frame or iterable
        A `Qrels`; a path, or where no such file exists an ir_datasets id; ``{query: {document: grade}}``; a data frame with
        ir_measures' (``query_id, doc_id, relevance``) or PyTerrier's (``qid, docno, label``) columns; an iterable of
        `ir_measures.Qrel`.
    name : str, optional
        What to call them.

    Raises
    ------
    InputError
        If they cannot be read; see `read_qrels`.
    """
    if isinstance(qrels, Qrels):
        return qrels
    if isinstance(qrels, str) and not os.path.exists(qrels):
        is_path = os.path.isdir(os.path.dirname(qrels) or ".") and "/" in qrels
        if is_dataset_id(qrels) or (not is_path and nearest_ids(qrels)):
            return _checked(columns_of(load_part(qrels, "qrels"), qrels, _GRADE_NAMES), name or qrels)
    if isinstance(qrels, (str, os.PathLike)):
        return read_qrels(qrels, name=name)
    return _checked(columns_of(qrels, name or "the qrels", _GRADE_NAMES), name or "qrels")


_LARGEST_GRADE = 1_000_000_000
_GRADE_NAMES = ("relevance", "label", "rel")


def _checked(columns: Columns, name: str, path: str | os.PathLike[str] | None = None) -> Qrels:
    if not columns.query_ids:
        raise FormatError(columns.source, "hold no judgment; nothing can be evaluated with them")
    wrong = columns.values[~((np.floor(columns.values) == columns.values) & (np.abs(columns.values) <= _LARGEST_GRADE))]
    if len(wrong):
        raise FormatError(columns.source, f"a grade must be a whole number of at most {_LARGEST_GRADE:,}", text=str(wrong[0]))
    again, firsts = repeated(columns.codes, columns.docids)
    if len(again):
        columns = _without_repetitions(columns, again, firsts, path)
    table = grouped(columns)
    return Qrels(name, table.query_ids, table.offsets, table.docids, table.values.astype(np.int64))


def _without_repetitions(
    columns: Columns, again: npt.NDArray[np.intp], firsts: npt.NDArray[np.intp], path: str | os.PathLike[str] | None
) -> Columns:
    """Drop rows that repeat the judgment of an earlier one, with a warning; refuse those that contradict it."""
    wrong = np.flatnonzero(columns.values[again] != columns.values[firsts])
    if len(wrong):
        row, original = again[wrong[0]], firsts[wrong[0]]
        query, document = columns.query_ids[columns.codes[row]], columns.docids[row].decode()
        nth = 1 + int(np.count_nonzero(firsts[: wrong[0]] == original))
        raise FormatError(
            columns.source,
            f"document {document} has two grades for query {query}, {columns.values[original]:.0f} and "
            f"{columns.values[row]:.0f}; keep one",
            line=None if path is None else find_line(path, TREC_QRELS, query, document, nth=nth),
        )
    warnings.warn(
        f"{columns.source}: {len(again)} judgments stand there more than once, with the same grade; counted once",
        IrOutcomesWarning,
        stacklevel=4,
    )
    keep = np.ones(len(columns.codes), dtype=bool)
    keep[again] = False
    return Columns(columns.source, columns.query_ids, columns.codes[keep], columns.docids[keep], columns.values[keep])
