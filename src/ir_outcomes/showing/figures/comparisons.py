"""Figures of comparisons with one contender or several, and under conditions."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
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
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.verdict import LABELS
from ir_outcomes.showing import conditions_words, count, figures, level_words
from ir_outcomes.showing.figures import BETTER, INK, MUTED, WORSE, Picture, draws
from ir_outcomes.showing.views.parts import CORRECTIONS, difference_words

# A finding -> its words, and a mark that points to where the contender is.
FINDINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "better": ("better", {"color": BETTER, "marker": ">"}),
    "none": (
        "no significant difference",
        {"color": MUTED, "marker": "o", "markerfacecolor": "white"},
    ),
    "worse": ("worse", {"color": WORSE, "marker": "<", "linestyle": (0, (1, 1))}),
}
SINGLE_RUNS = "single runs"
RUN_FIELDS = {"coverage": "coverage", "ranking": "ranking", "all queries": "all_queries"}


class Line(NamedTuple):
    """What is drawn in one line."""

    name: str
    label: str
    rows: Mapping[str, Row]  # by their names
    runs: Sequence[Any] = ()  # single runs, which are drawn below their mean


@draws("facets", Comparison, Comparisons)
def draw_facets(result: Comparison | Comparisons, target: Any) -> Picture:
    """Draw the differences of all rows with their intervals."""
    items = [result] if isinstance(result, Comparison) else list(result)
    items.sort(key=lambda item: (LABELS.index(item.verdict.label), -item.coverage.gain))
    lines = [_line(item.contender, item.verdict.label, item) for item in items]
    words = ""
    if items:
        words = f"{count(items[0].n_queries, 'query')}, {conditions_words(items[0].settings)}"
    return _draw_lines(target, lines, items, words)


@draws("forest", CollectionsComparison, SlicesComparison, JudgesComparison)
def draw_forest(result: ConditionsComparison, target: Any) -> Picture:
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
                line._replace(name=f"{contender}, {line.name}") for line in of_contender
            ]
        lines += of_contender
    settings = conditions_words(result.settings)
    if result.settings.cutoff is None:  # of the conditions, each has its cutoff
        settings = settings.removeprefix("no cutoff, ")
    words = f"{count(len(result.names), result.over)}, {settings}"
    return _draw_lines(target, lines, [item.comparison for item in result.conditions], words)


def _line(name: str, label: str, item: Comparison) -> Line:
    return Line(name, label, {row.name: row for row in item.parts}, item.runs)


def _condition_line(condition: Condition) -> Line:
    line = _line(condition.condition, condition.label or "too few queries", condition.comparison)
    if condition.label is not None:
        return line
    return line._replace(rows={name: replace(row, found="none") for name, row in line.rows.items()})


def _overall_lines(overall: Overall) -> Iterator[Line]:
    """Yield what is drawn of the means, and of a new condition."""
    means = {row.name: row for row in overall.parts}
    yield Line("these, mean", overall.label, means)
    if overall.new:
        expected = {
            name: replace(means[name], interval=ends, found="none")
            for name, ends in overall.new.items()
        }
        yield Line("a new one", overall.outlook, expected)


def _draw_lines(
    target: Any, lines: Sequence[Line], items: Sequence[Comparison], words: str
) -> Picture:
    """Draw a panel for each row of comparisons, with the labels on the right of all."""
    if not items:
        raise ParameterError("there is nothing to draw: the result is empty")
    first = items[0]
    rows = {row.name: row for item in items for row in item.parts}
    names = [line.name for line in lines]
    size: Any = {"columns": len(rows), "others": 2.4 if len(lines) == 1 else 2.0}
    axes = figures.row_panels(target, names, 4.4 + 2.3 * len(rows), **size)
    marks: dict[str, Any] = {}
    for ax, row in zip(axes, rows.values(), strict=True):
        ax.grid(axis="x")
        ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
        for position, line in enumerate(lines):
            if row.name in line.rows:
                marks |= _draw_row(ax, position, line.rows[row.name], line.runs)
        ax.margins(x=0.08)
        ax.locator_params(axis="x", nbins=5)
        if not row.higher_is_better:
            ax.invert_xaxis()
        ax.set_xlabel(_axis_words(row, lines))
    figures.write_beside(axes, [line.label for line in lines])
    contenders = list(dict.fromkeys(item.contender for item in items))
    who = contenders[0] if len(contenders) == 1 else count(len(contenders), "contender")
    level = f"{level_words(first.alpha)}s of each by itself"
    order = [*(words for words, _ in FINDINGS.values()), SINGLE_RUNS]
    return Picture(
        axes,
        f"{who} against {first.baseline}",
        f"{words}, {level}{_correction(first.settings)}",
        {name: marks[name] for name in order if name in marks},
        f"Difference, {who} minus {first.baseline}; right is better",
    )


def _draw_row(ax: Any, position: int, row: Row, runs: Sequence[Any]) -> dict[str, Any]:
    """Draw a difference with its interval, and return its marks by what they mean."""
    if row.difference is None:
        return {}
    words, mark = FINDINGS[row.found]
    style = {"linewidth": 1.8, "markersize": 6, "linestyle": "-", **mark}
    marks = {words: ax.plot([], [], **style)[0]}
    if row.interval is not None:
        ax.plot(row.interval, [position, position], **style | {"marker": ""})
    ax.plot([row.difference], [position], zorder=3, **style)
    field = RUN_FIELDS.get(row.name)
    values = [getattr(run, field) for run in runs] if field else []
    if any(value is not None for value in values):
        below = [position + 0.3] * len(values)
        (marks[SINGLE_RUNS],) = ax.plot(values, below, "|", color=INK, markersize=5)
    return marks


def _axis_words(row: Row, lines: Sequence[Line]) -> str:
    """Name a row with its unit and direction, and a single line with its numbers."""
    unit = "points" if row.measured_in == POINTS else row.measured_in
    name = ", ".join(dict.fromkeys((row.name, unit)))
    words = [figures.literal(part) for part in textwrap.wrap(name, 22)]
    if not row.higher_is_better:
        words += ["(lower is better,", "axis reversed)"]
    if len(lines) == 1:
        words.append(difference_words(row, row.interval))
    return "\n".join(words)


def _correction(settings: Any) -> str:
    if settings.family == 1 or settings.correction == "none":
        return ""
    return f", marks and labels by {CORRECTIONS[settings.correction]} over {settings.family}"
