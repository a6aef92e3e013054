"""A comparison for each condition, such as a collection or a slice, with its effects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ir_outcomes._types import Correction, CoverageTest, RankingTest
from ir_outcomes.across.effects import Effect, effects_of, measure_effect
from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.outcomes import pair_queries
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.notes import unjudged_share
from ir_outcomes.results import Immutable
from ir_outcomes.statistics import adjust

__all__ = ["Condition", "Rules", "conditions_of"]


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
    rows: list[Condition] = []
    for name, evaluation in evaluations.items():
        present = [contender for contender in contenders if contender in evaluation.names]
        if baseline not in evaluation.names or not present:
            continue
        compared = compare(evaluation, baseline, present, **rules._asdict())
        items = compared if isinstance(compared, Comparisons) else [compared]
        rows += [_condition(name, evaluation, item, rules, measures, (groups or {}).get(name), fewest) for item in items]
    corrected = _corrected(rows, rules, over_conditions)
    return [row for contender in contenders for row in corrected if row.comparison.contender == contender]


def _condition(
    name: str,
    evaluation: Evaluation,
    comparison: Comparison,
    rules: Rules,
    measures: Sequence[str],
    group: str | None,
    fewest: int,
) -> Condition:
    baseline, contender = (evaluation[run].at(evaluation.cutoff) for run in (comparison.baseline, comparison.contender))
    pair = pair_queries(baseline, contender, evaluation.unit)
    coverage, ranking = effects_of(pair, 1 - rules.alpha)
    shares = [unjudged_share(run, evaluation.cutoff) for run in (baseline, contender)]
    return Condition(
        condition=name,
        group=group,
        comparison=comparison,
        coverage_p=comparison.coverage.pvalue_corrected,
        ranking_p=comparison.ranking.pvalue_corrected,
        survives=True,
        labelled=comparison.n_queries >= fewest,
        coverage=coverage,
        ranking=ranking,
        measures=tuple(
            measure_effect(evaluation, measure, (comparison.baseline, comparison.contender), 1 - rules.alpha)
            for measure in measures
        ),
        judged=None if shares[0] is None or shares[1] is None else (1 - shares[0], 1 - shares[1]),
    )


def _corrected(rows: Sequence[Condition], rules: Rules, over_conditions: str) -> list[Condition]:
    """Correct the p-values over all contenders and conditions, and see whether the labels survive."""
    if not rows:
        return []
    families = [
        np.maximum(adjust([facet.pvalue for facet in facets], over_conditions), [facet.pvalue_corrected for facet in facets])
        for facets in ([row.comparison.coverage for row in rows], [row.comparison.ranking for row in rows])
    ]
    result = []
    for row, coverage_p, ranking_p in zip(rows, *families, strict=True):
        comparison = row.comparison
        # A label survives if every facet that is significant after the correction over the contenders still is.
        lost = [
            facet.pvalue_corrected <= rules.alpha < pvalue
            for facet, pvalue in ((comparison.coverage, coverage_p), (comparison.ranking, ranking_p))
        ]
        survives = comparison.verdict.label == LABELS[-1] or not any(lost)
        result.append(replace(row, coverage_p=float(coverage_p), ranking_p=float(ranking_p), survives=survives))
    return result
