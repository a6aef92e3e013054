"""What a family of tests does to a p-value and to the level of an interval."""

from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.choices import Correction
from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics.families import adjust, level_in_family
from tests.helpers.corrections import multipletests


@given(
    p=st.lists(st.floats(0, 1, allow_subnormal=False), min_size=1, max_size=12),
    method=st.sampled_from(["holm", "bonferroni", "fdr_bh"]),
)
def test_corrections_equal_statsmodels(p: list[float], method: Correction) -> None:
    expected = multipletests(p, method=method)[1]
    np.testing.assert_allclose(adjust(p, method), expected, rtol=1e-12)
    assert adjust([], method).tolist() == []
    assert adjust(p, "none").tolist() == p


@given(
    p=st.lists(st.floats(0, 1), max_size=6),
    absent=st.integers(0, 6),
    method=st.sampled_from(get_args(Correction)),
)
def test_tests_that_could_not_be_made_count_with_p_1(
    p: list[float], absent: int, method: Correction
) -> None:
    size = len(p) + absent
    expected = adjust([*p, *[1.0] * absent], method)[: len(p)]
    assert adjust(p, method, size).tolist() == expected.tolist()


def test_the_level_in_a_family_is_what_the_smallest_pvalue_must_reach() -> None:
    for correction in get_args(Correction):
        level = level_in_family(0.05, 8, correction)
        for pvalue, significant in ((0.999 * level, True), (1.001 * level, False)):
            assert (adjust([pvalue] + [0.9] * 7, correction)[0] <= 0.05) == significant


@pytest.mark.parametrize("pvalues", [[0.2, 1.1], [float("nan")]])
def test_what_is_no_pvalue_is_refused(pvalues: list[float]) -> None:
    with pytest.raises(ParameterError):
        adjust(pvalues, "holm")
