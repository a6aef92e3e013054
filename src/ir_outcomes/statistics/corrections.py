"""Corrections of p-values for the number of comparisons."""

import numpy as np
import numpy.typing as npt

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.counts import SMALLEST_PVALUE
from ir_outcomes.types import Floats, check_choice

CORRECTIONS = ("holm", "bonferroni", "fdr_bh", "none")


def adjust(pvalues: npt.ArrayLike, method: str) -> Floats:
    """Correct the p-values of a family of tests.

    Parameters
    ----------
    pvalues : (n,) array_like
        The family.
    method : {"holm", "bonferroni", "fdr_bh", "none"}
        Holm 1979 and Bonferroni control the chance of any false discovery, Benjamini and Hochberg
        1995 their expected share. `statsmodels.stats.multitest.multipletests` has them under the
        same names.

    Returns
    -------
    (n,) float array
        In the order given, at most 1.

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03], "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    check_choice("correction", method, CORRECTIONS)
    p = np.asarray(pvalues, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ParameterError(f"p-values must lie between 0 and 1, got {p.tolist()}")
    n = len(p)
    order = np.argsort(p, kind="stable")
    adjusted = p.copy()
    if method == "bonferroni":
        adjusted = p * n
    elif method == "holm":
        adjusted[order] = np.maximum.accumulate(p[order] * np.arange(n, 0, -1))
    elif method == "fdr_bh":
        scaled = p[order] * n / np.arange(1, n + 1)
        from_largest = np.minimum.accumulate(scaled[::-1])
        adjusted[order] = from_largest[::-1]
    return np.minimum(adjusted, 1.0)


def first_step_level(alpha: float, family: int, correction: str) -> float:
    """Level that the smallest p-value of a family must reach; that of the first step for methods with several."""
    return alpha if correction == "none" else alpha / family


def smallest_pvalue(n_nonzero: int) -> float:
    """Smallest p-value of an exact two-sided test on so many differences that are not zero: all in one direction."""
    return max(2.0 ** (1 - max(n_nonzero, 1)), SMALLEST_PVALUE)
