"""What is shown of the far end of the lists."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

from ir_outcomes.choices import DOCUMENTS_ABOVE
from ir_outcomes.formatting import fixed, percent, plural
from ir_outcomes.showing.registry import view_of
from ir_outcomes.showing.view import Table, View
from ir_outcomes.showing.words import bucket_names
from ir_outcomes.table_columns import NUMBER, PERCENT, Column, decimals
from ir_outcomes.tail.lengths import bucket_columns
from ir_outcomes.tail.result import (
    ErrorReduction,
    Headroom,
    LengthChanges,
    LengthDistributions,
    Reordering,
    TailResult,
)

ABOVE = f"{DOCUMENTS_ABOVE} a relevant one"  # what an atomized search length counts


@view_of.register
def _reordering(result: Reordering) -> View:
    columns = (
        Column("step"),
        Column("old", heading="from"),
        Column("new", heading="to"),
        Column("delta_sort", heading="sort", form=decimals(0)),
        Column("run"),
        Column("better_before", heading="before", form=NUMBER, group="better"),
        Column("better_after", heading="after", form=NUMBER, group="better"),
        Column("kendall_tau", heading="tau", form=decimals(2)),
        Column("value", lambda row: _times(row["delta_value"]), form=NUMBER),
    )
    caption = (
        "sort: Delta-Sort, the largest change over the runs of the number of runs that are better,"
        " in % of the runs (a mean that is 10 % better, and p <= 0.05 in a paired t test); it can"
        " be large where tau is 1. run, better: the run with this change, and how many runs were"
        " better before and after; tau: Kendall's tau-b between the orders by the mean; value: mean"
        " of new value / old value, search lengths as reciprocals"
    )
    measures = dict.fromkeys(str(row[side]) for row in result.table for side in ("old", "new"))
    title = f"Reordering of {plural('run', len(result.runs))}"
    return _view(result, title, columns, result.table, caption, f"by {', '.join(measures)}")


def _times(ratio: float | None) -> str | None:
    return None if ratio is None else f"{ratio:.3g}x"


@view_of.register
def _length_distributions(result: LengthDistributions) -> View:
    first = bucket_names(result.edges)[0]
    counted = bucket_columns(result.edges)[0]
    columns = (
        Column("run"),
        Column("asl", heading="ASL", form=decimals(1)),
        Column("asl_g1_10", heading="ASL@g1-10", form=decimals(1)),
        Column("first", lambda run: run[counted] / result.n_documents, first, PERCENT),
        Column("missing_share", heading="missing", form=PERCENT),
        Column("effective_share", heading="averaged", form=PERCENT),
    )
    caption = (
        "ASL: atomized search length of all relevant documents, ASL@g1-10: of the ten best-ranked"
        f" of each query, both in {ABOVE}, plus 1, lower is better; {first}: % of the relevant"
        " documents with this search length; missing: % not found; averaged: % of the relevant"
        " documents that AP in effect averages"
    )
    documents = plural("relevant document", result.n_documents)
    title = f"Search lengths of {documents} of {plural('query', result.n_queries)}"
    return _view(result, title, columns, result.table, caption)


@view_of.register
def _length_changes(result: LengthChanges) -> View:
    of_change: dict[str, list[Any]] = {
        change: list(rows) for change, rows in groupby(result.table, key=itemgetter("change"))
    }
    sizes = bucket_names(result.edges, is_open=True)
    rows = [
        {"size": size, "up": up, "down": down}
        for size, up, down in zip(
            [*sizes, "one run only"],
            [*of_change["further up"], *of_change["won"]],
            [*of_change["further down"], *of_change["lost"]],
            strict=True,
        )
    ]
    columns = [Column("size", heading="change")]
    for side in ("up", "down"):
        group = f"further {side}"
        number = Column(side, f"{side}.documents", "documents", NUMBER, group=group)
        columns += [number, Column(f"{side}_share", f"{side}.share", "%", PERCENT, group=group)]
    unchanged, neither = (
        f"{row['documents']} ({percent(row['share'], unit=' %')})"
        for row in (*of_change["unchanged"], *of_change["neither"])
    )
    sentences = (
        (
            f"Mean change of ASL {fixed(result.mean_change, 1, signed=True)} {ABOVE} (each query"
            " weighs the same; lower is better)."
        ),
        f"Same search length in both runs: {unchanged}; found by neither: {neither}.",
    )
    caption = (
        f"change: of the number of {ABOVE}; documents that both runs found, and % of all; one run"
        " only: found by the contender only (further up) and by the"
        " baseline only (further down)"
    )
    baseline, contender = result.runs
    title = f"{contender} against {baseline}, {plural('relevant document', result.n_documents)}"
    return _view(result, title, columns, rows, caption, sentences=sentences)


@view_of.register
def _rrie(result: ErrorReduction) -> View:
    columns = (
        Column("measure"),
        Column("baseline", heading="A", form=decimals(3)),
        Column("contender", heading="B", form=decimals(3)),
        Column("rrie", heading="RRIE, %", form=PERCENT),
    )
    caption = "RRIE: share of A's distance from the optimum of 1 that B removes, higher is better"
    baseline, contender = result.runs
    title = f"{contender} (B) against {baseline} (A): relative reduction in error"
    return _view(result, title, columns, result.table, caption, "published means")


@view_of.register
def _headroom(result: Headroom) -> View:
    rows = []
    for _, buckets in groupby(result.table, key=itemgetter("measure")):
        counted = list(buckets)
        counts = " ".join(str(row["queries"]) for row in counted)
        rows.append({**counted[0], "counts": counts})
    columns = (
        Column("measure"),
        Column("run", heading="best run"),
        Column("mean", form=decimals(3)),
        Column("counts", heading="queries in each bucket"),
    )
    caption = (
        "buckets: tenths from 0 for precisions (1 is the best); from 1, 2, 5, 10, 20, 50, 100, 200,"
        " 500 and 1000 for search lengths (1 is the best)"
    )
    title = f"What the best of {plural('run', len(result.runs))} leaves to gain"
    return _view(result, title, columns, rows, caption)


def settings_words(result: TailResult) -> str:
    """Say how search lengths were computed, nothing of published means."""
    settings = result.settings
    if settings is None:
        return ""
    judged_only = ", judged documents only" if settings.judged_only else ""
    return (
        f"depth {settings.cutoff}, rel {settings.rel}, ties {settings.ties}, missing"
        f" {settings.missing}{judged_only}"
    )


def _view(
    result: TailResult,
    title: str,
    columns: Sequence[Column],
    rows: Iterable[Mapping[str, Any]],
    caption: str,
    head: str = "",
    sentences: tuple[str, ...] = (),
) -> View:
    """Show a table above its caption and the settings, or else `head`."""
    table = Table.of(columns, rows, caption, settings_words(result) or head)
    return View(title, sentences=sentences, tables=(table,), notes=result.notes)
