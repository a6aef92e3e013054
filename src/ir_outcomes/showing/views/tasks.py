"""What is shown of the known datasets, and of one of them."""

from __future__ import annotations

from collections.abc import Iterable

from ir_outcomes.formatting import NOTHING
from ir_outcomes.reading.datasets import Source, size_text
from ir_outcomes.reading.tasks import Task
from ir_outcomes.showing.view import Column, Field, Table, View, tabulated

__all__ = ["task_view", "tasks_view"]


def tasks_view(tasks: Iterable[Task]) -> View:
    """Show a list of tasks."""
    fields: list[Field[Task]] = [
        (Column("dataset"), lambda task: task.dataset_id),
        (Column("queries", "number"), lambda task: NOTHING if task.n_queries is None else f"{task.n_queries:,}"),
        (Column("cutoff", "number"), lambda task: str(task.cutoff)),
        (Column("rel", "number"), lambda task: str(task.rel)),
        (Column("unit"), lambda task: task.unit),
        (Column("qrels"), lambda task: _where(task.source("qrels"))),
    ]
    return View((Table("", "", *tabulated(fields, tasks)),))


def task_view(task: Task) -> View:
    """Show a task: its settings, and where its parts come from."""
    rows = []
    for part in ("qrels", "queries", "scoreddocs"):
        source = task.source(part)
        path = NOTHING if source is None or source.path is None else source.path
        rows.append((part, _where(source), path))
    head = (
        f"cutoff {task.cutoff}, rel {task.rel}, unit {task.unit}; official measure {task.official_measure or 'unknown'}; "
        f"baseline {task.baseline or 'none'}"
    )
    columns = (Column("part"), Column("on this machine"), Column("file"))
    return View((Table(task.dataset_id, head, columns, tuple(rows)),), notes=tuple(task.notes))


def _where(source: Source | None) -> str:
    if source is None:
        return "none"
    if source.here:
        return "here"
    return "to fetch" if source.size is None else size_text(source.size)
