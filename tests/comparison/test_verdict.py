"""The table of labels over all combinations of rows (docs/verdict.md), and the rules of the paper."""

from itertools import product

import numpy as np
import pytest

from ir_outcomes.errors import ParameterError
from ir_outcomes.pairs.rules import Rules
from ir_outcomes.pairs.verdict import (
    LABELS,
    MIRRORED,
    RowEstimates,
    decision,
    direction_of,
    is_unconfirmed,
    judge,
    meaning_of,
)
from tests.helpers.labels import State, label_of

STATES = [State(0, False, False)] + [
    State(sign, *significant)
    for sign in (1, -1)
    for significant in ((False, False), (True, False), (True, True))
]


def row(states: list[State]) -> RowEstimates:
    return RowEstimates(
        np.array([state.sign for state in states]),
        np.array([0.01 if state.raw else 0.5 for state in states]),
    )


def adjusted(states: list[State]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([0.02 if state.corrected else 0.6 for state in states])


@pytest.mark.parametrize("known", [True, False])
def test_every_combination(known: bool) -> None:
    """Coverage, ranking, all queries where they are known, and the sign test; and their mirrors."""
    combinations = list(product(STATES, STATES, STATES, STATES[:5:2]))
    coverage, ranking, whole, sign_test = map(list, zip(*combinations, strict=True))
    columns = {"coverage": coverage, "ranking": ranking}
    if known:
        columns["all queries"] = whole
    for flip in (False, True):
        turned = {
            name: [state.flipped if flip else state for state in states]
            for name, states in columns.items()
        }
        signs = [state.flipped if flip else state for state in sign_test]
        found = judge(
            {name: row(states) for name, states in turned.items()},
            Rules(),
            row(signs) if known else None,
            {name: adjusted(states) for name, states in turned.items()},
        )
        expected = [
            label_of(c, r, a if known else None, s)
            for c, r, a, s in zip(
                turned["coverage"],
                turned["ranking"],
                turned.get("all queries", whole),
                signs,
                strict=True,
            )
        ]
        assert found.names() == expected
        if not flip:
            plain = found.names()
    assert found.names() == [MIRRORED[label] for label in plain]


def test_labels_stand_from_best_to_worst() -> None:
    directions = [direction_of(label) for label in LABELS]
    assert directions == ["better"] * 4 + ["none"] * 6 + ["worse"] * 4
    assert [label for label in LABELS if is_unconfirmed(label)] == [
        label for label in LABELS if "unconfirmed" in label
    ]
    for label in LABELS:
        assert meaning_of(label).by == meaning_of(MIRRORED[label]).by


def test_the_correction_is_of_each_row() -> None:
    """Holm over two pairs: .03 and .04 are .06 and .06; findings and labels take these."""
    rows = {
        "coverage": RowEstimates(np.array([1, 1]), np.array([0.03, 0.04])),
        "ranking": RowEstimates(np.array([1, 1]), np.array([0.001, 0.9])),
    }
    found = judge(rows, Rules())
    assert found.corrected["coverage"].tolist() == [0.06, 0.06]
    assert found.found["coverage"].tolist() == [0, 0]
    assert found.found["ranking"].tolist() == [1, 0]
    assert judge(rows, Rules(correction="none")).found["coverage"].tolist() == [1, 1]


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
