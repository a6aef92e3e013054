"""Figures of leaderboards: history, tiers, verdicts, rank distributions and agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ir_outcomes.comparison.verdict import LABELS, NO_DIFFERENCE
from ir_outcomes.errors import ParameterError
from ir_outcomes.leaderboards import Agreement, Leaderboard, RankCorrelation, RankDistribution, SotaHistory
from ir_outcomes.showing.figures._frame import (
    Frame,
    count_axis,
    legend_beside,
    name_rows,
    place_rows,
    rank_axis,
    row_frame,
    shade,
    stacked_bars,
    tilt_labels,
)
from ir_outcomes.showing.figures._labels import label_points, labels_of, literal
from ir_outcomes.showing.figures._palette import BLACK, BLUE, GREY, LIGHT, ORANGE, SKY, VERMILLION, YELLOW, series_style
from ir_outcomes.showing.figures._style import styled
from ir_outcomes.showing.figures.orders import draw_orders
from ir_outcomes.showing.words import count, cutoff_words, direction, level_words
from ir_outcomes.types import Floats

__all__ = [
    "VERDICT_CELLS", "conditions_plot", "draw_agreement", "draw_correlation", "draw_history", "draw_history_of_board",
    "draw_paper_agreement", "draw_rank_distribution", "draw_tau", "draw_tiers", "draw_verdicts",
]  # fmt: skip

MOST_BLOBS = 30  # rank distributions of more runs are drawn as a shaded matrix
VERDICT_CELLS = {
    "better on both facets": (BLUE, "+", "white"),
    "better without harm": ("#B3D9F2", "+", BLACK),
    "coverage gain, unconfirmed": ("#A6A6A6", "\N{UPWARDS ARROW}", BLACK),
    "ranking gain, unconfirmed": ("#F4F4F4", "\N{UPWARDS ARROW}", BLACK),
    NO_DIFFERENCE: ("#F4F4F4", "\N{MIDDLE DOT}", BLACK),
    "trade-off": (YELLOW, "\N{PLUS-MINUS SIGN}", BLACK),
    "ranking loss, unconfirmed": ("#F4F4F4", "\N{DOWNWARDS ARROW}", BLACK),
    "coverage loss, unconfirmed": ("#A6A6A6", "\N{DOWNWARDS ARROW}", BLACK),
    "worse without gain": ("#FAD9BE", "\N{MINUS SIGN}", BLACK),
    "worse on both facets": ("#B34700", "\N{MINUS SIGN}", "white"),
}
"""Colour, mark and colour of the mark of each verdict: labels with the same mark differ in lightness."""
# How each mark is drawn: marker, size and shift down, as shares of a cell. Markers are far quicker than text.
_STROKES = {
    "+": (("+", 0.55, 0.0),),
    "\N{MINUS SIGN}": (("_", 0.55, 0.0),),
    "\N{PLUS-MINUS SIGN}": (("+", 0.45, -0.08), ("_", 0.45, 0.28)),
    "\N{UPWARDS ARROW}": (("^", 0.3, 0.0),),
    "\N{DOWNWARDS ARROW}": (("v", 0.3, 0.0),),
    "\N{MIDDLE DOT}": ((".", 0.25, 0.0),),
}


@styled
def conditions_plot(distributions: Mapping[str, RankDistribution], runs: Sequence[str] | None = None, ax: Any = None) -> Any:
    """Draw the ranks of a few runs under several conditions: Figure 4 of Craswell et al. 2021.

    Parameters
    ----------
    distributions : mapping of str to RankDistribution
        By the name of the condition: measure, labels, queries.
    runs : sequence of str, optional
        Which runs; by default the first three of the first condition, which the title says.
    ax : matplotlib Axes or Figure, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        If there is no condition, no run, or a run is missing in a condition.
    MissingDependency
        If matplotlib is not installed.
    """
    if not distributions:
        raise ParameterError("there is no condition to draw")
    first_name, first = next(iter(distributions.items()))
    chosen = [run.run for run in first.runs[:3]] if runs is None else list(runs)
    if not chosen:
        raise ParameterError("runs=[]: name at least one run to draw")
    by_condition = {name: {run.run: run for run in found.runs} for name, found in distributions.items()}
    for name, found in by_condition.items():
        for run in chosen:
            if run not in found:
                raise ParameterError(f"{run} is not among the runs of {name}: {', '.join(found)}")
    frame = Frame(ax, max(2.4, (0.35 + 0.28 * len(chosen)) * len(distributions)), 3.8)
    ax = frame.ax
    width = 0.8 / len(chosen)
    for number, (run, label) in enumerate(zip(chosen, labels_of(chosen), strict=True)):
        style = series_style(number)
        for column, (name, found) in enumerate(by_condition.items()):
            x = column + (number - (len(chosen) - 1) / 2) * width
            _draw_blobs(ax, x, found[run].counts, distributions[name].resamples, style["color"], 200)
            ax.plot(x, found[run].expected_rank, marker=style["marker"], color="white", markeredgecolor=BLACK, markersize=5)
        ax.plot([], [], linestyle="", markeredgecolor=BLACK, label=label, **style)
    labels = labels_of((name.replace("\n", " ") for name in distributions), 40)
    ax.set_xticks(range(len(labels)), [label.replace(", ", ",\n") for label in labels], fontsize=8)
    if len(labels) > 2:
        tilt_labels(ax)
    ax.set_ylabel("rank (1 is the best)")
    last = max(int(np.flatnonzero(found[run].counts)[-1]) + 1 for found in by_condition.values() for run in chosen)
    rank_axis(ax, last, margin=0.8)
    legend_beside(ax, title="marker: expected rank\narea: share of resamples")
    condition = literal(first_name.replace("\n", " "))
    which = f"the first {len(chosen)} by {condition}" if runs is None else "chosen"
    sizes = sorted({found.n_queries for found in distributions.values()})
    queries = count(sizes[0], "query") if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,} queries"
    return frame.finish(
        f"Ranks of {count(len(chosen), 'run')} ({which}) of {len(first.runs)}\n"
        f"{count(first.resamples, 'bootstrap resample')} of {queries}"
    )


def draw_history(result: SotaHistory, ax: Any) -> Any:
    """Draw scores over time, the runs that took the top in another colour: Figure 1 of Lin et al. 2021."""
    import matplotlib.dates

    dates: Any = matplotlib.dates  # its functions have no annotations
    frame = Frame(ax, 6.2, 3.8)
    ax = frame.ax
    leaders = {run.run for run in result.runs}
    others = [entry for entry in result.entries if entry.run not in leaders]
    steps = [(run.date, run.score) for run in result.runs]
    submissions = [(entry.date, entry.score) for entry in others if not entry.is_baseline]
    baselines = [(entry.date, entry.score) for entry in others if entry.is_baseline]
    points = [*steps, *submissions, *baselines]
    ax.step(*zip(*steps, strict=True), where="post", color=VERMILLION, linewidth=1, zorder=1)
    for chosen, label, style in (
        (submissions, "submission", {"marker": "o", "color": SKY, "markersize": 4}),
        (baselines, "organizers' baseline", {"marker": "s", "color": GREY, "markersize": 5, "markeredgecolor": BLACK}),
        (steps, "took the top", {"marker": "D", "color": VERMILLION, "markersize": 5.5, "markeredgecolor": BLACK}),
    ):
        if chosen:
            ax.plot(*zip(*chosen, strict=True), linestyle="", label=f"{label} ({len(chosen)})", **style)
    days = (max(date for date, _ in points) - min(date for date, _ in points)).days
    locator = dates.AutoDateLocator(minticks=max(1, min(3, days)), maxticks=8)  # no hours between days
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    ax.set_xlabel("date of submission")
    ax.set_ylabel(f"{literal(result.score)} ({direction(result.higher_is_better)})")
    ax.margins(x=0.06, y=0.12)
    legend_beside(ax)
    frame.finish(f"{count(len(result.runs), 'run')} took the top, of {count(len(result.entries), 'run')} with a score")
    labels = [f"R{run.number}" for run in result.runs] + [""] * len(others)
    lines = []
    for start, end in pairwise(steps):
        corner = end[0], start[1]
        lines += [(start, corner), (corner, end)]
    label_points(ax, points, labels, lines=lines)
    return ax


def draw_history_of_board(result: Leaderboard, ax: Any) -> Any:
    """Draw the history of a leaderboard whose runs have dates."""
    if result.history is None:
        raise ParameterError("kind='history' needs dates: leaderboard(..., entries=a table with the columns id, date, group)")
    return draw_history(result.history, ax)


def draw_tiers(result: Leaderboard, ax: Any) -> Any:
    """Draw the scores with their intervals, and the tier of each run by colour, marker and number."""
    shown = [standing for standing in result.standings if standing.score is not None]
    frame, rows = row_frame(ax, 4.8, labels_of(standing.run for standing in shown))
    ax = frame.ax
    size = max(2.0, min(6.0, rows.fontsize * 0.6))
    for place, standing in enumerate(shown):
        low, high = standing.interval or (standing.score, standing.score)
        style = series_style((standing.tier or 1) - 1)
        ax.plot([low, high], [place, place], color=style["color"], linewidth=1.2)
        ax.plot(standing.score, place, markersize=size, markeredgecolor=BLACK, markeredgewidth=0.4, **style)
        if place % rows.step == 0 and standing.tier is not None:
            beside: Any = {"transform": ax.get_yaxis_transform(), "va": "center", "fontsize": rows.fontsize}
            ax.text(1.015, place, f"tier {standing.tier}", **beside)
    ax.grid(axis="x", color=LIGHT, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.set_xlabel(f"mean {literal(result.measure)} ({direction(result.higher_is_better)})")
    undefined = len(result.standings) - len(shown)
    note = "\nTier: no run of it is better than another by the two-facet verdict, cycles excepted" if result.pairs else ""
    missing = f"\n{count(undefined, 'run')} without a score not shown" if undefined else ""
    return frame.finish(
        f"Mean and {level_words(result.alpha)} of {count(len(shown), 'run')}, {count(result.n_queries, 'query')}{note}{missing}"
    )


def draw_verdicts(result: Leaderboard, ax: Any) -> Any:
    """Draw the verdict on every run (row) against every other (column)."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    if not result.pairs or result.settings is None:
        raise ParameterError("kind='verdicts' needs verdicts, which need the runs: only values of a measure were given")
    runs = [standing.run for standing in result.standings]
    rows = place_rows(len(runs), pitch=0.24, least=1.6)
    frame = Frame(ax, rows.height, rows.height)
    ax = frame.ax
    codes = _verdict_codes(result, runs)
    colors = ListedColormap([color for color, _, _ in VERDICT_CELLS.values()])
    ax.imshow(codes, cmap=colors, vmin=-0.5, vmax=len(LABELS) - 0.5, aspect="auto")
    cell = min(72 * rows.height / len(runs), 24.0)  # its size in points, or that of its mark where cells are large
    handles = []
    for code, (label, (color, mark, ink)) in enumerate(VERDICT_CELLS.items()):
        y, x = np.nonzero(codes == code)
        for marker, share, shift in _STROKES[mark]:
            ax.scatter(x, y + shift, s=(share * cell) ** 2, marker=marker, color=ink, linewidths=max(0.5, 0.07 * cell))
        handles.append(Patch(facecolor=color, edgecolor=BLACK, linewidth=0.4, label=f"{mark}  {label} ({len(x):,})"))
    labels = labels_of(runs)
    name_rows(ax, labels, rows, margin=0.5)
    places = range(0, len(runs), rows.step)
    ax.set_xticks(list(places), [labels[place] for place in places], rotation=90, fontsize=rows.fontsize)
    ax.set_ylabel("verdict on")
    ax.set_xlabel("against")
    legend_beside(ax, handles)
    return frame.finish(
        f"Verdicts on {count(len(runs), 'run')} in the order of {literal(result.measure)}\n"
        f"{count(result.n_queries, 'query')}, {cutoff_words(result.settings.cutoff)}, level {result.alpha:g}"
    )


def draw_rank_distribution(result: RankDistribution, ax: Any) -> Any:
    """Draw how often each run has each rank: Figure 3 of Craswell et al. 2021, and with many runs a shaded matrix."""
    return _rank_blobs(result, ax) if len(result.runs) <= MOST_BLOBS else _rank_matrix(result, ax)


def _rank_blobs(result: RankDistribution, ax: Any) -> Any:
    """Draw shares by area, with median and interval, as challengeR does."""
    from matplotlib.lines import Line2D

    size = len(result.runs)
    pitch = 0.3 if size <= 14 else 0.24
    frame = Frame(ax, max(2.0, pitch * size), max(2.0, pitch * size))
    ax = frame.ax
    area = (72 * 0.9 * pitch) ** 2
    for place, run in enumerate(result.runs):
        _draw_blobs(ax, place, run.counts, result.resamples, SKY, area)
        ax.plot([place, place], [run.low, run.high], color=BLACK, linewidth=1)
        ax.plot(place, _median_rank(run.counts, result.resamples), marker="x", color=BLACK, markersize=5)
    ax.plot(range(size), [run.rank for run in result.runs], color=VERMILLION, linewidth=0.8, linestyle="--", zorder=0)
    ax.set_xticks(range(size), labels_of(run.run for run in result.runs), rotation=90, fontsize=8)
    ax.set_xlim(-0.7, size - 0.3)
    ax.set_ylabel("rank in the resamples (1 is the best)")
    rank_axis(ax, size, margin=0.8)
    handles = [
        Line2D([], [], linestyle="", marker="o", color=SKY, markersize=np.sqrt(area / 4), label="25 % of the resamples"),
        Line2D([], [], linestyle="", marker="x", color=BLACK, label="median"),
        Line2D([], [], color=BLACK, linewidth=1, label=f"{100 * result.level:g} % interval"),
        Line2D([], [], color=VERMILLION, linewidth=0.8, linestyle="--", label="rank on all queries"),
    ]
    legend_beside(ax, handles)
    return frame.finish(_rank_title(result))


def _rank_matrix(result: RankDistribution, ax: Any) -> Any:
    """Draw shares by shade, a row for each run, a column for each rank."""
    size = len(result.runs)
    frame, rows = row_frame(ax, min(10.0, 0.14 * size), labels_of(run.run for run in result.runs), pitch=0.16)
    ax = frame.ax
    shares = 100 * np.array([run.counts for run in result.runs], dtype=np.float64) / result.resamples
    extent = 0.5, shares.shape[1] + 0.5, size - 0.5, -0.5
    shown = np.where(shares > 0, shares, np.nan)
    shade(ax, shown, max(10.0, float(shares.max())), "% of the resamples", shrink=0.4, extent=extent)
    for bound in ("low", "high"):
        ax.plot([getattr(run, bound) for run in result.runs], range(size), color=BLACK, linewidth=0.6)
    medians = [_median_rank(run.counts, result.resamples) for run in result.runs]
    ax.plot(medians, range(size), linestyle="", marker="x", color=VERMILLION, markersize=min(4.5, 0.5 * rows.fontsize))
    ax.set_xlabel("rank in the resamples (1 is the best)")
    return frame.finish(f"{_rank_title(result)}\ncross: median; lines: {100 * result.level:g} % interval")


def draw_tau(result: RankDistribution, ax: Any) -> Any:
    """Draw how much the order of each resample agrees with the order on all queries."""
    frame = Frame(ax, 4.4, 2.6)
    ax = frame.ax
    taus = [tau for tau in result.taus if tau is not None]
    low = np.floor(10 * min(taus, default=0.0)) / 10
    ax.hist(taus, bins=np.linspace(min(low, 0.9), 1.0, 41), color=BLUE, edgecolor="white", linewidth=0.4)
    if result.median_tau is not None:
        ax.axvline(result.median_tau, color=BLACK, linestyle="--", label=f"median {result.median_tau:.2f}")
        legend_beside(ax)
    ax.set_xlabel("Kendall tau with the order on all queries (1: the same order)")
    count_axis(ax, "resamples")
    return frame.finish(_rank_title(result))


def draw_agreement(result: Agreement, ax: Any) -> Any:
    """Draw how often two halves lead to the same direction, for tests and verdicts alike, and how often it replicates."""
    shares = {
        "same": ("same direction, or none", BLUE, ""),
        "one_sided": ("only one half finds a difference", LIGHT, "..."),
        "opposite": ("opposite directions", VERMILLION, "///"),
    }
    items = [*result.tests, *(() if result.verdict is None else (result.verdict,))]
    return _draw_shares(result, items, shares, ("replicates", "replicates, if a half finds one"), "Agreement", ax)


def draw_paper_agreement(result: Agreement, ax: Any) -> Any:
    """Draw the rates of Table 4 of Craswell et al. 2021 as bars, and of tests significant in a half as markers."""
    shares = {"agree": ("agree", BLUE, ""), "partial": ("partial", LIGHT, "..."), "disagree": ("disagree", ORANGE, "///")}
    marked = ("significant", "significant in a half")
    return _draw_shares(result, result.tests, shares, marked, "Rates of Craswell et al. 2021", ax)


def _draw_shares(
    result: Agreement,
    items: Sequence[Any],
    shares: Mapping[str, tuple[str, str, str]],
    marked: tuple[str, str],
    title: str,
    ax: Any,
) -> Any:
    """Draw shares that sum to 1 as stacked bars, and another share as markers; a row for each test."""
    names = [f"{item.measure}, {item.test}{', ' + item.aggregate if item.aggregate else ''}" for item in items]
    frame, _ = row_frame(ax, 5.0, labels_of(names, 52))
    ax = frame.ax
    stacked_bars(ax, ((*style, [100 * getattr(item, share) for item in items]) for share, style in shares.items()))
    share, label = marked
    known = [(100 * getattr(item, share), place) for place, item in enumerate(items) if getattr(item, share) is not None]
    ax.plot(*np.array(known).reshape(-1, 2).T, "D", color="white", markeredgecolor=BLACK, markersize=5, label=label)
    ax.set_xlim(0, 100)
    ax.set_xlabel("% of half splits and pairs of runs")
    legend_beside(ax)
    return frame.finish(
        f"{title} between halves of {count(result.n_queries, 'query')}\n{count(result.splits, 'split')}, "
        f"{count(result.n_pairs, 'pair')} of {count(result.n_runs, 'run')}, level {result.alpha:g}"
    )


def draw_correlation(result: RankCorrelation, ax: Any) -> Any:
    """Draw the ranks of the runs under both conditions, joined by lines."""
    tau = "undefined" if result.tau is None else f"{result.tau:.3f}"
    ranks = np.array([[run.first for run in result.runs], [run.second for run in result.runs]])
    title = f"Kendall's tau {tau}, {count(result.swapped, 'pair')} of {count(len(result.runs), 'run')} in opposite order"
    return draw_orders(ranks, [run.run for run in result.runs], [result.first, result.second], title, ax)


def _verdict_codes(result: Leaderboard, runs: Sequence[str]) -> Floats:
    """Number the verdict on each run (row) against each (column); NaN on the diagonal."""
    place = {run: number for number, run in enumerate(runs)}
    codes = np.full((len(runs), len(runs)), np.nan)
    for pair in result.pairs:
        contender, baseline = place[pair.contender], place[pair.baseline]
        codes[contender, baseline] = LABELS.index(pair.label)
        codes[baseline, contender] = LABELS.index(pair.turned().label)
    return codes


def _draw_blobs(ax: Any, x: float, counts: Sequence[int], resamples: int, color: str, area: float) -> None:
    shares = np.array(counts) / resamples
    reached = np.flatnonzero(shares)
    ax.scatter(np.full(len(reached), x), reached + 1, s=area * shares[reached], color=color, alpha=0.8, linewidths=0)


def _rank_title(result: RankDistribution) -> str:
    condition = f", {literal(result.condition)}" if result.condition else ""
    return (
        f"Ranks of {count(len(result.runs), 'run')} by {literal(result.measure)}{condition}\n"
        f"{count(result.resamples, 'bootstrap resample')} of {count(result.n_queries, 'query')}"
    )


def _median_rank(counts: Sequence[int], resamples: int) -> int:
    return int(np.searchsorted(np.cumsum(counts), resamples / 2)) + 1
