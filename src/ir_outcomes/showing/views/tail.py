"""What is shown of distributions and changes of search lengths, reductions in error, reordering and headroom."""

from __future__ import annotations

from ir_outcomes.formatting import NOTHING, fixed, percent, plural
from ir_outcomes.showing.view import Column, Field, Layout, Table, View, tabulated, view_of
from ir_outcomes.showing.words import bucket_names
from ir_outcomes.tail import RRIE, Headroom, LengthChanges, LengthDistributions, Reordering, TailSettings
from ir_outcomes.tail.lengths import DocumentChange, DocumentChanges, LengthDistribution
from ir_outcomes.tail.reordering import Change
from ir_outcomes.tail.rrie import MeasureHeadroom, Reduction


@view_of.register
def _reordering(result: Reordering, layout: Layout) -> View:
    fields: list[Field[Change]] = [
        (Column("step"), lambda change: change.step),
        (Column("from"), lambda change: change.old),
        (Column("to"), lambda change: change.new),
        (Column("sort", "number"), lambda change: fixed(change.delta_sort, 0)),
        (Column("run"), lambda change: change.run if change.delta_sort else NOTHING),
        (
            Column("better", "number"),
            lambda change: f"{change.better_before} -> {change.better_after}" if change.delta_sort else NOTHING,
        ),
        (Column("tau", "number"), lambda change: fixed(change.tau, 2)),
        (Column("value", "number"), lambda change: NOTHING if change.delta_value is None else f"{change.delta_value:.3g}x"),
    ]
    head = f"by {', '.join(result.measures)}" if result.settings is None else _head(result.settings)
    caption = (
        "sort: Delta-Sort, the largest change over the runs of the number of runs that are better, in % of the runs, where "
        "better needs a mean that is 10 % better and p <= 0.05 in a paired t test; it can be large even where tau is 1 and no "
        "two runs change places. run, better: the run with this change, and how many runs were better before and after; tau: "
        "Kendall's tau-b between the orders by the mean; value: mean of new value / old value, search lengths as reciprocals."
    )
    table = Table(f"Reordering of {plural('run', len(result.runs))}", head, *tabulated(fields, result.changes), caption)
    return View((table,), notes=result.notes)


@view_of.register
def _length_distributions(result: LengthDistributions, layout: Layout) -> View:
    first = bucket_names(result.edges)[0]
    fields: list[Field[LengthDistribution]] = [
        (Column("run"), lambda run: run.run),
        (Column("ASL", "number"), lambda run: fixed(run.asl, 0 if run.asl >= 100 else 1)),
        (Column("ASL@g1-10", "number"), lambda run: fixed(run.asl_top, 1)),
        (Column(first, "number"), lambda run: percent(run.counts[0] / result.n_documents)),
        (Column("missing", "number"), lambda run: percent(run.missing / result.n_documents)),
        (Column("averaged", "number"), lambda run: percent(run.effective_share)),
    ]
    documents = plural("relevant document", result.n_documents)
    caption = (
        "ASL: atomized search length of all relevant documents, ASL@g1-10: of the ten best-ranked of each query, ranks, lower "
        f"is better; {first}: % of the relevant documents with this search length; missing: % not found; averaged: % of the "
        "relevant documents that AP in effect averages."
    )
    title = f"Search lengths of {documents} of {plural('query', result.n_queries)}"
    return View((Table(title, _head(result.settings), *tabulated(fields, result.runs), caption),), notes=result.notes)


@view_of.register
def _length_changes(result: LengthChanges, layout: Layout) -> View:
    sizes = [*bucket_names(result.edges), f"{result.edges[-1]} or more"]
    counts = [*zip(sizes, result.further_up, result.further_down, strict=True), ("one run only", result.won, result.lost)]
    rows = tuple(
        (size, str(up), percent(up / result.n_documents), str(down), percent(down / result.n_documents))
        for size, up, down in counts
    )
    columns = (
        Column("ranks"),
        *(Column(heading, "number", group) for group in ("further up", "further down") for heading in ("documents", "%")),
    )
    unchanged, neither = (
        f"{number} ({percent(number / result.n_documents, unit=' %')})" for number in (result.unchanged, result.neither)
    )
    sentences = (
        f"Mean change of ASL {fixed(result.mean, 1, signed=True)} ranks (each query weighs the same; lower is better).",
        f"Same search length in both runs: {unchanged}; found by neither: {neither}.",
    )
    table = Table(
        f"{result.contender} against {result.baseline}: {plural('relevant document', result.n_documents)}",
        _head(result.settings),
        columns,
        rows,
        "Relevant documents that both runs found, by how many ranks the contender moved their search length, and in % of all "
        "relevant documents. one run only: documents that only the contender found (under further up) and that only the "
        "baseline found (under further down); how far they moved is not known.",
        sentences,
    )
    return View((table,), notes=result.notes)


@view_of.register
def _document_changes(result: DocumentChanges, layout: Layout) -> View:
    fields: list[Field[DocumentChange]] = [
        (Column("query"), lambda document: document.query_id),
        (Column("document"), lambda document: document.document_id),
        (Column("A", "number"), lambda document: fixed(document.baseline_rank, 0)),
        (Column("B", "number"), lambda document: fixed(document.contender_rank, 0)),
        (Column("change", "number"), lambda document: NOTHING if document.change is None else f"{document.change:+g}"),
    ]
    shown = "" if len(result.documents) == result.n_documents else f", {len(result.documents)} shown"
    table = Table(
        f"{plural('relevant document', result.n_documents)} {result.which}{shown}: {result.contender} (B) against "
        f"{result.baseline} (A)",
        _head(result.settings),
        *tabulated(fields, result.documents),
        "A, B: ranks, lower is better, - where not found; change: of the search length, ranks.",
    )
    return View((table,), notes=result.notes)


@view_of.register
def _rrie(result: RRIE, layout: Layout) -> View:
    fields: list[Field[Reduction]] = [
        (Column("measure"), lambda reduction: reduction.measure),
        (Column("A", "number"), lambda reduction: fixed(reduction.baseline, 3)),
        (Column("B", "number"), lambda reduction: fixed(reduction.contender, 3)),
        (Column("RRIE", "number"), lambda reduction: percent(reduction.rrie, 0, unit=" %")),
    ]
    optimum = " of 1" if all(reduction.optimum == 1 for reduction in result.reductions) else ""
    table = Table(
        f"{result.contender} (B) against {result.baseline} (A): relative reduction in error",
        "published means" if result.settings is None else _head(result.settings),
        *tabulated(fields, result.reductions),
        f"RRIE: share of A's distance from the optimum{optimum} that B removes, higher is better.",
    )
    return View((table,), notes=result.notes)


@view_of.register
def _headroom(result: Headroom, layout: Layout) -> View:
    fields: list[Field[MeasureHeadroom]] = [
        (Column("measure"), lambda measure: measure.measure),
        (Column("best run"), lambda measure: measure.run),
        (Column("mean", "number"), lambda measure: fixed(measure.mean, 3)),
        (Column("queries in each bucket"), lambda measure: " ".join(map(str, measure.counts))),
    ]
    table = Table(
        f"What the best of {plural('run', result.n_runs)} leaves to gain",
        _head(result.settings),
        *tabulated(fields, result.measures),
        "Buckets: tenths from 0 for precisions (1 is the best); from 1, 2, 5, 10, 20, 50, 100, 200, 500 and 1000 ranks for "
        "search lengths (1 is the best).",
    )
    return View((table,), notes=result.notes)


def _head(settings: TailSettings) -> str:
    judged = ", judged documents only" if settings.judged_only else ""
    return f"depth {settings.cutoff}, rel {settings.rel}, ties {settings.ties}, missing {settings.missing}{judged}"
