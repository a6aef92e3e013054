"""What an experiment of PyTerrier is given, read and checked: systems, baselines, topics, measures."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from ir_outcomes.errors import DatasetUnavailable, FormatError, ParameterError, not_installed
from ir_outcomes.evaluation.scores import parse_measure
from ir_outcomes.reading.datasets import Task, is_dataset_id, reason_of
from ir_outcomes.reading.objects import texts
from ir_outcomes.reading.runs import DATASET_PREFIX, distinct_names


def terrier() -> Any:
    """Import PyTerrier."""
    try:
        import pyterrier
    except ImportError:
        raise not_installed("this needs PyTerrier, without Java", "pyterrier") from None
    return pyterrier


def named_systems(systems: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """Return the systems by name."""
    if isinstance(systems, Mapping):
        systems, names = list(systems.values()), list(systems)
    elif not isinstance(systems, (list, tuple)):
        raise ParameterError(
            "systems: must be a list or dict of transformers and frames, not"
            f" {type(systems).__name__}"
        )
    runs = list(systems)
    if not runs or (names is not None and len(names) != len(runs)):
        raise ParameterError(
            f"names: {len(names or ())} names for {len(runs)} systems; give one to each"
        )
    own = [
        f"system {place}" if hasattr(run, "columns") else str(run) for place, run in enumerate(runs)
    ]
    called = distinct_names(
        own, [None] * len(runs) if names is None else list(map(str, names)), runs
    )
    return dict(zip(called, runs, strict=True))


def named_baselines(baseline: Any, names: Sequence[str]) -> list[str]:
    """Return the names of the baselines: none, one, or several."""
    if baseline is None:
        return []
    found = []
    for item in baseline if isinstance(baseline, (list, tuple)) else [baseline]:
        if item not in (*names, *range(len(names))):
            place = f"the place of a system, 0 to {len(names) - 1}"
            raise ParameterError(f"must be {place}, or its name: {', '.join(names)}", baseline=item)
        found.append(item if item in names else names[int(item)])
    if not found or len(set(found)) < len(found):
        raise ParameterError("name each baseline once, at least one", baseline=baseline)
    return found


def read_topics(topics: Any) -> Any:
    """Return topics as a frame with ids that are text; from a frame, a path, a dataset id or a dataset of PyTerrier."""
    import pandas as pd

    topics = of_dataset(topics, "get_topics")
    if isinstance(topics, (str, os.PathLike)):
        topics = terrier().io.read_topics(os.fspath(topics))
    if not hasattr(topics, "columns") or "qid" not in topics.columns:
        kinds = "a frame with the column qid, a path, a dataset id, or a dataset of PyTerrier"
        raise FormatError("the topics", f"must be {kinds}, not {type(topics).__name__}")
    # PyTerrier makes the ids of results text, which would match no number. As objects: it goes
    # through the rows, which with the text type of pandas 3 takes twice the time.
    ids = pd.Series(texts(topics["qid"].tolist(), "the topics", "qid"), topics.index, dtype=object)
    if ids.duplicated().any():
        raise FormatError(
            "the topics", f"hold topic {ids[ids.duplicated()].iloc[0]} twice; keep one"
        )
    return topics.assign(qid=ids)


def of_dataset(data: Any, getter: Literal["get_topics", "get_qrels"]) -> Any:
    """Take topics or qrels from a dataset of PyTerrier, and topics from a dataset id or a Task; all else stays as it is."""
    if getter == "get_qrels" and hasattr(data, "irds_ref"):
        return f"{DATASET_PREFIX}{data.irds_ref().dataset_id()}"
    name = data.dataset_id if isinstance(data, Task) else data
    if (
        getter == "get_topics"
        and isinstance(name, str)
        and not os.path.exists(name)
        and is_dataset_id(name)
    ):
        data = terrier().get_dataset(f"{DATASET_PREFIX}{name.removeprefix(DATASET_PREFIX)}")
    if not hasattr(data, getter):
        return data
    try:
        return getattr(data, getter)()
    except Exception as error:  # PyTerrier and ir_datasets raise many kinds
        what = getter.removeprefix("get_")
        raise DatasetUnavailable(
            f"{data}: its {what} cannot be loaded ({reason_of(error)}); try again with a network"
            " connection, or give a frame"
        ) from error


def measures_by_column(eval_metrics: Sequence[Any]) -> dict[str, Any]:
    """Turn measures and their names into measures, by the name of their column."""
    from ir_measures import parse_trec_measure

    if isinstance(eval_metrics, str) or not isinstance(eval_metrics, Sequence):
        raise ParameterError("eval_metrics: must be a list of measures, such as [ESL@100, 'map']")
    measures: dict[str, Any] = {}
    for metric in eval_metrics:
        if metric == "mrt":
            raise ParameterError(
                "mrt: PyTerrier gives response times with means only; call pyterrier.Experiment for"
                " them"
            )
        if isinstance(metric, str):
            try:
                found = parse_trec_measure(metric)
            except (ValueError, NameError):
                found = [parse_measure(metric)]
            measures |= (
                {metric: found[0]}
                if len(found) == 1
                else {str(measure): measure for measure in found}
            )
        else:
            measures[str(metric)] = metric
    return measures
