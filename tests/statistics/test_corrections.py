"""What a family of tests does to a p-value."""

from unittest import mock

import numpy as np
import statsmodels.stats.multitest
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.statistics import adjust
from ir_outcomes.statistics.corrections import first_step_level


def test_the_level_of_the_first_step_is_what_the_smallest_pvalue_must_reach() -> None:
    for correction in ("holm", "bonferroni", "fdr_bh", "none"):
        level = first_step_level(0.05, 8, correction)
        for pvalue, significant in ((0.999 * level, True), (1.001 * level, False)):
            assert (adjust([pvalue] + [0.9] * 7, correction)[0] <= 0.05) == significant


pvalues = st.lists(st.floats(0, 1), min_size=1, max_size=12)


@given(p=pvalues, method=st.sampled_from(["holm", "bonferroni", "fdr_bh"]))
def test_corrections_equal_statsmodels(p: list[float], method: str) -> None:
    # Statsmodels calls it each time, half a second in a large process.
    with mock.patch("gc.collect"):
        expected = statsmodels.stats.multitest.multipletests(p, method=method)[1]
    np.testing.assert_allclose(adjust(p, method), expected, rtol=1e-12)
    assert adjust([], method).tolist() == []
    assert adjust(p, "none").tolist() == p
