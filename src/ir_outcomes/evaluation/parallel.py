"""Work that is shared between processes, through joblib."""

import warnings
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import closing
from typing import TypeVar

import numpy as np

from ir_outcomes.errors import ParameterError, not_installed

R = TypeVar("R")


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
    can_stop = get_active_backend()[
        0
    ].supports_return_generator  # others return all results at the end
    parallel = Parallel(n_jobs=limit, return_as="generator" if can_stop else "list")
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
