"""Seeded resamples and halves of the queries of a board."""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from ir_outcomes.choices import Floats, Ints, divided
from ir_outcomes.errors import ParameterError

ROUNDING = 1e-12  # means of the same values, added in another order, differ by at most this share
_BLOCK = 1 << 21  # numbers in a block of resamples: 400 of 5,000 queries


def resampled_means(values: Floats, units: Ints, resamples: int, seed: int) -> Iterator[Floats]:
    """Draw units with replacement, and yield means in blocks of resamples.

    A mean, of which a block has (size, n_runs), is over the queries where a run has a value (not
    NaN), each as often as its unit (0, 1, ...) was drawn; NaN where there are none.
    """
    defined = ~np.isnan(values)
    filled = np.where(defined, values, 0.0)
    rng = np.random.default_rng(seed)
    n_units = int(units.max()) + 1
    size = max(1, _BLOCK // len(units))
    for start in range(0, resamples, size):
        drawn = rng.integers(0, n_units, (min(size, resamples - start), n_units))
        times = [np.bincount(units_drawn, minlength=n_units)[units] for units_drawn in drawn]
        weights = np.array(times, dtype=np.float64)
        with threadpool_limits(1, "blas"):  # threads wait for each other
            numbers = weights @ defined.T.astype(np.float64)
            sums = weights @ filled.T
        yield divided(sums, numbers, numbers > 0)


def units_drawn(query_ids: Sequence[str], clusters: Ints | None) -> Ints:
    """(n,) numbers of what is drawn: clusters, or queries in the order of their ids."""
    if clusters is not None:
        numbered: Ints = np.unique(clusters, return_inverse=True)[1]
        return numbered
    # The same queries are drawn whatever the order of the qrels is.
    number = {query: index for index, query in enumerate(sorted(query_ids))}
    return np.array([number[query] for query in query_ids], dtype=np.int64)


def first_halves(
    query_ids: Sequence[str], splits: int, seed: int, clusters: Ints | None = None
) -> Floats:
    """(n, splits) 0 and 1: first halves of the queries, clusters whole."""
    unit = units_drawn(query_ids, clusters)
    n_units = int(unit.max(initial=-1)) + 1
    if n_units < 4:
        kind = "queries" if clusters is None else "clusters of queries"
        raise ParameterError(
            f"{n_units} {kind} cannot be split in halves that can be tested; at least four are"
            " needed"
        )
    order = np.argsort(np.random.default_rng(seed).random((splits, n_units)), axis=1)
    members = np.zeros((n_units, splits))
    members[order[:, : n_units // 2], np.arange(splits)[:, None]] = 1
    return members[unit]


def shared_ranks(gains: npt.ArrayLike) -> Ints:
    """Rank means from 1, the highest first, where equal ones share the smaller.

    Undefined means, NaN, are last.
    """
    means = np.asarray(gains, dtype=np.float64)
    slack = ROUNDING * np.abs(np.nan_to_num(means)).max(axis=1, initial=0.0)
    means = np.where(np.isnan(means), -np.inf, means)
    higher = [(means > (system + slack)[:, None]).sum(axis=1) for system in means.T]
    return 1 + np.stack(higher, axis=1)


def kendall_taus(values: npt.ArrayLike, samples: npt.ArrayLike) -> Floats:
    """Kendall's tau-b of (n,) values with (n_samples, n) samples."""
    # `scipy.stats.kendalltau` takes one pair of orders per call.
    signs = _signs(np.asarray(values))
    taus = []
    for sample in map(_signs, np.asarray(samples)):
        untied = np.sum(signs**2) * np.sum(sample**2)
        taus.append(np.sum(signs * sample) / np.sqrt(untied) if untied else np.nan)
    return np.array(taus, dtype=np.float64)


def _signs(values: npt.NDArray[np.generic]) -> Floats:
    """The signs of the differences of all pairs."""
    numbers = values.astype(np.float64)
    return np.sign(numbers[:, None] - numbers)
