"""Random halves of the queries, and one definition of how far two halves agree, for significance tests and verdicts alike."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ir_outcomes._types import Ints
from ir_outcomes.errors import ParameterError

__all__ = ["HalfAgreement", "Rates", "first_halves", "rates"]


@dataclass(frozen=True)
class Rates:
    """How often two halves of the queries lead to the same label, as shares of all splits and pairs of runs.

    A half *decides* if its label is not "no difference". `same`, `one_sided`, `opposite` and `different` sum to 1.

    Attributes
    ----------
    same : float
        Both halves have the same label, decided or not.
    one_sided : float
        Only one half decides.
    opposite : float
        One half says that the contender is better, the other that it is worse.
    different : float
        Both halves decide, with labels that are neither the same nor opposite; never for a test, which has only two.
    decided : float
        At least one half decides.
    replicates : float or None
        Probability that the other half has the same label, given that a half decided; None where no half decides.
    """

    same: float
    one_sided: float
    opposite: float
    different: float
    decided: float
    replicates: float | None


@dataclass(frozen=True)
class HalfAgreement(Rates):
    """How often two halves of the queries agree, by one test or by the two-facet verdict.

    The label of a test is the run that is better by the aggregate where the test is significant, else "no difference". A
    verdict has the six labels of `ir_outcomes.comparison.verdict.LABELS`.

    Attributes
    ----------
    same, one_sided, opposite, different, decided, replicates
        See `Rates`.
    measure : str
        What is tested; "outcomes by query" or "outcomes by document" for the verdict.
    test : str
        "sign", "ranksum", "wilcoxon", "t", or "two facets".
    aggregate : str or None
        "mean" or "median": what says which of two runs is better; None for the verdict.
    agree, partial, disagree : float or None
        The three rates of Craswell et al. 2021, which also count which run is better where neither half is significant; they
        sum to 1. None for the verdict.
    significant : float or None
        Share of splits and pairs with a significant test in at least one half (their last row). It differs from `decided` only
        where the aggregates of two runs are equal. None for the verdict.
    """

    measure: str
    test: str
    aggregate: str | None
    agree: float | None
    partial: float | None
    disagree: float | None
    significant: float | None


def first_halves(n_queries: int, splits: int, seed: int) -> Ints:
    """Draw the first half of each split; the other queries are the second half.

    Returns
    -------
    (splits, n_queries // 2) int array
        Positions of queries.

    Raises
    ------
    ParameterError
        If there are fewer than four queries.
    """
    if n_queries < 4:
        raise ParameterError(f"{n_queries} queries cannot be split in halves that can be tested; at least four are needed")
    order = np.argsort(np.random.default_rng(seed).random((splits, n_queries)), axis=1)
    return order[:, : n_queries // 2]


def rates(labels: Ints, directions: Ints, undecided: int) -> Rates:
    """Compute all rates from how often each pair of labels occurs.

    Parameters
    ----------
    labels : (m, m) int array
        Number of splits and pairs of runs by the label of the first and of the second half.
    directions : (m,) int array
        1 for labels that say better, -1 for worse, else 0.
    undecided : int
        The label that decides nothing.

    Examples
    --------
    >>> table = np.array([[2, 1, 1], [0, 4, 0], [0, 2, 10]])  # worse, no difference, better
    >>> found = rates(table, np.array([-1, 0, 1]), undecided=1)
    >>> found.same, found.one_sided, found.opposite, round(found.replicates, 3)
    (0.8, 0.15, 0.05, 0.828)
    """
    total = int(labels.sum())
    decides = np.arange(len(labels)) != undecided
    both = int(labels[np.ix_(decides, decides)].sum())
    neither = int(labels[undecided, undecided])
    same = int(np.trace(labels))
    one_sided = total - both - neither
    opposite = int(labels[np.multiply.outer(directions, directions) < 0].sum())
    halves_that_decide = 2 * both + one_sided
    return Rates(
        same=same / total,
        one_sided=one_sided / total,
        opposite=opposite / total,
        different=(both - (same - neither) - opposite) / total,
        decided=1 - neither / total,
        replicates=2 * (same - neither) / halves_that_decide if halves_that_decide else None,
    )
