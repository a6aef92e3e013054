"""The names of queries, documents, values and lists in runs and qrels.

Names are those of columns of tables and of keys of JSON objects alike, in order of preference, in
lower case and with underscores; see `normal`. To read what another tool writes, add its name.
"""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.choices import RunBy
from ir_outcomes.errors import FormatError, some
from ir_outcomes.reading.columns import Columns, Titles

# Ids come before the texts of queries.
QUERY_NAMES = (
    "query_id", "qid", "q_id", "queryid", "topic_id", "narrative_id", "task_id", "turn_id",
    "query_text", "case_id", "sample_id", "question_id", "id", "_id", "query", "topic", "question", "user_input",
)  # fmt: skip
DOCUMENT_NAMES = (
    "doc_id", "docno", "docid", "corpus_id", "document_id", "documentid", "passage_id", "psg_id", "pid",
    "chunk_id", "id", "_id",
)  # fmt: skip
RANK_NAMES = ("rank", "position", "doc_position")
VALUE_NAMES = ("score", *RANK_NAMES)
GRADE_NAMES = ("relevance", "label", "rel", "grade", "rating", "judgment")
QUERY_TEXT_NAMES = ("query_text", "query", "question", "topic", "narrative", "text", "user_input")
DOCUMENT_TEXT_NAMES = ("text", "contents", "passage", "segment", "body")

SWAPPED = "were the arguments swapped?"
_LARGEST_GRADE = 100  # where nothing else says that values are grades


class Layout(NamedTuple):
    """Which column of a line contains what."""

    columns: int
    query: int
    document: int
    value: int
    value_name: str  # "score", "rank" or "grade"; ranks and grades are whole numbers
    rank: int | None = None
    separator: str | None = None  # of cells; None is white space


class Shape(NamedTuple):
    """Which keys of a JSON object hold its query and its list of documents."""

    query: str
    items: str


class Kind(NamedTuple):
    """What is read, a run or qrels, and what the caller says about it."""

    name: str  # as messages have it
    layouts: tuple[Layout, ...]  # of lines without a header
    values: tuple[str, ...]
    id_lists: tuple[str, ...]  # lists of document ids
    object_lists: tuple[str, ...]  # lists of objects, one for each document
    # Which value of a run orders its documents; by default the score where there is one.
    by: RunBy | None = None

    @property
    def is_run(self) -> bool:
        """Whether this is a run."""
        return self.values == VALUE_NAMES

    @property
    def other(self) -> "Kind":
        """Qrels for a run, and a run for qrels."""
        return QRELS if self.is_run else RUN

    def ordered_by(self, layout: Layout) -> Layout:
        """Return the layout with the value that orders the documents."""
        if self.by != "rank":
            return layout
        value = layout.value if layout.rank is None else layout.rank
        return layout._replace(value=value, value_name="rank", rank=None)

    def value_name(self, name: str | None) -> str:
        """Return what a value is by its name, or without one, as a position in a list."""
        if not self.is_run:
            return "grade"
        return "rank" if name is None or name in RANK_NAMES else "score"

    def value_in(self, names: Container[str]) -> str | None:
        """Return the first of these names that is a value, of the order asked for."""
        for name in self.values:
            if name in names and (self.by is None or (name in RANK_NAMES) == (self.by == "rank")):
                return name
        return None

    def titles(self, names: Sequence[str], source: str, line: int | None = None) -> Titles:
        """Return which of the names of columns are those that are read."""
        repeated = [name for name, times in Counter(names).items() if times > 1]
        if repeated:
            problem = f"has more than one column {repeated[0]!r}; rename or remove the others"
            raise FormatError(source, problem, line=line)
        column_of = normal_names(names)
        query, document, value = self._parts_in(column_of)
        if query is None or document is None or value is None:
            wanted = self.values
            if query is None or document is None:
                wanted = QUERY_NAMES if query is None else DOCUMENT_NAMES
            problem = (
                f"has no column {' or '.join(map(repr, wanted[:3]))}; its columns are"
                f" {some(list(names), 12)}"
            )
            if wanted == self.values and self.other.value_in(column_of):
                problem += f". These look like the columns of {self.other.name}: {SWAPPED}"
            raise FormatError(source, problem, line=line)
        return self._titles(column_of, query, document, value)

    def _titles(
        self, column_of: Mapping[str, str], query: str, document: str, value: str | None
    ) -> Titles:
        value_name = self.value_name(value)
        ranks = RANK_NAMES if value_name == "score" else ()
        return Titles(
            column_of.get(query, query),
            column_of[document],
            None if value is None else column_of[value],
            next((column_of[name] for name in ranks if name in column_of), None),
            value_name,
        )

    def shape_of(self, record: dict[str, Any]) -> Shape | None:
        """Return the keys of an object with a query and a list of documents."""
        key_of = normal_names(record)
        queries = (key_of[name] for name in QUERY_NAMES if name in key_of)
        query = next((key for key in queries if isinstance(record[key], (str, int))), None)
        for names, kind in ((self.id_lists, (str, int, list)), (self.object_lists, dict)):
            for key in (key_of[name] for name in names if name in key_of):
                items = record[key]
                if not query or not isinstance(items, list):
                    continue
                if not items or isinstance(items[0], kind):
                    return Shape(query, key)
        return None

    def _parts_in(self, names: Container[str]) -> tuple[str | None, str | None, str | None]:
        """Return which of these names are query, document and value."""
        queries = [name for name in QUERY_NAMES if name in names]
        documents = [name for name in DOCUMENT_NAMES if name in names]
        pairs = ((query, document) for query in queries for document in documents)
        query, document = next(
            (pair for pair in pairs if pair[0] != pair[1]), (queries[0] if queries else None, None)
        )
        value = self.value_in(names)
        # BEIR and ranx write grades so.
        if not self.is_run and "score" in names and (document == "corpus_id" or query == "q_id"):
            value = value or "score"
        return query, document, value

    def is_flat(self, record: dict[str, Any]) -> bool:
        """Return whether an object is one row: with a query, a document and a value."""
        key_of = normal_names(record)
        parts = [name for name in self._parts_in(key_of) if name is not None]
        return len(parts) == 3 and not any(
            isinstance(record[key_of[name]], (dict, list)) for name in parts
        )

    def titles_in(self, shape: Shape, item: dict[str, Any]) -> Titles:
        """Return the keys of an object of a list, and that of the query beside it."""
        key_of = normal_names(item)
        document = next((name for name in DOCUMENT_NAMES if name in key_of), None)
        if document is None:
            raise KeyError(DOCUMENT_NAMES[0])
        value = self.value_in(key_of)
        # Where scores are texts, as those of DPR, the order of the list is the ranking.
        if value is not None and self.is_run and isinstance(item[key_of[value]], str):
            value = None
        return self._titles(key_of, shape.query, document, value)

    def unknown(self, document: Any, source: str, line: int | None = None) -> FormatError:
        """Make the error for JSON of no form that is read, with its keys."""
        found = f"is a {type(document).__name__}"
        if isinstance(document, dict):
            if self.other.shape_of(document) or self.other.is_flat(document):
                problem = f"has the keys of {self.other.name}: {SWAPPED}"
                return FormatError(source, problem, line=line)
            found = f"has the keys {some(_dotted_keys(document), 12)}"
        problem = (
            f"{found}, which is no known form. As JSON, {self.name} can be {{query: {{document:"
            f' {self.values[0]}}}}}, or a list or lines of objects such as {{"query_id": "q1",'
            f' "doc_id": "d1", "{self.values[0]}": 1}} or {{"query_id": "q1",'
            f' "{self.id_lists[0]}": ["d1"]}}; write it so'
        )
        return FormatError(source, problem, line=line)

    def refuse_swapped(self, columns: Columns) -> None:
        """Refuse rows of the other kind, where titles do not tell a run from qrels."""
        titles = columns.titles
        values = columns.values
        if titles is not None and normal(titles.value or "") != "score":
            return
        if self.is_run:
            if (
                titles is not None
                and _are_of_qrels(titles)
                and np.isin(values, np.arange(11)).all()
            ):
                problem = "has the columns of qrels as BEIR and ranx write them, and grades"
                raise FormatError(columns.source, f"{problem}: {SWAPPED}")
        elif values.max(initial=0) > _LARGEST_GRADE:
            row = int(values.argmax())
            problem = (
                f"{columns.described(row)} has a grade above {_LARGEST_GRADE}, like a score of a"
                f" run: {SWAPPED} If it is a grade, name what the rows hold: query_id, doc_id and"
                " relevance"
            )
            raise columns.error(row, problem, str(values[row]))


def _are_of_qrels(titles: Titles) -> bool:
    """Return whether BEIR or ranx calls the columns of qrels so, beside a score."""
    query, document = normal(titles.query), normal(titles.document)
    return document == "corpus_id" or (query, document) == ("q_id", "doc_id")


def _dotted_keys(document: dict[str, Any]) -> list[str]:
    """Return the keys of an object, those of objects within it behind a dot."""
    return [
        f"{key}.{inner}" if inner else str(key)
        for key, value in document.items()
        for inner in (value if isinstance(value, dict) and value else ("",))
    ]


def normal(name: str) -> str:
    """Return a name in lower case, with underscores for hyphens and blanks."""
    return name.strip().lower().replace("-", "_").replace(" ", "_")


def normal_names(names: Iterable[Any]) -> dict[str, str]:
    """Return the first name of each normal form."""
    return {normal(str(name)): name for name in reversed(list(names))}


RUN = Kind(
    "a run",
    layouts=(
        Layout(6, query=0, document=2, value=4, value_name="score", rank=3),  # TREC
        Layout(3, query=0, document=1, value=2, value_name="score"),  # or ranks, as of MS MARCO
        # Only where the ranks are 1, 2, 3 ... in the order of the lines:
        Layout(4, query=0, document=1, value=3, value_name="score", rank=2),  # ColBERT
        Layout(5, query=0, document=1, value=3, value_name="score", rank=2),  # without Q0
        Layout(5, query=0, document=2, value=4, value_name="score", rank=3),  # without a tag
    ),
    values=VALUE_NAMES,
    id_lists=(
        "doc_ids", "docids", "docnos", "document_ids", "ranking", "retrieved_ids", "retrieved_doc_ids",
        "retrieved_document_ids", "retrieved_context_ids", "retrieved", "references",
    ),
    object_lists=(
        "results", "ctxs", "contexts", "retrieved", "retrieved_docs", "retrieved_documents",
        "retrieved_contexts", "documents", "docs", "hits", "candidates", "passages",
    ),
)  # fmt: skip
QRELS = Kind(
    "qrels",
    layouts=(
        Layout(4, query=0, document=2, value=3, value_name="grade"),  # TREC
        Layout(3, query=0, document=1, value=2, value_name="grade"),
    ),
    values=GRADE_NAMES,
    id_lists=(
        "relevant_ids", "relevant_doc_ids", "relevant_document_ids", "expected_ids",
        "expected_doc_ids", "reference_context_ids", "retrieval_gt", "ground_truth_ids", "gold_ids",
        "relevant",
    ),
    object_lists=("positive_ctxs", "positive_passages", "relevant_docs", "ratings", "judgments"),
)  # fmt: skip
