"""The report: one HTML page with the verdict, its pictures, and every query behind it; it opens without a network."""

import base64
import functools
import hashlib
import math
import os
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from ir_outcomes.across.gate import GateResult
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.errors import ParameterError, escaped, not_installed
from ir_outcomes.formatting import plural
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.notes import as_notes
from ir_outcomes.pages.content import PageContent, Section, collect, sections_of
from ir_outcomes.pages.lists import DEPTH
from ir_outcomes.pages.report import ReportPage
from ir_outcomes.results import Result
from ir_outcomes.showing import Table, count, texts, tone
from ir_outcomes.showing.charts import Forest, forest_of
from ir_outcomes.showing.report.decision import (
    STATUS_TONES,
    causes_of,
    described,
    forest_of_gate,
    with_margins,
)
from ir_outcomes.showing.report.queries import embed, opening_of, why_silent
from ir_outcomes.showing.views.across import SIGNS_EXPLAINED, sign_of
from ir_outcomes.showing.views.parts import queries_table
from ir_outcomes.types import check_number

__all__ = ["ReportPage", "page_of", "report_of"]

Pair = tuple[str, str, str]  # condition, baseline and contender
MB = 1_000_000
SMALL_MB = 0.5  # that a page has by default
MOST_MB = 4.0  # that it may have to keep the lists of its first queries, or all columns
# The script by subject, in the order in which its parts run; the last one starts the page.
SCRIPTS = (
    "verdict.js",
    "changes.js",
    "state.js",
    "tips.js",
    "strips.js",
    "overview.js",
    "pair.js",
    "queries.js",
    "charts.js",
    "figures.js",
    "documents.js",
    "desk.js",
    "saving.js",
    "controls.js",
)
MOST_WITHOUT_SCRIPT = 100  # queries
MESSAGES = 600  # bytes of the sentences that say what is left out


def report_of(
    result: Result,
    path: str | os.PathLike[str] | None = None,
    *,
    max_mb: float | None = None,
    **collected: Any,
) -> ReportPage:
    """Write a result as one HTML page; see `ir_outcomes.report` and `Result.to_report`."""
    if max_mb is not None:
        check_number("max_mb", max_mb, below=1000)
    page = page_of(collect(result, **collected), max_mb)
    if path is not None:
        page.save(path)
    return page


def page_of(content: PageContent, max_mb: float | None) -> ReportPage:
    """Draw a page of at most so many megabytes; by default a small one, see `ir_outcomes.report`."""
    most = MOST_MB if max_mb is None else max_mb
    small = SMALL_MB if max_mb is None else max_mb
    context = _context(content)
    context["max_mb"] = max_mb and f"{max_mb:g}"
    context |= _without_script(content)
    drawn = context["drawn"]
    without_data = {"n": 0, "total": 0, "data": ""}
    space = int(small * MB) - len(_rendered({**context, **without_data}).encode()) - MESSAGES
    shown, left = embed(content, drawn, space, int((most - small) * MB))
    if left < 0:
        least = math.ceil((most * MB - left) / MB * 100) / 100
        raise ParameterError(
            f"the page has {least:g} MB even without any ranked list; give at least that",
            max_mb=most,
        )
    return ReportPage(_rendered({**context, **shown}))


def _context(content: PageContent) -> dict[str, Any]:
    """Return everything that does not depend on how many queries the page holds."""
    result = content.result
    sections = content.sections
    view = result.view()
    known = next((label for label in LABELS if view.label.startswith(label)), None)
    label = view.label
    sentences = view.sentences
    if label and known is None:  # counts of labels are a sentence, not a heading
        label, sentences = "", (f"{label[0].upper()}{label[1:]}.", *sentences)
    settings = getattr(result, "settings", None) or (
        sections[0].comparison.settings if sections else None
    )
    single = result if isinstance(result, Comparison) else None
    context = {
        "title": view.title if single is None else sections[0].title,
        "heading": label[:1].upper() + label[1:] or view.title,
        "tone": tone(known),
        "label": label,
        "sentences": sentences,
        "about": _about(sections, settings),
        "view": view,
        "first_notes": view.first_notes,
        "advice": content.advice,
        "strongest": next((note.headline for note in as_notes(view.notes[:1])), ""),
        "more": _more(content),
        "single": single,
        "is_gate": False,
        "crossed": _crossed(content),
        "command": content.command,
        "asks_queries": bool(content.grids),
        "has_queries": bool(content.sets),
        "missing": _missing(content),
        "condition_name": getattr(result, "what", "condition").capitalize(),
        "made": _made(content, settings),
    }
    forest, last = with_margins(forest_of(result), result), "label"
    if isinstance(result, GateResult):
        context |= described(result, view)
        forest, last = forest_of_gate(result), "gate"
    elif isinstance(result, Leaderboard):
        forest = _with_wins(forest, result)
        last = "tier"
    context["drawn"] = {
        "forest": forest and _forest_data(forest, last, _links_of(content)),
        "matrix": _matrix_of(sections),
        "causes": causes_of(result),
    }
    return context


def _with_wins(forest: Forest | None, result: Leaderboard) -> Forest | None:
    """Add what orders the runs to their tiers, where that is pairs won less pairs lost."""
    if forest is None or result.order != "wins":
        return forest
    rows = []
    for row, standing in zip(forest.rows, result.standings, strict=True):
        wins = f"won - lost {standing.net_wins:+d}"
        label = f"{row.label}, {wins}"
        rows.append(row._replace(label=label))
    return forest._replace(rows=rows)


def _made(content: PageContent, settings: Any) -> list[Table]:
    """Lay out how the page was made."""
    known = (vars(settings) if settings else {}) | dict(content.result.versions)
    return [
        Table.of_texts(texts("setting", "value"), known.items()),
        Table.of_texts(texts("input", "name", "SHA-256"), content.inputs),
    ]


def _forest_data(forest: Forest, last: str, links: Mapping[Any, Pair]) -> dict[str, Any]:
    rows = []
    for row in forest.rows:
        own = row.name if row.section is None else row.section
        colour = STATUS_TONES.get(row.label) or tone(row.label)
        rows.append(row._asdict() | {"tone": colour, "pair": links.get(own)})
    return {"what": forest.what, "panels": forest.panels, "rows": rows, "last": last}


def _without_script(content: PageContent) -> dict[str, Any]:
    """Return the queries that a page shows without JavaScript: those of the best row that change most."""
    opening = opening_of(content)
    comparison = next(
        (own.comparison for own in content.sections if _pair_of(own) == opening), None
    )
    if comparison is None or comparison.queries is None:
        return {"first_queries": None, "n_queries": 0}
    queries = sorted(comparison.per_query(), key=lambda query: -abs(query.change or 0))
    title = f"{comparison.contender} against {comparison.baseline}"
    table = queries_table(queries[:MOST_WITHOUT_SCRIPT], comparison.ranking.measured_in, title)
    return {"first_queries": table, "n_queries": len(queries)}


def _more(content: PageContent) -> str:
    """Say how a page holds more; nothing where the command that made it has no option for that."""
    text = content.advice("Raise `max_mb` for more.")
    return "" if content.command and "`" in text else text


def _missing(content: PageContent) -> str:
    """Say why there are no queries, or no ranked lists."""
    without = "because the page was made without the evaluation; pass evaluation= to to_report."
    if not content.sets and isinstance(content.result, Leaderboard):
        return f"There are no queries, {without}"
    if not content.sets:
        return "The result was stored without its queries; store it with to_json(per_query=True)."
    if not content.has_evaluation:
        return f"There are no ranked lists, {without}"
    if all(own.lists is None for own in content.sets):
        return (
            "There are no ranked lists, because the evaluation did not keep them; pass"
            f" documents={DEPTH} to evaluate."
        )
    return ""


def _links_of(content: PageContent) -> dict[Any, Pair]:
    """Return the condition, baseline and contender that rows of the forest plot lead to, by section, or by run of a board."""
    links: dict[Any, Pair] = {}
    for number, section in enumerate(sections_of(content.result)):
        links[number] = _pair_of(section)
    opening = opening_of(content)
    if opening is None or links:
        return links
    grid = content.grids[0]
    best = grid.runs[0]
    return {run: ("", best, run) for run in grid.runs} | {best: opening}


def _pair_of(section: Section) -> Pair:
    comparison = section.comparison
    return section.condition, comparison.baseline, comparison.contender


def _crossed(content: PageContent) -> str:
    """Say what the matrix of all pairs of runs shows; nothing where there is none."""
    if len(content.grids) != 1 or len(content.grids[0].runs) < 3:
        return ""
    grid = content.grids[0]
    n_pairs = len(grid.runs) * (len(grid.runs) - 1) // 2
    if len(grid.labels) == n_pairs:
        return "All labels are corrected over all pairs."
    others = "not tested" if why_silent(grid) else "not corrected"
    return f"Bold: pairs of the call, corrected over them. The others are {others}."


def _about(sections: Sequence[Section], settings: Any) -> str:
    """Say in the bar what was compared."""
    sizes = sorted({section.comparison.n_queries for section in sections})
    parts = []
    if len(sizes) == 1:
        parts.append(count(sizes[0], "query"))
    elif sizes:
        parts.append(f"{sizes[0]:,} to {sizes[-1]:,} queries")
    if cutoff := getattr(settings, "cutoff", None):
        lengths = [section.comparison.restricted for section in sections]
        depth = max((length.horizon for length in lengths if length is not None), default=cutoff)
        parts.append(
            f"cutoff {cutoff:,}" + (f" (lists end at {depth:,})" if depth < cutoff else "")
        )
    return " \N{MIDDLE DOT} ".join(parts)


def _rendered(context: Mapping[str, Any]) -> str:
    template, markup = _template()
    style = _text_of("style.css")
    script = _script()
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (style, script)
    ]
    whole = {
        "style": markup(style),
        "script": markup(script),
        "data": markup(context["data"]),
        "hashes": hashes,
    }
    return str(template.render({**context, **whole}))


def _script() -> str:
    """Join the files of the script into one function, whose names no other script sees."""
    parts = [_text_of(name) for name in SCRIPTS]
    return '"use strict";\n(() => {\n' + "\n".join(parts) + "})();\n"


def _text_of(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


@functools.cache
def _template() -> tuple[Any, Any]:
    """Return the template, and the class of what is markup already."""
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise not_installed("the report needs Jinja2", "report") from error
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: (
            escaped(value) if type(value) is str else value
        ),  # control characters
    )
    environment.globals |= {
        "signs": SIGNS_EXPLAINED,
        "plural": plural,
        "as_notes": as_notes,
    }
    return (
        environment.from_string(
            (files(__package__) / "page.html.jinja").read_text(encoding="utf-8")
        ),
        Markup,
    )


def _matrix_of(sections: Sequence[Section]) -> dict[str, Any] | None:
    """Return the labels of contenders by conditions; None where there is nothing to cross.

    A cell is a label, its tone and sign, and its condition, baseline and contender, or None.
    """
    cells = {}
    for own in sections:
        sign = sign_of(own.label if own.label in LABELS else None)
        cells[own.comparison.contender, own.condition] = (
            own.label,
            tone(own.label),
            sign,
            _pair_of(own),
        )
    contenders, conditions = (list(dict.fromkeys(key[place] for key in cells)) for place in (0, 1))
    if len(contenders) < 2 or len(conditions) < 2:
        return None
    rows = [(run, [cells.get((run, name)) for name in conditions]) for run in contenders]
    return {"columns": conditions, "rows": rows}
