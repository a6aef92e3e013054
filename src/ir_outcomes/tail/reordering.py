"""How the order of runs changes under another measure, and which step from AP to ASL changes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.scores import Scores, parse_measure
from ir_outcomes.formatting import plural
from ir_outcomes.measures import ASL
from ir_outcomes.results import Column, Result, rows_of
from ir_outcomes.statistics import differences, t_test
from ir_outcomes.statistics.counts import kendall_taus, shared_ranks
from ir_outcomes.tail.lengths import STEPS, TailSettings, ablation, check_evaluation, notes_on_unanswerable, runs_at_depth
from ir_outcomes.types import Bools, Floats, Missing

BETTER_BY = 1.1
ALPHA = 0.05


@dataclass(frozen=True)
class Change:
    """What a change of measure does to the order of runs.

    Attributes
    ----------
    step : str
        What is changed.
    old, new : str
        The measures.
    tau : float or None
        Kendall's tau-b between the two orders; 1 for no reordering. None where all runs tie.
    delta_sort : float
        Delta-Sort: largest change, over the runs, of the number of runs that are better, in percent of the runs. "Better" needs
        a value that is 10 % better, and p <= 0.05 in a paired t test. So it can be large where `tau` is 1.
    run : str
        The run with this largest change.
    better_before, better_after : int
        How many runs were better than it, and are better than it.
    delta_value, deviation : float or None
        Mean over the runs, and standard deviation, of new value / old value, lower-is-better measures as reciprocals.
    """

    step: str
    old: str
    new: str
    tau: float | None
    delta_sort: float
    run: str
    better_before: int
    better_after: int
    delta_value: float | None
    deviation: float | None


CHANGE_COLUMNS = (
    Column("step"),
    Column("old", heading="from"),
    Column("new", heading="to"),
    Column("delta_sort", heading="sort", form=".0f"),
    Column("run"),
    Column("better_before", heading="before", form="n", group="better"),
    Column("better_after", heading="after", form="n", group="better"),
    Column("kendall_tau", "tau", "tau", ".2f"),
    Column("delta_value"),
    Column("delta_value_deviation", "deviation"),
)


@dataclass(frozen=True)
class Reordering(Result):
    """How changes of measure reorder the runs; the figures are "orders" and "changes".

    Attributes
    ----------
    changes : tuple of Change
        Step by step, and where there are several the cumulative change last.
    runs : tuple of str
        Names.
    measures : tuple of str
        The measures, in the order of the steps.
    values : tuple of tuple of float or None
        Mean of each measure (rows) for each run; search lengths as reciprocals, so that higher is always better.
    settings : TailSettings or None
        On the way from AP to ASL; None where measures were named: their names say their settings.
    """

    changes: tuple[Change, ...]
    runs: tuple[str, ...]
    measures: tuple[str, ...]
    values: tuple[tuple[float | None, ...], ...]
    settings: TailSettings | None

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each change."""
        return rows_of(CHANGE_COLUMNS, self.changes)

    def _summary(self) -> str:
        last = self.changes[-1]
        tau = "undefined" if last.tau is None else f"{last.tau:.2f}"
        return f"{plural('run', len(self.runs))}, {last.old} to {last.new}: tau {tau}, Delta-Sort {last.delta_sort:.0f} %"


def reordering(
    ev: Evaluation, *, measures: Sequence[Any] | None = None, cutoff: int | None = None, missing: Missing = "cutoff"
) -> Reordering:
    """Order the runs by a measure and by another, and say what changes.

    Parameters
    ----------
    ev : Evaluation
        At least two runs; see `ir_outcomes.evaluate`.
    measures : sequence of Measure or str, optional
        Two or more measures, compared in turn; name those that are no search lengths in ``evaluate(measures=)`` too. By default
        the way from AP to ASL, step by step.
    cutoff : int, optional
        Depth that all runs share, for the way from AP to ASL and for an ASL that is named without a cutoff; by default the
        evaluation's, or the one that all reach where that is less.
    missing : {"cutoff", "retrieved"}
        Search length of a missing document, for the way from AP to ASL and for an ASL that is named without it; see
        `SearchLengths.asl`.

    Raises
    ------
    MismatchError
        If ASL is compared, the runs differ in depth, and no cutoff is given.
    ParameterError
        If there is nothing to compare, a setting has no effect, or for the way from AP to ASL under ``ties="expected"``.

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
    >>> [(change.step, change.tau) for change in result.changes]
    [('atomize P', 1.0), ('harmonic within queries', None), ('harmonic across queries', None), ('cumulative', None)]
    """
    check_evaluation(ev)
    if len(ev) < 2:
        raise ParameterError("there is only 1 run; reordering needs at least two")
    if measures is None:
        found = runs_at_depth(ev, cutoff, missing)
        scores, called, settings, notes = ablation(found.runs, missing), STEPS, found.settings, found.notes
    else:
        scores, notes = _named(ev, measures, cutoff, missing)
        called, settings = tuple(f"{new.measure} for {old.measure}" for old, new in pairwise(scores)), None
    values = [_magnitudes(of_runs) for of_runs in scores]
    better = [_better(of_runs, means) for of_runs, means in zip(scores, values, strict=True)]
    measured = [*zip(scores, values, better, strict=True)]
    steps = [*zip(called, pairwise(measured), strict=True)]
    if len(steps) > 1:
        steps.append(("cumulative", (measured[0], measured[-1])))
    return Reordering(
        changes=tuple(_change(step, old, new) for step, (old, new) in steps),
        runs=ev.names,
        measures=tuple(of_runs.measure for of_runs in scores),
        values=tuple(tuple(None if np.isnan(mean) else float(mean) for mean in means) for means in values),
        settings=settings,
        notes=notes,
    )


def _named(
    ev: Evaluation, measures: Sequence[Any], cutoff: int | None, missing: Missing
) -> tuple[list[Scores], tuple[str, ...]]:
    """Return the values of the measures, and notes."""
    if isinstance(measures, str) or len(measures) < 2:
        raise ParameterError("measures: name at least two, the old and the new")
    parsed = [parse_measure(measure) for measure in measures]
    # ASL over all relevant documents, found or not, depends on the depth.
    lengths = [measure for measure in parsed if measure.NAME == ASL.NAME and "baseline" not in measure.params]
    if cutoff is not None and all(measure.cutoff is not None for measure in lengths):
        raise ParameterError(f"cutoff={cutoff}: these measures have cutoffs of their own, or none, as in nDCG@10")
    if missing != "cutoff" and all("missing" in measure.params for measure in lengths):
        raise ParameterError(f"missing={missing!r} is for an ASL that is named without it")
    notes = dict.fromkeys(notes_on_unanswerable(ev))
    scores = []
    for measure in parsed:
        if measure in lengths:
            measure, depth_notes = _at_depth(ev, measure, cutoff, missing)
            notes |= dict.fromkeys(depth_notes)
        scores.append(ev.scores_of(measure))
    notes |= dict.fromkeys(note for of_measure in scores for note in of_measure.notes())
    return scores, tuple(notes)


def _at_depth(ev: Evaluation, measure: Any, cutoff: int | None, missing: Missing) -> tuple[Any, tuple[str, ...]]:
    """Give an ASL what its name leaves out, the depth and the search length of missing documents, with notes on the depth."""
    by_name = "missing" in measure.params
    found = runs_at_depth(ev, measure.cutoff or cutoff, measure["missing"] if by_name else missing)
    if not by_name:
        measure = measure(missing=missing)
    if measure.cutoff is None and not (by_name and cutoff is None):
        measure = measure @ found.settings.cutoff
    return measure, found.notes


def _magnitudes(scores: Scores) -> Floats:
    """Means; those of search lengths and other lower-is-better measures as reciprocals."""
    means = scores.means()
    if scores.higher_is_better:
        return means
    reciprocals: Floats = np.divide(1.0, means, out=np.full(len(means), np.nan), where=means != 0)
    return reciprocals


def _better(scores: Scores, means: Floats) -> Bools:
    """(n_runs, n_runs) bool array: whether run j is better than run i, by 10 % and significantly."""
    gains = scores.gains()
    better = np.zeros((len(means), len(means)), dtype=bool)
    for i, j in zip(*np.nonzero(means[None, :] >= BETTER_BY * means[:, None]), strict=True):
        defined = ~np.isnan(gains[i]) & ~np.isnan(gains[j])
        test = t_test(differences(gains[i][defined], gains[j][defined]))
        better[i, j] = test.pvalue <= ALPHA and test.direction > 0
    return better


def _change(step: str, old: tuple[Scores, Floats, Bools], new: tuple[Scores, Floats, Bools]) -> Change:
    """Compare two measures, each with the means of the runs, and which run is better than which."""
    (old_scores, before, better_before), (new_scores, after, better_after) = old, new
    counts = better_before.sum(axis=1), better_after.sum(axis=1)
    moved = np.abs(counts[0] - counts[1])
    run = int(np.argmax(moved))
    orders = [shared_ranks(np.where(np.isnan(means), -np.inf, means)[None]) for means in (before, after)]
    tau = float(kendall_taus(-orders[0][0], -orders[1])[0])
    ratios = np.divide(after, before, out=np.full(len(after), np.nan), where=before > 0)
    ratios = ratios[np.isfinite(ratios)]
    return Change(
        step=step,
        old=old_scores.measure,
        new=new_scores.measure,
        tau=None if np.isnan(tau) else tau,
        delta_sort=float(100 * moved[run] / len(moved)),
        run=old_scores.runs[run],
        better_before=int(counts[0][run]),
        better_after=int(counts[1][run]),
        delta_value=float(ratios.mean()) if len(ratios) else None,
        deviation=float(ratios.std(ddof=1)) if len(ratios) > 1 else None,
    )
