"""Before a number is shown: what was read, and what in it changes results."""

import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import compress
from typing import Any, Literal, get_args

import numpy as np

from ir_outcomes.errors import InputError, some
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.ranking import ranking
from ir_outcomes.evaluation.remarks import (
    MANY_AGAINST_RANKS,
    MANY_BELOW_ITSELF,
    MANY_MISSING,
    n_missing,
    notes_on_queries,
    rises,
    unjudged_share,
)
from ir_outcomes.evaluation.repairs import Repair, compared_documents, repair_of_queries
from ir_outcomes.evaluation.search import JUDGED_DEPTH, search_lengths
from ir_outcomes.formatting import plural
from ir_outcomes.reading.datasets import as_run, open_collection
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Duplicates, Run, changes_by_rank, is_path, runs_and_names
from ir_outcomes.results import Result
from ir_outcomes.table_columns import NUMBER, PERCENT, Column, decimals, rows_of

MANY_IDS = 0.05  # of the judged documents, so many more that another way of writing ids adds
NEARLY_ALL = 0.99  # share of the documents with the score of the one before

# The worst first.
ProblemKind = Literal[
    "unreadable",
    "query ids",
    "document ids",
    "missing queries",
    "identical runs",
    "scores against ranks",
    "equal scores",
    "queries as documents",
    "scattered queries",
    "repeated judgments",
]

_KINDS = get_args(ProblemKind)
# What each problem does to a comparison, and what to do about it; an error says that by itself.
_ADVICE: Mapping[ProblemKind, str] = {
    "unreadable": "",
    "query ids": (
        "Queries that do not match count as not answered. Write the ids alike in both files."
    ),
    "document ids": (
        "Documents that do not match count as not relevant. Write the ids alike in both files."
    ),
    "missing queries": (
        "They count as not answered, which can make a run worse by itself. Run the system on them,"
        " or leave them out of the qrels."
    ),
    "identical runs": (
        "A comparison of the two finds no difference. Was the new run written? Give the file that"
        " was meant."
    ),
    "scores against ranks": (
        "Runs are ordered by their scores, so other documents come first than the ranks say. If the"
        " ranks are right, put #rank behind the path; if lower scores are better, negate them."
    ),
    "equal scores": (
        "The order is then that of the document ids, not that of the system. Write scores that fall"
        " with the rank; if the ranks are right, put #rank behind the path."
    ),
    "queries as documents": (
        "No judgment can reward it. If queries are documents, too, pass --drop-self, or"
        " `drop_self=True` in Python."
    ),
    "scattered queries": (
        "They are read as one list, as if they stood together. Was a file appended to another?"
    ),
    "repeated judgments": (
        "Each is counted once. Remove the repeated lines, unless files were joined that should stay"
        " apart."
    ),
}


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
    #: queries whose scores contradict the ranks; None without a column of both
    against_ranks: int | None = None
    itself: int | None = None  #: queries with a document of their own id; None for the qrels


@dataclass(frozen=True)
class Finding:
    """What is wrong in one file."""

    file: str  #: the run, or the qrels
    text: str
    #: the rule that makes ids match, and how many more queries or documents then do
    repair: Repair | None = None


@dataclass(frozen=True)
class Problem:
    """Something that changes results, in all files where the same repairs it."""

    kind: ProblemKind
    findings: tuple[Finding, ...]
    advice: str  #: what it does to a comparison, and what to do

    @property
    def files(self) -> list[str]:
        """The runs, or the qrels, that it is about."""
        return [finding.file for finding in self.findings]

    def __str__(self) -> str:
        first, *others = self.findings
        if self.kind == "unreadable":
            return first.text
        text = f"{first.file}: {first.text}"
        if others:
            text += f" The same in {some([finding.file for finding in others], 10)}."
        return f"{text} {self.advice}"


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
    problems : tuple of Problem
        What changes results; empty where nothing does.
    grades : mapping of str to int
        How many judgments have each grade, the lowest first.
    """

    files: tuple[CheckedFile, ...]
    problems: tuple[Problem, ...]
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

    Problems are runs that cannot be read, ids of queries or documents that do not match, more than
    5 % of the queries missing, identical runs, scores that contradict the ranks beside them in more than 1 % of the
    queries, equal scores, documents with the id of their query,
    lines of a query in several places, and repeated judgments.

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
    >>> repair = result.problems[0].findings[0].repair
    >>> repair.rule, repair.matches
    ('a trailing ".0" in the run', 2)
    """
    collection = open_collection(qrels)
    judgments = collection.qrels
    rel = 1 if collection.task is None else collection.task.rel
    name = _path(qrels) or judgments.name
    files = [
        CheckedFile(
            name, judgments.form, len(judgments) + judgments.repeated, len(judgments.query_ids)
        )
    ]
    found: dict[ProblemKind, list[Finding]] = defaultdict(list)
    evaluated: list[SearchLengths] = []
    first_of: dict[bytes, str] = {}  # the run with such lists
    for source, given in zip(*runs_and_names(runs), strict=True):
        called = given or _path(source)
        try:
            run = as_run(collection.run(source), called, duplicates=duplicates)
        except InputError as error:
            files.append(CheckedFile(called or "run", "unreadable", 0, 0))
            text = " ".join(str(error).split("\n  "))
            found["unreadable"].append(Finding(called or "run", text))
            continue
        lengths = search_lengths(judgments, run, rel=rel)
        file = _file(source, run, lengths)
        for kind, finding in _findings(judgments, run, lengths, file):
            found[kind].append(finding)
        twin = first_of.setdefault(lengths.digests.tobytes(), run.name)
        if lengths.listed.any() and twin != run.name:
            text = f"it has the lists of {twin}, for every query."
            found["identical runs"].append(Finding(run.name, text))
        files.append(file)
        evaluated.append(lengths)
    if judgments.repeated:
        text = f"{plural('judgment', judgments.repeated)} repeated."
        found["repeated judgments"].append(Finding(name, text))
    return CheckResult(
        files=tuple(files),
        problems=tuple(
            Problem(kind, tuple(alike), _ADVICE[kind])
            for kind in _KINDS
            for alike in _by_repair(kind, found[kind])
        ),
        grades=Counter(map(str, np.sort(judgments.grades).tolist())),
        notes=tuple(notes_on_queries(evaluated)) if evaluated else (),
    )


def _by_repair(kind: ProblemKind, findings: list[Finding]) -> Iterable[list[Finding]]:
    """Put findings together that are repaired alike; a file that cannot be read stands alone."""
    groups: dict[str | None, list[Finding]] = defaultdict(list)
    for finding in findings:
        rule = None if finding.repair is None else finding.repair.rule
        groups[finding.text if kind == "unreadable" else rule].append(finding)
    return groups.values()


def _path(source: Any) -> str | None:
    return os.fspath(source) if is_path(source) else None


def _file(source: Any, run: Run, lengths: SearchLengths) -> CheckedFile:
    changes = changes_by_rank(source) if is_path(source) else None
    return CheckedFile(
        name=run.name,
        form=run.form,
        lines=len(run),
        queries=len(run.query_ids),
        known=len(run.query_ids) - len(lengths.ignored),
        judged=1 - (unjudged_share(lengths, JUDGED_DEPTH) or 0) if lengths.listed.any() else None,
        ties=float(ranking(run, lengths.ties).tied.sum() / max(len(run), 1)),
        depth=int(np.diff(run.offsets).max()),
        against_ranks=None if changes is None else int(np.sum(changes[0] > 0)),
        itself=int(lengths.retrieves_itself.sum()),
    )


def _findings(
    qrels: Qrels, run: Run, lengths: SearchLengths, file: CheckedFile
) -> Iterator[tuple[ProblemKind, Finding]]:
    """Yield what is wrong with a run."""
    n_queries = len(lengths.answerable_queries)
    missing = n_missing(lengths)
    of_queries = repair_of_queries(lengths.ignored, compress(lengths.query_ids, ~lengths.listed))
    if of_queries is not None or not lengths.listed.any():
        text = (
            f"the qrels lack {len(lengths.ignored)} of its {plural('query', len(run.query_ids))}"
            f" ({some(lengths.ignored, 3)}; they have {some(lengths.query_ids, 3)})."
        )
        yield "query ids", _with_repair(run, text, of_queries)
    elif missing > MANY_MISSING * n_queries:
        text = f"it has no results for {missing} of the {n_queries} answerable queries."
        yield "missing queries", Finding(run.name, text)
    documents = compared_documents(qrels, run, of_queries)
    repair = documents.repair
    if repair is not None and repair.matches > MANY_IDS * documents.n_judged:
        text = (
            f"the qrels judge {documents.n_judged} of the"
            f" {plural('document', documents.n_listed)} in its top {JUDGED_DEPTH}"
            f" {documents.examples}."
        )
        yield "document ids", _with_repair(run, text, repair)
    elif lengths.unknown_ids and lengths.listed.any():
        text = f"the qrels have none of its {plural('document', len(run))} {documents.examples}."
        yield "document ids", Finding(run.name, text)
    against = file.against_ranks or 0
    if against > MANY_AGAINST_RANKS * file.queries or rises(lengths):
        share = f"{against} of {file.queries} queries"
        text = f"in {share} a document scores higher than one ranked before it."
        yield "scores against ranks", Finding(run.name, text)
    if file.ties and file.ties >= NEARLY_ALL * (1 - file.queries / file.lines):
        text = "all documents of a query have the same score."
        yield "equal scores", Finding(run.name, text)
    if run.scattered:
        text = f"the lines of {plural('query', run.scattered)} stand in several places."
        yield "scattered queries", Finding(run.name, text)
    below = int(lengths.below_itself[lengths.answerable].sum())
    if below > MANY_BELOW_ITSELF * n_queries:
        text = (
            f"in {below} of {plural('query', n_queries)} the document with the query's own id"
            f" stands above what is relevant; {file.itself} have it."
        )
        yield "queries as documents", Finding(run.name, text)


def _with_repair(run: Run, text: str, repair: Repair | None) -> Finding:
    return Finding(run.name, text if repair is None else f"{text} {repair}", repair)
