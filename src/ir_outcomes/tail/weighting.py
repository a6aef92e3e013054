"""What averaging precisions does to search lengths: small ones count, large ones vanish."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ir_outcomes._types import Floats
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.tail.measures import document_precisions

__all__ = ["effective_share", "equivalent_lengths"]


def equivalent_lengths(lengths: npt.ArrayLike) -> Floats:
    """Give the search lengths whose unweighted mean is what averaging the precisions of these amounts to.

    Averaging precisions 1/SL is averaging search lengths with weights w = 1/SL. The distance of each length from that weighted
    mean A shrinks by its own weight: A + w (SL - A) = 1 + A (1 - w), and the unweighted mean of these is A.

    Parameters
    ----------
    lengths : (n,) array_like
        Search lengths, at least 1, in ranks; infinite for a missing document.

    Returns
    -------
    (n,) float array

    Raises
    ------
    ParameterError
        If a length is below 1, or all are infinite.

    References
    ----------
    Alex et al. 2022, Appendix A.1, equations 14 and 15. The paper's example prints 2.9 for the length 5, where its own
    condition of an equal mean gives 2.8; the other eight values agree.

    Examples
    --------
    >>> equivalent_lengths([1, 1, 1, 2, 4, 5, 10, 10000, 10000]).round(1).tolist()
    [1.0, 1.0, 1.0, 2.1, 2.7, 2.8, 3.0, 3.2, 3.2]
    """
    values = np.asarray(lengths, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.all(values >= 1) or np.isinf(values).all():
        raise ParameterError("lengths: must be a list of search lengths of 1 or more, not all infinite")
    weights = 1 / values
    equivalent: Floats = 1 + (1 - weights) / weights.mean()
    return equivalent


def effective_share(lengths: SearchLengths) -> float:
    """Share of the relevant documents that AP in effect averages: the best-ranked ones, with equal weights.

    The documents are taken in the order of their precision until the unweighted mean of their 1/P is as close as possible to
    1/MAP. Queries weigh the same, as in MAP.

    Parameters
    ----------
    lengths : SearchLengths
        Of a run, such as ``evaluation["bm25"]``.

    Returns
    -------
    float
        Between 0 and 1; 0 where no relevant document is found.

    Raises
    ------
    ParameterError
        Under ``ties="expected"``, where a document has no single precision.

    References
    ----------
    Alex et al. 2022, Appendix A.1: 57 % plus or minus 16 over 76 TREC tracks.

    Examples
    --------
    >>> from ir_outcomes import search_lengths
    >>> run = {"q": {"a": 9.0, "x": 8.0, "b": 7.0, "y": 6.0}}
    >>> round(effective_share(search_lengths({"q": {"a": 1, "b": 1, "c": 1, "d": 1}}, run)), 2)
    0.5
    """
    if lengths.ties == "expected":
        raise ParameterError(
            "ties='expected': tied documents have no single precision to take them in order of; use another rule, such as "
            "ties='trec'"
        )
    precisions = document_precisions(lengths)
    weights = 1 / lengths.relevant[lengths.query]
    order = np.argsort(-precisions, kind="stable")
    order = order[precisions[order] > 0]
    if not len(order):
        return 0.0
    included = np.cumsum(weights[order])
    means = np.cumsum(weights[order] / precisions[order]) / included
    target = weights.sum() / (weights * precisions).sum()
    return float(included[np.argmin(np.abs(means - target))] / weights.sum())
