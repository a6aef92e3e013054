"""What is shown of distributions and changes of search lengths, reductions in error, reordering and headroom."""

from __future__ import annotations

from ir_outcomes._formatting import NOTHING, fixed, percent, plural
from ir_outcomes.showing.view import Column, Layout, Table, View, view_of
from ir_outcomes.tail import RRIE, Headroom, LengthChanges, LengthDistributions, Reordering


@view_of.register
def _reordering(result: Reordering, layout: Layout) -> View:
    columns = (
        Column("step"),
        Column("from"),
        Column("to"),
        Column("sort", "number"),
        Column("run"),
        Column("better", "number"),
        Column("tau", "number"),
        Column("value", "number"),
    )
    rows = tuple(
        (
            change.step,
            change.old,
            change.new,
            fixed(change.delta_sort, 0),
            change.run if change.delta_sort else NOTHING,
            f"{change.better_before} -> {change.better_after}" if change.delta_sort else NOTHING,
            fixed(change.tau, 2),
            NOTHING if change.delta_value is None else f"{change.delta_value:.3g}x",
        )
        for change in result.changes
    )
    head = f"by {', '.join(result.measures)}" if result.rel is None else _settings(result.cutoff, result.rel, result.missing)
    caption = (
        "sort: Delta-Sort, the largest change over the runs of the number of runs that are better, in % of the runs; run, "
        "better: the run with this change, and how many runs were better before and after; tau: Kendall's tau-b between the "
        "orders; value: mean of new value / old value."
    )
    return View((Table(f"Reordering of {plural('run', len(result.runs))}", head, columns, rows, caption),), notes=result.notes)


@view_of.register
def _length_distributions(result: LengthDistributions, layout: Layout) -> View:
    first = _bucket(result.edges[0], result.edges[1])
    columns = (
        Column("run"),
        *(Column(name, "number") for name in ("ASL", "ASL@g1-10", first, "missing", "averaged")),
    )
    rows = tuple(
        (
            run.run,
            fixed(run.asl, 0 if run.asl >= 100 else 1),
            fixed(run.asl_top, 1),
            percent(run.counts[0] / result.n_documents),
            percent(run.missing / result.n_documents),
            percent(run.effective_share),
        )
        for run in result.runs
    )
    documents = plural("relevant document", result.n_documents)
    caption = (
        "ASL: atomized search length of all relevant documents, ASL@g1-10: of the ten best-ranked of each query, ranks, lower "
        f"is better; {first}: % of the relevant documents with this search length; missing: % not found; averaged: % of the "
        "relevant documents that AP in effect averages."
    )
    title = f"Search lengths of {documents} of {plural('query', result.n_queries)}"
    return View(
        (Table(title, _settings(result.cutoff, result.rel, result.missing), columns, rows, caption),), notes=result.notes
    )


@view_of.register
def _length_changes(result: LengthChanges, layout: Layout) -> View:
    sizes = [_bucket(low, high) for low, high in zip(result.edges[:-1], result.edges[1:], strict=True)]
    sizes.append(f"{result.edges[-1]} or more")
    rows = tuple((size, str(won), str(lost)) for size, won, lost in zip(sizes, result.wins, result.losses, strict=True))
    columns = tuple(Column(heading, "number") for heading in ("ranks", "further up", "further down"))
    sentences = (
        f"Mean change {fixed(result.mean, 1, signed=True)} ranks (each query weighs the same; lower is better).",
        f"Found only by {result.contender}: {result.found_only_by_contender}; only by {result.baseline}: "
        f"{result.found_only_by_baseline}; by neither: {result.found_by_neither}; unchanged: {result.unchanged}.",
    )
    table = Table(
        f"{result.contender} against {result.baseline}, document by document",
        _settings(result.cutoff, result.rel, result.missing),
        columns,
        rows,
        "Number of relevant documents by how many ranks the contender moved them; a document that one run lacks moved at least "
        "so far.",
        sentences,
    )
    return View((table,), notes=result.notes)


@view_of.register
def _rrie(result: RRIE, layout: Layout) -> View:
    columns = (Column("measure"), Column("A", "number"), Column("B", "number"), Column("RRIE", "number"))
    rows = tuple(
        (
            reduction.measure,
            fixed(reduction.baseline, 3),
            fixed(reduction.contender, 3),
            percent(reduction.rrie, 0, unit=" %"),
        )
        for reduction in result.reductions
    )
    table = Table(
        f"{result.contender} (B) against {result.baseline} (A): relative reduction in error",
        _settings(result.cutoff, result.rel, result.missing),
        columns,
        rows,
        "RRIE: share of A's distance to the optimum of 1 that B saves, higher is better.",
    )
    return View((table,), notes=result.notes)


@view_of.register
def _headroom(result: Headroom, layout: Layout) -> View:
    columns = (Column("measure"), Column("best run"), Column("mean", "number"), Column("queries in each bucket"))
    rows = tuple(
        (measure.measure, measure.run, fixed(measure.mean, 3), " ".join(map(str, measure.counts)))
        for measure in result.measures
    )
    table = Table(
        f"What the best of {plural('run', result.n_runs)} leaves to gain",
        _settings(result.cutoff, result.rel, result.missing),
        columns,
        rows,
        "Buckets: tenths from 0 for precisions (1 is the best); from 1, 2, 5, 10, 20, 50, 100, 200, 500 and 1000 ranks for "
        "search lengths (1 is the best).",
    )
    return View((table,), notes=result.notes)


def _bucket(low: int, high: int) -> str:
    """Write a range of ranks without its upper end."""
    return str(low) if low == high - 1 else f"{low} to {high - 1}"


def _settings(cutoff: int | None, rel: int | None, missing: str | None) -> str:
    return f"depth {cutoff or 'of each run'}, rel {rel}, missing {missing}"
