"""Results of the analyses as text, LaTeX and HTML: one view of each, rendered in three ways."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence
from functools import singledispatch
from itertools import pairwise
from typing import Any, NamedTuple

from rich.console import Group, RenderableType
from rich.text import Text

from ir_outcomes.errors import ParameterError
from ir_outcomes.leaderboards import Agreement, Leaderboard, RankDistribution, SotaHistory
from ir_outcomes.leaderboards.pairs import PairVerdict
from ir_outcomes.results import Result
from ir_outcomes.showing.tables import fixed, percent, tex
from ir_outcomes.showing.text import aligned_table, bulleted, colored_label, plain, short_pvalue
from ir_outcomes.tail import RRIE, Headroom, LengthChanges, LengthDistributions, Reordering

__all__ = ["View", "as_html", "as_latex", "as_text", "report", "views"]

MOST_GROUPS = 5


class View(NamedTuple):
    """A table with what belongs to it.

    Attributes
    ----------
    title, head : str
        What it is, and how it was made.
    columns : tuple of str
        Headings; ``>`` in front stands for numbers, aligned to the right.
    rows : list of list of str
        Cells.
    caption : str
        What the columns mean: units and directions.
    said : tuple of str
        Sentences below.
    """

    title: str
    head: str
    columns: tuple[str, ...]
    rows: list[list[str]]
    caption: str
    said: tuple[str, ...] = ()


def report(result: Result) -> RenderableType:
    """Lay out a result for a rich console."""
    parts: list[RenderableType] = []
    for view in views(result):
        numeric = [number for number, name in enumerate(view.columns) if name.startswith(">")]
        table = aligned_table(*(name.lstrip(">") for name in view.columns), right=numeric)
        for row in view.rows:
            table.add_row(*map(_cell, row, view.columns))
        parts += ["", Text(view.title, style="bold"), Text(view.head, style="dim"), "", table]
        parts += [Text(line, style="dim") for line in (view.caption,) if line]
        parts += [Text(line) for line in view.said]
    return Group(*parts[1:], *bulleted("Notes", _notes(result)))


def _cell(text: str, heading: str) -> Text:
    return colored_label(text) if heading == "verdict" else Text(text, overflow="fold")


def as_text(result: Result) -> str:
    """Render a result as plain text, 80 columns wide."""
    return plain(report(result))


def as_latex(result: Result) -> str:
    r"""Write the tables of a result in LaTeX; needs ``\usepackage{booktabs}``."""
    return "\n\n".join(map(_latex_table, views(result)))


def as_html(result: Result) -> str:
    """Write the tables of a result in HTML, with notes; everything is escaped."""
    notes = "".join(f"<li>{html.escape(note)}</li>" for note in _notes(result))
    folded = f"<details><summary>Notes</summary><ul>{notes}</ul></details>" if notes else ""
    return "".join(map(_html_table, views(result))) + folded


@singledispatch
def views(result: Result) -> list[View]:
    """Choose what is shown of a result, and how its numbers are written."""
    raise ParameterError(f"a {type(result).__name__} has no table")


@views.register
def _(result: Leaderboard) -> list[View]:
    settings = result.settings
    items = "queries answered" if settings.unit == "query" else "relevant documents found, averaged within queries"
    unanswerable = f" ({result.n_unanswerable} unanswerable left out)" if result.n_unanswerable else ""
    board = View(
        f"{len(result.standings)} runs by {result.measure} ({_direction(result.higher_is_better)})",
        f"{result.n_queries} queries{unanswerable}, cutoff {settings.cutoff}, rel {settings.rel}, unit {settings.unit}, "
        f"ties {settings.ties}, alpha {settings.alpha:g}, verdicts corrected by {settings.correction} over "
        f"{len(result.pairs)} pairs",
        (">", "run", ">mean", f">{100 * (1 - settings.alpha):g} % interval", ">coverage", ">tier"),
        [
            [
                str(each.rank),
                each.run,
                fixed(each.score, 4),
                "-" if each.interval is None else f"[{each.interval.low:.4f}, {each.interval.high:.4f}]",
                f"{each.coverage:.1f}",
                str(each.tier),
            ]
            for each in result.standings
        ],
        f"coverage: % of {items}, higher is better; tier: nothing is better than a run of tier 1; than a run of a later tier "
        "only runs of earlier ones are, but for cycles.",
    )
    names = [each.run for each in result.standings]
    above = [result.verdict(*pair) for pair in pairwise(names)]
    best = [result.verdict(names[0], name) for name in names[2:]]
    tables = [board, _verdicts("Against the run above", above), _verdicts(f"Against the best, {names[0]}", best)]
    return [*tables[: 3 if best else 2], *(() if result.history is None else views(result.history))]


def _verdicts(title: str, pairs: Sequence[PairVerdict]) -> View:
    rows = []
    for pair in pairs:
        coverage, *lengths, label = _against(pair)
        ps = short_pvalue(pair.coverage_p_corrected), short_pvalue(pair.ranking_p_corrected)
        rows.append([pair.contender, coverage, ps[0], *lengths, ps[1], label])
    return View(
        title,
        "A: that run, B: this one",
        ("run", ">cov", ">p", ">A", ">B", ">p", "verdict"),
        rows,
        "cov: change of coverage, percentage points; A, B: mean search length on what both find, ranks, lower is better (A "
        "differs from row to row: each pair has its own such queries); p: corrected.",
    )


@views.register
def _(result: SotaHistory) -> list[View]:
    judged = any(each.verdict is not None for each in result.runs)
    columns = (">", "date", "run", ">score", ">gain", ">looks", "group") + (
        (">pp", ">before", ">own", "verdict") if judged else ()
    )
    rows = []
    for each in result.runs:
        cells = [
            str(each.number),
            each.date.isoformat(),
            each.run,
            f"{each.score:.4g}",
            fixed(each.gain, 4, "+"),
            str(each.looks),
        ]
        cells.append(each.group or "-")
        if judged:
            cells += [*_against(each.verdict)]
        rows.append(cells)
    groups = [f"{group} {number}" for group, number in list(result.submissions.items())[:MOST_GROUPS]]
    more = len(result.submissions) - len(groups)
    said = (f"Most submissions: {'; '.join(groups)}{f'; {more} groups more' if more else ''}.",) if groups else ()
    corrected = " Verdicts are on this run (B) against the one displaced (A), p-values times the looks." if judged else ""
    return [
        View(
            f"{len(result.runs)} runs took the top by {result.score} ({_direction(result.higher_is_better)})",
            f"{len(result.entries)} entries with a score",
            tuple(columns),
            rows,
            f"gain: over the run displaced; looks: submissions up to and including this one, baselines left out.{corrected}",
            said,
        )
    ]


@views.register
def _(result: RankDistribution) -> list[View]:
    rows = [
        [
            str(each.rank),
            each.run,
            fixed(each.score, 4),
            f"{each.expected_rank:.2f}",
            f"{each.low:.0f}..{each.high:.0f}",
            percent(each.first, ""),
            percent(each.top, ""),
            percent(each.above[place + 1], "") if place + 1 < len(result.runs) else "-",
        ]
        for place, each in enumerate(result.runs)
    ]
    tau = "-" if result.median_tau is None else f"{result.median_tau:.3f}"
    condition = f", {result.condition}" if result.condition else ""
    return [
        View(
            f"Ranks of {len(rows)} runs by {result.measure} ({_direction(result.higher_is_better)}){condition}",
            f"{result.resamples} bootstrap resamples of {result.n_queries} queries, seed {result.seed}",
            (">", "run", ">mean", ">expected", f">{100 * result.level:g} %", ">first", f">top {result.top_k}", ">over next"),
            rows,
            "expected: mean rank, and the interval of ranks; % of the resamples in which the run is first (shared places "
            f"count), among the top {result.top_k}, and above the run below it.",
            (f"Median Kendall tau of a resample's order with the order on all queries: {tau}.",),
        )
    ]


@views.register
def _(result: Agreement) -> list[View]:
    names = {"sign": "sign", "ranksum": "rank sum", "wilcoxon": "signed rank", "t": "t"}
    rows = [
        [
            each.measure,
            names[each.test],
            each.aggregate,
            *(percent(share, "") for share in (each.agree, each.partial, each.disagree, each.significant)),
        ]
        for each in result.tests
    ]
    said: tuple[str, ...] = ()
    if result.verdict is not None:
        verdict = result.verdict
        rows.append(
            [
                f"outcomes by {verdict.unit}",
                "two facets",
                "-",
                *(
                    percent(share, "")
                    for share in (verdict.same, 1 - verdict.same - verdict.contradict, verdict.contradict, verdict.decided)
                ),
            ]
        )
        of_decided = (
            "" if verdict.same_of_decided is None else f", {percent(verdict.same_of_decided, ' %')} where one half decides"
        )
        said = (
            f"Two-facet verdict: both halves give the same label in {percent(verdict.same, ' %')}{of_decided}; they contradict "
            f"each other (better, worse) in {percent(verdict.contradict, ' %')}.",
        )
    return [
        View(
            f"Do halves of the queries agree? {result.n_runs} runs, {result.n_pairs} pairs",
            f"{result.splits} random splits of {result.n_queries} queries, seed {result.seed}, alpha {result.alpha:g}",
            ("measure", "test", "by", ">agree", ">partly", ">disagree", ">significant"),
            rows,
            "In % of splits and pairs; by: aggregate that says which run is better; significant: in at least one half. For the "
            "verdict: same label, other, opposite labels; decided in at least one half.",
            said,
        )
    ]


@views.register
def _(result: Reordering) -> list[View]:
    rows = [
        [
            each.step,
            each.old,
            each.new,
            f"{each.delta_sort:.0f}",
            each.run if each.delta_sort else "-",
            f"{each.better_before} -> {each.better_after}" if each.delta_sort else "-",
            fixed(each.tau, 2),
            "-" if each.delta_value is None else f"{each.delta_value:.3g}x",
        ]
        for each in result.changes
    ]
    depth = "" if result.rel is None else f"depth {result.cutoff or 'of each run'}, rel {result.rel}, missing {result.missing}"
    return [
        View(
            f"Reordering of {len(result.runs)} runs",
            depth or f"by {', '.join(result.measures)}",
            ("step", "from", "to", ">sort", "run", ">better", ">tau", ">value"),
            rows,
            "sort: Delta-Sort, the largest change over the runs of the number of runs that are better, in % of the runs; run, "
            "better: where it happens, and how many runs were and are better; tau: Kendall's tau-b; value: mean of new / old.",
        )
    ]


@views.register
def _(result: LengthDistributions) -> list[View]:
    rows = [
        [
            each.run,
            f"{each.asl:.0f}" if each.asl >= 100 else f"{each.asl:.1f}",
            f"{each.asl_top:.1f}",
            percent(each.counts[0] / result.n_documents, ""),
            percent(each.missing / result.n_documents, ""),
            percent(each.effective_share, ""),
        ]
        for each in result.runs
    ]
    first = f"{result.edges[0]}..{result.edges[1] - 1}"
    return [
        View(
            f"{result.n_documents} relevant documents of {result.n_queries} queries by search length",
            f"depth {result.cutoff or 'of each run'}, rel {result.rel}, missing {result.missing}",
            ("run", ">ASL", ">ASL@g1-10", f">{first}", ">missing", ">averaged"),
            rows,
            "ASL: atomized search length, of all and of the ten best-placed relevant documents, ranks, lower is better; % of "
            f"the relevant documents with a search length of {first}, % not found, and % that AP in effect averages.",
        )
    ]


@views.register
def _(result: LengthChanges) -> list[View]:
    highs = [high - 1 for high in result.edges[1:]]
    sizes = [f"{low} to {high}" if low < high else str(low) for low, high in zip(result.edges, highs, strict=False)]
    sizes.append(f"{result.edges[-1]} or more")
    rows = [[size, str(won), str(lost)] for size, won, lost in zip(sizes, result.wins, result.losses, strict=True)]
    return [
        View(
            f"{result.contender} against {result.baseline}, document by document",
            f"depth {result.cutoff or 'of each run'}, rel {result.rel}, missing {result.missing}",
            (">ranks", ">further up", ">further down"),
            rows,
            "Relevant documents by how far the contender moved them; documents that one run lacks moved at least so far.",
            (
                f"Mean change {result.mean:+.1f} ranks (queries weigh the same; lower is better). Found only by the contender "
                f"{result.found_only_by_contender}, only by the baseline {result.found_only_by_baseline}, by neither "
                f"{result.found_by_neither}; {result.unchanged} stay where they are.",
            ),
        )
    ]


@views.register
def _(result: RRIE) -> list[View]:
    rows = [
        [
            each.measure,
            fixed(each.baseline, 3),
            fixed(each.contender, 3),
            "-" if each.rrie is None else f"{round(100 * each.rrie)} %",
        ]
        for each in result.reductions
    ]
    return [
        View(
            f"{result.contender} (B) against {result.baseline} (A): relative reduction in error",
            f"depth {result.cutoff or 'of each run'}, rel {result.rel}, missing {result.missing}",
            ("measure", ">A", ">B", ">RRIE"),
            rows,
            "RRIE: share of the distance to the optimum of 1 that B saves, higher is better.",
        )
    ]


@views.register
def _(result: Headroom) -> list[View]:
    return [
        View(
            f"What the best of {result.n_runs} runs leave to gain",
            f"depth {result.cutoff or 'of each run'}, rel {result.rel}, missing {result.missing}",
            ("measure", "best run", ">mean", "queries from one bucket to the next"),
            [[each.measure, each.run, fixed(each.mean, 3), " ".join(map(str, each.counts))] for each in result.measures],
            "Buckets: a tenth each from 0 for precisions (1 is the best); from 1, 2, 5, 10, 20, 50, 100, 200, 500 and 1000 "
            "ranks for search lengths (1 is the best).",
        )
    ]


def _against(pair: PairVerdict | None) -> list[str]:
    if pair is None:
        return ["-"] * 4
    return [f"{pair.coverage:+.1f}", fixed(pair.baseline_length, 2), fixed(pair.contender_length, 2), pair.label]


def _direction(higher_is_better: bool) -> str:
    return f"{'higher' if higher_is_better else 'lower'} is better"


def _notes(result: Any) -> Iterable[str]:
    return (*result.notes, *(() if getattr(result, "history", None) is None else result.history.notes))


def _latex_table(view: View) -> str:
    columns = "".join("r" if name.startswith(">") else "l" for name in view.columns)
    lines = [
        rf"\begin{{tabular}}{{{columns}}}",
        r"\toprule",
        _latex_row(name.lstrip(">") for name in view.columns),
        r"\midrule",
        *(_latex_row(row) for row in view.rows),
        r"\bottomrule",
        r"\end{tabular}",
    ]
    comments = (" ".join(line.split()) for line in (view.title, view.head, view.caption, *view.said))
    return "\n".join([*lines, *(f"% {comment}" for comment in comments)])


def _latex_row(cells: Iterable[str]) -> str:
    return " & ".join(map(tex, cells)) + r" \\"


def _html_table(view: View) -> str:
    return (
        f'<table class="ir-outcomes"><caption>{html.escape(f"{view.title}. {view.head}. {view.caption}")}</caption>'
        f"<thead><tr>{_html_cells([name.lstrip('>') for name in view.columns], 'th')}</tr></thead>"
        f"<tbody>{''.join(f'<tr>{_html_cells(row)}</tr>' for row in view.rows)}</tbody></table>"
        f"{''.join(f'<p>{html.escape(line)}</p>' for line in view.said)}"
    )


def _html_cells(cells: Sequence[str], tag: str = "td") -> str:
    return "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells)
