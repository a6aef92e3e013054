"""Halves of samples, against the differences of each half counted by itself."""

import numpy as np
import pytest

from ir_outcomes.statistics.counts import Differences, count, membership
from ir_outcomes.statistics.halves import Halves
from ir_outcomes.statistics.kernels import PAIRED

SIZES = np.array([0.0, 0.1, 0.25, 1 / 3, 0.7, 1.0])


def counted(changes: list[np.ndarray], subsets: list[np.ndarray]) -> Differences:
    """Count the differences of some subsets of queries of each sample."""
    tables = []
    for change, members in zip(changes, subsets, strict=True):
        code = np.searchsorted(SIZES, np.abs(change)) + len(SIZES) * (change < 0)
        tables.append(count(code, 2 * len(SIZES), members))
    return Differences.of_counts(SIZES, np.concatenate(tables, axis=1))


def halves_and_expected(changes: list[np.ndarray], splits: int = 6) -> tuple[Halves, Differences]:
    """Split each sample, and count both halves."""
    n = len(changes[0])
    rng = np.random.default_rng(2)
    order = np.argsort(rng.random((splits, n)), axis=1)[:, : n // 2]
    first = [membership(order, n)] * len(changes)
    second = [1 - members for members in first]
    of_first = counted(changes, first)
    of_second = counted(changes, second)
    expected = Differences(
        SIZES,
        np.concatenate([of_first.positive, of_second.positive], axis=1),
        np.concatenate([of_first.negative, of_second.negative], axis=1),
    )
    whole = counted(changes, [np.ones((n, 1), dtype=np.int16)] * len(changes))
    return Halves(of_first, whole), expected


def drawn(n: int, share: float) -> np.ndarray:
    """Draw n differences, of which a share is not zero."""
    rng = np.random.default_rng(n)
    sizes = rng.choice(SIZES[1:], n) * (rng.random(n) < share)
    changes: np.ndarray = sizes * rng.choice([-1, 1, 1], n)
    return changes


@pytest.mark.parametrize("name", PAIRED)
@pytest.mark.parametrize(
    "changes",
    [
        [drawn(21, 0.5), drawn(21, 0.9)],
        [drawn(300, 0.7)],
        [np.full(30, 0.25), drawn(30, 0.1), np.zeros(30)],
        [np.zeros(8)],
    ],
)
def test_every_test_says_the_same(changes: list[np.ndarray], name: str) -> None:
    halves, expected = halves_and_expected(changes)
    found = PAIRED[name](halves, None, False)
    literal = PAIRED[name](expected, None, False)
    assert found.tests.pvalue == pytest.approx(literal.tests.pvalue, rel=1e-12)
    assert found.tests.direction.tolist() == literal.tests.direction.tolist()
    assert found.statistic == pytest.approx(literal.statistic, rel=1e-12, abs=1e-12, nan_ok=True)


def test_samples_of_halves_have_their_counts() -> None:
    halves, expected = halves_and_expected([drawn(40, 0.5), drawn(40, 0.2)])
    some = np.array([0, 7, 12, 23])
    for name in ("positive", "negative"):
        assert (getattr(halves.at(some), name) == getattr(expected.at(some), name)).all()


def test_what_is_nothing_but_rounding_is_zero() -> None:
    """0.1 + 0.2 - 0.3 in the second half, beside a million times 1/3 in the first one."""
    sizes = np.array([0.0, 0.1, 0.2, 0.3, 1 / 3])
    positive = np.array([[0.0], [0.0], [0.0], [0.0], [1e6]])
    negative = np.zeros_like(positive)
    first = Differences(sizes, positive, negative)
    one = np.eye(5)
    whole = Differences(sizes, positive + one[:, [1]] + one[:, [2]], negative + one[:, [3]])
    halves = Halves(first, whole)
    assert abs(halves.sums.up - halves.sums.down)[1] > 1e-12
    assert halves.totals.tolist() == [first.totals[0], 0.0]
