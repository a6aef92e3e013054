"""Tests on won against lost: the sign-flip test where every difference is -1, 0 or 1."""

from __future__ import annotations

from ir_outcomes.statistics.checks import check_discordant
from ir_outcomes.statistics.distributions import binomial_chances, binomial_pvalue
from ir_outcomes.statistics.paired import Test


def binomial_test(won: int, lost: int) -> Test:
    """Exact two-sided binomial test that won and lost are equally likely (exact McNemar test).

    Parameters
    ----------
    won, lost : int
        Discordant pairs.

    Raises
    ------
    ParameterError
        If a count is negative.

    References
    ----------
    Lin et al. 2021, section 5; McNemar 1947.

    Examples
    --------
    >>> binomial_test(8, 1).pvalue
    0.0390625
    """
    check_discordant(won, lost)
    if not won + lost:
        return Test("exact", "exact binomial", None, 1.0, 0, 0, _NO_DISCORDANT)
    return Test("exact", "exact binomial", float(won), binomial_pvalue(won, lost), (won > lost) - (won < lost), won + lost)


def midp_test(won: int, lost: int) -> Test:
    """Mid-p binomial test: outcomes as far from even as the one at hand count by half; less conservative than the exact test.

    That is the exact p-value less the probability of the outcome itself, or less half of that where won equals lost, because
    only then no second outcome is as far from even.

    Parameters
    ----------
    won, lost : int
        Discordant pairs.

    Raises
    ------
    ParameterError
        If a count is negative.

    References
    ----------
    Fagerland, Lydersen and Laake 2013, "The McNemar test for binary matched-pairs data"; the same authors 2017, "Statistical
    Analysis of Contingency Tables", chapter 8, for equal counts.

    Examples
    --------
    >>> round(midp_test(8, 1).pvalue, 6)
    0.021484
    """
    check_discordant(won, lost)
    if not won + lost:
        return Test("midp", "mid-p binomial", None, 1.0, 0, 0, _NO_DISCORDANT)
    own = float(binomial_chances(won + lost, 0.5)[max(won, lost)])
    pvalue = binomial_pvalue(won, lost) - (own / 2 if won == lost else own)
    return Test("midp", "mid-p binomial", float(won), pvalue, (won > lost) - (won < lost), won + lost)


_NO_DISCORDANT = "no query is answered by one run only, so there is nothing to test"
