"""Runs evaluated one after another, in this process or in others, or taken from saved evaluations; what is kept of each."""

import os
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple, Self, TypeVar

import numpy as np

from ir_outcomes.errors import (
    EmptyInput,
    InputError,
    MismatchError,
    ParameterError,
    not_installed,
    some,
    warn,
)
from ir_outcomes.evaluation.evaluation import Evaluation, is_saved, load_evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.ranking import RankedDocuments, ranked_documents
from ir_outcomes.evaluation.remarks import repair_of_queries
from ir_outcomes.evaluation.replicates import Listed
from ir_outcomes.evaluation.scores import measure_values
from ir_outcomes.evaluation.search import search_lengths
from ir_outcomes.formatting import with_progress
from ir_outcomes.reading.datasets import as_run
from ir_outcomes.reading.files import name_of
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run, is_path
from ir_outcomes.types import Floats, OnError

R = TypeVar("R")


@dataclass(frozen=True, eq=False)
class SavedRun:
    """A run of a saved evaluation."""

    lengths: SearchLengths
    values: Mapping[str, Floats]  # of the measures that were kept, by their names
    system: str | None = None  # of which it is one of several runs


class SavedRuns(NamedTuple):
    """Runs, with those of saved evaluations in the place of their files, and these."""

    runs: Any
    evaluations: Mapping[str, Evaluation] = {}  # by the path of the file

    @classmethod
    def among(cls, runs: Any) -> Self:
        """Find the saved evaluations among runs, and load them."""
        listed = list(runs) if isinstance(runs, (list, tuple)) else [runs]
        loaded = {
            os.fspath(source): load_evaluation(source) for source in listed if is_saved(source)
        }
        if not loaded:
            return cls(runs)
        return cls(
            [
                run
                for source in listed
                for run in (_runs_in(loaded[os.fspath(source)]) if is_saved(source) else [source])
            ],
            loaded,
        )

    def shared(self, setting: Literal["cutoff", "unit"]) -> Any:
        """Return what they were evaluated with; None where there are none."""
        found = {
            path: getattr(evaluation, setting) for path, evaluation in self.evaluations.items()
        }
        if len(set(found.values())) > 1:
            each = ", ".join(f"{path}: {value}" for path, value in found.items())
            raise MismatchError(
                f"saved evaluations have different {setting}s ({each}); say which {setting} holds"
            )
        return next(iter(found.values()), None)


def saved_baseline(source: Any) -> SavedRuns:
    """Return a saved evaluation that has only one run."""
    found = SavedRuns.among(source)
    names = [run.lengths.name for run in found.runs]
    if len(names) > 1:
        raise ParameterError(
            f"{os.fspath(source)} holds {len(names)} runs ({some(names)}), and the baseline is one"
            " of them: give the file among the contenders, and the baseline by its name"
        )
    return found


def _runs_in(evaluation: Evaluation) -> list[SavedRun]:
    system_of = {run: name for name, runs in evaluation.replicates.items() for run in runs}
    found = []
    for row, lengths in enumerate(evaluation):
        values = {scores.measure: scores.values[row] for scores in evaluation.scores}
        found.append(SavedRun(lengths, values, system_of.get(lengths.name)))
    return found


class Kept(NamedTuple):
    """What is kept of one run."""

    lengths: SearchLengths
    values: Floats  # (n_measures, n_queries), of the measures that search lengths do not determine
    documents: RankedDocuments | None = None
    unjudged: RankedDocuments | None = None
    texts: Mapping[str, str] = {}  # of queries, where the file of the run has them
    # Of reading, which another process may do, whose warnings nobody sees.
    warnings: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()  # the first documents of the run, where the qrels know none of it


# It is hashed by identity, because joblib's backend for Dask waits forever for what has no hash.
@dataclass(frozen=True, eq=False)
class Work:
    """Evaluates one run after another, in this process or in others."""

    qrels: Qrels
    settings: dict[str, Any]
    cutoff: int
    measures: tuple[Any, ...]
    documents: int
    unjudged: bool
    keeps_empty: bool  # runs without results

    def __call__(self, source: Any, name: str | None) -> Kept | InputError:
        """Return what is kept of a run, or its error, which must not end the other runs."""
        try:
            if isinstance(source, SearchLengths):
                result = self._of_saved(SavedRun(source, {}))
            elif isinstance(source, SavedRun):
                result = self._of_saved(source)
            else:
                result = self._of_run(source, name)
            _check_answers(result.lengths, name or result.lengths.name)
        except InputError as error:
            if self.keeps_empty and isinstance(error, EmptyInput):
                nothing = Run(
                    name or name_of(error.source),
                    (),
                    np.zeros(1, np.int64),
                    np.empty(0, "S1"),
                    np.empty(0),
                )
                message = f"{error}; here it counts as a run that finds nothing"
                return self._of_run(nothing, None)._replace(warnings=(message,))
            return error
        return result

    def _of_run(self, source: Any, name: str | None) -> Kept:
        run = as_run(source, name)
        documents = None
        unjudged = None
        if self.documents or self.unjudged:
            ranked = ranked_documents(
                self.qrels,
                run,
                max(self.documents, self.cutoff if self.unjudged else 0),
                ties=self.settings["ties"],
                judged_only=self.settings["judged_only"],
            )
            if self.documents:
                documents = ranked.first(self.documents)
            if self.unjudged:
                unjudged = ranked.first(self.cutoff).unjudged()
        lengths = search_lengths(self.qrels, run, **self.settings)
        unknown = () if lengths.known else tuple(map(bytes.decode, run.docids[:3].tolist()))
        values = measure_values(self.qrels, self.measures, run)
        return Kept(lengths, values, documents, unjudged, run.texts, (), unknown)

    def _of_saved(self, run: SavedRun) -> Kept:
        """Refuse search lengths that were computed with other settings than the result will say, and what was not kept."""
        lengths = run.lengths
        if lengths.qrels_digest != self.qrels.digest:
            raise MismatchError(
                f"{lengths.name} was evaluated with other qrels than the other runs; give the same"
                " qrels"
            )
        for setting in ("rel", "ties", "judged_only"):
            computed = getattr(lengths, setting)
            wanted = self.settings[setting]
            if computed != wanted:
                raise MismatchError(
                    f"{lengths.name} was evaluated with `{setting}={computed!r}`, here it is"
                    f" `{setting}={wanted!r}`; pass `{setting}={computed!r}` or evaluate the run"
                    " again"
                )
        lengths.at(self.cutoff)
        asked = [str(measure) for measure in self.measures]
        lacking = [measure for measure in asked if measure not in run.values]
        if self.documents or self.unjudged:
            lacking.append("documents")
        if lacking:
            raise ParameterError(
                f"the search lengths of {lengths.name}, of a saved evaluation, do not hold"
                f" {lacking[0]}; give the file of the run instead"
            )
        values = np.empty((0, len(self.qrels.query_ids)))
        if asked:
            values = np.stack([run.values[measure] for measure in asked])
        return Kept(lengths, values)


def evaluated(
    work: Work,
    jobs: list[Listed],
    *,
    n_jobs: int | None,
    progress: bool,
    on_error: OnError,
) -> list[tuple[Listed, Kept]]:
    """Evaluate runs; return those that could be, with what is kept of them."""
    done: list[tuple[Listed, Kept]] = []
    first: SearchLengths | None = None
    failure: InputError | None = None  # only the first: an error holds on to what was being read
    with closing(each_run(work, jobs, n_jobs)) as attempts:
        for job, result in zip(
            jobs, with_progress(attempts, "run", len(jobs), shown=progress), strict=True
        ):
            if isinstance(result, Kept):
                for message in result.warnings:
                    warn(message)
                first = first or result.lengths
                done.append((job, result._replace(lengths=result.lengths.sharing(first))))
            elif on_error == "report":
                failure = failure or result
                warn(f"a run is left out: {result}")
            else:
                raise result
    if failure is not None and not done:
        raise failure
    return done


def each_run(
    work: Work, jobs: list[Listed], n_jobs: int | None
) -> Generator[Kept | InputError, None, None]:
    """Evaluate the runs in their order, files by other processes through joblib if there is more than one job."""
    check_jobs(n_jobs)
    # Runs in memory would take longer to send than to evaluate, and a pipe is read by this process
    # only. Paths are absolute because a process that is used again may have started in another
    # directory.
    sent = [n_jobs != 1 and is_path(run) and os.path.isfile(run) for run, *_ in jobs]
    calls = [
        partial(work, os.path.abspath(run), name)
        for (run, name, _), is_sent in zip(jobs, sent, strict=True)
        if is_sent
    ]
    with closing(in_parallel(calls, n_jobs)) as elsewhere:
        for (run, name, _), is_sent in zip(jobs, sent, strict=True):
            yield next(elsewhere) if is_sent else work(run, name)


def _check_answers(lengths: SearchLengths, name: str) -> None:
    if not lengths.answerable.any():
        raise MismatchError(
            f"no query of the qrels has a relevant document at `rel={lengths.rel}`; lower it or"
            " check the grades of the qrels"
        )
    if not lengths.listed.any():
        raise EmptyInput(
            name,
            f"none of its queries is in the qrels; the run has"
            f" {some(lengths.ignored, 3) or 'no query'}, "
            f"the qrels have {some(lengths.query_ids, 3)}: "
            f"{repair_of_queries(lengths.ignored, lengths.query_ids) or 'are these for the same topics?'}",
        )


def check_jobs(n_jobs: object) -> None:
    """Refuse a number of jobs that makes no sense, and several where joblib is not installed."""
    if n_jobs is not None and (
        isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0
    ):
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
    """Make the calls, in other processes for several jobs (see `check_jobs`), and yield what they return in their order."""
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
