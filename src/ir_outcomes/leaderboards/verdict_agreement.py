"""The two-facet verdict on both halves of many random splits of the queries, for all pairs of runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from ir_outcomes._types import Unit
from ir_outcomes.comparison.outcomes import split
from ir_outcomes.comparison.verdict import LABELS, Finding, decide
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.leaderboards.halves import first_halves, in_halves, signs
from ir_outcomes.results import Immutable
from ir_outcomes.statistics import differences
from ir_outcomes.statistics.pairs import with_signs
from ir_outcomes.statistics.signflips import sign_flip_pairs
from ir_outcomes.statistics.subsets import (
    Tests,
    binomial_tests,
    classes,
    membership,
    signed_tests,
)

__all__ = ["VerdictAgreement", "verdicts_agree"]

COVERAGE_FLIPS = 999


@dataclass(frozen=True)
class VerdictAgreement(Immutable):
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
    labels: Mapping[str, Mapping[str, int]]
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
    flipped = (
        [] if whole else [[sign_flip_pairs(found[:, half > 0], seed, COVERAGE_FLIPS) for half in side.T] for side in members]
    )
    labels: Counter[tuple[str, str]] = Counter()
    for x, y in tqdm(couples, f"halves by outcome, {unit}", disable=not progress):
        each = split(lengths[x], lengths[y], unit)
        change = np.zeros(answerable)  # more is better, as for coverage
        change[each.shared] = -differences(each.length_baseline[each.shared], each.length_contender[each.shared])
        sizes = classes(np.abs(change))
        changes = in_halves(with_signs(sizes, change, each.shared), 2 * len(sizes.distinct), first)
        gains = found[y] - found[x]
        sides = []
        for number, counts in enumerate(changes):
            if whole:
                won, lost = ((sign * gains > 0).astype(np.float64) @ members[number] for sign in (1, -1))
                coverage = Tests(binomial_tests(won, lost), signs(won - lost, slack=0.0))
            else:
                pvalues = np.array([pair_tests[x, y] for pair_tests in flipped[number]])
                coverage = Tests(pvalues, signs(gains @ members[number], slack=1e-9))
            ranking = signed_tests(sizes.distinct, *np.split(counts, 2))
            sides.append(_labels(coverage, ranking["t"], ranking["wilcoxon"], alpha))
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
