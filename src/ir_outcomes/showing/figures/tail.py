"""Figures of the analyses of Alex et al. 2022: distributions of search lengths, their changes, RRIE, headroom, reordering."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ir_outcomes.showing.figures._labels import Names, literal
from ir_outcomes.showing.figures._style import (
    BLACK,
    BLUE,
    GREEN,
    HATCHES,
    LIGHT,
    ORANGE,
    SKY,
    VERMILLION,
    Frame,
    count,
    legend_beside,
    name_rows,
    place_rows,
    series_style,
    styled,
    tilt_labels,
)
from ir_outcomes.showing.figures.dispatch import Drawing, kinds
from ir_outcomes.showing.figures.orders import draw_orders
from ir_outcomes.tail import RRIE, Headroom, LengthChanges, LengthDistributions, Reordering
from ir_outcomes.tail.depth import TailSettings

__all__: list[str] = []  # its figures are reached through `kinds`

GROUPED_BARS = 4  # distributions of more runs are drawn as a shaded matrix
NUMBERED_CELLS = 30  # rows of a shaded matrix whose cells also hold their number


@styled
def _lengths(result: LengthDistributions, ax: Any) -> Any:
    """Draw the relevant documents by search length, the missing ones apart: Figure 5 of Alex et al. 2022."""
    return (_length_bars if len(result.runs) <= GROUPED_BARS else _length_matrix)(result, ax)


def _length_bars(result: LengthDistributions, ax: Any) -> Any:
    frame = Frame(ax, 6.2, 3.2)
    ax = frame.ax
    buckets = len(result.edges) - 1
    width = 0.84 / len(result.runs)
    names = Names([run.run for run in result.runs])
    for number, run in enumerate(result.runs):
        places = np.append(np.arange(buckets), buckets + 0.6) + (number - (len(result.runs) - 1) / 2) * width
        ax.bar(
            places,
            [*run.counts, run.missing],
            width,
            color=series_style(number)["color"],
            hatch=HATCHES[number],
            edgecolor="white",
            linewidth=0.3,
            label=names[run.run],
        )
    ax.set_xticks([*range(buckets), buckets + 0.6], [*_buckets(result.edges), "not found"])
    tilt_labels(ax)
    ax.set_xlabel("search length of the document (ranks; left is better)")
    ax.set_ylabel("relevant documents")
    legend_beside(ax)
    frame.finish(_length_title(result))
    return ax


def _length_matrix(result: LengthDistributions, ax: Any) -> Any:
    """Draw a row for each run and a column for each bucket, shaded by the share of the relevant documents."""
    from matplotlib.colors import PowerNorm

    rows = place_rows(len(result.runs))
    buckets = len(result.edges) - 1
    frame = Frame(ax, max(4.0, 0.42 * (buckets + 2)), rows.height)
    ax = frame.ax
    counts = np.array([[*run.counts, run.missing] for run in result.runs], dtype=np.float64)
    shares = 100 * counts / max(result.n_documents, 1)
    shown = np.insert(shares, buckets, np.nan, axis=1)  # a gap before the documents that are not found
    image = ax.imshow(
        shown, cmap="Blues", norm=PowerNorm(0.5, 0, max(float(np.nanmax(shown)), 1.0)), aspect="auto", interpolation="nearest"
    )
    if len(result.runs) <= NUMBERED_CELLS:
        dark = 0.45 * np.nanmax(shown)
        for (row, column), share in np.ndenumerate(shown):
            if not np.isnan(share):
                ax.text(
                    column, row, f"{share:.0f}", ha="center", va="center", fontsize=7, color="white" if share > dark else BLACK
                )
    names = Names([run.run for run in result.runs])
    name_rows(ax, [names[run.run] for run in result.runs], rows)
    ax.set_ylim(len(result.runs) - 0.5, -0.5)
    ax.set_xticks([*range(buckets), buckets + 1], [*_buckets(result.edges), "not found"])
    tilt_labels(ax)
    ax.set_xlabel("search length of the document (ranks; left is better)")
    ax.figure.colorbar(image, ax=ax, label="% of the relevant documents", aspect=30, shrink=0.8 if rows.height < 6 else 0.4)
    frame.finish(_length_title(result))
    return ax


@styled
def _length_changes(result: LengthChanges, ax: Any) -> Any:
    """Draw documents that move by how far, those that only one run found at the ends: Figure 6 of Alex et al. 2022."""
    frame = Frame(ax, 6.8, 3.2)
    ax = frame.ax
    sizes = [*_buckets(result.edges), f"{result.edges[-1]} or more"]
    places = np.arange(1, len(sizes) + 1)
    end = len(sizes) + 1.6
    names = Names([result.baseline, result.contender])
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
    ax.set_ylabel("relevant documents")
    legend_beside(ax)
    frame.finish(
        f"{names[result.contender]} against {names[result.baseline]}: change of search length\n"
        f"{count(result.n_documents, 'relevant document')}, {result.neither:,} of them found by neither, "
        f"{_conditions(result.settings)}"
    )
    return ax


@styled
def _rrie(result: RRIE, ax: Any) -> Any:
    """Draw the relative reduction in error by measure: Table 1 of Alex et al. 2022."""
    rows = place_rows(len(result.reductions), pitch=0.34)
    frame = Frame(ax, 5.0, rows.height)
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
    names = Names([reduction.measure for reduction in result.reductions], most=44)
    name_rows(ax, [names[reduction.measure] for reduction in result.reductions], rows)
    ax.axvline(0, color=BLACK, linewidth=0.8)
    ax.margins(x=0.18)
    runs = Names([result.baseline, result.contender])
    ax.set_xlabel("% of the baseline's error that is saved (right is better)")
    conditions = "from published means" if result.settings is None else _conditions(result.settings)
    frame.finish(f"Relative reduction in error of {runs[result.contender]} against {runs[result.baseline]}\n{conditions}")
    return ax


@styled
def _headroom(result: Headroom, ax: Any, number: int) -> Any:
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
    ax.set_ylabel("queries")
    run = Names([measure.run])[measure.run]
    frame.finish(
        f"{run}, the best of {count(result.n_runs, 'run')} by {name}\n"
        f"mean {measure.mean:.3g}, {count(sum(measure.counts), 'query', 'queries')}, {_conditions(result.settings)}"
    )
    return ax


@styled
def _orders(result: Reordering, ax: Any) -> Any:
    """Draw the rank of each run under each measure, from one to the next."""
    from ir_outcomes.statistics.orders import shared_ranks

    values = np.array([[-np.inf if value is None else value for value in row] for row in result.values])
    title = f"{count(len(result.runs), 'run')} under {count(len(result.measures), 'measure')}"
    return draw_orders(shared_ranks(values), result.runs, result.measures, title, ax)


@styled
def _reordering_changes(result: Reordering, ax: Any) -> Any:
    """Draw Delta-Sort and 100 times 1 minus tau of each step."""
    rows = place_rows(len(result.changes), pitch=0.5)
    frame = Frame(ax, 5.0, rows.height)
    ax = frame.ax
    places = np.arange(len(result.changes))
    ax.barh(places - 0.2, [change.delta_sort for change in result.changes], 0.38, color=BLUE, label="Delta-Sort, % of the runs")
    taus = [0.0 if change.tau is None else 100 * (1 - change.tau) for change in result.changes]
    ax.barh(places + 0.2, taus, 0.38, color=ORANGE, hatch="///", edgecolor="white", label="100 (1 - Kendall tau)")
    names = Names([change.step for change in result.changes], most=44)
    name_rows(ax, [names[change.step] for change in result.changes], rows)
    ax.set_xlabel("change of the order (0: unchanged)")
    legend_beside(ax)
    frame.finish(f"What each change of measure does to the order of {count(len(result.runs), 'run')}")
    return ax


def _buckets(edges: Sequence[int]) -> list[str]:
    return [f"{low} to {high - 1}" if high - low > 1 else str(low) for low, high in pairwise(edges)]


def _length_title(result: LengthDistributions) -> str:
    return (
        f"Where {count(len(result.runs), 'run')} put the relevant documents\n"
        f"{count(result.n_documents, 'relevant document')} of "
        f"{count(result.n_queries, 'query', 'queries')}, {_conditions(result.settings)}"
    )


def _conditions(settings: TailSettings) -> str:
    depth = "no cutoff" if settings.cutoff is None else f"cutoff {settings.cutoff:,}"
    return f"{depth}, grade {settings.rel} or more, ties {settings.ties}"


_HEADROOM = ("top precision", "top length", "precision", "length")


@kinds.register
def _(result: Reordering) -> Mapping[str, Drawing]:
    return {"orders": _orders, "changes": _reordering_changes}


@kinds.register
def _(result: LengthDistributions) -> Mapping[str, Drawing]:
    return {"lengths": _lengths}


@kinds.register
def _(result: LengthChanges) -> Mapping[str, Drawing]:
    return {"changes": _length_changes}


@kinds.register
def _(result: RRIE) -> Mapping[str, Drawing]:
    return {"rrie": _rrie}


@kinds.register
def _(result: Headroom) -> Mapping[str, Drawing]:
    return {name: partial(_headroom, number=number) for number, name in enumerate(_HEADROOM)}
