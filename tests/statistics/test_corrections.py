"""What a family of tests does to a p-value, and when the randomized Tukey HSD cannot be used."""

from __future__ import annotations

import numpy as np
import pytest

from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics import adjust, randomized_tukey_hsd, sign_flip
from ir_outcomes.statistics.corrections import first_step_level


def test_the_level_of_the_first_step_is_what_the_smallest_pvalue_must_reach() -> None:
    for correction in ("holm", "bonferroni", "fdr_bh", "none"):
        level = first_step_level(0.05, 8, correction)
        for pvalue, significant in ((0.999 * level, True), (1.001 * level, False)):
            assert (adjust([pvalue] + [0.9] * 7, correction)[0] <= 0.05) == significant
    assert first_step_level(0.05, 3, "tukey") == pytest.approx(0.05 / 3)
    for wrong in ((0.05, 3, "sidak"), (2.0, 3, "holm"), (0.05, 0, "holm")):
        with pytest.raises(ParameterError):
            first_step_level(*wrong)


def test_tukey_refuses_a_system_that_shares_too_few_queries() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(0, 1, (60, 4))
    values[:, 1] += 1.0
    alone = randomized_tukey_hsd(values[:, :3], resamples=999)[0, 1]
    assert alone < 0.01
    values[3:, 3] = np.nan
    with pytest.raises(
        ParameterError, match=r"systems 0 and 3 \(columns, from 0\) share 3 queries, others up to 60.*correction='holm'"
    ):
        randomized_tukey_hsd(values, resamples=999)


def test_tukey_is_the_same_with_queries_on_which_all_systems_are_equal() -> None:
    values = np.random.default_rng(3).normal(np.array([0.0, 0.2, 0.4, 0.9]), size=(30, 4))
    equal = np.repeat(np.arange(30.0)[:, None], 4, axis=1)
    found = randomized_tukey_hsd(np.concatenate([equal[:10], values, equal[10:]]), resamples=2999)
    assert np.array_equal(found, randomized_tukey_hsd(values, resamples=2999))
    assert found.min() < 0.05
    assert np.array_equal(randomized_tukey_hsd(equal, resamples=99), np.ones((4, 4)))


def test_tukey_of_one_pair_needs_no_overlap_with_others() -> None:
    values = np.random.default_rng(2).normal(0, 1, (40, 2))
    values[12:, 1] = np.nan
    found = randomized_tukey_hsd(values, resamples=4999)[0, 1]
    assert found == pytest.approx(sign_flip(values[:12, 1] - values[:12, 0]).pvalue, abs=0.03)
