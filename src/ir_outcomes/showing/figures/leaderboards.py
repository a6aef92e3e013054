"""Figures of leaderboards, of histories and of rank distributions."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ir_outcomes.comparison.verdict import MIRRORED, is_unconfirmed, meaning_of
from ir_outcomes.errors import ParameterError
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.leaderboards.history import SotaHistory
from ir_outcomes.leaderboards.stability import RankDistribution
from ir_outcomes.showing import (
    conditions_words,
    count,
    direction,
    figures,
    level_words,
)
from ir_outcomes.showing.figures import BETTER, GREY, INK, LIGHT, TONES, WORSE, draws, finished
from ir_outcomes.showing.views.leaderboards import answer_of

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

HISTORY_STYLES: dict[str, dict[str, Any]] = {
    "took the top": {"marker": "D", "color": BETTER, "markersize": 5.5, "zorder": 3},
    "submission": {"marker": "o", "color": GREY, "markersize": 4},
    "organizers' baseline": {
        "marker": "s",
        "color": "white",
        "markersize": 5,
        "markeredgecolor": INK,
    },
}


@draws("tiers", Leaderboard)
def draw_tiers(result: Leaderboard, ax: Any) -> Any:
    """Draw means with intervals, and how many runs each is better and worse than."""
    shown = [standing for standing in result.standings if standing.score is not None]
    names = [standing.run for standing in shown]
    columns = 2 if result.pairs else 1
    height = figures.height_of(len(shown), 0.28)
    found = figures.panels(ax, 2.6 + 2.6 * columns + 1.0, height, columns=columns)
    for axes in found:
        fontsize = figures.name_rows(axes, names, limit=34)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
    means = found[0]
    for position, standing in enumerate(shown):
        if standing.interval is not None:
            means.plot(standing.interval, [position, position], color=INK, linewidth=1.8)
        means.plot([standing.score], [position], "o", color=INK, markersize=0.7 * fontsize)
    better = "right is better" if result.higher_is_better else "lower is better, at the right"
    if not result.higher_is_better:
        means.invert_xaxis()
    missing = ""
    if len(shown) < len(result.standings):
        missing = f"; {count(len(result.standings) - len(shown), 'run')} without a score"
    head = (
        f"{level_words(result.alpha)}s of each mean by itself, {count(result.n_queries, 'query')}"
    )
    means.set_xlabel(figures.literal(f"mean {result.measure} ({better})"))
    if result.pairs:
        verdicts = found[1]
        verdicts.tick_params(axis="y", labelleft=False)
        verdicts.axvline(0, color=INK, linewidth=0.8)
        for counts, (color, hatch) in (
            ([standing.won for standing in shown], TONES["better"]),
            ([-(standing.lost or 0) for standing in shown], TONES["worse"]),
        ):
            look = {"color": color, "hatch": hatch, "edgecolor": "white"}
            verdicts.barh(range(len(shown)), counts, 0.7, **look)
        figures.counted(verdicts.xaxis)
        verdicts.xaxis.set_major_formatter(lambda value, _: f"{abs(value):g}")
        verdicts.set_xlabel("runs that it is worse (left) or better than (right)")
        beside = {"va": "center", "fontsize": fontsize, "color": INK}
        for position in map(int, means.get_yticks()):
            tier = f"tier {shown[position].tier}"
            verdicts.text(1.03, position, tier, transform=verdicts.get_yaxis_transform(), **beside)
    return finished(means, answer_of(result), f"{head}{missing}")


@draws("verdicts", Leaderboard)
def draw_verdicts(result: Leaderboard, ax: Any) -> Any:
    """Draw the verdict on every run (row) against every run above it (column)."""
    from matplotlib.collections import PolyCollection

    if not result.pairs or result.settings is None:
        raise ParameterError(
            "`kind='verdicts'` needs verdicts, which need the runs: only values of a measure were"
            " given"
        )
    runs = [standing.run for standing in result.standings]
    place_of = {run: position for position, run in enumerate(runs)}
    size = max(figures.height_of(len(runs), 0.24), 3.6)
    longest = 0.08 * max(map(len, figures.labels_of(runs)))  # inches of a name below the matrix
    ax = figures.panel(ax, size + 3.2, size + longest)
    cells: dict[str, list[tuple[int, int]]] = {label: [] for label in VERDICT_CELLS}
    for pair in result.pairs:
        cell = place_of[pair.baseline], place_of[pair.contender]
        label = pair.label
        if cell[0] > cell[1]:
            cell = cell[::-1]
            label = MIRRORED[label]
        cells[cell_of(label)].append(cell)
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
        f"Verdicts on {count(len(runs), 'run')} in the order of the board",
        settings,
        x="against",
    )


def cell_of(label: str) -> str:
    """Return the cell that shows a label, shared by labels of one facet."""
    meaning = meaning_of(label)
    if is_unconfirmed(label):
        return label.removeprefix(f"{meaning.by} ")
    if meaning.by in ("both", "none"):
        return label
    return f"{meaning.direction} in one way"


@draws("history", SotaHistory)
def draw_history(result: SotaHistory, ax: Any) -> Any:
    """Draw scores over time, and who took the top (Lin et al. 2021, Figure 1)."""
    import matplotlib.dates

    dates: Any = matplotlib.dates  # its functions have no annotations
    ax = figures.panel(ax, 8.0, 4.6)
    top = [(dates.date2num(run.date), run.score) for run in result.runs]
    groups = {"took the top": top, "submission": [], "organizers' baseline": []}
    leaders = {run.run for run in result.runs}
    for entry in result.entries:
        if entry.score is not None and entry.run not in leaders:
            label = "organizers' baseline" if entry.is_baseline else "submission"
            groups[label].append((dates.date2num(entry.date), entry.score))
    if top:
        ax.step(*zip(*top, strict=True), where="post", color=BETTER, linewidth=1)
    for label, points in groups.items():
        if points:
            named = f"{label} ({len(points)})"
            ax.plot(*zip(*points, strict=True), linestyle="", label=named, **HISTORY_STYLES[label])
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
    finished(
        ax,
        title,
        f"by {better}, {min(days):%Y-%m-%d} to {max(days):%Y-%m-%d}",
        x="date of submission",
        y=figures.literal(better),
        legend=True,
    )
    # Nothing was better before a run that took the top, so there is space above and to its left.
    right = -np.inf
    for run, point in zip(result.runs, top, strict=True):
        end = ax.transData.transform(point)[0]
        if end - right > 4.5 * 8:  # pixels of the longest label
            away = {"xytext": (-3, 3), "textcoords": "offset points", "ha": "right"}
            ax.annotate(f"R{run.number}", point, fontsize=8, color=INK, **away)
            right = end
    return ax


@draws("ranks", RankDistribution)
def draw_rank_distribution(result: RankDistribution, ax: Any) -> Any:
    """Draw how often each run has each rank (Craswell et al. 2021, Figure 3)."""
    size = len(result.runs)
    width = min(max(6.0, 3.5 + 0.16 * size), 12.0)
    ax = figures.row_panel(ax, [run.run for run in result.runs], width, 0.24)
    cross = min(4.5, 0.5 * ax.get_yticklabels()[0].get_fontsize())
    counts = np.array([run.counts for run in result.runs])
    last = counts.shape[1] + 0.5
    shares = np.where(counts > 0, 100 * counts / result.resamples, np.nan)
    figures.shaded(ax, shares, "% of the resamples", extent=(0.5, last, size - 0.5, -0.5))
    for position, run in enumerate(result.runs):
        ax.plot([run.low, run.high], [position, position], color=INK, linewidth=0.7)
        median = np.searchsorted(np.cumsum(run.counts), result.resamples / 2) + 1
        ax.plot(median, position, "x", color=INK, markersize=cross)
    ax.set_xlim(last, 0.5)
    figures.counted(ax.xaxis)
    ax.set_ylim(size - 0.4, -0.6)
    x = (
        f"rank in the resamples (right is better)\ncross: median, line: {100 * result.level:g} %"
        " interval"
    )
    condition = f", {result.condition}" if result.condition else ""
    return finished(
        ax,
        f"Ranks of {count(size, 'run')} by {result.measure}{condition}",
        f"{count(result.resamples, 'bootstrap resample')} of {count(result.n_queries, 'query')}",
        x=x,
    )


@figures.styled()
def conditions_plot(
    distributions: Mapping[str, RankDistribution], runs: Sequence[str] | None = None, ax: Any = None
) -> Any:
    """Draw ranks under several conditions (Craswell et al. 2021, Figure 4)."""
    first_name, first = next(iter(distributions.items()))
    which = "chosen"
    if runs is None:
        runs = [run.run for run in first.runs[:3]]
        which = f"the first {len(runs)} by {first_name}".replace("\n", " ")
    n_conditions = len(distributions)
    ax = figures.panel(ax, 3.4 + max(2.0, (0.35 + 0.28 * len(runs)) * n_conditions), 4.6)
    last = 1
    for number, (name, label) in enumerate(zip(runs, figures.labels_of(runs), strict=True)):
        style = figures.series_style(number)
        positions = np.arange(n_conditions) + 0.8 * ((number + 0.5) / len(runs) - 0.5)
        expected = []
        for x, found in zip(positions, distributions.values(), strict=True):
            (run,) = [run for run in found.runs if run.run == name]
            expected.append(run.expected_rank)
            shares = np.array(run.counts) / found.resamples
            ranks = np.flatnonzero(shares) + 1
            last = max(last, int(ranks[-1]))
            sizes = 200 * shares[ranks - 1]
            ax.scatter(
                np.full(len(ranks), x),
                ranks,
                s=sizes,
                color=style["color"],
                alpha=0.8,
                linewidths=0,
            )
        ax.plot(
            positions, expected, style["marker"], color="white", markeredgecolor=INK, markersize=5
        )
        ax.plot([], [], linestyle="", markeredgecolor=INK, label=label, **style)
    names = (name.replace("\n", " ") for name in distributions)
    ax.set_xticks(range(n_conditions), figures.labels_of(names, 40))
    if n_conditions > 2:
        figures.tilted(ax)
    # Ranks run downwards from 1, the best.
    ticks = list(range(1, last + 1))
    if last > 14:
        ticks = [1, *range(5, last + 1, 5)]
    ax.set_yticks(ticks)
    ax.set_ylim(last + 0.8, 0.2)
    ax.set_ylabel("rank (up is better)")
    n_queries = [found.n_queries for found in distributions.values()]
    queries = count(min(n_queries), "query")
    if min(n_queries) < max(n_queries):
        queries = f"{min(n_queries):,} to {max(n_queries):,} queries"
    return finished(
        ax,
        f"Ranks of {count(len(runs), 'run')} ({which}) of {len(first.runs)}",
        f"{count(first.resamples, 'bootstrap resample')} of {queries}; area: share of them, marker:"
        " expected rank",
        legend=True,
    )
