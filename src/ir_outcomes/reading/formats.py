"""The forms of files: a table with a row for each form, and the one reader that serves them all.

A file is recognized by its content, not by its name: Parquet by its first bytes; JSON by a brace or
bracket, and then by its keys; a table with a header by the names of its columns; other lines by the
number of their columns. To read another form, add a row to `FORMS`, and a fixture to
``tests/reading/forms/``.
"""

import io
import json
import os
import re
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import replace
from itertools import chain, islice
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.errors import (
    EmptyInput,
    FormatError,
    InputError,
    MissingDependency,
    UnreadableFile,
)
from ir_outcomes.formatting import plural
from ir_outcomes.reading.columns import (
    Columns,
    Form,
    Kind,
    Layout,
    checked_columns,
    columns_of,
    grouped,
    refuse_swapped,
)
from ir_outcomes.reading.files import (
    BOM,
    LONGEST_LINE,
    LONGEST_RECORD,
    Block,
    blocks_of,
    check_bytes,
    decompressed,
    nonblank,
    parsed_json,
    pieces,
    refuse_bomb,
)
from ir_outcomes.reading.measure_names import is_measure_name
from ir_outcomes.reading.text import COLUMN_REMEDY, from_line, number_in, read_lines, shown
from ir_outcomes.types import RunBy

QUERY_NAMES = ("query_id", "qid", "q_id", "query-id")
DOCUMENT_NAMES = ("doc_id", "docno", "docid", "corpus-id")
VALUE_NAMES = ("score", "rank")
GRADE_NAMES = ("relevance", "label", "rel", "grade")

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
_KNOWN_NAMES = {
    name for form in FORMS if not form.items for name in (*form.query, *form.document, *form.value)
}
_JSON = re.compile(rb"\s*(\{\s*(\"|\}|$)|\[)")
_METADATA_START, _METADATA_END = b"# ir_metadata.start", b"# ir_metadata.end"
_SEPARATORS = (b"\t", b",", b";")
_LINES_LOOKED_AT = 50
# The columns of a layout, and what the third one is.
_OF_THREE: dict[str | None, RunBy] = {
    "msmarco": "rank",
    "tevatron": "score",
}
_MTEB = "mteb_model_meta"
_PARQUET = (  # and the first field of a page or of the footer; an id can begin with PAR1 too
    b"PAR1\x15"
)
_LZ4 = b"\x04\x22\x4d\x18"  # once more in decompressed content
_LEAST_ROW = 16  # bytes that a row of Parquet takes as text, at least


class Texts(NamedTuple):
    """The texts that come along in a file, by id."""

    queries: dict[str, str]
    documents: dict[str, str]


class FileContent(NamedTuple):
    """The rows of a file, and its form; the name that it gives to the run, its ir_metadata (YAML), texts, warnings."""

    columns: Columns
    form: str
    name: str | None = None
    metadata: str = ""
    texts: Texts = Texts({}, {})
    warnings: tuple[str, ...] = ()


def read_any_file(path: str | os.PathLike[str], kind: Kind) -> FileContent:
    """Return the content of a file; ``path#name`` says its form, or the subset and split of predictions of MTEB."""
    source, selection = path_and_selection(os.fspath(path))
    kind = kind._replace(selection=selection, by=kind.by or _OF_THREE.get(selection))
    with closing(pieces(source)) as opened:
        (first, *_), content = _first_lines(opened)
        if first.startswith(_PARQUET):
            found = FileContent(
                columns_of(_parquet_table(b"".join(content), kind, source), source, kind), "Parquet"
            )
        elif first.startswith(_LZ4):
            found = FileContent(
                columns_of(_nested_in_lz4(b"".join(content), source), source, kind), "ranx"
            )
        elif _is_json(first, kind):
            found = _read_json(first, content, kind, source)
        else:
            found = _read_lines(content, kind, source)
    names = [form.name for form in kind.forms]
    if selection is not None and found.name is None and selection not in names:
        problem = (
            f"#{selection} in its path says neither its form ({', '.join(names)}) nor, of"
            " predictions of MTEB, a split"
        )
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
    """Return whether a file could be a run, by its first lines: half of them fit, so that the error of a bad line is raised."""
    with closing(pieces(path)) as opened:
        lines, _ = _first_lines(opened)
    if lines[0].startswith((_PARQUET, _LZ4, _METADATA_START)) or _is_json(lines[0], RUN):
        return True
    _, names = _names_of(lines[0])
    if _is_header(names):
        return any(name in names for form in RUN.forms for name in form.value)
    # The output of trec_eval has three columns too.
    names_measure = any(
        is_measure_name(field.decode("utf-8", "replace")) for field in lines[0].split()[:2]
    )
    layouts = [layout for layout in RUN.layouts if layout.columns != 3 or not names_measure]
    return 2 * sum(any(_fits(line, layout) for layout in layouts) for line in lines) >= len(lines)


def _first_lines(opened: Iterator[bytes]) -> tuple[list[bytes], Iterator[bytes]]:
    """Return the first lines that are not blank, and the whole content."""
    head = b""
    for piece in opened:
        head += piece
        if len(head) > LONGEST_LINE or b"\n" in head.removeprefix(BOM).lstrip():
            break
    # The head can be a million lines, of which only the first are split off.
    not_blank = (
        line.removesuffix(b"\n") for line in io.BytesIO(head.removeprefix(BOM)) if line.strip()
    )
    lines = list(islice(not_blank, _LINES_LOOKED_AT + 1))
    # The last may be cut off where the head ends.
    if 1 < len(lines) <= _LINES_LOOKED_AT and not head.endswith(b"\n"):
        lines.pop()
    return lines[:_LINES_LOOKED_AT] or [b""], chain([head], opened)


def _is_json(line: bytes, kind: Kind) -> bool:
    """Return whether content is JSON by its first line, and not lines with an id that begins with a brace or bracket."""
    return bool(_JSON.match(line)) and not any(_fits(line, layout) for layout in kind.layouts)


def _fits(line: bytes, layout: Layout) -> bool:
    """Return whether a line has the columns of a layout, and its value where it belongs."""
    fields = line.split()
    value = number_in(fields[layout.value]) if len(fields) == layout.columns else None
    return value is not None and (layout.value_name == "score" or value.is_integer())


# --- tables: Parquet, and lines with a header or without


def _parquet_table(data: bytes, kind: Kind, source: str) -> Any:
    """Return the columns of query, document and value, as a table of Arrow."""
    try:
        from pyarrow import ArrowException
        from pyarrow.parquet import ParquetFile
    except ImportError:
        raise MissingDependency(
            f"{source}: reading a Parquet file needs the package pyarrow: pip install pyarrow"
        ) from None
    try:
        file = ParquetFile(io.BytesIO(data))
        *names, _ = kind.named(file.schema_arrow.names, source)
        refuse_bomb(source, file.metadata.num_rows * _LEAST_ROW, len(data))
        return file.read(names)
    except InputError:
        raise
    except (ArrowException, OSError) as error:
        raise UnreadableFile(
            f"{source}: is not a valid Parquet file ({error}); fetch or write it again"
        ) from None


def _nested_in_lz4(data: bytes, source: str) -> dict[Any, Any]:
    """Return the run that ranx writes into ``.lz4`` files: CBOR, compressed twice."""
    try:
        from cbor2 import loads
    except ImportError:
        raise MissingDependency(
            f"{source}: reading a run of ranx in lz4 needs the package cbor2: pip install cbor2"
        ) from None
    try:
        packed = io.BytesIO()
        for piece in decompressed(io.BufferedReader(io.BytesIO(data))):
            packed.write(piece)
            refuse_bomb(source, packed.tell(), len(data))
        document = loads(packed.getvalue())
    except InputError:
        raise
    except Exception as error:  # each decoder raises its own
        raise FormatError(
            source, f"is lz4 within lz4, but not a run of ranx ({error}); write it again"
        ) from None
    if not isinstance(document, dict):
        raise FormatError(
            source,
            f"is lz4 within lz4 with a {type(document).__name__}, and not a run of ranx; write it"
            " again",
        )
    return document


def _is_header(names: Iterable[str]) -> bool:
    """Return whether the fields of a line are names of columns: at least two of them are known names."""
    return len(_KNOWN_NAMES.intersection(names)) >= 2


def _names_of(line: bytes) -> tuple[bytes | None, list[str]]:
    """Return the separator of a header, None for white space, and its names."""
    separator = next((sign for sign in _SEPARATORS if sign in line), None)
    return separator, [
        name.strip().strip(b"\"'").decode("utf-8", "replace").lower()
        for name in line.split(separator)
    ]


def _read_lines(content: Iterable[bytes], kind: Kind, source: str) -> FileContent:
    """Return the content of lines: a table with a header, or a layout by the number of columns."""
    metadata, first, blocks = _without_metadata(blocks_of(content, source), kind, source)
    number, line = next(nonblank(first))
    separator, names = _names_of(line)
    layout = next((layout for layout in kind.layouts if layout.columns == len(line.split())), None)
    if _is_header(names) and not (layout and _fits(line, layout)):
        check_bytes(Block(number, line), source)
        *parts, value_name = kind.named(names, source, number)
        query, document, value = map(names.index, parts)
        layout = Layout(len(names), query, document, value, value_name, separator)
        columns = read_lines(blocks, layout, source, number + 1)
        refuse_swapped(columns, kind, parts)
        return FileContent(columns, "columns", metadata=metadata)
    if layout is None:
        check_bytes(first, source)
        fields = line.split()
        problem = (
            f"has {plural('column', len(fields))}, expected"
            f" {' or '.join(str(own.columns) for own in kind.layouts)}"
        )
        if any(_fits(line, foreign) for foreign in _other(kind).layouts if foreign.columns > 3):
            problem += (
                f"; these look like the columns of {_called(_other(kind))}: were the arguments"
                " swapped?"
            )
        else:
            problem += COLUMN_REMEDY
        raise FormatError(source, problem, line=number, text=shown(fields))
    columns = read_lines(blocks, layout, source, number)
    if layout.columns == 3 and kind.by is None:
        columns = _ranks_or_scores(columns)
    form = "three columns" if layout.columns == 3 else "TREC"
    return FileContent(columns, form, metadata=metadata)


def _other(kind: Kind) -> Kind:
    return QRELS if kind.what == "run" else RUN


def _called(kind: Kind) -> str:
    return "a run" if kind.what == "run" else "qrels"


def _without_metadata(
    blocks: Iterator[Block], kind: Kind, source: str
) -> tuple[str, Block, Iterator[Block]]:
    """Return the ir_metadata header of a run (Breuer et al., SIGIR 2022), and the first and all blocks behind it."""
    first, blocks = _first_block(blocks, source)
    if kind.what != "run" or not first.data.lstrip().startswith(_METADATA_START):
        return "", first, blocks
    check_bytes(first, source)
    texts: list[str] = []
    for number, line in nonblank(first):
        if line.strip() == _METADATA_END:
            return "\n".join(texts[1:]), *_first_block(from_line(blocks, number + 1), source)
        if not line.startswith(b"#"):
            break
        texts.append(line.decode().rstrip()[1:].removeprefix(" "))
    problem = "the ir_metadata header must be comment lines and end with '# ir_metadata.end'"
    raise FormatError(source, problem, line=number, text=shown([line.strip()]))


def _first_block(blocks: Iterator[Block], source: str) -> tuple[Block, Iterator[Block]]:
    """Return the first block with a line that is not blank, and the blocks from it on."""
    for block in blocks:
        if block.data and not block.data.isspace():
            return block, chain([block], blocks)
    raise EmptyInput(source, "is empty; nothing can be evaluated from it")


def _ranks_or_scores(columns: Columns) -> Columns:
    """Decide once for all lines whether the third of three columns holds ranks, as MS MARCO writes them, or scores."""
    offsets, _, values = grouped(columns)
    # Ranks are 1 to n in each query.
    before = np.repeat(offsets[:-1], np.diff(offsets))
    counted = np.arange(1, len(values) + 1) - before
    if np.array_equal(values, counted):
        return replace(columns, value_name="rank")
    if np.any(values < 0) or np.any(values != np.floor(values)):
        return columns
    raise FormatError(
        columns.source,
        "has three columns, and it cannot be told whether the third has ranks or scores; say it as"
        " FILE#rank or FILE#score",
    )


# --- JSON


# A record's line where that is known, its key in an object, and the record itself.
_Record = tuple[int | None, str, Any]
_MISSING: Any = object()


def _read_json(first_line: bytes, content: Iterable[bytes], kind: Kind, source: str) -> FileContent:
    """Return the content of JSON lines, of which the first line is an object by itself, or of a JSON document."""
    line = None
    is_object = False
    with suppress(FormatError):
        is_object = isinstance(parsed_json(first_line.decode("utf-8", "replace"), source, 1), dict)
    if is_object:
        lines = _lines(blocks_of(content, source, LONGEST_RECORD), source)
        first = next(lines)
        second = next(lines, None)
        if second is not None:
            return _from_list(chain([first, second], lines), kind, source)
        line, _, document = first  # a document on one line, or a single record
    else:
        data = b"".join(content)
        check_bytes(Block(1, data.removeprefix(BOM)), source)
        document = parsed_json(data.decode("utf-8-sig"), source, 1)
    if isinstance(document, list):
        return _from_list(((None, "", record) for record in document), kind, source)
    if _MTEB in document:
        return _from_mteb(document, kind, source)
    form = _json_form(document, kind.forms, kind, source, line)
    if form is None:
        columns = columns_of(document, source, kind)
        refuse_swapped(columns, kind, (None, None, None))
        return FileContent(columns, "JSON")
    found = _from_records(_members(document, form.records, line), form, kind, source)
    for names, kept in ((form.query_text, found.texts.queries), (form.text, found.texts.documents)):
        for name in names:
            if name.startswith("$.") and isinstance(texts_by_id := document.get(name[2:]), dict):
                kept.update(
                    (key, text) for key, text in texts_by_id.items() if isinstance(text, str)
                )
    return found


def _lines(blocks: Iterable[Block], source: str) -> Iterator[_Record]:
    """Yield the records of JSON lines."""
    for block in blocks:
        check_bytes(block, source)
        for number, line in nonblank(block):
            yield number, "", parsed_json(line.decode(), source, number)


def _from_list(records: Iterator[_Record], kind: Kind, source: str) -> FileContent:
    """Return the content of records, which all have the form of the first."""
    first = next(records, None)
    if first is None:
        raise EmptyInput(source, "is empty; nothing can be evaluated from it")
    line, _, record = first
    forms = [form for form in kind.forms if form.query and not form.records]
    form = _json_form(record, forms, kind, source, line)
    if form is None and isinstance(record, dict):
        kind.named(list(record), source, line)  # says what it lacks
    return _from_records(chain([first], records), form or forms[0], kind, source)


def _json_form(
    record: Any, forms: Iterable[Form], kind: Kind, source: str, line: int | None
) -> Form | None:
    """Return the form whose keys a record or document has, None where none fits; refuse what has those of the other kind."""
    fitting = [form for form in forms if _has_keys(form, kind, record)]
    other = _other(kind)
    swapped = next(
        (form.name for form in other.forms if not fitting and _has_keys(form, other, record)), None
    )
    if swapped is not None:
        raise FormatError(
            source,
            f"has the keys of {_called(other)} ({swapped}): were the arguments swapped?",
            line=line,
        )
    return kind.only(fitting, source)


def _has_keys(form: Form, kind: Kind, document: Any) -> bool:
    """Return whether the first record of a document has the keys of a form."""
    first = next(_members(document, form.records, None), None)
    if first is None or not form.query:
        return False
    _, _, record = first
    if form.items and not any(isinstance(_at(record, name), list) for name in form.items):
        return False
    parts = (form.query,) if form.items else (form.query, form.document, kind.values_of(form))
    return all(
        part == ("*",) or any(_at(record, name) is not _MISSING for name in part) for part in parts
    )


def _members(document: Any, records: str, line: int | None) -> Iterator[_Record]:
    """Yield the records of a document, with their keys."""
    place, sign, _ = records.rpartition("*")
    found = _at(document, place if sign else records)
    if not records:
        yield line, "", document
    elif sign and isinstance(found, dict):
        yield from ((line, key, record) for key, record in found.items())
    elif not sign and isinstance(found, list):
        yield from ((line, "", record) for record in found)


def _at(place: Any, name: str) -> Any:
    """Return what an object has at a dotted path; the path of nothing is the object itself."""
    for key in filter(None, name.split(".")):
        if not isinstance(place, dict) or key not in place:
            return _MISSING
        place = place[key]
    return place


class _Entry(NamedTuple):
    """A record, and where it stands."""

    position: int
    line: int | None
    record: Any


class _Fields:
    """The names of the fields of records: of several, the one that the first record has."""

    def __init__(self, form: Form, kind: Kind, source: str) -> None:
        self.source = source
        self.expected = f"as {_called(kind)} of the form {form.name} has it"
        self.chosen: dict[tuple[str, ...], str] = {}

    def of(self, place: Any, names: tuple[str, ...], entry: _Entry, kinds: type = object) -> Any:
        """Return what a place of an entry has under one of these names."""
        if names not in self.chosen:
            present = (name for name in names if _at(place, name) is not _MISSING)
            self.chosen[names] = next(present, names[0])
        name = self.chosen[names]
        found = _at(place, name)
        if found is _MISSING or not isinstance(found, kinds):
            problem = f"entry {entry.position} has no {name!r} {self.expected}"
            text = json.dumps(entry.record)
            raise FormatError(self.source, problem, line=entry.line, text=text)
        return found


def _from_records(records: Iterable[_Record], form: Form, kind: Kind, source: str) -> FileContent:
    """Return the rows and texts of records of one form."""
    queries: list[Any] = []
    documents: list[Any] = []
    values: list[Any] = []
    lines: list[int | None] = []
    kept = Texts({}, {})
    of_value = kind.values_of(form)
    fields = _Fields(form, kind, source)
    for position, (line, key, record) in enumerate(records, 1):
        entry = _Entry(position, line, record)
        query = key if form.query == ("*",) else fields.of(record, form.query, entry)
        items = fields.of(record, form.items, entry, list) if form.items else [record]
        if text := _text(record, form.query_text):
            kept.queries[str(query)] = text
        for place, item in enumerate(items, 1):
            document = fields.of(item, form.document, entry) if form.document else item
            if text := _text(item, form.text):
                kept.documents[str(document)] = text
            queries.append(query)
            documents.append(document)
            value = place if kind.what == "run" else 1
            values.append(fields.of(item, of_value, entry) if of_value else value)
            lines.append(line)
    named = tuple(fields.chosen.get(names) for names in (form.query, form.document, of_value))
    columns = checked_columns(
        source, (queries, documents, values), kind.value_name(named[2]), line_of=lines.__getitem__
    )
    if of_value:
        refuse_swapped(columns, kind, named)
    return FileContent(columns, form.name, texts=kept)


def _text(place: Any, names: tuple[str, ...]) -> str | None:
    """Return the first of these texts that an object has."""
    return next((found for name in names if isinstance(found := _at(place, name), str)), None)


def _from_mteb(document: dict[str, Any], kind: Kind, source: str) -> FileContent:
    """Return one ranking of predictions of MTEB, which has one for each subset and split."""
    if kind.what != "run":
        raise FormatError(
            source, "contains predictions of MTEB, which are a run: were the arguments swapped?"
        )
    rankings = {
        f"{subset}/{split}": ranking
        for subset, splits in document.items()
        if subset != _MTEB and isinstance(splits, dict)
        for split, ranking in splits.items()
        if isinstance(ranking, dict)
    }
    fitting = [name for name in rankings if kind.selection in (None, name, *name.split("/"))]
    if len(fitting) != 1:
        choices = ", ".join(f"{source}#{name}" for name in rankings) or "none for retrieval"
        which = (
            "" if kind.selection is None else f", and not one ranking that #{kind.selection} names"
        )
        raise FormatError(
            source, f"contains predictions of MTEB{which}; choose one of these runs: {choices}"
        )
    where = f"{source}#{fitting[0]}" if len(rankings) > 1 else source
    columns = columns_of(rankings[fitting[0]], where, kind)
    queries = np.array([query.encode() for query in columns.query_ids] or [b""], dtype=np.bytes_)
    own = columns.docids == queries[columns.codes]
    warnings: tuple[str, ...] = ()
    if own.any():
        columns = columns.select(~own)
        its, verb = ("its", "is") if own.sum() == 1 else ("their", "are")
        warnings = (
            (
                f"{where}: {plural('document', int(own.sum()))} with the id of {its} own query"
                f" {verb} left out, because MTEB stores predictions before it removes a query from"
                " its own ranking. If queries and documents are numbered independently, pass the"
                " dict of this subset and split instead."
            ),
        )
    name = _at(document, f"{_MTEB}.model_name")
    return FileContent(
        columns, "MTEB", name if isinstance(name, str) and name else "mteb", warnings=warnings
    )
