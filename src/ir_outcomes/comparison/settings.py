"""How a comparison is made; checked before anything is read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from ir_outcomes._checks import check_choice, check_one_order, check_positive
from ir_outcomes._types import Ties, Unit
from ir_outcomes.errors import ParameterError

RankingTest = Literal["t", "wilcoxon", "sign", "signflip"]
CoverageTest = Literal["exact", "midp"]
FamilyCorrection = Literal["holm", "bonferroni", "fdr_bh", "tukey", "none"]


@dataclass(frozen=True)
class Settings:
    """How a comparison was made.

    Attributes
    ----------
    cutoff, rel, ties, judged_only
        See `ir_outcomes.search_lengths`; None and "unknown" where only a tool's output was compared.
    unit : {"query", "document"}
        What is answered or not.
    alpha : float
        Level of tests, intervals and verdict.
    test, coverage_test : str
        Which tests decide.
    correction : str
        Correction of the deciding p-values over `family` contenders, separately per facet.
    family : int
        Number of comparisons in the call.
    margins : tuple of float, optional
        Non-inferiority margins: percentage points of coverage, ranks.
    seed, resamples : int
        Of the sign-flip test where it is sampled.
    """

    cutoff: int | None
    rel: int
    unit: Unit
    ties: Ties | Literal["unknown"]
    judged_only: bool
    alpha: float
    test: RankingTest
    coverage_test: CoverageTest
    correction: FamilyCorrection
    family: int
    margins: tuple[float, float] | None
    seed: int
    resamples: int

    def __post_init__(self) -> None:
        check_positive("cutoff", self.cutoff, none_allowed=True)
        check_positive("rel", self.rel)
        check_positive("resamples", self.resamples)
        check_choice("unit", self.unit, get_args(Unit))
        check_choice("ties", self.ties, (*get_args(Ties), "unknown"))
        check_choice("test", self.test, get_args(RankingTest))
        check_choice("coverage_test", self.coverage_test, get_args(CoverageTest))
        check_choice("correction", self.correction, get_args(FamilyCorrection))
        check_one_order(self.ties)
        if not 0 < self.alpha < 1:
            raise ParameterError(f"alpha={self.alpha!r}: must be between 0 and 1")
        if self.margins is not None and not (len(self.margins) == 2 and min(self.margins) > 0):
            raise ParameterError(f"margins={self.margins!r}: must be two positive numbers, percentage points and ranks")
