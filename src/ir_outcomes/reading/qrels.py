"""Relevance judgments, read and checked."""

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ir_outcomes.arguments import with_checked_methods
from ir_outcomes.choices import Ints
from ir_outcomes.errors import FormatError, UnreadableFile, warn
from ir_outcomes.formatting import plural
from ir_outcomes.reading.columns import (
    Codes,
    Columns,
    Ids,
    Rows,
    digest_of,
    nested_dict,
    repeated,
)
from ir_outcomes.reading.files import name_of
from ir_outcomes.reading.formats import path_and_order, read_any_file
from ir_outcomes.reading.forms import QRELS
from ir_outcomes.reading.objects import columns_of
from ir_outcomes.reading.texts import QUERIES, queries_file, read_texts


@with_checked_methods
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
    form : str
        What the file was; empty where it is none.
    repeated : int
        Judgments that were given again with the same grade, which are counted once.
    """

    name: str
    query_ids: tuple[str, ...]
    offsets: Ints
    docids: Ids
    grades: Ints
    texts: Mapping[str, str] = field(default_factory=dict)
    form: str = ""
    repeated: int = 0

    def __len__(self) -> int:
        return len(self.docids)

    def __repr__(self) -> str:
        return (
            f"Qrels({self.name!r}, {plural('query', len(self.query_ids))},"
            f" {plural('judgment', len(self))})"
        )

    @cached_property
    def codes(self) -> Codes:
        """(n,) int32 array: the query of each judgment."""
        return np.repeat(np.arange(len(self.query_ids), dtype=np.int32), np.diff(self.offsets))

    @cached_property
    def digest(self) -> str:
        """A hash of the content, to tell whether results have the same judgments."""
        return digest_of(self.query_ids, self.offsets, self.docids, self.grades)

    def to_dict(self) -> dict[str, dict[str, int]]:
        """Return ``{query id: {document id: grade}}``, as pytrec_eval takes it."""
        return nested_dict(self.query_ids, self.offsets, self.docids, self.grades)

    def positives_only(self, rel: int) -> bool:
        """Whether every judged document is relevant, as in MS MARCO."""
        judged = self.grades[self.grades >= 0]
        return len(judged) > 0 and int(judged.min()) >= rel

    def for_trec_eval(self) -> "Qrels":
        """Return the same with -1 for every lower grade, which means the same.

        pytrec_eval ends Python (segmentation fault) where the highest grade of a query is below -1.
        """
        return replace(self, grades=np.maximum(self.grades, -1))


def read_qrels(path: str | os.PathLike[str], *, name: str | None = None) -> Qrels:
    r"""Read qrels from a file or from the folder of a BEIR dataset.

    The content decides what the file is, not its name: TREC's four columns, CSV, TSV or Parquet
    with names of columns as those of BEIR, JSON, or what other tools write; the documentation lists
    all forms. It may be compressed.

    Parameters
    ----------
    path : path
        The file; ``-`` is standard input. For the folder of a BEIR dataset, ``qrels/test.tsv`` is
        read.
    name : str, optional
        What to call the qrels; by default the file name without the endings that say its format, or
        the name of the folder.

    Raises
    ------
    InputError
        If the file cannot be read to its end (`UnreadableFile`), a line is malformed, a grade is
        not a whole number, or a document has two different grades for a query (`FormatError`).

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "dev.qrels")
    >>> _ = path.write_text("q1 0 d1 1\nq2 0 d7 1\n")
    >>> read_qrels(path)
    Qrels('dev', 2 queries, 2 judgments)
    """
    return qrels_of(path, name)


def qrels_of(data: Any, name: str | None = None) -> Qrels:
    """Read and check qrels: a path, or an object as `ir_outcomes.as_qrels` takes it."""
    texts: Mapping[str, str] | None = None
    if isinstance(data, (str, os.PathLike)):
        file, _ = path_and_order(os.fspath(data))
        if os.path.isdir(file):
            name = name or name_of(os.path.abspath(file))
            file, queries = _beir_files(file)
            texts = None if queries is None else read_texts(queries, QUERIES)
        columns = read_any_file(file, QRELS)
        name = name or name_of(file)
    else:
        columns = columns_of(data, name or "the qrels", QRELS)
        name = name or "qrels"
    if not columns.query_ids:
        raise FormatError(
            columns.source, "contains no judgments; nothing can be evaluated with them"
        )
    columns.refuse_fractions()
    columns = columns.grouped()
    again = repeated(columns.offsets, columns.docids)
    if len(again):
        _refuse_other_grades(columns, again)
        warn(
            f"{columns.source}: {plural('judgment', len(again))} repeated with the same grade and"
            " counted once"
        )
        columns = columns.select(np.delete(np.arange(len(columns.codes)), again))
    return Qrels(
        name,
        tuple(columns.query_ids),
        columns.offsets,
        columns.docids,
        columns.values.astype(np.int64),
        columns.texts.queries if texts is None else texts,
        columns.form,
        len(again),
    )


def _refuse_other_grades(columns: Columns, again: Rows) -> None:
    """Refuse judgments that were given before with another grade."""
    grade_of: dict[tuple[str, str], float] = {}
    for row in np.flatnonzero(np.isin(columns.codes, columns.codes[again])).tolist():
        grade = columns.values[row]
        query, document = columns.names(row)
        first = grade_of.setdefault((query, document), grade)
        if first != grade:
            grades = f"{first:.0f} and {grade:.0f}"
            problem = f"document {document} has two grades for query {query}, {grades}"
            remedy = "; keep one"
            if columns.form == "TREC":
                remedy = (
                    ". Leave out one line; where the second column holds subtopics, take the"
                    " highest grade: sort -k1,1 -k3,3 -k4,4nr"
                    f" {shlex.quote(columns.source)} | awk '!seen[$1,$3]++'"
                )
            raise columns.error(row, problem + remedy)


def _beir_files(folder: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Return the qrels of a BEIR dataset and its queries, if it has any."""
    within = Path(os.fspath(folder), "qrels")
    if not within.is_dir():
        within = within.parent
    splits = [within / "test.tsv"]
    if not splits[0].exists():
        splits = sorted(path for path in within.glob("*.tsv") if path.name != "queries.tsv")
    if len(splits) != 1:
        files = splits or sorted(within.glob("*qrels*"))
        choices = f"; name the file itself: {', '.join(map(str, files))}" if files else ""
        problem = "as qrels, a directory must be a BEIR dataset with qrels/test.tsv"
        raise UnreadableFile(f"{os.fsdecode(folder)}: {problem}{choices}")
    queries = queries_file(folder)
    return str(splits[0]), queries if os.path.exists(queries) else None
