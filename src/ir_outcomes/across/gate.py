"""`gate`: the decision for pipelines, on one comparison, on several, or on several collections."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.comparison.gate import MAX_MISSING, GateResult, GateRow, WithoutResults, gate_of
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError

__all__ = ["collection_rows", "gate"]


def gate(
    compared: Comparison | Comparisons | CollectionsComparison,
    *,
    margins: tuple[float, float] | None = None,
    max_missing: float = MAX_MISSING,
    inputs: Mapping[str, str | os.PathLike[str]] | Iterable[str | os.PathLike[str]] = (),
) -> GateResult:
    """Decide whether runs may take the place of the baseline: pass, fail or inconclusive.

    *pass*: harm beyond the margins is excluded on both facets, the guard did not act, and the search over all queries is not
    significantly longer. *fail*: harm beyond a margin is shown, or a run lacks too many queries. *inconclusive*: neither; "not
    significant" is never a pass.

    Parameters
    ----------
    compared : Comparison, Comparisons or CollectionsComparison
        From `ir_outcomes.compare` or `ir_outcomes.compare_collections`. Each contender and collection is decided on, and the
        worst decision is that of the whole.
    margins : (float, float), optional
        Largest tolerable harm: percentage points of coverage, ranks (or units of the measure that was compared); by default
        those of the comparison.
    max_missing : float
        Largest tolerable share of answerable queries for which a run returned nothing.
    inputs : paths, or mapping from names to paths
        Files whose SHA-256 is kept in the result.

    Returns
    -------
    GateResult
        Its `status` is the decision, its `exit_status` 0, 3 or 4.

    Raises
    ------
    ParameterError
        If there are no margins, no comparisons, or a setting is not possible.
    UnreadableFile
        If an input cannot be read.

    References
    ----------
    Schuirmann 1987 for non-inferiority by an interval; the intervals are those of `ir_outcomes.compare` at level
    1 - alpha / (number of contenders).

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(40)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> iro.gate(iro.compare(qrels, a, b), margins=(10.0, 0.5)).status
    'pass'
    >>> iro.gate(iro.compare(qrels, b, a), margins=(10.0, 0.5)).status
    'fail'
    """
    rows: list[GateRow]
    if isinstance(compared, CollectionsComparison):
        baseline, rows, settings = compared.baseline, collection_rows(compared), compared.settings
    else:
        items = list(compared) if isinstance(compared, Comparisons) else [compared]
        if not items:
            raise ParameterError("there is no comparison to decide on")
        baseline, rows, settings = items[0].baseline, [(None, item) for item in items], items[0].settings
    return gate_of(baseline, rows, settings, margins=margins, max_missing=max_missing, inputs=inputs)


def collection_rows(compared: CollectionsComparison, reasons: Mapping[tuple[str, str], str] | None = None) -> list[GateRow]:
    """List every contender on every collection, those without a comparison too.

    Parameters
    ----------
    compared : CollectionsComparison
        The comparisons.
    reasons : mapping of (collection, run) to str, optional
        Why a run has no results on a collection.
    """
    reasons = reasons or {}
    known = {(row.condition, row.comparison.contender): row.comparison for row in compared.conditions}
    collections = dict.fromkeys([*compared.collections, *(collection for collection, _ in reasons)])
    rows: list[GateRow] = []
    for contender in (overall.contender for overall in compared.overall):
        for collection in collections:
            found = known.get((collection, contender))
            reason = reasons.get((collection, contender)) or reasons.get((collection, compared.baseline))
            lacking = f"{contender} cannot be compared on {collection}: {reason or 'a run is missing there.'}"
            rows.append((collection, found or WithoutResults(contender, lacking)))
    return rows
