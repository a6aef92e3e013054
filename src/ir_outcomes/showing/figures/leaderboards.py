"""Figures of leaderboards and of the analyses of Alex et al. 2022; ranks run from 1, the best."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ir_outcomes.comparison.verdict import is_unconfirmed, meaning_of
from ir_outcomes.errors import ParameterError
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.leaderboards.history import SotaHistory
from ir_outcomes.leaderboards.stability import RankDistribution
from ir_outcomes.showing import bucket_names, conditions_words, count, direction, figures
from ir_outcomes.showing.figures import (
    BETTER,
    GREY,
    INK,
    LIGHT,
    TONES,
    WORSE,
    draws,
    finished,
)
from ir_outcomes.tail.lengths import LengthChanges, LengthDistributions, TailSettings
from ir_outcomes.tail.rrie import Headroom

NUMBERED_CELLS = 30  # rows of a shaded matrix whose cells also hold their number
# What a cell of the matrix of verdicts shows: labels, colour, hatch, mark.
VERDICT_CELLS = {
    "better on both facets": (BETTER, "", "+"),
    "better in one way": ("#8DB4E8", "", "+"),
    "gain, unconfirmed": (LIGHT, "", "?"),
    "no significant difference": ("#F7F8F9", "", ""),
    "trade-off": (GREY, "xx", "~"),
    "loss, unconfirmed": (LIGHT, "", "?"),
    "worse in one way": ("#F0C08F", "////", "\N{MINUS SIGN}"),
    "worse on both facets": (WORSE, "////", "\N{MINUS SIGN}"),
}


@draws("verdicts", Leaderboard)
def draw_verdicts(result: Leaderboard, ax: Any) -> Any:
    """Draw the verdict on every run (row) against every run that the order puts above it (column)."""
    from matplotlib.collections import PolyCollection

    if not result.pairs or result.settings is None:
        raise ParameterError(
            "`kind='verdicts'` needs verdicts, which need the runs: only values of a measure were"
            " given"
        )
    runs = [standing.run for standing in result.standings]
    place_of = {run: place for place, run in enumerate(runs)}
    size = max(figures.height_of(len(runs), 0.24), 3.6)
    ax = figures.panel(ax, size + 3.2, size)
    cells: dict[str, list[tuple[int, int]]] = {label: [] for label in VERDICT_CELLS}
    for pair in result.pairs:
        cell = place_of[pair.baseline], place_of[pair.contender]
        cells[cell_of(pair.label)].append(cell)
    corners = np.array([[-1, -1], [1, -1], [1, 1], [-1, 1]]) / 2
    for label, (color, hatch, mark) in VERDICT_CELLS.items():
        name = f"{mark} {label} ({len(cells[label]):,})".strip() if cells[label] else None
        squares = PolyCollection(
            [corners + cell for cell in cells[label]],
            label=name,
            facecolor=color,
            hatch=hatch,
            edgecolor="white",
            linewidth=0.5,
        )
        ax.add_collection(squares)
        ink = "white" if color in (BETTER, WORSE) else INK
        for cell in cells[label] if len(runs) <= NUMBERED_CELLS else ():
            ax.text(*cell, mark, ha="center", va="center", fontsize=8, color=ink)
    fontsize = figures.name_rows(ax, runs, margin=0.5)
    ax.set_xlim(-0.5, len(runs) - 0.5)
    names = [label.get_text() for label in ax.get_yticklabels()]
    ax.set_xticks(ax.get_yticks(), names, rotation=90, fontsize=fontsize)
    ax.legend(loc="upper right")
    settings = (
        f"{count(result.n_queries, 'query')}, {conditions_words(result.settings)}, level"
        f" {result.alpha:g}"
    )
    return finished(
        ax,
        f"Verdicts on {count(len(runs), 'run')} in the order of {result.measure}",
        settings,
        x="against",
    )


def cell_of(label: str) -> str:
    """Return the cell that shows a label; labels of one facet, and over all queries, share one."""
    meaning = meaning_of(label)
    if is_unconfirmed(label):
        return label.removeprefix(f"{meaning.by} ")
    if meaning.by in ("both", "none"):
        return label
    return f"{meaning.direction} in one way"


@draws("history", Leaderboard, SotaHistory)
def draw_history(given: SotaHistory | Leaderboard, ax: Any) -> Any:
    """Draw scores over time, and the runs that took the top: Figure 1 of Lin et al. 2021."""
    result = given.history if isinstance(given, Leaderboard) else given
    if result is None:
        raise ParameterError(
            "`kind='history'` needs dates: give the leaderboard `entries`, a table with the columns"
            " id, date, group"
        )
    import matplotlib.dates

    dates: Any = matplotlib.dates  # its functions have no annotations
    ax = figures.panel(ax, 8.0, 4.6)
    ax.step(
        [run.date for run in result.runs],
        [run.score for run in result.runs],
        where="post",
        color=BETTER,
        linewidth=1,
    )
    leaders = {run.run for run in result.runs}
    others = [entry for entry in result.entries if entry.run not in leaders]
    submissions, baselines = (
        [entry for entry in others if entry.is_baseline == wanted] for wanted in (False, True)
    )
    groups: dict[str, tuple[Any, dict[str, Any]]] = {
        "took the top": (
            result.runs,
            {"marker": "D", "color": BETTER, "markersize": 5.5, "zorder": 3},
        ),
        "submission": (submissions, {"marker": "o", "color": GREY, "markersize": 4}),
        "organizers' baseline": (
            baselines,
            {"marker": "s", "color": "white", "markersize": 5, "markeredgecolor": INK},
        ),
    }
    points = []
    for label, (entries, style) in groups.items():
        known = [
            (dates.date2num(entry.date), entry.score)
            for entry in entries
            if entry.score is not None
        ]
        points += known
        if known:
            ax.plot(
                *zip(*known, strict=True), linestyle="", label=f"{label} ({len(known)})", **style
            )
    days = [entry.date for entry in result.entries]
    # Ticks are days, without hours between them.
    locator = dates.AutoDateLocator(
        minticks=max(1, min(3, (max(days) - min(days)).days)), maxticks=8
    )
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    if not result.higher_is_better:
        ax.invert_yaxis()
    ax.margins(x=0.06, y=0.12)
    better = f"{result.score} ({direction(result.higher_is_better)})"
    title = (
        f"{count(len(leaders), 'run')} took the top, of {count(len(result.entries), 'run')} with a"
        " score"
    )
    board = given if isinstance(given, Leaderboard) and given.settings else None
    words = ""
    if board:
        words = f", {count(board.n_queries, 'query')}, {conditions_words(board.settings)}"
    finished(
        ax,
        title,
        f"by {better}, {min(days):%Y-%m-%d} to {max(days):%Y-%m-%d}{words}",
        x="date of submission",
        y=figures.literal(better),
        legend=True,
    )
    corners = [(end[0], start[1]) for start, end in pairwise(points[: len(leaders)])]
    figures.label_points(ax, [f"R{run.number}" for run in result.runs], [*points, *corners])
    return ax


@draws("ranks", RankDistribution)
def draw_rank_distribution(result: RankDistribution, ax: Any) -> Any:
    """Draw how often each run has each rank, a row for each run, rank 1 at the right: Figure 3 of Craswell et al. 2021."""
    size = len(result.runs)
    ax = figures.row_panel(
        ax, [run.run for run in result.runs], max(6.0, min(12.0, 3.5 + 0.16 * size)), 0.24
    )
    cross = min(4.5, 0.5 * ax.get_yticklabels()[0].get_fontsize())
    shares = (
        100 * np.array([run.counts for run in result.runs], dtype=np.float64) / result.resamples
    )
    extent = 0.5, shares.shape[1] + 0.5, size - 0.5, -0.5
    figures.shaded(ax, np.where(shares > 0, shares, np.nan), "% of the resamples", extent=extent)
    for place, run in enumerate(result.runs):
        ax.plot([run.low, run.high], [place, place], color=INK, linewidth=0.7)
        median = int(np.searchsorted(np.cumsum(run.counts), result.resamples / 2)) + 1
        ax.plot(median, place, "x", color=INK, markersize=cross)
    ax.set_xlim(shares.shape[1] + 0.5, 0.5)
    figures.counted(ax.xaxis)
    ax.set_ylim(size - 0.4, -0.6)
    x = (
        f"rank in the resamples (right is better)\ncross: median, line: {100 * result.level:g} %"
        " interval"
    )
    return finished(ax, *_rank_title(result), x=x)


def _rank_title(result: RankDistribution) -> tuple[str, str]:
    condition = f", {result.condition}" if result.condition else ""
    resamples = (
        f"{count(result.resamples, 'bootstrap resample')} of {count(result.n_queries, 'query')}"
    )
    return f"Ranks of {count(len(result.runs), 'run')} by {result.measure}{condition}", resamples


@figures.styled()
def conditions_plot(
    distributions: Mapping[str, RankDistribution], runs: Sequence[str] | None = None, ax: Any = None
) -> Any:
    """Draw the ranks of a few runs under several conditions: Figure 4 of Craswell et al. 2021."""
    first_name, first = next(iter(distributions.items()))
    chosen = [run.run for run in first.runs[:3]] if runs is None else runs
    by_condition = {
        name: {run.run: run for run in found.runs} for name, found in distributions.items()
    }
    ax = figures.panel(ax, 3.4 + max(2.0, (0.35 + 0.28 * len(chosen)) * len(distributions)), 4.6)
    last = 1
    for number, (run, label) in enumerate(zip(chosen, figures.labels_of(chosen), strict=True)):
        style = figures.series_style(number)
        places = np.arange(len(by_condition)) + 0.8 * ((number + 0.5) / len(chosen) - 0.5)
        for x, (name, found) in zip(places, by_condition.items(), strict=True):
            shares = np.array(found[run].counts) / distributions[name].resamples
            reached = np.flatnonzero(shares)
            last = max(last, int(reached[-1]) + 1)
            ax.scatter(
                [x] * len(reached),
                reached + 1,
                s=200 * shares[reached],
                color=style["color"],
                alpha=0.8,
                linewidths=0,
            )
        expected = [found[run].expected_rank for found in by_condition.values()]
        ax.plot(places, expected, style["marker"], color="white", markeredgecolor=INK, markersize=5)
        ax.plot([], [], linestyle="", markeredgecolor=INK, label=label, **style)
    ax.set_xticks(
        range(len(distributions)),
        figures.labels_of((name.replace("\n", " ") for name in distributions), 40),
    )
    if len(distributions) > 2:
        figures.tilted(ax)
    # Ranks run downwards from 1, the best.
    ax.set_yticks([1, *range(5, last + 1, 5)] if last > 14 else range(1, last + 1))
    ax.set_ylim(last + 0.8, 0.2)
    ax.set_ylabel("rank (up is better)")
    which = "chosen"
    if runs is None:
        which = f"the first {len(chosen)} by {first_name}".replace("\n", " ")
    sizes = sorted({found.n_queries for found in distributions.values()})
    queries = count(sizes[0], "query")
    if len(sizes) > 1:
        queries = f"{sizes[0]:,} to {sizes[-1]:,} queries"
    resamples = (
        f"{count(first.resamples, 'bootstrap resample')} of {queries}; area: share of them, marker:"
        " expected rank"
    )
    return finished(
        ax,
        f"Ranks of {count(len(chosen), 'run')} ({which}) of {len(first.runs)}",
        resamples,
        legend=True,
    )


@draws("lengths", LengthDistributions)
def draw_lengths(result: LengthDistributions, ax: Any) -> Any:
    """Draw which share of the relevant documents each run has at which search lengths: Figure 5 of Alex et al. 2022."""
    buckets = len(result.edges) - 1
    n_runs = len(result.runs)
    width = max(7.5, 3.5 + 0.42 * (buckets + 2))
    ax = figures.row_panel(ax, [run.run for run in result.runs], width, more=0.6)
    counts = np.array([[*run.counts, run.missing] for run in result.runs], dtype=np.float64)
    # There is a gap before what is not found.
    shown = np.insert(100 * counts / max(result.n_documents, 1), buckets, np.nan, axis=1)
    figures.shaded(ax, shown, "% of the relevant documents")
    for (row, column), share in np.ndenumerate(shown):
        if n_runs <= NUMBERED_CELLS and not np.isnan(share):
            color = "white" if share > 0.45 * np.nanmax(shown) else INK
            ax.text(column, row, f"{share:.0f}", ha="center", va="center", fontsize=7, color=color)
    ax.set_ylim(n_runs - 0.5, -0.5)
    ax.set_xticks([*range(buckets), buckets + 1], [*bucket_names(result.edges), "not found"])
    figures.tilted(ax)
    documents = (
        f"{count(result.n_documents, 'relevant document')} of {count(result.n_queries, 'query')}"
    )
    return finished(
        ax,
        f"Where {count(n_runs, 'run')} put the relevant documents",
        f"{documents}, {_conditions(result.settings)}",
        x="irrelevant documents above the relevant one, plus 1 (left is better)",
    )


@draws("changes", LengthChanges)
def draw_changes(result: LengthChanges, ax: Any) -> Any:
    """Draw documents that move by how far, those that only one run found at the ends: Figure 6 of Alex et al. 2022."""
    ax = figures.panel(ax, 9.5, 4.0)
    sizes = [*bucket_names(result.edges), f"{result.edges[-1]} or more"]
    names = [
        "lost",
        *(f"{size} down" for size in reversed(sizes)),
        "unchanged",
        *(f"{size} up" for size in sizes),
        "won",
    ]
    tones = [*["worse"] * (len(sizes) + 1), "same", *["better"] * (len(sizes) + 1)]
    counts = [
        result.lost,
        *reversed(result.further_down),
        result.unchanged,
        *result.further_up,
        result.won,
    ]
    colors, hatches = zip(*(TONES[tone] for tone in tones), strict=True)
    bars = ax.bar(names, counts, 0.85, color=colors, hatch=hatches, edgecolor="white")
    ax.bar_label(bars, fmt="{:,.0f}", padding=2, fontsize=8)
    ax.margins(y=0.12)
    figures.counted(ax.yaxis)
    figures.tilted(ax)
    documents = (
        f"{count(result.n_documents, 'relevant document')}, {result.neither:,} found by neither"
    )
    return finished(
        ax,
        f"{result.contender} against {result.baseline}: change of search length",
        f"{documents}, {_conditions(result.settings)}",
        x="irrelevant documents above: more (left) or fewer (right, better)",
        y="relevant documents",
    )


def draw_headroom(result: Headroom, ax: Any, number: int) -> Any:
    """Draw the queries by what the best run leaves to gain: Figures 1 to 4 of Alex et al. 2022, within one collection."""
    measure = result.measures[number]
    ax = figures.panel(ax, 6.2, 3.8)
    # ticks between the bars, so that no two bars share a value; the last bar is open, of a
    # precision it ends at 1
    n_bars = len(measure.counts)
    ax.bar(range(n_bars), measure.counts, 1.0, align="edge", color=GREY, edgecolor="white")
    is_precision = measure.edges[-1] < 1
    better = "left" if number % 2 else "right"
    last = "1" if is_precision else "and more"
    ax.set_xticks(range(n_bars + 1), [*(f"{edge:g}" for edge in measure.edges), last])
    ax.set_xlim(0, n_bars)
    if not is_precision:
        figures.tilted(ax, 30)
    figures.counted(ax.yaxis)
    return finished(
        ax,
        f"{measure.run}, the best of {count(result.n_runs, 'run')} by {measure.measure}",
        f"mean {measure.mean:.3g}, {count(sum(measure.counts), 'query')}, {_conditions(result.settings)}",
        x=f"{figures.literal(measure.measure)} ({better} is better; each bar includes its left end)",
        y="queries",
    )


for _number, _kind in enumerate(("top precision", "top length", "precision", "length")):
    draws(_kind, Headroom)(partial(draw_headroom, number=_number))


def _conditions(settings: TailSettings) -> str:
    return f"{conditions_words(settings)}, ties {settings.ties}"
