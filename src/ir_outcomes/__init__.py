"""Search length measures and two-facet verdicts: is this run really better, and in which way.

Importing the package registers `ESL`, `ASL`, `Answered` and `Outcome` with ir_measures, so that they can be named in its calls.
"""

from ir_outcomes import pyterrier
from ir_outcomes._version import __version__
from ir_outcomes.across import (
    CollectionsComparison,
    CutoffsComparison,
    JudgesComparison,
    SlicesComparison,
    compare_collections,
    compare_cutoffs,
    compare_judges,
    compare_slices,
)
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
from ir_outcomes.evaluation.output_scores import scores_from_outputs
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.evaluation.suites import evaluate_suite
from ir_outcomes.leaderboards import (
    Agreement,
    Leaderboard,
    RankCorrelation,
    RankDistribution,
    SotaHistory,
    agreement,
    leaderboard,
    rank_correlation,
    rank_distribution,
    sota_history,
)
from ir_outcomes.measures import ASL, ESL, Answered, Outcome, SharedRR, parse_measure, register, register_baseline, split
from ir_outcomes.reading import Qrels, Run, Task, as_qrels, as_run, known_tasks, load, read_qrels, read_run
from ir_outcomes.tail import (
    RRIE,
    DocumentChanges,
    Headroom,
    LengthChanges,
    LengthDistributions,
    Reordering,
    effective_share,
    equivalent_lengths,
    headroom,
    length_changes,
    length_distributions,
    reduction,
    reordering,
    rrie,
    rrie_from_means,
)

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
    "Evaluation",
    "FormatError",
    "Headroom",
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
    "Qrels",
    "RankCorrelation",
    "RankDistribution",
    "Reordering",
    "Run",
    "Scores",
    "SearchLengths",
    "SharedRR",
    "SlicesComparison",
    "SotaHistory",
    "SummaryVerdict",
    "Task",
    "UnreadableFile",
    "__version__",
    "agreement",
    "as_qrels",
    "as_run",
    "compare",
    "compare_collections",
    "compare_cutoffs",
    "compare_judges",
    "compare_measure",
    "compare_outputs",
    "compare_slices",
    "effective_share",
    "equivalent_lengths",
    "evaluate",
    "evaluate_suite",
    "headroom",
    "known_tasks",
    "leaderboard",
    "length_changes",
    "length_distributions",
    "load",
    "parse_measure",
    "pyterrier",
    "rank_correlation",
    "rank_distribution",
    "read_qrels",
    "read_run",
    "reduction",
    "register_baseline",
    "reordering",
    "rrie",
    "rrie_from_means",
    "scores_from_outputs",
    "search_lengths",
    "sota_history",
    "split",
    "verdict_from_summary",
]

register()
