"""Many runs at a time: one function applied to each, here or through joblib, in their order."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import starmap
from typing import Any, TypeVar

from ir_outcomes._progress import with_progress
from ir_outcomes.errors import MissingDependency, ParameterError
from ir_outcomes.reading.files import STDIN
from ir_outcomes.reading.run_lists import is_path

__all__ = ["each_run"]

T = TypeVar("T")


def each_run(
    function: Callable[[Any, str | None], T],
    runs: Sequence[Any],
    names: Sequence[str | None],
    *,
    n_jobs: int | None,
    progress: bool,
) -> Iterable[T]:
    """Apply a function to every run and its name.

    Files are read by other processes, so that only paths and results travel. Runs in memory stay in this one, because to send
    them would take longer than to evaluate them, and so do pipes, which only this process has.

    Parameters
    ----------
    function : callable
        It travels to the processes with what it holds.
    runs, names : sequences
        Of equal length.
    n_jobs : int or None
        Files at a time, through joblib: -1 for one per processor; None leaves it to ``joblib.parallel_config``.
    progress : bool
        Show a progress bar on stderr.

    Raises
    ------
    ParameterError
        If `n_jobs` is 0.
    MissingDependency
        If `n_jobs` is not 1 and joblib is not installed.
    """
    if n_jobs == 0:
        raise ParameterError("n_jobs=0: must be 1 or more, -1 for one job per processor, or None")
    pairs = list(zip(runs, names, strict=True))
    results = starmap(function, pairs) if n_jobs == 1 else _through_joblib(function, pairs, n_jobs)
    return with_progress(results, "run", len(runs), shown=progress)


def _through_joblib(
    function: Callable[[Any, str | None], T], pairs: list[tuple[Any, str | None]], n_jobs: int | None
) -> Iterator[T]:
    try:
        from joblib import Parallel, delayed
    except ImportError:
        raise MissingDependency("several jobs need joblib: pip install 'ir-outcomes[parallel]'") from None
    # Paths are made absolute because a process that is used again may have started in another directory.
    jobs = (delayed(function)(os.path.abspath(run), name) for run, name in pairs if _travels(run))
    elsewhere = Parallel(n_jobs=n_jobs, return_as="generator")(jobs)
    try:
        for run, name in pairs:
            yield next(elsewhere) if _travels(run) else function(run, name)
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # joblib's advice when an error ends the evaluation early
            elsewhere.close()


def _travels(run: Any) -> bool:
    return is_path(run) and os.fspath(run) != STDIN and not (os.path.exists(run) and not os.path.isfile(run))
