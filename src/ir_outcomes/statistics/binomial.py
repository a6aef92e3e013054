"""Tests on won against lost: the sign-flip test where every difference is -1, 0 or 1.

`scipy.stats.binomtest` is the oracle of the exact test; SciPy has no mid-p test.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ir_outcomes._types import Ints
from ir_outcomes.statistics.checks import check_discordant
from ir_outcomes.statistics.distributions import binomial_pvalues, midp_pvalues
from ir_outcomes.statistics.paired import Test, Tests

__all__ = ["binomial_test", "binomial_tests", "midp_test", "midp_tests"]

_NO_DISCORDANT = "no query is answered by one run only, so there is nothing to test"


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
    return _single("exact", "exact binomial", won, lost)


def midp_test(won: int, lost: int) -> Test:
    """Mid-p binomial test: outcomes as far from even as the observed one count by half; less conservative than the exact test.

    That is the exact p-value less the probability of the observed outcome, or less half of it where won equals lost, because
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
    return _single("midp", "mid-p binomial", won, lost)


def binomial_tests(won: npt.ArrayLike, lost: npt.ArrayLike) -> Tests:
    """Exact two-sided binomial test of each pair of counts; see `binomial_test`. p is 1 where both counts are 0.

    Parameters
    ----------
    won, lost : (n_samples,) array_like
        Discordant pairs.

    Examples
    --------
    >>> binomial_tests([8, 0], [1, 0]).pvalue.tolist()
    [0.0390625, 1.0]
    """
    return Tests(binomial_pvalues(won, lost), _signs(won, lost))


def midp_tests(won: npt.ArrayLike, lost: npt.ArrayLike) -> Tests:
    """Mid-p binomial test of each pair of counts; see `midp_test`. p is 1 where both counts are 0.

    Parameters
    ----------
    won, lost : (n_samples,) array_like
        Discordant pairs.

    Examples
    --------
    >>> midp_tests([8, 0], [1, 0]).pvalue.round(6).tolist()
    [0.021484, 1.0]
    """
    return Tests(midp_pvalues(won, lost), _signs(won, lost))


def _single(name: str, method: str, won: int, lost: int) -> Test:
    check_discordant(won, lost)
    pvalue, direction = (binomial_tests if name == "exact" else midp_tests)([won], [lost])
    n = won + lost
    statistic, note = (float(won), None) if n else (None, _NO_DISCORDANT)
    return Test(name, method, statistic, float(pvalue[0]), int(direction[0]), n, n, note)


def _signs(won: npt.ArrayLike, lost: npt.ArrayLike) -> Ints:
    return np.sign(np.asarray(won, dtype=np.float64) - np.asarray(lost, dtype=np.float64)).astype(np.int64)
