"""Figures of comparisons, alone, of several contenders, and under several conditions; right or up is better."""

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ir_outcomes.across.result import ConditionsComparison
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import NO_DIFFERENCE
from ir_outcomes.comparison.wording import counting
from ir_outcomes.errors import ParameterError
from ir_outcomes.showing import (
    RANK_TICKS,
    charts,
    conditions_words,
    count,
    figures,
    items_words,
    level_words,
    tone,
)
from ir_outcomes.showing.charts import Forest, change_of, forest_of, gain_sign, tone_of
from ir_outcomes.showing.figures import GREY, INK, LIGHT, MUTED, TONES, draws, finished
from ir_outcomes.showing.sections import sections_of
from ir_outcomes.types import DOCUMENTS_ABOVE, RANKS, level_unit

MOST_INTERVALS = 30  # contenders
MOST_NAMES = 10  # contenders; of more, only the outermost are named
NAMED_QUERIES = 60  # up to this many queries have their id under their bar
OUTCOME_STYLES = {
    "won": TONES["better"],
    "both": (GREY, ""),
    "neither": (LIGHT, ""),
    "lost": TONES["worse"],
}
Items = Sequence[Comparison]
_MARKERS = {"better": "^", "worse": "v", "mixed": "D", "same": "o"}
# How a gain is said.
_FEWER = {
    RANKS: "fewer ranks",
    DOCUMENTS_ABOVE: f"fewer {DOCUMENTS_ABOVE}",
}
_TONE_NAMES = {"better": "better", "mixed": "trade-off", "same": NO_DIFFERENCE, "worse": "worse"}


@draws("facets", Comparison, Comparisons)
def draw_facets(comparisons: Comparison | Items, ax: Any) -> Any:
    """Draw the change of coverage against the change of ranking: up and to the right is better."""
    given = _sequence(comparisons)
    items = [
        item
        for item in given
        if item.coverage.difference is not None and item.ranking.difference is not None
    ]
    if not items:
        raise ParameterError(
            "no query is found by both runs, so there is no ranking facet to draw", kind="facets"
        )
    is_crowded = len(items) > MOST_INTERVALS
    tones = [tone(item.verdict.label) for item in items]
    ax = figures.panel(ax, 6.2, 5.0)
    ax.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
    ax.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
    points = []
    for item, style in zip(items, tones, strict=True):
        color, face = _colors(style)
        coverage = change_of(item.coverage)
        ranking = change_of(item.ranking)
        x = coverage.gain or 0.0
        y = ranking.gain or 0.0
        if not is_crowded:
            line = {"color": color, "linewidth": 0.9, "alpha": 0.6, "zorder": 2}
            ax.plot([coverage.low, coverage.high], [y, y], **line)
            ax.plot([x, x], [ranking.low, ranking.high], **line)
        mark = {"markersize": 6, "markerfacecolor": face, "markeredgecolor": color}
        ax.plot(x, y, _MARKERS[style], **mark, zorder=3)
        runs = [run for run in item.runs if run.coverage is not None and run.ranking is not None]
        gains = [gain_sign(item.ranking) * (run.ranking or 0.0) for run in runs]
        small = {"color": color, "markersize": 4, "alpha": 0.6}
        ax.plot([run.coverage for run in runs], gains, ".", **small, zorder=2)
        points.append((x, y))
    ax.margins(0.08)
    found = "queries answered" if items[0].unit == "query" else "relevant documents found"
    unit = items[0].ranking.measured_in
    gained = _FEWER.get(unit, f"{figures.literal(unit)} gained")
    counts = ", ".join(
        f"{number} {_TONE_NAMES[style]}" for style, number in sorted(Counter(tones).items())
    )
    shown = f"{level_words(items[0].settings.alpha)}s"
    if is_crowded:
        shown = "intervals not drawn"
    if any(item.runs for item in items):
        shown += ", small dots: runs"
    contenders, baseline = _versus_names(items)
    missing = ""
    if len(given) > len(items):
        missing = f"; {count(len(given) - len(items), 'contender')} without a ranking facet"
    finished(
        ax,
        f"{count(len(items), 'contender')} against {baseline}: {counts}{missing}",
        f"{_head(items[0])}, {shown}",
        x=f"coverage: {found}, points (right is better)",
        y=f"ranking: {gained} (up is better)",
    )
    fontsize = 8
    if len(items) > MOST_NAMES:
        fontsize = 7
        named = _outermost(np.array(points))
        contenders = [name if place in named else "" for place, name in enumerate(contenders)]
    figures.label_points(ax, contenders, points, fontsize)
    return ax


def _colors(style: str) -> tuple[str, str]:
    """Return the colours of lines and of the inside of marks, which is empty where there is no direction."""
    if style in ("better", "worse"):
        return (TONES[style][0], TONES[style][0])
    return (MUTED, "white")


def _outermost(points: np.ndarray[Any, Any], most: int = 6) -> set[int]:
    """Choose the points that lie furthest out in a few directions, after both axes are brought to one scale."""
    largest = np.abs(points).max(axis=0)
    scaled = points / np.where(largest > 0, largest, 1.0)
    angles = np.arange(most) * 2 * np.pi / most + np.pi / most
    directions = np.stack([np.cos(angles), np.sin(angles)])
    furthest = np.argmax(scaled @ directions, axis=0)
    return set(furthest.tolist())


@draws("outcomes", Comparison, Comparisons)
def draw_outcomes(comparisons: Comparison | Items, ax: Any) -> Any:
    """Draw one bar for each comparison: shares of won, both, neither and lost."""
    items = _sequence(comparisons)
    contenders, baseline = _versus_names(items)
    ax = figures.row_panel(ax, contenders, 7.4, 0.34)
    shares = [{name: 100 * share for name, _, share in charts.outcomes_of(item)} for item in items]
    left = np.zeros(len(items))
    for name, (color, hatch) in OUTCOME_STYLES.items():
        lengths = np.array([own[name] for own in shares])
        style = {"color": color, "hatch": hatch, "edgecolor": "white", "linewidth": 0.4}
        ax.barh(range(len(items)), lengths, 0.7, left, label=name, **style)
        left += lengths
    ax.set_xlim(0, 100)
    title = f"Found by the contender only (won), by both, by neither, by {baseline} only (lost)"
    return finished(
        ax, title, _head(items[0]), x=f"% of {items_words(items[0].settings.unit)}", legend=True
    )


@draws("ranks", Comparison)
def draw_ranks(comparison: Comparison, ax: Any) -> Any:
    """Draw search length against search length, 1 at the top and at the right; above the diagonal the contender is better."""
    pairs = charts.pairs_of(comparison)
    unit = comparison.ranking.measured_in
    if not pairs:
        raise ParameterError("no query is found by both runs", kind="ranks")
    baselines, contenders, numbers, tones = zip(*pairs, strict=True)
    ax = figures.panel(ax, 5.0, 5.2)
    colors = [f"{TONES[style][0]}B3" for style in tones]  # 70 %, so that points show each other
    faces = [
        "none" if style == "worse" else color for style, color in zip(tones, colors, strict=True)
    ]
    sizes = [12 * number**0.5 for number in numbers]
    ax.scatter(baselines, contenders, s=sizes, facecolor=faces, edgecolor=colors, linewidths=0.9)
    values = (*baselines, *contenders)
    what = figures.literal(unit)
    low = min([0.0, *values])
    high = 1.05 * max([1.0, *values])
    if comparison.in_lengths:
        what = f"search length, {level_unit(unit)}"
        low = 0.8
        high = 1.3 * max([10.0, *values])
        _rank_axes(ax, high, "x", "y")
    ends = (low, high) if comparison.ranking.higher_is_better else (high, low)
    ax.plot(ends, ends, color=MUTED, linewidth=0.8, linestyle="--")
    ax.set(xlim=ends, ylim=ends, aspect="equal")
    baseline, contender = figures.labels_of([comparison.baseline, comparison.contender])
    return finished(
        ax,
        f"Above the line {comparison.contender} is better; larger points are several queries",
        f"{count(sum(numbers), 'query')} on which both found something, {conditions_words(comparison.settings)}",
        x=f"{baseline} ({what})",
        y=f"{contender} ({what})",
    )


def _rank_axes(ax: Any, last: float, *which: str) -> None:
    """Let axes of ranks, "x" or "y", be logarithmic."""
    ticks = [tick for tick in RANK_TICKS if tick <= last]
    for axis in which:
        ax.set(**{f"{axis}scale": "log"})
        ax.set(**{f"{axis}ticks": ticks, f"{axis}ticklabels": [f"{tick:,}" for tick in ticks]})
    ax.minorticks_off()


@draws("queries", Comparison)
def draw_queries(comparison: Comparison, ax: Any) -> Any:
    """Draw the gain of every query as a bar, from the largest loss to the largest gain; what is not found counts as k + 1."""
    unit = comparison.ranking.measured_in
    whole = comparison.restricted
    found = sorted(_gains(comparison))
    ax = figures.panel(ax, 7.0 if len(found) <= 40 else 9.5, 4.0)
    kinds = {"won": "better", "better": "better", "same": "same", "worse": "worse", "lost": "worse"}
    for kind, style in kinds.items():
        bars = {place: gain for place, (gain, own, _) in enumerate(found) if own == kind}
        if not bars:
            continue
        color, hatch = TONES[style]
        look = {"color": color, "edgecolor": "white", "linewidth": 0, "antialiased": False}
        if kind in ("better", "worse"):
            look["color"] = (color, 0.55)
        if len(found) < 250:
            look["hatch"] = hatch
        label = f"{kind}: {len(bars):,}"
        ax.bar(list(bars), list(bars.values()), 1.0, label=label, **look)
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.set_xlim(-0.8, len(found) - 0.2)
    names = []
    if len(found) <= NAMED_QUERIES:
        names = figures.labels_of([query for _, _, query in found], most=16)
    ax.set_xticks(range(len(names)), names, rotation=90, fontsize=7)
    gained = f"{figures.literal(unit)} gained"
    if comparison.in_lengths:
        ax.set_yscale("symlog", linthresh=1)
        ax.yaxis.set_major_formatter("{x:,.0f}")
        gained = f"{_FEWER[unit]},\nlog scale"
    left_out = (
        f"{len(comparison.per_query()) - len(found):,} not drawn, where neither run found anything"
    )
    if whole is not None:
        left_out += f"; {counting(whole)}"
    return finished(
        ax,
        f"{comparison.contender} against {comparison.baseline}, query by query",
        f"{_head(comparison)}: {left_out}",
        x="queries, from the largest loss to the largest gain",
        y=f"{gained} (up is better)",
        legend=True,
    )


def _gains(comparison: Comparison) -> Iterator[tuple[float, str, str]]:
    """Yield gain, kind of change and id of each query that a run answered."""
    for query in comparison.per_query():
        change = query.restricted
        if change is None:
            change = query.difference
        # A measure is 0 where nothing is found.
        if change is None and not comparison.in_lengths:
            change = (query.contender or 0.0) - (query.baseline or 0.0)
        if change is None or query.outcome == "neither":
            continue
        gain = gain_sign(comparison.ranking) * change
        # With several relevant documents a query can find fewer and still be read faster: its bar
        # is what its direction says.
        direction = tone_of(gain)
        agrees = {"won": "better", "lost": "worse"}.get(query.outcome) == direction
        yield gain, query.outcome if agrees else direction, query.query_id


@draws("forest", Comparisons, ConditionsComparison)
def draw_forest_of(result: Any, ax: Any) -> Any:
    """Draw estimates with intervals, a row for each contender or condition; right is better."""
    forest = forest_of(result)
    if forest is None:
        raise ParameterError("there is nothing to draw: the result is empty")
    compared = [section.comparison for section in sections_of(result)]
    settings = compared[0].settings
    contenders = list(dict.fromkeys(item.contender for item in compared))
    who = _who(contenders)
    what = ""
    if forest.what != "run":
        what = f", {count(len(compared) // len(contenders), forest.what)}"
    head = f"{conditions_words(settings)}, {level_words(settings.alpha)}s"
    return draw_forest(forest, f"{who} against {compared[0].baseline}{what}", head, ax)


@draws("curve", ConditionsComparison)
def draw_curve(result: ConditionsComparison, ax: Any) -> Any:
    """Draw the share of queries answered by each rank for all runs, and below it the differences with their bands."""
    if not result.curves:
        raise ParameterError(
            "there is no curve: it is of at least two queries, and compare_cutoffs computes it"
        )
    above, below = figures.panels(ax, 6.6, 5.0, rows=2, height_ratios=(1.8, 1))
    baseline, *names = figures.labels_of([result.baseline, *result.contenders])
    first = result.curves[0]
    for number, (name, curve) in enumerate(zip(names, result.curves, strict=True)):
        color = INK
        if len(names) != 1:
            color = figures.series_style(number)["color"]
        ranks, lines = charts.curve_lines(curve)
        steps: Any = {"where": "post", "linewidth": 1.6}
        if curve is first:
            above.step(ranks, lines["baseline"], "--", color=MUTED, label=baseline, **steps)
        above.step(ranks, lines["contender"], color=color, label=name, **steps)
        below.step(ranks, lines["difference"], color=color, **steps)
        band: Any = {"step": "post", "facecolor": color, "alpha": 0.12, "linewidth": 0}
        below.fill_between(ranks, lines["low"], lines["high"], **band)
    above.legend(loc="lower right")
    below.axhline(0, color=MUTED, linewidth=0.8, linestyle="--")
    below.set_ylabel("difference, points")
    below.set_xlabel(f"rank k (log scale); {100 * first.level:g} % band for all k at once")
    for panel in (above, below):
        panel.grid()
        _rank_axes(panel, first.ranks[-1], "x")
        panel.set_xlim(ranks[0], ranks[-1])
    above.tick_params(axis="x", labelbottom=False)
    unit = result.settings.unit
    rel = result.settings.rel
    found = "queries answered" if unit == "query" else "documents found"
    return finished(
        above,
        f"{_who(result.contenders)} against {result.baseline}: found by rank k",
        f"{count(first.n, 'query')}, grade {rel} or more",
        y=f"% of {found} by rank k\n(up is better)",
    )


def draw_forest(forest: Forest, first: str, second: str, ax: Any) -> Any:
    """Draw a forest plot; its labels stand on the right of the last panel."""
    columns = len(forest.panels)
    names = [row.name for row in forest.rows]
    found = figures.panels(
        ax, 2.6 + 2.6 * columns + 1.4, figures.height_of(len(names), 0.28), columns=columns
    )
    for column, (axes, (heading, axis)) in enumerate(zip(found, forest.panels, strict=True)):
        fontsize = figures.name_rows(axes, names, most=34)
        axes.tick_params(axis="y", labelleft=column == 0)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        if axis.low < 0 < axis.high:
            axes.axvline(0, color=INK, linewidth=0.8, zorder=1)
        for place, row in enumerate(forest.rows):
            estimate = row.estimates[column]
            color, face = _colors(estimate.tone)
            dashes = (0, (1, 1)) if estimate.tone == "worse" else "-"
            ends = [estimate.low, estimate.high]
            axes.plot(ends, [place, place], color=color, linewidth=1.8, linestyle=dashes)
            mark = {"markersize": 0.7 * fontsize, "markerfacecolor": face, "zorder": 3}
            shape = "o" if row.kind == "condition" else "D"
            axes.plot([estimate.gain], [place], shape, color=color, **mark)
        axes.set_xlim(axis.low, axis.high)
        axes.set_xticks([place for place, _ in axis.ticks], [text for _, text in axis.ticks])
        axes.set_xlabel(figures.literal(f"{heading} (right is better)"))
        summaries = sum(row.kind != "condition" for row in forest.rows)
        if 0 < summaries < len(names):
            axes.axhline(len(names) - summaries - 0.5, color=LIGHT, linewidth=0.8, zorder=0)
    side = found[-1].get_yaxis_transform()
    beside = {"transform": side, "va": "center", "fontsize": fontsize, "color": INK}
    for place in map(int, found[0].get_yticks()):
        row = forest.rows[place]
        label = row.label
        if columns == 1:
            label = f"{row.estimates[0].text}  {label}"
        found[-1].text(1.03, place, label, **beside)
    return finished(found[0], first, second)


def _versus_names(items: Items) -> tuple[list[str], str]:
    """Return the labels of the contenders, and the baseline's; contenders name theirs where there are several baselines."""
    contenders = [item.contender for item in items]
    baselines = [item.baseline for item in items]
    n_baselines = len(set(baselines))
    if n_baselines == 1:
        return figures.labels_of(contenders), baselines[0]
    # Both stand in one label.
    names = [*contenders, *baselines]
    labels = dict(zip(names, figures.labels_of(names, figures.LONGEST // 2 - 2), strict=True))
    pairs = [f"{labels[item.contender]} / {labels[item.baseline]}" for item in items]
    return pairs, f"{n_baselines} baselines"


def _who(contenders: Sequence[str]) -> str:
    """Name the contender, or count several."""
    return contenders[0] if len(contenders) == 1 else count(len(contenders), "contender")


def _head(item: Comparison) -> str:
    return (
        f"{count(item.n_queries, 'query')}, {conditions_words(item.settings)}, unit"
        f" {item.settings.unit}"
    )


def _sequence(comparisons: Comparison | Items) -> list[Comparison]:
    return [comparisons] if isinstance(comparisons, Comparison) else list(comparisons)
