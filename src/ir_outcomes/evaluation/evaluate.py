"""`evaluate`: the only place that resolves a dataset id, names runs, reads files and shares work between processes."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Any, get_args

import numpy as np

from ir_outcomes.errors import InputError, MismatchError, ParameterError, some, warn
from ir_outcomes.evaluation.clusters import clusters_of
from ir_outcomes.evaluation.evaluation import DEFAULT_CUTOFF, Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.remarks import of_unknown_documents
from ir_outcomes.evaluation.replicates import (
    check_names_of_rule,
    check_runs,
    listed_runs,
    named_systems,
)
from ir_outcomes.evaluation.scores import (
    Measures,
    Scores,
    comparable_measures,
    follows_from_lengths,
)
from ir_outcomes.evaluation.work import SavedRun, SavedRuns, Work, evaluated
from ir_outcomes.formatting import with_progress
from ir_outcomes.reading.collections import Suite, read_suite
from ir_outcomes.reading.datasets import Task, open_collection
from ir_outcomes.reading.qrels import Qrels
from ir_outcomes.reading.runs import Run, check_names, distinct_names, is_path, runs_and_names
from ir_outcomes.types import (
    OnError,
    Ties,
    Unit,
    UnitChoice,
    check_choice,
    check_count,
    check_kind,
    check_one_order,
    check_positive,
)


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
    replicates: Any = None,
    names: Sequence[str | None] | None = None,
    measures: Measures = (),
    higher_is_better: bool | None = None,
    documents: int = 0,
    unjudged: bool = False,
    queries: Any = None,
    n_jobs: int | None = 1,
    progress: bool = False,
    on_error: OnError = "raise",
) -> Evaluation:
    """Find where each run ranks each relevant document, reading each run once.

    A run file is read where it is evaluated and then forgotten: memory holds one run per process,
    and the search lengths.

    Parameters
    ----------
    qrels : Qrels, path, Task or its dataset id, dict, frame or iterable
        See `ir_outcomes.as_qrels` and `ir_outcomes.load`.
    runs : list of runs, dict from names to runs, directory or pattern of files, or one run
        See `ir_outcomes.as_run`. ``"irds:"`` is the ranking that comes with the task. Search
        lengths, and those in a file that `Evaluation.save` wrote, are taken as they are, if their
        qrels and settings are these. In a dict, a list of runs stands for one system.
    cutoff : int, optional
        The default of the analyses: ranks beyond it do not count. By default that of a saved
        evaluation, the task's, or 100. Runs keep their whole depth.
    rel : int, optional
        Smallest grade of a relevant document; by default the task's, or 1.
    unit : {"auto", "query", "document"}
        What is answered or not: a query, by its first relevant document, or each relevant document,
        averaged within its query. "auto" takes that of a saved evaluation, the task's, or "query"
        where the median query has one relevant document.
    ties : {"trec", "msmarco", "input", "expected"}
        Order among equal scores; see `ir_outcomes.search_lengths`.
    judged_only : bool
        Remove unjudged documents before ranks are counted.
    clusters : mapping of str to str, path, function, or "by:" and a separator, optional
        Which queries belong together and are not independent, such as the turns of a conversation:
        the cluster of each query id; a file of lines with id, tab and cluster, or of JSON lines
        with ``query_id`` and ``cluster``; a function of the id; or ``"by:::"``, the id up to the
        last ``::``. Clusters are then the unit of tests, intervals, resamples and halves.
    replicates : mapping of str to str, path, or "by:" and a separator, optional
        Which runs are of one system, such as its seeds: the system of each run, by the runs' names;
        a file of lines with run, tab and system; or ``"by:_"``, names that are equal up to the last
        ``_``, with a whole number behind it. Runs that are not mentioned are systems of their own.
    names : sequence of str or None, optional
        What to call each run, each by another name; None leaves the run's own name.
    measures : sequence of Measure or str, optional
        Measures of ir_measures whose values are kept too, such as ``["nDCG@10"]``.
    higher_is_better : bool, optional
        The direction of these measures; it is needed where it is not known here.
    documents : int
        Keep the first so many documents of each list.
    unjudged : bool
        Keep the unjudged documents within the cutoff; `ir_outcomes.holes` needs them.
    queries : path, or mapping of str to str, optional
        Texts of the queries: a file of lines with id, tab and text, or of JSON lines, or the folder
        of a BEIR dataset. By default those of the task, where they are on this machine, or of the
        BEIR dataset.
    n_jobs : int or None
        Files evaluated at a time, through joblib: -1 for one per processor; None leaves it to
        ``joblib.parallel_config``, which also takes a cluster as backend. The result is the same
        for any number.
    progress : bool
        Show a progress bar on stderr.
    on_error : {"raise", "report", "keep"}
        What to do about a run that cannot be evaluated: raise its error; or warn, leave it out and
        go on; or keep a run without results, as one that finds nothing, and raise other errors.

    Returns
    -------
    Evaluation
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
    check_positive("cutoff", cutoff, none_allowed=True)
    check_positive("rel", rel, none_allowed=True)
    check_choice("unit", unit, get_args(UnitChoice))
    check_choice("ties", ties, get_args(Ties))
    check_choice("on_error", on_error, get_args(OnError))
    check_count("documents", documents)
    check_kind("judged_only", judged_only, (bool, np.bool_), "True or False")
    if documents or unjudged:
        check_one_order(ties)
    saved = SavedRuns.among(runs)
    listed = listed_runs(*runs_and_names(saved.runs, names))
    collection = open_collection(qrels, queries)
    judgments = collection.qrels
    task = collection.task
    if cutoff is None:
        cutoff = saved.shared("cutoff") or (task.cutoff if task else DEFAULT_CUTOFF)
    if unit == "auto":
        unit = saved.shared("unit") or unit
    least = task.rel if task else 1
    if rel is not None:
        least = rel
    settings = {"rel": least, "ties": ties, "judged_only": judged_only}
    if judged_only and judgments.positives_only(least):
        raise ParameterError(
            f"`judged_only=True`: the qrels hold no document below grade {least}, so only relevant"
            " documents would remain, and every run would rank them first; leave it out"
        )
    # What follows from search lengths is computed when it is used.
    asked = comparable_measures(measures, higher_is_better)
    needing_runs = {
        measure: higher
        for measure, higher in asked.items()
        if not follows_from_lengths(measure, settings)
    }
    counted = {**settings, "count_unjudged_at": (cutoff,)}
    work = Work(
        judgments, counted, cutoff, tuple(needing_runs), documents, unjudged, on_error == "keep"
    )
    jobs = [run._replace(run=collection.run(run.run)) for run in listed]
    done = evaluated(work, jobs, n_jobs=n_jobs, progress=progress, on_error=on_error)
    taken, results = zip(*done, strict=True)
    read, given, in_lists = zip(*taken, strict=True)
    own = [result.lengths.name for result in results]
    check_names_of_rule([name or found for name, found in zip(given, own, strict=True)], replicates)
    called = distinct_names(own, given, read)
    system_of = [
        run.system if isinstance(run, SavedRun) else system
        for run, system in zip(read, in_lists, strict=True)
    ]
    called, several = named_systems(called, system_of, replicates)
    first = results[0].lengths
    codes = next(
        (result.lengths.clusters for result in results if result.lengths.clusters is not None), None
    )
    if clusters is not None:
        codes = clusters_of(clusters, first.query_ids, first.answerable)
    lengths = tuple(
        replace(result.lengths, name=name, clusters=codes)
        for result, name in zip(results, called, strict=True)
    )
    if on_error != "keep":
        _check_documents(
            judgments, lengths, [document for result in results for document in result.unknown]
        )
    values = np.stack([result.values for result in results])
    evaluation = Evaluation(
        runs=lengths,
        collection=task.dataset_id if task else judgments.name,
        cutoff=cutoff,
        unit=_unit_of(unit, task, first),
        many_relevant=bool(first.relevant.max(initial=0) > 1),
        texts=dict(
            chain.from_iterable(
                known.items() for known in (*(result.texts for result in results), collection.texts)
            )
        ),
        scores=tuple(
            Scores(str(measure), higher, tuple(called), judgments.query_ids, values[:, row])
            for row, (measure, higher) in enumerate(needing_runs.items())
        ),
        documents=tuple(result.documents for result in results if result.documents is not None),
        unjudged=tuple(result.unjudged for result in results if result.unjudged is not None),
        sources=tuple(run if _is_readable_again(run) else None for run in read),
        qrels=judgments,
        replicates=several,
    )
    for system in evaluation.systems:
        check_runs(system)
    return evaluation


def _unit_of(unit: UnitChoice, task: Task | None, lengths: SearchLengths) -> Unit:
    """Choose the unit that "auto" stands for: the task's, or "query" where the median query has one relevant document."""
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


def _check_documents(qrels: Qrels, runs: Sequence[SearchLengths], unknown: Sequence[str]) -> None:
    """Refuse runs of which none has a document that the qrels know: ids are then written in another way."""
    names = of_unknown_documents(runs)
    if len(names) == len(runs):
        found = list(dict.fromkeys(unknown)) or ["others"]
        judged = list(dict.fromkeys(docid.decode() for docid in qrels.docids.tolist()))
        raise MismatchError(
            f"the qrels know no document of {some(names)}, in any query; the runs have"
            f" {some(found, 3)}, the qrels have {some(judged, 3)}: are ids of documents written in"
            " the same way? ir-outcomes check says how they differ"
        )


def evaluate_suite(
    suite: str | os.PathLike[str] | Suite,
    *,
    cutoff: int | None = None,
    rel: int | None = None,
    clusters: Any = None,
    progress: bool = False,
    on_error: OnError = "report",
    **settings: Any,
) -> dict[str, Evaluation]:
    """Evaluate the runs of several collections, for `ir_outcomes.compare_collections`; return the evaluations by collection.

    Parameters
    ----------
    suite : path or Suite
        A folder; see `ir_outcomes.reading.collections.read_suite` for its layout.
    cutoff, rel : int, optional
        For all collections; by default the dataset's, else 100 and 1.
    clusters : mapping, or what `ir_outcomes.evaluate` takes, optional
        The clusters of each collection, by its name; or a function or ``"by:"`` and a separator,
        for all.
    progress : bool
        Show a progress bar over the collections on stderr.
    on_error : {"report", "raise", "keep"}
        What to do about a run that cannot be evaluated, such as an empty one; see
        `ir_outcomes.evaluate`.
    **settings
        ``unit``, ``ties``, ``judged_only``, ``measures``, ``documents`` and ``n_jobs`` of
        `ir_outcomes.evaluate`.

    Raises
    ------
    InputError
        If the suite cannot be read, or no run of a collection can be evaluated.
    """
    found = suite if isinstance(suite, Suite) else read_suite(suite)
    check_names((collection.name for collection in found.collections), "collection")
    if found.without_runs:
        warn(
            f"{some(found.without_runs, 10)}: there are qrels and no run, so nothing is compared"
            " there"
        )
    evaluations = {}
    for collection in with_progress(
        found.collections, "collection", len(found.collections), shown=progress
    ):
        given = clusters
        if isinstance(clusters, Mapping):
            given = clusters.get(collection.name)
        try:
            evaluations[collection.name] = evaluate(
                collection.qrels,
                dict(collection.runs),
                cutoff=cutoff,
                rel=rel,
                clusters=given,
                on_error=on_error,
                **settings,
            )
        except (InputError, ParameterError) as error:
            error.args = (f"collection {collection.name}: {error}",)
            raise
    return evaluations
