"""Tests on won against lost: the sign-flip test where every difference is -1, 0 or 1."""

from __future__ import annotations

from ir_outcomes.statistics.paired import Test


def binomial_test(won: int, lost: int) -> Test:
    """Exact two-sided binomial test that won and lost are equally likely (exact McNemar test).

    Parameters
    ----------
    won, lost : int
        Discordant pairs.

    References
    ----------
    Lin et al. 2021, section 5; McNemar 1947.

    Examples
    --------
    >>> binomial_test(8, 1).pvalue
    0.0390625
    """
    if not won + lost:
        return Test("exact", "exact binomial", None, 1.0, 0, 0, _NO_DISCORDANT)
    from scipy.stats import binomtest

    pvalue = float(binomtest(max(won, lost), won + lost, 0.5).pvalue)
    return Test("exact", "exact binomial", float(won), pvalue, (won > lost) - (won < lost), won + lost)


def midp_test(won: int, lost: int) -> Test:
    """Mid-p binomial test: the exact p-value less the probability of the outcome itself; less conservative.

    References
    ----------
    Fagerland, Lydersen and Laake 2013, "The McNemar test for binary matched-pairs data", equation 4.

    Examples
    --------
    >>> round(midp_test(8, 1).pvalue, 6)
    0.021484
    """
    if not won + lost:
        return Test("midp", "mid-p binomial", None, 1.0, 0, 0, _NO_DISCORDANT)
    from scipy.stats import binom

    own = float(binom.pmf(max(won, lost), won + lost, 0.5))
    # Twice the one-sided mid-p: where won equals lost, the outcome itself lies in both tails and counts half once only.
    pvalue = 1 - own / 2 if won == lost else binomial_test(won, lost).pvalue - own
    return Test("midp", "mid-p binomial", float(won), pvalue, (won > lost) - (won < lost), won + lost)


_NO_DISCORDANT = "no query is answered by one run only, so there is nothing to test"
