"""Figures of search lengths, of their changes, and of what is left to gain."""

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from ir_outcomes.choices import DOCUMENTS_ABOVE, Floats, level_unit
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.errors import ParameterError
from ir_outcomes.showing import bucket_names, conditions_words, count, figures
from ir_outcomes.showing.figures import BETTER, GREY, INK, WORSE, draws, finished

# Whose figures come first.
from ir_outcomes.showing.figures import comparisons as comparisons
from ir_outcomes.tail.lengths import bucket_columns
from ir_outcomes.tail.result import TailResult

NUMBERED_ROWS = 30  # of a shaded matrix whose cells also hold their number
# The largest change of each bar, in ranks or hundredths of a range; the last bar holds the others.
STEPS = (1, 2, 5, 10, 30)
# The least search length of each bucket.
LENGTHS = (1, 2, 3, 6, 11, 21, 51, 101, 201, 501)
# What happened to a query or document -> colour and hatch of its bar.
CHANGES = {
    "lost": (WORSE, "////"),
    "worse": ("#F0C08F", "////"),
    "better": ("#8DB4E8", ""),
    "won": (BETTER, ""),
}
Bars = Sequence[tuple[str, Mapping[str, int]]]  # a name, and how many changed in which way


@draws("changes", Comparison)
def draw_changes_of_queries(comparison: Comparison, ax: Any) -> Any:
    """Draw how many queries changed by how much."""
    sign = 1 if comparison.ranking.higher_is_better else -1
    queries = comparison.per_query()
    changes = [(query.outcome, sign * (query.change or 0.0)) for query in queries]
    unit = figures.literal(comparison.ranking.measured_in)
    step = 1.0
    largest = max((abs(gain) for _, gain in changes), default=0.0) or 1.0
    if not comparison.in_lengths:
        step = 10 ** math.ceil(math.log10(largest)) / 100
    ends = [step * end for end in STEPS if end == STEPS[0] or step * end < largest]
    numbers: list[Counter[str]] = [Counter() for _ in range(2 * len(ends) + 2)]
    for outcome, gain in changes:
        position = int(np.searchsorted(ends, abs(gain)))
        kinds = ("better", "won") if gain > 0 else ("worse", "lost")
        if gain:
            bar = len(ends) + 1 + position if gain > 0 else len(ends) - position
            numbers[bar][outcome if outcome in kinds else kinds[0]] += 1
    names = [*(f"up to {end:g}" for end in ends), f"over {ends[-1]:g}"]
    bars = [*zip([*reversed(names), *names], numbers, strict=True)]
    moved = sum(number.total() for number in numbers)
    unchanged = f"{len(changes) - moved:,} without a change not drawn"
    words = f"{count(len(changes), 'query')}, {unchanged}, {conditions_words(comparison.settings)}"
    return _draw_changes(
        ax, bars, comparison.baseline, comparison.contender, words, unit, "queries"
    )


@draws("changes", "length-changes")
def draw_changes_of_documents(result: TailResult, ax: Any) -> Any:
    """Draw how many documents moved by how far: Figure 6 of Alex et al. 2022."""
    counts: dict[str, list[Any]] = {
        change: [row["documents"] for row in rows]
        for change, rows in groupby(result.table, itemgetter("change"))
    }
    sizes = bucket_names(result.edges, is_open=True)
    worse, better = (
        [(size, {kind: number}) for size, number in zip(sizes, counts[change], strict=True)]
        for kind, change in (("worse", "further down"), ("better", "further up"))
    )
    lost, won = ((kind, {kind: counts[kind][0]}) for kind in ("lost", "won"))
    bars: Bars = [lost, *reversed(worse), *better, won]
    words = (
        f"{count(result.n_documents, 'relevant document')}; not drawn: {counts['unchanged'][0]:,}"
        f" unchanged, {counts['neither'][0]:,} found by neither; {_settings(result)}"
    )
    baseline, contender = result.runs
    items = "relevant documents"
    return _draw_changes(ax, bars, baseline, contender, words, DOCUMENTS_ABOVE, items)


def _draw_changes(
    target: Any, bars: Bars, baseline: str, contender: str, words: str, unit: str, items: str
) -> Any:
    """Draw bars from the largest loss to the largest gain."""
    ax = figures.panel(target, 8.0, 4.2)
    explained = {
        "lost": f"lost: {baseline} found it, or more",
        "worse": "worse",
        "better": "better",
        "won": f"won: {contender} found it, or more",
    }
    positions = range(len(bars))
    bottom = np.zeros(len(bars))
    for kind in ("worse", "better", "lost", "won"):
        numbers = np.array([number.get(kind, 0) for _, number in bars])
        color, hatch = CHANGES[kind]
        look = {"color": color, "hatch": hatch, "edgecolor": "white", "linewidth": 0.4}
        label = figures.literal(f"{explained[kind]} ({numbers.sum():,})")
        drawn = ax.bar(positions, numbers, 0.85, bottom, label=label, **look)
        bottom = bottom + numbers
    ax.bar_label(drawn, [f"{total:,.0f}" for total in bottom], padding=2, fontsize=8)
    ax.set_ylim(0, 1.12 * max(bottom.max(), 1))
    ax.axvline(len(bars) / 2 - 0.5, color=INK, linewidth=0.8)
    ax.set_xticks(positions, [name for name, _ in bars])
    figures.tilted(ax, 30)
    figures.counted(ax.yaxis)
    return finished(
        ax,
        f"{contender} against {baseline}: change of {items}",
        words,
        x=f"change, {unit}: worse on the left, better on the right",
        y=items,
        legend=True,
    )


@draws("lengths", Comparison)
def draw_lengths_of_queries(comparison: Comparison, ax: Any) -> Any:
    """Draw which share of the queries has which search length in both runs."""
    if not comparison.in_lengths:
        raise ParameterError("there are no search lengths, only values", kind="lengths")
    queries = comparison.per_query()
    lengths = [[query.baseline for query in queries], [query.contender for query in queries]]
    found = [[length for length in of_run if length is not None] for of_run in lengths]
    longest = max(map(max, filter(None, found)), default=1.0)
    edges = [length for length in LENGTHS if length <= longest]
    counts = [
        [*np.histogram(of_run, [*edges, np.inf])[0], len(queries) - len(of_run)] for of_run in found
    ]
    return _draw_shares(
        ax,
        [f"{comparison.baseline} (baseline)", comparison.contender],
        bucket_names(edges, is_open=True),
        100 * np.array(counts) / max(len(queries), 1),
        f"{comparison.contender} against {comparison.baseline}: search lengths of the queries",
        f"{count(len(queries), 'query')}, {conditions_words(comparison.settings)}",
        f"search length, {level_unit(comparison.ranking.measured_in)} (left is better)",
        "% of the queries",
    )


@draws("lengths", "length-distributions")
def draw_lengths_of_documents(result: TailResult, ax: Any) -> Any:
    """Draw shares of documents by search length: Figure 5 of Alex et al. 2022."""
    columns = [*bucket_columns(result.edges), "missing"]
    counts = np.array([[row[column] for column in columns] for row in result.table], dtype=float)
    documents = count(result.n_documents, "relevant document")
    return _draw_shares(
        ax,
        result.runs,
        bucket_names(result.edges),
        100 * counts / max(result.n_documents, 1),
        f"Where {count(len(result.runs), 'run')} put the relevant documents",
        f"{documents} of {count(result.n_queries, 'query')}, {_settings(result)}",
        f"{DOCUMENTS_ABOVE} the relevant one, plus 1 (left is better)",
        "% of the relevant documents",
    )


def _draw_shares(
    target: Any,
    runs: Sequence[str],
    buckets: Sequence[str],
    shares: Floats,
    title: str,
    words: str,
    x: str,
    label: str,
) -> Any:
    """Shade the share of each bucket, and after a gap that of what is not found."""
    size = len(buckets)
    ax = figures.row_panel(target, runs, max(7.5, 3.5 + 0.42 * (size + 2)), extra=0.6)
    shown = np.insert(shares, size, np.nan, axis=1)
    figures.shaded(ax, shown, label)
    for row, column in np.argwhere(~np.isnan(shown)) if len(runs) <= NUMBERED_ROWS else ():
        share = shown[row, column]
        color = "white" if share > 0.45 * np.nanmax(shown) else INK
        ax.text(column, row, f"{share:.0f}", ha="center", va="center", fontsize=7, color=color)
    ax.set_ylim(len(runs) - 0.5, -0.5)
    ax.set_xticks([*range(size), size + 1], [*buckets, "not found"])
    figures.tilted(ax)
    return finished(ax, title, words, x=x)


@draws("headroom", "headroom")
def draw_headroom(result: TailResult, ax: Any) -> Any:
    """Draw what the best run leaves to gain: Figures 1 to 4 of Alex et al. 2022."""
    measures: list[list[Any]] = [
        list(rows) for _, rows in groupby(result.table, itemgetter("measure"))
    ]
    axes = figures.panels(ax, 8.4, 6.0, rows=2, columns=2)
    for panel, rows in zip(axes, measures, strict=True):
        # Search lengths begin at 1; better values are on the right, as those of precision.
        ordered = rows if rows[0]["from"] < 1 else rows[::-1]
        numbers = [row["queries"] for row in ordered]
        panel.bar(range(len(numbers)), numbers, 0.9, color=GREY)
        panel.set_xticks(range(len(numbers)), [f"{row['from']:g}" for row in ordered], fontsize=7)
        figures.counted(panel.yaxis)
        best = figures.labels_of([ordered[0]["run"]])[0]
        words = f"{figures.literal(ordered[0]['measure'])}\n{best}, mean {ordered[0]['mean']:.3g}"
        panel.set(ylabel="queries", xlabel=words)
    return finished(
        axes[0],
        f"What the best of {count(len(result.runs), 'run')} by each measure leaves to gain",
        f"Right is better; a bar holds the values from its number to the next, {_settings(result)}",
    )


def _settings(result: TailResult) -> str:
    settings = result.settings
    return "" if settings is None else f"{conditions_words(settings)}, ties {settings.ties}"
