"""The columns of comparisons and of their queries, in rows, CSV, frames and tables."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

from ir_outcomes.comparison.facets import MeasureMeans, Tested, known_p
from ir_outcomes.evaluation.lengths import OUTCOMES
from ir_outcomes.table_columns import (
    NUMBER,
    PERCENT,
    PVALUE,
    Better,
    Column,
    Form,
    attributes,
    decimals,
    of_part,
    signed,
    signed_interval,
)
from ir_outcomes.types import LENGTHS, RANKS, level_unit


def query_columns(measured_in: str = RANKS) -> tuple[Column, ...]:
    """Return the columns of queries, with the unit of their search lengths."""
    share = "share of the relevant documents"
    length = level_unit(measured_in)
    return (
        Column("query_id", heading="query"),
        Column("outcome"),
        Column("found_baseline", heading="found A", form=decimals(2), unit=share, better="higher"),
        Column("found_contender", heading="found B", form=decimals(2), unit=share, better="higher"),
        Column("baseline", heading="length A", form=decimals(2), unit=length, better="lower"),
        Column("contender", heading="length B", form=decimals(2), unit=length, better="lower"),
        Column("difference", heading="change", form=signed(2), unit=measured_in, better="lower"),
        *attributes("restricted", "text", "cluster"),
    )


def columns_of(comparisons: Sequence[Any]) -> tuple[Column, ...]:
    """Return the columns of comparisons, with the units of their facets."""
    first = comparisons[0] if comparisons else None
    unit = RANKS if first is None else first.ranking.measured_in
    measure = "" if unit in LENGTHS else unit
    cutoffs = sorted({at.cutoff for item in comparisons for at in item.cutoffs})
    parts = [*_facet_columns("coverage", "points", "higher", 2)]
    if measure and first is not None:
        better: Better = "higher" if first.ranking.higher_is_better else "lower"
        parts += _facet_columns("ranking", measure, better, 4)
    else:
        parts += _facet_columns("ranking", unit, "lower", 2)
        parts += _means_columns("reciprocal", "wilcoxon", "t")
    parts.append(Column("ranking_ratio", "ranking.ratio", "B / A", decimals(2), better="lower"))
    if first is None or first.restricted is not None:
        parts += _restricted_columns(unit)
    if not any(item.coverage.new_runs for item in comparisons):
        parts = [column for column in parts if not column.name.endswith("_new_runs")]
    return (
        *attributes("baseline", "contender"),
        Column("n_queries", heading="queries", form=NUMBER),
        *attributes("n_unanswerable", "cutoff", "rel", "unit", "ties"),
        *(Column(outcome, f"outcomes.{outcome}", form=NUMBER) for outcome in OUTCOMES),
        *(
            Column(f"{outcome}_share", f"outcomes.shares.{outcome}", outcome, PERCENT)
            for outcome in OUTCOMES
        ),
        *attributes("lost_at=outcomes.lost_at", "won_at=outcomes.won_at"),
        *parts,
        *_means_columns("naive", "ranksum", "wilcoxon", "t"),
        *(measure_columns(first.measures) if first else ()),
        *of_part("settings", attributes("alpha", "correction", "family")),
        Column("verdict", "verdict.label"),
        *of_part(
            "verdict",
            attributes("direction", "strict", "do_no_harm", "guard", "non_inferior", "equivalent"),
        ),
        *(_RUNS_COLUMNS if any(item.of_several_runs for item in comparisons) else ()),
        *(Column(f"verdict_at_{cutoff}", _label_at(cutoff)) for cutoff in cutoffs),
    )


def _facet_columns(
    name: Literal["coverage", "ranking"], unit: str, better: Better, places: int
) -> tuple[Column, ...]:
    return (
        Column(f"{name}_n", f"{name}.n", "n", NUMBER),
        Column(f"{name}_n_nonzero", f"{name}.n_nonzero", "differ", NUMBER),
        Column(f"{name}_baseline", f"{name}.baseline", "A", decimals(places)),
        Column(f"{name}_contender", f"{name}.contender", "B", decimals(places)),
        Column(f"{name}_difference", f"{name}.difference", name, signed(places), unit, better),
        Column(name, f"{name}.interval", name, signed_interval(places), unit, better),
        *attributes(f"{name}_effect={name}.effect_size", f"{name}_test={name}.test"),
        _new_runs_column(name, name, signed_interval(places), unit, better),
        *of_part(name, _PVALUES, f"{name}_"),
        *attributes(f"{name}_detectable={name}.detectable"),
    )


def _restricted_columns(unit: str) -> tuple[Column, ...]:
    heading = "all queries"
    form = signed_interval(2)
    return (
        Column("restricted_difference", "restricted.difference", heading, signed(2), unit, "lower"),
        Column("restricted", "restricted.interval", heading, form, unit, "lower"),
        _new_runs_column("restricted", heading, form, unit, "lower"),
        Column("restricted_p", "restricted.test.pvalue", "raw p", PVALUE),
        Column("restricted_p_corrected", "restricted.pvalue_corrected", "p", PVALUE),
        *of_part("restricted", attributes("both", "won", "lost"), "restricted_"),
        Column("won_and_lost_p", "restricted.won_and_lost_test.pvalue", "p", PVALUE),
        *of_part("restricted", attributes("better", "worse", "equal"), "queries_"),
    )


def _new_runs_column(part: str, heading: str, form: Form, unit: str, better: Better) -> Column:
    """Return the column of an interval for new runs."""
    return Column(
        f"{part}_new_runs", f"{part}.new_runs", f"{heading}, new runs", form, unit, better
    )


def _means_columns(name: Literal["reciprocal", "naive"], *tests: str) -> tuple[Column, ...]:
    pvalues = [Column(f"p_{test}", _pvalue_of(test), form=PVALUE) for test in tests]
    means = attributes("baseline", "contender", "difference")
    return of_part(name, (*means, *pvalues), f"{name}_")


def _pvalue_of(test: str) -> Callable[[Tested], float | None]:
    return lambda tested: known_p(tested.difference, tested.tests[test].pvalue)


_PVALUES = (
    Column("p", lambda facet: known_p(facet.difference, facet.pvalue), "raw p", PVALUE),
    Column(
        "p_corrected", lambda facet: known_p(facet.difference, facet.pvalue_corrected), "p", PVALUE
    ),
)


def measure_columns(measures: Sequence[MeasureMeans]) -> tuple[Column, ...]:
    """Return the columns of measures, of items that have such `measures`."""
    return tuple(
        column
        for place, means in enumerate(measures)
        for column in _columns_of_measure(place, means)
    )


def _columns_of_measure(place: int, means: MeasureMeans) -> tuple[Column, ...]:
    name = means.measure
    better: Better = "higher" if means.higher_is_better else "lower"
    columns = [
        Column(f"{name}_baseline", "baseline", "A", decimals(4)),
        Column(f"{name}_contender", "contender", "B", decimals(4)),
        Column(f"{name}_difference", "difference", "B - A", signed(4), better=better),
        Column(name, "interval", form=signed_interval(4), better=better),
        Column(f"{name}_new_runs", "new_runs", form=signed_interval(4), better=better),
        Column(f"{name}_p", "pvalue", "p", PVALUE),
    ]
    if means.new_runs is None:
        columns = [column for column in columns if column.value != "new_runs"]
    return of_part(lambda item: item.measures[place] if item.measures else None, columns)


_RUNS_COLUMNS = (
    Column("runs_baseline", lambda item: item.n_runs[0], "runs A", NUMBER),
    Column("runs_contender", lambda item: item.n_runs[1], "runs B", NUMBER),
    Column("holds_for_new_runs", "verdict.new_runs", "new runs"),
)


def _label_at(cutoff: int) -> Callable[[Any], str | None]:
    return lambda item: next((at.label for at in item.cutoffs if at.cutoff == cutoff), None)


def names_of(comparison: Any) -> tuple[str, str]:
    """Return what the ranking facet and the facet of its reciprocals are called beside the columns of the paper."""
    if comparison.reciprocal is None:
        return comparison.ranking.measured_in, ""
    if comparison.unit == "query":
        return "ESL", "RR"
    return "ASL", "reciprocal ASL"


def paper_columns(first: Any) -> tuple[Column, ...]:
    """Return the columns of Tables 1 and 2 of Lin et al. 2021; p-values are raw, as in the paper."""
    on_ranks = first.reciprocal is not None
    length, reciprocal = names_of(first)
    one = "(2) one run finds"
    both = "(3) both find"
    naive = "MRR" if on_ranks else "mean"
    of_naive = (
        Column("wrs_p", _pvalue_of("ranksum"), "WRS p", PVALUE, group=naive),
        Column("wsr_p", _pvalue_of("wilcoxon"), "WSR p", PVALUE, group=naive),
        Column("t_p", _pvalue_of("t"), "t p", PVALUE, group=naive),
    )
    return (
        Column("A", "baseline", group="Runs"),
        Column("B", "contender", group="Runs"),
        Column("delta", "naive.difference", "difference", signed(4), group=naive),
        *of_part("naive", of_naive, "naive_"),
        Column("neither", "outcomes.shares.neither", "all", PERCENT, group="(1) neither"),
        Column("a_wins", "outcomes.shares.lost", "A wins", PERCENT, group=one),
        Column("b_wins", "outcomes.shares.won", "B wins", PERCENT, group=one),
        Column("coverage_p", "coverage.pvalue", "p", PVALUE, group=one),
        Column("both", "outcomes.shares.both", "all", PERCENT, group=both),
        *of_part("ranking", _paper_facet(length, 2 if on_ranks else 4, both)),
        *(of_part("reciprocal", _paper_facet(reciprocal, 4, both)) if on_ranks else ()),
        Column("verdict", "verdict.label"),
    )


def _paper_facet(measure: str, places: int, group: str) -> tuple[Column, ...]:
    key = measure.lower().replace(" ", "_")
    wilcoxon = _pvalue_of("wilcoxon")
    return (
        Column(f"a_{key}", "baseline", f"A {measure}", decimals(places), group=group),
        Column(f"b_{key}", "contender", f"B {measure}", decimals(places), group=group),
        Column(f"{key}_wsr_p", wilcoxon, f"{measure} WSR p", PVALUE, group=group),
        Column(f"{key}_t_p", _pvalue_of("t"), f"{measure} t p", PVALUE, group=group),
    )
