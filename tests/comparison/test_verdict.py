"""The decision table of the verdict, over every combination of findings."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from ir_outcomes.comparison.verdict import LABELS, MIRRORED, Findings, confirmed_by, decide, direction_of
from ir_outcomes.statistics import tests as paired

every = [Findings(*flags) for flags in itertools.product((False, True), repeat=4)]  # type: ignore[arg-type]
# A facet that is significant after correction is significant before it, and does not improve and worsen by one test.
possible = [f for f in every if f.up <= f.gain and f.down <= f.hurt and not (f.up and f.down)]
pairs = list(itertools.product(possible, repeat=2))


def columns(side: int) -> Findings:
    return Findings(*(np.array([getattr(pair[side], name) for pair in pairs], dtype=bool) for name in Findings._fields))


@pytest.mark.parametrize("confirmed", [None, -1, 0, 1])
def test_every_combination(confirmed: int | None) -> None:
    verdicts = decide(columns(0), columns(1), None if confirmed is None else np.full(len(pairs), confirmed))
    found = zip(verdicts.labels(), verdicts.direction, verdicts.strict, verdicts.do_no_harm, strict=True)
    for (coverage, ranking), (label, direction, strict, do_no_harm) in zip(pairs, found, strict=True):
        ups, hurts, downs, gains = (int(a) + int(b) for a, b in zip(coverage, ranking, strict=True))
        assert (strict == 1, strict == -1) == (ups == 2 and hurts == 0, downs == 2 and gains == 0)
        assert (do_no_harm == 1, do_no_harm == -1) == (ups >= 1 and hurts == 0, downs >= 1 and gains == 0)
        expected = (
            "better on both facets" if ups == 2 and hurts == 0
            else "better without harm" if ups and not hurts and confirmed == 1
            else f"{'coverage' if coverage.up else 'ranking'} gain, unconfirmed" if ups and not hurts
            else "worse on both facets" if downs == 2 and gains == 0
            else "worse without gain" if downs and not gains and confirmed == -1
            else f"{'coverage' if coverage.down else 'ranking'} loss, unconfirmed" if downs and not gains
            else "trade-off" if (ups and hurts) or (downs and gains)
            else "no significant difference"
        )  # fmt: skip
        assert label == expected
        assert direction == {"better": 1, "worse": -1}.get(label.split()[0], 0)
    assert not verdicts.guard.any()


@pytest.mark.parametrize("confirmed", [-1, 0, 1])
def test_swapping_the_runs_mirrors_the_verdict(confirmed: int) -> None:
    verdicts = decide(columns(0), columns(1), np.full(len(pairs), confirmed))
    swapped = [Findings(up=of.down, hurt=of.gain, down=of.up, gain=of.hurt) for of in (columns(0), columns(1))]
    mirrored = decide(swapped[0], swapped[1], np.full(len(pairs), -confirmed))
    assert mirrored.labels() == [MIRRORED[label] for label in verdicts.labels()]
    for name in ("direction", "strict", "do_no_harm"):
        assert (getattr(mirrored, name) == -getattr(verdicts, name)).all()


@pytest.mark.parametrize("confirmed", [-1, 0, 1])
@pytest.mark.parametrize("direction", [1, -1])
def test_the_guard_contradicts_gains_and_losses_confirmed_or_not(confirmed: int, direction: int) -> None:
    everywhere, directions = np.full(len(pairs), confirmed), np.full(len(pairs), direction)
    plain, guarded, insignificant = (
        decide(columns(0), columns(1), everywhere, [paired.Tests(np.full(len(pairs), p), directions)]) for p in (1, 0.01, 0.06)
    )
    assert (guarded.guard == (plain.do_no_harm == direction)).all()
    expected = ["trade-off" if acted else label for label, acted in zip(plain.labels(), guarded.guard, strict=True)]
    assert guarded.labels() == expected
    assert (guarded.do_no_harm == plain.do_no_harm).all()
    assert not insignificant.guard.any()


def test_all_queries_confirm_by_either_test_in_the_direction_of_their_mean() -> None:
    # mean: p and direction; Wilcoxon: p and direction; what they confirm where lower is better
    table = np.array([
        (0.01, -1, 0.5, 0, 1),
        (0.2, -1, 0.01, -1, 1),
        (0.2, -1, 0.01, 1, 0),  # Wilcoxon the other way
        (0.2, 0, 0.01, -1, 0),  # a mean without direction
        (0.2, -1, 0.2, -1, 0),
        (0.01, 1, 0.01, -1, -1),
    ])  # fmt: skip
    tests = [paired.Tests(table[:, p], table[:, p + 1].astype(int)) for p in (0, 2)]
    for higher_is_better, sign in ((False, 1), (True, -1)):
        assert (confirmed_by(tests, 0.05, higher_is_better=higher_is_better) == sign * table[:, 4]).all()


def test_labels_stand_from_best_to_worst() -> None:
    assert [direction_of(label) for label in LABELS] == ["better"] * 2 + ["none"] * 6 + ["worse"] * 2
