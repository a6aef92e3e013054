"""What is shown of holes in judgments, plans, and published numbers."""

from collections import Counter
from dataclasses import replace
from functools import partial
from typing import get_args

from ir_outcomes.choices import LENGTHS, POINTS, RANKS
from ir_outcomes.decisions.holes import COLUMNS, BoundWord, Holes, PairHoles
from ir_outcomes.decisions.plan import Plan, PlannedRow
from ir_outcomes.decisions.published import SummaryVerdict
from ir_outcomes.formatting import percent, plural, pvalue, unit_behind
from ir_outcomes.notes import ranked
from ir_outcomes.pairs.differences import Quantity
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.verdict import LABELS
from ir_outcomes.showing.registry import view_of
from ir_outcomes.showing.view import Table, View
from ir_outcomes.showing.views import gate as gate  # which registers, too
from ir_outcomes.showing.views.parts import (
    paper_words,
    row_fields,
    row_name,
    settings_words,
    widened_words,
)
from ir_outcomes.showing.words import sentence
from ir_outcomes.statistics.power import CONFIDENCE
from ir_outcomes.table_columns import NUMBER, Column, chosen

MOST_SHOWN = 20  # documents to judge in the details
ENDINGS = {
    "stands": "it stands",
    "could weaken": "unjudged documents could weaken it",
    "could reverse": "unjudged documents could reverse it",
    "could decide": "unjudged documents could decide it",
}


@view_of.register
def _holes(result: Holes) -> View:
    first, background = ranked(result.notes)
    cutoff = f"at cutoff {result.settings.cutoff}"
    table = _holes_table(result)
    if len(result.pairs) == 1:
        (pair,) = result.pairs
        return View(
            f"{pair.contender} (B) against {result.baseline} (A) {cutoff}",
            f"{pair.label}; {ENDINGS[pair.bound.word]}",
            (_unjudged(pair, result), _bound(pair)),
            notes=first,
            more="judged shares, what to judge first",
            details=lambda: (table, _to_judge(result)),
            background=background,
        )
    bounds = Counter(pair.bound.word for pair in result.pairs)
    counted = ", ".join(f"{bounds[word]} {word}" for word in get_args(BoundWord) if bounds[word])
    bound_words = (
        f"{pair.contender}: {_unjudged(pair, result)} {_bound(pair)}" for pair in result.pairs
    )
    verdicts = plural("verdict", len(result.pairs))
    return View(
        f"{verdicts} against {result.baseline} (A) {cutoff}, if unjudged documents were relevant",
        counted if bounds["stands"] == 1 else counted.replace("stands", "stand"),
        tables=(table,),
        notes=first,
        more="each bound",
        background=(*bound_words, *background),
    )


def _holes_table(result: Holes) -> Table:
    at_10 = (result.settings.cutoff or 0) > 10
    depths = ("_at_10", "") if at_10 else ("",)
    shares = (f"judged{depth}_{run}" for depth in depths for run in ("baseline", "contender"))
    return Table.of(
        chosen(COLUMNS, "contender", "verdict", "bound", "n_unjudged", *shares),
        sorted(result.pairs, key=lambda pair: LABELS.index(pair.label)),
        "bound: if all unjudged documents that favour A, or B, or that both return were relevant,"
        " the direction stands, or could be lost (weaken), turned (reverse) or found (decide)",
        "unjudged: documents within the cutoff of A or B; judged: % of the documents of A and of B",
        settings_words(result.settings),
    )


def _unjudged(pair: PairHoles, result: Holes) -> str:
    documents = plural("unjudged document", pair.n_unjudged)
    verb = "is" if pair.n_unjudged == 1 else "are"
    of_a, of_b = (percent(1 - share, 0) for share in pair.judged)
    return (
        f"{documents} {verb} in the top {result.settings.cutoff} of A or B ({of_a} % of what A"
        f" returns there, {of_b} % of B)."
    )


def _bound(pair: PairHoles) -> str:
    bound = pair.bound
    return (
        f"All that favour A relevant: {bound.baseline}; all that favour B: {bound.contender};"
        f" all that both return: {bound.both}."
    )


def _to_judge(result: Holes) -> Table:
    columns = (
        Column("query_id", heading="query"),
        Column("docid", heading="document"),
        Column("baseline", heading="rank A", form=NUMBER),
        Column("contender", heading="rank B", form=NUMBER),
    )
    return Table.of(columns, result.to_judge(MOST_SHOWN), title="Documents to judge first")


@view_of.register
def _plan(result: Plan) -> View:
    passed = [row for row in result.parts if row.to_pass is not None]
    pilot = f"by a pilot of {result.n_queries} ({result.contender} against {result.baseline})"
    runs = "" if result.n_runs == (1, 1) else ", for these runs"
    reasons = tuple(item for item in result.notes if item.kind == "not planned")
    first, background = ranked(item for item in result.notes if item not in reasons)
    to_pass = "Queries with which a gate excludes as large a harm, if the runs are equally good"
    return View(
        f"Queries needed for {percent(result.power, 0)} % power, {pilot}{runs}",
        sentences=reasons,
        tables=_queries_needed(result),
        notes=first,
        more="queries to pass a gate" if passed else "",
        details=lambda: (Table.of(_TO_PASS, passed, title=to_pass),) if passed else (),
        background=background,
    )


def _queries_needed(result: Plan) -> tuple[Table, ...]:
    """Show the queries for each row and, of search lengths, those for the label."""
    if not any(row.needed.queries for row in result.parts):
        return ()
    bound = percent(CONFIDENCE, 0)
    captions = [f"To be safe: an {bound} % upper bound. All numbers are of queries like these."]
    heading = "queries"
    if result.coverage is not None:
        heading = "for the row"
        captions.append(
            "For the label: until the row all queries, which gives its direction, shows a change of"
            " this row alone."
        )
    columns = (
        _PLANNED,
        Column("queries", "needed.queries", heading, NUMBER),
        Column("upper", "needed.upper", "to be safe", NUMBER),
        Column("for_label", "for_label.queries", "for the label", NUMBER),
    )
    return (Table.of(columns, result.parts, *captions, settings_words(result.settings)),)


def _planned(row: PlannedRow) -> str:
    if row.name == "all queries" and row.measured_in not in LENGTHS:
        return f"{row.measured_in}, {row.effect:.3g}"
    unit = "points" if row.measured_in == POINTS else row.measured_in
    return f"{row.name}, {row.effect:.3g} {unit_behind(row.effect, unit)}"


_PLANNED = Column("row", _planned, " ")
_TO_PASS = (
    _PLANNED,
    Column("queries", "to_pass.queries", form=NUMBER),
    Column("upper", "to_pass.upper", "to be safe", NUMBER),
)


@view_of.register
def _published(result: SummaryVerdict) -> View:
    exact = f"p {pvalue(result.exact.pvalue, result.alpha)} by the exact binomial"
    counts = f"Won {result.won}, lost {result.lost}"
    row = result.coverage
    if row is None or result.verdict is None:
        return View(counts, exact, ("For a label, give the number of queries, too (n).",))
    rows = [row]
    sentences = ["These numbers say nothing of all queries, which give the direction."]
    p = result.ranking_pvalue
    if p is not None:
        ranking = Row.absent(Quantity("ranking", RANKS, False, None))
        change = result.ranking_difference
        rows.append(replace(ranking, difference=change, pvalue=p, pvalue_corrected=p))
        sentences.append(paper_words(result.verdict))
    widened = widened_words([row], result.alpha)
    name = Column("row", partial(row_name, points="%"), " ")
    table = Table.of(
        (name, *chosen(row_fields(result.alpha), "difference", "interval", "p")),
        rows,
        "coverage: higher is better; ranking: lower is better",
        f"p of coverage: adjusted t{widened or ', as the interval'}; won and lost: {exact}; not"
        " corrected",
    )
    title = f"{counts} of {plural('query', row.n)}"
    return View(title, result.verdict.label, tuple(map(sentence, sentences)), (table,))
