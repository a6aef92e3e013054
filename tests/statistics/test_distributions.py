"""What replaces `scipy.stats` equals it."""

import itertools
import math
import subprocess
import sys

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

from ir_outcomes.statistics.kernels import binomial_cdf, binomial_tests
from ir_outcomes.statistics.old_power import binomial_chances
from ir_outcomes.statistics.signflips import subset_sums


@given(won=st.integers(0, 6000), lost=st.integers(0, 6000))
def test_binomial_pvalue(won: int, lost: int) -> None:
    if won + lost:
        expected = scipy.stats.binomtest(won, won + lost).pvalue
        assert float(binomial_tests(won, lost).pvalue) == pytest.approx(expected, rel=1e-12)


@given(
    n=st.integers(0, 200),
    share=st.one_of(st.sampled_from([0.0, 1e-9, 0.5, 1.0]), st.floats(1e-6, 1 - 1e-6)),
)
def test_binomial_chances_and_sums(n: int, share: float) -> None:
    chances = binomial_chances(n, share)
    np.testing.assert_allclose(
        chances, scipy.stats.binom.pmf(np.arange(n + 1), n, share), rtol=1e-12, atol=1e-300
    )
    k = np.arange(-1, n + 1)
    sums = binomial_cdf(k, np.full(len(k), n), share)
    np.testing.assert_allclose(sums, scipy.stats.binom.cdf(k, n, share), rtol=1e-12, atol=1e-290)


@given(sizes=st.lists(st.integers(0, 12), max_size=9), limit=st.integers(0, 40))
def test_subset_sums_equal_enumeration(sizes: list[int], limit: int) -> None:
    sums = [
        sum(subset) for n in range(len(sizes) + 1) for subset in itertools.combinations(sizes, n)
    ]
    counts, exponent = subset_sums(sizes, limit)
    assert exponent == 0
    assert counts.tolist() == [sums.count(total) for total in range(limit + 1)]


def test_subset_sums_of_thousands_do_not_overflow() -> None:
    counts, exponent = subset_sums([1] * 3000, 1500)
    for k in (0, 700, 1500):
        found = math.log2(counts[k]) + exponent if counts[k] else -math.inf
        assert found == pytest.approx(math.log2(math.comb(3000, k)), rel=1e-13) or k == 0


def test_a_comparison_imports_no_large_part_of_scipy() -> None:
    code = """
import sys, ir_outcomes
ranking = lambda rank: {"gold" if place == rank else str(place): -place for place in range(9)}
run = lambda *ranks: {str(query): ranking(rank) for query, rank in enumerate(ranks)}
qrels = {str(q): {"gold": 1} for q in range(6)}
print(ir_outcomes.compare(qrels, run(0, 1, 3, 9, 2, 9), run(1, 1, 9, 0, 7, 9)).verdict.label, file=sys.stderr)
print(*(name for name in ("scipy.stats", "scipy.optimize", "pandas", "matplotlib") if name in sys.modules))
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == ""
    assert "no significant difference" in result.stderr
