"""The forms of files: a table with a row for each form, and the one reader that serves them all.

A file is recognized by its content, not by its name: Parquet by its first bytes; JSON by a brace or bracket, and then by its
keys; a table with a header by the names of its columns; other lines by the number of their columns. To read another form, add
a row to `FORMS`, and a fixture to ``tests/reading/forms/``.
"""

import io
import json
import os
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
from ir_measures.measures import registry as measure_registry

from ir_outcomes.errors import EmptyInput, FormatError, InputError, MissingDependency, UnreadableFile
from ir_outcomes.formatting import plural
from ir_outcomes.reading.columns import (
    LONGEST_ID,
    Codes,
    Columns,
    Ids,
    Layout,
    checked_columns,
    coded,
    encoded,
    grouped,
    numbers,
    texts,
)
from ir_outcomes.reading.files import BOM, LONGEST_LINE, Block, blocks_of, check_bytes, nonblank, pieces, refuse_bomb
from ir_outcomes.reading.text import COLUMN_REMEDY, from_line, number_in, read_lines, shown
from ir_outcomes.types import RunBy

QUERY_NAMES = ("query_id", "qid", "q_id", "query-id")
DOCUMENT_NAMES = ("doc_id", "docno", "docid", "corpus-id")
VALUE_NAMES = ("score", "rank")
GRADE_NAMES = ("relevance", "label", "rel", "grade")
_LIST_NAMES = ("doc_ids", "docids", "docnos", "ranking")
_RANK_NAMES = ("rank", "doc position")


class Form(NamedTuple):
    """A form of runs or qrels. Names are columns, or keys of JSON objects; ``a.b`` is the key b of the object a."""

    name: str  # for `--layout` and the documentation
    what: str  # "run" or "qrels"
    written_by: str
    link: str  # to its definition
    layout: Layout | None = None  # of lines without a header
    query: tuple[str, ...] = ()  # names in order of preference; * is the record's own key in an object
    document: tuple[str, ...] = ()  # empty: the items of the list are the ids
    value: tuple[str, ...] = ()  # empty: the order of the list is the ranking; in qrels all that it lists is relevant
    items: tuple[str, ...] = ()  # the list in a query's record, . for the record itself; empty: a record is one row
    records: str = ""  # where records are in a JSON document: "" a list or JSON lines, "a" a list, "a.*" an object by query
    query_text: tuple[str, ...] = ()  # $.a is an object of the whole document, from ids to texts
    text: tuple[str, ...] = ()  # of the document


FORMS: tuple[Form, ...] = (
    Form(
        "trec", "run", "Anserini, PyTerrier, most tools", "https://github.com/usnistgov/trec_eval",
        layout=Layout(6, query=0, document=2, value=4, value_name="score"),
    ),
    Form(
        "trec", "qrels", "NIST, most collections", "https://github.com/usnistgov/trec_eval",
        layout=Layout(4, query=0, document=2, value=3, value_name="grade"),
    ),
    Form(
        "msmarco", "run", "MS MARCO", "https://microsoft.github.io/msmarco/",
        layout=Layout(3, query=0, document=1, value=2, value_name="rank"),
    ),
    Form(
        "tevatron", "run", "Tevatron", "https://github.com/texttron/tevatron",
        layout=Layout(3, query=0, document=1, value=2, value_name="score"),
    ),
    Form(
        "columns", "run", "ir_measures, PyTerrier, any table", "https://ir-measur.es",
        query=QUERY_NAMES, document=DOCUMENT_NAMES, value=VALUE_NAMES,
    ),
    Form(
        "columns", "qrels", "ir_measures, PyTerrier, any table", "https://ir-measur.es",
        query=QUERY_NAMES, document=DOCUMENT_NAMES, value=GRADE_NAMES,
    ),
    Form(
        "beir", "qrels", "BEIR, MTEB", "https://github.com/beir-cellar/beir",
        query=QUERY_NAMES, document=("corpus-id",), value=("score",),
    ),
    Form(
        "quepid", "qrels", "Quepid", "https://github.com/o19s/quepid",
        query=("query",), document=("docid",), value=("rating",),
    ),
    Form(
        "quepid", "run", "Quepid (a snapshot)", "https://github.com/o19s/quepid",
        query=("query text",), document=("doc id",), value=("doc position",),
    ),
    Form("lists", "run", "logs, vector stores", "https://jsonlines.org", query=QUERY_NAMES, items=_LIST_NAMES),
    Form(
        "sentence-transformers", "run", "sentence-transformers (InformationRetrievalEvaluator)", "https://sbert.net",
        query=("query_id",), items=("results",), document=("corpus_id",), value=("score",), query_text=("query",),
    ),
    Form(
        "rankllm", "run", "RankLLM", "https://github.com/castorini/rank_llm",
        query=("query.qid",), items=("candidates",), document=("docid",), value=("score",),
        query_text=("query.text",), text=("doc.contents", "doc.segment", "doc.text", "doc.passage"),
    ),
    Form(
        "mt-rag", "run", "MT-RAG, MTRAGEval", "https://github.com/IBM/mt-rag-benchmark",
        query=("task_id",), items=("contexts",), document=("document_id",), value=("score",), text=("text",),
    ),
    Form(
        "trec-rag", "run", "TREC RAG", "https://trec-rag.github.io",
        query=("topic_id", "narrative_id", "metadata.narrative_id"), items=("references",),
        query_text=("topic", "narrative", "metadata.narrative"),
    ),
    Form(
        "dpr", "run", "DPR", "https://github.com/facebookresearch/DPR",
        query=("question",), items=("ctxs",), document=("id",), query_text=("question",), text=("text",),
    ),
    Form(
        "dpr", "qrels", "DPR (training and development sets)", "https://github.com/facebookresearch/DPR",
        query=("question",), items=("positive_ctxs",), document=("passage_id", "psg_id"),
        query_text=("question",), text=("text",),
    ),
    Form(
        "pyserini-dpr", "run", "Pyserini (convert_trec_run_to_dpr_retrieval_run)", "https://github.com/castorini/pyserini",
        records="*", query=("*",), items=("contexts",), document=("docid",), query_text=("question",), text=("text",),
    ),
    Form(
        "rank-eval", "qrels", "Elasticsearch, OpenSearch (rank_eval, request)",
        "https://www.elastic.co/guide/en/elasticsearch/reference/current/search-rank-eval.html",
        records="requests", query=("id",), items=("ratings",), document=("_id",), value=("rating",),
    ),
    Form(
        "rank-eval", "run", "Elasticsearch, OpenSearch (rank_eval, response)",
        "https://www.elastic.co/guide/en/elasticsearch/reference/current/search-rank-eval.html",
        records="details.*", query=("*",), items=("hits",), document=("hit._id",),
    ),
    Form(
        "llamaindex", "qrels", "LlamaIndex (EmbeddingQAFinetuneDataset)", "https://docs.llamaindex.ai",
        records="relevant_docs.*", query=("*",), items=(".",), query_text=("$.queries",), text=("$.corpus",),
    ),
)  # fmt: skip


class Kind(NamedTuple):
    """What is read: a run or qrels, and which value of a run orders its documents, None for what its form says."""

    what: str
    by: RunBy | None = None

    @property
    def layouts(self) -> tuple[Layout, ...]:
        """The layouts of lines without a header; those of three columns are told apart when they have been read."""
        own = [form.layout for form in FORMS if form.what == self.what and form.layout and form.name != "msmarco"]
        if self.by != "rank":
            return tuple(own)
        return tuple(layout._replace(value=3 if layout.columns == 6 else layout.value, value_name="rank") for layout in own)

    def values_of(self, form: Form) -> tuple[str, ...]:
        """The names of values that a form has, as far as they order the documents as is asked for."""
        return tuple(name for name in form.value if self.by is None or (name in _RANK_NAMES) == (self.by == "rank"))


RUN, QRELS = Kind("run"), Kind("qrels")
_KNOWN_NAMES = {name for form in FORMS if not form.items for name in (*form.query, *form.document, *form.value)}
_JSON = re.compile(rb"\s*(\{\s*(\"|\}|$)|\[)")
_METADATA_START, _METADATA_END = b"# ir_metadata.start", b"# ir_metadata.end"
_SEPARATORS = (b"\t", b",", b";")
_LINES_LOOKED_AT = 50
_MTEB = "mteb_model_meta"
_MOST_VALUES = 12_000_000  # in one JSON document; a Python object for each of them takes about 100 bytes
_MAGIC = b"PAR1"
_LEAST_ROW = 16  # bytes that a row of Parquet takes as text, at least
_FRAME_LIBRARIES = ("pandas", "polars", "pyarrow")  # their columns can be taken by name


LineOfPair = Callable[[str, str], int | None]  # of a query and a document


class Texts(NamedTuple):
    """The texts that come along in a file, by id."""

    queries: dict[str, str]
    documents: dict[str, str]


class FileContent(NamedTuple):
    """The rows of a file; the name that it gives to the run, its ir_metadata (YAML), its texts, and what to warn about."""

    columns: Columns
    name: str | None = None
    metadata: str = ""
    texts: Texts = Texts({}, {})
    warnings: tuple[str, ...] = ()


def read_any_file(path: str | os.PathLike[str], kind: Kind) -> FileContent:
    """Return the content of a file; ``path#name`` says its form, or the subset and split of predictions of MTEB."""
    source, selection = path_and_selection(os.fspath(path))
    with closing(pieces(source)) as opened:
        head, content = _with_head(opened)
        if _is_parquet(head):
            frame = _parquet_frame(b"".join(content), kind, source, selection)
            found = FileContent(_from_frame(frame, source, kind, selection))
        elif _is_json(head, kind):
            found = _read_json(head, content, kind, source, selection)
        else:
            found = _read_lines(content, kind, source, selection)
    names = [form.name for form in FORMS if form.what == kind.what]
    if selection is not None and found.name is None and selection not in names:
        problem = f"#{selection} in its path says neither its form ({', '.join(names)}) nor, of predictions of MTEB, a split"
        raise FormatError(source, problem)
    if not len(found.columns.codes):
        raise EmptyInput(source, "is empty; nothing can be evaluated from it")
    return found


def texts_in(path: str | os.PathLike[str]) -> Texts:
    """Return the texts that come along in a file of a run or of qrels; none where it is neither."""
    for kind in (RUN, QRELS):
        with suppress(InputError):
            return read_any_file(path, kind).texts
    return Texts({}, {})


def path_and_selection(path: str) -> tuple[str, str | None]:
    """Return the path of a file and what follows its ``#``, None where there is none."""
    file, sign, selection = path.rpartition("#")
    if sign and not os.path.exists(path) and os.path.isfile(file):
        return file, selection
    return path, None


def seems_to_be_a_run(path: str) -> bool:
    """Return whether a file could be a run, by its first lines."""
    with closing(pieces(path)) as opened:
        head, _ = _with_head(opened)
    if _is_parquet(head) or _is_json(head, RUN):
        return True
    lines = _first_lines(head)
    if not lines or lines[0].startswith(_METADATA_START):
        return bool(lines)
    _, names = _names_of(lines[0])
    if _is_header(names):
        return any(name in names for form in FORMS if form.what == "run" for name in form.value)
    # The output of trec_eval has three columns too; names of measures tell it apart. In the other layouts one good line is
    # enough, so that a file with bad lines is read, and its error raised.
    names_measure = any(is_measure_name(field.decode("utf-8", "replace")) for field in lines[0].split()[:2])
    return any(
        (all if layout.columns == 3 else any)(_fits(line, layout) for line in lines)
        for layout in RUN.layouts
        if layout.columns != 3 or not names_measure
    )


def is_measure_name(text: str) -> bool:
    """Whether ir_measures or trec_eval has a measure of this name, such as nDCG@10 or P_5."""
    import pytrec_eval

    base = re.sub(r"_[0-9][0-9.]*$", "", re.split("[@(]", text)[0])
    return base in measure_registry or base in pytrec_eval.supported_measures


def _with_head(opened: Iterator[bytes]) -> tuple[bytes, Iterator[bytes]]:
    """Return what was read until the first line that is not blank had ended, and the whole content."""
    head = b""
    for piece in opened:
        head += piece
        if len(head) > LONGEST_LINE or b"\n" in head.removeprefix(BOM).lstrip():
            break
    return head, chain([head], opened)


def _first_lines(head: bytes) -> list[bytes]:
    """Return the first lines that are not blank."""
    lines = [line for line in head.removeprefix(BOM).split(b"\n") if line.strip()]
    # The last line may be cut off where the head ends.
    return lines[: min(_LINES_LOOKED_AT, len(lines) if len(lines) <= 1 or head.endswith(b"\n") else len(lines) - 1)]


def _fits(line: bytes, layout: Layout) -> bool:
    """Return whether a line has the columns of a layout, and its value where it belongs."""
    fields = line.split()
    value = number_in(fields[layout.value]) if len(fields) == layout.columns else None
    return value is not None and (layout.value_name == "score" or value.is_integer())


def _only(fitting: Sequence[Form], selection: str | None, source: str) -> Form | None:
    """Return the form that fits, None where none does; several are an error unless one of them is selected."""
    chosen = [form for form in fitting if form.name == selection] or list(fitting)
    if len(chosen) > 1:
        names = ", ".join(form.name for form in chosen)
        raise FormatError(source, f"can be read in the forms {names}; say which with --layout NAME, or as FILE#NAME")
    return chosen[0] if chosen else None


# --- tables: lines, Parquet, frames


class Named(NamedTuple):
    """The names of the columns of query, document and value, and what the value is."""

    query: str
    document: str
    value: str
    value_name: str


def _named_columns(
    names: Sequence[str], kind: Kind, source: str, line: int | None = None, selection: str | None = None
) -> Named:
    """Return the columns of query, document and value by their names."""
    repeated = [name for name, times in Counter(names).items() if times > 1]
    if repeated:
        problem = f"has more than one column {', '.join(map(repr, repeated))}; rename or remove the others"
        raise FormatError(source, problem, line=line)
    flat = [form for form in FORMS if form.what == kind.what and form.query and not form.items]
    parts = {form: (form.query, form.document, kind.values_of(form)) for form in flat}
    form = _only([form for form in flat if all(set(part) & set(names) for part in parts[form])], selection, source)
    if form is not None:
        query, document, value = (next(name for name in part if name in names) for part in parts[form])
        return Named(query, document, value, _value_name(kind, value))
    general = flat[0]
    lacking = next(part for part in parts[general] if not set(part) & set(names))
    problem = f"has no column {' or '.join(map(repr, lacking))}; its columns are {', '.join(names)}"
    foreign = GRADE_NAMES if kind.what == "run" else VALUE_NAMES
    if lacking not in (QUERY_NAMES, DOCUMENT_NAMES) and set(foreign) & set(names):
        problem += f". These look like the columns of {_OTHER[kind.what]}: were the arguments swapped?"
    raise FormatError(source, problem, line=line)


_OTHER = {"run": "qrels", "qrels": "a run"}


def _value_name(kind: Kind, name: str | None) -> str:
    """Return what a value is, by the name of its column; without a name it is the place in a list."""
    return "grade" if kind.what == "qrels" else "rank" if name is None or name in _RANK_NAMES else "score"


def _is_header(names: Sequence[str]) -> bool:
    """Return whether the fields of a line are names of columns: at least two of them are known names."""
    return len(_KNOWN_NAMES.intersection(names)) >= 2


def _names_of(line: bytes) -> tuple[bytes | None, list[str]]:
    """Return the separator of a header, None for white space, and its names."""
    separator = next((sign for sign in _SEPARATORS if sign in line), None)
    return separator, [name.strip().strip(b"\"'").decode("utf-8", "replace").lower() for name in line.split(separator)]


def _read_lines(content: Iterable[bytes], kind: Kind, source: str, selection: str | None) -> FileContent:
    """Return the content of lines: a table with a header, or a layout by the number of columns."""
    blocks = blocks_of(content, source)
    metadata, blocks = _without_metadata(blocks, kind, source)
    first, blocks = _first_block(blocks)
    if first is None:
        raise EmptyInput(source, "is empty; nothing can be evaluated from it")
    number, line = next(nonblank(first))
    separator, names = _names_of(line)
    layout = next((layout for layout in kind.layouts if layout.columns == len(line.split())), None)
    is_row = layout is not None and _fits(line, layout)
    if _is_header(names) and not is_row:
        check_bytes(Block(number, line), source)
        found = _named_columns(names, kind, source, number, selection)
        query, document, value = (names.index(name) for name in found[:3])
        layout = Layout(len(names), query, document, value, found.value_name, separator)
        columns = read_lines(blocks, layout, source, number + 1)
        # Scores that are a few small whole numbers look like grades.
        small = (columns.values >= 0) & (columns.values <= 10) & (columns.values == columns.values.round())
        if (found.document, found.value, kind.what) == ("corpus-id", "score", "run") and len(small) and small.all():
            raise FormatError(source, "has the columns of qrels as BEIR writes them, and grades: were the arguments swapped?")
        return FileContent(columns, metadata=metadata)
    if line.startswith(b"#") and not is_row:
        raise FormatError(source, "is a comment; remove comment lines", line=number, text=shown(line.split()))
    if layout is None:
        check_bytes(first, source)
        raise FormatError(source, _wrong_columns(line.split(), kind), line=number, text=shown(line.split()))
    columns = read_lines(blocks, layout, source, number)
    if layout.columns == 3 and kind.by is None:
        columns = _ranks_or_scores(columns, selection)
    return FileContent(columns, metadata=metadata)


def _ranks_or_scores(columns: Columns, selection: str | None) -> Columns:
    """Decide once for all lines whether the third of three columns holds ranks, as MS MARCO writes them, or scores."""
    offsets, _, values = grouped(columns)
    are_whole = bool(np.all(values >= 0) and np.all(values == np.floor(values)))
    starts = np.repeat(offsets[:-1], np.diff(offsets))
    counted = np.arange(1, len(values) + 1) - starts  # 1 to n in each query
    if selection == "msmarco" or (np.array_equal(values, counted) and counted.max() > 1 and selection != "tevatron"):
        return replace(columns, value_name="rank")
    descends = (values[1:] <= values[:-1]) | (starts[1:] != starts[:-1])
    ordered = values[np.lexsort((values, starts))]
    has_ranks = np.logical_and.reduceat(ordered == counted, offsets[:-1]).any()
    if selection == "tevatron" or not are_whole or (descends.all() and not has_ranks):
        return columns
    raise FormatError(
        columns.source,
        "has three columns, and it cannot be told whether the third has ranks or scores; "
        "say it with by='rank' or by='score' (--layout rank, --layout score)",
    )


def _first_block(blocks: Iterator[Block]) -> tuple[Block | None, Iterator[Block]]:
    """Return the first block with a line that is not blank, and the blocks from it on."""
    for block in blocks:
        if block.data and not block.data.isspace():
            return block, chain([block], blocks)
    return None, blocks


def _wrong_columns(fields: list[bytes], kind: Kind) -> str:
    """Return what is wrong with the number of columns; only what looks like the other kind is said to be swapped."""
    expected = " or ".join(str(layout.columns) for layout in kind.layouts)
    problem = f"has {plural('column', len(fields))}, expected {expected}"
    other = QRELS if kind.what == "run" else RUN
    if any(_fits(b" ".join(fields), layout) for layout in other.layouts):
        if len(fields) == 3:  # such qrels exist too
            return f"{problem}; qrels of 3 columns need a header that names them, such as query-id, corpus-id, score"
        return f"{problem}; these look like the columns of {_OTHER[kind.what]}: were the arguments swapped?"
    return problem + COLUMN_REMEDY


def _without_metadata(blocks: Iterator[Block], kind: Kind, source: str) -> tuple[str, Iterator[Block]]:
    """Return the header that the ir_metadata specification defines for runs (Breuer et al., SIGIR 2022), and the rest."""
    first, blocks = _first_block(blocks)
    if first is None or kind.what != "run" or not first.data.lstrip().startswith(_METADATA_START):
        return "", blocks
    lines: list[str] = []
    size = 0
    for block in blocks:
        check_bytes(block, source)
        for number, line in nonblank(block):
            size += len(line)
            if line.strip() == _METADATA_END:
                return "\n".join(lines[1:]), from_line(chain([block], blocks), number + 1)
            if not line.startswith(b"#") or size > LONGEST_LINE:
                problem = "belongs to the ir_metadata header, which must be comment lines and end with '# ir_metadata.end'"
                raise FormatError(source, problem, line=number, text=shown([line.strip()]))
            lines.append(line.decode().rstrip()[1:].removeprefix(" "))
    raise FormatError(source, "begins with an ir_metadata header that does not end; add the line '# ir_metadata.end'")


# --- JSON


_Record = tuple[int | None, str, Any]  # its line, where that is known; its key in an object; and itself
_MISSING: Any = object()


def _is_json(head: bytes, kind: Kind) -> bool:
    """Return whether content is JSON, and not lines with an id that begins with a brace or bracket."""
    if not _JSON.match(head.removeprefix(BOM)):
        return False
    return not any(_fits(_first_lines(head)[0], layout) for layout in kind.layouts)


def _read_json(head: bytes, content: Iterable[bytes], kind: Kind, source: str, selection: str | None) -> FileContent:
    """Return the content of JSON lines, of which the first line is an object by itself, or of a JSON document."""
    line = None
    if _is_object(_first_lines(head)[0]):
        lines = _lines(blocks_of(content, source), source)
        first, second = next(lines), next(lines, None)
        if second is not None:
            return _from_list(chain([first, second], lines), kind, source, selection)
        line, _, document = first  # a document on one line, or a single record
        line_of: LineOfPair = lambda query, name: line  # noqa: E731
    else:
        data = b"".join(content)
        check_bytes(Block(1, data.removeprefix(BOM)), source)
        n_values = sum(data.count(sign) for sign in (b",", b"[", b"{"))
        if n_values > _MOST_VALUES:
            problem = f"is a JSON document of {n_values:,} values, which would take too much memory"
            raise FormatError(source, f"{problem}; write it as JSON lines, as Parquet or in TREC's six columns")
        document = parsed_json(data.decode("utf-8-sig"), source, 1)
        line_of = partial(_line_of, data)  # searched only where something is wrong
    if isinstance(document, list):
        return _from_list(((None, "", record) for record in document), kind, source, selection)
    if _MTEB in document:
        return _from_mteb(document, kind, source, selection, line_of)
    form = _json_form(document, kind, source, selection, line)
    if form is None and any(isinstance(document.get(name), (str, int)) for name in QUERY_NAMES):
        return _from_list(iter([(line, "", document)]), kind, source, selection)  # a record that lacks something
    if form is None:
        return FileContent(columns_of(document, source, kind, line_of))
    found = _from_records(_members(document, form.records, line), form, kind, source)
    for names, kept in ((form.query_text, found.texts.queries), (form.text, found.texts.documents)):
        for name in names:
            if name.startswith("$.") and isinstance(texts_by_id := document.get(name[2:]), dict):
                kept.update((key, text) for key, text in texts_by_id.items() if isinstance(text, str))
    return found


def _from_list(records: Iterator[_Record], kind: Kind, source: str, selection: str | None) -> FileContent:
    """Return the content of records, which all have the form of the first."""
    first = next(records, None)
    if first is None:
        raise EmptyInput(source, "is empty; nothing can be evaluated from it")
    line, _, record = first
    form = _json_form(record, kind, source, selection, line, of_record=True)
    if form is None and isinstance(record, dict):
        _named_columns(list(record), kind, source, line)  # says what it lacks
    general = next(form for form in FORMS if form.what == kind.what and form.query)
    return _from_records(chain([first], records), form or general, kind, source)


def _json_form(
    record: Any, kind: Kind, source: str, selection: str | None, line: int | None, *, of_record: bool = False
) -> Form | None:
    """Return the form of runs or qrels whose keys a record or document has, None where none fits; refuse the other kind's."""
    named = [form for form in FORMS if form.query and not (of_record and form.records)]
    fitting = [form for form in named if form.what == kind.what and _has_keys(form, kind, record)]
    other = QRELS if kind.what == "run" else RUN
    swapped = next((form for form in named if form.what == other.what and _has_keys(form, other, record)), None)
    if swapped is not None and not fitting:
        problem = f"has the keys of {_OTHER[kind.what]} ({swapped.name}): were the arguments swapped?"
        raise FormatError(source, problem, line=line)
    return _only(fitting, selection, source)


def _has_keys(form: Form, kind: Kind, document: Any) -> bool:
    """Return whether the first record of a document has the keys of a form."""
    for _, _, record in _members(document, form.records, None):
        if form.items and _list_in(form, record) is None:
            return False
        parts = (form.query,) if form.items else (form.query, form.document, kind.values_of(form))
        return all(part == ("*",) or any(_at(record, name) is not _MISSING for name in part) for part in parts)
    return False


def _members(document: Any, records: str, line: int | None) -> Iterator[_Record]:
    """Yield the records of a document, with their keys."""
    place, sign, _ = records.rpartition("*")
    found = _at(document, place.rstrip(".") if sign else records)
    if not records:
        yield line, "", document
    elif sign and isinstance(found, dict):
        yield from ((line, key, record) for key, record in found.items())
    elif not sign and isinstance(found, list):
        yield from ((line, "", record) for record in found)


def _at(place: Any, name: str) -> Any:
    """Return what an object has at a dotted path; the path of nothing is the object itself."""
    for key in filter(None, name.strip(".").split(".")):
        if not isinstance(place, dict) or key not in place:
            return _MISSING
        place = place[key]
    return place


def _list_in(form: Form, record: Any) -> list[Any] | None:
    """Return the list of documents in a record, None where there is none."""
    return next((found for name in form.items if isinstance(found := _at(record, name), list)), None)


def _from_records(records: Iterable[_Record], form: Form, kind: Kind, source: str) -> FileContent:
    """Return the rows and texts of records of one form."""
    queries: list[Any] = []
    documents: list[Any] = []
    values: list[Any] = []
    lines: list[int | None] = []
    kept = Texts({}, {})
    of_value = kind.values_of(form)
    chosen: dict[tuple[str, ...], str] = {}  # of several names, the one that the first record has

    def error(problem: str) -> FormatError:
        return FormatError(source, f"entry {position} {problem}", line=line, text=json.dumps(record))

    def taken(place: Any, names: tuple[str, ...]) -> Any:
        if names not in chosen:
            chosen[names] = next((name for name in names if _at(place, name) is not _MISSING), names[0])
        found = _at(place, chosen[names])
        if found is _MISSING:
            what = "a run" if kind.what == "run" else "qrels"
            raise error(f"has no {chosen[names]!r}, which {what} of the form {form.name} needs")
        return found

    for position, (line, key, record) in enumerate(records, 1):  # noqa: B007 `error` uses it
        if form.items != (".",) and not isinstance(record, dict):
            raise error("is not an object such as {'query_id': ..., 'doc_id': ..., 'score': ...}")
        query = key if form.query == ("*",) else taken(record, form.query)
        items = taken(record, form.items) if form.items else [record]
        if not isinstance(items, list):
            raise error(f"has no list of documents in {chosen[form.items]!r}")
        if text := _text(record, form.query_text):
            kept.queries[str(query)] = text
        for place, item in enumerate(items, 1):
            document = taken(item, form.document) if form.document else item
            if text := _text(item, form.text):
                kept.documents[str(document)] = text
            queries.append(query)
            documents.append(document)
            values.append(taken(item, of_value) if of_value else place if kind.what == "run" else 1)
            lines.append(line)
    value_name = _value_name(kind, chosen.get(of_value))
    return FileContent(checked_columns(source, (queries, documents, values), value_name, lines.__getitem__), texts=kept)


def _text(place: Any, names: tuple[str, ...]) -> str | None:
    """Return the first of these texts that an object has."""
    return next((found for name in names if isinstance(found := _at(place, name), str)), None)


def _is_object(line: bytes) -> bool:
    """Return whether a line is a JSON object by itself."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _lines(blocks: Iterable[Block], source: str) -> Iterator[_Record]:
    """Yield the records of JSON lines."""
    for block in blocks:
        check_bytes(block, source)
        for number, line in nonblank(block):
            yield number, "", parsed_json(line.decode(), source, number)


class _RepeatedName(ValueError):
    """An object with a repeated name, of which `json` would silently keep only the last."""


def _without_repeated_names(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) < len(pairs):
        names = sorted(name for name, _ in pairs)
        raise _RepeatedName(next(name for name, following in pairwise(names) if name == following))
    return members


_DECODER = json.JSONDecoder(object_pairs_hook=_without_repeated_names)  # once: `json.loads` would make one for every line


def parsed_json(text: str, source: str, line: int) -> Any:
    """Return what JSON says; its errors get the line."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        at = line + error.lineno - 1
        shown = text.split("\n")[error.lineno - 1][max(error.colno - 41, 0) : error.colno + 20]
        raise FormatError(source, f"is not JSON ({error.msg}); correct it or write it again", line=at, text=shown) from None
    except _RepeatedName as error:
        problem = "an object has the same name twice; a query or document must occur only once"
        raise FormatError(source, problem, line=line if "\n" not in text.strip() else None, text=str(error)) from None
    except RecursionError:
        raise FormatError(source, "is nested too deeply to be a run or qrels", line=line) from None
    except ValueError as error:  # a number with more digits than Python converts
        raise FormatError(source, f"is not JSON that can be read ({error})", line=line) from None


def _line_of(data: bytes, query: str, document: str) -> int | None:
    """Find the line of a query's document; None where the query occurs in several objects, or is written in an unusual way."""
    starts = list(re.finditer(_written(query) + rb"\s*:\s*[{\[]", data))
    if len(starts) != 1:
        return None
    found = re.compile(_written(document)).search(data, starts[0].end())
    return None if found is None else data.count(b"\n", 0, found.start()) + 1


def _written(text: str) -> bytes:
    """Return a pattern of how JSON can contain a text: as it is, or with all that is not ASCII escaped."""
    return b"(?:%s|%s)" % tuple(re.escape(json.dumps(text, ensure_ascii=ascii).encode()) for ascii in (False, True))


def _from_mteb(document: dict[str, Any], kind: Kind, source: str, selection: str | None, line_of: LineOfPair) -> FileContent:
    """Return one ranking of predictions of MTEB, which has one for each subset and split."""
    if kind.what != "run":
        raise FormatError(source, "contains predictions of MTEB, which are a run: were the arguments swapped?")
    rankings = {
        (f"{subset}/{split}", subset, split): ranking
        for subset, splits in document.items()
        if subset != _MTEB and isinstance(splits, dict)
        for split, ranking in splits.items()
        if isinstance(ranking, dict)
    }
    fitting = [names for names in rankings if selection is None or selection in names]
    choices = ", ".join(f"{source}#{name}" for name, _, _ in rankings)
    if not rankings:
        raise FormatError(source, "contains no rankings; predictions of other tasks than retrieval cannot be evaluated")
    if len(fitting) != 1:
        found = "predictions for several subsets or splits of the task" if fitting else f"no predictions for {selection!r}"
        raise FormatError(source, f"has {found}; choose one: {choices}")
    where = f"{source}#{fitting[0][0]}" if len(rankings) > 1 else source
    columns = columns_of(rankings[fitting[0]], where, kind, line_of)
    queries = np.array([query.encode() for query in columns.query_ids] or [b""], dtype=np.bytes_)
    own = columns.docids == queries[columns.codes]
    warnings: tuple[str, ...] = ()
    if own.any():
        columns = columns.select(~own)
        its, verb = ("its", "is") if own.sum() == 1 else ("their", "are")
        warnings = (
            f"{where}: {plural('document', int(own.sum()))} with the id of {its} own query {verb} left out, because MTEB "
            "stores predictions before it removes a query from its own ranking. If queries and documents are numbered "
            "independently, pass the dict of this subset and split instead.",
        )
    meta = document[_MTEB]
    name = meta.get("model_name") if isinstance(meta, dict) else None
    return FileContent(columns, name if isinstance(name, str) and name else "mteb", warnings=warnings)


# --- Parquet and Python objects


def _is_parquet(head: bytes) -> bool:
    """Return whether content is a Parquet file; a text whose first word begins alike goes on with text."""
    return head.startswith(_MAGIC) and len(head) > 4 and not head[4:5].isspace() and not 0x20 <= head[4] < 0x7F


def _parquet_frame(data: bytes, kind: Kind, source: str, selection: str | None) -> Any:
    """Return the columns of query, document and value through pyarrow, or a frame where only pandas is installed."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingDependency(f"{source}: reading a Parquet file needs the package pyarrow: pip install pyarrow") from None
    try:
        file = ParquetFile(io.BytesIO(data))
        found = _named_columns(file.schema_arrow.names, kind, source, selection=selection)
        refuse_bomb(source, file.metadata.num_rows * _LEAST_ROW, len(data))
        return file.read(list(found[:3]))
    except (ArrowException, OSError) as error:
        if isinstance(error, (FormatError, UnreadableFile)):
            raise
        raise UnreadableFile(f"{source}: is not a valid Parquet file ({error}); fetch or write it again") from None


def _unknown_line(query: str, document: str) -> int | None:
    return None


def columns_of(data: Any, source: str, kind: Kind, line_of: LineOfPair = _unknown_line) -> Columns:
    """Take the columns out of a Python object."""
    if _is_of_ranx(data):
        data = data.to_dict()
    if isinstance(data, Mapping):
        return _from_mapping(data, source, kind, line_of)
    if hasattr(data, "collect") and not hasattr(data, "iter_rows"):  # a lazy frame of polars
        data = data.collect()
    if hasattr(data, "__arrow_c_stream__") and not (is_frame(data) and _library_of(data) in _FRAME_LIBRARIES):
        data = _arrow_table(data)
    if is_frame(data):
        return _from_frame(data, source, kind)
    if isinstance(data, Iterable) and not isinstance(data, (str, bytes)):
        return _from_tuples(data, source, kind)
    raise FormatError(
        source,
        f"cannot be read from a {type(data).__name__}; give a path, an ir_datasets id, a dict of dict, a data frame, "
        "an Arrow stream, an iterable of named tuples, or a Run or Qrels of ranx",
    )


def name_within(data: Any) -> str | None:
    """Return the name that a run of ranx has."""
    return data.name if _is_of_ranx(data) and isinstance(data.name, str) else None


def is_frame(data: Any) -> bool:
    """Return whether this is a table with columns that can be taken by name."""
    return hasattr(data, "columns") and hasattr(data, "__getitem__")


def column_names(frame: Any) -> list[str]:
    """Return the names of a frame's columns; an Arrow table has them elsewhere, because its columns are the data."""
    return [str(name) for name in getattr(frame, "column_names", frame.columns)]


def as_list(column: Any) -> list[Any]:
    """Return the values of a frame's column."""
    return column.to_pylist() if hasattr(column, "to_pylist") else list(column)


def is_ranking(value: Any) -> bool:
    """Return whether this is the ranking of a query without scores: a list of document ids."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1 and value.dtype.kind in "iuUO"
    return isinstance(value, (list, tuple)) and (not value or isinstance(value[0], (str, int, np.integer)))


def _library_of(data: Any) -> str:
    return type(data).__module__.split(".")[0]


def _is_of_ranx(data: Any) -> bool:
    return _library_of(data) == "ranx" and hasattr(data, "to_dict")


def _arrow_table(data: Any) -> Any:
    """Take the stream whatever else the object offers: the columns of a DuckDB relation, for instance, are relations."""
    try:
        import pyarrow
    except ImportError:
        if is_frame(data):
            return data
        raise MissingDependency("reading an Arrow stream needs the package pyarrow: pip install pyarrow") from None
    try:
        return pyarrow.table(data)
    except (TypeError, ValueError, NotImplementedError):  # such as a frame with columns of mixed types
        return data


def _from_mapping(data: Mapping[Any, Any], source: str, kind: Kind, line_of: LineOfPair) -> Columns:
    query_ids = texts(list(data), source, "query id")
    if len(set(query_ids)) < len(query_ids):
        raise FormatError(source, "contains the same query id twice, once as text and once as a number; use text")
    rankings = list(data.values())
    are_mappings = all(issubclass(form, Mapping) for form in set(map(type, rankings)))
    if not are_mappings and not (kind.what == "run" and all(map(is_ranking, rankings))):
        wrong = next({query: ranking} for query, ranking in data.items() if not isinstance(ranking, Mapping))
        lists = " or {query id: [document id, ...]}" if kind.what == "run" else ""
        raise FormatError(source, f"is not a dict of dict {{query id: {{document id: value}}}}{lists}", text=repr(wrong))
    codes = np.repeat(np.arange(len(query_ids), dtype=np.int32), list(map(len, rankings)))
    documents = encoded(list(chain.from_iterable(rankings)), source)

    def line(row: int) -> int | None:
        return line_of(query_ids[codes[row]], documents[row].decode())

    if not are_mappings:
        ranks = np.fromiter(chain.from_iterable(range(1, len(ranking) + 1) for ranking in rankings), np.float64, len(codes))
        return Columns(source, query_ids, codes, documents, ranks, "rank", line)
    value_name = "grade" if kind.what == "qrels" else "score"
    columns = Columns(source, query_ids, codes, documents, np.zeros(0), value_name, line)
    values = list(chain.from_iterable(ranking.values() for ranking in rankings))
    return replace(columns, values=numbers(values, source, columns.named, line))


def _from_frame(frame: Any, source: str, kind: Kind, selection: str | None = None) -> Columns:
    found = _named_columns(column_names(frame), kind, source, selection=selection)
    queries, documents, values = (frame[name] for name in found[:3])
    query_ids, codes = _coded_column(queries, source)
    array = np.asarray(values)
    checked = numbers(array if array.dtype.kind in "fiu" else as_list(values), source)
    return Columns(source, query_ids, codes, _encoded_column(documents, source), checked, found.value_name)


def _coded_column(column: Any, source: str) -> tuple[list[str], Codes]:
    text = _arrow_text(column, source)
    if text is None:
        return coded(as_list(column), source)
    dictionary = text.dictionary_encode()
    return texts(dictionary.dictionary.to_pylist(), source, "query id"), dictionary.indices.to_numpy()


def _encoded_column(column: Any, source: str) -> Ids:
    text = _arrow_text(column, source)
    if text is not None:
        import pyarrow.compute

        sizes = pyarrow.compute.binary_length(text)
        shortest, longest = pyarrow.compute.min_max(sizes).as_py().values()
        width = -(-longest // 8) * 8
        if 0 < shortest <= longest <= LONGEST_ID:
            padded = pyarrow.compute.ascii_rpad(text, width, "\0")
            ids = np.frombuffer(padded.buffers()[2], f"S{width}")[padded.offset : padded.offset + len(padded)]
            # NumPy drops NUL bytes at the end of an id, so an id that ends with one is left to the checks of `encoded`.
            if np.count_nonzero(ids.view(np.uint8)) == pyarrow.compute.sum(sizes).as_py():
                return ids
    return encoded(as_list(column), source)


def _arrow_text(column: Any, source: str) -> Any | None:
    """Take a column that is all text as Arrow has it, without a Python object for each value; None for other columns."""
    if not hasattr(column, "__arrow_c_stream__") or not len(column):
        return None
    try:
        import pyarrow

        chunks = pyarrow.chunked_array(column)
    except (ImportError, TypeError, ValueError, OverflowError, NotImplementedError):
        return None  # such as values of mixed types, or complex numbers
    if len(chunks) != len(column):  # before version 16, pyarrow takes the letters of a polars column for its values
        return None
    if chunks.null_count or str(chunks.type) not in ("string", "large_string", "string_view"):
        return None
    text = chunks.cast(pyarrow.large_string()).combine_chunks()
    try:
        text.validate(full=True)  # Arrow itself does not check that text is UTF-8
    except pyarrow.ArrowInvalid as error:
        problem = f"an id is not UTF-8 ({error}); read the input again with its true encoding"
        raise FormatError(source, problem) from None
    return text


def _from_tuples(rows: Iterable[Any], source: str, kind: Kind) -> Columns:
    rows = list(rows)
    fields = getattr(rows[0], "_fields", ()) if rows else ()
    wrong = next((number for number, row in enumerate(rows, 1) if not fields or getattr(row, "_fields", None) != fields), None)
    if wrong is not None:
        problem = f"row {wrong} is not a named tuple such as ir_measures.ScoredDoc, with the fields of the first row"
        raise FormatError(source, problem, text=repr(rows[wrong - 1]))
    found = _named_columns(fields, kind, source) if rows else Named("", "", "", _value_name(kind, "score"))
    queries, documents, values = ([getattr(row, name) for row in rows] for name in found[:3])
    return checked_columns(source, (queries, documents, values), found.value_name)
