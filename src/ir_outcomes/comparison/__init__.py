"""Two runs side by side: outcomes, facets, verdict."""

from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.outputs import compare_outputs
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.summary import SummaryVerdict, verdict_from_summary

__all__ = ["Comparison", "Comparisons", "SummaryVerdict", "compare", "compare_outputs", "verdict_from_summary"]
