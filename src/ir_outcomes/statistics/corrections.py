"""Corrections of p-values for the number of comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from ir_outcomes.errors import ParameterError

Correction = Literal["holm", "bonferroni", "fdr_bh", "none"]
CORRECTIONS: tuple[str, ...] = get_args(Correction)


def adjust(pvalues: Sequence[float], method: Correction) -> list[float]:
    """Correct the p-values of a family of tests.

    Parameters
    ----------
    pvalues : sequence of float
        The family.
    method : {"holm", "bonferroni", "fdr_bh", "none"}
        Holm 1979 and Bonferroni control the chance of any false discovery, Benjamini and Hochberg 1995 their expected share.

    Returns
    -------
    list of float
        In the order given, at most 1.

    Raises
    ------
    ParameterError
        If the method is another or a p-value is not between 0 and 1.

    Examples
    --------
    >>> adjust([0.01, 0.04, 0.03], "holm")
    [0.03, 0.06, 0.06]
    """
    if method not in CORRECTIONS:
        raise ParameterError(f"correction={method!r}: must be one of {', '.join(CORRECTIONS)}")
    p = np.asarray(pvalues, dtype=np.float64)
    if not np.all((p >= 0) & (p <= 1)):
        raise ParameterError(f"p-values must lie between 0 and 1, got {list(pvalues)}")
    n, order = len(p), np.argsort(p, kind="stable")
    adjusted = p.copy()
    if method == "bonferroni":
        adjusted = p * n
    elif method == "holm":
        adjusted[order] = np.maximum.accumulate(p[order] * np.arange(n, 0, -1))
    elif method == "fdr_bh":
        adjusted[order] = np.minimum.accumulate((p[order] * n / np.arange(1, n + 1))[::-1])[::-1]
    return [float(value) for value in np.minimum(adjusted, 1.0)]
