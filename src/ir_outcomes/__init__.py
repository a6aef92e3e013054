"""Search length measures and two-facet verdicts: is this run really better, and in which way.

Importing the package registers `ESL`, `ASL` and `Answered` with ir_measures, so that they can be named in its calls.
"""

from ir_outcomes.comparison import (
    Comparison,
    Comparisons,
    SummaryVerdict,
    compare,
    compare_outputs,
    verdict_from_summary,
)
from ir_outcomes.errors import (
    DatasetUnavailable,
    FormatError,
    InputError,
    IrOutcomesError,
    IrOutcomesWarning,
    MismatchError,
    MissingDependency,
    ParameterError,
    UnreadableFile,
)
from ir_outcomes.lengths import SearchLengths, search_lengths
from ir_outcomes.measures import ASL, ESL, Answered, parse_measure, register
from ir_outcomes.reading import Qrels, Run, Task, as_qrels, as_run, known_tasks, load, read_qrels, read_run

__all__ = [
    "ASL",
    "ESL",
    "Answered",
    "Comparison",
    "Comparisons",
    "DatasetUnavailable",
    "FormatError",
    "InputError",
    "IrOutcomesError",
    "IrOutcomesWarning",
    "MismatchError",
    "MissingDependency",
    "ParameterError",
    "Qrels",
    "Run",
    "SearchLengths",
    "SummaryVerdict",
    "Task",
    "UnreadableFile",
    "as_qrels",
    "as_run",
    "compare",
    "compare_outputs",
    "known_tasks",
    "load",
    "parse_measure",
    "read_qrels",
    "read_run",
    "search_lengths",
    "verdict_from_summary",
]

register()
