"""What is shown of the far end of the lists: reordering, search lengths, errors that are left, headroom."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from ir_outcomes.formatting import fixed, percent, plural
from ir_outcomes.showing import Table, View, bucket_names, view_of
from ir_outcomes.table_columns import NUMBER, PERCENT, Column, chosen, decimals
from ir_outcomes.tail.lengths import (
    LengthChanges,
    LengthDistributions,
    distribution_columns,
)
from ir_outcomes.tail.reordering import CHANGE_COLUMNS, Reordering
from ir_outcomes.tail.rrie import REDUCTION_COLUMNS, RRIE, Headroom
from ir_outcomes.types import DOCUMENTS_ABOVE

ABOVE = f"{DOCUMENTS_ABOVE} a relevant one"  # what an atomized search length counts


@view_of.register
def _reordering(result: Reordering) -> View:
    value = Column(
        "value",
        lambda change: None if change.delta_value is None else f"{change.delta_value:.3g}x",
        form=NUMBER,
    )
    caption = (
        "sort: Delta-Sort, the largest change over the runs of the number of runs that are better,"
        " in % of the runs (a mean that is 10 % better, and p <= 0.05 in a paired t test); it can"
        " be large where tau is 1. run, better: the run with this change, and how many runs were"
        " better before and after; tau: Kendall's tau-b between the orders by the mean; value: mean"
        " of new value / old value, search lengths as reciprocals"
    )
    title = f"Reordering of {plural('run', len(result.runs))}"
    head = f"by {', '.join(result.measures)}"
    return _view(result, title, (*CHANGE_COLUMNS, value), result.changes, caption, head)


@view_of.register
def _length_distributions(result: LengthDistributions) -> View:
    first = bucket_names(result.edges)[0]
    declared = distribution_columns(result)
    columns = (
        *chosen(declared, "run", "asl", "asl_g1_10"),
        Column("first", lambda run: run.counts[0] / result.n_documents, first, PERCENT),
        *chosen(declared, "missing_share", "effective_share"),
    )
    caption = (
        "ASL: atomized search length of all relevant documents, ASL@g1-10: of the ten best-ranked"
        f" of each query, both in {ABOVE}, plus 1, lower is better; {first}: % of the relevant documents with this"
        " search length; missing: % not found; averaged: % of the relevant documents that AP in"
        " effect averages"
    )
    documents = plural("relevant document", result.n_documents)
    queries = plural("query", result.n_queries)
    return _view(
        result, f"Search lengths of {documents} of {queries}", columns, result.runs, caption
    )


@view_of.register
def _length_changes(result: LengthChanges) -> View:
    sizes = [*bucket_names(result.edges), f"{result.edges[-1]} or more"]
    rows = [
        *zip(sizes, result.further_up, result.further_down, strict=True),
        ("one run only", result.won, result.lost),
    ]
    columns = (
        Column("size", itemgetter(0), "change"),
        Column("up", itemgetter(1), "documents", NUMBER, group="further up"),
        Column(
            "up_share", lambda row: row[1] / result.n_documents, "%", PERCENT, group="further up"
        ),
        Column("down", itemgetter(2), "documents", NUMBER, group="further down"),
        Column(
            "down_share",
            lambda row: row[2] / result.n_documents,
            "%",
            PERCENT,
            group="further down",
        ),
    )
    unchanged, neither = (
        f"{number} ({percent(number / result.n_documents, unit=' %')})"
        for number in (result.unchanged, result.neither)
    )
    sentences = (
        (
            f"Mean change of ASL {fixed(result.mean, 1, signed=True)} {ABOVE} (each query weighs"
            " the same; lower is better)."
        ),
        f"Same search length in both runs: {unchanged}; found by neither: {neither}.",
    )
    caption = (
        f"change: of the number of {ABOVE}; documents that both runs found, and % of all; one run"
        " only: found by the contender only (further up) and by the"
        " baseline only (further down)"
    )
    title = (
        f"{result.contender} against {result.baseline},"
        f" {plural('relevant document', result.n_documents)}"
    )
    return replace(_view(result, title, columns, rows, caption), sentences=sentences)


@view_of.register
def _rrie(result: RRIE) -> View:
    optimum = " of 1" if {own.optimum for own in result.reductions} <= {1} else ""
    caption = (
        f"RRIE: share of A's distance from the optimum{optimum} that B removes, higher is better"
    )
    columns = chosen(REDUCTION_COLUMNS, "measure", "baseline", "contender", "rrie")
    return _view(
        result,
        f"{result.contender} (B) against {result.baseline} (A): relative reduction in error",
        columns,
        result.reductions,
        caption,
        "published means",
    )


@view_of.register
def _headroom(result: Headroom) -> View:
    columns = (
        Column("measure"),
        Column("run", heading="best run"),
        Column("mean", form=decimals(3)),
        Column(
            "counts", lambda measure: " ".join(map(str, measure.counts)), "queries in each bucket"
        ),
    )
    caption = (
        "buckets: tenths from 0 for precisions (1 is the best); from 1, 2, 5, 10, 20, 50, 100, 200,"
        " 500 and 1000 for search lengths (1 is the best)"
    )
    return _view(
        result,
        f"What the best of {plural('run', result.n_runs)} leaves to gain",
        columns,
        result.measures,
        caption,
    )


def _view(
    result: Any,
    title: str,
    columns: Sequence[Column],
    items: Iterable[Any],
    caption: str,
    head: str = "",
) -> View:
    """Show a table above its caption and the settings, or where there are none, `head`."""
    settings = result.settings
    if settings is not None:
        judged = ", judged documents only" if settings.judged_only else ""
        head = (
            f"depth {settings.cutoff}, rel {settings.rel}, ties {settings.ties}, missing"
            f" {settings.missing}{judged}"
        )
    return View(title, tables=(Table.of(columns, items, caption, head),), notes=result.notes)
