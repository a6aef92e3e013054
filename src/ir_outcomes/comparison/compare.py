"""`compare`: the main job, from runs or from an evaluation to verdicts."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Unpack, overload

from ir_outcomes.choices import Ties, UnitChoice
from ir_outcomes.comparison.family import judged, measured_pairs
from ir_outcomes.comparison.outcomes import Settings
from ir_outcomes.comparison.outputs import compare_values
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.comparison.verdict import RuleOptions, Rules
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.evaluation import Evaluation, contenders_of, evaluation_of, is_saved
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.remarks import (
    Allow,
    notes_on_copies,
    notes_on_systems,
    refuse_stops,
)
from ir_outcomes.evaluation.scores import Measures
from ir_outcomes.evaluation.systems import runs_of_call
from ir_outcomes.formatting import listed
from ir_outcomes.notes import Note, note
from ir_outcomes.reading.runs import Duplicates, Run, run_list

RunInDict = Mapping[str, Mapping[str, float]]
# For type checkers: the runs that give `Comparisons`, and the settings.
Runs = (
    list[Any]
    | tuple[Any, ...]
    | Mapping[str, Run | SearchLengths | str | os.PathLike[str] | RunInDict | list[Any]]
    | None
)


class CompareSettings(RuleOptions, total=False):
    """The settings of `compare`."""

    cutoff: int | None
    rel: int | None
    unit: UnitChoice | None
    ties: Ties | None
    judged_only: bool | None
    drop_self: bool | None
    duplicates: Duplicates | None
    names: Sequence[str] | None
    queries: Any
    clusters: Any
    replicates: Any
    measures: Measures
    allow: Allow
    n_jobs: int | None
    progress: bool


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
    *,
    cutoff: int | None = None,
    rel: int | None = None,
    unit: UnitChoice | None = None,
    ties: Ties | None = None,
    judged_only: bool | None = None,
    drop_self: bool | None = None,
    duplicates: Duplicates | None = None,
    names: Sequence[str] | None = None,
    queries: Any = None,
    clusters: Any = None,
    replicates: Any = None,
    measures: Measures = (),
    allow: Allow = (),
    n_jobs: int | None = 1,
    progress: bool = False,
    **rules: Unpack[RuleOptions],
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
    cutoff : int, optional
        Ranks beyond it do not count; by default the task's or the evaluation's, else 100.
    rel, unit, ties, judged_only, drop_self, duplicates, queries, clusters, replicates, n_jobs, progress
        See `ir_outcomes.evaluate`, whose defaults hold. An evaluation has its own.
    names : sequence of str, optional
        Names of the baseline and the contenders, in this order.
    measures : sequence of Measure or str
        Measures of ir_measures, such as ``["nDCG@10"]``, whose means over all answerable queries
        are shown by the same estimate. They decide nothing, are not corrected, and take the runs as
        given, not judged only. An evaluation should hold them: ``evaluate(measures=)``.
    allow : collection of {"unknown-ids", "rising-scores", "equal-scores"}
        What is meant although it looks like a mistake: runs of whose ids the qrels know none,
        scores that rise with the rank, equal scores beside ranks. Each is then the first note.
    **rules
        alpha, correction and margins; see `ir_outcomes.Rules`.

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
    of_runs = {
        "rel": rel,
        "unit": unit,
        "ties": ties,
        "judged_only": judged_only,
        "drop_self": drop_self,
        "duplicates": duplicates,
        "names": names,
        "queries": queries,
        "clusters": clusters,
        "replicates": replicates,
    }
    checked = Rules(**rules)
    if isinstance(qrels, Evaluation) or is_saved(qrels):
        _refuse_settings_of_evaluations(of_runs)
        evaluation = evaluation_of(qrels, cutoff=cutoff, several_runs=True, values=True)
        if evaluation.values is not None:
            return _compared_values(evaluation, baseline, contenders, checked, progress)
        chosen, notes = _chosen(evaluation, baseline, contenders)
        several = not isinstance(contenders, str)
    else:
        reading = {
            "cutoff": cutoff,
            "measures": measures,
            "allow": allow,
            "n_jobs": n_jobs,
            "progress": progress,
        }
        chosen, notes = _evaluated(qrels, baseline, contenders, {**of_runs, **reading})
        several = run_list(contenders) is not None
    refuse_stops(chosen.at(), allow)
    items = compared(chosen, checked, measures=measures, notes=notes, progress=progress)
    return Comparisons(items) if several else items[0]


def compared(
    evaluation: Evaluation,
    rules: Rules,
    *,
    measures: Measures = (),
    notes: Sequence[Note] = (),
    progress: bool = False,
) -> tuple[Comparison, ...]:
    """Compare the first system of an evaluation with each other one, as a family."""
    first, *others = evaluation.systems
    settings = Settings.of(evaluation, rules, family=len(others))
    copies: list[Note] = []
    if not evaluation.replicates:
        notes = (*notes, *notes_on_systems([system.name for system in others]))
        copies = list(notes_on_copies(evaluation.runs[1:]))
    of_pairs = [
        (*notes, *(about for about in copies if system.name in about.runs)) for system in others
    ]
    pairs = [(first, system) for system in others]
    measured = measured_pairs(evaluation, pairs, settings, measures, of_pairs)
    return judged(measured, settings, progress=progress)


def _compared_values(
    evaluation: Evaluation, baseline: Any, contenders: Any, rules: Rules, progress: bool
) -> Comparison | Comparisons:
    """Compare values that another tool computed."""
    others = contenders_of(evaluation.system_names, baseline, contenders)
    called = {system.name: system for system in evaluation.called}
    systems = [called[name] for name in (baseline, *others)]
    results = compare_values(evaluation, systems, rules, progress=progress)
    return results[0] if isinstance(contenders, str) else results


def _refuse_settings_of_evaluations(settings: Mapping[str, Any]) -> None:
    """Refuse settings that an evaluation has already."""
    named = [name for name, value in settings.items() if value is not None]
    if named:
        raise ParameterError(
            f"{listed(named)}: an evaluation has its own; pass it to evaluate instead of compare"
        )


def _chosen(
    evaluation: Evaluation, baseline: Any, contenders: Any
) -> tuple[Evaluation, list[Note]]:
    """Choose the runs of a call from an evaluation, the baseline first."""
    others = contenders_of(evaluation.system_names, baseline, contenders)
    named = isinstance(contenders, (list, tuple)) and baseline in contenders
    return evaluation[[baseline, *others]], _left_out(named)


def _left_out(is_left_out: bool) -> list[Note]:
    """Say that the baseline was also among the contenders."""
    if not is_left_out:
        return []
    about = "The baseline was also among the contenders; it is not compared with itself."
    return [note("left out", about)]


def _evaluated(
    qrels: Any, baseline: Any, contenders: Any, settings: dict[str, Any]
) -> tuple[Evaluation, list[Note]]:
    """Evaluate the runs of a call, the baseline first."""
    call = runs_of_call(
        contenders,
        settings.pop("names"),
        baselines=[baseline],
        replicates=settings["replicates"],
    )
    chosen = {name: value for name, value in settings.items() if value is not None}
    chosen.setdefault("n_jobs", settings["n_jobs"])
    return evaluate(qrels, call, **chosen), _left_out(call.left_out)
