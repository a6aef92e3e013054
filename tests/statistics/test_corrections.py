"""What a family of tests does to a p-value, and when the randomized Tukey HSD cannot be used."""

from typing import Any
from unittest import mock

import numpy as np
import pytest
import scipy.stats
import statsmodels.stats.multitest
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics import adjust, randomized_tukey_hsd, sign_flip
from ir_outcomes.statistics.corrections import first_step_level


def test_the_level_of_the_first_step_is_what_the_smallest_pvalue_must_reach() -> None:
    for correction in ("holm", "bonferroni", "fdr_bh", "none"):
        level = first_step_level(0.05, 8, correction)
        for pvalue, significant in ((0.999 * level, True), (1.001 * level, False)):
            assert (adjust([pvalue] + [0.9] * 7, correction)[0] <= 0.05) == significant
    assert first_step_level(0.05, 3, "tukey") == pytest.approx(0.05 / 3)


def test_tukey_compares_what_two_systems_share_and_refuses_one_that_shares_too_little() -> None:
    rng = np.random.default_rng(5)
    values = rng.normal([0, 0, 1.5, 0], 1.0, (60, 4))
    values[rng.random((60, 4)) < 0.2] = np.nan
    found = randomized_tukey_hsd(values[:, :3], resamples=1999)
    assert found[0, 2] < 0.01
    assert found[0, 1] > 0.05
    two = randomized_tukey_hsd(values[:, :2], resamples=9999)[0, 1]
    both = ~np.isnan(values[:, :2]).any(axis=1)
    assert two == pytest.approx(sign_flip(values[both, 1] - values[both, 0]).pvalue, abs=0.02)
    values[4:, 3] = np.nan
    with pytest.raises(ParameterError, match=r"systems . and 3 \(columns, from 0\) share . queries, .*correction='holm'"):
        randomized_tukey_hsd(values, resamples=999)


pvalues = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(p=pvalues, method=st.sampled_from(["holm", "bonferroni", "fdr_bh"]))
def test_corrections_equal_statsmodels(p: list[float], method: str) -> None:
    with mock.patch("gc.collect"):  # statsmodels calls it each time, half a second in a large process
        expected = statsmodels.stats.multitest.multipletests(p, method=method)[1]
    np.testing.assert_allclose(adjust(p, method), expected, rtol=1e-12)
    assert adjust([], method).tolist() == []
    assert adjust(p, "none").tolist() == p


def tukey_literally(values: np.ndarray[Any, Any], resamples: int) -> np.ndarray[Any, Any]:
    """Carterette 2012, section 4, as printed there: permute within rows, compare with the range of the means."""
    rng = np.random.default_rng(8)
    means = values.mean(axis=0)
    observed = np.abs(means[:, None] - means)
    reached = np.zeros_like(observed)
    for _ in range(resamples):
        shuffled = np.array([rng.permutation(row) for row in values]).mean(axis=0)
        reached += shuffled.max() - shuffled.min() >= observed - 1e-12
    return np.asarray((1 + reached) / (1 + resamples))


def test_randomized_tukey_hsd() -> None:
    values = np.random.default_rng(3).normal([0.0, 0.1, 0.5, 0.9], 1.0, (30, 4))
    found = randomized_tukey_hsd(values, resamples=4999)
    np.testing.assert_allclose(found, tukey_literally(values, 2000), atol=0.03)
    assert np.array_equal(found, found.T)
    assert np.all(np.diag(found) == 1)
    equal = np.repeat(np.arange(9.0)[:, None], 4, axis=1)  # queries on which all systems are equal change nothing but n
    assert np.array_equal(found, randomized_tukey_hsd(np.concatenate([equal, values]), resamples=4999))
    parametric = scipy.stats.tukey_hsd(*values.T).pvalue
    assert np.corrcoef(found[np.triu_indices(4, 1)], parametric[np.triu_indices(4, 1)])[0, 1] > 0.95
