"""What is shown of each result: importing a module registers its views with `view_of`; of tasks; and of checked files."""

from collections.abc import Iterable

from ir_outcomes.evaluation.check import FILE_COLUMNS, CheckResult
from ir_outcomes.formatting import NOTHING, plural
from ir_outcomes.reading.datasets import Part, Task
from ir_outcomes.showing import Table, View, view_of
from ir_outcomes.showing.views import (
    across,
    comparison,
    evidence,
    gate,
    leaderboards,
    several,
    tail,
)
from ir_outcomes.showing.views.several import paper_view
from ir_outcomes.table_columns import NUMBER, Column

__all__ = [
    "across",
    "comparison",
    "evidence",
    "gate",
    "leaderboards",
    "paper_view",
    "several",
    "tail",
    "task_view",
    "tasks_view",
    "view_of",
]


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


@view_of.register
def _check(result: CheckResult) -> View:
    grades = ", ".join(f"{number:,} of {grade}" for grade, number in result.grades.items())
    if all(int(grade) > 0 for grade in result.grades):
        grades += "; only what is relevant is listed, so shares judged say little"
    legend = (
        "known: queries that the qrels have; judged: of the first 10 documents of each list; ties:"
        " documents with the score of the one before"
    )
    return View(
        f"{plural('run', sum(file.queries > 0 for file in result.files[1:]))} and qrels read",
        plural("problem", sum(len(problem.findings) for problem in result.problems)),
        tuple(map(str, result.problems)),
        tables=(Table.of(FILE_COLUMNS, result.files, legend, f"grades: {grades}"),),
        background=result.notes,
    )
