"""The smallest effect that a test would detect: what "not significant" leaves open."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from ir_outcomes._types import CoverageTest, Floats, Ints
from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.checks import check_share
from ir_outcomes.statistics.distributions import binomial_cdf, binomial_chances, root

MOST_DEGREES_OF_FREEDOM = 100_000


def power_of_mean(shift: float, df: float, alpha: float) -> float:
    """Compute the power of a two-sided t test.

    Parameters
    ----------
    shift : float
        Noncentrality: true mean divided by its standard error.
    df : float
        Degrees of freedom.
    alpha : float
        Level of the test.

    Returns
    -------
    float
        Chance that the absolute value of t exceeds the critical value.

    Raises
    ------
    ParameterError
        If alpha is not between 0 and 1.

    References
    ----------
    Noncentral t distribution; Cohen 1988, chapter 2.

    Notes
    -----
    The chance that Z + shift exceeds c S, where S^2 is a chi-square divided by its degrees of freedom, is integrated over Z
    on a fixed grid. The noncentral t distributions of SciPy 1.11 to 1.14 do not return for one degree of freedom and small
    levels.

    Examples
    --------
    >>> round(power_of_mean(2.8, 53, 0.05), 3)
    0.785
    """
    check_share("alpha", alpha)
    return _power(shift, df, _critical(df, alpha))


def _critical(df: float, alpha: float) -> float:
    from scipy.special import stdtrit

    return -float(stdtrit(df, alpha / 2))  # the lower quantile: 1 - alpha / 2 would lose the digits of a small alpha


def _power(shift: float, df: float, critical: float) -> float:
    from scipy.special import gammainc

    # With more degrees of freedom the step would be sharper than the grid, and t is normal to five digits.
    half = min(df, MOST_DEGREES_OF_FREEDOM) / 2
    z, density = _normal_grid()
    upper, lower = ((np.maximum(z + side, 0.0) / critical) ** 2 for side in (shift, -shift))
    return float(density @ (gammainc(half, half * upper) + gammainc(half, half * lower)))


@lru_cache(maxsize=1)
def _normal_grid() -> tuple[Floats, Floats]:
    z = np.linspace(-8.5, 8.5, 2001)
    density = np.exp(-(z**2) / 2)
    return z, density / density.sum()


def detectable_mean(n: int, deviation: float, alpha: float, power: float = 0.8, largest: float = math.inf) -> float | None:
    """Find the smallest true mean difference that a two-sided t test at level alpha detects with this power.

    Parameters
    ----------
    n : int
        Number of differences.
    deviation : float
        Their standard deviation; the result is in its unit.
    alpha : float
        Level of the test: for the first step of Holm's correction, the level of the family divided by its size.
    power : float
        Chance to detect the difference.
    largest : float
        Largest possible difference, such as 100 for percentage points.

    Returns
    -------
    float or None
        None for fewer than two differences or no variance, and where not even the largest difference is detected with this
        power.

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
    >>> detectable_mean(3, 40.0, 0.05, 0.8, largest=100) is None
    True
    """
    check_share("alpha", alpha)
    check_share("power", power, above=alpha)
    if n < 2 or deviation == 0:
        return None
    shift = _detectable_shift(n - 1, alpha, power)
    if shift is None:
        return None
    detectable = shift * deviation / math.sqrt(n)
    return detectable if detectable <= largest else None


@lru_cache(maxsize=256)
def _detectable_shift(df: int, alpha: float, power: float) -> float | None:
    """Find the noncentrality at which the t test has this power; None where it cannot be computed."""
    from scipy.special import gammaincinv

    critical = _critical(df, alpha)
    # Beyond this shift the power is larger: S is below its quantile with more than this chance, and Z above -9 all but surely.
    scale = math.sqrt(float(gammaincinv(df / 2, (1 + power) / 2)) * 2 / df)
    high = critical * scale + 9
    if not math.isfinite(high):
        return None
    return root(lambda shift: power - _power(shift, df, critical), 0.0, high, tolerance=1e-7 * high)


def power_of_proportion(
    n: int, discordant_share: float, difference: float, alpha: float, test: CoverageTest = "exact"
) -> float:
    """Compute the power of the two-sided test on won against lost, unconditionally over n pairs.

    Of n pairs a binomial number is discordant, with share max(discordant_share, difference), and of those a binomial number is
    won.

    Parameters
    ----------
    n : int
        Number of pairs.
    discordant_share : float
        Share of pairs that one of the two won.
    difference : float
        True share of won minus lost, from 0 to 1.
    alpha : float
        Level of the test.
    test : {"exact", "midp"}
        The exact binomial test or its mid-p variant.

    Raises
    ------
    ParameterError
        If alpha is not between 0 and 1, a share is not from 0 to 1, or the test is unknown.

    Examples
    --------
    >>> round(power_of_proportion(1000, 0.033, 0.0167, 0.05), 3)
    0.801
    """
    check_share("alpha", alpha)
    _check_shares(discordant_share, difference)
    # Numbers of discordant pairs that all but surely do not occur are left out: n may be a million.
    share = min(1.0, max(discordant_share, difference))
    spread = 10 * math.sqrt(n * share * (1 - share)) + 10
    discordant = np.arange(max(0, math.floor(n * share - spread)), min(n, math.ceil(n * share + spread)) + 1)
    critical = _most_rejected(discordant, alpha, test)
    return _proportion_power(n, discordant, critical, discordant_share, difference)


def _check_shares(discordant_share: float, difference: float = 0.0) -> None:
    for name, share in (("discordant_share", discordant_share), ("difference", difference)):
        if not 0 <= share <= 1:
            raise ParameterError(f"{name}={share!r}: must be from 0 to 1")


def _proportion_power(n: int, discordant: Ints, critical: Ints, discordant_share: float, difference: float) -> float:
    share = min(1.0, max(discordant_share, difference))
    if share == 0:
        return 0.0
    chance = binomial_chances(n, share)[discordant]
    likely = chance > 1e-15
    m, most = discordant[likely], critical[likely]
    p_lost = (share - difference) / (2 * share)
    return float(chance[likely] @ (binomial_cdf(most, m, p_lost) + binomial_cdf(most, m, 1 - p_lost)))


def detectable_proportion(
    n: int, discordant_share: float, alpha: float, power: float = 0.8, test: CoverageTest = "exact"
) -> float | None:
    """Find the smallest difference of paired proportions that the test on won against lost detects with this power.

    Unconditionally over n, see `power_of_proportion`.

    Parameters
    ----------
    n : int
        Number of pairs.
    discordant_share : float
        Share of pairs that one of the two won, as observed.
    alpha : float
        Level of the test: for the first step of Holm's correction, the level of the family divided by its size.
    power : float
        Chance to detect the difference.
    test : {"exact", "midp"}
        The deciding test: the exact binomial test or its mid-p variant.

    Returns
    -------
    float or None
        Between 0 and 1; None where no difference is detected with that power.

    Raises
    ------
    ParameterError
        If not 0 < alpha < power < 1, the share is not from 0 to 1, or the test is unknown.

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
    _check_shares(discordant_share)
    if n < 1:
        return None
    discordant = np.arange(n + 1)
    critical = _most_rejected(discordant, alpha, test)

    def lacking(difference: float) -> float:
        return power - _proportion_power(n, discordant, critical, discordant_share, difference)

    if lacking(1.0) > 0:
        return None
    low = 1e-9
    return low if lacking(low) <= 0 else root(lacking, low, 1.0, tolerance=1e-6)


def _most_rejected(discordant: Ints, alpha: float, test: CoverageTest) -> Ints:
    """Find the largest number of lost (and, by symmetry, of won) that the two-sided test rejects; -1 where it never does."""
    from scipy.special import ndtri

    if test not in ("exact", "midp"):
        raise ParameterError(f"test={test!r}: must be one of exact, midp")

    def tail(lost: Ints) -> Floats:
        up_to = binomial_cdf(lost, discordant, 0.5)
        return up_to if test == "exact" else (up_to + binomial_cdf(lost - 1, discordant, 0.5)) / 2

    nearly = np.floor(discordant / 2 + ndtri(alpha / 2) * np.sqrt(discordant) / 2)
    critical: Ints = nearly.astype(np.int64).clip(-1)
    # Each pass moves by one and stays between -1 and the number of discordant pairs, so both loops end.
    while (rejected_more := (tail(critical + 1) <= alpha / 2) & (critical < discordant)).any():
        critical += rejected_more
    while (rejected_less := (tail(critical) > alpha / 2) & (critical >= 0)).any():
        critical -= rejected_less
    return critical
