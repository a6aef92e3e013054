"""What is shown of the evidence behind verdicts: holes in the judgments, plans, verdicts on published numbers."""

from collections import Counter
from collections.abc import Iterator
from typing import get_args

from ir_outcomes.comparison.holdings import MOST_TIPPING
from ir_outcomes.comparison.holes import COLUMNS, BoundWord, Holes, PairHoles, Tipping
from ir_outcomes.comparison.plan import Plan, PlannedRow
from ir_outcomes.comparison.published import Counts, MeansVerdict, SummaryVerdict
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.formatting import (
    NOTHING,
    fixed,
    listed,
    percent,
    plural,
    pvalue,
    unit_behind,
)
from ir_outcomes.notes import ranked
from ir_outcomes.showing import Table, View, numbers, settings_words, texts, view_of
from ir_outcomes.showing.views.parts import depth_lines
from ir_outcomes.statistics.power import CONFIDENCE
from ir_outcomes.table_columns import NUMBER, Column, chosen
from ir_outcomes.types import POINTS


@view_of.register
def _holes(result: Holes) -> View:
    table = _holes_table(result)
    ends = depth_lines(result.notes)
    first, background = ranked(note for note in result.notes if note not in ends)
    tipping = tuple(
        _tipping_table(pair, pair.tipping) for pair in result.pairs if pair.tipping is not None
    )
    if len(result.pairs) == 1:
        (pair,) = result.pairs
        return View(
            f"{pair.contender} (B) against {result.baseline} (A) at cutoff"
            f" {result.settings.cutoff}",
            f"{pair.label}; {_how_firmly(pair)}",
            (*_sentences(pair, result), *ends),
            notes=first,
            more="judged shares, which documents",
            details=(table, *tipping),
            background=background,
        )
    bounds = Counter(pair.bound.word for pair in result.pairs)
    counted = ", ".join(f"{bounds[word]} {word}" for word in get_args(BoundWord) if bounds[word])
    return View(
        f"{plural('verdict', len(result.pairs))} against {result.baseline} (A), if unjudged documents"
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
        "tipping: so few of them could be enough"
        if any(pair.tipping for pair in result.pairs)
        else "",
        "unjudged: documents within the cutoff of A or B; judged: % of the documents of A and of B",
    ]
    return Table.of(
        chosen(COLUMNS, "contender", "verdict", "bound", "tipping_n", "n_unjudged", *shares),
        sorted(result.pairs, key=lambda pair: LABELS.index(pair.label)),
        "; ".join(filter(None, explained)),
        settings_words(result.settings),
        *(depth_lines(result.notes) if len(result.pairs) > 1 else ()),
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
    documents = plural("unjudged document", pair.n_unjudged)
    verb = "is" if pair.n_unjudged == 1 else "are"
    of_a, of_b = (percent(1 - share, 0) for share in pair.judged)
    yield (
        f"{documents} {verb} in the top {result.settings.cutoff}"
        f" of A or B ({of_a} % of what A returns there, {of_b} % of B)."
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


@view_of.register
def _plan(result: Plan) -> View:
    counts = numbers("queries", "to be safe")
    detected = [(_planned(row), row.needed.queries, row.needed.upper) for row in result.parts]
    passed = [
        (_planned(row), row.to_pass.queries, row.to_pass.upper)
        for row in result.parts
        if row.to_pass is not None
    ]
    pilot = f"by a pilot of {result.n_queries} ({result.contender} against {result.baseline})"
    title = f"Queries needed for {percent(result.power, 0)} % power, {pilot}"
    if result.n_runs != (1, 1):
        title += ", for these runs"
    first, background = ranked(result.notes)
    bound = percent(CONFIDENCE, 0)
    caption = f"To be safe: an {bound} % upper bound. All numbers are of queries like these."
    details: tuple[Table, ...] = ()
    if passed:
        to_pass = "Queries with which a gate excludes as large a harm, if the runs are equally good"
        details = (Table.of_texts((*texts(" "), *counts), passed, title=to_pass),)
    return View(
        title,
        tables=(Table.of_texts((*texts(" "), *counts), detected, caption),),
        notes=first,
        more="queries to pass a gate",
        details=details,
        background=background,
    )


def _planned(row: PlannedRow) -> str:
    unit = "points" if row.measured_in == POINTS else row.measured_in
    return f"{row.name}, {row.effect:.3g} {unit_behind(row.effect, unit)}"


@view_of.register
def _published(result: SummaryVerdict) -> View:
    change = fixed(100 * (result.won - result.lost) / result.n, 2, signed=True)
    longer = fixed(result.ranking_difference, 2, signed=True)
    coverage_p, ranking_p, low, high = (
        pvalue(p, result.alpha)
        for p in (result.coverage_pvalue, result.ranking_pvalue, *result.coverage_pvalues)
    )
    within_rounding = f"[{low}, {high}]" if result.rounding else NOTHING
    rows = [
        ("coverage, points", change, coverage_p, within_rounding),
        ("ranking, ranks", longer, ranking_p, NOTHING),
    ]
    columns = texts("facet") + numbers("B - A", "p", "p within rounding")
    settings = (
        f"{plural('query', result.n)}: won {result.won:g}, lost {result.lost:g}; alpha"
        f" {result.alpha:g}; p: not corrected"
    )
    if result.rounding:
        settings += f"; rounded to within {result.rounding:g} percentage points"
    directions = "coverage: higher is better; ranking: lower is better"
    table = Table.of_texts(columns, rows, directions, settings)
    return View(
        "Verdict from published numbers",
        result.label,
        sentences=tuple(_rounding_sentences(result)),
        tables=(table,),
        notes=result.notes,
    )


def _rounding_sentences(result: SummaryVerdict) -> Iterator[str]:
    yield f"The strict rule says {result.strict}, the do-no-harm rule {result.do_no_harm}."
    if result.rounding and result.survives_rounding:
        yield "All numbers that round to these give the same verdict."
    elif result.rounding:
        _, *others = result.labels
        yield f"Numbers that round to these can also give: {listed(others)}."


@view_of.register
def _means_verdict(result: MeansVerdict) -> View:
    title = (
        f"Shares answered {result.baseline} and {result.contender} of {plural('query', result.n)}"
    )
    if result.net is None:
        return View(title, "there are no such shares", tuple(_impossible_shares(result)))
    answered = [_range(counts) for counts in (result.answered_baseline, result.answered_contender)]
    most = f"two such runs differ on at most {plural('query', result.most_differing or 0)}"
    return View(
        title,
        _net_words(result.net),
        (
            _threshold_words(result),
            "What a comparison needs beside them: won and lost, or the runs.",
        ),
        more="how many queries were answered",
        background=(f"Queries answered: {answered[0]} (A) and {answered[1]} (B); {most}.",),
    )


def _impossible_shares(result: MeansVerdict) -> Iterator[str]:
    for share, counts in (
        (result.baseline, result.answered_baseline),
        (result.contender, result.answered_contender),
    ):
        if counts is None:
            yield f"No whole number of {plural('query', result.n)} is printed as {share}."
    yield (
        f"Is {result.n} the number of answerable queries, and are these shares of queries answered,"
        " printed without an error?"
    )


def _range(counts: Counts | None) -> str:
    if counts is None:
        return NOTHING
    if counts.low == counts.high:
        return f"{counts.low}"
    return f"{counts.low} to {counts.high}"


def _net_words(net: Counts) -> str:
    """Return how many more queries were won than lost."""
    if net.low == net.high == 0:
        return "as many queries won as lost"
    if net.low < 0 < net.high:
        return f"net between {plural('query', -net.low)} lost and {net.high} won"
    size = Counts(min(map(abs, net)), max(map(abs, net)))
    noun = "query" if size.high == 1 else "queries"
    side = "won" if net.high > 0 else "lost"
    return f"net {_range(size)} {noun} {side}"


def _threshold_words(result: MeansVerdict) -> str:
    """Return when the net number is significant."""
    test = f"exact, {100 * result.alpha:g} %"
    if result.significant == "never" or result.threshold is None:
        return f"It cannot be significant ({test}), however few queries the runs differ on."
    if result.significant == "always":
        return (
            f"Significant ({test}) whichever queries they are: such runs differ on at most"
            f" {result.most_differing}."
        )
    low, high = result.threshold
    words = (
        f"Significant ({test}) only if the runs differ on at most {plural('query', high)}"
        f" ({percent(high / result.n)} %)"
    )
    if low == high:
        return f"{words}."
    least = f"on at most {low}" if low else "never"
    return f"{words}; for the smallest net number that the rounding allows, {least}."
