"""Figures of leaderboards: history, tiers, verdicts, rank distributions and agreement."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.errors import ParameterError
from ir_outcomes.leaderboards import Agreement, Leaderboard, RankCorrelation, RankDistribution, SotaHistory
from ir_outcomes.showing.figures._labels import Names, label_points, literal
from ir_outcomes.showing.figures._style import (
    BLACK,
    BLUE,
    GREY,
    LIGHT,
    ORANGE,
    SKY,
    VERMILLION,
    YELLOW,
    Frame,
    count,
    legend_beside,
    name_rows,
    place_rows,
    series_style,
    styled,
)
from ir_outcomes.showing.figures.dispatch import Drawing, kinds
from ir_outcomes.showing.figures.orders import draw_orders

__all__ = ["VERDICT_CELLS", "conditions_plot"]

MOST_BLOBS = 30  # rank distributions of more runs are drawn as a shaded matrix
VERDICT_CELLS: dict[str, tuple[str, str, str]] = dict(
    zip(
        LABELS,
        (
            (BLUE, "+", "white"),
            ("#B3D9F2", "+", BLACK),
            ("#B34700", "\N{MINUS SIGN}", "white"),
            ("#FAD9BE", "\N{MINUS SIGN}", BLACK),
            (YELLOW, "\N{PLUS-MINUS SIGN}", BLACK),
            ("#F4F4F4", "\N{MIDDLE DOT}", BLACK),
        ),
        strict=True,
    )
)
"""Colour, mark and colour of the mark of each verdict: labels with the same mark differ in lightness."""
# How each mark is drawn: marker, size and shift down, as shares of a cell. Markers are far quicker than text.
_STROKES = {
    "+": (("+", 0.55, 0.0),),
    "\N{MINUS SIGN}": (("_", 0.55, 0.0),),
    "\N{PLUS-MINUS SIGN}": (("+", 0.45, -0.08), ("_", 0.45, 0.28)),
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
    names = Names(chosen)
    width = 0.8 / len(chosen)
    for number, run in enumerate(chosen):
        style = series_style(number)
        for column, (name, found) in enumerate(by_condition.items()):
            x = column + (number - (len(chosen) - 1) / 2) * width
            _draw_blobs(ax, x, found[run].counts, distributions[name].resamples, style["color"], 200)
            ax.plot(x, found[run].expected_rank, marker=style["marker"], color="white", markeredgecolor=BLACK, markersize=5)
        ax.plot([], [], linestyle="", markeredgecolor=BLACK, label=names[run], **style)
    labels = Names([name.replace("\n", " ") for name in distributions], most=40)
    ax.set_xticks(
        range(len(distributions)), [labels[name.replace("\n", " ")].replace(", ", ",\n") for name in distributions], fontsize=8
    )
    if len(distributions) > 2:
        for label in ax.get_xticklabels():
            label.set(rotation=45, ha="right", rotation_mode="anchor")
    ax.set_ylabel("rank (1 is the best)")
    _ranks_downwards(
        ax, max(int(np.flatnonzero(found[run].counts)[-1]) + 1 for found in by_condition.values() for run in chosen)
    )
    legend_beside(ax, title="marker: expected rank\narea: share of resamples")
    condition = literal(first_name.replace("\n", " "))
    which = f"the first {len(chosen)} by {condition}" if runs is None else "chosen"
    sizes = sorted({found.n_queries for found in distributions.values()})
    queries = count(sizes[0], "query", "queries") if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,} queries"
    frame.finish(
        f"Ranks of {count(len(chosen), 'run')} ({which}) of {len(first.runs)}\n"
        f"{count(first.resamples, 'bootstrap resample')} of {queries}"
    )
    return ax


@styled
def _history(result: SotaHistory, ax: Any) -> Any:
    """Draw scores over time, the runs that took the top in another colour: Figure 1 of Lin et al. 2021."""
    import matplotlib.dates

    dates: Any = matplotlib.dates  # its functions have no annotations
    frame = Frame(ax, 6.2, 3.8)
    ax = frame.ax
    leaders = {run.run for run in result.runs}
    submissions = [entry for entry in result.entries if entry.run not in leaders and not entry.is_baseline]
    baselines = [entry for entry in result.entries if entry.is_baseline and entry.run not in leaders]
    steps = [(run.date, run.score) for run in result.runs]
    points = [(entry.date, entry.score) for entry in (*submissions, *baselines)]
    ax.step(*zip(*steps, strict=True), where="post", color=VERMILLION, linewidth=1, zorder=1)
    if submissions:
        ax.plot(*_columns(submissions), "o", color=SKY, markersize=4, label=f"submission ({len(submissions)})")
    if baselines:
        ax.plot(
            *_columns(baselines),
            "s",
            color=GREY,
            markeredgecolor=BLACK,
            markersize=5,
            label=f"organizers' baseline ({len(baselines)})",
        )
    ax.plot(
        *zip(*steps, strict=True),
        "D",
        color=VERMILLION,
        markeredgecolor=BLACK,
        markersize=5.5,
        label=f"took the top ({len(steps)})",
    )
    locator = dates.AutoDateLocator(minticks=3, maxticks=8)
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))
    ax.set_xlabel("date of submission")
    ax.set_ylabel(f"{literal(result.score)} ({_direction(result.higher_is_better)})")
    ax.margins(x=0.06, y=0.12)
    legend_beside(ax)
    frame.finish(f"{count(len(result.runs), 'run')} took the top, of {count(len(result.entries), 'run')} with a score")
    labels = [*(f"R{run.number}" for run in result.runs), *[""] * len(points)]
    corners = [(after[0], before[1]) for before, after in pairwise(steps)]
    lines = [
        line for start, corner, end in zip(steps, corners, steps[1:], strict=False) for line in ((start, corner), (corner, end))
    ]
    label_points(ax, [*steps, *points], labels, lines=lines)
    return ax


@styled
def _tiers(result: Leaderboard, ax: Any) -> Any:
    """Draw the scores with their intervals, and the tier of each run by colour, marker and number."""
    shown = [standing for standing in result.standings if standing.score is not None]
    rows = place_rows(len(shown))
    frame = Frame(ax, 4.8, rows.height)
    ax = frame.ax
    size = max(2.0, min(6.0, rows.fontsize * 0.6))
    for place, standing in enumerate(shown):
        low, high = standing.interval or (standing.score, standing.score)
        style = series_style((standing.tier or 1) - 1)
        ax.plot([low, high], [place, place], color=style["color"], linewidth=1.2)
        ax.plot(standing.score, place, markersize=size, markeredgecolor=BLACK, markeredgewidth=0.4, **style)
        if place % rows.step == 0 and standing.tier is not None:
            ax.text(
                1.015, place, f"tier {standing.tier}", transform=ax.get_yaxis_transform(), va="center", fontsize=rows.fontsize
            )
    names = Names([standing.run for standing in shown])
    name_rows(ax, [names[standing.run] for standing in shown], rows)
    ax.grid(axis="x", color=LIGHT, linewidth=0.5)
    ax.set_axisbelow(True)
    ax.set_xlabel(f"{result.aggregate} {literal(result.measure)} ({_direction(result.higher_is_better)})")
    undefined = len(result.standings) - len(shown)
    note = "\nTier: no run of it is better than another by the two-facet verdict, cycles excepted" if result.pairs else ""
    missing = f"\n{count(undefined, 'run')} without a score not shown" if undefined else ""
    frame.finish(
        f"{result.aggregate.capitalize()} and {100 * (1 - result.alpha):g} % interval of {count(len(shown), 'run')}, "
        f"{count(result.n_queries, 'query', 'queries')}{note}{missing}"
    )
    return ax


@styled
def _verdicts(result: Leaderboard, ax: Any) -> Any:
    """Draw the verdict on every run (row) against every other (column)."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    if not result.pairs or result.settings is None:
        raise ParameterError("kind='verdicts' needs verdicts, which need the runs: only values of a measure were given")
    runs = [standing.run for standing in result.standings]
    rows = place_rows(len(runs), pitch=0.24, least=1.6)
    size = rows.height
    frame = Frame(ax, size, size)
    ax = frame.ax
    codes = _verdict_codes(result, runs)
    ax.imshow(
        codes,
        cmap=ListedColormap([cell[0] for cell in VERDICT_CELLS.values()]),
        vmin=-0.5,
        vmax=len(LABELS) - 0.5,
        aspect="auto",
    )
    points_per_cell = 72 * size / len(runs)
    handles = []
    for code, (label, (color, mark, ink)) in enumerate(VERDICT_CELLS.items()):
        y, x = np.nonzero(codes == code)
        for marker, share, shift in _STROKES[mark]:
            ax.scatter(
                x,
                y + shift,
                s=(share * points_per_cell) ** 2,
                marker=marker,
                color=ink,
                linewidths=max(0.5, 0.07 * points_per_cell),
            )
        handles.append(Patch(facecolor=color, edgecolor=BLACK, linewidth=0.4, label=f"{mark}  {label} ({len(x):,})"))
    names = Names(runs)
    labels = [names[run] for run in runs]
    name_rows(ax, labels, rows)
    ax.set_ylim(len(runs) - 0.5, -0.5)
    places = range(0, len(runs), rows.step)
    ax.set_xticks(list(places), [labels[place] for place in places], rotation=90, fontsize=rows.fontsize)
    ax.set_ylabel("verdict on")
    ax.set_xlabel("against")
    legend_beside(ax, handles)
    depth = "no cutoff" if result.settings.cutoff is None else f"cutoff {result.settings.cutoff:,}"
    frame.finish(
        f"Verdicts on {count(len(runs), 'run')} in the order of {literal(result.measure)}\n"
        f"{count(result.n_queries, 'query', 'queries')}, {depth}, level {result.alpha:g}"
    )
    return ax


@styled
def _history_of_board(result: Leaderboard, ax: Any) -> Any:
    if result.history is None:
        raise ParameterError("kind='history' needs dates: leaderboard(..., entries=a table with the columns id, date, group)")
    return _history(result.history, ax)


@styled
def _ranks(result: RankDistribution, ax: Any) -> Any:
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
    names = Names([run.run for run in result.runs])
    ax.set_xticks(range(size), [names[run.run] for run in result.runs], rotation=90, fontsize=8)
    ax.set_xlim(-0.7, size - 0.3)
    ax.set_ylabel("rank in the resamples (1 is the best)")
    _ranks_downwards(ax, size)
    quarter = Line2D([], [], linestyle="", marker="o", color=SKY, markersize=np.sqrt(area / 4), label="25 % of the resamples")
    legend_beside(ax, [quarter, *_rank_lines(result)])
    frame.finish(_rank_title(result))
    return ax


def _rank_matrix(result: RankDistribution, ax: Any) -> Any:
    """Draw shares by shade, a row for each run, a column for each rank."""
    from matplotlib.colors import PowerNorm

    size = len(result.runs)
    rows = place_rows(size, pitch=0.16)
    frame = Frame(ax, min(10.0, 0.14 * size), rows.height)
    ax = frame.ax
    shares = 100 * np.array([run.counts for run in result.runs], dtype=np.float64) / result.resamples
    image = ax.imshow(
        np.where(shares > 0, shares, np.nan),
        cmap="Blues",
        norm=PowerNorm(0.5, 0, max(10.0, float(shares.max()))),
        aspect="auto",
        interpolation="nearest",
        extent=(0.5, shares.shape[1] + 0.5, size - 0.5, -0.5),
    )
    for bound in ("low", "high"):
        ax.plot([getattr(run, bound) for run in result.runs], range(size), color=BLACK, linewidth=0.6)
    medians = [_median_rank(run.counts, result.resamples) for run in result.runs]
    ax.plot(medians, range(size), linestyle="", marker="x", color=VERMILLION, markersize=min(4.5, 0.5 * rows.fontsize))
    names = Names([run.run for run in result.runs])
    name_rows(ax, [names[run.run] for run in result.runs], rows)
    ax.set_xlabel("rank in the resamples (1 is the best)")
    ax.figure.colorbar(image, ax=ax, label="% of the resamples", shrink=0.4, aspect=30)
    frame.finish(f"{_rank_title(result)}\ncross: median; lines: {100 * result.level:g} % interval")
    return ax


@styled
def _tau(result: RankDistribution, ax: Any) -> Any:
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
    ax.set_ylabel("resamples")
    frame.finish(_rank_title(result))
    return ax


@styled
def _agreement(result: Agreement, ax: Any) -> Any:
    """Draw how often two halves lead to the same label, for tests and verdicts alike, and how often a label replicates."""
    shares = {
        "same": (BLUE, "", "same label"),
        "one_sided": (LIGHT, "...", "only one half finds a difference"),
        "different": (YELLOW, "xx", "different labels"),
        "opposite": (VERMILLION, "///", "opposite labels"),
    }
    items = [*result.tests, *(() if result.verdict is None else (result.verdict,))]
    return _draw_agreement(result, items, shares, ("replicates", "replicates, if a half finds one"), "Agreement", ax)


@styled
def _paper_agreement(result: Agreement, ax: Any) -> Any:
    """Draw the rates of Table 4 of Craswell et al. 2021 as bars, and of tests significant in a half as markers."""
    shares = {"agree": (BLUE, "", "agree"), "partial": (LIGHT, "...", "partial"), "disagree": (ORANGE, "///", "disagree")}
    marked = ("significant", "significant in a half")
    return _draw_agreement(result, result.tests, shares, marked, "Rates of Craswell et al. 2021", ax)


def _draw_agreement(
    result: Agreement,
    items: Sequence[Any],
    shares: Mapping[str, tuple[str, str, str]],
    marked: tuple[str, str],
    title: str,
    ax: Any,
) -> Any:
    """Draw shares that sum to 1 as stacked bars, and another share as markers; a row for each test."""
    rows = place_rows(len(items))
    frame = Frame(ax, 5.0, rows.height)
    ax = frame.ax
    left = np.zeros(len(items))
    for name, (color, hatch, label) in shares.items():
        values = np.array([100 * getattr(item, name) for item in items])
        ax.barh(range(len(items)), values, left=left, color=color, hatch=hatch, edgecolor="white", linewidth=0.4, label=label)
        left += values
    known = [(place, getattr(item, marked[0])) for place, item in enumerate(items) if getattr(item, marked[0]) is not None]
    ax.plot(
        [100 * share for _, share in known],
        [place for place, _ in known],
        "D",
        color="white",
        markeredgecolor=BLACK,
        markersize=5,
        label=marked[1],
    )
    labels = [f"{item.measure}, {item.test}{', ' + item.aggregate if item.aggregate else ''}" for item in items]
    names = Names(labels, most=52)
    name_rows(ax, [names[label] for label in labels], rows)
    ax.set_xlim(0, 100)
    ax.set_xlabel("% of half splits and pairs of runs")
    legend_beside(ax)
    frame.finish(
        f"{title} between halves of {count(result.n_queries, 'query', 'queries')}\n{count(result.splits, 'split')}, "
        f"{count(result.n_pairs, 'pair')} of {count(result.n_runs, 'run')}, level {result.alpha:g}"
    )
    return ax


@styled
def _correlation(result: RankCorrelation, ax: Any) -> Any:
    """Draw the ranks of the runs under both conditions, joined by lines."""
    tau = "undefined" if result.tau is None else f"{result.tau:.3f}"
    ranks = np.array([[run.first for run in result.runs], [run.second for run in result.runs]])
    title = f"Kendall's tau {tau}, {count(result.swapped, 'pair')} of {count(len(result.runs), 'run')} in opposite order"
    return draw_orders(ranks, [run.run for run in result.runs], [result.first, result.second], title, ax)


def _verdict_codes(result: Leaderboard, runs: Sequence[str]) -> npt.NDArray[np.float64]:
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


def _rank_lines(result: RankDistribution) -> list[Any]:
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], linestyle="", marker="x", color=BLACK, label="median"),
        Line2D([], [], color=BLACK, linewidth=1, label=f"{100 * result.level:g} % interval"),
        Line2D([], [], color=VERMILLION, linewidth=0.8, linestyle="--", label="rank on all queries"),
    ]


def _rank_title(result: RankDistribution) -> str:
    condition = f", {literal(result.condition)}" if result.condition else ""
    return (
        f"Ranks of {count(len(result.runs), 'run')} by {literal(result.measure)}{condition}\n"
        f"{count(result.resamples, 'bootstrap resample')} of {count(result.n_queries, 'query', 'queries')}"
    )


def _median_rank(counts: Sequence[int], resamples: int) -> int:
    return int(np.searchsorted(np.cumsum(counts), resamples / 2)) + 1


def _ranks_downwards(ax: Any, size: int) -> None:
    ax.set_yticks([1, *range(5, size + 1, 5)] if size > 14 else range(1, size + 1))
    ax.set_ylim(size + 0.8, 0.2)


def _columns(entries: Sequence[Any]) -> tuple[list[Any], list[float]]:
    return [entry.date for entry in entries], [entry.score for entry in entries]


def _direction(higher_is_better: bool) -> str:
    return "higher is better" if higher_is_better else "lower is better"


@kinds.register
def _(result: SotaHistory) -> Mapping[str, Drawing]:
    return {"history": _history}


@kinds.register
def _(result: Leaderboard) -> Mapping[str, Drawing]:
    return {"tiers": _tiers, "verdicts": _verdicts, "history": _history_of_board}


@kinds.register
def _(result: RankDistribution) -> Mapping[str, Drawing]:
    return {"ranks": _ranks, "tau": _tau}


@kinds.register
def _(result: Agreement) -> Mapping[str, Drawing]:
    return {"agreement": _agreement, "paper": _paper_agreement}


@kinds.register
def _(result: RankCorrelation) -> Mapping[str, Drawing]:
    return {"orders": _correlation}
