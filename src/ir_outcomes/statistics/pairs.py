"""All pairs of rows, such as the runs of a leaderboard: differences counted by class, and the tests on all columns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

import numpy as np

from ir_outcomes._types import Floats, Ints
from ir_outcomes.statistics.counts import Classes, Differences, classes, differences, with_signs
from ir_outcomes.statistics.paired import Tests, rank_sum_tests, sign_tests, t_tests, wilcoxon_tests

__all__ = ["Pair", "counted_pairs", "pairwise_tests"]

Counts = TypeVar("Counts")

MOST_SHARED_CLASSES = 512  # with more distinct values than that, each pair of rows gets classes of its own


@dataclass(frozen=True)
class Pair(Generic[Counts]):
    """Two rows, counted by class.

    Attributes
    ----------
    sizes : (n_sizes,) float array
        The sizes of the differences, ascending; the first is 0.
    changes : counts of 2 n_sizes classes
        How often each difference occurs, second row minus first; negative ones after all others.
    distinct : (n_distinct,) float array
        The values, ascending.
    x, y : counts of n_distinct classes
        How often each row has each value.
    """

    sizes: Floats
    changes: Counts
    distinct: Floats
    x: Counts
    y: Counts


def pairwise_tests(rows: Floats) -> dict[str, Tests]:
    """Run the paired t, Wilcoxon signed rank and sign tests, and the rank sum test, on every pair of rows.

    Parameters
    ----------
    rows : (n_rows, n) float array
        Values that are paired by column, such as one measure of many runs on the same queries; NaN where undefined, which
        leaves the column out of the pairs of that row.

    Returns
    -------
    dict of str to Tests
        "t", "wilcoxon", "sign" and "ranksum", as `t_test`, `wilcoxon`, `sign_test` and `rank_sum` define them. Their arrays
        have a value for each pair, in the order of ``itertools.combinations``; the direction is positive where the second
        row's values are larger.

    Examples
    --------
    >>> tests = pairwise_tests(np.array([[1, 2, 3, 4, 5], [2, 2, 5, 7, 9], [2, 3, 4, 5, 6]]))
    >>> tests["t"].pvalue.round(3).tolist(), tests["t"].direction.tolist()
    ([0.047, 0.062, 0.23], [1, 1, -1])
    """
    results: dict[str, list[Tests]] = {"t": [], "wilcoxon": [], "sign": [], "ranksum": []}
    for pair in counted_pairs(np.asarray(rows, dtype=np.float64), _on_all_columns):
        changes = Differences(pair.sizes, *np.split(pair.changes, 2))
        results["t"].append(t_tests(changes))
        results["wilcoxon"].append(wilcoxon_tests(changes))
        results["sign"].append(sign_tests(changes))
        results["ranksum"].append(rank_sum_tests(pair.x, pair.y))
    nothing = Tests(np.empty(0), np.empty(0, dtype=np.int64))  # fewer than two rows have no pair
    return {name: Tests(*map(np.concatenate, zip(nothing, *tests, strict=True))) for name, tests in results.items()}


def counted_pairs(rows: Floats, counted: Callable[[Ints, int], Counts]) -> Iterator[Pair[Counts]]:
    """Put the values and the differences of every pair of rows in classes, and count them.

    Parameters
    ----------
    rows : (n_rows, n) float array
        NaN where undefined.
    counted : function of codes and number of classes
        Counts the classes in some subsets of the columns; the code of a column that does not count is -1.

    Yields
    ------
    Pair
        In the order of ``itertools.combinations``.
    """
    values = None if np.isnan(rows).any() else classes(rows.ravel())
    if values is None or len(values.distinct) > MOST_SHARED_CLASSES:
        return _with_own_classes(rows, counted)
    return _with_shared_classes(Classes(values.code.reshape(rows.shape), values.distinct), counted)


def _with_own_classes(rows: Floats, counted: Callable[[Ints, int], Counts]) -> Iterator[Pair[Counts]]:
    """Put the differences of each pair in classes by themselves."""
    for x, y in combinations(rows, 2):
        defined = ~np.isnan(x) & ~np.isnan(y)
        change = np.zeros(len(defined))
        change[defined] = differences(x[defined], y[defined])
        sizes = classes(np.abs(change))
        both = classes(np.concatenate([x[defined], y[defined]]))
        codes = np.full((2, len(defined)), -1)
        codes[:, defined] = both.code.reshape(2, -1)
        changes = counted(with_signs(sizes, change, defined), 2 * len(sizes.distinct))
        yield Pair(sizes.distinct, changes, both.distinct, *(counted(code, len(both.distinct)) for code in codes))


def _with_shared_classes(rows: Classes, counted: Callable[[Ints, int], Counts]) -> Iterator[Pair[Counts]]:
    """Compute the difference of every two values once, and look up the class of each pair's differences."""
    codes, distinct = rows
    n_values = len(distinct)
    change = differences(np.repeat(distinct, n_values), np.tile(distinct, n_values))
    sizes = classes(np.abs(change))
    n_sizes = len(sizes.distinct)
    counts = [counted(code, n_values) for code in codes]
    for x, y in combinations(range(len(codes)), 2):
        cells = codes[x] * n_values + codes[y]
        size = sizes.code[cells]
        # Only the sizes that occur in this pair: all of them together can be a thousand times as many.
        occurs = np.zeros(n_sizes, dtype=bool)
        occurs[0] = True
        occurs[size] = True
        own = np.cumsum(occurs) - 1
        n_own = int(own[-1]) + 1
        changes = counted(own[size] + n_own * (change[cells] < 0), 2 * n_own)
        yield Pair(sizes.distinct[occurs], changes, distinct, counts[x], counts[y])


def _on_all_columns(code: Ints, n_classes: int) -> Floats:
    return np.bincount(code[code >= 0], minlength=n_classes)[:, None].astype(np.float64)
