"""Experiments of PyTerrier with the right means, both facets and the verdict.

`pyterrier.Experiment` takes the measures of this package as they are; but it averages by plain sum,
takes the largest value for the best, and calls a p-value that is not a number a rejection. This
module needs the extra ``pyterrier``, which is PyTerrier without Java.
"""

import os
from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import Any

from ir_outcomes.comparison.compare import compare
from ir_outcomes.errors import FormatError, MismatchError, ParameterError, not_installed, some
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.remarks import refuse_stops
from ir_outcomes.evaluation.scores import Scores, parse_measure
from ir_outcomes.measures.base import SearchLengthMeasure
from ir_outcomes.reading.datasets import Task
from ir_outcomes.reading.objects import texts
from ir_outcomes.reading.runs import DATASET_PREFIX

__all__ = ["experiment"]


def experiment(
    systems: Any,
    topics: Any,
    qrels: Any,
    eval_metrics: Sequence[Any] = (),
    names: Sequence[str] | None = None,
    *,
    baseline: int | str | None = 0,
    alpha: float = 0.05,
    correction: Any = "holm",
    margins: tuple[float, ...] | None = None,
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
    alpha, correction, margins
        See `ir_outcomes.compare`.
    **settings
        ``cutoff``, ``rel``, ``unit``, ``ties`` and ``judged_only`` of `ir_outcomes.evaluate`. By
        default cutoff and rel are those of the search length measures, where they agree.

    Returns
    -------
    pandas.DataFrame
        A row for each system: its ``name``; the mean of each measure, over the queries where it is
        defined; ``answered (queries)``; for each measure on how many queries the system is better
        (``+``) and worse (``-``) than the baseline, in the measure's own direction, and where it is
        defined for every query the p-value; then both facets, with their unit and corrected
        p-values, and the ``verdict``. The settings are in ``frame.attrs``.

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
    if hasattr(qrels, "irds_ref"):
        qrels = f"{DATASET_PREFIX}{qrels.irds_ref().dataset_id()}"
    elif hasattr(qrels, "get_qrels"):
        qrels = qrels.get_qrels()
    if isinstance(systems, Mapping):
        names = list(systems)
        systems = list(systems.values())
    if not isinstance(systems, (list, tuple)) or len(systems) != len(names or systems):
        raise ParameterError("systems: must be a list, or a dict by name, with one name for each")
    frames = [system if hasattr(system, "columns") else system(topics) for system in systems]
    default_names = [
        f"system {number}" if hasattr(system, "columns") else str(system)
        for number, system in enumerate(systems)
    ]
    measures = _parsed(eval_metrics)
    for name in ("cutoff", "rel"):
        ours = {item[name] for item in measures if isinstance(item, SearchLengthMeasure)}
        if len(ours) == 1:
            settings.setdefault(name, ours.pop())
    evaluation = evaluate(
        qrels,
        [_ranking(frame, number) for number, frame in enumerate(frames)],
        names=names or default_names,
        measures=measures,
        queries=topics.set_index("qid").get("query", pd.Series(dtype=object)).to_dict(),
        **settings,
    )
    asked = set(topics["qid"])
    judged = [query for query in evaluation.query_ids if query in asked]
    if not judged:
        raise MismatchError("the qrels have none of the topics; are ids written in the same way?")
    evaluation = evaluation.restrict(judged)
    refuse_stops(evaluation.at(), settings.get("allow", ()))
    columns: dict[str, Any] = {"name": evaluation.names}
    scores = {measure: evaluation.scores_of(measure) for measure in measures}
    for values in scores.values():
        columns[values.measure] = values.means()
    columns["answered (queries)"] = [int(run.answered().sum()) for run in evaluation.at()]
    frame = pd.DataFrame(columns)
    if baseline is not None and len(evaluation) > 1:
        choices = (*range(len(evaluation)), *evaluation.names)
        if baseline not in choices:
            choice = f"a place from 0 to {len(evaluation) - 1}, or a name"
            raise ParameterError(f"must be {choice}: {some(evaluation.names)}", baseline=baseline)
        first = evaluation[baseline].name
        contenders = [name for name in evaluation.names if name != first]
        rules = {"alpha": alpha, "correction": correction, "margins": margins}
        # What is undefined for a query of one system has no means to compare.
        defined = [
            measure for measure in measures if not _is_undefined(scores[measure], evaluation)
        ]
        allow = settings.get("allow", ())
        compared = compare(evaluation, first, contenders, measures=defined, allow=allow, **rules)
        found = {
            item.contender: _columns_of(item, evaluation, scores.values()) for item in compared
        }
        frame = frame.join(pd.DataFrame([found.get(name, {}) for name in evaluation.names]))
    frame.attrs = {"cutoff": evaluation.cutoff, "rel": evaluation.rel, "unit": evaluation.unit}
    return frame


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


def _ranking(frame: Any, number: int) -> Any:
    """Return the columns of a run, of what a system returned."""
    columns = ["qid", "docno", "score"]
    found = [str(column) for column in getattr(frame, "columns", ())]
    missing = [column for column in columns if column not in found]
    if missing:
        problem = (
            f"has no column {' and '.join(missing)}; a ranking has the columns {', '.join(columns)}"
        )
        raise FormatError(f"the result of system {number}", problem, text=", ".join(found))
    return frame[columns]


def _parsed(eval_metrics: Sequence[Any]) -> list[Any]:
    """Return measures, also by their names in trec_eval, each once."""
    from ir_measures import parse_trec_measure

    if isinstance(eval_metrics, str) or not isinstance(eval_metrics, Sequence):
        raise ParameterError("eval_metrics: must be a list of measures, such as [ESL@100, 'map']")
    measures = []
    for metric in eval_metrics:
        try:
            measures += parse_trec_measure(metric)
        except (AttributeError, NameError, TypeError, ValueError):
            measures.append(parse_measure(metric))
    return list(dict.fromkeys(measures))


def _is_undefined(scores: Scores, evaluation: Evaluation) -> bool:
    return any(map(isnan, scores.on(evaluation.answerable_queries).values.flat))


def _columns_of(
    compared: Any, evaluation: Evaluation, measured: Iterable[Scores]
) -> dict[str, Any]:
    """Return what is said of a contender beside its means."""
    baseline, contender = map(evaluation.position, (compared.baseline, compared.contender))
    pvalues = {row.name: row.pvalue for row in compared.measures}
    columns: dict[str, Any] = {}
    for scores in measured:
        gains = scores.gains()
        columns[f"{scores.measure} +"] = (gains[contender] > gains[baseline]).sum()
        columns[f"{scores.measure} -"] = (gains[contender] < gains[baseline]).sum()
        columns[f"{scores.measure} p-value"] = pvalues.get(scores.measure)
    for row in (compared.coverage, compared.ranking):
        unit = f"{row.measured_in}, by {evaluation.unit}"
        columns[f"{row.name} difference ({unit})"] = row.difference
        is_known = row.difference is not None
        columns[f"{row.name} p-value corrected"] = row.pvalue_corrected if is_known else None
    columns["verdict"] = compared.verdict.label
    return columns
