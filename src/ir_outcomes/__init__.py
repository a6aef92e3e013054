"""Search length measures and two-facet verdicts: is this run really better, and in which way.

Importing the package registers `ESL`, `ASL`, `Answered` and `Outcome` with ir_measures, so that
they can be named in its calls.
"""

from ir_outcomes import pyterrier
from ir_outcomes.across.collections import compare_collections
from ir_outcomes.across.cutoffs import compare_cutoffs
from ir_outcomes.across.gate import GateResult, gate
from ir_outcomes.across.judges import compare_judges, to_label
from ir_outcomes.across.result import ConditionsComparison
from ir_outcomes.across.slices import compare_slices
from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.holes import Holes, holes
from ir_outcomes.comparison.outputs import compare_measure, compare_outputs
from ir_outcomes.comparison.plan import Plan, plan
from ir_outcomes.comparison.published import (
    MeansVerdict,
    SummaryVerdict,
    verdict_from_means,
    verdict_from_summary,
)
from ir_outcomes.comparison.result import Comparison, Comparisons
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
from ir_outcomes.evaluation.baselines import register_baseline
from ir_outcomes.evaluation.check import CheckResult, check
from ir_outcomes.evaluation.evaluate import evaluate, evaluate_suite
from ir_outcomes.evaluation.evaluation import Evaluation, load_evaluation
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.scores import Scores, parse_measure, scores_from_outputs
from ir_outcomes.evaluation.search import search_lengths
from ir_outcomes.leaderboards.agreement import Agreement, agreement
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.leaderboards.history import SotaHistory, sota_history
from ir_outcomes.leaderboards.leaderboard import leaderboard
from ir_outcomes.leaderboards.stability import (
    RankCorrelation,
    RankDistribution,
    rank_correlation,
    rank_distribution,
)
from ir_outcomes.measures import ASL, ESL, Answered, Outcome, register
from ir_outcomes.showing.page import ReportPage, report
from ir_outcomes.reading.datasets import Task, as_qrels, as_run, known_tasks, load
from ir_outcomes.reading.qrels import Qrels, read_qrels
from ir_outcomes.reading.runs import Run, read_run
from ir_outcomes.tail.lengths import (
    LengthChanges,
    LengthDistributions,
    length_changes,
    length_distributions,
)
from ir_outcomes.tail.reordering import Reordering, reordering
from ir_outcomes.tail.rrie import RRIE, Headroom, headroom, rrie, rrie_from_means

__version__ = "0.1.0"

# fmt: off
__all__ = [  # noqa: RUF022  # by subject
    "__version__", "pyterrier",
    "ASL", "ESL", "Answered", "Outcome", "parse_measure", "register_baseline",
    "Qrels", "Run", "Task", "as_qrels", "as_run", "known_tasks", "load", "read_qrels", "read_run",
    "CheckResult", "Evaluation", "SearchLengths", "check", "evaluate", "evaluate_suite", "load_evaluation", "search_lengths",
    "Scores", "scores_from_outputs",
    "Comparison", "Comparisons", "compare", "compare_measure", "compare_outputs",
    "MeansVerdict", "SummaryVerdict", "verdict_from_means", "verdict_from_summary",
    "ConditionsComparison",
    "compare_collections", "compare_cutoffs", "compare_judges", "compare_slices", "to_label",
    "GateResult", "Holes", "Plan", "ReportPage", "gate", "holes", "plan", "report",
    "Agreement", "Leaderboard", "RankCorrelation", "RankDistribution", "SotaHistory",
    "agreement", "leaderboard", "rank_correlation", "rank_distribution", "sota_history",
    "RRIE", "Headroom", "LengthChanges", "LengthDistributions", "Reordering",
    "headroom", "length_changes", "length_distributions", "reordering", "rrie", "rrie_from_means",
    "DatasetUnavailable", "EmptyInput", "FormatError", "InputError", "IrOutcomesError", "IrOutcomesWarning",
    "MismatchError", "MissingDependency", "ParameterError", "UnreadableFile",
]
# fmt: on

register()
