"""Tasks: public collections with the settings for comparing runs on them.

`RULES` has the settings of the MS MARCO and TREC Deep Learning ids; the official measures that ir_datasets states for an id
give further ones. All other ids work with default settings and a note about that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

from ir_outcomes.errors import DatasetUnavailable, ParameterError
from ir_outcomes.reading.datasets import (
    DATASET_PREFIX,
    Part,
    Source,
    dataset_of,
    is_dataset_id,
    load_part,
    query_text,
    source_of,
    told_by,
)
from ir_outcomes.reading.qrels import Qrels, as_qrels, query_texts
from ir_outcomes.reading.runs import Run, as_run
from ir_outcomes.types import UnitChoice

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
        """The judgments.

        Raises
        ------
        DatasetUnavailable
            If they cannot be downloaded or read.
        """
        return as_qrels(DATASET_PREFIX + self.dataset_id, self.dataset_id)

    @cached_property
    def queries(self) -> dict[str, str]:
        """The text of each query.

        Raises
        ------
        DatasetUnavailable
            If they cannot be downloaded or read.
        """
        return {query.query_id: query_text(query) for query in load_part(self.dataset_id, "queries")}

    def baseline_run(self) -> Run:
        """Return the ranking that comes with the collection.

        Raises
        ------
        DatasetUnavailable
            If there is none, or it cannot be a baseline, downloaded or read.
        """
        if self.baseline is None:
            raise DatasetUnavailable(f"{self.dataset_id}: {self.baseline_problem}; give a run file as the baseline")
        return as_run(self.baseline)

    def source(self, part: Part) -> Source | None:
        """Return where the queries, qrels or scoreddocs come from; None where there are none. Nothing is downloaded."""
        return source_of(self.dataset_id, part)


def load(name: str) -> Task:
    """Look up a task by its ir_datasets id; nothing is downloaded yet.

    Parameters
    ----------
    name : str
        For example ``"msmarco-document/dev"``. Every id of ir_datasets that has qrels works; `known_tasks` lists those whose
        settings are known.

    Returns
    -------
    Task

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
    dataset = dataset_of(name)
    if not dataset.has_qrels():
        load_part(name, "qrels")  # says so, and which do
    settings: dict[str, Any] = {}
    for pattern, fields in RULES:
        if re.match(pattern, name):
            settings |= fields
    official = [str(measure) for measure in told_by(dataset, "documentation").get("official_measures") or ()]
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
    counts = told_by(dataset, "metadata")
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
