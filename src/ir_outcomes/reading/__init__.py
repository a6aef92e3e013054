"""Everything that comes in, checked at the door."""

from ir_outcomes.reading.qrels import Qrels, as_qrels, read_qrels
from ir_outcomes.reading.runs import Run, as_run, read_run

__all__ = ["Qrels", "Run", "as_qrels", "as_run", "read_qrels", "read_run"]
