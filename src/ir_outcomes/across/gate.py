"""`gate`: the decision for pipelines, on one comparison, on several, or on several collections."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping

from ir_outcomes.across.collections import CollectionsComparison
from ir_outcomes.comparison.gate import MAX_MISSING, GateResult, decide_gate, gate_result, gate_rules
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError

__all__ = ["gate"]


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
    settings = None
    if isinstance(compared, CollectionsComparison):
        rows = [(condition.condition, condition.comparison) for condition in compared.conditions]
        settings = compared.settings
    else:
        rows = [(None, comparison) for comparison in (compared if isinstance(compared, Comparisons) else [compared])]
        settings = rows[0][1].settings if rows else None
    if not rows:
        raise ParameterError("there is no comparison to decide on")
    rules = gate_rules(margins, settings, max_missing)
    decisions = [decide_gate(comparison, rules, condition) for condition, comparison in rows]
    return gate_result(rows[0][1].baseline, decisions, rules, settings, inputs)
