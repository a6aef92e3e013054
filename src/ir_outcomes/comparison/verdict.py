"""From what the tests found on each facet to one verdict: the decision table, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from ir_outcomes.statistics import Test

Decision = Literal["better", "worse", "undecided"]

LABELS = (
    "better on both facets",
    "better without harm",
    "worse on both facets",
    "worse without gain",
    "trade-off",
    "no significant difference",
)


class Finding(NamedTuple):
    """What the tests say of one facet, for the contender.

    Attributes
    ----------
    up, down : bool
        It improves or worsens, and the corrected p-value of the deciding test is at most alpha.
    gain, hurt : bool
        It improves or worsens, and the raw p-value of the deciding test is at most alpha; for ranking also that of the t or
        Wilcoxon test in its own direction, because "no harm" must not hang on the choice of a test.
    """

    up: bool
    hurt: bool
    down: bool
    gain: bool

    def swapped(self) -> Finding:
        """Give the finding for the baseline."""
        return Finding(up=self.down, hurt=self.gain, down=self.up, gain=self.hurt)


def finding(decides: Test, corrected: float, alpha: float, *, higher_is_better: bool, vetoes: Sequence[Test] = ()) -> Finding:
    """Say what the tests of a facet find.

    Parameters
    ----------
    decides : Test
        The deciding test.
    corrected : float
        Its p-value, corrected for the comparisons of the call.
    alpha : float
        Level.
    higher_is_better : bool
        Direction of the facet.
    vetoes : sequence of Test
        Other tests that find gain or harm, each in its own direction.
    """
    improvement = 1 if higher_is_better else -1
    direction = decides.direction * improvement
    significant = {test.direction * improvement for test in (decides, *vetoes) if test.pvalue <= alpha}
    return Finding(
        up=direction > 0 and corrected <= alpha,
        hurt=-1 in significant,
        down=direction < 0 and corrected <= alpha,
        gain=1 in significant,
    )


@dataclass(frozen=True)
class Verdict:
    """The two-facet significance verdict on a contender.

    Attributes
    ----------
    label : str
        One of `LABELS`.
    strict : {"better", "worse", "undecided"}
        Both facets improve significantly and neither is hurt, or the same for the baseline.
    do_no_harm : {"better", "worse", "undecided"}
        At least one facet improves significantly and none is hurt, or the same for the baseline.
    non_inferior : bool or None
        At least one facet improves significantly and the interval of the other stays inside its margin; None without margins.
    sentence : str
        The verdict in plain words, with its numbers.

    References
    ----------
    Lin et al. 2021, section 5.
    """

    label: str
    strict: Decision
    do_no_harm: Decision
    non_inferior: bool | None
    sentence: str


def decide(coverage: Finding, ranking: Finding) -> tuple[str, Decision, Decision]:
    """Apply the rules *strict* and *do no harm*, and choose the label.

    Returns
    -------
    label : str
        The first of `LABELS` that applies.
    strict, do_no_harm : {"better", "worse", "undecided"}
        What each rule says.

    Examples
    --------
    >>> nothing = Finding(up=False, hurt=False, down=False, gain=False)
    >>> improved = Finding(up=True, hurt=False, down=False, gain=True)
    >>> decide(nothing, improved)
    ('better without harm', 'undecided', 'better')
    """
    strict = _either(_strictly_better, coverage, ranking)
    do_no_harm = _either(_better_without_harm, coverage, ranking)
    if strict == "better":
        label = "better on both facets"
    elif do_no_harm == "better":
        label = "better without harm"
    elif strict == "worse":
        label = "worse on both facets"
    elif do_no_harm == "worse":
        label = "worse without gain"
    elif _mixed(coverage, ranking) or _mixed(coverage.swapped(), ranking.swapped()):
        label = "trade-off"
    else:
        label = "no significant difference"
    return label, strict, do_no_harm


def _either(rule: Callable[[Finding, Finding], bool], coverage: Finding, ranking: Finding) -> Decision:
    if rule(coverage, ranking):
        return "better"
    return "worse" if rule(coverage.swapped(), ranking.swapped()) else "undecided"


def _strictly_better(coverage: Finding, ranking: Finding) -> bool:
    return coverage.up and ranking.up and not (coverage.hurt or ranking.hurt)


def _better_without_harm(coverage: Finding, ranking: Finding) -> bool:
    return (coverage.up or ranking.up) and not (coverage.hurt or ranking.hurt)


def _mixed(coverage: Finding, ranking: Finding) -> bool:
    return (coverage.up or ranking.up) and (coverage.hurt or ranking.hurt)
