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
from ir_outcomes.showing.words import bucket_names, conditions_words, count
from ir_outcomes.tail.result import Headroom, LengthChanges, TailResult

# The largest change of each bar, in ranks or hundredths of a range; the last bar holds the others.
STEPS = (1, 2, 5, 10, 30)
# What happened to a query or document -> colour and hatch of its bar.
CHANGES = {
    "worse": ("#F0C08F", "////"),
    "lost": (WORSE, "////"),
    "better": ("#8DB4E8", ""),
    "won": (BETTER, ""),
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
    bar = np.searchsorted(ends, np.abs(gains))
    counts = {
        kind: np.bincount(bar[way & (outcomes == kind)], minlength=len(ends) + 1)
        for kind, way in (("lost", gains < 0), ("won", gains > 0))
    }
    for kind, only, way in (("worse", "lost", gains < 0), ("better", "won", gains > 0)):
        counts[kind] = np.bincount(bar[way], minlength=len(ends) + 1) - counts[only]
    names = [*(f"up to {end:g}" for end in ends), f"over {ends[-1]:g}"]
    return _draw_changes(
        target,
        [*reversed(names), *names],
        counts,
        (comparison.baseline, comparison.contender),
        f"{count(len(gains), 'query')}, {np.sum(gains == 0):,} without a change not drawn,"
        f" {conditions_words(comparison.settings)}",
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
        (result.runs[0], result.runs[1]),
        f"{count(result.n_documents, 'relevant document')}; not drawn:"
        f" {numbers['unchanged'][0]:,} unchanged, {numbers['neither'][0]:,} found by neither;"
        f" {_settings(result)}",
        DOCUMENTS_ABOVE,
        "relevant documents",
    )


def _draw_changes(
    target: Any,
    names: Sequence[str],
    counts: Mapping[str, Ints],
    runs: tuple[str, str],
    words: str,
    unit: str,
    items: str,
) -> Picture:
    """Draw bars from the largest loss to the largest gain."""
    (ax,) = figures.panels(target, 8.0, 4.6)
    baseline, contender = runs
    explained = {
        "worse": "worse",
        "lost": f"lost: {baseline} (the baseline) found it, or more",
        "better": "better",
        "won": f"won: {contender} found it, or more",
    }
    middle = len(names) // 2
    right = np.arange(middle, len(names))
    positions = {"worse": right[::-1] - middle, "better": right}
    marks = {}
    for kind, above in (("worse", "lost"), ("better", "won")):
        bottom = np.zeros(middle, dtype=np.int64)
        for part in (kind, above):
            color, hatch = CHANGES[part]
            look: Any = {"color": color, "hatch": hatch, "edgecolor": "white", "linewidth": 0.4}
            drawn = ax.bar(positions[kind], counts[part], 0.85, bottom, label=part, **look)
            if counts[part].any():
                marks[f"{explained[part]} ({counts[part].sum():,})"] = drawn
            bottom = bottom + counts[part]
        ax.bar_label(drawn, [f"{total:,}" for total in bottom], padding=2, fontsize=8)
    ax.margins(y=0.12)
    ax.axvline(middle - 0.5, color=INK, linewidth=0.8)
    ax.set_xticks(range(len(names)), names, rotation=30, ha="right", rotation_mode="anchor")
    figures.count_on(ax.yaxis)
    ax.set_ylabel(items)
    ax.set_xlabel(figures.literal(f"change, {unit}: worse on the left, better on the right"))
    return Picture(
        [ax],
        f"{contender} against {baseline}: change of {items}",
        words,
        marks,
    )


@draws("headroom", Headroom)
def draw_headroom(result: Headroom, target: Any) -> Picture:
    """Draw what the best run leaves to gain: Figures 1 to 4 of Alex et al. 2022."""
    tables: list[list[Any]] = [
        list(rows) for _, rows in groupby(result.table, itemgetter("measure"))
    ]
    panels = _telling(tables)
    n_rows = math.ceil(len(panels) / 2)
    axes = figures.panels(target, 8.4, 3.2 * n_rows + 0.3, rows=n_rows, columns=min(len(panels), 2))
    for ax, rows in zip(axes, panels, strict=False):
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
    for ax in axes[len(panels) :]:
        ax.remove()
    without = ""
    if others := [rows[0]["measure"] for rows in tables if rows not in panels]:
        reason = "because all queries are in one bar, or another panel is the same"
        without = f"; not drawn, {reason}: {', '.join(others)}"
    return Picture(
        axes[: len(panels)],
        f"Queries by what the best of {count(len(result.runs), 'run')} leaves to gain",
        f"A bar holds the values from its number to the next, {_settings(result)}{without}",
    )


def _telling(tables: list[list[Any]]) -> list[list[Any]]:
    """Return the tables in which queries differ, of equal ones the last."""
    panels: dict[Any, list[Any]] = {}
    for rows in tables:
        counts = tuple(row["queries"] for row in rows)
        if sum(map(bool, counts)) > 1:
            panels[rows[0]["run"], rows[0]["from"], counts] = rows
    return list(panels.values()) or tables[-1:]


def _settings(result: TailResult) -> str:
    settings = result.settings
    return "" if settings is None else f"{conditions_words(settings)}, ties {settings.ties}"
