"""Figures of comparisons, alone, of several contenders, and under several conditions; right or up is better."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ir_outcomes.across.same_queries import CutoffsComparison
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.comparison.verdict import NO_DIFFERENCE
from ir_outcomes.errors import ParameterError
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.showing.charts import Forest, changes_of, curve_lines, forest_of, gains_of, outcomes_of, pairs_of
from ir_outcomes.showing.figures import drawing
from ir_outcomes.showing.figures.drawing import GREY, INK, LIGHT, MUTED, TONES
from ir_outcomes.showing.words import RANK_TICKS, conditions_words, count, items_words, level_words, tone

MOST_INTERVALS = 30  # contenders
MOST_NAMES = 10  # contenders; of more, only the outermost are named
NAMED_QUERIES = 60  # up to this many queries have their id under their bar
OUTCOME_STYLES = {"won": TONES["better"], "both": (GREY, ""), "neither": (LIGHT, ""), "lost": TONES["worse"]}
Items = Sequence[Comparison]
_MARKERS = {"better": "^", "worse": "v", "mixed": "D", "same": "o"}


def draw_facets(comparisons: Comparison | Items, ax: Any) -> Any:
    """Draw the change of coverage against the change of ranking: up and to the right is better."""
    given = _sequence(comparisons)
    items = [item for item in given if item.coverage.difference is not None and item.ranking.difference is not None]
    if not items:
        raise ParameterError("kind='facets': no query is found by both runs, so there is no ranking facet to draw")
    (ax,) = drawing.panels(ax, 6.2, 5.0)
    ax.axhline(0, color=MUTED, linewidth=0.8, zorder=1)
    ax.axvline(0, color=MUTED, linewidth=0.8, zorder=1)
    sign = 1 if items[0].ranking.higher_is_better else -1
    points = [(item.coverage.difference or 0.0, sign * (item.ranking.difference or 0.0)) for item in items]
    drawn: dict[str, int] = {}
    for item, (x, y) in zip(items, points, strict=True):
        style = tone(item.verdict.label)
        color = MUTED if style == "same" else TONES[style][0]
        drawn[style] = drawn.get(style, 0) + 1
        if len(items) <= MOST_INTERVALS:
            across, along = item.coverage.interval, item.ranking.interval
            if across is not None:
                ax.plot(across, [y, y], color=color, linewidth=0.9, alpha=0.6, zorder=2)
            if along is not None:
                ax.plot([x, x], [sign * bound for bound in along], color=color, linewidth=0.9, alpha=0.6, zorder=2)
        face = color if style in ("better", "worse") else "white"
        ax.plot(x, y, _MARKERS[style], markersize=6, markerfacecolor=face, markeredgecolor=color, zorder=3)
    ax.margins(0.08)
    found = "queries answered" if items[0].settings.unit == "query" else "relevant documents found"
    unit = items[0].ranking.measured_in
    ax.set_xlabel(f"coverage: {found}, points (right is better)")
    ax.set_ylabel(f"ranking: {'ranks fewer to read' if unit == 'ranks' else f'{drawing.literal(unit)} gained'} (up is better)")
    names = {"better": "better", "worse": "worse", "mixed": "trade-off", "same": "no finding"}
    counts = ", ".join(f"{number} {names[style]}" for style, number in sorted(drawn.items()))
    shown = f"{level_words(items[0].settings.alpha)}s" if len(items) <= MOST_INTERVALS else "intervals not drawn"
    contenders, baseline = _versus_names(items)
    missing = f"; {count(len(given) - len(items), 'contender')} without a ranking facet" if len(given) > len(items) else ""
    drawing.titled(ax, f"{count(len(items), 'contender')} against {baseline}: {counts}{missing}", f"{_head(items[0])}, {shown}")
    many = len(items) > MOST_NAMES
    outermost = _outermost(np.array(points)) if many else set(range(len(items)))
    drawing.label_points(
        ax, points, [name if number in outermost else "" for number, name in enumerate(contenders)], 7 if many else 8
    )
    return ax


def _outermost(points: np.ndarray[Any, Any], most: int = 6) -> set[int]:
    """Choose the points that lie furthest out in a few directions, after both axes are brought to one scale."""
    scaled = points / np.where(np.abs(points).max(axis=0) > 0, np.abs(points).max(axis=0), 1.0)
    angles = np.arange(most) * 2 * np.pi / most + np.pi / most
    return {int(np.argmax(scaled @ np.array([np.cos(angle), np.sin(angle)]))) for angle in angles}


def draw_outcomes(comparisons: Comparison | Items, ax: Any) -> Any:
    """Draw one bar for each comparison: shares of won, both, neither and lost."""
    items = _sequence(comparisons)
    contenders, baseline = _versus_names(items)
    (ax,) = drawing.panels(ax, 7.4, drawing.height_of(len(items), 0.34))
    drawing.name_rows(ax, contenders)
    shares = [{name: 100 * share for name, _, share in outcomes_of(item)} for item in items]
    drawing.bars(ax, ((name, style, [own[name] for own in shares]) for name, style in OUTCOME_STYLES.items()))
    ax.set_xlabel(f"% of {items_words(items[0].settings.unit)}")
    ax.set_xlim(0, 100)
    drawing.legend(ax)
    return drawing.titled(
        ax, f"Found by the contender only (won), by both, by neither, by {baseline} only (lost)", _head(items[0])
    )


def draw_restricted(comparisons: Comparison | Items, ax: Any) -> Any:
    """Draw what is gained over all queries, and its parts: on what both found, by what is won, and by what is lost."""
    items = [item for item in _sequence(comparisons) if item.restricted is not None]
    if not items:
        raise ParameterError("there is no restricted search length to draw: it needs a cutoff")
    contenders, baseline = _versus_names(items)
    lengths = [item.restricted for item in items if item.restricted is not None]
    (ax,) = drawing.panels(ax, 7.4, drawing.height_of(len(items), 0.4))
    fontsize = drawing.name_rows(ax, contenders)
    drawing.bars(
        ax, ((part, OUTCOME_STYLES[part], [-getattr(length, part) for length in lengths]) for part in ("won", "both", "lost"))
    )
    for place, length in enumerate(lengths):
        ax.plot([-bound for bound in length.interval or ()], [place] * len(length.interval or ()), color=INK, linewidth=1.2)
    sums = [-length.difference for length in lengths]
    label = "sum, with its interval" if any(length.interval for length in lengths) else "sum"
    ax.plot(sums, range(len(sums)), "D", color="white", markeredgecolor=INK, markersize=0.7 * fontsize, label=label)
    ax.axvline(0, color=INK, linewidth=0.8)
    ax.margins(x=0.06)
    ax.set_xlabel("ranks fewer to read over all queries (right is better)")
    drawing.legend(ax)
    horizons = {length.horizon for length in lengths}
    where = f"what is not found counts as rank {horizons.pop() + 1:,}" if len(horizons) == 1 else ""
    return drawing.titled(ax, f"Gain over all queries against {baseline}, and its parts", f"{_head(items[0])}; {where}")


def draw_ranks(comparison: Comparison, ax: Any) -> Any:
    """Draw search length against search length, 1 at the top and at the right; above the diagonal the contender is better."""
    pairs = pairs_of(comparison)
    in_ranks = comparison.ranking.measured_in == "ranks"
    sign = 1 if comparison.ranking.higher_is_better else -1
    (ax,) = drawing.panels(ax, 5.0, 5.2)
    for style in ("better", "same", "worse"):
        chosen = {
            pair: number
            for pair, number in pairs.items()
            if np.sign(sign * (pair[1] - pair[0])) == {"better": 1, "same": 0, "worse": -1}[style]
        }
        if chosen:
            color = TONES[style][0]
            face = "none" if style == "worse" else color
            sizes = [12 * number**0.5 for number in chosen.values()]
            ax.scatter(*zip(*chosen, strict=True), s=sizes, facecolor=face, edgecolor=color, alpha=0.7, linewidths=0.9)
    values = [value for pair in pairs for value in pair]
    low, high = (0.8, 1.3 * max([10.0, *values])) if in_ranks else (min([0.0, *values]), 1.05 * max([1.0, *values]))
    if in_ranks:
        _rank_axes(ax, high, ax.xaxis, ax.yaxis)
    ends = (high, low) if sign < 0 else (low, high)
    ax.plot(ends, ends, color=MUTED, linewidth=0.8, linestyle="--")
    ax.set(xlim=ends, ylim=ends, aspect="equal")
    what = "search length, ranks" if in_ranks else drawing.literal(comparison.ranking.measured_in)
    baseline, contender = drawing.labels_of([comparison.baseline, comparison.contender])
    ax.set_xlabel(f"{baseline} ({what})")
    ax.set_ylabel(f"{contender} ({what})")
    return drawing.titled(
        ax, f"Above the line {comparison.contender} is better; larger points are several queries",
        f"{count(sum(pairs.values()), 'query')} on which both found something, {conditions_words(comparison.settings)}",
    )  # fmt: skip


def _rank_axes(ax: Any, last: float, *axes: Any) -> None:
    """Let axes of ranks be logarithmic."""
    from matplotlib.ticker import NullLocator

    for axis in axes:
        (ax.set_xscale if axis is ax.xaxis else ax.set_yscale)("log")
        shown = [tick for tick in RANK_TICKS if tick <= last]
        axis.set_ticks(shown, [f"{tick:,}" for tick in shown])
        axis.set_minor_locator(NullLocator())


def draw_differences(comparison: Comparison, ax: Any) -> Any:
    """Draw the histogram of changes: lost, so many ranks down, the same, up, won."""
    changes = changes_of(comparison)
    (ax,) = drawing.panels(ax, 7.0, 3.6)
    places, counts = range(len(changes.names)), changes.counts()
    for place, number, style in zip(places, counts, changes.tones, strict=True):
        color, hatch = TONES[style]
        ax.bar(place, number, 0.85, color=color, hatch=hatch, edgecolor="white")
    for place, number in zip(places, counts, strict=True):
        ax.annotate(f"{number:,}", (place, number), (0, 2), textcoords="offset points", ha="center", fontsize=8)
    ax.set_xticks(places, changes.names)
    ax.margins(y=0.12)
    drawing.counted(ax, "queries")
    unit = "ranks" if comparison.ranking.measured_in == "ranks" else drawing.literal(comparison.ranking.measured_in)
    ax.set_xlabel(f"change of {'search length, ranks' if unit == 'ranks' else unit} (right is better)")
    neither = changes.bins.count(-1)
    return drawing.titled(
        ax,
        f"{comparison.contender} against {comparison.baseline}, by query",
        f"{_head(comparison)}, {neither:,} of them neither",
    )


def draw_queries(comparison: Comparison, ax: Any) -> Any:
    """Draw the gain of every query as a bar, from the largest loss to the largest gain; what is not found counts as k + 1."""
    in_ranks, whole = comparison.ranking.measured_in == "ranks", comparison.restricted
    found = sorted(_gains(comparison))
    (ax,) = drawing.panels(ax, 7.0 if len(found) <= 40 else 9.5, 4.0)
    gains = np.array([gain for gain, _, _ in found])
    for name, style in (("won", "better"), ("better", "better"), ("same", "same"), ("worse", "worse"), ("lost", "worse")):
        chosen = np.flatnonzero([kind == name for _, kind, _ in found])
        color, hatch = TONES[style]
        ax.bar(
            chosen, gains[chosen], 1.0, color=color, hatch=hatch if len(found) < 250 else "", linewidth=0, antialiased=False,
            alpha=1.0 if name in ("won", "lost", "same") else 0.55, edgecolor="white", label=f"{name} ({len(chosen):,})",
        )  # fmt: skip
    ax.axhline(0, color=INK, linewidth=0.8)
    ax.set_xlim(-0.8, len(found) - 0.2)
    ax.set_xticks([])
    if len(found) <= NAMED_QUERIES:
        names = drawing.labels_of([query for _, _, query in found], most=16)
        ax.set_xticks(range(len(found)), names, rotation=90, fontsize=7)
    ax.set_xlabel("queries, from the largest loss to the largest gain")
    if in_ranks:
        ax.set_yscale("symlog", linthresh=1)
        ax.yaxis.set_major_formatter("{x:,.0f}")
    gained = "ranks fewer to read, log scale" if in_ranks else f"{drawing.literal(comparison.ranking.measured_in)} gained"
    ax.set_ylabel(f"{gained} (up is better)")
    drawing.legend(ax)
    missing = "" if whole is None else f"; what is not found counts as rank {whole.horizon + 1:,}"
    left_out = f"{len(comparison.per_query()) - len(found):,} of them not drawn, where neither run found anything{missing}"
    return drawing.titled(
        ax, f"{comparison.contender} against {comparison.baseline}, query by query", f"{_head(comparison)}, {left_out}"
    )


def _gains(comparison: Comparison) -> Iterator[tuple[float, str, str]]:
    """Yield gain, kind of change and id of each query that a run answered."""
    in_ranks = comparison.ranking.measured_in == "ranks"
    for query, shared in zip(comparison.per_query(), gains_of(comparison), strict=True):
        if query.outcome == "neither":
            continue
        gain = -query.restricted if query.restricted is not None else shared
        if gain is None and not in_ranks:  # a measure that is 0 where nothing is found
            gain = (query.contender or 0.0) - (query.baseline or 0.0)
        if gain is not None:
            kind = "better" if gain > 0 else "worse" if gain < 0 else "same"
            yield gain, query.outcome if query.outcome != "both" else kind, query.query_id


def draw_forest_of(result: Any, ax: Any) -> Any:
    """Draw estimates with intervals, a row for each contender or condition; right is better."""
    forest = forest_of(result)
    if forest is None:
        raise ParameterError("there is nothing to draw: the result is empty")
    compared = [row.comparison for row in result.conditions] if hasattr(result, "conditions") else list(_parts_of(result))
    settings, contenders = compared[0].settings, list(dict.fromkeys(item.contender for item in compared))
    who = contenders[0] if len(contenders) == 1 else count(len(contenders), "contender")
    what = "" if forest.what == "run" else f", {count(len(compared) // len(contenders), forest.what)}"
    head = f"{conditions_words(settings)}, {level_words(settings.alpha)}s"
    return draw_forest(forest, f"{who} against {compared[0].baseline}{what}", head, ax)


def _parts_of(result: Any) -> Iterable[Comparison]:
    """Return the comparisons that a result consists of."""
    parts: Iterable[Comparison] = getattr(result, "comparisons", result)
    return parts


def draw_forest(forest: Forest, first: str, second: str, ax: Any) -> Any:
    """Draw a forest plot; its labels stand on the right of the last panel."""
    columns = len(forest.panels)
    found = drawing.panels(ax, 2.6 + 2.6 * columns + 1.4, drawing.height_of(len(forest.rows), 0.28), columns=columns)
    for column, (axes, (heading, axis)) in enumerate(zip(found, forest.panels, strict=True)):
        fontsize = drawing.name_rows(axes, [row.name for row in forest.rows], most=34)
        if column:
            axes.tick_params(axis="y", labelleft=False)
        axes.spines["left"].set_visible(False)
        axes.grid(axis="x")
        if axis.low < 0 < axis.high:
            axes.axvline(0, color=INK, linewidth=0.8, zorder=1)
        for place, row in enumerate(forest.rows):
            estimate, style = row.estimates[column], tone(row.label)
            color = TONES[style][0] if style in ("better", "worse") else MUTED
            if estimate.low is not None:
                dashes = (0, (1, 1)) if style == "worse" else "-"
                axes.plot([estimate.low, estimate.high], [place, place], color=color, linewidth=1.8, linestyle=dashes, zorder=2)
            if estimate.gain is not None:
                marker = "o" if row.kind == "condition" else "D"
                face = color if style in ("better", "worse") else "white"
                axes.plot(estimate.gain, place, marker, markersize=0.7 * fontsize, color=color, markerfacecolor=face, zorder=3)
        axes.set_xlim(axis.low, axis.high)
        axes.set_xticks([place for place, _ in axis.ticks], [text for _, text in axis.ticks])
        axes.set_xlabel(drawing.literal(f"{heading} (right is better)"))
        summaries = sum(row.kind != "condition" for row in forest.rows)
        if 0 < summaries < len(forest.rows):
            axes.axhline(len(forest.rows) - summaries - 0.5, color=LIGHT, linewidth=0.8, zorder=0)
    shown = set(found[0].get_yticks().tolist())
    for place, row in enumerate(forest.rows):
        if place in shown:
            beside = {"transform": found[-1].get_yaxis_transform(), "va": "center", "fontsize": fontsize}
            text = row.estimates[0].text + "  " if columns == 1 else ""
            found[-1].text(
                1.03, place, f"{text}{row.label if row.label != NO_DIFFERENCE else 'no difference found'}", color=INK, **beside
            )
    return drawing.titled(found[0], first, second)


def draw_tiers(result: Leaderboard, ax: Any) -> Any:
    """Draw the means with their intervals, and the tier of each run."""
    forest = forest_of(result)
    if forest is None:
        raise ParameterError("there is no run to draw")
    shown = tuple(row for row in forest.rows if row.estimates[0].gain is not None)
    missing = f"; {count(len(forest.rows) - len(shown), 'run')} without a score" if len(shown) < len(forest.rows) else ""
    note = ", tier: no run of it is better than another" if result.pairs else ""
    head = f"{level_words(result.alpha)}s, {count(result.n_queries, 'query')}{missing}{note}"
    return draw_forest(forest._replace(rows=shown), f"{count(len(shown), 'run')} by mean {result.measure}", head, ax)


def draw_curve(result: CutoffsComparison, ax: Any) -> Any:
    """Draw the share of queries answered by each rank for both runs, and below it their difference with its band."""
    if result.curve is None:
        raise ParameterError("there is no curve of fewer than two queries")
    curve, lines = result.curve, curve_lines(result.curve)
    ranks = [*lines.ranks, 1.08 * lines.ranks[-1]]  # the last step gets a width too
    baseline, contender, difference, low, high = (
        [*values, values[-1]] for values in (lines.baseline, lines.contender, lines.difference, lines.low, lines.high)
    )
    above, below = drawing.panels(ax, 6.6, 5.0, rows=2, height_ratios=(1.8, 1))
    for values, style, color, name in ((baseline, "--", MUTED, result.baseline), (contender, "-", INK, result.contender)):
        above.step(ranks, values, where="post", linestyle=style, color=color, linewidth=1.6, label=drawing.labels_of([name])[0])
    found = "queries answered" if result.comparisons[0].unit == "query" else "documents found"
    above.set_ylabel(f"% of {found} by rank k\n(up is better)")
    above.legend(loc="lower right")
    below.fill_between(ranks, low, high, step="post", facecolor=LIGHT)
    below.step(ranks, difference, where="post", color=INK, linewidth=1.4)
    below.axhline(0, color=MUTED, linewidth=0.8, linestyle="--")
    below.set_ylabel("difference, points")
    below.set_xlabel(f"rank k (log scale); {100 * curve.level:g} % band for all k at once")
    for panel in (above, below):
        panel.grid()
        _rank_axes(panel, lines.ranks[-1], panel.xaxis)
        panel.set_xlim(ranks[0], ranks[-1])
    above.tick_params(axis="x", labelbottom=False)
    rel = getattr(result.comparisons[0], "rel", None)
    grade = "" if rel is None else f", grade {rel} or more"
    return drawing.titled(
        above, f"{result.contender} against {result.baseline}: found by rank k", f"{count(curve.n, 'query')}{grade}"
    )


def _versus_names(items: Items) -> tuple[list[str], str]:
    """Return the labels of the contenders, and the baseline's; contenders name theirs where there are several baselines."""
    labels = drawing.labels_of([name for item in items for name in (item.baseline, item.contender)])
    baselines, contenders = labels[::2], labels[1::2]
    n_baselines = len({item.baseline for item in items})
    if n_baselines == 1:
        return contenders, items[0].baseline
    return [f"{own} / {base}" for own, base in zip(contenders, baselines, strict=True)], f"{n_baselines} baselines"


def _head(item: Comparison) -> str:
    return f"{count(item.n_queries, 'query')}, {conditions_words(item.settings)}, unit {item.settings.unit}"


def _sequence(comparisons: Comparison | Items) -> list[Comparison]:
    return list(comparisons) if isinstance(comparisons, Iterable) else [comparisons]
