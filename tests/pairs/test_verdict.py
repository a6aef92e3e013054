"""The table of labels over all combinations of rows (docs/verdict.md), and the rules of the paper."""

from itertools import product

import numpy as np
import pytest

from ir_outcomes.choices import Ints
from ir_outcomes.errors import ParameterError
from ir_outcomes.pairs.rules import Rules
from ir_outcomes.pairs.verdict import (
    LABELS,
    MIRRORED,
    decision,
    direction_of,
    is_unconfirmed,
    labels_of,
    meaning_of,
)
from tests.helpers.labels import State, label_of

STATES = [State(0, False, False)] + [
    State(sign, *significant)
    for sign in (1, -1)
    for significant in ((False, False), (True, False), (True, True))
]


def signs(states: list[State], *, corrected: bool) -> Ints:
    """What rows show by the corrected p-values, or each by itself."""
    return np.array(
        [state.sign * (state.corrected if corrected else state.raw) for state in states]
    )


@pytest.mark.parametrize("known", [True, False])
def test_every_combination(known: bool) -> None:
    """Coverage, ranking, and all queries where they are known; and their mirrors."""
    combinations = list(product(STATES, repeat=3))
    names = ("coverage", "ranking", "all queries")[: 3 if known else 2]
    labels: dict[bool, list[str]] = {}
    for flip in (False, True):
        turned = [[state.flipped if flip else state for state in states] for states in combinations]
        columns = dict(zip(names, map(list, zip(*turned, strict=True)), strict=False))
        found = {name: signs(states, corrected=True) for name, states in columns.items()}
        alone = {name: signs(states, corrected=False) for name, states in columns.items()}
        labels[flip] = [LABELS[label] for label in labels_of(found, alone).tolist()]
        expected = [label_of(c, r, a if known else None) for c, r, a in turned]
        assert labels[flip] == expected
    assert labels[True] == [MIRRORED[label] for label in labels[False]]
    # The direction is the finding of all queries, whatever the facets show.
    if known:
        directions = [
            {1: "better", -1: "worse", 0: "none"}[a.sign * a.corrected] for *_, a in combinations
        ]
        assert [direction_of(label) for label in labels[False]] == directions


def test_the_mean_alone() -> None:
    found = {"all queries": np.array([1, 0, -1])}
    assert [LABELS[label] for label in labels_of(found, found)] == [
        "better",
        "no significant difference",
        "worse",
    ]


def test_labels_stand_from_best_to_worst() -> None:
    directions = [direction_of(label) for label in LABELS]
    n = directions.count("better")
    assert directions == ["better"] * n + ["none"] * (len(LABELS) - 2 * n) + ["worse"] * n
    assert [label for label in LABELS if is_unconfirmed(label)] == [
        label for label in LABELS if "unconfirmed" in label
    ]
    for label in LABELS:
        assert meaning_of(label).rows == meaning_of(MIRRORED[label]).rows


@pytest.mark.parametrize(
    ("coverage", "ranking", "strict", "do_no_harm"),
    [
        (1, 1, "better", "better"),
        (1, 0, "undecided", "better"),
        (0, 1, "undecided", "better"),
        (1, -1, "undecided", "undecided"),
        (0, 0, "undecided", "undecided"),
        (-1, 0, "undecided", "worse"),
        (-1, -1, "worse", "worse"),
    ],
)
def test_the_rules_of_the_paper(coverage: int, ranking: int, strict: str, do_no_harm: str) -> None:
    """Lin et al. 2021, section 5."""
    assert decision(coverage, ranking) == (strict, do_no_harm)


@pytest.mark.parametrize(
    "options",
    [
        {"alpha": 0.7},
        {"alpha": True},
        {"correction": "tukey"},
        {"margins": ()},
        {"margins": (1.0, -1.0)},
        {"margins": (100.0, 1.0)},
        {"margins": "ab"},
        {"margins": 5},
    ],
)
def test_wrong_rules(options: dict[str, object]) -> None:
    with pytest.raises(ParameterError):
        Rules(**options)  # type: ignore[arg-type]
