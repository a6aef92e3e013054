"""Which comparisons a result holds, one section of the page for each, and the evaluation that each was made from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import singledispatch
from itertools import combinations
from typing import NamedTuple

from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.across.same_queries import CutoffsComparison, JudgesComparison
from ir_outcomes.across.slices import SlicesComparison
from ir_outcomes.comparison.compare import build, measured_pair
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import coverage_test_for
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.results import Result

__all__ = ["MOST_RUNS", "Evaluations", "Section", "evaluation_of", "sections_of"]

MOST_RUNS = 30  # of a leaderboard: all pairs are compared for its sections

Evaluations = Evaluation | Mapping[str, Evaluation] | None


class Section(NamedTuple):
    """A comparison that has a section of the page.

    Attributes
    ----------
    comparison : Comparison
        What it shows.
    condition : str
        Collection, slice, cutoff or judge; empty where there is only one.
    """

    comparison: Comparison
    condition: str = ""

    @property
    def title(self) -> str:
        """A heading."""
        pair = f"{self.comparison.contender} against {self.comparison.baseline}"
        return f"{self.condition}: {pair}" if self.condition else pair


@singledispatch
def sections_of(result: Result, evaluation: Evaluations) -> list[Section]:
    """List the comparisons of a result, in its order; none for results that hold no comparisons."""
    return []


@sections_of.register
def _comparison(result: Comparison, evaluation: Evaluations) -> list[Section]:
    return [Section(result)]


@sections_of.register
def _comparisons(result: Comparisons, evaluation: Evaluations) -> list[Section]:
    return [Section(comparison) for comparison in result]


@sections_of.register(CollectionsComparison)
@sections_of.register(SlicesComparison)
def _conditions(result: CollectionsComparison | SlicesComparison, evaluation: Evaluations) -> list[Section]:
    return [Section(row.comparison, row.condition) for row in result.conditions]


@sections_of.register
def _cutoffs(result: CutoffsComparison, evaluation: Evaluations) -> list[Section]:
    return [Section(comparison, f"cutoff {comparison.cutoff}") for comparison in result.comparisons]


@sections_of.register
def _judges(result: JudgesComparison, evaluation: Evaluations) -> list[Section]:
    return [Section(judgment.comparison, judgment.judge) for judgment in result.judgments]


@sections_of.register
def _leaderboard(result: Leaderboard, evaluation: Evaluations) -> list[Section]:
    """Compare every run with the best one, corrected over all pairs, so that the labels are those of the leaderboard."""
    names = [standing.run for standing in result.standings]
    if not isinstance(evaluation, Evaluation) or result.settings is None or len(names) > MOST_RUNS:
        return []
    measured = [
        measured_pair(evaluation, baseline, contender, result.settings)
        for baseline, contender in combinations(evaluation[names], 2)
    ]
    test = coverage_test_for(result.settings.unit, evaluation.many_relevant)
    return [Section(comparison) for comparison in build(measured, result.settings, test, wanted=len(names) - 1)]


def evaluation_of(section: Section, evaluation: Evaluations) -> Evaluation | None:
    """Return the evaluation that a comparison was made from; None where it was not given.

    Raises
    ------
    ParameterError
        If the evaluations lack the condition, or the evaluation lacks a run or a query.
    """
    if evaluation is None:
        return None
    if isinstance(evaluation, Mapping):
        if section.condition not in evaluation:
            raise ParameterError(
                f"evaluation lacks {section.condition!r}; give a mapping with the names of the result, of which it has "
                f"{some(list(evaluation), 10)}"
            )
        evaluation = evaluation[section.condition]
    for run in (section.comparison.baseline, section.comparison.contender):
        evaluation.position(run)
    known = set(evaluation.query_ids)
    missing = [query.query_id for query in section.comparison.queries or () if query.query_id not in known]
    if missing:
        raise ParameterError(f"evaluation lacks the query {some(missing)}; give the evaluation that the result was made from")
    return evaluation
