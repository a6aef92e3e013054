"""Figures of changes of search lengths, and of what is left to gain."""

import math
from collections.abc import Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np

from ir_outcomes.choices import DOCUMENTS_ABOVE, Ints
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.showing import figures
from ir_outcomes.showing.figures import BETTER, GREY, INK, WORSE, Picture, draws

# Whose figures come first.
from ir_outcomes.showing.figures import comparisons as comparisons
from ir_outcomes.showing.views import tail
from ir_outcomes.showing.views.parts import settings_words
from ir_outcomes.showing.words import bucket_names, count
from ir_outcomes.tail.result import Headroom, LengthChanges

# The largest change of each bar, in ranks or hundredths of a range; the last bar holds the others.
STEPS = (1, 2, 5, 10, 30)
# What happened to a query or document -> its meaning, colour and hatch of its bar.
CHANGES = {
    "worse": ("worse", "#F0C08F", "////"),
    "lost": ("lost: only the baseline found it, or more", WORSE, "////"),
    "better": ("better", "#8DB4E8", ""),
    "won": ("won: only the contender found it, or more", BETTER, ""),
}


@draws("changes", Comparison)
def draw_changes_of_queries(comparison: Comparison, target: Any) -> Picture:
    """Draw how many queries changed by how much."""
    sign = 1 if comparison.ranking.higher_is_better else -1
    queries = comparison.per_query()
    outcomes = np.array([query.outcome for query in queries])
    gains = np.array([sign * (query.change or 0.0) for query in queries])
    largest = np.abs(gains).max(initial=0.0) or 1.0
    step = 1.0 if comparison.in_lengths else 10 ** math.ceil(math.log10(largest)) / 100
    ends = [step * end for end in STEPS if end == STEPS[0] or step * end < largest]
    bars = np.searchsorted(ends, np.abs(gains))
    of_kinds = {
        "worse": (gains < 0) & (outcomes != "lost"),
        "lost": (gains < 0) & (outcomes == "lost"),
        "better": (gains > 0) & (outcomes != "won"),
        "won": (gains > 0) & (outcomes == "won"),
    }
    counts = {
        kind: np.bincount(bars[of_kind], minlength=len(ends) + 1)
        for kind, of_kind in of_kinds.items()
    }
    names = [*(f"up to {end:g}" for end in ends), f"over {ends[-1]:g}"]
    return _draw_changes(
        target,
        [*reversed(names), *names],
        counts,
        f"{comparison.contender} against {comparison.baseline}",
        f"{count(len(gains), 'query')}, {np.sum(gains == 0):,} without a change not drawn,"
        f" {settings_words(comparison.settings)}",
        comparison.ranking.measured_in,
        "queries",
    )


@draws("changes", LengthChanges)
def draw_changes_of_documents(result: LengthChanges, target: Any) -> Picture:
    """Draw how many documents moved by how far: Figure 6 of Alex et al. 2022."""
    numbers = {
        change: np.array([row["documents"] for row in rows])
        for change, rows in groupby(result.table, itemgetter("change"))
    }
    moved = np.zeros(len(result.edges), dtype=np.int64)
    counts = {
        "worse": np.append(numbers["further down"], 0),
        "lost": np.append(moved, numbers["lost"]),
        "better": np.append(numbers["further up"], 0),
        "won": np.append(moved, numbers["won"]),
    }
    sizes = bucket_names(result.edges, is_open=True)
    return _draw_changes(
        target,
        ["lost", *reversed(sizes), *sizes, "won"],
        counts,
        "{1} against {0}".format(*result.runs),
        f"{count(result.n_documents, 'relevant document')}; not drawn:"
        f" {numbers['unchanged'][0]:,} unchanged, {numbers['neither'][0]:,} found by neither;"
        f" {tail.settings_words(result)}",
        DOCUMENTS_ABOVE,
        "relevant documents",
    )


def _draw_changes(
    target: Any,
    names: Sequence[str],
    counts: Mapping[str, Ints],
    title: str,
    words: str,
    unit: str,
    items: str,
) -> Picture:
    """Draw bars from the largest loss to the largest gain."""
    (ax,) = figures.panels(target, 8.0, 4.6)
    middle = len(names) // 2
    sizes = np.arange(middle)
    positions = {"worse": middle - 1 - sizes, "better": middle + sizes}
    marks = {}
    for side, outcome in (("worse", "lost"), ("better", "won")):
        bottom = np.zeros(middle, dtype=np.int64)
        for kind in (side, outcome):
            meaning, color, hatch = CHANGES[kind]
            look: Any = {"color": color, "hatch": hatch, "edgecolor": "white", "linewidth": 0.4}
            drawn = ax.bar(positions[side], counts[kind], 0.85, bottom, label=kind, **look)
            if counts[kind].any():
                marks[f"{meaning} ({counts[kind].sum():,})"] = drawn
            bottom = bottom + counts[kind]
        ax.bar_label(drawn, [f"{total:,}" for total in bottom], padding=2, fontsize=8)
    ax.margins(y=0.12)
    ax.axvline(middle - 0.5, color=INK, linewidth=0.8)
    ax.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
    figures.count_on(ax.yaxis)
    ax.set_ylabel(items)
    ax.set_xlabel(figures.literal(f"change, {unit}: worse on the left, better on the right"))
    return Picture([ax], f"{title}: change of {items}", words, marks)


@draws("headroom", Headroom)
def draw_headroom(result: Headroom, target: Any) -> Picture:
    """Draw what the best run leaves to gain: Figures 1 to 4 of Alex et al. 2022."""
    tables: list[list[Any]]
    tables = [list(rows) for _, rows in groupby(result.table, itemgetter("measure"))]
    n_rows = math.ceil(len(tables) / 2)
    axes = figures.panels(target, 8.4, 3.2 * n_rows + 0.3, rows=n_rows, columns=min(len(tables), 2))
    for ax, rows in zip(axes, tables, strict=False):
        lowest = [f"{row['from']:g}" for row in rows]
        ax.bar(range(len(rows)), [row["queries"] for row in rows], 0.9, color=GREY)
        ax.set_xticks(range(len(rows)), lowest, fontsize=7)
        figures.count_on(ax.yaxis)
        higher = rows[0]["from"] < 1  # search lengths begin at 1
        if not higher:
            ax.invert_xaxis()
        (best,) = figures.labels_of([rows[0]["run"]])
        measure = figures.literal(rows[0]["measure"])
        words = f"{best}, mean {rows[0]['mean']:.3g}\n({figures.toward(higher)})"
        ax.set_xlabel(f"{measure}\n{words}")
        ax.set_ylabel("queries")
    for ax in axes[len(tables) :]:
        ax.remove()
    return Picture(
        axes[: len(tables)],
        f"Queries by what the best of {count(len(result.runs), 'run')} leaves to gain",
        f"A bar holds the values from its number to the next, {tail.settings_words(result)}",
    )
