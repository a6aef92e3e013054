"""Resamples, halves, and the orders of systems in them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import stats

from ir_outcomes.choices import Floats, Ints
from ir_outcomes.errors import ParameterError
from ir_outcomes.statistics import resampling


@pytest.mark.parametrize("block", [1 << 21, 64])
def test_means_of_resamples_are_those_of_the_queries_drawn(
    block: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Clusters are drawn whole, and values that are undefined are left out."""
    monkeypatch.setattr(resampling, "_BLOCK", block)
    values = np.random.default_rng(0).random((3, 10))
    values[1, :7] = np.nan
    units = np.array([0, 0, 0, 1, 2, 2, 3, 4, 4, 4])
    means = np.concatenate([*resampling.resampled_means(values, units, 40, seed=5)])
    drawn = np.random.default_rng(5).integers(0, 5, (40, 5))
    for found, clusters in zip(means, drawn, strict=True):
        queries = np.concatenate([np.flatnonzero(units == cluster) for cluster in clusters])
        for mean, own in zip(found, values[:, queries], strict=True):
            known = own[~np.isnan(own)]
            assert mean == pytest.approx(known.mean() if len(known) else np.nan, nan_ok=True)


@pytest.mark.parametrize("clusters", [None, np.arange(21) // 2])
def test_first_halves_have_half_of_the_units(clusters: Ints | None) -> None:
    halves = resampling.first_halves(
        [f"q{n:02d}" for n in range(21)], 50, seed=1, clusters=clusters
    )
    assert halves.shape == (21, 50)
    units = halves if clusters is None else halves[::2]
    assert (units.sum(axis=0) == len(units) // 2).all()
    if clusters is not None:
        assert (halves[:20:2] == halves[1::2]).all()
    assert len(np.unique(halves, axis=1).T) > 40
    with pytest.raises(ParameterError, match="four"):
        resampling.first_halves("abc", 5, seed=1)


means = arrays.arrays(
    np.float64, (3, 6), elements=st.sampled_from([0.1, 0.3, 0.1 + 0.2, 1 / 3, 0.7, np.nan])
)


@given(means)
def test_equal_means_share_the_smaller_rank(gains: Floats) -> None:
    ranks = resampling.shared_ranks(gains)
    rounded = np.where(np.isnan(gains), -9.0, np.round(gains, 9))
    assert (ranks == stats.rankdata(-rounded, method="min", axis=1)).all()


@given(arrays.arrays(np.int64, (4, 7), elements=st.integers(1, 5)))
def test_taus_are_those_of_scipy(ranks: Ints) -> None:
    taus = resampling.kendall_taus(ranks[0], ranks)
    for tau, sample in zip(taus, ranks, strict=True):
        expected = stats.kendalltau(ranks[0], sample).statistic
        assert tau == pytest.approx(expected, nan_ok=True)
