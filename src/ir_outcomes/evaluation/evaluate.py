"""`evaluate`: qrels and runs of any form become an `Evaluation`."""

import os
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Any, Literal, TypedDict, Unpack, get_args, overload

import numpy as np

from ir_outcomes.arguments import (
    check_choice,
    check_count,
    check_kind,
    check_one_order,
    check_positive,
)
from ir_outcomes.choices import OnError, Ties, Unit, UnitChoice
from ir_outcomes.errors import InputError, MismatchError, ParameterError, some, warn
from ir_outcomes.evaluation.evaluation import DEFAULT_CUTOFF, Evaluation, is_saved
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.remarks import Allow, check_allow, refuse_stops
from ir_outcomes.evaluation.scores import (
    Measures,
    Scores,
    comparable_measures,
    follows_from_lengths,
)
from ir_outcomes.evaluation.systems import (
    Call,
    Listed,
    check_runs,
    clusters_of,
    names_of_call,
    runs_of_call,
)
from ir_outcomes.evaluation.work import RunResult, Work, each_run
from ir_outcomes.files import with_progress
from ir_outcomes.reading.collections import Suite, read_suite
from ir_outcomes.reading.datasets import Task, open_collection
from ir_outcomes.reading.runs import Duplicates, Run, is_path


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


class Options(TypedDict, total=False):
    """The keyword arguments of `evaluate`."""

    cutoff: int | None
    rel: int | None
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
    documents: int | Literal["cutoff"]
    queries: Any
    n_jobs: int | None
    progress: bool
    on_error: OnError | None
    allow: Allow


@overload
def evaluate(qrels: Any, runs: Any, **options: Unpack[Options]) -> Evaluation: ...


@overload
def evaluate(
    qrels: str | os.PathLike[str], runs: None = None, **options: Unpack[Options]
) -> Evaluations: ...


def evaluate(
    qrels: Any,
    runs: Any = None,
    *,
    cutoff: int | None = None,
    rel: int | None = None,
    unit: UnitChoice = "auto",
    ties: Ties = "trec",
    judged_only: bool = False,
    drop_self: bool = False,
    duplicates: Duplicates | None = None,
    clusters: Any = None,
    replicates: Any = None,
    names: Sequence[str | None] | None = None,
    measures: Measures = (),
    higher_is_better: bool | None = None,
    documents: int | Literal["cutoff"] = 0,
    queries: Any = None,
    n_jobs: int | None = 1,
    progress: bool = False,
    on_error: OnError | None = None,
    allow: Allow = (),
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
    cutoff : int, optional
        Ranks beyond it do not count; by default the task's, or 100. It is the default of the
        analyses; runs keep their whole depth.
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
    documents : int or "cutoff"
        Keep the first so many documents of each list; `ir_outcomes.holes` needs them to the cutoff.
    queries : path, or mapping of str to str, optional
        Texts of the queries, an id and a text on each line. A file of lines with id, tab and text,
        or of JSON lines, or the folder of a BEIR dataset. By default those of the task, where they
        are on this machine, or of the BEIR dataset.
    n_jobs : int or None
        Files evaluated at a time; -1 for one per processor. This is through joblib: None leaves it
        to ``joblib.parallel_config``, which also takes a cluster as backend. The result is the same
        for any number.
    progress : bool
        Show a progress bar on stderr.
    on_error : {"raise", "report", "keep"}, optional
        What to do about a run that cannot be evaluated: raise its error; or warn, leave it out and
        go on; or keep a run without results, as one that finds nothing, and raise other errors. By
        default "raise", in a suite "report".
    allow : list of {"unknown-ids", "rising-scores", "equal-scores"}
        What is meant, and no reason to stop. "unknown-ids" evaluates runs of whose queries or
        documents the qrels have none. What else is allowed is a matter of the analyses.

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
    if runs is None:
        options = {**locals()}  # which are the arguments, here
        del options["qrels"], options["runs"]
        options |= {"progress": False, "on_error": on_error or "report"}
        return _evaluate_suite(qrels, options, clusters, progress=progress)
    on_error = on_error or "raise"
    check_positive("cutoff", cutoff, none_allowed=True)
    check_positive("rel", rel, none_allowed=True)
    check_choice("unit", unit, get_args(UnitChoice))
    check_choice("ties", ties, get_args(Ties))
    check_choice("on_error", on_error, get_args(OnError))
    if duplicates is not None:
        check_choice("duplicates", duplicates, get_args(Duplicates))
    if documents != "cutoff":
        check_count("documents", documents)
    check_kind("judged_only", judged_only, (bool, np.bool_), "True or False")
    check_kind("drop_self", drop_self, (bool, np.bool_), "True or False")
    check_allow(allow)
    if documents:
        check_one_order(ties)
    if is_saved(qrels):
        raise MismatchError(
            f"{os.fspath(qrels)} is a saved evaluation, which stands for qrels and runs; pass it to"
            " an analysis, or read it by load_evaluation"
        )
    call = runs if isinstance(runs, Call) else runs_of_call(runs, names)
    for listed in call.runs:
        if is_saved(listed.run):
            raise MismatchError(
                f"{os.fspath(listed.run)} is a saved evaluation, which stands for qrels and runs, and"
                " was perhaps made with other qrels; pass it alone in their place, or give the files"
                " of the runs"
            )
    collection = open_collection(qrels, queries)
    judgments = collection.qrels
    task = collection.task
    if cutoff is None:
        cutoff = task.cutoff if task else DEFAULT_CUTOFF
    least = task.rel if task else 1
    if rel is not None:
        least = rel
    if judged_only and judgments.positives_only(least):
        raise ParameterError(
            f"`judged_only=True`: the qrels hold no document below grade {least}, so only relevant"
            " documents would remain, and every run would rank them first; leave it out"
        )
    settings = {"rel": least, "ties": ties, "judged_only": judged_only}
    # What follows from search lengths is computed when it is used.
    needing_runs = {
        measure: higher
        for measure, higher in comparable_measures(measures, higher_is_better).items()
        if not follows_from_lengths(measure, settings)
    }
    work = Work(
        judgments,
        {**settings, "drop_self": drop_self},
        cutoff,
        needing_runs,
        cutoff if documents == "cutoff" else documents,
        keeps_empty=on_error == "keep",
        allows_unknown="unknown-ids" in allow or on_error == "keep",
        duplicates=duplicates,
    )
    jobs = [listed._replace(run=collection.run(listed.run)) for listed in call.runs]
    done = _evaluated(work, jobs, n_jobs=n_jobs, progress=progress, on_error=on_error)
    results = [result for _, result in done]
    first = results[0].lengths
    if not first.answerable.any():
        raise MismatchError(
            f"no query of the qrels has a relevant document at `rel={least}`; lower it or check the"
            " grades of the qrels"
        )
    run_names, several = names_of_call(
        [job for job, _ in done], [result.lengths.name for result in results], replicates
    )
    codes = next(
        (result.lengths.clusters for result in results if result.lengths.clusters is not None), None
    )
    if clusters is not None:
        codes = clusters_of(clusters, first.query_ids, first.answerable)
    lengths = tuple(
        replace(result.lengths, name=name, clusters=codes)
        for result, name in zip(results, run_names, strict=True)
    )
    if on_error != "keep" and all(run.unknown_ids for run in lengths):
        refuse_stops(lengths, [*allow, "rising-scores", "equal-scores"])
    values = np.stack([result.values for result in results])
    evaluation = Evaluation(
        runs=lengths,
        collection=task.dataset_id if task else judgments.name,
        cutoff=cutoff,
        unit=_unit_of(unit, task, first),
        texts={
            query: text
            for texts in (*(result.texts for result in results), collection.texts)
            for query, text in texts.items()
        },
        scores=tuple(
            Scores(str(measure), higher, tuple(run_names), judgments.query_ids, values[:, row])
            for row, (measure, higher) in enumerate(needing_runs.items())
        ),
        documents=tuple(result.documents for result in results if result.documents is not None),
        sources=tuple(job.run if _is_readable_again(job.run) else None for job, _ in done),
        qrels=judgments,
        replicates=several,
    )
    for system in evaluation.systems:
        check_runs(system)
    return evaluation


def _evaluated(
    work: Work, jobs: list[Listed], *, n_jobs: int | None, progress: bool, on_error: OnError
) -> list[tuple[Listed, RunResult]]:
    """Evaluate runs, and return those that could be."""
    done: list[tuple[Listed, RunResult]] = []
    failure: InputError | None = None  # only the first: an error holds on to what was being read
    with closing(each_run(work, jobs, n_jobs)) as attempts:
        for job, result in zip(
            jobs, with_progress(attempts, "run", len(jobs), shown=progress), strict=True
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


def _unit_of(unit: UnitChoice, task: Task | None, lengths: SearchLengths) -> Unit:
    """Choose the unit that "auto" stands for."""
    chosen = task.unit if unit == "auto" and task is not None else unit
    if chosen == "auto":
        if np.median(lengths.relevant[lengths.answerable]) == 1:
            return "query"
        return "document"
    return chosen


def _is_readable_again(source: Any) -> bool:
    """Return whether a run can be read a second time, as a pipe or an iterator cannot."""
    if is_path(source):
        return os.path.isfile(source)
    return isinstance(source, (str, Run, Mapping)) or hasattr(source, "columns")


def _evaluate_suite(
    folder: Any, settings: dict[str, Any], clusters: Any, *, progress: bool
) -> Evaluations:
    """Evaluate the runs of each collection of a suite."""
    suite = read_suite(folder)
    if suite.without_runs:
        warn(
            f"{some(suite.without_runs, 10)}: there are qrels and no run, so nothing is compared"
            " there"
        )
    evaluations = {}
    for collection in with_progress(
        suite.collections, "collection", len(suite.collections), shown=progress
    ):
        if isinstance(clusters, Mapping):
            settings["clusters"] = clusters.get(collection.name)
        try:
            found = evaluate(collection.qrels, dict(collection.runs), **settings)
        except (InputError, ParameterError) as error:
            error.args = (f"collection {collection.name}: {error}",)
            raise
        evaluations[collection.name] = found
    return Evaluations(suite, evaluations)
