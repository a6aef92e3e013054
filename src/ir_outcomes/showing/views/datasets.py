"""What is shown of tasks: their settings, and where their parts come from."""

from collections.abc import Iterable

from ir_outcomes.formatting import NOTHING, plural
from ir_outcomes.reading.datasets import Part, Task
from ir_outcomes.showing import Table, View
from ir_outcomes.table_columns import NUMBER, Column


def tasks_view(tasks: Iterable[Task]) -> View:
    """Show a list of tasks."""
    columns = (
        Column("dataset_id", heading="dataset"),
        Column(
            "queries",
            lambda task: None if task.n_queries is None else f"{task.n_queries:,}",
            form=NUMBER,
        ),
        Column("cutoff", form=NUMBER),
        Column("rel", form=NUMBER),
        Column("unit"),
        Column("qrels", lambda task: _where(task, "qrels")),
    )
    table = Table.of(columns, tasks)
    return View(plural("known dataset", len(table.rows)), tables=(table,))


def task_view(task: Task) -> View:
    """Show a task: its settings, and where its parts come from."""
    columns = (
        Column("part", str),
        Column("where", lambda part: _where(task, part), "on this machine"),
        Column("file", lambda part: task.file_of(part) or NOTHING),
    )
    head = (
        f"cutoff {task.cutoff}, rel {task.rel}, unit {task.unit}; official measure"
        f" {task.official_measure or 'unknown'}; baseline {task.baseline or 'none'}"
    )
    table = Table.of(columns, ("qrels", "queries", "scoreddocs"), head)
    return View(task.dataset_id, tables=(table,), notes=tuple(task.notes))


def _where(task: Task, part: Part) -> str:
    if not task.has(part):
        return "none"
    return "here" if task.file_of(part) else "to fetch"
