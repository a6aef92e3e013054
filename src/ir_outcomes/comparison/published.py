"""The verdict from numbers that somebody else published, and whether it survives their rounding."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ir_outcomes.comparison.outcomes import check_alpha
from ir_outcomes.comparison.verdict import DECISIONS, LABELS, Decision, Direction, Verdicts, decide, direction_of, find
from ir_outcomes.errors import ParameterError
from ir_outcomes.results import Result, cells_of, versions
from ir_outcomes.statistics.tests import Tests, binomial_tests
from ir_outcomes.types import Floats, Ints, check_positive

__all__ = ["SummaryVerdict", "verdict_from_summary"]


@dataclass(frozen=True, repr=False)
class SummaryVerdict(Result):
    """A verdict on published numbers.

    Attributes
    ----------
    n : int
        Number of queries.
    won, lost : float
        Queries that only the contender, and only the baseline, answered, as given.
    ranking_difference, ranking_pvalue : float
        As given.
    alpha, rounding : float
        As given.
    label : str
        The verdict at face value, one of `ir_outcomes.comparison.verdict.LABELS`. Nothing can confirm a direction with only one
        facet here, and the guard cannot be checked.
    direction : {"better", "worse", "none"}
        Direction of the label for the contender.
    strict, do_no_harm : {"better", "worse", "undecided"}
        What each rule says at face value.
    coverage_pvalue : float
        Exact binomial test of won against lost, at face value.
    coverage_pvalues : (float, float)
        The smallest and the largest within the rounding.
    labels : tuple of str
        Every verdict within the rounding, the one at face value first.
    notes, versions
        See `ir_outcomes.Comparison`.
    """

    n: int
    won: float
    lost: float
    ranking_difference: float
    ranking_pvalue: float
    alpha: float
    rounding: float
    label: str
    direction: Direction
    strict: Decision
    do_no_harm: Decision
    coverage_pvalue: float
    coverage_pvalues: tuple[float, float]
    labels: tuple[str, ...]
    notes: tuple[str, ...]
    versions: Mapping[str, str]

    @property
    def survives_rounding(self) -> bool:
        """Whether the verdict is the same for all numbers that round to those given."""
        return len(self.labels) == 1

    def _summary(self) -> str:
        return f"{self.label}, {'survives' if self.survives_rounding else 'does not survive'} rounding"

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row."""
        low, high = self.coverage_pvalues
        return [
            {
                **cells_of(self, "n", "won", "lost", "coverage_p=coverage_pvalue"),
                "coverage_p_low": low,
                "coverage_p_high": high,
                **cells_of(self, "ranking_difference", "ranking_p=ranking_pvalue"),
                **cells_of(self, "verdict=label", "direction", "strict", "do_no_harm"),
                "survives_rounding": self.survives_rounding,
            }
        ]


def verdict_from_summary(
    n: int,
    won: float,
    lost: float,
    ranking_difference: float,
    ranking_pvalue: float,
    *,
    other_pvalues: tuple[float, ...] = (),
    alpha: float = 0.05,
    rounding: float = 0.0,
) -> SummaryVerdict:
    """Reach the two-facet verdict from published numbers alone, uncorrected for several contenders.

    Parameters
    ----------
    n : int
        Number of queries.
    won, lost : float
        Queries that only the contender, and only the baseline, answered: counts, or where `rounding` is given published
        percentages times n / 100.
    ranking_difference : float
        Mean search length of the contender minus that of the baseline on what both answered; ranks, lower is better.
    ranking_pvalue : float
        Of the test that decides on ranking.
    other_pvalues : tuple of float
        Of other tests of the same difference, in the same direction: they count for the harm check.
    alpha : float
        Level.
    rounding : float
        How far `won` and `lost` may be off, in percentage points of n: 0.5 for percentages printed without decimals.

    Returns
    -------
    SummaryVerdict

    Raises
    ------
    ParameterError
        If a number is not possible.

    References
    ----------
    Lin et al. 2021, section 5.

    Examples
    --------
    R8 against R1 of Table 2 of Lin et al. 2021: 15 % and 15 % of 5793 queries, search lengths 7.06 and 5.71.

    >>> verdict = verdict_from_summary(5793, 0.15 * 5793, 0.15 * 5793, 5.71 - 7.06, 8.68e-08, rounding=0.5)
    >>> verdict.label, verdict.do_no_harm, verdict.survives_rounding
    ('ranking gain, unconfirmed', 'better', True)
    """
    check_positive("n", n)
    check_alpha(alpha)
    if not (math.isfinite(rounding) and 0 <= rounding < 50):
        raise ParameterError(f"rounding={rounding!r}: must be a number of percentage points, 0 or more and less than 50")
    if not math.isfinite(ranking_difference):
        raise ParameterError(f"ranking_difference={ranking_difference!r}: must be a number of ranks")
    for pvalue in (ranking_pvalue, *other_pvalues):
        if not 0 <= pvalue <= 1:
            raise ParameterError(f"a p-value of {pvalue!r}: must be between 0 and 1")
    for name, value in (("won", won), ("lost", lost)):
        _check_count(name, value, n, rounding)
    if won + lost > n + 2 * rounding / 100 * n:
        raise ParameterError(f"won={won:g} and lost={lost:g} are more than the n={n} queries")

    def judged(won: Ints, lost: Ints) -> tuple[Floats, Verdicts]:
        tests = binomial_tests(won.astype(np.float64), lost.astype(np.float64))
        coverage = find(tests, tests.pvalue, alpha, higher_is_better=True)
        direction = np.full(len(won), np.sign(ranking_difference), dtype=np.int64)
        deciding, *others = (Tests(np.full(len(won), pvalue), direction) for pvalue in (ranking_pvalue, *other_pvalues))
        ranking = find(deciding, deciding.pvalue, alpha, higher_is_better=False, vetoes=others)
        return tests.pvalue, decide(coverage, ranking, alpha=alpha)

    (pvalue,), verdict = judged(*(np.array([round(count)]) for count in (won, lost)))
    pvalues, around = judged(*_within_rounding(won, lost, n, rounding))
    labels = dict.fromkeys([*verdict.labels(), *around.labels()])
    label = LABELS[verdict.label[0]]
    return SummaryVerdict(
        n=int(n),
        won=float(won),
        lost=float(lost),
        ranking_difference=float(ranking_difference),
        ranking_pvalue=float(ranking_pvalue),
        alpha=alpha,
        rounding=float(rounding),
        label=label,
        direction=direction_of(label),
        strict=DECISIONS[int(verdict.strict[0])],
        do_no_harm=DECISIONS[int(verdict.do_no_harm[0])],
        coverage_pvalue=float(pvalue),
        coverage_pvalues=(float(min(pvalue, pvalues.min())), float(max(pvalue, pvalues.max()))),
        labels=tuple(labels),
        notes=(
            "Published numbers can neither confirm a direction with one facet, which the label therefore lacks, nor show that "
            "early answers were lost and late ones won; strict and do no harm are the rules of the paper.",
        ),
        versions=versions(),
    )


def _check_count(name: str, value: float, n: int, rounding: float) -> None:
    if not (isinstance(value, (int, float, np.number)) and math.isfinite(value) and 0 <= value <= n):
        raise ParameterError(f"{name}={value!r}: must be a number of queries between 0 and n={n}")
    if rounding == 0:
        if value != round(value):
            raise ParameterError(
                f"{name}={value!r}: must be a whole number of queries; for a published percentage give percentage * n / 100, "
                "with rounding=0.5 if it was printed without decimals"
            )
        return
    percentage, step = 100 * value / n, 2 * rounding
    # Half a query of slack, because a percentage of n may have been rounded to a whole number of queries.
    if abs(percentage - step * round(percentage / step)) > 50 / n + 1e-9:
        raise ParameterError(
            f"{name}={value!r} is {percentage:.3g} % of n={n}, which is no percentage that was rounded by {rounding:g}; give "
            "counts (the published percentage times n / 100), not percentages or shares"
        )


def _within_rounding(won: float, lost: float, n: int, rounding: float) -> tuple[Ints, Ints]:
    """List all pairs of counts that the numbers given may have been rounded from."""
    slack = rounding / 100 * n
    ranges = [np.arange(max(0, math.ceil(count - slack)), min(n, math.floor(count + slack)) + 1) for count in (won, lost)]
    pairs = np.array(np.meshgrid(*ranges)).reshape(2, -1)
    pairs = pairs[:, pairs.sum(axis=0) <= n]
    return pairs[0], pairs[1]
