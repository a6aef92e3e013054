"""Many runs at a time: a function applied to each one, in this process or through joblib, in their order."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from itertools import starmap
from types import FrameType
from typing import Any, TypeVar

import numpy as np

from ir_outcomes._progress import with_progress
from ir_outcomes.errors import MissingDependency, ParameterError, UnreadableFile
from ir_outcomes.reading.files import STDIN
from ir_outcomes.reading.run_lists import is_path

__all__ = ["each_run"]

T = TypeVar("T")
_Job = tuple[Any, str | None]


def each_run(
    function: Callable[[Any, str | None], T],
    runs: Sequence[Any],
    names: Sequence[str | None],
    *,
    n_jobs: int | None,
    progress: bool,
    failed: Callable[[UnreadableFile], T],
) -> Iterable[T]:
    """Apply a function to every run and its name.

    Files are read by other processes, so that only paths and results are sent. Runs in memory are evaluated in this process,
    because to send them would take longer, and so are pipes, which only this process can read.

    Parameters
    ----------
    function : callable
        It is sent to the processes with what it refers to.
    runs, names : sequences
        Of equal length.
    n_jobs : int or None
        Files at a time, through joblib: -1 for one per processor; None leaves it to ``joblib.parallel_config``.
    progress : bool
        Show a progress bar on stderr.
    failed : callable
        Makes a result for a file whose process was killed, from the error that names it.

    Raises
    ------
    ParameterError
        If `n_jobs` is 0 or not a whole number, or joblib's backend cannot be used.
    MissingDependency
        If `n_jobs` is not 1 and joblib is not installed.
    """
    if n_jobs is not None and (isinstance(n_jobs, bool) or not isinstance(n_jobs, (int, np.integer)) or n_jobs == 0):
        raise ParameterError(f"n_jobs={n_jobs!r}: must be 1 or more, -1 for one job per processor, or None")
    jobs = list(zip(runs, names, strict=True))
    results = starmap(function, jobs) if n_jobs == 1 else _through_joblib(function, jobs, n_jobs, failed)
    return with_progress(results, "run", len(runs), shown=progress)


def _through_joblib(
    function: Callable[[Any, str | None], T],
    jobs: list[_Job],
    n_jobs: int | None,
    failed: Callable[[UnreadableFile], T],
) -> Iterator[T]:
    # Paths are made absolute because a process that is used again may have started in another directory.
    sent = [(os.path.abspath(run), name) for run, name in jobs if _is_sent(run)]
    with _ended_by_sigterm():
        elsewhere = _in_processes(function, sent, n_jobs, failed)
        try:
            for run, name in jobs:
                yield next(elsewhere) if _is_sent(run) else function(run, name)
        finally:
            elsewhere.close()


def _in_processes(
    function: Callable[[Any, str | None], T],
    jobs: list[_Job],
    n_jobs: int | None,
    failed: Callable[[UnreadableFile], T],
) -> Generator[T, None, None]:
    """Yield the results of all jobs, those of a killed process included.

    The pool of a process that was killed is lost, and does not tell which job that process had. It is one of the next few; so
    these are done again, each in a pool of its own, until one of them is killed again.
    """
    done = 0
    while done < len(jobs):
        try:
            for result in _pool(function, jobs[done:], n_jobs):
                done += 1
                yield result
        except Exception as error:
            if not _was_killed(error):
                raise
        else:
            return
        # joblib sends twice as many jobs ahead as there are processes
        suspects = len(jobs) if n_jobs is None or n_jobs < 1 else 2 * n_jobs
        for path, name in jobs[done : done + suspects]:
            try:
                (result,) = _pool(function, [(path, name)], 2)
            except Exception as error:
                if not _was_killed(error):
                    raise
                problem = UnreadableFile(
                    f"{path}: the process that evaluated it was killed; is there enough memory? Fewer jobs need less"
                )
                done += 1
                yield failed(problem)
                break
            done += 1
            yield result


def _pool(function: Callable[[Any, str | None], T], jobs: list[_Job], n_jobs: int | None) -> Iterator[T]:
    try:
        from joblib import Parallel, delayed
        from joblib.parallel import get_active_backend
    except ImportError:
        raise MissingDependency("several jobs need joblib: pip install 'ir-outcomes[parallel]'") from None
    if type(get_active_backend()[0]).__name__ == "MultiprocessingBackend":
        raise ParameterError(
            "joblib's backend 'multiprocessing' waits forever when a process is killed; use 'loky', 'threading' or a cluster"
        )
    # loky starts all the processes at once, however few jobs there are.
    limit = n_jobs if n_jobs is None or n_jobs < 0 else min(n_jobs, max(2, len(jobs)))
    calls = (delayed(function)(path, name) for path, name in jobs)
    try:
        parallel = Parallel(n_jobs=limit, return_as="generator")
    except ValueError:  # the backends of some clusters return all results at the end
        yield from Parallel(n_jobs=limit)(calls)
        return
    results = parallel(calls)
    try:
        # `yield from` would close the results itself, outside of the block that ignores warnings.
        for result in results:  # noqa: UP028
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib's advice when an error ends the evaluation early
            results.close()


def _was_killed(error: Exception) -> bool:
    return isinstance(error, BrokenExecutor) or type(error).__name__ == "KilledWorker"  # the latter is Dask's


def _is_sent(run: Any) -> bool:
    return is_path(run) and os.fspath(run) != STDIN and not (os.path.exists(run) and not os.path.isfile(run))


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """End the processes too when this one gets SIGTERM, unless the program handles that signal itself.

    By default SIGTERM ends a process without running its ``finally`` clauses, and the others would go on working.
    """

    def terminate(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        with suppress(ValueError):  # a generator that was left over may be closed by another thread
            signal.signal(signal.SIGTERM, signal.SIG_DFL)
