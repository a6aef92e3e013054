"""Figures of comparisons with one contender or several, and under conditions."""

import textwrap
from collections.abc import Sequence
from typing import Any

from ir_outcomes.choices import POINTS
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.conditions.collections import CollectionsComparison
from ir_outcomes.conditions.conditions import ConditionsComparison
from ir_outcomes.conditions.judges import JudgesComparison
from ir_outcomes.conditions.slices import SlicesComparison
from ir_outcomes.errors import ParameterError
from ir_outcomes.pairs.rows import Row
from ir_outcomes.showing import figures
from ir_outcomes.showing.figures import BETTER, INK, MUTED, WORSE, Picture, draws
from ir_outcomes.showing.registry import Section, sections_of
from ir_outcomes.showing.views.conditions import settings_line
from ir_outcomes.showing.views.parts import (
    change_of,
    correction_of,
    difference_words,
    settings_words,
)
from ir_outcomes.showing.words import count, level_words

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


@draws("facets", Comparison, Comparisons)
def draw_facets(result: Comparison | Comparisons, target: Any) -> Picture:
    """Draw the differences of all rows with their intervals."""
    sections = sections_of(result)
    if not sections:
        raise ParameterError("there is nothing to draw: the result is empty")
    first = result if isinstance(result, Comparison) else result[0]
    names = [section.contender for section in sections]
    words = f"{count(first.n_queries, 'query')}, {settings_words(first.settings)}"
    return _draw_sections(target, sections, names, first, words)


@draws("forest", CollectionsComparison, SlicesComparison, JudgesComparison)
def draw_forest(result: ConditionsComparison, target: Any) -> Picture:
    """Draw the differences under each condition and their means."""
    sections = sections_of(result)
    names = [section.condition for section in sections]
    if len(result.contenders) > 1:
        names = [f"{section.contender}, {section.condition}" for section in sections]
    words = f"{count(len(result.names), result.over)}, {settings_line(result)}"
    return _draw_sections(target, sections, names, result, words)


def _draw_sections(
    target: Any, sections: Sequence[Section], names: Sequence[str], result: Any, words: str
) -> Picture:
    """Draw a panel for each row, with the labels on the right of all."""
    rows = {name: row for section in reversed(sections) for name, row in section.rows.items()}
    size: Any = {"columns": len(rows), "others": 2.4 if len(names) == 1 else 2.0}
    axes = figures.row_panels(target, names, 4.4 + 2.3 * len(rows), **size)
    marks: dict[str, Any] = {}
    for ax, (name, row) in zip(axes, rows.items(), strict=True):
        ax.grid(axis="x")
        ax.axvline(0, color=INK, linewidth=0.8, zorder=1)
        for position, section in enumerate(sections):
            if name in section.rows:
                runs = section.comparison.runs if section.comparison else ()
                marks |= _draw_row(ax, position, section.rows[name], runs)
        ax.margins(x=0.08)
        ax.locator_params(axis="x", nbins=5)
        if not row.higher_is_better:
            ax.invert_xaxis()
        ax.set_xlabel(_axis_words(row, is_alone=len(names) == 1))
    figures.write_beside(axes, [section.label for section in sections])
    contenders = list(dict.fromkeys(section.contender for section in sections))
    subject = contenders[0] if len(contenders) == 1 else count(len(contenders), "contender")
    settings = result.settings
    corrected = correction_of(settings)
    if corrected:
        corrected = f", marks and {corrected}"
    order = [*(meaning for meaning, _ in FINDINGS.values()), SINGLE_RUNS]
    return Picture(
        axes,
        f"{subject} against {result.baseline}",
        f"{words}, {level_words(settings.alpha)}s of each by itself{corrected}",
        {name: marks[name] for name in order if name in marks},
        f"Difference, {subject} minus {result.baseline}; right is better",
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
    values = [change_of(run, row) for run in runs]
    if any(value is not None for value in values):
        heights = [position + 0.3] * len(values)
        (marks[SINGLE_RUNS],) = ax.plot(values, heights, "|", color=INK, markersize=5)
    return marks


def _axis_words(row: Row, *, is_alone: bool) -> str:
    """Name a row with its unit and direction, and one that is alone with its numbers."""
    unit = "points" if row.measured_in == POINTS else row.measured_in
    name = ", ".join(dict.fromkeys((row.name, unit)))
    words = [figures.literal(part) for part in textwrap.wrap(name, 22)]
    if not row.higher_is_better:
        words += ["(lower is better,", "axis reversed)"]
    if is_alone:
        words.append(difference_words(row))
    return "\n".join(words)
