"""The papers' tests: against SciPy, one sample and many subsets, and by hand."""

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from ir_outcomes.statistics import papers


def paired_tests(d: npt.ArrayLike) -> dict[str, papers.Test]:
    kernels = {"t": papers.t_tests, "wilcoxon": papers.signed_ranks, "sign": papers.signs}
    return {name: kernel(d).first(name) for name, kernel in kernels.items()}


differences = st.lists(st.integers(-6, 6), min_size=2, max_size=60)


@given(differences)
def test_paired_tests_are_those_of_scipy(d: list[int]) -> None:
    found = paired_tests(d)
    array = np.array(d, dtype=np.float64)
    positive = int((array > 0).sum())
    n_nonzero = int((array != 0).sum())
    if not n_nonzero:
        assert all(test.pvalue == 1 and test.direction == 0 for test in found.values())
        return
    sign = stats.binomtest(positive, n_nonzero)
    assert found["sign"].pvalue == pytest.approx(sign.pvalue, rel=1e-12)
    assert (found["sign"].statistic, found["sign"].n) == (positive, n_nonzero)
    signed_ranks = stats.wilcoxon(d, correction=False, method="auto")
    assert found["wilcoxon"].pvalue == pytest.approx(signed_ranks.pvalue, rel=1e-6)
    greater = stats.wilcoxon(d, correction=False, method="asymptotic", alternative="greater")
    assert found["wilcoxon"].statistic == pytest.approx(greater.statistic)
    if len(set(d)) == 1:
        assert found["t"].pvalue == 2.0 ** (1 - len(d))
        return
    t = stats.ttest_1samp(d, 0)
    assert found["t"].pvalue == pytest.approx(t.pvalue, rel=1e-9)
    assert found["t"].statistic == pytest.approx(t.statistic)
    assert (found["t"].n, found["t"].direction) == (len(d), np.sign(sum(d)))


@pytest.mark.parametrize(
    ("n", "zeros", "decimals"),
    [(5, 0, 0), (13, 0, 0), (13, 1, 9), (14, 0, 0), (14, 1, 9), (50, 0, 9), (50, 1, 9), (51, 0, 9)],
)
def test_signed_ranks_are_exact_where_those_of_scipy_are(n: int, zeros: int, decimals: int) -> None:
    """Up to 13 values with ties or zeros, and up to 50 without."""
    d = np.random.default_rng(n).normal(1.2, 2, n).round(decimals) + 0.0
    d[:zeros] = 0
    expected = stats.wilcoxon(d, correction=False, method="auto").pvalue
    assert paired_tests(d)["wilcoxon"].pvalue == pytest.approx(expected, rel=1e-9)


def test_five_rises_cannot_be_below_a_sixteenth() -> None:
    assert paired_tests([1.0, 2.5, 3.0, 4.0, 9.0])["wilcoxon"].pvalue == 0.0625


@pytest.mark.parametrize("d", [[], [3.0], [0.0], [0.0, 0.0, 0.0]])
def test_where_there_is_nothing_to_test_p_is_1(d: list[float]) -> None:
    assert {test.pvalue for test in paired_tests(d).values()} == {1.0}


def test_rounding_makes_no_difference() -> None:
    exact = paired_tests([3, 1, 1, -2, 0])
    scale = 0.1
    rounded = paired_tests([0.3, 0.3 - 0.2, 0.1, 0.1 - 0.3, (0.1 + 0.2) - 0.3])
    for name, test in exact.items():
        assert rounded[name].pvalue == pytest.approx(test.pvalue, rel=1e-12)
        assert rounded[name].n == test.n
    equal = paired_tests(np.array([1 / 2 - 1 / 3, 1 / 3 - 1 / 6, scale + 1 / 15]))
    assert equal["t"].pvalue == 0.25
    far = 1e6 + np.array([0.0, 1.0, 2.0, 5.0])
    assert paired_tests(far)["t"].statistic == pytest.approx(
        stats.ttest_1samp(far, 0).statistic, rel=1e-9
    )


@given(st.lists(st.integers(0, 9), max_size=30), st.lists(st.integers(0, 9), max_size=30))
def test_rank_sums_are_those_of_scipy(x: list[int], y: list[int]) -> None:
    found = papers.rank_sum(x, y)
    if not x or not y or len({*x, *y}) == 1:
        assert (found.pvalue, found.statistic) == (1.0, None)
        return
    expected = stats.mannwhitneyu(y, x, method="asymptotic", use_continuity=False)
    assert found.pvalue == pytest.approx(expected.pvalue, rel=1e-9)
    assert found.statistic == expected.statistic
    assert found.n == len(x) + len(y)
    assert papers.rank_sum(y, x).direction == -found.direction


def test_exact_binomials_are_those_of_scipy() -> None:
    won, lost = np.array([(8, 1), (0, 0), (1, 0), (0, 5), (268, 243), (3, 700), (50_000, 49_000)]).T
    many = papers.binomials(won, lost)
    for place, (w, ls) in enumerate(zip(won.tolist(), lost.tolist(), strict=True)):
        one = papers.binomial_test(w, ls)
        expected = stats.binomtest(w, w + ls).pvalue if w + ls else 1.0
        assert one.pvalue == pytest.approx(expected, rel=1e-9)
        assert one.pvalue == many.pvalue[place]
        assert (one.n, one.direction) == (w + ls, np.sign(w - ls))


def test_subsets_are_samples_of_their_own() -> None:
    rng = np.random.default_rng(0)
    x, y = 1 / rng.integers(1, 12, (2, 80))
    d = np.where(rng.random(80) < 0.3, 0, y - x)
    members = (rng.random((80, 12)) < 0.5).astype(np.float64)
    members[:, 0] = 0  # an empty subset
    members[:, 1] = np.arange(80) == 3  # a single query
    many = {
        "t": papers.t_tests(d, members),
        "wilcoxon": papers.signed_ranks(d, members),
        "sign": papers.signs(d, members),
    }
    rank_sums = papers.rank_sums(x, y, members, members)
    for place, chosen in enumerate(members.T > 0):
        one = paired_tests(d[chosen])
        one["ranksum"] = papers.rank_sum(x[chosen], y[chosen])
        for name, subsets in (*many.items(), ("ranksum", rank_sums)):
            assert subsets.pvalue[place] == pytest.approx(one[name].pvalue, rel=1e-9)
            assert subsets.direction[place] == one[name].direction
            assert subsets.n[place] == one[name].n
