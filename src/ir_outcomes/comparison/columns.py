"""The columns of comparisons and of their queries."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from ir_outcomes.choices import LENGTHS, OUTCOMES, POINTS, RANKS, level_unit
from ir_outcomes.formatting import places_of
from ir_outcomes.pairs.rows import Row
from ir_outcomes.table_columns import (
    NUMBER,
    PERCENT,
    PVALUE,
    Better,
    Column,
    attributes,
    decimals,
    of_part,
    signed,
    signed_interval,
)


def query_columns(measured_in: str = RANKS) -> tuple[Column, ...]:
    """The columns of queries, with the unit of their search lengths."""
    share = "share of the relevant documents"
    unit = level_unit(measured_in)
    value = "length "
    better: Better = "lower"
    if measured_in not in LENGTHS:  # a measure, of whose values those above zero are answers
        share, value, better = "1 where the value is above zero", "", ""
    form, change = decimals(places_of(measured_in)), signed(places_of(measured_in))
    return (
        Column("query_id", heading="query"),
        Column("outcome"),
        Column("found_baseline", heading="found A", form=decimals(2), unit=share, better="higher"),
        Column("found_contender", heading="found B", form=decimals(2), unit=share, better="higher"),
        Column("baseline", heading=f"{value}A", form=form, unit=unit, better=better),
        Column("contender", heading=f"{value}B", form=form, unit=unit, better=better),
        Column("difference", heading="change", form=change, unit=measured_in, better=better),
        *attributes("all_queries", "text", "cluster"),
    )


def columns_of(comparisons: Sequence[Any]) -> tuple[Column, ...]:
    """The columns of comparisons, with the units of their rows."""
    first = comparisons[0] if comparisons else None
    cutoffs = sorted({at.cutoff for item in comparisons for at in item.cutoffs})
    parts: list[Column] = []
    if first is not None:
        parts += row_columns("coverage", first.coverage)
        parts += row_columns("ranking", first.ranking)
        if first.all_queries is not None:
            parts += row_columns("all_queries", first.all_queries)
        parts += measure_columns(first.measures)
        parts += _reciprocal_columns(first)
    return (
        *attributes("baseline", "contender"),
        Column("n_queries", heading="queries", form=NUMBER),
        *attributes("n_unanswerable", "cutoff", "rel", "unit", "ties"),
        *(Column(outcome, f"outcomes.{outcome}", form=NUMBER) for outcome in OUTCOMES),
        *(
            Column(f"{outcome}_share", f"outcomes.shares.{outcome}", outcome, PERCENT)
            for outcome in OUTCOMES
        ),
        *parts,
        *of_part("settings", attributes("alpha", "correction", "family")),
        Column("verdict", "verdict.label"),
        *of_part(
            "verdict", attributes("direction", "strict", "do_no_harm", "non_inferior", "equivalent")
        ),
        *(_RUNS_COLUMNS if any(item.of_several_runs for item in comparisons) else ()),
        *(Column(f"verdict_at_{cutoff}", _label_at(cutoff)) for cutoff in cutoffs),
    )


_MARGIN_COLUMNS = (
    *attributes("margin=margin.size", "margin_found=margin.found"),
    Column("margin_interval", "margin.interval", form=signed_interval(2)),
)
# Numbers in the unit of a row that stand in files, and in tables of rows behind p, with what their
# legend says.
NUMBERS_OF_ROWS = {Column("detectable"): "the smallest true difference found with 80 % power"}


def row_columns(prefix: str, row: Row, part: str | Callable[[Any], Any] = "") -> list[Column]:
    """The columns of a row, which items have as an attribute, or by a function."""
    places = places_of(row.measured_in)
    better: Better = "higher" if row.higher_is_better else "lower"
    unit = "points" if row.measured_in == POINTS else row.measured_in
    interval = Column(
        "interval", heading=row.name, form=signed_interval(places), unit=unit, better=better
    )
    columns = [
        Column("n", form=NUMBER),
        Column("differ", form=NUMBER),
        Column("better", form=NUMBER),
        Column("baseline", heading="A", form=decimals(places)),
        Column("contender", heading="B", form=decimals(places)),
        Column("difference", heading=row.name, form=signed(places), unit=unit, better=better),
        interval,
        *(
            [replace(interval, name="new_runs", heading="new runs")]
            if row.new_runs is not None
            else []
        ),
        *(_MARGIN_COLUMNS if row.margin is not None else ()),
        Column("p", _known("pvalue"), "p", PVALUE),
        Column("p_corrected", _known("pvalue_corrected"), "corrected p", PVALUE),
        Column("found"),
        *NUMBERS_OF_ROWS,
        *(Column(f"{test}_p", test_p(test), f"{test} p", PVALUE) for test in row.tests),
    ]
    return list(of_part(part or prefix, columns, f"{prefix}_"))


def _known(attribute: str) -> Callable[[Row], float | None]:
    """A p-value, and none where nothing was compared."""
    return lambda row: None if row.difference is None else getattr(row, attribute)


def test_p(test: str) -> Callable[[Row], float | None]:
    """What takes the p-value of a test from a row."""

    def pvalue_of(row: Row) -> float | None:
        if row.difference is None or test not in row.tests:
            return None
        return row.tests[test].pvalue

    return pvalue_of


def measure_columns(measures: Sequence[Row]) -> list[Column]:
    """The columns of measures, of items that have such `measures`."""
    return [
        column
        for position, row in enumerate(measures)
        for column in row_columns(row.name, row, _measure_at(position))
    ]


def _measure_at(position: int) -> Callable[[Any], Any]:
    return lambda item: item.measures[position]


def _reciprocal_columns(first: Any) -> list[Column]:
    """The columns of reciprocal ranks, with the tests of the paper."""
    columns: list[Column] = []
    for name, row in (("naive", first.naive), ("reciprocal", first.reciprocal)):
        if row is None:
            continue
        tests = (Column(f"{test}_p", test_p(test), form=PVALUE) for test in row.tests)
        columns += of_part(
            name, (*attributes("baseline", "contender", "difference"), *tests), f"{name}_"
        )
    return columns


_RUNS_COLUMNS = (
    Column("runs_baseline", lambda item: item.n_runs[0], "runs A", NUMBER),
    Column("runs_contender", lambda item: item.n_runs[1], "runs B", NUMBER),
    Column("holds_for_new_runs", "verdict.new_runs", "new runs"),
)


def _label_at(cutoff: int) -> Callable[[Any], str | None]:
    return lambda item: next((at.label for at in item.cutoffs if at.cutoff == cutoff), None)


def names_of(comparison: Any) -> tuple[str, str]:
    """Names of the ranking facet and of its reciprocals in the columns of the paper."""
    if comparison.reciprocal is None:
        return comparison.ranking.measured_in, ""
    if comparison.unit == "query":
        return "ESL", "RR"
    return "ASL", "reciprocal ASL"


def paper_columns(first: Any) -> tuple[Column, ...]:
    """The columns of Tables 1 and 2 of Lin et al. 2021, with raw p-values."""
    on_ranks = first.reciprocal is not None
    length, reciprocal = names_of(first)
    alone = "(2) one run finds"
    both = "(3) both find"
    naive = "MRR" if on_ranks else "mean"
    of_naive = (
        Column("wrs_p", test_p("ranksum"), "WRS p", PVALUE, group=naive),
        Column("wsr_p", test_p("wilcoxon"), "WSR p", PVALUE, group=naive),
        Column("t_p", test_p("t"), "t p", PVALUE, group=naive),
    )
    return (
        Column("A", "baseline", group="Runs"),
        Column("B", "contender", group="Runs"),
        Column("delta", "naive.difference", "difference", signed(4), group=naive),
        *of_part("naive", of_naive, "naive_"),
        Column("neither", "outcomes.shares.neither", "all", PERCENT, group="(1) neither"),
        Column("a_wins", "outcomes.shares.lost", "A wins", PERCENT, group=alone),
        Column("b_wins", "outcomes.shares.won", "B wins", PERCENT, group=alone),
        Column("coverage_p", _coverage_p, "p", PVALUE, group=alone),
        Column("both", "outcomes.shares.both", "all", PERCENT, group=both),
        *of_part("ranking", _paper_facet(length, 2 if on_ranks else 4, both)),
        *(of_part("reciprocal", _paper_facet(reciprocal, 4, both)) if on_ranks else ()),
        Column("verdict", "verdict.label"),
    )


def _coverage_p(comparison: Any) -> float | None:
    """The p-value of the paper's test of coverage."""
    tests = list(comparison.coverage.tests.values())
    return tests[0].pvalue if tests else None


def _paper_facet(measure: str, places: int, group: str) -> tuple[Column, ...]:
    key = measure.lower().replace(" ", "_")
    wilcoxon = test_p("wilcoxon")
    return (
        Column(f"a_{key}", "baseline", f"A {measure}", decimals(places), group=group),
        Column(f"b_{key}", "contender", f"B {measure}", decimals(places), group=group),
        Column(f"{key}_wsr_p", wilcoxon, f"{measure} WSR p", PVALUE, group=group),
        Column(f"{key}_t_p", test_p("t"), f"{measure} t p", PVALUE, group=group),
    )
