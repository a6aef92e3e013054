"""Before a number is shown: what was read, and what in it changes results."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import compress
from typing import Any, Literal, get_args

import numpy as np

from ir_outcomes.errors import InputError, some
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.ranking import (
    ranked_rows,
    ranked_scores,
    spans,
    tied_with_previous,
)
from ir_outcomes.evaluation.remarks import (
    MANY_AGAINST_RANKS,
    MANY_MISSING,
    Entry,
    Repair,
    n_missing,
    notes_on_queries,
    repair_of,
    repair_of_queries,
    unjudged_share,
)
from ir_outcomes.evaluation.search import search_lengths
from ir_outcomes.formatting import plural
from ir_outcomes.reading.columns import Ids
from ir_outcomes.reading.datasets import as_run, open_collection
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run, changes_by_rank, is_path, runs_and_names
from ir_outcomes.results import Result
from ir_outcomes.table_columns import NUMBER, PERCENT, Column, decimals, rows_of
from ir_outcomes.types import Ints

DEPTH = 10  # documents of each list that the qrels are likeliest to know
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
    "repeated judgments",
]

_KINDS = get_args(ProblemKind)
# What each problem does to a comparison, and what to do about it; an error says that by itself.
_ADVICE: Mapping[ProblemKind, str] = {
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


@dataclass(frozen=True)
class Problem:
    """Something that changes results."""

    kind: ProblemKind
    file: str  #: the run, or the qrels, that it is about
    text: str  #: what is wrong, what it does to a comparison, and what to do
    #: the rule that makes ids match, and how many more queries or documents then do
    repair: Repair | None = None


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
        """Exit status of the command: 1 where a run cannot be read, 3 where there is another problem, else 0."""
        if any(problem.kind == "unreadable" for problem in self.problems):
            return 1
        return 3 if self.problems else 0

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row for the qrels and for each run."""
        return rows_of((*FILE_COLUMNS, Column("against_ranks")), self.files)


def check(qrels: Any, runs: Any) -> CheckResult:
    """Say what files contain, and what in them would change results, before any number is computed from them.

    Problems are runs that cannot be read, ids of queries or documents that do not match, more than
    5 % of the queries missing, identical runs, scores that contradict the ranks beside them in more than 1 % of the
    queries, equal scores, and repeated judgments.

    Parameters
    ----------
    qrels, runs
        See `ir_outcomes.evaluate`.

    Raises
    ------
    InputError
        If the qrels cannot be read, or runs cannot be found.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> result = check(qrels, {"new": {"q1": {"d1.0": 2.0, "d7.0": 1.0}, "q2": {"d2.0": 1.0}}})
    >>> result.problems[0].repair.rule, result.problems[0].repair.matches
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
    problems: list[Problem] = []
    evaluated: list[SearchLengths] = []
    first_of: dict[bytes, str] = {}  # the run with such lists
    for source, given in zip(*runs_and_names(runs), strict=True):
        called = given or _path(source)
        try:
            run = as_run(collection.run(source), called)
        except InputError as error:
            files.append(CheckedFile(called or "run", "unreadable", 0, 0))
            problems.append(
                Problem("unreadable", called or "run", " ".join(str(error).split("\n  ")))
            )
            continue
        lengths = search_lengths(judgments, run, rel=rel)
        repair = repair_of_queries(lengths.ignored, compress(lengths.query_ids, ~lengths.listed))
        file = _file(source, run, lengths)
        problems += _about_queries(run, lengths, repair)
        problems += _about_documents(judgments, run, lengths, repair)
        problems += _about_order(file)
        twin = first_of.setdefault(lengths.digests.tobytes(), run.name)
        if lengths.listed.any() and twin != run.name:
            problems.append(
                _problem(
                    "identical runs", run.name, f"it has the lists of {twin}, for every query."
                )
            )
        files.append(file)
        evaluated.append(lengths)
    if judgments.repeated:
        problems.append(
            _problem(
                "repeated judgments", name, f"{plural('judgment', judgments.repeated)} repeated."
            )
        )
    return CheckResult(
        files=tuple(files),
        problems=tuple(sorted(problems, key=lambda problem: _KINDS.index(problem.kind))),
        grades=Counter(map(str, np.sort(judgments.grades).tolist())),
        notes=tuple(notes_on_queries(evaluated)) if evaluated else (),
    )


def _path(source: Any) -> str | None:
    return os.fspath(source) if is_path(source) else None


def _problem(kind: ProblemKind, file: str, finding: str, repair: Repair | None = None) -> Problem:
    rule = "" if repair is None else f" {repair}"
    return Problem(kind, file, f"{file}: {finding}{rule} {_ADVICE[kind]}", repair)


def _file(source: Any, run: Run, lengths: SearchLengths) -> CheckedFile:
    scores, _ = ranked_scores(run, lengths.ties)
    judged = 1 - (unjudged_share(lengths, DEPTH) or 0)
    return CheckedFile(
        name=run.name,
        form=run.form,
        lines=len(run),
        queries=len(run.query_ids),
        known=len(run.query_ids) - len(lengths.ignored),
        judged=judged if lengths.listed.any() else None,
        ties=float(tied_with_previous(scores, run.offsets).sum() / max(len(run), 1)),
        depth=int(np.diff(run.offsets).max()),
        against_ranks=_against_ranks(source, run),
    )


def _about_queries(run: Run, lengths: SearchLengths, repair: Repair | None) -> Iterator[Problem]:
    """Yield what is wrong with the ids of queries, or with how many there are."""
    n_queries = len(lengths.answerable_queries)
    missing = n_missing(lengths)
    if repair is not None or not lengths.listed.any():
        ids = f"({some(lengths.ignored, 3)}; they have {some(lengths.query_ids, 3)})"
        finding = (
            f"the qrels lack {len(lengths.ignored)} of its {len(run.query_ids)} queries {ids}."
        )
        yield _problem("query ids", run.name, finding, repair)
    elif missing > MANY_MISSING * n_queries:
        yield _problem(
            "missing queries",
            run.name,
            f"it has no results for {missing} of the {n_queries} answerable queries.",
        )


def _about_documents(
    qrels: Qrels, run: Run, lengths: SearchLengths, of_queries: Repair | None
) -> Iterator[Problem]:
    """Yield what is wrong with the ids of documents, also where queries match only by a rule."""
    alike = str if of_queries is None else of_queries.undo
    sizes = np.minimum(np.diff(run.offsets), DEPTH)
    rows, _ = spans(run.offsets[:-1], sizes)
    order = ranked_rows(run, lengths.ties)
    if order is not None:
        rows = order[rows]
    first = _entries(map(alike, run.query_ids), sizes, run.docids[rows])
    judged = _entries(map(alike, qrels.query_ids), np.diff(qrels.offsets), qrels.docids)
    unknown = first - judged
    lacking = judged - first
    n_judged = len(first & judged)
    repair = repair_of(unknown, lacking)
    examples = (
        some(sorted({identifier for _, identifier in entries}), 3) for entries in (unknown, lacking)
    )
    ids = f"({'; they have '.join(examples)})"
    if repair is not None and repair.matches > MANY_IDS * n_judged:
        yield _problem(
            "document ids",
            run.name,
            f"the qrels judge {n_judged} of the {plural('document', len(first))} in its top {DEPTH}"
            f" {ids}.",
            repair,
        )
    elif first and not lengths.known:
        yield _problem(
            "document ids", run.name, f"the qrels have none of its {len(run)} documents {ids}."
        )


def _entries(queries: Iterable[str], sizes: Ints, docids: Ids) -> set[Entry]:
    """Return document ids with their queries, which have so many each."""
    owners = np.repeat(list(queries), sizes).tolist()
    return set(zip(owners, map(bytes.decode, docids.tolist()), strict=True))


def _about_order(file: CheckedFile) -> Iterator[Problem]:
    """Yield what is wrong with the scores."""
    if (file.against_ranks or 0) > MANY_AGAINST_RANKS * file.queries:
        share = f"{file.against_ranks} of {file.queries} queries"
        yield _problem(
            "scores against ranks",
            file.name,
            f"in {share} a document scores higher than one ranked before it.",
        )
    if file.ties and file.ties >= NEARLY_ALL * (1 - file.queries / file.lines):
        yield _problem("equal scores", file.name, "all documents of a query have the same score.")


def _against_ranks(source: Any, run: Run) -> int | None:
    """Count the queries whose scores contradict the ranks; None without a column of both."""
    changes = changes_by_rank(source) if is_path(source) else None
    return None if changes is None else int(np.sum(changes[0] > 0))
