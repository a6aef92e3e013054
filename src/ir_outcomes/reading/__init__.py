"""Runs, qrels, per-query outputs and ir_datasets tasks: everything is validated here."""

from ir_outcomes.reading.qrels import Qrels, as_qrels, beir_texts, read_qrels
from ir_outcomes.reading.runs import Run, as_run, read_run
from ir_outcomes.reading.tasks import Task, known_tasks, load

__all__ = ["Qrels", "Run", "Task", "as_qrels", "as_run", "beir_texts", "known_tasks", "load", "read_qrels", "read_run"]
