"""Many runs under the same qrels and settings, each evaluated once: what every comparison and leaderboard starts from."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from ir_outcomes._checks import check_choice
from ir_outcomes._types import Ties, Unit
from ir_outcomes.errors import (
    InputError,
    IrOutcomesWarning,
    MismatchError,
    some,
)
from ir_outcomes.evaluation.lengths import SearchLengths, search_lengths
from ir_outcomes.evaluation.parallel import each_run
from ir_outcomes.evaluation.storage import cached_lengths, make_folder
from ir_outcomes.reading.datasets import is_dataset_id
from ir_outcomes.reading.qrels import Qrels, as_qrels
from ir_outcomes.reading.runs import as_run
from ir_outcomes.reading.several import is_path, run_paths
from ir_outcomes.reading.tasks import Task, load

__all__ = [
    "OnError",
    "check_overlap",
    "distinct_names",
    "evaluate",
    "notes_on_listing",
    "notes_on_queries",
    "task_of",
    "unit_of",
]

OnError = Literal["raise", "report"]


def evaluate(
    qrels: Any,
    runs: Sequence[Any] | str | os.PathLike[str],
    *,
    names: Sequence[str | None] | None = None,
    cutoff: int | None,
    rel: int,
    ties: Ties,
    judged_only: bool = False,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
    on_error: OnError = "raise",
) -> list[SearchLengths]:
    """Find where each run ranks each relevant document.

    A run file is read where it is evaluated and then forgotten: memory holds one run per process, and the search lengths.

    Parameters
    ----------
    qrels : Qrels, path, dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels`.
    runs : sequence of Run, path, dict, frame, iterable or SearchLengths; or a directory or pattern of files
        See `ir_outcomes.as_run` and `run_paths`. Search lengths are taken as they are, if they were made with these qrels
        and settings.
    names : sequence of str or None, optional
        What to call each run; None leaves its own name.
    cutoff, rel, ties, judged_only
        See `ir_outcomes.search_lengths`.
    n_jobs : int or None
        Files evaluated at a time, through joblib: -1 for one per processor; None leaves it to ``joblib.parallel_config``,
        which also takes a cluster as backend. The result is the same for any number.
    cache : path, optional
        A folder that keeps the search lengths of run files, by the content of run and qrels and the settings.
    progress : bool
        Show a progress bar on stderr.
    on_error : {"raise", "report"}
        What to do about a run that cannot be evaluated: raise its error, or warn, leave it out and go on.

    Returns
    -------
    list of SearchLengths
        In the order of `runs`. Runs that would go by the same name get their paths or numbers.

    Raises
    ------
    InputError
        If something cannot be read; under "report" if no run can.
    MismatchError
        If search lengths were made otherwise, no query of a run is in the qrels, or no query is answerable.
    ParameterError
        If a setting makes no sense, or the cache cannot be written to.
    MissingDependency
        If `n_jobs` is not 1 and joblib is not installed.

    Warns
    -----
    IrOutcomesWarning
        Under "report", of each run that is left out; and of damaged entries of the cache, which are made anew.
    """
    check_choice("on_error", on_error, get_args(OnError))
    judgments = as_qrels(qrels)
    runs = run_paths(runs) if isinstance(runs, (str, os.PathLike)) else runs
    names = [None] * len(runs) if names is None else names
    settings = {"cutoff": cutoff, "rel": rel, "ties": ties, "judged_only": judged_only}
    work = _Work(judgments, settings, None if cache is None else make_folder(cache))

    tables: list[SearchLengths] = []
    evaluated: list[Any] = []
    first: SearchLengths | None = None  # what was evaluated here holds its arrays that are the same in all runs
    failure: InputError | None = None  # the first; an error holds on to what was being read
    attempts = each_run(partial(_attempt, work), runs, names, n_jobs=n_jobs, progress=progress)
    for run, attempt in zip(runs, attempts, strict=True):
        if attempt.warning is not None:
            warnings.warn(attempt.warning, IrOutcomesWarning, stacklevel=2)
        if isinstance(attempt.result, SearchLengths):
            table = attempt.result
            if not isinstance(run, SearchLengths):
                first = first or table
                shared = {field: getattr(first, field) for field in _same_in_all_runs(ties)}
                table = replace(table, query_ids=judgments.query_ids, **shared)
            tables.append(table)
            evaluated.append(run)
        elif on_error == "raise":
            raise attempt.result
        else:
            failure = failure or attempt.result
            warnings.warn(f"a run is left out: {attempt.result}", IrOutcomesWarning, stacklevel=2)
    if failure is not None and not tables:
        raise failure
    called = distinct_names([table.name for table in tables], evaluated)
    return [table if table.name == name else replace(table, name=name) for table, name in zip(tables, called, strict=True)]


def task_of(qrels: Any) -> Task | None:
    """Return the task that `qrels` is, or is the dataset id of; None for other qrels."""
    if isinstance(qrels, Task):
        return qrels
    is_id = isinstance(qrels, str) and not os.path.exists(qrels) and is_dataset_id(qrels)
    return load(qrels) if is_id else None


def unit_of(unit: Unit | Literal["auto"], task: Task | None, table: SearchLengths) -> Unit:
    """Choose the unit that "auto" stands for: the task's, or "query" where the median query has one relevant document."""
    chosen = task.unit if unit == "auto" and task is not None else unit
    is_query = chosen == "query" or (chosen == "auto" and np.median(table.relevant[table.answerable]) == 1)
    return "query" if is_query else "document"


class _Work(NamedTuple):
    """What the evaluation of every run shares; it travels to the processes."""

    qrels: Qrels
    settings: dict[str, Any]
    cache: Path | None


class _Attempt(NamedTuple):
    """What came of a run, and what to warn of."""

    result: SearchLengths | InputError
    warning: str | None = None


def notes_on_queries(tables: Sequence[SearchLengths]) -> Iterator[str]:
    """Say which queries are left out, count as unanswered, or are ignored."""
    unanswerable = int(np.sum(~tables[0].answerable))
    if unanswerable:
        yield f"{unanswerable} queries have no relevant document at rel {tables[0].rel} and are left out."
    yield from notes_on_listing(tables)


def notes_on_listing(tables: Sequence[SearchLengths]) -> Iterator[str]:
    """Say which queries runs lack, or have beyond the qrels; runs of which the same is to be said share a note."""
    lacking: dict[str, list[str]] = {}
    ignoring: dict[str, list[str]] = {}
    for table in tables:
        absent = np.flatnonzero(table.answerable & ~table.listed)
        if len(absent):
            missing = [table.query_ids[query] for query in absent]
            lacking.setdefault(f"{len(missing)} queries of the qrels ({some(missing)})", []).append(table.name)
        if table.ignored:
            ignoring.setdefault(f"{len(table.ignored)} queries that the qrels lack ({some(table.ignored)})", []).append(
                table.name
            )
    for what, names in lacking.items():
        yield f"{some(names)} {'lacks' if len(names) == 1 else 'lack'} {what}; they count as unanswered."
    for what, names in ignoring.items():
        yield f"{some(names)} {'has' if len(names) == 1 else 'have'} {what}; they are ignored."


def _attempt(work: _Work, run: Any, name: str | None) -> _Attempt:
    """Evaluate one run; an error is returned, so that it does not end the others."""
    warning = None
    try:
        if isinstance(run, SearchLengths):
            table = run
            _check_settings(table, work.qrels.digest, work.settings)
        elif work.cache is not None and is_path(run) and os.path.isfile(run):  # not a pipe, which can be read only once
            table, warning = cached_lengths(work.cache, work.qrels, run, work.settings)
        else:
            table = search_lengths(work.qrels, as_run(run, name), **work.settings)
        _check_answers(table)
    except InputError as error:
        return _Attempt(error)
    return _Attempt(table if name is None else replace(table, name=name), warning)


def _same_in_all_runs(ties: Ties) -> tuple[str, ...]:
    """Name the arrays that need to be held only once: half of the memory, where a tie level is a single document."""
    return ("offsets",) if ties == "expected" else ("offsets", "level_relevant", "level_irrelevant")


def distinct_names(names: Sequence[str], runs: Sequence[Any]) -> list[str]:
    """Give runs that would go by the same name their paths or numbers, so that no table is ambiguous."""
    paths = [os.fspath(run) if isinstance(run, (str, os.PathLike)) else "" for run in runs]
    times = Counter(names)
    result = [path if times[name] > 1 and path else name for name, path in zip(names, paths, strict=True)]
    times = Counter(result)
    return [f"{name} {number}" if times[name] > 1 else name for number, name in enumerate(result)]


def _check_settings(table: SearchLengths, digest: str, settings: Mapping[str, Any]) -> None:
    """Refuse search lengths that were made otherwise than the result will say."""
    if table.qrels_digest != digest:
        raise MismatchError(f"{table.name} was evaluated with other qrels than those of this comparison; give the same")
    for setting, asked in settings.items():
        made = getattr(table, setting)
        if made != asked:
            raise MismatchError(
                f"{table.name} was evaluated with {setting}={made!r}, this comparison has {setting}={asked!r}; "
                f"pass {setting}={made!r} or evaluate it anew"
            )


def _check_answers(table: SearchLengths) -> None:
    if not table.answerable.any():
        raise MismatchError(f"no query of the qrels has a relevant document at rel={table.rel}; lower rel or mend the qrels")
    if not table.listed.any():
        check_overlap(table.name, table.ignored, table.query_ids)


def check_overlap(name: str, queries: tuple[str, ...], judged: tuple[str, ...]) -> None:
    """Refuse a run that has no query of the qrels.

    Raises
    ------
    MismatchError
        Naming queries of both.
    """
    if not set(queries) & set(judged):
        raise MismatchError(
            f"none of the queries of {name} is in the qrels; the run has {some(queries, 3) or 'no query'}, "
            f"the qrels have {some(judged, 3)}: are these for the same topics?"
        )
