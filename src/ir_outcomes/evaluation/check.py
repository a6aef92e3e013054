"""Before a number is shown: what was read, and what in it changes results."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from ir_outcomes.errors import InputError, some
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.ranking import ranking
from ir_outcomes.evaluation.remarks import (
    MANY_MISSING,
    n_missing,
    notes_on_missing,
    notes_on_runs,
    notes_on_unanswerable,
    unjudged_share,
)
from ir_outcomes.evaluation.repairs import Documents, documents_to_repair, repair_of_queries
from ir_outcomes.evaluation.search import JUDGED_DEPTH, search_lengths
from ir_outcomes.formatting import plural
from ir_outcomes.notes import Note, note
from ir_outcomes.reading.datasets import as_run, open_collection
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Duplicates, Run, is_path, runs_and_names
from ir_outcomes.results import Result
from ir_outcomes.table_columns import NUMBER, PERCENT, Column, decimals, rows_of

# The kinds of notes that are problems here, the worst first.
PROBLEMS = (
    "unreadable",
    "unknown-ids",
    "ids",
    "many missing",
    "identical",
    "rising-scores",
    "scores against ranks",
    "equal-scores",
    "queries as documents",
    "scattered",
    "repeated judgments",
)


@dataclass(frozen=True)
class CheckedFile:
    """What was read from the qrels, or from a run."""

    name: str  #: of the qrels or of the run
    form: str  #: what the file is; empty for an object in memory
    lines: int  #: judgments, or documents of all lists; 0 where it cannot be read
    queries: int  #: that it has
    known: int | None = None  #: queries of the run that the qrels have; None for the qrels
    #: share of its first 10 documents that the qrels judge; None for the qrels
    judged: float | None = None
    #: share of its documents with the same score as the one before; None for the qrels
    ties: float | None = None
    depth: int | None = None  #: documents of its longest list; None for the qrels
    #: queries of the qrels whose scores contradict the ranks; None for the qrels
    against_ranks: int | None = None
    itself: int | None = None  #: queries with a document of their own id; None for the qrels


FILE_COLUMNS = (
    Column("file", lambda file: os.path.basename(file.name)),
    Column("form"),
    Column("lines", form=NUMBER),
    Column("queries", form=NUMBER),
    Column("known", form=NUMBER),
    Column(
        "documents",
        lambda file: file.lines / file.queries if file.queries else None,
        "per query",
        decimals(1),
    ),
    Column("judged", heading="judged, %", form=PERCENT),
    Column("ties", heading="ties, %", form=PERCENT),
    Column("depth", form=NUMBER),
)


@dataclass(frozen=True)
class CheckResult(Result):
    """What was read, and what in it changes results.

    Attributes
    ----------
    files : tuple of CheckedFile
        The qrels, then each run.
    problems : tuple of Note
        What changes results, one note for each kind and repair; empty where nothing does.
    grades : mapping of str to int
        How many judgments have each grade, the lowest first.
    """

    files: tuple[CheckedFile, ...]
    problems: tuple[Note, ...]
    grades: Mapping[str, int]

    @property
    def exit_status(self) -> int:
        """Exit status: 1 where a run cannot be read, 3 with other problems, else 0."""
        if any(problem.kind == "unreadable" for problem in self.problems):
            return 1
        return 3 if self.problems else 0

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for the qrels and for each run."""
        return rows_of((*FILE_COLUMNS, Column("against_ranks"), Column("itself")), self.files)


def check(qrels: Any, runs: Any, *, duplicates: Duplicates | None = None) -> CheckResult:
    """Say what is in files, and what would change results.

    Problems are the notes of an analysis that begin with a file: ids that do not match, more than
    5 % of the queries missing, identical runs, scores that contradict the ranks beside them or are
    all equal, documents with the id of their query. So are runs that cannot be read, lines of a
    query in several places, and repeated judgments.

    Parameters
    ----------
    qrels, runs, duplicates
        See `ir_outcomes.evaluate`.

    Raises
    ------
    InputError
        If the qrels cannot be read, or runs cannot be found.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> result = check(qrels, {"new": {"q1": {"d1.0": 2.0, "d7.0": 1.0}, "q2": {"d2.0": 1.0}}})
    >>> [problem.kind for problem in result.problems]
    ['unknown-ids']
    >>> print(result.problems[0].partition(". ")[2])
    Without a trailing ".0" in the run 2 more would match.
    """
    collection = open_collection(qrels)
    judgments = collection.qrels
    rel = 1 if collection.task is None else collection.task.rel
    name = _path(qrels) or judgments.name
    n_judgments = len(judgments) + judgments.repeated
    files = [CheckedFile(name, judgments.form, n_judgments, len(judgments.query_ids))]
    notes: list[Note] = []
    evaluated: list[SearchLengths] = []
    scattered: dict[str, int] = {}
    compared: dict[str, Documents] = {}  # of runs of which more documents could match
    for source, name_of_run in zip(*runs_and_names(runs), strict=True):
        title = name_of_run or _path(source)
        try:
            run = as_run(collection.run(source), title, duplicates=duplicates)
        except InputError as error:
            files.append(CheckedFile(title or "run", "unreadable", 0, 0))
            text = " ".join(str(error).split("\n  "))
            notes.append(note("unreadable", text, [title or "run"]))
            continue
        lengths = search_lengths(judgments, run, rel=rel)
        files.append(_file(run, lengths))
        evaluated.append(lengths)
        scattered[run.name] = run.scattered
        documents = _documents(judgments, run, lengths)
        if documents is not None:
            compared[run.name] = documents
    notes += _notes_on_ids(compared)
    notes += _notes_on_lines(name, judgments, scattered)
    if evaluated:
        notes += _notes_on_runs(judgments, evaluated)
    return CheckResult(
        files=tuple(files),
        problems=tuple(about for kind in PROBLEMS for about in notes if about.kind == kind),
        grades=Counter(map(str, np.sort(judgments.grades).tolist())),
        notes=tuple(about for about in notes if about.kind not in PROBLEMS),
    )


def _notes_on_lines(name: str, qrels: Qrels, scattered: Mapping[str, int]) -> Iterator[Note]:
    """Yield what is wrong with lines: of runs, queries whose lines stand apart."""
    apart = [run for run, number in scattered.items() if number]
    if apart:
        text = (
            f"the lines of {plural('query', max(scattered.values()))} of {some(apart, 3)} stand in"
            " several places and are read as one list. Was a file appended to another?"
        )
        yield note("scattered", text, apart)
    if qrels.repeated:
        text = (
            f"{plural('judgment', qrels.repeated)} of {name} repeated and counted once. Remove the"
            " repeated lines, unless files were joined that should stay apart."
        )
        yield note("repeated judgments", text, [name])


def _notes_on_runs(qrels: Qrels, runs: Sequence[SearchLengths]) -> Iterator[Note]:
    """Yield what a comparison of the runs would say of its input."""
    n_queries = len(runs[0].answerable_queries)
    missing = {run.name: n_missing(run) for run in runs if run.diagnosis.listed.any()}
    absent = {name: number for name, number in missing.items() if number > MANY_MISSING * n_queries}
    yield from notes_on_missing(absent, n_queries, runs=list(absent))
    yield from notes_on_unanswerable(runs)
    yield from notes_on_runs(runs, qrels)


def _documents(qrels: Qrels, run: Run, lengths: SearchLengths) -> Documents | None:
    """Return which documents match, unless it is known why none does."""
    diagnosis = lengths.diagnosis
    absent = compress(lengths.query_ids, ~diagnosis.listed)
    of_queries = repair_of_queries(diagnosis.ignored, absent)
    is_explained = of_queries is None
    if diagnosis.listed.any():
        is_explained = diagnosis.unknown_ids != ""
    return None if is_explained else documents_to_repair(qrels, run, of_queries)


def _notes_on_ids(compared: Mapping[str, Documents]) -> Iterator[Note]:
    """Yield the rules by which documents of runs would match, each once."""
    by_rule = defaultdict[str, list[str]](list)
    for name, documents in compared.items():
        if documents.repair is not None:
            by_rule[documents.repair.rule].append(name)
    for runs in by_rule.values():
        documents = compared[runs[0]]
        text = (
            f"the qrels judge {documents.n_judged} of the {plural('document', documents.n_listed)}"
            f" in the top {JUDGED_DEPTH} of {runs[0]} {documents.examples}. {documents.repair}"
        )
        if len(runs) > 1:
            text += f" The same in {some(runs[1:], 10)}."
        yield note("ids", text, runs)


def _path(source: Any) -> str | None:
    return os.fspath(source) if is_path(source) else None


def _file(run: Run, lengths: SearchLengths) -> CheckedFile:
    """Return what was read of a run."""
    return CheckedFile(
        name=run.name,
        form=run.form,
        lines=len(run),
        queries=len(run.query_ids),
        known=len(run.query_ids) - len(lengths.diagnosis.ignored),
        judged=1 - (unjudged_share(lengths) or 0) if lengths.diagnosis.listed.any() else None,
        ties=float(ranking(run, lengths.ties).tied.sum() / max(len(run), 1)),
        depth=int(np.diff(run.offsets).max()),
        against_ranks=int(lengths.diagnosis.against_ranks.sum()),
        itself=int(lengths.diagnosis.retrieves_itself.sum()),
    )
