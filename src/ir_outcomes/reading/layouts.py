"""What a run and qrels contain: the columns of their files, and the names that columns and fields have.

A run is a score, or a rank, for a document of a query; qrels are a grade. Every reader finds query, document and value by
the rules of this module, whether they are columns of a line, of a header, of a frame or fields of a JSON object.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

from ir_outcomes.errors import FormatError

__all__ = ["QRELS", "QUERY_NAMES", "RUN", "RUN_BY_RANK", "Kind", "Layout", "Named", "is_header", "named_columns"]

QUERY_NAMES = ("query_id", "qid", "q_id", "query-id")
DOCUMENT_NAMES = ("doc_id", "docno", "docid", "corpus-id")
GRADE_NAMES = ("relevance", "label", "rel", "grade")


class Layout(NamedTuple):
    """Which column of a line contains what.

    Attributes
    ----------
    columns : int
        The number of columns.
    query, document, value : int
        Their positions, from 0.
    value_name : {"score", "rank", "grade"}
        What the value is. Ranks and grades are whole numbers.
    separator : bytes or None
        What separates the columns; None for any white space.
    """

    columns: int
    query: int
    document: int
    value: int
    value_name: str
    separator: bytes | None = None

    @property
    def whole(self) -> bool:
        """Whether values are whole numbers."""
        return self.value_name != "score"


class Kind(NamedTuple):
    """What is being read.

    Attributes
    ----------
    what : {"run", "qrels"}
    value_names : tuple of str
        Accepted names of the value's column, the preferred first.
    layouts : tuple of Layout
        Layouts of files without a header; they differ in their number of columns.
    """

    what: str
    value_names: tuple[str, ...]
    layouts: tuple[Layout, ...]


_TREC_RUN = Layout(6, query=0, document=2, value=4, value_name="score")
_TREC_RUN_BY_RANK = Layout(6, query=0, document=2, value=3, value_name="rank")
_MSMARCO_RUN = Layout(3, query=0, document=1, value=2, value_name="rank")
_TREC_QRELS = Layout(4, query=0, document=2, value=3, value_name="grade")

RUN = Kind("run", ("score", "rank"), (_TREC_RUN, _MSMARCO_RUN))
RUN_BY_RANK = Kind("run", ("rank",), (_TREC_RUN_BY_RANK, _MSMARCO_RUN))
QRELS = Kind("qrels", GRADE_NAMES, (_TREC_QRELS,))

_KNOWN_NAMES = {*QUERY_NAMES, *DOCUMENT_NAMES, *GRADE_NAMES, *RUN.value_names}


class Named(NamedTuple):
    """The names of the columns that contain query, document and value, and what the value is."""

    query: str
    document: str
    value: str
    value_name: str


def is_header(fields: Sequence[str]) -> bool:
    """Tell whether the fields of a line are names of columns: at least two of them are known names."""
    return len(_KNOWN_NAMES.intersection(fields)) >= 2


def named_columns(names: Sequence[str], kind: Kind, source: str, line: int | None = None) -> Named:
    """Find the columns of query, document and value by their names.

    Parameters
    ----------
    names : sequence of str
        Names of all columns.
    kind : Kind
        What is read.
    source : str
        What to call the input in messages.
    line : int, optional
        The line of the names.

    Raises
    ------
    FormatError
        If a column is missing or a name is repeated.
    """
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        problem = f"has more than one column {', '.join(map(repr, repeated))}; rename or remove the others"
        raise FormatError(source, problem, line=line)
    # The qrels of BEIR call the grade a score; elsewhere a score belongs to a run.
    values = (*kind.value_names, "score") if kind.what == "qrels" and "corpus-id" in names else kind.value_names
    query, document, value = (
        _first_of(choices, names, kind, source, line) for choices in (QUERY_NAMES, DOCUMENT_NAMES, values)
    )
    return Named(query, document, value, "grade" if kind.what == "qrels" else value)


def _first_of(choices: Sequence[str], names: Sequence[str], kind: Kind, source: str, line: int | None) -> str:
    for choice in choices:
        if choice in names:
            return choice
    expected = " or ".join(map(repr, choices))
    problem = f"has no column {expected}; its columns are {', '.join(names)}"
    foreign = GRADE_NAMES if kind.what == "run" else RUN.value_names
    if choices not in (QUERY_NAMES, DOCUMENT_NAMES) and set(foreign) & set(names):
        looks_like = "qrels" if kind.what == "run" else "a run"
        problem += f". These look like the columns of {looks_like}: were the arguments swapped?"
    raise FormatError(source, problem, line=line)
