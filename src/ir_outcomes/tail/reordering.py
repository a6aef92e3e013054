"""How the order of runs changes under another measure."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ir_outcomes.choices import Floats, Ints, Missing, Positive, divided, or_none
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.notes import as_notes
from ir_outcomes.statistics.papers import t_tests
from ir_outcomes.tail.measures import (
    STEPS,
    ablation,
    checked_evaluation,
    notes_on_unanswerable,
    runs_at_depth,
)
from ir_outcomes.tail.result import Reordering, TailSettings

BETTER_BY = 1.1
ALPHA = 0.05


def reordering(
    evaluation: Evaluation,
    *,
    measures: Sequence[Any] | None = None,
    cutoff: Positive | None = None,
    missing: Missing = "cutoff",
) -> Reordering:
    """Order the runs by a measure and by another, and say what changes.

    Parameters
    ----------
    evaluation : Evaluation
        At least two runs; see `ir_outcomes.evaluate`.
    measures : sequence of Measure or str, optional
        Two or more measures, compared in turn; name those that are no search lengths in
        ``evaluate(measures=)`` too. By default the way from AP to ASL, step by step.
    cutoff, missing
        See `ir_outcomes.rrie`; for the way from AP to ASL only.

    Returns
    -------
    Reordering
        A row for each step, and where there are several the cumulative change last: Delta-Sort, the
        largest change over the runs of the number of runs that are better (a mean that is 10 %
        better, and p <= 0.05 in a paired t test), in percent of the runs, which can be large where
        tau is 1; the run with this change, and how many runs were better before and after;
        Kendall's tau-b between the orders by the mean, None where all runs tie; and mean and
        deviation over the runs of new value / old value, search lengths as reciprocals.

    Raises
    ------
    MismatchError
        If on the way from AP to ASL the runs differ in depth, and no cutoff is given.
    ParameterError
        If there is nothing to compare, a setting has no effect, an ASL has no cutoff, or for
        ``ties="expected"``.

    References
    ----------
    Alex et al. 2022, section 4.4, Table 2.

    Examples
    --------
    >>> from ir_outcomes import evaluate
    >>> qrels = {f"q{n}": {"a": 1, "b": 1} for n in range(9)}
    >>> top = {q: {"a": 3.0, "x": 2.0, "y": 1.0, "b": 0.0} for q in qrels}
    >>> even = {q: {"x": 3.0, "a": 2.0, "b": 1.0, "y": 0.0} for q in qrels}
    >>> result = reordering(evaluate(qrels, {"top": top, "even": even}))
    >>> [(row["step"], row["kendall_tau"]) for row in result.table]
    [('atomize P', 1.0), ('harmonic within queries', None), ('harmonic across queries', None), ('cumulative', None)]
    """
    evaluation = checked_evaluation(evaluation)
    if len(evaluation) < 2:
        raise ParameterError("there is only 1 run; reordering needs at least two")
    settings: TailSettings | None = None
    notes: Sequence[str]
    if measures is None:
        runs, settings, notes = runs_at_depth(evaluation, cutoff, missing)
        scores = ablation(runs, missing)
        steps = list(STEPS)
    elif isinstance(measures, str) or len(measures) < 2:
        raise ParameterError("measures: name at least two, the old and the new")
    elif cutoff is not None or missing != "cutoff":
        raise ParameterError(
            "cutoff and missing are for the way from AP to ASL; write them into the names of the"
            " measures, such as ASL(missing='retrieved')@100"
        )
    else:
        scores = [evaluation.scores_of(measure) for measure in measures]
        steps = [f"{new.measure} for {old.measure}" for old, new in pairwise(scores)]
        remarks = (note for of_measure in scores for note in of_measure.notes())
        notes = [*notes_on_unanswerable(evaluation), *dict.fromkeys(remarks)]
    measured = list(map(_measured, scores))
    pairs = list(pairwise(measured))
    if len(pairs) > 1:
        steps.append("cumulative")
        pairs.append((measured[0], measured[-1]))
    rows = [_row(step, *pair) for step, pair in zip(steps, pairs, strict=True)]
    return Reordering(evaluation.names, tuple(rows), settings, notes=as_notes(notes))


def _measured(scores: Scores) -> tuple[Scores, Floats, Ints]:
    """Add the means, as reciprocals of search lengths, and how many runs are better."""
    means = scores.means()
    if not scores.higher_is_better:
        means = divided(1.0, means, means != 0)
    n_better = np.zeros(len(means), dtype=np.int64)
    gains = scores.gains()
    for run, rival in np.argwhere(means[None, :] >= BETTER_BY * means[:, None]):
        changes = gains[rival] - gains[run]
        test = t_tests(changes[~np.isnan(changes)]).first("t")
        n_better[run] += test.pvalue <= ALPHA and test.direction > 0
    return scores, means, n_better


def _row(
    step: str, old: tuple[Scores, Floats, Ints], new: tuple[Scores, Floats, Ints]
) -> dict[str, Any]:
    from scipy.stats import kendalltau

    (scores, means, n_better), (new_scores, new_means, new_n_better) = old, new
    changes = np.abs(n_better - new_n_better)
    run = int(np.argmax(changes))
    # Means that differ by rounding only tie; those that are undefined are last.
    orders = [np.where(np.isnan(of_runs), -1, of_runs.round(9)) for of_runs in (means, new_means)]
    tau = float(kendalltau(*orders).statistic)
    ratios = divided(new_means, means, means > 0)
    ratios = ratios[np.isfinite(ratios)]
    return {
        "step": step,
        "old": scores.measure,
        "new": new_scores.measure,
        "delta_sort": 100 * changes[run] / len(changes),
        "run": scores.runs[run],
        "better_before": n_better[run],
        "better_after": new_n_better[run],
        "kendall_tau": or_none(tau),
        "delta_value": ratios.mean() if len(ratios) else None,
        "delta_value_deviation": ratios.std(ddof=1) if len(ratios) > 1 else None,
    }
