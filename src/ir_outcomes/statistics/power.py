"""The smallest effect that a test would have found: what "not significant" leaves open."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.checks import check_share
from ir_outcomes.statistics.distributions import binomial_cdf, binomial_chances, root


def detectable_mean(n: int, deviation: float, alpha: float, power: float = 0.8) -> float | None:
    """Find the smallest true mean difference that a two-sided t test at level alpha finds with this power.

    Parameters
    ----------
    n : int
        Number of differences.
    deviation : float
        Their standard deviation; the result is in its unit.
    alpha, power : float
        Level of the test and chance to find the difference.

    Returns
    -------
    float or None
        None for fewer than two differences, no variance, or an effect of so many thousand standard deviations that the
        noncentral t distribution cannot be computed (two differences and alpha below 1e-5).

    Raises
    ------
    ParameterError
        If not 0 < alpha < power < 1.

    References
    ----------
    Noncentral t distribution; Cohen 1988, chapter 2.

    Examples
    --------
    >>> round(detectable_mean(54, 10.0, 0.05, 0.8), 3)
    3.883
    """
    check_share("alpha", alpha)
    check_share("power", power, above=alpha)
    if n < 2 or deviation == 0:
        return None
    from scipy.special import nctdtr, stdtrit

    critical = float(stdtrit(n - 1, 1 - alpha / 2))

    def lacking(shift: float) -> float:
        # SciPy gives NaN for the far tail on the other side, where there is nothing.
        other_side = float(np.nan_to_num(nctdtr(n - 1, shift, -critical)))
        return power - (1 - float(nctdtr(n - 1, shift, critical)) + other_side)

    high = critical + 1  # widened in small steps: far out SciPy's noncentral t has no value
    while lacking(high) > 0:
        high *= 1.2
    if math.isnan(lacking(high)):
        return None
    return root(lacking, 0.0, high) * deviation / math.sqrt(n)


def detectable_proportion(n: int, discordant_share: float, alpha: float, power: float = 0.8) -> float | None:
    """Find the smallest difference of paired proportions that the exact binomial test at level alpha finds with this power.

    Unconditionally over n: of n pairs a binomial number is discordant, with share max(discordant_share, difference), and of
    those a binomial number is won.

    Parameters
    ----------
    n : int
        Number of pairs.
    discordant_share : float
        Share of pairs that one of the two won, as observed.
    alpha, power : float
        Level of the test and chance to find the difference.

    Returns
    -------
    float or None
        Between 0 and 1; None where no difference is found with that power.

    Raises
    ------
    ParameterError
        If not 0 < alpha < power < 1, or the share is not from 0 to 1.

    References
    ----------
    Connor 1987, "Sample size for testing differences in proportions for the paired-sample design", for the setting; the power
    is computed exactly instead of by the normal approximation.

    Examples
    --------
    >>> round(detectable_proportion(1000, 0.033, 0.05, 0.8), 4)
    0.0167
    """
    check_share("alpha", alpha)
    check_share("power", power, above=alpha)
    if not 0 <= discordant_share <= 1:
        raise ParameterError(f"discordant_share={discordant_share!r}: must be from 0 to 1")
    if n < 1:
        return None
    discordant = np.arange(n + 1)
    critical = _most_rejected(discordant, alpha)

    def lacking(difference: float) -> float:
        share = min(1.0, max(discordant_share, difference))
        chance = binomial_chances(n, share)
        likely = chance > 1e-15
        m, most = discordant[likely], critical[likely]
        p_lost = (share - difference) / (2 * share)
        found = binomial_cdf(most, m, p_lost) + binomial_cdf(most, m, 1 - p_lost)
        return float(power - chance[likely] @ found)

    if lacking(1.0) > 0:
        return None
    low = 1e-9
    return low if lacking(low) <= 0 else root(lacking, low, 1.0, tolerance=1e-6)


def _most_rejected(discordant: npt.NDArray[np.int64], alpha: float) -> npt.NDArray[np.int64]:
    """Find the largest number of lost (and, by symmetry, of won) that the two-sided test rejects; -1 where it never does."""
    from scipy.special import ndtri

    nearly = np.floor(discordant / 2 + ndtri(alpha / 2) * np.sqrt(discordant) / 2)
    critical: npt.NDArray[np.int64] = nearly.astype(np.int64).clip(-1)
    while (rejected_more := binomial_cdf(critical + 1, discordant, 0.5) <= alpha / 2).any():
        critical += rejected_more
    while (rejected_less := binomial_cdf(critical, discordant, 0.5) > alpha / 2).any():
        critical -= rejected_less
    return critical
