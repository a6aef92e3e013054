"""`compare`: the main job, from runs or from an evaluation to verdicts."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Unpack, overload

from ir_outcomes.arguments import separated
from ir_outcomes.comparison.family import compared
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluate import Reading, ReadingOptions, evaluate
from ir_outcomes.evaluation.evaluation import (
    Evaluation,
    contenders_of,
    evaluation_of,
    is_saved,
    refuse_measures,
)
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.remarks import (
    refuse_stops,
)
from ir_outcomes.evaluation.runs_of_call import runs_of_call
from ir_outcomes.formatting import listed
from ir_outcomes.notes import note
from ir_outcomes.pairs.rows import Row
from ir_outcomes.pairs.rules import RuleOptions, Rules
from ir_outcomes.pairs.verdict import DECIDING
from ir_outcomes.reading.runs import Run, run_list

RunInDict = Mapping[str, Mapping[str, float]]
# For type checkers: the runs that give `Comparisons`, and the settings.
Runs = (
    list[Any]
    | tuple[Any, ...]
    | Mapping[str, Run | SearchLengths | str | os.PathLike[str] | RunInDict | list[Any]]
    | None
)


class CompareSettings(RuleOptions, ReadingOptions, total=False):
    """The settings of `compare`."""


# Of reading, what an evaluation does not settle.
NOT_SETTLED = ("cutoff", "measures", "allow", "n_jobs", "progress")


@overload
def compare(
    qrels: Any, baseline: Any, contenders: Runs = None, **settings: Unpack[CompareSettings]
) -> Comparisons: ...


@overload
def compare(
    qrels: Any, baseline: Any, contenders: Any, **settings: Unpack[CompareSettings]
) -> Comparison: ...


def compare(
    qrels: Any,
    baseline: Any,
    contenders: Any = None,
    **settings: Unpack[CompareSettings],
) -> Comparison | Comparisons:
    """Compare one or several runs with a baseline, on both facets.

    Parameters
    ----------
    qrels : Qrels, path, Task or its dataset id, dict, frame or iterable; or Evaluation
        With an `Evaluation`, or the path of a saved one, `baseline` and `contenders` are names of
        its runs.
    baseline : Run, path, ``"irds:<dataset id>"``, dict, frame, iterable or SearchLengths, or a dict from its name to such
        Run A. See `ir_outcomes.as_run`. "irds:" is the ranking that comes with the task.
    contenders : the same, or a list of such, or a dict from names to such, or a directory or pattern of files
        Run B, or several. A run that is also the baseline is left out. With an evaluation, all its
        other runs by default. In a dict, a list of runs stands for one system, for the baseline,
        too; the verdict is then about the mean of these runs.
    **settings
        How runs are read. An evaluation has its own settings, and takes only cutoff, measures and
        allow; see `ir_outcomes.Reading`. `names` are those of the baseline and the contenders, in
        this order. Measures are shown by the same estimate and decide nothing; an evaluation should
        hold them: ``evaluate(measures=)``. What is allowed is the first note. And alpha, correction
        and margins; see `ir_outcomes.Rules`.

    Returns
    -------
    Comparison or Comparisons
        One result for a single contender; a `Comparisons` for a list or dict of them. For type
        checkers a text is one run: give a directory or a pattern in a list.

    Raises
    ------
    ParameterError, MismatchError, InputError
        If a setting makes no sense; a measure is undefined for a query; no query of a run is in the
        qrels, or none is answerable; something cannot be read.

    References
    ----------
    Lin et al. 2021, sections 4 and 5, Tables 1 and 2; for ``unit="document"`` joined with Alex et
    al. 2022, section 3.1.

    Examples
    --------
    >>> qrels = {f"q{n}": {"gold": 1} for n in range(40)}
    >>> a = {q: {"x": 2.0, "gold": 1.0} for q in qrels}
    >>> b = {q: {"gold": 2.0, "x": 1.0} for q in qrels}
    >>> result = compare(qrels, a, b, names=["A", "B"])
    >>> result.verdict.label, result.ranking.difference
    ('better on ranking', -1.0)
    """
    of_rules, of_reading = separated(settings, Rules)
    rules = Rules(**of_rules)
    reading = Reading(**of_reading)
    if isinstance(qrels, Evaluation) or is_saved(qrels):
        _refuse_settings_of_evaluations(of_reading)
        evaluation = evaluation_of(qrels, cutoff=reading.cutoff, several_runs=True, values=True)
        refuse_measures(evaluation, reading.measures)
        others = contenders_of(evaluation.systems, baseline, contenders)
        evaluation = evaluation[[baseline, *others]]
        is_left_out = isinstance(contenders, (list, tuple)) and baseline in contenders
        several = not isinstance(contenders, str)
    else:
        names, replicates = reading.names, reading.replicates
        call = runs_of_call(contenders, names, baselines=[baseline], replicates=replicates)
        evaluation = evaluate(qrels, call, **vars(reading))
        is_left_out = call.left_out
        several = run_list(contenders) is not None
    notes = []
    if is_left_out:
        about = "The baseline was also among the contenders; it is not compared with itself."
        notes = [note("left out", about)]
    refuse_stops(evaluation.at(), reading.allow)
    items = compared(
        evaluation, rules, measures=reading.measures, notes=notes, progress=reading.progress
    )
    for item in items:
        names = DECIDING[: len(rules.margins or ())]
        check_can_be_exceeded([row for row in item.deciding if row.name in names])
    return Comparisons(items) if several else items[0]


def check_can_be_exceeded(rows: Sequence[Row]) -> None:
    """Refuse margins that no harm can exceed: every contender would pass."""
    for row in rows:
        if row.margin is None or row.largest is None or not 0 < row.largest <= row.margin.size:
            continue
        where, remedy = f"of {row.name}", "give smaller margins"
        if row.name == "all queries":
            where = "over all queries"
            remedy += ", or a third one, without which it follows from the other two"
        raise ParameterError(
            f"`margins`: no run can lose more than {row.largest:g} {row.measured_in} {where}, and the margin is"
            f" {row.margin.size:g}; {remedy}"
        )


def _refuse_settings_of_evaluations(settings: Mapping[str, Any]) -> None:
    """Refuse settings that an evaluation has already."""
    named = [
        name for name, value in settings.items() if value is not None and name not in NOT_SETTLED
    ]
    if named:
        raise ParameterError(
            f"{listed(named)}: an evaluation has its own; pass it to evaluate instead of compare"
        )
