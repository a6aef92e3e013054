"""Verdicts from published numbers: won, lost and the change in ranking."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ir_outcomes.choices import Count, Finite, Level, Positive
from ir_outcomes.errors import ParameterError
from ir_outcomes.pairs.differences import RowSums
from ir_outcomes.pairs.measurements import COVERAGE
from ir_outcomes.pairs.rows import Row, RowOfPairs
from ir_outcomes.pairs.verdict import SIGNS, Decision, Verdict, decision, direction_of, label_of
from ir_outcomes.results import Result
from ir_outcomes.statistics.estimate import Sums
from ir_outcomes.statistics.papers import Test, binomial_test
from ir_outcomes.table_columns import Column, Form, attributes, of_part, rows_of

MEANS = "means do not say how many queries changed; give `won` and `lost` (and `n`), or the runs"


@dataclass(frozen=True, repr=False)
class SummaryVerdict(Result):
    """A verdict on published numbers.

    Attributes
    ----------
    won, lost, n, ranking_difference, ranking_pvalue, alpha
        As given.
    exact : Test
        The exact binomial test of won against lost.
    coverage : Row or None
        By the one estimate; None without `n`.
    verdict : Verdict or None
        None without `n`. All queries are not known, so that they confirm no facet; strict and do no
        harm are by the exact test and the p-value of ranking, None without ranking.
    """

    won: int
    lost: int
    n: int | None
    ranking_difference: float | None
    ranking_pvalue: float | None
    alpha: float
    exact: Test
    coverage: Row | None
    verdict: Verdict | None

    def rows(self) -> list[dict[str, Any]]:
        """One flat row."""
        columns = (
            *attributes(
                "n", "won", "lost", "exact_p=exact.pvalue", "difference=coverage.difference"
            ),
            Column("interval", "coverage.interval", form=Form(of_interval=True)),
            *attributes("p=coverage.pvalue", "ranking_difference", "ranking_p=ranking_pvalue"),
            Column("verdict", "verdict.label"),
            *of_part("verdict", attributes("direction", "strict", "do_no_harm")),
        )
        return rows_of(columns, [self])


def verdict_from_summary(
    won: Count,
    lost: Count,
    n: Positive | None = None,
    ranking_difference: Finite | None = None,
    ranking_pvalue: float | None = None,
    *,
    alpha: Level = 0.05,
) -> SummaryVerdict:
    """Reach the verdict from published numbers, uncorrected for several contenders.

    Parameters
    ----------
    won, lost : int
        Queries that only the contender, and only the baseline, answered.
    n : int, optional
        Answerable queries. Without it there is only the exact test of won against lost.
    ranking_difference, ranking_pvalue : float, optional
        Mean search length of the contender minus that of the baseline on what both answered, in
        ranks, lower is better; and its p-value. Without them the label is of coverage alone.
    alpha : float
        Level.

    Raises
    ------
    ParameterError
        If a number is not possible.

    References
    ----------
    Lin et al. 2021, section 5.

    Examples
    --------
    R8 against R1 of Table 2 of Lin et al. 2021, with 15 % of 5793 queries won and lost:

    >>> found = verdict_from_summary(869, 869, 5793, 5.71 - 7.06, 8.68e-08)
    >>> found.verdict.label, found.verdict.do_no_harm
    ('ranking gain, unconfirmed', 'better')
    """
    if n is not None and won + lost > n:
        raise ParameterError("must be at most n together", won=won, lost=lost, n=n)
    if (ranking_difference is None) != (ranking_pvalue is None):
        raise ParameterError("give the difference in ranking and its p-value, or neither")
    exact = binomial_test(won, lost)
    coverage = verdict = None
    if n is not None:
        coverage = replace(_coverage(n, won, lost, alpha), tests={"exact": exact})
        verdict = _verdict(coverage, exact, ranking_difference, ranking_pvalue, alpha)
    return SummaryVerdict(
        won, lost, n, ranking_difference, ranking_pvalue, alpha, exact, coverage, verdict
    )


def _verdict(
    coverage: Row, exact: Test, difference: float | None, pvalue: float | None, alpha: float
) -> Verdict:
    """Label coverage and, where it is given, ranking, without all queries."""
    ranking = 0
    by_paper: tuple[Decision | None, Decision | None] = (None, None)
    if difference is not None and pvalue is not None:
        if not 0 <= pvalue <= 1:
            raise ParameterError("must be a number between 0 and 1", ranking_pvalue=pvalue)
        ranking = -int(np.sign(difference)) * (pvalue <= alpha)
        by_paper = decision(exact.direction * (exact.pvalue <= alpha), ranking)
    label = label_of(None, 2 * SIGNS[coverage.found], 2 * ranking)
    return Verdict(label, direction_of(label), *by_paper, None, None, "")


def _coverage(n: int, won: int, lost: int, alpha: float) -> Row:
    """The row of coverage, whose means are not known."""
    unknown = np.full(1, np.nan)
    sums = RowSums(np.array([n]), unknown, unknown, Sums.of_counts(n, won, lost, 100.0))
    return RowOfPairs.of(COVERAGE, sums, alpha).row(0, alpha)
