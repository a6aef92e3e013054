"""Runs: which documents a system ranks for which queries, in arrays."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from ir_outcomes._formatting import plural
from ir_outcomes._types import Floats, Ints
from ir_outcomes.errors import FormatError, IrOutcomesWarning, ParameterError, user_stacklevel
from ir_outcomes.reading.any_file import read_any_file
from ir_outcomes.reading.columns import Columns, grouped, nested_dict
from ir_outcomes.reading.datasets import DATASET_PREFIX, load_part
from ir_outcomes.reading.files import STDIN, name_of
from ir_outcomes.reading.json_files import mteb_selection
from ir_outcomes.reading.keys import Ids, repeated
from ir_outcomes.reading.layouts import RUN, RUN_BY_RANK
from ir_outcomes.reading.python_objects import columns_of, name_within

__all__ = ["Run", "as_run", "read_run", "run_and_warnings"]


@dataclass(frozen=True, eq=False)
class Run:
    """A checked run: no document twice in a query, no NaN score.

    Attributes
    ----------
    name : str
        What results call it.
    query_ids : tuple of str
        Its queries, in order of first appearance.
    offsets : (n_queries + 1,) int64 array
        The rows of query i are ``offsets[i]:offsets[i + 1]``, in the input's order.
    docids : (n,) bytes array
        Document ids in UTF-8.
    scores : (n,) float64 array
        Higher is ranked first.
    by_rank : bool
        Whether the order is that of a rank column or of a list; `scores` are then the negated ranks, without ties.
    metadata : str
        The text of the file's ir_metadata header without its comment signs, which is YAML; empty where there is none.
    """

    name: str
    query_ids: tuple[str, ...]
    offsets: Ints
    docids: Ids
    scores: Floats
    by_rank: bool = False
    metadata: str = ""

    def __len__(self) -> int:
        return len(self.docids)

    def __repr__(self) -> str:
        return f"Run({self.name!r}, {plural('query', len(self.query_ids))}, {plural('document', len(self))})"

    def to_dict(self) -> dict[str, dict[str, float]]:
        """Return ``{query id: {document id: score}}``, as pytrec_eval and ir_measures take it."""
        return nested_dict(self.query_ids, self.offsets, self.docids, self.scores)

    def take(self, rows: npt.NDArray[np.intp]) -> Run:
        """Return the run that holds only these rows; they must be in ascending order."""
        offsets = np.searchsorted(rows, self.offsets).astype(np.int64)
        return replace(self, offsets=offsets, docids=self.docids[rows], scores=self.scores[rows])


def read_run(path: str | os.PathLike[str], *, by: Literal["score", "rank"] = "score", name: str | None = None) -> Run:
    r"""Read a file of a run.

    The content decides what the file is, not its name. It may be compressed (gzip, bzip2, xz, lz4, zstd) and be any of

    - TREC's six columns, separated by any white space, with or without an ir_metadata header (see `Run.metadata`);
    - MS MARCO's three columns (query, document, rank);
    - CSV or TSV with a header, or Parquet, with the columns ``query_id`` (or ``qid``, ``q_id``, ``query-id``), ``doc_id`` (or
      ``docno``, ``docid``, ``corpus-id``), and ``score`` or ``rank``;
    - JSON lines: objects with such names, or with a query and a list of documents (``doc_ids``, ``docids``, ``docnos``,
      ``ranking``), the best first;
    - a JSON document ``{query: {document: score}}`` or ``{query: [document, ...]}``;
    - the predictions that MTEB writes (``{Task}_predictions.json``).

    Parameters
    ----------
    path : path
        The file; ``-`` is standard input. Where predictions of MTEB contain several subsets or splits,
        ``"path#subset/split"`` selects one. They still contain each query's own document; it is left out, with a warning.
    by : {"score", "rank"}
        What orders the documents of a query: the score (higher first), or the rank column (lower first). Input without scores
        is always ordered by rank.
    name : str, optional
        What to call the run; by default the file name without the endings that say its format, and for predictions of MTEB the
        model's name.

    Raises
    ------
    UnreadableFile
        If the file is missing, truncated or cannot be decompressed.
    FormatError
        If a line is malformed, a score is not a number, or a document or rank is repeated within a query.
    MissingDependency
        If it is a Parquet file and neither pyarrow nor pandas can read it.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "bm25.run")
    >>> _ = path.write_text("q1 Q0 d2 1 14.5 bm25\nq1 Q0 d1 2 13.0 bm25\n")
    >>> read_run(path)
    Run('bm25', 1 query, 2 documents)
    """
    run, messages = run_and_warnings(path, by=by, name=name)
    for message in messages:
        warnings.warn(message, IrOutcomesWarning, stacklevel=user_stacklevel())
    return run


def run_and_warnings(
    path: str | os.PathLike[str], *, by: Literal["score", "rank"] = "score", name: str | None = None
) -> tuple[Run, tuple[str, ...]]:
    """Read a file of a run as `read_run` does, and return its warnings, which another process could not show."""
    if by not in ("score", "rank"):
        raise ParameterError(f"by={by!r}: must be 'score' or 'rank'")
    _check_name(name)
    content = read_any_file(path, RUN if by == "score" else RUN_BY_RANK)
    if by == "rank" and content.columns.value_name != "rank":
        raise FormatError(content.columns.source, "contains scores and no ranks; leave by='rank' out")
    run = _checked(content.columns, name or content.name or _name_of_file(path))
    return replace(run, metadata=content.metadata), tuple(content.warnings)


def as_run(run: Any, name: str | None = None) -> Run:
    """Take a run in any form that users have.

    Parameters
    ----------
    run : Run, path, str, dict, frame or iterable
        A `Run`; a path, see `read_run`; ``"irds:<dataset id>"`` for an ir_datasets collection's own ranking;
        ``{query: {document: score}}``; ``{query: [document, ...]}``, the best first; a data frame, or any object with an Arrow
        stream, with the columns of ir_measures (``query_id, doc_id, score``) or PyTerrier (``qid, docno, score``), or with
        ``rank`` in place of ``score``; an iterable of `ir_measures.ScoredDoc`.
    name : str, optional
        What to call it.

    Raises
    ------
    InputError
        If it cannot be read; see `read_run`.
    ParameterError
        If the name is not text.
    """
    _check_name(name)
    if isinstance(run, Run):
        return run
    if isinstance(run, str) and run.startswith(DATASET_PREFIX):
        return _checked(columns_of(load_part(run, "scoreddocs"), run, RUN), name or run)
    if isinstance(run, (str, os.PathLike)):
        return read_run(run, name=name)
    name = name or name_within(run)
    return _checked(columns_of(run, name or "the run", RUN), name or "run")


def _check_name(name: Any) -> None:
    if name is not None and not isinstance(name, str):
        raise ParameterError(f"name={name!r}: a name must be text")


def _name_of_file(path: str | os.PathLike[str]) -> str:
    file, _ = mteb_selection(os.fspath(path))
    return "stdin" if file == STDIN else name_of(file)


def _checked(columns: Columns, name: str) -> Run:
    by_rank = columns.value_name == "rank"
    again, _ = repeated(columns.codes, columns.docids)
    if len(again):
        row = int(again[0])
        query, document = columns.query_ids[columns.codes[row]], columns.docids[row].decode()
        raise columns.error(row, f"document {document} is ranked twice for query {query}; keep only its best line")
    if by_rank:
        _check_ranks(columns)
    offsets, docids, values = grouped(columns)
    return Run(name, tuple(columns.query_ids), offsets, docids, -values if by_rank else values, by_rank)


def _check_ranks(columns: Columns) -> None:
    wrong = np.flatnonzero(~(np.isfinite(columns.values) & (columns.values == np.floor(columns.values))))
    if len(wrong):
        row = int(wrong[0])
        raise columns.error(row, f"{columns.named(row)}: a rank must be a whole number", str(columns.values[row]))
    order = np.lexsort((columns.values, columns.codes))
    codes, ranks = columns.codes[order], columns.values[order]
    same = np.flatnonzero((codes[1:] == codes[:-1]) & (ranks[1:] == ranks[:-1]))
    if len(same):
        row = int(order[same[0] + 1])
        query = columns.query_ids[columns.codes[row]]
        problem = f"rank {columns.values[row]:.0f} is given twice for query {query}; a rank must occur only once"
        raise columns.error(row, problem)
