"""What is shown of the holes in the judgments."""

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from ir_outcomes.comparison.holes import COLUMNS, MOST_TIPPING, BoundWord, Holes, PairHoles, Tipping
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.formatting import (
    percent,
    plural,
)
from ir_outcomes.notes import ranked
from ir_outcomes.results import NUMBER, Column, chosen
from ir_outcomes.showing import (
    Table,
    View,
    settings_words,
    view_of,
)


@view_of.register
def _holes(result: Holes) -> View:
    table = _holes_table(result)
    first, background = ranked(result.notes)
    tipping = tuple(
        _tipping_table(pair, pair.tipping) for pair in result.pairs if pair.tipping is not None
    )
    if len(result.pairs) == 1:
        (pair,) = result.pairs
        return View(
            f"{pair.contender} (B) against {result.baseline} (A) at cutoff"
            f" {result.settings.cutoff}",
            f"{pair.label}; {_how_firmly(pair)}",
            tuple(_sentences(pair, result)),
            notes=first,
            more="judged shares, which documents",
            details=(table, *tipping),
            background=background,
        )
    bounds = Counter(pair.bound.word for pair in result.pairs)
    counted = ", ".join(f"{bounds[word]} {word}" for word in get_args(BoundWord) if bounds[word])
    return View(
        f"{plural('run', len(result.pairs))} against {result.baseline} (A), if unjudged documents"
        " were relevant",
        counted if bounds["stands"] == 1 else counted.replace("stands", "stand"),
        tables=(table,),
        notes=first,
        more="which documents",
        details=tipping,
        background=(
            *(f"{pair.contender}: {' '.join(_sentences(pair, result))}" for pair in result.pairs),
            *background,
        ),
    )


def _holes_table(result: Holes) -> Table:
    depths = ("_at_10", "") if (result.settings.cutoff or 0) > 10 else ("",)
    shares = (f"judged{at}_{run}" for at in depths for run in ("baseline", "contender"))
    explained = [
        (
            "bound: if all unjudged documents that favour A, or B, or that both return were"
            " relevant, the direction stands, or could be lost (weaken), turned (reverse) or found"
            " (decide)"
        ),
        (
            "tipping: so few of them could be enough"
            if any(pair.tipping for pair in result.pairs)
            else ""
        ),
        "unjudged: documents within the cutoff of A or B; judged: % of the documents of A and of B",
    ]
    return Table.of(
        chosen(COLUMNS, "contender", "verdict", "bound", "tipping_n", "n_unjudged", *shares),
        sorted(result.pairs, key=lambda pair: LABELS.index(pair.label)),
        "; ".join(filter(None, explained)),
        settings_words(result.settings),
    )


def _how_firmly(pair: PairHoles) -> str:
    """Say what few documents can do before what the extreme assignments of the bound can."""
    word = pair.bound.word
    if pair.tipping is not None:
        few = f"{plural('document', pair.tipping.n)} would make it {pair.tipping.label}"
    elif word == "stands":
        return word
    else:
        few = f"no {MOST_TIPPING} documents were found that change it"
    if word == "stands":
        return few
    return f"{few}; the extreme bound {word} it"


def _sentences(pair: PairHoles, result: Holes) -> Iterator[str]:
    bound = pair.bound
    tipping = pair.tipping
    share = 1 - sum(pair.judged) / 2
    documents = plural("unjudged document", pair.n_unjudged)
    yield (
        f"{documents} {'is' if pair.n_unjudged == 1 else 'are'} in the top {result.settings.cutoff}"
        f" of A or B ({percent(share, 0)} % of the places in both lists)."
    )
    if tipping is not None:
        yield f"{tipping.n} of them, if relevant, would make it: {tipping.label}."
    else:
        yield "No set of at most five of them was found that changes its direction."
    if bound.word != "stands":
        yield (
            f"If all that favour A were relevant: {bound.baseline}; all that favour B:"
            f" {bound.contender}; all that both return: {bound.both}."
        )


def _tipping_table(pair: PairHoles, tipping: Tipping) -> Table:
    columns = (
        Column("query_id", heading="query"),
        Column("docid", heading="document"),
        Column("baseline", heading="rank A", form=NUMBER),
        Column("contender", heading="rank B", form=NUMBER),
    )
    return Table.of(
        columns,
        tipping.documents,
        title=f"{pair.contender}: documents that make it {tipping.label} if relevant",
    )
