"""`compare`: the main job, from runs or from an evaluation to verdicts."""

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple, TypedDict, Unpack, overload

import numpy as np

from ir_outcomes.comparison.family import judged, measured_pairs
from ir_outcomes.comparison.holes import tipping_notes
from ir_outcomes.comparison.outcomes import Settings, check_rules, checked_margins
from ir_outcomes.comparison.result import Comparison, Comparisons
from ir_outcomes.errors import ParameterError
from ir_outcomes.evaluation.evaluate import evaluate
from ir_outcomes.evaluation.evaluation import Evaluation, contenders_of, evaluation_of, is_saved
from ir_outcomes.evaluation.lengths import SearchLengths
from ir_outcomes.evaluation.remarks import notes_on_copies, notes_on_systems
from ir_outcomes.evaluation.scores import Measures
from ir_outcomes.evaluation.systems import runs_of_call
from ir_outcomes.formatting import listed
from ir_outcomes.notes import Note, note
from ir_outcomes.reading.runs import Run, run_list
from ir_outcomes.statistics.kernels import function_test, name_of
from ir_outcomes.types import Correction, Floats, RankingTest, Ties, UnitChoice, check_positive

RunInDict = Mapping[str, Mapping[str, float]]
# For type checkers: the runs that give `Comparisons`, and the settings.
Runs = (
    list[Any]
    | tuple[Any, ...]
    | Mapping[str, Run | SearchLengths | str | os.PathLike[str] | RunInDict | list[Any]]
    | None
)


class Rules(TypedDict, total=False):
    """How verdicts are reached."""

    alpha: float
    correction: Correction
    margins: tuple[float, ...] | None
    progress: bool


class CompareSettings(Rules, total=False):
    """The settings of `compare`."""

    cutoff: int | None
    rel: int | None
    unit: UnitChoice | None
    ties: Ties | None
    judged_only: bool | None
    test: RankingTest | Callable[[Floats], Any]
    all_pairs: bool
    names: Sequence[str] | None
    queries: Any
    clusters: Any
    replicates: Any
    measures: Measures
    n_jobs: int | None


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
    alpha: float = 0.05,
    test: RankingTest | Callable[[Floats], Any] = "t",
    correction: Correction = "holm",
    margins: tuple[float, ...] | None = None,
    all_pairs: bool = False,
    names: Sequence[str] | None = None,
    queries: Any = None,
    clusters: Any = None,
    replicates: Any = None,
    measures: Measures = (),
    n_jobs: int | None = 1,
    progress: bool = False,
) -> Comparison | Comparisons:
    """Compare one or several runs with a baseline, on both facets.

    Parameters
    ----------
    qrels : Qrels, path, Task or its dataset id, dict, frame or iterable; or Evaluation
        With an `Evaluation`, or the path of a saved one, `baseline` and `contenders` are names of
        its runs.
    baseline : Run, path, ``"irds:<dataset id>"``, dict, frame, iterable or SearchLengths, or a dict from its name to such
        Run A. See `ir_outcomes.as_run`. "best" takes the run with the highest mean reciprocal rank,
        "irds:" the ranking that comes with the task.
    contenders : the same, or a list of such, or a dict from names to such, or a directory or pattern of files
        Run B, or several. A run that is also the baseline is left out. With an evaluation, all its
        other runs by default. In a dict, a list of runs stands for one system, for the baseline,
        too; label, tests and intervals are then about the mean of these runs.
    cutoff : int, optional
        Ranks beyond it do not count; by default the task's or the evaluation's, else 100.
    rel, unit, ties, judged_only, queries, clusters, replicates, n_jobs, progress
        See `ir_outcomes.evaluate`, whose defaults hold. An evaluation has its own.
    alpha : float
        Level of tests, intervals and verdict.
    test : {"t", "wilcoxon", "signflip"} or callable
        Which test decides on ranking; all are reported. Where fewer than 30 queries differ, the
        sign-flip test takes the place of t. A function takes the differences (of clusters, their
        sums) and returns a p-value or SciPy's result, such as `scipy.stats.wilcoxon`; where its
        statistic has no sign, the direction is that of the mean.
    correction : {"holm", "bonferroni", "fdr_bh", "none"}
        Correction for several contenders, separately for each facet. It applies to improvements,
        not to the harm check.
    margins : (float, float) or (float, float, float), optional
        Non-inferiority margins, all positive: coverage (percentage points), ranking (ranks), and
        the search length over all queries (ranks). The third is by default what the other two
        tolerate together: ranking margin x share that both answer + coverage margin / 100 x k of
        the restricted search length.
    all_pairs : bool
        Compare every run with every later one, instead of all with the baseline.
    names : sequence of str, optional
        Names of the baseline and the contenders, in this order.
    measures : sequence of Measure or str
        Measures of ir_measures, such as ``["nDCG@10"]``, whose means over all answerable queries
        are shown with t tests. They decide nothing, are not corrected, and take the runs as given,
        not judged only. An evaluation should hold them: ``evaluate(measures=)``.

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
    check_rules(alpha, test, correction)
    check_positive("cutoff", cutoff, none_allowed=True)
    given = {
        "rel": rel,
        "unit": unit,
        "ties": ties,
        "judged_only": judged_only,
        "names": names,
        "queries": queries,
        "clusters": clusters,
        "replicates": replicates,
    }
    reading = {"cutoff": cutoff, "measures": measures, "n_jobs": n_jobs, "progress": progress}
    own_test = None
    test_name = str(test)
    if callable(test):
        own_test = function_test(test)
        test_name = name_of(test)
    margins = checked_margins(margins)

    call = _prepare(qrels, baseline, contenders, given, reading, all_pairs)
    evaluation = call.evaluation
    first, *others = evaluation.systems
    pairs = [(first, system) for system in others]
    if all_pairs:
        pairs = list(combinations(evaluation.systems, 2))
    settings = Settings.of(
        evaluation,
        own_test=own_test is not None,
        alpha=alpha,
        test=test_name,
        correction=correction,
        family=len(pairs),
        margins=margins,
    )
    if not evaluation.replicates:
        of_names = notes_on_systems([system.name for system in others])
        call = call._replace(notes=(*call.notes, *of_names))
    notes = [call.notes] * len(pairs)
    if len(pairs) == len(others) and not evaluation.replicates:
        tipping = tipping_notes(evaluation, settings, own_test)
        copies = list(notes_on_copies(evaluation.runs[1:]))
        notes = [
            (*call.notes, *own, *(note for note in copies if system.name in note.runs))
            for system, own in zip(others, tipping, strict=True)
        ]
    measured = measured_pairs(evaluation, pairs, settings, own_test, measures, notes)
    items = judged(measured, settings, own_test, progress=progress)
    return Comparisons(items) if call.several else items[0]


class _Call(NamedTuple):
    """The runs of a call, the baseline first."""

    evaluation: Evaluation
    several: bool  # whether several contenders were given, even if only one remains
    best: bool = False  # whether the best run is to be the baseline, which is not known yet
    left_out: bool = False  # whether a contender was the baseline
    notes: tuple[Note, ...] = ()


def _prepare(
    qrels: Any,
    baseline: Any,
    contenders: Any,
    given: Mapping[str, Any],
    reading: Mapping[str, Any],
    all_pairs: bool,
) -> _Call:
    """Choose the runs of a call, which are evaluated where they are not yet; `given` are settings that an evaluation has."""
    if isinstance(qrels, Evaluation) or is_saved(qrels):
        _refuse_settings_of_evaluations(given)
        known = evaluation_of(qrels, cutoff=reading["cutoff"], several_runs=True)
        call = _choose(known, baseline, contenders)
    else:
        call = _evaluate(qrels, baseline, contenders, {**given, **reading})
    if len(call.evaluation.systems) < 2 or (not call.several and (all_pairs or call.best)):
        raise ParameterError(
            "`baseline='best'` and `all_pairs=True` need several contenders; give a list of them"
        )
    evaluation = call.evaluation
    notes: list[Note] = []
    if call.best:
        evaluation, about_best = _with_best_first(evaluation)
        notes.append(about_best)
    if call.left_out:
        about = "The baseline was also among the contenders; it is not compared with itself."
        notes.append(note("left out", about))
    return call._replace(evaluation=evaluation, notes=tuple(notes))


def _is_best(baseline: Any) -> bool:
    """Return whether the best run is to be the baseline, unless one has that name."""
    return isinstance(baseline, str) and baseline == "best"


def _refuse_settings_of_evaluations(given: Mapping[str, Any]) -> None:
    """Refuse settings that an evaluation has already."""
    named = [name for name, value in given.items() if value is not None]
    if named:
        raise ParameterError(
            f"{listed(named)}: an evaluation has its own; pass it to evaluate instead of compare"
        )


def _choose(evaluation: Evaluation, baseline: Any, contenders: Any) -> _Call:
    """Choose the runs of a call from an evaluation."""
    known = evaluation.system_names
    several = not isinstance(contenders, str)
    if _is_best(baseline) and baseline not in known:
        chosen = contenders_of(known, None, contenders)
        return _Call(evaluation[chosen], several, best=True)
    chosen = contenders_of(known, baseline, contenders)
    others = [name for name in chosen if name != baseline] or chosen
    left_out = len(others) < len(chosen)
    return _Call(evaluation[[baseline, *others]], several, left_out=left_out)


def _evaluate(qrels: Any, baseline: Any, contenders: Any, settings: dict[str, Any]) -> _Call:
    """Evaluate the runs of a call."""
    best = _is_best(baseline)
    replicates = settings["replicates"]
    baselines = [] if best else [baseline]
    call = runs_of_call(
        contenders, settings.pop("names"), baselines=baselines, replicates=replicates
    )
    chosen = {name: value for name, value in settings.items() if value is not None}
    chosen.setdefault("n_jobs", settings["n_jobs"])
    evaluation = evaluate(qrels, call, **chosen)
    return _Call(evaluation, run_list(contenders) is not None, best, call.left_out)


def _with_best_first(evaluation: Evaluation) -> tuple[Evaluation, Note]:
    """Put the run with the highest mean reciprocal rank first, and say what that means."""
    names = evaluation.system_names
    means = []
    for system in evaluation.systems:
        runs = system.at(evaluation.cutoff).runs
        means.append(float(np.mean([run.reciprocal_rank().mean() for run in runs])))
    first = names[int(np.argmax(means))]
    others = [name for name in names if name != first]
    about = (
        f"{first} has the highest mean reciprocal rank of {len(means)} runs. A run that was chosen"
        " for its score looks better than it is, and no correction accounts for that."
    )
    return evaluation[[first, *others]], note("chosen baseline", about, [first])
