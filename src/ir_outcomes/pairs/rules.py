"""The rules by which pairs are judged, and the settings of a comparison."""

import math
from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any, Literal, Self, TypedDict

from ir_outcomes.arguments import check_fields, check_one_order
from ir_outcomes.choices import Correction, Level, Ties, Unit
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.clusters import digest_of_clusters
from ir_outcomes.evaluation.evaluation import DEFAULT_CUTOFF, Evaluation
from ir_outcomes.reading.datasets import has_settings, load
from ir_outcomes.statistics.families import level_in_family


class RuleOptions(TypedDict, total=False):
    """How verdicts are reached, as keyword arguments."""

    alpha: Level
    correction: Correction
    margins: tuple[float, ...] | None


@dataclass(frozen=True)
class Rules:
    """How verdicts are reached.

    Parameters
    ----------
    alpha : float
        Level of p-values, intervals and labels.
    correction : {"holm", "bonferroni", "fdr_bh", "none"}
        Correction of p-values over the contenders of a call. Each row is corrected by itself.
    margins : (float, float), (float, float, float) or (float,), optional
        Margins of harm: coverage, ranking, all queries. Points and ranks; all are positive. The
        third is by default what the other two tolerate together.
    """

    alpha: Level = 0.05
    correction: Correction = "holm"
    margins: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "margins", _checked_margins(self.margins))


def _checked_margins(margins: Any) -> tuple[float, ...] | None:
    """Refuse margins that are not one to three positive, finite numbers."""
    if margins is None:
        return None
    try:
        checked = tuple(map(float, margins))
    except (TypeError, ValueError):
        checked = ()
    if len(checked) not in (1, 2, 3) or not all(0 < margin < math.inf for margin in checked):
        raise ParameterError(
            "must be positive numbers: percentage points of coverage, ranks, and ranks over all"
            " queries, such as (1.0, 0.5) or (1.0, 0.5, 1.0); of values of a measure one, such as"
            " (0.01,)",
            margins=margins,
        )
    if len(checked) > 1 and checked[0] >= 100:
        raise ParameterError(
            "no run can lose more than 100 percentage points of coverage; give a smaller margin",
            margins=margins,
        )
    return checked


@dataclass(frozen=True)
class Settings:
    """How a comparison was made."""

    #: Ranks beyond it do not count; None where only values of a tool were compared.
    cutoff: int | None
    #: Smallest grade of a relevant document; None where values were compared that do not say it.
    rel: int | None
    unit: Unit  #: what is answered or not
    ties: Ties | Literal["unknown"]  #: "unknown" where only values of a tool were compared
    judged_only: bool  #: whether unjudged documents were removed
    alpha: float = 0.05  #: level of p-values, intervals and verdict
    correction: Correction = "holm"  #: of p-values, each row by itself,
    family: int = 1  #: over so many comparisons
    #: percentage points of coverage, ranks, and, where given, ranks over all queries
    margins: tuple[float, ...] | None = None
    #: clusters of the answerable queries; None where queries are independent
    n_clusters: int | None = None
    clusters: str | None = None  #: digest of which queries are together
    #: the dataset whose cutoff and rel these are, where they are not the usual ones
    task: str | None = None

    def __post_init__(self) -> None:
        check_one_order(self.ties)

    @classmethod
    def of(cls, evaluation: Evaluation, rules: Rules, family: int = 1) -> Self:
        """Take the settings of an evaluation, and the rules of a family of comparisons."""
        settings = cls(
            cutoff=evaluation.cutoff,
            rel=evaluation.rel,
            unit=evaluation.unit,
            ties=evaluation.ties,
            judged_only=evaluation.judged_only,
            **vars(rules),
            family=family,
            n_clusters=evaluation.n_clusters,
            clusters=digest_of_clusters(evaluation.clusters, evaluation.query_ids),
            task=_task_of(evaluation),
        )
        values = evaluation.values
        if values is None:
            return settings
        return replace(
            settings, cutoff=values.cutoff, rel=values.rel, unit="query", ties="unknown", task=None
        )

    @classmethod
    def of_collections(
        cls, evaluations: Collection[Evaluation], rules: Rules, family: int = 1
    ) -> Self:
        """Take those of several collections, whose cutoff is None where they differ in it."""
        settings = cls.of(next(iter(evaluations)), rules, family)
        cutoffs = {evaluation.cutoff for evaluation in evaluations}
        return settings if len(cutoffs) == 1 else replace(settings, cutoff=None)

    @property
    def rules(self) -> Rules:
        """The rules of the verdict."""
        return Rules(self.alpha, self.correction, self.margins)

    @property
    def first_level(self) -> float:
        """The level that the smallest p-value of the family has to reach."""
        return level_in_family(self.alpha, self.family, self.correction)


def _task_of(evaluation: Evaluation) -> str | None:
    """The dataset from which cutoff and rel come, None where they are the usual ones."""
    chosen = (evaluation.cutoff, evaluation.rel)
    if chosen == (DEFAULT_CUTOFF, 1) or not has_settings(evaluation.collection):
        return None
    task = load(evaluation.collection)
    return task.dataset_id if chosen == (task.cutoff, task.rel) else None
