"""How a comparison is made; checked before anything is read."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from ir_outcomes._checks import check_choice, check_one_order, check_positive
from ir_outcomes._types import CoverageTest, FamilyCorrection, RankingTest, Ties, Unit
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.statistics import first_step_level

__all__ = ["Settings", "check_alpha", "check_rules", "checked_margins", "contenders_of"]


@dataclass(frozen=True)
class Settings:
    """How a comparison was made.

    Attributes
    ----------
    cutoff, rel, ties, judged_only
        See `ir_outcomes.search_lengths`; None and "unknown" where only the output of a tool was compared.
    unit : {"query", "document"}
        What is answered or not.
    alpha : float
        Level of tests, intervals and verdict.
    test, coverage_test : str
        Which tests were asked to decide.
    correction : str
        Correction of the deciding p-values over `family` comparisons, separately for each facet.
    family : int
        Number of comparisons in the call.
    margins : tuple of float, optional
        Non-inferiority margins: percentage points of coverage, ranks.
    seed : int
        Of the bootstrap intervals.
    """

    cutoff: int | None
    rel: int
    unit: Unit
    ties: Ties | Literal["unknown"]
    judged_only: bool
    alpha: float = 0.05
    test: RankingTest = "t"
    coverage_test: CoverageTest = "exact"
    correction: FamilyCorrection = "holm"
    family: int = 1
    margins: tuple[float, float] | None = None
    seed: int = 0

    @classmethod
    def of(cls, evaluation: Evaluation, **rules: Any) -> Settings:
        """Take the settings of an evaluation, with the rules of a comparison."""
        return cls(
            cutoff=evaluation.cutoff,
            rel=evaluation.rel,
            unit=evaluation.unit,
            ties=evaluation.ties,
            judged_only=evaluation.judged_only,
            **rules,
        )

    def __post_init__(self) -> None:
        check_positive("cutoff", self.cutoff, none_allowed=True)
        check_positive("rel", self.rel)
        check_choice("unit", self.unit, get_args(Unit))
        check_choice("ties", self.ties, (*get_args(Ties), "unknown"))
        check_one_order(self.ties)
        check_rules(self.alpha, self.test, self.coverage_test, self.correction)

    @property
    def first_step_level(self) -> float:
        """The level of the first step of Holm's method, which the smallest p-value of the family has to reach."""
        return first_step_level(self.alpha, self.family, self.correction)

    @property
    def margin_level(self) -> float:
        """Level of the two-sided intervals that decide about margins."""
        return 1 - self.first_step_level


def contenders_of(evaluation: Evaluation, baseline: str, contenders: str | Sequence[str] | None) -> list[str]:
    """Return the names of the contenders: one, several, or by default all runs but the baseline.

    Raises
    ------
    ParameterError
        If the evaluation lacks a run, or there is no contender.
    """
    if contenders is None:
        contenders = [name for name in evaluation.names if name != baseline]
    names = [contenders] if isinstance(contenders, str) else list(dict.fromkeys(contenders))
    for name in (baseline, *names):
        evaluation.position(name)
    if not names:
        raise ParameterError("there is no contender; name a run other than the baseline")
    return names


def check_rules(alpha: Any, test: Any, coverage_test: Any, correction: Any) -> None:
    """Refuse a level, tests or a correction that do not exist."""
    check_alpha(alpha)
    check_choice("test", test, get_args(RankingTest))
    check_choice("coverage_test", coverage_test, get_args(CoverageTest))
    check_choice("correction", correction, get_args(FamilyCorrection))


def check_alpha(alpha: Any) -> None:
    """Refuse a level that is not strictly between 0 and 1."""
    if isinstance(alpha, bool) or not isinstance(alpha, (int, float)) or not 0 < alpha < 1:
        raise ParameterError(f"alpha={alpha!r}: must be a number between 0 and 1, such as 0.05")


def checked_margins(margins: Any) -> tuple[float, float] | None:
    """Refuse margins that are not two positive, finite numbers."""
    if margins is None:
        return None
    try:
        coverage, ranking = (float(margin) for margin in margins)
    except (TypeError, ValueError):
        coverage = ranking = math.nan
    if not (0 < coverage < math.inf and 0 < ranking < math.inf):
        raise ParameterError(
            f"margins={margins!r}: must be two positive numbers, percentage points of coverage and ranks, such as (1.0, 0.5)"
        )
    return coverage, ranking
