"""Families of tests: corrected p-values, and the level of the first step."""

import numpy as np
import numpy.typing as npt

from ir_outcomes.choices import Correction, Floats, unreachable
from ir_outcomes.errors import ParameterError


def adjust(pvalues: npt.ArrayLike, method: Correction, size: int | None = None) -> Floats:
    """Correct the p-values of a family of tests.

    Parameters
    ----------
    pvalues : (m,) array_like
        The family.
    method : {"holm", "bonferroni", "fdr_bh", "none"}
        Holm 1979 and Bonferroni control the chance of any false discovery, Benjamini and Hochberg
        1995 their expected share; names as in `statsmodels.stats.multitest.multipletests`.
    size : int, optional
        How many tests the family has, where some could not be made; these count with p = 1.

    Returns
    -------
    (m,) float array
        In the order given, at most 1.

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03], "holm").tolist()
    [0.03, 0.06, 0.06]
    """
    p = np.asarray(pvalues, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ParameterError(f"p-values must lie between 0 and 1, got {p.tolist()}")
    n_tests = len(p)
    p = np.append(p, np.ones(max((size or 0) - n_tests, 0)))
    m = len(p)
    order = np.argsort(p, kind="stable")
    ranks = np.arange(1, m + 1)
    corrected = p.copy()
    if method == "bonferroni":
        corrected = p * m
    elif method == "holm":
        corrected[order] = np.maximum.accumulate(p[order] * (m + 1 - ranks))
    elif method == "fdr_bh":
        corrected[order] = np.minimum.accumulate((p[order] * m / ranks)[::-1])[::-1]
    elif method != "none":
        unreachable(method)
    return np.minimum(corrected, 1.0)[:n_tests]


def level_in_family(alpha: float, m: int, method: str) -> float:
    """Divide alpha by the size m of a family, unless it is not corrected.

    It is the level of the intervals for margins, and what Holm's first step takes.
    """
    return alpha if method == "none" else alpha / max(m, 1)
