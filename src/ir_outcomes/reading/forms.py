"""The forms of files of runs and qrels: a table with a row for each form.

What a form declares serves objects and files alike: under which names a table has the query, the
document and the value. To read another form, add a row to `FORMS`, and a fixture to
``tests/reading/forms/``.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ir_outcomes.errors import FormatError
from ir_outcomes.reading.columns import Columns
from ir_outcomes.types import RunBy

RANK_NAMES = ("rank", "doc position")
QUERY_NAMES = ("query_id", "qid", "q_id", "query-id")
DOCUMENT_NAMES = ("doc_id", "docno", "docid", "corpus-id")
VALUE_NAMES = ("score", "rank")
GRADE_NAMES = ("relevance", "label", "rel", "grade")

_LARGEST_GRADE = 100  # where nothing else says that values are grades


class Layout(NamedTuple):
    """Which column of a line contains what."""

    columns: int
    query: int
    document: int
    value: int
    value_name: str  # "score", "rank" or "grade"; ranks and grades are whole numbers
    separator: bytes | None = None  # None is any white space


class Form(NamedTuple):
    """A form of runs or qrels. Names are columns, or keys of JSON objects; ``a.b`` is the key b of the object a."""

    name: str  # for `--layout` and the documentation
    what: str  # "run" or "qrels"
    written_by: str
    link: str  # to its definition
    layout: Layout | None = None  # of lines without a header
    # Names in order of preference; * is the record's own key in an object.
    query: tuple[str, ...] = ()
    document: tuple[str, ...] = ()  # empty: the items of the list are the ids
    # Empty: the order of the list is the ranking; in qrels all that it lists is relevant.
    value: tuple[str, ...] = ()
    # The list in a query's record, . for the record itself; empty: a record is one row.
    items: tuple[str, ...] = ()
    # Where records are in a JSON document: "" a list or JSON lines, "a" a list, "a.*" an object by
    # query.
    records: str = ""
    query_text: tuple[str, ...] = ()  # $.a is an object of the whole document, from ids to texts
    text: tuple[str, ...] = ()  # of the document


class Kind(NamedTuple):
    """What is read: a run or qrels, in which forms, and what the caller says about it."""

    what: str
    forms: tuple[Form, ...]
    foreign: tuple[str, ...]  # values of the other kind, which say that the arguments were swapped
    # Which value of a run orders its documents, None for what its form says.
    by: RunBy | None = None
    selection: str | None = None  # the form, where several fit

    @property
    def layouts(self) -> list[Layout]:
        """The layouts of lines without a header; those of three columns are told apart when they have been read."""
        own = [form.layout for form in self.forms if form.layout and form.name != "msmarco"]
        if self.by != "rank":
            return own
        return [
            layout._replace(value=3 if layout.columns == 6 else layout.value, value_name="rank")
            for layout in own
        ]

    def values_of(self, form: Form) -> tuple[str, ...]:
        """The names of values that a form has, as far as they order the documents as is asked for."""
        return tuple(
            name
            for name in form.value
            if self.by is None or (name in RANK_NAMES) == (self.by == "rank")
        )

    def value_name(self, name: str | None) -> str:
        """Return what a value is, by the name of its column; without a name it is the place in a list."""
        if self.what == "qrels":
            return "grade"
        return "rank" if name is None or name in RANK_NAMES else "score"

    def only(self, fitting: Sequence[Form], source: str) -> Form | None:
        """Return the form that fits, None where none does; several are an error unless one of them is selected."""
        chosen = [form for form in fitting if form.name == self.selection] or list(fitting)
        if chosen and chosen[0].name == "columns" and not any(form.items for form in chosen):
            # Frames of PyTerrier have columns that are called like those of other tools too.
            return chosen[0]
        if len(chosen) > 1:
            names = ", ".join(form.name for form in chosen)
            raise FormatError(source, f"can be read in the forms {names}; say which as FILE#NAME")
        return chosen[0] if chosen else None

    @property
    def called(self) -> str:
        """What messages call it."""
        return "a run" if self.what == "run" else "qrels"

    def named(
        self, names: Sequence[str], source: str, line: int | None = None
    ) -> tuple[str, str, str, str]:
        """Return the names of the columns of query, document and value, and what the value is."""
        repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
        if repeated:
            problem = (
                f"has more than one column {', '.join(map(repr, repeated))}; rename or remove the"
                " others"
            )
            raise FormatError(source, problem, line=line)
        tables = [form for form in self.forms if form.query and not form.items]
        parts = {form: (form.query, form.document, self.values_of(form)) for form in tables}
        form = self.only(
            [form for form in tables if all(set(part) & set(names) for part in parts[form])], source
        )
        if form is not None:
            query, document, value = (
                next(name for name in part if name in names) for part in parts[form]
            )
            return query, document, value, self.value_name(value)
        general = parts[tables[0]]
        lacking = next(part for part in general if not set(part) & set(names))
        problem = (
            f"has no column {' or '.join(map(repr, lacking))}; its columns are {', '.join(names)}"
        )
        if lacking == general[2] and set(self.foreign) & set(names):
            problem += f". These look like the columns of {other(self).called}: were the arguments swapped?"
        raise FormatError(source, problem, line=line)

    def refuse_swapped(self, columns: Columns, names: Sequence[str | None]) -> None:
        """Refuse rows of the other kind, where the names of query, document and value do not tell a run from qrels."""
        query, document, value = names
        is_of_both = document == "corpus-id" or (query, document) == ("q_id", "doc_id")
        values = columns.values
        are_grades = len(values) > 0 and np.isin(values, np.arange(11)).all()
        if self.what == "run" and is_of_both and value == "score" and are_grades:
            problem = (
                "has the columns of qrels as BEIR and ranx write them, and grades: were the"
                " arguments swapped?"
            )
            raise FormatError(columns.source, problem)
        if (
            self.what == "qrels"
            and value in (None, "score")
            and values.max(initial=0) > _LARGEST_GRADE
        ):
            row = int(values.argmax())
            problem = (
                f"{columns.named(row)} has a grade above {_LARGEST_GRADE}, like a score of a run:"
                " were the arguments swapped?"
            )
            raise columns.error(row, problem, str(values[row]))


def other(kind: Kind) -> Kind:
    """Return qrels for a run, and a run for qrels."""
    return QRELS if kind.what == "run" else RUN


FORMS: tuple[Form, ...] = (
    Form(
        "trec",
        "run",
        "Anserini, PyTerrier, most tools",
        "https://github.com/usnistgov/trec_eval",
        layout=Layout(6, query=0, document=2, value=4, value_name="score"),
    ),
    Form(
        "trec",
        "qrels",
        "NIST, most collections",
        "https://github.com/usnistgov/trec_eval",
        layout=Layout(4, query=0, document=2, value=3, value_name="grade"),
    ),
    Form(
        "msmarco",
        "run",
        "MS MARCO",
        "https://microsoft.github.io/msmarco/",
        layout=Layout(3, query=0, document=1, value=2, value_name="rank"),
    ),
    Form(
        "tevatron",
        "run",
        "Tevatron",
        "https://github.com/texttron/tevatron",
        layout=Layout(3, query=0, document=1, value=2, value_name="score"),
    ),
    Form(
        "columns",
        "run",
        "ir_measures, PyTerrier, any table",
        "https://ir-measur.es",
        query=QUERY_NAMES,
        document=DOCUMENT_NAMES,
        value=VALUE_NAMES,
    ),
    Form(
        "columns",
        "qrels",
        "ir_measures, PyTerrier, any table",
        "https://ir-measur.es",
        query=QUERY_NAMES,
        document=DOCUMENT_NAMES,
        value=GRADE_NAMES,
    ),
    Form(
        "beir",
        "qrels",
        "BEIR, MTEB",
        "https://github.com/beir-cellar/beir",
        query=QUERY_NAMES,
        document=("corpus-id",),
        value=("score",),
    ),
    Form(
        "ranx",
        "qrels",
        "ranx (Parquet)",
        "https://github.com/AmenRa/ranx",
        query=("q_id",),
        document=("doc_id",),
        value=("score",),
    ),
    Form(
        "trectools",
        "run",
        "trectools",
        "https://github.com/joaopalotti/trectools",
        query=("query",),
        document=("docid",),
        value=VALUE_NAMES,
    ),
    Form(
        "trectools",
        "qrels",
        "trectools",
        "https://github.com/joaopalotti/trectools",
        query=("query",),
        document=("docid",),
        value=("rel",),
    ),
    Form(
        "quepid",
        "qrels",
        "Quepid",
        "https://github.com/o19s/quepid",
        query=("query",),
        document=("docid",),
        value=("rating",),
    ),
    Form(
        "quepid",
        "run",
        "Quepid (a snapshot)",
        "https://github.com/o19s/quepid",
        query=("query text",),
        document=("doc id",),
        value=("doc position",),
    ),
    Form(
        "lists",
        "run",
        "logs, vector stores",
        "https://jsonlines.org",
        query=QUERY_NAMES,
        items=("doc_ids", "docids", "docnos", "ranking"),
    ),
    Form(
        "sentence-transformers",
        "run",
        "sentence-transformers (InformationRetrievalEvaluator)",
        "https://sbert.net",
        query=("query_id",),
        items=("results",),
        document=("corpus_id",),
        value=("score",),
        query_text=("query",),
    ),
    Form(
        "rankllm",
        "run",
        "RankLLM",
        "https://github.com/castorini/rank_llm",
        query=("query.qid",),
        items=("candidates",),
        document=("docid",),
        value=("score",),
        query_text=("query.text",),
        text=("doc.contents", "doc.segment", "doc.text", "doc.passage"),
    ),
    Form(
        "mt-rag",
        "run",
        "MT-RAG, MTRAGEval",
        "https://github.com/IBM/mt-rag-benchmark",
        query=("task_id",),
        items=("contexts",),
        document=("document_id",),
        value=("score",),
        text=("text",),
    ),
    Form(
        "trec-rag",
        "run",
        "TREC RAG",
        "https://trec-rag.github.io",
        query=("topic_id", "narrative_id", "metadata.narrative_id"),
        items=("references",),
        query_text=("topic", "narrative", "metadata.narrative"),
    ),
    Form(
        "dpr",
        "run",
        "DPR",
        "https://github.com/facebookresearch/DPR",
        query=("question",),
        items=("ctxs",),
        document=("id",),
        query_text=("question",),
        text=("text",),
    ),
    Form(
        "dpr",
        "qrels",
        "DPR (training and development sets)",
        "https://github.com/facebookresearch/DPR",
        query=("question",),
        items=("positive_ctxs",),
        document=("passage_id", "psg_id"),
        query_text=("question",),
        text=("text",),
    ),
    Form(
        "pyserini-dpr",
        "run",
        "Pyserini (convert_trec_run_to_dpr_retrieval_run)",
        "https://github.com/castorini/pyserini",
        records="*",
        query=("*",),
        items=("contexts",),
        document=("docid",),
        query_text=("question",),
        text=("text",),
    ),
    Form(
        "rank-eval",
        "qrels",
        "Elasticsearch, OpenSearch (rank_eval, request)",
        "https://www.elastic.co/guide/en/elasticsearch/reference/current/search-rank-eval.html",
        records="requests",
        query=("id",),
        items=("ratings",),
        document=("_id",),
        value=("rating",),
    ),
    Form(
        "rank-eval",
        "run",
        "Elasticsearch, OpenSearch (rank_eval, response)",
        "https://www.elastic.co/guide/en/elasticsearch/reference/current/search-rank-eval.html",
        records="details.*",
        query=("*",),
        items=("hits",),
        document=("hit._id",),
    ),
    Form(
        "llamaindex",
        "qrels",
        "LlamaIndex (EmbeddingQAFinetuneDataset)",
        "https://docs.llamaindex.ai",
        records="relevant_docs.*",
        query=("*",),
        items=(".",),
        query_text=("$.queries",),
        text=("$.corpus",),
    ),
)


RUN = Kind("run", tuple(form for form in FORMS if form.what == "run"), foreign=GRADE_NAMES)
QRELS = Kind("qrels", tuple(form for form in FORMS if form.what == "qrels"), foreign=VALUE_NAMES)
