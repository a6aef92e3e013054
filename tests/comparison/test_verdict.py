"""The decision table of design section 1, over every combination of findings."""

from __future__ import annotations

import itertools

import pytest

from ir_outcomes.comparison.verdict import LABELS, Finding, decide
from tests.helpers.verdicts import MIRRORED

every = [Finding(*flags) for flags in itertools.product((False, True), repeat=4)]
# A facet that is significant after correction is significant before it, and does not improve and worsen by one test.
possible = [f for f in every if f.up <= f.gain and f.down <= f.hurt and not (f.up and f.down)]


@pytest.mark.parametrize(("coverage", "ranking"), list(itertools.product(possible, repeat=2)))
def test_every_combination(coverage: Finding, ranking: Finding) -> None:
    ups, hurts = coverage.up + ranking.up, coverage.hurt + ranking.hurt
    downs, gains = coverage.down + ranking.down, coverage.gain + ranking.gain
    label, strict, do_no_harm = decide(coverage, ranking)
    assert label in LABELS
    assert (strict == "better") == (ups == 2 and hurts == 0)
    assert (strict == "worse") == (downs == 2 and gains == 0)
    assert (do_no_harm == "better") == (ups >= 1 and hurts == 0)
    assert (do_no_harm == "worse") == (downs >= 1 and gains == 0)
    expected = (
        "better on both facets" if ups == 2 and hurts == 0
        else "better without harm" if ups and not hurts
        else "worse on both facets" if downs == 2 and gains == 0
        else "worse without gain" if downs and not gains
        else "trade-off" if (ups and hurts) or (downs and gains)
        else "no significant difference"
    )  # fmt: skip
    assert label == expected


@pytest.mark.parametrize(("coverage", "ranking"), list(itertools.product(possible, repeat=2)))
def test_swapping_the_runs_mirrors_the_verdict(coverage: Finding, ranking: Finding) -> None:
    turned = {"better": "worse", "worse": "better", "undecided": "undecided"}
    label, strict, do_no_harm = decide(coverage, ranking)
    mirrored = decide(coverage.swapped(), ranking.swapped())
    assert mirrored == (MIRRORED[label], turned[strict], turned[do_no_harm])
