"""The page itself: gathers what is shown, and renders it with Jinja2 into one file without any reference to another."""

from __future__ import annotations

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
from ir_outcomes.across.same_queries import curve_of
from ir_outcomes.comparison.compare import compare
from ir_outcomes.comparison.result import Comparison
from ir_outcomes.errors import MissingDependency, ParameterError, escaped
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.formatting import plural
from ir_outcomes.leaderboards.board import Leaderboard
from ir_outcomes.reading.files import file_digest, read_texts
from ir_outcomes.reading.runs import is_path
from ir_outcomes.results import Result
from ir_outcomes.showing.report import island
from ir_outcomes.showing.report.charts import curve_chart, outcome_bar, scatter
from ir_outcomes.showing.report.overview import forest_of, matrix_of, measurements
from ir_outcomes.showing.report.rankings import DEPTH, rankings_of
from ir_outcomes.showing.report.sections import MOST_RUNS, Evaluations, Section, evaluation_of, sections_of
from ir_outcomes.showing.report.texts import Documents, texts_of_documents
from ir_outcomes.showing.words import tone
from ir_outcomes.types import FamilyCorrection, RankingTest
from ir_outcomes.writing import write_completely

__all__ = ["ReportPage", "report", "report_of"]

SCHEMA = 1  # of the data in the page
MB = 1_000_000
FIRST_NOTES = 3  # shown at once; the others are folded
MOST_OPEN = 1  # sections that are unfolded at first
_SLACK = 2_000  # bytes for the sentence about what was left out


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
    max_mb: float = 5,
    slices: Mapping[str, str] | str | os.PathLike[str] | None = None,
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
    rules: dict[str, Any] = {
        "cutoff": cutoff, "alpha": alpha, "test": test, "correction": correction
    }  # fmt: skip
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
        result, path, evaluation=evaluation, docs=docs, max_mb=max_mb, slices=slices, command=command, inputs=inputs
    )


def report_of(
    result: Result,
    path: str | os.PathLike[str] | None = None,
    *,
    evaluation: Evaluations = None,
    docs: Documents = None,
    max_mb: float = 5,
    slices: Mapping[str, str] | str | os.PathLike[str] | None = None,
    command: str | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
) -> ReportPage:
    """Write a result as one HTML page; see `report` and `Result.to_report`."""
    if isinstance(max_mb, bool) or not isinstance(max_mb, (int, float)) or not 0 < max_mb < 1000:
        raise ParameterError(f"max_mb={max_mb!r}: must be a number of megabytes between 0 and 1000")
    labels = {} if slices is None else dict(slices) if isinstance(slices, Mapping) else read_texts(slices)
    sections = sections_of(result, evaluation)
    evaluations = [evaluation_of(section, evaluation) for section in sections]
    sets, set_of = _query_sets(sections, evaluations)
    page = _Page(result, sections, evaluations, sets, set_of, labels)
    hashed = [*inputs, *([docs] if is_path(docs) else []), *([slices] if is_path(slices) else [])]
    provenance = {"command": command, "inputs": _inputs(sections, evaluations, hashed)}

    lists = [_lists(own) for own in sets]
    texts = [_texts(own, known, docs) for own, known in zip(sets, lists, strict=True)]
    size = len(page.render(island.embed(sets, [None] * len(sets), texts, 0), "", provenance).encode())
    embedded = island.embed(sets, lists, texts, int(max_mb * MB) - size - _SLACK)
    written = ReportPage(page.render(embedded, _left_out(page, lists, embedded, max_mb), provenance))
    if path is not None:
        written.save(path)
    return written


@dataclass(eq=False)
class _Page:
    """Everything on the page that does not depend on how many ranked lists it holds."""

    result: Result
    sections: list[Section]
    evaluations: list[Evaluation | None]
    sets: list[island.QuerySet]
    set_of: list[int | None]
    labels: Mapping[str, str]

    def __post_init__(self) -> None:
        several = not isinstance(self.result, Comparison)
        view = self.result.view()
        self.context = {
            "title": self._title(),
            "several": several,
            "view": view,
            "forest": forest_of(self.result),
            "matrix": matrix_of(self.result),
            "sections": [
                _section(section, evaluation, number, several=several, is_open=len(self.sections) <= MOST_OPEN)
                for number, (section, evaluation) in enumerate(zip(self.sections, self.evaluations, strict=True))
            ],
            "tone": tone,
            "notes": (*view.notes, *view.background) if several else (),
            "has_queries": bool(self.sets),
            "has_slices": any(query in self.labels for own in self.sets for query in own.ids),
            "depth": DEPTH,
            "settings": _settings(self.result, self.sections),
            "versions": dict(
                getattr(self.result, "versions", {}) or (self.sections[0].comparison.versions if self.sections else {})
            ),
        }

    def render(self, embedded: island.Embedded, left_out: str, provenance: Mapping[str, Any]) -> str:
        style, script = _asset("style.css"), _asset("script.js")
        return str(
            _template().render(
                **self.context,
                **provenance,
                left_out=left_out,
                style=_markup(style),
                script=_markup(script),
                policy=(
                    f"default-src 'none'; script-src '{_source_hash(script)}'; style-src '{_source_hash(style)}'; "
                    "img-src data:; base-uri 'none'; form-action 'none'"
                ),
                data=_markup(island.json_for_html(island.visible(self._data(embedded)))),
            )
        )

    def _title(self) -> str:
        if isinstance(self.result, Comparison):
            return self.sections[0].title
        contenders = {section.comparison.contender for section in self.sections if section.condition}
        if len(contenders) > 1:  # the tables of each have their own title
            conditions = {section.condition for section in self.sections}
            pair = f"{plural('contender', len(contenders))} against {self.sections[0].comparison.baseline}"
            return f"{pair} under {plural('condition', len(conditions))}"
        return self.result.view().title

    def _data(self, embedded: island.Embedded) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "result": self.result.to_dict(),
            "depth": DEPTH,
            "comparisons": [
                {
                    "title": section.title,
                    "set": number,
                    "comparison": section.comparison.to_dict(),
                    "queries": island.columns_of(section.comparison),
                }
                for section, number in zip(self.sections, self.set_of, strict=True)
            ],
            "sets": [
                {
                    "ids": list(own.ids),
                    "texts": list(own.texts) if any(own.texts) else None,
                    "slices": [self.labels.get(query) for query in own.ids] if self.labels else None,
                    "runs": own.runs,
                    "rankings": rankings or None,
                    "documents": texts,
                }
                for own, rankings, texts in zip(self.sets, embedded.rankings, embedded.texts, strict=True)
            ],
        }


def _query_sets(
    sections: Sequence[Section], evaluations: Sequence[Evaluation | None]
) -> tuple[list[island.QuerySet], list[int | None]]:
    """Find the comparisons that share their queries; return the sets, and the number of each comparison's."""
    place: dict[Any, int] = {}
    sets: list[island.QuerySet] = []
    set_of: list[int | None] = []
    for section, evaluation in zip(sections, evaluations, strict=True):
        queries = section.comparison.queries
        if queries is None:
            set_of.append(None)
            continue
        ids = tuple(query.query_id for query in queries)
        key = id(evaluation), ids
        if key not in place:
            place[key] = len(sets)
            known = {} if evaluation is None else evaluation.texts
            texts = tuple(query.text or known.get(query.query_id) for query in queries)
            sets.append(island.QuerySet(ids, texts, evaluation))
        sets[place[key]].add(section.comparison)
        set_of.append(place[key])
    return sets, set_of


def _lists(own: island.QuerySet) -> island.Lists | None:
    """Return the ranked lists of each query; None where they are not known."""
    rankings = None if own.evaluation is None else rankings_of(own.evaluation, own.runs)
    return None if rankings is None else [rankings.of_query(query) for query in own.ids]


def _texts(own: island.QuerySet, lists: island.Lists | None, docs: Documents) -> dict[str, str]:
    """Return the texts of all documents of these lists, as far as they are known."""
    if own.evaluation is None or lists is None:
        return {}
    return texts_of_documents(docs, {identifier for entry in lists for identifier in entry["ids"]}, own.evaluation.collection)


def _section(section: Section, evaluation: Evaluation | None, number: int, *, several: bool, is_open: bool) -> dict[str, Any]:
    comparison = section.comparison
    view = comparison.view()
    return {
        "id": f"comparison-{number + 1}",
        "number": number,
        "title": section.title,
        "open": is_open,
        "comparison": comparison,
        "tone": tone(comparison.verdict.label),
        "bar": outcome_bar(comparison),
        "measurements": measurements(comparison),
        "curve": _curve(comparison, evaluation),
        "scatter": scatter(comparison),
        "tables": (*view.tables, *view.details),
        "first_notes": view.first_notes,
        "other_notes": view.other_notes,
    }


def _curve(comparison: Comparison, evaluation: Evaluation | None) -> Any:
    """Return the curve and its picture; None without an evaluation, for fewer than two queries, or another measure."""
    if evaluation is None or comparison.queries is None or comparison.ranking.measured_in != "ranks":
        return None
    evaluation = evaluation.restrict([query.query_id for query in comparison.queries])
    pair = [evaluation[name] for name in (comparison.baseline, comparison.contender)]
    depth = min(run.depth for run in pair)
    curve = curve_of(pair[0], pair[1], evaluation, depth, 1 - comparison.alpha)
    return None if curve is None else {"curve": curve, "chart": curve_chart(curve)}


def _settings(result: Result, sections: Sequence[Section]) -> dict[str, Any]:
    settings = getattr(result, "settings", None) or (sections[0].comparison.settings if sections else None)
    shown: dict[str, Any] = {} if settings is None else dict(vars(settings))
    return {name: "none" if value is None else value for name, value in shown.items()}


def _inputs(
    sections: Sequence[Section], evaluations: Sequence[Evaluation | None], files_too: Sequence[Any]
) -> list[dict[str, str]]:
    """Name everything that was read, with its SHA-256."""
    rows = []
    for section, evaluation in zip(sections, evaluations, strict=True):
        if evaluation is None:
            continue
        where = f"{section.condition}: " if section.condition and section.condition != evaluation.collection else ""
        rows.append(
            {"what": f"{where}judgments of {evaluation.collection}", "file": "", "hash": f"content {evaluation.qrels_digest}"}
        )
        for run in (section.comparison.baseline, section.comparison.contender):
            source = evaluation.sources[evaluation.position(run)] if evaluation.sources else None
            if source is not None and is_path(source) and os.path.isfile(source):
                rows.append({"what": f"{where}run {run}", "file": _file_name(source), "hash": file_digest(source)})
    rows += [{"what": "file", "file": _file_name(path), "hash": file_digest(path)} for path in files_too]
    return [row for place, row in enumerate(rows) if row not in rows[:place]]


def _file_name(path: Any) -> str:
    return os.path.basename(os.fsencode(path)).decode("utf-8", "backslashreplace")


def _left_out(page: _Page, lists: Sequence[island.Lists | None], embedded: island.Embedded, max_mb: float) -> str:
    """Say which ranked lists the page does not hold, and why."""
    sets = page.sets
    if not page.sections:
        return _without_sections(page.result)
    if not sets:
        return "The result was stored without its queries; store it with to_json(per_query=True)."
    if all(own.evaluation is None for own in sets):
        return "There are no ranked lists, because the page was made without the evaluation; pass evaluation= to to_report."
    if all(known is None for known in lists):
        return f"There are no ranked lists, because the evaluation did not keep them; pass documents={DEPTH} to evaluate."
    if embedded.n == embedded.total:
        return (
            f"Ranked lists of all queries are included: the first {DEPTH} documents, and each relevant document further down."
        )
    return (
        f"Ranked lists of the {plural('query', embedded.n)} that change most are included; those of "
        f"{plural('other query', embedded.total - embedded.n)} are left out, because the page may have {max_mb:g} MB. "
        "Raise --max-mb (max_mb= in Python) for more."
    )


def _without_sections(result: Result) -> str:
    if not isinstance(result, Leaderboard) or result.settings is None:
        return ""
    if len(result.standings) > MOST_RUNS:
        return f"A leaderboard of more than {MOST_RUNS} runs shows no queries; evaluate fewer runs for that."
    return "There are no queries, because the page was made without the evaluation; pass evaluation= to to_report."


@functools.cache
def _template() -> Any:
    try:
        from jinja2 import Environment, StrictUndefined
    except ImportError as error:
        raise MissingDependency("the report needs Jinja2: pip install 'ir-outcomes[report]'") from error
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_visible,
        keep_trailing_newline=True,
    )
    return environment.from_string(_asset("page.html.jinja"))


def _visible(value: Any) -> Any:
    """Show control characters escaped; our own markup is left as it is."""
    return escaped(value) if type(value) is str else value


def _markup(text: str) -> Any:
    from markupsafe import Markup

    return Markup(text)


def _asset(name: str) -> str:
    return (files(__package__) / name).read_text(encoding="utf-8")


def _source_hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
