"""The report: one HTML page with the verdict and every query behind it, which opens without a network."""

import base64
import functools
import hashlib
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from typing import Any

from ir_outcomes.across.collections import compare_collections
from ir_outcomes.comparison.compare import compare
from ir_outcomes.errors import ParameterError, escaped, not_installed
from ir_outcomes.evaluation.evaluation import Evaluation, evaluation_of, evaluations_of
from ir_outcomes.formatting import write_completely
from ir_outcomes.notes import as_notes
from ir_outcomes.reading.files import file_digest
from ir_outcomes.reading.qrels import query_texts
from ir_outcomes.reading.runs import is_path
from ir_outcomes.results import Result
from ir_outcomes.showing import Table, texts, tone
from ir_outcomes.showing.page.content import Evaluations, Grid, grids_of
from ir_outcomes.showing.page.data import data_of
from ir_outcomes.showing.page.lists import DEPTH, Texts
from ir_outcomes.types import check_number

__all__ = ["ReportPage", "report", "report_of"]

STATUS_TONES = {"pass": "better", "inconclusive": "same", "fail": "worse"}
DATA = "\0"  # in the place of the data, which no text on the page can hold


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
            '<iframe title="Report of ir_outcomes" width="100%" height="800" style="border: 1px'
            ' solid #999" sandbox="allow-scripts allow-modals allow-downloads"'
            f' srcdoc="{escape(self.html)}"></iframe>'
        )


def report(
    evaluation: Evaluation | Mapping[str, Evaluation],
    baseline: str | None = None,
    contenders: Sequence[str] | str | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    docs: Texts = None,
    queries: Texts = None,
    max_mb: float | None = None,
    command: str | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
    **rules: Any,
) -> ReportPage:
    """Compare runs and write one HTML page with the verdict and every query behind it.

    Parameters
    ----------
    evaluation : Evaluation, or mapping of str to Evaluation
        From ``evaluate(..., documents=20)``, which keeps the ranked lists that the page shows; a
        mapping names collections, see `ir_outcomes.compare_collections`.
    baseline : str, optional
        Name of run A; by default the first.
    contenders : str or sequence of str, optional
        Names of the other runs; by default all.
    path : path, optional
        Where the page is written.
    docs : mapping of str to str, or path, optional
        Texts of documents by id, or JSON lines with ``doc_id`` and ``text`` or ``title``; by
        default those of the dataset, if they are on this machine.
    queries : mapping of str to str, or path, optional
        Texts of queries that the evaluation does not know; see `ir_outcomes.evaluate`.
    max_mb : float, optional
        Size in megabytes up to which ranked lists and texts are included, first of the queries
        that a gate names, then of those that change most; by default 4 for the first hundred of
        them, and 0.5 for the others.
    command : str, optional
        What made the page; it is shown at the end.
    inputs : sequence of path
        Files whose SHA-256 is shown beside those of the runs, such as the qrels.
    **rules
        ``cutoff``, ``alpha``, ``correction`` and ``margins`` of `ir_outcomes.compare`; several
        collections have no margins.

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
    >>> "no significant difference" in page.html
    True
    """
    result: Result
    if isinstance(evaluation, Mapping):
        evaluation = evaluations_of(evaluation)
        if baseline is None:
            baseline = next((own.names[0] for own in evaluation.values()), "")
        if rules.pop("margins", None) is not None:
            raise ParameterError(
                "margins are for one collection; give an Evaluation instead of a mapping"
            )
        result = compare_collections(evaluation, baseline, contenders, **rules)
    else:
        evaluation = evaluation_of(evaluation, several_runs=True)
        names = evaluation.system_names
        baseline = names[0] if baseline is None else baseline
        if contenders is None and len(names) == 2:
            contenders = next(name for name in names if name != baseline)
        result = compare(evaluation, baseline, contenders, **rules)
    return report_of(
        result,
        path,
        evaluation=evaluation,
        docs=docs,
        queries=queries,
        max_mb=max_mb,
        command=command,
        inputs=inputs,
    )


def report_of(
    result: Result,
    path: str | os.PathLike[str] | None = None,
    *,
    evaluation: Evaluations = None,
    docs: Texts = None,
    queries: Texts = None,
    max_mb: float | None = None,
    command: str | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
    advice: Any = str,
) -> ReportPage:
    """Write a result as one HTML page; see `ir_outcomes.report` and `Result.to_report`."""
    if max_mb is not None:
        check_number("max_mb", max_mb, below=1000)
    grids = grids_of(result, evaluation)
    view = result.view()
    paths = [*inputs, *(source for source in (docs, queries) if is_path(source))]
    settings = getattr(result, "settings", None) or (grids[0].settings if grids else None)
    known = {**(vars(settings) if settings else {}), **result.versions}
    made = [
        Table.of_texts(texts("setting", "value"), known.items()),
        Table.of_texts(texts("input", "name", "SHA-256"), _inputs(grids, paths)),
    ]
    html = _rendered(
        view=view,
        tone=STATUS_TONES.get(getattr(result, "status", "")) or tone(view.label),
        missing=_missing(grids),
        has_pairs=bool(grids),
        has_queries=any(grid.queries for grid in grids),
        command=command,
        made=made,
        advice=advice,
        legend=_legend(grids),
        more=advice("Raise `max_mb` for more."),
    )
    words = {} if queries is None else queries
    if is_path(words):
        words = query_texts(words)
    before, _, after = html.partition(DATA)
    page = data_of(result, grids, words, docs, max_mb, len(html.encode()))
    made_page = ReportPage(f"{before}{page}{after}")
    if path is not None:
        made_page.save(path)
    return made_page


def _legend(grids: Sequence[Grid]) -> str:
    """Explain the strips, and what is corrected."""
    parts = ["Blue is better, orange and hatched is worse, grey is neither."]
    if any(getattr(row, "margin", None) for grid in grids for row in grid.pairs[0].rows):
        parts.append("Dashed: the margin of harm; thin: the interval that decides on it.")
    settings = grids[0].settings if grids else None
    n_pairs = len(grids[0].pairs) if grids else 0
    if settings and settings.correction != "none" and n_pairs > 1:
        parts.append(
            f"p and intervals are of each pair by itself, labels and findings by"
            f" {settings.correction} over {n_pairs} pairs; *: before it only."
        )
    return " ".join(parts)


def _missing(grids: Sequence[Grid]) -> str:
    """Say why there are no queries, or no ranked lists."""
    without = "because the page was made without the evaluation; pass evaluation= to to_report."
    if not any(grid.queries for grid in grids):
        return f"There are no queries, {without}"
    evaluations = [grid.evaluation for grid in grids if grid.evaluation is not None]
    if not evaluations:
        return f"There are no ranked lists, {without}"
    if not any(own.documents or own.sources for own in evaluations):
        return (
            "There are no ranked lists, because the evaluation did not keep them; pass"
            f" documents={DEPTH} to evaluate."
        )
    return ""


def _inputs(grids: Sequence[Grid], paths: Sequence[Any]) -> list[tuple[str, str, str]]:
    """Name every file once with its SHA-256, judgments without a file with that of their content."""
    names = {os.path.abspath(path): "file" for path in paths}
    judgments = {}
    for grid in grids:
        evaluation = grid.evaluation
        if evaluation is None:
            continue
        if not any(os.path.basename(path).startswith(evaluation.collection) for path in names):
            digest = evaluation[0].qrels_digest
            judgments[digest] = ("judgments", evaluation.collection, digest)
        for run in evaluation.runs_of(grid.runs) if evaluation.sources else ():
            source = evaluation.sources[evaluation.position(run)]
            if is_path(source) and os.path.isfile(source):
                names.setdefault(os.path.abspath(source), f"run {run}")
    files_used = [
        (role, os.path.basename(path), file_digest(path)) for path, role in names.items()
    ]
    return [*judgments.values(), *files_used]


def _rendered(**context: Any) -> str:
    template, markup = _template()
    style = _text_of("page.css")
    script = f'"use strict";\n(() => {{\n{_text_of("page.js")}}})();\n'
    hashes = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (style, script)
    ]
    fixed = {"style": markup(style), "script": markup(script), "data": markup(DATA)}
    return str(template.render(hashes=hashes, as_notes=as_notes, **fixed, **context))


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
        # Control characters become visible.
        finalize=lambda value: escaped(value) if type(value) is str else value,
    )
    return environment.from_string(_text_of("page.html.jinja")), Markup
