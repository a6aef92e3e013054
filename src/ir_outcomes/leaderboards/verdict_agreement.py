"""The two-facet verdict on both halves of many random splits of the queries, for all pairs of runs."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ir_outcomes._types import Unit
from ir_outcomes.comparison.outcomes import split
from ir_outcomes.comparison.verdict import LABELS, Finding, decide
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.leaderboards.halves import first_halves, in_halves
from ir_outcomes.statistics import (
    Differences,
    Tests,
    binomial_tests,
    differences,
    sign_flip_tests,
    t_tests,
    wilcoxon_tests,
)
from ir_outcomes.statistics.counts import classes, membership, with_signs

__all__ = ["VerdictAgreement", "verdicts_agree"]


@dataclass(frozen=True)
class VerdictAgreement:
    """How often two halves of the queries give the same two-facet verdict.

    Attributes
    ----------
    same : float
        Share of splits and pairs with the same label in both halves.
    contradict : float
        Share with "better" (on both facets, or without harm) in one half and "worse" in the other.
    decided : float
        Share with a label other than "no significant difference" in at least one half.
    same_of_decided : float or None
        Share of the same label among those; None where there are none.
    labels : dict of str to dict of str to int
        Splits and pairs by the label of one half and of the other.
    unit : str
        "query" or "document".
    """

    same: float
    contradict: float
    decided: float
    same_of_decided: float | None
    labels: dict[str, dict[str, int]]
    unit: str


def verdicts_agree(
    lengths: list[SearchLengths], unit: Unit, splits: int, seed: int, alpha: float, progress: bool
) -> VerdictAgreement:
    """Count how often two halves of the answerable queries get the same label."""
    from tqdm import tqdm

    answerable = int(lengths[0].answerable.sum())
    first = membership(first_halves(answerable, splits, seed), answerable)
    couples = list(combinations(range(len(lengths)), 2))
    found = np.stack([split(lengths[0], each, unit).found_contender for each in lengths])
    whole = bool(np.isin(found, (0.0, 1.0)).all())
    members = first.astype(np.float64), 1.0 - first.astype(np.float64)
    labels: Counter[tuple[str, str]] = Counter()
    for x, y in tqdm(couples, f"halves by outcome, {unit}", disable=not progress):
        each = split(lengths[x], lengths[y], unit)
        change = np.zeros(answerable)  # more is better, as for coverage
        change[each.shared] = -differences(each.length_baseline[each.shared], each.length_contender[each.shared])
        sizes = classes(np.abs(change))
        changes = in_halves(with_signs(sizes, change, each.shared), 2 * len(sizes.distinct), first)
        gains = differences(found[x], found[y])
        gain_sizes = classes(np.abs(gains))
        gain_counts = in_halves(
            with_signs(gain_sizes, gains, np.ones(answerable, dtype=bool)), 2 * len(gain_sizes.distinct), first
        )
        sides = []
        for number, counts in enumerate(changes):
            if whole:
                won, lost = ((sign * gains > 0).astype(np.float64) @ members[number] for sign in (1, -1))
                coverage = binomial_tests(won, lost)
            else:
                coverage = sign_flip_tests(Differences(gain_sizes.distinct, *np.split(gain_counts[number], 2)))
            ranking = Differences(sizes.distinct, *np.split(counts, 2))
            sides.append(_labels(coverage, t_tests(ranking), wilcoxon_tests(ranking), alpha))
        labels.update(zip(*sides, strict=True))
    return _verdict_agreement(labels, unit)


def _labels(coverage: Tests, t: Tests, wilcoxon: Tests, alpha: float) -> list[str]:
    found = [_findings(coverage, alpha), _findings(t, alpha, wilcoxon)]
    cache: dict[tuple[Finding, Finding], str] = {}
    result = []
    for pair in zip(*found, strict=True):
        if pair not in cache:
            cache[pair] = decide(*pair)[0]
        result.append(cache[pair])
    return result


def _findings(test: Tests, alpha: float, veto: Tests | None = None) -> list[Finding]:
    up, down = ((test.pvalue <= alpha) & (test.direction == sign) for sign in (1, -1))
    gain, hurt = up, down
    if veto is not None:
        gain, hurt = (each | ((veto.pvalue <= alpha) & (veto.direction == sign)) for each, sign in ((up, 1), (down, -1)))
    return [Finding(*map(bool, row)) for row in zip(up, hurt, down, gain, strict=True)]


def _verdict_agreement(labels: Counter[tuple[str, str]], unit: Unit) -> VerdictAgreement:
    total = labels.total()
    nothing = LABELS[-1]
    decided = {pair: number for pair, number in labels.items() if set(pair) != {nothing}}
    opposite = {"better", "worse"}
    contradict = sum(number for pair, number in labels.items() if {label.split()[0] for label in pair} == opposite)
    same_of_decided = sum(number for (one, other), number in decided.items() if one == other)
    return VerdictAgreement(
        same=sum(number for (one, other), number in labels.items() if one == other) / total,
        contradict=contradict / total,
        decided=sum(decided.values()) / total,
        same_of_decided=same_of_decided / sum(decided.values()) if decided else None,
        labels={one: {other: labels[one, other] for other in LABELS} for one in LABELS},
        unit=unit,
    )
