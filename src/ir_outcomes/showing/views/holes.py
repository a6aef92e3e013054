"""What is shown of the holes in the judgments."""

from __future__ import annotations

from collections.abc import Iterator

from ir_outcomes.comparison.holes import Holes, PairHoles, Tipping, UnjudgedDocument
from ir_outcomes.formatting import NOTHING, fixed, percent, plural
from ir_outcomes.showing.view import Column, Field, Layout, Statement, Table, View, tabulated, view_of
from ir_outcomes.showing.words import settings_words

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
    at_10, at_cutoff = "judged at 10, %", f"judged at {result.settings.cutoff}, %"
    fields: list[Field[PairHoles]] = [
        (Column("run (B)"), lambda pair: pair.contender),
        (Column("A", "number", at_10), lambda pair: percent(pair.judged_at_10 and pair.judged_at_10[0])),
        (Column("B", "number", at_10), lambda pair: percent(pair.judged_at_10 and pair.judged_at_10[1])),
        (Column("A", "number", at_cutoff), lambda pair: percent(pair.judged[0])),
        (Column("B", "number", at_cutoff), lambda pair: percent(pair.judged[1])),
        (Column("unjudged", "number"), lambda pair: str(pair.n_unjudged)),
        (Column("verdict", "label"), lambda pair: pair.label),
        (Column("bound", "label"), lambda pair: pair.bound.word),
        (Column("tipping", "number"), lambda pair: NOTHING if pair.tipping is None else str(pair.tipping.n)),
    ]
    return Table(
        f"What depends on unjudged documents: {plural('run', len(result.pairs))} against {result.baseline} (A)",
        ", ".join(settings_words(result.settings)),
        *tabulated(fields, result.pairs),
        "unjudged: documents within the cutoff of A or B; bound: what three families of assignments do to the verdict; "
        "tipping: at most so many unjudged documents change the direction of the verdict if they are relevant.",
    )


def _sentences(pair: PairHoles, result: Holes) -> Iterator[str]:
    bound = pair.bound
    if bound.word == "stands":
        yield f'The direction of the label "{pair.label}" stands under all three families of assignments.'
    else:
        yield (
            f'The label is "{pair.label}". If all unjudged documents that favour {result.baseline} were relevant it would be '
            f'"{bound.baseline}", with those that favour {pair.contender} "{bound.contender}", with those that both return '
            f'"{bound.both}".'
        )
    tipping = pair.tipping
    if tipping is None:
        yield "No set of at most five unjudged documents was found that changes the direction."
    else:
        yield (
            f"At most {plural('unjudged document', tipping.n)} of {pair.n_unjudged} ({tipping.share:.1%}), if relevant, "
            f'{"makes" if tipping.n == 1 else "make"} it "{tipping.label}".'
        )


def _tipping_table(pair: PairHoles, tipping: Tipping, baseline: str) -> Table:
    fields: list[Field[UnjudgedDocument]] = [
        (Column("query"), lambda document: document.query_id),
        (Column("document"), lambda document: document.docid),
        (Column("rank A", "number"), lambda document: fixed(document.baseline, 0)),
        (Column("rank B", "number"), lambda document: fixed(document.contender, 0)),
    ]
    shown = tipping.documents[:MOST_DOCUMENTS]
    what = f"the first {len(shown)} of {tipping.n}" if len(shown) < tipping.n else "all of them"
    return Table(
        f"{pair.contender}: documents that tip the verdict to {tipping.label}",
        f"A: {baseline}, B: {pair.contender}; {what}",
        *tabulated(fields, shown),
    )
