"""The report: one HTML page with the verdict and every query behind it."""

import base64
import hashlib
import os
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from importlib.resources import files
from itertools import chain
from typing import Any, Unpack

from ir_outcomes.arguments import with_checked_methods
from ir_outcomes.choices import Megabytes, Positive
from ir_outcomes.comparison.compare import compare
from ir_outcomes.conditions.collections import compare_collections
from ir_outcomes.errors import escaped, not_installed
from ir_outcomes.evaluation.evaluation import Evaluation, evaluation_of, evaluations_of
from ir_outcomes.files import write_completely
from ir_outcomes.notes import as_notes
from ir_outcomes.pairs.rules import RuleOptions
from ir_outcomes.reading.files import file_digest
from ir_outcomes.reading.runs import is_path
from ir_outcomes.reading.texts import Source, query_texts
from ir_outcomes.results import Result
from ir_outcomes.showing.formats import html_parts
from ir_outcomes.showing.page.content import Evaluations, grids_of, marks_of, meaning_of
from ir_outcomes.showing.page.data import data_of, tone
from ir_outcomes.showing.view import Table
from ir_outcomes.table_columns import Column

__all__ = ["ReportPage", "report", "report_of"]

DATA = 'id="data">'  # is followed by the data; texts on the page have no such quotes


@with_checked_methods
@dataclass(frozen=True)
class ReportPage:
    """One HTML page, which a notebook shows in a frame.

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


class ReportRules(RuleOptions, total=False):
    """Rules and the cutoff, as keyword arguments."""

    cutoff: Positive | None


def report(
    evaluation: Evaluation | Mapping[str, Evaluation],
    baseline: str | None = None,
    contenders: Sequence[str] | str | None = None,
    *,
    path: str | os.PathLike[str] | None = None,
    docs: Source = None,
    queries: Source = None,
    max_mb: Megabytes | None = None,
    command: str | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
    **rules: Unpack[ReportRules],
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
        Source of documents by id, or JSON lines with ``doc_id`` and ``text`` or ``title``; by
        default those of the dataset, if they are on this machine.
    queries : mapping of str to str, or path, optional
        Source of queries that the evaluation does not know; see `ir_outcomes.evaluate`.
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
        names = chain(*(member.systems for member in evaluation.values()))
        baseline = baseline or next(names, "")
        result = compare_collections(evaluation, baseline, contenders, **rules)
    else:
        evaluation = evaluation_of(evaluation, several_runs=True)
        first, *rest = evaluation.systems
        if contenders is None and len(rest) == 1:
            contenders = rest[0]
        result = compare(evaluation, baseline or first, contenders, **rules)
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
    docs: Source = None,
    queries: Source = None,
    max_mb: Megabytes | None = None,
    command: str | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
    advice: Any = str,
) -> ReportPage:
    """Write a result as one HTML page."""
    grids = grids_of(result, evaluation)
    view = result.view()
    settings = getattr(result, "settings", None)
    sources = [grid.evaluation.sources for grid in grids if grid.evaluation]
    paths = filter(is_path, chain(inputs, (docs, queries), *sources))
    made = [
        ("command", command),
        *(vars(settings) if settings else {}).items(),
        *result.versions.items(),
        *(
            (f"SHA-256 of {os.path.basename(path)}", file_digest(path))
            for path in dict.fromkeys(map(os.path.abspath, paths))
            if os.path.isfile(path)
        ),
    ]
    html = _rendered(
        view=view,
        grids=grids,
        tone=getattr(result, "status", tone(view.label)),
        marks=marks_of(grids),
        meaning=meaning_of(grids),
        lacks_queries=not evaluation and not getattr(result, "collections", ()),
        first_notes=as_notes(view.first_notes),
        first=_tables(view.tables, ()),
        numbers=_tables(view.details(), map(advice, view.other_notes)),
        made=_tables([Table.of_texts((Column("what"), Column("value")), made)], ()),
        advice=advice,
    )
    words = queries or {}
    if not isinstance(words, Mapping):
        words = query_texts(words)
    head, mark, tail = html.partition(DATA)
    data = data_of(grids, words, docs, max_mb, len(html.encode()), advice)
    page = ReportPage(f"{head}{mark}{data}{tail}")
    if path is not None:
        page.save(path)
    return page


def _tables(tables: Iterable[Table], notes: Iterable[str]) -> str:
    """Write tables and notes as HTML with classes, as the page allows no styles."""
    return re.sub('style="text-align: ([a-z]+)"', r'class="\1"', html_parts(tables, notes))


def _rendered(**context: Any) -> str:
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise not_installed("the report needs Jinja2", "report") from error
    template, style, script = (
        (files(__package__) / name).read_text(encoding="utf-8")
        for name in ("page.html.jinja", "page.css", "page.js")
    )
    script = f'"use strict";\n(() => {{\n{script}}})();\n'
    style_hash, script_hash = (
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (style, script)
    )
    policy = f"script-src 'sha256-{script_hash}'; style-src 'sha256-{style_hash}'"
    policy = f"default-src 'none'; base-uri 'none'; form-action 'none'; {policy}"
    # Control characters become visible.
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=lambda value: escaped(value) if type(value) is str else value,
    )
    drawn = environment.from_string(template)
    return str(drawn.render(style=style, script=script, policy=policy, **context))
