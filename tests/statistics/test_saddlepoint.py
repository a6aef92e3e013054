from __future__ import annotations

import numpy as np
import pytest

from ir_outcomes.statistics import mean_tests, sign_flip_tests, tally_rows
from ir_outcomes.statistics.signflips import approximate_sign_flips, far_from


def heavy_tailed(n_samples: int, n: int, seed: int) -> np.ndarray:
    """Differences of search lengths: mostly small, some large, some 0."""
    rng = np.random.default_rng(seed)
    sizes = np.exp(rng.normal(0, rng.uniform(0.2, 1.5, (n_samples, 1)), (n_samples, n)))
    shift = rng.uniform(-0.9, 0.9, (n_samples, 1))
    return sizes * np.sign(rng.normal(shift, 1, (n_samples, n))) * (rng.random((n_samples, n)) < 0.9)


@pytest.mark.parametrize("n", [8, 14, 24])
@pytest.mark.parametrize("level", [0.01, 0.05, 0.1])
def test_p_values_that_are_far_are_on_the_right_side(n: int, level: float) -> None:
    samples = tally_rows(heavy_tailed(60, n, seed=n))
    exact, approximate = sign_flip_tests(samples).pvalue, approximate_sign_flips(samples)
    far = far_from((level, level), samples, approximate)
    assert ((exact <= level) == (approximate <= level))[far].all()
    if n > 8:
        assert far.any()
    for tests in (
        sign_flip_tests(samples, (level, level), labels_only=True),
        mean_tests(samples, (level, level), labels_only=True),
    ):
        assert ((tests.pvalue <= level) == (exact <= level)).all()


def test_whole_numbers() -> None:
    rows = np.random.default_rng(5).integers(-2, 3, (80, 20)).astype(np.float64)
    samples = tally_rows(rows)
    exact = sign_flip_tests(samples).pvalue
    assert ((sign_flip_tests(samples, (0.05, 0.05), labels_only=True).pvalue <= 0.05) == (exact <= 0.05)).all()


def test_edges() -> None:
    samples = tally_rows([[0.0] * 6, [1.0] * 6, [1.0, -1.0] * 3, [5.0, 0, 0, 0, 0, 0]])
    approximate = approximate_sign_flips(samples)
    assert np.isfinite(approximate).tolist() == [True, False, True, False]  # the largest sums have no saddlepoint
    assert approximate[2] == pytest.approx(1.0)
    assert sign_flip_tests(samples, (0.05, 0.05), labels_only=True).pvalue.tolist() == [1.0, 2.0**-5, 1.0, 1.0]


def test_labels_of_differences_in_one_direction_are_those_of_exact_pvalues() -> None:
    """The largest possible sum has no saddlepoint: the approximation gave 1 for differences that all have one sign."""
    rng = np.random.default_rng(3)
    changes = rng.uniform(0.5, 3, (40, 14))
    changes[20:, 0] *= -0.01  # the sum is near the largest one
    samples = tally_rows(changes)
    exact = sign_flip_tests(samples).pvalue
    labels = sign_flip_tests(samples, (0.05, 0.05), labels_only=True).pvalue
    assert (exact <= 0.05).all()
    assert (labels <= 0.05).all()
