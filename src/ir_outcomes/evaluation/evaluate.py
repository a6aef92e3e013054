"""`evaluate`: the only place that resolves a dataset id, names runs, reads files and shares work between processes."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np

from ir_outcomes._checks import check_choice, check_count, check_one_order, check_positive
from ir_outcomes._types import Floats, OnError, Ties, Unit, UnitChoice
from ir_outcomes.errors import EmptyInput, InputError, IrOutcomesWarning, MismatchError, ParameterError, some, user_stacklevel
from ir_outcomes.evaluation.cache import cached_lengths, cached_values, make_folder
from ir_outcomes.evaluation.documents import RankedDocuments, ranked_documents
from ir_outcomes.evaluation.evaluation import DEFAULT_CUTOFF, Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths, search_lengths
from ir_outcomes.evaluation.parallel import each_run
from ir_outcomes.evaluation.scores import (
    RunScorer,
    comparable_measures,
    follows_from_lengths,
    scores_from_lengths,
    stacked_scores,
)
from ir_outcomes.reading.beir import beir_texts, has_beir_texts, query_texts
from ir_outcomes.reading.datasets import DATASET_PREFIX, is_dataset_id
from ir_outcomes.reading.nested import NestedRun, as_ranking
from ir_outcomes.reading.qrels import Qrels, as_qrels
from ir_outcomes.reading.run_lists import is_path, runs_and_names
from ir_outcomes.reading.runs import Run, as_run, run_and_warnings
from ir_outcomes.reading.tasks import Task, load

__all__ = ["evaluate"]


def evaluate(
    qrels: Any,
    runs: Any,
    *,
    cutoff: int | None = None,
    rel: int | None = None,
    unit: UnitChoice = "auto",
    ties: Ties = "trec",
    judged_only: bool = False,
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
    names : sequence of str or None, optional
        What to call each run; None leaves the run's own name.
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
        In the order of `runs`. Runs that have the same name get their paths or numbers.

    Raises
    ------
    InputError
        If something cannot be read; under "report" if no run can.
    MismatchError
        If search lengths were computed with other settings, no query of a run is in the qrels, or no query is answerable.
    ParameterError
        If a setting makes no sense, or the cache cannot be written to.
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
    called = _distinct_names([result.lengths.name for result in results], read)
    lengths = tuple(
        result.lengths if result.lengths.name == name else replace(result.lengths, name=name)
        for result, name in zip(results, called, strict=True)
    )
    from_runs = stacked_scores(judgments.query_ids, called, needing_runs, np.stack([result.values for result in results]))
    from_lengths = [scores_from_lengths(measure, lengths) for measure in kept_measures if measure not in needing_runs]
    return Evaluation(
        runs=lengths,
        collection=task.dataset_id if task else judgments.name,
        cutoff=cutoff,
        unit=_unit_of(unit, task, lengths[0]),
        many_relevant=bool(lengths[0].relevant.max(initial=0) > 1),
        texts=texts,
        scores=(*from_runs, *(scores for scores in from_lengths if scores is not None)),
        documents=_named([result.documents for result in results], called),
        unjudged=_named([result.unjudged for result in results], called),
        sources=tuple(source if _is_readable_again(source) else None for source in read),
        qrels=judgments,
    )


class _Result(NamedTuple):
    """What is kept of one run."""

    lengths: SearchLengths
    values: Floats  # (n_measures, n_queries), of the measures that search lengths do not determine
    documents: RankedDocuments | None
    unjudged: RankedDocuments | None


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
) -> tuple[list[_Result], list[Any]]:
    """Evaluate all runs; return the results and the sources that they are of."""
    results: list[_Result] = []
    read: list[Any] = []
    first: SearchLengths | None = None
    failure: InputError | None = None  # only the first: an error holds on to what was being read
    attempts = each_run(work, sources, names, n_jobs=n_jobs, progress=progress, failed=lambda error: _Attempt(error))
    for source, attempt in zip(sources, attempts, strict=True):
        for message in attempt.warnings:
            warnings.warn(message, IrOutcomesWarning, stacklevel=user_stacklevel())
        if isinstance(attempt.result, _Result):
            result = attempt.result
            if not isinstance(source, SearchLengths):
                first = first or result.lengths
                result = result._replace(lengths=_with_shared_arrays(result.lengths, first, work.qrels))
            results.append(result)
            read.append(source)
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


def _distinct_names(names: Sequence[str], sources: Sequence[Any]) -> list[str]:
    """Give runs that have the same name their paths or numbers, so that no table is ambiguous."""
    paths = [os.fspath(source) if isinstance(source, (str, os.PathLike)) else "" for source in sources]
    times = Counter(names)
    result = [path if times[name] > 1 and path else name for name, path in zip(names, paths, strict=True)]
    times = Counter(result)
    return [f"{name} {number}" if times[name] > 1 else name for number, name in enumerate(result)]


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
