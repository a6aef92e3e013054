"""`evaluate`: the only place that resolves a dataset id, names runs, reads files and shares work between processes."""

from __future__ import annotations

import hashlib
import os
import signal
import threading
import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import starmap
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple, TypeVar, get_args

import numpy as np

from ir_outcomes.errors import (
    EmptyInput,
    FormatError,
    InputError,
    IrOutcomesWarning,
    MismatchError,
    MissingDependency,
    ParameterError,
    UnreadableFile,
    some,
    user_stacklevel,
)
from ir_outcomes.evaluation.evaluation import DEFAULT_CUTOFF, Evaluation, RankedDocuments, ranked_documents
from ir_outcomes.evaluation.lengths import SearchLengths, clusters_of, search_lengths
from ir_outcomes.evaluation.scores import (
    RunScorer,
    comparable_measures,
    follows_from_lengths,
    scores_from_lengths,
    stacked_scores,
)
from ir_outcomes.evaluation.storage import LAYOUT, load_parts, load_values, save_parts, save_values, score_bits
from ir_outcomes.formatting import with_progress
from ir_outcomes.reading.datasets import DATASET_PREFIX, is_dataset_id
from ir_outcomes.reading.files import STDIN, file_digest, name_of
from ir_outcomes.reading.qrels import Qrels, as_qrels, beir_texts, has_beir_texts, query_texts
from ir_outcomes.reading.runs import (
    NestedRun,
    Run,
    as_ranking,
    as_run,
    check_distinct,
    distinct_names,
    is_path,
    run_and_warnings,
    runs_and_names,
)
from ir_outcomes.reading.suites import Suite, read_suite
from ir_outcomes.reading.tasks import Task, load
from ir_outcomes.types import (
    Floats,
    Ints,
    OnError,
    Ties,
    Unit,
    UnitChoice,
    check_choice,
    check_count,
    check_one_order,
    check_positive,
)

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


Reading = Callable[[], tuple[Run, tuple[str, ...]]]  # reads the run when it is needed; the run and what to warn about


def make_folder(folder: str | os.PathLike[str]) -> Path:
    """Create the folder of a cache if it does not exist; return its absolute path, which is valid in any process.

    Raises
    ------
    ParameterError
        If it cannot be created.
    """
    try:
        Path(folder).mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:  # ValueError: a path with a NUL byte
        reason = getattr(error, "strerror", None) or error
        raise ParameterError(f"cache {os.fsdecode(folder)}: the folder cannot be created ({reason})") from error
    return Path(folder).absolute()


def cached_lengths(
    folder: Path, qrels: Qrels, path: str | os.PathLike[str], settings: Mapping[str, Any], read: Reading
) -> tuple[SearchLengths, tuple[str, ...]]:
    """Take the search lengths of a run file from the cache, or compute and keep them.

    Parameters
    ----------
    folder : Path
        The cache.
    qrels : Qrels
        The judgments.
    path : path
        The run, a regular file.
    settings : mapping
        Of `search_lengths`.
    read : function
        Reads the run.

    Returns
    -------
    SearchLengths
        Named after the file.
    tuple of str
        Warnings: of reading, of an entry that was unusable and was computed again, or of a cache that cannot be written to.

    Raises
    ------
    InputError
        If the run cannot be read.
    """

    def load(entry: Path, key: str) -> SearchLengths:
        parts, found = load_parts(entry)
        if found != key:
            raise FormatError(os.fspath(entry), "is the entry of another run or of other settings")
        return SearchLengths(**parts)

    lengths, messages = _cached(
        folder,
        path,
        ("npz", score_bits(settings["ties"]), qrels.digest, sorted(settings.items())),
        read,
        load=load,
        compute=lambda run: search_lengths(qrels, run, **settings),
        save=lambda lengths, entry, key: save_parts(vars(lengths), entry, key),
    )
    return replace(lengths, name=name_of(path)), messages


def cached_values(
    folder: Path, qrels: Qrels, path: str | os.PathLike[str], scorer: RunScorer, read: Reading
) -> tuple[Floats, tuple[str, ...]]:
    """Take the values of measures of ir_measures on a run file from the cache, or compute and keep them.

    Parameters
    ----------
    folder, qrels, path, read
        See `cached_lengths`.
    scorer : RunScorer
        The measures.

    Returns
    -------
    (n_measures, n_queries) float array
        The values.
    tuple of str
        Warnings; see `cached_lengths`.

    Raises
    ------
    InputError
        If the run cannot be read.
    """
    from importlib.metadata import version

    shape = len(scorer.measures), len(qrels.query_ids)
    packages = [version(name) for name in ("ir-measures", "pytrec-eval-terrier")]
    return _cached(
        folder,
        path,
        ("npy", packages, qrels.digest, list(map(str, scorer.measures))),
        read,
        load=lambda entry, key: load_values(entry, key, shape),
        compute=scorer.values,
        save=save_values,
    )


def _cached(
    folder: Path,
    path: str | os.PathLike[str],
    what: tuple[Any, ...],
    read: Reading,
    *,
    load: Callable[[Path, str], T],
    compute: Callable[[Run], T],
    save: Callable[[T, Path, str], None],
) -> tuple[T, tuple[str, ...]]:
    from importlib.metadata import version  # as slow to import as the rest of this package together

    content = file_digest(path)
    key = repr([LAYOUT, version("ir-outcomes"), content, *what])
    entry = folder / f"{hashlib.sha256(key.encode()).hexdigest()}.{what[0]}"
    messages: list[str] = []
    if entry.exists():
        try:
            return load(entry, key), ()
        except InputError as error:
            messages.append(f"a cache entry is unusable, {os.fsdecode(path)} is evaluated again: {error}")
    run, from_reading = read()
    messages.extend(from_reading)
    result = compute(run)
    # Not kept where reading warned, so that the next evaluation warns too, nor where the file changed while it was read.
    if not from_reading and file_digest(path) == content:
        try:
            save(result, entry, key)
        except ParameterError as error:
            messages.append(f"the cache cannot be written to, results are not kept: {error}")
    return result, tuple(messages)


def evaluate(
    qrels: Any,
    runs: Any,
    *,
    cutoff: int | None = None,
    rel: int | None = None,
    unit: UnitChoice = "auto",
    ties: Ties = "trec",
    judged_only: bool = False,
    clusters: Any = None,
    names: Sequence[str | None] | None = None,
    measures: Sequence[Any] | str = (),
    directions: Mapping[str, bool] | bool | None = None,
    documents: int = 0,
    unjudged: bool = False,
    queries: Any = None,
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
    on_error: OnError = "raise",
) -> Evaluation:
    """Find where each run ranks each relevant document, reading each run once.

    A run file is read where it is evaluated and then forgotten: memory holds one run per process, and the search lengths.

    Parameters
    ----------
    qrels : Qrels, path, Task or its dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels` and `ir_outcomes.load`.
    runs : list of runs, dict from names to runs, directory or pattern of files, or one run
        See `ir_outcomes.as_run`. ``"irds:"`` is the ranking that comes with the task. Search lengths are taken as they are, if
        they were computed with these qrels and settings and a cutoff that is large enough.
    cutoff : int, optional
        The default of the analyses: ranks beyond it do not count. By default the task's, or 100. Search lengths keep the whole
        depth of a run, so that every analysis can take a cutoff of its own.
    rel : int, optional
        Smallest grade of a relevant document; by default the task's, or 1.
    unit : {"auto", "query", "document"}
        What is answered or not: a query, by its first relevant document, or each relevant document, averaged within its query.
        "auto" takes the task's, or chooses "query" where the median query has one relevant document.
    ties : {"trec", "msmarco", "input", "expected"}
        Order among equal scores; see `ir_outcomes.search_lengths`.
    judged_only : bool
        Remove unjudged documents before ranks are counted.
    clusters : mapping of str to str, path, function, or "by:" and a separator, optional
        Which queries belong together and are not independent, such as the turns of a conversation: the cluster of each query
        id; a file of lines with id, tab and cluster, or of JSON lines with ``query_id`` and ``cluster``; a function of the id;
        or ``"by:::"``, the id up to the last ``::``. Tests, intervals, resamples and halves then take clusters as their unit.
    names : sequence of str or None, optional
        What to call each run, each by another name; None leaves the run's own name.
    measures : sequence of Measure or str, optional
        Measures of ir_measures whose values are kept too, such as ``["nDCG@10"]``.
    directions : bool, or mapping of str to bool, optional
        Whether higher is better, for measures whose direction is not known here.
    documents : int
        Keep the first so many documents of each list.
    unjudged : bool
        Keep the unjudged documents within the cutoff; `ir_outcomes.holes` needs them.
    queries : path, or mapping of str to str, optional
        Texts of the queries: a file of lines with id, tab and text, or of JSON lines, or the folder of a BEIR dataset. By
        default those of the task, where they are on this machine, or of the BEIR dataset.
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
    Evaluation
        In the order of `runs`. Runs whose own names are equal to another name get their paths, or a number behind it.

    Raises
    ------
    InputError
        If something cannot be read; under "report" if no run can.
    MismatchError
        If search lengths were computed with other settings, no query of a run is in the qrels, or no query is answerable.
    ParameterError
        If a setting makes no sense, a name is given to two runs, or the cache cannot be written to.
    MissingDependency
        If `n_jobs` is not 1 and joblib is not installed.

    Warns
    -----
    IrOutcomesWarning
        Under "report", of each run that is left out; and of damaged entries of the cache, which are computed again.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> ev = evaluate(qrels, {"a": {"q1": {"d1": 2.0, "d2": 1.0}}, "b": {"q2": {"d2": 1.0}}}, cutoff=10)
    >>> ev.names, ev["a"].answered().tolist()
    (('a', 'b'), [1.0, 0.0])
    """
    task = _task_of(qrels)
    cutoff = cutoff if cutoff is not None else task.cutoff if task else DEFAULT_CUTOFF
    rel = rel if rel is not None else task.rel if task else 1
    check_positive("cutoff", cutoff)
    check_positive("rel", rel)
    check_choice("unit", unit, get_args(UnitChoice))
    check_choice("ties", ties, get_args(Ties))
    check_choice("on_error", on_error, get_args(OnError))
    check_count("documents", documents)
    if documents or unjudged:
        check_one_order(ties)
    sources, given_names = runs_and_names(runs, names)
    sources = [_resolved(source, task) for source in sources]
    settings = {"rel": rel, "ties": ties, "judged_only": judged_only}
    kept_measures = comparable_measures(measures, directions)
    needing_runs = {measure: higher for measure, higher in kept_measures.items() if not follows_from_lengths(measure, settings)}
    texts = _texts(queries, qrels, task)
    judgments = task.qrels if task else as_qrels(qrels)
    work = _Work(
        qrels=judgments,
        settings={**settings, "count_unjudged_at": (cutoff,)},
        cutoff=cutoff,
        scorer=RunScorer(judgments, tuple(needing_runs)),
        documents=documents,
        unjudged=unjudged,
        cache=None if cache is None else make_folder(cache),
    )
    results, read = _evaluated(work, sources, given_names, n_jobs=n_jobs, progress=progress, on_error=on_error)
    called = distinct_names([result.lengths.name for result in results], [name for _, name in read], [run for run, _ in read])
    known = [result.lengths.clusters for result in results if result.lengths.clusters is not None]
    first = results[0].lengths
    codes = clusters_of(clusters, first.query_ids, first.answerable) if clusters is not None else known[0] if known else None
    lengths = tuple(_called(result.lengths, name, codes) for result, name in zip(results, called, strict=True))
    from_runs = stacked_scores(judgments.query_ids, called, needing_runs, np.stack([result.values for result in results]))
    from_lengths = [scores_from_lengths(measure, lengths) for measure in kept_measures if measure not in needing_runs]
    return Evaluation(
        runs=lengths,
        collection=task.dataset_id if task else judgments.name,
        cutoff=cutoff,
        unit=_unit_of(unit, task, lengths[0]),
        many_relevant=bool(lengths[0].relevant.max(initial=0) > 1),
        texts=texts or _joined([*(result.texts for result in results), judgments.texts]),
        scores=(*from_runs, *(scores for scores in from_lengths if scores is not None)),
        documents=_named([result.documents for result in results], called),
        unjudged=_named([result.unjudged for result in results], called),
        sources=tuple(source if _is_readable_again(source) else None for source, _ in read),
        qrels=judgments,
    )


def _called(lengths: SearchLengths, name: str, clusters: Ints | None) -> SearchLengths:
    """Return the search lengths with this name and these clusters: themselves, with what they have computed, if they have."""
    same = lengths.name == name and lengths.clusters is clusters
    return lengths if same else replace(lengths, name=name, clusters=clusters)


class _Result(NamedTuple):
    """What is kept of one run."""

    lengths: SearchLengths
    values: Floats  # (n_measures, n_queries), of the measures that search lengths do not determine
    documents: RankedDocuments | None
    unjudged: RankedDocuments | None
    texts: Mapping[str, str] = {}  # of queries, where the file of the run has them


class _Attempt(NamedTuple):
    """The result of a run, or its error, which must not end the other runs; and what to warn about."""

    result: _Result | InputError
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)  # hashed by identity: joblib's backend for Dask waits forever for what has no hash
class _Work:
    """Evaluates runs, one after another; it travels to the processes."""

    qrels: Qrels
    settings: dict[str, Any]
    cutoff: int
    scorer: RunScorer
    documents: int
    unjudged: bool
    cache: Path | None

    def __call__(self, source: Any, name: str | None) -> _Attempt:
        try:
            return self._attempt(source, name)
        except InputError as error:
            return _Attempt(error)

    def _attempt(self, source: Any, name: str | None) -> _Attempt:
        if isinstance(source, SearchLengths):
            self._check_settings(source)
            return _Attempt(self._result(source, name, None))
        if self.documents or self.unjudged or self.cache is None or not (is_path(source) and os.path.isfile(source)):
            return self._read(source, name)
        return self._cached(self.cache, source, name)

    def _read(self, source: Any, name: str | None) -> _Attempt:
        whole = bool(self.documents or self.unjudged or self.scorer.measures)
        run: Run | NestedRun
        run, messages = (as_ranking(source), ()) if isinstance(source, Mapping) and not whole else _run_of(source, name)
        return _Attempt(self._result(search_lengths(self.qrels, run, **self.settings), name, run), messages)

    def _cached(self, cache: Path, source: Any, name: str | None) -> _Attempt:
        """Take what is in the cache; the file is read once if anything is missing."""
        read = lru_cache(maxsize=1)(partial(run_and_warnings, source))
        values = self._no_values()
        messages: tuple[str, ...] = ()
        if self.scorer.measures:
            values, messages = cached_values(cache, self.qrels, source, self.scorer, read)
        lengths, more = cached_lengths(cache, self.qrels, source, self.settings, read)
        result = self._result(lengths, name, None)._replace(values=values)
        return _Attempt(result, tuple(dict.fromkeys((*messages, *more))))

    def _no_values(self) -> Floats:
        return np.empty((0, len(self.qrels.query_ids)))

    def _result(self, lengths: SearchLengths, name: str | None, run: Run | NestedRun | None) -> _Result:
        lengths = lengths if name is None else replace(lengths, name=name)
        _check_answers(lengths)
        if not isinstance(run, Run):
            return _Result(lengths, self._no_values(), None, None)
        ties, judged_only = self.settings["ties"], self.settings["judged_only"]
        depth = max(self.documents, self.cutoff if self.unjudged else 0)
        ranked = ranked_documents(self.qrels, run, depth, ties=ties, judged_only=judged_only) if depth else None
        return _Result(
            lengths,
            self.scorer.values(run),
            ranked.first(self.documents) if ranked is not None and self.documents else None,
            ranked.first(self.cutoff).unjudged() if ranked is not None and self.unjudged else None,
            run.texts,
        )

    def _check_settings(self, lengths: SearchLengths) -> None:
        """Refuse search lengths that were computed with other settings than the result will say."""
        if lengths.qrels_digest != self.qrels.digest:
            raise MismatchError(f"{lengths.name} was evaluated with other qrels than the other runs; give the same qrels")
        for setting in ("rel", "ties", "judged_only"):
            computed, wanted = getattr(lengths, setting), self.settings[setting]
            if computed != wanted:
                raise MismatchError(
                    f"{lengths.name} was evaluated with {setting}={computed!r}, here it is {setting}={wanted!r}; "
                    f"pass {setting}={computed!r} or evaluate the run again"
                )
        lengths.at(self.cutoff)
        if self.scorer.measures:
            raise ParameterError(
                f"{self.scorer.measures[0]} cannot be computed from the search lengths of {lengths.name}; give the run itself"
            )
        if self.documents or self.unjudged:
            raise ParameterError(f"the search lengths of {lengths.name} hold no documents; give the run itself")


def _evaluated(
    work: _Work, sources: list[Any], names: Sequence[str | None], *, n_jobs: int | None, progress: bool, on_error: OnError
) -> tuple[list[_Result], list[tuple[Any, str | None]]]:
    """Evaluate all runs; return the results, and the sources that they are of with the names that were given to these."""
    results: list[_Result] = []
    read: list[tuple[Any, str | None]] = []
    first: SearchLengths | None = None
    failure: InputError | None = None  # only the first: an error holds on to what was being read
    attempts = each_run(work, sources, names, n_jobs=n_jobs, progress=progress, failed=lambda error: _Attempt(error))
    for source, name, attempt in zip(sources, names, attempts, strict=True):
        for message in attempt.warnings:
            warnings.warn(message, IrOutcomesWarning, stacklevel=user_stacklevel())
        if isinstance(attempt.result, _Result):
            result = attempt.result
            if not isinstance(source, SearchLengths):
                first = first or result.lengths
                result = result._replace(lengths=_with_shared_arrays(result.lengths, first, work.qrels))
            results.append(result)
            read.append((source, name))
        elif on_error == "raise":
            raise attempt.result
        else:
            failure = failure or attempt.result
            warnings.warn(f"a run is left out: {attempt.result}", IrOutcomesWarning, stacklevel=user_stacklevel())
    if failure is not None and not results:
        raise failure
    return results, read


def _run_of(source: Any, name: str | None) -> tuple[Run, tuple[str, ...]]:
    """Read a run, with the warnings of a file: it may be read by another process, whose warnings nobody sees."""
    return run_and_warnings(source, name=name) if is_path(source) else (as_run(source, name), ())


def _with_shared_arrays(lengths: SearchLengths, first: SearchLengths, qrels: Qrels) -> SearchLengths:
    """Hold the arrays that are the same in all runs only once: half of the memory, where a tie level is a single document."""
    fields = ("offsets",) if lengths.ties == "expected" else ("offsets", "level_relevant", "level_irrelevant")
    return replace(lengths, query_ids=qrels.query_ids, **{field: getattr(first, field) for field in fields})


def _task_of(qrels: Any) -> Task | None:
    """Return the task that `qrels` is, or is the dataset id of; None for other qrels."""
    if isinstance(qrels, Task):
        return qrels
    is_id = isinstance(qrels, str) and not os.path.exists(qrels) and is_dataset_id(qrels)
    return load(qrels) if is_id else None


def _resolved(source: Any, task: Task | None) -> Any:
    """Replace ``"irds:"`` by the ranking that comes with the task."""
    if not (isinstance(source, str) and source == DATASET_PREFIX):
        return source
    if task is None:
        raise ParameterError("'irds:' is the ranking that comes with a task; the qrels must be a dataset id")
    return task.baseline_run()


def _texts(queries: Any, qrels: Any, task: Task | None) -> Mapping[str, str]:
    if isinstance(queries, Mapping):
        return dict(queries)
    if queries is not None:
        return query_texts(queries)
    if task is not None and (source := task.source("queries")) is not None and source.here:
        return task.queries
    if is_path(qrels) and has_beir_texts(qrels):
        return beir_texts(qrels)
    return {}


def _joined(texts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """Return the texts of queries that runs and qrels have; those of the last are taken where they differ."""
    return {query: text for known in texts for query, text in known.items()}


def _unit_of(unit: UnitChoice, task: Task | None, lengths: SearchLengths) -> Unit:
    """Choose the unit that "auto" stands for: the task's, or "query" where the median query has one relevant document."""
    chosen = task.unit if unit == "auto" and task is not None else unit
    if chosen == "auto":
        return "query" if np.median(lengths.relevant[lengths.answerable]) == 1 else "document"
    return chosen


def _named(documents: Sequence[RankedDocuments | None], names: Sequence[str]) -> tuple[RankedDocuments, ...] | None:
    kept = tuple(replace(ranked, name=name) for ranked, name in zip(documents, names, strict=True) if ranked is not None)
    return kept if len(kept) == len(names) else None


def _is_readable_again(source: Any) -> bool:
    if is_path(source):
        return os.path.isfile(source)
    return isinstance(source, (str, Run, Mapping)) or hasattr(source, "columns")


def _check_answers(lengths: SearchLengths) -> None:
    if not lengths.answerable.any():
        raise MismatchError(
            f"no query of the qrels has a relevant document at rel={lengths.rel}; lower rel or check the grades of the qrels"
        )
    if not lengths.listed.any():
        raise EmptyInput(
            lengths.name,
            f"none of the queries of {lengths.name} is in the qrels; the run has {some(lengths.ignored, 3) or 'no query'}, "
            f"the qrels have {some(lengths.query_ids, 3)}: are these for the same topics?",
        )


def evaluate_suite(
    suite: str | os.PathLike[str] | Suite,
    *,
    cutoff: int | None = None,
    rel: int | None = None,
    unit: UnitChoice = "auto",
    ties: Ties = "trec",
    judged_only: bool = False,
    clusters: Any = None,
    measures: Sequence[Any] | str = (),
    n_jobs: int | None = 1,
    cache: str | os.PathLike[str] | None = None,
    progress: bool = False,
    on_error: OnError = "report",
) -> dict[str, Evaluation]:
    """Evaluate the runs of several collections, for `ir_outcomes.compare_collections`.

    Parameters
    ----------
    suite : path or Suite
        A folder or file that lists the collections; see `ir_outcomes.reading.suites.read_suite` for the layouts.
    cutoff, rel : int, optional
        For all collections; by default each collection's own in the file, else the dataset's, else 100 and 1.
    unit, ties, judged_only, measures, n_jobs, cache
        See `ir_outcomes.evaluate`.
    clusters : mapping, or what `ir_outcomes.evaluate` takes, optional
        The clusters of each collection, by its name; or a function or ``"by:"`` and a separator, for all. By default each
        collection's own in the file.
    progress : bool
        Show a progress bar over the collections on stderr.
    on_error : {"report", "raise"}
        What to do about a run that cannot be evaluated, such as an empty one: warn and leave it out, or raise its error.
        `ir_outcomes.compare_collections` leaves a collection that lacks a run out of that run's means.

    Returns
    -------
    dict of str to Evaluation
        By the name of the collection.

    Raises
    ------
    InputError
        If the suite cannot be read, or no run of a collection can be evaluated; the message names the collection.

    Warns
    -----
    IrOutcomesWarning
        Under "report", of each run that is left out.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> for collection in ("first", "second"):
    ...     (folder / collection).mkdir()
    ...     _ = (folder / collection / "qrels.txt").write_text("q1 0 d1 1")
    ...     _ = (folder / collection / "bm25.run").write_text("q1 Q0 d1 1 0.5 bm25")
    >>> {name: evaluation.names for name, evaluation in evaluate_suite(folder).items()}
    {'first': ('bm25',), 'second': ('bm25',)}
    """
    found = suite if isinstance(suite, Suite) else read_suite(suite)
    check_distinct((collection.name for collection in found.collections), "collection")
    evaluations = {}
    for collection in with_progress(found.collections, "collection", len(found.collections), shown=progress):
        given = clusters.get(collection.name) if isinstance(clusters, Mapping) else clusters
        try:
            evaluations[collection.name] = evaluate(
                collection.qrels,
                dict(collection.runs),
                cutoff=collection.cutoff if cutoff is None else cutoff,
                rel=collection.rel if rel is None else rel,
                unit=unit,
                ties=ties,
                judged_only=judged_only,
                clusters=collection.clusters if given is None else given,
                measures=measures,
                n_jobs=n_jobs,
                cache=cache,
                on_error=on_error,
            )
        except InputError as error:
            error.args = (f"collection {collection.name}: {error}",)
            raise
    return evaluations
