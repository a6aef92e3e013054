"""Unweighted means of a row over independent conditions, such as collections."""

import math
from collections.abc import Hashable, Sequence
from typing import NamedTuple, Self

import numpy as np

from ir_outcomes.choices import Floats, divided
from ir_outcomes.pairs.differences import Quantity
from ir_outcomes.pairs.rows import Row, RowOfPairs, RowsOfPairs
from ir_outcomes.statistics.estimate import estimates_of_means


class RowInConditions(NamedTuple):
    """One row in several conditions: (conditions, pairs) arrays, NaN without one."""

    baseline: Floats
    contender: Floats
    difference: Floats
    standard_error: Floats  # NaN where a condition does not enter: fewer than two units
    df: Floats
    differ: Floats
    largest: Floats
    unseen: Floats

    @classmethod
    def of(cls, rows: Sequence[Sequence[Row | None]]) -> Self:
        """Take the rows of each condition, None where a pair is not compared."""
        columns = (
            [[_number(row, name) for row in of_condition] for of_condition in rows]
            for name in cls._fields
        )
        return cls(*(np.array(column, dtype=np.float64) for column in columns))

    @classmethod
    def of_pairs(cls, rows: Sequence[RowOfPairs]) -> Self:
        """Take the rows of the same pairs in each condition."""
        columns = [
            (
                *(row.baseline, row.contender),
                *(row.estimates.mean, row.estimates.standard_error, row.estimates.df),
                *(row.differ, np.full(len(row.n), _number(row.quantity, "largest"))),
                row.estimates.unseen,
            )
            for row in rows
        ]
        return cls(*map(np.stack, zip(*columns, strict=True)))


def _number(row: Row | Quantity | None, name: str) -> float:
    value = None if row is None else getattr(row, name)
    return math.nan if value is None else float(value)


class RowOfMeans(NamedTuple):
    """The means of a row over the conditions that enter it."""

    row: RowOfPairs  # n counts conditions, or groups of them; differ and better those of its kind
    groups: Floats  # (groups, pairs) difference of each group of conditions, NaN without one
    largest: Floats  # (pairs,) mean of K


def mean_over_conditions(
    quantity: Quantity, conditions: RowInConditions, groups: Sequence[Hashable], alpha: float
) -> RowOfMeans:
    """Average a row over conditions, those of one group first.

    SE^2 is the sum of the squared standard errors, each with its squared weight; the degrees of
    freedom are those of Welch 1947 and Satterthwaite 1946.
    """
    entered = ~np.isnan(conditions.standard_error)
    numbers = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    codes = np.array([numbers[group] for group in groups])
    members = (codes == np.arange(len(numbers))[:, None]).astype(np.float64)
    size = members @ entered
    share = divided(1.0, size, size > 0, 0.0)
    n_groups = np.count_nonzero(size, axis=0)
    weights = entered * (members.T @ share) / np.maximum(n_groups, 1)

    def averaged(values: Floats) -> Floats:
        sums = (weights * np.where(entered, values, 0.0)).sum(axis=0)
        return np.where(n_groups > 0, sums, np.nan)

    differ = np.where(entered, conditions.differ, 0.0)
    variances = np.where(differ > 0, weights * conditions.standard_error, 0.0) ** 2
    total = variances.sum(axis=0)
    below = (variances**2 / np.where(entered, conditions.df, 1.0)).sum(axis=0)
    largest = averaged(conditions.largest)
    estimate = estimates_of_means(
        averaged(conditions.difference),
        np.where(n_groups > 0, np.sqrt(total), np.nan),
        divided(total**2, below, below > 0, 1.0),
        differ=differ.sum(axis=0),
        alpha=alpha,
        largest=largest,
        unseen=averaged(conditions.unseen),
    )
    of_groups = members @ np.where(entered, conditions.difference, 0.0) * share
    counts = n_groups, np.count_nonzero(of_groups, axis=0), np.sum(of_groups > 0, axis=0)
    levels = averaged(conditions.baseline), averaged(conditions.contender)
    row = RowOfPairs.estimated(quantity, counts, levels, estimate, alpha)
    return RowOfMeans(row, np.where(size > 0, of_groups, np.nan), largest)


def means_over_conditions(
    conditions: Sequence[RowsOfPairs], groups: Sequence[Hashable], alpha: float
) -> RowsOfPairs:
    """Average the rows of the same pairs over conditions, each pair by itself."""
    first = conditions[0]
    rows = {}
    for name, row in first.rows.items():
        in_conditions = RowInConditions.of_pairs([pairs.rows[name] for pairs in conditions])
        rows[name] = mean_over_conditions(row.quantity, in_conditions, groups, alpha).row
    identical = np.all([pairs.identical for pairs in conditions], axis=0)
    return RowsOfPairs(first.systems, identical, rows, {})
