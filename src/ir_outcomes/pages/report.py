"""The report: runs compared, and one HTML page with the verdict and every query behind it."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from ir_outcomes.across.collections import compare_collections
from ir_outcomes.comparison.compare import compare
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation, evaluation_of, evaluations_of
from ir_outcomes.formatting import write_completely
from ir_outcomes.pages.lists import Texts
from ir_outcomes.results import Result


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
    slices: Texts = None,
    command: str | None = None,
    inputs: Sequence[str | os.PathLike[str]] = (),
    **rules: Any,
) -> ReportPage:
    """Compare runs and write one HTML page with the verdict, its pictures, and every query behind it.

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
        that a gate names, then of those that change most; by default 0.5, or up to 4 for the first
        hundred of them.
    slices : mapping of str to str, or path, optional
        By which the page can filter: labels by query id, or a file with lines of id, tab and label.
    command : str, optional
        What made the page; it is shown at the end.
    inputs : sequence of path
        Files whose SHA-256 is shown beside those of the runs, such as the qrels.
    **rules
        ``cutoff``, ``alpha``, ``test``, ``correction`` and ``margins`` of `ir_outcomes.compare`;
        several collections have no margins.

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
    return result.to_report(
        path,
        evaluation=evaluation,
        docs=docs,
        queries=queries,
        max_mb=max_mb,
        slices=slices,
        command=command,
        inputs=inputs,
    )
