"""Runs evaluated one after another, in this process or in others."""

import os
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ir_outcomes.choices import Floats
from ir_outcomes.errors import (
    EmptyInput,
    InputError,
    MismatchError,
    ParameterError,
    not_installed,
)
from ir_outcomes.evaluation.evaluation import DEFAULT_CUTOFF
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.ranking import RankedDocuments, filtered, ranked_documents
from ir_outcomes.evaluation.runs_of_call import NamedRun
from ir_outcomes.evaluation.scores import measure_values
from ir_outcomes.evaluation.search import search_lengths
from ir_outcomes.reading.datasets import as_run
from ir_outcomes.reading.files import name_of
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Duplicates, Run, is_path

R = TypeVar("R")


class RunResult(NamedTuple):
    """What is kept of one run."""

    lengths: SearchLengths
    values: Floats  # (n_measures, n_queries), of the measures that search lengths do not determine
    documents: RankedDocuments | None = None
    texts: Mapping[str, str] = {}  # of queries, where the file of the run has them
    # Of reading, which another process may do, whose warnings nobody sees.
    warnings: tuple[str, ...] = ()


# It is hashed by identity, because joblib's backend for Dask waits forever for what has no hash.
@dataclass(frozen=True, eq=False)
class Work:
    """Evaluates one run after another, in this process or in others."""

    qrels: Qrels
    settings: dict[str, Any]
    cutoff: int | None  # of the call or the task
    measures: Mapping[Any, bool]  # whether higher values are better
    documents: int
    keeps_empty: bool  # runs without results
    allows_unknown: bool  # runs of whose queries the qrels have none
    duplicates: Duplicates | None  # what counts of a document that a query has twice

    def __call__(self, source: Any, name: str | None) -> RunResult | InputError:
        """Return what is kept of a run, or its error, which must not end the other runs."""
        try:
            if isinstance(source, SearchLengths):
                return self._of_lengths(source)
            return self._of_run(source, name)
        except EmptyInput as error:
            if not self.keeps_empty:
                return error
            title = name or name_of(error.source)
            nothing = Run(title, (), np.zeros(1, np.int64), np.empty(0, "S1"), np.empty(0))
            message = f"{error}; here it counts as a run that finds nothing"
            return self._of_run(nothing, None)._replace(warnings=(message,))
        except InputError as error:
            return error

    def _of_run(self, source: Any, name: str | None) -> RunResult:
        run = as_run(source, name, duplicates=self.duplicates)
        # Measures of ir_measures have no such setting.
        run = filtered(self.qrels, run, drop_self=self.settings["drop_self"])
        lengths = search_lengths(self.qrels, run, **self.settings)
        if not (self.allows_unknown or lengths.diagnosis.listed.any()):
            reason = lengths.diagnosis.unknown_ids or "the run has no query"
            raise EmptyInput(name or lengths.name, reason)
        documents = None
        if self.documents:
            settings = {name: self.settings[name] for name in ("ties", "judged_only")}
            documents = ranked_documents(self.qrels, run, self.documents, **settings)
        values = measure_values(self.qrels, tuple(self.measures), run)
        return RunResult(lengths, values, documents, run.texts)

    def _of_lengths(self, lengths: SearchLengths) -> RunResult:
        """Refuse search lengths with other settings, or without what is asked for."""
        if lengths.qrels_digest != self.qrels.digest:
            raise MismatchError(
                f"{lengths.name} was evaluated with other qrels than the other runs; give the same"
                " qrels"
            )
        for setting, value in self.settings.items():
            computed = getattr(lengths, setting)
            if computed != value:
                raise MismatchError(
                    f"{lengths.name} was evaluated with `{setting}={computed!r}`, here it is"
                    f" `{setting}={value!r}`; pass `{setting}={computed!r}` or evaluate the run"
                    " again"
                )
        lengths.at(self.cutoff or DEFAULT_CUTOFF)
        if self.measures or self.documents:
            raise ParameterError(
                f"the search lengths of {lengths.name} hold neither documents nor"
                " the values of other measures; give the run instead"
            )
        return RunResult(lengths, np.empty((0, len(self.qrels.query_ids))))


def each_run(
    work: Work, jobs: list[NamedRun], n_jobs: int | None
) -> Generator[RunResult | InputError, None, None]:
    """Evaluate runs in their order, several files at a time through joblib."""
    check_jobs(n_jobs)
    # Runs in memory would take longer to send than to evaluate, and a pipe is read by this process
    # only. Paths are absolute because a process that is used again may have started in another
    # directory.
    sent = [n_jobs != 1 and is_path(run) and os.path.isfile(run) for run, *_ in jobs]
    calls = [
        partial(work, os.path.abspath(run), name)
        for (run, name, *_), is_sent in zip(jobs, sent, strict=True)
        if is_sent
    ]
    with closing(in_parallel(calls, n_jobs)) as elsewhere:
        for (run, name, *_), is_sent in zip(jobs, sent, strict=True):
            yield next(elsewhere) if is_sent else work(run, name)


def check_jobs(n_jobs: int | None) -> None:
    """Refuse no job at all, and several jobs without joblib."""
    if n_jobs == 0:
        raise ParameterError(
            "must be 1 or more, -1 for one job per processor, or None", n_jobs=n_jobs
        )
    if n_jobs == 1:
        return
    try:
        import joblib  # noqa: F401  # only whether it is installed is asked
    except ImportError:
        raise not_installed("several jobs need joblib", "parallel") from None


def in_parallel(calls: Sequence[Callable[[], R]], n_jobs: int | None) -> Generator[R, None, None]:
    """Make calls, several at a time, and yield what they return in order."""
    if n_jobs == 1:
        for call in calls:
            yield call()
        return
    from joblib import Parallel, delayed
    from joblib.parallel import get_active_backend

    # loky starts all the processes at once, however few jobs there are.
    limit = n_jobs
    if n_jobs is not None and n_jobs >= 0:
        limit = min(n_jobs, max(2, len(calls)))
    backend, _ = get_active_backend()
    return_as = "list"
    if backend.supports_return_generator:  # others return all results at the end
        return_as = "generator"
    parallel = Parallel(n_jobs=limit, return_as=return_as)
    try:
        with (
            warnings.catch_warnings(),
            closing(result for result in parallel(delayed(call)() for call in calls)) as results,
        ):
            # joblib's advice where an error ends the work early
            warnings.filterwarnings("ignore", ".*You could benefit from adjusting", UserWarning)
            yield from results
    except Exception as error:
        # The second one is raised by Dask.
        if isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker":
            raise ParameterError(
                "a process was killed, perhaps because memory ran out; use fewer jobs",
                n_jobs=n_jobs,
            ) from error
        raise
