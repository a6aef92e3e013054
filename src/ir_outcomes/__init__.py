"""Search length measures and two-facet verdicts: is this run really better, and in which way.

Importing the package registers `ESL`, `ASL`, `Answered` and `Outcome` with ir_measures, so that they can be named in its calls.
"""

from ir_outcomes import pyterrier
from ir_outcomes.comparison import (
    Comparison,
    Comparisons,
    SummaryVerdict,
    compare,
    compare_measure,
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
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.lengths import SearchLengths, search_lengths
from ir_outcomes.measures import ASL, ESL, Answered, Outcome, SharedRR, parse_measure, register, register_baseline, split
from ir_outcomes.reading import Qrels, Run, Task, as_qrels, as_run, known_tasks, load, read_qrels, read_run

__all__ = [
    "ASL",
    "ESL",
    "Answered",
    "Comparison",
    "Comparisons",
    "DatasetUnavailable",
    "Evaluation",
    "FormatError",
    "InputError",
    "IrOutcomesError",
    "IrOutcomesWarning",
    "MismatchError",
    "MissingDependency",
    "Outcome",
    "ParameterError",
    "Qrels",
    "Run",
    "SearchLengths",
    "SharedRR",
    "SummaryVerdict",
    "Task",
    "UnreadableFile",
    "as_qrels",
    "as_run",
    "compare",
    "compare_measure",
    "compare_outputs",
    "evaluate",
    "known_tasks",
    "load",
    "parse_measure",
    "pyterrier",
    "read_qrels",
    "read_run",
    "register_baseline",
    "search_lengths",
    "split",
    "verdict_from_summary",
]

register()
