"""Two runs side by side: outcomes, facets, verdict."""

from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.result import Comparison, Comparisons

__all__ = ["Comparison", "Comparisons", "compare"]
