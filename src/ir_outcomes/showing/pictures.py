"""Pictures of the analyses, with matplotlib; each takes ``ax=`` and returns the Axes it drew on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.errors import ParameterError
from ir_outcomes.leaderboards import Agreement, Leaderboard, RankDistribution, SotaHistory
from ir_outcomes.results import Result
from ir_outcomes.showing.plots import BLACK, BLUE, GREEN, GREY, ORANGE, axes_or_new, label_of
from ir_outcomes.tail import RRIE, Headroom, LengthChanges, LengthDistributions, Reordering

__all__ = ["conditions_plot", "draw"]

RED, PURPLE = "#D55E00", "#CC79A7"
_COLORS = (BLUE, ORANGE, GREEN, PURPLE, GREY)
_MARKERS = "osD^vP*X"
_LABEL_COLORS = dict(zip(LABELS, (GREEN, "#7FCFB6", RED, "#EFB28A", "#F0E442", "#EEEEEE"), strict=True))


def draw(result: Result, kind: str | None = None, ax: Any = None) -> Any:
    """Draw a picture of a result by its name, or its first one.

    Raises
    ------
    ParameterError
        If there is no such picture.
    MissingDependency
        If matplotlib is not installed.
    """
    pictures = PICTURES[type(result)]
    name = kind or next(iter(pictures))
    if name not in pictures:
        raise ParameterError(f"kind={kind!r}: a {type(result).__name__} is drawn as {', '.join(pictures)}")
    return pictures[name](result, ax)


def conditions_plot(distributions: Mapping[str, RankDistribution], runs: Sequence[str] | None = None, ax: Any = None) -> Any:
    """Draw the ranks of a few runs under several conditions: Figure 4 of Craswell et al. 2021.

    Parameters
    ----------
    distributions : mapping of str to RankDistribution
        By the name of the condition: measure, labels, queries.
    runs : sequence of str, optional
        Which runs; by default the first three of the first condition.
    ax : matplotlib Axes, optional
        Where to draw; by default on a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    ParameterError
        If there is no condition, or a run is not in one.
    """
    if not distributions:
        raise ParameterError("there is no condition to draw")
    first = next(iter(distributions.values()))
    chosen = list(runs) if runs is not None else [each.run for each in first.runs[:3]]
    ax = axes_or_new(ax, width=1.6 + 1.5 * len(distributions), height=4.4)
    width = 0.8 / len(chosen)
    for column, (name, distribution) in enumerate(distributions.items()):
        there = {each.run: each for each in distribution.runs}
        for number, run in enumerate(chosen):
            if run not in there:
                raise ParameterError(f"{run} is not among the runs of {name}: {', '.join(there)}")
            x = column + (number - (len(chosen) - 1) / 2) * width
            _blobs(ax, x, there[run].counts, distribution.resamples, _COLORS[number % 5], 220)
            ax.plot(x, there[run].expected_rank, marker="_", color=BLACK, markersize=9)
    for number, run in enumerate(chosen):
        ax.scatter([], [], color=_COLORS[number % 5], label=label_of(run))
    ax.set_xticks(range(len(distributions)), list(distributions))
    ax.set_ylabel("rank (1 is the best)")
    _ranks_downwards(ax, max(len(each.runs) for each in distributions.values()))
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(chosen), frameon=False, fontsize="small")
    return ax


def _history(result: SotaHistory, ax: Any) -> Any:
    """Draw scores over time, the runs that took the top in red: Figure 1 of Lin et al. 2021."""
    ax = axes_or_new(ax, width=6.8, height=4.0)
    sota = {each.run for each in result.runs}
    others = [each for each in result.entries if each.run not in sota and not each.is_baseline]
    baselines = [each for each in result.entries if each.is_baseline]
    ax.plot([each.date for each in others], [each.score for each in others], "o", color=BLUE, alpha=0.6, label="submission")
    if baselines:
        dates, scores = zip(*((each.date, each.score) for each in baselines), strict=True)
        ax.plot(dates, scores, "s", color=GREY, markeredgecolor=BLACK, label="organizers' baseline")
    steps = [each.date for each in result.runs], [each.score for each in result.runs]
    ax.step(*steps, where="post", color=RED, linewidth=1)
    ax.plot(*steps, "o", color=RED, markersize=8, label="took the top")
    for each in result.runs:
        ax.annotate(f"$R_{{{each.number}}}$", (each.date, each.score), xytext=(-2, 6), textcoords="offset points", ha="right")
    ax.set_ylabel(f"{result.score} ({'higher' if result.higher_is_better else 'lower'} is better)")
    ax.tick_params(axis="x", labelrotation=30)
    ax.margins(y=0.1)
    ax.legend(frameon=False, loc="lower right" if result.higher_is_better else "upper right")
    return ax


def _tiers(result: Leaderboard, ax: Any) -> Any:
    """Draw the means with their intervals, and the tier of each run by colour and mark."""
    ax = axes_or_new(ax, width=6.4, height=1.2 + 0.28 * len(result.standings))
    for place, each in enumerate(result.standings):
        if each.score is None:
            continue
        low, high = each.interval or (each.score, each.score)
        style = {"color": _COLORS[(each.tier - 1) % 5], "marker": _MARKERS[(each.tier - 1) % 8]}
        ax.errorbar(each.score, place, xerr=[[each.score - low], [high - each.score]], capsize=2, **style)
        _label(ax, f"tier {each.tier}", (high, place))
    ax.set_yticks(range(len(result.standings)), [label_of(each.run) for each in result.standings])
    ax.invert_yaxis()
    ax.margins(x=0.12)
    ax.set_xlabel(f"{result.measure} ({'higher' if result.higher_is_better else 'lower'} is better)")
    return ax


def _verdicts(result: Leaderboard, ax: Any) -> Any:
    """Draw the verdict on every run (row) against every other (column)."""
    from matplotlib.colors import ListedColormap
    from matplotlib.patches import Patch

    names = [each.run for each in result.standings]
    ax = axes_or_new(ax, width=5.2 + 0.3 * len(names), height=3.0 + 0.28 * len(names))
    codes = np.full((len(names), len(names)), np.nan)
    for row, contender in enumerate(names):
        for column, baseline in enumerate(names):
            if row != column:
                codes[row, column] = LABELS.index(result.verdict(baseline, contender).label)
    ax.imshow(codes, cmap=ListedColormap(list(_LABEL_COLORS.values())), vmin=-0.5, vmax=len(LABELS) - 0.5)
    labels = [label_of(name) for name in names]
    ax.set_yticks(range(len(names)), labels)
    ax.set_xticks(range(len(names)), labels, rotation=90)
    ax.set_ylabel("verdict on")
    ax.set_xlabel("against")
    patches = [Patch(color=color, label=label) for label, color in _LABEL_COLORS.items()]
    ax.legend(handles=patches, loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False, fontsize="small")
    return ax


def _history_of_board(result: Leaderboard, ax: Any) -> Any:
    if result.history is None:
        raise ParameterError("kind='history' needs dates: leaderboard(..., entries=a table with the columns id, date, group)")
    return _history(result.history, ax)


def _rank_blobs(result: RankDistribution, ax: Any) -> Any:
    """Draw how often each run has each rank, by area, median and interval, as challengeR does: Craswell et al. Figure 3."""
    size = len(result.runs)
    ax = axes_or_new(ax, width=2.4 + 0.34 * size, height=3.6 + 0.22 * size)
    for place, each in enumerate(result.runs):
        _blobs(ax, place, each.counts, result.resamples, BLUE, 420)
        ax.plot([place, place], [each.low, each.high], color=BLACK, linewidth=1)
        median = int(np.searchsorted(np.cumsum(each.counts), result.resamples / 2)) + 1
        ax.plot(place, median, marker="x", color=BLACK, markersize=6)
    ax.plot(range(size), [each.rank for each in result.runs], color=GREY, linewidth=0.6, zorder=0)
    ax.set_xticks(range(size), [label_of(each.run) for each in result.runs], rotation=90)
    ax.set_ylabel("rank in the resamples (1 is the best)")
    _ranks_downwards(ax, size)
    ax.set_title(f"by {result.measure}{', ' if result.condition else ''}{result.condition}", fontsize="medium")
    return ax


def _tau(result: RankDistribution, ax: Any) -> Any:
    """Draw how much the order of each resample agrees with the order on all queries."""
    ax = axes_or_new(ax, width=4.8, height=3.0)
    taus = [tau for tau in result.taus if tau is not None]
    ax.hist(taus, bins=np.linspace(min([*taus, 0.0]), 1.0, 41), color=BLUE, edgecolor="white")
    if result.median_tau is not None:
        ax.axvline(result.median_tau, color=BLACK, linestyle="--", label=f"median {result.median_tau:.2f}")
        ax.legend(frameon=False, loc="upper left")
    ax.set_xlabel("Kendall tau with the order on all queries (1: the same)")
    ax.set_ylabel("resamples")
    return ax


def _agreement(result: Agreement, ax: Any) -> Any:
    """Draw the shares of Table 4 of Craswell et al. 2021 as bars, and of pairs significant in a half as dots."""
    rows = result.rows()
    ax = axes_or_new(ax, width=6.8, height=1.4 + 0.26 * len(rows))
    left = np.zeros(len(rows))
    styles = {"agree": (BLUE, ""), "partial": (GREY, "..."), "disagree": (ORANGE, "///")}
    for name, (color, hatch) in styles.items():
        shares = np.array([100 * row[name] for row in rows])
        ax.barh(range(len(rows)), shares, left=left, color=color, hatch=hatch, edgecolor="white", label=name)
        left += shares
    ax.plot([100 * row["significant"] for row in rows], range(len(rows)), "D", color=BLACK, label="significant in a half")
    names = [f"{row['measure']}, {row['test']}{', ' + row['aggregate'] if row['aggregate'] else ''}" for row in rows]
    ax.set_yticks(range(len(rows)), names, fontsize="small")
    ax.invert_yaxis()
    ax.set_xlim(0, 100)
    ax.set_xlabel("% of splits and pairs")
    ax.legend(ncols=4, loc="lower center", bbox_to_anchor=(0.4, 1.0), frameon=False, fontsize="small")
    return ax


def _orders(result: Reordering, ax: Any) -> Any:
    """Draw the rank of each run under each measure, from one to the next."""
    from ir_outcomes.statistics.orders import shared_ranks

    values = np.array([[-np.inf if each is None else each for each in row] for row in result.values])
    ranks = shared_ranks(values)
    ax = axes_or_new(ax, width=2.6 + 1.3 * len(result.measures), height=1.4 + 0.26 * len(result.runs))
    styles = [(marker, color) for marker in _MARKERS for color in _COLORS]
    for run, (name, (marker, color)) in enumerate(zip(result.runs, styles * len(result.runs), strict=False)):
        ax.plot(range(len(result.measures)), ranks[:, run], color=color, marker=marker, linewidth=1.2)
        _label(ax, f"{ranks[-1, run]} {label_of(name)}", (len(result.measures) - 1, ranks[-1, run]))
    ax.set_xticks(range(len(result.measures)), result.measures)
    ax.margins(x=0.05)
    ax.set_ylabel("rank (1 is the best)")
    _ranks_downwards(ax, len(result.runs))
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    return ax


def _reordering_changes(result: Reordering, ax: Any) -> Any:
    """Draw Delta-Sort and 100 times 1 minus tau of each step."""
    ax = axes_or_new(ax, width=6.0, height=1.2 + 0.5 * len(result.changes))
    places = np.arange(len(result.changes))
    ax.barh(places - 0.2, [each.delta_sort for each in result.changes], 0.38, color=BLUE, label="Delta-Sort, % of the runs")
    taus = [0.0 if each.tau is None else 100 * (1 - each.tau) for each in result.changes]
    ax.barh(places + 0.2, taus, 0.38, color=ORANGE, hatch="///", edgecolor="white", label="100 (1 - Kendall tau)")
    ax.set_yticks(places, [each.step for each in result.changes])
    ax.invert_yaxis()
    ax.set_xlabel("change of the order (0: none)")
    ax.legend(frameon=False, fontsize="small", loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=2)
    return ax


def _lengths(result: LengthDistributions, ax: Any) -> Any:
    """Draw the relevant documents by search length, the missing ones apart: Figure 5 of Alex et al. 2022."""
    ax = axes_or_new(ax, width=7.0, height=3.6)
    buckets = len(result.edges) - 1
    width = 0.84 / len(result.runs)
    hatches = ("", "///", "...", "xx", "\\\\\\")
    for number, each in enumerate(result.runs):
        places = np.append(np.arange(buckets), buckets + 0.6) + (number - (len(result.runs) - 1) / 2) * width
        color = _COLORS[number % 5]
        ax.bar(
            places, [*each.counts, each.missing], width, color=color, hatch=hatches[number // 5 % 5], label=label_of(each.run)
        )
    names = _buckets(result.edges)
    ax.set_xticks([*range(buckets), buckets + 0.6], [*names, "missing"], rotation=45, ha="right", fontsize="small")
    ax.set_xlabel("search length of the document (ranks; 1 is the best)")
    ax.set_ylabel("relevant documents")
    ax.legend(frameon=False, fontsize="small")
    return ax


def _length_changes(result: LengthChanges, ax: Any) -> Any:
    """Draw the changes of single documents by their size, those found by one run only at the ends: Figure 6 of Alex et al."""
    ax = axes_or_new(ax, width=7.0, height=3.6)
    names = [*_buckets(result.edges), f"{result.edges[-1]}+"]
    places = np.arange(1, len(names) + 1)
    contender = label_of(result.contender)
    ax.bar(-places, result.further_up, color=GREEN, hatch="...", edgecolor="white", label=f"{contender} further up")
    ax.bar([0], [result.unchanged], color=GREY, edgecolor="white", label="unchanged")
    ax.bar(places, result.further_down, color=ORANGE, hatch="///", edgecolor="white", label=f"{contender} further down")
    end = len(names) + 1.6
    ax.bar([-end], [result.won], color=GREEN, edgecolor="white", label=f"only {contender} found it")
    ax.bar([end], [result.lost], color=ORANGE, edgecolor="white", label=f"only {label_of(result.baseline)} found it")
    ax.set_xticks([-end, *-places, 0, *places, end], ["won", *names, "0", *names, "lost"], rotation=60)
    ax.set_xlabel(f"ranks that {contender} moves a relevant document, against {label_of(result.baseline)}")
    ax.set_ylabel("relevant documents")
    ax.legend(frameon=False, fontsize="small")
    return ax


def _rrie(result: RRIE, ax: Any) -> Any:
    """Draw the relative reduction in error by measure: Table 1 of Alex et al. 2022."""
    ax = axes_or_new(ax, width=6.0, height=2.6)
    values = [0.0 if each.rrie is None else 100 * each.rrie for each in result.reductions]
    bars = ax.barh(range(len(values)), values, color=[GREEN if value >= 0 else ORANGE for value in values])
    ax.bar_label(bars, [f"{value:.0f} %" for value in values], padding=3)
    ax.set_yticks(range(len(values)), [each.measure for each in result.reductions])
    ax.invert_yaxis()
    ax.axvline(0, color=BLACK, linewidth=0.8)
    ax.margins(x=0.15)
    ax.set_xlabel(f"% of the error that {label_of(result.contender)} saves\nof {label_of(result.baseline)}'s")
    return ax


def _headroom(result: Headroom, ax: Any, number: int) -> Any:
    """Draw the queries by what the best run leaves to gain: Figures 1 to 4 of Alex et al. 2022, within one collection."""
    each = result.measures[number]
    ax = axes_or_new(ax, width=5.6, height=3.2)
    shown = [f"{low:g}-{high:g}" for low, high in zip(each.edges[:-1], each.edges[1:], strict=True)]
    ax.bar(range(len(each.counts)), each.counts, color=BLUE, edgecolor="white")
    ax.set_xticks(range(len(each.counts)), [*shown, f"{each.edges[-1]:g}+"], rotation=45, ha="right", fontsize="small")
    best = "the right is better" if number % 2 == 0 else "the left is better"
    ax.set_xlabel(f"{each.measure}, mean {each.mean:.3g} ({best})\nof {label_of(each.run)}")
    ax.set_ylabel("queries")
    return ax


def _blobs(ax: Any, x: float, counts: Sequence[int], resamples: int, color: str, area: float) -> None:
    shares = np.array(counts) / resamples
    there = np.flatnonzero(shares)
    ax.scatter(np.full(len(there), x), there + 1, s=area * shares[there], color=color, alpha=0.75, linewidths=0)


def _label(ax: Any, text: str, place: tuple[float, float]) -> None:
    ax.annotate(text, place, xytext=(7, 0), textcoords="offset points", va="center", fontsize="small")


def _buckets(edges: Sequence[int]) -> list[str]:
    return [f"{low}-{high - 1}" if high - low > 1 else str(low) for low, high in pairwise(edges)]


def _ranks_downwards(ax: Any, size: int) -> None:
    step = max(1, size // 12)
    ax.set_yticks(range(1, size + 1, step))
    ax.set_ylim(size + 0.8, 0.2)


_HEADROOM = ("top precision", "top length", "precision", "length")
PICTURES: dict[type[Result], dict[str, Callable[[Any, Any], Any]]] = {
    SotaHistory: {"history": _history},
    Leaderboard: {"tiers": _tiers, "verdicts": _verdicts, "history": _history_of_board},
    RankDistribution: {"blobs": _rank_blobs, "tau": _tau},
    Agreement: {"agreement": _agreement},
    Reordering: {"orders": _orders, "changes": _reordering_changes},
    LengthDistributions: {"lengths": _lengths},
    LengthChanges: {"changes": _length_changes},
    RRIE: {"rrie": _rrie},
    Headroom: {name: partial(_headroom, number=number) for number, name in enumerate(_HEADROOM)},
}
