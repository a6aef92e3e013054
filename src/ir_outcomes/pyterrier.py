"""Experiments of PyTerrier with the right means, both facets and the verdict.

`pyterrier.Experiment` takes the measures of this package as they are; but it averages by plain sum,
takes the largest value for the best, and calls a p-value that is not a number a rejection. This
module needs the extra ``pyterrier``, which is PyTerrier without Java.
"""

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ir_outcomes.arguments import check_argument, separated
from ir_outcomes.comparison.compare import compare
from ir_outcomes.errors import (
    FormatError,
    MismatchError,
    ParameterError,
    not_installed,
    shortened,
    some,
)
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.named_measures import parse_measure
from ir_outcomes.measures.base import SearchLengthMeasure
from ir_outcomes.pairs.rules import Rules
from ir_outcomes.reading.datasets import Task, dataset_of
from ir_outcomes.reading.objects import texts
from ir_outcomes.reading.runs import DATASET_PREFIX

__all__ = ["experiment"]


def experiment(
    systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[Any] = (),
    names: Sequence[str | None] | None = None,
    *,
    baseline: int | str | None = 0,
    **settings: Any,
) -> Any:
    """Run and compare systems, with both facets and the verdict.

    Parameters
    ----------
    systems : list or dict of transformers and frames
        The systems, each of which is run once; the keys of a dict are their names.
    topics : frame, path, dataset id or dataset of PyTerrier
        With the columns ``qid`` and ``query``. Only their queries count.
    qrels : frame, path, dataset id or dataset of PyTerrier
        With the columns ``qid``, ``docno`` and ``label``; see `ir_outcomes.as_qrels`. A dataset id
        brings its cutoff, relevance and unit along.
    eval_metrics : sequence of measures or str
        Measures of ir_measures, as objects or text (``"ESL@100"``), or names of trec_eval's.
    names : sequence of str, optional
        Names of the systems; by default PyTerrier's.
    baseline : int, str or None
        Which system the others are compared with: its place or name. None means only.
    **settings
        Those of `ir_outcomes.compare`. By default cutoff and rel are those of the search length
        measures, where they agree.

    Returns
    -------
    pandas.DataFrame
        A row for each system: its ``name``; the mean of each measure, over the queries where it is
        defined; ``answered (queries)``; then, for all others than the baseline, the columns of
        `ir_outcomes.Comparisons.to_frame`: both facets and all queries, each measure that is defined
        for every query, and the ``verdict``. The settings are in ``frame.attrs``.

    Raises
    ------
    MissingDependency
        If PyTerrier is not installed.
    ParameterError
        If an argument makes no sense.
    InputError
        If topics or qrels are malformed. What a system or PyTerrier raises is passed on.
    """
    import pandas as pd

    topics = _read_topics(topics)
    if isinstance(systems, Mapping):
        names = list(systems)
        systems = list(systems.values())
    check_argument("systems", systems, Sequence[Any])
    for system in systems:
        if not (callable(system) or hasattr(system, "columns")):
            text = shortened(repr(system))
            raise ParameterError(f"systems: {text} is no transformer and no frame")
    if names is None:  # a frame is called "run"
        names = [str(system) if callable(system) else None for system in systems]
    measures = _parsed(eval_metrics)
    rules, reading = separated(settings, Rules)
    evaluation = evaluate(
        _qrels_of(qrels),
        [_ranking(system, topics, number) for number, system in enumerate(systems)],
        names=names,
        measures=measures,
        queries=dict(zip(topics["qid"], topics.get("query", ()), strict=False)),
        **{**_settings_of(measures), **reading},
    )
    queries = set(topics["qid"]).intersection(evaluation.query_ids)
    if not queries:
        raise MismatchError("the qrels have none of the topics; are ids written in the same way?")
    evaluation = evaluation.restrict(filter(queries.__contains__, evaluation.query_ids))
    scores = [evaluation.scores_of(measure) for measure in measures]
    frame = pd.DataFrame(
        {
            "name": evaluation.names,
            **{of_measure.measure: of_measure.means() for of_measure in scores},
            "answered (queries)": [int(run.answered().sum()) for run in evaluation.at()],
        }
    )
    if baseline is not None and len(evaluation) > 1:
        if isinstance(baseline, int) and baseline in range(len(evaluation)):
            baseline = evaluation.names[baseline]
        # What is undefined for a query of one system has no means to compare.
        defined = [
            of_measure.measure
            for of_measure in scores
            if not np.isnan(of_measure.on(evaluation.answerable_queries).values).any()
        ]
        allow = reading.get("allow", ())
        compared = compare(evaluation, baseline, measures=defined, allow=allow, **rules)
        frame = frame.join(compared.to_frame().set_index("contender"), on="name")
    frame.attrs = {"cutoff": evaluation.cutoff, "rel": evaluation.rel, "unit": evaluation.unit}
    return frame


def _qrels_of(qrels: Any) -> Any:
    """Return qrels, or the id of the dataset in ir_datasets that has them."""
    if hasattr(qrels, "irds_ref"):
        return f"{DATASET_PREFIX}{qrels.irds_ref().dataset_id()}"
    return qrels.get_qrels() if hasattr(qrels, "get_qrels") else qrels


def _settings_of(measures: Sequence[Any]) -> dict[str, Any]:
    """Return cutoff and rel of the search length measures, where they agree."""
    settings = {}
    for name in ("cutoff", "rel"):
        values = {item[name] for item in measures if isinstance(item, SearchLengthMeasure)}
        if len(values) == 1:
            settings[name] = values.pop()
    return settings


def _read_topics(topics: Any) -> Any:
    """Return topics as a frame with ids that are text."""
    try:
        import pyterrier
    except ImportError:
        raise not_installed("this needs PyTerrier, without Java", "pyterrier") from None
    source = topics.dataset_id if isinstance(topics, Task) else topics
    if isinstance(source, (str, os.PathLike)):
        if os.path.exists(source):
            topics = pyterrier.io.read_topics(os.fspath(source))
        else:
            name = str(source).removeprefix(DATASET_PREFIX)
            dataset_of(name)  # raises what says how it is meant
            topics = pyterrier.get_dataset(f"{DATASET_PREFIX}{name}")
    if hasattr(topics, "get_topics"):
        topics = topics.get_topics()
    if not hasattr(topics, "columns") or "qid" not in topics.columns:
        kinds = "a frame with the column qid, a path, a dataset id, or a dataset of PyTerrier"
        raise FormatError("the topics", f"must be {kinds}, not {type(topics).__name__}")
    # PyTerrier makes the ids of results text, which would match no number.
    topics = topics.assign(qid=texts(topics["qid"].tolist(), "the topics", "qid"))
    twice = topics["qid"][topics["qid"].duplicated()]
    if len(twice):
        raise FormatError("the topics", f"hold topic {twice.iloc[0]} twice; keep one")
    return topics


def _ranking(system: Any, topics: Any, number: int) -> Any:
    """Return the ranking of a system, a frame or what it returns for the topics."""
    frame = system if hasattr(system, "columns") else system(topics)
    try:
        return frame[["qid", "docno", "score"]]
    except (KeyError, TypeError) as error:
        raise FormatError(
            f"the result of system {number}",
            "a ranking has the columns qid, docno, score",
            text=some(list(map(str, getattr(frame, "columns", ())))),
        ) from error


def _parsed(eval_metrics: Sequence[Any]) -> list[Any]:
    """Return measures, also by their names in trec_eval, each once."""
    from ir_measures import parse_trec_measure

    check_argument("eval_metrics", eval_metrics, Sequence[Any])
    measures = []
    for metric in eval_metrics:
        try:
            measures += parse_trec_measure(metric)
        except (AttributeError, NameError, TypeError, ValueError):
            measures.append(parse_measure(metric))
    return list(dict.fromkeys(measures))
