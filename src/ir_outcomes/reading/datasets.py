"""What runs are evaluated on: an id of ir_datasets, a `Task`, a path or an object.

A task is a public collection with the settings for comparing runs on it. `RULES` has the settings
of the MS MARCO and TREC Deep Learning ids; the official measures that ir_datasets states for an id
give further ones. All other ids work with default settings and a note about that.
"""

import difflib
import os
import re
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from ir_outcomes.arguments import with_checked_methods
from ir_outcomes.choices import UnitChoice
from ir_outcomes.errors import DatasetUnavailable, ParameterError
from ir_outcomes.reading.qrels import Qrels, qrels_of
from ir_outcomes.reading.runs import DATASET_PREFIX, Duplicates, Run, run_of
from ir_outcomes.reading.texts import query_texts

Part = Literal["queries", "qrels", "scoreddocs"]


class Collection(NamedTuple):
    """Judgments, the task that they belong to, and the texts of queries at hand."""

    qrels: Qrels
    task: "Task | None"
    texts: Mapping[str, str]

    def run(self, source: Any) -> Any:
        """Return a run, and the ranking that comes with the task for ``"irds:"``."""
        if not (isinstance(source, str) and source == DATASET_PREFIX):
            return source
        if self.task is None:
            raise ParameterError(
                "'irds:' is the ranking that comes with a task; the qrels must be a dataset id"
            )
        return self.task.baseline_run()


def open_collection(qrels: Any, queries: Any = None) -> Collection:
    """Read qrels as `ir_outcomes.evaluate` takes them, with texts of queries at hand."""
    task = qrels if isinstance(qrels, Task) else None
    if _is_meant_as_id(qrels):
        task = load(qrels)
    texts: Mapping[str, str] = {}
    if isinstance(queries, Mapping):
        texts = dict(queries)
    elif queries is not None:
        texts = query_texts(queries)
    elif task is not None and task.has("queries") and _has_queries_here(task.dataset_id):
        texts = task.queries
    judgments = as_qrels(qrels) if task is None else task.qrels
    return Collection(judgments, task, texts or judgments.texts)


def as_qrels(qrels: Any, name: str | None = None) -> Qrels:
    """Take qrels in any form that users have.

    Parameters
    ----------
    qrels : Qrels, path, str, dict, frame or iterable
        A `Qrels`; a path, see `read_qrels`, or where no such file exists an ir_datasets id;
        ``{query: {document: grade}}``; a data frame of pandas, Polars or Arrow with the columns of
        ir_measures (``query_id, doc_id, relevance``), PyTerrier (``qid, docno, label``) or BEIR
        (``query-id, corpus-id, score``); an iterable of `ir_measures.Qrel`.
    name : str, optional
        What to call them.

    Raises
    ------
    InputError
        If they cannot be read; see `read_qrels`.
    """
    if isinstance(qrels, Qrels):
        return qrels
    if _is_meant_as_id(qrels):
        name = name or qrels
        qrels = load_part(qrels, "qrels")
    return qrels_of(qrels, name)


def as_run(run: Any, name: str | None = None, *, duplicates: Duplicates | None = None) -> Run:
    """Take a run in any form that users have.

    Parameters
    ----------
    run : Run, path, str, dict, frame or iterable
        A `Run`; a path, see `read_run`; ``"irds:<dataset id>"`` for an ir_datasets collection's own
        ranking; ``{query: {document: score}}``; ``{query: [document, ...]}``, the best first; a
        data frame of pandas, Polars or Arrow with the columns of ir_measures (``query_id, doc_id,
        score``) or PyTerrier (``qid, docno, score``), or with ``rank`` in place of ``score``; an
        iterable of `ir_measures.ScoredDoc`.
    name : str, optional
        What to call it.
    duplicates : {"first", "max"}, optional
        What counts of a document that is ranked twice for a query; see `read_run`.

    Raises
    ------
    InputError
        If it cannot be read; see `read_run`.
    """
    if isinstance(run, str) and run.startswith(DATASET_PREFIX):
        name = name or run
        run = load_part(run, "scoreddocs")
    return run_of(run, name, duplicates)


def _is_meant_as_id(qrels: Any) -> bool:
    """Return whether this is an id, or almost one and in no folder that exists."""
    if not isinstance(qrels, str) or os.path.exists(qrels):
        return False
    return is_dataset_id(qrels) or (
        not os.path.isdir(os.path.dirname(qrels)) and bool(_nearest_ids(qrels))
    )


@with_checked_methods
@dataclass(frozen=True)
class Task:
    """A public collection and the settings for comparing runs on it.

    `qrels`, `queries` and `baseline_run` are downloaded when they are first used.

    Attributes
    ----------
    dataset_id : str
        The id in ir_datasets.
    cutoff : int
        Ranks beyond it do not count: 100 for documents as in Lin et al. 2021, 10 for the sparse
        passage sets, the depth of the track for TREC DL.
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
        """The ranking that comes with the collection, if it can be a baseline."""
        if self.baseline_problem is None:
            return DATASET_PREFIX + self.dataset_id
        return None

    @cached_property
    def qrels(self) -> Qrels:
        """The judgments, or `DatasetUnavailable`."""
        return qrels_of(load_part(self.dataset_id, "qrels"), self.dataset_id)

    @cached_property
    def queries(self) -> dict[str, str]:
        """The text of each query, or `DatasetUnavailable`."""
        queries = load_part(self.dataset_id, "queries")
        return {query.query_id: query.default_text() for query in queries}

    def baseline_run(self) -> Run:
        """Return the ranking that comes with the collection, or `DatasetUnavailable`."""
        if self.baseline is None:
            raise DatasetUnavailable(
                f"{self.dataset_id}: {self.baseline_problem}; give a run file as the baseline"
            )
        return as_run(self.baseline)

    def has(self, part: Part) -> bool:
        """Return whether the collection has queries, qrels or scoreddocs."""
        return bool(getattr(dataset_of(self.dataset_id), f"has_{part}")())


_RANDOM_ORDER = (
    "its ranking holds no scores (all are 0) and stands in random order: candidates to rerank, not"
    " a run"
)
_KNOWN = re.compile(
    r"msmarco-(document|passage)(-v2)?/(train|train/judged|dev[12]?|dev/\w+|trec-dl-.*)"
)

# Fields of `Task` for all ids that begin with a pattern; later rules override earlier ones.
RULES: tuple[tuple[str, dict[str, Any]], ...] = (
    # The document leaderboard and Lin et al. 2021 look at 100 documents, where ir_datasets says
    # RR@10.
    (r"msmarco-document", {"cutoff": 100, "unit": "query", "official_measure": "RR@100"}),
    (r"msmarco-passage", {"cutoff": 10, "unit": "query", "official_measure": "RR@10"}),
    # The Deep Learning track took 1000 passages in its first two years, and 100 of everything else.
    (
        r"msmarco-\w+(-v2)?/trec-dl",
        {"cutoff": 100, "unit": "document", "official_measure": "nDCG@10"},
    ),
    (r"msmarco-passage/trec-dl", {"cutoff": 1000}),
    (r"msmarco-passage(-v2)?/trec-dl|msmarco-\w+/trec-dl-hard", {"rel": 2}),
    (r"msmarco-passage/", {"baseline_problem": _RANDOM_ORDER}),
)


def load(name: str) -> Task:
    """Look up a task by its ir_datasets id without downloading anything.

    Parameters
    ----------
    name : str
        For example ``"msmarco-document/dev"``. Every id of ir_datasets that has qrels works;
        `known_tasks` lists those whose settings are known.

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
    dataset = _dataset_with(name, "qrels")
    settings: dict[str, Any] = {}
    for pattern, fields in RULES:
        if re.match(pattern, name):
            settings |= fields
    official = [
        str(measure) for measure in _stated(dataset, "documentation").get("official_measures") or ()
    ]
    found = (re.fullmatch(r"RR(?:\(rel=(\d+)\))?(?:@\d+)?", measure) for measure in official)
    reciprocal = next(filter(None, found), None)
    if reciprocal is not None:
        settings["rel"] = int(reciprocal[1] or 1)
    notes = []
    if "cutoff" not in settings:
        rel = "rel 1 is a guess"
        if reciprocal is not None:
            rel = f"rel {settings['rel']} is that of its official measures"
        notes.append(
            f"{name} is not known here: cutoff 100 is a guess, {rel}; pass others if its grades"
            " mean something else."
        )
        settings["official_measure"] = official[0] if official else None
    if not dataset.has_scoreddocs():
        settings["baseline_problem"] = "the collection has no ranking of its own"
    elif "baseline_problem" in settings:
        notes.append(f"No baseline of its own: {settings['baseline_problem']}.")
    return Task(
        name,
        **settings,
        n_queries=_count(dataset, "queries"),
        n_judgments=_count(dataset, "qrels"),
        notes=tuple(notes),
    )


def known_tasks() -> list[str]:
    """List the ids whose settings are known: MS MARCO's and TREC Deep Learning's."""
    import ir_datasets

    return [name for name in ir_datasets.registry if has_settings(name)]


def has_settings(name: str) -> bool:
    """Tell whether the settings of an id are known."""
    return _KNOWN.fullmatch(name) is not None


# --- ir_datasets


def _has_queries_here(name: str) -> bool:
    """Return whether queries are in the folder of a collection or above it."""
    from ir_datasets.util import home_path

    folders = [home_path() / name, *(home_path() / name).parents]
    within = folders[: folders.index(home_path())]
    return any(file.is_file() for folder in within for file in folder.glob("*queries*"))


def is_dataset_id(name: str) -> bool:
    """Return whether ir_datasets knows a collection with this id."""
    import ir_datasets

    try:
        ir_datasets.load(name.removeprefix(DATASET_PREFIX))
    except (
        Exception
    ) as error:  # all but a KeyError: made on demand, such as clirmatrix/..., and not to be had now
        return not isinstance(error, KeyError)
    return True


def _nearest_ids(name: str) -> list[str]:
    import ir_datasets

    return difflib.get_close_matches(
        name.removeprefix(DATASET_PREFIX), list(ir_datasets.registry), n=3, cutoff=0.75
    )


def dataset_of(name: str) -> Any:
    """Open a collection of ir_datasets."""
    import ir_datasets

    try:
        return ir_datasets.load(name)
    except KeyError:
        near = _nearest_ids(name)
        hint = "the known ones are listed by: ir-outcomes datasets"
        if near:
            hint = f"did you mean {', '.join(near)}?"
        raise DatasetUnavailable(f"{name}: neither a file nor an ir_datasets id; {hint}") from None
    except Exception as error:
        problem = (
            f"cannot be opened ({reason_of(error)}); try again with a network connection, or give"
            " files"
        )
        raise DatasetUnavailable(f"{name}: {problem}") from error


def _dataset_with(name: str, part: Part) -> Any:
    """Open a collection that has queries, qrels or a ranking of its own."""
    import ir_datasets

    dataset = dataset_of(name)
    if not getattr(dataset, f"has_{part}")():
        if part != "qrels":
            lacks = "ranking of its own" if part == "scoreddocs" else part
            raise DatasetUnavailable(f"{name}: this collection has no {lacks}; give a file instead")
        folder = f"{name.rpartition('/')[0] or name}/"
        within = (key for key in ir_datasets.registry if key.startswith(folder))
        judged = [key for key in within if ir_datasets.load(key).has_qrels()]
        remedy = f"these do: {', '.join(judged[:5])}" if judged else "give a file instead"
        raise DatasetUnavailable(f"{name}: this collection has no qrels; {remedy}")
    return dataset


def load_part(name: str, part: Part) -> list[Any]:
    """Load a part of a collection, downloading it where it is not on this machine."""
    name = name.removeprefix(DATASET_PREFIX)
    dataset = _dataset_with(name, part)
    try:
        rows = list(getattr(dataset, f"{part}_iter")())
    # RuntimeError, OSError, EOFError or an error of a hash, by source
    except Exception as error:
        file = _absent_file(error)
        place = f", put its file at {file}" if file else ""
        raise DatasetUnavailable(
            f"{name}: its {part} cannot be fetched or read ({reason_of(error)}); try again with a"
            f" network connection{place}, or give a file instead of the id"
        ) from error
    is_ranking = part == "scoreddocs" and len(rows) > len({row.query_id for row in rows})
    if is_ranking and len({row.score for row in rows}) == 1:
        problem = (
            f"every score of this collection's own ranking is {rows[0].score}, so it has no order"
        )
        raise DatasetUnavailable(f"{name}: {problem} and cannot be a baseline; give a run file")
    return rows


def _absent_file(error: Exception) -> Path | None:
    """Where ir_datasets looks for the file that it could not download."""
    from ir_datasets.util import Cache, Download, tmp_path

    for frame, _ in traceback.walk_tb(error.__traceback__):
        names = frame.f_locals
        if isinstance(names.get("self"), Cache):
            return Path(names["self"].path(force=False))
        if isinstance(names.get("self"), Download) and "download_path" in names:
            file = Path(names["download_path"])
            return None if file.is_relative_to(tmp_path()) else file
    return None


def _stated(dataset: Any, facts: Literal["documentation", "metadata"]) -> dict[str, Any]:
    """Return what ir_datasets states about a collection."""
    return (getattr(dataset, facts)() if hasattr(dataset, facts) else None) or {}


def _count(dataset: Any, part: Part) -> int | None:
    count: int | None = (_stated(dataset, "metadata").get(part) or {}).get("count")
    return count


def reason_of(error: Exception) -> str:
    """Say why ir_datasets could not read a file or download it."""
    causes = [error]
    if isinstance(error, RuntimeError) and len(error.args) == 2 and isinstance(error.args[1], list):
        causes = [cause for _, cause in error.args[1]]  # one for each mirror
    return "; ".join(str(cause) or type(cause).__name__ for cause in causes)
