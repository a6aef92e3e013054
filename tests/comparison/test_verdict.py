"""The decision table of the verdict, over every combination of findings."""

from __future__ import annotations

import itertools

import numpy as np

from ir_outcomes.comparison.verdict import LABELS, MIRRORED, Findings, decide
from ir_outcomes.statistics import tests as paired

every = [Findings(*flags) for flags in itertools.product((False, True), repeat=4)]  # type: ignore[arg-type]
# A facet that is significant after correction is significant before it, and does not improve and worsen by one test.
possible = [f for f in every if f.up <= f.gain and f.down <= f.hurt and not (f.up and f.down)]
pairs = list(itertools.product(possible, repeat=2))


def columns(side: int) -> Findings:
    return Findings(*(np.array([getattr(pair[side], name) for pair in pairs], dtype=bool) for name in Findings._fields))


def test_every_combination() -> None:
    verdicts = decide(columns(0), columns(1))
    for (coverage, ranking), label, strict, do_no_harm in zip(
        pairs, verdicts.labels(), verdicts.strict, verdicts.do_no_harm, strict=True
    ):
        ups, hurts = int(coverage.up) + int(ranking.up), int(coverage.hurt) + int(ranking.hurt)
        downs, gains = int(coverage.down) + int(ranking.down), int(coverage.gain) + int(ranking.gain)
        assert (strict == 1) == (ups == 2 and hurts == 0)
        assert (strict == -1) == (downs == 2 and gains == 0)
        assert (do_no_harm == 1) == (ups >= 1 and hurts == 0)
        assert (do_no_harm == -1) == (downs >= 1 and gains == 0)
        expected = (
            "better on both facets" if ups == 2 and hurts == 0
            else "better without harm" if ups and not hurts
            else "worse on both facets" if downs == 2 and gains == 0
            else "worse without gain" if downs and not gains
            else "trade-off" if (ups and hurts) or (downs and gains)
            else "no significant difference"
        )  # fmt: skip
        assert label == expected
    assert not verdicts.guard.any()


def test_swapping_the_runs_mirrors_the_verdict() -> None:
    verdicts = decide(columns(0), columns(1))
    mirrored = decide(columns(0).swapped(), columns(1).swapped())
    assert mirrored.labels() == [MIRRORED[label] for label in verdicts.labels()]
    assert (mirrored.strict == -verdicts.strict).all()
    assert (mirrored.do_no_harm == -verdicts.do_no_harm).all()


def test_the_guard_contradicts_better_and_worse_and_nothing_else() -> None:
    for direction, contradicted in ((1, "better"), (-1, "worse")):
        test = paired.Tests(np.full(len(pairs), 0.01), np.full(len(pairs), direction))
        plain, guarded = decide(columns(0), columns(1)), decide(columns(0), columns(1), [test])
        for before, after, acted in zip(plain.labels(), guarded.labels(), guarded.guard.tolist(), strict=True):
            assert acted == before.startswith(contradicted)
            assert after == ("trade-off" if acted else before)
        assert (guarded.strict == plain.strict).all()
        assert (guarded.do_no_harm == plain.do_no_harm).all()
        insignificant = decide(columns(0), columns(1), [test._replace(pvalue=np.full(len(pairs), 0.06))])
        assert not insignificant.guard.any()


def test_labels_and_their_mirrors() -> None:
    assert set(MIRRORED) == set(MIRRORED.values()) == set(LABELS)
    assert all(MIRRORED[MIRRORED[label]] == label for label in LABELS)
