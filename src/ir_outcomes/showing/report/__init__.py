"""The report: one HTML page with the verdict, its pictures, and every query behind it; it opens without a network."""

import base64
import functools
import hashlib
import math
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

from ir_outcomes.across.collections import compare_collections
from ir_outcomes.across.slices import curve_of
from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.comparison.verdict import LABELS
from ir_outcomes.errors import ParameterError, escaped, not_installed
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.formatting import plural, write_completely
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.reading.files import file_digest, read_texts
from ir_outcomes.reading.qrels import query_texts
from ir_outcomes.reading.runs import is_path
from ir_outcomes.results import Result
from ir_outcomes.showing import RANK_TICKS, count, tone
from ir_outcomes.showing.charts import Section, curve_lines, facets_of, forest_of, outcomes_of, pairs_of, round_numbers
from ir_outcomes.showing.report.queries import DEPTH, MOST_RUNS, Evaluations, Texts, embed, query_sets, with_evaluations
from ir_outcomes.showing.views.across import SIGNS_EXPLAINED, sign_of
from ir_outcomes.types import check_number

__all__ = ["ReportPage", "report", "report_of"]

MB = 1_000_000
MESSAGES = 600  # bytes of the sentences that say what is left out
LEFT, RIGHT, TOP = 46, 352, 8  # margins and width of charts
UPPER, LOWER = (158, TOP), (268, 184)  # bottom and top of the panels of the curve


@dataclass(frozen=True)
class ReportPage:
    """One HTML page; a notebook shows it in a frame.

    Attributes
    ----------
    html : str
        The whole page.
    """

    html: str

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, in UTF-8.

        Raises
        ------
        ParameterError
            If it cannot be written.
        """
        write_completely(path, self.html.encode())

    def __repr__(self) -> str:
        return f"<ReportPage: {len(self.html.encode()):,} bytes>"

    def _repr_html_(self) -> str:
        return (
            '<iframe title="Report of ir_outcomes" width="100%" height="800" style="border: 1px solid #999" '
            f'sandbox="allow-scripts allow-modals" srcdoc="{escape(self.html)}"></iframe>'
        )


def report(
    evaluation: Evaluation | Mapping[str, Evaluation],
    baseline: str | None = None,
    contenders: Sequence[str] | str | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    docs: Texts = None,
    queries: Texts = None,
    max_mb: float = 5,
    slices: Texts = None,
    command: str | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
    **rules: Any,
) -> ReportPage:
    """Compare runs and write one HTML page with the verdict, its pictures, and every query behind it.

    Parameters
    ----------
    evaluation : Evaluation, or mapping of str to Evaluation
        From ``evaluate(..., documents=20)``, which keeps the ranked lists that the page shows; a mapping names collections, see
        `ir_outcomes.compare_collections`.
    baseline : str, optional
        Name of run A; by default the first.
    contenders : str or sequence of str, optional
        Names of the other runs; by default all.
    path : path, optional
        Where the page is written.
    docs : mapping of str to str, or path, optional
        Texts of documents by id, or JSON lines with ``doc_id`` and ``text`` or ``title``; by default those of the dataset, if
        they are on this machine.
    queries : mapping of str to str, or path, optional
        Texts of queries that the evaluation does not know; see `ir_outcomes.evaluate`.
    max_mb : float
        Size in megabytes up to which ranked lists and texts are included, of the queries that change most first.
    slices : mapping of str to str, or path, optional
        By which the page can filter: labels by query id, or a file with lines of id, tab and label.
    command : str, optional
        What made the page; it is shown at the end.
    inputs : sequence of path
        Files whose SHA-256 is shown beside those of the runs, such as the qrels.
    **rules
        ``cutoff``, ``alpha``, ``test``, ``correction`` and ``margins`` of `ir_outcomes.compare`; several collections have no
        margins.

    Returns
    -------
    ReportPage

    Raises
    ------
    ParameterError
        If a setting makes no sense, or the page cannot be written.
    MissingDependency
        If Jinja2 is not installed.

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> runs = {name: {"q1": {"d1": 1.0}} for name in ("a", "b")}
    >>> page = report(iro.evaluate({"q1": {"d1": 1}}, runs, documents=20))
    >>> "No significant difference" in page.html
    True
    """
    result: Result
    if isinstance(evaluation, Mapping):
        baseline = next((own.names[0] for own in evaluation.values()), "") if baseline is None else baseline
        if rules.pop("margins", None) is not None:
            raise ParameterError("margins are for one collection; give an Evaluation instead of a mapping")
        result = compare_collections(evaluation, baseline, contenders, **rules)
    else:
        baseline = evaluation.names[0] if baseline is None else baseline
        if contenders is None and len(evaluation.names) == 2:
            contenders = next(name for name in evaluation.names if name != baseline)
        result = compare(evaluation, baseline, contenders, **rules)
    return report_of(
        result, path, evaluation=evaluation, docs=docs, queries=queries, max_mb=max_mb, slices=slices, command=command,
        inputs=inputs,
    )  # fmt: skip


def report_of(
    result: Result,
    path: str | os.PathLike[str] | None = None,
    *,
    evaluation: Evaluations = None,
    docs: Texts = None,
    queries: Texts = None,
    max_mb: float = 5,
    slices: Texts = None,
    command: str | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> ReportPage:
    """Write a result as one HTML page; see `report` and `Result.to_report`."""
    check_number("max_mb", max_mb, below=1000)
    labels = {} if slices is None else slices if isinstance(slices, Mapping) else read_texts(slices)
    texts = {} if queries is None else queries if isinstance(queries, Mapping) else query_texts(queries)
    sections = with_evaluations(result, evaluation)
    sets, numbered = query_sets(sections, texts, labels, docs)
    context = _context(result, sections)
    context["command"] = None if command is None else _without_folders(command)
    context["inputs"] = _inputs(sections, [*inputs, *(path for path in (docs, queries, slices) if is_path(path))])
    context["slices"] = any(label for own in sets for label in own.data["slices"] or ())
    context["max_mb"] = f"{max_mb:g}"
    without_data = {"titles": [section.title for section, _ in numbered], "total": 0, "data": ""}
    space = int(max_mb * MB) - len(_rendered({**context, **without_data}).encode()) - MESSAGES
    shown, left = embed(sets, numbered, space)
    if left < 0:
        least = math.ceil((max_mb * MB - left) / MB * 100) / 100
        raise ParameterError(f"the page has {least:g} MB even without any ranked list; give at least that", max_mb=max_mb)
    page = ReportPage(_rendered({**context, **shown}))
    if path is not None:
        page.save(path)
    return page


def _context(result: Result, sections: Sequence[Section]) -> dict[str, Any]:
    """Return everything that does not depend on how many queries the page holds."""
    view, several = result.view(), not isinstance(result, Comparison)
    known = next((label for label in LABELS if view.label.startswith(label)), None)
    label, sentences = view.label, view.sentences
    if label and known is None:  # counts of labels are a sentence, not a heading
        label, sentences = "", (f"{label[0].upper()}{label[1:]}.", *sentences)
    settings = getattr(result, "settings", None) or (sections[0].comparison.settings if sections else None)
    drawn = [] if isinstance(result, Leaderboard) else sections  # it has too many pairs
    return {
        "title": view.title if several else sections[0].title,
        "heading": label[:1].upper() + label[1:] or view.title,
        "tone": tone(known),
        "label": label,
        "sentences": sentences,
        "about": _about(sections, settings),
        "view": view,
        "several": several,
        "forest": forest_of(result),
        "matrix": _matrix_of(result, sections),
        "sections": drawn,
        "charts": [(curve_chart(section), scatter(section.comparison)) for section in drawn],
        "n_comparisons": len(sections),
        "stored_queries": any(section.comparison.queries is not None for section in sections),
        "with_evaluation": any(section.evaluation is not None for section in sections),
        "board_size": len(result.standings) if isinstance(result, Leaderboard) and result.settings else 0,
        "settings": vars(settings) if settings else {},
        "versions": result.versions,
    }


def _about(sections: Sequence[Section], settings: Any) -> str:
    """Say in the bar what was compared."""
    sizes = sorted({section.comparison.n_queries for section in sections})
    parts = [count(sizes[0], "query") if len(sizes) == 1 else f"{sizes[0]:,} to {sizes[-1]:,} queries"] if sizes else []
    if cutoff := getattr(settings, "cutoff", None):
        lengths = [section.comparison.restricted for section in sections]
        depth = max((length.horizon for length in lengths if length is not None), default=cutoff)
        parts.append(f"cutoff {cutoff:,}" + (f" (lists end at {depth:,})" if depth < cutoff else ""))
    return " \N{MIDDLE DOT} ".join(parts)


def _without_folders(command: str) -> str:
    """Leave out the folders of local files, so that the page can be passed on; names of datasets have slashes too."""

    def short(word: str) -> str:
        option, equals, value = word.partition("=") if word.startswith("--") else ("", "", word)
        local = os.path.isabs(value) or value.startswith(".") or os.path.exists(os.path.dirname(value))
        return f"{option}{equals}{os.path.basename(value.rstrip('/')) if local else value}"

    try:
        return shlex.join(map(short, shlex.split(command)))
    except ValueError:  # it is not from a shell
        return command


def _inputs(sections: Sequence[Section], files_too: Sequence[Any]) -> list[tuple[str, str, str]]:
    """Name every input once, with its file and its SHA-256; of judgments without a file, that of their content."""
    files = {os.path.abspath(os.fspath(path)): ("file", _file_name(path)) for path in files_too}
    judgments = {}
    for comparison, condition, _, evaluation in sections:
        if evaluation is None:
            continue
        if not any(_file_name(path).startswith(evaluation.collection) for path in files_too):
            digest = evaluation[0].qrels_digest
            judgments[digest] = ("judgments", evaluation.collection, digest)
        where = f", {condition}" if condition and condition != evaluation.collection else ""
        for run in (comparison.baseline, comparison.contender):
            source = evaluation.sources[evaluation.position(run)] if evaluation.sources else None
            if source is not None and is_path(source) and os.path.isfile(source):
                files.setdefault(os.path.abspath(os.fspath(source)), (f"run {run}{where}", _file_name(source)))
    return [*judgments.values(), *((what, name, file_digest(path)) for path, (what, name) in files.items())]


def _file_name(path: Any) -> str:
    return os.path.basename(os.fsencode(path)).decode("utf-8", "backslashreplace")


def _rendered(context: Mapping[str, Any]) -> str:
    template, markup = _template()
    style, script = ((files(__package__) / name).read_text(encoding="utf-8") for name in ("style.css", "script.js"))
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    whole = {"style": markup(style), "script": markup(script), "data": markup(context["data"]), "hashes": hashes}
    return str(template.render({**context, **whole}))


@functools.cache
def _template() -> tuple[Any, Any]:
    """Return the template, and the class of what is markup already."""
    try:
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    except ImportError as error:
        raise not_installed("the report needs Jinja2", "report") from error
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
        finalize=lambda value: escaped(value) if type(value) is str else value,  # control characters
    )  # fmt: skip
    environment.globals |= {
        "depth": DEPTH, "most_runs": MOST_RUNS, "signs": SIGNS_EXPLAINED, "tone_of": tone, "plural": plural,
        "sign_of": lambda label: sign_of(label if label in LABELS else None),
        "facets_of": facets_of, "outcomes_of": outcomes_of,
    }  # fmt: skip
    return environment.from_string((files(__package__) / "page.html.jinja").read_text(encoding="utf-8")), Markup


def _matrix_of(result: Result, sections: Sequence[Section]) -> dict[str, Any] | None:
    """Return the labels of pairs of a leaderboard, or of contenders by conditions; None where there is nothing to cross.

    A cell is a label with the number of its section, or None.
    """
    if isinstance(result, Leaderboard) and result.pairs:
        runs = [standing.run for standing in result.standings[:MOST_RUNS]]
        pairs = [(run, [(result.verdict(other, run).label, None) for other in runs[:place]]) for place, run in enumerate(runs)]
        return {"what": "the run of the row against the run of the column", "columns": runs[:-1], "rows": pairs[1:]}
    cells = {(own.comparison.contender, own.condition): (own.label, number) for number, own in enumerate(sections)}
    contenders, conditions = (list(dict.fromkeys(key[place] for key in cells)) for place in (0, 1))
    if len(contenders) < 2 or len(conditions) < 2:
        return None
    rows = [(run, [cells.get((run, name)) for name in conditions]) for run in contenders]
    return {"what": f"each run against {sections[0].comparison.baseline}", "columns": conditions, "rows": rows}


def curve_chart(section: Section) -> dict[str, Any] | None:
    """Place what both runs found by each rank, and below it their difference with its band.

    None without an evaluation, for fewer than two queries, or where no ranks were compared.
    """
    comparison, evaluation = section.comparison, section.evaluation
    if evaluation is None or comparison.queries is None or comparison.ranking.measured_in != "ranks":
        return None
    evaluation = evaluation.restrict([query.query_id for query in comparison.queries])
    curve = curve_of(evaluation[[comparison.baseline, comparison.contender]], 1 - comparison.alpha)
    if curve is None:
        return None
    (ranks, lines), last = curve_lines(curve), curve.ranks[-1]
    shares = round_numbers(0.0, max(*lines["baseline"], *lines["contender"], 1e-7))
    points = round_numbers(min(*lines["low"], 0.0), max(*lines["high"], 0.0))
    across = _scale(1.0, ranks[-1], LEFT, RIGHT, math.log)
    up, beside = _scale(shares[0], shares[-1], *UPPER), _scale(points[0], points[-1], *LOWER)
    places = [across(rank) for rank in ranks]

    def steps(name: str, scale: Callable[[float], float]) -> str:
        heights = [scale(value) for value in lines[name]]
        return f"M{places[0]} {heights[0]}" + "".join(f"H{x}V{y}" for x, y in zip(places[1:], heights[1:], strict=True))

    back = list(zip(places, map(beside, lines["low"]), strict=True))[:-1]
    return {
        "height": LOWER[0] + 36,
        "baseline": steps("baseline", up),
        "contender": steps("contender", up),
        "difference": steps("difference", beside),
        "band": f"{steps('high', beside)}{''.join(f'V{y}H{x}' for x, y in reversed(back))}Z",
        "ranks": [(across(tick), f"{tick:,}") for tick in RANK_TICKS if tick <= last],
        "heights": [
            *((up(share), f"{share:g}") for share in shares),
            *((beside(point), f"{point:+.3g}" if round(point, 9) else "0") for point in points),
        ],
        "zero": beside(0.0),
        "cutoff": across(comparison.cutoff) if comparison.cutoff and comparison.cutoff < last else None,
        "level": curve.level,
    }


def _scale(
    low: float, high: float, start: float, end: float, form: Callable[[float], float] = float
) -> Callable[[float], float]:
    """Return the function from values to places, `low` at `start` and `high` at `end`."""
    first, width = form(low), (form(high) - form(low)) or 1.0
    return lambda value: round(start + (end - start) * (form(value) - first) / width, 1)


def scatter(comparison: Comparison) -> dict[str, Any] | None:
    """Place the queries on which both runs found something, rank 1 at the top and at the right, so that up is better.

    None where there are none, or where no ranks were compared.
    """
    pairs = [] if comparison.queries is None else pairs_of(comparison)
    if not pairs or comparison.ranking.measured_in != "ranks":
        return None
    last, bottom = 1.25 * max(2.0, *(length for pair in pairs for length in pair[:2])), TOP + RIGHT - LEFT
    across, down = _scale(0.8, last, RIGHT, LEFT, math.log), _scale(0.8, last, TOP, bottom, math.log)
    points = [
        {
            "x": across(baseline),
            "y": down(contender),
            "radius": round(min(14.0, 1.7 + 0.75 * number**0.5), 1),
            "lengths": (baseline, contender),
            "tone": tone,
        }
        for baseline, contender, number, tone in sorted(pairs, key=lambda pair: (-pair[2], pair))
    ]
    ticks = [(across(tick), down(tick), f"{tick:,}") for tick in RANK_TICKS if tick < last]
    return {"height": bottom + 40, "points": points, "ticks": ticks}
