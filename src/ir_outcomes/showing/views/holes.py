"""What is shown of the holes in the judgments."""

from __future__ import annotations

from collections.abc import Iterator

from ir_outcomes._formatting import NOTHING, percent, plural
from ir_outcomes.comparison.holes import Holes, PairHoles, Tipping, UnjudgedDocument
from ir_outcomes.showing.view import Column, Layout, Statement, Table, View, view_of

__all__: list[str] = []

MOST_DOCUMENTS = 10  # of a tipping point that are listed


@view_of.register
def _holes(result: Holes, layout: Layout) -> View:
    tipping = [
        _tipping_table(pair, pair.tipping, result.baseline)
        for pair in result.pairs
        if pair.tipping is not None and layout.sentences is not False
    ]
    statements = [Statement(pair.contender, pair.bound.word, tuple(_sentences(pair, result))) for pair in result.pairs]
    return View((_table(result), *tipping), tuple(statements), result.notes)


def _table(result: Holes) -> Table:
    settings = result.settings
    return Table(
        f"What depends on unjudged documents: {plural('run', len(result.pairs))} against {result.baseline} (A)",
        f"cutoff {settings.cutoff}, rel {settings.rel}, unit {settings.unit}, ties {settings.ties}, alpha {settings.alpha:g}",
        (
            Column("run (B)"),
            Column("A", "number", "judged at 10, %"),
            Column("B", "number", "judged at 10, %"),
            Column("A", "number", f"judged at {settings.cutoff}, %"),
            Column("B", "number", f"judged at {settings.cutoff}, %"),
            Column("unjudged", "number"),
            Column("verdict", "label"),
            Column("bound", "label"),
            Column("tipping", "number"),
            Column("changed in draws, %", "number"),
        ),
        tuple(tuple(_cells(pair)) for pair in result.pairs),
        "unjudged: documents within the cutoff of A or B; bound: what three families of assignments do to the verdict; "
        "tipping: at most so many unjudged documents change the verdict if they are relevant; changed in draws: share of "
        "random assignments with another verdict.",
    )


def _cells(pair: PairHoles) -> Iterator[str]:
    yield pair.contender
    for share in pair.judged_at_10 or (None, None):
        yield percent(share)
    for share in pair.judged:
        yield percent(share)
    yield str(pair.n_unjudged)
    yield pair.label
    yield pair.bound.word
    yield NOTHING if pair.tipping is None else str(pair.tipping.n)
    yield percent(pair.changed)


def _sentences(pair: PairHoles, result: Holes) -> Iterator[str]:
    bound = pair.bound
    if bound.word == "stands":
        yield f'The label "{pair.label}" stands under all three families of assignments.'
    else:
        yield (
            f'The label is "{pair.label}". If all unjudged documents that favour {result.baseline} were relevant it would be '
            f'"{bound.baseline}", with those that favour {pair.contender} "{bound.contender}", with those that both return '
            f'"{bound.both}".'
        )
    tipping = pair.tipping
    if tipping is None:
        yield "No set of unjudged documents was found that changes the label."
    else:
        yield (
            f"At most {plural('unjudged document', tipping.n)} of {pair.n_unjudged} ({tipping.share:.1%}), if relevant, "
            f'{"makes" if tipping.n == 1 else "make"} it "{tipping.label}".'
        )
    if result.draws:
        flag = "flagged" if pair.flagged else "not flagged"
        yield f"In {pair.changed:.0%} of {plural('random draw', result.draws)} the label is another one ({flag})."


def _tipping_table(pair: PairHoles, tipping: Tipping, baseline: str) -> Table:
    shown = tipping.documents[:MOST_DOCUMENTS]
    what = f"the first {len(shown)} of {tipping.n}" if len(shown) < tipping.n else "all of them"
    return Table(
        f"{pair.contender}: documents that tip the verdict to {tipping.label}",
        f"A: {baseline}, B: {pair.contender}; {what}",
        (Column("query"), Column("document"), Column("rank A", "number"), Column("rank B", "number")),
        tuple(_document_cells(document) for document in shown),
    )


def _document_cells(document: UnjudgedDocument) -> tuple[str, ...]:
    ranks = (document.baseline, document.contender)
    return (document.query_id, document.docid, *(NOTHING if rank is None else str(rank) for rank in ranks))
