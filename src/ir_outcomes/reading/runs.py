"""Runs: which documents a system ranks for which queries, in arrays."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import FormatError, ParameterError
from ir_outcomes.reading.datasets import DATASET_PREFIX, load_part
from ir_outcomes.reading.files import name_of
from ir_outcomes.reading.keys import Ids, repeated
from ir_outcomes.reading.lines import MSMARCO_RUN, TREC_RUN, TREC_RUN_BY_RANK, Layout, find_line, read_columns
from ir_outcomes.reading.tables import Columns, columns_of, grouped, name_within

__all__ = ["Run", "as_run", "read_run"]


@dataclass(frozen=True, eq=False)
class Run:
    """A checked run: no document twice in a query, no NaN score.

    Attributes
    ----------
    name : str
        How tables call it.
    query_ids : tuple of str
        Its queries, in order of first appearance.
    offsets : (n_queries + 1,) int64 array
        The rows of query i are ``offsets[i]:offsets[i + 1]``, in the input's order.
    docids : (n,) bytes array
        Document ids in UTF-8.
    scores : (n,) float64 array
        Higher is ranked first.
    by_rank : bool
        Whether the order is that of a rank column; `scores` are then the negated ranks, without ties.
    """

    name: str
    query_ids: tuple[str, ...]
    offsets: npt.NDArray[np.int64]
    docids: Ids
    scores: npt.NDArray[np.float64]
    by_rank: bool = False

    def __len__(self) -> int:
        return len(self.docids)

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {len(self.query_ids)} queries, {len(self)} documents)"

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{query id: {document id: score}}``, as pytrec_eval and ir_measures take it."""
        documents = [each.decode() for each in self.docids.tolist()]
        scores = self.scores.tolist()
        return {query: dict(zip(documents[start:end], scores[start:end], strict=True)) for query, start, end in self._spans()}

    def take(self, rows: npt.NDArray[np.intp]) -> Run:
        """Return the run that holds only these rows; they must be in ascending order."""
        offsets = np.searchsorted(rows, self.offsets).astype(np.int64)
        return Run(self.name, self.query_ids, offsets, self.docids[rows], self.scores[rows], self.by_rank)

    def _spans(self) -> Iterator[tuple[str, int, int]]:
        offsets = self.offsets.tolist()
        return zip(self.query_ids, offsets[:-1], offsets[1:], strict=True)


def read_run(path: str | os.PathLike[str], *, by: Literal["score", "rank"] = "score", name: str | None = None) -> Run:
    r"""Read a run file: TREC's six columns, or MS MARCO's three.

    Columns are separated by any white space; the file may be compressed (gzip, bzip2, xz, lz4, zstd), which its
    content tells, not its name.

    Parameters
    ----------
    path : path
        The file.
    by : {"score", "rank"}
        What orders the documents of a query: the score (higher first), or the rank column (lower first). MS MARCO's
        three columns hold no score and are always ordered by rank.
    name : str, optional
        What to call the run; by default the file name without the endings that say its format.

    Raises
    ------
    UnreadableFile
        If the file is missing, truncated or cannot be decompressed.
    FormatError
        If a line is malformed, a score is no number, or a document or rank is repeated within a query.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "bm25.run")
    >>> _ = path.write_text("q1 Q0 d2 1 14.5 bm25\nq1 Q0 d1 2 13.0 bm25\n")
    >>> read_run(path)
    Run('bm25', 1 queries, 2 documents)
    """
    if by not in ("score", "rank"):
        raise ParameterError(f"by={by!r}: must be 'score' or 'rank'")
    columns, layout = read_columns(path, (TREC_RUN if by == "score" else TREC_RUN_BY_RANK, MSMARCO_RUN))
    return _checked(columns, name or name_of(path), path=path, layout=layout)


def as_run(run: Any, name: str | None = None) -> Run:
    """Take a run in any form users have one in.

    Parameters
    ----------
    run : Run, path, str, dict, frame or iterable
        A `Run`; a path; ``"irds:<dataset id>"`` for an ir_datasets collection's own ranking; ``{query: {document: score}}``;
        a data frame with ir_measures' (``query_id, doc_id, score``) or PyTerrier's (``qid, docno, score``) columns; an
        iterable of `ir_measures.ScoredDoc`.
    name : str, optional
        What to call it.

    Raises
    ------
    InputError
        If it cannot be read; see `read_run`.
    """
    if isinstance(run, Run):
        return run
    if isinstance(run, str) and run.startswith(DATASET_PREFIX):
        return _checked(columns_of(load_part(run, "scoreddocs"), run, ("score",)), name or run)
    if isinstance(run, (str, os.PathLike)):
        return read_run(run, name=name)
    name = name or name_within(run)
    return _checked(columns_of(run, name or "the run", ("score",)), name or "run")


def _checked(columns: Columns, name: str, path: str | os.PathLike[str] | None = None, layout: Layout | None = None) -> Run:
    by_rank = layout is not None and layout.value_name == "rank"
    again, _ = repeated(columns.codes, columns.docids)
    if len(again):
        query, document = columns.query_ids[columns.codes[again[0]]], columns.docids[again[0]].decode()
        raise FormatError(
            columns.source,
            f"document {document} is ranked twice for query {query}; keep only its best line",
            line=find_line(path, layout, query, document, nth=1) if path is not None and layout is not None else None,
        )
    if by_rank and path is not None and layout is not None:
        _refuse_repeated_ranks(columns, path, layout)
    table = grouped(columns)
    scores = -table.values if by_rank else table.values
    return Run(name, table.query_ids, table.offsets, table.docids, scores, by_rank)


def _refuse_repeated_ranks(columns: Columns, path: str | os.PathLike[str], layout: Layout) -> None:
    order = np.lexsort((columns.values, columns.codes))
    codes, ranks = columns.codes[order], columns.values[order]
    same = np.flatnonzero((codes[1:] == codes[:-1]) & (ranks[1:] == ranks[:-1]))
    if len(same):
        row = order[same[0] + 1]
        query, document = columns.query_ids[columns.codes[row]], columns.docids[row].decode()
        raise FormatError(
            columns.source,
            f"rank {columns.values[row]:.0f} is given twice for query {query}; each rank may stand once",
            line=find_line(path, layout, query, document, nth=0),
        )
