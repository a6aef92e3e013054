"""Search length measures and two-facet verdicts: is this run really better, and in which way.

Importing the package registers `ESL`, `ASL`, `Answered` and `Outcome` with ir_measures, so that they can be named in its calls.
"""

from ir_outcomes import pyterrier
from ir_outcomes.across.collections import CollectionsComparison, compare_collections
from ir_outcomes.across.gate import GateResult, gate
from ir_outcomes.across.judges import JudgesComparison, compare_judges, to_label
from ir_outcomes.across.slices import CutoffsComparison, SlicesComparison, compare_cutoffs, compare_slices
from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.holes import Holes, holes
from ir_outcomes.comparison.outputs import compare_measure, compare_outputs
from ir_outcomes.comparison.plan import Plan, plan
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import SummaryVerdict, verdict_from_summary
from ir_outcomes.errors import (
    DatasetUnavailable,
    EmptyInput,
    FormatError,
    InputError,
    IrOutcomesError,
    IrOutcomesWarning,
    MismatchError,
    MissingDependency,
    ParameterError,
    UnreadableFile,
)
from ir_outcomes.evaluation.evaluate import evaluate, evaluate_suite
from ir_outcomes.evaluation.evaluation import Evaluation, load_evaluation
from ir_outcomes.evaluation.lengths import SearchLengths, search_lengths
from ir_outcomes.evaluation.scores import Scores, scores_from_outputs
from ir_outcomes.leaderboards.agreement import Agreement, agreement
from ir_outcomes.leaderboards.board import Leaderboard, leaderboard
from ir_outcomes.leaderboards.history import SotaHistory, sota_history
from ir_outcomes.leaderboards.stability import RankCorrelation, RankDistribution, rank_correlation, rank_distribution
from ir_outcomes.measures.definitions import ASL, ESL, Answered, Outcome, register_baseline
from ir_outcomes.measures.provider import register
from ir_outcomes.reading.measure_names import parse_measure
from ir_outcomes.reading.qrels import Qrels, Task, as_qrels, beir_texts, known_tasks, load, read_qrels
from ir_outcomes.reading.runs import Run, as_run, read_run
from ir_outcomes.showing.report import ReportPage, report
from ir_outcomes.tail.lengths import DocumentChanges, LengthChanges, LengthDistributions, length_changes, length_distributions
from ir_outcomes.tail.reordering import Reordering, reordering
from ir_outcomes.tail.rrie import RRIE, Headroom, headroom, rrie, rrie_from_means

__version__ = "0.1.0"

__all__ = [
    "ASL",
    "ESL",
    "RRIE",
    "Agreement",
    "Answered",
    "CollectionsComparison",
    "Comparison",
    "Comparisons",
    "CutoffsComparison",
    "DatasetUnavailable",
    "DocumentChanges",
    "EmptyInput",
    "Evaluation",
    "FormatError",
    "GateResult",
    "Headroom",
    "Holes",
    "InputError",
    "IrOutcomesError",
    "IrOutcomesWarning",
    "JudgesComparison",
    "Leaderboard",
    "LengthChanges",
    "LengthDistributions",
    "MismatchError",
    "MissingDependency",
    "Outcome",
    "ParameterError",
    "Plan",
    "Qrels",
    "RankCorrelation",
    "RankDistribution",
    "Reordering",
    "ReportPage",
    "Run",
    "Scores",
    "SearchLengths",
    "SlicesComparison",
    "SotaHistory",
    "SummaryVerdict",
    "Task",
    "UnreadableFile",
    "__version__",
    "agreement",
    "as_qrels",
    "as_run",
    "beir_texts",
    "compare",
    "compare_collections",
    "compare_cutoffs",
    "compare_judges",
    "compare_measure",
    "compare_outputs",
    "compare_slices",
    "evaluate",
    "evaluate_suite",
    "gate",
    "headroom",
    "holes",
    "known_tasks",
    "leaderboard",
    "length_changes",
    "length_distributions",
    "load",
    "load_evaluation",
    "parse_measure",
    "plan",
    "pyterrier",
    "rank_correlation",
    "rank_distribution",
    "read_qrels",
    "read_run",
    "register_baseline",
    "reordering",
    "report",
    "rrie",
    "rrie_from_means",
    "scores_from_outputs",
    "search_lengths",
    "sota_history",
    "to_label",
    "verdict_from_summary",
]

register()
