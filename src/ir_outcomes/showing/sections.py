"""The comparisons of a result, each with its collection, slice or judge."""

from typing import NamedTuple

from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.conditions.conditions import ConditionsComparison
from ir_outcomes.decisions.gate import GateResult
from ir_outcomes.results import Result

TOO_FEW = "too few queries"


class Section(NamedTuple):
    """A comparison, with its condition where there are several."""

    comparison: Comparison
    condition: str = ""
    has_label: bool = True

    @property
    def label(self) -> str:
        """The label, which a slice of few queries does not have."""
        return self.comparison.verdict.label if self.has_label else TOO_FEW

    @property
    def title(self) -> str:
        """A heading."""
        pair = f"{self.comparison.contender} against {self.comparison.baseline}"
        return f"{self.condition}: {pair}" if self.condition else pair


def sections_of(result: Result) -> list[Section]:
    """List the comparisons of a result in its order."""
    match result:
        case Comparison():
            return [Section(result)]
        case Comparisons():
            return [Section(comparison) for comparison in result]
        case ConditionsComparison():
            return [
                Section(row.comparison, row.condition, row.labelled) for row in result.conditions
            ]
        case GateResult():
            return [
                Section(decision.comparison, decision.condition or "")
                for decision in result.worst_first
                if decision.comparison is not None
            ]
    raise TypeError(f"sections_of does not list the comparisons of a {type(result).__name__}")
