"""Two runs side by side: outcomes, facets, verdict."""

from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.holes import Holes, holes
from ir_outcomes.comparison.outputs import compare_measure, compare_outputs
from ir_outcomes.comparison.plan import Plan, plan
from ir_outcomes.comparison.published import SummaryVerdict, verdict_from_summary
from ir_outcomes.comparison.result import Comparison, Comparisons

__all__ = [
    "Comparison",
    "Comparisons",
    "Holes",
    "Plan",
    "SummaryVerdict",
    "compare",
    "compare_measure",
    "compare_outputs",
    "holes",
    "plan",
    "verdict_from_summary",
]
