"""`compare`: the main job, from runs or from an evaluation to verdicts."""

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any, NamedTuple, TypedDict, Unpack, overload

import numpy as np

from ir_outcomes.comparison.facets import Facets, means_of_measure, run_tests, samples_of
from ir_outcomes.comparison.holes import tipping_notes
from ir_outcomes.comparison.outcomes import (
    PairedQueries,
    Settings,
    check_rules,
    checked_margins,
    pair_systems,
)
from ir_outcomes.comparison.result import Comparison, Comparisons, CutoffLabel, query_outcomes
from ir_outcomes.comparison.runs_of_systems import (
    holds_for_new_runs,
    rows_of_measure,
    runs_of_systems,
)
from ir_outcomes.comparison.verdict import LABELS, NAMES, Verdicts, judge, stacked
from ir_outcomes.comparison.wording import in_words, notes_on_input
from ir_outcomes.errors import ParameterError, some
from ir_outcomes.evaluation.evaluate import SavedRuns, evaluate, saved_baseline
from ir_outcomes.evaluation.evaluation import (
    Evaluation,
    contenders_of,
    evaluation_of,
    is_saved,
    n_missing,
    notes_on_grades,
)
from ir_outcomes.evaluation.lengths import SearchLengths, metadata_of
from ir_outcomes.evaluation.replicates import Called, System, runs_of_system
from ir_outcomes.evaluation.scores import Measures, Scores, comparable, each_measure
from ir_outcomes.formatting import listed, plural, with_progress
from ir_outcomes.notes import Note, note
from ir_outcomes.reading.runs import Run, is_path, run_list, runs_and_names
from ir_outcomes.statistics.kernels import Kernel, function_test, name_of
from ir_outcomes.types import Correction, Floats, RankingTest, Ties, UnitChoice, check_positive

USUAL_CUTOFFS = (10, 20, 50, 100, 1000)


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
    own_test = None
    test_name = test if isinstance(test, str) else name_of(test)
    if callable(test):
        own_test = function_test(test)
    check_rules(alpha, "t" if callable(test) else test_name, correction)
    check_positive("cutoff", cutoff, none_allowed=True)
    margins = checked_margins(margins)
    # What an evaluation has already.
    of_evaluation = {
        "rel": rel,
        "unit": unit,
        "ties": ties,
        "judged_only": judged_only,
        "names": names,
        "queries": queries,
        "clusters": clusters,
        "replicates": replicates,
    }
    source = qrels
    if is_saved(qrels):
        source = evaluation_of(qrels, several_runs=True)
    best = _is_best_asked(source, baseline)
    if isinstance(source, Evaluation):
        chosen = _choose(source, baseline, contenders, best, of_evaluation)
    else:
        reading = {
            "cutoff": cutoff,
            "measures": measures,
            "n_jobs": n_jobs,
            "progress": progress,
        }
        chosen = _evaluate(source, baseline, contenders, best, {**of_evaluation, **reading})
    evaluation = chosen.evaluation
    if len(evaluation.systems) < 2 or (not chosen.several and (all_pairs or best)):
        raise ParameterError(
            "`baseline='best'` and `all_pairs=True` need several contenders; give a list of them"
        )
    if cutoff is not None:
        evaluation = replace(evaluation, cutoff=cutoff)
    notes: list[Note] = []
    if best:
        evaluation, about_best = _with_best_first(evaluation)
        notes.append(about_best)
    if chosen.left_out:
        about = "The baseline was also among the contenders; it is not compared with itself."
        notes.append(note("left out", about))
    pairs = [(evaluation.systems[0], system) for system in evaluation.systems[1:]]
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
    near: Sequence[Sequence[Note]] = [()] * len(pairs)
    if (len(pairs) == 1 or not all_pairs) and not evaluation.replicates:
        near = tipping_notes(evaluation, settings, own_test)
    asked = known_means(evaluation, measures)
    labels = labels_elsewhere(pairs, settings, own_test)
    measured = [
        measured_pair(
            evaluation,
            *pair,
            settings,
            notes=(*notes, *about_holes),
            elsewhere=at_other_cutoffs,
            asked=asked,
        )
        for pair, at_other_cutoffs, about_holes in zip(pairs, labels, near, strict=True)
    ]
    items = build(measured, settings, own_test=own_test, progress=progress)
    return Comparisons(items) if chosen.several else items[0]


class _Chosen(NamedTuple):
    """The runs of a call, the baseline first."""

    evaluation: Evaluation
    several: bool  # whether several contenders were given, even if only one remains
    left_out: bool  # whether a contender was the baseline


def _is_best_asked(source: Any, baseline: Any) -> bool:
    """Return whether the best run is to be the baseline, and is not a run of that name."""
    if not isinstance(baseline, str) or baseline != "best":
        return False
    return not (isinstance(source, Evaluation) and "best" in source.system_names)


def _choose(
    evaluation: Evaluation,
    baseline: Any,
    contenders: Any,
    best: bool,
    given: Mapping[str, Any],
) -> _Chosen:
    """Choose the runs of a call from an evaluation, which has settings of its own."""
    named = [name for name, value in given.items() if value is not None]
    if named:
        raise ParameterError(
            f"{listed(named)}: an evaluation has its own; pass it to evaluate instead of compare"
        )
    chosen = contenders_of(evaluation.system_names, None if best else baseline, contenders)
    others = chosen
    if not best:
        others = [name for name in chosen if name != baseline] or chosen
    runs = others if best else [baseline, *others]
    several = not isinstance(contenders, str)
    return _Chosen(evaluation[runs], several, len(others) < len(chosen))


def _evaluate(
    qrels: Any, baseline: Any, contenders: Any, best: bool, settings: dict[str, Any]
) -> _Chosen:
    """Evaluate the runs of a call; what a saved file among them knows is the default."""
    saved = SavedRuns.among(contenders)
    if is_saved(baseline):
        of_baseline = saved_baseline(baseline)
        baseline = of_baseline.runs[0]
        saved = saved._replace(evaluations={**of_baseline.evaluations, **saved.evaluations})
    names = settings.pop("names")
    sources, called, left_out = _sources(baseline, saved.runs, names, best)
    defaults = {
        "cutoff": saved.shared("cutoff"),
        "unit": saved.shared("unit") or "auto",
        "ties": "trec",
        "judged_only": False,
    }
    for name, default in defaults.items():
        if settings[name] is None:
            settings[name] = default
    evaluation = evaluate(qrels, sources, names=called, **settings)
    if settings["replicates"] is not None and not best:
        check_apart(evaluation, sources)
    return _Chosen(evaluation, run_list(saved.runs) is not None, left_out)


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


def _sources(
    baseline: Any, contenders: Any, names: Any, best: bool
) -> tuple[list[Any], list[str | None], bool]:
    """Return the runs of a call, the baseline first, their names, and whether a contender that is the baseline was left out."""
    if contenders is None:
        raise ParameterError("there is no contender; give a run, or several as a list or dict")
    runs, given = runs_and_names(contenders)
    if not best:
        own, own_name = (
            runs_and_names(baseline) if isinstance(baseline, Mapping) else ([baseline], [None])
        )
        if len(own) > 1:
            named = some([str(name) for name in own_name])
            raise ParameterError(
                f"baseline: a dict of {len(own)} runs ({named}); give the one run with its name"
            )
        runs = [*own, *runs]
        given = [*own_name, *given]
    if names is not None:
        runs, given = runs_and_names(runs, names)
    others = [place for place, run in enumerate(runs) if place and not _is_same(run, runs[0])]
    for name, run in zip(given[1:], runs[1:], strict=True):
        if any(_is_same(own, runs[0]) for _, own in runs_of_system(run) or ()):
            raise ParameterError(f"the baseline is also one of the runs of {name}, a contender")
    if best or not others or len(others) == len(runs) - 1:
        return runs, given, False
    return [runs[place] for place in (0, *others)], [given[place] for place in (0, *others)], True


def _is_same(run: Any, baseline: Any) -> bool:
    """Return whether two runs are the same object or the same file."""
    if is_path(run) and is_path(baseline):
        return bool(os.path.realpath(run) == os.path.realpath(baseline))
    if isinstance(run, str) and isinstance(baseline, str):
        return run == baseline
    return run is baseline


@dataclass(frozen=True, eq=False)
class MeasuredPair:
    """A baseline and a contender, measured but not yet tested."""

    queries: PairedQueries
    n_unanswerable: int
    # Answerable queries without any result, of baseline and contender; of several runs the most.
    n_missing: tuple[int, int]
    # Reciprocals of the rank of the first relevant document, or the values of another measure.
    reciprocal_ranks: tuple[Floats, Floats]
    notes: tuple[Note, ...] = ()
    # Labels at other cutoffs; None where they are not known.
    elsewhere: tuple[CutoffLabel, ...] | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    metadata: Mapping[str, str] = field(default_factory=dict)
    asked: tuple[
        Scores, ...
    ] = ()  # values of the measures that were asked for, of both runs on the answerable queries
    systems: tuple[Called, ...] = ()


def measured_pair(
    evaluation: Evaluation,
    baseline: SearchLengths | System,
    contender: SearchLengths | System,
    settings: Settings,
    *,
    notes: tuple[Note, ...] = (),
    elsewhere: tuple[CutoffLabel, ...] | None = None,
    asked: Sequence[Scores] = (),
) -> MeasuredPair:
    """Measure two runs, or systems of several runs, of an evaluation at the cutoff of the settings."""
    answerable = evaluation.answerable
    a = System.of(baseline).at(settings.cutoff)
    b = System.of(contender).at(settings.cutoff)
    return MeasuredPair(
        queries=pair_systems(a, b, settings.unit),
        n_unanswerable=int(np.sum(~answerable)),
        n_missing=(max(map(n_missing, a.runs)), max(map(n_missing, b.runs))),
        reciprocal_ranks=(
            a.mean_reciprocal_ranks()[answerable],
            b.mean_reciprocal_ranks()[answerable],
        ),
        notes=(
            *notes,
            *notes_on_grades(evaluation.qrels, evaluation.rel),
            *notes_on_input(a, b, positives_only=evaluation.positives_only),
        ),
        elsewhere=elsewhere,
        texts=evaluation.texts,
        metadata=metadata_of((*a.runs, *b.runs)),
        asked=tuple(rows_of_measure(scores, a.called, b.called) for scores in asked),
        systems=(a.called, b.called),
    )


def check_apart(evaluation: Evaluation, sources: Sequence[Any]) -> None:
    """Refuse a baseline whose system has runs among the contenders."""
    first = evaluation.systems[0]
    if len(first.runs) > 1 and runs_of_system(sources[0]) is None:
        raise ParameterError(
            f"replicates: {first.runs[0].name}, the baseline, and {first.runs[1].name} are runs of"
            f" one system, {first.name}; give all its runs as the baseline, as in a dict from its"
            " name to a list, or none of them as a contender"
        )


def known_means(evaluation: Evaluation, measures: Measures) -> tuple[Scores, ...]:
    """Return the values of measures on the answerable queries; one that is undefined there has no comparable means."""
    found = []
    for measure in dict.fromkeys(map(comparable, each_measure(measures))):
        scores = evaluation.scores_of(measure).on(evaluation.answerable_queries)
        undefined = np.isnan(scores.values).sum(axis=1)
        if undefined.any():
            run = int(np.argmax(undefined))
            raise ParameterError(
                f"{measure} is undefined for {scores.runs[run]} on"
                f" {plural('query', int(undefined[run]))} of {len(scores.query_ids)}, so means"
                " would be of different queries; choose one that every query has, such as RR or"
                " ESL(unanswered='cutoff+1')@100"
            )
        found.append(scores)
    return tuple(found)


def labels_elsewhere(
    pairs: Sequence[tuple[System, System]],
    settings: Settings,
    own_test: Kernel | None = None,
) -> list[tuple[CutoffLabel, ...]]:
    """Return the labels of each pair at the usual cutoffs but its own, up to the longest list of its shallower run."""
    reach = [min(run.depth for run in pair) for pair in pairs]
    shown: list[tuple[CutoffLabel, ...]] = [()] * len(pairs)
    for cutoff in USUAL_CUTOFFS:
        if cutoff == settings.cutoff or cutoff > max(reach, default=0):
            continue
        tests = []
        for baseline, contender in pairs:
            queries = pair_systems(baseline.at(cutoff), contender.at(cutoff), settings.unit)
            samples = samples_of(queries, settings.levels, labels_only=True)
            coverage_test = settings.of_pair(queries).coverage_test
            tests.append(run_tests(samples, settings.test, coverage_test, own_test))
        labels = judge(
            stacked(tests), alpha=settings.alpha, correction=settings.correction
        ).labels()
        for place, label in enumerate(labels):
            if cutoff <= reach[place]:
                shown[place] += (CutoffLabel(cutoff, label),)
    return shown


def build(
    pairs: Sequence[MeasuredPair],
    settings: Settings,
    *,
    wanted: int | None = None,
    own_test: Kernel | None = None,
    progress: bool = False,
) -> tuple[Comparison, ...]:
    """Test all pairs of a family, correct each facet over it, and reach the verdicts of the first `wanted` pairs, or of all."""
    shown = pairs[:wanted]
    facets = []
    for pair in with_progress(shown, "pair", len(shown), shown=progress):
        own = settings.of_pair(pair.queries)
        facets.append(Facets.of(pair.queries, pair.reciprocal_ranks, own, own_test))
    tests = [found.tests for found in facets]
    for pair in pairs[len(shown) :]:
        samples = samples_of(pair.queries, settings.levels, sides_only=True)
        coverage_test = settings.of_pair(pair.queries).coverage_test
        tests.append(run_tests(samples, settings.test, coverage_test, own_test))
    verdicts = judge(stacked(tests), alpha=settings.alpha, correction=settings.correction)
    return tuple(
        _comparison(pair, facets[place], verdicts, place, settings)
        for place, pair in enumerate(shown)
    )


def _comparison(
    pair: MeasuredPair, found: Facets, verdicts: Verdicts, place: int, settings: Settings
) -> Comparison:
    queries = pair.queries
    settings = settings.of_pair(queries)
    label = LABELS[verdicts.label[place]]
    own: tuple[CutoffLabel, ...] = ()
    if pair.elsewhere is not None and settings.cutoff is not None:
        own = (CutoffLabel(settings.cutoff, label),)
    corrected = verdicts.corrected
    coverage_found = NAMES[int(verdicts.coverage_found[place])]
    ranking_found = NAMES[int(verdicts.ranking_found[place])]
    all_queries_found = NAMES[int(verdicts.all_queries_found[place])]
    restricted = found.restricted
    mean = found.mean
    if corrected.all_queries is not None:
        all_queries_p = float(corrected.all_queries[place])
        restricted = restricted and replace(
            restricted, pvalue_corrected=all_queries_p, found=all_queries_found
        )
        mean = mean and replace(mean, pvalue_corrected=all_queries_p, found=all_queries_found)
    all_queries = mean if restricted is None else restricted
    verdict = verdicts.of(place, found, queries, settings.margins)
    new_runs = holds_for_new_runs(label, (found.coverage, found.ranking, all_queries))
    comparison = Comparison(
        baseline=queries.baseline,
        contender=queries.contender,
        n_queries=len(queries.query_ids),
        n_unanswerable=pair.n_unanswerable,
        n_missing=pair.n_missing,
        settings=settings,
        outcomes=queries.outcomes,
        coverage=replace(
            found.coverage, pvalue_corrected=float(corrected.coverage[place]), found=coverage_found
        ),
        ranking=replace(
            found.ranking, pvalue_corrected=float(corrected.ranking[place]), found=ranking_found
        ),
        reciprocal=found.reciprocal,
        restricted=restricted,
        mean=mean,
        naive=found.naive,
        cutoffs=tuple(sorted((*(pair.elsewhere or ()), *own))),
        verdict=replace(verdict, new_runs=new_runs),
        notes=pair.notes,
        run_metadata=pair.metadata,
        identical=queries.identical,
        n_runs=queries.n_runs,
        runs=runs_of_systems(pair.systems, queries, pair.asked),
        queries=query_outcomes(queries, pair.texts),
        measures=tuple(means_of_measure(scores, queries, settings) for scores in pair.asked),
    )
    return in_words(comparison, queries)
