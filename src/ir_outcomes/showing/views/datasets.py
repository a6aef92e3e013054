"""What is shown of tasks: their settings."""

from collections.abc import Iterable

from ir_outcomes.formatting import plural
from ir_outcomes.reading.datasets import Task
from ir_outcomes.showing.view import Table, View
from ir_outcomes.table_columns import NUMBER, Column

_COLUMNS = (
    Column("dataset_id", heading="dataset"),
    Column(
        "queries",
        lambda task: None if task.n_queries is None else f"{task.n_queries:,}",
        form=NUMBER,
    ),
    Column("cutoff", form=NUMBER),
    Column("rel", form=NUMBER),
    Column("unit"),
    Column("official_measure"),
    Column("baseline"),
)


def tasks_view(tasks: Iterable[Task]) -> View:
    """Show a list of tasks."""
    table = Table.of(_COLUMNS[:-1], tasks)
    return View(plural("known dataset", len(table.rows)), tables=(table,))


def task_view(task: Task) -> View:
    """Show a task and its notes."""
    return View(task.dataset_id, tables=(Table.of(_COLUMNS, [task]),), notes=task.notes)
