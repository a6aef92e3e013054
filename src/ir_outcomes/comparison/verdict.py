"""From what the tests found on each facet to verdicts: the decision table and the guard, on arrays, and nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from ir_outcomes._types import Bools, Floats, Ints
from ir_outcomes.statistics import Tests

__all__ = ["DECISIONS", "DIRECTIONS", "LABELS", "MIRRORED", "Decision", "Findings", "Verdicts", "decide", "find"]

LABELS = (
    "better on both facets",
    "better without harm",
    "worse on both facets",
    "worse without gain",
    "trade-off",
    "no significant difference",
)
MIRRORED = dict(zip(LABELS, (*LABELS[2:4], *LABELS[:2], *LABELS[4:]), strict=True))  # the label with the runs swapped
DIRECTIONS = np.array([{"better": 1, "worse": -1}.get(label.split()[0], 0) for label in LABELS])  # of the contender

Decision = Literal["better", "worse", "undecided"]
DECISIONS: dict[int, Decision] = {1: "better", -1: "worse", 0: "undecided"}  # of the rules *strict* and *do no harm*

_TRADE_OFF = LABELS.index("trade-off")


class Findings(NamedTuple):
    """What the tests say about one facet, for each of m contenders.

    Attributes
    ----------
    up, down : (m,) bool arrays
        The facet improves or worsens, and the corrected p-value of the deciding test is at most alpha.
    gain, hurt : (m,) bool arrays
        It improves or worsens, and the raw p-value of the deciding test is at most alpha; for ranking also that of the t or
        Wilcoxon test in its own direction, because "no harm" must not depend on the choice of a test.
    """

    up: Bools
    hurt: Bools
    down: Bools
    gain: Bools

    def swapped(self) -> Findings:
        """Return the findings for the baseline."""
        return Findings(up=self.down, hurt=self.gain, down=self.up, gain=self.hurt)


class Verdicts(NamedTuple):
    """The two-facet verdict on each of m contenders.

    Attributes
    ----------
    label : (m,) int array
        Index into `LABELS`, after the guard.
    strict : (m,) int array
        The rule of Lin et al. 2021, before the guard: 1 better (both facets improve significantly and neither is hurt), -1 the
        same for the baseline, 0 undecided.
    do_no_harm : (m,) int array
        The same for their weaker rule: at least one facet improves significantly and none is hurt.
    guard : (m,) bool array
        Whether the guard turned a label into "trade-off".
    """

    label: Ints
    strict: Ints
    do_no_harm: Ints
    guard: Bools

    def labels(self) -> list[str]:
        """Return the labels as text."""
        return [LABELS[code] for code in self.label.tolist()]


def find(deciding: Tests, corrected: Floats, alpha: float, *, higher_is_better: bool, vetoes: Sequence[Tests] = ()) -> Findings:
    """Say what the tests of a facet find.

    Parameters
    ----------
    deciding : Tests
        The deciding test, for each of m contenders.
    corrected : (m,) float array
        Its p-values, corrected for the comparisons of the call.
    alpha : float
        Level.
    higher_is_better : bool
        Direction of the facet.
    vetoes : sequence of Tests
        Other tests that find gain or harm, each in its own direction.
    """
    improvement = 1 if higher_is_better else -1
    direction = deciding.direction * improvement
    gain, hurt = np.zeros(len(direction), dtype=bool), np.zeros(len(direction), dtype=bool)
    for test in (deciding, *vetoes):
        significant = test.pvalue <= alpha
        gain |= significant & (test.direction == improvement)
        hurt |= significant & (test.direction == -improvement)
    significant = corrected <= alpha
    return Findings(up=significant & (direction > 0), hurt=hurt, down=significant & (direction < 0), gain=gain)


def decide(coverage: Findings, ranking: Findings, guards: Sequence[Tests] = (), alpha: float = 0.05) -> Verdicts:
    """Apply the rules *strict* and *do no harm*, choose the labels, and let the guard check them.

    Parameters
    ----------
    coverage, ranking : Findings
        Of both facets.
    guards : sequence of Tests
        Tests on all queries in which a positive direction is worse for the contender: the restricted search length, and its
        part of won and lost. A label that says better (worse) while one of them is significantly worse (better) becomes
        "trade-off".
    alpha : float
        Raw level of the guard.

    Returns
    -------
    Verdicts

    References
    ----------
    Lin et al. 2021, section 5, for the two rules.

    Examples
    --------
    >>> no, yes = np.array([False]), np.array([True])
    >>> nothing = Findings(up=no, hurt=no, down=no, gain=no)
    >>> improved = Findings(up=yes, hurt=no, down=no, gain=yes)
    >>> verdicts = decide(nothing, improved)
    >>> verdicts.labels(), verdicts.strict.tolist(), verdicts.do_no_harm.tolist()
    (['better without harm'], [0], [1])
    """
    swapped = coverage.swapped(), ranking.swapped()
    strict = _strictly_better(coverage, ranking).astype(np.int64) - _strictly_better(*swapped)
    do_no_harm = _better_without_harm(coverage, ranking).astype(np.int64) - _better_without_harm(*swapped)
    mixed = _mixed(coverage, ranking) | _mixed(*swapped)
    # The first that applies, in the order of LABELS.
    label = np.select([strict > 0, do_no_harm > 0, strict < 0, do_no_harm < 0, mixed], range(len(LABELS) - 1), len(LABELS) - 1)
    guard = np.zeros(len(label), dtype=bool)
    for test in guards:
        # A positive direction of the test is worse for the contender, so it contradicts "better", and the reverse.
        guard |= (test.pvalue <= alpha) & (test.direction * do_no_harm > 0)
    return Verdicts(np.where(guard, _TRADE_OFF, label).astype(np.int64), strict, do_no_harm, guard)


def _strictly_better(coverage: Findings, ranking: Findings) -> Bools:
    return coverage.up & ranking.up & ~(coverage.hurt | ranking.hurt)


def _better_without_harm(coverage: Findings, ranking: Findings) -> Bools:
    return (coverage.up | ranking.up) & ~(coverage.hurt | ranking.hurt)


def _mixed(coverage: Findings, ranking: Findings) -> Bools:
    return (coverage.up | ranking.up) & (coverage.hurt | ranking.hurt)
