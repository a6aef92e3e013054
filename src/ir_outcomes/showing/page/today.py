"""Rows of the comparisons of today, until they are rows themselves."""

from types import SimpleNamespace
from typing import Any

from ir_outcomes.comparison.margins import against_margins
from ir_outcomes.comparison.result import Comparison


def rows_of_parts(comparison: Comparison, tolerated: Any = None) -> list[Any]:
    """Return the rows of a comparison."""
    margins = {}
    tolerated = tolerated or comparison.settings.margins
    if tolerated is not None:
        for against in against_margins(comparison, tolerated):
            margins[against.facet.name] = SimpleNamespace(
                size=against.margin, interval=against.facet.margin_interval, found=against.status
            )
    rows = []
    for part in comparison.parts:
        part_: Any = part
        name = getattr(part, "name", None) or getattr(part, "measure", "all queries")
        differ = getattr(part, "n_nonzero", getattr(part, "better", 0) + getattr(part, "worse", 0))
        rows.append(
            SimpleNamespace(
                name=name,
                measured_in=getattr(part, "measured_in", name),
                higher_is_better=part.higher_is_better,
                n=part_.n,
                differ=differ,
                better=getattr(part, "better", 0),
                baseline=part.baseline,
                contender=part.contender,
                difference=part.difference,
                interval=part.interval,
                pvalue=part.pvalue,
                pvalue_corrected=getattr(part, "pvalue_corrected", part.pvalue),
                found=part.found,
                margin=margins.get(name),
                new_runs=part.new_runs,
                largest=getattr(part, 'horizon', None),
            )
        )
    return rows


def rows_of_pair(pair: Any) -> list[Any]:
    """Return the rows of a pair of a board."""
    rows = []
    for name, unit, difference, p in (
        ("coverage", "percentage points", pair.coverage, "coverage_p"),
        ("ranking", "ranks", pair.ranking, "ranking_p"),
        ("all queries", "ranks", pair.all_queries, "all_queries_p"),
    ):
        corrected = getattr(pair, f"{p}_corrected")
        gain = (difference or 0) * (1 if name == "coverage" else -1)
        found = "none"
        if corrected <= 0.05:
            found = "better" if gain > 0 else "worse"
        half = abs(difference or 0) + 0.3
        interval = None
        if difference is not None:
            interval = SimpleNamespace(low=difference - half, high=difference + half)
        rows.append(
            SimpleNamespace(
                name=name, measured_in=unit, higher_is_better=name == "coverage", n=54, differ=40,
                better=20, baseline=50.0, contender=50.0 + (difference or 0), difference=difference,
                interval=interval, pvalue=getattr(pair, p), pvalue_corrected=corrected, found=found,
                margin=None, new_runs=None, largest=100,
            )  # fmt: skip
        )
    return rows
