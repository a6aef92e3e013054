"""Comparisons as text: aligned, readable in 80 columns, and without colour where nobody looks."""

from __future__ import annotations

from collections.abc import Iterable
from io import StringIO
from typing import TextIO

from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ir_outcomes.comparison.facets import Facet
from ir_outcomes.comparison.outcomes import OUTCOMES
from ir_outcomes.comparison.result import Comparison, Comparisons, QueryOutcome
from ir_outcomes.reading.datasets import Source, size_text
from ir_outcomes.reading.tasks import Task

WIDTH = 80
_STYLES = {"better": "bold green", "worse": "bold red", "trade-off": "bold yellow"}


def comparison_text(comparison: Comparison) -> str:
    """Render a comparison as plain text, 80 columns wide."""
    return plain(comparison_report(comparison))


def comparisons_text(comparisons: Comparisons) -> str:
    """Render several comparisons as plain text, 80 columns wide."""
    return plain(comparisons_report(comparisons))


def comparison_report(comparison: Comparison) -> RenderableType:
    """Lay out a comparison for a rich console."""
    return Group(
        Text(f"{comparison.contender} (B) against {comparison.baseline} (A, the baseline)", style="bold"),
        _head(comparison),
        "",
        _outcome_table(comparison),
        "",
        _facet_table(comparison),
        *_sizes(comparison),
        "",
        *_words(comparison),
        *bulleted("Notes", comparison.notes),
    )


def comparisons_report(comparisons: Comparisons) -> RenderableType:
    """Lay out several comparisons for a rich console: the columns of Table 2 of Lin et al. 2021, with the verdict."""
    if not comparisons.items:
        return Text("no comparison")
    first = comparisons[0]
    parts: list[RenderableType] = [
        Text(_title(comparisons), style="bold"),
        _head(first),
        "",
        _table_2(comparisons),
        Text(
            f"Outcomes in % of {_items(first)}; cov: change of coverage in percentage points, higher is better; "
            "A, B: mean search length of baseline and contender on what both find, in ranks, lower is "
            "better (A differs from row to row: "
            f"each row has its own such queries); p: corrected ({_correction(first)}).",
            style="dim",
        ),
        "",
    ]
    for each in comparisons:
        parts += _words(each, _called(each, comparisons))
    return Group(*parts, "", *bulleted("Notes", _shared_notes(comparisons)))


def query_report(queries: Iterable[QueryOutcome], comparison: Comparison) -> RenderableType:
    """Lay out a list of queries."""
    table = aligned_table("query", "outcome", "found A", "found B", "length A", "length B", "change", "text", right=range(2, 7))
    for query in queries:
        table.add_row(
            Text(query.query_id),
            query.outcome,
            f"{query.found_baseline:.2f}",
            f"{query.found_contender:.2f}",
            *(_number(value, ".2f") for value in (query.baseline, query.contender)),
            _number(query.difference, "+.2f"),
            Text(query.text or ""),
        )
    head = f"A: {comparison.baseline}, B: {comparison.contender}; found: share of the relevant documents; length in ranks"
    return Group(Text(head, style="dim"), table)


def tasks_report(tasks: Iterable[Task]) -> RenderableType:
    """Lay out a list of tasks."""
    table = aligned_table("dataset", "queries", "cutoff", "rel", "unit", "qrels", right=(1, 2, 3))
    table.columns[0].no_wrap = True
    for task in tasks:
        queries = "-" if task.n_queries is None else f"{task.n_queries:,}"
        table.add_row(task.dataset_id, queries, str(task.cutoff), str(task.rel), task.unit, _where(task.source("qrels")))
    return table


def task_report(task: Task) -> RenderableType:
    """Lay out a task: its settings, and where its parts come from."""
    table = aligned_table("part", "on this machine", "file")
    for part in ("qrels", "queries", "scoreddocs"):
        source = task.source(part)
        path = "-" if source is None or source.path is None else source.path
        table.add_row(part, _where(source), Text(path, overflow="fold"))
    head = (
        f"cutoff {task.cutoff}, rel {task.rel}, unit {task.unit}; official measure {task.official_measure or 'unknown'}; "
        f"baseline {task.baseline or 'none'}"
    )
    return Group(Text(task.dataset_id, style="bold"), Text(head), "", table, *bulleted("Notes", task.notes))


def _where(source: Source | None) -> str:
    if source is None:
        return "none"
    if source.here:
        return "here"
    return "to fetch" if source.size is None else size_text(source.size)


def short_pvalue(pvalue: float) -> str:
    """Write a p-value for a table cell.

    Examples
    --------
    >>> short_pvalue(0.0312), short_pvalue(3e-9), short_pvalue(1.0)
    ('0.031', '3e-09', '1.000')
    """
    return f"{pvalue:.1e}".replace(".0e", "e") if pvalue < 0.001 else f"{pvalue:.3f}"


def plain(report: RenderableType) -> str:
    """Render a report without colour, 80 columns wide."""
    stream = StringIO()
    Console(file=stream, width=WIDTH, color_system=None, force_terminal=False, highlight=False, emoji=False).print(report)
    return "\n".join(line.rstrip() for line in stream.getvalue().splitlines())


def _head(comparison: Comparison) -> Text:
    settings = comparison.settings
    queries = f"{comparison.n_queries} queries"
    if comparison.n_unanswerable:
        queries += f" ({comparison.n_unanswerable} unanswerable left out)"
    judged = ", judged only" if settings.judged_only else ""
    family = f", verdict corrected by {settings.correction} over {settings.family} comparisons" if settings.family > 1 else ""
    return Text(
        f"{queries}, cutoff {settings.cutoff or 'unknown'}, rel {settings.rel}, unit {settings.unit}, ties {settings.ties}"
        f"{judged}, alpha {settings.alpha:g}{family}",
        style="dim",
    )


def _items(comparison: Comparison) -> str:
    return "queries" if comparison.unit == "query" else "relevant documents, averaged within queries"


def _correction(comparison: Comparison) -> str:
    return f"{comparison.settings.correction}, family of {comparison.settings.family}"


def _outcome_table(comparison: Comparison) -> Table:
    counted = "queries" if comparison.unit == "query" else "documents"
    table = aligned_table(
        "outcome", f"found within {comparison.cutoff} by" if comparison.cutoff else "found by", counted, "share", right=(2, 3)
    )
    found_by = {"neither": "no run", "lost": comparison.baseline, "won": comparison.contender, "both": "both runs"}
    for outcome in OUTCOMES:
        only = "only " if outcome in ("lost", "won") else ""
        share = comparison.outcomes.fractions.get(outcome)
        table.add_row(
            outcome,
            Text(only + found_by[outcome]),
            str(getattr(comparison.outcomes, outcome)),
            "-" if share is None else f"{100 * share:.2f} %",
        )
    return table


def _facet_table(comparison: Comparison) -> Table:
    level = f"{100 * (1 - comparison.alpha):g} % interval"
    table = aligned_table("facet", "better", "A", "B", "B - A", level, "p", "test", right=(2, 3, 4, 5, 6))
    for facet in filter(None, (comparison.coverage, comparison.ranking, comparison.reciprocal_rank)):
        places = 2 if facet.measured_in in ("percentage points", "ranks") else 4
        table.add_row(
            f"{facet.name}, {'%' if facet.name == 'coverage' else facet.measured_in}".removesuffix(", reciprocal"),
            "higher" if facet.higher_is_better else "lower",
            _number(facet.baseline, f".{places}f"),
            _number(facet.contender, f".{places}f"),
            _number(facet.difference, f"+.{places}f"),
            _interval(facet, places),
            short_pvalue(facet.pvalue),
            facet.test,
        )
    naive, on_ranks = comparison.naive, comparison.reciprocal_rank is not None
    table.add_row(
        "MRR, naively" if on_ranks else "mean, naively",
        "higher" if on_ranks or comparison.ranking.higher_is_better else "lower",
        *(_number(value, ".4f") for value in (naive.baseline, naive.contender)),
        _number(naive.difference, "+.4f"),
        "",
        short_pvalue(naive.pvalues["t"]),
        "t",
    )
    return table


def _sizes(comparison: Comparison) -> list[RenderableType]:
    """Say how large the changes are: odds of won to lost, ratio of search lengths, shift of a typical query."""
    coverage, ranking = comparison.coverage, comparison.ranking
    sizes = []
    odds = coverage.effect_interval(1 - comparison.alpha)
    if coverage.effect_size is not None and odds is not None:
        sizes.append(f"won : lost {coverage.effect_size:.2f} [{odds.low:.2f}, {odds.high:.2f}]")
    if ranking.ratio is not None and ranking.ratio_interval is not None:
        low, high = ranking.ratio_interval
        sizes.append(f"B reads {ranking.ratio:.2f} [{low:.2f}, {high:.2f}] times as far as A")
    if ranking.shift is not None:
        places = 2 if ranking.measured_in == "ranks" else 4
        sizes.append(f"typical query {ranking.shift:+.{places}f} {ranking.measured_in} (Hodges-Lehmann)")
    return [Text("; ".join(sizes), style="dim")] if sizes else []


def _title(comparisons: Comparisons) -> str:
    baselines = {each.baseline for each in comparisons}
    if len(baselines) > 1:
        return f"{len(comparisons)} pairs of runs, the second against the first"
    return f"{len(comparisons)} runs against {baselines.pop()} (the baseline)"


def _called(comparison: Comparison, comparisons: Comparisons) -> str:
    several = len({each.baseline for each in comparisons}) > 1
    return f"{comparison.baseline} : {comparison.contender}" if several else comparison.contender


def _table_2(comparisons: Comparisons) -> Table:
    table = aligned_table("run", "lost", "won", "both", "cov", "p", "A", "B", "p", "verdict", right=range(1, 9))
    for each in comparisons:
        shares = each.outcomes.fractions
        table.add_row(
            Text(_called(each, comparisons), overflow="fold"),
            *(f"{100 * shares[name]:.1f}" if name in shares else "-" for name in ("lost", "won", "both")),
            _number(each.coverage.difference, "+.1f"),
            short_pvalue(each.coverage.pvalue_corrected),
            _number(each.ranking.baseline, ".2f"),
            _number(each.ranking.contender, ".2f"),
            short_pvalue(each.ranking.pvalue_corrected),
            colored_label(each.verdict.label),
        )
    return table


def _words(comparison: Comparison, title: str = "Verdict") -> list[RenderableType]:
    label = Text.assemble(f"{title}: ", colored_label(comparison.verdict.label))
    lines: list[RenderableType] = [label, Padding(Text(comparison.verdict.sentence), (0, 0, 0, 2))]
    if comparison.settings.margins is not None:
        coverage, ranking = comparison.settings.margins
        answer = "non-inferior" if comparison.verdict.non_inferior else "not shown to be non-inferior"
        margins = f"  {answer} at margins of {coverage:g} pp and {ranking:g} {comparison.ranking.measured_in}"
        lines.append(Text(margins))
    return lines


def bulleted(title: str, notes: Iterable[str]) -> list[RenderableType]:
    """Lay out notes under a title; nothing where there are none."""
    grid = Table.grid(padding=(0, 1))
    for note in notes:
        grid.add_row(" -", Text(note))
    return [Text(title, style="bold"), grid] if grid.row_count else []


def _shared_notes(comparisons: Comparisons) -> list[str]:
    """Say each note once, with the runs it is about where it is not about all."""
    about: dict[str, list[str]] = {}
    for each in comparisons:
        for note in each.notes:
            about.setdefault(note, []).append(_called(each, comparisons))
    return [note if len(runs) == len(comparisons) else f"{', '.join(runs)}: {note}" for note, runs in about.items()]


def aligned_table(*headings: str, right: Iterable[int] = ()) -> Table:
    """Make a table without lines; the columns `right` hold numbers."""
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    numeric = set(right)
    for column, heading in enumerate(headings):
        table.add_column(heading, justify="right" if column in numeric else "left", no_wrap=column in numeric)
    return table


def colored_label(label: str) -> Text:
    """Colour a verdict: green for better, red for worse."""
    return Text(label, style=_STYLES.get(label.split()[0], ""))


def _interval(facet: Facet, places: int) -> str:
    if facet.interval is None:
        return "-"
    return f"[{facet.interval.low:+.{places}f}, {facet.interval.high:+.{places}f}]"


def _number(value: float | None, form: str) -> str:
    return "-" if value is None else format(value, form)


def print_report(report: RenderableType, stream: TextIO) -> None:
    """Print a report: with colour and in the terminal's width on a terminal, plain and in 80 columns elsewhere."""
    if stream.isatty():
        Console(file=stream, highlight=False, emoji=False).print(report)
    else:
        stream.write(f"{plain(report)}\n")
