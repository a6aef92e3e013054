"""A comparison for each condition, such as a collection or a slice, with its effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, cast

from ir_outcomes._types import Correction, CoverageTest, RankingTest
from ir_outcomes.across.effects import Effect, effects_of, measure_effect
from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.facets import Facet
from ir_outcomes.comparison.holes import judged_shares
from ir_outcomes.comparison.outcomes import pair_queries
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import DIRECTIONS, LABELS
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.results import Immutable
from ir_outcomes.statistics import adjust

__all__ = ["Condition", "Rules", "compare_in", "conditions_of", "prevailing"]


class Rules(NamedTuple):
    """How the conditions are compared; see `ir_outcomes.compare`."""

    alpha: float = 0.05
    test: RankingTest = "t"
    coverage_test: CoverageTest = "exact"
    correction: Correction = "holm"


@dataclass(frozen=True)
class Condition(Immutable):
    """One contender in one condition.

    Attributes
    ----------
    condition : str
        Name of the collection or slice.
    group : str or None
        Conditions of one group count as one in the means.
    comparison : Comparison
        What `ir_outcomes.compare` gives for it, corrected over the contenders only.
    coverage_p, ranking_p : float
        P-values of the deciding tests, corrected over contenders and conditions.
    survives : bool
        Whether the label would be the same with these p-values.
    labelled : bool
        Whether there are enough queries for a label.
    coverage : Effect or None
        None where there is no query.
    ranking : Effect or None
        None where fewer than 10 queries are shared, or both runs read equally far on all of them.
    measures : tuple of Effect or None
        Of the other measures, in their order.
    judged : pair of float or None
        Judged share of the documents within the cutoff, baseline and contender.
    """

    condition: str
    group: str | None
    comparison: Comparison
    coverage_p: float
    ranking_p: float
    survives: bool
    labelled: bool
    coverage: Effect | None
    ranking: Effect | None
    measures: tuple[Effect | None, ...]
    judged: tuple[float, float] | None

    @property
    def label(self) -> str | None:
        """The label of the comparison; None where there are too few queries."""
        return self.comparison.verdict.label if self.labelled else None


def conditions_of(
    evaluations: Mapping[str, Evaluation],
    baseline: str,
    contenders: Sequence[str],
    rules: Rules,
    *,
    over_conditions: str,
    measures: Sequence[str] = (),
    groups: Mapping[str, str] | None = None,
    fewest: int = 0,
) -> list[Condition]:
    """Compare every contender with the baseline in every condition.

    Parameters
    ----------
    evaluations : mapping of str to Evaluation
        The conditions; runs that are missing in one are left out there.
    baseline, contenders : str
        Names of runs.
    rules : Rules
        How.
    over_conditions : str
        Correction over the conditions, of each contender.
    measures : sequence of str
        Other measures whose effects are computed.
    groups : mapping of str to str, optional
        Group of a condition.
    fewest : int
        Queries that a label needs.
    """
    compared = compare_in(evaluations, baseline, contenders, rules)
    coverage = _corrected([comparison.coverage for _, comparison in compared], over_conditions)
    ranking = _corrected([comparison.ranking for _, comparison in compared], over_conditions)
    rows = []
    for (name, comparison), coverage_p, ranking_p in zip(compared, coverage, ranking, strict=True):
        evaluation = evaluations[name]
        pair = [evaluation[run].at(evaluation.cutoff) for run in (comparison.baseline, comparison.contender)]
        coverage_effect, ranking_effect = effects_of(pair_queries(pair[0], pair[1], evaluation.unit), 1 - rules.alpha)
        # A label survives if every facet that is significant after the correction over the contenders still is.
        lost = [
            facet.pvalue_corrected <= rules.alpha < pvalue
            for facet, pvalue in ((comparison.coverage, coverage_p), (comparison.ranking, ranking_p))
        ]
        condition = Condition(
            condition=name,
            group=(groups or {}).get(name),
            comparison=comparison,
            coverage_p=coverage_p,
            ranking_p=ranking_p,
            survives=comparison.verdict.label == LABELS[-1] or not any(lost),
            labelled=comparison.n_queries >= fewest,
            coverage=coverage_effect,
            ranking=ranking_effect,
            measures=tuple(
                measure_effect(evaluation, measure, (comparison.baseline, comparison.contender), 1 - rules.alpha)
                for measure in measures
            ),
            judged=judged_shares(pair, evaluation.cutoff),
        )
        rows.append(condition)
    return rows


def compare_in(
    evaluations: Mapping[str, Evaluation], baseline: str, contenders: Sequence[str], rules: Rules
) -> list[tuple[str, Comparison]]:
    """Compare in every condition, and return the comparisons with the name of the condition, contender by contender."""
    compared: list[tuple[str, Comparison]] = []
    for name, evaluation in evaluations.items():
        present = [contender for contender in contenders if contender in evaluation.names]
        if baseline in evaluation.names and present:
            items = cast("Comparisons", compare(evaluation, baseline, present, **rules._asdict()))
            compared += [(name, item) for item in items]
    return sorted(compared, key=lambda item: contenders.index(item[1].contender))


def _corrected(facets: Sequence[Facet], over_conditions: str) -> list[float]:
    """Correct the p-values over all contenders and conditions; they stay at least those corrected over the contenders."""
    pvalues = adjust([facet.pvalue for facet in facets], over_conditions)
    return [max(facet.pvalue_corrected, float(pvalue)) for facet, pvalue in zip(facets, pvalues, strict=True)]


def prevailing(labels: Sequence[str]) -> tuple[str, int, bool]:
    """Return the label that occurs most often, the first of several; how often; and whether labels have opposite directions."""
    most = max(labels, key=labels.count)
    directions = DIRECTIONS[[LABELS.index(label) for label in labels]]
    return most, labels.count(most), {1, -1} <= set(directions.tolist())
