"""The report: one HTML page with the verdict, its pictures, and every query behind it; it opens without a network."""

import base64
import functools
import hashlib
import math
import os
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

from ir_outcomes.across.collections import compare_collections
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
from ir_outcomes.showing import count, tone
from ir_outcomes.showing.charts import facets_of, forest_of, outcomes_of
from ir_outcomes.showing.report.queries import DEPTH, Documents, Embedded, embed, json_for_html, query_sets
from ir_outcomes.showing.report.sections import MOST_RUNS, Evaluations, Section, curve_chart, matrix_of, scatter, sections_of
from ir_outcomes.showing.views.across import SIGNS_EXPLAINED
from ir_outcomes.types import FamilyCorrection, RankingTest

__all__ = ["ReportPage", "report", "report_of"]

MB = 1_000_000
Texts = Mapping[str, str] | str | os.PathLike[str] | None


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
    docs: Documents = None,
    queries: Texts = None,
    max_mb: float = 5,
    slices: Texts = None,
    command: str | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
    cutoff: int | None = None,
    alpha: float = 0.05,
    test: RankingTest = "t",
    correction: FamilyCorrection = "holm",
    margins: tuple[float, ...] | None = None,
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
        Texts of documents by document id, or a file of JSON lines with ``doc_id`` and ``text`` or ``title``. By default those
        of the dataset, where they are on this machine.
    queries : mapping of str to str, or path, optional
        Texts of queries that the evaluation does not know; see `ir_outcomes.evaluate`.
    max_mb : float
        Size of the page in megabytes up to which ranked lists and texts are included, those of the queries that change most
        first.
    slices : mapping of str to str, or path, optional
        The slice of each query, by which the page can filter: query ids to labels, or a file with lines of id, tab and label.
    command : str, optional
        What made the page; it is shown at the end.
    inputs : sequence of path
        Further files whose SHA-256 is shown, such as the qrels; those of the runs are shown anyway.
    cutoff, alpha, test, correction, margins
        See `ir_outcomes.compare`; several collections have no margins.

    Returns
    -------
    ReportPage
        With the page as ``html``.

    Raises
    ------
    ParameterError
        If a setting makes no sense, or the page cannot be written.
    MissingDependency
        If Jinja2 is not installed.

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(40)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> page = report(iro.evaluate(qrels, {"a": a, "b": b}, documents=20))
    >>> "better without harm" in page.html
    True
    """
    rules: dict[str, Any] = {"cutoff": cutoff, "alpha": alpha, "test": test, "correction": correction}
    result: Result
    if isinstance(evaluation, Mapping):
        if margins is not None:
            raise ParameterError("margins are for one collection; give an Evaluation instead of a mapping")
        first = next(iter(evaluation.values()), None)
        if first is None:
            raise ParameterError("there is no collection; give a mapping from names to evaluations")
        result = compare_collections(evaluation, first.names[0] if baseline is None else baseline, contenders, **rules)
    else:
        baseline = evaluation.names[0] if baseline is None else baseline
        others = [name for name in evaluation.names if name != baseline]
        if contenders is None and len(others) == 1:
            contenders = others[0]
        result = compare(evaluation, baseline, contenders, margins=margins, **rules)
    return report_of(
        result, path, evaluation=evaluation, docs=docs, queries=queries, max_mb=max_mb, slices=slices, command=command,
        inputs=inputs,
    )  # fmt: skip


def report_of(
    result: Result,
    path: str | os.PathLike[str] | None = None,
    *,
    evaluation: Evaluations = None,
    docs: Documents = None,
    queries: Texts = None,
    max_mb: float = 5,
    slices: Texts = None,
    command: str | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> ReportPage:
    """Write a result as one HTML page; see `report` and `Result.to_report`."""
    if isinstance(max_mb, bool) or not isinstance(max_mb, (int, float)) or not 0 < max_mb < 1000:
        raise ParameterError(f"max_mb={max_mb!r}: must be a number of megabytes between 0 and 1000")
    labels = {} if slices is None else slices if isinstance(slices, Mapping) else read_texts(slices)
    texts = {} if queries is None else queries if isinstance(queries, Mapping) else query_texts(queries)
    sections = sections_of(result, evaluation)
    sets, set_of = query_sets(sections, texts, labels, docs)
    context = _context(result, sections)
    context["command"] = None if command is None else _without_folders(command)
    context["inputs"] = _inputs(sections, [*inputs, *(path for path in (docs, queries, slices) if is_path(path))])
    context["slices"] = any(label for own in sets for label in own.data["slices"] or ())

    def page_of(budget: int) -> ReportPage:
        return ReportPage(_rendered({**context, "shown": embed(sections, sets, set_of, budget), "max_mb": f"{max_mb:g}"}))

    limit = budget = int(max_mb * MB)
    while (size := len((page := page_of(max(budget, 0))).html.encode())) > limit:
        if budget <= 0:
            least = math.ceil(size / MB * 100) / 100
            raise ParameterError(
                f"max_mb={max_mb:g}: the page has {least:g} MB even without any ranked list; give at least that"
            )
        budget -= size - limit  # what is not data takes space too
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
        "notes": view.first_notes,
        "other_notes": view.other_notes,
        "several": several,
        "forest": forest_of(result),
        "matrix": matrix_of(result, sections),
        "sections": drawn,
        "charts": [(curve_chart(section), scatter(section.comparison)) for section in drawn],
        "tables": (*view.tables, *view.details),
        "n_comparisons": len(sections),
        "stored_queries": any(section.comparison.queries is not None for section in sections),
        "with_evaluation": any(section.evaluation is not None for section in sections),
        "board_size": len(result.standings) if isinstance(result, Leaderboard) and result.settings else 0,
        "settings": vars(settings) if settings else {},
        "versions": dict(getattr(result, "versions", {}) or (sections[0].comparison.versions if sections else {})),
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
            judgments[evaluation.qrels_digest] = ("judgments", evaluation.collection, evaluation.qrels_digest)
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
    shown: Embedded = context["shown"]
    data = json_for_html({"depth": DEPTH, "comparisons": shown.comparisons, "sets": shown.sets})
    return str(template.render(**context, style=markup(style), script=markup(script), hashes=hashes, data=markup(data)))


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
        "facets_of": facets_of, "outcomes_of": outcomes_of,
    }  # fmt: skip
    return environment.from_string((files(__package__) / "page.html.jinja").read_text(encoding="utf-8")), Markup
