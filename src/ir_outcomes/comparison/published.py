"""Verdicts from published numbers: won, lost and the change in ranking."""

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ir_outcomes.arguments import check_count, check_level, check_number, check_positive
from ir_outcomes.choices import POINTS
from ir_outcomes.comparison.rows import (
    Quantity,
    Row,
    estimates_of_rows,
    found_alone,
    row_of_sums,
)
from ir_outcomes.comparison.verdict import (
    RowEstimates,
    Rules,
    Verdict,
    decision,
    direction_of,
    judge,
)
from ir_outcomes.errors import ParameterError
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
        None without `n` or without ranking. All queries are not known, so that they confirm no
        facet; strict and do no harm are by the exact test and the p-value of ranking.
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
        """Return one flat row."""
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
    won: int,
    lost: int,
    n: int | None = None,
    ranking_difference: float | None = None,
    ranking_pvalue: float | None = None,
    *,
    alpha: float = 0.05,
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
        ranks, lower is better; and its p-value. Without them there is no label.
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
    check_positive("n", n, none_allowed=True)
    check_level(alpha)
    for name, count in (("won", won), ("lost", lost)):
        if isinstance(count, float) and 0 < count < 1:
            raise ParameterError(MEANS, **{name: count})
        check_count(name, count)
    if n is not None and won + lost > n:
        raise ParameterError("must be at most n together", won=won, lost=lost, n=n)
    if (ranking_difference is None) != (ranking_pvalue is None):
        raise ParameterError("give the difference in ranking and its p-value, or neither")
    exact = binomial_test(won, lost)
    coverage = verdict = None
    if n is not None:
        coverage = found_alone(_coverage(n, won, lost, alpha), alpha)
        coverage = replace(coverage, tests={"exact": exact})
        if ranking_difference is not None and ranking_pvalue is not None:
            verdict = _verdict(coverage, exact, ranking_difference, ranking_pvalue, alpha)
    return SummaryVerdict(
        won, lost, n, ranking_difference, ranking_pvalue, alpha, exact, coverage, verdict
    )


def _verdict(coverage: Row, exact: Test, difference: float, pvalue: float, alpha: float) -> Verdict:
    """Label coverage and ranking, without all queries."""
    check_number("ranking_difference", difference, -math.inf, math.inf)
    if not 0 <= pvalue <= 1:
        raise ParameterError("must be a number between 0 and 1", ranking_pvalue=pvalue)
    ranking = RowEstimates(-np.sign([difference]).astype(np.int64), np.array([float(pvalue)]))
    rows = {"coverage": estimates_of_rows([coverage]), "ranking": ranking}
    found = judge(rows, Rules(alpha, "none"))
    by_paper = decision(
        exact.direction * (exact.pvalue <= alpha), int(ranking.sign[0]) * (pvalue <= alpha)
    )
    (label,) = found.names()
    return Verdict(label, direction_of(label), *by_paper, None, None, "")


def _coverage(n: int, won: int, lost: int, alpha: float) -> Row:
    """Return the row of coverage, whose means are not known."""
    gained, missed, queries = (np.array([float(number)]) for number in (won, lost, n))
    differ = gained + missed
    sums = Sums.of_queries(queries, 100 * (gained - missed), 1e4 * differ, differ, gained)
    quantity = Quantity("coverage", POINTS, True, 100.0)
    return row_of_sums(quantity, sums, n=n, means=(None, None), alpha=alpha, level=alpha)
