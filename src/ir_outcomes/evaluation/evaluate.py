"""`evaluate`: qrels and runs of any form become an `Evaluation`."""

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any, Literal, TypedDict, Unpack, overload

import numpy as np

from ir_outcomes.arguments import check_fields, check_one_order
from ir_outcomes.choices import Count, OnError, Positive, Ties, Unit, UnitChoice
from ir_outcomes.errors import InputError, MismatchError, ParameterError, warn
from ir_outcomes.evaluation.clusters import clusters_of
from ir_outcomes.evaluation.evaluation import DEFAULT_CUTOFF, Evaluation, is_saved
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.named_measures import Measures, comparable_measures
from ir_outcomes.evaluation.remarks import Allow, refuse_stops
from ir_outcomes.evaluation.runs_of_call import Call, NamedRun, replicates_in, runs_of_call
from ir_outcomes.evaluation.scores import Scores, follows_from_lengths
from ir_outcomes.evaluation.systems import check_runs
from ir_outcomes.evaluation.work import RunResult, Work, each_run
from ir_outcomes.files import with_progress
from ir_outcomes.reading.collections import Suite, read_suite
from ir_outcomes.reading.datasets import Collection, Task, open_collection
from ir_outcomes.reading.formats import path_and_order
from ir_outcomes.reading.runs import DATASET_PREFIX, Duplicates, Run, is_path


class Evaluations(dict[str, Evaluation]):
    """Evaluations of the collections of a suite, by their names.

    Attributes
    ----------
    suite : Suite
        The files, and the collections that have qrels and no run.
    """

    def __init__(self, suite: Suite, evaluations: Mapping[str, Evaluation]) -> None:
        super().__init__(evaluations)
        self.suite = suite


class ReadingOptions(TypedDict, total=False):
    """How runs are read, as keyword arguments."""

    cutoff: Positive | None
    rel: Positive | None
    unit: UnitChoice
    ties: Ties
    judged_only: bool
    drop_self: bool
    duplicates: Duplicates | None
    clusters: Any
    replicates: Any
    names: Sequence[str | None] | None
    measures: Measures
    higher_is_better: bool | None
    queries: Any
    allow: Allow
    n_jobs: int | None
    progress: bool


@dataclass(frozen=True)
class Reading:
    """How runs are read.

    Parameters
    ----------
    cutoff : int, optional
        Ranks beyond it do not count; by default the task's, else 100, or the longest list of all
        runs where that is less. It is the default of the analyses; runs keep their whole depth.
    rel : int, optional
        Smallest grade of a relevant document; by default the task's, or 1.
    unit : {"auto", "query", "document"}
        What is answered: a query, or each of its relevant documents. A query is answered by its
        first relevant document; documents are averaged within their query. "auto" takes the task's,
        or "query" where the median query has one relevant document.
    ties : {"trec", "msmarco", "input", "expected"}
        Order among equal scores. See `ir_outcomes.search_lengths`.
    judged_only : bool
        Remove unjudged documents before ranks are counted.
    drop_self : bool
        Remove documents whose id is that of the query. They are removed before ranks are counted,
        also for other measures: in some collections queries are documents, too.
    duplicates : {"first", "max"}, optional
        Row that counts where a query has a document twice, as one that has several passages: the
        first or the best. By default it is an error.
    clusters : mapping of str to str, path, function, or "by:" and a separator, optional
        Which queries belong together: a file, or ``"by:_"``. Such queries are not independent, as
        the turns of a conversation. The cluster of each query id; a file of lines with id, tab and
        cluster, or of JSON lines with ``query_id`` and ``cluster``; a function of the id; or
        ``"by:::"``, the id up to the last ``::``. Clusters are then the unit of tests, intervals,
        resamples and halves. In a suite a mapping has the clusters of each collection.
    replicates : mapping of str to str, path, or "by:" and a separator, optional
        Which runs are of one system: a file, or ``"by:_"``. Such runs are its seeds, for example.
        The system of each run, by the runs' names; a file of lines with run, tab and system; or
        ``"by:_"``, names that are equal up to the last ``_``, with a whole number behind it. Runs
        that are not mentioned are systems of their own.
    names : sequence of str or None, optional
        Name of each run, in their order. Each has another name; None leaves the run's own name.
    measures : sequence of Measure or str, optional
        Measures whose values are kept too, such as ``nDCG@10``. They are those of ir_measures.
    higher_is_better : bool, optional
        Direction of these measures. It is needed where it is not known here.
    queries : path, or mapping of str to str, optional
        Texts of the queries, an id and a text on each line. A file of lines with id, tab and text,
        or of JSON lines, or the folder of a BEIR dataset. By default those of the task, where they
        are on this machine, or of the BEIR dataset.
    allow : list of {"unknown-ids", "rising-scores", "equal-scores"}
        What is meant, and no reason to stop. "unknown-ids" evaluates runs of whose queries or
        documents the qrels have none. What else is allowed is a matter of the analyses.
    n_jobs : int or None
        Files evaluated at a time; -1 for one per processor. This is through joblib: None leaves it
        to ``joblib.parallel_config``, which also takes a cluster as backend. The result is the same
        for any number.
    progress : bool
        Show a progress bar on stderr.
    """

    cutoff: Positive | None = None
    rel: Positive | None = None
    unit: UnitChoice = "auto"
    ties: Ties = "trec"
    judged_only: bool = False
    drop_self: bool = False
    duplicates: Duplicates | None = None
    clusters: Any = None
    replicates: Any = None
    names: Sequence[str | None] | None = None
    measures: Measures = ()
    higher_is_better: bool | None = None
    queries: Any = None
    allow: Allow = ()
    n_jobs: int | None = 1
    progress: bool = False

    def __post_init__(self) -> None:
        check_fields(self)


class EvaluateOptions(ReadingOptions, total=False):
    """The keyword arguments of `evaluate`, for type checkers."""

    documents: Count | Literal["cutoff"]
    on_error: OnError | None


@overload
def evaluate(qrels: Any, runs: Any, **options: Unpack[EvaluateOptions]) -> Evaluation: ...


@overload
def evaluate(
    qrels: str | os.PathLike[str], runs: None = None, **options: Unpack[EvaluateOptions]
) -> Evaluations: ...


def evaluate(
    qrels: Any,
    runs: Any = None,
    *,
    documents: Count | Literal["cutoff"] = 0,
    on_error: OnError | None = None,
    **reading: Unpack[ReadingOptions],
) -> Evaluation | Evaluations:
    """Find where each run ranks each relevant document, reading each run once.

    A run file is read where it is evaluated and then forgotten: memory holds one run per process,
    and the search lengths.

    Parameters
    ----------
    qrels : Qrels, path, Task or its dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels` and `ir_outcomes.load`. Without runs the folder of a suite, with
        files ``COLLECTION/SYSTEM.run`` and ``COLLECTION/qrels.txt``.
    runs : list of runs, dict from names to runs, directory or pattern of files, one run, or None
        See `ir_outcomes.as_run`. ``"irds:"`` is the ranking that comes with the task. Search
        lengths are taken as they are, if their qrels and settings are these. In a dict, a list of
        runs stands for one system.
    documents : int or "cutoff"
        Keep the first so many documents of each list; `ir_outcomes.holes` needs them to the cutoff.
    on_error : {"raise", "report", "keep"}, optional
        What to do about a run that cannot be evaluated: raise its error; or warn, leave it out and
        go on; or keep a run without results, as one that finds nothing, and raise other errors. By
        default "raise", in a suite "report".
    **reading
        How runs are read: cutoff, rel, unit, ties, measures and more; see `ir_outcomes.Reading`.

    Returns
    -------
    Evaluation, or Evaluations of a suite by collection
        In the order of `runs`. Runs whose own names are equal to another name get their paths, or a
        number behind it.

    Raises
    ------
    InputError
        If something cannot be read; under "report" if no run can.
    MismatchError
        If search lengths have other settings, no query of a run is in the qrels, the qrels know no
        document of any run, or no query is answerable.
    ParameterError
        If a name is given to two runs, or a process that evaluates runs is killed.

    Examples
    --------
    >>> qrels = {"q1": {"d1": 1}, "q2": {"d2": 1}}
    >>> ev = evaluate(qrels, {"a": {"q1": {"d1": 2.0, "d2": 1.0}}, "b": {"q2": {"d2": 1.0}}}, cutoff=10)
    >>> ev.names, ev["a"].answered().tolist()
    (('a', 'b'), [1.0, 0.0])
    """
    settings = Reading(**reading)
    if documents:
        check_one_order(settings.ties)
    if runs is None:
        options: EvaluateOptions = {"documents": documents, "on_error": on_error or "report"}
        return _evaluate_suite(qrels, settings, {**reading, **options})
    if not isinstance(runs, Call):
        runs = runs_of_call(runs, settings.names, replicates=settings.replicates)
    for source in (qrels, *(run.run for run in runs.runs)):
        if is_saved(source):
            raise MismatchError(
                f"{os.fspath(source)} is a saved evaluation, which stands for qrels and runs, and was"
                " perhaps made with other qrels; pass it alone in their place, or give the files of"
                " the runs"
            )
    on_error = on_error or "raise"
    collection = open_collection(qrels, settings.queries)
    work = _work(collection, settings, documents, on_error)
    jobs = [_with_ranking(run, collection) for run in runs.runs]
    done = _evaluated(work, jobs, settings, on_error)
    evaluation = _evaluation_of(done, collection, work, settings)
    if on_error != "keep" and all(run.diagnosis.unknown_ids for run in evaluation):
        refuse_stops(evaluation, [*settings.allow, "rising-scores", "equal-scores"])
    return evaluation


def _work(
    collection: Collection,
    settings: Reading,
    documents: int | Literal["cutoff"],
    on_error: OnError,
) -> Work:
    """Settle what is done with each run."""
    task = collection.task
    cutoff = settings.cutoff or (task.cutoff if task else None)
    rel = settings.rel or (task.rel if task else 1)
    if settings.judged_only and collection.qrels.positives_only(rel):
        raise ParameterError(
            f"`judged_only=True`: the qrels hold no document below grade {rel}, so only relevant"
            " documents would remain, and every run would rank them first; leave it out"
        )
    of_lengths = {"rel": rel, "ties": settings.ties, "judged_only": settings.judged_only}
    measures = comparable_measures(settings.measures, settings.higher_is_better)
    return Work(
        collection.qrels,
        {**of_lengths, "drop_self": settings.drop_self},
        cutoff,
        {  # What follows from search lengths is computed when it is used.
            measure: higher
            for measure, higher in measures.items()
            if not follows_from_lengths(measure, of_lengths)
        },
        (cutoff or DEFAULT_CUTOFF) if documents == "cutoff" else documents,
        keeps_empty=on_error == "keep",
        allows_unknown="unknown-ids" in settings.allow or on_error == "keep",
        duplicates=settings.duplicates,
    )


def _evaluated(
    work: Work, jobs: list[NamedRun], settings: Reading, on_error: OnError
) -> list[tuple[NamedRun, RunResult]]:
    """Evaluate runs, and return those that could be."""
    done: list[tuple[NamedRun, RunResult]] = []
    failure: InputError | None = None  # only the first: an error holds on to what was being read
    with closing(each_run(work, jobs, settings.n_jobs)) as attempts:
        for job, result in zip(
            jobs, with_progress(attempts, "run", len(jobs), shown=settings.progress), strict=True
        ):
            if isinstance(result, RunResult):
                for message in result.warnings:
                    warn(message)
                first = done[0][1].lengths if done else result.lengths
                done.append((job, result._replace(lengths=result.lengths.sharing(first))))
            elif on_error == "report":
                failure = failure or result
                warn(f"a run is left out: {result}")
            else:
                raise result
    if failure is not None and not done:
        raise failure
    return done


def _evaluation_of(
    done: list[tuple[NamedRun, RunResult]], collection: Collection, work: Work, settings: Reading
) -> Evaluation:
    """Put together what is kept of each run."""
    runs, results = zip(*done, strict=True)
    first = results[0].lengths
    if not first.answerable.any():
        raise MismatchError(
            f"no query of the qrels has a relevant document at `rel={first.rel}`; lower it or check"
            " the grades of the qrels"
        )
    if settings.clusters is None:
        of_lengths = (result.lengths.clusters for result in results)
        clusters = next((codes for codes in of_lengths if codes is not None), None)
    else:
        clusters = clusters_of(settings.clusters, first.query_ids, first.answerable)
    names = tuple(run.name for run in runs)
    values = np.stack([result.values for result in results])
    longest = max(result.lengths.depth for result in results)
    evaluation = Evaluation(
        runs=tuple(
            replace(result.lengths, name=name, clusters=clusters)
            for result, name in zip(results, names, strict=True)
        ),
        collection=collection.task.dataset_id if collection.task else collection.qrels.name,
        cutoff=work.cutoff or max(min(DEFAULT_CUTOFF, longest), 1),
        unit=_unit_of(settings.unit, collection.task, first),
        texts={
            query: text
            for texts in (*(result.texts for result in results), collection.texts)
            for query, text in texts.items()
        },
        scores=tuple(
            Scores(str(measure), higher, names, first.query_ids, values[:, row])
            for row, (measure, higher) in enumerate(work.measures.items())
        ),
        documents=tuple(result.documents for result in results if result.documents is not None),
        sources=tuple(run.run if _is_readable_again(run.run) else None for run in runs),
        qrels=collection.qrels,
        replicates=replicates_in(runs),
        duplicates=settings.duplicates,
    )
    for system, of_system in zip(evaluation.systems, evaluation.runs_by_system, strict=True):
        check_runs(system, of_system)
    return evaluation


def _with_ranking(run: NamedRun, collection: Collection) -> NamedRun:
    """Return a run, and for ``"irds:"`` the ranking that comes with the task."""
    ranking = collection.run(run.run)
    if ranking is run.run:
        return run
    names = [ranking.name if name == DATASET_PREFIX else name for name in run[1:]]
    return NamedRun(ranking, *names)


def _unit_of(unit: UnitChoice, task: Task | None, lengths: SearchLengths) -> Unit:
    """Choose the unit that "auto" stands for."""
    if unit == "auto" and task is not None:
        unit = task.unit
    if unit == "auto":
        median = np.median(lengths.relevant[lengths.answerable])
        return "query" if median == 1 else "document"
    return unit


def _is_readable_again(source: Any) -> bool:
    """Return whether a run can be read a second time, as a pipe or an iterator cannot."""
    if is_path(source):
        return os.path.isfile(path_and_order(source)[0])
    return isinstance(source, (str, Run, Mapping)) or hasattr(source, "columns")


def _evaluate_suite(folder: Any, settings: Reading, options: dict[str, Any]) -> Evaluations:
    """Evaluate the runs of each collection of a suite."""
    suite = read_suite(folder)
    options["progress"] = False
    evaluations = {}
    for collection in with_progress(
        suite.collections, "collection", len(suite.collections), shown=settings.progress
    ):
        if isinstance(settings.clusters, Mapping):
            options["clusters"] = settings.clusters.get(collection.name)
        try:
            evaluation = evaluate(collection.qrels, dict(collection.runs), **options)
        except (InputError, ParameterError) as error:
            error.args = (f"collection {collection.name}: {error}",)
            raise
        evaluations[collection.name] = evaluation
    return Evaluations(suite, evaluations)
