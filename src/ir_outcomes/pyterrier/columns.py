"""The columns of an experiment's frame: means, changes against a baseline with tests, facets and verdicts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ir_outcomes._types import Bools, Floats
from ir_outcomes.comparison import Comparison, Comparisons
from ir_outcomes.errors import MissingDependency, ParameterError
from ir_outcomes.statistics import adjust, differences, paired_tests

__all__ = ["Values", "changes", "facets", "highlighted", "known_correction", "mean", "rounded"]

Values = Mapping[str, float]  # of a measure, by query

# Names that statsmodels gives to the corrections that this package has, too.
_SAME = {
    "b": "bonferroni", "bonf": "bonferroni", "bonferroni": "bonferroni", "h": "holm", "holm": "holm", "fdr_bh": "fdr_bh",
    "fdr_i": "fdr_bh", "fdr_p": "fdr_bh", "fdri": "fdr_bh", "fdrp": "fdr_bh", "none": "none",
}  # fmt: skip
STYLES = {"bold": "font-weight: bold", "color": "background-color: lightgreen", "colour": "background-color: lightgreen"}


def known_correction(name: str | None) -> str:
    """Return our name of a correction, or that of statsmodels for one which only statsmodels has.

    Raises
    ------
    ParameterError
        If there is no such correction.
    MissingDependency
        If statsmodels is needed and not installed.
    """
    if name is None or name in _SAME:
        return _SAME[name or "none"]
    try:
        from statsmodels.stats.multitest import multitest_alias
    except ImportError:
        raise MissingDependency(
            f"correction={name!r} needs statsmodels: pip install statsmodels; holm, bonferroni and fdr_bh do not"
        ) from None
    if name not in multitest_alias:
        raise ParameterError(f"correction={name!r}: must be one of {', '.join(dict.fromkeys([*_SAME, *multitest_alias]))}")
    return name


def mean(measure: Any, values: Values, judged: set[str]) -> float:
    """Average the values of a measure as ir_measures does, over the queries of the qrels."""
    total = measure.aggregator()
    for query, value in values.items():
        if query in judged:  # PyTerrier adds NaN for topics without qrels
            total.add(value)
    return float(total.result())


def rounded(values: Sequence[float], name: str, places: int | Mapping[str, int] | None) -> list[float]:
    """Round the means of a measure where that is asked for."""
    chosen = places.get(name) if isinstance(places, Mapping) else places
    return list(values) if chosen is None else [float(np.round(value, chosen)) for value in values]


def changes(
    name: str,
    measure: Any,
    values: Sequence[Values],
    base: int,
    judged: set[str],
    *,
    test: str,
    correction: str,
    alpha: float,
) -> dict[str, list[Any]]:
    """Make PyTerrier's columns of a measure, in its own direction, over the queries on which both systems have a value."""
    queries = [query for query in values[base] if query in judged]
    of_systems = np.array([[of_system.get(query, np.nan) for query in queries] for of_system in values], dtype=np.float64)
    sign = 1 if getattr(measure, "HIGHER_IS_BETTER", True) else -1
    better, worse, pvalues = [], [], []
    for row in of_systems:
        both = np.isfinite(of_systems[base]) & np.isfinite(row)
        change = sign * differences(of_systems[base][both], row[both])
        better.append(int(np.sum(change > 0)))
        worse.append(int(np.sum(change < 0)))
        pvalues.append(paired_tests(change)[test].pvalue)
    columns: dict[str, list[Any]] = {
        f"{name} {heading}": [np.nan if place == base else float(value) for place, value in enumerate(column)]
        for heading, column in (("+", better), ("-", worse), ("p-value", pvalues))
    }
    if correction != "none":
        rejected, corrected = _corrected([*pvalues[:base], *pvalues[base + 1 :]], correction, alpha)
        columns[f"{name} reject"] = np.insert(rejected, base, False).tolist()
        columns[f"{name} p-value corrected"] = np.insert(corrected, base, np.nan).tolist()
    return columns


def _corrected(pvalues: list[float], correction: str, alpha: float) -> tuple[Bools, Floats]:
    if correction in _SAME.values():
        corrected = adjust(pvalues, correction)
        return corrected <= alpha, corrected
    from statsmodels.stats.multitest import multipletests

    with np.errstate(divide="ignore"):  # Sidak's takes the logarithm of 1 - p, where p can be 1
        rejected, corrected = multipletests(pvalues, alpha=alpha, method=correction)[:2]
    return rejected, corrected


def facets(result: Comparisons, base: int, *, corrected: bool) -> dict[str, list[Any]]:
    """Make the columns of the two facets and the verdict."""
    items: list[Comparison | None] = list(result)
    items.insert(base, None)
    pvalue = "p-value corrected" if corrected else "p-value"

    def column(value: Callable[[Comparison], float | None]) -> list[float]:
        values = [None if item is None else value(item) for item in items]
        return [np.nan if found is None else found for found in values]

    return {
        "coverage difference": column(lambda item: item.coverage.difference),
        f"coverage {pvalue}": column(lambda item: item.coverage.pvalue_corrected),
        "ranking difference": column(lambda item: item.ranking.difference),
        f"ranking {pvalue}": column(lambda item: item.ranking.pvalue_corrected),
        "verdict": [None if item is None else item.verdict.label for item in items],
    }


def highlighted(frame: Any, measures: Mapping[str, Any], how: str) -> Any:
    """Mark the best value of each measure, which is the smallest one for a search length; returns a Styler of pandas.

    Raises
    ------
    MissingDependency
        If pandas cannot style frames because Jinja2 is not installed.
    """
    directions = {name: getattr(measure, "HIGHER_IS_BETTER", True) for name, measure in measures.items()}
    directions["answered"] = True

    def styles(column: Any) -> list[str]:
        best = column.max() if directions[column.name] else column.min()
        return [STYLES[how] if value == best else "" for value in column]

    try:
        return frame.style.apply(styles, axis=0, subset=[name for name in frame.columns if name in directions])
    except (ImportError, AttributeError):
        raise MissingDependency("highlight needs Jinja2: pip install jinja2") from None
