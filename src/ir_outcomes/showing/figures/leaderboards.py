"""Figures of leaderboards, of histories and of rank distributions."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.leaderboards.history import SotaHistory
from ir_outcomes.leaderboards.stability import RankDistribution
from ir_outcomes.pairs.verdict import MIRRORED
from ir_outcomes.showing import figures
from ir_outcomes.showing.figures import BETTER, GREY, INK, LIGHT, WORSE, Picture, draws
from ir_outcomes.showing.views.conditions import sign_of
from ir_outcomes.showing.views.leaderboards import answer_of, family_words, ranks_words
from ir_outcomes.showing.views.parts import settings_words
from ir_outcomes.showing.words import count, level_words

NUMBERED_CELLS = 30  # rows of a matrix whose cells also hold their sign
# The sign of a label -> what it means, colour and hatch of its cells.
VERDICT_CELLS = {
    "+": ("better", BETTER, ""),
    "~": ("trade-off", GREY, "xx"),
    "?": ("unconfirmed", GREY, ""),
    ".": ("no significant difference", LIGHT, ""),
    "-": ("worse", WORSE, "////"),
}
HISTORY_STYLES: dict[str, dict[str, Any]] = {
    "took the top": {"marker": "D", "color": BETTER, "markersize": 5.5, "zorder": 3},
    "submission": {"marker": "o", "color": GREY, "markersize": 4},
    "organizers' baseline": {"marker": "s", "color": "white", "markeredgecolor": INK},
}
SHADE = "#5B95DC"  # the darkest, on which black lines can be seen
NEAR = 0.035  # of a time axis: labels of points that are nearer overlap


@draws("standings", Leaderboard)
def draw_standings(result: Leaderboard, target: Any) -> Picture:
    """Draw means of the row that decides, with intervals and possible ranks."""
    standings = [standing for standing in result.standings if standing.score is not None]
    (ax,) = figures.row_panels(target, [standing.run for standing in standings], 7.5)
    ax.grid(axis="x")
    markersize = 0.7 * ax.get_yticklabels()[0].get_fontsize()
    for position, standing in enumerate(standings):
        if standing.interval is not None:
            ax.plot(standing.interval, [position, position], color=INK, linewidth=1.8)
        ax.plot([standing.score], [position], "o", color=INK, markersize=markersize)
    if not result.higher_is_better:
        ax.invert_xaxis()
    plurals = ("" if standing.ranks.best == standing.ranks.worst else "s" for standing in standings)
    ranks = zip(plurals, map(ranks_words, standings), strict=True)
    figures.write_beside([ax], [f"rank{plural} {words}" for plural, words in ranks])
    better = figures.toward(result.higher_is_better)
    mean = "search length over all queries" if result.measure == "all queries" else result.measure
    ax.set_xlabel(figures.literal(f"mean {mean} ({better})"))
    missing = len(result.standings) - len(standings)
    without = f"; {count(missing, 'run')} without a score" if missing else ""
    return Picture(
        [ax],
        answer_of(result),
        f"{level_words(result.alpha)}s of each mean by itself, ranks that are possible by"
        f" {family_words(result)}, {count(result.n_queries, 'query')}{without}",
    )


@draws("verdicts", Leaderboard)
def draw_verdicts(result: Leaderboard, target: Any) -> Picture:
    """Draw the verdict on every run (row) against every other one (column)."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    runs = [standing.run for standing in result.standings]
    signs = np.full((len(runs), len(runs)), "", dtype="<U1")
    upper, lower = np.triu_indices(len(runs), 1)  # the pairs, in their order
    labels = result.labels()
    signs[lower, upper] = [sign_of(label) for label in labels]
    signs[upper, lower] = [sign_of(MIRRORED[label]) for label in labels]
    longest = 0.07 * max(map(len, figures.labels_of(runs)))  # inches of a name below the matrix
    width = min(0.27 * len(runs), figures.TALLEST)
    (ax,) = figures.row_panels(target, runs, 4.0 + width, others=1.8 + longest)
    marks = {}
    for sign, (words, color, hatch) in VERDICT_CELLS.items():
        cells = signs == sign
        if cells.any():
            look: Any = {"hatch": hatch, "edgecolor": "white", "linewidth": 0.5}
            sheet = np.where(cells, 1.0, np.nan)
            edges = np.arange(len(runs) + 1) - 0.5
            ax.pcolor(edges, edges, sheet, cmap=ListedColormap([color]), **look)
            marks[f"{sign} {words} ({cells.sum():,})"] = Patch(facecolor=color, **look)
    for row, column in np.argwhere(signs != "") if len(runs) <= NUMBERED_CELLS else ():
        box = {"facecolor": "white", "edgecolor": "none", "pad": 1}  # signs stand out of the hatch
        middle: Any = {"ha": "center", "va": "center", "fontsize": 8, "bbox": box}
        ax.text(column, row, signs[row, column], color=INK, **middle)
    names = ax.get_yticklabels()
    texts = [name.get_text() for name in names]
    ax.set_xticks(ax.get_yticks(), texts, rotation=90, fontsize=names[0].get_fontsize())
    ax.set_xlim(-0.5, len(runs) - 0.5)
    ax.set_xlabel("the run of the row against that of the column\n+: the row is better")
    settings = [count(result.n_queries, "query")]
    if result.settings is not None:
        settings.append(settings_words(result.settings))
    return Picture(
        [ax],
        f"Verdicts on {count(len(runs), 'run')} in the order of the board",
        ", ".join([*settings, f"level {result.alpha:g}"]),
        marks,
    )


@draws("history", SotaHistory)
def draw_history(result: SotaHistory, target: Any) -> Picture:
    """Draw scores over time, and who took the top (Lin et al. 2021, Figure 1)."""
    import matplotlib.dates

    dates: Any = matplotlib.dates  # its functions have no annotations
    (ax,) = figures.panels(target, 8.0, 4.8)
    leaders = {run.run for run in result.runs}
    points: dict[str, list[Any]] = {label: [] for label in HISTORY_STYLES}
    for entry in result.entries:
        label = "organizers' baseline" if entry.is_baseline else "submission"
        label = "took the top" if entry.run in leaders else label
        if entry.score is not None:
            points[label].append((entry.date, entry.score))
    marks = {}
    for label, pairs in points.items():
        if pairs:
            (mark,) = ax.plot(*zip(*pairs, strict=True), linestyle="", **HISTORY_STYLES[label])
            marks[f"{label} ({len(pairs)})"] = mark
    days = [run.date for run in result.runs]
    ax.step(days, [run.score for run in result.runs], where="post", color=BETTER, linewidth=1)
    start, end_date = (end(entry.date for entry in result.entries) for end in (min, max))
    ticks = dates.AutoDateLocator(minticks=1, maxticks=8)
    ax.xaxis.set_major_locator(ticks)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(ticks))
    if not result.higher_is_better:
        ax.invert_yaxis()
    ax.margins(x=0.06, y=0.12)
    # Nothing was better before a run that took the top, so there is space above and to its left.
    labelled = None
    for run in result.runs:
        if labelled is None or (run.date - labelled).days > NEAR * (end_date - start).days:
            away: Any = {"xytext": (-3, 3), "textcoords": "offset points", "ha": "right"}
            ax.annotate(f"R{run.number}", (run.date, run.score), fontsize=8, color=INK, **away)
            labelled = run.date
    better = "up is better" if result.higher_is_better else "up is better: lower, axis reversed"
    ax.set_ylabel(figures.literal(f"{result.score} ({better})"))
    ax.set_xlabel("date of submission")
    return Picture(
        [ax],
        f"{count(len(leaders), 'run')} took the top, of {count(len(result.entries), 'run')} with a"
        " score",
        f"by {result.score}, {start:%Y-%m-%d} to {end_date:%Y-%m-%d}",
        marks,
    )


@draws("ranks", RankDistribution, list)
def draw_ranks(source: RankDistribution | list[RankDistribution], target: Any) -> Picture:
    """Draw how often each run has each rank (Craswell et al. 2021, Figures 3 and 4).

    Several distributions of the same runs have a panel each, in the order of the first.
    """
    from matplotlib.colors import LinearSegmentedColormap, PowerNorm

    distributions = source if isinstance(source, list) else [source]
    first = distributions[0]
    names = [run.run for run in first.runs]
    size = len(names)
    width = 3.5 + min(max(2.5, 0.16 * size), 8.5 / len(distributions)) * len(distributions)
    axes = figures.row_panels(target, names, width, columns=len(distributions))
    shares = []
    for ax, distribution in zip(axes, distributions, strict=True):
        runs = [distribution[name] for name in names]
        counts = np.array([run.counts for run in runs])
        shares.append(np.where(counts > 0, 100 * counts / distribution.resamples, np.nan))
        for position, (run, numbers) in enumerate(zip(runs, counts, strict=True)):
            (line,) = ax.plot([run.low, run.high], [position, position], color=INK, linewidth=0.7)
            median = np.searchsorted(np.cumsum(numbers), distribution.resamples / 2) + 1
            (cross,) = ax.plot([median], [position], "x", color=INK, markersize=4)
    look: Any = {
        "cmap": LinearSegmentedColormap.from_list("shades", ["white", SHADE]),
        "norm": PowerNorm(0.5, 0, max(10.0, np.nanmax(shares))),
        "extent": (0.5, size + 0.5, size - 0.5, -0.5),
        "aspect": "auto",
        "interpolation": "nearest",
    }
    for ax, distribution, of_runs in zip(axes, distributions, shares, strict=True):
        image = ax.imshow(of_runs, **look)
        ax.set_xlim(size + 0.5, 0.5)
        ax.set_ylim(size - 0.4, -0.6)
        figures.count_on(ax.xaxis)
        words = figures.literal(_ranked_by(distribution))
        ax.set_xlabel(f"rank {words}\n(right is better: rank 1, axis reversed)")
    axes[0].figure.colorbar(image, ax=axes, label="% of the resamples", aspect=30, shrink=0.6)
    by = _ranked_by(first) if len(distributions) == 1 else f"in {len(distributions)} conditions"
    return Picture(
        axes,
        f"Ranks of {count(size, 'run')} {by}",
        f"{count(first.resamples, 'bootstrap resample')} of {_queries(distributions)}",
        {"median": cross, f"{100 * first.level:g} % interval": line},
    )


def _ranked_by(result: RankDistribution) -> str:
    return ", ".join(filter(None, (f"by {result.measure}", result.condition)))


def _queries(distributions: Sequence[RankDistribution]) -> str:
    numbers = [distribution.n_queries for distribution in distributions]
    if min(numbers) == max(numbers):
        return count(numbers[0], "query")
    return f"{min(numbers):,} to {max(numbers):,} queries"
