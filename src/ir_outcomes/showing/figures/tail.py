"""Figures of the analyses of Alex et al. 2022: distributions of search lengths, their changes, RRIE, headroom, reordering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ir_outcomes.showing.figures._frame import Frame, count_axis, legend_beside, row_frame, shade, tilt_labels
from ir_outcomes.showing.figures._labels import labels_of, literal
from ir_outcomes.showing.figures._palette import BLACK, BLUE, GREEN, HATCHES, LIGHT, ORANGE, SKY, VERMILLION, series_style
from ir_outcomes.showing.figures.orders import draw_orders
from ir_outcomes.showing.words import bucket_names, conditions_words, count
from ir_outcomes.statistics.resampling import shared_ranks
from ir_outcomes.tail import RRIE, Headroom, LengthChanges, LengthDistributions, Reordering, TailSettings

__all__ = ["draw_changes", "draw_headroom", "draw_lengths", "draw_reordering", "draw_rrie", "draw_steps"]

GROUPED_BARS = 4  # distributions of more runs are drawn as a shaded matrix
NUMBERED_CELLS = 30  # rows of a shaded matrix whose cells also hold their number


def draw_lengths(result: LengthDistributions, ax: Any) -> Any:
    """Draw the relevant documents by search length, the missing ones apart: Figure 5 of Alex et al. 2022."""
    frame = (_length_bars if len(result.runs) <= GROUPED_BARS else _length_matrix)(result, ax)
    tilt_labels(frame.ax)
    frame.ax.set_xlabel("search length of the document (ranks; left is better)")
    return frame.finish(
        f"Where {count(len(result.runs), 'run')} put the relevant documents\n"
        f"{count(result.n_documents, 'relevant document')} of {count(result.n_queries, 'query')}, "
        f"{_conditions(result.settings)}"
    )


def _length_bars(result: LengthDistributions, ax: Any) -> Frame:
    frame = Frame(ax, 6.2, 3.2)
    ax = frame.ax
    buckets = len(result.edges) - 1
    width = 0.84 / len(result.runs)
    labels = labels_of(run.run for run in result.runs)
    for number, (run, label) in enumerate(zip(result.runs, labels, strict=True)):
        places = np.append(np.arange(buckets), buckets + 0.6) + (number - (len(result.runs) - 1) / 2) * width
        style = {"color": series_style(number)["color"], "hatch": HATCHES[number], "edgecolor": "white", "linewidth": 0.3}
        ax.bar(places, [*run.counts, run.missing], width, label=label, **style)
    ax.set_xticks([*range(buckets), buckets + 0.6], [*bucket_names(result.edges), "not found"])
    count_axis(ax, "relevant documents")
    legend_beside(ax)
    return frame


def _length_matrix(result: LengthDistributions, ax: Any) -> Frame:
    """Draw a row for each run and a column for each bucket, shaded by the share of the relevant documents."""
    buckets = len(result.edges) - 1
    frame, rows = row_frame(ax, max(4.0, 0.42 * (buckets + 2)), labels_of(run.run for run in result.runs))
    ax = frame.ax
    counts = np.array([[*run.counts, run.missing] for run in result.runs], dtype=np.float64)
    shares = 100 * counts / max(result.n_documents, 1)
    shown = np.insert(shares, buckets, np.nan, axis=1)  # a gap before the documents that are not found
    shrink = 0.8 if rows.height < 6 else 0.4
    shade(ax, shown, max(float(np.nanmax(shown)), 1.0), "% of the relevant documents", shrink)
    if len(result.runs) <= NUMBERED_CELLS:
        dark = 0.45 * np.nanmax(shown)
        for (row, column), share in np.ndenumerate(shown):
            if not np.isnan(share):
                color = "white" if share > dark else BLACK
                ax.text(column, row, f"{share:.0f}", ha="center", va="center", fontsize=7, color=color)
    ax.set_ylim(len(result.runs) - 0.5, -0.5)
    ax.set_xticks([*range(buckets), buckets + 1], [*bucket_names(result.edges), "not found"])
    return frame


def draw_changes(result: LengthChanges, ax: Any) -> Any:
    """Draw documents that move by how far, those that only one run found at the ends: Figure 6 of Alex et al. 2022."""
    frame = Frame(ax, 6.8, 3.2)
    ax = frame.ax
    sizes = [*bucket_names(result.edges), f"{result.edges[-1]} or more"]
    places = np.arange(1, len(sizes) + 1)
    end = len(sizes) + 1.6
    baseline, contender = labels_of([result.baseline, result.contender])
    bars: tuple[tuple[Any, Sequence[int], str, str, str], ...] = (
        ([-end], [result.won], SKY, "xx", "won: only the contender found it"),
        (-places, result.further_up, GREEN, "...", "further up"),
        ([0], [result.unchanged], LIGHT, "", "unchanged"),
        (places, result.further_down, ORANGE, "///", "further down"),
        ([end], [result.lost], VERMILLION, "\\\\\\", "lost: only the baseline found it"),
    )
    for where, numbers, color, hatch, label in bars:
        ax.bar(where, numbers, color=color, hatch=hatch, edgecolor="white", label=f"{label} ({sum(numbers):,})")
    ax.set_xticks([-end, *-places[::-1], 0, *places, end], ["won", *sizes[::-1], "0", *sizes, "lost"])
    tilt_labels(ax)
    ax.set_xlabel("ranks further up (left, better) or further down (right, worse)")
    count_axis(ax, "relevant documents")
    legend_beside(ax)
    return frame.finish(
        f"{contender} against {baseline}: change of search length\n{count(result.n_documents, 'relevant document')}, "
        f"{result.neither:,} of them found by neither, {_conditions(result.settings)}"
    )


def draw_rrie(result: RRIE, ax: Any) -> Any:
    """Draw the relative reduction in error by measure: Table 1 of Alex et al. 2022."""
    frame, _ = row_frame(ax, 5.0, labels_of((reduction.measure for reduction in result.reductions), 44), pitch=0.34)
    ax = frame.ax
    values = [0.0 if reduction.rrie is None else 100 * reduction.rrie for reduction in result.reductions]
    bars = ax.barh(range(len(values)), values, color=[GREEN if value >= 0 else ORANGE for value in values])
    for bar, value in zip(bars, values, strict=True):
        bar.set_hatch("" if value >= 0 else "///")
        bar.set_edgecolor("white")
    texts = [
        "undefined" if reduction.rrie is None else f"{100 * reduction.rrie:.0f} %".replace("-", "\N{MINUS SIGN}")
        for reduction in result.reductions
    ]
    ax.bar_label(bars, texts, padding=3, fontsize=8)
    ax.axvline(0, color=BLACK, linewidth=0.8)
    ax.margins(x=0.18)
    ax.set_xlabel("% of the baseline's error that is saved (right is better)")
    baseline, contender = labels_of([result.baseline, result.contender])
    conditions = "from published means" if result.settings is None else _conditions(result.settings)
    return frame.finish(f"Relative reduction in error of {contender} against {baseline}\n{conditions}")


def draw_headroom(result: Headroom, ax: Any, number: int) -> Any:
    """Draw the queries by what the best run leaves to gain: Figures 1 to 4 of Alex et al. 2022, within one collection."""
    measure = result.measures[number]
    frame = Frame(ax, 4.8, 2.8)
    ax = frame.ax
    places = np.arange(len(measure.counts))
    # ticks between the bars, so that no two bars share a value; the last bar is open, of a precision it ends at 1
    ax.bar(places, measure.counts, 1.0, align="edge", color=BLUE, edgecolor="white")
    last = "1" if measure.edges[-1] < 1 else "and more"
    ax.set_xticks(np.arange(len(measure.counts) + 1), [*(f"{edge:g}" for edge in measure.edges), last])
    ax.set_xlim(0, len(measure.counts))
    if measure.edges[-1] >= 1:
        tilt_labels(ax, 30)
    better = "right" if number % 2 == 0 else "left"
    name = literal(measure.measure)
    ax.set_xlabel(f"{name}\n({better} is better; each bar includes its left end)")
    count_axis(ax, "queries")
    (run,) = labels_of([measure.run])
    return frame.finish(
        f"{run}, the best of {count(result.n_runs, 'run')} by {name}\n"
        f"mean {measure.mean:.3g}, {count(sum(measure.counts), 'query')}, {_conditions(result.settings)}"
    )


def draw_reordering(result: Reordering, ax: Any) -> Any:
    """Draw the rank of each run under each measure, from one to the next."""
    values = np.array([[-np.inf if value is None else value for value in row] for row in result.values])
    title = f"{count(len(result.runs), 'run')} under {count(len(result.measures), 'measure')}"
    return draw_orders(shared_ranks(values), result.runs, result.measures, title, ax)


def draw_steps(result: Reordering, ax: Any) -> Any:
    """Draw Delta-Sort and 100 times 1 minus tau of each step from one measure to the next."""
    frame, _ = row_frame(ax, 5.0, labels_of((change.step for change in result.changes), 44), pitch=0.5)
    ax = frame.ax
    places = np.arange(len(result.changes))
    ax.barh(places - 0.2, [change.delta_sort for change in result.changes], 0.38, color=BLUE, label="Delta-Sort, % of the runs")
    taus = [0.0 if change.tau is None else 100 * (1 - change.tau) for change in result.changes]
    ax.barh(places + 0.2, taus, 0.38, color=ORANGE, hatch="///", edgecolor="white", label="100 (1 - Kendall tau)")
    ax.set_xlabel("change of the order (0: unchanged)")
    legend_beside(ax)
    return frame.finish(f"What each change of measure does to the order of {count(len(result.runs), 'run')}")


def _conditions(settings: TailSettings) -> str:
    return f"{conditions_words(settings)}, ties {settings.ties}"
