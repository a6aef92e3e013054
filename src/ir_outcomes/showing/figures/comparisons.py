"""Figures of comparisons with one contender or several, and under conditions."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ir_outcomes.choices import POINTS
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.conditions.collections import CollectionsComparison
from ir_outcomes.conditions.conditions import (
    Condition,
    ConditionsComparison,
    MeansOverConditions,
    Overall,
)
from ir_outcomes.conditions.judges import JudgesComparison
from ir_outcomes.conditions.slices import SlicesComparison
from ir_outcomes.errors import ParameterError
from ir_outcomes.formatting import fixed, interval, places_of
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.verdict import LABELS
from ir_outcomes.showing import conditions_words, count, figures, level_words
from ir_outcomes.showing.figures import INK, MUTED, TONES, draws, finished
from ir_outcomes.showing.views.parts import CORRECTIONS

# A finding -> its words and its mark, which points to where the contender is.
FINDINGS = {
    "better": ("better", ">"),
    "none": ("no significant difference", "o"),
    "worse": ("worse", "<"),
}
MEAN, NEW, SINGLE = "mean of these", "where a new one is expected", "single runs"
RUN_FIELDS = {"coverage": "coverage", "ranking": "ranking", "all queries": "all_queries"}


class Strip(NamedTuple):
    """A difference with its interval, and what was found, or which summary it is."""

    value: float
    ends: tuple[float, float] | None
    found: str = "none"
    summary: str = ""
    runs: Sequence[float] = ()  # the differences of single runs


Line = tuple[str, str, Mapping[str, Strip]]  # a name, a label, and strips by the name of the row


@draws("facets", Comparison, Comparisons)
def draw_facets(result: Comparison | Comparisons, ax: Any) -> Any:
    """Draw the differences of all rows with their intervals."""
    items = [result] if isinstance(result, Comparison) else list(result)
    items.sort(key=lambda item: (LABELS.index(item.verdict.label), -item.coverage.gain))
    lines = [(item.contender, item.verdict.label, _strips(item)) for item in items]
    who = _who([item.contender for item in items])
    words = ""
    if items:
        words = f"{count(items[0].n_queries, 'query')}, {conditions_words(items[0].settings)}"
    return _draw_lines(ax, lines, items, who, words)


@draws("forest", CollectionsComparison, SlicesComparison, JudgesComparison)
def draw_forest(result: ConditionsComparison, ax: Any) -> Any:
    """Draw the differences under each condition and their means."""
    overall = {}
    if isinstance(result, MeansOverConditions):
        overall = {item.contender: item for item in result.overall}
    lines: list[Line] = []
    for contender in result.contenders:
        of_contender = [*map(_condition_line, result.of(contender))]
        if contender in overall:
            of_contender += _overall_lines(overall[contender])
        if len(result.contenders) > 1:
            of_contender = [
                (f"{contender}, {name}", label, strips) for name, label, strips in of_contender
            ]
        lines += of_contender
    items = [row.comparison for row in result.conditions]
    words = f"{count(len(result.names), result.over)}, {_settings(result)}"
    return _draw_lines(ax, lines, items, _who(result.contenders), words)


def _settings(result: ConditionsComparison) -> str:
    """Say what counts as found, where all conditions have the same cutoff with it."""
    words = conditions_words(result.settings)
    return words.removeprefix("no cutoff, ") if result.settings.cutoff is None else words


def _condition_line(condition: Condition) -> Line:
    strips = _strips(condition.comparison)
    if condition.label is None:
        strips = {name: strip._replace(found="none") for name, strip in strips.items()}
    return condition.condition, condition.label or "too few queries", strips


def _overall_lines(overall: Overall) -> Iterator[Line]:
    """Yield what is drawn of the means, and of a new condition."""
    means = {row.name: strip for row in overall.parts if (strip := _strip(row))}
    marked = {name: strip._replace(summary=MEAN) for name, strip in means.items()}
    yield "these, mean", overall.label, marked
    if overall.new:
        new = {name: Strip(means[name].value, ends) for name, ends in overall.new.items()}
        marked = {name: strip._replace(summary=NEW) for name, strip in new.items()}
        yield "a new one", overall.outlook, marked


def _strips(item: Comparison) -> dict[str, Strip]:
    """Return what is drawn of each row, with what single runs of a system show."""
    strips = {row.name: strip for row in item.parts if (strip := _strip(row))}
    for name, field in RUN_FIELDS.items():
        runs = [value for run in item.runs if (value := getattr(run, field)) is not None]
        if name in strips:
            strips[name] = strips[name]._replace(runs=runs)
    return strips


def _strip(row: Row) -> Strip | None:
    return None if row.difference is None else Strip(row.difference, row.interval, row.found)


def _who(contenders: Sequence[str]) -> str:
    return contenders[0] if len(contenders) == 1 else count(len(contenders), "contender")


def _draw_lines(
    target: Any, lines: Sequence[Line], items: Sequence[Comparison], who: str, words: str
) -> Any:
    """Draw a panel for each row of comparisons, with the labels on their right.

    Right is better. Panels of a single line stand below each other, with their numbers.
    """
    if not items:
        raise ParameterError("there is nothing to draw: the result is empty")
    first = items[0]
    rows = {row.name: row for item in items for row in item.parts}
    names, labels, strips = zip(*lines, strict=True)
    head = f"{who} against {first.baseline}"
    if is_single := len(lines) == 1:
        axes = figures.panels(target, 7.2, 1.1 + 0.6 * len(rows), rows=len(rows))
        head += f": {labels[0]}"
    else:
        height = figures.height_of(len(lines), 0.28) + 0.4
        axes = figures.panels(target, 4.4 + 2.1 * len(rows), height, columns=len(rows))
    marks: dict[str, Any] = {}
    for ax, row in zip(axes, rows.values(), strict=True):
        unit = "points" if row.measured_in == POINTS else row.measured_in
        heading = dict.fromkeys((row.name, *textwrap.wrap(unit, 16)))
        single = [", ".join(dict.fromkeys((row.name, unit)))]
        fontsize = figures.name_rows(ax, single if is_single else names, limit=40)
        ax.spines["left"].set_visible(False)
        ax.grid(axis="x")
        ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
        for line_number, of_line in enumerate(strips):
            if row.name in of_line:
                marks |= _draw_strip(ax, line_number, of_line[row.name])
        ax.margins(x=0.08)
        ax.locator_params(axis="x", nbins=5)
        if not row.higher_is_better:
            ax.invert_xaxis()
        beside: Sequence[str] = labels if ax is axes[-1] else ()
        if is_single:
            beside = [_words(row, strips[0][row.name])]
        else:
            ax.tick_params(axis="y", labelleft=ax is axes[0])
            below = [*map(figures.literal, heading), " ", " "]
            ax.set_xlabel("\n".join(below[:3]))  # as many lines for all, so that they end alike
        for line_number in map(int, ax.get_yticks()) if beside else ():
            side = {"transform": ax.get_yaxis_transform(), "va": "center", "fontsize": fontsize}
            ax.text(1.03, line_number, beside[line_number], color=INK, **side)
    order = [*(words for words, _ in FINDINGS.values()), MEAN, NEW, SINGLE]
    level = f"{level_words(first.alpha)}s of each by itself"
    return finished(
        axes[0],
        head,
        f"{words}, {level}{_correction(first.settings)}; right is better",
        marks={name: marks[name] for name in order if name in marks},
    )


def _draw_strip(ax: Any, line_number: int, strip: Strip) -> dict[str, Any]:
    """Draw a difference with its interval, and return its marks by what they mean."""
    found, marker = FINDINGS[strip.found]
    color = MUTED if strip.found == "none" else TONES[strip.found][0]
    style: dict[str, Any] = {"color": color, "linewidth": 1.8, "markersize": 6, "marker": marker}
    style["linestyle"] = (0, (1, 1)) if strip.found == "worse" else "-"
    style["markerfacecolor"] = "white" if strip.found == "none" else color
    marks = {found: ax.plot([], [], **style)[0]}
    if strip.summary:
        style["marker"] = {MEAN: "D", NEW: "s"}[strip.summary]
        alike = style | {"color": MUTED, "markerfacecolor": "white", "linestyle": ""}
        marks[strip.summary] = ax.plot([], [], **alike)[0]
    if strip.ends is not None:
        ax.plot(strip.ends, [line_number, line_number], **style | {"marker": ""})
    ax.plot([strip.value], [line_number], zorder=3, **style)
    if strip.runs:
        style = {"color": INK, "marker": "|", "linestyle": "", "markersize": 5}
        (marks[SINGLE],) = ax.plot(strip.runs, [line_number + 0.3] * len(strip.runs), **style)
    return marks


def _words(row: Row, strip: Strip) -> str:
    digits = places_of(row.measured_in)
    ends = "" if strip.ends is None else f"  {interval(strip.ends, digits, signed=True)}"
    return f"{fixed(strip.value, digits, signed=True)}{ends}"


def _correction(settings: Any) -> str:
    if settings.family == 1 or settings.correction == "none":
        return ""
    return f", marks and labels by {CORRECTIONS[settings.correction]} over {settings.family}"
