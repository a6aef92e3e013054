"""What is shown of distributions and changes of search lengths, reductions in error, reordering and headroom; and of tasks."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from operator import itemgetter
from typing import Any

from ir_outcomes.columns import Column, chosen
from ir_outcomes.formatting import NOTHING, fixed, percent, plural
from ir_outcomes.reading.datasets import Source, size_text
from ir_outcomes.reading.qrels import Task
from ir_outcomes.showing.view import View, table_of, view_of
from ir_outcomes.showing.words import bucket_names
from ir_outcomes.tail.lengths import DOCUMENT_COLUMNS, DocumentChanges, LengthChanges, LengthDistributions, distribution_columns
from ir_outcomes.tail.reordering import CHANGE_COLUMNS, Reordering
from ir_outcomes.tail.rrie import REDUCTION_COLUMNS, RRIE, Headroom


@view_of.register
def _reordering(result: Reordering) -> View:
    value = Column("value", lambda change: None if change.delta_value is None else f"{change.delta_value:.3g}x", form="n")
    caption = (
        "sort: Delta-Sort, the largest change over the runs of the number of runs that are better, in % of the runs (a mean "
        "that is 10 % better, and p <= 0.05 in a paired t test); it can be large where tau is 1. run, better: the run with "
        "this change, and how many runs were better before and after; tau: Kendall's tau-b between the orders by the mean; "
        "value: mean of new value / old value, search lengths as reciprocals"
    )
    title, head = f"Reordering of {plural('run', len(result.runs))}", f"by {', '.join(result.measures)}"
    return _view(result, title, (*CHANGE_COLUMNS[:-2], value), result.changes, caption, head)


@view_of.register
def _length_distributions(result: LengthDistributions) -> View:
    first, declared = bucket_names(result.edges)[0], distribution_columns(result)
    columns = (
        *chosen(declared, "run", "asl", "asl_g1_10"),
        Column("first", lambda run: run.counts[0] / result.n_documents, first, "%"),
        *chosen(declared, "missing_share", "effective_share"),
    )
    caption = (
        "ASL: atomized search length of all relevant documents, ASL@g1-10: of the ten best-ranked of each query, ranks, lower "
        f"is better; {first}: % of the relevant documents with this search length; missing: % not found; averaged: % of the "
        "relevant documents that AP in effect averages"
    )
    documents, queries = plural("relevant document", result.n_documents), plural("query", result.n_queries)
    return _view(result, f"Search lengths of {documents} of {queries}", columns, result.runs, caption)


@view_of.register
def _length_changes(result: LengthChanges) -> View:
    sizes = [*bucket_names(result.edges), f"{result.edges[-1]} or more"]
    rows = [*zip(sizes, result.further_up, result.further_down, strict=True), ("one run only", result.won, result.lost)]
    columns = (
        Column("ranks", itemgetter(0)),
        Column("up", itemgetter(1), "documents", "n", group="further up"),
        Column("up_share", lambda row: row[1] / result.n_documents, "%", "%", group="further up"),
        Column("down", itemgetter(2), "documents", "n", group="further down"),
        Column("down_share", lambda row: row[2] / result.n_documents, "%", "%", group="further down"),
    )
    unchanged, neither = (
        f"{number} ({percent(number / result.n_documents, unit=' %')})" for number in (result.unchanged, result.neither)
    )
    sentences = (
        f"Mean change of ASL {fixed(result.mean, 1, signed=True)} ranks (each query weighs the same; lower is better).",
        f"Same search length in both runs: {unchanged}; found by neither: {neither}.",
    )
    caption = (
        "documents that both runs found, by how many ranks the contender moved their search length, and in % of all; one run "
        "only: found by the contender only (further up) and by the baseline only (further down)"
    )
    title = f"{result.contender} against {result.baseline}, {plural('relevant document', result.n_documents)}"
    return replace(_view(result, title, columns, rows, caption), sentences=sentences)


@view_of.register
def _document_changes(result: DocumentChanges) -> View:
    shown = "" if len(result.documents) == result.n_documents else f", {len(result.documents)} shown"
    caption = "A, B: ranks, lower is better, - where not found; change: of the search length, ranks"
    title = f"{plural('relevant document', result.n_documents)} {result.which}{shown}: {_pair(result)}"
    return _view(result, title, DOCUMENT_COLUMNS, result.documents, caption)


@view_of.register
def _rrie(result: RRIE) -> View:
    optimum = " of 1" if all(reduction.optimum == 1 for reduction in result.reductions) else ""
    caption = f"RRIE: share of A's distance from the optimum{optimum} that B removes, higher is better"
    columns = chosen(REDUCTION_COLUMNS, "measure", "baseline", "contender", "rrie")
    return _view(
        result, f"{_pair(result)}: relative reduction in error", columns, result.reductions, caption, "published means"
    )


@view_of.register
def _headroom(result: Headroom) -> View:
    columns = (
        Column("measure"),
        Column("run", heading="best run"),
        Column("mean", form=".3f"),
        Column("counts", lambda measure: " ".join(map(str, measure.counts)), "queries in each bucket"),
    )
    caption = (
        "buckets: tenths from 0 for precisions (1 is the best); from 1, 2, 5, 10, 20, 50, 100, 200, 500 and 1000 ranks for "
        "search lengths (1 is the best)"
    )
    return _view(result, f"What the best of {plural('run', result.n_runs)} leaves to gain", columns, result.measures, caption)


def _pair(result: DocumentChanges | RRIE) -> str:
    return f"{result.contender} (B) against {result.baseline} (A)"


def _view(result: Any, title: str, columns: Sequence[Column], items: Iterable[Any], caption: str, head: str = "") -> View:
    """Show a table above its caption and the settings, or where there are none, `head`."""
    settings = result.settings
    if settings is not None:
        judged = ", judged documents only" if settings.judged_only else ""
        head = f"depth {settings.cutoff}, rel {settings.rel}, ties {settings.ties}, missing {settings.missing}{judged}"
    return View(title, tables=(table_of(columns, items, caption, head),), notes=result.notes)


def tasks_view(tasks: Iterable[Task]) -> View:
    """Show a list of tasks."""
    columns = (
        Column("dataset_id", heading="dataset"),
        Column("queries", lambda task: None if task.n_queries is None else f"{task.n_queries:,}", form="n"),
        Column("cutoff", form="n"),
        Column("rel", form="n"),
        Column("unit"),
        Column("qrels", lambda task: _where(task.source("qrels"))),
    )
    table = table_of(columns, tasks)
    return View(plural("known dataset", len(table.rows)), tables=(table,))


def task_view(task: Task) -> View:
    """Show a task: its settings, and where its parts come from."""
    columns = (
        Column("part", str),
        Column("where", lambda part: _where(task.source(part)), "on this machine"),
        Column("file", lambda part: NOTHING if (source := task.source(part)) is None else source.path),
    )
    head = (
        f"cutoff {task.cutoff}, rel {task.rel}, unit {task.unit}; official measure {task.official_measure or 'unknown'}; "
        f"baseline {task.baseline or 'none'}"
    )
    table = table_of(columns, ("qrels", "queries", "scoreddocs"), head)
    return View(task.dataset_id, tables=(table,), notes=tuple(task.notes))


def _where(source: Source | None) -> str:
    if source is None:
        return "none"
    if source.here:
        return "here"
    return "to fetch" if source.size is None else size_text(source.size)
