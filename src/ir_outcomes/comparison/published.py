"""Verdicts from published numbers: won, lost and the change in ranking, or two shares answered."""

import math
import re
from bisect import bisect_right
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Literal, NamedTuple

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
from ir_outcomes.reading.measure_names import base_name
from ir_outcomes.results import Result
from ir_outcomes.statistics.estimate import Sums
from ir_outcomes.statistics.papers import Test, binomial_test
from ir_outcomes.table_columns import Column, Form, attributes, of_part, rows_of

SHARES = ("coverage", "answered", "success", "hits", "hit_rate", "hit rate")
SHARES_AT_1 = ("p", "rr", "mrr", "recip_rank")
NUMBER = r"\s*(\d*)\.?(\d*)\s*(%?)\s*"
Significance = Literal["impossible", "never", "depends", "always"]


class Counts(NamedTuple):
    """The smallest and the largest of the numbers that a published one may stand for."""

    low: int
    high: int


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


@dataclass(frozen=True, repr=False)
class MeansVerdict(Result):
    """What two published shares of answered queries say.

    Attributes
    ----------
    n, baseline, contender, measure, alpha
        As given.
    answered_baseline, answered_contender : Counts or None
        Queries answered: all whole numbers whose share of n is printed like this; None where there
        is none.
    net : Counts or None
        Queries won minus queries lost.
    threshold : Counts or None
        On so many queries the runs may differ at most for coverage to be significant, by the
        smallest and the largest size of the net number; 0 where it cannot be.
    most_differing : int or None
        On so many queries two runs with these numbers can differ at most.
    """

    n: int
    baseline: str
    contender: str
    measure: str
    alpha: float
    answered_baseline: Counts | None
    answered_contender: Counts | None
    net: Counts | None
    threshold: Counts | None
    most_differing: int | None

    @property
    def significant(self) -> Significance:
        """Whether there are such numbers, and whether they differ significantly."""
        if self.threshold is None or self.most_differing is None:
            return "impossible"
        if self.threshold.high == 0:
            return "never"
        return "always" if self.threshold.low >= self.most_differing else "depends"

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row."""
        columns = (
            *attributes("n", "baseline", "contender", "measure", "alpha"),
            *(
                Column(name, form=Form("number", of_interval=True))
                for name in ("answered_baseline", "answered_contender", "net", "threshold")
            ),
            *attributes("most_differing", "significant"),
        )
        return rows_of(columns, [self])


def verdict_from_means(
    n: int, baseline: str, contender: str, *, measure: str | None = None, alpha: float = 0.05
) -> MeansVerdict:
    """Say what two published shares of answered queries allow to conclude.

    The runs answer whole numbers of queries, which the printed decimals often give away. How many
    queries were won and lost they do not say, only the net number, but on how many queries the runs
    may differ at most for it to be significant.

    Parameters
    ----------
    n : int
        Answerable queries.
    baseline, contender : str
        The shares as they were printed, such as ``".4439"`` or ``"44.4 %"``: text, because the
        number of decimals counts.
    measure : str
        What they are means of: coverage, Success@k, Answered@k, hit rate, P@1 or RR@1. A mean of
        other values, such as MRR or nDCG, stands for no number of queries.
    alpha : float
        Level.

    Raises
    ------
    ParameterError
        If a number is not possible, or the measure is no share of queries.

    References
    ----------
    Brown and Heathers 2017, "The GRIM test", for the counts that shares stand for.

    Examples
    --------
    >>> found = verdict_from_means(5193, ".4439", ".4400", measure="Success@10")
    >>> found.net, found.threshold
    (Counts(low=-20, high=-20), Counts(low=102, high=102))
    """
    check_positive("n", n)
    check_level(alpha)
    _check_share_of_queries(measure)
    a = _counts("baseline", baseline, n)
    b = _counts("contender", contender, n)
    net = threshold = most = None
    if a is not None and b is not None:
        net = Counts(b.low - a.high, b.high - a.low)
        sizes = max(0, net.low, -net.high), max(-net.low, net.high)
        threshold = Counts(*(_threshold(size, n, alpha) for size in sizes))
        # Queries that one run answers and the other does not: neither more than both answer, nor
        # more than both leave out.
        most = min(a.high + b.high, 2 * n - a.low - b.low, n)
    printed = baseline.strip(), contender.strip()
    return MeansVerdict(n, *printed, str(measure), alpha, a, b, net, threshold, most)


def _check_share_of_queries(measure: str | None) -> None:
    """Refuse measures whose mean is no share of queries."""
    if measure is None:
        raise ParameterError(
            "name the measure of these means with `measure`, such as 'coverage' or 'Success@10':"
            " only a share of queries stands for a number of queries"
        )
    name = base_name(measure).strip().lower()
    if name not in SHARES and not (name in SHARES_AT_1 and measure.strip().endswith("@1")):
        raise ParameterError(
            "its mean is no share of queries, so nothing follows about significance; it takes the"
            " values of each query, or won, lost and n with the difference in ranking and its"
            " p-value. Recall of one relevant document per query is 'coverage'",
            measure=measure,
        )


def _counts(name: str, text: str, n: int) -> Counts | None:
    """Return the numbers of n queries whose share is printed like this, halves either way."""
    printed = re.fullmatch(NUMBER, text)
    if printed is None or not (printed[1] or printed[2]):
        raise ParameterError(
            'must be a share as text with all printed decimals, such as ".4439" or "44.4 %"',
            **{name: text},
        )
    unit = Fraction(1, 10 ** len(printed[2]) * (100 if printed[3] else 1))
    share = int(printed[1] + printed[2]) * unit
    if share > 1:
        raise ParameterError(
            'must be a share of queries, at most 1; write a percentage with %, such as "90.3 %"',
            **{name: text},
        )
    low = max(0, math.ceil(n * (share - unit / 2)))
    high = min(n, math.floor(n * (share + unit / 2)))
    return Counts(low, high) if low <= high else None


def _threshold(net: int, n: int, alpha: float) -> int:
    """Return on how many queries runs may differ for a net number to be significant; 0 for none."""
    lost = range((n - net) // 2 + 1)
    possible = bisect_right(
        lost, alpha, key=lambda number: _coverage(n, number + net, number, alpha).pvalue
    )
    return net + 2 * (possible - 1) if possible else 0
