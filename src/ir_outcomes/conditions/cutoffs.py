"""The same comparison at several cutoffs, and how much is found by every rank."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from ir_outcomes.arguments import check_positive
from ir_outcomes.choices import Unit
from ir_outcomes.comparison.family import USUAL_CUTOFFS
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.verdict import RuleOptions, Rules
from ir_outcomes.conditions.conditions import ConditionsComparison, Curve, conditions_of
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation, contenders_of, evaluation_of
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.remarks import Allow, notes_on_grades
from ir_outcomes.formatting import listed, plural
from ir_outcomes.notes import as_notes


def compare_cutoffs(
    evaluation: Evaluation,
    baseline: str,
    contenders: Sequence[str] | str | None = None,
    *,
    cutoffs: Sequence[int] = USUAL_CUTOFFS,
    allow: Allow = (),
    **rules: Unpack[RuleOptions],
) -> ConditionsComparison:
    """Compare runs at several cutoffs; no run is read.

    Parameters
    ----------
    evaluation : Evaluation
        Of the runs.
    baseline, contenders : str, and str or sequence of str
        Names of runs; by default all others are contenders.
    cutoffs : sequence of int
        Which; those beyond the longest list of the shallowest run are left out, with a note.
    allow : collection of {"unknown-ids", "rising-scores", "equal-scores"}
        What is meant although it looks like a mistake; see `ir_outcomes.compare`.
    **rules
        alpha, correction and margins; see `ir_outcomes.Rules`. Nothing is corrected for the number
        of cutoffs.

    Raises
    ------
    ParameterError
        If a cutoff is not a positive whole number, or none is within the lists.

    Examples
    --------
    >>> import ir_outcomes as iro
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(40)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> found = compare_cutoffs(iro.evaluate(qrels, {"a": a, "b": b}), "a", "b", cutoffs=[1, 2])
    >>> found.labels("b")
    {'1': 'better on coverage', '2': 'better on ranking'}
    """
    for cutoff in cutoffs:
        check_positive("cutoff", cutoff)
    evaluation = evaluation_of(evaluation)
    chosen = contenders_of(evaluation.names, baseline, contenders)
    runs = evaluation[[baseline, *chosen]]
    depth = min(run.depth for run in runs)
    wanted = sorted(set(cutoffs))
    within = {str(cutoff): runs.with_cutoff(cutoff) for cutoff in wanted if cutoff <= depth}
    if not within:
        raise ParameterError(
            f"no cutoff of {listed([*map(str, wanted)])} is within the lists, which hold {depth}"
            " documents"
        )
    conditions = conditions_of(within, baseline, chosen, rules, over_conditions=False, allow=allow)
    notes: list[str] = [*notes_on_grades(runs.qrels, runs.rel)]
    beyond = [str(cutoff) for cutoff in wanted if cutoff > depth]
    if beyond:
        lists = f"the longest list of the shallowest run ({plural('document', depth)})"
        notes.append(f"{listed(beyond)}: beyond {lists}; left out.")
    first, *others = runs.runs
    return ConditionsComparison(
        over="cutoff",
        baseline=baseline,
        conditions=tuple(conditions),
        settings=replace(Settings.of(runs, Rules(**rules), len(chosen)), cutoff=None),
        curves=tuple(curve_of(first, run, runs.unit) for run in others),
        notes=as_notes(notes),
    )


def curve_of(baseline: SearchLengths, contender: SearchLengths, unit: Unit) -> Curve:
    """Return what two runs find by every rank, to the depth of the shallower one."""
    depth = min(baseline.depth, contender.depth)
    shares = (_shares_found(run, unit, depth) for run in (baseline, contender))
    return Curve(contender.name, *shares)


def _shares_found(run: SearchLengths, unit: Unit, depth: int) -> tuple[float, ...]:
    """Return the share found by each rank from 1 to the depth, in percent."""
    if unit == "query":
        lengths = run.esl()
        ranks = lengths[~np.isnan(lengths)].astype(np.int64)
        weights = np.ones(len(ranks))
    else:
        found = run.rank > 0
        ranks = run.rank[found].astype(np.int64)
        weights = 1 / run.relevant[run.query[found]]
    at_rank = np.bincount(ranks, weights=weights, minlength=depth + 1)
    shares = 100 * np.cumsum(at_rank[1 : depth + 1]) / max(int(run.answerable.sum()), 1)
    return tuple(shares.tolist())
