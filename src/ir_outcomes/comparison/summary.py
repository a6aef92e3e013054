"""The verdict from numbers that somebody else published, and whether it survives their rounding."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ir_outcomes._checks import check_positive
from ir_outcomes.comparison.verdict import Decision, Finding, decide
from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics import binomial_test

STEPS = 5


@dataclass(frozen=True)
class SummaryVerdict:
    """A verdict on published numbers.

    Attributes
    ----------
    label : str
        The verdict at face value, one of `ir_outcomes.comparison.verdict.LABELS`.
    strict, do_no_harm : {"better", "worse", "undecided"}
        What each rule says at face value.
    coverage_pvalue : float
        Exact binomial test of won against lost, at face value.
    coverage_pvalues : (float, float)
        The smallest and the largest within the rounding.
    labels : tuple of str
        Every verdict within the rounding, the one at face value first.
    """

    label: str
    strict: Decision
    do_no_harm: Decision
    coverage_pvalue: float
    coverage_pvalues: tuple[float, float]
    labels: tuple[str, ...]

    @property
    def survives_rounding(self) -> bool:
        """Whether the verdict is the same wherever within their rounding the numbers lie."""
        return len(self.labels) == 1


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
        Queries that only the contender, and only the baseline, answered; a published percentage times n / 100 is rounded to
        a whole number.
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
    >>> verdict.label, verdict.survives_rounding
    ('better without harm', True)
    """
    check_positive("n", n)
    for name, value in (("won", won), ("lost", lost)):
        if not 0 <= value <= n:
            raise ParameterError(f"{name}={value!r}: must lie between 0 and n={n}")
    for pvalue in (ranking_pvalue, *other_pvalues):
        if not 0 <= pvalue <= 1:
            raise ParameterError(f"a p-value of {pvalue!r}: must lie between 0 and 1")
    if rounding < 0:
        raise ParameterError(f"rounding={rounding!r}: must be 0 or more percentage points")

    ranking = _finding(-ranking_difference, (ranking_pvalue, *other_pvalues), alpha)
    slack = rounding / 100 * n

    def judged(won: float, lost: float) -> tuple[float, tuple[str, Decision, Decision]]:
        test = binomial_test(*(int(np.clip(round(count), 0, n)) for count in (won, lost)))
        return test.pvalue, decide(_finding(test.direction, (test.pvalue,), alpha), ranking)

    pvalue, (label, strict, do_no_harm) = judged(won, lost)
    steps = np.linspace(-slack, slack, 2 * STEPS + 1)
    around = [judged(won + a, lost + b) for a in steps for b in steps]
    pvalues = [pvalue, *(each for each, _ in around)]
    labels = dict.fromkeys([label, *(verdict[0] for _, verdict in around)])
    return SummaryVerdict(label, strict, do_no_harm, pvalue, (min(pvalues), max(pvalues)), tuple(labels))


def _finding(gain: float, pvalues: tuple[float, ...], alpha: float) -> Finding:
    decides, anyone = pvalues[0] <= alpha, min(pvalues) <= alpha
    return Finding(up=gain > 0 and decides, hurt=gain < 0 and anyone, down=gain < 0 and decides, gain=gain > 0 and anyone)
