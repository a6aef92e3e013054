"""How the order of runs changes under another measure, and which step from AP to ASL changes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isnan
from typing import Any, NamedTuple, Self

import numpy as np

from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluation import Evaluation
from ir_outcomes.evaluation.scores import Scores
from ir_outcomes.notes import as_notes
from ir_outcomes.results import Result
from ir_outcomes.statistics.papers import t_tests
from ir_outcomes.statistics.resampling import kendall_taus, shared_ranks
from ir_outcomes.table_columns import NUMBER, Column, attributes, decimals, rows_of
from ir_outcomes.tail.measures import (
    STEPS,
    TailSettings,
    ablation,
    checked_evaluation,
    notes_on_unanswerable,
    runs_at_depth,
)
from ir_outcomes.types import Floats, Ints, Missing, divided

BETTER_BY = 1.1
ALPHA = 0.05


@dataclass(frozen=True)
class Change:
    """What a change of measure does to the order of runs."""

    step: str  #: what is changed
    old: str  #: the measures
    new: str
    #: Kendall's tau-b between the two orders; 1 for no reordering. None where all runs tie.
    tau: float | None
    #: Delta-Sort: largest change, over the runs, of the number of runs that are better, in percent
    #: of the runs. "Better" needs a value that is 10 % better, and p <= 0.05 in a paired t test. So
    #: it can be large where `tau` is 1.
    delta_sort: float
    run: str  #: the run with this largest change
    better_before: int  #: how many runs were better than it
    better_after: int  #: and are better than it
    #: Mean over the runs of new value / old value, lower-is-better measures as reciprocals.
    delta_value: float | None
    deviation: float | None  #: their standard deviation


CHANGE_COLUMNS = (
    Column("step"),
    Column("old", heading="from"),
    Column("new", heading="to"),
    Column("delta_sort", heading="sort", form=decimals(0)),
    Column("run"),
    Column("better_before", heading="before", form=NUMBER, group="better"),
    Column("better_after", heading="after", form=NUMBER, group="better"),
    Column("kendall_tau", "tau", "tau", decimals(2)),
)
_DELTA_VALUE = attributes("delta_value", "delta_value_deviation=deviation")


@dataclass(frozen=True)
class Reordering(Result):
    """How changes of measure reorder the runs.

    Attributes
    ----------
    changes : tuple of Change
        Step by step, and where there are several the cumulative change last.
    runs : tuple of str
        Names.
    measures : tuple of str
        The measures, in the order of the steps.
    values : tuple of tuple of float or None
        Mean of each measure (rows) for each run; search lengths as reciprocals, so that higher is
        always better.
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
        return rows_of((*CHANGE_COLUMNS, *_DELTA_VALUE), self.changes)


def reordering(
    evaluation: Evaluation,
    *,
    measures: Sequence[Any] | None = None,
    cutoff: int | None = None,
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

    Raises
    ------
    MismatchError
        If on the way from AP to ASL the runs differ in depth, and no cutoff is given.
    ParameterError
        If there is nothing to compare, a setting has no effect, an ASL has no cutoff, or for the
        way from AP to ASL under ``ties="expected"``.

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
    evaluation = checked_evaluation(evaluation)
    if len(evaluation) < 2:
        raise ParameterError("there is only 1 run; reordering needs at least two")
    settings: TailSettings | None = None
    notes: Sequence[str]
    if measures is None:
        runs, settings, notes = runs_at_depth(evaluation, cutoff, missing)
        scores = ablation(runs, missing)
        called = list(STEPS)
    elif isinstance(measures, str) or len(measures) < 2:
        raise ParameterError("measures: name at least two, the old and the new")
    elif cutoff is not None or missing != "cutoff":
        raise ParameterError(
            "cutoff and missing are for the way from AP to ASL; write them into the names of the"
            " measures, such as ASL(missing='retrieved')@100"
        )
    else:
        scores = [evaluation.scores_of(measure) for measure in measures]
        called = [f"{new.measure} for {old.measure}" for old, new in pairwise(scores)]
        notes = [
            *notes_on_unanswerable(evaluation),
            *dict.fromkeys(note for of_measure in scores for note in of_measure.notes()),
        ]
    measured = [Measured.of(of_measure) for of_measure in scores]
    steps = [*zip(called, pairwise(measured), strict=True)]
    if len(steps) > 1:
        steps.append(("cumulative", (measured[0], measured[-1])))
    return Reordering(
        changes=tuple(_change(step, old, new) for step, (old, new) in steps),
        runs=evaluation.names,
        measures=tuple(of_measure.scores.measure for of_measure in measured),
        values=tuple(
            tuple(None if isnan(mean) else mean for mean in of_measure.means.tolist())
            for of_measure in measured
        ),
        settings=settings,
        notes=as_notes(notes),
    )


class Measured(NamedTuple):
    """A measure of all runs, with its means, which run is better than which, and the order."""

    scores: Scores
    means: Floats  # (n_runs,); those of lower-is-better measures as reciprocals
    n_better: Ints  # (n_runs,) number of runs that are better than each, by 10 % and significantly
    ranks: Ints  # (1, n_runs)

    @classmethod
    def of(cls, scores: Scores) -> Self:
        """Compare all runs by a measure."""
        means = scores.means()
        if not scores.higher_is_better:
            means = divided(1.0, means, means != 0)
        gains = scores.gains()
        n_better = np.zeros(len(means), dtype=np.int64)
        much_better = means[None, :] >= BETTER_BY * means[:, None]
        for run, other in np.argwhere(much_better):
            defined = ~np.isnan(gains[run]) & ~np.isnan(gains[other])
            test = t_tests(gains[other][defined] - gains[run][defined])
            n_better[run] += test.pvalue[0] <= ALPHA and test.direction[0] > 0
        return cls(scores, means, n_better, shared_ranks(means[None]))


def _change(step: str, old: Measured, new: Measured) -> Change:
    """Say what another measure changes."""
    moved = np.abs(old.n_better - new.n_better)
    run = int(np.argmax(moved))
    tau = float(kendall_taus(-old.ranks[0], -new.ranks)[0])
    ratios = divided(new.means, old.means, old.means > 0)
    ratios = ratios[np.isfinite(ratios)]
    return Change(
        step=step,
        old=old.scores.measure,
        new=new.scores.measure,
        tau=None if isnan(tau) else tau,
        delta_sort=float(100 * moved[run] / len(moved)),
        run=old.scores.runs[run],
        better_before=int(old.n_better[run]),
        better_after=int(new.n_better[run]),
        delta_value=float(ratios.mean()) if len(ratios) else None,
        deviation=float(ratios.std(ddof=1)) if len(ratios) > 1 else None,
    )
