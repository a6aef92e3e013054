"""Verdicts from published numbers: from won, lost and the change in ranking, or from two shares of answered queries.

Published numbers are rounded. `verdict_from_summary` says whether the verdict survives that, and
`verdict_from_means` which counts the shares stand for, and when they differ significantly.
"""

import math
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, NamedTuple

import numpy as np

from ir_outcomes.comparison.verdict import (
    DECISIONS,
    Decision,
    decide,
    direction_of,
    find,
    is_unconfirmed,
)
from ir_outcomes.errors import ParameterError
from ir_outcomes.notes import as_notes
from ir_outcomes.results import Result
from ir_outcomes.statistics import binomial_test
from ir_outcomes.statistics.kernels import Pvalues, binomial_tests
from ir_outcomes.table_columns import Column, Form, attributes, rows_of
from ir_outcomes.types import (
    Direction,
    Floats,
    check_kind,
    check_level,
    check_number,
    check_positive,
)


@dataclass(frozen=True, repr=False)
class SummaryVerdict(Result):
    """A verdict on published numbers.

    Attributes
    ----------
    n, won, lost, ranking_difference, ranking_pvalue, alpha, rounding
        As given.
    label, direction, strict, do_no_harm : str
        The verdict at face value; see `Verdict`. Nothing can confirm a direction with only one
        facet here, and the guard cannot be checked.
    coverage_pvalue, coverage_pvalues : float and (float, float)
        Exact binomial test of won against lost, at face value; the smallest and the largest within
        the rounding.
    labels : tuple of str
        Every verdict within the rounding, the one at face value first.
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

    @property
    def survives_rounding(self) -> bool:
        """Whether the verdict is the same for all numbers that round to those given."""
        return len(self.labels) == 1

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row."""
        columns = (
            *attributes("n", "won", "lost", "coverage_p=coverage_pvalue"),
            Column("coverage_p", "coverage_pvalues", form=Form("pvalue", of_interval=True)),
            *attributes("ranking_difference", "ranking_p=ranking_pvalue", "verdict=label"),
            *attributes("direction", "strict", "do_no_harm", "survives_rounding"),
        )
        return rows_of(columns, [self])


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
    n, won, lost : int and float
        Queries; those that only the contender, and only the baseline, answered: counts, or where
        `rounding` is given published percentages times n / 100.
    ranking_difference : float
        Mean search length of the contender minus that of the baseline on what both answered; ranks,
        lower is better.
    ranking_pvalue : float
        Of the test that decides on ranking.
    other_pvalues : tuple of float
        Of other tests of the same difference, in the same direction: they count for the harm check.
    alpha : float
        Level.
    rounding : float
        How far `won` and `lost` may be off, in percentage points of n: 0.5 for percentages printed
        without decimals.

    Raises
    ------
    ParameterError
        If a number is not possible.

    References
    ----------
    Lin et al. 2021, section 5.

    Examples
    --------
    R8 against R1 of Table 2 of Lin et al. 2021: 15 % and 15 % of 5793 queries, search lengths 7.06
    and 5.71.

    >>> verdict = verdict_from_summary(5793, 0.15 * 5793, 0.15 * 5793, 5.71 - 7.06, 8.68e-08, rounding=0.5)
    >>> verdict.label, verdict.do_no_harm, verdict.survives_rounding
    ('ranking gain, unconfirmed', 'better', True)
    """
    check_positive("n", n)
    check_level(alpha)
    if not 0 <= rounding < 50:
        raise ParameterError(
            "must be a number of percentage points, 0 or more and less than 50", rounding=rounding
        )
    check_number("ranking_difference", ranking_difference, -math.inf, math.inf)
    for pvalue in (ranking_pvalue, *other_pvalues):
        check_kind("pvalue", pvalue, (int, float), "a number between 0 and 1")
        if not 0 <= pvalue <= 1:
            raise ParameterError("must be a number between 0 and 1", pvalue=pvalue)
    _check_count("won", won, n, rounding)
    _check_count("lost", lost, n, rounding)
    if won + lost > n + 2 * rounding / 100 * n:
        raise ParameterError("must be at most n together", won=won, lost=lost, n=n)

    # The counts at face value are followed by all pairs of counts that they may have been rounded
    # from.
    counts = np.array([[round(won)], [round(lost)]], dtype=np.float64)
    tests = binomial_tests(
        *np.concatenate([counts, _within_rounding(won, lost, n, rounding)], axis=1)
    )
    coverage = find(tests, tests.pvalue, alpha)
    direction = np.full(len(tests.pvalue), -np.sign(ranking_difference), dtype=np.int64)
    deciding, *others = (
        Pvalues(np.full(len(direction), pvalue), direction)
        for pvalue in (ranking_pvalue, *other_pvalues)
    )
    ranking = find(deciding, deciding.pvalue, alpha, vetoes=others)
    verdicts = decide(coverage, ranking)
    labels = tuple(dict.fromkeys(verdicts.labels()))
    return SummaryVerdict(
        n=int(n),
        won=float(won),
        lost=float(lost),
        ranking_difference=float(ranking_difference),
        ranking_pvalue=float(ranking_pvalue),
        alpha=alpha,
        rounding=float(rounding),
        label=labels[0],
        direction=direction_of(labels[0]),
        strict=DECISIONS[int(verdicts.strict[0])],
        do_no_harm=DECISIONS[int(verdicts.do_no_harm[0])],
        coverage_pvalue=float(tests.pvalue[0]),
        coverage_pvalues=(float(tests.pvalue.min()), float(tests.pvalue.max())),
        labels=labels,
        notes=as_notes(_limits_of(labels[0])),
    )


def _limits_of(label: str) -> Iterator[str]:
    """Say what published numbers cannot show."""
    if is_unconfirmed(label):
        changed = label.partition(", ")[0]
        yield (
            f"Published numbers cannot confirm the {changed} over all queries, so the label has no"
            " direction; strict and do no harm are the rules of the paper."
        )
    yield "Published numbers cannot show whether early answers were lost and late ones won."


def _check_count(name: str, value: float, n: int, rounding: float) -> None:
    if not (
        isinstance(value, (int, float, np.number)) and math.isfinite(value) and 0 <= value <= n
    ):
        raise ParameterError(f"must be a number of queries between 0 and {n}", **{name: value})
    # Published percentages stand for multiples of this many queries; half a query of slack, because
    # a percentage of n may have been rounded to a whole number of queries.
    step, slack = (2 * rounding / 100 * n, 0.5 + 1e-11 * n) if rounding else (1.0, 0.0)
    if abs(value - step * round(value / step)) > slack:
        wanted = (
            "must be a whole number of queries, or a published percentage times n / 100 with"
            " its `rounding`, such as 0.5 where percentages are printed without decimals"
        )
        if rounding:
            wanted = (
                f"is {100 * value / n:.3g} % of n={n}, which is no percentage that was rounded by"
                f" {rounding:g}; leave `rounding` out for a count"
            )
        raise ParameterError(wanted, **{name: value})


def _within_rounding(won: float, lost: float, n: int, rounding: float) -> Floats:
    """List all pairs of counts that the numbers given may have been rounded from; (2, n_pairs)."""
    slack = rounding / 100 * n
    ranges = [
        np.arange(max(0, math.ceil(count - slack)), min(n, math.floor(count + slack)) + 1.0)
        for count in (won, lost)
    ]
    pairs = np.array(np.meshgrid(*ranges)).reshape(2, -1)
    return pairs[:, pairs.sum(axis=0) <= n]


Significance = Literal["impossible", "never", "depends", "always"]


class Counts(NamedTuple):
    """The smallest and the largest of the numbers that a published one may stand for."""

    low: int
    high: int


@dataclass(frozen=True, repr=False)
class MeansVerdict(Result):
    """What two published shares of answered queries say.

    Attributes
    ----------
    n, baseline, contender, alpha
        As given.
    answered_baseline, answered_contender : Counts or None
        Queries answered: all whole numbers whose share of n is printed like this; None where there
        is none.
    net : Counts or None
        Queries won minus queries lost.
    threshold : Counts or None
        On so many queries the runs may differ at most for the exact binomial test to be
        significant, by the smallest and the largest size of the net number; 0 where it cannot be.
    most_differing : int or None
        On so many queries two runs with these numbers can differ at most.
    significant : {"impossible", "never", "depends", "always"}
        Whether there are such numbers, and whether they differ significantly.
    """

    n: int
    baseline: str
    contender: str
    alpha: float
    answered_baseline: Counts | None
    answered_contender: Counts | None
    net: Counts | None
    threshold: Counts | None
    most_differing: int | None
    significant: Significance

    def rows(self) -> list[dict[str, Any]]:
        """Return one flat row."""
        columns = (
            *attributes("n", "baseline", "contender", "alpha"),
            *(
                Column(name, form=Form("number", of_interval=True))
                for name in ("answered_baseline", "answered_contender", "net", "threshold")
            ),
            *attributes("most_differing", "significant"),
        )
        return rows_of(columns, [self])


def verdict_from_means(
    n: int, baseline: str, contender: str, *, alpha: float = 0.05
) -> MeansVerdict:
    """Say what two published shares of answered queries (coverage, Success@k) allow to conclude.

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
    alpha : float
        Level.

    Raises
    ------
    ParameterError
        If a number is not possible.

    References
    ----------
    Brown and Heathers 2017, "The GRIM test", for the counts that shares stand for.

    Examples
    --------
    >>> found = verdict_from_means(5193, ".4439", ".4400")
    >>> found.net, found.threshold
    (Counts(low=-20, high=-20), Counts(low=94, high=94))
    """
    check_positive("n", n)
    check_level(alpha)
    found = _counts("baseline", baseline, n), _counts("contender", contender, n)
    a, b = found
    net = threshold = most = None
    significant: Significance = "impossible"
    if a is not None and b is not None:
        net = Counts(b.low - a.high, b.high - a.low)
        smallest = max(0, net.low, -net.high)
        threshold = Counts(
            _threshold(smallest, n, alpha), _threshold(max(-net.low, net.high), n, alpha)
        )
        # Queries that one run answers and the other does not: neither more than both answer, nor
        # more than both leave out.
        most = min(a.high + b.high, 2 * n - a.low - b.low, n)
        significant = "depends"
        if threshold.high == 0:
            significant = "never"
        elif threshold.low >= most:
            significant = "always"
    return MeansVerdict(
        n=int(n),
        baseline=baseline.strip(),
        contender=contender.strip(),
        alpha=alpha,
        answered_baseline=a,
        answered_contender=b,
        net=net,
        threshold=threshold,
        most_differing=most,
        significant=significant,
    )


def _counts(name: str, text: Any, n: int) -> Counts | None:
    """Return the whole numbers of n queries whose share is printed like this, however halves are rounded."""
    printed = re.fullmatch(r"\s*(\d*)\.?(\d*)\s*(%?)\s*", text) if isinstance(text, str) else None
    if printed is None or not (printed[1] or printed[2]):
        raise ParameterError(
            'must be a share as text with all printed decimals, such as ".4439" or "44.4 %"',
            **{name: text},
        )
    unit = Fraction(1, 10 ** len(printed[2]) * (100 if printed[3] else 1))
    share = int(printed[1] + printed[2]) * unit
    if share > 1:
        raise ParameterError(
            "must be a share of queries, at most 1; write percentages with %", **{name: text}
        )
    low = max(0, math.ceil(n * (share - unit / 2)))
    high = min(n, math.floor(n * (share + unit / 2)))
    return Counts(low, high) if low <= high else None


def _threshold(net: int, n: int, alpha: float) -> int:
    """Return on how many of n queries two runs may differ at most for a net number won to be significant; 0 for none."""
    lost = range((n - net) // 2 + 1)
    possible = bisect_right(
        lost, alpha, key=lambda number: binomial_test(number + net, number).pvalue
    )
    return net + 2 * (possible - 1) if possible else 0
