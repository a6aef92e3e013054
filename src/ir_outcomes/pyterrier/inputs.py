"""What an experiment is given: systems, topics and qrels, measures, baselines."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ir_outcomes.errors import DatasetUnavailable, FormatError, MissingDependency, ParameterError
from ir_outcomes.measures import parse_measure
from ir_outcomes.reading.columns import texts
from ir_outcomes.reading.datasets import DATASET_PREFIX, is_dataset_id, reason_of
from ir_outcomes.reading.tasks import Task, load

__all__ = [
    "baseline_places", "measures_by_column", "named_systems", "query_texts", "read_qrels", "read_topics", "task_of",
    "terrier",
]  # fmt: skip

TREC_QRELS_COLUMNS = ("qid", "docno", "label")


def terrier() -> Any:
    """Import PyTerrier.

    Raises
    ------
    MissingDependency
        If it is not installed.
    """
    try:
        import pyterrier
    except ImportError:
        raise MissingDependency("this needs PyTerrier, without Java: pip install 'ir-outcomes[pyterrier]'") from None
    return pyterrier


def named_systems(systems: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """Return the systems by name, checked; frames of results get ids that are text."""
    if isinstance(systems, Mapping):
        runs, called = list(systems.values()), list(map(str, systems))
    elif isinstance(systems, (list, tuple)):
        runs = list(systems)
        own = [f"system {place}" if hasattr(run, "columns") else run for place, run in enumerate(runs)]
        called = list(map(str, own if names is None else names))
    else:
        raise ParameterError(f"systems: must be a list or dict of transformers and frames, not {type(systems).__name__}")
    if len(called) != len(runs) or not runs:
        raise ParameterError(f"names: {len(called)} names for {len(runs)} systems; give one to each")
    repeated = [name for name in called if called.count(name) > 1]
    if repeated:
        raise ParameterError(f"two systems are called {repeated[0]}; tell them apart with names=")
    return {name: _results(run, name) if hasattr(run, "columns") else run for name, run in zip(called, runs, strict=True)}


def baseline_places(baseline: Any, names: Sequence[str]) -> list[int]:
    """Find the places of the baselines: none, one, or several."""
    if baseline is None:
        return []
    places = [_place(item, names) for item in (baseline if isinstance(baseline, (list, tuple)) else [baseline])]
    if not places or len(set(places)) < len(places):
        raise ParameterError(f"baseline={baseline!r}: name each baseline once, at least one")
    return places


def _place(baseline: Any, names: Sequence[str]) -> int:
    if isinstance(baseline, str) and baseline in names:
        return names.index(baseline)
    is_number = isinstance(baseline, (int, np.integer)) and not isinstance(baseline, bool)
    if is_number and 0 <= baseline < len(names):
        return int(baseline)
    raise ParameterError(
        f"baseline={baseline!r}: must be the place of a system, 0 to {len(names) - 1}, or its name: {', '.join(names)}"
    )


def task_of(qrels: Any) -> Task | None:
    """Return the task of a dataset id, a Task or a dataset of PyTerrier that comes from ir_datasets; else None."""
    if isinstance(qrels, Task):
        return qrels
    name = qrels.irds_ref().dataset_id() if hasattr(qrels, "irds_ref") else qrels
    if not isinstance(name, str) or os.path.exists(name):
        return None
    name = name.removeprefix(DATASET_PREFIX)
    return load(name) if is_dataset_id(name) else None


def read_topics(topics: Any) -> Any:
    """Return topics as a frame with ids that are text; from a frame, a path, a dataset id or a dataset of PyTerrier."""
    frame = _frame(_of_dataset(topics, "get_topics"), terrier().io.read_topics, "topics", ("qid",))
    repeated = frame["qid"][frame["qid"].duplicated()]
    if len(repeated):
        raise FormatError("the topics", f"hold topic {repeated.iloc[0]} twice; keep one")
    return frame


def read_qrels(qrels: Any) -> Any:
    """Return qrels as a frame with ids that are text; from a frame, a path, a dataset id or a dataset of PyTerrier."""
    return _frame(_of_dataset(qrels, "get_qrels"), terrier().io.read_qrels, "qrels", TREC_QRELS_COLUMNS)


def _of_dataset(data: Any, getter: str) -> Any:
    """Take topics or qrels from a dataset of PyTerrier, a dataset id, or a Task."""
    if isinstance(data, Task):
        data = f"{DATASET_PREFIX}{data.dataset_id}"
    if isinstance(data, str) and not os.path.exists(data):
        name = data.removeprefix(DATASET_PREFIX)
        if is_dataset_id(name):
            data = terrier().get_dataset(f"{DATASET_PREFIX}{name}")
    if not hasattr(data, getter):
        return data
    try:
        return getattr(data, getter)()
    except Exception as error:  # PyTerrier and ir_datasets raise many kinds
        what = getter.removeprefix("get_")
        raise DatasetUnavailable(
            f"{data}: its {what} cannot be loaded ({reason_of(error)}); try again with a network connection, or give a frame"
        ) from error


def _frame(data: Any, read: Any, what: str, columns: Sequence[str]) -> Any:
    """Read a frame, with ids as text: PyTerrier makes those of results text, and would then match none."""
    if isinstance(data, (str, os.PathLike)):
        data = read(os.fspath(data))
    if not hasattr(data, "columns"):
        raise FormatError(
            f"the {what}", f"must be a frame or a path, a dataset id, or a dataset of PyTerrier, not {type(data).__name__}"
        )
    return _with_text_ids(data, f"the {what}", columns)


def _results(frame: Any, name: str) -> Any:
    checked = _with_text_ids(frame, name, ("qid", "docno", "score"))
    if not len(frame):
        raise FormatError(name, "holds no result at all; leave this system out")
    return checked


def _with_text_ids(frame: Any, source: str, columns: Sequence[str]) -> Any:
    import pandas as pd

    for column in columns:
        if column not in frame.columns:
            raise FormatError(source, f"has no column {column!r}; its columns are {', '.join(map(str, frame.columns))}")
    # As objects: PyTerrier and ir_measures go through the rows, which with the text type of pandas 3 takes twice the time.
    ids = {
        column: pd.Series(texts(frame[column].tolist(), source, column), frame.index, dtype=object)
        for column in ("qid", "docno")
        if column in frame.columns
    }
    return frame.assign(**ids)


def query_texts(topics: Any) -> dict[str, str]:
    """Return the text of each query, where the topics have it."""
    return dict(zip(topics["qid"], map(str, topics["query"]), strict=True)) if "query" in topics.columns else {}


def measures_by_column(eval_metrics: Sequence[Any]) -> dict[str, Any]:
    """Turn measures and their names into measures, by the name of their column."""
    from ir_measures import parse_trec_measure

    if isinstance(eval_metrics, str) or not isinstance(eval_metrics, Sequence):
        raise ParameterError("eval_metrics: must be a list of measures, such as [ESL@100, 'map']")
    measures: dict[str, Any] = {}
    for metric in eval_metrics:
        if metric == "mrt":
            raise ParameterError("mrt: PyTerrier gives response times with means only; call pyterrier.Experiment for them")
        if isinstance(metric, str):
            try:
                found = parse_trec_measure(metric)
            except (ValueError, NameError):
                found = [parse_measure(metric)]
            measures |= {metric: found[0]} if len(found) == 1 else {str(measure): measure for measure in found}
        else:
            measures[str(metric)] = metric
    return measures
