"""What runs are evaluated on: qrels, the texts of their queries, and tasks, which are public collections with settings.

`RULES` has the settings of the MS MARCO and TREC Deep Learning ids; the official measures that ir_datasets states for an id
give further ones. All other ids work with default settings and a note about that.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ir_outcomes.errors import DatasetUnavailable, FormatError, ParameterError, UnreadableFile, warn
from ir_outcomes.formatting import plural
from ir_outcomes.reading import datasets
from ir_outcomes.reading.columns import Codes, Columns, Ids, columns_of, digest_of, grouped, nested_dict, repeated
from ir_outcomes.reading.datasets import DATASET_PREFIX, Part, Source, is_dataset_id, load_part
from ir_outcomes.reading.files import STDIN, blocks, lines_of, name_of, parsed_json, read_texts
from ir_outcomes.reading.formats import QRELS, read_any_file, texts_in
from ir_outcomes.reading.runs import Run, as_run
from ir_outcomes.types import Ints, UnitChoice

_ID_NAMES = ("_id", "query_id", "qid")
_TEXT_NAMES = ("text", "query")


def _qrels_file(folder: str) -> str:
    """Return the qrels of a BEIR dataset: those of the test split, or the only ones."""
    within = os.path.join(folder, "qrels")
    place = within if os.path.isdir(within) else folder
    found = sorted(name for name in os.listdir(place) if name.endswith(".tsv"))
    if "test.tsv" in found or len(found) == 1:
        return os.path.join(place, "test.tsv" if "test.tsv" in found else found[0])
    if found:
        choices = ", ".join(os.path.join(place, name) for name in found)
        raise UnreadableFile(f"{folder}: has no qrels/test.tsv, but several other splits; name the file itself: {choices}")
    raise UnreadableFile(f"{folder}: a directory, not a file; as qrels, a directory must be a BEIR dataset with qrels/test.tsv")


def beir_texts(folder: str | os.PathLike[str]) -> dict[str, str]:
    """Read the texts of the queries of a BEIR dataset, by their ids.

    Parameters
    ----------
    folder : path
        The folder of the dataset, which contains ``queries.jsonl`` (or a compressed ``queries.jsonl.gz``).

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
    return _texts_of_json_lines(_queries_file(folder), _TEXT_NAMES)


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


def _texts_of_json_lines(path: str, names: tuple[str, ...]) -> dict[str, str]:
    texts: dict[str, str] = {}
    for number, line in lines_of(path):
        if not line.strip():
            continue
        try:
            record = parsed_json(line, path, number)
            identifier, text = (next(record[name] for name in known if name in record) for known in (_ID_NAMES, names))
        except (FormatError, LookupError, TypeError, RuntimeError):  # RuntimeError: none of the names is there
            identifier = text = None
        if not isinstance(identifier, str) or not isinstance(text, str):
            problem = f'is not an object with text for "_id" and "{names[0]}"; correct or remove the line'
            raise FormatError(path, problem, line=number, text=line.strip())
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

    The content decides what the file is, not its name: TREC's four columns, CSV, TSV or Parquet with names of columns as those
    of BEIR, JSON, or what other tools write; the documentation lists all forms. It may be compressed.

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
        If it is a Parquet file and pyarrow is not installed.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "dev.qrels")
    >>> _ = path.write_text("q1 0 d1 1\nq2 0 d7 1\n")
    >>> read_qrels(path)
    Qrels('dev', 2 queries, 2 judgments)
    """
    is_folder = os.path.isdir(path)
    file = _qrels_file(os.fspath(path)) if is_folder else path
    content = read_any_file(file, QRELS)
    qrels = _checked(content.columns, name or name_of(os.path.abspath(path) if is_folder else path))
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
        if is_dataset_id(qrels) or (not is_path and datasets.nearest_ids(qrels)):
            source = default = qrels
            qrels = load_part(qrels, "qrels")
    if isinstance(qrels, (str, os.PathLike)):
        return read_qrels(qrels, name=name)
    return _checked(columns_of(qrels, source, QRELS), name or default)


def _checked(columns: Columns, name: str) -> Qrels:
    if not columns.query_ids:
        raise FormatError(columns.source, "contains no judgments; nothing can be evaluated with them")
    columns.refuse_fractions()
    again, firsts = repeated(columns.codes, columns.docids)
    differing = np.flatnonzero(columns.values[again] != columns.values[firsts])
    if len(differing):
        row, original = int(again[differing[0]]), int(firsts[differing[0]])
        query, document = columns.query_ids[columns.codes[row]], columns.docids[row].decode()
        grades = f"{columns.values[original]:.0f} and {columns.values[row]:.0f}"
        raise columns.error(row, f"document {document} has two grades for query {query}, {grades}; keep one")
    if len(again):
        warn(f"{columns.source}: {plural('judgment', len(again))} repeated with the same grade and counted once")
        keep = np.ones(len(columns.codes), dtype=bool)
        keep[again] = False
        columns = columns.select(keep)
    offsets, docids, values = grouped(columns)
    return Qrels(name, tuple(columns.query_ids), offsets, docids, values.astype(np.int64))


_RANDOM_ORDER = "its ranking holds no scores (all are 0) and stands in random order: candidates to rerank, not a run"
_KNOWN = re.compile(r"msmarco-(document|passage)(-v2)?/(train|train/judged|dev[12]?|dev/\w+|trec-dl-.*)")

# Fields of `Task` for all ids that begin with a pattern; later rules override earlier ones.
RULES: tuple[tuple[str, dict[str, Any]], ...] = (
    # The document leaderboard and Lin et al. 2021 look at 100 documents, where ir_datasets says RR@10.
    (r"msmarco-document", {"cutoff": 100, "unit": "query", "official_measure": "RR@100"}),
    (r"msmarco-passage", {"cutoff": 10, "unit": "query", "official_measure": "RR@10"}),
    # The Deep Learning track took 1000 passages in its first two years, and 100 of everything else.
    (r"msmarco-\w+(-v2)?/trec-dl", {"cutoff": 100, "unit": "document", "official_measure": "nDCG@10"}),
    (r"msmarco-passage/trec-dl", {"cutoff": 1000}),
    (r"msmarco-passage(-v2)?/trec-dl|msmarco-\w+/trec-dl-hard", {"rel": 2}),
    (r"msmarco-passage/", {"baseline_problem": _RANDOM_ORDER}),
)


@dataclass(frozen=True)
class Task:
    """A public collection and the settings for comparing runs on it.

    `qrels`, `queries` and `baseline_run` are downloaded when they are first used.

    Attributes
    ----------
    dataset_id : str
        The id in ir_datasets.
    cutoff : int
        Ranks beyond it do not count: 100 for documents as in Lin et al. 2021, 10 for the sparse passage sets, the depth of the
        track for TREC DL.
    rel : int
        Smallest grade of a relevant document.
    unit : {"auto", "query", "document"}
        What is answered or not; "auto" where that depends on the qrels.
    official_measure : str or None
        The measure that the collection's leaderboard or track reports.
    baseline_problem : str or None
        Why the ranking that comes with the collection is not a baseline; None where it is one.
    n_queries, n_judgments : int or None
        Numbers of queries and judgments, where ir_datasets states them.
    notes : tuple of str
        Assumptions, and what else users should know.
    """

    dataset_id: str
    cutoff: int = 100
    rel: int = 1
    unit: UnitChoice = "auto"
    official_measure: str | None = None
    baseline_problem: str | None = None
    n_queries: int | None = None
    n_judgments: int | None = None
    notes: tuple[str, ...] = ()

    @property
    def baseline(self) -> str | None:
        """The ranking that comes with the collection, ``irds:<dataset id>``, if it can be a baseline; else None."""
        return DATASET_PREFIX + self.dataset_id if self.baseline_problem is None else None

    @cached_property
    def qrels(self) -> Qrels:
        """The judgments; `DatasetUnavailable` where they cannot be downloaded or read."""
        return as_qrels(DATASET_PREFIX + self.dataset_id, self.dataset_id)

    @cached_property
    def queries(self) -> dict[str, str]:
        """The text of each query; `DatasetUnavailable` where they cannot be downloaded or read."""
        return {query.query_id: datasets.query_text(query) for query in load_part(self.dataset_id, "queries")}

    def baseline_run(self) -> Run:
        """Return the ranking that comes with the collection; `DatasetUnavailable` where there is none, or it cannot be read."""
        if self.baseline is None:
            raise DatasetUnavailable(f"{self.dataset_id}: {self.baseline_problem}; give a run file as the baseline")
        return as_run(self.baseline)

    def source(self, part: Part) -> Source | None:
        """Return where the queries, qrels or scoreddocs come from; None where there are none. Nothing is downloaded."""
        return datasets.source_of(self.dataset_id, part)


def load(name: str) -> Task:
    """Look up a task by its ir_datasets id; nothing is downloaded yet.

    Parameters
    ----------
    name : str
        For example ``"msmarco-document/dev"``. Every id of ir_datasets that has qrels works; `known_tasks` lists those whose
        settings are known.

    Raises
    ------
    DatasetUnavailable
        If the id is unknown or has no qrels; the message names the nearest ones.

    Examples
    --------
    >>> task = load("msmarco-document/dev")
    >>> task.cutoff, task.rel, task.unit, task.official_measure
    (100, 1, 'query', 'RR@100')
    """
    name = name.removeprefix(DATASET_PREFIX)
    dataset = datasets.dataset_of(name)
    if not dataset.has_qrels():
        load_part(name, "qrels")  # says so, and which do
    settings: dict[str, Any] = {}
    for pattern, fields in RULES:
        if re.match(pattern, name):
            settings |= fields
    official = [str(measure) for measure in datasets.told_by(dataset, "documentation").get("official_measures") or ()]
    official_rel = _rel_of(official)
    if official_rel is not None:
        settings["rel"] = official_rel
    notes = []
    if "cutoff" not in settings:
        rel = f"rel {official_rel} is that of its official measures" if official_rel else "rel 1 is a guess"
        notes.append(f"{name} is not known here: cutoff 100 is a guess, {rel}; pass others if its grades mean something else.")
        settings["official_measure"] = official[0] if official else None
    if not dataset.has_scoreddocs():
        settings["baseline_problem"] = "the collection has no ranking of its own"
    elif "baseline_problem" in settings:
        notes.append(f"No baseline of its own: {settings['baseline_problem']}.")
    counts = datasets.told_by(dataset, "metadata")
    return Task(
        name,
        **settings,
        n_queries=(counts.get("queries") or {}).get("count"),
        n_judgments=(counts.get("qrels") or {}).get("count"),
        notes=tuple(notes),
    )


class Collection(NamedTuple):
    """What runs are evaluated on: the judgments, the task that they are of, and the texts of the queries that are known."""

    qrels: Qrels
    task: Task | None
    texts: Mapping[str, str]

    def run(self, source: Any) -> Any:
        """Return a run, with the ranking that comes with the task in the place of ``"irds:"``."""
        if not (isinstance(source, str) and source == DATASET_PREFIX):
            return source
        if self.task is None:
            raise ParameterError("'irds:' is the ranking that comes with a task; the qrels must be a dataset id")
        return self.task.baseline_run()


def open_collection(qrels: Any, queries: Any = None) -> Collection:
    """Read qrels, given as `ir_outcomes.evaluate` takes them, with the texts of the queries where they are at hand."""
    task = qrels if isinstance(qrels, Task) else None
    if isinstance(qrels, str) and not os.path.exists(qrels) and is_dataset_id(qrels):
        task = load(qrels)
    texts: Mapping[str, str] = {}
    if isinstance(queries, Mapping):
        texts = dict(queries)
    elif queries is not None:
        texts = query_texts(queries)
    elif task is not None:
        source = task.source("queries")
        texts = task.queries if source is not None and source.here else {}
    judgments = task.qrels if task else as_qrels(qrels)
    return Collection(judgments, task, texts or judgments.texts)


def known_tasks() -> list[str]:
    """List the ids whose settings are known: those of MS MARCO and of the TREC Deep Learning track."""
    import ir_datasets

    return [name for name in ir_datasets.registry if _KNOWN.fullmatch(name)]


def _rel_of(measures: list[str]) -> int | None:
    """Return the smallest relevant grade of the official measures, if one is a reciprocal rank."""
    for measure in measures:
        reciprocal = re.fullmatch(r"RR(?:\(rel=(\d+)\))?(?:@\d+)?", measure)
        if reciprocal:
            return int(reciprocal[1] or 1)
    return None
